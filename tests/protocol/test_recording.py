"""A recorded run is a text that people can read, and that either side can be played from again."""

import io
import random
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.codec import encode
from firmware_protocol.driver import Changed, Found, GridEvent, Rgb
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import open_port
from firmware_protocol.messages import BAUD, Fill, Hello, Ping, Show
from hardware_sims.board import Board
from hardware_sims.faults import Corrupt, Delay, Drop, Flip, Foreign, Insert, Reboot, Split, Stall
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import InProcess, PtyPort
from hardware_sims.recording import Recording, Replay, Restarted, Run, Touched, Way, play_host, read_recording
from hardware_sims.sensors import Bounce
from hardware_sims.strip import Strip

SEED = 20_261_130
NOISE = (Corrupt(0.01), Drop(0.002), Insert(0.002), Flip(0.002), Split(0.05))


def recorded(device, faults=(), *, length_s: float = 20.0, sensors: bool = True):
    """A game's worth of talk in virtual time: the file's text."""
    file, rng = io.StringIO(), random.Random(SEED)
    recording = Recording(file)
    port = InProcess(device, faults, seed=SEED, recording=recording, baud=BAUD)
    for n in range(round(length_s * 4)):
        message = rng.choice((Hello(1, 1), Fill(n % 256, 2, 3), Show(), Ping()))
        port.write(encode(message, n % 256))
        if sensors:
            port.set_sensor(rng.randrange(16), rng.random() < 0.5)
        end_s = port.now_s + 0.25
        while port.now_s < end_s:
            port.read(end_s - port.now_s)
    recording.flush()
    return file.getvalue()


def carried(text: str, way: Way) -> bytes:
    return b"".join(
        entry.data for entry in read_recording(io.StringIO(text)) if isinstance(entry, Run) and entry.way is way
    )


def board() -> Board:
    return Board(4, 4, seed=5, sensor_faults=(Bounce(10.0),))


def test_a_recording_can_be_read_by_people():
    text = recorded(board(), [Reboot((0.9,), silent_s=0.05)], length_s=1.0)
    lines = [line.split() for line in text.splitlines()]
    assert lines[0][2:4] == ["host>", "00"]
    assert "# Fill(red=0, green=2, blue=3) seq 0" in text
    assert "Heartbeat(uptime_ms=500," in text
    assert any(line[1:] == ["restart", "0.05", "noise"] for line in lines)
    assert any(line[1] == "cell" and line[3] in ("occupied", "empty") for line in lines)
    assert max(map(len, text.splitlines())) < 400


def test_the_same_seed_makes_the_same_run_to_the_byte():
    assert recorded(board(), NOISE, length_s=5.0) == recorded(board(), NOISE, length_s=5.0)


def test_without_faults_each_byte_stands_there_once_and_with_faults_at_both_ends():
    quiet = recorded(board())
    assert carried(quiet, Way.HOST_SENT)
    assert carried(quiet, Way.HOST_GOT)
    assert carried(quiet, Way.DEVICE_GOT) == carried(quiet, Way.DEVICE_SENT) == b""
    noisy = recorded(board(), NOISE)
    assert carried(noisy, Way.DEVICE_GOT) != carried(noisy, Way.HOST_SENT) == carried(quiet, Way.HOST_SENT)
    assert carried(noisy, Way.DEVICE_SENT) != carried(noisy, Way.HOST_GOT)


runs = st.builds(
    Run,
    st.integers(0, 10**12).map(lambda ns: ns / 10**9),
    st.sampled_from(Way),
    st.binary(min_size=2, max_size=40),
    st.integers(0, 10**9).map(lambda ns: ns / 10**9),
)


@given(found=st.lists(runs, max_size=20))
def test_what_was_written_is_read(found):
    text = "".join(
        f"{run.t_s:14.9f} +{run.lasted_s:.9f} {run.way.value} {run.data.hex(' ')}  # says\n" for run in found
    )
    assert read_recording(io.StringIO(text)) == tuple(sorted(found, key=lambda run: run.t_s))


def test_bytes_that_come_evenly_are_one_line_with_the_time_of_each():
    file = io.StringIO()
    recording = Recording(file)
    times_s = [1.0 + n * 10 / BAUD for n in range(9)]
    for at_s, byte in zip(times_s, encode(Ping(), 1), strict=True):
        recording.add(at_s, Way.HOST_GOT, bytes((byte,)))
    recording.add(3.0, Way.HOST_GOT, b"\1\2")
    recording.touched(4.0, 7, True)
    recording.restarted(5.0, 1.2, False)
    recording.remark(6.0, "the host has gone")
    recording.flush()
    first, second, *rest = read_recording(io.StringIO(file.getvalue()))
    assert [at_s for at_s, _ in first.bytes_at()] == pytest.approx(times_s)
    assert b"".join(byte for _, byte in first.bytes_at()) == encode(Ping(), 1)
    assert second.bytes_at() == [(3.0, b"\1\2")]
    assert rest == [Touched(4.0, 7, True), Restarted(5.0, 1.2, False)]


@pytest.mark.parametrize(
    "line",
    [
        "1.0 +0.0 host>",
        "x +0.0 host> 00",
        "1.0 +0.0 nobody> 00",
        "1.0 +0.0 host> 0x",
        "1.0 cell 3",
        "1.0 cell three occupied",
        "1.0 cell 3 maybe",
        "1.0 restart soon noise",
        "1.0 what",
    ],
)
def test_a_line_that_is_none_is_named(line):
    text = f"1.0 +0.0 host> 00 01\n{line}\n"
    if line.endswith("host>"):
        assert read_recording(io.StringIO(text))[-1].data == b""
        return
    with pytest.raises(ValueError, match="line 2"):
        read_recording(io.StringIO(text))


# The host again, to a device

DEVICES = {
    "board": (board, True),
    "monome": (lambda: MonomeGrid(4, 4, seed=5, sensor_faults=(Bounce(10.0),)), True),
    "wled": (lambda: Strip(16), False),
}


@pytest.mark.parametrize(
    "faults",
    [(), NOISE, (Reboot((3.3, 9.0)), Foreign((5.0,)), Delay(0.01, 0.02), Stall(0.5, 0.02))],
    ids=["quiet", "noise", "accidents"],
)
@pytest.mark.parametrize("device", DEVICES)
def test_a_device_does_the_same_again_for_the_recorded_host(device, faults):
    make, sensors = DEVICES[device]
    text = recorded(make(), faults, sensors=sensors)
    sent = carried(text, Way.DEVICE_SENT if faults else Way.HOST_GOT)
    assert sent
    again = play_host(read_recording(io.StringIO(text)), make())
    # What was still on its way at the end is sent again, but was not read.
    assert again.startswith(sent)
    assert len(again) - len(sent) < 100


# The device again, to a host


def told(port: InProcess, length_s: float) -> list[GridEvent]:
    """What a driver tells of the device at this port."""
    driver = GridDriver()
    driver.want((Rgb(1, 2, 3),) * 16)
    exchange, events = Exchange(port, driver, clock=lambda: port.now_s), []
    while port.now_s < length_s:
        events += exchange.round()
    return events


@pytest.mark.parametrize("faults", [(), NOISE], ids=["quiet", "noise"])
def test_a_host_is_told_the_same_again_by_the_recorded_device(faults):
    file = io.StringIO()
    recording = Recording(file)
    port = InProcess(board(), faults, seed=SEED, recording=recording, baud=BAUD)
    rng = random.Random(SEED)
    first: list[GridEvent] = []
    driver = GridDriver()
    driver.want((Rgb(1, 2, 3),) * 16)
    exchange = Exchange(port, driver, clock=lambda: port.now_s)
    while port.now_s < 10.0:
        if rng.random() < 0.02:
            port.set_sensor(rng.randrange(16), rng.random() < 0.5)
        first += exchange.round()
    recording.flush()
    assert isinstance(first[0], Found)
    assert any(isinstance(event, Changed) for event in first)
    entries = read_recording(io.StringIO(file.getvalue()))
    again = told(InProcess(Replay(entries), baud=BAUD, paced=False), 10.0)
    assert again == first


def test_a_recorded_device_waits_for_a_host_that_is_late():
    entries = read_recording(io.StringIO(recorded_by_a_driver()))
    port = InProcess(Replay(entries), baud=BAUD, paced=False)
    assert port.read(30.0) == b""
    driver = GridDriver()
    exchange, told_s = Exchange(port, driver, clock=lambda: port.now_s), []
    while port.now_s < 31.6:
        told_s += [(event, port.now_s) for event in exchange.round()]
    (found, found_s), (changed, changed_s) = told_s
    assert isinstance(found, Found)
    assert changed == Changed(9, True)
    # All that was said since is as late as the first answer.
    assert found_s < 30.2
    assert 31.0 < changed_s < 31.2


def test_a_recorded_device_is_found_by_a_host_in_real_time():
    text = recorded_by_a_driver()
    with PtyPort(Replay(read_recording(io.StringIO(text)))) as far, closing(open_port(far.path, BAUD)) as port:
        exchange, events = Exchange(port, GridDriver()), []
        end_s = time.monotonic() + 20.0
        while not any(isinstance(event, Changed) for event in events) and time.monotonic() < end_s:
            events += exchange.round()
    assert isinstance(events[0], Found)
    assert Changed(9, True) in events


def recorded_by_a_driver() -> str:
    """The text of a run in which a piece comes to lie on cell 9 after a second."""
    file = io.StringIO()
    recording = Recording(file)
    port = InProcess(Board(4, 4), baud=BAUD)
    exchange = Exchange(port, GridDriver(), clock=lambda: port.now_s, record=recording.from_link)
    while port.now_s < 1.0:
        exchange.round()
    port.set_sensor(9, True)
    while port.now_s < 2.0:
        exchange.round()
    recording.flush()
    return file.getvalue()


def test_a_recorded_device_has_no_sensors():
    with pytest.raises(ValueError, match="no sensors"):
        InProcess(Replay(())).set_sensor(0, True)
