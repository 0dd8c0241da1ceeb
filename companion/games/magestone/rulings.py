"""The rulings on a choice that is told, with the orders that follow from it."""

from dataclasses import replace

from companion.games.magestone.board import square_name
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
from companion.games.magestone.dice import Dice, Fighter, Roll, decisive, odds, winner
from companion.games.magestone.faults import COMBAT, GO, RITE, SORCERY, STONES, VICTORY, dice_for, fault
from companion.games.magestone.orders import Order, orders
from companion.games.magestone.pieces import Ending, Unit
from companion.games.magestone.play import fallen, play
from companion.games.magestone.state import State
from companion.ruling import Accepted, Ruling

DEFEAT = "Defeat, gravestones and respawns"
PRIEST = "The Priest"
STALEMATE = "Stalemate"

Judged = tuple[State, tuple[Ruling, ...], tuple[Order, ...]]
"""The state after a choice, the rulings it gets, and what has to be done on the table."""


def judge(state: State, choice: Choice) -> Judged:
    """What follows from a choice; a refused one changes nothing."""
    refused = fault(state, choice)
    if refused is not None:
        return state, (refused,), ()
    after = play(state, choice)
    return after, (_accepted(state, choice, after), *_consequences(state, choice, after)), orders(state, choice, after)


def as_played(state: State, choice: Choice) -> Choice:
    """A legal choice without the dice that were not needed, as it goes into a record."""
    if not isinstance(choice, (Attack, Bolt)):
        return choice
    if dice_for(state, choice) is None:
        return replace(choice, rolls=())
    needed = next(n for n, roll in enumerate(choice.rolls, 1) if winner(roll) is not None)
    return replace(choice, rolls=choice.rolls[:needed])


def _accepted(state: State, choice: Choice, after: State) -> Accepted:
    who, army = state.to_move.label, state.armies[state.to_move].cells
    match choice:
        case Move():
            return _walked(state, choice, after)
        case Attack():
            return Accepted(COMBAT, f"{_against(state, choice)}: {_fought(choice.rolls)}", cells=(choice.target,))
        case Bolt():
            why = _against(state, choice)
            if dice_for(state, choice) is not None:
                why += f": {_fought(choice.rolls)}"
            return Accepted(SORCERY, why, cells=(choice.target,))
        case Nova():
            mage = army[Unit.MAGE]
            assert mage is not None
            return Accepted(SORCERY, f"{who}'s Mage casts a Nova on {square_name(mage)}", cells=(mage,))
        case Activate():
            return Accepted(STONES, f"{who}'s Mage activates {state.hands[state.to_move].carried} on its base")
        case Collect():
            return Accepted(STONES, f"{who}'s Mage takes the stones on its square")
        case BeginRite():
            returns = "once" if state.returns == 1 else "twice"
            why = f"{who} begins the Rite, won once play has come back {returns}"
            return Accepted(RITE, why)
        case Resign():
            return Accepted(VICTORY, f"{choice.seat.label} resigns")
        case Draw():
            return Accepted(VICTORY, "all agree to a draw")
        case End():
            return Accepted(GO, f"{who}'s go is over; {after.to_move.label}'s begins")


def _walked(state: State, move: Move, after: State) -> Accepted:
    end, seat = move.path[-1], state.to_move
    walked = f"{seat.label}'s {move.unit.label} walks to {square_name(end)}"
    if after.raised and not state.raised:
        back = after.armies[seat].cells[Unit.PRIEST]
        assert back is not None
        why = f"{walked}, raises a Warrior there and steps back to {square_name(back)}"
        return Accepted(PRIEST, why, cells=(*move.path, back))
    if move.unit is Unit.MAGE and move.unit in after.acted:
        stones = state.stones_at(end)
        kinds = ((stones.carried, "Unactivated"), (stones.activated, "Activated"))
        why = f"{walked} and takes {' and '.join(f'{number} {kind}' for number, kind in kinds if number)}"
        return Accepted(STONES, why, cells=move.path)
    return Accepted(GO, walked, cells=move.path)


def declared(state: State, fight: Attack | Bolt, dice: Dice) -> Accepted:
    """The ruling on an attack or Bolt that waits for its dice."""
    chance = odds(dice)
    why = f"{_against(state, fight)}: {dice}, won with a chance of {chance} ({float(chance):.1%})"
    return Accepted(SORCERY if isinstance(fight, Bolt) else COMBAT, why, cells=(fight.target,))


def named(choice: Choice) -> str:
    """A choice as something that can be spoken of: the attack on f5."""
    match choice:
        case Move():
            return f"{choice.unit.label}'s walk to {square_name(choice.path[-1])}"
        case Attack():
            return f"the attack on {square_name(choice.target)}"
        case Bolt():
            return f"the Bolt at {square_name(choice.target)}"
        case Nova():
            return "the Nova"
        case Activate():
            return "the activation"
        case Collect():
            return "the collecting"
        case BeginRite():
            return "the beginning of the Rite"
        case End():
            return "the end of the go"
        case Resign():
            return f"{choice.seat.label}'s resignation"
        case Draw():
            return "the draw"


def _against(state: State, fight: Attack | Bolt) -> str:
    target = state.unit_at(fight.target)
    assert target is not None
    enemy = f"{target[0].label}'s {target[1].label} on {square_name(fight.target)}"
    if isinstance(fight, Bolt):
        return f"{state.to_move.label}'s Mage casts a Bolt at {enemy}"
    names = " and ".join(unit.label for unit in fight.units)
    return f"{state.to_move.label}'s {names} {'attacks' if len(fight.units) == 1 else 'attack'} {enemy}"


def _fought(rolls: tuple[Roll, ...]) -> str:
    roll = decisive(rolls)
    assert roll is not None
    won = "the attacker wins" if winner(roll) is Fighter.ATTACKER else "the defender wins"
    return f"{sum(roll.attacker)} against {sum(roll.defender)}, {won}"


def _consequences(before: State, choice: Choice, after: State) -> tuple[Accepted, ...]:
    """What came of a choice besides: who fell and came back, a broken Rite, who is out, the end of the game."""
    told: list[Accepted] = []
    fell = {before.unit_at(cell) for cell in fallen(before, choice)}
    for seat in before.seats:
        for unit in Unit:
            who, now = (seat, unit), after.armies[seat].cells[unit]
            name = f"{seat.label}'s {unit.label}"
            if who in fell:
                was = before.armies[seat].cells[unit]
                assert was is not None
                told.append(Accepted(DEFEAT, f"{name} falls on {square_name(was)}", cells=(was,)))
            if now is not None and (who in fell or who in before.queue):
                told.append(Accepted(DEFEAT, f"{name} is back on {square_name(now)}", cells=(now,)))
            elif who in fell and who in after.queue:
                told.append(Accepted(DEFEAT, f"{name} waits to respawn"))
    if before.rite is not None and after.rite is None:
        told.append(Accepted(RITE, f"{before.rite.seat.label}'s Rite is broken"))
    told += [Accepted(DEFEAT, f"{seat.label} is eliminated") for seat in after.out if seat not in before.out]
    if after.result is not None:
        told.append(game_over(after))
    return tuple(told)


def game_over(state: State) -> Accepted:
    """The ruling that ends a game, which has to be over."""
    result = state.result
    assert result is not None
    if result.ending is Ending.AGREEMENT:
        return Accepted(VICTORY, "drawn by agreement")
    if result.winner is None:
        why = "stalemate: all are Warriors on each other's bases, and nobody can come back"
        return Accepted(STALEMATE, why)
    if result.ending is Ending.MAGESTONE:
        how = f"the Mage stands on its base with {state.hands[result.winner].activated} Activated stones"
    else:
        how = "the Rite of the Nexus is complete" if result.ending is Ending.RITUAL else "every rival is eliminated"
    return Accepted(VICTORY, f"{result.winner.label} wins ({result.ending}): {how}")
