"""Claims about what the server of MageStone's page answers, and what follows from what it puts on the queue."""

import random
import re
from pathlib import Path
from queue import Queue

import pytest

import companion
from companion.dashboard import create_magestone_app
from companion.dashboard.magestone_options import able_json, actions_json, options_json
from companion.dashboard.magestone_words import MageStoneWords, names_of
from companion.games.magestone import (
    UNITS_BY_LETTER,
    Draw,
    Layout,
    Resign,
    Roll,
    Seat,
    declaration_fault,
    legal_choices,
    play,
    read_choice,
    read_record,
    replay,
    square_name,
    start,
    write_choice,
    write_position,
)
from companion.games.magestone.table import Begin, Chosen, Said, Saying, Thrower, Thrown
from companion.goes import thrown
from companion.live import Live, Watch
from companion.magestone_session import MageStoneSession
from companion.ruling import Undecided
from companion.store import MageStoneStore
from vision.board import read_profile

HEADERS = {"X-Companion": "1"}
BOARD = Path(companion.__file__).with_name("boards") / "magestone.toml"
RECORD = '[Players "2"]\n[Top "Ada"]\n[Bottom "Ben"]\n1. W1>e1>e2 end\n2. W1>l14'
FIGHT = '[Position "2 Mi0,Ph0,W1e5,W2f4/Mh15(0+2),Pi15,W1f5,W2l15 h4 - 8 0:6:3 - -"]'
FOUR = (
    '[Position "4 Mk0(1+4),Ph0,W1h5,W2g6/Pn6,W6i6/Mk8(3+2),Ph7,W3p4/Mc6,Pa5,W1f7 '
    'h4,g5,e7,l8,e7*,l7* h2,g5,l6 4 0:6:3 1M 2:1"]'
)
"""Bottom's Rite is running and Right under siege, its Mage waiting."""


class Desk:
    """A log with the web application over it; what the application queues waits until `work` takes it."""

    def __init__(self, path):
        self.live = Live()
        self.store = MageStoneStore(path, self.live.ring)
        self.said = Queue(maxsize=4)
        self._session = MageStoneSession(
            lambda _given, _rulings: None, store=self.store, live=self.live, said=self.said
        )
        app = create_magestone_app(self.store, self.live, self.said, read_profile(BOARD), watched=False)
        self.client = app.test_client()
        self.live.watch(Watch.WATCHING)

    def post(self, path, body):
        return self.client.post(path, json=body, headers=HEADERS)

    def work(self):
        self._session.sense(())

    def take(self, *inputs):
        for given in inputs:
            self._session.say(given)

    def play(self, go):
        self.take(*(Chosen(read_choice(choice)) for choice in go.split()))

    @property
    def state(self):
        return self.client.get("/state").json


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "log.sqlite")
    yield desk
    desk.store.close()


TWO = ["Ada", "Ben"]


@pytest.mark.parametrize(
    ("path", "body", "queued"),
    [
        ("/choose", {"choice": "W1>e1>e2", "n": 7, "seat": 2}, Chosen(read_choice("W1>e1>e2"), 7, Seat.BOTTOM)),
        ("/choose", {"choice": "W1+W2xf5(2+3/5)"}, Chosen(read_choice("W1+W2xf5(2+3/5)"))),
        ("/choose", {"choice": "resign:left"}, Chosen(Resign(Seat.LEFT))),
        ("/choose", {"choice": "draw"}, Chosen(Draw())),
        ("/choose", {"choice": "W1>e1 end", "n": 3}, (Chosen(read_choice("W1>e1"), 3), Chosen(read_choice("end"), 4))),
        ("/dice", {"attacker": [3, 4], "defender": [20]}, Thrown(Roll((3, 4), (20,)), Thrower.PLAYERS)),
        ("/declare", {"what": "take-back"}, Saying(Said.TAKE_BACK)),
        ("/declare", {"what": "next-game"}, Saying(Said.NEXT_GAME)),
        ("/start", {"names": [" Ada  A", "Ben"], "first": "named"}, Begin(("Ada A", "Ben"))),
        (
            "/start",
            {"names": ["Ada", "Ben", "Cy", "Di"], "first": "named", "layout": "square", "length": 3},
            Begin(("Ada", "Ben", "Cy", "Di"), Layout.SQUARE, 3),
        ),
        ("/start", {"record": RECORD}, Begin(("Ada", "Ben"), length=1, record=RECORD)),
        ("/start", {"record": "1. end"}, Begin(("Top", "Bottom"), length=1, record="1. end")),
        (
            "/start",
            {"record": '[Top "X"]\n[Bottom "X"]'},
            Begin(("Top", "Bottom"), Layout.DIAMOND, 1, '[Top "X"]\n[Bottom "X"]'),
        ),
    ],
)
def test_what_people_say_is_queued(desk, path, body, queued):
    assert desk.post(path, body).status_code == 202
    for given in queued if isinstance(queued, tuple) else (queued,):
        assert desk.said.get_nowait() == given
    assert desk.said.empty()


def test_who_has_the_first_go_is_drawn_and_people_sit_as_they_are_named(desk):
    drawn = set()
    for _ in range(150):  # one of the four missing once in 10^18
        desk.post("/start", {"names": ["Ada", "Ben", "Cy", "Di"]})
        drawn.add(desk.said.get_nowait().names)
    assert drawn == {
        ("Ada", "Ben", "Cy", "Di"),
        ("Ben", "Cy", "Di", "Ada"),
        ("Cy", "Di", "Ada", "Ben"),
        ("Di", "Ada", "Ben", "Cy"),
    }


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/choose", {}, "choice is one as text"),
        ("/choose", {"choice": "W9>e1"}, "is no choice"),
        ("/choose", {"choice": "end", "n": 0}, "n is a whole number"),
        ("/choose", {"choice": "end", "seat": 4}, "seat is a whole number from 0 to 3"),
        ("/choose", {"choice": "end", "seat": True}, "seat is a whole number"),
        ("/choose", [], "JSON object"),
        ("/dice", {}, "attacker is a list"),
        ("/dice", {"attacker": [], "defender": [1]}, "attacker is a list of one to 3"),
        ("/dice", {"attacker": [1, 2, 3, 4], "defender": [1]}, "attacker is a list of one to 3"),
        ("/dice", {"attacker": [1], "defender": [21]}, "defender is a whole number from 1 to 20"),
        ("/dice", {"attacker": [1], "defender": ["2"]}, "defender is a whole number"),
        ("/declare", {"what": "resign"}, "what is one of"),
        ("/start", {}, "played by two or four"),
        ("/start", {"names": ["Ada", "Ben", "Cy"]}, "played by two or four"),
        ("/start", {"names": ["Ada", "Ada"]}, "the names must differ"),
        ("/start", {"names": ["Ada", " "]}, "a name has"),
        ("/start", {"names": TWO, "first": "last"}, "first is one of"),
        ("/start", {"names": TWO, "layout": "round"}, "layout is one of diamond, square"),
        ("/start", {"names": TWO, "length": 0}, "length is a whole number from 1 to 99"),
        ("/start", {"record": 5}, "record is one as text"),
        ("/start", {"record": "1. W1>e5"}, "go 1, W1>e5: e5 is not orthogonally next to e0"),
        ("/start", {"record": '[Players "3"]'}, "played by two or four"),
        ("/start", {"record": '[Position "x"]'}, "write players, armies"),
        ("/replay", {"record": "1. end zz"}, "line 1: 'zz' is no choice"),
        ("/replay", {"record": "end " * 4001}, "more than 4000 choices"),
        ("/replay", {}, "record is one as text"),
    ],
)
def test_nonsense_is_refused_and_told(desk, path, body, words):
    answer = desk.post(path, body)
    assert answer.status_code == 400
    assert words in answer.json["why"]
    assert desk.said.empty()


@pytest.mark.parametrize("path", ["/start", "/choose", "/dice", "/roll", "/declare", "/replay"])
def test_no_other_site_can_write(desk, path):
    assert desk.client.post(path, json={}).status_code == 403
    assert desk.client.post(path, json={}, headers={**HEADERS, "Origin": "http://evil.example"}).status_code == 403
    assert desk.client.post(path, json={}, headers={**HEADERS, "Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(
    ("path", "body", "headline", "why", "rule"),
    [
        (
            "/choose",
            {"choice": "W1>e6>e7>e8>e9>e10>e11>e12"},
            "7 squares to e12 are more than the go has left",
            "Left of the go: 6 squares, 3 units.",
            "Taking your turn",
        ),
        (
            "/choose",
            {"choice": "end", "seat": 2},
            "It is Ada’s go",
            "Left of the go: 6 squares, 3 units.",
            "Taking your turn",
        ),
        (
            "/choose",
            {"choice": "end", "n": 2},
            "It is no longer choice 2: look at the board again",
            "Left of the go: 6 squares, 3 units.",
            "Taking your turn",
        ),
        (
            "/choose",
            {"choice": "W1+W2xf5(3/5)"},
            "The attacker rolls 2d6, not 1 dice",
            "Left of the go: 6 squares, 3 units.",
            "Combat",
        ),
        (
            "/choose",
            {"choice": "Pxh1"},
            "No unit stands on h1",
            "Left of the go: 6 squares, 3 units.",
            "Combat",
        ),
        (
            "/choose",
            {"choice": "bolt@f5"},
            "A Bolt takes an Activated stone, and the Mage holds none",
            "Left of the go: 6 squares, 3 units.",
            "Mage sorcery",
        ),
        (
            "/dice",
            {"attacker": [3], "defender": [4]},
            "Nothing is declared that calls for dice",
            "Left of the go: 6 squares, 3 units.",
            "Combat",
        ),
        (
            "/choose",
            {"choice": "resign:left"},
            "Left is not in the game, and cannot resign",
            "Left of the go: 6 squares, 3 units.",
            "Victory",
        ),
    ],
)
def test_what_the_rules_refuse_is_told_with_what_is_left_of_the_go(desk, path, body, headline, why, rule):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    before = desk.state
    assert desk.post(path, body).status_code == 202
    desk.work()
    after = desk.state
    ruling = after["ruling"]
    assert (ruling["verdict"], ruling["headline"], ruling["why"], ruling["rule"]) == ("refused", headline, why, rule)
    assert {**after, "ruling": None} == {**before, "ruling": None}


def test_a_refusal_shows_the_squares_that_it_is_about(desk):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    desk.play("W1>f5")
    assert desk.state["ruling"]["headline"] == "Ben’s Warrior 1 on f5 blocks the way"
    assert desk.state["ruling"]["cells"] == ["f5"]
    desk.play("W1>e6")
    assert desk.state["ruling"]["cells"] == []


@pytest.mark.parametrize(
    ("dice", "headline"),
    [
        ({"attacker": [3], "defender": [4]}, "The attacker rolls 2d6, not 1 dice"),
        ({"attacker": [3, 7], "defender": [4]}, "The attacker’s d6 cannot show 7"),
        ({"attacker": [3, 3], "defender": [4, 4]}, "The defender rolls 1d6, not 2 dice"),
    ],
)
def test_wrong_dice_leave_the_attack_waiting(desk, dice, headline):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    desk.play("W1+W2xf5")
    fight = desk.state["fight"]
    assert desk.post("/dice", dice).status_code == 202
    desk.work()
    after = desk.state
    assert (after["ruling"]["verdict"], after["ruling"]["headline"]) == ("refused", headline)
    assert (after["phase"], after["fight"], after["choices"]) == ("dice", fight, [])


def test_an_attack_by_the_players_dice_with_a_tie(desk):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    desk.play("W1+W2xf5")
    state = desk.state
    fight = state["fight"]
    assert (fight["dice"], fight["attacker"], fight["defender"]) == ("2d6 against 1d6", [6, 6], [6])
    assert (fight["odds"], fight["percent"], fight["lost_percent"]) == ("181/201", "90.0%", "10.0%")
    assert (fight["target"], fight["from"]) == ("f5", ["e5", "f4"])
    assert state["ruling"]["headline"].startswith("Ada’s Warrior 1 and Warrior 2 attack Ben’s Warrior 1 on f5: 2d6")
    assert state["actions"] == []
    desk.post("/dice", {"attacker": [2, 3], "defender": [5]})
    desk.work()
    state = desk.state
    assert state["fight"]["rolls"] == [[[2, 3], [5]]]
    assert state["ruling"]["headline"] == "A tie at 5: all dice are rolled again, 2d6 against 1d6"
    desk.post("/dice", {"attacker": [6, 3], "defender": [5]})
    desk.work()
    state = desk.state
    assert (state["phase"], state["fight"]) == ("play", None)
    assert state["choices"] == ["W1+W2xf5(2+3/5)(6+3/5)"]
    assert state["ruling"]["why"] == "Dice: 6+3 against 5."
    assert state["ruling"]["more"] == ["Ben’s Warrior 1 falls on f5"]
    assert [order["text"] for order in state["orders"]] == ["Take Ben’s Warrior 1 off f5", "Lay a gravestone on f5"]
    assert (state["units_left"], state["squares_left"], state["bank"]) == (1, 6, 7)


def test_the_companion_rolls_the_dice_that_are_called_for(desk):
    answer = desk.post("/roll", {})
    assert (answer.status_code, answer.json["why"]) == (409, "nothing is declared that calls for dice")
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    shown = set()
    for _ in range(40):
        desk.play("W1xf5")
        assert desk.post("/roll", {}).status_code == 202
        given = desk.said.get_nowait()
        assert given.by is Thrower.COMPANION
        shown |= {*given.roll.attacker, *given.roll.defender}
        assert (len(given.roll.attacker), len(given.roll.defender)) == (1, 1)
        desk.take(Saying(Said.TAKE_BACK))
    assert shown == {1, 2, 3, 4, 5, 6}  # one missing once in 10^5 runs
    desk.play("W1xf5")
    desk.take(Thrown(Roll((4,), (2,)), Thrower.COMPANION))
    assert desk.state["ruling"]["why"] == "Dice rolled by the companion: 4 against 2."


def test_what_the_camera_cannot_tell_is_asked_with_a_button_for_each_answer(desk):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    asked = Undecided(
        "Combat", "nobody has declared what the board shows: W1xf5 or", ("W1xf5", "W2>g4>g5 W2xf5"), cells=((5, 5),)
    )
    desk.store.append(desk.store.latest(), Chosen(read_choice("nova")), (asked,))
    answers = [button for button in desk.state["buttons"] if button["kind"] == "answer"]
    assert [answer["label"] for answer in answers] == [
        "The attack on f5 by Warrior 1",
        "Warrior 2: g4, g5; the attack on f5 by Warrior 2",
    ]
    ruling = desk.state["ruling"]
    assert (ruling["headline"], ruling["cells"]) == ("Nobody has declared what the board shows", ["f5"])
    assert desk.post(answers[1]["path"], answers[1]["body"]).status_code == 202
    desk.work()
    state = desk.state
    assert (state["choices"], state["phase"], state["fight"]["choice"]) == (["W2>g4>g5"], "dice", "W2xf5")
    assert not [button for button in state["buttons"] if button["kind"] == "answer"]


def test_a_tap_on_a_unit_offers_its_walks_and_targets(desk):
    assert desk.client.get("/options?cell=e5").json["n"] == 0
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    own = desk.client.get("/options?cell=e5").json
    assert (own["n"], own["why"]) == (1, "")
    assert own["walks"]["e6"] == [{"choice": "W1>e6", "squares": 1, "note": ""}]
    assert {tuple(attack["units"]) for attack in own["attacks"]["f5"]} == {("W1",), ("W1", "W2"), ("W2", "W1")}
    assert [attack["odds"] for attack in own["attacks"]["f5"]] == ["1/2", "181/201", "181/201"]
    enemy = desk.client.get("/options?cell=f5").json
    assert enemy["walks"] == {}
    assert {tuple(attack["units"]) for attack in enemy["attacks"]["f5"]} == {
        ("W1",),
        ("W2",),
        ("W1", "W2"),
        ("W2", "W1"),
    }
    mage = desk.client.get("/options?cell=i0").json
    assert [(walk["squares"], walk["note"]) for walk in mage["walks"]["h4"]] == [(5, "takes 1 Unactivated")]
    assert desk.client.get("/options?cell=a0").json["walks"] == {}
    assert desk.client.get("/options?cell=q9").status_code == 400
    desk.play("W1>e6")
    moved = desk.client.get("/options?cell=e6").json
    assert (moved["walks"], moved["why"]) == ({}, "Warrior 1 has moved already in this go, and a unit moves once")


def test_what_follows_from_a_walk_is_told(desk):
    desk.take(Begin(("Ada", "Ben", "Cy", "Di"), record=FOUR))
    warrior = desk.client.get("/options?cell=h5").json["walks"]
    assert warrior["h4"][0]["note"] == ""
    assert "breaks Cy’s Rite" in {walk["note"] for ways in warrior.values() for walk in ways}
    priest = desk.client.get("/options?cell=h0").json["walks"]["h2"]
    assert {walk["note"] for walk in priest} == {
        f"raises a Warrior and steps back to {square}" for square in ("h1", "g2", "i2", "h3")
    }


def test_the_buttons_say_why_they_cannot_be_pressed(desk):
    desk.take(Begin(("Ada", "Ben", "Cy", "Di"), record=FOUR))
    actions = {action["label"]: action for action in desk.state["actions"]}
    assert list(actions) == ["Bolt", "Nova", "Activate", "Collect", "Begin the Rite", "End go"]
    assert actions["Activate"]["why"] is None
    assert actions["End go"]["why"] is None
    assert actions["Nova"]["why"] == "No enemy stands on the eight squares around the Mage"
    assert actions["Collect"]["why"] == "No stone lies on k0, where the Mage stands"
    assert actions["Begin the Rite"]["why"] == "The Priest is on h0, and has to be on the Nexus"
    assert actions["Bolt"]["why"] == "A Bolt to i6 flies 8 squares, more than the go has left"
    assert all(action["kind"] == "" for action in actions.values())
    desk.play("M>k1>k2>k3")
    assert {action["label"]: action["cells"] for action in desk.state["actions"]}["Bolt"] == []
    desk.play("W1>h4 W2>f6>e6")
    assert desk.state["able"] == []
    assert [action["label"] for action in desk.state["actions"] if action["kind"] == "primary"] == ["End go"]


def test_the_state_tells_the_whole_table(desk):
    assert desk.state["phase"] == "start"
    desk.take(Begin(("Ada", "Ben", "Cy", "Di"), record=FOUR))
    state = desk.state
    assert [player["name"] for player in state["players"]] == ["Ada", "Ben", "Cy", "Di"]
    assert [player["seat"] for player in state["players"]] == [0, 1, 2, 3]
    assert [(player["carried"], player["activated"], player["die"]) for player in state["players"]] == [
        (1, 4, 20),
        (0, 0, 6),
        (3, 2, 12),
        (0, 0, 6),
    ]
    assert [player["besieged"] for player in state["players"]] == [False, True, False, False]
    assert [player["waiting"] for player in state["players"]] == [[], ["Mage"], [], []]
    assert state["rite"] == {
        "seat": 2,
        "returns_left": 1,
        "words": "Cy’s Rite is won when play has come back to Cy once more",
    }
    assert (state["turn"], state["squares_left"], state["units_left"], state["bank"]) == (0, 6, 3, 4)
    assert state["position"] == FOUR.split('"')[1]
    assert set(state["able"]) == {"k0", "h0", "h5", "g6"}
    desk.play("activate end")
    state = desk.state
    assert (state["turn"], state["go"], state["n"]) == (1, [], 3)
    assert [order["text"] for order in state["orders"]] == ["Turn the stone that Ada’s Mage carries: Activated"]
    desk.play("resign:right")
    state = desk.state
    assert (state["turn"], state["players"][1]["out"]) == (None, True)
    # Play has come back to Cy.
    assert (state["phase"], state["result"]) == ("game-over", {"ending": "ritual", "reason": "the Rite", "winner": 2})
    assert [button["label"] for button in state["buttons"]] == ["Next game", "Take back"]
    desk.take(Saying(Said.TAKE_BACK))
    state = desk.state
    assert (state["phase"], state["turn"], len(state["undone"])) == ("play", 1, 1)
    desk.take(Saying(Said.TAKE_BACK), Saying(Said.TAKE_BACK))
    assert (desk.state["n"], len(desk.state["undone"])) == (1, 3)


@pytest.mark.parametrize(
    ("inputs", "undone"),
    [
        ([Chosen(read_choice("W1>e6")), Saying(Said.TAKE_BACK)], [2]),
        ([Chosen(read_choice("W1xf5")), Thrown(Roll((2,), (2,))), Saying(Said.TAKE_BACK)], [2, 3]),
        ([Chosen(read_choice("W1xf5")), Thrown(Roll((2,), (1,))), Saying(Said.TAKE_BACK)], [2, 3]),
        ([Chosen(read_choice("nova")), Saying(Said.TAKE_BACK)], []),
        ([Chosen(read_choice("end")), Chosen(read_choice("end")), Saying(Said.TAKE_BACK)], [3]),
        ([Chosen(Draw()), Saying(Said.NEXT_GAME), Saying(Said.TAKE_BACK)], [3]),
        ([Chosen(Draw()), Saying(Said.NEXT_GAME), Saying(Said.TAKE_BACK), Saying(Said.TAKE_BACK)], [3, 2]),
    ],
)
def test_what_is_taken_back_is_marked_in_the_log(desk, inputs, undone):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT), *inputs)
    assert desk.state["undone"] == undone


def test_games_are_listed_replayed_and_exported(desk):
    desk.take(Begin(('Ada "A"', "Ben"), length=3))
    desk.play("W1>e1>e2 end W1>l14 draw")
    desk.take(Saying(Said.NEXT_GAME))
    desk.play("end resign:bottom")
    desk.take(Begin(("Cy", "Di", "Ed", "Flo")))
    games = desk.client.get("/games").json
    assert [(game["players"], game["game"], game["winner"], game["reason"], game["goes"]) for game in games] == [
        (["Cy", "Di", "Ed", "Flo"], 1, None, None, 1),
        (["Ben", 'Ada "A"'], 2, "Ben", "conquest", 2),
        (['Ada "A"', "Ben"], 1, None, "agreement", 2),
    ]
    drawn = games[2]
    told = desk.client.get(f"/replay?match={drawn['match']}&game=1").json
    assert told["choices"] == ["W1>e1>e2", "end", "W1>l14", "draw"]
    assert told["cells"] == [["e1", "e2"], [], ["l14"], []]
    assert (len(told["positions"]), told["seats"]) == (5, [0, 2])
    assert told["result"] == {"ending": "agreement", "reason": "agreement", "winner": None}
    answer = desk.client.get(f"/record?match={drawn['match']}&game=1")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="magestone-[-\d]+\.txt"', answer.headers["Content-Disposition"])
    assert "[Top \"Ada 'A'\"]" in answer.text
    assert [write_position(state) for state in replay(read_record(answer.text))] == told["positions"]
    read = desk.post("/replay", {"record": answer.text}).json
    assert {**read, "match": drawn["match"]} == {**told, "players": ["Ada 'A'", "Ben"]}


def positions(seed, goes):
    """States of a random game, some within a go."""
    chance = random.Random(seed)
    state = start(2 + 2 * (seed % 2))
    for _ in range(goes):
        legal = legal_choices(state)
        acts = legal.actions[:-1]
        state = play(state, thrown(state, chance.choice(acts if acts and chance.random() < 0.5 else legal), chance))
        if state.result is not None:
            return
        yield state


@pytest.mark.parametrize("seed", range(4))
def test_taps_and_buttons_offer_all_that_is_legal_and_nothing_else(seed):
    print("seed", seed)
    words = MageStoneWords(names_of(None))
    for state in list(positions(seed, 240))[::12]:
        cells = [cell for cell in state.armies[state.to_move].cells if cell is not None]
        taps = [options_json(state, cell, words) for cell in cells]
        walks = [walk["choice"] for tap in taps for ways in tap["walks"].values() for walk in ways]
        fights = [
            fight["choice"]
            for tap in taps
            for kind in ("attacks", "bolts")
            for found in tap[kind].values()
            for fight in found
        ]
        enemies = [cell for seat in state.remaining if seat is not state.to_move for cell in state.armies[seat].cells]
        aimed = [
            fight["choice"]
            for cell in filter(None, enemies)
            for kind in ("attacks", "bolts")
            for fight in options_json(state, cell, words)[kind].get(square_name(cell), [])
        ]
        actions = actions_json(state, words)
        pressed = [action["choice"] for action in actions if action["choice"] is not None and action["why"] is None]
        bolts = [f"bolt@{cell}" for action in actions for cell in action["cells"]]
        legal = [write_choice(choice) for choice in legal_choices(state)]
        acts = {choice for choice in legal if ">" not in choice}
        assert {*fights, *pressed} == {*aimed, *pressed} == acts
        assert {*bolts} == {choice for choice in acts if choice.startswith("bolt")}
        assert all(declaration_fault(state, read_choice(walk)) is None for walk in walks)
        ends = {(walk.split(">")[0], walk.split(">")[-1]) for walk in walks}
        assert ends == {(walk.split(">")[0], walk.split(">")[-1]) for walk in legal if ">" in walk}
        does = {unit for choice in {*walks, *fights, *pressed} for unit in doers(choice)}
        assert {square_name(state.armies[state.to_move].cells[unit]) for unit in does} == {*able_json(state)}


def doers(choice):
    """The units that do what a choice says."""
    alone = {"nova": "M", "activate": "M", "collect": "M", "rite": "P", "end": "", "bolt": "M"}
    letters = alone.get(choice.split("@")[0], re.split("[>x]", choice)[0])
    return [UNITS_BY_LETTER[letter] for letter in letters.split("+") if letter]


@pytest.mark.parametrize("path", ["/replay", "/record"])
@pytest.mark.parametrize(
    ("query", "status"), [("match=x&game=1", 404), ("game=0", 400), ("match=x&game=y", 400), ("", 400)]
)
def test_no_such_game(desk, path, query, status):
    answer = desk.client.get(f"{path}?{query}")
    assert answer.status_code == status
    assert answer.json["why"]


@pytest.mark.parametrize(("length", "status"), [(500_000, 400), (600_000, 413)])
def test_long_records_are_read_and_longer_ones_refused(desk, length, status):
    answer = desk.post("/replay", {"record": "x" * length})
    assert answer.status_code == status
    assert answer.json["why"]


@pytest.mark.parametrize(
    ("go", "orders"),
    [
        ("W1xf5(5/2)", ["Take Ben’s Warrior 1 off f5", "Lay a gravestone on f5"]),
        ("W1xf5(2/5)", ["Take Ada’s Warrior 1 off e5", "Lay a gravestone on e5"]),
        ("W1>e6 end", []),
    ],
)
def test_what_has_to_be_done_on_the_table(desk, go, orders):
    desk.take(Begin(("Ada", "Ben"), record=FIGHT))
    desk.play(go)
    assert [order["text"] for order in desk.state["orders"]] == orders


MAGES = '[Position "2 Mh7(0+4),Ph0,W1d5/Mi7(1+1),Pg6,W1h14 e4,e4* d4 8 0:6:3 - -"]'
"""The Mages stand side by side on the Nexus."""


@pytest.mark.parametrize(
    ("go", "orders"),
    [
        (
            "nova",
            [
                "Put Ben’s Mage from i7 on h15",
                "Put Ben’s Priest from g6 on i15",
                "Lay an Activated stone on g6",
                "Lay an Activated stone on i6",
                "Lay an Activated stone on i7",
                "Lay an Activated stone on g8",
                "Lay an Activated stone on i8",
                "Lay an Unactivated stone on i7",
            ],
        ),
        ("bolt@g6", ["Put Ben’s Priest from g6 on i15", "Lay an Activated stone on g6"]),
        (
            "M>g7>f7>f6>f5>e5>e4",
            ["Take the Unactivated stone off e4, to the Mage", "Take the Activated stone off e4, to the Mage"],
        ),
    ],
)
def test_orders_on_stones_and_those_who_come_back(desk, go, orders):
    desk.take(Begin(("Ada", "Ben"), record=MAGES))
    desk.play(go)
    assert sorted(order["text"] for order in desk.state["orders"]) == sorted(orders), desk.state["ruling"]
