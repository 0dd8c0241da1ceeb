"""MageStone's part of the web: what people say, put on the session's queue, and the games of the log for programs."""

import re
import secrets
from queue import Queue
from typing import Any

from flask import Blueprint, abort, request

from companion.dashboard.api import (
    MOST_GAMES,
    Answer,
    body_of_request,
    names_from_json,
    one_of,
    taker,
    whole_from_json,
    whole_or_none,
)
from companion.dashboard.magestone_table import MageStoneTable, replay_json
from companion.dashboard.records import games_of_log, read_text
from companion.games.magestone import (
    SEATED,
    Layout,
    Record,
    Roll,
    Seat,
    State,
    read_go,
    read_record,
    replay,
    throw,
)
from companion.games.magestone.table import Begin, Chosen, Game, Input, Said, Saying, Thrower, Thrown

_MOST_RECORD = 512 * 1024
"""Bytes of a record; a game of four of a few hundred goes has some tens of thousands."""
_MOST_CHOICES = 4000
"""Of a record; each takes some ten microseconds to play, and its position some hundred bytes."""
_MOST_SIDES = 20
_MOST_DICE = 3
_FIRST = ("random", "named")
_WANTED = "record is one as text"


def magestone_writes(said: Queue[Input], table: MageStoneTable) -> Blueprint:
    """POST /start, /choose, /dice, /roll and /declare; each answers 202, or `{"why": ...}` with the reason."""
    blueprint = Blueprint("api", __name__)
    take = taker(said)

    @blueprint.post("/start")
    def start() -> Answer:
        request.max_content_length = _MOST_RECORD
        body = body_of_request()
        length = whole_or_none(body, "length", 1, MOST_GAMES)
        if "record" in body:
            record, _ = read_text(body["record"], _record, _WANTED)
            return take(Begin(_names_of(record), length=1, record=body["record"]))
        names = names_from_json(
            body.get("names"), SEATED, "MageStone is played by two or four: give as many names, clockwise"
        )
        first = body.get("first", _FIRST[0])
        if first not in _FIRST:
            abort(400, f"first is one of {', '.join(_FIRST)}")
        if first == "random":
            turn = secrets.randbelow(len(names))
            names = (*names[turn:], *names[:turn])
        return take(Begin(names, one_of(Layout, body.get("layout", Layout.DIAMOND), "layout"), length))

    @blueprint.post("/choose")
    def choose() -> Answer:
        body = body_of_request()
        n = whole_or_none(body, "n", 1, 100_000)
        seat = whole_or_none(body, "seat", 0, len(Seat) - 1)
        wanted = "choice is one as text, as W1>e1>e2, or several with blanks between"
        first, *more = read_text(body.get("choice"), read_go, wanted)
        answer = take(Chosen(first, n, None if seat is None else Seat(seat)))
        for k, following in enumerate(more, 1):
            take(Chosen(following, None if n is None else n + k))
        return answer

    @blueprint.post("/dice")
    def dice() -> Answer:
        body = body_of_request()
        return take(Thrown(Roll(*(_side(body.get(side), side) for side in ("attacker", "defender")))))

    @blueprint.post("/roll")
    def roll() -> Answer:
        called_for = table.dice()
        if called_for is None:
            abort(409, "nothing is declared that calls for dice")
        return take(Thrown(throw(called_for, lambda sides: secrets.randbelow(sides) + 1), Thrower.COMPANION))

    @blueprint.post("/declare")
    def declare() -> Answer:
        return take(Saying(one_of(Said, body_of_request().get("what"), "what")))

    return blueprint


def magestone_games(table: MageStoneTable) -> Blueprint:
    """GET /options, /games, /replay and /record; POST /replay shows a record that is in no log."""
    blueprint = games_of_log(table, "/record")

    @blueprint.get("/options")
    def options() -> dict[str, Any]:
        cell = request.args.get("cell", "")
        if not re.fullmatch("[a-p]([0-9]|1[0-5])", cell):
            abort(400, "cell is a square, as h4")
        return table.options(cell)

    @blueprint.post("/replay")
    def read() -> dict[str, Any]:
        request.max_content_length = _MOST_RECORD
        record, states = read_text(body_of_request().get("record"), _record, _WANTED)
        return {"match": None, "game": 1, **replay_json(Game(states, record.choices), _names_of(record))}

    return blueprint


def _record(text: str) -> tuple[Record, tuple[State, ...]]:
    """The record in a text with every state of it. Raises NotationError."""
    record = read_record(text)
    if len(record.choices) > _MOST_CHOICES:
        abort(400, f"a record of more than {_MOST_CHOICES} choices is too long for the page")
    return record, replay(record)


def _names_of(record: Record) -> tuple[str, ...]:
    """The players that a record names; the seats' own names where it has none, or one twice."""
    seats = record.first.seats
    names = tuple(" ".join(name.split())[:24] for name in record.names) or ("",) * len(seats)
    return tuple(
        name if name and names.count(name) == 1 else seat.label for seat, name in zip(seats, names, strict=True)
    )


def _side(value: object, side: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_DICE:
        abort(400, f"{side} is a list of one to {_MOST_DICE} dice")
    return tuple(whole_from_json(die, side, 1, _MOST_SIDES) for die in value)
