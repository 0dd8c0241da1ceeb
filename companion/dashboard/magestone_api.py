"""MageStone's part of the web: what people say, put on the session's queue, and the games of the log for programs."""

import re
import secrets
from queue import Queue
from typing import Any

from flask import Blueprint, Response, abort, request

from companion.dashboard.api import (
    Answer,
    body_of_request,
    game_of_request,
    name_from_json,
    one_of,
    record_file,
    taker,
    whole_from_json,
)
from companion.dashboard.magestone_table import MageStoneTable, replay_json
from companion.games.magestone import (
    SEATED,
    Layout,
    NotationError,
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

_MOST_GAMES = 99
_MOST_RECORD = 512 * 1024
"""Bytes of a record; a game of four of a few hundred goes has some tens of thousands."""
_MOST_CHOICES = 4000
"""Of a record; each takes some ten microseconds to play, and its position some hundred bytes."""
_MOST_SIDES = 20
_MOST_DICE = 3
_FIRST = ("random", "named")


def magestone_writes(said: Queue[Input], table: MageStoneTable) -> Blueprint:
    """POST /start, /choose, /dice, /roll and /declare; each answers 202, or `{"why": ...}` with the reason."""
    blueprint = Blueprint("api", __name__)
    take = taker(said)

    @blueprint.post("/start")
    def start() -> Answer:
        request.max_content_length = _MOST_RECORD
        body = body_of_request()
        length = None if body.get("length") is None else whole_from_json(body["length"], "length", 1, _MOST_GAMES)
        if "record" in body:
            record, _ = _record(body["record"])
            return take(Begin(_names_of(record), length=1, record=body["record"]))
        names = _names(body.get("names"))
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
        n = None if body.get("n") is None else whole_from_json(body["n"], "n", 1, 100_000)
        seat = None if body.get("seat") is None else Seat(whole_from_json(body["seat"], "seat", 0, len(Seat) - 1))
        choice = body.get("choice")
        if not isinstance(choice, str) or not choice.split():
            abort(400, "choice is one as text, as W1>e1>e2, or several with blanks between")
        try:
            first, *more = read_go(choice)
        except NotationError as error:
            abort(400, str(error))
        answer = take(Chosen(first, n, seat))
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
    blueprint = Blueprint("games", __name__)

    @blueprint.get("/options")
    def options() -> dict[str, Any]:
        cell = request.args.get("cell", "")
        if not re.fullmatch("[a-p]([0-9]|1[0-5])", cell):
            abort(400, "cell is a square, as h4")
        return table.options(cell)

    @blueprint.get("/games")
    def games() -> list[dict[str, Any]]:
        return table.games()

    @blueprint.get("/replay")
    def shown() -> dict[str, Any]:
        found = table.replay(*game_of_request())
        if found is None:
            abort(404, "there is no such game in the log")
        return found

    @blueprint.post("/replay")
    def read() -> dict[str, Any]:
        request.max_content_length = _MOST_RECORD
        record, states = _record(body_of_request().get("record"))
        return {"match": None, "game": 1, **replay_json(Game(states, record.choices), _names_of(record))}

    @blueprint.get("/record")
    def record() -> Response:
        return record_file(table.record(*game_of_request()))

    return blueprint


def _record(text: object) -> tuple[Record, tuple[State, ...]]:
    """The record in a text with every state of it."""
    if not isinstance(text, str) or not text.strip():
        abort(400, "record is one as text")
    try:
        record = read_record(text)
        if len(record.choices) > _MOST_CHOICES:
            abort(400, f"a record of more than {_MOST_CHOICES} choices is too long for the page")
        return record, replay(record)
    except NotationError as error:
        abort(400, str(error))


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) not in SEATED:
        abort(400, "MageStone is played by two or four: give as many names, clockwise")
    names = tuple(name_from_json(name) for name in value)
    if len(set(names)) < len(names):
        abort(400, "the names must differ")
    return names


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
