"""What the grid's sensors tell of the holes, when that counts, and what it is worth beside a camera.

A sensor tells whether its hole is occupied, never by whom. What it says counts once it has stayed so for a while, and
only while the grid is there. One that keeps contradicting a camera that is sure is stuck, and left out until it has
agreed again for long, both with a disk in its hole and without. What may be felt for want of `diodes` tells nothing
beside a camera.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from companion.diodes import Diodes
from companion.games.at_rest import in_hole
from companion.games.compare import cell_mm
from companion.inputs import Dispute, Look
from companion.terms import Cell, Field, Lying
from firmware_protocol.driver import Changed, Device, Found, GridEvent, Lost, Sensed

REST_S = 0.3
"""A disk that settles in its hole, or a contact that chatters through the device's debouncing, is over in less."""
STUCK_LOOKS = 3
TRUSTED_LOOKS = 10
"""Looks in a row in which a sensor contradicts the camera, or agrees with it."""
_SURE = 0.8
"""From this confidence on a camera that sees a disk is sure of it."""
_MIRRORED_LEAST, _MIRRORED_SHARE = 4, 0.25
"""A picture is mirrored where so many holes are wrong in it, two a disk, and at most such a share of them turned."""


@dataclass(slots=True)
class _Cell:
    """One sensor: what it says, since when, and how that has gone with what the camera saw."""

    occupied: bool | None = None
    since_s: float = -math.inf
    stuck: bool = False
    against: int = 0
    agreed: int = 0
    agreed_on: set[bool] = field(default_factory=set)


class Sensors:
    """The sensors of one grid, by cell. Times are in seconds of any one steady clock."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        """`cells` has the cell at each index of the grid."""
        self.device: Device | None = None
        """What the grid is, while it is there."""
        self.diodes = Diodes()
        self._uid: str | None = None
        self._order = cells
        self._cells = {cell: _Cell() for cell in cells}

    def take(self, event: GridEvent, t_s: float) -> None:
        """What the link tells, at the time when it came."""
        match event:
            case Found():
                if event.device.uid != self._uid:
                    self._cells, self.diodes = {cell: _Cell() for cell in self._order}, Diodes()
                self.device, self._uid = event.device, event.device.uid
                self._set(dict(zip(self._order, event.occupied, strict=False)), t_s)
            case Lost():
                self.device = None
                for cell in self._cells.values():
                    cell.occupied = None
            case Sensed() if self.device is not None:
                self._set(dict(zip(self._order, event.occupied, strict=False)), t_s)
            case Changed() if self.device is not None:
                # The chain may be longer than the board: what lies behind its last cell is nothing.
                self._set(dict.fromkeys(self._order[event.index : event.index + 1], event.occupied), t_s)

    def says(self) -> dict[Cell, bool]:
        """What each sensor says at this moment, also those that are left out; nothing while the grid is lost."""
        return {cell: one.occupied for cell, one in self._cells.items() if one.occupied is not None}

    def stuck(self) -> tuple[Cell, ...]:
        """The cells whose sensors are left out."""
        return tuple(sorted(cell for cell, one in self._cells.items() if one.stuck))

    def told(self, t_s: float, rest_s: float = REST_S) -> dict[Cell, bool]:
        """What counts: whether each cell is occupied, as far as its sensor is believed and has been still so long."""
        believed = self._believed()
        return {cell: now for cell, now in believed.items() if t_s - self._cells[cell].since_s >= rest_s}

    def ghosts(self) -> frozenset[Cell]:
        """The cells that may be felt for want of diodes though nothing lies there; of them a camera knows better."""
        return self.diodes.ghosts(self._believed())

    def compare(self, seen: Mapping[Cell, bool], t_s: float, overruled: Iterable[Cell] = ()) -> tuple[str, ...]:
        """Holds every sensor against what the camera saw; what people must be told of it, one sentence each.

        `seen` says which cells are occupied, as far as the camera is sure of it and a sensor should feel the same.
        `overruled` are cells about which people have believed the sensor: there the camera is wrong. What may be
        `ghosts` is not held against a sensor.
        """
        self.diodes.learn(self._believed(), self.told(t_s), seen)
        overruled = {*overruled, *self.ghosts()}
        news = []
        for cell, one in self._cells.items():
            if one.occupied is None or t_s - one.since_s < REST_S or cell in overruled:
                continue
            held = seen.get(cell)
            if held is None:
                continue
            if held is not one.occupied:
                one.against, one.agreed = one.against + 1, 0
                one.agreed_on.clear()
                if one.against == STUCK_LOOKS and not one.stuck:
                    one.stuck = True
                    news.append(_stuck_words(cell, one.occupied))
                continue
            one.against, one.agreed = 0, one.agreed + 1
            one.agreed_on.add(held)
            if one.stuck and one.agreed >= TRUSTED_LOOKS and len(one.agreed_on) == 2:
                one.stuck = False
                news.append(f"the sensor {_at(cell)} agrees with the camera again: it is believed from now on")
        return tuple(news)

    def _believed(self) -> dict[Cell, bool]:
        """What each sensor says at this moment, but for those that are left out."""
        return {cell: one.occupied for cell, one in self._cells.items() if one.occupied is not None and not one.stuck}

    def _set(self, occupied: Mapping[Cell, bool], t_s: float) -> None:
        for cell, now in occupied.items():
            one = self._cells[cell]
            if one.occupied is not now:
                one.occupied, one.since_s = now, t_s


def with_sensors(look: Look, told: Mapping[Cell, bool], board: Field) -> Look:
    """A camera's look with what sensors tell: of hidden holes what they hold, of the others where they contradict it.

    A disk that a hidden hole was taken to hold still is no more where its sensor says that the hole is empty.
    """
    hidden = {cell: told[cell] for cell in look.hidden if cell in told}
    empty = tuple(cell for cell, occupied in hidden.items() if not occupied)
    disputed = []
    for cell, occupied in told.items():
        held = None if cell in hidden else _holds(look, cell, board, sure=False)
        if held is not None and held is not occupied:
            inside = (disk.colour for disk in look.disks if disk.cell == cell and in_hole(disk))
            disputed.append(Dispute(cell, next(inside, None)))
    return replace(
        look,
        disks=tuple(disk for disk in look.disks if disk.cell not in empty),
        occupied=tuple(cell for cell, occupied in hidden.items() if occupied),
        empty=empty,
        disputed=tuple(disputed),
    )


def look_without_camera(told: Mapping[Cell, bool], board: Field, n: int, t_s: float) -> Look:
    """What sensors alone tell: every hole is hidden, and a hand may have been there at any time."""
    cells = tuple((row, column) for row in range(1, board.rows + 1) for column in range(1, board.columns + 1))
    return Look(
        (),
        cells,
        hand=True,
        frame=n,
        t_s=t_s,
        occupied=tuple(cell for cell in cells if told.get(cell) is True),
        empty=tuple(cell for cell in cells if told.get(cell) is False),
    )


def camera_holds(look: Look, board: Field) -> dict[Cell, bool]:
    """Which holes the camera sees a disk in, and which not, where neither it nor the sensor is mistaken for a good
    reason."""
    cells = ((row, column) for row in range(1, board.rows + 1) for column in range(1, board.columns + 1))
    held = {cell: _holds(look, cell, board) for cell in cells}
    return {cell: occupied for cell, occupied in held.items() if occupied is not None}


def is_mirrored(held: Mapping[Cell, bool], says: Mapping[Cell, bool], board: Field) -> bool:
    """Whether what a camera holds contradicts the sensors, also those left out, in holes whose mirror image agrees."""
    turned = {(row, board.columns + 1 - column): occupied for (row, column), occupied in held.items()}
    wrong, wrong_turned = (
        sum(occupied is not says[cell] for cell, occupied in each.items() if cell in says) for each in (held, turned)
    )
    return wrong >= _MIRRORED_LEAST and wrong_turned <= wrong * _MIRRORED_SHARE


def _holds(look: Look, cell: Cell, board: Field, *, sure: bool = True) -> bool | None:
    """Whether the camera sees a disk in this hole; None where it, or the sensor, can be mistaken for a good reason."""
    if cell in look.hidden:
        return None
    inside = [disk for disk in look.disks if disk.cell == cell and in_hole(disk)]
    if inside:
        # A disk that stands on edge may miss its sensor.
        on_edge = inside[0].lying is Lying.TILTED or inside[0].perhaps_tilted
        doubtful = on_edge or (sure and inside[0].confidence < _SURE)
        return None if doubtful else True
    centre_mm = cell_mm(board, cell)
    # A disk that lies over an empty hole may be felt in it.
    over = (math.dist((disk.x_mm, disk.y_mm), centre_mm) < board.disk_diameter_mm for disk in look.disks)
    return None if any(over) else False


def _stuck_words(cell: Cell, occupied: bool) -> str:
    says = "occupied" if occupied else "empty"
    return f"the sensor {_at(cell)} keeps saying {says} against the camera: it is left out; check it"


def _at(cell: Cell) -> str:
    return f"at row {cell[0]}, column {cell[1]}"
