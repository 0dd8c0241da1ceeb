"""The simulated table obeys mechanics and its own rules: what the demo and the soak rely on as truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware_sims.disks import (
    STANDARD,
    Disk,
    cell_mm,
    flat,
    in_cell,
    leaning,
    nearest_cell,
    tilted,
    tipping_mm,
)
from hardware_sims.players import Call, Flicked, Person, Players, Question
from hardware_sims.table import Physics, Table

CALM = Physics(tilt_rate=0.0, lean_rate=0.0)
LANE_MM = cell_mm(STANDARD, (1, 3))[0] + STANDARD.pitch_mm / 2
"""Between two columns of holes, where nothing falls in."""


def only(table: Table) -> Disk:
    (disk,) = table.disks()
    return disk


def lowest_mm(disk: Disk) -> float:
    """Height of a disk's lowest point above the slab's top."""
    tilt = math.radians(disk.tilt_deg)
    return disk.z_mm - STANDARD.disk_diameter_mm / 2 * math.sin(tilt) - STANDARD.disk_height_mm / 2 * math.cos(tilt)


@pytest.mark.parametrize("speed_mm_s", [300.0, 700.0, 1100.0])
def test_a_disk_slides_as_far_as_friction_lets_it(speed_mm_s):
    table = Table(physics=CALM)
    table.put(flat(STANDARD, "a1", "a", LANE_MM, 80.0))
    table.flick("a1", speed_mm_s, 90)
    table.run()
    expected_mm = 80.0 + speed_mm_s**2 / (2 * CALM.slowing_mm_s2)
    assert only(table).y_mm == pytest.approx(expected_mm, abs=1.5)


def test_a_collision_keeps_momentum_and_loses_energy():
    table = Table(physics=Physics(slowing_mm_s2=1e-6, tilt_rate=0, lean_rate=0))
    table.put(flat(STANDARD, "a1", "a", LANE_MM, 80.0))
    table.put(flat(STANDARD, "b1", "b", LANE_MM + 9.0, 130.0))
    table.flick("a1", 1000.0, 90)
    before = table.momentum()
    table.advance(0.06)
    assert table.momentum() == pytest.approx(before, abs=1.0)
    first, second = (np.array(disk.velocity_mm_s) for disk in table.disks())
    assert second[0] > 50, "a hit beside the middle sends the other disk aside"
    # Newton's law of restitution along the line of centres, which is the way the hit disk goes.
    line = second / np.linalg.norm(second)
    assert line @ (second - first) == pytest.approx(CALM.bounce * line[1] * 1000.0, rel=0.02)


@pytest.mark.parametrize(("speed_mm_s", "falls"), [(250.0, True), (600.0, True), (1400.0, False)])
def test_a_slow_disk_falls_into_a_hole_and_a_fast_one_passes_it(speed_mm_s, falls):
    table = Table(physics=CALM)
    x_mm, y_mm = cell_mm(STANDARD, (4, 4))
    table.put(flat(STANDARD, "a1", "a", x_mm, y_mm - 12.0))
    table.flick("a1", speed_mm_s, 90)
    table.advance(0.15)
    assert (only(table).cell == (4, 4)) is falls


def test_a_filled_hole_is_slid_over():
    table = Table(physics=CALM)
    x_mm, y_mm = cell_mm(STANDARD, (4, 4))
    table.put(in_cell(STANDARD, "b1", "b", (4, 4)))
    table.put(flat(STANDARD, "a1", "a", x_mm, y_mm - 12.0))
    table.flick("a1", math.sqrt(2 * CALM.slowing_mm_s2 * 12.0), 90)
    table.run()
    upper = next(disk for disk in table.disks() if disk.name == "a1")
    assert upper.cell is None
    assert math.hypot(upper.x_mm - x_mm, upper.y_mm - y_mm) < 2.0


def test_a_disk_falls_when_the_one_below_it_is_taken_out_of_the_hole():
    table = Table(physics=CALM)
    x_mm, y_mm = cell_mm(STANDARD, (4, 4))
    table.put(in_cell(STANDARD, "b1", "b", (4, 4)))
    table.put(flat(STANDARD, "a1", "a", x_mm + 3.0, y_mm))
    table.run()
    assert {disk.cell for disk in table.disks()} == {None, (4, 4)}
    table.lift("b1")
    table.run()
    assert only(table).cell == (4, 4)


@pytest.mark.parametrize(("over_mm", "stays"), [(-1.0, True), (1.0, False)])
def test_a_disk_balances_on_the_side_edge_until_its_centre_is_past_it(over_mm, stays):
    table = Table(physics=CALM)
    way_mm = 60.0 + over_mm
    table.put(flat(STANDARD, "a1", "a", 60.0, STANDARD.first_row_mm + 3.5 * STANDARD.pitch_mm))
    table.flick("a1", math.sqrt(2 * CALM.slowing_mm_s2 * way_mm), 180)
    table.run()
    assert bool(table.disks()) is stays
    assert table.gone == ([] if stays else ["a1"])


def test_a_disk_that_left_can_lie_beside_the_slab():
    table = Table(physics=Physics(beside_rate=1.0))
    table.put(flat(STANDARD, "a1", "a", 20.0, STANDARD.first_row_mm + 3.5 * STANDARD.pitch_mm))
    table.flick("a1", 800.0, 180)
    table.run()
    disk = only(table)
    assert disk.lying == "beside"
    assert disk.x_mm < -STANDARD.disk_diameter_mm / 2
    assert lowest_mm(disk) == pytest.approx(-STANDARD.slab_mm)


def test_a_hard_hit_knocks_a_tilted_disk_flat():
    table = Table(physics=CALM)
    x_mm, y_mm = cell_mm(STANDARD, (4, 4))
    table.put(tilted(STANDARD, "b1", "b", (4, 4), 35.0, 90.0))
    table.put(flat(STANDARD, "a1", "a", x_mm, y_mm - 100.0))
    table.flick("a1", 1300.0, 90)
    table.run()
    assert next(disk for disk in table.disks() if disk.name == "b1").lying == "in_cell"


def test_after_a_hard_hit_one_disk_can_lean_on_the_other_and_comes_down_when_that_goes():
    table = Table(physics=Physics(tilt_rate=0, lean_rate=1.0))
    table.put(flat(STANDARD, "b1", "b", LANE_MM, 230.0))
    table.put(flat(STANDARD, "a1", "a", LANE_MM, 100.0))
    table.flick("a1", 1100.0, 90)
    table.run()
    upper, lower = sorted(table.disks(), key=lambda disk: disk.name)
    assert (upper.lying, lower.lying) == ("leaning", "flat")
    assert lowest_mm(upper) == pytest.approx(0.0, abs=1e-9)
    table.lift("b1")
    assert only(table).lying == "flat"


@given(foot_mm=st.floats(14, 26), towards_deg=st.floats(0, 360))
def test_a_leaning_disk_touches_its_support_and_does_not_go_through_it(foot_mm, towards_deg):
    on = flat(STANDARD, "b1", "b", 150.0, 200.0)
    disk = leaning(STANDARD, "a1", "a", on, towards_deg, foot_mm)
    axis, way = np.array(disk.axis()), math.radians(towards_deg)
    underside = np.array([disk.x_mm, disk.y_mm, disk.z_mm]) - axis * STANDARD.disk_height_mm / 2
    rim_mm = STANDARD.disk_diameter_mm / 2
    edge = np.array([on.x_mm - rim_mm * math.cos(way), on.y_mm - rim_mm * math.sin(way), STANDARD.disk_height_mm])
    assert axis @ (edge - underside) == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(edge - underside) <= rim_mm + 1e-9
    assert lowest_mm(disk) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_whatever_is_flicked_comes_to_rest_in_a_hole_flat_or_leaning(seed):
    rng = np.random.default_rng(seed)
    table = Table(seed=seed)
    for number in range(1, 13):
        player, start_mm, ahead_deg = ("a", 40.0, 90) if number % 2 else ("b", STANDARD.length_mm - 40.0, -90)
        table.put(flat(STANDARD, f"{player}{number}", player, float(rng.uniform(40, 276)), start_mm))
        table.flick(f"{player}{number}", float(rng.uniform(500, 1900)), ahead_deg + float(rng.normal(0, 12)))
        table.run()
    assert table.at_rest()
    lying = table.disks()
    assert len(lying) + len(table.gone) == 12
    for disk in lying:
        cell, away_mm = nearest_cell(STANDARD, disk.x_mm, disk.y_mm)
        if disk.lying in ("in_cell", "tilted"):
            assert disk.cell == cell
            assert away_mm <= (STANDARD.hole_diameter_mm - STANDARD.disk_diameter_mm) / 2
            assert lowest_mm(disk) == pytest.approx(-STANDARD.slab_mm)
        else:
            assert 0 <= disk.x_mm <= STANDARD.width_mm
            assert 0 <= disk.y_mm <= STANDARD.length_mm
            assert lowest_mm(disk) == pytest.approx(0.0, abs=1e-9)
            # Over an empty hole nothing stays.
            assert away_mm >= tipping_mm(STANDARD) or cell in {other.cell for other in lying} or disk.tilt_deg > 0
    flats = [disk for disk in lying if disk.lying == "flat"]
    for index, disk in enumerate(flats):
        for other in flats[:index]:
            apart_mm = math.hypot(disk.x_mm - other.x_mm, disk.y_mm - other.y_mm)
            assert apart_mm > STANDARD.disk_diameter_mm - 0.3
    cells = [disk.cell for disk in lying if disk.cell]
    assert len(cells) == len(set(cells)), "at most one disk a hole"


def play(seed: int, moments: int) -> tuple[list[tuple[Disk, ...]], Players]:
    players = Players(Table(seed=seed), (Person(reaches_over=0.5), Person(illegal_flicks=0.5)), seed=seed)
    return [moment.disks for _, moment in zip(range(moments), players.play(), strict=False)], players


def test_the_same_seed_plays_the_same_and_another_does_not():
    first, again, other = play(7, 250)[0], play(7, 250)[0], play(8, 250)[0]
    assert first == again
    assert first != other


def test_players_flick_in_turn_twelve_disks_each_and_then_clear_the_board():
    players = Players(Table(seed=3), seed=3, patience_s=0.1, people=(Person(skill=0.1), Person(skill=0.1)))
    moments = players.play()
    while len(players.flicked) < 25:
        moment = next(moments)
    assert [flick.player for flick in players.flicked[:24]] == ["a", "b"] * 12
    assert [flick.n for flick in players.flicked] == [*range(1, 25), 1]
    assert players.flicked[24].player == "b"
    assert len(moment.disks) <= 1, "the second game began on an empty board"


@pytest.mark.parametrize(
    ("habit", "happened"),
    [
        ("illegal_flicks", lambda flick: flick.illegal),
        ("second_touches", lambda flick: flick.illegal),
        ("touches_others", lambda flick: flick.illegal),
        ("out_of_turn", lambda flick: flick.out_of_turn),
        ("lifts_early", lambda flick: flick.lifted != ""),
    ],
)
def test_each_kind_of_foul_is_committed_at_its_rate_and_in_the_truth(habit, happened):
    def flicked(rate: float) -> list[Flicked]:
        people = (Person(skill=0.0, reaches_over=0, **{habit: rate}),) * 2
        players = Players(Table(seed=2), people, seed=2, patience_s=0.1, pause_s=0.1, disks_each=3)
        moments = players.play()
        while not players.finished:
            next(moments)
        return players.flicked

    assert not any(happened(flick) for flick in flicked(0.0))
    assert any(happened(flick) for flick in flicked(0.9))


def test_players_take_off_what_the_referee_orders():
    calls = []

    def referee() -> Call:
        disks = table.disks()
        calls.append(len(disks))
        remove = tuple((disk.colour, disk.x_mm + 0.5, disk.y_mm) for disk in disks) if table.at_rest() else ()
        return Call(1, len(players.flicked), "a", remove if len(players.flicked) == 1 and len(disks) == 1 else ())

    table = Table(physics=CALM, seed=5)
    players = Players(table, (Person(reaches_over=0), Person(reaches_over=0)), referee, seed=5)
    lifted_under_a_hand = False
    before = 0
    for moment in players.play():
        if before == 1 and not moment.disks and len(players.flicked) == 1:
            lifted_under_a_hand = bool(moment.arms)
            break
        before = len(moment.disks)
        assert moment.n < 400
    assert lifted_under_a_hand


@pytest.mark.parametrize(
    ("choices", "y_mm", "answer"),
    [
        (("stays", "comes-off"), 70.4, "stays"),
        (("stays", "comes-off"), 69.6, "comes-off"),
        (("stays", "comes-off"), 494.0 - 69.6, "comes-off"),
        (("flick-lost", "out-of-turn"), 200.0, "flick-lost"),
        (("flick", "by-hand"), 200.0, "flick"),
    ],
)
def test_players_answer_the_referee_by_the_truth(choices, y_mm, answer):
    table = Table()
    table.put(flat(STANDARD, "a1", "a", LANE_MM, y_mm))
    assert Players(table).truth_of(Question(choices, ((LANE_MM, y_mm),))) == answer


@pytest.mark.parametrize(
    ("cell", "felt", "answer"),
    [
        ((4, 4), True, "sensor-is-right"),
        ((4, 4), False, "camera-is-right"),
        ((4, 5), True, "camera-is-right"),
        ((4, 5), False, "sensor-is-right"),
    ],
)
def test_players_say_by_the_truth_whether_a_sensor_or_the_camera_is_right(cell, felt, answer):
    table = Table()
    table.put(in_cell(STANDARD, "a1", "a", (4, 4)))
    question = Question(("camera-is-right", "sensor-is-right"), (cell_mm(STANDARD, cell),), felt)
    assert Players(table).truth_of(question) == answer
