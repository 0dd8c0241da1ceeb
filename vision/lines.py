"""The camera that fits the lines of a board of squares, and how much of each line is seen.

A line is drawn, or is where a dark and a light square meet. Each side of a square is looked at in some places, so that
what covers a part of the lines does no harm. Lines end where the board ends: so a board is never taken for one that
lies a square aside.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, SquaresBoard
from vision.calibration import Calibration, calibration_from_pose
from vision.pose import Fov, Gray, Pinhole, Single, stepped, tukey

_PLACES, _STRANDS = 8, 3
"""Each side of a square is looked at in so many places, each the mean of some lines across it, against noise."""
_MARGIN = 0.08
"""What is left out at both ends of a side, in squares: there other lines cross."""
_ROUNDS = ((0.1, 3.0), (0.05, 1.2), (0.04, 0.5))
"""How far from its place a line is sought, in squares, and the largest spread in pixels that counts as noise."""
_REACH = 0.16
"""How far to both sides of a line it is looked, in squares; a piece begins at about that."""
_STEP_PX = 0.5
_LINE = 0.04
"""About how wide a drawn line is, in squares; seen narrower than _LEAST_LINE_PX it is no line but blur."""
_LEAST_LINE_PX = 2.0
_NOISES, _LEAST_NOISE = 3.0, 0.3
"""An edge stands out from its surroundings by so many times their median slope."""
_LEAST_DEPTH = 4.0
"""A drawn line is darker or brighter than both of its sides by at least so many levels."""
_SEEN, _SEEN_PX = 0.03, 1.0
"""A line is seen where it lies so near to the fit: in squares, but no less than the pixels."""
_LEAST_SPREAD_PX = 0.15
_DEEP = 0.3
"""A drawn line is deeper than so much of what its two sides differ by; else it may be a shadow beside their edge."""
_LEAST_PLACES = 8
_STEPS = 3
_BEYOND = 2
"""So many lines beyond a board's own are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """A share for each side of the squares of a board, 0 to 1."""

    along_y: Floats
    """(columns + 1, rows)"""
    along_x: Floats
    """(rows + 1, columns)"""

    def mean(self) -> float:
        """Over all sides."""
        return float(np.concatenate([self.along_y.ravel(), self.along_x.ravel()]).mean())


@dataclass(frozen=True, slots=True)
class Shift:
    """By how many squares a board lies aside, how far that is likelier than any other shift, and how much of its sides
    is seen there."""

    columns: int
    rows: int
    lead: float
    """1 where all that tells the shift from its neighbours is seen, 0 where nothing is."""
    beyond: float
    """How much of the sides is seen that the lattice would have next to the board, where that is most."""
    seen: float


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """What is measured in each place, one row a place."""

    at_mm: Floats
    at_px: Floats
    normal: Floats
    """Of the line in the picture, of unit length."""
    offset_px: Floats
    """How far along the normal from `at_px` the line was found; NaN where there was none."""
    near_px: Floats
    """How near to the fit it counts as seen."""

    def found(self) -> "_Edges":
        """Those places in which a line was found."""
        some = np.isfinite(self.offset_px)
        return _Edges(*(part[some] for part in (self.at_mm, self.at_px, self.normal, self.offset_px, self.near_px)))

    def miss_px(self, camera: Pinhole) -> Floats:
        """How far a camera puts each place from the line that was found."""
        moved_px = camera.project(self.at_mm) - self.at_px
        return np.asarray(self.offset_px - (self.normal * moved_px).sum(axis=1))

    def seen(self, board: SquaresBoard) -> Sides:
        """How much of each side is seen."""
        seen = (np.abs(self.offset_px) < self.near_px).reshape(-1, _PLACES).mean(axis=1)
        split = (board.columns + 1) * board.rows
        return Sides(
            seen[:split].reshape(board.columns + 1, board.rows), seen[split:].reshape(board.rows + 1, board.columns)
        )


def fit_lines(gray: Gray, board: SquaresBoard, start: Calibration, fov: Fov) -> Calibration:
    """The camera that fits the lines seen in a picture, from one at most a tenth of a square off."""
    pose, focal_px = start.pose()
    camera = Pinhole(pose, focal_px, start.size_wh)
    middle_mm = board.corners_mm().mean(axis=0)
    for reach, spread_px in _ROUNDS:
        edges = _find_edges(gray, board, camera, reach).found()
        if len(edges.offset_px) < _LEAST_PLACES:
            break
        camera = _fitted(camera, edges, spread_px, middle_mm, fov)
    edges = _find_edges(gray, board, camera, _ROUNDS[-1][0])
    near = np.abs(edges.offset_px) < edges.near_px
    residual_px = float(np.sqrt(np.mean(edges.offset_px[near] ** 2))) if near.any() else math.inf
    return calibration_from_pose(camera.pose, camera.focal_px, camera.size_wh, residual_px, fov_given=start.fov_given)


def _fitted(camera: Pinhole, edges: _Edges, spread_px: float, middle_mm: Floats, fov: Fov) -> Pinhole:
    def weigh(off_px: Floats) -> Floats:
        return tukey(off_px, _LEAST_SPREAD_PX, spread_px)

    for _ in range(_STEPS):
        camera = stepped(camera, edges.miss_px, weigh, middle_mm, fov)
    return camera


def sides_seen(gray: Gray, board: SquaresBoard, calibration: Calibration) -> Sides:
    """How much of each side is seen where a camera puts it."""
    pose, focal_px = calibration.pose()
    camera = Pinhole(pose, focal_px, calibration.size_wh)
    return _find_edges(gray, board, camera, _ROUNDS[-1][0]).seen(board)


def likeliest_shift(gray: Gray, board: SquaresBoard, calibration: Calibration) -> Shift:
    """Where on the lattice that a camera has found the board lies: most of its sides are seen, and none beyond."""
    more = replace(board, columns=board.columns + 2 * _BEYOND, rows=board.rows + 2 * _BEYOND)
    beyond_mm = np.eye(4)
    beyond_mm[:2, 3] = -_BEYOND * board.square_mm
    seen = sides_seen(gray, more, calibration.with_matrix(calibration.matrix() @ beyond_mm))
    scores = _window_scores(seen.along_y, board.columns + 1, board.rows)
    scores += _window_scores(seen.along_x, board.rows + 1, board.columns).T
    column, row = np.unravel_index(scores.argmax(), scores.shape)
    best = float(scores[column, row])
    scores[column, row] = -math.inf
    # A board a square aside has one of this one's lines fewer, one side fewer of each line across it, and both beyond.
    whole = 2 * (min(board.columns, board.rows) + max(board.columns, board.rows) + 1)
    lead = (best - float(scores.max())) / whole
    along_y = seen.along_y[column : column + board.columns + 3, row : row + board.rows + 2]
    along_x = seen.along_x[row : row + board.rows + 3, column : column + board.columns + 2]
    inside = Sides(along_y[1:-1, 1:-1], along_x[1:-1, 1:-1])
    # A frame's edge runs along a board's, but no lines run on into the frame.
    beyond = max(
        min(float(around[end, 1:-1].mean()), float(other[1:-1, end].mean()))
        for around, other in ((along_y, along_x), (along_x, along_y))
        for end in (0, -1)
    )
    return Shift(int(column) + 1 - _BEYOND, int(row) + 1 - _BEYOND, lead, beyond, inside.mean())


def _window_scores(seen: Floats, lines: int, squares: int) -> Floats:
    """For each place of a window of lines in a table, from (1, 1): what lies in it, less what lies around it."""
    total = np.pad(seen.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def sums(wide: int, long: int) -> Floats:
        return np.asarray(total[wide:, long:] - total[:-wide, long:] - total[wide:, :-long] + total[:-wide, :-long])

    inside = sums(lines, squares)[1:-1, 1:-1]
    across, along = sums(lines + 2, squares)[:, 1:-1], sums(lines, squares + 2)[1:-1]
    return 3 * inside - across - along


def _find_edges(gray: Gray, board: SquaresBoard, camera: Pinhole, reach: float) -> _Edges:
    strands_mm, across_mm = _strands(board)
    strands_px = camera.project(strands_mm)
    per_mm = camera.project(strands_mm + across_mm) - strands_px
    middle = slice(_STRANDS // 2, None, _STRANDS)
    at_mm, at_px = strands_mm[middle], strands_px[middle]
    along_px = camera.project(at_mm + across_mm[middle, ::-1]) - at_px
    normal = along_px[:, ::-1] * (1, -1) / np.linalg.norm(along_px, axis=1, keepdims=True)
    scale = (normal * per_mm[middle]).sum(axis=1)

    step_mm = _STEP_PX / float(np.median(np.abs(scale)))
    line = max(_LINE * board.square_mm, _LEAST_LINE_PX * _STEP_PX * step_mm) / step_mm
    half = max(round(reach * board.square_mm / step_mm), 4)
    count = max(math.ceil(_REACH * board.square_mm / step_mm), half + 3)
    profiles = _profiles(gray, strands_px, per_mm, np.arange(-count, count + 1) * step_mm)
    place = _lines(profiles, half, line) * step_mm
    near_px = np.maximum(_SEEN * board.square_mm * np.abs(scale), _SEEN_PX)
    return _Edges(at_mm, at_px, normal, place * scale, near_px)


def _strands(board: SquaresBoard) -> tuple[Floats, Floats]:
    """Points (n, 2) on all sides in millimetres, those along y first, and the way across each (n, 2)."""
    count = _PLACES * _STRANDS
    along = _MARGIN + (1 - 2 * _MARGIN) * (np.arange(count) + 0.5) / count
    points, ways = [], []
    for axis, (lines, squares) in enumerate(((board.columns, board.rows), (board.rows, board.columns))):
        line, square, part = np.meshgrid(np.arange(lines + 1), np.arange(squares), along, indexing="ij")
        pair = np.column_stack([line.ravel(), (square + part).ravel()]) * board.square_mm
        points.append(pair[:, :: 1 - 2 * axis])
        ways.append(np.tile(np.eye(2)[axis], (len(pair), 1)))
    return np.concatenate(points), np.concatenate(ways)


def _profiles(gray: Gray, at_px: Floats, per_mm: Floats, steps_mm: npt.NDArray[np.floating[Any]]) -> Single:
    """Brightness (places, steps) across the lines."""
    at, way, steps = (values.astype(np.float32) for values in (at_px, per_mm, steps_mm))
    shape = len(at) // _STRANDS, -1  # remap takes no more than 32767 rows or columns
    x, y = ((at[:, k, None] + way[:, k, None] * steps).reshape(shape) for k in range(2))
    values = cv2.remap(gray, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(values.reshape(len(x), _STRANDS, -1).mean(axis=1, dtype=np.float32))


def _lines(profiles: Single, half: int, line: float) -> Floats:
    """Where in each profile the line lies, in steps from its middle and at most `half` off; NaN where none is clear."""
    kernel = np.array([[-1, -2, 0, 2, 1]], dtype=np.float32) / 6
    slope = np.abs(cv2.filter2D(profiles, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE))
    noise = np.median(slope, axis=1, keepdims=True) + _LEAST_NOISE
    edges = np.maximum(slope**2 - noise**2, 0)
    wide = 2 * max(1, round(0.75 * line)) + 1
    gathered = cv2.blur(edges, (wide, 1), borderType=cv2.BORDER_CONSTANT)
    steps = np.arange(profiles.shape[1]) - profiles.shape[1] // 2
    inside = np.abs(steps) <= half
    peak = steps[inside][gathered[:, inside].argmax(axis=1), None]
    near = np.abs(steps - peak) <= wide
    # A drawn line's own middle, where it is darker than both of its sides, or brighter; else where the two sides meet.
    low, high = _sides_of(profiles, steps - peak, line)
    dark, bright = (np.where(near, np.maximum(rest, 0), 0) for rest in (low - profiles, profiles - high))
    mark = np.where(dark.max(axis=1, keepdims=True) >= bright.max(axis=1, keepdims=True), dark, bright)
    drawn = mark.max(axis=1, keepdims=True) > np.maximum(2 * noise + _LEAST_DEPTH, _DEEP * (high - low))
    weight = np.where(drawn, mark, edges * near)
    total = weight.sum(axis=1)
    clear = ((slope * near).max(axis=1) > _NOISES * noise[:, 0]) & (total > 0)
    return np.where(clear, weight @ steps / np.maximum(total, 1e-9), np.nan)


def _sides_of(profiles: Single, apart: npt.NDArray[np.int_], line: float) -> tuple[Single, Single]:
    """The brightness beside lines, (n, 1), on the darker side and on the brighter: means from 1.2 to 3.2 lines away."""
    means = []
    for side in (apart, -apart):
        some = (side > 1.2 * line) & (side < 3.2 * line)
        means.append((profiles * some).sum(axis=1) / np.maximum(some.sum(axis=1), 1))
    low, high = np.minimum(*means), np.maximum(*means)
    return np.asarray(low[:, None], dtype=np.float32), np.asarray(high[:, None], dtype=np.float32)
