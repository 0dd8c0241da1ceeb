"""Claims about what the server of Pathstone's page answers, and what it puts on the queue."""

import re
from queue import Queue

import pytest

from companion.cli.boards import pathstone_board
from companion.dashboard import create_pathstone_app
from companion.games.pathstone import read_move
from companion.games.pathstone.series import Begin, Played, Said, Saying, take
from companion.live import Live
from companion.ruling import Accepted
from companion.store import PathstoneStore
from companion.terms import Player

HEADERS = {"X-Companion": "1"}
RECORD = '[Player1 "Ada"]\n[Player2 "Ben"]\n[Size "3"]\n\n1. a1 c3\n2. b2 {good} *\n'.replace(" *", "")


class Desk:
    """A log with the web application over it; what the application queues waits in `said`."""

    def __init__(self, path, *, watched=False):
        self.live = Live()
        self.store = PathstoneStore(path, self.live.ring)
        self.said = Queue(maxsize=3)
        self.app = create_pathstone_app(self.store, self.live, self.said, pathstone_board(None, 5), watched=watched)
        self.client = self.app.test_client()
        self._series = self._match = None

    def take(self, *inputs):
        """Takes inputs as a session does."""
        for given in inputs:
            self._series, rulings = take(self._series, given)
            if isinstance(given, Begin):
                self._match = self.store.begin(given, rulings)
            else:
                self.store.append(self._match, given, rulings)

    def play(self, moves):
        self.take(*(Played(read_move(move)) for move in moves.split()))


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "log.sqlite")
    yield desk
    desk.store.close()


@pytest.fixture
def watched(tmp_path):
    desk = Desk(tmp_path / "log.sqlite", watched=True)
    yield desk
    desk.store.close()


@pytest.mark.parametrize(
    ("path", "body", "queued"),
    [
        ("/play", {"ptn": "3c3>12", "n": 7}, Played(read_move("3c3>12"), 7)),
        ("/play", {"ptn": "Sa1"}, Played(read_move("Sa1"))),
        ("/declare", {"what": "take-back"}, Saying(Said.TAKE_BACK)),
        ("/declare", {"what": "resign", "player": "b"}, Saying(Said.RESIGN, Player.B)),
        ("/start", {"names": ["Ada", " Ben  B"], "size": 6, "first": "first"}, Begin(("Ada", "Ben B"), 6)),
        (
            "/start",
            {"names": ["Ada", "Ben"], "size": 3, "first": "second", "length": 5},
            Begin(("Ben", "Ada"), 3, 5),
        ),
        ("/start", {"ptn": RECORD}, Begin(("Ada", "Ben"), 5, 1, RECORD)),
        ("/start", {"ptn": '[Size "4"]'}, Begin(("Player 1", "Player 2"), 5, 1, '[Size "4"]')),
    ],
)
def test_what_people_say_is_queued(desk, path, body, queued):
    assert desk.client.post(path, json=body, headers=HEADERS).status_code == 202
    assert desk.said.get_nowait() == queued


def test_who_moves_first_is_drawn(desk):
    drawn = set()
    for _ in range(60):  # all alike once in 10^18
        desk.client.post("/start", json={"names": ["Ada", "Ben"], "size": 5}, headers=HEADERS)
        drawn.add(desk.said.get_nowait().names)
    assert drawn == {("Ada", "Ben"), ("Ben", "Ada")}


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/play", {}, "ptn is a move"),
        ("/play", {"ptn": "zz"}, "is no move"),
        ("/play", {"ptn": "3c3>11"}, "takes 3 and drops 2"),
        ("/play", {"ptn": "a1", "n": 0}, "whole number"),
        ("/play", {"ptn": "a1", "n": True}, "whole number"),
        ("/play", [], "JSON object"),
        ("/declare", {"what": "flick-lost"}, "what is one of"),
        ("/declare", {"what": "resign", "player": "c"}, "player is one of"),
        ("/start", {}, "names are two"),
        ("/start", {"names": ["Ada", "Ada"], "size": 5}, "must differ"),
        ("/start", {"names": ["Ada", ""], "size": 5}, "a name has"),
        ("/start", {"names": ["Ada", "Ben"], "size": 9}, "from 3 to 8"),
        ("/start", {"names": ["Ada", "Ben"], "size": "5"}, "whole number"),
        ("/start", {"names": ["Ada", "Ben"], "size": 5, "first": "third"}, "first is one of"),
        ("/start", {"names": ["Ada", "Ben"], "size": 5, "length": 0}, "from 1 to 99"),
        ("/start", {"ptn": 5}, "a record as text"),
        ("/start", {"ptn": " "}, "a record as text"),
        ("/start", {"ptn": "1. a1"}, "Size"),
        ("/start", {"ptn": '[Size "9"]'}, "3 to 8 squares"),
        ("/start", {"ptn": '[Size "5"]\n1. a1 a1'}, "line 2, column 7, move 1, a1: a1 is not empty"),
        ("/start", {"ptn": '[Size "5"]\n[TPS "x"]'}, "TPS"),
        ("/replay", {"ptn": '[Size "5"]\n1. a1 what'}, "line 2, column 7"),
        ("/replay", {"ptn": '[Size "5"]\n' + "a1 " * 1001}, "more than 1000 moves"),
        ("/replay", {}, "a record as text"),
    ],
)
def test_nonsense_is_refused_and_told(desk, path, body, words):
    answer = desk.client.post(path, json=body, headers=HEADERS)
    assert answer.status_code == 400
    assert words in answer.json["why"]
    assert desk.said.empty()


@pytest.mark.parametrize("path", ["/start", "/play", "/declare", "/replay"])
def test_no_other_site_can_write(desk, path):
    assert desk.client.post(path, json={}).status_code == 403
    assert desk.client.post(path, json={}, headers={**HEADERS, "Origin": "http://evil.example"}).status_code == 403
    assert desk.client.post(path, json={}, headers={**HEADERS, "Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(("length", "status"), [(100_000, 400), (200_000, 413)])
def test_long_records_are_read_and_longer_ones_refused(desk, length, status):
    text = '[Size "5"]\n{' + "x" * length
    answer = desk.client.post("/replay", json={"ptn": text}, headers=HEADERS)
    assert answer.status_code == status
    assert answer.json["why"]


def test_under_a_camera_games_are_of_its_board(watched):
    body = {"names": ["Ada", "Ben"], "size": 6}
    answer = watched.client.post("/start", json=body, headers=HEADERS)
    assert (answer.status_code, answer.json["why"]) == (400, "the camera watches a board of 5x5")
    assert watched.client.post("/start", json={**body, "size": 5}, headers=HEADERS).status_code == 202


def test_the_moves_from_a_square_are_listed(desk):
    assert desk.client.get("/moves?cell=a1").json == {"n": 0, "moves": []}
    desk.take(Begin(("Ada", "Ben"), 5))
    desk.play("a1 e5 c3 c4 c3+ Sd4 d3 a5")
    told = desk.client.get("/moves?cell=c4").json
    assert told["n"] == 9
    assert sorted(told["moves"]) == sorted(
        ["c4+", "2c4+", "c4-", "2c4-", "2c4-11", "c4<", "2c4<", "2c4<11"]  # d4 is a wall
    )
    assert desk.client.get("/moves?cell=e5").json["moves"] == ["e5-", "e5<"]
    assert desk.client.get("/moves?cell=h8").json["moves"] == []
    assert desk.client.get("/moves?cell=i9").status_code == 400


def test_games_are_listed_replayed_and_exported(desk):
    desk.take(Begin(('Ada "A"', "Ben"), 3, 3))
    desk.play("a1 c3 c2 b1 b2 b3 a2")
    desk.take(Saying(Said.NEXT_GAME))
    desk.play("b2")
    desk.take(Begin(("Cy", "Di"), ptn=RECORD, length=1))
    games = desk.client.get("/games").json
    assert [(game["players"], game["game"], game["result"], game["moves"]) for game in games] == [
        (["Cy", "Di"], 1, None, 3),
        (["Ben", 'Ada "A"'], 2, None, 1),
        (['Ada "A"', "Ben"], 1, "R-0", 7),
    ]
    won = games[2]
    told = desk.client.get(f"/replay?match={won['match']}&game=1").json
    assert len(told["tps"]) == len(told["moves"]) + 1 == 8
    assert told["tps"][1] == "x3/x3/2,x2 2 1"
    assert told["result"] == {"text": "R-0", "reason": "path", "winner": "a", "path": ["a2", "b2", "c2"]}
    answer = desk.client.get(f"/game.ptn?match={won['match']}&game=1")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="pathstone-[-\d]+\.ptn"', answer.headers["Content-Disposition"])
    assert "[Player1 \"Ada 'A'\"]" in answer.text
    assert "1. a1 c3\n2. c2 b1\n3. b2 b3\n4. a2 R-0\n" in answer.text
    assert desk.client.get(f"/game.ptn?match={games[0]['match']}&game=1").text == RECORD
    read = desk.client.post("/replay", json={"ptn": answer.text}, headers=HEADERS).json
    assert {**read, "match": won["match"]} == {**told, "players": ["Ada 'A'", "Ben"]}


@pytest.mark.parametrize("path", ["/replay", "/game.ptn"])
@pytest.mark.parametrize(
    ("query", "status"), [("match=x&game=1", 404), ("game=0", 400), ("match=x&game=y", 400), ("", 400)]
)
def test_no_such_game(desk, path, query, status):
    answer = desk.client.get(f"{path}?{query}")
    assert answer.status_code == status
    assert answer.json["why"]


def test_a_series_that_was_left_can_be_gone_on_with(desk):
    desk.take(Begin(("Ada", "Ben"), 5))
    desk.play("a1")
    desk.take(Begin(("Cy", "Di"), 5, 1), Saying(Said.DRAW))
    desk.take(Begin(("Eve", "Flo"), 5))
    games = desk.client.get("/games").json
    assert [(game["players"][0], game["goes_on"]) for game in games] == [("Eve", False), ("Cy", False), ("Ada", True)]
    assert desk.client.post("/resume", json={"match": games[-1]["match"]}, headers=HEADERS).status_code == 202
    match = desk.said.get_nowait().match
    assert desk.store.find(games[-1]["match"]) == match
    desk.store.append(match, Saying(Said.GO_ON), (Accepted("Setup", "it goes on"),))
    assert desk.client.get("/state").json["moves"] == ["a1"]
    assert [game["goes_on"] for game in desk.client.get("/games").json] == [True, False, False]


@pytest.mark.parametrize("body", [{}, {"match": None}, {"match": "nonsense"}, {"match": 1}])
def test_no_such_series_to_go_on_with(desk, body):
    answer = desk.client.post("/resume", json=body, headers=HEADERS)
    assert (answer.status_code, answer.json["why"]) == (404, "there is no such series in the log")
    assert desk.said.empty()


def test_the_stack_that_is_tapped_is_known_until_it_is_let_go(desk):
    for cell, known in (([3, 1], (3, 1)), (None, None), ([0, 15], (0, 15))):
        assert desk.client.post("/tapped", json={"cell": cell}, headers=HEADERS).status_code == 202
        assert desk.live.tapped() == known
    assert desk.said.empty()


@pytest.mark.parametrize("cell", ["c3", [1], [1, 2, 3], [1, -1], [1, 65], [1, True], [1.0, 2], {"row": 1}, 7])
def test_what_is_no_cell_is_told(desk, cell):
    answer = desk.client.post("/tapped", json={"cell": cell}, headers=HEADERS)
    assert (answer.status_code, answer.json["why"]) == (400, "cell is a row and a column, or null")
    assert desk.live.tapped() is None


def test_the_state_tells_the_whole_table(desk):
    assert desk.client.get("/state").json["phase"] == "start"
    desk.take(Begin(("Ada", "Ben"), 5))
    opening = desk.client.get("/state").json
    assert (opening["opening"], opening["turn"], opening["players"]["a"]["stones"]) == (True, "a", 21)
    desk.play("a1 e5 b5 a2 c5 a3 d5")
    state = desk.client.get("/state").json
    assert state["threats"] == {"a": ["a5"], "b": []}
    assert state["threat_words"] == ["Ada is one move from a path: a5"]
    assert (state["turn"], state["n"], state["last"]) == ("b", 8, ["d5"])
    assert state["movable"] == ["a1", "a2", "a3"]
    assert state["ruling"]["headline"] == "Ada places a flat on d5"
    desk.play("a5")
    blocked = desk.client.get("/state").json
    assert blocked["threats"]["a"] == []
    assert blocked["threat_words"] == ["Ben is one move from a path: a4"]
    desk.play("e1 a4")
    over = desk.client.get("/state").json
    assert (over["phase"], over["turn"]) == ("game-over", None)
    assert over["result"] == {"text": "0-R", "reason": "path", "winner": "b", "path": ["a1", "a2", "a3", "a4", "a5"]}
    assert over["ruling"]["headline"] == "Ben completes a path and wins"
    assert [button["label"] for button in over["buttons"]] == ["Next game", "Take back"]
    desk.take(Saying(Said.TAKE_BACK))
    back = desk.client.get("/state").json
    assert (back["phase"], back["n"], len(back["undone"])) == ("play", 10, 1)


@pytest.mark.parametrize(
    ("inputs", "headline", "why"),
    [
        ([Played(read_move("Sa1"))], "The first turn places a flat of Ben: no wall, no Crown, no movement", ""),
        ([Played(read_move("a1"))], "Ada places a flat for Ben on a1", ""),
        ([Saying(Said.RESIGN, Player.A)], "Ben wins", "Ada resigns."),
        ([Saying(Said.DRAW)], "Drawn by agreement", ""),
        ([Saying(Said.TAKE_BACK)], "There is no move to take back", ""),
        (
            [Saying(Said.DRAW), Saying(Said.NEXT_GAME)],
            "Game 2: Ben moves first",
            "Ben places a flat of Ada’s first, then Ada one of Ben’s.",
        ),
    ],
)
def test_rulings_speak_of_people(desk, inputs, headline, why):
    desk.take(Begin(("Ada", "Ben"), 5), *inputs)
    ruling = desk.client.get("/state").json["ruling"]
    assert (ruling["headline"], ruling["why"]) == (headline, why)


def test_a_record_that_is_played_on_is_named(desk):
    desk.take(Begin(("Ada", "Ben"), ptn=RECORD))
    state = desk.client.get("/state").json
    assert (state["ruling"]["headline"], state["ruling"]["why"]) == ("Game 1: the record of Ada and Ben", "")
    assert (state["moves"], state["turn"], state["size"]) == (["a1", "c3", "b2"], "b", 3)
