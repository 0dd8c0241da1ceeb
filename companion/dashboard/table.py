"""What the page shows, as plain JSON: the match folded from the log, and how the table is watched."""

import threading
from dataclasses import asdict
from typing import Any

from companion.dashboard.buttons import buttons
from companion.dashboard.words import COUNTED, MODES, Words, colour_words
from companion.games import pathways
from companion.games.compare import cell_mm
from companion.games.match import score
from companion.games.position import DISKS_EACH, Doubt, State
from companion.games.witnesses import as_told
from companion.inputs import Input, Look, Undo, disk_to_json
from companion.live import Live, Watch
from companion.referee import Referee, Standing
from companion.ruling import Accepted, Do, Order, Ruling
from companion.store import Entry, Match, Store
from companion.terms import Cell, Player
from vision.board import HolesBoard, Profile, ProfileError

Json = dict[str, Any]


class Table:
    """Follows the log and says how things stand; every method may be called from any thread."""

    def __init__(self, store: Store, live: Live, profile: Profile) -> None:
        """Raises ProfileError for a board without holes, which the page cannot draw."""
        if not isinstance(profile.board, HolesBoard):
            raise ProfileError("the page draws boards with holes only; give a profile of kind holes")
        self._store = store
        self._live = live
        self._board = profile.board
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
            "game": "Pathways",
            "simulated": self._live.simulated,
            "watch": {"state": watch.value, "why": why},
            "board": asdict(self._board),
            "undone": list(self._undone),
            "ruling": self._ruling,
            **self._standing_json(self._referee.standing),
        }

    def _forget(self, match: Match | None) -> None:
        self._match = match
        self._referee = Referee()
        self._words = Words({player: player.label for player in Player}, self._colour_words, self._board)
        self._seq = 0
        self._lines: list[Json] = []
        self._changes: list[tuple[int, int]] = []
        self._undone: list[int] = []
        self._ruling: Json | None = None
        self._hidden: tuple[Cell, ...] = ()
        self._advice: tuple[Order, ...] = ()

    def _catch_up(self) -> None:
        match = self._store.latest()
        if match != self._match:
            self._forget(match)
        if match is None:
            return
        for entry in self._store.entries(match, self._seq):
            self._follow(entry)

    def _follow(self, entry: Entry[Input]) -> None:
        before = self._referee.standing
        self._referee.take(entry.input)
        after = self._referee.standing
        self._seq = entry.seq
        if after.match is not None:
            self._words = Words(dict(zip(Player, after.match.names, strict=True)), self._colour_words, self._board)
        if isinstance(entry.input, Look):
            self._hidden = as_told(entry.input).hidden
        if not entry.rulings:
            if after != before:
                self._changes.append((entry.n, entry.seq))
            return
        shown = [self._ruling_json(ruling) for ruling in entry.rulings]
        if isinstance(entry.input, Undo):
            shown = self._take_back(entry.input, entry.rulings) or shown
        elif after != before:
            self._changes.append((entry.n, entry.seq))
        self._lines.append(
            {
                "match": None if self._match is None else self._match.key,
                "seq": entry.seq,
                "n": entry.n,
                "at": entry.at,
                "said": self._words.said(entry.input),
                "rulings": shown,
            }
        )
        # Of several rulings on one input, the page shows large the last one that asks something of a person.
        grave = [k for k, ruling in enumerate(entry.rulings) if not isinstance(ruling, Accepted)]
        chosen = grave[-1] if grave else -1
        self._ruling = shown[chosen]
        self._advice = tuple(order for order in entry.rulings[chosen].orders if order.do is Do.LAY_FLAT)

    def _take_back(self, undo: Undo, rulings: tuple[Ruling, ...]) -> list[Json]:
        """Marks the changes that an undo took back, the last one or all since entry `before`, and says which."""
        taken: list[int] = []
        if isinstance(rulings[0], Accepted):
            while self._changes:
                n, seq = self._changes.pop()
                taken.append(seq)
                if undo.before is None or n <= undo.before:
                    break
        self._undone += taken
        return [
            {**ruling, "headline": f"Taken back: {ruling['headline']}", "verdict": "accepted", "orders": []}
            for line in self._lines
            if line["seq"] == min(taken, default=0)
            for ruling in line["rulings"][-1:]
        ]

    def _ruling_json(self, ruling: Ruling) -> Json:
        verdict = type(ruling).__name__.lower()
        if isinstance(ruling, Accepted) and any(order.do is Do.REMOVE for order in ruling.orders):
            verdict = "orders"
        return {
            "verdict": verdict,
            "headline": self._words.headline(ruling),
            "why": self._words.detail(ruling),
            "rule": ruling.rule,
        }

    def _standing_json(self, standing: Standing) -> Json:
        match, game = standing.match_now, standing.game
        players: Json = {
            player.value: {
                "name": self._words.names[player],
                "colour": self._colours[player],
                "word": self._colour_words[player],
            }
            for player in Player
        }
        if match is None or game is None or standing.match is None:
            return {"phase": "start", "players": players, "disks": [], "hidden": [], "orders": [], "buttons": []}
        finished = score(match.mode, pathways.scoring(game), match.columns)
        for k, player in enumerate(Player):
            players[player.value] |= {
                "count": finished.count[k],
                "points": match.points[k],
                "left": game.flicks_left(player),
            }
        phase = _phase(standing)
        winner = (match.winner or finished.winner) if game.over else None
        return {
            "phase": phase,
            "players": players,
            "mode": match.mode.value,
            "mode_words": MODES[match.mode],
            "counted": COUNTED[match.mode],
            "threshold": match.threshold,
            "sudden_death": standing.match.sudden_death,
            "game_number": standing.match.game,
            "flicks_each": DISKS_EACH,
            "turn": None if game.over or phase == "match-over" else game.to_flick.value,
            "disks": _disks_json(game),
            "hidden": self._hidden,
            "orders": [self._order_json(order) for order in (*game.orders, *self._advice)],
            "winner": None if winner is None else winner.value,
            "asked": _asked_json(game),
            "question": self._ruling_json(game.questions[0]) if game.questions else None,
            "buttons": buttons(phase, game, self._words),
        }

    def _order_json(self, order: Order) -> Json:
        return {
            "do": order.do.value,
            "text": self._words.order(order),
            "why": self._words.ground(order),
            "rule": order.rule,
            "x_mm": order.x_mm,
            "y_mm": order.y_mm,
        }


def _asked_json(game: State) -> list[Json]:
    """The places that the question is about: disks, or the hole of which only a sensor tells."""
    if not game.questions:
        return []
    question, asked = game.question, game.questions[0]
    if question is None or question.doubt not in (Doubt.WITNESS, Doubt.COLOUR) or asked.disks:
        return [disk_to_json(disk) for disk in asked.disks]
    places = (cell_mm(game.setup.field, cell) for cell in asked.cells)
    return [{"x_mm": x_mm, "y_mm": y_mm} for x_mm, y_mm in places]


def _disks_json(game: State) -> list[Json]:
    """The disks of the last judged board, or those of the look that waits for an answer."""
    question = game.question
    if question is not None and question.look is not None:
        return [{**disk_to_json(disk), "index": k} for k, disk in enumerate(question.look.disks)]
    return [{**disk_to_json(disk), "index": k} for k, disk in enumerate(game.disks)]


def _phase(standing: Standing) -> str:
    match, game = standing.match_now, standing.game
    if match is None or game is None:
        return "start"
    if game.over:
        return "game-over" if match.winner is None else "match-over"
    if game.questions:
        return "ask"
    return "clear" if game.orders else "flick"
