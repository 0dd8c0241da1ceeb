"""A game of MageStone as it went on the board: its steps, the orders that are open, and how a look compares with it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from companion.games.magestone.board import CELLS
from companion.games.magestone.choices import Attack, Bolt, Choice, End
from companion.games.magestone.looks import Look, Top, lying, uppermost
from companion.games.magestone.orders import Do, Order, Token, orders
from companion.games.magestone.pieces import Seat, Unit
from companion.games.magestone.play import play
from companion.games.magestone.state import State
from companion.terms import Cell

Someone = tuple[Seat, Unit]
Loose = frozenset[tuple[Cell, Top | None]]
"""What may still lie on a square, or already, because of an order; None for nothing."""

OpenEnd = tuple[int, frozenset[Cell]]
"""The end of a go before which a unit may have walked unseen: its step's number, and what no look has shown since."""
ALL_SQUARES: Final = frozenset(CELLS)


class Source(Enum):
    """Who told of a choice."""

    SAID = auto()
    SEEN = auto()
    """Only the board: the dice of a fight are then supposed, and are not to be written down."""


@dataclass(frozen=True, slots=True)
class Step:
    """One choice of a game, and the state before it."""

    before: State
    choice: Choice
    source: Source = Source.SAID


@dataclass(frozen=True, slots=True)
class Course:
    """A game as it went: every step, how things stand after them, and the orders that no look has shown done."""

    steps: tuple[Step, ...]
    state: State
    pending: tuple[Order, ...] = ()
    open_ends: tuple[OpenEnd, ...] = ()

    def after(self, choice: Choice, source: Source) -> "Course":
        """The course with one more choice, which has to be legal."""
        state = play(self.state, choice)
        return Course(
            (*self.steps, Step(self.state, choice, source)),
            state,
            (*self.pending, *orders(self.state, choice, state)),
            (*self.open_ends, *opened(len(self.steps), choice)),
        )

    def first(self, number: int) -> "Course":
        """The course as it was when so many of its steps were made, as if all that was ordered was done."""
        open_ends = tuple(end for end in self.open_ends if end[0] < number)
        return Course(self.steps[:number], self.steps[number].before, (), open_ends)


def opened(number: int, choice: Choice) -> tuple[OpenEnd, ...]:
    """What a choice, the step with this number, leaves open until there is a look."""
    return ((number, ALL_SQUARES),) if isinstance(choice, End) else ()


def written(step: Step) -> Choice:
    """A step's choice as it is written: without dice that nobody told."""
    if step.source is Source.SEEN and isinstance(step.choice, (Attack, Bolt)):
        return replace(step.choice, rolls=())
    return step.choice


class Board:
    """A look made ready to be asked. A unit that is seen twice is not seen at all."""

    __slots__ = ("at", "top", "unseen")

    def __init__(self, look: Look) -> None:
        seen = Counter(top for _, top in look.tops if not isinstance(top, Token))
        self.top = {cell: top for cell, top in look.tops if isinstance(top, Token) or seen[top] == 1}
        self.unseen = frozenset({*look.unseen, *(cell for cell, _ in look.tops if cell not in self.top)})
        self.at = {top: cell for cell, top in self.top.items() if not isinstance(top, Token)}

    def shows(self, cell: Cell) -> Top | None:
        """What lies uppermost on a square that is seen; None for nothing."""
        return self.top.get(cell)


def contradicted(course: Course, look: Look) -> tuple[Cell, ...]:
    """The squares that look otherwise than they may, orders that are still to be carried out allowed for."""
    return tuple(sorted(wrong_squares(course.state, Board(look), loosened(course.pending, course.state))))


def outstanding(course: Course, look: Look) -> tuple[Order, ...]:
    """The orders that the look does not show done: those on squares that cannot be seen are among them."""
    board, tops = Board(look), uppermost(course.state)
    laid = {(order.cell, order.token) for order in course.pending if order.do is Do.LAY}
    return tuple(order for order in course.pending if not _is_done(order, board, tops, laid))


def _is_done(order: Order, board: Board, tops: dict[Cell, frozenset[Top]], laid: set[tuple[Cell, Token]]) -> bool:
    if order.do is Do.TURN:
        return True
    if order.cell in board.unseen:
        return False
    top, meant, expected = board.shows(order.cell), top_of_order(order), tops.get(order.cell, frozenset())
    if order.do is Do.TAKE:
        return top != meant
    if meant not in expected:
        return True  # something has come to stand on it since
    return top == meant or (isinstance(top, Token) and (order.cell, top) in laid)


def top_of_order(order: Order) -> Top:
    if order.seat is None or order.unit is None:
        return order.token
    return order.seat, order.unit


def loosened(pending: Iterable[Order], state: State) -> Loose:
    """What squares may show while orders are carried out: what is still to be taken, nothing, or what lies below."""
    loose: set[tuple[Cell, Top | None]] = set()
    below = lying(state)
    for order in pending:
        if order.do is Do.TURN:
            continue
        loose.add((order.cell, None))
        loose |= {(order.cell, top) for top in below.get(order.cell, ())}
        if order.do is Do.TAKE:
            loose.add((order.cell, top_of_order(order)))
    return frozenset(loose)


def wrong_squares(state: State, board: Board, loose: Loose) -> set[Cell]:
    """The squares that look otherwise than they may."""
    tops = uppermost(state)
    wrong = set[Cell]()
    for cell in {*tops, *board.top} - board.unseen:
        top, expected = board.shows(cell), tops.get(cell)
        if (top is None if expected is None else top in expected) or (cell, top) in loose:
            continue
        wrong.add(cell)
    return wrong
