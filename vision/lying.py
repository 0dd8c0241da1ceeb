"""How a disk in a hole lies: flat, or at an angle against its walls.

Once a circle is fitted to the disk's rim, the rays through it tell: a flat disk's rim follows the circle all round and
hides nothing of the hole's rim, that of a tilted one crosses both. What is round a disk in its hole can be as dark as
the disk, so colour alone tells little; but a tilted one stands up from the board and throws a shadow on it.
"""

import numpy as np

from vision.board import Floats, Image
from vision.calibration import Calibration
from vision.nets import Array, dense, relu, softmax, weights
from vision.rims import ANGLES, RADIUS, RAYS, Rims, ray_samples, smooth_log

CLASSES = ("in_cell", "tilted")
STRIDE = 4
"""Rays from the middle of one window to that of the next; a window has twice as many."""
_WINDOWS = RAYS // STRIDE
ROUND_IT = np.arange(-2.0, 8.1, 0.5)
"""Where the rays from a hole's middle are sampled, in units beyond its rim."""
_WOOD = ROUND_IT >= 2.0


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
    image_bgr: Image,
    calibration: Calibration,
    rims: Rims,
    holes_mm: Floats,
    hole_radius_mm: float,
    unit_mm: float,
) -> Array:
    """What the rays tell of disks in holes: (n, RAYS, ...).

    `rims` are the fitted ones, `holes_mm` (n, 2) the middles of the holes. The rays through the rim come first, then
    those round the hole, less the wood there; then the setting, where how far beyond the circle the hole's rim is, in
    units, stands in the place of whether a disk lies in a hole: a flat disk hides nothing of that rim.
    """
    off = rims.centres_mm - holes_mm
    along = off @ np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    reach_mm = np.sqrt(np.maximum(along**2 - (off**2).sum(axis=1, keepdims=True) + hole_radius_mm**2, 0)) - along
    surface_mm = np.zeros(len(holes_mm))
    reach = hole_radius_mm / unit_mm + ROUND_IT
    round_it = smooth_log(ray_samples(image_bgr, calibration, holes_mm, surface_mm, unit_mm, reach))
    round_it = round_it.reshape(len(holes_mm), RAYS, len(ROUND_IT), 3)
    round_it = np.clip(round_it - round_it[:, :, _WOOD].mean(axis=(1, 2), keepdims=True), -2, 2)
    setting = rims.features[..., -4:].copy()
    setting[..., -2] = reach_mm / unit_mm - RADIUS
    round_it = round_it.reshape(len(holes_mm), RAYS, 3 * len(ROUND_IT))
    return np.concatenate([rims.features[..., :-4], round_it, setting], axis=2)
