"""Trains models/flats.npz: where the sides of a stack's uppermost flat run.

python -m vision.training.flats OUT.npz FOLDER ... [--test FOLDER ...]

Folders hold pictures with their truth as JSON, as `hardware_sims.squares_pictures` writes them; every ninth is kept for
the figures that are printed. The loss of the rays is the negative log likelihood of the true place, turn and size under
those that they give together with their covariance.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import nn

from vision.flats import JACOBIAN, PATCH, PRIOR, RAYS, REACH, SETTING, Flats, FlatViews
from vision.training.pieces import Picture, read_pictures, true_paints

STARTS = 4
SPREADS = ((0.008, 0.010, 0.006), (0.01, 0.012, 0.01), (0.02, 0.03, 0.012), (0.06, 0.08, 0.02))
"""Of x and y in flat's widths, of the turn and of the size: where the rays of each start begin."""


def flats_of(picture: Picture, truth: dict[str, Any]) -> tuple[Flats, np.ndarray]:
    """The uppermost flats of a picture at their true heights, and their true poses (n, 3)."""
    size, thick = truth["size"], truth["mm"]["flat"][2]
    labels = np.array([stack[-1] if stack else 0 for stack in picture.stacks])
    below = np.array([max(len(stack) - 1, 0) for stack in picture.stacks])
    paints = true_paints(picture, labels, below).astype(np.float32)
    middles = picture.profile.board.cells_mm()
    rows = []
    for n, stack in enumerate(picture.stacks):
        flats = [piece for piece in stack if piece <= 2]
        if flats:
            name = f"{'abcdefgh'[n % size]}{n // size + 1}"
            x, y, turn = truth["places"][name][len(flats) - 1]
            own = flats[-1] - 1
            turn = np.radians((turn + 45) % 90 - 45)
            under = 0 if stack[-1] <= 2 else (stack[-1] - 1) // 2
            rows.append((middles[n], len(flats) * thick, paints[[own, 1 - own]], under, (x, y, turn)))
    middle, z, paint, under, pose = (np.array(part) for part in zip(*rows, strict=True))
    return Flats(middle, z.astype(float), paint.astype(np.float32), under), pose.astype(float)


def examples(folders: list[str]) -> dict[str, np.ndarray]:
    """Patches, settings and poses of flats, and rays from STARTS places round each with the way to the true pose."""
    rng = np.random.default_rng(5)
    rows: dict[str, list[np.ndarray]] = {}

    def add(**parts: np.ndarray) -> None:
        for name, part in parts.items():
            rows.setdefault(name, []).append(part)

    truths = [
        json.loads(path.read_text())
        for path in sorted(path for folder in folders for path in Path(folder).glob("*.json"))
    ]
    for number, (picture, truth) in enumerate(zip(read_pictures(folders), truths, strict=True)):
        if not any(piece <= 2 for stack in picture.stacks for piece in stack):
            continue
        flats, pose = flats_of(picture, truth)
        views = FlatViews(picture.image_bgr, picture.calibration, picture.profile.pieces)
        width = picture.profile.pieces.flat_mm[0]
        # The rough place is asked for in planes that are a layer off too.
        for layers in (np.zeros(len(pose)), rng.choice((-2, -1, 1, 2), len(pose))):
            plane = replace(flats, z_mm=flats.z_mm + layers * picture.profile.pieces.flat_mm[2])
            eye = picture.calibration.camera_mm()
            scale = ((eye[2] - plane.z_mm) / (eye[2] - flats.z_mm))[:, None]
            seen = eye[:2] + (pose[:, :2] - eye[:2]) * scale
            add(
                patches=views.patches(plane).astype(np.float16),
                setting=views.setting(plane),
                target=np.column_stack([(seen - flats.middles_mm) / width, pose[:, 2]]).astype(np.float32),
                finds_number=np.full(len(pose), number),
            )
        begun, ways = [], []
        for spread in SPREADS:
            way = rng.normal(0, 1, (len(pose), 4)) * np.array([spread[0], *spread])
            true = np.column_stack([pose, np.zeros(len(pose))])
            turned_back = true - way * np.array([0, 0, 1, 1])
            start = views.moved(turned_back, way * np.array([-1, -1, 0, 0]))
            begun.append(views.rays(flats, start).astype(np.float16))
            ways.append(way.astype(np.float32))
        add(rays=np.stack(begun, axis=1), ways=np.stack(ways, axis=1), number=np.full(len(pose), number))
    return {name: np.concatenate(parts) for name, parts in rows.items()}


class Find(nn.Module):
    """(n, 6, PATCH, PATCH), setting (n, 6) -> middle and turn (n, 3)."""

    def __init__(self) -> None:
        super().__init__()
        self.find1 = nn.Conv2d(6, 20, 5, 2, 2)
        self.find2 = nn.Conv2d(20, 28, 3, 2, 1)
        self.find3 = nn.Linear(28 * (PATCH // 4) ** 2 + 6, 48)
        self.find4 = nn.Linear(48, 3)

    def forward(self, x: torch.Tensor, setting: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.find2(torch.relu(self.find1(x))))
        x = torch.cat([x.permute(0, 2, 3, 1).flatten(1), setting], 1)
        return self.find4(nn.functional.dropout(torch.relu(self.find3(x)), 0.05, self.training))


class Sides(nn.Module):
    """(n, 4, RAYS, features) -> crossings and precisions (n, 4, RAYS)."""

    def __init__(self) -> None:
        super().__init__()
        self.side1 = nn.Linear(6 * len(REACH) + SETTING, 48)
        self.side2 = nn.Linear(48, 40)
        self.side3 = nn.Linear(40, len(REACH) + 1)
        self.log_precision = nn.Parameter(torch.tensor(7.0))
        self.reach = torch.tensor(REACH).float()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        colours = x[..., :-SETTING]
        x = torch.cat([x, colours.mean(2, keepdim=True).expand_as(colours)], 3)
        x = torch.relu(self.side2(nn.functional.dropout(torch.relu(self.side1(x)), 0.05, self.training)))
        last = self.side3(x)
        crossing = last[..., :-1].softmax(-1) @ self.reach
        return crossing, nn.functional.softplus(last[..., -1]) * self.log_precision.exp() + 1e-2


def solved(crossing: torch.Tensor, precision: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """As vision.flats.solve, with the inverse of the covariance."""
    rows = torch.tensor(JACOBIAN).float()
    weighted = rows * precision.flatten(1)[..., None]
    normal = weighted.transpose(1, 2) @ rows + torch.diag(torch.tensor(PRIOR).float())
    pull = weighted.transpose(1, 2) @ crossing.flatten(1)[..., None]
    return torch.linalg.solve(normal, pull)[..., 0], normal


def turned(data: dict[str, np.ndarray], pick: np.ndarray, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """Patches of some flats with setting and target: turned, mirrored, noisy, under other colours."""
    x = torch.tensor(data["patches"][pick]).float().permute(0, 3, 1, 2)
    setting, target = torch.tensor(data["setting"][pick]), torch.tensor(data["target"][pick])
    if rng.random() < 0.5:
        x = x.flip(3)
        setting, target = setting * torch.tensor([-1.0, 1, 1, 1, 1, 1]), target * torch.tensor([-1.0, 1, -1])
    for _ in range(int(rng.integers(4))):
        # A quarter turn takes x to y and y to -x.
        x = torch.rot90(x, 1, (3, 2))
        setting = torch.cat([-setting[:, 1:2], setting[:, :1], setting[:, 2:]], 1)
        target = torch.stack([-target[:, 1], target[:, 0], target[:, 2]], 1)
    return disturbed(x), setting, target


def disturbed(x: torch.Tensor) -> torch.Tensor:
    """Patches under somewhat other colours, and noisy."""
    count = len(x)
    x = x + torch.randn(count, 1, 1, 1) * 0.06 + torch.randn(count, x.shape[1], 1, 1) * 0.02
    return (x + torch.randn(x.shape) * (torch.rand(count, 1, 1, 1) ** 2 * 0.12)).clamp(-2, 2)


def train_find(data: dict[str, np.ndarray], rows: np.ndarray, epochs: int) -> Find:
    rng, net, batch = np.random.default_rng(0), Find(), 64
    steps = epochs * (len(rows) // batch)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps + 1)
    scale = torch.tensor([0.05, 0.05, 0.1])
    for step in range(steps):
        x, setting, target = turned(data, rng.choice(rows, batch), rng)
        loss = nn.functional.smooth_l1_loss(net(x, setting) / scale, target / scale, beta=0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 500 == 499:
            print("find", step, float(loss.detach()), flush=True)
    return net.eval()


def train_sides(data: dict[str, np.ndarray], rows: np.ndarray, epochs: int) -> Sides:
    rng, net, batch = np.random.default_rng(1), Sides(), 48
    steps = epochs * STARTS * (len(rows) // batch)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps + 1)
    mean = 0.0
    for step in range(steps):
        pick, start = rng.choice(rows, batch), rng.integers(STARTS, size=batch)
        rays, way = sides_batch(data, pick, start)
        colours, setting = rays[..., :-SETTING].view(batch, 4, RAYS, len(REACH), 3), rays[..., -SETTING:]
        if rng.random() < 0.5:  # mirrored: the flat's x runs the other way
            order = torch.tensor([2, 1, 0, 3])
            colours, setting = (part[:, order].flip(2) for part in (colours, setting))
            setting = setting * torch.tensor([1.0, -1, 1, 1, 1, 1, 1, -1])
            way = way * torch.tensor([-1.0, 1, -1, 1])
        colours = colours + torch.randn(batch, 1, 1, 1, 1) * 0.06 + torch.randn(batch, 1, 1, 1, 3) * 0.02
        colours = colours + torch.randn(colours.shape) * (torch.rand(batch, 1, 1, 1, 1) ** 2 * 0.06)
        crossing, precision = net(torch.cat([colours.clamp(-2, 2).flatten(3), setting], 3))
        found, normal = solved(crossing, precision)
        error = way - found
        distance = torch.einsum("bi,bij,bj->b", error, normal, error)
        true = (way @ torch.tensor(JACOBIAN).float().T).view(batch, 4, RAYS)
        loss = (4.0 * torch.log1p(distance / 4.0) - 0.5 * torch.logdet(normal)).mean()
        loss = loss + 0.5 * nn.functional.smooth_l1_loss(crossing * 34, true * 34, beta=0.3)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        mean += float(loss.detach())
        if step % 500 == 499:
            print("sides", step, round(mean / 500, 3), flush=True)
            mean = 0.0
    return net.eval()


def sides_batch(data: dict[str, np.ndarray], pick: np.ndarray, start: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The rays of some flats from one start each, and the way to their true poses."""
    return torch.tensor(data["rays"][pick, start]).float(), torch.tensor(data["ways"][pick, start])


def figures(net: Sides, data: dict[str, np.ndarray], rows: np.ndarray) -> str:
    """By where the rays start: how far off place, turn and size are, and how that compares with what is stated."""
    words = []
    for start in range(STARTS):
        rays, way = sides_batch(data, rows, np.full(len(rows), start))
        with torch.no_grad():
            found, normal = solved(*net(rays))
        error = (way - found).numpy()
        stated = torch.linalg.inv(normal)[:, 3, 3].sqrt().numpy()
        off = np.abs(error[:, 3]) / stated
        words.append(
            f"start {start}: place {np.median(np.abs(error[:, :2])) * 34:.3f} of 34, "
            f"turn {np.degrees(np.median(np.abs(error[:, 2]))):.2f} degrees, "
            f"size {np.percentile(np.abs(error[:, 3]) * 100, [50, 75, 90]).round(2)} %, "
            f"stated {np.median(stated) * 100:.2f} %, "
            + ", ".join(f"within {many} sigma {(off < many).mean():.3f}" for many in (1, 2, 3, 4))
        )
    return "\n".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vision.training.flats", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--find-epochs", type=int, default=12, help="for the rough places")
    parser.add_argument("--epochs", type=int, default=9, help="for the rays")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = examples(arguments.folders)
    if cache := __import__("os").environ.get("CACHE"):
        np.savez(cache, **data)
    kept = data["number"] % 9 == 0
    held_out, rows = np.flatnonzero(kept), np.flatnonzero(~kept)
    print(len(rows), "flats", flush=True)
    find = train_find(data, np.flatnonzero(data["finds_number"] % 9 != 0), arguments.find_epochs)
    off = np.flatnonzero(data["finds_number"] % 9 == 0)
    with torch.no_grad():
        patches = torch.tensor(data["patches"][off]).float().permute(0, 3, 1, 2)
        astray = np.abs(find(patches, torch.tensor(data["setting"][off])).numpy() - data["target"][off])
    astray *= np.array([34, 34, np.degrees(1)])
    print("found within", np.percentile(astray, [50, 90, 99], axis=0).round(2).tolist(), flush=True)
    sides = train_sides(data, rows, arguments.epochs)
    print(figures(sides, data, held_out))
    stored = {"precision": sides.log_precision.exp()}
    for net in (find, sides):
        for name, layer in net.named_children():
            stored[name] = layer.weight.permute(2, 3, 1, 0) if layer.weight.ndim == 4 else layer.weight.T
            stored[f"{name}_bias"] = layer.bias
    np.savez_compressed(
        arguments.out,
        note=np.array(f"{len(rows)} flats"),
        **{k: v.detach().numpy().astype(np.float32) for k, v in stored.items()},
    )


if __name__ == "__main__":
    main()
