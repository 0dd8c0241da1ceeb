"""Two people who play on a table of stacks: their hands lay pieces, lift stacks and drop pieces on their way.

What they play is told to them move by move, as it is written down; when they go on is for the referee to say.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardware_sims.arms import Arm
from hardware_sims.disks import Point
from hardware_sims.materials import Rgb
from hardware_sims.squares import Piece
from hardware_sims.stacks import StacksTable

_AWAY_MM = 260.0
"""Fingertips are out of the picture this far beyond the board's edge."""
_LIFT_MM = 45.0
_FINGERS_MM = 14.0
"""Fingertips above what they hold."""


@dataclass(frozen=True, slots=True)
class Mover:
    """How one player plays; rates are shares of the moves after which it happens."""

    reaches_over: float = 0.1
    """Puts a hand over the board between moves and changes nothing."""
    reaches_in: float = 0.0
    """Holds a hand over the board just when a piece has been laid."""
    skin: Rgb = (0.62, 0.40, 0.30)
    sleeve: Rgb = (0.12, 0.16, 0.30)


@dataclass(frozen=True, slots=True)
class Moment:
    """One frame's truth."""

    n: int
    t_s: float
    things: tuple[Piece, ...]
    """The pieces, also those in a hand."""
    arms: tuple[Arm, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What players hear: the next move, "clear" where the board is to be cleared, or nothing yet."""

    move: str | None = None
    player: str = "a"
    clear: bool = False


@dataclass(slots=True)
class StacksPlayers:
    """Plays what it is told, game after game, on one table; deterministic by its seed and by what it is told."""

    table: StacksTable
    ask: Callable[[], Told]
    """What to do now; asked again and again while there is nothing."""
    people: tuple[Mover, Mover] = (Mover(), Mover(skin=(0.30, 0.17, 0.11), sleeve=(0.42, 0.10, 0.08)))
    seed: int = 0
    fps: float = 15.0
    pause_s: float = 1.2
    """They think at least so long."""
    _rng: np.random.Generator = field(init=False)
    _n: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def play(self) -> Iterator[Moment]:
        """What happens at the table, moment by moment, without end."""
        yield from self._wait(self.pause_s)
        while True:
            told = self.ask()
            if told.clear:
                yield from self._clear()
            elif told.move is not None:
                yield from self._move(told.move, told.player)
                yield from self._wait(self.pause_s)
            else:
                yield self._moment()

    def _move(self, move: str, player: str) -> Iterator[Moment]:
        person = self.people["ab".index(player)]
        if self._rng.random() < person.reaches_over:
            yield from self._reach_over(player)
        before = self.table.pieces()
        self.table.play(move)
        after = self.table.pieces()
        lifted = [piece for piece in before if piece not in after and _same_kind_moved(piece, after)]
        still = tuple(piece for piece in before if piece in after or piece not in lifted)
        # The lowest of what is carried falls first.
        falling = [piece for piece in after if piece not in before]
        laid = falling if not lifted else _fallen(lifted, falling)
        start = lifted[0] if lifted else None
        hand = self._outside(player, (start or laid[0]).x_mm)
        if start is None:
            held = laid
        else:
            reach = (start.x_mm, start.y_mm, lifted[-1].z_mm + _FINGERS_MM)
            yield from self._carry(player, hand, reach, 0.6, before, ())
            hand, held = reach, laid
        down: tuple[Piece, ...] = still
        for index, piece in enumerate(laid):
            above = (piece.x_mm, piece.y_mm, piece.z_mm + _LIFT_MM)
            yield from self._carry(player, hand, above, 0.5 if index or start else 0.7, down, tuple(held[index:]))
            down, hand = (*down, piece), above
        if self._rng.random() < person.reaches_in:
            yield from self._hold(player, hand, 1.5)
        yield from self._carry(player, hand, self._outside(player, hand[0]), 0.6, after, ())

    def _carry(
        self,
        player: str,
        start: Point,
        end: Point,
        seconds: float,
        lying: tuple[Piece, ...],
        held: tuple[Piece, ...],
    ) -> Iterator[Moment]:
        """Moves a hand, with these pieces under its fingers."""
        frames = max(2, round(seconds * self.fps))
        for frame in range(1, frames + 1):
            share = frame / frames
            share = share * share * (3 - 2 * share)
            x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            tip = (x, y, z + 30 * math.sin(math.pi * share))
            low_mm = min((piece.z_mm for piece in held), default=0.0)
            carried = (
                replace(piece, x_mm=x, y_mm=y, z_mm=max(tip[2] - _FINGERS_MM, 0.0) + piece.z_mm - low_mm)
                for piece in held[:1]
            )
            yield self._moment((*lying, *carried), (self._arm(player, tip),))

    def _reach_over(self, player: str) -> Iterator[Moment]:
        x_mm, y_mm = (float(self._rng.uniform(0.2, 0.8)) * side for side in self._size_mm)
        outside = self._outside(player, x_mm)
        lying = self.table.pieces()
        yield from self._carry(player, outside, (x_mm, y_mm, 60.0), 0.6, lying, ())
        yield from self._hold(player, (x_mm, y_mm, 60.0), 0.8)
        yield from self._carry(player, (x_mm, y_mm, 60.0), outside, 0.6, lying, ())

    def _hold(self, player: str, tip: Point, seconds: float) -> Iterator[Moment]:
        for _ in range(max(1, round(seconds * self.fps))):
            # Nobody holds quite still.
            x, y, z = (value + float(self._rng.normal(0, 0.6)) for value in tip)
            yield self._moment(arms=(self._arm(player, (x, y, z)),))

    def _clear(self) -> Iterator[Moment]:
        """Both sweep their half of the board."""
        wide, long = self._size_mm
        for player, y_mm in (("a", 0.25 * long), ("b", 0.75 * long)):
            outside = self._outside(player, wide / 2)
            yield from self._carry(player, outside, (wide / 2, y_mm, 30.0), 0.6, self.table.pieces(), ())
            self.table.clear((0.0, long / 2) if player == "a" else (long / 2, long))
            yield from self._carry(player, (wide / 2, y_mm, 30.0), outside, 0.6, self.table.pieces(), ())
        yield from self._wait(self.pause_s)

    def _wait(self, seconds: float) -> Iterator[Moment]:
        for _ in range(round(seconds * self.fps)):
            yield self._moment()

    def _moment(self, things: tuple[Piece, ...] | None = None, arms: tuple[Arm, ...] = ()) -> Moment:
        self._n += 1
        return Moment(self._n, self._n / self.fps, self.table.pieces() if things is None else things, arms)

    def _arm(self, player: str, tip: Point) -> Arm:
        person, (wide, _) = self.people["ab".index(player)], self._size_mm
        # Elbows hang beside the body, which sits in the middle of the board's side.
        lean_deg = (tip[0] - wide / 2) / (wide / 2) * 14
        return Arm(tip, -90 + lean_deg if player == "a" else 90 - lean_deg, person.skin, person.sleeve, 45.0, 0.4)

    def _outside(self, player: str, x_mm: float) -> Point:
        return x_mm, -_AWAY_MM if player == "a" else self._size_mm[1] + _AWAY_MM, 90.0

    @property
    def _size_mm(self) -> tuple[float, float]:
        return self.table.board.width_mm, self.table.board.length_mm


def _same_kind_moved(piece: Piece, after: tuple[Piece, ...]) -> bool:
    """Whether a piece that lies no more where it lay lies elsewhere: a wall that was flattened does not."""
    return any((piece.kind, piece.shade, piece.colour) == (one.kind, one.shade, one.colour) for one in after)


def _fallen(lifted: list[Piece], fell: list[Piece]) -> list[Piece]:
    """What was lifted where it lies now, in the order in which it was dropped."""
    places = {(piece.kind, piece.shade, piece.colour): piece for piece in fell}
    return [places[piece.kind, piece.shade, piece.colour] for piece in lifted]
