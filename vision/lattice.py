"""Finding a board of holes or of squares in a picture, and finding it again after its camera was knocked.

Holes: edges vote for the centres of circles in a small copy of the picture. Centres that lie on a lattice, with as many
distinct cells as possible in a window of the board's rows and columns, say roughly where the board is. (To count
every centre on the lattice would favour lattices finer than the board's.) Seen straight down from there all holes
have one known size, so a second vote is sharp; at last the camera is fitted to the holes' rims in the full picture.
No corner of the slab need be seen. Squares: straight strokes say where the board may be (strokes.py), then the camera
is fitted to its lines (lines.py). A board is the same after half a turn, one of squares mostly after a quarter too:
only people know where player A sits.
"""

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.board import Floats, HolesBoard, Image, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError, calibrate, calibration_from_pose
from vision.circles import Gray, centres, edge_points, lay_board, window_scores
from vision.lines import fit_lines, likeliest_shift
from vision.pose import Fov, RimFit, fit_rims, outline_seen, rims_seen
from vision.strokes import lay_board as lay_squares
from vision.strokes import strokes_px

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
_LEAST_SEEN = 0.6
"""A board with a smaller share of its holes seen is not believed."""
_LEAST_EDGE_SEEN = 0.3
_SEEN_SHARE = 0.5
"""A hole is seen when so much of its rim lies where the fit puts it."""
_UNSEEN_SHARE, _SURE_SHARE = 0.4, 0.7
"""Texture alone shows less of a rim than the first, and clear holes more than the second."""
_BEYOND = 3
"""How many rows and columns beyond the board's own are looked at, to be sure that it lies where its holes end."""
_LEAST_LEAD = 2.5
"""By how many holes a place must beat its neighbours, which share all but a row or column with it."""
_LEAST_OUTLINE_LEAD = 0.08
"""By how much of the slab's outline a place must beat another when holes cannot tell."""
_OUTSIDE = 0.02
"""How much of the picture's longer side a corner may lie outside of it."""
_WEBCAM = Fov(50.0, 0.25)
_GIVEN_FOV_LOG_SIGMA = 0.02
"""A stated field of view is a data sheet's, and a knocked lens may differ from it a little."""
_NOT_SEEN = "no board with the profile's holes is seen"
_NO_SQUARES = "no board with the profile's squares is seen"
_TRIED = 4
"""So many of the likeliest places of a board of squares are looked at in the full picture."""
_LEAST_SIDES, _MANY_SIDES = 0.6, 0.75
"""A board of squares is believed when so many of the squares' sides are seen, and where it is the second nothing better
is sought."""
_LEAST_SIDES_LEAD, _MOST_BEYOND = 0.35, 0.2
"""How clear it must be that the board does not lie a square aside, 1 where its whole outline is seen; and how much of
another row or column beside it is seen at most."""


def find_board(image_bgr: Image, profile: Profile, a_side: str | None = None) -> Calibration:
    """The camera over the board in a picture, with player A at `a_side` of it: one of SIDES, by default the bottom
    when the board lies upright in the picture and the right when it lies along it.

    Raises CalibrationError, saying why, when the board is not found or runs out of the picture.
    """
    gray = _gray(image_bgr)
    if isinstance(profile.board, SquaresBoard):
        return _inside(_with_a_at(_find_squares(gray, profile.board, profile), profile.board, a_side), profile.board)
    board = _board_of_holes(profile)
    small = _shrunk(gray)
    edges = edge_points(small.gray)
    why = _NOT_SEEN
    for radius_px in _RADII_PX:
        place = lay_board(board, centres(edges, small.size_wh(), radius_px), radius_px)
        if place is None:
            continue
        try:
            found = _fit_near(gray, small, small.to_full @ place.homography(board), profile)
        except CalibrationError as error:
            why = str(error) if why == _NOT_SEEN else why
            continue
        return _inside(_with_a_at(found, board, a_side), board)
    raise CalibrationError(f"{why}; show the whole board in even light, or give its corners")


def refine_board(image_bgr: Image, profile: Profile, calibration: Calibration) -> Calibration:
    """The camera over the board, found again from one that puts it at most a hole's pitch and a half off: after a
    knock, or from corners clicked by hand. Player A stays on the same side.

    A board of squares must be at most a tenth of a square off. Raises CalibrationError, saying why, when the board is
    not there or too much of it is hidden.
    """
    gray = _gray(image_bgr)
    _check_size(gray, calibration)
    if isinstance(profile.board, SquaresBoard):
        return _inside(_fit_squares(gray, profile.board, calibration, profile).calibration, profile.board)
    board = _board_of_holes(profile)
    if _is_seen(_quick_fit(gray, board, calibration)):
        fit = _fit(gray, calibration, profile)
        place, sure = _likeliest(gray, board, fit.calibration)
        if place.is_here() or not sure:
            return _inside(fit.calibration, board)
    found = _fit_near(gray, _shrunk(gray), calibration.image_from_plane(), profile)
    a_end_px, b_end_px = _ends_px(found, board)
    a_was_px, _ = _ends_px(calibration, board)
    if math.dist(a_end_px, a_was_px) > math.dist(b_end_px, a_was_px):
        found = _half_turned(found, board)
    return _inside(found, board)


def board_shift_px(image_bgr: Image, profile: Profile, calibration: Calibration) -> float:
    """How far the board's corners now lie, in pixels, from where a calibration puts them; inf when its holes are not
    seen within 4 mm of their places, as after a knock or under a hand that hides a row; refine_board tells which."""
    board, gray = _board_of_holes(profile), _gray(image_bgr)
    _check_size(gray, calibration)
    fit = _quick_fit(gray, board, calibration)
    seen = (fit.seen >= _SEEN_SHARE).reshape(board.rows, board.columns)
    # Knocked by a whole pitch, a board still fits, but for the row or column that has left its place.
    edges = (seen[0], seen[-1], seen[:, 0], seen[:, -1])
    if not _is_seen(fit) or min(float(np.mean(edge)) for edge in edges) < _LEAST_EDGE_SEEN:
        return math.inf
    corners = board.corners_mm()
    return float(np.linalg.norm(fit.calibration.project(corners) - calibration.project(corners), axis=1).max())


@dataclass(frozen=True, slots=True)
class _Small:
    gray: Gray
    to_full: Floats
    """(3, 3), from its pixels to the full picture's."""

    def size_wh(self) -> tuple[int, int]:
        height, width = self.gray.shape
        return width, height


@dataclass(frozen=True, slots=True)
class _Shifted:
    """A place for the board some rows, columns or a quarter turn from where a camera has it."""

    score: float
    """How many holes speak for it, less those just outside of it, which speak against it."""
    move: Floats
    """(4, 4), from the board's axes there to those here."""

    def is_here(self) -> bool:
        return np.array_equal(self.move, np.eye(4))


def _board_of_holes(profile: Profile) -> HolesBoard:
    if not isinstance(profile.board, HolesBoard):
        raise CalibrationError("only a board with holes or squares is found by itself; give the board's corners")
    return profile.board


def _gray(image_bgr: Image) -> Gray:
    if image_bgr.dtype != np.uint8 or image_bgr.ndim != 3 or image_bgr.shape[2] != 3:
        raise CalibrationError("not a colour picture with 8 bits a channel")
    height, width = image_bgr.shape[:2]
    if min(height, width) < _LEAST_PX:
        raise CalibrationError(f"a picture of {width} x {height} pixels is too small to find a board in")
    return np.asarray(cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _check_size(gray: Gray, calibration: Calibration) -> None:
    height, width = gray.shape
    if (width, height) != calibration.size_wh:
        was_width, was_height = calibration.size_wh
        raise CalibrationError(
            f"the picture is {width} x {height}, but the camera was calibrated at {was_width} x {was_height}; "
            "calibrate again"
        )


def _shrunk(gray: Gray) -> _Small:
    height, width = gray.shape
    part = min(1.0, _SMALL_PX / max(height, width))
    size_wh = max(1, round(width * part)), max(1, round(height * part))
    step_x, step_y = width / size_wh[0], height / size_wh[1]
    # An integer is a pixel's centre, so what the pictures share is the corner at (-0.5, -0.5).
    to_full = np.array([[step_x, 0, (step_x - 1) / 2], [0, step_y, (step_y - 1) / 2], [0, 0, 1]])
    return _Small(np.asarray(cv2.resize(gray, size_wh, interpolation=cv2.INTER_AREA), dtype=np.uint8), to_full)


@dataclass(frozen=True, slots=True)
class _SquaresFound:
    calibration: Calibration
    seen: float


def _find_squares(gray: Gray, board: SquaresBoard, profile: Profile) -> Calibration:
    """The camera over a board of squares, whichever way round the board lies."""
    size_wh = gray.shape[1], gray.shape[0]
    best: _SquaresFound | None = None
    why = _NO_SQUARES
    for laid in lay_squares(strokes_px(gray), size_wh, board, _fov(profile))[:_TRIED]:
        camera = laid.camera
        start = calibration_from_pose(
            camera.pose, camera.focal_px, size_wh, math.inf, fov_given=profile.fov_x_deg is not None
        )
        try:
            found = _fit_squares(gray, board, start, profile)
        except CalibrationError as error:
            why = str(error) if why == _NO_SQUARES else why
            continue
        if best is None or found.seen > best.seen:
            best = found
        if best.seen > _MANY_SIDES:
            break
    if best is None:
        raise CalibrationError(f"{why}; show the whole board in even light, or give its corners")
    return best.calibration


def _fit_squares(gray: Gray, board: SquaresBoard, start: Calibration, profile: Profile) -> _SquaresFound:
    """The camera that fits the lines of a board, or of one some squares aside if that is where its lines end."""
    found = fit_lines(gray, board, start, _fov(profile))
    shift = likeliest_shift(gray, board, found)
    if shift.seen >= _LEAST_SIDES and (shift.columns or shift.rows):
        aside = np.eye(4)
        aside[:2, 3] = shift.columns * board.square_mm, shift.rows * board.square_mm
        found = fit_lines(gray, board, found.with_matrix(found.matrix() @ aside), _fov(profile))
        shift = likeliest_shift(gray, board, found)
    if shift.seen < _LEAST_SIDES:
        raise CalibrationError(_NO_SQUARES)
    if shift.columns or shift.rows or shift.lead < _LEAST_SIDES_LEAD or shift.beyond > _MOST_BEYOND:
        raise CalibrationError("an edge of the board is hidden, or it has more squares than the profile")
    return _SquaresFound(found, shift.seen)


def _fov(profile: Profile) -> Fov:
    return _WEBCAM if profile.fov_x_deg is None else Fov(profile.fov_x_deg, _GIVEN_FOV_LOG_SIGMA)


def _fit_near(gray: Gray, small: _Small, rough: Floats, profile: Profile) -> Calibration:
    """The camera that fits the rims, with the board sought around where the homography `rough` puts it."""
    board = _board_of_holes(profile)
    start = _start_near(small, rough, board)
    if start is None:
        raise CalibrationError(_NOT_SEEN)
    corners_mm = board.corners_mm()
    corners_px = cv2.perspectiveTransform(corners_mm[None], start)[0]
    try:
        camera = calibrate(corners_px, corners_mm, (gray.shape[1], gray.shape[0]), profile.fov_x_deg)
    except CalibrationError as error:
        raise CalibrationError(_NOT_SEEN) from error
    fit = _fit(gray, camera, profile)
    place, sure = _likeliest(gray, board, fit.calibration)
    if not place.is_here():
        fit = _fit(gray, fit.calibration.with_matrix(fit.calibration.matrix() @ place.move), profile)
        place, sure = _likeliest(gray, board, fit.calibration)
    if not _is_seen(fit):
        raise CalibrationError(_NOT_SEEN)
    if not (sure and place.is_here()):
        raise CalibrationError("a whole row or column of the board's holes is hidden")
    return fit.calibration


def _start_near(small: _Small, rough: Floats, board: HolesBoard) -> Floats | None:
    """The homography from board millimetres to pixels that a second vote gives, in the board seen straight down."""
    px_per_mm = _TOP_RADIUS_PX / (board.hole_diameter_mm / 2)
    margin_mm = _MARGIN_PITCHES * board.pitch_mm
    wide_mm, long_mm = board.width_mm + 2 * margin_mm, board.length_mm + 2 * margin_mm
    # y runs upwards in the picture, as a player at its bottom sees the board.
    top_from_board = px_per_mm * np.array([[1, 0, margin_mm], [0, -1, long_mm - margin_mm], [0, 0, 1 / px_per_mm]])
    top_from_small = top_from_board @ np.linalg.inv(rough) @ small.to_full
    size_wh = round(wide_mm * px_per_mm), round(long_mm * px_per_mm)
    top = cv2.warpPerspective(small.gray, top_from_small, size_wh, borderMode=cv2.BORDER_REPLICATE)
    points = centres(edge_points(np.asarray(top, dtype=np.uint8)), size_wh, _TOP_RADIUS_PX)
    place = lay_board(board, points, _TOP_RADIUS_PX)
    return None if place is None else small.to_full @ np.linalg.inv(top_from_small) @ place.homography(board)


def _fit(gray: Gray, start: Calibration, profile: Profile) -> RimFit:
    return fit_rims(gray, _board_of_holes(profile), start, _fov(profile))


def _quick_fit(gray: Gray, board: HolesBoard, calibration: Calibration) -> RimFit:
    fov = Fov(calibration.fov_x_deg, _GIVEN_FOV_LOG_SIGMA)
    return fit_rims(gray, board, calibration, fov, rounds=((5.0, 2.0, 0.2),), rays=8)


def _is_seen(fit: RimFit) -> bool:
    return bool(np.mean(fit.seen >= _SEEN_SHARE) >= _LEAST_SEEN)


def _likeliest(gray: Gray, board: HolesBoard, calibration: Calibration) -> tuple[_Shifted, bool]:
    """The likeliest place of the board on the lattice that a camera has found, and whether no other comes near.

    Where a hand hides a whole row, the slab's outline decides.
    """
    places = _places_around(gray, board, calibration)
    near = [place for place in places if places[0].score - place.score < _LEAST_LEAD]
    if len(near) == 1:
        return near[0], True
    outlines = [outline_seen(gray, board, calibration.with_matrix(calibration.matrix() @ place.move)) for place in near]
    best, second = np.argsort(outlines)[:-3:-1]
    return near[best], outlines[best] - outlines[second] >= _LEAST_OUTLINE_LEAD


def _places_around(gray: Gray, board: HolesBoard, calibration: Calibration) -> list[_Shifted]:
    """All places near to where a camera has the board, the likeliest first."""
    size = board.columns, board.rows
    more = replace(
        board,
        columns=board.columns + 2 * _BEYOND,
        rows=board.rows + 2 * _BEYOND,
        margin_mm=board.margin_mm - _BEYOND * board.pitch_mm,
        first_row_mm=board.first_row_mm - _BEYOND * board.pitch_mm,
    )
    seen = rims_seen(gray, more, calibration, rays=12).reshape(more.rows, more.columns).T
    table = np.clip((seen - _UNSEEN_SHARE) / (_SURE_SHARE - _UNSEEN_SHARE), 0.0, 1.0)
    places = []
    for turned in (False, True):
        scores = window_scores(table, size[::-1] if turned else size)
        for (column, row), score in np.ndenumerate(scores):
            places.append(_Shifted(float(score), _move(board, (column + 1 - _BEYOND, row + 1 - _BEYOND), turned)))
    return sorted(places, key=lambda place: -place.score)


def _move(board: HolesBoard, first: tuple[int, int], turned: bool) -> Floats:
    """From the axes of a board whose lattice begins at cell `first` (column, row) of this one, to this one's axes."""
    move = np.eye(4)
    if turned:
        # Its columns run down this board's rows, from the last.
        move[:2, :2] = [[0, 1], [-1, 0]]
        last_mm = board.first_row_mm + (board.columns - 1) * board.pitch_mm
        move[:2, 3] = board.margin_mm - board.first_row_mm, last_mm + board.margin_mm
    move[:2, 3] += np.array(first) * board.pitch_mm
    return move


def _ends_px(calibration: Calibration, board: HolesBoard | SquaresBoard) -> tuple[Floats, Floats]:
    """The middles of the board's edges at player A and at player B, in pixels."""
    corners_mm = board.corners_mm()
    a_end, b_end = calibration.project([corners_mm[:2].mean(axis=0), corners_mm[2:].mean(axis=0)])
    return a_end, b_end


def _with_a_at(calibration: Calibration, board: HolesBoard | SquaresBoard, a_side: str | None) -> Calibration:
    if isinstance(board, SquaresBoard) and board.columns == board.rows:
        turned = [calibration]
        for _ in range(3):
            turned.append(_quarter_turned(turned[-1], board))
        return max(turned, key=lambda one: float(_towards_a(one, board) @ SIDES[a_side or "bottom"]))
    along = _towards_a(calibration, board)
    upright = abs(along[1]) >= abs(along[0])
    side = a_side or ("bottom" if upright else "right")
    towards = float(along @ SIDES[side])
    if abs(towards) < 0.5:
        ends = "bottom or top" if upright else "right or left"
        raise CalibrationError(f"the board's ends are at the picture's {ends}, so player A cannot sit at its {side}")
    return calibration if towards > 0 else _half_turned(calibration, board)


def _towards_a(calibration: Calibration, board: HolesBoard | SquaresBoard) -> Floats:
    """The way from player B to player A in the picture, of unit length."""
    a_end_px, b_end_px = _ends_px(calibration, board)
    return np.asarray((a_end_px - b_end_px) / np.linalg.norm(a_end_px - b_end_px))


def _half_turned(calibration: Calibration, board: HolesBoard | SquaresBoard) -> Calibration:
    """The same camera over the same board, with the players' sides swapped."""
    turn = np.diag([-1.0, -1.0, 1.0, 1.0])
    turn[:2, 3] = board.corners_mm()[2]
    return calibration.with_matrix(calibration.matrix() @ turn)


def _quarter_turned(calibration: Calibration, board: SquaresBoard) -> Calibration:
    """The same camera over the same board, with as many rows as columns, with player A on its next side."""
    turn = np.eye(4)
    turn[:2, :2] = [[0, -1], [1, 0]]
    turn[0, 3] = board.width_mm
    return calibration.with_matrix(calibration.matrix() @ turn)


def _inside(calibration: Calibration, board: HolesBoard | SquaresBoard) -> Calibration:
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
