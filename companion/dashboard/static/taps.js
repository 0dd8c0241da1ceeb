// What the pages of games that are played by tapping share: what frames them, the list of what was played, the taps.

import { find, setText } from "./dom.js";
import { renderRulingCard, renderWatch } from "./page.js";

export const same = (one, two) => one.length === two.length && one.every((value, k) => value === two[k]);

// The phase that the page shows: that of the state, the form over it, or a game from outside before any was played.
export function phaseShown(state, asking, past) {
  if (past.shown === null) return asking ? "start" : state.phase;
  return state.phase === "start" ? "replay" : state.phase;
}

// How the table is watched; a game without a camera is played by tapping.
export function renderWatched(state) {
  renderWatch(state);
  if (!state.watched && state.watch.state === "watching") setText(find("#watch"), "Play by tapping");
}

// What stands round every phase of the page; whether it is the form, and nothing else is shown.
export function renderFrame(state, phase, another) {
  document.body.classList.toggle("without-camera", !state.watched);
  find("#camera").hidden = !state.watched;
  setText(find("#game-name"), state.game);
  renderWatched(state);
  find("#start").hidden = phase !== "start";
  find(another).hidden = phase === "start" || phase === "replay";
  if (phase !== "start") return false;
  setText(find("#match-line"), "");
  document.title = state.game;
  find("#start-back").hidden = state.phase === "start";
  return true;
}

// A game that is over says so in place of its verdict, unless something was refused or is asked since.
export function renderRuling(state, over, why, advice) {
  const accepted = (state.ruling?.verdict ?? "accepted") === "accepted";
  renderRulingCard(state.ruling, { word: accepted ? over : undefined, why: why.filter(Boolean).join(" "), orders: advice.map((text) => ({ text, kind: "advice" })) });
}

// The list of what was played, `lines`, scrolled to what is shown, with the link to the record at `path`.
export function renderPlayed(past, path, lines) {
  const { match, game } = past.place();
  const link = find("#export");
  link.hidden = match === null;
  link.href = `${path}?match=${match}&game=${game}`;
  const list = find("#moves");
  list.replaceChildren(...lines);
  const here = find(".here", list);
  if (here) list.scrollTop = here.offsetTop - list.clientHeight / 2;
  past.renderSlider();
}

// Taps on squares, by a finger or by the keyboard: `beside` is the square next to one by an arrow key. Gives what taps a
// square from elsewhere. A second tap waits until the first has what it asked for: it must not hit what was to go.
export function onTaps({ tap, beside }) {
  let tapped = Promise.resolve();
  function tapInTurn(...what) {
    tapped = tapped.then(() => tap(...what));
  }

  find("#board").addEventListener("click", (event) => {
    const square = event.target.closest(".square");
    if (square !== null) tapInTurn(square.dataset.cell);
  });
  find("#board").addEventListener("keydown", (event) => {
    const square = event.target.closest(".square");
    const arrow = event.key.startsWith("Arrow");
    if (square === null || !(arrow || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    event.stopPropagation();
    if (arrow) find(`#board [data-cell="${beside(square.dataset.cell, event.key)}"]`).focus();
    else tapInTurn(square.dataset.cell);
  });
  return tapInTurn;
}
