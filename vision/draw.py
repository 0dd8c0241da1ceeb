"""Draws what was read on the picture it was read from, so that people can judge it by eye."""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from vision.board import Floats, HolesBoard, Image, Profile, SquaresBoard
from vision.calibration import Calibration
from vision.sighting import Reading, Sighting

Cell = tuple[int, int]
Bgr = tuple[int, int, int]

_TURN = np.linspace(0, 2 * np.pi, 48, endpoint=False)
_CIRCLE = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)
_INK_BGR = (24, 20, 18)
_PAPER_BGR = (245, 250, 252)
_DOUBT_BGR = (40, 190, 255)
_LETTERS = {"w": "F", "b": "F", "W": "S", "B": "S", "K": "C", "L": "C", "?": "?"}
"""The tops as Pathstone's records write them."""
_SHIFT = 4
"""Sub-pixel bits of cv2's drawing functions."""


def draw_sightings(image_bgr: Image, calibration: Calibration, profile: Profile, reading: Reading) -> Image:
    """A copy of the picture with the board's outline, a lettered ring on each disk and a cross on each hidden cell.

    The picture may be shrunk from the size that the calibration was made at. A disk that is not lying plainly says
    how it lies.
    """
    drawn = image_bgr.copy()
    scale = image_bgr.shape[1] / calibration.size_wh[0]
    board = profile.board
    _outline(drawn, _project(calibration, board.corners_mm(), 0.0, scale), closed=True)
    if isinstance(board, HolesBoard):
        for y_mm in (board.launch_line_mm, board.length_mm - board.launch_line_mm):
            ends_mm = np.array([[0.0, y_mm], [board.width_mm, y_mm]])
            _outline(drawn, _project(calibration, ends_mm, 0.0, scale), closed=False)
    cells_mm = board.cells_mm().reshape(board.rows, board.columns, 2)
    for row, column in reading.hidden:
        arm_mm = 8.0 * np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
        arms = _project(calibration, cells_mm[row - 1, column - 1] + arm_mm, 0.0, scale)
        _outline(drawn, arms[:2], closed=False, colour_bgr=_DOUBT_BGR)
        _outline(drawn, arms[2:], closed=False, colour_bgr=_DOUBT_BGR)
    colours = dict(profile.colours)
    if not isinstance(board, SquaresBoard):
        for disk in reading.disks:
            top_mm = board.disk_height_mm if isinstance(board, HolesBoard) and disk.cell is None else 0.0
            rim_mm = np.array(disk.centre_mm) + board.disk_diameter_mm / 2 * _CIRCLE
            _disk(drawn, disk, _project(calibration, rim_mm, top_mm, scale), colours[disk.colour])
    return drawn


def draw_tops(image_bgr: Image, calibration: Calibration, profile: Profile, tops: Sequence[str]) -> Image:
    """A copy of the picture with the board's outline and a plate for the top piece on each square: F, S for a wall, C,
    or ? where that is not sure. `tops` are strings a rank from rank 1 on, as `companion observe` prints them.
    """
    drawn = image_bgr.copy()
    scale = image_bgr.shape[1] / calibration.size_wh[0]
    board = profile.board
    _outline(drawn, _project(calibration, board.corners_mm(), 0.0, scale), closed=True)
    square_px = float(np.ptp(_project(calibration, board.corners_mm(), 0.0, scale)[:, 0])) / board.columns
    (_, first_bgr), (_, second_bgr) = profile.colours
    for sign, middle_px in zip("".join(tops), _project(calibration, board.cells_mm(), 0.0, scale), strict=False):
        if sign == ".":
            continue
        plate_bgr = _DOUBT_BGR if sign == "?" else first_bgr if sign in "wWK" else second_bgr
        ink_bgr = _PAPER_BGR if sum(plate_bgr) / 3 < 128 else _INK_BGR
        _text(drawn, _LETTERS[sign], middle_px, max(0.4, square_px / 130), ink_bgr, plate_bgr=plate_bgr)
    return drawn


def draw_labels(
    image_bgr: Image, calibration: Calibration, profile: Profile, labels: Mapping[Cell, tuple[str, Bgr]]
) -> Image:
    """A copy of the picture with the board's outline and a plate on each of these squares, row and column from 0."""
    drawn = image_bgr.copy()
    scale = image_bgr.shape[1] / calibration.size_wh[0]
    board = profile.board
    _outline(drawn, _project(calibration, board.corners_mm(), 0.0, scale), closed=True)
    square_px = float(np.ptp(_project(calibration, board.corners_mm(), 0.0, scale)[:, 0])) / board.columns
    middles_px = _project(calibration, board.cells_mm(), 0.0, scale)
    for (row, column), (text, plate_bgr) in labels.items():
        ink_bgr = _PAPER_BGR if sum(plate_bgr) / 3 < 128 else _INK_BGR
        middle_px = middles_px[row * board.columns + column]
        _text(drawn, text, middle_px, max(0.35, square_px / 60), ink_bgr, plate_bgr=plate_bgr)
    return drawn


def shrink_to_width(image_bgr: Image, width_px: int) -> Image:
    """The picture, shrunk where it is wider than this."""
    height, width = image_bgr.shape[:2]
    if width <= width_px:
        return image_bgr
    size_wh = (width_px, max(1, round(height * width_px / width)))
    return np.asarray(cv2.resize(image_bgr, size_wh, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def encode_jpeg(image_bgr: Image, quality: int = 80) -> bytes:
    """The picture as JPEG."""
    return bytes(cv2.imencode(".jpg", image_bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


def _disk(drawn: Image, disk: Sighting, rim: Floats, colour_bgr: tuple[int, int, int]) -> None:
    sure = disk.confidence >= 0.5
    _outline(drawn, rim, closed=True, colour_bgr=_PAPER_BGR if sure else _DOUBT_BGR)
    middle = rim.mean(axis=0)
    size = max(0.3, float(np.ptp(rim[:, 1])) / 55)
    dark = sum(colour_bgr) / 3 < 128
    _text(drawn, disk.colour.upper(), middle, size, _PAPER_BGR if dark else _INK_BGR)
    if disk.lying in ("tilted", "leaning") or disk.perhaps_tilted:
        below = np.array([middle[0], rim[:, 1].max() + 0.35 * np.ptp(rim[:, 1])])
        lying = "tilted?" if disk.perhaps_tilted else disk.lying
        _text(drawn, lying, below, 0.7 * size, _INK_BGR, plate_bgr=_PAPER_BGR)


def _text(
    drawn: Image,
    text: str,
    middle_px: Floats,
    size: float,
    colour_bgr: tuple[int, int, int],
    plate_bgr: tuple[int, int, int] | None = None,
) -> None:
    (width, ascent), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    x, y = round(float(middle_px[0]) - width / 2), round(float(middle_px[1]) + ascent / 2)
    if plate_bgr is not None:
        cv2.rectangle(drawn, (x - 4, y - ascent - 4), (x + width + 4, y + 5), plate_bgr, cv2.FILLED)
    cv2.putText(drawn, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, size, colour_bgr, 1, cv2.LINE_AA)


def _outline(drawn: Image, points_px: Floats, *, closed: bool, colour_bgr: tuple[int, int, int] = _PAPER_BGR) -> None:
    fixed = np.rint(points_px * (1 << _SHIFT)).astype(np.int32)[:, None]
    for colour, weight in ((_INK_BGR, 4), (colour_bgr, 2)):
        cv2.polylines(drawn, [fixed], closed, colour, weight, cv2.LINE_AA, _SHIFT)


def _project(calibration: Calibration, points_mm: Floats, z_mm: float, scale: float) -> Floats:
    # An integer is a pixel's centre, so the picture's edge, half a pixel out, is what scales.
    return (calibration.project(points_mm, z_mm) + 0.5) * scale - 0.5
