"""Trains models/cells.npz: what lies in a hole.

python -m vision.training.cells OUT.npz FOLDER[:even|:odd] ... [--test FOLDER[:odd] ...]

Arms are few in the sets, and real ones come with sleeves of any colour: so most "covered" examples are made by laying
a smooth shape of a random colour over a hole.
"""

import argparse

import numpy as np
import torch

from vision.cells import CLASSES, cell_features
from vision.slab import compare_with_empty, rectify
from vision.training.patches import cover, save, shade, shares, train
from vision.training.pictures import read_pictures

Where = list[tuple[str, tuple[int, int]]]
COVERED = CLASSES.index("covered")


def examples(folders: list[str]) -> tuple[torch.Tensor, torch.Tensor, Where]:
    """Patches, labels (-1: not to be trained on) and names of every hole."""
    patches, labels, where = [], [], []
    for picture in read_pictures(folders):
        board = picture.board
        holes = compare_with_empty(rectify(picture.image_bgr, picture.calibration, board), board)
        patches.append(cell_features(holes, np.arange(len(holes.patches))))
        in_holes = {tuple(disk["hole"]): disk for disk in picture.disks if disk["hole"]}
        for index in range(board.rows * board.columns):
            cell = (index // board.columns + 1, index % board.columns + 1)
            disk = in_holes.get(cell)
            visible = 1.0 if disk is None else disk.get("visible", 1.0)
            above = [d for d in picture.disks if not d["hole"]]
            centre = board.cells_mm()[index]
            if any(np.hypot(d["x"] - centre[0], d["y"] - centre[1]) < 0.6 * board.disk_diameter_mm for d in above):
                visible = 0.9  # what a disk lying over the hole leaves to be seen
            label = CLASSES.index("empty" if disk is None else "tilted" if disk["tilt_deg"] else "in_cell")
            if visible < 0.97 or (picture.arm and disk is None):
                # Which empty holes an arm covers is not in the truth.
                label = COVERED if visible < 0.5 else -1
            labels.append(label)
            where.append((picture.name, cell))
    return torch.tensor(np.concatenate(patches)).permute(0, 3, 1, 2), torch.tensor(labels), where


def vary(x: torch.Tensor, label: torch.Tensor, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Shadows on a fifth of the holes, covers on a quarter; a hole that is covered a little is nobody's."""
    dark = torch.tensor(rng.random(len(label)) < 0.2)
    x[dark] = shade(x[dark], rng)
    chosen = torch.tensor(rng.random(len(label)) < 0.25)
    covered, share = cover(x[chosen], rng)
    x[chosen] = covered
    old = label[chosen]
    old[share > 0.08] = -1
    old[share > 0.35] = COVERED
    label[chosen] = old
    return x, label


def report(guess: torch.Tensor, label: torch.Tensor, where: Where, name: str) -> None:
    best, judged = guess.argmax(1), label >= 0
    disk = (label == 1) | (label == 2)
    wrong = judged & (((best == 1) | (best == 2)) != disk)
    lying = judged & ~wrong & (best != label)
    print(
        f"{name}: {int(judged.sum())} holes; a disk missed or invented {int(wrong.sum())}, "
        f"else amiss {int(lying.sum())}"
    )
    for index in torch.nonzero(wrong)[:, 0].tolist()[:40]:
        print("  ", *where[index], CLASSES[int(label[index])], [round(float(p), 2) for p in guess[index]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    patches, label, where = examples(options.folders)
    net = train(patches, label, len(CLASSES), vary, epochs=options.epochs, seed=options.seed)
    report(shares(net, patches), label, where, "trained on")
    for folder in options.test:
        patches_test, label_test, where_test = examples([folder])
        report(shares(net, patches_test), label_test, where_test, folder)
    save(net, options.out, f"seed {options.seed}, {int((label >= 0).sum())} holes")
