"""The messages that bring a grid's LEDs from what they hold to what is wanted, in about the fewest bytes."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from firmware_protocol.driver import Rgb
from firmware_protocol.messages import (
    PALETTE_COLOURS,
    CellColour,
    Colour,
    Fill,
    Format,
    Palette,
    Request,
    SetCells,
    SetRange,
    pack,
)

FRAME_BYTES = 9
"""What a frame has besides its payload: two zeros, COBS's byte, type, sequence number and check."""
_TURN_BYTES = 16
"""What could have been sent while the host waits for an acknowledgement before it goes on, at 115,200 bits a second."""
_CELL_BYTES = 5
_RANGE_BYTES = 3
"""The first cell and the format, before the colours of SET_RANGE."""

Stage = tuple[Request, ...]
"""Messages of which each may overtake the others."""


class LedBuffer:
    """What a grid's LEDs and palette hold, as far as it is known; None for what is not."""

    def __init__(self, cells: int) -> None:
        self.colours: list[Rgb | None] = [None] * cells
        self.palette: list[Rgb | None] = [None] * PALETTE_COLOURS

    def apply(self, message: Request) -> None:
        """The grid has done this."""
        match message:
            case Fill(red, green, blue):
                self.colours = [Rgb(red, green, blue)] * len(self.colours)
            case SetCells(cells):
                for cell in cells:
                    self.colours[cell.index] = Rgb(cell.red, cell.green, cell.blue)
            case Palette(first, colours):
                self.palette[first : first + len(colours)] = [Rgb(one.red, one.green, one.blue) for one in colours]
            case SetRange(first, Format.RGB, data):
                self.colours[first : first + len(data) // 3] = [
                    Rgb(*data[at : at + 3]) for at in range(0, len(data), 3)
                ]
            case SetRange(first, _, data):
                indices = [index for byte in data for index in (byte & 15, byte >> 4)]
                self.colours[first : first + len(indices)] = [self.palette[index] for index in indices]

    def plan(self, wanted: Sequence[Rgb], payload_bytes: int, *, use_palette: bool = True) -> tuple[Stage, ...]:
        """What to send, stage after stage, for the LEDs to hold what is wanted; () where they do."""
        changed = [index for index, colour in enumerate(wanted) if colour != self.colours[index]]
        if not changed:
            return ()
        plans: list[tuple[Stage, ...]] = [(_in_rgb(changed, wanted, payload_bytes),)]
        common, _ = Counter(wanted).most_common(1)[0]
        others = [index for index, colour in enumerate(wanted) if colour != common]
        plans.append(((Fill(*common),), _in_rgb(others, wanted, payload_bytes)))
        if use_palette:
            plans += self._by_palette(changed, wanted, payload_bytes)
        return min((_without_empty(plan) for plan in plans), key=_cost)

    def _by_palette(self, changed: list[int], wanted: Sequence[Rgb], payload_bytes: int) -> list[tuple[Stage, ...]]:
        spans = [_evened(span, len(wanted)) for span in _spans(changed, 2 * (FRAME_BYTES + _RANGE_BYTES))]
        needed = {wanted[index] for span in spans for index in span}
        if len(needed) > PALETTE_COLOURS or any(len(span) % 2 for span in spans):
            return []
        at: dict[Rgb | None, int] = {colour: n for n, colour in enumerate(self.palette) if colour in needed}
        free = [index for index, colour in enumerate(self.palette) if at.get(colour) != index]
        new = dict(zip(free, sorted(needed - set(self.palette)), strict=False))
        at |= {colour: index for index, colour in new.items()}
        told = tuple(
            Palette(part[0], tuple(Colour(*new[index]) for index in part))
            for span in _spans(sorted(new), 0)
            for part in _parts(span, (payload_bytes - 1) // 3)
        )
        packed = tuple(
            SetRange(
                part[0],
                Format.PALETTE_4,
                bytes(at[wanted[low]] | at[wanted[low + 1]] << 4 for low in part[::2]),
            )
            for span in spans
            for part in _parts(span, 2 * (payload_bytes - _RANGE_BYTES))
        )
        return [(told, packed)]


def split(message: Request) -> tuple[Request, ...]:
    """The same in two messages, for a line that damages long frames; () where it cannot be split."""
    match message:
        case SetCells(cells) if len(cells) > 1:
            half = len(cells) // 2
            return SetCells(cells[:half]), SetCells(cells[half:])
        case SetRange(first, format_, data):
            size, cells_each = (3, 1) if format_ is Format.RGB else (1, 2)
            half = len(data) // size // 2
            if half:
                rest = first + half * cells_each
                return SetRange(first, format_, data[: half * size]), SetRange(rest, format_, data[half * size :])
    return ()


def _in_rgb(changed: list[int], wanted: Sequence[Rgb], payload_bytes: int) -> Stage:
    messages: list[Request] = []
    single: list[int] = []
    inside = set(changed)
    for span in _spans(changed, (FRAME_BYTES + _RANGE_BYTES) // 3):
        cells = [index for index in span if index in inside]
        if FRAME_BYTES + _RANGE_BYTES + 3 * len(span) >= _CELL_BYTES * len(cells):
            single += cells
            continue
        messages += (
            SetRange(part[0], Format.RGB, bytes(value for index in part for value in wanted[index]))
            for part in _parts(span, (payload_bytes - _RANGE_BYTES) // 3)
        )
    for at in range(0, len(single), payload_bytes // _CELL_BYTES):
        part_ = single[at : at + payload_bytes // _CELL_BYTES]
        messages.append(SetCells(tuple(CellColour(index, *wanted[index]) for index in part_)))
    return tuple(messages)


def _spans(indices: list[int], gap: int) -> list[range]:
    """Ranges that hold all the indices; those with at most so many others between them are in one."""
    if not indices:
        return []
    ends = [(before, after) for before, after in pairwise(indices) if after - before > gap + 1]
    starts = [indices[0], *(after for _, after in ends)]
    lasts = [*(before for before, _ in ends), indices[-1]]
    return [range(start, last + 1) for start, last in zip(starts, lasts, strict=True)]


def _evened(span: range, cells: int) -> range:
    """The span with one more cell where its number is odd and there is one: two share a byte."""
    if len(span) % 2 == 0:
        return span
    if span.stop < cells:
        return range(span.start, span.stop + 1)
    return range(max(span.start - 1, 0), span.stop)


def _parts(span: range, size: int) -> list[range]:
    return [span[at : at + size] for at in range(0, len(span), size)]


def _without_empty(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    return tuple(stage for stage in stages if stage)


def _cost(stages: tuple[Stage, ...]) -> int:
    frames = [FRAME_BYTES + len(pack(message)) for stage in stages for message in stage]
    return sum(frames) + _TURN_BYTES * (len(stages) - 1)
