"""Claims about a series of Pathstone: turns at moving first, points, records in and out, and what a kill leaves."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.cli import main
from companion.games.pathstone import (
    Reason,
    legal_moves,
    look_from_tops,
    read_move,
    read_ptn,
    replay,
    tops_of,
    write_ptn,
    write_tps,
)
from companion.games.pathstone.series import (
    Begin,
    Input,
    Played,
    Said,
    Saying,
    Seen,
    Series,
    input_from_json,
    input_to_json,
    record_of_game,
    take,
)
from companion.inputs import Declaration, Declared, InputError, Setup
from companion.pathstone_session import PathstoneSession
from companion.referee import Referee
from companion.ruling import Accepted, Refused
from companion.store import PathstoneStore, Resume, Store
from companion.terms import Player

RECORDS = Path(__file__).resolve().parents[2] / ".." / "shared" / "games" / "pathstone"

A_WINS = "a1 c3 c2 b1 b2 b3 a2"  # on 3x3: A's flats on a2, b2, c2
BEGIN = Begin(("Ada", "Ben"), 3)
BACK, NEXT, DRAWN, ON = (Saying(what) for what in (Said.TAKE_BACK, Said.NEXT_GAME, Said.DRAW, Said.GO_ON))
RESIGNED = {player: Saying(Said.RESIGN, player) for player in Player}


def moves(text: str) -> list[Input]:
    return [Played(read_move(word)) for word in text.split()]


def folded(*inputs: Input) -> Series:
    series = None
    for given_input in inputs:
        series, _ = take(series, given_input)
    assert series is not None
    return series


@pytest.mark.parametrize(
    ("inputs", "players", "points"),
    [
        ([], ("Ada", "Ben"), (0.0, 0.0)),
        (moves(A_WINS), ("Ada", "Ben"), (1.0, 0.0)),
        ([*moves(A_WINS), NEXT], ("Ben", "Ada"), (1.0, 0.0)),
        ([*moves(A_WINS), NEXT, *moves(A_WINS)], ("Ben", "Ada"), (1.0, 1.0)),
        ([*moves(A_WINS), NEXT, DRAWN, NEXT], ("Ada", "Ben"), (1.5, 0.5)),
        ([RESIGNED[Player.A]], ("Ada", "Ben"), (0.0, 1.0)),
        ([RESIGNED[Player.B], NEXT, RESIGNED[Player.A]], ("Ben", "Ada"), (2.0, 0.0)),
        ([RESIGNED[Player.B], BACK], ("Ada", "Ben"), (0.0, 0.0)),
        ([*moves(A_WINS), NEXT, BACK], ("Ada", "Ben"), (1.0, 0.0)),
        ([*moves(A_WINS), NEXT, BACK, BACK], ("Ada", "Ben"), (0.0, 0.0)),
    ],
)
def test_people_take_turns_at_moving_first_and_games_give_points(inputs, players, points):
    series = folded(BEGIN, *inputs)
    assert (series.players(len(series.games)), series.points) == (players, points)


@pytest.mark.parametrize(
    ("length", "results", "over", "leader"),
    [
        (None, "a", False, "Ada"),
        (1, "a", True, "Ada"),
        (1, "=", True, None),
        (3, "a", False, "Ada"),
        (3, "ab", True, "Ada"),
        (3, "aa", False, None),
        (3, "===", True, None),
        (3, "a==", True, "Ada"),
        (5, "ab=", False, "Ada"),
        (5, "ab=a", False, "Ada"),
        (5, "ab=b", True, "Ada"),
    ],
)
def test_a_series_is_over_when_all_is_played_or_decided(length, results, over, leader):
    inputs: list[Input] = []
    for result in results:
        inputs += [DRAWN if result == "=" else RESIGNED[Player(result).other], NEXT]
    series = folded(Begin(("Ada", "Ben"), 4, length), *inputs[:-1])
    assert (series.over, series.leader) == (over, leader)
    _, [ruling] = take(series, NEXT)
    assert isinstance(ruling, Refused if over else Accepted)


@pytest.mark.parametrize(
    ("before", "given_input", "words"),
    [
        (None, NEXT, "start one"),
        ([], NEXT, "not over"),
        ([], BACK, "no move to take back"),
        ([], Played(read_move("Sa1")), "the first turn places a flat of B"),
        (moves("a1"), Played(read_move("a1"), 2), "a1 is not empty"),
        (moves("a1"), Played(read_move("b1"), 1), "no longer move 1"),
        (moves(A_WINS), Played(read_move("a3")), "the game is over"),
        (moves(A_WINS), DRAWN, "the game is over already"),
        ([], Begin(("Ada", "Ben"), ptn='[Size "5"]\n1. a1 a1'), "line 2, column 7, move 1, a1"),
        ([], Begin(("Ada", "Ben"), ptn="no record"), "line 1, column 1"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(before, given_input, words):
    series = None if before is None else folded(BEGIN, *before)
    after, rulings = take(series, given_input)
    assert [isinstance(ruling, Refused) for ruling in rulings] == [True]
    assert words in rulings[0].why
    assert after == series


def test_looks_play_a_game_and_clearing_the_table_takes_nothing_back():
    played = folded(BEGIN, *moves(A_WINS))
    looks = [Seen(look_from_tops(tops_of(state))) for state in played.game.belief.past]
    series = folded(BEGIN, *looks)
    assert (series.game.state, series.points) == (played.game.state, (1.0, 0.0))
    for look in looks[::-1]:
        assert take(series, look) == (series, ())
    other = Seen(look_from_tops(("....",) * 4))
    assert take(folded(BEGIN), other) == (folded(BEGIN), ())


@st.composite
def inputs_of_a_series(draw) -> list[Input]:
    """Everything that people and cameras bring, sense and nonsense, over several games."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    inputs: list[Input] = [Begin(("Ada", "Ben"), draw(st.sampled_from([3, 4])), draw(st.sampled_from([None, 3])))]
    for _ in range(draw(st.integers(0, 40))):
        state = folded(*inputs).game.state
        legal = legal_moves(state)
        kind = chance.random()
        if legal and kind < 0.6:
            inputs.append(Played(chance.choice(legal), chance.choice([None, state.ply + 1, state.ply])))
        elif legal and kind < 0.75:
            inputs.append(Seen(look_from_tops(tops_of(folded(*inputs, Played(chance.choice(legal))).game.state))))
        else:
            inputs.append(Saying(chance.choice(list(Said)), chance.choice([None, *Player])))
    return inputs


@settings(max_examples=25, deadline=None)
@given(inputs_of_a_series())
def test_a_log_opened_again_is_the_same_series_and_records_are_read_back(inputs):
    series = None
    for given_input in inputs:
        series, rulings = take(series, given_input)
        assert all(ruling.why and ruling.rule for ruling in rulings)
    assert series is not None
    assert folded(*(input_from_json(json.loads(json.dumps(input_to_json(each)))) for each in inputs)) == series
    given_points = sum(game.state.result is not None for game in series.games)
    assert sum(series.points) == given_points
    for n, game in enumerate(series.games, 1):
        record = read_ptn(write_ptn(record_of_game(series, n)))
        last = replay(record)[-1]
        assert (last.squares, last.ply) == (game.state.squares, game.state.ply)
        assert str(last.result) == str(game.state.result)
        assert (record.tag("Player1"), record.tag("Player2")) == series.players(n)


def test_a_record_that_is_opened_is_written_without_loss_and_can_be_played_on():
    text = '[Player1 "Ada"]\n[Player2 "Ben"]\n[Size "5"]\n[Note "x"]\n\n1. a1 {first} e5?\n2. c3\' c4\n'
    series = folded(Begin(("Ada", "Ben"), length=1, ptn=text))
    assert write_ptn(record_of_game(series, 1)) == text
    on = folded(Begin(("Ada", "Ben"), length=1, ptn=text), *moves("d4 d3"), RESIGNED[Player.A])
    written = write_ptn(record_of_game(on, 1))
    assert "1. a1 {first} e5?\n2. c3' c4\n3. d4 d3 0-1\n" in written
    assert '[Note "x"]' in written
    assert replay(read_ptn(written))[-1] == on.game.state
    back = folded(Begin(("Ada", "Ben"), length=1, ptn=text), BACK)
    assert len(replay(read_ptn(write_ptn(record_of_game(back, 1))))) == 4


def test_every_real_record_is_opened_and_written_without_loss():
    if not RECORDS.is_dir():
        pytest.skip("../shared/games is not there")
    for path in sorted(RECORDS.glob("*.ptn")):
        record = read_ptn(path.read_text())
        series = folded(Begin(("A", "B"), length=1, ptn=path.read_text()))
        assert record_of_game(series, 1) == record, path.name
        last = replay(record)[-1]
        assert (series.game.state.squares, str(series.game.state.result)) == (last.squares, str(last.result)), path.name
        # A resignation is taken back without the last move, which stands.
        by_players = last.result is not None and last.result.reason in (Reason.RESIGNATION, Reason.AGREEMENT)
        again, _ = take(series, BACK)
        assert again is not None
        assert again.game.state.ply == last.ply - (not by_players), path.name


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"input": "shot"},
        {"input": "begin", "names": ["A"], "size": 5, "length": None, "ptn": None},
        {"input": "begin", "names": ["A", "B"], "size": 9, "length": None, "ptn": None},
        {"input": "move", "ptn": "z", "n": None},
        {"input": "look", "tops": [[0]], "heights": [], "frame": 0, "t_s": 0},
        {"input": "say", "what": "hello", "player": None},
        {"input": "say", "what": "resign", "player": "c"},
    ],
)
def test_what_is_no_input_is_told(data):
    with pytest.raises(InputError):
        input_from_json(data)


def test_both_games_keep_their_matches_in_one_log(tmp_path):
    path = tmp_path / "log.sqlite"
    store = Store(path)
    start = Declaration(Declared.START, Setup())
    flicked = store.begin(start, Referee().take(start))
    store.close()
    told = PathstoneStore(path)
    assert told.latest() is None
    series, rulings = take(None, BEGIN)
    tapped = told.begin(BEGIN, rulings)
    assert told.latest() == tapped
    assert told.resume(tapped) == series
    told.close()
    again = Store(path)
    assert again.latest() == flicked
    assert [entry.input for entry in again.entries(flicked)] == [start]
    again.close()


def test_a_series_that_was_left_goes_on_and_is_the_last_one_from_then_on(tmp_path):
    store = PathstoneStore(tmp_path / "log.sqlite")
    heard = []
    session = PathstoneSession(None, lambda _given, rulings: heard.extend(rulings), store=store)
    for given_input in (BEGIN, *moves("a1 c3"), Begin(("Cy", "Di"), 4), *moves("d4")):
        session.say(given_input)
    second, first = store.matches(9)
    assert store.latest() == second
    session.say(Resume(first))
    assert store.latest() == first
    assert (session.series.names, heard[-1].why) == (("Ada", "Ben"), "game 1 of Ada and Ben goes on")
    session.say(moves("b2")[0])
    session.say(Resume(second))
    session.say(moves("a1")[0])
    assert store.latest() == second
    assert store.resume(first) == folded(BEGIN, *moves("a1 c3"), ON, *moves("b2"))
    assert store.resume(second) == folded(Begin(("Cy", "Di"), 4), *moves("d4"), ON, *moves("a1"))
    assert (store.find(first.key), store.find("nonsense")) == (first, None)
    assert Store(tmp_path / "other.sqlite").find(first.key) is None
    store.close()


def test_a_look_that_is_ruled_on_later_is_kept_too(tmp_path):
    store = PathstoneStore(tmp_path / "log.sqlite")
    session = PathstoneSession(None, lambda _given, _rulings: None, store=store)
    # A flat slid onto one of its own colour shows only when the other player has moved.
    session.say(Begin(("Ada", "Ben"), ptn='[TPS "x3/x3/11,1,2 1 9"]\n[Size "3"]'))
    session.say(Seen(look_from_tops(("wwb", "...", "..."))))
    match = store.latest()
    assert match is not None
    assert [len(entry.rulings) for entry in store.entries(match)] == [1, 0]
    session.say(Seen(look_from_tops(("wwb", "...", "..."))))
    session.say(Seen(look_from_tops(("wwb", "...", "..b"))))
    assert [len(entry.rulings) for entry in store.entries(match)] == [1, 0, 2]
    assert store.resume(match) == session.series
    store.close()


def served(log: Path, *options: str) -> tuple[subprocess.Popen, str]:
    command = [sys.executable, "-c", "from companion.cli import main; main()", "run", "none", "--game", "pathstone"]
    companion = subprocess.Popen(
        [*command, "--log", str(log), "--web-port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert companion.stdout is not None
    return companion, companion.stdout.readline().strip()


def ask(url: str, path: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json", "X-Companion": "1"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def wait_for(url: str, count: int) -> dict:
    deadline = time.monotonic() + 60
    while len(now := ask(url, "/log")) < count:
        assert time.monotonic() < deadline, now
        time.sleep(0.05)
    return ask(url, "/state")


def test_a_kill_loses_nothing_and_the_series_goes_on(tmp_path):
    log = tmp_path / "log.sqlite"
    companion, url = served(log, "--size", "6")
    try:
        assert ask(url, "/state")["board_size"] == 6
        ask(url, "/start", {"names": ["Ada", "Ben"], "size": 3, "first": "second", "length": 3})
        for n, ptn in enumerate(A_WINS.split(), 1):
            ask(url, "/play", {"ptn": ptn, "n": n})
        ask(url, "/declare", {"what": "next-game"})
        ask(url, "/play", {"ptn": "b2", "n": 1})
        before = wait_for(url, 10)
        os.kill(companion.pid, signal.SIGKILL)
        companion.wait()
        companion.communicate()
        companion, url = served(log)
        after = ask(url, "/state")
        told = before.keys() - {"board_size", "watch"}
        assert {key: after[key] for key in told} == {key: before[key] for key in told}
        assert (after["series"]["points"], after["moves"], after["n"]) == ([1.0, 0.0], ["b2"], 2)
        assert after["series"]["names"] == ["Ben", "Ada"]
        ask(url, "/play", {"ptn": "c1", "n": 2})
        wait_for(url, 11)
        companion.send_signal(signal.SIGTERM)
        _, errors = companion.communicate(timeout=30)
        assert companion.returncode == 0
        assert "Traceback" not in errors
    finally:
        companion.kill()
        companion.communicate()
    store = PathstoneStore(log)
    match = store.latest()
    assert match is not None
    series = store.resume(match)
    assert series is not None
    assert write_tps(series.game.state) == "x3/x,2,x/x2,1 1 2"
    store.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["none", "--size", "9"], "9"),
        (["none", "--size", "5", "--board", "b.toml"], "not both"),
        (["none", "--port", "8420"], "the page's is --web-port"),
        (["none", "--record", "line.txt"], "give its --port"),
        (["none", "--board", "b.toml"], "b.toml"),
        (["pictures"], "a table is watched by a camera"),
    ],
)
def test_bad_input_is_told(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pictures").mkdir()
    cv2.imwrite("pictures/1.png", np.zeros((9, 9, 3), np.uint8))
    Path("b.toml").write_text('kind = "holes"')
    told = CliRunner().invoke(main, ["run", *options, "--game", "pathstone", "--log", str(tmp_path / "log.sqlite")])
    assert told.exit_code in (1, 2)
    assert words in told.output
    assert "Traceback" not in told.output


def test_size_is_for_pathstone_alone():
    told = CliRunner().invoke(main, ["run", "none", "--size", "5"])
    assert told.exit_code == 2
    assert "for Pathstone" in told.output
