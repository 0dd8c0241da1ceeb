"""`companion judge pathstone`: a set-up as TPS, then moves, looks and what players declare, answered by the rules."""

from dataclasses import replace
from enum import StrEnum
from typing import Any

from companion.games import pathstone
from companion.games.pathstone import (
    PIECES_EACH,
    Belief,
    Judged,
    Look,
    NotationError,
    Reason,
    Result,
    State,
    believe,
    judge_look,
    look_from_tops,
    read_move,
    read_tps,
    square_name,
    take_back,
    tell,
    write_tps,
)
from companion.games.pathstone.looks import TOPS
from companion.games.pathstone.ptn import BY_PLAYERS
from companion.inputs import InputError
from companion.judge.values import Json, as_object, json_from_line, one_of, refuse_unknown, whole
from companion.ruling import CORRECTION, Accepted, Ended, Moved, Refused, Ruling, TakenBack, Undecided, event_to_json
from companion.terms import Player

_SETUP = "Setup"
_KEYS = ("setup", "ptn", "look", "declare")
_USUAL_SIZE = 5


class Said(StrEnum):
    """What players can declare."""

    RESIGN = "resign"
    DRAW = "draw"
    TAKE_BACK = "take-back"


class PathstoneJudge:
    """Answers lines about Pathstone, one after the other."""

    def __init__(self) -> None:
        self._belief: Belief | None = None

    def answer(self, line: str) -> Json:
        """The answer to one line. Raises ValueError or RecursionError where it is not JSON."""
        told = json_from_line(line)
        try:
            rulings = self._rulings(told)
        except (InputError, NotationError) as error:
            rulings = (Refused(_SETUP if isinstance(told, dict) and "setup" in told else CORRECTION, str(error)),)
        return _answer(rulings, self._belief)

    def _rulings(self, told: object) -> tuple[Ruling, ...]:
        if not isinstance(told, dict) or len(told) != 1:
            raise InputError(f"a line is an object with one of the keys {', '.join(_KEYS)}")
        ((key, value),) = told.items()
        if key == "setup":
            self._belief = believe(state_from_json(as_object(value, key)))
            return (Accepted(_SETUP, "the game is set up"),)
        if self._belief is None:
            return (Refused(_SETUP, "the first line must be a set-up"),)
        self._belief, rulings = _judged(self._belief, key, value)
        return rulings or (Accepted("Move", "nothing happened"),)


def _judged(belief: Belief, key: str, value: object) -> Judged:
    match key:
        case "ptn":
            if not isinstance(value, str):
                raise InputError("ptn must be a move as text")
            return tell(belief, BY_PLAYERS.get(value) or read_move(value.rstrip("*?!'\"")))
        case "look":
            return judge_look(belief, _look(belief.state, as_object(value, key)))
        case "declare":
            return _declared(belief, {"what": value} if isinstance(value, str) else as_object(value, key))
        case _:
            raise InputError(f"{key} is not one of the keys {', '.join(_KEYS)}")


def _look(state: State, table: Json) -> Look:
    refuse_unknown(table, ("cells", "heights"), "look: ")
    cells = _ranks(state, table.get("cells"), "cells")
    if not all(sign in (*TOPS, "?") for rank in cells for sign in rank):
        raise InputError(f"cells must be of the signs {TOPS}?")
    if table.get("heights") is None:
        return look_from_tops(cells)
    heights = _ranks(state, table["heights"], "heights")
    most = 2 * sum(PIECES_EACH[state.size])
    return look_from_tops(
        cells, [[None if n is None else whole(n, "heights", most=most) for n in rank] for rank in heights]
    )


def _ranks(state: State, value: object, key: str) -> list[Any]:
    size = state.size
    if (
        not isinstance(value, list)
        or len(value) != size
        or [len(rank) for rank in value if isinstance(rank, (str, list))] != [size] * size
    ):
        raise InputError(f"{key} must be {size} ranks of {size} squares")
    return value


def _declared(belief: Belief, table: Json) -> Judged:
    refuse_unknown(table, ("what", "player"), "declare: ")
    player = one_of(Player, table.get("player", belief.state.to_move), "player")
    match one_of(Said, table.get("what"), "declare"):
        case Said.RESIGN:
            return tell(belief, Result(player.other, Reason.RESIGNATION))
        case Said.DRAW:
            return tell(belief, Result(None, Reason.AGREEMENT))
        case Said.TAKE_BACK:
            return take_back(belief)


def state_from_json(table: Json) -> State:
    """The state that a set-up describes; what it leaves out is as at the start. Raises InputError or NotationError."""
    refuse_unknown(table, ("size", "tps", "result"), "")
    size = None
    if "size" in table:
        size = whole(table["size"], "size", pathstone.SIZES[0], pathstone.SIZES[-1])
    tps, result = table.get("tps"), table.get("result")
    for key, text in (("tps", tps), ("result", result)):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{key} must be text")
    state = pathstone.start(size or _USUAL_SIZE) if tps is None else read_tps(tps, size)
    if result is None:
        return state
    if state.result is None and result in BY_PLAYERS:
        return replace(state, ended=BY_PLAYERS[result])
    if result != str(state.result):
        raise InputError(f"result: {result} is not what the board shows")
    return state


def state_to_json(state: State) -> Json:
    """A state in the set-up's form."""
    over = {} if state.result is None else {"result": str(state.result)}
    return {"size": state.size, "tps": write_tps(state), **over}


def _answer(rulings: tuple[Ruling, ...], belief: Belief | None) -> Json:
    """One answer for all rulings on a line: the first speaks, and the end of the game is told with it."""
    first = rulings[0]
    answer: Json = {
        "ruling": type(first).__name__.lower(),
        "rule": first.rule,
        "why": "; ".join(ruling.why for ruling in rulings),
        "orders": [],
        "cells": [square_name(cell) for cell in first.cells],
    }
    for ruling in rulings:
        match ruling:
            case Undecided():
                answer |= {"n": ruling.n, "candidates": list(ruling.candidates)}
            case Accepted(event=Moved() | TakenBack() | Ended() as event):
                answer |= {key: value for key, value in event_to_json(event).items() if key != "event"}
    if belief is None:
        return {**answer, "state": None}
    state = belief.state
    counts = {"flats": state.flats, "reserves": state.reserves}
    by_player = {name: dict(zip(Player, pair, strict=True)) for name, pair in counts.items()}
    return {**answer, **by_player, "state": state_to_json(state)}
