"""Claims about drawing: what was read is marked where it is seen, at its height, on a copy of the picture."""

import cv2
import numpy as np
import pytest

from vision.board import HolesBoard, Marks, Profile, SquaresBoard
from vision.calibration import calibrate
from vision.draw import draw_labels, draw_sightings, encode_jpeg, shrink_to_width
from vision.sighting import Reading, Sighting

BOARD = HolesBoard(7, 8, 42.0, 32.0, 28.0, 6.0, 316.0, 494.0, 70.0, 100.0, 32.0, 6.0)
PROFILE = Profile(BOARD, (("a", (60, 66, 210)), ("b", (58, 50, 50))))
# Seen from 30 degrees, so that a disk's height shifts it by some pixels.
CORNERS_PX = [[330.0, 690.0], [950.0, 690.0], [860.0, 60.0], [420.0, 60.0]]
CALIBRATION = calibrate(CORNERS_PX, BOARD.corners_mm(), (1280, 720))
GREY = np.full((720, 1280, 3), 120, np.uint8)


def changed(image_bgr, reading):
    """Where a reading's marks are, beyond what is drawn of an empty board."""
    empty = draw_sightings(image_bgr, CALIBRATION, PROFILE, Reading(()))
    drawn = draw_sightings(image_bgr, CALIBRATION, PROFILE, reading)
    return np.argwhere((drawn != empty).any(axis=2))[:, ::-1]


@pytest.mark.parametrize("width_px", [1280, 640])
@pytest.mark.parametrize(("cell", "lying", "z_mm"), [((4, 3), "in_cell", 0.0), (None, "flat", 6.0)])
def test_a_disk_is_ringed_where_its_top_is_seen(width_px, cell, lying, z_mm):
    centre_mm = (116.0, 226.0)
    marks_px = changed(shrink_to_width(GREY, width_px), Reading((Sighting(centre_mm, 0.2, "a", lying, cell, 0.9),)))
    middle_px = (marks_px.min(axis=0) + marks_px.max(axis=0)) / 2
    turn = np.linspace(0, 2 * np.pi, 90)
    rim_px = CALIBRATION.project(np.array(centre_mm) + 14 * np.stack([np.cos(turn), np.sin(turn)], axis=1), z_mm)
    scale = width_px / 1280
    expected_px = ((rim_px.min(axis=0) + rim_px.max(axis=0)) / 2 + 0.5) * scale - 0.5
    np.testing.assert_allclose(middle_px, expected_px, atol=0.75)
    other_px = CALIBRATION.project([centre_mm], 6.0 - z_mm)[0] * scale
    assert np.abs(other_px - expected_px).max() > 1.5 * scale


def test_a_hidden_cell_is_crossed_and_nothing_else():
    marks_px = changed(GREY, Reading((), ((2, 6),)))
    centre_px = CALIBRATION.project([BOARD.cells_mm()[7 + 5]])[0]
    assert len(marks_px) > 50
    assert np.abs(marks_px - centre_px).max() < 16 * CALIBRATION.px_per_mm()


@pytest.mark.parametrize(("lying", "tilt_chance"), [("tilted", 0.99), ("leaning", 0.0), ("in_cell", 0.5)])
def test_a_disk_that_does_not_lie_plainly_says_how(lying, tilt_chance):
    plain = changed(GREY, Reading((Sighting((116.0, 226.0), 0.2, "b", "in_cell", (4, 3), 0.9),)))
    said = changed(GREY, Reading((Sighting((116.0, 226.0), 0.2, "b", lying, (4, 3), 0.9, tilt_chance),)))
    assert said[:, 1].max() > plain[:, 1].max() + 8


def test_the_picture_itself_is_untouched():
    image_bgr = GREY.copy()
    draw_sightings(image_bgr, CALIBRATION, PROFILE, Reading((), ((1, 1),)))
    assert (image_bgr == GREY).all()


@pytest.mark.parametrize(("shape", "width_px", "size"), [((720, 1280), 960, (540, 960)), ((9, 16), 960, (9, 16))])
def test_a_picture_is_shrunk_and_never_enlarged(shape, width_px, size):
    assert shrink_to_width(np.zeros((*shape, 3), np.uint8), width_px).shape == (*size, 3)


def test_a_jpeg_is_the_picture():
    again = cv2.imdecode(np.frombuffer(encode_jpeg(GREY), np.uint8), cv2.IMREAD_COLOR)
    assert again is not None
    assert np.abs(again.astype(int) - GREY).max() <= 2


def test_labels_stand_on_their_squares():
    board = SquaresBoard(16, 16, 25.0)
    profile = Profile(board, (), marks=Marks("DICT_4X4_100", (20.0, 4.0), 13.0, 40.0))
    calibration = calibrate(CORNERS_PX, board.corners_mm(), (1280, 720))
    empty = draw_labels(GREY, calibration, profile, {})
    drawn = draw_labels(GREY, calibration, profile, {(2, 5): ("M", (40, 60, 200))})
    marks_px = np.argwhere((drawn != empty).any(axis=2))[:, ::-1]
    middle_px = calibration.project([(5.5 * 25, 2.5 * 25)], 0.0)[0]
    np.testing.assert_allclose((marks_px.min(axis=0) + marks_px.max(axis=0)) / 2, middle_px, atol=4)
    assert (drawn == (40, 60, 200)).all(axis=2).any()
