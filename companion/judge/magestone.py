"""`companion judge magestone`: a position as JSON, then what players choose, answered by the rules.

Seats are numbered in turn order, so that with two players the bottom seat is 1.
"""

from enum import StrEnum

from companion.games.magestone import (
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Dice,
    End,
    Move,
    NotationError,
    Nova,
    Order,
    Roll,
    State,
    Unit,
    as_played,
    declaration_fault,
    dice_for,
    judge,
    left,
    legal_choices,
    odds,
    on_board,
    read_go,
    shortest_walks,
    square_name,
    write_choice,
    write_go,
    write_position,
)
from companion.games.magestone.faults import COMBAT, GO, walker_fault
from companion.inputs import InputError
from companion.judge.magestone_state import (
    cell_of,
    list_of,
    result_to_json,
    seat_of,
    state_from_json,
    state_to_json,
    unit_of,
)
from companion.judge.values import Json, as_object, json_from_line, one_of, refuse_unknown, whole
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, Undecided
from companion.terms import Cell

_SETUP = "Setup"
_KEYS = ("setup", "do", "go", "ask")
_MOST_DICE = 1_000


class Do(StrEnum):
    """What players can choose; the value is its name in JSON."""

    MOVE = "move"
    ATTACK = "attack"
    BOLT = "bolt"
    NOVA = "nova"
    ACTIVATE = "activate"
    COLLECT = "collect"
    RITE = "rite"
    END = "end"


_ALONE: dict[Do, tuple[Choice, Unit | None]] = {
    Do.NOVA: (Nova(), Unit.MAGE),
    Do.ACTIVATE: (Activate(), Unit.MAGE),
    Do.COLLECT: (Collect(), Unit.MAGE),
    Do.RITE: (BeginRite(), Unit.PRIEST),
    Do.END: (End(), None),
}
"""The choices that need no more said, and the unit that does it."""

_NAMES = {choice: do for do, (choice, _) in _ALONE.items()}


class MagestoneJudge:
    """Answers lines about MageStone, one after the other."""

    def __init__(self) -> None:
        self._state: State | None = None

    def answer(self, line: str) -> Json:
        """The answer to one line. Raises ValueError or RecursionError where it is not JSON."""
        told = json_from_line(line)
        try:
            return self._answer(told)
        except (InputError, NotationError) as error:
            rule = _SETUP if isinstance(told, dict) and "setup" in told else CORRECTION
            return _answered((Refused(rule, str(error)),), self._state)

    def _answer(self, told: object) -> Json:
        key = next(iter(told)) if isinstance(told, dict) and len(told) == 1 else "do"
        if not isinstance(told, dict) or key not in told or key not in _KEYS:
            raise InputError(f"a line is an object with one of the keys {', '.join(_KEYS)}")
        if key == "setup":
            self._state = state_from_json(as_object(told[key], key))
            return _answered((Accepted(_SETUP, "the game is set up"),), self._state)
        if self._state is None:
            return _answered((Refused(_SETUP, "the first line must be a set-up"),), None)
        if key == "ask":
            return _asked(self._state, told[key])
        choices = _go(told[key]) if key == "go" else _choice(self._state, told)
        if isinstance(choices, (Refused, Undecided)):
            return _answered((choices,), self._state)
        return self._play(choices)

    def _play(self, choices: tuple[Choice, ...]) -> Json:
        """Plays all of the choices, or none where one is refused."""
        assert self._state is not None
        state, told, todo = self._state, list[Ruling](), list[Order]()
        played: list[Choice] = []
        for choice in choices:
            before = state
            state, rulings, orders = judge(before, choice)
            if isinstance(rulings[0], Refused):
                return {**_answered(rulings, self._state), **_dice_wanted(before, choice)}
            told += rulings
            todo += orders
            played.append(as_played(before, choice))
        self._state = state
        answer = _answered(tuple(told), state)
        return {
            **answer,
            "orders": [order_to_json(state, order) for order in todo],
            "notation": write_go(tuple(played)),
        }


# What is chosen


def _go(value: object) -> tuple[Choice, ...]:
    if not isinstance(value, str) or not value.split():
        raise InputError("go must be choices as text")
    return read_go(value)


def _choice(state: State, table: Json) -> tuple[Choice, ...] | Refused | Undecided:
    """What one line chooses; a walk with only its end given may be refused or undecided at once."""
    do = one_of(Do, table.get("do"), "do")
    if "seat" in table and seat_of(state.seats, table["seat"], "seat") is not state.to_move:
        return Refused(GO, f"it is {state.to_move.label}'s go; {left(state)}")
    keys = {
        Do.MOVE: ("do", "seat", "unit", "to" if "to" in table else "path"),
        Do.ATTACK: ("do", "seat", "units", "target", "dice"),
        Do.BOLT: ("do", "seat", "unit", "target", "dice"),
    }
    refuse_unknown(table, keys.get(do, ("do", "seat", "unit")), f"{do}: ")
    match do:
        case Do.MOVE if "to" in table:
            return _walk(state, unit_of(table.get("unit")), cell_of(table["to"], "to"))
        case Do.MOVE:
            return (Move(unit_of(table.get("unit")), tuple(cell_of(cell, "path") for cell in list_of(table, "path"))),)
        case Do.ATTACK:
            units = tuple(unit_of(unit) for unit in list_of(table, "units"))
            return (Attack(units, cell_of(table.get("target"), "target"), _rolls(table)),)
        case Do.BOLT:
            _check_actor(table, Unit.MAGE, do)
            return (Bolt(cell_of(table.get("target"), "target"), _rolls(table)),)
    choice, actor = _ALONE[do]
    _check_actor(table, actor, do)
    return (choice,)


def _walk(state: State, unit: Unit, end: Cell) -> tuple[Choice, ...] | Refused | Undecided:
    """The shortest walk to a square; where several differ in what follows, a person picks."""
    moves = shortest_walks(state, unit, end)
    if len(moves) > 1:
        why = f"shortest walks to {square_name(end)} differ in what follows"
        return Undecided(GO, why, tuple(map(write_choice, moves)), cells=(end,))
    if moves:
        return moves
    refused = declaration_fault(state, End()) or walker_fault(state, unit)
    place = square_name(end) if on_board(end) else "a square that is not on the board"
    return refused or Refused(GO, f"{unit.label} cannot walk to {place}; {left(state)}", cells=(end,))


def _check_actor(table: Json, actor: Unit | None, do: Do) -> None:
    if "unit" in table and unit_of(table["unit"]) is not actor:
        raise InputError(f"{do}: {'no unit' if actor is None else f'only the {actor.label}'} does that")


def _rolls(table: Json) -> tuple[Roll, ...]:
    rolls = []
    for roll in list_of(table, "dice") if table.get("dice") is not None else []:
        if not isinstance(roll, list) or len(roll) != 2 or not all(isinstance(side, list) for side in roll):
            raise InputError("dice must be a list of rolls, each [attacker's dice, defender's dice]")
        attacker, defender = (tuple(whole(die, "dice", most=_MOST_DICE) for die in side) for side in roll)
        rolls.append(Roll(attacker, defender))
    return tuple(rolls)


def _asked(state: State, value: object) -> Json:
    """What can be chosen, or the odds of one attack or Bolt; nothing changes."""
    if value == "choices":
        told = [choice_to_json(choice) for choice in legal_choices(state)]
        return {**_answered((Accepted(GO, f"{len(told)} choices; {left(state)}"),), state), "choices": told}
    choices = _choice(state, as_object(value, "ask"))
    if isinstance(choices, tuple) and isinstance(choices[0], (Attack, Bolt)):
        refused = declaration_fault(state, choices[0])
        if refused is not None:
            return _answered((refused,), state)
        dice = dice_for(state, choices[0])
        if dice is None:
            return {**_answered((Accepted(COMBAT, "only a Mage can block a Bolt"),), state), "odds": "1", "dice": None}
        chance = odds(dice)
        ruling = Accepted(COMBAT, f"{dice}: the attacker wins {chance}, {float(chance):.1%}")
        return {**_answered((ruling,), state), "odds": str(chance), "dice": _dice_to_json(dice)}
    raise InputError("ask must be choices, or an attack or a bolt")


def _dice_wanted(state: State, choice: Choice) -> Json:
    """The dice that a choice still needs, where these are all that is missing."""
    if not isinstance(choice, (Attack, Bolt)) or declaration_fault(state, choice) is not None:
        return {}
    dice = dice_for(state, choice)
    return {} if dice is None else {"dice": _dice_to_json(dice)}


def _dice_to_json(dice: Dice) -> Json:
    return {"attacker": list(dice.attacker), "defender": list(dice.defender)}


def choice_to_json(choice: Choice) -> Json:
    """A choice under the keys that a line has."""
    match choice:
        case Move():
            return {"do": Do.MOVE.value, "unit": choice.unit.letter, "path": [list(cell) for cell in choice.path]}
        case Attack():
            units = [unit.letter for unit in choice.units]
            return {"do": Do.ATTACK.value, "units": units, "target": list(choice.target), **_dice_of(choice.rolls)}
        case Bolt():
            return {"do": Do.BOLT.value, "target": list(choice.target), **_dice_of(choice.rolls)}
        case _:
            return {"do": _NAMES[choice].value}


def _dice_of(rolls: tuple[Roll, ...]) -> Json:
    return {"dice": [[list(roll.attacker), list(roll.defender)] for roll in rolls]} if rolls else {}


def order_to_json(state: State, order: Order) -> Json:
    """An order: what to do to which token, and where."""
    return {
        "do": order.do.value,
        "token": order.token.value,
        "cell": list(order.cell),
        "seat": None if order.seat is None else state.seats.index(order.seat),
        "unit": None if order.unit is None else order.unit.letter,
    }


def _answered(rulings: tuple[Ruling, ...], state: State | None) -> Json:
    """One answer for all rulings on a line: the first names the rule, all say why."""
    first = rulings[0]
    answer: Json = {
        "ruling": type(first).__name__.lower(),
        "rule": first.rule,
        "why": "; ".join(ruling.why for ruling in rulings),
        "orders": [],
        "cells": [list(cell) for ruling in rulings for cell in ruling.cells],
    }
    if isinstance(first, Undecided):
        answer["candidates"] = list(first.candidates)
    if state is None:
        return {**answer, "state": None}
    over = {} if state.result is None else dict(zip(("result", "winner"), result_to_json(state), strict=True))
    return {**answer, **over, "position": write_position(state), "state": state_to_json(state)}
