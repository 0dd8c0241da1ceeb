"""What a camera sees of MageStone's board: the uppermost token of each square, and the squares that it cannot tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from companion.games.magestone.board import on_board, square_from_name, square_name
from companion.games.magestone.orders import Token
from companion.games.magestone.pieces import SEATS, UNITS_BY_LETTER, Seat, Unit
from companion.games.magestone.state import State
from companion.inputs import InputError
from companion.terms import Cell

Top = tuple[Seat, Unit] | Token
"""What lies uppermost: a unit, or a stone or gravestone."""

_LOOSE = {Token.GRAVESTONE: "G", Token.UNACTIVATED: "U", Token.ACTIVATED: "A"}
_LOOSE_BY_LETTER = {letter: token for token, letter in _LOOSE.items()}


@dataclass(frozen=True, slots=True)
class Look:
    """The board at rest: what lies uppermost where, sorted by square, and what is unseen; other squares are empty."""

    tops: tuple[tuple[Cell, Top], ...]
    unseen: tuple[Cell, ...] = ()


def uppermost(state: State) -> dict[Cell, frozenset[Top]]:
    """What may lie uppermost on each square that holds anything: which of several stones does, no rule says."""
    tops: dict[Cell, frozenset[Top]] = lying(state)
    for seat in state.seats:
        for unit, cell in zip(Unit, state.armies[seat].cells, strict=True):
            if cell is not None:
                tops[cell] = frozenset({(seat, unit)})
    return tops


def lying(state: State) -> dict[Cell, frozenset[Top]]:
    """The kinds of stones and gravestones on each square that has any, whatever stands on them."""
    kinds: dict[Cell, frozenset[Top]] = {}
    for token, cells in (
        (Token.GRAVESTONE, state.graves),
        (Token.UNACTIVATED, state.unactivated),
        (Token.ACTIVATED, state.activated),
    ):
        for cell in cells:
            kinds[cell] = kinds.get(cell, frozenset()) | {token}
    return kinds


def look_to_json(look: Look) -> dict[str, Any]:
    """A look as a JSON object: squares and tokens by name, as h4 and 0M, 2W1, U, A, G."""
    return {
        "tops": {square_name(cell): name_of(top) for cell, top in look.tops},
        "unseen": [square_name(cell) for cell in look.unseen],
    }


def look_from_json(data: Mapping[str, Any]) -> Look:
    """The look that `look_to_json` wrote. Raises InputError."""
    try:
        tops = tuple(sorted(((_cell(name), _top(top)) for name, top in data["tops"].items()), key=lambda top: top[0]))
        return Look(tops, tuple(map(_cell, data["unseen"])))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a look: {error}") from error


def name_of(top: Top) -> str:
    """A token's name: 0M, 2W1, U, A, G."""
    return _LOOSE[top] if isinstance(top, Token) else f"{top[0].value}{top[1].letter}"


def _top(name: str) -> Top:
    return _LOOSE_BY_LETTER[name] if name in _LOOSE_BY_LETTER else (SEATS[int(name[0])], UNITS_BY_LETTER[name[1:]])


def _cell(name: str) -> Cell:
    cell = square_from_name(name)
    if not on_board(cell):
        raise ValueError(f"there is no square {name}")
    return cell
