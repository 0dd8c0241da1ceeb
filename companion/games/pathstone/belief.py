"""Which moves the looks can mean: every legal move predicts a board, and the likelihood of what is seen picks the move.

A *line* is one way the game can have gone on since it was last certain. A look lets each line stand or adds one move to
it; lines that a square clearly contradicts are dropped. What all likely lines agree on is accepted. Where they differ
the move is undecided, the lines stay alive, and a later look or a person settles it. Where no line is left, the board
before a move is a take-back, and anything else is refused with the squares to restore.

A line that adds a move which the look cannot tell from no move (a piece slid onto one of its colour) stays alive behind
the others: it counts only once a later look has no other explanation.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from companion.games.pathstone.looks import Look, height, top_index
from companion.games.pathstone.moves import accepted_move, game_over, judge
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.pieces import Move, Result, Slide, square_name
from companion.games.pathstone.state import State, move_from_key, play, plays, successors_of
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, TakenBack, Undecided
from companion.terms import Cell

CLEAR = math.log(100)
"""Odds of 100 to 1: what a square needs to contradict a line, and the best line to be taken without asking."""

_ALIVE = 2 * CLEAR
"""A line this much less likely than the best is forgotten."""

_MOST_LINES = 1000
"""So many lines are followed within a second. Where there were more, nothing is refused or settled without asking."""


@dataclass(frozen=True, slots=True)
class Line:
    """Moves that can have been played since the last certain state, the state after them, and what speaks against."""

    moves: tuple[Move, ...]
    state: State
    against: float = 0.0


@dataclass(frozen=True, slots=True)
class Belief:
    """A game as it was seen: the certain states, oldest first, and the lines from the last of them, likeliest first.

    `told` has for each move of the lines what was ruled on it: the move, or the candidates. `restore` are the squares
    of the last refusal, until they are restored. `forgotten` says that there were too many lines to follow them all.
    """

    past: tuple[State, ...]
    lines: tuple[Line, ...]
    told: tuple[tuple[str, ...], ...] = ()
    restore: tuple[Cell, ...] = ()
    over: bool = False
    forgotten: bool = False

    @property
    def state(self) -> State:
        """The last certain state."""
        return self.past[-1]

    @property
    def candidates(self) -> tuple[State, ...]:
        """The states that the board can be in, likeliest first."""
        return tuple(line.state for line in self.lines if line.against < CLEAR)


Judged = tuple[Belief, tuple[Ruling, ...]]


def believe(*past: State) -> Belief:
    """What is believed where the state is certain; states before it, oldest first, allow take-backs."""
    return Belief(past, (Line((), past[-1]),), over=past[-1].result is not None)


def judge_look(belief: Belief, look: Look) -> Judged:
    """What follows from a look: the belief after it and the rulings; none where nothing happened."""
    scale = _Scale.of(look)
    lines = _explained(belief, scale)
    if lines:
        return _ruled(belief, lines)
    for back in _before(belief):
        if scale.against(back[-1].squares) is not None:
            return believe(*back), (_taken_back(back[-1]),)
    if belief.over:
        return belief, ()
    cells = scale.contradicted(belief.lines[0].state)
    if cells == belief.restore:
        return belief, ()
    refused = _too_much_open(belief, cells) if belief.forgotten else _refused(belief.lines[0].state, cells, scale)
    return replace(belief, restore=cells), (refused,)


def tell(belief: Belief, given: Move | Result) -> Judged:
    """What follows from a move that a person plays on the page, or from a resignation or an agreed draw."""
    if belief.told:
        return answer(belief, str(given) if isinstance(given, Result) else write_move(given))
    state, rulings = judge(belief.state, given)
    return (belief if state == belief.state else believe(*belief.past, state)), rulings


def take_back(belief: Belief) -> Judged:
    """What follows where a person takes back the last move, or the one that is open."""
    past = belief.past if belief.told else belief.past[:-1]
    if not past:
        return belief, (Refused(CORRECTION, "there is no move to take back"),)
    return believe(*past), (_taken_back(past[-1]),)


def _taken_back(state: State) -> Accepted:
    n = state.ply + 1
    return Accepted(CORRECTION, f"move {n} is taken back: {state.to_move.label} is to move", TakenBack(n))


def answer(belief: Belief, ptn: str) -> Judged:
    """What follows from a person's answer to the oldest question that has this candidate."""
    for n, candidates in enumerate(belief.told):
        if len(candidates) > 1 and ptn in candidates:
            lines = [line for line in belief.lines if write_move(line.moves[n]) == ptn]
            told = (*belief.told[:n], (ptn,), *belief.told[n + 1 :])
            after, rulings = _ruled(replace(belief, told=told), lines)
            return after, (_on_move(belief.state, lines, n, (ptn,)), *rulings)
    asked = [", ".join(candidates) for candidates in belief.told if len(candidates) > 1]
    why = f"first answer which move it was: {asked[0]}" if asked else "there is nothing to answer"
    return belief, (Refused(CORRECTION, why),)


@dataclass(frozen=True, slots=True)
class _Scale:
    """A look as weights: how much each top, and each height, of a square is less likely than the likeliest one."""

    tops: tuple[tuple[float, ...], ...]
    heights: tuple[tuple[float, ...], ...]

    @staticmethod
    def of(look: Look) -> "_Scale":
        tops, heights = (
            tuple(tuple(max(square) - likely for likely in square) for square in squares)
            for squares in (look.tops, look.heights)
        )
        return _Scale(tops, heights or ((),) * len(tops))

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


def _explained(belief: Belief, scale: _Scale) -> list[Line]:
    """The lines that the look allows, likeliest first, and as much less likely as they are against the best."""
    found: list[Line] = []
    best = math.inf
    for line in belief.lines:
        if line.against >= best + _ALIVE:
            break
        found += _continued(line, scale)
        best = min((line.against for line in found), default=math.inf)
    found.sort(key=lambda line: line.against)
    return [line for line in found if line.against < best + _ALIVE]


def _continued(line: Line, scale: _Scale) -> Iterator[Line]:
    """A line as it stands, and with one move more, where the look allows that."""
    state = line.state
    stays = scale.against(state.squares)
    if stays is not None:
        yield replace(line, against=line.against + stays)
    changed = set(map(state.index, scale.contradicted(state)))
    if state.result is not None or len(changed) > state.size:
        return
    for key, squares, reserves in successors_of(state):
        if any(squares[n] == state.squares[n] for n in changed):
            continue
        weight = scale.against(squares)
        if weight is not None:
            # What cannot be told from no move is supposed only where nothing else explains a later look.
            unseen = CLEAR if stays is not None and stays - weight < CLEAR else 0.0
            after = State(state.size, tuple(squares), reserves, state.ply + 1)
            moves = (*line.moves, move_from_key(state.size, key))
            yield Line(moves, after, line.against + weight + unseen)


def _ruled(belief: Belief, lines: list[Line]) -> Judged:
    """The belief with such lines, and the rulings on what they newly agree or differ on."""
    best = min(line.against for line in lines)
    lines = [replace(line, against=line.against - best) for line in lines]
    rivals = [line for line in lines if line.against < CLEAR]
    told = list(belief.told)
    rulings: list[Ruling] = []
    # Lines that were forgotten can have held the truth: then what the others agree on proves nothing.
    for n in range(0 if belief.forgotten else min(len(line.moves) for line in rivals)):
        candidates = tuple(dict.fromkeys(write_move(line.moves[n]) for line in rivals))
        if n == len(told) or len(candidates) == 1 < len(told[n]) or not set(candidates) <= set(told[n]):
            rulings.append(_on_move(belief.state, rivals, n, candidates))
        told[n:] = [candidates, *told[n + 1 :]]
    results = {line.state.result for line in rivals}
    over = belief.over or (len(results) == 1 and None not in results)
    if over and not belief.over:
        rulings.append(game_over(rivals[0].state))
    if belief.restore and not rulings:
        rulings.append(Accepted(CORRECTION, "the board is as it should be again"))
    kept = [line for line in lines if _agrees(line, told)]
    past = list(belief.past)
    while told and len(told[0]) == 1:
        past.append(play(past[-1], kept[0].moves[0]))
        kept = [replace(line, moves=line.moves[1:]) for line in kept]
        del told[0]
    after = Belief(tuple(past), tuple(kept[:_MOST_LINES]), tuple(told), over=over)
    forgotten = bool(told) and (belief.forgotten or len(kept) > _MOST_LINES)
    if forgotten and not belief.forgotten:
        rulings.append(_too_much_open(after))
    return replace(after, forgotten=forgotten), tuple(rulings)


def _agrees(line: Line, told: list[tuple[str, ...]]) -> bool:
    """Whether a line has a move for each that was ruled on, and the same where that was accepted."""
    if len(line.moves) < len(told):
        return False
    pairs = zip(line.moves, told, strict=False)
    return all(len(candidates) > 1 or write_move(move) == candidates[0] for move, candidates in pairs)


def _on_move(state: State, rivals: list[Line], n: int, candidates: tuple[str, ...]) -> Ruling:
    """The ruling on move n after a state, from 0, where likely lines have such candidates."""
    for move in rivals[0].moves[:n]:
        state = play(state, move)
    if len(candidates) == 1:
        return accepted_move(state, rivals[0].moves[n])
    moves = [line.moves[n] for line in rivals]
    first = moves[0]
    drop_orders = isinstance(first, Slide) and all(
        isinstance(move, Slide) and (move.cell, move.direction) == (first.cell, first.direction) for move in moves
    )
    why = f"{len(candidates)} {'drop orders' if drop_orders else 'moves'} look alike"
    after = [line.state.squares for line in rivals]
    cells = tuple(cell for cell in state.cells if len({squares[state.index(cell)] for squares in after}) > 1)
    return Undecided("Move", why, candidates, state.ply + 1, cells=cells)


def _before(belief: Belief) -> list[tuple[State, ...]]:
    """The states that a take-back can lead to, each with those before it: back over the open move, or one or two."""
    past = belief.past
    backs = ([past] if belief.told else []) + [past[:-1], past[:-2]]
    return [back for back in backs if back]


def _too_much_open(belief: Belief, cells: tuple[Cell, ...] = ()) -> Undecided:
    """What is asked where there were too many lines to follow: the oldest open move."""
    n = next(n for n, candidates in enumerate(belief.told) if len(candidates) > 1)
    why = "too much is open to tell: say first which move this was"
    return Undecided("Move", why, belief.told[n], belief.state.ply + n + 1, cells=cells)


def _refused(state: State, cells: tuple[Cell, ...], scale: _Scale) -> Refused:
    other = replace(state, ply=state.ply + 1)
    if any(scale.against(after.squares) is not None for _, after in plays(other)):
        why = f"it is {state.to_move.label}'s turn, not {other.to_move.label}'s"
    else:
        why = "no legal move leads here"
    stacks = ((square_name(cell), state.stack_at(cell)) for cell in cells)
    restore = ", ".join(f"{name} ({stack[-1].label if stack else 'empty'})" for name, stack in stacks)
    return Refused("Move", f"{why}: put back {restore}", cells=cells)
