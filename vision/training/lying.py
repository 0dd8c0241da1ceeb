"""Trains models/lying.npz: whether a disk in a hole lies flat or at an angle.

python -m vision.training.lying OUT.npz FOLDER[:even|:odd] ... [--start NPZ] [--test FOLDER[:odd] ...]

It sees the rays that the rim was fitted with, so models/rims.npz must be there first.
"""

import argparse

import cv2
import numpy as np
import torch
from torch import nn

from vision.lying import CLASSES, ROUND_IT, STRIDE, lying_features
from vision.rims import RAYS, REACH, fit_rims
from vision.training.pictures import read_pictures
from vision.training.rims import vary
from vision.training.spots import save

USUAL_HOLE = 16.0
"""A hole's radius, in units; that of other boards differs little."""
_BESIDE = 0.8
"""Of a disk's width: a disk on the surface nearer than this to a hole's middle would touch one that is tilted in it."""
BLUR_UNITS = (0.5, 1.2)
"""Sigma of a blur that each picture is seen under once more: a camera that is out of focus."""

Where = list[tuple[str, tuple[int, int], float]]
Examples = tuple[torch.Tensor, torch.Tensor, Where]


def examples(folders: list[str], blur_units: tuple[float, float] | None = None) -> Examples:
    """Ray features, labels and names of the disks in holes that are seen whole; blurred by as much, if it is given."""
    features, labels, where = [], [], []
    rng = np.random.default_rng(1)
    for picture in read_pictures(folders):
        board = picture.board
        above = np.array([[d["x"], d["y"]] for d in picture.disks if not d["hole"]]).reshape(-1, 2)
        cells, disks = [], []
        for disk in picture.disks:
            if not disk["hole"] or disk.get("visible", 1.0) < 0.97:
                continue
            cell = board.cells_mm()[(disk["hole"][0] - 1) * board.columns + disk["hole"][1] - 1]
            if len(above) and np.linalg.norm(above - cell, axis=1).min() < _BESIDE * board.disk_diameter_mm:
                continue
            cells.append(cell)
            disks.append(disk)
        if not disks:
            continue
        top_mm = np.full(len(cells), board.disk_height_mm - board.slab_mm)
        unit_mm = board.disk_diameter_mm / 28
        in_hole, at_mm = np.ones(len(cells), bool), np.array(cells)
        image_bgr = picture.image_bgr
        if blur_units is not None:
            sigma_px = float(rng.uniform(*blur_units)) * unit_mm * picture.calibration.px_per_mm()
            image_bgr = np.asarray(cv2.GaussianBlur(image_bgr, (0, 0), sigma_px), dtype=np.uint8)
        rims = fit_rims(image_bgr, picture.calibration, at_mm, top_mm, in_hole, unit_mm)
        seen = lying_features(image_bgr, picture.calibration, rims, at_mm, board.hole_diameter_mm / 2, unit_mm)
        features.append(seen.astype(np.float16))
        labels += [CLASSES.index("tilted" if disk["tilt_deg"] else "in_cell") for disk in disks]
        where += [(picture.name, tuple(disk["hole"]), disk["tilt_deg"]) for disk in disks]
    return torch.tensor(np.concatenate(features)), torch.tensor(labels), where


class Lying(nn.Module):
    """(n, RAYS, features) -> classes."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, 48)
        self.second = nn.Linear(2 * STRIDE * 48, 64)
        self.third = nn.Linear(RAYS // STRIDE * 64, 64)
        self.last = nn.Linear(64, len(CLASSES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        parts = torch.cat([x, x[:, :STRIDE]], 1).reshape(len(x), RAYS // STRIDE + 1, -1)
        x = torch.relu(self.second(torch.cat([parts[:, :-1], parts[:, 1:]], 2)))
        x = torch.relu(self.third(nn.functional.dropout(x.flatten(1), 0.1, self.training)))
        return self.last(nn.functional.dropout(x, 0.2, self.training))


def load(path: str) -> Lying:
    """The network that `save` stored."""
    with np.load(path) as stored:
        net = Lying(len(stored["first"]))
        for name, layer in net.named_children():
            layer.weight.data = torch.tensor(stored[name].T)
            layer.bias.data = torch.tensor(stored[f"{name}_bias"])
    return net


def train(data: Examples, epochs: int, seed: int, start: Lying | None = None) -> Lying:
    features, label, _ = data
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net, batch = start or Lying(features.shape[-1]), 192
    reach = np.concatenate([REACH, USUAL_HOLE + ROUND_IT])
    share = torch.bincount(label, minlength=len(CLASSES)).float() / len(label)
    weight = (1 / share.sqrt())[label]
    steps = epochs * (len(label) // batch + 1)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1.5e-3 if start else 4e-3, total_steps=steps)
    for _ in range(steps):
        pick = torch.multinomial(weight, batch, replacement=True)
        x, _ = vary(features[pick].float(), torch.zeros(batch, 2), rng, reach)
        loss = nn.functional.cross_entropy(net(x), label[pick], label_smoothing=0.01)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def report(net: Lying, data: Examples, name: str) -> None:
    features, label, where = data
    with torch.no_grad():
        guess = net(features.float()).softmax(1)
    wrong = guess.argmax(1) != label
    tilted = label == CLASSES.index("tilted")
    print(
        f"{name}: of {int((~tilted).sum())} flat disks {int((wrong & ~tilted).sum())} read as tilted, "
        f"of {int(tilted.sum())} tilted ones {int((wrong & tilted).sum())} as flat"
    )
    for index in torch.nonzero(wrong)[:, 0].tolist()[:40]:
        print("  ", *where[index], [round(float(p), 2) for p in guess[index]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--start", help="weights to go on from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sharp, blurred = examples(options.folders), examples(options.folders, BLUR_UNITS)
    data = torch.cat([sharp[0], blurred[0]]), torch.cat([sharp[1], blurred[1]]), sharp[2] + blurred[2]
    net = train(data, options.epochs, options.seed, load(options.start) if options.start else None)
    report(net, data, "trained on")
    for folder in options.test:
        report(net, examples([folder]), folder)
        report(net, examples([folder], BLUR_UNITS), f"{folder}, blurred")
    save(net, options.out, f"seed {options.seed}, {len(data[1])} disks")
