"""Hard single pictures of Pathways boards with their exact truth: `python -m hardware_sims.pictures --out DIR`.

Every picture draws its own board, light, camera and faults from its seed. The truth is a JSON beside the picture, with
z counted from the table's surface, and a board profile for `companion observe`.
"""

import argparse
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hardware_sims import virtual
from hardware_sims.arms import Arm
from hardware_sims.camera import GAMMA, Camera, Settings
from hardware_sims.disks import (
    STANDARD,
    Disk,
    Lying,
    beside,
    cell_mm,
    flat,
    in_cell,
    leaning,
    nearest_cell,
    tilted,
    tipping_mm,
)
from hardware_sims.materials import Rgb
from hardware_sims.scene import Lamp, Room, Scene
from hardware_sims.view import View, view_of
from vision.board import Floats, HolesBoard, Image
from vision.calibration import calibrate

COLOURS = (
    ("#d2423c", "#32323a"),
    ("#4161b1", "#e0ba41"),
    ("#d9d6cd", "#b14141"),
    ("#e6e0ca", "#614c3b"),
    ("#3b8851", "#ca9e6c"),
    ("#e07a2c", "#2f4f8f"),
    ("#ffffff", "#101014"),
    ("#8a4fa0", "#9fc75a"),
    ("#b98a5a", "#5a3a28"),
    ("#6fb7c9", "#c0392b"),
)
WOODS = ("#c99a66", "#b57a4a", "#8a5a3a", "#e0c090", "#d8a878", "#6e4a34", "#c08a60", "#a88a6a")
CLOTHS = ("#304a38", "#7a2a2a", "#e8e4da", "#3a4660", "#222226", "#9a9a92")
SKINS = ("#e8b898", "#c68863", "#8d5a3c", "#5c3a28", "#f0d0b8")


_GRAIN_OF_WOOD, _GRAIN_OF_GROUND = (0.14, 0.25), (0.07, 0.13)
"""Contrasts that give the wood, and the ground in holes, the grain that path-traced pictures have there."""

KINDS = ("in_cell", "flat", "touching", "line", "edge", "rim", "tilted", "leaning", "over")


@dataclass(frozen=True, slots=True)
class Crowd:
    """How the disks of a picture lie."""

    shares: tuple[float, ...]
    """Of each of KINDS"""
    least: int = 4
    """Up to 24 disks there are so many at least"""
    buried_mm: float = 13.0
    """So near one disk may lie over another in a hole; nearer than 13 it hides half of it."""


CROWDED = Crowd((0.36, 0.14, 0.14, 0.07, 0.06, 0.09, 0.06, 0.05, 0.03))
IN_HOLES = (
    Crowd((0.6, 0.05, 0, 0, 0, 0.05, 0.2, 0, 0.1), 12),
    Crowd((0.4, 0.05, 0, 0, 0, 0.05, 0.45, 0, 0.05), 12),
    Crowd((0.5, 0.03, 0, 0, 0, 0.02, 0.15, 0, 0.3), 12, 2.6),
)
"""Most disks in holes, flat or at an angle, or over one that is."""

Pictured = tuple[Image, dict[str, Any]]
"""A picture, blue first, and its truth (see `truth`)."""


def light_of(colour: str) -> Rgb:
    """Linear red, green and blue of "#rrggbb"."""
    red, green, blue = ((value / 255) ** GAMMA for value in bytes.fromhex(colour[1:]))
    return red, green, blue


def random_disks(board: HolesBoard, rng: np.random.Generator, crowd: Crowd = CROWDED) -> tuple[Disk, ...]:
    """A crowded board: holes and surface, touching, leaning, tilted, across lines and edges, over holes."""
    disks: list[Disk] = []
    cells = [(row, column) for row in range(1, board.rows + 1) for column in range(1, board.columns + 1)]
    rng.shuffle(cells)
    wanted = int(rng.integers(crowd.least, 25))
    kinds = rng.choice(KINDS, wanted, p=crowd.shares)
    # Leaning and touching disks need others to be there first.
    for kind in sorted(kinds, key=lambda kind: kind in ("touching", "leaning", "over")):
        for _ in range(60):
            colour = "ab"[int(rng.integers(2))]
            name = f"{colour}{len(disks) + 1}"
            disk = _random_disk(board, rng, str(kind), colour, name, cells, disks, crowd.buried_mm)
            if disk is not None and _fits(board, disk, disks, crowd.buried_mm):
                disks.append(disk)
                break
    return tuple(disks)


def random_beside(board: HolesBoard, rng: np.random.Generator) -> tuple[Disk, ...]:
    """Disks that wait or were lost, on the table round the slab."""
    disks: list[Disk] = []
    reach_mm = board.disk_diameter_mm / 2
    for number in range(int(rng.integers(1, 8))):
        colour = "ab"[int(rng.integers(2))]
        x, y = rng.uniform((-70, -70), (board.width_mm + 70, board.length_mm + 70))
        outside_mm = max(-x, x - board.width_mm, -y, y - board.length_mm)
        disk = beside(board, f"{colour}-{number}", colour, float(x), float(y))
        if outside_mm > reach_mm + 1 and not any(_apart(disk, other) < board.disk_diameter_mm for other in disks):
            disks.append(disk)
    return tuple(disks)


def _random_disk(
    board: HolesBoard,
    rng: np.random.Generator,
    kind: str,
    colour: str,
    name: str,
    cells: list[tuple[int, int]],
    disks: list[Disk],
    buried_mm: float,
) -> Disk | None:
    shade = float(np.clip(rng.normal(1, 0.05), 0.85, 1.15))
    cell = cells[int(rng.integers(len(cells)))]
    play_mm = (board.hole_diameter_mm - board.disk_diameter_mm) / 2
    angle = rng.uniform(0, 2 * math.pi)
    way = np.array([math.cos(angle), math.sin(angle)])
    flats = [disk for disk in disks if disk.lying == "flat"]
    if kind == "in_cell":
        x, y = way * play_mm * math.sqrt(rng.uniform())
        return in_cell(board, name, colour, cell, (float(x), float(y)), shade)
    if kind == "tilted":
        tilt_deg = float(rng.uniform(18, 60))
        disk = tilted(board, name, colour, cell, tilt_deg, float(math.degrees(angle)), shade)
        return replace(disk, x_mm=disk.x_mm + float(rng.normal(0, 0.7)), y_mm=disk.y_mm + float(rng.normal(0, 0.7)))
    if kind == "flat":
        x, y = rng.uniform((0, 0), (board.width_mm, board.length_mm))
    elif kind == "line":
        x, y = rng.uniform(8, board.width_mm - 8), board.launch_line_mm + rng.uniform(-14, 14)
        y = y if rng.uniform() < 0.5 else board.length_mm - y
    elif kind == "edge":
        x, y = rng.uniform(0.8, 12), rng.uniform(board.launch_line_mm, board.length_mm - board.launch_line_mm)
        x = x if rng.uniform() < 0.5 else board.width_mm - x
    elif kind == "rim":
        x, y = np.array(cell_mm(board, cell)) + way * rng.uniform(tipping_mm(board) + 0.6, 18)
    elif kind == "over":
        filled = [disk for disk in disks if disk.lying == "in_cell"]
        if not filled:
            return None
        under = filled[int(rng.integers(len(filled)))]
        x, y = np.array([under.x_mm, under.y_mm]) + way * rng.uniform(buried_mm, 20)
    elif not flats:
        return None
    elif kind == "leaning":
        on = flats[int(rng.integers(len(flats)))]
        return leaning(board, name, colour, on, float(math.degrees(angle)), float(rng.uniform(15, 25)), shade)
    else:
        beside = flats[int(rng.integers(len(flats)))]
        gap = board.disk_diameter_mm + max(0.05, rng.normal(0, 0.6))
        x, y = np.array([beside.x_mm, beside.y_mm]) + way * gap
    return flat(board, name, colour, float(x), float(y), shade)


def _fits(board: HolesBoard, disk: Disk, others: list[Disk], buried_mm: float) -> bool:
    """Whether a disk can lie there beside the others."""
    if not (0.5 <= disk.x_mm <= board.width_mm - 0.5 and 0.5 <= disk.y_mm <= board.length_mm - 0.5):
        return False
    cell, away_mm = nearest_cell(board, disk.x_mm, disk.y_mm)
    filled = any(other.cell == cell and other.lying == "in_cell" for other in others)
    if disk.lying == "flat" and away_mm < tipping_mm(board) and not filled:
        return False
    if disk.lying == "leaning" and away_mm < board.hole_diameter_mm / 2 + 2:
        # Its foot must stand on the slab.
        return False
    if disk.lying == "leaning":
        close = [other for other in others if other.lying == "flat" and _apart(disk, other) < board.disk_diameter_mm]
        others = [other for other in others if other not in close]
        if len(close) != 1:
            return False
    return not any(_collide(board, disk, other, buried_mm) for other in others)


def _collide(board: HolesBoard, disk: Disk, other: Disk, buried_mm: float) -> bool:
    """Whether two disks would be in the same place, or the upper would hide too much of the lower."""
    above = {disk.lying, other.lying} in ({"flat", "in_cell"}, {"leaning", "in_cell"})
    return _apart(disk, other) < (buried_mm if above else board.disk_diameter_mm)


def _apart(disk: Disk, other: Disk) -> float:
    return math.hypot(disk.x_mm - other.x_mm, disk.y_mm - other.y_mm)


def random_room(rng: np.random.Generator) -> Room:
    """Woods, cloths, colours and lamps of all kinds, some hard."""
    pair = COLOURS[int(rng.integers(len(COLOURS)))]
    wood = WOODS[int(rng.integers(len(WOODS)))]
    a, b = (_varied(light_of(colour), rng, 0.12) for colour in pair)
    wooden = _varied(light_of(wood), rng, 0.15)
    if rng.uniform() < 0.12:
        # Disks of nearly the board's own colour.
        a = _varied(wooden, rng, 0.1)
        a = (min(1.0, a[0] * 1.3), min(1.0, a[1] * 1.3), min(1.0, a[2] * 1.35))
    if rng.uniform() < 0.5:
        a, b = b, a
    cloth = rng.uniform() < 0.35
    under = CLOTHS if cloth else WOODS
    lamps = []
    for _ in range(int(rng.integers(1, 3))):
        angle, off = rng.uniform(0, 2 * math.pi), rng.uniform(150, 900)
        tone = rng.uniform(-0.12, 0.12)
        strength = rng.uniform(0.5, 1.0)
        lamps.append(
            Lamp(
                (off * math.cos(angle), off * math.sin(angle), rng.uniform(700, 1600)),
                float(rng.choice((rng.uniform(15, 60), rng.uniform(60, 320)))),
                (strength * (1 + tone), strength, strength * (1 - tone)),
            )
        )
    dome = rng.uniform(0.15, 0.8)
    return Room(
        wood=wooden,
        wood_contrast=rng.uniform(0.08, 0.4),
        ground=_varied(light_of(under[int(rng.integers(len(under)))]), rng, 0.2),
        ground_contrast=rng.uniform(0.1, 0.4),
        cloth=cloth,
        line=_varied((0.03, 0.025, 0.02), rng, 0.5),
        colours=(("a", a), ("b", b)),
        lamps=tuple(lamps),
        ambient=(dome, dome * rng.uniform(0.95, 1.1), dome * rng.uniform(0.9, 1.25)),
        gloss=rng.choice((0.0, rng.uniform(0.02, 0.12), rng.uniform(0.1, 0.35)), p=(0.4, 0.4, 0.2)),
        gloss_exponent=rng.uniform(20, 200),
        seed=int(rng.integers(2**31)),
    )


def random_view(board: HolesBoard, rng: np.random.Generator, size_wh: tuple[int, int] | None = None) -> View:
    """A camera at 0 to 35 degrees that has the whole slab in its picture."""
    usual_wh = ((1280, 720), (1920, 1080), (1280, 960))[int(rng.integers(3))]
    size_wh = size_wh or usual_wh
    corners_mm = board.corners_mm()
    for _ in range(500):
        fov_x_deg = float(rng.uniform(34, 75))
        tilt_deg = float(rng.uniform(0, 35))
        # The board lies along the picture or across it, turned by a few degrees.
        azimuth_deg = float(rng.choice((-90, 90, 0, 180)) + rng.normal(0, 4))
        roll_deg = float(rng.choice((0, 90, 180, 270), p=(0.7, 0.1, 0.1, 0.1)) + rng.normal(0, 3))
        aim_mm = (float(rng.normal(0, 20)), float(rng.normal(0, 20)))
        view = View(size_wh, fov_x_deg, tilt_deg, azimuth_deg, float(rng.uniform(500, 1150)), roll_deg, aim_mm)
        seen = view.project(board, corners_mm)
        inside = (seen > 14).all() and (seen < np.array(size_wh) - 15).all()
        if inside and np.ptp(seen, axis=0).max() > 0.55 * size_wh[1] and _a_side_is_usual(seen):
            return view
    raise ValueError("no camera sees the whole of this board")


def _a_side_is_usual(corners_px: Floats) -> bool:
    """Whether A sits below an upright board, or right of one that lies along the picture."""
    to_b = corners_px[2:].mean(axis=0) - corners_px[:2].mean(axis=0)
    return bool(to_b[1] < 0 if abs(to_b[1]) > abs(to_b[0]) else to_b[0] < 0)


def random_arm(board: HolesBoard, rng: np.random.Generator) -> Arm:
    """An arm that reaches over the slab from one of its four sides."""
    x, y = rng.uniform((20, 40), (board.width_mm - 20, board.length_mm - 40))
    skin = _varied(light_of(SKINS[int(rng.integers(len(SKINS)))]), rng, 0.1)
    cloth = (*CLOTHS, *WOODS)
    return Arm(
        (float(x), float(y), float(rng.uniform(6, 60))),
        float(rng.choice((-90, 90, 0, 180)) + rng.normal(0, 25)),
        skin,
        _varied(light_of(cloth[int(rng.integers(len(cloth)))]), rng, 0.2),
        float(rng.choice((rng.uniform(10, 90), 900.0), p=(0.75, 0.25))),
        float(rng.uniform(0, 1.2)),
        float(rng.uniform(0.8, 1.1)),
    )


def random_shade(board: HolesBoard, rng: np.random.Generator) -> Arm:
    """Something between the lamp and the slab that the camera does not see: a soft shadow over part of the board."""
    x, y = rng.uniform((0, 0), (board.width_mm, board.length_mm))
    height = rng.uniform(60, 350)
    away = float(rng.uniform(0, 360))
    return Arm((float(x), float(y), float(height)), away, size=float(rng.uniform(0.8, 1.6)), shadow_only=True)


def random_settings(room: Room, rng: np.random.Generator) -> Settings:
    """Cameras from good to poor; every fourth picture is dark, every fourth too bright."""
    dark, bright = rng.uniform(0.2, 0.5), rng.uniform(1.6, 3.0)
    return Settings(
        exposure=metered(room) * float(rng.choice((rng.uniform(0.6, 1.4), dark, bright), p=(0.5, 0.25, 0.25))),
        white_balance=(float(rng.uniform(0.85, 1.15)), 1.0, float(rng.uniform(0.85, 1.15))),
        veil=float(rng.choice((0.0, rng.uniform(0.005, 0.05)))),
        vignetting=float(rng.uniform(0, 0.4)),
        blur_px=float(rng.uniform(0.35, 1.1)),
        noise_levels=float(rng.uniform(0.3, 5.0)),
        jpeg_quality=None,
        seed=int(rng.integers(2**31)),
    )


def metered(room: Room) -> float:
    """The exposure that makes the table, on the whole, a middling grey."""
    albedo = (np.mean(room.wood) + np.mean(room.ground)) / 2
    light = float(np.mean(room.ambient)) + sum(
        float(np.mean(lamp.light)) * lamp.place_mm[2] ** 2 * 1e6 / math.hypot(*lamp.place_mm) ** 4
        for lamp in room.lamps
    )
    return float(0.16 / (albedo * light))


def truth(
    scene: Scene, camera: Camera[Disk], disks: tuple[Disk, ...], arms: tuple[Arm, ...], colours: dict[str, str]
) -> dict[str, Any]:
    """What a camera's picture of a scene shows, in the form that the scorers read."""
    board, view = scene.board, camera.view
    seen = []
    for disk in (disk for disk in disks if disk.lying != "beside"):
        top_x, top_y, top_z = disk.top_mm(board.disk_height_mm)
        seen.append(
            {
                "colour": disk.colour,
                "kind": kind(board, disk),
                "hole": disk.cell,
                "tilt_deg": disk.tilt_deg,
                "azimuth_deg": disk.azimuth_deg,
                "x": disk.x_mm,
                "y": disk.y_mm,
                "z": disk.z_mm + board.slab_mm,
                "px": view.project(board, [[top_x, top_y]], top_z)[0].tolist(),
                "visible": camera.visible(arms, scene.rim_mm(disk)),
            }
        )
    return {
        "size": list(view.size_wh),
        "corners_px": view.project(board, board.corners_mm()).tolist(),
        "corner_order": "A-left, A-right, B-right, B-left of the slab's top face",
        "board": asdict(board),
        "colours": colours,
        "camera": {"tilt_deg": view.tilt_deg, "distance_mm": view.distance_mm, "fov_x_deg": view.fov_x_deg},
        "hand": next((list(arm.tip_mm[:2]) for arm in arms if not arm.shadow_only), None),
        "disks": seen,
        "pixels": "OpenCV: integer coordinates are pixel centres; the principal point is in the picture's middle",
    }


def kind(board: HolesBoard, disk: Disk) -> str:
    """What sort of place a disk lies in: hole, tilt, lean, line, edge or surface."""
    if disk.lying != "flat":
        return {"in_cell": "hole", "tilted": "tilt", "leaning": "lean"}[disk.lying]
    radius = board.disk_diameter_mm / 2
    if min(abs(disk.y_mm - board.launch_line_mm), abs(board.length_mm - board.launch_line_mm - disk.y_mm)) < radius:
        return "line"
    if min(disk.x_mm, board.width_mm - disk.x_mm) < radius:
        return "edge"
    return "surface"


def render(
    board: HolesBoard, disks: tuple[Disk, ...], arms: tuple[Arm, ...], room: Room, view: View, settings: Settings
) -> Pictured:
    """One picture, blue first, and its truth."""
    scene = Scene(board, room)
    return _taken(scene, Camera(scene, view, settings), disks, arms)


def _taken(scene: Scene, camera: Camera[Disk], disks: tuple[Disk, ...], arms: tuple[Arm, ...]) -> Pictured:
    image = camera.read(disks, arms)
    if image is None:
        raise ValueError("a camera that drops frames takes no single pictures")
    return image, truth(scene, camera, disks, arms, {name: _hex(colour) for name, colour in scene.room.colours})


def random_picture(
    seed: int,
    *,
    board: HolesBoard = STANDARD,
    size_wh: tuple[int, int] | None = None,
    arm: bool | None = None,
    round_it: bool = False,
    flicks_before: int = 0,
) -> Pictured:
    """A hard picture and its truth. Unless `arm` says, every fifth has one; `round_it` lays disks on the table too.

    With `in_holes` most disks lie in holes, and in half of the pictures those of the one side are as light as what
    shows beside them there. The same table `flicks_before` the picture lacks as many disks.
    """
    rng = np.random.default_rng(seed)
    disks, room = random_disks(board, rng), random_room(rng)
    view, settings = random_view(board, rng, size_wh), random_settings(room, rng)
    arms = (random_arm(board, rng),) if (seed % 5 == 4 if arm is None else arm) else ()
    if rng.uniform() < 0.25:
        arms = (*arms, random_shade(board, rng))
    if flicks_before:
        disks = disks[:-flicks_before]
        settings = replace(settings, seed=settings.seed + flicks_before)
    if round_it:
        disks = (*disks, *random_beside(board, rng))
    return render(board, disks, arms, room, view, settings)


def random_pictures_in_holes(seed: int, count: int, *, demo: bool = False) -> Iterator[Pictured]:
    """Hard pictures with most disks in holes, and their truths, without end: `count` under each camera, as the first
    there costs a second and others little. In half of the rooms one side's disks are as light as what shows beside
    them in the holes; with `demo` room and camera are those of `companion demo`."""
    for place in itertools.count(seed):
        rng = np.random.default_rng(place)
        room, view, settings = _demo_place(rng) if demo else _random_place(rng)
        scene = Scene(STANDARD, room)
        camera = Camera(scene, view, settings)
        for number in range(count):
            disks = random_disks(STANDARD, rng, IN_HOLES[(place + number) % len(IN_HOLES)])
            yield _taken(scene, camera, disks, ())


def _random_place(rng: np.random.Generator) -> tuple[Room, View, Settings]:
    room = random_room(rng)
    if rng.uniform() < 0.5:
        room = _alike(room, rng)
    return room, random_view(STANDARD, rng), random_settings(room, rng)


def _demo_place(rng: np.random.Generator) -> tuple[Room, View, Settings]:
    room_seed, seed = (int(number) for number in rng.integers(2**31, size=2))
    settings = Settings(exposure=float(rng.uniform(0.9, 1.1)), jpeg_quality=None, seed=seed)
    return replace(virtual.ROOM, seed=room_seed), virtual.VIEW, settings


def same_scene(image_bgr: Image, told: dict[str, Any], seed: int) -> Pictured:
    """The table of another picture (h, w, 3) without an arm, rendered here under usual lamps, and its truth.

    `told` is the other's truth: the disks and the camera are the same, wood and ground have the colours that it shows.
    """
    board = HolesBoard(**told["board"])
    calibration = calibrate(
        told["corners_px"], board.corners_mm(), (told["size"][0], told["size"][1]), told["camera"]["fov_x_deg"]
    )
    rng = np.random.default_rng(seed)
    on_slab = np.zeros(image_bgr.shape[:2], np.uint8)
    cv2.fillConvexPoly(on_slab, np.rint(told["corners_px"]).astype(np.int32), 1)
    wood, ground = (_middling(np.median(image_bgr[on_slab == which], axis=0)) for which in (1, 0))
    room = Room(
        wood=wood,
        wood_contrast=float(rng.uniform(*_GRAIN_OF_WOOD)),
        ground=ground,
        ground_contrast=float(rng.uniform(*_GRAIN_OF_GROUND)),
        colours=tuple((name, light_of(colour)) for name, colour in told["colours"].items()),
        lamps=(_usual_lamp(rng), _usual_lamp(rng)),
        gloss=float(rng.uniform(0, 0.08)),
        seed=int(rng.integers(2**31)),
    )
    settings = Settings(
        exposure=metered(room) * float(rng.uniform(0.8, 1.25)),
        blur_px=float(rng.uniform(0.35, 0.8)),
        noise_levels=float(rng.uniform(0.5, 2.0)),
        seed=int(rng.integers(2**31)),
    )
    disks = tuple(_disk_of(f"{number}", disk, board, rng) for number, disk in enumerate(told["disks"]))
    image, truth_told = render(board, disks, (), room, view_of(calibration, board), settings)
    return image, {**truth_told, "colours": told["colours"]}


def _usual_lamp(rng: np.random.Generator) -> Lamp:
    angle, off, strength = rng.uniform(0, 2 * math.pi), rng.uniform(300, 700), rng.uniform(0.3, 0.6)
    place_mm = (float(off * math.cos(angle)), float(off * math.sin(angle)), float(rng.uniform(1000, 1600)))
    return Lamp(place_mm, float(rng.uniform(100, 300)), (float(strength), float(strength), float(0.95 * strength)))


def _middling(bgr: Floats) -> Rgb:
    """The colour of a surface that throws back a third of the light, seen so."""
    red, green, blue = ((float(value) / 255) ** GAMMA for value in bgr[::-1])
    share = 0.33 / max((red + green + blue) / 3, 1e-3)
    return min(red * share, 0.9), min(green * share, 0.9), min(blue * share, 0.9)


def _disk_of(name: str, told: dict[str, Any], board: HolesBoard, rng: np.random.Generator) -> Disk:
    """A disk as a picture's truth has it."""
    kinds: dict[str, Lying] = {"hole": "in_cell", "tilt": "tilted", "lean": "leaning"}
    return Disk(
        name,
        told["colour"],
        told["x"],
        told["y"],
        told["z"] - board.slab_mm,
        told["tilt_deg"],
        told["azimuth_deg"],
        tuple(told["hole"]) if told["hole"] else None,
        kinds.get(told["kind"], "flat"),
        float(rng.uniform(0.94, 1.06)),
    )


def profile_toml(told: dict[str, Any]) -> str:
    """The board profile of a picture's truth."""
    lines = ['kind = "holes"', "", "[board]", *(f"{key} = {value}" for key, value in told["board"].items())]
    lines += ["", "[colours]", *(f'{key} = "{value}"' for key, value in told["colours"].items())]
    return "\n".join([*lines, "", "[camera]", f"fov_x_deg = {told['camera']['fov_x_deg']}", ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m hardware_sims.pictures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for pictures, truths and profiles")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first picture; the others count on")
    parser.add_argument("--size", type=int, nargs=2, metavar=("WIDTH", "HEIGHT"), help="of all; else each its own")
    parser.add_argument("--in-holes", type=int, metavar="TABLES", help="most disks in holes; tables under each camera")
    parser.add_argument("--demo", action="store_true", help="with --in-holes: in the room of companion demo")
    parser.add_argument("--beside", action="store_true", help="with disks on the table round the slab")
    parser.add_argument("--quality", type=int, default=88, help="of the JPEG")
    arguments = parser.parse_args()
    if arguments.in_holes and (arguments.size or arguments.beside):
        parser.error("--in-holes takes neither --size nor --beside")
    if arguments.demo and not arguments.in_holes:
        parser.error("--demo goes with --in-holes")
    arguments.out.mkdir(parents=True, exist_ok=True)
    pictures: Iterator[Pictured]
    if arguments.in_holes:
        pictures = random_pictures_in_holes(arguments.seed, arguments.in_holes, demo=arguments.demo)
    else:
        size_wh = arguments.size and tuple(arguments.size)
        pictures = (
            random_picture(seed, size_wh=size_wh, round_it=arguments.beside) for seed in itertools.count(arguments.seed)
        )
    for number, (image, told) in enumerate(itertools.islice(pictures, arguments.count)):
        stem = arguments.out / f"pathways-{number:03d}"
        cv2.imwrite(str(stem.with_suffix(".jpg")), image, [cv2.IMWRITE_JPEG_QUALITY, arguments.quality])
        stem.with_suffix(".json").write_text(json.dumps({"image": stem.name + ".jpg", **told}, indent=1))
        stem.with_suffix(".toml").write_text(profile_toml(told))


def _alike(room: Room, rng: np.random.Generator) -> Room:
    """The same room, with the disks of one side of nearly the table's own colour."""
    side = int(rng.integers(2))
    ground = _varied(room.ground, rng, 0.3)
    colours = tuple((name, ground if n == side else colour) for n, (name, colour) in enumerate(room.colours))
    return replace(room, colours=colours)


def _varied(colour: Rgb, rng: np.random.Generator, spread: float) -> Rgb:
    """A colour somewhat lighter or darker, and a little off in hue."""
    tone = rng.normal(0, spread)
    red, green, blue = (
        float(np.clip(value * math.exp(tone + rng.normal(0, spread / 4)), 0.001, 1)) for value in colour
    )
    return red, green, blue


def _hex(colour: Rgb) -> str:
    return "#" + "".join(f"{round(255 * value ** (1 / GAMMA)):02x}" for value in colour)


if __name__ == "__main__":
    main()
