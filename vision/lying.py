"""How a disk in a hole lies: flat, or at an angle against its walls.

Once a circle is fitted to the disk's rim, the rays through it tell: a flat disk's rim follows the circle all round and
hides nothing of the hole's rim, that of a tilted one crosses both. What is round a disk in its hole can be as dark as
the disk, so colour alone tells little.
"""

import numpy as np

from vision.board import Floats
from vision.nets import Array, dense, relu, softmax, weights
from vision.rims import ANGLES, RADIUS, RAYS

CLASSES = ("in_cell", "tilted")
STRIDE = 4
"""Rays from the middle of one window to that of the next; a window has twice as many."""
_WINDOWS = RAYS // STRIDE


def read_lying(features: Array) -> Array:
    """How likely each disk in a hole lies in each way of CLASSES, (n, 2), from its `lying_features`."""
    net = weights("lying")
    rays = relu(dense(features, net["first"], net["first_bias"]))
    round_it = np.concatenate([rays, rays[:, :STRIDE]], axis=1)
    parts = round_it.reshape(len(rays), _WINDOWS + 1, STRIDE * rays.shape[2])
    windows = relu(dense(np.concatenate([parts[:, :-1], parts[:, 1:]], axis=2), net["second"], net["second_bias"]))
    whole = relu(dense(windows.reshape(len(rays), _WINDOWS * windows.shape[2]), net["third"], net["third_bias"]))
    return softmax(dense(whole, net["last"], net["last_bias"]))


def lying_features(
    features: Array, centres_mm: Floats, holes_mm: Floats, hole_radius_mm: float, unit_mm: float
) -> Array:
    """The rays through fitted rims, each with how far beyond the circle the hole's rim is: (n, RAYS, ...).

    `features` are those of `Rims`, `centres_mm` and `holes_mm` (n, 2) the middles of disks and holes. A flat disk hides
    nothing of its hole's rim. The distance, in units, stands where `ray_setting` tells whether a disk lies in a hole.
    """
    off = centres_mm - holes_mm
    along = off @ np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    reach_mm = np.sqrt(np.maximum(along**2 - (off**2).sum(axis=1, keepdims=True) + hole_radius_mm**2, 0)) - along
    rays = features.copy()
    rays[..., -2] = reach_mm / unit_mm - RADIUS
    return rays
