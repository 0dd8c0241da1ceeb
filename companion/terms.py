"""The words everything else speaks in: players, cells, how a piece lies, and a board's plain numbers."""

from dataclasses import dataclass
from enum import StrEnum

Cell = tuple[int, int]
"""Row and column, from 1; row 1 is player A's front row."""


class Player(StrEnum):
    """A side of the table; its disks carry the profile's colour of the same letter."""

    A = "a"
    B = "b"

    @property
    def other(self) -> "Player":
        return Player.B if self is Player.A else Player.A

    @property
    def label(self) -> str:
        """The name that rulings and results use: A or B."""
        return self.value.upper()


class Lying(StrEnum):
    """How a disk lies at rest."""

    IN_CELL = "in_cell"
    FLAT = "flat"
    TILTED = "tilted"
    LEANING = "leaning"


class Mode(StrEnum):
    """How Pathways is scored: single games, or one of the three ways to play a match."""

    BASIC = "basic"
    MATCH = "match"
    DOUBLE_ROW = "double-row"
    THREE_IN_A_ROW = "three-in-a-row"


class IllegalFlick(StrEnum):
    """The agreed remedy for an illegal flick: the disk comes off, or it is flicked again."""

    REMOVE = "remove"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class Field:
    """A slab with holes as plain numbers, under the keys of the board profile."""

    columns: int = 7
    rows: int = 8
    pitch_mm: float = 42.0
    hole_diameter_mm: float = 32.0
    disk_diameter_mm: float = 28.0
    disk_height_mm: float = 6.0
    width_mm: float = 316.0
    length_mm: float = 494.0
    launch_line_mm: float = 70.0
    first_row_mm: float = 100.0
    margin_mm: float = 32.0
    slab_mm: float = 6.0


USUAL_FIELD = Field()
"""The board that is meant where nobody says which: 7 columns, 8 rows."""
