"""From pictures to looks: finds the board, watches it, reads it, and decides what a sighting is worth.

Perception is in `vision`; what is here is policy. A disk counts from a confidence on; a changed board is read until two
readings agree, else the majority of them holds; cells that cannot be seen keep what they had. A hand is waited out. A
disk in flight is told from a finger by its size, its colour, and by being gone again at once.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from companion.inputs import Look, SeenDisk
from companion.terms import Lying, Player
from vision import motion
from vision.board import HolesBoard, Profile
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.camera import Frame
from vision.disks import read_disks
from vision.lattice import board_shift_px, find_board, refine_board
from vision.motion import Blob, Image
from vision.sighting import Reading, Sighting

T = TypeVar("T")
Colour = tuple[float, float, float]

_SURE = 0.5
"""From this confidence on a sighting is a disk; below it its cell counts as hidden."""
_NOISES = 8
"""The noise is that of so many pictures of the table at rest."""
_KNOCK_MM = 0.5
"""A board that lies further than this from where the calibration has it is found again."""
_CHANGE_SHARE = 0.015
"""Of the picture's brightness: a place that differs by less on average, besides noise, is as it was."""
_FOLLOWED_SHARE = 0.02
"""Of the watched board: so much differs through resampling alone where the camera's new place is the right one."""
_HAND_DISKS = 6.0
_REACHING_HAND_DISKS = 2.0
"""A change larger than so many disks is a hand; the second holds for one that reaches in over the picture's edge."""
_HAND_CELLS = 3
"""So many cells newly hidden at once are under a hand; one or two may be under glare, which stays."""
_FEW_BLOBS = 16
"""Where more regions differ than hands and struck disks make, it is the camera that moves."""
_FLIGHT_AREA = (0.6, 2.5)
_FLIGHT_SHORT = (0.75, 1.7)
_FLIGHT_LONG = 4.0
"""A disk in flight in disks' areas and diameters: with its shadow, and as long as it moves in one exposure."""
_FLIGHT_FILL = (0.6, 0.95)
"""Of the rectangle round it: a disk fills 0.79, one that moves up to 0.93, a finger all of it."""
_FLIGHT_FREE = 0.75
"""Of the ring round it: a piece of a hand is beside the rest of it."""
_FLIGHT_STAY_S = 0.3
"""What stays in one place for longer is not in flight."""
_DISK_LIKE = 0.65
_HUE_LIKE = 0.8
"""A disk's colour is nearer to that of a disk at rest, or to the profile's hue, than this share of its way from the
bare board's."""
_SURE_LIKE = 0.6
"""A colour is one player's when it is so much nearer to it than to the other's."""
_BRIGHTNESS_WEIGHT = 0.3
_FLIGHT_GAP_S = 1.0
"""Sightings of one flick follow one another within this."""


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


@dataclass(frozen=True, slots=True)
class _Flying:
    """Something like a disk, seen where no disk lies at rest."""

    t_s: float
    place_mm: tuple[float, float]
    colour: Colour
    bare: Colour
    player: Player | None


class BoardCamera:
    """One camera over one board. `watch` takes every picture; `look` those in which the table has settled."""

    def __init__(self, profile: Profile, calibration: Calibration) -> None:
        if not isinstance(profile.board, HolesBoard):
            raise ValueError("a camera is watched over a board with holes")
        self.calibration = calibration
        self.reading: Reading | None = None
        """What was read last, also while it is not yet sure."""
        self._profile = profile
        self._board = profile.board
        self._reach_mm = self._board.disk_diameter_mm / 2
        """Sightings closer than this are of one disk."""
        self._view = motion.view_of_board(calibration, self._board.corners_mm(), self._board.disk_diameter_mm)
        self._small: Image | None = None
        self._before: Image | None = None
        self._still: motion.Still | None = None
        self._noise = motion.Noise()
        self._noises: deque[motion.Noise] = deque(maxlen=_NOISES)
        self._readings: list[Reading] = []
        self._last: Reading | None = None
        self._flying: list[_Flying] = []
        self._appearance: dict[Player, tuple[Colour, ...]] = {}

    def watch(self, frame: Frame) -> Glance:
        """What the picture shows besides the board at rest."""
        small = motion.small_picture(frame.image_bgr, self._view)
        before, self._before, self._small = self._small, self._small, small
        if before is None:
            return Glance(moved=True)
        if self._still is None:
            self._learn_noise(before, small)
        still = self._still or motion.still_from(before, self._noise)
        moved = self._has_moved(small, before, still)
        if moved:
            self._readings.clear()
        if self._still is None or not motion.differs(small, still.picture, still, self._view):
            return Glance(moved)
        lit = motion.relit(still.picture, small)
        changed = motion.changes(small, lit, still)
        if not motion.changed_board(changed, self._view):
            if not moved:
                self._still = motion.still_from(small, self._noise)
            return Glance(moved)
        found = motion.blobs(changed, small, lit, self._view)
        hand = any(self._is_hand(blob) for blob in found)
        if hand:
            # A hand's shadow joins it to a disk near it, and makes each hole look like a disk.
            found = motion.blobs(motion.tint_changes(small, lit, still), small, lit, self._view)
        if len(found) <= _FEW_BLOBS:
            self._note_flights(frame.t_s, found, lit)
        return Glance(moved, hand, True)

    def follow(self, frame: Frame) -> bool:
        """Whether it was the camera that moved, not a hand: the board is then found again from where it was."""
        before = self.calibration
        if board_shift_px(frame.image_bgr, self._profile, before) <= _KNOCK_MM * before.px_per_mm():
            return False
        try:
            calibration = refine_board(frame.image_bgr, self._profile, before)
        except CalibrationError:
            return False
        outline_mm, disk_mm = self._board.corners_mm(), self._board.disk_diameter_mm
        view = motion.view_of_board(calibration, outline_mm, disk_mm, self._view.shrink)
        if self._still is not None and self._small is not None:
            still = motion.moved_still(self._still, before, calibration, view.shrink)
            # A hand can hide so much that the board seems to lie elsewhere; most of the picture then contradicts it.
            as_was = motion.changed_share(self._changes(self._still), self._view)
            as_found = motion.changed_share(self._changes(still), view)
            if as_found > max(as_was / 2, _FOLLOWED_SHARE):
                return False
            self._still = still
        self.calibration, self._view = calibration, view
        return True

    def look(self, frame: Frame, *, hand: bool, readings: int) -> Look | None:
        """The board in this picture, the one last watched, or None where more are needed to be sure.

        At most so many `readings` are weighed against one another when no two in a row agree.
        """
        self.follow(frame)
        self.reading = self._as_changed(sure(read_disks(frame.image_bgr, self.calibration, self._profile)))
        self._readings.append(self.reading)
        if self._under_hand(self._readings[-1]):
            self._readings.clear()
            return None
        agreed = self._agreed(readings)
        if agreed is None or self._small is None:
            return None
        flights = self._flights(self._small)
        self._last = _carried(agreed, self._last)
        self._readings.clear()
        self._flying.clear()
        if self._before is not None:
            self._learn_noise(self._before, self._small)
        self._still = motion.still_from(self._small, self._noise)
        self._learn_colours(self._small)
        disks = tuple(_seen_disk(sighting) for sighting in self._last.disks)
        return Look(disks, self._last.hidden, hand, flights, frame.n, frame.t_s)

    def _changes(self, still: motion.Still) -> Image:
        assert self._small is not None
        return motion.changes(self._small, motion.relit(still.picture, self._small), still)

    def _has_moved(self, small: Image, before: Image, still: motion.Still) -> bool:
        if not motion.differs(small, before, still, self._view):
            return False
        return motion.changed_board(motion.changes(small, motion.relit(before, small), still), self._view)

    def _as_changed(self, reading: Reading) -> Reading:
        """The reading where the picture differs from the last look, and what that look found where it does not.

        What did not change in the picture did not change on the table, however a reading may waver.
        """
        if self._last is None or self._still is None or self._small is None:
            return reading
        lit = motion.relit(self._still.picture, self._small)
        change = motion.change_levels(self._small, lit, self._view)
        least = self._noise.levels + _CHANGE_SHARE * float(self._small.mean())

        def same(place_mm: tuple[float, float]) -> bool:
            x, y = self.calibration.project([place_mm])[0]
            return motion.mean_level(change, (x, y), self._disk_px((x, y)) / 2, self._view) < least

        kept = tuple(disk for disk in self._last.disks if same(disk.centre_mm))
        new = tuple(
            disk for disk in reading.disks if not same(disk.centre_mm) and not _touches(disk, kept, self._reach_mm)
        )
        cells_mm = self._board.cells_mm().reshape(self._board.rows, self._board.columns, 2)
        seen = {disk.cell for disk in (*kept, *new)}
        hidden = tuple(
            cell
            for cell in reading.hidden
            if cell not in seen and (cell in self._last.hidden or not same(tuple(cells_mm[cell[0] - 1, cell[1] - 1])))
        )
        return Reading((*kept, *new), hidden)

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

    def _learn_noise(self, before: Image, small: Image) -> None:
        self._noises.append(motion.noise_of(before, small))
        levels = float(np.median([noise.levels for noise in self._noises]))
        self._noise = motion.Noise(levels, max(noise.shake_px for noise in self._noises))

    def _learn_colours(self, small: Image) -> None:
        """What the disks at rest look like in this small picture's light."""
        known = self._last.disks if self._last is not None else ()
        for player in Player:
            places_mm = [disk.centre_mm for disk in known if disk.colour == player.value]
            if places_mm:
                self._appearance[player] = tuple(self._colour_at(small, place_mm) for place_mm in places_mm)

    def _colour_at(self, small: Image, place_mm: tuple[float, float]) -> Colour:
        x, y = self.calibration.project([place_mm])[0]
        return motion.mean_bgr(small, (x, y), 0.35 * self._disk_px((x, y)), self._view)

    def _disk_px(self, centre_px: tuple[float, float]) -> float:
        """A disk's diameter at this place of the picture."""
        middle = self.calibration.board_from_px([centre_px])
        around = self.calibration.project(middle + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
        return self._board.disk_diameter_mm * math.sqrt(abs(np.linalg.det(around[1:] - around[0])))

    def _is_hand(self, blob: Blob) -> bool:
        disk_px2 = math.pi / 4 * self._disk_px(blob.centre_px) ** 2
        least = _REACHING_HAND_DISKS if blob.at_edge else _HAND_DISKS
        return blob.area_px > least * disk_px2 and blob.on_board_px > 0.3 * disk_px2

    def _note_flights(self, t_s: float, found: tuple[Blob, ...], lit: Image) -> None:
        """Keeps what of the blobs may be a disk in flight; `lit` is the table at rest in their light."""
        for blob in found:
            disk_px = self._disk_px(blob.centre_px)
            area = blob.area_px / (math.pi / 4 * disk_px**2)
            if (
                blob.at_edge
                or blob.on_board_px < blob.area_px / 2
                or blob.free < _FLIGHT_FREE
                or not _FLIGHT_AREA[0] <= area <= _FLIGHT_AREA[1]
                or not _FLIGHT_SHORT[0] <= blob.short_px / disk_px <= _FLIGHT_SHORT[1]
                or not _FLIGHT_FILL[0] <= blob.area_px / (blob.long_px * blob.short_px) <= _FLIGHT_FILL[1]
                or blob.long_px > _FLIGHT_LONG * disk_px
            ):
                continue
            x_mm, y_mm = self.calibration.board_from_px([blob.centre_px], self._board.disk_height_mm)[0]
            place_mm = (float(x_mm), float(y_mm))
            self._learn_colours(lit)
            player, like = self._whose(blob.bgr)
            least = _DISK_LIKE if player in self._appearance else _HUE_LIKE
            if like < least * _apart(blob.bgr, blob.bare_bgr) and not self._lies_at(place_mm):
                self._flying.append(_Flying(t_s, place_mm, blob.bgr, blob.bare_bgr, player))

    def _lies_at(self, place_mm: tuple[float, float]) -> bool:
        """Whether a disk lay here at the last look: in a hand's light it looks new."""
        known = self._last.disks if self._last is not None else ()
        return any(math.dist(disk.centre_mm, place_mm) < self._board.disk_diameter_mm / 4 for disk in known)

    def _whose(self, colour: Colour) -> tuple[Player | None, float]:
        """Whose disk has this colour, None where that cannot be told, and how unlike it the colour is.

        Disks at rest say how each colour looks in this light. Of a colour that none shows, only the profile's hue is
        known: how bright it looks depends on the exposure.
        """
        like = {}
        for name, bgr in self._profile.colours:
            seen = self._appearance.get(Player(name), ())
            like[Player(name)] = min((_apart(colour, known) for known in seen), default=_apart(colour, bgr, 0.0))
        nearest = min(like, key=lambda player: like[player])
        return (nearest if like[nearest] < _SURE_LIKE * like[nearest.other] else None), like[nearest]

    def _flights(self, small: Image) -> tuple[Player | None, ...]:
        """The disks that flew since the last look, in the order in which they were first seen."""
        flew = []
        for seen in self._flying:
            times = [other.t_s for other in self._flying if math.dist(other.place_mm, seen.place_mm) < self._reach_mm]
            left = _apart(self._colour_at(small, seen.place_mm), seen.colour) > 0.5 * _apart(seen.bare, seen.colour)
            if left and max(times) - min(times) <= _FLIGHT_STAY_S:
                flew.append(seen)
        flights: list[Player | None] = []
        last_s: dict[Player | None, float] = {}
        told = {seen.player for seen in flew} - {None}
        for seen in flew:
            if seen.player is None and told:
                continue
            if seen.t_s - last_s.get(seen.player, -math.inf) > _FLIGHT_GAP_S:
                flights.append(seen.player)
            last_s[seen.player] = seen.t_s
        return tuple(flights)


def fuse(readings: Sequence[Reading], reach_mm: float) -> Reading:
    """What most of several readings of one board say; sightings closer than reach_mm are of one disk."""
    groups: list[list[Sighting]] = []
    for reading in readings:
        for sighting in reading.disks:
            near = [group for group in groups if math.dist(group[0].centre_mm, sighting.centre_mm) < reach_mm]
            if near:
                near[0].append(sighting)
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
    )


def _touches(disk: Sighting, others: Sequence[Sighting], reach_mm: float) -> bool:
    return any(math.dist(disk.centre_mm, other.centre_mm) < reach_mm for other in others)


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
    )


def _apart(colour: Colour, other: Colour, brightness: float = _BRIGHTNESS_WEIGHT) -> float:
    """How unlike two colours are: distance of logarithms, brightness counting less, since light and tilt change it."""
    ratio = np.log((np.array(colour) + 8.0) / (np.array(other) + 8.0))
    return float(np.hypot(np.linalg.norm(ratio - ratio.mean()), brightness * math.sqrt(3) * ratio.mean()))
