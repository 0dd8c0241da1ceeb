// MageStone's board as SVG, 100 units a square: zones, units, stones and gravestones of a position, and what is marked.

import { svg } from "./dom.js";

const SQUARE = 100;
const WIDTH = 16;
const SEATS = { 2: [0, 2], 4: [0, 1, 2, 3] };
const BASE_ENDS = [[[0, 4], [0, 11]], [[4, 15], [11, 15]], [[15, 4], [15, 11]], [[4, 0], [11, 0]]];
const UNITS = { M: "Mage", P: "Priest" };
let turns = Number(localStorage.getItem("magestone-turns") ?? 0) % 4;

export function turnBoard() {
  turns = (turns + 1) % 4;
  localStorage.setItem("magestone-turns", turns);
}

export const nameOf = ([row, column]) => `${String.fromCharCode(97 + column)}${row}`;
export const cellOf = (name) => [Number(name.slice(1)), name.charCodeAt(0) - 97];
export const unitName = (letter) => UNITS[letter] ?? `Warrior ${letter[1]}`;

const inset = (row) => Math.max(0, 4 - Math.min(row, WIDTH - 1 - row));
const onBoard = ([row, column]) => row >= 0 && row < WIDTH && column >= inset(row) && column < WIDTH - inset(row);
const isNexus = ([row, column]) => (row === 7 || row === 8) && (column === 7 || column === 8);
const CELLS = Array.from({ length: WIDTH * WIDTH }, (_, k) => [Math.floor(k / WIDTH), k % WIDTH]).filter(onBoard);

// Whose base a square is, by seat, or null.
function baseOf([row, column], seats) {
  const along = [row === 0, column === WIDTH - 1, row === WIDTH - 1, column === 0];
  return seats.find((seat) => along[seat]) ?? null;
}

// The unit that starts on a square of a base, and comes back there.
const HOMES = ["W", "W", "W", "P", "M", "W", "W", "W"];
const homeOn = ([row, column], seat) => HOMES[[column - 4, row - 4, 11 - column, 11 - row][seat]];

// A position as text (docs/rules.md), read: what stands and lies on each square, who is under siege, and the Rite.
export function readPosition(text) {
  const [players, armies, stones, graves, , , , running] = text.split(" ");
  const seats = SEATS[players];
  const units = new Map();
  const out = [];
  armies.split("/").forEach((army, k) => {
    if (army.startsWith("x")) {
      out.push(seats[k]);
      return;
    }
    for (const word of army.split(",")) {
      const [, letter, name] = /^(M|P|W[1-6])([a-p]\d+)/.exec(word);
      units.set(name, { seat: seats[k], letter });
    }
  });
  const lying = new Map();
  if (stones !== "-") for (const word of stones.split(",")) {
    const name = word.replace("*", "");
    const kind = word.endsWith("*") ? "activated" : "unactivated";
    const here = lying.get(name) ?? { unactivated: 0, activated: 0 };
    lying.set(name, { ...here, [kind]: here[kind] + 1 });
  }
  const held = new Set([...units].flatMap(([name, unit]) => {
    const base = baseOf(cellOf(name), seats);
    return base === null || base === unit.seat ? [] : [base];
  }));
  const [index, left] = running.split(":");
  return {
    seats,
    units,
    stones: lying,
    graves: new Set(graves === "-" ? [] : graves.split(",")),
    besieged: seats.filter((seat) => held.has(seat) && !out.includes(seat)),
    rite: running === "-" ? null : { seat: seats[index], left },
  };
}

const counted = (number, noun) => (number === 1 ? `a${/^[aeiou]/i.test(noun) ? "n" : ""} ${noun}` : `${number} ${noun}s`);

export function describe(name, { units, stones, graves }, names) {
  const cell = cellOf(name);
  const unit = units.get(name);
  const { unactivated = 0, activated = 0 } = stones.get(name) ?? {};
  const lies = [];
  if (unactivated) lies.push(counted(unactivated, "Unactivated stone"));
  if (activated) lies.push(counted(activated, "Activated stone"));
  if (graves.has(name)) lies.push("a gravestone");
  const place = isNexus(cell) ? `${name} on the Nexus` : name;
  const who = unit ? `${names[unit.seat]}’s ${unitName(unit.letter)}` : "";
  if (lies.length === 0) return `${place}, ${who || "empty"}`;
  return `${place}, ${who ? `${who} over ` : ""}${lies.join(" and ")}`;
}

// Where a cell is drawn: row and column as they are seen.
function seen([row, column]) {
  let at = [row, column];
  for (let k = 0; k < turns; k += 1) at = [at[1], WIDTH - 1 - at[0]];
  return at;
}

function fromSeen(at) {
  let cell = at;
  for (let k = 0; k < (4 - turns) % 4; k += 1) cell = [cell[1], WIDTH - 1 - cell[0]];
  return cell;
}

function middle(name) {
  const [row, column] = seen(cellOf(name));
  return [column * SQUARE + SQUARE / 2, row * SQUARE + SQUARE / 2];
}

// The middle of a cell of the grid, [row, column] from 1, on a small map with one unit a square, as the board is turned.
export function placeOnMap([row, column]) {
  const [down, right] = seen([row - 1, column - 1]);
  return [right + 0.5, down + 0.5];
}

const ring = (points, radius, inner) => Array.from({ length: points * 2 }, (_, k) => {
  const far = k % 2 ? inner : radius;
  const angle = (Math.PI * k) / points;
  return `${50 + far * Math.sin(angle)},${50 - far * Math.cos(angle)}`;
}).join(" ");

// A unit as a token: its shape tells Mage, Priest and Warrior, the tab towards its home edge the seat, besides colour.
export function drawUnit({ seat, letter }, classes = "") {
  const body = letter === "M" ? svg("polygon", { class: "body", points: ring(8, 44, 34) })
    : letter === "P" ? svg("rect", { class: "body", x: 14, y: 14, width: 72, height: 72, rx: 20 })
      : svg("circle", { class: "body", cx: 50, cy: 50, r: 38 });
  const tab = svg("path", { class: "tab", d: "M34 13L50 1L66 13Z", transform: `rotate(${90 * ((seat + turns) % 4)} 50 50)` });
  return svg("g", { class: `unit seat-${seat} ${classes}` }, tab, body, svg("text", { class: "letter", x: 50, y: 52 }, letter.length > 1 ? letter[1] : letter));
}

// Stones and a gravestone stand in the middle of their square, beside each other, or small under a unit.
const AT = { alone: "", beside: ["translate(-4 20) scale(0.6)", "translate(44 20) scale(0.6)"], under: ["translate(-2 58) scale(0.44)", "translate(58 58) scale(0.44)"] };

function drawStones({ unactivated, activated }, place) {
  const group = svg("g", { class: "stones", transform: place });
  const both = unactivated > 0 && activated > 0;
  const one = (kind, count, x) => {
    if (count === 0) return;
    group.append(svg("polygon", { class: `stone ${kind}`, points: `${x},22 ${x + 26},50 ${x},78 ${x - 26},50` }));
    if (kind === "activated") group.append(svg("circle", { class: "spark", cx: x, cy: 50, r: 8 }));
    if (count > 1) group.append(svg("text", { class: "count", x, y: 52 }, String(count)));
  };
  one("unactivated", unactivated, both ? 28 : 50);
  one("activated", activated, both ? 72 : 50);
  return group;
}

function drawGrave(place) {
  return svg("g", { class: "grave", transform: place },
    svg("path", { class: "slab", d: "M24 88V42A26 26 0 0 1 76 42V88Z" }),
    svg("path", { class: "cross", d: "M50 34V66M38 46H62" }));
}

// A single stone for words and counters, in a box of its own.
export function stoneIcon(kind) {
  const icon = svg("svg", { class: "icon", viewBox: "20 18 60 64", "aria-hidden": "true" });
  icon.append(drawStones({ unactivated: 0, activated: 0, [kind]: 1 }, AT.alone));
  return icon;
}

export function unitIcon(unit) {
  return svg("svg", { class: "icon unit-icon", viewBox: "0 0 100 100", "aria-hidden": "true" }, drawUnit(unit));
}

// Draws a position. `marks` has the squares that are special: able, reach, rich (a walk there does more), targets, bolts,
// last (a walk, in order), todo, wrong; and chosen.
export function drawBoard(root, position, marks, names) {
  const whole = WIDTH * SQUARE;
  const focused = root.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
  root.setAttribute("viewBox", `-4 -4 ${whole + 8} ${whole + 8}`);
  const stop = focused ?? marks.chosen ?? "h4";
  const squares = svg("g", {});
  for (const at of CELLS) {
    const cell = fromSeen(at);
    const name = nameOf(cell);
    const [row, column] = at;
    const base = baseOf(cell, position.seats);
    const zone = isNexus(cell) ? "nexus" : base !== null ? `base base-${base}` : cell.every((part) => part >= 4 && part < 12) ? "heart" : "outer";
    const classes = ["square", zone, (cell[0] + cell[1]) % 2 ? "odd" : "even"];
    if (base !== null && position.besieged.includes(base)) classes.push("besieged");
    for (const mark of ["last", "todo"]) if (marks[mark].includes(name)) classes.push(mark);
    const reached = marks.reach.includes(name);
    const target = marks.targets.includes(name);
    const bolt = marks.bolts.includes(name);
    const offers = [reached ? "can be walked to" : "", target ? "can be attacked" : "", bolt ? "can be hit by a Bolt" : ""].filter(Boolean);
    const square = svg("g", { class: classes.join(" "), "data-cell": name, transform: `translate(${column * SQUARE} ${row * SQUARE})`, role: "button",
      tabindex: name === stop ? 0 : -1, "aria-label": [describe(name, position, names), ...offers].join(", ") },
    svg("rect", { class: "field", width: SQUARE, height: SQUARE }), svg("rect", { class: "tint", width: SQUARE, height: SQUARE }));
    const unit = position.units.get(name);
    if (base !== null && !unit) square.append(svg("text", { class: "home", x: 50, y: 52 }, homeOn(cell, base)));
    const stones = position.stones.get(name);
    const grave = position.graves.has(name);
    const [graveAt, stonesAt] = unit ? AT.under : stones && grave ? AT.beside : [AT.alone, AT.alone];
    if (unit) square.append(drawUnit(unit, marks.able.includes(name) ? "able" : ""));
    if (grave) square.append(drawGrave(graveAt));
    if (stones) square.append(drawStones(stones, stonesAt));
    if (reached) square.append(svg("circle", { class: `reach${marks.rich.includes(name) ? " rich" : ""}`, cx: 50, cy: 50, r: unit || stones || grave ? 40 : 14 }));
    if (target) square.append(svg("circle", { class: "target", cx: 50, cy: 50, r: 44 }));
    if (bolt) square.append(svg("rect", { class: "bolt", x: 6, y: 6, width: 88, height: 88, rx: 14 }));
    if (marks.todo.includes(name)) square.append(svg("rect", { class: "todo-ring", x: 5, y: 5, width: 90, height: 90, rx: 12 }));
    if (marks.wrong.includes(name)) square.append(svg("rect", { class: "wrong", x: 5, y: 5, width: 90, height: 90, rx: 12 }));
    if (marks.chosen === name) square.append(svg("rect", { class: "chosen", x: 4, y: 4, width: 92, height: 92, rx: 12 }));
    squares.append(square);
  }
  const over = [];
  if (marks.last.length > 1) over.push(svg("polyline", { class: "walk", points: marks.last.map((name) => middle(name).join()).join(" ") }));
  const nexus = svg("rect", { class: "nexus-edge", x: 7 * SQUARE, y: 7 * SQUARE, width: 2 * SQUARE, height: 2 * SQUARE, rx: 8 });
  const { rite } = position;
  const glow = rite === null ? [] : [
    svg("rect", { class: `glow seat-${rite.seat}`, x: 7 * SQUARE - 12, y: 7 * SQUARE - 12, width: 2 * SQUARE + 24, height: 2 * SQUARE + 24, rx: 22 }),
    svg("circle", { class: `clock seat-${rite.seat}`, cx: 8 * SQUARE, cy: 8 * SQUARE, r: 27 }),
    svg("text", { class: `clock-left seat-${rite.seat}`, x: 8 * SQUARE, y: 8 * SQUARE + 2 }, rite.left),
  ];
  const sieges = position.besieged.map((seat) => {
    const [[row, column], [lastRow, lastColumn]] = BASE_ENDS[seat].map(seen);
    const [top, left] = [Math.min(row, lastRow), Math.min(column, lastColumn)];
    return svg("rect", { class: "siege", x: left * SQUARE + 4, y: top * SQUARE + 4, rx: 12,
      width: (Math.abs(lastColumn - column) + 1) * SQUARE - 8, height: (Math.abs(lastRow - row) + 1) * SQUARE - 8 });
  });
  root.replaceChildren(squares, nexus, ...sieges, ...over, ...glow, ...labels());
  if (focused) root.querySelector(`[data-cell="${focused}"]`)?.focus();
}

// The names of columns and rows, small, in the outermost squares.
function labels() {
  const drawn = [];
  for (let k = 0; k < WIDTH; k += 1) {
    const top = CELLS.find(([, column]) => column === k);
    const left = CELLS.find(([row]) => row === k);
    const letter = nameOf(fromSeen(top));
    const number = nameOf(fromSeen(left));
    const sideways = turns % 2 === 1;
    drawn.push(svg("text", { class: "label", x: k * SQUARE + 16, y: top[0] * SQUARE + 18 }, sideways ? letter.slice(1) : letter[0]));
    drawn.push(svg("text", { class: "label", x: left[1] * SQUARE + 16, y: k * SQUARE + 82 }, sideways ? number[0] : number.slice(1)));
  }
  return drawn;
}

// The square beside another as it is seen, by an arrow key; itself where there is none.
export function beside(name, key) {
  const [row, column] = seen(cellOf(name));
  const [down, right] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  const at = [row + down, column + right];
  return onBoard(at) ? nameOf(fromSeen(at)) : name;
}
