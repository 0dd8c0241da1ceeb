// The page of Pathstone: shows each state the server sends, whole, and sends what people tap.

import { html, find, setText, inkOn } from "./dom.js";
import { renderHardware } from "./hardware.js";
import { button, confirmed, fetched, followTable, onKeys, press, renderLog, fillButtons, say, showPicture, tellTapped } from "./page.js";
import { onPast } from "./past.js";
import { onRecords } from "./records.js";
import { beside, describe, drawPiece, drawSquares, nameOf, placeOf, placeOnMap, readTps, slid, turnBoard } from "./squares.js";
import { onTaps, phaseShown, renderFrame, renderPlayed, renderRuling, same } from "./taps.js";

const PLAYERS = ["a", "b"];
const OVER = { "game-over": "Game over", "series-over": "Series over" };
const KINDS = { F: "Flat", S: "Wall", C: "Crown" };
const WHO = ["the first one named", "the second one named"];
const STEPS = { "+": [0, 1], "-": [0, -1], "<": [-1, 0], ">": [1, 0] };

let state = null;
let asking = false; // whether the form for another series is open over a game
let kind = "F"; // the piece that a tap on an empty square places
let chosen = null; // the stack being moved: {cell, n, moves}, each move with its path and drops
let target = null; // where it is moved to: {cell, options, drops}
let inspected = null; // the square whose stack is shown whole
let grid = null; // the LEDs and sensors, null where there are none

// ---- what the server says

followTable({
  onState(next) {
    const before = state;
    state = next;
    if (before === null) fields.size.value = state.board_size;
    if (before === null || before.match !== next.match) {
      asking = false;
      past.leave();
    }
    if (before === null || before.tps !== next.tps || before.n !== next.n || before.phase !== next.phase) {
      letGo();
      kind = "F";
      past.follow(before);
    }
    render();
  },
  onGrid(next) {
    grid = next;
    renderGrid();
  },
});
showPicture();

const past = onPast({
  now: () => ({ match: state.match, game: state.series?.games.length ?? null, steps: state.moves ?? [], open: state.open_moves ?? 0 }),
  steps: (game) => game.moves,
  step: (ptn) => ptn,
  word: "move",
  render() {
    letGo();
    render();
  },
});

// ---- showing the state

function renderGrid() {
  const size = state?.size ?? state?.board_size ?? 0;
  renderHardware(grid, { rows: size, columns: size, place: placeOnMap, name: ([row, column]) => nameOf(column - 1, row - 1), watching: state?.watched ?? false, sees: null });
}

function render() {
  const phase = phaseShown(state, asking, past);
  document.body.dataset.phase = phase;
  for (const player of PLAYERS) renderTokens(player);
  renderGrid();
  if (renderFrame(state, phase, "#new-series")) {
    for (const option of fields.size.options) option.disabled = state.watched && Number(option.value) !== state.board_size;
    return;
  }
  if (phase !== "replay") {
    renderScores();
    renderRuling(state, OVER[state.phase], [state.ruling?.why, state.phase === "series-over" && state.series.length > 1 ? seriesWords() : ""], state.threat_words);
    renderButtons();
    renderSeries();
    renderLog(state, () => null);
  }
  renderMoves();
  renderBoard();
}

function renderTokens(player) {
  const { colour } = state.players[player];
  document.documentElement.style.setProperty(`--side-${player}`, colour);
  document.documentElement.style.setProperty(`--side-${player}-ink`, inkOn(colour));
  for (const token of document.querySelectorAll(`[data-token="${player}"]`)) setText(token, player === "a" ? "1" : "2");
}

const half = (points) => (points % 1 === 0 ? String(points) : `${points < 1 ? "" : Math.floor(points)}½`);

function renderScores() {
  const [a, b] = PLAYERS.map((player) => state.players[player]);
  document.title = `${a.name} ${half(a.points)} – ${half(b.points)} ${b.name}`;
  const { length, games } = state.series;
  const best = length === 1 ? "" : length === null ? ` · game ${games.length}` : ` · best of ${length} · game ${games.length}`;
  setText(find("#match-line"), `${state.size} × ${state.size}${best}`);
  const turn = state.turn === null ? "" : ` ${state.players[state.turn].name} to move.`;
  setText(find("#score-words"), `Flats on top: ${a.name} ${a.flats}, ${b.name} ${b.flats}.${turn}`);
  for (const player of PLAYERS) {
    const card = find(`.player[data-player="${player}"]`);
    const { name, flats, stones, crowns, points } = state.players[player];
    const won = state.result?.winner === player;
    card.classList.toggle("now", state.turn === player || won);
    card.classList.toggle("won", won);
    setText(find(".turn", card), won ? "wins" : "to move");
    setText(find(".name", card), name);
    setText(find(".score", card), String(flats));
    const [most, mostCrowns] = state.pieces_each;
    const crown = mostCrowns === 0 ? "" : ` · ${crowns} of ${mostCrowns} ${mostCrowns === 1 ? "Crown" : "Crowns"}`;
    setText(find(".left", card), `${stones} of ${most} stones${crown}`);
    const bar = html("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(stones / most));
    find(".reserve", card).replaceChildren(bar, ...Array.from({ length: mostCrowns }, (_, k) => {
      const icon = drawPiece("C", player);
      if (k >= crowns) icon.classList.add("spent");
      return icon;
    }));
    if (length !== 1) setText(find(".counted", card), `flats on top · ${half(points)} ${points === 1 ? "point" : "points"}`);
    else setText(find(".counted", card), "flats on top");
  }
}

function seriesWords() {
  const { leader, points } = state.series;
  const stand = `${half(Math.max(...points))}–${half(Math.min(...points))}`;
  return leader === null ? `The series is tied ${stand}.` : `${leader} wins the series ${stand}.`;
}

function renderButtons() {
  fillButtons(state.buttons, pressed, state.phase === "series-over" ? [button("New series", askStart, "primary")] : []);
}

function gameLine(game, tools) {
  const result = game.result === null ? (game.moves === 1 ? "1 move" : `${game.moves} moves`) : `${game.result}, ${game.reason}`;
  const gives = game.gives === null ? "" : game.gives.map(half).join(" – ");
  return html("li", {}, html("span", { class: "who" }, game.players.join(" – ")), html("span", { class: "result" }, result),
    html("span", { class: "gives" }, gives), ...tools);
}

const showButton = (game, close) => html("button", { type: "button", class: "quiet", "aria-label": `Show game ${game.game}, ${game.players.join(" and ")}`,
  onclick: () => past.showGame(game.match ?? state.match, game.game, close) }, "Show");

function renderSeries() {
  const { length, games, names, points } = state.series;
  const title = length === 1 ? "Game" : `Series: ${names[0]} ${half(points[0])} – ${half(points[1])} ${names[1]}${length === null ? "" : `, best of ${length}`}`;
  setText(find("#series-title"), title);
  find("#series-games").replaceChildren(...[...games].reverse().map((game) => gameLine(game, [showButton(game, null)])));
}

// ---- the game that is shown: its moves and positions

function renderMoves() {
  const { steps: moves, at, open } = past.place();
  const first = past.shown === null ? state.first_n : past.shown.game.first_n;
  const cells = moves.map((ptn, k) => html("button", { type: "button", class: `ply${k + 1 === at ? " here" : ""}${k >= moves.length - open ? " open" : ""}`,
    "aria-current": k + 1 === at ? "step" : null, onclick: () => past.goTo(k + 1) }, k >= moves.length - open ? `${ptn}?` : ptn));
  if (first % 2 === 0 && cells.length > 0) cells.unshift(html("span", { class: "ply none" }, "--"));
  const lines = [];
  for (let k = 0; k < cells.length; k += 2) lines.push(html("li", {}, html("span", { class: "number" }, `${Math.floor((first - 1) / 2) + k / 2 + 1}.`), ...cells.slice(k, k + 2)));
  renderPlayed(past, "/game.ptn", lines);
}

// ---- the board

const wordsOf = () => Object.fromEntries(PLAYERS.map((player) => [player, state.players[player].word]));

function renderBoard() {
  const playing = past.shown === null && state.phase === "play";
  const position = readTps(past.shown === null ? state.tps : past.shown.game.tps[past.shown.at]);
  const marks = { last: [], restore: [], movable: [], free: [], threats: [], reach: [], path: [], chosen: chosen?.cell ?? inspected };
  if (past.shown !== null) {
    const { game, at } = past.shown;
    if (at > 0) marks.last = game.cells[at - 1];
    if (at === game.moves.length) marks.path = game.result?.path ?? [];
  } else {
    marks.last = state.last;
    marks.restore = state.restore;
    marks.threats = PLAYERS.flatMap((player) => state.threats[player]);
    marks.path = state.result?.path ?? [];
    marks.movable = playing ? state.movable : [];
    if (playing) for (let k = 0; k < position.size ** 2; k += 1) {
      const name = nameOf(k % position.size, Math.floor(k / position.size));
      if (!position.stacks.has(name)) marks.free.push(name);
    }
    if (chosen !== null) {
      marks.free = [];
      marks.threats = [];
      marks.reach = target === null ? [...new Set(chosen.moves.map((move) => move.cells.at(-1)))] : [];
    }
    if (target !== null) {
      position.stacks = slid(position.stacks, target.cells, target.drops);
      marks.last = target.cells;
    }
  }
  drawSquares(find("#board"), position, marks, wordsOf());
  renderTray(position, playing);
  const [column, row] = chosen === null ? [] : placeOf(chosen.cell);
  tellTapped(chosen === null ? null : [row + 1, column + 1]);
}

function renderTray(position, playing) {
  const tray = find("#tray");
  if (target !== null) return tray.replaceChildren(...slideTools());
  if (chosen !== null) {
    const tools = [stackWords(chosen.cell, position), button("Cancel", letGoAndRender)];
    return tray.replaceChildren(html("p", {}, "Tap where it goes."), ...tools);
  }
  if (inspected !== null && position.stacks.has(inspected)) return tray.replaceChildren(stackWords(inspected, position), button("Close", letGoAndRender));
  if (past.shown !== null) {
    const { result } = past.shown.game;
    return tray.replaceChildren(...past.tools(state.phase === "start" ? "Close" : "Back to the game", result === null ? "" : ` ${result.text}, ${result.reason}.`));
  }
  if (!playing) return tray.replaceChildren(html("p", {}, state.result === null ? "" : `${state.result.text}: ${state.result.reason}`));
  const { turn, opening } = state;
  const owner = opening ? (turn === "a" ? "b" : "a") : turn;
  const { stones, crowns } = state.players[owner];
  const kinds = opening ? ["F"] : state.pieces_each[1] === 0 ? ["F", "S"] : ["F", "S", "C"];
  const choices = kinds.map((each) => html("button", { type: "button", class: "kind", "aria-pressed": String(kind === each),
    disabled: (each === "C" ? crowns : stones) === 0, onclick: () => pick(each) }, drawPiece(each, owner), KINDS[each]));
  const whose = opening ? `Place a flat of ${state.players[owner].name}’s:` : "Place, or tap a stack:";
  return tray.replaceChildren(html("p", {}, whose), html("div", { class: "kinds", role: "group", "aria-label": "Piece to place" }, ...choices));
}

function pick(each) {
  kind = each;
  renderBoard();
  find("#tray [aria-pressed=true]")?.focus();
}

// A stack whole, as a row of pieces from bottom to top.
function stackWords(name, position) {
  const stack = position.stacks.get(name);
  const pieces = stack.owners.map((owner, k) => {
    const top = k === stack.owners.length - 1 && stack.kind !== "F";
    return html("span", { class: `chip-piece ${owner}`, "aria-hidden": "true" }, top ? (stack.kind === "S" ? "▮" : "♛") : "");
  });
  return html("div", { class: "whole", role: "status" }, html("strong", {}, name), html("span", { class: "spoken" }, describe(name, stack, wordsOf())),
    html("span", { class: "pieces" }, ...pieces), html("span", { class: "detail" }, stack.owners.length === 1 ? "1 piece" : `${stack.owners.length}, bottom to top`));
}

// How many pieces fall on each square: a counter for each, held to what is legal.
function slideTools() {
  const { cells, drops, options } = target;
  const changed = (k, by) => drops.map((count, at) => (at === k ? count + by : count));
  const optionOf = (wanted) => options.find((option) => same(option.drops, wanted));
  const step = (k, by, label) => button(label, () => {
    target = { ...target, drops: changed(k, by) };
    renderBoard();
    (find(`#tray [data-step="${k}${label}"]:not(:disabled)`) ?? find("#tray .primary")).focus();
  }, "step", { disabled: !optionOf(changed(k, by)), "data-step": `${k}${label}`, "aria-label": `${by > 0 ? "One more" : "One less"} on ${cells[k + 1]}` });
  const counters = drops.map((count, k) => html("span", { class: "counter" }, html("strong", {}, cells[k + 1]), step(k, -1, "−"), html("span", { class: "number" }, String(count)), step(k, 1, "+")));
  const { ptn } = optionOf(drops);
  return [html("div", { class: "counters" }, ...counters), button(`Play ${ptn}`, () => playMove(ptn, chosen.n), "primary"), button("Cancel", letGoAndRender)];
}

function letGo() {
  chosen = null;
  target = null;
  inspected = null;
}

function letGoAndRender() {
  letGo();
  renderBoard();
}

const SLIDE = /^(\d?)([a-h]\d)([-+<>])(\d*)$/;

// A slide in PTN as the squares that it touches, its own first, and what falls on each after that.
function readSlide(ptn) {
  const [, count, from, way, dropped] = SLIDE.exec(ptn);
  const drops = dropped ? [...dropped].map(Number) : [Number(count || 1)];
  const [column, row] = placeOf(from);
  const cells = [from, ...drops.map((_, k) => nameOf(column + STEPS[way][0] * (k + 1), row + STEPS[way][1] * (k + 1)))];
  return { ptn, cells, drops };
}

async function tap(name) {
  const position = readTps(past.shown === null ? state.tps : past.shown.game.tps[past.shown.at]);
  const playing = past.shown === null && state.phase === "play";
  if (chosen !== null && target === null) {
    const options = chosen.moves.filter((move) => move.cells.at(-1) === name);
    if (options.length === 1) return playMove(options[0].ptn, chosen.n);
    if (options.length > 1) {
      // As many as can be taken, and as few as can be on the way.
      const sum = (drops) => drops.reduce((total, count) => total + count, 0);
      const best = options.reduce((one, two) => (sum(two.drops) - sum(one.drops) || two.drops.at(-1) - one.drops.at(-1)) > 0 ? two : one);
      target = { options, cells: best.cells, drops: best.drops };
      return renderBoard();
    }
  }
  const again = chosen?.cell === name || inspected === name;
  letGo();
  if (again) return renderBoard();
  if (!position.stacks.has(name)) return playing ? playMove(`${kind === "F" ? "" : kind}${name}`, state.n) : renderBoard();
  inspected = name;
  renderBoard();
  if (!playing || !state.movable.includes(name)) return undefined;
  const told = await fetched(`/moves?cell=${name}`);
  if (told === null || told.n !== state.n || inspected !== name || told.moves.length === 0) return undefined;
  chosen = { cell: name, n: told.n, moves: told.moves.map(readSlide) };
  inspected = null;
  return renderBoard();
}

function playMove(ptn, n) {
  letGo();
  renderBoard();
  say("/play", { ptn, n });
}

onTaps({ tap, beside: (name, key) => beside(name, key, past.shown === null ? state.size : past.shown.game.size) });
find("#turn-board").addEventListener("click", () => {
  turnBoard();
  if (state !== null) render();
});

// ---- what people say

const pressed = (each) => press(each, () => past.shown !== null && past.show(null));

// ---- the start of a series, and records

const fields = find("#start-form").elements;

function askStart() {
  const names = state.series.names;
  for (const [k, name] of names.entries()) {
    fields[`name_${k + 1}`].value = name;
    setText(fields.first.options[k + 1], name);
  }
  fields.size.value = state.watched ? state.board_size : state.size;
  asking = true;
  past.leave();
  render();
  fields.name_1.focus();
}

find("#new-series").addEventListener("click", async () => {
  if (state.phase === "series-over" || (await confirmed("Leave this series and start another? What was played stays in the list of games."))) askStart();
});
// Who moves first is asked by name, once names are given.
for (const [k, field] of ["name_1", "name_2"].entries()) fields[field].addEventListener("input", () => setText(fields.first.options[k + 1], fields[field].value.trim() || WHO[k]));
find("#start-back").addEventListener("click", () => {
  asking = false;
  render();
});
find("#start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  say("/start", {
    names: [fields.name_1.value, fields.name_2.value],
    size: Number(fields.size.value),
    first: fields.first.value,
    length: fields.games.value === "" ? null : Number(fields.games.value),
  });
});

onRecords({
  key: "ptn",
  show: (game) => past.show({ game, at: 0 }),
  line: (game, dialog) => gameLine(game, [html("span", { class: "detail" }, `${game.size} × ${game.size}, ${new Date(game.at).toLocaleDateString()}`),
    html("a", { href: `/game.ptn?match=${game.match}&game=${game.game}`, download: true, "aria-label": `Export game ${game.game}, ${game.players.join(" and ")}` }, "PTN"),
    game.goes_on ? html("button", { type: "button", "aria-label": `Go on with game ${game.game}, ${game.players.join(" and ")}`, onclick: async () => (await say("/resume", { match: game.match })) && dialog.close() }, "Go on") : null,
    showButton(game, dialog)].filter(Boolean)),
});

// ---- keys

onKeys({
  keys: {
    t: ["Turn the board", () => find("#turn-board").click()],
    arrowleft: ["One move back", () => find("#to-earlier").click()],
    arrowright: ["One move on", () => find("#to-later").click()],
    f: ["Place flats", () => state?.phase === "play" && pick("F")],
    w: ["Place a wall", () => state?.phase === "play" && !state.opening && pick("S")],
    c: ["Place a Crown", () => state?.phase === "play" && !state.opening && state.players[state.turn].crowns > 0 && pick("C")],
  },
  buttons: () => (document.body.dataset.phase === "start" ? [] : state?.buttons ?? []),
  press: pressed,
  leave: () => (chosen !== null || target !== null || inspected !== null) && (letGoAndRender(), true),
});
