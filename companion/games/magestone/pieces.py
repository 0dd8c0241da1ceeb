"""The words of MageStone: seats, units, stones in hand, the Rite and how a game ends."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

SQUARES_A_GO: Final = 6
UNITS_A_GO: Final = 3
STONES_EACH: Final = 4
GRAVESTONES_EACH: Final = 4
STONES_TO_WIN: Final = 6
NOVA_STONES: Final = 4


class Seat(IntEnum):
    """A side of the board, clockwise; the value counts the quarter turns from the top, as the tokens' marks do."""

    TOP = 0
    RIGHT = 1
    BOTTOM = 2
    LEFT = 3

    @property
    def label(self) -> str:
        """The name that rulings use."""
        return self.name.capitalize()


SEATS: Final = tuple(Seat)

SEATED: Final = {2: (Seat.TOP, Seat.BOTTOM), 4: SEATS}
"""Who plays, in turn order, by the number of players."""


class Unit(IntEnum):
    """A unit of an army; the value is its place among an army's cells."""

    MAGE = 0
    PRIEST = 1
    WARRIOR_1 = 2
    WARRIOR_2 = 3
    WARRIOR_3 = 4
    WARRIOR_4 = 5
    WARRIOR_5 = 6
    WARRIOR_6 = 7

    @property
    def letter(self) -> str:
        """The name in notation and JSON: M, P, W1 to W6."""
        return _LETTERS[self]

    @property
    def label(self) -> str:
        """The name that rulings use."""
        return self.name.capitalize().replace("_", " ")


_LETTERS = ("M", "P", "W1", "W2", "W3", "W4", "W5", "W6")

WARRIORS: Final = tuple(Unit)[2:]

UNITS_BY_LETTER: Final = {unit.letter: unit for unit in Unit}


@dataclass(frozen=True, slots=True)
class Hand:
    """The stones that a Mage holds."""

    carried: int = 0
    """Unactivated"""
    activated: int = 0


@dataclass(frozen=True, slots=True)
class Rite:
    """A Rite that is running, and how often play has to come back to its player until it is won."""

    seat: Seat
    returns_left: int


class Ending(StrEnum):
    """How a game is over."""

    MAGESTONE = "magestone"
    RITUAL = "ritual"
    CONQUEST = "conquest"
    STALEMATE = "stalemate"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended, and who won it; nobody wins a stalemate or an agreed draw."""

    ending: Ending
    winner: Seat | None = None
