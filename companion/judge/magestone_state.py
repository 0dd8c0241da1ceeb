"""A position of MageStone as JSON: the set-up that `companion judge magestone` takes and the state that it answers.

Seats are numbered in turn order, so that with two players the bottom seat is 1.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from companion.games.magestone import (
    HOMES,
    LAYOUTS,
    SEATED,
    SEATS,
    UNITS_BY_LETTER,
    Hand,
    Layout,
    Rite,
    Seat,
    State,
    Unit,
    army_of,
    ending,
    flaw,
    on_board,
    read_position,
)
from companion.games.magestone.pieces import GRAVESTONES_EACH, SQUARES_A_GO, STONES_EACH, UNITS_A_GO
from companion.games.magestone.state import NO_ARMY
from companion.inputs import InputError, cell_from_json
from companion.judge.values import Json, as_object, flag, one_of, refuse_unknown, whole
from companion.terms import Cell

_SETUP_KEYS = (
    *("players", "layout", "to_move", "squares_left", "units_left", "raised", "bank", "rite", "graves", "queue", "out"),
    *("stones", "units", "result", "winner", "position"),
)
_UNIT_KEYS = ("seat", "unit", "cell", "carried", "activated", "moved", "acted")


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
        tuple(sorted(cell_of(cell, "graves") for cell in list_of(table, "graves"))),
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
    said = (table.get("result"), table.get("winner"))
    if not table.keys().isdisjoint({"result", "winner"}) and said != result_to_json(state):
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
        for entry in list_of(table, "out"):
            self._read_out(entry)
        self._read_to_move(table.get("to_move"))
        cells: dict[Seat, dict[Unit, Cell]] = {seat: {} for seat in self.seats}
        for entry in list_of(table, "units"):
            self._read_unit(as_object(entry, "units"), cells)
        for entry in list_of(table, "queue"):
            self._read_waiting(entry)
        named = {*self.out, *(seat for seat, _ in self.queue)}
        for seat, placed in cells.items():
            if placed:
                self.armies[seat] = army_of(tuple(placed.get(unit) for unit in Unit))
            elif seat not in named:
                self.armies[seat] = army_of(HOMES[seat])

    def _read_to_move(self, value: object) -> None:
        if value is not None:
            self.to_move = seat_of(self.seats, value, "to_move")
        else:
            self.to_move = next((seat for seat in self.seats if seat not in self.out), self.to_move)

    def _read_unit(self, entry: Json, cells: dict[Seat, dict[Unit, Cell]]) -> None:
        refuse_unknown(entry, _UNIT_KEYS, "units: ")
        seat, unit = seat_of(self.seats, entry.get("seat"), "seat"), unit_of(entry.get("unit"))
        cell = cell_of(entry.get("cell"), "cell")
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
        seat, unit = seat_of(self.seats, told.get("seat"), "seat"), unit_of(told.get("unit"))
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
        seat = seat_of(self.seats, told.get("seat"), "seat")
        if seat in self.out:
            raise InputError("out: a seat is there twice")
        self.out.append(seat)
        self.hands[seat] = _hand(told)


def _with_stones(state: State, table: Json, layout: tuple[Cell, ...]) -> State:
    if "stones" not in table:
        held = sum(hand.carried + hand.activated for hand in state.hands)
        return replace(state, unactivated=tuple(sorted(layout[: max(0, len(layout) - held)])))
    lying: dict[bool, list[Cell]] = {False: [], True: []}
    for entry in list_of(table, "stones"):
        told = as_object(entry, "stones")
        refuse_unknown(told, ("cell", "activated"), "stones: ")
        lying[flag(told, "activated")].append(cell_of(told.get("cell"), "stones"))
    return replace(state, unactivated=tuple(sorted(lying[False])), activated=tuple(sorted(lying[True])))


def _with_rite(state: State, value: object) -> State:
    if value is None:
        return state
    told = as_object(value, "rite")
    refuse_unknown(told, ("seat", "returns_left"), "rite: ")
    left = whole(told.get("returns_left", state.returns), "returns_left", most=state.returns)
    return replace(state, rite=Rite(seat_of(state.seats, told.get("seat"), "seat"), left))


def _hand(entry: Mapping[str, Any]) -> Hand:
    most = STONES_EACH * len(SEATS)
    return Hand(
        whole(entry.get("carried", 0), "carried", most=most), whole(entry.get("activated", 0), "activated", most=most)
    )


def state_to_json(state: State) -> Json:
    """A state in the set-up's form."""
    seats, rite = state.seats, state.rite
    stones = [*((cell, False) for cell in state.unactivated), *((cell, True) for cell in state.activated)]
    over = {} if state.result is None else dict(zip(("result", "winner"), result_to_json(state), strict=True))
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


def result_to_json(state: State) -> tuple[str | None, int | None]:
    """How the game ended, and the winner's number; None for what there is not."""
    result = state.result
    if result is None:
        return None, None
    return result.ending.value, None if result.winner is None else state.seats.index(result.winner)


def seat_of(seats: tuple[Seat, ...], value: object, key: str) -> Seat:
    """The seat of a number in turn order. Raises InputError."""
    return seats[whole(value, key, most=len(seats) - 1)]


def unit_of(value: object) -> Unit:
    """The unit of its letter. Raises InputError."""
    if isinstance(value, str) and value in UNITS_BY_LETTER:
        return UNITS_BY_LETTER[value]
    raise InputError(f"a unit is one of {', '.join(UNITS_BY_LETTER)}")


def cell_of(value: object, key: str) -> Cell:
    """Row and column, on the board or just off it. Raises InputError."""
    cell = cell_from_json(value)
    if cell is None or not all(-1 <= part <= 16 for part in cell):
        raise InputError(f"{key}: a cell is [row, column], from 0 to 15")
    return cell


def list_of(table: Json, key: str) -> list[Any]:
    """The list under a key; an empty one where it is left out. Raises InputError."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{key} must be a list")
    return value
