"""How a game ends, and what is looked at after every choice: the Rite, respawns, eliminations, victory, stalemate."""

from dataclasses import replace

from companion.games.magestone.board import BASE_BITS, BASES
from companion.games.magestone.defeats import eliminate, respawn, rite_holds
from companion.games.magestone.pieces import STONES_TO_WIN, Ending, Result, Seat, Unit
from companion.games.magestone.state import State


def settle(state: State) -> State:
    """The state after what follows by itself: respawns first, then what breaks, who is out, and whether it is over."""
    if state.queue:
        state = respawn(state)
    if not rite_holds(state):
        state = replace(state, rite=None)
    state = eliminate(state)
    result = ending(state)
    return state if result == state.result else replace(state, result=result)


def ending(state: State) -> Result | None:
    """How the game has ended as things stand; None while it goes on."""
    remaining = state.remaining
    first = remaining.index(state.to_move) if state.to_move in remaining else 0
    for seat in (*remaining[first:], *remaining[:first]):
        if state.armies[seat].cells[Unit.MAGE] in BASES[seat] and state.hands[seat].activated >= STONES_TO_WIN:
            return Result(Ending.MAGESTONE, seat)
    if state.rite is not None and state.rite.returns_left == 0:
        return Result(Ending.RITUAL, state.rite.seat)
    if len(remaining) == 1:
        return Result(Ending.CONQUEST, remaining[0])
    if all(_locked_out(state, seat) for seat in remaining):
        return Result(Ending.STALEMATE)
    return None


def _locked_out(state: State, seat: Seat) -> bool:
    """Whether a player has only Warriors, all of them on bases that they hold, while Mage and Priest cannot respawn."""
    # Who waits with no own unit at home is besieged: nothing else keeps a unit in the queue but a full base.
    waiting = {(seat, Unit.MAGE), (seat, Unit.PRIEST)} <= set(state.queue)
    held = sum(BASE_BITS[other] for other in state.remaining if other is not seat)
    return waiting and not state.armies[seat].bits & ~held
