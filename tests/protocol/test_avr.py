"""The AVR images in simavr: the figures in simulated time, what the chip has room for, and the board behind a pty."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

import pytest
import serial

from firmware_protocol.codec import Decoder, encode
from firmware_protocol.driver import Rgb
from firmware_protocol.messages import (
    BAUD,
    Ack,
    Event,
    Fill,
    Format,
    Heartbeat,
    Hello,
    Info,
    Message,
    Ping,
    SetBaud,
    SetRange,
    Show,
)
from hardware_sims.avr import MEGA, UID, UNO, AvrBoard, Build, SteppedBoard, missing
from hardware_sims.avr_figures import Host, event_delays_ms, led_upload_share, lost_under_shows

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

BOARDS = pytest.mark.parametrize("build", [UNO, MEGA], ids=lambda build: build.mcu)
LONGEST_S = 20.0
"""Only a broken board takes so long to answer, however busy the computer."""
STACK_TO_SPARE = 300

T = TypeVar("T")


@pytest.mark.parametrize(("baud", "least"), [(115_200, 0.85), (1_000_000, 0.70)])
def test_the_share_of_the_wire_that_an_upload_of_256_colours_reaches(baud, least):
    windowed, one_by_one = led_upload_share(baud), led_upload_share(baud, windowed=False)
    print(f"{baud} baud: {windowed:.1%} of what the wire allows, one frame at a time {one_by_one:.1%}")
    assert least <= windowed <= 1
    assert one_by_one < windowed


@BOARDS
def test_an_event_is_out_soon_after_the_debounce_time(build: Build):
    delays_ms = event_delays_ms(build)
    p99_ms = delays_ms[int(0.99 * len(delays_ms))]
    print(f"{build.mcu}: median {delays_ms[len(delays_ms) // 2]:.2f}, p99 {p99_ms:.2f}, most {delays_ms[-1]:.2f} ms")
    assert delays_ms[0] > 0
    assert p99_ms <= 3


def test_no_frame_is_lost_where_leds_are_shown_under_traffic():
    lost, counters = lost_under_shows(MEGA, shows=200)
    assert lost == 0
    assert counters.overruns == 0
    assert counters.bad_pulses == 0
    assert counters.shows >= 200


def test_a_show_right_after_another_does_not_run_into_it():
    with SteppedBoard.avr(UNO) as board:
        host = Host(board)
        host.greet(1_000_000)
        before = board.counters()
        for level in range(1, 6):
            assert host.ask(Fill(level, 0, 0))
            assert host.ask(Show())
            assert host.ask(Show())
        board.run(0.001)
        after = board.counters()
        assert after.shows == before.shows + 10
        assert after.bad_pulses == 0


def test_a_host_that_does_not_wait_for_the_leds_loses_frames_and_learns_it():
    with SteppedBoard.avr(MEGA) as board:
        host = Host(board)
        host.greet()
        board.send(encode(Show(), 1) + b"".join(encode(Ping(), seq) for seq in range(2, 12)))
        seen = [answered.frame for _ in range(30) for answered in host.listen()]
        acknowledged = [frame.seq for frame in seen if isinstance(frame.message, Ack)]
        assert 1 in acknowledged
        assert len(acknowledged) < 11
        assert board.counters().overruns > 0
        assert [frame.message for frame in seen if isinstance(frame.message, Heartbeat)][-1].overruns > 0


@BOARDS
@pytest.mark.parametrize("baud", [115_200, 1_000_000])
@pytest.mark.parametrize("small", [True, False], ids=["small frames", "any frames"])
def test_a_host_that_keeps_the_window_full_loses_nothing(build: Build, baud, small):
    """While sensors change as well: each ACK is met at once by the next frame."""
    rng = random.Random(20_261_130)
    print("seed 20261130")
    with SteppedBoard.avr(build) as board:
        host = Host(board)
        info = host.greet(baud)
        waiting = [Ping() if small else range_of(rng, info.max_payload, build.cells) for _ in range(150)]
        under_way: dict[int, int] = {}
        while waiting or under_way:
            while waiting and sum(under_way.values()) + len(encode(waiting[-1], 1)) <= info.rx_window:
                seq, size = host.send(waiting.pop())
                under_way[seq] = size
            board.set_sensor(rng.randrange(build.cells), rng.random() < 0.5)
            answers = host.listen()
            assert answers, "a frame was lost"
            for answered in answers:
                if isinstance(answered.frame.message, Ack):
                    del under_way[answered.frame.seq]
        assert board.counters().overruns == 0


def range_of(rng: random.Random, max_payload: int, cells: int) -> SetRange:
    """Some of the cells; every third time as many as a frame carries."""
    most = min((max_payload - 3) // 3, cells)
    count = rng.choice((most, rng.randrange(most), rng.randrange(4)))
    return SetRange(0, Format.RGB, rng.randbytes(3 * count))


@BOARDS
def test_the_stack_never_comes_near_the_variables(build: Build):
    with SteppedBoard.avr(build, uid=None) as board:
        board.run(1.5)
        host = Host(board)
        info = host.greet()
        for cell in range(build.cells):
            board.set_sensor(cell, True)
        assert host.ask(SetRange(0, Format.RGB, bytes(min(info.max_payload - 3, 3 * build.cells) // 3 * 3)))
        assert host.ask(Show())
        assert host.ask(SetBaud(250_000))
        board.run(7)
        free = board.counters().stack_free
    print(f"{build.mcu}: {free} bytes of RAM never touched")
    assert free >= STACK_TO_SPARE


@BOARDS
@pytest.mark.parametrize("active_low", [True, False])
def test_each_sensor_input_and_each_led_is_the_cell_of_its_index(build: Build, active_low):
    with SteppedBoard.avr(Build(build.mcu, build.rows, build.columns, active_low=active_low)) as board:
        host = Host(board)
        host.greet()
        for cell in (0, 7, 8, build.cells - 1):
            board.set_sensor(cell, True)
            events = [
                answered.frame.message for _ in range(3) for answered in host.listen(0.015)
                if isinstance(answered.frame.message, Event)
            ]  # fmt: skip
            assert [(event.index, event.occupied) for event in events] == [(cell, 1)]
        colours = tuple(Rgb(cell, 255 - cell, cell // 2) for cell in range(build.cells))
        for first in range(0, build.cells, 64):
            data = bytes(level for colour in colours[first : first + 64] for level in colour)
            assert host.ask(SetRange(first, Format.RGB, data))
        assert host.ask(Show())
        board.run(0.001)
        assert board.leds() == colours
        assert board.counters().bad_pulses == 0


class Caller:
    """A host on a real port."""

    def __init__(self, port: str, baud: int = BAUD) -> None:
        self.port = serial.Serial(port, baud, timeout=0.02, exclusive=True)
        self._decoder = Decoder()
        self._seq = 0

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *_) -> None:
        self.port.close()

    def ask(self, message: Message, kind: type = Ack, *, every_s: float = 1.0) -> object:
        """Sends it until an answer of this kind comes."""
        self._seq = self._seq % 255 + 1

        def try_once():
            self.port.write(encode(message, self._seq))
            return self.wait(kind, every_s, seq=self._seq)

        return until(try_once)

    def wait(self, kind: type, seconds: float, seq: int = 0) -> object | None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            for frame in self._decoder.feed(self.port.read(self.port.in_waiting or 1)):
                if isinstance(frame.message, kind) and frame.seq == seq:
                    return frame.message
        return None


def until(attempt: Callable[[], T | None]) -> T:
    """What comes of the attempt as soon as it is true."""
    end_s = time.monotonic() + LONGEST_S
    while time.monotonic() < end_s:
        if came := attempt():
            return came
    raise AssertionError("nothing came")


@BOARDS
def test_a_board_behind_a_pty_answers_shows_and_senses(build: Build):
    with AvrBoard(build) as board, Caller(board.port) as caller:
        info = caller.ask(Hello(1, 1), Info, every_s=0.25)
        assert (info.rows * info.columns, info.uid) == (build.cells, UID)
        assert caller.ask(Fill(1, 2, 3))
        assert caller.ask(Show())
        until(lambda: board.leds() == (Rgb(1, 2, 3),) * build.cells)
        board.set_sensor(build.cells - 1, True)
        event = until(lambda: caller.wait(Event, 1.0))
        assert (event.index, event.occupied) == (build.cells - 1, 1)
        until(lambda: is_heard_at(caller, 1_000_000))
        assert board.counters().baud == 1_000_000


def is_heard_at(caller: Caller, baud: int) -> bool:
    """Changes the speed. A busy computer may be too slow for the second in which it has to be used."""
    caller.port.baudrate = BAUD
    assert caller.ask(SetBaud(baud))
    caller.port.baudrate = baud
    # The first one may meet the last bits of the ACK.
    for seq in range(200, 206):
        caller.port.write(encode(Ping(), seq))
        if caller.wait(Ack, 0.1, seq=seq) is not None:
            return True
    return False


def test_a_board_that_is_plugged_in_again_has_another_name_and_started_anew():
    with AvrBoard() as board:
        with Caller(board.port) as caller:
            before = caller.ask(Hello(1, 1), Info, every_s=0.25)
        name = board.port
        board.unplug()
        with pytest.raises(OSError, match="could not open"):
            Caller(name)
        assert board.plug() == board.port != name
        with Caller(board.port) as caller:
            after = caller.ask(Hello(1, 1), Info, every_s=0.25)
        assert (after.uid, after.boot_id) == (before.uid, before.boot_id + 1)


def test_bytes_at_another_speed_arrive_broken():
    with AvrBoard() as board, Caller(board.port, 57_600) as caller:
        caller.port.write(encode(Hello(1, 1), 1))
        assert caller.wait(Info, 0.3, seq=1) is None
        assert board.counters().garbled > 0


def test_opening_the_port_resets_a_board_that_is_wired_so():
    with AvrBoard(auto_reset=True) as board:
        ids = []
        for _ in range(2):
            with Caller(board.port) as caller:
                ids.append(caller.ask(Hello(1, 1), Info, every_s=0.25).boot_id)
        assert ids[1] > ids[0]


def test_a_cell_that_is_none_is_refused():
    with AvrBoard() as board, pytest.raises(IndexError):
        board.set_sensor(UNO.cells, True)
