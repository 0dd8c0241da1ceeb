"""`companion pathstone`: counts positions (perft) and replays records."""

import json
from pathlib import Path
from typing import Any

import click

from companion.cli.options import fail
from companion.games.pathstone import (
    SIZES,
    NotationError,
    count_leaves,
    first_state,
    read_ptn,
    read_tps,
    replay,
    start,
    write_tps,
)


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
        fail(str(error))
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
        fail(f"{broken} of {len(files)} could not be replayed to the end; correct them where each error says")


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


def _in_words(told: dict[str, Any]) -> str:
    if "error" in told:
        return f"{told['file']}: {told['error']}"
    return f"{told['file']}: {told['size']}x{told['size']}, {told['plies']} moves, {told['result'] or 'not finished'}"
