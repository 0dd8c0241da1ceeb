"""Server-sent events, by hand: the log's lines by number, then the state; and again whenever something changes.

A viewer has no queue here: it holds the number of the last line it got, and the log holds the rest. So a slow viewer
costs nothing, and one that comes back with Last-Event-ID gets exactly what it missed. Each stream is a thread of the
web server, which is why their number is limited.
"""

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from flask import Blueprint, Response, abort, jsonify, request
from werkzeug.exceptions import ServiceUnavailable

from companion.dashboard.hardware import hardware_to_json
from companion.live import Live
from companion.store import StoreError

_log = logging.getLogger(__name__)

MOST_STREAMS = 100
_PING_S = 5.0
"""Only by writing to it is a viewer noticed that has gone; so each wake writes something."""


class Table(Protocol):
    """What a game's table tells of its log; called from the web server's threads."""

    def state(self) -> dict[str, Any]:
        """How things stand now, whole."""

    def log(self, after: int = 0) -> list[dict[str, Any]]:
        """The log lines with `seq` above `after`."""

    def since(self, after: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Both. Raises StoreError."""


def events(table: Table, live: Live) -> Blueprint:
    """GET /events, and the same once, for programs: GET /state, GET /log and GET /grid."""
    blueprint = Blueprint("stream", __name__)
    places = threading.BoundedSemaphore(MOST_STREAMS)

    @blueprint.get("/events")
    def stream() -> Response:
        after = _number(request.headers.get("Last-Event-ID") or request.args.get("after"))
        if not places.acquire(blocking=False):
            raise ServiceUnavailable("too many pages are open; close one", retry_after=5)
        response = Response(_follow(table, live, after), mimetype="text/event-stream")
        response.call_on_close(places.release)
        response.headers["Cache-Control"] = "no-cache"
        return response

    @blueprint.get("/state")
    def state() -> dict[str, Any]:
        return table.state()

    @blueprint.get("/log")
    def log() -> list[dict[str, Any]]:
        return table.log(_number(request.args.get("after")))

    @blueprint.get("/grid")
    def grid() -> Response:
        return jsonify(hardware_to_json(live.hardware()))

    return blueprint


def _follow(table: Table, live: Live, after: int) -> Iterator[str]:
    yield "retry: 1000\n\n"
    heard, equipped = -1, None
    shown: dict[str, Any] | None = None
    while True:
        heard = live.wait(heard, _PING_S)
        try:
            lines, state = table.since(after)
            if shown is not None and state["match"] != shown["match"]:
                # Of a match that was left and is played again, the viewer has no line.
                lines, state = table.since(0)
        except StoreError as error:
            _log.warning("a page is left waiting: %s", error)
            return
        for line in lines:
            after = line["seq"]
            yield f"id: {after}\nevent: entry\ndata: {json.dumps(line)}\n\n"
        hardware = live.hardware()
        if hardware != equipped:
            equipped = hardware
            yield f"event: grid\ndata: {json.dumps(hardware_to_json(hardware))}\n\n"
        if state != shown:
            shown = state
            yield f"event: state\ndata: {json.dumps(state)}\n\n"
        else:
            yield ": still here\n\n"


def _number(text: str | None) -> int:
    if not text:
        return 0
    if not text.isascii() or not text.isdigit():
        abort(400, "after and Last-Event-ID are a number of the log")
    return int(text)
