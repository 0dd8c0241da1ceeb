"""Printed marks (ArUco): finds a board by those in its corners, and reads the tokens that lie on it.

The board is looked at in the plane of the tokens' tops, where every mark has the same size, whatever the view; what has
another size is none. Board millimetres run with the rows: y grows from the marks 0 and 1 to the marks 3 and 2.

A square without a token that was read is empty only where it looks like paper: as bright and of the colour that its
neighbours have, and as even. Anything else there is a token that cannot be read, a hand, or glare.
"""

from collections.abc import Collection
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
_SQUARES_PX_PER_MM = 2
_INNER_SHARE = 0.6
"""Of a square's side: beyond it are its lines, and what leans over from the next one."""
_EVEN_SHARE = 0.07
"""Of the brightness: empty squares of path-traced boards vary by 0.017 at most, and marks by 0.3 at least."""
_PAPER_SHARE = 0.12
"""Of the brightness or a colour: empty squares differ by 0.05 at most from what is expected there, a hand by 0.2."""
_FIT_ROUNDS = 12
_CHANGED_SHARE = 0.05
"""Of the brightness, on average over a square: less than this is no change of what lies there."""

Cells = Collection[tuple[int, int]]
"""Squares by row and column, from 0."""
Part = tuple[int, int, int, int]
"""Rows and columns of a part of the board: the first row and column, and those after the last."""


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


def read_tokens(
    image_bgr: Image, calibration: Calibration, profile: Profile, part: Part | None = None
) -> tuple[Token, ...]:
    """The tokens whose centres lie on the board's squares, or on those of a part, in a picture (h, w, 3)."""
    board, marks = _board_of(profile)
    part = part or (0, 0, board.rows, board.columns)
    top, left, _, _ = part
    found: list[tuple[int, Floats]] = []
    for scale in _PX_PER_MM:
        flat = _rectified(image_bgr, calibration, board, marks, part, scale)
        for picture in (flat, _sharpened(flat)):
            for mark, corners in _detect(picture, marks, _token_parameters(scale, marks, max(flat.shape))):
                side_mm = _side(corners) / scale
                if mark in TOKENS and abs(side_mm / marks.mark_mm - 1) < _SIZE_SLACK:
                    off_mm = np.array([left - 1, top - 1]) * board.square_mm
                    found.append((mark, (corners.mean(axis=0) + 0.5) / scale + off_mm))
    return tuple(_token(mark, places, board) for mark, places in _joined(found) if _on_part(places, board, part))


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """What the inner part of each square looks like: (rows, columns, pixels, 3), blue first, softened."""

    pixels: npt.NDArray[np.float32]

    @property
    def colours(self) -> npt.NDArray[np.float32]:
        """The median colour of each square, (rows, columns, 3)."""
        return np.asarray(np.median(self.pixels, axis=2))

    @property
    def gray(self) -> npt.NDArray[np.float32]:
        """The brightness of each pixel, (rows, columns, pixels)."""
        return np.asarray(self.pixels.mean(axis=3))


def see_squares(image_bgr: Image, calibration: Calibration, profile: Profile) -> Squares:
    """The squares as they look in the plane of the paper, in a picture (h, w, 3)."""
    board, _ = _board_of(profile)
    side = round(board.square_mm * _SQUARES_PX_PER_MM)
    scale = side / board.square_mm
    pixels = np.array([[1 / scale, 0, 0.5 / scale], [0, 1 / scale, 0.5 / scale], [0, 0, 1]])
    size_wh = board.columns * side, board.rows * side
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    flat = cv2.warpPerspective(
        image_bgr, calibration.image_from_plane(0.0) @ pixels, size_wh, flags=flags, borderMode=cv2.BORDER_REPLICATE
    )
    cut = round(side * (1 - _INNER_SHARE) / 2)
    soft = cv2.GaussianBlur(flat, (0, 0), 1.0).reshape(board.rows, side, board.columns, side, 3)
    inner = soft.transpose(0, 2, 1, 3, 4)[:, :, cut : side - cut, cut : side - cut]
    return Squares(inner.reshape(board.rows, board.columns, -1, 3).astype(np.float32))


def changed_squares(before: Squares, now: Squares) -> npt.NDArray[np.bool_]:
    """Which squares, (rows, columns), look otherwise than before, in whatever light."""
    brightness = now.gray.mean(axis=2, keepdims=True), before.gray.mean(axis=2, keepdims=True)
    patterns = [gray / np.maximum(mean, 8.0) for gray, mean in zip((now.gray, before.gray), brightness, strict=True)]
    pattern = np.abs(patterns[0] - patterns[1]).mean(axis=2)
    gain = np.log(np.maximum(now.colours, 4.0) / np.maximum(before.colours, 4.0))
    # The light may have changed, by as much for most squares.
    gain = np.abs(gain - np.median(gain, axis=(0, 1))).max(axis=2)
    return np.asarray((pattern > _CHANGED_SHARE) | (gain > _PAPER_SHARE))


def unsure_squares(
    squares: Squares, taken: Cells, zones: Collection[Cells], cells: Cells
) -> tuple[tuple[int, int], ...]:
    """Which of some squares, besides those with tokens, do not look empty; a zone has a colour of its own."""
    colours = squares.colours
    gray = squares.gray
    spread = np.abs(gray - np.median(gray, axis=2, keepdims=True))
    uneven = np.quantile(spread, 0.9, axis=2) / np.maximum(np.median(gray, axis=2), 8.0)
    free = _mask(colours, cells) & ~_mask(colours, taken)
    zoned = np.any([_mask(colours, zone) for zone in zones], axis=0) if zones else np.zeros_like(free)
    off = _off_paper(colours, free & ~zoned)
    other = np.abs(off).max(axis=2) > _PAPER_SHARE
    for zone in zones:
        inside = _mask(colours, zone) & free
        if inside.any():
            middle = np.median(off[inside], axis=0)
            other[inside] = np.abs(off[inside] - middle).max(axis=1) > _PAPER_SHARE
    unsure = free & (other | (uneven > _EVEN_SHARE))
    return tuple((int(row), int(column)) for row, column in np.argwhere(unsure))


def _mask(colours: Floats | npt.NDArray[np.float32], cells: Cells) -> npt.NDArray[np.bool_]:
    mask = np.zeros(colours.shape[:2], np.bool_)
    for cell in cells:
        mask[cell] = True
    return mask


def _off_paper(colours: npt.NDArray[np.float32], paper: npt.NDArray[np.bool_]) -> Floats:
    """How far each square's colours, as logarithms, are from a surface through those that are paper, most of them.

    The surface is smooth, one for each of the two tones of a chequered board.
    """
    rows, columns = paper.shape
    row, column = np.mgrid[:rows, :columns]
    y, x = 2 * row / rows - 1, 2 * column / columns - 1
    odd = (row + column) % 2
    terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y, odd, odd * x, odd * y], axis=-1)
    logs = np.log(np.maximum(colours, 4.0)).astype(np.float64)
    off, weights = logs, paper.astype(np.float64)
    for _ in range(_FIT_ROUNDS):
        weighted = weights[paper][:, None]
        fitted = np.linalg.lstsq(terms[paper] * weighted, logs[paper] * weighted, rcond=None)[0]
        off = logs - terms @ fitted
        # Least absolute differences: what is covered pulls no harder for lying far off.
        weights = 1 / np.sqrt(np.maximum(np.abs(off).max(axis=2), 0.02))
    return np.asarray(off)


def _board_of(profile: Profile) -> tuple[SquaresBoard, Marks]:
    if not isinstance(profile.board, SquaresBoard) or profile.marks is None:
        raise ValueError("marks are read on a board of squares with [marks]")
    return profile.board, profile.marks


def _rectified(
    image_bgr: Image, calibration: Calibration, board: SquaresBoard, marks: Marks, part: Part, scale: float
) -> cv2.typing.MatLike:
    """A part of the board's plane at the height of the tokens' tops, with a square's width round it, in grey levels."""
    side_mm = board.square_mm
    top, left, bottom, right = part
    pixels = np.array(
        [
            [1 / scale, 0, 0.5 / scale + (left - 1) * side_mm],
            [0, 1 / scale, 0.5 / scale + (top - 1) * side_mm],
            [0, 0, 1],
        ]
    )
    size_wh = round((right - left + 2) * side_mm * scale), round((bottom - top + 2) * side_mm * scale)
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


def _on_part(places: Floats, board: SquaresBoard, part: Part) -> bool:
    x, y = places.mean(axis=0) / board.square_mm
    top, left, bottom, right = part
    return bool(left <= x < right and top <= y < bottom)


def _token(mark: int, places: Floats, board: SquaresBoard) -> Token:
    x, y = places.mean(axis=0)
    most = 2 * len(_PX_PER_MM)
    cell = (int(y // board.square_mm), int(x // board.square_mm))
    return Token(mark, (float(x), float(y)), cell, min(1.0, 0.5 + 0.5 * len(places) / most))
