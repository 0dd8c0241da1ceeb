"""Where exactly a stack's uppermost flat lies, how it is turned, and how large it is seen.

A flat that lies a layer higher is nearer to the camera and is seen about a hundredth larger. Rays cross its four sides;
a small network (models/flats.npz) says where each meets the side and how sure that is, and weighted least squares give
place, turn and size with their covariance. Another network finds the flat roughly, for the rays to begin.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from vision.board import Floats, Image, Pieces
from vision.calibration import Calibration
from vision.nets import Array, conv, dense, relu, softmax, weights
from vision.slab import LOG

PATCH = 32
"""Side in pixels of what the first network sees."""
PIXEL = 1.6 / 34
"""Of a flat's width: one of these pixels."""
RAYS = 12
"""That cross each side of a flat."""
REACH = np.arange(-8.0, 8.01, 0.5) / 34
"""Where each ray is sampled, in flat's widths out from the side."""
_ALONG = (np.arange(2 * RAYS + 1) - RAYS) / (2 * RAYS) * 30 / 34
"""Where rays cross a side, in flat's widths from its middle; neighbours are smoothed and every second one is used."""
ALONG = _ALONG[1::2]
_NORMALS = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
"""Of the four sides of a flat that is not turned."""
SETTING = 8
"""Numbers beside the colours that each ray's network is given."""
PRIOR = np.array([1 / 0.06**2, 1 / 0.06**2, 1 / 0.12**2, 1 / 0.04**2])
"""Precision of the start: of x and y in flat's widths, of the turn in radians, of the size."""
JACOBIAN = np.concatenate(
    [np.repeat(_NORMALS, RAYS, axis=0), -np.tile(ALONG, 4)[:, None], np.full((4 * RAYS, 1), 0.5)], axis=1
)
"""How each ray's crossing moves with a step of the pose, (4 * RAYS, 4)."""
ROUNDS = 3
_REACH_LOG = 2.0
"""Differences of log brightness beyond this are cut off."""


@dataclass(frozen=True, slots=True, eq=False)
class Flats:
    """Flats that each lie uppermost on a stack, but for a wall or Crown."""

    middles_mm: Floats
    """(n, 2), of their squares or wherever they are"""
    z_mm: Floats
    """(n,) supposed height of the flat's upper face"""
    paints: Array
    """(n, 2, 3) log brightness of its own colour in this picture, then of the other side's"""
    under: Array
    """(n,) 0 for nothing on it, 1 for a wall, 2 for a Crown"""


@dataclass(frozen=True, slots=True, eq=False)
class FlatFits:
    """Where some flats are seen, at their supposed heights."""

    pose: Floats
    """(n, 4): x and y of the middle in millimetres, the turn in radians, the size by the true one less 1"""
    covariance: Floats
    """(n, 4, 4), x and y along the flat's sides and in its widths"""


class FlatViews:
    """One picture of a board, ready to find the outlines of flats on it."""

    def __init__(self, image_bgr: Image, calibration: Calibration, pieces: Pieces) -> None:
        self._image = image_bgr
        self._matrix = calibration.matrix()
        self._camera_mm = calibration.camera_mm()
        self._pieces = pieces
        self._px_of_flat = calibration.px_per_mm() * pieces.flat_mm[0]

    def fit(self, flats: Flats) -> FlatFits:
        """The outlines of flats, each near the middle of its square."""
        pose = self.rough(flats)
        covariance = np.zeros((len(pose), 4, 4))
        for _ in range(ROUNDS):
            crossing, precision = crossings(self.rays(flats, pose))
            shift, covariance = solve(crossing, precision)
            pose = self.moved(pose, shift)
        return FlatFits(pose, covariance)

    def rough(self, flats: Flats) -> Floats:
        """About where each lies, (n, 4) as in FlatFits."""
        found = find(self.patches(flats), self.setting(flats))
        width = self._pieces.flat_mm[0]
        size = np.zeros(len(found))
        return np.column_stack([flats.middles_mm + found[:, :2] * width, found[:, 2], size]).astype(np.float64)

    def moved(self, pose: Floats, step: Floats) -> Floats:
        """Poses after a step (n, 4) along the flat's own x and y, in its widths; of the turn; of the size."""
        normal, _ = self._axes(pose)
        moved = pose + step * np.array([0, 0, 1, 1])
        moved[:, :2] += (normal[:, 0] * step[:, :1] + normal[:, 1] * step[:, 1:2]) * self._pieces.flat_mm[0]
        return np.asarray(moved)

    def patches(self, flats: Flats) -> Array:
        """What is seen in each flat's plane round the middle, (n, PATCH, PATCH, 6): against its own colour, and the
        other side's."""
        offsets = (np.arange(PATCH) - (PATCH - 1) / 2) * PIXEL * self._pieces.flat_mm[0]
        x = np.broadcast_to(
            flats.middles_mm[:, 0, None, None] + offsets[None, None, :], (len(flats.z_mm), PATCH, PATCH)
        )
        y = np.broadcast_to(flats.middles_mm[:, 1, None, None] + offsets[None, :, None], x.shape)
        return self._against(self._colours(x, y, flats.z_mm), flats.paints)

    def setting(self, flats: Flats) -> Array:
        """What is known beside the colours, (n, 6): how far what is high is seen shifted in x and in y, per height; the
        height; how many pixels the flat spans; whether a wall or a Crown stands on it."""
        slope = (flats.middles_mm - self._camera_mm[:2]) / (self._camera_mm[2] - flats.z_mm)[:, None]
        count = len(flats.z_mm)
        high = flats.z_mm / self._pieces.flat_mm[2] / 8
        px = np.full(count, 30 / self._px_of_flat)
        return np.column_stack([slope, high, px, flats.under == 1, flats.under == 2]).astype(np.float32)

    def rays(self, flats: Flats, pose: Floats) -> Array:
        """What the rays across each flat's sides show, (n, 4, RAYS, 3 * len(REACH) + SETTING), log brightness against
        its colour; the sides in the order of x, y, -x, -y of the flat."""
        width = self._pieces.flat_mm[0]
        half = np.array(self._pieces.flat_mm[:2]) / 2
        count = len(pose)
        normal, across = self._axes(pose)
        size = 1 + pose[:, 3]
        halves = np.array([half[0], half[1], half[0], half[1]])
        longs = np.array([half[1], half[0], half[1], half[0]]) * 2
        out = (halves[None] * size[:, None])[:, :, None] + REACH * width
        aside = size[:, None, None] * longs[None, :, None] * _ALONG
        points = (
            pose[:, None, None, None, :2]
            + normal[:, :, None, None, :] * out[:, :, None, :, None]
            + across[:, :, None, None, :] * aside[:, :, :, None, None]
        )
        seen = self._colours(points[..., 0], points[..., 1], flats.z_mm)
        log = np.asarray(seen - flats.paints[:, None, None, None, 0], dtype=np.float32)
        smooth = np.clip(log[:, :, 1::2] * 0.5 + (log[:, :, :-1:2] + log[:, :, 2::2]) * 0.25, -_REACH_LOG, _REACH_LOG)
        setting = self.setting(flats)
        told = np.empty((count, 4, RAYS, SETTING), np.float32)
        told[..., 0] = np.einsum("nk,nsk->ns", setting[:, :2], normal)[:, :, None]
        told[..., 1] = np.einsum("nk,nsk->ns", setting[:, :2], across)[:, :, None]
        told[..., 2:6] = setting[:, None, None, 2:]
        told[..., 6] = np.abs(ALONG) * 2
        told[..., 7] = ALONG * 2
        return np.concatenate([smooth.reshape(count, 4, RAYS, -1), told], axis=3)

    @staticmethod
    def _axes(pose: Floats) -> tuple[Floats, Floats]:
        """Outward normals of the four sides, and the way along them, both (n, 4, 2)."""
        cosine, sine = np.cos(pose[:, 2])[:, None], np.sin(pose[:, 2])[:, None]
        x, y = _NORMALS[:, 0], _NORMALS[:, 1]
        normal = np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=2)
        return normal, np.stack([-normal[..., 1], normal[..., 0]], axis=2)

    def _colours(self, x: Floats, y: Floats, z_mm: Floats) -> Array:
        """Log brightness of the points at x, y (n, ...) and heights (n,): (n, ..., 3)."""
        if not x.size:
            return np.zeros((*x.shape, 3), np.float32)  # OpenCV maps nothing to an error
        m = self._matrix
        high = z_mm.reshape(-1, *[1] * (x.ndim - 1))
        u, v, w = (m[k, 0] * x + m[k, 1] * y + m[k, 2] * high + m[k, 3] for k in range(3))
        shape = (-1, x.shape[-1])
        map_x, map_y = ((part / w).astype(np.float32).reshape(shape) for part in (u, v))
        # OpenCV maps no array with a side of 32768 or more.
        parts = [
            cv2.remap(
                self._image,
                map_x[k : k + 32000],
                map_y[k : k + 32000],
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            )
            for k in range(0, len(map_x), 32000)
        ]
        return np.asarray(cv2.LUT(np.concatenate(parts), LOG), dtype=np.float32).reshape(*x.shape, 3)

    @staticmethod
    def _against(log: Array, paints: Array) -> Array:
        planes = log[..., None, :] - paints[:, None, None]
        return np.asarray(np.clip(planes, -_REACH_LOG, _REACH_LOG).reshape(*log.shape[:-1], 6), dtype=np.float32)


def find(patches: Array, setting: Array) -> Array:
    """Middle in flat's widths from the patch's, and turn in radians, (n, 3), by the network."""
    net = weights("flats")
    hidden = relu(conv(patches, net["find1"], net["find1_bias"], stride=2))
    hidden = relu(conv(hidden, net["find2"], net["find2_bias"], stride=2))
    flat = np.concatenate([hidden.reshape(len(hidden), -1), setting], axis=1)
    hidden = relu(dense(flat, net["find3"], net["find3_bias"]))
    return dense(hidden, net["find4"], net["find4_bias"])


def with_sides(rays: Array) -> Array:
    """Each ray's numbers and after them the mean of its side's colours."""
    colours = rays[..., :-SETTING]
    return np.concatenate([rays, np.broadcast_to(colours.mean(axis=2, keepdims=True), colours.shape)], axis=3)


def crossings(rays: Array) -> tuple[Array, Array]:
    """How far out from where it is supposed each ray crosses its side, in flat's widths, and how sure that is, as
    precision; both (n, 4, RAYS)."""
    net = weights("flats")
    hidden = relu(dense(with_sides(rays), net["side1"], net["side1_bias"]))
    hidden = relu(dense(hidden, net["side2"], net["side2_bias"]))
    last = dense(hidden, net["side3"], net["side3_bias"])
    crossing = softmax(last[..., :-1]) @ REACH.astype(np.float32)
    return crossing, np.logaddexp(0, last[..., -1]) * net["precision"] + np.float32(1e-2)


def solve(crossing: Array, precision: Array) -> tuple[Floats, Floats]:
    """The step of each pose (n, 4) by weighted least squares over its rays, and its covariance (n, 4, 4)."""
    weighted = JACOBIAN * precision.reshape(len(precision), -1, 1)
    normal = weighted.transpose(0, 2, 1) @ JACOBIAN + np.diag(PRIOR)
    pull = weighted.transpose(0, 2, 1) @ crossing.reshape(len(precision), -1, 1).astype(np.float64)
    return np.linalg.solve(normal, pull)[..., 0], np.linalg.inv(normal)
