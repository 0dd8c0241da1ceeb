"""Where exactly a disk's rim runs.

Along each of 64 rays from near the disk's centre a small network says where the rim is crossed and how sure that is;
weighted least squares give the centre and its covariance. The network learned what a rim looks like where a chamfer
shows two edges, a side wall hides one, or a neighbour, a hole or a shadow adds others.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image
from vision.calibration import Calibration
from vision.nets import Array, dense, relu, softmax, weights
from vision.slab import LOG

RADIUS = 14.0
"""A disk's radius in units (see slab)."""
RAYS = 64
ANGLES = np.arange(RAYS) * (2 * np.pi / RAYS)
"""Of the rays, from x towards y."""
_COS, _SIN = np.cos(ANGLES), np.sin(ANGLES)
REACH = np.arange(9.0, 18.01, 0.25)
"""Where each ray is sampled, in units from the centre."""
INSIDE = 8
"""The first samples of a ray that lie on the disk however far off the start is."""
_PRIOR_PRECISION = 0.5
"""Of the start, in 1/unit^2: where no rim is seen the centre stays put."""
_LEAST_VARIANCE = 0.002
"""Of a centre, per axis, in unit^2: what no number of rays improves (the lens, the corners)."""
_RADIAL = 1.224 * 0.92
"""2 x 1.224 per-axis deviations hold 95 % of a round normal distribution in the plane; the networks' deviations are a
little too large on pictures that they were not trained on."""


def ray_samples(
    image_bgr: Image,
    calibration: Calibration,
    centres_mm: Floats,
    z_mm: Floats,
    unit_mm: float,
    reach: Floats = REACH,
) -> Image:
    """Colours along the rays round each centre (n, 2) at height z_mm (n,): (n, RAYS, len(reach), 3)."""
    matrix = calibration.matrix().astype(np.float32)
    reach_mm = np.float32(unit_mm) * reach.astype(np.float32)
    along_x, along_y = (np.outer(part.astype(np.float32), reach_mm) for part in (_COS, _SIN))
    # Projection is linear before the division: the centre's part and the ray's part add.
    centre = np.column_stack([centres_mm, z_mm, np.ones(len(z_mm))]) @ calibration.matrix().T
    u, v, w = (
        centre[:, row, None, None].astype(np.float32) + (matrix[row, 0] * along_x + matrix[row, 1] * along_y)
        for row in range(3)
    )
    shape = (len(centres_mm) * RAYS, len(reach))
    map_x, map_y = ((part / w).reshape(shape) for part in (u, v))
    if not len(centres_mm):
        return np.empty((0, RAYS, len(reach), 3), dtype=np.uint8)  # OpenCV maps nothing to an error
    samples = cv2.remap(image_bgr, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(samples, dtype=np.uint8).reshape(len(centres_mm), RAYS, len(reach), 3)


@dataclass(frozen=True, slots=True, eq=False)
class Rims:
    """Where the rims of some disks run."""

    centres_mm: Floats
    """(n, 2)"""
    sigma_mm: Floats
    """(n,) radial: the true centre lies within 2 sigma in 95 % of cases"""
    samples: Image
    """(n, RAYS, len(REACH), 3): the rays, from hardly off the centres"""
    features: Array
    """(n, RAYS, ...): `ray_features` of the samples"""

    def first(self, count: int) -> "Rims":
        """Those of the first disks alone."""
        return Rims(self.centres_mm[:count], self.sigma_mm[:count], self.samples[:count], self.features[:count])


def fit_rims(
    image_bgr: Image,
    calibration: Calibration,
    centres_mm: Floats,
    z_mm: Floats,
    in_hole: npt.NDArray[np.bool_],
    unit_mm: float,
    *,
    rounds: int = 2,
) -> Rims:
    """The rims near centres_mm (n, 2), each of a disk whose top lies at height z_mm (n,)."""
    centres = np.array(centres_mm, dtype=np.float64)
    covariance = np.zeros((len(centres), 2, 2))
    if not len(centres):
        rays = (0, RAYS, len(REACH))
        return Rims(
            centres, np.zeros(0), np.zeros((*rays, 3), np.uint8), np.zeros((0, RAYS, 3 * len(REACH) + 4), np.float32)
        )
    for _ in range(rounds):
        samples = ray_samples(image_bgr, calibration, centres, z_mm, unit_mm)
        features = ray_features(samples, ray_setting(calibration, centres, z_mm, in_hole, unit_mm))
        shift, covariance = _solve(*_crossings(features))
        centres = centres + shift * unit_mm
    spread = np.sqrt(np.trace(covariance, axis1=1, axis2=2) / 2)
    return Rims(centres, _RADIAL * spread * unit_mm, samples, features)


def ray_setting(
    calibration: Calibration, centres_mm: Floats, z_mm: Floats, in_hole: npt.NDArray[np.bool_], unit_mm: float
) -> Array:
    """What each ray should know beside its colours, (n, RAYS, 4): the view's slope along and across it (tangents of
    the angle to the vertical), whether the disk lies in a hole, and how many units a pixel spans."""
    camera = calibration.camera_mm()
    slope = (centres_mm - camera[:2]) / (camera[2] - z_mm)[:, None]
    setting = np.empty((len(centres_mm), RAYS, 4), np.float32)
    setting[..., 0] = slope[:, :1] * _COS + slope[:, 1:] * _SIN
    setting[..., 1] = slope[:, 1:] * _COS - slope[:, :1] * _SIN
    setting[..., 2] = in_hole[:, None]
    setting[..., 3] = 1 / (calibration.px_per_mm() * unit_mm)
    return setting


def ray_features(samples: Image, setting: Array) -> Array:
    """The network's input, (n, RAYS, 3 * len(REACH) + 4): log brightness above that inside the rim, smoothed over
    neighbouring rays, and the setting."""
    count = len(samples)
    smooth = smooth_log(samples)
    inside = smooth.reshape(count, RAYS, -1, 3)[:, :, :INSIDE].mean(axis=(1, 2))
    contrast = np.clip(smooth - np.tile(inside, len(REACH))[:, None, :], -2, 2)
    return np.concatenate([contrast, setting], axis=2)


def smooth_log(samples: Image) -> Array:
    """Logarithms of ray samples (n, RAYS, m, 3), smoothed over neighbouring rays: (n, RAYS, 3 * m)."""
    if not len(samples):
        return np.empty((0, RAYS, 3 * samples.shape[2]), np.float32)  # OpenCV's look-up takes no empty array
    log = np.asarray(cv2.LUT(samples.reshape(len(samples) * RAYS, -1), LOG), dtype=np.float32)
    log = log.reshape(len(samples), RAYS, -1)
    ring = np.concatenate([log[:, -1:], log, log[:, :1]], axis=1)
    smooth: Array = (ring[:, :-2] + ring[:, 2:]) * np.float32(0.25) + log * np.float32(0.5)
    return smooth


def _crossings(features: Array) -> tuple[Array, Array]:
    """Where each ray crosses the rim, in units beyond the radius, and how sure that is; both (n, RAYS)."""
    net = weights("rims")
    hidden = relu(dense(features, net["first"], net["first_bias"]))
    hidden = relu(dense(hidden, net["second"], net["second_bias"]))
    last = dense(hidden, net["last"], net["last_bias"])
    crossing = softmax(last[..., :-1]) @ REACH.astype(np.float32) - np.float32(RADIUS)
    return crossing, np.logaddexp(0, last[..., -1]) * net["precision"] + np.float32(1e-4)


def _solve(crossing: Array, weight: Array) -> tuple[Floats, Floats]:
    """The shift of each centre, (n, 2), by weighted least squares over its rays, and its covariance, (n, 2, 2)."""
    wx, wy = weight * _COS, weight * _SIN
    xx, xy, yy = (wx * _COS).sum(axis=1), (wx * _SIN).sum(axis=1), (wy * _SIN).sum(axis=1)
    normal = np.stack([np.stack([xx, xy], axis=1), np.stack([xy, yy], axis=1)], axis=1)
    normal = normal + np.eye(2) * _PRIOR_PRECISION
    pull = np.stack([(wx * crossing).sum(axis=1), (wy * crossing).sum(axis=1)], axis=1)
    shift = np.linalg.solve(normal, pull[..., None])[..., 0]
    return shift, np.linalg.inv(normal) + np.eye(2) * _LEAST_VARIANCE
