"""The firmware in simavr behind the ports and faults that the simulated device has."""

import io
import random
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from firmware_protocol.driver import Changed, Found, Lost, Rgb, Sensed
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import open_port
from firmware_protocol.messages import BAUD
from hardware_sims.avr import UNO, SteppedBoard, missing
from hardware_sims.faults import Corrupt, Drop, Flip, Foreign, Insert, Reboot, Split
from hardware_sims.firmware import FirmwareDevice
from hardware_sims.ports import InProcess, PtyPort
from hardware_sims.recording import Recording, Run, Way, play_host, read_recording
from hardware_sims.sensors import Bounce, Ghosts, Stuck

SEED = 20_261_130
NOISE = (Corrupt(0.01), Drop(0.001), Insert(0.001), Flip(0.001), Split(0.05))
WANTED = tuple(Rgb(n % 7, n % 5, n % 3) for n in range(64))


@contextmanager
def firmware(*sensor_faults) -> Iterator[FirmwareDevice]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with SteppedBoard.avr(UNO) as board:
        yield FirmwareDevice(board, 8, 8, sensor_faults, seed=SEED)


class Heard:
    """What a driver tells of the device at a port in process, and the map that follows from it."""

    def __init__(self, port: InProcess[FirmwareDevice]) -> None:
        self.port = port
        self.events = []
        self.occupied: tuple[bool, ...] | None = None
        driver = GridDriver((8, 8))
        driver.want(WANTED)
        self._exchange = Exchange(port, driver, clock=lambda: port.now_s)

    def listen(self, s: float) -> None:
        end_s = self.port.now_s + s
        while self.port.now_s < end_s:
            for event in self._exchange.round():
                self.events.append(event)
                match event:
                    case Found(_, occupied) | Sensed(occupied):
                        self.occupied = occupied
                    case Lost():
                        self.occupied = None
                    case Changed(index, now):
                        assert self.occupied is not None
                        assert self.occupied[index] != now, "a change was told that is none"
                        self.occupied = (*self.occupied[:index], now, *self.occupied[index + 1 :])


def test_over_a_noisy_line_the_truth_is_known_within_two_seconds_of_quiet():
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    with firmware() as device:
        heard = Heard(InProcess(device, NOISE, seed=SEED, baud=BAUD, paced=False))
        heard.listen(2.0)
        for _ in range(4):
            for _ in range(6):
                heard.port.set_sensor(rng.randrange(64), rng.random() < 0.5)
                heard.listen(rng.uniform(0.0, 0.1))
            heard.listen(2.0)
            assert heard.occupied == device.sensors.occupied
        assert device.leds == WANTED
        assert not any(isinstance(event, Lost) for event in heard.events)


def test_a_reboot_by_script_is_noticed_and_made_good():
    faults = [Reboot((2.0,), silent_s=1.2), Foreign((4.5,))]
    with firmware() as device:
        heard = Heard(InProcess(device, faults, baud=BAUD, paced=False))
        heard.listen(1.0)
        heard.port.set_sensor(7, True)
        heard.listen(4.0)
        assert [type(event) for event in heard.events] == [Found, Changed, Lost, Found]
        assert heard.occupied == device.sensors.occupied
        assert device.leds == WANTED


def test_sensors_that_bounce_are_told_once_each_time():
    # The trains end before the debounce of 20 ms does.
    with firmware(Bounce(15.0)) as device:
        heard = Heard(InProcess(device, baud=BAUD, paced=False))
        heard.listen(0.5)
        told = []
        for cell, occupied in ((0, True), (63, True), (0, False), (17, True), (63, False)):
            heard.port.set_sensor(cell, occupied)
            heard.listen(0.1)
            told.append(Changed(cell, occupied))
            assert heard.events[1:] == told


def test_stuck_and_ghost_cells_are_seen_as_the_sensors_say():
    with firmware(Ghosts(), Stuck(20, True)) as device:
        heard = Heard(InProcess(device, baud=BAUD, paced=False))
        for cell in (0, 1, 8):
            heard.port.set_sensor(cell, True)
        heard.listen(1.0)
        assert [cell for cell, occupied in enumerate(heard.occupied) if occupied] == [0, 1, 8, 9, 20]


def test_a_recorded_run_is_the_same_again():
    with firmware(Bounce(10.0)) as device:
        file = io.StringIO()
        recording = Recording(file)
        heard = Heard(InProcess(device, NOISE, seed=SEED, recording=recording, baud=BAUD, paced=False))
        for cell in range(10):
            heard.port.set_sensor(cell, True)
            heard.listen(0.3)
        recording.flush()
    entries = read_recording(io.StringIO(file.getvalue()))
    sent = b"".join(one.data for one in entries if isinstance(one, Run) and one.way is Way.DEVICE_SENT)
    with firmware(Bounce(10.0)) as device:
        assert play_host(entries, device)[: len(sent)] == sent


def test_it_stands_behind_a_pty_too():
    with (
        firmware() as device,
        PtyPort(device, NOISE, seed=SEED) as far,
        closing(open_port(far.path, BAUD)) as port,
    ):
        driver = GridDriver((8, 8))
        driver.want(WANTED)
        exchange, events, end_s = Exchange(port, driver), [], time.monotonic() + 20.0
        while not any(isinstance(event, Found) for event in events) and time.monotonic() < end_s:
            events += exchange.round()
        far.set_sensor(5, True)
        while not any(isinstance(event, Changed | Sensed) for event in events) and time.monotonic() < end_s:
            events += exchange.round()
        told = events[-1]
        assert told == Changed(5, True) or (isinstance(told, Sensed) and told.occupied[5])
