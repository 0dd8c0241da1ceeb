// The page: shows each state the server sends, whole, and sends what people press.

import { html, find, setText, inkOn } from "./dom.js";
import { drawBoard, turnBoard, placeOfCell, placeOfClick, describeDisk } from "./board.js";
import { renderHardware } from "./hardware.js";
import { button, confirmed, followTable, onKeys, press, renderLog, fillButtons, renderRulingCard, renderWatch, say, showPicture } from "./page.js";

const PLAYERS = ["a", "b"];
const OVER = { "game-over": "Game over", "match-over": "Match over" };

let state = null;
let grid = null; // the LEDs and sensors, null where there are none
let asking = false; // whether the form for another match is open over a finished one
let chosen = null; // the correction being made: {disk: index or null, place: where clicked or null}

// ---- what the server says

followTable({
  onState(next) {
    const before = state;
    state = next;
    if (before === null || before.match !== next.match) asking = false;
    if (before === null || before.match !== next.match || JSON.stringify(before.disks) !== JSON.stringify(next.disks)) chosen = null;
    render();
  },
  onGrid(next) {
    grid = next;
    renderGrid();
    find("#camera").hidden = grid !== null && grid.alone;
  },
});
showPicture();

// ---- showing the state

function renderGrid() {
  document.body.classList.toggle("without-camera", grid !== null && grid.alone);
  renderHardware(grid, {
    rows: state?.board.rows ?? 0,
    columns: state?.board.columns ?? 0,
    place: placeOfCell,
    name: ([row, column]) => `row ${row}, column ${column}`,
    watching: true,
    sees: state === null ? null : cameraCells(),
  });
}

// What the camera has in each hole: a disk, "?" where it does not see, or nothing.
function cameraCells() {
  const seen = new Map((state.hidden ?? []).map((cell) => [cell.join(), "?"]));
  for (const disk of state.disks ?? []) {
    const { colour, word } = state.players[disk.colour];
    if (disk.cell && (disk.lying === "in_cell" || disk.lying === "tilted")) seen.set(disk.cell.join(), { colour, word, letter: disk.colour.toUpperCase() });
  }
  return seen;
}

function render() {
  const phase = asking ? "start" : state.phase;
  document.body.dataset.phase = phase;
  setText(find("#game-name"), state.game);
  renderWatch(state);
  for (const player of PLAYERS) renderTokens(player);
  renderGrid();
  find("#start").hidden = phase !== "start";
  if (phase === "start") {
    setText(find("#match-line"), "");
    document.title = state.game;
    return;
  }
  renderScores();
  renderRuling();
  renderButtons();
  renderTrack();
  renderLines();
  renderBoard();
}

function renderTokens(player) {
  const { colour, word } = state.players[player];
  document.documentElement.style.setProperty(`--side-${player}`, colour);
  document.documentElement.style.setProperty(`--side-${player}-ink`, inkOn(colour));
  for (const token of document.querySelectorAll(`[data-token="${player}"]`)) setText(token, player.toUpperCase());
  for (const text of document.querySelectorAll(`[data-colour-word="${player}"]`)) setText(text, `${word} disks`);
}

function renderScores() {
  const [a, b] = PLAYERS.map((player) => state.players[player]);
  document.title = `${a.name} ${a.count} – ${b.count} ${b.name}`;
  const game = state.mode === "basic" ? "" : ` to ${state.threshold} · game ${state.game_number}`;
  setText(find("#match-line"), `${state.mode_words}${game}${state.sudden_death ? " · sudden death" : ""}`);
  const points = state.mode === "basic" ? "" : ` Match points ${a.name} ${a.points}, ${b.name} ${b.points}.`;
  const turn = state.turn === null ? "" : ` ${state.players[state.turn].name} to flick.`;
  setText(find("#score-words"), `${a.name} ${a.count}, ${b.name} ${b.count} ${state.counted}.${points}${turn}`);
  for (const player of PLAYERS) {
    const card = find(`.player[data-player="${player}"]`);
    const { name, count, left } = state.players[player];
    const won = state.winner === player;
    card.classList.toggle("now", state.turn === player || won);
    card.classList.toggle("won", won);
    setText(find(".turn", card), won ? "wins" : "to flick");
    setText(find(".name", card), name);
    setText(find(".score", card), String(count));
    setText(find(".counted", card), state.counted);
    setText(find(".left", card), left === 1 ? "1 flick left" : `${left} flicks left`);
    const pips = Array.from({ length: state.flicks_each }, (_, k) => html("span", { class: k < left ? "pip" : "pip spent" }));
    find(".pips", card).replaceChildren(...pips);
  }
}

function renderRuling() {
  const asked = state.phase === "ask" && state.question;
  const ruling = asked || state.ruling;
  // Once its orders are carried out, a ruling that asked for something is history.
  const idle = state.phase === "flick" && ruling?.verdict === "orders" && state.orders.length === 0;
  const orders = state.orders.map((order) => ({ text: order.text, kind: order.do === "remove" ? "" : "advice" }));
  renderRulingCard(idle ? { ...ruling, verdict: "accepted" } : ruling, { word: OVER[state.phase], why: ruling?.why ?? "", orders });
}

function renderButtons() {
  const again = [button("Play again, sides switched", () => askStart(true), "primary"), button("New match", () => askStart(false))];
  fillButtons(state.buttons, press, state.phase === "match-over" ? again : []);
}

function renderTrack() {
  const panel = find("#track-panel");
  panel.hidden = state.mode === "basic";
  if (panel.hidden) return;
  const sudden = state.sudden_death;
  setText(find("#track-title"), sudden ? "Match points: sudden death, the next game won decides" : `Match points: first to ${state.threshold}`);
  const step = Math.max(1, Math.ceil(state.threshold / 24));
  find("#track").replaceChildren(...PLAYERS.map((player) => {
    const { name, points } = state.players[player];
    const at = Math.min(Math.round(points / step) * step, Math.ceil(state.threshold / step) * step);
    const places = [];
    for (let value = 0; value <= Math.ceil(state.threshold / step) * step; value += step) {
      const here = value === at;
      const goal = value >= state.threshold;
      places.push(html("span", { class: `place${value > 0 && value <= points ? " won" : ""}${goal ? " goal" : ""}` },
        here ? html("span", { class: "token", "data-token": player }, player.toUpperCase()) : String(Math.min(value, state.threshold))));
    }
    return html("div", { class: "lane" },
      html("span", { class: "who" }, name),
      html("div", { class: "places", "aria-hidden": "true" }, ...places),
      html("span", { class: "total" }, String(points)));
  }));
}

function renderLines() {
  const undone = new Set(state.undone);
  renderLog(state, (line) => (line.n > 1 && !undone.has(line.seq)
    ? html("button", { type: "button", class: "quiet", title: "Take back this and all after it", onclick: () => takeBack(line) }, "↶") : null));
}

function renderBoard() {
  drawBoard(find("#board"), state, chosen);
  renderEditor();
}

// ---- correcting a disk

const plain = ({ colour, x_mm, y_mm, cell, lying, sigma_mm, confidence, perhaps_tilted }) => ({ colour, x_mm, y_mm, cell, lying, sigma_mm, confidence, perhaps_tilted });
const at = (place, colour) => ({ colour, ...place, lying: place.cell ? "in_cell" : "flat" });
const other = (player) => (player === "a" ? "b" : "a");

find("#board").addEventListener("click", (event) => {
  if (state === null || state.phase === "start") return;
  const disk = event.target.closest(".disk");
  if (disk !== null) choose({ disk: Number(disk.dataset.index), place: null });
  else choose({ disk: chosen?.disk ?? null, place: placeOfClick(find("#board"), state.board, event) });
});
find("#board").addEventListener("keydown", (event) => {
  const disk = event.target.closest(".disk");
  if (disk !== null && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    event.stopPropagation();
    choose({ disk: Number(disk.dataset.index), place: null });
    find("#editor button")?.focus();
  }
});
find("#turn-board").addEventListener("click", () => {
  turnBoard();
  if (state !== null && state.phase !== "start") renderBoard();
  renderGrid();
});

function choose(next) {
  chosen = next;
  renderBoard();
}

function correct(was, now) {
  chosen = null;
  say("/correct", { was: was && plain(was), now: now && plain(now) });
  renderBoard();
}

function renderEditor() {
  const editor = find("#editor");
  editor.hidden = chosen === null;
  find(".board-foot").hidden = chosen !== null;
  if (chosen === null) return editor.replaceChildren();
  const cancel = button("Cancel", () => choose(null));
  const where = (place) => (place.cell ? `row ${place.cell[0]}, column ${place.cell[1]}` : "this place on the surface");
  const disk = chosen.disk === null ? null : state.disks.find((each) => each.index === chosen.disk);
  if (disk && chosen.place) {
    editor.replaceChildren(html("p", {}, `Move the ${describeDisk(state, disk)} to ${where(chosen.place)}?`),
      button("Move it", () => correct(disk, at(chosen.place, disk.colour)), "primary"), cancel);
  } else if (disk) {
    const repainted = { ...disk, colour: other(disk.colour) };
    editor.replaceChildren(html("p", {}, `The ${describeDisk(state, disk)}. Click where it lies, or:`),
      button(`It is ${state.players[repainted.colour].word}`, () => correct(disk, repainted)),
      button("It is not there", () => correct(disk, null)), cancel);
  } else {
    editor.replaceChildren(html("p", {}, `At ${where(chosen.place)} lies:`),
      ...PLAYERS.map((player) => button(`a ${state.players[player].word} disk`, () => correct(null, at(chosen.place, player)))), cancel);
  }
}

// ---- what people say

async function takeBack(line) {
  if (await confirmed(`Take back “${line.rulings.at(-1).headline}” and all that came after it?`)) say("/undo", { before: line.n });
}

// ---- the start of a match

function askStart(switched) {
  const [a, b] = PLAYERS.map((player) => state.players[player].name);
  fields.name_a.value = switched ? b : a;
  fields.name_b.value = switched ? a : b;
  fields.mode.value = state.mode;
  fields.threshold.value = state.threshold;
  asking = true;
  render();
  fields.name_a.focus();
}

const fields = find("#start-form").elements;
fields.mode.addEventListener("change", () => { fields.threshold.disabled = fields.mode.value === "basic"; });

find("#start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  say("/start", {
    names: [fields.name_a.value, fields.name_b.value],
    starter: fields.starter.value,
    mode: fields.mode.value,
    threshold: Number(fields.threshold.value),
    illegal_flick: fields.illegal_flick.value,
  });
});

// ---- keys

onKeys({
  keys: { t: ["Turn the board", () => find("#turn-board").click()] },
  buttons: () => state?.buttons ?? [],
  press,
  leave: () => chosen !== null && (choose(null), true),
});
