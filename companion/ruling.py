"""What the referee answers: Accepted, Refused or Undecided, with the orders and the event that go with it.

A player's mistake is Refused or an order, doubt is Undecided: a bad look must not accuse a player. Every ruling names
the rulebook's section, says why in one plain sentence, and shows the cells and disks it is about.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from companion.inputs import SeenDisk, cell_from_json, disk_from_json, disk_to_json
from companion.terms import Cell, Player

CORRECTION = "Correction"
"""The heading of rulings on what people correct or answer, of which no section of a rulebook speaks."""


class Do(StrEnum):
    """What a player is told to do; LAY_FLAT is advice and never holds the game up."""

    REMOVE = "remove"
    LAY_FLAT = "lay-flat"


class Why(StrEnum):
    """The ground of an order; own and opposing by the disk's owner."""

    OWN_FRONT_ROW = "own-front-row"
    OWN_LAUNCH_AREA = "own-launch-area"
    OPPOSING_LAUNCH_AREA = "opposing-launch-area"
    ILLEGAL_FLICK = "illegal-flick"
    NOT_A_FLICK = "not-a-flick"
    TILTED = "tilted"
    PERHAPS_TILTED = "perhaps-tilted"


@dataclass(frozen=True, slots=True)
class Order:
    """Something to do to one disk, named by its colour and place."""

    do: Do
    why: Why
    colour: Player
    x_mm: float
    y_mm: float
    cell: Cell | None
    rule: str


@dataclass(frozen=True, slots=True)
class Shot:
    """Flick `n` of the game: the board at rest after it, and how many disks left the board."""

    n: int
    player: Player
    disks: tuple[SeenDisk, ...]
    left_board: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """Every disk that was ordered off is off."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """A finished game: what each player has (A first), the points it gives, and how the match stands after it."""

    count: tuple[int, int]
    winner: Player | None
    points: tuple[int, int] | None
    match: tuple[int, int] | None
    match_winner: Player | None
    next_starter: Player
    sudden_death: bool

    @property
    def result(self) -> str:
        """For people: "A 3 - B 1"."""
        return f"A {self.count[0]} - B {self.count[1]}"


@dataclass(frozen=True, slots=True)
class GameStarted:
    """Game `game` of the match begins; `starter` flicks first."""

    game: int
    starter: Player


@dataclass(frozen=True, slots=True)
class Moved:
    """Move `n` of a game on a grid, counted from 1 over both players, in PTN."""

    n: int
    player: Player
    ptn: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The board is as it was before move `n`: that move and what came after it is not played."""

    n: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished game on a grid: the result in PTN, how it came about, and each player's exposed flats, A first."""

    result: str
    reason: str
    winner: Player | None
    count: tuple[int, int]


Event = Shot | Cleared | GameOver | GameStarted | Moved | TakenBack | Ended


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is so, and this follows."""

    rule: str
    why: str
    event: Event | None = None
    orders: tuple[Order, ...] = ()
    cells: tuple[Cell, ...] = ()
    disks: tuple[SeenDisk, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """It is against the rules, or cannot be done now."""

    rule: str
    why: str
    orders: tuple[Order, ...] = ()
    cells: tuple[Cell, ...] = ()
    disks: tuple[SeenDisk, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """It cannot be told: a person picks one of the candidates. `n` is the flick in question."""

    rule: str
    why: str
    candidates: tuple[str, ...] = ()
    n: int | None = None
    orders: tuple[Order, ...] = ()
    cells: tuple[Cell, ...] = ()
    disks: tuple[SeenDisk, ...] = ()


Ruling = Accepted | Refused | Undecided


def order_to_json(order: Order) -> dict[str, Any]:
    """An order under the keys that `companion referee` prints."""
    return {
        "do": order.do.value,
        "why": order.why.value,
        "colour": order.colour.value,
        "x_mm": order.x_mm,
        "y_mm": order.y_mm,
        "cell": None if order.cell is None else list(order.cell),
        "rule": order.rule,
    }


def order_from_json(data: Mapping[str, Any]) -> Order:
    """The order that `order_to_json` wrote."""
    return Order(
        Do(data["do"]),
        Why(data["why"]),
        Player(data["colour"]),
        float(data["x_mm"]),
        float(data["y_mm"]),
        cell_from_json(data["cell"]),
        str(data["rule"]),
    )


def event_to_json(event: Event) -> dict[str, Any]:
    """An event under the keys that `companion referee` prints, without when it was seen."""
    match event:
        case Shot():
            return {
                "event": "shot",
                "n": event.n,
                "player": event.player.value,
                "disks": [disk_to_json(disk) for disk in event.disks],
                "left_board": event.left_board,
            }
        case Cleared():
            return {"event": "cleared"}
        case GameOver():
            return {
                "event": "game_over",
                "result": event.result,
                "count": {"a": event.count[0], "b": event.count[1]},
                "winner": _letter(event.winner),
                "points": None if event.points is None else list(event.points),
                "match": None if event.match is None else list(event.match),
                "match_winner": _letter(event.match_winner),
                "next_starter": event.next_starter.value,
                "sudden_death": event.sudden_death,
            }
        case GameStarted():
            return {"event": "game_started", "game": event.game, "starter": event.starter.value}
        case Moved():
            return {"event": "move", "n": event.n, "player": event.player.value, "ptn": event.ptn}
        case TakenBack():
            return {"event": "taken_back", "n": event.n}
        case Ended():
            return {
                "event": "game_over",
                "result": event.result,
                "reason": event.reason,
                "count": {"a": event.count[0], "b": event.count[1]},
                "winner": _letter(event.winner),
            }


def event_from_json(data: Mapping[str, Any]) -> Event:
    """The event that `event_to_json` wrote."""
    match data["event"]:
        case "shot":
            disks = tuple(disk_from_json(disk) for disk in data["disks"])
            return Shot(int(data["n"]), Player(data["player"]), disks, int(data["left_board"]))
        case "cleared":
            return Cleared()
        case "move":
            return Moved(int(data["n"]), Player(data["player"]), str(data["ptn"]))
        case "taken_back":
            return TakenBack(int(data["n"]))
        case "game_over" if "reason" in data:
            count = (int(data["count"]["a"]), int(data["count"]["b"]))
            return Ended(str(data["result"]), str(data["reason"]), _player(data["winner"]), count)
        case "game_over":
            return GameOver(
                (int(data["count"]["a"]), int(data["count"]["b"])),
                _player(data["winner"]),
                _pair(data["points"]),
                _pair(data["match"]),
                _player(data["match_winner"]),
                Player(data["next_starter"]),
                bool(data["sudden_death"]),
            )
        case "game_started":
            return GameStarted(int(data["game"]), Player(data["starter"]))
        case kind:
            raise ValueError(f"{kind!r} is no event")


def ruling_to_json(ruling: Ruling) -> dict[str, Any]:
    """A ruling as a JSON object; its key "ruling" says which of the three it is."""
    data: dict[str, Any] = {
        "ruling": type(ruling).__name__.lower(),
        "rule": ruling.rule,
        "why": ruling.why,
        "orders": [order_to_json(order) for order in ruling.orders],
        "cells": [list(cell) for cell in ruling.cells],
        "disks": [disk_to_json(disk) for disk in ruling.disks],
    }
    match ruling:
        case Accepted():
            data["event"] = None if ruling.event is None else event_to_json(ruling.event)
        case Undecided():
            data["candidates"] = list(ruling.candidates)
            data["n"] = ruling.n
    return data


def ruling_from_json(data: Mapping[str, Any]) -> Ruling:
    """The ruling that `ruling_to_json` wrote."""
    rule, why = str(data["rule"]), str(data["why"])
    orders = tuple(order_from_json(order) for order in data["orders"])
    cells = tuple((int(row), int(column)) for row, column in data["cells"])
    disks = tuple(disk_from_json(disk) for disk in data["disks"])
    match data["ruling"]:
        case "accepted":
            event = None if data["event"] is None else event_from_json(data["event"])
            return Accepted(rule, why, event, orders, cells, disks)
        case "refused":
            return Refused(rule, why, orders, cells, disks)
        case "undecided":
            return Undecided(rule, why, tuple(data["candidates"]), data["n"], orders, cells, disks)
        case kind:
            raise ValueError(f"{kind!r} is no ruling")


def _letter(player: Player | None) -> str | None:
    return None if player is None else player.value


def _player(letter: str | None) -> Player | None:
    return None if letter is None else Player(letter)


def _pair(data: list[int] | None) -> tuple[int, int] | None:
    return None if data is None else (int(data[0]), int(data[1]))
