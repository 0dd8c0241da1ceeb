"""`companion judge magestone` and the texts of MageStone: what is answered, refused, and what cannot be read."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.cli import main
from companion.games.magestone import (
    NotationError,
    Record,
    read_choice,
    read_go,
    read_position,
    read_record,
    replay,
    start,
    write_position,
    write_record,
)
from companion.judge import MagestoneJudge
from companion.judge.magestone_state import state_from_json


def run(*arguments: str, text: str | bytes | None = None):
    return CliRunner().invoke(main, arguments, input=text, catch_exceptions=False)


def told(judging, line):
    return judging.answer(json.dumps(line))


def set_up(**setup):
    judging = MagestoneJudge()
    answer = told(judging, {"setup": setup})
    assert answer["ruling"] == "accepted", answer["why"]
    return judging


MAGE = {"seat": 0, "unit": "M", "cell": [0, 8], "carried": 2, "activated": 3, "moved": False, "acted": False}
DOCUMENTED = {
    "players": 2,
    "to_move": 0,
    "squares_left": 6,
    "units_left": 3,
    "bank": 8,
    "rite": None,
    "graves": [[5, 5]],
    "queue": [],
    "stones": [{"cell": [4, 7], "activated": False}],
    "units": [MAGE, {"seat": 0, "unit": "W1", "cell": [0, 4]}],
}
LINES = [
    ({"do": "move", "unit": "W1", "path": [[1, 4], [2, 4]]}, "accepted", "Taking your turn"),
    ({"do": "attack", "units": ["W1", "W2"], "target": [5, 6], "dice": [[[6, 3], [2]]]}, "refused", "Combat"),
    ({"do": "bolt", "target": [8, 11], "dice": [[[5], [6]]]}, "refused", "Mage sorcery"),
    ({"do": "nova"}, "refused", "Mage sorcery"),
    ({"do": "activate"}, "accepted", "MageStones"),
    ({"do": "rite"}, "refused", "Taking your turn"),
    ({"do": "end"}, "accepted", "Taking your turn"),
]


def test_the_documented_lines_are_answered_one_by_one():
    lines = [{"setup": DOCUMENTED}, *(line for line, _, _ in LINES)]
    ran = run("judge", "magestone", "--json", text="".join(json.dumps(line) + "\n" for line in lines))
    assert ran.exit_code == 0
    first, *answers = map(json.loads, ran.stdout.splitlines())
    assert [(answer["ruling"], answer["rule"]) for answer in answers] == [(ruling, rule) for _, ruling, rule in LINES]
    for answer in (first, *answers):
        assert {"ruling", "rule", "why", "orders", "state"} <= answer.keys()
        assert DOCUMENTED.keys() <= answer["state"].keys()
        assert answer["why"]
    assert answers[4]["state"]["units"][0]["activated"] == 5
    assert answers[-1]["state"]["to_move"] == 1


def test_what_a_set_up_leaves_out_is_as_at_the_start():
    (whole,) = [told(MagestoneJudge(), {"setup": {}})]
    for setup in ({"players": 2}, {"to_move": 0, "bank": 8}, {"position": write_position(start(2))}):
        assert told(MagestoneJudge(), {"setup": setup})["state"] == whole["state"]
    partly = told(MagestoneJudge(), {"setup": {"units": [{"seat": 1, "unit": "M", "cell": [8, 8], "activated": 3}]}})
    assert len(partly["state"]["stones"]) == 8 - 3
    assert [unit["seat"] for unit in partly["state"]["units"]] == [0] * 8 + [1]


def test_a_layout_is_an_option():
    square = told(MagestoneJudge(), {"setup": {"layout": "square", "players": 4}})["state"]
    diamond = told(MagestoneJudge(), {"setup": {"layout": "diamond", "players": 4}})["state"]
    assert len(square["stones"]) == len(diamond["stones"]) == 16
    assert square["stones"] != diamond["stones"]


def test_a_walk_may_be_told_by_its_end():
    judging = set_up()
    answer = told(judging, {"do": "move", "unit": "W1", "to": [2, 5]})
    assert (answer["ruling"], answer["state"]["squares_left"]) == ("accepted", 3)
    assert told(judging, {"do": "move", "unit": "W2", "to": [5, 5]})["ruling"] == "refused"
    assert told(judging, {"do": "move", "unit": "W1", "to": [2, 4]})["why"].startswith("Warrior 1 has moved already")


def test_a_walk_by_its_end_is_asked_about_where_routes_differ_in_what_follows():
    setup = {"graves": [[6, 4]], "units": [{"seat": 0, "unit": "P", "cell": [5, 3]}]}
    answer = told(set_up(**setup), {"do": "move", "unit": "P", "to": [6, 4]})
    assert answer["ruling"] == "undecided"
    assert {"P>e5>e6", "P>d6>e6"} <= set(answer["candidates"])
    assert answer["state"]["units"][0]["cell"] == [5, 3]
    beside = {**setup, "units": [{"seat": 0, "unit": "P", "cell": [5, 4]}], "squares_left": 1}
    answer = told(set_up(**beside), {"do": "move", "unit": "P", "to": [6, 4]})
    assert (answer["ruling"], answer["notation"]) == ("accepted", "P>e6")


def test_a_go_may_be_told_as_text_and_is_played_whole_or_not_at_all():
    judging = set_up()
    answer = told(judging, {"go": "W1>e1 W2>f1 end"})
    assert (answer["ruling"], answer["notation"]) == ("accepted", "W1>e1 W2>f1 end")
    refused = told(judging, {"go": "W1>l14 W2>a0 end"})
    assert (refused["ruling"], refused["state"]) == ("refused", answer["state"])
    assert "not on the board" in refused["why"]


@pytest.mark.parametrize(
    ("path", "named"), [([[-1, 4]], "row -1, column 4"), ([[0, 3]], "d0"), ([[0, 16]], "row 0, column 16")]
)
def test_a_square_off_the_board_is_named(path, named):
    answer = told(set_up(), {"do": "move", "unit": "W1", "path": path})
    assert answer["why"].startswith(f"{named} is not on the board; left of the go: 6 squares, 3 units")


def test_nobody_goes_out_of_turn():
    judging = set_up()
    assert told(judging, {"do": "end", "seat": 1})["why"] == "it is Top's go; left of the go: 6 squares, 3 units"
    assert told(judging, {"do": "end", "seat": 0})["ruling"] == "accepted"
    assert told(judging, {"do": "end", "seat": 0})["ruling"] == "refused"


def test_choices_are_listed_and_each_is_a_line():
    judging = set_up(units=[MAGE, {"seat": 1, "unit": "W1", "cell": [1, 8]}, {"seat": 1, "unit": "M", "cell": [9, 9]}])
    listed = told(judging, {"ask": "choices"})["choices"]
    assert {"do": "bolt", "target": [1, 8]} in listed
    assert {"do": "attack", "units": ["M"], "target": [1, 8]} in listed
    for choice in listed:
        answer = told(judging, {"ask": choice}) if "target" in choice else None
        assert answer is None or answer["ruling"] == "accepted"
        fresh = set_up(**json.loads(json.dumps(told(judging, {"ask": "choices"})["state"])))
        dice = {"dice": [[[1], [2]]]} if "target" in choice else {}
        assert told(fresh, {**choice, **dice})["ruling"] == "accepted"


def test_missing_dice_are_asked_for_by_the_die_that_the_rules_call_for():
    judging = set_up(
        units=[{**MAGE, "carried": 0}, {"seat": 1, "unit": "M", "cell": [1, 8], "activated": 4}], stones=[]
    )
    answer = told(judging, {"do": "attack", "units": ["M"], "target": [1, 8]})
    assert (answer["ruling"], answer["dice"]) == ("refused", {"attacker": [12], "defender": [20]})
    tied = told(judging, {"do": "attack", "units": ["M"], "target": [1, 8], "dice": [[[7], [7]]]})
    assert (tied["ruling"], tied["dice"]) == ("refused", answer["dice"])
    assert "rolled again" in tied["why"]


def test_orders_say_what_to_do_on_the_table():
    units = [
        {"seat": 0, "unit": "W1", "cell": [9, 8]},
        {"seat": 0, "unit": "M", "cell": [0, 8]},
        {"seat": 1, "unit": "M", "cell": [9, 9], "carried": 1, "activated": 2},
    ]
    judging = set_up(units=units, stones=[])
    answer = told(judging, {"do": "attack", "units": ["W1"], "target": [9, 9], "dice": [[[6], [1]]]})
    assert answer["orders"] == [
        {"do": "take", "token": "unit", "cell": [9, 9], "seat": 1, "unit": "M"},
        {"do": "lay", "token": "unit", "cell": [15, 7], "seat": 1, "unit": "M"},
        {"do": "lay", "token": "unactivated", "cell": [9, 9], "seat": None, "unit": None},
        {"do": "lay", "token": "activated", "cell": [9, 9], "seat": None, "unit": None},
    ]
    assert "Bottom's Mage falls on j9; Bottom's Mage is back on h15" in answer["why"]


def test_activating_turns_what_is_in_the_hand():
    answer = told(set_up(units=[MAGE]), {"do": "activate"})
    turn = {"do": "turn", "token": "activated", "cell": [0, 8], "seat": 0, "unit": None}
    assert answer["orders"] == [turn] * 2


def test_who_falls_at_home_is_back_at_once_on_the_same_square():
    units = [{"seat": 0, "unit": "W1", "cell": [14, 7]}, {"seat": 1, "unit": "M", "cell": [15, 7]}]
    judging = set_up(units=units, stones=[])
    answer = told(judging, {"do": "attack", "units": ["W1"], "target": [15, 7], "dice": [[[6], [1]]]})
    assert "Bottom's Mage falls on h15; Bottom's Mage is back on h15" in answer["why"]
    assert answer["orders"] == []


TOLD = {
    "who waits": (
        "0P 8,8; 0W1 9,9; 1W1 0,4; 1W2 8,9",
        "end W2xi8(6/1)",
        ["Top's Priest falls on i8", "Top's Priest waits to respawn"],
    ),
    "who is back": (
        "0P 8,8; 0W1 9,9; 1W1 0,4; 1W2 8,9",
        "end W2xi8(6/1) W1>e1",
        ["Top's Priest waits to respawn", "Top's Priest is back on h0"],
    ),
    "a broken Rite": ("0P 7,7; 1W1 8,9", "rite end W1>i8", ["Top's Rite is broken"]),
    "a kept Rite": ("0P 7,7; 1W1 8,9", "rite end W1>j9", []),
    "who is out": ("0W1 5,5; 1W1 5,6", "W1xg5(6/1)", ["Bottom is eliminated", "Top wins (conquest)"]),
    "a raised Warrior": ("0P 5,4; 0W1 9,9; 1W1 8,9", "P>e6", ["raises a Warrior there and steps back to e5"]),
}


@pytest.mark.parametrize(("units", "go", "parts"), TOLD.values(), ids=TOLD)
def test_what_comes_of_a_choice_is_told(units, go, parts):
    placed = [
        {"seat": int(name[0]), "unit": name[1:], "cell": [int(part) for part in cell.split(",")]}
        for name, cell in (word.split() for word in units.split("; "))
    ]
    answer = told(set_up(units=placed, graves=[[6, 4]]), {"go": go})
    assert answer["ruling"] == "accepted"
    assert all(part in answer["why"] for part in parts)
    assert ("broken" in answer["why"]) == ("Top's Rite is broken" in parts)


def test_a_finished_game_takes_nothing_more():
    judging = set_up(units=[{"seat": 0, "unit": "M", "cell": [1, 8], "activated": 6}])
    won = told(judging, {"do": "move", "unit": "M", "to": [0, 8]})
    assert (won["result"], won["winner"], won["state"]["result"]) == ("magestone", 0, "magestone")
    after = told(judging, {"do": "end"})
    assert (after["ruling"], after["state"]) == ("refused", won["state"])
    assert told(judging, {"ask": "choices"})["choices"] == []
    assert told(MagestoneJudge(), {"setup": won["state"]})["state"] == won["state"]


def test_the_eliminated_are_passed_over():
    setup = {"players": 4, "out": [1, {"seat": 2, "activated": 2}]}
    judging = set_up(**setup)
    assert told(judging, {"do": "end"})["state"]["to_move"] == 3
    again = told(judging, {"do": "end"})["state"]
    assert (again["to_move"], again["out"]) == (
        0,
        [{"seat": 1, "carried": 0, "activated": 0}, {"seat": 2, "carried": 0, "activated": 2}],
    )
    assert len(again["stones"]) == 14


W = {"seat": 0, "unit": "W1", "cell": [5, 5]}
IMPOSSIBLE_SETUPS = {
    "no object": [],
    "an unknown key": {"board": 16},
    "three players": {"players": 3},
    "players in words": {"players": "two"},
    "true players": {"players": True},
    "a seat that does not play": {"to_move": 2},
    "seven squares": {"squares_left": 7},
    "minus one square": {"squares_left": -1},
    "four units": {"units_left": 4},
    "half a unit": {"units_left": 1.5},
    "more units left than can be": {"units_left": 3, "units": [{**W, "moved": True}]},
    "a unit of the other seat has moved": {"units": [{"seat": 1, "unit": "W1", "cell": [5, 5], "moved": True}]},
    "too large a bank": {"bank": 9},
    "no list of units": {"units": {}},
    "no unit": {"units": ["W1"]},
    "a seventh Warrior": {"units": [{**W, "unit": "W7"}]},
    "a unit of nobody": {"units": [{"unit": "W1", "cell": [5, 5]}]},
    "a unit nowhere": {"units": [{"seat": 0, "unit": "W1"}]},
    "a unit in a cut corner": {"units": [{**W, "cell": [0, 3]}]},
    "a unit off the board": {"units": [{**W, "cell": [16, 5]}]},
    "half a cell": {"units": [{**W, "cell": [5]}]},
    "one unit twice": {"units": [W, {**W, "cell": [6, 6]}]},
    "two units on one square": {"units": [W, {**W, "unit": "W2"}]},
    "two players' units on one square": {"units": [W, {**W, "seat": 1}]},
    "a unit on another's start": {"units": [{**W, "cell": [15, 4]}]},
    "a Warrior with stones": {"units": [{**W, "carried": 1}]},
    "moved in words": {"units": [{**W, "moved": "yes"}]},
    "nine stones": {"stones": [{"cell": [5, 5]}] * 9},
    "seven stones and two in a hand": {
        "stones": [{"cell": [5, 5]}] * 7,
        "units": [{**MAGE, "carried": 0, "activated": 2}],
    },
    "a stone in a cut corner": {"stones": [{"cell": [0, 0]}]},
    "a stone of a third kind": {"stones": [{"cell": [5, 5], "activated": 2}]},
    "a gravestone on the Nexus": {"graves": [[7, 7]]},
    "two gravestones on one square": {"graves": [[5, 5], [5, 5]]},
    "a queue behind a clear base": {"units": [W], "queue": [{"seat": 0, "unit": "M"}]},
    "a Warrior in the queue": {"units": [W, {"seat": 1, "unit": "W1", "cell": [0, 4]}], "queue": [[0, "W2"]]},
    "in the queue and on the board": {"units": [MAGE, {"seat": 1, "unit": "W1", "cell": [0, 4]}], "queue": [[0, "M"]]},
    "nobody but in the queue": {"units": [{"seat": 1, "unit": "W1", "cell": [0, 4]}], "queue": [[0, "M"]]},
    "the queue as a word": {"queue": ["M"]},
    "out and on the board": {"units": [W], "out": [0]},
    "out and in the queue": {"out": [0], "queue": [[0, "M"]], "units": [{**W, "seat": 1, "cell": [0, 4]}]},
    "in the queue with what it carried": {
        "units": [W, {"seat": 1, "unit": "W1", "cell": [0, 4]}],
        "queue": [{"seat": 0, "unit": "M", "carried": 1}],
    },
    "everyone out": {"out": [0, 1]},
    "a Rite without its Priest": {"rite": {"seat": 0}},
    "a Rite of three rounds": {
        "units": [{"seat": 0, "unit": "P", "cell": [7, 7]}],
        "rite": {"seat": 0, "returns_left": 3},
    },
    "a Rite with an enemy": {
        "units": [{"seat": 0, "unit": "P", "cell": [7, 7]}, {"seat": 1, "unit": "P", "cell": [8, 8]}],
        "rite": {"seat": 0},
    },
    "an unknown layout": {"layout": "heap"},
    "a result that is not there": {"result": "conquest", "winner": 0},
    "a winner that is not there": {"winner": 0},
    "the go of one who is out": {"players": 4, "out": [1], "to_move": 1},
    "out twice": {"players": 4, "out": [1, 1]},
    "a position and more": {"position": write_position(start(2)), "bank": 8},
    "no position": {"position": "the start"},
}


@pytest.mark.parametrize("setup", IMPOSSIBLE_SETUPS.values(), ids=IMPOSSIBLE_SETUPS)
def test_a_set_up_that_cannot_be_is_refused_and_changes_nothing(setup):
    judging = set_up()
    before = told(judging, {"go": "W1>e1"})["state"]
    answer = told(judging, {"setup": setup})
    assert (answer["ruling"], answer["rule"], answer["state"]) == ("refused", "Setup", before)
    assert answer["why"]


IMPOSSIBLE_LINES = {
    "nothing": {},
    "a list": [],
    "a number": 1,
    "an unknown key": {"play": "end"},
    "an unknown choice": {"do": "fly"},
    "no choice": {"do": None},
    "a key too many": {"do": "end", "dice": []},
    "a walk of nobody": {"do": "move", "path": [[1, 4]]},
    "a walk to nowhere": {"do": "move", "unit": "W1", "path": []},
    "a walk without a path": {"do": "move", "unit": "W1"},
    "a path and an end": {"do": "move", "unit": "W1", "path": [[1, 4]], "to": [1, 4]},
    "half a square": {"do": "move", "unit": "W1", "path": [[1.5, 4]]},
    "a path in words": {"do": "move", "unit": "W1", "path": "e1"},
    "an end off the board": {"do": "move", "unit": "W1", "to": [0, 0]},
    "an attack without units": {"do": "attack", "units": [], "target": [5, 6]},
    "an attack without a target": {"do": "attack", "units": ["W1"]},
    "dice in words": {"do": "attack", "units": ["W1"], "target": [5, 6], "dice": "6 against 1"},
    "dice of one side": {"do": "attack", "units": ["W1"], "target": [5, 6], "dice": [[[6]]]},
    "a die of nought": {"do": "attack", "units": ["W1"], "target": [5, 6], "dice": [[[0], [1]]]},
    "the Priest's Nova": {"do": "nova", "unit": "P"},
    "out of turn": {"do": "end", "seat": 1},
    "a seat that does not play": {"do": "end", "seat": 2},
    "a go of a number": {"go": 3},
    "an empty go": {"go": " "},
    "a go that is none": {"go": "W1-e1"},
    "a question that is none": {"ask": "why"},
    "the odds of a walk": {"ask": {"do": "move", "unit": "W1", "path": [[1, 4]]}},
    "the odds of no fight": {"ask": {"do": "attack", "units": ["W1"], "target": [1, 4]}},
}


@pytest.mark.parametrize("line", IMPOSSIBLE_LINES.values(), ids=IMPOSSIBLE_LINES)
def test_a_line_that_cannot_be_is_refused_and_changes_nothing(line):
    judging = set_up()
    before = told(judging, {"go": "W2>f1"})["state"]
    answer = told(judging, line)
    assert (answer["ruling"], answer["state"]) == ("refused", before)
    assert answer["why"]
    assert told(MagestoneJudge(), line)["ruling"] == "refused"


FIGHT = [
    {"seat": 0, "unit": "W1", "cell": [5, 5]},
    {"seat": 0, "unit": "W2", "cell": [4, 6]},
    {"seat": 0, "unit": "M", "cell": [0, 8]},
    {"seat": 1, "unit": "W1", "cell": [5, 6]},
    {"seat": 1, "unit": "M", "cell": [15, 7]},
]
BAD_DICE = {
    "none": None,
    "an empty list": [],
    "one die for two Warriors": [[[6], [1]]],
    "three dice for two Warriors": [[[6, 5, 4], [1]]],
    "two dice for a defender": [[[6, 5], [1, 1]]],
    "no die for a defender": [[[6, 5], []]],
    "nought": [[[0, 6], [1]]],
    "a defender's nought": [[[6, 6], [0]]],
    "a 7 on a d6": [[[7, 1], [1]]],
    "a defender's 7": [[[1, 1], [7]]],
    "a tie alone": [[[1, 1], [2]]],
    "ties alone": [[[1, 1], [2]], [[2, 2], [4]]],
    "a bad roll after a tie": [[[1, 1], [2]], [[9, 2], [4]]],
    "a bad spare roll": [[[6, 5], [2]], [[9, 2], [4]]],
}


@pytest.mark.parametrize("dice", BAD_DICE.values(), ids=BAD_DICE)
def test_too_few_or_impossible_dice_are_refused(dice):
    judging = set_up(units=FIGHT)
    before = told(judging, {"ask": "choices"})["state"]
    line = {"do": "attack", "units": ["W1", "W2"], "target": [5, 6], "dice": dice}
    answer = told(judging, line)
    assert (answer["ruling"], answer["rule"], answer["state"]) == ("refused", "Combat", before)
    assert answer["dice"] == {"attacker": [6, 6], "defender": [6]}
    assert told(judging, {**line, "dice": [[[1, 1], [2]], [[6, 5], [4]], [[1, 1], [6]]]})["notation"] == (
        "W1+W2xg5(1+1/2)(6+5/4)"
    )


def test_a_bolt_that_nobody_can_block_needs_no_dice_and_records_none():
    judging = set_up(units=[{**MAGE, "cell": [5, 5]}, *FIGHT[3:]])
    answer = told(judging, {"do": "bolt", "target": [5, 6], "dice": [[[5], [6]]]})
    assert (answer["ruling"], answer["notation"]) == ("accepted", "bolt@g5")
    assert "falls on g5" in answer["why"]


def test_what_is_not_json_ends_with_one_line_and_exit_code_1():
    ran = run("judge", "magestone", text='{"setup": {}}\nend\n')
    assert ran.exit_code == 1
    assert ran.stderr.count("\n") == 1
    assert "line 2" in ran.stderr


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["M", "W1", "move", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "setup",
                    "do",
                    "go",
                    "ask",
                    "unit",
                    "units",
                    "path",
                    "target",
                    "dice",
                    "seat",
                    "cell",
                    "players",
                    "queue",
                    "out",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(json_values)
def test_any_json_is_answered(line):
    judging = set_up()
    answer = told(judging, line)
    assert answer["ruling"] in ("accepted", "refused", "undecided")
    if answer["ruling"] != "accepted":
        assert answer["state"] == told(set_up(), {"ask": "choices"})["state"]


# Texts


BAD_CHOICES = [
    "",
    "W1",
    "W1>",
    "W7>e1",
    "W1>q1",
    "W1>e16",
    "W1 > e1",
    "e1>e2",
    "W1xe1(6)",
    "W1xe1(6/)",
    "W1xe1(6/1",
    "M>e1(6/1)",
]


@pytest.mark.parametrize("text", BAD_CHOICES)
def test_what_is_no_choice_is_told_so(text):
    with pytest.raises(NotationError, match="write W1>e1>e2"):
        read_choice(text)


GOOD = write_position(start(2))
BAD_POSITIONS = {
    "nothing": "",
    "three players": GOOD.replace("2 ", "3 ", 1),
    "seven words": GOOD.removesuffix(" -"),
    "one army": GOOD.replace("/", ","),
    "a unit twice": GOOD.replace("W2f0", "W1f0"),
    "two units on one square": GOOD.replace("W2f0", "W2e0"),
    "two armies on one square": GOOD.replace("W1e0", "W1l15"),
    "off the board": GOOD.replace("W1e0", "W1a0"),
    "a Warrior with stones": GOOD.replace("W1e0", "W1e0(1+0)"),
    "moved out of turn": GOOD.replace("W1l15", "W1l15'").replace("0:6:3", "0:6:2"),
    "no stone": GOOD.replace("h4", "h4+"),
    "nine stones": GOOD.replace("h4", "h4,h4"),
    "no bank": GOOD.replace(" 8 ", " eight "),
    "a bank of nine": GOOD.replace(" 8 ", " 9 "),
    "no such player": GOOD.replace("0:6:3", "2:6:3"),
    "seven squares": GOOD.replace("0:6:3", "0:7:3"),
    "a Rite without its Priest": GOOD.removesuffix("-") + "0:2",
    "a queue without a siege": GOOD.replace("Mi0,", "").removesuffix("- -") + "0M -",
}


@pytest.mark.parametrize("text", BAD_POSITIONS.values(), ids=BAD_POSITIONS)
def test_what_is_no_position_is_told_so(text):
    with pytest.raises(NotationError, match="position"):
        read_position(text)


BAD_RECORDS = {
    "an unknown tag": '[Colour "red"]\n1. end',
    "three players": '[Players "3"]\n1. end',
    "a tag twice": '[Players "2"]\n[Players "2"]\n1. end',
    "a bad choice": "1. W1>e1 fly end",
    "a bad position": '[Position "start"]\n1. end',
    "another number of players": f'[Players "4"]\n[Position "{GOOD}"]\n1. end',
}


@pytest.mark.parametrize("text", BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_what_is_no_record_is_told_so(text):
    with pytest.raises(NotationError):
        read_record(text)


def test_a_record_against_the_rules_is_told_with_the_go_and_the_choice():
    record = read_record("1. W1>e1 end\n2. W1>l14>k14 end\n3. W1>e9 end")
    with pytest.raises(NotationError, match=r"go 3, W1>e9: e9 is not orthogonally next to e1"):
        replay(record)


def test_a_record_is_tags_and_a_numbered_go_a_line():
    played = Record(start(4), read_go("W1>e1>e2 M>i1 end end W1>l14"))
    text = '[Players "4"]\n\n1. W1>e1>e2 M>i1 end\n2. end\n3. W1>l14\n'
    assert write_record(played) == text
    assert read_record(text) == played
    later = Record(replay(played)[-1])
    assert read_record(write_record(later)) == later


def test_a_position_tells_that_a_warrior_was_raised():
    text = GOOD.replace("0:6:3", "0:6:3r")
    assert write_position(read_position(text)) == text


def test_the_documented_position_is_read():
    text = "2 Mi0(2+3),Ph0,W1e2',W2f0!/Mh15,Pi15,W1l15 h4,i4*,i4* f5 7 0:4:1 - -"
    state = read_position(text)
    assert write_position(state) == text
    assert state == state_from_json(told(set_up(position=text), {"ask": "choices"})["state"])
