"""The table of `companion demo --game pathstone`: a board of squares under a usual webcam, and two players."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardware_sims.camera import Camera, Settings
from hardware_sims.squares import Lamp, Piece, Room, Scene, Sizes
from hardware_sims.stacks import StacksTable
from hardware_sims.stacks_players import Moment, Mover, StacksPlayers, Told
from hardware_sims.table_faults import Switches, Usual
from hardware_sims.view import View
from vision.board import Grid, Pieces, Profile, SquaresBoard

BOARD = SquaresBoard(5, 5, 50.0)
_VIEW = View((960, 720), fov_x_deg=50.0, tilt_deg=14.0, distance_mm=470.0)
ROOM = Room(
    colours=(("a", (0.78, 0.73, 0.6)), ("b", (0.1, 0.06, 0.035))),
    lamps=(
        Lamp((-420.0, 520.0, 1200.0), 110.0, (0.52, 0.49, 0.44)),
        Lamp((700.0, -300.0, 1500.0), 160.0, (0.3, 0.32, 0.36)),
    ),
)

PROFILE = Profile(BOARD, (("a", (202, 222, 230)), ("b", (52, 68, 90))), _VIEW.fov_x_deg, Grid(), pieces=Pieces())
"""What a person would write down of this table."""


@dataclass(slots=True)
class VirtualStacks:
    """Two players at a table of stacks, the camera over it, and what goes wrong with them."""

    players: StacksPlayers
    camera: Camera[Piece]
    usual: Usual[Room, Mover]
    switches: Switches = field(init=False)
    """What is or will be on from the next moment on."""
    _on: tuple[str, ...] = field(default=(), init=False)
    _room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.switches = Switches(self.usual.faults())
        self._room = self.usual.room

    def corners_px(self) -> tuple[tuple[float, float], ...]:
        """Where the board's corners are as the camera was stood."""
        found = self.camera.home.project(BOARD, BOARD.corners_mm())
        return tuple((float(x), float(y)) for x, y in found)

    def play(self) -> Iterator[Moment]:
        """What happens at the table, moment by moment."""
        for moment in self.players.play():
            if self.switches.on() != self._on:
                self._on = self.switches.on()
                self._set(self.usual.under(self._on))
            yield moment

    def filled(self, _moment: Moment) -> set[tuple[int, int]]:
        """The squares on which anything lies, row and column from 1."""
        return {(int(name[1]), "abcdefgh".index(name[0]) + 1) for name in self.players.table.stacks()}

    def _set(self, table: Usual[Room, Mover]) -> None:
        self.players.people = table.people
        self.camera.settings = table.settings
        if table.room != self._room:
            self._room = table.room
            self.camera.look_at(Scene(BOARD, Sizes(), table.room))
        if table.view != self.camera.home:
            self.camera.move(table.view)


def table(
    seed: int, ask: Callable[[], Told], *, pause_s: float = 1.2, size_wh: tuple[int, int] = _VIEW.size_wh
) -> VirtualStacks:
    """The table by its seed; the players ask what to do."""
    rng = np.random.default_rng(seed)
    people = (Mover(), Mover(skin=(0.30, 0.17, 0.11), sleeve=(0.42, 0.10, 0.08)))
    room = replace(ROOM, seed=int(rng.integers(2**31)))
    settings = Settings(
        oversampling=1,
        exposure=0.9,
        hunt=0.03,
        flicker=0.01,
        warm_up_frames=8,
        bump_rate=1 / 3000,
        jpeg_quality=None,
        seed=seed,
    )
    players = StacksPlayers(StacksTable(BOARD, seed=seed), ask, people, seed=seed, pause_s=pause_s)
    view = replace(_VIEW, size_wh=size_wh)
    camera = Camera(Scene(BOARD, Sizes(), room), view, settings)
    return VirtualStacks(players, camera, Usual(settings, view, room, people))
