"""Tokens are read by their printed marks, on rendered boards and on the path-traced ones where those are at hand."""

import json
import math
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware_sims import tokens
from hardware_sims.tokens import STANDARD, Light, Picture, TokenTable, unit_mark
from hardware_sims.view import View
from vision.board import Marks, Profile, SquaresBoard, read_profile
from vision.calibration import CalibrationError
from vision.markers import (
    calibrate_marked,
    changed_squares,
    find_marked_board,
    read_tokens,
    see_squares,
    unsure_squares,
)

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "pictures" / "magestone"
PROFILE = Profile(STANDARD, (), marks=Marks())
SIZE_WH = (1920, 1080)
SQUARES = [(row, column) for row in range(16) for column in range(16) if tokens.is_square(STANDARD, (row, column))]
NEXUS = {(7, 7), (7, 8), (8, 7), (8, 8)}
VIEW = View(SIZE_WH, fov_x_deg=50.0, tilt_deg=15.0, azimuth_deg=-88.0, distance_mm=880.0, roll_deg=2.0)


def marks_of(image: np.ndarray, profile: Profile = PROFILE) -> Counter:
    """How often each mark is seen on each square."""
    calibration = find_marked_board(image, profile)
    return Counter((token.mark, token.cell) for token in read_tokens(image, calibration, profile))


def unsure(image: np.ndarray, profile: Profile = PROFILE) -> set[tuple[int, int]]:
    """The squares that look neither empty nor have a token that is read."""
    calibration = find_marked_board(image, profile)
    taken = {token.cell for token in read_tokens(image, calibration, profile)}
    return set(unsure_squares(see_squares(image, calibration, profile), taken, (NEXUS,), SQUARES))


def true_marks(table: TokenTable) -> Counter:
    return Counter((mark, cell) for cell, mark in table.tops().items())


def random_table(seed: int) -> tuple[TokenTable, np.ndarray]:
    """Units of two or four seats, stones and graves anywhere, under any lamp and view up to 30 degrees aslant."""
    rng = np.random.default_rng(seed)
    table = TokenTable(seed=seed)
    cells = [(row, column) for row in range(16) for column in range(16) if tokens.is_square(STANDARD, (row, column))]
    cells = [cells[index] for index in rng.permutation(len(cells))]
    for seat in (0, 2) if seed % 2 else (0, 1, 2, 3):
        for number in range(8):
            table.put(unit_mark(seat, number), cells.pop())
    for _ in range(6):
        table.put(int(rng.choice((50, 51, 52))), cells.pop())
    while True:
        view = View(
            SIZE_WH,
            fov_x_deg=float(rng.uniform(42, 62)),
            tilt_deg=float(rng.uniform(0, 30)),
            azimuth_deg=float(-90 + rng.normal(0, 5)),
            distance_mm=float(rng.uniform(700, 1100)),
            roll_deg=float(rng.choice((0, 0, 90, 180)) + rng.normal(0, 3)),
        )
        corners = tokens.project(STANDARD, view, [(0, 0), (400, 0), (400, 400), (0, 400)])
        wide_px = math.sqrt(cv2.contourArea(corners.astype(np.float32)))
        if corners.min() > 10 and (corners < np.array(SIZE_WH) - 10).all() and wide_px > 700:
            break
    light = Light(
        (float(rng.uniform(-600, 600)), float(rng.uniform(-600, 600)), float(rng.uniform(700, 1400))),
        radius_mm=float(rng.uniform(40, 200)),
        lamp=float(rng.uniform(0.4, 1.1)),
        ambient=float(rng.uniform(0.15, 0.5)),
        gloss=float(rng.uniform(0, 0.25)),
    )
    picture = Picture(float(rng.uniform(0.6, 1.3)), float(rng.uniform(0.5, 1.3)), float(rng.uniform(0.5, 4)), 85)
    return table, tokens.render(table, view, light, picture, seed)


@pytest.mark.parametrize("seed", range(3))
def test_every_token_is_read_on_its_square(seed: int):
    table, image = random_table(seed)
    assert marks_of(image) == true_marks(table)


@pytest.mark.parametrize("seed", range(3))
def test_no_empty_square_is_unsure(seed: int):
    _, image = random_table(100 + seed)
    assert unsure(image) == set()


def blotted(image: np.ndarray, cell: tuple[int, int]) -> np.ndarray:
    """The picture with a blot of ink on the token of a square."""
    middle = tokens.project(STANDARD, VIEW, [(25 * cell[1] + 12.5, 25 * cell[0] + 12.5)])[0]
    spoiled = image.copy()
    cv2.circle(spoiled, tuple(int(k) for k in middle), 11, (200, 200, 200), cv2.FILLED, cv2.LINE_AA)
    return spoiled


def test_a_token_that_cannot_be_read_is_unsure_and_not_empty():
    table = TokenTable(seed=5)
    for cell in ((3, 7), (8, 8), (12, 4)):
        table.put(unit_mark(0, cell[0] % 8), cell)
    image = blotted(tokens.render(table, VIEW), (8, 8))
    assert {cell for _, cell in marks_of(image)} == {(3, 7), (12, 4)}
    assert unsure(image) == {(8, 8)}


def test_what_an_arm_covers_is_unsure():
    image = tokens.render(TokenTable(seed=5), VIEW)
    line = tokens.project(STANDARD, VIEW, [(210, 460), (210, 210)])
    cv2.line(image, *(tuple(int(k) for k in point) for point in line), (120, 150, 200), 90, cv2.LINE_AA)
    assert {(row, 8) for row in range(9, 16)} <= unsure(image)


def test_a_part_of_the_board_is_read_as_in_the_whole():
    table, image = random_table(3)
    calibration = find_marked_board(image, PROFILE)
    part = (4, 2, 11, 9)
    read = {(token.mark, token.cell) for token in read_tokens(image, calibration, PROFILE, part)}
    within = {(mark, cell) for cell, mark in table.tops().items() if 4 <= cell[0] < 11 and 2 <= cell[1] < 9}
    assert within
    assert read == within


def test_only_squares_on_which_something_was_done_have_changed():
    table = random_table(4)[0]
    start, end = next(cell for cell, mark in table.tops().items() if mark < 50), (8, 8)
    if end in table.tops():
        table.take(end)
    before = tokens.render(table, VIEW, seed=1)
    table.move(start, end)
    after = tokens.render(table, VIEW, Light(lamp=0.6), seed=2)
    calibration = find_marked_board(before, PROFILE)
    seen = [see_squares(image, calibration, PROFILE) for image in (before, after)]
    changed = {tuple(map(int, cell)) for cell in np.argwhere(changed_squares(*seen))} & set(SQUARES)
    assert {start, end} <= changed
    # A token leans over the line to the next square, and its shadow lies there.
    near = {(row + down, column + right) for row, column in (start, end) for down in (-1, 0, 1) for right in (-1, 0, 1)}
    assert changed <= near


@pytest.mark.long
def test_boards_are_wholly_right_but_for_one_in_two_hundred():
    wrong = []
    for seed in range(1000, 1200):
        table, image = random_table(seed)
        if marks_of(image) != true_marks(table):
            wrong.append(seed)
    print("wrong:", wrong)
    assert len(wrong) <= 1


def test_what_a_unit_stands_on_is_not_seen():
    table = TokenTable(seed=5)
    table.put(50, (8, 8))
    table.put(50, (8, 8))
    table.put(unit_mark(0, 0), (8, 8))
    table.put(52, (3, 7))
    assert marks_of(tokens.render(table, VIEW)) == Counter({(10, (8, 8)): 1, (52, (3, 7)): 1})


def test_corners_that_are_given_do_as_well_as_the_marks():
    table, _ = random_table(7)
    image = tokens.render(table, VIEW)
    corners_px = tokens.project(STANDARD, VIEW, [(0, 0), (400, 0), (400, 400), (0, 400)])
    given = calibrate_marked(corners_px, STANDARD.corners_mm(), SIZE_WH, PROFILE)
    found = find_marked_board(image, PROFILE)
    assert np.abs(found.project(STANDARD.corners_mm()) - corners_px).max() < 1.0
    seen = Counter((token.mark, token.cell) for token in read_tokens(image, given, PROFILE))
    assert seen == true_marks(table)


def without_marks(count: int) -> np.ndarray:
    image = tokens.render(TokenTable(), VIEW)
    for x, y in [(25, 25), (375, 25), (375, 375)][:count]:
        column, row = tokens.project(STANDARD, VIEW, [(x, y)])[0]
        cv2.circle(image, (int(column), int(row)), 60, (90, 120, 150), cv2.FILLED)
    return image


def test_three_corner_marks_are_enough():
    corners_px = tokens.project(STANDARD, VIEW, [(0, 0), (400, 0), (400, 400), (0, 400)])
    found = find_marked_board(without_marks(1), PROFILE)
    # Without the field of view, three marks say little of the fourth corner's perspective.
    assert np.abs(found.project(STANDARD.corners_mm()) - corners_px).max() < 8.0


@pytest.mark.parametrize("image", [without_marks(2), np.zeros((1080, 1920, 3), np.uint8)], ids=["two hidden", "black"])
def test_a_board_without_enough_marks_is_not_found(image: np.ndarray):
    with pytest.raises(CalibrationError, match="corner marks"):
        find_marked_board(image, PROFILE)


def test_marks_belong_to_boards_that_have_some():
    with pytest.raises(ValueError, match=r"\[marks\]"):
        find_marked_board(np.zeros((100, 100, 3), np.uint8), Profile(SquaresBoard(5, 5, 50.0), ()))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the path-traced pictures beside the project are absent")
@pytest.mark.parametrize("number", range(8))
def test_path_traced_boards(number: int):
    truth = json.loads((SHARED / f"magestone-{number:03d}.json").read_text())
    image = cv2.imread(str(SHARED / truth["image"]))
    profile = read_profile(SHARED / "board.toml")
    seen = marks_of(image, profile)
    wanted = Counter((token["mark"], (token["row"], token["col"])) for token in truth["tokens"])
    assert not seen - wanted, "invented"
    assert truth["hand"] or not wanted - seen, "missed"
    hidden = unsure(image, profile)
    assert {cell for _, cell in wanted - seen} <= hidden
    assert truth["hand"] or not hidden
