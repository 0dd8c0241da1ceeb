"""What the page shows, as plain JSON: the match folded from the log, and how the table is watched."""

from dataclasses import asdict

from companion.dashboard.buttons import buttons
from companion.dashboard.follower import Follower, Json, asking, ruling_json
from companion.dashboard.words import COUNTED, MODES, Words, as_html, colour_words, colours_of
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


class Table(Follower[Input]):
    """How a match of Pathways stands."""

    game = "Pathways"

    def __init__(self, store: Store, live: Live, profile: Profile) -> None:
        """Raises ProfileError for a board without holes, which the page cannot draw."""
        if not isinstance(profile.board, HolesBoard):
            raise ProfileError("the page draws boards with holes only; give a profile of kind holes")
        self._board = profile.board
        colours = colours_of(profile)
        self._colours = {player: as_html(bgr) for player, bgr in colours.items()}
        self._colour_words = colour_words(colours)
        super().__init__(store, live)

    def _state_json(self, watch: Watch, why: str) -> Json:
        return {**super()._state_json(watch, why), "board": asdict(self._board)}

    def _forget(self, match: Match | None) -> None:
        super()._forget(match)
        self._referee = Referee()
        self._words = Words({player: player.label for player in Player}, self._colour_words, self._board)
        self._changes: list[tuple[int, int]] = []
        self._hidden: tuple[Cell, ...] = ()
        self._advice: tuple[Order, ...] = ()

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
        self._add_line(entry, self._words.said(entry.input), shown)
        asked = asking(entry.rulings)
        chosen = -1 if asked is None else asked
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
        shown = ruling_json(ruling, self._words)
        if isinstance(ruling, Accepted) and any(order.do is Do.REMOVE for order in ruling.orders):
            return {**shown, "verdict": "orders"}
        return shown

    def _standing_json(self) -> Json:
        standing = self._referee.standing
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
