"""What people say and correct: games as rows of looks and words, with the referee's answers."""

import pytest

from companion.inputs import Declaration, Declared, DiskCorrection, Setup, Undo
from companion.referee import Referee
from companion.terms import IllegalFlick, Mode

ANSWERS = {
    "the flick was lost": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("say flick-lost", ["1 a left 1", "2 b left 0"]),
        ("b:5,5 a:4,4 hand", ["3 a left 0"]),
    ],
    "it was out of turn": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("say out-of-turn", ["1 b left 0", "refused, b off illegal-flick"]),
        ("hand", ["cleared"]),
        ("a:4,4 hand", ["2 a left 0"]),
    ],
    "the answers as candidates": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("say accept flick-lost", ["1 a left 1", "2 b left 0"]),
    ],
    "nobody flicked: the disk is taken back": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("say not-a-flick", ["noted, b off not-a-flick"]),
        ("hand", ["cleared"]),
        ("a:4,4 hand", ["1 a left 0"]),
    ],
    "lost, said before anything is seen": [
        ("say flick-lost", ["1 a left 1"]),
        ("b:5,5 hand", ["2 b left 0"]),
    ],
    "a flick took it": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("say accept flick", ["2 b left 2"]),
    ],
    "a hand took it": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("say accept by-hand", ["noted"]),
        ("b:5,5 hand", ["2 b left 0"]),
    ],
    "it left the board where nothing could be seen": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("say flick-lost", ["1 a left 1"]),
    ],
    "by the line, it stays": [
        ("a@50,69.5~0.3 flew-a", ["1 a left 0", "undecided stays or comes-off"]),
        ("say accept stays", ["noted"]),
        ("a@50,69.5~0.3 b:5,5 hand", ["2 b left 0"]),
    ],
    "by the line, it comes off": [
        ("a@50,69.5~0.3 flew-a", ["1 a left 0", "undecided stays or comes-off"]),
        ("say accept comes-off", ["noted, a off own-launch-area"]),
        ("hand", ["cleared"]),
    ],
    "orders said to be carried out": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("say accept", ["cleared"]),
    ],
}

FLICKS = {
    "illegal: the disk comes off, what it moved stays": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("a@150,330 b:5,5 hand", ["2 b left 0"]),
        ("say illegal-flick", ["noted, b off illegal-flick"]),
        ("a@150,330 hand", ["cleared"]),
        ("a@150,330 a:4,4 hand", ["3 a left 0"]),
    ],
    "illegal, and it left the board already": [
        ("flew-a", ["1 a left 1"]),
        ("say illegal-flick", ["noted"]),
    ],
    "illegal, and which disk was flicked is not known": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 b:5,5 hand", ["2 b left 0"]),
        ("b:5,5 a:6,6 flew-a", ["3 a left 1"]),
        ("say illegal-flick", ["undecided at row 6, column 6 or left-the-board"]),
        ("say accept at row 6, column 6", ["noted, a off illegal-flick"]),
    ],
    "illegal, and the flicked disk is the one that left": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 b:5,5 hand", ["2 b left 0"]),
        ("b:5,5 a:6,6 flew-a", ["3 a left 1"]),
        ("say illegal-flick", ["undecided at row 6, column 6 or left-the-board"]),
        ("say accept left-the-board", ["noted"]),
    ],
    "not a flick: a new disk is taken back": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("say not-a-flick", ["noted, a off not-a-flick"]),
        ("hand", ["cleared"]),
        ("a:6,6 hand", ["1 a left 0"]),
    ],
    "not a flick: what was moved lies where it lies": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("a@160,300 hand", ["2 b left 1"]),
        ("say not-a-flick", ["noted"]),
        ("a@160,300 hand", []),
        ("a@160,300 b:5,5 hand", ["2 b left 0"]),
    ],
    "ended early, with what stands": [
        ("a:8,4 hand", ["1 a left 0"]),
        ("say end-game", ["noted", "over A 1 - B 0"]),
        ("a:8,4 b:5,5 hand", ["refused, b off illegal-flick"]),
    ],
    "ended with a question open: the missing flick was lost": [
        ("a:8,4 hand", ["1 a left 0"]),
        ("a:8,4 a:8,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("say end-game", ["2 b left 1", "3 a left 0", "noted", "over A 2 - B 0"]),
    ],
}

REFUSED = {
    "an illegal flick before any": ["say illegal-flick"],
    "not a flick before any": ["say not-a-flick"],
    "an answer without a question": ["say accept stays"],
    "nothing to accept": ["say accept"],
    "out of turn without a question": ["say out-of-turn"],
    "a choice that is no candidate": ["b:5,5 hand", "say accept comes-off"],
    "an illegal flick while it is asked whose flick it was": ["b:5,5 hand", "say illegal-flick"],
    "the next game before this one is over": ["a:4,4 hand", "say next-game"],
    "ended twice": ["say end-game", "say end-game"],
    "a flick lost in a game that is over": ["say end-game", "say flick-lost"],
    "a correction of a disk that is not there": ["a:4,4 hand", "fix a:5,5 > a:6,6"],
    "a correction to a hole that is not there": ["a:4,4 hand", "fix a:4,4 > a:9,1"],
    "a correction of nothing": ["fix  > "],
}

CORRECTIONS = {
    "a cell set": [
        ("a@95,394 hand", ["1 a left 0"]),
        ("fix a@95,394 > a:8,3", ["noted"]),
        ("say end-game", ["noted", "over A 1 - B 0"]),
    ],
    "a disk that must come off after all": [
        ("a@74,120 hand", ["1 a left 0"]),
        ("fix a@74,120 > a:1,2", ["noted, a off own-front-row"]),
        ("hand", ["cleared"]),
    ],
    "a disk that need not come off after all": [
        ("a:1,2 hand", ["1 a left 0, a off own-front-row"]),
        ("fix a:1,2 > a:2,2", ["noted"]),
        ("a:2,2 b:5,5 hand", ["2 b left 0"]),
    ],
    "a disk that was not seen": [
        ("flew-a", ["1 a left 1"]),
        ("fix  > a:8,2", ["noted"]),
        ("a:8,2 b:5,5 hand", ["2 b left 0"]),
    ],
    "a disk that is not there": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("fix a:4,4 > ", ["noted"]),
        ("b:5,5 hand", ["2 b left 0"]),
    ],
    "a colour, in the look that a question is about": [
        ("b:4,4 hand", ["undecided flick-lost or out-of-turn"]),
        ("fix b:4,4 > a:4,4", ["1 a left 0"]),
        ("b:4,4 hand", []),
    ],
    "a colour, on the board": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("fix a:4,4 > b:4,4", ["noted"]),
        ("a:4,4 hand", []),
    ],
    "after the end, the count": [
        ("a:8,4 hand", ["1 a left 0"]),
        ("say end-game", ["noted", "over A 1 - B 0"]),
        ("fix a:8,4 > a:7,4", ["noted", "over A 0 - B 0"]),
    ],
    "undone, the look before counts": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("undo", ["noted"]),
        ("a:4,4 hand", ["1 a left 0"]),
    ],
    "undo passes over looks at which nothing happened": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 hand", []),
        ("undo", ["noted"]),
        ("hand", []),
    ],
    "undo to before an entry": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 b:5,5 hand", ["2 b left 0"]),
        ("a:4,4 b:5,5 a:6,6 hand", ["3 a left 0"]),
        ("undo 3", ["noted"]),
        ("a:4,4 b:5,5 hand", ["2 b left 0"]),
    ],
}


@pytest.fixture
def take(referee, look, disks):
    """Gives the referee one row's input."""

    def give(words: str):
        if words.startswith("say "):
            _, what, *choice = words.split(maxsplit=2)
            return referee.take(Declaration(Declared(what), choice=choice[0] if choice else None))
        if words.startswith("fix "):
            was, now = (next(iter(disks(side)), None) for side in words.removeprefix("fix ").split(">"))
            return referee.take(DiskCorrection(was, now))
        if words.startswith("undo"):
            _, *before = words.split()
            return referee.take(Undo(int(before[0]) if before else None))
        return referee.take(look(words))

    return give


@pytest.mark.parametrize(
    "story", [pytest.param(story, id=name) for name, story in (ANSWERS | FLICKS | CORRECTIONS).items()]
)
def test_what_people_say(story, take, told):
    assert [(words, told(take(words))) for words, _ in story] == story


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED)
def test_refused_and_nothing_changes(words, take, referee, told):
    *before, last = words
    for earlier in before:
        take(earlier)
    standing = referee.standing
    (ruling,) = take(last)
    assert told((ruling,)) == ["refused"]
    assert referee.standing == standing


def test_nothing_to_undo_and_nothing_set_up(told):
    referee = Referee()
    assert told(referee.take(Undo())) == ["refused"]
    assert told(referee.take(Declaration(Declared.ILLEGAL_FLICK))) == ["refused"]
    assert referee.standing == Referee().standing


def test_an_illegal_last_flick_opens_the_game_again(referee, flicked_out, take, told, look):
    for seen in flicked_out(24):
        rulings = referee.take(seen)
    assert told(rulings) == ["24 b left 0", "over A 0 - B 0"]
    assert told(take("say illegal-flick")) == ["noted, b off illegal-flick"]
    assert referee.standing.score is None
    assert told(referee.take(flicked_out(23)[-1])) == ["cleared", "over A 0 - B 0"]


def test_to_replay_a_flick_is_given_back(look, told):
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup(illegal_flick=IllegalFlick.REPLAY)))
    story = [
        ("a:4,4 hand", ["1 a left 0"]),
        ("illegal", ["noted, a off illegal-flick"]),
        ("hand", ["cleared"]),
        ("a:6,6 hand", ["1 a left 0"]),
        ("a:6,6 b:5,5 hand", ["2 b left 0"]),
    ]
    for words, expected in story:
        given = Declaration(Declared.ILLEGAL_FLICK) if words == "illegal" else look(words)
        assert told(referee.take(given)) == expected


def test_the_next_game_begins_with_the_empty_board_or_when_said(look, told):
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup(Mode.MATCH, threshold=3)))
    assert told(referee.take(look("a:8,4 hand"))) == ["1 a left 0"]
    referee.take(Declaration(Declared.END_GAME))
    assert referee.standing.match_now.points == (2, 0)
    assert told(referee.take(look("a:8,4 hand"))) == []
    assert told(referee.take(look("hand"))) == ["game 2 a"]
    referee.take(look("a:8,4 hand"))
    referee.take(Declaration(Declared.END_GAME))
    assert referee.standing.match_now.winner == "a"
    assert told(referee.take(look("hand"))) == []
    assert told(referee.take(Declaration(Declared.NEXT_GAME))) == ["game 1 b"]
    assert referee.standing.match.names == ("B", "A")
