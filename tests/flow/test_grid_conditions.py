"""Claims about what is said to be the matter with a grid that is there."""

from dataclasses import replace
from queue import SimpleQueue

import pytest

from companion.grid import BoardGrid
from companion.grid_conditions import GridConditions
from companion.inputs import Look, SeenDisk
from companion.live import Live
from companion.referee import Referee
from companion.terms import Lying, Player
from firmware_protocol.driver import Changed, Device, Found, Lost, Traffic
from firmware_protocol.link import Counters
from firmware_protocol.messages import LedKind, SensorKind
from hardware_sims import virtual
from hardware_sims.disks import cell_mm
from vision.board import Grid

BOARD = virtual.PROFILE.board
CELLS = Grid().cells(BOARD.rows, BOARD.columns)
DEVICE = Device("grid", "01", BOARD.rows, BOARD.columns, LedKind.RGB, SensorKind.HALL, "0.1.0", False)


def counted(traffic: Traffic, driver: str = "grid") -> Counters:
    return Counters("port", replace(DEVICE, driver=driver), traffic=traffic)


# What the counters stand at, every two seconds; then what is told at the end, by a word of it.
COUNTED = {
    "a line on which all is well": ([Traffic(frames_in=10 * n) for n in range(12)], ""),
    "two frames that were damaged in plugging in": ([Traffic(), Traffic(bad_frames=2)], ""),
    "what was counted before anybody looked": ([Traffic(bad_frames=50), Traffic(bad_frames=50)], ""),
    "frames from the grid damaged": ([Traffic(bad_frames=n) for n in range(4)], "damages"),
    "frames to the grid damaged": ([Traffic(device_bad_frames=n) for n in range(5)], "damages"),
    "damaged both ways": ([Traffic(device_bad_frames=1), Traffic(bad_frames=2, device_bad_frames=2)], "damages"),
    "what the grid had counted before it was found": ([Traffic(), Traffic(device_bad_frames=9)], ""),
    "a grid that counts anew": ([Traffic(device_bad_frames=9), Traffic(device_bad_frames=4)], ""),
    "one that counts anew, and on": ([Traffic(device_bad_frames=n) for n in (9, 1, 2, 3, 4)], "damages"),
    "one damaged now and then": ([Traffic(bad_frames=n // 5) for n in range(25)], ""),
    "damaged a while ago": ([Traffic(bad_frames=9 * (n > 0)) for n in range(12)], ""),
    "damaged until just now": ([Traffic(bad_frames=9 * (n > 0)) for n in range(11)], "damages"),
    "much was sent again": ([Traffic(retries=n) for n in range(4)], "answers late"),
    "damaged, and so sent again": ([Traffic(retries=n, bad_frames=n) for n in range(4)], "damages"),
    "bytes that nobody awaited": ([Traffic(device_overruns=1), Traffic(device_overruns=2)], "no room"),
}


@pytest.mark.parametrize(("traffics", "word"), COUNTED.values(), ids=COUNTED)
def test_counters_tell_what_is_the_matter_with_the_line(traffics, word):
    conditions = GridConditions()
    for n, traffic in enumerate(traffics):
        told = conditions.after(2.0 * n, counted(traffic))
    if word:
        (words,) = told
        assert word in words
    else:
        assert told == ()


@pytest.mark.parametrize("driver", ["monome", "wled", "adalight"])
def test_other_protocols_count_other_things(driver):
    conditions = GridConditions()
    for n in range(9):
        assert conditions.after(2.0 * n, counted(Traffic(retries=9 * n, bad_frames=9 * n), driver)) == ()


def test_what_is_sent_again_into_the_silence_of_a_lost_grid_is_not_the_lines_fault():
    conditions = GridConditions()
    conditions.after(0.0, counted(Traffic()))
    assert conditions.after(2.0, counted(Traffic(retries=5))) != ()
    conditions.lost(2.5)
    assert conditions.after(2.5, Counters(trouble="is its power on?", traffic=Traffic(retries=6))) == ()
    assert conditions.after(4.5, counted(Traffic(retries=8))) == ()


def test_a_grid_that_is_lost_again_and_again_has_a_loose_plug():
    conditions = GridConditions()
    conditions.lost(10.0)
    assert conditions.after(11.0, counted(Traffic())) == ()
    conditions.lost(40.0)
    (words,) = conditions.after(41.0, Counters(trouble="the port is gone"))
    assert words.startswith("the grid was lost 2 times in two minutes")
    assert conditions.after(140.0, counted(Traffic())) == ()


def look(*cells, n: int) -> Look:
    disks = (SeenDisk(Player.A, *cell_mm(BOARD, cell), cell, Lying.IN_CELL, 0.2, 0.99) for cell in cells)
    return Look(tuple(disks), frame=n, t_s=float(n))


def test_sensors_without_diodes_are_told_of_and_accuse_nobody():
    live, events, now_s = Live(), SimpleQueue(), [0.0]
    grid = BoardGrid(virtual.PROFILE, events, lambda _colours: None, Counters, live, clock=lambda: now_s[0])
    felt = {(3, 2), (3, 5), (6, 2), (6, 5)}
    events.put((0.0, Found(DEVICE, tuple(cell in felt for cell in CELLS))))
    grid.hear()
    now_s[0] = 5.0
    standing = Referee().standing
    seen = grid.witness(look((3, 2), (3, 5), (6, 2), n=1), standing)
    assert seen is not None
    assert seen.disputed == ()
    grid.light(standing, ())
    (words,) = live.hardware().conditions
    assert "a diode" in words
    # That a disk now lies there shows nothing of diodes; that two cells which are joined say empty does.
    grid.witness(look(*sorted(felt), n=2), standing)
    grid.light(standing, ())
    assert live.hardware().conditions == (words,)
    for index, cell in enumerate(CELLS):
        if cell in {(3, 5), (3, 3), (6, 3), (6, 4)}:
            events.put((5.0, Changed(index, cell != (3, 5))))
    grid.hear()
    now_s[0] = 10.0
    grid.witness(look((3, 2), (3, 3), (6, 2), (6, 3), (6, 4), (6, 5), n=3), standing)
    grid.light(standing, ())
    assert live.hardware().conditions == ()


def test_what_is_the_matter_is_not_said_of_a_grid_that_is_gone():
    live, events, now_s = Live(), SimpleQueue(), [0.0]
    traffic = [Traffic()]
    grid = BoardGrid(
        virtual.PROFILE, events, lambda _colours: None, lambda: counted(traffic[0]), live, clock=lambda: now_s[0]
    )
    events.put((0.0, Found(DEVICE, tuple(False for _ in CELLS))))
    grid.hear()
    for now_s[0] in (3.0, 6.0):
        grid.light(Referee().standing, ())
        traffic[0] = Traffic(bad_frames=9)
    assert any("damages" in words for words in live.hardware().conditions)
    events.put((7.0, Lost("the port is gone")))
    grid.hear()
    grid.light(Referee().standing, ())
    assert live.hardware().conditions == ()
