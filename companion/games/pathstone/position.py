"""The rules of placing, moving and winning on plain integers: whatever asks what is legal, or plays, goes through here.

A square is one integer. Its two low bits are the kind of the top piece (0 flat, 1 wall, 2 Crown). Above them is one bit
a piece, 0 for player A and 1 for B, the top piece first, and above the bottom piece a 1 that marks the end. So 4 is an
empty square, a flat on top has low bits 0 and takes n more pieces by a shift of n, and taking n off is a shift back.

Squares are listed a1, b1 ... from player A's side. A position is never changed; its successors are new lists, so that
undo is to keep the position before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from companion.games.pathstone.pieces import PIECES_EACH, Direction, Kind, Reason, Result
from companion.terms import Player

EMPTY = 4
WALL = 1
CROWN = 2
KINDS = (Kind.FLAT, Kind.WALL, Kind.CROWN)
PLAYERS = (Player.A, Player.B)

Squares = list[int]
Reserves = tuple[tuple[int, int], tuple[int, int]]
"""Stones and Crowns not yet on the board, player A's first."""

Key = tuple[int, int] | tuple[int, Direction, tuple[int, ...]]
"""A move: square and kind for a placement; square, direction and drops for a slide."""

Successor = tuple[Key, Squares, Reserves]
"""A move with the position after it."""

Step = tuple[int, int, int, int]
"""One drop: the offset of its square, how many pieces, how many are held after it, and the mask of the pieces."""

SlideShape = tuple[tuple[int, ...], int, tuple[Step, ...]]
"""A slide from any square: the drops, the pieces taken, and the steps."""


@dataclass(frozen=True, slots=True)
class Ray:
    """One direction: the squares that lie that way from each square, and the slides by pieces held and free squares."""

    direction: Direction
    reach: tuple[tuple[int, ...], ...]
    slides: tuple[tuple[tuple[SlideShape, ...], ...], ...]
    flattenings: tuple[tuple[tuple[SlideShape, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Board:
    """What a board's width says: its rays, its edges as bit sets, and each player's pieces."""

    size: int
    rays: tuple[Ray, ...]
    left: int
    right: int
    bottom: int
    top: int
    pieces_each: tuple[int, int]


@cache
def board_of(size: int) -> Board:
    """The board of a width from 3 to 8."""
    count = size * size
    left = sum(1 << square for square in range(0, count, size))
    bottom = (1 << size) - 1
    rays = tuple(_ray(size, direction) for direction in Direction)
    return Board(size, rays, left, left << size - 1, bottom, bottom << count - size, PIECES_EACH[size])


def _ray(size: int, direction: Direction) -> Ray:
    up, right = direction.step
    delta = up * size + right

    def reach(square: int) -> tuple[int, ...]:
        row, column = divmod(square, size)
        far = {1: size - 1 - row, -1: row}[up] if up else {1: size - 1 - column, -1: column}[right]
        return tuple(square + delta * n for n in range(1, far + 1))

    def slide(drops: tuple[int, ...]) -> SlideShape:
        left = [sum(drops[n:]) for n in range(1, len(drops) + 1)]
        steps = tuple((delta * (n + 1), d, left[n], (1 << d) - 1 << 2) for n, d in enumerate(drops))
        return drops, sum(drops), steps

    def slides(held: int, free: int) -> tuple[SlideShape, ...]:
        splits = (drops for taken in range(1, held + 1) for n in range(1, free + 1) for drops in _splits(taken, n))
        return tuple(map(slide, splits))

    def flattenings(held: int, free: int) -> tuple[SlideShape, ...]:
        return tuple(slide((*drops, 1)) for taken in range(held) for drops in _splits(taken, free))

    return Ray(
        direction,
        tuple(map(reach, range(size * size))),
        tuple(tuple(slides(held, free) for free in range(size)) for held in range(size + 1)),
        tuple(tuple(flattenings(held, free) for free in range(size)) for held in range(size + 1)),
    )


def _splits(pieces: int, squares: int) -> Iterator[tuple[int, ...]]:
    """Every way to leave pieces on so many squares, at least one on each."""
    if squares == 0:
        if pieces == 0:
            yield ()
        return
    for first in range(1, pieces - squares + 2):
        for rest in _splits(pieces - first, squares - 1):
            yield (first, *rest)


def is_opening(board: Board, reserves: Reserves, ply: int) -> bool:
    """Whether the next piece is a flat of the other player; a set-up position with more pieces is past that."""
    return ply < 2 and sum(map(sum, reserves)) == 2 * sum(board.pieces_each) - ply


def successors(board: Board, squares: Squares, reserves: Reserves, ply: int) -> list[Successor]:
    """Every legal move with the position after it, as if the game were not over."""
    mover = ply & 1
    found: list[Successor] = []
    opening = is_opening(board, reserves, ply)
    placeable = _placeable(reserves, mover, opening)
    size, rays = board.size, () if opening else board.rays
    mine = mover << 2
    for square, value in enumerate(squares):
        if value == EMPTY:
            for kind, piece, left in placeable:
                after = squares[:]
                after[square] = piece
                found.append(((square, kind), after, left))
        elif rays and value & 4 == mine:
            kind = value & 3
            held = min(size, value.bit_length() - 3)
            for ray in rays:
                reach = ray.reach[square]
                free = 0
                for other in reach:
                    if squares[other] & 3:
                        break
                    free += 1
                ways = [(ray.slides[held][free], squares)]
                if kind == CROWN and free < len(reach) and squares[reach[free]] & 3 == WALL:
                    flattened = squares[:]
                    flattened[reach[free]] -= WALL
                    ways.append((ray.flattenings[held][free], flattened))
                for slides, before in ways:
                    for drops, taken, steps in slides:
                        after = before[:]
                        after[square] = value >> taken & -4
                        for offset, dropped, still_held, mask in steps:
                            other = square + offset
                            after[other] = after[other] << dropped | value >> still_held & mask
                        if kind:
                            after[other] |= kind
                        found.append(((square, ray.direction, drops), after, reserves))
    return found


def _placeable(reserves: Reserves, mover: int, opening: bool) -> list[tuple[int, int, Reserves]]:
    """The kinds that can be placed: kind, the square with that piece, and the reserves without it."""
    owner = 1 - mover if opening else mover
    stones, crowns = reserves[owner]
    piece = 2 << 2 | owner << 2

    def without(left: tuple[int, int]) -> Reserves:
        return (reserves[0], left) if owner else (left, reserves[1])

    if opening:
        return [(0, piece, without((stones - 1, crowns)))]
    placeable = []
    if stones:
        placeable += [(kind, piece | kind, without((stones - 1, crowns))) for kind in (0, WALL)]
    if crowns:
        placeable.append((CROWN, piece | CROWN, without((stones, crowns - 1))))
    return placeable


def roads(squares: Squares) -> tuple[int, int]:
    """The squares that count for a path, as a bit set for each player: topmost flats and Crowns."""
    of = [0, 0]
    bit = 1
    for value in squares:
        if value != EMPTY and value & 3 != WALL:
            of[value >> 2 & 1] |= bit
        bit <<= 1
    return of[0], of[1]


def has_path(board: Board, road: int) -> bool:
    """Whether squares of a bit set connect two opposite edges."""
    size = board.size
    if road.bit_count() < size:
        return False
    for start, goal in ((board.left, board.right), (board.bottom, board.top)):
        reached = road & start
        while reached:
            near = (reached & ~board.right) << 1 | (reached & ~board.left) >> 1 | reached << size | reached >> size
            grown = (reached | near) & road
            if grown & goal:
                return True
            if grown == reached:
                break
            reached = grown
    return False


def flat_count(squares: Squares) -> tuple[int, int]:
    """The exposed flats of each player."""
    tops = [value >> 2 & 1 for value in squares if value != EMPTY and not value & 3]
    return tops.count(0), tops.count(1)


def ending(board: Board, squares: Squares, reserves: Reserves, ply: int) -> Result | None:
    """How the position ends the game; `ply` is that of the player who would move next."""
    of = roads(squares)
    for player in (1 - (ply & 1), ply & 1):
        if has_path(board, of[player]):
            return Result(PLAYERS[player], Reason.PATH)
    if EMPTY in squares and any(reserves[0]) and any(reserves[1]):
        return None
    flats = flat_count(squares)
    if flats[0] == flats[1]:
        return Result(None, Reason.DRAW)
    return Result(PLAYERS[flats[1] > flats[0]], Reason.FLATS)


def perft(board: Board, squares: Squares, reserves: Reserves, ply: int, depth: int) -> int:
    """The positions after `depth` moves, each of them made; a game that is over before then has none."""
    if depth == 0:
        return 1
    if ending(board, squares, reserves, ply) is not None:
        return 0
    nodes = 0
    for _, after, left in successors(board, squares, reserves, ply):
        nodes += perft(board, after, left, ply + 1, depth - 1)
    return nodes
