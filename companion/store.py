"""The append-only log: every input with the rulings it got. Opening a match folds the inputs again.

One SQLite file. WAL with synchronous FULL: what `append` has returned survives a kill and a power cut. The connection
keeps the file locked for itself, so a second companion on the same log is told so at once instead of interleaving its
match with ours. Triggers refuse to change or delete an entry; a correction is an entry of its own.
"""

import logging
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from companion.games.magestone import table
from companion.games.pathstone import series
from companion.inputs import Input, input_from_json, input_to_json
from companion.referee import Referee
from companion.ruling import Ruling, ruling_from_json, ruling_to_json

_log = logging.getLogger(__name__)

Taken = TypeVar("Taken")
"""What a game takes in; each game's inputs have a form of their own in the log."""

Folded = TypeVar("Folded")
"""What the inputs of a match come to."""

SCHEMA = 1
"""The log's form, kept in SQLite's user_version; a change of the tables adds one and a step to `_migrate`."""
_APPLICATION_ID = 0x424F4344
"""Kept in SQLite's application_id: "BOCD", so that another program's database is never written to."""

_tables = sa.MetaData()
_match = sa.Table(
    "match",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("begun_at", sa.Text, nullable=False),
)
_entry = sa.Table(
    "entry",
    _tables,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("match_id", sa.Integer, sa.ForeignKey("match.id"), nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("input", sa.JSON, nullable=False),
    sa.Column("rulings", sa.JSON, nullable=False),
    sa.UniqueConstraint("match_id", "n"),
)


class StoreError(Exception):
    """The log cannot be opened, read or written; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match of the log; `key` names it in all logs, `id` in this one."""

    id: int
    key: str
    game: str
    begun_at: str


@dataclass(frozen=True, slots=True)
class Resume:
    """What people say who want to go on with a match of the log."""

    match: Match


@dataclass(frozen=True, slots=True)
class Entry(Generic[Taken]):
    """One input with its rulings: `seq` counts from 1 through the whole log, `n` from 1 in its match; `at` is UTC."""

    seq: int
    n: int
    at: str
    input: Taken
    rulings: tuple[Ruling, ...]


@dataclass(frozen=True, slots=True)
class Form(Generic[Taken]):
    """How the inputs of one game stand in the log."""

    game: str
    to_json: Callable[[Taken], dict[str, Any]]
    from_json: Callable[[Mapping[str, Any]], Taken]
    """Raises ValueError for what it cannot read."""


class Log(Generic[Taken]):
    """An open log: one game's matches in it, among which others' may stand; threads may share it."""

    def __init__(self, form: Form[Taken], path: Path, appended: Callable[[], None] = lambda: None) -> None:
        """Opens the log, or begins it. `appended` is called after each entry. Raises StoreError."""
        self.path = path
        self._form = form
        self._appended = appended
        self._lock = threading.Lock()
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path}: its folder cannot be made ({error}); give another place for the log") from error
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(path)),
            poolclass=sa.StaticPool,
            # The lock above is what keeps threads apart, and transactions are begun by hand: see _begin.
            connect_args={"check_same_thread": False, "timeout": 0.5, "isolation_level": None},
        )
        sa.event.listen(engine, "connect", _set_pragmas)
        sa.event.listen(engine, "begin", _begin)
        self._engine = engine
        try:
            with self._transaction() as connection:
                version = _check(connection, path)
            # Only now: another program's file must be left exactly as it was.
            with self._lock, engine.connect() as connection:
                connection.connection.execute("PRAGMA journal_mode = WAL")
            with self._transaction() as connection:
                _migrate(connection, version)
        except StoreError:
            engine.dispose()
            raise

    def close(self) -> None:
        """Closes the log for good; another companion may open it then."""
        with self._lock:
            self._closed = True
            self._engine.dispose()

    def begin(self, given: Taken, rulings: tuple[Ruling, ...]) -> Match:
        """A new match with its first entry, both or neither. Raises StoreError."""
        with self._transaction() as connection:
            values = {"key": uuid.uuid4().hex, "game": self._form.game, "begun_at": _now()}
            match = Match(_insert(connection, _match, values), **values)
            self._write(connection, match, given, rulings)
        self._appended()
        return match

    def latest(self) -> Match | None:
        """The game's match that was played last, or None where there is none. Raises StoreError."""
        written = sa.select(_match).join(_entry).where(_match.c.game == self._form.game)
        with self._transaction() as connection:
            row = connection.execute(written.order_by(_entry.c.seq.desc()).limit(1)).first()
            return None if row is None else Match(*row)

    def find(self, key: str) -> Match | None:
        """The game's match with this key, or None where there is none. Raises StoreError."""
        wanted = sa.select(_match).where(_match.c.game == self._form.game, _match.c.key == key)
        with self._transaction() as connection:
            row = connection.execute(wanted).first()
            return None if row is None else Match(*row)

    def matches(self, most: int) -> tuple[Match, ...]:
        """The game's matches, at most so many, the one begun last first. Raises StoreError."""
        chosen = sa.select(_match).where(_match.c.game == self._form.game).order_by(_match.c.id.desc()).limit(most)
        with self._transaction() as connection:
            return tuple(Match(*row) for row in connection.execute(chosen))

    def append(self, match: Match, given: Taken, rulings: tuple[Ruling, ...]) -> Entry[Taken]:
        """The entry written: on disk for good once this returns. Raises StoreError, and then nothing is written."""
        with self._transaction() as connection:
            entry = self._write(connection, match, given, rulings)
        self._appended()
        return entry

    def entries(self, match: Match, after: int = 0) -> tuple[Entry[Taken], ...]:
        """The match's entries with `seq` above `after`, oldest first. Raises StoreError."""
        chosen = sa.select(_entry).where(_entry.c.match_id == match.id, _entry.c.seq > after).order_by(_entry.c.seq)
        with self._transaction() as connection:
            try:
                return tuple(self._read(row) for row in connection.execute(chosen))
            except (KeyError, TypeError, ValueError) as error:
                raise StoreError(
                    f"{self.path}: an entry cannot be read ({error}); "
                    "open the log with the version of the companion that wrote it, or give another log"
                ) from error

    def pragmas(self) -> dict[str, str | int]:
        """What SQLite says of the live connection: how safe a written entry is."""
        with self._transaction() as connection:
            names = ("journal_mode", "synchronous", "locking_mode", "user_version", "application_id")
            return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names}

    def _fold(
        self, match: Match, take: Callable[[Folded | None, Taken], tuple[Folded | None, tuple[Ruling, ...]]]
    ) -> Folded | None:
        """What the match's inputs come to, each taken after the one before it. Raises StoreError."""
        folded = None
        for entry in self.entries(match):
            folded, rulings = take(folded, entry.input)
            if rulings != entry.rulings:
                _log.warning("%s: entry %d is ruled otherwise today than when it was written", self.path, entry.seq)
        return folded

    def _write(
        self, connection: sa.Connection, match: Match, given: Taken, rulings: tuple[Ruling, ...]
    ) -> Entry[Taken]:
        last = connection.execute(sa.select(sa.func.max(_entry.c.n)).where(_entry.c.match_id == match.id)).scalar()
        n, at = (last or 0) + 1, _now()
        values = {"match_id": match.id, "n": n, "at": at}
        values |= {"input": self._form.to_json(given), "rulings": [ruling_to_json(ruling) for ruling in rulings]}
        return Entry(_insert(connection, _entry, values), n, at, given, rulings)

    def _read(self, row: sa.Row[Any]) -> Entry[Taken]:
        rulings = tuple(ruling_from_json(data) for data in row.rulings)
        return Entry(row.seq, row.n, row.at, self._form.from_json(row.input), rulings)

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        try:
            with self._lock:
                if self._closed:
                    raise StoreError(f"{self.path}: the log is closed; start the companion again")
                with self._engine.begin() as connection:
                    yield connection
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            raise StoreError(_explain(self.path, error)) from error


class Store(Log[Input]):
    """The log of matches of Pathways."""

    def __init__(self, path: Path, appended: Callable[[], None] = lambda: None) -> None:
        """Opens the log, or begins it. `appended` is called after each entry. Raises StoreError."""
        super().__init__(Form("pathways", input_to_json, input_from_json), path, appended)

    def resume(self, match: Match) -> Referee:
        """The referee as the match stands: every input of the log, taken again. Raises StoreError."""
        referee = Referee()
        self._fold(match, lambda _, given: (referee, referee.take(given)))
        return referee


class PathstoneStore(Log[series.Input]):
    """The log of series of Pathstone."""

    def __init__(self, path: Path, appended: Callable[[], None] = lambda: None) -> None:
        """Opens the log, or begins it. `appended` is called after each entry. Raises StoreError."""
        super().__init__(Form("pathstone", series.input_to_json, series.input_from_json), path, appended)

    def resume(self, match: Match) -> series.Series | None:
        """The series as it stands: every input of the log, taken again. Raises StoreError."""
        return self._fold(match, series.take)


class MageStoneStore(Log[table.Input]):
    """The log of matches of MageStone."""

    def __init__(self, path: Path, appended: Callable[[], None] = lambda: None) -> None:
        """Opens the log, or begins it. `appended` is called after each entry. Raises StoreError."""
        super().__init__(Form("magestone", table.input_to_json, table.input_from_json), path, appended)

    def resume(self, match: Match) -> table.Table | None:
        """The table as it stands: every input of the log, taken again. Raises StoreError."""
        return self._fold(match, table.take)


def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
    # Exclusive before WAL is entered: it then needs no shared memory, and holds from the first read on.
    for pragma in ("locking_mode = EXCLUSIVE", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: sa.Connection) -> None:
    # IMMEDIATE: the write lock is taken at the start, where waiting for it is harmless.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _check(connection: sa.Connection, path: Path) -> int:
    """The form of the log in the file, 0 for none yet. Raises StoreError where it is damaged, newer, or not ours."""
    check = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if check != "ok":
        raise StoreError(f"{path}: the log is damaged ({' '.join(check.split())}); {_MOVE_AWAY}")
    version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    empty = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one() == 0
    if application != _APPLICATION_ID and not (empty and application == 0 and version == 0):
        raise StoreError(f"{path}: the database of another program; give another place for the log")
    if version > SCHEMA:
        raise StoreError(
            f"{path}: written by a newer companion (form {version}, this one knows {SCHEMA}); "
            "update the companion, or give another log"
        )
    return version


def _migrate(connection: sa.Connection, version: int) -> None:
    """Brings a file of this form to SCHEMA."""
    if version == 0:
        _tables.create_all(connection)
        for table, event in (("entry", "UPDATE"), ("entry", "DELETE"), ("match", "UPDATE"), ("match", "DELETE")):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"
            )
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")


_MOVE_AWAY = "move it away and start again; `sqlite3 FILE .recover` may save what is in it"


def _insert(connection: sa.Connection, table: sa.Table, values: dict[str, Any]) -> int:
    key = connection.execute(table.insert().values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _explain(path: Path, error: sa.exc.DBAPIError | sqlite3.Error) -> str:
    """One line: what is wrong with the file, and the remedy."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "") or ""
    for start, words in _CAUSES:
        if name.startswith(start):
            return f"{path}: {words}"
    return f"{path}: the log cannot be used ({cause}); check the file, or give another place for the log"


_CAUSES = (
    ("SQLITE_BUSY", "another companion has this log open; end that one, or give another log"),
    ("SQLITE_LOCKED", "another companion has this log open; end that one, or give another log"),
    ("SQLITE_NOTADB", "not a match log; give another place for the log"),
    ("SQLITE_CORRUPT", f"the log is damaged; {_MOVE_AWAY}"),
    ("SQLITE_FULL", "the disk is full, so nothing was written; free some space and go on"),
    ("SQLITE_READONLY", "the log cannot be written to; change its permissions, or give another place for the log"),
    ("SQLITE_CANTOPEN", "the log cannot be opened; check the path and its permissions"),
    ("SQLITE_IOERR", "the disk does not take or give data; free some space or check the disk, then go on"),
)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
