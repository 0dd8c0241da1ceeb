"""Two people at the simulated table: they aim, flick, foul, reach over and carry out orders, frame by frame.

What they must know, the referee's orders and whose flick it is, is asked of a callback, and what they say goes to
another: the simulation knows nothing of how either is made. Time is the camera's: one moment a frame.
"""

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardware_sims.arms import Arm
from hardware_sims.disks import Disk, Point, flat, nearest_cell
from hardware_sims.materials import Rgb
from hardware_sims.table import Table

DISKS_EACH = 12
_TRIALS_SPEED_MM_S = (900.0, 1500.0)
_REACH_MM = 260.0
"""So far into the board a finger pushes a disk by mistake."""
_LONG_PATIENCE = 5
"""Times the usual patience, while the disk that is not counted lies in plain sight."""
_MOST_QUESTIONS = 12
"""One after another are answered before the game goes on."""
_AWAY_MM = 330.0
"""An arm's fingertips are out of the picture this far beyond the slab's end."""


@dataclass(frozen=True, slots=True)
class Person:
    """How one player plays; rates are shares of the flicks after which it happens."""

    skill: float = 0.6
    """0 flicks at random, 1 tries many flicks in mind and hits as meant."""
    skin: Rgb = (0.62, 0.40, 0.30)
    sleeve: Rgb = (0.12, 0.16, 0.30)
    lays_flat: float = 0.6
    """Lays a disk flat that stands at an angle in its hole."""
    reaches_over: float = 0.15
    """Puts a hand over the board between flicks and changes nothing."""
    illegal_flicks: float = 0.0
    """Pushes the disk over the launch line by finger; the other player says so."""
    second_touches: float = 0.0
    """Pushes the disk once more after it has come to rest; the other player says so."""
    out_of_turn: float = 0.0
    """Flicks when it is the other player's flick."""
    ignores_orders: float = 0.0
    """Leaves a disk on the board that has to come off."""
    touches_others: float = 0.0
    """Pushes another disk aside by finger while aiming; the other player says so."""
    lifts_early: float = 0.0
    """Takes off a disk that lies where it may not stay before the referee says so."""
    reaches_in: float = 0.0
    """Holds a hand over the board just when a disk has come to rest."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the referee asks people: one of the choices is true, in the referee's own words.

    Known are "stays" and "comes-off" for a disk near a launch line, "flick-lost" and "out-of-turn", "flick" and
    "by-hand", "a-disk" and "b-disk" for the one at the first of `places_mm`, and "camera-is-right" and
    "sensor-is-right" about the hole there. Any other choice names the disk at the same place of `places_mm`, and the
    last one a disk that is gone.
    """

    choices: tuple[str, ...]
    places_mm: tuple[tuple[float, float], ...] = ()
    felt: bool = False
    """Whether the sensor at the first place says that a disk lies in its hole, where the camera sees none; not, where
    it is the other way round."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the referee says just now."""

    game: int
    """Of the match, from 1; 0 before it knows of one."""
    flicks: int
    """How many it has counted in this game."""
    to_flick: str | None
    """Whose turn it is; None once the game is over."""
    remove: tuple[tuple[str, float, float], ...] = ()
    """Colour and place of each disk that has to come off."""
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One frame's truth."""

    n: int
    t_s: float
    disks: tuple[Disk, ...]
    arms: tuple[Arm, ...] = ()
    held: tuple[Disk, ...] = ()
    """Disks in a hand, above the table."""

    @property
    def things(self) -> tuple[Disk, ...]:
        """All that a camera sees of disks."""
        return (*self.disks, *self.held)


@dataclass(frozen=True, slots=True)
class Flicked:
    """The truth of one flick: who, with what, when it began and was over, and how all lay at rest before and after."""

    game: int
    n: int
    player: str
    disk: str
    illegal: bool
    frame: int
    disks: tuple[Disk, ...]
    began: int = 0
    before: tuple[Disk, ...] = ()
    out_of_turn: bool = False
    lifted: str = ""
    """The disk that was taken off as soon as it lay still, before anybody said so."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The truth of a game's end: how all lay when nobody had anything more to do."""

    game: int
    frame: int
    disks: tuple[Disk, ...]


def _to_nobody(_said: str) -> None:
    """Where nobody listens."""


@dataclass(slots=True)
class Players:
    """Plays game after game on one table; deterministic by its seed and by what the referee answers."""

    table: Table
    people: tuple[Person, Person] = (Person(), Person(sleeve=(0.35, 0.08, 0.07)))
    referee: Callable[[], Call] | None = None
    """None: they play on without one, by turns."""
    say: Callable[[str], None] = field(default=_to_nobody)
    """Hears "illegal-flick", "flick-lost", "end-game", "next-game", and the choice that answers a question."""
    seed: int = 0
    fps: float = 15.0
    pause_s: float = 0.5
    """Between what the referee says and what they do."""
    patience_s: float = 6.0
    """How long they wait for a ruling before they play on."""
    disks_each: int = DISKS_EACH
    """With fewer they end the game by saying so."""
    flicked: list[Flicked] = field(default_factory=list)
    """The truth so far."""
    finished: list[Finished] = field(default_factory=list)

    _rng: np.random.Generator = field(init=False)
    _n: int = field(default=0, init=False)
    _flicked_name: str = field(default="", init=False)
    _by_hand: bool = field(default=False, init=False)
    """Whether a hand has taken a disk off since the last flick."""
    _out_of_turn: bool = field(default=False, init=False)
    """Whether the last flick was the other player's by right."""
    _lifted: str = field(default="", init=False)
    """The disk that was taken off before the referee could say so."""

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def play(self, first: str = "a") -> Iterator[Moment]:
        """Games without end; who starts the later ones is the referee's to say, or else alternates."""
        game = 0
        while True:
            game += 1
            yield from self._game(game, first)
            yield from self._clear()
            self.say("next-game")
            yield from self._until(_is_to_flick)
            first = _other(first)

    def _game(self, game: int, player: str) -> Iterator[Moment]:
        yield from self._pause(1.0)
        used = {"a": 0, "b": 0}
        while sum(used.values()) < 2 * self.disks_each:
            call = self._call()
            if call is not None and call.to_flick is not None:
                # Who is to flick is the referee's to say.
                player = call.to_flick
            if used[player] == self.disks_each:
                player = _other(player)
            late = _other(player)
            person = self.people["ab".index(late)]
            self._out_of_turn = used[late] < self.disks_each and _happens(self._rng, person.out_of_turn)
            if self._out_of_turn:
                player = late
            used[player] += 1
            yield from self._turn(game, sum(used.values()), player, f"{player}{used[player]}")
            player = _other(player)
        if self.disks_each == DISKS_EACH:
            yield from self._until(_is_over)
        call = self._call()
        if call is not None and call.to_flick is not None:
            self.say("end-game")
            yield from self._until(_is_over)
        self.finished.append(Finished(game, self._n, self.table.disks()))

    def _turn(self, game: int, n: int, player: str, name: str) -> Iterator[Moment]:
        """A flick, and all that follows from it before the next one."""
        person = self.people["ab".index(player)]
        illegal = bool(self._rng.random() < person.illegal_flicks)
        call = self._call()
        counted = 0 if call is None else call.flicks
        began, before = self._n, self.table.disks()
        touched = yield from self._flick(player, name, illegal)
        illegal = illegal or touched
        self.table.run(0.0)
        if not illegal and _happens(self._rng, person.second_touches) and self._on_slab(name):
            illegal = yield from self._touch_again(player, name)
        self._flicked_name, self._by_hand = name, False
        after = self.table.disks()
        self.flicked.append(
            Flicked(game, n, player, name, illegal, self._n, after, began, before, self._out_of_turn, self._lifted)
        )
        if _happens(self._rng, person.reaches_in):
            yield from self._reach_over(_other(player))
        yield from self._until(_has_counted(counted + 1))
        if not self._is_counted(counted) and self._on_slab(name):
            # They see it lie there: they wait until the companion does too.
            yield from self._until(_has_counted(counted + 1), at_most_s=_LONG_PATIENCE * self.patience_s)
        call = self._call()
        if call is not None and call.question is None and call.flicks == counted and call.to_flick == player:
            self.say("flick-lost")
        yield from self._answer()
        if illegal:
            self.say("illegal-flick")
            yield from self._until(_answers, at_most_s=1.5)
            yield from self._answer()
        if self._rng.random() >= person.ignores_orders:
            yield from self._obey()
        for disk in self.table.disks():
            if disk.lying == "tilted" and self._rng.random() < person.lays_flat:
                yield from self._lay_flat(player, disk)
        if self._rng.random() < person.reaches_over:
            yield from self._reach_over(player)

    def _flick(self, player: str, name: str, illegal: bool) -> Generator[Moment, None, bool]:
        """An arm reaches in with a disk, aims, flicks, and leaves while the disk slides.

        Returns whether it touched another disk meanwhile.
        """
        board = self.table.board
        ahead = 1.0 if player == "a" else -1.0
        x_mm, speed_mm_s, angle_deg = yield from self._aim(player, name)
        start_y = 30.0 if player == "a" else board.length_mm - 30.0
        shade = float(np.clip(self._rng.normal(1, 0.04), 0.9, 1.1))
        # The fingertip rests behind the disk, which the hand carries in.
        tip = (x_mm, start_y - ahead * (board.disk_diameter_mm / 2 + 4), 8.0)
        disk = flat(board, name, player, x_mm, start_y, shade)
        yield from self._move(player, self._outside(player, x_mm), tip, 0.4, disk)
        self.table.put(disk)
        yield from self._hold(player, tip, 0.35)
        touched = False
        if _happens(self._rng, self.people["ab".index(player)].touches_others):
            touched = yield from self._touch_other(player, name, tip)
        way = (math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg)))
        if illegal:
            tip = yield from self._shove(player, name, tip, way)
        self.table.flick(name, speed_mm_s, angle_deg)
        followed = (tip[0] + way[0] * 12, tip[1] + way[1] * 12, tip[2])
        yield self._moment((self._arm(player, followed),))
        yield from self._move(player, followed, self._outside(player, x_mm), 0.3)
        self._lifted = ""
        early = _happens(self._rng, self.people["ab".index(player)].lifts_early)
        if early:
            yield from self._lift_early(player, name)
        while not self.table.at_rest():
            yield self._moment()
        return touched

    def _touch_other(self, player: str, name: str, tip: Point) -> Generator[Moment, None, bool]:
        """Pushes the nearest disk that lies on the surface a little aside, and comes back; whether there is one."""
        near = [disk for disk in self.table.disks() if disk.lying == "flat" and disk.name != name]
        near = [disk for disk in near if math.dist((disk.x_mm, disk.y_mm), tip[:2]) < _REACH_MM]
        if not near:
            return False
        disk = min(near, key=lambda disk: math.dist((disk.x_mm, disk.y_mm), tip[:2]))
        aside = 1.0 if disk.x_mm < self.table.board.width_mm / 2 else -1.0
        beside = (disk.x_mm - aside * (self.table.board.disk_diameter_mm / 2 + 4), disk.y_mm, 8.0)
        yield from self._move(player, tip, beside, 0.25)
        for step in range(1, 5):
            self.table.push(disk.name, disk.x_mm + aside * 2.5 * step, disk.y_mm)
            yield self._moment((self._arm(player, (beside[0] + aside * 2.5 * step, beside[1], 8.0)),))
        self.table.let_go()
        yield from self._move(player, beside, tip, 0.25)
        return True

    def _lift_early(self, player: str, name: str) -> Iterator[Moment]:
        """Who sits where a disk comes to rest short of a launch line takes it off at once, unasked."""
        board = self.table.board
        while not self.table.at_rest():
            yield self._moment()
        disk = next((disk for disk in self.table.disks() if disk.name == name), None)
        if disk is None or disk.lying != "flat":
            return
        if board.launch_line_mm <= disk.y_mm <= board.length_mm - board.launch_line_mm:
            return
        nearer = "a" if disk.y_mm < board.length_mm / 2 else "b"
        over = (disk.x_mm, disk.y_mm, 10.0)
        away = self._outside(nearer, disk.x_mm)
        yield from self._move(nearer, away, over, 0.14)
        self.table.lift(name)
        self._lifted = name
        yield from self._move(nearer, over, away, 0.4, disk)

    def _touch_again(self, player: str, name: str) -> Generator[Moment, None, bool]:
        """Pushes the disk once more by finger, away from its player; whether it lies so that one can."""
        disk = next(disk for disk in self.table.disks() if disk.name == name)
        if disk.lying != "flat":
            return False
        ahead = 1.0 if player == "a" else -1.0
        behind = (disk.x_mm, disk.y_mm - ahead * (self.table.board.disk_diameter_mm / 2 + 4), 8.0)
        away = self._outside(player, disk.x_mm)
        yield from self._move(player, away, behind, 0.35)
        for step in range(1, 4):
            self.table.push(name, disk.x_mm, disk.y_mm + ahead * 3.0 * step)
            yield self._moment((self._arm(player, (behind[0], behind[1] + ahead * 3.0 * step, 8.0)),))
        self.table.let_go()
        yield from self._move(player, behind, away, 0.35)
        while not self.table.at_rest():
            yield self._moment()
        return True

    def _on_slab(self, name: str) -> bool:
        return any(disk.name == name and disk.lying != "beside" for disk in self.table.disks())

    def _is_counted(self, counted: int) -> bool:
        call = self._call()
        return call is None or _has_counted(counted + 1)(call)

    def _shove(self, player: str, name: str, tip: Point, way: tuple[float, float]) -> Generator[Moment, None, Point]:
        """Pushes a disk past the launch line by finger; returns where the fingertip ends up."""
        for _ in range(4):
            disk = next(disk for disk in self.table.disks() if disk.name == name)
            self.table.push(name, disk.x_mm + way[0] * 16, disk.y_mm + way[1] * 16)
            tip = (tip[0] + way[0] * 16, tip[1] + way[1] * 16, tip[2])
            yield self._moment((self._arm(player, tip),))
        return tip

    def _aim(self, player: str, name: str) -> Generator[Moment, None, tuple[float, float, float]]:
        """Tries flicks in mind, one a frame; returns x, speed and angle of the best, as well as the hand can do it."""
        board, person = self.table.board, self.people["ab".index(player)]
        ahead_deg = 90.0 if player == "a" else -90.0
        best: tuple[float, tuple[float, float, float]] | None = None
        for trial in range(1 + round(person.skill * 7)):
            x_mm = float(self._rng.uniform(board.margin_mm, board.width_mm - board.margin_mm))
            speed_mm_s = float(self._rng.uniform(*_TRIALS_SPEED_MM_S))
            angle_deg = ahead_deg + float(self._rng.normal(0, 5))
            worth = self._worth(player, name, x_mm, speed_mm_s, angle_deg, trial)
            if best is None or worth > best[0]:
                best = worth, (x_mm, speed_mm_s, angle_deg)
            yield self._moment()
        assert best is not None
        x_mm, speed_mm_s, angle_deg = best[1]
        clumsy = 1.2 - person.skill
        return (
            x_mm,
            speed_mm_s * math.exp(float(self._rng.normal(0, 0.06)) * clumsy),
            angle_deg + float(self._rng.normal(0, 1.5)) * clumsy,
        )

    def _worth(self, player: str, name: str, x_mm: float, speed_mm_s: float, angle_deg: float, trial: int) -> float:
        """How good a flick would be: own disks far in, the opponent's not."""
        board = self.table.board
        mind = self.table.copy(trial)
        mind.put(flat(board, name, player, x_mm, 30.0 if player == "a" else board.length_mm - 30.0))
        mind.flick(name, speed_mm_s, angle_deg)
        mind.run(2.0)
        worth = 0.0
        for disk in mind.disks():
            mine = disk.colour == player
            along = disk.y_mm if disk.colour == "a" else board.length_mm - disk.y_mm
            if disk.cell is None:
                good = 0.2 * along / board.length_mm if board.launch_line_mm < along else 0.0
                good = good if along < board.length_mm - board.launch_line_mm else 0.0
            else:
                row = disk.cell[0] if disk.colour == "a" else board.rows + 1 - disk.cell[0]
                good = {1: 0.0, board.rows: 3.0}.get(row, 0.5 * row / board.rows)
            worth += good if mine else -good
        return worth

    def _obey(self) -> Iterator[Moment]:
        """Takes off what the referee orders off, one disk after another, until it is content."""
        for _ in range(4):
            call = self._call()
            if call is None or not call.remove:
                return
            for colour, x_mm, y_mm in call.remove:
                disk = self._nearest(colour, x_mm, y_mm)
                if disk is not None:
                    yield from self._take(colour, disk)
            yield from self._until(lambda call: not call.remove)

    def _take(self, player: str, disk: Disk) -> Iterator[Moment]:
        over = (disk.x_mm, disk.y_mm, 10.0)
        away = self._outside(player, disk.x_mm)
        yield from self._move(player, away, over, 0.45)
        yield from self._hold(player, over, 0.2)
        self.table.lift(disk.name)
        self._by_hand = True
        yield from self._move(player, over, away, 0.4, disk)

    def _lay_flat(self, player: str, disk: Disk) -> Iterator[Moment]:
        over = (disk.x_mm, disk.y_mm, 10.0)
        away = self._outside(player, disk.x_mm)
        yield from self._move(player, away, over, 0.45)
        self.table.lay_flat(disk.name)
        yield from self._hold(player, over, 0.3)
        yield from self._move(player, over, away, 0.4)
        yield from self._pause(self.pause_s)

    def _reach_over(self, player: str) -> Iterator[Moment]:
        board = self.table.board
        x_mm = float(self._rng.uniform(0.2, 0.8)) * board.width_mm
        y_mm = float(self._rng.uniform(0.15, 0.6)) * board.length_mm
        over = (x_mm, y_mm if player == "a" else board.length_mm - y_mm, 45.0)
        away = self._outside(player, x_mm)
        yield from self._move(player, away, over, 0.5)
        yield from self._hold(player, over, 0.4)
        yield from self._move(player, over, away, 0.5)
        yield from self._pause(0.6)

    def _clear(self) -> Iterator[Moment]:
        """Both players take their disks off after a game, a handful at a time."""
        yield from self._pause(2.0)
        board = self.table.board
        for player in ("a", "b", "a", "b"):
            near_a = [disk for disk in self.table.disks() if (disk.y_mm < board.length_mm / 2) == (player == "a")]
            if not near_a:
                continue
            middle = float(np.mean([disk.x_mm for disk in near_a]))
            reach_mm = 0.42 * board.length_mm
            over = (middle, reach_mm if player == "a" else board.length_mm - reach_mm, 14.0)
            away = self._outside(player, middle)
            yield from self._move(player, away, over, 0.5)
            for disk in near_a:
                self.table.lift(disk.name)
                yield from self._hold(player, over, 0.14)
            yield from self._move(player, over, away, 0.5)
        yield from self._pause(1.5)

    def _answer(self) -> Iterator[Moment]:
        """Answers what the referee asks, as it truly was."""
        for _ in range(_MOST_QUESTIONS):
            call = self._call()
            if call is None or call.question is None:
                return
            yield from self._pause(1.5)
            asked = call.question
            self.say(self.truth_of(asked))
            yield from self._until(_asks_other_than(asked))

    def truth_of(self, question: Question) -> str:
        """The choice that is true; players flick in turn, so what seems out of turn follows a flick nobody saw."""
        choices, places = question.choices, question.places_mm
        if "flick-lost" in choices:
            return "out-of-turn" if self._out_of_turn and "out-of-turn" in choices else "flick-lost"
        if "by-hand" in choices:
            return "by-hand" if self._by_hand else "flick"
        if "stays" in choices:
            return "stays" if self._past_line(*places[0]) else "comes-off"
        if "sensor-is-right" in choices:
            return "sensor-is-right" if self._lies_in_hole(*places[0]) is question.felt else "camera-is-right"
        if "a-disk" in choices:
            at_mm = places[0]
            there = min(self.table.disks(), key=lambda disk: math.dist((disk.x_mm, disk.y_mm), at_mm), default=None)
            return choices[0] if there is None else f"{there.colour}-disk"
        flicked = next((disk for disk in self.table.disks() if disk.name == self._flicked_name), None)
        if flicked is None or not places:
            return choices[-1]
        away = [math.hypot(x_mm - flicked.x_mm, y_mm - flicked.y_mm) for x_mm, y_mm in places]
        return choices[int(np.argmin(away))]

    def _past_line(self, x_mm: float, y_mm: float) -> bool:
        """Whether the disk there has its centre on or past the middle of the nearer launch line."""
        board = self.table.board
        disk = min(self.table.disks(), key=lambda disk: math.hypot(disk.x_mm - x_mm, disk.y_mm - y_mm))
        return min(disk.y_mm, board.length_mm - disk.y_mm) >= board.launch_line_mm

    def _lies_in_hole(self, x_mm: float, y_mm: float) -> bool:
        """Whether a disk lies in the hole there."""
        cell, _ = nearest_cell(self.table.board, x_mm, y_mm)
        return any(disk.cell == cell for disk in self.table.disks())

    def _nearest(self, colour: str, x_mm: float, y_mm: float) -> Disk | None:
        alike = [disk for disk in self.table.disks() if disk.colour == colour]
        return min(alike, key=lambda disk: math.hypot(disk.x_mm - x_mm, disk.y_mm - y_mm), default=None)

    def _until(self, content: Callable[[Call], bool], at_most_s: float | None = None) -> Iterator[Moment]:
        """Waits for the referee, but not for ever; without one, as long as it would take."""
        patience_s = self.patience_s if at_most_s is None else at_most_s
        waited = 0.0
        while waited < (1.2 if self.referee is None else patience_s):
            call = self._call()
            if call is not None and content(call):
                break
            yield self._moment()
            waited += 1 / self.fps
        yield from self._pause(self.pause_s)

    def _pause(self, seconds: float) -> Iterator[Moment]:
        for _ in range(round(seconds * self.fps)):
            yield self._moment()

    def _hold(self, player: str, tip: Point, seconds: float) -> Iterator[Moment]:
        for _ in range(max(1, round(seconds * self.fps))):
            # Nobody holds quite still.
            x, y, z = (value + float(self._rng.normal(0, 0.6)) for value in tip)
            yield self._moment((self._arm(player, (x, y, z)),))

    def _move(
        self, player: str, start: Point, end: Point, seconds: float, held: Disk | None = None
    ) -> Iterator[Moment]:
        """Moves an arm, with a disk under its fingertip where one is held."""
        ahead = 1.0 if player == "a" else -1.0
        frames = max(2, round(seconds * self.fps))
        for frame in range(1, frames + 1):
            share = frame / frames
            share = share * share * (3 - 2 * share)
            x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            tip = (x, y, z + 40 * math.sin(math.pi * share))
            carried = None if held is None else replace(held, x_mm=x, y_mm=y + ahead * 6, z_mm=tip[2] - 9)
            yield self._moment((self._arm(player, tip),), carried)

    def _moment(self, arms: tuple[Arm, ...] = (), held: Disk | None = None) -> Moment:
        self.table.advance(1 / self.fps)
        self._n += 1
        carried = () if held is None else (replace(held, cell=None, lying="held", tilt_deg=0.0),)
        return Moment(self._n, self._n / self.fps, self.table.disks(), arms, carried)

    def _arm(self, player: str, tip: Point) -> Arm:
        person = self.people["ab".index(player)]
        middle = self.table.board.width_mm / 2
        # Elbows hang beside the body, which sits in the middle of the slab's end.
        lean_deg = (tip[0] - middle) / middle * 14
        return Arm(tip, -90 + lean_deg if player == "a" else 90 - lean_deg, person.skin, person.sleeve, 45.0, 0.4)

    def _outside(self, player: str, x_mm: float) -> Point:
        board = self.table.board
        x_mm = board.width_mm / 2 + (x_mm - board.width_mm / 2) * 1.3
        return x_mm, -_AWAY_MM if player == "a" else board.length_mm + _AWAY_MM, 90.0

    def _call(self) -> Call | None:
        return None if self.referee is None else self.referee()


def _happens(rng: np.random.Generator, rate: float) -> bool:
    """Whether something of this rate happens now; what never happens costs no chance."""
    return rate > 0 and bool(rng.random() < rate)


def _has_counted(flicks: int) -> Callable[[Call], bool]:
    return lambda call: call.flicks >= flicks or call.question is not None


def _asks_other_than(question: Question) -> Callable[[Call], bool]:
    return lambda call: call.question != question


def _answers(call: Call) -> bool:
    return bool(call.remove) or call.question is not None


def _is_to_flick(call: Call) -> bool:
    return call.to_flick is not None


def _is_over(call: Call) -> bool:
    return call.to_flick is None and not call.remove


def _other(player: str) -> str:
    return "b" if player == "a" else "a"
