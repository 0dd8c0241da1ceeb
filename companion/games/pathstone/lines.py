"""Which ways the game can have gone on, for one look: every legal move predicts a board, and its likelihood is weighed.

A *line* is one way the game can have gone on since it was last certain. A look lets each line stand, or adds one move
to it. Where that explains nothing, two moves are tried that changed different squares, as when an answer comes before
the board was seen at rest; and the lines that only a misread square or two contradict are found, for the looks to come.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from companion.games.pathstone.looks import Look, height, top_index
from companion.games.pathstone.pieces import Move
from companion.games.pathstone.position import Successor
from companion.games.pathstone.state import State, move_from_key, successors_of
from companion.terms import Cell

CLEAR = math.log(100)
"""Odds of 100 to 1: what a square needs to contradict a line, and the best line to be taken without asking."""

_ALIVE = 3 * CLEAR
"""A line this much less likely than the best is forgotten."""

_MOST_MISREAD = 2
"""Where nothing explains a look, so many of its squares can be misread, and so many looks on end."""

_MOST_TRIED = 20
"""Where nothing explains a look, more is sought from so many of the likeliest lines: from all it took too long."""


@dataclass(frozen=True, slots=True)
class Line:
    """Moves that can have been played since the last certain state, the state after them, and what speaks against.

    `misread` counts the looks before the next that it explains which have to be misread for it.
    """

    moves: tuple[Move, ...]
    state: State
    against: float = 0.0
    misread: int = 0


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

    def likeliest(self, n: int) -> int:
        """Which of the tops is the likeliest on a square."""
        return self.tops[n].index(min(self.tops[n]))


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


def explaining_by_two(lines: Sequence[Line], scale: Scale) -> list[Line]:
    """The lines that the look allows with two moves more that changed different squares."""
    return _search(lines[:_MOST_TRIED], scale, _with_two)


def misread(lines: Sequence[Line], scale: Scale) -> list[Line]:
    """The lines that the look would allow, as they stand or with one move more, were a square or two not misread."""
    return _search(lines[:_MOST_TRIED], scale, _nearly)


def _search(lines: Sequence[Line], scale: Scale, continued: Callable[[Line, Scale], Iterable[Line]]) -> list[Line]:
    """The lines continued, likeliest first, without those that are too unlikely to matter."""
    found: list[Line] = []
    best = math.inf
    for line in lines:
        if line.against >= best + _ALIVE:
            break
        found += continued(line, scale)
        best = min((line.against for line in found), default=math.inf)
    likeliest: dict[tuple[Move, ...], Line] = {}
    for line in sorted(found, key=lambda line: line.against):
        if line.against < best + _ALIVE:
            likeliest.setdefault(line.moves, line)
    return list(likeliest.values())


def _with_one(line: Line, scale: Scale) -> Iterator[Line]:
    """A line as it stands, and with one move more, where the look allows that."""
    stays = scale.against(line.state.squares)
    if stays is not None:
        yield replace(line, against=line.against + stays, misread=0)
    changed = _changed(line.state, scale)
    for successor in _successors(line.state) if len(changed) <= line.state.size else ():
        squares = successor[1]
        if any(squares[n] == line.state.squares[n] for n in changed):
            continue
        weight = scale.against(squares)
        if weight is not None:
            # What cannot be told from no move is supposed only where nothing else explains a later look, and once.
            unseen = 2 * CLEAR if stays is not None and stays - weight < CLEAR else 0.0
            yield _after(line, successor, weight + unseen)


def _with_two(line: Line, scale: Scale) -> list[Line]:
    """A line with two moves more, where two moves can be that are seen on squares of their own and nowhere else.

    Then moves that look the same are found with them: a piece that was placed can also have been slid there.
    """
    changed = _changed(line.state, scale)
    found: list[Line] = []
    apart = False
    for successor in _successors(line.state) if len(changed) > 1 else ():
        touched = _touched(line.state, successor)
        seen = touched & changed
        if not seen or seen == changed or any(scale.square(n, successor[1][n]) >= CLEAR for n in touched):
            continue
        between = _after(line, successor)
        for answer in _successors(between.state):
            weight = scale.against(answer[1])
            if weight is not None:
                found.append(_after(between, answer, weight))
                apart = apart or (touched == seen and _touched(between.state, answer) == changed - seen)
    return found if apart else []


def _nearly(line: Line, scale: Scale) -> Iterator[Line]:
    if line.misread == _MOST_MISREAD:
        return
    changed = _changed(line.state, scale)
    if len(changed) <= _MOST_MISREAD:
        yield replace(line, misread=line.misread + 1)
    for successor in _successors(line.state) if len(changed) <= line.state.size + _MOST_MISREAD else ():
        touched = sum(successor[1][n] != line.state.squares[n] for n in changed)
        if touched and len(changed) - touched <= _MOST_MISREAD:
            wrong = sum(scale.square(n, square) >= CLEAR for n, square in enumerate(successor[1]))
            if wrong < len(changed) and wrong <= _MOST_MISREAD:
                yield replace(_after(line, successor), misread=line.misread + 1)


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
