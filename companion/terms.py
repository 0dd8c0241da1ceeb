"""The words everything else speaks in: players, cells and how a piece lies."""

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


class Lying(StrEnum):
    """How a disk lies at rest."""

    IN_CELL = "in_cell"
    FLAT = "flat"
    TILTED = "tilted"
    LEANING = "leaning"
