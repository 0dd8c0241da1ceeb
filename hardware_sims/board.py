"""A grid of LEDs and sensors that speaks our protocol, as its firmware would: bytes and time in, bytes out.

No I/O, no thread and no clock but the caller's: the same device stands behind a pty, a TCP port or a port in process.
Whatever happens by itself, a debounced sensor or a heartbeat, happens at its own time when the caller next looks.
"""

import math
import random
from collections.abc import Sequence
from zlib import crc32

from firmware_protocol.codec import Decoder, Frame, Unreadable, encode, encode_raw
from firmware_protocol.driver import Rgb
from firmware_protocol.messages import (
    BAUD,
    BAUD_TRIAL_MS,
    DEBOUNCE_MS,
    HEARTBEAT_MS,
    MAX_PAYLOAD,
    MESSAGES,
    PROTO,
    SILENCE_MS,
    Ack,
    Bitmap,
    Config,
    Event,
    Fill,
    Flag,
    Format,
    Heartbeat,
    Hello,
    Info,
    LedKind,
    Message,
    Nak,
    Palette,
    Ping,
    Report,
    Sense,
    SensorKind,
    SetBaud,
    SetCells,
    SetRange,
    Show,
    Status,
    layout_of,
    pack,
)
from hardware_sims.leds import MA_PER_COLOUR, MA_PER_DARK_LED, Leds
from hardware_sims.sensors import Debounce, SensorFault, Sensors

_UART_HZ = 16_000_000 // 8
"""An AVR divides this by a whole number, and takes a speed that it meets within 2.5 %."""
_LED_S = 30e-6
_RX_FIFO = 3
"""Bytes that an AVR's receiver holds while interrupts are off."""
_ROUNDING_MS = 1e-4
"""A whole millisecond is one, also when times went through a recording's nine decimals."""
_BOOT_NOISE = bytes.fromhex("00e0fe80f8c0ff00")
_KINDS = {kind.TYPE: kind for kind in MESSAGES}
_FROM_DEVICE = 0x80


class Board:
    """One device. `leds` is what is to be seen on it; `sensors` may be touched at any time through `set_sensor`."""

    baud: int
    _next_baud: int | None

    def __init__(
        self,
        rows: int,
        columns: int,
        *,
        uid: bytes | None = None,
        seed: int = 0,
        debounce_ms: int = DEBOUNCE_MS,
        heartbeat_ms: int = HEARTBEAT_MS,
        proto: int = PROTO,
        firmware: tuple[int, int, int] = (0, 1, 0),
        sensor_kind: SensorKind = SensorKind.HALL,
        max_payload: int = MAX_PAYLOAD,
        rx_window: int = 512,
        max_ma: int | None = None,
        flags: Flag = Flag.SIMULATED | Flag.SHOW_BLOCKS_RX,
        sensor_faults: Sequence[SensorFault] = (),
    ) -> None:
        cells = rows * columns
        self._rng = random.Random(seed)
        self.uid = self._rng.randbytes(8) if uid is None else uid
        self.proto = proto
        self.rows, self.columns = rows, columns
        self.sensors = Sensors(rows, columns, sensor_faults, seed=seed)
        self._firmware = firmware
        self._sensor_kind = sensor_kind
        self._max_payload = max_payload
        self._rx_window = rx_window
        self._max_ma = min((3 * MA_PER_COLOUR + MA_PER_DARK_LED) * cells, 65_535) if max_ma is None else max_ma
        self._flags = flags
        self._default = Config(debounce_ms, heartbeat_ms, 255, 1)
        self._start(0.0, 0.0)

    @property
    def leds(self) -> tuple[Rgb, ...]:
        """What is to be seen: the last SHOW, by brightness and cap; a dim glow while no host is there."""
        return self._leds.shown

    @property
    def occupied(self) -> tuple[bool, ...]:
        """What the device believes of its sensors, debounced."""
        return self._debounce.occupied

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        self._advance(t_s)
        self.sensors.put(index, occupied, t_s)

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """Starts anew, by a reset or a lapse of power; the bootloader takes its time and swallows what comes."""
        self._advance(t_s)
        self._start(t_s, silent_s)
        if noise:
            self._out.append(_BOOT_NOISE)

    def receive(self, data: bytes, t_s: float) -> None:
        """Bytes arrive at its receiver."""
        self._advance(t_s)
        if t_s < self._booted_s:
            return
        for piece in _pieces(data):
            if self._busy_until_s is None or not self._flags & Flag.SHOW_BLOCKS_RX:
                self._hear(piece)
                continue
            room = _RX_FIFO - len(self._held)
            self._held += piece[:room]
            self._overruns += len(piece[room:])

    def send(self, t_s: float) -> bytes:
        """What it has sent by then."""
        self._advance(t_s)
        data = b"".join(self._out)
        self._out.clear()
        if self._next_baud is not None:
            self._baud_before, self.baud = self.baud, self._next_baud
            self._next_baud = None
            self._fall_back_s = t_s + BAUD_TRIAL_MS / 1000
        return data

    def due_s(self) -> float:
        """When it does something by itself next."""
        return self._now_s if self._out else self._next_s()

    def _start(self, t_s: float, silent_s: float) -> None:
        cells = self.rows * self.columns
        self.boot_id = self._rng.randrange(1, 2**32)
        self.baud = self._baud_before = BAUD
        self._next_baud = None
        self._config = self._default
        self._decoder = Decoder(self._max_payload)
        self._now_s = self._started_s = t_s
        self._booted_s = t_s + silent_s
        self._booting = True
        self._heartbeat_s = self._booted_s + self._config.heartbeat_ms / 1000
        self._fall_back_s = self._silent_s = math.inf
        self.glows = True
        self._has_shown = False
        self.shows = 0
        self._busy_until_s: float | None = None
        self._show_seq = 0
        self._held = b""
        self._overruns = 0
        self._last: tuple[int, Message] | None = None
        self._leds = Leds(cells, self._max_ma)
        self._leds.glow(self._config.brightness)
        self._event_seq = 0
        self._debounce = Debounce((False,) * cells, self._config.debounce_ms / 1000)
        self._out: list[bytes] = []

    def _advance(self, t_s: float) -> None:
        while (due_s := self._next_s()) <= t_s:
            self._now_s = max(self._now_s, due_s)
            self._act()
        self._now_s = max(self._now_s, t_s)

    def _next_s(self) -> float:
        if self._booting:
            return self._booted_s
        busy_s = math.inf if self._busy_until_s is None else self._busy_until_s
        sensors_s = min(self.sensors.due_s(), self._debounce.due_s())
        return min(sensors_s, self._heartbeat_s, busy_s, self._fall_back_s, self._silent_s)

    def _act(self) -> None:
        """Does what is due now."""
        self.sensors.advance(self._now_s)
        if self._booting:
            self._booting = False
            self._debounce = Debounce(self.sensors.levels, self._config.debounce_ms / 1000)
        for cell, since_s in self._debounce.look(self.sensors.levels, self._now_s):
            self._announce(cell, since_s)
        if self._heartbeat_s <= self._now_s:
            self._heartbeat_s = self._now_s + self._config.heartbeat_ms / 1000
            self._report(self._heartbeat(), 0)
        if self._busy_until_s is not None and self._busy_until_s <= self._now_s:
            self._busy_until_s = None
            self._put_out(self._show_seq)
            held, self._held = self._held, b""
            self._hear(held)
        if self._fall_back_s <= self._now_s:
            self.baud, self._fall_back_s = self._baud_before, math.inf
            # Whoever repeats SET_BAUD now means it anew.
            self._last = None
        if self._silent_s <= self._now_s:
            self.baud, self._silent_s = BAUD, math.inf
            if not self.glows:
                self.glows = True
                self._leds.glow(self._config.brightness)

    def _announce(self, cell: int, since_s: float) -> None:
        if self._config.events:
            self._event_seq = (self._event_seq + 1) % 2**16
            self._report(Event(self._event_seq, self._uptime_ms(since_s), cell, int(self.occupied[cell])), 0)

    def _hear(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        message = frame.message
        type_ = message.type if isinstance(message, Unreadable) else message.TYPE
        if type_ >= _FROM_DEVICE:
            # Its own, come back over a looped wire: an answer would go round for ever.
            return
        self._fall_back_s, self._silent_s = math.inf, self._now_s + SILENCE_MS / 1000
        if isinstance(message, Hello):
            # A new host does not want to see what the last one showed.
            self._has_shown = False
        elif self._has_shown and self.glows:
            self.glows = False
            self._leds.put_out(self._config.brightness)
        refusal = _refusal_of(message) if isinstance(message, Unreadable) else self._refusal(message)
        if isinstance(message, Unreadable) or refusal is not None:
            self._report(Nak(refusal or Status.UNSUPPORTED), frame.seq)
        elif isinstance(message, Hello):
            self._last = None
            self._introduce(frame.seq)
        elif isinstance(message, Sense):
            self._report(Bitmap(self._event_seq, self._bits()), frame.seq)
        elif (frame.seq, message) == self._last:
            self._report(Ack(Status.REPEATED), frame.seq)
        else:
            self._last = (frame.seq, message)
            self._do(message, frame.seq)

    def _refusal(self, message: Message) -> Status | None:
        """Why a request that can be read cannot be done."""
        limited = [(field.limits, getattr(message, field.name)) for field in layout_of(type(message)).fixed]
        good = all(limits is None or limits.least <= value <= limits.most for limits, value in limited)
        match message:
            case SetRange(format=Format.RGB) if len(message.data) % 3:
                return Status.BAD_LENGTH
            case SetCells() | SetRange() | Palette() | Fill():
                good = good and self._leds.takes(message)
            case SetBaud():
                good = _can_baud(message.baud)
        return None if good else Status.BAD_VALUE

    def _do(self, message: Message, seq: int) -> None:
        match message:
            case SetCells() | SetRange() | Palette() | Fill():
                self._leds.set(message)
            case Show():
                self._show_seq = seq
                if self._flags & Flag.SHOW_BLOCKS_RX:
                    self._busy_until_s = self._now_s + _LED_S * self.rows * self.columns
                else:
                    self._put_out(seq)
                return
            case Config():
                self._heartbeat_s += (message.heartbeat_ms - self._config.heartbeat_ms) / 1000
                self._config = message
                self._debounce.lasts_s = message.debounce_ms / 1000
            case SetBaud():
                self._next_baud = message.baud
            case Ping():
                pass
        self._report(Ack(Status.OK), seq)

    def _put_out(self, seq: int) -> None:
        self._leds.put_out(self._config.brightness)
        self.glows, self._has_shown = False, True
        self.shows += 1
        self._report(Ack(Status.OK), seq)

    def _introduce(self, seq: int) -> None:
        info = Info(
            self.proto,
            *self._firmware,
            self.uid,
            self.boot_id,
            self.rows,
            self.columns,
            LedKind.RGB,
            self._sensor_kind,
            self._max_payload,
            self._rx_window,
            self._max_ma,
            self._flags,
        )
        if self.proto == PROTO:
            self._report(info, seq)
        else:
            # Of another version's INFO only the first byte is known, so the rest is made unlike ours.
            self._out.append(encode_raw(Info.TYPE, seq, pack(info) + b"\x2a"))

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat(
            self._uptime_ms(self._now_s),
            self.boot_id,
            self._event_seq,
            crc32(self._bits()),
            self._decoder.bad_frames % 2**16,
            self._overruns % 2**16,
        )

    def _bits(self) -> bytes:
        bits = bytearray((len(self.occupied) + 7) // 8)
        for cell, occupied in enumerate(self.occupied):
            bits[cell // 8] |= occupied << cell % 8
        return bytes(bits)

    def _uptime_ms(self, t_s: float) -> int:
        return int((t_s - self._started_s) * 1000 + _ROUNDING_MS) % 2**32

    def _report(self, report: Report, seq: int) -> None:
        self._out.append(encode(report, seq))


def _pieces(data: bytes) -> list[bytes]:
    """The bytes, cut behind each zero: SHOW makes the device deaf to what comes behind it."""
    *ended, rest = data.split(b"\0")
    return [piece + b"\0" for piece in ended] + ([rest] if rest else [])


def _can_baud(baud: int) -> bool:
    if not 1_200 <= baud <= _UART_HZ:
        return False
    met = _UART_HZ / round(_UART_HZ / baud)
    return abs(met - baud) <= 0.025 * baud


def _refusal_of(frame: Unreadable) -> Status:
    kind = _KINDS.get(frame.type)
    if kind is None:
        return Status.UNSUPPORTED
    layout = layout_of(kind)
    rest = len(frame.payload) - layout.struct.size
    part = 1 if layout.tail is None or layout.tail.part is None else layout_of(layout.tail.part).struct.size
    fits = rest == 0 if layout.tail is None else rest >= 0 and rest % part == 0
    return Status.BAD_VALUE if fits else Status.BAD_LENGTH
