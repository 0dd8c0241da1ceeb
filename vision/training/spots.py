"""Trains models/spots.npz: whether a disk lies on the surface at a circle that the votes found.

python -m vision.training.spots OUT.npz FOLDER[:even|:odd] ... [--test FOLDER[:odd] ...]

It sees the rays that the fitted rim was found with, so models/rims.npz must be there first.
"""

import argparse
from typing import Any

import numpy as np
import torch
from torch import nn

from vision.disks import surface_circles
from vision.rims import fit_rims
from vision.slab import compare_with_empty, rectify
from vision.spots import CLASSES, pooled_features, vote_circles
from vision.training.pictures import Picture, read_pictures
from vision.training.rims import vary

Where = list[tuple[str, tuple[int, int]]]
Examples = tuple[torch.Tensor, torch.Tensor, torch.Tensor, Where]


def examples(folders: list[str], *, jitter: bool) -> Examples:
    """Ray features, pooled features, labels (-1: not to be trained on) and names of the circles of every picture."""
    rng = np.random.default_rng(0)
    features, pooled, labels, where = [], [], [], []
    for picture in read_pictures(folders):
        board = picture.board
        unit_mm = board.disk_diameter_mm / 28
        slab = rectify(picture.image_bgr, picture.calibration, board)
        wood = compare_with_empty(slab, board).wood.mean(axis=0)
        places, votes = surface_circles(vote_circles(slab, least_votes=2.0), picture.calibration, board, unit_mm)
        if jitter:
            surface = np.array([[d["x"], d["y"]] for d in picture.disks if not d["hole"]]).reshape(-1, 2)
            near = np.repeat(surface, 3, axis=0) + rng.normal(0, 0.8 * unit_mm, (3 * len(surface), 2))
            angle, radius = rng.uniform(0, 2 * np.pi, len(surface)), rng.uniform(6, 16, len(surface)) * unit_mm
            off = surface + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
            extra = np.concatenate([near, off])
            places = np.concatenate([places, extra])
            votes = np.concatenate([votes, rng.uniform(4, 10, len(extra))])
        if not len(places):
            continue
        top_mm = np.full(len(places), board.disk_height_mm)
        rims = fit_rims(picture.image_bgr, picture.calibration, places, top_mm, np.zeros(len(places), bool), unit_mm)
        features.append(rims.features.astype(np.float16))
        pooled.append(pooled_features(rims.samples, votes, wood))
        for place in rims.centres_mm:
            labels.append(_label(place, picture, unit_mm))
            where.append((picture.name, (round(place[0]), round(place[1]))))
    return torch.tensor(np.concatenate(features)), torch.tensor(np.concatenate(pooled)), torch.tensor(labels), where


def _label(place: np.ndarray, picture: Picture, unit_mm: float) -> int:
    best, label = 99.0, 0
    for disk in picture.disks:
        distance = np.hypot(disk["x"] - place[0], disk["y"] - place[1]) / unit_mm
        if disk["hole"] or distance >= best:
            continue
        best, leaning, seen = distance, disk["kind"] == "lean", disk.get("visible", 1) >= 0.6
        if distance < (8 if leaning else 1.5):
            label = (2 if leaning else 1) if seen else -1
        else:
            label = 0 if distance > (11 if leaning else 4) else -1
    return label


class Spots(nn.Module):
    """(n, RAYS, features), (n, 4) -> classes."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, 24)
        self.second = nn.Linear(24, 24)
        self.third = nn.Linear(52, 24)
        self.last = nn.Linear(24, len(CLASSES))

    def forward(self, x: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.second(torch.relu(self.first(x))))
        x = torch.relu(self.third(torch.cat([x.mean(1), x.max(1).values, pooled], 1)))
        return self.last(nn.functional.dropout(x, 0.2, self.training))


def train(data: Examples, epochs: int, seed: int) -> Spots:
    features, pooled, label, _ = data
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net, batch = Spots(features.shape[-1]), 192
    usable = torch.nonzero(label >= 0)[:, 0]
    share = torch.bincount(label[usable], minlength=len(CLASSES)).float() / len(usable)
    weight = (1 / share.clamp(min=0.03).sqrt())[label[usable]]
    steps = epochs * (len(usable) // batch + 1)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    for _ in range(steps):
        pick = usable[torch.multinomial(weight, batch)]
        x, _ = vary(features[pick].float(), torch.zeros(batch, 2), rng)
        extra = pooled[pick] + torch.tensor(rng.normal(0, (0.15, 0.2, 0.2, 0.2), (batch, 4))).float()
        loss = nn.functional.cross_entropy(net(x, extra), label[pick], label_smoothing=0.02)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def report(net: Spots, data: Examples, name: str) -> None:
    features, pooled, label, where = data
    with torch.no_grad():
        guess = net(features.float(), pooled).softmax(1)
    best, judged = guess.argmax(1), label >= 0
    wrong = judged & ((best > 0) != (label > 0))
    lying = judged & ~wrong & (best != label)
    print(
        f"{name}: {int(judged.sum())} circles, {int((label > 0).sum())} disks; "
        f"missed or invented {int(wrong.sum())}, else amiss {int(lying.sum())}"
    )
    for index in torch.nonzero(wrong)[:, 0].tolist()[:40]:
        shares = [round(float(p), 2) for p in guess[index]]
        print("  ", *where[index], CLASSES[int(label[index])], shares, "votes", round(float(pooled[index, 0].exp()), 1))


def save(net: nn.Module, path: str, note: str) -> None:
    """The weights of four dense layers, as `vision` evaluates them."""
    stored: dict[str, Any] = {}
    for name in ("first", "second", "third", "last"):
        layer = getattr(net, name)
        stored[name] = layer.weight.T.detach().numpy()
        stored[f"{name}_bias"] = layer.bias.detach().numpy()
    np.savez(path, note=np.array(note), **stored)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = examples(options.folders, jitter=True)
    net = train(data, options.epochs, options.seed)
    report(net, data, "trained on")
    for folder in options.test:
        report(net, examples([folder], jitter=False), folder)
    save(net, options.out, f"seed {options.seed}, {int((data[2] >= 0).sum())} circles")
