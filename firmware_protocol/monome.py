"""Speaks monome's serial protocol, "mext": monome grids, and NeoTrellis boards with the neotrellis-monome firmware.

A key that is held down is an occupied cell; an LED has 16 levels, so a colour is shown by its brightest part. The
protocol has no frames, no checks and no question for the keys' state: a grid is taken for empty when it is found.
Numbers: monome's serial.txt. A firmware that reads on without waiting wants a command whole, so each is sent alone.
"""

from math import inf

from firmware_protocol.driver import Changed, Device, Found, GridEvent, Lost, Rgb, Traffic
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.messages import BAUD, LedKind, SensorKind

_ASK_ID, _ASK_SIZE = b"\x01", b"\x05"
_ID, _SIZE, _KEY_UP, _KEY_DOWN = 0x01, 0x03, 0x20, 0x21
_SET_LEVEL, _SET_BLOCK = 0x18, 0x1A
_LENGTHS = {0x00: 3, _ID: 33, 0x02: 4, _SIZE: 3, 0x04: 3, 0x0F: 9, _KEY_UP: 3, _KEY_DOWN: 3}
_LENGTHS |= {0x40: 2, 0x41: 2, 0x50: 3, 0x51: 2, 0x52: 2, 0x60: 33, 0x61: 4, 0x80: 2, 0x81: 8}
"""Bytes of each report by its first one; what is not here begins no report."""
_ASK_S = 2.0
_REPEAT_S = 0.25
_PULSE_S = 1.0
"""A found monome is asked for its size so often, and one block is painted again: nothing else shows a lost command."""
_SILENCE_S = 3.0
_CUT_S = 0.5
"""A report that is not whole after so long has lost its rest."""
_COMMAND_S = 0.004
"""Between two commands: the longest takes 3 ms at 115,200 bits a second."""
_PADDING = b"\xff" * 40
"""Ends a command that was begun before: no command is 40 bytes long, and 0xFF begins none."""
_BLOCK = 8
_BLOCK_BYTES, _LED_BYTES = 35, 4
_LEVELS = 15


class MonomeDriver:
    """The driver of mext. Where `size_rc` is given, a grid of another size is refused."""

    name = "monome"
    baud = BAUD

    def __init__(self, size_rc: tuple[int, int] | None = None) -> None:
        self._expected_rc = size_rc
        self._ask_s = self._heard_s = self._fed_s = 0.0
        self._in = self._out = self._bad = 0
        self._wanted: tuple[Rgb, ...] = ()
        self._is_found = self._is_padded = False
        self.begin(0.0)

    @property
    def device(self) -> Device | None:
        """Who answers."""
        if self._uid is None or not self._levels:
            return None
        return Device(
            driver=self.name,
            uid=self._uid,
            rows=self._rows,
            columns=self._columns,
            leds=LedKind.LEVELS,
            sensors=SensorKind.SWITCH,
            firmware="",
            simulated=False,
        )

    @property
    def traffic(self) -> Traffic:
        """What was counted so far; bytes that belong to no report count as bad frames."""
        return Traffic(self._in, self._out, self._bad)

    def begin(self, now_s: float, uid: str | None = None) -> None:
        """The port was just opened. With a `uid`, another grid than that is refused."""
        self._expected_uid = uid
        self._begun = b""
        self._free_s = now_s
        self._ask(now_s)

    def want(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show, row after row from the top left one; dark from its end on."""
        self._wanted = colours

    def feed(self, data: bytes, now_s: float) -> list[GridEvent]:
        """What these bytes tell. Raises LinkError for a grid that cannot be used."""
        if self._begun and now_s > self._fed_s + _CUT_S:
            self._bad += 1
            self._begun = b""
        self._fed_s = now_s
        self._begun += data
        events: list[GridEvent] = []
        while self._begun:
            length = _LENGTHS.get(self._begun[0], 0)
            if len(self._begun) < length:
                break
            report, self._begun = self._begun[: length or 1], self._begun[length or 1 :]
            if not length:
                self._bad += 1
                continue
            self._in += 1
            self._heard_s = now_s
            events += self._take(report)
        return events

    def to_send(self, now_s: float) -> bytes:
        """The next command, where it is time for one."""
        if now_s < self._free_s:
            return b""
        if not self._is_padded:
            self._is_padded = True
            command = _PADDING
        elif now_s >= self._ask_s:
            self._ask_s = now_s + (_PULSE_S if self._is_found else _REPEAT_S)
            command = _ASK_ID if self._uid is None else _ASK_SIZE
            self._forget_next_block()
        else:
            command = self._led_command()
        if command:
            self._out += 1
            self._free_s = now_s + _COMMAND_S
        return command

    def due_s(self) -> float:
        """When `tick` is to be called at the latest."""
        next_s = -inf if self._differing() else self._ask_s
        return min(max(next_s, self._free_s), self._silent_s())

    def tick(self, now_s: float) -> list[GridEvent]:
        """What the mere passing of time tells. Raises NoAnswer."""
        if now_s >= self._silent_s():
            if not self._is_found:
                raise NoAnswer(f"nothing answers as a monome within {_ASK_S:.0f} s; is it the right port?")
            self._ask(now_s)
            return [Lost(f"the monome did not answer for {_SILENCE_S:.0f} s; is its power on?")]
        return self._found()

    def _ask(self, now_s: float) -> None:
        """Begins a session: forgets all that is known of the grid, and asks who is there."""
        self._is_found = self._is_padded = False
        self._uid: str | None = None
        self._rows = self._columns = 0
        self._levels: list[int | None] = []
        self._occupied: list[bool] = []
        self._block = 0
        self._ask_s = self._heard_s = self._fed_s = now_s

    def _silent_s(self) -> float:
        return self._heard_s + (_SILENCE_S if self._is_found else _ASK_S)

    def _take(self, report: bytes) -> list[GridEvent]:
        match report[0]:
            case 0x01:
                self._take_id(report[1:].rstrip(b"\0 ").decode("ascii", "replace"))
            case 0x03 if not self._is_found:
                self._take_size(rows=report[2], columns=report[1])
            case 0x20 | 0x21 if self._is_found:
                return self._take_key(report[1], report[2], report[0] == _KEY_DOWN)
        return []

    def _take_id(self, uid: str) -> None:
        if self._is_found:
            return
        if self._expected_uid is not None and uid != self._expected_uid:
            raise LinkError(f"another monome answers, {uid!r} and not {self._expected_uid!r}; plug that one in")
        self._uid = uid

    def _take_size(self, rows: int, columns: int) -> None:
        if not rows or not columns:
            raise LinkError("the monome says that it has no cells; it may be an arc, which is no grid")
        if self._expected_rc is not None and (rows, columns) != self._expected_rc:
            raise LinkError(
                f"the monome has {rows} x {columns} cells, the board {self._expected_rc[0]} x {self._expected_rc[1]}; "
                "take the profile of this board, or another grid"
            )
        self._rows, self._columns = rows, columns
        self._levels = [None] * (rows * columns)
        self._occupied = [False] * (rows * columns)

    def _take_key(self, column: int, row: int, occupied: bool) -> list[GridEvent]:
        if column >= self._columns or row >= self._rows:
            self._bad += 1
            return []
        index = row * self._columns + column
        if self._occupied[index] == occupied:
            return []
        self._occupied[index] = occupied
        return [Changed(index, occupied)]

    def _found(self) -> list[GridEvent]:
        """Found, once it said who it is and its LEDs are painted."""
        device = self.device
        if self._is_found or device is None or self._differing():
            return []
        self._is_found = True
        return [Found(device, tuple(self._occupied))]

    def _differing(self) -> list[int]:
        """The LEDs that hold another level than is wanted, by index."""
        wanted = [_level(colour) for colour in self._wanted[: len(self._levels)]]
        wanted += [0] * (len(self._levels) - len(wanted))
        return [index for index, level in enumerate(wanted) if level != self._levels[index]]

    def _led_command(self) -> bytes:
        """The command that mends the first block of 8 x 8 that differs; b"" where none does."""
        differing = self._differing()
        if not differing:
            return b""
        top, left = (part // _BLOCK * _BLOCK for part in divmod(differing[0], self._columns))
        block = [index for index in differing if index in self._cells_of_block(top, left)]
        if len(block) * _LED_BYTES < _BLOCK_BYTES:
            row, column = divmod(block[0], self._columns)
            self._levels[block[0]] = self._level_at(row, column)
            return bytes((_SET_LEVEL, column, row, self._level_at(row, column)))
        levels = [self._level_at(top + at // _BLOCK, left + at % _BLOCK) for at in range(_BLOCK * _BLOCK)]
        for index in self._cells_of_block(top, left):
            self._levels[index] = self._level_at(*divmod(index, self._columns))
        # The even cell in the high half, as libmonome and neotrellis-monome have it; serial.txt says otherwise.
        pairs = (high << 4 | low for high, low in zip(levels[::2], levels[1::2], strict=True))
        return bytes((_SET_BLOCK, left, top, *pairs))

    def _cells_of_block(self, top: int, left: int) -> list[int]:
        rows = range(top, min(top + _BLOCK, self._rows))
        columns = range(left, min(left + _BLOCK, self._columns))
        return [row * self._columns + column for row in rows for column in columns]

    def _level_at(self, row: int, column: int) -> int:
        index = row * self._columns + column
        inside = row < self._rows and column < self._columns and index < len(self._wanted)
        return _level(self._wanted[index]) if inside else 0

    def _forget_next_block(self) -> None:
        """One block after the other is painted again, in case a command was lost."""
        if not self._is_found:
            return
        blocks = [(top, left) for top in range(0, self._rows, _BLOCK) for left in range(0, self._columns, _BLOCK)]
        self._block = (self._block + 1) % len(blocks)
        for index in self._cells_of_block(*blocks[self._block]):
            self._levels[index] = None


def _level(colour: Rgb) -> int:
    """0 to 15; what is not dark is at least 1."""
    return -(-max(colour) * _LEVELS // 255)
