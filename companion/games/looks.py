"""How a look at the table becomes a ruling in Pathways.

A look is compared with the board as it stood when last judged:

- Nothing changed and nothing flew: nothing happened, whether or not a hand was there.
- Ordered disks gone and the rest in place: the orders are carried out.
- A disk more than before: the player to flick has flicked. Flicks alternate, so that several between two looks are
  told apart; where one is missing for that, it was lost off the board unseen, or somebody flicked out of turn: a
  person says which.
- Something flew, or a disk moved after a hand: a flick too, and its own disk left the board.
- A disk gone after a hand and nothing else: a flick, or a hand that took it: a person says which.
- A change with neither hand nor flight is trouble in seeing, unless it brings a new disk or carries out an order.

Where witnesses contradict each other, or only a sensor tells of a disk, a person says first what is on the board: see
`witnesses`.

A question keeps the look it is about, and the board stays as it stood. A look that shows the board as before, or that
explains itself, withdraws it. When the players play on, nobody minded: the missing flick was lost.
"""

from collections.abc import Mapping
from dataclasses import replace

from companion.games.at_rest import laid_ready, on_slab
from companion.games.compare import Change, compare, pair_moved, same_place
from companion.games.flicks import CLEARED, Flick, at_rest, change_on, one_flick, place, several_flicks, surplus
from companion.games.position import DISKS_EACH, Doubt, Judged, Question, Resting, State, next_to_flick, used_after
from companion.games.witnesses import weigh
from companion.inputs import Look, SeenDisk
from companion.ruling import Accepted, Ruling, Undecided
from companion.terms import Field, Player

FLICK_LOST = "flick-lost"
OUT_OF_TURN = "out-of-turn"
FLICK = "flick"
BY_HAND = "by-hand"


def judge_look(state: State, look: Look) -> Judged:
    """What follows from a look: the state after it and the rulings; none where nothing happened."""
    look = in_play(state, look)
    question = state.question
    before = state if question is None or question.look is None else replace(state, question=None)
    seen = weigh(before, look, None if question is None else question.look)
    if isinstance(seen, Question):
        return _ask_first(state, seen)
    if question is None or question.look is None:
        return judge_change(state, seen)
    waiting, of_witnesses = question.look, question.doubt in (Doubt.WITNESS, Doubt.COLOUR)
    if not of_witnesses and not seen.flights and _same(state.setup.field, waiting, seen):
        return state, ()
    played_on = None if of_witnesses else _played_on(before, question.doubt, waiting, seen)
    if played_on is not None:
        after, rulings = played_on
        later, more = judge_change(after, seen)
        return later, rulings + more
    # What flew out of turn explains nothing once its disk is taken back.
    flights = seen.flights if question.doubt is Doubt.TURN else waiting.flights + seen.flights
    hand = waiting.hand or seen.hand or not of_witnesses
    after, rulings = judge_change(before, replace(seen, hand=hand, flights=flights))
    return after, rulings or (Accepted("Quick Start", "the board is as it was before the question"),)


def _ask_first(state: State, new: Question) -> Judged:
    """The question what the board shows, which comes before all others about it; one that is asked is not repeated."""
    question = state.question
    if question is None:
        return replace(state, question=new), (new.asked,)
    waiting, look = question.look, new.look
    if waiting is None:
        # Which disk was flicked illegally is told first; the witnesses are heard again with the next look.
        return state, ()
    assert look is not None
    again = question.asked == new.asked
    if again and not look.flights and _same(state.setup.field, waiting, look):
        return state, ()
    flights = look.flights if question.doubt is Doubt.TURN else waiting.flights + look.flights
    joined = replace(look, hand=waiting.hand or look.hand, flights=flights)
    return replace(state, question=replace(new, look=joined)), () if again else (new.asked,)


def _played_on(before: State, doubt: Doubt, waiting: Look, look: Look) -> Judged | None:
    """How the question stands answered where a look shows that the players flicked on; None where it does not."""
    now, mover = _arrived(before, look), before.to_flick
    flicks = flicks_seen(before, waiting)
    if doubt is Doubt.TURN:
        late = flicks[-1].player
        return several_flicks(before, flicks, waiting) if now[late] >= _arrived(before, waiting)[late] else None
    if doubt is Doubt.HIDDEN:
        flicked_on = now[mover.other] > 0 or look.flights
        return several_flicks(before, flicks, waiting) if flicked_on and now[mover] == 0 else None
    if not set(change_on(before, waiting).lost) <= set(change_on(before, look).lost):
        return None
    # Who flicks next tells whether it was a flick that took the disk, or a hand.
    by_hand = taken_by_hand(before, waiting)
    then = _arrived(by_hand, look)
    if then[mover.other] > then[mover]:
        return one_flick(before, mover, waiting)
    return (by_hand, ()) if then[mover] > 0 else None


def _same(field: Field, one: Look, other: Look) -> bool:
    change = compare(field, one.disks, other.disks, other.hidden)
    colours, other_colours = (sorted(disk.colour for disk in look.disks) for look in (one, other))
    told, other_told = ({*look.hidden, *look.occupied} for look in (one, other))
    return not change.lost and not change.found and colours == other_colours and told == other_told


def judge_change(state: State, look: Look) -> Judged:
    """What follows from a look of disks in play, held against the board as it stood."""
    again = _seen_again(state, look)
    if again != state:
        after, rulings = judge_change(again, look)
        return after, rulings or (Accepted("Important Rules", "a disk is seen again: it was not gone"),)
    change = change_on(state, look)
    arrived = _arrived(state, look)
    too_many = {player for player in Player if arrived[player] > (0 if state.over else state.flicks_left(player))}
    if too_many:
        return surplus(state, too_many, change)
    if state.over:
        return state, ()
    flicks = flicks_seen(state, look)
    if not flicks:
        return _without_flick(state, look, change)
    if len(flicks) == 1 and not flicks[0].landed and not {disk.cell for disk in state.disks}.issuperset(look.hidden):
        return _ask_hidden(state, look)
    if missing(flicks) and not _both_seen_flying(state, flicks, look, change):
        return _seen_late(state, flicks, look) or _ask_turn(state, flicks, look)
    return several_flicks(state, flicks, look)


def _seen_again(state: State, look: Look) -> State:
    """The state with disks back that seemed to be gone with the last change, and lie where they lay.

    A flick can have brought another disk to that place: it has, where more is seen than that and one flick in turn
    explains it all.
    """
    change = change_on(state, look)

    def lies_there(gone: Resting) -> bool:
        return any(disk.colour is gone.disk.colour and same_place(disk, gone.disk) for disk in change.found)

    back = tuple(gone for gone in state.gone if lies_there(gone))
    more_changed = len(back) < len(change.found) or change.lost or look.flights
    if more_changed and len(flicks_seen(state, look)) <= 1:
        return state
    gone = tuple(gone for gone in state.gone if gone not in back)
    return replace(state, board=(*state.board, *back), gone=gone)


def _seen_late(state: State, flicks: tuple[Flick, ...], look: Look) -> Judged | None:
    """The last flick's disk, where it seemed to leave the board and lies there after all; None where it does not.

    That is likelier than two more flicks of which nothing was seen but this disk.
    """
    last, new = state.last, new_disks(state, look)
    if last is None or last.flicked != (None,) or look.flights or len(flicks) != 2 or len(new) != 1:
        return None
    if new[0].colour is not last.shot.player or last.shot.player is state.to_flick:
        return None
    resting = at_rest(state, new[0], last.shot.n)
    after = replace(state, board=(*state.board, resting), last=replace(last, flicked=new))
    orders = () if resting.order is None else (resting.order,)
    seen = Accepted("Quick Start", f"{new[0].colour.label}'s disk did not leave the board", None, orders, disks=new)
    return after, (seen,) if resting.doubt is None else (seen, resting.doubt)


def taken_by_hand(state: State, look: Look) -> State:
    """The state where a hand took and moved what a look shows changed; new disks are left out."""
    change = change_on(state, look)
    found = dict(enumerate(change.found))
    moved = pair_moved({index: state.board[index].disk for index in change.lost}, found)
    board = (
        replace(resting, disk=found[moved[index]]) if index in moved else resting
        for index, resting in enumerate(state.board)
        if index not in change.lost or index in moved
    )
    return replace(state, board=tuple(board))


def new_disks(state: State, look: Look) -> tuple[SeenDisk, ...]:
    """The disks of a look that lie on the board for the first time."""
    change = change_on(state, look)
    moved = pair_moved({index: state.board[index].disk for index in change.lost}, dict(enumerate(change.found)))
    return tuple(disk for index, disk in enumerate(change.found) if index not in moved.values())


def in_play(state: State, look: Look) -> Look:
    """The look without disks beside the board, and without those laid ready to be flicked.

    A player's own disk wholly in the own launch area is laid ready, unless something flew that can have come to rest
    there, or one of the player's disks on the board is gone and can have been pushed there.
    """
    field = state.setup.field
    look = replace(look, disks=tuple(disk for disk in look.disks if on_slab(field, disk)))
    change = change_on(state, look)
    gone = {state.board[index].disk.colour for index in change.lost if state.board[index].order is None}
    landed = any(disk.colour is state.to_flick and not laid_ready(field, disk) for disk in change.found)

    def waits(disk: SeenDisk) -> bool:
        if disk not in change.found or disk.colour in gone or not laid_ready(field, disk):
            return False
        return disk.colour is not state.to_flick or landed or (look.hand and not look.flights)

    return replace(look, disks=tuple(disk for disk in look.disks if not waits(disk)))


def flicks_seen(state: State, look: Look) -> tuple[Flick, ...]:
    """The fewest alternating flicks that explain the new disks; one without a disk where only something flew.

    Nobody may have more new disks than disks left to flick.
    """
    arrived = dict(_arrived(state, look))
    flicks: list[Flick] = []
    used, player = state.used, state.to_flick
    while any(arrived.values()) and sum(used) < 2 * DISKS_EACH:
        flicks.append(Flick(player, landed=arrived[player] > 0))
        arrived[player] -= flicks[-1].landed
        used = used_after(used, player)
        player = next_to_flick(used, player)
    left = sum(used) < 2 * DISKS_EACH
    if left and not flicks and look.flights and not _carried_off(state, look):
        return (Flick(player, landed=False),)
    return tuple(flicks)


def missing(flicks: tuple[Flick, ...]) -> int:
    """How many of several flicks brought no disk and are known only because flicks alternate."""
    return 0 if len(flicks) == 1 else sum(not flick.landed for flick in flicks)


def _arrived(state: State, look: Look) -> Mapping[Player, int]:
    """How many disks more than before each player has on the board, ordered ones set aside."""
    change = change_on(state, look)
    found = [disk.colour for disk in change.found]
    lost = [state.board[index].disk.colour for index in change.lost if state.board[index].order is None]
    ordered = [state.board[index].disk.colour for index in change.lost if state.board[index].order is not None]
    flicked = state.to_flick in found or state.to_flick in look.flights
    arrived = {}
    for player in Player:
        more = found.count(player) - lost.count(player)
        # A disk that should have been taken off may have been hit by the flick instead, and lies elsewhere.
        spare = more - (player is state.to_flick)
        hit = min(spare, ordered.count(player)) if flicked and spare > 0 else 0
        arrived[player] = max(more - hit, 0)
    return arrived


def _both_seen_flying(state: State, flicks: tuple[Flick, ...], look: Look, change: Change) -> bool:
    """Whether two flicks were seen to fly, and the first, hitting none of its colour, brought no disk."""
    first, last = flicks[0], flicks[-1]
    untouched = all(state.board[index].disk.colour is not first.player for index in change.lost)
    flew = {first.player, last.player} <= set(look.flights)
    return len(flicks) == 2 and last.landed and untouched and flew


def _carried_off(state: State, look: Look) -> bool:
    """Whether what flew can be the ordered disks in the hand that took them off."""
    change = change_on(state, look)
    taken = {state.board[index].disk.colour for index in change.lost if state.board[index].order is not None}
    return bool(taken) and not change.found and all(colour is None or colour in taken for colour in look.flights)


def _without_flick(state: State, look: Look, change: Change) -> Judged:
    lost = {index: state.board[index] for index in change.lost}
    # Only a hand can have taken a disk that had to come off, also where the hand itself was not seen.
    taken = {index for index, resting in lost.items() if resting.order or (resting.doubt and look.hand)}
    others = {index: resting.disk for index, resting in lost.items() if index not in taken}
    found = dict(enumerate(change.found))
    moved = pair_moved(others, found)
    gone = [index for index in others if index not in moved]
    if not look.hand and not taken:
        return state, ()
    if not taken and not state.orders and moved and not gone:
        return one_flick(state, state.to_flick, look)
    board = tuple(
        replace(resting, disk=found[moved[index]]) if index in moved and look.hand else resting
        for index, resting in enumerate(state.board)
        if index not in taken
    )
    after = replace(state, board=board, gone=tuple(state.board[index] for index in sorted(taken)) or state.gone)
    rulings: tuple[Ruling, ...] = ()
    if taken:
        rulings = (CLEARED,) if state.orders and not after.orders else (_taken(state, taken),)
    elif moved:
        rulings = (Accepted("Important Rules", "a disk was moved by hand; it lies where it lies"),)
    if gone and look.hand:
        return _then_ask_hand(after, rulings, look, [others[index] for index in gone])
    return after, rulings


def _taken(state: State, taken: set[int]) -> Ruling:
    disks = tuple(state.board[index].disk for index in sorted(taken))
    return Accepted("Important Rules", f"taken off: {'; '.join(place(disk) for disk in disks)}", disks=disks)


def _ask_turn(state: State, flicks: tuple[Flick, ...], look: Look) -> Judged:
    late = flicks[-1].player
    two = len(flicks) == 2
    asked = Undecided(
        "Quick Start",
        f"flick lost, or out of turn: {late.label}'s disk appeared when {state.to_flick.label} was to flick"
        if two
        else "flick lost, or out of turn: there are more new disks than flicks in turn",
        (FLICK_LOST, OUT_OF_TURN) if two else (FLICK_LOST,),
        state.next_n,
        disks=tuple(disk for disk in change_on(state, look).found if disk.colour is late),
    )
    return replace(state, question=Question(Doubt.TURN, asked, look)), (asked,)


def _ask_hidden(state: State, look: Look) -> Judged:
    asked = Undecided(
        "Quick Start",
        f"{state.to_flick.label}'s disk left the board, or lies where it cannot be seen",
        (FLICK_LOST,),
        state.next_n,
        cells=look.hidden,
    )
    return replace(state, question=Question(Doubt.HIDDEN, asked, look)), (asked,)


def _then_ask_hand(state: State, rulings: tuple[Ruling, ...], look: Look, gone: list[SeenDisk]) -> Judged:
    named = " and ".join(f"{disk.colour.label}'s disk {place(disk)}" for disk in gone)
    asked = Undecided(
        "Important Rules",
        f"gone by a flick, or taken by a hand: {named}",
        (FLICK, BY_HAND),
        state.next_n,
        cells=tuple(disk.cell for disk in gone if disk.cell),
        disks=tuple(gone),
    )
    return replace(state, question=Question(Doubt.HAND, asked, look)), (*rulings, asked)
