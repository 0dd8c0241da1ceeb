"""`companion judge pathstone` and `companion pathstone` as commands: answers, states to go on from, and bad input."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from companion.cli import main
from companion.judge import PathstoneJudge


def run(*arguments: str, text: str | bytes | None = None):
    return CliRunner().invoke(main, arguments, input=text, catch_exceptions=False)


def told(judge, line):
    return judge.answer(json.dumps(line))


START = {"setup": {"size": 5, "tps": "x5/x5/x5/x5/x5 1 1"}}


def test_the_documented_lines_are_answered_one_by_one():
    ran = run("judge", "pathstone", "--json", text="".join(json.dumps(line) + "\n" for line in (START, {"ptn": "a1"})))
    assert ran.exit_code == 0
    set_up, moved = map(json.loads, ran.stdout.splitlines())
    assert set_up["state"] == {"size": 5, "tps": "x5/x5/x5/x5/x5 1 1"}
    for answer in (set_up, moved):
        assert answer["ruling"] == "accepted"
        assert answer["orders"] == []
        assert answer["rule"]
        assert answer["why"]
    assert moved["state"] == {"size": 5, "tps": "x5/x5/x5/x5/2,x4 2 1"}
    assert (moved["n"], moved["player"], moved["ptn"]) == (1, "a", "a1")


SETUPS = {
    "nothing": ({}, "x5/x5/x5/x5/x5 1 1"),
    "a size": ({"size": 3}, "x3/x3/x3 1 1"),
    "a position alone": ({"tps": "x3/x3/2,x2 2 1"}, "x3/x3/2,x2 2 1"),
    "no position": ({"size": 4, "tps": None, "result": None}, "x4/x4/x4/x4 1 1"),
}


@pytest.mark.parametrize(("setup", "tps"), SETUPS.values(), ids=SETUPS)
def test_what_a_set_up_leaves_out_is_as_at_the_start(setup, tps):
    answer = told(PathstoneJudge(), {"setup": setup})
    assert (answer["ruling"], answer["state"]["tps"]) == ("accepted", tps)


ONWARDS = {
    "moves": ["a1", "e5", "Cc3", "b1", "c3>"],
    "a path": ["a1", "e5", "d5", "b1", "c5", "c1", "b5", "d1", "a5"],
    "marks": ["a1?!", "e5'", "c3!!"],
    "a resignation": ["a1", "e5", "0-1"],
    "a draw": ["a1", "1/2-1/2"],
}


@pytest.mark.parametrize("moves", ONWARDS.values(), ids=ONWARDS)
def test_a_state_is_a_set_up_that_goes_on_alike(moves):
    judge, again = PathstoneJudge(), PathstoneJudge()
    told(judge, START)
    for move in moves:
        answer = told(judge, {"ptn": move})
        assert answer["ruling"] == "accepted", answer
    set_up = told(again, {"setup": answer["state"]})
    assert (set_up["ruling"], set_up["state"]) == ("accepted", answer["state"])
    for line in ({"ptn": "b2"}, {"ptn": "e5-"}, {"declare": "resign"}):
        assert told(again, line) == told(judge, line)


DECLARED = {
    "the player to move resigns": ("resign", "0-1"),
    "player b resigns": ({"what": "resign", "player": "b"}, "1-0"),
    "a draw": ("draw", "1/2-1/2"),
}


@pytest.mark.parametrize(("said", "result"), DECLARED.values(), ids=DECLARED)
def test_players_end_a_game(said, result):
    judge = PathstoneJudge()
    told(judge, START)
    answer = told(judge, {"declare": said})
    assert (answer["ruling"], answer["state"]["result"], answer["result"]) == ("accepted", result, result)
    after = told(judge, {"ptn": "a1"})
    assert (after["ruling"], after["state"]) == ("refused", answer["state"])
    assert result in after["why"]


def test_a_move_is_taken_back():
    judge = PathstoneJudge()
    told(judge, START)
    told(judge, {"ptn": "a1"})
    answer = told(judge, {"declare": "take-back"})
    assert (answer["ruling"], answer["state"]) == ("accepted", START["setup"])
    assert told(judge, {"declare": "take-back"})["ruling"] == "refused"


def test_looks_are_judged_too():
    judge = PathstoneJudge()
    told(judge, {"setup": {"tps": "x5/x5/x5/22,x4/1,x4 2 10"}})
    rest = [".....", "....."]
    seen = {"cells": ["w....", "b....", "b....", *rest]}
    asked = told(judge, {"look": seen})
    assert (asked["ruling"], asked["n"], sorted(asked["candidates"])) == ("undecided", 20, ["a2+", "a3"])
    assert told(judge, {"ptn": "b2"})["ruling"] == "refused"
    heights = [[1, 0, 0, 0, 0], [2, 0, 0, 0, None], [1, 0, 0, 0, 0], *[[0] * 5] * 2]
    settled = told(judge, {"look": {**seen, "heights": heights}})
    assert (settled["ruling"], settled["ptn"], settled["state"]["tps"]) == (
        "accepted",
        "a3",
        "x5/x5/2,x4/22,x4/1,x4 1 11",
    )
    wrong = told(judge, {"look": {"cells": ["w....", "b....", "b..b.", *rest]}})
    assert (wrong["ruling"], wrong["cells"]) == ("refused", ["d3"])
    assert told(judge, {"look": seen})["ruling"] == "accepted"


IMPOSSIBLE_SETUPS = {
    "no object": [],
    "an unknown key": {"komi": 2},
    "a 9x9 board": {"size": 9},
    "a 9x9 board as TPS": {"tps": "/".join(["x9"] * 9) + " 1 1"},
    "a 2x2 board": {"size": 2},
    "a size in words": {"size": "5"},
    "half a size": {"size": 5.5},
    "true for a size": {"size": True},
    "another size than the TPS": {"size": 5, "tps": "x3/x3/x3 1 1"},
    "TPS as a list": {"tps": ["x3/x3/x3 1 1"]},
    "no TPS": {"tps": "the start"},
    "a wall in a stack": {"tps": "x3/x3/1S2,x2 1 4"},
    "stones too many": {"tps": "x3/x3/11111111111,x2 2 9"},
    "the first piece of the wrong owner": {"tps": "x3/x3/1,x2 2 1"},
    "a result that is not there": {"tps": "x3/x3/2,x2 2 1", "result": "R-0"},
    "another result": {"tps": "1,1,1/x3/2,2,x 2 4", "result": "0-R"},
    "a resignation after a path": {"tps": "1,1,1/x3/2,2,x 2 4", "result": "0-1"},
    "a result as a list": {"result": ["1-0"]},
}


@pytest.mark.parametrize("setup", IMPOSSIBLE_SETUPS.values(), ids=IMPOSSIBLE_SETUPS)
def test_a_set_up_that_cannot_be_is_refused(setup):
    judge = PathstoneJudge()
    answer = told(judge, {"setup": setup})
    assert (answer["ruling"], answer["state"]) == ("refused", None)
    assert answer["why"]
    told(judge, START)
    again = told(judge, {"setup": setup})
    assert (again["ruling"], again["state"]) == ("refused", START["setup"])


def test_a_finished_position_can_be_set_up_but_not_played():
    judge = PathstoneJudge()
    answer = told(judge, {"setup": {"tps": "1,1,1/x3/2,2,x 2 4"}})
    assert (answer["ruling"], answer["state"]["result"]) == ("accepted", "R-0")
    assert told(judge, {"ptn": "c1"})["ruling"] == "refused"


REFUSED_LINES = {
    "no object": [1],
    "two keys": {"ptn": "a1", "declare": "resign"},
    "an unknown key": {"move": "a1"},
    "no text": {"ptn": 1},
    "no move": {"ptn": "first"},
    "nothing": {"ptn": ""},
    "two moves": {"ptn": "a1 b1"},
    "off the board": {"ptn": "f1"},
    "a wall in the opening": {"ptn": "Sa1"},
    "a stack that is not there": {"ptn": "3a1>12"},
    "drops that do not add up": {"ptn": "3a1>11"},
    "a claimed path": {"ptn": "R-0"},
    "an unknown declaration": {"declare": "victory"},
    "a declaration by nobody": {"declare": {"what": "resign", "player": "c"}},
    "a declaration with more": {"declare": {"what": "draw", "at": 3}},
    "a look without cells": {"look": {}},
    "a look of another board": {"look": {"cells": ["..."] * 3}},
    "a look with unknown signs": {"look": {"cells": ["..x.."] * 5}},
    "a look with numbers": {"look": {"cells": [[1] * 5] * 5}},
    "too few heights": {"look": {"cells": ["....."] * 5, "heights": [[1]]}},
    "heights in words": {"look": {"cells": ["....."] * 5, "heights": ["11111"] * 5}},
    "heights beyond all pieces": {"look": {"cells": ["....."] * 5, "heights": [[99] * 5] * 5}},
}


@pytest.mark.parametrize("line", REFUSED_LINES.values(), ids=REFUSED_LINES)
def test_a_line_that_cannot_be_is_refused_and_changes_nothing(line):
    judge = PathstoneJudge()
    told(judge, START)
    answer = told(judge, line)
    assert (answer["ruling"], answer["state"]) == ("refused", START["setup"])
    assert answer["why"]


@pytest.mark.parametrize("line", [{"ptn": "a1"}, {"declare": "draw"}, {"look": {}}, []])
def test_without_a_set_up_every_line_is_refused(line):
    answer = told(PathstoneJudge(), line)
    assert (answer["ruling"], answer["state"]) == ("refused", None)


@pytest.mark.parametrize("bad", [b"{", b"setup", b'{"setup": NaN}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_one_line_on_stderr_and_exit_1(bad):
    ran = run("judge", "pathstone", text=b'{"setup": {}}\n' + bad + b"\n")
    assert ran.exit_code == 1
    assert (len(ran.stdout.splitlines()), len(ran.stderr.splitlines())) == (1, 1)
    assert "line 2" in ran.stderr


WORDS = [
    "setup",
    "ptn",
    "look",
    "declare",
    "size",
    "tps",
    "result",
    "cells",
    "heights",
    "what",
    "player",
    "a1",
    "x3/x3/x3 1 1",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 30)
    | st.floats(-10, 500)
    | st.sampled_from(WORDS)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(WORDS[:4]), VALUES, min_size=1, max_size=1), max_size=6))
def test_whatever_the_line_it_is_answered(lines):
    judge = PathstoneJudge()
    told(judge, START)
    for line in lines:
        assert told(judge, line)["ruling"] in ("accepted", "refused", "undecided")


# Perft and replay

PERFT = {
    "depth 0": (["6", "0"], "1"),
    "from the start": (["5", "3"], "43320"),
    "after moves": (["5", "1", "--ptn", "a1 e5"], "71"),
    "after numbered moves": (["5", "1", "--ptn", "1. a1 e5 {c3 next}"], "71"),
    "from a position": (["3", "1", "--tps", "x3/x3/2,x2 2 1"], "8"),
    "of a finished game": (["3", "2", "--tps", "1,1,1/x3/2,2,x 2 4"], "0"),
    "of a finished game at the leaf": (["3", "0", "--tps", "1,1,1/x3/2,2,x 2 4"], "1"),
    "of a resigned game": (["5", "1", "--ptn", "a1 0-1"], "0"),
}


@pytest.mark.parametrize(("arguments", "nodes"), PERFT.values(), ids=PERFT)
def test_perft_prints_the_count_alone(arguments, nodes):
    ran = run("pathstone", "perft", *arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, f"{nodes}\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["9", "1"], 2, "3<=x<=8"),
        (["5", "-1"], 2, "No such option"),
        (["5"], 2, "DEPTH"),
        (["5", "1", "--tps", "x5/x5/x5/x5/x5 1 1", "--ptn", "a1"], 2, "not both"),
        (["5", "1", "--tps", "x3/x3/x3 1 1"], 1, "the board is 5x5"),
        (["5", "1", "--ptn", "a1 a1"], 1, "a1 is not empty"),
        (["5", "1", "--ptn", "a1 b"], 1, "'b' is no move"),
    ],
)
def test_perft_of_what_cannot_be(arguments, code, why):
    ran = run("pathstone", "perft", *arguments)
    assert (ran.exit_code, ran.stdout) == (code, "")
    assert why in ran.stderr
    assert code == 2 or len(ran.stderr.splitlines()) == 1


GOOD = '[Size "3"]\n1. c3 a1 2. b1 c2 3. c1 R-0\n'


def test_replay_tells_how_games_end(tmp_path):
    paths = [tmp_path / name for name in ("won.ptn", "open.ptn")]
    for path, text in zip(paths, (GOOD, '[Size "5"]\n1. a1'), strict=True):
        path.write_text(text)
    ran = run("pathstone", "replay", *map(str, paths), "--json")
    assert ran.exit_code == 0
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [
        {"file": str(paths[0]), "size": 3, "plies": 5, "result": "R-0", "tps": "x2,2/x2,2/1,1,1 2 3"},
        {"file": str(paths[1]), "size": 5, "plies": 1, "result": None, "tps": "x5/x5/x5/x5/2,x4 2 1"},
    ]
    assert "3x3, 5 moves, R-0" in run("pathstone", "replay", str(paths[0])).stdout


BROKEN_FILES = {
    "illegal": (GOOD.replace("c2", "a1"), "line 2, column 16, move 2, a1: a1 is not empty: A's flat"),
    "after the end": (GOOD.replace("R-0", "a2"), "move 3, a2: the game is over (R-0)"),
    "a 9x9 board": (GOOD.replace("3", "9", 1), '[Size "9"]'),
    "empty": ("", "[Size"),
    "no text": (b"\xff\xfe\x00", "utf-8"),
}


@pytest.mark.parametrize(("text", "why"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_broken_record_is_told_with_the_move_and_the_reason_and_the_others_go_on(text, why, tmp_path):
    broken, good = tmp_path / "broken.ptn", tmp_path / "good.ptn"
    broken.write_bytes(text if isinstance(text, bytes) else text.encode())
    good.write_text(GOOD)
    ran = run("pathstone", "replay", str(broken), str(tmp_path / "missing.ptn"), str(good), "--json")
    first, missing, last = map(json.loads, ran.stdout.splitlines())
    assert why in first["error"]
    assert "tps" not in first
    assert "No such file" in missing["error"]
    assert last["result"] == "R-0"
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (1, 1)
