"""The camera that fits the rims of a board's holes.

A rim is a circle in the slab's top face, so each piece of its edge says how far off a camera is in one direction.
Rays run from the slab into each hole; the first clear edge on a ray is the rim, since nothing that lies in a hole
or is seen through it can be seen outside of it. A thousand such edges fix the camera ten times better than corners
clicked by hand; those of disks, hands and shadows disagree with one another and are weighed down.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, HolesBoard
from vision.calibration import Calibration, calibration_from_pose, camera_matrix, focal_from_fov

Gray = npt.NDArray[np.uint8]
Single = npt.NDArray[np.float32]

RAYS = 24
"""Directions in which each rim is looked for: with 40 the corners come out no better."""
_STRANDS = 3
"""Neighbouring lines whose mean is a ray, against a camera's noise."""
_ROUNDS = ((5.0, 5.0, 0.2), (2.5, 1.0, 1.0), (1.5, 0.3, 1.0))
"""How far from its place each rim is sought, in mm; the largest spread, in pixels, that counts as noise; and the
weight of rays on which the hole's wall is seen, whose foot may be taken for the rim."""
_WALL_PX = 0.8
"""Walls seen narrower than this cannot be told from the rim."""
_STEP_PX = 0.5
_REACH_PX = 3.0
"""The least reach: in small pictures an edge is wider than the last round's millimetres."""
_FOOT_WEIGHT = 0.3
"""Of the wall's foot against the rim: where it is seen depends on the slab's thickness, which is known less well."""
_NOISES = 2.5
_SHARE = 0.3
"""An edge is clear when it is so many times the slab's own texture, and so much of the sharpest on its ray."""
_STEPS = 3
_SMALL = (1e-4, 1e-4, 1e-4, 0.1, 0.1, 0.1, 1e-3)
"""Steps of `Pinhole.moved` for derivatives."""
_WIDE = (0.5, 0.5, 0.5, 500.0, 500.0, 500.0)
"""Priors on turn and shift, so wide that they only keep the system solvable."""
_CUTOFF = 4.0
"""Edges further off than so many spreads have no weight."""
_LEAST_SPREAD_PX = 0.15
_SEEN_PX = 1.0
"""A rim's edge counts as seen where it lies this near to the fit."""
_PARTS = 8
_PART_STRANDS = 6
"""Each of the slab's edges and lines is looked at in so many parts, on so many lines across each."""
_OUTLINE_REACH_PX = 12.0
_OUTLINE_NEAR_PX = 2.0
_OUTLINE_NOISES = 3.0
_RADIUS_SIGMA_MM = 0.3
"""How far a drilled and sanded hole may differ from the profile."""


@dataclass(frozen=True, slots=True)
class Fov:
    """A horizontal field of view and how well it is known: its natural logarithm's standard deviation."""

    deg: float
    log_sigma: float


@dataclass(frozen=True, slots=True)
class RimFit:
    """A fitted camera, and for each cell the share of its rim that is seen where the camera puts it."""

    calibration: Calibration
    seen: Floats


@dataclass(frozen=True, slots=True)
class _Edges:
    """What is measured on each ray, one row a ray."""

    rim_mm: Floats
    rim_px: Floats
    normal: Floats
    """Of the rim in the picture, outwards, of unit length."""
    scale: Floats
    """Pixels along the normal for a millimetre along the ray."""
    wall_px: Floats
    """How far inside of the rim, along the normal, the foot of the hole's wall is seen; 0 where the rim hides it."""
    offset_px: Floats
    """How far outside of `rim_px`, along the normal, the edge was found; NaN where there was none."""

    def at_rim(self, off_px: Floats) -> npt.NDArray[np.bool_]:
        """Whether edges so far outside of where a camera puts the rim are the rim's, not the foot's of the wall."""
        return (off_px > -self.wall_px / 2) | (self.wall_px < _WALL_PX)


@dataclass(frozen=True, slots=True)
class Pinhole:
    """A camera by the (3, 4) turn and shift (mm) from board to camera axes, as it is fitted."""

    pose: Floats
    focal_px: float
    size_wh: tuple[int, int]

    def homography(self) -> Floats:
        """(3, 3), from board millimetres at z = 0 to pixels."""
        return np.asarray(camera_matrix(self.focal_px, self.size_wh) @ self.pose[:, [0, 1, 3]])

    def project(self, points_mm: Floats) -> Floats:
        """Pixels, (n, 2), of board points (n, 2) at z = 0."""
        homography = self.homography()
        mapped = points_mm @ homography[:, :2].T + homography[:, 2]
        return np.asarray(mapped[:, :2] / mapped[:, 2:])

    def on_board(self, points_px: Floats) -> Floats:
        """Board millimetres, (n, 2), at z = 0 of what is seen at pixels (n, 2)."""
        back = np.linalg.inv(self.homography())
        mapped = points_px @ back[:, :2].T + back[:, 2]
        return np.asarray(mapped[:, :2] / mapped[:, 2:])

    def moved(self, step: Floats, middle_mm: Floats) -> "Pinhole":
        """Turned about the board's middle by step[:3] rad, shifted by step[3:6] mm, and zoomed by exp(step[6]) while
        backing off, so that the board keeps its size in the picture."""
        turned = cv2.Rodrigues(step[:3])[0] @ self.pose[:, :3]
        zoom = math.exp(step[6])
        middle = self.pose[:, :2] @ middle_mm + self.pose[:, 3]
        shift = middle * (1, 1, zoom) + step[3:6] - turned[:, :2] @ middle_mm
        return replace(self, pose=np.column_stack([turned, shift]), focal_px=self.focal_px * zoom)


def stepped(
    camera: Pinhole, miss: Callable[[Pinhole], Floats], weigh: Callable[[Floats], Floats], middle_mm: Floats, fov: Fov
) -> Pinhole:
    """One step of Gauss-Newton to where what a camera misses, (n,), is least; `weigh` gives the weight of each."""
    here = miss(camera)
    slopes = np.empty((len(here), 7))
    for k, small in enumerate(_SMALL):
        one = np.zeros(7)
        one[k] = small
        slopes[:, k] = (here - miss(camera.moved(one, middle_mm))) / small
    weighted = slopes * weigh(here)[:, None]
    prior: Floats = 1 / np.array([*_WIDE, fov.log_sigma]) ** 2
    pull = here @ weighted
    pull[6] += prior[6] * (math.log(focal_from_fov(fov.deg, camera.size_wh)) - math.log(camera.focal_px))
    step = np.linalg.solve(slopes.T @ weighted + np.diag(prior), pull).astype(np.float64)
    return camera.moved(step, middle_mm)


def tukey(miss: Floats, least: float, most: float) -> Floats:
    """Tukey's weights of what is missed, (n,), for its own spread, which lies between two bounds."""
    spread = min(max(1.4826 * float(np.median(np.abs(miss))), least), most)
    return np.asarray(np.maximum(1 - (miss / (_CUTOFF * spread)) ** 2, 0) ** 2 / spread**2)


def fit_rims(
    gray: Gray,
    board: HolesBoard,
    start: Calibration,
    fov: Fov,
    rounds: tuple[tuple[float, float, float], ...] = _ROUNDS,
    rays: int = RAYS,
) -> RimFit:
    """The camera that fits the rims seen in a picture, from one at most 4 mm off."""
    pose, focal_px = start.pose()
    camera = Pinhole(pose, focal_px, start.size_wh)
    for reach_mm, spread_px, far_weight in rounds:
        edges = _find_edges(gray, board, camera, reach_mm, rays)
        trust = np.where(edges.wall_px < _WALL_PX, 1.0, far_weight)
        camera, off_px = _fit(edges, trust, camera, board.corners_mm().mean(axis=0), fov, spread_px)
    near = np.abs(off_px) < _SEEN_PX
    residual_px = float(np.sqrt(np.mean(off_px[near] ** 2))) if near.any() else math.inf
    fitted = calibration_from_pose(camera.pose, camera.focal_px, camera.size_wh, residual_px, fov_given=start.fov_given)
    return RimFit(fitted, _seen(edges, off_px, rays))


def rims_seen(gray: Gray, board: HolesBoard, calibration: Calibration, rays: int = RAYS) -> Floats:
    """For each cell, the share of its rim that is seen where a camera puts it."""
    pose, focal_px = calibration.pose()
    edges = _find_edges(gray, board, Pinhole(pose, focal_px, calibration.size_wh), _ROUNDS[-1][0], rays)
    return _seen(edges, edges.offset_px, rays)


def outline_seen(gray: Gray, board: HolesBoard, calibration: Calibration) -> float:
    """The share of the slab's edges and launch lines that is seen where a camera puts them."""
    width, length, launch = board.width_mm, board.length_mm, board.launch_line_mm
    sides = [[[0, 0], [width, 0]], [[0, length], [width, length]], [[0, 0], [0, length]], [[width, 0], [width, length]]]
    lines = [[[0, launch], [width, launch]], [[0, length - launch], [width, length - launch]]]
    start, end = np.array([*sides, *lines], dtype=np.float64).transpose(1, 0, 2)
    share = (np.arange(_PARTS * _PART_STRANDS) + 0.5)[:, None] / (_PARTS * _PART_STRANDS)
    points_mm = (start[:, None] + share * (end - start)[:, None]).reshape(-1, 2)
    across_mm = (end - start)[:, ::-1] / np.linalg.norm(end - start, axis=1, keepdims=True)
    points_px = calibration.project(points_mm)
    across_px = calibration.project(points_mm + np.repeat(across_mm, len(share), axis=0)) - points_px
    across_px /= np.linalg.norm(across_px, axis=1, keepdims=True)
    along_px = np.arange(-_OUTLINE_REACH_PX, _OUTLINE_REACH_PX + _STEP_PX, _STEP_PX)
    slope = _slopes(gray, points_px, across_px, along_px, _PART_STRANDS)
    peak = slope[:, np.abs(along_px) <= _OUTLINE_NEAR_PX].max(axis=1)
    return float(np.mean(peak > _OUTLINE_NOISES * np.median(slope, axis=1)))


def _seen(edges: _Edges, off_px: Floats, rays: int) -> Floats:
    place_px = off_px + np.where(edges.at_rim(off_px), 0, edges.wall_px)
    return np.asarray((np.abs(place_px) < _SEEN_PX).reshape(-1, rays).mean(axis=1))


def _find_edges(gray: Gray, board: HolesBoard, camera: Pinhole, reach_mm: float, rays: int) -> _Edges:
    angle = (np.arange(rays * _STRANDS) + 0.5) * 2 * np.pi / (rays * _STRANDS)
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    cells = board.cells_mm()
    strands_mm = (cells[:, None] + board.hole_diameter_mm / 2 * out).reshape(-1, 2)
    out_mm = np.tile(out, (len(cells), 1))
    strands_px = camera.project(strands_mm)
    strands_per_mm = camera.project(strands_mm + out_mm) - strands_px

    middle = slice(_STRANDS // 2, None, _STRANDS)
    rim_mm, rim_px, per_mm = strands_mm[middle], strands_px[middle], strands_per_mm[middle]
    along = camera.project(rim_mm + out_mm[middle, ::-1] * (-1, 1)) - rim_px
    normal = along[:, ::-1] * (1, -1) / np.linalg.norm(along, axis=1, keepdims=True)
    scale = (normal * per_mm).sum(axis=1)
    # Seen from above, rims run the other way round than in board axes: the normal may point inwards.
    turn = np.sign(np.median(scale))
    normal, scale = normal * turn, scale * turn

    step_mm = _STEP_PX / float(np.median(scale))
    gap_mm = (board.pitch_mm - board.hole_diameter_mm) / 2
    reach_mm = min(max(reach_mm, _REACH_PX / _STEP_PX * step_mm), gap_mm)
    outside, inside = math.ceil(gap_mm / step_mm) + 1, math.ceil(reach_mm / step_mm) + 2
    along_mm = np.arange(outside, -inside - 1, -1) * step_mm
    slope = _slopes(gray, strands_px, strands_per_mm, along_mm, _STRANDS)
    noise = float(np.median(slope[:, : max(2, outside // 3)]))
    first = max(outside - inside, 0)
    place = _first_peak(slope[:, first:], noise)
    wall_px = _walls_mm(board, camera, out[middle]).ravel() * scale
    return _Edges(rim_mm, rim_px, normal, scale, wall_px, (along_mm[first] - place * step_mm) * scale)


def _walls_mm(board: HolesBoard, camera: Pinhole, out: Floats) -> Floats:
    """How far inside of the rim the wall's foot is seen, (cells, rays): 0 where the rim hides it."""
    eye = -camera.pose[:, :3].T @ camera.pose[:, 3]
    near = board.slab_mm / (eye[2] + board.slab_mm)
    # In the plane of the rims, the foot looks like a circle smaller by `near` and shifted towards the camera.
    shift = near * (eye[:2] - board.cells_mm())
    radius = board.hole_diameter_mm / 2
    along = shift @ out.T
    across = (shift**2).sum(axis=1, keepdims=True) - along**2
    foot = along + np.sqrt(np.maximum((radius * (1 - near)) ** 2 - across, 0))
    return np.asarray(np.clip(radius - foot, 0, None))


def _slopes(gray: Gray, at_px: Floats, step_px: Floats, along: npt.NDArray[np.floating[Any]], strands: int) -> Single:
    """How steep the picture is along each ray, (rays, points): a ray is the mean of `strands` lines in a row, each
    with its origin and its step for one unit of `along`."""
    shape = len(at_px) // strands, -1  # remap takes no more than 32767 rows or columns
    at, step, points = (values.astype(np.float32) for values in (at_px, step_px, along))
    x, y = ((at[:, k, None] + step[:, k, None] * points).reshape(shape) for k in range(2))
    values = cv2.remap(gray, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    values = values.reshape(-1, strands, len(points))
    rays = values[:, 0].astype(np.float32)
    for strand in range(1, strands):
        rays += values[:, strand]
    kernel = np.array([[-1, -2, 0, 2, 1]], dtype=np.float32)
    return np.abs(cv2.filter2D(rays, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE))


def _first_peak(slope: Single, noise: float) -> Floats:
    """Where along each ray the first clear peak lies, in steps, finer than one; NaN where there is none."""
    inner = slope[:, 1:-1]
    clear = np.maximum(_NOISES * noise, _SHARE * inner.max(axis=1, keepdims=True))
    peak = (inner >= slope[:, :-2]) & (inner > slope[:, 2:]) & (inner >= clear)
    first = peak.argmax(axis=1)
    ray = np.arange(len(slope))
    before, here, after = (slope[ray, first + k].astype(np.float64) for k in range(3))
    found = peak.any(axis=1)
    bend = np.where(found, before - 2 * here + after, -1.0)
    return np.where(found, first + 1 + (before - after) / (2 * bend), np.nan)


def _fit(
    edges: _Edges, trust: Floats, camera: Pinhole, middle_mm: Floats, fov: Fov, spread_px: float
) -> tuple[Pinhole, Floats]:
    """The camera that the edges ask for, and how far off each edge then is, in pixels (NaN where there is none).

    Gauss-Newton with Tukey's weights; the last unknown is what the holes' radius differs from the profile, in mm.
    """

    def place_px(camera: Pinhole) -> Floats:
        return np.asarray((edges.normal * (camera.project(edges.rim_mm) - edges.rim_px)).sum(axis=1))

    prior: Floats = 1 / np.array([*_WIDE, fov.log_sigma, _RADIUS_SIGMA_MM]) ** 2
    here = place_px(camera)
    slopes = np.empty((len(here), 8))
    for k, small in enumerate(_SMALL):
        one = np.zeros(7)
        one[k] = small
        slopes[:, k] = (place_px(camera.moved(one, middle_mm)) - here) / small
    slopes[:, 7] = edges.scale
    found = np.isfinite(edges.offset_px)
    aim, slopes_found = np.where(found, edges.offset_px, 0.0), np.where(found[:, None], slopes, 0.0)
    log_focal = math.log(focal_from_fov(fov.deg, camera.size_wh))
    radius_mm = 0.0
    off = aim - here
    for _ in range(_STEPS):
        at_rim = edges.at_rim(off)
        miss = off + np.where(at_rim, 0, edges.wall_px)
        spread = 1.4826 * float(np.median(np.abs(miss[found]))) if found.any() else 0.0
        spread = min(max(spread, _LEAST_SPREAD_PX), spread_px)
        weight = np.maximum(1 - (miss / (_CUTOFF * spread)) ** 2, 0) ** 2 / spread**2
        weighted = slopes_found * (weight * trust * np.where(at_rim, 1, _FOOT_WEIGHT))[:, None]
        pull = miss @ weighted
        pull[6:] += prior[6:] * (log_focal - math.log(camera.focal_px), -radius_mm)
        step = np.linalg.solve(slopes.T @ weighted + np.diag(prior), pull).astype(np.float64)
        camera = camera.moved(step[:7], middle_mm)
        radius_mm += step[7]
        off = aim - place_px(camera) - radius_mm * edges.scale
    return camera, np.where(found, off, np.nan)
