"""Arms over the table: tapered tubes with round ends, and the shadows that they throw."""

import math
from dataclasses import dataclass

import numpy as np

from hardware_sims.disks import Point
from hardware_sims.materials import Plane, Rgb


@dataclass(frozen=True, slots=True)
class Arm:
    """A forearm with its hand over the table: where the index finger's tip is, and where the arm comes from."""

    tip_mm: Point
    from_deg: float
    """Direction from the hand to the elbow, anticlockwise from x."""
    skin: Rgb = (0.62, 0.40, 0.30)
    sleeve: Rgb = (0.12, 0.16, 0.30)
    bare_mm: float = 60.0
    """Length of bare wrist before the sleeve starts; an arm's length leaves it bare."""
    spread: float = 1.0
    """Fingers from together (0) to wide apart (1)."""
    size: float = 1.0
    shadow_only: bool = False
    """Whether it is between lamp and table but outside what the camera sees."""


@dataclass(frozen=True, slots=True)
class Tube:
    """A tapered tube with round ends."""

    start: Point
    end: Point
    start_mm: float
    end_mm: float
    colour: tuple[float, float, float]
    folds: float = 0.0


def tubes(arm: Arm) -> list[Tube]:
    """An arm as tubes: fingers, palm, wrist and sleeve."""
    back = math.cos(math.radians(arm.from_deg)), math.sin(math.radians(arm.from_deg))
    side = -back[1], back[0]
    tip_x, tip_y, tip_z = arm.tip_mm
    size = arm.size

    def at(behind: float, beside: float, above: float) -> Point:
        return (
            tip_x + size * (behind * back[0] + beside * side[0]),
            tip_y + size * (behind * back[1] + beside * side[1]),
            tip_z + size * above,
        )

    tubes = []
    for finger, (reach, beside) in enumerate(((0.0, 0.0), (-4.0, 19.0), (4.0, 37.0), (20.0, 53.0))):
        fan = arm.spread * (finger - 1.0) * 7
        curl = 0.0 if finger == 0 else 6.0
        knuckle, joint = at(92, 8 + beside * 0.75, 40), at(42 + reach * 0.5, beside + fan * 0.5, 30 + curl)
        tubes.append(Tube(at(reach, beside + fan, 8.0 + curl), joint, 7.2 * size, 8.6 * size, arm.skin))
        tubes.append(Tube(joint, knuckle, 8.6 * size, 10.5 * size, arm.skin))
    tubes.append(Tube(at(62, -34 - 8 * arm.spread, 18), at(98, -16, 30), 8.5 * size, 10.5 * size, arm.skin))
    tubes.append(Tube(at(98, -16, 30), at(140, 6, 36), 10.5 * size, 16.0 * size, arm.skin))
    for beside in (10, 24, 38):
        palm = Tube(at(92, beside, 38), at(150, 22, 40), 13.0 * size, 20.0 * size, arm.skin)
        tubes.append(palm)
    wrist, cuff = at(150, 22, 40), at(160 + arm.bare_mm, 22, 46)
    tubes.append(Tube(wrist, cuff, 22.0 * size, 26.0 * size, arm.skin))
    if arm.bare_mm < 600:
        tubes.append(Tube(cuff, at(800, 30, 120), 35.0 * size, 48.0 * size, arm.sleeve, 0.12))
    return tubes


def arms_shadow(x_mm: Plane, y_mm: Plane, arms: tuple[Arm, ...], lamp: Point, lamp_mm: float) -> Plane:
    """Share of a lamp of that radius that arms hide from points (n,) of the slab's plane, by their shadows."""
    hidden = np.zeros_like(x_mm)
    for tube in (tube for arm in arms for tube in tubes(arm)):
        ends = []
        for place, radius in ((tube.start, tube.start_mm), (tube.end, tube.end_mm)):
            grow = lamp[2] / max(lamp[2] - place[2], 1.0)
            x, y = (lamp[k] + (place[k] - lamp[k]) * grow for k in (0, 1))
            ends.append((x, y, radius * grow, max(lamp_mm * (grow - 1), 1.0)))
        (start_x, start_y, start_r, start_soft), (end_x, end_y, end_r, end_soft) = ends
        reach = max(start_r + start_soft, end_r + end_soft)
        near = np.flatnonzero(
            (x_mm > min(start_x, end_x) - reach)
            & (x_mm < max(start_x, end_x) + reach)
            & (y_mm > min(start_y, end_y) - reach)
            & (y_mm < max(start_y, end_y) + reach)
        )
        off_x, off_y = x_mm.take(near) - start_x, y_mm.take(near) - start_y
        axis_x, axis_y = end_x - start_x, end_y - start_y
        share = np.clip((off_x * axis_x + off_y * axis_y) / max(axis_x**2 + axis_y**2, 1e-6), 0, 1)
        away = np.hypot(off_x - share * axis_x, off_y - share * axis_y)
        outline = start_r + (end_r - start_r) * share
        soft = start_soft + (end_soft - start_soft) * share
        within = np.clip((outline - away) / (2 * soft) + 0.5, 0, 1)
        # A lamp wider than the tube is never hidden whole.
        hidden[near] = np.maximum(hidden.take(near), within * np.minimum(1, outline / soft))
    return hidden
