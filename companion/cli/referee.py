"""`companion referee`: referees a game from a camera or from pictures that were taken, and prints what happens."""

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from companion.cli.boards import BOARDS
from companion.cli.equipment import linked, recorded, ticks
from companion.cli.options import (
    NO_CAMERA,
    Corners,
    a_side_option,
    baud_option,
    check_port,
    corners_option,
    fail,
    json_option,
    port_option,
    record_option,
)
from companion.games import pathstone
from companion.games.magestone import NotationError, State, read_position
from companion.games.magestone.belief import Told
from companion.games.pathstone import series
from companion.grid import BoardGrid
from companion.inputs import Declaration, Declared, Input, InputError, Look, Setup
from companion.live import Live
from companion.loop import Loop
from companion.magestone import RecordedGame, Said, event_to_json, read_said, ruling_of
from companion.magestone_grid import TokensGrid
from companion.pathstone_grid import SquaresGrid
from companion.pathstone_session import PathstoneSession
from companion.referee import Referee, events_to_json, game_over
from companion.ruling import Ruling
from companion.session import Session
from companion.settle import SETTLED_ALREADY, Patience
from companion.store import Log, PathstoneStore, Store, StoreError
from companion.terms import Field, Player
from firmware_protocol.errors import LinkError
from vision.board import Profile, ProfileError
from vision.calibration import CalibrationError
from vision.camera import Camera, CameraError, Folder, Frame, open_source


class Teller:
    """Prints what happens: JSON lines, or plain words."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def tell(self, rulings: Sequence[Ruling], events: Iterable[Mapping[str, Any]], t_s: float | None = None) -> None:
        """Rulings, and the same as events; `t_s` is when the picture was taken that they are about."""
        if self._as_json:
            for event in events:
                print(json.dumps(event), flush=True)
        else:
            when = " " * 9 if t_s is None else f"{t_s:7.1f} s"
            for ruling in rulings:
                tqdm.write(f"{when}  {ruling.why} ({ruling.rule})", file=sys.stdout)

    def end(self, session: Loop[Any] | None, why: str) -> None:
        """The last line; no session where it could not begin."""
        frames, blank = (session.frames, session.blank) if session is not None else (0, 0)
        if self._as_json:
            print(json.dumps({"event": "end", "frames": frames, "blank": blank, "why": why}), flush=True)
        else:
            tqdm.write(f"{frames} pictures; {why}", file=sys.stdout)


@dataclass(frozen=True, slots=True)
class Table:
    """A table before its game begins."""

    profile: Profile
    corners_px: Corners | None
    a_side: str | None
    first: Player
    patience: Patience
    teller: Teller
    position: State | None = None
    said: tuple[Said, ...] | None = None


Begun = tuple[Loop[Any], Callable[[], None]]
"""A session with its game begun, and what tells how that stands when the pictures end."""
Opened = tuple[Log[Any] | None, Callable[[Any], Begun]]
"""The log that keeps the game, if any, and what begins the game once the grid, if any, is there."""


@click.command()
@click.argument("source")
@click.option("--game", type=click.Choice(["pathways", "pathstone", "magestone"]), required=True)
@click.option("--board", "board_path", type=click.Path(path_type=Path), required=True, help="Board profile (TOML).")
@corners_option
@a_side_option
@click.option("--first", type=click.Choice(["a", "b"]), default="a", show_default=True, help="Who flicks first.")
@click.option("--position", "position_text", help="Where the game of MageStone begins, as text; else at its start.")
@click.option(
    "--said",
    "said_path",
    type=click.Path(path_type=Path),
    help="File with what was declared in MageStone, JSON lines; without it nobody is taken to have said anything.",
)
@port_option
@baud_option
@record_option
@click.option("--store", "store_path", type=click.Path(path_type=Path), help="File to keep the match in.")
@json_option
def referee(
    source: str,
    game: str,
    board_path: Path,
    corners: Corners | None,
    a_side: str | None,
    first: str,
    position_text: str | None,
    said_path: Path | None,
    port: str | None,
    baud: int,
    record_path: Path | None,
    store_path: Path | None,
    as_json: bool,
) -> None:
    """Referees a game from SOURCE: a camera number, a device, a URL, a video file or a folder of pictures; or none,
    for the sensors of the grid alone."""
    if source == NO_CAMERA and game != "pathways":
        raise click.UsageError("sensors alone tell only of Pathways: give a camera or pictures")
    if game != "magestone" and (position_text is not None or said_path is not None):
        raise click.UsageError("--position and --said are for MageStone")
    if game == "magestone" and store_path is not None:
        raise click.UsageError("--store keeps games of Pathways and Pathstone; companion run keeps those of MageStone")
    check_port(source, port, record_path)
    teller = Teller(as_json)
    try:
        profile = BOARDS[game](board_path)
        pictures = None if source == NO_CAMERA else open_source(source)
        patience = SETTLED_ALREADY if isinstance(pictures, Folder) else Patience()
        position = None if position_text is None else read_position(position_text)
        said = None if said_path is None else read_said(said_path)
        table = Table(profile, corners, a_side, Player(first), patience, teller, position, said)
        store, begin = _GAMES[game](table, store_path)
    except (ProfileError, CameraError, StoreError, NotationError, InputError) as error:
        teller.end(None, str(error))
        fail(str(error))
    if isinstance(pictures, Camera):
        threading.Thread(target=pictures.read_forever, name="camera", daemon=True).start()
    elif pictures is not None and port is not None:
        click.echo(f"{source} is a recording: the grid shows the game, its sensors are not read", err=True)
    trouble, session, stand = "", None, None
    try:
        with (
            recorded(record_path) as record,
            linked(
                port, game, profile, Live(), source=pictures, alone=pictures is None, baud=baud, record=record
            ) as grid,
        ):
            session, stand = begin(grid)
            if pictures is None:
                session.sense(ticks(threading.Event()))
            else:
                session.run(_with_progress(pictures.frames(), pictures.total))
    except KeyboardInterrupt:
        why = "stopped"
    except (CameraError, CalibrationError, StoreError, LinkError) as error:
        why = trouble = str(error)
    else:
        why, trouble = "the source ended", session.trouble
    finally:
        if store is not None:
            store.close()
    if stand is not None:
        stand()
    teller.end(session, trouble or why)
    if trouble:
        fail(trouble)


def _pathways(table: Table, store_path: Path | None) -> Opened:
    """Raises StoreError."""
    store = None if store_path is None else Store(store_path)

    def tell(given: Input, rulings: tuple[Ruling, ...]) -> None:
        look = given if isinstance(given, Look) else None
        table.teller.tell(rulings, events_to_json(rulings, look), None if look is None else look.t_s)

    def begin(grid: BoardGrid | None) -> Begun:
        session = Session(
            table.profile,
            Referee(),
            tell,
            corners_px=table.corners_px,
            a_side=table.a_side,
            patience=table.patience,
            store=store,
            grid=grid,
        )
        session.say(Declaration(Declared.START, Setup(starter=table.first, field=Field(**asdict(table.profile.board)))))

        def stand() -> None:
            standing = session.referee.standing
            if standing.game is not None and not standing.game.over:
                tell(Declaration(Declared.END_GAME), (game_over(standing),))

        return session, stand

    return store, begin


def _pathstone(table: Table, store_path: Path | None) -> Opened:
    """Raises StoreError."""
    store = None if store_path is None else PathstoneStore(store_path)

    def tell(given: series.Input, rulings: tuple[Ruling, ...]) -> None:
        if isinstance(given, series.Seen):
            when = {"frame": given.frame, "t_s": round(given.t_s, 3)}
            events = [{**event, **when} for event in pathstone.events_to_json(rulings)]
            table.teller.tell(rulings, events, given.t_s)

    def begin(grid: SquaresGrid | None) -> Begun:
        session = PathstoneSession(
            table.profile,
            tell,
            corners_px=table.corners_px,
            a_side=table.a_side,
            patience=table.patience,
            store=store,
            grid=grid,
        )
        session.say(series.Begin(("A", "B"), table.profile.board.rows, 1))
        return session, lambda: None

    return store, begin


def _magestone(table: Table, _store_path: Path | None) -> Opened:
    def hear(told: tuple[Told, ...], state: State, frame: Frame | None) -> None:
        when = {} if frame is None else {"frame": frame.n, "t_s": round(frame.t_s, 3)}
        events = [{**event_to_json(one, state), **when} for one in told]
        table.teller.tell([ruling_of(one) for one in told], events, None if frame is None else frame.t_s)

    def begin(grid: TokensGrid | None) -> Begun:
        session = RecordedGame(
            table.profile,
            hear,
            corners_px=table.corners_px,
            patience=table.patience,
            first=table.position,
            said=table.said,
            grid=grid,
        )
        return session, session.finish

    return None, begin


_GAMES: dict[str, Callable[[Table, Path | None], Opened]] = {
    "pathways": _pathways,
    "pathstone": _pathstone,
    "magestone": _magestone,
}


def _with_progress(frames: Iterable[Frame | None], total: int) -> Iterator[Frame | None]:
    """The same frames, with a bar on stderr where that is a terminal and the end is known."""
    bar = tqdm(total=total, unit="picture", file=sys.stderr, disable=not (total and sys.stderr.isatty()), leave=False)
    with bar:
        for frame in frames:
            yield frame
            bar.update()
