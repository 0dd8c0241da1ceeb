"""Where a board of squares may lie in a picture, told by its straight strokes alone.

Seen from straight above, all lines of a board run in two directions, a square apart, and end where the board ends. So
the strokes are looked at as many tilts of the camera would have them; under the likeliest tilts the board is laid where
most of its lines are covered by strokes, and the camera is fitted to these.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, SquaresBoard
from vision.calibration import focal_from_fov
from vision.pose import Fov, Gray, Pinhole, stepped, tukey

Ints = npt.NDArray[np.intp]

_LONGER_PX = 800
"""Longer side of the copy in which strokes are sought."""
_LEAST_PX, _MOST_STROKES = 14, 500
"""Shorter strokes are texture, and of more the longest are taken."""
_MOST_TILT_DEG, _TILT_STEP_DEG = 45.0, 5.0
_TILTS = 10
"""So many of the likeliest tilts are looked at closely."""
_LEAST_DEPTH = 0.3
"""What a tilt moves nearer to the horizon than this is left out."""
_ALONG_DEG = 3.0
"""How far from a board's directions its strokes may run, where the tilt is about right."""
_SHARP_PX = 2
"""Strokes of one line lie within so many pixels of the small copy."""
_LEAST_SIDE, _MOST_SIDE = 0.2, 1.1
"""A board's longer side as a share of the picture's."""
_PITCH_STEP = 1.025
_ACROSS, _ALONG = 12, 3
"""Parts of a square in which strokes are counted: across the lines and along them."""
_BETWEEN = 0.7
"""What is covered midway between lines speaks against a place, weighed so."""
_APART = 0.05
"""Of two places under one tilt the squares differ by such a share of their size."""
_NEAR = (0.16, 0.1, 0.07, 0.05)
"""How near to a line its strokes lie, in squares, as the camera is fitted to them."""
_SLANT = 0.12
"""How far a stroke may run from its line's direction."""
_LEAST_NEAR = 6
_SPREAD_MM = 0.3
_STEPS = 3
_SAME = 0.25
"""Ways to lay a board whose middles lie so near, in squares, and whose sides differ by so little, are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A camera that puts the board on the strokes, and the share of the board's lines that they cover."""

    camera: Pinhole
    covered: float


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Points on the strokes that run in one of a board's directions, with the length that each stands for.

    Points (n, 2) lie along the first and the second of the board's axes, in pixels as seen from straight above.
    """

    points: Floats
    length: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Strokes as seen from straight above if a turn (3, 3) of the camera is the right one."""

    likely: float
    turn: Floats
    first_rad: float
    """Direction of the board's first axis."""
    sides: tuple[_Side, _Side]
    """What runs along the second axis, and what runs along the first: lines are told apart along the axis left over."""


@dataclass(frozen=True, slots=True)
class _Place:
    likely: float
    pitch_px: float
    first_px: tuple[float, float]
    """Where the board's origin lies."""


def strokes_px(gray: Gray) -> Floats:
    """The ends (n, 2, 2) of a picture's straight strokes, the longest first."""
    height, width = gray.shape
    part = min(1.0, _LONGER_PX / max(height, width))
    size_wh = max(1, round(width * part)), max(1, round(height * part))
    small = cv2.resize(gray, size_wh, interpolation=cv2.INTER_AREA)
    found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(small)[0]
    ends = np.zeros((0, 2, 2)) if found is None else np.asarray(found, dtype=np.float64).reshape(-1, 2, 2)
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    longest = np.argsort(-length, kind="stable")[: min(_MOST_STROKES, int((length > _LEAST_PX).sum()))]
    # An integer is a pixel's centre, so what the pictures share is the corner at (-0.5, -0.5).
    return np.asarray((ends[longest] + 0.5) * (width / size_wh[0], height / size_wh[1]) - 0.5)


def lay_board(strokes: Floats, size_wh: tuple[int, int], board: SquaresBoard, fov: Fov) -> list[Laid]:
    """Ways to lay a board on strokes, those first that the strokes cover best; which way round it lies is not told."""
    if len(strokes) < _LEAST_NEAR:
        return []
    focal_px, longer_px = focal_from_fov(fov.deg, size_wh), max(size_wh)
    middle = (np.array(size_wh) - 1) / 2
    rays = np.concatenate([(strokes - middle) / focal_px, np.ones((len(strokes), 2, 1))], axis=2)
    views = sorted((_view(rays, turn, focal_px, longer_px) for turn in _turns()), key=lambda view: -view.likely)
    laid = []
    for view in views[:_TILTS]:
        for place in _places(view.sides, board, longer_px):
            first, second = _axes(view.first_rad)
            far_mm = board.square_mm / place.pitch_px * focal_px
            shift = np.array([*(place.first_px @ np.stack([first, second])), focal_px]) * (far_mm / focal_px)
            pose = view.turn.T @ np.column_stack([[*first, 0], [*second, 0], (0, 0, -1), shift])
            laid.append(_fit(strokes, board, Pinhole(pose, focal_px, size_wh), fov))
    different: list[Laid] = []
    for one in sorted(laid, key=lambda one: -one.covered):
        if not any(_is_same(one.camera, other.camera, board) for other in different):
            different.append(one)
    return different


def _is_same(camera: Pinhole, other: Pinhole, board: SquaresBoard) -> bool:
    """Whether two cameras have the board in the same place, if not the same way round."""
    corners_mm = board.corners_mm()
    seen = other.on_board(camera.project(corners_mm))
    off_mm = float(np.linalg.norm(seen.mean(axis=0) - corners_mm.mean(axis=0)))
    size = math.sqrt(abs(cv2.contourArea(seen.astype(np.float32))) / cv2.contourArea(corners_mm.astype(np.float32)))
    return off_mm < _SAME * board.square_mm and abs(size - 1) * max(board.columns, board.rows) < _SAME


def _turns() -> Iterator[Floats]:
    """Turns (3, 3) that make a camera at any tilt look straight down, about a step apart."""
    count = math.ceil(_MOST_TILT_DEG / _TILT_STEP_DEG) + 1
    for i in range(-count, count + 1):
        for j in range(-count, count + 1):
            x_deg, y_deg = (i + j % 2 / 2) * _TILT_STEP_DEG, j * math.sqrt(0.75) * _TILT_STEP_DEG
            if math.hypot(x_deg, y_deg) <= _MOST_TILT_DEG:
                yield np.asarray(cv2.Rodrigues(np.radians([x_deg, y_deg, 0.0]))[0])


def _axes(first_rad: float) -> Floats:
    """A board's two axes (2, 2) as seen from straight above; y runs down in a picture."""
    cosine, sine = math.cos(first_rad), math.sin(first_rad)
    return np.array([[cosine, sine], [sine, -cosine]])


def _view(rays: Floats, turn: Floats, focal_px: float, longer_px: int) -> _View:
    seen = rays @ turn.T
    seen = seen[(seen[:, :, 2] > _LEAST_DEPTH).all(axis=1)]
    ends = seen[:, :, :2] / seen[:, :, 2:] * focal_px
    way = ends[:, 1] - ends[:, 0]
    length = np.hypot(way[:, 0], way[:, 1])
    angle_deg = np.degrees(np.arctan2(way[:, 1], way[:, 0]))
    count = np.bincount((angle_deg % 90).astype(np.intp) % 90, weights=length, minlength=90)
    first_deg = int((count + np.roll(count, 1)).argmax())
    inside = (np.abs(ends.mean(axis=1)) < 1.2 * longer_px).all(axis=1)
    likely, sides = 0.0, []
    for axis, quarter in enumerate((90, 0)):
        off_deg = (angle_deg - first_deg - quarter + 90) % 180 - 90
        some = inside & (np.abs(off_deg) < _ALONG_DEG)
        on_axes = ends[some] @ _axes(math.radians(first_deg)).T
        likely += _sharpness(on_axes[:, :, axis].mean(axis=1), length[some], longer_px / _LONGER_PX)
        sides.append(_side(on_axes, length[some], longer_px / 130))
    return _View(likely, turn, math.radians(first_deg), (sides[0], sides[1]))


def _sharpness(place_px: Floats, length_px: Floats, scale: float) -> float:
    """How much strokes gather in few places."""
    if not len(place_px):
        return 0.0
    bins = ((place_px - place_px.min()) / (_SHARP_PX * scale)).astype(np.intp)
    profile = np.bincount(bins, weights=np.minimum(length_px / scale, _LONGER_PX / 7))
    usual = cv2.blur(profile.reshape(1, -1), (11, 1))[0]
    return float(np.square(np.maximum(profile - usual, 0)).sum())


def _side(ends: Floats, length: Floats, step_px: float) -> _Side:
    count = np.maximum(np.ceil(length / step_px), 1).astype(np.intp)
    stroke = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(stroke)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[stroke]
    points = ends[stroke, 0] + share[:, None] * (ends[stroke, 1] - ends[stroke, 0])
    return _Side(points, (length / count)[stroke])


def _places(sides: tuple[_Side, _Side], board: SquaresBoard, longer_px: int) -> list[_Place]:
    """The two likeliest places of the board under a tilt, of squares of different sizes."""
    squares = board.columns, board.rows
    points = np.concatenate([side.points for side in sides])
    low, high = points.min(axis=0), points.max(axis=0)
    found = []
    pitch_px = _LEAST_SIDE * longer_px / max(squares)
    while pitch_px * max(squares) < _MOST_SIDE * longer_px:
        size = np.ceil((high - low) / pitch_px).astype(np.intp) + 2
        if (size > squares).all():
            found.append(_place(sides, squares, low, size, pitch_px))
        pitch_px *= _PITCH_STEP
    kept: list[_Place] = []
    for place in sorted(found, key=lambda one: -one.likely):
        if all(abs(math.log(place.pitch_px / other.pitch_px)) > _APART for other in kept):
            kept.append(place)
    return kept[:2]


def _place(sides: tuple[_Side, _Side], squares: tuple[int, int], low: Floats, size: Ints, pitch_px: float) -> _Place:
    """The likeliest place for squares of one size, in an area of `size` squares that begins at `low`."""
    tables, fines = [], []
    for axis, side in enumerate(sides):
        place = (side.points - low) / pitch_px + 1
        table = _counted(place[:, axis], place[:, 1 - axis], side.length / pitch_px, (size[axis], size[1 - axis]))
        likely = _likely(table, squares[axis], squares[1 - axis])
        # The other side's table is as coarse across these lines as this one is along them.
        step = _ACROSS // _ALONG
        pooled = likely.reshape(-1, step, likely.shape[1])
        tables.append(pooled.max(axis=1))
        fines.append(pooled.argmax(axis=1))
    both = tables[0] + tables[1].T
    i, j = np.unravel_index(both.argmax(), both.shape)
    fine = (int(i) * step + int(fines[0][i, j]), int(j) * step + int(fines[1][j, i]))
    first_x, first_y = (((at + 0.5) / _ACROSS - 1) * pitch_px + begin for at, begin in zip(fine, low, strict=True))
    return _Place(float(both[i, j]), pitch_px, (float(first_x), float(first_y)))


def _counted(across: Floats, along: Floats, length: Floats, size: tuple[int, int]) -> Floats:
    """How much of each part of a square's length strokes cover, by _ACROSS parts across and _ALONG parts along."""
    wide, long = (size[0] + 1) * _ACROSS, (size[1] + 1) * _ALONG
    index = np.floor(across * _ACROSS).astype(np.intp) * long + np.floor(along * _ALONG).astype(np.intp)
    table = np.bincount(index, weights=length * _ALONG, minlength=wide * long).reshape(wide, long)
    near = np.pad(table, ((1, 1), (0, 0)))
    return np.asarray(np.minimum(near[:-2] + near[1:-1] + near[2:], 1.0))


def _likely(table: Floats, lines: int, squares: int) -> Floats:
    """For each first part across and along, how well `lines` + 1 lines of so many squares' length are covered."""
    total = np.pad(table.cumsum(axis=1), ((0, 0), (1, 0)))
    span = squares * _ALONG
    part = (total[:, span:] - total[:, :-span])[:, :-1] / span
    reach = len(part) - lines * _ACROSS
    on = sum(part[k * _ACROSS :][:reach] for k in range(lines + 1)) / (lines + 1)
    off = sum(part[k * _ACROSS + _ACROSS // 2 :][:reach] for k in range(lines)) / lines
    return np.asarray(on - _BETWEEN * off)


def _fit(strokes: Floats, board: SquaresBoard, camera: Pinhole, fov: Fov) -> Laid:
    """The camera fitted to the strokes near to where it has the board's lines."""
    for near in _NEAR[:-1]:
        lines = _lines_near(_on_board(camera, strokes), board, near)
        if lines.close.sum() < _LEAST_NEAR:
            return Laid(camera, 0.0)
        camera = _fit_near(strokes[lines.close], lines.closest(), board, camera, fov)
    ends = _on_board(camera, strokes)
    return Laid(camera, _covered(ends, _lines_near(ends, board, _NEAR[-1]), board))


def _fit_near(strokes: Floats, lines: "_Lines", board: SquaresBoard, camera: Pinhole, fov: Fov) -> Pinhole:
    """The camera that brings the ends of strokes onto the line that each belongs to."""
    length = np.linalg.norm(strokes[:, 1] - strokes[:, 0], axis=1)
    share = np.repeat(length / length.mean() / 2, 2)

    def miss_mm(camera: Pinhole) -> Floats:
        return np.ravel(lines.line[:, None] * board.square_mm - _across(_on_board(camera, strokes), lines.axis))

    def weigh(off_mm: Floats) -> Floats:
        return np.asarray(share * tukey(off_mm, _SPREAD_MM, math.inf))

    for _ in range(_STEPS):
        camera = stepped(camera, miss_mm, weigh, board.corners_mm().mean(axis=0), fov)
    return camera


def _on_board(camera: Pinhole, ends_px: Floats) -> Floats:
    """Ends of strokes (n, 2, 2) in board millimetres."""
    return camera.on_board(ends_px.reshape(-1, 2)).reshape(-1, 2, 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Of each stroke, which line it is nearest to, along which axis such lines are counted, and whether it is close."""

    line: Floats
    axis: Ints
    close: npt.NDArray[np.bool_]

    def closest(self) -> "_Lines":
        """Those of the strokes that are close."""
        return _Lines(self.line[self.close], self.axis[self.close], self.close[self.close])


def _lines_near(ends_mm: Floats, board: SquaresBoard, near: float) -> _Lines:
    way = np.abs(ends_mm[:, 1] - ends_mm[:, 0])
    axis = (way[:, 0] > way[:, 1]).astype(np.intp)
    place = _across(ends_mm, axis) / board.square_mm
    middle = _across(ends_mm, 1 - axis).mean(axis=1) / board.square_mm
    squares = np.array([board.columns, board.rows])
    line = np.clip(np.rint(place.mean(axis=1)), 0, squares[axis])
    straight = way.min(axis=1) < _SLANT * way.max(axis=1)
    inside = (middle > 0) & (middle < squares[1 - axis])
    return _Lines(line, axis, straight & inside & (np.abs(place - line[:, None]) < near).all(axis=1))


def _across(ends: Floats, axis: Ints) -> Floats:
    """Both ends' coordinates along an axis of each stroke, (n, 2)."""
    return np.asarray(ends[np.arange(len(ends)), :, axis])


def _covered(ends_mm: Floats, lines: _Lines, board: SquaresBoard) -> float:
    parts = 2 * _ALONG
    squares = board.columns, board.rows
    seen = [np.zeros((squares[axis] + 1, squares[1 - axis] * parts)) for axis in (0, 1)]
    for k in np.flatnonzero(lines.close):
        axis = int(lines.axis[k])
        low, high = sorted(ends_mm[k, :, 1 - axis] / board.square_mm * parts)
        seen[axis][int(lines.line[k]), max(math.floor(low), 0) : max(math.ceil(high), 0)] = 1
    return float(np.concatenate([table.ravel() for table in seen]).mean())
