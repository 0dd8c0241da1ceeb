"""What has to be done on the table after a choice, besides walking: tokens to lay, take off, put elsewhere or turn."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from companion.games.magestone.choices import Activate, Choice, Move
from companion.games.magestone.pieces import Seat, Unit
from companion.games.magestone.state import State
from companion.terms import Cell


class Do(StrEnum):
    """What is done to a token."""

    LAY = "lay"
    TAKE = "take"
    TURN = "turn"


class Token(StrEnum):
    """What it is done to."""

    UNIT = "unit"
    GRAVESTONE = "gravestone"
    UNACTIVATED = "unactivated"
    ACTIVATED = "activated"


@dataclass(frozen=True, slots=True)
class Order:
    """One token to lay on a square, to take from it, or to turn in the hand of the Mage that stands there."""

    do: Do
    token: Token
    cell: Cell
    seat: Seat | None = None
    unit: Unit | None = None


def orders(before: State, choice: Choice, after: State) -> tuple[Order, ...]:
    """What a choice asks of the players: first what comes off the board, then what is laid."""
    told = [*_units(before, choice, after), *_graves(before, after), *_stones(before, after)]
    if isinstance(choice, Activate):
        seat = before.to_move
        mage = before.armies[seat].cells[Unit.MAGE]
        assert mage is not None
        told += [Order(Do.TURN, Token.ACTIVATED, mage, seat)] * before.hands[seat].carried
    return tuple(sorted(told, key=lambda order: (order.do is Do.LAY, order.token is not Token.UNIT)))


def _units(before: State, choice: Choice, after: State) -> Iterator[Order]:
    for seat in before.seats:
        for unit in Unit:
            was, now = before.armies[seat].cells[unit], after.armies[seat].cells[unit]
            if isinstance(choice, Move) and (seat, unit) == (before.to_move, choice.unit):
                was = choice.path[-1]
            if was == now:
                continue
            if was is not None:
                yield Order(Do.TAKE, Token.UNIT, was, seat, unit)
            if now is not None:
                yield Order(Do.LAY, Token.UNIT, now, seat, unit)


def _graves(before: State, after: State) -> Iterator[Order]:
    for cell in sorted({*before.graves} ^ {*after.graves}):
        yield Order(Do.LAY if cell in after.graves else Do.TAKE, Token.GRAVESTONE, cell)


def _stones(before: State, after: State) -> Iterator[Order]:
    for token, was, now in (
        (Token.UNACTIVATED, before.unactivated, after.unactivated),
        (Token.ACTIVATED, before.activated, after.activated),
    ):
        laid, taken = Counter(now) - Counter(was), Counter(was) - Counter(now)
        for cell in sorted(laid.elements()):
            yield Order(Do.LAY, token, cell)
        for cell in sorted(taken.elements()):
            yield Order(Do.TAKE, token, cell)
