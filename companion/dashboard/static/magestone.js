// The page of MageStone: shows each state the server sends, whole, and sends what people tap.

import { html, find, setText, inkOn } from "./dom.js";
import { renderHardware } from "./hardware.js";
import { beside, cellOf, describe, drawBoard, nameOf, placeOnMap, readPosition, stoneIcon, turnBoard, unitIcon, unitName } from "./magestone_board.js";
import { alarm, button, confirmed, fetched, followTable, keyCap, onKeys, press, renderLog, fillButtons, say, showPicture, tellTapped } from "./page.js";
import { onPast } from "./past.js";
import { onRecords } from "./records.js";
import { onTaps, phaseShown, renderFrame, renderPlayed, renderRuling, renderWatched, same } from "./taps.js";

const OVER = { "game-over": "Game over", "match-over": "Match over" };
const SQUARES = 6;
const UNITS = 3;
const LETTERS = ["M", "P", "W1", "W2", "W3", "W4", "W5", "W6"];

let state = null;
let asking = false; // whether the form for another match is open over a game
let chosen = null; // the square that was tapped, with what it offers once that has come: {cell, options}
let aim = null; // the enemy that is aimed at: {cell, attackers} with the Warriors picked, the lead first
let walks = null; // the walks to choose from, where several to one square differ
let bolting = false; // whether the next tap aims a Bolt
let rolled = []; // the dice typed or tapped so far, attacker's first; null for one that is not shown yet
let grid = null; // the LEDs and sensors, null where there are none

// ---- what the server says

followTable({
  onState(next) {
    const before = state;
    state = next;
    if (before?.match !== next.match) {
      asking = false;
      past.leave();
    }
    if (before === null || before.position !== next.position || before.n !== next.n || before.phase !== next.phase) letGo();
    past.follow(before);
    render();
  },
  onGrid(next) {
    grid = next;
    renderGrid();
  },
});
showPicture();

const past = onPast({
  now: () => ({ match: state.match, game: state.series?.games.length ?? null, steps: state.choices ?? [], open: 0 }),
  steps: (game) => game.choices,
  step: inShort,
  word: "choice",
  render() {
    letGo();
    render();
  },
});
const mover = () => state.players.find((player) => player.seat === state.turn);

// ---- showing the state

function renderGrid() {
  renderHardware(grid, { rows: 16, columns: 16, place: placeOnMap, name: ([row, column]) => nameOf([row - 1, column - 1]), watching: state?.watched ?? false, sees: null });
}

function render() {
  const phase = phaseShown(state, asking, past);
  document.body.dataset.phase = phase === "play" && state.buttons.some((each) => each.kind === "answer") ? "ask" : phase;
  document.body.classList.toggle("four", state.players.length === 4);
  renderGrid();
  for (const { seat, colour } of state.players) {
    document.documentElement.style.setProperty(`--seat-${seat}`, colour);
    document.documentElement.style.setProperty(`--seat-${seat}-ink`, inkOn(colour));
  }
  if (renderFrame(state, phase, "#new-match")) {
    renderForm();
    return;
  }
  if (phase !== "replay") {
    renderPlayers();
    renderGo();
    renderRuling(state, OVER[state.phase], [state.ruling?.why, ...(state.ruling?.more ?? []).map((more) => `${more}.`), matchWords()], state.orders.map((order) => order.text));
    renderButtons();
    renderDice();
    renderLog(state, () => null);
  }
  renderGoes();
  renderBoard();
}

const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function renderPlayers() {
  const { length, games, wins, names } = state.series;
  const number = length === 1 ? "" : length === null ? `Game ${games.length}` : `Best of ${length} · game ${games.length}`;
  const stand = games.length > 1 ? names.map((name, k) => `${name} ${wins[k]}`).join(", ") : "";
  setText(find("#match-line"), [number, stand].filter(Boolean).join(" · "));
  const now = mover();
  document.title = now ? `${now.name}’s go · MageStone` : `${winnerWords()} · MageStone`;
  setText(find("#score-words"), state.players.map((player) => `${player.name}: ${plural(player.activated, "Activated stone")}`).join(", "));
  find("#players").replaceChildren(...state.players.map(playerCard));
}

function playerCard(player) {
  const { seat, name, label, warriors, of_warriors: most, carried, activated, to_win: goal, die, besieged, waiting, out } = player;
  const won = state.result !== null && state.result.winner === seat;
  const classes = ["player", `seat-${seat}`, state.turn === seat || won ? "now" : "", won ? "won" : "", out ? "out" : ""].filter(Boolean);
  const notes = [
    out ? html("span", { class: "note" }, "out of the game") : null,
    besieged ? html("span", { class: "note siege-note" }, "⚔ under siege") : null,
    waiting.length > 0 ? html("span", { class: "note" }, `${waiting.join(" and ")} ${waiting.length === 1 ? "waits" : "wait"} to respawn`) : null,
  ];
  const pips = html("span", { class: "stones-held", role: "img", "aria-label": `${activated} of ${goal} Activated stones` },
    ...Array.from({ length: Math.max(goal, activated) }, (_, k) => {
      const icon = stoneIcon("activated");
      if (k >= activated) icon.classList.add("none");
      return icon;
    }));
  return html("article", { class: classes.join(" "), "data-seat": seat },
    html("h2", {}, html("span", { class: "seat-mark" }, label[0]), html("span", { class: "name" }, name), html("span", { class: "turn" }, won ? "wins" : "")),
    pips,
    html("p", { class: "held" }, html("strong", { class: "activated" }, String(activated)), html("span", {}, ` of ${goal} Activated`)),
    html("p", { class: "facts" }, html("span", { class: "carried" }, stoneIcon("unactivated"), `${carried} carried`),
      html("span", {}, `d${die}`), html("span", {}, `${warriors}/${most} Warriors`)),
    ...notes);
}

const pips = (left, most) => Array.from({ length: most }, (_, k) => html("i", { class: k < left ? "left" : "" }));

function renderGo() {
  const now = mover();
  const panel = find("#go-panel");
  panel.className = now ? `seat-${now.seat}` : "";
  find(".go-left").hidden = !now;
  setText(find("#go-title"), now ? `${now.name}’s go` : winnerWords());
  find("#squares-left").replaceChildren(...pips(now ? state.squares_left : 0, SQUARES));
  setText(find("#squares-words"), `${plural(state.squares_left, "square")} left`);
  find("#units-left").replaceChildren(...pips(now ? state.units_left : 0, UNITS));
  setText(find("#units-words"), `${plural(state.units_left, "unit")} left`);
  setText(find("#bank"), `Bank: ${plural(state.bank, "gravestone")}`);
  const rite = find("#rite");
  rite.hidden = state.rite === null;
  rite.className = state.rite === null ? "" : `seat-${state.rite.seat}`;
  setText(rite, state.rite?.words ?? "");
  renderArmy(now);
}

// The units of who has the go, large enough for a finger, whatever the board's size.
function renderArmy(now) {
  const army = find("#army");
  if (!now || past.shown !== null) return army.replaceChildren();
  const { units } = readPosition(state.position);
  const places = new Map([...units].filter(([, unit]) => unit.seat === now.seat).map(([name, unit]) => [unit.letter, name]));
  return army.replaceChildren(...LETTERS.map((letter) => {
    const name = places.get(letter);
    const able = name !== undefined && state.able.includes(name);
    return html("button", { type: "button", class: able ? "able" : "", disabled: name === undefined, "aria-pressed": String(chosen !== null && chosen.cell === name),
      "aria-label": `${unitName(letter)}${name ? ` on ${name}` : ", not on the board"}`, onclick: () => tapInTurn(name, true) },
    unitIcon({ seat: now.seat, letter }), html("small", {}, name ?? "–"));
  }));
}

function winnerWords() {
  const { result } = state;
  if (result === null) return "";
  const winner = state.players.find((player) => player.seat === result.winner);
  return winner ? `${winner.name} wins by ${result.reason}` : `Nobody wins: ${result.reason}`;
}

function matchWords() {
  if (state.phase !== "match-over" || state.series.games.length === 1) return "";
  return state.series.leader === null ? "The match is tied." : `${state.series.leader} wins the match.`;
}

function renderButtons() {
  fillButtons(state.buttons, pressed, state.phase === "match-over" ? [button("New match", askStart, "primary")] : []);
  find("#actions-panel").hidden = state.actions.length === 0;
  find("#actions").replaceChildren(...state.actions.map((action) => html("button", { type: "button", class: action.kind, "aria-disabled": action.why !== null ? "true" : null,
    "aria-pressed": action.choice === null ? String(bolting) : null, onclick: () => act(action) },
  html("span", {}, action.label, keyCap(action.key)), action.why === null ? null : html("small", { title: action.why }, action.why))));
}

// ---- the game that is shown: its goes and positions

// A choice in short: where a walk ends, and an attack with what the deciding dice came to.
function inShort(choice) {
  const rolls = [...choice.matchAll(/\(([\d+]+)\/([\d+]+)\)/g)].at(-1);
  const sum = (dice) => dice.split("+").reduce((total, die) => total + Number(die), 0);
  const score = rolls ? ` ${sum(rolls[1])}:${sum(rolls[2])}` : "";
  const what = choice.split("(")[0].replace(/^(\w+?)>.*?([a-p]\d+)$/, "$1→$2").replace("x", "×").replace("bolt@", "Bolt ").replace(/^resign:(.*)/, "$1 resigns");
  return `${what}${score}`;
}

function renderGoes() {
  const { steps: choices, at } = past.place();
  const lines = [];
  let line = null;
  choices.forEach((choice, k) => {
    if (line === null) lines.push((line = html("li", {}, html("span", { class: "number" }, `${lines.length + 1}.`))));
    line.append(html("button", { type: "button", class: `ply${k + 1 === at ? " here" : ""}`, "aria-current": k + 1 === at ? "step" : null, title: choice, onclick: () => past.goTo(k + 1) }, inShort(choice)));
    if (choice === "end") line = null;
  });
  renderPlayed(past, "/record", lines);
}

// ---- the board

const positionShown = () => readPosition(past.shown === null ? state.position : past.shown.game.positions[past.shown.at]);

function namesShown() {
  if (past.shown !== null) return Object.fromEntries(past.shown.game.seats.map((seat, k) => [seat, past.shown.game.players[k]]));
  return Object.fromEntries(state.players.map((player) => [player.seat, player.name]));
}

function renderBoard() {
  const position = positionShown();
  const marks = { able: [], reach: [], rich: [], targets: [], bolts: [], last: [], todo: [], wrong: [], chosen: chosen?.cell ?? null };
  if (past.shown !== null) {
    if (past.shown.at > 0) marks.last = past.shown.game.cells[past.shown.at - 1];
  } else {
    marks.last = state.last;
    marks.able = state.able;
    marks.todo = state.orders.map((order) => order.cell);
    if (state.fight !== null) {
      marks.targets = [state.fight.target];
      marks.reach = state.fight.from;
    } else if (bolting) {
      marks.bolts = state.actions.find((action) => action.choice === null).cells;
    } else if (walks !== null) {
      marks.reach = [walks.end];
    } else if (aim !== null) {
      marks.targets = [aim.cell];
    } else if (chosen?.options && isMine(chosen.cell, position)) {
      const { walks: reached, attacks, bolts } = chosen.options;
      marks.reach = Object.keys(reached);
      marks.rich = marks.reach.filter((name) => reached[name].some((walk) => walk.note));
      marks.targets = Object.keys(attacks);
      marks.bolts = Object.keys(bolts).filter((name) => !marks.targets.includes(name));
    }
    marks.wrong = state.ruling?.cells ?? [];
    if (chosen !== null || bolting) [marks.todo, marks.wrong] = [[], []];
  }
  drawBoard(find("#board"), position, marks, namesShown());
  tellTapped(past.shown === null && chosen !== null && isMine(chosen.cell, position) ? cellOf(chosen.cell) : null);
  renderTray(position);
}

const isMine = (name, position) => position.units.get(name)?.seat === state.turn;

// ---- the tray: what to do now

function renderTray(position) {
  const tray = find("#tray");
  if (past.shown !== null) {
    const { result } = past.shown.game;
    return tray.replaceChildren(...past.tools(state.phase === "start" ? "Close" : "Back to the game", result === null ? "" : ` Ended by ${result.reason}.`));
  }
  if (state.fight !== null) return tray.replaceChildren(html("p", {}, `${state.fight.attacker_name} against ${state.fight.defender_name}: the dice decide.`));
  if (state.phase !== "play") return tray.replaceChildren(html("p", {}, winnerWords()));
  if (bolting) return tray.replaceChildren(html("p", {}, "Bolt: tap the unit that it is aimed at."), button("Cancel", letGoAndRender));
  if (walks !== null) {
    const ways = walks.ways.map((way) => button(way.note || way.choice, () => choose(way.choice, walks.n)));
    return tray.replaceChildren(html("p", {}, `To ${walks.end}, which way?`), ...ways, button("Cancel", letGoAndRender));
  }
  if (aim !== null) return tray.replaceChildren(...fightTools(position));
  if (chosen !== null) {
    const mine = isMine(chosen.cell, position);
    const words = describe(chosen.cell, position, namesShown());
    const hint = !mine || !chosen.options ? "" : chosen.options.why ? ` ${chosen.options.why}.` : " Tap where it walks, or whom it attacks.";
    return tray.replaceChildren(html("p", { role: "status" }, `${words}.${hint}`), button("Close", letGoAndRender));
  }
  const hint = state.able.length > 0 ? "tap a unit, then where it walks or whom it attacks." : "nothing is left to do but to end the go.";
  const end = state.actions.find((action) => action.choice === "end");
  return tray.replaceChildren(html("p", {}, `${mover().name}: ${hint}`), button(end.label, () => act(end), end.kind));
}

// What can be done to the enemy that is aimed at: who attacks, the odds, and only then the button that declares it.
function fightTools(position) {
  const { attacks, bolts, n } = aim;
  const names = [...new Set(attacks.flatMap((attack) => attack.units))].filter((letter) => letter !== "M").sort();
  const ready = attacks.find((attack) => same(attack.units, aim.attackers));
  const tools = [html("p", {}, `${describe(aim.cell, position, namesShown())}.`)];
  if (names.length > 0) {
    const chips = names.map((letter) => {
      const on = aim.attackers.includes(letter);
      const next = on ? aim.attackers.filter((each) => each !== letter) : [...aim.attackers, letter];
      const legal = next.length === 0 || attacks.some((attack) => same(attack.units, next));
      return html("button", { type: "button", class: "kind", "aria-pressed": String(on), disabled: !legal, "data-attacker": letter, "aria-label": unitName(letter), onclick: () => {
        aim = { ...aim, attackers: next };
        renderBoard();
        find(`#tray [data-attacker=${letter}]`)?.focus();
      } }, unitIcon({ seat: state.turn, letter }), aim.attackers[0] === letter && aim.attackers.length > 1 ? "leads" : "");
    });
    tools.push(html("div", { class: "kinds", role: "group", "aria-label": "Who attacks; the first leads, and falls if the defender wins" }, ...chips));
  }
  const declare = (fight, label) => button(label, () => choose(fight.choice, n), "primary odds-button", { "data-choice": fight.choice });
  const oddsOf = (fight) => (fight.dice === null ? "cannot be blocked" : `${fight.dice}, wins ${fight.percent} (${fight.odds})`);
  if (ready && ready.units[0] !== "M") tools.push(declare(ready, `Attack: ${oddsOf(ready)}`));
  for (const attack of attacks.filter((each) => each.units[0] === "M")) tools.push(declare(attack, `The Mage attacks: ${oddsOf(attack)}`));
  for (const bolt of bolts) tools.push(declare(bolt, `Bolt, ${plural(bolt.squares, "square")}: ${oddsOf(bolt)}`));
  if (aim.attackers.length > 1) tools.push(html("p", { class: "detail" }, `${unitName(aim.attackers[0])} leads, and falls if the defender wins.`));
  tools.push(button("Cancel", letGoAndRender));
  return tools;
}

// ---- dice

const sides = () => [...state.fight.attacker, ...state.fight.defender];
const firstOpen = () => Math.max(rolled.findIndex((die) => die === null), 0);

function renderDice() {
  const { fight } = state;
  const panel = find("#dice-panel");
  panel.hidden = fight === null;
  if (fight === null) {
    delete panel.dataset.fight;
    return panel.replaceChildren();
  }
  if (panel.dataset.fight === JSON.stringify(fight)) return showDice();
  panel.dataset.fight = JSON.stringify(fight);
  rolled = sides().map(() => null);
  const slots = (from, dice, who) => html("fieldset", { class: "side" }, html("legend", {}, `${who}: ${dice.length}d${dice[0]}`),
    ...dice.map((most, k) => html("input", { class: "die", type: "text", inputmode: "numeric", maxlength: "2", autocomplete: "off", "data-die": from + k, "aria-label": `${who}, die ${k + 1} of ${dice.length}, 1 to ${most}`,
      oninput: (event) => typed(from + k, event.target), onfocus: () => showPad(from + k), onkeydown: (event) => event.key === "Enter" && takeDice() })));
  const ties = fight.rolls.map(([attacker, defender]) => `${attacker.join("+")} : ${defender.join("+")}`);
  panel.replaceChildren(
    html("p", {}, html("strong", {}, `${fight.dice}:`), ` ${fight.attacker_name} wins ${fight.percent} (${fight.odds}), ${fight.defender_name} ${fight.lost_percent}.`),
    ...(ties.length > 0 ? [html("p", { class: "tie", role: "status" }, `A tie (${ties.join(", ")}): roll all dice again.`)] : []),
    html("div", { class: "dice" }, slots(0, fight.attacker, fight.attacker_name), html("span", { class: "versus" }, "against"), slots(fight.attacker.length, fight.defender, fight.defender_name)),
    html("div", { class: "pad", role: "group", "aria-label": "What the die shows" }),
    html("div", { class: "dice-end" }, html("button", { id: "take-dice", type: "button", class: "primary", onclick: takeDice }, "Take these dice"),
      html("button", { id: "roll", type: "button", onclick: rollHere }, "Roll for us", keyCap("r"))));
  showPad(0);
  return showDice();
}

function showDice() {
  for (const input of document.querySelectorAll("#dice-panel .die")) {
    const die = rolled[Number(input.dataset.die)];
    if (document.activeElement !== input) input.value = die ?? "";
    input.classList.toggle("shown", die !== null);
  }
  find("#take-dice").disabled = rolled.includes(null);
}

let padded = 0; // the die that the pad is for
function showPad(k) {
  padded = k;
  for (const input of document.querySelectorAll("#dice-panel .die")) input.classList.toggle("current", Number(input.dataset.die) === k);
  find("#dice-panel .pad").replaceChildren(...Array.from({ length: sides()[k] }, (_, n) => button(String(n + 1), () => tapDie(n + 1))));
}

function tapDie(number) {
  rolled[padded] = number;
  document.activeElement?.blur();
  const next = rolled.indexOf(null);
  if (next >= 0) showPad(next);
  else for (const input of document.querySelectorAll("#dice-panel .die")) input.classList.remove("current");
  showDice();
}

// A number is taken as it is typed; the next die's turn comes once no further digit can follow.
function typed(k, input) {
  const most = sides()[k];
  const number = Number(input.value);
  const good = /^\d+$/.test(input.value) && number >= 1 && number <= most;
  rolled[k] = good ? number : null;
  input.setAttribute("aria-invalid", String(input.value !== "" && !good));
  showDice();
  if (good && number * 10 > most) find(`#dice-panel [data-die="${firstOpen()}"]`).focus();
}

function takeDice() {
  if (rolled.includes(null)) return;
  const count = state.fight.attacker.length;
  find("#take-dice").disabled = true;
  say("/dice", { attacker: rolled.slice(0, count), defender: rolled.slice(count) });
}

async function rollHere() {
  const roll = find("#roll");
  roll.disabled = true;
  if (!(await say("/roll", {}))) roll.disabled = false;
}

// ---- taps

function letGo() {
  chosen = null;
  aim = null;
  walks = null;
  bolting = false;
}

function letGoAndRender() {
  letGo();
  renderBoard();
  if (state.phase === "play" && past.shown === null) {
    renderArmy(mover());
    renderButtons();
  }
}

function choose(choice, n) {
  const { turn } = state;
  letGoAndRender();
  say("/choose", { choice, n, seat: turn });
}

function act(action) {
  renderWatched(state);
  if (past.shown !== null) past.show(null);
  if (action.why !== null) {
    alarm(`${action.label}: ${action.why}.`);
    return;
  }
  if (action.choice !== null) {
    choose(action.choice, state.n);
    return;
  }
  const on = !bolting;
  letGo();
  bolting = on;
  renderBoard();
  renderButtons();
}

async function tap(name, fresh = false) {
  renderWatched(state); // what was told before of a tap or a button is over
  const position = positionShown();
  const playing = past.shown === null && state.phase === "play";
  const before = chosen;
  if (playing && !fresh) {
    if (bolting) {
      if (state.actions.find((action) => action.choice === null).cells.includes(name)) return aimAt(name, { spell: true });
    } else if (before?.options && isMine(before.cell, position) && aim === null) {
      const { walks: reached, attacks, bolts, n } = before.options;
      const ways = reached[name];
      if (ways?.length === 1) return choose(ways[0].choice, n);
      if (ways) {
        walks = { end: name, ways, n };
        return renderBoard();
      }
      if (attacks[name] || bolts[name]) return aimAt(name, { first: position.units.get(before.cell).letter });
    }
  }
  const again = before?.cell === name && aim === null;
  letGo();
  if (again) return letGoAndRender();
  chosen = { cell: name, options: null };
  if (playing && position.units.has(name)) {
    const told = await fetched(`/options?cell=${name}`);
    if (told === null || told.n !== state.n || chosen?.cell !== name) return undefined;
    chosen = { cell: name, options: told };
    if (!isMine(name, position) && (told.attacks[name] || told.bolts[name])) return aimAt(name, {});
  }
  renderBoard();
  return playing ? renderArmy(mover()) : undefined;
}

// Aims at an enemy's square with all who can reach it, or with a spell alone; `first` is the unit tapped before, if any.
async function aimAt(name, { spell = false, first = null }) {
  const told = await fetched(`/options?cell=${name}`);
  if (told === null || told.n !== state.n) return undefined;
  const attacks = spell ? [] : told.attacks[name] ?? [];
  const alone = attacks.filter((attack) => attack.units.length === 1 && attack.units[0] !== "M").map((attack) => attack.units[0]);
  const lead = first !== null && alone.includes(first) ? first : alone.length === 1 ? alone[0] : null;
  letGo();
  chosen = { cell: name, options: told };
  aim = { cell: name, attacks, bolts: told.bolts[name] ?? [], attackers: lead === null ? [] : [lead], n: told.n };
  renderBoard();
  return renderButtons();
}

const tapInTurn = onTaps({ tap, beside });
find("#turn-board").addEventListener("click", () => {
  turnBoard();
  if (state !== null) render();
});

// ---- what people say

const pressed = (each) => press(each, () => past.shown !== null && past.show(null));

// ---- the start of a match, and records

const fields = find("#start-form").elements;
const nameFields = () => [1, 2, 3, 4].map((k) => fields[`name_${k}`]);

function renderForm() {
  const players = Number(fields.players.value);
  nameFields().forEach((field, k) => {
    field.closest("label").hidden = k >= players;
    field.required = k < players;
  });
}

fields.players.addEventListener("change", renderForm);

function askStart() {
  const { names, layout } = state.series;
  fields.players.value = String(names.length);
  nameFields().forEach((field, k) => {
    field.value = names[k] ?? "";
  });
  fields.layout.value = layout;
  asking = true;
  past.leave();
  render();
  fields.name_1.focus();
}

find("#new-match").addEventListener("click", async () => {
  if (state.phase === "match-over" || (await confirmed("Leave this match and start another? What was played stays in the list of games."))) askStart();
});
find("#start-back").addEventListener("click", () => {
  asking = false;
  render();
});
find("#start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  say("/start", {
    names: nameFields().slice(0, Number(fields.players.value)).map((field) => field.value),
    layout: fields.layout.value,
    first: fields.first.value,
    length: fields.games.value === "" ? null : Number(fields.games.value),
  });
});

onRecords({
  key: "record",
  show: (game) => past.show({ game, at: 0 }),
  line(game, dialog) {
    const result = game.reason === null ? plural(game.goes, "go").replace("gos", "goes") : game.winner === null ? `drawn: ${game.reason}` : `${game.winner}, by ${game.reason}`;
    const which = `game ${game.game}, ${game.players.join(" and ")}`;
    return html("li", {}, html("span", { class: "who" }, game.players.join(" – ")), html("span", { class: "result" }, result),
      html("span", { class: "detail" }, new Date(game.at).toLocaleDateString()),
      html("a", { href: `/record?match=${game.match}&game=${game.game}`, download: true, "aria-label": `Export ${which}` }, "Record"),
      html("button", { type: "button", class: "quiet", "aria-label": `Show ${which}`, onclick: () => past.showGame(game.match, game.game, dialog) }, "Show"));
  },
});

// ---- keys

const unitKeys = LETTERS.map((letter) => [letter.length > 1 ? letter[1] : letter.toLowerCase(), [`Choose the ${unitName(letter)}`, () => chooseUnit(letter)]]);

function chooseUnit(letter) {
  if (state?.phase !== "play" || past.shown !== null) return;
  const place = [...positionShown().units].find(([, unit]) => unit.seat === state.turn && unit.letter === letter);
  if (place) tapInTurn(place[0], true);
}

const playButtons = () => state.actions.map((action) => ({ ...action, action: true }));

onKeys({
  keys: {
    ...Object.fromEntries(unitKeys),
    t: ["Turn the board", () => find("#turn-board").click()],
    arrowleft: ["One choice back", () => find("#to-earlier").click()],
    arrowright: ["One choice on", () => find("#to-later").click()],
  },
  buttons() {
    if (document.body.dataset.phase === "start" || state === null) return [];
    const roll = state.phase === "dice" ? [{ label: "Roll for us", key: "r", roll: true }] : [];
    return [...playButtons(), ...state.buttons, ...roll];
  },
  press: (each) => (each.roll ? rollHere() : each.action ? act(each) : pressed(each)),
  leave: () => (chosen !== null || bolting) && (letGoAndRender(), true),
});
