"""The simulated device where it can be what no firmware image is: any size, uid, version and wiring, at any time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol.codec import Decoder, Unreadable, encode
from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.messages import (
    BAUD,
    Ack,
    Bitmap,
    Config,
    Event,
    Fill,
    Flag,
    Format,
    Heartbeat,
    Hello,
    Info,
    Message,
    Ping,
    Sense,
    SensorKind,
    SetBaud,
    SetRange,
    Show,
    Status,
)
from hardware_sims.board import Board
from hardware_sims.ports import InProcess
from hardware_sims.sensors import Bounce, Ghosts, Stuck

OK = Ack(Status.OK)


def ask(board: Board, message: Message, t_s: float, seq: int = 1) -> list:
    """What it answers at once, or when its LEDs are written."""
    board.receive(encode(message, seq), t_s)
    return [frame.message for frame in Decoder().feed(board.send(t_s + 0.009))]


def events(board: Board, from_s: float, to_s: float) -> list[Event]:
    board.send(from_s)
    return [frame.message for frame in Decoder().feed(board.send(to_s)) if isinstance(frame.message, Event)]


def heard(port: InProcess, s: float) -> list:
    """Every message within the next seconds."""
    end_s, decoder, found = port.now_s + s, Decoder(), []
    while port.now_s < end_s:
        found += [frame.message for frame in decoder.feed(port.read(end_s - port.now_s))]
    return found


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 8), (3, 5), (7, 7), (8, 9), (16, 16)])
def test_a_grid_of_any_size(rows, columns):
    cells = rows * columns
    board = Board(rows, columns)
    (info,) = ask(board, Hello(1, 1), 0.0)
    assert (info.rows, info.columns) == (rows, columns)
    last = SetRange(cells - 1, Format.RGB, b"\1\2\3")
    assert ask(board, last, 0.1, 2) == [OK]
    assert ask(board, Show(), 0.2, 3) == [OK]
    assert board.leds == (DARK,) * (cells - 1) + (Rgb(1, 2, 3),)
    board.set_sensor(cells - 1, True, 0.3)
    (bitmap,) = (one for one in ask(board, Sense(), 0.4, 4) if isinstance(one, Bitmap))
    assert int.from_bytes(bitmap.bits, "little") == 1 << cells - 1
    assert len(bitmap.bits) == (cells + 7) // 8


@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (7, 7)])
def test_the_half_byte_past_the_last_cell_is_ignored(rows, columns):
    cells = rows * columns
    assert ask(Board(rows, columns), SetRange(0, Format.PALETTE_4, bytes((cells + 1) // 2)), 0.0) == [OK]


def test_it_is_what_it_is_made_to_be():
    board = Board(
        2, 3, uid=b"\1" * 8, firmware=(9, 8, 7), sensor_kind=SensorKind.REED, max_payload=64, rx_window=99,
        max_ma=1234, flags=Flag(0),
    )  # fmt: skip
    (info,) = ask(board, Hello(1, 1), 0.0)
    assert info == Info(
        1, 9, 8, 7, b"\1" * 8, board.boot_id, 2, 3, info.led_kind, SensorKind.REED, 64, 99, 1234, Flag(0)
    )


@pytest.mark.parametrize("proto", [0, 2, 255])
def test_another_version_is_known_by_the_first_byte_of_its_info(proto):
    (answer,) = ask(Board(8, 8, proto=proto), Hello(1, 1), 0.0)
    assert isinstance(answer, Unreadable)
    assert (answer.type, answer.payload[0]) == (Info.TYPE, proto)


def test_the_same_seed_makes_the_same_device():
    def life(seed: int) -> bytes:
        board = Board(8, 8, seed=seed, sensor_faults=(Bounce(15.0),))
        board.receive(encode(Hello(1, 1), 1), 0.5)
        for n in range(20):
            board.set_sensor(n, True, 1 + n / 10)
        board.reboot(5.0, silent_s=1.2, noise=True)
        return board.send(8.0)

    assert life(1) == life(1)
    assert life(1) != life(2)


def test_an_hour_passes_in_seconds():
    port = InProcess(Board(16, 16), paced=False)
    began_s = time.perf_counter()
    found = heard(port, 3600.0)
    took_s = time.perf_counter() - began_s
    print(f"an hour in {took_s:.2f} s")
    assert len(found) == 7200
    assert all(isinstance(one, Heartbeat) for one in found)
    assert [one.uptime_ms for one in found] == [500 * n for n in range(1, 7201)]
    assert took_s < 60


@pytest.mark.parametrize("max_ma", [100, 500, 2_000])
def test_the_leds_draw_no_more_than_allowed(max_ma):
    board = Board(8, 8, max_ma=max_ma)
    for n, colour in enumerate((Fill(255, 255, 255), Fill(255, 128, 64), Fill(3, 2, 1))):
        ask(board, colour, n + 0.1, 1)
        ask(board, Show(), n + 0.2, 2)
        drawn_ma = 64 + sum(map(sum, board.leds)) * 20 / 255
        assert drawn_ma <= max_ma
        assert len(set(board.leds)) == 1
    # What fits is not dimmed.
    assert max_ma == 100 or board.leds[0] == Rgb(3, 2, 1)


def test_leds_that_may_draw_less_than_they_do_when_dark_stay_dark():
    board = Board(8, 8, max_ma=10)
    ask(board, Fill(255, 255, 255), 0.1, 1)
    ask(board, Show(), 0.2, 2)
    assert board.leds == (DARK,) * 64


# Its clock


def test_an_event_comes_when_the_change_has_lasted():
    board = Board(8, 8, debounce_ms=30)
    board.set_sensor(5, True, 1.0)
    assert events(board, 1.0, 1.0299) == []
    (event,) = events(board, 1.0299, 1.031)
    assert (event.index, event.occupied, event.t_ms) == (5, 1, 1000)


def test_bytes_take_their_time_on_the_line():
    port = InProcess(Board(8, 8), baud=BAUD)
    frame = encode(Ping(), 1)
    port.write(frame)
    answer = b""
    while answer.count(0) < 2:
        answer += port.read(1.0)
    assert port.now_s == pytest.approx((len(frame) + len(answer)) * 10 / BAUD)


def test_what_comes_while_the_leds_are_written_overruns():
    port = InProcess(Board(16, 16), baud=BAUD)
    port.write(encode(Show(), 1) + encode(Ping(), 2) + encode(Ping(), 3))
    found = heard(port, 0.4)
    # Show takes 7.7 ms, in which all 18 bytes of the others come: three of them find room.
    assert found == [OK]
    (beat,) = heard(port, 0.2)
    assert beat.overruns == 15


def test_leds_that_need_no_interrupts_block_nothing():
    port = InProcess(Board(16, 16, flags=Flag.SIMULATED), baud=BAUD)
    port.write(encode(Show(), 1) + encode(Ping(), 2) + encode(Ping(), 3))
    assert heard(port, 0.4) == [OK, OK, OK]


def test_a_bootloader_swallows_what_comes_and_makes_noise_first():
    board = Board(8, 8)
    board.reboot(1.0, silent_s=1.2, noise=True)
    assert board.send(1.0) != b""
    for n in range(4):
        assert ask(board, Hello(1, 1), 1.1 + n / 4) == []
    assert len(ask(board, Hello(1, 1), 2.3)) == 1


def test_after_a_start_all_is_as_at_first():
    board = Board(8, 8)
    ask(board, Config(200, 10_000, 9, 0), 0.0, 1)
    ask(board, Fill(9, 9, 9), 0.1, 2)
    ask(board, Show(), 0.2, 3)
    ask(board, SetBaud(250_000), 0.3, 4)
    board.reboot(1.0)
    assert board.baud == BAUD
    assert ask(board, Show(), 1.1, 5) == [OK]
    assert board.leds == (DARK,) * 64
    board.set_sensor(1, True, 1.2)
    (event,) = events(board, 1.2, 1.25)
    assert event.event_seq == 1


# Its sensors


@settings(deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**16),
    moves=st.lists(st.tuples(st.integers(0, 63), st.floats(0.1, 0.5)), max_size=20),
    longest_ms=st.floats(1, 80),
)
def test_contacts_that_bounce_are_told_once_each_time(seed, moves, longest_ms):
    # A train of 80 ms has ended before a debounce of 90 ms has.
    board = Board(8, 8, seed=seed, debounce_ms=90, sensor_faults=(Bounce(longest_ms),))
    truth, told, t_s = [False] * 64, [], 0.0
    for cell, pause_s in moves:
        truth[cell] = not truth[cell]
        board.set_sensor(cell, truth[cell], t_s)
        found = events(board, t_s, t_s + pause_s + 0.2)
        told.append((cell, truth[cell]))
        assert [(event.index, bool(event.occupied)) for event in found] == told[-1:]
        t_s += pause_s + 0.2
    assert board.occupied == tuple(truth)


def test_a_piece_lifted_while_its_contact_still_bounces_leaves_an_empty_cell():
    for seed in range(20):
        board = Board(8, 8, seed=seed, debounce_ms=30, sensor_faults=(Bounce(80.0),))
        board.set_sensor(3, True, 1.0)
        board.set_sensor(3, False, 1.01)
        board.send(2.0)
        assert board.occupied == (False,) * 64, seed


def test_a_bounce_longer_than_the_debounce_is_told_as_it_is_seen():
    told = 0
    for seed in range(20):
        board = Board(8, 8, seed=seed, debounce_ms=5, sensor_faults=(Bounce(80.0, 60.0),))
        board.set_sensor(3, True, 1.0)
        found = events(board, 1.0, 2.0)
        assert found[-1].occupied == 1
        assert [event.occupied for event in found] == [n % 2 == 0 for n in range(len(found))]
        told += len(found)
    assert told > 20


def test_a_stuck_sensor_says_the_same_whatever_lies_on_it():
    board = Board(8, 8, sensor_faults=(Stuck(1, True), Stuck(2, False)))
    for t_s, occupied in ((1.0, True), (2.0, False)):
        for cell in (0, 1, 2):
            board.set_sensor(cell, occupied, t_s)
        board.send(t_s + 0.5)
        assert board.occupied[:3] == (occupied, True, False)
        assert board.sensors.occupied[:3] == (occupied,) * 3


@pytest.mark.parametrize(
    ("occupied", "seen"),
    [
        ((), ()),
        ((0,), (0,)),
        ((0, 1), (0, 1)),
        ((0, 9), (0, 9)),
        ((0, 1, 8), (0, 1, 8, 9)),
        ((0, 7, 56), (0, 7, 56, 63)),
        ((0, 1, 9, 10), (0, 1, 2, 8, 9, 10)),
        ((0, 9, 18), (0, 9, 18)),
    ],
    ids=str,
)
def test_a_matrix_without_diodes_sees_ghosts(occupied, seen):
    board = Board(8, 8, sensor_faults=(Ghosts(),))
    for cell in occupied:
        board.set_sensor(cell, True, 1.0)
    board.send(2.0)
    assert tuple(cell for cell, level in enumerate(board.occupied) if level) == seen
    for cell in occupied:
        board.set_sensor(cell, False, 3.0)
    board.send(4.0)
    assert not any(board.occupied)
