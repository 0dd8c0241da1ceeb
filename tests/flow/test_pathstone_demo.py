"""Claims about the demo of Pathstone: its players keep the rules, their hands move pieces, and the referee follows."""

import json
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from queue import Queue

import pytest

from companion.games.pathstone import Kind, Placement, legal_moves, play, read_tps, start, threats, tops_of, write_move
from companion.games.pathstone.series import Begin, Input, Played, Said, Saying, Series, take
from companion.inferring import infer, move_row
from companion.live import Live
from companion.pathstone_session import PathstoneSession
from companion.ruling import Refused
from companion.simulated_pathstone import Players, chosen, turns_in_mid_game
from hardware_sims import virtual_stacks
from hardware_sims.squares import Piece
from hardware_sims.stacks import StacksTable
from hardware_sims.stacks_players import Moment, Mover, StacksPlayers, Told
from vision.camera import Frame


@pytest.mark.parametrize("seed", range(5))
def test_players_keep_the_rules_to_the_end_of_a_game(seed):
    state, chance = start(5), random.Random(seed)
    while state.result is None:
        move = chosen(state, chance)
        assert move in legal_moves(state)
        wins = threats(state, state.to_move)
        state = play(state, move)
        assert not wins or state.result is not None
    assert state.ply > 8


def test_players_mostly_block_a_path():
    state = read_tps("x4/1,1,1,x/2,2,x2/x,2,x2 2 4", 4)
    moves = [chosen(state, random.Random(seed)) for seed in range(40)]
    blocks = [move for move in moves if isinstance(move, Placement) and move.cell == (3, 4)]
    assert len(blocks) > 25
    assert {move.kind for move in blocks} >= {Kind.FLAT, Kind.WALL}


class Referee:
    """What people say to a series, taken when it is asked for; and a clock."""

    def __init__(self, seed: int = 1) -> None:
        self.said: Queue[Input] = Queue()
        self.series: Series | None = None
        self.now_s = 0.0
        self.minds = Players(seed, lambda: self.series, self.said, 4, clock=lambda: self.now_s)

    def hear(self) -> list[Input]:
        heard = []
        while not self.said.empty():
            heard.append(self.said.get())
            self.series, _ = take(self.series, heard[-1])
        return heard

    def told(self, after_s: float = 0.1) -> Told:
        self.now_s += after_s
        return self.minds.told()


def test_a_move_that_is_not_seen_is_said_in_time():
    referee = Referee()
    assert referee.told() == Told()
    assert [type(given) for given in referee.hear()] == [Begin]
    first = referee.told()
    assert first.move is not None
    assert (referee.told(10.0), referee.hear()) == (Told(), [])
    assert referee.told(5.0) == Told()
    [said] = referee.hear()
    assert isinstance(said, Played)
    assert (write_move(said.move), said.n) == (first.move, 1)
    second = referee.told()
    assert second.move is not None
    assert second.player == "b"


def test_after_a_game_the_board_is_cleared_and_the_next_one_begins():
    referee = Referee()
    referee.told()
    referee.hear()
    assert referee.told().move is not None
    referee.said.put(Saying(Said.DRAW))
    referee.hear()
    told = [referee.told(2.0) for _ in range(6)]
    assert [one.clear for one in told].count(True) == 1
    assert not any(one.move for one in told)
    assert Saying(Said.NEXT_GAME) in referee.hear()
    assert referee.told().move is not None


def shown(moments: Iterator[Moment], until: int) -> list[Moment]:
    return [next(moments) for _ in range(until)]


@pytest.mark.parametrize("moves", [["a1", "e5", "Sc3", "Cc2", "c2+*"], ["a1", "b1", "b1<", "c1", "2a1>11", "e2"]])
def test_hands_bring_every_piece_to_where_it_belongs(moves):
    told = iter(moves)
    table = StacksTable(virtual_stacks.BOARD, seed=1)
    people = (Mover(reaches_over=0.5), Mover(reaches_in=0.5))
    players = StacksPlayers(table, lambda: Told(next(told, None)), people, seed=3, pause_s=0.2)
    moments = shown(players.play(), 60 * len(moves))
    assert moments[-1].things == table.pieces()
    assert moments[-1].arms == ()
    assert any(moment.arms for moment in moments)
    for before, after in pairwise(moments):
        # Nothing comes, goes or moves but under a hand.
        if not before.arms and not after.arms:
            assert before.things == after.things
        assert len(set(after.things) ^ set(before.things)) <= 6
    by_script = StacksTable(virtual_stacks.BOARD, seed=1)
    for move in moves:
        by_script.play(move)
    assert table.stacks() == by_script.stacks()


def test_a_board_is_cleared_by_two_hands():
    told = iter([Told("a1"), Told("e5"), Told("c4"), Told(clear=True)])
    table = StacksTable(virtual_stacks.BOARD)
    players = StacksPlayers(table, lambda: next(told, Told()), pause_s=0.1)
    counts = [len(moment.things) for moment in shown(players.play(), 220)]
    assert max(counts) == 3
    assert counts[-1] == 0
    table.play("c3")
    assert table.stacks() == {"c3": ["b"]}, "the first of a new game lays the other one's flat"
    assert isinstance(table.take((2, 2)), Piece)


def test_the_referee_follows_the_demo_by_its_camera_alone():
    session: PathstoneSession | None = None
    said: Queue[Input] = Queue()
    now_s = [0.0]
    minds = Players(2, lambda: None if session is None else session.series, said, 5, clock=lambda: now_s[0])
    table = virtual_stacks.table(2, minds.told, pause_s=0.4)
    table.players.fps = 10.0
    table.camera.move(replace(table.camera.home, size_wh=(640, 480)))
    rulings = []
    session = PathstoneSession(
        virtual_stacks.PROFILE,
        lambda _given, new: rulings.extend(new),
        corners_px=table.corners_px(),
        said=said,
        live=Live(simulated=True),
    )

    def frames() -> Iterator[Frame | None]:
        assert session is not None
        for n, moment in enumerate(table.play()):
            if n == 600 or (session.series is not None and session.series.game.state.ply == 4):
                return
            now_s[0] = moment.t_s
            image = table.camera.read(moment.things, moment.arms, moment.t_s)
            yield None if image is None else Frame(n, moment.t_s, image)

    session.run(frames())
    assert session.series is not None
    state = session.series.game.state
    assert state.ply == 4
    tops = {
        f"{'abcde'[column]}{rank}": sign
        for rank, signs in enumerate(tops_of(state), 1)
        for column, sign in enumerate(signs)
        if sign != "."
    }
    assert tops == {square: pile[-1] for square, pile in table.players.table.stacks().items()}
    assert [ruling for ruling in rulings if isinstance(ruling, Refused)] == []


def test_moves_in_mid_game_are_inferred_as_the_bench_times_them():
    turns = turns_in_mid_game(4, 2, (960, 540))
    for turn in turns:
        belief, took_ms, decoding_ms = infer(turn)
        assert len(belief.told) + belief.state.ply == turn.state.ply + 1
        assert belief.restore == ()
        assert min(took_ms, decoding_ms) > 0
    told = move_row(turns).to_json()
    assert "4x4" in told["row"]
    assert told["ratio"] > 0


def get(url: str) -> dict:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return json.load(answer)


def test_the_demo_names_the_game_plays_on_and_has_faults_to_switch(tmp_path):
    command = [sys.executable, "-c", "from companion.cli import main; main()", "demo"]
    command += ["--game", "pathstone", "--port", "0", "--seed", "3"]
    errors = tmp_path / "errors.txt"
    with errors.open("w") as stderr:
        demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert demo.stdout is not None
        url = demo.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), errors.read_text()
        with urllib.request.urlopen(url, timeout=20) as page:
            assert "Pathstone" in page.read().decode()
        deadline = time.monotonic() + 240
        while len(get(f"{url}/state").get("moves", [])) < 2:
            assert time.monotonic() < deadline, get(f"{url}/state")
            time.sleep(0.5)
        state = get(f"{url}/state")
        assert state["simulated"] is True
        assert state["players"]["a"]["name"] == "Ada"
        faults = {one["name"]: one["on"] for one in get(f"{url}/faults.json")}
        assert {"bumps", "dark", "hands", "grid-unplugged"} <= set(faults)
        assert not {"illegal-flicks", "glare"} & set(faults)
        assert not any(faults.values())
        body = json.dumps({"name": "grid-unplugged", "on": True}).encode()
        headers = {"Content-Type": "application/json", "X-Companion": "1"}
        urllib.request.urlopen(urllib.request.Request(f"{url}/faults", body, headers), timeout=20).close()
        while get(f"{url}/grid")["state"] != "lost":
            assert time.monotonic() < deadline
            time.sleep(0.5)
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(timeout=60) == 0, errors.read_text()
    finally:
        demo.kill()
        demo.wait()
        demo.stdout.close()
