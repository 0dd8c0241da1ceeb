"""The board as seen from straight above, and what it would look like empty.

All lengths here are in units of 1/28 of a disk's diameter (a millimetre on the usual board), so that the trained
networks meet every board at the same scale. Brightness is logarithmic: light then adds, and a shadow is an offset.
"""

from dataclasses import dataclass

import cv2
import numpy as np

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
LOG = np.log(np.arange(256, dtype=np.float32) + 4)
"""Log brightness of each 8-bit value; the 4 keeps the noise of black pixels small."""


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """A picture of the board's top plane at one pixel for PIXEL units, in log brightness."""

    log: Array
    """(h, w, 3)"""
    unit_mm: float

    def places(self, points_mm: Floats) -> Floats:
        """Pixels (n, 2) in `log` of board points (n, 2) at z = 0."""
        return (points_mm / self.unit_mm + MARGIN) / PIXEL - 0.5

    def points_mm(self, places: Floats) -> Floats:
        """Board points (n, 2) at z = 0 of pixels (n, 2) in `log`."""
        return ((places + 0.5) * PIXEL - MARGIN) * self.unit_mm

    def patches(self, centres_mm: Floats) -> Array:
        """Log brightness round board points at z = 0: (n, PATCH, PATCH, 3)."""
        offsets = np.arange(PATCH, dtype=np.float32) - (PATCH - 1) / 2
        x, y = self.places(centres_mm).T.astype(np.float32)
        count = len(centres_mm)
        map_x = np.broadcast_to(x[:, None, None] + offsets[None, None, :], (count, PATCH, PATCH))
        map_y = np.broadcast_to(y[:, None, None] + offsets[None, :, None], (count, PATCH, PATCH))
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
        oddness = distance / max(float(np.sort(distance)[: max(1, int(0.55 * len(distance)))].mean()), 1e-6)
        weight = np.clip(1 - np.square(oddness / 3), 0, 1) ** 2 + 1e-6
    fit = _weighted_fit(terms, weight).astype(np.float32)
    residual = np.asarray(flat - fit @ flat, dtype=np.float32)
    wood = np.asarray(fit @ patches[:, _RING_MASK].mean(axis=1), dtype=np.float32)
    return Holes(patches, residual.reshape(patches.shape), wood, oddness)


def _quadratic(points: Floats) -> Floats:
    centred = points - points.mean(axis=0)
    x, y = (centred / np.abs(centred).max(axis=0)).T
    return np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])


def _weighted_fit(terms: Floats, weight: Floats) -> Floats:
    """The (n, n) matrix from values at n places to their weighted least squares fit; curvature is held back."""
    weighted = terms * weight[:, None]
    gram = weighted.T @ terms + 1e-3 * weight.sum() * np.diag([0, 1, 1, 3, 3, 3])
    return np.asarray(terms @ np.linalg.solve(gram, weighted.T))
