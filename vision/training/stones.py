"""Trains models/stones.npz: what lies on a crossing.

python -m vision.training.stones OUT.npz FOLDER[:even|:odd] ... [--drawn FOLDER] [--test FOLDER[:odd]]

Each folder holds photographs and their ground_truth.json. Photographs of boards are few, so each is also shown under
other lights: exposure, tint, haze, shadows, glare, blur, noise, a board of another colour, corners a little off, and an
arm over it.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from vision.board import CrossingsBoard, Profile
from vision.calibration import calibrate_plane
from vision.stones import CLASSES, LUMINANCE, View, look_at_board, rectify

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]
Rng = np.random.Generator

LABELS = {".": 0, "b": 1, "w": 2}
COLOURS = (("b", (20, 20, 20)), ("w", (238, 240, 240)))


@dataclass(frozen=True, slots=True, eq=False)
class Photograph:
    """One picture of a board, its corners, and what lies on each crossing (-1: not judged)."""

    name: str
    image_bgr: npt.NDArray[np.uint8]
    corners_px: Floats
    profile: Profile
    labels: Labels


def read_photographs(folders: list[str]) -> Iterator[Photograph]:
    """Every photograph of some folders; FOLDER:even or FOLDER:odd takes every second one."""
    for entry in folders:
        folder, _, half = entry.partition(":")
        items = json.loads((Path(folder) / "ground_truth.json").read_text())["items"]
        for number, item in enumerate(items):
            if half and number % 2 != ("even", "odd").index(half):
                continue
            image = cv2.imread(str(Path(folder) / Path(item["image"]).name))
            assert image is not None, item["image"]
            covered = 3 if "hand" in item["tags"] else -1
            labels = np.array([[LABELS.get(cell, covered) for cell in row] for row in item["cells"]])
            colours = (
                tuple((name, tuple(bgr)) for name, bgr in item["colours"].items()) if "colours" in item else COLOURS
            )
            profile = Profile(CrossingsBoard(item["cols"], item["rows"], 22.0, 21.5), colours)
            yield Photograph(
                Path(item["image"]).stem, np.asarray(image, np.uint8), np.array(item["corners"]), profile, labels
            )


def view(photograph: Photograph) -> View:
    """The photograph as the network is shown it."""
    board = photograph.profile.board
    assert isinstance(board, CrossingsBoard)
    size_wh = (photograph.image_bgr.shape[1], photograph.image_bgr.shape[0])
    calibration = calibrate_plane(photograph.corners_px, board.corners_mm(), size_wh)
    return look_at_board(rectify(photograph.image_bgr, calibration, board), photograph.profile)


def vary(photograph: Photograph, rng: Rng) -> Photograph:
    """The same board under another light, by another camera, with another arm over it."""
    image = photograph.image_bgr.astype(np.float32) / 255
    high, wide = image.shape[:2]
    labels = photograph.labels
    if rng.random() < 0.3:
        image = redraw_lines(image, photograph, rng)
    if rng.random() < 0.5:
        image = recolour(image, rng)
    if rng.random() < 0.75:
        for _ in range(rng.integers(1, 4)):
            shadow = soft_shape(high, wide, rng)[..., None]
            image *= 1 - shadow * (1 - np.float32(rng.uniform(0.15, 0.85) * rng.uniform(0.93, 1.07, 3)))
    across = place_in(high, wide, (0.5, 0.5), rng.uniform(0, 2 * np.pi))
    if rng.random() < 0.3:
        image *= np.exp(across[0] / max(high, wide) * rng.uniform(0, 1.1))[..., None]
    glare = np.zeros((high, wide), np.float32)
    if rng.random() < 0.35:
        for _ in range(rng.integers(1, 3)):
            along, beside = place_in(high, wide, tuple(rng.uniform(0, 1, 2)), rng.uniform(0, np.pi))
            width, length = np.exp(rng.uniform(np.log(7), np.log(100))), np.exp(rng.uniform(np.log(10), np.log(400)))
            glare += rng.uniform(0.1, 1.1) * np.exp(-((along / length) ** 2 + (beside / width) ** 2) / 2)
        image += glare[..., None]
    if rng.random() < 0.2:
        veil = soft_shape(high, wide, rng)[..., None] * rng.uniform(0.1, 0.7)
        image = image * (1 - veil) + veil
    if rng.random() < 0.25:
        image, arm_mask = lay_arm(image, rng)
        labels = hide(labels, arm_mask, photograph)
    gain, tint, gamma = np.exp(rng.normal(0, 0.3)), np.exp(rng.normal(0, 0.07, 3)), np.exp(rng.normal(0, 0.2))
    image = np.clip(image * np.float32(gain * tint), 0, 1) ** gamma
    labels = hide(labels, np.float32((image.min(axis=2) > 0.995) & (glare > 0.3)), photograph)
    if rng.random() < 0.5:
        image = image * rng.uniform(0.8, 1) + rng.uniform(0, 0.12)
    image = develop(image, rng)
    corners = photograph.corners_px
    pitch_px = np.sqrt(cv2.contourArea(corners.astype(np.float32)) / labels.size)
    corners = corners + pitch_px * (rng.normal(0, 0.07, (4, 2)) + rng.normal(0, 0.06, 2))
    pixels = np.clip(image * 255, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        margin_px = pitch_px * rng.uniform(0.2, 0.8)
        left, top = np.clip(corners.min(axis=0) - margin_px, 0, None).astype(int)
        right, bottom = (corners.max(axis=0) + margin_px).astype(int)
        pixels, corners = pixels[top:bottom, left:right], corners - (left, top)
    if rng.random() < 0.5:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.uniform(30, 95))]
        pixels = np.asarray(cv2.imdecode(cv2.imencode(".jpg", pixels, quality)[1], cv2.IMREAD_COLOR), np.uint8)
    return Photograph(photograph.name, pixels, corners, photograph.profile, labels)


def recolour(image: Array, rng: Rng) -> Array:
    """Another hue and saturation; black, grey and white stay what they are."""
    gray = (image @ LUMINANCE)[..., None]
    angle = rng.normal(0, 0.5) if rng.random() < 0.6 else rng.uniform(-np.pi, np.pi)
    u, v = np.array([1, 0, -1]) / np.sqrt(2), np.array([1, -2, 1]) / np.sqrt(6)
    turn = np.outer(u, u * np.cos(angle) - v * np.sin(angle)) + np.outer(v, u * np.sin(angle) + v * np.cos(angle))
    return np.clip(gray + (image - gray) @ np.float32(turn.T * rng.uniform(0.1, 2.5)), 0, 1)


def redraw_lines(image: Array, photograph: Photograph, rng: Rng) -> Array:
    """Dark lines away from stones worn off, or turned into bright ones."""
    board = photograph.profile.board
    assert isinstance(board, CrossingsBoard)
    high, wide = image.shape[:2]
    mask = np.ones((high, wide), np.float32)
    calibration = calibrate_plane(photograph.corners_px, board.corners_mm(), (wide, high))
    taken = calibration.project(board.cells_mm()[photograph.labels.ravel() != 0])
    pitch_px = np.sqrt(cv2.contourArea(photograph.corners_px.astype(np.float32)) / photograph.labels.size)
    for centre in np.rint(taken).astype(int):
        cv2.circle(mask, centre, round(0.65 * pitch_px), 0.0, -1)
    size = 2 * round(0.12 * pitch_px) + 3
    bare = cv2.morphologyEx(image, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    strength = rng.uniform(0.3, 0.95) if rng.random() < 0.6 else rng.uniform(1.6, 2.5)
    return np.clip(image + (bare - image) * strength * cv2.GaussianBlur(mask, (0, 0), 1.5)[..., None], 0, 1)


def place_in(high: int, wide: int, centre: tuple[float, ...], angle: float) -> tuple[Array, Array]:
    """Each pixel's place along and beside a direction, from a centre given as parts of the picture."""
    y, x = np.mgrid[0:high, 0:wide].astype(np.float32)
    x, y = x - centre[0] * wide, y - centre[1] * high
    return x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)


def soft_shape(high: int, wide: int, rng: Rng) -> Array:
    """A mask from 0 to 1: an edge, an arm or some ellipses, sharp or soft."""
    mask = np.zeros((high // 4, wide // 4), np.float32)
    kind = rng.integers(3)
    if kind == 0:
        along, _ = place_in(*mask.shape, tuple(rng.uniform(0.15, 0.85, 2)), rng.uniform(0, 2 * np.pi))
        mask = (along > 0).astype(np.float32)
    elif kind == 1:
        mask = arm(*mask.shape, rng)
    else:
        for _ in range(rng.integers(1, 4)):
            centre = rng.uniform(0, 1, 2) * mask.shape[::-1]
            axes = np.exp(rng.uniform(np.log(0.02), np.log(0.4), 2)) * mask.shape[::-1]
            cv2.ellipse(mask, centre.astype(int), axes.astype(int), rng.uniform(0, 180), 0, 360, 1.0, -1)
    mask = cv2.GaussianBlur(mask, (0, 0), float(np.exp(rng.uniform(np.log(0.4), np.log(20)))))
    return np.asarray(cv2.resize(mask, (wide, high)))


def arm(high: int, wide: int, rng: Rng) -> Array:
    """The mask of a forearm that reaches in from a side, with a fist or spread fingers."""
    mask = np.zeros((high, wide), np.float32)
    t = rng.uniform(0.1, 0.9)
    start = np.array([[t * wide, -5], [wide + 5, t * high], [t * wide, high + 5], [-5, t * high]][rng.integers(4)])
    palm = rng.uniform(0.15, 0.85, 2) * (wide, high)
    thick = rng.uniform(0.07, 0.17) * min(high, wide)
    ahead = (palm - start) / (np.linalg.norm(palm - start) + 1e-6)
    beside = np.array([-ahead[1], ahead[0]])

    def stroke(a: Floats, b: Floats, width: float) -> None:
        cv2.line(mask, a.astype(int), b.astype(int), 1.0, max(1, int(width)), cv2.LINE_AA)

    stroke(start, palm - ahead * thick / 2, thick)
    axes = np.maximum(1, [thick * 0.9, thick * 0.6]).astype(int)
    cv2.ellipse(mask, palm.astype(int), axes, np.degrees(np.arctan2(ahead[1], ahead[0])), 0, 360, 1.0, -1, cv2.LINE_AA)
    for _ in range(rng.integers(0, 6)):
        angle = rng.uniform(-0.7, 0.7)
        knuckle = palm + beside * rng.uniform(-0.4, 0.4) * thick
        points = ahead * np.cos(angle) + beside * np.sin(angle)
        stroke(knuckle, knuckle + points * thick * rng.uniform(0.8, 1.9), thick * rng.uniform(0.18, 0.3))
    return mask


def lay_arm(image: Array, rng: Rng) -> tuple[Array, Array]:
    """The picture with an arm over it, bare or in a sleeve, its shadow beside it; and the arm's mask."""
    high, wide = image.shape[:2]
    mask = arm(high, wide, rng)
    tones = [[0.55, 0.65, 0.85], [0.45, 0.55, 0.78], [0.3, 0.4, 0.62], [0.62, 0.72, 0.92], [0.2, 0.27, 0.42]]
    tone = np.array(tones[rng.integers(5)]) * rng.uniform(0.75, 1.15)
    if rng.random() < 0.25:
        tone = rng.uniform(0, 1, 3)
    folds = rng.normal(1, 0.12, rng.integers(4, 14, 2)).astype(np.float32)
    shade = cv2.resize(folds, (wide, high), interpolation=cv2.INTER_CUBIC)
    shade *= 0.55 + 0.45 * cv2.GaussianBlur(mask, (0, 0), rng.uniform(3, 14))
    skin = np.float32(tone) * shade[..., None]
    if rng.random() < 0.3:
        cloth = rng.uniform(0, 1, (*rng.integers(2, 30, 2), 3)).astype(np.float32)
        weave = cv2.INTER_NEAREST if rng.random() < 0.5 else cv2.INTER_LINEAR
        sleeve = cv2.resize(cloth, (wide, high), interpolation=weave) * rng.uniform(0.1, 0.5)
        along, _ = place_in(high, wide, (0.5, 0.5), rng.integers(4) * np.pi / 2)
        reach = rng.uniform(0.1, 0.35) * max(high, wide)
        skin = np.where((along > reach)[..., None], sleeve + np.float32(rng.uniform(0, 0.6, 3)), skin)
    shift = np.array([[1, 0, rng.uniform(-30, 30)], [0, 1, rng.uniform(-30, 30)]])
    shadow = cv2.GaussianBlur(cv2.warpAffine(mask, shift, (wide, high)), (0, 0), rng.uniform(2, 18))
    image = image * (1 - shadow[..., None] * rng.uniform(0.1, 0.6))
    over = cv2.GaussianBlur(mask, (0, 0), 1.0)[..., None]
    return np.float32(image * (1 - over) + skin * over), mask


def hide(labels: Labels, mask: Array, photograph: Photograph) -> Labels:
    """The labels where a mask lies over the picture: covered, or not judged where it covers a part."""
    share = covered_share(mask, photograph)
    labels = np.where((share > 0.12) & (labels >= 0) & (labels < 3), -1, labels)
    return np.where(share > 0.5, 3, labels)


def covered_share(mask: Array, photograph: Photograph) -> Floats:
    """How much of each stone's place the mask covers."""
    board = photograph.profile.board
    assert isinstance(board, CrossingsBoard)
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    spots = np.vstack([[0, 0], 0.3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)]) * board.pitch_mm
    calibration = calibrate_plane(photograph.corners_px, board.corners_mm(), (mask.shape[1], mask.shape[0]))
    places = calibration.project((board.cells_mm()[:, None] + spots).reshape(-1, 2)).astype(np.float32)
    values = cv2.remap(mask, places[None, :, 0], places[None, :, 1], cv2.INTER_LINEAR)
    return values.reshape(board.rows, board.columns, -1).mean(axis=2)


def develop(image: Array, rng: Rng) -> Array:
    """Out of focus or moved, noisy, and by a camera of fewer pixels."""
    high, wide = image.shape[:2]
    kind = rng.random()
    if kind < 0.35:
        image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.5, 3.0))
    elif kind < 0.5:
        track = np.zeros((9, 9), np.float32)
        cv2.line(track, rng.integers(0, 9, 2), rng.integers(0, 9, 2), 1.0, 1)
        image = cv2.filter2D(image, -1, track / track.sum())
    if rng.random() < 0.5:
        image = image + rng.normal(0, rng.uniform(0.004, 0.035), image.shape).astype(np.float32)
    if rng.random() < 0.4:
        part = rng.uniform(0.35, 1)
        image = cv2.resize(cv2.resize(image, None, fx=part, fy=part, interpolation=cv2.INTER_AREA), (wide, high))
    return np.asarray(image, np.float32)


class Stones(nn.Module):
    """(1, 4, (rows + 1) * 16 + 1, (columns + 1) * 16 + 1) and (rows, columns, 5) -> (rows, columns, 4)."""

    def __init__(self, scene_mean: torch.Tensor, scene_spread: torch.Tensor) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(4, 12, 5, stride=2)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2)
        self.conv3 = nn.Conv2d(24, 32, 3, stride=2)
        self.conv4 = nn.Conv2d(32, 48, 3, stride=2)
        self.conv5 = nn.Conv2d(48 + 5, 32, 3, padding=1)
        self.dense = nn.Linear(32, len(CLASSES))
        self.register_buffer("scene_mean", scene_mean)
        self.register_buffer("scene_spread", scene_spread)

    def forward(self, pixels: torch.Tensor, scene: torch.Tensor) -> torch.Tensor:
        x = pixels.clamp(-3, 3)
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = torch.relu(layer(x))
        scene = (scene - self.scene_mean) / self.scene_spread
        x = torch.cat([x, scene.permute(2, 0, 1)[None]], 1)
        x = torch.relu(self.conv5(nn.functional.dropout(x, 0.1, self.training)))
        return self.dense(x[0].permute(1, 2, 0))


Example = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def example(photograph: Photograph) -> Example:
    """Pixels (1, 4, h, w), scene (rows, columns, 5) and labels (rows, columns)."""
    shown = view(photograph)
    pixels = torch.tensor(shown.pixels).permute(2, 0, 1)[None].half()
    return pixels, torch.tensor(shown.scene), torch.tensor(photograph.labels)


def train(examples: list[Example], epochs: int, seed: int, start: Stones | None = None) -> Stones:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    scenes = torch.cat([scene.reshape(-1, 5) for _, scene, _ in examples])
    net = (start or Stones(scenes.mean(0), scenes.std(0) + 0.05)).train()
    batch = 4
    steps = epochs * (len(examples) // batch)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    order: list[int] = []
    for _ in range(steps):
        if len(order) < batch:
            order = rng.permutation(len(examples)).tolist()
        picked, order = order[:batch], order[batch:]
        logits, targets = [], []
        for index in picked:
            pixels, scene, labels = examples[index]
            turns, mirrored = int(rng.integers(4)), rng.random() < 0.5
            pixels, scene, labels = (
                torch.rot90(pixels.float(), turns, (2, 3)),
                torch.rot90(scene, turns, (0, 1)),
                torch.rot90(labels, turns, (0, 1)),
            )
            if mirrored:
                pixels, scene, labels = pixels.flip(3), scene.flip(1), labels.flip(1)
            logits.append(net(pixels, scene).reshape(-1, len(CLASSES)))
            targets.append(labels.reshape(-1))
        target = torch.cat(targets)
        loss = nn.functional.cross_entropy(torch.cat(logits), target, ignore_index=-1, label_smoothing=0.02)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def report(net: Stones, photographs: list[Photograph], name: str) -> None:
    """Prints the points and whole boards that are right, and each point that is not."""
    judged = right = whole = 0
    for photograph in photographs:
        pixels, scene, labels = example(photograph)
        with torch.no_grad():
            chances = net(pixels.float(), scene).softmax(-1)
        points = (labels >= 0) & (labels < 3)
        wrong = points & (chances.argmax(-1) != labels)
        judged, right = judged + int(points.sum()), right + int((points & ~wrong).sum())
        whole += not wrong.any()
        for row, column in torch.nonzero(wrong).tolist():
            said = [round(float(chance), 2) for chance in chances[row, column]]
            print(
                f"  {photograph.name} row {row + 1}, column {column + 1}: {CLASSES[labels[row, column]]}, read {said}"
            )
    print(f"{name}: {100 * right / judged:.2f} % of {judged} points, {whole} of {len(photographs)} boards")


def save(net: Stones, path: str, note: str) -> None:
    """The weights as vision.stones evaluates them."""
    arrays: dict[str, Any] = {}
    for name in ("conv1", "conv2", "conv3", "conv4", "conv5"):
        arrays[f"{name}_weight"] = getattr(net, name).weight.permute(2, 3, 1, 0)
        arrays[f"{name}_bias"] = getattr(net, name).bias
    arrays["scene_mean"], arrays["scene_spread"] = net.scene_mean, net.scene_spread
    arrays["dense_weight"], arrays["dense_bias"] = net.dense.weight.T, net.dense.bias
    np.savez(path, note=np.array(note), **{key: value.detach().contiguous().numpy() for key, value in arrays.items()})


def load(path: str) -> Stones:
    """The network that `save` stored."""
    with np.load(path) as stored:
        arrays = {key: torch.tensor(stored[key]) for key in stored.files if key != "note"}
    net = Stones(arrays["scene_mean"], arrays["scene_spread"])
    for name, value in arrays.items():
        layer, _, part = name.rpartition("_")
        if part == "weight":
            getattr(net, layer).weight.data = value.permute(3, 2, 0, 1) if value.ndim == 4 else value.T
        elif part == "bias":
            getattr(net, layer).bias.data = value
    return net


def nearly_empty(photograph: Photograph) -> bool:
    """Whether it is one of the few on which an invented stone would show; those are varied more often."""
    return bool((photograph.labels == 0).mean() > 0.87)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--variants", type=int, default=16, help="how often each photograph is shown varied")
    parser.add_argument("--drawn", nargs="*", default=[], help="folders of drawn boards, each shown varied once")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--start", help="weights to go on from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    photographs = list(read_photographs(options.folders))
    rng = np.random.default_rng(options.seed)
    shown = [example(photograph) for photograph in photographs]
    for photograph in photographs:
        times = options.variants * (3 if nearly_empty(photograph) else 1)
        shown += [example(vary(photograph, rng)) for _ in range(times)]
    drawn = [example(vary(board, rng)) for board in read_photographs(options.drawn)]
    shown += drawn
    net = train(shown, options.epochs, options.seed, load(options.start) if options.start else None)
    report(net, photographs, "trained on")
    for folder in options.test:
        report(net, list(read_photographs([folder])), folder)
    note = f"seed {options.seed}, {len(photographs)} photographs, {options.variants} variants, {len(drawn)} drawn"
    save(net, options.out, note)
