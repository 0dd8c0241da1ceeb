"""Which of the changes over a board are disks in flight, and whose.

A disk in flight has a disk's size and form, stands free of hands, has a disk's colour, and is gone again at once. Disks
at rest say how each colour looks in this light.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from companion.terms import Player
from vision import motion
from vision.board import HolesBoard, Image
from vision.calibration import Calibration
from vision.motion import Blob
from vision.sighting import Reading

Colour = tuple[float, float, float]

_SAME_SHARE, _BESIDE_SHARE = 0.25, 0.5
"""Of a disk's width: nearer than this to a disk at rest it is that disk; the second where the colour says nothing."""
_FEW_BLOBS = 16
"""Where more regions differ than hands and struck disks make, it is the camera that moves."""
_AREA = (0.6, 2.5)
_SHORT = (0.75, 1.7)
_LONG = 4.0
"""A disk in flight in disks' areas and diameters: with its shadow, and as long as it moves in one exposure."""
_FILL = (0.6, 0.95)
"""Of the rectangle round it: a disk fills 0.79, one that moves up to 0.93, a finger all of it."""
_FREE = 0.75
"""Of the ring round it: a piece of a hand is beside the rest of it."""
_STAY_S = 0.3
"""What stays in one place for longer is not in flight."""
_GAP_S = 1.0
"""Sightings of one flick follow one another within this."""
_DISK_LIKE = 0.65
_HUE_LIKE = 1.0
"""A disk's colour is nearer to that of a disk at rest, or to the profile's hue, than this share of its way from the
bare board's."""
_SURE_LIKE = 0.6
"""A colour is one player's when it is so much nearer to it than to the other's."""
_BRIGHTNESS_WEIGHT = 0.5
_HOLE_SHARE = 0.2
"""Of a disk's width: nearer than this to a hole's middle it may be the hole that is seen."""
_NEXT_S = 0.2
"""Two sightings of one disk in pictures not further apart tell how fast it was."""
_EXPOSURES = 12
"""So many last measures of the exposure count."""


@dataclass(frozen=True, slots=True)
class Eye:
    """How a board is seen at the moment: its camera, the small view, and a disk's diameter."""

    calibration: Calibration
    view: motion.View
    disk_mm: float

    def disk_px(self, centre_px: tuple[float, float]) -> float:
        """A disk's diameter at this place of the picture, the middle one of its ellipse."""
        long_px, short_px = self.ellipse_px(centre_px)
        return math.sqrt(long_px * short_px)

    def ellipse_px(self, centre_px: tuple[float, float]) -> tuple[float, float]:
        """How long and wide a disk that lies flat is seen at this place of the picture."""
        middle = self.calibration.board_from_px([centre_px])
        around = self.calibration.project(middle + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
        long, short = np.linalg.svd(around[1:] - around[0], compute_uv=False)
        return self.disk_mm * float(long), self.disk_mm * float(short)

    def colour_at(self, small: Image, place_mm: tuple[float, float]) -> Colour:
        """The colour of a small picture where a disk lies."""
        x, y = self.calibration.project([place_mm])[0]
        return motion.mean_bgr(small, (x, y), 0.35 * self.disk_px((x, y)), self.view)


@dataclass(frozen=True, slots=True)
class _Flying:
    """Something like a disk, seen where no disk lies at rest; `bare` is the board's colour there."""

    t_s: float
    place_mm: tuple[float, float]
    colour: Colour
    bare: Colour
    player: Player | None
    drawn_out_px: float
    """By how much it is longer, for its width, than a disk at rest."""


class Flights:
    """What may have been in flight since the last look: `note` each picture's changes, ask `since` at the next look."""

    def __init__(self, colours: Sequence[tuple[str, tuple[int, int, int]]], board: HolesBoard) -> None:
        self._profile = {Player(name): bgr for name, bgr in colours}
        self._disk_mm = board.disk_diameter_mm
        self._height_mm = board.disk_height_mm
        self._holes_mm = board.cells_mm()
        self._at_rest = Reading(())
        self._appearance: dict[Player, tuple[Colour, ...]] = {}
        self._flying: list[_Flying] = []
        self._exposures_s: deque[float] = deque(maxlen=_EXPOSURES)

    def exposure_s(self) -> float:
        """How long the shutter is open, by how far disks in flight are drawn out, at least; 0 until that is known."""
        return float(np.median(self._exposures_s)) if len(self._exposures_s) >= _EXPOSURES / 3 else 0.0

    def begin(self, at_rest: Reading, small: Image, eye: Eye) -> None:
        """A look has been taken: these disks are at rest in this small picture."""
        self._flying.clear()
        self._at_rest = at_rest
        self._learn_colours(small, eye)

    def note(self, t_s: float, found: Sequence[Blob], lit: Image, eye: Eye) -> None:
        """Keeps what of a picture's changes may be a disk in flight; `lit` is the table at rest in their light."""
        if len(found) > _FEW_BLOBS:
            return
        like_disks = [blob for blob in found if _has_form_of_disk(blob, eye.disk_px(blob.centre_px))]
        if like_disks:
            self._learn_colours(lit, eye)
        for blob in like_disks:
            x_mm, y_mm = eye.calibration.board_from_px([blob.centre_px], self._height_mm)[0]
            place_mm = (float(x_mm), float(y_mm))
            player, unlike = self._whose(blob.bgr)
            if player is None and self._is_hole(place_mm):
                continue  # seen between the fingers of a hand
            most = _DISK_LIKE if player in self._appearance else _HUE_LIKE
            near = _BESIDE_SHARE if player is None else _SAME_SHARE
            if unlike < most * _apart(blob.bgr, blob.bare_bgr) and not self._lies_at(place_mm, near):
                long_px, short_px = eye.ellipse_px(blob.centre_px)
                drawn_out_px = max(blob.long_px - blob.short_px - (long_px - short_px), 0.0)
                flying = _Flying(t_s, place_mm, blob.bgr, blob.bare_bgr, player, drawn_out_px)
                self._measure_exposure(flying, eye.disk_px(blob.centre_px))
                self._flying.append(flying)

    def _measure_exposure(self, seen: _Flying, disk_px: float) -> None:
        """By a disk that was seen in the picture before, further off than it is wide."""
        for before in reversed(self._flying):
            took_s = seen.t_s - before.t_s
            if took_s > _NEXT_S:
                return
            far_px = math.dist(before.place_mm, seen.place_mm) / self._disk_mm * disk_px
            if before.player is seen.player and took_s > 0 and far_px > disk_px:
                self._exposures_s.append((before.drawn_out_px + seen.drawn_out_px) / 2 / far_px * took_s)
                return

    def since(self, small: Image, eye: Eye) -> tuple[Player | None, ...]:
        """Whose disks flew since the last look, in the order in which they were first seen; None where unknown."""
        flew = [seen for seen in self._flying if self._is_gone(seen, small, eye)]
        told = any(seen.player is not None for seen in flew)
        # What has neither player's colour has to be seen on its way: skin between fingers is seen once.
        strangers = [seen.place_mm for seen in flew if seen.player is None]
        moved = any(math.dist(place_mm, other_mm) > self._disk_mm for place_mm, other_mm in pairwise(strangers))
        flights: list[Player | None] = []
        last_s: dict[Player | None, float] = {}
        for seen in flew:
            if seen.player is None and (told or not moved):
                continue
            if seen.t_s - last_s.get(seen.player, -math.inf) > _GAP_S:
                flights.append(seen.player)
            last_s[seen.player] = seen.t_s
        return tuple(flights)

    def _is_gone(self, seen: _Flying, small: Image, eye: Eye) -> bool:
        """Whether what was seen was there for a moment only."""
        near = [other for other in self._flying if math.dist(other.place_mm, seen.place_mm) < self._disk_mm / 2]
        stayed_s = near[-1].t_s - near[0].t_s
        left = _apart(eye.colour_at(small, seen.place_mm), seen.colour) > 0.5 * _apart(seen.bare, seen.colour)
        # What cannot be told by its colour has to fly like a disk: a hole in a hand's light stays where it is.
        return left and stayed_s <= (_STAY_S if seen.player is not None else 0.0)

    def _learn_colours(self, small: Image, eye: Eye) -> None:
        """What the disks at rest look like in this small picture's light."""
        for player in Player:
            places_mm = [disk.centre_mm for disk in self._at_rest.disks if disk.colour == player.value]
            if places_mm:
                self._appearance[player] = tuple(eye.colour_at(small, place_mm) for place_mm in places_mm)

    def _is_hole(self, place_mm: tuple[float, float]) -> bool:
        """Whether the middle of a hole is there."""
        return float(np.hypot(*(self._holes_mm - place_mm).T).min()) < _HOLE_SHARE * self._disk_mm

    def _lies_at(self, place_mm: tuple[float, float], near: float) -> bool:
        """Whether a disk lay this near, in widths, at the last look: in a hand's light it looks new."""
        return any(math.dist(disk.centre_mm, place_mm) < near * self._disk_mm for disk in self._at_rest.disks)

    def _whose(self, colour: Colour) -> tuple[Player | None, float]:
        """Whose disk has this colour, None where that cannot be told, and how unlike it the colour is.

        Of a player without a disk at rest so far the profile's colour is known, as the other's disks tell the exposure;
        while there are none either, only its hue.
        """
        unlike = {
            player: min(
                (_apart(colour, known) for known in self._appearance.get(player, ())),
                default=_apart(colour, self._expected(player), _BRIGHTNESS_WEIGHT if self._appearance else 0.0),
            )
            for player in self._profile
        }
        nearest = min(unlike, key=lambda player: unlike[player])
        sure = unlike[nearest] < _SURE_LIKE * unlike[nearest.other]
        return (nearest if sure else None), unlike[nearest]

    def _expected(self, player: Player) -> Colour:
        """The profile's colour, under the exposure under which the other player's disks at rest look as they do."""
        other = np.array(self._profile[player.other])
        logs = [np.log((np.array(seen) + 1) / (other + 1)).mean() for seen in self._appearance.get(player.other, ())]
        gain = float(np.exp(np.median(logs))) if logs else 1.0
        blue, green, red = (gain * level for level in self._profile[player])
        return blue, green, red


def _has_form_of_disk(blob: Blob, disk_px: float) -> bool:
    return (
        not blob.at_edge
        and blob.on_board_px >= blob.area_px / 2
        and blob.free >= _FREE
        and _AREA[0] <= blob.area_px / (math.pi / 4 * disk_px**2) <= _AREA[1]
        and _SHORT[0] <= blob.short_px / disk_px <= _SHORT[1]
        and _FILL[0] <= blob.area_px / (blob.long_px * blob.short_px) <= _FILL[1]
        and blob.long_px <= _LONG * disk_px
    )


def _apart(colour: Colour, other: Colour, brightness: float = _BRIGHTNESS_WEIGHT) -> float:
    """How unlike two colours are: distance of logarithms, brightness counting less, since light and tilt change it."""
    ratio = np.log((np.array(colour) + 8.0) / (np.array(other) + 8.0))
    return float(np.hypot(np.linalg.norm(ratio - ratio.mean()), brightness * ratio.mean()))
