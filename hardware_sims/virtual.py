"""The table of `companion demo`: the usual board under a usual webcam, and two players with their habits."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from hardware_sims.board import Board
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD, Disk
from hardware_sims.players import Call, Moment, Person, Players
from hardware_sims.ports import InProcess, PtyPort
from hardware_sims.scene import Lamp, Room, Scene
from hardware_sims.scorer import Stake
from hardware_sims.table import Table
from hardware_sims.table_faults import FAULTS, Switches, Usual
from hardware_sims.view import View
from vision.board import Grid, Image, Profile

VIEW = View(fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
ROOM = Room(
    wood=(0.50, 0.29, 0.14),
    wood_contrast=0.18,
    ground=(0.16, 0.20, 0.19),
    ground_contrast=0.15,
    cloth=True,
    lamps=(
        Lamp((-420.0, 520.0, 1200.0), 160.0, (0.62, 0.58, 0.52)),
        Lamp((700.0, -300.0, 1500.0), 320.0, (0.3, 0.32, 0.36)),
    ),
    ambient=(0.30, 0.31, 0.33),
    gloss=0.04,
)

PROFILE = Profile(STANDARD, (("a", (66, 66, 210)), ("b", (58, 50, 50))), VIEW.fov_x_deg, Grid())
"""What a person would write down of this table."""


@dataclass(slots=True)
class VirtualTable:
    """Two players at a table, the camera over it, and what goes wrong with them."""

    players: Players
    camera: Camera[Disk]
    usual: Usual[Room, Person]
    on: tuple[str, ...] = ()
    """The faults of `table_faults` that are switched on."""
    switches: Switches = field(init=False)
    """What is or will be on from the next moment on."""
    _room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.switches = Switches(self.usual.faults(), self.on)
        self._room = self.usual.under(self.on).room

    def switch(self, name: str, on: bool) -> None:
        """Switches a fault on or off from the next moment on; from any thread. Raises KeyError for an unknown one."""
        self.switches.switch(name, on)

    def wanted(self) -> tuple[str, ...]:
        """The faults that are or will be on."""
        return self.switches.on()

    def play(self, first: str = "a") -> Iterator[Moment]:
        """What happens at the table, moment by moment."""
        for moment in self.players.play(first):
            wanted = self.wanted()
            if wanted != self.on:
                self.on = wanted
                self._set(self.usual.under(wanted))
            yield moment

    def image(self, moment: Moment) -> Image | None:
        """The camera's picture of a moment, blue first, or None where it gives none."""
        return self.camera.read((*moment.disks, *moment.held), moment.arms, moment.t_s)

    def _set(self, table: Usual[Room, Person]) -> None:
        self.players.people = table.people
        self.camera.settings = table.settings
        if table.room != self._room:
            self._room = table.room
            self.camera.look_at(Scene(STANDARD, table.room))
        if table.view != self.camera.home:
            self.camera.move(table.view)


def table(
    seed: int,
    referee: Callable[[], Call],
    say: Callable[[str], None],
    *,
    pause_s: float = 1.0,
    faults: Iterable[str] = (),
    size_wh: tuple[int, int] = VIEW.size_wh,
    jpeg_quality: int | None = None,
) -> VirtualTable:
    """The table by its seed, with these faults from the start; the players ask the referee and say things to it."""
    rng = np.random.default_rng(seed)
    people = (
        Person(skill=0.75, reaches_over=0.12, illegal_flicks=0.03),
        Person(skill=0.6, reaches_over=0.12, illegal_flicks=0.05, skin=(0.30, 0.17, 0.11), sleeve=(0.42, 0.10, 0.08)),
    )
    room = replace(ROOM, seed=int(rng.integers(2**31)))
    settings = Settings(
        hunt=0.03, flicker=0.01, warm_up_frames=8, bump_rate=1 / 3000, jpeg_quality=jpeg_quality, seed=seed
    )
    usual = Usual(settings, replace(VIEW, size_wh=size_wh), room, people)
    on = tuple(faults)
    now = usual.under(on)
    players = Players(Table(STANDARD, seed=seed), now.people, referee, say, seed=seed, pause_s=pause_s)
    return VirtualTable(players, Camera(Scene(STANDARD, now.room), now.view, now.settings), usual, on)


def filled_holes(moment: Moment) -> set[tuple[int, int]]:
    """The holes in which disks lie."""
    return {disk.cell for disk in moment.disks if disk.cell is not None}


M = TypeVar("M")
P = TypeVar("P", bound=PtyPort[Board] | InProcess[Board])


class Sensed(Generic[P]):
    """The simulated grid under a table of disks: what lies in a hole is what its sensors feel."""

    def __init__(self, port: P, profile: Profile = PROFILE) -> None:
        """`port` is that of a grid of the profile's size, see `grid_of`."""
        self.port = port
        self._cells = (profile.grid or Grid()).cells(profile.board.rows, profile.board.columns)
        self._filled: set[tuple[int, int]] = set()
        self._unplugged = False
        self._suffered: tuple[str, ...] = ()

    def suffer(self, names: tuple[str, ...]) -> None:
        """The grid has these of a table's faults from now on, and no others."""
        faults = [FAULTS[name] for name in names]
        hurting = tuple(name for name in names if FAULTS[name].line or FAULTS[name].sensors)
        if hurting != self._suffered:
            self._suffered = hurting
            self.port.suffer([one for fault in faults for one in fault.line])
            sensors = [one for fault in faults for one in fault.sensors]
            self.port.call(lambda board, _t_s: board.sensors.suffer(sensors))
        unplugged = any(fault.unplugged for fault in faults)
        if unplugged is not self._unplugged:
            self._unplugged = unplugged
            if unplugged:
                self.port.unplug()
            else:
                self.port.replug()

    def by(
        self, moments: Iterator[M], filled: Callable[[M], set[tuple[int, int]]], faults: Callable[[], Iterable[str]]
    ) -> Iterator[M]:
        """The same moments, each felt as it passes: what is `filled` then. `faults` says which are on."""
        for moment in moments:
            self.suffer(tuple(faults()))
            self.feel(filled(moment))
            yield moment

    def feel(self, filled: set[tuple[int, int]]) -> None:
        """Disks lie in these holes from now on, and in no others."""
        changed = [n for n, cell in enumerate(self._cells) if (cell in filled) is not (cell in self._filled)]
        self._filled = set(filled)

        for index in changed:
            self.port.set_sensor(index, self._cells[index] in filled)


def grid_of(profile: Profile = PROFILE, *, seed: int = 0) -> Board:
    """A simulated grid that fits the profile's board."""
    return Board(profile.board.rows, profile.board.columns, seed=seed)


def stake(seed: int) -> Stake:
    """What a game is played for, by its seed: any mode, any standing of the match."""
    rng = np.random.default_rng([seed, 1])
    mode = str(rng.choice(["match", "match", "double-row", "three-in-a-row", "basic"]))
    points = (0, 0) if mode == "basic" else (int(rng.integers(0, 11)), int(rng.integers(0, 11)))
    return Stake(mode, 11, points, str(rng.choice(["a", "b"])), mode != "basic" and bool(rng.random() < 0.1))
