"""What things are made of: colours, and the grain of wood and cloth as tones round 1."""

import math

import cv2
import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.float32]
Rgb = tuple[float, float, float]
"""Linear red, green, blue, from 0 to 1."""


def grain(rng: np.random.Generator, size_hw: tuple[int, int], contrast: float) -> Plane:
    """Wood 1 mm a pixel: planks of bands that run along y and waver."""
    _, width = size_hw
    x = np.broadcast_to(np.arange(width, dtype=np.float32), size_hw)
    waver = _cloud(rng, size_hw, (90, 25)) * 14 + _cloud(rng, size_hw, (300, 120)) * 30
    rings = np.sin((x + waver) * 2 * np.pi / rng.uniform(14, 26))
    fibres = _cloud(rng, size_hw, (40, 1.5)) + 0.7 * _cloud(rng, size_hw, (14, 1.0))
    planks = rng.normal(0, 0.5, 64).astype(np.float32)[(x / rng.uniform(70, 160)).astype(np.int32) % 64]
    tone = 0.45 * rings + 0.5 * fibres + 0.5 * planks + 0.4 * _cloud(rng, size_hw, (400, 200))
    return np.asarray(np.clip(1 + contrast * tone, 0.2, 2.0), dtype=np.float32)


def weave(rng: np.random.Generator, size_hw: tuple[int, int], contrast: float) -> Plane:
    """Cloth 1 mm a pixel: threads both ways, and soft folds."""
    y, x = np.mgrid[0 : size_hw[0], 0 : size_hw[1]].astype(np.float32)
    threads = np.sin(x * 2.1) * np.sin(y * 2.1)
    folds = _cloud(rng, size_hw, (260, 60))
    tone = 0.3 * threads + 0.3 * _cloud(rng, size_hw, (1.5, 1.5)) + 0.6 * folds
    return np.asarray(np.clip(1 + contrast * tone, 0.2, 2.0), dtype=np.float32)


def _cloud(rng: np.random.Generator, size_hw: tuple[int, int], cell_hw: tuple[float, float]) -> Plane:
    """Smooth noise of unit spread whose features are cell_hw pixels large."""
    height, width = (max(2, math.ceil(size / cell) + 1) for size, cell in zip(size_hw, cell_hw, strict=True))
    coarse = rng.normal(0, 1, (height, width)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, size_hw[::-1], interpolation=cv2.INTER_CUBIC), dtype=np.float32)
