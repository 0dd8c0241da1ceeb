"""What the tables of all games have in common: they follow the log, and say what came since and how things stand."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from companion.live import Live, Watch
from companion.ruling import Accepted, Ruling
from companion.store import Entry, Log, Match

Json = dict[str, Any]
Taken = TypeVar("Taken")

_MOST_MATCHES = 50
"""Of those before, that the page lists."""


class Games(Protocol):
    """What a match is folded into: a series of games, the one being played last."""

    @property
    def games(self) -> tuple[object, ...]:
        """The games so far."""


Folded = TypeVar("Folded", bound=Games)


class Follower(Generic[Taken]):
    """Follows the log for a game's table to fill in; every public method may be called from any thread."""

    game: str
    """Its name on the page."""

    def __init__(self, log: Log[Taken], live: Live) -> None:
        self._log = log
        self._live = live
        self._lock = threading.Lock()
        self._shown: tuple[Match | None, int, tuple[Watch, str], tuple[str, ...]] | None = None
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
            shown = (self._match, self._seq, watching, self._live.conditions())
            if shown != self._shown:
                self._shown, self._state = shown, self._state_json(*watching)
            return lines, self._state

    def _state_json(self, watch: Watch, why: str) -> Json:
        return {
            "match": None if self._match is None else self._match.key,
            "game": self.game,
            "simulated": self._live.simulated,
            "watch": {"state": watch.value, "why": why},
            "pictures": list(self._live.conditions()),
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


class GamesFollower(Follower[Taken], Generic[Taken, Folded]):
    """Follows the log of a game whose matches are looked at again later: it has the last one and those before."""

    def __init__(self, log: Log[Taken], live: Live, resume: Callable[[Match], Folded | None]) -> None:
        """`resume` folds a match of the log."""
        self._resume = resume
        self._older: dict[int, Folded | None] = {}
        """Matches that are played no more."""
        super().__init__(log, live)

    def _forget(self, match: Match | None) -> None:
        super()._forget(match)
        self._folded: Folded | None = None
        # What is played again is another match by the time that it is left.
        self._older.pop(0 if match is None else match.id, None)

    def games(self) -> list[Json]:
        """Every game of the last matches in the log, the newest first. Raises StoreError."""
        return [
            {"match": match.key, "at": match.begun_at, **self._listed_json(match, folded, n)}
            for match, folded in self._matches()
            for n in range(len(folded.games), 0, -1)
        ]

    def replay(self, key: str, n: int) -> Json | None:
        """Every position of a game, for the slider; None where there is no such game."""
        found = self._find(key, n)
        return None if found is None else {"match": key, "game": n, **self._replay_json(found[1], n)}

    def record(self, key: str, n: int) -> tuple[str, str] | None:
        """A game on paper and the name of its file; None where there is no such game."""
        found = self._find(key, n)
        return None if found is None else self._record(*found, n)

    def _listed_json(self, match: Match, folded: Folded, n: int) -> Json:
        raise NotImplementedError

    def _replay_json(self, folded: Folded, n: int) -> Json:
        raise NotImplementedError

    def _record(self, match: Match, folded: Folded, n: int) -> tuple[str, str]:
        raise NotImplementedError

    def _matches(self) -> Iterator[tuple[Match, Folded]]:
        """The last matches in the log, the newest first. Raises StoreError."""
        for match in self._log.matches(_MOST_MATCHES):
            folded = self._folded_of(match)
            if folded is not None:
                yield match, folded

    def _find(self, key: str, n: int) -> tuple[Match, Folded] | None:
        """The match with this key, where it has a game n."""
        for match in self._log.matches(_MOST_MATCHES):
            if match.key == key:
                folded = self._folded_of(match)
                return None if folded is None or not 1 <= n <= len(folded.games) else (match, folded)
        return None

    def _folded_of(self, match: Match) -> Folded | None:
        with self._lock:
            self._catch_up()
            if match == self._match:
                return self._folded
        # Without the lock: what cameras saw in many games takes long to judge again, and pages wait for the state.
        if match.id not in self._older:
            self._older[match.id] = self._resume(match)
        return self._older[match.id]


class Words(Protocol):
    """Says things with the players' names."""

    def headline(self, ruling: Ruling) -> str:
        """The ruling in one short sentence."""

    def detail(self, ruling: Ruling) -> str:
        """What the headline leaves out, or nothing."""


def ruling_json(ruling: Ruling, words: Words) -> Json:
    """A ruling as the page shows it."""
    return {
        "verdict": type(ruling).__name__.lower(),
        "headline": words.headline(ruling),
        "why": words.detail(ruling),
        "rule": ruling.rule,
    }


def asking(rulings: tuple[Ruling, ...]) -> int | None:
    """Which of the rulings on one input asks something of a person: the last one; the page shows it large."""
    grave = [k for k, ruling in enumerate(rulings) if not isinstance(ruling, Accepted)]
    return grave[-1] if grave else None
