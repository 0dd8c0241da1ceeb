"""Trains models/rims.npz: where a ray from near a disk's centre crosses its rim.

python -m vision.training.rims OUT.npz FOLDER[:even|:odd] ... [--test FOLDER ...]

The loss is the negative log likelihood of the true centre under the centre and covariance that the rays give
together, so the network learns both which edge is the rim and how far each ray can be trusted.
"""

import argparse
from typing import Any

import numpy as np
import torch
from torch import nn

from vision.board import Floats
from vision.rims import _LEAST_VARIANCE, _PRIOR_PRECISION, RADIUS, RAYS, REACH, ray_features, ray_samples, ray_setting
from vision.training.pictures import Picture, read_pictures

STARTS = 6
"""Random starts for each disk."""
ANGLES = torch.arange(RAYS) * (2 * np.pi / RAYS)
COS, SIN = ANGLES.cos(), ANGLES.sin()


def flat_disks(picture: Picture, least_visible: float) -> list[dict[str, Any]]:
    """The disks of a picture that lie flat and are seen."""
    return [
        d for d in picture.disks if not d["tilt_deg"] and d["kind"] != "lean" and d.get("visible", 1) >= least_visible
    ]


def examples(folders: list[str], least_visible: float, seed: int = 0) -> dict[str, torch.Tensor]:
    """Ray features from STARTS places round each disk, and the way from there to its centre."""
    rng = np.random.default_rng(seed)
    features, shifts, in_holes = [], [], []
    for picture in read_pictures(folders):
        disks = flat_disks(picture, least_visible)
        if not disks:
            continue
        board, unit_mm = picture.board, picture.board.disk_diameter_mm / 28
        centres = np.array([[d["x"], d["y"]] for d in disks])
        z_mm = np.array([d["z"] + board.disk_height_mm / 2 - board.slab_mm for d in disks])
        in_hole = np.array([d["hole"] is not None for d in disks])
        holes = np.array(
            [
                board.cells_mm()[(d["hole"][0] - 1) * board.columns + d["hole"][1] - 1] if d["hole"] else (0, 0)
                for d in disks
            ]
        )
        for start in range(STARTS):
            shift = rng.normal(0, 0.35, centres.shape) if start < 3 else rng.uniform(-2.0, 2.0, centres.shape)
            shift = shift * unit_mm
            if start >= 4:
                shift = np.where(in_hole[:, None], centres - holes + 0.2 * shift, shift)
            begin = centres - shift
            samples = ray_samples(picture.image_bgr, picture.calibration, begin, z_mm, unit_mm)
            setting = ray_setting(picture.calibration, begin, z_mm, in_hole, unit_mm)
            features.append(ray_features(samples, setting).astype(np.float16))
            shifts.append(shift / unit_mm)
            in_holes.append(in_hole)
    return {
        "features": torch.tensor(np.concatenate(features)),
        "shift": torch.tensor(np.concatenate(shifts)).float(),
        "in_hole": torch.tensor(np.concatenate(in_holes)),
    }


class Rims(nn.Module):
    """(n, RAYS, features) -> shift (n, 2), covariance (n, 2, 2), crossings (n, RAYS)."""

    def __init__(self, inputs: int, hidden: int = 32) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, len(REACH) + 1)
        self.log_precision = nn.Parameter(torch.tensor(1.0))
        self.reach = torch.tensor(REACH).float()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(nn.functional.dropout(x, 0.05, self.training)))
        last = self.last(x)
        crossing = last[..., :-1].softmax(-1) @ self.reach - RADIUS
        weight = nn.functional.softplus(last[..., -1]) * self.log_precision.exp() + 1e-4
        wx, wy = weight * COS, weight * SIN
        xx, xy, yy = (wx * COS).sum(1), (wx * SIN).sum(1), (wy * SIN).sum(1)
        normal = torch.stack([torch.stack([xx, xy], 1), torch.stack([xy, yy], 1)], 1) + torch.eye(2) * _PRIOR_PRECISION
        pull = torch.stack([(wx * crossing).sum(1), (wy * crossing).sum(1)], 1)
        return torch.linalg.solve(normal, pull), torch.linalg.inv(normal) + torch.eye(2) * _LEAST_VARIANCE, crossing


def vary(
    features: torch.Tensor, shift: torch.Tensor, rng: np.random.Generator, reach: Floats = REACH
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turned and mirrored tables, swapped colours, other contrasts, noise, covered sectors. The rays are sampled at
    `reach` units."""
    samples = features[..., :-4].reshape(*features.shape[:2], len(reach), 3)
    setting = features[..., -4:].clone()
    if rng.random() < 0.5:
        samples, setting = samples.flip(1).roll(1, 1), setting.flip(1).roll(1, 1)
        setting[..., 1] = -setting[..., 1]
        shift = shift * torch.tensor([1.0, -1.0])
    turn = int(rng.integers(RAYS))
    samples, setting = samples.roll(turn, 1), setting.roll(turn, 1)
    angle = torch.tensor(turn * 2 * np.pi / RAYS)
    rotation = torch.tensor([[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]])
    shift = shift @ rotation.T
    samples = samples[..., torch.tensor(rng.permutation(3))]
    samples = samples * torch.tensor(rng.uniform(0.6, 1.4, (len(samples), 1, 1, 1))).float()
    samples = samples * torch.tensor(rng.choice([-1.0, 1.0], (len(samples), 1, 1, 1), p=(0.25, 0.75))).float()
    noise = torch.tensor(rng.exponential(0.03, (len(samples), 1, 1, 1))).float()
    samples = samples + noise * torch.randn_like(samples)
    if rng.random() < 0.3:  # something dark or light lies over a sector of the rim
        first, width = int(rng.integers(RAYS)), int(rng.integers(3, 24))
        begin = torch.tensor(rng.uniform(9, 18, (len(samples), 1, 1, 1))).float()
        mask = torch.sigmoid((torch.tensor(reach).float()[None, None, :, None] - begin) / 0.3)
        level = torch.tensor(rng.normal(0, 0.7, (len(samples), 1, 1, 3))).float()
        sector = torch.zeros(1, RAYS, 1, 1)
        sector[:, torch.arange(first, first + width) % RAYS] = 1
        samples = samples * (1 - mask * sector) + level * mask * sector
    return torch.cat([samples.clamp(-2, 2).flatten(2), setting], 2), shift


def likelihood_loss(error: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
    distance = torch.einsum("bi,bij,bj->b", error, torch.linalg.inv(covariance), error)
    # A Student-like tail: one wild disk must not widen every sigma.
    return (3.0 * torch.log1p(distance / 4.0) + 0.5 * torch.logdet(covariance)).mean()


def train(data: dict[str, torch.Tensor], epochs: int, seed: int) -> Rims:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    count, batch = len(data["shift"]), 96
    net = Rims(data["features"].shape[-1])
    steps = epochs * (count // STARTS // batch + 1)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    for _ in range(steps):
        pick = torch.randint(count, (batch,))
        features, shift = vary(data["features"][pick].float(), data["shift"][pick], rng)
        found, covariance, crossing = net(features)
        along = shift[:, :1] * COS + shift[:, 1:] * SIN
        loss = likelihood_loss(shift - found, covariance) + 0.2 * nn.functional.smooth_l1_loss(
            crossing, along, beta=0.5
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def report(net: Rims, data: dict[str, torch.Tensor], name: str) -> None:
    with torch.no_grad():
        found, covariance, _ = net(data["features"].float())
    error = (data["shift"] - found).norm(dim=1).numpy()
    spread = 1.224 * (covariance.diagonal(dim1=1, dim2=2).mean(1)).sqrt().numpy()
    for where, chosen in (("hole", data["in_hole"].numpy()), ("slab", ~data["in_hole"].numpy())):
        figures = np.percentile(error[chosen], [50, 95, 99]).round(3)
        print(f"{name} {where}: error {figures} units, 2 sigma covers {(error <= 2 * spread)[chosen].mean():.3f}")


def save(net: Rims, path: str, note: str) -> None:
    arrays = {name: layer for name in ("first", "second", "last") for layer in [getattr(net, name)]}
    stored = {name: layer.weight.T for name, layer in arrays.items()}
    stored |= {f"{name}_bias": layer.bias for name, layer in arrays.items()}
    stored["precision"] = net.log_precision.exp()
    np.savez(path, note=np.array(note), **{key: value.detach().numpy() for key, value in stored.items()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--test", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = examples(options.folders, 0.6)
    net = train(data, options.epochs, options.seed)
    report(net, data, "trained on")
    for folder in options.test:
        report(net, examples([folder], 0.95, seed=1), folder)
    save(net, options.out, f"seed {options.seed}, {len(data['shift']) // STARTS} disks")
