"""The speed of Pathstone's rules: positions a second, beside python-chess from its start position in the same run.

Both are plain Python and make every leaf. The process's own time is taken, so that a busy computer slows neither.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from companion.bench import Row
from companion.games.pathstone import count_leaves, read_tps, start

if TYPE_CHECKING:
    import chess

_ROUNDS = 3
_CHESS_DEPTH = 4

CROWDED = "2,2,21S,2,2,2/2,x,222221,2,2,x/1,1,2221C,x,111112C,2S/x,1,2S,x2,121211212/1,1,1212S,1S,2,1S/x2,2,1,21,1 1 42"
"""A 6x6 position with tall stacks, in which most moves are slides."""


def perft_rows() -> Iterator[Row]:
    """The rows of `companion bench` on Pathstone's moves; none where python-chess is not installed."""
    try:
        import chess
    except ModuleNotFoundError:
        click.echo("The rows beside python-chess are left out: install the package chess for them", err=True)
        return
    positions = {
        "positions a second, Pathstone 6x6 from the start": (start(6), 3),
        "positions a second, Pathstone 6x6 crowded": (read_tps(CROWDED), 3),
    }
    rates: dict[str, list[float]] = {name: [] for name in ("peer", *positions)}
    for _ in range(_ROUNDS):
        rates["peer"].append(_rate(partial(_chess_leaves, chess.Board(), _CHESS_DEPTH)))
        for name, (state, depth) in positions.items():
            rates[name].append(_rate(partial(count_leaves, state, depth)))
    peer = statistics.median(rates["peer"])
    for name in positions:
        ours = statistics.median(rates[name])
        yield Row(f"{name}, beside python-chess from its start", round(ours), round(peer), "1/s")


def _chess_leaves(board: "chess.Board", depth: int) -> int:
    if depth == 0:
        return 1
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += _chess_leaves(board, depth - 1)
        board.pop()
    return leaves


def _rate(count: Callable[[], int]) -> float:
    begin = time.process_time()
    leaves = count()
    return leaves / (time.process_time() - begin)
