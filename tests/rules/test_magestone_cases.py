"""The rulebook's cases of MageStone by their numbers: by the rules core, and through `companion judge magestone`.

Squares in choices are column letter and row: e1 is (1, 4). Seats are numbered in turn order.
"""

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.games.magestone import (
    CELLS,
    NEXUS,
    Dice,
    fault,
    odds,
    play,
    power_die,
    reach,
    read_choice,
    read_go,
    square_name,
    start,
)
from companion.games.magestone.pieces import UNITS_BY_LETTER
from companion.judge.magestone import choice_to_json
from companion.judge.magestone_state import state_from_json, state_to_json

CASES_FILE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "magestone.json"


def answers(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    """What the command answers to lines of JSON."""
    told = "".join(json.dumps(line) + "\n" for line in lines)
    run = CliRunner().invoke(main, ["judge", "magestone", "--json"], input=told, catch_exceptions=False)
    assert run.exit_code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def units(text: str) -> list[dict[str, Any]]:
    """`0M 8,8 2+3; 1W1' 8,11`: seat and unit, ' if it has moved, cell, what a Mage carries and has Activated."""
    told = []
    for word in text.split(";"):
        name, cell, *hand = word.split()
        unit = {"seat": int(name[0]), "unit": name[1:].rstrip("'"), "cell": [int(part) for part in cell.split(",")]}
        unit["moved"] = name.endswith("'")
        if hand:
            unit["carried"], unit["activated"] = map(int, hand[0].split("+"))
        told.append(unit)
    return told


@dataclass(frozen=True)
class Case:
    """A set-up, what is refused in it with the rulebook's section, what is played, and what is so and refused then.

    `at` names where units are (`0W1 5,6`, or `-` for one that is not on the board), `stones` and `hands` what lies on
    squares and in hands, Unactivated + Activated.
    """

    units: str
    go: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    setup: dict[str, Any] = field(default_factory=dict)
    at: str = ""
    stones: dict[str, str] = field(default_factory=dict)
    hands: dict[int, str] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)
    result: tuple[str, int | None] | None = None
    then_refused: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> dict[str, Any]:
        """The set-up as JSON."""
        return {**({"units": units(self.units)} if self.units else {}), **self.setup}


GO, COMBAT, SORCERY, STONES = "Taking your turn", "Combat", "Mage sorcery", "MageStones"
RITE = "The Rite of the Nexus"

TWO_FIGHT = "0M 0,8; 0P 0,7; 0W1 5,5; 0W2 5,7; 1M 15,7; 1P 15,8; 1W1 5,6"
NOVA = "0M 8,8 0+4; 0P 0,7; 0W1 9,8; 1M 7,7; 1W1 8,9; 1W2 15,10"
RAISE = "0M 0,8; 0P 4,4; 0W1 0,4; 0W2 0,5; 0W3 0,6; 0W4 0,9; 0W5 0,10"
HERE_AND_THERE = "1M 15,7; 1P 15,8; 1W1 15,4"
FALLEN_MAGE = "0P 0,7; 0M 9,9 2+3; 0W1 4,4; 1M 15,7; 1P 15,8; 1W1 9,10"
SIEGE = "0M 0,8; 0P 8,8; 0W1 1,4; 1M 15,7; 1W1 0,4; 1W2 8,9; 1W3 1,5"
HELD = "0W1 14,4; 0W2 15,5; 1W1 14,3"
ON_NEXUS = "0M 0,8; 0P 7,7; 1M 15,7; 1P 15,8; 1W1 8,10; 1W2 15,4"
STALEMATE = "0W1 15,4; 0W2 14,7; 1W1 0,4"
FOUR_HELD = "0W1 4,15; 0W2 8,14; 1W1 0,4"
ALL_QUEUED = [{"seat": seat, "unit": unit} for seat in (0, 1) for unit in "MP"]

CASES = {
    "MS04": Case("", "W1>e1>e2 end W1>l14 end", at="0W1 2,4; 1W1 14,11", expect={"squares_left": 6, "units_left": 3}),
    "MS05": Case(
        "0M 0,8; 0P 0,7; 0W1 4,4; 0W2 4,6; 0W3 4,8; 0W4 4,10; 1W1 5,10; 1W2 5,5; 1M 15,7",
        "W1>e5 W2>g5 W3>i5 W1xf5(6/1)",
        {},
        expect={"squares_left": 3, "units_left": 0},
        at="1W2 -",
    ),
    "MS05, a fourth unit": Case(
        "0M 0,8; 0P 0,7; 0W1' 4,4; 0W2' 4,6; 0W3' 4,8; 0W4 4,10; 1W1 5,10; 1W2 5,4; 1M 15,7",
        "W1xe5(6/1)",
        {"W4>k3": GO, "W4xk5(6/1)": GO, "W1>e3": GO, "M>i1": GO},
        setup={"squares_left": 3, "units_left": 0},
        at="1W2 -",
    ),
    "MS06": Case("0M 5,5; 0P 0,7; 1W1 5,6; 1W2 9,9; 1M 15,7", "Mxg5(4/2)", expect={"squares_left": 6, "units_left": 2}),
    "MS07": Case("", "", {"W1>f0": GO, "W1>f1": GO, "W1>e1>e2>e3>e4>e5>e6>e7": GO, "W1>d0": GO, "P>h0": GO}),
    "MS07, stones and gravestones do not block": Case(
        "0M 0,8; 0P 0,7; 0W1 4,6; 1M 15,7; 1W1 15,4", "W1>h4>i4>j4", setup={"graves": [[4, 8]]}, at="0W1 4,9"
    ),
    "MS08": Case("", "W1>e1>f1>f2>e2", at="0W1 2,4", expect={"squares_left": 2, "units_left": 2}),
    "MS08, more than the go has left": Case(
        "", "W1>e1>e2", {"W1>e1>e2>e3": GO}, setup={"squares_left": 2}, then_refused={"W2>f1": GO}
    ),
    "MS09": Case(TWO_FIGHT, "W1xg5(5/3)", at="0W1 5,5; 1W1 -", expect={"bank": 7, "graves": [[5, 6]]}),
    "MS10": Case(TWO_FIGHT, "W1xg5(4/4)(2/5)", at="0W1 -; 1W1 5,6", expect={"bank": 7, "graves": [[5, 5]]}),
    "MS10, not yet decided": Case(
        TWO_FIGHT, "", dict.fromkeys(("W1xg5", "W1xg5(4/4)", "W1xg5(4/4)(3/3)", "W1xg5(0/1)", "W1xg5(6/0)"), COMBAT)
    ),
    "MS10, nothing is rolled again after a decision": Case(TWO_FIGHT, "W1xg5(5/3)(1/6)", at="0W1 5,5; 1W1 -"),
    "MS11": Case(
        TWO_FIGHT,
        "W1+W2xg5(2+3/6)",
        at="0W1 -; 0W2 5,7; 1W1 5,6",
        expect={"units_left": 1, "squares_left": 6, "graves": [[5, 5]]},
    ),
    "MS11, who may not": Case(
        TWO_FIGHT + "; 0W3 4,6; 0W4 5,8",
        "",
        {"W1+W1xg5(6+6/1)": COMBAT, "W1+W2+W3xg5(6+6+6/1)": GO, "W1+W4xg5(6+6/1)": COMBAT, "W2xf5(6/1)": COMBAT},
        setup={"units_left": 2},
    ),
    "MS11, three": Case(TWO_FIGHT + "; 0W3 4,6", "W3+W1+W2xg5(1+1+1/5)", at="0W3 -; 0W1 5,5", expect={"units_left": 0}),
    "MS11, the other lead": Case(TWO_FIGHT, "W2+W1xg5(2+3/6)", at="0W1 5,5; 0W2 -"),
    "MS12": Case(
        "0M 0,8; 0P 0,7; 0W1 5,5; 1M 15,7; 1P 5,6",
        "W1xg5(2/5)",
        at="0W1 -; 1P 5,6",
        expect={"graves": [[5, 5]], "bank": 7},
    ),
    "MS13": Case("0M 5,5; 0W1 5,7; 0P 0,7; 1W1 5,6; 1M 15,7", "", {"M+W1xg5(3+3/2)": COMBAT, "W1+Mxg5(3+3/2)": COMBAT}),
    "MS14": Case("0M 0,8; 0P 5,5; 0W1 4,5; 1M 15,7; 1W1 5,6", "", {"W1xg5(6/1)": COMBAT, "Pxg5(6/1)": COMBAT}),
    "MS16, a Mage's die against a Mage's": Case(
        "0M 5,5 0+2; 0P 0,7; 1M 5,6 0+4; 1P 15,8",
        "Mxg5(12/20)",
        {"Mxg5(13/20)": COMBAT, "Mxg5(12/21)": COMBAT},
        at="0M 0,8",
        hands={0: "0+1"},
        stones={"5,5": "0+1"},
    ),
    "MS18": Case(
        "0M 0,8; 0P 0,7; 0W1 7,7; 1M 15,7; 1W1 7,8", "W1xi7(5/3)", at="1W1 -", expect={"bank": 8, "graves": []}
    ),
    "MS19": Case(
        TWO_FIGHT,
        "W1xg5(5/3)",
        setup={"bank": 7, "graves": [[5, 6]]},
        at="1W1 -",
        expect={"bank": 7, "graves": [[5, 6]]},
    ),
    "MS20": Case(TWO_FIGHT, "W1xg5(5/3)", setup={"bank": 0}, at="1W1 -", expect={"bank": 0, "graves": []}),
    "MS21": Case(
        f"{RAISE}; {HERE_AND_THERE}",
        "P>e5>e6",
        {},
        setup={"graves": [[6, 4]], "bank": 7},
        at="0W6 6,4; 0P 5,4",
        expect={"graves": [], "bank": 7, "squares_left": 4, "units_left": 2},
    ),
    "MS21, the raised Warrior may go": Case(
        f"{RAISE}; {HERE_AND_THERE}",
        "P>e5>e6 W6>e7",
        setup={"graves": [[6, 4]]},
        at="0W6 7,4",
        expect={"units_left": 1},
    ),
    "MS21, it is the Priest's action": Case(
        f"{RAISE}; {HERE_AND_THERE}".replace("4,4", "7,7"),
        "P>h6",
        setup={"graves": [[6, 7]]},
        at="0P 7,7; 0W6 6,7",
        then_refused={"rite": GO, "P>h8": GO},
    ),
    "MS22": Case(
        f"{RAISE}; 0W6 0,11; {HERE_AND_THERE}",
        "P>e5>e6",
        setup={"graves": [[6, 4]], "bank": 7},
        at="0P 6,4",
        expect={"graves": [[6, 4]], "bank": 7},
    ),
    "MS23": Case(
        f"{RAISE}; {HERE_AND_THERE}",
        "P>e5>e6",
        setup={"graves": [[6, 4]], "raised": True},
        at="0P 6,4; 0W6 -",
        expect={"graves": [[6, 4]]},
    ),
    "MS23, stepping back on a second gravestone": Case(
        f"{RAISE}; {HERE_AND_THERE}",
        "P>e5>e6",
        setup={"graves": [[5, 4], [6, 4]]},
        at="0P 5,4; 0W6 6,4",
        expect={"graves": [[5, 4]]},
    ),
    "MS24, collecting is the Mage's action": Case(
        "0M 4,5; 0P 0,7; 1W1 4,8; 1M 15,7",
        "M>g4>h4",
        then_refused={"Mxi4(6/1)": GO, "M>h5": GO, "collect": GO},
        setup={"stones": [{"cell": [4, 7]}, {"cell": [4, 7], "activated": True}]},
        hands={0: "1+1"},
        stones={"4,7": "0+0"},
    ),
    "MS24, passing over stones": Case("0M 4,6; 0P 0,7; 1M 15,7", "M>h4>h3", hands={0: "0+0"}, stones={"4,7": "1+0"}),
    "MS25": Case(
        "0M 1,8 2+0; 0P 0,7; 1M 15,7",
        "",
        {"activate": STONES},
    ),
    "MS25, on the base": Case(
        "0M 0,5 2+0; 0P 0,7; 1M 15,7", "activate", hands={0: "0+2"}, expect={"squares_left": 6, "units_left": 2}
    ),
    "MS26, away from home": Case(
        "0M 7,5 0+5; 0P 0,7; 1M 15,7",
        "M>e7",
        setup={"stones": [{"cell": [7, 4], "activated": True}]},
        hands={0: "0+6"},
        result=None,
    ),
    "MS26, at home": Case("0M 1,9 0+6; 0P 0,7; 1M 15,7", "M>j0", result=("magestone", 0)),
    "MS26, by activation": Case("0M 0,9 2+4; 0P 0,7; 1M 15,7", "activate", result=("magestone", 0)),
    "MS27": Case(
        "0M 8,8 0+2; 0P 0,7; 1M 15,7; 1W1 8,11",
        "bolt@l8",
        setup={"stones": []},
        at="1W1 -; 0M 8,8",
        hands={0: "0+1"},
        stones={"8,11": "0+1"},
        expect={"squares_left": 3, "units_left": 2, "graves": [[8, 11]], "bank": 7},
    ),
    "MS28": Case(
        "0M 8,8 0+1; 0P 0,7; 1M 15,7; 1W1 8,11",
        "",
        {"bolt@l8": SORCERY},
        setup={"squares_left": 2},
    ),
    "MS28, without a stone": Case("0M 8,8 3+0; 0P 0,7; 1M 15,7; 1W1 8,9", "", {"bolt@j8": SORCERY}),
    "MS29": Case(
        "0M 8,8 0+2; 0P 0,7; 1M 8,10; 1P 15,8",
        "bolt@k8(5/6) end collect",
        setup={"stones": []},
        at="0M 8,8; 1M 8,10",
        hands={0: "0+1", 1: "0+1"},
        stones={"8,10": "0+0"},
    ),
    "MS29, not blocked": Case(
        "0M 8,8 0+2; 0P 0,7; 1M 8,10 1+2; 1P 15,8",
        "bolt@k8(3/3)(9/6)",
        setup={"stones": []},
        at="1M 15,7",
        hands={0: "0+1", 1: "0+1"},
        stones={"8,10": "1+2"},
    ),
    "MS30": Case(
        "0M 8,8 0+2; 0P 0,7; 1M 8,10; 1P 15,8",
        "bolt@k8(12/6)",
        {"bolt@k8(13/6)": COMBAT, "bolt@k8(12/7)": COMBAT, "bolt@k8": COMBAT},
        hands={0: "0+1"},
        at="1M 15,7",
    ),
    "MS31": Case(
        NOVA,
        "nova",
        setup={"squares_left": 0, "stones": []},
        at="0W1 9,8; 1W1 -; 1M 15,7; 0M 8,8",
        hands={0: "0+0"},
        stones={"7,7": "0+1", "7,9": "0+1", "9,7": "0+1", "9,9": "0+1"},
        expect={"squares_left": 0, "units_left": 2, "graves": [[8, 9]]},
    ),
    "MS32, no enemy around": Case("0M 8,8 0+4; 0P 0,7; 0W1 9,8; 1W1 8,10; 1M 15,7", "", {"nova": SORCERY}),
    "MS32, too few stones": Case("0M 8,8 3+3; 0P 0,7; 1W1 8,9; 1M 15,7", "", {"nova": SORCERY}),
    "MS32, diagonals off the board": Case(
        "0M 0,4 0+4; 0P 0,7; 1W1 1,4; 1W2 8,8; 1M 15,7",
        "nova",
        setup={"stones": []},
        at="1W1 -",
        stones={"0,4": "0+2", "1,3": "0+1", "1,5": "0+1"},
    ),
    "MS33": Case(
        FALLEN_MAGE,
        "W1xj9(6/1)",
        setup={"to_move": 1, "stones": []},
        at="0M 0,8",
        hands={0: "0+2"},
        stones={"9,9": "2+1"},
    ),
    "MS33, its square taken": Case(
        FALLEN_MAGE.replace("0P 0,7", "0P 0,6").replace("0W1 4,4", "0W1 0,8"),
        "W1xj9(6/1)",
        setup={"to_move": 1, "stones": []},
        at="0M 0,7",
    ),
    "MS33, both beside it taken": Case(
        FALLEN_MAGE + "; 0W2 0,8; 0W3 0,9", "W1xj9(6/1)", setup={"to_move": 1, "stones": []}, at="0M 0,6"
    ),
    "MS34": Case(SIEGE, "W2xi8(6/1)", setup={"to_move": 1}, at="0P -", expect={"queue": ["0P"]}),
    "MS34, the besieger leaves": Case(
        SIEGE.replace("0W1 1,4", "0W1 1,6"), "W2xi8(6/1) W1>e1", setup={"to_move": 1}, at="0P 0,7", expect={"queue": []}
    ),
    "MS34, the besieger moves along the base": Case(
        SIEGE, "W2xi8(6/1) W1>f0", setup={"to_move": 1}, at="0P -", expect={"queue": ["0P"]}
    ),
    "MS34, the besieger falls": Case(
        SIEGE, "W2xi8(6/1) end W1xe0(5/2)", setup={"to_move": 1}, at="0P 0,7; 1W1 -", expect={"queue": []}
    ),
    "MS35": Case(
        HELD,
        "W1xd14(5/1)",
        setup={"queue": [{"seat": 1, "unit": "M"}, {"seat": 1, "unit": "P"}]},
        at="1W1 -; 1M -",
        expect={"queue": []},
        result=("conquest", 0),
    ),
    "MS35, the last Warrior falls in its own attack": Case(
        "0W1 5,5; 1W1 5,6; 1W2 0,5",
        "W1xg5(1/6)",
        setup={"players": 4, "queue": [{"seat": 0, "unit": "M", "activated": 2}, {"seat": 0, "unit": "P"}]},
        expect={
            "queue": [],
            "squares_left": 0,
            "units_left": 0,
            "to_move": 0,
            "out": [{"seat": 0, "carried": 0, "activated": 2}],
        },
        then_refused={"W1>e1": GO, "M>i1": GO},
    ),
    "MS36": Case(ON_NEXUS, "rite end end end end", result=("ritual", 0)),
    "MS36, declared once": Case(ON_NEXUS, "rite end end", then_refused={"rite": RITE}),
    "MS36, not yet": Case(ON_NEXUS, "rite end end end", expect={"rite": {"seat": 0, "returns_left": 1}}),
    "MS37": Case("0P 7,7; 0M 0,8", "rite end end end end", setup={"players": 4}, result=("ritual", 0)),
    "MS37, not yet": Case(
        "0P 7,7; 0M 0,8", "rite end end end", setup={"players": 4}, expect={"rite": {"seat": 0, "returns_left": 1}}
    ),
    "MS38": Case(ON_NEXUS, "rite end W1>j8>i8", at="1W1 8,8", expect={"rite": None}),
    "MS38, it stays broken": Case(ON_NEXUS, "rite end W1>j8>i8 end end W1>j8 end end", expect={"rite": None}),
    "MS38, walking over it": Case(ON_NEXUS, "rite end W1>j8>i8>i9", at="1W1 9,8", expect={"rite": None}),
    "MS38, walking by": Case(ON_NEXUS, "rite end W1>j8>j9>i9", expect={"rite": {"seat": 0, "returns_left": 2}}),
    "MS38, moving on the Nexus": Case(
        ON_NEXUS, "rite end end P>i7 end", at="0P 7,8", expect={"rite": {"seat": 0, "returns_left": 1}}
    ),
    "MS38, leaving it": Case(ON_NEXUS, "rite end end P>g7", expect={"rite": None}),
    "MS38, leaving it and coming back": Case(ON_NEXUS, "rite end end P>g7>g8>h8", at="0P 8,7", expect={"rite": None}),
    "MS38, the Priest killed": Case(
        ON_NEXUS.replace("8,10", "6,8"), "rite end W1>h6 W1xh7(6/2)", at="0P 0,7", expect={"rite": None}
    ),
    "MS39": Case(ON_NEXUS.replace("8,10", "8,8"), "", {"rite": RITE}),
    "MS39, a friend there": Case(ON_NEXUS + "; 0W1 7,8", "rite", expect={"rite": {"seat": 0, "returns_left": 2}}),
    "MS39, off the Nexus": Case(ON_NEXUS.replace("7,7", "6,7"), "", {"rite": RITE}),
    "MS40": Case(STALEMATE, "W2>h15", setup={"queue": ALL_QUEUED}, result=("stalemate", None)),
    "MS40, not with a Mage on the board": Case(
        "0W1 15,4; 0W2 14,7; 0M 15,6; 1W1 0,4", "W2>h15", setup={"queue": ALL_QUEUED[1:]}, result=None
    ),
    "MS40, four players, two of them out": Case(
        FOUR_HELD, "W2>p8", setup={"players": 4, "out": [2, 3], "queue": ALL_QUEUED}, result=("stalemate", None)
    ),
    "MS40, not on the base of one who is out": Case(
        FOUR_HELD.replace("8,14", "14,6"),
        "W2>g15",
        setup={"players": 4, "out": [2, 3], "queue": ALL_QUEUED},
        result=None,
    ),
    "MS40, one Warrior elsewhere": Case(STALEMATE, "W2>h13", setup={"queue": ALL_QUEUED}, result=None),
    "MS41": Case(
        "0P 0,7; 0M 9,9 0+7; 1M 15,7; 1P 15,8; 1W1 9,10",
        "W1xj9(6/1)",
        setup={"to_move": 1, "stones": []},
        at="0M 0,8",
        hands={0: "0+6"},
        result=("magestone", 0),
    ),
    "MS42": Case("0M 0,8; 0W1 9,10; 1M 9,9", "W1xj9(6/1)", at="1M 15,7", expect={"out": []}, result=None),
}


def shown(state, case: Case) -> dict[str, Any]:
    """What a case tells of, taken from a state as JSON."""
    at = {f"{unit['seat']}{unit['unit']}": "{},{}".format(*unit["cell"]) for unit in state["units"]}
    hands = {unit["seat"]: f"{unit['carried']}+{unit['activated']}" for unit in state["units"] if unit["unit"] == "M"}
    queue = [f"{waiting['seat']}{waiting['unit']}" for waiting in state["queue"]]
    stones = {}
    for square in case.stones:
        lying = [stone["activated"] for stone in state["stones"] if "{},{}".format(*stone["cell"]) == square]
        stones[square] = f"{lying.count(False)}+{lying.count(True)}"
    return {
        "at": "; ".join(f"{word.split()[0]} {at.get(word.split()[0], '-')}" for word in case.at.split("; ") if word),
        "stones": stones,
        "hands": {seat: hands[seat] for seat in case.hands},
        "expect": {key: queue if key == "queue" else state[key] for key in case.expect},
        "result": (state["result"], state["winner"]) if "result" in state else None,
    }


def told_by(case: Case) -> dict[str, Any]:
    """What the case says is so."""
    return {name: getattr(case, name) for name in ("at", "stones", "hands", "expect", "result")}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases_by_the_core(case):
    state = state_from_json(case.table)
    for text, rule in case.refused.items():
        refused = fault(state, read_choice(text))
        assert refused is not None, text
        assert (refused.rule, "left of the go" in refused.why) == (rule, True)
    for choice in read_go(case.go):
        assert state.result is None
        state = play(state, choice)
    assert shown(state_to_json(state), case) == told_by(case)
    for text, rule in case.then_refused.items():
        refused = fault(state, read_choice(text))
        assert refused is not None, text
        assert refused.rule == rule


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases_by_the_command(case):
    tried = [choice_to_json(read_choice(text)) for text in case.refused]
    set_up, *refused = answers({"setup": case.table}, *tried)
    assert set_up["ruling"] == "accepted", set_up["why"]
    for answer, rule in zip(refused, case.refused.values(), strict=True):
        assert (answer["ruling"], answer["rule"], answer["state"]) == ("refused", rule, set_up["state"])
        assert "left of the go" in answer["why"]
    played = answers({"setup": case.table}, *map(choice_to_json, read_go(case.go)))
    for answer in played:
        assert answer["ruling"] == "accepted", answer["why"]
    assert shown(played[-1]["state"], case) == told_by(case)
    then = [choice_to_json(read_choice(text)) for text in case.then_refused]
    for answer, rule in zip(
        answers({"setup": played[-1]["state"]}, *then)[1:], case.then_refused.values(), strict=True
    ):
        assert (answer["ruling"], answer["rule"], answer["state"]) == ("refused", rule, played[-1]["state"])


def test_ms01_the_corners_are_cut():
    rows = [[column for row, column in CELLS if row == n] for n in range(16)]
    assert [len(row) for row in rows] == [8, 10, 12, 14, *[16] * 8, 14, 12, 10, 8]
    assert len(CELLS) == 216
    assert not {(0, 3), (3, 0)} & set(CELLS)
    assert {(0, 4), (3, 1), (4, 0)} <= set(CELLS)
    first, *off = answers({"setup": {}}, {"do": "move", "unit": "W1", "path": [[0, 3]]})
    assert (first["ruling"], off[0]["ruling"]) == ("accepted", "refused")
    assert "not on the board" in off[0]["why"]


@pytest.mark.parametrize("players", [2, 4])
def test_ms02_the_start(players):
    (answer,) = answers({"setup": {"players": players}})
    state = answer["state"]
    assert state == state_to_json(start(players))
    at = {(unit["seat"], unit["unit"]): tuple(unit["cell"]) for unit in state["units"]}
    edge = ["W1", "W2", "W3", "P", "M", "W4", "W5", "W6"]
    assert [at[0, unit] for unit in edge] == [(0, column) for column in range(4, 12)]
    for seat in range(1, players):
        for unit in edge:
            row, column = at[0, unit]
            for _ in range(seat * 4 // players):
                row, column = column, 15 - row
            assert at[seat, unit] == (row, column)
    assert len(at) == 8 * players
    stones = [tuple(stone["cell"]) for stone in state["stones"]]
    assert (len(stones), state["bank"]) == (4 * players, 4 * players)
    assert not any(stone["activated"] for stone in state["stones"])
    assert all(4 <= part <= 11 for stone in stones for part in stone)
    assert not NEXUS & set(stones)


def test_ms02_the_second_player_of_two_sits_opposite():
    (answer,) = answers({"setup": {"players": 2}})
    at = {(unit["seat"], unit["unit"]): unit["cell"] for unit in answer["state"]["units"]}
    assert (at[1, "P"], at[1, "M"]) == ([15, 8], [15, 7])


@pytest.mark.parametrize("players", [0, 1, 3, 5])
def test_ms03_two_or_four_play(players):
    (answer,) = answers({"setup": {"players": players}})
    assert (answer["ruling"], answer["state"]) == ("refused", None)
    with pytest.raises(ValueError, match="two or four"):
        start(players)


def test_ms07_one_square_from_the_start():
    state = state_from_json({"squares_left": 1})
    assert [square_name(cell) for cell in reach(state, UNITS_BY_LETTER["W1"])] == ["e1"]


@pytest.mark.parametrize(
    ("carried", "activated", "sides"),
    [(0, 0, 6), (0, 1, 6), (0, 2, 12), (0, 3, 12), (0, 4, 20), (0, 6, 20), (5, 1, 6)],
)
def test_ms15_the_power_die(carried, activated, sides):
    assert power_die(activated) == sides
    setup = {"units": units(f"0M 5,5 {carried}+{activated}; 0P 0,7; 1W1 5,6; 1M 15,7"), "stones": []}
    _, too_high, highest = answers(
        {"setup": setup},
        {"do": "attack", "units": ["M"], "target": [5, 6], "dice": [[[sides + 1], [1]]]},
        {"do": "attack", "units": ["M"], "target": [5, 6], "dice": [[[sides], [1]]]},
    )
    assert (too_high["ruling"], too_high["dice"]) == ("refused", {"attacker": [sides], "defender": [6]})
    assert highest["ruling"] == "accepted"


ODDS = {
    (6,): ("1/2", "5/22", "5/38"),
    (6, 6): ("181/201", "6/11", "6/19"),
    (6, 6, 6): ("1261/1276", "991/1216", "1/2"),
    (12,): ("17/22", "1/2", "11/38"),
    (20,): ("33/38", "27/38", "1/2"),
}
STONES_FOR = {6: 0, 12: 2, 20: 4}


@pytest.mark.parametrize("defender", [0, 1, 2], ids=["d6", "d12", "d20"])
@pytest.mark.parametrize("attacker", ODDS, ids=str)
def test_ms17_exact_odds(attacker, defender):
    sides = (6, 12, 20)[defender]
    assert odds(Dice(attacker, (sides,))) == Fraction(ODDS[attacker][defender])
    warriors = attacker[0] == 6
    near = ("5,5", "4,6", "6,6") if warriors else ("9,9", "9,10", "9,11")
    army = "; ".join(f"0W{n} {cell}" for n, cell in enumerate(near, 1))
    mage = f"0M {'0,8' if warriors else '5,5'} 0+{0 if warriors else STONES_FOR[attacker[0]]}"
    setup = {"players": 4, "units": units(f"{army}; {mage}; 1M 5,6 0+{STONES_FOR[sides]}")}
    attackers = [f"W{n}" for n in range(1, len(attacker) + 1)] if warriors else ["M"]
    asked = {"ask": {"do": "attack", "units": attackers, "target": [5, 6]}}
    set_up, answer = answers({"setup": setup}, asked)
    assert (answer["odds"], answer["state"]) == (ODDS[attacker][defender], set_up["state"])
    assert answer["dice"] == {"attacker": list(attacker), "defender": [sides]}


@pytest.mark.skipif(not CASES_FILE.exists(), reason="the folder shared is not there")
def test_every_case_of_the_rulebook_is_here():
    tested = {name[:4] for name in CASES} | {name[5:9].upper() for name in globals() if name.startswith("test_ms")}
    assert {case["id"] for case in json.loads(CASES_FILE.read_text())} <= tested
