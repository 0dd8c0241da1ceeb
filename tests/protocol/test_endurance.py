"""Hours of play over a bad line, in virtual time: no wrong event, and the truth within two seconds of every change."""

import random
import time

import pytest

from firmware_protocol.driver import Changed, Found, GridEvent, Lost, Rgb, Sensed
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import BAUD
from hardware_sims.board import Board
from hardware_sims.faults import Corrupt, Delay, Drop, Foreign, Insert, Reboot, Side, Split, Stall
from hardware_sims.ports import InProcess
from hardware_sims.sensors import Bounce

SEED = 20_261_130
CELLS = 64
QUIET_S = 2.0
REBOOT_S = 5.0
"""A restart is noticed at the latest after three heartbeats, and the bootloader takes more than a second."""


class Play:
    """A driver on a grid at which somebody plays, and what it is told held against what lies there."""

    def __init__(self, length_s: float) -> None:
        self.rng = random.Random(SEED)
        self.reboots_s = tuple(sorted(self.rng.uniform(0, length_s) for _ in range(round(length_s / 300))))
        faults = (
            Corrupt(0.01),
            Drop(0.001),
            Insert(0.001),
            Split(0.05),
            Delay(0.0, jitter_s=0.005),
            Stall(0.2, rate=0.0005),
            Foreign(tuple(float(t_s) for t_s in range(30, round(length_s), 60)), towards=Side.BOTH),
            Reboot(self.reboots_s),
        )
        self.board = Board(8, 8, seed=SEED, sensor_faults=(Bounce(15.0),))
        self.port = InProcess(self.board, faults, seed=SEED, baud=BAUD, paced=False)
        self.driver = GridDriver((8, 8))
        self.exchange = Exchange(self.port, self.driver, clock=lambda: self.port.now_s)
        self.occupied: tuple[bool, ...] | None = None
        self.moved_s = [-100.0] * CELLS
        self.told = {Found: 0, Lost: 0, Changed: 0, Sensed: 0}

    def listen(self, until_s: float) -> None:
        while self.port.now_s < until_s:
            for event in self.exchange.round():
                self.told[type(event)] += 1
                self.hold(event)

    def hold(self, event: GridEvent) -> None:
        """Takes the event as the application would, and holds it against the truth."""
        truth = self.board.sensors.occupied
        match event:
            case Found(_, occupied) | Sensed(occupied):
                settled = [cell for cell in range(CELLS) if self.port.now_s - self.moved_s[cell] > QUIET_S]
                assert all(occupied[cell] == truth[cell] for cell in settled), event
                self.occupied = occupied
            case Changed(index, now):
                assert self.occupied is not None
                assert self.occupied[index] != now == truth[index], event
                self.occupied = (*self.occupied[:index], now, *self.occupied[index + 1 :])
            case Lost():
                self.occupied = None

    def move(self) -> None:
        """A piece is put down or taken off, on a cell where nothing happened for a while."""
        cells = [cell for cell in range(CELLS) if self.port.now_s - self.moved_s[cell] > 10.0]
        cell = self.rng.choice(cells)
        self.moved_s[cell] = self.port.now_s
        self.port.set_sensor(cell, not self.board.sensors.occupied[cell])

    def has_just_rebooted(self) -> bool:
        return any(0 <= self.port.now_s - t_s < QUIET_S + REBOOT_S for t_s in self.reboots_s)


def play(length_s: float) -> None:
    """So many seconds of moves, each followed by quiet, with other colours all the time."""
    print(f"seed {SEED}")
    began_s = time.perf_counter()
    at, moves = Play(length_s), 0
    while at.port.now_s < length_s:
        for _ in range(at.rng.randrange(1, 5)):
            at.move()
            moves += 1
            at.driver.want(tuple(Rgb(at.rng.randrange(30), n, 0) for n in range(CELLS)))
            at.listen(at.port.now_s + at.rng.uniform(0.0, 0.5))
        at.listen(at.port.now_s + QUIET_S)
        if not at.has_just_rebooted():
            assert at.occupied == at.board.sensors.occupied, f"at {at.port.now_s:.1f} s"
    counted = {kind.__name__: count for kind, count in at.told.items()}
    print(f"{length_s:.0f} s of play in {time.perf_counter() - began_s:.0f} s: {moves} moves; told: {counted}")
    print(f"{at.driver.traffic}")
    assert at.told[Changed] > 0.5 * moves
    assert at.told[Found] >= len(at.reboots_s)


def test_five_minutes_of_play_over_a_bad_line():
    play(300.0)


@pytest.mark.long
def test_six_hours_of_play_over_a_bad_line():
    play(6 * 3600.0)
