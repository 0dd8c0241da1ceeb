"""The games of the log and records from outside, for programs and the page: what all games with records share."""

import re
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from flask import Blueprint, Response, abort, request

from companion.games import magestone, pathstone

Json = dict[str, Any]
Read = TypeVar("Read")


class Recorded(Protocol):
    """What a game's table tells of the games of its log."""

    def games(self) -> list[Json]:
        """Every game of the last matches, the newest first."""

    def replay(self, key: str, n: int) -> Json | None:
        """Every position of a game; None where there is no such game."""

    def record(self, key: str, n: int) -> tuple[str, str] | None:
        """A game on paper and the name of its file; None where there is no such game."""


def games_of_log(table: Recorded, paper: str) -> Blueprint:
    """GET /games, /replay, and `paper` for a game's record as a file to keep."""
    blueprint = Blueprint("games", __name__)

    @blueprint.get("/games")
    def games() -> list[Json]:
        return table.games()

    @blueprint.get("/replay")
    def replay() -> Json:
        return _found(table.replay)

    @blueprint.get(paper)
    def record() -> Response:
        text, name = _found(table.record)
        response = Response(text, content_type="text/plain; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        response.headers["Cache-Control"] = "no-store"
        return response

    return blueprint


def read_text(value: object, read: Callable[[str], Read], wanted: str) -> Read:
    """What stands in a text; 400 for what is none, saying what is `wanted`, and for what cannot be read."""
    if not isinstance(value, str) or not value.strip():
        abort(400, wanted)
    try:
        return read(value)
    except (magestone.NotationError, pathstone.NotationError) as error:
        abort(400, str(error))


def _found(find: Callable[[str, int], Read | None]) -> Read:
    """What there is of the game that is asked for."""
    n = request.args.get("game", "")
    if not re.fullmatch("[1-9][0-9]{0,3}", n):
        abort(400, "game is the number of a game, from 1")
    found = find(request.args.get("match", ""), int(n))
    if found is None:
        abort(404, "there is no such game in the log")
    return found
