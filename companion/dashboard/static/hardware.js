// The hardware panel: the grid of LEDs and sensors, its cells beside what the camera sees, and its counters.
//
// `board` says what is special about a game's: rows and columns, `place` of a cell on a small map with one unit a cell,
// its `name`, whether a camera is `watching`, and what that `sees` in the cells, or null: by cell {word, colour, letter},
// a text in place of those where it is not sure.

import { html, svg, find, setText, inkOn } from "./dom.js";
import { gridAlarmOf, sentence } from "./watch.js";

const STATES = { there: "Connected", lost: "Not connected", looking: "Looking for it" };
const COUNTERS = {
  events: "Sensor events",
  frames_in: "Frames received",
  frames_out: "Frames sent",
  retries: "Sent again",
  bad_frames: "Damaged on the way here",
  device_bad_frames: "Damaged on the way there",
  device_overruns: "Bytes without room there",
  found: "Times found",
  lost: "Times lost",
};
const RADIUS = 0.42;
const MOST_NAMED = 3;

export function renderHardware(grid, board) {
  const panel = find("#grid-panel");
  panel.hidden = grid === null;
  document.body.classList.toggle("with-grid", grid !== null);
  renderAlarm(grid, board);
  if (grid === null) return;
  panel.dataset.state = grid.state;
  setText(find("#grid-name"), grid.simulated ? "Simulated grid" : "Grid");
  setText(find("#grid-state"), STATES[grid.state]);
  const seen = grid.alone ? null : board.sees;
  const sensed = grid.state === "there" && grid.sensed;
  find("[data-map=sensors]").hidden = !sensed;
  find("[data-map=camera]").hidden = !sensed || seen === null;
  const differ = sensed && seen !== null ? grid.cells.filter((one) => contradicts(one, seen)) : [];
  drawLights(grid, board);
  if (sensed) drawSensors(grid, board, differ);
  if (sensed && seen !== null) drawCamera(grid, board, differ);
  renderNote(grid, board, differ);
  renderFacts(grid);
}

function renderAlarm(grid, board) {
  const line = find("#grid-alarm");
  setText(line, gridAlarmOf(grid, board.watching));
  line.hidden = line.textContent === "";
}

function contradicts(one, seen) {
  const held = seen.get(one.cell.join());
  return one.occupied !== null && held !== "?" && one.occupied !== (held !== undefined);
}

function begin(root, grid, board, label) {
  const rows = Math.max(...grid.cells.map((one) => one.cell[0]), board.rows);
  const columns = Math.max(...grid.cells.map((one) => one.cell[1]), board.columns);
  root.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  root.setAttribute("aria-label", label);
  const slab = svg("rect", { class: "ground", x: 0, y: 0, width: columns, height: rows, rx: 0.3 });
  return { slab, place: (cell) => board.place(cell, rows, columns) };
}

function drawLights(grid, board) {
  const lit = grid.cells.filter((one) => one.light !== null);
  const { slab, place } = begin(find("#map-lights"), grid, board,
    lit.length === 0 ? "LEDs: all dark" : `LEDs lit: ${lit.map((one) => `${board.name(one.cell)} ${one.light.rhythm}`).join("; ")}`);
  find("#map-lights").replaceChildren(slab, ...grid.cells.map(({ cell, light }) => {
    const [cx, cy] = place(cell);
    return light === null
      ? svg("circle", { class: "dark", cx, cy, r: 0.12 })
      : svg("circle", { class: `lit ${light.rhythm}`, cx, cy, r: RADIUS, fill: light.colour });
  }));
}

function drawSensors(grid, board, differ) {
  const words = grid.cells.filter((one) => one.occupied).map((one) => board.name(one.cell));
  const { slab, place } = begin(find("#map-sensors"), grid, board, `Sensors say occupied: ${words.join("; ") || "none"}`);
  find("#map-sensors").replaceChildren(slab, ...grid.cells.flatMap((one) => {
    const [cx, cy] = place(one.cell);
    const marks = [svg("circle", one.occupied ? { class: "occupied", cx, cy, r: RADIUS } : { class: "empty", cx, cy, r: 0.3 })];
    if (one.stuck) marks.push(svg("path", { class: "stuck", d: `M${cx - 0.36} ${cy - 0.36}l0.72 0.72m0 -0.72l-0.72 0.72` }));
    if (differ.includes(one)) marks.push(differs(cx, cy));
    return marks;
  }));
}

function drawCamera(grid, board, differ) {
  const seen = board.sees;
  const words = [...seen].filter(([, held]) => held !== "?").map(([cell, held]) => `${board.name(cell.split(",").map(Number))} ${held.word}`);
  const { slab, place } = begin(find("#map-camera"), grid, board, `The camera sees: ${words.join("; ") || "nothing"}`);
  find("#map-camera").replaceChildren(slab, ...grid.cells.flatMap((one) => {
    const [cx, cy] = place(one.cell);
    const held = seen.get(one.cell.join());
    const marks = [];
    if (held === undefined) marks.push(svg("circle", { class: "empty", cx, cy, r: 0.3 }));
    else if (held === "?") marks.push(svg("text", { x: cx, y: cy }, "?"));
    else {
      marks.push(svg("circle", { class: "disk", cx, cy, r: RADIUS, fill: held.colour }),
        svg("text", { x: cx, y: cy, fill: inkOn(held.colour) }, held.letter));
    }
    if (differ.includes(one)) marks.push(differs(cx, cy));
    return marks;
  }));
}

const differs = (cx, cy) => svg("circle", { class: "differs", cx, cy, r: 0.46 });

function renderNote(grid, board, differ) {
  const stuck = grid.cells.filter((one) => one.stuck);
  const open = differ.filter((one) => !one.stuck);
  // What the maps show as well comes last.
  const notes = grid.conditions.map(sentence);
  if (grid.state === "there" && !grid.sensed) notes.push("Its sensors are not used here.");
  if (open.length > 0) notes.push(`Camera and sensor differ at ${named(open, board)}.`);
  if (stuck.length > 0) notes.push(`Left out, stuck: ${named(stuck, board)}.`);
  setText(find("#grid-note"), notes.join(" "));
}

// Many are counted: the maps show which.
const named = (some, board) => some.length > MOST_NAMED ? `${some.length} places` : some.map((one) => board.name(one.cell)).join("; ");

function renderFacts(grid) {
  const { device } = grid;
  const facts = [[STATES[grid.state], `since ${new Date(grid.since).toLocaleTimeString()}`]];
  if (device !== null) facts.push(
    ["Port", grid.port],
    ["Speed", grid.baud === null ? "no line" : `${grid.baud.toLocaleString()} bits a second`],
    ["Device", `${device.rows} × ${device.columns} cells${grid.simulated ? ", simulated" : ""}`],
    ["Driver", device.driver],
    ["Identity", device.uid || "none"],
    ["Firmware", device.firmware || "unknown"],
    ["LEDs, sensors", `${device.leds}, ${device.sensors}`]);
  const counted = Object.entries(COUNTERS).map(([key, label]) => [label, grid.counters[key].toLocaleString()]);
  find("#grid-facts").replaceChildren(...[...facts, ...counted].flatMap(([label, text]) => [html("dt", {}, label), html("dd", {}, text)]));
}
