"""A position as one line of text, read and written without loss, and what makes a position impossible.

Eight words: the number of players; the armies in turn order with `/` between; the stones; the graves; the bank; the
go; the queue; the Rite. As after a few goes of two:

    2 Mi0(2+3),Ph0,W1e2',W2f0!/Mh15,Pi15,W1l15 h4,i4*,i4* f5 7 0:4:1 1P 0:2

A Mage's hand is Unactivated + Activated; `'` is a unit that has moved in this go, `!` one that has acted; `*` an
Activated stone; an army that is eliminated is `x`, with what its Mage held. The go is whose it is, by turn order from
0, the squares and the units left, and an `r` where a Warrior was raised in it. The queue has player and unit, the Rite
its player and how often play has still to come back. `-` is nothing.
"""

import re
from dataclasses import replace
from typing import Final

from companion.games.magestone.board import NEXUS, on_board, square_from_name, square_name
from companion.games.magestone.defeats import can_hold_rite, free_home
from companion.games.magestone.endings import ending
from companion.games.magestone.pieces import (
    GRAVESTONES_EACH,
    SEATED,
    SEATS,
    SQUARES_A_GO,
    STONES_EACH,
    UNITS_A_GO,
    UNITS_BY_LETTER,
    Hand,
    Rite,
    Seat,
    Unit,
)
from companion.games.magestone.state import NO_ARMY, Army, State, army_of
from companion.terms import Cell

_SQUARE: Final = r"([a-p](?:[0-9]|1[0-5]))"
_HAND: Final = r"(?:\(([0-9]{1,2})\+([0-9]{1,2})\))?"
_UNIT: Final = re.compile(rf"(M|P|W[1-6]){_SQUARE}{_HAND}('?)(!?)")
_OUT: Final = re.compile(rf"x{_HAND}")
_STONE: Final = re.compile(rf"{_SQUARE}(\*?)")
_GO: Final = re.compile(r"([0-3]):([0-6]):([0-3])(r?)")
_WAITING: Final = re.compile(rf"([0-3])([MP]){_HAND}('?)(!?)")
_RITE: Final = re.compile(r"([0-3]):([0-2])")


class NotationError(ValueError):
    """A text that is no position, go or record, or one that breaks the rules; the message says where and why."""


def write_position(state: State) -> str:
    """A state as text."""
    stones = [*((cell, "") for cell in state.unactivated), *((cell, "*") for cell in state.activated)]
    seats = state.seats
    rite = state.rite
    words = (
        str(len(seats)),
        "/".join(_army(state, seat) for seat in seats),
        ",".join(square_name(cell) + mark for cell, mark in stones),
        ",".join(map(square_name, state.graves)),
        str(state.bank),
        f"{seats.index(state.to_move)}:{state.squares_left}:{state.units_left}{'r' if state.raised else ''}",
        ",".join(f"{seats.index(seat)}{unit.letter}{_hand_and_marks(state, seat, unit)}" for seat, unit in state.queue),
        "" if rite is None else f"{seats.index(rite.seat)}:{rite.returns_left}",
    )
    return " ".join(word or "-" for word in words)


def _army(state: State, seat: Seat) -> str:
    if seat in state.out:
        return f"x{_hand(state.hands[seat])}"
    cells = state.armies[seat].cells
    return ",".join(
        f"{unit.letter}{square_name(cell)}{_hand_and_marks(state, seat, unit)}"
        for unit, cell in zip(Unit, cells, strict=True)
        if cell is not None
    )


def _hand_and_marks(state: State, seat: Seat, unit: Unit) -> str:
    mine = seat is state.to_move
    marks = "'" * (mine and unit in state.moved) + "!" * (mine and unit in state.acted)
    return (_hand(state.hands[seat]) if unit is Unit.MAGE else "") + marks


def _hand(hand: Hand) -> str:
    return "" if hand == Hand() else f"({hand.carried}+{hand.activated})"


def read_position(text: str) -> State:
    """The state in a text. Raises NotationError."""
    words = text.split()
    if len(words) != 8:
        raise NotationError(f"position {text[:80]!r}: write players, armies, stones, graves, bank, go, queue, Rite")
    players, armies, stones, graves, bank, go, queue, rite = ("" if word == "-" else word for word in words)
    if players not in map(str, SEATED):
        raise NotationError(f"position: MageStone is played by two or four, not by {players[:20]}")
    seats = SEATED[int(players)]
    left = _match(_GO, go, "go, as 0:6:3")
    to_move = _seat(seats, left[1])
    reader = _Reader(seats, to_move)
    reader.read_armies(armies)
    reader.read_queue(queue)
    lying = [_match(_STONE, word, "stone, as h4*") for word in _split(stones)]
    if not re.fullmatch(r"[0-9]{1,2}", bank):
        raise NotationError(f"position: {bank[:20]!r} is no bank")
    running = _match(_RITE, rite, "Rite, as 0:2") if rite else None
    state = State(
        seats,
        tuple(reader.armies),
        tuple(reader.hands),
        tuple(sorted(square_from_name(stone[1]) for stone in lying if not stone[2])),
        tuple(sorted(square_from_name(stone[1]) for stone in lying if stone[2])),
        tuple(sorted(square_from_name(_match(re.compile(_SQUARE), word, "grave")[1]) for word in _split(graves))),
        int(bank),
        to_move,
        int(left[2]),
        int(left[3]),
        tuple(sorted(reader.moved)),
        tuple(sorted(reader.acted)),
        bool(left[4]),
        tuple(reader.queue),
        tuple(reader.out),
        None if running is None else Rite(_seat(seats, running[1]), int(running[2])),
    )
    why = flaw(state)
    if why is not None:
        raise NotationError(f"position: {why}")
    return replace(state, result=ending(state))


class _Reader:
    """What the words of a position say of the seats, collected as they are read."""

    def __init__(self, seats: tuple[Seat, ...], to_move: Seat) -> None:
        self._seats, self._to_move = seats, to_move
        self.armies: list[Army] = [NO_ARMY] * len(SEATS)
        self.hands = [Hand()] * len(SEATS)
        self.moved: list[Unit] = []
        self.acted: list[Unit] = []
        self.queue: list[tuple[Seat, Unit]] = []
        self.out: list[Seat] = []

    def read_armies(self, text: str) -> None:
        """Raises NotationError."""
        parts = text.split("/")
        if len(parts) != len(self._seats):
            raise NotationError(f"position: {len(parts)} armies for {len(self._seats)} players")
        for seat, part in zip(self._seats, parts, strict=True):
            if gone := _OUT.fullmatch(part):
                self.out.append(seat)
                self.hands[seat] = Hand(int(gone[1] or 0), int(gone[2] or 0))
            else:
                self._read_army(seat, part)

    def _read_army(self, seat: Seat, text: str) -> None:
        cells: list[Cell | None] = [None] * len(Unit)
        for word in _split(text):
            letter, name, *rest = _match(_UNIT, word, "unit, as W1e0").groups()
            unit = UNITS_BY_LETTER[letter]
            if cells[unit] is not None:
                raise NotationError(f"position: {letter} stands twice among the units of one player")
            cells[unit] = square_from_name(name)
            self._read_rest(seat, unit, rest, word)
        standing = [cell for cell in cells if cell is not None]
        if len(set(standing)) < len(standing) or not all(map(on_board, standing)):
            raise NotationError(f"position: {text[:80]}: two units on one square, or one off the board")
        self.armies[seat] = army_of(tuple(cells))

    def read_queue(self, text: str) -> None:
        """Raises NotationError."""
        for word in _split(text):
            number, letter, *rest = _match(_WAITING, word, "unit that waits, as 0M").groups()
            seat, unit = _seat(self._seats, number), UNITS_BY_LETTER[letter]
            self.queue.append((seat, unit))
            self._read_rest(seat, unit, rest, word)

    def _read_rest(self, seat: Seat, unit: Unit, rest: list[str | None], word: str) -> None:
        """What stands after a unit: the Mage's hand, and the marks for moved and acted."""
        carried, activated, moved, acted = rest
        if carried is not None and unit is not Unit.MAGE:
            raise NotationError(f"position: {word}: only a Mage holds stones")
        if (moved or acted) and seat is not self._to_move:
            raise NotationError(f"position: {word}: only units of who has the go have moved or acted")
        if unit is Unit.MAGE:
            self.hands[seat] = Hand(int(carried or 0), int(activated or 0))
        self.moved += [unit] if moved else []
        self.acted += [unit] if acted else []


def _split(text: str) -> list[str]:
    return text.split(",") if text else []


def _match(pattern: re.Pattern[str], text: str, what: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise NotationError(f"position: {text[:40]!r} is no {what}")
    return found


def _seat(seats: tuple[Seat, ...], number: str) -> Seat:
    if int(number) >= len(seats):
        raise NotationError(f"position: there is no player {number}")
    return seats[int(number)]


def flaw(state: State) -> str | None:
    """Why a state cannot be; None where it can. Each army is possible in itself."""
    return _place_flaw(state) or _count_flaw(state) or _seat_flaw(state) or _go_flaw(state) or _rite_flaw(state)


def _place_flaw(state: State) -> str | None:
    taken: set[Cell] = set()
    for seat in state.seats:
        for cell in state.armies[seat].cells:
            if cell is not None and cell in taken:
                return f"two units stand on {square_name(cell)}"
            taken |= set() if cell is None else {cell}
    for cell in (*state.unactivated, *state.activated, *state.graves):
        if not on_board(cell):
            return f"{cell} is not on the board"
    for cell in state.graves:
        if cell in NEXUS or state.graves.count(cell) > 1:
            return f"{square_name(cell)} cannot have that gravestone: never on the Nexus, never two on one square"
    return None


def _count_flaw(state: State) -> str | None:
    players = len(state.seats)
    stones = len(state.unactivated) + len(state.activated)
    stones += sum(hand.carried + hand.activated for hand in state.hands)
    if stones > STONES_EACH * players:
        return f"there are {stones} stones, and {STONES_EACH * players} in a game of {players}"
    if state.bank > GRAVESTONES_EACH * players or len(state.graves) > GRAVESTONES_EACH * players:
        return f"bank and graves have {GRAVESTONES_EACH * players} gravestones at most"
    return None


def _seat_flaw(state: State) -> str | None:
    for seat in state.seats:
        waiting = [unit for other, unit in state.queue if other is seat]
        cells = state.armies[seat].cells
        if (seat in state.out) == bool(state.armies[seat].bits):
            return f"{seat.label} is out, and only then, without a unit on the board"
        if seat in state.out and waiting:
            return f"{seat.label} is out, so nobody waits to respawn"
        for unit in waiting:
            if unit not in (Unit.MAGE, Unit.PRIEST) or waiting.count(unit) > 1 or cells[unit] is not None:
                return f"{seat.label}'s {unit.label} cannot wait to respawn"
            if free_home(state, seat, unit) is not None:
                return f"{seat.label}'s {unit.label} has no reason to wait: its base is clear"
        if Unit.MAGE in waiting and state.hands[seat].carried:
            return f"{seat.label}'s Mage waits to respawn, so it has dropped what it carried"
    return "everyone is out" if not state.remaining else None


def _go_flaw(state: State) -> str | None:
    if state.to_move in state.out and (state.squares_left or state.units_left):
        return f"{state.to_move.label} is out, so nothing is left of its go"
    gone = len({*state.moved, *state.acted})
    if not 0 <= state.squares_left <= SQUARES_A_GO or not 0 <= state.units_left <= UNITS_A_GO - gone:
        return f"of {SQUARES_A_GO} squares and {UNITS_A_GO} units no more can be left than nobody has used"
    return None


def _rite_flaw(state: State) -> str | None:
    rite = state.rite
    if rite is None:
        return None
    if not can_hold_rite(state, rite.seat):
        return "a Rite needs its Priest on the Nexus, and no enemy there"
    if not 0 <= rite.returns_left <= state.returns:
        return f"a Rite is won once play has come back {state.returns} times"
    return None
