"""What the LEDs show of a game of Pathstone, in the places and rhythms that `lights` has for all games.

- a turn: that player's own rank, dim and steady; the last move: its squares, half;
- a stack that was tapped: white, and where it may go, half white;
- squares to restore, or that a piece is still to be laid on or taken off: full and blinking;
- a question: the edge like a slow chain of lamps, and the squares that it is about, blinking;
- a game won: the path, or the squares that count, steady; a draw: both ranks; no game: the corners.
"""

from collections.abc import Iterable, Mapping, Sequence

from companion.games.pathstone import Reason, State, path_of, plays, tops_of
from companion.games.pathstone.pieces import Placement, Slide
from companion.games.pathstone.series import Series
from companion.lights import DIM, HALF, WHITE, Light, Rhythm, by_turns, corners_of, dimmed, edge_of
from companion.ruling import Ruling, Undecided
from companion.terms import Cell, Player
from firmware_protocol.driver import Rgb

_FLAT_SIGNS = {Player.A: "w", Player.B: "b"}


def pathstone_lights(
    series: Series | None,
    rulings: Sequence[Ruling],
    cells: Sequence[Cell],
    colours: Mapping[Player, Rgb],
    *,
    tapped: Cell | None = None,
    differing: Iterable[Cell] = (),
) -> dict[Cell, Light]:
    """What the cells show as a series stands after these rulings, the last that were given; the others are dark.

    `tapped` is the stack that somebody thinks of moving, `differing` where something lies that should not, or lacks.
    """
    if series is None:
        return dict.fromkeys(corners_of(cells), Light(dimmed(WHITE, DIM)))
    state = series.game.belief.lines[0].state
    if state.result is not None:
        shown = _over(state, colours)
    else:
        shown = _played(series, rulings, cells, colours, tapped)
        shown |= dict.fromkeys((*series.game.belief.restore, *differing), Light(WHITE, Rhythm.BLINK))
    return {cell: light for cell, light in shown.items() if cell in set(cells)}


def _played(
    series: Series, rulings: Sequence[Ruling], cells: Sequence[Cell], colours: Mapping[Player, Rgb], tapped: Cell | None
) -> dict[Cell, Light]:
    belief = series.game.belief
    state = belief.lines[0].state
    shown = dict.fromkeys(_rank(state, state.to_move), Light(dimmed(colours[state.to_move], DIM)))
    if belief.questions:
        shown |= {cell: Light(dimmed(WHITE, HALF), by_turns(cell)) for cell in edge_of(cells)}
        asked = (cell for ruling in rulings if isinstance(ruling, Undecided) for cell in ruling.cells)
        return shown | dict.fromkeys(asked, Light(WHITE, Rhythm.BLINK))
    moves = [*series.game.moves, *belief.lines[0].moves]
    if moves:
        last = moves[-1]
        touched = (last.cell,) if isinstance(last, Placement) else (last.cell, *last.cells)
        shown |= dict.fromkeys(touched, Light(dimmed(colours[state.to_move.other], HALF)))
    ways = [move for move, _ in plays(state) if isinstance(move, Slide) and move.cell == tapped]
    if ways:
        shown |= dict.fromkeys((way.cells[-1] for way in ways), Light(dimmed(WHITE, HALF)))
        shown[ways[0].cell] = Light(WHITE)
    return shown


def _over(state: State, colours: Mapping[Player, Rgb]) -> dict[Cell, Light]:
    """The path of a player who won by one, else the flats that count, else that player's rank; both ranks of a draw."""
    result = state.result
    assert result is not None
    if result.winner is None:
        return {cell: Light(dimmed(colours[player], HALF)) for player in Player for cell in _rank(state, player)}
    won: Iterable[Cell] = _rank(state, result.winner)
    if result.reason is Reason.PATH:
        won = path_of(state, result.winner)
    elif result.reason is Reason.FLATS:
        signs = zip(state.cells, "".join(tops_of(state)), strict=True)
        won = (cell for cell, sign in signs if sign == _FLAT_SIGNS[result.winner])
    return dict.fromkeys(won, Light(dimmed(colours[result.winner], HALF)))


def _rank(state: State, player: Player) -> tuple[Cell, ...]:
    """The rank nearest to a player."""
    row = 1 if player is Player.A else state.size
    return tuple((row, column) for column in range(1, state.size + 1))
