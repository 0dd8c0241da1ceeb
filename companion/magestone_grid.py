"""The grid under MageStone's board: its LEDs. Sensors are not used: tokens are told apart by their marks alone."""

from collections.abc import Iterable

from companion.games.magestone import Order, State
from companion.grid import TableGrid
from companion.magestone_lights import magestone_lights
from companion.terms import Cell


class TokensGrid(TableGrid):
    """The LEDs under one board of tokens. Times are the clock's, in seconds."""

    _uses_sensors = False

    def light(
        self,
        state: State | None,
        *,
        tapped: Cell | None = None,
        orders: Iterable[Order] = (),
        wrong: Iterable[Cell] = (),
        asked: Iterable[Cell] | None = None,
    ) -> None:
        """Shows on the LEDs how a game stands, and on the page how the grid is."""
        self.show(magestone_lights(state, self.cells, tapped=tapped, orders=orders, wrong=wrong, asked=asked))
