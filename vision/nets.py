"""Tiny trained networks, evaluated in plain numpy: some thousand to a hundred thousand weights each, in models/*.npz.

How they were made stands in docs/training.md; each file also holds a one-line note of its own.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


@cache
def weights(name: str) -> Mapping[str, Array]:
    """The arrays of models/NAME.npz."""
    with files("vision").joinpath(f"models/{name}.npz").open("rb") as file, np.load(file) as stored:
        return {key: stored[key] for key in stored.files if stored[key].dtype == np.float32}


def dense(x: Array, weight: Array, bias: Array) -> Array:
    """x (..., inputs), weight (inputs, outputs), bias (outputs,)."""
    return np.asarray(x @ weight + bias, dtype=np.float32)


def relu(x: Array) -> Array:
    """max(x, 0), in place."""
    return np.maximum(x, 0, out=x)


def conv(x: Array, weight: Array, bias: Array, *, stride: int) -> Array:
    """x (n, h, w, inputs), weight (size, size, inputs, outputs), zero padding of size // 2, as (n, h', w', outputs)."""
    size = weight.shape[0]
    padded = np.pad(x, ((0, 0), (size // 2, size // 2), (size // 2, size // 2), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))[:, ::stride, ::stride]
    n, high, wide = windows.shape[:3]
    rows = windows.transpose(0, 1, 2, 4, 5, 3).reshape(n * high * wide, -1)
    return dense(rows, weight.reshape(-1, weight.shape[-1]), bias).reshape(n, high, wide, -1)


def softmax(x: Array) -> Array:
    """Over the last axis."""
    power = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True), dtype=np.float32)


def read_patches(name: str, patches: Array) -> Array:
    """The class shares (n, classes) that the patch network NAME gives patches (n, h, w, channels)."""
    net = weights(name)
    hidden = relu(conv(np.clip(patches, -3, 3), net["first"], net["first_bias"], stride=2))
    hidden = relu(conv(hidden, net["second"], net["second_bias"], stride=2))
    hidden = relu(dense(hidden.reshape(len(hidden), -1), net["third"], net["third_bias"]))
    return softmax(dense(hidden, net["last"], net["last_bias"]))
