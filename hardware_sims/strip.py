"""An LED strip behind a microcontroller: Adalight-FastLED, which only says its name, or WLED, which can be asked.

Both take Adalight's frames, whose header alone is checked: a lost byte shifts the colours, and a frame that is too
short waits for the next one's bytes. Sources: the Adalight-FastLED sketch and WLED's wled_serial.cpp.
"""

import json
import math
from collections.abc import Callable
from enum import Enum

from firmware_protocol.driver import DARK, Rgb

_HEADER = b"Ada"
_GREETS_EVERY_S = 1.0
_DARK_AFTER_S = 60.0
"""An Adalight strip that hears nothing goes dark."""
_LOCK_S = 2.5
"""WLED goes back to its own pattern so long after the last frame."""
_PATTERN = Rgb(255, 160, 0)
_VERSION = "2412080"
_BAUDS = (115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_500_000)
"""WLED's speeds, for the bytes 0xB0 to 0xB7."""
_MOST_JSON = 1_024
_TPM2, _TPM2_DATA, _TPM2_PING, _TPM2_ACK, _TPM2_END = 0xC9, 0xDA, 0xAA, 0xAC, 0x36
_LED_S = 30e-6
_RX_FIFO = 3
"""Bytes that the receiver of an Adalight strip's AVR holds while the LEDs are written with interrupts off."""


class StripFirmware(Enum):
    """What runs on the strip's microcontroller."""

    ADALIGHT = "Adalight-FastLED"
    WLED = "WLED"


class Strip:
    """One strip of so many LEDs, without sensors."""

    def __init__(self, count: int, firmware: StripFirmware = StripFirmware.WLED, *, baud: int = 115_200) -> None:
        self.count = count
        self.firmware = firmware
        self.baud = self._first_baud = baud
        self._start(0.0, 0.0)

    @property
    def leds(self) -> tuple[Rgb, ...]:
        """What is to be seen on it."""
        return tuple(self._shown)

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """Raises ValueError: it has none."""
        raise ValueError("a strip has no sensors")

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """Starts anew, with its first picture."""
        self._advance(t_s)
        self._start(t_s, silent_s)
        if noise:
            self._out.append(b"\r\nrst cause:2, boot mode:(3,6)\r\n")

    def receive(self, data: bytes, t_s: float) -> None:
        """Bytes arrive at its receiver."""
        self._advance(t_s)
        if t_s < self._booted_s:
            return
        self._greets_s = t_s + _GREETS_EVERY_S
        if self.firmware is StripFirmware.ADALIGHT:
            self._ends_s = t_s + _DARK_AFTER_S
        for byte in data:
            if self._deaf_until_s <= t_s:
                self._state(byte)
            elif len(self._held) < _RX_FIFO:
                self._held.append(byte)

    def send(self, t_s: float) -> bytes:
        """What it has sent by then."""
        self._advance(t_s)
        data = b"".join(self._out)
        self._out.clear()
        self.baud = self._next_baud
        return data

    def due_s(self) -> float:
        """When it does something by itself next."""
        return self._now_s if self._out else self._next_s()

    def _start(self, t_s: float, silent_s: float) -> None:
        wled = self.firmware is StripFirmware.WLED
        self._now_s = t_s
        self._booted_s = t_s + silent_s
        self._greets_s = math.inf if wled else self._booted_s
        self._ends_s = math.inf
        self._deaf_until_s = -math.inf
        self._held = bytearray()
        self._shown = [_PATTERN if wled else DARK] * self.count
        self._next_baud = self.baud = self._first_baud
        self._begun = bytearray()
        self._bytes_left = 0
        self._state: Callable[[int], None] = self._between
        self._out: list[bytes] = []

    def _next_s(self) -> float:
        held_s = self._deaf_until_s if self._held else math.inf
        return min(self._greets_s, self._ends_s, held_s)

    def _advance(self, t_s: float) -> None:
        while (due_s := self._next_s()) <= t_s:
            self._now_s = max(self._now_s, due_s)
            if self._greets_s <= self._now_s:
                self._out.append(b"Ada\n")
                self._greets_s = self._now_s + _GREETS_EVERY_S
            if self._ends_s <= self._now_s:
                self._shown = [_PATTERN if self.firmware is StripFirmware.WLED else DARK] * self.count
                self._ends_s = math.inf
            if self._held and self._deaf_until_s <= self._now_s:
                held, self._held = self._held, bytearray()
                for byte in held:
                    self._state(byte)
        self._now_s = max(self._now_s, t_s)

    def _between(self, byte: int) -> None:
        """Waits for a frame to begin, or for a command of one byte."""
        if byte == _HEADER[0]:
            self._begun = bytearray((byte,))
            self._state = self._header
        elif self.firmware is StripFirmware.WLED:
            self._command(byte)

    def _header(self, byte: int) -> None:
        """ "Ada", the number of LEDs less one in two bytes, and their check."""
        self._begun.append(byte)
        if not _HEADER.startswith(self._begun[:3]):
            self._state = self._between
        elif len(self._begun) == 6:
            high, low, check = self._begun[3:]
            self._expect(3 * (256 * high + low + 1) if check == high ^ low ^ 0x55 else 0)

    def _tpm2(self, byte: int) -> None:
        self._begun.append(byte)
        if self._begun[0] == _TPM2_PING:
            self._out.append(bytes((_TPM2_ACK,)))
            self._state = self._between
        elif self._begun[0] != _TPM2_DATA:
            self._state = self._between
        elif len(self._begun) == 3:
            # WLED divides each byte of the length by three, not their sum.
            self._expect(3 * (256 * self._begun[1] // 3 + self._begun[2] // 3))

    def _expect(self, colour_bytes: int) -> None:
        self._begun = bytearray()
        self._bytes_left = colour_bytes
        self._state = self._colours if colour_bytes else self._between

    def _colours(self, byte: int) -> None:
        self._begun.append(byte)
        self._bytes_left -= 1
        if self._bytes_left:
            return
        self._state = self._between
        for led in range(min(self.count, len(self._begun) // 3)):
            self._shown[led] = Rgb(*self._begun[3 * led : 3 * led + 3])
        if self.firmware is StripFirmware.WLED:
            self._ends_s = self._now_s + _LOCK_S
        else:
            self._deaf_until_s = self._now_s + _LED_S * self.count

    def _command(self, byte: int) -> None:
        """What WLED does for one byte."""
        match byte:
            case 0x76:  # v
                self._out.append(f"WLED {_VERSION}\r\n".encode())
            case 0x6C:  # l
                colours = [red << 16 | green << 8 | blue for red, green, blue in self._shown]
                self._out.append(json.dumps(colours, separators=(",", ":")).encode() + b"\r\n")
            case 0x4C:  # L
                data = bytes(value for colour in self._shown for value in colour)
                head = bytes((_TPM2, _TPM2_DATA, *len(data).to_bytes(2, "big")))
                self._out.append(head + data + bytes((_TPM2_END,)) + b"\n")
            case 0x7B:  # {
                self._begun = bytearray((byte,))
                self._state = self._json
            case _ if byte == _TPM2:
                self._begun = bytearray()
                self._state = self._tpm2
            case _ if 0xB0 <= byte < 0xB0 + len(_BAUDS) and _BAUDS[byte - 0xB0] != self.baud:
                self._next_baud = _BAUDS[byte - 0xB0]
                self._out.append(f"Baud is now {self._next_baud}\r\n".encode())

    def _json(self, byte: int) -> None:
        """WLED's JSON: only {"v": true}, which asks for its state, has an effect here."""
        self._begun.append(byte)
        if self._begun.count(b"{") > self._begun.count(b"}") and len(self._begun) < _MOST_JSON:
            return
        self._state = self._between
        try:
            asked = json.loads(self._begun)
        except ValueError:
            return
        if asked.get("v") is True:
            answer = {"state": {"on": True, "bri": 255}, "info": {"ver": "0.15.0", "leds": {"count": self.count}}}
            self._out.append(json.dumps(answer, separators=(",", ":")).encode() + b"\r\n")
