"""Pictures of boards with lens-shaped stones on their crossings: `python -m hardware_sims.stones_pictures --out DIR`.

Each board is drawn as a camera sees it from any side, for views that photographs lack. What lies where is written to a
ground_truth.json, in the form that photographs come with.
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import CrossingsBoard, Floats, Image, Profile
from vision.calibration import calibrate, calibrate_plane
from vision.stones import LUMINANCE, PITCH_PX, rectify

Rng = np.random.Generator
Colours = tuple[tuple[str, tuple[int, int, int]], ...]
"""Two names, each with blue, green and red; the darker first."""
Labels = npt.NDArray[np.int64]
"""(rows, columns): 0 for nothing, 1 and 2 for a stone of the one or the other colour."""

STAR_POINTS = {9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}
USUAL_COLOURS: Colours = (("b", (20, 20, 20)), ("w", (238, 240, 240)))
_FOV_X_DEG = 60.0
"""Of a photograph's camera, which nobody knows: it says how stones stand out of the board, and little else."""
_SCATTER = (0.03, 0.13)
"""In pitches; stones drawn so are found as far from their crossings as those of photographs."""
_JPEG_QUALITY = 75
"""At which photographs are usually stored."""
_LINE_WIDTH = (0.03, 0.09)
"""In pitches."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What a board and its stones look like in some light; colours are blue, green and red."""

    wood: Floats
    """(m, n, 3): the colour in the middle of each square, from the first crossing's on."""
    ink: Floats
    """(3,): what part of the wood's colour the lines have."""
    line_width: float
    """In pitches."""
    stones: Floats
    """(2, 3): the darker stones and the lighter ones, where the wood has its usual colour."""
    gloss: Floats
    """(2,): how much brighter the spot is in which they mirror a lamp."""
    ambient: float
    """What part of the light comes from everywhere."""
    lamp: Floats
    """(3,): the direction to the lamp that the rest comes from."""
    shadow: float
    """What part of the light the stones keep from the wood beside them."""
    scatter: float
    """How far from their crossings stones are put, by each axis, in pitches: a standard deviation."""

    def tops(self) -> Floats:
        """What colours the stones' tops show, (2, 3)."""
        return self.stones * _light_on_top(self.ambient, self.lamp)


def random_board(rng: Rng) -> tuple[Image, Floats, Colours, Labels]:
    """A picture, its corners (4, 2) in px, its colours and what lies on each crossing; some have two other colours than
    black and white, the darker first."""
    colours = USUAL_COLOURS
    if rng.random() < 0.3:
        pair = np.zeros((2, 3))
        while np.linalg.norm(pair[1] - pair[0]) < 110:
            pair = rng.uniform(15, 240, (2, 3))
        dark, bright = sorted(pair.astype(int).tolist(), key=lambda bgr: float(np.array(bgr) @ LUMINANCE))
        colours = (("b", tuple(dark)), ("w", tuple(bright)))
    size = int(rng.choice([9, 13, 19, 19, 19]))
    labels = position(size, rng)
    camera, size_wh = aim_camera(size, rng)
    return *_drawn(camera, size_wh, labels, random_look(colours, rng), rng), colours, labels


def same_stones(
    image_bgr: Image, profile: Profile, corners_px: npt.ArrayLike, labels: Labels, seed: int
) -> tuple[Image, Floats]:
    """The square board of a photograph (h, w, 3), drawn anew as seen from the same side with the same stones and the
    same colours: its picture and its corners.

    Raises CalibrationError where no camera sees a board so.
    """
    board = profile.board
    assert isinstance(board, CrossingsBoard)
    size_wh = (image_bgr.shape[1], image_bgr.shape[0])
    # Rows count towards the camera, so that heights need the other hand.
    seen = calibrate(corners_px, board.corners_mm() * [1, -1], size_wh, _FOV_X_DEG)
    pitch_mm = board.pitch_mm
    twice = np.array([[2, 0, 0.5], [0, 2, 0.5], [0, 0, 1.0]])
    camera = twice @ seen.matrix() @ np.diag([pitch_mm, -pitch_mm, pitch_mm, 1.0])
    rng = np.random.default_rng(seed)
    look = look_of(image_bgr, profile, corners_px, labels, rng)
    drawn, drawn_corners_px = _drawn(camera, (2 * size_wh[0], 2 * size_wh[1]), labels, look, rng)
    jpeg = cv2.imencode(".jpg", drawn, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1]
    return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), dtype=np.uint8), drawn_corners_px


def random_look(colours: Colours, rng: Rng) -> Look:
    """Any wood, sometimes grey; dark lines or bright ones; stones of about these colours, the darker first."""
    wood = np.array([rng.uniform(30, 190), rng.uniform(110, 200), rng.uniform(150, 225)])
    if rng.random() < 0.2:
        wood = np.full(3, rng.uniform(140, 235)) + rng.normal(0, 8, 3)
    ink = wood * rng.uniform(0.1, 0.6) if rng.random() < 0.9 else np.minimum(255, wood * 1.7)
    tint = rng.uniform(0.85, 1.05, 3)
    stones = np.array([np.array(bgr) * rng.uniform(0.75, 1.05) * tint for _, bgr in colours])
    stones[0] += rng.uniform(0, 40)
    ink = 1 - rng.uniform(0.6, 1) * (1 - ink / wood)
    gloss = np.full(2, rng.uniform(0, 120))
    ambient, shadow, scatter = rng.uniform(0.35, 0.85), rng.uniform(0.15, 0.7), rng.uniform(0.02, 0.1)
    width, lamp = rng.uniform(*_LINE_WIDTH), _any_lamp(rng)
    return Look(wood[None, None], ink, width, stones, gloss, ambient, lamp, shadow, scatter)


def _light_on_top(ambient: float, lamp: Floats) -> float:
    return ambient + (1 - ambient) * float(lamp[2])


def _any_lamp(rng: Rng) -> Floats:
    lamp = np.array([*rng.normal(0, 0.5, 2), 1.0])
    return np.asarray(lamp / np.linalg.norm(lamp), dtype=np.float64)


def look_of(image_bgr: Image, profile: Profile, corners_px: npt.ArrayLike, labels: Labels, rng: Rng) -> Look:
    """What a photograph (h, w, 3) shows of how the board looks on which `labels` lie; what its light is like, and how
    carefully its stones were put down, is guessed."""
    board = profile.board
    assert isinstance(board, CrossingsBoard)
    size_wh = (image_bgr.shape[1], image_bgr.shape[0])
    flat = rectify(image_bgr, calibrate_plane(corners_px, board.corners_mm(), size_wh), board).astype(np.float64)
    half = PITCH_PX // 2

    def around(y: int, x: int, count: tuple[int, int], reach: int) -> Floats:
        """The pixels about a place and those every pitch on, (rows, columns, n, 3)."""
        steps = range(-reach, reach + 1)
        parts = [
            flat[y + down :: PITCH_PX, x + across :: PITCH_PX][: count[0], : count[1]]
            for down in steps
            for across in steps
        ]
        return np.stack(parts, axis=2)

    rows, columns = labels.shape
    middles = np.median(around(PITCH_PX + half, PITCH_PX + half, (rows - 1, columns - 1), 2), axis=2)
    # Stones can reach into a square with many: those beside it tell more.
    taken = labels > 0
    few = taken[:-1, :-1] * 1 + taken[1:, :-1] + taken[:-1, 1:] + taken[1:, 1:] < 3
    weight = np.where(few, 1.0, 0.01)[..., None]
    wood = np.asarray(
        cv2.GaussianBlur(middles * weight, (0, 0), 0.7) / cv2.GaussianBlur(weight, (0, 0), 0.7)[..., None], np.float64
    )
    bare = labels[:, :-1] + labels[:, 1:] == 0
    # Across a line, as it is half-way between two crossings: how much of the light it takes, by its width.
    lines = around(PITCH_PX, PITCH_PX + half, (rows, columns - 1), 4).reshape(rows, columns - 1, 9, 9, 3).mean(axis=3)
    beside = (lines[:, :, :1] + lines[:, :, -1:]) / 2
    less = np.median((1 - lines / beside)[bare].sum(axis=1), axis=0) / PITCH_PX if bare.any() else np.full(3, 0.03)
    width = float(np.clip(np.abs(less).max() / 0.7, *_LINE_WIDTH))
    faces = around(PITCH_PX, PITCH_PX, (rows, columns), 4)
    stones = np.median(faces, axis=2)
    spots = np.quantile(faces @ LUMINANCE, 0.97, axis=2) - stones @ LUMINANCE
    ambient, lamp = rng.uniform(0.35, 0.85), _any_lamp(rng)
    kinds = [labels == kind if (labels == kind).any() else labels >= 0 for kind in (1, 2)]
    return Look(
        wood,
        np.clip(1 - less / width, 0.05, 2),
        width,
        np.array([np.median(stones[kind], axis=0) for kind in kinds]) / _light_on_top(ambient, lamp),
        np.array([np.median(spots[kind]) for kind in kinds]),
        ambient,
        lamp,
        # The colour between the stones holds most of what they keep from it.
        rng.uniform(0.1, 0.3),
        rng.uniform(*_SCATTER),
    )


def _drawn(camera: Floats, size_wh: tuple[int, int], labels: Labels, look: Look, rng: Rng) -> tuple[Image, Floats]:
    """A picture by a camera (3, 4), from pitches to pixels of one twice as large, and its corners."""
    size = len(labels)
    plane = camera[:, [0, 1, 3]]
    y_px, x_px = np.mgrid[0 : size_wh[1], 0 : size_wh[0]].astype(np.float64)
    on_board = np.stack([x_px, y_px, np.ones_like(x_px)], axis=-1) @ np.linalg.inv(plane).T
    on_board = on_board[..., :2] / on_board[..., 2:]
    radius, half_height = rng.uniform(0.43, 0.5), rng.uniform(0.12, 0.24)
    rows_columns = np.argwhere(labels > 0)
    centres = rows_columns[:, ::-1] + rng.normal(0, look.scatter, (len(rows_columns), 2))
    kinds = labels[labels > 0]
    image = bare_board(on_board, size, look, rng)
    image *= shadows(on_board, centres, radius, look, half_height, rng)[..., None]
    lay_stones(image, camera, on_board, centres, kinds, (radius, half_height), look, rng)
    small = cv2.resize(np.clip(image, 0, 255), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    corners = np.array([[0, 0, 1], [size - 1, 0, 1], [size - 1, size - 1, 1], [0, size - 1, 1]]) @ plane.T
    return small.astype(np.uint8), (corners[:, :2] / corners[:, 2:] - 0.5) / 2


def cells_of(labels: Labels) -> tuple[str, ...]:
    """The rows of a position as a ground_truth.json has them: "." for nothing, "b" and "w" for stones."""
    return tuple("".join(".bw"[kind] for kind in row) for row in labels)


def position(size: int, rng: Rng) -> Labels:
    """Stones in groups, as games have them."""
    field = cv2.GaussianBlur(rng.normal(0, 1, (size, size)), (0, 0), rng.uniform(0.4, 2))
    owner = cv2.GaussianBlur(rng.normal(0, 1, (size, size)), (0, 0), rng.uniform(0.4, 2))
    taken = field > np.quantile(field, rng.uniform(0.2, 1))
    return np.where(taken, np.where(owner > 0, 1, 2), 0)


def aim_camera(size: int, rng: Rng) -> tuple[Floats, tuple[int, int]]:
    """A (3, 4) projection from pitches (z up) to pixels of a picture twice too large, that shows all of the board."""
    size_wh = (1280, 960) if rng.random() < 0.6 else (1200, 1200)
    tilt, turn = math.radians(rng.uniform(0, 58)), rng.uniform(-0.5, 0.5) if rng.random() < 0.8 else rng.uniform(0, 6.3)
    focal = size_wh[0] / 2 / math.tan(math.radians(rng.uniform(35, 70)) / 2)
    # Camera axes: x right, y down, z ahead; it looks down at the board's middle from its near side.
    down = np.array([[1, 0, 0], [0, math.cos(tilt), math.sin(tilt)], [0, -math.sin(tilt), math.cos(tilt)]])
    flip = np.diag([1.0, 1.0, -1.0])
    spin = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    rotation = down @ spin @ flip
    middle = np.array([(size - 1) / 2, (size - 1) / 2, 0])
    inner = np.array([[focal, 0, size_wh[0] / 2], [0, focal, size_wh[1] / 2], [0, 0, 1]])
    corners = np.array([[x, y, 0, 1] for x in (-0.8, size - 0.2) for y in (-0.8, size - 0.2)])
    for distance in np.geomspace(size * 0.6, size * 8, 60):
        camera = inner @ np.column_stack([rotation, -rotation @ middle + [0, 0, distance]])
        seen = corners @ camera.T
        places = seen[:, :2] / seen[:, 2:]
        if (seen[:, 2] > 0).all() and (places > 8).all() and (places < np.array(size_wh) - 8).all():
            break
    return camera, size_wh


def bare_board(on_board: Floats, size: int, look: Look, rng: Rng) -> Floats:
    """The board's grain, lines and edge on a table, at each pixel's place on the board."""
    x, y = on_board[..., 0], on_board[..., 1]
    wood = _wood_at(look, on_board)
    grain = rng.normal(0, rng.uniform(0, 0.06), 4096)
    grain = cv2.GaussianBlur(grain[None], (0, 0), rng.uniform(0.5, 3))[0]
    along = x if rng.random() < 0.5 else y
    strip = ((along + rng.normal(0, 0.05) * (x + y)) * 60).astype(np.int64) % 4096
    image: Floats = wood * (1 + grain[strip])[..., None]
    step = np.abs(np.gradient(x, axis=1)) + np.abs(np.gradient(x, axis=0)) + 1e-6
    step_y = np.abs(np.gradient(y, axis=0)) + np.abs(np.gradient(y, axis=1)) + 1e-6
    width = look.line_width
    inside_x, inside_y = (x > -width) & (x < size - 1 + width), (y > -width) & (y < size - 1 + width)
    line = np.clip((width / 2 - np.abs(x - np.rint(x))) / step + 0.5, 0, 1)
    line = np.maximum(line, np.clip((width / 2 - np.abs(y - np.rint(y))) / step_y + 0.5, 0, 1))
    for row in STAR_POINTS.get(size, ()):
        for column in STAR_POINTS.get(size, ()):
            line = np.maximum(line, np.clip((0.11 - np.hypot(x - column, y - row)) / step + 0.5, 0, 1))
    line = (line * inside_x * inside_y)[..., None]
    image = image * (1 - line) + wood * look.ink * line
    rim = rng.uniform(0.45, 1.2)
    off = (np.abs(x - (size - 1) / 2) > (size - 1) / 2 + rim) | (np.abs(y - (size - 1) / 2) > (size - 1) / 2 + rim)
    image[off] = rng.uniform(20, 220, 3)
    return image


def _wood_at(look: Look, on_board: Floats) -> npt.NDArray[np.float32]:
    """The colour of the wood at places (h, w, 2) on the board."""
    x, y = (np.ascontiguousarray(along, dtype=np.float32) - 0.5 for along in (on_board[..., 0], on_board[..., 1]))
    wood = look.wood.astype(np.float32)
    return np.asarray(cv2.remap(wood, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)


def shadows(
    on_board: Floats, centres: Floats, radius: float, look: Look, half_height: float, rng: Rng
) -> npt.NDArray[np.float32]:
    """How much light the stones leave on the board, at each pixel."""
    scale = 24
    low = on_board.reshape(-1, 2).min(axis=0).clip(-3)
    span = (centres.max(axis=0) + 3 - low) if len(centres) else np.array([1.0, 1.0])
    mask = np.zeros((int(span[1] * scale) + 1, int(span[0] * scale) + 1), np.float32)
    fall = -look.lamp[:2] / look.lamp[2] * half_height
    for centre in centres:
        cv2.circle(
            mask, np.rint((centre + fall - low) * scale).astype(int).tolist(), round(radius * 1.05 * scale), 1.0, -1
        )
    soft = cv2.GaussianBlur(mask, (0, 0), scale * rng.uniform(0.02, 0.2))
    places = ((on_board - low) * scale).astype(np.float32)
    seen = cv2.remap(soft, places[..., 0], places[..., 1], cv2.INTER_LINEAR, borderValue=0)
    return np.asarray(1 - look.shadow * seen, np.float32)


def lay_stones(
    image: Floats,
    camera: Floats,
    on_board: Floats,
    centres: Floats,
    kinds: Labels,
    shape: tuple[float, float],
    look: Look,
    rng: Rng,
) -> None:
    """Draws the stones into the image, the far ones first. Shape: radius and half height, in pitches."""
    if not len(centres):
        return
    radius, half_height = shape
    eye = -np.linalg.solve(camera[:, :3], camera[:, 3])
    ambient, lamp, spread = look.ambient, look.lamp, rng.uniform(8, 60)
    # Stones lie in the wood's shadow, and do not mirror what it mirrors.
    usual = np.median(look.wood.reshape(-1, 3), axis=0) @ LUMINANCE
    lit = np.minimum(_wood_at(look, centres[:, None])[:, 0] @ LUMINANCE / usual, 1)
    squash = np.array([radius, radius, half_height])
    for index in np.argsort(-np.linalg.norm(centres - eye[:2], axis=1)):
        middle = np.array([*centres[index], half_height])
        box = middle + np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * squash
        seen = np.column_stack([box, np.ones(8)]) @ camera.T
        seen = seen[:, :2] / seen[:, 2:]
        (left, top), (right, bottom) = seen.min(axis=0).astype(int), seen.max(axis=0).astype(int) + 2
        part = (slice(max(0, top), bottom), slice(max(0, left), right))
        if image[part].size == 0:
            continue
        ray = (np.dstack([on_board[part], np.zeros(image[part].shape[:2])]) - eye) / squash
        start = (eye - middle) / squash
        a, b, c = (ray * ray).sum(-1), ray @ start, start @ start - 1
        root = b * b - a * c
        hit = root > 0
        spot = start + ray * ((-b - np.sqrt(np.maximum(root, 0))) / a)[..., None]
        normal = spot / squash
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True) + 1e-9
        to_eye = -ray * squash
        half = to_eye / np.linalg.norm(to_eye, axis=-1, keepdims=True) + lamp
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        facing = np.clip(normal @ lamp, 0, 1)
        shine = look.gloss[kinds[index] - 1] * np.clip((normal * half).sum(-1), 0, 1) ** spread
        stone = look.stones[kinds[index] - 1] * lit[index] * rng.uniform(0.93, 1.05)
        colour = stone * (ambient + (1 - ambient) * facing)[..., None] + shine[..., None]
        image[part] = np.where(hit[..., None], colour, image[part])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m hardware_sims.stones_pictures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures and ground_truth.json")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(arguments.seed)
    items: list[dict[str, Any]] = []
    for number in range(arguments.count):
        image, corners_px, colours, labels = random_board(rng)
        name = f"drawn_{number:03d}.png"
        cv2.imwrite(str(arguments.out / name), image)
        size = len(labels)
        item = {"image": name, "rows": size, "cols": size, "corners": corners_px.tolist(), "cells": cells_of(labels)}
        items.append({**item, "colours": dict(colours), "tags": ["drawn"]})
    (arguments.out / "ground_truth.json").write_text(json.dumps({"items": items}, indent=1))


if __name__ == "__main__":
    main()
