"""The whole way with a grid: a rendered camera and a simulated device under one table, the session, the log, the page.

All of it runs in one thread and in virtual time: a second of frames is also a second of the device's wire.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Queue, SimpleQueue

import pytest

from companion.dashboard import create_app
from companion.grid import BoardGrid
from companion.inputs import Correction, Declaration, Declared, Input, Look, Setup
from companion.lights import side_colours
from companion.live import Live
from companion.referee import Referee
from companion.ruling import Accepted, Ruling, Shot, Undecided
from companion.session import Session
from companion.store import Store
from companion.terms import Mode, Player
from firmware_protocol.driver import DARK, Device, Found, Lost
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import Counters
from hardware_sims import virtual
from hardware_sims.arms import Arm
from hardware_sims.board import Board
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD, Disk, flat, in_cell, tilted
from hardware_sims.ports import InProcess
from hardware_sims.scene import Room, Scene
from hardware_sims.sensors import SensorFault, Stuck
from hardware_sims.view import View
from vision.board import Grid
from vision.camera import Frame

VIEW = View(size_wh=(960, 540), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
REACHING = Arm((120.0, 160.0, 25.0), -80.0)
FPS = 15
CELLS = Grid().cells(STANDARD.rows, STANDARD.columns)
LEDS = side_colours(virtual.PROFILE.colours)
CAMERA_RIGHT, SENSOR_RIGHT = "camera-is-right", "sensor-is-right"


class Wired:
    """A table with a camera over it and a grid under it; each call lets some seconds pass."""

    def __init__(
        self, camera: Camera, log: Path, faults: Sequence[SensorFault] = (), *, with_camera: bool = True
    ) -> None:
        self.device = Board(STANDARD.rows, STANDARD.columns, sensor_faults=faults)
        self.port = InProcess(self.device)
        self.rulings: list[Ruling] = []
        self.referee = Referee()
        self._driver = GridDriver((STANDARD.rows, STANDARD.columns))
        self._plugged = True
        self._trouble = ""
        self._events = SimpleQueue()
        self._camera = camera
        self._with_camera = with_camera
        self._frames = 0
        said: Queue[Declaration | Correction] = Queue()
        live = Live(simulated=True)
        self._store = Store(log, live.ring)
        grid = BoardGrid(
            virtual.PROFILE,
            self._events,
            self._driver.want,
            lambda: Counters("in process", self._device_found, self._trouble, traffic=self._driver.traffic),
            live,
            alone=not with_camera,
            clock=lambda: self.port.now_s,
        )
        self._session = Session(
            virtual.PROFILE, self.referee, self._tell, store=self._store, live=live, said=said, grid=grid
        )
        self._page = create_app(self._store, live, said, virtual.PROFILE).test_client()
        self._driver.begin(0.0)

    def lie(self, disks: Sequence[Disk] = (), s: float = 0.0, arms: Sequence[Arm] = (), *, felt: bool = True) -> None:
        """So the disks lie from now on, for so many seconds; not `felt` where the sensors are to notice nothing."""
        if felt:
            self.feel(disk.cell for disk in disks)
        if self._with_camera:
            self._session.run(self._seen(tuple(disks), tuple(arms), s or 1.0))
        else:
            self._session.sense(self._ticks(s or 1.5))

    def feel(self, cells) -> None:
        """What lies in the holes, as the sensors are to feel it."""
        filled = set(cells)
        for index, cell in enumerate(CELLS):
            self.port.call(lambda board, t_s, n=index, here=cell in filled: board.set_sensor(n, here, t_s))

    def say(self, what: Declared, **more) -> None:
        self._session.say(Declaration(what, **more))

    def press(self, choice: str) -> None:
        """Answers on the page."""
        answer = self._page.post(
            "/declare", json={"what": "accept", "choice": choice}, headers={"X-Companion": "1", "Host": "localhost"}
        )
        assert answer.status_code == 202

    def unplug(self) -> None:
        self.port.unplug()

    def replug(self) -> None:
        self.port.replug()
        self._plugged = True
        self._driver.begin(self.port.now_s)

    @property
    def _device_found(self) -> Device | None:
        return self._driver.device if self._plugged else None

    @property
    def shots(self) -> list[tuple[int, str]]:
        events = [ruling.event for ruling in self.rulings if isinstance(ruling, Accepted)]
        return [(event.n, event.player.value) for event in events if isinstance(event, Shot)]

    @property
    def asked(self) -> list[str]:
        return [ruling.why for ruling in self.rulings if isinstance(ruling, Undecided)]

    @property
    def lit(self) -> dict[tuple[int, int], tuple[int, int, int]]:
        """What is to be seen on the device, by cell."""
        return {cell: led for cell, led in zip(CELLS, self.device.leds, strict=True) if led != DARK}

    def state(self) -> dict:
        return self._page.get("/state").json

    def grid(self) -> dict:
        return self._page.get("/grid").json

    def close(self) -> None:
        self._store.close()

    def _tell(self, _given: Input, rulings: tuple[Ruling, ...]) -> None:
        self.rulings += rulings

    def _seen(self, disks: tuple[Disk, ...], arms: tuple[Arm, ...], s: float) -> Iterator[Frame]:
        for _ in range(round(s * FPS)):
            self._frames += 1
            t_s = self._frames / FPS
            self._drive_until(t_s)
            image_bgr = self._camera.read(disks, arms, t_s)
            assert image_bgr is not None
            yield Frame(self._frames, t_s, image_bgr)

    def _ticks(self, s: float) -> Iterator[None]:
        for _ in range(round(s * 20)):
            self._frames += 1
            self._drive_until(self._frames / 20)
            yield None

    def _drive_until(self, t_s: float) -> None:
        """What the link's thread does, as far as time has come."""
        while self.port.now_s < t_s:
            if not self._plugged:
                self.port.sleep(t_s - self.port.now_s)
                return
            try:
                self._exchange(t_s)
            except OSError as gone:
                self._plugged, self._trouble = False, f"in process: the port is gone ({gone})"
                self._events.put((self.port.now_s, Lost(self._trouble)))

    def _exchange(self, t_s: float) -> None:
        data = self._driver.to_send(self.port.now_s)
        if data:
            self.port.write(data)
        data = self.port.read(max(min(self._driver.due_s(), t_s) - self.port.now_s, 0.0))
        now_s = self.port.now_s
        events = self._driver.feed(data, now_s) if data else []
        if now_s >= self._driver.due_s():
            events = [*events, *self._driver.tick(now_s)]
        for event in events:
            if isinstance(event, Found):
                self._trouble = ""
            self._events.put((now_s, event))


@pytest.fixture(scope="module")
def camera() -> Camera:
    """One for all tables: it has traced the empty board."""
    return Camera(Scene(STANDARD, Room(seed=3)), VIEW, Settings(jpeg_quality=None))


@pytest.fixture
def wired(camera, tmp_path):
    """Makes tables; `with_camera` and sensor faults as `Wired` has them."""
    made: list[Wired] = []

    def make(faults: Sequence[SensorFault] = (), **how) -> Wired:
        made.append(Wired(camera, tmp_path / f"{len(made)}.sqlite", faults, **how))
        made[-1].lie()
        made[-1].say(Declared.START, setup=Setup(Mode.MATCH))
        made[-1].lie()
        return made[-1]

    yield make
    for table in made:
        table.close()


def hole(name: str, row: int, column: int) -> Disk:
    return in_cell(STANDARD, name, name[0], (row, column))


def dimmed(player: Player) -> tuple[int, ...]:
    return tuple(round(0.12 * level) for level in LEDS[player])


def row(number: int, colour: tuple[int, ...]) -> dict:
    return {(number, column): colour for column in range(1, STANDARD.columns + 1)}


def test_the_leds_show_whose_turn_it_is_an_order_and_a_win(wired):
    table = wired()
    assert table.lit == row(1, dimmed(Player.A))
    scored = hole("a1", 8, 3)
    table.lie((scored,))
    assert table.shots == [(1, "a")]
    assert table.lit == row(8, dimmed(Player.B))
    foul = hole("b1", 8, 6)
    seen_on_the_foul = []
    for _ in range(20):
        table.lie((scored, foul), 0.2)
        seen_on_the_foul.append(table.lit.get((8, 6), DARK))
    assert set(seen_on_the_foul[6:]) == {DARK, (255, 255, 255)}
    assert {light["rhythm"] for one in table.grid()["cells"] if (light := one["light"])} == {"blink", "steady"}
    assert [order["text"] for order in table.state()["orders"]] == ["Take the black disk at row 8, column 6 off"]
    table.lie((scored,))
    assert table.lit == row(1, dimmed(Player.A))
    table.say(Declared.END_GAME)
    table.lie((scored,))
    assert {cell[0] for cell in table.lit} == {1, 2, 3, 4}
    assert len(table.lit) == 4 * STANDARD.columns
    assert table.asked == []


def test_disks_that_lie_otherwise_than_flat_in_a_hole_are_no_contradiction(wired):
    table = wired()
    standing = tilted(STANDARD, "a1", "a", (4, 4), 40.0, 30.0)
    # It stands beside its sensor, which feels nothing.
    table.lie((standing,), 4.0, felt=False)
    over = flat(STANDARD, "b1", "b", 158.0 + 10.0, 268.0)
    table.feel([(5, 4)])
    table.lie((standing, over), 4.0, felt=False)
    assert table.shots == [(1, "a"), (2, "b")]
    assert table.asked == []


@pytest.mark.parametrize(
    ("choice", "headline"),
    [(CAMERA_RIGHT, "A’s flick 1 stands"), (SENSOR_RIGHT, "The sensor is right at row 4, column 4")],
)
def test_a_contradiction_is_asked_and_answered_on_the_page(wired, choice, headline):
    table = wired()
    table.lie((hole("a1", 4, 4),), 1.5, (REACHING,), felt=False)
    table.lie((hole("a1", 4, 4),), 1.5, felt=False)
    assert table.asked == [], "a message may be late by so much"
    table.lie((hole("a1", 4, 4),), 2.0, felt=False)
    assert table.asked == ["the camera sees A's disk at row 4, column 4, the sensor there says empty"]
    assert table.state()["phase"] == "ask"
    assert [button["label"] for button in table.state()["buttons"][:2]] == [
        "The camera is right",
        "The sensor is right",
    ]
    edge = {cell for cell in CELLS if cell[0] in (1, 8) or cell[1] in (1, 7)}
    assert edge <= set(table.lit) <= edge | {(4, 4)}
    table.press(choice)
    table.lie((hole("a1", 4, 4),), felt=False)
    assert table.state()["phase"] == "flick"
    assert table.state()["ruling"]["headline"] == headline


def test_a_late_sensor_is_waited_for(wired):
    table = wired()
    table.lie((hole("a1", 4, 4),), 1.5, felt=False)
    table.lie((hole("a1", 4, 4),), 2.0)
    assert table.shots == [(1, "a")]
    assert table.asked == []


def test_a_sensor_that_changes_under_a_still_board_is_asked_about_until_it_changes_back(wired):
    table = wired()
    table.lie((hole("a1", 8, 3),))
    table.feel([(8, 3), (3, 2)])
    table.lie((hole("a1", 8, 3),), 4.0, felt=False)
    assert table.asked == ["the camera sees no disk at row 3, column 2, the sensor there says occupied"]
    table.lie((hole("a1", 8, 3),), 2.0)
    assert (table.state()["phase"], table.state()["turn"]) == ("flick", "b")
    assert table.shots == [(1, "a")]


def test_a_sensor_that_keeps_contradicting_is_left_out(wired, caplog):
    table = wired([Stuck(CELLS.index((4, 4)), occupied=True)])
    table.lie((), 2.0)
    assert table.asked == ["the camera sees no disk at row 4, column 4, the sensor there says occupied"]
    table.press(CAMERA_RIGHT)
    for _ in range(3):
        table.lie((), 1.0, (REACHING,))
        table.lie((), 3.0)
    assert caplog.messages == [
        "the sensor at row 4, column 4 keeps saying occupied against the camera: it is left out; check it"
    ]
    assert [one["cell"] for one in table.grid()["cells"] if one["stuck"]] == [[4, 4]]
    assert len(table.asked) == 1
    assert table.shots == []


def test_unplugged_in_the_middle_the_game_goes_on_and_the_grid_comes_back_by_itself(wired, caplog):
    table = wired()
    first, second, third = hole("a1", 8, 3), hole("b1", 5, 5), hole("a2", 4, 4)
    table.lie((first,))
    table.unplug()
    table.lie((first,), 1.0)
    assert table.grid()["state"] == "lost"
    assert "port is gone" in table.grid()["why"]
    assert caplog.messages == [f"{table.grid()['why']}; the game goes on with the camera alone"]
    table.lie((first, second))
    assert table.shots == [(1, "a"), (2, "b")]
    table.replug()
    assert table.lit != row(1, dimmed(Player.A)), "it starts anew, and knows nothing of the game"
    table.lie((first, second), 1.0)
    assert table.grid()["state"] == "there"
    assert table.lit == row(1, dimmed(Player.A))
    told = {tuple(one["cell"]) for one in table.grid()["cells"] if one["occupied"]}
    assert told == {(8, 3), (5, 5)}
    table.lie((first, second, third))
    assert table.shots == [(1, "a"), (2, "b"), (3, "a")]
    assert table.asked == []


def test_sensors_alone_keep_count_and_ask_where_they_cannot_know(wired):
    table = wired(with_camera=False)
    assert table.state()["watch"] == {"state": "watching", "why": "by its sensors alone"}
    table.lie([hole("a1", 8, 3)])
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5)])
    assert table.shots == [(1, "a"), (2, "b")]
    assert [len(player["name"]) and player["count"] for player in table.state()["players"].values()] == [1, 1]
    assert table.state()["hidden"] == []
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5), hole("a2", 1, 1)])
    assert [order["why"] for order in table.state()["orders"]] == ["it is in its owner’s front row"]
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5)])
    assert table.state()["ruling"]["headline"] == "The board is cleared"
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5), hole("b2", 4, 4), hole("a3", 6, 6)])
    assert table.asked == ["the sensor at row 4, column 4 says that a disk lies there; say whose it is"]
    table.press("b-disk")
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5), hole("b2", 4, 4), hole("a3", 6, 6)])
    table.press("a-disk")
    table.lie([hole("a1", 8, 3), hole("b1", 1, 5), hole("b2", 4, 4), hole("a3", 6, 6)])
    assert table.shots == [(1, "a"), (2, "b"), (3, "a"), (4, "b"), (5, "a")]
    table.unplug()
    table.lie([], 2.0)
    assert table.state()["watch"]["state"] == "grid-lost"
    assert table.shots[-1] == (5, "a"), "nothing is made of a grid that is gone"


def test_the_log_of_a_game_with_sensors_is_folded_to_the_same_standing(wired):
    table = wired([Stuck(CELLS.index((4, 4)), occupied=True)])
    table.lie((), 2.0)
    table.press(CAMERA_RIGHT)
    table.lie([hole("a1", 8, 3)], 4.0)
    match = table._store.latest()
    looks = [entry.input for entry in table._store.entries(match) if isinstance(entry.input, Look)]
    assert any(look.disputed for look in looks)
    assert table._store.resume(match).standing == table.referee.standing


def test_a_picture_that_the_sensors_contradict_as_in_a_mirror_is_told(wired):
    table = wired()
    seen = (hole("a1", 5, 2), hole("b1", 4, 6))
    table.feel([(5, 6), (4, 2)])
    table.lie(seen, 4.0, felt=False)
    assert any("mirrored" in words for words in table.state()["pictures"])
    table.feel([(5, 2), (4, 6)])
    table.lie((*seen, hole("a2", 6, 4)), 4.0)
    assert not any("mirrored" in words for words in table.state()["pictures"])
