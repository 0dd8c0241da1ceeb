// The board as SVG, in board millimetres: origin at A's left corner, x to A's right, y towards B.

import { svg, find, inkOn } from "./dom.js";

const MARGIN_MM = 20;
let turned = localStorage.getItem("turned") === "yes";
let drawn = "";
let disks = [];

export function turnBoard() {
  turned = !turned;
  localStorage.setItem("turned", turned ? "yes" : "no");
  drawn = "";
  disks = [];
}

function place(board, x_mm, y_mm) {
  return turned ? [board.width_mm - x_mm, y_mm] : [x_mm, board.length_mm - y_mm];
}

export function cellCentre(board, [row, column]) {
  return [board.margin_mm + (column - 1) * board.pitch_mm, board.first_row_mm + (row - 1) * board.pitch_mm];
}

// The middle of a cell on a small map with one unit a cell, seen from where the board is.
export function placeOfCell([row, column], rows, columns) {
  return turned ? [columns - column + 0.5, row - 0.5] : [column - 0.5, rows - row + 0.5];
}

// Where a click fell: board millimetres, and the cell whose hole it is in, or null.
export function placeOfClick(root, board, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
  const [x_mm, y_mm] = turned ? [board.width_mm - at.x, at.y] : [at.x, board.length_mm - at.y];
  const column = Math.round((x_mm - board.margin_mm) / board.pitch_mm) + 1;
  const row = Math.round((y_mm - board.first_row_mm) / board.pitch_mm) + 1;
  const inside = row >= 1 && row <= board.rows && column >= 1 && column <= board.columns;
  if (inside) {
    const [cx, cy] = cellCentre(board, [row, column]);
    if (Math.hypot(x_mm - cx, y_mm - cy) <= board.hole_diameter_mm / 2) return { x_mm: cx, y_mm: cy, cell: [row, column] };
  }
  const near = (value, most) => Math.min(Math.max(value, 0), most);
  return { x_mm: near(x_mm, board.width_mm), y_mm: near(y_mm, board.length_mm), cell: null };
}

function gradient(id, kind, place, stops) {
  return svg(kind, { id, ...place }, ...stops.map(([offset, name]) => svg("stop", { offset, class: name })));
}

function drawSlab(root, state) {
  const board = state.board;
  const [w, l] = [board.width_mm, board.length_mm];
  root.setAttribute("viewBox", `${-MARGIN_MM} ${-MARGIN_MM} ${w + 2 * MARGIN_MM} ${l + 2 * MARGIN_MM}`);
  const slab = svg("g", { class: "slab" });
  slab.append(svg("defs", {},
    gradient("wood", "linearGradient", { x1: 0, y1: 0, x2: 1, y2: 1 }, [[0, "wood-1"], [0.5, "wood-2"], [1, "wood-3"]]),
    gradient("hole", "radialGradient", { cx: 0.5, cy: 0.58, r: 0.6 }, [[0, "hole-1"], [0.75, "hole-2"], [1, "hole-3"]]),
    gradient("shine", "radialGradient", { cx: 0.36, cy: 0.3, r: 0.85 }, [[0, "shine-1"], [0.6, "shine-2"], [1, "shine-3"]])));
  slab.append(svg("rect", { class: "wood", x: 0, y: 0, width: w, height: l, rx: 7, fill: "url(#wood)" }));
  for (const player of ["a", "b"]) {
    const below = (player === "a") !== turned;
    const [top, line] = below ? [l - board.launch_line_mm, l - board.launch_line_mm] : [0, board.launch_line_mm];
    slab.append(svg("rect", { class: "launch", x: 0, y: top, width: w, height: board.launch_line_mm, rx: 7 }));
    slab.append(svg("line", { class: "line", x1: 0, x2: w, y1: line, y2: line }));
    slab.append(svg("text", { class: "owner", x: w / 2, y: top + board.launch_line_mm / 2 }, state.players[player].name));
  }
  for (let row = 1; row <= board.rows; row += 1) {
    for (let column = 1; column <= board.columns; column += 1) {
      const [cx, cy] = place(board, ...cellCentre(board, [row, column]));
      slab.append(svg("circle", { class: "hole", cx, cy, r: board.hole_diameter_mm / 2, fill: "url(#hole)" }));
    }
    const y = place(board, ...cellCentre(board, [row, 1]))[1];
    slab.append(svg("text", { class: "count", x: -11, y }, String(row)));
  }
  for (let column = 1; column <= board.columns; column += 1) {
    const x = place(board, ...cellCentre(board, [1, column]))[0];
    slab.append(svg("text", { class: "count", x, y: l + 11 }, String(column)));
  }
  root.replaceChildren(slab, svg("g", { id: "hidden-cells" }), svg("g", { id: "disks" }), svg("g", { id: "marks" }));
}

function drawDisk(state, disk) {
  const colour = state.players[disk.colour].colour;
  const ink = inkOn(colour);
  const r = state.board.disk_diameter_mm / 2;
  const tipped = disk.lying === "tilted" || disk.lying === "leaning";
  const face = svg("g", { class: "face", transform: tipped ? "rotate(-24) scale(1 0.72)" : null });
  face.append(svg("circle", { class: "rim", r: r + 0.7 }), svg("circle", { class: "body", r, fill: colour }));
  // The second cue besides colour: B's disks carry a ring, and every disk its side's letter.
  if (disk.colour === "b") face.append(svg("circle", { class: "ring", r: r * 0.76, stroke: ink }));
  face.append(svg("circle", { class: "sheen", r, fill: "url(#shine)" }));
  const group = svg("g", { class: `disk ${disk.lying}` });
  if (disk.lying !== "in_cell") group.append(svg("circle", { class: "cast", cx: 1.6, cy: 2.6, r: r + 0.8 }));
  group.append(face, svg("text", { class: "letter", fill: ink }, disk.colour.toUpperCase()));
  if (tipped) group.append(svg("text", { class: "lying", y: r + 6.5 }, disk.lying));
  return group;
}

// Pairs each disk with the nearest one of its colour and pose drawn before, so that a moved disk glides there.
function pairDisks(seen) {
  const free = [...disks];
  return seen.map((disk) => {
    const near = free
      .filter((old) => old.colour === disk.colour && old.lying === disk.lying)
      .sort((one, two) => apart(one, disk) - apart(two, disk))[0];
    if (near) free.splice(free.indexOf(near), 1);
    return { ...disk, element: near ? near.element : null };
  });
}

const apart = (one, two) => Math.hypot(one.x_mm - two.x_mm, one.y_mm - two.y_mm);

export function describeDisk(state, disk) {
  const where = disk.cell ? `row ${disk.cell[0]}, column ${disk.cell[1]}` : "on the surface";
  const lying = disk.lying === "tilted" || disk.lying === "leaning" ? `, ${disk.lying}` : "";
  return `${state.players[disk.colour].word} disk, ${where}${lying}`;
}

export function drawBoard(root, state, chosen) {
  const key = JSON.stringify([state.board, state.players, turned]);
  if (key !== drawn) {
    drawSlab(root, state);
    drawn = key;
    disks = [];
  }
  const layer = find("#disks", root);
  disks = pairDisks(state.disks).map((disk) => ({ ...disk, element: disk.element ?? drawDisk(state, disk) }));
  const kept = new Set(disks.map((disk) => disk.element));
  for (const old of [...layer.children]) if (!kept.has(old)) old.remove();
  for (const disk of disks) {
    const [x, y] = place(state.board, disk.x_mm, disk.y_mm);
    disk.element.style.transform = `translate(${x}px, ${y}px)`;
    disk.element.setAttribute("data-index", disk.index);
    disk.element.setAttribute("data-colour", disk.colour);
    disk.element.setAttribute("data-cell", disk.cell ? disk.cell.join(",") : "");
    disk.element.setAttribute("tabindex", "0");
    disk.element.setAttribute("role", "button");
    disk.element.setAttribute("aria-label", `${describeDisk(state, disk)}: correct it`);
    if (disk.element.parentNode !== layer) layer.append(disk.element);
  }
  drawMarks(root, state, chosen);
}

function drawMarks(root, state, chosen) {
  const board = state.board;
  const r = board.disk_diameter_mm / 2;
  const marks = state.orders.filter((order) => order.x_mm !== null).map((order) => {
    const [x, y] = place(board, order.x_mm, order.y_mm);
    const arm = r * 0.62;
    return svg("g", { class: `order ${order.do}`, transform: `translate(${x} ${y})` },
      svg("circle", { class: "halo", r: r + 4.5 }),
      svg("circle", { class: "ring", r: r + 4.5 }),
      order.do === "remove" ? svg("path", { class: "cross", d: `M${-arm} ${-arm}L${arm} ${arm}M${arm} ${-arm}L${-arm} ${arm}` }) : null);
  });
  for (const { x_mm, y_mm } of state.asked) {
    const [x, y] = place(board, x_mm, y_mm);
    marks.push(svg("g", { class: "asked", transform: `translate(${x} ${y})` },
      svg("circle", { class: "halo", r: r + 4.5 }), svg("circle", { class: "ring", r: r + 4.5 }),
      svg("text", { x: r + 1, y: -r - 1 }, "?")));
  }
  const disk = chosen === null ? undefined : disks.find((each) => each.index === chosen.disk);
  if (disk) {
    const [cx, cy] = place(board, disk.x_mm, disk.y_mm);
    marks.push(...[1, 2].map(() => svg("circle", { class: "chosen-ring", cx, cy, r: r + 4 })));
  }
  if (chosen !== null && chosen.place) {
    const [cx, cy] = place(board, chosen.place.x_mm, chosen.place.y_mm);
    marks.push(svg("circle", { class: "target", cx, cy, r: board.hole_diameter_mm / 2 }));
  }
  find("#marks", root).replaceChildren(...marks);
  find("#hidden-cells", root).replaceChildren(...state.hidden.map((cell) => {
    const [x, y] = place(board, ...cellCentre(board, cell));
    return svg("g", { class: "unseen", transform: `translate(${x} ${y})` },
      svg("circle", { r: board.hole_diameter_mm / 2 }), svg("text", {}, "?"));
  }));
}
