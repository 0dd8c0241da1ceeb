"""A grid's LEDs as its firmware keeps them: the colours that are wanted, the palette, and what was put out."""

from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.messages import (
    GLOW_LEVEL,
    PALETTE_COLOURS,
    CellColour,
    Colour,
    Fill,
    Format,
    Palette,
    SetCells,
    SetRange,
)

MA_PER_COLOUR, MA_PER_DARK_LED = 20, 1
"""What a WS2812 draws for each of its three colours at full level, and when it is dark."""

_GLOW = Rgb(0, 0, GLOW_LEVEL)

LedRequest = SetCells | SetRange | Palette | Fill


class Leds:
    """So many WS2812 that together may draw `max_ma`. `shown` is what they shine with, all dark at first."""

    def __init__(self, cells: int, max_ma: int) -> None:
        self.shown: tuple[Rgb, ...] = (DARK,) * cells
        self._wanted = [DARK] * cells
        self._palette = [DARK] * PALETTE_COLOURS
        self._max_ma = max_ma

    def takes(self, request: LedRequest) -> bool:
        """Whether all cells and palette entries that it names exist."""
        match request:
            case SetCells():
                return all(cell.index < len(self._wanted) for cell in request.cells)
            case SetRange(format=Format.RGB):
                return request.first + len(request.data) // 3 <= len(self._wanted)
            case SetRange():
                indices = _palette_indices(request)
                # Two cells share a byte: the last half may have none.
                spare = 1 if request.format is Format.PALETTE_4 else 0
                fits = request.first + max(len(indices) - spare, 0) <= len(self._wanted)
                return fits and all(index < PALETTE_COLOURS for index in indices)
            case Palette():
                return request.first + len(request.colours) <= PALETTE_COLOURS
            case Fill():
                return True

    def set(self, request: LedRequest) -> None:
        """Does one that it takes; nothing is seen of it yet."""
        match request:
            case SetCells():
                for cell in request.cells:
                    self._wanted[cell.index] = _rgb(cell)
            case SetRange():
                colours = self._colours(request)[: len(self._wanted) - request.first]
                self._wanted[request.first : request.first + len(colours)] = colours
            case Palette():
                self._palette[request.first : request.first + len(request.colours)] = map(_rgb, request.colours)
            case Fill():
                self._wanted = [_rgb(request)] * len(self._wanted)

    def put_out(self, brightness: int) -> None:
        """The LEDs take on what is wanted."""
        self.shown = self._dimmed(self._wanted, brightness)

    def glow(self, brightness: int) -> None:
        """The LEDs show that no host is there; what is wanted stays so."""
        self.shown = self._dimmed([_GLOW] * len(self._wanted), brightness)

    def _dimmed(self, colours: list[Rgb], brightness: int) -> tuple[Rgb, ...]:
        """Dimmed to the brightness, and to the current that is allowed."""
        factor = brightness + 1
        levels = sum(map(sum, colours))
        allowed = (self._max_ma - MA_PER_DARK_LED * len(colours)) * 255 // MA_PER_COLOUR
        if levels * factor // 256 > allowed:
            factor = max(allowed * 256 // levels, 1)
        return tuple(Rgb(*(level * factor // 256 for level in colour)) for colour in colours)

    def _colours(self, request: SetRange) -> list[Rgb]:
        if request.format is Format.RGB:
            return [Rgb(*request.data[at : at + 3]) for at in range(0, len(request.data), 3)]
        return [self._palette[index] for index in _palette_indices(request)]


def _palette_indices(request: SetRange) -> list[int]:
    if request.format is Format.PALETTE_8:
        return list(request.data)
    return [index for byte in request.data for index in (byte & 15, byte >> 4)]


def _rgb(colour: CellColour | Colour | Fill) -> Rgb:
    return Rgb(colour.red, colour.green, colour.blue)
