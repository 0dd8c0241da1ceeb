"""Trains models/pieces.npz: what lies uppermost on a square.

python -m vision.training.pieces OUT.npz FOLDER ... [--test FOLDER ...] [--epochs 20]

Folders hold pictures with their truth as JSON, as `hardware_sims.squares_pictures` writes them. Each square is shown in
its planes and in those of stacks a few flats higher and lower, under colours of the two sides that are a little or far
off; every third picture also with an arm over it.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from vision.board import Pieces, Profile, SquaresBoard
from vision.calibration import calibrate
from vision.pieces import TOPS, Squares, look_at_squares

COVERED = len(TOPS)
UNUSED = -1
SKINS = ((135, 160, 196), (95, 120, 160), (165, 190, 225), (58, 78, 110), (140, 170, 210), (75, 100, 140), (42, 55, 80))
SLEEVES = ((80, 50, 40), (125, 120, 120), (32, 30, 30), (45, 40, 150), (185, 195, 200), (60, 90, 60), (110, 70, 70))


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture with what lies on each square, bottom first, as indices of TOPS."""

    image_bgr: np.ndarray
    squares: Squares
    corners_px: np.ndarray
    stacks: list[list[int]]
    profile: Profile
    calibration: object


def read_pictures(folders: list[str]) -> Iterator[Picture]:
    """Every picture without a hand of some folders."""
    for path in sorted(path for folder in folders for path in Path(folder).glob("*.json")):
        truth = json.loads(path.read_text())
        if truth["hand"]:
            continue
        size, mm = truth["size"], truth["mm"]
        sizes = Pieces(tuple(mm["flat"]), mm["wall_height"], tuple(mm["crown"]))
        board = SquaresBoard(size, size, mm["square"])
        colours = tuple((name, tuple(bytes.fromhex(truth["colours"][name][1:])[::-1])) for name in "ab")
        profile = Profile(board, colours, truth["camera"]["fov_x_deg"], pieces=sizes)
        image = cv2.imread(str(path.parent / truth["image"]))
        size_wh = (image.shape[1], image.shape[0])
        calibration = calibrate(truth["corners_px"], board.corners_mm(), size_wh, profile.fov_x_deg)
        names = [f"{'abcdefgh'[column]}{row + 1}" for row in range(size) for column in range(size)]
        stacks = [[TOPS.index(letter) for letter in truth["board"].get(name, ())] for name in names]
        squares = look_at_squares(image, calibration, profile)
        yield Picture(image, squares, np.array(truth["corners_px"]), stacks, profile, calibration)


def examples(folders: list[str], *, vary: bool) -> dict[str, np.ndarray]:
    """Patches, scenes, labels and the sides' colours of every square."""
    rng = np.random.default_rng(0)
    rows: dict[str, list[np.ndarray]] = {"patches": [], "scene": [], "labels": [], "paints": []}

    def add(squares: Squares, labels: np.ndarray, below: np.ndarray, paints: np.ndarray) -> None:
        used = np.flatnonzero(labels != UNUSED)
        rows["patches"].append(squares.patches(used, below[used]).astype(np.float16))
        rows["scene"].append(np.column_stack([squares.slopes(used), below[used] / 8]).astype(np.float32))
        rows["labels"].append(labels[used])
        rows["paints"].append(np.repeat(paints[None], len(used), axis=0))

    for picture in read_pictures(folders):
        labels = np.array([stack[-1] if stack else 0 for stack in picture.stacks])
        below = np.array([max(len(stack) - 1, 0) for stack in picture.stacks])
        paints = true_paints(picture, labels, below)
        heights = [below]
        if vary:
            heights += [np.clip(below + rng.choice((-3, -2, -1, -1, 1, 1, 2, 3), len(below)), 0, 8) for _ in range(2)]
        for height in heights:
            add(picture.squares, labels, height, paints)
        if vary and rng.uniform() < 0.4:
            image, mask = with_arm(picture.image_bgr, rng, picture.corners_px)
            told = np.repeat((mask * 255).astype(np.uint8)[..., None], 3, axis=2)
            covers = look_at_squares(told, picture.calibration, picture.profile)
            share = (np.exp(covers.patches(np.arange(len(below)), below)[:, 6:20, 6:20]) - 4) / 255
            share = np.maximum(share[..., 0].mean(axis=(1, 2)), share[..., 3].mean(axis=(1, 2)))
            hidden = np.where(share > 0.3, COVERED, np.where(share > 0.08, UNUSED, labels))
            squares = look_at_squares(image, picture.calibration, picture.profile)
            for height in heights[:2]:
                add(squares, hidden, height, paints)
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def true_paints(picture: Picture, labels: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The two sides' log colours (2, 3) as this picture shows them; by the profile where a side has no flat."""
    profile = np.log(np.array([colour for _, colour in picture.profile.colours], np.float32) + 4)
    seen: list[np.ndarray | None] = []
    for side in (1, 2):
        flats = np.flatnonzero(labels == side)
        tops = picture.squares.patches(flats, below[flats])[:, 9:17, 9:17, 3:6].reshape(-1, 3)
        seen.append(np.median(tops, axis=0) if len(tops) else None)
    shifts = [tops - own for tops, own in zip(seen, profile, strict=True) if tops is not None]
    shift = np.mean(shifts, axis=0) if shifts else 0
    return np.stack([own + shift if tops is None else tops for tops, own in zip(seen, profile, strict=True)])


def with_arm(image: np.ndarray, rng: np.random.Generator, corners_px: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A picture with a hand and a sleeve laid over it, and the mask of both."""
    height, width = image.shape[:2]
    middle = corners_px.mean(axis=0)
    tip = middle + rng.uniform(-0.8, 0.8, 2) * np.abs(corners_px - middle).max(axis=0)
    across, down = rng.uniform(0, width), rng.uniform(0, height)
    root = np.array([(across, -60), (across, height + 60), (-60, down), (width + 60, down)][int(rng.integers(4))])
    along = (root - tip) / np.linalg.norm(root - tip)
    aside = np.array([-along[1], along[0]])
    unit = np.linalg.norm(corners_px[0] - corners_px[1]) / 6 * rng.uniform(0.75, 1.2)
    hand, sleeve = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)

    def tube(mask: np.ndarray, start: np.ndarray, end: np.ndarray, radii: tuple[float, float]) -> None:
        for share in np.linspace(0, 1, 24):
            place = start + (end - start) * share
            radius = max(1, int(radii[0] + (radii[1] - radii[0]) * share))
            cv2.circle(mask, (int(place[0]), int(place[1])), radius, 1, cv2.FILLED, cv2.LINE_AA)

    palm = tip + along * unit * 1.6
    for finger in range(5):
        off = (finger - 2) * 0.42 * unit
        length = unit * (1.9 if 0 < finger < 4 else 1.4) * rng.uniform(0.6, 1.05)
        base = palm + aside * off * 0.9 - along * 0.2 * unit
        tube(hand, base, base - along * length + aside * off * rng.uniform(-0.2, 0.5), (0.24 * unit, 0.17 * unit))
    tube(hand, palm - along * 0.4 * unit, palm + along * 1.2 * unit, (0.95 * unit, 0.8 * unit))
    tube(hand, palm + along * 1.2 * unit, root, (0.6 * unit, 0.85 * unit))
    tube(sleeve, palm + along * unit * rng.uniform(1.5, 6), root, (0.85 * unit, 1.15 * unit))
    mask, cloth = (cv2.GaussianBlur(part, (0, 0), 0.8) for part in (np.maximum(hand, sleeve), sleeve))
    shift = (int(rng.normal(0, 0.5 * unit)), int(rng.normal(0, 0.5 * unit)))
    shadow = cv2.GaussianBlur(np.roll(mask, shift, (0, 1)), (0, 0), max(1.0, 0.3 * unit)) * rng.uniform(0.2, 0.6)
    light = float(image.mean()) / 110 * rng.uniform(0.7, 1.3)
    skin, wool = (np.array(some[int(rng.integers(len(some)))]) * light for some in (SKINS, SLEEVES))
    depth = cv2.distanceTransform((mask > 0.5).astype(np.uint8), cv2.DIST_L2, 3)
    edge = rng.uniform(0.55, 1.0)
    round_ = edge + (1 - edge) * np.clip(depth / (rng.uniform(0.3, 1.0) * unit), 0, 1)[..., None]
    grain = (
        1
        + rng.uniform(0.0, 0.1)
        * cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 2)[..., None]
    )
    arm = (skin * (1 - cloth[..., None]) + wool * cloth[..., None]) * round_ * grain
    seen = image * (1 - shadow[..., None]) * (1 - mask[..., None]) + arm * mask[..., None]
    return np.clip(seen + rng.normal(0, 1.5, seen.shape), 0, 255).astype(np.uint8), mask


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(18, 24, 3, 2, 1)
        self.second = nn.Conv2d(24, 32, 3, 2, 1)
        self.third = nn.Linear(32 * 49 + 3, 64)
        self.last = nn.Linear(64, len(TOPS) + 1)
        self.drop = nn.Dropout(0.2)

    def forward(self, features: torch.Tensor, scene: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.second(torch.relu(self.first(features))))
        flat = torch.cat([hidden.permute(0, 2, 3, 1).flatten(1), scene], dim=1)
        return self.last(self.drop(torch.relu(self.third(flat))))


def batch(data: dict[str, np.ndarray], rows: np.ndarray, rng: np.random.Generator | None) -> tuple[torch.Tensor, ...]:
    """Features, scenes and labels of some rows; with `rng` turned, mirrored, noisy, under other colours."""
    patches, scene, paints = (torch.tensor(data[name][rows]).float() for name in ("patches", "scene", "paints"))
    if rng is not None:
        count = len(rows)
        if rng.random() < 0.5:
            patches, scene = patches.flip(2), scene * torch.tensor([-1.0, 1.0, 1.0])
        if rng.random() < 0.5:
            patches, scene = patches.flip(1), scene * torch.tensor([1.0, -1.0, 1.0])
        if rng.random() < 0.5:
            patches, scene = patches.transpose(1, 2), scene[:, [1, 0, 2]]
        far = (torch.rand(count, 1, 1) < 0.4).float()
        paints = paints + torch.randn(count, 1, 1) * (0.05 + 0.25 * far)
        paints = paints + torch.randn(count, 2, 1) * (0.05 + 0.15 * far)
        paints = paints + torch.randn(count, 1, 3) * (0.03 + 0.06 * far) + torch.randn(count, 2, 3) * 0.03
        patches = patches + torch.randn(patches.shape) * (torch.rand(count, 1, 1, 1) * 0.08)
    planes = patches.reshape(*patches.shape[:3], 3, 1, 3) - paints[:, None, None, None]
    features = planes.clamp(-2, 2).reshape(*patches.shape[:3], 18).permute(0, 3, 1, 2)
    return features, scene, torch.tensor(data["labels"][rows]).long()


def right(net: Net, data: dict[str, np.ndarray]) -> float:
    """The share of squares that the network tells right."""
    net.eval()
    with torch.no_grad():
        features, scene, labels = batch(data, np.arange(len(data["labels"])), None)
        return float((net(features, scene).argmax(dim=1) == labels).float().mean())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vision.training.pieces", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = examples(arguments.folders, vary=True)
    tests = {folder: examples([folder], vary=False) for folder in arguments.test}
    net, size, count = Net(), 128, len(data["labels"])
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=2e-3)
    steps = arguments.epochs * (count // size) + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    for epoch in range(arguments.epochs):
        net.train()
        order = rng.permutation(count)
        for start in range(0, count - size, size):
            features, scene, labels = batch(data, order[start : start + size], rng)
            loss = nn.functional.cross_entropy(net(features, scene), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch, {folder: round(right(net, test), 4) for folder, test in tests.items()}, flush=True)
    weights = {}
    for name, layer in (("first", net.first), ("second", net.second), ("third", net.third), ("last", net.last)):
        weight = layer.weight.detach().numpy()
        weights[name] = weight.transpose(2, 3, 1, 0) if weight.ndim == 4 else weight.T
        weights[f"{name}_bias"] = layer.bias.detach().numpy()
    note = f"{count} squares of {', '.join(Path(folder).name for folder in arguments.folders)}"
    np.savez_compressed(arguments.out, **weights, note=np.array(note))


if __name__ == "__main__":
    main()
