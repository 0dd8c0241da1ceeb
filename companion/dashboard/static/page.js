// What the pages of all games share: how the table is watched, the alarm, rulings, buttons, questions and keys.

import { html, find, setText } from "./dom.js";
import { follow, watchPicture, send } from "./stream.js";
import { WATCH, alarmOf, picturesInWords } from "./watch.js";

const MARKS = { accepted: "✓", orders: "✕", refused: "✕", undecided: "?" };
const WORDS = { accepted: "Stands", orders: "Comes off", refused: "Refused", undecided: "Please decide" };

const log = new Map(); // the log's lines by number
let logMatch = null;

// Follows the table: the log is kept here, `heard` gets each state and each grid.
export function followTable(heard) {
  follow({
    onEntry(entry) {
      if (entry.match !== logMatch) {
        log.clear();
        logMatch = entry.match;
      }
      log.set(entry.seq, entry);
    },
    onLink(up) {
      document.body.classList.toggle("unlinked", !up);
      if (!up) alarm("This page has lost the companion. It goes on by itself when it is back.");
    },
    ...heard,
  });
}

export function alarm(text) {
  const line = find("#alarm");
  setText(line, text);
  line.hidden = text === "";
}

export function renderWatch(state) {
  find("#simulated").hidden = !state.simulated;
  const watch = find("#watch");
  watch.dataset.state = state.watch.state;
  const by = state.watch.state === "watching" && state.watch.why ? ` ${state.watch.why}` : "";
  setText(watch, WATCH[state.watch.state] + by);
  alarm(alarmOf(state));
  setText(find("#picture-faults"), picturesInWords(state));
}

// The log's lines of the match, the newest on top; `tool` makes what stands at the end of a line, or null.
export function renderLog({ match, undone }, tool) {
  const taken = new Set(undone);
  const lines = logMatch === match ? [...log.values()] : [];
  find("#log").replaceChildren(...lines.reverse().flatMap((line) => [...line.rulings].reverse().map((ruling, k) =>
    html("li", { class: `${ruling.verdict}${taken.has(line.seq) ? " undone" : ""}` },
      html("span", { class: "mark", "aria-label": WORDS[ruling.verdict] }, MARKS[ruling.verdict]),
      html("span", {}, html("span", {}, ruling.headline), " ",
        html("span", { class: "detail" }, [ruling.why, ruling.rule, line.said === "seen" ? "" : line.said].filter(Boolean).join(" · "))),
      k === 0 ? tool(line) : null))));
}

// The last ruling, large, or null: `word` in place of the verdict's, `why` under the headline, and what has to be done,
// each {text, kind}.
export function renderRulingCard(ruling, { word, why, orders }) {
  const card = find("#ruling");
  const verdict = ruling?.verdict ?? "accepted";
  card.dataset.verdict = verdict;
  setText(find(".mark", card), MARKS[verdict]);
  setText(find(".word", card), word ?? WORDS[verdict]);
  const headline = ruling?.headline ?? "";
  card.classList.toggle("long", headline.length > 42);
  setText(find(".headline", card), headline);
  setText(find(".why", card), why);
  setText(find(".rule", card), ruling ? `Rulebook: ${ruling.rule}` : "");
  const list = find(".orders", card);
  if ([...list.children].map((item) => item.textContent).join() === orders.map(({ text }) => text).join()) return;
  list.replaceChildren(...orders.map(({ text, kind }) => html("li", { class: kind }, text)));
}

// The buttons of the state, answers to a question apart, with `more` before the others.
export function fillButtons(buttons, act, more) {
  const make = (each) => html("button", { type: "button", class: each.kind, onclick: () => act(each) }, each.label, keyCap(each.key));
  const answers = buttons.filter((each) => each.kind === "answer");
  find("#candidates").hidden = answers.length === 0;
  find("#candidates").replaceChildren(...answers.map(make));
  find("#buttons").replaceChildren(...more, ...buttons.filter((each) => each.kind !== "answer").map(make));
}

export function showPicture() {
  watchPicture(find("#picture"), (note) => setText(find("#picture-note"), note));
  const enlarge = () => (document.fullscreenElement ? document.exitFullscreen() : find("#picture").requestFullscreen());
  find("#enlarge").addEventListener("click", enlarge);
  find("#picture").addEventListener("click", enlarge);
}

// Says something to the companion; whether it was taken. Why it was not stands in the alarm.
export async function say(path, body) {
  const why = await send(path, body);
  if (why !== null) alarm(why);
  return why === null;
}

// Tells which piece somebody thinks of moving, as [row, column] or null: the grid under the board shows where it may go.
let toldTapped = "null";
export function tellTapped(cell) {
  if (JSON.stringify(cell) === toldTapped) return;
  toldTapped = JSON.stringify(cell);
  send("/tapped", { cell });
}

// Says what a button stands for, once people have confirmed it or picked who; `first` is done before that.
export async function press(pressed, first = () => {}) {
  if (pressed.choices === null && pressed.confirm && !(await confirmed(pressed.confirm))) return;
  const body = pressed.choices === null ? pressed.body : await picked(pressed.confirm, pressed.choices);
  if (body === null) return;
  first();
  say(pressed.path, body);
}

export function confirmed(text) {
  const dialog = find("#confirm");
  setText(find("#confirm-text"), text);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Which of several a person picks, each {label, body}: its body, or null.
function picked(text, choices) {
  const dialog = find("#choose");
  setText(find("#choose-text"), text);
  find("form", dialog).replaceChildren(html("button", { value: "" }, "Nobody, go back"), ...choices.map((choice, k) => html("button", { value: String(k) }, choice.label)));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "" ? null : choices[Number(dialog.returnValue)].body), { once: true }));
}

// What the companion tells when asked; null where it does not, which stands in the alarm.
export async function fetched(path) {
  try {
    const answer = await fetch(path, { cache: "no-store" });
    const told = await answer.json();
    if (answer.ok) return told;
    alarm(told.why);
  } catch {
    alarm("The companion does not answer; is it still running?");
  }
  return null;
}

const KEY_NAMES = { " ": "Space", arrowleft: "←", arrowright: "→" };

export const button = (label, act, kind = "", rest = {}) => html("button", { type: "button", class: kind, onclick: act, ...rest }, label);

export const keyCap = (key) => (key ? html("kbd", { "aria-hidden": "true" }, KEY_NAMES[key] ?? key.toUpperCase()) : null);

// Keys press buttons, and do what `keys` has by key: [words, act]. `leave` answers Escape, and says whether it did.
export function onKeys({ keys, buttons, press, leave }) {
  const all = { ...keys, "?": ["This help", showHelp] };

  function showHelp() {
    const rows = [...buttons().map((button) => [button.key, button.label]), ...Object.entries(all).map(([key, [label]]) => [key, label])];
    find("#key-list").replaceChildren(...rows.filter(([key]) => key).flatMap(([key, label]) => [
      html("dt", {}, KEY_NAMES[key] ?? key.toUpperCase()), html("dd", {}, label)]));
    find("#help").showModal();
  }

  find("#show-help").addEventListener("click", showHelp);
  const keysOn = find("#keys-on");
  keysOn.checked = localStorage.getItem("keys") !== "off";
  document.body.classList.toggle("keys-off", !keysOn.checked);
  keysOn.addEventListener("change", () => {
    localStorage.setItem("keys", keysOn.checked ? "on" : "off");
    document.body.classList.toggle("keys-off", !keysOn.checked);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && leave()) return;
    const typing = event.target.closest("input, select, textarea, dialog");
    // Space on a focused button presses that button and nothing else.
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === " " && event.target.closest("button, [role=button], summary")) return;
    if (!keysOn.checked) return;
    const key = event.key.toLowerCase();
    const button = buttons().find((each) => each.key === key);
    if (button) {
      event.preventDefault();
      press(button);
    } else if (all[key]) {
      event.preventDefault();
      all[key][1]();
    }
  });
}
