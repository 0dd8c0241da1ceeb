"""How looks become rulings: each row is a game's looks in order, and what the referee says to each."""

import pytest

from companion.inputs import Declaration, Declared
from companion.ruling import Shot

STORIES = {
    "a hand alone is no flick": [("hand", [])],
    "an empty board seen again": [("", []), ("", [])],
    "a new disk after a hand": [("a:4,4 hand", ["1 a left 0"])],
    "a new disk with neither hand nor flight seen": [("a:4,4", ["1 a left 0"])],
    "a flight that leaves nothing": [("flew-a", ["1 a left 1"])],
    "a flight of a colour that could not be told": [("flew hand", ["1 a left 1"])],
    "flicks alternate": [
        ("a:4,4 flew-a", ["1 a left 0"]),
        ("a:4,4 b:5,5 flew-b", ["2 b left 0"]),
        ("a:4,4 b:5,5 a@60,300 hand", ["3 a left 0"]),
    ],
    "a hand that reaches over and changes nothing": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 hand", []),
        ("a:4,4", []),
    ],
    "a disk seen a little off is no event": [
        ("a@120,300 b@10,200 hand", ["1 a left 0", "2 b left 0"]),
        ("a@121.5,299 b@10,201.9 hand", []),
        ("a@118,300.5 b@11.5,200", []),
    ],
    "the looser the sighting, the further it may be off": [
        ("a@120,300~1.2 hand", ["1 a left 0"]),
        ("a@126.5,300~1.2 hand", []),
    ],
    "a disk wanders in its hole": [("a@74,226 hand", ["1 a left 0"]), ("a@77,226 hand", [])],
    "a tilted disk laid flat is no event": [
        ("a:5,5/ hand", ["1 a left 0, a flat tilted"]),
        ("a:5,5 hand", []),
    ],
    "a flick knocks a disk away and stays": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("b:4,4 a:6,6 flew-b", ["2 b left 0"]),
    ],
    "a flick knocks a disk off and stays": [
        ("a:4,4/ hand", ["1 a left 0, a flat tilted"]),
        ("b:5,5 flew-b", ["2 b left 1"]),
    ],
    "a flick knocks the own disk off and takes its place nearby": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 flew-b", ["2 b left 1"]),
        ("a@100,290 flew-a", ["3 a left 1"]),
    ],
    "a flick knocks a disk off and leaves the board": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("flew-b hand", ["2 b left 2"]),
    ],
    "a flick moves a disk and leaves the board unseen": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("a@150,330 hand", ["2 b left 1"]),
    ],
    "two flicks between two looks": [
        ("a:4,4 b:5,5 hand", ["1 a left 0", "2 b left 0"]),
        ("a:4,4 b:5,5 a:6,6 b:3,3 a:2,2 hand", ["3 a left 0", "4 b left 0", "5 a left 0"]),
    ],
    "the first of two flicks was seen to fly off": [
        ("b:5,5 flew-a flew-b hand", ["1 a left 1", "2 b left 0"]),
    ],
    "a disk beside the board is not on it": [("a@-20,200 a:4,4 hand", ["1 a left 0"]), ("a:4,4 b@200,520 hand", [])],
    "a disk on the side edge is": [("a@6,124 hand", ["1 a left 0"])],
}

ORDERS = {
    "pushed into the own front row": [
        ("a:2,6 hand", ["1 a left 0"]),
        ("a:1,6 b:3,3 flew-b", ["2 b left 0, a off own-front-row"]),
        ("b:3,3 hand", ["cleared"]),
        ("b:3,3 a:4,4 hand", ["3 a left 0"]),
    ],
    "two disks to take off, one after the other": [
        ("a:2,6 hand", ["1 a left 0"]),
        ("a:1,6 b:8,3 flew-b", ["2 b left 0, a off own-front-row, b off own-front-row"]),
        ("b:8,3 hand", ["noted"]),
        ("hand", ["cleared"]),
    ],
    "taken off though no hand was seen": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("", ["cleared"]),
    ],
    "the disk in the hand that takes it off is no flight": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("hand flew-a", ["cleared"]),
    ],
    "a hand that does not take it off yet": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("a:1,1 hand", []),
        ("hand", ["cleared"]),
    ],
    "taken off and the next flick between two looks": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("b:5,5 hand", ["cleared", "2 b left 0"]),
    ],
    "the lifter nudges another disk": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("a@120,300 b:8,1 hand", ["2 b left 0, b off own-front-row"]),
        ("a@127,300 hand", ["cleared"]),
    ],
    "not carried out: the next flick counts, the disk does not": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("a:1,1 b:5,5 flew-b", ["refused, a off own-front-row", "2 b left 0"]),
        ("a:1,1 b:5,5 a:4,4 flew-a", ["3 a left 0"]),
    ],
    "not carried out, and hit by the next flick": [
        ("a@100,60 flew-a", ["1 a left 0, a off own-launch-area"]),
        ("a:8,4 b:5,5 flew-b", ["refused, a off own-launch-area", "2 b left 0"]),
    ],
    "lay it flat never blocks": [
        ("a:5,5/ flew-a", ["1 a left 0, a flat tilted"]),
        ("a:5,5/ b:3,3 flew-b", ["2 b left 0"]),
    ],
}

QUESTIONS = {
    "the other player's disk appears": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("b:5,5 hand", []),
    ],
    "its own flight explains nothing": [("b:5,5 flew-b", ["undecided flick-lost or out-of-turn"])],
    "the players play on: the missing flick was lost": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("b:5,5 a:4,4 hand", ["1 a left 1", "2 b left 0", "3 a left 0"]),
        ("b:5,5 a:4,4 b:3,3 hand", ["4 b left 0"]),
    ],
    "it is taken back, and the right player flicks": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("hand", ["noted"]),
        ("a:4,4 hand", ["1 a left 0"]),
    ],
    "it is taken back in exchange for the right player's": [
        ("b:5,5 hand", ["undecided flick-lost or out-of-turn"]),
        ("a:4,4 hand", ["1 a left 0"]),
    ],
    "it was a misread colour": [
        ("b:5,5 flew-a", ["undecided flick-lost or out-of-turn"]),
        ("a:5,5 hand", ["1 a left 0"]),
    ],
    "a disk gone after a hand and nothing else": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("hand", []),
    ],
    "it was only not seen": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("a@120,300 hand", ["noted"]),
    ],
    "who flicks next tells that a flick took it": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("a:4,4 hand", ["2 b left 2", "3 a left 0"]),
    ],
    "who flicks next tells that a hand took it": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hand", ["undecided flick or by-hand"]),
        ("b:5,5 hand", ["2 b left 0"]),
    ],
    "the next flick, before the hidden hole is seen": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("b:5,5 hidden-4,4 hand", ["1 a left 1", "2 b left 0"]),
    ],
    "the next flick shows the hidden disk too": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("a:4,4 b:5,5 hand", ["1 a left 0", "2 b left 0"]),
    ],
    "another hole is hidden now": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("hidden-4,5 hand", ["undecided flick-lost"]),
        ("hand", ["1 a left 1"]),
    ],
    "one more disk is gone": [
        ("a@120,300 b:5,5 hand", ["1 a left 0", "2 b left 0"]),
        ("b:5,5 hand", ["undecided flick or by-hand"]),
        ("hand", ["undecided flick or by-hand"]),
        ("a@120,300 b:5,5 hand", ["noted"]),
    ],
    "where it cannot be seen, the flicked disk may lie": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("a:4,4", ["1 a left 0"]),
    ],
    "and where it is seen not to lie, it left the board": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("", ["1 a left 1"]),
    ],
    "a wrong disk is taken off": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("a@120,300 b:8,1 hand", ["2 b left 0, b off own-front-row"]),
        ("b:8,1 hand", ["undecided flick or by-hand"]),
    ],
    "too close to call, and the flick counts": [
        ("a@50,69.5~0.3 flew-a", ["1 a left 0", "undecided stays or comes-off"]),
        ("a@50,69.5~0.3 b:5,5 hand", ["2 b left 0"]),
    ],
    "too close to call, and the players take it off": [
        ("a@50,69.5~0.3 flew-a", ["1 a left 0", "undecided stays or comes-off"]),
        ("hand", ["noted"]),
        ("b:5,5 hand", ["2 b left 0"]),
    ],
}

SEEING = {
    "under a hidden hole that holds a disk no other can lie": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("flew-b hidden-4,4", ["2 b left 1"]),
    ],
    "a disk to take off that cannot be seen is not gone": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("b:5,5 hidden-1,1 hand", ["2 b left 0"]),
        ("b:5,5 hand", ["cleared"]),
    ],
    "a disk not seen after a flick is seen again": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("b:5,5 flew-b", ["2 b left 1"]),
        ("a:4,4 b:5,5 hand", ["noted"]),
        ("a:4,4 b:5,5 a:6,6 hand", ["3 a left 0"]),
    ],
    "a disk to take off not seen for once is not off": [
        ("a:1,1 flew-a", ["1 a left 0, a off own-front-row"]),
        ("", ["cleared"]),
        ("a:1,1", ["noted"]),
        ("b:5,5 hand", ["cleared", "2 b left 0"]),
    ],
    "a flicked disk seen late": [
        ("flew-a", ["1 a left 1"]),
        ("a:1,1 hand", ["noted, a off own-front-row"]),
        ("b:5,5 hand", ["cleared", "2 b left 0"]),
    ],
    "seen late and too close to call": [
        ("flew-a", ["1 a left 1"]),
        ("a@50,69.5~0.3", ["noted", "undecided stays or comes-off"]),
    ],
    "the same player's next disk flies: that is out of turn": [
        ("flew-a", ["1 a left 1"]),
        ("a:4,4 flew-a", ["undecided flick-lost or out-of-turn"]),
    ],
    "seen again together with the next flick": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("b:5,5 flew-b", ["2 b left 1"]),
        ("a:4,4 b:5,5 a:6,6 flew-a", ["3 a left 0"]),
    ],
    "seen to fly to the place where another lay": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("b:5,5 flew-b", ["2 b left 1"]),
        ("b:5,5 a@120,300 flew-a", ["3 a left 0"]),
    ],
    "under a hand or glare a disk is not gone": [
        ("a:4,4 hand", ["1 a left 0"]),
        ("b:5,5 hidden-4,4 hand", ["2 b left 0"]),
        ("a:4,4 b:5,5", []),
    ],
    "nor one on the surface beside a hidden hole": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("hidden-6,3 hand", []),
        ("a@120,300 hand", []),
    ],
    "what hides one hole and none beside it hides nothing a pitch away": [
        ("a@120,270 hand", ["1 a left 0"]),
        ("a@130,262 b:5,5 hidden-6,3 hand", ["2 b left 0"]),
    ],
    "what hides two does": [
        ("a@120,270 hand", ["1 a left 0"]),
        ("b:5,5 hidden-6,3 hidden-6,4 hand", ["2 b left 0"]),
        ("a@120,270 b:5,5", []),
    ],
    "a colour misread in the same place": [("a:4,4 hand", ["1 a left 0"]), ("b:4,4 hand", []), ("a:4,4 hand", [])],
    "a disk of the other colour in its place, and it elsewhere": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("b@121,300 a:6,6 flew-b", ["2 b left 0"]),
    ],
    "gone or moved without hand or flight is trouble in seeing": [
        ("a@120,300 hand", ["1 a left 0"]),
        ("", []),
        ("a@150,330", []),
        ("a@120,300 b:5,5 hand", ["2 b left 0"]),
    ],
    "a disk laid ready to be flicked is not on the board": [
        ("a@150,40 hand", []),
        ("a:4,4 hand", ["1 a left 0"]),
        ("a:4,4 b@150,454 hand", []),
        ("a:4,4 b@150,454 a@150,40 hand", []),
        ("a:4,4 b:5,5 a@150,40 hand", ["2 b left 0"]),
    ],
    "a feeble flick that stays in the own launch area": [
        ("a@150,40 flew-a", ["1 a left 0, a off own-launch-area"]),
    ],
    "a disk pushed back into its own launch area": [
        ("a@150,120 hand", ["1 a left 0"]),
        ("a@150,40 b:5,5 flew-b", ["2 b left 0, a off own-launch-area"]),
    ],
    "measured again near a line, a verdict holds": [
        ("a@50,70.9~0.4 flew-a", ["1 a left 0"]),
        ("a@50,69.2~0.3 b:5,5 flew-b", ["2 b left 0"]),
    ],
    "moved near the line, it is judged anew": [
        ("a@50,76~0.4 flew-a", ["1 a left 0"]),
        ("a@50,68~0.4 b:5,5 flew-b", ["2 b left 0, a off own-launch-area"]),
    ],
}


@pytest.mark.parametrize(
    "story", [pytest.param(story, id=name) for name, story in (STORIES | ORDERS | QUESTIONS | SEEING).items()]
)
def test_looks_become_rulings(story, referee, look, told):
    said = [(seen, told(referee.take(look(seen)))) for seen, _ in story]
    assert said == story


def test_the_board_after_a_shot_is_told_with_the_disks_ordered_off(referee, look, disks):
    referee.take(look("a:2,6 hand"))
    (ruling,) = referee.take(look("a:1,6 b:3,3 hand"))
    assert isinstance(ruling.event, Shot)
    assert ruling.event.disks == disks("a:1,6 b:3,3")


def test_a_disk_that_should_have_come_off_never_counts(referee, look):
    for seen in ("a:1,1 hand", "a:1,1 b:5,5 hand", "a:8,1 b:5,5 a:8,2 flew-a"):
        referee.take(look(seen))
    assert referee.standing.game is not None
    assert [(resting.disk.cell, resting.counts) for resting in referee.standing.game.board] == [
        ((8, 1), False),
        ((5, 5), True),
        ((8, 2), True),
    ]
    (_, over) = referee.take(Declaration(Declared.END_GAME))
    assert over.event.count == (1, 0)


def test_a_game_ends_with_the_last_flick(referee, flicked_out, told):
    *looks, last = flicked_out(24)
    assert [told(referee.take(seen)) for seen in looks] == [[f"{n} {'ba'[n % 2]} left 0"] for n in range(1, 24)]
    assert told(referee.take(last)) == ["24 b left 0", "over A 0 - B 0"]


@pytest.fixture
def board(referee, flicked_out, look, told):
    """What lies on the board where only the last orders of a game are still to be carried out."""
    *looks, _ = flicked_out(24)
    for seen in looks:
        referee.take(seen)
    board = " ".join(f"{disk.colour}:{disk.cell[0]},{disk.cell[1]}" for disk in looks[-1].disks)
    assert told(referee.take(look(f"{board} b:8,7 flew-b"))) == ["24 b left 0, b off own-front-row"]
    return board


def test_what_flies_after_the_last_flick_is_none(referee, board, look, told):
    assert told(referee.take(look(f"{board} flew-a flew-b hand"))) == ["cleared", "over A 0 - B 0"]


def test_a_game_ends_when_the_last_orders_are_carried_out(referee, board, look, told):
    assert told(referee.take(look(f"{board} hand"))) == ["cleared", "over A 0 - B 0"]
    assert told(referee.take(look(f"{board} a:2,2 hand"))) == ["refused, a off illegal-flick"]
    assert told(referee.take(look(f"{board} a:2,2 hand"))) == []
