// What the server says: the log's entries by number, and the state after the last of them. Both streams close while
// the tab is hidden, because a browser gives one server six connections, and go on where they stopped.

let source = null;
let last = 0;

export function follow({ onEntry, onState, onGrid, onLink }) {
  const open = () => {
    if (source !== null || document.visibilityState === "hidden") return;
    source = new EventSource(`/events?after=${last}`);
    source.addEventListener("entry", (event) => {
      const entry = JSON.parse(event.data);
      last = entry.seq;
      onEntry(entry);
    });
    source.addEventListener("state", (event) => {
      onLink(true);
      onState(JSON.parse(event.data));
    });
    source.addEventListener("grid", (event) => onGrid(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      onLink(false);
      // The browser tries again by itself, except after an answer that is no stream: the server was full or is gone.
      if (source !== null && source.readyState === EventSource.CLOSED) {
        close();
        setTimeout(open, 2000);
      }
    });
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
}

// Pulls pictures one after another: a slow viewer sees fewer, never older ones.
export function watchPicture(canvas, onNote) {
  let n = 0;
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const visible = () => new Promise((resolve) => {
    if (document.visibilityState !== "hidden") resolve();
    else document.addEventListener("visibilitychange", resolve, { once: true });
  });
  const pull = async () => {
    const answer = await fetch(`/picture.jpg?after=${n}`, { cache: "no-store" });
    if (answer.status === 200) {
      n = Number(answer.headers.get("X-Picture"));
      const bitmap = await createImageBitmap(await answer.blob());
      [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
      bitmap.close();
      canvas.dataset.n = n;
    }
    onNote(n === 0 ? "No picture yet." : "");
    return answer.status === 200 ? 120 : 400;
  };
  const loop = async () => {
    for (;;) {
      await visible();
      await pause(await pull().catch(() => {
        onNote("The picture does not come: this page has lost the companion.");
        return 2000;
      }));
    }
  };
  loop();
}

// Sends one thing that a person says; the answer comes by the stream. Returns null, or why it was not taken.
export async function send(path, body) {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Companion": "1" },
      body: JSON.stringify(body),
    });
    return answer.ok ? null : (await answer.json()).why;
  } catch {
    return "The companion does not answer; is it still running?";
  }
}
