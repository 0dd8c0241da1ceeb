// The page of faults: each switch as the server has it, and what the companion says meanwhile.

import { html, find, setText } from "./dom.js";
import { follow, watchPicture, send } from "./stream.js";
import { WATCH, alarmOf, gridAlarmOf, picturesInWords } from "./watch.js";

const ABOUT = {
  mounting: "How the camera hangs",
  light: "Light",
  picture: "Picture",
  camera: "Camera",
  players: "Players",
  grid: "LEDs and sensors",
};
const MARKS = { accepted: "✓", orders: "✕", refused: "✕", undecided: "?" };

let switches = [];

follow({
  onEntry(entry) {
    const ruling = entry.rulings.at(-1);
    if (ruling) setText(find("#last"), `${MARKS[ruling.verdict]} ${ruling.headline}`);
  },
  onState(state) {
    const watch = find("#watch");
    watch.dataset.state = state.watch.state;
    setText(watch, WATCH[state.watch.state]);
    show(find("#alarm"), alarmOf(state));
    setText(find("#picture-faults"), picturesInWords(state));
    setText(find("#match-line"), state.game_number ? `Game ${state.game_number}` : "");
  },
  onGrid(grid) {
    show(find("#grid-alarm"), gridAlarmOf(grid, true));
  },
  onLink(up) {
    if (!up) show(find("#alarm"), "This page has lost the companion. It goes on by itself when it is back.");
    else load();
  },
});
watchPicture(find("#picture"), (note) => setText(find("#picture-note"), note));

function show(line, text) {
  setText(line, text);
  line.hidden = text === "";
}

async function load() {
  const answer = await fetch("/faults.json", { cache: "no-store" }).catch(() => null);
  if (answer?.ok) render(await answer.json());
}

async function press(fault, on) {
  const why = await send("/faults", { name: fault.name, on });
  if (why !== null) show(find("#alarm"), why);
  await load();
}

function render(listed) {
  switches = listed;
  const abouts = [...new Set(switches.map((each) => each.about))];
  const groups = find("#groups");
  if (groups.childElementCount === 0) groups.replaceChildren(...abouts.map(group));
  for (const fault of switches) find(`[data-fault="${fault.name}"]`).setAttribute("aria-pressed", String(fault.on));
  find("#all-off").disabled = !switches.some((fault) => fault.on);
}

function group(about) {
  const buttons = switches.filter((each) => each.about === about).map((fault) => html("button", {
    type: "button",
    "data-fault": fault.name,
    "aria-pressed": "false",
    onclick: () => press(fault, !switches.find((each) => each.name === fault.name).on),
  }, fault.title));
  return html("section", {}, html("h3", {}, ABOUT[about] ?? about), html("div", { class: "switches" }, ...buttons));
}

find("#all-off").addEventListener("click", async () => {
  for (const fault of switches.filter((each) => each.on)) await press(fault, false);
});
