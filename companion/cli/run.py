"""`companion run`: a real table with its page."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import click
from platformdirs import user_data_path

from companion.cli.boards import BOARDS, pathstone_board
from companion.cli.equipment import linked, open_camera, recorded
from companion.cli.options import (
    NO_CAMERA,
    Corners,
    a_side_option,
    baud_option,
    check_port,
    corners_option,
    fail,
    port_option,
    record_option,
)
from companion.cli.watch import no_tell, watch
from companion.games.magestone import table as magestone
from companion.games.pathstone import SIZES, series
from companion.grid import BoardGrid, TableGrid
from companion.inputs import Correction, Declaration
from companion.live import Live
from companion.loop import Loop
from companion.magestone_session import MageStoneSession
from companion.pathstone_session import PathstoneSession
from companion.referee import Referee
from companion.session import Session
from companion.store import Log, MageStoneStore, PathstoneStore, Store, StoreError
from companion.terms import Field
from firmware_protocol.errors import LinkError
from vision.board import Profile, ProfileError
from vision.camera import CameraError

if TYPE_CHECKING:
    from companion.dashboard.server import App


@dataclass(frozen=True, slots=True)
class Table:
    """A table before it is watched."""

    profile: Profile
    corners_px: Corners | None
    a_side: str | None
    live: Live
    watched: bool
    """Whether a camera looks at it."""


Begun = tuple[Loop[Any], "App"]
Opened = tuple[Log[Any], Callable[[Any], Begun]]
"""A game's log, and what begins its session and its page once the grid, if any, is there."""


@click.command()
@click.argument("source", default="0")
@click.option(
    "--game", type=click.Choice(["pathways", "pathstone", "magestone"]), default="pathways", show_default=True
)
@click.option("--board", "board_path", type=click.Path(path_type=Path), help="Board profile (TOML).")
@click.option("--size", type=click.IntRange(SIZES[0], SIZES[-1]), help="Of the usual board of Pathstone, in squares.")
@corners_option
@a_side_option
@port_option
@baud_option
@record_option
@click.option(
    "--web-port",
    type=click.IntRange(0, 65535),
    default=8420,
    show_default=True,
    help="The page's; 0 takes any free one.",
)
@click.option("--log", "log_path", type=click.Path(path_type=Path), help="File that keeps the matches.")
def run(
    source: str,
    game: str,
    board_path: Path | None,
    size: int | None,
    corners: Corners | None,
    a_side: str | None,
    port: str | None,
    baud: int,
    record_path: Path | None,
    web_port: int,
    log_path: Path | None,
) -> None:
    """Referees a real table with the dashboard on 127.0.0.1. SOURCE is a camera number, a device or a URL; or none,
    for the sensors of the grid alone, and in Pathstone and MageStone for play on the page alone.

    A match that was being played goes on where it stopped.
    """
    if size is not None and game != "pathstone":
        raise click.UsageError("--size is for Pathstone; give another game's board with --board")
    if size is not None and board_path is not None:
        raise click.UsageError("give --size or --board, not both: a board has its size")
    check_port(source, port, record_path, plays_alone=game != "pathways")
    live, alone = Live(), game == "pathways" and source == NO_CAMERA
    try:
        profile = BOARDS[game](board_path) if size is None else pathstone_board(size=size)
        pictures = open_camera(source)
        table = Table(profile, corners, a_side, live, watched=pictures is not None)
        store, begin = _GAMES[game](table, log_path or user_data_path("board-companion") / "matches.sqlite")
    except (ProfileError, CameraError, StoreError) as error:
        fail(str(error))
    click.echo(f"The matches are kept in {store.path}", err=True)
    try:
        with (
            recorded(record_path) as record,
            linked(port, game, profile, live, source=pictures, alone=alone, baud=baud, record=record) as grid,
        ):
            session, app = begin(grid)
            watch(pictures, session, app, store, live, web_port, "--web-port")
    except LinkError as error:
        store.close()
        fail(str(error))


def _pathways(table: Table, log_path: Path) -> Opened:
    """Raises StoreError; ProfileError where the match that goes on is played on another board."""
    from companion.dashboard import create_app

    store = Store(log_path, table.live.ring)
    match = store.latest()
    referee = Referee() if match is None else store.resume(match)
    played = referee.standing.game
    if played is not None and played.setup.field != Field(**asdict(table.profile.board)):
        raise ProfileError(
            f"{log_path}: its last match is played on another board; give that one with --board, or another --log"
        )

    def begin(grid: BoardGrid | None) -> Begun:
        said: Queue[Declaration | Correction] = Queue()
        session = Session(
            table.profile,
            referee,
            no_tell,
            corners_px=table.corners_px,
            a_side=table.a_side,
            store=store,
            match=match,
            live=table.live,
            said=said,
            grid=grid,
        )
        return session, create_app(store, table.live, said, table.profile)

    return store, begin


def _pathstone(table: Table, log_path: Path) -> Opened:
    """Raises StoreError."""
    from companion.dashboard import create_pathstone_app

    def session(played: series.Series | None, wiring: dict[str, Any]) -> PathstoneSession:
        return PathstoneSession(table.profile, no_tell, a_side=table.a_side, series=played, **wiring)

    return _resumed(table, PathstoneStore(log_path, table.live.ring), session, create_pathstone_app)


def _magestone(table: Table, log_path: Path) -> Opened:
    """Raises StoreError."""
    from companion.dashboard import create_magestone_app

    def session(played: magestone.Table | None, wiring: dict[str, Any]) -> MageStoneSession:
        return MageStoneSession(no_tell, profile=table.profile, table=played, **wiring)

    return _resumed(table, MageStoneStore(log_path, table.live.ring), session, create_magestone_app)


def _resumed(
    table: Table,
    store: PathstoneStore | MageStoneStore,
    session_from: Callable[..., Loop[Any]],
    create_app: Callable[..., "App"],
) -> Opened:
    """The match that was played last goes on. Without a camera its board is only drawn, and may be of any size."""
    match = store.latest()
    played = None if match is None else store.resume(match)

    def begin(grid: TableGrid | None) -> Begun:
        said: Queue[Any] = Queue()
        wiring = {"corners_px": table.corners_px, "store": store, "match": match, "live": table.live, "said": said}
        session = session_from(played, {**wiring, "grid": grid})
        return session, create_app(store, table.live, said, table.profile, watched=table.watched)

    return store, begin


_GAMES: dict[str, Callable[[Table, Path], Opened]] = {
    "pathways": _pathways,
    "pathstone": _pathstone,
    "magestone": _magestone,
}
