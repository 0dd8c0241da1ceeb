"""Random tables of pieces on squares, their pictures and truths: for training the eye, and for testing it.

python -m hardware_sims.squares_pictures --out FOLDER --count 100 --seed 0
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hardware_sims.materials import Rgb
from hardware_sims.squares import Kind, Lamp, Piece, Room, Scene, Sizes, exposed
from hardware_sims.view import View
from vision.board import Image, SquaresBoard
from vision.calibration import Calibration

GAMMA = 2.2
_SQUARE_MM = 50.0
_COLOURS = (
    ("#e6deca", "#5a4434"),
    ("#d9d6cd", "#9e413b"),
    ("#ede6dc", "#343b55"),
    ("#f0f0ec", "#2a2a2c"),
    ("#e8d9b0", "#3c2a1c"),
    ("#dcd8d0", "#3a5a3c"),
    ("#f2e8d0", "#7a4a28"),
    ("#d8c8a0", "#1e1e22"),
    ("#e4e0d8", "#6a2a3a"),
    ("#e0d0b8", "#2c4a60"),
    ("#cfc6b4", "#4a3a30"),
    ("#f4f0e6", "#803028"),
)
_LIGHT_WOODS = ("#c9985f", "#a8743f", "#d8b98a", "#8c5a32", "#b98a5a", "#7a4a2c", "#5c3a28", "#caa070", "#9a7a55")
_DARK_WOODS = ("#6b4a30", "#4a3423", "#7a5a40", "#5a4636", "#3c2c22", "#6a5a48", "#806040", "#4c3c34")
_CLOTHS = ("#404850", "#305038", "#808890")
_LETTERS = {
    ("flat", "a"): "w",
    ("flat", "b"): "b",
    ("wall", "a"): "W",
    ("wall", "b"): "B",
    ("crown", "a"): "K",
    ("crown", "b"): "L",
}
Stacks = dict[tuple[int, int], tuple[tuple[Kind, str], ...]]
"""Pieces, the lowest first, by row and column from 0."""
_TALLEST = 9


@dataclass(frozen=True, slots=True)
class Style:
    """Between which numbers cameras and their light are drawn."""

    sizes_wh: tuple[tuple[int, int], ...]
    fov_x_deg: tuple[float, float]
    square_px: tuple[float, float]
    blur_px: tuple[float, float]
    noise_levels: tuple[float, float]
    brightness: tuple[float, float]
    """Linear, of a place brighter than most."""


HARSH = Style(((1040, 780), (1200, 675)), (34, 70), (48, math.inf), (0.5, 1.1), (0.5, 5), (0.1, 0.45))
"""For training: far cameras, noise, little light."""
WEBCAM = Style(((1280, 960), (1280, 720), (1920, 1080)), (34, 50), (88, 160), (0.7, 1.0), (1, 3), (0.12, 0.4))
"""As the path-traced pictures beside the project have it, and somewhat worse."""
STYLES = {"harsh": HARSH, "webcam": WEBCAM}


@dataclass(frozen=True, slots=True)
class _Table:
    """A board's sizes as `View` asks for them."""

    width_mm: float
    length_mm: float


def random_picture(seed: int, style: Style = HARSH) -> tuple[Image, dict[str, Any]]:
    """A picture of a random table, blue first, and its truth in the form that the scorers read."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice((4, 5, 5, 6, 6, 7, 8)))
    return _picture(rng, size, None, (0.0, 30.0), style)


def picture_of_stacks(
    seed: int, size: int, stacks: Stacks, tilts_deg: tuple[float, float], style: Style = HARSH
) -> tuple[Image, dict[str, Any]]:
    """A picture of given stacks on a random table, seen at a random tilt between two, and its truth."""
    return _picture(np.random.default_rng(seed), size, stacks, tilts_deg, style)


def _picture(
    rng: np.random.Generator, size: int, stacks: Stacks | None, tilts_deg: tuple[float, float], style: Style
) -> tuple[Image, dict[str, Any]]:
    board, sizes = SquaresBoard(size, size, _SQUARE_MM), Sizes()
    colours = _COLOURS[int(rng.integers(len(_COLOURS)))]
    room = _random_room(rng, colours)
    view, calibration = _random_view(rng, board, tilts_deg, style)
    laid = _random_stacks(rng, size) if stacks is None else stacks
    placed = {cell: _laid(rng, cell, stack, sizes) for cell, stack in laid.items()}
    pieces = tuple(piece for stack in placed.values() for piece in stack)
    light = Scene(board, sizes, room).picture(calibration, pieces, oversampling=1)
    usual = max(float(np.percentile(light[::4, ::4] ** GAMMA, 60)), 1e-3)
    light = light * (rng.uniform(*style.brightness) / usual) ** (1 / GAMMA)
    light = light * np.array([rng.normal(1, 0.05), 1.0, rng.normal(1, 0.05)])
    image = exposed(
        light, rng, blur_px=float(rng.uniform(*style.blur_px)), noise_levels=float(rng.uniform(*style.noise_levels))
    )
    return image, {
        "size": size,
        "picture_px": list(view.size_wh),
        "board": {
            f"{'abcdefgh'[column]}{row + 1}": [_LETTERS[piece] for piece in stack]
            for (row, column), stack in laid.items()
        },
        "places": {
            f"{'abcdefgh'[column]}{row + 1}": [[piece.x_mm, piece.y_mm, piece.turn_deg] for piece in stack]
            for (row, column), stack in placed.items()
        },
        "hand": None,
        "corners_px": calibration.project(board.corners_mm()).tolist(),
        "colours": dict(zip("ab", colours, strict=True)),
        "mm": {
            "square": _SQUARE_MM,
            "flat": list(sizes.flat_mm),
            "wall_height": sizes.wall_height_mm,
            "crown": list(sizes.crown_mm),
        },
        "camera": {"tilt_deg": view.tilt_deg, "distance_mm": view.distance_mm, "fov_x_deg": view.fov_x_deg},
    }


def _random_room(rng: np.random.Generator, colours: tuple[str, str]) -> Room:
    """Woods, cloths, colours and lamps of all kinds."""
    light = _varied(_light_of(str(rng.choice(_LIGHT_WOODS))), rng, 0.2)
    dark = _varied(_light_of(str(rng.choice(_DARK_WOODS))), rng, 0.25)
    if rng.uniform() < 0.25:
        shade = rng.uniform(0.5, 0.8)
        dark = (light[0] * shade, light[1] * shade, light[2] * shade)
    lamps = tuple(_random_lamp(rng) for _ in range(int(rng.choice((1, 1, 2)))))
    ambient = _varied((0.95, 0.97, 1.0), rng, 0.05)
    share = rng.uniform(0.2, 0.5)
    return Room(
        light_square=light,
        dark_square=dark,
        ground=_varied(_light_of(str(rng.choice((*_LIGHT_WOODS, *_DARK_WOODS, *_CLOTHS)))), rng, 0.3),
        line=_varied((0.05, 0.05, 0.05), rng, 0.6),
        line_mm=float(rng.uniform(0.8, 2.2)),
        frame_mm=float(rng.uniform(5, 30)),
        contrast=float(rng.uniform(0.05, 0.4)),
        speckle=float(rng.uniform(0.01, 0.1)),
        a1_is_dark=bool(rng.uniform() < 0.5),
        colours=(("a", _varied(_light_of(colours[0]), rng, 0.1)), ("b", _varied(_light_of(colours[1]), rng, 0.15))),
        lamps=lamps,
        ambient=(ambient[0] * share, ambient[1] * share, ambient[2] * share),
        seed=int(rng.integers(1 << 30)),
    )


def _random_lamp(rng: np.random.Generator) -> Lamp:
    place = (float(rng.uniform(-800, 800)), float(rng.uniform(-800, 800)), float(rng.uniform(700, 1600)))
    light, share = _varied((0.9, 0.85, 0.78), rng, 0.08), rng.uniform(0.35, 0.8)
    return Lamp(place, float(rng.uniform(30, 220)), (light[0] * share, light[1] * share, light[2] * share))


def _random_view(
    rng: np.random.Generator, board: SquaresBoard, tilts_deg: tuple[float, float], style: Style
) -> tuple[View, Calibration]:
    """A camera at a tilt between two that has the whole board in its picture."""
    side_mm = board.rows * board.square_mm
    size_wh = style.sizes_wh[0] if rng.uniform() < 0.6 else style.sizes_wh[int(rng.integers(1, len(style.sizes_wh)))]
    while True:
        view = View(
            size_wh,
            fov_x_deg=float(rng.uniform(*style.fov_x_deg)),
            tilt_deg=float(rng.uniform(*tilts_deg)),
            azimuth_deg=float(rng.choice((-90, 90, 0, 180)) + rng.normal(0, 6)),
            distance_mm=float(rng.uniform(500, 1400)),
            roll_deg=float(rng.choice((0, 0, 90, 180, 270)) + rng.normal(0, 3)),
            aim_mm=(float(rng.normal(0, 15)), float(rng.normal(0, 15))),
        )
        calibration = view.calibration(_Table(side_mm, side_mm))
        corners = calibration.project(board.corners_mm())
        square_px = math.sqrt(cv2.contourArea(corners.astype(np.float32))) / board.rows
        if (
            corners.min() > 15
            and (corners < np.array(size_wh) - 15).all()
            and style.square_px[0] < square_px < style.square_px[1]
        ):
            return view, calibration


def _random_stacks(rng: np.random.Generator, size: int) -> Stacks:
    """Stacks of flats on some squares, some with a wall or a Crown on top; by row and column from 0."""
    filled, grows = rng.uniform(0.3, 0.85), rng.uniform(0.15, 0.75)
    walls, crowns = (0.22, 0.14) if rng.uniform() < 0.6 else (0.3, 0.4)
    stacks: Stacks = {}
    for row in range(size):
        for column in range(size):
            if rng.uniform() > filled:
                continue
            tall = 1
            while rng.uniform() < grows and tall < _TALLEST:
                tall += 1
            kinds: list[Kind] = ["flat"] * tall
            top = rng.uniform()
            kinds[-1] = "wall" if top < walls else "crown" if top < walls + crowns else "flat"
            stacks[row, column] = tuple((kind, "ab"[int(rng.integers(2))]) for kind in kinds)
    return stacks


def _laid(
    rng: np.random.Generator, cell: tuple[int, int], stack: tuple[tuple[Kind, str], ...], sizes: Sizes
) -> list[Piece]:
    """A stack as hands lay it: each piece a little off and turned, walls mostly across their squares."""
    x_mm, y_mm = (float((index + 0.5) * _SQUARE_MM + rng.normal(0, 2.2)) for index in (cell[1], cell[0]))
    pieces, z_mm = [], 0.0
    for kind, colour in stack:
        turn = rng.normal(0, 7)
        if kind == "wall":
            turn = rng.choice((45, -45, 0, 90), p=(0.45, 0.35, 0.1, 0.1)) + rng.normal(0, 9)
        off_x, off_y, shade = rng.normal(0, 1.6), rng.normal(0, 1.6), float(np.clip(rng.normal(1, 0.05), 0.8, 1.15))
        pieces.append(Piece(kind, colour, x_mm + float(off_x), y_mm + float(off_y), z_mm, float(turn), shade))
        z_mm += sizes.height_mm(kind)
    return pieces


def _light_of(colour: str) -> Rgb:
    red, green, blue = ((value / 255) ** GAMMA for value in bytes.fromhex(colour[1:]))
    return red, green, blue


def _varied(colour: Rgb, rng: np.random.Generator, spread: float) -> Rgb:
    """A colour somewhat lighter or darker, and a little off in hue."""
    tone = rng.normal(0, spread)
    red, green, blue = (
        float(np.clip(value * math.exp(tone + rng.normal(0, spread / 4)), 0.002, 0.95)) for value in colour
    )
    return red, green, blue


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m hardware_sims.squares_pictures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for pictures and truths")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first picture; the others count on")
    parser.add_argument("--quality", type=int, default=86, help="of the JPEG")
    parser.add_argument(
        "--style", choices=STYLES, default="harsh", help="harsh: for training; webcam: as tables are seen"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for number in range(arguments.count):
        image, told = random_picture(arguments.seed + number, STYLES[arguments.style])
        stem = arguments.out / f"squares-{arguments.seed + number:05d}"
        cv2.imwrite(str(stem.with_suffix(".jpg")), image, [cv2.IMWRITE_JPEG_QUALITY, arguments.quality])
        stem.with_suffix(".json").write_text(json.dumps({"image": stem.name + ".jpg", **told}, indent=1))


if __name__ == "__main__":
    main()
