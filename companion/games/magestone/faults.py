"""Why a choice is refused: the rulebook's section, one sentence, and what is left of the go."""

from companion.games.magestone.board import (
    AROUND_BITS,
    BASES,
    BIT,
    NEIGHBOURS,
    NEXUS,
    NEXUS_BITS,
    WIDTH,
    cells_of,
    distance,
    on_board,
    square_name,
)
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
from companion.games.magestone.dice import Dice, dice_fault, power_die
from companion.games.magestone.pieces import NOVA_STONES, UNITS_A_GO, Unit
from companion.games.magestone.state import State, enemy_bits, taken_bits
from companion.ruling import Refused
from companion.terms import Cell

GO = "Taking your turn"
COMBAT = "Combat"
SORCERY = "Mage sorcery"
STONES = "MageStones"
RITE = "The Rite of the Nexus"
VICTORY = "Victory"

_DEFENCE = 6
"""The die of a defender that is no Mage."""


def fault(state: State, choice: Choice) -> Refused | None:
    """What is wrong with a choice; None where the rules allow it."""
    refused = declaration_fault(state, choice)
    if refused is None and isinstance(choice, (Attack, Bolt)):
        dice = dice_for(state, choice)
        why = None if dice is None else dice_fault(dice, choice.rolls)
        return None if why is None else _refused(state, COMBAT, why, choice.target)
    return refused


def declaration_fault(state: State, choice: Choice) -> Refused | None:
    """What is wrong with a choice, its dice aside; None where it can be declared."""
    if state.result is not None:
        return Refused(VICTORY, f"the game is over ({state.result.ending}): nothing more can be done")
    match choice:
        case Move():
            return _move_fault(state, choice)
        case End() | Draw():
            return None
        case Resign():
            if choice.seat in state.remaining:
                return None
            return Refused(VICTORY, f"{choice.seat.label} is not in the game, and cannot resign; {left(state)}")
        case Attack():
            return _attack_fault(state, choice)
        case Bolt():
            return _bolt_fault(state, choice)
        case Nova():
            return _nova_fault(state)
        case Activate():
            return _activate_fault(state)
        case Collect():
            return _collect_fault(state)
        case BeginRite():
            return _rite_fault(state)


def dice_for(state: State, choice: Attack | Bolt) -> Dice | None:
    """The dice that a declared attack or Bolt calls for; None for a Bolt that nobody can block."""
    target = state.unit_at(choice.target)
    if target is None:
        raise ValueError(f"no unit stands on {square_name(choice.target)}")
    seat, defender = target
    mine = power_die(state.hands[state.to_move].activated)
    theirs = power_die(state.hands[seat].activated) if defender is Unit.MAGE else _DEFENCE
    if isinstance(choice, Bolt):
        return Dice((mine,), (theirs,)) if defender is Unit.MAGE else None
    return Dice(tuple(mine if unit is Unit.MAGE else 6 for unit in choice.units), (theirs,))


def left(state: State) -> str:
    """What is left of the go, in words."""
    return f"left of the go: {_counted(state.squares_left, 'square')}, {_counted(state.units_left, 'unit')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _refused(state: State, rule: str, why: str, *cells: Cell) -> Refused:
    return Refused(rule, f"{why}; {left(state)}", cells=cells)


def _move_fault(state: State, move: Move) -> Refused | None:
    unit, path = move.unit, move.path
    at = state.armies[state.to_move].cells[unit]
    if at is None or state.units_left == 0 or unit in state.moved or unit in state.acted:
        return walker_fault(state, unit)
    if not path:
        return _refused(state, GO, f"{unit.label} stays on {square_name(at)}: a walk has at least one square", at)
    if len(path) > state.squares_left:
        why = f"{len(path)} squares to {_named(path[-1])} are more than the go has left"
        return _refused(state, GO, why, path[-1])
    blocked, before = taken_bits(state) ^ BIT[at], at
    for cell in path:
        if cell not in NEIGHBOURS[before]:
            why = f"not orthogonally next to {square_name(before)}" if on_board(cell) else "not on the board"
            return _refused(state, GO, f"{_named(cell)} is {why}", cell)
        if blocked & BIT[cell]:
            return _refused(state, GO, f"{_standing(state, cell)} blocks the way", cell)
        before = cell
    return None


def _unit_fault(state: State, unit: Unit) -> Refused | None:
    """Why a unit of the player to move can neither move nor act."""
    at = state.armies[state.to_move].cells[unit]
    if at is None:
        return _refused(state, GO, f"{state.to_move.label}'s {unit.label} is not on the board")
    if unit in state.acted:
        why = f"{unit.label} has acted already in this go, and a unit acts once, after its move"
        return _refused(state, GO, why, at)
    if unit not in state.moved and state.units_left == 0:
        return _refused(state, GO, f"{UNITS_A_GO} units have gone already in this go; {unit.label} cannot", at)
    return None


def walker_fault(state: State, unit: Unit) -> Refused | None:
    """Why a unit of the player to move cannot walk anywhere now."""
    refused = _unit_fault(state, unit)
    if refused is not None or unit not in state.moved:
        return refused
    at = state.armies[state.to_move].cells[unit]
    assert at is not None
    return _refused(state, GO, f"{unit.label} has moved already in this go, and a unit moves once", at)


def _attack_fault(state: State, attack: Attack) -> Refused | None:
    units, target = attack.units, attack.target
    refused = _target_fault(state, COMBAT, target)
    if refused is not None:
        return refused
    if not units:
        return _refused(state, COMBAT, "an attack needs one attacker at least", target)
    if Unit.PRIEST in units:
        return _refused(state, COMBAT, "a Priest never attacks", target)
    if len(units) > 1 and Unit.MAGE in units:
        return _refused(state, COMBAT, "a Mage attacks alone: only Warriors coordinate", target)
    if len(units) > UNITS_A_GO or len(set(units)) < len(units):
        return _refused(state, COMBAT, f"one, two or {UNITS_A_GO} different Warriors attack together", target)
    for unit in units:
        refused = _unit_fault(state, unit)
        if refused is not None:
            return refused
        at = state.armies[state.to_move].cells[unit]
        if target not in NEIGHBOURS[at] if at is not None else True:
            why = f"{unit.label} is not orthogonally next to {square_name(target)}"
            return _refused(state, COMBAT, why, target)
    fresh = sum(unit not in state.moved for unit in units)
    if fresh > state.units_left:
        return _refused(state, GO, f"the attack needs {_counted(fresh, 'unit')} that have not gone yet", target)
    return None


def _target_fault(state: State, rule: str, target: Cell) -> Refused | None:
    if not on_board(target):
        return _refused(state, rule, f"{_named(target)} is not on the board", target)
    unit = state.unit_at(target)
    if unit is None:
        return _refused(state, rule, f"no unit stands on {square_name(target)}", target)
    if unit[0] is state.to_move:
        return _refused(state, rule, f"{_standing(state, target)} is no enemy", target)
    return None


def _bolt_fault(state: State, bolt: Bolt) -> Refused | None:
    refused = _unit_fault(state, Unit.MAGE) or _target_fault(state, SORCERY, bolt.target)
    if refused is not None:
        return refused
    at = state.armies[state.to_move].cells[Unit.MAGE]
    assert at is not None
    if not state.hands[state.to_move].activated:
        return _refused(state, SORCERY, "a Bolt takes an Activated stone, and the Mage holds none", at)
    steps = distance(at, bolt.target)
    if steps > state.squares_left:
        why = f"a Bolt to {square_name(bolt.target)} flies {_counted(steps, 'square')}, more than the go has left"
        return _refused(state, SORCERY, why, bolt.target)
    return None


def _nova_fault(state: State) -> Refused | None:
    refused = _unit_fault(state, Unit.MAGE)
    if refused is not None:
        return refused
    at = state.armies[state.to_move].cells[Unit.MAGE]
    assert at is not None
    held = state.hands[state.to_move].activated
    if held < NOVA_STONES:
        why = f"a Nova takes {NOVA_STONES} Activated stones, and the Mage holds {held}"
        return _refused(state, SORCERY, why, at)
    if not AROUND_BITS[at] & enemy_bits(state, state.to_move):
        return _refused(state, SORCERY, "no enemy stands on the eight squares around the Mage", at)
    return None


def _activate_fault(state: State) -> Refused | None:
    refused = _unit_fault(state, Unit.MAGE)
    if refused is not None:
        return refused
    at = state.armies[state.to_move].cells[Unit.MAGE]
    assert at is not None
    if at not in BASES[state.to_move]:
        return _refused(state, STONES, f"the Mage is on {square_name(at)}, and activates on its own base only", at)
    if not state.hands[state.to_move].carried:
        return _refused(state, STONES, "the Mage carries no stone that could be activated", at)
    return None


def _collect_fault(state: State) -> Refused | None:
    refused = _unit_fault(state, Unit.MAGE)
    if refused is not None:
        return refused
    at = state.armies[state.to_move].cells[Unit.MAGE]
    assert at is not None
    if at not in state.unactivated and at not in state.activated:
        return _refused(state, STONES, f"no stone lies on {square_name(at)}, where the Mage stands", at)
    return None


def _rite_fault(state: State) -> Refused | None:
    refused = _unit_fault(state, Unit.PRIEST)
    if refused is not None:
        return refused
    at = state.armies[state.to_move].cells[Unit.PRIEST]
    assert at is not None
    if at not in NEXUS:
        return _refused(state, RITE, f"the Priest is on {square_name(at)}, and has to be on the Nexus", at)
    enemies = tuple(cells_of(NEXUS_BITS & enemy_bits(state, state.to_move)))
    if enemies:
        return _refused(state, RITE, f"{_standing(state, enemies[0])} is on the Nexus", *enemies)
    if state.rite is not None:
        return _refused(state, RITE, "the Rite is running already", at)
    return None


def _standing(state: State, cell: Cell) -> str:
    """The unit on a square, in words."""
    seat, unit = state.unit_at(cell) or (None, None)
    assert seat is not None
    assert unit is not None
    return f"{seat.label}'s {unit.label} on {square_name(cell)}"


def _named(cell: Cell) -> str:
    """A cell that may be off the board, in words."""
    row, column = cell
    return square_name(cell) if 0 <= row < WIDTH and 0 <= column < WIDTH else f"row {row}, column {column}"
