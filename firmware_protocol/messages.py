"""The one table of messages between a host and an LED/sensor grid.

Each message is a frozen dataclass whose fields carry their wire type and meaning. Struct layouts, the C header,
docs/protocol.md and the test vectors are all made from this table, by `python -m firmware_protocol.generate`.

Numbers are little-endian. State is absolute: a message that arrives twice does no harm, so the host repeats what was
not acknowledged. Only frames whose order does not matter are in flight together; SHOW waits for all before it.
"""

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, IntEnum, IntFlag
from struct import Struct, error
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

from firmware_protocol.errors import WireError

PROTO = 1
"""The protocol's version. A device of any version answers HELLO with an INFO that begins with its own."""
MAX_PAYLOAD = 248
"""Bytes: with type, sequence number and check one COBS block."""
BAUD = 115_200
"""The speed after a start, bits a second, 8N1."""
HELLO_MS = 250
"""HELLO is repeated so often until it is answered."""
SILENCE_MS = 5_000
"""A host that was silent so long is gone: the LEDs glow dimly blue, and the speed is again the one after a start."""
BAUD_TRIAL_MS = 1_000
"""A good frame has to come so soon after SET_BAUD; else the speed before holds again."""
HEARTBEAT_MS = 500
"""Time between heartbeats after a start."""
DEBOUNCE_MS = 20
"""What CONFIG sets, after a start."""
PALETTE_COLOURS = 16
"""Colours in the palette; all dark after a start."""
GLOW_LEVEL = 3
"""Of blue, red and green being dark: what all LEDs show while no host is there."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How one value stands in a frame: its `struct` format, and its type in C."""

    code: str
    c_type: str


U8, U16, U32 = Wire("B", "uint8_t"), Wire("H", "uint16_t"), Wire("I", "uint32_t")
UID = Wire("8s", "uint8_t[8]")
TAIL = Wire("", "")
"""The rest of the payload: bytes, or any number of equal parts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The least and the greatest value that a device takes. A frame carries others too: they are answered by NAK."""

    least: int
    most: int


BIT = Limits(0, 1)


class LedKind(IntEnum):
    """What a grid can show."""

    NONE = 0
    RGB = 1
    LEVELS = 2


class SensorKind(IntEnum):
    """What tells a grid that a cell is occupied."""

    NONE = 0
    SWITCH = 1
    REED = 2
    HALL = 3
    INFRARED = 4


class Flag(IntFlag):
    """What else a host must know about a device."""

    SIMULATED = 1
    SHOW_BLOCKS_RX = 2


class Format(IntEnum):
    """How SET_RANGE packs its cells."""

    RGB = 0
    PALETTE_8 = 1
    PALETTE_4 = 2


class Status(IntEnum):
    """How a request ended. From 16 on it was refused and changed nothing."""

    OK = 0
    REPEATED = 1
    UNSUPPORTED = 16
    BAD_LENGTH = 17
    BAD_VALUE = 18


@dataclass(frozen=True, slots=True)
class CellColour:
    """One cell's colour."""

    index: Annotated[int, U16, "the cell, by the grid's own order"]
    red: Annotated[int, U8, "0 to 255"]
    green: Annotated[int, U8, "0 to 255"]
    blue: Annotated[int, U8, "0 to 255"]


@dataclass(frozen=True, slots=True)
class Colour:
    """One palette entry."""

    red: Annotated[int, U8, "0 to 255"]
    green: Annotated[int, U8, "0 to 255"]
    blue: Annotated[int, U8, "0 to 255"]


@dataclass(frozen=True, slots=True)
class Hello:
    """Asks who is there; answered by INFO. Sent every 250 ms until it is answered."""

    TYPE: ClassVar[int] = 0x01
    proto_min: Annotated[int, U8, "the oldest protocol that the host speaks"]
    proto_max: Annotated[int, U8, "the newest"]


@dataclass(frozen=True, slots=True)
class SetCells:
    """Sets the colours of single cells; seen at the next SHOW."""

    TYPE: ClassVar[int] = 0x02
    cells: Annotated[tuple[CellColour, ...], TAIL, "cells with their colours"]


@dataclass(frozen=True, slots=True)
class SetRange:
    """Sets the colours of cells that follow one another; seen at the next SHOW."""

    TYPE: ClassVar[int] = 0x03
    first: Annotated[int, U16, "the first cell"]
    format: Annotated[Format, U8, "how `data` is packed"]
    data: Annotated[bytes, TAIL, "3 bytes a cell, or a palette index in 1 byte, or in 4 bits with the low ones first"]


@dataclass(frozen=True, slots=True)
class Palette:
    """Sets colours of the palette, which SET_RANGE may use; what is shown stays."""

    TYPE: ClassVar[int] = 0x04
    first: Annotated[int, U8, "the first entry", Limits(0, PALETTE_COLOURS - 1)]
    colours: Annotated[tuple[Colour, ...], TAIL, "entries from there on"]


@dataclass(frozen=True, slots=True)
class Fill:
    """Sets every cell to one colour; seen at the next SHOW."""

    TYPE: ClassVar[int] = 0x05
    red: Annotated[int, U8, "0 to 255"]
    green: Annotated[int, U8, "0 to 255"]
    blue: Annotated[int, U8, "0 to 255"]


@dataclass(frozen=True, slots=True)
class Show:
    """Puts the cells' colours on the LEDs. Acknowledged when they are out: until then the host sends nothing."""

    TYPE: ClassVar[int] = 0x06


@dataclass(frozen=True, slots=True)
class Sense:
    """Asks for all sensors; answered by BITMAP."""

    TYPE: ClassVar[int] = 0x07


@dataclass(frozen=True, slots=True)
class Config:
    """Sets how the device behaves until its next start."""

    TYPE: ClassVar[int] = 0x08
    debounce_ms: Annotated[int, U8, "so long a sensor must keep its new state", Limits(1, 250)]
    heartbeat_ms: Annotated[int, U16, "time between heartbeats", Limits(100, 10_000)]
    brightness: Annotated[
        int, U8, "scales all colours from the next SHOW on, 255 not at all; the cap on the current holds besides"
    ]
    events: Annotated[int, U8, "1: changes are reported; 0: only SENSE tells", BIT]


@dataclass(frozen=True, slots=True)
class SetBaud:
    """Changes the speed after the ACK. Without a good frame within 1 s the one before holds again."""

    TYPE: ClassVar[int] = 0x09
    baud: Annotated[int, U32, "bits a second, 8N1"]


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for an ACK, nothing else."""

    TYPE: ClassVar[int] = 0x0A


@dataclass(frozen=True, slots=True)
class Info:
    """Who answers HELLO, and what it can do."""

    TYPE: ClassVar[int] = 0x81
    proto: Annotated[int, U8, "the protocol that the device speaks"]
    major: Annotated[int, U8, "firmware version"]
    minor: Annotated[int, U8, "firmware version"]
    patch: Annotated[int, U8, "firmware version"]
    uid: Annotated[bytes, UID, "tells this device from every other"]
    boot_id: Annotated[int, U32, "another one after each start"]
    rows: Annotated[int, U8, "rows of cells"]
    columns: Annotated[int, U8, "cells in a row"]
    led_kind: Annotated[LedKind, U8, "what the LEDs can show"]
    sensor_kind: Annotated[SensorKind, U8, "what the sensors are"]
    max_payload: Annotated[int, U8, "bytes of payload that a frame to the device may have"]
    rx_window: Annotated[int, U16, "bytes that may be under way to the device, unacknowledged"]
    max_ma: Annotated[int, U16, "current that the LEDs may draw in all, mA; brightness is capped by it"]
    flags: Annotated[Flag, U8, "what else holds"]


@dataclass(frozen=True, slots=True)
class Ack:
    """The request with this frame's sequence number is done."""

    TYPE: ClassVar[int] = 0x82
    status: Annotated[Status, U8, "OK, or REPEATED: it was done before"]


@dataclass(frozen=True, slots=True)
class Nak:
    """The request with this frame's sequence number is refused and changed nothing."""

    TYPE: ClassVar[int] = 0x83
    status: Annotated[Status, U8, "why"]


@dataclass(frozen=True, slots=True)
class Event:
    """One sensor changed and kept its state for the debounce time. Not repeated: the heartbeat shows a lost one."""

    TYPE: ClassVar[int] = 0x84
    event_seq: Annotated[int, U16, "counts the events"]
    t_ms: Annotated[int, U32, "the device's clock at the change"]
    index: Annotated[int, U16, "the cell"]
    occupied: Annotated[int, U8, "1: the cell is occupied", BIT]


@dataclass(frozen=True, slots=True)
class Bitmap:
    """All sensors at once."""

    TYPE: ClassVar[int] = 0x85
    event_seq: Annotated[int, U16, "the last event that is part of it"]
    bits: Annotated[bytes, TAIL, "bit i % 8 of byte i // 8 is cell i; the bits after the last cell are 0"]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Says that the device lives, and enough to notice whatever was missed."""

    TYPE: ClassVar[int] = 0x86
    uptime_ms: Annotated[int, U32, "since its start"]
    boot_id: Annotated[int, U32, "as in INFO; another one: it started anew"]
    event_seq: Annotated[int, U16, "the last event"]
    occupancy_check: Annotated[int, U32, "CRC-32 of the bitmap's bits"]
    bad_frames: Annotated[int, U16, "received frames that failed their check"]
    overruns: Annotated[int, U16, "received bytes that found no room"]


Request = Hello | SetCells | SetRange | Palette | Fill | Show | Sense | Config | SetBaud | Ping
Report = Info | Ack | Nak | Event | Bitmap | Heartbeat
Message = Request | Report

MESSAGES: tuple[type[Message], ...] = (*get_args(Request), *get_args(Report))
"""Every message, in the order of its type; from 0x80 on they come from the device."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message or part: its name, wire type, Python type and meaning. `part` is what a tail repeats."""

    name: str
    wire: Wire
    kind: type
    meaning: str
    limits: Limits | None = None
    part: type | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A message's or part's place on the wire: the fixed fields, then perhaps a tail."""

    kind: type
    fixed: tuple[Field, ...]
    struct: Struct
    tail: Field | None
    enums: tuple[tuple[int, type], ...]
    """Those of the fixed fields that are no plain numbers, by place."""


def layout_of(kind: type) -> Layout:
    """How a message or a part of one stands on the wire."""
    return _LAYOUTS[kind]


def pack(message: Message) -> bytes:
    """The message's payload. Raises WireError where a value has no room in its field."""
    return _pack(message)


def unpack(type_: int, payload: bytes) -> Message:
    """The message of this type. Raises WireError where the table has no such type, length or value."""
    kind = _BY_TYPE.get(type_)
    if kind is None:
        raise WireError(f"no message has type 0x{type_:02x}")
    message: Message = _unpack(kind, payload)
    return message


T = TypeVar("T")


def _pack(part: object) -> bytes:
    layout = _LAYOUTS[type(part)]
    values = [getattr(part, field.name) for field in layout.fixed]
    if any(isinstance(value, bytes) and len(value) != 8 for value in values):
        raise WireError(f"{type(part).__name__}: a uid has 8 bytes")
    try:
        packed = layout.struct.pack(*values)
    except error as wrong:
        raise WireError(f"{type(part).__name__}: {wrong}") from None
    if layout.tail is not None:
        tail = getattr(part, layout.tail.name)
        packed += bytes(tail) if layout.tail.part is None else b"".join(map(_pack, tail))
    if len(packed) > MAX_PAYLOAD:
        raise WireError(f"{type(part).__name__}: {len(packed)} bytes are more than a frame carries, {MAX_PAYLOAD}")
    return packed


def _unpack(kind: type[T], payload: bytes) -> T:
    layout = _LAYOUTS[kind]
    size = layout.struct.size
    if len(payload) < size or (layout.tail is None and len(payload) > size):
        raise WireError(f"{kind.__name__} has {size} bytes, not {len(payload)}")
    try:
        values: list[Any] = list(layout.struct.unpack_from(payload))
        for at, enum in layout.enums:
            values[at] = enum(values[at])
    except ValueError as wrong:
        raise WireError(f"{kind.__name__}: {wrong}") from None
    if layout.tail is not None:
        values.append(_unpack_tail(kind, layout.tail, payload[size:]))
    return kind(*values)


def _unpack_tail(kind: type, tail: Field, rest: bytes) -> bytes | tuple[object, ...]:
    if tail.part is None:
        return rest
    size = _LAYOUTS[tail.part].struct.size
    if len(rest) % size:
        raise WireError(f"{kind.__name__}: {len(rest)} bytes are no whole number of parts of {size}")
    return tuple(_unpack(tail.part, rest[at : at + size]) for at in range(0, len(rest), size))


def _layout(kind: type) -> Layout:
    assert is_dataclass(kind)
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in fields(kind):
        python, wire, meaning, *rest = get_args(hints[field.name])
        limits = rest[0] if rest else None
        part = next((one for one in get_args(python) if one is not Ellipsis), None)
        found.append(Field(field.name, wire, tuple if part else python, meaning, limits, part))
    fixed = tuple(field for field in found if field.wire is not TAIL)
    tail = next((field for field in found if field.wire is TAIL), None)
    enums = tuple((at, field.kind) for at, field in enumerate(fixed) if issubclass(field.kind, Enum))
    return Layout(kind, fixed, Struct("<" + "".join(field.wire.code for field in fixed)), tail, enums)


_LAYOUTS: dict[type, Layout] = {kind: _layout(kind) for kind in (CellColour, Colour, *MESSAGES)}
_BY_TYPE: dict[int, type[Message]] = {kind.TYPE: kind for kind in MESSAGES}
