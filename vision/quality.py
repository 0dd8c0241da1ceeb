"""Whether a picture can be read at all: how bright it is, how much of it is burnt out, and how sharp."""

from dataclasses import dataclass

import cv2
import numpy as np

from vision.board import Image

_BURNT = 250
_LONG_PX = 1280
"""Pictures are judged at this size of their longer side, so that cameras compare."""
_BOX = 11


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
