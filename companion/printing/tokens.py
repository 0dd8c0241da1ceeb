"""MageStone's tokens as drawings: round, each with its mark, and the names of seat and unit beside it."""

from dataclasses import dataclass

from companion.games.magestone.pieces import GRAVESTONES_EACH, SEATED, STONES_EACH, WARRIORS, Seat, Unit
from companion.printing.boards import SEAT_TINTS, mark_shapes, marked
from companion.printing.shapes import Area, Circle, Drawing, Point, Shape, Text, rectangle
from vision.board import Marks, Profile, ProfileError

UNACTIVATED, ACTIVATED, GRAVESTONE = 50, 51, 52
_SPACING_MM = 4.0
"""Between tokens, for scissors or a punch."""
_EDGE, _NAME, _PAPER = "#6b6b6b", "#303030", "#ffffff"
_STONE_TINTS = {UNACTIVATED: "#e2e2e2", ACTIVATED: "#e9d3f2", GRAVESTONE: "#dcd5c8"}
_QUIET = 0.55
"""White round a mark, in modules of it: readers look for its black edge there."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token to print; `above` and `below` are the words on either side of its mark."""

    mark: int
    above: str
    below: str
    tint: str


def unit_mark(seat: Seat, unit: Unit) -> int:
    """The mark of a seat's unit: Mage, Priest, Warriors from 10, 11, 12 on, and ten more for each seat."""
    return 10 + 10 * seat + unit


def tokens_for(players: int) -> tuple[Token, ...]:
    """What two or four players need: their units, and each stone both Unactivated and Activated."""
    units = [
        Token(unit_mark(seat, unit), seat.label, _name(unit), SEAT_TINTS[seat])
        for seat in SEATED[players]
        for unit in Unit
    ]
    stones, graves = STONES_EACH * players, GRAVESTONES_EACH * players
    return (
        *units,
        *[Token(UNACTIVATED, "", "Stone", _STONE_TINTS[UNACTIVATED])] * stones,
        *[Token(ACTIVATED, "Activated", "Stone", _STONE_TINTS[ACTIVATED])] * stones,
        *[Token(GRAVESTONE, "", "Grave", _STONE_TINTS[GRAVESTONE])] * graves,
    )


def _name(unit: Unit) -> str:
    """Warriors by their letters, which can be larger than the word."""
    return unit.letter if unit in WARRIORS else unit.label


def token_sheets(profile: Profile, players: int, room_mm: tuple[float, float]) -> tuple[Drawing, ...]:
    """The tokens on sheets of this width and length. Raises ProfileError for a board without marks to print, or
    tokens larger than a sheet."""
    _, marks = marked(profile)
    step_mm = marks.token_mm[0] + _SPACING_MM
    columns, rows = (int((room + _SPACING_MM) // step_mm) for room in room_mm)
    if min(columns, rows) < 1:
        raise ProfileError(f"[marks] token_mm: a token of {marks.token_mm[0]:g} mm is larger than a sheet")
    tokens = tokens_for(players)
    sheets = []
    for begin in range(0, len(tokens), columns * rows):
        shapes: list[Shape] = []
        for place, token in enumerate(tokens[begin : begin + columns * rows]):
            row, column = divmod(place, columns)
            shapes += _shapes(token, _middle_mm(row, column, step_mm), marks)
        sheets.append(Drawing(*room_mm, tuple(shapes)))
    return tuple(sheets)


def _middle_mm(row: int, column: int, step_mm: float) -> Point:
    half_mm = (step_mm - _SPACING_MM) / 2
    return column * step_mm + half_mm, row * step_mm + half_mm


def _shapes(token: Token, middle_mm: Point, marks: Marks) -> list[Shape]:
    diameter_mm, mark_mm = marks.token_mm[0], marks.mark_mm
    x, y = middle_mm
    quiet_mm = mark_mm / 6 * _QUIET
    inner_mm = mark_mm + 2 * quiet_mm
    # The names stand in what the circle leaves above and below the mark.
    low_mm, high_mm = inner_mm / 2 + 0.1, 0.465 * diameter_mm
    height_mm = high_mm - low_mm
    chord_mm = 2 * ((diameter_mm / 2) ** 2 - high_mm**2) ** 0.5
    half = inner_mm / 2
    return [
        Circle(middle_mm, diameter_mm, token.tint),
        Area((rectangle(x - half, y - half, 2 * half, 2 * half),), _PAPER),
        Circle(middle_mm, diameter_mm, edge=_EDGE, edge_mm=0.15),
        *mark_shapes(token.mark, middle_mm, mark_mm, marks),
        Text((x, y - low_mm), token.above, height_mm, _NAME, most_mm=chord_mm),
        Text((x, y + high_mm), token.below, height_mm, _NAME, most_mm=chord_mm),
    ]
