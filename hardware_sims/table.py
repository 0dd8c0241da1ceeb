"""The physical truth of a table of disks, in millimetres: how they lie, and how flicks move them.

Disks on the slab's top are rigid circles under dry friction. One whose centre stays within `tipping_mm` of an empty
hole's centre for as long as it takes to fall goes in, so a fast disk passes over holes and a slow one does not. What
two dimensions cannot bring about, disks that come to stand at an angle or lean on others, happens at a set rate.
Everything repeats exactly by its seed.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pymunk

from hardware_sims.disks import (
    STANDARD,
    Disk,
    beside,
    flat,
    in_cell,
    leaning,
    nearest_cell,
    tilted,
    tipping_mm,
)
from vision.board import HolesBoard

STEP_S = 0.001
_FALL_S = 0.06
"""From tipping to lying in the hole."""
_MASS = 1.0
_STILL_MM_S = 1.0
_HARD_MM_S = 400.0
"""Disks that meet faster than this may climb, or knock others flat."""


@dataclass(frozen=True, slots=True)
class Physics:
    """What the disks and the slab are like."""

    slowing_mm_s2: float = 2300.0
    """By friction: the coefficient times gravity."""
    bounce: float = 0.55
    """Coefficient of restitution between disks."""
    unsupported_s: float = 0.017
    """How long a disk must hang over a hole to drop far enough that the far rim stops it."""
    tilt_rate: float = 0.03
    """Share of disks that come to stand at an angle in the hole they fall in."""
    lean_rate: float = 0.03
    """Share of hard collisions after which the one disk leans on the other."""
    beside_rate: float = 0.0
    """Share of the disks off the slab that stay in sight on the table."""


@dataclass(slots=True)
class _Piece:
    """One disk; it has a body while it is on the surface, or stands out of a hole."""

    disk: Disk
    body: pymunk.Body
    shape: pymunk.Circle
    over_s: float = 0.0
    """How long its centre has had nothing under it."""
    falling_s: float | None = None
    target: Disk | None = None
    """How it will lie once it has fallen."""


@dataclass(slots=True)
class Table:
    """One slab and the disks on it."""

    board: HolesBoard = STANDARD
    physics: Physics = field(default_factory=Physics)
    seed: int = 0
    gone: list[str] = field(default_factory=list)
    """Disks that left the slab, in order."""

    _rng: np.random.Generator = field(init=False)
    _space: pymunk.Space = field(init=False)
    _pieces: dict[str, _Piece] = field(default_factory=dict, init=False)
    _climbs: list[tuple[str, str]] = field(default_factory=list, init=False)
    """Pairs of disks that hit so hard that the first may come to lean on the second."""
    _pairs: int = field(default=0, init=False)
    """How many pairs have leant so far."""

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._space = pymunk.Space()
        self._space.collision_slop = 0.02
        self._space.on_collision(1, 1, pre_solve=self._meet, post_solve=self._hit)

    def disks(self) -> tuple[Disk, ...]:
        """All disks as they lie and move."""
        seen = []
        for piece in self._pieces.values():
            velocity = piece.body.velocity
            moves = velocity.length > _STILL_MM_S
            seen.append(replace(piece.disk, velocity_mm_s=(velocity.x, velocity.y)) if moves else piece.disk)
        return tuple(seen)

    def at_rest(self) -> bool:
        """Whether nothing moves."""
        # What was laid down last moves the longest.
        return all(
            piece.falling_s is None and piece.body.velocity.length <= _STILL_MM_S
            for piece in reversed(self._pieces.values())
        )

    def momentum(self) -> tuple[float, float]:
        """Of all disks together, in disk masses times mm/s."""
        velocities = [piece.body.velocity for piece in self._pieces.values()]
        return _MASS * sum(v.x for v in velocities), _MASS * sum(v.y for v in velocities)

    def put(self, disk: Disk) -> None:
        """Lays a disk down by hand."""
        body = pymunk.Body(_MASS, float("inf"))
        body.position = disk.x_mm, disk.y_mm
        shape = pymunk.Circle(body, self.board.disk_diameter_mm / 2)
        shape.elasticity = math.sqrt(self.physics.bounce)  # the two disks' values are multiplied
        shape.friction = 0.0
        shape.collision_type = 1
        if disk.name in self._pieces:
            raise ValueError(f"{disk.name} is on the table already")
        piece = _Piece(disk, body, shape)
        self._pieces[disk.name] = piece
        self._settle_body(piece)
        self._drop_unsupported()

    def lift(self, name: str) -> None:
        """Takes a disk off by hand."""
        piece = self._pieces[name]
        self._part(piece)
        self._take_body(piece)
        del self._pieces[name]
        self._drop_unsupported()

    def lay_flat(self, name: str) -> None:
        """Lays a disk that stands at an angle flat into its hole by hand."""
        piece = self._pieces[name]
        disk = piece.disk
        if disk.cell is not None:
            piece.disk = in_cell(self.board, name, disk.colour, disk.cell, (0.0, 0.0), disk.shade)
            self._settle_body(piece)

    def push(self, name: str, x_mm: float, y_mm: float) -> None:
        """Moves a disk on the slab's top by hand, through nothing else."""
        piece = self._pieces[name]
        piece.disk = replace(piece.disk, x_mm=x_mm, y_mm=y_mm)
        piece.body.position = x_mm, y_mm
        piece.body.velocity = 0, 0

    def let_go(self) -> None:
        """Nothing holds the disks any more: those with nothing under them fall."""
        self._drop_unsupported()

    def copy(self, seed: int) -> "Table":
        """A table that lies the same, to try things on."""
        other = Table(self.board, self.physics, seed)
        for disk in self.disks():
            other.put(disk)
        return other

    def flick(self, name: str, speed_mm_s: float, angle_deg: float) -> None:
        """Sends a disk that lies on the slab's top off, anticlockwise from x."""
        angle = math.radians(angle_deg)
        self._pieces[name].body.velocity = speed_mm_s * math.cos(angle), speed_mm_s * math.sin(angle)

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        for _ in range(round(seconds / STEP_S)):
            if self.at_rest():
                self._lean()
                return
            self._step()

    def run(self, at_most_s: float = 10.0) -> None:
        """Lets time pass until everything lies still."""
        for _ in range(round(at_most_s / STEP_S)):
            if self.at_rest():
                break
            self._step()
        self._lean()

    def _step(self) -> None:
        self._space.step(STEP_S)
        for piece in list(self._pieces.values()):
            if piece.falling_s is not None:
                self._fall(piece)
            elif piece.body.space is not None and piece.body.body_type == pymunk.Body.DYNAMIC:
                self._slide(piece)

    def _slide(self, piece: _Piece) -> None:
        velocity = piece.body.velocity
        speed = velocity.length
        if speed <= self.physics.slowing_mm_s2 * STEP_S:
            piece.body.velocity = 0, 0
        else:
            piece.body.velocity = velocity * (1 - self.physics.slowing_mm_s2 * STEP_S / speed)
        x, y = piece.body.position
        if (x, y) == (piece.disk.x_mm, piece.disk.y_mm) and speed == 0:
            return
        self._part(piece)
        piece.disk = replace(piece.disk, x_mm=x, y_mm=y)
        if piece.disk.lying == "beside":
            return
        if not (0 <= x <= self.board.width_mm and 0 <= y <= self.board.length_mm):
            self._leave(piece)
            return
        cell, away_mm = nearest_cell(self.board, x, y)
        if away_mm < tipping_mm(self.board) and not self._filled(cell):
            piece.over_s += STEP_S
            # A disk that has stopped there has all the time to fall.
            if piece.over_s >= self.physics.unsupported_s or piece.body.velocity.length <= _STILL_MM_S:
                self._tip(piece, cell)
        else:
            piece.over_s = 0.0

    def _drop_unsupported(self) -> None:
        """Starts the fall of every disk that lies still over an empty hole, as after one below it was taken out."""
        for piece in self._pieces.values():
            disk = piece.disk
            cell, away_mm = nearest_cell(self.board, disk.x_mm, disk.y_mm)
            still = piece.falling_s is None and piece.body.velocity.length <= _STILL_MM_S
            if disk.lying == "flat" and still and away_mm < tipping_mm(self.board) and not self._filled(cell):
                self._tip(piece, cell)

    def _tip(self, piece: _Piece, cell: tuple[int, int]) -> None:
        """Starts a disk's fall into a hole; it comes to lie against the wall that it ran into."""
        disk, velocity = piece.disk, piece.body.velocity
        self._part(piece)
        self._take_body(piece)
        if self._rng.random() < self.physics.tilt_rate:
            tilt_deg, azimuth_deg = float(self._rng.uniform(22, 50)), float(self._rng.uniform(0, 360))
            piece.target = tilted(self.board, disk.name, disk.colour, cell, tilt_deg, azimuth_deg, disk.shade)
        else:
            play_mm = (self.board.hole_diameter_mm - self.board.disk_diameter_mm) / 2
            share = float(self._rng.uniform(0.0, 0.95)) * play_mm / max(velocity.length, 1e-9)
            offset_mm = (velocity.x * share, velocity.y * share)
            piece.target = in_cell(self.board, disk.name, disk.colour, cell, offset_mm, disk.shade)
        piece.falling_s = 0.0
        piece.body.velocity = 0, 0

    def _fall(self, piece: _Piece) -> None:
        assert piece.falling_s is not None
        assert piece.target is not None
        piece.falling_s += STEP_S
        if piece.falling_s >= _FALL_S:
            piece.disk, piece.falling_s, piece.target = piece.target, None, None
            self._settle_body(piece)
            return
        left = STEP_S / (_FALL_S - piece.falling_s + STEP_S)
        now, end = piece.disk, piece.target
        piece.disk = replace(
            now,
            x_mm=now.x_mm + (end.x_mm - now.x_mm) * left,
            y_mm=now.y_mm + (end.y_mm - now.y_mm) * left,
            z_mm=now.z_mm + (end.z_mm - now.z_mm) * left,
            tilt_deg=now.tilt_deg + (end.tilt_deg - now.tilt_deg) * left,
            azimuth_deg=end.azimuth_deg,
            cell=end.cell,
        )

    def _leave(self, piece: _Piece) -> None:
        self.gone.append(piece.disk.name)
        if self._rng.random() >= self.physics.beside_rate:
            self.lift(piece.disk.name)
            return
        # On the table it meets nothing: the slab's side is behind it.
        self._take_body(piece)
        piece.shape.filter = pymunk.ShapeFilter(mask=0)
        x, y = piece.body.position
        clear_mm = self.board.disk_diameter_mm / 2 + 1
        x = min(max(x, 0), self.board.width_mm) + clear_mm * ((x > self.board.width_mm) - (x < 0))
        y = min(max(y, 0), self.board.length_mm) + clear_mm * ((y > self.board.length_mm) - (y < 0))
        piece.body.position = x, y
        piece.disk = beside(self.board, piece.disk.name, piece.disk.colour, x, y, piece.disk.shade)
        self._space.add(piece.body, piece.shape)

    def _meet(self, arbiter: pymunk.Arbiter, _space: pymunk.Space, _data: object) -> None:
        """Before a collision is solved: now and then the faster disk climbs the other, and they go on together."""
        first, second = (self._of(shape) for shape in arbiter.shapes)
        if {first.disk.lying, second.disk.lying} != {"flat"}:
            return
        upper, lower = sorted((first, second), key=lambda piece: -piece.body.velocity.length)
        pair = (upper.disk.name, lower.disk.name)
        hard = (upper.body.velocity - lower.body.velocity).length > _HARD_MM_S
        if arbiter.is_first_contact and hard and self._rng.random() < self.physics.lean_rate:
            self._climbs.append(pair)
        if pair in self._climbs or pair[::-1] in self._climbs:
            arbiter.restitution = 0.0

    def _hit(self, arbiter: pymunk.Arbiter, _space: pymunk.Space, _data: object) -> None:
        """After a collision: a hard one lays disks flat that stood at an angle in their holes."""
        if arbiter.total_impulse.length < _HARD_MM_S * _MASS / 2:
            return
        for piece in (self._of(shape) for shape in arbiter.shapes):
            disk = piece.disk
            if disk.lying == "tilted" and disk.cell is not None and piece.falling_s is None:
                piece.target = in_cell(self.board, disk.name, disk.colour, disk.cell, (0.0, 0.0), disk.shade)
                piece.falling_s = 0.0

    def _lean(self) -> None:
        """Brings about what hard collisions have promised, where there is room for it."""
        climbs, self._climbs = self._climbs, []
        for upper_name, lower_name in climbs:
            upper, lower = self._pieces.get(upper_name), self._pieces.get(lower_name)
            if upper is None or lower is None or {upper.disk.lying, lower.disk.lying} != {"flat"}:
                continue
            apart = math.hypot(upper.disk.x_mm - lower.disk.x_mm, upper.disk.y_mm - lower.disk.y_mm)
            if apart > 2.2 * self.board.disk_diameter_mm:
                continue
            towards = math.atan2(lower.disk.y_mm - upper.disk.y_mm, lower.disk.x_mm - upper.disk.x_mm)
            foot_mm = float(self._rng.uniform(0.55, 0.85)) * self.board.disk_diameter_mm
            disk, on = upper.disk, lower.disk
            leant = leaning(self.board, disk.name, disk.colour, on, math.degrees(towards), foot_mm, disk.shade)
            if self._room_to_lean(leant, on):
                upper.disk = leant
                # Seen from above the two overlap: they only push others, not each other.
                upper.shape.filter = lower.shape.filter = pymunk.ShapeFilter(group=self._pairs + 1)
                self._pairs += 1
                self._settle_body(upper)

    def _part(self, moved: _Piece) -> None:
        """Lays a leaning disk down as soon as it or its support moves or goes."""
        group = moved.shape.filter.group
        if group == 0:
            return
        for piece in self._pieces.values():
            if piece.shape.filter.group == group:
                piece.shape.filter = pymunk.ShapeFilter()
                if piece.disk.lying == "leaning":
                    disk = piece.disk
                    piece.disk = flat(self.board, disk.name, disk.colour, disk.x_mm, disk.y_mm, disk.shade)

    def _room_to_lean(self, disk: Disk, on: Disk) -> bool:
        board = self.board
        reach = board.disk_diameter_mm / 2
        away = math.radians(disk.azimuth_deg)
        foot_x, foot_y = disk.x_mm + reach * math.cos(away), disk.y_mm + reach * math.sin(away)
        on_wood = (
            nearest_cell(board, foot_x, foot_y)[1] > board.hole_diameter_mm / 2 + 1
            and 0 < foot_x < board.width_mm
            and 0 < foot_y < board.length_mm
        )
        others = [piece.disk for piece in self._pieces.values() if piece.disk.name not in (disk.name, on.name)]
        return on_wood and all(
            other.lying == "in_cell" or math.hypot(other.x_mm - disk.x_mm, other.y_mm - disk.y_mm) > 2 * reach
            for other in others
        )

    def _settle_body(self, piece: _Piece) -> None:
        """Gives a disk at rest the body that others run into: none once it is flush with the slab."""
        self._take_body(piece)
        proud_mm = self.board.disk_height_mm - self.board.slab_mm
        if piece.disk.lying == "in_cell" and proud_mm < 0.5:
            return
        if piece.disk.cell is not None:
            piece.body.body_type = pymunk.Body.STATIC
        piece.body.position = piece.disk.x_mm, piece.disk.y_mm
        self._space.add(piece.body, piece.shape)

    def _take_body(self, piece: _Piece) -> None:
        if piece.body.space is not None:
            self._space.remove(piece.body, piece.shape)

    def _filled(self, cell: tuple[int, int]) -> bool:
        return any(piece.disk.cell == cell for piece in self._pieces.values())

    def _of(self, shape: pymunk.Shape) -> _Piece:
        return next(piece for piece in self._pieces.values() if piece.shape is shape)
