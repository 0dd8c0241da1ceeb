"""How the indices of an LED and sensor grid run over a board's cells, by the profile's [grid]."""

from itertools import pairwise

import pytest

from vision.board import Grid, ProfileError, parse_profile

SQUARES = """
kind = "squares"
[board]
columns = 3
rows = 2
square_mm = 40
[colours]
a = "#ffffff"
b = "#000000"
[grid]
"""

# Each board is drawn with row 2, player B's, first: the index at each cell, a blank where there is none.
RUNS = [
    ("", "345 012"),
    ('first = "a-left"', "345 012"),
    ('first = "a-right"', "543 210"),
    ('first = "b-left"', "012 345"),
    ('first = "b-right"', "210 543"),
    ('along = "columns"', "135 024"),
    ('along = "columns"\nfirst = "a-right"', "531 420"),
    ('along = "columns"\nfirst = "b-left"', "024 135"),
    ('along = "columns"\nfirst = "b-right"', "420 531"),
    ("serpentine = true", "543 012"),
    ('serpentine = true\nfirst = "b-right"', "210 345"),
    ('serpentine = true\nalong = "columns"', "125 034"),
    ('serpentine = true\nalong = "columns"\nfirst = "b-right"', "430 521"),
    ("missing = [[1, 2]]", "234 0 1"),
    ("missing = [[1, 1], [2, 3]]", "23   01"),
    ("serpentine = true\nmissing = [[2, 3]]", "43  012"),
]


@pytest.mark.parametrize(("grid", "drawn"), RUNS, ids=[grid.replace("\n", ", ") or "as usual" for grid, _ in RUNS])
def test_each_index_has_its_cell(grid, drawn):
    profile = parse_profile(SQUARES + grid)
    assert profile.grid is not None
    cells = profile.grid.cells(profile.board.rows, profile.board.columns)
    at = {cell: str(index) for index, cell in enumerate(cells)}
    rows = ["".join(at.get((row, column), " ") for column in (1, 2, 3)) for row in (2, 1)]
    assert rows == [drawn[:3], drawn[4:].ljust(3)]


@pytest.mark.parametrize("first", ["a-left", "a-right", "b-left", "b-right"])
@pytest.mark.parametrize("along", ["rows", "columns"])
@pytest.mark.parametrize("serpentine", [False, True])
def test_every_cell_has_one_index_and_a_serpentine_goes_step_by_step(first, along, serpentine):
    cells = Grid(first, along, serpentine).cells(8, 7)
    assert sorted(cells) == [(row, column) for row in range(1, 9) for column in range(1, 8)]
    steps = [abs(r - q) + abs(c - d) for (q, d), (r, c) in pairwise(cells)]
    assert (max(steps) == 1) is serpentine


@pytest.mark.parametrize(
    ("grid", "key"),
    [
        ('first = "left"', "first"),
        ("along = 3", "along"),
        ("serpentine = 1", "serpentine"),
        ("missing = [3]", "missing"),
        ("missing = [[1, true]]", "missing"),
        ("missing = [[3, 1]]", "missing"),
        ("missing = [[0, 1]]", "missing"),
        ("missing = [[1, 4]]", "missing"),
        ("missing = [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]", "missing"),
        ("start = 3", "start"),
    ],
)
def test_a_grid_that_cannot_be_is_refused_by_its_key(grid, key):
    with pytest.raises(ProfileError, match=rf"\[grid\] {key}\b"):
        parse_profile(SQUARES + grid)
