"""Disks on the board's surface: where circles of a disk's size are, and which of them are disks.

Candidates come from circle votes: each strong edge votes for the two centres a radius away, as in the Hough transform.
Once its rim is fitted, a small network judges from the rays whether it is one.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats
from vision.nets import Array, dense, relu, softmax, weights
from vision.rims import INSIDE, RADIUS
from vision.slab import LOG, MARGIN, Slab

CLASSES = ("none", "flat", "leaning")
_EDGE_SHARE = 0.25
"""The share of the slab's pixels that vote: the strongest edges."""
_MOST = 60
"""No board shows more circles than this; the faintest go."""


@dataclass(frozen=True, slots=True, eq=False)
class Circles:
    """Places where many edges agree on a circle of a disk's size, best first."""

    centres_mm: Floats
    """(n, 2), as if they lay at z = 0"""
    votes: Array
    """(n,)"""


def vote_circles(slab: Slab, *, least_votes: float, apart: float = 3.0) -> Circles:
    """The peaks of the circle votes that reach least_votes and are at least `apart` units from a better one."""
    smooth = cv2.GaussianBlur(slab.log, (0, 0), 0.8)
    along_x = cv2.Scharr(smooth, cv2.CV_32F, 1, 0, scale=1 / 32)
    along_y = cv2.Scharr(smooth, cv2.CV_32F, 0, 1, scale=1 / 32)
    # The structure tensor over the colours (Di Zenzo 1986): its main direction needs no sign,
    # as each edge votes both ways.
    total = np.ones((1, 3), np.float32)
    xx = cv2.transform(along_x * along_x, total)
    yy = cv2.transform(along_y * along_y, total)
    energy = xx + yy
    sample = energy[::3, ::3].ravel()
    rank = int((1 - _EDGE_SHARE) * sample.size)
    threshold = max(float(np.partition(sample, rank)[rank]), 1e-9)
    edge = np.flatnonzero(energy.ravel() > threshold)
    xy = np.einsum("nc,nc->n", along_x.reshape(-1, 3)[edge], along_y.reshape(-1, 3)[edge])
    direction = 0.5 * np.arctan2(2 * xy, xx.ravel()[edge] - yy.ravel()[edge])
    weight = np.minimum(np.sqrt(energy.ravel()[edge] / threshold) / 3, 1)
    high, wide = energy.shape
    at_y, at_x = np.divmod(edge, wide)
    votes = np.zeros(high * wide)
    for way in (RADIUS, -RADIUS):
        x = np.rint(at_x + way * np.cos(direction)).astype(np.intp)
        y = np.rint(at_y + way * np.sin(direction)).astype(np.intp)
        inside = (x >= 0) & (x < wide) & (y >= 0) & (y < high)
        votes += np.bincount(y[inside] * wide + x[inside], weight[inside], high * wide)
    field = cv2.GaussianBlur(votes.reshape(high, wide).astype(np.float32), (0, 0), 1.2)
    span = 2 * round(apart) + 1
    peak_y, peak_x = np.nonzero((field >= least_votes) & (field >= cv2.dilate(field, np.ones((span, span), np.uint8))))
    order = np.argsort(-field[peak_y, peak_x])[:_MOST]
    places = np.column_stack([peak_x, peak_y])[order]
    centres_mm = (places - (MARGIN - 0.5)) * slab.unit_mm
    return Circles(np.asarray(centres_mm, dtype=np.float64), np.asarray(field[peak_y, peak_x][order], dtype=np.float32))


def read_spots(features: Array, pooled: Array) -> Array:
    """How likely each circle is each of CLASSES: (n, 3), from its ray features and `pooled_features`."""
    net = weights("spots")
    hidden = relu(dense(features, net["first"], net["first_bias"]))
    hidden = relu(dense(hidden, net["second"], net["second_bias"]))
    pool = np.concatenate([hidden.mean(axis=1), hidden.max(axis=1), pooled], axis=1)
    hidden = relu(dense(pool, net["third"], net["third_bias"]))
    return softmax(dense(hidden, net["last"], net["last_bias"]))


def pooled_features(samples: npt.NDArray[np.uint8], votes: Array, wood: Array) -> Array:
    """What belongs to a circle as a whole, (n, 4): its votes, and its inside less the slab's wood (3,)."""
    inside = LOG[samples[:, :, :INSIDE]].mean(axis=(1, 2))
    return np.column_stack([np.log(votes), np.clip(inside - wood, -3, 3)]).astype(np.float32)
