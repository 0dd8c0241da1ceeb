// The slider over a game: which position the page shows instead of the one being played, and of which game of the log.

import { html, find, setText } from "./dom.js";
import { button, fetched } from "./page.js";

// `now` tells the game being played: its match, number, steps, and how many of those at the end are open still. `steps`
// takes them from a game of the log, `render` shows what has changed, `step` and `word` are a step in words.
export function onPast({ now, steps, render, step, word }) {
  let shown = null; // {game, at, stale}: stale where steps have been played since the game was fetched
  let asked = 0; // an answer that comes after a later wish is not shown

  const isPlayed = ({ match, game }) => match !== null && match === now().match && game === now().game;

  // The steps of the game that is shown, after how many of them, and how many are open.
  function place() {
    const { match, game, steps: all, open } = now();
    if (shown === null) return { steps: all, at: all.length, open, match, game };
    return { steps: isPlayed(shown.game) ? all.slice(0, all.length - open) : steps(shown.game), at: shown.at, open: 0, match: shown.game.match, game: shown.game.game };
  }

  function show(next) {
    shown = next;
    render();
  }

  // Shows the position after so many steps; after the last one of the game being played, that game itself.
  async function goTo(at) {
    if (shown === null && now().match === null) return undefined; // there is no game yet
    asked += 1;
    const mine = asked;
    const { steps: all, match, game } = place();
    const within = Math.min(Math.max(at, 0), all.length);
    if (isPlayed({ match, game })) {
      if (within === all.length) return show(null);
      if (shown === null || shown.stale) {
        const told = await fetched(`/replay?match=${match}&game=${game}`);
        return told === null || mine !== asked ? undefined : show({ game: told, at: Math.min(within, steps(told).length) });
      }
    }
    return show({ ...shown, at: within });
  }

  find("#slider").addEventListener("input", (event) => goTo(Number(event.target.value)));
  find("#to-first").addEventListener("click", () => goTo(0));
  find("#to-earlier").addEventListener("click", () => goTo(place().at - 1));
  find("#to-later").addEventListener("click", () => goTo(place().at + 1));
  find("#to-last").addEventListener("click", () => goTo(place().steps.length));

  return {
    get shown() {
      return shown;
    },
    place,
    show,
    goTo,
    // The game being played has gone on, from the state before: its past stays shown, but not that of one that is over.
    follow(before) {
      if (shown === null) return;
      if (before?.match !== now().match) shown = null;
      else if (shown.game.match === now().match && shown.game.match !== null) shown = isPlayed(shown.game) ? { ...shown, stale: true } : null;
    },
    leave() {
      shown = null;
    },
    // Shows a game of the log after its last step.
    async showGame(match, n, dialog) {
      const game = await fetched(`/replay?match=${match}&game=${n}`);
      if (game === null) return;
      dialog?.close();
      show({ game, at: steps(game).length });
    },
    // What stands under a board of the past: which game it is of, after what, `result` at its end, and the way back.
    tools(back, result) {
      const { steps: all, at } = place();
      const after = at === 0 ? "the start" : `after ${step(all[at - 1])}`;
      return [html("p", {}, `${shown.game.players.join(" – ")}: ${after}.${at === all.length ? result : ""}`), button(back, () => show(null), "primary")];
    },
    renderSlider() {
      const { steps: all, at } = place();
      const slider = find("#slider");
      slider.max = all.length;
      slider.value = at;
      slider.setAttribute("aria-valuetext", at === 0 ? "the start" : `${word} ${at} of ${all.length}, ${step(all[at - 1])}`);
      setText(find("#replay-place"), all.length === 0 ? "" : `${at}/${all.length}`);
      for (const [id, off] of [["to-first", at === 0], ["to-earlier", at === 0], ["to-later", at >= all.length], ["to-last", at >= all.length && shown === null]]) find(`#${id}`).disabled = off;
    },
  };
}
