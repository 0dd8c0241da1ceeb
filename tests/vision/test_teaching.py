"""A profile learns how pieces look from one of each, and says what is wrong with what it is shown."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import main
from hardware_sims.squares import Kind, Piece, Room, Scene, Sizes, exposed
from hardware_sims.view import View
from vision.board import Image, Pieces, Profile, SquaresBoard, read_profile
from vision.pieces import TOPS, read_pieces
from vision.teaching import TeachingError, taught

BOARD = SquaresBoard(5, 5, 50.0)
VIEW = View((960, 720), fov_x_deg=50.0, tilt_deg=14.0, azimuth_deg=-80.0, distance_mm=520.0)
CALIBRATION = VIEW.calibration(BOARD)
UNTAUGHT = Profile(BOARD, (("a", (128, 128, 128)), ("b", (90, 90, 90))), VIEW.fov_x_deg, pieces=Pieces())
ONE_OF_EACH = {0: "w", 1: "W", 2: "K", 10: "b", 11: "B", 12: "L"}
CREAM, BROWN = (0.78, 0.73, 0.6), (0.1, 0.06, 0.035)
KINDS: tuple[Kind, ...] = ("flat", "wall", "crown")


def shown(tops: dict[int, str], paints=(CREAM, BROWN), flat_mm: float = 34.0, exposure: float = 0.95) -> Image:
    """A rendered board with single pieces on some squares, a little astray and turned."""
    rng = np.random.default_rng(3)
    sizes = Sizes(flat_mm=(flat_mm, flat_mm, 8.0))
    pieces = []
    for square, top in tops.items():
        kind, colour = KINDS[(TOPS.index(top) - 1) // 2], "ab"[(TOPS.index(top) - 1) % 2]
        x_mm, y_mm = (BOARD.cells_mm()[square] + rng.uniform(-3, 3, 2)).tolist()
        pieces.append(
            Piece(kind, colour, x_mm, y_mm, 0.0, float(rng.uniform(-8, 8)) + (45.0 if kind == "wall" else 0.0))
        )
    room = Room(colours=(("a", paints[0]), ("b", paints[1])))
    light = Scene(BOARD, sizes, room).picture(CALIBRATION, tuple(pieces), oversampling=1)
    return exposed(light * exposure, np.random.default_rng(1), blur_px=0.6, noise_levels=1.5)


@pytest.mark.parametrize(
    ("paints", "flat_mm", "supposed_mm"),
    [
        ((CREAM, BROWN), 34.0, 34.0),
        ((BROWN, CREAM), 34.0, 29.0),
        ((CREAM, (0.5, 0.05, 0.05)), 32.0, 36.0),
        ((CREAM, BROWN), 34.0, 40.0),
    ],
)
def test_colours_and_size_are_learned_and_every_piece_is_told_by_them(paints, flat_mm, supposed_mm):
    profile = replace(UNTAUGHT, pieces=Pieces(flat_mm=(supposed_mm, supposed_mm, 8.0)))
    learned = taught(shown(ONE_OF_EACH, paints, flat_mm), CALIBRATION, profile)
    assert learned.pieces is not None
    assert learned.pieces.flat_mm == pytest.approx((flat_mm, flat_mm, 8.0), abs=0.4)
    # In another light, and elsewhere on the board.
    elsewhere = {3: "w", 9: "b", 14: "W", 17: "B", 20: "K", 24: "L"}
    seen = read_pieces(shown(elsewhere, paints, flat_mm, exposure=0.6), CALIBRATION, learned, [{0}] * 25)
    assert "".join(TOPS[k] for k in seen.tops.argmax(axis=1)) == "".join(elsewhere.get(n, ".") for n in range(25))


@pytest.mark.parametrize(
    ("tops", "words"),
    [
        ({}, "a1 and a3 has one colour"),
        ({**ONE_OF_EACH, 10: "w"}, "a1 and a3 has one colour"),
        ({**ONE_OF_EACH, 11: "L", 12: "B"}, "b3: a wall of the second side should be there, a Crown"),
        (
            {n: top for n, top in ONE_OF_EACH.items() if n != 2},
            "c1: a Crown of the first side should be there, nothing",
        ),
        ({**ONE_OF_EACH, 24: "w"}, "e5: nothing should be there, a flat of the first side"),
    ],
)
def test_what_is_shown_wrongly_is_told_with_its_square(tops, words):
    with pytest.raises(TeachingError, match=words):
        taught(shown(tops), CALIBRATION, UNTAUGHT)


PROFILE = """# Our own set
kind = "squares"
[board]
columns = 5
rows = 5
square_mm = 50.0
[pieces]
flat_mm = [30.0, 30.0, 8.0]  # roughly
wall_height_mm = 34.0
crown_mm = [24.0, 38.0]
[colours]
a = "#808080"
b = "#5a5a5a"
[camera]
fov_x_deg = 50.0
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "board.toml").write_text(PROFILE)
    cv2.imwrite(str(tmp_path / "shown.png"), shown(ONE_OF_EACH))
    cv2.imwrite(str(tmp_path / "bare.png"), shown({}))
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in CALIBRATION.project(BOARD.corners_mm()))

    def teach(picture: str, *more: str):
        where = ["teach", str(tmp_path / picture), "--board", str(tmp_path / "board.toml"), "--corners", corners]
        return CliRunner().invoke(main, [*where, *more])

    return tmp_path, teach


def test_the_taught_profile_keeps_what_people_wrote(table):
    folder, teach = table
    ended = teach("shown.png", "--out", str(folder / "taught.toml"))
    assert ended.exit_code == 0, ended.stderr
    text = (folder / "taught.toml").read_text()
    assert text.startswith("# Our own set")
    assert "# roughly" in text
    learned = read_profile(folder / "taught.toml")
    assert learned.pieces.flat_mm == pytest.approx((34.0, 34.0, 8.0), abs=0.4)
    assert dict(learned.colours)["a"] != (128, 128, 128)
    assert teach("shown.png").stdout == text


def test_a_profile_may_be_written_with_inline_tables(table):
    folder, teach = table
    lines = PROFILE.split("[pieces]")[0].replace("[board]", "", 1).split("\n")
    board = "board = {columns = 5, rows = 5, square_mm = 50.0}"
    pieces = "pieces = {flat_mm = [30.0, 30.0, 8.0], wall_height_mm = 34.0, crown_mm = [24.0, 38.0]}"
    colours = 'colours = {a = "#808080", b = "#5a5a5a"}'
    (folder / "board.toml").write_text(
        "\n".join([*lines[:2], board, pieces, colours, "camera = {fov_x_deg = 50.0}", ""])
    )
    ended = teach("shown.png", "--out", str(folder / "taught.toml"))
    assert ended.exit_code == 0, ended.stderr
    assert read_profile(folder / "taught.toml").pieces.flat_mm == pytest.approx((34.0, 34.0, 8.0), abs=0.4)


@pytest.mark.parametrize(
    ("picture", "words"),
    [("bare.png", "lay a flat of each side there"), ("board.toml", "not a video that can be read")],
)
def test_what_teaches_nothing_is_told_in_one_line(table, picture, words):
    _, teach = table
    ended = teach(picture)
    assert ended.exit_code == 1
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
