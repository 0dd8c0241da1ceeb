"""How well a picture shows stacks of given pieces: what tells stacks apart whose uppermost pieces are alike.

How the ideal stack would look from where the camera stands is drawn: its top, its layers, what stands on it. A small
network (models/heights.npz) holds this against the picture, which is seen in the board's plane and turned so that what
is high leans to the same side on every square. Only differences between stacks on one square count.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from vision.board import Floats, Image, Profile
from vision.calibration import Calibration
from vision.nets import Array, conv, dense, relu, weights
from vision.pieces import look_at_squares
from vision.slab import LOG

Stack = tuple[int, ...]
"""Pieces, the lowest first, by their index in vision.pieces.TOPS."""

FLAT_PX = 27
"""A flat's width in pixels of what the network sees."""
LONG, WIDE = 72, 46
"""Its size in pixels: along the way in which what is high leans, and across."""
_BEHIND = 26
"""So many of the first lie on the camera's side of the square's middle."""
CHANNELS = 13
_REACH = 2.0
"""Differences of log brightness beyond this are cut off."""


class StackViews:
    """One picture of a board, ready to be held against stacks on any of its squares."""

    def __init__(self, image_bgr: Image, calibration: Calibration, profile: Profile, paints: Array) -> None:
        """`paints` are the two sides' log colours (2, 3) in this picture. ValueError for another kind of board."""
        squares = look_at_squares(image_bgr, calibration, profile, FLAT_PX)
        self._pieces = squares.pieces
        self._step_mm = squares.pieces.flat_mm[0] / FLAT_PX
        self._small = squares.small_bgr
        self._plane = squares.matrix[:, [0, 1, 3]]
        self._camera_mm = squares.camera_mm
        self._middles_mm = squares.cells_mm
        self._paints = paints

    def seen(self, square: int) -> Array:
        """What the picture shows round a square, (LONG, WIDE, 6): against the one side's colour, and the other's."""
        ground = self._ground_mm(square)
        mapped = ground.reshape(-1, 2) @ self._plane[:, :2].T + self._plane[:, 2]
        x, y = (mapped[:, :2] / mapped[:, 2:]).astype(np.float32).T.reshape(2, LONG, WIDE)
        picture = cv2.remap(self._small, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        log = np.asarray(cv2.LUT(picture, LOG), dtype=np.float32)[:, :, None]
        return np.asarray(np.clip((log - self._paints).reshape(LONG, WIDE, 6), -_REACH, _REACH), dtype=np.float32)

    def expected(self, square: int, stack: Stack) -> Array:
        """How the ideal stack would cover the same pixels, (LONG, WIDE, 7): with tops and sides of either side's flats,
        with how far up in its layer a side is seen, and with what stands on it, of either side."""
        ground = self._ground_mm(square) - self._middles_mm[square]
        eye = self._camera_mm - (*self._middles_mm[square], 0)
        half = np.array(self._pieces.flat_mm[:2]) / 2
        thick = self._pieces.flat_mm[2]
        flats = [piece for piece in stack if piece <= 2]
        high = thick * len(flats)
        shown = np.zeros((LONG, WIDE, 7), np.float32)
        # A ray is over ground + (eye - ground) * z / eye_z at height z; it comes down from the camera.
        rise = (eye[:2] - ground) / eye[2]
        enters = _highest_inside(ground, rise, half, high)
        if flats:
            on_top = enters >= high - 1e-6
            shown[..., flats[-1] - 1][on_top] = 1
            on_side = (enters > 0) & ~on_top
            layer = np.clip((enters / thick).astype(np.intp), 0, len(flats) - 1)
            of_side = np.array(flats)[layer] - 1
            for side in (0, 1):
                shown[..., 2 + side][on_side & (of_side == side)] = 1
            shown[..., 4] = np.where(on_side, enters / thick - layer, 0)
        if stack[-1] > 2:
            wall = stack[-1] <= 4
            tall = self._pieces.wall_height_mm if wall else self._pieces.crown_mm[1]
            radius = (half[0] if wall else self._pieces.crown_mm[0] / 2) * np.ones(2)
            stands = _highest_inside(ground, rise, radius, high + tall) > high
            shown[..., 5 + (stack[-1] - 1) % 2][stands] = 1
        return shown

    def likely(self, square: int, stacks: Sequence[Stack]) -> Floats:
        """How likely the picture is for each stack, (n,), as logarithms up to a constant."""
        seen = self.seen(square)
        shown = np.stack([np.concatenate([seen, self.expected(square, stack)], axis=2) for stack in stacks])
        return fits(shown, self.lean(square), np.array([len(stack) for stack in stacks])).astype(np.float64)

    def lean(self, square: int) -> float:
        """How far what is high is seen shifted, per height."""
        return float(np.hypot(*(self._middles_mm[square] - self._camera_mm[:2])) / self._camera_mm[2])

    def _ground_mm(self, square: int) -> Floats:
        middle = self._middles_mm[square]
        away = middle - self._camera_mm[:2]
        length = float(np.hypot(*away))
        along = away / length if length > 1e-6 else np.array([1.0, 0.0])
        across = np.array([-along[1], along[0]])
        a = (np.arange(LONG) - _BEHIND + 0.5) * self._step_mm
        b = (np.arange(WIDE) - (WIDE - 1) / 2) * self._step_mm
        return np.asarray(middle + a[:, None, None] * along + b[None, :, None] * across)


def _highest_inside(ground: Floats, rise: Floats, half: Floats, high_mm: float) -> Floats:
    """The greatest height, up to high_mm, at which rays are inside of a box of half widths (2,); -1 where they never
    are."""
    safe = np.where(np.abs(rise) > 1e-9, rise, 1e-9)
    one, other = (-half - ground) / safe, (half - ground) / safe
    lowest = np.minimum(one, other).max(axis=2)
    highest = np.minimum(np.maximum(one, other).min(axis=2), high_mm)
    return np.where((highest >= lowest) & (highest >= 0), highest, -1.0)


def fits(shown: Array, lean: float, pieces: Array) -> Array:
    """What the network makes of pictures with stacks drawn over them (n, LONG, WIDE, CHANNELS): (n,)."""
    net = weights("heights")
    hidden = relu(conv(shown, net["first"], net["first_bias"], stride=2))
    hidden = relu(conv(hidden, net["second"], net["second_bias"], stride=2))
    hidden = relu(conv(hidden, net["third"], net["third_bias"], stride=2))
    scene = np.column_stack([np.full(len(pieces), lean), pieces / 8]).astype(np.float32)
    hidden = relu(
        dense(np.concatenate([hidden.reshape(len(hidden), -1), scene], axis=1), net["fourth"], net["fourth_bias"])
    )
    return np.asarray(dense(hidden, net["last"], net["last_bias"])[:, 0])
