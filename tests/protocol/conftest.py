"""Grids to hold claims against: the simulated device in process, on a pty and over TCP, and the firmware in simavr.

`grid` is each of them in turn, with a host that speaks our protocol frame by frame and looks at the device's far side:
its LEDs, and what lies on its sensors. In process time is the device's own, elsewhere it is the wall's.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from firmware_protocol.codec import Decoder, Frame, encode, encode_raw
from firmware_protocol.driver import Rgb
from firmware_protocol.link import Port, open_port
from firmware_protocol.messages import BAUD, Bitmap, Event, Heartbeat, Hello, Info, Message, Sense
from hardware_sims.avr import AvrBoard, SteppedBoard, missing
from hardware_sims.board import Board
from hardware_sims.ports import InProcess, PtyPort, TcpPort

ROWS, COLUMNS = 8, 8
ANSWER_S = 5.0
"""More than any answer takes on a busy computer; virtual time makes it cheap in process."""


class Bench(Protocol):
    """The far side of a grid: what only its maker sees."""

    def set_sensor(self, index: int, occupied: bool) -> None:
        """A piece comes to lie on the cell, or is taken off."""

    def leds(self) -> tuple[Rgb, ...]:
        """What is to be seen on it."""

    def shows(self) -> int:
        """How often the LEDs were written since the start."""

    def reboot(self) -> None:
        """Starts it anew."""


class Grid:
    """A host at its port, which sends what it is told and sorts what comes.

    `has_speed`: a wrong speed is heard as noise.
    """

    def __init__(self, port: Port, bench: Bench, now_s: Callable[[], float], *, has_speed: bool = True) -> None:
        self.port = port
        self.bench = bench
        self.now_s = now_s
        self.has_speed = has_speed
        self.decoder = Decoder()
        self.answers: list[Frame] = []
        self.events: list[Event] = []
        self.heartbeats: list[Heartbeat] = []
        self._seq = 0
        self._touched: set[int] = set()

    def begin(self) -> None:
        """Starts the device anew with nothing on it, and greets it."""
        for cell in tuple(self._touched):
            self.put(cell, False)
        self.bench.reboot()
        self.port.set_baud(BAUD)
        self._seq = 0
        self.hello()
        self.decoder = Decoder()
        for kept in (self.answers, self.events, self.heartbeats):
            kept.clear()

    def put(self, cell: int, occupied: bool) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        self._touched.add(cell)
        self.bench.set_sensor(cell, occupied)

    def ask(self, message: Message, seq: int | None = None) -> Message:
        """The answer to a request; fails where none comes."""
        seq = self.next_seq() if seq is None else seq
        return self.ask_raw(encode(message, seq), seq)

    def ask_type(self, type_: int, payload: bytes) -> Message:
        """The answer to a frame that the table may not have."""
        seq = self.next_seq()
        return self.ask_raw(encode_raw(type_, seq, payload), seq)

    def ask_raw(self, data: bytes, seq: int) -> Message:
        """What is answered to the frame with this sequence number, among these bytes."""
        self.answers.clear()
        self.port.write(data)
        self.wait_for(lambda: any(frame.seq == seq for frame in self.answers))
        found = next(frame for frame in self.answers if frame.seq == seq)
        assert not isinstance(found.message, Event | Heartbeat)
        return found.message

    def next_seq(self) -> int:
        """From 1 to 255: reports that nobody asked for have 0."""
        self._seq = self._seq % 255 + 1
        return self._seq

    def hello(self) -> Info:
        """Who it is, asked until it answers."""
        for _ in range(200):
            seq = self.next_seq()
            self.answers.clear()
            self.port.write(encode(Hello(1, 1), seq))
            self.listen(0.03, until=lambda: bool(self.answers))
            for frame in self.answers:
                if isinstance(frame.message, Info):
                    return frame.message
        pytest.fail("no INFO in answer to 200 HELLOs")

    def occupied(self) -> tuple[bool, ...]:
        """The map of its sensors, as it says."""
        answer = self.ask(Sense())
        assert isinstance(answer, Bitmap)
        return tuple(bool(answer.bits[cell // 8] >> cell % 8 & 1) for cell in range(8 * len(answer.bits)))

    def wait_for_map(self, expected: tuple[bool, ...]) -> None:
        """Asks for the map until it is this one; fails where it never is."""
        end_s = self.now_s() + ANSWER_S
        while (found := self.occupied()) != expected:
            assert self.now_s() < end_s, f"not within {ANSWER_S} s: {expected}, but {found}"
            self.listen(0.005)

    def listen(self, s: float, until: Callable[[], bool] = lambda: False) -> None:
        """Takes what comes for so long, or until the condition holds."""
        end_s = self.now_s() + s
        while not until() and (left_s := end_s - self.now_s()) > 0:
            for frame in self.decoder.feed(self.port.read(left_s)):
                match frame.message:
                    case Event() as event:
                        self.events.append(event)
                    case Heartbeat() as heartbeat:
                        self.heartbeats.append(heartbeat)
                    case _:
                        self.answers.append(frame)

    def wait_for(self, condition: Callable[[], bool], s: float = ANSWER_S) -> None:
        """Takes what comes until the condition holds; fails where it does not in time."""
        self.listen(s, condition)
        assert condition(), f"not within {s} s; bad frames: {self.decoder.bad_frames}"


class _Stepped:
    """The host's port of a board whose clock stands still between calls."""

    def __init__(self, board: SteppedBoard) -> None:
        self._board = board
        self._kept = b""
        self.now_s = 0.0

    def read(self, wait_s: float) -> bytes:
        kept, self._kept = self._kept, b""
        if kept or wait_s <= 0:
            return kept
        sent = self._board.run_to_frame(wait_s)
        self.now_s = sent[-1].t_s if sent else self.now_s + wait_s
        return bytes(byte for _, byte in sent)

    def write(self, data: bytes) -> None:
        self._board.send(data)

    def set_baud(self, baud: int) -> None:
        self._board.set_host_baud(baud)


class _Firmware:
    """The far side of the firmware, wherever it runs."""

    def __init__(self, board: AvrBoard | SteppedBoard) -> None:
        self._board = board
        self.set_sensor = board.set_sensor
        self.reboot = board.reset

    def leds(self) -> tuple[Rgb, ...]:
        return self._board.leds() or ()

    def shows(self) -> int:
        return self._board.counters().shows


class _Simulated:
    """The far side of a `Board` behind any port."""

    def __init__(self, port: InProcess[Board] | PtyPort[Board] | TcpPort[Board]) -> None:
        self._port = port
        self.set_sensor = port.set_sensor
        self.reboot = port.reboot

    def leds(self) -> tuple[Rgb, ...]:
        return self._port.call(lambda board, _: board.leds)

    def shows(self) -> int:
        return self._port.call(lambda board, _: board.shows)


@contextmanager
def in_process(folder: Path) -> Iterator[Grid]:
    port = InProcess(Board(ROWS, COLUMNS), baud=BAUD)
    yield Grid(port, _Simulated(port), lambda: port.now_s)


@contextmanager
def on_a_pty(folder: Path) -> Iterator[Grid]:
    with (
        PtyPort(Board(ROWS, COLUMNS), link_name=folder / "ttyUSB0") as far,
        closing(open_port(far.path, BAUD)) as port,
    ):
        yield Grid(port, _Simulated(far), time.monotonic)


@contextmanager
def over_tcp(folder: Path) -> Iterator[Grid]:
    with TcpPort(Board(ROWS, COLUMNS)) as far, closing(open_port(far.url, BAUD)) as port:
        yield Grid(port, _Simulated(far), time.monotonic, has_speed=False)


@contextmanager
def firmware_on_a_pty(folder: Path) -> Iterator[Grid]:
    with avr_tools(), AvrBoard("atmega328p") as board, closing(open_port(board.port, BAUD)) as port:
        yield Grid(port, _Firmware(board), time.monotonic)


@contextmanager
def firmware_in_steps(folder: Path) -> Iterator[Grid]:
    with avr_tools(), SteppedBoard.avr() as board:
        port = _Stepped(board)
        yield Grid(port, _Firmware(board), lambda: port.now_s)


@contextmanager
def avr_tools() -> Iterator[None]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    yield


GRIDS: dict[str, Callable[[Path], AbstractContextManager[Grid]]] = {
    "in-process": in_process,
    "pty": on_a_pty,
    "tcp": over_tcp,
    "avr-pty": firmware_on_a_pty,
    "avr-steps": firmware_in_steps,
}


@pytest.fixture(scope="module", params=GRIDS)
def opened_grid(request, tmp_path_factory):
    """One of them, for all tests of a module: an AVR takes half a second to begin."""
    with GRIDS[request.param](tmp_path_factory.mktemp("ports")) as opened:
        yield opened


@pytest.fixture
def grid(opened_grid):
    """One of them, started anew with nothing on it."""
    opened_grid.begin()
    return opened_grid


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.long] * (name not in ("in-process", "avr-steps"))) for name in GRIDS]
)
def patient_grid(request, tmp_path):
    """Each for claims about long times, which cost nothing in virtual time: the others in the long run."""
    with GRIDS[request.param](tmp_path) as opened:
        opened.begin()
        yield opened
