"""Disks on the board's surface: where circles of a disk's size are, and which of them are disks.

Candidates come from circle votes: each strong edge votes for the two centres a radius away, as in the Hough transform.
Once its rim is fitted, a small network judges from the rays whether it is one.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, Image
from vision.nets import Array, dense, relu, softmax, weights
from vision.rims import INSIDE, RADIUS
from vision.slab import LOG, PIXEL, Slab

CLASSES = ("none", "flat", "leaning")
_FULL_EDGE = 3.0
"""The half of the pixels with the stronger edges vote; an edge this many times the weakest of them has a full vote."""

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Circles:
    """Places where many edges agree on a circle of a disk's size, best first."""

    centres_mm: Floats
    """(n, 2), as if they lay at z = 0"""
    votes: Array
    """(n,)"""
    edge: float
    """The energy of the weakest edges that voted"""


def vote_circles(slab: Slab, *, least_votes: float, edge: float | None = None) -> Circles:
    """The peaks of the circle votes that reach least_votes. For part of a slab, `edge` is that of the whole."""
    along_x = cv2.Scharr(slab.log, cv2.CV_32F, 1, 0)
    along_y = cv2.Scharr(slab.log, cv2.CV_32F, 0, 1)
    # The structure tensor over the colours (Di Zenzo 1986): its main direction needs no sign, as each edge votes
    # both ways.
    total = np.ones((1, 3), np.float32)
    xx = cv2.transform(along_x * along_x, total).ravel()
    yy = cv2.transform(along_y * along_y, total).ravel()
    energy = xx + yy
    if edge is None:
        sample = energy[::5]
        edge = max(float(np.partition(sample, len(sample) // 2)[len(sample) // 2]), 1e-9)
    voters = np.flatnonzero(energy > edge)
    xy = cv2.transform(along_x * along_y, total).ravel()[voters]
    # The direction is half the angle of (xx - yy, 2 xy); its cosine and sine by the half-angle formulas.
    doubled = xx[voters] - yy[voters]
    doubled /= np.sqrt(doubled * doubled + 4 * xy * xy) + np.float32(1e-12)
    step_x = RADIUS / PIXEL * np.sqrt((1 + doubled) / 2)
    step_y = RADIUS / PIXEL * np.copysign(np.sqrt((1 - doubled) / 2), xy)
    weight = np.minimum(np.sqrt(energy[voters] / edge) / _FULL_EDGE, 1)
    high, wide = slab.log.shape[:2]
    at_y, at_x = np.divmod(voters, wide)
    votes = np.zeros(high * wide)
    for x, y in ((at_x + step_x, at_y + step_y), (at_x - step_x, at_y - step_y)):
        to_x, to_y = np.rint(x).astype(np.int32), np.rint(y).astype(np.int32)
        inside = (to_x >= 0) & (to_x < wide) & (to_y >= 0) & (to_y < high)
        votes += np.bincount((to_y * wide + to_x)[inside], weight[inside], high * wide)
    field = cv2.GaussianBlur(votes.reshape(high, wide).astype(np.float32), (0, 0), 1.0)
    row, column = np.nonzero((field >= least_votes) & (field >= cv2.dilate(field, np.ones((3, 3), np.uint8))))
    order = np.argsort(-field[row, column])
    row, column = row[order], column[order]
    middle_x = column + _peak_offset(field, row, column, 0, 1)
    middle_y = row + _peak_offset(field, row, column, 1, 0)
    centres_mm = slab.points_mm(np.column_stack([middle_x, middle_y]))
    return Circles(centres_mm, np.asarray(field[row, column], dtype=np.float32), edge)


def _peak_offset(field: cv2.typing.MatLike, row: Indices, column: Indices, down: int, right: int) -> Floats:
    """How far each peak lies beyond its pixel, by the parabola through it and its neighbours."""
    row = np.clip(row, 1, field.shape[0] - 2)
    column = np.clip(column, 1, field.shape[1] - 2)
    before, at, after = (field[row + k * down, column + k * right] for k in (-1, 0, 1))
    return np.asarray(np.clip(0.5 * (before - after) / np.minimum(before - 2 * at + after, -1e-6), -0.5, 0.5))


def read_spots(features: Array, pooled: Array) -> Array:
    """How likely each circle is each of CLASSES: (n, 3), from its ray features and `pooled_features`."""
    net = weights("spots")
    hidden = relu(dense(features, net["first"], net["first_bias"]))
    hidden = relu(dense(hidden, net["second"], net["second_bias"]))
    pool = np.concatenate([hidden.mean(axis=1), hidden.max(axis=1), pooled], axis=1)
    hidden = relu(dense(pool, net["third"], net["third_bias"]))
    return softmax(dense(hidden, net["last"], net["last_bias"]))


def pooled_features(samples: Image, votes: Array, wood: Array) -> Array:
    """What belongs to a circle as a whole, (n, 4): its votes, and its inside less the slab's wood (3,)."""
    inside = LOG[samples[:, :, :INSIDE]].mean(axis=(1, 2))
    return np.column_stack([np.log(votes), np.clip(inside - wood, -3, 3)]).astype(np.float32)
