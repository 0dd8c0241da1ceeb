"""Every input and ruling has one JSON form that reads back; what is no input is told so."""

import json
from dataclasses import replace

import pytest

from companion.inputs import (
    Declaration,
    Declared,
    DiskCorrection,
    Dispute,
    InputError,
    Look,
    SeenDisk,
    Setup,
    Undo,
    disk_from_json,
    input_from_json,
    input_to_json,
)
from companion.referee import events_to_json
from companion.ruling import (
    Accepted,
    Cleared,
    Do,
    GameOver,
    GameStarted,
    Order,
    Refused,
    Shot,
    Undecided,
    Why,
    ruling_from_json,
    ruling_to_json,
)
from companion.terms import Field, IllegalFlick, Lying, Mode, Player

DISK = SeenDisk(Player.B, 116.25, 310.5, (6, 3), Lying.TILTED, 0.25, 0.875)
LOOSE = SeenDisk(Player.A, 10.0, 20.0, None, Lying.LEANING)
ORDER = Order(Do.REMOVE, Why.OWN_FRONT_ROW, Player.B, 116.25, 394.5, (8, 3), "Important Rules")
OVER = GameOver((3, 1), Player.A, (2, 0), (11, 10), Player.A, Player.A, False)
TIE = GameOver((0, 0), None, None, None, None, Player.B, True)

INPUTS = [
    Look(()),
    Look((replace(DISK, lying=Lying.IN_CELL, perhaps_tilted=True),)),
    Look((DISK, LOOSE), ((1, 2), (8, 7)), True, (Player.A, None), 214, 14.25),
    Look(
        (DISK,),
        ((1, 2), (8, 7)),
        occupied=((1, 2),),
        empty=((8, 7),),
        disputed=(Dispute((6, 3), Player.B), Dispute((3, 4), None)),
    ),
    Declaration(Declared.ILLEGAL_FLICK),
    Declaration(Declared.ACCEPT, choice="stays"),
    Declaration(
        Declared.START,
        Setup(
            Mode.DOUBLE_ROW,
            7,
            Player.B,
            ("Ann", "Ben"),
            IllegalFlick.REPLAY,
            Field(rows=9, length_mm=536),
            (1, 2),
            True,
        ),
    ),
    DiskCorrection(DISK, None),
    DiskCorrection(None, LOOSE),
    Undo(),
    Undo(17),
]

RULINGS = [
    Accepted("Quick Start", "it stays", Shot(3, Player.A, (DISK, LOOSE), 1), (ORDER,)),
    Accepted("Important Rules", "off", Cleared()),
    Accepted("Basic Scoring", "over", OVER),
    Accepted("Basic Scoring", "tied", TIE),
    Accepted("Quick Start", "next", GameStarted(2, Player.B)),
    Accepted("Correction", "noted"),
    Refused("Important Rules", "order not carried out", (ORDER,), ((8, 3),), (DISK,)),
    Undecided("Quick Start", "too close to call", ("stays", "comes-off"), 5, (), ((6, 3),), (DISK,)),
]

NO_INPUTS = [
    {},
    {"input": "glance"},
    {"input": "look"},
    {**input_to_json(INPUTS[2]), "disks": [{"colour": "c"}]},
    {**input_to_json(INPUTS[2]), "flights": ["c"]},
    {**input_to_json(INPUTS[2]), "hidden": [[1]]},
    {**input_to_json(INPUTS[3]), "occupied": [[1]]},
    {**input_to_json(INPUTS[3]), "disputed": [{"cell": [1, 2]}]},
    {**input_to_json(INPUTS[3]), "disputed": [{"cell": [1, 2], "seen": "c"}]},
    {**input_to_json(INPUTS[4]), "what": "victory"},
    {**input_to_json(INPUTS[6]), "setup": {"mode": "match"}},
    {"input": "undo"},
    {"input": "undo", "before": "yesterday"},
    {"input": "disk-correction", "was": None},
]

NO_DISKS = [
    {"x_mm": "116"},
    {"x_mm": True},
    {"x_mm": float("nan")},
    {"y_mm": float("inf")},
    {"sigma_mm": -0.1},
    {"cell": [6]},
    {"cell": [6, 3.5]},
    {"cell": "6,3"},
    {"colour": "red"},
    {"lying": "upright"},
    {"perhaps_tilted": "no"},
    {"perhaps_tilted": 1},
]


@pytest.mark.parametrize("given", INPUTS, ids=lambda given: type(given).__name__)
def test_inputs_read_back(given):
    assert input_from_json(json.loads(json.dumps(input_to_json(given)))) == given


def test_a_look_of_a_log_from_before_there_were_sensors_is_read():
    data = input_to_json(INPUTS[2])
    for key in ("occupied", "empty", "disputed"):
        del data[key]
    assert input_from_json(data) == INPUTS[2]


@pytest.mark.parametrize("ruling", RULINGS, ids=lambda ruling: ruling.why)
def test_rulings_read_back(ruling):
    assert ruling_from_json(json.loads(json.dumps(ruling_to_json(ruling)))) == ruling


@pytest.mark.parametrize("data", NO_INPUTS)
def test_what_is_no_input_is_told_so(data):
    with pytest.raises(InputError):
        input_from_json(data)


@pytest.mark.parametrize("wrong", NO_DISKS, ids=str)
def test_what_is_no_disk_is_told_so(wrong):
    sound = {"colour": "a", "x_mm": 1, "y_mm": 2, "cell": [6, 3], "lying": "in_cell"}
    assert disk_from_json(sound).cell == (6, 3)
    with pytest.raises(InputError):
        disk_from_json({**sound, **wrong})


def test_events_have_the_forms_that_scripts_rely_on():
    look = Look((), frame=214, t_s=14.3)
    shot, cleared, over, refused, undecided = events_to_json(
        (RULINGS[0], RULINGS[1], RULINGS[2], RULINGS[6], RULINGS[7]), look
    )
    disk = {"colour": "b", "x_mm": 116.25, "y_mm": 310.5, "cell": [6, 3], "lying": "tilted"}
    order = {
        "do": "remove",
        "why": "own-front-row",
        "colour": "b",
        "x_mm": 116.25,
        "y_mm": 394.5,
        "cell": [8, 3],
        "rule": "Important Rules",
    }
    assert shot.items() >= {"event": "shot", "n": 3, "player": "a", "frame": 214, "t_s": 14.3, "left_board": 1}.items()
    assert shot["disks"][0].items() >= disk.items()
    assert shot["orders"] == [order]
    assert cleared.items() >= {"event": "cleared", "frame": 214}.items()
    assert over.items() >= {"event": "game_over", "result": "A 3 - B 1", "winner": "a"}.items()
    assert over["count"] == {"a": 3, "b": 1}
    assert refused.items() >= {"event": "refused", "frame": 214, "why": "order not carried out"}.items()
    assert undecided.items() >= {"event": "undecided", "n": 5, "candidates": ["stays", "comes-off"]}.items()
    assert events_to_json((RULINGS[5],), look) == []
    assert "frame" not in events_to_json((RULINGS[1],))[0]
