"""One game of MageStone as a frozen value: where everything is, what is left of the go, and a new game."""

from dataclasses import dataclass
from typing import Final

from companion.games.magestone.board import BIT, HOMES, LAYOUTS, Layout
from companion.games.magestone.pieces import (
    GRAVESTONES_EACH,
    SEATED,
    SEATS,
    SQUARES_A_GO,
    UNITS_A_GO,
    WARRIORS,
    Hand,
    Result,
    Rite,
    Seat,
    Unit,
)
from companion.terms import Cell


@dataclass(frozen=True, slots=True)
class Army:
    """Where each unit of a seat stands, None for one that is not on the board; `army_of` makes it."""

    cells: tuple[Cell | None, ...]
    bits: int
    """The same squares as bits, kept because every choice asks for them"""

    def placed(self, unit: Unit, cell: Cell | None) -> "Army":
        """The army with one unit on another square, or on none."""
        cells = self.cells
        return Army((*cells[:unit], cell, *cells[unit + 1 :]), self.bits ^ BIT[cells[unit]] ^ BIT[cell])


def army_of(cells: tuple[Cell | None, ...]) -> Army:
    """The army with its units, Mage first, on these squares, no two on the same."""
    return Army(cells, sum(BIT[cell] for cell in cells))


NO_ARMY: Final = army_of((None,) * len(Unit))


@dataclass(frozen=True, slots=True)
class State:
    """A game between any two choices. `armies` and `hands` are by seat, four of them whoever plays."""

    seats: tuple[Seat, ...]
    """Who plays, in turn order, as the game began"""
    armies: tuple[Army, ...]
    hands: tuple[Hand, ...]
    unactivated: tuple[Cell, ...]
    """The squares of the stones on the board, sorted, one entry a stone"""
    activated: tuple[Cell, ...]
    graves: tuple[Cell, ...]
    bank: int
    to_move: Seat
    squares_left: int = SQUARES_A_GO
    units_left: int = UNITS_A_GO
    moved: tuple[Unit, ...] = ()
    """Which units of the player to move have moved in this go, and which have acted, sorted"""
    acted: tuple[Unit, ...] = ()
    raised: bool = False
    """Whether a Warrior was raised in this go"""
    queue: tuple[tuple[Seat, Unit], ...] = ()
    """Who waits to respawn, first come first"""
    out: tuple[Seat, ...] = ()
    """Who is eliminated; what their Mages held is out with them"""
    rite: Rite | None = None
    result: Result | None = None

    @property
    def remaining(self) -> tuple[Seat, ...]:
        """Who is not eliminated, in turn order."""
        return tuple(seat for seat in self.seats if seat not in self.out)

    @property
    def next_seat(self) -> Seat:
        """Who has the go after this one."""
        seats = self.seats
        place = seats.index(self.to_move)
        for seat in (*seats[place + 1 :], *seats[:place]):
            if seat not in self.out:
                return seat
        return self.to_move

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has been done in this go."""
        return not self.moved and not self.acted and self.units_left == UNITS_A_GO

    @property
    def returns(self) -> int:
        """How often play has to come back to a player who begins the Rite."""
        return 2 if len(self.seats) == 2 else 1

    def warriors(self, seat: Seat) -> int:
        """How many Warriors of a seat are alive."""
        return len(WARRIORS) - self.armies[seat].cells[WARRIORS[0] :].count(None)

    def unit_at(self, cell: Cell) -> tuple[Seat, Unit] | None:
        """The unit on a square."""
        for seat in self.seats:
            if cell in self.armies[seat].cells:
                return seat, Unit(self.armies[seat].cells.index(cell))
        return None

    def stones_at(self, cell: Cell) -> Hand:
        """The stones that lie on a square."""
        return Hand(self.unactivated.count(cell), self.activated.count(cell))


def start(players: int = 2, layout: Layout = Layout.DIAMOND) -> State:
    """A new game. Raises ValueError for another number of players than two or four."""
    if players not in SEATED:
        raise ValueError(f"MageStone is played by two or four, not by {players}")
    seats = SEATED[players]
    return State(
        seats,
        tuple(army_of(HOMES[seat]) if seat in seats else NO_ARMY for seat in SEATS),
        (Hand(),) * len(SEATS),
        tuple(sorted(LAYOUTS[layout, players])),
        (),
        (),
        GRAVESTONES_EACH * players,
        seats[0],
    )


def with_army(armies: tuple[Army, ...], seat: Seat, army: Army) -> tuple[Army, ...]:
    """The armies with one of them changed."""
    return (*armies[:seat], army, *armies[seat + 1 :])


def taken_bits(state: State) -> int:
    """The squares of all units as bits."""
    top, right, bottom, left = state.armies
    return top.bits | right.bits | bottom.bits | left.bits


def enemy_bits(state: State, seat: Seat) -> int:
    """The squares of all others' units as bits."""
    return taken_bits(state) ^ state.armies[seat].bits
