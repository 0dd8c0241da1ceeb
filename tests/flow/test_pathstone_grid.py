"""A grid of LEDs and sensors under stacks: a rendered camera and a simulated device, the session, the log, the page.

All of it runs in one thread and in virtual time, as in test_grid_flow.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Queue, SimpleQueue

import pytest

from companion.dashboard import create_pathstone_app
from companion.games.pathstone import Look, look_from_tops, write_move
from companion.games.pathstone.series import Begin, Input, Seen
from companion.live import Live
from companion.pathstone_grid import SquaresGrid, sure_of
from companion.pathstone_session import PathstoneSession
from companion.ruling import Accepted, Ruling
from companion.store import PathstoneStore
from firmware_protocol.driver import DARK, Device, Found, Lost, Rgb
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import Counters
from firmware_protocol.messages import LedKind, SensorKind
from hardware_sims.board import Board
from hardware_sims.camera import Camera, Settings
from hardware_sims.ports import InProcess
from hardware_sims.sensors import SensorFault, Stuck
from hardware_sims.squares import Room, Scene, Sizes
from hardware_sims.stacks import StacksTable
from hardware_sims.view import View
from vision.board import Grid, Pieces, Profile, SquaresBoard
from vision.camera import Frame

BOARD = SquaresBoard(4, 4, 50.0)
VIEW = View((960, 720), fov_x_deg=40.0, tilt_deg=15.0, distance_mm=520.0)
WIRING = Grid(first="b-left", serpentine=True)
PROFILE = Profile(BOARD, (("a", (202, 222, 230)), ("b", (52, 68, 90))), fov_x_deg=40.0, grid=WIRING, pieces=Pieces())
ROOM = Room(colours=(("a", (0.78, 0.73, 0.6)), ("b", (0.1, 0.06, 0.035))))
CORNERS_PX = VIEW.calibration(BOARD).project(BOARD.corners_mm()).tolist()
CELLS = WIRING.cells(4, 4)
FPS = 15
HEADERS = {"X-Companion": "1", "Host": "localhost"}
BRIGHT, DIM = Rgb(255, 255, 255), Rgb(102, 102, 102)


class Wired:
    """A table of stacks with a camera over it and a grid under it; without a camera, people play on the page."""

    def __init__(self, log: Path, faults: Sequence[SensorFault] = (), *, watched: bool = True) -> None:
        self.table = StacksTable(BOARD, seed=3)
        self.device = Board(4, 4, sensor_faults=faults)
        self.port = InProcess(self.device)
        self.rulings: list[Ruling] = []
        self._camera = Camera(Scene(BOARD, Sizes(), ROOM), VIEW, Settings(oversampling=1, exposure=0.9, seed=3))
        self._watched = watched
        self._driver = GridDriver((4, 4))
        self._plugged = True
        self._events = SimpleQueue()
        self._ticks = 0
        said: Queue[Input] = Queue()
        live = Live()
        self.store = PathstoneStore(log, live.ring)
        grid = SquaresGrid(
            PROFILE,
            self._events,
            self._driver.want,
            lambda: Counters("in process", self._driver.device if self._plugged else None, ""),
            live,
            clock=lambda: self.port.now_s,
        )
        self.session = PathstoneSession(
            PROFILE, self._tell, corners_px=CORNERS_PX, store=self.store, live=live, said=said, grid=grid
        )
        self.page = create_pathstone_app(self.store, live, said, PROFILE, watched=watched).test_client()
        self._driver.begin(0.0)

    def play(self, *moves: str, felt: bool = True) -> None:
        for move in moves:
            self.table.play(move)
            if felt:
                self.feel()
            self.pass_s(1.2)

    def feel(self, *besides: str) -> None:
        """What lies on the squares is what the sensors feel, and something on these besides."""
        stacks = {*self.table.stacks(), *besides}
        for index, (row, column) in enumerate(CELLS):
            here = f"{'abcd'[column - 1]}{row}" in stacks
            self.port.call(lambda board, t_s, n=index, filled=here: board.set_sensor(n, filled, t_s))

    def pass_s(self, seconds: float) -> None:
        if self._watched:
            self.session.run(self._frames(round(seconds * FPS)))
        else:
            self.session.sense(self._waited(round(seconds * FPS)))

    def post(self, path: str, body: dict) -> None:
        assert self.page.post(path, json=body, headers=HEADERS).status_code == 202
        self.pass_s(0.8)

    @property
    def moves(self) -> list[str]:
        assert self.session.series is not None
        return [write_move(move) for move in self.session.series.game.moves]

    @property
    def other_than_accepted(self) -> list[Ruling]:
        return [ruling for ruling in self.rulings if not isinstance(ruling, Accepted)]

    @property
    def lit(self) -> dict[str, tuple[int, int, int]]:
        """What is to be seen on the device, by square."""
        leds = zip(CELLS, self.device.leds, strict=True)
        return {f"{'abcd'[column - 1]}{row}": led for (row, column), led in leds if led != DARK}

    def _tell(self, _given: Input, rulings: tuple[Ruling, ...]) -> None:
        self.rulings += rulings

    def _frames(self, count: int) -> Iterator[Frame]:
        for _ in self._waited(count):
            image_bgr = self._camera.read(self.table.pieces())
            assert image_bgr is not None
            yield Frame(self._ticks, self._ticks / FPS, image_bgr)

    def _waited(self, count: int) -> Iterator[None]:
        for _ in range(count):
            self._ticks += 1
            self._drive_until(self._ticks / FPS)
            yield None

    def _drive_until(self, t_s: float) -> None:
        """What the link's thread does, as far as time has come."""
        while self.port.now_s < t_s:
            if not self._plugged:
                self.port.sleep(t_s - self.port.now_s)
                return
            try:
                data = self._driver.to_send(self.port.now_s)
                if data:
                    self.port.write(data)
                data = self.port.read(max(min(self._driver.due_s(), t_s) - self.port.now_s, 0.0))
            except OSError as gone:
                self._plugged = False
                self._events.put((self.port.now_s, Lost(f"in process: the port is gone ({gone})")))
                continue
            now_s = self.port.now_s
            events = self._driver.feed(data, now_s) if data else []
            if now_s >= self._driver.due_s():
                events = [*events, *self._driver.tick(now_s)]
            for event in events:
                self._events.put((now_s, event))


@pytest.fixture
def wired(tmp_path):
    made = []

    def make(*faults: SensorFault, watched: bool = True) -> Wired:
        made.append(Wired(tmp_path / f"{len(made)}.sqlite", faults, watched=watched))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def test_a_game_is_shown_on_the_leds_from_the_first_turn_to_the_path(wired):
    table = wired()
    table.pass_s(0.8)
    assert set(table.lit) == {"a1", "d1", "a4", "d4"}
    table.session.say(Begin(("Ada", "Ben"), 4))
    table.pass_s(1.0)
    ada = table.lit["a1"]
    assert table.lit == dict.fromkeys(("a1", "b1", "c1", "d1"), ada)
    table.play("a4", "a1")
    assert table.moves == ["a4", "a1"]
    assert set(table.lit) == {"a1", "b1", "c1", "d1"}
    assert table.lit["a1"] != ada  # the last move
    table.post("/tapped", {"cell": [1, 1]})
    assert (table.lit["a1"], table.lit["a2"], table.lit["b1"]) == (BRIGHT, DIM, DIM)
    table.post("/tapped", {"cell": None})
    assert table.lit["b1"] == ada
    table.post("/tapped", {"cell": [1, 1]})
    table.play("b1")
    assert DIM not in table.lit.values()
    table.play("d4", "c1", "d3", "d1")
    assert table.moves == ["a4", "a1", "b1", "d4", "c1", "d3", "d1"]
    assert set(table.lit) == {"a1", "b1", "c1", "d1"}
    assert len(set(table.lit.values())) == 1
    assert table.other_than_accepted == []


def test_a_grid_that_goes_and_comes_back_shows_the_game_again(wired):
    table = wired()
    table.session.say(Begin(("Ada", "Ben"), 4))
    table.play("a4")
    table.port.unplug()
    table.play("a1")
    assert table.moves == ["a4", "a1"]
    assert table.page.get("/grid").json["state"] != "there"
    table.port.replug()
    table._plugged = True
    table._driver.begin(table.port.now_s)
    table.feel()
    table.pass_s(3.0)
    assert table.page.get("/grid").json["state"] == "there"
    assert {"a1", "b1", "c1", "d1"} == set(table.lit)
    table.play("b1")
    assert table.moves == ["a4", "a1", "b1"]


def test_a_sensor_that_is_stuck_accuses_nobody_and_is_left_out_in_time(wired):
    table = wired(Stuck(CELLS.index((2, 2)), occupied=True))
    table.session.say(Begin(("Ada", "Ben"), 4))
    table.pass_s(3.0)
    for move in ("a4", "a1", "b1", "d4"):
        table.play(move)
        table.pass_s(2.5)
    assert table.moves == ["a4", "a1", "b1", "d4"]
    assert table.other_than_accepted == []
    stuck = [one["cell"] for one in table.page.get("/grid").json["cells"] if one["stuck"]]
    assert stuck == [[2, 2]]


def test_without_a_camera_the_leds_show_where_what_is_played_on_the_page_is_still_to_be_laid(wired):
    table = wired(watched=False)
    table.session.say(Begin(("Ada", "Ben"), 4))
    table.pass_s(1.0)
    table.post("/play", {"ptn": "b3"})
    assert seen_blinking(table) == {"b3"}
    table.table.play("b3")
    table.feel("c2")
    table.pass_s(1.0)
    assert seen_blinking(table) == {"c2"}
    table.feel()
    table.pass_s(1.0)
    assert seen_blinking(table) == set()
    assert table.moves == ["b3"]


def seen_blinking(table: Wired) -> set[str]:
    """The squares that are at full brightness at one moment and dark at another, within two seconds."""
    seen, dark = set(), set()
    for _ in range(8):
        table.pass_s(0.25)
        seen |= {name for name, led in table.lit.items() if led == BRIGHT}
        dark |= {f"{'abcd'[column]}{row}" for column in range(4) for row in range(1, 5)} - set(table.lit)
    return seen & dark


DEVICE = Device("grid", "1f2e", 4, 4, LedKind.RGB, SensorKind.HALL, "0.1.0", True)


def grid_that_says(occupied: dict[tuple[int, int], bool], now: list[float]) -> SquaresGrid:
    events = SimpleQueue()
    events.put((0.0, Found(DEVICE, tuple(occupied.get(cell, False) for cell in CELLS))))
    counters = Counters("in process", DEVICE, "")
    grid = SquaresGrid(PROFILE, events, lambda _colours: None, lambda: counters, Live(), clock=lambda: now[0])
    grid.hear()
    return grid


DOUBT = math.log(0.5)


def doubtful(look: Look, n: int) -> Look:
    """The same look, but for one square that is as likely empty as it holds A's flat."""
    tops = list(look.tops)
    tops[n] = (DOUBT, DOUBT, *(-9.0,) * 5)
    return Look(tuple(tops))


@pytest.mark.parametrize(("says", "likelier"), [(True, 1), (False, 0)])
def test_a_sensor_settles_what_the_camera_doubts(says, likelier):
    now = [1.0]
    look = doubtful(look_from_tops(("w...", "....", "....", "....")), 6)
    grid = grid_that_says({(1, 1): True, (2, 3): says}, now)
    seen = grid.witness(Seen(look, 4, 2.0))
    assert seen is not None
    assert (seen.frame, seen.t_s) == (4, 2.0)
    assert seen.look.tops[6].index(max(seen.look.tops[6])) == likelier
    assert seen.look.tops[6][likelier] - seen.look.tops[6][1 - likelier] > math.log(100)


def test_a_sensor_against_a_camera_that_is_sure_is_waited_for_and_then_left_out():
    now = [1.0]
    look = look_from_tops(("w...", "....", "....", "...."))
    grid = grid_that_says({}, now)
    assert grid.witness(Seen(look)) is None
    now[0] = 2.9
    assert grid.witness(None) is None
    now[0] = 3.1
    seen = grid.witness(None)
    assert seen is not None
    assert sure_of(seen.look)[1, 1] is True
    assert grid.witness(None) is None


def test_what_a_camera_is_sure_of():
    look = doubtful(look_from_tops(("w?.L", "....", "....", "....")), 6)
    sure = sure_of(look)
    assert [sure.get((1, column)) for column in (1, 2, 3, 4)] == [True, None, False, True]
    assert sure.get((2, 3)) is None
    assert len(sure) == 14
