"""What lies on a table under lamps, the slab and its disks, and how much light each point of it sends.

Every pixel's ray is met with the slab, its holes and the disks in closed form, so that the picture's geometry is as
exact as the truth it comes with; light is Lambert's law with soft shadows, an ambient share and a varnish's glare.
Millimetres as in `vision.calibration`: z is up from the slab's top face. Arrays are one plane of floats per
coordinate, as large as the region that is traced.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from hardware_sims.disks import Disk, Point
from hardware_sims.materials import Plane, Rgb, grain, weave
from vision.board import Floats, HolesBoard

Mask = npt.NDArray[np.bool_]
Vector = tuple[Plane, Plane, Plane]

CHAMFER_MM = 0.8
_BLUR_STEP_MM = 3.0
_BLUR_STEPS = (2, 12)
"""A disk in motion is traced at places so far apart, at least and at most so many, and averaged."""


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp, facing down, by its place from the slab's middle."""

    place_mm: Point = (-500.0, 300.0, 1100.0)
    radius_mm: float = 130.0
    light: Rgb = (0.8, 0.76, 0.7)
    """What it gives to a white surface under it that faces it at 1 m."""


@dataclass(frozen=True, slots=True)
class Room:
    """Materials and light, linear and from 0 to 1 where nothing else is said."""

    wood: Rgb = (0.45, 0.25, 0.12)
    wood_contrast: float = 0.25
    ground: Rgb = (0.30, 0.17, 0.09)
    ground_contrast: float = 0.3
    cloth: bool = False
    """Whether the table is covered by cloth rather than made of wood."""
    line: Rgb = (0.03, 0.025, 0.02)
    line_width_mm: float = 2.0
    colours: tuple[tuple[str, Rgb], ...] = (("a", (0.64, 0.055, 0.052)), ("b", (0.032, 0.032, 0.042)))
    lamps: tuple[Lamp, ...] = (Lamp(),)
    ambient: Rgb = (0.35, 0.36, 0.38)
    gloss: float = 0.08
    """Share of light that the varnish throws back."""
    gloss_exponent: float = 60.0
    seed: int = 0
    """Of the grain."""


@dataclass(slots=True)
class _Hits:
    """Where rays end: points, normals, what is there and how open it lies to the sky."""

    t: Plane
    point: Vector
    normal: Vector
    albedo: Vector
    sky: Plane
    depth: Plane
    """Below the slab's top face and inside a hole; 0 elsewhere."""
    off_hole: tuple[Plane, Plane]
    """Sideways offset from the centre of the nearest hole."""
    owner: npt.NDArray[np.int16]
    """Index of the disk that is hit, or -1."""

    def within(self, box: tuple[slice, slice]) -> "_Hits":
        """Those of a part of the region: the same arrays."""

        def part(vector: Vector) -> Vector:
            return vector[0][box], vector[1][box], vector[2][box]

        off_hole = self.off_hole[0][box], self.off_hole[1][box]
        point, normal, albedo = part(self.point), part(self.normal), part(self.albedo)
        return _Hits(self.t[box], point, normal, albedo, self.sky[box], self.depth[box], off_hole, self.owner[box])


class Scene:
    """One slab in one room; traces rays against it."""

    def __init__(self, board: HolesBoard, room: Room) -> None:
        self.board = board
        self.room = room
        rng = np.random.default_rng(room.seed)
        self._slab_grain = grain(rng, (int(board.length_mm) + 80, int(board.width_mm) + 80), room.wood_contrast)
        ground = weave if room.cloth else grain
        self._ground_grain = ground(rng, (1600, 1600), room.ground_contrast)
        self._albedo = dict(room.colours)

    def radiance(self, eye: Point, rays: Vector, disks: tuple[Disk, ...]) -> Plane:
        """Light from where the rays, of unit length, end: (height, width, 3), blue first."""
        moving = [disk for disk in disks if disk.blur_mm != (0.0, 0.0)]
        if not moving:
            return self._radiance(eye, rays, disks)
        total = np.zeros((*rays[0].shape, 3), np.float32)
        steps = int(np.clip(max(math.hypot(*disk.blur_mm) for disk in moving) / _BLUR_STEP_MM, *_BLUR_STEPS))
        for step in range(steps):
            share = (step + 0.5) / steps - 0.5
            total += self._radiance(eye, rays, tuple(_shifted(disk, share) for disk in disks))
        return np.asarray(total / steps, dtype=np.float32)

    def bounds_mm(self, disk: Disk) -> tuple[Floats, float, float]:
        """Where a disk and its shadow change the light: the corners (4, 2) of a rectangle, its floor and its top."""
        board, radius = self.board, self.board.disk_diameter_mm / 2
        top = disk.z_mm + board.disk_height_mm / 2 + radius * math.sin(math.radians(disk.tilt_deg))
        drop = max(top, 0.0) + (board.slab_mm if disk.cell or self._at_edge(disk) else 0.0)
        left = right = down = up = radius + 6.0
        for lamp in self.room.lamps:
            away_x = disk.x_mm - board.width_mm / 2 - lamp.place_mm[0]
            away_y = disk.y_mm - board.length_mm / 2 - lamp.place_mm[1]
            x, y, soft = (drop / lamp.place_mm[2] * far for far in (away_x, away_y, lamp.radius_mm))
            left, right = max(left, radius + soft - x), max(right, radius + soft + x)
            down, up = max(down, radius + soft - y), max(up, radius + soft + y)
        wide, high = (abs(blur_mm) for blur_mm in disk.blur_mm)
        left, right, down, up = left + wide, right + wide, down + high, up + high
        square = np.array([[-left, -down], [right, -down], [right, up], [-left, up]]) + np.array([disk.x_mm, disk.y_mm])
        tall = disk.z_mm + board.disk_height_mm + radius * math.sin(math.radians(disk.tilt_deg))
        return square, -board.slab_mm, max(tall, 1.0)

    def smeared(self, disk: Disk, open_s: float) -> Disk:
        """A moving disk as far drawn out as the shutter leaves it time."""
        if disk.velocity_mm_s == (0.0, 0.0):
            return disk
        x_mm_s, y_mm_s = disk.velocity_mm_s
        return replace(disk, velocity_mm_s=(0.0, 0.0), blur_mm=(x_mm_s * open_s, y_mm_s * open_s))

    def rim_mm(self, disk: Disk) -> Floats:
        """The rim of a disk's top face, (n, 3)."""
        axis = disk.axis()
        angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        u = np.array([axis[2], 0.0, -axis[0]]) / math.hypot(axis[2], axis[0])
        v = np.cross(np.array(axis), u)
        round_it = np.cos(angle)[:, None] * u[None] + np.sin(angle)[:, None] * v[None]
        return np.asarray(disk.top_mm(self.board.disk_height_mm) + self.board.disk_diameter_mm / 2 * round_it)

    def _at_edge(self, disk: Disk) -> bool:
        margin = self.board.disk_diameter_mm
        return not (
            margin < disk.x_mm < self.board.width_mm - margin and margin < disk.y_mm < self.board.length_mm - margin
        )

    def _radiance(self, eye: Point, rays: Vector, disks: tuple[Disk, ...]) -> Plane:
        hits = self._meet_board(eye, rays)
        for index, disk in enumerate(disks):
            self._meet_disk(eye, rays, hits, disk, index)
        for index, disk in enumerate(disks):
            self._crowd(hits, disk, index)
        light = [hits.albedo[channel] * hits.sky * self.room.ambient[channel] for channel in range(3)]
        for lamp in self.room.lamps:
            self._add_lamp(light, hits, eye, rays, disks, lamp)
        return np.asarray(cv2.merge(light[::-1]), dtype=np.float32)

    def _meet_board(self, eye: Point, rays: Vector) -> _Hits:
        board, room = self.board, self.room
        ray_x, ray_y, ray_z = rays
        radius = board.hole_diameter_mm / 2
        t = -eye[2] / ray_z
        x, y = eye[0] + t * ray_x, eye[1] + t * ray_y
        z = np.zeros_like(x)
        on_slab = (x >= 0) & (x <= board.width_mm) & (y >= 0) & (y <= board.length_mm)
        off_x, off_y = self._off_hole(x, y)
        in_hole = on_slab & (off_x**2 + off_y**2 < radius**2)
        albedo = self._slab_albedo(x, y)
        normal = [np.zeros_like(x), np.zeros_like(x), np.ones_like(x)]
        sky, depth = np.ones_like(x), np.zeros_like(x)

        below = ~on_slab | in_hole
        if below.any():
            t_floor = ((-board.slab_mm - eye[2]) / ray_z)[below]
            low_x, low_y = eye[0] + t_floor * ray_x[below], eye[1] + t_floor * ray_y[below]
            hole = in_hole[below]
            low_off_x = np.where(hole, off_x[below] + low_x - x[below], off_x[below])
            low_off_y = np.where(hole, off_y[below] + low_y - y[below], off_y[below])
            wall = hole & (low_off_x**2 + low_off_y**2 > radius**2)
            side = ~hole & (low_x > 0) & (low_x < board.width_mm) & (low_y > 0) & (low_y < board.length_mm)
            tone = self._ground_tone(low_x, low_y)
            tones = [tone * room.ground[channel] for channel in range(3)]
            if wall.any():
                self._onto_wall(rays, below, wall, t[below], (off_x[below], off_y[below]), t_floor, normal)
            if side.any():
                self._onto_side(eye, rays, below, side, t_floor, normal)
            for channel in range(3):
                wooden = albedo[channel][below] * 0.9
                albedo[channel][below] = np.where(wall | side, wooden, tones[channel])
            x[below] = eye[0] + t_floor * ray_x[below]
            y[below] = eye[1] + t_floor * ray_y[below]
            z[below] = eye[2] + t_floor * ray_z[below]
            t[below] = t_floor
            off_x[below] = np.where(
                hole, off_x[below] + (x[below] - (eye[0] - eye[2] / ray_z[below] * ray_x[below])), 0
            )
            off_y[below] = np.where(
                hole, off_y[below] + (y[below] - (eye[1] - eye[2] / ray_z[below] * ray_y[below])), 0
            )
            depth[below] = np.where(hole, -z[below], 0.0)
            inward = np.clip(1 - np.hypot(off_x[below], off_y[below]) / radius, 0, 1)
            open_sky = 1 - np.clip(depth[below] / radius, 0, 1) * (0.75 - 0.55 * inward)
            edge_mm = self._to_edge_mm(x[below], y[below])
            sky[below] = np.where(hole, open_sky, 1 - 0.4 * np.exp(-edge_mm / 5))
        owner = np.full(x.shape, -1, np.int16)
        return _Hits(t, (x, y, z), (normal[0], normal[1], normal[2]), albedo, sky, depth, (off_x, off_y), owner)

    def _onto_wall(
        self,
        rays: Vector,
        below: Mask,
        wall: Mask,
        t_top: Plane,
        off: tuple[Plane, Plane],
        t_floor: Plane,
        normal: list[Plane],
    ) -> None:
        radius = self.board.hole_diameter_mm / 2
        along_x, along_y = rays[0][below][wall], rays[1][below][wall]
        off_x, off_y = off[0][wall], off[1][wall]
        a = along_x**2 + along_y**2
        b = off_x * along_x + off_y * along_y
        c = off_x**2 + off_y**2 - radius**2
        further = (-b + np.sqrt(np.maximum(b**2 - a * c, 0))) / np.maximum(a, 1e-9)
        t_floor[wall] = t_top[wall] + further
        chosen = np.flatnonzero(below.ravel())[wall]
        normal[0].ravel()[chosen] = -(off_x + further * along_x) / radius
        normal[1].ravel()[chosen] = -(off_y + further * along_y) / radius
        normal[2].ravel()[chosen] = 0.0

    def _onto_side(
        self,
        eye: Point,
        rays: Vector,
        below: Mask,
        side: Mask,
        t_floor: Plane,
        normal: list[Plane],
    ) -> None:
        chosen = np.flatnonzero(below.ravel())[side]
        entries = []
        for axis, size in ((0, self.board.width_mm), (1, self.board.length_mm)):
            along = rays[axis][below][side]
            face = np.where(along > 0, 0.0, size)
            entries.append(np.where(np.abs(along) > 1e-9, (face - eye[axis]) / along, -np.inf))
        first = entries[0] > entries[1]
        t_floor[side] = np.maximum(entries[0], entries[1])
        normal[0].ravel()[chosen] = np.where(first, -np.sign(rays[0][below][side]), 0.0)
        normal[1].ravel()[chosen] = np.where(first, 0.0, -np.sign(rays[1][below][side]))
        normal[2].ravel()[chosen] = 0.0

    def _meet_disk(self, eye: Point, rays: Vector, hits: _Hits, disk: Disk, index: int) -> None:
        """Lets a disk stand before what the rays have hit so far: a cylinder with a step for its chamfer."""
        radius, half = self.board.disk_diameter_mm / 2, self.board.disk_height_mm / 2
        off = [c - e for c, e in zip(_centre(disk), eye, strict=True)]
        along_ray = off[0] * rays[0] + off[1] * rays[1] + off[2] * rays[2]
        within = _box(along_ray**2 > sum(k * k for k in off) - radius**2 - half**2)
        if within is None:
            return
        rays, hits = (rays[0][within], rays[1][within], rays[2][within]), hits.within(within)
        up = disk.axis()
        side_u = _unit((up[2], 0.0, -up[0]))
        side_v = _cross(up, side_u)
        frame = (side_u, side_v, up)
        start = [sum(a * (e - c) for a, e, c in zip(axis, eye, _centre(disk), strict=True)) for axis in frame]
        along = [axis[0] * rays[0] + axis[1] * rays[1] + axis[2] * rays[2] for axis in frame]
        square = along[0] ** 2 + along[1] ** 2
        mixed = start[0] * along[0] + start[1] * along[1]
        upright = np.where(np.abs(along[2]) > 1e-6, along[2], 1e-6)
        for body_radius, body_half in ((radius, half - CHAMFER_MM), (radius - CHAMFER_MM, half)):
            root = mixed**2 - square * (start[0] ** 2 + start[1] ** 2 - body_radius**2)
            reach = np.sqrt(np.maximum(root, 0))
            wide = np.maximum(square, 1e-12)
            low, high = (-body_half - start[2]) / upright, (body_half - start[2]) / upright
            by_face = np.minimum(low, high)
            by_side = (-mixed - reach) / wide
            enter = np.maximum(by_face, by_side)
            leave = np.minimum(np.maximum(low, high), (-mixed + reach) / wide)
            hit = (root > 0) & (enter < leave) & (enter > 0) & (enter < hits.t)
            if not hit.any():
                continue
            t = enter[hit]
            local = [s + t * a[hit] for s, a in zip(start, along, strict=True)]
            face = by_face[hit] > by_side[hit]
            far = np.maximum(np.hypot(local[0], local[1]), 1e-6)
            chamfered = np.where(
                face, (far > radius - CHAMFER_MM - 1e-3) & (body_half < half), np.full(face.shape, body_half == half)
            )
            outward = np.where(face & ~chamfered, 0.0, np.where(chamfered, 0.7071, 1.0))
            upward = np.where(face & ~chamfered, 1.0, np.where(chamfered, 0.7071, 0.0)) * np.where(local[2] >= 0, 1, -1)
            turned = (outward * local[0] / far, outward * local[1] / far, upward)
            for axis in range(3):
                hits.normal[axis][hit] = sum(turned[k] * frame[k][axis] for k in range(3))
                hits.point[axis][hit] = eye[axis] + t * rays[axis][hit]
                hits.albedo[axis][hit] = self._albedo[disk.colour][axis] * disk.shade
            hits.t[hit] = t
            # Deeper in a hole less of the sky is seen; the sides see half of it.
            sunk = np.clip(-hits.point[2][hit] / self.board.slab_mm, 0, 1)
            hits.sky[hit] = (0.55 + 0.45 * np.clip(hits.normal[2][hit], 0, 1)) * (1 - 0.5 * sunk)
            hits.depth[hit] = 0.0
            hits.owner[hit] = index

    def _crowd(self, hits: _Hits, disk: Disk, index: int) -> None:
        """Takes sky from what lies close to a disk: its contact shadow, and the gap round it in a hole."""
        radius = self.board.disk_diameter_mm / 2
        reach = radius + 15
        off_x, off_y = hits.point[0] - disk.x_mm, hits.point[1] - disk.y_mm
        within = _box((np.abs(off_x) < reach) & (np.abs(off_y) < reach))
        if within is None:
            return
        hits = hits.within(within)
        away = np.hypot(off_x[within], off_y[within])
        near = (away < reach) & (hits.owner != index)
        lower = np.clip((disk.z_mm + self.board.disk_height_mm / 2 - hits.point[2]) / 6.0, 0, 1)
        taken = np.where(hits.depth > 0.3, 0.55, 0.5) * lower * np.exp(-np.maximum(away - radius, 0) / 4.0)
        hits.sky[near] *= (1 - taken)[near]

    def _add_lamp(
        self, light: list[Plane], hits: _Hits, eye: Point, rays: Vector, disks: tuple[Disk, ...], lamp: Lamp
    ) -> None:
        place = self._lamp_mm(lamp)
        to_lamp = [place[axis] - hits.point[axis] for axis in range(3)]
        nearness = 1 / np.sqrt(to_lamp[0] ** 2 + to_lamp[1] ** 2 + to_lamp[2] ** 2)
        towards = [plane * nearness for plane in to_lamp]
        facing = sum(normal * ray for normal, ray in zip(hits.normal, towards, strict=True))
        seen = np.maximum(facing, 0) * towards[2] * (1000.0 * nearness) ** 2
        seen *= self._past_slab(hits, to_lamp, lamp)
        for index, disk in enumerate(disks):
            self._shade(seen, hits, to_lamp, disk, index, lamp)
        # Blinn's half vector; the lamp's size widens the glare.
        half = [to - ray for to, ray in zip(towards, rays, strict=True)]
        aligned = sum(normal * ray for normal, ray in zip(hits.normal, half, strict=True))
        aligned /= np.sqrt(half[0] ** 2 + half[1] ** 2 + half[2] ** 2)
        glare = cv2.pow(np.maximum(aligned, 0), self.room.gloss_exponent)
        glare *= self.room.gloss * 3.0
        glare[seen <= 0] = 0
        for channel in range(3):
            light[channel] += lamp.light[channel] * seen * (hits.albedo[channel] + glare)

    def _lamp_mm(self, lamp: Lamp) -> Point:
        """Where a lamp hangs, in board millimetres."""
        x, y, z = lamp.place_mm
        return self.board.width_mm / 2 + x, self.board.length_mm / 2 + y, z

    def _past_slab(self, hits: _Hits, to_lamp: list[Plane], lamp: Lamp) -> Plane:
        """Share of a lamp that points inside holes and beside the slab see past it."""
        open_share = np.ones_like(hits.t)
        inside = hits.depth > 0
        if inside.any():
            rise = hits.depth[inside] / to_lamp[2][inside]
            off_x = hits.off_hole[0][inside] + rise * to_lamp[0][inside]
            off_y = hits.off_hole[1][inside] + rise * to_lamp[1][inside]
            soft = np.maximum(rise * lamp.radius_mm, 0.15)
            clear = self.board.hole_diameter_mm / 2 - np.hypot(off_x, off_y)
            open_share[inside] = _smooth(clear / soft)
        beside = (hits.depth <= 0) & (hits.point[2] < -0.5) & (hits.owner < 0)
        if beside.any():
            rise = -hits.point[2][beside] / to_lamp[2][beside]
            x = hits.point[0][beside] + rise * to_lamp[0][beside]
            y = hits.point[1][beside] + rise * to_lamp[1][beside]
            over = np.minimum(np.minimum(x, self.board.width_mm - x), np.minimum(y, self.board.length_mm - y))
            open_share[beside] = _smooth(-over / np.maximum(rise * lamp.radius_mm, 0.15))
        return open_share

    def _shade(self, seen: Plane, hits: _Hits, to_lamp: list[Plane], disk: Disk, index: int, lamp: Lamp) -> None:
        """Takes from a lamp, as far as it is seen, what a disk hides of it, taken for three slices through the disk."""
        axis, half = disk.axis(), self.board.disk_height_mm / 2
        radius = self.board.disk_diameter_mm / 2
        centre = _centre(disk)
        far2 = to_lamp[0] ** 2 + to_lamp[1] ** 2 + to_lamp[2] ** 2
        off = [c - point for c, point in zip(centre, hits.point, strict=True)]
        along = off[0] * to_lamp[0] + off[1] * to_lamp[1] + off[2] * to_lamp[2]
        way = np.clip(along / far2, 0, 1)
        off2 = off[0] ** 2 + off[1] ** 2 + off[2] ** 2
        # Of a ball round the disk and its soft shadow.
        reach = math.hypot(radius, half) + way * lamp.radius_mm + 1
        chosen = np.flatnonzero((off2 - 2 * way * along + way**2 * far2 < reach**2) & (hits.owner != index))
        if not len(chosen):
            return
        ray = [plane.take(chosen) for plane in to_lamp]
        off = [plane.take(chosen) for plane in off]
        rising = axis[0] * ray[0] + axis[1] * ray[1] + axis[2] * ray[2]
        rising = np.where(np.abs(rising) > 1e-3, rising, 1e-3)
        hidden = np.zeros_like(rising)
        for slice_mm in (-half, 0.0, half):
            apart = [o + a * slice_mm for o, a in zip(off, axis, strict=True)]
            way = (axis[0] * apart[0] + axis[1] * apart[1] + axis[2] * apart[2]) / rising
            miss = sum((way * ray[k] - apart[k]) ** 2 for k in range(3))
            share = _smooth((radius - np.sqrt(miss)) / np.maximum(way * lamp.radius_mm, 0.2))
            np.maximum(hidden, np.where((way > 1e-4) & (way < 1), share, 0), out=hidden)
        seen.ravel()[chosen] *= 1 - hidden

    def _off_hole(self, x: Plane, y: Plane) -> tuple[Plane, Plane]:
        board = self.board
        column = np.clip(np.rint((x - board.margin_mm) / board.pitch_mm), 0, board.columns - 1)
        row = np.clip(np.rint((y - board.first_row_mm) / board.pitch_mm), 0, board.rows - 1)
        return x - board.margin_mm - column * board.pitch_mm, y - board.first_row_mm - row * board.pitch_mm

    def _to_edge_mm(self, x: Plane, y: Plane) -> Plane:
        outside_x = np.maximum(np.maximum(-x, x - self.board.width_mm), 0)
        outside_y = np.maximum(np.maximum(-y, y - self.board.length_mm), 0)
        return np.asarray(np.hypot(outside_x, outside_y), dtype=np.float32)

    def _slab_albedo(self, x: Plane, y: Plane) -> Vector:
        tone = _sample(self._slab_grain, x + 40, y + 40)
        board = self.board
        off_line = np.minimum(np.abs(y - board.launch_line_mm), np.abs(board.length_mm - board.launch_line_mm - y))
        painted = np.clip(self.room.line_width_mm / 2 - off_line + 0.2, 0, 0.4) / 0.4
        wood, line = self.room.wood, self.room.line
        made = [tone * wood[channel] * (1 - painted) + line[channel] * painted for channel in range(3)]
        return made[0], made[1], made[2]

    def _ground_tone(self, x: Plane, y: Plane) -> Plane:
        return _sample(self._ground_grain, x * 0.7 + 800, y * 0.7 + 600)


def _box(mask: Mask) -> tuple[slice, slice] | None:
    """The rows and columns in which a mask is set; None where it is not."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)) if len(rows) else None


def _sample(tones: Plane, x: Plane, y: Plane) -> Plane:
    """Tones at places in pixels, mirrored beyond the rim."""
    row = 1024  # OpenCV maps no array with a side of 32768 or more
    padded = -x.size % row
    map_x, map_y = (np.pad(axis.ravel().astype(np.float32), (0, padded)).reshape(-1, row) for axis in (x, y))
    found = cv2.remap(tones, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(found, dtype=np.float32).ravel()[: x.size].reshape(x.shape)


def _smooth(ratio: npt.NDArray[np.floating[Any]]) -> Plane:
    """From 0 at -1 to 1 at 1: the share of a round lamp on one side of an edge, in lamp radii from its middle."""
    within = np.clip(ratio * 0.5 + 0.5, 0, 1)
    return np.asarray(within * within * (3 - 2 * within), dtype=np.float32)


def _shifted(disk: Disk, share: float) -> Disk:
    x_mm, y_mm = disk.x_mm + share * disk.blur_mm[0], disk.y_mm + share * disk.blur_mm[1]
    return replace(disk, x_mm=x_mm, y_mm=y_mm, blur_mm=(0.0, 0.0))


def _centre(disk: Disk) -> Point:
    return disk.x_mm, disk.y_mm, disk.z_mm


def _unit(vector: Point) -> Point:
    length = math.hypot(*vector)
    return vector[0] / length, vector[1] / length, vector[2] / length


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
