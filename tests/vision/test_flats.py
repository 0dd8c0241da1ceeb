"""Where uppermost flats lie, how they are turned and how large they are seen."""

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from hardware_sims.squares import Kind, Piece, Room, Scene, Sizes, exposed
from hardware_sims.view import View
from vision.board import Image, Pieces, SquaresBoard
from vision.flats import Flats, FlatViews
from vision.heights import sizes_likely

BOARD = SquaresBoard(3, 3, 50.0)


class _Slab:
    width_mm = length_mm = 150.0


CALIBRATION = View((1280, 960), fov_x_deg=36.0, tilt_deg=16.0, azimuth_deg=-80.0, distance_mm=560.0).calibration(
    _Slab()
)
KINDS: tuple[Kind, ...] = ("flat", "wall", "crown")
PLACES = (
    # below the uppermost flat, x and y from the square's middle in mm, turn in degrees, on it
    (0, 0.0, 0.0, 0.0, 0),
    (1, 2.0, -1.5, 6.0, 0),
    (2, -3.0, 1.0, -9.0, 0),
    (0, 3.0, 2.0, 12.0, 0),
    (3, -1.0, -2.0, 3.0, 0),
    (0, -2.0, 3.0, -4.0, 1),
    (1, 1.0, 2.0, 5.0, 2),
    (4, 2.0, 2.0, -6.0, 0),
    (0, -3.5, -1.0, 8.0, 0),
)


@cache
def picture_of(wide_mm: float = 34.0) -> Image:
    """A rendered board with a stack on each square, as PLACES has them."""
    pieces = []
    for square, (below, x_mm, y_mm, turn_deg, on_top) in enumerate(PLACES):
        middle = BOARD.cells_mm()[square]
        for layer in range(below + 1):
            off = (x_mm, y_mm) if layer == below else (1.0, -1.0)
            colour = "ab"[(square + below - layer) % 2]
            turn = turn_deg if layer == below else -2.0
            pieces.append(Piece("flat", colour, middle[0] + off[0], middle[1] + off[1], 8.0 * layer, turn))
        if on_top:
            pieces.append(Piece(KINDS[on_top], "ab"[square % 2], *middle, 8.0 * (below + 1), 40.0))
    room = Room(colours=(("a", (0.75, 0.7, 0.6)), ("b", (0.1, 0.06, 0.035))))
    light = Scene(BOARD, Sizes(flat_mm=(wide_mm, wide_mm, 8.0)), room).picture(
        CALIBRATION, tuple(pieces), oversampling=1
    )
    return exposed(light * 0.85, np.random.default_rng(2), blur_px=0.8, noise_levels=1.5)


def flats_of(image: Image) -> Flats:
    z_mm = np.array([8.0 * (below + 1) for below, *_ in PLACES])
    own = np.arange(9) % 2
    tops = []
    for square in range(9):
        x, y = CALIBRATION.project(BOARD.cells_mm()[square : square + 1], z_mm[square])[0].astype(int)
        tops.append(np.median(image[y - 8 : y + 9, x - 8 : x + 9].reshape(-1, 3), axis=0))
    paints = np.log(np.array([np.median(tops[side::2], axis=0) for side in (0, 1)]) + 4).astype(np.float32)
    under = np.array([on_top for *_, on_top in PLACES])
    return Flats(BOARD.cells_mm(), z_mm, paints[np.stack([own, 1 - own], axis=1)], under)


def test_flats_are_found_where_they_lie():
    image = picture_of()
    flats = flats_of(image)
    fits = FlatViews(image, CALIBRATION, Pieces()).fit(flats)
    true = np.array([(x, y, turn) for _, x, y, turn, _ in PLACES])
    assert np.abs(fits.pose[:, :2] - flats.middles_mm - true[:, :2]).max() < 0.6
    assert np.abs(np.degrees(fits.pose[:, 2]) - true[:, 2]).max() < 1.5
    free = flats.under == 0
    assert np.abs(fits.pose[free, 3]).max() < 0.012
    assert np.median(np.abs(fits.pose[free, 3])) < 0.006


@pytest.mark.parametrize("layers", [-1, 1, 2])
def test_a_flat_is_seen_larger_by_what_it_lies_higher_than_supposed(layers):
    image = picture_of()
    flats = flats_of(image)
    views = FlatViews(image, CALIBRATION, Pieces())
    right, off = views.fit(flats), views.fit(replace(flats, z_mm=flats.z_mm - 8.0 * layers))
    camera_mm = CALIBRATION.camera_mm()[2]
    larger = 8.0 * layers / (camera_mm - flats.z_mm)
    assert np.median(off.pose[:, 3] - right.pose[:, 3] - larger) == pytest.approx(0, abs=0.003)


def test_a_larger_flat_is_seen_larger():
    usual, large = picture_of(), picture_of(34.7)
    first, second = (
        FlatViews(image, CALIBRATION, Pieces()).fit(flats_of(image)).pose[:, 3] for image in (usual, large)
    )
    assert np.median(second - first) == pytest.approx(0.7 / 34, abs=0.006)


def test_what_no_ray_shows_is_not_sure():
    even = np.full((960, 1280, 3), 120, np.uint8)
    image = picture_of()
    flats = flats_of(image)
    seen, unseen = (FlatViews(one, CALIBRATION, Pieces()).fit(flats).covariance[:, 3, 3] for one in (image, even))
    assert np.median(unseen) > 4 * np.median(seen)


@pytest.mark.parametrize("wh", [(1, 1), (64, 48)])
def test_a_board_outside_the_picture_is_no_error(wh):
    image = cv2.resize(picture_of(), wh)
    assert np.isfinite(FlatViews(image, CALIBRATION, Pieces()).fit(flats_of(picture_of())).pose).all()


SAME = np.zeros((2, 6))
VARIANCE = np.full(6, 0.003**2)
OWN = np.array([0, 0, 0, 1, 1, 1])
KNOWN = np.array([False, True, True, True, True, True])


@pytest.mark.parametrize(
    ("bleeds", "error", "likelier"),
    [
        (0.0, (0.0, 0.011), 0),
        (0.0, (-0.011, 0.0), 1),
        (0.006, (0.006, -0.005), 0),
        # Seen as large as its colour is elsewhere.
        (-0.006, (-0.006, 0.005), 0),
    ],
)
def test_sizes_are_held_against_others_of_the_colour(bleeds, error, likelier):
    errors = SAME + np.where(OWN == 0, bleeds, 0)
    errors[:, 0] = error
    assert sizes_likely(errors, VARIANCE, OWN, np.full(6, True), KNOWN)[:, 0].argmax() == likelier


def test_where_flats_differ_in_size_sizes_tell_less():
    errors = SAME.copy()
    errors[1, 0] = 0.011
    even = sizes_likely(errors, VARIANCE, OWN, np.full(6, True), KNOWN)[:, 0]
    errors[:, 1:] = np.array([0.012, -0.012, 0.012, 0.0, -0.012])
    uneven = sizes_likely(errors, VARIANCE, OWN, np.full(6, True), KNOWN)[:, 0]
    assert 0 < uneven[0] - uneven[1] < 0.7 * (even[0] - even[1])
