"""TPS: a position as text, rank by rank from the far side, then whose turn it is and the move's number."""

import re

from companion.games.pathstone.notation import NotationError
from companion.games.pathstone.pieces import PIECES_EACH, SIZES, Kind, square_name
from companion.games.pathstone.position import CROWN, EMPTY, KINDS
from companion.games.pathstone.state import State

_EMPTY = re.compile(r"x([1-9]?)")
_STACK = re.compile(r"([12]+)([SC]?)")


def write_tps(state: State) -> str:
    """A state as TPS; a resignation or an agreed draw is not in it."""
    ranks = []
    for row in range(state.size, 0, -1):
        squares = state.squares[(row - 1) * state.size : row * state.size]
        rank = ",".join(map(_square, squares))
        ranks.append(re.sub(r"x(,x)+", lambda run: f"x{run[0].count('x')}", rank))
    return f"{'/'.join(ranks)} {1 + state.ply % 2} {state.number}"


def _square(square: int) -> str:
    if square == EMPTY:
        return "x"
    pieces = f"{square >> 2:b}"[1:].translate({ord("0"): "1", ord("1"): "2"})
    kind = KINDS[square & 3]
    return pieces if kind is Kind.FLAT else pieces + kind.value


def read_tps(text: str, size: int | None = None) -> State:
    """The state that a TPS describes, on a board of `size` where that is given. Raises NotationError, saying where."""
    words = text.split()
    if len(words) != 3:
        raise NotationError(f'TPS {text[:80]!r}: write the ranks, "1" or "2" to move, and the move number')
    ranks, player, number = words
    if player not in ("1", "2"):
        raise NotationError(f"TPS: {player[:20]!r} cannot be to move; it is 1 or 2")
    if not re.fullmatch(r"[1-9][0-9]{0,5}", number):
        raise NotationError(f"TPS: {number[:20]!r} is no move number")
    squares = _ranks(ranks, size)
    width = int(len(squares) ** 0.5)
    used = [_used(squares, 0), _used(squares, 1)]
    stones, crowns = PIECES_EACH[width]
    for name, (on_board, crowns_on_board) in zip("12", used, strict=True):
        if on_board > stones or crowns_on_board > crowns:
            raise NotationError(
                f"TPS: player {name} has {on_board} stones and {crowns_on_board} Crowns on the board; "
                f"a {width}x{width} board has {stones} and {crowns} each"
            )
    reserves = tuple((stones - on_board, crowns - crowns_on_board) for on_board, crowns_on_board in used)
    state = State(width, tuple(squares), (reserves[0], reserves[1]), 2 * int(number) - 3 + int(player))
    _check_opening(state)
    return state


def _ranks(text: str, size: int | None) -> list[int]:
    """The squares, from a1 on."""
    ranks = text.split("/")
    if len(ranks) not in SIZES:
        raise NotationError(f"TPS: a board has {SIZES[0]} to {SIZES[-1]} ranks; here are {len(ranks)}")
    if size is not None and len(ranks) != size:
        raise NotationError(f"TPS: the board is {size}x{size}; here are {len(ranks)} ranks")
    squares: list[int] = []
    place = len(text)
    for row, rank in enumerate(reversed(ranks), 1):
        place -= len(rank)
        squares += _rank(rank, row, len(ranks), place)
        place -= 1
    return squares


def _rank(text: str, row: int, size: int, place: int) -> list[int]:
    """The squares of one rank; `place` is where it begins, counted from 0."""
    squares: list[int] = []
    for word in text.split(","):
        where = f"TPS, character {place + 1}, rank {row}"
        empty, stack = _EMPTY.fullmatch(word), _STACK.fullmatch(word)
        if empty:
            squares += [EMPTY] * int(empty[1] or 1)
        elif stack:
            pieces = stack[1].translate({ord("1"): "0", ord("2"): "1"})
            squares.append(int(f"1{pieces}", 2) << 2 | KINDS.index(Kind(stack[2] or "F")))
        elif re.fullmatch(r"[12SC]+", word):
            raise NotationError(f"{where}: {word[:40]!r}: only the top piece of a stack can be a wall or a Crown")
        else:
            raise NotationError(f"{where}: {word[:40]!r} is no square; write x, x3, or a stack as 112S")
        place += len(word) + 1
    if len(squares) != size:
        raise NotationError(f"TPS, rank {row}: {len(squares)} squares where the board has {size}")
    return squares


def _used(squares: list[int], player: int) -> tuple[int, int]:
    """The stones and Crowns of a player on the board."""
    pieces = sum(f"{square >> 2:b}"[1:].count(str(player)) for square in squares)
    crowns = sum(square & 3 == CROWN and square >> 2 & 1 == player for square in squares)
    return pieces - crowns, crowns


def _check_opening(state: State) -> None:
    """The first two pieces belong to the other player; a set-up with more on the board is past that."""
    taken = [(cell, state.stack_at(cell)) for cell in state.cells if state.stack_at(cell)]
    if state.ply == 1 and not taken:
        raise NotationError("TPS: player 2 cannot be to move on an empty board")
    if state.ply == 1 and len(taken) == 1 and state.opening and _square(state.squares[state.index(taken[0][0])]) != "2":
        raise NotationError(f"TPS: the first piece, on {square_name(taken[0][0])}, has to be a flat of player 2")
