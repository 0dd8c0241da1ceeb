"""The network that reads 20 x 20 patches, its training and its file form; cells and spots use it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from vision.slab import PATCH

Vary = Callable[[torch.Tensor, torch.Tensor, np.random.Generator], tuple[torch.Tensor, torch.Tensor]]


class PatchNet(nn.Module):
    """(n, 6, PATCH, PATCH) log brightness, less two references -> classes."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(6, 16, 5, stride=2, padding=2)
        self.second = nn.Conv2d(16, 24, 3, stride=2, padding=1)
        self.third = nn.Linear(24 * 25, 32)
        self.last = nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x.clamp(-3, 3)))
        x = torch.relu(self.second(x))
        x = torch.relu(self.third(x.permute(0, 2, 3, 1).flatten(1)))
        return self.last(nn.functional.dropout(x, 0.2, self.training))


def train(
    patches: torch.Tensor, label: torch.Tensor, classes: int, vary: Vary, *, epochs: int, seed: int, batch: int = 256
) -> PatchNet:
    """patches (n, 6, PATCH, PATCH); a label of -1 is left out. `vary` may relabel what it changed."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = PatchNet(classes)
    usable = torch.nonzero(label >= 0)[:, 0]
    share = torch.bincount(label[usable], minlength=classes).float() / len(usable)
    weight = (1 / share.clamp(min=0.02).sqrt())[label[usable]]
    steps = epochs * (len(usable) // batch + 1)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    for _ in range(steps):
        pick = usable[torch.multinomial(weight, batch)]
        x, y = vary(patches[pick].float(), label[pick].clone(), rng)
        x = disturb(x, rng)
        loss = nn.functional.cross_entropy(net(x[y >= 0]), y[y >= 0], label_smoothing=0.02)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def disturb(x: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Another mounting, contrast, light gradient, colour order and noise."""
    count = len(x)
    if rng.random() < 0.5:
        x = x.flip(3)
    x = torch.rot90(x, int(rng.integers(4)), (2, 3))
    order = torch.tensor(rng.permutation(3))
    x = x[:, torch.cat([order, order + 3])]
    x = x * torch.tensor(rng.uniform(0.6, 1.5, (count, 1, 1, 1))).float()
    x = x + torch.tensor(rng.normal(0, 0.06, (count, 6, 1, 1))).float()
    slope = torch.tensor(rng.normal(0, 0.006, (2, count, 1, 1, 1))).float()
    axis = torch.arange(PATCH) - (PATCH - 1) / 2
    x = x + slope[0] * axis[:, None] + slope[1] * axis[None, :]
    noise = torch.tensor(rng.exponential(0.04, (count, 1, 1, 1))).float()
    return x + noise * torch.randn_like(x)


def cover(x: torch.Tensor, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Lays a smooth shape of a random colour, with its shadow, over each patch.

    The same colours go into both references, so x must differ between its halves by a smooth amount only at the
    covered pixels; returns the patches and the covered share (n,) of the middle 32 units.
    """
    count = len(x)
    axis = (torch.arange(PATCH) - (PATCH - 1) / 2) * 2
    y, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle = torch.tensor(rng.uniform(0, 2 * np.pi, count)).float()[:, None, None]
    along, across = xx * angle.cos() + y * angle.sin(), -xx * angle.sin() + y * angle.cos()
    edge = torch.tensor(rng.uniform(-22, 18, count)).float()[:, None, None]
    bend = torch.tensor(rng.uniform(-0.02, 0.02, count)).float()[:, None, None]
    depth = along - edge - bend * across.square()
    mask = torch.sigmoid(depth / 0.8)[:, None]
    colour = torch.tensor(rng.normal(0, 0.7, (count, 1, 1, 1)) + rng.normal(0, 0.25, (count, 3, 1, 1))).float()
    slope = torch.tensor(rng.normal(0, 0.02, (count, 2, 1, 1, 1))).float()
    shade = slope[:, 0] * along[:, None] + slope[:, 1] * across[:, None] - 0.5 * torch.exp(-depth.abs() / 4)[:, None]
    shadow = -torch.tensor(rng.uniform(0, 0.6, (count, 1, 1, 1))).float() * torch.exp(depth.clamp(max=0) / 6)[:, None]
    texture = torch.tensor(rng.normal(0, 0.03, (count, 1, PATCH, PATCH))).float()
    between = x[:, :3] - x[:, 3:]
    plain = (colour + shade + texture) * mask + (x[:, 3:] + shadow * (1 - mask)) * (1 - mask)
    middle = (xx.square() + y.square() < 16**2).float()
    return torch.cat([plain + between, plain], 1), (mask[:, 0] * middle).sum((1, 2)) / middle.sum()


def shade(x: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Lets a soft shadow fall over part of each patch; what lies there stays what it is."""
    count = len(x)
    axis = (torch.arange(PATCH) - (PATCH - 1) / 2) * 2
    y, across = torch.meshgrid(axis, axis, indexing="ij")
    angle = torch.tensor(rng.uniform(0, 2 * np.pi, count)).float()[:, None, None]
    softness = torch.tensor(rng.uniform(1, 12, count)).float()[:, None, None]
    edge = torch.tensor(rng.uniform(-30, 15, count)).float()[:, None, None]
    depth = torch.tensor(rng.uniform(0, 1.3, count)).float()[:, None, None]
    shadow = -depth * torch.sigmoid((across * angle.cos() + y * angle.sin() - edge) / softness)
    return x + shadow[:, None]


def shares(net: PatchNet, patches: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return net(patches.float()).softmax(1)


def save(net: PatchNet, path: str, note: str) -> None:
    """The file that vision.nets.read_patches evaluates."""
    arrays: dict[str, Any] = {
        "first": net.first.weight.permute(2, 3, 1, 0),
        "second": net.second.weight.permute(2, 3, 1, 0),
        "third": net.third.weight.T,
        "last": net.last.weight.T,
    }
    for name in list(arrays):
        arrays[f"{name}_bias"] = getattr(net, name).bias
    np.savez(path, note=np.array(note), **{key: value.detach().numpy() for key, value in arrays.items()})
