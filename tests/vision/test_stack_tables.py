"""The table of pieces on squares follows its script, and its picture shows what changed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.squares import Room, Scene, Sizes
from hardware_sims.stacks import StacksTable
from hardware_sims.view import View
from vision.board import SquaresBoard

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
FIVE = SquaresBoard(5, 5, 50.0)


@pytest.mark.parametrize(
    ("moves", "stacks"),
    [
        (["a1", "b1"], {"a1": ["b"], "b1": ["w"]}),
        (["a1", "b1", "b1<"], {"a1": ["b", "w"]}),
        (["a1", "b1", "b1<", "c1", "2a1>11", "Sd4"], {"b1": ["b"], "c1": ["b", "w"], "d4": ["B"]}),
        (["a1", "b1", "Cc3", "Sc4", "c3+*"], {"a1": ["b"], "b1": ["w"], "c4": ["b", "K"]}),
    ],
)
def test_moves_go_where_they_are_written(moves, stacks):
    table = StacksTable(FIVE)
    heights = [len(pieces) for pieces in table.played(moves)]
    assert table.stacks() == stacks
    assert heights == sorted(heights)
    for piece in table.pieces():
        assert piece.z_mm in (0.0, 8.0, 16.0)


@pytest.mark.parametrize("move", ["a9", "x1", "3a1>", "2a1+11", "a1>1>", ""])
def test_what_cannot_be_played_is_refused(move):
    with pytest.raises(ValueError, match="no"):
        StacksTable(FIVE).play(move)


def test_a_real_game_leads_to_each_of_its_positions():
    folder = SHARED / "pictures" / "pathstone"
    if not folder.is_dir():
        pytest.skip("../shared is not there")
    truths = [json.loads(path.read_text()) for path in sorted(folder.glob("ply-*.json"))]
    text = re.sub(r"\[.*?\]|\{.*?\}", " ", (SHARED / "games" / "pathstone" / "game-041.ptn").read_text())
    moves = [word for word in text.split() if re.match(r"[FSC]?\d?[a-h]\d", word)]
    table, after = StacksTable(FIVE, seed=1), {0: {}}
    for ply, _ in enumerate(table.played(moves), 1):
        after[ply] = table.stacks()
    compared = [truth for truth in truths if truth["ply"] in after]
    assert len(compared) > 20
    for truth in compared:
        assert after[truth["ply"]] == truth["board"], truth["ply"]


def test_the_picture_changes_where_a_piece_is_laid_and_nowhere_else():
    view = View((480, 360), fov_x_deg=45.0, tilt_deg=12.0, distance_mm=520.0)
    calibration = view.calibration(FIVE)
    scene = Scene(FIVE, Sizes(), Room(lamps=()))
    table = StacksTable(FIVE, seed=2)
    before = scene.picture(calibration, table.pieces(), oversampling=1)
    table.put("flat", "a", (3, 1))
    changed = np.abs(scene.picture(calibration, table.pieces(), oversampling=1) - before).max(axis=2) > 0.02
    y_px, x_px = (axis.mean() for axis in np.nonzero(changed))
    piece = table.pieces()[0]
    expected = calibration.project([[piece.x_mm, piece.y_mm]], [8.0])[0]
    assert (x_px, y_px) == pytest.approx(expected, abs=2.5)
    assert 20 < changed.sum() < 60 * 60


def test_a_camera_that_draws_only_what_changed_draws_the_whole():
    view = View((480, 360), fov_x_deg=45.0, tilt_deg=12.0, distance_mm=520.0)
    settings = Settings(oversampling=1, noise_levels=0.0, blur_px=0.0, vignetting=0.0, jpeg_quality=None)
    scene = Scene(FIVE, Sizes(), Room())
    camera, table = Camera(scene, view, settings), StacksTable(FIVE, seed=2)
    for _ in table.played(["a1", "e5", "Sb2", "Cc3", "b3", "a2", "a2-", "c3<"]):
        drawn = camera.read(table.pieces())
    assert drawn is not None
    whole = scene.picture(view.calibration(FIVE), table.pieces(), oversampling=1)
    assert np.abs(drawn - whole * 255).max() < 3.0
    covered = camera.read(table.pieces(), (Arm((125.0, 60.0, 20.0), -90.0),))
    assert covered is not None
    assert 0.05 < (np.abs(covered.astype(float) - drawn).max(axis=2) > 8).mean() < 0.6
    camera.bump()
    assert (np.abs(camera.read(table.pieces()).astype(float) - drawn).max(axis=2) > 8).mean() > 0.1


def test_the_whole_picture_is_in_another_light_once_the_light_is():
    view = View((480, 360), fov_x_deg=45.0, tilt_deg=12.0, distance_mm=520.0)
    camera = Camera(Scene(FIVE, Sizes(), Room()), view, Settings(oversampling=1, jpeg_quality=None))
    usual = camera.read(()).astype(float)
    camera.settings = replace(camera.settings, white_balance=(1.25, 1.0, 0.7))
    ratio = camera.read(()).astype(float)[::40, ::40] / usual[::40, ::40]
    assert np.median(ratio, axis=(0, 1)) == pytest.approx([0.7, 1.0, 1.25] ** np.float64(1 / 2.2), abs=0.02)
    assert ratio[..., 2].min() > 1.0
