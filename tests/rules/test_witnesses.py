"""What follows where sensors tell of holes: with a camera that they contradict or complete, and without one."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given as whatever
from hypothesis import strategies as st

from companion.games.witnesses import told_disk
from companion.inputs import (
    Declaration,
    Declared,
    DiskCorrection,
    Dispute,
    Look,
    Setup,
    Undo,
    input_from_json,
    input_to_json,
)
from companion.referee import Referee
from companion.ruling import Undecided, ruling_from_json, ruling_to_json
from companion.terms import USUAL_FIELD, Mode, Player

CELLS = tuple((row, column) for row in range(1, 9) for column in range(1, 8))
SENSED = re.compile(r"(occupied|empty|sees-a|sees-b|sees-no)-(\d),(\d)")


@pytest.fixture
def sensed(look):
    """A look in words (see `look`), with what sensors add: `sees-a-4,5` where the camera sees A's disk and the sensor
    none, `sees-no-4,5` where it is the other way round, `occupied-4,5` and `empty-4,5` for hidden holes. `sensors`
    begins what sensors tell without a camera: the occupied holes follow, and with a `?` those of which none tells."""

    def read(text: str) -> Look:
        if text.startswith("sensors"):
            holes = {(int(hole[0]), int(hole[2])): hole for hole in text.split()[1:]}
            occupied = tuple(cell for cell, hole in holes.items() if "?" not in hole)
            empty = tuple(cell for cell in CELLS if cell not in holes)
            return Look((), CELLS, hand=True, occupied=occupied, empty=empty)
        told = [(kind, (int(row), int(column))) for kind, row, column in SENSED.findall(text)]
        seen = look(" ".join(word for word in text.split() if not SENSED.fullmatch(word)))
        occupied = tuple(cell for kind, cell in told if kind == "occupied")
        empty = tuple(cell for kind, cell in told if kind == "empty")
        whose = {"sees-a": Player.A, "sees-b": Player.B, "sees-no": None}
        return replace(
            seen,
            hidden=(*seen.hidden, *occupied, *empty),
            occupied=occupied,
            empty=empty,
            disputed=tuple(Dispute(cell, whose[kind]) for kind, cell in told if kind in whose),
        )

    return read


def given(words: str, sensed):
    """An input: what is `said: ...`, else a look."""
    if words == "undo":
        return Undo()
    if not words.startswith("said: "):
        return sensed(words)
    said = words.removeprefix("said: ")
    return Declaration(Declared(said)) if said in set(Declared) else Declaration(Declared.ACCEPT, choice=said)


CAMERA_OR_SENSOR = "undecided camera-is-right or sensor-is-right"
A_OR_B = "undecided a-disk or b-disk"

CONTRADICTIONS = {
    "the camera sees a disk, the sensor none; the camera is right": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", ["1 a left 0"]),
    ],
    "the camera sees a disk, the sensor none; the sensor is right: it flew off": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("said: sensor-is-right", ["1 a left 1"]),
    ],
    "the camera sees a disk where none came; the sensor is right: nothing happened": [
        ("a:4,4 flew", ["1 a left 0"]),
        ("a:4,4 a:5,5 hand sees-a-5,5", [CAMERA_OR_SENSOR]),
        ("said: sensor-is-right", ["noted"]),
    ],
    "the camera sees none, the sensor is right: it is the disk of whose turn it was": [
        ("flew sees-no-8,1", [CAMERA_OR_SENSOR]),
        ("said: sensor-is-right", ["1 a left 0"]),
        ("b:3,3 flew sees-no-8,1", ["2 b left 0"]),
    ],
    "the camera sees none, the sensor is right, and another disk is new: a person says whose": [
        ("a:4,4 flew sees-no-8,1", [CAMERA_OR_SENSOR]),
        ("said: sensor-is-right", [A_OR_B]),
        ("said: b-disk", ["1 a left 0", "2 b left 0, b off own-front-row"]),
    ],
    "a contradiction that was answered is not asked again": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", ["1 a left 0"]),
        ("a:4,4 b:5,5 flew sees-a-4,4", ["2 b left 0"]),
        ("a:4,4 b:5,5 hand sees-a-4,4", []),
    ],
    "nor a second time while it waits": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("a:4,4 hand sees-a-4,4", []),
        ("a:4,4 b:5,5 flew-b sees-a-4,4", []),
        ("said: camera-is-right", ["1 a left 0", "2 b left 0"]),
    ],
    "it is gone with the next look, which tells by itself what happened": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("a:4,4", ["1 a left 0"]),
    ],
    "it is gone, and nothing happened": [
        ("a:4,4 flew", ["1 a left 0"]),
        ("a:4,4 a:5,5 sees-a-5,5", [CAMERA_OR_SENSOR]),
        ("a:4,4", ["noted"]),
    ],
    "two contradictions are asked one after the other": [
        ("a:4,4 flew sees-a-4,4 sees-no-3,3", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", ["1 a left 0"]),
    ],
    "a question about the turn waits until it is clear what lies there": [
        ("b:4,4 flew-b", ["undecided flick-lost or out-of-turn"]),
        ("b:4,4 sees-b-4,4 hand", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", ["undecided flick-lost or out-of-turn"]),
        ("said: flick-lost", ["1 a left 1", "2 b left 0"]),
    ],
    "not a flick: what the camera saw new goes back to its player": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("said: not-a-flick", ["noted, a off not-a-flick"]),
        ("", ["cleared"]),
    ],
    "an answer can be taken back": [
        ("a:4,4 flew sees-a-4,4", [CAMERA_OR_SENSOR]),
        ("said: camera-is-right", ["1 a left 0"]),
        ("undo", ["noted"]),
        ("said: sensor-is-right", ["1 a left 1"]),
    ],
    "a game that is over asks nothing": [
        ("a:4,4 flew", ["1 a left 0"]),
        ("said: end-game", ["noted", "over A 0 - B 0"]),
        ("a:4,4 sees-a-4,4", []),
        ("a:4,4 sees-no-3,3", []),
    ],
}

HIDDEN = {
    "a sensor under a hidden hole says that it is empty: the flick was lost": [
        ("flew-a hidden-4,4", ["undecided flick-lost"]),
        ("undo", ["noted"]),
        ("flew-a empty-4,4", ["1 a left 1"]),
    ],
    "it says that the hole is occupied: the disk of whose turn it is": [("flew-a occupied-4,4", ["1 a left 0"])],
    "what lay there lies there": [
        ("a:4,4 flew", ["1 a left 0"]),
        ("b:5,5 flew-b occupied-4,4", ["2 b left 0"]),
        ("a:4,4 b:5,5", []),
    ],
    "what lay there is gone": [
        ("a:4,4 flew", ["1 a left 0"]),
        ("empty-4,4 hand", ["undecided flick or by-hand"]),
        ("said: by-hand", ["noted"]),
    ],
    "a disk ordered off is off": [
        ("a:1,4 flew", ["1 a left 0, a off own-front-row"]),
        ("empty-1,4", ["cleared"]),
    ],
    "whose disk it is follows from no turn where another disk is new": [
        ("a:5,5 flew-a occupied-4,4", [A_OR_B]),
        ("said: b-disk", ["1 a left 0", "2 b left 0"]),
    ],
    "nor where another colour flew": [("flew-b occupied-4,4", [A_OR_B])],
    "a disk on the surface beside a hidden hole is not gone": [
        ("a@53,142 flew", ["1 a left 0"]),
        ("b:7,7 flew-b empty-2,1", ["2 b left 0"]),
    ],
}

ALONE = {
    "one hole more, by turns": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors 4,4 5,5", ["2 b left 0"]),
        ("sensors 4,4 5,5 8,1", ["3 a left 0"]),
    ],
    "in the own front row it has to come off, and does": [
        ("sensors 1,4", ["1 a left 0, a off own-front-row"]),
        ("sensors", ["cleared"]),
        ("sensors 4,4", ["2 b left 0"]),
    ],
    "one hole less: by a flick, or by a hand": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors", ["undecided flick or by-hand"]),
        ("said: by-hand", ["noted"]),
        ("sensors 5,5", ["2 b left 0"]),
    ],
    "one disk less that comes back was only lifted": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors", ["undecided flick or by-hand"]),
        ("sensors 4,4", ["noted"]),
    ],
    "two more at once: a person says whose, one after the other": [
        ("sensors 4,4 5,5", [A_OR_B]),
        ("said: a-disk", [A_OR_B]),
        ("said: b-disk", ["1 a left 0", "2 b left 0"]),
    ],
    "what was answered is remembered while the next question waits": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors 4,4 5,5 6,6 7,7", [A_OR_B]),
        ("said: b-disk", [A_OR_B]),
        ("sensors 4,4 5,5 6,6 7,7 8,8", []),
        ("sensors 4,4 5,5 6,6 7,7", []),
        ("said: b-disk", [A_OR_B]),
        ("said: a-disk", ["2 b left 0", "3 a left 0", "4 b left 0"]),
    ],
    "one more and one less: a person says whose it is": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors 5,5", [A_OR_B]),
        ("said: b-disk", ["2 b left 1"]),
    ],
    "a flick that ends on the surface or off the board is declared": [
        ("said: flick-lost", ["1 a left 1"]),
        ("sensors 4,4", ["2 b left 0"]),
    ],
    "nothing changed, nothing happened": [("sensors 4,4", ["1 a left 0"]), ("sensors 4,4", [])],
    "a hole of which no sensor tells keeps what it held": [
        ("sensors 4,4", ["1 a left 0"]),
        ("sensors 4,4? 5,5", ["2 b left 0"]),
        ("sensors 5,5", ["undecided flick or by-hand"]),
    ],
    "a cleared board begins the next game": [
        ("sensors 8,4", ["1 a left 0"]),
        ("said: end-game", ["noted", "over A 1 - B 0"]),
        ("sensors 8,4", []),
        ("sensors", ["game 2 a"]),
    ],
}


@pytest.mark.parametrize(
    "story",
    [pytest.param(story, id=claim) for table in (CONTRADICTIONS, HIDDEN, ALONE) for claim, story in table.items()],
)
def test_each_input_gets_its_rulings_also_when_the_log_is_read_again(sensed, told, story):
    referee, again = Referee(), Referee()
    start = Declaration(Declared.START, Setup(Mode.MATCH))
    assert referee.take(start) == again.take(start)
    for words, expected in story:
        taken = given(words, sensed)
        rulings = referee.take(taken)
        assert told(rulings) == expected, words
        assert again.take(input_from_json(json.loads(json.dumps(input_to_json(taken))))) == rulings
    assert again.standing == referee.standing


@pytest.mark.parametrize("right", ["a", "b"])
def test_a_correction_answers_what_the_witnesses_were_asked(disks, sensed, told, right):
    """The camera sees no disk at row 8, column 1; a person puts one there, whosever it is."""
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup()))
    referee.take(sensed("flew sees-no-8,1"))
    [disk] = disks(f"{right}:8,1")
    rulings = referee.take(DiskCorrection(None, disk))
    assert told(rulings) == (["1 a left 0"] if right == "a" else ["undecided flick-lost or out-of-turn"])
    assert referee.take(sensed("sees-no-8,1 hand")) == ()


def test_the_question_names_the_hole_and_both_witnesses(sensed):
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup()))
    [asked] = referee.take(sensed("a:4,4 flew sees-a-4,4"))
    assert asked.why == "the camera sees A's disk at row 4, column 4, the sensor there says empty"
    assert asked.cells == ((4, 4),)
    [asked] = referee.take(sensed("sees-no-3,2"))
    assert asked.why == "the camera sees no disk at row 3, column 2, the sensor there says occupied"


FEW = ((1, 1), (4, 4), (4, 5), (8, 1))
SAID = [
    Undo(),
    Declaration(Declared.NOT_A_FLICK),
    Declaration(Declared.ILLEGAL_FLICK),
    Declaration(Declared.FLICK_LOST),
    *(
        Declaration(Declared.ACCEPT, choice=choice)
        for choice in ("camera-is-right", "sensor-is-right", "a-disk", "b-disk", "flick-lost", "by-hand", "flick", None)
    ),
]


@st.composite
def told_looks(draw):
    """What camera and sensors tell of four holes: each is seen with a disk or without, hidden, told of or not."""
    colours, hidden, occupied, empty, disputed = {}, [], [], [], []
    for cell in FEW:
        colour = draw(st.none() | st.sampled_from(list(Player)))
        if draw(st.booleans()):
            hidden.append(cell)
            draw(st.sampled_from([occupied, empty, []])).append(cell)
        elif draw(st.integers(0, 3)) == 0:
            disputed.append(Dispute(cell, colour))
        if colour is not None and cell not in empty:
            colours[cell] = colour
    return Look(
        tuple(told_disk(USUAL_FIELD, cell, colour) for cell, colour in colours.items()),
        tuple(hidden),
        draw(st.booleans()),
        draw(st.just(()) | st.sampled_from([(Player.A,), (Player.B,), (None,)])),
        occupied=tuple(occupied),
        empty=tuple(empty),
        disputed=tuple(disputed),
    )


@whatever(st.lists(told_looks() | st.sampled_from(SAID), max_size=12))
def test_whatever_is_told_the_log_gives_it_back_and_doubt_accuses_nobody(inputs):
    referee, again = Referee(), Referee()
    start = Declaration(Declared.START, Setup())
    referee.take(start)
    again.take(start)
    for each in inputs:
        game = referee.standing.game
        clear = game is not None and not game.over and game.question is None and not game.settled
        rulings = referee.take(each)
        assert again.take(input_from_json(json.loads(json.dumps(input_to_json(each))))) == rulings
        assert tuple(ruling_from_json(json.loads(json.dumps(ruling_to_json(ruling)))) for ruling in rulings) == rulings
        if clear and isinstance(each, Look) and each.disputed:
            assert [type(ruling) for ruling in rulings] == [Undecided]
    assert again.standing == referee.standing
