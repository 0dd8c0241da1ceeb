"""MageStone's simulated players, and the commands on it: a demo that plays by itself, a match that outlives a kill."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from queue import Queue
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.cli.boards import magestone_board
from companion.games.magestone import Ending
from companion.games.magestone.table import Begin, Chosen, Input, Seen, Thrown, take
from companion.magestone_session import MageStoneSession
from companion.ruling import Accepted, Ruling
from companion.simulated_magestone import Players, TablePlayers
from hardware_sims.virtual_tokens import TokensEye, TokensPlayers
from vision.camera import Frame

MOST_INPUTS = 1_500
"""Of two games, the dice among them."""


@pytest.mark.parametrize("seed", range(2))
def test_simulated_players_play_four_and_two_to_the_end_by_the_rules(seed):
    print("seed", seed)
    players, table, said = Players(seed), None, Counter()
    seated = []
    for _ in range(MOST_INPUTS):
        given = players.say(table)
        if isinstance(given, Begin):
            seated.append(len(given.names))
            if len(seated) == 3:
                break
        table, rulings = take(table, given)
        assert all(isinstance(ruling, Accepted) for ruling in rulings), (given, rulings)
        said[type(given).__name__] += 1
    assert seated == [4, 2, 4]
    assert said["Chosen"] > 50
    assert said["Thrown"] > 0


def test_most_of_their_games_are_decided():
    ended = Counter()
    for seed in range(3):
        players, table = Players(seed), None
        while table is None or table.game.state.result is None:
            table, _ = take(table, players.say(table))
        ended[table.game.state.result.ending] += 1
    print(dict(ended))
    assert ended[Ending.AGREEMENT] <= 1


def test_people_at_the_page_can_play_on_in_between():
    players = Players(1)
    table, _ = take(None, players.say(None))
    while table.game.dice is None:
        table, _ = take(table, players.say(table))
    assert isinstance(players.say(table), Thrown)


FIGHT = '[Position "2 Mi0,Ph0,W1e5,W2f4/Mh15(0+2),Pi15,W1f5,W2l15 h4 - 8 0:6:3 - -"]'


def played(frames: int, seed: int, begin: Begin | None = None) -> list[tuple[Input, Ruling]]:
    """What is ruled on so many pictures of a table at which hands play, in the table's own time."""
    print("seed", seed)
    ruled: list[tuple[Input, Ruling]] = []
    said: Queue[Input] = Queue()
    now_s = 0.0
    session = MageStoneSession(
        lambda given, rulings: ruled.extend((given, ruling) for ruling in rulings), profile=magestone_board(), said=said
    )
    if begin is not None:
        session.say(begin)
    minds = TablePlayers(seed, lambda: session.table, said, clock=lambda: now_s)
    eye = TokensEye(seed=seed)

    def pictures() -> Iterator[Frame]:
        nonlocal now_s
        for n, moment in enumerate(islice(TokensPlayers(minds.told).play(), frames)):
            now_s = moment.t_s
            image = eye.read(moment.things, moment.arms, moment.t_s)
            assert image is not None
            yield Frame(n, moment.t_s, image)

    session.run(pictures())
    return ruled


def test_walks_by_hand_are_seen_through_the_camera_and_nothing_is_doubted():
    ruled = played(190, seed=5)
    assert [ruling for _, ruling in ruled if not isinstance(ruling, Accepted)] == []
    assert sum(isinstance(given, Seen) for given, _ in ruled) >= 2
    assert {type(given) for given, _ in ruled} <= {Begin, Seen, Chosen}


def test_a_fight_is_declared_its_dice_thrown_and_its_orders_seen_done():
    ruled = played(200, seed=1, begin=Begin(("Ada", "Ben"), record=FIGHT))
    assert [ruling for _, ruling in ruled if not isinstance(ruling, Accepted)] == []
    assert any(isinstance(given, Thrown) for given, _ in ruled)
    assert any(isinstance(given, Seen) and "all that was ordered is done" in ruling.why for given, ruling in ruled)


class Running:
    """A command in a process of its own, with the address of its page."""

    def __init__(self, *arguments: str, errors: Path) -> None:
        self._errors = errors
        command = [sys.executable, "-c", "from companion.cli import main; main()", *arguments]
        with errors.open("w") as stderr:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), errors.read_text()

    def state(self) -> dict:
        with urlopen(f"{self.url}/state", timeout=30) as answer:
            return json.load(answer)

    def wait_for(self, wanted: Callable[[dict], bool], timeout_s: float = 300.0) -> dict:
        deadline = time.monotonic() + timeout_s
        while not wanted(now := self.state()):
            assert time.monotonic() < deadline, now
            time.sleep(0.2)
        return now

    def post(self, path: str, body: dict) -> None:
        headers = {"Content-Type": "application/json", "X-Companion": "1"}
        urlopen(Request(f"{self.url}{path}", json.dumps(body).encode(), headers), timeout=30).close()

    def stop(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        ended = self._process.wait(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return ended

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def test_the_demo_names_its_game_plays_on_and_stops_at_once_without_a_word(tmp_path):
    errors = tmp_path / "errors.txt"
    demo = Running("demo", "--game", "magestone", "--port", "0", "--seed", "3", errors=errors)
    try:
        now = demo.wait_for(lambda state: state["phase"] == "play" and state["n"] > 1)
        assert (now["game"], now["simulated"], len(now["players"])) == ("MageStone", True, 4)
        assert demo.stop(signal.SIGTERM) == 0, errors.read_text()
    finally:
        demo.kill()
    assert errors.read_text() == ""


def test_a_match_on_the_page_goes_on_after_a_kill(tmp_path):
    errors, log = tmp_path / "errors.txt", str(tmp_path / "log.sqlite")
    arguments = ("run", "none", "--game", "magestone", "--web-port", "0", "--log", log)
    companion = Running(*arguments, errors=errors)
    try:
        companion.post("/start", {"names": ["Ada", "Ben"], "first": "named"})
        companion.post("/choose", {"choice": "W1>e1>e2", "n": 1, "seat": 0})
        before = companion.wait_for(lambda state: state.get("n") == 2)
        companion.stop(signal.SIGKILL)
        companion = Running(*arguments, errors=errors)
        after = companion.wait_for(lambda state: state["watch"]["state"] == "watching")
        assert {**after, "watch": None} == {**before, "watch": None}
        companion.post("/choose", {"choice": "end", "n": 2, "seat": 0})
        assert companion.wait_for(lambda state: state["n"] == 3)["turn"] == 2
        assert companion.stop(signal.SIGTERM) == 0
    finally:
        companion.kill()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "none", "--game", "magestone", "--size", "5"], "--size is for Pathstone"),
        (["run", "none", "--game", "magestone", "--board", "companion/boards/pathways.toml"], "16x16 and [marks]"),
        (["run", "none", "--game", "magestone", "--log", "/proc/none/log"], "give another place for the log"),
    ],
)
def test_what_cannot_be_run_is_told_in_a_line(arguments, words):
    root = Path(__file__).resolve().parents[2]
    arguments = [str(root / part) if part.startswith("companion/") else part for part in arguments]
    ended = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert ended.exit_code in (1, 2)
    assert words in ended.output
