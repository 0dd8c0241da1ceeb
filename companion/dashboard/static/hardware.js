// The hardware panel: the grid of LEDs and sensors, its cells beside what the camera sees, and its counters.

import { html, svg, find, setText, inkOn } from "./dom.js";
import { placeOfCell } from "./board.js";
import { gridAlarmOf } from "./watch.js";

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

const at = ([row, column]) => `row ${row}, column ${column}`;

export function renderHardware(grid, state) {
  const panel = find("#grid-panel");
  panel.hidden = grid === null;
  document.body.classList.toggle("with-grid", grid !== null);
  document.body.classList.toggle("without-camera", grid !== null && grid.alone);
  renderAlarm(grid);
  if (grid === null) return;
  panel.dataset.state = grid.state;
  setText(find("#grid-name"), grid.simulated ? "Simulated grid" : "Grid");
  setText(find("#grid-state"), STATES[grid.state]);
  const seen = grid.alone || state === null ? null : cameraCells(state);
  const sensed = grid.state === "there" && grid.sensed;
  find("[data-map=sensors]").hidden = !sensed;
  find("[data-map=camera]").hidden = !sensed || seen === null;
  const differ = sensed && seen !== null ? grid.cells.filter((one) => contradicts(one, seen)) : [];
  drawLights(grid, state);
  if (sensed) drawSensors(grid, state, differ);
  if (sensed && seen !== null) drawCamera(grid, state, seen, differ);
  renderNote(grid, differ);
  renderFacts(grid);
}

function renderAlarm(grid) {
  const line = find("#grid-alarm");
  setText(line, gridAlarmOf(grid));
  line.hidden = line.textContent === "";
}

// What the camera has in each hole: a colour, "?" where it does not see, or nothing.
function cameraCells(state) {
  const seen = new Map(state.hidden.map((cell) => [cell.join(), "?"]));
  for (const disk of state.disks) {
    if (disk.cell && (disk.lying === "in_cell" || disk.lying === "tilted")) seen.set(disk.cell.join(), disk.colour);
  }
  return seen;
}

function contradicts(one, seen) {
  const held = seen.get(one.cell.join());
  return one.occupied !== null && held !== "?" && one.occupied !== (held !== undefined);
}

function begin(root, grid, state, label) {
  const rows = Math.max(...grid.cells.map((one) => one.cell[0]), state?.board.rows ?? 0);
  const columns = Math.max(...grid.cells.map((one) => one.cell[1]), state?.board.columns ?? 0);
  root.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  root.setAttribute("aria-label", label);
  const slab = svg("rect", { class: "ground", x: 0, y: 0, width: columns, height: rows, rx: 0.3 });
  return { slab, place: (cell) => placeOfCell(cell, rows, columns) };
}

function drawLights(grid, state) {
  const lit = grid.cells.filter((one) => one.light !== null);
  const { slab, place } = begin(find("#map-lights"), grid, state,
    lit.length === 0 ? "LEDs: all dark" : `LEDs lit: ${lit.map((one) => `${at(one.cell)} ${one.light.rhythm}`).join("; ")}`);
  find("#map-lights").replaceChildren(slab, ...grid.cells.map(({ cell, light }) => {
    const [cx, cy] = place(cell);
    return light === null
      ? svg("circle", { class: "dark", cx, cy, r: 0.12 })
      : svg("circle", { class: `lit ${light.rhythm}`, cx, cy, r: RADIUS, fill: light.colour });
  }));
}

function drawSensors(grid, state, differ) {
  const words = grid.cells.filter((one) => one.occupied).map((one) => at(one.cell));
  const { slab, place } = begin(find("#map-sensors"), grid, state, `Sensors say occupied: ${words.join("; ") || "no hole"}`);
  find("#map-sensors").replaceChildren(slab, ...grid.cells.flatMap((one) => {
    const [cx, cy] = place(one.cell);
    const marks = [svg("circle", one.occupied ? { class: "occupied", cx, cy, r: RADIUS } : { class: "empty", cx, cy, r: 0.3 })];
    if (one.stuck) marks.push(svg("path", { class: "stuck", d: `M${cx - 0.36} ${cy - 0.36}l0.72 0.72m0 -0.72l-0.72 0.72` }));
    if (differ.includes(one)) marks.push(differs(cx, cy));
    return marks;
  }));
}

function drawCamera(grid, state, seen, differ) {
  const words = [...seen].filter(([, held]) => held !== "?").map(([cell, held]) => `${at(cell.split(","))} ${state.players[held].word}`);
  const { slab, place } = begin(find("#map-camera"), grid, state, `The camera sees: ${words.join("; ") || "no disk in a hole"}`);
  find("#map-camera").replaceChildren(slab, ...grid.cells.flatMap((one) => {
    const [cx, cy] = place(one.cell);
    const held = seen.get(one.cell.join());
    const marks = [];
    if (held === undefined) marks.push(svg("circle", { class: "empty", cx, cy, r: 0.3 }));
    else if (held === "?") marks.push(svg("text", { x: cx, y: cy }, "?"));
    else {
      const colour = state.players[held].colour;
      marks.push(svg("circle", { class: "disk", cx, cy, r: RADIUS, fill: colour }),
        svg("text", { x: cx, y: cy, fill: inkOn(colour) }, held.toUpperCase()));
    }
    if (differ.includes(one)) marks.push(differs(cx, cy));
    return marks;
  }));
}

const differs = (cx, cy) => svg("circle", { class: "differs", cx, cy, r: 0.46 });

function renderNote(grid, differ) {
  const stuck = grid.cells.filter((one) => one.stuck);
  const open = differ.filter((one) => !one.stuck);
  const notes = [];
  if (grid.state === "there" && !grid.sensed) notes.push("Its sensors are not used here.");
  if (open.length > 0) notes.push(`Camera and sensor differ at ${open.map((one) => at(one.cell)).join("; ")}.`);
  if (stuck.length > 0) notes.push(`Left out, stuck: ${stuck.map((one) => at(one.cell)).join("; ")}.`);
  setText(find("#grid-note"), notes.join(" "));
}

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
