"""A game of Pathstone is followed from pictures: of a rendered table, and path-traced ones where they are at hand."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.games.pathstone import play, read_move, start, tops_of
from hardware_sims.squares import Piece, Room, Scene, Sizes, exposed
from hardware_sims.view import View
from vision.board import Image, SquaresBoard
from vision.calibration import Calibration

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "pictures" / "pathstone"
BOARD, SIZES = SquaresBoard(4, 4, 50.0), Sizes()
ROOM = Room(colours=(("a", (0.78, 0.73, 0.6)), ("b", (0.1, 0.06, 0.035))))
PROFILE = """kind = "squares"
[board]
columns = 4
rows = 4
square_mm = 50.0
[pieces]
[colours]
a = "#e6deca"
b = "#5a4434"
[camera]
fov_x_deg = 36.0
"""
KINDS = {"F": "flat", "S": "wall", "C": "crown"}
GAME = ("a4", "d1", "b2", "Sc3", "b3", "d2", "b3-")


class _Slab:
    width_mm = length_mm = 200.0


CALIBRATION: Calibration = View(
    (1280, 960), fov_x_deg=36.0, tilt_deg=15.0, azimuth_deg=-85.0, distance_mm=620.0
).calibration(_Slab())
CORNERS = " ".join(f"{x:.2f},{y:.2f}" for x, y in CALIBRATION.project(BOARD.corners_mm()))


class Hands:
    """Lays the pieces of each position as hands do: one that stays is not touched."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(3)
        self._scene = Scene(BOARD, SIZES, ROOM)
        self._laid: dict[tuple[tuple[int, int], int, str, str], Piece] = {}

    def picture(self, state, *, arm: bool = False) -> Image:
        laid = {}
        for cell in state.cells:
            z_mm = 0.0
            for level, piece in enumerate(state.stack_at(cell)):
                kind = KINDS[piece.kind.value]
                key = (cell, level, kind, piece.player.value)
                x_mm, y_mm = (50 * index - 25 + float(self._rng.normal(0, 1.5)) for index in (cell[1], cell[0]))
                turn = float(self._rng.normal(45 if kind == "wall" else 0, 5))
                laid[key] = self._laid.get(key) or Piece(kind, piece.player.value, x_mm, y_mm, z_mm, turn)
                z_mm += SIZES.height_mm(kind)
        self._laid = laid
        light = self._scene.picture(CALIBRATION, tuple(laid.values()), oversampling=1)
        image = exposed(light * 0.95, self._rng, blur_px=0.6, noise_levels=1.5)
        if arm:
            cv2.line(image, (640, 980), (560, 520), (140, 160, 200), 130, cv2.LINE_AA)
        return image


def told(folder: Path, profile: Path, corners: str) -> list[dict]:
    """The events that `companion referee` prints for a folder of pictures."""
    arguments = ["referee", str(folder), "--game", "pathstone", "--board", str(profile), "--corners", corners, "--json"]
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_game_is_followed_from_pictures_and_hands_are_waited_out(tmp_path):
    pictures, profile = tmp_path / "pictures", tmp_path / "board.toml"
    pictures.mkdir()
    profile.write_text(PROFILE)
    hands, state = Hands(), start(4)
    cv2.imwrite(str(pictures / "00.png"), hands.picture(state))
    for n, ptn in enumerate(GAME, 1):
        cv2.imwrite(str(pictures / f"{n:02d}-hand.png"), hands.picture(state, arm=True))
        state = play(state, read_move(ptn))
        cv2.imwrite(str(pictures / f"{n:02d}.png"), hands.picture(state))
    events = told(pictures, profile, CORNERS)
    assert [(event["n"], event["ptn"]) for event in events if event["event"] == "move"] == list(enumerate(GAME, 1))
    assert not [event for event in events if event["event"] in ("undecided", "refused")]
    assert tops_of(state)[1][1] == "w"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the path-traced pictures beside the project are absent")
def test_a_path_traced_game_is_followed_to_its_end():
    truths = [json.loads(path.read_text()) for path in sorted(SHARED.glob("ply-*.json"))]
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in truths[0]["corners_px"])
    moves = {
        event["n"]: event["ptn"] for event in told(SHARED, SHARED / "board.toml", corners) if event["event"] == "move"
    }
    wanted = {truth["ply"]: truth["ptn"].rstrip("*'?!") for truth in truths if truth["ply"] and not truth["hand"]}
    assert moves == wanted


HOLES = (Path(__file__).resolve().parents[2] / "companion" / "boards" / "pathways.toml").read_text()
BAD = [
    ("holes", HOLES, "squares"),
    ("no pieces", PROFILE.replace("[pieces]\n", ""), "[pieces]"),
    ("too large", PROFILE.replace("rows = 4", "rows = 9").replace("columns = 4", "columns = 9"), "8x8"),
]


@pytest.mark.parametrize(("text", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_board_for_another_game_is_refused_in_one_line(text: str, said: str, tmp_path):
    profile = tmp_path / "board.toml"
    profile.write_text(text)
    run = CliRunner().invoke(main, ["referee", str(tmp_path), "--game", "pathstone", "--board", str(profile), "--json"])
    assert run.exit_code == 1
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
