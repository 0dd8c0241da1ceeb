"""Why a move is illegal, in one sentence that names the squares, with the rulebook's section."""

from companion.games.pathstone.pieces import Kind, Move, Placement, Slide, Stack, square_name
from companion.games.pathstone.state import State
from companion.ruling import Refused
from companion.terms import Cell


def fault(state: State, move: Move) -> Refused | None:
    """What is wrong with a move; None for a legal one."""
    if state.result is not None:
        return Refused("Winning", f"the game is over ({state.result}): nothing more can be played", cells=(move.cell,))
    if not state.on_board(move.cell):
        return _refused(
            "Setup", f"there is no {square_name(move.cell)} on a {state.size}x{state.size} board", move.cell
        )
    if state.opening and (isinstance(move, Slide) or move.kind is not Kind.FLAT):
        owner = state.to_move.other.label
        return _refused("Setup", f"the first turn places a flat of {owner}: no wall, no Crown, no movement", move.cell)
    return _placement_fault(state, move) if isinstance(move, Placement) else _slide_fault(state, move)


def _placement_fault(state: State, move: Placement) -> Refused | None:
    stack = state.stack_at(move.cell)
    if stack:
        return _refused("Place", f"{square_name(move.cell)} is not empty: {_described(stack)}", move.cell)
    owner = state.to_move.other if state.opening else state.to_move
    stones, crowns = state.reserve(owner)
    if move.kind is Kind.CROWN and not crowns:
        return _refused("Place", f"{owner.label} has no Crown in reserve for {square_name(move.cell)}", move.cell)
    if move.kind is not Kind.CROWN and not stones:
        return _refused("Place", f"{owner.label} has no stone in reserve for {square_name(move.cell)}", move.cell)
    return None


def _slide_fault(state: State, move: Slide) -> Refused | None:
    source, stack, taken = square_name(move.cell), state.stack_at(move.cell), sum(move.drops)
    if not stack:
        return _refused("Move", f"{source} is empty: there is nothing to move", move.cell)
    if stack[-1].player is not state.to_move:
        why = f"{source} is not {state.to_move.label}'s to move: {_described(stack)}"
        return _refused("Move", why, move.cell)
    if not move.drops or min(move.drops) < 1:
        return _refused("Move", f"from {source} at least one piece has to be dropped on every square", move.cell)
    if taken > state.size:
        why = f"{taken} pieces from {source} are too many: a {state.size}x{state.size} board lets take {state.size}"
        return _refused("Move", why, move.cell)
    if taken > len(stack):
        return _refused("Move", f"{taken} pieces cannot be taken from {source}: {_described(stack)}", move.cell)
    if not state.on_board(move.cells[-1]):
        why = f"{len(move.drops)} squares {move.direction.name.lower()} from {source} run off the board"
        return _refused("Move", why, move.cell)
    for cell, dropped in zip(move.cells, move.drops, strict=True):
        below = state.stack_at(cell)
        top = below[-1].kind if below else Kind.FLAT
        if top is Kind.CROWN:
            return _refused(
                "Flattening", f"{square_name(cell)} has {below[-1].label} on top: nothing can cover it", cell
            )
        if top is Kind.WALL and not (stack[-1].kind is Kind.CROWN and cell == move.cells[-1] and dropped == 1):
            why = (
                f"{square_name(cell)} has {below[-1].label} on top: only a Crown, dropped alone at the end, flattens it"
            )
            return _refused("Flattening", why, cell)
    return None


def _refused(rule: str, why: str, cell: Cell) -> Refused:
    return Refused(rule, why, cells=(cell,))


def _described(stack: Stack) -> str:
    """A stack in words: A's wall on top of 3."""
    return stack[-1].label if len(stack) == 1 else f"{stack[-1].label} on top of {len(stack) - 1}"
