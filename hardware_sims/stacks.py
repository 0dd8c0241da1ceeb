"""A table of pieces on squares: where each lies, moved by scripts, for `squares` to draw.

A script is a game's moves as they are written down (PTN); what may be played is not asked. Squares are column and row
from 0, row 0 that of player A. Pieces are laid by hand: never quite in the middle, never quite straight.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardware_sims.squares import Kind, Piece, Sizes
from vision.board import SquaresBoard

Square = tuple[int, int]
"""Column and row, from 0."""

LETTERS: dict[tuple[Kind, str], str] = {
    ("flat", "a"): "w",
    ("flat", "b"): "b",
    ("wall", "a"): "W",
    ("wall", "b"): "B",
    ("crown", "a"): "K",
    ("crown", "b"): "L",
}
_KINDS: dict[str, Kind] = {"": "flat", "F": "flat", "S": "wall", "C": "crown"}
_WAYS = {"+": (0, 1), "-": (0, -1), ">": (1, 0), "<": (-1, 0)}
_MOVE = re.compile(
    r"(?P<kind>[FSC]?)(?P<count>[1-8]?)(?P<square>[a-h][1-8])((?P<way>[-+<>])(?P<drops>[1-8]*))?\*?['?!]*"
)
_OFF_MM = 2.5
_TURN_DEG = 6.0


@dataclass(slots=True)
class StacksTable:
    """The truth: on each square its pieces, the lowest first."""

    board: SquaresBoard
    sizes: Sizes = field(default_factory=Sizes)
    seed: int = 0
    plies: int = 0
    """How many moves were played."""
    _squares: dict[Square, list[Piece]] = field(default_factory=dict, init=False)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def put(self, kind: Kind, colour: str, square: Square) -> None:
        """Lays a piece on what lies on a square. Raises ValueError for one that is not on the board."""
        column, row = square
        if not (0 <= column < self.board.columns and 0 <= row < self.board.rows):
            raise ValueError(f"there is no square {square}")
        side_mm = self.board.square_mm
        x_mm, y_mm = ((k + 0.5) * side_mm + float(self._rng.normal(0, _OFF_MM / 2)) for k in square)
        # A wall is stood cornerwise, as players do so that it is seen.
        turn_deg = float(self._rng.normal(45 if kind == "wall" else 0, _TURN_DEG / 2))
        shade = float(np.clip(self._rng.normal(1, 0.03), 0.9, 1.1))
        self._lay(Piece(kind, colour, x_mm, y_mm, 0.0, turn_deg, shade), square)

    def spread(self, start: Square, way: tuple[int, int], drops: Iterable[int]) -> None:
        """Takes the upper pieces of a stack and drops so many on each square of a way, the lowest first.

        A wall under a Crown that comes alone is laid flat. Raises ValueError where the stack is not so high.
        """
        drops = tuple(drops)
        pile = self._squares.get(start, [])
        if sum(drops) > len(pile):
            raise ValueError(f"{start} has no {sum(drops)} pieces")
        carried = pile[len(pile) - sum(drops) :]
        self._squares[start] = pile[: len(pile) - sum(drops)]
        for step, count in enumerate(drops, 1):
            square = start[0] + step * way[0], start[1] + step * way[1]
            dropped, carried = carried[:count], carried[count:]
            below = self._squares.get(square, [])
            if below and below[-1].kind == "wall" and [piece.kind for piece in dropped] == ["crown"]:
                below[-1] = replace(below[-1], kind="flat", turn_deg=below[-1].turn_deg - 45)
            side_mm = self.board.square_mm
            for piece in dropped:
                off_mm = (piece.x_mm - (start[0] + 0.5) * side_mm, piece.y_mm - (start[1] + 0.5) * side_mm)
                x_mm, y_mm = ((k + 0.5) * side_mm + off for k, off in zip(square, off_mm, strict=True))
                self._lay(replace(piece, x_mm=x_mm, y_mm=y_mm), square)

    def take(self, square: Square) -> Piece:
        """Takes the topmost piece off. Raises ValueError where there is none."""
        pile = self._squares.get(square, [])
        if not pile:
            raise ValueError(f"nothing lies on {square}")
        return pile.pop()

    def clear(self, between_mm: tuple[float, float] = (-math.inf, math.inf)) -> None:
        """Takes off all whose y lies between these; the next move is a game's first once the board is empty."""
        low_mm, high_mm = between_mm
        self._squares = {
            square: [piece for piece in pile if not low_mm <= piece.y_mm < high_mm]
            for square, pile in self._squares.items()
        }
        if not self.pieces():
            self.plies = 0

    def play(self, move: str) -> None:
        """Plays a move as it is written, by turns; the first two lay the other one's flats. Raises ValueError."""
        read = _MOVE.fullmatch(move)
        if read is None:
            raise ValueError(f"{move!r} is no move")
        square = "abcdefgh".index(read["square"][0]), int(read["square"][1]) - 1
        if read["way"] is None:
            mover = self.plies % 2 if self.plies >= 2 else 1 - self.plies % 2
            self.put(_KINDS[read["kind"]], "ab"[mover], square)
        else:
            count = int(read["count"] or 1)
            self.spread(square, _WAYS[read["way"]], [int(drop) for drop in read["drops"]] or [count])
        self.plies += 1

    def played(self, moves: Iterable[str]) -> Iterator[tuple[Piece, ...]]:
        """The table after each move."""
        for move in moves:
            self.play(move)
            yield self.pieces()

    def pieces(self) -> tuple[Piece, ...]:
        """Every piece where it lies."""
        return tuple(piece for pile in self._squares.values() for piece in pile)

    def stacks(self) -> dict[str, list[str]]:
        """What lies on each square that has anything, the lowest first: w b flats, W B walls, K L Crowns."""
        return {
            f"{'abcdefgh'[column]}{row + 1}": [LETTERS[piece.kind, piece.colour] for piece in pile]
            for (column, row), pile in self._squares.items()
            if pile
        }

    def _lay(self, piece: Piece, square: Square) -> None:
        pile = self._squares.setdefault(square, [])
        z_mm = sum(self.sizes.height_mm(below.kind) for below in pile)
        pile.append(replace(piece, z_mm=z_mm))
