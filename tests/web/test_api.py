"""Claims about what the page takes: the right things reach the queue, everything else is refused in one sentence."""

from dataclasses import replace
from queue import Queue

import pytest

from companion.dashboard import create_app
from companion.inputs import Declaration, Declared, DiskCorrection, Setup, Undo, disk_to_json
from companion.terms import IllegalFlick, Mode, Player
from vision.board import CrossingsBoard, ProfileError

HEADERS = {"X-Companion": "1"}
START = {"names": ["Ada", "Ben"], "starter": "b", "mode": "match", "threshold": 7, "illegal_flick": "replay"}
DISK = {"colour": "a", "x_mm": 32, "y_mm": 100, "cell": [1, 1], "lying": "in_cell"}


@pytest.fixture
def said():
    return Queue(maxsize=3)


@pytest.fixture
def client(desk, said, profile):
    return create_app(desk.store, desk.live, said, profile).test_client()


@pytest.mark.parametrize(
    ("path", "body", "given"),
    [
        (
            "/start",
            {**START, "names": [" Ada ", "Ben  Bo"]},
            Declaration(
                Declared.START,
                Setup(Mode.MATCH, 7, Player.B, ("Ada", "Ben Bo"), IllegalFlick.REPLAY),
            ),
        ),
        ("/declare", {"what": "illegal-flick"}, Declaration(Declared.ILLEGAL_FLICK)),
        ("/declare", {"what": "accept", "choice": "stays"}, Declaration(Declared.ACCEPT, None, "stays")),
        ("/declare", {"what": "next-game", "choice": None}, Declaration(Declared.NEXT_GAME)),
        ("/undo", {}, Undo()),
        ("/undo", {"before": 3}, Undo(3)),
    ],
)
def test_what_people_say_reaches_the_queue(client, said, path, body, given):
    answer = client.post(path, json=body, headers=HEADERS)
    assert (answer.status_code, answer.json) == (202, {"taken": True})
    assert said.get_nowait() == given
    assert said.empty()


def test_a_correction_carries_the_disk_as_the_page_got_it(client, said, disk):
    was, now = disk(Player.A, 3, 4), disk(Player.B, 3, 4)
    client.post("/correct", json={"was": disk_to_json(was), "now": disk_to_json(now)}, headers=HEADERS)
    client.post("/correct", json={"was": disk_to_json(was), "now": None}, headers=HEADERS)
    client.post("/correct", json={"was": None, "now": DISK}, headers=HEADERS)
    new = replace(disk(Player.A, 1, 1), sigma_mm=0.0, confidence=1.0)
    assert [said.get_nowait() for _ in range(3)] == [
        DiskCorrection(was, now),
        DiskCorrection(was, None),
        DiskCorrection(None, new),
    ]


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/start", [], "JSON object"),
        ("/start", {}, "names are two"),
        ("/start", {**START, "names": "Ada"}, "names are two"),
        ("/start", {**START, "names": ["Ada", ""]}, "1 to 24"),
        ("/start", {**START, "names": ["Ada", "x" * 25]}, "1 to 24"),
        ("/start", {**START, "names": ["Ada", 7]}, "1 to 24"),
        ("/start", {**START, "names": ["Ada", "B\x00n"]}, "1 to 24"),
        ("/start", {**START, "names": ["Ada", "Ada"]}, "differ"),
        ("/start", {**START, "threshold": 0}, "from 1 to 99"),
        ("/start", {**START, "threshold": 11.5}, "from 1 to 99"),
        ("/start", {**START, "threshold": True}, "from 1 to 99"),
        ("/start", {**START, "threshold": "11"}, "from 1 to 99"),
        ("/start", {**START, "mode": "chess"}, "mode is one of"),
        ("/start", {**START, "starter": "c"}, "starter is one of"),
        ("/start", {**START, "illegal_flick": None}, "illegal_flick is one of"),
        ("/declare", {}, "what is one of"),
        ("/declare", {"what": "checkmate"}, "what is one of"),
        ("/declare", {"what": "start"}, "at /start"),
        ("/declare", {"what": "accept", "choice": 3}, "candidates"),
        ("/correct", {}, "must be a disk"),
        ("/correct", {"was": None, "now": None}, "must be a disk"),
        ("/correct", {"was": 3}, "JSON object"),
        ("/correct", {"now": {**DISK, "colour": "green"}}, "not a disk"),
        ("/correct", {"now": {**DISK, "lying": "asleep"}}, "not a disk"),
        ("/correct", {"now": {**DISK, "x_mm": None}}, "not a disk"),
        ("/correct", {"now": {**DISK, "x_mm": 1e9}}, "not on the board"),
        ("/correct", {"now": {**DISK, "x_mm": float("nan")}}, "disk"),
        ("/correct", {"now": {**DISK, "cell": [9, 1]}}, "a row from 1 to 8"),
        ("/correct", {"now": {**DISK, "cell": [1, 0]}}, "a column from 1 to 7"),
        ("/correct", {"now": {**DISK, "cell": "a1"}}, "not a disk"),
        ("/undo", {"before": 0}, "number of an entry"),
        ("/undo", {"before": "last"}, "number of an entry"),
        ("/undo", {"before": True}, "number of an entry"),
    ],
)
def test_nonsense_is_refused_with_the_reason(client, said, path, body, why):
    answer = client.post(path, json=body, headers=HEADERS)
    assert answer.status_code == 400
    assert why in answer.json["why"]
    assert said.empty()


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"what=undo", b'{"before": 1} trailing'])
def test_what_is_no_json_is_refused(client, said, data):
    answer = client.post("/undo", data=data, content_type="application/json", headers=HEADERS)
    assert answer.status_code == 400
    assert said.empty()


@pytest.mark.parametrize(
    ("headers", "content_type", "status"),
    [
        ({}, "application/json", 403),
        ({**HEADERS, "X-Companion": "2"}, "application/json", 403),
        ({**HEADERS, "Origin": "http://evil.example"}, "application/json", 403),
        ({**HEADERS, "Origin": "null"}, "application/json", 403),
        ({**HEADERS, "Origin": "http://localhost:81"}, "application/json", 403),
        ({**HEADERS, "Sec-Fetch-Site": "cross-site"}, "application/json", 403),
        ({**HEADERS, "Sec-Fetch-Site": "same-site"}, "application/json", 403),
        (HEADERS, "text/plain", 415),
        (HEADERS, "application/x-www-form-urlencoded", 415),
        ({**HEADERS, "Host": "evil.example"}, "application/json", 421),
    ],
)
def test_another_site_cannot_write(client, said, headers, content_type, status):
    answer = client.post("/undo", data=b"{}", content_type=content_type, headers=headers)
    assert answer.status_code == status
    assert answer.json["why"]
    assert said.empty()


def test_the_page_itself_can_write(client, said):
    headers = {**HEADERS, "Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/undo", json={}, headers=headers).status_code == 202
    assert said.get_nowait() == Undo()


@pytest.mark.parametrize("path", ["/", "/state", "/log", "/events", "/picture.jpg", "/static/table.js", "/nowhere"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:127", "192.168.1.5", "[::1"])
def test_a_name_rebound_to_this_computer_gets_nothing(client, path, host):
    assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_this_computer_gets_the_page(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(("method", "path"), [("GET", "/undo"), ("POST", "/"), ("PUT", "/start"), ("DELETE", "/log")])
def test_only_the_listed_methods_are_answered(client, method, path):
    answer = client.open(path, method=method, headers=HEADERS, json={})
    assert answer.status_code == 405
    assert answer.json["why"]


def test_a_long_body_is_refused(client, said):
    answer = client.post("/declare", json={"what": "accept", "choice": "x" * 20_000}, headers=HEADERS)
    assert answer.status_code == 413
    assert answer.json["why"]
    assert said.empty()


def test_a_referee_that_does_not_listen_is_told(client, said):
    for _ in range(3):
        assert client.post("/undo", json={}, headers=HEADERS).status_code == 202
    answer = client.post("/undo", json={}, headers=HEADERS)
    assert (answer.status_code, answer.json["why"]) == (503, "the referee is busy; try again")
    assert said.qsize() == 3


def test_a_log_that_cannot_be_read_is_told(desk, client):
    desk.store.close()
    answer = client.get("/state")
    assert answer.status_code == 503
    assert "the log is closed" in answer.json["why"]


def test_a_board_that_the_page_cannot_draw_is_refused(desk, said, profile):
    with pytest.raises(ProfileError, match="holes"):
        create_app(desk.store, desk.live, said, replace(profile, board=CrossingsBoard(19, 19, 22.0, 21.0)))
