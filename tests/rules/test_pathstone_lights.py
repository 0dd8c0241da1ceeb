"""What the LEDs of a grid show at each moment of a game of Pathstone."""

import pytest

from companion.games.pathstone import look_from_tops, read_move, square_from_name
from companion.games.pathstone.series import Begin, Played, Said, Saying, Seen, take
from companion.lights import WHITE, frame
from companion.pathstone_lights import pathstone_lights
from companion.terms import Player
from firmware_protocol.driver import DARK, Rgb

CELLS = tuple((row, column) for row in range(1, 4) for column in range(1, 4))
COLOURS = {Player.A: Rgb(255, 0, 0), Player.B: Rgb(0, 0, 255)}
SIGNS = {
    DARK: ".",
    Rgb(31, 0, 0): "a",
    Rgb(102, 0, 0): "A",
    Rgb(0, 0, 31): "b",
    Rgb(0, 0, 102): "B",
    WHITE: "W",
    Rgb(102, 102, 102): "w",
    Rgb(31, 31, 31): "o",
    Rgb(12, 12, 12): "-",
}
"""Small letters are dim, capitals brighter; W is full white, w half, o dim, - dimmed half."""
BEGIN = Begin(("Ada", "Ben"), 3)
WON = "a1 c3 c2 b1 b2 b3 a2"
FLATS = '[Size "3"]\n[TPS "2,1,2/1,12S,1/2,1,x 1 20"]'
TALL = '[Size "3"]\n[TPS "x3/x3/111,x2 1 9"]'
OUT_OF_TURN = Seen(look_from_tops(("bb.", "...", "..w")))
TWO_DROP_ORDERS = Seen(look_from_tops((".ww", "...", "...")))


def moves(text: str) -> list[Played]:
    return [Played(read_move(word)) for word in text.split()]


def shown(inputs, t_s=0.0, tapped=None, differing=(), cells=CELLS) -> str:
    """The board as a picture, rank 3 first, after these inputs."""
    series, rulings = None, ()
    for given in inputs:
        series, told = take(series, given)
        rulings = told or rulings
    cell = None if tapped is None else square_from_name(tapped)
    lights = pathstone_lights(series, rulings, cells, COLOURS, tapped=cell, differing=differing)
    at = dict(zip(cells, frame(lights, cells, t_s), strict=True))
    return " ".join("".join(SIGNS[at.get((row, column), DARK)] for column in (1, 2, 3)) for row in (3, 2, 1))


@pytest.mark.parametrize(
    ("inputs", "tapped", "picture", "half_a_second_later"),
    [
        ([], None, "o.o ... o.o", "o.o ... o.o"),
        ([BEGIN], None, "... ... aaa", "... ... aaa"),
        ([BEGIN, *moves("a1")], None, "bbb ... A..", "bbb ... A.."),
        ([BEGIN, *moves("a1 c3 b2 b3")], None, ".B. ... aaa", ".B. ... aaa"),
        ([BEGIN, *moves("a1 c3 b2 b3 b2+")], None, "bAb .A. ...", "bAb .A. ..."),
        ([BEGIN, *moves("a1 c3 b2 b3")], "b2", ".w. wWw awa", ".w. wWw awa"),
        ([BEGIN, *moves("a1 c3 b2 b3")], "b3", ".B. ... aaa", ".B. ... aaa"),  # not hers
        ([BEGIN, *moves("a1 c3 b2 b3")], "b1", ".B. ... aaa", ".B. ... aaa"),  # empty
        ([BEGIN, *moves(WON)], None, "... AAA ...", "... AAA ..."),
        ([BEGIN, *moves(WON)], "b3", "... AAA ...", "... AAA ..."),
        ([BEGIN, Saying(Said.DRAW)], None, "BBB ... AAA", "BBB ... AAA"),
        ([BEGIN, Saying(Said.RESIGN, Player.A)], None, "BBB ... ...", "BBB ... ..."),
        ([Begin(("Ada", "Ben"), ptn=FLATS), *moves("c1")], None, ".A. A.A .AA", ".A. A.A .AA"),
        ([BEGIN, *moves("a1 c3"), OUT_OF_TURN], None, "..B ... aWa", "..B ... a.a"),
        ([Begin(("Ada", "Ben"), ptn=TALL), TWO_DROP_ORDERS], None, "w-w -.- wWW", "w-w -.- w.."),
        ([Begin(("Ada", "Ben"), ptn=TALL), TWO_DROP_ORDERS], "c3", "w-w -.- wWW", "w-w -.- w.."),
    ],
)
def test_each_moment_has_its_picture(inputs, tapped, picture, half_a_second_later):
    assert (shown(inputs, 0.0, tapped), shown(inputs, 0.5, tapped)) == (picture, half_a_second_later)


def test_a_question_runs_round_the_edge():
    inputs = [Begin(("Ada", "Ben"), ptn=TALL), TWO_DROP_ORDERS]
    assert [shown(inputs, t_s) for t_s in (0.5, 1.5, 2.5)] == ["w-w -.- w..", "-w- w.w -..", "w-w -.- w.."]


def test_where_something_lacks_blinks_and_a_cell_without_an_led_shows_nothing():
    inputs = [BEGIN, *moves("a1 c3")]
    assert shown(inputs, 0.0, differing=((3, 3),)) == "..W ... aaa"
    assert shown(inputs, 0.5, differing=((3, 3),)) == "... ... aaa"
    assert shown(inputs, 0.0, cells=CELLS[1:]) == "..B ... .aa"
