"""What follows from a move that is told, or from a result that the players give: the state after it and the rulings."""

from dataclasses import replace

from companion.games.pathstone.faults import fault
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.pieces import Move, Placement, Reason, Result, square_name
from companion.games.pathstone.state import State, flattens, path_of, play
from companion.ruling import Accepted, Ended, Moved, Refused, Ruling
from companion.terms import Cell

Judged = tuple[State, tuple[Ruling, ...]]

_SECTIONS = {Reason.PATH: "Path win", Reason.FLATS: "Flat win", Reason.DRAW: "Flat win"}


def judge(state: State, given: Move | Result) -> Judged:
    """What follows from a move, or from a resignation or an agreed draw."""
    if isinstance(given, Result):
        return _judge_result(state, given)
    refused = fault(state, given)
    if refused is not None:
        return state, (refused,)
    after = play(state, given)
    moved = accepted_move(state, given)
    return after, (moved, game_over(after)) if after.result is not None else (moved,)


def _judge_result(state: State, result: Result) -> Judged:
    if state.result is not None:
        return state, (Refused("Winning", f"the game is over already: {state.result}"),)
    if result.reason not in (Reason.RESIGNATION, Reason.AGREEMENT):
        return state, (Refused("Winning", f"the board shows no {result.reason}: play goes on"),)
    after = replace(state, ended=result)
    return after, (game_over(after),)


def accepted_move(state: State, move: Move) -> Accepted:
    """The ruling on a legal move."""
    event = Moved(state.ply + 1, state.to_move, write_move(move))
    if isinstance(move, Placement):
        owner = state.to_move.other if state.opening else state.to_move
        whose = f" for {owner.label}" if state.opening else ""
        why = f"{state.to_move.label} places a {move.kind.label}{whose} on {square_name(move.cell)}"
        return Accepted("Setup" if state.opening else "Place", why, event, cells=(move.cell,))
    drops = ", ".join(f"{n} on {square_name(cell)}" for n, cell in zip(move.drops, move.cells, strict=True))
    why = f"{state.to_move.label} moves {sum(move.drops)} from {square_name(move.cell)}: {drops}"
    if flattens(state, move):
        why += ", and flattens the wall"
    return Accepted("Flattening" if flattens(state, move) else "Move", why, event, cells=(move.cell, *move.cells))


def game_over(state: State) -> Accepted:
    """The ruling that ends a game; the cells are those of the path that won it. The game has to be over."""
    result = state.result
    assert result is not None
    cells: tuple[Cell, ...] = ()
    a, b = state.flats
    match result.reason:
        case Reason.PATH:
            assert result.winner is not None
            cells = path_of(state, result.winner)
            why = f"{result.winner.label} connects {square_name(cells[0])} to {square_name(cells[-1])}"
        case Reason.FLATS:
            assert result.winner is not None
            why = f"{result.winner.label} has more exposed flats: A {a} - B {b}"
        case Reason.DRAW:
            why = f"equal exposed flats: A {a} - B {b}"
        case Reason.RESIGNATION:
            assert result.winner is not None
            why = f"{result.winner.other.label} resigns"
        case Reason.AGREEMENT:
            why = "a draw by agreement"
    event = Ended(str(result), result.reason.value, result.winner, (a, b))
    return Accepted(_SECTIONS.get(result.reason, "Winning"), f"{result}: {why}", event, cells=cells)
