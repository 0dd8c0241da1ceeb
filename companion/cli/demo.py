"""`companion demo`: a simulated table with its page."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from companion.cli.boards import magestone_board
from companion.cli.equipment import linked
from companion.cli.watch import no_tell, watch
from companion.games.magestone import table as magestone
from companion.games.pathstone import series
from companion.inputs import Correction, Declaration, Declared, Setup
from companion.live import Live
from companion.magestone_session import MageStoneSession
from companion.pathstone_session import PathstoneSession
from companion.referee import Referee
from companion.session import Session
from companion.simulated import Switchboard, called, put_said
from companion.simulated_magestone import TablePlayers as TokenPlayers
from companion.store import MageStoneStore, PathstoneStore, Resume, Store
from companion.terms import Field, Mode
from vision.camera import Camera, open_source

if TYPE_CHECKING:
    from hardware_sims.capture import Eye


@click.command()
@click.option(
    "--game", type=click.Choice(["pathways", "pathstone", "magestone"]), default="pathways", show_default=True
)
@click.option("--port", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0 takes any free one.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of all that is left to chance at the table.")
def demo(game: str, port: int, seed: int) -> None:
    """Plays on a simulated table, without any hardware, and shows it on the dashboard until it is stopped."""
    _GAMES[game](port, seed)


@contextmanager
def _filmed(camera: "Eye[Any]", moments: Iterator[Any]) -> Iterator[Camera]:
    """What happens at a table as a camera streams it, and as programs open such a camera."""
    from hardware_sims import capture

    device = capture.Device(camera, moments)
    stream = capture.serve(device)
    threading.Thread(target=stream.serve_forever, name="simulated camera", daemon=True).start()
    try:
        pictures = open_source(f"http://127.0.0.1:{stream.server_port}/")
        assert isinstance(pictures, Camera)
        # It cannot be unplugged, but a busy computer may be long in drawing its first picture.
        pictures.stale_s = 60.0
        yield pictures
    finally:
        device.close()
        stream.shutdown()
        stream.server_close()


def _pathways(port: int, seed: int) -> None:
    # Only here: refereeing a real table needs neither physics nor a renderer.
    from companion.dashboard import create_app
    from hardware_sims import virtual
    from hardware_sims.ports import PtyPort

    referee, live = Referee(), Live(simulated=True)
    said: Queue[Declaration | Correction] = Queue()
    table = virtual.table(seed, lambda: called(referee.standing), lambda words: put_said(referee.standing, said, words))
    field = Field(**asdict(virtual.PROFILE.board))
    said.put(Declaration(Declared.START, Setup(Mode.MATCH, names=("Ada", "Ben"), field=field)))
    with TemporaryDirectory(prefix="companion-demo-") as folder:
        # By a name that stays when it is pulled out and comes back as another device.
        sensed = virtual.Sensed(PtyPort(virtual.grid_of(), link_name=Path(folder) / "grid"))
        with (
            _filmed(table.camera, sensed.by(table.play(), virtual.filled_holes, table.wanted)) as pictures,
            sensed.port as grid_port,
            linked(grid_port.path, "pathways", virtual.PROFILE, live, source=pictures, alone=False) as grid,
        ):
            store = Store(Path(folder) / "log.sqlite", live.ring)
            session = Session(virtual.PROFILE, referee, no_tell, store=store, live=live, said=said, grid=grid)
            app = create_app(store, live, said, virtual.PROFILE, Switchboard(table.switches))
            watch(pictures, session, app, store, live, port, "--port")


def _pathstone(port: int, seed: int) -> None:
    from companion.dashboard import create_pathstone_app
    from companion.simulated_pathstone import Players as StonePlayers
    from hardware_sims import virtual, virtual_stacks
    from hardware_sims.ports import PtyPort

    live, profile = Live(simulated=True), virtual_stacks.PROFILE
    said: Queue[series.Input | Resume] = Queue()
    session: PathstoneSession | None = None
    minds = StonePlayers(seed, lambda: None if session is None else session.series, said, profile.board.rows)
    table = virtual_stacks.table(seed, minds.told)
    with TemporaryDirectory(prefix="companion-demo-") as folder:
        sensed = virtual.Sensed(PtyPort(virtual.grid_of(profile), link_name=Path(folder) / "grid"), profile)
        with (
            _filmed(table.camera, sensed.by(table.play(), table.filled, table.switches.on)) as pictures,
            sensed.port as grid_port,
            linked(grid_port.path, "pathstone", profile, live, source=pictures, alone=False) as grid,
        ):
            store = PathstoneStore(Path(folder) / "log.sqlite", live.ring)
            session = PathstoneSession(
                profile, no_tell, corners_px=table.corners_px(), store=store, live=live, said=said, grid=grid
            )
            app = create_pathstone_app(
                store, live, said, profile, watched=True, switchboard=Switchboard(table.switches)
            )
            watch(pictures, session, app, store, live, port, "--port")


def _magestone(port: int, seed: int) -> None:
    from companion.dashboard import create_magestone_app
    from hardware_sims import virtual_tokens

    live, profile = Live(simulated=True), magestone_board()
    said: Queue[magestone.Input] = Queue()
    session: MageStoneSession | None = None
    minds = TokenPlayers(seed, lambda: None if session is None else session.table, said)
    hands = virtual_tokens.TokensPlayers(minds.told)
    with (
        TemporaryDirectory(prefix="companion-demo-") as folder,
        _filmed(virtual_tokens.TokensEye(seed=seed), hands.play()) as pictures,
    ):
        store = MageStoneStore(Path(folder) / "log.sqlite", live.ring)
        session = MageStoneSession(no_tell, profile=profile, store=store, live=live, said=said)
        app = create_magestone_app(store, live, said, profile, watched=True)
        watch(pictures, session, app, store, live, port, "--port")


_GAMES: dict[str, Callable[[int, int], None]] = {
    "pathways": _pathways,
    "pathstone": _pathstone,
    "magestone": _magestone,
}
