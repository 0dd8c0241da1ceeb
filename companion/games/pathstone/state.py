"""One game of Pathstone as a frozen value: start, legal moves, the state after a move, the result, and threats."""

from dataclasses import dataclass

from companion.games.pathstone.pieces import PIECES_EACH, SIZES, Direction, Move, Piece, Placement, Result, Slide, Stack
from companion.games.pathstone.position import (
    EMPTY,
    KINDS,
    PLAYERS,
    WALL,
    Key,
    Reserves,
    Successor,
    board_of,
    ending,
    flat_count,
    has_path,
    is_opening,
    perft,
    roads,
    successors,
)
from companion.terms import Cell, Player


@dataclass(frozen=True, slots=True)
class State:
    """A position and what is in reserve. `squares` are the integers of `position`; `stack_at` has them as pieces.

    `ply` counts the moves before it, by the move number where a game starts from a position. `ended` is set where
    the players ended the game: by resignation or agreement.
    """

    size: int
    squares: tuple[int, ...]
    reserves: Reserves
    ply: int = 0
    ended: Result | None = None

    @property
    def to_move(self) -> Player:
        """Whose turn it is; player A moves first."""
        return PLAYERS[self.ply & 1]

    @property
    def number(self) -> int:
        """The number of the move that PTN writes before it, from 1."""
        return self.ply // 2 + 1

    @property
    def opening(self) -> bool:
        """Whether the next piece is a flat that belongs to the other player."""
        return is_opening(board_of(self.size), self.reserves, self.ply)

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it is played."""
        return self.ended or ending(board_of(self.size), list(self.squares), self.reserves, self.ply)

    @property
    def flats(self) -> tuple[int, int]:
        """The exposed flats of each player, A first."""
        return flat_count(list(self.squares))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every square: a1, b1 ... from player A's side."""
        return tuple((row, column) for row in range(1, self.size + 1) for column in range(1, self.size + 1))

    def on_board(self, cell: Cell) -> bool:
        """Whether there is such a square."""
        return 1 <= cell[0] <= self.size and 1 <= cell[1] <= self.size

    def stack_at(self, cell: Cell) -> Stack:
        """The pieces on a square, bottom first."""
        return stack_from_square(self.squares[self.index(cell)])

    def index(self, cell: Cell) -> int:
        """The place of a cell in `squares`."""
        return (cell[0] - 1) * self.size + cell[1] - 1

    def reserve(self, player: Player) -> tuple[int, int]:
        """The stones and Crowns that a player has not placed yet."""
        return self.reserves[PLAYERS.index(player)]


def start(size: int = 5) -> State:
    """A new game on a board of 3 to 8 squares a side."""
    if size not in SIZES:
        raise ValueError(f"a board has {SIZES[0]} to {SIZES[-1]} squares a side, not {size}")
    return State(size, (EMPTY,) * size**2, (PIECES_EACH[size], PIECES_EACH[size]))


def legal_moves(state: State) -> tuple[Move, ...]:
    """Every legal move; none once the game is over."""
    return tuple(move for move, _ in plays(state))


def plays(state: State) -> tuple[tuple[Move, State], ...]:
    """Every legal move with the state after it; none once the game is over."""
    if state.result is not None:
        return ()
    return tuple(
        (move_from_key(state.size, key), State(state.size, tuple(squares), reserves, state.ply + 1))
        for key, squares, reserves in successors_of(state)
    )


def play(state: State, move: Move) -> State:
    """The state after a legal move. Raises ValueError for any other; `judge` says why it is illegal."""
    wanted = _key(state, move)
    if state.result is None and state.on_board(move.cell):
        for key, squares, reserves in successors_of(state):
            if key == wanted:
                return State(state.size, tuple(squares), reserves, state.ply + 1)
    raise ValueError(f"{move} is not legal")


def move_between(before: State, after: State) -> Move:
    """The legal move that leads from one state to another. Raises ValueError where there is none."""
    for move, state in plays(before):
        if state == after:
            return move
    raise ValueError("no legal move leads there")


def flattens(state: State, move: Move) -> bool:
    """Whether a legal move flattens a wall."""
    return isinstance(move, Slide) and state.squares[state.index(move.cells[-1])] & 3 == WALL


def count_leaves(state: State, depth: int) -> int:
    """Perft: the positions after `depth` moves, each of them made."""
    if depth and state.ended is not None:
        return 0
    return perft(board_of(state.size), list(state.squares), state.reserves, state.ply, depth)


def path_of(state: State, player: Player) -> tuple[Cell, ...]:
    """The squares of a shortest path of a player from edge to edge; none where there is none."""
    road = roads(list(state.squares))[PLAYERS.index(player)]
    mine = {cell for cell in state.cells if road >> state.index(cell) & 1}
    paths = [_shortest(mine, axis, state.size) for axis in (0, 1)]
    return min(filter(None, paths), key=len, default=())


def threats(state: State, player: Player) -> tuple[Move, ...]:
    """The moves that would complete a player's path, were it that player's turn; none once the game is over."""
    board, me = board_of(state.size), PLAYERS.index(player)
    if state.result is not None:
        return ()
    after = successors(board, list(state.squares), state.reserves, 2 + me)  # past the opening, this player to move
    return tuple(move_from_key(state.size, key) for key, squares, _ in after if has_path(board, roads(squares)[me]))


def stack_from_square(square: int) -> Stack:
    """The pieces that a square's integer stands for, bottom first."""
    owners = [PLAYERS[int(bit)] for bit in f"{square >> 2:b}"[1:]]
    if not owners:
        return ()
    return (*map(Piece, owners[:-1]), Piece(owners[-1], KINDS[square & 3]))


def square_from_stack(stack: Stack) -> int:
    """The integer that stands for a stack."""
    square = 1
    for piece in stack:
        square = square << 1 | PLAYERS.index(piece.player)
    return square << 2 | (KINDS.index(stack[-1].kind) if stack else 0)


def successors_of(state: State) -> list[Successor]:
    """Every move of the player to move with the position after it, as `position` has them."""
    return successors(board_of(state.size), list(state.squares), state.reserves, state.ply)


def move_from_key(size: int, key: Key) -> Move:
    """The move that a key of `position` stands for."""
    row, column = divmod(key[0], size)
    cell = (row + 1, column + 1)
    if len(key) == 2:
        return Placement(cell, KINDS[key[1]])
    return Slide(cell, Direction(key[1]), key[2])


def _key(state: State, move: Move) -> Key:
    if isinstance(move, Placement):
        return state.index(move.cell), KINDS.index(move.kind)
    return state.index(move.cell), move.direction, move.drops


def _shortest(mine: set[Cell], axis: int, size: int) -> tuple[Cell, ...]:
    """A shortest chain of neighbours from the first to the last row (axis 0) or column (axis 1)."""
    chains: list[tuple[Cell, ...]] = [(cell,) for cell in sorted(mine) if cell[axis] == 1]
    reached = {chain[0] for chain in chains}
    for chain in chains:
        row, column = chain[-1]
        if chain[-1][axis] == size:
            return chain
        for cell in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if cell in mine and cell not in reached:
                reached.add(cell)
                chains.append((*chain, cell))
    return ()
