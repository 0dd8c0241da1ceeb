"""Pictures of boards with lens-shaped stones on their crossings: `python -m hardware_sims.stones_pictures --out DIR`.

Each board is drawn as a camera sees it from any side, for views that photographs lack. What lies where is written to a
ground_truth.json, in the form that photographs come with.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import CrossingsBoard, Floats, Image, Profile
from vision.calibration import calibrate
from vision.stones import LUMINANCE

Rng = np.random.Generator
Colours = tuple[tuple[str, tuple[int, int, int]], ...]
"""Two names, each with blue, green and red; the darker first."""
Labels = npt.NDArray[np.int64]
"""(rows, columns): 0 for nothing, 1 and 2 for a stone of the one or the other colour."""

STAR_POINTS = {9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}
USUAL_COLOURS: Colours = (("b", (20, 20, 20)), ("w", (238, 240, 240)))
_FOV_X_DEG = 60.0
"""Of a photograph's camera, which nobody knows: it says how stones stand out of the board, and little else."""


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
    return *_drawn(camera, size_wh, labels, colours, rng), colours, labels


def same_stones(
    image_bgr: Image, profile: Profile, corners_px: npt.ArrayLike, labels: Labels, seed: int
) -> tuple[Image, Floats]:
    """The square board of a photograph (h, w, 3), drawn anew as seen from the same side with the same stones: its
    picture and its corners.

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
    return _drawn(camera, (2 * size_wh[0], 2 * size_wh[1]), labels, profile.colours, rng)


def _drawn(
    camera: Floats, size_wh: tuple[int, int], labels: Labels, colours: Colours, rng: Rng
) -> tuple[Image, Floats]:
    """A picture by a camera (3, 4), from pitches to pixels of one twice as large, and its corners."""
    size = len(labels)
    plane = camera[:, [0, 1, 3]]
    y_px, x_px = np.mgrid[0 : size_wh[1], 0 : size_wh[0]].astype(np.float64)
    on_board = np.stack([x_px, y_px, np.ones_like(x_px)], axis=-1) @ np.linalg.inv(plane).T
    on_board = on_board[..., :2] / on_board[..., 2:]
    light = np.array([*rng.normal(0, 0.5, 2), 1.0])
    light /= np.linalg.norm(light)
    radius, half_height = rng.uniform(0.43, 0.5), rng.uniform(0.12, 0.24)
    rows_columns = np.argwhere(labels > 0)
    centres = rows_columns[:, ::-1] + rng.normal(0, rng.uniform(0.02, 0.1), (len(rows_columns), 2))
    kinds = labels[labels > 0]
    image = bare_board(on_board, size, rng)
    image *= shadows(on_board, centres, radius, light, half_height, rng)[..., None]
    lay_stones(image, camera, on_board, centres, kinds, (radius, half_height), light, colours, rng)
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


def bare_board(on_board: Floats, size: int, rng: Rng) -> Floats:
    """The board's grain, lines and edge on a table, at each pixel's place on the board."""
    x, y = on_board[..., 0], on_board[..., 1]
    wood = np.array([rng.uniform(30, 190), rng.uniform(110, 200), rng.uniform(150, 225)])
    if rng.random() < 0.2:
        wood = np.full(3, rng.uniform(140, 235)) + rng.normal(0, 8, 3)
    grain = rng.normal(0, rng.uniform(0, 0.06), 4096)
    grain = cv2.GaussianBlur(grain[None], (0, 0), rng.uniform(0.5, 3))[0]
    along = x if rng.random() < 0.5 else y
    strip = ((along + rng.normal(0, 0.05) * (x + y)) * 60).astype(np.int64) % 4096
    image: Floats = wood * (1 + grain[strip])[..., None]
    step = np.abs(np.gradient(x, axis=1)) + np.abs(np.gradient(x, axis=0)) + 1e-6
    step_y = np.abs(np.gradient(y, axis=0)) + np.abs(np.gradient(y, axis=1)) + 1e-6
    width = rng.uniform(0.03, 0.09)
    inside_x, inside_y = (x > -width) & (x < size - 1 + width), (y > -width) & (y < size - 1 + width)
    line = np.clip((width / 2 - np.abs(x - np.rint(x))) / step + 0.5, 0, 1)
    line = np.maximum(line, np.clip((width / 2 - np.abs(y - np.rint(y))) / step_y + 0.5, 0, 1))
    for row in STAR_POINTS.get(size, ()):
        for column in STAR_POINTS.get(size, ()):
            line = np.maximum(line, np.clip((0.11 - np.hypot(x - column, y - row)) / step + 0.5, 0, 1))
    ink = wood * rng.uniform(0.1, 0.6) if rng.random() < 0.9 else np.minimum(255, wood * 1.7)
    line = (line * inside_x * inside_y * rng.uniform(0.6, 1))[..., None]
    image = image * (1 - line) + ink * line
    rim = rng.uniform(0.45, 1.2)
    off = (np.abs(x - (size - 1) / 2) > (size - 1) / 2 + rim) | (np.abs(y - (size - 1) / 2) > (size - 1) / 2 + rim)
    image[off] = rng.uniform(20, 220, 3)
    return image


def shadows(
    on_board: Floats, centres: Floats, radius: float, light: Floats, half_height: float, rng: Rng
) -> npt.NDArray[np.float32]:
    """How much light the stones leave on the board, at each pixel."""
    scale = 24
    low = on_board.reshape(-1, 2).min(axis=0).clip(-3)
    span = (centres.max(axis=0) + 3 - low) if len(centres) else np.array([1.0, 1.0])
    mask = np.zeros((int(span[1] * scale) + 1, int(span[0] * scale) + 1), np.float32)
    fall = -light[:2] / light[2] * half_height
    for centre in centres:
        cv2.circle(
            mask, np.rint((centre + fall - low) * scale).astype(int).tolist(), round(radius * 1.05 * scale), 1.0, -1
        )
    soft = cv2.GaussianBlur(mask, (0, 0), scale * rng.uniform(0.02, 0.2))
    places = ((on_board - low) * scale).astype(np.float32)
    seen = cv2.remap(soft, places[..., 0], places[..., 1], cv2.INTER_LINEAR, borderValue=0)
    return np.asarray(1 - rng.uniform(0.15, 0.7) * seen, np.float32)


def lay_stones(
    image: Floats,
    camera: Floats,
    on_board: Floats,
    centres: Floats,
    kinds: Labels,
    shape: tuple[float, float],
    light: Floats,
    colours: Colours,
    rng: Rng,
) -> None:
    """Draws the stones into the image, the far ones first. Shape: radius and half height, in pitches."""
    radius, half_height = shape
    eye = -np.linalg.solve(camera[:, :3], camera[:, 3])
    ambient, gloss, spread = rng.uniform(0.35, 0.85), rng.uniform(0, 120), rng.uniform(8, 60)
    lamp = rng.uniform(0.85, 1.05, 3)
    shades = {kind + 1: np.array(colours[kind][1]) * rng.uniform(0.75, 1.05) * lamp for kind in (0, 1)}
    shades[1] = shades[1] + rng.uniform(0, 40)
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
        half = to_eye / np.linalg.norm(to_eye, axis=-1, keepdims=True) + light
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        facing = np.clip(normal @ light, 0, 1)
        shine = gloss * np.clip((normal * half).sum(-1), 0, 1) ** spread
        stone = shades[int(kinds[index])] * rng.uniform(0.93, 1.05)
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
