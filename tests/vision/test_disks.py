"""Every disk on a board with holes is found where it lies, and nothing else; errors in millimetres are printed."""

import json
import math
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from hardware_sims import disks as table
from hardware_sims import virtual
from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import Disk
from hardware_sims.pictures import light_of
from hardware_sims.scene import Room, Scene
from hardware_sims.table_faults import FAULTS
from hardware_sims.view import View
from vision.board import Profile, read_profile
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.colours import Seen, tell_colours
from vision.disks import Table, find_disks, read_disks, read_table
from vision.nets import conv
from vision.sighting import Reading, Sighting

DATA = Path(__file__).resolve().parents[1] / "data"
PICTURES = Path(__file__).resolve().parents[3] / "shared" / "pictures" / "pathways"
SURE = 0.5
"""From this confidence on a sighting counts, as in the application."""
NEAR_MM = 8.0
"""A sighting further than this from a disk is not of it."""


@dataclass
class Tally:
    """How readings compare with the truth."""

    pictures: int = 0
    whole: int = 0
    visible: int = 0
    found: int = 0
    errors_mm: list[float] = field(default_factory=list)
    covered: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, name: str, truth: dict[str, Any], reading: Reading) -> None:
        """Match each true disk with its nearest sighting, and note what is amiss."""
        before, left = len(self.faults), [seen for seen in reading.disks if seen.confidence >= SURE]
        for disk in truth["disks"]:
            seen = min(left, key=lambda sighting: _apart(sighting, disk), default=None)
            in_view = disk.get("visible", 1.0) >= 0.95
            self.visible += in_view
            if seen is None or _apart(seen, disk) > NEAR_MM:
                if in_view and not truth["hand"]:
                    self.faults.append(f"{name}: {disk['kind']} at {disk['x']:.0f}, {disk['y']:.0f} missed")
                continue
            left.remove(seen)
            self.found += in_view
            if disk.get("visible", 1.0) <= 0.02:
                self.faults.append(f"{name}: a hidden disk was guessed at {seen.centre_mm}")
            if seen.colour != disk["colour"] and in_view:
                self.faults.append(f"{name}: colour of {disk['kind']} at {disk['x']:.0f}, {disk['y']:.0f}")
            if seen.cell != (tuple(disk["hole"]) if disk["hole"] else None):
                self.faults.append(f"{name}: {seen.cell} for {disk['hole']}")
            if not disk["tilt_deg"]:
                self.errors_mm.append(_apart(seen, disk))
                self.covered += _apart(seen, disk) <= 2 * seen.sigma_mm
        self.faults += [f"{name}: invented {sighting}" for sighting in left]
        self.pictures += not truth["hand"]
        self.whole += not truth["hand"] and len(self.faults) == before

    def told(self) -> str:
        median, most = np.percentile(self.errors_mm, [50, 95])
        return (
            f"{self.whole} of {self.pictures} boards wholly right; centres {median:.2f} mm median, {most:.2f} mm at "
            f"95 %; 2 sigma covers {self.covered / len(self.errors_mm):.1%}\n" + "\n".join(self.faults)
        )


def _apart(seen: Sighting, disk: dict[str, Any]) -> float:
    return math.hypot(seen.centre_mm[0] - disk["x"], seen.centre_mm[1] - disk["y"])


def open_picture(path: Path) -> tuple[np.ndarray, dict[str, Any], Profile, Calibration]:
    """A picture beside its truth file, with its profile and the camera that took it."""
    truth = json.loads(path.with_suffix(".json").read_text())
    profile = read_profile(path.with_suffix(".toml"))
    image = cv2.imread(str(path))
    size_wh = (image.shape[1], image.shape[0])
    return image, truth, profile, calibrate(truth["corners_px"], profile.board.corners_mm(), size_wh, profile.fov_x_deg)


def read_all(paths: list[Path]) -> Tally:
    tally = Tally()
    for path in paths:
        image, truth, profile, calibration = open_picture(path)
        tally.add(path.stem, truth, read_disks(image, calibration, profile))
    print(tally.told())
    return tally


def test_our_own_pictures_are_read():
    """They are hard: disks lie on filled holes, which hides what is under them, and lean on one another."""
    tally = read_all([DATA / f"{name}.jpg" for name in ("bright-wood", "crowded-dark", "soft-shadow", "hand")])
    assert tally.found >= 0.9 * tally.visible, tally.told()
    assert not [fault for fault in tally.faults if "invented" in fault or "guessed" in fault], tally.told()
    assert not [fault for fault in tally.faults if "colour" in fault], tally.told()
    assert np.median(tally.errors_mm) < 0.3, tally.told()


@pytest.mark.skipif(not PICTURES.is_dir(), reason="the path-traced pictures beside the project are absent")
def test_path_traced_pictures_that_no_network_was_trained_on():
    paths = sorted(path for path in PICTURES.glob("*.jpg") if int(path.stem[-3:]) % 2)
    tally = read_all(paths)
    median, most = np.percentile(tally.errors_mm, [50, 95])
    assert tally.whole >= 0.95 * tally.pictures, tally.told()
    assert tally.found >= 0.9 * tally.visible, tally.told()
    assert not [fault for fault in tally.faults if "invented" in fault or "guessed" in fault], tally.told()
    assert median <= 0.3, tally.told()
    assert most <= 0.9, tally.told()
    assert 0.90 <= tally.covered / len(tally.errors_mm) <= 0.99, tally.told()


BOARD = table.STANDARD
ROOM = Room(
    wood=(0.42, 0.27, 0.14),
    wood_contrast=0.15,
    ground=(0.12, 0.09, 0.07),
    ground_contrast=0.1,
    colours=(("a", light_of("#d2423c")), ("b", light_of("#32323a"))),
)
PROFILE = Profile(BOARD, (("a", (60, 66, 210)), ("b", (58, 50, 50))), fov_x_deg=55.0)
VIEW = View((1280, 720), fov_x_deg=55.0, tilt_deg=14.0, azimuth_deg=-70.0, distance_mm=800.0, roll_deg=2.0)


def look_at(*disks: Disk, arms: tuple[Arm, ...] = (), settings: Settings | None = None) -> Reading:
    """What is read of a rendered table."""
    camera = Camera(Scene(BOARD, ROOM), VIEW, settings or Settings())
    return read_disks(camera.read(disks, arms), VIEW.calibration(BOARD), PROFILE)


def flat(name: str, x_mm: float, y_mm: float) -> Disk:
    return table.flat(BOARD, name, name[0], x_mm, y_mm)


SCENES = {
    "an empty board": (),
    "two that touch, of two colours": (flat("a1", 120.0, 205.0), flat("b1", 148.1, 205.0)),
    "three that touch, of one colour": (flat("b1", 95.0, 75.0), flat("b2", 123.1, 75.0), flat("b3", 109.0, 50.6)),
    "one across each launch line": (flat("a1", 60.0, 70.0), flat("b1", 200.0, 424.0)),
    "one over each side edge": (flat("a1", 6.0, 205.0), flat("b1", 311.0, 289.0)),
    "one touching one in a hole": (table.in_cell(BOARD, "a1", "a", (4, 4), (1.5, 0.0)), flat("b1", 186.0, 227.0)),
    "one partly over an empty hole": (flat("a1", 116.0, 205.0),),
    "tilted in a hole": (table.tilted(BOARD, "a1", "a", (6, 2), 35.0, 120.0),),
    "in all corners of the lattice": tuple(
        table.in_cell(BOARD, name, name[0], cell, (0.0, 0.0))
        for name, cell in (("a1", (1, 1)), ("a2", (8, 7)), ("b1", (1, 7)), ("b2", (8, 1)))
    ),
}


@pytest.mark.parametrize("disks", SCENES.values(), ids=SCENES.keys())
def test_a_scene_is_read_as_it_lies(disks: tuple[Disk, ...]):
    seen = look_at(*disks)
    assert len(seen.disks) == len(disks), seen
    assert not seen.hidden
    for disk in disks:
        nearest = min(seen.disks, key=lambda sighting: math.dist(sighting.centre_mm, (disk.x_mm, disk.y_mm)))
        assert nearest.colour == disk.colour
        assert math.dist(nearest.centre_mm, (disk.x_mm, disk.y_mm)) < (2.5 if disk.tilt_deg else 0.5)
        assert (nearest.lying == "tilted") == bool(disk.tilt_deg)


DARK = replace(ROOM, ground=(0.05, 0.05, 0.055), cloth=True)
"""What shows beside a dark disk in its hole is as dark."""


@pytest.mark.parametrize(("room", "tilted_deg"), [(DARK, (28, 50)), (ROOM, (22, 26))], ids=["dark", "little tilted"])
@pytest.mark.parametrize("seed", range(3))
def test_how_a_disk_lies_is_told_by_its_form_and_shadow(seed: int, room: Room, tilted_deg: tuple[float, float]):
    rng = np.random.default_rng(seed)
    cells = [(row, column) for row in range(1, 9) for column in range(1, 8)]
    chosen = [cells[n] for n in rng.permutation(len(cells))[:20]]
    disks = [
        table.tilted(BOARD, f"b{n}", "b", cell, float(rng.uniform(*tilted_deg)), float(rng.uniform(0, 360)))
        if n % 5 == 0
        else table.in_cell(BOARD, f"b{n}", "b", cell, tuple(rng.uniform(-1.3, 1.3, 2)))
        for n, cell in enumerate(chosen)
    ]
    camera = Camera(Scene(BOARD, room), VIEW, Settings(seed=seed))
    disks_seen = read_disks(camera.read(disks, ()), VIEW.calibration(BOARD), PROFILE).disks
    seen = {one.cell: one.lying for one in disks_seen}
    lying = {disk.cell: disk.lying for disk in disks}
    assert seen.items() <= lying.items()
    assert len(seen) >= len(lying) - 1, "what cannot be told may be hidden"
    assert sum(disk.perhaps_tilted for disk in disks_seen) <= 1


@pytest.mark.parametrize("under", ["a", "b"])
@pytest.mark.parametrize("off_mm", [(-5.0, -3.5), (6.5, 0.0), (0.0, 9.0), (-11.0, 5.0)])
def test_a_disk_that_lies_over_a_filled_hole_is_seen_and_what_it_buries_is_not_called_empty(
    under: str, off_mm: tuple[float, float]
):
    middle_mm = table.cell_mm(BOARD, (4, 4))
    upper = flat("b1", middle_mm[0] + off_mm[0], middle_mm[1] + off_mm[1])
    seen = look_at(upper, table.in_cell(BOARD, f"{under}2", under, (4, 4)))
    on_top = [one for one in seen.disks if one.cell is None]
    assert [one.colour for one in on_top] == ["b"]
    assert math.dist(on_top[0].centre_mm, (upper.x_mm, upper.y_mm)) < 0.5
    in_hole = [one for one in seen.disks if one.cell == (4, 4)]
    assert [one.colour for one in in_hole] == [under] or seen.hidden == ((4, 4),)


LIGHTS = {
    "dark": Settings(exposure=0.35),
    "bright": Settings(exposure=1.7),
    "warm": Settings(white_balance=(1.3, 1.0, 0.7)),
    "cold": Settings(white_balance=(0.75, 1.0, 1.3)),
    "noisy": Settings(noise_levels=8.0),
}


@pytest.mark.parametrize("settings", LIGHTS.values(), ids=LIGHTS.keys())
def test_the_light_changes_nothing(settings: Settings):
    disks = (
        table.in_cell(BOARD, "a1", "a", (3, 3), (0.5, 0.5)),
        table.in_cell(BOARD, "b1", "b", (5, 5), (-0.5, 0.5)),
        flat("a2", 137.0, 330.0),
        flat("b2", 250.0, 60.0),
    )
    seen = look_at(*disks, settings=settings)
    assert sorted((disk.colour, disk.cell or (0, 0)) for disk in seen.disks) == [
        ("a", (0, 0)),
        ("a", (3, 3)),
        ("b", (0, 0)),
        ("b", (5, 5)),
    ]


def test_what_an_arm_covers_is_hidden_and_never_guessed():
    disks = tuple(table.in_cell(BOARD, f"a{column}", "a", (4, column), (0.0, 0.0)) for column in range(1, 8))
    arm = Arm((158.0, 226.0, 25.0), -90.0)
    seen = look_at(*disks, arms=(arm,))
    cells = {disk.cell for disk in seen.disks}
    assert (4, 4) in seen.hidden
    assert (4, 4) not in cells
    assert cells <= {(4, column) for column in range(1, 8)}
    assert {(4, 1), (4, 7)} <= cells


LYING = (
    table.in_cell(BOARD, "a1", "a", (3, 3), (0.5, 0.5)),
    table.in_cell(BOARD, "b1", "b", (5, 5), (-0.5, 0.5)),
    table.tilted(BOARD, "a3", "a", (6, 2), 35.0, 120.0),
    flat("a2", 137.0, 330.0),
    flat("b2", 250.0, 60.0),
)
FOLLOWING = {
    "nothing": LYING,
    "one more on the surface": (*LYING, flat("a4", 60.0, 70.0)),
    "one more in a hole": (*LYING, table.in_cell(BOARD, "b3", "b", (2, 6), (0.5, 0.5))),
    "one more beside another": (*LYING, flat("b3", 165.5, 330.0)),
    "one gone from a hole": LYING[1:],
    "one gone from the surface": LYING[:-1],
    "one pushed a little": (*LYING[:-1], flat("b2", 252.0, 61.0)),
    "one pushed from its hole to the surface": (*LYING[1:], flat("a1", 137.0, 205.0)),
    "one of the other colour in its place": (table.in_cell(BOARD, "b3", "b", (3, 3), (0.5, 0.5)), *LYING[1:]),
    "a tilted one laid flat": (*LYING[:2], table.in_cell(BOARD, "a3", "a", (6, 2), (0.0, 0.5)), *LYING[3:]),
    "all gone": (),
}


@cache
def known_table(exposure: float) -> Table:
    before = Camera(Scene(BOARD, ROOM), VIEW, Settings(exposure=exposure, seed=1)).read(LYING)
    return read_table(before, VIEW.calibration(BOARD), PROFILE)


@cache
def later_picture(disks: tuple[Disk, ...]) -> np.ndarray:
    return Camera(Scene(BOARD, ROOM), VIEW, Settings(seed=2)).read(disks)


LIGHT_BEFORE = {"the same light": 1.0, "light that has grown": 0.85}


@pytest.mark.parametrize("exposure", LIGHT_BEFORE.values(), ids=LIGHT_BEFORE.keys())
@pytest.mark.parametrize("disks", FOLLOWING.values(), ids=FOLLOWING.keys())
def test_the_next_picture_of_a_table_is_read_like_a_first_one(disks: tuple[Disk, ...], exposure: float):
    known = known_table(exposure)
    image = later_picture(disks)
    seen = read_table(image, known.calibration, PROFILE, known).reading
    left = list(seen.disks)
    for disk in read_disks(image, known.calibration, PROFILE).disks:
        same = min(left, key=lambda other: math.dist(disk.centre_mm, other.centre_mm))
        assert math.dist(disk.centre_mm, same.centre_mm) < 0.5
        assert (disk.colour, disk.cell, disk.lying) == (same.colour, same.cell, same.lying)
        left.remove(same)
    assert not left
    assert len(seen.disks) == len(disks)
    assert not seen.hidden


def test_under_other_lamps_no_hole_is_held_against_what_it_looked_like_before():
    disks = (table.in_cell(BOARD, "a1", "a", (8, 3), (0.0, 0.0)), flat("b1", 168.0, 120.0))
    low = replace(virtual.ROOM, **FAULTS["shadows"].room)
    before, after = (
        Camera(Scene(BOARD, room), virtual.VIEW, Settings(seed=seed)).read(disks)
        for seed, room in enumerate((virtual.ROOM, low))
    )
    calibration = virtual.VIEW.calibration(BOARD)
    known = read_table(before, calibration, virtual.PROFILE)
    seen = read_table(after, calibration, virtual.PROFILE, known).reading
    assert {(disk.colour, disk.cell, disk.lying) for disk in seen.disks} == {
        ("a", (8, 3), "in_cell"),
        ("b", None, "flat"),
    }
    assert not seen.hidden


def test_a_hand_over_the_next_picture_hides_what_it_covers_and_what_it_held_comes_back():
    known = known_table(1.0)
    camera = Camera(Scene(BOARD, ROOM), VIEW, Settings())
    with_arm = read_table(camera.read(LYING, (Arm((116.0, 184.0, 25.0), -90.0),)), known.calibration, PROFILE, known)
    assert (3, 3) in with_arm.reading.hidden
    assert (3, 3) not in {disk.cell for disk in with_arm.reading.disks}
    after = read_table(later_picture(LYING), known.calibration, PROFILE, with_arm).reading
    assert {disk.cell for disk in after.disks} == {disk.cell for disk in known.reading.disks}
    assert not after.hidden


BAD_PICTURES = {
    "black": np.zeros((720, 1280, 3), np.uint8),
    "white": np.full((720, 1280, 3), 255, np.uint8),
    "noise": np.random.default_rng(1).integers(0, 256, (720, 1280, 3), dtype=np.uint8),
}


@pytest.mark.parametrize("image", BAD_PICTURES.values(), ids=BAD_PICTURES.keys())
def test_a_picture_without_a_board_shows_no_disk(image: np.ndarray):
    assert find_disks(image, VIEW.calibration(BOARD), PROFILE) == ()


def test_a_board_outside_the_picture_is_said_to_be():
    with pytest.raises(CalibrationError, match="outside the picture"):
        find_disks(np.zeros((1, 1, 3), np.uint8), VIEW.calibration(BOARD), PROFILE)


PAINTS = ((60, 66, 210), (58, 50, 50))
"""Red and black, blue first."""
WOOD = (70.0, 115.0, 160.0)
COLOURS = [
    ("as in the profile", (60, 66, 210), WOOD, "a"),
    ("black as in the profile", (58, 50, 50), WOOD, "b"),
    ("red in the dark", (18, 20, 80), (22, 40, 60), "a"),
    ("red, pale with gloss", (200, 205, 254), WOOD, "a"),
    ("black, pale with gloss", (190, 190, 190), WOOD, "b"),
]


@pytest.mark.parametrize(("top", "wood", "colour"), [row[1:] for row in COLOURS], ids=[row[0] for row in COLOURS])
def test_a_lone_disk_is_told_by_its_colour(top: tuple[float, ...], wood: tuple[float, ...], colour: str):
    unseen = np.full((1, 3), np.nan)
    share, _ = tell_colours(Seen(np.array([top], float), unseen, np.array([wood], float)), PAINTS)
    assert "ab"[int(share[0].argmax())] == colour


def test_a_convolution_is_the_sum_that_it_stands_for():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 7, 6, 3)).astype(np.float32)
    weight = rng.normal(size=(3, 3, 3, 4)).astype(np.float32)
    bias = rng.normal(size=4).astype(np.float32)
    got = conv(x, weight, bias, stride=2)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for row in range(4):
        for column in range(3):
            window = padded[1, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3]
            expected = [(window * weight[..., k]).sum() + bias[k] for k in range(4)]
            assert got[1, row, column] == pytest.approx(expected, abs=1e-4)
