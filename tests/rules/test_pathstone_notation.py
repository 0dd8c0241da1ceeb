"""PTN and TPS of Pathstone, read and written without loss; broken ones refused with the place and the reason."""

import json
from pathlib import Path

import pytest

from companion.games.pathstone import (
    Direction,
    Kind,
    NotationError,
    Placement,
    Reason,
    Result,
    Slide,
    legal_moves,
    play,
    read_move,
    read_ptn,
    read_tps,
    record_of,
    replay,
    start,
    with_result,
    write_move,
    write_ptn,
    write_tps,
)
from companion.terms import Player

GAMES = Path(__file__).resolve().parents[2] / ".." / "shared" / "games" / "pathstone"
INDEX = json.loads((GAMES / "index.json").read_text()) if GAMES.is_dir() else []


@pytest.mark.skipif(not INDEX, reason="the shared games are not here")
@pytest.mark.parametrize("game", INDEX, ids=[game["file"] for game in INDEX])
def test_real_games_replay_to_their_end_and_are_written_as_they_were(game):
    text = (GAMES / game["file"]).read_text()
    record = read_ptn(text)
    states = replay(record)
    last = states[-1]
    assert (last.size, len(states) - 1, str(last.result)) == (game["size"], game["plies"], game["result"])
    assert write_tps(last) == game["final_tps"]
    assert write_ptn(record) == text
    for state, ply in zip(states, record.plies, strict=False):
        assert ply.move in legal_moves(state)
        assert read_tps(write_tps(state), state.size) == state
    again = record_of(states[0], [ply.move for ply in record.plies])
    assert replay(read_ptn(write_ptn(again))) == states


MOVES = {
    "a1": Placement((1, 1), Kind.FLAT),
    "Sb2": Placement((2, 2), Kind.WALL),
    "Ch8": Placement((8, 8), Kind.CROWN),
    "a2-": Slide((2, 1), Direction.DOWN, (1,)),
    "3c3>12": Slide((3, 3), Direction.RIGHT, (1, 2)),
    "8h1<1111211": Slide((1, 8), Direction.LEFT, (1, 1, 1, 1, 2, 1, 1)),
    "5e4+": Slide((4, 5), Direction.UP, (5,)),
}

OTHER_SPELLINGS = {"Fa1": "a1", "1a2-": "a2-", "1a2-1": "a2-", "a2-1": "a2-", "5e4+5": "5e4+", "3c3>12C": "3c3>12"}


@pytest.mark.parametrize(("text", "move"), MOVES.items())
def test_moves_are_read_and_written(text, move):
    assert read_move(text) == move
    assert write_move(move) == text


@pytest.mark.parametrize(("spelled", "text"), OTHER_SPELLINGS.items())
def test_other_spellings_are_read_and_written_short(spelled, text):
    assert write_move(read_move(spelled)) == text


NO_MOVES = [
    "",
    "a",
    "a11",
    "A1",
    "Wa1",
    "ca1",
    "a1>>",
    "3c3",
    "3c3>13",
    "3c3>111111",
    "2a1>0",
    "0a1>",
    "a1 b2",
    "12a1>",
    "Sa1>",
    "--",
]


@pytest.mark.parametrize("text", NO_MOVES)
def test_what_is_no_move_is_refused(text):
    with pytest.raises(NotationError):
        read_move(text)


# TPS

TPS = {
    "the start": "x3/x3/x3 1 1",
    "player 2 to move": "x5/x5/x5/x5/2,x4 2 1",
    "stacks, walls and Crowns": "2,x4,1/x2,12S,x3/21,1,2S,1,1,1/2222,21,121C,1,1,x/x,1122C,1,2,2,x/2,x,1,x3 1 25",
    "a wide board": "x8/x8/x8/x8/x8/x8/x8/1,x6,2 1 2",
    "taken back in number": "x5,11/2S,2S,2S,2S,2S,2S/x6/x6/x6/x6 1 1",
}

TPS_SPELLED = {
    "x1": ("x1,x,x1/x3/2,x2 2 1", "x3/x3/2,x2 2 1"),
    "runs not joined": ("x2,x/x,x,x/2,x,x1 2 1", "x3/x3/2,x2 2 1"),
    "blanks": ("  x3/x3/x3   1  1 \n", "x3/x3/x3 1 1"),
}

BROKEN_TPS = {
    "nothing": ("", "ranks"),
    "no number": ("x3/x3/x3 1", "move number"),
    "one word more": ("x3/x3/x3 1 1 1", "move number"),
    "player 3": ("x3/x3/x3 3 1", "'3' cannot be to move"),
    "number 0": ("x3/x3/x3 1 0", "no move number"),
    "a number with a sign": ("x3/x3/x3 1 -1", "no move number"),
    "digits of another script": ("x3/x3/x3 1 ٣", "no move number"),
    "two ranks": ("x2/x2 1 1", "3 to 8 ranks"),
    "a 9x9 board": ("/".join(["x9"] * 9) + " 1 1", "3 to 8 ranks; here are 9"),
    "a rank too short": ("x3/x2/x3 1 1", "rank 2: 2 squares"),
    "a rank too long": ("x3/x3/1,x3 1 2", "rank 1: 4 squares"),
    "an unknown sign": ("x3/x3/x,3,x 1 2", "character 9, rank 1: '3'"),
    "an empty word": ("x3/x3/x,,x 1 2", "character 9, rank 1: ''"),
    "x0": ("x3/x0,x3/x3 1 2", "character 4, rank 2: 'x0'"),
    "a wall in a stack": ("x3/1S2,x2/x3 1 2", "character 4, rank 2: '1S2': only the top piece"),
    "two Crowns on one square": ("x5/x5/x5/x5/1CC,x4 1 2", "only the top piece"),
    "a Crown too many": ("x5/x5/x5/x5/1C,1C,2,x2 1 5", "player 1 has 0 stones and 2 Crowns"),
    "a Crown on 3x3": ("x3/x3/1C,2,x 1 2", "1 Crowns on the board; a 3x3 board has 10 and 0"),
    "stones too many": ("x3/x3/11111111111,x2 2 9", "player 1 has 11 stones"),
    "an empty board and player 2": ("x3/x3/x3 2 1", "player 2 cannot be to move"),
    "the first piece of the wrong owner": ("x3/x3/1,x2 2 1", "the first piece, on a1, has to be a flat of player 2"),
    "a wall as first piece": ("x3/x3/x,2S,x 2 1", "the first piece, on b1"),
}


@pytest.mark.parametrize("text", TPS.values(), ids=TPS)
def test_tps_is_read_and_written_alike(text):
    assert write_tps(read_tps(text)) == text


@pytest.mark.parametrize(("spelled", "text"), TPS_SPELLED.values(), ids=TPS_SPELLED)
def test_tps_in_other_spellings(spelled, text):
    assert write_tps(read_tps(spelled)) == text


@pytest.mark.parametrize(("text", "why"), BROKEN_TPS.values(), ids=BROKEN_TPS)
def test_broken_tps_is_refused_with_place_and_reason(text, why):
    with pytest.raises(NotationError) as refused:
        read_tps(text)
    assert why in str(refused.value)


def test_tps_of_another_board_is_refused():
    with pytest.raises(NotationError, match="the board is 5x5; here are 3 ranks"):
        read_tps("x3/x3/x3 1 1", 5)


# PTN

QUIRKS = """\
\ufeff[Size "5"]
[Player1 "Ada"]
[Player2 "Ben {not a comment}"]
[Site ""]
[Result "R-0"]

{before the first move}
1. a1 {the
first} e5
2.b1?! {!} d5''
2... {again} 7. c1 Sc5!!
12 d1" Ce4
{two} {comments} 1.. e1* R-0 {after the end}
"""


def test_a_record_keeps_what_stands_in_it():
    with pytest.raises(NotationError, match=r"line 13, column 22, move 5, e1: it is marked \* but flattens no wall"):
        replay(read_ptn(QUIRKS))
    text = QUIRKS.replace("e1*", "e1'")
    record = read_ptn(text)
    assert text.removeprefix("\ufeff").split() == write_ptn(record).replace("2. b1", "2.b1").split()
    assert read_ptn(write_ptn(record)) == record
    assert write_ptn(read_ptn(write_ptn(record))) == write_ptn(record)
    assert record.tag("player2") == "Ben {not a comment}"
    assert [ply.marks for ply in record.plies] == ["", "", "?!", "''", "", "!!", '"', "", "'"]


def test_a_comment_keeps_its_blanks_and_lines():
    text = '[Size "5"]\n\n1. a1 { so\n  it } {}\n'
    assert write_ptn(read_ptn(text)) == text


@pytest.mark.parametrize("newline", ["\r\n", "\n\n", "\n  "])
def test_line_ends_say_nothing(newline):
    text = '[Size "5"]\n1. a1 e5\n2. c3 c4\n'
    assert read_ptn(text.replace("\n", newline)) == read_ptn(text)


STARTS = {
    "player 1 to move": ("x5/x5/x5/x5/2,x3,1 1 2", "2. c3 c4", "x5/x2,2,x2/x2,1,x2/x5/2,x3,1 1 3"),
    "player 2 to move": ("x5/x5/x2,1,x2/x5/2,x3,1 2 2", "2. -- c4", "x5/x2,2,x2/x2,1,x2/x5/2,x3,1 1 3"),
    "player 2, with dots": ("x5/x5/x2,1,x2/x5/2,x3,1 2 2", "2. ... c4", "x5/x2,2,x2/x2,1,x2/x5/2,x3,1 1 3"),
    "player 2, no sign": ("x5/x5/x2,1,x2/x5/2,x3,1 2 2", "2... c4", "x5/x2,2,x2/x2,1,x2/x5/2,x3,1 1 3"),
    "in the opening": ("x5/x5/x5/x5/2,x4 2 1", "1. -- e1", "x5/x5/x5/x5/2,x3,1 1 2"),
}


@pytest.mark.parametrize(("tps", "moves", "end"), STARTS.values(), ids=STARTS)
def test_a_record_can_start_from_a_position(tps, moves, end):
    record = read_ptn(f'[Size "5"]\n[TPS "{tps}"]\n{moves}')
    states = replay(record)
    assert write_tps(states[-1]) == end
    assert read_ptn(write_ptn(record)) == record
    again = record_of(states[0], [ply.move for ply in record.plies])
    assert again.tag("TPS") == tps
    assert replay(read_ptn(write_ptn(again))) == states
    assert write_tps(replay(read_ptn(f'[TPS "{tps}"]\n{moves}'))[-1]) == end


ENDINGS = {
    "resigned, at the end": ('[Size "5"]\n1. a1 e5 0-1', Result(Player.B, Reason.RESIGNATION)),
    "resigned, in the tag": ('[Size "5"]\n[Result "1-0"]\n1. a1 e5', Result(Player.A, Reason.RESIGNATION)),
    "a draw": ('[Size "5"]\n[Result "1/2-1/2"]\n1. a1 e5 1/2-1/2', Result(None, Reason.AGREEMENT)),
    "not finished": ('[Size "5"]\n[Result "*"]\n1. a1 e5', None),
    "an empty tag": ('[Size "5"]\n[Result ""]\n1. a1 e5', None),
    "a path told as a win": ('[Size "3"]\n1. c3 a1 2. b1 c2 3. c1 1-0', Result(Player.A, Reason.PATH)),
    "no moves": ('[Size "8"]', None),
    "a blank before the result": ('[Size "5"]\n1. a1 -- 0-1', Result(Player.B, Reason.RESIGNATION)),
    "no komi": ('[Size "5"]\n[Komi "0"]\n[Opening "swap"]\n[Flats "21"]\n[Caps "1"]\n1. a1', None),
}


@pytest.mark.parametrize(("text", "result"), ENDINGS.values(), ids=ENDINGS)
def test_how_a_record_ends(text, result):
    assert replay(read_ptn(text))[-1].result == result


BROKEN_PTN = {
    "nothing": ("", 'the tag [Size "5"] is missing'),
    "a 9x9 board": ('[Size "9"]\n1. a1', '[Size "9"]: a board has 3 to 8'),
    "a size in words": ('[Size "five"]', "a board has 3 to 8"),
    "another size than the TPS": ('[Size "5"]\n[TPS "x3/x3/x3 1 1"]', "the board is 5x5"),
    "a broken TPS": ('[TPS "x3/x3/x2 1 1"]', "rank 1: 2 squares"),
    "a tag not closed": ('[Size "5"\n1. a1', "line 1, column 1: a tag is written"),
    "a tag after moves": ('[Size "5"]\n1. a1\n[Site "x"]', "line 3, column 1: tags stand before the moves"),
    "a comment not closed": ('[Size "5"]\n1. a1 {and so', "line 2, column 7: a comment that is not closed"),
    "no move": ('[Size "5"]\n1. a1 e5\n2. z', "line 3, column 4: 'z' is no move"),
    "a sign after a move": ('[Size "5"]\n1. a1# e5', "line 2, column 4: 'a1#' is no move"),
    "drops that do not add up": ('[Size "5"]\n1. a1 e5\n2. 3a1>11', "line 3, column 4: 3a1>11 takes 3 and drops 2"),
    "off the board": ('[Size "5"]\n1. a1 f5', "line 2, column 7, move 1, f5: there is no f5 on a 5x5 board"),
    "far off the board": ('[Size "5"]\n1. a1 a9', "line 2, column 7, move 1, a9: there is no a9"),
    "onto a piece": ('[Size "5"]\n1. a1 e5\n2. {so} a1', "line 3, column 9, move 2, a1: a1 is not empty"),
    "the other's stack": ('[Size "5"]\n1. a1 e5 2. a1+', "move 2, a1+: a1 is not A's to move: B's flat"),
    "a wall in the opening": ('[Size "5"]\n1. Sa1', "move 1, Sa1: the first turn places a flat of B"),
    "after the end": ('[Size "3"]\n1. c3 a1 2. b1 c2 3. c1 a3', "move 3, a3: the game is over (R-0)"),
    "moves after the result": ('[Size "5"]\n1. a1 0-1 e5', "nothing can follow the result"),
    "two results": ('[Size "5"]\n1. a1 0-1 1-0', "nothing can follow the result"),
    "tag against ending": ('[Size "5"]\n[Result "1-0"]\n1. a1 0-1', "the record gives two results"),
    "no result at all": ('[Size "5"]\n[Result "won"]\n1. a1', "the record says won"),
    "a path that is not there": ('[Size "5"]\n1. a1 R-0', "the record says R-0, but on the board the game is not over"),
    "the wrong winner": ('[Size "3"]\n1. c3 a1 2. b1 c2 3. c1 0-R', "the record says 0-R, the board R-0"),
    "the wrong winner, plainly": ('[Size "3"]\n1. c3 a1 2. b1 c2 3. c1 0-1', "the record says 0-1, the board R-0"),
    "a pass": ('[Size "5"]\n1. a1 e5 2. -- b2', "line 2, column 13: -- between two moves: nobody can pass"),
    "komi": ('[Size "5"]\n[Komi "2"]\n1. a1', '[Komi "2"]: only 0 is played here'),
    "another opening": ('[Size "5"]\n[Opening "no-swap"]\n1. a1', '[Opening "no-swap"]: only swap'),
    "other reserves": ('[Size "5"]\n[Flats "30"]\n1. a1', '[Flats "30"]: only 21'),
}


@pytest.mark.parametrize(("text", "why"), BROKEN_PTN.values(), ids=BROKEN_PTN)
def test_broken_ptn_is_refused_with_place_and_reason(text, why):
    with pytest.raises(NotationError) as refused:
        replay(read_ptn(text))
    assert why in str(refused.value)


def test_a_written_record_marks_flattenings_and_has_its_result():
    state = read_tps("x4/x4/2S,x,2,x/1,x3 1 9")
    moves = [read_move("b2"), read_move("c2<")]
    record = with_result(record_of(state, moves, [("Player1", "Ada")]), Result(Player.A, Reason.RESIGNATION))
    assert write_ptn(record).splitlines() == [
        '[Player1 "Ada"]',
        '[Size "4"]',
        f'[TPS "{write_tps(state)}"]',
        '[Result "1-0"]',
        "",
        "9. b2 c2< 1-0",
    ]
    crown = read_tps("x5/x5/x5/2S,x4/1C,x4 1 10")
    assert write_ptn(record_of(crown, [read_move("a1+")])).endswith("10. a1+*\n")
    marked = read_ptn(write_ptn(record_of(crown, [read_move("a1+")])))
    assert replay(marked)[-1] == play(crown, read_move("a1+"))


def test_a_record_of_a_finished_game_ends_with_its_result():
    states = replay(read_ptn('[Size "3"]\n1. c3 a1 2. b1 c2 3. c1'))
    record = record_of(start(3), [read_move(text) for text in ["c3", "a1", "b1", "c2", "c1"]])
    assert write_ptn(record) == '[Size "3"]\n[Result "R-0"]\n\n1. c3 a1\n2. b1 c2\n3. c1 R-0\n'
    assert replay(record) == states
