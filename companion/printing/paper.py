"""Paper, and how a drawing larger than a page is cut into tiles.

Neighbouring tiles share a strip: a tile is cut along its left and top edges and glued over the strip of the one before.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

MARGIN_MM = 10.0
"""Round every page: printers leave up to this blank."""
OVERLAP_MM = 10.0
MOST_PAGES = 60
_ROUNDING_MM = 1e-6


class Paper(StrEnum):
    """Sizes of paper."""

    A4 = "a4"
    A3 = "a3"
    LETTER = "letter"

    def size_mm(self, *, turned: bool = False) -> tuple[float, float]:
        """Width and length, upright or turned."""
        width_mm, length_mm = _SIZES_MM[self]
        return (length_mm, width_mm) if turned else (width_mm, length_mm)


_SIZES_MM = {Paper.A4: (210.0, 297.0), Paper.A3: (297.0, 420.0), Paper.LETTER: (215.9, 279.4)}


@dataclass(frozen=True, slots=True)
class Tile:
    """The part of a drawing on one page; column and row from 0."""

    column: int
    row: int
    left_mm: float
    top_mm: float
    width_mm: float
    length_mm: float


@dataclass(frozen=True, slots=True)
class Tiling:
    """A drawing on pages of one size, row by row."""

    page_mm: tuple[float, float]
    columns: int
    rows: int
    tiles: tuple[Tile, ...]


def tile(width_mm: float, length_mm: float, paper: Paper) -> Tiling:
    """A drawing of this size on the fewest pages. Raises ValueError above MOST_PAGES."""
    ways = []
    for turned in (False, True):
        page_mm = paper.size_mm(turned=turned)
        columns, rows = _count(width_mm, page_mm[0]), _count(length_mm, page_mm[1])
        ways.append((columns * rows, columns, rows, page_mm))
    pages, columns, rows, page_mm = min(ways, key=lambda way: way[0])
    if pages > MOST_PAGES:
        raise ValueError(
            f"{width_mm:g} x {length_mm:g} mm take {pages} pages of {paper.upper()}, and at most {MOST_PAGES} are "
            "printed; give larger --paper, or check the board's sizes"
        )
    wide_mm, long_mm = _length(width_mm, columns), _length(length_mm, rows)
    return Tiling(
        page_mm,
        columns,
        rows,
        tuple(
            Tile(column, row, column * (wide_mm - OVERLAP_MM), row * (long_mm - OVERLAP_MM), wide_mm, long_mm)
            for row in range(rows)
            for column in range(columns)
        ),
    )


def printable_mm(page_mm: tuple[float, float]) -> tuple[float, float]:
    """Width and length within the margins."""
    return page_mm[0] - 2 * MARGIN_MM, page_mm[1] - 2 * MARGIN_MM


def _count(drawn_mm: float, page_mm: float) -> int:
    room_mm = page_mm - 2 * MARGIN_MM
    return max(1, math.ceil((drawn_mm - OVERLAP_MM - _ROUNDING_MM) / (room_mm - OVERLAP_MM)))


def _length(drawn_mm: float, count: int) -> float:
    return (drawn_mm + (count - 1) * OVERLAP_MM) / count
