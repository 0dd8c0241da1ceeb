"""What people say: checked, and put on the queue that the session drains. The answer comes by the stream."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from enum import StrEnum
from queue import Full, Queue
from typing import Any, TypeVar

from flask import Blueprint, abort, request

from companion.inputs import (
    Correction,
    Declaration,
    Declared,
    DiskCorrection,
    InputError,
    SeenDisk,
    Setup,
    Undo,
    disk_from_json,
)
from companion.terms import Field, IllegalFlick, Mode, Player
from vision.board import HolesBoard, Profile

MOST_GAMES = 99
"""Of a match."""
_MOST_NAME = 24
_MOST_THRESHOLD = 99

Answer = tuple[dict[str, bool], int]
Choice = TypeVar("Choice", bound=StrEnum)
Given = TypeVar("Given")


def taker(said: Queue[Given]) -> Callable[[Given], Answer]:
    """Puts what a person says on the session's queue; aborts with 503 where that is full."""

    def take(given: Given) -> Answer:
        try:
            said.put_nowait(given)
        except Full:
            abort(503, "the referee is busy; try again")
        return {"taken": True}, 202

    return take


def writes(said: Queue[Declaration | Correction], profile: Profile) -> Blueprint:
    """POST /start, /declare, /correct and /undo; each answers 202, or `{"why": ...}` with the reason."""
    assert isinstance(profile.board, HolesBoard)
    field = Field(**asdict(profile.board))
    blueprint = Blueprint("api", __name__)
    take = taker(said)

    @blueprint.post("/start")
    def start() -> Answer:
        return take(Declaration(Declared.START, _setup(body_of_request(), field)))

    @blueprint.post("/declare")
    def declare() -> Answer:
        body = body_of_request()
        what = one_of(Declared, body.get("what"), "what")
        if what is Declared.START:
            abort(400, "a match is started at /start")
        choice = body.get("choice")
        if choice is not None and not isinstance(choice, str):
            abort(400, "choice is one of the candidates, or null")
        return take(Declaration(what, None, choice))

    @blueprint.post("/correct")
    def correct() -> Answer:
        body = body_of_request()
        was, now = (None if body.get(key) is None else _disk(_object(body[key]), field) for key in ("was", "now"))
        if was is None and now is None:
            abort(400, "was or now must be a disk")
        return take(DiskCorrection(was, now))

    @blueprint.post("/undo")
    def undo() -> Answer:
        before = body_of_request().get("before")
        if before is not None and (not isinstance(before, int) or isinstance(before, bool) or before < 1):
            abort(400, "before is the number of an entry, or null")
        return take(Undo(before))

    return blueprint


def body_of_request() -> Mapping[str, Any]:
    """The JSON object that was sent; 400 for anything else."""
    return _object(request.get_json(silent=True))


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        abort(400, "send a JSON object")
    return value


def _disk(body: Mapping[str, Any], field: Field) -> SeenDisk:
    try:
        disk = disk_from_json(body)
    except InputError as error:
        abort(400, str(error))
    reach_mm = field.disk_diameter_mm
    if not (
        -reach_mm <= disk.x_mm <= field.width_mm + reach_mm and -reach_mm <= disk.y_mm <= field.length_mm + reach_mm
    ):
        abort(400, "the disk is not on the board")
    if disk.cell is not None and not (1 <= disk.cell[0] <= field.rows and 1 <= disk.cell[1] <= field.columns):
        abort(400, f"cell is a row from 1 to {field.rows} and a column from 1 to {field.columns}")
    return disk


def _setup(body: Mapping[str, Any], field: Field) -> Setup:
    first, second = names_from_json(body.get("names"), (2,), "names are two, player A's first")
    return Setup(
        mode=one_of(Mode, body.get("mode"), "mode"),
        threshold=whole_from_json(body.get("threshold"), "threshold", 1, _MOST_THRESHOLD),
        starter=one_of(Player, body.get("starter"), "starter"),
        names=(first, second),
        illegal_flick=one_of(IllegalFlick, body.get("illegal_flick", "remove"), "illegal_flick"),
        field=field,
    )


def names_from_json(value: object, numbers: Collection[int], wanted: str) -> tuple[str, ...]:
    """The names of one of these numbers of people; 400 for anything else, saying what is `wanted`."""
    if not isinstance(value, list) or len(value) not in numbers:
        abort(400, wanted)
    names = tuple(_name(name) for name in value)
    if len(set(names)) < len(names):
        abort(400, "the names must differ")
    return names


def _name(value: object) -> str:
    name = " ".join(value.split()) if isinstance(value, str) else ""
    if not 1 <= len(name) <= _MOST_NAME or not name.isprintable():
        abort(400, f"a name has 1 to {_MOST_NAME} characters")
    return name


def whole_from_json(value: object, key: str, least: int, most: int) -> int:
    """A whole number within these; 400 for what is none."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        abort(400, f"{key} is a whole number from {least} to {most}")
    return value


def whole_or_none(body: Mapping[str, Any], key: str, least: int, most: int) -> int | None:
    """A whole number within these, or None where there is null or nothing; 400 for anything else."""
    return None if body.get(key) is None else whole_from_json(body[key], key, least, most)


def one_of(kind: type[Choice], value: object, key: str) -> Choice:
    """A word of an enumeration; 400 for any other."""
    try:
        return kind(str(value))
    except ValueError:
        abort(400, f"{key} is one of {', '.join(kind)}")
