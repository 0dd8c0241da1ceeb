"""The rules of Pathstone: the rulebook's cases by their numbers, illegal moves with their reason, results, threats.

The cases run by the rules core and through `companion judge pathstone`; perft counts come from outside.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.games.pathstone import (
    Kind,
    Placement,
    Reason,
    Result,
    Slide,
    count_leaves,
    fault,
    judge,
    legal_moves,
    path_of,
    play,
    read_move,
    read_tps,
    square_name,
    start,
    threats,
    write_move,
    write_tps,
)
from companion.ruling import Accepted, Ended, Moved, Refused
from companion.terms import Player

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
PERFT_FILE = SHARED / "cases" / "pathstone_perft.json"
PERFT = json.loads(PERFT_FILE.read_text())["rows"] if PERFT_FILE.exists() else []


def state_from(text: str):
    """A TPS, or a size with the moves from its start."""
    if "/" in text:
        return read_tps(text)
    size, *moves = text.split()
    state = start(int(size))
    for move in moves:
        state = play(state, read_move(move))
    return state


# The rulebook's cases


@dataclass(frozen=True)
class Case:
    """A position; moves that are legal and illegal in it; moves played on, with what is so after them."""

    setup: str
    legal: str = ""
    illegal: str = ""
    count: int | None = None
    played: str = ""
    tps: str | None = None
    result: str | None = None
    flats: tuple[int, int] | None = None
    reserves: tuple[tuple[int, int], tuple[int, int]] | None = None


CASES = {
    "PS01": Case("5", illegal="Sa1 Ca1", count=25),
    "PS02": Case("5", played="a1", tps="x5/x5/x5/x5/2,x4 2 1", reserves=((21, 1), (20, 1))),
    "PS03": Case("5 a1 e5", legal="e5- Ca2", illegal="a1+", count=71),
    "PS05": Case("x5/x5/x2,121212,x2/x5/x5 1 10", legal="a1", illegal="c3>"),
    "PS06": Case(
        "x5/x5/212,x4/x5/x5 2 10",
        legal="3a3>3 2a3>2",
        illegal="4a3>4",
        played="3a3>12",
        tps="x5/x5/x,2,12,x2/x5/x5 1 11",
    ),
    "PS07": Case("x5/x5/x5/2S,x4/21C,x4 1 10", legal="a1+", illegal="2a1+"),
    "PS08": Case(
        "x5/x5/12S,x4/x5/121C,x4 1 10",
        legal="2a1+11 3a1+21",
        illegal="3a1+12",
        played="2a1+11",
        tps="x5/x5/121C,x4/2,x4/1,x4 2 10",
    ),
    "PS09": Case("x5/x5/x5/1S,x4/1C,x4 1 10", legal="a1+", played="a1+", tps="x5/x5/x5/11C,x4/x5 2 10"),
    "PS10": Case("x5/x5/x5/2S,2C,x3/1S,1,x3 1 10", legal="a1>", illegal="a1+ b1+"),
    "PS12": Case("1,x2/x,1,x/x2,1 2 3", played="a1", result=None),
    "PS13": Case("6 a4 a3 b3 b4 c3 c4 d3 d4 d3+ e4 e3 f4 f3 Cb5", played="d4-", result="R-0"),
    "PS14": Case("3", played="a3 c1 c2 c3 b3 b2 b1 a1 a2", result="F-0", flats=(5, 4)),
    "PS16": Case("4", played="a1 a2 b1 b2 c2 c1 d1 d2 d3 c3 b3 a3 a4 b4 c4 d4", result="1/2-1/2", flats=(8, 8)),
    "PS17": Case("1,21,122S/x,1S,1/12S,1S,2 2 14", played="2c3-11", result="R-0"),
    "PS18": Case("x,212,1S/2S,1S,1S/1,1S,2S 2 8", played="b3<", result="F-0", flats=(2, 1)),
    "PS20, a Crown left": Case(
        "x4,2/x5/x5/x5/111111111111111111111,x4 2 30",
        played="e4",
        result=None,
        reserves=((0, 1), (21 - 2, 1)),
    ),
    "PS20, the Crown placed": Case(
        "x4,2/x5/x5/x4,2/111111111111111111111,x4 1 31",
        legal="Cb1",
        illegal="b1",
        played="Cb1",
        result="0-F",
        flats=(1, 2),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases_by_the_core(case):
    state = state_from(case.setup)
    legal = {write_move(move) for move in legal_moves(state)}
    assert case.count in (None, len(legal))
    for text in case.legal.split():
        assert write_move(read_move(text)) in legal
    for text in case.illegal.split():
        assert write_move(read_move(text)) not in legal
        assert fault(state, read_move(text)) is not None
    for text in case.played.split():
        assert state.result is None
        state = play(state, read_move(text))
    if case.played:
        assert str(state.result) == str(case.result)
    assert case.tps in (None, write_tps(state))
    assert case.flats in (None, state.flats)
    assert case.reserves in (None, state.reserves)


def answers(*lines):
    """What the command answers to lines of JSON."""
    told = "".join(json.dumps(line) + "\n" for line in lines)
    run = CliRunner().invoke(main, ["judge", "pathstone", "--json"], input=told, catch_exceptions=False)
    assert run.exit_code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases_by_the_command(case):
    position = state_from(case.setup)
    setup = {"setup": {"size": position.size, "tps": write_tps(position)}}
    for text in case.legal.split():
        assert answers(setup, {"ptn": text})[-1]["ruling"] == "accepted"
    for text in case.illegal.split():
        before, after = answers(setup, {"ptn": text})
        assert (after["ruling"], after["state"]) == ("refused", before["state"])
    *_, last = answers(setup, *({"ptn": text} for text in case.played.split()))
    assert last["ruling"] == "accepted"
    assert last["state"].get("result") == case.result
    assert case.tps in (None, last["state"]["tps"])
    assert case.flats in (None, tuple(last["flats"].values()))


def test_ps13_both_paths_are_there():
    state = state_from(CASES["PS13"].setup + " d4-")
    assert path_of(state, Player.A)
    assert path_of(state, Player.B)


# Perft

CI_NODES, LONG_NODES = 3_000_000, 300_000_000


def perft_rows(least: int, most: int):
    rows = [row for row in PERFT if least < row["nodes"] <= most]
    ids = [f"{row['size']}x{row['size']} depth {row['depth']}{' tps' * ('tps' in row)}" for row in rows]
    return pytest.mark.parametrize("row", rows, ids=ids)


def assert_perft(row):
    state = read_tps(row["tps"], row["size"]) if "tps" in row else start(row["size"])
    assert count_leaves(state, row["depth"]) == row["nodes"]


@pytest.mark.skipif(not PERFT, reason="the shared perft counts are not here")
@perft_rows(0, CI_NODES)
def test_perft(row):
    assert_perft(row)


@pytest.mark.long
@pytest.mark.skipif(not PERFT, reason="the shared perft counts are not here")
@perft_rows(CI_NODES, LONG_NODES)
def test_perft_in_full(row):
    assert_perft(row)


# Illegal moves

WALLED = "x5/x5/2S,2C,1S,x2/1,1,121C,x2/x2,2,x2 1 10"
TALL = "x5/x5/x5/x5/2121211,x4 1 10"

ILLEGAL = {
    "off the board": ("5", "i9", "Setup", "no i9", "i9"),
    "off a small board": ("3", "d1", "Setup", "no d1 on a 3x3", "d1"),
    "a wall in the opening": ("5", "Sb2", "Setup", "places a flat of B", "b2"),
    "a Crown in the opening": ("5 a1", "Cb2", "Setup", "places a flat of A", "b2"),
    "a move in the opening": ("5 a1", "a1+", "Setup", "no movement", "a1"),
    "onto a piece": ("5 a1 e5", "a1", "Place", "a1 is not empty: B's flat", "a1"),
    "onto a stack": (TALL, "a1", "Place", "A's flat on top of 6", "a1"),
    "no Crown on a small board": ("4 a1 d4", "Cb2", "Place", "A has no Crown", "b2"),
    "no second Crown": ("5 a1 e5 Cb2 c3", "Cd4", "Place", "A has no Crown", "d4"),
    "no stone left": (CASES["PS20, the Crown placed"].setup, "Sb1", "Place", "A has no stone", "b1"),
    "from an empty square": (WALLED, "d2+", "Move", "d2 is empty", "d2"),
    "the other player's piece": (WALLED, "c1>", "Move", "c1 is not A's to move: B's flat", "c1"),
    "the other player's stack": ("x5/x5/x2,112,x2/x5/x5 1 9", "3c3>", "Move", "B's flat on top of 2", "c3"),
    "more than the stack": (WALLED, "4c2>", "Move", "4 pieces cannot be taken from c2", "c2"),
    "more than the board's width": (TALL, "6a1>", "Move", "lets take 5", "a1"),
    "over the edge": (WALLED, "a2<", "Move", "run off the board", "a2"),
    "over the edge on the way": (WALLED, "3c2>111", "Move", "3 squares right from c2 run off", "c2"),
    "onto a wall": (WALLED, "a2+", "Flattening", "a3 has B's wall on top", "a3"),
    "onto a Crown": (WALLED, "b2+", "Flattening", "b3 has B's Crown on top: nothing can cover it", "b3"),
    "a Crown onto a Crown": ("x5/x5/x5/2C,x4/1C,x4 1 10", "a1+", "Flattening", "a2 has B's Crown", "a2"),
    "a wall flattened by two": (WALLED, "2c2+", "Flattening", "only a Crown, dropped alone", "c3"),
    "a wall on the way": ("x5/x5/x5/x5/121C,1S,x3 1 10", "2a1>11", "Flattening", "b1 has A's wall", "b1"),
    "a wall flattened by a wall": ("x5/x5/x5/2S,x4/1S,x4 1 10", "a1+", "Flattening", "a2 has B's wall", "a2"),
    "after the end": ("3 a3 c1 c2 c3 b3 b2 b1 a1 a2", "a1+", "Winning", "the game is over (F-0)", "a1"),
}


@pytest.mark.parametrize(("setup", "move", "rule", "why", "square"), ILLEGAL.values(), ids=ILLEGAL)
def test_an_illegal_move_is_refused_with_section_reason_and_square(setup, move, rule, why, square):
    state = state_from(setup)
    after, (ruling,) = judge(state, read_move(move))
    assert after is state
    assert isinstance(ruling, Refused)
    assert ruling.rule == rule
    assert why in ruling.why
    assert [square_name(cell) for cell in ruling.cells] == [square]
    with pytest.raises(ValueError, match="not legal"):
        play(state, read_move(move))


def test_a_drop_of_nothing_is_refused():
    state = state_from(WALLED)
    for drops in ((), (0,), (1, 0), (-1, 2)):
        _, (ruling,) = judge(state, Slide((2, 1), read_move("a2>").direction, drops))
        assert isinstance(ruling, Refused)


# What follows from a move

LEGAL = {
    "opening": ("5", "c3", "A places a flat for B on c3", ["c3"]),
    "flat": ("5 a1 e5", "c3", "A places a flat on c3", ["c3"]),
    "wall": ("5 a1 e5", "Sc3", "A places a wall on c3", ["c3"]),
    "Crown": ("5 a1 e5", "Cc3", "A places a Crown on c3", ["c3"]),
    "slide": ("x5/x5/212,x4/x5/x5 2 10", "3a3>12", "B moves 3 from a3: 1 on b3, 2 on c3", ["a3", "b3", "c3"]),
    "flattening": (WALLED, "c2+", "A moves 1 from c2: 1 on c3, and flattens the wall", ["c2", "c3"]),
}


@pytest.mark.parametrize(("setup", "move", "why", "squares"), LEGAL.values(), ids=LEGAL)
def test_a_move_is_told_in_words_with_its_squares(setup, move, why, squares):
    state = state_from(setup)
    after, (ruling,) = judge(state, read_move(move))
    assert isinstance(ruling, Accepted)
    assert (ruling.why, [square_name(cell) for cell in ruling.cells]) == (why, squares)
    assert ruling.event == Moved(state.ply + 1, state.to_move, move)
    assert after == play(state, read_move(move))


RESULTS = {
    "path": ("1,1,1,1,x/x5/x5/x5/x5 1 10", "e5", "R-0", Reason.PATH, Player.A),
    "the opponent's path alone": (CASES["PS17"].setup, "2c3-11", "R-0", Reason.PATH, Player.A),
    "flats": (CASES["PS18"].setup, "b3<", "F-0", Reason.FLATS, Player.A),
    "equal flats": ("1,2,1/2,1,1S/x,1S,1S 2 9", "a1", "1/2-1/2", Reason.DRAW, None),
}


@pytest.mark.parametrize(("setup", "move", "result", "reason", "winner"), RESULTS.values(), ids=RESULTS)
def test_the_end_of_a_game_has_its_reason(setup, move, result, reason, winner):
    state, (_, over) = judge(state_from(setup), read_move(move))
    assert state.result == Result(winner, reason)
    assert over.event == Ended(result, reason.value, winner, state.flats)
    assert legal_moves(state) == ()
    assert count_leaves(state, 1) == 0


def test_a_path_can_turn_and_is_shown_at_its_shortest():
    state = read_tps("x,1,1,x2/x,1,x,2S,x/1,1C,x3/1,x,x3/1,1,x3 2 10")
    assert [square_name(cell) for cell in path_of(state, Player.A)] == ["a1", "a2", "a3", "b3", "b4", "b5"]
    assert state.result == Result(Player.A, Reason.PATH)
    both = read_tps("1,1,1,1,1/1,x4/1,1,x3/x,1,x3/x,1,x3 2 10")
    assert [square_name(cell) for cell in path_of(both, Player.A)] == ["a5", "b5", "c5", "d5", "e5"]


NO_PATH = {
    "a wall in it": "1,1,1S,1,1/x5/x5/x5/x5 2 9",
    "a diagonal": "1,1,x3/x,x,1,1,1/x5/x5/x5 2 9",
    "round the edge": "1,1,1,1,x/x5/x5/x5/1,x4 2 9",
}


@pytest.mark.parametrize("tps", NO_PATH.values(), ids=NO_PATH)
def test_walls_diagonals_and_edges_make_no_path(tps):
    state = read_tps(tps)
    assert state.result is None
    assert path_of(state, Player.A) == ()


@pytest.mark.parametrize(
    ("given", "text", "winner"),
    [
        (Result(Player.B, Reason.RESIGNATION), "0-1", Player.B),
        (Result(Player.A, Reason.RESIGNATION), "1-0", Player.A),
        (Result(None, Reason.AGREEMENT), "1/2-1/2", None),
    ],
)
def test_players_can_end_a_game(given, text, winner):
    state, (ruling,) = judge(state_from("5 a1 e5"), given)
    assert str(state.result) == text
    assert ruling.event == Ended(text, given.reason.value, winner, (1, 1))
    again, (refused,) = judge(state, given)
    assert again == state
    assert isinstance(refused, Refused)
    assert isinstance(judge(state, Placement((3, 3)))[1][0], Refused)


def test_players_cannot_claim_what_the_board_does_not_show():
    state = state_from("5 a1 e5")
    for reason in (Reason.PATH, Reason.FLATS, Reason.DRAW):
        after, (ruling,) = judge(state, Result(Player.A, reason))
        assert after is state
        assert isinstance(ruling, Refused)


THREATS = {
    "placed": ("1,1,1,1,x/x5/x5/x5/2,2,x3 2 10", Player.A, {"e5", "Ce5"}),
    "slid": ("1,1,1,1,x/x3,1S,121/x5/x5/2,2,x3 2 10", Player.A, {"e5", "Ce5", "e4+", "2e4+", "3e4+"}),
    "flattened": ("1,1,1,1,2S/x3,2S,1C/x5/x5/2,2,x3 2 10", Player.A, {"e4+"}),
    "none": ("1,1,1,x2/x5/x5/x5/2,2,x3 2 10", Player.A, set()),
    "in the opening": ("5 a1", Player.A, set()),
}


@pytest.mark.parametrize(("setup", "player", "moves"), THREATS.values(), ids=THREATS)
def test_threats_are_the_moves_that_would_complete_a_path(setup, player, moves):
    found = {write_move(move) for move in threats(state_from(setup), player)}
    assert found == moves


def test_sizes_other_than_3_to_8_are_refused():
    for size in (2, 9, 0, -3):
        with pytest.raises(ValueError, match="3 to 8"):
            start(size)
    assert [len(legal_moves(start(size))) for size in range(3, 9)] == [9, 16, 25, 36, 49, 64]


def test_kinds_have_the_letters_of_ptn():
    assert [(kind.value, kind.label) for kind in Kind] == [("F", "flat"), ("S", "wall"), ("C", "Crown")]
