"""What is seen on a board: single sightings, and the reading of one picture."""

from dataclasses import dataclass
from typing import Literal

LyingSeen = Literal["in_cell", "flat", "tilted", "leaning"]


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


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one picture shows of a board. A cell is in `hidden` when a hand or glare covers it: never guessed."""

    disks: tuple[Sighting, ...]
    hidden: tuple[tuple[int, int], ...] = ()
