"""Where a disk lies and what follows: tables of disks that stay, come off, and are too close to call."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.games.at_rest import advice, line_doubt, order_off, tally
from companion.games.match import Tally
from companion.inputs import SeenDisk
from companion.ruling import Do, Why
from companion.terms import USUAL_FIELD, Field, Lying, Player

STAYS = [
    "a:4,4",
    "b:1,4",
    "a:8,4",
    "a:2,1/",
    "b:1,4/",
    "a@95,100",
    "a@53,100|",
    "b@53,394",
    "a@150,70",
    "b@150,70",
    "a@150,424",
    "b@150,424",
    "a@150,70.0001",
    "a@1,200",
    "b@315,300",
    "a@150,71~0.4",
    "a@150,70.81~0.4",
    "b@150,423.19~0.4",
]

COMES_OFF = [
    ("a:1,4", "own-front-row"),
    ("a:1,7/", "own-front-row"),
    ("b:8,4", "own-front-row"),
    ("b:8,1/", "own-front-row"),
    ("a@150,69.9999", "own-launch-area"),
    ("b@150,69.9999", "opposing-launch-area"),
    ("b@150,424.0001", "own-launch-area"),
    ("a@150,424.0001", "opposing-launch-area"),
    ("a@150,10", "own-launch-area"),
    ("a@1,20|", "own-launch-area"),
    ("a@150,480", "opposing-launch-area"),
    ("a@150,69.19~0.4", "own-launch-area"),
    ("a@150,60~4.9", "own-launch-area"),
]

TOO_CLOSE = [
    ("a@150,70~0.3", "0.00 mm past the middle of A's launch line, sigma 0.30 mm"),
    ("a@150,69.5~0.3", "0.50 mm short of the middle of A's launch line, sigma 0.30 mm"),
    ("b@150,70.5~0.3", "0.50 mm past the middle of A's launch line, sigma 0.30 mm"),
    ("a@150,424.25~0.2", "0.25 mm short of the middle of B's launch line, sigma 0.20 mm"),
]


@pytest.mark.parametrize("text", STAYS)
def test_stays(text, disks):
    (disk,) = disks(text)
    assert order_off(USUAL_FIELD, disk) is None
    assert line_doubt(USUAL_FIELD, disk, 1) is None


@pytest.mark.parametrize(("text", "why"), COMES_OFF)
def test_comes_off(text, why, disks):
    (disk,) = disks(text)
    order = order_off(USUAL_FIELD, disk)
    assert order is not None
    assert (order.why, order.colour, order.x_mm, order.y_mm, order.cell) == (
        why,
        disk.colour,
        disk.x_mm,
        disk.y_mm,
        disk.cell,
    )
    assert order.rule == ("Important Rules" if why == "own-front-row" else "Quick Start")
    assert line_doubt(USUAL_FIELD, disk, 1) is None


@pytest.mark.parametrize(("text", "words"), TOO_CLOSE)
def test_too_close_to_call(text, words, disks):
    (disk,) = disks(text)
    doubt = line_doubt(USUAL_FIELD, disk, 5)
    assert order_off(USUAL_FIELD, disk) is None
    assert doubt is not None
    assert words in doubt.why
    assert "too close to call" in doubt.why
    assert (doubt.n, doubt.disks) == (5, (disk,))


@given(st.sampled_from(list(Player)), st.floats(0, 494), st.floats(0, 5))
def test_exactly_one_of_stays_comes_off_and_too_close(colour, y_mm, sigma_mm):
    disk = SeenDisk(colour, 150.0, y_mm, None, Lying.FLAT, sigma_mm)
    past_mm = round(min(y_mm, 494 - y_mm) - 70, 6)
    doubtful = abs(past_mm) < 2 * sigma_mm
    assert (line_doubt(USUAL_FIELD, disk, 1) is not None) == doubtful
    assert (order_off(USUAL_FIELD, disk) is not None) == (past_mm < 0 and not doubtful)


@pytest.mark.parametrize(
    ("text", "perhaps", "why"),
    [
        ("a:5,5/", False, Why.TILTED),
        ("b:1,4/", False, Why.TILTED),
        ("a:5,5/", True, Why.TILTED),
        ("a:5,5", True, Why.PERHAPS_TILTED),
        ("a:5,5", False, None),
        ("a@120,300", False, None),
        ("a@120,300", True, None),
        ("a@120,300|", False, None),
    ],
)
def test_a_disk_that_is_or_may_be_tilted_in_its_hole_is_to_be_laid_flat(text, perhaps, why, disks):
    (disk,) = disks(text)
    order = advice(replace(disk, perhaps_tilted=perhaps))
    assert (order and (order.do, order.why)) == (why and (Do.LAY_FLAT, why))


def test_a_disk_on_the_surface_of_a_cell_is_not_in_its_hole():
    for lying in (Lying.FLAT, Lying.LEANING):
        over = SeenDisk(Player.A, 158.0, 100.0, (1, 4), lying)
        assert order_off(USUAL_FIELD, over) is None
        assert tally(USUAL_FIELD, [replace(over, cell=(8, 4))]) == Tally()
    assert order_off(USUAL_FIELD, SeenDisk(Player.A, 158.0, 450.0, None, Lying.TILTED)) is not None


TALLIES = {
    "": Tally(),
    "a:8,1 a:8,7/ b:1,3": Tally(far=(2, 1)),
    "a@95,394 b@53,100|": Tally(),
    "a:7,1 b:2,1 b:2,2": Tally(near=(1, 2)),
    "b:7,1 a:2,1": Tally(),
    "a:8,1 a:8,1/": Tally(far=(1, 0)),
    "a:8,1/ b:8,1": Tally(),
    "a:7,2 a:7,3 a:7,4": Tally(near=(3, 0), lines=(1, 0)),
    "a:8,2 a:8,3 a:8,4 a:8,5": Tally(far=(4, 0), lines=(2, 0)),
    "a:6,2 a:7,3 a:8,4": Tally(far=(1, 0), near=(1, 0), lines=(1, 0)),
    "a:6,4 a:7,3 a:8,2": Tally(far=(1, 0), near=(1, 0), lines=(1, 0)),
    "a:5,1 a:6,1 a:7,1": Tally(near=(1, 0), lines=(1, 0)),
    "a:4,2 a:4,3 a:4,4": Tally(),
    "a:4,1 a:5,1 a:6,1": Tally(),
    "a:5,1 a:6,1 a:8,1": Tally(far=(1, 0)),
    "a:6,6 a:6,7 a:7,1": Tally(near=(1, 0)),
    "b:1,2 b:2,3 b:3,4": Tally(far=(0, 1), near=(0, 1), lines=(0, 1)),
    "b:4,5 b:3,5 b:2,5": Tally(near=(0, 1), lines=(0, 1)),
    "b:5,5 b:4,5 b:3,5": Tally(),
    "a:6,1 b:6,2 a:6,3": Tally(),
}


@pytest.mark.parametrize(("text", "expected"), TALLIES.items())
def test_what_lies_in_the_scoring_holes(text, expected, disks):
    assert tally(USUAL_FIELD, disks(text)) == expected


def lines_slowly(cells: set[tuple[int, int]], rows: range) -> int:
    """Lines of three by looking at every three disks."""
    held = sorted(cell for cell in cells if cell[0] in rows)
    found = 0
    for first in held:
        for middle in held:
            for last in held:
                step = (middle[0] - first[0], middle[1] - first[1])
                straight = (last[0] - middle[0], last[1] - middle[1]) == step
                found += straight and max(map(abs, step)) == 1 and first < middle < last
    return found


@given(
    st.dictionaries(
        st.tuples(st.integers(1, 8), st.integers(1, 7)), st.sampled_from([Player.A, Player.A, Player.B]), max_size=24
    )
)
def test_tallies_against_a_slow_second_count(board):
    seen = [SeenDisk(owner, 0.0, 0.0, cell, Lying.IN_CELL) for cell, owner in board.items()]
    own = {player: {cell for cell, owner in board.items() if owner is player} for player in Player}
    a, b = own[Player.A], own[Player.B]
    assert tally(USUAL_FIELD, seen) == Tally(
        (len([c for c in a if c[0] == 8]), len([c for c in b if c[0] == 1])),
        (len([c for c in a if c[0] == 7]), len([c for c in b if c[0] == 2])),
        (lines_slowly(a, range(5, 9)), lines_slowly(b, range(1, 5))),
    )


def test_a_board_of_other_sizes():
    small = Field(columns=5, rows=4, length_mm=326.0, width_mm=232.0)
    far = SeenDisk(Player.A, 74.0, 226.0, (4, 2), Lying.IN_CELL)
    assert tally(small, [far]).far == (1, 0)
    assert order_off(small, far) is None
    own = order_off(small, SeenDisk(Player.B, 74.0, 226.0, (4, 2), Lying.IN_CELL))
    assert own is not None
    assert own.why == "own-front-row"
    beyond = SeenDisk(Player.A, 74.0, 256.001, None, Lying.FLAT)
    opposing = order_off(small, beyond)
    assert opposing is not None
    assert opposing.why == "opposing-launch-area"


def test_exactly_on_the_line_stays_for_decimal_sizes_too():
    decimal = Field(length_mm=493.7, launch_line_mm=70.1)
    disk = SeenDisk(Player.A, 150.0, 423.6, None, Lying.FLAT)
    assert decimal.length_mm - disk.y_mm < decimal.launch_line_mm
    assert order_off(decimal, disk) is None
