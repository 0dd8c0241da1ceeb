"""Claims about what the page is told: the log by number without a gap, then how things stand; and the picture."""

import json
import threading
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.dashboard import stream
from companion.inputs import Declaration, Declared, DiskCorrection, Setup, Undo
from companion.live import Watch
from companion.terms import Lying, Mode, Player
from vision.calibration import calibrate
from vision.sighting import Reading, Sighting

START = Declaration(Declared.START, Setup(Mode.MATCH, 11, names=("Ada", "Ben")))


class Viewer:
    """Reads one stream of events as a browser does."""

    def __init__(self, client, path="/events", last_id=None):
        headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
        self.response = client.get(path, headers=headers, buffered=False)
        assert self.response.status_code == 200
        self._chunks = self.response.iter_encoded()

    def next(self):
        """The next event as (kind, id, data)."""
        for chunk in self._chunks:
            fields = dict(line.split(": ", 1) for line in chunk.decode().splitlines() if line and line[0] != ":")
            if "event" in fields:
                return fields["event"], int(fields.get("id", 0)), json.loads(fields["data"])
        raise AssertionError("the stream ended")

    def until_state(self):
        """The numbers of the entries that come before the next state, and that state."""
        entries = []
        while True:
            kind, number, data = self.next()
            if kind == "state":
                return entries, data
            assert number == data["seq"]
            entries.append(number)

    def close(self):
        self.response.close()


@pytest.fixture
def client(desk):
    return desk.app.test_client()


def test_a_viewer_that_comes_back_gets_exactly_what_it_missed(desk, client, disk):
    desk.say(START)
    desk.see(disk(Player.A, 4, 3), flight=Player.A)
    viewer = Viewer(client)
    assert viewer.until_state()[0] == [1, 2]
    desk.see(disk(Player.A, 4, 3), disk(Player.B, 5, 5), flight=Player.B)
    entries, state = viewer.until_state()
    assert entries == [3]
    viewer.close()
    desk.say(Undo())
    desk.say(Declaration(Declared.FLICK_LOST))
    for last_id, missed in ((3, [4, 5]), (0, [1, 2, 3, 4, 5]), (5, []), (99, [1, 2, 3, 4, 5])):
        again = Viewer(client, last_id=last_id)
        entries, now = again.until_state()
        assert entries == missed
        assert now != state
        again.close()
    # A page that comes back by itself gives its number in the address; the header, being newer, wins.
    again = Viewer(client, "/events?after=2", last_id=4)
    assert again.until_state()[0] == [5]
    again.close()


def test_a_new_match_starts_a_log_of_its_own(desk, client, disk):
    desk.say(START)
    desk.see(disk(Player.A, 4, 3), flight=Player.A)
    viewer = Viewer(client)
    _, first = viewer.until_state()
    desk.say(START)
    kind, number, line = viewer.next()
    assert (kind, number) == ("entry", 3)
    assert line["match"] != first["match"]
    assert line["n"] == 1
    viewer.close()


def test_every_page_is_told_how_the_table_is_watched(desk, client):
    viewer = Viewer(client)
    assert viewer.until_state()[1]["watch"] == {"state": "watching", "why": ""}
    desk.live.watch(Watch.CAMERA_LOST, "The camera gives no pictures; plug it in again.")
    assert viewer.until_state()[1]["watch"]["state"] == "camera-lost"
    desk.live.watch(Watch.HAND)
    assert viewer.until_state()[1]["watch"]["state"] == "hand"
    viewer.close()


def test_one_viewer_too_many_is_told_to_come_later(desk, client, monkeypatch):
    monkeypatch.setattr(stream, "_PING_S", 0.01)
    viewers = [Viewer(client) for _ in range(stream.MOST_STREAMS)]
    refused = client.get("/events")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    viewers.pop().close()
    viewers.append(Viewer(client))
    for viewer in viewers:
        viewer.close()


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "²"])
def test_a_number_that_is_none_is_refused(client, after):
    answer = client.get("/log", query_string={"after": after})
    assert answer.status_code == 400
    assert answer.json["why"]


def test_the_state_says_what_stands(desk, client, disk):
    assert client.get("/state").json["phase"] == "start"
    desk.say(START)
    desk.see(disk(Player.A, 8, 3), flight=Player.A)
    desk.see(disk(Player.A, 8, 3), disk(Player.B, 8, 5), flight=Player.B)
    state = client.get("/state").json
    assert (state["phase"], state["turn"], state["threshold"]) == ("clear", "a", 11)
    assert [state["players"][key]["word"] for key in "ab"] == ["red", "black"]
    assert [state["players"][key]["count"] for key in "ab"] == [1, 0]
    assert [state["players"][key]["left"] for key in "ab"] == [11, 11]
    assert [order["text"] for order in state["orders"]] == ["Take the black disk at row 8, column 5 off"]
    assert state["ruling"]["verdict"] == "orders"
    assert state["ruling"]["rule"] == "Important Rules"
    desk.see(disk(Player.A, 8, 3), hand=True)
    state = client.get("/state").json
    assert (state["phase"], state["orders"]) == ("flick", [])


@pytest.mark.parametrize(
    ("lying", "perhaps", "text"),
    [
        (Lying.TILTED, False, "Lay the red disk at row 5, column 3 flat"),
        (Lying.IN_CELL, True, "See that the red disk at row 5, column 3 lies flat"),
    ],
)
def test_advice_is_told_apart_from_orders(desk, client, disk, lying, perhaps, text):
    desk.say(START)
    desk.see(replace(disk(Player.A, 5, 3, lying), perhaps_tilted=perhaps), flight=Player.A)
    state = client.get("/state").json
    assert state["phase"] == "flick"
    assert [(order["do"], order["text"]) for order in state["orders"]] == [("lay-flat", text)]


def test_an_undo_marks_what_it_took_back(desk, client, disk):
    desk.say(START)
    desk.see(disk(Player.A, 4, 3), flight=Player.A)
    desk.say(DiskCorrection(disk(Player.A, 4, 3), disk(Player.A, 4, 4)))
    desk.say(Undo())
    state = client.get("/state").json
    assert state["undone"] == [3]
    assert state["ruling"]["headline"].startswith("Taken back: ")
    assert [line["said"] for line in client.get("/log?after=2").json] == [
        "corrected: red disk at row 4, column 3 is a red disk at row 4, column 4",
        "undo",
    ]
    desk.say(Undo(2))
    assert client.get("/state").json["undone"] == [3, 2]


def test_the_picture_comes_once_with_what_was_seen_on_it(desk, client, profile):
    image_bgr = np.full((720, 1280, 3), 90, np.uint8)
    corners_px = [[400.0, 680.0], [880.0, 680.0], [880.0, 40.0], [400.0, 40.0]]
    calibration = calibrate(corners_px, profile.board.corners_mm(), (1280, 720), 60.0)
    cell = (4, 3)
    centre_mm = profile.board.cells_mm()[3 * 7 + 2]
    sighting = Sighting((float(centre_mm[0]), float(centre_mm[1])), 0.2, "a", "in_cell", cell, 0.9)
    desk.live.show(image_bgr, calibration, Reading((sighting,)))
    first = client.get("/picture.jpg?after=0")
    assert (first.status_code, first.mimetype) == (200, "image/jpeg")
    n = first.headers["X-Picture"]
    drawn = cv2.imdecode(np.frombuffer(first.data, np.uint8), cv2.IMREAD_COLOR)
    assert drawn.shape == (540, 960, 3)
    x, y = calibration.project([centre_mm])[0] * 0.75
    there = drawn[int(y) - 30 : int(y) + 30, int(x) - 30 : int(x) + 30]
    elsewhere = drawn[:25, :25]
    assert np.ptp(there) > 150
    assert np.ptp(elsewhere) < 10
    assert client.get(f"/picture.jpg?after={n}").status_code == 204
    desk.live.show(image_bgr)
    assert client.get(f"/picture.jpg?after={n}").status_code == 200
    assert client.get("/picture.jpg?after=999").status_code == 200


def test_a_slow_viewer_holds_nobody_up(desk, client, disk):
    desk.say(START)
    slow = Viewer(client)
    slow.until_state()
    board = []
    for k in range(10):
        player = Player.A if k % 2 == 0 else Player.B
        board.append(disk(player, 3 + k // 7, 1 + k % 7))
        desk.see(*board, flight=player)
    seen = threading.Event()

    def read():
        fast = Viewer(client)
        fast.until_state()
        fast.close()
        seen.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    assert seen.wait(5)
    reader.join()
    assert slow.until_state()[0] == list(range(2, 12))
    slow.close()
