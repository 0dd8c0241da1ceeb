"""A game as it was seen: what is certain of it, which lines are open, and the rulings that a look or a person brings.

What all likely lines agree on is accepted. Where they differ the move is undecided, the lines stay alive, and a later
look or a person settles it. Where no line is left, the board before a move is a take-back, and anything else is refused
with the squares to restore.

A line that adds a move which the look cannot tell from no move (a piece slid onto one of its colour) stays alive behind
the others: it counts only once a later look has no other explanation.
"""

from dataclasses import dataclass, replace

from companion.games.pathstone.lines import CLEAR, Line, Scale, explaining, explaining_more, scale_of
from companion.games.pathstone.looks import Look
from companion.games.pathstone.moves import accepted_move, game_over, judge
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.pieces import Move, Result, Slide, square_name
from companion.games.pathstone.state import State, play, plays
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, TakenBack, Undecided
from companion.terms import Cell

_MOST_LINES = 1000
"""So many lines are followed within a second. Where there were more, nothing is refused or settled without asking."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A game as it was seen: the certain states, oldest first, and the lines from the last of them, likeliest first.

    `told` has for each move of the lines what was ruled on it: the move, or the candidates; `asked` are the first of
    several moves that only together explain a look. `restore` are the squares
    of the last refusal, until they are restored, and `refused` counts the refusals till then. `forgotten` says that
    there were too many lines to follow them all.
    """

    past: tuple[State, ...]
    lines: tuple[Line, ...]
    told: tuple[tuple[str, ...], ...] = ()
    asked: tuple[str, ...] = ()
    restore: tuple[Cell, ...] = ()
    refused: int = 0
    over: bool = False
    forgotten: bool = False

    @property
    def state(self) -> State:
        """The last certain state."""
        return self.past[-1]

    @property
    def questions(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """What a person is asked, the oldest first: the number of a move and its candidates."""
        first = self.state.ply + 1
        open_moves = [(first + n, candidates) for n, candidates in enumerate(self.told) if len(candidates) > 1]
        return (*open_moves, (first + len(self.told), self.asked)) if self.asked else tuple(open_moves)

    @property
    def candidates(self) -> tuple[State, ...]:
        """The states that the board can be in, likeliest first; one alone is known, though its history may be open."""
        return tuple(dict.fromkeys(line.state for line in self.lines if line.against < CLEAR))


Judged = tuple[Belief, tuple[Ruling, ...]]


def believe(*past: State) -> Belief:
    """What is believed where the state is certain; states before it, oldest first, allow take-backs."""
    return Belief(past, (Line((), past[-1]),), over=past[-1].result is not None)


def judge_look(belief: Belief, look: Look) -> Judged:
    """What follows from a look: the belief after it and the rulings; none where nothing happened."""
    scale = scale_of(look)
    lines = explaining(belief.lines, scale)
    if lines:
        return (belief, ()) if _asked_already(belief, lines) else _ruled(belief, lines)
    for back in _before(belief):
        if scale.against(back[-1].squares) is not None:
            return believe(*back), (_taken_back(back[-1]),)
    if belief.over:
        return belief, ()
    cells = scale.contradicted(belief.lines[0].state)
    if cells == belief.restore:
        return belief, ()
    lines = explaining_more(belief.lines, scale, belief.refused)
    if lines:
        return _asked(belief, lines, cells)
    refused = _too_much_open(belief, cells) if belief.forgotten else _refused(belief.lines[0].state, cells, scale)
    return replace(belief, restore=cells, refused=belief.refused + 1), (refused,)


def tell(belief: Belief, given: Move | Result) -> Judged:
    """What follows from a move that a person plays on the page, or from a resignation or an agreed draw."""
    if belief.questions:
        return answer(belief, str(given) if isinstance(given, Result) else write_move(given))
    state, rulings = judge(belief.state, given)
    return (belief if state == belief.state else believe(*belief.past, state)), rulings


def take_back(belief: Belief) -> Judged:
    """What follows where a person takes back the last move, or the one that is open."""
    past = belief.past if belief.questions else belief.past[:-1]
    if not past:
        return belief, (Refused(CORRECTION, "there is no move to take back"),)
    return believe(*past), (_taken_back(past[-1]),)


def _taken_back(state: State) -> Accepted:
    n = state.ply + 1
    return Accepted(CORRECTION, f"move {n} is taken back: {state.to_move.label} is to move", TakenBack(n))


def _asked(belief: Belief, lines: list[Line], cells: tuple[Cell, ...]) -> Judged:
    """What is asked where only several moves explain a look: it may be misread. The next move settles it too."""
    n = len(belief.told)
    asked = tuple(dict.fromkeys(write_move(line.moves[n]) for line in lines if line.against < CLEAR))
    why = "more than one move was made, or a square is misread: say which was the first"
    kept = (*belief.lines, *(replace(line, against=line.against + CLEAR) for line in lines))
    after = replace(belief, lines=kept[:_MOST_LINES], asked=asked, restore=cells, refused=belief.refused + 1)
    return after, (Undecided("Move", why, asked, belief.state.ply + n + 1, cells=cells),)


def _asked_already(belief: Belief, lines: list[Line]) -> bool:
    """Whether a look shows no more than the look that was asked about."""
    likely = {line.moves for line in lines if line.against < lines[0].against + CLEAR}
    return bool(belief.asked) and likely <= {line.moves for line in belief.lines if len(line.moves) > len(belief.told)}


def answer(belief: Belief, ptn: str) -> Judged:
    """What follows from a person's answer to the oldest question that has this candidate."""
    for number, candidates in belief.questions:
        if ptn not in candidates:
            continue
        n = number - belief.state.ply - 1
        lines = [line for line in belief.lines if len(line.moves) > n and write_move(line.moves[n]) == ptn]
        if not lines:
            return belief, (Refused(CORRECTION, f"{ptn} does not fit what was seen since"),)
        told = (*belief.told[:n], (ptn,), *belief.told[n + 1 :])
        after, rulings = _ruled(replace(belief, told=told), lines)
        return after, (_on_move(belief.state, lines, n, (ptn,)), *rulings)
    asked = [f"move {number}: {', '.join(candidates)}" for number, candidates in belief.questions]
    why = f"first say which it was, {asked[0]}" if asked else "there is nothing to answer"
    return belief, (Refused(CORRECTION, why),)


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
    n, candidates = belief.questions[0]
    why = "too much is open to tell: say first which move this was"
    return Undecided("Move", why, candidates, n, cells=cells)


def _refused(state: State, cells: tuple[Cell, ...], scale: Scale) -> Refused:
    other = replace(state, ply=state.ply + 1)
    if any(scale.against(after.squares) is not None for _, after in plays(other)):
        why = f"it is {state.to_move.label}'s turn, not {other.to_move.label}'s"
    else:
        why = "no legal move leads here"
    stacks = ((square_name(cell), state.stack_at(cell)) for cell in cells)
    restore = ", ".join(f"{name} ({stack[-1].label if stack else 'empty'})" for name, stack in stacks)
    return Refused("Move", f"{why}: put back {restore}", cells=cells)
