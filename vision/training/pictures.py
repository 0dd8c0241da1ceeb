"""Pictures with their truth, in the JSON form of the path-traced sets and of our own renders."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import HolesBoard, Profile, parse_profile
from vision.calibration import Calibration, calibrate


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture, the camera that took it, and where each disk lies."""

    name: str
    number: int
    image_bgr: npt.NDArray[np.uint8]
    calibration: Calibration
    profile: Profile
    disks: tuple[dict[str, Any], ...]
    arm: bool

    @property
    def board(self) -> HolesBoard:
        assert isinstance(self.profile.board, HolesBoard)
        return self.profile.board


def read_pictures(folders: list[str]) -> Iterator[Picture]:
    """Every picture of some folders; FOLDER:even or FOLDER:odd takes those whose number is so."""
    for entry in folders:
        folder, _, half = entry.partition(":")
        for path in sorted(Path(folder).glob("*.json")):
            number = int(path.stem[-3:])
            if half and number % 2 != ("even", "odd").index(half):
                continue
            yield read_picture(path)


def read_picture(path: Path) -> Picture:
    """One picture by its truth file."""
    truth = json.loads(path.read_text())
    profile = parse_profile(
        'kind = "holes"\n[board]\n'
        + "".join(f"{key} = {value}\n" for key, value in truth["board"].items())
        + "[colours]\n"
        + "".join(f'{key} = "{value}"\n' for key, value in truth["colours"].items())
    )
    image = cv2.imread(str(path.parent / truth["image"]))
    assert image is not None, path
    size_wh = (image.shape[1], image.shape[0])
    calibration = calibrate(truth["corners_px"], profile.board.corners_mm(), size_wh, truth["camera"]["fov_x_deg"])
    return Picture(
        path.stem,
        int(path.stem[-3:]),
        np.asarray(image, dtype=np.uint8),
        calibration,
        profile,
        tuple(truth["disks"]),
        bool(truth["hand"]),
    )
