"""The grid under MageStone's board: its LEDs. Sensors are not used: tokens are told apart by their marks alone."""

import time
from collections.abc import Callable, Iterable

from companion.games.magestone import Order, State
from companion.grid import Events, TableGrid
from companion.live import Live
from companion.magestone_lights import magestone_lights
from companion.terms import Cell
from firmware_protocol.driver import Rgb
from firmware_protocol.link import Counters
from vision.board import Profile


class TokensGrid(TableGrid):
    """The LEDs under one board of tokens. Times are the clock's, in seconds."""

    def __init__(
        self,
        profile: Profile,
        events: Events,
        show: Callable[[tuple[Rgb, ...]], None],
        counters: Callable[[], Counters],
        live: Live,
        *,
        alone: bool = False,
        believed: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """As for any grid, but that no sensor is ever `believed`."""
        del believed
        super().__init__(profile, events, show, counters, live, alone=alone, believed=False, clock=clock)

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
