"""Claims about the log: nothing acknowledged is ever lost, replay is the live state, trouble is one clear line.

Run as a program (`python test_store.py LOG`), this file forks a child for each line it reads, which appends to the log
and says so until it is killed.
"""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.inputs import Declaration, Declared, DiskCorrection, Input, Look, SeenDisk, Setup, Undo
from companion.referee import Referee
from companion.ruling import Accepted, Refused
from companion.store import SCHEMA, Entry, Match, Store, StoreError
from companion.terms import Lying, Mode, Player

START = Declaration(Declared.START, Setup(mode=Mode.MATCH, threshold=3, names=("Ada", "Ben")))


def disk_in(colour: Player, row: int, column: int) -> SeenDisk:
    return SeenDisk(colour, 32 + 42 * (column - 1), 100 + 42 * (row - 1), (row, column), Lying.IN_CELL, 0.2, 0.98)


def match_inputs() -> Iterator[Input]:
    """A match without end: flicks, corrections, undo, the end of each game and undo across it."""
    yield START
    while True:
        board: tuple[SeenDisk, ...] = ()
        for flick in range(6):
            player = Player.A if flick % 2 == 0 else Player.B
            board = (*board, disk_in(player, 3 + flick % 4, 1 + flick))
            yield Look(board, flights=(player,), frame=flick, t_s=flick / 7)
        yield Declaration(Declared.ILLEGAL_FLICK)
        yield Undo()
        yield DiskCorrection(board[0], disk_in(Player.A, 8, 1))
        yield Declaration(Declared.END_GAME)
        yield Undo()
        yield Declaration(Declared.END_GAME)
        yield Declaration(Declared.NEXT_GAME)


def play(store: Store, count: int) -> tuple[Match, Referee]:
    """The first `count` inputs, each taken and appended."""
    referee, match = Referee(), None
    for given, _ in zip(match_inputs(), range(count), strict=False):
        rulings = referee.take(given)
        if match is None:
            match = store.begin(given, rulings)
        else:
            store.append(match, given, rulings)
    assert match is not None
    return match, referee


def append_until_killed(path: Path) -> None:
    store = Store(path)
    match = store.latest()
    referee = Referee() if match is None else store.resume(match)
    done = 0 if match is None else len(store.entries(match))
    _tell(f"open {os.getpid()} {done}")
    for k, given in enumerate(match_inputs(), 1):
        if k > done:
            rulings = referee.take(given)
            if match is None:
                match = store.begin(given, rulings)
            else:
                store.append(match, given, rulings)
            _tell(f"appended {k}")


def _tell(line: str) -> None:
    # In one write, which a pipe takes whole or not at all.
    os.write(1, f"{line}\n".encode())


def fork_appenders(path: Path) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            append_until_killed(path)
        os.waitpid(child, 0)
        _tell(f"killed {child}")


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path):
    path = tmp_path / "log.sqlite"
    chance = random.Random(20261129)
    acknowledged = 0
    with subprocess.Popen(
        [sys.executable, __file__, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as forker:
        assert forker.stdin is not None
        assert forker.stdout is not None
        for _ in range(40):
            forker.stdin.write("\n")
            word, child, found = forker.stdout.readline().split()
            assert word == "open"
            # Each child must find all that the ones before it acknowledged, and at most the one entry it had not told.
            assert acknowledged <= int(found) <= acknowledged + 1
            acknowledged = int(found)
            to_read = chance.randrange(20)
            while word != "killed":
                if to_read == 0:
                    time.sleep(chance.random() * 0.003)
                    os.kill(int(child), signal.SIGKILL)
                to_read -= 1
                # What was printed before the kill and is read after it was acknowledged too.
                word, number = forker.stdout.readline().split()
                if word == "appended":
                    acknowledged = max(acknowledged, int(number))
        forker.stdin.close()
    store = Store(path)
    match = store.latest()
    assert match is not None
    entries = store.entries(match)
    assert 150 < acknowledged <= len(entries)
    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    live = Referee()
    for entry, given in zip(entries, match_inputs(), strict=False):
        assert (entry.input, entry.rulings) == (given, live.take(given))
    store.close()


def test_the_live_connection_writes_through_to_the_disk(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    pragmas = store.pragmas()
    assert pragmas["journal_mode"] == "wal"
    assert pragmas["synchronous"] == 2  # FULL
    assert pragmas["locking_mode"] == "exclusive"
    assert pragmas["user_version"] == SCHEMA
    store.close()


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 10, 11, 12, 13, 14, 30, 60])
def test_replay_is_the_live_state(tmp_path, caplog, count):
    store = Store(tmp_path / "log.sqlite")
    match, live = play(store, count)
    store.close()
    again = Store(tmp_path / "log.sqlite")
    assert again.latest() == match
    assert again.resume(match).standing == live.standing
    assert caplog.records == []
    again.close()


def test_undo_is_an_entry_of_its_own_also_across_the_end_of_a_game(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    match, live = play(store, 8)
    playing = live.standing
    for given in (Declaration(Declared.END_GAME), Declaration(Declared.NEXT_GAME), Undo(), Undo()):
        store.append(match, given, live.take(given))
    assert live.standing == playing
    assert store.resume(match).standing == playing
    assert len(store.entries(match)) == 12
    store.close()


def test_undo_by_number_means_the_same_live_and_in_replay(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    live = Referee()
    live.take(Look(()))  # before any match: nothing that a log would hold
    for _ in range(2):
        match = store.begin(START, live.take(START))
        board: tuple[SeenDisk, ...] = ()
        for flick in range(4):
            player = Player.A if flick % 2 == 0 else Player.B
            board = (*board, disk_in(player, 3, 1 + flick))
            look = Look(board, flights=(player,))
            store.append(match, look, live.take(look))
        rulings = live.take(Undo(3))
        assert isinstance(rulings[0], Accepted)
        store.append(match, Undo(3), rulings)
        assert live.standing.game is not None
        assert live.standing.game.used == (1, 0)
        assert store.resume(match).standing == live.standing
    assert isinstance(live.take(Undo(1))[0], Accepted)
    assert isinstance(live.take(Undo())[0], Refused)
    store.close()


def test_entries_are_never_changed_or_deleted(tmp_path):
    path = tmp_path / "log.sqlite"
    store = Store(path)
    play(store, 3)
    store.close()
    with sqlite3.connect(path) as connection:
        for statement in (
            "UPDATE entry SET at = ''",
            "DELETE FROM entry",
            "UPDATE match SET game = ''",
            "DELETE FROM match",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
    connection.close()


def test_entries_after_a_number_are_those_not_read_yet(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    match, _ = play(store, 9)
    entries = store.entries(match)
    for k in range(10):
        assert store.entries(match, after=k) == entries[k:]
    store.close()


def test_each_match_has_entries_of_its_own(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    first, _ = play(store, 3)
    second, _ = play(store, 5)
    assert (len(store.entries(first)), len(store.entries(second))) == (3, 5)
    assert store.latest() == second
    assert first.key != second.key
    store.close()


def test_every_append_is_told(tmp_path):
    told: list[None] = []
    store = Store(tmp_path / "log.sqlite", lambda: told.append(None))
    play(store, 5)
    assert len(told) == 5
    store.close()


def test_a_second_companion_on_the_same_log_is_told_so(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    command = [sys.executable, __file__, str(store.path)]
    other = subprocess.run(command, input="\n", capture_output=True, text=True, check=False)
    assert "another companion has this log open" in other.stderr
    assert "appended" not in other.stdout
    store.close()


def _noise(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(20_000))


def _text(path: Path) -> None:
    path.write_text("these are not the matches you are looking for\n" * 100)


def _damage(path: Path) -> None:
    store = Store(path)
    play(store, 60)
    store.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 4] = random.Random(2).randbytes(4096 * 2)
    path.write_bytes(data)


def _newer(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_noise, "not a match log"),
        (_text, "not a match log"),
        (_damage, "damaged"),
        (_newer, "newer companion"),
        (_foreign, "another program"),
        (_folder, "cannot be opened"),
    ],
)
def test_a_file_that_cannot_be_the_log_gives_one_clear_line_and_is_left_alone(tmp_path, spoil, words):
    path = tmp_path / "log.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=words) as caught:
        Store(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_place_without_a_folder_gives_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="folder cannot be made"):
        Store(tmp_path / "file" / "log.sqlite")


def test_an_entry_of_an_unknown_form_gives_one_clear_line(tmp_path):
    path = tmp_path / "log.sqlite"
    store = Store(path)
    match, _ = play(store, 2)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO entry VALUES (3, 1, 3, '', '{\"input\": \"sneeze\"}', '[]')")
    connection.close()
    again = Store(path)
    with pytest.raises(StoreError, match="'sneeze' is no kind of input"):
        again.resume(match)
    again.close()


def test_a_full_disk_refuses_the_entry_and_keeps_the_log(tmp_path):
    store = Store(tmp_path / "log.sqlite")
    match, live = play(store, 5)
    standing = live.standing
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(file.stat().st_size for file in tmp_path.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 1000, hard))
    try:
        with pytest.raises(StoreError, match="free some space"):
            store.append(match, Undo(), ())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.resume(match).standing == standing
    assert store.append(match, Declaration(Declared.END_GAME), live.take(Declaration(Declared.END_GAME))).n == 6
    store.close()


def test_a_log_cut_short_is_a_prefix(tmp_path):
    path = tmp_path / "whole" / "log.sqlite"
    store = Store(path)
    match, _ = play(store, 40)
    whole = store.entries(match)
    wal = path.with_name("log.sqlite-wal").read_bytes()
    data = path.read_bytes()
    store.close()
    chance = random.Random(3)
    lengths = set()
    for k in range(40):
        cut = tmp_path / str(k) / "log.sqlite"
        cut.parent.mkdir()
        cut.write_bytes(data)
        cut.with_name("log.sqlite-wal").write_bytes(wal[: chance.randrange(len(wal))])
        short = Store(cut)
        entries = short.entries(match)
        assert entries == whole[: len(entries)]
        lengths.add(len(entries))
        short.close()
    assert len(lengths) > 10


def test_damage_anywhere_is_told_in_one_line_or_does_no_harm(tmp_path):
    path = tmp_path / "log.sqlite"
    store = Store(path)
    play(store, 60)
    store.close()
    whole = path.read_bytes()
    chance = random.Random(4)
    told = 0
    for _ in range(120):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        data[at : at + 16] = chance.randbytes(16)
        path.write_bytes(data)
        told += not _reads(path)
        path.with_name("log.sqlite-wal").unlink(missing_ok=True)
    assert told > 20


def _reads(path: Path) -> bool:
    try:
        store = Store(path)
    except StoreError:
        return False
    try:
        match = store.latest()
        entries: tuple[Entry, ...] = () if match is None else store.entries(match)
        return len(entries) == 60
    except StoreError:
        return False
    finally:
        store.close()


if __name__ == "__main__":
    fork_appenders(Path(sys.argv[1]))
