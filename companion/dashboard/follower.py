"""What the tables of all games have in common: they follow the log, and say what came since and how things stand."""

import threading
from typing import Any, Generic, TypeVar

from companion.dashboard.words import colour_words
from companion.live import Live, Watch
from companion.store import Entry, Log, Match
from companion.terms import Player
from vision.board import Profile

Json = dict[str, Any]
Taken = TypeVar("Taken")


class Follower(Generic[Taken]):
    """Follows the log for a game's table to fill in; every public method may be called from any thread."""

    game: str
    """Its name on the page."""

    def __init__(self, log: Log[Taken], live: Live, profile: Profile) -> None:
        self._log = log
        self._live = live
        colours = dict(zip(Player, (bgr for _, bgr in profile.colours), strict=True))
        self._colours = {player: "#{2:02x}{1:02x}{0:02x}".format(*bgr) for player, bgr in colours.items()}
        self._colour_words = colour_words(colours)
        self._lock = threading.Lock()
        self._shown: tuple[Match | None, int, tuple[Watch, str]] | None = None
        self._state: Json = {}
        self._forget(None)

    def log(self, after: int = 0) -> list[Json]:
        """The current match's log lines with `seq` above `after`; all of them where this log has not come so far."""
        return self.since(after)[0]

    def state(self) -> Json:
        """How things stand now, whole: it needs nothing that was sent before."""
        return self.since(0)[1]

    def since(self, after: int) -> tuple[list[Json], Json]:
        """The log lines above `after`, and how things stand after the last of them. Raises StoreError."""
        with self._lock:
            self._catch_up()
            newest = self._lines[-1]["seq"] if self._lines else 0
            lines = [line for line in self._lines if line["seq"] > (after if after <= newest else 0)]
            watching = self._live.watching()
            shown = (self._match, self._seq, watching)
            if shown != self._shown:
                self._shown, self._state = shown, self._state_json(*watching)
            return lines, self._state

    def _state_json(self, watch: Watch, why: str) -> Json:
        return {
            "match": None if self._match is None else self._match.key,
            "game": self.game,
            "simulated": self._live.simulated,
            "watch": {"state": watch.value, "why": why},
            "undone": list(self._undone),
            "ruling": self._ruling,
            **self._standing_json(),
        }

    def _standing_json(self) -> Json:
        raise NotImplementedError

    def _follow(self, entry: Entry[Taken]) -> None:
        raise NotImplementedError

    def _forget(self, match: Match | None) -> None:
        self._match = match
        self._seq = 0
        self._lines: list[Json] = []
        self._undone: list[int] = []
        self._ruling: Json | None = None

    def _catch_up(self) -> None:
        match = self._log.latest()
        if match != self._match:
            self._forget(match)
        if match is None:
            return
        for entry in self._log.entries(match, self._seq):
            self._follow(entry)

    def _add_line(self, entry: Entry[Taken], said: str, rulings: list[Json]) -> None:
        key = None if self._match is None else self._match.key
        line = {"match": key, "seq": entry.seq, "n": entry.n, "at": entry.at, "said": said, "rulings": rulings}
        self._lines.append(line)
