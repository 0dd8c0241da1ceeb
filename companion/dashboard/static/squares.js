// The board of squares as SVG, 100 units a square: stacks as layers from bottom to top, and what is marked on them.

import { svg } from "./dom.js";

const SQUARE = 100;
const FACE = { x: 19, width: 62, height: 40, base: 82 };
const DEEPEST = 41; // units that the layers of a full square may take
let turned = localStorage.getItem("turned") === "yes";

export function turnBoard() {
  turned = !turned;
  localStorage.setItem("turned", turned ? "yes" : "no");
}

export const nameOf = (column, row) => `${"abcdefgh"[column]}${row + 1}`;
export const placeOf = (name) => ["abcdefgh".indexOf(name[0]), Number(name[1]) - 1];

// The stacks of a position in TPS, by square: owners ("a" or "b") bottom first, and the kind of the top piece.
export function readTps(tps) {
  const stacks = new Map();
  const ranks = tps.split(" ")[0].split("/").reverse();
  ranks.forEach((rank, row) => {
    let column = 0;
    for (const word of rank.split(",")) {
      if (word[0] === "x") column += Number(word[1] ?? 1);
      else {
        const kind = /[SC]$/.test(word) ? word.at(-1) : "F";
        stacks.set(nameOf(column, row), { owners: [...word.replace(/[SC]$/, "")].map((digit) => (digit === "1" ? "a" : "b")), kind });
        column += 1;
      }
    }
  });
  return { size: ranks.length, stacks };
}

// The stacks after pieces are carried from a square over others: what a slide would make of the board.
export function slid(stacks, cells, drops) {
  const after = new Map(stacks);
  const from = after.get(cells[0]);
  const taken = drops.reduce((sum, n) => sum + n, 0);
  const carried = from.owners.slice(-taken);
  const left = from.owners.slice(0, -taken);
  if (left.length > 0) after.set(cells[0], { owners: left, kind: "F" });
  else after.delete(cells[0]);
  drops.forEach((count, k) => {
    const name = cells[k + 1];
    const dropped = carried.splice(0, count);
    after.set(name, { owners: [...(after.get(name)?.owners ?? []), ...dropped], kind: carried.length === 0 ? from.kind : "F" });
  });
  return after;
}

const KINDS = { F: "flat", S: "wall", C: "Crown" };

export function describe(name, stack, words) {
  if (!stack) return `${name}, empty`;
  const top = `${words[stack.owners.at(-1)]} ${KINDS[stack.kind]}`;
  return stack.owners.length === 1 ? `${name}, ${top}` : `${name}, ${top} on top of ${stack.owners.length - 1}, height ${stack.owners.length}`;
}

function middle(name, size) {
  const [column, row] = placeOf(name);
  const [x, y] = turned ? [size - 1 - column, row] : [column, size - 1 - row];
  return [x * SQUARE, y * SQUARE];
}

// The middle of a cell, [row, column] from 1, on a small map with one unit a square, seen from where the board is.
export const placeOnMap = ([row, column], rows, columns) => (turned ? [columns - column + 0.5, row - 0.5] : [column - 0.5, rows - row + 0.5]);

// One piece with its lower edge `y` units down, facing up; drawn over what lies below it.
function flat(owner, y, thick) {
  return svg("g", { class: `piece ${owner}` },
    svg("rect", { class: "side", x: FACE.x, y: y - FACE.height - thick, width: FACE.width, height: FACE.height + thick, rx: 9 }),
    svg("rect", { class: "top", x: FACE.x, y: y - FACE.height - thick, width: FACE.width, height: FACE.height, rx: 9 }),
    owner === "b" ? svg("rect", { class: "mark", x: FACE.x + 6, y: y - FACE.height - thick + 5, width: FACE.width - 12, height: FACE.height - 10, rx: 6 }) : null);
}

// A slab standing on its edge, seen from the front: its long side and end below, its upper edge above.
function wall(owner, y) {
  const at = (points) => points.map(([dx, dy]) => `${50 + dx} ${y - 19 + dy}`).join("L");
  const [left, near, right, far] = [[-34, 13], [-28, 23], [34, -13], [28, -23]];
  const up = ([dx, dy]) => [dx, dy - 21];
  return svg("g", { class: `piece ${owner}` },
    svg("path", { class: "side", d: `M${at([left, near, right, up(right), up(near), up(left)])}Z` }),
    svg("path", { class: "edge", d: `M${at([near, up(near)])}` }),
    svg("path", { class: "top", d: `M${at([up(left), up(near), up(right), up(far)])}Z` }));
}

function crown(owner, y) {
  const cy = y - FACE.height / 2;
  return svg("g", { class: `piece ${owner}` },
    svg("path", { class: "side", d: `M24 ${cy - 20}V${cy}A26 17 0 0 0 76 ${cy}V${cy - 20}Z` }),
    svg("ellipse", { class: "top", cx: 50, cy: cy - 20, rx: 26, ry: 17 }),
    svg("path", { class: "sign", d: `M37 ${cy - 12}L34 ${cy - 28}L43 ${cy - 21}L50 ${cy - 32}L57 ${cy - 21}L66 ${cy - 28}L63 ${cy - 12}Z` }));
}

// A stack as the rulebook shows it: board width + 1 layers, the total height, and "+" for what lies deeper.
export function drawStack({ owners, kind }, size) {
  const shown = owners.slice(-(size + 1));
  const deeper = owners.length - shown.length;
  const thick = Math.min(8, DEEPEST / (size + 1));
  const group = svg("g", { class: "stack", "data-height": owners.length, "data-layers": shown.length });
  shown.forEach((owner, k) => {
    const y = FACE.base - k * thick;
    const last = k === shown.length - 1;
    if (last && kind === "S") group.append(wall(owner, y));
    else if (last && kind === "C") group.append(crown(owner, y));
    else group.append(flat(owner, y, thick));
  });
  if (owners.length > 1) {
    const wide = owners.length > 9 ? 26 : 19;
    group.append(svg("rect", { class: "tag", x: 97 - wide, y: 78, width: wide, height: 19, rx: 5 }), svg("text", { class: "height", x: 97 - wide / 2, y: 88 }, String(owners.length)));
  }
  if (deeper > 0) group.append(svg("rect", { class: "tag", x: 3, y: 78, width: deeper > 9 ? 34 : 26, height: 19, rx: 5 }),
    svg("text", { class: "deeper", x: deeper > 9 ? 20 : 16, y: 88 }, `+${deeper}`));
  return group;
}

// A single piece for a button, in a box of its own.
export function drawPiece(kind, owner) {
  const piece = kind === "S" ? wall(owner, FACE.base) : kind === "C" ? crown(owner, FACE.base) : flat(owner, FACE.base, 8);
  return svg("svg", { class: "piece-icon", viewBox: "10 22 80 68", "aria-hidden": "true" }, piece);
}

// Draws a position: `marks` has, each by square or as a list of squares, what is special about it.
export function drawSquares(root, { size, stacks }, marks, words) {
  const whole = size * SQUARE;
  const focused = root.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
  root.setAttribute("viewBox", `-26 -20 ${whole + 36} ${whole + 48}`);
  const ground = svg("g", {}, svg("rect", { class: "frame", x: -8, y: -8, width: whole + 16, height: whole + 16, rx: 10 }));
  const squares = svg("g", {});
  const names = Array.from({ length: size * size }, (_, k) => nameOf(k % size, size - 1 - Math.floor(k / size)));
  if (turned) names.reverse();
  const stop = focused ?? marks.chosen ?? names[0];
  for (const name of names) {
    const [x, y] = middle(name, size);
    const [column, row] = placeOf(name);
    const stack = stacks.get(name);
    const classes = ["square", (column + row) % 2 ? "light" : "dark"];
    for (const mark of ["last", "restore", "movable", "free"]) if (marks[mark].includes(name)) classes.push(mark);
    const square = svg("g", { class: classes.join(" "), "data-cell": name, transform: `translate(${x} ${y})`, role: "button",
      tabindex: name === stop ? 0 : -1, "aria-label": describe(name, stack, words) + (marks.reach.includes(name) ? ", can be reached" : "") },
    svg("rect", { class: "field", width: SQUARE, height: SQUARE }),
    svg("rect", { class: "tint", width: SQUARE, height: SQUARE }));
    if (stack) square.append(drawStack(stack, size));
    if (marks.threats.includes(name)) square.append(svg("rect", { class: "threat", x: 5, y: 5, width: 90, height: 90, rx: 10 }));
    if (marks.restore.includes(name)) square.append(svg("rect", { class: "wrong", x: 5, y: 5, width: 90, height: 90, rx: 10 }));
    if (marks.reach.includes(name)) square.append(svg("circle", { class: "reach", cx: 50, cy: 50, r: 15 }));
    if (marks.chosen === name) square.append(svg("rect", { class: "chosen", x: 3, y: 3, width: 94, height: 94, rx: 8 }));
    squares.append(square);
  }
  for (let k = 0; k < size; k += 1) {
    const at = (turned ? size - 1 - k : k) * SQUARE + SQUARE / 2;
    ground.append(svg("text", { class: "count", x: at, y: whole + 19 }, "abcdefgh"[k]),
      svg("text", { class: "count", x: -17, y: whole - at }, String(k + 1)));
  }
  const line = marks.path.map((name) => middle(name, size).map((at) => at + SQUARE / 2).join()).join(" ");
  root.replaceChildren(ground, squares, ...(line ? [svg("polyline", { class: "path under", points: line }), svg("polyline", { class: "path", points: line })] : []));
  if (focused) root.querySelector(`[data-cell="${focused}"]`)?.focus();
}

// The square beside another as it is seen, by an arrow key; itself at the edge.
export function beside(name, key, size) {
  const [column, row] = placeOf(name);
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key].map((step) => (turned ? -step : step));
  const within = (value) => Math.min(Math.max(value, 0), size - 1);
  return nameOf(within(column + way[0]), within(row + way[1]));
}
