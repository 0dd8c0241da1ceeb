"""The board of MageStone: squares, bases, the Nexus and where things start, as cells and as bits of an integer.

A cell is (row, column) from 0, row 0 at the top edge. On paper it is the column's letter and the row: (4, 7) is h4.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from companion.games.magestone.pieces import SEATS, WARRIORS, Seat, Unit
from companion.terms import Cell

WIDTH: Final = 16
NEXUS: Final = frozenset({(7, 7), (7, 8), (8, 7), (8, 8)})

STRIDE: Final = WIDTH + 1
"""Bits from one row to the next; the bit between them is no square, so that a shift to the side cannot change rows."""
LANE: Final = STRIDE * (WIDTH + 1)
"""Bits of a whole board, with a row at its end that is none: several boards lie side by side in one integer."""


def on_board(cell: Cell) -> bool:
    """Whether there is such a square: the corners are cut in four steps."""
    row, column = cell
    inset = max(0, 4 - min(row, WIDTH - 1 - row))
    return 0 <= row < WIDTH and inset <= column < WIDTH - inset


CELLS: Final = tuple((row, column) for row in range(WIDTH) for column in range(WIDTH) if on_board((row, column)))
"""Every square, row by row."""

BIT: Final[dict[Cell | None, int]] = {None: 0, **{(row, column): 1 << row * STRIDE + column for row, column in CELLS}}
"""The bit of each square; none for a unit that is on no square."""

ON_BOARD: Final = sum(BIT.values())
NEXUS_BITS: Final = sum(BIT[cell] for cell in NEXUS)


def cell_at(bit: int) -> Cell:
    """The cell of a single bit."""
    return divmod(bit.bit_length() - 1, STRIDE)


def cells_of(bits: int) -> Iterator[Cell]:
    """The cells of all bits, row by row."""
    while bits:
        lowest = bits & -bits
        yield cell_at(lowest)
        bits ^= lowest


def spread(bits: int) -> int:
    """The bits, those orthogonally next to them, and some that are no squares."""
    return bits | bits << 1 | bits >> 1 | bits << STRIDE | bits >> STRIDE


def distance(a: Cell, b: Cell) -> int:
    """Orthogonal steps from one cell to another."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _steps(cell: Cell, steps: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return tuple((cell[0] + down, cell[1] + right) for down, right in steps)


DIAGONALS: Final = {cell: _steps(cell, ((-1, -1), (-1, 1), (1, -1), (1, 1))) for cell in CELLS}
"""The four cells diagonally next to each square, also those off the board."""

NEIGHBOURS: Final = {
    cell: frozenset(filter(on_board, _steps(cell, ((-1, 0), (0, -1), (0, 1), (1, 0))))) for cell in CELLS
}
"""The squares orthogonally next to each."""

AROUND_BITS: Final = {
    cell: sum(BIT[near] for near in (*DIAGONALS[cell], *NEIGHBOURS[cell]) if on_board(near)) for cell in CELLS
}
"""The up to eight squares around each."""

WITHIN_BITS: Final = {
    cell: tuple(sum(BIT[other] for other in CELLS if distance(cell, other) <= steps) for steps in range(7))
    for cell in CELLS
}
"""The squares within 0 to 6 steps of each, whatever stands between."""


def _turned(cell: Cell, seat: Seat) -> Cell:
    """The top player's cell as it lies for another seat."""
    for _ in range(seat):
        cell = (cell[1], WIDTH - 1 - cell[0])
    return cell


BASES: Final = {seat: tuple(_turned((0, column), seat) for column in range(4, 12)) for seat in SEATS}
"""The eight squares of each home edge, by slot: left to right as the top player's are on paper."""

BASE_BITS: Final = {seat: sum(BIT[cell] for cell in BASES[seat]) for seat in SEATS}

_SLOTS = {Unit.MAGE: 4, Unit.PRIEST: 3, **dict(zip(WARRIORS, (0, 1, 2, 5, 6, 7), strict=True))}

HOMES: Final = {seat: tuple(BASES[seat][_SLOTS[unit]] for unit in Unit) for seat in SEATS}
"""Where each unit starts."""


class Layout(StrEnum):
    """How the stones lie at the start."""

    DIAMOND = "diamond"
    SQUARE = "square"


_DIAMOND = ((4, 7), (4, 8), (7, 4), (7, 11), (8, 4), (8, 11), (11, 7), (11, 8))
_SQUARE = ((4, 4), (4, 11), (6, 6), (6, 9), (9, 6), (9, 9), (11, 4), (11, 11))

LAYOUTS: Final[dict[tuple[Layout, int], tuple[Cell, ...]]] = {
    (Layout.DIAMOND, 2): _DIAMOND,
    (Layout.DIAMOND, 4): (*_DIAMOND, (5, 6), (5, 9), (6, 5), (6, 10), (9, 5), (9, 10), (10, 6), (10, 9)),
    (Layout.SQUARE, 2): _SQUARE,
    (Layout.SQUARE, 4): (*_SQUARE, *_DIAMOND),
}
"""The stones' squares by layout and number of players."""


def square_name(cell: Cell) -> str:
    """(4, 7) is h4."""
    return f"{chr(ord('a') + cell[1])}{cell[0]}"


def square_from_name(name: str) -> Cell:
    """The cell of a name: a letter and a number; it may be off the board."""
    return int(name[1:]), ord(name[0]) - ord("a")
