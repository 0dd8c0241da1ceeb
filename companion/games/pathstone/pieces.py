"""The words of Pathstone: squares, pieces, moves and results, with the letters that PTN and TPS have for them."""

from dataclasses import dataclass
from enum import StrEnum

from companion.terms import Cell, Player

SIZES = range(3, 9)

PIECES_EACH = {3: (10, 0), 4: (15, 0), 5: (21, 1), 6: (30, 1), 7: (40, 2), 8: (50, 2)}
"""Stones and Crowns of each player by the board's width (rulebook, Setup)."""


class Kind(StrEnum):
    """What a piece is; the value is its letter in PTN."""

    FLAT = "F"
    WALL = "S"
    CROWN = "C"

    @property
    def label(self) -> str:
        """The name that rulings use."""
        return {Kind.FLAT: "flat", Kind.WALL: "wall", Kind.CROWN: "Crown"}[self]


class Direction(StrEnum):
    """Where a move goes, as player A sees the board; the value is its sign in PTN."""

    UP = "+"
    DOWN = "-"
    LEFT = "<"
    RIGHT = ">"

    @property
    def step(self) -> Cell:
        """Rows and columns from one square to the next."""
        return {
            Direction.UP: (1, 0),
            Direction.DOWN: (-1, 0),
            Direction.LEFT: (0, -1),
            Direction.RIGHT: (0, 1),
        }[self]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece on the board."""

    player: Player
    kind: Kind = Kind.FLAT

    @property
    def label(self) -> str:
        """The name that rulings use: A's wall."""
        return f"{self.player.label}'s {self.kind.label}"


Stack = tuple[Piece, ...]
"""The pieces on a square, bottom first; empty for an empty square."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A piece out of the reserve onto a square."""

    cell: Cell
    kind: Kind = Kind.FLAT


@dataclass(frozen=True, slots=True)
class Slide:
    """A stack, or the upper part of one, moved in a straight line; `drops` counts the pieces left on each square."""

    cell: Cell
    direction: Direction
    drops: tuple[int, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The squares that pieces are dropped on, in order; they may run off the board."""
        (row, column), (up, right) = self.cell, self.direction.step
        return tuple((row + up * n, column + right * n) for n in range(1, len(self.drops) + 1))


Move = Placement | Slide


class Reason(StrEnum):
    """Why a game is over."""

    PATH = "path"
    FLATS = "flat win"
    DRAW = "draw"
    RESIGNATION = "resignation"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; no winner is a draw."""

    winner: Player | None
    reason: Reason

    def __str__(self) -> str:
        """As PTN has it: R-0, 0-F, 1/2-1/2."""
        if self.winner is None:
            return "1/2-1/2"
        letter = {Reason.PATH: "R", Reason.FLATS: "F"}.get(self.reason, "1")
        return f"{letter}-0" if self.winner is Player.A else f"0-{letter}"


def square_name(cell: Cell) -> str:
    """Row 3, column 2 is b3."""
    row, column = cell
    return f"{chr(ord('a') + column - 1)}{row}"


def square_from_name(name: str) -> Cell:
    """The cell of a square's name: a letter and a digit."""
    return int(name[1]), ord(name[0]) - ord("a") + 1
