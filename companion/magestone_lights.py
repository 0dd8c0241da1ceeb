"""What the LEDs show of a game of MageStone, in the places and rhythms that `lights` has for all games.

- a go: that player's home edge, dim and steady;
- a unit that was tapped: white; where it can walk to, half white; whom it can attack or reach with a Bolt, in the
  enemy's colour, blinking;
- a Rite: the Nexus in its player's colour, half and steady;
- squares on which something is to be laid, taken off or put right: white and blinking;
- a question: the edge like a slow chain of lamps, and the squares that it is about, blinking;
- a game won: that player's home edge and the Nexus; a draw: all home edges; no game: the Nexus, dim white.

Squares count from 0 here, the grid's cells from 1.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from companion.games.magestone import BASES, NEXUS, Attack, Bolt, Do, Order, Seat, State, Unit, legal_choices, reach
from companion.lights import DIM, HALF, WHITE, Light, Rhythm, by_turns, dimmed, edge_of
from companion.terms import Cell
from firmware_protocol.driver import Rgb

SEAT_COLOURS: Final = {
    Seat.TOP: Rgb(255, 30, 0),
    Seat.RIGHT: Rgb(0, 60, 255),
    Seat.BOTTOM: Rgb(0, 200, 40),
    Seat.LEFT: Rgb(255, 170, 0),
}
"""The tokens' colours as LEDs have them."""


def magestone_lights(
    state: State | None,
    cells: Sequence[Cell],
    *,
    tapped: Cell | None = None,
    orders: Iterable[Order] = (),
    wrong: Iterable[Cell] = (),
    asked: Iterable[Cell] | None = None,
) -> dict[Cell, Light]:
    """What the cells show as a game stands; the others are dark, and what has no LED is left out.

    `tapped` is the square of a unit that somebody thinks of moving, `wrong` those to restore, `asked` those that a
    question is about, None where there is none.
    """
    if state is None:
        shown = dict.fromkeys(NEXUS, Light(dimmed(WHITE, DIM)))
    elif state.result is not None:
        shown = _over(state)
    else:
        shown = dict.fromkeys(BASES[state.to_move], Light(dimmed(SEAT_COLOURS[state.to_move], DIM)))
        if state.rite is not None:
            shown |= dict.fromkeys(NEXUS, Light(dimmed(SEAT_COLOURS[state.rite.seat], HALF)))
        if asked is not None:
            edge = edge_of(cells)
            shown |= {
                (row - 1, column - 1): Light(dimmed(WHITE, HALF), by_turns((row, column))) for row, column in edge
            }
        elif tapped is not None:
            shown |= _of_unit(state, tapped)
        to_do = [order.cell for order in orders if order.do is not Do.TURN]
        shown |= dict.fromkeys((*to_do, *wrong, *(asked or ())), Light(WHITE, Rhythm.BLINK))
    on_grid = {(row + 1, column + 1): light for (row, column), light in shown.items()}
    return {cell: on_grid[cell] for cell in cells if cell in on_grid}


def _of_unit(state: State, cell: Cell) -> dict[Cell, Light]:
    """A unit of the player to move, where it can walk to, and whom it can fight from where it stands."""
    found = state.unit_at(cell)
    if found is None or found[0] is not state.to_move:
        return {}
    unit = found[1]
    shown = dict.fromkeys(reach(state, unit), Light(dimmed(WHITE, HALF)))
    for act in legal_choices(state).actions:
        if (isinstance(act, Attack) and unit in act.units) or (isinstance(act, Bolt) and unit is Unit.MAGE):
            enemy = state.unit_at(act.target)
            assert enemy is not None
            shown[act.target] = Light(SEAT_COLOURS[enemy[0]], Rhythm.BLINK)
    return {**shown, cell: Light(WHITE)}


def _over(state: State) -> dict[Cell, Light]:
    assert state.result is not None
    winner = state.result.winner
    if winner is None:
        return {cell: Light(dimmed(SEAT_COLOURS[seat], HALF)) for seat in state.seats for cell in BASES[seat]}
    return dict.fromkeys((*BASES[winner], *NEXUS), Light(dimmed(SEAT_COLOURS[winner], HALF)))
