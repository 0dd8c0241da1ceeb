"""The command line: arguments, wiring and exit codes."""

import json
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from queue import Queue, SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn

import click
from platformdirs import user_data_path
from tqdm import tqdm

from companion.cameras import cameras_command
from companion.doctor import doctor_command
from companion.games.pathstone import SIZES, NotationError, read_tps, series
from companion.grid import BoardGrid, Events
from companion.inputs import Correction, Declaration, Declared, Input, Look, Setup
from companion.judge import JUDGES
from companion.live import STALLED_S, Live, Watch
from companion.observe import observation_in_words
from companion.observe import observe as observe_picture
from companion.pathstone import board_of as pathstone_board
from companion.pathstone import pathstone
from companion.pathstone import referee as referee_pathstone
from companion.pathstone_session import PathstoneSession
from companion.printing.command import print_command
from companion.referee import Referee, Standing, events_to_json, game_over
from companion.ruling import Ruling
from companion.session import Session
from companion.settle import SETTLED_ALREADY, Patience
from companion.simulated import Switchboard, called, pictures_of_flicks, put_said, replay_command, soak_command
from companion.store import PathstoneStore, Store, StoreError
from companion.terms import Field, Mode, Player
from firmware_protocol.errors import LinkError
from firmware_protocol.exchange import Direction, Record
from firmware_protocol.link import Link
from firmware_protocol.messages import BAUD, SensorKind
from firmware_protocol.ports import Attached, attached
from vision.board import HolesBoard, Profile, ProfileError, parse_profile, read_profile
from vision.calibration import CalibrationError, calibrate
from vision.camera import Camera, CameraError, Folder, Frame, Source, open_source
from vision.lattice import SIDES

if TYPE_CHECKING:
    from companion import bench as bench_rows
    from companion.dashboard.server import App

Corners = tuple[tuple[float, float], ...]

_NONE = "none"
"""What people give as the source where there is no camera."""
_SIMULATED = "sim:"
_UNO_CELLS = 64
"""More than that are driven by a larger board."""
_TICK_S = 0.05
_PORT = click.option(
    "--port", help="Serial port of the grid of LEDs and sensors (see `companion ports`); sim: or sim:avr simulates one."
)
_BAUD = click.option(
    "--baud",
    type=click.IntRange(1_200, 4_000_000),
    default=BAUD,
    show_default=True,
    help="Speed that the grid is asked to change to; it stays as it was where the grid cannot.",
)
_RECORD = click.option(
    "--record",
    "record_path",
    type=click.Path(path_type=Path),
    help="File that keeps all that goes over the grid's line.",
)
_USUAL_BOARD = Path(__file__).with_name("boards") / "pathways.toml"


@click.group()
def main() -> None:
    """A companion for games on a physical board: it sees, rules, keeps score and shows it."""


main.add_command(pathstone)
main.add_command(print_command)
main.add_command(doctor_command)
main.add_command(cameras_command)
main.add_command(soak_command)
main.add_command(replay_command)


def _read_corners(_context: click.Context, _option: click.Parameter, value: str | None) -> Corners | None:
    if value is None:
        return None
    try:
        corners = tuple((float(x), float(y)) for x, y in (pair.split(",") for pair in value.split()))
    except ValueError:
        corners = ()
    if len(corners) != 4:
        raise click.BadParameter('give four as "x,y x,y x,y x,y", A-left first')
    return corners


@main.command()
@click.argument("pictures", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--board", "board_path", type=click.Path(path_type=Path), required=True, help="Board profile (TOML).")
@click.option("--corners", callback=_read_corners, help="The board's corners in the pictures, corner 0 first.")
@click.option("--a-side", type=click.Choice(list(SIDES)), help="Where player A sits in the pictures.")
@click.option("--before", "before_tps", help="The Pathstone position (TPS) that each picture follows.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout.")
def observe(
    pictures: tuple[Path, ...],
    board_path: Path,
    corners: Corners | None,
    a_side: str | None,
    before_tps: str | None,
    as_json: bool,
) -> None:
    """Tells what is on the board in each of PICTURES."""
    try:
        profile = read_profile(board_path)
        before = None if before_tps is None else read_tps(before_tps)
        for path in pictures:
            seen = observe_picture(path, profile, corners, a_side, before)
            click.echo(json.dumps(seen) if as_json else observation_in_words(seen))
    except (ProfileError, CameraError, CalibrationError, NotationError) as error:
        _fail(str(error))


@main.command()
@click.argument("source")
@click.option("--game", type=click.Choice(["pathways", "pathstone"]), required=True)
@click.option("--board", "board_path", type=click.Path(path_type=Path), required=True, help="Board profile (TOML).")
@click.option("--corners", callback=_read_corners, help="The slab's corners in the first picture, A-left first.")
@click.option("--a-side", type=click.Choice(list(SIDES)), help="Where player A sits in the picture.")
@click.option("--first", type=click.Choice(["a", "b"]), default="a", show_default=True, help="Who flicks first.")
@_PORT
@_BAUD
@_RECORD
@click.option("--store", "store_path", type=click.Path(path_type=Path), help="File to keep the match in.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout.")
def referee(
    source: str,
    game: str,
    board_path: Path,
    corners: Corners | None,
    a_side: str | None,
    first: str,
    port: str | None,
    baud: int,
    record_path: Path | None,
    store_path: Path | None,
    as_json: bool,
) -> None:
    """Referees a game from SOURCE: a camera number, a device, a URL, a video file or a folder of pictures; or none,
    for the sensors of the grid alone."""
    if game == "pathstone":
        referee_pathstone(source, board_path, corners, a_side, as_json=as_json)
        return
    _check_port(source, port, record_path)
    teller = _Teller(as_json)
    try:
        profile, field = _pathways_board(board_path)
        pictures = None if source == _NONE else open_source(source)
        store = Store(store_path) if store_path is not None else None
    except (ProfileError, CameraError, StoreError) as error:
        teller.end(None, str(error))
        _fail(str(error))
    if isinstance(pictures, Camera):
        threading.Thread(target=pictures.read_forever, name="camera", daemon=True).start()
    elif pictures is not None and port is not None:
        click.echo(f"{source} is a recording: the grid shows the game, its sensors are not read", err=True)
    trouble, session = "", None
    try:
        with (
            _recorded(record_path) as record,
            _linked(port, profile, Live(), source=pictures, baud=baud, record=record) as grid,
        ):
            session = Session(
                profile,
                Referee(),
                teller.tell,
                corners_px=corners,
                a_side=a_side,
                patience=SETTLED_ALREADY if isinstance(pictures, Folder) else Patience(),
                store=store,
                grid=grid,
            )
            session.say(Declaration(Declared.START, Setup(starter=Player(first), field=field)))
            if pictures is None:
                session.sense(_ticks(threading.Event()))
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
    teller.end(session, trouble or why)
    if trouble:
        _fail(trouble)


@main.command()
@click.option("--game", type=click.Choice(["pathways"]), default="pathways", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0 takes any free one.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of all that is left to chance at the table.")
def demo(game: str, port: int, seed: int) -> None:
    """Plays on a simulated table, without any hardware, and shows it on the dashboard until it is stopped."""
    # Only here: refereeing a real table needs neither physics nor a renderer.
    from companion.dashboard import create_app
    from hardware_sims import capture, virtual
    from hardware_sims.ports import PtyPort

    referee = Referee()
    said: Queue[Declaration | Correction] = Queue()
    table = virtual.table(seed, lambda: called(referee.standing), lambda words: put_said(referee.standing, said, words))
    folder = TemporaryDirectory(prefix="companion-demo-")
    # By a name that stays when it is pulled out and comes back as another device.
    sensed = virtual.Sensed(PtyPort(virtual.grid_of(), link_name=Path(folder.name) / "grid"))
    device = capture.Device(table.camera, sensed.by(table.play(), table.wanted))
    stream = capture.serve(device)
    threading.Thread(target=stream.serve_forever, name="simulated camera", daemon=True).start()
    field = Field(**asdict(virtual.PROFILE.board))
    said.put(Declaration(Declared.START, Setup(Mode.MATCH, names=("Ada", "Ben"), field=field)))
    pictures = open_source(f"http://127.0.0.1:{stream.server_port}/")
    assert isinstance(pictures, Camera)
    # It cannot be unplugged, but a busy computer may be long in drawing its first picture.
    pictures.stale_s = 60.0
    live = Live(simulated=True)
    try:
        with (
            folder as kept,
            sensed.port as grid_port,
            _linked(grid_port.path, virtual.PROFILE, live, source=pictures) as grid,
        ):
            store = Store(Path(kept) / "log.sqlite", live.ring)
            session = Session(virtual.PROFILE, referee, _no_tell, store=store, live=live, said=said, grid=grid)
            app = create_app(store, live, said, virtual.PROFILE, Switchboard(table))
            _watch(pictures, session, app, store, live, port, "--port")
    finally:
        device.close()
        stream.shutdown()
        stream.server_close()


@main.command()
@click.argument("source", default="0")
@click.option("--game", type=click.Choice(["pathways", "pathstone"]), default="pathways", show_default=True)
@click.option("--board", "board_path", type=click.Path(path_type=Path), help="Board profile (TOML).")
@click.option("--size", type=click.IntRange(SIZES[0], SIZES[-1]), help="Of the usual board of Pathstone, in squares.")
@click.option("--corners", callback=_read_corners, help="The slab's corners in the first picture, A-left first.")
@click.option("--a-side", type=click.Choice(list(SIDES)), help="Where player A sits in the picture.")
@_PORT
@_BAUD
@_RECORD
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
    for the sensors of the grid alone, and in Pathstone for play on the page alone.

    A match that was being played goes on where it stopped.
    """
    if game == "pathstone":
        if port is not None or record_path is not None:
            raise click.UsageError("a grid of LEDs and sensors plays along in Pathways only")
        if board_path is not None and size is not None:
            raise click.UsageError("give --size or --board, not both: a board has its size")
        _run_pathstone(source, board_path, size, corners, a_side, web_port, log_path)
        return
    if size is not None:
        raise click.UsageError("--size is for Pathstone; give a board of Pathways with --board")
    from companion.dashboard import create_app

    _check_port(source, port, record_path)
    live = Live()
    said: Queue[Declaration | Correction] = Queue()
    try:
        profile, field = _pathways_board(board_path or _USUAL_BOARD)
        pictures = _camera(source)
        store = Store(log_path or _usual_log(), live.ring)
        match = store.latest()
        referee = Referee() if match is None else store.resume(match)
    except (ProfileError, CameraError, StoreError) as error:
        _fail(str(error))
    if referee.standing.game is not None and referee.standing.game.setup.field != field:
        _fail(f"{store.path}: its last match is played on another board; give that one with --board, or another --log")
    click.echo(f"The matches are kept in {store.path}", err=True)
    try:
        with (
            _recorded(record_path) as record,
            _linked(port, profile, live, source=pictures, baud=baud, record=record) as grid,
        ):
            session = Session(
                profile,
                referee,
                _no_tell,
                corners_px=corners,
                a_side=a_side,
                store=store,
                match=match,
                live=live,
                said=said,
                grid=grid,
            )
            app = create_app(store, live, said, profile)
            _watch(pictures, session, app, store, live, web_port, "--web-port")
    except LinkError as error:
        store.close()
        _fail(str(error))


def _run_pathstone(
    source: str,
    board_path: Path | None,
    size: int | None,
    corners: Corners | None,
    a_side: str | None,
    web_port: int,
    log_path: Path | None,
) -> None:
    from companion.dashboard import create_pathstone_app

    live = Live()
    said: Queue[series.Input] = Queue()
    try:
        profile = pathstone_board(board_path, size)
        pictures = _camera(source)
        store = PathstoneStore(log_path or _usual_log(), live.ring)
        match = store.latest()
        played = None if match is None else store.resume(match)
    except (ProfileError, CameraError, StoreError) as error:
        _fail(str(error))
    click.echo(f"The matches are kept in {store.path}", err=True)
    session = PathstoneSession(
        profile,
        _no_tell,
        corners_px=corners,
        a_side=a_side,
        series=played,
        store=store,
        match=match,
        live=live,
        said=said,
    )
    # Without a camera the board is only drawn, and may be of any size.
    app = create_pathstone_app(store, live, said, profile, watched=pictures is not None)
    _watch(pictures, session, app, store, live, web_port, "--web-port")


def _camera(source: str) -> Camera | None:
    """The camera that people name; None where they name none. Raises CameraError."""
    if source == _NONE:
        return None
    pictures = open_source(source)
    if not isinstance(pictures, Camera):
        _fail(f"{source}: a table is watched by a camera; referee files with `companion referee`")
    return pictures


def _usual_log() -> Path:
    return user_data_path("board-companion") / "matches.sqlite"


@main.command()
@click.option("--pictures", type=click.IntRange(min=2), default=12, show_default=True, help="How many are rendered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row on stdout.")
def bench(pictures: int, as_json: bool) -> None:
    """Our figures, each beside its peer in the same run. Let nothing else run meanwhile."""
    from companion.accuracy import accuracy_rows, labelled
    from companion.bench import Sample, measure
    from companion.goes import goes_rows
    from companion.pace import flick_row
    from companion.perft import perft_rows
    from hardware_sims import virtual
    from hardware_sims.pictures import profile_toml, random_picture
    from vision.draw import encode_jpeg
    from vision.usual import use_one_thread

    use_one_thread()
    samples = []
    for seed in tqdm(range(pictures), desc="rendering", file=sys.stderr, disable=not sys.stderr.isatty()):
        image, truth = random_picture(seed, size_wh=(1920, 1080), arm=False)
        before, _ = random_picture(seed, size_wh=(1920, 1080), arm=False, flicks_before=1)
        profile = parse_profile(profile_toml(truth))
        calibration = calibrate(truth["corners_px"], profile.board.corners_mm(), (1920, 1080), profile.fov_x_deg)
        disks = tuple((d["colour"], (d["x"], d["y"]), d["hole"] and tuple(d["hole"])) for d in truth["disks"])
        samples.append(Sample(encode_jpeg(image, quality=90), image, before, calibration, profile, disks))
    hand, _ = random_picture(0, size_wh=(1920, 1080), arm=True)
    rendered = [
        labelled(image, parse_profile(profile_toml(truth)), truth)
        for image, truth in (
            random_picture(seed, arm=False)
            for seed in tqdm(range(pictures), desc="rendering", file=sys.stderr, disable=not sys.stderr.isatty())
        )
    ]
    shared = Path(__file__).resolve().parents[1].parent / "shared"
    if not shared.is_dir():
        click.echo(f"path-traced and photographed pictures are skipped: {shared} is not there", err=True)
    flicks = flick_row(pictures_of_flicks(), virtual.PROFILE)
    sets = accuracy_rows(rendered, shared) if shared.is_dir() else ()
    for row in chain(measure(samples, hand), [flicks], sets, perft_rows(), goes_rows(), _grid_rows()):
        told = row.to_json()
        words = f"{row.row}: {row.ours} {row.unit}, peer {row.peer} {row.unit}, ratio {told['ratio']}"
        click.echo(json.dumps(told) if as_json else words)


def _grid_rows() -> "Iterator[bench_rows.Row]":
    """The figures of the firmware in simavr; none, which is said, where the tools are not there."""
    from companion.bench import GridFigures, grid_rows
    from hardware_sims.avr import missing
    from hardware_sims.avr_figures import event_delays_ms, led_upload_share, picture_share

    if (lacking := missing()) is not None:
        click.echo(f"The grid's rows are left out. {lacking}", err=True)
        return
    yield from grid_rows(GridFigures(picture_share, partial(led_upload_share, windowed=False), event_delays_ms))


@main.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a port on stdout.")
def ports(names: tuple[str, ...], as_json: bool) -> None:
    """Lists the USB serial ports, and those named besides, with the grid that answers or what is in its way."""
    found = attached(names)
    for port in found:
        click.echo(json.dumps(_port_to_json(port)) if as_json else _port_in_words(port))
    if not found:
        click.echo("no USB serial port is attached; plug the grid in, or name its port", err=True)


def _port_to_json(port: Attached) -> dict[str, object]:
    device = port.device
    answers = None
    if device is not None:
        answers = {
            "driver": device.driver,
            "uid": device.uid,
            "rows": device.rows,
            "columns": device.columns,
            "leds": device.leds.name.lower(),
            "sensors": device.sensors.name.lower(),
            "firmware": device.firmware,
            "simulated": device.simulated,
        }
    return {
        "port": port.name,
        "by_id": port.by_id or None,
        "usb": port.usb or None,
        "product": port.product or None,
        "grid": answers,
        "trouble": port.trouble or None,
    }


def _port_in_words(port: Attached) -> str:
    """A port for people: its name, then what answers or why nothing does, and its lasting name on a line of its own."""
    device = port.device
    if device is None:
        said = port.trouble
    else:
        sensors = "no sensors" if device.sensors is SensorKind.NONE else f"sensors {device.sensors.name.lower()}"
        simulated = ", simulated" if device.simulated else ""
        said = (
            f"{device.rows} x {device.columns} cells, driver {device.driver}, uid {device.uid or 'none'}, "
            f"LEDs {device.leds.name.lower()}, {sensors}, firmware {device.firmware}{simulated}"
        )
    rest = [f"{'':14}{line}" for line in (" ".join((port.usb, port.product)).strip(), port.by_id) if line]
    return "\n".join([f"{port.name:<14}{'' if len(port.name) < 14 else ' '}{said}", *rest])


def _no_tell(_given: object, _rulings: tuple[Ruling, ...]) -> None:
    """The dashboard reads the log; nothing is printed."""


def _watch(
    pictures: Camera | None,
    session: Session | PathstoneSession,
    app: "App",
    store: Store | PathstoneStore,
    live: Live,
    port: int,
    option: str,
) -> None:
    """Referees a live camera, or what there is without one, and serves the dashboard on a port that people name by an
    option, until a signal or trouble ends it; closes the store."""
    from companion.dashboard.server import Server, listen

    ended = threading.Event()

    def end() -> None:
        ended.set()
        if pictures is not None:
            pictures.close()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: end())
    try:
        listener = listen(port)
    except OSError as error:
        store.close()
        _fail(f"port {port} on 127.0.0.1 cannot be used ({error.strerror}); give another with {option}")
    server = Server(app, listener, live)
    reader = None if pictures is None else threading.Thread(target=pictures.read_forever, name="camera", daemon=True)
    if reader is not None:
        reader.start()
    threading.Thread(target=server.run, name="web server", daemon=True).start()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    trouble = ""
    try:
        if pictures is None:
            session.sense(_ticks(ended))
        else:
            _watch_until_closed(pictures, session, live)
    except (CameraError, CalibrationError, StoreError) as error:
        trouble = str(error)
    finally:
        end()
        live.watch(Watch.ENDED)
        server.stop()
        if reader is not None:
            # OpenCV must not be inside a read when the process ends.
            reader.join(timeout=5)
        store.close()
    if trouble:
        _fail(trouble)


def _check_port(source: str, port: str | None, record_path: Path | None) -> None:
    if port is not None and port.isdigit():
        raise click.UsageError(f"--port {port}: it names the grid's serial port; the page's is --web-port")
    if source == _NONE and port is None:
        raise click.UsageError("without a camera the sensors of a grid are needed: give its --port")
    if record_path is not None and port is None:
        raise click.UsageError("--record keeps what goes over a grid's line: give its --port")


def _ticks(ended: threading.Event) -> Iterator[None]:
    """The pace of a table without a camera."""
    while not ended.wait(_TICK_S):
        yield None


@contextmanager
def _recorded(path: Path | None) -> Iterator[Record | None]:
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


@contextmanager
def _linked(
    port: str | None,
    profile: Profile,
    live: Live,
    *,
    source: Source | None,
    baud: int = BAUD,
    record: Record | None = None,
) -> Iterator[BoardGrid | None]:
    """The grid on a port, driven by a thread of its own; None where none is wanted.

    A camera goes on without the grid; without one (`source` None) LinkError is raised where the grid cannot be had.
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
            grid = BoardGrid(
                profile, events, link.show, lambda: link.counters, live, alone=source is None, believed=believed
            )
            if source is None:
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


def _watch_until_closed(pictures: Camera, session: Session | PathstoneSession, live: Live) -> None:
    """Runs the session, also past the loss of a camera that has given pictures before: it is read again when back."""
    while True:
        try:
            session.run(_new_pictures(pictures, session, live))
        except CameraError as error:
            if session.frames == 0:
                raise
            live.watch(Watch.CAMERA_LOST, str(error))
        else:
            return


def _new_pictures(pictures: Camera, session: Session | PathstoneSession, live: Live) -> Iterator[Frame | None]:
    """The camera's pictures that the session has not had; the page is told where none comes for a while."""
    came_s = time.monotonic()
    for frame in pictures.frames():
        # A camera that is lost still has its last picture.
        if frame is not None and frame.n >= session.frames:
            came_s = time.monotonic()
            yield frame
            continue
        lost = session.frames == 0 or live.watching()[0] is Watch.CAMERA_LOST
        if not lost and time.monotonic() - came_s >= STALLED_S:
            live.watch(Watch.STALLED, f"the camera gives no new picture: {pictures.trouble}")
        yield None


@main.command()
@click.argument("game", type=click.Choice(list(JUDGES)))
@click.option("--json", is_flag=True, expose_value=False, help="Answers are JSON with and without it.")
def judge(game: str) -> None:
    """Answers JSON lines from stdin about GAME by the rules alone: a set-up first, then one input a line."""
    told = JUDGES[game]()
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            answer = told.answer(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            _fail(f"line {number} is not JSON ({error}); give one JSON object a line")
        print(json.dumps(answer), flush=True)


class _Teller:
    """Prints what happens: JSON lines, or plain words."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def tell(self, given: Input, rulings: tuple[Ruling, ...]) -> None:
        look = given if isinstance(given, Look) else None
        if self._as_json:
            for event in events_to_json(rulings, look):
                print(json.dumps(event), flush=True)
        else:
            for ruling in rulings:
                tqdm.write(_in_words(ruling, look), file=sys.stdout)

    def end(self, session: Session | None, why: str) -> None:
        """What stands, where the game is not over, and the last line; no session where it could not begin."""
        standing = session.referee.standing if session is not None else Standing()
        if standing.game is not None and not standing.game.over:
            self.tell(Declaration(Declared.END_GAME), (game_over(standing),))
        frames, blank = (session.frames, session.blank) if session is not None else (0, 0)
        if self._as_json:
            print(json.dumps({"event": "end", "frames": frames, "blank": blank, "why": why}), flush=True)
        else:
            tqdm.write(f"{frames} pictures; {why}", file=sys.stdout)


def _in_words(ruling: Ruling, look: Look | None) -> str:
    """A ruling for people: when, why, and the rulebook's section."""
    when = f"{look.t_s:7.1f} s" if look is not None else " " * 9
    return f"{when}  {ruling.why} ({ruling.rule})"


def _pathways_board(path: Path) -> tuple[Profile, Field]:
    """The profile in a file, and the plain numbers that the game needs. Raises ProfileError."""
    profile = read_profile(path)
    if not isinstance(profile.board, HolesBoard):
        raise ProfileError(f'{path}: Pathways is played on a board of kind "holes"')
    if {name for name, _ in profile.colours} != {player.value for player in Player}:
        raise ProfileError(f"{path}: [colours] must name the disks of players a and b")
    return profile, Field(**asdict(profile.board))


def _with_progress(frames: Iterable[Frame | None], total: int) -> Iterator[Frame | None]:
    """The same frames, with a bar on stderr where that is a terminal and the end is known."""
    bar = tqdm(total=total, unit="picture", file=sys.stderr, disable=not (total and sys.stderr.isatty()), leave=False)
    with bar:
        for frame in frames:
            yield frame
            bar.update()


def _fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
