"""What moves over the board: pictures in, what differs from the table at rest out. Pure functions on small pictures.

Pictures are compared at an eighth to a half of their size, where a frame in which nothing changed costs a small part
of decoding it. Light that changes smoothly over the picture is divided out before anything counts as a change. What
then differs is told apart by form: a hand is large or reaches in over the picture's edge, a disk in flight has the
size of a disk and stands free.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from vision.board import Floats, Image
from vision.calibration import Calibration

_SMALL_DISK_PX = 8.0
"""A disk spans at least this much in the small picture, so that its form can be told."""
_NOISE_FOLD = 6.0
"""Changes smaller than this many standard deviations of the camera's noise are none."""
_FLOOR_LEVELS = 3.0
"""What compression and rounding change in a still picture."""
_FAINT_SHARE = 0.05
"""Of the brightness: the outskirts of shadows are no change."""
_SHAKE_PX = 0.15
"""A table that people lean on trembles by this share of the slope at an edge, at least; more where it is seen to."""
_SHAKE_MOST_PX = 0.5
_SHAKE_FOLD = 3.0
_STEEP_LEVELS = 20.0
_LIGHT_GRID_WH = (16, 9)
_CLIPPED_ALL_LEVEL = 240
_CLIPPED_LEVEL = 200
"""Small pixels from the second level on may stand for some overexposed ones, from the first for many."""
_LEAST_TOLD = 0.1
"""Parts of the picture with less than this share of well exposed pixels say nothing of the light."""
_CHANGED_SHARE = 0.15
"""Of a disk's area: less than this is no change of the board."""
_BLOB_SHARE = 0.2
"""Of a disk's area: smaller regions say nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What is watched of the pictures of one camera: the board and a disk's width around it, in a small copy."""

    shrink: int
    """How many picture pixels make a small one; a power of two."""
    disk_px: float
    """A disk's diameter in small pixels, at the board's middle."""
    board: Image
    """Small mask, (h, w, 3), 255 where the board is watched."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What differs between two pictures of a table at rest."""

    levels: float = 0.0
    """The camera's noise: standard deviation of one value."""
    shake_px: float = _SHAKE_PX
    """What trembling adds at edges, as a share of the slope there."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """A small picture of the table at rest, with the levels by which each value may differ and still be the same."""

    picture: Image
    slack: Image


@dataclass(frozen=True, slots=True)
class Blob:
    """One connected region that differs from the table at rest, in pixels of the full picture."""

    centre_px: tuple[float, float]
    area_px: float
    long_px: float
    short_px: float
    """The sides of the smallest rectangle round it."""
    at_edge: bool
    """Whether it reaches the picture's edge."""
    on_board_px: float
    """How much of its area lies where the board is watched."""
    free: float
    """How much of a ring round it, from 0 to 1, is as at rest."""
    bgr: tuple[float, float, float]
    """Its mean colour in the picture, inside its rim."""
    bare_bgr: tuple[float, float, float]
    """The mean colour there with the table at rest."""


def view_of_board(calibration: Calibration, outline_mm: Floats, disk_mm: float, shrink: int | None = None) -> View:
    """The view of a board with this outline (4, 2) and disks of this diameter; `shrink` fits the disks if not given."""
    width, height = calibration.size_wh
    disk_px = disk_mm * calibration.px_per_mm()
    if shrink is None:
        fit = max(1.0, min(8.0, disk_px / _SMALL_DISK_PX))
        shrink = 2 ** int(math.log2(fit))
    around_mm = outline_mm + np.sign(outline_mm - outline_mm.mean(axis=0)) * disk_mm
    corners = (calibration.project(around_mm) + 0.5) / shrink - 0.5
    board = np.zeros((height // shrink, width // shrink, 3), np.uint8)
    cv2.fillPoly(board, [corners.round().astype(np.int32)], (255, 255, 255))
    return View(shrink, disk_px / shrink, board)


def small_picture(image_bgr: Image, view: View) -> Image:
    """The picture at the view's small size."""
    height, width = view.board.shape[:2]
    # Bilinear at a power of two averages the 2 x 2 pixels in each cell's middle, at an eighth of INTER_AREA's cost.
    small = cv2.resize(image_bgr, (width, height), interpolation=cv2.INTER_LINEAR)
    # What matters is larger than a pixel, noise is not.
    return np.asarray(cv2.blur(small, (3, 3)), dtype=np.uint8)


def noise_of(before: Image, after: Image) -> Noise:
    """The noise between two small pictures in a row that are mostly alike, in whatever light each was taken."""
    differs = cv2.absdiff(relit(before, after), after)
    slope = _slope(after)
    flat = differs[slope <= np.median(slope)]
    counts = np.bincount(flat.ravel(), minlength=256)
    share = np.cumsum(counts) / counts.sum()
    # Half of normal differences lie within 0.674 deviations; a rounded difference d stands for d - 0.5 to d + 0.5.
    level = int(np.searchsorted(share, 0.5))
    below = float(share[level - 1]) if level else 0.0
    half = level - 0.5 + (0.5 - below) / max(float(share[level]) - below, 1e-9)
    levels = max(half, 0.2) / 0.674 / math.sqrt(2)
    steep = slope >= max(_STEEP_LEVELS, 20 * levels)
    if not steep.any():
        return Noise(levels, _SHAKE_PX)
    shake_px = float(np.quantile(differs[steep] / slope[steep].astype(np.float32), 0.9))
    return Noise(levels, min(max(shake_px * _SHAKE_FOLD, _SHAKE_PX), _SHAKE_MOST_PX))


def still_from(picture: Image, noise: Noise) -> Still:
    """The small picture as the table at rest, seen with this noise."""
    level = _FLOOR_LEVELS + _NOISE_FOLD * math.sqrt(2) * noise.levels
    slack = cv2.addWeighted(_slope(picture), noise.shake_px, picture, _FAINT_SHARE, level)
    return Still(picture, np.asarray(slack, dtype=np.uint8))


def moved_still(still: Still, before: Calibration, after: Calibration, shrink: int) -> Still:
    """The table at rest as a knocked camera sees it; where the old picture shows nothing, anything is the same."""
    grow = np.array([[shrink, 0, (shrink - 1) / 2], [0, shrink, (shrink - 1) / 2], [0, 0, 1]])
    full = after.image_from_plane() @ np.linalg.inv(before.image_from_plane())
    small = np.linalg.inv(grow) @ full @ grow
    size_wh = (still.picture.shape[1], still.picture.shape[0])
    picture = cv2.warpPerspective(still.picture, small, size_wh, borderMode=cv2.BORDER_REPLICATE)
    slack = cv2.warpPerspective(still.slack, small, size_wh, borderMode=cv2.BORDER_CONSTANT, borderValue=(255,) * 3)
    # Resampling blurs: what one picture shows sharply differs from the other at every edge.
    seen = np.asarray(picture, dtype=np.uint8)
    return Still(seen, np.asarray(cv2.addWeighted(slack, 1.0, _slope(seen), 0.5, 0.0), dtype=np.uint8))


def differs(picture: Image, other: Image, still: Still, view: View) -> bool:
    """Whether two small pictures differ by more than the slack of the table at rest, anywhere on the watched board."""
    over = cv2.subtract(cv2.absdiff(picture, other), still.slack)
    over = cv2.bitwise_and(over, view.board)
    return cv2.countNonZero(over.reshape(over.shape[0], -1)) > _CHANGED_SHARE * _disk_area(view)


def has_moved(picture: Image, before: Image, still: Still, view: View) -> bool:
    """Whether two small pictures in a row show a change on the watched board, other than of the light."""
    if not differs(picture, before, still, view):
        return False
    return changed_board(changes(picture, relit(before, picture), still), view)


def relit(picture: Image, like: Image) -> Image:
    """The first small picture in the light of the second, whatever hands and disks cover there."""
    columns, rows = _LIGHT_GRID_WH
    # Overexposed pixels do not follow the light: they are left out here, and below given what they may be.
    was_clipped, is_clipped = _above(picture, _CLIPPED_LEVEL), _above(like, _CLIPPED_LEVEL)
    told = cv2.bitwise_not(_any_channel(_above(cv2.max(picture, like), _CLIPPED_ALL_LEVEL)))
    share = cv2.resize(told, _LIGHT_GRID_WH, interpolation=cv2.INTER_AREA).reshape(-1, 1).astype(np.float64) / 255.0
    blocks = [
        cv2.resize(cv2.bitwise_and(each, each, mask=told), _LIGHT_GRID_WH, interpolation=cv2.INTER_AREA).reshape(-1, 3)
        for each in (picture, like)
    ]
    ratio = np.log((blocks[1] + share) / (blocks[0] + share + 1e-9) + 1e-9)
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    plane = np.column_stack([np.ones(x.size), x.ravel(), y.ravel()])
    gain = np.exp(_robust_fit(plane, ratio, share)).reshape(rows, columns, 3)
    height, width = picture.shape[:2]
    smooth = cv2.resize(gain.astype(np.float32), (width, height))
    lit = cv2.multiply(picture, smooth, dtype=cv2.CV_8U)
    lit = cv2.max(lit, cv2.bitwise_and(was_clipped, like))
    return np.asarray(cv2.min(lit, cv2.bitwise_or(like, cv2.bitwise_not(is_clipped))), dtype=np.uint8)


def changes(picture: Image, lit: Image, still: Still) -> Image:
    """Small mask, 255 where a picture differs from the relit table at rest by more than the slack."""
    return _any_channel(cv2.subtract(cv2.absdiff(picture, lit), still.slack))


def tint_changes(picture: Image, lit: Image, still: Still) -> Image:
    """Small mask, 255 where more than brightness differs from the relit table at rest: shadows are left out."""
    bright, bare = (cv2.cvtColor(each, cv2.COLOR_BGR2GRAY) for each in (picture, lit))
    ratio = cv2.divide(bright, cv2.max(bare, np.ones_like(bare)), dtype=cv2.CV_32F)
    shaded = cv2.multiply(lit, cv2.merge([ratio, ratio, ratio]), dtype=cv2.CV_8U)
    return _any_channel(cv2.subtract(cv2.absdiff(picture, shaded), still.slack))


def area_beside(changed: Image, view: View) -> int:
    """How many small pixels of a mask of changes lie beside the watched board."""
    return int(cv2.countNonZero(cv2.bitwise_and(changed, cv2.bitwise_not(view.board[:, :, 0]))))


def changed_board(changed: Image, view: View) -> bool:
    """Whether a mask of changes shows any on the watched board."""
    on_board = cv2.bitwise_and(changed, view.board[:, :, 0])
    return cv2.countNonZero(on_board) > _CHANGED_SHARE / 3 * _disk_area(view)


def changed_share(changed: Image, view: View) -> float:
    """How much of the watched board a mask of changes covers, from 0 to 1."""
    watched = view.board[:, :, 0]
    return cv2.countNonZero(cv2.bitwise_and(changed, watched)) / max(1, cv2.countNonZero(watched))


def blobs(changed: Image, picture: Image, lit: Image, view: View) -> tuple[Blob, ...]:
    """The connected regions of a mask of changes, without specks; `lit` is the table at rest in the picture's light."""
    bridge = max(2, round(view.disk_px / 5))
    opened = cv2.morphologyEx(changed, cv2.MORPH_OPEN, np.ones((bridge, bridge), np.uint8))
    _, labels, stats, centres = cv2.connectedComponentsWithStats(opened)
    height, width = changed.shape
    scale = view.shrink
    found = []
    for label in np.flatnonzero(stats[:, cv2.CC_STAT_AREA] >= _BLOB_SHARE * _disk_area(view)):
        if label == 0:
            continue
        x, y, wide, high, area = (int(value) for value in stats[label])
        part = (slice(y, y + high), slice(x, x + wide))
        own = (labels[part] == label).astype(np.uint8)
        inner = cv2.erode(own, np.ones((bridge + 2, bridge + 2), np.uint8))
        inside = np.asarray(inner if inner.any() else own, dtype=np.uint8)
        sides = cv2.minAreaRect(cv2.findNonZero(own))[1]
        found.append(
            Blob(
                ((centres[label][0] + 0.5) * scale - 0.5, (centres[label][1] + 0.5) * scale - 0.5),
                float(area * scale**2),
                (max(sides) + 1) * scale,
                (min(sides) + 1) * scale,
                x == 0 or y == 0 or x + wide == width or y + high == height,
                float(cv2.countNonZero(cv2.bitwise_and(own, view.board[part][:, :, 0])) * scale**2),
                _free_share(changed, labels, int(label), (x, y, wide, high), bridge + 2),
                _mean_bgr(picture[part], inside),
                _mean_bgr(lit[part], inside),
            )
        )
    return tuple(found)


def _free_share(
    changed: Image, labels: cv2.typing.MatLike, label: int, box: tuple[int, int, int, int], reach: int
) -> float:
    """How much of the ring `reach` pixels wide round one region of a mask of changes is not changed."""
    x, y, wide, high = box
    part = (slice(max(0, y - reach), y + high + reach), slice(max(0, x - reach), x + wide + reach))
    own = (labels[part] == label).astype(np.uint8)
    grown = cv2.dilate(own, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1)))
    # The pixels next to the region are its own blurred edge.
    near = cv2.dilate(own, np.ones((3, 3), np.uint8))
    ring = grown.astype(bool) & ~near.astype(bool)
    return 1.0 - float((changed[part][ring] > 0).mean()) if ring.any() else 0.0


def change_levels(picture: Image, lit: Image, view: View) -> Image:
    """By how many levels each place of a picture differs from the relit table at rest, noise and edges smoothed."""
    sigma = view.disk_px / 8
    smooth, bare = (cv2.GaussianBlur(each, (0, 0), sigma) for each in (picture, lit))
    blue, green, red = cv2.split(cv2.absdiff(smooth, bare))
    return np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)


def mean_level(levels: Image, centre_px: tuple[float, float], radius_px: float, view: View) -> float:
    """The mean of a small one-channel picture within a circle given in pixels of the full picture."""
    return cv2.mean(levels, _circle(levels, centre_px, radius_px, view))[0]


def mean_bgr(
    picture: Image, centre_px: tuple[float, float], radius_px: float, view: View
) -> tuple[float, float, float]:
    """A small picture's mean colour within a circle given in pixels of the full picture."""
    return _mean_bgr(picture, _circle(picture, centre_px, radius_px, view))


def _circle(picture: Image, centre_px: tuple[float, float], radius_px: float, view: View) -> Image:
    mask = np.zeros(picture.shape[:2], np.uint8)
    x, y = ((value + 0.5) / view.shrink - 0.5 for value in centre_px)
    cv2.circle(mask, (round(x), round(y)), max(1, round(radius_px / view.shrink)), 1, -1)
    return mask


def _any_channel(over: cv2.typing.MatLike) -> Image:
    blue, green, red = cv2.split(over)
    mask = cv2.threshold(cv2.max(cv2.max(blue, green), red), 0, 255, cv2.THRESH_BINARY)[1]
    return np.asarray(mask, dtype=np.uint8)


def _above(picture: cv2.typing.MatLike, level: int) -> Image:
    return np.asarray(cv2.threshold(picture, level - 1, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def _slope(picture: Image) -> Image:
    """By how much each value's neighbours differ among themselves: twice the step from pixel to pixel."""
    gradient = cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    return np.asarray(gradient, dtype=np.uint8)


def _mean_bgr(picture: Image, mask: Image) -> tuple[float, float, float]:
    blue, green, red, _ = cv2.mean(picture, mask)
    return blue, green, red


def _disk_area(view: View) -> float:
    return float(np.pi / 4 * view.disk_px**2)


def _robust_fit(design: Floats, values: Floats, share: Floats) -> Floats:
    """The design's fit to `values` (n, k), where most rows follow it and the rest, hands and disks, do not (Tukey).

    Rows count by their share (n, 1), from 0 to 1.
    """
    known = share[:, 0] > _LEAST_TOLD
    if known.sum() < design.shape[1]:
        return np.zeros_like(values)
    fitted = np.broadcast_to(np.median(values[known], axis=0), values.shape)
    for _ in range(4):
        off = np.abs(values - fitted).max(axis=1)
        reach = 4.7 * max(1.48 * float(np.median(off[known])), 0.004)
        weight = np.where(known, share[:, 0] * np.clip(1 - (off / reach) ** 2, 0, None) ** 2, 0.0)[:, None]
        normal = design.T @ (weight * design) + 1e-9 * np.eye(design.shape[1])
        fitted = design @ np.linalg.solve(normal, design.T @ (weight * values))
    return np.asarray(fitted)
