"""The lines that `companion referee` prints for a game of Pathstone; squares have their names."""

from typing import Any

from companion.games.pathstone.pieces import square_name
from companion.ruling import Accepted, Refused, Ruling, Undecided, event_to_json


def events_to_json(rulings: tuple[Ruling, ...]) -> list[dict[str, Any]]:
    """A line for each ruling that is an event, without when it was seen."""
    lines = (_event(ruling) for ruling in rulings)
    return [line for line in lines if line is not None]


def _event(ruling: Ruling) -> dict[str, Any] | None:
    said = {"rule": ruling.rule, "why": ruling.why, "cells": [square_name(cell) for cell in ruling.cells]}
    match ruling:
        case Accepted():
            return None if ruling.event is None else {**event_to_json(ruling.event), **said}
        case Refused():
            return {"event": "refused", **said}
        case Undecided():
            return {"event": "undecided", "n": ruling.n, "candidates": list(ruling.candidates), **said}
