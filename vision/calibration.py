"""Where the camera is: maps board millimetres at any height to pixels and back.

A planar board's four corners give its homography; with the field of view they give the camera's whole pose, and
with it the sideways shift of everything that lies above or below the slab's top face. Heights are z, upwards from
that face. Hartley & Zisserman, Multiple View Geometry, 2nd ed., chapters 2, 6 and 8.
"""

import json
import math
from dataclasses import asdict, dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats

_FOV_PRIOR_DEG = 50.0
"""Webcams see 35 to 75 degrees across; the prior for pictures whose profile does not say."""
_FOV_PRIOR_LOG_SIGMA = 0.25
_CORNER_SIGMA_PX = 0.5
"""How well a corner is known, when the field of view is weighed against the prior."""

_GOOD_FIT_PX = 1e-4


class CalibrationError(ValueError):
    """Corners that no camera over a board could give; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A pinhole camera over one board, for pictures of one size."""

    size_wh: tuple[int, int]
    projection: tuple[float, ...]
    """The 3 x 4 matrix from homogeneous board millimetres (x, y, z up from the slab's top) to pixels, row by row."""
    residual_px: float
    """Root mean square distance of the points it was made from to where it puts them."""
    fov_x_deg: float
    fov_given: bool
    """Whether the field of view was known; else it is estimated and heights are less sure."""

    def matrix(self) -> Floats:
        """The projection as a (3, 4) array."""
        return np.array(self.projection).reshape(3, 4)

    def image_from_plane(self, z_mm: float = 0.0) -> Floats:
        """The (3, 3) homography from board millimetres at height z_mm to pixels."""
        matrix = self.matrix()
        return np.column_stack([matrix[:, 0], matrix[:, 1], matrix[:, 2] * z_mm + matrix[:, 3]])

    def project(self, points_mm: npt.ArrayLike, z_mm: float = 0.0) -> Floats:
        """Pixels, (n, 2), of board points (n, 2) at height z_mm."""
        return _map(self.image_from_plane(z_mm), np.asarray(points_mm, dtype=np.float64))

    def board_from_px(self, points_px: npt.ArrayLike, z_mm: float = 0.0) -> Floats:
        """Board millimetres, (n, 2), of what is seen at pixels (n, 2) and lies at height z_mm."""
        inverse: Floats = np.linalg.inv(self.image_from_plane(z_mm)).astype(np.float64)
        return _map(inverse, np.asarray(points_px, dtype=np.float64))

    def shifted(self, places_mm: npt.ArrayLike, from_mm: float, to_mm: float) -> Floats:
        """Where what is seen at board points (n, 2) at one height is, if it lies at another."""
        return self.board_from_px(self.project(places_mm, from_mm), to_mm)

    def camera_mm(self) -> Floats:
        """The camera's centre in board millimetres, (3,)."""
        matrix = self.matrix()
        return np.asarray(-np.linalg.solve(matrix[:, :3], matrix[:, 3]))

    def pose(self) -> tuple[Floats, float]:
        """The (3, 4) turn and shift (mm) from board to camera axes, and the focal length in pixels."""
        focal_px = focal_from_fov(self.fov_x_deg, self.size_wh)
        pose = np.linalg.solve(camera_matrix(focal_px, self.size_wh), self.matrix())
        return pose / np.linalg.norm(pose[:, 0]), focal_px

    def with_matrix(self, matrix: Floats) -> "Calibration":
        """The same camera over other board axes: a (3, 4) projection up to scale."""
        return replace(self, projection=_flat(matrix))

    def px_per_mm(self) -> float:
        """How many pixels a millimetre spans where the camera's axis meets the board."""
        width, height = self.size_wh
        back = np.linalg.inv(self.image_from_plane())
        depth = float(back[2] @ ((width - 1) / 2, (height - 1) / 2, 1.0))
        # The determinant of a homography's derivative is its own over the cube of its third coordinate.
        return math.sqrt(abs(depth**3 / np.linalg.det(back)))

    def to_json(self) -> str:
        """This calibration as one line of JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Calibration":
        """The calibration in a JSON text. Raises CalibrationError."""
        try:
            data = json.loads(text)
            width, height = data["size_wh"]
            projection = tuple(float(value) for value in data["projection"])
            if len(projection) != 12:
                raise ValueError("the projection needs 12 numbers")
            return Calibration(
                (int(width), int(height)),
                projection,
                float(data["residual_px"]),
                float(data["fov_x_deg"]),
                bool(data["fov_given"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CalibrationError(f"not a saved calibration ({error}); calibrate again") from error


def calibrate(
    points_px: npt.ArrayLike, points_mm: npt.ArrayLike, size_wh: tuple[int, int], fov_x_deg: float | None = None
) -> Calibration:
    """The camera that sees board points (n >= 4, 2), on the slab's top face, at pixels (n, 2).

    Square pixels and a principal point in the picture's middle are assumed. Without fov_x_deg it is estimated from
    the perspective, which says little when the camera looks straight down; a prior for webcams then fills in.
    Raises CalibrationError where no such camera exists.
    """
    seen = np.ascontiguousarray(points_px, dtype=np.float64)
    board = np.ascontiguousarray(points_mm, dtype=np.float64)
    if len(seen) == 4:
        check_corners(seen)
    if fov_x_deg is not None:
        return _pose(seen, board, size_wh, fov_x_deg, given=True)
    candidates_deg = np.geomspace(25.0, 95.0, 29)
    poses = [_pose(seen, board, size_wh, float(fov), given=False) for fov in candidates_deg]
    cost = np.array([len(seen) * (pose.residual_px / _CORNER_SIGMA_PX) ** 2 for pose in poses])
    cost += (np.log(candidates_deg / _FOV_PRIOR_DEG) / _FOV_PRIOR_LOG_SIGMA) ** 2
    weight = np.exp(-(cost - cost.min()) / 2)
    best_deg = float(np.exp((weight * np.log(candidates_deg)).sum() / weight.sum()))
    return _pose(seen, board, size_wh, best_deg, given=False)


def calibrate_plane(points_px: npt.ArrayLike, points_mm: npt.ArrayLike, size_wh: tuple[int, int]) -> Calibration:
    """The homography that takes board points (n >= 4, 2) to pixels (n, 2), and nothing about heights: z has no effect.

    For boards read at one height, in pictures that may be stretched or mirrored, so that no pinhole camera fits.
    Its field of view is 0. Raises CalibrationError where the corners cross.
    """
    seen = np.ascontiguousarray(points_px, dtype=np.float64)
    board = np.ascontiguousarray(points_mm, dtype=np.float64)
    if len(seen) == 4:
        check_corners(seen)
    found, _ = cv2.findHomography(board, seen)
    if found is None:
        raise CalibrationError("no camera could see the board so; give the corners again")
    homography = np.asarray(found, dtype=np.float64)
    residual = float(np.sqrt(np.mean(np.sum((_map(homography, board) - seen) ** 2, axis=1))))
    matrix = np.column_stack([homography[:, 0], homography[:, 1], np.zeros(3), homography[:, 2]])
    return Calibration(size_wh, _flat(matrix), residual, fov_x_deg=0.0, fov_given=False)


def calibration_from_pose(
    pose: Floats, focal_px: float, size_wh: tuple[int, int], residual_px: float, *, fov_given: bool
) -> Calibration:
    """The calibration of a camera with this (3, 4) turn and shift (mm) and focal length."""
    matrix = camera_matrix(focal_px, size_wh) @ pose
    fov_x_deg = math.degrees(2 * math.atan(size_wh[0] / 2 / focal_px))
    return Calibration(size_wh, _flat(matrix), residual_px, fov_x_deg, fov_given)


def camera_matrix(focal_px: float, size_wh: tuple[int, int]) -> Floats:
    """The (3, 3) matrix of a camera with square pixels and its principal point in the picture's middle."""
    return np.array([[focal_px, 0, (size_wh[0] - 1) / 2], [0, focal_px, (size_wh[1] - 1) / 2], [0, 0, 1]])


def focal_from_fov(fov_x_deg: float, size_wh: tuple[int, int]) -> float:
    """The focal length in pixels that gives this horizontal field of view."""
    return size_wh[0] / 2 / math.tan(math.radians(fov_x_deg) / 2)


def check_corners(corners_px: Floats) -> None:
    """Raises CalibrationError unless the corners go round a quadrilateral that a camera could see."""
    if not np.isfinite(corners_px).all():
        raise CalibrationError("the corners are not numbers; give four as x,y in pixels")
    following = np.roll(corners_px, -1, axis=0) - corners_px
    turns = following[:, 0] * np.roll(following[:, 1], -1) - following[:, 1] * np.roll(following[:, 0], -1)
    if not ((turns > 1.0).all() or (turns < -1.0).all()):
        raise CalibrationError("the corners cross or lie on a line; give them in order round the board")


def _pose(seen: Floats, board: Floats, size_wh: tuple[int, int], fov_x_deg: float, *, given: bool) -> Calibration:
    camera = camera_matrix(focal_from_fov(fov_x_deg, size_wh), size_wh)
    # Board axes are x right, y away, z up: right-handed for a viewer who sees the board the right way round.
    points = np.column_stack([board, np.zeros(len(board))])
    best: tuple[float, Floats] | None = None
    # The first knows both of the poses that a flat board can have, but is far off, or no number, for some views
    # straight down; a good fit needs no second opinion.
    for method in (cv2.SOLVEPNP_IPPE, cv2.SOLVEPNP_ITERATIVE):
        try:
            _, turns, shifts, _ = cv2.solvePnPGeneric(points, seen, camera, None, flags=method)
        except cv2.error:
            continue
        for turn, shift in zip(turns, shifts, strict=True):
            turn, shift = cv2.solvePnPRefineLM(points, seen, camera, None, turn, shift)
            matrix = camera @ np.column_stack([cv2.Rodrigues(turn)[0], shift])
            residual = float(np.sqrt(np.mean(np.sum((_map(matrix[:, [0, 1, 3]], board) - seen) ** 2, axis=1))))
            if math.isfinite(residual) and (best is None or residual < best[0]):
                best = residual, matrix
        if best is not None and best[0] < _GOOD_FIT_PX:
            break
    if best is None:
        raise CalibrationError("no camera could see the board so; give the corners again")
    residual, matrix = best
    # A mirrored order of corners would put the camera under the table.
    if -np.linalg.solve(matrix[:, :3], matrix[:, 3])[2] <= 0:
        raise CalibrationError(
            "the corners run round the board the wrong way, or the picture is mirrored; "
            "give A-left, A-right, B-right, B-left, or switch mirroring off in the camera"
        )
    return Calibration(size_wh, _flat(matrix), residual, fov_x_deg, given)


def _flat(matrix: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in (matrix / matrix[2, 3]).ravel())


def _map(homography: Floats, points: Floats) -> Floats:
    mapped = np.column_stack([points, np.ones(len(points))]) @ homography.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:])
