"""Trains models/heights.npz: which of some stacks a square holds, where their uppermost pieces are alike.

python -m vision.training.heights OUT.npz FOLDER ... [--epochs 8]

Folders hold pictures with their truth as JSON, as `hardware_sims.squares_pictures` writes them; every ninth is kept
for the figures that are printed. Each stack is held against three others that have one or two pieces more or fewer
below the uppermost one.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from vision.heights import CHANNELS, LONG, WIDE, Stack, StackViews
from vision.training.pieces import Picture, read_pictures, true_paints

STACKS = 4
"""The true one and so many less one others."""
LEAST_LEAN = 0.06
MOST_OF_A_PICTURE = 16
BATCH = 32
ODDS = 4.0
"""As logarithms: from here on a stack counts as settled in the figures that are printed."""


def altered(stack: Stack, rng: np.random.Generator) -> Stack:
    """A stack with the same uppermost piece and one or two pieces more or fewer below it."""
    pieces, more = list(stack), int(rng.choice((-2, -1, -1, 1, 1, 2)))
    for _ in range(-more):
        if len(pieces) > 1:
            pieces.pop(int(rng.integers(len(pieces) - 1)))
    if more > 0 or tuple(pieces) == stack:
        for _ in range(max(more, 1)):
            pieces.insert(int(rng.integers(len(pieces))), int(rng.integers(1, 3)))
    return tuple(pieces)


def others(stack: Stack, rng: np.random.Generator) -> list[Stack]:
    """Different stacks of other heights, up to as many as are wanted."""
    found: list[Stack] = []
    for _ in range(30):
        other = altered(stack, rng)
        if other not in found and len(other) != len(stack) and len(found) < STACKS - 1:
            found.append(other)
    return found


def examples(folders: list[str]) -> dict[str, np.ndarray]:
    """What is seen of stacks, how each of some stacks would look there, the true one first; lean, heights, picture."""
    rng = np.random.default_rng(5)
    rows: dict[str, list[np.ndarray]] = {"seen": [], "shown": [], "lean": [], "pieces": [], "picture": []}
    for number, picture in enumerate(read_pictures(folders)):
        stacks = [tuple(stack) for stack in picture.stacks]
        views = StackViews(picture.image_bgr, picture.calibration, picture.profile, paints(picture, stacks))
        some = np.flatnonzero([bool(stack) for stack in stacks])
        for square in rng.permutation(some)[:MOST_OF_A_PICTURE].tolist():
            held = [stacks[square], *others(stacks[square], rng)]
            if len(held) < STACKS or views.lean(square) < LEAST_LEAN:
                continue
            drawn = np.stack([views.expected(square, stack) for stack in held])
            rows["seen"].append(views.seen(square).astype(np.float16))
            rows["shown"].append((drawn * 255).astype(np.uint8))
            rows["lean"].append(np.float32(views.lean(square)))
            rows["pieces"].append(np.array([len(stack) for stack in held]))
            rows["picture"].append(np.array(number))
    return {name: np.array(parts) for name, parts in rows.items()}


def paints(picture: Picture, stacks: list[Stack]) -> np.ndarray:
    """The two sides' log colours (2, 3) as this picture shows them."""
    tops = np.array([stack[-1] if stack else 0 for stack in stacks])
    return true_paints(picture, tops, np.array([max(len(stack) - 1, 0) for stack in stacks])).astype(np.float32)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(CHANNELS, 16, 3, 2, 1)
        self.second = nn.Conv2d(16, 24, 3, 2, 1)
        self.third = nn.Conv2d(24, 24, 3, 2, 1)
        self.fourth = nn.Linear(24 * 9 * 6 + 2, 32)
        self.last = nn.Linear(32, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, shown: torch.Tensor, scene: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.third(torch.relu(self.second(torch.relu(self.first(shown))))))
        flat = torch.cat([hidden.permute(0, 2, 3, 1).flatten(1), scene], dim=1)
        return self.last(self.drop(torch.relu(self.fourth(flat))))[:, 0]


def batch(data: dict[str, np.ndarray], rows: np.ndarray, rng: np.random.Generator | None) -> tuple[torch.Tensor, ...]:
    """What the network takes for some rows; with `rng` mirrored, noisy, under other colours."""
    count = len(rows)
    seen = torch.tensor(data["seen"][rows]).float()
    shown = torch.tensor(data["shown"][rows]).float() / 255
    if rng is not None:
        if rng.random() < 0.5:
            seen, shown = seen.flip(2), shown.flip(3)
        seen = seen + torch.randn(count, 1, 1, 1) * 0.08
        seen = (seen.view(count, LONG, WIDE, 2, 3) + torch.randn(count, 1, 1, 2, 1) * 0.08).flatten(3)
        seen = seen + torch.randn(seen.shape) * (torch.rand(count, 1, 1, 1) * 0.06)
    both = torch.cat([seen[:, None].expand(-1, STACKS, -1, -1, -1), shown], dim=4)
    lean = torch.tensor(data["lean"][rows])[:, None].expand(-1, STACKS)
    scene = torch.stack([lean, torch.tensor(data["pieces"][rows]).float() / 8], dim=2)
    return both.flatten(0, 1).permute(0, 3, 1, 2), scene.flatten(0, 1)


def figures(net: Net, data: dict[str, np.ndarray], rows: np.ndarray) -> str:
    """Of pairs one piece apart, by lean: how many are told right, and how many at ODDS, right and wrong."""
    net.eval()
    with torch.no_grad():
        parts = [net(*batch(data, rows[k : k + 64], None)).view(-1, STACKS) for k in range(0, len(rows), 64)]
    net.train()
    told = torch.cat(parts).numpy()
    odds = told[:, :1] - told[:, 1:]
    near = np.abs(data["pieces"][rows][:, :1] - data["pieces"][rows][:, 1:]) == 1
    words = []
    for low, high in ((0.06, 0.18), (0.18, 0.36), (0.36, 0.8)):
        lean = data["lean"][rows]
        some = odds[(lean >= low) & (lean < high)][near[(lean >= low) & (lean < high)]]
        shares = (some > 0).mean(), (some > ODDS).mean(), (some < -ODDS).mean()
        words.append(f"{low}-{high}: {len(some)} pairs, " + " ".join(f"{share:.4f}" for share in shares))
    return "; ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vision.training.heights", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = examples(arguments.folders)
    kept = data["picture"] % 9 == 0
    held_out, rows = np.flatnonzero(kept), np.flatnonzero(~kept)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=1e-3)
    steps = arguments.epochs * (len(rows) // BATCH) + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for epoch in range(arguments.epochs):
        order = rng.permutation(rows)
        for start in range(0, len(rows) - BATCH, BATCH):
            told = net(*batch(data, order[start : start + BATCH], rng)).view(-1, STACKS)
            loss = nn.functional.cross_entropy(told, torch.zeros(len(told), dtype=torch.long))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch, figures(net, data, held_out), flush=True)
    weights = {}
    for name in ("first", "second", "third", "fourth", "last"):
        layer = getattr(net, name)
        weight = layer.weight.detach().numpy()
        weights[name] = weight.transpose(2, 3, 1, 0) if weight.ndim == 4 else weight.T
        weights[f"{name}_bias"] = layer.bias.detach().numpy()
    note = f"{len(rows)} stacks of {len(arguments.folders)} folders, each against {STACKS - 1} others"
    np.savez_compressed(arguments.out, **weights, note=np.array(note))


if __name__ == "__main__":
    main()
