"""Faults do what they say, where and as often as they say, and the same again with the same seed; and whatever they do
to ports, no thread and no descriptor is left behind.
"""

import gc
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
import serial

from firmware_protocol.codec import Decoder, encode
from firmware_protocol.errors import LinkError
from firmware_protocol.exchange import PORT_ERRORS
from firmware_protocol.link import open_port
from firmware_protocol.messages import BAUD, Ack, Fill, Heartbeat, Hello, Info, Message, Ping, Status
from hardware_sims.board import Board
from hardware_sims.faults import (
    At,
    Channel,
    Corrupt,
    Delay,
    Drop,
    Duplicate,
    Flip,
    Foreign,
    Insert,
    Merge,
    Reboot,
    Side,
    Split,
    Stall,
    Unplug,
    WrongBaud,
    heard,
)
from hardware_sims.ports import InProcess, PtyPort, TcpPort

SEED = 20_261_130
PIECE = bytes(range(1, 201))


def carried(fault, data: bytes, towards: Side = Side.HOST, seed: int = SEED) -> bytes:
    return b"".join(piece for _, piece in Channel([fault], towards, seed).carry(data, 0.0))


# Faults of bytes


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.2])
@pytest.mark.parametrize("kind", [Flip, Corrupt, Drop, Insert, Duplicate], ids=lambda kind: kind.__name__)
def test_a_fault_strikes_as_often_as_its_rate(kind, rate):
    count = 40_000
    data = bytes(n % 251 for n in range(count))
    arrived = carried(kind(rate), data)
    match kind():
        case Flip() | Corrupt():
            struck = sum(one != other for one, other in zip(data, arrived, strict=True))
        case _:
            struck = abs(len(arrived) - count)
    # Four standard deviations.
    assert abs(struck - rate * count) < 4 * (rate * (1 - rate) * count) ** 0.5


SCRIPTED = {
    "a byte of all": (Drop(at=(At(3),)), b"abcdef", b"abcef"),
    "several": (Drop(at=(At(0), At(5))), b"abcdef", b"bcde"),
    "a byte of a frame": (Drop(at=(At(1, frame=1),)), b"\0aa\0\0bc\0\0dd\0", b"\0aa\0\0c\0\0dd\0"),
    "a leading zero": (Drop(at=(At(0, frame=1),)), b"\0aa\0\0bb\0", b"\0aa\0bb\0"),
    "a last zero": (Drop(at=(At(3, frame=0),)), b"\0aa\0\0bb\0", b"\0aa\0bb\0"),
    "doubled": (Duplicate(at=(At(1),)), b"abc", b"abbc"),
    "nothing there": (Drop(at=(At(100),)), b"abc", b"abc"),
}


@pytest.mark.parametrize("script", SCRIPTED)
def test_a_fault_strikes_where_it_is_told_to(script):
    fault, data, expected = SCRIPTED[script]
    assert carried(fault, data) == expected
    channel = Channel([fault], Side.HOST, SEED)
    in_pieces = b"".join(piece for byte in data for _, piece in channel.carry(bytes((byte,)), 0.0))
    assert in_pieces == expected


def test_a_flip_changes_one_bit_and_a_corruption_the_byte():
    for seed in range(50):
        (flipped,) = carried(Flip(at=(At(0),)), b"\x55", seed=seed)
        assert (flipped ^ 0x55).bit_count() == 1
        (corrupted,) = carried(Corrupt(at=(At(0),)), b"\x55", seed=seed)
        assert corrupted != 0x55
        assert len(carried(Insert(at=(At(0),)), b"\x55", seed=seed)) == 2


def test_a_fault_strikes_one_way_only():
    for fault in (Drop(1.0, towards=Side.DEVICE), Corrupt(1.0, towards=Side.DEVICE)):
        assert carried(fault, PIECE, Side.HOST) == PIECE
        assert carried(fault, PIECE, Side.DEVICE) != PIECE
    assert carried(Drop(1.0), PIECE, Side.HOST) == carried(Drop(1.0), PIECE, Side.DEVICE) == b""


def test_the_same_seed_makes_the_same_faults():
    fault = Corrupt(0.1)
    assert carried(fault, PIECE, seed=1) == carried(fault, PIECE, seed=1)
    assert carried(fault, PIECE, seed=1) != carried(fault, PIECE, seed=2)
    assert carried(fault, PIECE, Side.HOST, 1) != carried(fault, PIECE, Side.DEVICE, 1)


# Faults of time


def test_a_split_cuts_what_was_written_at_once():
    pieces = Channel([Split(at=(At(2), At(5)), gap_s=0.5)], Side.HOST, SEED).carry(b"abcdefg", 1.0)
    assert pieces == [(1.0, b"ab"), (1.5, b"cde"), (2.0, b"fg")]


def test_splits_by_rate_lose_nothing():
    pieces = Channel([Split(0.2)], Side.HOST, SEED).carry(PIECE, 1.0)
    assert len(pieces) > 20
    assert b"".join(piece for _, piece in pieces) == PIECE
    assert [at_s for at_s, _ in pieces] == sorted(at_s for at_s, _ in pieces)


def test_a_merge_delivers_at_ticks():
    channel = Channel([Merge(0.016)], Side.HOST, SEED)
    times_s = [at_s for n in range(8) for at_s, _ in channel.carry(b"a", 0.001 + n * 0.004)]
    assert times_s == pytest.approx([0.016] * 4 + [0.032] * 4)


def test_a_delay_keeps_the_order():
    channel = Channel([Delay(0.1, jitter_s=0.5)], Side.HOST, SEED)
    arrived = [one for n in range(50) for one in channel.carry(bytes((n + 1,)), n / 100)]
    assert b"".join(piece for _, piece in arrived) == bytes(range(1, 51))
    assert [at_s for at_s, _ in arrived] == sorted(at_s for at_s, _ in arrived)
    assert all(at_s - n / 100 >= 0.1 for n, (at_s, _) in enumerate(arrived))


def test_a_stall_holds_everything_up():
    channel = Channel([Stall(2.0, at_s=(1.0,))], Side.HOST, SEED)
    assert [channel.carry(b"a", t_s)[0][0] for t_s in (0.5, 1.5, 2.0, 4.0)] == [0.5, 3.0, 3.0, 4.0]
    assert Channel([Stall(2.0, rate=1.0)], Side.HOST, SEED).carry(b"a", 1.0) == [(3.0, b"a")]


# A wrong speed


@pytest.mark.parametrize("host_baud", [BAUD * 0.97, BAUD * 0.98, BAUD * 1.021, BAUD * 1.03])
def test_a_speed_that_is_near_enough_is_understood(host_baud):
    assert heard(PIECE, BAUD, round(host_baud)) == PIECE


@pytest.mark.parametrize("host_baud", [9_600, 57_600, 230_400, 250_000, 1_000_000])
def test_at_another_speed_there_is_only_noise(host_baud):
    frame = encode(Fill(1, 2, 3), 4)
    for sent, read in ((BAUD, host_baud), (host_baud, BAUD)):
        noise = heard(frame * 20, sent, read)
        assert noise
        assert Decoder().feed(noise) == []


def messages(port: InProcess | object, s: float, now_s=time.monotonic) -> Iterator[Message]:
    """What comes within the next seconds."""
    end_s, decoder = now_s() + s, Decoder()
    while (left_s := end_s - now_s()) > 0:
        for frame in decoder.feed(port.read(left_s)):
            yield frame.message


def answered(port, s: float = 3.0, now_s=time.monotonic) -> bool:
    """Whether HELLO is answered within so long."""
    end_s = now_s() + s
    while now_s() < end_s:
        port.write(encode(Hello(1, 1), 1))
        if any(isinstance(message, Info) for message in messages(port, 0.1, now_s)):
            return True
    return False


def test_a_host_at_a_wrong_speed_neither_understands_nor_is_understood():
    board = Board(8, 8)
    port = InProcess(board, [WrongBaud(9_600)], baud=BAUD)
    assert not answered(port, now_s=lambda: port.now_s)
    port.sleep(5.0)
    assert port.read(0.0)
    assert list(messages(port, 5.0, lambda: port.now_s)) == []
    port = InProcess(Board(8, 8), baud=9_600)
    assert not answered(port, now_s=lambda: port.now_s)
    port.set_baud(BAUD)
    assert answered(port, now_s=lambda: port.now_s)


def test_the_speed_that_a_host_sets_on_a_pty_counts():
    with PtyPort(Board(8, 8)) as far, closing(open_port(far.path, 9_600)) as port:
        assert not answered(port, 0.5)
        port.set_baud(BAUD)
        assert answered(port)


def talk(port, now_s=time.monotonic) -> None:
    """Goes on until the port is gone, or for some 100 s."""
    for _ in range(10_000):
        port.write(encode(Ping(), 1))
        for _ in messages(port, 0.01, now_s):
            pass


# What else happens to devices


def test_foreign_bytes_reach_the_side_they_are_meant_for():
    port = InProcess(Board(8, 8), [Foreign((0.1,)), Foreign((0.2,), b"OK\r\n", Side.HOST)], baud=BAUD)
    port.sleep(0.3)
    assert port.read(0.0) == b"OK\r\n"
    port.write(encode(Ping(), 1))
    found = list(messages(port, 0.5, lambda: port.now_s))
    assert found[0] == Ack(Status.OK)
    # The probe stood before the first frame, and was dropped as one that failed its check.
    assert [one.bad_frames for one in found if isinstance(one, Heartbeat)] == [1]


def test_a_reboot_by_script_has_another_boot_id_and_is_deaf_for_a_while():
    board = Board(8, 8)
    before = board.boot_id
    port = InProcess(board, [Reboot((1.0,), silent_s=1.2)], baud=BAUD)
    port.sleep(1.1)
    assert board.boot_id != before
    assert b"\xfe\x80" in port.read(0.0)
    assert not answered(port, 1.0, now_s=lambda: port.now_s)
    assert answered(port, 1.0, now_s=lambda: port.now_s)


def test_an_unplugged_port_in_process_is_dead_until_it_comes_back():
    port = InProcess(Board(8, 8), [Unplug((1.0,), for_s=0.5)], baud=BAUD)
    with pytest.raises(OSError, match="gone"):
        talk(port, lambda: port.now_s)
    assert port.now_s == pytest.approx(1.0)
    for call in (lambda: port.read(0.1), lambda: port.write(b"a"), lambda: port.set_baud(9_600)):
        with pytest.raises(OSError, match="gone"):
            call()
    port.sleep(0.6)
    assert answered(port, now_s=lambda: port.now_s)


def test_an_unplugged_pty_comes_back_under_the_name_that_the_script_says(tmp_path):
    faults = [Unplug((0.5,), for_s=0.2), Unplug((1.5,), for_s=0.2, new_name=True)]
    board, answers, gone = Board(8, 8), [], 0
    with PtyPort(board, faults, link_name=tmp_path / "ttyUSB0") as far:
        end_s = time.monotonic() + 20.0
        while not (tmp_path / "ttyUSB1").exists():
            assert time.monotonic() < end_s
            try:
                with closing(open_port(str(tmp_path / "ttyUSB0"), BAUD)) as port:
                    answers.append(answered(port))
                    talk(port)
            except (LinkError, *PORT_ERRORS):
                gone += 1
                time.sleep(0.01)
        assert far.path == str(tmp_path / "ttyUSB1")
        assert not (tmp_path / "ttyUSB0").exists()
        with closing(open_port(far.path, BAUD)) as port:
            assert answered(port)
    assert not (tmp_path / "ttyUSB1").exists()
    assert all(answers)
    assert gone >= 2


def test_a_board_that_restarts_when_its_port_is_opened():
    board = Board(8, 8)
    before = board.boot_id
    with PtyPort(board, resets_on_open=True, boot_s=0.3) as far, closing(open_port(far.path, BAUD)) as port:
        assert answered(port)
    assert board.boot_id != before


# Ports


@pytest.mark.parametrize("kind", [PtyPort, TcpPort])
def test_a_second_host_after_the_first(kind):
    with kind(Board(8, 8)) as far:
        for _ in range(3):
            with closing(open_port(far.path if kind is PtyPort else far.url, BAUD)) as port:
                assert answered(port)


def test_tcp_serves_one_host_at_a_time():
    with TcpPort(Board(8, 8)) as far, closing(open_port(far.url, BAUD)) as first:
        assert answered(first)
        with closing(open_port(far.url, BAUD)) as second, pytest.raises(PORT_ERRORS):
            answered(second)
        assert answered(first)


def test_pyserial_opens_either_port():
    with PtyPort(Board(8, 8)) as pty, TcpPort(Board(8, 8)) as tcp:
        for name in (pty.path, tcp.url):
            with serial.serial_for_url(name, baudrate=BAUD, timeout=5.0) as port:
                port.write(encode(Ping(), 9))
                assert port.read_until(encode(Ack(Status.OK), 9)).endswith(encode(Ack(Status.OK), 9))


def test_a_host_that_reads_nothing_does_not_hold_the_device_up():
    with PtyPort(Board(8, 8)) as far, closing(open_port(far.path, BAUD)) as port:
        # An answer each, far more than a pty keeps.
        for n in range(3_000):
            port.write(encode(Ping(), n % 256))
        assert far.call(lambda board, _: board.rows) == 8
        wait_for(lambda: answered(port, 0.5))


@pytest.mark.parametrize("kind", [PtyPort, TcpPort])
def test_twenty_unplugs_leave_nothing_behind(kind):
    gc.collect()
    threads, descriptors = threading.active_count(), len(os.listdir("/dev/fd"))
    with kind(Board(8, 8)) as far:
        inside = len(os.listdir("/dev/fd"))
        for n in range(20):
            with closing(open_port(far.path if kind is PtyPort else far.url, BAUD)) as port:
                assert answered(port)
                far.unplug()
                with pytest.raises(PORT_ERRORS):
                    talk(port)
            far.replug(new_name=n % 2 == 0)
        assert threading.active_count() == threads + 1
        assert len(os.listdir("/dev/fd")) == inside
    assert threading.active_count() == threads
    assert len(os.listdir("/dev/fd")) == descriptors


def test_nothing_runs_before_start_or_after_close():
    threads = threading.active_count()
    for port in (PtyPort(Board(8, 8)), TcpPort(Board(8, 8))):
        assert threading.active_count() == threads
        port.start()
        assert threading.active_count() == threads + 1
        port.close()
        port.close()
        assert threading.active_count() == threads
        with port:
            assert threading.active_count() == threads + 1


def test_a_port_that_nobody_uses_costs_little():
    with PtyPort(Board(8, 8)), TcpPort(Board(8, 8)):
        before_s = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - before_s < 0.1


def wait_for(condition, s: float = 10.0) -> None:
    end_s = time.monotonic() + s
    while not condition():
        assert time.monotonic() < end_s, f"not within {s} s"
        time.sleep(0.01)
