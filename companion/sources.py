"""From pictures to looks: finds the board, watches it, reads it, and decides what a sighting is worth.

Perception is in `vision`; what is here is policy. A disk counts from a confidence on; a changed board is read until two
readings agree, else the majority of them holds; cells that cannot be seen keep what they had. A hand is waited out. A
disk in flight is told from a finger by its size, its colour, and by being gone again at once.
"""

import math
from collections import deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from companion.flights import Eye, Flights
from companion.inputs import Look, SeenDisk
from companion.terms import Cell, Lying, Player
from vision import motion
from vision.board import HolesBoard, Image, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.camera import Frame
from vision.disks import Table, disk_over, read_table
from vision.lattice import SIDES, board_shift_px, find_board, refine_board
from vision.motion import Blob
from vision.sighting import Reading, Sighting

T = TypeVar("T")

_SURE = 0.5
"""From this confidence on a sighting is a disk; below it its cell counts as hidden."""
_NOISES = 8
"""The noise is that of so many pictures of the table at rest."""
_KNOCK_MM = 0.5
"""A board that lies further than this from where the calibration has it is found again."""
_LONG_EXPOSURE_S = 0.0085
"""As it is measured: the ends of a smear are faint, so 33 ms look like 16, and 8 ms like 5 at most."""
_CHANGE_SHARE = 0.015
"""Of the picture's brightness: a place that differs by less on average, besides noise, is as it was."""
_READ_WHOLE_EVERY = 6
"""Looks: light that changes slowly makes what an empty hole looks like out of date."""
_OVER_SHARE = 0.9
"""Of a disk's width: one on the surface this near lies over one in a hole."""
_COLOUR_SURE = 0.95
"""From this confidence on a disk of another colour is another disk."""
_MISSED = 8
_FOLLOWED_SHARE = 0.02
"""Of the watched board: so much differs through resampling alone where the camera's new place is the right one."""
_HAND_DISKS = 6.0
_REACHING_HAND_DISKS = 2.0
"""A change larger than so many disks is a hand; the second holds for one that reaches in over the picture's edge."""
_HAND_CELLS = 3
"""So many cells newly hidden at once are under a hand; one or two may be under glare, which stays."""


def board_camera(
    frame: Frame,
    profile: Profile,
    corners_px: Sequence[tuple[float, float]] | None = None,
    a_side: str | None = None,
) -> "BoardCamera":
    """The camera over the board in this picture, found where no corners are given. Raises CalibrationError."""
    if corners_px is None:
        return BoardCamera(profile, find_board(frame.image_bgr, profile, a_side))
    size_wh = (frame.image_bgr.shape[1], frame.image_bgr.shape[0])
    return BoardCamera(profile, calibrate(corners_px, profile.board.corners_mm(), size_wh, profile.fov_x_deg))


@dataclass(frozen=True, slots=True)
class Glance:
    """One picture held against the one before (`moved`) and against the last look (`hand`, `changed`)."""

    moved: bool
    hand: bool = False
    changed: bool = False


class NoiseMemory:
    """The noise of one camera, `now`, from the last pictures of the table at rest."""

    def __init__(self) -> None:
        self.now = motion.Noise()
        self._last: deque[motion.Noise] = deque(maxlen=_NOISES)

    def learn(self, before: Image, small: Image) -> None:
        """Takes in two small pictures in a row."""
        self._last.append(motion.noise_of(before, small))
        levels = float(np.median([noise.levels for noise in self._last]))
        self.now = motion.Noise(levels, max(noise.shake_px for noise in self._last))


class Place(StrEnum):
    """Where the board is, held against where it was."""

    SAME = "same"
    MOVED = "moved"
    LOST = "lost"


class BoardCamera:
    """One camera over one board. `watch` takes every picture; `look` those in which the table has settled."""

    def __init__(self, profile: Profile, calibration: Calibration) -> None:
        if not isinstance(profile.board, HolesBoard):
            raise ValueError("a camera is watched over a board with holes")
        self.calibration = calibration
        self.reading: Reading | None = None
        """What was read last, also while it is not yet sure."""
        self.lost = False
        """Whether the board was not where it should be when a look was due."""
        self._profile = profile
        self._board = profile.board
        self._reach_mm = self._board.disk_diameter_mm / 2
        """Sightings closer than this are of one disk."""
        self._view = motion.view_of_board(calibration, self._board.corners_mm(), self._board.disk_diameter_mm)
        self._small: Image | None = None
        self._before: Image | None = None
        self._still: motion.Still | None = None
        self._noise = NoiseMemory()
        self._readings: list[Reading] = []
        self._last: Reading | None = None
        self._table: Table | None = None
        """The last look's picture: only what has changed since is read again."""
        self._looks = 0
        self._missed: tuple[Sighting, ...] = ()
        """Disks of earlier looks that are no more: gone, or overlooked."""
        self._flights = Flights(profile.colours, self._board)

    def watch(self, frame: Frame) -> Glance:
        """What the picture shows besides the board at rest."""
        small = motion.small_picture(frame.image_bgr, self._view)
        before, self._before, self._small = self._small, self._small, small
        if before is None:
            return Glance(moved=True)
        if self._still is None:
            self._noise.learn(before, small)
        still = self._still or motion.still_from(before, self._noise.now)
        moved = motion.has_moved(small, before, still, self._view)
        if moved:
            self._readings.clear()
        if self._still is None or not motion.differs(small, still.picture, still, self._view):
            return Glance(moved)
        lit = motion.relit(still.picture, small)
        changed = motion.changes(small, lit, still)
        if not motion.changed_board(changed, self._view):
            if not moved:
                self._still = motion.still_from(small, self._noise.now)
            return Glance(moved)
        found = motion.blobs(changed, small, lit, self._view)
        hand = any(self._is_hand(blob) for blob in found)
        if hand:
            # A hand's shadow joins it to a disk near it, and makes each hole look like a disk.
            found = motion.blobs(motion.tint_changes(small, lit, still), small, lit, self._view)
        self._flights.note(frame.t_s, found, lit, self._eye())
        return Glance(moved, hand, True)

    def smears(self) -> bool:
        """Whether the last disks in flight moved far in one exposure."""
        return self._flights.exposure_s() > _LONG_EXPOSURE_S

    def follow(self, frame: Frame) -> Place:
        """Where the board is by this picture, the one last watched; found again from where it was if it moved."""
        before = self.calibration
        if board_shift_px(frame.image_bgr, self._profile, before) <= _KNOCK_MM * before.px_per_mm():
            return Place.SAME
        if self._still is None or self._small is None:
            moved = self._refined(frame)
            if moved is not None:
                self._stand(moved)
            # Where the rims cannot be seen, the corners that people gave stand.
            return Place.SAME if moved is None else Place.MOVED
        as_was = motion.changed_share(self._changes(self._still), self._view)
        moved = self._refined(frame)
        if moved is not None:
            view = self._view_by(moved)
            still = motion.moved_still(self._still, before, moved, view.shrink)
            # A hand can hide so much that the board seems to lie elsewhere; most of the picture then contradicts it.
            if motion.changed_share(self._changes(still), view) <= max(as_was / 2, _FOLLOWED_SHARE):
                self._stand(moved)
                self._still = still
                return Place.MOVED
        return Place.SAME if as_was <= _FOLLOWED_SHARE else Place.LOST

    def look(self, frame: Frame, *, hand: bool, readings: int, waited: bool = False) -> Look | None:
        """The board in this picture, the one last watched, or None where more are needed to be sure.

        At most so many `readings` are weighed against one another when no two in a row agree. Once people have
        `waited`, what hides the board is taken to stay, and a board that is lost is looked for everywhere.
        """
        self.lost = self.follow(frame) is Place.LOST and not (waited and self._find_anywhere(frame))
        if self.lost:
            return None
        table = read_table(frame.image_bgr, self.calibration, self._profile, self._table)
        self.reading = self._as_changed(frame.image_bgr, table)
        self._readings.append(self.reading)
        if self._under_hand(self.reading) and not waited:
            self._readings.clear()
            return None
        agreed = self._agreed(readings)
        if agreed is None or self._small is None:
            return None
        flights = self._flights.since(self._small, self._eye())
        self._looks += 1
        self._table = table if agreed is self.reading and self._looks % _READ_WHOLE_EVERY else None
        known = (*self._missed, *(self._last.disks if self._last is not None else ()))
        self._last = _carried(agreed, self._last)
        self._missed = tuple(disk for disk in known if not _touches(disk, self._last.disks, self._reach_mm))[-_MISSED:]
        self._readings.clear()
        if self._before is not None:
            self._noise.learn(self._before, self._small)
        self._still = motion.still_from(self._small, self._noise.now)
        self._flights.begin(self._last, self._small, self._eye())
        disks = tuple(_seen_disk(sighting) for sighting in self._last.disks)
        return Look(disks, self._last.hidden, hand, flights, frame.n, frame.t_s)

    def _refined(self, frame: Frame) -> Calibration | None:
        try:
            return refine_board(frame.image_bgr, self._profile, self.calibration)
        except CalibrationError:
            return None

    def _find_anywhere(self, frame: Frame) -> bool:
        """Whether the board is found without knowing where it was; what it looked like at rest is then forgotten."""
        try:
            found = find_board(frame.image_bgr, self._profile, side_of_a(self.calibration, self._board))
        except CalibrationError:
            return False
        self._stand(found)
        self._still = None
        return True

    def _stand(self, calibration: Calibration) -> None:
        """The camera stands here from now on."""
        self._view = self._view_by(calibration)
        self.calibration = calibration

    def _view_by(self, calibration: Calibration) -> motion.View:
        outline_mm, disk_mm = self._board.corners_mm(), self._board.disk_diameter_mm
        return motion.view_of_board(calibration, outline_mm, disk_mm, self._view.shrink)

    def _eye(self) -> Eye:
        return Eye(self.calibration, self._view, self._board.disk_diameter_mm)

    def _changes(self, still: motion.Still) -> Image:
        assert self._small is not None
        return motion.changes(self._small, motion.relit(still.picture, self._small), still)

    def _as_changed(self, image_bgr: Image, table: Table) -> Reading:
        """What is read where the picture differs from the last look, and what that look found where it does not.

        What did not change in the picture did not change on the table, however a reading may waver.
        """
        reading = sure(table.reading)
        if self._last is None or self._still is None or self._small is None:
            return reading
        lit = motion.relit(self._still.picture, self._small)
        change = motion.change_levels(self._small, lit, self._view)
        least = self._noise.now.levels + _CHANGE_SHARE * float(self._small.mean())
        eye = self._eye()

        def same(place_mm: tuple[float, float]) -> bool:
            x, y = self.calibration.project([place_mm])[0]
            return motion.mean_level(change, (x, y), eye.disk_px((x, y)) / 2, self._view) < least

        kept = tuple(disk for disk in self._last.disks if same(disk.centre_mm))
        gone = [disk for disk in self._last.disks if disk not in kept]

        def may_be_new(disk: Sighting) -> bool:
            # A disk that appears without a change is none, but for one that a look missed, and for one that lies where
            # another of its colour lay in part: nothing need change there.
            return (
                not same(disk.centre_mm)
                or _touches(disk, self._missed, self._reach_mm)
                or any(math.dist(disk.centre_mm, other.centre_mm) < 2 * self._reach_mm for other in gone)
            )

        new = tuple(disk for disk in reading.disks if may_be_new(disk) and not _touches(disk, kept, self._reach_mm))
        # What lies in a hole stays there as it was when a disk comes to lie over it, if only over its edge: little of
        # it shows, and that can be misread.
        held = {disk.cell for disk in self._last.disks if disk.cell is not None and disk not in kept}
        buried = {disk.cell for disk in self._buried(held, new)}
        new = tuple(
            self._as_can_be(disk, _is_missed(disk.colour, gone, new), image_bgr, table)
            for disk in new
            if disk.cell not in buried
        )
        kept += self._buried(held, new)
        cells_mm = self._board.cells_mm().reshape(self._board.rows, self._board.columns, 2)
        seen = {disk.cell for disk in (*kept, *new)}
        last_hidden = self._last.hidden

        def covered(cell: Cell) -> bool:
            # By something else than a disk, of which it is known what it hides.
            middle_mm = tuple(cells_mm[cell[0] - 1, cell[1] - 1].tolist())
            under = self._is_under(middle_mm, (*kept, *new))
            return cell not in seen and not under and (cell in last_hidden or not same(middle_mm))

        return Reading((*kept, *new), tuple(cell for cell in reading.hidden if covered(cell)))

    def _buried(self, cells: Container[Cell | None], disks: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
        """What the last look found in some holes, where one of some disks lies on the surface over it."""
        assert self._last is not None
        return tuple(disk for disk in self._last.disks if disk.cell in cells and self._is_under(disk.centre_mm, disks))

    def _is_under(self, place_mm: tuple[float, float], disks: Iterable[Sighting]) -> bool:
        """Whether one of some disks lies on the surface over a place in a hole."""
        reach_mm = _OVER_SHARE * 2 * self._reach_mm
        return any(disk.cell is None and math.dist(disk.centre_mm, place_mm) < reach_mm for disk in disks)

    def _as_can_be(self, disk: Sighting, missed: bool, image_bgr: Image, table: Table) -> Sighting:
        """A new sighting, as it can be after a disk that lay flat in its hole: that one stays as and where it was.

        `missed`: a disk of this colour was on the surface, and is not seen there any more.
        """
        assert self._last is not None
        before = next((one for one in self._last.disks if one.cell == disk.cell and one.cell is not None), None)
        if before is None or disk.cell is None or before.lying == "tilted":
            return disk
        over = disk_over(image_bgr, table, self._profile, disk.cell, before.centre_mm)
        # People can shift a disk in its hole by hand; then it lies as flat as before, and no other is missed.
        if over is not None and (missed or disk.colour != before.colour or disk.lying == "tilted"):
            (x_mm, y_mm), sigma_mm = over
            return replace(disk, centre_mm=(float(x_mm), float(y_mm)), sigma_mm=sigma_mm, lying="flat", cell=None)
        if disk.colour != before.colour:
            return self._raised(disk) if min(before.confidence, disk.confidence) > _COLOUR_SURE else disk
        return before if disk.lying == "tilted" or disk.perhaps_tilted else disk

    def _raised(self, disk: Sighting) -> Sighting:
        """The sighting of a disk in a hole as one of a disk that lies on the surface there."""
        x_mm, y_mm = self.calibration.shifted([disk.centre_mm], 0.0, self._board.disk_height_mm)[0]
        return replace(disk, centre_mm=(float(x_mm), float(y_mm)), lying="flat", cell=None)

    def _under_hand(self, reading: Reading) -> bool:
        known = set(self._last.hidden) if self._last is not None else set()
        return len(set(reading.hidden) - known) >= _HAND_CELLS

    def _agreed(self, readings: int) -> Reading | None:
        """The reading that holds: the last one where it says what is known or what the one before it said."""
        latest = self._readings[-1]
        before = self._readings[-2] if len(self._readings) > 1 else self._last
        if before is not None and _alike(latest, before, self._reach_mm):
            return latest
        if len(self._readings) < readings:
            return None
        return fuse(self._readings, self._reach_mm)

    def _is_hand(self, blob: Blob) -> bool:
        disk_px2 = math.pi / 4 * self._eye().disk_px(blob.centre_px) ** 2
        least = _REACHING_HAND_DISKS if blob.at_edge else _HAND_DISKS
        return blob.area_px > least * disk_px2 and blob.on_board_px > 0.3 * disk_px2


def _is_missed(colour: str, gone: Sequence[Sighting], new: Sequence[Sighting]) -> bool:
    """Whether as many disks of a colour are gone from the surface as have come there, and one at least."""
    left, came = (sum(one.cell is None and one.colour == colour for one in some) for some in (gone, new))
    return 0 < left >= came


def fuse(readings: Sequence[Reading], reach_mm: float) -> Reading:
    """What most of several readings of one board say; sightings closer than reach_mm are of one disk."""
    groups: list[list[Sighting]] = []
    for reading in readings:
        # Two sightings of one reading are two disks, as near as one may lie over the other.
        free = list(groups)
        for sighting in reading.disks:
            near = [group for group in free if math.dist(group[0].centre_mm, sighting.centre_mm) < reach_mm]
            if near:
                near[0].append(sighting)
                free = [group for group in free if group is not near[0]]
            else:
                groups.append([sighting])
    disks = tuple(_typical(group) for group in groups if 2 * len(group) > len(readings))
    cells = sorted({cell for reading in readings for cell in reading.hidden})
    hidden = tuple(cell for cell in cells if 2 * sum(cell in reading.hidden for reading in readings) > len(readings))
    return Reading(disks, hidden)


def _typical(group: list[Sighting]) -> Sighting:
    """One sighting for several of one disk: the commonest of each thing, at the middle place."""
    colour = _commonest([sighting.colour for sighting in group])
    place = _commonest([(sighting.cell, sighting.lying) for sighting in group])
    same = [sighting for sighting in group if (sighting.cell, sighting.lying) == place]
    x_mm, y_mm = np.median([sighting.centre_mm for sighting in same], axis=0)
    return replace(
        same[0],
        centre_mm=(float(x_mm), float(y_mm)),
        sigma_mm=float(np.median([sighting.sigma_mm for sighting in same])),
        colour=colour,
        confidence=float(np.median([sighting.confidence for sighting in group])),
        tilt_chance=float(np.median([sighting.tilt_chance for sighting in same])),
    )


def side_of_a(calibration: Calibration, board: HolesBoard | SquaresBoard) -> str:
    """The side of the picture, one of SIDES, at which player A sits."""
    ends = calibration.project([[board.width_mm / 2, 0.0], [board.width_mm / 2, board.length_mm]])
    to_a = ends[0] - ends[1]
    return max(SIDES, key=lambda side: float(np.dot(SIDES[side], to_a)))


def _touches(disk: Sighting, others: Sequence[Sighting], reach_mm: float) -> bool:
    """Whether a sighting is of one of the others' disks: a disk on the surface may lie over most of one in a hole."""
    return any(
        math.dist(disk.centre_mm, other.centre_mm)
        < (reach_mm if (disk.cell is None) is (other.cell is None) else reach_mm / 2)
        for other in others
    )


def _commonest(values: list[T]) -> T:
    return max(values, key=values.count)


def sure(reading: Reading) -> Reading:
    """The reading without doubtful sightings, whose cells count as hidden."""
    doubtful = {disk.cell for disk in reading.disks if disk.confidence < _SURE and disk.cell is not None}
    disks = tuple(disk for disk in reading.disks if disk.confidence >= _SURE)
    return Reading(disks, tuple(sorted(doubtful.union(reading.hidden))))


def _carried(reading: Reading, last: Reading | None) -> Reading:
    """The reading with what hidden cells held at the last look."""
    if last is None:
        return reading
    seen = {disk.cell for disk in reading.disks}
    kept = tuple(disk for disk in last.disks if disk.cell in reading.hidden and disk.cell not in seen)
    return Reading((*reading.disks, *kept), reading.hidden)


def _alike(reading: Reading, other: Reading, reach_mm: float) -> bool:
    """Whether two readings tell of the same board."""
    if len(reading.disks) != len(other.disks) or reading.hidden != other.hidden:
        return False
    return all(
        any(
            disk.colour == twin.colour
            and disk.cell == twin.cell
            and math.dist(disk.centre_mm, twin.centre_mm) < reach_mm
            for twin in other.disks
        )
        for disk in reading.disks
    )


def _seen_disk(sighting: Sighting) -> SeenDisk:
    x_mm, y_mm = sighting.centre_mm
    return SeenDisk(
        Player(sighting.colour),
        x_mm,
        y_mm,
        sighting.cell,
        Lying(sighting.lying),
        sighting.sigma_mm,
        sighting.confidence,
        sighting.perhaps_tilted,
    )
