"""The speed of MageStone's rules: goes of random play a second, beside python-chess's random plies in the same run.

Both are plain Python, draw every choice from the whole legal list, and look whether the game is over after each. The
process's own time is taken, so that a busy computer slows neither.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from companion.bench import Row
from companion.games.magestone import (
    Attack,
    Bolt,
    Choice,
    End,
    State,
    dice_for,
    legal_choices,
    play,
    start,
    throw,
    winner,
)

if TYPE_CHECKING:
    import chess

_ROUNDS = 5
_GOES = 3_000
_CAP = 300
"""Goes or plies after which a game is given up."""


def goes_rows() -> Iterator[Row]:
    """The rows of `companion bench` on MageStone; none where python-chess is not installed."""
    try:
        import chess
    except ModuleNotFoundError:
        click.echo("The rows beside python-chess's random play are left out: install the package chess", err=True)
        return
    rates: dict[int, list[float]] = {2: [], 4: []}
    peers = []
    for seed in range(_ROUNDS):
        peers.append(_rate(partial(_random_plies, chess.Board, random.Random(seed))))
        for players, rate in rates.items():
            rate.append(_rate(partial(random_goes, players, random.Random(seed))))
    peer = statistics.median(peers)
    for players, rate in rates.items():
        name = f"goes of random play a second, MageStone with {players} players, beside python-chess's random plies"
        yield Row(name, round(statistics.median(rate)), round(peer), "1/s")


def random_goes(players: int, chance: random.Random, goes: int = _GOES) -> int:
    """Plays random games, one after the other, until they have so many goes, and counts them."""
    played = 0
    while played < goes:
        state, cap = start(players), played + _CAP
        while state.result is None and played < cap:
            choice = thrown(state, chance.choice(legal_choices(state)), chance)
            state = play(state, choice)
            played += isinstance(choice, End)
    return played


def thrown(state: State, choice: Choice, chance: random.Random) -> Choice:
    """The choice with the dice that it calls for, thrown until they decide."""
    if not isinstance(choice, (Attack, Bolt)):
        return choice
    dice = dice_for(state, choice)
    if dice is None:
        return choice
    rolls = [throw(dice, partial(chance.randint, 1))]
    while winner(rolls[-1]) is None:
        rolls.append(throw(dice, partial(chance.randint, 1)))
    return replace(choice, rolls=tuple(rolls))


def _random_plies(board_type: "Callable[[], chess.Board]", chance: random.Random) -> int:
    played = 0
    while played < _GOES:
        board, cap = board_type(), played + _CAP
        while not board.is_game_over() and played < cap:
            board.push(chance.choice(list(board.legal_moves)))
            played += 1
    return played


def _rate(count: Callable[[], int]) -> float:
    begin = time.process_time()
    played = count()
    return played / (time.process_time() - begin)
