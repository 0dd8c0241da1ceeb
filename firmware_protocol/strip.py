"""Speaks with LED strips that have no sensors: Adalight, and WLED, which takes Adalight's frames too; no I/O.

An Adalight strip is mute: it is taken for found once it had time to start, and nothing tells whether it shows what was
sent. WLED says its version and gives its LEDs back, so what it shows is checked. Both are painted whole, again and
again: a strip that hears nothing goes dark or back to its own patterns, and a lost byte spoils only one frame.
"""

import re
from math import inf

from firmware_protocol.driver import DARK, Device, Found, GridEvent, Lost, Rgb, Traffic
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.messages import BAUD, LedKind, SensorKind

_START_S = 2.0
"""A board that restarts when its port is opened needs up to so long for it."""
_PULSE_S = 1.0
"""The strip is painted anew so often; WLED waits 2.5 s before it goes back to its own patterns."""
_ASK_S = 3.0
_REPEAT_S = 0.25
_READ_BACK_S = 1.0
_MOST_MISSES = 3
_LED_S = 40e-6
_BYTE_S = 10 / BAUD
_HASTE_S = 0.005
"""Between two frames, besides the time on the wire and to the LEDs."""
_PADDING = bytes(8)
"""Fills up a frame that lost bytes on its way; a strip that waits for a header skips it."""
_VERSION = re.compile(rb"WLED ([^\r\n]{1,40})\r?\n")
_LEDS_HEAD, _LEDS_END = b"\xc9\xda", 0x36
_ASK_VERSION, _ASK_LEDS = b"v", b"L"
_MOST_BYTES = 70_000
"""More than WLED sends at once."""


def adalight_frame(colours: tuple[Rgb, ...]) -> bytes:
    """These colours for the first LEDs of a strip; at least one."""
    high, low = divmod(len(colours) - 1, 256)
    return b"Ada" + bytes((high, low, high ^ low ^ 0x55)) + bytes(value for colour in colours for value in colour)


class AdalightDriver:
    """The driver of a mute strip with a cell for each of its first LEDs; without `size_rc`, for each colour wanted."""

    name = "adalight"
    baud = BAUD

    def __init__(self, size_rc: tuple[int, int] | None = None) -> None:
        self._size_rc = size_rc
        self._out = 0
        self._wanted: tuple[Rgb, ...] = ()
        self.begin(0.0)

    @property
    def device(self) -> Device | None:
        """The strip, once it was painted."""
        return _device(self.name, self._size_rc or (1, len(self._shown)), "") if self._shown else None

    @property
    def traffic(self) -> Traffic:
        """What was counted so far."""
        return Traffic(frames_out=self._out)

    def begin(self, now_s: float, uid: str | None = None) -> None:
        """The port was just opened. A strip has no uid: any will do."""
        self._is_found = False
        self._shown: tuple[Rgb, ...] = ()
        self._next_s = now_s + _START_S
        self._free_s = now_s

    def want(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show, by index; dark from its end on."""
        self._wanted = colours

    def feed(self, data: bytes, now_s: float) -> list[GridEvent]:
        """A strip that says "Ada" has started."""
        if b"Ada" in data and not self._shown:
            self._next_s = now_s
        return []

    def to_send(self, now_s: float) -> bytes:
        """A frame, where it is time for one."""
        if now_s < self._send_s():
            return b""
        self._next_s = now_s + _PULSE_S
        self._shown = _whole(self._wanted, self._size_rc)
        if not self._shown:
            return b""
        self._out += 1
        self._free_s = now_s + _frame_s(self._shown)
        return _PADDING + adalight_frame(self._shown)

    def due_s(self) -> float:
        """When `tick` is to be called at the latest."""
        return min(self._send_s(), self._free_s if self._shown and not self._is_found else inf)

    def tick(self, now_s: float) -> list[GridEvent]:
        """Found, once the first frame is out."""
        device = self.device
        if self._is_found or device is None or now_s < self._free_s:
            return []
        self._is_found = True
        return [Found(device, ())]

    def _send_s(self) -> float:
        has_news = bool(self._shown) and self._shown != _whole(self._wanted, self._size_rc)
        return self._free_s if has_news else max(self._next_s, self._free_s)


class WledDriver:
    """The driver of WLED with a cell for each of its first LEDs; without `size_rc`, for all of them."""

    name = "wled"
    baud = BAUD

    def __init__(self, size_rc: tuple[int, int] | None = None) -> None:
        self._size_rc = size_rc
        self._in = self._out = self._bad = self._retries = 0
        self._version, self._count, self._begun = "", 0, b""
        self._wanted: tuple[Rgb, ...] = ()
        self._shown: tuple[Rgb, ...] = ()
        self._awaits_leds = self._is_found = False
        self.begin(0.0)

    @property
    def device(self) -> Device | None:
        """Who answers."""
        return _device(self.name, self._size_rc or (1, self._count), self._version) if self._count else None

    @property
    def traffic(self) -> Traffic:
        """What was counted so far; LEDs that were not given back in time count as bad frames."""
        return Traffic(self._in, self._out, self._bad, self._retries)

    def begin(self, now_s: float, uid: str | None = None) -> None:
        """The port was just opened. WLED says no uid here: any will do."""
        self._ask(now_s)

    def want(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show, by index; dark from its end on."""
        self._wanted = colours

    def feed(self, data: bytes, now_s: float) -> list[GridEvent]:
        """What these bytes tell. Raises LinkError for a strip with too few LEDs."""
        self._begun = (self._begun + data)[-_MOST_BYTES:]
        if not self._version:
            said = _VERSION.search(self._begun)
            if said is None:
                return []
            self._version = said[1].decode("ascii", "replace")
            self._begun = self._begun[said.end() :]
            self._in += 1
            self._next_s = self._until_s = now_s
        if self._awaits_leds:
            leds = self._leds_given_back()
            if leds is not None:
                self._in += 1
                self._awaits_leds = False
                return self._take(leds, now_s)
        return []

    def to_send(self, now_s: float) -> bytes:
        """A question, or a frame and the question what the LEDs show now."""
        if now_s < self._send_s():
            return b""
        self._out += 1
        if not self._version:
            self._next_s = now_s + _REPEAT_S
            return _ASK_VERSION
        self._next_s = now_s + _PULSE_S
        self._awaits_leds = True
        self._begun = b""
        if self._size_rc is None and not self._count:
            self._until_s = now_s + _READ_BACK_S
            return _ASK_LEDS
        self._shown = _whole(self._wanted, self._size_rc or (1, self._count))
        self._until_s = now_s + 2 * _frame_s(self._shown) + _READ_BACK_S
        return _PADDING + adalight_frame(self._shown) + _ASK_LEDS

    def due_s(self) -> float:
        """When `tick` is to be called at the latest."""
        return min(self._send_s(), self._until_s if self._awaits_leds or not self._version else inf)

    def tick(self, now_s: float) -> list[GridEvent]:
        """What the mere passing of time tells. Raises NoAnswer."""
        if not self._version and now_s >= self._until_s:
            raise NoAnswer(f"nothing answers as WLED within {_ASK_S:.0f} s; is it the right port?")
        if not self._awaits_leds or now_s < self._until_s:
            return []
        self._awaits_leds = False
        self._bad += 1
        self._misses += 1
        self._next_s = now_s
        if self._misses < _MOST_MISSES:
            return []
        was_found = self._is_found
        self._ask(now_s)
        return [Lost("WLED does not say what its LEDs show; is its power on?")] if was_found else []

    def _ask(self, now_s: float) -> None:
        """Begins a session: forgets all that is known of the strip, and asks who is there."""
        self._version, self._count, self._begun = "", 0, b""
        self._shown = ()
        self._awaits_leds = self._is_found = False
        self._misses = self._mismatches = 0
        self._next_s = now_s
        self._until_s = now_s + _ASK_S

    def _send_s(self) -> float:
        if self._awaits_leds:
            return inf
        has_news = bool(self._shown) and self._shown != _whole(self._wanted, self._size_rc or (1, self._count))
        return -inf if has_news else self._next_s

    def _leds_given_back(self) -> tuple[Rgb, ...] | None:
        start = self._begun.find(_LEDS_HEAD)
        if start < 0 or len(self._begun) < start + 4:
            return None
        size = int.from_bytes(self._begun[start + 2 : start + 4], "big")
        data = self._begun[start + 4 : start + 4 + size]
        if self._begun[start + 4 + size : start + 5 + size] != bytes((_LEDS_END,)):
            return None
        return tuple(Rgb(*data[at : at + 3]) for at in range(0, size - 2, 3))

    def _take(self, leds: tuple[Rgb, ...], now_s: float) -> list[GridEvent]:
        self._misses = 0
        self._count = len(leds)
        cells = self._size_rc[0] * self._size_rc[1] if self._size_rc is not None else self._count
        if self._count < cells or not self._count:
            raise LinkError(f"WLED has {self._count} LEDs, the board needs {cells}; set their number in WLED")
        if not self._shown:
            self._next_s = now_s
            return []
        if leds[:cells] != self._shown and self._mismatches < _MOST_MISSES:
            # It may have been damaged on its way; after some such answers WLED itself shows it in other colours.
            self._mismatches += 1
            self._retries += 1
            self._next_s = now_s
            return []
        self._mismatches = self._mismatches if leds[:cells] != self._shown else 0
        device = self.device
        if self._is_found or device is None:
            return []
        self._is_found = True
        return [Found(device, ())]


def _whole(wanted: tuple[Rgb, ...], size_rc: tuple[int, int] | None) -> tuple[Rgb, ...]:
    """A colour for every cell."""
    cells = size_rc[0] * size_rc[1] if size_rc is not None else len(wanted)
    return (wanted + (DARK,) * cells)[:cells]


def _frame_s(colours: tuple[Rgb, ...]) -> float:
    """What a frame of these colours needs on the wire and to the LEDs."""
    return len(_PADDING + adalight_frame(colours)) * _BYTE_S + len(colours) * _LED_S + _HASTE_S


def _device(driver: str, size_rc: tuple[int, int], firmware: str) -> Device:
    rows, columns = size_rc
    return Device(driver, "", rows, columns, LedKind.RGB, SensorKind.NONE, firmware, simulated=False)
