"""A board of holes or squares is found without corners, found again after a knock, and never where there is none."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware_sims.squares import Piece, Room, Sizes, exposed
from hardware_sims.squares import Scene as SquaresScene
from hardware_sims.view import View
from vision.board import CrossingsBoard, HolesBoard, Pieces, Profile, SquaresBoard, read_profile
from vision.calibration import Calibration, CalibrationError, calibrate, calibration_from_pose, focal_from_fov
from vision.lattice import board_shift_px, find_board, refine_board

SHARED = Path(__file__).resolve().parents[3] / "shared"
PICTURES = SHARED / "pictures" / "pathways"
DATA = Path(__file__).resolve().parents[1] / "data"

BOARD = HolesBoard(7, 8, 42.0, 32.0, 28.0, 6.0, 316.0, 494.0, 70.0, 100.0, 32.0, 6.0)
COLOURS = (("a", (66, 71, 210)), ("b", (56, 52, 52)))
PROFILE = Profile(BOARD, COLOURS, fov_x_deg=50.0)
UNKNOWN_LENS = replace(PROFILE, fov_x_deg=None)

FINEST = 2
"""Drawn so many times larger, then averaged down."""


@dataclass(frozen=True)
class Scene:
    """A board as drawn here: where the camera is, what lies on it, and its tones of grey."""

    size_wh: tuple[int, int] = (960, 540)
    fov_x_deg: float = 50.0
    tilt_deg: float = 18.0
    from_deg: float = -70.0
    roll_deg: float = 0.0
    distance_mm: float = 1200.0
    aim_mm: tuple[float, float] = (158.0, 247.0)
    slab: int = 150
    table: int = 110
    wall: int = 70
    disks: bool = True
    hand: tuple[tuple[float, float], tuple[float, float]] | None = None
    noise: float = 2.0
    light: float = 1.0
    outline: bool = True
    """Whether the slab's edges and lines are there, or the table is all of one board."""

    def camera(self) -> Calibration:
        tilt, azimuth, roll = (math.radians(angle) for angle in (self.tilt_deg, self.from_deg, self.roll_deg))
        back = np.array([math.sin(tilt) * math.cos(azimuth), math.sin(tilt) * math.sin(azimuth), math.cos(tilt)])
        right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        axes = np.stack([right, np.cross(-back, right), -back])
        turn = np.array([[math.cos(roll), math.sin(roll), 0], [-math.sin(roll), math.cos(roll), 0], [0, 0, 1]]) @ axes
        pose = np.column_stack([turn, -turn @ (np.array([*self.aim_mm, 0.0]) + self.distance_mm * back)])
        return calibration_from_pose(
            pose, focal_from_fov(self.fov_x_deg, self.size_wh), self.size_wh, 0.0, fov_given=True
        )

    def corners_px(self) -> np.ndarray:
        return self.camera().project(BOARD.corners_mm())

    def picture(self) -> np.ndarray:
        rng = np.random.default_rng(7)
        width, height = self.size_wh
        canvas = np.full((height * FINEST, width * FINEST, 3), tint(self.table), np.uint8)
        self._fill(canvas, BOARD.corners_mm(), 0.0, self.slab if self.outline else self.table)
        if self.outline:
            for y_mm in (BOARD.launch_line_mm, BOARD.length_mm - BOARD.launch_line_mm):
                line = [[0, y_mm - 1], [BOARD.width_mm, y_mm - 1], [BOARD.width_mm, y_mm + 1], [0, y_mm + 1]]
                self._fill(canvas, line, 0.0, 40)
        bare = canvas.copy()
        for cell in BOARD.cells_mm():
            self._fill(canvas, circle(cell, 16.0), 0.0, self.wall)
        through = canvas.copy()
        for cell in BOARD.cells_mm():
            self._fill(through, circle(cell, 16.0), -BOARD.slab_mm, self.table - 12)
        inside = np.any(canvas != bare, axis=2)
        canvas[inside] = through[inside]
        if self.disks:
            for place in rng.uniform((0, 30), (BOARD.width_mm, BOARD.length_mm - 30), (9, 2)):
                self._fill(canvas, circle(place, 14.0), BOARD.disk_height_mm, (40, 40, 190) if place[0] > 150 else 30)
            for cell in BOARD.cells_mm()[rng.permutation(56)[:9]]:
                self._fill(canvas, circle(cell + rng.uniform(-1.4, 1.4, 2), 14.0), 0.0, 240)
        if self.hand is not None:
            self._fill(canvas, thick_line(*self.hand, 27.0), 40.0, (140, 170, 215))
        small = cv2.resize(canvas, self.size_wh, interpolation=cv2.INTER_AREA).astype(np.float64)
        falloff = np.linspace(0.8, 1.1, width)[None, :, None] * self.light
        return np.clip(small * falloff + rng.normal(0, self.noise, small.shape), 0, 255).astype(np.uint8)

    def _fill(self, canvas, outline_mm, z_mm, tone) -> None:
        points = (self.camera().project(outline_mm, z_mm) + 0.5) * FINEST - 0.5
        colour = tone if isinstance(tone, tuple) else tint(tone)
        cv2.fillPoly(canvas, [np.rint(points * 16).astype(np.int32)], colour, lineType=cv2.LINE_8, shift=4)


def tint(tone: int) -> tuple[int, int, int]:
    return int(tone * 0.8), int(tone * 0.95), tone


def circle(centre, radius_mm) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    return np.asarray(centre) + radius_mm * np.column_stack([np.cos(angle), np.sin(angle)])


def thick_line(start, end, half_width_mm) -> np.ndarray:
    along = np.subtract(end, start) / math.dist(start, end)
    across = half_width_mm * along[::-1] * (1, -1)
    return np.array([start + across, end + across, end - across, start - across])


def error_percent(found: Calibration, corners_px, board=BOARD) -> float:
    """The worst corner's error, as a share of the board's length in the picture."""
    off = np.linalg.norm(found.project(board.corners_mm()) - corners_px, axis=1)
    return float(100 * off.max() / math.dist(corners_px[0], corners_px[3]))


SCENES = {
    "along the picture": Scene(from_deg=0.0, distance_mm=900.0),
    "upright": Scene(from_deg=-90.0),
    "straight down": Scene(tilt_deg=0.5),
    "steep": Scene(tilt_deg=42.0),
    "turned": Scene(roll_deg=31.0),
    "far": Scene(distance_mm=1700.0),
    "large": Scene(size_wh=(1920, 1080), distance_mm=800.0, from_deg=-10.0, tilt_deg=8.0),
    "dark": Scene(light=0.3),
    "overexposed": Scene(light=1.75),
    "noisy": Scene(noise=30.0),
    "dark and noisy": Scene(light=0.22, noise=12.0),
    "bright table, dark slab": Scene(slab=80, table=190, wall=78, tilt_deg=25.0),
    "hand": Scene(hand=((-250.0, 150.0), (190.0, 240.0))),
    "hand along a row": Scene(hand=((-250.0, 180.0), (300.0, 190.0))),
}


@pytest.mark.parametrize("profile", [PROFILE, UNKNOWN_LENS], ids=["known lens", "unknown lens"])
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_a_board_is_found_to_a_fraction_of_a_percent(scene, profile):
    found = find_board(scene.picture(), profile)
    turned = scene.corners_px()[[2, 3, 0, 1]]
    assert min(error_percent(found, scene.corners_px()), error_percent(found, turned)) < 0.15
    assert found.size_wh == scene.size_wh
    assert found.fov_given == (profile is PROFILE)


def test_an_unknown_lens_costs_a_disks_top_little():
    scene = Scene(tilt_deg=5.0, fov_x_deg=38.0, distance_mm=1500.0)
    found = find_board(scene.picture(), UNKNOWN_LENS)
    tops = np.array([[30.0, 40.0], [290.0, 460.0], [158.0, 247.0]])
    seen = found.board_from_px(scene.camera().project(tops, 6.0), 6.0)
    assert min(np.abs(seen - tops).max(), np.abs(BOARD.corners_mm()[2] - seen - tops).max()) < 0.5


@pytest.mark.parametrize(
    ("from_deg", "a_side", "first_corner"),
    [
        (-90.0, None, 0),  # the camera stands behind player A, who is at the bottom
        (90.0, None, 2),
        (-90.0, "bottom", 0),
        (-90.0, "top", 2),
        (90.0, "top", 0),
        (180.0, None, 0),  # player A is at the right
        (0.0, None, 2),
        (180.0, "right", 0),
        (180.0, "left", 2),
    ],
)
def test_player_a_sits_where_told_or_by_the_rule(from_deg, a_side, first_corner):
    scene = Scene(from_deg=from_deg)
    found = find_board(scene.picture(), PROFILE, a_side)
    assert error_percent(found, np.roll(scene.corners_px(), -first_corner, axis=0)) < 0.2


def test_a_player_cannot_sit_at_a_long_side():
    with pytest.raises(CalibrationError, match="ends are at the picture's bottom or top, so player A cannot sit at"):
        find_board(Scene(from_deg=-90.0).picture(), PROFILE, "left")


@pytest.mark.parametrize(
    "moved",
    [
        Scene(roll_deg=2.0, tilt_deg=19.0),
        Scene(aim_mm=(168.0, 240.0), from_deg=-68.5),
        Scene(aim_mm=(158.0, 205.0)),
        Scene(aim_mm=(200.0, 247.0), fov_x_deg=51.5),
        Scene(aim_mm=(168.0, 240.0), from_deg=-68.5, hand=((-250.0, 150.0), (190.0, 240.0))),
    ],
    ids=["turned", "knocked", "a whole pitch along", "a whole pitch across and zoomed", "knocked, with a hand"],
)
@pytest.mark.parametrize("a_at_top", [False, True])
def test_a_knocked_camera_is_found_again(moved, a_at_top):
    before = find_board(Scene().picture(), PROFILE, "top" if a_at_top else "bottom")
    found = refine_board(moved.picture(), PROFILE, before)
    assert error_percent(found, np.roll(moved.corners_px(), 2 * a_at_top, axis=0)) < 0.2


@pytest.mark.parametrize("profile", [PROFILE, UNKNOWN_LENS], ids=["known lens", "unknown lens"])
def test_corners_clicked_by_hand_are_refined(profile):
    scene = Scene()
    clicked = scene.corners_px() + np.array([[3, -2], [-2, 2], [1, 3], [-3, 1]])
    rough = calibrate(clicked, BOARD.corners_mm(), scene.size_wh, profile.fov_x_deg)
    assert error_percent(refine_board(scene.picture(), profile, rough), scene.corners_px()) < 0.1


def test_where_a_hand_hides_a_whole_row_the_slab_decides():
    scene = Scene(hand=((-300.0, 82.0), (330.0, 100.0)), disks=False)
    assert error_percent(find_board(scene.picture(), PROFILE), scene.corners_px()) < 0.2


def test_two_holes_of_a_row_in_sight_are_enough():
    scene = Scene(hand=((-300.0, 88.0), (215.0, 98.0)), disks=False, outline=False)
    assert error_percent(find_board(scene.picture(), PROFILE), scene.corners_px()) < 0.2


def test_where_even_the_slab_does_not_show_no_place_is_guessed():
    scene = Scene(hand=((-300.0, 85.0), (330.0, 101.0)), disks=False, outline=False)
    with pytest.raises(CalibrationError, match="row or column of the board's holes is hidden"):
        find_board(scene.picture(), PROFILE)
    # An unmoved camera needs no proof that it has not moved by just one row.
    assert error_percent(refine_board(scene.picture(), PROFILE, scene.camera()), scene.corners_px()) < 0.2


@pytest.mark.parametrize(
    ("scene", "least_px", "most_px"),
    [
        (Scene(), 0.0, 0.5),
        (Scene(light=0.6), 0.0, 0.5),
        (Scene(disks=False), 0.0, 0.5),
        (Scene(hand=((-250.0, 150.0), (190.0, 240.0))), 0.0, 0.6),
        (Scene(aim_mm=(160.0, 247.0)), 1.7, 3.0),
        (Scene(roll_deg=0.4), 1.7, 3.0),
        (Scene(roll_deg=3.0), math.inf, math.inf),
        (Scene(aim_mm=(158.0, 205.0)), math.inf, math.inf),
        (Scene(aim_mm=(200.0, 247.0)), math.inf, math.inf),
    ],
    ids=["same", "light", "disks taken", "hand", "crept", "rolled", "knocked", "by a row", "by a column"],
)
def test_the_shift_of_a_known_board_is_told(scene, least_px, most_px):
    assert least_px <= board_shift_px(scene.picture(), PROFILE, Scene().camera()) <= most_px


def stones_on_lines() -> np.ndarray:
    picture = np.full((640, 640, 3), (90, 150, 190), np.uint8)
    for k in range(13):
        cv2.line(picture, (50 + 45 * k, 50), (50 + 45 * k, 590), (20, 20, 20), 1, cv2.LINE_AA)
        cv2.line(picture, (50, 50 + 45 * k), (590, 50 + 45 * k), (20, 20, 20), 1, cv2.LINE_AA)
    for x, y in np.random.default_rng(2).integers(0, 13, (90, 2)):
        tone = 235 if (x + y) % 2 else 25
        cv2.circle(picture, (50 + 45 * int(x), 50 + 45 * int(y)), 21, (tone, tone, tone), -1, cv2.LINE_AA)
    return picture


def endless_holes() -> np.ndarray:
    picture = np.full((720, 1280, 3), 130, np.uint8)
    for y in range(20, 720, 52):
        for x in range(20, 1280, 52):
            cv2.circle(picture, (x, y), 20, (50, 50, 50), -1, cv2.LINE_AA)
    return picture


def noise() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (540, 960, 3), dtype=np.uint8)


NO_BOARD = {
    "one pixel": (np.zeros((1, 1, 3), np.uint8), "1 x 1 pixels is too small"),
    "black": (np.zeros((540, 960, 3), np.uint8), "no board"),
    "white": (np.full((540, 960, 3), 255, np.uint8), "no board"),
    "grey": (np.zeros((540, 960), np.uint8), "not a colour picture"),
    "noise": (noise(), "no board"),
    "soft noise": (cv2.GaussianBlur(noise(), (0, 0), 5), "no board"),
    "stones": (stones_on_lines(), "no board"),
    "holes without end": (endless_holes(), "no board|hidden"),
    "table": (np.ascontiguousarray(Scene().picture()[:, :200]), "no board"),
    "half a board": (np.ascontiguousarray(Scene(disks=False).picture()[:, :480]), "no board"),
    "end cut off": (
        Scene(aim_mm=(158.0, 410.0), from_deg=180.0, distance_mm=800.0, size_wh=(960, 720)).picture(),
        "out of the picture",
    ),
}


@pytest.mark.parametrize(("picture", "why"), NO_BOARD.values(), ids=NO_BOARD.keys())
def test_where_no_whole_board_is_seen_it_is_said_why(picture, why):
    with pytest.raises(CalibrationError, match=why):
        find_board(picture, PROFILE)


@pytest.mark.parametrize(("picture", "why"), NO_BOARD.values(), ids=NO_BOARD.keys())
def test_where_no_board_of_squares_is_seen_it_is_said_why(picture, why):
    why = why if "too small" in why or "not a colour" in why else "no board with the profile's squares|more squares"
    with pytest.raises(CalibrationError, match=why):
        find_board(picture, Stacks().profile())


def test_a_board_of_squares_that_is_gone_is_not_refined():
    with pytest.raises(CalibrationError, match="no board"):
        refine_board(np.ascontiguousarray(noise()[:, :960]), Stacks().profile(), Stacks(view=NOISY_VIEW).camera())


def test_a_board_that_is_gone_is_not_refined():
    with pytest.raises(CalibrationError, match="no board"):
        refine_board(noise(), PROFILE, Scene().camera())
    assert board_shift_px(noise(), PROFILE, Scene().camera()) == math.inf


def test_a_picture_of_another_size_needs_another_calibration():
    picture = np.zeros((480, 640, 3), np.uint8)
    for call in (refine_board, board_shift_px):
        with pytest.raises(CalibrationError, match="640 x 480, but the camera was calibrated at 960 x 540"):
            call(picture, PROFILE, Scene().camera())


def test_boards_of_crossings_are_not_found_by_themselves():
    with pytest.raises(CalibrationError, match="give the board's corners"):
        find_board(Scene().picture(), replace(PROFILE, board=CrossingsBoard(9, 9, 22.0, 20.0)))


USUAL_VIEW = View((960, 720), fov_x_deg=50.0, tilt_deg=15.0, distance_mm=520.0)
USUAL_ROOM = Room()


@dataclass(frozen=True)
class Stacks:
    """A board of squares with pieces on it, as the simulation renders it."""

    size: int = 5
    view: View = USUAL_VIEW
    room: Room = USUAL_ROOM
    pieces: bool = True
    seed: int = 1

    @property
    def board(self) -> SquaresBoard:
        return SquaresBoard(self.size, self.size, 50.0)

    def profile(self) -> Profile:
        return Profile(self.board, (("a", (202, 222, 230)), ("b", (52, 68, 90))), self.view.fov_x_deg, pieces=Pieces())

    def camera(self) -> Calibration:
        side_mm = self.size * 50.0
        return self.view.calibration(replace(BOARD, width_mm=side_mm, length_mm=side_mm))

    def corners_px(self) -> np.ndarray:
        return self.camera().project(self.board.corners_mm())

    def picture(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        pieces = []
        for x_mm, y_mm in self.board.cells_mm() if self.pieces else ():
            for level in range(int(rng.choice((0, 1, 2, 5), p=(0.4, 0.4, 0.1, 0.1)))):
                colour, turn = "ab"[int(rng.integers(2))], float(rng.normal(0, 6))
                off = rng.normal(0, 2, 2)
                pieces.append(Piece("flat", colour, x_mm + float(off[0]), y_mm + float(off[1]), 8.0 * level, turn))
        light = SquaresScene(self.board, Sizes(), self.room).picture(self.camera(), tuple(pieces), oversampling=1)
        return exposed(light * 0.9, rng, blur_px=0.6, noise_levels=2.0)


NOISY_VIEW = View((960, 540), fov_x_deg=50.0, distance_mm=700.0)
ALIKE = Room(light_square=(0.2, 0.13, 0.09), dark_square=(0.15, 0.1, 0.07))
STACKS = {
    "3x3": Stacks(3),
    "4x4": Stacks(4),
    "5x5": Stacks(),
    "6x6": Stacks(6, View((960, 720), fov_x_deg=50.0, tilt_deg=15.0, distance_mm=560.0)),
    "8x8": Stacks(8, View((1280, 960), fov_x_deg=50.0, tilt_deg=15.0, distance_mm=720.0)),
    "bare": Stacks(pieces=False),
    "straight down": Stacks(view=View((960, 720), fov_x_deg=50.0, tilt_deg=0.5, distance_mm=520.0)),
    "steep": Stacks(view=View((960, 720), fov_x_deg=50.0, tilt_deg=38.0, distance_mm=560.0)),
    "turned": Stacks(view=View((960, 720), fov_x_deg=50.0, tilt_deg=15.0, distance_mm=560.0, roll_deg=25.0)),
    "far": Stacks(view=View((1280, 720), fov_x_deg=60.0, tilt_deg=20.0, distance_mm=900.0)),
    "large": Stacks(view=View((1920, 1080), fov_x_deg=70.0, tilt_deg=10.0, distance_mm=450.0)),
    "squares much alike": Stacks(room=ALIKE),
    "frame as wide as a square": Stacks(4, room=Room(frame_mm=50.0)),
    "no drawn lines": Stacks(room=Room(line=(0.22, 0.14, 0.09), line_mm=0.1)),
}


@pytest.mark.parametrize("stacks", STACKS.values(), ids=STACKS.keys())
def test_a_board_of_squares_is_found_to_half_a_percent(stacks):
    found = find_board(stacks.picture(), stacks.profile())
    assert error_percent(found, stacks.corners_px(), stacks.board) < 0.5


@pytest.mark.parametrize("name", ["3x3", "5x5", "steep", "far"])
def test_a_board_of_squares_is_found_through_an_unknown_lens(name):
    stacks = STACKS[name]
    found = find_board(stacks.picture(), replace(stacks.profile(), fov_x_deg=None))
    assert error_percent(found, stacks.corners_px(), stacks.board) < 0.5


@pytest.mark.parametrize(("side", "first"), [("bottom", 0), ("right", 1), ("top", 2), ("left", 3)])
def test_a_board_of_squares_lies_as_it_is_told(side, first):
    stacks = Stacks()
    found = find_board(stacks.picture(), stacks.profile(), side)
    assert error_percent(found, np.roll(stacks.corners_px(), -first, axis=0), stacks.board) < 0.5


def test_a_board_of_squares_is_found_beside_an_arm():
    picture = Stacks().picture()
    cv2.line(picture, (380, 380), (300, 760), (120, 140, 180), 90, cv2.LINE_AA)
    assert error_percent(find_board(picture, Stacks().profile()), Stacks().corners_px(), Stacks().board) < 0.5


@pytest.mark.parametrize("by_mm", [(4.0, 0.0), (-3.0, 3.0)])
def test_corners_of_squares_given_by_hand_are_made_better(by_mm):
    stacks = Stacks()
    aside = np.eye(4)
    aside[:2, 3] = by_mm
    start = stacks.camera().with_matrix(stacks.camera().matrix() @ aside)
    found = refine_board(stacks.picture(), stacks.profile(), start)
    assert error_percent(found, stacks.corners_px(), stacks.board) < 0.5


@pytest.mark.parametrize("squares", [3, 4, 6])
def test_a_board_of_more_or_fewer_squares_is_not_taken_for_the_profile_s(squares):
    profile = replace(Stacks().profile(), board=SquaresBoard(squares, squares, 50.0))
    with pytest.raises(CalibrationError, match="squares"):
        find_board(Stacks().picture(), profile)


def case(path: Path, *, lens_known: bool):
    """A picture with its profile and true corners."""
    truth = json.loads(path.read_text())
    profile = read_profile(path.with_suffix(".toml"))
    if not lens_known:
        profile = replace(profile, fov_x_deg=None)
    image = cv2.imread(str(path.with_name(truth["image"])))
    return image, profile, np.array(truth["corners_px"])


@pytest.mark.parametrize("lens_known", [True, False])
@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_boards_in_hard_pictures_are_found(path, lens_known):
    image, profile, corners_px = case(path, lens_known=lens_known)
    assert error_percent(find_board(image, profile), corners_px, profile.board) < 0.4


def errors_percent(paths, *, lens_known: bool) -> np.ndarray:
    errors = []
    for path in paths:
        image, profile, corners_px = case(path, lens_known=lens_known)
        errors.append(error_percent(find_board(image, profile), corners_px, profile.board))
    return np.array(errors)


needs_pictures = pytest.mark.skipif(not PICTURES.is_dir(), reason="the shared Pathways pictures are not here")


@needs_pictures
def test_boards_in_path_traced_pictures_are_found(record_property):
    errors = errors_percent(sorted(PICTURES.glob("*.json"))[::7], lens_known=True)
    record_property("corner error, % of the board", f"median {np.median(errors):.3f}, worst {errors.max():.3f}")
    assert np.median(errors) < 0.05
    assert errors.max() < 0.2


@needs_pictures
@pytest.mark.long
@pytest.mark.parametrize("lens_known", [True, False])
@pytest.mark.parametrize("half", [0, 1], ids=["tuned on", "kept for the report"])
def test_boards_in_all_path_traced_pictures_are_found(half, lens_known, record_property):
    paths = [path for path in sorted(PICTURES.glob("*.json")) if int(path.stem[-3:]) % 2 == half]
    errors = errors_percent(paths, lens_known=lens_known)
    record_property("corner error, % of the board", f"median {np.median(errors):.3f}, worst {errors.max():.3f}")
    assert np.median(errors) < 0.05
    assert errors.max() < 0.2


SQUARES = sorted((SHARED / "pictures").glob("pathstone*/**/*.json"))


def errors_of_squares_percent(paths, *, lens_known: bool) -> np.ndarray:
    errors = []
    for path in paths:
        truth = json.loads(path.read_text())
        board = SquaresBoard(truth["size"], truth["size"], truth["mm"]["square"])
        fov_x_deg = truth["camera"]["fov_x_deg"] if lens_known else None
        image = cv2.imread(str(path.with_name(truth["image"])))
        found = find_board(image, Profile(board, (), fov_x_deg, pieces=Pieces()))
        errors.append(error_percent(found, np.array(truth["corners_px"]), board))
    return np.array(errors)


@pytest.mark.skipif(not SQUARES, reason="the shared Pathstone pictures are not here")
@pytest.mark.parametrize(
    ("paths", "lens_known"),
    [
        (SQUARES[::9], True),
        pytest.param(SQUARES, True, marks=pytest.mark.long),
        pytest.param(SQUARES, False, marks=pytest.mark.long),
    ],
    ids=["some", "all", "all, unknown lens"],
)
def test_boards_of_squares_in_path_traced_pictures_are_found_under_hands_too(paths, lens_known, record_property):
    errors = errors_of_squares_percent(paths, lens_known=lens_known)
    record_property("corner error, % of the board", f"median {np.median(errors):.3f}, worst {errors.max():.3f}")
    assert np.median(errors) < 0.05
    assert errors.max() < 0.2


@pytest.mark.skipif(not (SHARED / "photos").is_dir(), reason="the shared photographs are not here")
def test_no_board_of_holes_is_found_in_photographs_of_stones():
    paths = sorted((SHARED / "photos").glob("*/*.jpg"))[::9]
    assert paths
    for path in paths:
        with pytest.raises(CalibrationError, match="no board"):
            find_board(cv2.imread(str(path)), PROFILE)


@pytest.mark.skipif(not (SHARED / "photos").is_dir(), reason="the shared photographs are not here")
def test_no_board_of_squares_is_found_in_photographs_of_stones():
    for path in sorted((SHARED / "photos").glob("*/*.jpg"))[::24]:
        with pytest.raises(CalibrationError, match=r"no board|more squares"):
            find_board(cv2.imread(str(path)), Stacks().profile())


@pytest.mark.skipif(not (SHARED / "video").is_dir(), reason="the shared videos are not here")
@pytest.mark.parametrize("frame", [200, 240, 470, 490, 560, 900])
def test_in_the_video_the_knocked_camera_is_found_again_under_hands_too(frame, monkeypatch):
    # FFmpeg reads this once a process: tests of what it prints may run after this one.
    monkeypatch.setenv("OPENCV_FFMPEG_LOGLEVEL", "-8")
    truth = json.loads((SHARED / "video" / "pathways-game-04.json").read_text())
    profile = read_profile(SHARED / "video" / "pathways-game-04.toml")
    video = cv2.VideoCapture(str(SHARED / "video" / truth["video"]))
    video.set(cv2.CAP_PROP_POS_FRAMES, frame)
    image = video.read()[1]
    views = truth["views"]
    first = calibrate(views[0]["corners_px"], profile.board.corners_mm(), tuple(truth["size"]), profile.fov_x_deg)
    now = np.array(views[frame >= views[1]["from_frame"]]["corners_px"])
    assert error_percent(refine_board(image, profile, first), now, profile.board) < 0.1
    moved = board_shift_px(image, profile, first)
    assert moved == math.inf if frame >= views[1]["from_frame"] else moved < 0.6
