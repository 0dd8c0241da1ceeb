"""The table of `companion demo --game magestone`: a printed board under a usual webcam, and the hands of its players.

What is to be done is told to the hands, one thing after another; when they go on is for the players to say.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from hardware_sims.arms import Arm, tubes
from hardware_sims.disks import Point
from hardware_sims.materials import Rgb
from hardware_sims.token_hands import Deed, do
from hardware_sims.tokens import Cell, Picture, Token, TokenTable, project, render
from hardware_sims.view import View
from vision.board import Image

VIEW = View((1280, 720), fov_x_deg=50.0, tilt_deg=12.0, azimuth_deg=-90.0, distance_mm=860.0, roll_deg=1.0)
_SKINS: tuple[Rgb, ...] = ((0.62, 0.40, 0.30), (0.30, 0.17, 0.11), (0.52, 0.33, 0.24), (0.70, 0.48, 0.37))
_SLEEVES: tuple[Rgb, ...] = ((0.42, 0.10, 0.08), (0.12, 0.16, 0.30), (0.10, 0.28, 0.16), (0.45, 0.36, 0.08))
_OUT = ((0.5, -0.75), (1.75, 0.5), (0.5, 1.75), (-0.75, 0.5))
"""Where a seat's hand rests, out of the picture, in boards from the corner beside mark 0."""
_REACH_S, _CARRY_S = 0.6, 0.7
_FINGERS_MM = 25.0
_NOISE_LEVELS = 1.5
_NOISES = 8
_GAMMA = 2.2


@dataclass(frozen=True, slots=True)
class Told:
    """What hands are told: deeds of one seat, or a table that is laid out anew; nothing yet where it is empty."""

    seat: int = 0
    deeds: tuple[Deed, ...] = ()
    anew: TokenTable | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One frame's truth."""

    t_s: float
    things: tuple[Token, ...]
    arms: tuple[Arm, ...] = ()


class TokensEye:
    """Takes pictures of tables of tokens from one view: each arrangement is drawn once, arms and noise go over it."""

    def __init__(self, view: View = VIEW, seed: int = 0) -> None:
        self._view = view
        self._table = TokenTable()
        self._drawn: tuple[tuple[Token, ...], Image] | None = None
        rng = np.random.default_rng(seed)
        width, height = view.size_wh
        self._noise = rng.normal(0, _NOISE_LEVELS, (_NOISES, height, width, 1)).astype(np.float32)
        self._frame = 0

    def read(self, things: tuple[Token, ...], arms: tuple[Arm, ...], _t_s: float) -> Image | None:
        """The next frame, blue first."""
        if self._drawn is None or self._drawn[0] != things:
            still = Picture(noise_levels=0.0, jpeg_quality=None)
            self._drawn = things, render(TokenTable.holding(things), self._view, picture=still)
        self._frame += 1
        image = self._drawn[1].copy()
        for arm in arms:
            self._draw(image, arm)
        noisy = image + self._noise[self._frame % _NOISES]
        return np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)

    def _draw(self, image: Image, arm: Arm) -> None:
        """Lays an arm over the picture, its tubes as thick lines."""
        board = self._table.board
        for tube in tubes(arm):
            ends = [project(board, self._view, [end[:2]], end[2])[0] for end in (tube.start, tube.end)]
            beside = project(board, self._view, [(tube.end[0] + 10.0, tube.end[1])], tube.end[2])[0]
            pixels_mm = float(np.hypot(*(beside - ends[1]))) / 10
            red, green, blue = (255 * value ** (1 / _GAMMA) for value in tube.colour)
            start_px, end_px = (tuple(round(float(value)) for value in end) for end in ends)
            width_px = max(2, round((tube.start_mm + tube.end_mm) * pixels_mm))
            cv2.line(image, start_px, end_px, (blue, green, red), width_px, cv2.LINE_AA)


@dataclass(slots=True)
class TokensPlayers:
    """Hands that do what they are told at one table; deterministic by what they are told."""

    ask: Callable[[], Told]
    """What to do now; asked again and again while there is nothing."""
    fps: float = 15.0
    table: TokenTable = field(default_factory=TokenTable)
    _n: int = field(default=0, init=False)

    def play(self) -> Iterator[Moment]:
        """What happens at the table, moment by moment, without end."""
        while True:
            told = self.ask()
            if told.anew is not None:
                self.table = told.anew
            for deed in told.deeds:
                yield from self._do(deed, told.seat)
            yield self._moment()

    def _do(self, deed: Deed, seat: int) -> Iterator[Moment]:
        """A hand comes in, takes what it takes, lays it where it goes, and leaves."""
        out = self._out(seat)
        hand = out
        if deed.start is not None:
            yield from self._reach(seat, hand, self._over(deed.start), _REACH_S)
            hand = self._over(deed.start)
            do(self.table, replace(deed, end=None))
        if deed.end is not None:
            yield from self._reach(seat, hand, self._over(deed.end), _CARRY_S)
            hand = self._over(deed.end)
            do(self.table, replace(deed, start=None))
        yield from self._reach(seat, hand, out, _REACH_S)

    def _reach(self, seat: int, start: Point, end: Point, seconds: float) -> Iterator[Moment]:
        frames = max(2, round(seconds * self.fps))
        for frame in range(1, frames + 1):
            share = frame / frames
            share = share * share * (3 - 2 * share)
            x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            yield self._moment(self._arm(seat, (x, y, z + 30 * math.sin(math.pi * share))))

    def _arm(self, seat: int, tip: Point) -> Arm:
        # Seen from above with y downwards, so that a seat's elbow lies towards its own edge.
        return Arm(tip, (-90.0, 0.0, 90.0, 180.0)[seat], _SKINS[seat], _SLEEVES[seat], 45.0, 0.4)

    def _moment(self, *arms: Arm) -> Moment:
        self._n += 1
        return Moment(self._n / self.fps, self.table.tokens(), arms)

    def _over(self, cell: Cell) -> Point:
        side_mm = self.table.board.square_mm
        return (cell[1] + 0.5) * side_mm, (cell[0] + 0.5) * side_mm, _FINGERS_MM

    def _out(self, seat: int) -> Point:
        side_mm = self.table.board.square_mm * self.table.board.columns
        x, y = _OUT[seat]
        return x * side_mm, y * side_mm, 90.0
