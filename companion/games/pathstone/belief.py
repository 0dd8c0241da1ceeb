"""A game as it was seen: what is certain of it, which lines are open, and the rulings that a look or a person brings.

What all likely lines agree on is accepted. Where they differ the move is undecided, the lines stay alive, and a later
look or a person settles it. Where no line is left, the board before a move is a take-back, and anything else is refused
with the squares to restore.

A line that adds a move which the look cannot tell from no move (a piece slid onto one of its colour) stays alive behind
the others: it counts only once a later look has no other explanation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from companion.games.pathstone.lines import CLEAR, Line, Scale, explaining, explaining_by_two, misread, scale_of
from companion.games.pathstone.looks import Look
from companion.games.pathstone.moves import accepted_move, game_over, judge
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.pieces import Move, Result, Slide, square_name
from companion.games.pathstone.state import State, move_between, play, plays
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, TakenBack, Undecided
from companion.terms import Cell

_MOST_LINES = 1000
"""So many lines are followed within a second. Where there were more, nothing is refused or settled without asking."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A game as it was seen: the certain states, oldest first, and the lines from the last of them, likeliest first.

    `told` has for each move of the lines what was ruled on it: the move, or the candidates; `asked` are the first of
    two moves that only together explain a look. `unexplained` are the squares of the last look that nothing explained,
    with the tops seen there. `forgotten` says that there were too many lines to follow them all.
    """

    past: tuple[State, ...]
    lines: tuple[Line, ...]
    told: tuple[tuple[str, ...], ...] = ()
    asked: tuple[str, ...] = ()
    unexplained: tuple[tuple[Cell, int], ...] = ()
    over: bool = False
    forgotten: bool = False

    @property
    def state(self) -> State:
        """The last certain state."""
        return self.past[-1]

    @property
    def restore(self) -> tuple[Cell, ...]:
        """The squares to restore, or that the question is about, after a look that nothing explained."""
        return tuple(cell for cell, _ in self.unexplained)

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
    unexplained = _unexplained(belief.lines[0].state, scale)
    if unexplained and unexplained == belief.unexplained:
        return belief, ()
    lines = explaining(belief.lines, scale)
    if lines:
        return _ruled(belief, lines)
    for back in _before(belief):
        if scale.against(back[-1].squares) is not None:
            return believe(*back), (_taken_back(back[-1]),)
    if belief.over:
        return belief, ()
    return _ask_or_refuse(replace(belief, asked=(), unexplained=unexplained), scale)


def _unexplained(state: State, scale: Scale) -> tuple[tuple[Cell, int], ...]:
    """The squares that are clearly seen otherwise than in a state, each with the top that is seen."""
    return tuple((cell, scale.likeliest(state.index(cell))) for cell in scale.contradicted(state))


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


def _ask_or_refuse(belief: Belief, scale: Scale) -> Judged:
    """What follows from a look that nothing explains. Lines that it contradicts in part stay, in case it is misread."""
    sure = [line for line in belief.lines if line.against < CLEAR]
    known = {line.moves for line in sure}
    nearly = [line for line in misread(belief.lines, scale) if line.moves not in known]
    two = explaining_by_two(belief.lines, scale)
    belief = replace(belief, lines=(*sure, *_behind(two, CLEAR), *_behind(nearly, 2 * CLEAR)))
    if two:
        n = len(belief.told)
        likely = (line for line in two if line.against < two[0].against + CLEAR)
        asked = tuple(dict.fromkeys(write_move(line.moves[n]) for line in likely))
        why = "more than one move was made, or a square is misread: say which was the first"
        question = Undecided("Move", why, asked, belief.state.ply + n + 1, cells=belief.restore)
        return replace(belief, asked=asked), (question,)
    reopened = _reopened(_rewound(belief), scale)
    if reopened is not None:
        return reopened
    if belief.forgotten:
        return belief, (_too_much_open(belief),)
    return belief, (_refused(belief.lines[0].state, belief.restore, scale),)


def _rewound(belief: Belief) -> Belief:
    """The same belief with its last move among the moves of the lines, where it has one."""
    if belief.told or len(belief.past) == 1:
        return belief
    before, last = belief.past[-2:]
    was = move_between(before, last)
    lines = tuple(replace(line, moves=(was, *line.moves)) for line in belief.lines)
    return replace(belief, past=belief.past[:-1], lines=lines, told=((write_move(was),),))


def _reopened(belief: Belief, scale: Scale) -> Judged | None:
    """What is asked where the last move has to be another one to explain a look: shifted since, or misread then."""
    n = len(belief.told) - 1
    if n < 0:
        return None
    before = dict.fromkeys(line.moves[:n] for line in belief.lines if line.against < CLEAR)
    roots = [Line(moves, _state_after(belief.state, moves)) for moves in before]
    others = explaining(roots, scale) or explaining_by_two(roots, scale)
    ptn = dict.fromkeys(write_move(line.moves[n]) for line in others if len(line.moves) > n and line.against < CLEAR)
    if not ptn:
        return None
    candidates = (*belief.told[n], *ptn)
    why = f"move {belief.state.ply + n + 1} was taken for {belief.told[n][0]}, and looks like another one now"
    lines = sorted([*belief.lines, *_behind(others, CLEAR)], key=lambda line: line.against)
    after = replace(belief, lines=tuple(lines), told=(*belief.told[:n], candidates))
    return after, (Undecided("Move", why, candidates, belief.state.ply + n + 1, cells=belief.restore),)


def _state_after(state: State, moves: Iterable[Move]) -> State:
    for move in moves:
        state = play(state, move)
    return state


def _behind(lines: list[Line], against: float) -> Iterator[Line]:
    """Lines that count only once nothing likelier explains what is seen."""
    return (replace(line, against=against) for line in lines)


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
        after, rulings = _ruled(replace(belief, told=told, unexplained=()), lines)
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
    if belief.unexplained and not rulings:
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
    state = _state_after(state, rivals[0].moves[:n])
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


def _too_much_open(belief: Belief) -> Undecided:
    """What is asked where there were too many lines to follow: the oldest open move."""
    n, candidates = belief.questions[0]
    why = "too much is open to tell: say first which move this was"
    return Undecided("Move", why, candidates, n, cells=belief.restore)


def _refused(state: State, cells: tuple[Cell, ...], scale: Scale) -> Refused:
    other = replace(state, ply=state.ply + 1)
    if any(scale.against(after.squares) is not None for _, after in plays(other)):
        why = f"it is {state.to_move.label}'s turn, not {other.to_move.label}'s"
    else:
        why = "no legal move leads here"
    stacks = ((square_name(cell), state.stack_at(cell)) for cell in cells)
    restore = ", ".join(f"{name} ({stack[-1].label if stack else 'empty'})" for name, stack in stacks)
    return Refused("Move", f"{why}: put back {restore}", cells=cells)
