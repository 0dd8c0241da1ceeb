"""Pictures taken by others are read as well as those rendered or drawn here, which vision was made with."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from companion.accuracy import Labelled, accuracy, drawn_anew, path_traced, photographed
from hardware_sims.pictures import same_scene
from hardware_sims.stones_pictures import cells_of, look_of, position, random_board, same_stones
from vision.board import CrossingsBoard, Profile

SHARED = Path(__file__).resolve().parents[3] / "shared"
TWICE = 2.0
"""Others' pictures have no more than so many times the errors of ours."""


@pytest.mark.parametrize("seed", range(3))
def test_a_board_drawn_anew_is_seen_from_the_same_side_and_read_alike(seed):
    rng = np.random.default_rng(seed)
    image, corners_px, colours, labels = random_board(rng)
    profile = Profile(CrossingsBoard(len(labels), len(labels), 22.0, 21.5), colours)
    again, again_px = same_stones(image, profile, corners_px, labels, seed)
    assert again.shape == image.shape
    away_px = np.linalg.norm(again_px - corners_px, axis=1)
    assert away_px.max() < 0.05 * np.ptp(corners_px, axis=0).max(), (
        "a camera nobody knows sees the corners nearly there"
    )
    corners = tuple((float(x), float(y)) for x, y in again_px)
    read = accuracy([Labelled(again, profile, corners, cells_of(labels))])
    assert read.places == labels.size
    assert read.wrong_share <= 0.03


@pytest.mark.parametrize("seed", range(3))
def test_a_board_drawn_anew_has_the_colours_of_the_one_before(seed):
    rng = np.random.default_rng(seed)
    image, corners_px, colours, labels = random_board(rng)
    profile = Profile(CrossingsBoard(len(labels), len(labels), 22.0, 21.5), colours)
    before = look_of(image, profile, corners_px, labels, rng)
    anew, anew_px = same_stones(image, profile, corners_px, labels, seed)
    again = look_of(anew, profile, anew_px, labels, rng)
    for kind, one, other in zip((1, 2), before.tops(), again.tops(), strict=True):
        assert not (labels == kind).any() or np.abs(one - other).max() < 32, "a lamp shines from elsewhere"
    wood, wood_again = (np.median(look.wood.reshape(-1, 3), axis=0) for look in (before, again))
    assert np.abs(wood - wood_again).max() < 32


def test_places_that_differ_are_counted():
    rng = np.random.default_rng(5)
    image, corners_px, colours, labels = random_board(rng)
    profile = Profile(CrossingsBoard(len(labels), len(labels), 22.0, 21.5), colours)
    corners = tuple((float(x), float(y)) for x, y in corners_px)
    other = position(len(labels), np.random.default_rng(6))
    differ = float((other != labels).mean())
    assert accuracy([Labelled(image, profile, corners, cells_of(other))]).wrong_share == pytest.approx(differ, abs=0.03)


@pytest.mark.long
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared pictures are not here")
def test_photographs_are_read_as_well_as_the_same_boards_drawn():
    boards = list(chain.from_iterable(photographed(SHARED / "photos" / name) for name in ("stones", "overhead")))
    photographs, drawn = accuracy(boards), accuracy(drawn_anew(boards, same_stones))
    print(photographs, drawn)
    assert photographs.wrong_share <= TWICE * drawn.wrong_share
    assert drawn.wrong_share <= TWICE * photographs.wrong_share


@pytest.mark.long
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared pictures are not here")
def test_path_traced_tables_are_read_as_well_as_rendered_ones():
    tables = SHARED / "pictures" / "pathways"
    traced, rendered = accuracy(path_traced(tables)), accuracy(path_traced(tables, same_scene))
    print(traced, rendered)
    # So few places are wrong that only the centres tell by what factor the errors differ.
    assert max(traced.wrong_share, rendered.wrong_share) < 0.001
    assert traced.median_mm is not None
    assert rendered.median_mm is not None
    assert traced.median_mm <= TWICE * rendered.median_mm
