"""The camera over the simulated table: what its lens and sensor do to the light, and what goes wrong.

The board without disks is traced once for each view and kept; a frame traces only what lies round disks that have
changed, then lays arms over it and does what a webcam does. Pixels follow OpenCV: an integer is a pixel's centre.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import cv2
import numpy as np

from hardware_sims.arms import Arm, Tube, arms_shadow, tubes
from hardware_sims.disks import Point
from hardware_sims.materials import Plane, Rgb
from hardware_sims.scene import Vector
from hardware_sims.view import Sheet, View
from vision.board import Floats, Image
from vision.calibration import Calibration

Rect = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom excluded."""

GAMMA = 2.2

Thing = TypeVar("Thing")


class Lamp(Protocol):
    """A round lamp by its place from the board's middle."""

    @property
    def place_mm(self) -> Point: ...

    @property
    def radius_mm(self) -> float: ...

    @property
    def light(self) -> Rgb: ...


class Lit(Protocol):
    """The light in a room, linear."""

    @property
    def ambient(self) -> Rgb: ...

    @property
    def lamps(self) -> tuple[Lamp, ...]: ...


class Subject(Protocol[Thing]):
    """What a camera looks at: a board in a room, and things that lie on it."""

    @property
    def board(self) -> Sheet: ...

    @property
    def room(self) -> Lit: ...

    def radiance(self, eye: Point, rays: Vector, things: tuple[Thing, ...]) -> Plane:
        """Light from where the rays, of unit length, end: (height, width, 3), blue first."""

    def bounds_mm(self, thing: Thing) -> tuple[Floats, float, float]:
        """Where a thing and its shadow change the light: the corners (4, 2) of a rectangle, its floor and its top."""

    def smeared(self, thing: Thing, open_s: float) -> Thing:
        """A moving thing as far drawn out as the shutter leaves it time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What lens, sensor and driver do to a picture; the defaults are a good webcam's, each fault is named."""

    oversampling: int = 2
    """Rays a pixel, in each direction."""
    exposure: float = 1.0
    white_balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Gain of red, green and blue."""
    veil: float = 0.0
    """Stray light all over the picture."""
    vignetting: float = 0.15
    """Share of light lost in the corners."""
    blur_px: float = 0.5
    """Sigma of the lens's blur."""
    noise_levels: float = 1.5
    """Sigma of noise, in 8-bit levels."""
    jpeg_quality: int | None = 90
    shutter_ms: float = 8.0
    hunt: float = 0.0
    """Swing of the auto-exposure, as a share of the light; with its period below."""
    hunt_period_s: float = 4.0
    warm_up_frames: int = 0
    """First frames, while the exposure still settles."""
    restart_rate: float = 0.0
    """Share of frames at which the camera starts anew, and has to warm up again."""
    flicker: float = 0.0
    """Swing of mains light from frame to frame."""
    drop_rate: float = 0.0
    """Share of frames that never come."""
    freeze_rate: float = 0.0
    """Share of frames at which the camera starts to repeat itself."""
    freeze_frames: int = 8
    outage_rate: float = 0.0
    """Share of frames at which it gives nothing more for a while, as if unplugged."""
    outage_s: float = 3.0
    bump_rate: float = 0.0
    """Share of frames at which somebody knocks the camera, by about a degree and a centimetre."""
    seed: int = 0


@dataclass(slots=True)
class _Light(Generic[Thing]):
    """The picture without arms, before the sensor: light to the power 1 / GAMMA, vignetted."""

    board: Plane
    shown: Plane
    blurred: Plane
    """`shown` as the lens draws it."""
    blur_px: float
    traced_by: tuple[object, ...]
    """The settings that are in it."""
    things: tuple[Thing, ...] = ()
    reach: dict[Thing, Rect] = field(default_factory=dict)
    """The region that each of the things can change."""


@dataclass(slots=True)
class Camera(Generic[Thing]):
    """Takes pictures of one scene from one view; deterministic by the settings' seed and the calls made."""

    scene: Subject[Thing]
    view: View
    settings: Settings = field(default_factory=Settings)
    frame: int = 0
    """How many it has been asked for."""

    _light: _Light[Thing] | None = field(default=None, init=False)
    _home: View = field(init=False)
    _calibration: Calibration = field(init=False)
    _eye: Point = field(init=False)
    _from_middle: Plane = field(init=False)
    """The (3, 3) map from pixels off the picture's middle to rays."""
    _corner: Plane = field(init=False)
    """How far each pixel is from the middle, squared, (height, width, 1): 1 in the corners."""
    _canvas: Plane = field(init=False)
    """Holds the picture while arms are drawn on it."""
    _noise: Plane = field(init=False)
    _rng: np.random.Generator = field(init=False)
    _frozen: int = field(default=0, init=False)
    _began: int = field(default=0, init=False)
    """The frame before its first since it started."""
    _out_until_s: float = field(default=-math.inf, init=False)
    _last: Image | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.settings.seed)
        width, height = self.view.size_wh
        self._noise = self._rng.normal(0, 1, (height + 64, width + 64, 3)).astype(np.float32)
        self.move(self.view)

    def move(self, view: View) -> None:
        """Stands the camera elsewhere."""
        self._home = view
        self._stand(view)

    @property
    def home(self) -> View:
        """Where it was stood; knocks have moved it from there since."""
        return self._home

    def look_at(self, scene: Subject[Thing]) -> None:
        """Takes pictures of another scene from where it stands."""
        self.scene = scene
        self._stand(self.view)

    def bump(self) -> None:
        """Knocks it, about the place where it was stood: knocks do not add up to a walk."""
        turns = self._rng.uniform(0.6, 1.5, 2) * self._rng.choice((-1, 1), 2)
        shifts_mm = self._rng.uniform(4, 10, 2) * self._rng.choice((-1, 1), 2)
        home = self._home
        self._stand(
            replace(
                home,
                roll_deg=home.roll_deg + float(turns[0]),
                tilt_deg=abs(home.tilt_deg + float(turns[1])),
                aim_mm=(home.aim_mm[0] + float(shifts_mm[0]), home.aim_mm[1] + float(shifts_mm[1])),
            )
        )

    def read(self, things: tuple[Thing, ...], arms: tuple[Arm, ...] = (), t_s: float | None = None) -> Image | None:
        """The next frame, blue first, or None where the camera drops it."""
        self.frame += 1
        settings = self.settings
        now_s = self.frame / 15 if t_s is None else t_s
        if settings.outage_rate > 0 and now_s >= self._out_until_s and self._rng.random() < settings.outage_rate:
            self._out_until_s = now_s + settings.outage_s
        if now_s < self._out_until_s:
            self._began = self.frame
            return None
        if self._rng.random() < settings.drop_rate:
            return None
        if self._frozen > 0 and self._last is not None and settings.freeze_rate > 0:
            self._frozen -= 1
            return self._last
        if self._rng.random() < settings.freeze_rate:
            self._frozen = settings.freeze_frames
        if self._rng.random() < settings.bump_rate:
            self.bump()
        if settings.restart_rate > 0 and self._rng.random() < settings.restart_rate:
            self._began = self.frame - 1
        open_s = settings.shutter_ms / 1000
        drawn = self._scene_light(tuple(self.scene.smeared(thing, open_s) for thing in things))
        image = self._expose(drawn, arms, now_s)
        self._last = image
        return image

    def visible(self, arms: tuple[Arm, ...], rim_mm: Floats) -> float:
        """Share of a face with this rim, (n, 3), that arms leave to the camera."""
        if all(arm.shadow_only for arm in arms):
            return 1.0
        rim_px = self.view.drawn(self.scene.board, rim_mm[:, :2], rim_mm[:, 2])
        left, top, right, bottom = self._bounds(rim_px)
        if left >= right or top >= bottom:
            return 0.0
        mask = np.zeros((bottom - top, right - left), np.uint8)
        outline = np.rint((rim_px - (left, top)) * 16).astype(np.int32)
        cv2.fillPoly(mask, [outline], 255, cv2.LINE_8, 4)
        _, hidden = self._draw_tubes(self._outlined(arms), (left, top, right, bottom))
        inside = mask > 0
        return float(1 - hidden[inside].mean()) if inside.any() else 0.0

    def _stand(self, view: View) -> None:
        self.view = view
        width, height = view.size_wh
        x, y = (np.arange(size, dtype=np.float32) - (size - 1) / 2 for size in (width, height))
        corner = (x**2 + y[:, None] ** 2) / ((width / 2) ** 2 + (height / 2) ** 2)
        self._corner = corner[..., None].astype(np.float32)
        self._canvas = np.empty((height, width, 3), np.float32)
        self._calibration = self.view.calibration(self.scene.board)
        eye = self._calibration.camera_mm()
        self._eye = (float(eye[0]), float(eye[1]), float(eye[2]))
        matrix = np.linalg.inv(self._calibration.matrix()[:, :3])
        matrix[:, 2] += matrix[:, 0] * (width - 1) / 2 + matrix[:, 1] * (height - 1) / 2
        # The projection is known up to its sign; rays go down.
        self._from_middle = (matrix * (-1 if matrix[2, 2] > 0 else 1) / abs(matrix[2, 2])).astype(np.float32)
        self._light = None

    def _rays_of(self, rect: Rect, samples: int) -> Vector:
        """Directions of the rays through a region, of unit length, so many a pixel in each direction."""
        left, top, right, bottom = rect
        step = (np.arange(samples) + 0.5) / samples - 0.5
        x_px = (np.arange(left, right)[:, None] + step).ravel()
        y_px = (np.arange(top, bottom)[:, None] + step).ravel()
        x, y = np.meshgrid(x_px, y_px, sparse=True)
        return self._rays_through(x, y)

    def _rays_through(self, x_px: Floats, y_px: Floats) -> Vector:
        """Directions of the rays through places in the picture, of unit length."""
        width, height = self.view.size_wh
        x = (x_px - (width - 1) / 2).astype(np.float32)
        y = (y_px - (height - 1) / 2).astype(np.float32)
        focal_px = self.view.focal_px()
        k1, k2 = self.view.distortion
        if k1 or k2:
            drawn_x, drawn_y = x / focal_px, y / focal_px
            off_x, off_y = drawn_x, drawn_y
            for _ in range(6):
                square = off_x**2 + off_y**2
                bent = 1 + k1 * square + k2 * square**2
                off_x, off_y = drawn_x / bent, drawn_y / bent
            x, y = off_x * focal_px, off_y * focal_px
        matrix = self._from_middle
        rays = [matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] for k in range(3)]
        length = np.sqrt(rays[0] ** 2 + rays[1] ** 2 + rays[2] ** 2)
        return rays[0] / length, rays[1] / length, rays[2] / length

    def _trace(self, rect: Rect, things: tuple[Thing, ...]) -> Plane:
        samples = self.settings.oversampling
        light = self.scene.radiance(self._eye, self._rays_of(rect, samples), things)
        height, width = rect[3] - rect[1], rect[2] - rect[0]
        if samples > 1:
            light = np.asarray(cv2.resize(light, (width, height), interpolation=cv2.INTER_AREA), dtype=np.float32)
        return self._encoded(light, self._corner[rect[1] : rect[3], rect[0] : rect[2]])

    def _encoded(self, light: Plane, corner: Plane) -> Plane:
        """Light (..., 3) as the sensor records it, at pixels so far from the middle (..., 1)."""
        red, green, blue = self.settings.white_balance
        gained = light * (1 - self.settings.vignetting * corner)
        gained += self.settings.veil
        gained *= np.array([blue, green, red], np.float32)
        np.maximum(gained, 0, out=gained)
        return np.asarray(cv2.pow(gained, 1 / GAMMA), dtype=np.float32).reshape(gained.shape)

    def _scene_light(self, things: tuple[Thing, ...]) -> _Light[Thing]:
        width, height = self.view.size_wh
        traced_by = self._traced_by(self.settings)
        if self._light is None or self._light.traced_by != traced_by:
            strips = [(0, top, width, min(top + 32, height)) for top in range(0, height, 32)]
            board = np.concatenate([self._trace(strip, ()) for strip in strips])
            self._light = _Light(board, board.copy(), board.copy(), 0.0, traced_by)
        light = self._light
        if light.blur_px != self.settings.blur_px:
            light.blur_px = self.settings.blur_px
            light.blurred = self._blurred(light.shown, (0, 0, width, height))
        # In the order of the things, so that the same play is drawn alike by every process.
        changed = [thing for thing in light.things if thing not in things]
        changed += [thing for thing in things if thing not in light.things]
        if changed:
            reach = {thing: light.reach.get(thing) or self._reach(thing) for thing in (*light.things, *things)}
            rects = _joined([reach[thing] for thing in changed])
            for rect in rects:
                left, top, right, bottom = rect
                near = tuple(thing for thing in things if _overlap(reach[thing], rect))
                light.shown[top:bottom, left:right] = (
                    self._trace(rect, near) if near else light.board[top:bottom, left:right]
                )
            for left, top, right, bottom in (rect for rect in map(self._grown, rects) if rect[0] < rect[2]):
                light.blurred[top:bottom, left:right] = self._blurred(light.shown, (left, top, right, bottom))
            light.things, light.reach = things, {thing: reach[thing] for thing in things}
        return light

    @staticmethod
    def _traced_by(settings: Settings) -> tuple[object, ...]:
        return settings.white_balance, settings.veil, settings.vignetting, settings.oversampling

    def _blurred(self, sharp: Plane, rect: Rect) -> Plane:
        """A region of a picture as the lens draws it."""
        wide_left, wide_top, wide_right, wide_bottom = self._grown(rect)
        wide = self._soft(sharp[wide_top:wide_bottom, wide_left:wide_right])
        left, top, right, bottom = rect
        return wide[top - wide_top : bottom - wide_top, left - wide_left : right - wide_left].copy()

    def _grown(self, rect: Rect) -> Rect:
        """A region with what the blur carries over its rim."""
        reach = math.ceil(4 * self.settings.blur_px) + 1
        width, height = self.view.size_wh
        left, top, right, bottom = rect
        return max(left - reach, 0), max(top - reach, 0), min(right + reach, width), min(bottom + reach, height)

    def _reach(self, thing: Thing) -> Rect:
        """The region of the picture that a thing and its shadow can change."""
        around, low_mm, high_mm = self.scene.bounds_mm(thing)
        return self._bounds(np.concatenate([self.view.drawn(self.scene.board, around, z) for z in (low_mm, high_mm)]))

    def _bounds(self, points_px: Floats) -> Rect:
        width, height = self.view.size_wh
        low, high = np.floor(points_px.min(axis=0)).astype(int) - 1, np.ceil(points_px.max(axis=0)).astype(int) + 2
        return (
            int(np.clip(low[0], 0, width)),
            int(np.clip(low[1], 0, height)),
            int(np.clip(high[0], 0, width)),
            int(np.clip(high[1], 0, height)),
        )

    def _expose(self, drawn: _Light[Thing], arms: tuple[Arm, ...], t_s: float) -> Image:
        settings = self.settings
        light = self._under_arms(drawn, arms) if arms else drawn.blurred
        gain = settings.exposure * (1 + settings.hunt * math.sin(2 * math.pi * t_s / settings.hunt_period_s))
        gain *= 1 + settings.flicker * self._rng.uniform(-1, 1)
        warm = self.frame - self._began
        if warm <= settings.warm_up_frames:
            gain *= 0.1 + 0.9 * (warm - 1) / settings.warm_up_frames
        height, width = light.shape[:2]
        top, left = (int(k) for k in self._rng.integers(0, 64, 2))
        noise = self._noise[top : top + height, left : left + width]
        image = cv2.addWeighted(light, 255 * gain ** (1 / GAMMA), noise, settings.noise_levels, 0, dtype=cv2.CV_8U)
        if self.view.mirrored:
            image = cv2.flip(image, 1)
        if settings.jpeg_quality is not None:
            _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, settings.jpeg_quality])
            return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
        return np.asarray(image, dtype=np.uint8)

    # Arms are drawn, not traced: tapered tubes, each shaded by its round side, the nearer over the farther.

    def _under_arms(self, light: _Light[Thing], arms: tuple[Arm, ...]) -> Plane:
        """The blurred picture with arms and their shadows; what a shadow's soft edge loses to the blur is nothing."""
        shaded = self._canvas
        np.copyto(shaded, light.blurred)
        for (left, top, right, bottom), kept in self._arm_shadows(arms):
            shaded[top:bottom, left:right] *= kept[..., None]
        outlined = self._outlined(arms)
        if not outlined:
            return shaded
        rect = self._bounds(np.concatenate([outline for _, outline in outlined]))
        if rect[0] >= rect[2] or rect[1] >= rect[3]:
            return shaded
        left, top, right, bottom = wide = self._grown(rect)
        colours, cover = (self._soft(plane) for plane in self._draw_tubes(outlined, wide))
        shaded[top:bottom, left:right] *= (1 - cover)[..., None]
        shaded[top:bottom, left:right] += colours
        return shaded

    def _soft(self, plane: Plane) -> Plane:
        if self.settings.blur_px <= 0:
            return plane
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), self.settings.blur_px))

    def _outlined(self, arms: tuple[Arm, ...]) -> list[tuple[Tube, Floats]]:
        """The tubes of the arms that are seen, the farther first, each with points (8, 2) in the picture round it."""
        seen = [tube for arm in arms if not arm.shadow_only for tube in tubes(arm)]
        if not seen:
            return []
        seen.sort(key=lambda tube: tube.start[2] + tube.end[2])
        ends = np.array([[(*tube.start, tube.start_mm), (*tube.end, tube.end_mm)] for tube in seen])
        around = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 1.3 * ends[:, :, None, 3:] + ends[:, :, None, :2]
        z_mm = np.repeat(np.minimum(ends[:, :, 2], self._eye[2] * 0.6), 4)
        outlines = self.view.drawn(self.scene.board, around.reshape(-1, 2), z_mm)
        return list(zip(seen, outlines.reshape(-1, 8, 2), strict=True))

    def _draw_tubes(self, outlined: list[tuple[Tube, Floats]], rect: Rect) -> tuple[Plane, Plane]:
        """Encoded colours (h, w, 3), as far as they cover, and that cover (h, w) of all tubes within a region."""
        left, top, right, bottom = rect
        width = right - left
        colours = np.zeros(((bottom - top) * width, 3), np.float32)
        cover = np.zeros((bottom - top) * width, np.float32)
        corner = self._corner[top:bottom, left:right].reshape(-1, 1)
        for tube, outline in outlined:
            x0, y0, x1, y1 = self._bounds(outline)
            x0, y0, x1, y1 = max(x0, left), max(y0, top), min(x1, right), min(y1, bottom)
            if x0 >= x1 or y0 >= y1:
                continue
            near = np.zeros((y1 - y0, x1 - x0), np.uint8)
            cv2.fillConvexPoly(near, cv2.convexHull(np.rint(outline - (x0, y0)).astype(np.int32)), 1)
            row, column = np.divmod(np.flatnonzero(near).astype(np.int32), x1 - x0)
            if not len(row):
                continue
            place = (row + (y0 - top)) * width + column + (x0 - left)
            light, alpha = self._draw_tube(tube, self._rays_through(column + x0, row + y0))
            encoded = self._encoded(light, corner.take(place, axis=0))
            under = colours.take(place, axis=0)
            encoded -= under
            encoded *= alpha[:, None]
            encoded += under
            colours[place] = encoded
            cover[place] = np.maximum(cover.take(place), alpha)
        return colours.reshape(bottom - top, width, 3), cover.reshape(bottom - top, width)

    def _draw_tube(self, tube: Tube, rays: Vector) -> tuple[Plane, Plane]:
        """Light (n, 3) and cover (n,) of one tube: each ray's nearest approach to its axis."""
        x, y, z = rays
        axis = [b - a for a, b in zip(tube.start, tube.end, strict=True)]
        start = [a - e for a, e in zip(tube.start, self._eye, strict=True)]
        length = max(math.sqrt(sum(k * k for k in axis)), 1e-6)
        axis = [k / length for k in axis]
        along = axis[0] * x + axis[1] * y + axis[2] * z
        start_along_ray = start[0] * x + start[1] * y + start[2] * z
        start_along_axis = sum(a * s for a, s in zip(axis, start, strict=True))
        share = (along * start_along_ray - start_along_axis) / np.maximum(1 - along**2, 1e-6)
        share = np.clip(share, 0, length)
        reach = start_along_ray + share * along
        off = [reach * ray - (s + share * a) for ray, s, a in zip((x, y, z), start, axis, strict=True)]
        radius = tube.start_mm + (tube.end_mm - tube.start_mm) * share / length
        away = np.sqrt(off[0] ** 2 + off[1] ** 2 + off[2] ** 2)
        pixel_mm = np.maximum(reach, 1.0) / self.view.focal_px()
        alpha = np.clip((radius - away) / pixel_mm + 0.5, 0, 1).astype(np.float32)
        towards = np.sqrt(np.clip(1 - (away / radius) ** 2, 0, 1))
        normal = [o / radius - towards * ray for o, ray in zip(off, (x, y, z), strict=True)]
        facing = np.zeros_like(x)
        folds = 1 + tube.folds * np.sin(share * 0.21 + 2 * np.sin(share * 0.05 + off[0] * 0.08))
        room = self.scene.room
        light = np.stack([np.full_like(x, room.ambient[k] * tube.colour[k]) for k in (2, 1, 0)], axis=-1)
        light *= (0.6 + 0.4 * normal[2])[..., None]
        for lamp in room.lamps:
            place = self._lamp_mm(lamp)
            to_lamp = [p - e - reach * ray for p, e, ray in zip(place, self._eye, (x, y, z), strict=True)]
            far = np.sqrt(sum(k * k for k in to_lamp))
            facing = np.clip(sum(n * k for n, k in zip(normal, to_lamp, strict=True)) / far, 0, 1)
            facing = facing * (to_lamp[2] / far) * (1000 / far) ** 2
            for channel, k in enumerate((2, 1, 0)):
                light[..., channel] += facing * lamp.light[k] * tube.colour[k]
        return np.asarray(light * folds[..., None], dtype=np.float32), alpha

    def _arm_shadows(self, arms: tuple[Arm, ...]) -> Iterable[tuple[Rect, Plane]]:
        """Regions, and what share of their (encoded) light the arms leave there."""
        room = self.scene.room
        if not room.lamps:
            return
        lamp = room.lamps[0]
        place = self._lamp_mm(lamp)
        coarse = 8
        width, height = self.view.size_wh
        # On a coarse grid of points of the slab's plane: soft shadows need no more.
        x_px, y_px = np.meshgrid(np.arange(0, width + coarse, coarse), np.arange(0, height + coarse, coarse))
        points = self._calibration.board_from_px(np.column_stack([x_px.ravel(), y_px.ravel()])).astype(np.float32)
        hidden = arms_shadow(points[:, 0].copy(), points[:, 1].copy(), arms, place, lamp.radius_mm)
        # What the first lamp's shadow takes away.
        share = max(lamp.light) / (sum(max(one.light) for one in room.lamps) + max(room.ambient))
        kept = ((1 - share * hidden) ** (1 / GAMMA)).reshape(x_px.shape)
        touched = np.argwhere(kept < 0.995)
        if not len(touched):
            return
        (top, left), (bottom, right) = touched.min(axis=0), touched.max(axis=0) + 1
        top, left = max(top - 1, 0), max(left - 1, 0)
        bottom, right = min(bottom + 1, kept.shape[0] - 1), min(right + 1, kept.shape[1] - 1)
        rect = (left * coarse, top * coarse, min(right * coarse, width), min(bottom * coarse, height))
        grid_x, grid_y = np.meshgrid(
            np.arange(rect[0], rect[2], dtype=np.float32) / coarse,
            np.arange(rect[1], rect[3], dtype=np.float32) / coarse,
        )
        yield rect, np.asarray(cv2.remap(kept.astype(np.float32), grid_x, grid_y, cv2.INTER_LINEAR))

    def _lamp_mm(self, lamp: Lamp) -> Point:
        """Where a lamp hangs, in board millimetres."""
        x, y, z = lamp.place_mm
        return self.scene.board.width_mm / 2 + x, self.scene.board.length_mm / 2 + y, z


def _overlap(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _joined(rects: list[Rect]) -> list[Rect]:
    """The regions, with those that overlap widely made one."""
    left = [rect for rect in rects if rect[0] < rect[2] and rect[1] < rect[3]]
    joined: list[Rect] = []
    while left:
        rect = left.pop()
        for other in left:
            both = min(rect[0], other[0]), min(rect[1], other[1]), max(rect[2], other[2]), max(rect[3], other[3])
            if _area(both) < 1.05 * (_area(rect) + _area(other)) and _overlap(rect, other):
                left.remove(other)
                left.append(both)
                break
        else:
            joined.append(rect)
    return joined


def _area(rect: Rect) -> int:
    return (rect[2] - rect[0]) * (rect[3] - rect[1])
