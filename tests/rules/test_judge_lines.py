"""`companion judge pathways` as a command: answers line by line, states that can be set up again, and bad input."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from companion.cli import main
from companion.judge import PathwaysJudge


def run(text: str | bytes):
    return CliRunner().invoke(main, ["judge", "pathways"], input=text, catch_exceptions=False)


FIVE_LINES = [
    {"setup": {"mode": "match", "threshold": 11, "points": [9, 10], "starter": "a"}},
    {"game": {"far": [4, 2]}},
    {"game": {"far": [1, 2], "near": [2, 2]}},
    {
        "shot": {
            "player": "a",
            "disks": [{"colour": "a", "x_mm": 32, "y_mm": 100, "cell": [1, 1], "lying": "in_cell"}],
            "left_board": 0,
        }
    },
    {"declare": "illegal-flick"},
]


def test_one_answer_a_line_with_the_promised_keys():
    ran = run("".join(json.dumps(line) + "\n\n" for line in FIVE_LINES))
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (ran.exit_code, ran.stderr, len(answers)) == (0, "", 5)
    for answer in answers:
        assert answer["ruling"] in ("accepted", "refused", "undecided")
        assert answer["rule"]
        assert answer["why"]
        assert isinstance(answer["orders"], list)
        assert isinstance(answer["state"], dict)
    assert {key: answers[1][key] for key in ("points", "match", "winner", "next_starter", "sudden_death")} == {
        "points": [2, 0],
        "match": [11, 10],
        "winner": "a",
        "next_starter": "a",
        "sudden_death": False,
    }
    assert "own-front-row" in {order["why"] for order in answers[3]["orders"]}
    assert {order["why"] for order in answers[4]["orders"]} == {"illegal-flick"}


ONWARDS = {
    "at the start": [{"setup": {}}],
    "a match under way": [{"setup": {"mode": "match", "points": [3, 4]}}, {"game": {"far": [2, 2]}}],
    "sudden death": [{"setup": {"mode": "match", "points": [10, 10]}}, {"game": {"far": [2, 2]}}],
    "a match won": FIVE_LINES[:2],
    "an order open": [
        {"setup": {"starter": "b"}},
        {"shot": {"player": "b", "disks": [{"colour": "b", "cell": [8, 1]}]}},
    ],
    "a line too close": [
        {"setup": {}},
        {"shot": {"player": "a", "disks": [{"colour": "a", "x_mm": 50, "y_mm": 70, "sigma_mm": 0.3}]}},
    ],
    "a disk out of count": [
        {"setup": {}},
        {"shot": {"player": "a", "disks": [{"colour": "a", "cell": [1, 1]}]}},
        {"shot": {"player": "b", "disks": [{"colour": "a", "cell": [1, 1]}]}},
    ],
    "another board": [{"setup": {"board": {"columns": 5, "rows": 4, "length_mm": 326, "width_mm": 232}}}],
    "ended": [
        {"setup": {}},
        {"shot": {"player": "a", "disks": [{"colour": "a", "cell": [8, 1]}]}},
        {"declare": "end-game"},
    ],
}


@pytest.mark.parametrize("lines", ONWARDS.values(), ids=ONWARDS)
def test_a_state_is_a_set_up_that_goes_on_alike(lines):
    judge, again = PathwaysJudge(), PathwaysJudge()
    for line in lines:
        answer = judge.answer(json.dumps(line))
    assert answer["ruling"] != "refused" or answer["why"] == "order not carried out"
    set_up = again.answer(json.dumps({"setup": answer["state"]}))
    assert (set_up["ruling"], set_up["state"]) == ("accepted", answer["state"])
    for line in ({"shot": {"player": answer["state"]["to_flick"], "disks": []}}, {"declare": "end-game"}):
        assert again.answer(json.dumps(line)) == judge.answer(json.dumps(line))


def test_who_is_told_to_flick_first_starts_where_nobody_said():
    judge = PathwaysJudge()
    judge.answer('{"setup": {}}')
    answer = judge.answer('{"shot": {"player": "b", "disks": [{"colour": "b", "cell": [5, 1]}]}}')
    assert (answer["ruling"], answer["state"]["starter"], answer["state"]["to_flick"]) == ("accepted", "b", "a")


def test_looks_and_corrections_are_judged_too():
    judge = PathwaysJudge()
    judge.answer('{"setup": {"starter": "a"}}')
    asked = judge.answer('{"look": {"disks": [{"colour": "b", "cell": [5, 1]}], "hand": true}}')
    assert (asked["ruling"], asked["candidates"]) == ("undecided", ["flick-lost", "out-of-turn"])
    fixed = judge.answer(
        '{"correct": {"was": {"colour": "b", "cell": [5, 1]}, "now": {"colour": "a", "cell": [5, 1]}}}'
    )
    assert (fixed["ruling"], fixed["n"]) == ("accepted", 1)
    nothing = judge.answer('{"look": {"disks": [{"colour": "a", "cell": [5, 1]}], "hand": true}}')
    assert (nothing["ruling"], nothing["events"]) == ("accepted", [])


IMPOSSIBLE_SETUPS = {
    "no object": [],
    "an unknown key": {"mood": "match"},
    "an unknown mode": {"mode": "chess"},
    "a threshold of nothing": {"mode": "match", "threshold": 0},
    "a threshold in words": {"mode": "match", "threshold": "11"},
    "points below zero": {"mode": "match", "points": [-1, 0]},
    "half points": {"mode": "match", "points": [0.5, 0]},
    "points of one": {"mode": "match", "points": [3]},
    "a match that is over": {"mode": "match", "points": [11, 3]},
    "an unknown starter": {"starter": "c"},
    "ages that say nothing": {"ages": [30, 30]},
    "ended in words": {"ended": "yes"},
    "true for a number": {"threshold": True},
    "13 disks flicked": {"used": [13, 0]},
    "more disks on the board than flicked": {"used": [0, 0], "disks": [{"colour": "a", "cell": [4, 4]}]},
    "a player to flick with no disks left": {"used": [12, 3], "to_flick": "a"},
    "a hole that is not there": {"disks": [{"colour": "a", "cell": [9, 1]}]},
    "a disk without a place": {"disks": [{"colour": "a"}]},
    "a disk of no colour": {"disks": [{"colour": "red", "cell": [4, 4]}]},
    "a disk that lies oddly": {"disks": [{"colour": "a", "cell": [4, 4], "lying": "upright"}]},
    "a place beyond numbers": {"disks": [{"colour": "a", "x_mm": 1e300, "y_mm": 3}]},
    "an uncertainty below zero": {"disks": [{"colour": "a", "x_mm": 50, "y_mm": 300, "sigma_mm": -1}]},
    "a board with an unknown key": {"board": {"row": 8}},
    "a board of three rows": {"board": {"rows": 3}},
    "a disk wider than its hole": {"board": {"disk_diameter_mm": 33}},
    "a board of half a column": {"board": {"columns": 6.5}},
}

REFUSED_LINES = {
    "no object": [1],
    "two keys": {"game": {"far": [1, 1]}, "declare": "end-game"},
    "an unknown key": {"flick": {}},
    "a game without counts": {"game": {}},
    "eight in a row of seven": {"game": {"far": [8, 0]}},
    "thirteen disks": {"game": {"far": [7, 0], "near": [6, 0]}},
    "a count below zero": {"game": {"far": [-1, 0]}},
    "a shot by nobody": {"shot": {"disks": []}},
    "a shot without disks": {"shot": {"player": "a"}},
    "a shot that took 25 disks off": {"shot": {"player": "a", "disks": [], "left_board": 25}},
    "an unknown declaration": {"declare": "victory"},
    "a start without a set-up": {"declare": "start"},
    "an answer without a question": {"declare": "flick"},
    "a correction of nothing": {"correct": {}},
    "hidden is no list": {"look": {"disks": [], "hidden": 3}},
}


@pytest.mark.parametrize("setup", IMPOSSIBLE_SETUPS.values(), ids=IMPOSSIBLE_SETUPS)
def test_a_set_up_that_cannot_be_is_refused(setup):
    judge = PathwaysJudge()
    answer = judge.answer(json.dumps({"setup": setup}))
    assert (answer["ruling"], answer["state"]) == ("refused", None)
    judge.answer(json.dumps({"setup": {"mode": "match"}}))
    again = judge.answer(json.dumps({"setup": setup}))
    assert (again["ruling"], again["state"]["mode"]) == ("refused", "match")


@pytest.mark.parametrize("line", REFUSED_LINES.values(), ids=REFUSED_LINES)
def test_a_line_that_cannot_be_is_refused_and_changes_nothing(line):
    judge = PathwaysJudge()
    before = judge.answer('{"setup": {"mode": "match"}}')
    answer = judge.answer(json.dumps(line))
    assert (answer["ruling"], answer["state"]) == ("refused", before["state"])
    assert answer["why"]


@pytest.mark.parametrize("line", ['{"game": {"far": [1, 0]}}', '{"declare": "end-game"}', '{"shot": {}}', "[]"])
def test_without_a_set_up_every_line_is_refused(line):
    answer = PathwaysJudge().answer(line)
    assert (answer["ruling"], answer["state"]) == ("refused", None)


@pytest.mark.parametrize(
    "bad",
    [b"{", b'{"setup": {}}}', b"setup", b'{"setup": NaN}', b"\xff\xfe", b"[" * 100_000, b'{"setup": {}} {"game": {}}'],
)
def test_what_is_not_json_is_one_line_on_stderr_and_exit_1(bad):
    ran = run(b'{"setup": {}}\n' + bad + b"\n" + b'{"declare": "end-game"}\n')
    assert ran.exit_code == 1
    assert len(ran.stdout.splitlines()) == 1
    assert len(ran.stderr.splitlines()) == 1
    assert "line 2" in ran.stderr
    assert len(ran.stderr) < 300


WORDS = [
    "setup",
    "game",
    "shot",
    "look",
    "declare",
    "correct",
    "player",
    "disks",
    "colour",
    "cell",
    "x_mm",
    "y_mm",
    "far",
]
WORDS += [
    "lying",
    "mode",
    "match",
    "a",
    "b",
    "used",
    "points",
    "what",
    "choice",
    "was",
    "now",
    "board",
    "rows",
    "hidden",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.floats(-10, 500) | st.sampled_from(WORDS) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(WORDS[:6]), VALUES, min_size=1, max_size=1), max_size=6))
def test_whatever_the_line_it_is_answered(lines):
    judge = PathwaysJudge()
    judge.answer('{"setup": {"mode": "match"}}')
    for line in lines:
        assert judge.answer(json.dumps(line))["ruling"] in ("accepted", "refused", "undecided")


def test_an_unknown_game_is_wrong_usage():
    assert CliRunner().invoke(main, ["judge", "chess"]).exit_code == 2
