"""Claims about what is said to be the matter with a grid that is there."""

from queue import SimpleQueue

import pytest

from companion.grid import BoardGrid
from companion.grid_conditions import GridConditions
from companion.inputs import Look, SeenDisk
from companion.live import Live
from companion.referee import Referee
from companion.terms import Lying, Player
from firmware_protocol.driver import Device, Found, Traffic
from firmware_protocol.link import Counters
from firmware_protocol.messages import LedKind, SensorKind
from hardware_sims import virtual
from hardware_sims.disks import cell_mm
from vision.board import Grid

BOARD = virtual.PROFILE.board
CELLS = Grid().cells(BOARD.rows, BOARD.columns)

# What the counters stand at, every two seconds; then what is told at the end, by a word of it.
COUNTED = {
    "a line on which all is well": ([Traffic(frames_in=10 * n) for n in range(12)], ""),
    "two frames that were damaged in plugging in": ([Traffic(), Traffic(bad_frames=2)], ""),
    "what was counted before anybody looked": ([Traffic(bad_frames=50), Traffic(bad_frames=50)], ""),
    "frames from the grid damaged": ([Traffic(bad_frames=n) for n in range(4)], "damages"),
    "frames to the grid damaged": ([Traffic(device_bad_frames=n) for n in range(4)], "damages"),
    "damaged both ways": ([Traffic(), Traffic(bad_frames=2, device_bad_frames=1)], "damages"),
    "a grid that counts anew": ([Traffic(device_bad_frames=9), Traffic(device_bad_frames=1)], ""),
    "one damaged now and then": ([Traffic(bad_frames=n // 5) for n in range(25)], ""),
    "damaged a while ago": ([Traffic(bad_frames=9 * (n > 0)) for n in range(12)], ""),
    "much was sent again": ([Traffic(retries=n) for n in range(4)], "answers late"),
    "damaged, and so sent again": ([Traffic(retries=n, bad_frames=n) for n in range(4)], "damages"),
    "bytes that nobody awaited": ([Traffic(), Traffic(device_overruns=1)], "no room"),
}


@pytest.mark.parametrize(("counted", "word"), COUNTED.values(), ids=COUNTED)
def test_counters_tell_what_is_the_matter_with_the_line(counted, word):
    conditions = GridConditions()
    for n, traffic in enumerate(counted):
        told = conditions.after(2.0 * n, traffic)
    if word:
        (words,) = told
        assert word in words
    else:
        assert told == ()


def test_a_grid_that_is_lost_again_and_again_has_a_loose_plug():
    conditions = GridConditions()
    conditions.lost(10.0)
    assert conditions.after(11.0, Traffic()) == ()
    conditions.lost(40.0)
    (words,) = conditions.after(41.0, Traffic())
    assert words.startswith("the grid was lost 2 times in two minutes")
    assert conditions.after(140.0, Traffic()) == ()


def look(*cells, n: int) -> Look:
    disks = (SeenDisk(Player.A, *cell_mm(BOARD, cell), cell, Lying.IN_CELL, 0.2, 0.99) for cell in cells)
    return Look(tuple(disks), frame=n, t_s=float(n))


def test_sensors_without_diodes_are_told_of_and_accuse_nobody():
    live, events, now_s = Live(), SimpleQueue(), [0.0]
    grid = BoardGrid(virtual.PROFILE, events, lambda _colours: None, Counters, live, clock=lambda: now_s[0])
    felt = {(3, 2), (3, 5), (6, 2), (6, 5)}
    device = Device("grid", "01", BOARD.rows, BOARD.columns, LedKind.RGB, SensorKind.HALL, "0.1.0", False)
    events.put((0.0, Found(device, tuple(cell in felt for cell in CELLS))))
    grid.hear()
    now_s[0] = 5.0
    standing = Referee().standing
    seen = grid.witness(look((3, 2), (3, 5), (6, 2), n=1), standing)
    assert seen is not None
    assert seen.disputed == ()
    grid.light(standing, ())
    (words,) = live.hardware().conditions
    assert "a diode" in words
    grid.witness(look(*sorted(felt), n=2), standing)
    grid.light(standing, ())
    assert live.hardware().conditions == ()
