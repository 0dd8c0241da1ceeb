"""Whether a picture can be read at all: how bright it is, how much of it is burnt out, how sharp, noisy and packed."""

from dataclasses import dataclass

import cv2
import numpy as np

from vision.board import Floats, Image

_BURNT = 250
_LONG_PX = 1280
"""Pictures are judged at this size of their longer side, so that cameras compare."""
_BOX = 11
_BLOCKS_WH = (16, 9)
_JPEG_PX = 8


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one picture."""

    brightness: float
    """Mean grey level, 0 to 255"""
    burnt: float
    """Share of pixels that are white throughout, 0 to 1"""
    sharpness: float
    """How much of its steps a picture loses to a blur, 0 to 1: one that is blurred already has little to lose."""


def quality(image_bgr: Image) -> Quality:
    """The figures of a picture (h, w, 3)."""
    gray = cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY)
    scale = _LONG_PX / max(gray.shape)
    if scale < 1:
        gray = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return Quality(float(gray.mean()), float(np.mean(gray >= _BURNT)), _sharpness(gray))


def block_levels(image_bgr: Image) -> Floats:
    """The logarithms of the mean levels of a picture's blocks, (rows, columns, 3): light, without what is small."""
    means = cv2.resize(image_bgr, _BLOCKS_WH, interpolation=cv2.INTER_AREA)
    return np.asarray(np.log(means.astype(np.float64) + 1.0))


def noise_levels(image_bgr: Image) -> float:
    """The standard deviation of a picture's noise, in levels (Immerkaer, 1996, with a median: edges do not count)."""
    gray = cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY)
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    return float(1.4826 * np.median(np.abs(cv2.filter2D(gray, cv2.CV_32F, kernel))) / 6)


def blockiness(image_bgr: Image) -> float:
    """How much more a picture bends at the borders of JPEG's 8 x 8 blocks than elsewhere; 1 where it was not packed."""
    gray = cv2.cvtColor(image_bgr, cv2.COLOR_BGR2GRAY).astype(np.float32)
    ratios = []
    for axis in (0, 1):
        bends = np.abs(np.diff(gray, 2, axis=axis)).mean(axis=1 - axis)
        at_border = np.isin(np.arange(len(bends)) % _JPEG_PX, (_JPEG_PX - 2, _JPEG_PX - 1))
        ratios.append(float(bends[at_border].mean() / max(bends[~at_border].mean(), 1e-6)))
    return sum(ratios) / 2


def _sharpness(gray: cv2.typing.MatLike) -> float:
    """Crete, Dolmiere, Ladret and Nicolas, "The Blur Effect" (2007), on the less sharp of the two axes."""
    # The noise of a sensor is as sharp in a blurred picture.
    level = cv2.GaussianBlur(gray.astype(np.float32), (0, 0), 1.0)
    lost = []
    for axis, box in ((1, (_BOX, 1)), (0, (1, _BOX))):
        steps = np.abs(np.diff(level, axis=axis))
        left = np.abs(np.diff(cv2.blur(level, box), axis=axis))
        total = float(steps.sum())
        lost.append(float(np.maximum(steps - left, 0).sum()) / total if total > 0 else 0.0)
    return min(lost)
