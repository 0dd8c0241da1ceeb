"""Brightness and sharpness of pictures: good boards pass what spoilt ones do not."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.camera import read_picture
from vision.quality import quality

PICTURES = sorted((Path(__file__).resolve().parents[1] / "data").glob("*.jpg"))
WANTED = 0.35


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_good_picture_is_sharper_than_the_same_out_of_focus(path):
    image = read_picture(path)
    sharp = [quality(cv2.GaussianBlur(image, (0, 0), sigma)).sharpness for sigma in (0.1, 3.0, 6.0)]
    print(path.stem, [round(figure, 2) for figure in sharp])
    assert sharp[0] > WANTED > sharp[2]
    assert sharp == sorted(sharp, reverse=True)


@pytest.mark.parametrize(("level", "brightness", "burnt"), [(0, 0.0, 0.0), (128, 128.0, 0.0), (255, 255.0, 1.0)])
def test_a_picture_of_one_grey(level, brightness, burnt):
    found = quality(np.full((480, 640, 3), level, np.uint8))
    assert (found.brightness, found.burnt, found.sharpness) == (brightness, burnt, 0.0)
