"""LED strips, mute or not, come to show what is wanted and go on showing it."""

import random
from collections.abc import Sequence

import pytest

from firmware_protocol.driver import DARK, Found, GridEvent, Lost, Rgb
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import LedKind, SensorKind
from firmware_protocol.monome import MonomeDriver
from firmware_protocol.strip import AdalightDriver, WledDriver, adalight_frame
from hardware_sims.faults import At, Corrupt, Drop, Fault, Insert, Side, Split
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import InProcess
from hardware_sims.strip import Strip, StripFirmware

RED, GREEN = Rgb(255, 0, 0), Rgb(0, 255, 0)
KINDS = [
    pytest.param(StripFirmware.ADALIGHT, AdalightDriver, id="Adalight"),
    pytest.param(StripFirmware.WLED, WledDriver, id="WLED"),
]


class Host:
    """A driver on a simulated strip, in virtual time."""

    def __init__(self, device: Strip | MonomeGrid, driver: AdalightDriver | WledDriver, faults: Sequence[Fault] = ()):
        self.device = device
        self.port = InProcess(device, faults)
        self.driver = driver
        self.exchange = Exchange(self.port, driver, clock=lambda: self.port.now_s)

    def run(self, for_s: float) -> list[GridEvent]:
        """Runs so long; what was told meanwhile."""
        told: list[GridEvent] = []
        until_s = self.port.now_s + for_s
        while self.port.now_s < until_s:
            told += self.exchange.round()
        return told


def picture(cells: int, seed: int) -> tuple[Rgb, ...]:
    rng = random.Random(seed)
    return tuple(Rgb(*rng.randbytes(3)) for _ in range(cells))


@pytest.mark.parametrize(
    ("colours", "frame"),
    [
        ((RED,), b"Ada\x00\x00\x55\xff\x00\x00"),
        ((RED, GREEN), b"Ada\x00\x01\x54\xff\x00\x00\x00\xff\x00"),
        ((DARK,) * 257, b"Ada\x01\x00\x54" + bytes(3 * 257)),
    ],
)
def test_a_frame_is_as_adalight_has_it(colours, frame):
    assert adalight_frame(colours) == frame


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
def test_a_strip_is_found_once_it_shows_what_is_wanted(firmware, kind):
    host = Host(Strip(60, firmware), kind((8, 7)))
    host.driver.want(picture(56, 1))
    [found] = host.run(2.5)
    assert isinstance(found, Found)
    assert found.occupied == ()
    device = found.device
    assert (device.driver, device.rows, device.columns) == (kind.name, 8, 7)
    assert (device.leds, device.sensors, device.uid) == (LedKind.RGB, SensorKind.NONE, "")
    assert host.device.leds[:56] == picture(56, 1)


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
def test_it_shows_changes_soon_and_keeps_what_does_not_change(firmware, kind):
    host = Host(Strip(64, firmware), kind((8, 8)))
    host.run(3.0)
    for seed in range(5):
        host.driver.want(picture(64, seed))
        assert host.run(0.15) == []
        assert host.device.leds == picture(64, seed)
    host.run(90.0)
    assert host.device.leds == picture(64, 4)


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
def test_one_that_restarts_when_its_port_is_opened_is_found_too(firmware, kind):
    strip = Strip(64, firmware)
    strip.reboot(0.0, silent_s=1.5, noise=True)
    host = Host(strip, kind((8, 8)))
    host.driver.want(picture(64, 2))
    [found] = host.run(4.0)
    assert isinstance(found, Found)
    assert host.device.leds == picture(64, 2)


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
@pytest.mark.parametrize(
    "faults",
    [
        pytest.param([Drop(at=tuple(At(n) for n in (500, 600, 700)), towards=Side.DEVICE)], id="bytes are lost"),
        pytest.param([Insert(at=(At(500),), towards=Side.DEVICE)], id="a byte too many"),
        pytest.param([Split(rate=0.3)], id="it comes in pieces"),
    ],
)
def test_a_spoilt_frame_spoils_nothing_for_long(firmware, kind, faults):
    host = Host(Strip(64, firmware), kind((8, 8)), faults)
    host.driver.want(picture(64, 3))
    host.run(8.0)
    assert host.device.leds == picture(64, 3)


def test_what_wled_shows_wrongly_is_noticed_and_sent_again_at_once():
    strip = Strip(64)
    host = Host(strip, WledDriver((8, 8)), [Corrupt(at=(At(100),), towards=Side.DEVICE)])
    host.driver.want(picture(64, 4))
    [found] = host.run(0.5)
    assert isinstance(found, Found)
    assert strip.leds == picture(64, 4)
    assert host.driver.traffic.retries == 1


def test_wled_that_corrects_its_colours_is_found_all_the_same():
    driver = WledDriver((1, 2))
    driver.begin(0.0)
    driver.want((RED, GREEN))
    driver.to_send(0.0)
    assert driver.feed(b"WLED 0.15.0\r\n", 0.0) == []
    told: list[GridEvent] = []
    now_s = 0.0
    while not told:
        assert driver.to_send(now_s)
        told += driver.feed(b"\xc9\xda\x00\x06" + bytes((200, 0, 0, 0, 190, 0)) + b"\x36\n", now_s)
        now_s += 0.1
    assert driver.traffic.retries == 3


def test_wled_that_no_longer_answers_is_lost_and_found_again():
    host = Host(Strip(64), WledDriver((8, 8)))
    host.driver.want(picture(64, 5))
    host.run(1.0)
    host.port.reboot(silent_s=5.0)
    [lost, found] = host.run(9.0)
    assert isinstance(lost, Lost)
    assert isinstance(found, Found)
    assert host.device.leds == picture(64, 5)


def test_without_a_size_wled_says_its_own():
    host = Host(Strip(30), WledDriver())
    host.driver.want((RED,) * 64)
    [found] = host.run(2.0)
    assert (found.device.rows, found.device.columns) == (1, 30)
    assert host.device.leds == (RED,) * 30


def test_without_a_size_a_mute_strip_is_as_long_as_what_is_wanted():
    host = Host(Strip(30, StripFirmware.ADALIGHT), AdalightDriver())
    assert host.run(4.0) == []
    host.driver.want((RED,) * 20)
    [found] = host.run(2.0)
    assert (found.device.rows, found.device.columns) == (1, 20)
    assert host.device.leds[:20] == (RED,) * 20


def test_wled_with_too_few_leds_is_refused():
    host = Host(Strip(30), WledDriver((8, 8)))
    with pytest.raises(LinkError, match="WLED has 30 LEDs, the board needs 64"):
        host.run(2.0)


def test_what_is_not_wled_is_given_up():
    host = Host(MonomeGrid(8, 8), WledDriver((8, 8)))
    with pytest.raises(NoAnswer, match="WLED"):
        host.run(4.0)


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
@pytest.mark.parametrize("other", [GridDriver, MonomeDriver])
def test_being_asked_for_another_kind_of_device_before_does_a_strip_no_harm(firmware, kind, other):
    host = Host(Strip(64, firmware), kind((8, 8)))
    asking = Exchange(host.port, other(), clock=lambda: host.port.now_s)
    while host.port.now_s < 1.7:
        asking.round()
    host.driver.begin(host.port.now_s)
    host.driver.want(picture(64, 6))
    [found] = host.run(2.5)
    assert isinstance(found, Found)
    assert host.device.leds == picture(64, 6)
    assert host.device.baud == 115_200


@pytest.mark.parametrize(("firmware", "kind"), KINDS)
def test_while_nothing_changes_one_frame_a_second_goes_out(firmware, kind):
    host = Host(Strip(64, firmware), kind((8, 8)))
    host.run(3.0)
    before = host.driver.traffic.frames_out
    host.run(20.0)
    assert 19 <= host.driver.traffic.frames_out - before <= 21
