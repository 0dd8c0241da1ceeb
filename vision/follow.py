"""A board that a knocked camera sees elsewhere: found again by what its surface looks like, be it of any kind.

Points that stand out on the board are sought in the new picture (Lucas & Kanade 1981, on an image pyramid), and most
must have moved as one plane does; hands, moved pieces and mistaken points are then the odd ones. Where the camera was
turned so far that they are not found, points that look alike at any turn and size (SIFT) say roughly where to seek.
"""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image
from vision.calibration import Calibration, CalibrationError, calibrate

_MOST_POINTS = 300
_LEAST_POINTS = 20
_QUALITY = 0.02
_APART_SHARE = 0.02
"""Of the picture's width: points stand at least so far apart."""
_WINDOW_PX = 25
_LEVELS = 4
_BACK_PX = 1.0
"""A point that is sought back from where it was found comes out this near."""
_PLANE_PX = 1.5
_ROUGH_PX = 4.0
_STILL_PX = 0.5
"""A camera by which half of the points have moved less than this stands where it stood."""
_LEAST_SHARE = 0.4
"""Of the points that stood out: so many must be found again where the plane puts them."""
_RATIO = 0.8
"""Of the distances to the likest and the next likest point: above it they are mistaken for one another (Lowe 2004)."""
_AROUND_SHARE = 0.06
"""Of the board's size: its frame belongs to it."""
_NOT_SEEN = "the board is not seen again where it may be by the picture before"


def follow_board(before_bgr: Image, after_bgr: Image, calibration: Calibration, outline_mm: Floats) -> Calibration:
    """Where the camera stands by the second picture: `calibration` itself, which is by the first, where it was not
    knocked. `outline_mm`, (4, 2), is the board's.

    Raises CalibrationError where too little of the board is seen again to tell.
    """
    before, after = _gray(before_bgr), _gray(after_bgr)
    if before.shape != after.shape:
        raise CalibrationError("pictures of two sizes cannot be held against one another")
    middle_mm = outline_mm.mean(axis=0)
    around_px = calibration.project(middle_mm + (outline_mm - middle_mm) * (1 + 2 * _AROUND_SHARE))
    mask = np.zeros(before.shape, np.uint8)
    cv2.fillPoly(mask, [around_px.round().astype(np.int32)], 255)
    found = _tracked(before, after, mask, np.eye(3))
    if found and np.median(np.linalg.norm(found[1] - found[0], axis=1)) < _STILL_PX:
        return calibration
    plane = _plane(*found) if found else _rough_plane(before, after, mask)
    # Once more from there: a window that is turned or seen at another slant is found less exactly.
    found = None if plane is None else _tracked(before, after, mask, plane)
    if found is None:
        raise CalibrationError(_NOT_SEEN)
    from_px, to_px = found
    moved = calibrate(to_px, calibration.board_from_px(from_px), calibration.size_wh, calibration.fov_x_deg)
    # How exactly points are found again says nothing of the lens, or of how the board was found.
    return replace(moved, residual_px=calibration.residual_px, fov_given=calibration.fov_given)


def _tracked(before: Image, after: Image, mask: Image, guess: Floats) -> tuple[Floats, Floats] | None:
    """Points of the masked part of the first picture and where the second has them, (n, 2) each; `guess` (3, 3) takes
    the ones roughly to the others. None where too few move as one plane."""
    size_wh = (before.shape[1], before.shape[0])
    warped = np.asarray(cv2.warpPerspective(before, guess, size_wh, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    there = np.asarray(cv2.warpPerspective(mask, guess, size_wh), np.uint8)
    standing = cv2.goodFeaturesToTrack(warped, _MOST_POINTS, _QUALITY, _APART_SHARE * size_wh[0], mask=there)
    if standing is None or len(standing) < _LEAST_POINTS:
        return None
    start = np.asarray(standing, dtype=np.float64)
    at, seen = _sought(warped, after, start)
    back, seen_back = _sought(after, warped, at)
    good = seen & seen_back & (np.linalg.norm((back - start).reshape(-1, 2), axis=1) < _BACK_PX)
    if np.count_nonzero(good) < _LEAST_POINTS:
        return None
    from_px = _mapped(np.linalg.inv(guess), start[good])
    to_px = at[good].reshape(-1, 2)
    _, inliers = cv2.findHomography(from_px, to_px, cv2.USAC_MAGSAC, _PLANE_PX)
    kept = np.zeros(len(from_px), bool) if inliers is None else inliers.ravel() > 0
    if kept.sum() < max(_LEAST_POINTS, _LEAST_SHARE * len(start)):
        return None
    return from_px[kept], to_px[kept]


def _sought(picture: Image, other: Image, points_px: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Where the second picture has points (n, 1, 2) of the first, and whether it has them."""
    at, seen, _ = cv2.calcOpticalFlowPyrLK(
        picture,
        other,
        points_px.astype(np.float32),
        np.empty(0, np.float32),
        winSize=(_WINDOW_PX, _WINDOW_PX),
        maxLevel=_LEVELS,
    )
    return np.asarray(at, dtype=np.float64), np.asarray(seen).ravel() > 0


def _plane(from_px: Floats, to_px: Floats) -> Floats:
    return np.asarray(cv2.findHomography(from_px, to_px)[0], dtype=np.float64)


def _mapped(plane: npt.NDArray[np.floating[Any]], points_px: Floats) -> Floats:
    return np.asarray(cv2.perspectiveTransform(points_px, plane), dtype=np.float64).reshape(-1, 2)


def _gray(image_bgr: Image) -> Image:
    return np.asarray(cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _rough_plane(before: Image, after: Image, mask: Image) -> Floats | None:
    """The homography that most points that look alike agree on, or None."""
    sift = cv2.SIFT.create(2000)
    points, looks = sift.detectAndCompute(before, mask)
    others, their_looks = sift.detectAndCompute(after, None)
    if min(len(points), len(others)) < _LEAST_POINTS:
        return None
    pairs = cv2.BFMatcher().knnMatch(looks, their_looks, k=2)
    alike = [likest for likest, next_likest in pairs if likest.distance < _RATIO * next_likest.distance]
    if len(alike) < _LEAST_POINTS:
        return None
    from_px = np.array([points[pair.queryIdx].pt for pair in alike])
    to_px = np.array([others[pair.trainIdx].pt for pair in alike])
    plane, inliers = cv2.findHomography(from_px, to_px, cv2.USAC_MAGSAC, _ROUGH_PX)
    return None if plane is None or inliers.sum() < _LEAST_POINTS else np.asarray(plane, dtype=np.float64)
