"""What is seen on a board: single sightings, and the reading of one picture."""

from dataclasses import dataclass
from typing import Literal

LyingSeen = Literal["in_cell", "flat", "tilted", "leaning"]

_PERHAPS_TILTED = 0.12
"""From this chance on a disk that looks flat in its hole may be tilted: on the demo's table one in 200 flat disks has a
larger one, and all but one of 2,592 tilted ones have."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One piece seen; its true centre lies within 2 `sigma_mm` of `centre_mm` in 95 % of cases."""

    centre_mm: tuple[float, float]
    sigma_mm: float
    colour: str
    """The profile's name of the colour."""
    lying: LyingSeen
    cell: tuple[int, int] | None
    """Row and column from 1 where it lies in a cell (in_cell or tilted), else None."""
    confidence: float
    tilt_chance: float = 0.0
    """How likely a disk in a hole is tilted there; `lying` says what is the likelier, as most lie flat."""

    @property
    def perhaps_tilted(self) -> bool:
        """Whether a disk that looks flat in its hole may be tilted after all."""
        return self.lying == "in_cell" and self.tilt_chance > _PERHAPS_TILTED


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one picture shows of a board. A cell is in `hidden` when a hand or glare covers it: never guessed."""

    disks: tuple[Sighting, ...]
    hidden: tuple[tuple[int, int], ...] = ()
