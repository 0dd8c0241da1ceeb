"""What stands at a table: its camera, and its grid of LEDs and sensors with what goes over the grid's line."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click

from companion.cli.options import NO_CAMERA, fail
from companion.grid import BoardGrid, Events, TableGrid
from companion.live import Live
from companion.magestone_grid import TokensGrid
from companion.pathstone_grid import SquaresGrid
from firmware_protocol.errors import LinkError
from firmware_protocol.exchange import Direction, Record
from firmware_protocol.link import Link
from firmware_protocol.messages import BAUD
from vision.board import Profile
from vision.camera import Camera, Source, open_source

_SIMULATED = "sim:"
_UNO_CELLS = 64
"""More than that are driven by a larger board."""
_TICK_S = 0.05


def open_camera(source: str) -> Camera | None:
    """The camera that people name; None where they name none. Raises CameraError."""
    if source == NO_CAMERA:
        return None
    pictures = open_source(source)
    if not isinstance(pictures, Camera):
        fail(f"{source}: a table is watched by a camera; referee files with `companion referee`")
    return pictures


def ticks(ended: threading.Event) -> Iterator[None]:
    """The pace of a table without a camera."""
    while not ended.wait(_TICK_S):
        yield None


@contextmanager
def recorded(path: Path | None) -> Iterator[Record | None]:
    """What writes a grid's line to a file, each entry as it comes; None where no file is given. Raises LinkError."""
    if path is None:
        yield None
        return
    # Only here: a recording is the simulators' to replay.
    from hardware_sims.recording import Recording

    try:
        file = path.open("w", encoding="ascii", buffering=1)
    except OSError as error:
        raise LinkError(f"{path}: it cannot be written ({error.strerror}); give another file with --record") from None
    recording = Recording(file)
    full = False

    def record(direction: Direction, t_s: float, data: bytes) -> None:
        nonlocal full
        if full:
            return
        try:
            recording.from_link(direction, t_s, data)
        except OSError as error:
            # The link takes an OSError for its port's.
            full = True
            click.echo(f"{path}: the recording ends here ({error.strerror})", err=True)

    try:
        yield record
    finally:
        with suppress(OSError):
            recording.flush()
        with suppress(OSError):
            file.close()


GRIDS: dict[str, Callable[..., TableGrid]] = {
    "pathways": BoardGrid,
    "pathstone": SquaresGrid,
    "magestone": TokensGrid,
}
"""What uses a grid in each game that is played on one."""


@contextmanager
def linked(
    port: str | None,
    game: str,
    profile: Profile,
    live: Live,
    *,
    source: Source | None,
    alone: bool,
    baud: int = BAUD,
    record: Record | None = None,
) -> Iterator[Any]:
    """What GRIDS has for a game over the grid on a port, which a thread of its own drives; None where none is wanted.

    `alone`: without the grid nothing goes on, so that LinkError is raised where it cannot be had.
    """
    if port is None:
        yield None
        return
    events: Events = SimpleQueue()
    size_rc = (profile.board.rows, profile.board.columns)
    with _simulated(port, size_rc) as path:
        link = Link(
            [path], lambda event: events.put((time.monotonic(), event)), size_rc=size_rc, baud=baud, record=record
        )
        driving = threading.Thread(target=link.run, name="grid", daemon=True)
        driving.start()
        try:
            # Nothing lies on a simulated grid under a real camera, nor on one beside a recording.
            believed = source is None or (isinstance(source, Camera) and not port.startswith(_SIMULATED))
            grid = GRIDS[game](profile, events, link.show, lambda: link.counters, live, alone=alone, believed=believed)
            if alone:
                grid.wait()
            yield grid
        finally:
            link.close()
            driving.join(timeout=5)


@contextmanager
def _simulated(port: str, size_rc: tuple[int, int]) -> Iterator[str]:
    """The port to open: the one that was named, or that of a simulated grid."""
    if not port.startswith(_SIMULATED):
        yield port
        return
    # Only here: a real grid needs no simulated one.
    from hardware_sims.avr import AvrBoard, Build
    from hardware_sims.board import Board
    from hardware_sims.ports import PtyPort

    rows, columns = size_rc
    match port.removeprefix(_SIMULATED):
        case "":
            with PtyPort(Board(rows, columns)) as simulated:
                yield simulated.path
        case "avr":
            with AvrBoard(Build("atmega328p" if rows * columns <= _UNO_CELLS else "atmega2560", rows, columns)) as avr:
                yield avr.port
        case _:
            raise LinkError(f"{port}: no such simulated grid; there are sim: and sim:avr")
