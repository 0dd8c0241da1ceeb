"""The LEDs of MageStone: whose go, the reach and the targets of a tapped unit, orders, questions, the Rite."""

from dataclasses import replace

import pytest

from companion.games.magestone import (
    BASES,
    NEXUS,
    Do,
    Ending,
    Order,
    Result,
    Rite,
    Seat,
    Token,
    read_position,
    square_from_name,
    start,
)
from companion.lights import DIM, HALF, WHITE, Light, Rhythm, dimmed, frame
from companion.magestone_lights import SEAT_COLOURS, magestone_lights
from firmware_protocol.driver import DARK, Rgb

CELLS = tuple((row, column) for row in range(1, 17) for column in range(1, 17))
FIELD = read_position("2 Mi5(0+1),Ph0,W1e5/Mh15,Pi15,W1e6,W2i8 h4 h6 8 0:4:2 - -")


def cells(names: str) -> set[tuple[int, int]]:
    """The grid's cells of squares by name."""
    return {(row + 1, column + 1) for row, column in map(square_from_name, names.split())}


def lit(lights: dict, light: Light) -> set[tuple[int, int]]:
    return {cell for cell, shown in lights.items() if shown == light}


def test_without_a_game_the_nexus_is_dim():
    assert magestone_lights(None, CELLS) == dict.fromkeys(cells("h7 i7 h8 i8"), Light(dimmed(WHITE, DIM)))


@pytest.mark.parametrize("seat", Seat)
def test_a_go_shows_the_home_edge_in_the_colour_of_its_player(seat: Seat):
    lights = magestone_lights(replace(start(4), to_move=seat), CELLS)
    edge = {(row + 1, column + 1) for row, column in BASES[seat]}
    assert lights == dict.fromkeys(edge, Light(dimmed(SEAT_COLOURS[seat], DIM)))


def test_a_tapped_warrior_shows_its_reach_and_whom_it_can_attack():
    lights = magestone_lights(FIELD, CELLS, tapped=square_from_name("e5"))
    assert lit(lights, Light(WHITE)) == cells("e5")
    assert lit(lights, Light(SEAT_COLOURS[Seat.BOTTOM], Rhythm.BLINK)) == cells("e6")
    reached = lit(lights, Light(dimmed(WHITE, HALF)))
    assert cells("e1 a5 g7 h6") <= reached
    assert not reached & cells("e6 e5 i5 j5")


def test_a_tapped_mage_shows_whom_a_bolt_can_reach():
    lights = magestone_lights(FIELD, CELLS, tapped=square_from_name("i5"))
    assert lit(lights, Light(SEAT_COLOURS[Seat.BOTTOM], Rhythm.BLINK)) == cells("i8")


@pytest.mark.parametrize("name", ["e6", "a5", "h4"])
def test_only_units_of_who_has_the_go_are_shown(name: str):
    assert magestone_lights(FIELD, CELLS, tapped=square_from_name(name)) == magestone_lights(FIELD, CELLS)


def test_a_rite_makes_the_nexus_glow():
    lights = magestone_lights(replace(FIELD, rite=Rite(Seat.BOTTOM, 1)), CELLS)
    assert lit(lights, Light(dimmed(SEAT_COLOURS[Seat.BOTTOM], HALF))) == cells("h7 i7 h8 i8")


def test_orders_and_squares_to_restore_blink_and_stones_turned_in_the_hand_do_not():
    orders = [Order(Do.LAY, Token.GRAVESTONE, (9, 9)), Order(Do.TURN, Token.ACTIVATED, (3, 3))]
    lights = magestone_lights(FIELD, CELLS, orders=orders, wrong=[(4, 8)])
    assert lit(lights, Light(WHITE, Rhythm.BLINK)) == cells("j9 i4")


def test_a_question_runs_round_the_edge_and_blinks_where_it_is_about():
    lights = magestone_lights(FIELD, CELLS, asked=[(7, 7)])
    assert lit(lights, Light(WHITE, Rhythm.BLINK)) == cells("h7")
    assert len(lit(lights, Light(dimmed(WHITE, HALF), Rhythm.EVEN))) == 30
    assert len(lit(lights, Light(dimmed(WHITE, HALF), Rhythm.ODD))) == 30


ENDS = [
    (Result(Ending.CONQUEST, Seat.BOTTOM), {*BASES[Seat.BOTTOM], *NEXUS}),
    (Result(Ending.STALEMATE), {*BASES[Seat.TOP], *BASES[Seat.BOTTOM]}),
]


@pytest.mark.parametrize(("result", "squares"), ENDS)
def test_the_end_shows_who_won(result: Result, squares: set):
    lights = magestone_lights(replace(FIELD, result=result), CELLS)
    assert set(lights) == {(row + 1, column + 1) for row, column in squares}


def test_squares_without_an_led_are_left_out_and_each_index_has_its_colour():
    some = tuple(cell for cell in CELLS if cell[1] != 5)
    colours = frame(magestone_lights(start(2), some), some, 0.0)
    assert len(colours) == len(some)
    assert [cell for cell, colour in zip(some, colours, strict=True) if colour != DARK] == [
        (1, column) for column in range(6, 13)
    ]
    assert {*colours} == {DARK, Rgb(31, 4, 0)}
