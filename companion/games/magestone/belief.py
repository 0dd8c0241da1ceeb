"""A game of MageStone as recorded pictures show it, where nobody can be asked: the courses that it may have taken.

What all of them agree on is told. A go on which they differ is undecided, they are all followed on, and a later look
may settle it. Courses that have come to the same state are one from there on; the goes before stay undecided then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from companion.games.magestone.board import NEXUS, Layout
from companion.games.magestone.choices import Attack, Bolt, Choice, End, Move
from companion.games.magestone.course import ALL_SQUARES, Course, Source, Step, contradicted, written
from companion.games.magestone.following import TooMuchError, doubt, explanations, may_be_underway
from companion.games.magestone.legal import legal_choices
from companion.games.magestone.looks import Look, Top
from companion.games.magestone.notation import read_go, write_go
from companion.games.magestone.orders import Order, orders
from companion.games.magestone.pieces import SEATED, Result, Seat, Unit
from companion.games.magestone.play import play
from companion.games.magestone.rulings import judge
from companion.games.magestone.state import State, start
from companion.ruling import Refused, Undecided
from companion.terms import Cell

_MOST_LINES: Final = 32
"""So many courses are followed. Where there were more nothing is certain any more."""
_MOST_WAITS: Final = 8
"""So many looks a course that they do not explain may wait for a fight's orders to be done."""


@dataclass(frozen=True, slots=True)
class Go:
    """Go n of the game, from 1, is finished."""

    n: int
    seat: Seat
    notation: str


@dataclass(frozen=True, slots=True)
class OpenGo:
    """Go n is finished, and may have been any of these."""

    n: int
    seat: Seat
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoTakenBack:
    """The board is as it was before go n was finished."""

    n: int


@dataclass(frozen=True, slots=True)
class Ordered:
    """What has to be done on the table, each order with whether it is seen done already."""

    orders: tuple[tuple[Order, bool], ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    """All that was ordered is done."""


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over."""

    result: Result


Told = Go | OpenGo | GoTakenBack | Ordered | Cleared | Over | Refused | Undecided


@dataclass(frozen=True, slots=True)
class Line:
    """One course, and for each finished go whose it was and how it may be written."""

    course: Course
    goes: tuple[tuple[Seat, tuple[str, ...]], ...] = ()
    waits: int = 0
    """So many looks have shown a fight underway that is not in it yet"""


@dataclass(frozen=True, slots=True)
class Belief:
    """The courses that the game may have taken, the likeliest first, and what was told of its goes."""

    lines: tuple[Line, ...]
    told: tuple[tuple[Seat, tuple[str, ...]], ...] = ()
    unexplained: tuple[tuple[Cell, Top | None], ...] = ()
    over: bool = False
    forgotten: bool = False
    """Whether there were more courses than can be followed"""

    @property
    def state(self) -> State:
        """How things stand in the likeliest course."""
        return self.lines[0].course.state

    @property
    def go(self) -> tuple[Seat, str]:
        """Whose go is being played, and what is done of it in the likeliest course."""
        course = self.lines[0].course
        over = not course.steps or isinstance(course.steps[-1].choice, End)
        return course.state.to_move, "" if over else write_go(_go(course.steps))


Judged = tuple[Belief, tuple[Told, ...]]


def believe(state: State) -> Belief:
    """What is believed where a game begins."""
    return Belief((Line(Course((), state)),), over=state.result is not None)


def beginning(look: Look) -> State | None:
    """The start of a game that a look shows, by its players and layout; None where it shows none."""
    for players in SEATED:
        for layout in Layout:
            state = start(players, layout)
            if not contradicted(Course((), state), look):
                return state
    return None


def judge_look(belief: Belief, look: Look, *, silent: bool = True) -> Judged:
    """What follows from a look; nothing where it shows nothing new. `silent`: nobody says what leaves no trace."""
    if belief.over:
        return belief, ()
    lines = [after for line in belief.lines for after in _after(line, look, silent)]
    if not any(line.waits == 0 for line in lines):
        return _unexplained(belief, look, too_much=bool(lines))
    return _ruled(belief, lines)


def _after(line: Line, look: Look, silent: bool) -> list[Line]:
    """The lines that one leads to by a look; it stays itself for a while where a fight may be underway, or too much."""
    found: tuple[Course, ...] = ()
    try:
        found = explanations(line.course, look, silent=silent)
        waits = line.course not in found and may_be_underway(line.course, look)
    except TooMuchError:
        waits = True
    after = [_continued(line, course) for course in found]
    return [*after, replace(line, waits=line.waits + 1)] if waits and line.waits < _MOST_WAITS else after


def finish(belief: Belief) -> Judged:
    """What is told when there are no looks any more: nothing waits for orders, and a go with nothing left is over."""
    lines = [line for line in belief.lines if not line.waits]
    if not lines or belief.over:
        return belief, ()
    return _ruled(belief, [_ended(line) for line in lines])


def _ended(line: Line) -> Line:
    """The line with its last go over where nothing was left of it, and those whose end no look has come after."""
    course = line.course
    if not course.state.is_fresh and len(legal_choices(course.state)) == 1:
        course = course.after(End(), Source.SEEN)
    looked = tuple(end for end in course.open_ends if end[1] != ALL_SQUARES)
    return _continued(line, replace(course, open_ends=looked))


def tell(belief: Belief, choice: Choice, seat: Seat | None = None) -> Judged:
    """What follows from a choice that a person says, with its dice; `seat` says whose, where the go before is over."""
    lines, refused = list[Line](), list[Refused]()
    for line in belief.lines:
        course = _handed_over(line.course, seat)
        _, rulings, _ = judge(course.state, choice)
        if isinstance(rulings[0], Refused):
            refused.append(rulings[0])
        else:
            lines.append(_continued(line, course.after(choice, Source.SAID)))
    return _ruled(belief, lines) if lines else (belief, (refused[0],))


def _handed_over(course: Course, seat: Seat | None) -> Course:
    """The course with its go over, where something was done in it and the next seat says what it chooses."""
    state = course.state
    if seat in (None, state.to_move) or seat is not state.next_seat or state.result is not None or state.is_fresh:
        return course
    return course.after(End(), Source.SEEN)


def _continued(line: Line, course: Course) -> Line:
    """The line with its course gone on, or back."""
    before = line.course
    kept = 0
    while kept < min(len(before.steps), len(course.steps)) and before.steps[kept] is course.steps[kept]:
        kept += 1
    ends = sum(isinstance(step.choice, End) for step in course.steps[:kept])
    goes, steps = list(line.goes[:ends]), list(course.steps[:kept])
    for step in course.steps[kept:]:
        steps.append(step)
        if isinstance(step.choice, End):
            goes.append((step.before.to_move, (write_go(_go(steps)),)))
    if course.state.result is not None and not isinstance(course.steps[-1].choice, End):
        goes.append((course.steps[-1].before.to_move, (write_go(_go(steps)),)))
    return Line(course, tuple(goes))


def _go(steps: Sequence[Step]) -> tuple[Choice, ...]:
    """The choices of the last go, also of one that has just ended."""
    go: list[Choice] = []
    for step in reversed(steps):
        if go and isinstance(step.choice, End):
            break
        go.append(written(step))
    return tuple(reversed(go))


def _unexplained(belief: Belief, look: Look, *, too_much: bool) -> Judged:
    """What is said of a look that no course explains: once, however long it stays so."""
    course, tops = belief.lines[0].course, dict(look.tops)
    unexplained = tuple((cell, tops.get(cell)) for cell in contradicted(course, look))
    if unexplained == belief.unexplained:
        return belief, ()
    return replace(belief, unexplained=unexplained), (doubt(course, look, too_much=too_much),)


def _ruled(belief: Belief, lines: list[Line]) -> Judged:
    """The belief with such lines, and what they newly agree or differ on."""
    before = belief.lines[0].course
    lines = sorted(_joined(lines), key=_supposed)
    forgotten = belief.forgotten or len(lines) > _MOST_LINES
    lines = lines[:_MOST_LINES]
    told, events = list(belief.told), list[Told]()
    finished = min(map(_settled, lines))
    if finished < len(told):
        events.append(GoTakenBack(finished + 1))
        del told[finished:]
    for n in range(finished):
        candidates = _different((text for line in lines for text in line.goes[n][1]), ways=True)
        seat = lines[0].goes[n][0]
        if n < len(told) and told[n] == (seat, candidates):
            continue
        if n < len(told) and (forgotten or set(candidates) > set(told[n][1])):
            continue
        told[n:] = [(seat, candidates), *told[n + 1 :]]
        certain = len(candidates) == 1 and not forgotten
        events.append(Go(n + 1, seat, candidates[0]) if certain else OpenGo(n + 1, seat, candidates))
    course = lines[0].course
    events += _on_orders(before, course)
    results = {line.course.state.result for line in lines}
    over = len(results) == 1 and None not in results
    if over and course.state.result is not None:
        events.append(Over(course.state.result))
    return Belief(tuple(lines), tuple(told), over=over, forgotten=forgotten), tuple(events)


def _settled(line: Line) -> int:
    """How many goes are over for certain: in one whose end is open a walk may have been unseen."""
    course = line.course
    if not course.open_ends or course.state.result is not None:
        return len(line.goes)
    return sum(isinstance(step.choice, End) for step in course.steps[: course.open_ends[0][0]])


def _joined(lines: list[Line]) -> list[Line]:
    """One line for each state, with what is done of its go; what the goes before may have been stays with it."""
    joined: dict[tuple[State, int, frozenset[object]], Line] = {}
    for line in lines:
        key = (
            line.course.state,
            len(line.goes),
            frozenset(_kind(choice, ways=False) for choice in _go(line.course.steps)),
        )
        first = joined.get(key)
        if first is None:
            joined[key] = line
            continue
        goes = tuple(
            (seat, _different((*texts, *more), ways=False))
            for (seat, texts), (_, more) in zip(first.goes, line.goes, strict=True)
        )
        joined[key] = replace(first, goes=goes)
    return list(joined.values())


def _different(goes: Iterable[str], *, ways: bool) -> tuple[str, ...]:
    """Goes without those that are another only in their order, or in the `ways` to a square that nothing depends on.

    Not `ways`: the goes have come to the same state, so that none mattered.
    """
    different: dict[frozenset[object], str] = {}
    for text in goes:
        different.setdefault(_kinds(text, ways), text)
    return tuple(different.values())


@lru_cache(maxsize=4096)
def _kinds(go: str, ways: bool) -> frozenset[object]:
    # Asked again for every go of the game at every look.
    return frozenset(_kind(choice, ways) for choice in read_go(go))


def _kind(choice: Choice, ways: bool) -> object:
    """What makes a choice another one."""
    match choice:
        case Move():
            # A Priest that raises a Warrior steps back; a Rite is broken on the way.
            back = choice.path[-2:-1] if ways and choice.unit is Unit.PRIEST else ()
            nexus = NEXUS.isdisjoint(choice.path), NEXUS.issuperset(choice.path)
            return choice.unit, choice.path[-1], back, nexus if ways else ()
        case Attack():
            return frozenset(choice.units), choice.target
        case Bolt():
            return Bolt, choice.target
        case _:
            return choice


def _supposed(line: Line) -> int:
    """How much of a course was neither said nor walked."""
    steps = (step for step in line.course.steps if step.source is Source.SEEN)
    return sum(not isinstance(step.choice, (Move, End)) for step in steps)


def _on_orders(before: Course, after: Course) -> list[Told]:
    """The orders of what was chosen since, and that all are done which were not."""
    new = after.steps[len(before.steps) :] if after.steps[: len(before.steps)] == before.steps else ()
    given = [order for step in new for order in orders(step.before, step.choice, play(step.before, step.choice))]
    open_orders = list(after.pending)
    listed = list[tuple[Order, bool]]()
    for order in given:
        undone = order in open_orders
        if undone:
            open_orders.remove(order)
        listed.append((order, not undone))
    told: list[Told] = [Ordered(tuple(listed))] if listed else []
    if not after.pending and (before.pending or listed):
        told.append(Cleared())
    return told
