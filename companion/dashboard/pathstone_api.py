"""Pathstone's part of the web: what people say, put on the session's queue, and the games of the log for programs."""

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
from companion.dashboard.pathstone_table import PathstoneTable, replay_json
from companion.dashboard.records import games_of_log, read_text
from companion.games.pathstone import SIZES, Record, State, read_move, read_ptn, replay
from companion.games.pathstone.series import Begin, Input, Played, Said, Saying
from companion.store import PathstoneStore, Resume
from companion.terms import Player

_MOST_PTN = 128 * 1024
"""Bytes of a record; the longest real ones have some thousands."""
_MOST_MOVES = 1000
"""Of a record; the longest real ones have two hundred, and each takes some milliseconds to play."""
_FIRST = ("random", "first", "second")
_WANTED = "ptn is a record as text"


def pathstone_writes(said: Queue[Input | Resume], watched_size: int | None, store: PathstoneStore) -> Blueprint:
    """POST /start, /resume, /play and /declare; each answers 202, or `{"why": ...}` with the reason."""
    blueprint = Blueprint("api", __name__)
    take = taker(said)

    @blueprint.post("/start")
    def start() -> Answer:
        request.max_content_length = _MOST_PTN
        body = body_of_request()
        if "ptn" in body:
            record, _ = read_text(body["ptn"], _record, _WANTED)
            return take(Begin(_names_of(record), length=1, ptn=body["ptn"]))
        names = names_from_json(body.get("names"), (2,), "names are two")
        first = body.get("first", _FIRST[0])
        if first not in _FIRST:
            abort(400, f"first is one of {', '.join(_FIRST)}")
        if first == "second" or (first == "random" and secrets.randbelow(2)):
            names = (names[1], names[0])
        size = whole_from_json(body.get("size"), "size", SIZES[0], SIZES[-1])
        if size != (watched_size or size):
            abort(400, f"the camera watches a board of {watched_size}x{watched_size}")
        return take(Begin((names[0], names[1]), size, whole_or_none(body, "length", 1, MOST_GAMES)))

    @blueprint.post("/resume")
    def resume() -> Answer:
        key = body_of_request().get("match")
        match = store.find(key) if isinstance(key, str) else None
        if match is None:
            abort(404, "there is no such series in the log")
        return take(Resume(match))

    @blueprint.post("/play")
    def play() -> Answer:
        body = body_of_request()
        n = whole_or_none(body, "n", 1, 10_000)
        return take(Played(read_text(body.get("ptn"), read_move, "ptn is a move as text"), n))

    @blueprint.post("/declare")
    def declare() -> Answer:
        body = body_of_request()
        player = None if body.get("player") is None else one_of(Player, body["player"], "player")
        return take(Saying(one_of(Said, body.get("what"), "what"), player))

    return blueprint


def pathstone_games(table: PathstoneTable) -> Blueprint:
    """GET /moves, /games, /replay and /game.ptn; POST /replay shows a record that is in no log."""
    blueprint = games_of_log(table, "/game.ptn")

    @blueprint.get("/moves")
    def moves() -> dict[str, Any]:
        cell = request.args.get("cell", "")
        if not re.fullmatch("[a-h][1-8]", cell):
            abort(400, "cell is a square, as c3")
        return table.moves_from(cell)

    @blueprint.post("/replay")
    def read() -> dict[str, Any]:
        request.max_content_length = _MOST_PTN
        record, states = read_text(body_of_request().get("ptn"), _record, _WANTED)
        moves = tuple(ply.move for ply in record.plies)
        return {"match": None, "game": 1, "players": list(_names_of(record)), **replay_json(states, moves, states[-1])}

    return blueprint


def _record(text: str) -> tuple[Record, tuple[State, ...]]:
    """The record in a text with every state of it. Raises NotationError."""
    record = read_ptn(text)
    if len(record.plies) > _MOST_MOVES:
        abort(400, f"a record of more than {_MOST_MOVES} moves is too long for the page")
    return record, replay(record)


def _names_of(record: Record) -> tuple[str, str]:
    """The players that a record names; a general name where it has none, or twice the same."""
    first, second = (" ".join((record.tag(f"Player{n}") or "").split())[:24] or f"Player {n}" for n in (1, 2))
    return (first, second) if first != second else (f"{first[:20]} (1)", f"{second[:20]} (2)")
