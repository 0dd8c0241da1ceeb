"""JSON values of a line, checked: each reader gives the value or raises InputError, naming the key."""

import json
from collections.abc import Collection
from enum import StrEnum
from typing import Any, TypeVar

from companion.inputs import InputError

Json = dict[str, Any]
Choice = TypeVar("Choice", bound=StrEnum)

_MOST = 1_000_000


def json_from_line(line: str) -> object:
    """The value on a line. Raises ValueError or RecursionError where it is not JSON."""
    return json.loads(line, parse_constant=_refuse_constant)


def as_object(value: object, key: str) -> Json:
    """A JSON object. Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(f"{key} must be an object")
    return value


def one_of(kind: type[Choice], value: object, key: str) -> Choice:
    """A member of an enum. Raises InputError."""
    if isinstance(value, str) and value in set(kind):
        return kind(value)
    raise InputError(f"{key} must be one of {', '.join(kind)}")


def one_of_or_none(kind: type[Choice], value: object, key: str) -> Choice | None:
    """A member of an enum, or None for null. Raises InputError."""
    return None if value is None else one_of(kind, value, key)


def whole(value: object, key: str, least: int = 0, most: int = _MOST) -> int:
    """A whole number within bounds. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{key} must be a whole number from {least} to {most}")
    return value


def flag(table: Json, key: str, *, default: bool = False) -> bool:
    """True or false under a key, the default where it is left out. Raises InputError."""
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"{key} must be true or false")
    return value


def pair(value: object, key: str, most: int = _MOST) -> tuple[int, int]:
    """Two whole numbers, player A's first. Raises InputError."""
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(f"{key} must be two whole numbers, player A's first")
    first, second = (whole(number, key, most=most) for number in value)
    return first, second


def refuse_unknown(table: Json, known: Collection[str], where: str) -> None:
    """Raises InputError for a key that is not known."""
    for key in table:
        if key not in known:
            raise InputError(f"{where}{key} is not one of the keys {', '.join(known)}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")
