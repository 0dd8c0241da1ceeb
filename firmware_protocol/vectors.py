"""One example of every message, in which no two bytes are alike: a field that is read at a wrong place shows.

The examples are made from the table, so they are the same on each run. They test layouts: an index may lie outside of
any real grid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from itertools import count

from firmware_protocol.codec import encode
from firmware_protocol.messages import MESSAGES, Field, Layout, Message, layout_of, pack

_TAIL_BYTES = 6
_TAIL_PARTS = 2


@dataclass(frozen=True, slots=True)
class Vector:
    """A message, the sequence number of its frame, and what both are on the wire."""

    message: Message
    seq: int
    payload: bytes
    frame: bytes


def all_vectors() -> tuple[Vector, ...]:
    """One vector for each message, in the table's order."""
    return tuple(_vector(kind) for kind in MESSAGES)


def _vector(kind: type[Message]) -> Vector:
    used = {kind.TYPE}
    seq = _unused(used)
    message = _example(layout_of(kind), used)
    assert isinstance(message, Message)
    return Vector(message, seq, pack(message), encode(message, seq))


def _example(layout: Layout, used: set[int]) -> object:
    values: list[object] = [_value(field, used) for field in layout.fixed]
    if layout.tail is not None:
        values.append(_tail(layout.tail, used))
    example: object = layout.kind(*values)
    return example


def _value(field: Field, used: set[int]) -> int | bytes:
    if field.kind is bytes:
        return _bytes(int(field.wire.code[:-1]), used)
    if issubclass(field.kind, IntFlag):
        return _take(iter((~field.kind(0),)), 1, used)
    if issubclass(field.kind, IntEnum):
        return _take(iter(tuple(field.kind)[::-1]), 1, used)
    size = {"B": 1, "H": 2, "I": 4}[field.wire.code]
    if field.limits is None:
        return int.from_bytes(bytes(_unused(used) for _ in range(size)), "little")
    return _take(iter(range(field.limits.most, field.limits.least - 1, -1)), size, used)


def _tail(tail: Field, used: set[int]) -> bytes | tuple[object, ...]:
    if tail.part is None:
        return _bytes(_TAIL_BYTES, used)
    return tuple(_example(layout_of(tail.part), used) for _ in range(_TAIL_PARTS))


def _bytes(size: int, used: set[int]) -> bytes:
    """Begins with a zero, which the frame has to stuff."""
    used.add(0)
    return bytes((0, *(_unused(used) for _ in range(size - 1))))


def _unused(used: set[int]) -> int:
    # 0x11 on: the small values are left for the enums.
    return _take(count(0x11), 1, used)


def _take(values: Iterator[int], size: int, used: set[int]) -> int:
    """The first value all of whose bytes are new."""
    for value in values:
        new = value.to_bytes(size, "little")
        if len({*new}) == size and used.isdisjoint(new):
            used.update(new)
            return value
    raise AssertionError("a message has more bytes than there are different ones")
