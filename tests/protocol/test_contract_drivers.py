"""What every driver does with its device behind every port: finds it, lights it, tells its changes, and does so again
when it was gone. The firmware in simavr is one of the devices.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass

import pytest

from firmware_protocol.driver import DARK, Changed, Driver, Found, GridEvent, Lost, Rgb, Sensed
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import open_port
from firmware_protocol.messages import BAUD
from firmware_protocol.monome import MonomeDriver
from firmware_protocol.strip import AdalightDriver, WledDriver
from hardware_sims.avr import AvrBoard, missing
from hardware_sims.board import Board
from hardware_sims.device import Device
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import InProcess, PtyPort, TcpPort
from hardware_sims.strip import Strip, StripFirmware

ROWS, COLUMNS = 8, 8
CELLS = ROWS * COLUMNS
DEADLINE_S = 20.0
"""Functional: the slowest driver needs some 3 s to find its device."""


class Table:
    """A driver at work on its device, and the device's far side."""

    def __init__(self, driver: Driver, exchange: Exchange, far, lights: Callable[[], tuple], now_s) -> None:
        self.driver = driver
        self.lights = lights
        self.now_s = now_s
        self.set_sensor = far.set_sensor
        self.reboot = far.reboot if hasattr(far, "reboot") else far.reset
        self.events: list[GridEvent] = []
        self._exchange = exchange

    def until(self, holds: Callable[[], bool], what: str) -> None:
        end_s = self.now_s() + DEADLINE_S
        while not holds():
            assert self.now_s() < end_s, f"not within {DEADLINE_S} s: {what}; told: {self.events}"
            self.events += self._exchange.round()

    def found(self) -> Found:
        self.until(lambda: any(isinstance(event, Found) for event in self.events), "found")
        return next(event for event in self.events if isinstance(event, Found))


@dataclass(frozen=True, slots=True)
class Kind:
    """A driver with its device: how its far side is read, and what a colour looks like on it."""

    driver: Callable[[], Driver]
    device: Callable[[], Device]
    lights: Callable[[Device], tuple]
    looks: Callable[[Rgb], object] = lambda colour: colour
    has_sensors: bool = True


KINDS = {
    "grid": Kind(lambda: GridDriver((ROWS, COLUMNS)), lambda: Board(ROWS, COLUMNS), lambda board: board.leds),
    "monome": Kind(
        lambda: MonomeDriver((ROWS, COLUMNS)),
        lambda: MonomeGrid(ROWS, COLUMNS),
        lambda grid: grid.levels,
        lambda colour: max(colour) // 17,
    ),
    "wled": Kind(
        lambda: WledDriver((ROWS, COLUMNS)), lambda: Strip(CELLS), lambda strip: strip.leds, has_sensors=False
    ),
    "adalight": Kind(
        lambda: AdalightDriver((ROWS, COLUMNS)),
        lambda: Strip(CELLS, StripFirmware.ADALIGHT),
        lambda strip: strip.leds,
        has_sensors=False,
    ),
}


@contextmanager
def in_process(kind: Kind, driver: Driver) -> Iterator[Table]:
    port = InProcess(kind.device(), baud=BAUD)
    exchange = Exchange(port, driver, clock=lambda: port.now_s)
    yield Table(driver, exchange, port, lambda: kind.lights(port.device), lambda: port.now_s)


@contextmanager
def on_a_pty(kind: Kind, driver: Driver) -> Iterator[Table]:
    with PtyPort(kind.device()) as far, closing(open_port(far.path, BAUD)) as port:
        lights = lambda: far.call(lambda device, _: kind.lights(device))  # noqa: E731
        yield Table(driver, Exchange(port, driver), far, lights, time.monotonic)


@contextmanager
def over_tcp(kind: Kind, driver: Driver) -> Iterator[Table]:
    with TcpPort(kind.device()) as far, closing(open_port(far.url, BAUD)) as port:
        lights = lambda: far.call(lambda device, _: kind.lights(device))  # noqa: E731
        yield Table(driver, Exchange(port, driver), far, lights, time.monotonic)


@contextmanager
def firmware(kind: Kind, driver: Driver) -> Iterator[Table]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with AvrBoard("atmega328p") as board, closing(open_port(board.port, BAUD)) as port:
        yield Table(driver, Exchange(port, driver), board, lambda: board.leds() or (), time.monotonic)


PORTS: dict[str, Callable[[Kind, Driver], AbstractContextManager[Table]]] = {
    "in-process": in_process,
    "pty": on_a_pty,
    "tcp": over_tcp,
    "avr": firmware,
}
TABLES = [("grid", port) for port in PORTS] + [
    (kind, port) for kind in KINDS if kind != "grid" for port in ("in-process", "pty")
]
SLOW = [("monome", "pty"), ("adalight", "pty")]
"""What is found after some seconds: in the long run, where seconds are not virtual."""
# The others take seconds to notice a restart, so they do where seconds cost nothing.
RESTARTED = [(kind, port) for kind, port in TABLES if kind == "grid" or port == "in-process"]


@pytest.fixture
def table(request) -> Iterator[tuple[Kind, Table]]:
    name, port = request.param
    kind = KINDS[name]
    with PORTS[port](kind, kind.driver()) as opened:
        yield kind, opened


FIRST = tuple(Rgb(17 * (n % 5), 17 * (n % 3), 17 * (n % 7)) for n in range(CELLS))
SECOND = FIRST[32:] + FIRST[:32]


@pytest.mark.parametrize(
    "table",
    [pytest.param(one, id="-".join(one), marks=[pytest.mark.long] * (one in SLOW)) for one in TABLES],
    indirect=True,
)
def test_it_is_found_lit_and_lit_otherwise(table):
    kind, at = table
    at.driver.want(FIRST)
    found = at.found()
    assert (found.device.driver, found.device.rows, found.device.columns) == (at.driver.name, ROWS, COLUMNS)
    assert found.occupied == ((False,) * CELLS if kind.has_sensors else ())
    # Only our own protocol has a word for it.
    assert found.device.simulated == (at.driver.name == "grid")
    for wanted in (FIRST, SECOND, (Rgb(0, 17, 0),), ()):
        at.driver.want(wanted)
        looks = tuple(map(kind.looks, wanted + (DARK,) * (CELLS - len(wanted))))
        at.until(lambda looks=looks: at.lights() == looks, "the LEDs are as wanted")
    assert not any(isinstance(event, Lost) for event in at.events)


@pytest.mark.parametrize("table", [one for one in TABLES if KINDS[one[0]].has_sensors], indirect=True, ids="-".join)
def test_changes_are_told_once_each(table):
    _, at = table
    at.found()
    at.events.clear()
    told = []
    for cell, occupied in ((0, True), (63, True), (0, False), (20, True), (63, False)):
        at.set_sensor(cell, occupied)
        told.append(Changed(cell, occupied))
        at.until(lambda: at.events == told, "the change was told")


@pytest.mark.parametrize("table", RESTARTED, indirect=True, ids="-".join)
def test_after_a_restart_it_is_lit_again(table):
    kind, at = table
    at.driver.want(FIRST)
    at.found()
    looks = tuple(map(kind.looks, FIRST))
    at.until(lambda: at.lights() == looks, "the LEDs are as wanted")
    if kind.has_sensors:
        at.set_sensor(5, True)
        at.until(lambda: Changed(5, True) in at.events, "the change was told")
    at.events.clear()
    at.reboot()
    at.until(lambda: at.lights() != looks, "it has started anew")
    at.until(lambda: at.lights() == looks, "the LEDs are as wanted again")
    if at.driver.name == "grid":
        at.until(lambda: any(isinstance(event, Found) for event in at.events), "found again")
        kinds = [type(event) for event in at.events]
        assert kinds[:2] == [Lost, Found]
        assert at.events[1].occupied == tuple(cell == 5 for cell in range(CELLS))
        assert not any(isinstance(event, Changed | Sensed) for event in at.events)
