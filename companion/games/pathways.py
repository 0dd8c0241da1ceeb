"""Pathways as the referee plays it: a new game, what follows from an input, and what lies in the scoring holes.

`position` holds a game's values, `at_rest` the rules on where a disk lies, `compare` what differs between two looks,
`flicks` what a flick does, `looks` how a look becomes a ruling, `witnesses` what sensors add to it, and `said` what
people declare and correct.
"""

from companion.games import at_rest
from companion.games.flicks import change_on, one_flick, out_of_turn, surplus
from companion.games.looks import in_play, judge_look
from companion.games.match import Tally
from companion.games.position import DISKS_EACH, Judged, Resting, State, next_to_flick
from companion.games.said import judge_correction, judge_declaration
from companion.games.witnesses import as_told
from companion.inputs import Declaration, DiskCorrection, Look, SeenDisk, Setup
from companion.ruling import Do, Why
from companion.terms import Player

__all__ = [
    "DISKS_EACH",
    "Judged",
    "State",
    "board_is_empty",
    "judge",
    "judge_told",
    "next_to_flick",
    "resting",
    "scoring",
    "start",
]


def start(setup: Setup, starter: Player | None = None) -> State:
    """A new game; `starter` is the set-up's where none is given."""
    return State(setup, setup.starter if starter is None else starter)


def judge(state: State, given: Look | Declaration | DiskCorrection) -> Judged:
    """What follows from one input: the state after it and the rulings; none where nothing happened."""
    match given:
        case Look():
            return judge_look(state, given)
        case Declaration():
            return judge_declaration(state, given)
        case DiskCorrection():
            return judge_correction(state, given)


def judge_told(state: State, player: Player, disks: tuple[SeenDisk, ...], left_board: int | None = None) -> Judged:
    """What follows from a flick that is told, not seen: the board at rest after it, and how many disks left it."""
    look = Look(tuple(disk for disk in disks if at_rest.on_slab(state.setup.field, disk)))
    if state.over or state.flicks_left(player) == 0:
        return surplus(state, {player}, change_on(state, look))
    if player is not state.to_flick:
        return out_of_turn(state, player, look)
    return one_flick(state, player, look, left_board)


def resting(state: State, disk: SeenDisk, off: Why | None, *, counts: bool, too_close: bool) -> Resting:
    """A disk that lies on the board when a game is set up: by right, or with an order or a doubt still open."""
    rule = "Important Rules" if off is Why.OWN_FRONT_ROW else "Quick Start"
    return Resting(
        disk,
        None if off is None else at_rest.order(Do.REMOVE, off, disk, rule),
        at_rest.line_doubt(state.setup.field, disk, sum(state.used)) if too_close else None,
        counts,
    )


def scoring(state: State) -> Tally:
    """What lies in the scoring holes, without the disks that have to come off or do not count."""
    counting = (resting.disk for resting in state.board if resting.counts and not resting.order)
    return at_rest.tally(state.setup.field, counting)


def board_is_empty(state: State, look: Look) -> bool:
    """Whether a look shows a board cleared for the next game; disks laid ready in the launch areas may be there."""
    seen = as_told(look)
    return not seen.hidden and not look.occupied and not in_play(state, seen).disks
