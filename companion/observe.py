"""What is on the board in one picture, in the form of `companion observe --json`."""

import time
from pathlib import Path
from typing import Any

from companion.games.magestone import CELLS, NEXUS
from companion.games.pathstone import State
from companion.sources import sure
from companion.squares import heights_in_all, hidden_squares, states_after, supposed_below, tops_alone, tops_in_all
from vision.board import CrossingsBoard, HolesBoard, Image, Profile, ProfileError, SquaresBoard
from vision.calibration import Calibration, CalibrationError, calibrate, calibrate_plane
from vision.camera import read_picture
from vision.disks import read_disks
from vision.heights import StackViews
from vision.lattice import find_board, refine_board
from vision.markers import calibrate_marked, find_marked_board, read_tokens, see_squares, unsure_squares
from vision.pieces import read_pieces
from vision.sighting import Reading, Sighting

Corners = tuple[tuple[float, float], ...]


def observe(
    path: Path, profile: Profile, corners_px: Corners | None, a_side: str | None, before: State | None = None
) -> dict[str, Any]:
    """The board in a picture file; `before` is the Pathstone position that it follows.

    Raises CameraError when it is no picture, CalibrationError for impossible corners and ProfileError for a board whose
    pieces cannot be read from a picture.
    """
    squares = isinstance(profile.board, SquaresBoard)
    if squares and profile.pieces is None and profile.marks is None:
        raise ProfileError('a board of kind "squares" is read for its [pieces] or [marks]; give their sizes')
    if before is not None and (not squares or before.size != profile.board.rows):
        raise ProfileError(
            f"--before is a position on {before.size}x{before.size} squares; give it with such a board alone"
        )
    image = read_picture(path)
    begin = time.perf_counter()
    try:
        found = board_in(image, profile, corners_px, a_side)
    except CalibrationError as error:
        if corners_px is not None:
            raise
        return {"picture": str(path), "found": False, "why": str(error)}
    if profile.marks is not None:
        seen = _tokens(image, found, profile)
    else:
        seen = _pieces(image, found, profile, before) if squares else _disks(image, found, profile)
    took_ms = (time.perf_counter() - begin) * 1000
    return {
        "picture": str(path),
        "found": True,
        "corners_px": found.project(profile.board.corners_mm()).round(2).tolist(),
        "residual_px": round(found.residual_px, 3),
        **seen,
        "ms": round(took_ms, 1),
    }


def _disks(image: Image, calibration: Calibration, profile: Profile) -> dict[str, Any]:
    reading = sure(read_disks(image, calibration, profile))
    return {
        "cells": cells_from_reading(reading, profile.board.rows, profile.board.columns),
        "hidden": [list(cell) for cell in reading.hidden],
        "disks": [disk_to_json(disk) for disk in reading.disks],
    }


def _pieces(image: Image, calibration: Calibration, profile: Profile, before: State | None) -> dict[str, Any]:
    seen = read_pieces(image, calibration, profile, None if before is None else supposed_below([before]))
    states: tuple[State, ...] = ()
    if before is not None:
        states = states_after(before, seen, StackViews(image, calibration, profile, seen.paints))
    cells = tops_in_all(states) if states else tops_alone(seen)
    # A picture alone does not tell how high a stack is: what lies in it must be known from the position and the moves.
    heights = heights_in_all(states) if states else None
    return {"cells": list(cells), "hidden": hidden_squares(seen), "disks": [], "heights": heights}


def _tokens(image: Image, calibration: Calibration, profile: Profile) -> dict[str, Any]:
    tokens = read_tokens(image, calibration, profile)
    taken = {token.cell for token in tokens}
    hidden = set(unsure_squares(see_squares(image, calibration, profile), taken, (NEXUS,), CELLS))
    rows, columns = range(profile.board.rows), range(profile.board.columns)
    signs = {**dict.fromkeys(hidden, "?"), **dict.fromkeys(taken, "#")}
    return {
        "cells": ["".join(signs.get((row, column), ".") for column in columns) for row in rows],
        "hidden": [list(cell) for cell in sorted(hidden)],
        "tokens": [
            {
                "mark": token.mark,
                "cell": list(token.cell),
                "x_mm": round(token.centre_mm[0], 2),
                "y_mm": round(token.centre_mm[1], 2),
                "confidence": round(token.confidence, 3),
            }
            for token in tokens
        ],
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
        "tilt_chance": round(disk.tilt_chance, 3),
    }


def observation_in_words(seen: dict[str, Any]) -> str:
    """An observation for people: the board as text, seen with player A below."""
    if not seen["found"]:
        return f"{seen['picture']}: {seen['why']}"
    count = (
        sum(sign not in ".?" for row in seen["cells"] for sign in row) if "tokens" not in seen else len(seen["tokens"])
    )
    lines = [f"{seen['picture']}: {count} pieces, {len(seen['hidden'])} cells hidden"]
    # Marked boards have row 0 at the far edge, others row 1 at the near one.
    rows = seen["cells"] if "tokens" in seen else seen["cells"][::-1]
    lines += ["  " + " ".join(row) for row in rows]
    return "\n".join(lines)


def board_in(image: Image, profile: Profile, corners_px: Corners | None, a_side: str | None) -> Calibration:
    """The camera over the board in a picture, found where no corners are given. Raises CalibrationError."""
    if corners_px is not None:
        return _from_corners(image, corners_px, profile)
    return find_marked_board(image, profile) if profile.marks else find_board(image, profile, a_side)


def _from_corners(image: Image, corners_px: Corners, profile: Profile) -> Calibration:
    corners_mm, size_wh = profile.board.corners_mm(), (image.shape[1], image.shape[0])
    if profile.marks is not None:
        return calibrate_marked(corners_px, corners_mm, size_wh, profile)
    if isinstance(profile.board, CrossingsBoard):
        return calibrate_plane(corners_px, corners_mm, size_wh)
    calibration = calibrate(corners_px, corners_mm, size_wh, profile.fov_x_deg)
    if calibration.fov_given or not isinstance(profile.board, HolesBoard):
        return calibration
    # Four corners say little of the field of view; the rims of all the holes say more.
    try:
        return refine_board(image, profile, calibration)
    except CalibrationError:
        return calibration
