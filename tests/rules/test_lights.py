"""What the LEDs of a grid show at each moment of a game, and that nothing ever flickers."""

import random
from itertools import pairwise

import pytest

from companion.inputs import Declaration, Declared, Setup
from companion.lights import WHITE, Shown, frame, lights, side_colours
from companion.referee import Referee
from companion.terms import Field, Mode, Player
from firmware_protocol.driver import DARK, Rgb

FIELD = Field(columns=3, rows=5, width_mm=148.0, length_mm=368.0)
CELLS = tuple((row, column) for row in range(1, 6) for column in range(1, 4))
RED, BLUE = Rgb(255, 0, 0), Rgb(0, 0, 255)
COLOURS = {Player.A: RED, Player.B: BLUE}
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


def shown(referee: Referee, rulings=(), t_s=0.0, cells=CELLS) -> list[str]:
    """The board as a picture, player B's front row first; a cell without an LED is a blank."""
    at = dict(zip(cells, frame(lights(referee.standing, rulings, cells, COLOURS), cells, t_s), strict=True))
    signs = [
        [SIGNS[at[row, column]] if (row, column) in at else " " for column in (1, 2, 3)] for row in range(5, 0, -1)
    ]
    return ["".join(row) for row in signs]


def played(look, looks: list[str], mode: Mode = Mode.MATCH, said: tuple[Declared, ...] = ()):
    """The referee after these looks and declarations, and the rulings on the last of them."""
    referee = Referee()
    rulings = referee.take(Declaration(Declared.START, Setup(mode, field=FIELD)))
    for words in looks:
        rulings = referee.take(look(words))
    for what in said:
        rulings = referee.take(Declaration(what))
    return referee, rulings


SHOWN = {
    "A's turn": ([], (), "... ... ... ... aaa", "... ... ... ... aaa"),
    "B's turn, whatever lies there": (["a:5,2 flew"], (), "bbb ... ... ... ...", "bbb ... ... ... ..."),
    "a disk to take off blinks, beside the turn": (
        ["a:1,2 flew"],
        (),
        "bbb ... ... ... .W.",
        "bbb ... ... ... ...",
    ),
    "a disk to lay flat is advised, steadily": (["a:3,1/ flew"], (), "bbb ... w.. ... ...", "bbb ... w.. ... ..."),
    "a disk in no hole is shown by the nearest": (["a@74,20 flew"], (), "bbb ... ... ... .W.", "bbb ... ... ... ..."),
    "a disk between two holes is shown by both": (
        ["a@53,142 flew"],
        (Declared.ILLEGAL_FLICK,),
        "bbb ... ... WW. ...",
        "bbb ... ... ... ...",
    ),
    "one between four holes by all four": (
        ["a@53,163 flew"],
        (Declared.ILLEGAL_FLICK,),
        "bbb ... WW. WW. ...",
        "bbb ... ... ... ...",
    ),
    "a question: the edge by turns, and the disk it is about": (
        ["a@74,70.2~0.3 flew"],
        (),
        "w-w -.- w.w -.- wWw",
        "w-w -.- w.w -.- w.w",
    ),
    "A wins": (["a:5,2 flew"], (Declared.END_GAME,), "... ... ... AAA AAA", "... ... ... AAA AAA"),
    "B wins": (["a:3,2 flew", "a:3,2 b:1,1 flew"], (Declared.END_GAME,), "BBB BBB ... ... ...", "BBB BBB ... ... ..."),
    "a tie": ([], (Declared.END_GAME,), "BBB ... ... ... AAA", "BBB ... ... ... AAA"),
}


@pytest.mark.parametrize(("looks", "said", "at_first", "half_a_second_later"), SHOWN.values(), ids=SHOWN)
def test_each_moment_of_a_game_has_its_own_picture(look, looks, said, at_first, half_a_second_later):
    referee, rulings = played(look, looks, said=said)
    assert shown(referee, rulings, 0.0) == at_first.split()
    assert shown(referee, rulings, 0.5) == half_a_second_later.split()


def test_before_a_match_the_corners_say_that_the_grid_is_there():
    assert shown(Referee()) == ["o.o", "...", "...", "...", "o.o"]


def test_a_win_of_the_match_counts_for_more_than_the_game():
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup(Mode.BASIC, field=FIELD)))
    rulings = referee.take(Declaration(Declared.END_GAME))
    assert shown(referee, rulings) == ["BBB", "...", "...", "...", "AAA"]


@pytest.mark.parametrize(
    ("missing", "picture"),
    [
        pytest.param({(2, 1)}, "bbb ... ...  W. ...", id="the other hole beside it"),
        pytest.param({(2, 1), (2, 2)}, "bbb ... WW.   . WW.", id="the nearest holes that have an LED"),
        pytest.param({(5, 1), (5, 3)}, " b  ... ... WW. ...", id="what is left of the front row"),
    ],
)
def test_what_a_cell_without_an_led_should_show_the_nearest_shows(look, missing, picture):
    referee, rulings = played(look, ["a@53,142 flew"], said=(Declared.ILLEGAL_FLICK,))
    cells = tuple(cell for cell in CELLS if cell not in missing)
    rows = [picture[at : at + 3] for at in range(0, len(picture), 4)]
    assert shown(referee, rulings, cells=cells) == rows


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param((66, 66, 210), (58, 50, 50), (Rgb(255, 20, 20), Rgb(184, 184, 255)), id="red and black"),
        pytest.param((240, 240, 240), (30, 30, 30), (WHITE, Rgb(0, 60, 255)), id="white and black: one is blue"),
        pytest.param((40, 30, 90), (40, 40, 200), (Rgb(0, 60, 255), Rgb(255, 7, 7)), id="dark red and red"),
        pytest.param((90, 20, 10), (200, 60, 20), (Rgb(0, 60, 255), WHITE), id="dark blue and blue"),
        pytest.param((0, 0, 0), (0, 0, 255), (WHITE, Rgb(255, 0, 0)), id="black is shown white"),
    ],
)
def test_the_two_sides_never_look_alike(a, b, expected):
    assert side_colours((("a", a), ("b", b))) == dict(zip(Player, expected, strict=True))


def changes_within_a_second(times_s: list[float]) -> int:
    return max((sum(at <= other <= at + 1.0 for other in times_s) for at in times_s), default=0)


@pytest.mark.parametrize("tick_s", [0.01, 0.067, 0.25])
@pytest.mark.parametrize("seed", range(3))
def test_no_led_changes_more_than_three_times_a_second_whatever_happens(look, seed, tick_s):
    """Two minutes in which rulings of every kind come at any moment, several a second at times."""
    chance = random.Random(seed)
    moments = [
        lights(referee.standing, rulings, CELLS, COLOURS)
        for referee, rulings in (played(look, looks, said=said) for looks, said, _, _ in SHOWN.values())
    ]
    now, on = moments[0], Shown()
    changed_s: list[list[float]] = [[] for _ in CELLS]
    t_s = 0.0
    while t_s < 120.0:
        t_s += tick_s
        if chance.random() < chance.choice((0.0, 0.01, 0.5)):
            now = chance.choice(moments)
        before = on.colours
        on = on.after(frame(now, CELLS, t_s), t_s)
        for index, (old, new) in enumerate(zip(before, on.colours, strict=False)):
            if old != new:
                changed_s[index].append(t_s)
    assert all(changed_s), f"seed {seed}: an LED never changed"
    assert max(map(changes_within_a_second, changed_s)) == 3


@pytest.mark.parametrize("moment", SHOWN)
def test_left_alone_an_led_changes_at_most_twice_a_second(look, moment):
    looks, said, _, _ = SHOWN[moment]
    referee, rulings = played(look, looks, said=said)
    picture = lights(referee.standing, rulings, CELLS, COLOURS)
    frames = [frame(picture, CELLS, n / 50) for n in range(500)]
    for colours in zip(*frames, strict=True):
        assert sum(old != new for old, new in pairwise(colours)) <= 20
