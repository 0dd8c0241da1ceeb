"""What the LEDs of a grid show: whose turn it is, what an order is about, a win, and "look at the screen".

Each meaning has its own place and rhythm besides its colour, so that it is told without seeing colours, and on LEDs
that have none:

- a turn: that player's front row, dim and steady;
- a disk to take off: its cell, full and blinking;
- a disk to lay flat: its cell, half and steady;
- a question: the board's edge, lit in turns like a slow chain of lamps, and the cells that it is about, blinking;
- a game won: the winner's half of the board, steady; a tie: both front rows;
- no game: the four corners, dim and steady.

No LED changes more often than three times a second (WCAG 2.3.1), whatever happens in the game: see `Shown`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from companion.games.at_rest import front_row
from companion.games.compare import cell_mm
from companion.games.position import State
from companion.referee import Standing
from companion.ruling import Do, Ruling
from companion.terms import Cell, Field, Player
from firmware_protocol.driver import DARK, Rgb

WHITE = Rgb(255, 255, 255)
_BLUE = Rgb(0, 60, 255)
_ALIKE = 220.0
"""Colours of LEDs that are nearer than this, of 442 at most, look the same across a room."""
DIM, HALF = 0.12, 0.4
"""Shares of full brightness: LEDs dazzle long before they are at full."""
_BESIDE = 0.75
"""Of the pitch: a disk on the surface is shown by every hole as near as this, by four where it lies between four."""
BLINK_S = 1.0
"""On for half of it, off for the other: one flash a second."""
TURNS_S = 2.0
LEAST_S = 0.34
"""So long at least whatever the LEDs show is shown."""


class Rhythm(StrEnum):
    """How a light behaves in time."""

    STEADY = "steady"
    BLINK = "blink"
    EVEN = "even"
    ODD = "odd"


@dataclass(frozen=True, slots=True)
class Light:
    """What one cell shows."""

    colour: Rgb
    rhythm: Rhythm = Rhythm.STEADY


@dataclass(frozen=True, slots=True)
class Shown:
    """What the LEDs show, and since when. `after` is the only way on, and never goes sooner than after LEAST_S."""

    colours: tuple[Rgb, ...] = ()
    since_s: float = -math.inf

    def after(self, colours: tuple[Rgb, ...], t_s: float) -> "Shown":
        """What is shown at `t_s` where `colours` are wanted."""
        if colours == self.colours or t_s - self.since_s < LEAST_S:
            return self
        return Shown(colours, t_s)


def side_colours(profile: Iterable[tuple[str, tuple[int, int, int]]]) -> dict[Player, Rgb]:
    """The LEDs' colour for each side, from the colours of its disks (name, then blue, green, red).

    An LED has no black or grey, only a hue: where both sides come out alike, the darker disks' side is blue.
    """
    disks = {Player(name): bgr for name, bgr in profile}
    colours = {player: _hue(bgr) for player, bgr in disks.items()}
    if math.dist(colours[Player.A], colours[Player.B]) < _ALIKE:
        darker = min(Player, key=lambda player: sum(disks[player]))
        colours[darker] = _BLUE
        if math.dist(colours[darker.other], _BLUE) < _ALIKE:
            colours[darker.other] = WHITE
    return colours


def lights(
    standing: Standing, rulings: Sequence[Ruling], cells: Sequence[Cell], colours: Mapping[Player, Rgb]
) -> dict[Cell, Light]:
    """What the cells show as things stand after these rulings, the last that were given; the others are dark.

    `cells` are those that have an LED; what another cell should show, the nearest of them does.
    """
    if standing.game is None:
        return dict.fromkeys(corners_of(cells), Light(dimmed(WHITE, DIM)))
    if standing.game.over:
        return _won(standing, cells, colours)
    return _played(standing.game, rulings, cells, colours)


def frame(shown: Mapping[Cell, Light], cells: Sequence[Cell], t_s: float) -> tuple[Rgb, ...]:
    """The colour at each index at one moment."""
    return tuple(_at(shown[cell], t_s) if cell in shown else DARK for cell in cells)


def _at(light: Light, t_s: float) -> Rgb:
    match light.rhythm:
        case Rhythm.STEADY:
            return light.colour
        case Rhythm.BLINK:
            return light.colour if t_s % BLINK_S < BLINK_S / 2 else DARK
        case Rhythm.EVEN | Rhythm.ODD:
            first = t_s % TURNS_S < TURNS_S / 2
            return light.colour if first is (light.rhythm is Rhythm.EVEN) else dimmed(light.colour, DIM)


def _played(
    game: State, rulings: Sequence[Ruling], cells: Sequence[Cell], colours: Mapping[Player, Rgb]
) -> dict[Cell, Light]:
    field = game.setup.field
    shown: dict[Cell, Light] = {}
    if game.questions:
        asked = game.questions[0]
        shown |= {cell: Light(dimmed(WHITE, HALF), by_turns(cell)) for cell in edge_of(cells)}
        about = [cell_mm(field, cell) for cell in asked.cells] + [(disk.x_mm, disk.y_mm) for disk in asked.disks]
        shown |= dict.fromkeys(_nearest(field, cells, about), Light(WHITE, Rhythm.BLINK))
    else:
        row = front_row(field, game.to_flick)
        turn = Light(dimmed(colours[game.to_flick], DIM))
        shown |= {cell: turn for cell in cells if cell[0] == row}
    advised = [order for ruling in rulings for order in ruling.orders if order.do is Do.LAY_FLAT]
    places_mm = [(order.x_mm, order.y_mm) for order in advised]
    shown |= dict.fromkeys(_nearest(field, cells, places_mm), Light(dimmed(WHITE, HALF)))
    places_mm = [(order.x_mm, order.y_mm) for order in game.orders]
    shown |= dict.fromkeys(_nearest(field, cells, places_mm), Light(WHITE, Rhythm.BLINK))
    return shown


def _won(standing: Standing, cells: Sequence[Cell], colours: Mapping[Player, Rgb]) -> dict[Cell, Light]:
    finished, match, game = standing.score, standing.match_now, standing.game
    assert finished is not None
    assert match is not None
    assert game is not None
    winner, field = match.winner or finished.winner, game.setup.field
    if winner is None:
        return {
            cell: Light(dimmed(colours[player], HALF))
            for player in Player
            for cell in cells
            if cell[0] == front_row(field, player)
        }
    own = (
        range(1, field.rows // 2 + 1) if winner is Player.A else range(field.rows - field.rows // 2 + 1, field.rows + 1)
    )
    return {cell: Light(dimmed(colours[winner], HALF)) for cell in cells if cell[0] in own}


def _nearest(field: Field, cells: Sequence[Cell], places_mm: Iterable[tuple[float, float]]) -> set[Cell]:
    """The cells that show these places: the hole itself, else every one beside the place, else the nearest."""
    found: set[Cell] = set()
    for place_mm in places_mm:
        away_mm = {cell: math.dist(cell_mm(field, cell), place_mm) for cell in cells}
        least_mm = min(away_mm.values())
        in_hole = least_mm <= field.hole_diameter_mm / 2
        reach_mm = least_mm if in_hole else max(_BESIDE * field.pitch_mm, 1.02 * least_mm)
        found |= {cell for cell in cells if away_mm[cell] <= reach_mm}
    return found


def corners_of(cells: Sequence[Cell]) -> list[Cell]:
    """The cells at the corners of those that have an LED."""
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return [cell for cell in cells if cell[0] in (min(rows), max(rows)) and cell[1] in (min(columns), max(columns))]


def edge_of(cells: Sequence[Cell]) -> list[Cell]:
    """The outermost of the cells that have an LED."""
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return [cell for cell in cells if cell[0] in (min(rows), max(rows)) or cell[1] in (min(columns), max(columns))]


def by_turns(cell: Cell) -> Rhythm:
    """The rhythm that makes neighbours light up in turns."""
    return Rhythm.EVEN if sum(cell) % 2 == 0 else Rhythm.ODD


def _hue(bgr: tuple[int, int, int]) -> Rgb:
    """A colour of the screen at an LED's full brightness: LEDs are linear, screens are not (sRGB, about 2.2)."""
    blue, green, red = ((value / 255) ** 2.2 for value in bgr)
    most = max(red, green, blue)
    if most == 0:
        return WHITE
    return Rgb(*(round(255 * value / most) for value in (red, green, blue)))


def dimmed(colour: Rgb, share: float) -> Rgb:
    """A colour at a share of its brightness."""
    return Rgb(*(round(value * share) for value in colour))
