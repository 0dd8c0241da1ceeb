"""A series: games of Pathstone between two people, who take turns at moving first; its inputs, rulings and points.

Player A moves first in every game, so it is the people who change sides. `take` folds one input into the series; the
same inputs give the same series, which is what a log is opened with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

from companion.games.pathstone.belief import Belief, believe, judge_look, take_back, tell
from companion.games.pathstone.looks import Look, look_from_json, look_to_json
from companion.games.pathstone.moves import game_over
from companion.games.pathstone.notation import NotationError, read_move, write_move
from companion.games.pathstone.pieces import SIZES, Move, Reason, Result
from companion.games.pathstone.ptn import Blank, Ending, Record, read_ptn, record_of, replay, with_result
from companion.games.pathstone.state import State, move_between, start
from companion.inputs import InputError
from companion.ruling import CORRECTION, Accepted, GameStarted, Refused, Ruling, TakenBack
from companion.terms import Player

WIN, DRAW = 1.0, 0.5
"""What a game gives its winner, and each player where nobody wins."""


class Said(StrEnum):
    """What people can say besides moves."""

    RESIGN = "resign"
    DRAW = "draw"
    TAKE_BACK = "take-back"
    NEXT_GAME = "next-game"
    GO_ON = "go-on"
    """Of a series that was left for another one."""


@dataclass(frozen=True, slots=True)
class Begin:
    """A new series: the first name moves first in game 1. `length` None goes on for as long as people like.

    `ptn` is a record that game 1 begins with; the board's size is then the record's.
    """

    names: tuple[str, str]
    size: int = 5
    length: int | None = None
    ptn: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A move that a person makes on the page, or the answer to a question; `n` is the move it was meant to be."""

    move: Move
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A look of the camera."""

    look: Look
    frame: int = 0
    t_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Saying:
    """Something else that a person says; `player` is who resigns."""

    what: Said
    player: Player | None = None


Input = Begin | Played | Seen | Saying


@dataclass(frozen=True, slots=True)
class Game:
    """One game of a series: what is believed of it, and the record that it began with, if any."""

    belief: Belief
    record: Record | None = None

    @property
    def state(self) -> State:
        """The last certain state."""
        return self.belief.state

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every move that is certain."""
        pairs = pairwise(self.belief.past)
        return tuple(_move_between(before, after) for before, after in pairs if before.ply != after.ply)


@dataclass(frozen=True, slots=True)
class Series:
    """The games so far, the one being played last."""

    names: tuple[str, str]
    length: int | None
    games: tuple[Game, ...]

    @property
    def game(self) -> Game:
        """The one being played, or just over."""
        return self.games[-1]

    def players(self, n: int) -> tuple[str, str]:
        """Who plays game n (from 1), player A first."""
        first, second = self.names
        return (first, second) if n % 2 else (second, first)

    def gives(self, n: int) -> tuple[float, float]:
        """The points of game n, in the order of `names`; none while it is played."""
        result = self.games[n - 1].state.result
        if result is None:
            return (0.0, 0.0)
        if result.winner is None:
            return (DRAW, DRAW)
        first_won = self.players(n)[result.winner is Player.B] == self.names[0]
        return (WIN, 0.0) if first_won else (0.0, WIN)

    @property
    def points(self) -> tuple[float, float]:
        """How the series stands, in the order of `names`."""
        given = [self.gives(n) for n in range(1, len(self.games) + 1)]
        return (sum(first for first, _ in given), sum(second for _, second in given))

    @property
    def over(self) -> bool:
        """Whether all games are played, or one of the two cannot be overtaken."""
        if self.length is None or self.game.state.result is None:
            return False
        return len(self.games) >= self.length or max(self.points) > self.length * WIN / 2

    @property
    def leader(self) -> str | None:
        """Who has more points; nobody where they are equal."""
        first, second = self.points
        return None if first == second else self.names[0 if first > second else 1]


Taken = tuple[Series | None, tuple[Ruling, ...]]


def take(series: Series | None, given: Input) -> Taken:
    """What follows from an input: the series after it and the rulings; none where nothing happened."""
    if isinstance(given, Begin):
        return _begin(series, given)
    if series is None:
        return None, (Refused("Setup", "no game is being played: start one"),)
    game = series.game
    match given:
        case Played():
            if given.n not in (None, game.state.ply + 1):
                return series, (Refused("Move", f"it is no longer move {given.n}: look at the board again"),)
            return _after(series, *tell(game.belief, given.move))
        case Seen():
            # Pieces that are cleared away after a game take nothing back.
            if game.belief.over or len(given.look.tops) != game.state.size**2:
                return series, ()
            return _after(series, *judge_look(game.belief, given.look))
        case Saying():
            return _say(series, given)


def _say(series: Series, said: Saying) -> Taken:
    belief = series.game.belief
    match said.what:
        case Said.RESIGN:
            player = said.player or belief.state.to_move
            return _after(series, *tell(belief, Result(player.other, Reason.RESIGNATION)))
        case Said.DRAW:
            return _after(series, *tell(belief, Result(None, Reason.AGREEMENT)))
        case Said.TAKE_BACK:
            return _take_back(series)
        case Said.NEXT_GAME:
            return _next_game(series)
        case Said.GO_ON:
            return series, (Accepted("Setup", f"game {len(series.games)} of {' and '.join(series.names)} goes on"),)


def record_of_game(series: Series, n: int, tags: tuple[tuple[str, str], ...] = ()) -> Record:
    """Game n on paper, `tags` before all others. A game that began with a record keeps that one's tags and comments."""
    game = series.games[n - 1]
    # A tag's value cannot hold the sign that ends it.
    a, b = (name.replace('"', "'") for name in series.players(n))
    past, moves, result, kept = game.belief.past, game.moves, game.state.result, game.record
    if kept is None or moves[: len(kept.plies)] != tuple(ply.move for ply in kept.plies):
        record = record_of(past[0], moves, (*tags, ("Player1", a), ("Player2", b)))
    elif len(moves) == len(kept.plies) and replay(kept)[-1].result == result:
        return kept
    else:
        more = record_of(past[len(kept.plies)], moves[len(kept.plies) :]).entries
        if kept.plies and len(more) > 1 and isinstance(more[1], Blank):
            more = more[2:]
        named = tuple((name, value) for name, value in kept.tags if name.lower() != "result")
        record = Record(named, (*kept.entries, *more))
    moved = Record(record.tags, tuple(entry for entry in record.entries if not isinstance(entry, Ending)))
    named = tuple((name, value) for name, value in moved.tags if name.lower() != "result")
    return moved if result is None else with_result(replace(moved, tags=named), result)


def _begin(series: Series | None, begin: Begin) -> Taken:
    record = None
    try:
        if begin.ptn is None:
            past: tuple[State, ...] = (start(begin.size),)
        else:
            record = read_ptn(begin.ptn)
            past = replay(record)
    except ValueError as error:
        return series, (Refused("Setup", str(error)),)
    last = past[-1]
    if last.ended is not None:
        past = (*past[:-1], replace(last, ended=None), last)
    begun = Series(begin.names, begin.length, (Game(believe(*past), record),))
    return begun, (_started(begun), game_over(last)) if last.result is not None else (_started(begun),)


def _started(series: Series) -> Accepted:
    n = len(series.games)
    a, b = series.players(n)
    why = f"game {n}: {a} moves first" if series.game.record is None else f"game {n}: the record of {a} and {b}"
    return Accepted("Setup", why, GameStarted(n, Player.A))


def _after(series: Series, belief: Belief, rulings: tuple[Ruling, ...]) -> Taken:
    return replace(series, games=(*series.games[:-1], replace(series.game, belief=belief))), rulings


def _take_back(series: Series) -> Taken:
    """Takes back the last move or result; where a game has neither, that it was begun."""
    game, n = series.game, len(series.games)
    if n > 1 and len(game.belief.past) == 1 and not game.belief.questions:
        return replace(series, games=series.games[:-1]), (
            Accepted(CORRECTION, f"game {n} is taken back: game {n - 1} is the last"),
        )
    if game.state.ended is not None:
        past = game.belief.past[:-1]
        why = f"the result is taken back: {past[-1].to_move.label} is to move"
        return _after(series, believe(*past), (Accepted(CORRECTION, why, TakenBack(past[-1].ply + 1)),))
    return _after(series, *take_back(game.belief))


def _next_game(series: Series) -> Taken:
    state = series.game.state
    if state.result is None:
        return series, (Refused("Setup", "the game is not over yet"),)
    if series.over:
        return series, (Refused("Setup", "the series is over: start another"),)
    after = replace(series, games=(*series.games, Game(believe(start(state.size)))))
    return after, (_started(after),)


@lru_cache(maxsize=2048)
def _move_between(before: State, after: State) -> Move:
    # Asked again for the whole game at every move, and every legal move is made to find it.
    return move_between(before, after)


def input_to_json(given: Input) -> dict[str, Any]:
    """An input as a JSON object; its key "input" says which kind it is."""
    match given:
        case Begin():
            names = list(given.names)
            return {"input": "begin", "names": names, "size": given.size, "length": given.length, "ptn": given.ptn}
        case Played():
            return {"input": "move", "ptn": write_move(given.move), "n": given.n}
        case Seen():
            return {"input": "look", **look_to_json(given.look), "frame": given.frame, "t_s": given.t_s}
        case Saying():
            player = None if given.player is None else given.player.value
            return {"input": "say", "what": given.what.value, "player": player}


def input_from_json(data: Mapping[str, Any]) -> Input:
    """The input that `input_to_json` wrote. Raises InputError."""
    try:
        match data["input"]:
            case "begin":
                first, second = data["names"]
                if data["size"] not in SIZES:
                    raise InputError(f"size is {SIZES[0]} to {SIZES[-1]}")
                length = None if data["length"] is None else int(data["length"])
                return Begin((str(first), str(second)), int(data["size"]), length, data["ptn"])
            case "move":
                return Played(read_move(data["ptn"]), None if data["n"] is None else int(data["n"]))
            case "look":
                return Seen(look_from_json(data), int(data["frame"]), float(data["t_s"]))
            case "say":
                return Saying(Said(data["what"]), None if data["player"] is None else Player(data["player"]))
            case kind:
                raise InputError(f"{kind!r} is no kind of input")
    except InputError:
        raise
    except NotationError as error:
        raise InputError(str(error)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not an input: {error}") from error
