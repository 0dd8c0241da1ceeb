"""The piece that somebody thinks of moving on the page, for the LEDs under the board to show where it may go."""

from flask import Blueprint, abort

from companion.dashboard.api import body_of_request
from companion.live import Live
from companion.terms import Cell

_MOST = 64
"""Rows and columns that a board has at most."""


def taps(live: Live) -> Blueprint:
    """POST /tapped with the cell as [row, column] as the game counts them, or null once that is over."""
    blueprint = Blueprint("taps", __name__)

    @blueprint.post("/tapped")
    def tapped() -> tuple[dict[str, bool], int]:
        live.tap(_cell(body_of_request().get("cell")))
        return {"taken": True}, 202

    return blueprint


def _cell(value: object) -> Cell | None:
    if value is None:
        return None
    if not (isinstance(value, list) and len(value) == 2 and all(_is_index(index) for index in value)):
        abort(400, "cell is a row and a column, or null")
    return (value[0], value[1])


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
