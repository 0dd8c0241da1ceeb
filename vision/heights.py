"""How well a picture shows boards of given stacks: what tells boards apart whose uppermost pieces are alike.

Two things tell. A flat that lies a layer higher is seen about a hundredth larger; how large flats of either colour are
seen is measured on the squares on which all boards agree. And how the ideal stack would look from where the camera
stands is drawn, its top, its layers, what stands on it: a small network (models/heights.npz) holds this against the
picture, which is seen in the board's plane and turned so that what is high leans to the same side on every square.
"""

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image, Profile
from vision.calibration import Calibration
from vision.flats import Flats, FlatViews
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
_LEAST_LEAN = 0.06
"""What is drawn tells nothing where what is high is seen shifted by less of its height."""
_SIZES_DIFFER = 0.0015
"""By so much of their size the flats of one set differ."""
_COLOUR_DIFFERS = 0.006
"""By so much flats of a colour may be seen too large: bright ones bleed over their sides."""
_ASIDE = 0.1
"""Of a flat's width: flats are put down so far from the middles of their squares."""
_ENOUGH = 5
"""From so many flats on it is told how far their sizes are off."""
_TAIL = 8.0
"""Degrees of freedom of the errors of places and sizes: a few are far off."""


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
        # The network has learned with the lighter side first.
        self._lighter_first = np.argsort(-paints.sum(axis=1))
        self._flats = FlatViews(image_bgr, calibration, self._pieces)

    def likely_boards(self, boards: Sequence[Sequence[Stack]]) -> Floats:
        """How likely the picture is for each board, a stack a square, (n,), as logarithms up to a constant.

        Only stacks are compared whose uppermost pieces are alike: others are for `vision.pieces` to tell.
        """
        likely = self.likely_sizes(boards)
        for square, stacks in enumerate(zip(*boards, strict=True)):
            for top in {stack[-1] for stack in stacks if stack}:
                different = list(dict.fromkeys(stack for stack in stacks if stack[-1:] == (top,)))
                if len(different) > 1 and self.lean(square) >= _LEAST_LEAN:
                    drawn = self.likely(square, different)
                    told = dict(zip(different, (drawn - drawn.max()).tolist(), strict=True))
                    likely += np.array([told.get(stack, 0.0) for stack in stacks])
        return likely

    def likely_sizes(self, boards: Sequence[Sequence[Stack]]) -> Floats:
        """The same by where flats are seen and how large alone."""
        faces = [[_face(stack) for stack in board] for board in boards]
        rows = [(square, face) for square, some in enumerate(zip(*faces, strict=True)) for face in set(some) - {None}]
        if not rows:
            return np.zeros(len(boards))
        squares = [square for square, _ in rows]
        has = np.array([[board[square] == face for square, face in rows] for board in faces])
        middles_mm, (own, under) = self._middles_mm[squares], np.array([face for _, face in rows]).T
        layers = np.array([[_layers(board[square]) for square in squares] for board in boards])
        thick = self._pieces.flat_mm[2]
        supposed = np.array([np.sort(some[held])[held.sum() // 2] for some, held in zip(layers.T, has.T, strict=True)])
        paints = self._paints[np.stack([own, 1 - own], axis=1)]
        fits = self._flats.fit(Flats(middles_mm, supposed * thick, paints, under))
        eye = self._camera_mm
        nearer = (eye[2] - supposed * thick) / (eye[2] - layers * thick)
        places_mm = eye[:2] + (fits.pose[:, :2] - eye[:2]) / nearer[:, :, None]
        aside = np.square((places_mm - middles_mm) / (_ASIDE * self._pieces.flat_mm[0])).sum(axis=2)
        placed = -(_TAIL + 2) / 2 * np.log1p(aside / _TAIL)
        known = np.all(has & (layers == layers[0]), axis=0)
        large = sizes_likely(fits.pose[:, 3] - (nearer - 1), fits.covariance[:, 3, 3], own, under == 0, known)
        told = np.where(has, placed + large, -np.inf)
        return np.asarray(np.where(has, told - told.max(axis=0), 0).sum(axis=1))

    def seen(self, square: int) -> Array:
        """What the picture shows round a square, (LONG, WIDE, 6): against the lighter side's colour and the other's."""
        ground = self._ground_mm(square)
        mapped = ground.reshape(-1, 2) @ self._plane[:, :2].T + self._plane[:, 2]
        x, y = (mapped[:, :2] / mapped[:, 2:]).astype(np.float32).T.reshape(2, LONG, WIDE)
        picture = cv2.remap(self._small, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        log = np.asarray(cv2.LUT(picture, LOG), dtype=np.float32)[:, :, None]
        return np.asarray(
            np.clip((log - self._paints[self._lighter_first]).reshape(LONG, WIDE, 6), -_REACH, _REACH), dtype=np.float32
        )

    def expected(self, square: int, stack: Stack) -> Array:
        """How the ideal stack would cover the same pixels, (LONG, WIDE, 7): with tops and sides of either side's flats,
        with how far up in its layer a side is seen, and with what stands on it, of either side; the lighter first."""
        place = np.argsort(self._lighter_first)
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
            shown[..., place[flats[-1] - 1]][on_top] = 1
            on_side = (enters > 0) & ~on_top
            layer = np.clip((enters / thick).astype(np.intp), 0, len(flats) - 1)
            of_side = np.array(flats)[layer] - 1
            for side in (0, 1):
                shown[..., 2 + place[side]][on_side & (of_side == side)] = 1
            shown[..., 4] = np.where(on_side, enters / thick - layer, 0)
        if stack[-1] > 2:
            wall = stack[-1] <= 4
            tall = self._pieces.wall_height_mm if wall else self._pieces.crown_mm[1]
            radius = (half[0] if wall else self._pieces.crown_mm[0] / 2) * np.ones(2)
            stands = _highest_inside(ground, rise, radius, high + tall) > high
            shown[..., 5 + place[(stack[-1] - 1) % 2]][stands] = 1
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


def sizes_likely(
    errors: Floats,
    variances: Floats,
    own: npt.NDArray[np.int_],
    free: npt.NDArray[np.bool_],
    known: npt.NDArray[np.bool_],
) -> Floats:
    """How likely sizes are that are off by `errors` (boards, n), with `variances` (n,): (boards, n), as logarithms.

    `own` (n,) are the flats' colours. Those whose height is `known`, if they are `free` of what stands on others, tell
    how much too large their colour is seen, and how far sizes are off.
    """
    variances = variances + _SIZES_DIFFER**2
    offsets, unsure, astray = np.zeros(2), np.full(2, _COLOUR_DIFFERS**2), []
    for colour in (0, 1):
        some = known & free & (own == colour)
        error, weight = errors[0, some], 1 / variances[some]
        for _ in range(5):
            trusted = weight / (1 + np.square(error - offsets[colour]) * weight / _TAIL)
            unsure[colour] = 1 / (trusted.sum() + 1 / _COLOUR_DIFFERS**2)
            offsets[colour] = (trusted * error).sum() * unsure[colour]
        astray += (np.square(error - offsets[colour]) * weight).tolist()
    if len(astray) >= _ENOUGH:
        variances = variances * max(1.0, float(np.minimum(astray, 9).mean()))
    off = np.square(errors - offsets[own]) / (variances + unsure[own])
    return np.asarray(-(_TAIL + 1) / 2 * np.log1p(off / _TAIL))


def _face(stack: Stack) -> tuple[int, int] | None:
    """The colour of a stack's uppermost flat, 0 or 1, and what stands on it: 0 nothing, 1 a wall, 2 a Crown."""
    if _layers(stack) == 0:
        return None
    return stack[_layers(stack) - 1] - 1, 0 if stack[-1] <= 2 else (stack[-1] - 1) // 2


def _layers(stack: Stack) -> int:
    """How many flats lie in it."""
    return sum(piece <= 2 for piece in stack)


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
