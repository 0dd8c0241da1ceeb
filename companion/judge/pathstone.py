"""`companion judge pathstone`: a set-up as TPS, then moves in PTN and what players declare, answered by the rules."""

from dataclasses import replace
from enum import StrEnum

from companion.games import pathstone
from companion.games.pathstone import NotationError, Reason, Result, State, read_move, read_tps, write_tps
from companion.games.pathstone.ptn import BY_PLAYERS
from companion.inputs import InputError
from companion.judge.values import Json, as_object, json_from_line, one_of, refuse_unknown, whole
from companion.ruling import CORRECTION, Accepted, Ended, Moved, Refused, Ruling, event_to_json, ruling_to_json
from companion.terms import Player

_SETUP = "Setup"
_KEYS = ("setup", "ptn", "declare")
_USUAL_SIZE = 5


class Said(StrEnum):
    """What players can declare."""

    RESIGN = "resign"
    DRAW = "draw"


class PathstoneJudge:
    """Answers lines about Pathstone, one after the other."""

    def __init__(self) -> None:
        self._state: State | None = None

    def answer(self, line: str) -> Json:
        """The answer to one line. Raises ValueError or RecursionError where it is not JSON."""
        told = json_from_line(line)
        try:
            rulings = self._rulings(told)
        except (InputError, NotationError) as error:
            rulings = (Refused(_SETUP if isinstance(told, dict) and "setup" in told else CORRECTION, str(error)),)
        return _answer(rulings, self._state)

    def _rulings(self, told: object) -> tuple[Ruling, ...]:
        if not isinstance(told, dict) or len(told) != 1:
            raise InputError(f"a line is an object with one of the keys {', '.join(_KEYS)}")
        ((key, value),) = told.items()
        if key == "setup":
            self._state = state_from_json(as_object(value, key))
            return (Accepted(_SETUP, "the game is set up"),)
        if self._state is None:
            return (Refused(_SETUP, "the first line must be a set-up"),)
        self._state, rulings = pathstone.judge(self._state, _given(self._state, key, value))
        return rulings


def _given(state: State, key: str, value: object) -> pathstone.Move | Result:
    match key:
        case "ptn" if isinstance(value, str):
            return BY_PLAYERS.get(value) or read_move(value.rstrip("*?!'\""))
        case "ptn":
            raise InputError("ptn must be a move as text")
        case "declare":
            return _declared(state, {"what": value} if isinstance(value, str) else as_object(value, key))
        case _:
            raise InputError(f"{key} is not one of the keys {', '.join(_KEYS)}")


def _declared(state: State, table: Json) -> Result:
    refuse_unknown(table, ("what", "player"), "declare: ")
    if one_of(Said, table.get("what"), "declare") is Said.DRAW:
        return Result(None, Reason.AGREEMENT)
    player = one_of(Player, table.get("player", state.to_move), "player")
    return Result(player.other, Reason.RESIGNATION)


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


def _answer(rulings: tuple[Ruling, ...], state: State | None) -> Json:
    """One answer for all rulings on a line: the move's speaks, and the end of the game is told with it."""
    said = ruling_to_json(rulings[0])
    answer: Json = {key: said[key] for key in ("ruling", "rule", "why", "orders", "cells")}
    for ruling in rulings:
        match ruling:
            case Accepted(event=Moved() as moved):
                answer |= {"n": moved.n, "player": moved.player.value, "ptn": moved.ptn}
            case Accepted(event=Ended() as ended, why=why):
                over = event_to_json(ended)
                answer |= {key: over[key] for key in ("result", "reason", "winner", "count")}
                answer["why"] = why if ruling is rulings[0] else f"{said['why']}; {why}"
    return {**answer, "state": None if state is None else state_to_json(state)}
