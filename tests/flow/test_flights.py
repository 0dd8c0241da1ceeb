"""Which changes are disks in flight: round, free, of a disk's colour, and gone again at once."""

from dataclasses import replace

import numpy as np
import pytest

from companion.flights import Eye, Flights
from companion.terms import Player
from hardware_sims.table import STANDARD
from vision import motion
from vision.calibration import calibrate
from vision.motion import Blob
from vision.sighting import Reading, Sighting

SIZE_WH = (640, 360)
CALIBRATION = calibrate(
    [[545.0, 320.0], [550.0, 35.0], [90.0, 40.0], [95.0, 325.0]], STANDARD.corners_mm(), SIZE_WH, 60.0
)
EYE = Eye(CALIBRATION, motion.view_of_board(CALIBRATION, STANDARD.corners_mm(), STANDARD.disk_diameter_mm), 28.0)
WOOD, RED, BLACK, SKIN = (95.0, 135.0, 180.0), (60.0, 65.0, 210.0), (50.0, 52.0, 55.0), (150.0, 175.0, 215.0)
BARE = np.full((*EYE.view.board.shape[:2], 3), WOOD, np.uint8)
AT_REST_MM = {"a": (74.0, 310.0), "b": (242.0, 184.0)}
"""A disk of each player lies here."""


def px(place_mm: tuple[float, float], z_mm: float = 6.0) -> tuple[float, float]:
    x, y = CALIBRATION.project([place_mm], z_mm)[0]
    return float(x), float(y)


def disk(place_mm: tuple[float, float] = (150.0, 200.0), bgr: tuple[float, float, float] = RED) -> Blob:
    """What a disk on the surface looks like to `blobs`."""
    across_px = EYE.disk_px(px(place_mm))
    area_px = np.pi / 4 * across_px**2
    return Blob(px(place_mm), area_px, across_px, across_px, False, area_px, 1.0, bgr, WOOD)


def painted(picture: np.ndarray, place_mm: tuple[float, float], bgr: tuple[float, float, float]) -> np.ndarray:
    """The small picture with a disk in it."""
    x, y = ((value + 0.5) / EYE.view.shrink - 0.5 for value in px(place_mm, 0.0))
    radius = EYE.disk_px(px(place_mm)) / 2 / EYE.view.shrink
    rows, columns = np.ogrid[: picture.shape[0], : picture.shape[1]]
    copy = picture.copy()
    copy[(rows - y) ** 2 + (columns - x) ** 2 <= radius**2] = bgr
    return copy


AT_REST = painted(painted(BARE, AT_REST_MM["a"], RED), AT_REST_MM["b"], BLACK)


def flights() -> Flights:
    """One red disk and one black at rest."""
    told = Flights((("a", (66, 66, 210)), ("b", (58, 50, 50))), STANDARD)
    seen = tuple(Sighting(AT_REST_MM[name], 0.2, name, "in_cell", None, 1.0) for name in "ab")
    told.begin(Reading(seen), AT_REST, EYE)
    return told


def flew(*pictures: tuple[float, tuple[Blob, ...]], at_the_look: np.ndarray = AT_REST) -> tuple[Player | None, ...]:
    told = flights()
    for t_s, found in pictures:
        told.note(t_s, found, AT_REST, EYE)
    return told.since(at_the_look, EYE)


@pytest.mark.parametrize(
    ("pictures", "players"),
    [
        pytest.param([(0.0, (disk(),))], "a", id="one picture"),
        pytest.param([(0.0, (disk(bgr=BLACK),))], "b", id="the other colour"),
        pytest.param([(0.0, (disk(),)), (0.07, (disk((150, 290)),)), (0.13, (disk((155, 370)),))], "a", id="one flick"),
        pytest.param([(0.0, (disk(),)), (3.0, (disk(),))], "", id="back in its place after seconds"),
        pytest.param([(0.0, (disk(),)), (3.0, (disk((150, 300)),))], "aa", id="two flicks"),
        pytest.param(
            [(0.0, (disk(),)), (0.07, (disk((150, 290)), disk((200, 300), BLACK)))], "ab", id="one that strikes another"
        ),
        pytest.param([(k / 15, (disk(),)) for k in range(8)], "", id="it rests there"),
        pytest.param([(0.0, tuple(disk((60.0 + 10 * k, 200.0)) for k in range(20)))], "", id="all the picture moves"),
    ],
)
def test_flights_are_told_by_player_in_order(pictures, players):
    assert flew(*pictures) == tuple(Player(letter) for letter in players)


def test_what_lies_there_at_the_look_did_not_fly():
    assert flew((0.0, (disk(),)), at_the_look=painted(AT_REST, (150.0, 200.0), RED)) == ()


@pytest.mark.parametrize(
    "blob",
    [
        pytest.param(replace(disk(), at_edge=True), id="at the picture's edge"),
        pytest.param(replace(disk(), on_board_px=0.0), id="beside the board"),
        pytest.param(replace(disk(), free=0.5), id="beside other changes, as a piece of a hand"),
        pytest.param(replace(disk(), area_px=disk().area_px / 0.785), id="square, as a finger"),
        pytest.param(
            replace(disk(), area_px=3 * disk().area_px, long_px=1.8 * disk().long_px, short_px=1.8 * disk().short_px),
            id="too large",
        ),
        pytest.param(
            replace(disk(), area_px=disk().area_px / 3, long_px=disk().long_px / 1.8, short_px=disk().short_px / 1.8),
            id="too small",
        ),
        pytest.param(disk(bgr=SKIN), id="of the colour of skin"),
        pytest.param(disk(bgr=(80.0, 114.0, 152.0)), id="a shadow"),
        pytest.param(disk(AT_REST_MM["a"], (70.0, 80.0, 190.0)), id="a disk at rest in another light"),
    ],
)
def test_what_is_no_disk_in_flight(blob):
    assert flew((0.0, (blob,))) == ()
    assert flew((0.0, (disk(),))) == (Player.A,), "the same where it is one"


def test_before_any_disk_is_at_rest_the_profile_says_whose_it_is():
    told = Flights((("a", (66, 66, 210)), ("b", (58, 50, 50))), STANDARD)
    told.begin(Reading(()), BARE, EYE)
    told.note(0.0, (disk(bgr=(30.0, 33.0, 120.0)),), BARE, EYE)
    assert told.since(BARE, EYE) == (Player.A,)


def moving(place_mm: tuple[float, float], smear_mm: float) -> Blob:
    """A disk that moved so far along y in one exposure."""
    seen = disk(place_mm)
    smear_px = smear_mm / 28.0 * seen.long_px
    area_px = seen.area_px + seen.short_px * smear_px
    return replace(seen, long_px=seen.long_px + smear_px, area_px=area_px, on_board_px=area_px)


@pytest.mark.parametrize(("smear_mm", "exposure_s"), [(0.0, 0.0), (8.0, 0.01), (32.0, 0.04)])
def test_how_long_the_shutter_is_open_is_told_by_disks_in_flight(smear_mm, exposure_s):
    told = flights()
    for k in range(6):
        # 80 mm from picture to picture, 0.1 s apart.
        told.note(0.1 * k, (moving((150.0, 60.0 + 80 * (k % 5)), smear_mm),), AT_REST, EYE)
    assert told.exposure_s() == pytest.approx(exposure_s, rel=0.1, abs=1e-9)


def test_a_disk_that_hardly_moves_tells_nothing_of_the_shutter():
    told = flights()
    for k in range(6):
        told.note(0.1 * k, (moving((150.0, 200.0 + 8 * k), 32.0),), AT_REST, EYE)
    assert told.exposure_s() == 0.0


@pytest.mark.parametrize(("bgr", "players"), [(BLACK, "b"), (SKIN, ""), ((117.0, 132.0, 162.0), ""), (RED, "a")])
def test_whose_disk_of_a_player_without_one_at_rest_is_told_by_the_others_exposure(bgr, players):
    told = Flights((("a", (66, 66, 210)), ("b", (58, 50, 50))), STANDARD)
    at_rest = painted(BARE, AT_REST_MM["a"], RED)
    told.begin(Reading((Sighting(AT_REST_MM["a"], 0.2, "a", "in_cell", None, 1.0),)), at_rest, EYE)
    told.note(0.0, (replace(disk(bgr=bgr), bare_bgr=(97.0, 98.0, 89.0)),), at_rest, EYE)
    assert "".join(player.value if player else "?" for player in told.since(at_rest, EYE)) == players


@pytest.mark.parametrize(
    ("places_mm", "flights_told"),
    [
        pytest.param(((158.0, 205.0), (158.0, 285.0)), 1, id="on its way"),
        pytest.param(((158.0, 205.0),), 0, id="seen once, as skin between fingers"),
        pytest.param(((158.0, 205.0), (158.0, 225.0)), 0, id="hardly moved"),
        pytest.param(((158.0, 226.0), (158.0, 312.0)), 0, id="in holes"),
        pytest.param(((161.0, 224.0), (158.0, 310.0)), 0, id="nearly in holes"),
    ],
)
def test_what_has_neither_players_colour_has_to_fly_like_a_disk(places_mm, flights_told):
    neither = (52.0, 56.0, 92.0)
    assert flew(*((k / 15, (disk(at_mm, neither),)) for k, at_mm in enumerate(places_mm))) == (None,) * flights_told
