"""What a choice does. Each function gives the state after a choice that the rules allow."""

from dataclasses import replace

from companion.games.magestone.board import AROUND_BITS, BASE_BITS, BIT, DIAGONALS, NEXUS, cells_of, distance, on_board
from companion.games.magestone.choices import (
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Draw,
    End,
    Move,
    Nova,
    Resign,
)
from companion.games.magestone.defeats import defeat, with_hand
from companion.games.magestone.dice import Fighter, Roll, decisive, winner
from companion.games.magestone.endings import settle
from companion.games.magestone.faults import dice_for, fault
from companion.games.magestone.pieces import (
    SQUARES_A_GO,
    UNITS_A_GO,
    WARRIORS,
    Ending,
    Hand,
    Result,
    Rite,
    Seat,
    Unit,
)
from companion.games.magestone.state import NO_ARMY, State, enemy_bits, with_army
from companion.terms import Cell


def play(state: State, choice: Choice) -> State:
    """The state after a choice. Raises ValueError where the rules refuse it; `fault` says why."""
    refused = fault(state, choice)
    if refused is not None:
        raise ValueError(refused.why)
    match choice:
        case Move():
            return _move(state, choice)
        case End():
            return _end(state)
        case Attack():
            return _attack(state, choice)
        case Bolt():
            return _bolt(state, choice)
        case Nova():
            return _nova(state)
        case Activate():
            return _activate(state)
        case Collect():
            collected = _collect(_with_actors(state, (Unit.MAGE,)), state.armies[state.to_move].cells[Unit.MAGE])
            return settle(collected)
        case Resign():
            return _resign(state, choice.seat)
        case Draw():
            return replace(state, result=Result(Ending.AGREEMENT))
        case BeginRite():
            return replace(_with_actors(state, (Unit.PRIEST,)), rite=Rite(state.to_move, state.returns))


def can_raise(state: State) -> bool:
    """Whether the Priest of the player to move would raise a Warrior on a gravestone now."""
    return not state.raised and state.warriors(state.to_move) < len(WARRIORS)


def raises(state: State, unit: Unit, cell: Cell) -> bool:
    """Whether a unit of the player to move that ends its walk on a square raises a Warrior there."""
    return unit is Unit.PRIEST and cell in state.graves and can_raise(state)


def breaks_rite(state: State, move: Move) -> bool:
    """Whether a walk breaks the Rite that is running: its Priest leaves the Nexus, or an enemy steps on it."""
    if state.rite is None:
        return False
    if state.rite.seat is not state.to_move:
        return not NEXUS.isdisjoint(move.path)
    return move.unit is Unit.PRIEST and not NEXUS.issuperset(move.path)


def _move(state: State, move: Move) -> State:
    seat, unit, end = state.to_move, move.unit, move.path[-1]
    broken = state.rite is not None and breaks_rite(state, move)
    after = State(
        state.seats,
        with_army(state.armies, seat, state.armies[seat].placed(unit, end)),
        state.hands,
        state.unactivated,
        state.activated,
        state.graves,
        state.bank,
        seat,
        state.squares_left - len(move.path),
        state.units_left - 1,
        tuple(sorted((*state.moved, unit))),
        state.acted,
        state.raised,
        state.queue,
        state.out,
        None if broken else state.rite,
        state.result,
    )
    if unit is Unit.MAGE and (end in state.unactivated or end in state.activated):
        after = _collect(replace(after, acted=tuple(sorted((*state.acted, unit)))), end)
    elif raises(state, unit, end):
        after = _raise(after, end, move.path[-2] if len(move.path) > 1 else state.armies[seat].cells[unit])
    # Nothing else follows from a walk where nobody waits and no Mage comes home.
    comes_home = unit is Unit.MAGE and BIT[end] & BASE_BITS[seat]
    return settle(after) if state.queue or comes_home else after


def _raise(state: State, grave: Cell, back: Cell | None) -> State:
    """The Priest has reached a gravestone: a Warrior stands there, and the Priest on the square before it."""
    seat = state.to_move
    army = state.armies[seat]
    raised = next(unit for unit in WARRIORS if army.cells[unit] is None)
    return replace(
        state,
        armies=with_army(state.armies, seat, army.placed(Unit.PRIEST, back).placed(raised, grave)),
        graves=tuple(cell for cell in state.graves if cell != grave),
        acted=tuple(sorted((*state.acted, Unit.PRIEST))),
        raised=True,
    )


def _collect(state: State, cell: Cell | None) -> State:
    """The Mage has taken all stones of a square."""
    hand = state.hands[state.to_move]
    carried, activated = state.unactivated.count(cell), state.activated.count(cell)
    taken = Hand(hand.carried + carried, hand.activated + activated)
    return replace(
        state,
        hands=with_hand(state.hands, state.to_move, taken),
        unactivated=tuple(other for other in state.unactivated if other != cell),
        activated=tuple(other for other in state.activated if other != cell),
    )


def _activate(state: State) -> State:
    hand = state.hands[state.to_move]
    hands = with_hand(state.hands, state.to_move, Hand(0, hand.carried + hand.activated))
    return settle(replace(_with_actors(state, (Unit.MAGE,)), hands=hands))


def fallen(state: State, choice: Choice) -> tuple[Cell, ...]:
    """The squares of the units that fall by a choice that the rules allow."""
    match choice:
        case Attack():
            lead = state.armies[state.to_move].cells[choice.units[0]]
            assert lead is not None
            return (choice.target if _attacker_wins(choice.rolls) else lead,)
        case Bolt():
            blocked = dice_for(state, choice) is not None and not _attacker_wins(choice.rolls)
            return () if blocked else (choice.target,)
        case Nova():
            mage = state.armies[state.to_move].cells[Unit.MAGE]
            assert mage is not None
            return tuple(cells_of(AROUND_BITS[mage] & enemy_bits(state, state.to_move)))
        case _:
            return ()


def _attacker_wins(rolls: tuple[Roll, ...]) -> bool:
    roll = decisive(rolls)
    assert roll is not None
    return winner(roll) is Fighter.ATTACKER


def _attack(state: State, attack: Attack) -> State:
    return settle(defeat(_with_actors(state, attack.units), fallen(state, attack)))


def _bolt(state: State, bolt: Bolt) -> State:
    mage = state.armies[state.to_move].cells[Unit.MAGE]
    assert mage is not None
    cast = _spend(state, (bolt.target,), distance(mage, bolt.target))
    return settle(defeat(cast, fallen(state, bolt)))


def _nova(state: State) -> State:
    mage = state.armies[state.to_move].cells[Unit.MAGE]
    assert mage is not None
    cast = _spend(state, tuple(cell if on_board(cell) else mage for cell in DIAGONALS[mage]), 0)
    return settle(defeat(cast, fallen(state, Nova())))


def _resign(state: State, seat: Seat) -> State:
    queue = tuple(waiting for waiting in state.queue if waiting[0] is not seat)
    return settle(replace(state, armies=with_army(state.armies, seat, NO_ARMY), queue=queue))


def _spend(state: State, stones: tuple[Cell, ...], squares: int) -> State:
    """The Mage has cast a spell: its stones lie on the board, still Activated."""
    hand = state.hands[state.to_move]
    return replace(
        _with_actors(state, (Unit.MAGE,)),
        hands=with_hand(state.hands, state.to_move, Hand(hand.carried, hand.activated - len(stones))),
        activated=tuple(sorted((*state.activated, *stones))),
        squares_left=state.squares_left - squares,
    )


def _with_actors(state: State, units: tuple[Unit, ...]) -> State:
    """The state after units have acted; one that has not moved uses up one of the go's three."""
    fresh = sum(unit not in state.moved for unit in units)
    return replace(state, units_left=state.units_left - fresh, acted=tuple(sorted((*state.acted, *units))))


def _end(state: State) -> State:
    seat, rite = state.next_seat, state.rite
    if rite is not None and rite.seat is seat:
        rite = Rite(seat, rite.returns_left - 1)
    after = State(
        state.seats,
        state.armies,
        state.hands,
        state.unactivated,
        state.activated,
        state.graves,
        state.bank,
        seat,
        SQUARES_A_GO,
        UNITS_A_GO,
        (),
        (),
        False,
        state.queue,
        state.out,
        rite,
        state.result,
    )
    return settle(after) if state.queue or rite is not state.rite else after
