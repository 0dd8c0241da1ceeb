"""The table of marked tokens: its truth follows the script, and its picture shows what the truth says."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hardware_sims.tokens import (
    ACTIVATED,
    STANDARD,
    STONE,
    Light,
    Picture,
    TokenTable,
    is_square,
    project,
    render,
    unit_mark,
)
from hardware_sims.view import View

VIEW = View((1920, 1080), fov_x_deg=50.0, tilt_deg=20.0, azimuth_deg=-90.0, distance_mm=800.0)


def test_the_board_has_216_squares_and_home_edges_of_eight():
    squares = [(row, column) for row in range(16) for column in range(16) if is_square(STANDARD, (row, column))]
    assert len(squares) == 216
    assert [column for row, column in squares if row == 0] == list(range(4, 12))
    assert [row for row, column in squares if column == 15] == list(range(4, 12))


def test_tokens_go_where_the_script_puts_them_and_lie_on_one_another():
    table = TokenTable(seed=1)
    table.put(STONE, (7, 4))
    table.put(ACTIVATED, (7, 4))
    table.put(unit_mark(2, 0), (15, 8))
    table.move((15, 8), (7, 4))
    assert table.tops() == {(7, 4): 30}
    assert [(token.mark, token.z_mm) for token in table.tokens()] == [(STONE, 0.0), (ACTIVATED, 4.0), (30, 8.0)]
    assert table.take((7, 4), STONE) == STONE
    assert [(token.mark, token.z_mm) for token in table.tokens()] == [(ACTIVATED, 0.0), (30, 4.0)]
    with pytest.raises(ValueError, match="no square"):
        table.put(STONE, (0, 0))
    with pytest.raises(KeyError):
        table.move((3, 3), (4, 4))


def laid(seed: int) -> TokenTable:
    table, rng = TokenTable(seed=seed), np.random.default_rng(seed)
    squares = [(row, column) for row in range(16) for column in range(16) if is_square(STANDARD, (row, column))]
    for seat, number in ((0, 0), (0, 1), (2, 0), (2, 1), (2, 7)):
        table.put(unit_mark(seat, number), squares.pop(int(rng.integers(len(squares)))))
    return table


@pytest.mark.parametrize("view", [VIEW, replace(VIEW, tilt_deg=0.0), replace(VIEW, roll_deg=170.0, distance_mm=920.0)])
def test_every_mark_is_drawn_where_the_truth_has_it(view):
    table = laid(4)
    image = render(table, view, picture=Picture(noise_levels=0.0, jpeg_quality=None))
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_100))
    corners, marks, _ = detector.detectMarkers(image)
    found = {int(mark): quad.reshape(4, 2).mean(axis=0) for mark, quad in zip(marks.ravel(), corners, strict=True)}
    places = {0: (25.0, 25.0), 1: (375.0, 25.0), 2: (375.0, 375.0), 3: (25.0, 375.0)}
    expected = {mark: project(STANDARD, view, [place])[0] for mark, place in places.items()}
    for token in table.tokens():
        expected[token.mark] = project(STANDARD, view, [(token.x_mm, token.y_mm)], table.marks.token_mm[1])[0]
    assert sorted(found) == sorted(expected)
    for mark, place in expected.items():
        # A square's middle in perspective is not that of its corners: by some tenths of a pixel.
        assert found[mark] == pytest.approx(place, abs=1.2), mark


def test_light_noise_and_mirroring_are_in_the_picture():
    table, small = laid(5), replace(VIEW, size_wh=(480, 270))
    clean = Picture(noise_levels=0.0, blur_px=0.0, jpeg_quality=None)
    plain = render(table, small, picture=clean).astype(int)
    assert (render(table, small, picture=clean) == plain).all()
    assert render(table, small, Light(gloss=0.4), clean).mean() > plain.mean() + 1
    assert render(table, small, picture=replace(clean, exposure=0.3)).mean() < 0.7 * plain.mean()
    noisy = render(table, small, picture=replace(clean, noise_levels=5.0))
    assert 3 < (noisy - plain).std() < 6
    assert (render(table, replace(small, mirrored=True), picture=clean)[:, ::-1] == plain).all()
