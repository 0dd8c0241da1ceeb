"""`companion pathstone`: counts positions (perft) and replays records; and how `companion referee` referees a game."""

import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click
from tqdm import tqdm

from companion.games.pathstone import (
    SIZES,
    NotationError,
    count_leaves,
    events_to_json,
    first_state,
    read_ptn,
    read_tps,
    replay,
    start,
    write_tps,
)
from companion.games.pathstone.series import Begin, Input, Seen, take
from companion.ruling import Ruling
from companion.settle import SETTLED_ALREADY, Patience
from vision.board import Profile, ProfileError, SquaresBoard, read_profile
from vision.calibration import CalibrationError
from vision.camera import Camera, CameraError, Folder, open_source

_USUAL_BOARD = Path(__file__).with_name("boards") / "pathstone.toml"


@click.group()
def pathstone() -> None:
    """Counts positions of Pathstone and replays its records."""


@pathstone.command()
@click.argument("size", type=click.IntRange(SIZES[0], SIZES[-1]))
@click.argument("depth", type=click.IntRange(min=0))
@click.option("--tps", help="The position to start from.")
@click.option("--ptn", help='Moves to play from the start first, as "a1 e5 c3".')
def perft(size: int, depth: int, tps: str | None, ptn: str | None) -> None:
    """Prints how many positions there are after DEPTH moves on a board of SIZE, every one of them made."""
    if tps is not None and ptn is not None:
        raise click.UsageError("give --tps or --ptn, not both")
    try:
        state = start(size) if tps is None else read_tps(tps, size)
        if ptn is not None:
            state = replay(read_ptn(f'[Size "{size}"]\n{ptn}'))[-1]
    except NotationError as error:
        _fail(str(error))
    click.echo(count_leaves(state, depth))


@pathstone.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file on stdout.")
def replay_files(files: tuple[Path, ...], as_json: bool) -> None:
    """Replays the records (PTN) in FILES and tells how each ends."""
    broken = 0
    for path in files:
        told = replayed(path)
        broken += "error" in told
        print(json.dumps(told) if as_json else _in_words(told), flush=True)
    if broken:
        _fail(f"{broken} of {len(files)} could not be replayed to the end; correct them where each error says")


def replayed(path: Path) -> dict[str, Any]:
    """How the game in a file ends, under the keys that `companion pathstone replay` prints."""
    told: dict[str, Any] = {"file": str(path)}
    try:
        record = read_ptn(path.read_bytes().decode("utf-8"))
        told["size"] = first_state(record).size
        last = replay(record)[-1]
    except (NotationError, OSError, UnicodeDecodeError) as error:
        return {**told, "error": str(error)}
    result = None if last.result is None else str(last.result)
    return {**told, "plies": len(record.plies), "result": result, "tps": write_tps(last)}


def referee(
    source: str,
    board_path: Path,
    corners: Sequence[tuple[float, float]] | None,
    a_side: str | None,
    *,
    as_json: bool,
) -> None:
    """Referees a game of Pathstone from SOURCE, as `companion referee` does."""
    from companion.pathstone_session import PathstoneSession

    def tell(given: Input, rulings: tuple[Ruling, ...]) -> None:
        assert isinstance(given, Seen)  # nobody says anything here
        if as_json:
            for event in events_to_json(rulings):
                print(json.dumps({**event, "frame": given.frame, "t_s": round(given.t_s, 3)}), flush=True)
        else:
            for ruling in rulings:
                tqdm.write(f"{given.t_s:7.1f} s  {ruling.why} ({ruling.rule})", file=sys.stdout)

    session, trouble, why = None, "", "the source ended"
    try:
        profile = board_of(board_path)
        pictures = open_source(source)
        if isinstance(pictures, Camera):
            threading.Thread(target=pictures.read_forever, name="camera", daemon=True).start()
        patience = SETTLED_ALREADY if isinstance(pictures, Folder) else Patience()
        series, _ = take(None, Begin(("A", "B"), profile.board.rows, 1))
        session = PathstoneSession(profile, tell, corners_px=corners, a_side=a_side, patience=patience, series=series)
        shown = bool(pictures.total and sys.stderr.isatty())
        session.run(tqdm(pictures.frames(), total=pictures.total, unit="picture", disable=not shown, leave=False))
        trouble = session.trouble
    except KeyboardInterrupt:
        why = "stopped"
    except (ProfileError, CameraError, CalibrationError) as error:
        trouble = str(error)
    frames, blank = (session.frames, session.blank) if session is not None else (0, 0)
    if as_json:
        print(json.dumps({"event": "end", "frames": frames, "blank": blank, "why": trouble or why}), flush=True)
    else:
        tqdm.write(f"{frames} pictures; {trouble or why}", file=sys.stdout)
    if trouble:
        _fail(trouble)


def board_of(path: Path | None, size: int | None = None) -> Profile:
    """The profile in a file, or the usual board in the size that is wanted.

    Raises ProfileError where Pathstone cannot be played on it.
    """
    profile = read_profile(path or _USUAL_BOARD)
    board = profile.board
    if not isinstance(board, SquaresBoard) or profile.pieces is None:
        raise ProfileError(f'{path}: Pathstone is played on a board of kind "squares" with [pieces]')
    if path is None and size is not None:
        return replace(profile, board=replace(board, rows=size, columns=size))
    if board.rows != board.columns or board.rows not in SIZES:
        raise ProfileError(f"{path}: a board has {SIZES[0]}x{SIZES[0]} to {SIZES[-1]}x{SIZES[-1]} squares")
    return profile


def _in_words(told: dict[str, Any]) -> str:
    if "error" in told:
        return f"{told['file']}: {told['error']}"
    return f"{told['file']}: {told['size']}x{told['size']}, {told['plies']} moves, {told['result'] or 'not finished'}"


def _fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
