"""A simulated table of tokens for a game of MageStone: laid out as a state has it, and what hands do for a choice."""

from collections.abc import Iterator

from companion.games.magestone import Choice, Do, Move, State, Token, Unit, orders
from companion.games.magestone.looks import Top
from hardware_sims.token_hands import Deed
from hardware_sims.tokens import ACTIVATED, GRAVE, STONE, TokenTable, unit_mark

_MARKS = {Token.UNACTIVATED: STONE, Token.ACTIVATED: ACTIVATED, Token.GRAVESTONE: GRAVE}


def mark_of(top: Top) -> int:
    """The mark of a token."""
    return _MARKS[top] if isinstance(top, Token) else unit_mark(top[0].value, top[1].value)


def laid_out(state: State, seed: int = 0) -> TokenTable:
    """A table on which everything lies where a state has it."""
    table = TokenTable(seed=seed)
    for token, cells in (
        (Token.GRAVESTONE, state.graves),
        (Token.UNACTIVATED, state.unactivated),
        (Token.ACTIVATED, state.activated),
    ):
        for cell in cells:
            table.put(mark_of(token), cell)
    for seat in state.seats:
        for unit, standing in zip(Unit, state.armies[seat].cells, strict=True):
            if standing is not None:
                table.put(mark_of((seat, unit)), standing)
    return table


def deeds_of(before: State, choice: Choice, after: State) -> Iterator[Deed]:
    """What hands do on the table for a choice: the walk, then each order."""
    if isinstance(choice, Move):
        seat = before.to_move
        yield Deed(mark_of((seat, choice.unit)), before.armies[seat].cells[choice.unit], choice.path[-1])
    for order in orders(before, choice, after):
        if order.do is Do.TURN:
            continue
        mark = mark_of(order.token if order.seat is None or order.unit is None else (order.seat, order.unit))
        yield Deed(mark, order.cell) if order.do is Do.TAKE else Deed(mark, end=order.cell)
