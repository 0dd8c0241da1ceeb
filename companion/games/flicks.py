"""What a flick does in Pathways: the disks it brought, moved and took off, and the orders that follow.

A disk is judged where it comes to rest and keeps that verdict until it moves, so that a measurement repeated near a
line cannot turn a verdict round. An order that is not carried out when the next flick comes lapses, and its disk does
not count from then on.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from companion.games.at_rest import advice, in_hole, line_doubt, order, order_off
from companion.games.compare import Change, compare, pair_moved
from companion.games.position import DISKS_EACH, Judged, LastShot, Resting, State, next_to_flick, used_after
from companion.inputs import Look, SeenDisk
from companion.ruling import Accepted, Cleared, Do, Order, Refused, Ruling, Shot, Why
from companion.terms import IllegalFlick, Player

CLEARED = Accepted("Important Rules", "the ordered disks are off the board", Cleared())


def change_on(state: State, look: Look) -> Change:
    """What a look shows changed since the board was last judged."""
    return compare(state.setup.field, state.disks, look.disks, look.hidden)


def one_flick(state: State, player: Player, look: Look, left_board: int | None = None) -> Judged:
    """A flick by a player who has a disk left; `left_board` is told, or counted from the look where None."""
    n = state.next_n
    change = change_on(state, look)
    trace = _trace(state, player, change)
    board: list[Resting] = []
    judged: list[Resting] = []
    for index, before in enumerate(state.board):
        if index in change.unseen:
            board.append(before)
        elif (now := trace.places.get(index)) is not None:
            counts = before.counts and before.order is None
            if index in trace.moved or _hole(now) != _hole(before.disk):
                judged.append(at_rest(state, now, n) if counts else Resting(now, counts=False))
                board.append(judged[-1])
            else:
                board.append(Resting(now, doubt=before.doubt if counts else None, counts=counts))
    arrived = [at_rest(state, disk, n) for disk in trace.arrived]
    board += arrived
    judged += arrived

    left = len(trace.gone) + (trace.flicked is None) if left_board is None else left_board
    # Where nothing left the board, the flicked disk is on it.
    flicked = tuple(disk for disk in trace.candidates if disk is not None or left > 0) or (None,)
    shot = Shot(n, player, tuple(resting.disk for resting in board), left)
    used = used_after(state.used, player)
    after = replace(
        state,
        to_flick=next_to_flick(used, player),
        used=used,
        board=tuple(board),
        question=None,
        last=LastShot(shot, state.to_flick, flicked),
        gone=tuple(state.board[index] for index in change.lost if index not in trace.moved),
    )
    return after, (*_on_orders(state, change, trace), _shot_ruling(shot, trace.flicked, judged), *_doubts(judged))


def at_rest(state: State, disk: SeenDisk, n: int) -> Resting:
    """A disk with the verdict on where it lies."""
    field = state.setup.field
    return Resting(disk, order_off(field, disk), line_doubt(field, disk, n))


@dataclass(frozen=True, slots=True)
class Flick:
    """One of the flicks that explain what is seen; `landed` where its disk is a new one on the board."""

    player: Player
    landed: bool


def several_flicks(state: State, flicks: Iterable[Flick], look: Look) -> Judged:
    """Flicks between two looks, the last of which shows the board; what lay between is not known better."""
    *earlier, last = flicks
    rulings: tuple[Ruling, ...] = ()
    for flick in earlier:
        change = change_on(state, look)
        disks = [resting.disk for i, resting in enumerate(state.board) if not (resting.order and i in change.lost)]
        if flick.landed:
            disks.append(next(disk for disk in change.found if disk.colour is flick.player))
        state, more = one_flick(state, flick.player, Look(tuple(disks)))
        rulings += more
    state, more = one_flick(state, last.player, look)
    return state, rulings + more


def out_of_turn(state: State, player: Player, look: Look) -> Judged:
    """A flick by the player who is not to flick: an illegal flick, and it stays the other one's turn."""
    flicked_out, rulings = one_flick(state, player, look)
    assert flicked_out.last is not None
    flicked = flicked_out.last.flicked[0]
    after = remedy(flicked_out, flicked_out.last, flicked)
    why = f"it was {state.to_flick.label}'s flick: {player.label}'s is illegal"
    orders = tuple(resting.order for resting in after.board if resting.disk == flicked and resting.order)
    return replace(after, to_flick=state.to_flick), (*rulings, Refused("Quick Start", why, orders))


def remedy(state: State, last: LastShot, flicked: SeenDisk | None) -> State:
    """The state after the last flick was illegal: its disk comes off; to replay, it also goes back to its player."""
    after = ordered_off(state, flicked, Why.ILLEGAL_FLICK)
    return after if state.setup.illegal_flick is IllegalFlick.REMOVE else given_back(after, last)


def ordered_off(state: State, disk: SeenDisk | None, why: Why) -> State:
    """The state with a disk ordered off, where it is on the board."""
    board = tuple(
        replace(resting, order=order(Do.REMOVE, why, resting.disk, "Quick Start"), doubt=None)
        if resting.disk == disk
        else resting
        for resting in state.board
    )
    return replace(state, board=board)


def given_back(state: State, last: LastShot) -> State:
    """The state as if the last flick had not been used: its player has the disk again, and it is the same turn."""
    return replace(state, used=used_after(state.used, last.shot.player, -1), to_flick=last.turn, last=None)


def surplus(state: State, players: Collection[Player], change: Change) -> Judged:
    """Disks more than players may flick: they do not count. In a finished game nobody has to take them off."""
    found = dict(enumerate(change.found))
    known = pair_moved({index: state.board[index].disk for index in change.lost}, found)
    new = [disk for key, disk in found.items() if disk.colour in players and key not in known.values()]
    orders = tuple(order(Do.REMOVE, Why.ILLEGAL_FLICK, disk, "Quick Start") for disk in new)
    stays = [Resting(disk, None if state.over else off, counts=False) for disk, off in zip(new, orders, strict=True)]
    if state.ended:
        why = "the game is over: one more flick does not count"
    else:
        names = " and ".join(sorted(player.label for player in players))
        why = f"{names} flicked all {DISKS_EACH} disks: one more does not count"
    return replace(state, board=(*state.board, *stays)), (Refused("Quick Start", why, orders, disks=tuple(new)),)


@dataclass(frozen=True, slots=True)
class _Trace:
    """Where the disks of the board before lie now, by index; what became of the others, and the new ones."""

    places: Mapping[int, SeenDisk]
    moved: frozenset[int]
    gone: tuple[int, ...]
    arrived: tuple[SeenDisk, ...]
    flicked: SeenDisk | None
    candidates: tuple[SeenDisk | None, ...]


def _trace(state: State, player: Player, change: Change) -> _Trace:
    found = dict(enumerate(change.found))
    in_play = {index: state.board[index].disk for index in change.lost if state.board[index].order is None}
    ordered = {index: state.board[index].disk for index in change.lost if index not in in_play}
    moved = _pair(in_play, found, player)
    rest = {place: disk for place, disk in found.items() if place not in moved.values()}
    moved |= _pair(ordered, rest, player)
    arrived = tuple(disk for place, disk in found.items() if place not in moved.values())
    flicked = next((disk for disk in arrived if disk.colour is player), None)
    own_found = [disk for disk in change.found if disk.colour is player]
    own_lost = [disk for disk in in_play.values() if disk.colour is player]
    may_have_left = flicked is not None and len(own_found) <= len(own_lost)
    others = [disk for disk in own_found if disk is not flicked]
    return _Trace(
        {**dict(change.still), **{index: found[place] for index, place in moved.items()}},
        frozenset(moved),
        tuple(index for index in in_play if index not in moved),
        arrived,
        flicked,
        (flicked, *others, *([None] if may_have_left else [])),
    )


def _pair(lost: Mapping[int, SeenDisk], found: Mapping[int, SeenDisk], player: Player) -> dict[int, int]:
    """Which found disk each lost one is; of the player's own, one is left over, because it is the flicked one."""
    pairs = pair_moved(lost, found)
    own = [place for place, disk in found.items() if disk.colour is player]
    if own and all(place in pairs.values() for place in own):
        farthest = [index for index, place in pairs.items() if place in own][-1]
        del pairs[farthest]
    return pairs


def _on_orders(state: State, change: Change, trace: _Trace) -> Iterable[Ruling]:
    """What the flick means for the orders that were still to be carried out."""
    unmet = [resting for index, resting in enumerate(state.board) if resting.order and index in trace.places]
    if unmet:
        yield Refused(
            "Important Rules",
            "order not carried out",
            tuple(resting.order for resting in unmet if resting.order),
            tuple(resting.disk.cell for resting in unmet if resting.disk.cell),
            tuple(resting.disk for resting in unmet),
        )
    elif state.orders and not any(state.board[index].order for index in change.unseen):
        yield CLEARED


def _shot_ruling(shot: Shot, flicked: SeenDisk | None, judged: Iterable[Resting]) -> Ruling:
    removes = [(resting.disk, resting.order) for resting in judged if resting.order is not None]
    advised = [off for resting in judged if resting.order is None and (off := advice(resting.disk)) is not None]
    orders = (*(off for _, off in removes), *advised)
    if removes:
        why = "; ".join(order_sentence(disk, off) for disk, off in removes)
        return Accepted(removes[0][1].rule, why, shot, orders)
    if flicked is None:
        return Accepted("Important Rules", f"{shot.player.label}'s disk left the board", shot, orders)
    return Accepted("Quick Start", f"{shot.player.label}'s disk stays {place(flicked)}", shot, orders)


def _doubts(judged: Iterable[Resting]) -> Iterable[Ruling]:
    return (resting.doubt for resting in judged if resting.doubt is not None)


def order_sentence(disk: SeenDisk, off: Order) -> str:
    """An order for people to read."""
    owner = disk.colour.label
    where = {
        Why.OWN_FRONT_ROW: f"lies in {owner}'s own front row",
        Why.OWN_LAUNCH_AREA: f"lies in {owner}'s own launch area",
        Why.OPPOSING_LAUNCH_AREA: f"lies in {disk.colour.other.label}'s launch area",
        Why.ILLEGAL_FLICK: "was flicked illegally",
        Why.NOT_A_FLICK: "was not flicked",
    }
    return f"{owner}'s disk {place(disk)} {where[off.why]}: take it off"


def place(disk: SeenDisk) -> str:
    """Where a disk lies, for people to read."""
    if disk.cell is not None:
        return f"at row {disk.cell[0]}, column {disk.cell[1]}"
    return f"at {disk.x_mm:.0f}, {disk.y_mm:.0f} mm"


def _hole(disk: SeenDisk) -> tuple[int, int] | None:
    return disk.cell if in_hole(disk) else None
