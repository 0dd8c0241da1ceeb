"""Disks that come to lie over others in holes, from rendered pictures to rulings: both are on the board."""

import math

import pytest

from companion.inputs import Declaration, Declared, Input, Setup
from companion.referee import Referee
from companion.ruling import Accepted, Ruling, Shot
from companion.session import Session
from companion.settle import SETTLED_ALREADY
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD, Disk, cell_mm, flat, in_cell, leaning
from hardware_sims.scene import Room, Scene
from hardware_sims.view import View
from vision.board import Profile
from vision.camera import Frame

CELL = (4, 4)
VIEW = View((1280, 720), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
PROFILE = Profile(STANDARD, (("a", (66, 66, 210)), ("b", (58, 50, 50))), VIEW.fov_x_deg)


def shots(*tables: tuple[Disk, ...]) -> list[Shot]:
    """What is ruled where each of some tables is one look."""
    told: list[Shot] = []

    def tell(_given: Input, rulings: tuple[Ruling, ...]) -> None:
        told.extend(
            ruling.event for ruling in rulings if isinstance(ruling, Accepted) and isinstance(ruling.event, Shot)
        )

    camera = Camera(Scene(STANDARD, Room(ground=(0.16, 0.2, 0.19), cloth=True)), VIEW, Settings(jpeg_quality=90))
    corners_px = [tuple(corner) for corner in VIEW.project(STANDARD, STANDARD.corners_mm()).tolist()]
    session = Session(PROFILE, Referee(), tell, corners_px=corners_px, patience=SETTLED_ALREADY)
    session.say(Declaration(Declared.START, Setup()))
    session.run(Frame(n, n / 2, camera.read(disks, (), n / 2)) for n, disks in enumerate(tables))
    return told


@pytest.mark.parametrize("off_mm", [(2.4, 0.3), (-5.0, -2.0), (4.4, 6.9), (-11.0, 4.0)])
@pytest.mark.parametrize("second", [(2.0, -1.0), (11.0, -4.0)])
def test_each_of_two_disks_over_one_another_stays_on_the_board(
    off_mm: tuple[float, float], second: tuple[float, float]
):
    middle_mm = cell_mm(STANDARD, CELL)
    lower = in_cell(STANDARD, "a1", "a", CELL)
    upper = flat(STANDARD, "b1", "b", middle_mm[0] + off_mm[0], middle_mm[1] + off_mm[1])
    elsewhere_mm = cell_mm(STANDARD, (6, 2))
    other = in_cell(STANDARD, "a2", "a", (6, 2))
    last = flat(STANDARD, "b2", "b", elsewhere_mm[0] + second[0], elsewhere_mm[1] + second[1])
    told = shots((), (lower,), (lower, upper), (lower, upper, other), (lower, upper, other, last))
    assert [(shot.n, shot.player.value, shot.left_board) for shot in told] == [
        (1, "a", 0),
        (2, "b", 0),
        (3, "a", 0),
        (4, "b", 0),
    ]
    assert sorted((disk.colour.value, disk.cell or (0, 0)) for disk in told[-1].disks) == [
        ("a", CELL),
        ("a", (6, 2)),
        ("b", (0, 0)),
        ("b", (0, 0)),
    ]


@pytest.mark.parametrize("colour", ["a", "b"])
@pytest.mark.parametrize(
    ("from_mm", "end_mm"),
    [
        ((9.0, -3.0), (0.5, -4.8)),
        ((9.0, -3.0), (-3.5, 4.5)),
        ((-35.0, -2.0), (-2.2, -2.9)),
        ((-35.0, -2.0), (5.0, 1.5)),
    ],
)
def test_a_disk_that_is_pushed_over_one_of_its_own_colour_stays_on_the_board(
    colour: str, from_mm: tuple[float, float], end_mm: tuple[float, float]
):
    middle_mm = cell_mm(STANDARD, CELL)

    def upper(off_mm: tuple[float, float]) -> Disk:
        return flat(STANDARD, "u", colour, middle_mm[0] + off_mm[0], middle_mm[1] + off_mm[1])

    other = "ab"[colour == "a"]
    lower = in_cell(STANDARD, "l", colour, CELL)
    x, y, z = (in_cell(STANDARD, name, other, cell) for name, cell in (("x", (6, 2)), ("y", (7, 6)), ("z", (3, 2))))
    begun = [(lower,), (lower, x)] if colour == "a" else [(x,), (x, lower), (x, lower, y)]
    there, pushed = (*begun[-1], upper(from_mm)), (*begun[-1], upper(end_mm), z)
    told = shots((), *begun, there, pushed)
    assert [shot.left_board for shot in told] == [0] * len(told)
    assert len(told) == len(begun) + 2
    assert [disk.cell for disk in told[-1].disks if disk.colour.value == colour and not disk.cell] == [None]
    assert [disk.cell for disk in told[-1].disks if disk.colour.value == colour and disk.cell] == [CELL]


def test_a_disk_that_leans_far_over_another_leaves_both_on_the_board():
    lower = flat(STANDARD, "l", "b", 124.1, 109.1)
    upper = leaning(STANDARD, "u", "b", lower, 0.0, 20.0)
    assert 15 < math.dist((upper.x_mm, upper.y_mm), (lower.x_mm, lower.y_mm)) < 22
    first, other = in_cell(STANDARD, "f", "a", (6, 2)), in_cell(STANDARD, "o", "a", (5, 5))
    told = shots((), (first,), (first, lower), (first, lower, other), (first, lower, other, upper))
    assert [shot.left_board for shot in told] == [0, 0, 0, 0]
    assert len(told[-1].disks) == 4
