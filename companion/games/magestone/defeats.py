"""Defeat and what comes of it: gravestones, dropped stones, respawns, sieges, broken Rites, eliminations."""

from collections.abc import Iterable
from dataclasses import replace

from companion.games.magestone.board import BASE_BITS, BASES, BIT, HOMES, NEXUS, NEXUS_BITS
from companion.games.magestone.pieces import SEATS, Hand, Seat, Unit
from companion.games.magestone.state import State, enemy_bits, with_army
from companion.terms import Cell


def defeat(state: State, cells: Iterable[Cell]) -> State:
    """The state after the units on these squares fell; nobody has come back yet."""
    for cell in cells:
        fallen = state.unit_at(cell)
        if fallen is None:
            raise ValueError(f"no unit stands on {cell}")
        state = _fall(state, *fallen, cell)
    return state


def _fall(state: State, seat: Seat, unit: Unit, cell: Cell) -> State:
    armies = with_army(state.armies, seat, state.armies[seat].placed(unit, None))
    if unit is Unit.MAGE:
        hand = state.hands[seat]
        dropped = min(1, hand.activated)
        return replace(
            state,
            armies=armies,
            hands=with_hand(state.hands, seat, Hand(0, hand.activated - dropped)),
            unactivated=tuple(sorted((*state.unactivated, *[cell] * hand.carried))),
            activated=tuple(sorted((*state.activated, *[cell] * dropped))),
            queue=(*state.queue, (seat, unit)),
        )
    if unit is Unit.PRIEST:
        return replace(state, armies=armies, queue=(*state.queue, (seat, unit)))
    grave = state.bank > 0 and cell not in NEXUS and cell not in state.graves
    after = replace(
        state,
        armies=armies,
        graves=tuple(sorted((*state.graves, cell))) if grave else state.graves,
        bank=state.bank - grave,
    )
    if seat is not state.to_move:
        return after
    # The token may come back as another Warrior, raised in this very go.
    return replace(
        after,
        moved=tuple(other for other in state.moved if other is not unit),
        acted=tuple(other for other in state.acted if other is not unit),
    )


def respawn(state: State) -> State:
    """The state after everyone in the queue has come back who can."""
    for seat, unit in state.queue:
        cell = free_home(state, seat, unit)
        if cell is not None:
            state = replace(
                state,
                armies=with_army(state.armies, seat, state.armies[seat].placed(unit, cell)),
                queue=tuple(waiting for waiting in state.queue if waiting != (seat, unit)),
            )
    return state


def besieged(state: State, seat: Seat) -> bool:
    """Whether an enemy stands on a seat's base."""
    return bool(BASE_BITS[seat] & enemy_bits(state, seat))


def free_home(state: State, seat: Seat, unit: Unit) -> Cell | None:
    """The square on which a unit comes back: its own, else the nearest free one; None in a siege or a full base."""
    if besieged(state, seat):
        return None
    own = state.armies[seat].bits
    slot = BASES[seat].index(HOMES[seat][unit])
    free = [n for n, cell in enumerate(BASES[seat]) if not BIT[cell] & own]
    return BASES[seat][min(free, key=lambda n: (abs(n - slot), n))] if free else None


def rite_holds(state: State) -> bool:
    """Whether the Priest of the Rite that is running stands on the Nexus, with no enemy on it."""
    return state.rite is None or can_hold_rite(state, state.rite.seat)


def can_hold_rite(state: State, seat: Seat) -> bool:
    """Whether a seat's Priest stands on the Nexus, with no enemy on it."""
    return state.armies[seat].cells[Unit.PRIEST] in NEXUS and not NEXUS_BITS & enemy_bits(state, seat)


def eliminate(state: State) -> State:
    """The state without those who have no unit on the board: their queue is void, and what was left of their go."""
    lost = tuple(seat for seat in state.remaining if not state.armies[seat].bits)
    if not lost:
        return state
    queue = tuple(waiting for waiting in state.queue if waiting[0] not in lost)
    state = replace(state, out=tuple(sorted((*state.out, *lost))), queue=queue)
    if state.to_move in lost:
        return replace(state, squares_left=0, units_left=0, moved=(), acted=())
    return state


def with_hand(hands: tuple[Hand, ...], seat: Seat, hand: Hand) -> tuple[Hand, ...]:
    """What the Mages hold, with one hand changed."""
    return tuple(hand if other is seat else hands[other] for other in SEATS)
