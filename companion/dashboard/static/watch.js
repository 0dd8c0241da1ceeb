// How the table is being watched, in words.

export const WATCH = {
  starting: "Starting",
  watching: "Watching the board",
  hand: "Hand over the board",
  moving: "Waiting for rest",
  stalled: "Camera stalled",
  "board-lost": "Board not found",
  "camera-lost": "Camera lost",
  "grid-lost": "Grid lost",
  ended: "The source ended",
};

// What must be told loudly of a camera, or nothing.
export function alarmOf(state) {
  const lost = ["camera-lost", "board-lost", "stalled"].includes(state.watch.state);
  return lost ? `${WATCH[state.watch.state]}: ${state.watch.why}` : "";
}

export const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

// What is the matter with the pictures of a board that is watched all the same, or nothing.
export const picturesInWords = (state) => state.pictures.map(sentence).join(" ");

// What must be told loudly of a grid (null where there is none), or nothing; `watching` is whether a camera looks too.
export function gridAlarmOf(grid, watching) {
  if (grid === null || grid.state !== "lost") return "";
  const goesOn = watching ? "The game goes on with the camera alone." : "The game goes on without it.";
  const on = grid.alone ? "Nothing is watched until it is back." : goesOn;
  return `Grid not connected: ${grid.why.replace(/[.?!]?$/, (end) => end || ".")} ${on}`;
}
