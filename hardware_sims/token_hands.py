"""The hands of players at a table of marked tokens: they walk units, lay, take and exchange tokens, one after another.

What is to be done is told to them; which of it the rules allow is not asked. A token that is laid where a unit stands
goes under it, one that is taken is found in the pile.
"""

from dataclasses import dataclass

from hardware_sims.tokens import ACTIVATED, GRAVE, STONE, Cell, TokenTable


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that a hand does: a token with this mark comes from a square, goes to one, or both."""

    mark: int
    start: Cell | None = None
    end: Cell | None = None


def do(table: TokenTable, deed: Deed) -> None:
    """Does it. Raises KeyError for a token that is not there and ValueError for a square that is cut off."""
    if deed.start is not None:
        table.take(deed.start, deed.mark)
    if deed.end is not None:
        loose = deed.mark in (STONE, ACTIVATED, GRAVE)
        occupied = loose and table.tops().get(deed.end, STONE) not in (STONE, ACTIVATED, GRAVE)
        (table.slip if occupied else table.put)(deed.mark, deed.end)
