"""`companion judge magestone`: a position as JSON, then what players choose, answered by the rules.

Seats are numbered in turn order, so that with two players the bottom seat is 1.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from companion.games import magestone
from companion.games.magestone import (
    LAYOUTS,
    SEATED,
    SEATS,
    UNITS_BY_LETTER,
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Dice,
    End,
    Hand,
    Layout,
    Move,
    NotationError,
    Nova,
    Order,
    Rite,
    Roll,
    Seat,
    State,
    Unit,
    army_of,
    as_played,
    declaration_fault,
    dice_for,
    ending,
    fault,
    flaw,
    judge,
    legal_choices,
    odds,
    on_board,
    read_go,
    read_position,
    shortest_walks,
    square_name,
    write_choice,
    write_go,
    write_position,
)
from companion.games.magestone.faults import COMBAT, GO
from companion.games.magestone.pieces import GRAVESTONES_EACH, SQUARES_A_GO, STONES_EACH, UNITS_A_GO
from companion.games.magestone.state import NO_ARMY
from companion.inputs import InputError, cell_from_json
from companion.judge.values import Json, as_object, flag, json_from_line, one_of, refuse_unknown, whole
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, Undecided
from companion.terms import Cell

_SETUP = "Setup"
_KEYS = ("setup", "do", "go", "ask")
_SETUP_KEYS = (
    *("players", "layout", "to_move", "squares_left", "units_left", "raised", "bank", "rite", "graves", "queue", "out"),
    *("stones", "units", "result", "winner", "position"),
)
_UNIT_KEYS = ("seat", "unit", "cell", "carried", "activated", "moved", "acted")
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
    if "seat" in table and _seat(state.seats, table["seat"], "seat") is not state.to_move:
        return Refused(GO, f"it is {state.to_move.label}'s go")
    keys = {
        Do.MOVE: ("do", "seat", "unit", "to" if "to" in table else "path"),
        Do.ATTACK: ("do", "seat", "units", "target", "dice"),
        Do.BOLT: ("do", "seat", "unit", "target", "dice"),
    }
    refuse_unknown(table, keys.get(do, ("do", "seat", "unit")), f"{do}: ")
    match do:
        case Do.MOVE if "to" in table:
            return _walk(state, _unit(table.get("unit")), _cell(table["to"], "to"))
        case Do.MOVE:
            return (Move(_unit(table.get("unit")), tuple(_cell(cell, "path") for cell in _list(table, "path"))),)
        case Do.ATTACK:
            units = tuple(_unit(unit) for unit in _list(table, "units"))
            return (Attack(units, _cell(table.get("target"), "target"), _rolls(table)),)
        case Do.BOLT:
            _check_actor(table, Unit.MAGE, do)
            return (Bolt(_cell(table.get("target"), "target"), _rolls(table)),)
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
    cannot = fault(state, Move(unit, ()))
    if cannot is not None and not state.armies[state.to_move].cells[unit]:
        return cannot
    why = f"{unit.label} cannot walk to {square_name(end) if on_board(end) else 'a square off the board'}"
    return Refused(GO, f"{why}; {magestone.left(state)}", cells=(end,))


def _check_actor(table: Json, actor: Unit | None, do: Do) -> None:
    if "unit" in table and _unit(table["unit"]) is not actor:
        raise InputError(f"{do}: {'no unit' if actor is None else f'only the {actor.label}'} does that")


def _rolls(table: Json) -> tuple[Roll, ...]:
    rolls = []
    for roll in _list(table, "dice") if table.get("dice") is not None else []:
        if not isinstance(roll, list) or len(roll) != 2 or not all(isinstance(side, list) for side in roll):
            raise InputError("dice must be a list of rolls, each [attacker's dice, defender's dice]")
        attacker, defender = (tuple(whole(die, "dice", least=1, most=_MOST_DICE) for die in side) for side in roll)
        rolls.append(Roll(attacker, defender))
    return tuple(rolls)


def _asked(state: State, value: object) -> Json:
    """What can be chosen, or the odds of one attack or Bolt; nothing changes."""
    if value == "choices":
        told = [choice_to_json(choice) for choice in legal_choices(state)]
        return {**_answered((Accepted(GO, f"{len(told)} choices; {magestone.left(state)}"),), state), "choices": told}
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


# The set-up


def state_from_json(table: Json) -> State:
    """The state that a set-up describes. Raises InputError or NotationError.

    What it leaves out is as at the start: so are the units of a seat of which none is named, and the stones, but for
    those that Mages hold.
    """
    refuse_unknown(table, _SETUP_KEYS, "")
    if "position" in table:
        if len(table) > 1 or not isinstance(table["position"], str):
            raise InputError("position must be text, and stand alone")
        return read_position(table["position"])
    players = whole(table.get("players", 2), "players")
    if players not in SEATED:
        raise InputError(f"players: MageStone is played by two or four, not by {players}")
    layout = one_of(Layout, table.get("layout", Layout.DIAMOND), "layout")
    seating = _Seating(SEATED[players])
    seating.read(table)
    gone = len({*seating.moved, *seating.acted})
    state = State(
        seating.seats,
        tuple(seating.armies),
        tuple(seating.hands),
        (),
        (),
        tuple(sorted(_cell(cell, "graves") for cell in _list(table, "graves"))),
        whole(table.get("bank", GRAVESTONES_EACH * players), "bank", most=GRAVESTONES_EACH * players),
        seating.to_move,
        whole(table.get("squares_left", SQUARES_A_GO), "squares_left", most=SQUARES_A_GO),
        whole(table.get("units_left", max(0, UNITS_A_GO - gone)), "units_left", most=UNITS_A_GO),
        tuple(sorted(seating.moved)),
        tuple(sorted(seating.acted)),
        flag(table, "raised"),
        tuple(seating.queue),
        tuple(sorted(seating.out)),
    )
    state = _with_rite(_with_stones(state, table, LAYOUTS[layout, players]), table.get("rite"))
    why = flaw(state)
    if why is not None:
        raise InputError(why)
    state = replace(state, result=ending(state))
    if "result" in table and (table["result"], table.get("winner")) != _result(state):
        raise InputError("result: that is not what the position shows")
    return state


class _Seating:
    """What a set-up says of the seats and their units, collected as it is read."""

    def __init__(self, seats: tuple[Seat, ...]) -> None:
        self.seats = seats
        self.to_move = seats[0]
        self.armies = [NO_ARMY] * len(SEATS)
        self.hands = [Hand()] * len(SEATS)
        self.moved: list[Unit] = []
        self.acted: list[Unit] = []
        self.queue: list[tuple[Seat, Unit]] = []
        self.out: list[Seat] = []

    def read(self, table: Json) -> None:
        """Raises InputError."""
        for entry in _list(table, "out"):
            self._read_out(entry)
        self._read_to_move(table.get("to_move"))
        cells: dict[Seat, dict[Unit, Cell]] = {seat: {} for seat in self.seats}
        for entry in _list(table, "units"):
            self._read_unit(as_object(entry, "units"), cells)
        for entry in _list(table, "queue"):
            self._read_waiting(entry)
        named = {*self.out, *(seat for seat, _ in self.queue)}
        for seat, placed in cells.items():
            if placed:
                self.armies[seat] = army_of(tuple(placed.get(unit) for unit in Unit))
            elif seat not in named:
                self.armies[seat] = army_of(magestone.HOMES[seat])

    def _read_to_move(self, value: object) -> None:
        if value is not None:
            self.to_move = _seat(self.seats, value, "to_move")
        else:
            self.to_move = next((seat for seat in self.seats if seat not in self.out), self.to_move)

    def _read_unit(self, entry: Json, cells: dict[Seat, dict[Unit, Cell]]) -> None:
        refuse_unknown(entry, _UNIT_KEYS, "units: ")
        seat, unit = _seat(self.seats, entry.get("seat"), "seat"), _unit(entry.get("unit"))
        cell = _cell(entry.get("cell"), "cell")
        if not on_board(cell):
            raise InputError(f"units: {unit.letter} stands on {list(cell)}, which is not on the board")
        if unit in cells[seat] or cell in cells[seat].values():
            raise InputError(f"units: {unit.letter} on {list(cell)} is there twice, or two stand on that square")
        cells[seat][unit] = cell
        self._read_hand(entry, seat, unit)

    def _read_waiting(self, entry: object) -> None:
        if isinstance(entry, list) and len(entry) == 2:
            entry = {"seat": entry[0], "unit": entry[1]}
        told = as_object(entry, "queue")
        refuse_unknown(told, [key for key in _UNIT_KEYS if key != "cell"], "queue: ")
        seat, unit = _seat(self.seats, told.get("seat"), "seat"), _unit(told.get("unit"))
        self.queue.append((seat, unit))
        self._read_hand(told, seat, unit)

    def _read_hand(self, entry: Json, seat: Seat, unit: Unit) -> None:
        if unit is Unit.MAGE:
            self.hands[seat] = _hand(entry)
        elif entry.get("carried") or entry.get("activated"):
            raise InputError(f"{unit.letter} holds no stones: only a Mage does")
        for key, units in (("moved", self.moved), ("acted", self.acted)):
            if flag(entry, key):
                if seat is not self.to_move:
                    raise InputError(f"{key}: only units of the seat to move have {key}")
                units.append(unit)

    def _read_out(self, entry: object) -> None:
        told = {"seat": entry} if isinstance(entry, int) else as_object(entry, "out")
        refuse_unknown(told, ("seat", "carried", "activated"), "out: ")
        seat = _seat(self.seats, told.get("seat"), "seat")
        self.out.append(seat)
        self.hands[seat] = _hand(told)


def _with_stones(state: State, table: Json, layout: tuple[Cell, ...]) -> State:
    if "stones" not in table:
        held = sum(hand.carried + hand.activated for hand in state.hands)
        return replace(state, unactivated=tuple(sorted(layout[: max(0, len(layout) - held)])))
    lying: dict[bool, list[Cell]] = {False: [], True: []}
    for entry in _list(table, "stones"):
        told = as_object(entry, "stones")
        refuse_unknown(told, ("cell", "activated"), "stones: ")
        lying[flag(told, "activated")].append(_cell(told.get("cell"), "stones"))
    return replace(state, unactivated=tuple(sorted(lying[False])), activated=tuple(sorted(lying[True])))


def _with_rite(state: State, value: object) -> State:
    if value is None:
        return state
    told = as_object(value, "rite")
    refuse_unknown(told, ("seat", "returns_left"), "rite: ")
    left = whole(told.get("returns_left", state.returns), "returns_left", most=state.returns)
    return replace(state, rite=Rite(_seat(state.seats, told.get("seat"), "seat"), left))


def _hand(entry: Mapping[str, Any]) -> Hand:
    most = STONES_EACH * len(SEATS)
    return Hand(
        whole(entry.get("carried", 0), "carried", most=most), whole(entry.get("activated", 0), "activated", most=most)
    )


def _seat(seats: tuple[Seat, ...], value: object, key: str) -> Seat:
    return seats[whole(value, key, most=len(seats) - 1)]


def _unit(value: object) -> Unit:
    if isinstance(value, str) and value in UNITS_BY_LETTER:
        return UNITS_BY_LETTER[value]
    raise InputError(f"a unit is one of {', '.join(UNITS_BY_LETTER)}")


def _cell(value: object, key: str) -> Cell:
    cell = cell_from_json(value)
    if cell is None or not all(-1 <= part <= 16 for part in cell):
        raise InputError(f"{key}: a cell is [row, column], from 0 to 15")
    return cell


def _list(table: Json, key: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{key} must be a list")
    return value


# Answers


def state_to_json(state: State) -> Json:
    """A state in the set-up's form."""
    seats, rite = state.seats, state.rite
    stones = [*((cell, False) for cell in state.unactivated), *((cell, True) for cell in state.activated)]
    over = {} if state.result is None else dict(zip(("result", "winner"), _result(state), strict=True))
    return {
        "players": len(seats),
        "to_move": seats.index(state.to_move),
        "squares_left": state.squares_left,
        "units_left": state.units_left,
        "raised": state.raised,
        "bank": state.bank,
        "rite": None if rite is None else {"seat": seats.index(rite.seat), "returns_left": rite.returns_left},
        "graves": [list(cell) for cell in state.graves],
        "queue": [_unit_to_json(state, seat, unit) for seat, unit in state.queue],
        "out": [{"seat": seats.index(seat), **_hand_to_json(state.hands[seat])} for seat in state.out],
        "stones": [{"cell": list(cell), "activated": activated} for cell, activated in sorted(stones)],
        "units": [
            {**_unit_to_json(state, seat, unit), "cell": list(cell)}
            for seat in seats
            for unit, cell in zip(Unit, state.armies[seat].cells, strict=True)
            if cell is not None
        ],
        **over,
    }


def _unit_to_json(state: State, seat: Seat, unit: Unit) -> Json:
    mine = seat is state.to_move
    return {
        "seat": state.seats.index(seat),
        "unit": unit.letter,
        **(_hand_to_json(state.hands[seat]) if unit is Unit.MAGE else {}),
        "moved": mine and unit in state.moved,
        "acted": mine and unit in state.acted,
    }


def _hand_to_json(hand: Hand) -> Json:
    return {"carried": hand.carried, "activated": hand.activated}


def _result(state: State) -> tuple[str | None, int | None]:
    result = state.result
    if result is None:
        return None, None
    return result.ending.value, None if result.winner is None else state.seats.index(result.winner)


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
    over = {} if state.result is None else dict(zip(("result", "winner"), _result(state), strict=True))
    return {**answer, **over, "position": write_position(state), "state": state_to_json(state)}
