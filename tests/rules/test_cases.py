"""The rulebook's cases by their numbers: by the rules core, and the same through `companion judge pathways`."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.games import pathways
from companion.games.match import Tally, score, start_match, youngest
from companion.inputs import Declaration, Declared, Setup, disk_to_json
from companion.referee import Standing, finish, game_over, judge, with_game
from companion.ruling import Refused
from companion.terms import IllegalFlick, Mode, Player


def answers(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    """What the command answers to lines of JSON."""
    told = "".join(json.dumps(line) + "\n" for line in lines)
    run = CliRunner().invoke(main, ["judge", "pathways", "--json"], input=told, catch_exceptions=False)
    assert run.exit_code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@dataclass(frozen=True)
class Games:
    """Finished games of one match, and what is so after the last of them."""

    setup: dict[str, Any]
    games: list[dict[str, Any]]
    expect: dict[str, Any]


FROM_9_10 = {"mode": "match", "points": [9, 10]}
FROM_10_10 = {"mode": "match", "points": [10, 10]}
MATCH = {"mode": "match"}
DOUBLE = {"mode": "double-row"}

FINISHED = {
    "PW01": Games({"mode": "basic"}, [{"far": [4, 2]}], {"winner": "a"}),
    "PW02": Games({"mode": "basic"}, [{"far": [3, 3]}], {"winner": None, "next_starter": "b"}),
    "PW03": Games(MATCH, [{"far": [4, 2]}], {"points": [2, 0], "match": [2, 0], "winner": None}),
    "PW05": Games(MATCH, [{"far": [3, 3]}], {"points": [1, 1]}),
    "PW06": Games(MATCH, [{"far": [0, 0]}], {"points": [0, 0]}),
    "PW07": Games(MATCH, [{"far": [7, 4]}], {"points": [4, 0]}),
    "PW07, both perfect": Games(MATCH, [{"far": [7, 7]}], {"points": [4, 4]}),
    "PW09": Games(FROM_9_10, [{"far": [3, 1]}], {"match": [11, 10], "winner": "a"}),
    "PW10": Games({"mode": "match", "points": [10, 8]}, [{"far": [2, 2]}], {"match": [11, 9], "winner": "a"}),
    "PW11": Games(
        FROM_10_10, [{"far": [1, 1]}], {"points": [1, 1], "match": [0, 0], "winner": None, "sudden_death": True}
    ),
    "PW11, tied again": Games(FROM_10_10, [{"far": [1, 1]}] * 2, {"winner": None, "sudden_death": True}),
    "PW11, decided": Games(FROM_10_10, [{"far": [1, 1]}, {"far": [0, 1]}], {"winner": "b", "sudden_death": False}),
    "PW13": Games(
        {"mode": "match", "points": [7, 10]}, [{"far": [7, 7]}], {"match": [0, 0], "winner": None, "sudden_death": True}
    ),
    "PW13, decided": Games({"mode": "match", "points": [7, 10]}, [{"far": [7, 7]}, {"far": [2, 1]}], {"winner": "a"}),
    "PW14": Games(
        {**FROM_10_10, "starter": "a"},
        [{"far": [0, 0]}],
        {"match": [10, 10], "next_starter": "b", "winner": None, "sudden_death": False},
    ),
    "PW15": Games(
        {"mode": "match", "threshold": 5, "points": [4, 3]}, [{"far": [2, 1]}], {"match": [6, 3], "winner": "a"}
    ),
    "PW17": Games({**MATCH, "starter": "a"}, [{"far": [2, 2]}], {"next_starter": "b"}),
    "PW17, no score": Games({**MATCH, "starter": "a"}, [{"far": [0, 0]}], {"next_starter": "b"}),
    "PW18, G2": Games({**MATCH, "starter": "b"}, [{"far": [2, 1]}], {"next_starter": "a"}),
    "PW18, G3": Games({**MATCH, "starter": "b"}, [{"far": [2, 1]}, {"far": [1, 1]}], {"next_starter": "b"}),
    "PW18, G4": Games(
        {**MATCH, "starter": "b"}, [{"far": [2, 1]}, {"far": [1, 1]}, {"far": [1, 1]}], {"next_starter": "a"}
    ),
    "PW31": Games(DOUBLE, [{"far": [1, 2], "near": [2, 2]}], {"count": [4, 6], "points": [0, 2], "game_winner": "b"}),
    "PW34": Games(DOUBLE, [{"far": [7, 1]}], {"count": [14, 2], "points": [12, 0], "match": [12, 0], "winner": "a"}),
    "Double Row, equal totals": Games(DOUBLE, [{"far": [1, 0], "near": [0, 2]}], {"points": [1, 1]}),
    "Double Row, nobody in": Games(DOUBLE, [{"far": [0, 0], "near": [0, 0]}], {"points": [0, 0]}),
    "Double Row, both perfect": Games(DOUBLE, [{"far": [7, 7]}], {"points": [4, 4]}),
    "Three in a Row, more lines": Games({"mode": "three-in-a-row"}, [{"lines": [1, 0]}], {"points": [2, 0]}),
    "Three in a Row, equal": Games({"mode": "three-in-a-row"}, [{"lines": [1, 1]}], {"points": [1, 1]}),
    "Three in a Row, none": Games({"mode": "three-in-a-row"}, [{"lines": [0, 0]}], {"points": [0, 0]}),
}


@pytest.mark.parametrize("case", FINISHED.values(), ids=FINISHED)
def test_finished_games_by_the_core(case):
    keys = {"mode": Mode, "starter": Player, "points": tuple}
    match = start_match(Setup(**{key: keys.get(key, int)(value) for key, value in case.setup.items()}))
    for game in case.games:
        finished = score(match.mode, Tally(**{key: tuple(pair) for key, pair in game.items()}), 7)
        match = match.after(finished)
    over = finish(match, finished).event
    got = {
        "count": list(over.count),
        "game_winner": over.winner,
        "points": over.points and list(over.points),
        "match": over.match and list(over.match),
        "winner": over.match_winner,
        "next_starter": over.next_starter,
        "sudden_death": over.sudden_death,
    }
    assert {key: got[key] for key in case.expect} == case.expect


@pytest.mark.parametrize("case", FINISHED.values(), ids=FINISHED)
def test_finished_games_by_the_command(case):
    *_, last = answers({"setup": case.setup}, *({"game": game} for game in case.games))
    assert last["ruling"] == "accepted"
    assert {key: last[key] for key in case.expect} == case.expect


@dataclass(frozen=True)
class Flicks:
    """Flicks, each with the board at rest after it, then what is said; the orders and the count that follow."""

    shots: list[tuple[str, str]]
    orders: list[tuple[str, str, str]]
    said: list[str] = field(default_factory=list)
    count: tuple[int, int] | None = None
    mode: Mode = Mode.BASIC
    illegal_flick: IllegalFlick = IllegalFlick.REMOVE


AT_REST = {
    "PW21": Flicks([("a", "a:2,3"), ("b", "a:1,3 b:4,4")], [("remove", "own-front-row", "a")]),
    "PW22": Flicks([("b", "b:2,3"), ("a", "b:1,3 a:4,4")], [], count=(0, 1)),
    "PW23, own": Flicks([("a", "a@150,30")], [("remove", "own-launch-area", "a")]),
    "PW23, opposing": Flicks([("a", "a@150,450")], [("remove", "opposing-launch-area", "a")]),
    "PW25": Flicks([("a", "a:6,3")], [("remove", "illegal-flick", "a")], ["illegal-flick"]),
    "PW25, agreed to replay": Flicks(
        [("a", "a:6,3")], [("remove", "illegal-flick", "a")], ["illegal-flick"], illegal_flick=IllegalFlick.REPLAY
    ),
    "PW26": Flicks(
        [("a", "a:4,4"), ("b", "a:4,4 b:5,5"), ("a", "b:5,5 a:8,4")],
        [("remove", "illegal-flick", "a")],
        ["illegal-flick"],
    ),
    "PW27, far row": Flicks([("a", "a:8,3/")], [("lay-flat", "tilted", "a")], count=(1, 0)),
    "PW27, own front row": Flicks([("a", "a:1,3/")], [("remove", "own-front-row", "a")], count=(0, 0)),
    "PW29, off the board": Flicks([("a", "")], [], count=(0, 0)),
    "PW29, on the side edge": Flicks([("a", "a@1,200")], []),
    "PW33, own 2-point row": Flicks(
        [("a", "a:2,3"), ("b", "a:1,3 b:4,4")], [("remove", "own-front-row", "a")], mode=Mode.DOUBLE_ROW, count=(0, 0)
    ),
    "PW33, own 1-point row": Flicks([("a", "a:2,3")], [], mode=Mode.DOUBLE_ROW, count=(0, 0)),
    "PW35, in the row before the last": Flicks(
        [("a", "a:7,2"), ("b", "a:7,2"), ("a", "a:7,2 a:7,3"), ("b", "a:7,2 a:7,3"), ("a", "a:7,2 a:7,3 a:7,4")],
        [],
        mode=Mode.THREE_IN_A_ROW,
        count=(1, 0),
    ),
    "PW35, diagonal": Flicks(
        [("a", "a:6,2"), ("b", "a:6,2"), ("a", "a:6,2 a:7,3"), ("b", "a:6,2 a:7,3"), ("a", "a:6,2 a:7,3 a:8,4")],
        [],
        mode=Mode.THREE_IN_A_ROW,
        count=(1, 0),
    ),
    "PW35, in the fifth row from the far side": Flicks(
        [("a", "a:4,2"), ("b", "a:4,2"), ("a", "a:4,2 a:4,3"), ("b", "a:4,2 a:4,3"), ("a", "a:4,2 a:4,3 a:4,4")],
        [],
        mode=Mode.THREE_IN_A_ROW,
        count=(0, 0),
    ),
}


@pytest.mark.parametrize("case", AT_REST.values(), ids=AT_REST)
def test_flicks_by_the_core(case, disks):
    setup = Setup(case.mode, starter=Player(case.shots[0][0]), illegal_flick=case.illegal_flick)
    standing = Standing(start_match(setup), pathways.start(setup))
    for player, board in case.shots:
        shot = disks(board)
        standing, rulings = with_game(
            standing, pathways.judge_told(standing.game, Player(player), shot, 0 if shot else 1)
        )
    for said in case.said:
        standing, rulings = judge(standing, Declaration(Declared(said)))
    orders = [(order.do, order.why, order.colour) for ruling in rulings for order in ruling.orders]
    assert orders == case.orders
    if case.count is not None:
        assert game_over(standing).event.count == case.count


@pytest.mark.parametrize("case", AT_REST.values(), ids=AT_REST)
def test_flicks_by_the_command(case, disks):
    shots = [
        {
            "shot": {
                "player": player,
                "disks": [disk_to_json(disk) for disk in disks(board)],
                "left_board": 0 if board else 1,
            }
        }
        for player, board in case.shots
    ]
    setup = {"mode": case.mode, "starter": case.shots[0][0], "illegal_flick": case.illegal_flick}
    said = [{"declare": said} for said in case.said]
    *_, last, end = answers({"setup": setup}, *shots, *said, {"declare": "end-game"})
    assert [(order["do"], order["why"], order["colour"]) for order in last["orders"]] == case.orders
    if case.count is not None:
        assert tuple(end["count"]) == case.count


def test_pw19_the_youngest_starts():
    assert youngest((9, 41)) is Player.A
    assert youngest((41, 9)) is Player.B
    assert youngest((30, 30)) is None
    (answer,) = answers({"setup": {"mode": "match", "ages": [41, 9]}})
    assert answer["state"]["starter"] == "b"
    (answer,) = answers({"setup": {"mode": "match", "ages": [41, 9], "starter": "a"}})
    assert answer["state"]["starter"] == "a"


def test_pw25_a_flick_replayed_goes_back_to_its_player(disks):
    for remedy, flicked in ((IllegalFlick.REMOVE, (1, 0)), (IllegalFlick.REPLAY, (0, 0))):
        state = pathways.start(Setup(illegal_flick=remedy))
        state, _ = pathways.judge_told(state, Player.A, disks("a:6,3"), 0)
        state, _ = pathways.judge(state, Declaration(Declared.ILLEGAL_FLICK))
        assert (state.used, state.to_flick) == (flicked, Player.B if remedy is IllegalFlick.REMOVE else Player.A)
        assert len(state.orders) == 1


def test_pw30_twelve_each_in_turn_and_no_more(flicked_out):
    state = pathways.start(Setup())
    for n, look in enumerate(flicked_out(24)):
        assert not state.over
        state, _ = pathways.judge_told(state, Player("ab"[n % 2]), look.disks, 0)
    assert state.over
    after, (ruling,) = pathways.judge_told(state, Player.A, look.disks, 0)
    assert isinstance(ruling, Refused)
    assert after == state

    shots = [
        {"shot": {"player": "ab"[n % 2], "disks": [disk_to_json(disk) for disk in look.disks], "left_board": 0}}
        for n, look in enumerate(flicked_out(24))
    ]
    *_, last, one_more = answers({"setup": {"starter": "a"}}, *shots, shots[-2])
    assert (last["ruling"], last["count"], one_more["ruling"]) == ("accepted", [0, 0], "refused")


def test_pw30_a_removed_disk_is_spent(disks):
    state = pathways.start(Setup())
    state, _ = pathways.judge_told(state, Player.A, disks("a:1,1"), 0)
    state, _ = pathways.judge_told(state, Player.B, disks("b:4,4"), 0)
    assert (state.flicks_left(Player.A), state.flicks_left(Player.B)) == (11, 11)


def test_a_flick_out_of_turn_is_illegal_and_leaves_the_turn(disks):
    state = pathways.start(Setup())
    state, rulings = pathways.judge_told(state, Player.B, disks("b:4,4"), 0)
    assert isinstance(rulings[-1], Refused)
    assert [(order.why, order.colour) for order in rulings[-1].orders] == [("illegal-flick", "b")]
    assert (state.to_flick, state.used) == (Player.A, (0, 1))
