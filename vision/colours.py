"""Which side's colour each disk has, under whatever light there is.

What a camera records of a disk is, in linear light, light * albedo + gloss, cut off at white. The profile gives the two
albedos, roughly. The light is one unknown colour a picture, measured against the slab's wood beside each disk (whose
albedo is unknown too, so the two are one unknown); the gloss of a lamp that mirrors in a disk is its own. All of it is
estimated together by expectation maximisation, from several starts. A disk's chamfer faces elsewhere and so mostly
keeps its colour where the top is pale with gloss.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.board import Floats

_AXES = np.array([[1 / 3, 1 / 3, 1 / 3], [0, -1, 1], [1, -1, 0]])
"""From log blue, green, red to brightness, red against green, blue against green."""
_LIGHT = np.array([1.75, -0.62, 0.62])
"""The light over the wood's albedo that is usual: one over the colour of common woods."""
_LIGHT_SIGMA = np.array([0.6, 0.38, 0.32])
_TOP_SIGMA = np.array([0.3, 0.15, 0.13])
"""How far single disks of one colour stray: shadows, uneven paint, uneven light."""
_RING_SIGMA = np.array([0.6, 0.25, 0.22])
"""The same for chamfers, which are lit from other sides."""
_GLOSS = np.array([0.0, 0.03, 0.08, 0.2, 0.4, 0.7])
_GLOSS_COST = np.array([0.0, 2.0, 3.0, 4.0, 6.0, 9.0])
_WHITE = 0.93
"""Linear light from which on a channel may have been cut off."""
_DARK = 0.004
_PAINT_DARK = 0.02
"""No painted disk is darker than this in linear light, whatever the profile says."""
_TAIL = 4.0
"""Degrees of freedom of the Student distribution: one odd disk must not pull the light."""
_STEPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What the camera recorded of some disks, 8-bit blue, green, red, each (n, 3)."""

    top: npt.NDArray[np.floating]
    ring: npt.NDArray[np.floating]
    """of the chamfer; not a number where it was not seen"""
    wood: npt.NDArray[np.floating]
    """of the slab under the same light"""


def tell_colours(seen: Seen, colours_bgr: tuple[tuple[int, int, int], ...]) -> Floats:
    """How likely each disk (n) is of each colour (2): (n, 2), rows sum to 1."""
    if not len(seen.top):
        return np.zeros((0, len(colours_bgr)))
    paint = np.log(linear(np.array(colours_bgr, dtype=np.float64)) + _PAINT_DARK)
    wood = np.log(linear(seen.wood) + _DARK)
    # Tops and chamfers are observations of the same unknown colours, with their own spread.
    observed = np.stack([np.minimum(np.log(linear(part) + _DARK), np.log(_WHITE)) for part in (seen.top, seen.ring)])
    known = np.isfinite(observed).all(axis=2)
    observed = np.where(known[..., None], observed, 0.0)
    sigma = np.stack([_TOP_SIGMA, _RING_SIGMA])
    best_value, best_share = -np.inf, np.full((len(seen.top), len(colours_bgr)), 1 / len(colours_bgr))
    for start in (-1.2, -0.6, 0.0, 0.6, 1.2):
        light = _LIGHT + np.array([start * _LIGHT_SIGMA[0], 0, 0])
        for _ in range(_STEPS):
            ideal = paint + np.linalg.solve(_AXES, light) + wood[:, None, :]
            off, cost = _explain(observed, ideal, sigma)
            cost, off = cost * known[..., None], off * known[..., None, None]
            distance = cost.sum(axis=0)
            likelihood = -(_TAIL + 3) / 2 * np.log1p(distance / _TAIL)
            top = likelihood.max(axis=1, keepdims=True)
            share = np.exp(likelihood - top)
            total = share.sum(axis=1, keepdims=True)
            share = share / total
            value = float((top + np.log(total)).sum() - 0.5 * np.square((light - _LIGHT) / _LIGHT_SIGMA).sum())
            weight = (share * (_TAIL + 3) / (_TAIL + distance))[None, :, :, None] * known[:, :, None, None]
            precision = weight / np.square(sigma)[:, None, None, :]
            pull = (precision * off).sum(axis=(0, 1, 2)) - (light - _LIGHT) / np.square(_LIGHT_SIGMA)
            light = light + pull / (precision.sum(axis=(0, 1, 2)) + 1 / np.square(_LIGHT_SIGMA))
        if value > best_value:
            best_value, best_share = value, share
    return best_share


def _explain(observed: Floats, ideal: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """How far each part of each disk is from each colour with the gloss that suits it best, on _AXES
    (parts, n, colours, 3), and the cost of that, (parts, n, colours)."""
    glossy = np.minimum(np.log(np.exp(ideal)[..., None, :] + _GLOSS[:, None]), np.log(_WHITE))
    off = (observed[:, :, None, None, :] - glossy) @ _AXES.T
    cost = np.square(off / sigma[:, None, None, None, :]).sum(axis=-1) + _GLOSS_COST
    least = cost.argmin(axis=-1)[..., None]
    return np.take_along_axis(off, least[..., None], axis=3)[..., 0, :], np.take_along_axis(cost, least, axis=3)[..., 0]


def linear(value: npt.NDArray[np.floating]) -> Floats:
    """Linear light 0..1 of 8-bit sRGB (IEC 61966-2-1)."""
    share = np.asarray(value, dtype=np.float64) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
