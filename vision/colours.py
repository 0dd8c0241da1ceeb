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
_STARTS = (-2.0, -1.0, 0.0, 1.0)
"""How bright the light is taken to be at first, in sigmas off the usual."""
_STEPS = 5
_KNOWN_STEPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What the camera recorded of some disks, 8-bit blue, green, red, each (n, 3)."""

    top: npt.NDArray[np.floating]
    ring: npt.NDArray[np.floating]
    """of the chamfer; not a number where it was not seen"""
    wood: npt.NDArray[np.floating]
    """of the slab under the same light"""


def tell_colours(
    seen: Seen, colours_bgr: tuple[tuple[int, int, int], ...], known_light: Floats | None = None
) -> tuple[Floats, Floats | None]:
    """How likely each disk (n) is of each colour (2): (n, 2), rows sum to 1; and the light (3,), on _AXES.

    The `known_light` is that of an earlier picture of the same table, from which little can have changed.
    """
    if not len(seen.top):
        return np.zeros((0, len(colours_bgr))), known_light
    paint = np.log(linear(np.array(colours_bgr, dtype=np.float64)) + _PAINT_DARK)
    wood = np.log(linear(seen.wood) + _DARK)
    # Tops and chamfers are observations of the same unknown colours, with their own spread.
    observed = np.stack([np.minimum(np.log(linear(part) + _DARK), np.log(_WHITE)) for part in (seen.top, seen.ring)])
    known = np.isfinite(observed).all(axis=2)
    observed = np.where(known[..., None], observed, 0.0)
    sigma = np.stack([_TOP_SIGMA, _RING_SIGMA])
    light = _LIGHT + _LIGHT_SIGMA * np.array([[start, 0, 0] for start in _STARTS])
    if known_light is not None:
        light = known_light[None]
    for _ in range(_STEPS if known_light is None else _KNOWN_STEPS):
        ideal = paint + np.linalg.solve(_AXES, light.T).T[:, None, None] + wood[:, None, :]
        off, cost = _explain(observed, ideal, sigma)
        distance = (cost * known[:, None, :, None]).sum(axis=0)
        likelihood = -(_TAIL + 3) / 2 * np.log1p(distance / _TAIL)
        top = likelihood.max(axis=2, keepdims=True)
        share = np.exp(likelihood - top)
        total = share.sum(axis=2, keepdims=True)
        share = share / total
        strays = (light - _LIGHT) / _LIGHT_SIGMA
        value = (top + np.log(total)).sum(axis=(1, 2)) - 0.5 * np.square(strays).sum(axis=1)
        weight = share * (_TAIL + 3) / (_TAIL + distance) * known[:, None, :, None]
        precision = weight[..., None] / np.square(sigma)[:, None, None, None, :]
        pull = (precision * off).sum(axis=(0, 2, 3)) - strays / _LIGHT_SIGMA
        light = light + pull / (precision.sum(axis=(0, 2, 3)) + 1 / np.square(_LIGHT_SIGMA))
    best = int(value.argmax())
    return np.asarray(share[best]), np.asarray(light[best])


def _explain(observed: Floats, ideal: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """How far each part of each disk is from each colour with the gloss that suits it best, on _AXES
    (parts, starts, n, colours, 3), and the cost of that, (parts, starts, n, colours).

    observed (parts, n, 3) and ideal (starts, n, colours, 3) are log light, sigma (parts, 3) is on _AXES.
    """
    glossy = np.minimum(np.log(np.exp(ideal)[..., None, :] + _GLOSS[:, None]), np.log(_WHITE)) @ _AXES.T
    off = (observed @ _AXES.T)[:, None, :, None, None, :] - glossy
    cost = np.square(off / sigma[:, None, None, None, None, :]).sum(axis=-1) + _GLOSS_COST
    least = cost.argmin(axis=-1)[..., None]
    return np.take_along_axis(off, least[..., None], axis=4)[..., 0, :], np.take_along_axis(cost, least, axis=4)[..., 0]


def linear(value: npt.NDArray[np.floating]) -> Floats:
    """Linear light 0..1 of 8-bit sRGB (IEC 61966-2-1)."""
    share = np.asarray(value, dtype=np.float64) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
