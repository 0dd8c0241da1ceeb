"""What is seen of the board: for every square, how likely each top is, and where the view allows it each height.

Numbers are natural logarithms of likelihoods; only differences within a square count. A square that cannot be seen has
the same number for every top.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.games.pathstone.position import EMPTY
from companion.games.pathstone.state import State
from companion.inputs import InputError
from companion.terms import Cell

TOPS = ".wbWBKL"
"""The tops in the order of their likelihoods, as `companion observe` prints them: empty, flats, walls, Crowns."""

UNSEEN_TOP = (0.0,) * len(TOPS)


@dataclass(frozen=True, slots=True)
class Look:
    """The board at rest, squares a1, b1 ...: `tops` by the order of TOPS, `heights` by the number of pieces from 0.

    A square's heights are empty where nothing is known; a height past the end is as likely as the last.
    """

    tops: tuple[tuple[float, ...], ...]
    heights: tuple[tuple[float, ...], ...] = ()


def look_from_tops(
    cells: Sequence[str], heights: Sequence[Sequence[int | None]] | None = None, confidence: float = 0.999
) -> Look:
    """What `companion observe` prints as a look: a sign a square, rank 1 first, ? where not seen, and known heights."""
    sure = math.log(confidence)

    def row(index: int, length: int) -> tuple[float, ...]:
        other = math.log((1 - confidence) / (length - 1))
        return tuple(sure if n == index else other for n in range(length))

    tops = (UNSEEN_TOP if sign == "?" else row(TOPS.index(sign), len(TOPS)) for rank in cells for sign in rank)
    known = (() if n is None else row(n, n + 2) for rank in heights or () for n in rank)
    return Look(tuple(tops), tuple(known))


def with_sensors(look: Look, occupied: Sequence[bool | None], reliability: float = 0.999) -> Look:
    """The look with what sensors tell of each square: something there, nothing, or None for no sensor."""
    right, wrong = math.log(reliability), math.log(1 - reliability)

    def told(tops: tuple[float, ...], bit: bool | None) -> tuple[float, ...]:
        if bit is None:
            return tops
        return tuple(seen + (right if (n > 0) is bit else wrong) for n, seen in enumerate(tops))

    return replace(look, tops=tuple(map(told, look.tops, occupied)))


def look_to_json(look: Look) -> dict[str, Any]:
    """A look as a JSON object."""
    return {"tops": [list(square) for square in look.tops], "heights": [list(square) for square in look.heights]}


def look_from_json(data: Mapping[str, Any]) -> Look:
    """The look that `look_to_json` wrote. Raises InputError."""
    try:
        tops, heights = (tuple(tuple(map(_finite, square)) for square in data[key]) for key in ("tops", "heights"))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a look: {error}") from error
    if any(len(square) != len(TOPS) for square in tops) or len(heights) not in (0, len(tops)):
        raise InputError(f"not a look: each square has {len(TOPS)} tops, and all squares have heights or none")
    return Look(tops, heights)


def _finite(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise ValueError(f"{number} is no likelihood")
    return float(number)


def tops_of(state: State) -> tuple[str, ...]:
    """The tops of a state, a string a rank from rank 1 on."""
    signs = "".join(TOPS[top_index(square)] for square in state.squares)
    return tuple(signs[n : n + state.size] for n in range(0, len(signs), state.size))


def top_index(square: int) -> int:
    """Which of TOPS is on top of a square's integer."""
    return 0 if square == EMPTY else 1 + 2 * (square & 3) + (square >> 2 & 1)


def height(square: int) -> int:
    """How many pieces a square's integer stands for."""
    return square.bit_length() - 3


def stack_of(square: int) -> tuple[int, ...]:
    """The pieces that a square's integer stands for, the lowest first, by their index in TOPS."""
    if square == EMPTY:
        return ()
    below = (1 + (square >> 2 + n & 1) for n in range(height(square) - 1, 0, -1))
    return (*below, top_index(square))


@dataclass(frozen=True, slots=True)
class Contested:
    """A square on which candidates differ, and the heights that they predict there."""

    cell: Cell
    heights: tuple[int, ...]


def contested(states: Sequence[State]) -> tuple[Contested, ...]:
    """The squares whose height tells such states apart: what to measure next."""
    found = []
    for cell in states[0].cells if states else ():
        heights = {height(state.squares[state.index(cell)]) for state in states}
        if len(heights) > 1:
            found.append(Contested(cell, tuple(sorted(heights))))
    return tuple(found)
