"""What stands on each square of a board: flats that lie, walls on edge and Crowns, on stacks of any height.

What lies high is seen shifted by height x tan(view angle). So each square is looked at in three planes: that on which
its uppermost piece rests, that of a flat's top and that of a wall's or Crown's. How many pieces lie below must be known
or supposed; a small network (models/pieces.npz) then tells what the uppermost is, by its form and by how its colour
compares with that of the two sides' pieces in this picture.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image, Pieces, Profile, SquaresBoard
from vision.calibration import Calibration
from vision.colours import linear
from vision.lines import sides_seen
from vision.nets import Array, conv, dense, relu, softmax, weights
from vision.slab import LOG

TOPS = ".wbWBKL"
"""An empty square; flats, walls and Crowns of the first side and of the second. The network's last class is neither:
something covers the square."""
_SIDES_TURNED = [0, 2, 1, 4, 3, 6, 5]
"""TOPS with the sides' places changed."""
PATCH = 26
"""Side of a patch in pixels; a flat's width is FLAT_PX of them."""
FLAT_PX = 17
_SUPPOSED = (0, 1, 2, 4, 6)
"""How many flats may lie below a square's uppermost piece where nothing is known: the network is content with about."""
_EXPOSURES = np.geomspace(0.12, 2.0, 9)
_VEILS = (0.02, 0.08)
"""What is tried for the light on the pieces, as a multiple of their profile's colours, and for what they mirror."""
_ASTRAY = 1.0
_UNUSUAL = 0.05
"""What speaks against a light: colours measured elsewhere than it has them, and how far it is from the usual."""
_TOLD = 0.9
"""Flats told with this share say what their side's colour is."""
_TOP = slice(9, 17)
"""The pixels of a patch that a flat covers however it is turned."""
_BARE, _ANY, _USUAL = 0.3, 0.1, 0.6
"""Of the four sides of a square so much is seen at least: of a bare one's, and of any other's; where it is less, an arm
hides them. Where not even the usual square shows the last, the board's lines are too faint to tell."""
_LEAST_SHARE = 1e-4
"""A network is never surer than this."""


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """One picture of a board, ready to be looked at in any plane."""

    small_bgr: Image
    matrix: Floats
    """(3, 4), from board millimetres to the small picture's pixels"""
    camera_mm: Floats
    cells_mm: Floats
    pieces: Pieces

    def planes_mm(self, below: npt.NDArray[np.int_]) -> Floats:
        """Heights (n, 3) at which squares are looked at whose uppermost piece lies on so many (n,) flats."""
        thick = self.pieces.flat_mm[2]
        tall = (self.pieces.wall_height_mm + self.pieces.crown_mm[1]) / 2
        return np.asarray(below[:, None] * thick + np.array([0.0, thick, tall]))

    def patches(self, squares: npt.NDArray[np.int_], below: npt.NDArray[np.int_]) -> Array:
        """Log brightness (n, PATCH, PATCH, 9) of squares by their index, the uppermost piece on so many flats each."""
        step = self.pieces.flat_mm[0] / FLAT_PX
        offsets = (np.arange(PATCH) - (PATCH - 1) / 2) * step
        z = self.planes_mm(below)
        x = self.cells_mm[squares, 0, None, None, None] + offsets[None, None, None, :]
        y = self.cells_mm[squares, 1, None, None, None] + offsets[None, None, :, None]
        m = self.matrix
        height = z[:, :, None, None]
        u, v, w = (m[k, 0] * x + m[k, 1] * y + m[k, 2] * height + m[k, 3] for k in range(3))
        count = len(squares)
        shape = (count * 3 * PATCH, PATCH)
        if not count:
            return np.zeros((0, PATCH, PATCH, 9), np.float32)  # OpenCV maps nothing to an error
        map_x, map_y = ((part / w).astype(np.float32).reshape(shape) for part in (u, v))
        seen = cv2.remap(self.small_bgr, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        log = np.asarray(cv2.LUT(seen, LOG), dtype=np.float32).reshape(count, 3, PATCH, PATCH, 3)
        return np.ascontiguousarray(log.transpose(0, 2, 3, 1, 4).reshape(count, PATCH, PATCH, 9))

    def slopes(self, squares: npt.NDArray[np.int_]) -> Array:
        """How far what lies higher is seen shifted, in x and y, per height: (n, 2)."""
        return np.asarray((self.cells_mm[squares] - self.camera_mm[:2]) / self.camera_mm[2], dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class PiecesSeen:
    """What one picture shows of a board of squares, square by square and row by row."""

    tops: Floats
    """(squares, 7), the share of each of TOPS among them"""
    covered: Floats
    """(squares,), how likely something else covers the square"""
    paints: Array
    """(2, 3), log brightness of the two sides' pieces in this picture"""


def read_pieces(
    image_bgr: Image,
    calibration: Calibration,
    profile: Profile,
    below: Sequence[Collection[int]] | None = None,
    paints: Array | None = None,
) -> PiecesSeen:
    """What lies uppermost on each square of a picture (h, w, 3).

    For each square, `below` has the numbers of flats that may lie under its uppermost piece; None: anything. `paints`
    are those of an earlier picture of the same table. Raises ValueError for a board of another kind.
    """
    light = [sum(colour) for _, colour in profile.colours]
    if light[0] < light[1]:
        # The network has learned with the lighter side first.
        turned = replace(profile, colours=profile.colours[::-1])
        seen = read_pieces(image_bgr, calibration, turned, below, None if paints is None else paints[::-1])
        return PiecesSeen(seen.tops[:, _SIDES_TURNED], seen.covered, seen.paints[::-1])
    squares = look_at_squares(image_bgr, calibration, profile)
    supposed = [_SUPPOSED] * len(squares.cells_mm) if below is None else [sorted(some) or [0] for some in below]
    owner = np.repeat(np.arange(len(supposed)), [len(some) for some in supposed])
    flats = np.concatenate([np.array(some, dtype=np.intp) for some in supposed])
    patches = squares.patches(owner, flats)
    scene = np.column_stack([squares.slopes(owner), flats / 8]).astype(np.float32)
    sides = _sides_shown(image_bgr, calibration, profile)
    free = sides[owner] >= _BARE  # an arm's colours are not the pieces'
    if paints is None:
        first = np.flatnonzero((np.diff(owner, prepend=-1) > 0) & free)
        paints = _find_paints(patches[first], scene[first], profile)
    for _ in range(2):
        shares = tell_pieces(piece_features(patches[free], paints), scene[free])
        paints = _measured(patches[free], shares, paints)
    shares = tell_pieces(piece_features(patches, paints), scene)
    best = np.zeros((len(supposed), shares.shape[1]))
    np.add.at(best, owner, shares)
    best /= best.sum(axis=1, keepdims=True)
    hidden = sides < np.where(best.argmax(axis=1) == 0, _BARE, _ANY)
    tops = np.maximum(best[:, :-1], _LEAST_SHARE)
    return PiecesSeen(tops / tops.sum(axis=1, keepdims=True), np.where(hidden, 1.0, best[:, -1]), paints)


def _sides_shown(image_bgr: Image, calibration: Calibration, profile: Profile) -> Floats:
    """How much of each square's sides is seen, (n,); all of them where the board's lines are too faint to tell.

    A smooth arm passes for a bare square, but for these; pieces that lean over a square leave more of them.
    """
    assert isinstance(profile.board, SquaresBoard)
    gray = np.asarray(cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    sides = sides_seen(gray, profile.board, calibration)
    of_square = (sides.along_y[:-1] + sides.along_y[1:]).T + sides.along_x[:-1] + sides.along_x[1:]
    shown = of_square.ravel() / 4
    return np.ones_like(shown) if np.median(shown) < _USUAL else shown


def _find_paints(patches: Array, scene: Array, profile: Profile) -> Array:
    """The two sides' log colours (2, 3) under the light that explains most of the squares."""
    albedo = linear(np.array([colour for _, colour in profile.colours], dtype=np.float64))
    found: list[tuple[float, Array]] = []
    for exposure in _EXPOSURES:
        for veil in _VEILS:
            paints = np.log(_recorded(exposure * (albedo + veil)) + 4).astype(np.float32)
            shares = tell_pieces(piece_features(patches, paints), scene)
            astray = float(np.abs(_measured(patches, shares, paints) - paints).mean())
            fits = float(np.log(shares.max(axis=1)).mean())
            found.append((fits - _ASTRAY * astray - _UNUSUAL * abs(math.log(exposure)), paints))
    return max(found, key=lambda one: one[0])[1]


def _measured(patches: Array, shares: Array, paints: Array) -> Array:
    """The two sides' log colours by the flats that are told; as they were where there are none."""
    measured = paints.copy()
    for side in (0, 1):
        flats = patches[shares[:, 1 + side] > _TOLD][:, _TOP, _TOP, 3:6]
        if len(flats):
            measured[side] = np.median(flats.reshape(-1, 3), axis=0)
    return measured


def _recorded(light: Floats) -> Floats:
    """8-bit sRGB (IEC 61966-2-1) of linear light, cut off at white."""
    light = np.clip(light, 0, 1)
    return np.asarray(255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055))


def look_at_squares(image_bgr: Image, calibration: Calibration, profile: Profile, flat_px: float = FLAT_PX) -> Squares:
    """The picture (h, w, 3) no finer than it takes to see a flat that wide. Raises ValueError for another kind of
    board."""
    board, pieces = profile.board, profile.pieces or Pieces()
    if not isinstance(board, SquaresBoard):
        raise ValueError("pieces are read on a board of squares")
    step_px = calibration.px_per_mm() * pieces.flat_mm[0] / flat_px
    factor = 1
    while step_px / (2 * factor) >= 0.9:
        factor *= 2
    small = image_bgr
    if factor > 1:
        size_wh = (image_bgr.shape[1] // factor, image_bgr.shape[0] // factor)
        small = np.asarray(cv2.resize(image_bgr, size_wh, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    # A pixel's centre is an integer, so halving maps u to (u + 1/2) / 2 - 1/2.
    shift = 0.5 / factor - 0.5
    shrink = np.array([[1 / factor, 0, shift], [0, 1 / factor, shift], [0, 0, 1]])
    return Squares(small, shrink @ calibration.matrix(), calibration.camera_mm(), board.cells_mm(), pieces)


def flats_seen(squares: Squares, lying: Sequence[int]) -> Array:
    """The log colours (n, 3) of flats that lie alone on some squares, by their index."""
    patches = squares.patches(np.array(lying, dtype=np.intp), np.zeros(len(lying), dtype=np.intp))
    return np.asarray(np.median(patches[:, _TOP, _TOP, 3:6].reshape(len(lying), -1, 3), axis=1), dtype=np.float32)


def piece_features(patches: Array, paints: Array) -> Array:
    """Patches (n, PATCH, PATCH, 9) against the two sides' log colours (2, 3): (n, PATCH, PATCH, 18)."""
    planes = patches.reshape(*patches.shape[:3], 3, 1, 3) - paints
    return np.asarray(np.clip(planes, -2, 2).reshape(*patches.shape[:3], 18), dtype=np.float32)


def tell_pieces(features: Array, scene: Array) -> Array:
    """How likely each square has each of TOPS, or is covered, (n, 8); `scene` has slopes and flats below (n, 3)."""
    net = weights("pieces")
    hidden = relu(conv(features, net["first"], net["first_bias"], stride=2))
    hidden = relu(conv(hidden, net["second"], net["second_bias"], stride=2))
    flat = np.concatenate([hidden.reshape(len(hidden), -1), scene], axis=1)
    hidden = relu(dense(flat, net["third"], net["third_bias"]))
    return softmax(dense(hidden, net["last"], net["last_bias"]))
