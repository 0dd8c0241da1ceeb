"""A go followed step by step: what a look of the board shows beyond what is believed, explained by legal choices.

A unit that is seen elsewhere has walked there, by a shortest walk. Who fights, casts or begins the Rite says so; where
nobody did, a fight is supposed only from what it leaves on the board: a unit gone from its square, and all orders done.
A unit that is seen nowhere is unknown, and has never moved. The go of who is to move ends when a unit of the next seat
goes; nobody is supposed to have passed who could have done anything. A unit that is seen elsewhere may
have walked in a go before as well, while no look has shown where it stood and where it went.

What nothing explains may be a take-back: the board as it was, or other walks in place of this go's.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from companion.games.magestone.board import BASES, BIT, NEIGHBOURS, NEXUS, square_name
from companion.games.magestone.choices import Attack, Bolt, Choice, End, Move
from companion.games.magestone.course import (
    Board,
    Course,
    Loose,
    OpenEnd,
    Someone,
    Source,
    Step,
    loosened,
    outstanding,
    top_of_order,
    wrong_squares,
)
from companion.games.magestone.dice import Roll
from companion.games.magestone.faults import GO, dice_for, fault, left, walker_fault
from companion.games.magestone.legal import legal_choices, reach, shortest_walks
from companion.games.magestone.looks import Look, Top, lying, uppermost
from companion.games.magestone.orders import Do, Token, orders
from companion.games.magestone.pieces import Unit
from companion.games.magestone.play import can_raise, fallen, play
from companion.games.magestone.state import State, enemy_bits
from companion.ruling import Refused, Undecided
from companion.terms import Cell

_MOST_TRIED: Final = 3_000
"""So many choices are tried for one explanation, within a second; what needs more is not explained."""
_MOST_CHOICES: Final = 12
_MOST_NAMED: Final = 8
"""So many squares to restore are named in words; a table that is not set up yet has more."""
_BACK: Final = 24
"""Steps that a take-back can undo, or a walk be late by."""
_MOST_LATE: Final = 32
"""So many courses with late walks are tried for one explanation."""


class TooMuchError(Exception):
    """There are too many ways to explain a look to go through them all."""


def explanations(course: Course, look: Look, *, silent: bool = False) -> tuple[Course, ...]:
    """The courses that explain a look, the given one alone where it shows nothing new; none where none does.

    Raises TooMuchError.

    `silent` is a source where nobody can say anything: then what leaves no trace may have been chosen too.
    """
    board = Board(look)
    courses = _with_late_walks(course, board)
    found = [after for one in courses for after in _onward(one, board, silent=silent)] or _back(course, board)
    return tuple(replace(one, pending=outstanding(one, look), open_ends=_still_open(one, board)) for one in found)


def may_be_underway(course: Course, look: Look) -> bool:
    """Whether a fight that nobody declared may leave such a board before all that it asks for is done.

    Raises TooMuchError.
    """
    found = _onward(course, Board(look), underway=True)
    return any(outstanding(one, look) for one in found if len(one.steps) > len(course.steps))


# Onward: what was chosen since


def _onward(
    course: Course, board: Board, *, silent: bool = False, underway: bool = False, walks_only: bool = False
) -> list[Course]:
    """The courses that the board shows with the fewest choices more; an end of a go does not count.

    A fight is supposed only where all its orders are done, or `underway`, some.
    """
    layer, known, tried = [course], set[object](), 0
    for _ in range(_MOST_CHOICES):
        found, dearer = list[Course](), list[Course]()
        while layer:
            one = layer.pop()
            loose = loosened(one.pending, one.state)
            wrong = wrong_squares(one.state, board, loose)
            if not wrong and all(_is_borne_out(step, one.state, board) for step in one.steps[len(course.steps) :]):
                found.append(one)
            for choice, free in _choices(one.state, board, loose, wrong, silent=silent, walks_only=walks_only):
                tried += 1
                if tried > _MOST_TRIED:
                    raise TooMuchError
                after = one.after(choice, Source.SEEN)
                if not isinstance(choice, (Move, End)) and not underway:
                    after = replace(after, pending=one.pending)
                key = (after.state, frozenset(map(_sort_of, after.steps[len(course.steps) :])))
                if key not in known:
                    known.add(key)
                    (layer if free else dearer).append(after)
        if found or not dearer:
            return found
        layer = dearer
    raise TooMuchError


def _is_borne_out(step: Step, now: State, board: Board) -> bool:
    """Whether a unit that was supposed to walk is seen where it went, unless it has fallen or stepped back since."""
    if step.source is Source.SAID or not isinstance(step.choice, Move):
        return True
    seat, unit, end = step.before.to_move, step.choice.unit, step.choice.path[-1]
    return now.armies[seat].cells[unit] != end or board.at.get((seat, unit)) == end


def _sort_of(step: Step) -> object:
    """What makes a choice another one: not its dice, nor the order of those who attack together."""
    choice = step.choice
    if isinstance(choice, Attack):
        return step.before.to_move, frozenset(choice.units), choice.target
    return step.before.to_move, replace(choice, rolls=()) if isinstance(choice, Bolt) else choice


def _choices(
    state: State, board: Board, loose: Loose, wrong: set[Cell], *, silent: bool, walks_only: bool
) -> Iterator[tuple[Choice, bool]]:
    """What may have been chosen next for what the board shows, and whether it is free: needs no trace of its own."""
    if state.result is not None:
        return
    gone = _displaced(state, board, loose)
    for move in _walks(state, board, gone):
        yield move, False
    if walks_only:
        return
    lost = _lost(state, board, loose)
    if lost or silent:
        for move in _last_walks(state, board, lost):
            yield move, False
        for choice in _fights(state):
            fell = [(cell, state.unit_at(cell)) for cell in fallen(state, choice)]
            hit = [who in lost for _, who in fell]
            if any(hit) and (silent or _has_evidence(state, choice, board)):
                if all(hit) or all(who in lost or _may_stay(state, board, cell) for cell, who in fell):
                    # Who seems to have walked home may have fallen and come back there.
                    yield choice, silent and not _has_evidence(state, choice, board)
            elif (
                silent
                and all(_may_stay(state, board, cell) for cell, _ in fell)
                and wrong_squares(play(state, choice), board, loose) == wrong
            ):
                yield choice, True
    if _may_have_ended(state, board, gone, lost):
        yield End(), True


def _displaced(state: State, board: Board, loose: Loose) -> dict[Someone, Cell]:
    """The units that are seen on another square than they stand on, with it."""
    return {
        (seat, unit): board.at[seat, unit]
        for seat in state.seats
        for unit, cell in zip(Unit, state.armies[seat].cells, strict=True)
        if cell is not None
        and board.at.get((seat, unit), cell) != cell
        and (board.at[seat, unit], (seat, unit)) not in loose
    }


def _lost(state: State, board: Board, loose: Loose) -> set[Someone]:
    """The units that are gone from their squares: seen nowhere, or where they would come back."""
    lost = set[Someone]()
    for seat in state.seats:
        for unit, cell in zip(Unit, state.armies[seat].cells, strict=True):
            if cell is None or cell in board.unseen or board.shows(cell) == (seat, unit):
                continue
            at = board.at.get((seat, unit))
            if (cell, board.shows(cell)) not in loose and (at is None or at in BASES[seat]):
                lost.add((seat, unit))
    return lost


def _walks(state: State, board: Board, gone: dict[Someone, Cell]) -> Iterator[Move]:
    """The walks of units that are seen elsewhere, and of a Priest that is seen beside a gravestone that was raised."""
    seat = state.to_move
    for (other, unit), cell in gone.items():
        if other is seat:
            yield from shortest_walks(state, unit, cell)
    if not can_raise(state):
        return
    priest = board.at.get((seat, Unit.PRIEST))
    for grave in state.graves:
        if grave not in board.unseen and board.shows(grave) != Token.GRAVESTONE:
            for move in shortest_walks(state, Unit.PRIEST, grave):
                if priest in (None, play(state, move).armies[seat].cells[Unit.PRIEST]):
                    yield move


def _last_walks(state: State, board: Board, lost: set[Someone]) -> Iterator[Move]:
    """The walks of units that are gone to where they may have attacked and fallen: beside an enemy."""
    enemies = enemy_bits(state, state.to_move)
    for seat, unit in lost:
        if seat is not state.to_move or unit is Unit.PRIEST:
            continue
        for cell in reach(state, unit):
            graveless = unit is Unit.MAGE or state.bank == 0 or cell in NEXUS or cell in state.graves
            if (
                cell not in board.unseen
                and (graveless or board.shows(cell) is Token.GRAVESTONE)
                and any(BIT[near] & enemies for near in NEIGHBOURS[cell])
            ):
                yield from shortest_walks(state, unit, cell)


def _fights(state: State) -> Iterator[Choice]:
    """Everything but walks and the end of the go that could be chosen, won and lost, with dice for it."""
    for choice in legal_choices(state).actions:
        if isinstance(choice, End):
            continue
        dice = dice_for(state, choice) if isinstance(choice, (Attack, Bolt)) else None
        if dice is None or not isinstance(choice, (Attack, Bolt)):
            yield choice
            continue
        ones = tuple(1 for _ in dice.attacker)
        yield replace(choice, rolls=(Roll(dice.attacker, (1,)),))
        yield replace(choice, rolls=(Roll(ones, dice.defender),))


def _has_evidence(state: State, choice: Choice, board: Board) -> bool:
    """Whether something new lies on the board because of a fight that was supposed."""
    before = uppermost(state)
    laid = (order for order in orders(state, choice, play(state, choice)) if order.do is Do.LAY)
    return any(
        board.shows(order.cell) == top_of_order(order) and top_of_order(order) not in before.get(order.cell, ())
        for order in laid
    )


def _may_stay(state: State, board: Board, cell: Cell) -> bool:
    """Whether a unit may fall on a square without a trace: where it comes back, or where nothing is seen."""
    return cell in board.unseen or any(cell in BASES[seat] for seat in state.seats)


def _may_have_ended(state: State, board: Board, gone: dict[Someone, Cell], lost: set[Someone]) -> bool:
    """Whether the go may be over, since others went or fought: nothing of it may be unseen, nor all of it missing."""
    seat = state.to_move
    raised = any(state.armies[other].cells[unit] is None for other, unit in board.at if other is not seat)
    if not any(other is not seat for other, _ in gone) and not lost and not raised:
        return False
    if state.is_fresh and seat not in state.out:
        return len(legal_choices(state)) == 1
    return not _may_have_walked(state, board.unseen)


def _may_have_walked(state: State, unseen: frozenset[Cell]) -> bool:
    """Whether a unit of the player to move may have walked from a square that is not seen to another."""
    return any(
        cell in unseen and not unseen.isdisjoint(reach(state, unit))
        for unit, cell in zip(Unit, state.armies[state.to_move].cells, strict=True)
        if cell is not None
    )


# Late: walks that were not seen until their go was over


def _with_late_walks(course: Course, board: Board) -> list[Course]:
    """The course, and those in which units that are seen elsewhere by now walked in a go that is over.

    Raises TooMuchError.
    """
    if not course.open_ends:
        return [course]
    begin = course.open_ends[0][0]
    courses, known = [course], {_goes_of(course.steps[begin:])}
    for one in courses:
        gone = _displaced(one.state, board, loosened(one.pending, one.state))
        for number, unseen in one.open_ends:
            before = one.steps[number].before
            for move in _walks(before, board, gone):
                at = before.armies[before.to_move].cells[move.unit]
                late = _with_late_walk(one, number, move) if {at, move.path[-1]} <= unseen else None
                if late is None or (goes := _goes_of(late.steps[begin:])) in known:
                    continue
                if len(courses) == _MOST_LATE:
                    raise TooMuchError
                known.add(goes)
                courses.append(late)
    return courses


def _with_late_walk(course: Course, number: int, move: Move) -> Course | None:
    """The course with a walk before the step with this number; None where what came since was not possible then."""
    late = course.first(number).after(move, Source.SEEN)
    ordered = late.pending
    for step in course.steps[number:]:
        if fault(late.state, step.choice) is not None:
            return None
        late = late.after(step.choice, step.source)
    open_ends = tuple((n + (n >= number), unseen) for n, unseen in course.open_ends)
    return replace(late, pending=(*course.pending, *ordered), open_ends=open_ends)


def _goes_of(steps: tuple[Step, ...]) -> tuple[frozenset[object], ...]:
    """What was chosen in each go, in whatever order."""
    goes: list[set[object]] = [set()]
    for step in steps:
        goes[-1].add(_sort_of(step))
        if isinstance(step.choice, End):
            goes.append(set())
    return tuple(map(frozenset, goes))


def _still_open(course: Course, board: Board) -> tuple[OpenEnd, ...]:
    """The ends of goes in which a unit may still have walked, with what this look has left unseen since."""
    ends = ((number, unseen & board.unseen) for number, unseen in course.open_ends)
    recent = len(course.steps) - _BACK
    return tuple(
        (number, unseen)
        for number, unseen in ends
        if number >= recent and _may_have_walked(course.steps[number].before, unseen)
    )


# Back: what was chosen after all


def _back(course: Course, board: Board) -> list[Course]:
    """The last course before this one that the board shows, or this go with other walks than were seen."""
    walks_since = True
    for number, step in enumerate(reversed(course.steps[-_BACK:]), 1):
        before = course.first(len(course.steps) - number)
        if not wrong_squares(before.state, board, frozenset()):
            return [before]
        walks_since = walks_since and step.source is Source.SEEN and isinstance(step.choice, (Move, End))
        if walks_since:
            found = _onward(before, board, walks_only=True)
            if found:
                return found
    return []


# What nothing explains


def doubt(course: Course, look: Look, *, too_much: bool = False) -> Refused | Undecided:
    """The ruling on a look that nothing explains: what is not seen is asked for, what is elsewhere refused.

    `too_much` where not every explanation could be tried.
    """
    board, state = Board(look), course.state
    loose = loosened(course.pending, state)
    wrong = tuple(sorted(wrong_squares(state, board, loose)))
    tops, below = uppermost(state), lying(state)
    places = ", ".join(f"{square_name(cell)} ({_words(tops.get(cell))})" for cell in wrong[:_MOST_NAMED])
    places += f" and {len(wrong) - _MOST_NAMED} squares more" if len(wrong) > _MOST_NAMED else ""
    units = {who for cell in wrong for who in tops.get(cell, ()) if not isinstance(who, Token)}
    hidden = bool(board.unseen) and not units <= board.at.keys()
    gone = _displaced(state, board, loose)
    if hidden or all(board.shows(cell) is None or board.shows(cell) in below.get(cell, ()) for cell in wrong):
        return Undecided(GO, f"not seen: {places}; put it back, or say what happened", cells=wrong)
    if too_much:
        return Undecided(GO, f"too much was done at once to follow it: put back {places}, or say it", cells=wrong)
    if _still_open(course, board) or _may_have_walked(state, board.unseen):
        why = f"as far as can be seen {_why(state, gone)}: show all, or put back {places}"
        return Undecided(GO, why, cells=wrong)
    return Refused(GO, f"{_why(state, gone)}: put back {places}", cells=wrong)


def _why(state: State, gone: dict[Someone, Cell]) -> str:
    others = [who for who in gone if who[0] is not state.to_move]
    if others and len(others) == len(gone):
        return f"it is {state.to_move.label}'s go, not {others[0][0].label}'s"
    if len(gone) == 1:
        ((_, unit), cell) = next(iter(gone.items()))
        refused = walker_fault(state, unit)
        if refused is not None:
            return refused.why
        if cell not in reach(state, unit):
            return f"{unit.label} cannot walk to {square_name(cell)}; {left(state)}"
    return f"nothing that the rules allow leads here; {left(state)}"


def _words(tops: frozenset[Top] | None) -> str:
    """What should lie on a square, for people."""
    return "empty" if tops is None else " or ".join(sorted(_word(top) for top in tops))


def _word(top: Top) -> str:
    if isinstance(top, Token):
        return "a gravestone" if top is Token.GRAVESTONE else f"an {top.value.capitalize()} stone"
    return f"{top[0].label}'s {top[1].label}"
