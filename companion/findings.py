"""What is wrong with what a referee ruled in a game, held against what is right by a second scorer.

Flick by flick: who flicked, what lies where, what left the board, every order and advice, whether orders were carried
out and what was refused; at the end counts, points, the match and who begins next.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from companion.inputs import Input, SeenDisk, input_to_json
from companion.ruling import (
    Accepted,
    Cleared,
    Do,
    GameOver,
    GameStarted,
    Order,
    Refused,
    Ruling,
    Shot,
    Undecided,
    Why,
    ruling_to_json,
)

if TYPE_CHECKING:
    from hardware_sims.players import Finished
    from hardware_sims.scorer import Result, Verdict

_SAME_MM = 8.0
"""A sighting further away is of another disk."""
_PLACE_MM = 2.5
_TILTED_PLACE_MM = 8.0
"""How exactly a disk has to be placed, flat or not."""


class Wrong(StrEnum):
    """What can be wrong with what was ruled."""

    FLICK_MISSED = "flick missed"
    FLICK_INVENTED = "flick invented"
    PLAYER = "wrong player"
    DISK_MISSED = "disk missed"
    DISK_INVENTED = "disk invented"
    COLOUR = "wrong colour"
    CELL = "wrong hole"
    PLACE = "misplaced"
    LEFT = "wrong number left the board"
    ORDER_MISSED = "order missed"
    ORDER_INVENTED = "order invented"
    ADVICE = "wrong advice"
    CLEARED = "wrongly cleared"
    REFUSED = "wrongly refused"
    GAME_OVER = "wrong result"
    NEXT_GAME = "wrong next game"
    NOT_RECOVERED = "not recovered"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: after which flick and at which frame, and what."""

    wrong: Wrong
    flick: int
    frame: int
    says: str

    def __str__(self) -> str:
        return f"flick {self.flick}, frame {self.frame}: {self.wrong}: {self.says}"


@dataclass(frozen=True, slots=True)
class Told:
    """An input with its rulings, and the frame at which it was taken."""

    frame: int
    given: Input
    rulings: tuple[Ruling, ...]

    def to_json(self) -> dict[str, Any]:
        """One line of a bundle's log."""
        rulings = [ruling_to_json(ruling) for ruling in self.rulings]
        return {"frame": self.frame, "input": input_to_json(self.given), "rulings": rulings}


def compare(
    told: Sequence[Told], verdicts: "Sequence[Verdict]", finished: "Finished | None", result: "Result | None"
) -> tuple[tuple[Finding, ...], tuple[tuple[int, str], ...]]:
    """What is wrong with what was ruled, and the flicks about which people were asked, with why."""
    findings: list[Finding] = []
    asked: list[tuple[int, str]] = []
    ends = [verdict.flick.began for verdict in verdicts[1:]]
    for index, verdict in enumerate(verdicts):
        begin, end = verdict.flick.began, ends[index] if index < len(ends) else math.inf
        window = [one for one in told if begin < one.frame <= end]
        ruled = [(one.frame, ruling) for one in window for ruling in one.rulings]
        doubts = [ruling.why for _, ruling in ruled if isinstance(ruling, Undecided)]
        doubts += [f"whether a disk is tilted at {_place(order)}" for _, ruling in ruled for order in _asking(ruling)]
        if doubts:
            asked.append((verdict.flick.n, doubts[0]))
        if index + 1 < len(verdicts):
            then = verdicts[index + 1].flick.before
        else:
            then = () if finished is None else finished.disks
        findings += _of_flick(verdict, ruled, {disk.name for disk in then})
    findings += _of_end(told, len(verdicts), finished, result)
    return tuple(findings), tuple(asked)


def _of_flick(verdict: "Verdict", ruled: Sequence[tuple[int, Ruling]], remaining: set[str]) -> Iterator[Finding]:
    """What is wrong with the rulings between one flick and the next; `remaining` disks lay there when that came."""
    flick = verdict.flick
    at = flick.frame

    def found(wrong: Wrong, says: str) -> Finding:
        return Finding(wrong, flick.n, at, says)

    events = [(frame, ruling, ruling.event) for frame, ruling in ruled if isinstance(ruling, Accepted)]
    shots = [(frame, ruling, event) for frame, ruling, event in events if isinstance(event, Shot)]
    if not shots:
        yield found(Wrong.FLICK_MISSED, f"{flick.player}'s flick of {flick.disk} was not counted")
    for frame, _, shot in shots[1:]:
        yield found(Wrong.FLICK_INVENTED, f"frame {frame}: counted as flick {shot.n} besides")
    if shots:
        at, ruling, shot = shots[0]
        if (shot.n, shot.player.value) != (flick.n, flick.player):
            yield found(Wrong.PLAYER, f"{flick.player}'s flick {flick.n} was ruled {shot.player.value}'s {shot.n}")
        yield from _of_disks(verdict, shot, at)
        if shot.left_board != verdict.left and not flick.lifted:
            yield found(Wrong.LEFT, f"{verdict.left} left the board, ruled {shot.left_board}")
        advised = sorted((order.colour.value, order.cell) for order in ruling.orders if order.do is Do.LAY_FLAT)
        tilted = {
            disk.name: (disk.colour, disk.cell)
            for disk in verdict.on_board
            if disk.lying == "tilted" and disk.name in verdict.judged and disk.cell
        }
        removed = {one.disk.name: one.why for one in verdict.off}
        to_lay = sorted(place for name, place in tilted.items() if name not in removed)
        # That a flick was illegal is said after the look: the disk may have been advised about before.
        illegal = (place for name, place in tilted.items() if removed.get(name) == "illegal-flick")
        either = {*illegal, *((order.colour.value, order.cell) for order in _asking(ruling))}
        if [place for place in advised if place not in either] != [place for place in to_lay if place not in either]:
            yield found(Wrong.ADVICE, f"tilted are {to_lay}, advised {advised}")

    unmet = [ruling for _, ruling in ruled if isinstance(ruling, Refused) and ruling.why == "order not carried out"]
    refused = [ruling for _, ruling in ruled if isinstance(ruling, Refused) and ruling not in unmet]
    if bool(unmet) is not bool(verdict.unmet):
        yield found(Wrong.REFUSED, f"still to be taken off were {verdict.unmet}, refused {len(unmet)}")
    expected_refusals = int(flick.out_of_turn)
    if len(refused) != expected_refusals:
        yield found(Wrong.REFUSED, "; ".join(ruling.why for ruling in refused) or "an illegal flick was not refused")

    orders = _orders(ruling for _, ruling in ruled if ruling not in unmet)
    for off in verdict.off:
        near = [order for order in orders if _is_of(order, off.disk.colour, off.disk.x_mm, off.disk.y_mm, off.why)]
        if near:
            orders.remove(near[0])
        else:
            yield found(Wrong.ORDER_MISSED, f"{off.disk.name} has to come off: {off.why}, {_where(off.disk)}")
    for order in orders:
        if not (flick.lifted and order.colour.value == flick.player):
            yield found(Wrong.ORDER_INVENTED, f"{order.colour.value}'s disk at {_place(order)}: {order.why.value}")

    carried_out = bool(verdict.off) and not any(one.disk.name in remaining for one in verdict.off)
    cleared = [frame for frame, _, event in events if isinstance(event, Cleared)]
    if len(cleared) != int(carried_out) and not flick.lifted:
        yield found(Wrong.CLEARED, f"orders carried out: {carried_out}; ruled so {len(cleared)} times")


def _asking(ruling: Ruling) -> tuple[Order, ...]:
    """The advice of a ruling that asks people to see for themselves."""
    return tuple(order for order in ruling.orders if order.why is Why.PERHAPS_TILTED)


def _place(order: Order) -> str:
    return f"{order.x_mm:.1f}, {order.y_mm:.1f} mm, {order.cell}"


def _orders(rulings: Iterable[Ruling]) -> list[Order]:
    """Every disk that was ordered off, once for each ground."""
    orders: list[Order] = []
    for ruling in rulings:
        for order in ruling.orders:
            known = (_is_of(one, order.colour, order.x_mm, order.y_mm, order.why) for one in orders)
            if order.do is Do.REMOVE and not any(known):
                orders.append(order)
    return orders


def _is_of(order: Order, colour: str, x_mm: float, y_mm: float, why: str) -> bool:
    near = math.hypot(order.x_mm - x_mm, order.y_mm - y_mm) < _SAME_MM
    return near and order.colour.value == colour and order.why.value == why


def _of_disks(verdict: "Verdict", shot: Shot, frame: int) -> Iterator[Finding]:
    n = verdict.flick.n
    left = list(shot.disks)
    for disk in verdict.on_board:
        near = sorted((math.hypot(seen.x_mm - disk.x_mm, seen.y_mm - disk.y_mm), i) for i, seen in enumerate(left))
        alike = [(away, i) for away, i in near if left[i].cell == disk.cell and left[i].colour.value == disk.colour]
        away_mm, i = (alike or near or [(math.inf, -1)])[0]
        if away_mm > _SAME_MM and near:
            away_mm, i = near[0]
        if away_mm > _SAME_MM:
            yield Finding(Wrong.DISK_MISSED, n, frame, f"{disk.name}, {_where(disk)}")
            continue
        seen = left.pop(i)
        if seen.colour.value != disk.colour:
            yield Finding(Wrong.COLOUR, n, frame, f"{disk.name}, {_where(disk)}, ruled {_seen(seen)}")
        if seen.cell != disk.cell:
            yield Finding(Wrong.CELL, n, frame, f"{disk.name}, {_where(disk)}, ruled {_seen(seen)}")
        if away_mm > (_TILTED_PLACE_MM if disk.tilt_deg else _PLACE_MM):
            yield Finding(Wrong.PLACE, n, frame, f"{disk.name}, {_where(disk)}, ruled {_seen(seen)}, {away_mm:.1f} mm")
    for seen in left:
        # One that was lifted at once may have been seen to lie there, or not.
        if verdict.flick.lifted and seen.colour.value == verdict.flick.player:
            continue
        yield Finding(Wrong.DISK_INVENTED, n, frame, _seen(seen))


def _of_end(
    told: Sequence[Told], flicks: int, finished: "Finished | None", result: "Result | None"
) -> Iterator[Finding]:
    if finished is None or result is None:
        yield Finding(Wrong.GAME_OVER, flicks, told[-1].frame if told else 0, "the game did not come to its end")
        return
    events = [ruling.event for one in told for ruling in one.rulings if isinstance(ruling, Accepted) and ruling.event]
    overs = [event for event in events if isinstance(event, GameOver)]
    if not overs:
        yield Finding(Wrong.GAME_OVER, flicks, finished.frame, "the game's end was not ruled")
        return
    over = overs[-1]
    ruled = (
        over.count,
        over.winner and over.winner.value,
        over.points,
        over.match,
        over.match_winner and over.match_winner.value,
        over.next_starter.value,
        over.sudden_death,
    )
    right = (
        result.count,
        result.winner,
        result.points,
        result.match,
        result.match_winner,
        result.next_starter,
        result.sudden_death,
    )
    if ruled != right:
        yield Finding(Wrong.GAME_OVER, flicks, finished.frame, f"right is {right}, ruled {ruled}")
    started = [event.starter.value for event in events if isinstance(event, GameStarted)][1:]
    if started != [result.begins]:
        says = f"games that began after it: {started}, right [{result.begins!r}]"
        yield Finding(Wrong.NEXT_GAME, flicks, finished.frame, says)


def _where(disk: Any) -> str:  # noqa: ANN401
    tilt = f" {disk.tilt_deg:.0f} degrees" if disk.tilt_deg else ""
    return f"{disk.colour} {disk.lying}{tilt} at {disk.x_mm:.1f}, {disk.y_mm:.1f} mm, hole {disk.cell}"


def _seen(seen: SeenDisk) -> str:
    at = f"{seen.x_mm:.1f}, {seen.y_mm:.1f} mm"
    return f"{seen.colour.value} {seen.lying} at {at}, hole {seen.cell}, sure {seen.confidence:.2f}"
