"""A monome grid, or a NeoTrellis with its firmware: keys and levels of light over the mext serial protocol.

The first byte of a message is its section and command, and with that its length: nothing is checked, nothing marks a
beginning. An opcode that the device does not know is skipped, so what follows is taken for opcodes in turn. Opcodes and
lengths: monome's serial protocol page and libmonome.
"""

import math
from collections.abc import Sequence

from hardware_sims.sensors import Debounce, SensorFault, Sensors

_QUAD = 8
"""LED maps come in blocks of 8 x 8."""
_FULL = 15
_LENGTHS = {
    0x00: 0, 0x01: 0, 0x02: 32, 0x03: 0, 0x04: 3, 0x05: 0, 0x06: 2, 0x07: 0, 0x08: 2, 0x0F: 0,
    0x10: 2, 0x11: 2, 0x12: 0, 0x13: 0, 0x14: 10, 0x15: 3, 0x16: 3, 0x17: 1,
    0x18: 3, 0x19: 1, 0x1A: 34, 0x1B: 6, 0x1C: 6,
}  # fmt: skip
"""Bytes behind each opcode to the device."""
_ID_BYTES = 32
_LED_GRID, _KEY_GRID = 1, 2
_KEY_UP, _KEY_DOWN = 0x20, 0x21
_VERSION = b"1.0\0\0\0\0\0"


class MonomeGrid:
    """One device. Levels are 0 to 15 by index along the rows; keys report every change, with the debounce given."""

    def __init__(
        self,
        rows: int,
        columns: int,
        *,
        name: str = "m1000001",
        sections: bool = True,
        knows_version: bool = True,
        debounce_ms: int = 5,
        sensor_faults: Sequence[SensorFault] = (),
        seed: int = 0,
    ) -> None:
        self.rows, self.columns = rows, columns
        self.baud = 115_200
        self.sensors = Sensors(rows, columns, sensor_faults, seed=seed)
        self._name = name
        self._sections = sections
        self._knows_version = knows_version
        self._debounce_s = debounce_ms / 1000
        self._start(0.0, 0.0)

    @property
    def levels(self) -> tuple[int, ...]:
        """What the LEDs show: each level scaled by the grid's intensity."""
        return tuple(round(level * self._intensity / _FULL) for level in self._levels)

    @property
    def occupied(self) -> tuple[bool, ...]:
        """Which keys the device takes to be down."""
        return self._debounce.occupied

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A key is pressed by what comes to lie on it, or let go."""
        self._advance(t_s)
        self.sensors.put(index, occupied, t_s)

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """Starts anew, dark; it says nothing by itself, and a key that is held down is not told again."""
        self._advance(t_s)
        self._start(t_s, silent_s)
        if noise:
            self._out.append(b"\xff\x00")

    def receive(self, data: bytes, t_s: float) -> None:
        """Bytes arrive at its receiver."""
        self._advance(t_s)
        if t_s < self._booted_s:
            return
        self._begun += data
        while self._begun:
            length = _LENGTHS.get(self._begun[0], 0)
            if len(self._begun) <= length:
                return
            opcode, arguments = self._begun[0], bytes(self._begun[1 : 1 + length])
            del self._begun[: 1 + length]
            self._do(opcode, arguments)

    def send(self, t_s: float) -> bytes:
        """What it has sent by then."""
        self._advance(t_s)
        data = b"".join(self._out)
        self._out.clear()
        return data

    def due_s(self) -> float:
        """When it does something by itself next."""
        return self._now_s if self._out else self._next_s()

    def _start(self, t_s: float, silent_s: float) -> None:
        cells = self.rows * self.columns
        self._now_s = t_s
        self._booted_s = t_s + silent_s
        self._levels = [0] * cells
        self._intensity = _FULL
        self._begun = bytearray()
        self._out: list[bytes] = []
        self._debounce = Debounce(self.sensors.levels, self._debounce_s)

    def _next_s(self) -> float:
        return max(min(self.sensors.due_s(), self._debounce.due_s()), self._booted_s)

    def _advance(self, t_s: float) -> None:
        while (due_s := self._next_s()) <= t_s:
            self._now_s = max(self._now_s, due_s)
            self._scan()
        self._now_s = max(self._now_s, t_s)

    def _scan(self) -> None:
        self.sensors.advance(self._now_s)
        for key, _ in self._debounce.look(self.sensors.levels, self._now_s):
            y, x = divmod(key, self.columns)
            self._out.append(bytes((_KEY_DOWN if self.occupied[key] else _KEY_UP, x, y)))

    def _do(self, opcode: int, arguments: bytes) -> None:
        if opcode < 0x10:
            self._system(opcode, arguments)
            return
        match opcode, *arguments:
            case 0x10 | 0x11, x, y:
                self._light(x, y, _FULL * (opcode & 1))
            case (0x12 | 0x13,):
                self._levels = [_FULL * (opcode & 1)] * len(self._levels)
            case 0x14, x, y, *rows:
                for n, bits in enumerate(rows):
                    self._run(x, y // _QUAD * _QUAD + n, _bits(bits))
            case 0x15, x, y, bits:
                self._run(x, y, _bits(bits))
            case 0x16, x, y, bits:
                self._column(x, y, _bits(bits))
            case 0x17, intensity:
                self._intensity = min(intensity, _FULL)
            case 0x18, x, y, level:
                self._light(x, y, min(level, _FULL))
            case 0x19, level:
                self._levels = [min(level, _FULL)] * len(self._levels)
            case 0x1A, x, y, *pairs:
                for n in range(_QUAD):
                    self._run(x, y // _QUAD * _QUAD + n, _nibbles(pairs[4 * n : 4 * n + 4]))
            case 0x1B, x, y, *pairs:
                self._run(x, y, _nibbles(pairs))
            case 0x1C, x, y, *pairs:
                self._column(x, y, _nibbles(pairs))

    def _system(self, opcode: int, arguments: bytes) -> None:
        match opcode:
            case 0x00 if self._sections:
                quads = math.ceil(self.rows * self.columns / _QUAD**2)
                self._out.append(bytes((0x00, _LED_GRID, quads, 0x00, _KEY_GRID, quads)))
            case 0x01:
                self._out.append(b"\x01" + self._name.encode().ljust(_ID_BYTES, b"\0"))
            case 0x02:
                self._name = arguments.rstrip(b"\0 ").decode("ascii", "replace")
                self._system(0x01, b"")
            case 0x03:
                self._out.append(bytes((0x02, 1, 0, 0)))
            case 0x05:
                self._out.append(bytes((0x03, self.columns, self.rows)))
            case 0x0F if self._knows_version:
                self._out.append(b"\x0f" + _VERSION)

    def _run(self, x: int, y: int, levels: Sequence[int]) -> None:
        for n, level in enumerate(levels):
            self._light(x // _QUAD * _QUAD + n, y, level)

    def _column(self, x: int, y: int, levels: Sequence[int]) -> None:
        for n, level in enumerate(levels):
            self._light(x, y // _QUAD * _QUAD + n, level)

    def _light(self, x: int, y: int, level: int) -> None:
        if x < self.columns and y < self.rows:
            self._levels[y * self.columns + x] = level


def _bits(byte: int) -> list[int]:
    return [_FULL * (byte >> n & 1) for n in range(_QUAD)]


def _nibbles(pairs: Sequence[int]) -> list[int]:
    """Two levels a byte, the high half first, as libmonome packs them (the protocol page has it the other way)."""
    return [level for pair in pairs for level in (pair >> 4, pair & 15)]
