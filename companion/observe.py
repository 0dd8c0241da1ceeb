"""What is on the board in one picture, in the form of `companion observe --json`."""

import time
from pathlib import Path
from typing import Any

from companion.sources import sure
from vision.board import CrossingsBoard, HolesBoard, Image, Profile, ProfileError
from vision.calibration import Calibration, CalibrationError, calibrate, calibrate_plane
from vision.camera import read_picture
from vision.disks import read_disks
from vision.lattice import find_board, refine_board
from vision.sighting import Reading, Sighting

Corners = tuple[tuple[float, float], ...]


def observe(path: Path, profile: Profile, corners_px: Corners | None, a_side: str | None) -> dict[str, Any]:
    """The board in a picture file. Raises CameraError when it is no picture, CalibrationError for impossible corners
    and ProfileError for a board whose pieces cannot be read from a picture."""
    if not isinstance(profile.board, HolesBoard | CrossingsBoard):
        raise ProfileError('a board of kind "squares" cannot be read yet; give one of kind "holes" or "crossings"')
    image = read_picture(path)
    begin = time.perf_counter()
    if corners_px is None:
        try:
            calibration = find_board(image, profile, a_side)
        except CalibrationError as error:
            return {"picture": str(path), "found": False, "why": str(error)}
    else:
        calibration = _from_corners(image, corners_px, profile)
    reading = sure(read_disks(image, calibration, profile))
    took_ms = (time.perf_counter() - begin) * 1000
    return {
        "picture": str(path),
        "found": True,
        "corners_px": calibration.project(profile.board.corners_mm()).round(2).tolist(),
        "residual_px": round(calibration.residual_px, 3),
        "cells": cells_from_reading(reading, profile.board.rows, profile.board.columns),
        "hidden": [list(cell) for cell in reading.hidden],
        "disks": [disk_to_json(disk) for disk in reading.disks],
        "ms": round(took_ms, 1),
    }


def cells_from_reading(reading: Reading, rows: int, columns: int) -> list[str]:
    """One line a row: '.' empty, '?' hidden or unsure, else the colour's name."""
    marks = [["."] * columns for _ in range(rows)]
    for row, column in reading.hidden:
        marks[row - 1][column - 1] = "?"
    for disk in reading.disks:
        if disk.cell is not None:
            marks[disk.cell[0] - 1][disk.cell[1] - 1] = disk.colour
    return ["".join(line) for line in marks]


def disk_to_json(disk: Sighting) -> dict[str, Any]:
    """One sighting as `observe` prints it."""
    return {
        "colour": disk.colour,
        "x_mm": round(disk.centre_mm[0], 2),
        "y_mm": round(disk.centre_mm[1], 2),
        "sigma_mm": round(disk.sigma_mm, 3),
        "cell": None if disk.cell is None else list(disk.cell),
        "lying": disk.lying,
        "confidence": round(disk.confidence, 3),
    }


def observation_in_words(seen: dict[str, Any]) -> str:
    """An observation for people: the board as text, seen with player A below."""
    if not seen["found"]:
        return f"{seen['picture']}: {seen['why']}"
    lines = [f"{seen['picture']}: {len(seen['disks'])} pieces, {len(seen['hidden'])} cells hidden"]
    lines += ["  " + " ".join(row) for row in reversed(seen["cells"])]
    return "\n".join(lines)


def _from_corners(image: Image, corners_px: Corners, profile: Profile) -> Calibration:
    corners_mm, size_wh = profile.board.corners_mm(), (image.shape[1], image.shape[0])
    if not isinstance(profile.board, HolesBoard):
        return calibrate_plane(corners_px, corners_mm, size_wh)
    calibration = calibrate(corners_px, corners_mm, size_wh, profile.fov_x_deg)
    if calibration.fov_given:
        return calibration
    # Four corners say little of the field of view; the rims of all the holes say more.
    try:
        return refine_board(image, profile, calibration)
    except CalibrationError:
        return calibration
