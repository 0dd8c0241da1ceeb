"""A monome grid, or a NeoTrellis with its firmware, is found, shows levels, and tells its keys."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol.driver import DARK, Changed, Found, GridEvent, Lost, Rgb
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import LedKind, SensorKind
from firmware_protocol.monome import MonomeDriver
from hardware_sims.faults import At, Drop, Fault, Side, Split
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import InProcess

WHITE = Rgb(255, 255, 255)


class Host:
    """The driver on a simulated monome, in virtual time."""

    def __init__(self, grid: MonomeGrid, faults: Sequence[Fault] = (), **settings_: object) -> None:
        self.grid = grid
        self.port = InProcess(grid, faults)
        self.driver = MonomeDriver(**settings_)
        self.exchange = Exchange(self.port, self.driver, clock=lambda: self.port.now_s)
        self.told: list[GridEvent] = []

    def run(self, for_s: float) -> list[GridEvent]:
        """Runs so long; what was told meanwhile."""
        self.told = []
        until_s = self.port.now_s + for_s
        while self.port.now_s < until_s:
            self.told += self.exchange.round()
        return self.told


def levels_of(colours: Sequence[Rgb]) -> tuple[int, ...]:
    return tuple(-(-max(colour) * 15 // 255) for colour in colours)


@pytest.mark.parametrize(
    "size_rc",
    [
        pytest.param((8, 8), id="64"),
        pytest.param((8, 16), id="128"),
        pytest.param((16, 16), id="256"),
        pytest.param((4, 4), id="one NeoTrellis tile"),
        pytest.param((12, 8), id="tiles that fill no block"),
    ],
)
def test_it_is_found_with_its_leds_as_wanted(size_rc):
    rows, columns = size_rc
    rng = random.Random(1)
    wanted = tuple(Rgb(*rng.randbytes(3)) for _ in range(rows * columns))
    host = Host(MonomeGrid(rows, columns, name="m1000042"), size_rc=size_rc)
    host.driver.want(wanted)
    [found] = host.run(1.5)
    assert isinstance(found, Found)
    assert (found.device.driver, found.device.uid) == ("monome", "m1000042")
    assert (found.device.rows, found.device.columns) == size_rc
    assert (found.device.leds, found.device.sensors) == (LedKind.LEVELS, SensorKind.SWITCH)
    assert found.occupied == (False,) * (rows * columns)
    assert host.grid.levels == levels_of(wanted)


@pytest.mark.parametrize(
    ("colour", "level"),
    [
        (DARK, 0),
        (Rgb(0, 0, 1), 1),
        (Rgb(0, 0, 17), 1),
        (Rgb(0, 18, 0), 2),
        (Rgb(128, 0, 0), 8),
        (Rgb(238, 1, 1), 14),
        (WHITE, 15),
    ],
)
def test_a_colour_is_as_bright_as_its_brightest_part(colour, level):
    host = Host(MonomeGrid(4, 4))
    host.driver.want((colour,))
    host.run(1.5)
    assert host.grid.levels == (level, *(0,) * 15)


@settings(deadline=None, derandomize=True)
@given(seeds=st.lists(st.integers(0, 1000), min_size=1, max_size=4), share=st.sampled_from([0.02, 0.2, 1.0]))
def test_the_leds_come_to_show_whatever_is_wanted(seeds, share):
    host = Host(MonomeGrid(8, 16))
    wanted = [DARK] * 128
    for seed in seeds:
        rng = random.Random(seed)
        wanted = [Rgb(*rng.randbytes(3)) if rng.random() < share else colour for colour in wanted]
        host.driver.want(tuple(wanted))
        host.run(1.0)
        assert host.grid.levels == levels_of(wanted)


def test_keys_are_told_by_cell_down_and_up():
    host = Host(MonomeGrid(8, 16))
    host.run(1.5)
    host.port.set_sensor(1 * 16 + 9, True)
    assert host.run(0.1) == [Changed(25, True)]
    host.port.set_sensor(1 * 16 + 9, False)
    host.port.set_sensor(127, True)
    assert host.run(0.1) == [Changed(25, False), Changed(127, True)]


def test_keys_are_told_while_the_leds_are_changed_all_the_time():
    host = Host(MonomeGrid(16, 16), [Split(rate=0.5)])
    host.run(1.5)
    told = []
    rng = random.Random(3)
    for n in range(200):
        host.driver.want(tuple(Rgb(*rng.randbytes(3)) for _ in range(256)))
        host.port.set_sensor(n, True)
        told += host.run(0.05)
    assert told == [Changed(n, True) for n in range(200)]


@pytest.mark.parametrize("at", [1, 2])
def test_a_key_that_comes_in_two_reads_is_told_once(at):
    driver = found_by_hand()
    key = bytes((0x21, 3, 2))
    assert driver.feed(key[:at], 1.0) == []
    assert driver.feed(key[at:], 1.2) == [Changed(11, True)]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(bytes((0x21, 4, 0)), id="a column that it does not have"),
        pytest.param(bytes((0x21, 0, 4)), id="a row that it does not have"),
        pytest.param(bytes((0x20, 0, 0)), id="a key that is up already"),
        pytest.param(b"\xff\xfe\x7f", id="bytes that begin no report"),
        pytest.param(bytes((0x81, 0, 0x21, 1, 1, 0, 0, 0)), id="a tilt that looks like a key"),
        pytest.param(b"\x01" + b"\x21\x00\x00" * 10 + b"\0\0", id="an id that looks like keys"),
        pytest.param(bytes((0x03, 8, 8)), id="another size than before"),
    ],
)
def test_what_is_no_key_is_not_told(data):
    driver = found_by_hand()
    assert driver.feed(data, 1.0) == []
    assert driver.feed(bytes((0x21, 3, 2)), 1.0) == [Changed(11, True)]


def test_a_report_that_lost_its_rest_does_not_swallow_the_next():
    driver = found_by_hand()
    assert driver.feed(bytes((0x21, 3)), 1.0) == []
    assert driver.feed(bytes((0x21, 1, 0)), 2.0) == [Changed(1, True)]
    assert driver.traffic.bad_frames == 1


def test_a_command_that_was_lost_is_made_good_within_seconds():
    # Behind 40 bytes of padding and two questions comes the first block of levels, which loses a byte.
    host = Host(MonomeGrid(8, 8), [Drop(at=(At(40 + 2 + 10),), towards=Side.DEVICE)])
    host.driver.want((WHITE,) * 64)
    host.run(10)
    assert host.grid.levels == (15,) * 64


def test_commands_go_one_by_one_and_in_time():
    driver = MonomeDriver()
    driver.begin(0.0)
    driver.feed(bytes((0x03, 16, 16)) + b"\x01" + b"m1".ljust(32, b"\0"), 0.0)
    driver.want((WHITE,) * 256)
    now_s, sent = 0.0, []
    while now_s < 0.2:
        data = driver.to_send(now_s)
        if data:
            sent.append((now_s, data))
        driver.tick(now_s)
        now_s = max(driver.due_s(), now_s + 0.0001)
    blocks = [(at_s, data) for at_s, data in sent if data[0] == 0x1A]
    assert [data[1:3] for _, data in blocks] == [b"\0\0", b"\x08\0", b"\0\x08", b"\x08\x08"]
    assert all(len(data) <= 40 for _, data in sent), "more than a USB packet"
    assert all(after - before >= 35 * 10 / 115_200 for (before, _), (after, _) in pairwise(sent))


def test_one_that_no_longer_answers_is_lost_and_found_again():
    host = Host(MonomeGrid(8, 8))
    host.driver.want((WHITE,) * 64)
    host.run(1.5)
    host.port.reboot(silent_s=3.5)
    [lost, found] = host.run(7.0)
    assert isinstance(lost, Lost)
    assert isinstance(found, Found)
    assert host.grid.levels == (15,) * 64


def test_what_it_says_while_nothing_happens_is_not_much():
    host = Host(MonomeGrid(8, 8))
    host.run(1.5)
    before = host.driver.traffic.frames_out
    assert host.run(60) == []
    assert host.driver.traffic.frames_out - before <= 125


def test_a_hello_of_our_own_protocol_before_does_it_no_harm():
    host = Host(MonomeGrid(8, 8, name="m1000007"))
    ours = Exchange(host.port, GridDriver(), clock=lambda: host.port.now_s)
    while host.port.now_s < 2.7:
        ours.round()
    host.driver.begin(host.port.now_s)
    [found] = host.run(1.9)
    assert found.device.uid == "m1000007"
    assert (found.device.rows, found.device.columns) == (8, 8)


@pytest.mark.parametrize(
    ("grid", "settings_", "uid", "says"),
    [
        pytest.param(MonomeGrid(8, 16), {"size_rc": (8, 8)}, None, "8 x 16 cells, the board 8 x 8", id="another size"),
        pytest.param(MonomeGrid(16, 8), {"size_rc": (8, 16)}, None, "16 x 8 cells", id="turned"),
        pytest.param(MonomeGrid(0, 0), {}, None, "no cells", id="an arc"),
        pytest.param(MonomeGrid(8, 8, name="m2"), {}, "m1", "another monome", id="another one"),
    ],
)
def test_one_that_cannot_be_used_is_refused(grid, settings_, uid, says):
    host = Host(grid, **settings_)
    host.driver.begin(0.0, uid)
    with pytest.raises(LinkError, match=says) as refused:
        host.run(3.0)
    assert not isinstance(refused.value, NoAnswer)


def test_nothing_that_answers_is_given_up():
    driver = MonomeDriver()
    driver.begin(5.0)
    while driver.due_s() < 7.0:
        now_s = driver.due_s()
        driver.to_send(now_s)
        assert driver.tick(now_s) == []
        assert driver.due_s() > now_s
    with pytest.raises(NoAnswer, match="monome"):
        driver.tick(driver.due_s())


def found_by_hand() -> MonomeDriver:
    """A driver whose monome of 4 x 4 is found."""
    driver = MonomeDriver()
    driver.begin(0.0)
    driver.feed(bytes((0x03, 4, 4)) + b"\x01" + b"m1".ljust(32, b"\0"), 0.0)
    told: list[GridEvent] = []
    while not told:
        now_s = driver.due_s()
        driver.to_send(now_s)
        told += driver.tick(now_s)
        assert now_s < 1.0
    return driver
