"""The usual recipe for round pieces, as the peer that ours is measured against: warp, HoughCircles, nearest colour.

Only `companion bench` uses it.
"""

import cv2
import numpy as np

from vision.board import HolesBoard, Image, Profile
from vision.calibration import Calibration
from vision.sighting import Reading, Sighting

_PX_PER_MM = 2.0
_MARGIN_MM = 16.0


def use_one_thread() -> None:
    """Lets OpenCV compute on one thread, so that timings compare."""
    cv2.setNumThreads(1)


def read_disks_the_usual_way(image_bgr: Image, calibration: Calibration, profile: Profile) -> Reading:
    """Circles of a disk's size on the warped board, each of the colour that is nearest to the profile's."""
    board = profile.board
    assert isinstance(board, HolesBoard)
    plane_from_flat = np.array([[1, 0, -_MARGIN_MM * _PX_PER_MM], [0, 1, -_MARGIN_MM * _PX_PER_MM], [0, 0, _PX_PER_MM]])
    size_wh = (
        round((board.width_mm + 2 * _MARGIN_MM) * _PX_PER_MM),
        round((board.length_mm + 2 * _MARGIN_MM) * _PX_PER_MM),
    )
    flat = cv2.warpPerspective(
        image_bgr, calibration.image_from_plane() @ plane_from_flat, size_wh, flags=cv2.WARP_INVERSE_MAP
    )
    radius_px = board.disk_diameter_mm / 2 * _PX_PER_MM
    found = cv2.HoughCircles(
        cv2.medianBlur(cv2.cvtColor(flat, cv2.COLOR_BGR2GRAY), 5),
        cv2.HOUGH_GRADIENT,
        dp=1,
        minDist=1.8 * radius_px,
        param1=100,
        param2=22,
        minRadius=round(0.9 * radius_px),
        maxRadius=round(1.1 * radius_px),
    )
    if found is None:
        return Reading(())
    cells_mm, disks = board.cells_mm(), []
    for x, y, _ in np.asarray(found, dtype=np.float64).reshape(-1, 3):
        row, column = round(min(max(y, 0), size_wh[1] - 1)), round(min(max(x, 0), size_wh[0] - 1))
        away = [float(np.linalg.norm(flat[row, column].astype(float) - bgr)) for _, bgr in profile.colours]
        centre_mm = (x / _PX_PER_MM - _MARGIN_MM, y / _PX_PER_MM - _MARGIN_MM)
        from_cells = np.hypot(*(cells_mm - centre_mm).T)
        nearest = int(from_cells.argmin())
        inside = from_cells[nearest] < board.hole_diameter_mm / 4
        cell = (nearest // board.columns + 1, nearest % board.columns + 1) if inside else None
        name = profile.colours[int(np.argmin(away))][0]
        disks.append(Sighting(centre_mm, 1.0, name, "in_cell" if inside else "flat", cell, 1.0))
    return Reading(tuple(disks))
