"""Finding a board with holes in a picture, and finding it again after its camera was knocked.

Edges vote for the centres of circles in a small copy of the picture. Centres that lie on a lattice, with as many
distinct cells as possible in a window of the board's rows and columns, say roughly where the board is. (To count
every centre on the lattice would favour lattices finer than the board's.) Seen straight down from there all holes
have one known size, so a second vote is sharp; at last the camera is fitted to the holes' rims in the full picture.
No corner of the slab need be seen. A board is the same after half a turn: only people know where player A sits.
"""

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, HolesBoard, Profile
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.pose import Fov, Gray, RimFit, fit_rims, rims_seen

Image = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.intp]

SIDES = {"bottom": (0.0, 1.0), "right": (1.0, 0.0), "top": (0.0, -1.0), "left": (-1.0, 0.0)}
"""Where player A may sit in the picture, and the way there in pixels."""

_LEAST_PX = 100
_SMALL_PX = 640
"""Longer side of the copy in which the board is sought."""
_RADII_PX = (9.8, 12.2, 7.8, 15.3, 6.25, 19.0, 5.0, 23.8)
"""Radii of holes in that copy, the likely ones first: from boards a quarter as long as it to boards that fill it."""
_TOP_RADIUS_PX = 8.0
"""Radius of the holes in the board seen straight down."""
_MARGIN_PITCHES = 2.5
"""How far beyond its last place a board is sought: a knock of 2 degrees and 1 cm moves it by 1.3."""
_PEAKS = 130
_LEAST_COUNTED = 0.55
_LEAST_SEEN = 0.6
"""Boards with a smaller share of their holes counted, or of their rims seen, are not believed."""
_SEEN_SHARE = 0.5
"""A rim is seen when so much of it lies where the fit puts it."""
_CLEAR_LEAD = 3
"""Places that score so much less than the best are not looked at."""
_LEAST_LEAD = 2
"""By how many rims, less those seen beyond its own, a place must beat others, which share all but a row with it."""
_OUTSIDE = 0.02
"""How much of the picture's longer side a corner may lie outside of it."""
_WEBCAM = Fov(50.0, 0.25)
_GIVEN_FOV_LOG_SIGMA = 0.02
"""A stated field of view is a data sheet's, and a knocked lens may differ from it a little."""


def find_board(image_bgr: Image, profile: Profile, a_side: str | None = None) -> Calibration:
    """The camera over the board in a picture, with player A at `a_side` of it: one of SIDES, by default the bottom
    when the board lies upright in the picture and the right when it lies along it.

    Raises CalibrationError, saying why, when the board is not found or runs out of the picture.
    """
    board, gray = _board_of_holes(profile), _gray(image_bgr)
    small = _shrunk(gray)
    edges = _edge_points(small.gray)
    why = "no board with the profile's holes is seen"
    for radius_px in _RADII_PX:
        places = _places(_peaks(_votes(edges, small.gray.shape, radius_px), radius_px), radius_px, board)
        if not places:
            continue
        try:
            fit = _fit_near(gray, small, small.to_full @ _homography(places[0], board), profile)
        except CalibrationError as error:
            why = str(error)
            continue
        return _inside(_with_a_at(fit.calibration, board, a_side), board)
    raise CalibrationError(f"{why}; show the whole board in even light, or give its corners")


def refine_board(image_bgr: Image, profile: Profile, calibration: Calibration) -> Calibration:
    """The camera over the board, found again from one that puts it at most a hole's pitch and a half off: after a
    knock, or from corners clicked by hand. Player A stays on the same side.

    Raises CalibrationError, saying why, when the board is not there or too much of it is hidden.
    """
    board, gray = _board_of_holes(profile), _gray(image_bgr)
    found = _fit_near(gray, _shrunk(gray), calibration.image_from_plane(), profile).calibration
    a_end_px, b_end_px = _ends_px(found, board)
    a_was_px, _ = _ends_px(calibration, board)
    if math.dist(a_end_px, a_was_px) > math.dist(b_end_px, a_was_px):
        found = _half_turned(found, board)
    return _inside(found, board)


def board_shift_px(image_bgr: Image, profile: Profile, calibration: Calibration) -> float:
    """How far the board's corners now lie, in pixels, from where a calibration puts them; inf when its holes are not
    seen within 4 mm of their places, as after a knock or under a cloth. A quick look: a tenth of refine_board."""
    board, gray = _board_of_holes(profile), _gray(image_bgr)
    fov = Fov(calibration.fov_x_deg, 1e-3)
    fit = fit_rims(gray, board, calibration, fov, rounds=((5.0, 2.0),), rays=12)
    if _seen(fit.seen) < _LEAST_SEEN * board.columns * board.rows:
        return math.inf
    corners = board.corners_mm()
    return float(np.linalg.norm(fit.calibration.project(corners) - calibration.project(corners), axis=1).max())


@dataclass(frozen=True, slots=True)
class _Small:
    gray: Gray
    to_full: Floats
    """(3, 3), from its pixels to the full picture's."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One way to lay the board on centres seen: cells (n, 2) as column and row from 0, and their pixels (n, 2)."""

    cells: Ints
    points_px: Floats
    score: int
    """How many cells have a centre, less the places just outside the board's holes that have one too."""


def _board_of_holes(profile: Profile) -> HolesBoard:
    if not isinstance(profile.board, HolesBoard):
        raise CalibrationError("only a board with holes is found by itself; give the board's corners")
    return profile.board


def _gray(image_bgr: Image) -> Gray:
    if image_bgr.dtype != np.uint8 or image_bgr.ndim != 3 or image_bgr.shape[2] != 3:
        raise CalibrationError("not a colour picture with 8 bits a channel")
    height, width = image_bgr.shape[:2]
    if min(height, width) < _LEAST_PX:
        raise CalibrationError(f"a picture of {width} x {height} pixels is too small to find a board in")
    return np.asarray(cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _shrunk(gray: Gray) -> _Small:
    height, width = gray.shape
    part = min(1.0, _SMALL_PX / max(height, width))
    size_wh = max(1, round(width * part)), max(1, round(height * part))
    step_x, step_y = width / size_wh[0], height / size_wh[1]
    # An integer is a pixel's centre, so what the pictures share is the corner at (-0.5, -0.5).
    to_full = np.array([[step_x, 0, (step_x - 1) / 2], [0, step_y, (step_y - 1) / 2], [0, 0, 1]])
    return _Small(np.asarray(cv2.resize(gray, size_wh, interpolation=cv2.INTER_AREA), dtype=np.uint8), to_full)


def _fit_near(gray: Gray, small: _Small, rough: Floats, profile: Profile) -> RimFit:
    """The camera that fits the rims best, with the board sought around where the homography `rough` puts it."""
    board = _board_of_holes(profile)
    px_per_mm = _TOP_RADIUS_PX / (board.hole_diameter_mm / 2)
    margin_mm = _MARGIN_PITCHES * board.pitch_mm
    wide_mm, long_mm = board.width_mm + 2 * margin_mm, board.length_mm + 2 * margin_mm
    # y runs upwards in the picture, as a player at its bottom sees the board.
    top_from_board = px_per_mm * np.array([[1, 0, margin_mm], [0, -1, long_mm - margin_mm], [0, 0, 1 / px_per_mm]])
    top_from_small = top_from_board @ np.linalg.inv(rough) @ small.to_full
    size_wh = round(wide_mm * px_per_mm), round(long_mm * px_per_mm)
    top = np.asarray(cv2.warpPerspective(small.gray, top_from_small, size_wh), dtype=np.uint8)
    points = _peaks(_votes(_edge_points(top), top.shape, _TOP_RADIUS_PX), _TOP_RADIUS_PX)
    full_from_top = small.to_full @ np.linalg.inv(top_from_small)
    places = _places(points, _TOP_RADIUS_PX, board)
    likely = [place for place in places if place.score >= places[0].score - _CLEAR_LEAD]
    fits = [_fit_place(gray, place, full_from_top, profile) for place in likely]
    fits = [fit for fit in fits if _seen(fit.seen) >= _LEAST_SEEN * board.columns * board.rows]
    if not fits:
        raise CalibrationError("no board with the profile's holes is seen")
    if len(fits) > 1:
        rims = [_seen(fit.seen) - _seen_around(gray, board, fit.calibration) for fit in fits]
        fits = [fits[k] for k in np.argsort(rims)[::-1]]
        if max(rims) - sorted(rims)[-2] < _LEAST_LEAD:
            raise CalibrationError("a whole row or column of the board's holes is hidden")
    return fits[0]


def _seen(shares: Floats) -> int:
    return int(np.count_nonzero(shares >= _SEEN_SHARE))


def _seen_around(gray: Gray, board: HolesBoard, calibration: Calibration) -> int:
    """How many rims are seen where the next rows and columns would be if the board had more."""
    more = replace(
        board,
        columns=board.columns + 2,
        rows=board.rows + 2,
        margin_mm=board.margin_mm - board.pitch_mm,
        first_row_mm=board.first_row_mm - board.pitch_mm,
    )
    seen = rims_seen(gray, more, calibration).reshape(more.rows, more.columns)
    return _seen(seen) - _seen(seen[1:-1, 1:-1])


def _fit_place(gray: Gray, place: _Place, full_from_top: Floats, profile: Profile) -> RimFit:
    board = _board_of_holes(profile)
    corners_mm = board.corners_mm()
    corners_px = cv2.perspectiveTransform(corners_mm[None], full_from_top @ _homography(place, board))[0]
    start = calibrate(corners_px, corners_mm, (gray.shape[1], gray.shape[0]), profile.fov_x_deg)
    fov = _WEBCAM if profile.fov_x_deg is None else Fov(profile.fov_x_deg, _GIVEN_FOV_LOG_SIGMA)
    return fit_rims(gray, board, start, fov)


def _edge_points(gray: Gray) -> tuple[Ints, npt.NDArray[np.float32]]:
    """Pixels (n, 2) that stand out from the texture around them, and the unit gradient there (n, 2)."""
    smooth = cv2.GaussianBlur(gray, (3, 3), 0)
    slope_x, slope_y = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    steep = cv2.magnitude(slope_x, slope_y)
    y, x = np.nonzero(steep > 1.3 * cv2.blur(steep, (41, 41)) + 4)
    gradient = np.column_stack([slope_x[y, x], slope_y[y, x]]) / steep[y, x, None]
    return np.column_stack([x, y]), np.asarray(gradient, dtype=np.float32)


def _votes(
    edges: tuple[Ints, npt.NDArray[np.float32]], shape: tuple[int, ...], radius_px: float
) -> npt.NDArray[np.float32]:
    """For each pixel, the share of a rim around it that is seen. Holes are darker or lighter than the slab, and one
    may be both, so each edge votes to both of its sides."""
    points, gradient = edges
    pad = math.ceil(radius_px) + 1
    wide, high = shape[1] + 2 * pad, shape[0] + 2 * pad
    jump = np.rint(radius_px * gradient).astype(np.intp) @ np.array([1, wide])
    centre = (points + pad) @ np.array([1, wide])
    count = np.bincount(np.concatenate([centre + jump, centre - jump]), minlength=wide * high)
    sigma = 0.13 * radius_px + 0.6  # a tilted view squeezes circles by a sixth
    spread = cv2.GaussianBlur(count.reshape(high, wide).astype(np.float32), (0, 0), sigma)
    return np.asarray(spread[pad:-pad, pad:-pad] * (sigma**2 / radius_px), dtype=np.float32)


def _peaks(votes: npt.NDArray[np.float32], radius_px: float) -> Floats:
    """The likeliest centres (n, 2), best first."""
    side = 2 * int(0.9 * radius_px) + 1
    y, x = np.nonzero((votes >= cv2.dilate(votes, np.ones((side, side), dtype=np.uint8))) & (votes > 0.2))
    best = np.argsort(-votes[y, x], kind="stable")[:_PEAKS]
    return np.column_stack([x, y])[best].astype(np.float64)


def _places(points: Floats, radius_px: float, board: HolesBoard) -> list[_Place]:
    """Ways to lay the board on centres seen, the likeliest first."""
    pitch_px = radius_px * board.pitch_mm / (board.hole_diameter_mm / 2)
    best: list[_Place] = []
    for middle, axes in _starts(points, pitch_px):
        places = _windows(*_grown(points, middle, axes), board)
        if places and (not best or places[0].score > best[0].score):
            best = places
    return [place for place in best if len(place.cells) >= _LEAST_COUNTED * board.columns * board.rows]


def _starts(points: Floats, pitch_px: float) -> list[tuple[Floats, Floats]]:
    """Three choices of a centre (2,) and the steps to its neighbours to the right and above, the columns of a (2, 2)
    matrix, that explain the most centres within two steps around."""
    middles, axes = [], []
    for point in points[:40]:
        way = points - point
        length = np.hypot(way[:, 0], way[:, 1])
        near = (length > 0.6 * pitch_px) & (length < 1.3 * pitch_px)
        way, length = way[near], length[near]
        sine = (np.outer(way[:, 0], way[:, 1]) - np.outer(way[:, 1], way[:, 0])) / np.outer(length, length)
        right, above = np.nonzero((sine < -0.75) & (np.abs(np.log(length[:, None] / length)) < 0.5))
        middles += [point] * len(right)
        axes += list(np.stack([way[right], way[above]], axis=2))
    if not axes:
        return []
    steps = np.einsum("sij,snj->sni", np.linalg.inv(axes), points - np.array(middles)[:, None])
    cells = np.rint(steps)
    fits = (np.abs(steps - cells) < 0.18).all(axis=2) & (np.abs(cells) <= 2).all(axis=2)
    explained = np.zeros((len(axes), 25), dtype=bool)
    start, point_index = np.nonzero(fits)
    explained[start, (cells[start, point_index] @ (5, 1) + 12).astype(np.intp)] = True
    return [(middles[k], axes[k]) for k in np.argsort(-explained.sum(axis=1), kind="stable")[:3]]


def _grown(points: Floats, middle: Floats, axes: Floats) -> tuple[Ints, Floats]:
    """The lattice grown outwards from its first cells: (n, 2) steps from the middle, and the centres there (n, 2)."""
    homography = np.eye(3)
    homography[:2, :2], homography[:2, 2] = axes, middle
    for reach in (2, 3, 5, 12, 12):
        mapped = np.column_stack([points, np.ones(len(points))]) @ np.linalg.inv(homography).T
        steps = mapped[:, :2] / mapped[:, 2:]
        cells = np.rint(steps)
        fits = (np.abs(steps - cells) < 0.2).all(axis=1) & (np.abs(cells) <= reach).all(axis=1)
        found = cv2.findHomography(cells[fits], points[fits])[0] if fits.sum() >= 9 else None
        if found is None or abs(np.linalg.det(found)) < 1e-9:
            break
        homography = found
    return cells[fits].astype(np.intp), points[fits]


def _windows(steps: Ints, points: Floats, board: HolesBoard) -> list[_Place]:
    """Windows of the board's columns and rows on a lattice, either way round, the likeliest first."""
    if len(steps) == 0:
        return []
    size = np.array([board.columns, board.rows])
    places = []
    for cells in (steps, np.column_stack([steps[:, 1], -steps[:, 0]])):
        cells = cells - cells.min(axis=0) + size + 1
        taken = np.zeros(cells.max(axis=0) + size + 2, dtype=np.int32)
        taken[cells[:, 0], cells[:, 1]] = 1
        within, around = _window_sums(taken, size)[1:-1, 1:-1], _window_sums(taken, size + 2)
        score = 2 * within - around
        for first in np.argsort(-score, axis=None, kind="stable")[:4]:
            inside = cells - np.unravel_index(first, score.shape) - 1
            keep = np.flatnonzero(((inside >= 0) & (inside < size)).all(axis=1))
            # Of two centres on one cell the likelier comes first.
            keep = keep[np.unique(inside[keep] @ (1, size[0]), return_index=True)[1]]
            places.append(_Place(inside[keep], points[keep], int(score.flat[first])))
    return sorted(places, key=lambda place: -place.score)


def _window_sums(taken: npt.NDArray[np.int32], size: Ints) -> npt.NDArray[np.int32]:
    """For each place that a window of this size can have in a table, the sum of what it covers."""
    total = np.pad(taken.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    columns, rows = size
    sums = total[columns:, rows:] - total[:-columns, rows:] - total[columns:, :-rows] + total[:-columns, :-rows]
    return np.asarray(sums, dtype=np.int32)


def _homography(place: _Place, board: HolesBoard) -> Floats:
    """(3, 3), from board millimetres to the pixels of a place."""
    points_mm = board.cells_mm().reshape(board.rows, board.columns, 2)[place.cells[:, 1], place.cells[:, 0]]
    return np.asarray(cv2.findHomography(points_mm, place.points_px)[0])


def _ends_px(calibration: Calibration, board: HolesBoard) -> tuple[Floats, Floats]:
    """The middles of the slab's edges at player A and at player B, in pixels."""
    a_end, b_end = calibration.project([[board.width_mm / 2, 0.0], [board.width_mm / 2, board.length_mm]])
    return a_end, b_end


def _with_a_at(calibration: Calibration, board: HolesBoard, a_side: str | None) -> Calibration:
    a_end_px, b_end_px = _ends_px(calibration, board)
    along = (a_end_px - b_end_px) / np.linalg.norm(a_end_px - b_end_px)
    upright = abs(along[1]) >= abs(along[0])
    side = a_side or ("bottom" if upright else "right")
    towards = float(along @ SIDES[side])
    if abs(towards) < 0.5:
        ends = "bottom or top" if upright else "right or left"
        raise CalibrationError(f"the board's ends are at the picture's {ends}, so player A cannot sit at its {side}")
    return calibration if towards > 0 else _half_turned(calibration, board)


def _half_turned(calibration: Calibration, board: HolesBoard) -> Calibration:
    """The same camera over the same board, with the players' sides swapped."""
    turn = np.diag([-1.0, -1.0, 1.0, 1.0])
    turn[:2, 3] = board.width_mm, board.length_mm
    return calibration.with_matrix(calibration.matrix() @ turn)


def _inside(calibration: Calibration, board: HolesBoard) -> Calibration:
    """The calibration, unless the board runs out of its picture."""
    corners = calibration.project(board.corners_mm())
    width, height = calibration.size_wh
    spare = _OUTSIDE * max(width, height)
    beyond = {
        "left": -corners[:, 0].min(),
        "right": corners[:, 0].max() - (width - 1),
        "top": -corners[:, 1].min(),
        "bottom": corners[:, 1].max() - (height - 1),
    }
    side = max(beyond, key=lambda name: beyond[name])
    if beyond[side] > spare:
        raise CalibrationError(f"the board runs {beyond[side]:.0f} pixels out of the picture at the {side}; aim again")
    return calibration
