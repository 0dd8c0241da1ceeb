"""Writes what is made from the table of messages: the C header, the vectors as JSON and as C, and docs/protocol.md.

`python -m firmware_protocol.generate` writes the files, `--check` only says which ones differ.
"""

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import get_args

from firmware_protocol import messages
from firmware_protocol.messages import (
    MESSAGES,
    CellColour,
    Colour,
    Field,
    Flag,
    Format,
    Layout,
    LedKind,
    Report,
    SensorKind,
    Status,
    layout_of,
)
from firmware_protocol.vectors import Vector, all_vectors

_PACKAGE = Path(__file__).resolve().parent
_ENUMS: tuple[type[IntEnum] | type[Flag], ...] = (LedKind, SensorKind, Flag, Format, Status)
_PARTS: tuple[type, ...] = (CellColour, Colour)
_NUMBERS = (
    "PROTO", "MAX_PAYLOAD", "BAUD", "HELLO_MS", "SILENCE_MS", "BAUD_TRIAL_MS", "HEARTBEAT_MS", "DEBOUNCE_MS",
    "PALETTE_COLOURS", "GLOW_LEVEL",
)  # fmt: skip
_BY_HAND = "Made by `python -m firmware_protocol.generate` from firmware_protocol/messages.py: do not edit."


def made_files() -> dict[Path, str]:
    """Every generated file's path and text."""
    return {
        _PACKAGE / "firmware" / "core" / "messages.h": _header(),
        _PACKAGE / "firmware" / "core" / "crc32_table.h": _crc32_header(),
        _PACKAGE / "vectors.json": _vectors_json(),
        _PACKAGE / "firmware" / "check" / "vectors.h": _vectors_header(),
        _PACKAGE.parent / "docs" / "protocol.md": _page(),
    }


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 where `--check` finds a difference."""
    parser = ArgumentParser(prog="python -m firmware_protocol.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    check = parser.parse_args(arguments).check
    differing = [path for path, text in made_files().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in differing:
        if not check:
            path.write_text(made_files()[path], "utf-8")
        print(f"{path}: {'differs from the table' if check else 'written'}")
    return int(check and bool(differing))


def _name(kind: type) -> str:
    """SetCells is set_cells in C, and SET_CELLS as a constant and in the page."""
    return re.sub(r"(?<=.)([A-Z])", r"_\1", kind.__name__).lower()


def _says(kind: type) -> str:
    assert kind.__doc__
    return " ".join(kind.__doc__.split())


# The C header


def _header() -> str:
    lines = [f"/* {_BY_HAND} */", "#ifndef GRID_MESSAGES_H", "#define GRID_MESSAGES_H", "", "#include <stdint.h>", ""]
    lines += [f"#define GRID_{name} {getattr(messages, name)}UL" for name in _NUMBERS]
    for enum in _ENUMS:
        lines += ["", f"/* {_says(enum)} */", f"enum grid_{_name(enum)} {{"]
        lines += [f"    GRID_{_name(enum).upper()}_{one.name} = {one.value}," for one in enum]
        lines += ["};"]
    lines += ["", *_ACCESS]
    for part in _PARTS:
        lines += ["", f"/* {_says(part)} */", *_struct(layout_of(part))]
    for kind in MESSAGES:
        lines += ["", f"/* {_says(kind)} */", f"#define GRID_{_name(kind).upper()} 0x{kind.TYPE:02x}"]
        lines += _struct(layout_of(kind))
    return "\n".join([*lines, "", "#endif", ""])


_ACCESS = """\
static inline uint16_t grid_read_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | (uint16_t)at[1] << 8);
}

static inline uint32_t grid_read_u32(const uint8_t *at)
{
    return grid_read_u16(at) | (uint32_t)grid_read_u16(at + 2) << 16;
}

static inline void grid_write_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void grid_write_u32(uint8_t *at, uint32_t value)
{
    grid_write_u16(at, (uint16_t)value);
    grid_write_u16(at + 2, (uint16_t)(value >> 16));
}""".splitlines()


def _struct(layout: Layout) -> list[str]:
    name = _name(layout.kind)
    tail = f" /* bytes before `{layout.tail.name}` */" if layout.tail else ""
    lines = [f"#define GRID_{name.upper()}_SIZE {layout.struct.size}{tail}"]
    for field in layout.fixed:
        if field.limits is not None:
            limit = f"#define GRID_{name.upper()}_{field.name.upper()}"
            lines += [f"{limit}_LEAST {field.limits.least}"] if field.limits.least else []
            lines += [f"{limit}_MOST {field.limits.most}"]
    if not layout.fixed:
        return lines
    lines += [
        "",
        f"struct grid_{name} {{",
        *(f"    {_declared(field)}; /* {field.meaning} */" for field in layout.fixed),
    ]
    lines += ["};", "", f"static inline void grid_read_{name}(const uint8_t *at, struct grid_{name} *to)", "{"]
    lines += [line for field, at in _places(layout) for line in _read(field, at)]
    lines += ["}", "", f"static inline void grid_write_{name}(uint8_t *at, const struct grid_{name} *from)", "{"]
    lines += [line for field, at in _places(layout) for line in _write(field, at)]
    return [*lines, "}"]


def _places(layout: Layout) -> Iterator[tuple[Field, int]]:
    """The fixed fields, and where in the payload each begins."""
    at = 0
    for field in layout.fixed:
        yield field, at
        at += _size(field)


def _size(field: Field) -> int:
    return {"B": 1, "H": 2, "I": 4}.get(field.wire.code) or int(field.wire.code[:-1])


def _declared(field: Field) -> str:
    kind, _, length = field.wire.c_type.partition("[")
    return f"{kind} {field.name}[{length}" if length else f"{kind} {field.name}"


def _read(field: Field, at: int) -> list[str]:
    if field.kind is bytes:
        return [f"    for (uint8_t i = 0; i < {_size(field)}; i++)", f"        to->{field.name}[i] = at[{at} + i];"]
    taken = {1: f"at[{at}]", 2: f"grid_read_u16(at + {at})", 4: f"grid_read_u32(at + {at})"}[_size(field)]
    return [f"    to->{field.name} = {taken};"]


def _write(field: Field, at: int) -> list[str]:
    if field.kind is bytes:
        return [f"    for (uint8_t i = 0; i < {_size(field)}; i++)", f"        at[{at} + i] = from->{field.name}[i];"]
    value = f"from->{field.name}"
    written = {
        1: f"at[{at}] = {value}",
        2: f"grid_write_u16(at + {at}, {value})",
        4: f"grid_write_u32(at + {at}, {value})",
    }
    return [f"    {written[_size(field)]};"]


def _crc32_header() -> str:
    """The table of CRC-32, which an AVR keeps in its flash: a byte a lookup is what 1 Mbaud leaves time for."""
    entries = [crc32_entry(byte) for byte in range(256)]
    rows = [", ".join(f"0x{entry:08x}" for entry in entries[at : at + 8]) for at in range(0, 256, 8)]
    return _CRC32_HEADER.replace("BY_HAND", _BY_HAND).replace("ROWS", ",\n    ".join(rows))


def crc32_entry(byte: int) -> int:
    """CRC-32 of one byte, without the start value and the final inversion."""
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    return byte


_CRC32_HEADER = """\
/* BY_HAND */
#ifndef GRID_CRC32_TABLE_H
#define GRID_CRC32_TABLE_H

#include <stdint.h>

#ifdef __AVR__
#include <avr/pgmspace.h>
#else
#define PROGMEM
#define pgm_read_dword(at) (*(at))
#endif

static const uint32_t grid_crc32_table[256] PROGMEM = {
    ROWS,
};

static inline uint32_t grid_crc32_entry(uint8_t byte)
{
    return pgm_read_dword(&grid_crc32_table[byte]);
}

#endif
"""


# The vectors


def _vectors_json() -> str:
    listed = [
        {
            "name": _name(type(one.message)).upper(),
            "type": one.message.TYPE,
            "seq": one.seq,
            "fields": _plain(one.message),
            "payload": one.payload.hex(),
            "frame": one.frame.hex(),
        }
        for one in all_vectors()
    ]
    return json.dumps({"about": _BY_HAND, "vectors": listed}, indent=1) + "\n"


def _plain(part: object) -> dict[str, object]:
    """A message's or part's fields as JSON has them: bytes in hexadecimal."""
    layout = layout_of(type(part))
    names = [field.name for field in (*layout.fixed, *((layout.tail,) if layout.tail else ()))]
    values = {name: getattr(part, name) for name in names}
    return {
        name: value.hex() if isinstance(value, bytes) else [_plain(one) for one in value] if isinstance(value, tuple)
        else int(value)
        for name, value in values.items()
    }  # fmt: skip


def _vectors_header() -> str:
    """For each vector its frame, and a function that reads its payload, compares every field and writes it anew."""
    lines = [f"/* {_BY_HAND} */", "#ifndef GRID_VECTORS_H", "#define GRID_VECTORS_H", "", "#include <stdbool.h>"]
    lines += ["#include <string.h>", "", '#include "messages.h"', ""]
    vectors = all_vectors()
    for one in vectors:
        lines += [*_check_function(one), ""]
    for one in vectors:
        lines += [f"static const uint8_t grid_frame_{_name(type(one.message))}[] = {{{_c_bytes(one.frame)}}};"]
    lines += ["", "static const struct grid_vector {"]
    lines += ["    uint8_t type, seq, payload_size, frame_size;", "    const uint8_t *frame;"]
    lines += [
        "    /* False where a field was read wrongly. */",
        "    bool (*check)(const uint8_t *payload, uint8_t *written);",
    ]
    lines += [f"}} grid_vectors[{len(vectors)}] = {{"]
    for one in vectors:
        name = _name(type(one.message))
        lines += [
            f"    {{GRID_{name.upper()}, {one.seq}, {len(one.payload)}, sizeof grid_frame_{name}, "
            f"grid_frame_{name}, grid_check_{name}}},"
        ]
    return "\n".join([*lines, "};", "", "#endif", ""])


def _check_function(one: Vector) -> list[str]:
    layout = layout_of(type(one.message))
    name = _name(layout.kind)
    lines = [f"static bool grid_check_{name}(const uint8_t *payload, uint8_t *written)", "{"]
    lines += _check_fixed(one.message, 0)
    if layout.tail is not None:
        at = layout.struct.size
        tail = getattr(one.message, layout.tail.name)
        if layout.tail.part is None:
            lines += [f"    static const uint8_t {layout.tail.name}[] = {{{_c_bytes(tail)}}};"]
            lines += [f"    if (memcmp(payload + {at}, {layout.tail.name}, sizeof {layout.tail.name}) != 0)"]
            lines += [
                "        return false;",
                f"    memcpy(written + {at}, {layout.tail.name}, sizeof {layout.tail.name});",
            ]
        for part in tail if layout.tail.part else ():
            lines += ["    {", *(f"    {line}" for line in _check_fixed(part, at)), "    }"]
            at += layout_of(type(part)).struct.size
    if not layout.fixed and layout.tail is None:
        lines += ["    (void)payload;", "    (void)written;"]
    return [*lines, "    return true;", "}"]


def _check_fixed(part: object, at: int) -> list[str]:
    layout, name = layout_of(type(part)), _name(type(part))
    if not layout.fixed:
        return []
    values = [(field, getattr(part, field.name)) for field in layout.fixed]
    initial = ", ".join(f"{{{_c_bytes(v)}}}" if isinstance(v, bytes) else f"{int(v)}U" for _, v in values)
    lines = [f"    static const struct grid_{name} sent = {{{initial}}};", f"    struct grid_{name} read;"]
    lines += [f"    grid_read_{name}(payload + {at}, &read);"]
    different = [
        f"memcmp(read.{f.name}, sent.{f.name}, sizeof sent.{f.name}) != 0" if isinstance(v, bytes)
        else f"read.{f.name} != sent.{f.name}"
        for f, v in values
    ]  # fmt: skip
    lines += [f"    if ({(' ||' + chr(10) + '        ').join(different)})", "        return false;"]
    return [*lines, f"    grid_write_{name}(written + {at}, &sent);"]


def _c_bytes(data: Iterable[int]) -> str:
    return ", ".join(f"0x{byte:02x}" for byte in data)


# The page


def _page() -> str:
    parts = [_PAGE.format_map({name: f"{getattr(messages, name):,}" for name in _NUMBERS})]
    parts += ["## Kinds\n"]
    for enum in _ENUMS:
        rows = [(str(int(one)), one.name or "") for one in enum]
        parts += [f"**{_spoken(enum)}.** {_says(enum)}\n", _table(("value", "name"), rows)]
    parts += ["## Parts\n"]
    parts += [f"**{_spoken(part)}.** {_says(part)}\n\n{_fields(layout_of(part))}" for part in _PARTS]
    vectors = {type(one.message): one for one in all_vectors()}
    for title, kinds in (
        ("From the host", [kind for kind in MESSAGES if kind not in get_args(Report)]),
        ("From the device", list(get_args(Report))),
    ):
        parts += [f"## {title}\n"]
        for kind in kinds:
            one = vectors[kind]
            parts += [f"### 0x{kind.TYPE:02x} {_name(kind).upper()}\n\n{_says(kind)}\n", _fields(layout_of(kind))]
            parts += [f"    {one.frame.hex(' ')}\n"]
    return f"<!-- {_BY_HAND} -->\n" + "\n".join(parts)


def _spoken(kind: type) -> str:
    return _name(kind).replace("_", " ").capitalize()


def _fields(layout: Layout) -> str:
    rows = [(str(at), _declared(field).split()[0], field.name, _meaning(field)) for field, at in _places(layout)]
    if layout.tail is not None:
        repeated = "bytes" if layout.tail.part is None else f"{_spoken(layout.tail.part)} ..."
        rows += [(str(layout.struct.size), repeated, layout.tail.name, layout.tail.meaning)]
    return _table(("at", "type", "field", "meaning"), rows) if rows else "No payload.\n"


def _meaning(field: Field) -> str:
    kind = f"; {_spoken(field.kind).lower()}" if issubclass(field.kind, IntEnum | Flag) else ""
    limits = f"; {field.limits.least} to {field.limits.most:,}" if field.limits else ""
    return field.meaning + kind + limits


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


_PAGE = """\
# The grid's protocol, version {PROTO}

Between a host and a grid of cells with one LED and one occupancy sensor each, over a serial line: {BAUD} bits a second
after a start, 8N1. Numbers are little-endian. The table of messages is `firmware_protocol/messages.py`;
`firmware_protocol/vectors.json` has one frame of each message with its fields, for testing another implementation.

## Frame
    00 COBS( type, sequence number, payload, CRC-32 ) 00

- Payload: 0 to {MAX_PAYLOAD} bytes, so a frame is one COBS block; INFO says how many the device takes.
- CRC-32: as in zlib and Ethernet (polynomial 0x04C11DB7 reflected, first and last value 0xFFFFFFFF), over type,
  sequence number and payload; its low byte first. CRC-16 is not enough: it let damaged frames through.
- The zero in front keeps the remains of a cut frame from spoiling the next one. Several zeros are as good as one.
- What fails its check is dropped and counted, never answered. Types from 0x80 on come from the device; a device that
  receives one ignores it.

## Session
1. The host sends HELLO every {HELLO_MS} ms until INFO comes. An opened port resets many boards, whose boot loader then
   eats bytes for up to 2 s. A device that speaks another protocol answers too; INFO begins with its version.
2. The host sends CONFIG if it wants other settings, paints all cells, sends SHOW, and asks for all sensors with SENSE.
   Only after BITMAP does it believe an EVENT.
3. INFO unasked, or another boot id in INFO or HEARTBEAT, means that the device started anew: begin at 1.
4. A device that hears no good frame for {SILENCE_MS} ms goes back to {BAUD} bits a second and lets all its LEDs glow
   dimly blue, as it does after a start: 0, 0, {GLOW_LEVEL}, and less where brightness or current ask for it. With the
   host's next frame the cells' colours are back; after HELLO, with its next SHOW.

## Requests
- Every request but HELLO and SENSE is answered by ACK or NAK with its sequence number; HELLO is answered by INFO, SENSE
  by BITMAP, or either by NAK. A NAK changes nothing. A type that is not in the table: NAK, UNSUPPORTED.
- State is absolute: nothing toggles, so the host repeats a frame, with its sequence number, when no answer came within
  100 ms beyond the time on the wire. A device that gets the very frame again that it acknowledged last answers with
  ACK, REPEATED, and does not do it anew; HELLO makes it forget that frame.
- Requests whose order does not matter may be under way together, up to INFO's `rx_window` bytes, zeros included.
- SHOW is acknowledged when the LEDs are written. With the flag SHOW_BLOCKS_RX the device cannot receive until then: the
  host sends nothing from SHOW to its ACK.
- SET_BAUD is acknowledged at the old speed; the device changes when the ACK is out. If it hears no good frame within
  {BAUD_TRIAL_MS} ms, it goes back to the old speed. NAK, BAD_VALUE: it cannot do this speed.
- SET_RANGE with the palette takes the colours of that moment; a later PALETTE changes no cell. In 4 bits a cell, a last
  half byte past the last cell is ignored.

## Reports
- EVENT comes once for each change that outlasted the debounce time, {DEBOUNCE_MS} ms after a start. It is not repeated.
- HEARTBEAT comes every {HEARTBEAT_MS} ms, or as CONFIG says. A host that sees a gap in `event_seq`, or an occupancy
  check that is not its own map's, asks with SENSE. Silence for three heartbeats: the device is lost.
- The sequence number of EVENT and HEARTBEAT says nothing; it is 0.

"""


if __name__ == "__main__":
    sys.exit(main())
