"""Claims about what may be felt for want of diodes, and how it is known that there are diodes, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.diodes import Diodes
from hardware_sims.sensors import Ghosts, Sensors
from vision.board import Grid


def cells_in(rows: str, sign: str) -> set[tuple[int, int]]:
    """The cells with this sign, of a map with a row of the board a word."""
    words = enumerate(rows.split(), 1)
    return {(row, column) for row, word in words for column, one in enumerate(word, 1) if one == sign}


def says(rows: str) -> dict[tuple[int, int], bool]:
    """What the sensors say: x occupied, o empty, ? nothing."""
    return dict.fromkeys(cells_in(rows, "o"), False) | dict.fromkeys(cells_in(rows, "x"), True)


# What the sensors say; then where something may be felt for want of diodes.
GHOSTS = {
    "nothing lies there": ("ooo ooo ooo", "... ... ..."),
    "all in one row": ("xxx ooo ooo", "... ... ..."),
    "none joined to another": ("xoo oxo oox", "... ... ..."),
    "a rectangle": ("xox ooo xox", "g.g ... g.g"),
    "three corners of one": ("xox ooo xoo", "... ... ..."),
    "three corners, and no sensor at the fourth": ("xox ooo xo?", "g.g ... g.."),
    "a rectangle and one elsewhere": ("xxo xxo oox", "gg. gg. ..."),
    "joined the long way round": ("xxo oxx oox", "... ... ..."),
    "joined the long way round, all felt": ("xxx xxx xxx", "ggg ggg ggg"),
}


@pytest.mark.parametrize(("rows", "ghosts"), GHOSTS.values(), ids=GHOSTS)
def test_it_is_known_what_may_be_felt_for_want_of_diodes(rows, ghosts):
    assert Diodes().ghosts(says(rows)) == cells_in(ghosts, "g")


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 7)), max_size=24))
def test_what_a_matrix_without_diodes_feels_wrongly_may_always_be_a_ghost(filled):
    cells = Grid().cells(7, 8)
    felt = Sensors(7, 8, (Ghosts(),))
    for row, column in filled:
        felt.put(8 * row + column, True, 0.0)
    felt.advance(1.0)
    wrong = {cell for cell, now, truly in zip(cells, felt.levels, felt.occupied, strict=True) if now is not truly}
    assert wrong <= Diodes().ghosts(dict(zip(cells, felt.levels, strict=True)))


# Looks one after another: what the sensors say, and what the camera sees; then what may be a ghost at last, and whether
# diodes are known to be missing.
STORIES = {
    "a fourth corner that is felt, and is empty": ([("xox ooo xox", "xox ooo xoo")], "g.g ... g.g", True),
    "a fourth corner that the camera does not see": ([("xox ooo xox", "xox ooo xo?")], "g.g ... g.g", False),
    "it was empty once, and is filled": (
        [("xox ooo xoo", "xox ooo xoo"), ("xox ooo xox", "xox ooo xoo")],
        "g.g ... g..",
        False,
    ),
    "two were empty while they were joined": (
        [("xox oxo xoo", "xox oxo xoo"), ("xxo oxo xoo", "xxo oxo xoo"), ("xox ooo xox", "xox ooo xoo")],
        "... ... ...",
        False,
    ),
    "diodes that are missing, then seen": (
        [("xox ooo xox", "xox ooo xoo"), ("xxo xoo xoo", "xxo xoo xoo")],
        "... ... ...",
        False,
    ),
    "diodes that were there, and are lost": (
        [("xxo xoo xoo", "xxo xoo xoo"), ("xxo xxo xxo", "xxo xoo xoo")],
        "gg. gg. gg.",
        True,
    ),
    "a sensor that is stuck where nothing joins it": ([("xoo ooo oox", "xoo ooo ooo")], "... ... ...", False),
}


@pytest.mark.parametrize(("looks", "ghosts", "missing"), STORIES.values(), ids=STORIES)
def test_what_sensors_and_camera_tell_shows_whether_there_are_diodes(looks, ghosts, missing):
    diodes = Diodes()
    for felt, seen in looks:
        diodes.learn(says(felt), says(felt), says(seen))
    assert diodes.ghosts(says(looks[-1][0])) == cells_in(ghosts, "g")
    assert diodes.missing is missing


def test_a_sensor_that_changed_just_now_proves_nothing():
    diodes, felt = Diodes(), says("xxo xoo xoo")
    diodes.learn(felt, {cell: occupied for cell, occupied in felt.items() if occupied}, felt)
    assert diodes.ghosts(says("xxo xxo xxo")) == cells_in("gg. gg. gg.", "g")
