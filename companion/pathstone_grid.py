"""The grid under a board of squares, on which Pathstone is played: its sensors beside the camera, its LEDs.

A sensor tells whether anything lies on its square. Where the camera is in doubt that weighs in; where it is sure of the
contrary the look waits for a moment, and then goes without that sensor: it cannot accuse a player.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from companion.games.pathstone import Look, State, with_sensors
from companion.games.pathstone.position import EMPTY
from companion.games.pathstone.series import Seen, Series
from companion.grid import DISPUTE_S, TableGrid
from companion.lights import side_colours
from companion.pathstone_lights import pathstone_lights
from companion.ruling import Ruling
from companion.terms import Cell
from vision.board import Profile, SquaresBoard

_SURE = 0.02
"""A camera is sure that a square is empty, or is not, where the contrary is less likely than this."""


class SquaresGrid(TableGrid):
    """The grid under one board of squares. Times are the clock's, in seconds."""

    def _prepare(self, profile: Profile) -> None:
        if not isinstance(profile.board, SquaresBoard):
            raise ValueError("Pathstone is played on a board of squares")
        self._colours = side_colours(profile.colours)
        self._held: Seen | None = None
        self._held_s = 0.0
        self._meant: tuple[Series | None, tuple[Ruling, ...], Cell | None, tuple[Cell, ...]] | None = None

    def witness(self, seen: Seen | None) -> Seen | None:
        """What the camera saw with what the sensors tell, None where there is nothing yet to be judged."""
        now_s = self.clock()
        if seen is not None:
            self._looked |= self.told()
            if self._held is None:
                self._held_s = now_s
            self._held = seen
        held = self._held
        if held is None:
            return None
        sure, told = sure_of(held.look), self.told_beside_camera()
        against = {cell for cell, occupied in told.items() if sure.get(cell, occupied) is not occupied}
        if against and now_s - self._held_s < DISPUTE_S:
            return None
        self._hold_against(sure)
        self._held = None
        size = math.isqrt(len(held.look.tops))
        cells = ((row, column) for row in range(1, size + 1) for column in range(1, size + 1))
        bits = [None if cell in against else told.get(cell) for cell in cells]
        return replace(held, look=with_sensors(held.look, bits))

    def differing(self, state: State) -> tuple[Cell, ...]:
        """The squares whose sensors tell otherwise than a position."""
        told = self.told()
        should = {cell: state.squares[state.index(cell)] != EMPTY for cell in state.cells}
        return tuple(cell for cell, occupied in told.items() if should.get(cell, occupied) is not occupied)

    def light(
        self,
        series: Series | None,
        rulings: tuple[Ruling, ...],
        tapped: Cell | None = None,
        differing: tuple[Cell, ...] = (),
    ) -> None:
        """Shows on the LEDs how a series stands after these rulings, and on the page how the grid is."""
        meant, was = (series, rulings, tapped, differing), self._meant
        if was is None or was[0] is not series or was[1] is not rulings or was[2:] != meant[2:]:
            self._meant = meant
            self._lights = pathstone_lights(
                series, rulings, self.cells, self._colours, tapped=tapped, differing=differing
            )
        self.show(self._lights)


def sure_of(look: Look) -> Mapping[Cell, bool]:
    """Which squares hold anything, and which do not, as far as a camera's look is sure of it."""
    size = math.isqrt(len(look.tops))
    found = {}
    for n, tops in enumerate(look.tops):
        most = max(tops)
        shares = [math.exp(top - most) for top in tops]
        empty = shares[0] / sum(shares)
        if not _SURE <= empty <= 1 - _SURE:
            found[n // size + 1, n % size + 1] = empty < _SURE
    return found
