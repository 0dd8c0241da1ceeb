"""Printed marks (ArUco): finds a board by those in its corners, and reads the tokens that lie on it.

The board is looked at in the plane of the tokens' tops, where every mark has the same size, whatever the view; what has
another size is none. Board millimetres run with the rows: y grows from the marks 0 and 1 to the marks 3 and 2.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image, Marks, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError, calibrate

CORNER_MARKS = (0, 1, 2, 3)
SEATS = 4
UNITS = 8
STONES_AND_GRAVES = (50, 51, 52)
"""These marks may lie on the board more than once."""
TOKENS = frozenset({10 * (seat + 1) + unit for seat in range(SEATS) for unit in range(UNITS)} | {*STONES_AND_GRAVES})
_CORNER_MM = 25.0
"""From both outer edges to the middle of a corner mark."""
_MODULES = 6
"""Of a mark's side, with its border."""
_PX_PER_MM = (5.0, 3.6)
"""Scales at which tokens are looked for: what one scale misses the next may find."""
_SIZE_SLACK = 0.2
"""How much larger or smaller than printed a mark may be seen."""
_APART_MM = 8.0
"""Marks nearer to each other than this are one."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token seen: its mark, its centre, and row and column from 0, row 0 beside the marks 0 and 1."""

    mark: int
    centre_mm: tuple[float, float]
    cell: tuple[int, int]
    confidence: float


def corner_marks_mm(board: SquaresBoard) -> tuple[tuple[float, float], ...]:
    """The middles of the marks 0, 1, 2 and 3."""
    wide, long = board.columns * board.square_mm - _CORNER_MM, board.rows * board.square_mm - _CORNER_MM
    return (_CORNER_MM, _CORNER_MM), (wide, _CORNER_MM), (wide, long), (_CORNER_MM, long)


def mark_modules(mark: int, marks: Marks) -> npt.NDArray[np.bool_]:
    """Which modules of a printed mark are white, (6, 6) with its border, row by row from its top."""
    return np.asarray(cv2.aruco.generateImageMarker(_dictionary(marks), mark, _MODULES) > 127)


def find_marked_board(image_bgr: Image, profile: Profile) -> Calibration:
    """The camera over a board with corner marks in a picture (h, w, 3). CalibrationError without three of them."""
    board, marks = _board_of(profile)
    gray = cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY)
    found = _detect(gray, marks, _corner_parameters())
    middles = dict(zip(CORNER_MARKS, corner_marks_mm(board), strict=True))
    half = marks.corner_mark_mm / 2
    square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    largest: dict[int, Floats] = {}
    for mark, corners in found:
        if mark in middles and (mark not in largest or _side(corners) > _side(largest[mark])):
            largest[mark] = corners
    if len(largest) < 3:
        raise CalibrationError(
            f"{len(largest)} of the 4 corner marks are seen; show the whole board, in even light and in focus"
        )
    points_px = np.concatenate(list(largest.values()))
    points_mm = np.concatenate([square + middles[mark] for mark in largest])
    return calibrate_marked(points_px, points_mm, (image_bgr.shape[1], image_bgr.shape[0]), profile)


def calibrate_marked(
    points_px: npt.ArrayLike, points_mm: Floats, size_wh: tuple[int, int], profile: Profile
) -> Calibration:
    """As `calibrate`, for board points (n >= 4, 2) whose y grows with the row. Raises CalibrationError."""
    board, _ = _board_of(profile)
    long = board.rows * board.square_mm
    # A camera sees right-handed axes: there y runs the other way.
    seen = calibrate(points_px, points_mm * (1, -1) + (0, long), size_wh, profile.fov_x_deg)
    turned = np.array([[1, 0, 0, 0], [0, -1, 0, long], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=np.float64)
    return seen.with_matrix(seen.matrix() @ turned)


def read_tokens(image_bgr: Image, calibration: Calibration, profile: Profile) -> tuple[Token, ...]:
    """The tokens whose centres lie on the board's squares, in a picture (h, w, 3)."""
    board, marks = _board_of(profile)
    found: list[tuple[int, Floats]] = []
    for scale in _PX_PER_MM:
        flat = _rectified(image_bgr, calibration, board, marks, scale)
        for picture in (flat, _sharpened(flat)):
            for mark, corners in _detect(picture, marks, _token_parameters(scale, marks, flat.shape[1])):
                side_mm = _side(corners) / scale
                if mark in TOKENS and abs(side_mm / marks.mark_mm - 1) < _SIZE_SLACK:
                    found.append((mark, (corners.mean(axis=0) + 0.5) / scale - board.square_mm))
    return tuple(_token(mark, places, board) for mark, places in _joined(found) if _on_board(places, board))


def _board_of(profile: Profile) -> tuple[SquaresBoard, Marks]:
    if not isinstance(profile.board, SquaresBoard) or profile.marks is None:
        raise ValueError("marks are read on a board of squares with [marks]")
    return profile.board, profile.marks


def _rectified(
    image_bgr: Image, calibration: Calibration, board: SquaresBoard, marks: Marks, scale: float
) -> cv2.typing.MatLike:
    """The board's plane at the height of the tokens' tops, with a square's width round it, in grey levels."""
    margin = board.square_mm
    pixels = np.array([[1 / scale, 0, 0.5 / scale - margin], [0, 1 / scale, 0.5 / scale - margin], [0, 0, 1]])
    size_wh = (
        round((board.columns * board.square_mm + 2 * margin) * scale),
        round((board.rows * board.square_mm + 2 * margin) * scale),
    )
    gray = cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY)
    from_plane = calibration.image_from_plane(marks.token_mm[1]) @ pixels
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    return cv2.warpPerspective(gray, from_plane, size_wh, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _sharpened(gray: cv2.typing.MatLike) -> cv2.typing.MatLike:
    return cv2.addWeighted(gray, 2.5, cv2.GaussianBlur(gray, (0, 0), 4), -1.5, 0)


def _dictionary(marks: Marks) -> cv2.aruco.Dictionary:
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, marks.dictionary))


def _detect(
    gray: cv2.typing.MatLike, marks: Marks, parameters: cv2.aruco.DetectorParameters
) -> list[tuple[int, Floats]]:
    corners, ids, _ = cv2.aruco.ArucoDetector(_dictionary(marks), parameters).detectMarkers(gray)
    if ids is None:
        return []
    return [
        (int(mark), np.asarray(four, np.float64).reshape(4, 2)) for mark, four in zip(ids.ravel(), corners, strict=True)
    ]


def _corner_parameters() -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = 15
    parameters.adaptiveThreshWinSizeMax = 95
    parameters.adaptiveThreshWinSizeStep = 16
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return parameters


def _token_parameters(scale: float, marks: Marks, wide: int) -> cv2.aruco.DetectorParameters:
    side = marks.mark_mm * scale
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = int(side * 0.5) | 1
    parameters.adaptiveThreshWinSizeMax = int(side * 1.6) | 1
    parameters.adaptiveThreshWinSizeStep = max(4, int(side * 0.35))
    parameters.adaptiveThreshConstant = 5
    parameters.minMarkerPerimeterRate = 4 * side * (1 - 1.5 * _SIZE_SLACK) / wide
    parameters.maxMarkerPerimeterRate = 4 * side * (1 + 1.5 * _SIZE_SLACK) / wide
    parameters.polygonalApproxAccuracyRate = 0.06
    parameters.perspectiveRemovePixelPerCell = 8
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.25
    parameters.minOtsuStdDev = 2.0
    parameters.errorCorrectionRate = 1.0
    return parameters


def _side(corners: Floats) -> float:
    """The mean length of a mark's sides."""
    return float(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).mean())


def _joined(found: list[tuple[int, Floats]]) -> list[tuple[int, Floats]]:
    """Each mark once, with all the places (n, 2) where it was found; a unit's where most agree."""
    groups: list[tuple[int, list[Floats]]] = []
    for mark, place in found:
        near = [group for group in groups if group[0] == mark and np.hypot(*(group[1][0] - place)) < _APART_MM]
        if near:
            near[0][1].append(place)
        else:
            groups.append((mark, [place]))
    groups.sort(key=lambda group: -len(group[1]))
    kept: list[tuple[int, Floats]] = []
    for mark, places in groups:
        middle = np.mean(places, axis=0)
        taken = any(np.hypot(*(other.mean(axis=0) - middle)) < _APART_MM for _, other in kept)
        again = mark not in STONES_AND_GRAVES and any(mark == other for other, _ in kept)
        if not taken and not again:
            kept.append((mark, np.array(places)))
    return kept


def _on_board(places: Floats, board: SquaresBoard) -> bool:
    x, y = places.mean(axis=0)
    return bool(0 <= x < board.columns * board.square_mm and 0 <= y < board.rows * board.square_mm)


def _token(mark: int, places: Floats, board: SquaresBoard) -> Token:
    x, y = places.mean(axis=0)
    most = 2 * len(_PX_PER_MM)
    cell = (int(y // board.square_mm), int(x // board.square_mm))
    return Token(mark, (float(x), float(y)), cell, min(1.0, 0.5 + 0.5 * len(places) / most))
