"""The table of `companion demo`: the usual board under a usual webcam, and two players with their habits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from hardware_sims.board import Board
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD
from hardware_sims.players import Call, Moment, Person, Players
from hardware_sims.ports import PtyPort
from hardware_sims.scene import Lamp, Room, Scene
from hardware_sims.table import Table
from hardware_sims.view import View
from vision.board import Grid, Profile

_VIEW = View(fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
_ROOM = Room(
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

PROFILE = Profile(STANDARD, (("a", (66, 66, 210)), ("b", (58, 50, 50))), _VIEW.fov_x_deg, Grid())
"""What a person would write down of this table."""


@dataclass(frozen=True, slots=True)
class VirtualTable:
    """Two players at a table, and the camera over it."""

    players: Players
    camera: Camera


def table(seed: int, referee: Callable[[], Call], say: Callable[[str], None], *, pause_s: float = 1.0) -> VirtualTable:
    """The table by its seed; the players ask the referee and say things to it."""
    rng = np.random.default_rng(seed)
    people = (
        Person(skill=0.75, reaches_over=0.12, illegal_flicks=0.03),
        Person(skill=0.6, reaches_over=0.12, illegal_flicks=0.05, skin=(0.30, 0.17, 0.11), sleeve=(0.42, 0.10, 0.08)),
    )
    players = Players(Table(STANDARD, seed=seed), people, referee, say, seed=seed, pause_s=pause_s)
    room = replace(_ROOM, seed=int(rng.integers(2**31)))
    settings = Settings(hunt=0.03, flicker=0.01, warm_up_frames=8, bump_rate=1 / 3000, jpeg_quality=None, seed=seed)
    return VirtualTable(players, Camera(Scene(STANDARD, room), _VIEW, settings))


class Sensed:
    """The simulated grid under a table of disks: what lies in a hole is what its sensors feel."""

    def __init__(self, profile: Profile = PROFILE) -> None:
        board = profile.board
        self.port = PtyPort(Board(board.rows, board.columns))
        """To be started, and opened by its path."""
        self._cells = (profile.grid or Grid()).cells(board.rows, board.columns)
        self._filled: set[tuple[int, int]] = set()

    def by(self, moments: Iterator[Moment]) -> Iterator[Moment]:
        """The same moments, each felt as it passes."""
        for moment in moments:
            self.feel({disk.cell for disk in moment.disks if disk.cell is not None})
            yield moment

    def feel(self, filled: set[tuple[int, int]]) -> None:
        """Disks lie in these holes from now on, and in no others."""
        changed = [n for n, cell in enumerate(self._cells) if (cell in filled) is not (cell in self._filled)]
        self._filled = set(filled)

        def lay(board: Board, t_s: float) -> None:
            for index in changed:
                board.set_sensor(index, self._cells[index] in filled, t_s)

        if changed:
            self.port.call(lay)
