// The games of the log and records from outside, in their dialogs: what the pages of games with a record share.

import { html, find, setText } from "./dom.js";
import { fetched } from "./page.js";

// `line` makes a game's line of the list, `show` shows a game from its start; `key` is the record's in what is posted.
export function onRecords({ key, line, show }) {
  async function showGames() {
    const games = await fetched("/games");
    if (games === null) return;
    const dialog = find("#games");
    const lines = games.map((game) => line(game, dialog));
    find("#games-list").replaceChildren(...(lines.length > 0 ? lines : [html("li", {}, "No game has been played yet.")]));
    dialog.showModal();
  }

  function openImport() {
    find("#games").close();
    setText(find("#import-why"), "");
    find("#import").showModal();
  }

  async function posted(path) {
    try {
      const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Companion": "1" }, body: JSON.stringify({ [key]: find("#import-text").value }) });
      const told = await answer.json();
      setText(find("#import-why"), answer.ok ? "" : told.why);
      return answer.ok ? told : null;
    } catch {
      setText(find("#import-why"), "The companion does not answer; is it still running?");
      return null;
    }
  }

  find("#show-games").addEventListener("click", showGames);
  find("#open-import").addEventListener("click", openImport);
  find("#start-import").addEventListener("click", openImport);
  find("#import-file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) find("#import-text").value = await file.text();
  });
  find("#import-show").addEventListener("click", async () => {
    const game = await posted("/replay");
    if (game === null) return;
    find("#import").close();
    show(game);
  });
  find("#import-play").addEventListener("click", async () => {
    if ((await posted("/start")) !== null) find("#import").close();
  });
}
