"""The board as seen from straight above, and what it would look like empty.

All lengths here are in units of 1/28 of a disk's diameter (a millimetre on the usual board), so that the trained
networks meet every board at the same scale. Brightness is logarithmic: light then adds, and a shadow is an offset.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, HolesBoard, Image
from vision.calibration import Calibration, CalibrationError
from vision.nets import Array

MARGIN = 20
"""How far round the slab is looked at, in units: a disk that balances on the edge shows 14 of its 28."""
PIXEL = 2
"""Units that a pixel of the slab spans."""
PATCH = 20
"""Side of a patch in pixels: a hole of 32 units and the wood round it."""
_OFFSETS = (np.arange(PATCH) - (PATCH - 1) / 2) * PIXEL
_FROM_MIDDLE = np.hypot(*np.meshgrid(_OFFSETS, _OFFSETS))
_RING_MASK = (_FROM_MIDDLE > 17.0) & (_FROM_MIDDLE < 19.9)
"""The pixels of a patch that show the slab's wood."""
_CHANGE = 0.07
_CHANGE_FOLD = 6.0
"""A place looks different when its log brightness differs by so much, and by so many times what is usual."""
_SPECK = 4
"""Regions no wider than this, in half the slab's pixels, hold no new disk."""
LOG = np.log(np.arange(256, dtype=np.float32) + 4)
"""Log brightness of each 8-bit value; the 4 keeps the noise of black pixels small."""


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """A picture of the board's top plane at one pixel for PIXEL units, in log brightness."""

    log: Array
    """(h, w, 3)"""
    unit_mm: float
    first: tuple[int, int] = (0, 0)
    """Column and row of the whole slab's picture at which this part of it begins."""

    def places(self, points_mm: Floats) -> Floats:
        """Pixels (n, 2) in `log` of board points (n, 2) at z = 0."""
        return (points_mm / self.unit_mm + MARGIN) / PIXEL - 0.5 - self.first

    def points_mm(self, places: Floats) -> Floats:
        """Board points (n, 2) at z = 0 of pixels (n, 2) in `log`."""
        return ((places + self.first + 0.5) * PIXEL - MARGIN) * self.unit_mm

    def part(self, left: int, top: int, right: int, bottom: int) -> "Slab":
        """The pixels from left and top up to right and bottom, as far as there are any."""
        left, top = max(left, 0), max(top, 0)
        return Slab(self.log[top:bottom, left:right], self.unit_mm, (self.first[0] + left, self.first[1] + top))

    def patches(self, centres_mm: Floats) -> Array:
        """Log brightness round board points at z = 0: (n, PATCH, PATCH, 3)."""
        offsets = np.arange(PATCH, dtype=np.float32) - (PATCH - 1) / 2
        x, y = self.places(centres_mm).T.astype(np.float32)
        count = len(centres_mm)
        map_x = np.broadcast_to(x[:, None, None] + offsets[None, None, :], (count, PATCH, PATCH))
        map_y = np.broadcast_to(y[:, None, None] + offsets[None, :, None], (count, PATCH, PATCH))
        if not count:
            return np.zeros((0, PATCH, PATCH, 3), np.float32)  # OpenCV maps nothing to an error
        shape = (count * PATCH, PATCH)
        found = cv2.remap(
            self.log, map_x.reshape(shape), map_y.reshape(shape), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(found, dtype=np.float32).reshape(count, PATCH, PATCH, 3)


def rectify(image_bgr: Image, calibration: Calibration, board: HolesBoard) -> Slab:
    """The slab's top plane with a margin. Raises CalibrationError when none of it is in view."""
    unit_mm = board.disk_diameter_mm / 28
    factor = 1
    while calibration.px_per_mm() * unit_mm * PIXEL / (2 * factor) >= 0.9:
        factor *= 2
    # Only the part of the picture that shows the board is made smaller.
    reach_mm = MARGIN * unit_mm
    outline_px = calibration.project(board.corners_mm() + reach_mm * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    size_px = np.array(image_bgr.shape[1::-1]) // factor
    left, top = np.clip(outline_px.min(axis=0) // factor, 0, size_px).astype(int) * factor
    right, bottom = np.clip(outline_px.max(axis=0) // factor + 1, 0, size_px).astype(int) * factor
    small = image_bgr[top:bottom, left:right]
    if not small.size:
        raise CalibrationError("the board lies outside the picture; give its corners again")
    if factor > 1:
        size_wh = (small.shape[1] // factor, small.shape[0] // factor)
        small = np.asarray(cv2.resize(small, size_wh, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    # A pixel's centre is an integer, so halving maps u to (u + 1/2) / 2 - 1/2.
    shift = 0.5 / factor - 0.5
    shrink = np.array([[1 / factor, 0, shift - left / factor], [0, 1 / factor, shift - top / factor], [0, 0, 1]])
    small_from_plane = shrink @ calibration.image_from_plane()
    scale_mm = PIXEL * unit_mm
    first_mm = scale_mm / 2 - reach_mm
    plane_from_slab = np.array([[scale_mm, 0, first_mm], [0, scale_mm, first_mm], [0, 0, 1]])
    size_wh = (
        round((board.width_mm + 2 * reach_mm) / scale_mm),
        round((board.length_mm + 2 * reach_mm) / scale_mm),
    )
    flat = cv2.warpPerspective(
        small,
        small_from_plane @ plane_from_slab,
        size_wh,
        flags=cv2.WARP_INVERSE_MAP | cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return Slab(np.asarray(cv2.LUT(flat, LOG), dtype=np.float32), unit_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Holes:
    """The holes of one picture beside what they would look like empty, under this light."""

    patches: Array
    """(n, PATCH, PATCH, 3) log brightness"""
    residual: Array
    """(n, PATCH, PATCH, 3): `patches` less the model of an empty hole"""
    wood: Array
    """(n, 3) log brightness of the slab round each hole, smoothed over the board"""
    oddness: Array
    """(n,) root mean square residual, in multiples of that of the most ordinary holes"""
    ordinary: float
    """Root mean square residual of the most ordinary holes"""

    def again(self, slab: Slab, board: HolesBoard, light: Array, fresh: npt.NDArray[np.bool_]) -> "Holes":
        """The holes of the next picture of the same table, in which only those that are `fresh` (n,) look different,
        and the light's log brightness has changed by (3,)."""
        patches, residual, oddness = self.patches + light, self.residual.copy(), self.oddness.copy()
        empty = patches[fresh] - residual[fresh]
        patches[fresh] = slab.patches(board.cells_mm()[fresh])
        residual[fresh] = patches[fresh] - empty
        oddness[fresh] = np.sqrt(np.square(residual[fresh]).mean(axis=(1, 2, 3))) / self.ordinary
        return Holes(patches, residual, self.wood + light, oddness, self.ordinary)


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Where one picture of a table differs from another, at half the slab's resolution."""

    mask: npt.NDArray[np.uint8]
    """(h, w), 1 where the slab looks different"""
    light: Array
    """(3,) by how much the light's log brightness has changed"""
    apart: Array
    """(h, w), how many pixels away the nearest such place is"""

    def share(self) -> float:
        """How much of the slab looks different, 0 to 1."""
        return float(self.mask.mean())

    def near(self, slab: Slab, points_mm: Floats, reach: float) -> npt.NDArray[np.bool_]:
        """Whether anything differs within `reach` units of each board point (n, 2)."""
        column, row = np.rint((slab.places(points_mm) - 0.5) / 2).astype(np.intp).T
        high, wide = self.mask.shape
        return np.asarray(self.apart[np.clip(row, 0, high - 1), np.clip(column, 0, wide - 1)] <= reach / PIXEL / 2)

    def windows(self, slab: Slab, disks_mm: Floats, reach: float) -> list[tuple[int, int, int, int]]:
        """Left, top, right and bottom, in the slab's pixels, of each region that differs, and of those that lie within
        `reach` units of some disks (n, 2)."""
        joined = cv2.dilate(self.mask, np.ones((3, 3), np.uint8))
        for x, y in np.rint((slab.places(disks_mm) - 0.5) / 2).astype(int).tolist():
            cv2.circle(joined, (x, y), round(reach / PIXEL / 2), 1, cv2.FILLED)
        _, _, stats, _ = cv2.connectedComponentsWithStats(joined)
        return [
            (int(2 * x), int(2 * y), int(2 * (x + w)), int(2 * (y + h)))
            for x, y, w, h, _ in stats[1:]
            if max(w, h) > _SPECK
        ]


def changes(slab: Slab, before: Slab) -> Changes:
    """Where two pictures of a table, taken from the same place, differ besides noise and the light of all of it."""
    high, wide = slab.log.shape[:2]
    step = cv2.resize(cv2.subtract(slab.log, before.log), (wide // 2, high // 2), interpolation=cv2.INTER_AREA)
    light = np.median(step[::2, ::2].reshape(-1, 3), axis=0).astype(np.float32)
    blue, green, red = cv2.split(cv2.absdiff(step, np.array([*light, 0.0])))
    differs = cv2.max(cv2.max(blue, green), red)
    usual = float(np.median(differs[::2, ::2]))
    same = (differs <= max(_CHANGE, _CHANGE_FOLD * usual)).astype(np.uint8)
    apart = np.asarray(cv2.distanceTransform(same, cv2.DIST_L2, 3), dtype=np.float32)
    return Changes(1 - same, light, apart)


def compare_with_empty(slab: Slab, board: HolesBoard) -> Holes:
    """Hold each hole against the others: across the board an empty hole changes as a quadratic of its place.

    Every pixel of the patch is fitted over all holes at once; holes that hold a disk stand out and are weighted down
    (Tukey's biweight), so more than half of the holes must be empty, or nearly.
    """
    centres_mm = board.cells_mm()
    patches = slab.patches(centres_mm)
    flat = patches.reshape(len(patches), -1)
    terms = _quadratic(centres_mm)
    # Distances to a fit P @ flat follow from the (n, n) products of the patches alone: |f - Pf|^2 = (1-P) K (1-P)'.
    products = flat.astype(np.float64) @ flat.T.astype(np.float64)
    some = flat[:, ::13]
    middle = np.sort(some, axis=0)[len(some) // 2]
    distance = np.abs(some - middle).mean(axis=1)
    weight = 1 / (1 + (distance / max(float(np.median(distance)), 1e-6)) ** 4)
    for _ in range(6):
        fit = _weighted_fit(terms, weight)
        rest = np.eye(len(fit)) - fit
        square = np.sum((rest @ products) * rest, axis=1)
        distance = np.sqrt(np.maximum(square, 0) / flat.shape[1])
        ordinary = max(float(np.sort(distance)[: max(1, int(0.55 * len(distance)))].mean()), 1e-6)
        oddness = distance / ordinary
        weight = np.clip(1 - np.square(oddness / 3), 0, 1) ** 2 + 1e-6
    fit = _weighted_fit(terms, weight).astype(np.float32)
    residual = np.asarray(flat - fit @ flat, dtype=np.float32)
    wood = np.asarray(fit @ patches[:, _RING_MASK].mean(axis=1), dtype=np.float32)
    return Holes(patches, residual.reshape(patches.shape), wood, oddness, ordinary)


def _quadratic(points: Floats) -> Floats:
    centred = points - points.mean(axis=0)
    x, y = (centred / np.abs(centred).max(axis=0)).T
    return np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])


def _weighted_fit(terms: Floats, weight: Floats) -> Floats:
    """The (n, n) matrix from values at n places to their weighted least squares fit; curvature is held back."""
    weighted = terms * weight[:, None]
    gram = weighted.T @ terms + 1e-3 * weight.sum() * np.diag([0, 1, 1, 3, 3, 3])
    return np.asarray(terms @ np.linalg.solve(gram, weighted.T))
