"""When what a sensor says counts, what it adds to a camera's look, and when it is left out and believed again."""

from dataclasses import replace

import pytest

from companion.games.compare import cell_mm
from companion.inputs import Dispute, Look, SeenDisk
from companion.sensors import (
    REST_S,
    STUCK_LOOKS,
    TRUSTED_LOOKS,
    Sensors,
    camera_holds,
    is_mirrored,
    look_without_camera,
    with_sensors,
)
from companion.terms import USUAL_FIELD, Lying, Player
from firmware_protocol.driver import Changed, Device, Found, Lost, Sensed
from firmware_protocol.messages import LedKind, SensorKind

CELLS = ((1, 1), (1, 2), (1, 3))
DEVICE = Device("grid", "01", 1, 3, LedKind.RGB, SensorKind.HALL, "0.1.0", False)
OTHER = replace(DEVICE, uid="02")
A, B = Player.A, Player.B


def seen(colour, cell, lying=Lying.IN_CELL, confidence=0.99, off_mm=0.0):
    x_mm, y_mm = cell_mm(USUAL_FIELD, cell)
    in_cell = lying in (Lying.IN_CELL, Lying.TILTED)
    return SeenDisk(colour, x_mm + off_mm, y_mm, cell if in_cell else None, lying, 0.2, confidence)


def signs(told: dict) -> str:
    """What is told of each cell: x occupied, o empty, . nothing."""
    return "".join({True: "x", False: "o", None: "."}[told.get(cell)] for cell in CELLS)


# Each story is a list of times, what the link tells then, and what counts a moment before, and after the rest.
FOUND = Found(DEVICE, (False, True, False))
STORIES = {
    "nothing counts before the grid is found": [(0.0, Changed(0, True), "...", "...")],
    "what was read whole counts once it has been still": [(0.0, FOUND, "...", "oxo")],
    "a change counts once it has been still": [(0.0, FOUND, "...", "oxo"), (1.0, Changed(0, True), ".xo", "xxo")],
    "what says the same again goes on counting": [
        (0.0, FOUND, "...", "oxo"),
        (1.0, Sensed((False, True, True)), "ox.", "oxx"),
    ],
    "nothing counts once it is lost": [(0.0, FOUND, "...", "oxo"), (1.0, Lost("unplugged"), "...", "...")],
    "found again it is read anew": [
        (0.0, FOUND, "...", "oxo"),
        (1.0, Lost("unplugged"), "...", "..."),
        (2.0, Found(DEVICE, (True, True, True)), "...", "xxx"),
    ],
    "a grid without sensors tells nothing": [(0.0, Found(DEVICE, ()), "...", "...")],
    "what lies behind the last cell is nothing": [
        (0.0, Found(DEVICE, (False, True, False, True, True)), "...", "oxo"),
        (1.0, Changed(3, True), "oxo", "oxo"),
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_a_sensor_says_counts_once_it_has_been_still(story):
    sensors = Sensors(CELLS)
    for t_s, event, at_once, after_the_rest in story:
        sensors.take(event, t_s)
        assert signs(sensors.told(t_s + 0.01)) == at_once
        assert signs(sensors.told(t_s + REST_S + 0.01)) == after_the_rest


def test_a_sensor_that_chatters_is_not_told_of():
    sensors = Sensors(CELLS)
    sensors.take(FOUND, 0.0)
    for n in range(100):
        sensors.take(Changed(2, n % 2 == 0), 1.0 + 0.1 * n)
        assert signs(sensors.told(1.05 + 0.1 * n)) == "ox."


FUSED = {
    "they agree": ([seen(A, (1, 2))], "", "oxo", [], [], []),
    "a disk that no sensor feels": ([seen(A, (1, 2))], "", "ooo", [Dispute((1, 2), A)], [], []),
    "a sensor that feels what is not seen": ([], "", "oox", [Dispute((1, 3), None)], [], []),
    "both at once": ([seen(B, (1, 1))], "", "oxo", [Dispute((1, 1), B), Dispute((1, 2), None)], [], []),
    "a sensor of which nothing is told": ([seen(A, (1, 2))], "", "o.o", [], [], []),
    "a disk that stands at an angle": ([seen(A, (1, 2), Lying.TILTED)], "", "ooo", [], [], []),
    "a disk over the hole": ([seen(A, (1, 2), Lying.FLAT, off_mm=10.0)], "", "oxo", [], [], []),
    "a disk farther off": ([seen(A, (1, 2), Lying.FLAT, off_mm=-40.0)], "", "oxo", [Dispute((1, 2), None)], [], []),
    "hidden, and a disk lies there": ([], "2", "oxo", [], [(1, 2)], []),
    "hidden, and none lies there": ([], "2", "ooo", [], [], [(1, 2)]),
    "hidden, and nothing is told": ([], "2", "o.o", [], [], []),
    "hidden, and what was taken to lie there still is gone": ([seen(A, (1, 2))], "2", "ooo", [], [], [(1, 2)]),
}


@pytest.mark.parametrize(("disks", "hidden", "told", "disputed", "occupied", "empty"), FUSED.values(), ids=FUSED)
def test_a_look_with_sensors(disks, hidden, told, disputed, occupied, empty):
    says = {cell: sign == "x" for cell, sign in zip(CELLS, told, strict=True) if sign != "."}
    hidden_cells = tuple((1, int(column)) for column in hidden)
    fused = with_sensors(Look(tuple(disks), hidden_cells), says, USUAL_FIELD)
    assert list(fused.disputed) == disputed
    assert list(fused.occupied) == occupied
    assert list(fused.empty) == empty
    assert fused.hidden == hidden_cells
    assert list(fused.disks) == [disk for disk in disks if disk.cell not in empty]


def test_a_look_by_sensors_alone_tells_of_no_colour_and_no_surface():
    look = look_without_camera({(1, 1): True, (1, 2): False}, USUAL_FIELD, 4, 12.5)
    assert (look.disks, look.hand, look.flights, look.frame, look.t_s) == ((), True, (), 4, 12.5)
    assert len(look.hidden) == USUAL_FIELD.rows * USUAL_FIELD.columns
    assert (look.occupied, look.empty) == (((1, 1),), ((1, 2),))


def watched(disks=(), hidden=()):
    return Look(tuple(disks), tuple(hidden))


AGAINST = watched([seen(A, (1, 1))])
WITH = watched([seen(A, (1, 1)), seen(B, (1, 2))])
EMPTY = watched([seen(A, (1, 1))])
UNSURE = watched([seen(A, (1, 1)), seen(B, (1, 3), confidence=0.6)])


def compared(sensors, look, looks, t_s=10.0, overruled=()):
    return [news for _ in range(looks) for news in sensors.compare(camera_holds(look, USUAL_FIELD), t_s, overruled)]


@pytest.fixture
def sensors():
    """Three sensors, of which the first and the second say occupied."""
    sensors = Sensors(CELLS)
    sensors.take(Found(DEVICE, (True, True, False)), 0.0)
    return sensors


def test_a_sensor_that_keeps_contradicting_is_stuck_and_told_of_once(sensors):
    assert compared(sensors, AGAINST, STUCK_LOOKS - 1) == []
    assert compared(sensors, AGAINST, 5) == [
        "the sensor at row 1, column 2 keeps saying occupied against the camera: it is left out; check it"
    ]
    assert sensors.stuck() == ((1, 2),)
    assert signs(sensors.told(10.0)) == "x.o"
    assert signs(sensors.says()) == "xxo"


@pytest.mark.parametrize(
    ("between", "overruled"),
    [
        pytest.param(WITH, (), id="it agrees in between"),
        pytest.param(AGAINST, ((1, 2),), id="people believe the sensor"),
    ],
)
def test_a_sensor_with_reason_to_contradict_is_not_stuck(sensors, between, overruled):
    for _ in range(5):
        assert compared(sensors, AGAINST, STUCK_LOOKS - 1, overruled=overruled) == []
        assert compared(sensors, between, 1, overruled=overruled) == []
    assert sensors.stuck() == ()


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(watched([seen(A, (1, 1))], [(1, 2)]), id="the camera does not see the hole"),
        pytest.param(watched([seen(A, (1, 1)), seen(B, (1, 2), Lying.FLAT, off_mm=9.0)]), id="a disk lies over it"),
        pytest.param(UNSURE, id="the camera is not sure"),
    ],
)
def test_a_camera_that_is_not_sure_says_nothing_against_a_sensor(sensors, look):
    if look is UNSURE:
        sensors.take(Changed(1, False), 1.0)
    assert compared(sensors, look, 5 * STUCK_LOOKS) == []


def test_a_stuck_sensor_is_believed_again_once_it_has_told_of_a_disk_and_of_none(sensors):
    compared(sensors, AGAINST, STUCK_LOOKS)
    assert compared(sensors, WITH, 3 * TRUSTED_LOOKS) == [], "so would one that is stuck"
    sensors.take(Changed(1, False), 11.0)
    assert compared(sensors, EMPTY, 1, t_s=12.0) == [
        "the sensor at row 1, column 2 agrees with the camera again: it is believed from now on"
    ]
    assert sensors.stuck() == ()
    assert signs(sensors.told(12.0)) == "xoo"


def test_another_grid_begins_with_a_clean_record(sensors):
    compared(sensors, AGAINST, STUCK_LOOKS)
    sensors.take(Lost("unplugged"), 11.0)
    sensors.take(Found(DEVICE, (True, True, False)), 12.0)
    assert sensors.stuck() == ((1, 2),)
    sensors.take(Found(OTHER, (True, True, False)), 13.0)
    assert sensors.stuck() == ()


def says(*cells):
    """What sensors under all holes say where disks lie in some."""
    every = [(row, column) for row in range(1, USUAL_FIELD.rows + 1) for column in range(1, USUAL_FIELD.columns + 1)]
    return {cell: cell in cells for cell in every}


@pytest.mark.parametrize(
    ("cells", "sensed", "mirrored"),
    [
        pytest.param([(2, 1), (5, 3)], [(2, 7), (5, 5)], True, id="two disks in a mirror"),
        pytest.param([(2, 1), (5, 3), (6, 4)], [(2, 7), (5, 5), (6, 4)], True, id="and one in the middle"),
        pytest.param([(2, 1), (5, 3)], [(2, 1), (5, 3)], False, id="as it is"),
        pytest.param([(2, 1)], [(2, 7)], False, id="one disk may be read wrongly"),
        pytest.param([(2, 1), (2, 7), (5, 3)], [(2, 1), (2, 7), (5, 5)], False, id="one of three is elsewhere"),
        pytest.param([(2, 1), (5, 3)], [(3, 1), (4, 3)], False, id="wrong either way"),
    ],
)
def test_a_mirrored_picture_is_told_by_the_sensors(cells, sensed, mirrored):
    held = camera_holds(watched([seen(A, cell) for cell in cells]), USUAL_FIELD)
    assert is_mirrored(held, says(*sensed), USUAL_FIELD) is mirrored


def test_a_ghost_is_not_held_against_its_sensor():
    cells = ((1, 1), (1, 2), (2, 1), (2, 2))
    sensors = Sensors(cells)
    sensors.take(Found(replace(DEVICE, rows=2, columns=2), (True,) * 4), 0.0)
    for n in range(STUCK_LOOKS + 1):
        assert sensors.compare({(2, 2): False}, 1.0 + n) == ()
    assert sensors.stuck() == ()
    assert sensors.ghosts() == set(cells)
    assert sensors.diodes.missing
    # Another grid is another matter.
    sensors.take(Found(replace(OTHER, rows=2, columns=2), (True,) * 4), 9.0)
    assert not sensors.diodes.missing


def test_a_sensor_left_out_says_nothing_of_diodes():
    cells = ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3))
    sensors = Sensors(cells)
    sensors.take(Found(replace(DEVICE, rows=2), (True, True, True, True, False, True)), 0.0)
    assert sensors.ghosts() == set()
    for n in range(STUCK_LOOKS):
        sensors.compare({(2, 2): True}, 1.0 + n)
    assert sensors.stuck() == ((2, 2),)
    assert sensors.ghosts() == {*cells} - {(2, 2)}
