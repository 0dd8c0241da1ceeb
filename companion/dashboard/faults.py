"""The faults of a simulated table: what can be switched on and off, and the page to do it and watch what follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flask import Blueprint, Response, abort, jsonify, render_template, request


@dataclass(frozen=True, slots=True)
class Switch:
    """One fault: its name, what it is about, its button's text, and whether it is on."""

    name: str
    about: str
    title: str
    on: bool


class Switchboard(Protocol):
    """The simulated table's side; called from the web server's threads."""

    def switches(self) -> Sequence[Switch]:
        """Every fault as it stands, those about one thing together."""

    def switch(self, name: str, on: bool) -> None:
        """Switches a fault on or off. Raises KeyError where there is no such fault."""


def switches(board: Switchboard) -> Blueprint:
    """GET /faults, the page; GET /faults.json; POST /faults with a fault's name and whether it is to be on."""
    blueprint = Blueprint("faults", __name__)

    @blueprint.get("/faults")
    def page() -> str:
        return render_template("faults.html")

    @blueprint.get("/faults.json")
    def listed() -> Response:
        return jsonify([_to_json(switch) for switch in board.switches()])

    @blueprint.post("/faults")
    def switch() -> Response:
        body = request.get_json(silent=True)
        if not isinstance(body, dict) or not isinstance(body.get("name"), str) or not isinstance(body.get("on"), bool):
            abort(400, "send the fault's name, and on as true or false")
        try:
            board.switch(body["name"], body["on"])
        except KeyError:
            abort(404, f"there is no fault {body['name'][:40]!r}")
        return listed()

    return blueprint


def _to_json(switch: Switch) -> dict[str, Any]:
    return {"name": switch.name, "about": switch.about, "title": switch.title, "on": switch.on}
