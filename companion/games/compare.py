"""What differs between the board as it stood and as it is seen now, sturdy against small trouble in seeing.

Two looks at a board that nobody touched differ by fractions of a millimetre, and now and then by a colour; a knocked
camera adds its own small shift. A flick moves a disk by much more.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from companion.games.at_rest import in_hole
from companion.inputs import SeenDisk
from companion.terms import Cell, Field, Player

STILL_MM = 3.0
"""How far apart two sightings of a resting disk may lie beyond their stated uncertainties. A disk in a hole has 4 mm
of play, so that within its hole a disk is never said to have moved."""


@dataclass(frozen=True, slots=True)
class Change:
    """Indices count the disks of the board before; `found` are disks seen where none lay."""

    still: tuple[tuple[int, SeenDisk], ...]
    lost: tuple[int, ...]
    found: tuple[SeenDisk, ...]
    unseen: tuple[int, ...] = ()
    """Disks by a hidden cell: not seen, and not gone."""


def compare(field: Field, before: Sequence[SeenDisk], seen: Sequence[SeenDisk], hidden: Sequence[Cell] = ()) -> Change:
    """Match each disk to the nearest sighting of its colour in its place, then misread colours."""
    lost, found = dict(enumerate(before)), dict(enumerate(seen))
    still: dict[int, SeenDisk] = {}
    for old, new in _nearest_first(lost, found, same_colour=True):
        if old in lost and new in found and same_place(lost[old], found[new]):
            still[old] = found.pop(new)
            del lost[old]
    for old, new in _nearest_first(lost, found, same_colour=False):
        if old in lost and new in found and same_place(lost[old], found[new]):
            # A disk of another colour in the very place of one that is nowhere else is that disk, misread.
            colour = lost[old].colour
            if _count(lost, colour) > _count(found, colour):
                still[old] = replace(found.pop(new), colour=colour)
                del lost[old]
    unseen = tuple(old for old, disk in lost.items() if hides(field, hidden, disk))
    gone = tuple(old for old in lost if old not in unseen)
    return Change(tuple(sorted(still.items())), gone, tuple(found.values()), unseen)


def pair_moved(lost: Mapping[int, SeenDisk], found: Mapping[int, SeenDisk]) -> dict[int, int]:
    """Which found disk each lost one is, by colour and the shortest way; both run out or are left over."""
    pairs: dict[int, int] = {}
    for old, new in _nearest_first(lost, found, same_colour=True):
        if old not in pairs and new not in pairs.values():
            pairs[old] = new
    return pairs


def same_place(one: SeenDisk, other: SeenDisk) -> bool:
    """Whether two sightings can be of one disk that did not move."""
    if one.cell is not None and one.cell == other.cell and in_hole(one) and in_hole(other):
        return True
    return _distance_mm(one, other) <= STILL_MM + 2 * (one.sigma_mm + other.sigma_mm)


def cell_mm(field: Field, cell: Cell) -> tuple[float, float]:
    """A hole's centre."""
    row, column = cell
    return field.margin_mm + (column - 1) * field.pitch_mm, field.first_row_mm + (row - 1) * field.pitch_mm


def _nearest_first(
    lost: Mapping[int, SeenDisk], found: Mapping[int, SeenDisk], *, same_colour: bool
) -> Iterator[tuple[int, int]]:
    pairs = [
        (_distance_mm(old_disk, new_disk), old, new)
        for old, old_disk in lost.items()
        for new, new_disk in found.items()
        if (old_disk.colour is new_disk.colour) is same_colour
    ]
    return ((old, new) for _, old, new in sorted(pairs))


def _distance_mm(one: SeenDisk, other: SeenDisk) -> float:
    return math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)


def _count(disks: Mapping[int, SeenDisk], colour: Player) -> int:
    return sum(disk.colour is colour for disk in disks.values())


def hides(field: Field, hidden: Sequence[Cell], disk: SeenDisk) -> bool:
    """Whether what hides these cells may hide a disk: it is in one of them, or on the surface within a pitch of one.

    What hides one cell and none beside it is no hand, and does not reach as far as the next.
    """
    if disk.cell is not None:
        return disk.cell in hidden
    return any(_reaches(field, cell, hidden, disk) for cell in hidden)


def _reaches(field: Field, cell: Cell, hidden: Sequence[Cell], disk: SeenDisk) -> bool:
    beside = any(max(abs(cell[0] - row), abs(cell[1] - column)) == 1 for row, column in hidden)
    x_mm, y_mm = cell_mm(field, cell)
    return math.hypot(disk.x_mm - x_mm, disk.y_mm - y_mm) <= field.pitch_mm * (1 if beside else 0.5)
