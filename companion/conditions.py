"""What is the matter with a camera's pictures while the board is watched, in sentences with a remedy.

Some of it shows in one picture, some only beside what was usual at this table, which is learned as long as nothing is
the matter. A sentence comes and goes when two of three looks, a second apart, say so: hands pass by sooner.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from vision.board import Floats, Image
from vision.calibration import Calibration
from vision.quality import block_levels, blockiness, noise_levels, quality

_EVERY_S = 1.0
_WINDOW_S = 6.0
_LEARN = 0.1
"""How much of a look is taken into what is usual."""
_LEAST_FRAMES = 12
_STARTS_S = 1.5
"""So long a camera that begins, or begins anew, may take to find its exposure."""

_DARK, _BURNT = 50.0, 0.15
"""Mean level below which a picture is too dark at any table; share of it that is burnt out."""
_DARKER = -0.3
"""Logarithm of the mean level beside the usual."""
_LEAST_SHARP, _LESS_SHARP = 0.35, 0.87
"""At any table, and as a share of the usual."""
_NOISE = 1.4
"""In levels; packing as JPEG takes more than half of it away. Cameras by day have up to 1."""
_BLOCKY, _BLOCKIER = 2.0, 1.3
"""At any table (JPEG at quality 86 has up to 1.8), and beside the usual."""
_SUDDENLY = -0.4
"""Logarithm of the mean level from one picture to the next."""
_FLICKER, _HUNTING = 0.005, 0.12
"""From picture to picture, and within some seconds; logarithms of the mean level."""
_TINT, _SHADING = 0.1, 0.025
"""Changes of the colours among each other and of the light's distribution, logarithms."""
_LOST_SHARE, _WHOLE, _UNEVEN_SHARE = 0.2, 0.2, 0.15
"""Pictures are lost where such a share of them come two or more whole times of the usual later; a computer that is
merely busy takes them at any time."""
_SLANT_DEG, _ASKEW_DEG = 25.0, 15.0
_RESIDUAL_PX, _RESIDUAL_SHARE = 0.25, 0.25 / 1280
"""What the board's places are off in a picture, and as a share of its width; a lens that bends lines is off by more."""
_TURNED_TILT_DEG, _TURNED_DEG = 5.0, 120.0
"""A camera that hangs more aslant than the first sees what is near it at the bottom of its picture; turned on its head
it is off by more than the second."""
_KNOCK_PX = 3.0
_HAPPENED_S = 8.0
"""So long it is told what happened at one moment."""

_WORDS = {
    "dark": "the picture is dark: give more light",
    "darker": "the picture is darker than before: give more light, or wait for the camera",
    "burnt": "parts of the picture are burnt out: lower the exposure, or move the lamp that glares",
    "blurred": "the picture is blurred: focus the camera on the board, and wipe the lens",
    "noisy": "the picture is noisy: give more light",
    "packed": "the pictures are packed too tightly: raise the camera's quality, or its share of the network",
    "flicker": "the light flickers: take a lamp that does not, or another rate of pictures",
    "hunting": "the camera's exposure goes up and down: fix it in the camera's settings",
    "tint": "the light has another colour than before: the colours of the pieces are harder to tell",
    "shading": "the light falls otherwise than before: shadows or glare may hide pieces",
    "lost": "pictures are lost on the way: give the camera a port of its own, and the computer less to do",
    "slant": "the camera looks at a steep slant: hang it more above the board",
    "askew": "the board lies askew in the picture: turn the camera",
    "turned": "the picture stands on its head: turn it in the camera's settings, or say which side player A sits on",
    "mirrored": "the picture is mirrored, by what the sensors tell: switch that off in the camera's settings",
    "smeared": "what moves is smeared: shorten the camera's exposure, and give more light",
    "lens": "the lens bends straight lines: places near the corners are less exact, hang the camera higher",
    "dimmed": "the picture went dark all at once: see to the plugs of the camera and the lamp if that comes again",
    "knocked": "the camera was knocked: the board is found again",
}


class Conditions:
    """The pictures of one camera over one board. Times are the pictures', in seconds."""

    def __init__(self, *, lens: bool = True) -> None:
        """`lens`: what the board's places are off tells of the lens."""
        self._lens = lens
        self._usual: Floats | None = None
        """What `block_levels` are usually."""
        self._usual_sharp = self._usual_blocky = 0.0
        self._began_s: float | None = None
        self._gains: deque[tuple[float, float]] = deque()
        """When each of the last pictures was taken, and how bright it was beside the usual."""
        self._looked_s = -math.inf
        self._said: deque[frozenset[str]] = deque(maxlen=3)
        self._stood: Calibration | None = None
        self._happened_s: dict[str, float] = {}

    def after(
        self, t_s: float, image_bgr: Image, calibration: Calibration | None, besides: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """What is the matter after one more picture, in which the board is where the calibration has it, if found.

        `besides` names what is known from elsewhere: "mirrored" by sensors, "smeared" by what moved.
        """
        self._stand(t_s, calibration)
        if self._began_s is None:
            self._began_s = t_s
        if t_s - self._began_s < _STARTS_S:
            return ()
        blocks = block_levels(image_bgr)
        if self._usual is None:
            self._usual = blocks
        gain = float(np.median((blocks - self._usual).mean(axis=2)))
        if self._gains and gain < _DARKER:
            before_s, before = self._gains[-1]
            if t_s - before_s < _EVERY_S and gain - before < _SUDDENLY:
                self._happened_s["dimmed"] = t_s
        self._gains.append((t_s, gain))
        while t_s - self._gains[0][0] > _WINDOW_S:
            self._gains.popleft()
        if t_s - self._looked_s >= _EVERY_S and len(self._gains) >= _LEAST_FRAMES:
            self._looked_s = t_s
            self._look(image_bgr, blocks, self._usual, calibration)
        known = {*besides, *(name for name, at_s in self._happened_s.items() if t_s - at_s < _HAPPENED_S)}
        told = [name for name in _WORDS if name in known or sum(name in said for said in self._said) >= 2]
        return tuple(_WORDS[name] for name in told)

    def _stand(self, t_s: float, calibration: Calibration | None) -> None:
        """Notices a camera that stands elsewhere: what was usual was of another view."""
        before = self._stood
        if calibration is None or calibration is before:
            return
        self._stood = calibration
        if before is None or before.size_wh != calibration.size_wh:
            return
        width, height = calibration.size_wh
        there = before.board_from_px(np.array([[0, 0], [width, height]], dtype=np.float64))
        moved = calibration.project(there) - before.project(there)
        if float(np.abs(moved).max()) > _KNOCK_PX:
            self._happened_s["knocked"] = t_s
            self._usual, self._usual_sharp, self._usual_blocky = None, 0.0, 0.0
            self._gains.clear()

    def _look(self, image_bgr: Image, blocks: Floats, usual: Floats, calibration: Calibration | None) -> None:
        found = quality(image_bgr)
        blocky = blockiness(image_bgr)
        self._usual_sharp = self._usual_sharp or found.sharpness
        self._usual_blocky = self._usual_blocky or blocky
        now = frozenset(
            (
                *_of_picture(found.brightness, found.burnt, noise_levels(image_bgr)),
                *(["packed"] if blocky > min(_BLOCKY, max(1.0, self._usual_blocky) * _BLOCKIER) else []),
                *self._beside_the_usual(found.sharpness, blocks - usual),
                *_of_times([t_s for t_s, _ in self._gains]),
                *([] if calibration is None else _of_camera(calibration, lens=self._lens)),
            )
        )
        if "blurred" in now:
            # Rims and lines are found less exactly then.
            now -= {"lens"}
        self._said.append(now)
        # A steep or askew view is no reason not to know what is usual.
        if not now - {"slant", "askew", "turned", "lens", "lost"}:
            self._usual = usual + _LEARN * (blocks - usual)
            self._usual_sharp += _LEARN * (found.sharpness - self._usual_sharp)
            self._usual_blocky += _LEARN * (blocky - self._usual_blocky)

    def _beside_the_usual(self, sharpness: float, change: Floats) -> Iterator[str]:
        gains = np.array([gain for _, gain in self._gains])
        if sharpness < max(_LEAST_SHARP, _LESS_SHARP * self._usual_sharp):
            yield "blurred"
        if float(np.median(gains[-_LEAST_FRAMES:])) < _DARKER:
            yield "darker"
        # A hand comes smoothly; the middle of the bends from picture to picture is the light's.
        if float(np.median(np.abs(np.diff(gains, 2)))) / 2 > _FLICKER:
            yield "flicker"
        smooth = np.convolve(gains, np.ones(5) / 5, mode="valid")
        if float(np.ptp(smooth)) > _HUNTING and float(np.median(np.abs(np.diff(smooth)))) > _HUNTING / len(smooth) / 2:
            yield "hunting"
        tint = np.median(change, axis=(0, 1))
        if float(np.ptp(tint)) > _TINT:
            yield "tint"
        shading = change.mean(axis=2)
        if 1.4826 * float(np.median(np.abs(shading - np.median(shading)))) > _SHADING:
            yield "shading"


def _of_picture(brightness: float, burnt: float, noise: float) -> Iterator[str]:
    if brightness < _DARK:
        yield "dark"
    if burnt > _BURNT:
        yield "burnt"
    if noise > _NOISE:
        yield "noisy"


def _of_times(times_s: list[float]) -> Iterator[str]:
    gaps = np.diff(times_s)
    times = gaps / max(float(np.quantile(gaps, 0.25)), 1e-6)
    whole = np.abs(times - np.round(times)) < _WHOLE
    if float(np.mean(whole & (times > 1.5))) > _LOST_SHARE and float(np.mean(~whole)) < _UNEVEN_SHARE:
        yield "lost"


def _of_camera(calibration: Calibration, *, lens: bool) -> Iterator[str]:
    width, height = calibration.size_wh
    x_mm, y_mm = calibration.board_from_px([[(width - 1) / 2, (height - 1) / 2]])[0]
    camera = calibration.camera_mm()
    aside_mm = math.hypot(camera[0] - x_mm, camera[1] - y_mm)
    tilt_deg = math.degrees(math.atan2(aside_mm, camera[2]))
    if tilt_deg > _SLANT_DEG:
        yield "slant"
    if tilt_deg > _TURNED_TILT_DEG:
        nearer = [x_mm + (camera[0] - x_mm) / aside_mm, y_mm + (camera[1] - y_mm) / aside_mm]
        right, down = calibration.project([nearer])[0] - ((width - 1) / 2, (height - 1) / 2)
        if abs(math.degrees(math.atan2(right, down))) > _TURNED_DEG:
            yield "turned"
    ends = calibration.project([[x_mm - 1, y_mm], [x_mm + 1, y_mm]])
    turn_deg = math.degrees(math.atan2(ends[1, 1] - ends[0, 1], ends[1, 0] - ends[0, 0]))
    if abs((turn_deg + 45) % 90 - 45) > _ASKEW_DEG:
        yield "askew"
    if lens and calibration.residual_px > max(_RESIDUAL_PX, _RESIDUAL_SHARE * width):
        yield "lens"
