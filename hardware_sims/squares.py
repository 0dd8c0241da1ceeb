"""A table of pieces on squares: flats that lie and are stacked, walls on edge, Crowns, and the light that they send.

Every pixel's ray is met with the board and with each piece's solids in closed form, so that the picture's geometry is
exact; light is Lambert's law from round lamps, sampled for soft shadows, with an ambient share. Board millimetres, z up
from the squares.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from hardware_sims.disks import Point
from hardware_sims.materials import Plane, Rgb, grain
from vision.board import Floats, Image, SquaresBoard
from vision.calibration import Calibration

Kind = Literal["flat", "wall", "crown"]
Vector = tuple[Plane, Plane, Plane]

_GAMMA = 2.2
_CROWN = (
    (0.0, 0.16, 1.0, 1.0),
    (0.16, 0.24, 1.0, 0.5),
    (0.24, 0.6, 0.5, 0.45),
    (0.6, 0.8, 0.45, 0.8),
    (0.8, 1.0, 0.8, 0.5),
)
"""A Crown's turned profile: from and to which share of its height it has which shares of its radius."""
_LAMP_POINTS = 7
"""Points of a lamp that are tested for its shadows."""
_CONTACT_MM = 14.0
"""So far from a piece it still darkens what lies below."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the pieces are, in millimetres, under the keys of the board profile."""

    flat_mm: tuple[float, float, float] = (34.0, 34.0, 8.0)
    wall_height_mm: float = 34.0
    crown_mm: tuple[float, float] = (24.0, 38.0)
    """Diameter and height."""

    def height_mm(self, kind: Kind) -> float:
        """How tall a piece stands."""
        return {"flat": self.flat_mm[2], "wall": self.wall_height_mm, "crown": self.crown_mm[1]}[kind]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece where it lies: its middle, the height of what it lies on, and its turn about the vertical."""

    kind: Kind
    colour: str
    x_mm: float
    y_mm: float
    z_mm: float
    turn_deg: float
    shade: float = 1.0


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp by its place from the board's middle, and what it gives to a white surface below it."""

    place_mm: tuple[float, float, float] = (-500.0, 300.0, 1100.0)
    radius_mm: float = 110.0
    light: Rgb = (0.62, 0.58, 0.52)


@dataclass(frozen=True, slots=True)
class Room:
    """Materials and light, linear and from 0 to 1."""

    light_square: Rgb = (0.55, 0.36, 0.2)
    dark_square: Rgb = (0.22, 0.14, 0.09)
    ground: Rgb = (0.24, 0.16, 0.1)
    line: Rgb = (0.03, 0.03, 0.03)
    line_mm: float = 1.6
    frame_mm: float = 18.0
    contrast: float = 0.2
    speckle: float = 0.06
    """Unevenness of the pieces' surfaces."""
    a1_is_dark: bool = True
    colours: tuple[tuple[str, Rgb], ...] = (("a", (0.8, 0.75, 0.65)), ("b", (0.1, 0.06, 0.04)))
    lamps: tuple[Lamp, ...] = (Lamp(),)
    ambient: Rgb = (0.3, 0.3, 0.32)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Box:
    middle: tuple[float, float]
    half: tuple[float, float]
    turn: tuple[float, float]
    """Cosine and sine."""
    low_mm: float
    high_mm: float

    @property
    def reach_mm(self) -> float:
        return math.hypot(*self.half)


@dataclass(frozen=True, slots=True)
class _Frustum:
    middle: tuple[float, float]
    radii: tuple[float, float]
    low_mm: float
    high_mm: float

    @property
    def reach_mm(self) -> float:
        return max(self.radii)


_Solid = _Box | _Frustum


@dataclass(slots=True)
class _Hits:
    t: Plane
    normal: Vector
    albedo: Vector
    owner: Plane
    """Number of the solid that is hit, or -1."""


class Scene:
    """A board with its pieces in a room, as one camera sees it."""

    def __init__(self, board: SquaresBoard, sizes: Sizes, room: Room) -> None:
        self.board, self.sizes, self.room = board, sizes, room
        rng = np.random.default_rng(room.seed)
        self._wood = grain(rng, (700, 700), room.contrast)
        self._plain = grain(rng, (700, 700), room.contrast * 0.25)
        self._ground = grain(rng, (1500, 1500), room.contrast)
        self._speckle = cv2.GaussianBlur(rng.normal(0, 1, (512, 512)).astype(np.float32), (0, 0), 0.7) * 2.2

    def picture(
        self, calibration: Calibration, pieces: tuple[Piece, ...], *, exposure: float = 1.0, oversampling: int = 2
    ) -> Floats:
        """What a perfect camera records, (h, w, 3), blue first, from 0 to 1 and over where it is too bright."""
        width, height = calibration.size_wh
        eye = calibration.camera_mm()
        rays = _rays(calibration, oversampling)
        light = self._traced(calibration, eye, rays, pieces, oversampling)
        light = light.reshape(height, oversampling, width, oversampling, 3).mean(axis=(1, 3))
        return np.asarray(np.maximum(light * exposure, 0) ** (1 / _GAMMA))

    # For `camera.Camera`, which traces parts of a picture.

    def radiance(self, eye: Point, rays: Vector, pieces: tuple[Piece, ...]) -> Plane:
        """Light from where the rays end, (height, width, 3), blue first."""
        return self._traced(None, np.array(eye), rays, pieces, 1)

    def bounds_mm(self, piece: Piece) -> tuple[Floats, float, float]:
        """Where a piece and its shadow change the light: the corners (4, 2) of a rectangle, its floor and its top."""
        top_mm = piece.z_mm + self.sizes.height_mm(piece.kind)
        reach_mm = max(solid.reach_mm for solid in solids_of(piece, self.sizes))
        place = np.array([piece.x_mm, piece.y_mm])
        low, high = place - reach_mm - _CONTACT_MM, place + reach_mm + _CONTACT_MM
        for lamp in self.room.lamps:
            at = self._lamp_mm(lamp)[:2]
            share = top_mm / (lamp.place_mm[2] - top_mm)
            thrown, soft = place + (place - at) * share, reach_mm * (1 + share) + lamp.radius_mm * share
            low, high = np.minimum(low, thrown - soft), np.maximum(high, thrown + soft)
        return np.array([low, (high[0], low[1]), high, (low[0], high[1])]), 0.0, top_mm

    def smeared(self, piece: Piece, open_s: float) -> Piece:
        """As it lies: pieces are not drawn in motion."""
        return piece

    def _traced(
        self,
        calibration: Calibration | None,
        eye: Floats,
        rays: Vector,
        pieces: tuple[Piece, ...],
        oversampling: int,
    ) -> Plane:
        """Light from where the rays end; a calibration says which of them can meet what, without one all can."""
        hits = self._meet_board(eye, rays)
        solids = [(solid, piece) for piece in pieces for solid in solids_of(piece, self.sizes)]
        for number, (solid, piece) in enumerate(solids):
            self._meet(eye, rays, hits, solid, piece, number, _window(calibration, solid, rays[0].shape, oversampling))
        return self._shade(calibration, eye, rays, hits, [solid for solid, _ in solids], oversampling)

    def _lamp_mm(self, lamp: Lamp) -> Floats:
        """Where a lamp hangs, in board millimetres."""
        return np.array([self.board.width_mm / 2, self.board.length_mm / 2, 0.0]) + lamp.place_mm

    def _meet_board(self, eye: Floats, rays: Vector) -> _Hits:
        board, room = self.board, self.room
        wide, long = board.width_mm, board.length_mm
        t = (-eye[2] / rays[2]).astype(np.float32)
        x, y = eye[0] + t * rays[0], eye[1] + t * rays[1]
        column, row = np.floor(x / board.square_mm), np.floor(y / board.square_mm)
        on_grid = (x > 0) & (x < wide) & (y > 0) & (y < long)
        dark = ((column + row) % 2 == 0) == room.a1_is_dark
        edge = np.minimum(
            np.abs(x - np.rint(x / board.square_mm) * board.square_mm),
            np.abs(y - np.rint(y / board.square_mm) * board.square_mm),
        )
        lined = (edge < room.line_mm / 2) & (x > -1) & (x < wide + 1) & (y > -1) & (y < long + 1)
        frame = room.frame_mm
        on_board = (x > -frame) & (x < wide + frame) & (y > -frame) & (y < long + frame)
        wood, plain, ground = (
            _tone(self._wood, x + 100, y + 100),
            _tone(self._plain, x + 100, y + 100),
            _tone(self._ground, x * 0.8 + 700, y * 0.8 + 700),
        )
        albedo = []
        for channel in range(3):
            squares = np.where(on_grid & dark, plain * room.dark_square[channel], wood * room.light_square[channel])
            there = np.where(on_board, squares, ground * room.ground[channel])
            albedo.append(np.where(lined, room.line[channel], there).astype(np.float32))
        zero, one = np.zeros_like(t), np.ones_like(t)
        return _Hits(t, (zero, zero.copy(), one), (albedo[0], albedo[1], albedo[2]), np.full_like(t, -1))

    def _meet(
        self,
        eye: Floats,
        rays: Vector,
        hits: _Hits,
        solid: _Solid,
        piece: Piece,
        number: int,
        window: tuple[slice, slice],
    ) -> None:
        some = (rays[0][window], rays[1][window], rays[2][window])
        if not some[0].size:
            return
        t, normal = _enter(solid, (float(eye[0]), float(eye[1]), float(eye[2])), some)
        hit = t < hits.t[window]
        hits.t[window][hit] = t[hit]
        hits.owner[window][hit] = number
        paint = dict(self.room.colours)[piece.colour]
        rough = _tone(
            self._speckle, (t * some[0])[hit] * 3 + 4000 * piece.shade, (t * some[1])[hit] * 3 + 6000 * piece.shade
        )
        for axis in range(3):
            hits.normal[axis][window][hit] = normal[axis][hit]
            hits.albedo[axis][window][hit] = paint[axis] * piece.shade * (1 + self.room.speckle * rough)

    def _shade(
        self,
        calibration: Calibration | None,
        eye: Floats,
        rays: Vector,
        hits: _Hits,
        solids: list[_Solid],
        oversampling: int,
    ) -> Plane:
        point = [(eye[axis] + hits.t * rays[axis]).astype(np.float32) for axis in range(3)]
        sky = 0.6 + 0.4 * np.clip(hits.normal[2], 0, 1)
        windows = [_window(calibration, solid, hits.t.shape, oversampling, spread_mm=_CONTACT_MM) for solid in solids]
        for number, (solid, window) in enumerate(zip(solids, windows, strict=True)):
            away = (
                np.hypot(point[0][window] - solid.middle[0], point[1][window] - solid.middle[1]) - solid.reach_mm * 0.8
            )
            lower = np.clip((solid.high_mm - point[2][window]) / 10, 0, 1)
            taken = 0.35 * lower * np.exp(-np.maximum(away, 0) / 7) * (hits.owner[window] != number)
            sky[window] *= 1 - taken
        total = [hits.albedo[k] * sky * self.room.ambient[k] for k in range(3)]
        rng = np.random.default_rng(self.room.seed + 1)
        for lamp in self.room.lamps:
            place = self._lamp_mm(lamp)
            seen = np.zeros_like(hits.t)
            angles = 2 * np.pi * (np.arange(_LAMP_POINTS) + rng.uniform()) / (_LAMP_POINTS - 1)
            for index in range(_LAMP_POINTS):
                radius = 0.0 if index == 0 else lamp.radius_mm * 0.75
                at = place + radius * np.array([np.cos(angles[index]), np.sin(angles[index]), 0.0])
                seen += self._lit(calibration, point, hits, solids, at, oversampling) / _LAMP_POINTS
            for k in range(3):
                total[k] += hits.albedo[k] * lamp.light[k] * seen
        return np.stack(total[::-1], axis=-1)

    def _lit(
        self,
        calibration: Calibration | None,
        point: list[Plane],
        hits: _Hits,
        solids: list[_Solid],
        lamp: Floats,
        oversampling: int,
    ) -> Plane:
        to_lamp = [(lamp[axis] - point[axis]).astype(np.float32) for axis in range(3)]
        far = np.sqrt(to_lamp[0] ** 2 + to_lamp[1] ** 2 + to_lamp[2] ** 2)
        facing = np.clip(sum(hits.normal[axis] * to_lamp[axis] for axis in range(3)) / far, 0, 1)
        lit = np.asarray(facing * (to_lamp[2] / far) * (1100.0 / far) ** 2, dtype=np.float32)
        for number, solid in enumerate(solids):
            window = _window(calibration, solid, hits.t.shape, oversampling, lamp=lamp)
            if not hits.t[window].size:
                continue
            start = tuple(point[axis][window] for axis in range(3))
            along = tuple(to_lamp[axis][window] for axis in range(3))
            t, _ = _enter(solid, (start[0], start[1], start[2]), (along[0], along[1], along[2]), inside=True)
            lit[window][(t < 1) & (hits.owner[window] != number)] = 0
        return lit


def solids_of(piece: Piece, sizes: Sizes) -> Iterator[_Solid]:
    """The solids that a piece is made of."""
    middle, low = (piece.x_mm, piece.y_mm), piece.z_mm
    turn = (math.cos(math.radians(piece.turn_deg)), math.sin(math.radians(piece.turn_deg)))
    wide, deep, thick = sizes.flat_mm
    if piece.kind == "flat":
        yield _Box(middle, (wide / 2, deep / 2), turn, low, low + thick)
    elif piece.kind == "wall":
        yield _Box(middle, (wide / 2, thick / 2), turn, low, low + sizes.wall_height_mm)
    else:
        radius, tall = sizes.crown_mm[0] / 2, sizes.crown_mm[1]
        for begin, end, lower, upper in _CROWN:
            yield _Frustum(middle, (lower * radius, upper * radius), low + begin * tall, low + end * tall)


def _rays(calibration: Calibration, oversampling: int) -> Vector:
    width, height = calibration.size_wh
    step = (np.arange(oversampling) + 0.5) / oversampling - 0.5
    x, y = np.meshgrid(
        (np.arange(width)[:, None] + step).ravel().astype(np.float32),
        (np.arange(height)[:, None] + step).ravel().astype(np.float32),
    )
    matrix = np.linalg.inv(calibration.matrix()[:, :3])
    rays = [(matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2]).astype(np.float32) for k in range(3)]
    # A projection is known up to its sign; rays go down.
    sign = np.sign(-rays[2])
    return rays[0] * sign, rays[1] * sign, rays[2] * sign


def _window(
    calibration: Calibration | None,
    solid: _Solid,
    shape: tuple[int, ...],
    oversampling: int,
    *,
    spread_mm: float = 0.0,
    lamp: Floats | None = None,
) -> tuple[slice, slice]:
    """The part of the picture that a solid covers, with what lies near it or in its shadow; all without a camera."""
    if calibration is None:
        return slice(None), slice(None)
    reach = solid.reach_mm + spread_mm
    square = np.array([[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]]) + np.array(solid.middle)
    seen = [calibration.project(square, 0.0), calibration.project(square, solid.high_mm)]
    if lamp is not None:
        # Where its top's shadow falls on the board.
        share = solid.high_mm / (lamp[2] - solid.high_mm)
        seen.append(calibration.project(square + (square - lamp[:2]) * share, 0.0))
    points = np.concatenate(seen)
    low = np.clip((np.floor(points.min(axis=0)) - 1) * oversampling, 0, None).astype(int)
    high = np.clip((np.ceil(points.max(axis=0)) + 2) * oversampling, 0, (shape[1], shape[0])).astype(int)
    return slice(low[1], max(high[1], low[1])), slice(low[0], max(high[0], low[0]))


_Start = tuple[float, float, float] | Vector


def _enter(solid: _Solid, start: _Start, along: Vector, *, inside: bool = False) -> tuple[Plane, Vector]:
    """When each ray enters a solid, infinity where it does not, and the normals there. `inside`: from t = 0 on."""
    return (
        _enter_box(solid, start, along, inside)
        if isinstance(solid, _Box)
        else _enter_frustum(solid, start, along, inside)
    )


def _enter_box(box: _Box, start: _Start, along: Vector, inside: bool) -> tuple[Plane, Vector]:
    cosine, sine = box.turn
    off_x, off_y = start[0] - box.middle[0], start[1] - box.middle[1]
    origin = (cosine * off_x + sine * off_y, -sine * off_x + cosine * off_y, start[2])
    way = (cosine * along[0] + sine * along[1], -sine * along[0] + cosine * along[1], along[2])
    bounds = ((-box.half[0], box.half[0]), (-box.half[1], box.half[1]), (box.low_mm, box.high_mm))
    enter = np.full(along[0].shape, -np.inf, np.float32)
    leave = np.full(along[0].shape, np.inf, np.float32)
    face = np.zeros(along[0].shape, np.int8)
    for axis, (low, high) in enumerate(bounds):
        step = np.where(np.abs(way[axis]) > 1e-9, way[axis], 1e-9)
        one, other = (low - origin[axis]) / step, (high - origin[axis]) / step
        near = np.minimum(one, other)
        face = np.where(near > enter, axis, face)
        enter = np.maximum(enter, near)
        leave = np.minimum(leave, np.maximum(one, other))
    hit = (enter < leave) & (leave > 1e-4) & (inside | (enter > 0))
    t = np.where(hit, np.maximum(enter, 1e-4) if inside else enter, np.inf).astype(np.float32)
    local = [np.where(face == axis, -np.sign(way[axis]), 0.0) for axis in range(3)]
    normal = (
        (cosine * local[0] - sine * local[1]).astype(np.float32),
        (sine * local[0] + cosine * local[1]).astype(np.float32),
        local[2].astype(np.float32),
    )
    return t, normal


def _enter_frustum(cone: _Frustum, start: _Start, along: Vector, inside: bool) -> tuple[Plane, Vector]:
    slope = (cone.radii[1] - cone.radii[0]) / (cone.high_mm - cone.low_mm)
    x, y = start[0] - cone.middle[0], start[1] - cone.middle[1]
    radius = cone.radii[0] + slope * (start[2] - cone.low_mm)
    a = along[0] ** 2 + along[1] ** 2 - (slope * along[2]) ** 2
    a = np.where(np.abs(a) > 1e-9, a, 1e-9)
    b = x * along[0] + y * along[1] - radius * slope * along[2]
    c = x**2 + y**2 - radius**2
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    best = np.full(along[0].shape, np.inf, np.float32)
    normal = [np.zeros(along[0].shape, np.float32) for _ in range(3)]
    least = 1e-4 if inside else 0.0
    for t in ((-b - root) / a, (-b + root) / a):
        z = start[2] + t * along[2]
        hit = (b**2 - a * c > 0) & (t > least) & (z >= cone.low_mm) & (z <= cone.high_mm) & (t < best)
        best = np.where(hit, t, best).astype(np.float32)
        out_x, out_y = x + t * along[0], y + t * along[1]
        length = np.sqrt(out_x**2 + out_y**2) * math.hypot(1, slope) + 1e-9
        for axis, value in enumerate((out_x / length, out_y / length, -slope / math.hypot(1, slope))):
            normal[axis] = np.where(hit, value, normal[axis]).astype(np.float32)
    steep = np.where(np.abs(along[2]) > 1e-9, along[2], 1e-9)
    for level, rim, up in ((cone.high_mm, cone.radii[1], 1.0), (cone.low_mm, cone.radii[0], -1.0)):
        t = (level - start[2]) / steep
        hit = (t > least) & ((x + t * along[0]) ** 2 + (y + t * along[1]) ** 2 <= rim**2) & (t < best)
        best = np.where(hit, t, best).astype(np.float32)
        for axis, value in enumerate((0.0, 0.0, up)):
            normal[axis] = np.where(hit, value, normal[axis]).astype(np.float32)
    return best, (normal[0], normal[1], normal[2])


def _tone(tones: Plane, x: Plane, y: Plane) -> Plane:
    """Tones at places in pixels, mirrored beyond the rim."""
    flat_x, flat_y = (np.ascontiguousarray(axis, dtype=np.float32).reshape(-1) for axis in (x, y))
    if not flat_x.size:
        return np.zeros(np.shape(x), np.float32)
    row = 1024  # OpenCV maps no array with a side of 32768 or more
    padded = -flat_x.size % row
    map_x, map_y = (np.pad(axis, (0, padded)).reshape(-1, row) for axis in (flat_x, flat_y))
    found = cv2.remap(tones, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(found, dtype=np.float32).ravel()[: flat_x.size].reshape(np.shape(x))


def exposed(light: Floats, rng: np.random.Generator, *, blur_px: float, noise_levels: float) -> Image:
    """The 8-bit picture of what `Scene.picture` gives, through a lens and a sensor."""
    soft = cv2.GaussianBlur(light.astype(np.float32), (0, 0), max(blur_px, 0.05))
    noisy = soft * 255 + rng.normal(0, noise_levels, soft.shape)
    return np.asarray(np.clip(np.rint(noisy), 0, 255), dtype=np.uint8)
