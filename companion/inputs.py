"""What the referee is told: a look at the settled board, a declaration, or a correction. All are frozen values.

Each input has one JSON form, written by `input_to_json` and read by `input_from_json`; the store keeps no other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from companion.terms import USUAL_FIELD, Cell, Field, IllegalFlick, Lying, Mode, Player


@dataclass(frozen=True, slots=True)
class SeenDisk:
    """One disk at rest; its centre lies within 2 `sigma_mm` of the place given in 95 % of cases.

    Of one that is `perhaps_tilted` it cannot be told whether it lies flat in its hole, as `lying` says.
    """

    colour: Player
    x_mm: float
    y_mm: float
    cell: Cell | None
    lying: Lying
    sigma_mm: float = 0.0
    confidence: float = 1.0
    perhaps_tilted: bool = False


@dataclass(frozen=True, slots=True)
class Dispute:
    """Camera and sensor contradict each other about a hole: the camera sees a disk of this colour in it and the sensor
    says that it is empty; or the camera sees none (None) and the sensor says that it is occupied."""

    cell: Cell
    seen: Player | None


@dataclass(frozen=True, slots=True)
class Look:
    """The settled board, with what was seen since the look before.

    `flights` names each disk seen in flight (None where its colour could not be told); `hand` says that a hand was
    over the table; `hidden` are cells that could not be seen. `frame` and `t_s` say when the board had settled.
    Of hidden cells a sensor may tell that a disk lies in them (`occupied`) or that none does (`empty`), never whose.
    Without a camera every cell is hidden.
    """

    disks: tuple[SeenDisk, ...]
    hidden: tuple[Cell, ...] = ()
    hand: bool = False
    flights: tuple[Player | None, ...] = ()
    frame: int = 0
    t_s: float = 0.0
    occupied: tuple[Cell, ...] = ()
    empty: tuple[Cell, ...] = ()
    disputed: tuple[Dispute, ...] = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """What the players agree on before a match, with the board it is played on."""

    mode: Mode = Mode.BASIC
    threshold: int = 11
    starter: Player = Player.A
    names: tuple[str, str] = ("A", "B")
    illegal_flick: IllegalFlick = IllegalFlick.REMOVE
    field: Field = USUAL_FIELD
    points: tuple[int, int] = (0, 0)
    sudden_death: bool = False


class Declared(StrEnum):
    """What people can say. The first two set games up; the rest speak of the game being played."""

    START = "start"
    NEXT_GAME = "next-game"
    ILLEGAL_FLICK = "illegal-flick"
    NOT_A_FLICK = "not-a-flick"
    FLICK_LOST = "flick-lost"
    OUT_OF_TURN = "out-of-turn"
    ACCEPT = "accept"
    END_GAME = "end-game"


@dataclass(frozen=True, slots=True)
class Declaration:
    """Something a person says: `setup` goes with START, `choice` (one of the candidates) with ACCEPT."""

    what: Declared
    setup: Setup | None = None
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class DiskCorrection:
    """A disk on the board is not what was seen: `was` None adds `now`, `now` None takes `was` away."""

    was: SeenDisk | None
    now: SeenDisk | None


@dataclass(frozen=True, slots=True)
class Undo:
    """Back to how things stood before one entry (counted from 1); None is the last that changed anything."""

    before: int | None = None


Correction = DiskCorrection | Undo
Input = Look | Declaration | Correction


_MOST = 1e9
"""Above every number that an input can have; keeps out what JSON readers make of "Infinity"."""


class InputError(ValueError):
    """A JSON value that is no input; the message names the key."""


def disk_to_json(disk: SeenDisk) -> dict[str, Any]:
    """A disk under the keys that `companion observe` prints."""
    return {
        "colour": disk.colour.value,
        "x_mm": disk.x_mm,
        "y_mm": disk.y_mm,
        "sigma_mm": disk.sigma_mm,
        "cell": None if disk.cell is None else list(disk.cell),
        "lying": disk.lying.value,
        "confidence": disk.confidence,
        "perhaps_tilted": disk.perhaps_tilted,
    }


def disk_from_json(data: Mapping[str, Any]) -> SeenDisk:
    """The disk in a JSON object; what follows `lying` may be left out. Raises InputError."""
    try:
        return SeenDisk(
            Player(data["colour"]),
            number_from_json(data, "x_mm"),
            number_from_json(data, "y_mm"),
            cell_from_json(data.get("cell")),
            Lying(data["lying"]),
            number_from_json({"sigma_mm": 0.0, **data}, "sigma_mm", least=0.0),
            number_from_json({"confidence": 1.0, **data}, "confidence", least=0.0),
            _flag(data, "perhaps_tilted"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a disk: {_said(error)}") from error


def number_from_json(data: Mapping[str, Any], key: str, least: float = -_MOST) -> float:
    """The finite number under a key. Raises InputError."""
    value = data[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= _MOST:
        raise InputError(f"{key} must be a number{'' if least == -_MOST else f' from {least:g} on'}")
    return float(value)


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{key} must be true or false")
    return value


def cell_from_json(data: object) -> Cell | None:
    """Row and column from a JSON list of two, or None. Raises InputError."""
    match data:
        case None:
            return None
        case [int() as row, int() as column] if not isinstance(row, bool) and not isinstance(column, bool):
            return row, column
        case _:
            raise InputError("a cell is null or [row, column]")


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """A set-up as a JSON object."""
    return {**asdict(setup), "names": list(setup.names), "points": list(setup.points)}


def setup_from_json(data: Mapping[str, Any]) -> Setup:
    """The set-up that `setup_to_json` wrote. Raises InputError."""
    try:
        first, second = data["names"]
        points_a, points_b = data["points"]
        return Setup(
            Mode(data["mode"]),
            int(data["threshold"]),
            Player(data["starter"]),
            (str(first), str(second)),
            IllegalFlick(data["illegal_flick"]),
            Field(**data["field"]),
            (int(points_a), int(points_b)),
            bool(data["sudden_death"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a set-up: {_said(error)}") from error


def input_to_json(given: Input) -> dict[str, Any]:
    """An input as a JSON object; its key "input" says which kind it is."""
    match given:
        case Look():
            return {
                "input": "look",
                "disks": [disk_to_json(disk) for disk in given.disks],
                "hidden": [list(cell) for cell in given.hidden],
                "hand": given.hand,
                "flights": [None if colour is None else colour.value for colour in given.flights],
                "frame": given.frame,
                "t_s": given.t_s,
                "occupied": [list(cell) for cell in given.occupied],
                "empty": [list(cell) for cell in given.empty],
                "disputed": [
                    {"cell": list(dispute.cell), "seen": None if dispute.seen is None else dispute.seen.value}
                    for dispute in given.disputed
                ],
            }
        case Declaration():
            setup = None if given.setup is None else setup_to_json(given.setup)
            return {"input": "declaration", "what": given.what.value, "setup": setup, "choice": given.choice}
        case DiskCorrection():
            return {
                "input": "disk-correction",
                "was": None if given.was is None else disk_to_json(given.was),
                "now": None if given.now is None else disk_to_json(given.now),
            }
        case Undo():
            return {"input": "undo", "before": given.before}


def input_from_json(data: Mapping[str, Any]) -> Input:
    """The input that `input_to_json` wrote. Raises InputError."""
    try:
        match data["input"]:
            case "look":
                # Logs of tables without sensors need not have the last three.
                return Look(
                    tuple(disk_from_json(disk) for disk in data["disks"]),
                    _cells(data["hidden"]),
                    bool(data["hand"]),
                    tuple(_player(colour) for colour in data["flights"]),
                    int(data["frame"]),
                    float(data["t_s"]),
                    _cells(data.get("occupied", ())),
                    _cells(data.get("empty", ())),
                    tuple(_dispute(dispute) for dispute in data.get("disputed", ())),
                )
            case "declaration":
                setup = None if data["setup"] is None else setup_from_json(data["setup"])
                return Declaration(Declared(data["what"]), setup, data["choice"])
            case "disk-correction":
                was, now = (None if data[key] is None else disk_from_json(data[key]) for key in ("was", "now"))
                return DiskCorrection(was, now)
            case "undo":
                return Undo(None if data["before"] is None else int(data["before"]))
            case kind:
                raise InputError(f"{kind!r} is no kind of input")
    except InputError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not an input: {_said(error)}") from error


def _cells(data: Iterable[Iterable[Any]]) -> tuple[Cell, ...]:
    return tuple((int(row), int(column)) for row, column in data)


def _dispute(data: Mapping[str, Any]) -> Dispute:
    [cell] = _cells([data["cell"]])
    return Dispute(cell, _player(data["seen"]))


def _player(letter: str | None) -> Player | None:
    return None if letter is None else Player(letter)


def _said(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
