"""What people say about a game of Pathways, and their corrections of what was seen."""

from dataclasses import replace

from companion.games.at_rest import COMES_OFF, launch_area_order, order
from companion.games.compare import same_place
from companion.games.flicks import (
    CLEARED,
    at_rest,
    given_back,
    one_flick,
    order_sentence,
    ordered_off,
    out_of_turn,
    place,
    remedy,
    several_flicks,
)
from companion.games.looks import (
    BY_HAND,
    FLICK_LOST,
    OUT_OF_TURN,
    flicks_seen,
    judge_look,
    new_disks,
    taken_by_hand,
)
from companion.games.position import Doubt, Judged, Question, Resting, State, Witness
from companion.games.witnesses import A_DISK, as_told, settle, settle_by_board, with_colour
from companion.inputs import Declaration, Declared, DiskCorrection, Look, SeenDisk
from companion.ruling import CORRECTION, Accepted, Do, Refused, Ruling, Undecided, Why
from companion.terms import IllegalFlick, Player

LEFT_BOARD = "left-the-board"


def judge_declaration(state: State, said: Declaration) -> Judged:
    """What follows from a declaration: the state after it and the rulings."""
    match said.what:
        case Declared.ILLEGAL_FLICK:
            return _illegal_flick(state)
        case Declared.NOT_A_FLICK:
            return _not_a_flick(state)
        case Declared.FLICK_LOST:
            return _flick_lost(state)
        case Declared.OUT_OF_TURN:
            return _answered(state, OUT_OF_TURN)
        case Declared.ACCEPT:
            return _answered(state, said.choice)
        case Declared.END_GAME:
            return _end_game(state)
        case Declared.START | Declared.NEXT_GAME:
            return state, (Refused("Quick Start", "a game is being played"),)


def _illegal_flick(state: State) -> Judged:
    if state.last is None or (state.question is not None and state.question.doubt is not Doubt.FLICKED):
        return state, (_nothing_flicked(state),)
    shot, flicked = state.last.shot, state.last.flicked
    if len(flicked) > 1:
        asked = Undecided(
            "Quick Start",
            f"{shot.player.label}'s flick was illegal: say which disk was flicked",
            tuple(_named(disk) for disk in flicked),
            shot.n,
            disks=tuple(disk for disk in flicked if disk is not None),
        )
        return replace(state, question=Question(Doubt.FLICKED, asked)), (asked,)
    return _penalty(state, flicked[0])


def _penalty(state: State, flicked: SeenDisk | None) -> Judged:
    assert state.last is not None
    player = state.last.shot.player
    after = remedy(replace(state, question=None), state.last, flicked)
    off = next((resting for resting in after.board if resting.disk == flicked and resting.order), None)
    why = f"{player.label}'s flick was illegal"
    if state.setup.illegal_flick is IllegalFlick.REPLAY:
        why += ": it is flicked again"
    if off is None or off.order is None:
        return after, (Accepted("Quick Start", f"{why}; its disk is off the board already"),)
    return after, (Accepted("Quick Start", f"{why}; {order_sentence(off.disk, off.order)}", None, (off.order,)),)


def _not_a_flick(state: State) -> Judged:
    """The flick is taken back; what it moved lies where it lies, and a disk that it brought goes back to its player."""
    question = state.question
    if question is not None and question.look is not None:
        return _not_a_flick_in_question(replace(state, question=None), as_told(question.look))
    if state.last is None:
        return state, (_nothing_flicked(state),)
    flicked = state.last.flicked
    board = tuple(replace(resting, order=None, doubt=None) for resting in state.board)
    new = flicked[0] if len(flicked) == 1 else None
    after = given_back(ordered_off(replace(state, board=board, question=None), new, Why.NOT_A_FLICK), state.last)
    why = f"{state.last.shot.player.label} did not flick; {after.to_flick.label} is to flick"
    return after, (Accepted(CORRECTION, why, None, after.orders),)


def _not_a_flick_in_question(state: State, look: Look) -> Judged:
    after, new = taken_by_hand(state, look), new_disks(state, look)
    orders = tuple(order(Do.REMOVE, Why.NOT_A_FLICK, disk, "Quick Start") for disk in new)
    taken_back = (Resting(disk, off) for disk, off in zip(new, orders, strict=True))
    why = f"nobody flicked; {state.to_flick.label} is to flick"
    return replace(after, board=(*after.board, *taken_back)), (Accepted(CORRECTION, why, None, orders),)


def _nothing_flicked(state: State) -> Ruling:
    if state.question is not None:
        return Refused(CORRECTION, f"first answer: {state.question.asked.why}")
    return Refused(CORRECTION, "there is no flick that it can be about")


def _flick_lost(state: State) -> Judged:
    if FLICK_LOST in _choices(state):
        return _answered(state, FLICK_LOST)
    if state.over or state.question is not None:
        return state, (_nothing_flicked(state),)
    return one_flick(state, state.to_flick, Look(state.disks))


def _answered(state: State, choice: str | None) -> Judged:
    """The oldest question that has this choice is answered; no choice says that the orders are carried out."""
    question = state.question
    if question is not None and choice in question.asked.candidates:
        return _answer(replace(state, question=None), question, choice)
    for index, resting in enumerate(state.board):
        if resting.doubt is not None and choice in resting.doubt.candidates:
            off = launch_area_order(state.setup.field, resting.disk) if choice == COMES_OFF else None
            decided = replace(resting, doubt=None, order=off)
            board = (*state.board[:index], decided, *state.board[index + 1 :])
            why = f"{resting.disk.colour.label}'s disk stays" if off is None else order_sentence(resting.disk, off)
            return replace(state, board=board), (Accepted("Quick Start", why, None, () if off is None else (off,)),)
    if choice is None and state.orders and not state.questions:
        board = tuple(resting for resting in state.board if resting.order is None)
        return replace(state, board=board), (CLEARED,)
    if not state.questions:
        return state, (Refused(CORRECTION, "there is nothing to answer"),)
    return state, (Refused(CORRECTION, f"the answer must be one of: {', '.join(_choices(state))}"),)


def _choices(state: State) -> tuple[str, ...]:
    return tuple(dict.fromkeys(choice for asked in state.questions for choice in asked.candidates))


def _answer(state: State, question: Question, choice: str | None) -> Judged:
    """The state has the question taken away already."""
    look = question.look
    if look is not None and question.doubt in (Doubt.WITNESS, Doubt.COLOUR):
        return _witnessed(state, question, look, choice)
    if look is None:
        disks = (*question.asked.disks, None)
        return _penalty(state, next(disk for disk in disks if _named(disk) == choice))
    flicks = flicks_seen(state, look)
    if choice == OUT_OF_TURN:
        return out_of_turn(state, flicks[-1].player, look)
    if choice == BY_HAND:
        return taken_by_hand(state, look), (Accepted(CORRECTION, "taken off by hand"),)
    return several_flicks(state, flicks, look) if flicks else one_flick(state, state.to_flick, look)


def _witnessed(state: State, question: Question, look: Look, choice: str | None) -> Judged:
    """A person has said what lies in a hole; the look that waited for it is judged."""
    where = "at row {}, column {}".format(*question.asked.cells[0])
    if question.doubt is Doubt.WITNESS:
        right = next(witness for witness in Witness if choice == f"{witness}-is-right")
        after, rulings = judge_look(settle(state, look, right), look)
        return after, rulings or (Accepted(CORRECTION, f"the {right} is right {where}"),)
    colour = Player.A if choice == A_DISK else Player.B
    after, rulings = judge_look(state, with_colour(state, question, colour))
    return after, rulings or (Accepted(CORRECTION, f"{colour.label}'s disk lies {where}"),)


def _end_game(state: State) -> Judged:
    if state.over:
        return state, (Refused("Basic Scoring", "the game is over already"),)
    rulings: tuple[Ruling, ...] = ()
    if state.question is not None and state.question.doubt is Doubt.TURN:
        state, rulings = _answered(state, FLICK_LOST)
    return replace(state, ended=True, question=None), (
        *rulings,
        Accepted("Basic Scoring", "the game ends as it stands"),
    )


def _named(disk: SeenDisk | None) -> str:
    return LEFT_BOARD if disk is None else place(disk)


def judge_correction(state: State, fix: DiskCorrection) -> Judged:
    """A disk of the last look corrected, and judged again where it lies."""
    fault = _fault(state, fix)
    if fault is not None:
        return state, (Refused(CORRECTION, fault),)
    board = _corrected_board(state, fix)
    question = state.question
    if question is None or question.look is None:
        after = replace(state, board=board)
        new = [resting for resting in board if resting not in state.board]
        orders = tuple(resting.order for resting in new if resting.order is not None)
        doubts = tuple(resting.doubt for resting in new if resting.doubt is not None)
        why = "; ".join(order_sentence(resting.disk, resting.order) for resting in new if resting.order)
        return after, (Accepted(CORRECTION, why or "the board is corrected", None, orders), *doubts)
    known = replace(state, board=board if _index(state.disks, fix.was) is not None else state.board, question=None)
    seen = question.look.disks
    index = _index(seen, fix.was)
    kept = seen if index is None else (*seen[:index], *seen[index + 1 :])
    look = replace(question.look, disks=kept if fix.now is None else (*kept, fix.now))
    after, rulings = judge_look(settle_by_board(known, look), look)
    return after, rulings or (Accepted(CORRECTION, "the board is as it was before the question"),)


def _fault(state: State, fix: DiskCorrection) -> str | None:
    field = state.setup.field
    if fix.was is None and fix.now is None:
        return "a correction needs a disk"
    if fix.now is not None and fix.now.cell is not None:
        row, column = fix.now.cell
        if not (1 <= row <= field.rows and 1 <= column <= field.columns):
            return f"there is no hole at row {row}, column {column}"
    waiting = state.question.look.disks if state.question is not None and state.question.look is not None else ()
    if fix.was is not None and _index(state.disks, fix.was) is None and _index(waiting, fix.was) is None:
        return f"there is no such disk {place(fix.was)}"
    return None


def _corrected_board(state: State, fix: DiskCorrection) -> tuple[Resting, ...]:
    new = () if fix.now is None else (at_rest(state, fix.now, sum(state.used)),)
    index = _index(state.disks, fix.was)
    if index is None:
        return (*state.board, *new)
    return (*state.board[:index], *new, *state.board[index + 1 :])


def _index(disks: tuple[SeenDisk, ...], wanted: SeenDisk | None) -> int | None:
    """Which disk is meant: one of the same colour in the same place."""
    if wanted is None:
        return None
    if wanted in disks:
        return disks.index(wanted)
    meant = (i for i, disk in enumerate(disks) if disk.colour is wanted.colour and same_place(disk, wanted))
    return next(meant, None)
