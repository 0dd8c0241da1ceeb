"""A disk, and how it can lie on a slab with holes: what follows from its contacts, in millimetres.

z is up from the slab's top face, as in `vision.calibration`.
"""

import math
from dataclasses import dataclass
from typing import Literal

from vision.board import HolesBoard

Point = tuple[float, float, float]
Lying = Literal["in_cell", "flat", "tilted", "leaning", "beside", "held"]

STANDARD = HolesBoard(
    columns=7,
    rows=8,
    pitch_mm=42.0,
    hole_diameter_mm=32.0,
    disk_diameter_mm=28.0,
    disk_height_mm=6.0,
    width_mm=316.0,
    length_mm=494.0,
    launch_line_mm=70.0,
    first_row_mm=100.0,
    margin_mm=32.0,
    slab_mm=6.0,
)


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk where it is: its centre, and how its axis leans from upright towards an azimuth."""

    name: str
    colour: str
    x_mm: float
    y_mm: float
    z_mm: float
    """Of its centre, above the slab's top face: half its height when it lies on the slab."""
    tilt_deg: float = 0.0
    azimuth_deg: float = 0.0
    cell: tuple[int, int] | None = None
    lying: Lying = "flat"
    shade: float = 1.0
    """How much lighter than its colour this one is."""
    velocity_mm_s: tuple[float, float] = (0.0, 0.0)
    blur_mm: tuple[float, float] = (0.0, 0.0)
    """How far it moves while the shutter is open."""

    def axis(self) -> Point:
        """Its unit normal, upwards."""
        tilt, azimuth = math.radians(self.tilt_deg), math.radians(self.azimuth_deg)
        return math.sin(tilt) * math.cos(azimuth), math.sin(tilt) * math.sin(azimuth), math.cos(tilt)

    def top_mm(self, height_mm: float) -> Point:
        """The centre of its top face."""
        x, y, z = self.axis()
        return self.x_mm + x * height_mm / 2, self.y_mm + y * height_mm / 2, self.z_mm + z * height_mm / 2


def cell_mm(board: HolesBoard, cell: tuple[int, int]) -> tuple[float, float]:
    """The centre of a hole, by row and column from 1."""
    row, column = cell
    return board.margin_mm + (column - 1) * board.pitch_mm, board.first_row_mm + (row - 1) * board.pitch_mm


def nearest_cell(board: HolesBoard, x_mm: float, y_mm: float) -> tuple[tuple[int, int], float]:
    """The hole nearest to a place, and how far its centre is."""
    column = min(max(round((x_mm - board.margin_mm) / board.pitch_mm), 0), board.columns - 1) + 1
    row = min(max(round((y_mm - board.first_row_mm) / board.pitch_mm), 0), board.rows - 1) + 1
    x, y = cell_mm(board, (row, column))
    return (row, column), math.hypot(x_mm - x, y_mm - y)


def tipping_mm(board: HolesBoard) -> float:
    """A disk whose centre is nearer than this to a hole's centre has nothing under its weight, and goes in.

    It rests on what lies outside the hole, a crescent; that bears the centre just when the common chord of the two
    circles lies on the hole's side of it.
    """
    hole, disk = board.hole_diameter_mm / 2, board.disk_diameter_mm / 2
    return math.sqrt(hole**2 - disk**2)


def flat(board: HolesBoard, name: str, colour: str, x_mm: float, y_mm: float, shade: float = 1.0) -> Disk:
    """A disk flat on the slab's top face."""
    return Disk(name, colour, x_mm, y_mm, board.disk_height_mm / 2, shade=shade)


def beside(board: HolesBoard, name: str, colour: str, x_mm: float, y_mm: float, shade: float = 1.0) -> Disk:
    """A disk flat on the table, off the slab."""
    z = board.disk_height_mm / 2 - board.slab_mm
    return Disk(name, colour, x_mm, y_mm, z, lying="beside", shade=shade)


def in_cell(
    board: HolesBoard,
    name: str,
    colour: str,
    cell: tuple[int, int],
    offset_mm: tuple[float, float] = (0.0, 0.0),
    shade: float = 1.0,
) -> Disk:
    """A disk flat in a hole, on what lies under the slab."""
    x, y = cell_mm(board, cell)
    z = board.disk_height_mm / 2 - board.slab_mm
    return Disk(name, colour, x + offset_mm[0], y + offset_mm[1], z, cell=cell, lying="in_cell", shade=shade)


def tilted(
    board: HolesBoard,
    name: str,
    colour: str,
    cell: tuple[int, int],
    tilt_deg: float,
    azimuth_deg: float,
    shade: float = 1.0,
) -> Disk:
    """A disk that stands at an angle in a hole, its low rim on what lies under the slab."""
    x, y = cell_mm(board, cell)
    tilt = math.radians(tilt_deg)
    z = -board.slab_mm + board.disk_diameter_mm / 2 * math.sin(tilt) + board.disk_height_mm / 2 * math.cos(tilt)
    return Disk(name, colour, x, y, z, tilt_deg, azimuth_deg, cell, "tilted", shade)


def leaning(
    board: HolesBoard, name: str, colour: str, on: Disk, towards_deg: float, foot_mm: float, shade: float = 1.0
) -> Disk:
    """A disk with its low rim on the slab and its underside on the rim of a flat one.

    It rises towards `towards_deg`; its foot stands foot_mm off the rim it leans on, which is at most its diameter.
    """
    support_mm = on.z_mm + board.disk_height_mm / 2
    tilt = math.atan2(support_mm, foot_mm)
    radius, half = board.disk_diameter_mm / 2, board.disk_height_mm / 2
    along = radius * math.cos(tilt) - half * math.sin(tilt) - foot_mm - radius
    way = math.radians(towards_deg)
    x, y = on.x_mm + along * math.cos(way), on.y_mm + along * math.sin(way)
    z = radius * math.sin(tilt) + half * math.cos(tilt)
    return Disk(name, colour, x, y, z, math.degrees(tilt), (towards_deg + 180) % 360, None, "leaning", shade)
