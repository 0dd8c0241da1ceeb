"""Where the camera stands and how its lens draws: the simulation's side of `vision.calibration`."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vision.board import Floats
from vision.calibration import Calibration


class Sheet(Protocol):
    """What lies on the table, as far as a view needs it; a value that can be hashed."""

    @property
    def width_mm(self) -> float:
        """Along x."""

    @property
    def length_mm(self) -> float:
        """Along y."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera stands and how its lens draws."""

    size_wh: tuple[int, int] = (1280, 720)
    fov_x_deg: float = 60.0
    tilt_deg: float = 12.0
    """From looking straight down."""
    azimuth_deg: float = -90.0
    """Side of the board on which it stands, anticlockwise from x."""
    distance_mm: float = 800.0
    roll_deg: float = 0.0
    """Turn of the picture about its middle; 0 has player A's side at the bottom when it stands there."""
    aim_mm: tuple[float, float] = (0.0, 0.0)
    """Where its axis meets the slab, from the slab's middle."""
    distortion: tuple[float, float] = (0.0, 0.0)
    """OpenCV's k1 and k2."""
    mirrored: bool = False

    def calibration(self, board: Sheet) -> Calibration:
        """The pinhole camera of this view, without distortion and mirroring."""
        return _pinhole(self, board)

    def focal_px(self) -> float:
        """Focal length in pixels."""
        return self.size_wh[0] / 2 / math.tan(math.radians(self.fov_x_deg) / 2)

    def project(self, board: Sheet, points_mm: npt.ArrayLike, z_mm: npt.ArrayLike = 0.0) -> Floats:
        """Pixels, (n, 2), of board points (n, 2) at one height or a height each, with distortion and mirroring."""
        drawn = self.drawn(board, points_mm, z_mm)
        if self.mirrored:
            drawn[:, 0] = self.size_wh[0] - 1 - drawn[:, 0]
        return drawn

    def drawn(self, board: Sheet, points_mm: npt.ArrayLike, z_mm: npt.ArrayLike = 0.0) -> Floats:
        """As `project`, before the picture is mirrored."""
        points = np.asarray(points_mm, dtype=np.float64)
        matrix = self.calibration(board).matrix()
        mapped = points @ matrix[:, :2].T + np.outer(np.broadcast_to(z_mm, len(points)), matrix[:, 2]) + matrix[:, 3]
        middle = (np.array(self.size_wh) - 1) / 2
        off = (mapped[:, :2] / mapped[:, 2:] - middle) / self.focal_px()
        square = (off**2).sum(axis=1, keepdims=True)
        bent = 1 + self.distortion[0] * square + self.distortion[1] * square**2
        return np.asarray(off * bent * self.focal_px() + middle)


def view_of(calibration: Calibration, board: Sheet) -> View:
    """The view without distortion from which a board is seen so."""
    width, height = calibration.size_wh
    aim = calibration.board_from_px([[(width - 1) / 2, (height - 1) / 2]])[0]
    back = calibration.camera_mm() - (*aim, 0.0)
    distance_mm = float(np.linalg.norm(back))
    level = View(
        calibration.size_wh,
        calibration.fov_x_deg,
        math.degrees(math.acos(back[2] / distance_mm)),
        math.degrees(math.atan2(back[1], back[0])),
        distance_mm,
        0.0,
        (float(aim[0] - board.width_mm / 2), float(aim[1] - board.length_mm / 2)),
    )
    ends = np.array([aim, (aim[0] + 1.0, aim[1])])
    turned, straight = (np.subtract(*px[::-1]) for px in (calibration.project(ends), level.project(board, ends)))
    return replace(
        level, roll_deg=math.degrees(math.atan2(straight[1], straight[0]) - math.atan2(turned[1], turned[0]))
    )


@lru_cache(maxsize=64)
def _pinhole(view: View, board: Sheet) -> Calibration:
    tilt, azimuth, roll = (math.radians(angle) for angle in (view.tilt_deg, view.azimuth_deg, view.roll_deg))
    back = np.array([math.sin(tilt) * math.cos(azimuth), math.sin(tilt) * math.sin(azimuth), math.cos(tilt)])
    target = np.array([board.width_mm / 2 + view.aim_mm[0], board.length_mm / 2 + view.aim_mm[1], 0.0])
    eye = target + view.distance_mm * back
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    down = np.cross(-back, right)
    turn = np.array([[math.cos(roll), math.sin(roll), 0], [-math.sin(roll), math.cos(roll), 0], [0, 0, 1]])
    rotation = turn @ np.stack([right, down, -back])
    width, height = view.size_wh
    focal_px = view.focal_px()
    camera = np.array([[focal_px, 0, (width - 1) / 2], [0, focal_px, (height - 1) / 2], [0, 0, 1]])
    matrix = camera @ np.column_stack([rotation, -rotation @ eye])
    matrix = matrix / matrix[2, 3]
    return Calibration(view.size_wh, tuple(float(value) for value in matrix.ravel()), 0.0, view.fov_x_deg, True)
