"""Which ways the game can have gone on, for one look: every legal move predicts a board, and its likelihood is weighed.

A *line* is one way the game can have gone on since it was last certain. A look lets each line stand, or adds one move
to it. Only where that explains nothing, two moves are tried that changed different squares, as when an answer comes
before the board was seen at rest. Where looks were refused and the players played on, those looks may have been
misread: then each of them can have hidden a move.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from companion.games.pathstone.looks import Look, height, top_index
from companion.games.pathstone.pieces import Move
from companion.games.pathstone.position import Successor
from companion.games.pathstone.state import State, move_from_key, successors_of
from companion.terms import Cell

CLEAR = math.log(100)
"""Odds of 100 to 1: what a square needs to contradict a line, and the best line to be taken without asking."""

_ALIVE = 2 * CLEAR
"""A line this much less likely than the best is forgotten."""

_MOST_MISSED = 2
"""So many moves are sought before the one that a look shows: with more, hardly any board would be refused."""


@dataclass(frozen=True, slots=True)
class Line:
    """Moves that can have been played since the last certain state, the state after them, and what speaks against."""

    moves: tuple[Move, ...]
    state: State
    against: float = 0.0


@dataclass(frozen=True, slots=True)
class Scale:
    """A look as weights: how much each top, and each height, of a square is less likely than the likeliest one."""

    tops: tuple[tuple[float, ...], ...]
    heights: tuple[tuple[float, ...], ...]

    def square(self, n: int, square: int) -> float:
        """How much speaks against a square's integer."""
        heights = self.heights[n]
        of_height = heights[min(height(square), len(heights) - 1)] if heights else 0.0
        return self.tops[n][top_index(square)] + of_height

    def against(self, squares: Sequence[int]) -> float | None:
        """How much speaks against a board; None where one of its squares is clearly contradicted."""
        weights = [self.square(n, square) for n, square in enumerate(squares)]
        return None if max(weights) >= CLEAR else sum(weights)

    def contradicted(self, state: State) -> tuple[Cell, ...]:
        """The squares that are clearly seen otherwise than in a state."""
        return tuple(cell for cell in state.cells if self.square(n := state.index(cell), state.squares[n]) >= CLEAR)


def scale_of(look: Look) -> Scale:
    """A look as weights."""
    tops, heights = (
        tuple(tuple(max(square) - likely for likely in square) for square in squares)
        for squares in (look.tops, look.heights)
    )
    return Scale(tops, heights or ((),) * len(tops))


def explaining(lines: Sequence[Line], scale: Scale) -> list[Line]:
    """The lines that the look allows as they stand or with one move more, likeliest first."""
    return _search(lines, scale, _with_one)


def explaining_more(lines: Sequence[Line], scale: Scale, refused: int) -> list[Line]:
    """The lines that the look allows with several moves more, where `refused` looks came before it in vain."""
    found = _search(lines, scale, _with_two)
    for most in range(2, 2 + min(refused, _MOST_MISSED)):
        found = found or _search(lines, scale, partial(_played_on, most=most))
    return found


def _search(lines: Sequence[Line], scale: Scale, continued: Callable[[Line, Scale], Iterator[Line]]) -> list[Line]:
    """The lines continued, likeliest first, without those that are too unlikely to matter."""
    found: list[Line] = []
    best = math.inf
    for line in lines:
        if line.against >= best + _ALIVE:
            break
        found += continued(line, scale)
        best = min((line.against for line in found), default=math.inf)
    found.sort(key=lambda line: line.against)
    return [line for line in found if line.against < best + _ALIVE]


def _with_one(line: Line, scale: Scale) -> Iterator[Line]:
    """A line as it stands, and with one move more, where the look allows that."""
    stays = scale.against(line.state.squares)
    if stays is not None:
        yield replace(line, against=line.against + stays)
    changed = _changed(line.state, scale)
    for successor in _successors(line.state) if len(changed) <= line.state.size else ():
        squares = successor[1]
        if any(squares[n] == line.state.squares[n] for n in changed):
            continue
        weight = scale.against(squares)
        if weight is not None:
            # What cannot be told from no move is supposed only where nothing else explains a later look.
            unseen = CLEAR if stays is not None and stays - weight < CLEAR else 0.0
            yield _after(line, successor, weight + unseen)


def _with_two(line: Line, scale: Scale) -> Iterator[Line]:
    """A line with two moves more, each seen on squares of its own and nowhere else."""
    changed = _changed(line.state, scale)
    for successor in _successors(line.state) if len(changed) > 1 else ():
        touched = _touched(line.state, successor)
        if not touched < changed or any(scale.square(n, successor[1][n]) >= CLEAR for n in touched):
            continue
        between = _after(line, successor)
        for answer in _successors(between.state):
            weight = scale.against(answer[1])
            if weight is not None and _touched(between.state, answer) == changed - touched:
                yield _after(between, answer, weight)


def _played_on(line: Line, scale: Scale, most: int) -> Iterator[Line]:
    """A line with up to so many moves more, each of which changes a square that is seen otherwise."""
    changed = _changed(line.state, scale)
    for successor in _successors(line.state):
        if changed.isdisjoint(_touched(line.state, successor)):
            continue
        weight = scale.against(successor[1])
        if weight is not None:
            yield _after(line, successor, weight)
        elif most > 1:
            yield from _played_on(_after(line, successor), scale, most - 1)


def _changed(state: State, scale: Scale) -> set[int]:
    return set(map(state.index, scale.contradicted(state)))


def _touched(state: State, successor: Successor) -> set[int]:
    return {n for n, square in enumerate(successor[1]) if square != state.squares[n]}


def _successors(state: State) -> list[Successor]:
    return successors_of(state) if state.result is None else []


def _after(line: Line, successor: Successor, weight: float = 0.0) -> Line:
    key, squares, reserves = successor
    state = State(line.state.size, tuple(squares), reserves, line.state.ply + 1)
    return Line((*line.moves, move_from_key(state.size, key)), state, line.against + weight)
