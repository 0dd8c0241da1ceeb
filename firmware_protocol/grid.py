"""Speaks with a grid of our own protocol; no I/O, see driver.py.

HELLO is repeated until INFO says who is there. Then a session prepares the grid: it is set up, its sensors are read
whole and its LEDs painted whole. From there on it is found: only changes go out, and what the sensors tell is believed.
"""

from math import inf
from zlib import crc32

from firmware_protocol.codec import Decoder, Frame, Unreadable, encode
from firmware_protocol.driver import DARK, Changed, Device, Found, GridEvent, Lost, Rgb, Sensed, Traffic
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.leds import LedBuffer
from firmware_protocol.messages import (
    BAUD,
    DEBOUNCE_MS,
    HEARTBEAT_MS,
    HELLO_MS,
    PROTO,
    Ack,
    Bitmap,
    Config,
    Event,
    Flag,
    Format,
    Heartbeat,
    Hello,
    Info,
    LedKind,
    Nak,
    Palette,
    Ping,
    Sense,
    SensorKind,
    SetBaud,
    SetRange,
    Status,
)
from firmware_protocol.requests import Requests

_ASK_S = 3.0
"""A board that restarts when its port is opened needs up to 2 s for it."""
_LATE_INFO_S = 1.0
"""Answers to a HELLO that was repeated come so late; a later INFO says that the grid started anew."""
_BAUD_TRIAL_S = 0.5
_SILENT_HEARTBEATS = 3
_PING_HEARTBEATS = 1.2
"""A heartbeat that is late by so much may be lost on a noisy line: PING asks for another sign of life."""
_KEEP_ALIVE_S = 1.0
"""A grid whose host is silent for some seconds takes it for gone."""
_MISREAD = frozenset(b"\x02\x04\x06\x08AIXLOlov^{\xc9") | frozenset(range(0xB0, 0xB8))
"""A HELLO also goes to devices of other kinds. What these bytes do there outlasts it: a monome's id or size is written,
WLED's speed is changed or its stream begun."""
_HELLO = Hello(PROTO, PROTO)
_HELLO_SEQ = next(seq for seq in range(1, 256) if not _MISREAD & set(encode(_HELLO, seq)))
_FIRMWARE = "load this program's firmware (docs/hardware.md)"


class GridDriver:
    """The driver of our protocol. Where `size_rc` is given, a grid of another size is refused.

    With a `baud` above the usual one the grid is asked to change to it; where that fails, it stays as it was.
    """

    name = "grid"

    def __init__(
        self,
        size_rc: tuple[int, int] | None = None,
        *,
        baud: int = BAUD,
        debounce_ms: int = DEBOUNCE_MS,
        heartbeat_ms: int = HEARTBEAT_MS,
        brightness: int = 255,
    ) -> None:
        self.baud = BAUD
        self._size_rc = size_rc
        self._fast = baud
        self._config = Config(debounce_ms, heartbeat_ms, brightness, events=1)
        self._wanted: tuple[Rgb, ...] = ()
        self._uid: str | None = None
        self._decoder = Decoder()
        self._in = self._bad = self._out = self._retries = 0
        self._health: Heartbeat | None = None
        self._session: _Session | None = None
        self._asked = False
        self._ask(0.0)

    @property
    def device(self) -> Device | None:
        """Who answers."""
        session = self._session
        return session.device if session is not None else None

    @property
    def traffic(self) -> Traffic:
        """What was counted so far."""
        session = self._session  # which may end meanwhile: others than the link's thread ask too
        requests = session.requests if session is not None else None
        health = (session.health if session is not None else None) or self._health
        return Traffic(
            self._in + self._decoder.good_frames,
            self._out + (requests.frames_out if requests is not None else 0),
            self._bad + self._decoder.bad_frames,
            self._retries + (requests.retries if requests is not None else 0),
            health.bad_frames if health is not None else 0,
            health.overruns if health is not None else 0,
        )

    def begin(self, now_s: float, uid: str | None = None) -> None:
        """The port was just opened. With a `uid`, another grid than that is refused."""
        self._uid = uid
        self._in += self._decoder.good_frames
        self._bad += self._decoder.bad_frames
        self._decoder = Decoder()
        self.baud = BAUD
        self._end(now_s)

    def want(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show, by index; dark from its end on."""
        self._wanted = colours
        if self._session is not None:
            self._session.wanted = colours

    def feed(self, data: bytes, now_s: float) -> list[GridEvent]:
        """What these bytes tell. Raises LinkError for a grid that cannot be used."""
        bad_before = self._decoder.bad_frames
        events: list[GridEvent] = []
        for frame in self._decoder.feed(data):
            if self._session is None:
                self._session = self._answered(frame, now_s)
            else:
                events += self._told(self._session.take(frame, now_s), now_s)
        if self._session is not None and self._decoder.bad_frames > bad_before:
            self._session.miss_frame()
        return events

    def to_send(self, now_s: float) -> bytes:
        """What has to go out now."""
        if self._session is not None:
            self.baud = self._session.requests.baud
            return self._session.to_send(now_s)
        return self._hello(now_s) if self._hello_s <= now_s < self._until_s else b""

    def due_s(self) -> float:
        """When `tick` is to be called at the latest."""
        return self._session.due_s() if self._session is not None else min(self._hello_s, self._until_s)

    def tick(self, now_s: float) -> list[GridEvent]:
        """What the mere passing of time tells. Raises LinkError."""
        if self._session is not None:
            return self._told(self._session.tick(now_s), now_s)
        if now_s >= self._until_s:
            raise NoAnswer(f"nothing answers as a grid within {_ASK_S:.0f} s; is it the right port?")
        return []

    def _hello(self, now_s: float) -> bytes:
        if self._asked and self._fast != BAUD:
            # A grid may have kept the speed of the session before, or have started anew: we ask at both in turn.
            self.baud = BAUD if self.baud == self._fast else self._fast
        self._hello_s = now_s + HELLO_MS / 1000
        self._asked = True
        self._out += 1
        return encode(_HELLO, _HELLO_SEQ)

    def _ask(self, now_s: float) -> None:
        self._session = None
        self._asked = False
        self._hello_s = now_s
        self._until_s = now_s + _ASK_S

    def _end(self, now_s: float) -> None:
        """Nothing more is known of the grid but what the session counted."""
        if self._session is not None:
            self._out += self._session.requests.frames_out
            self._retries += self._session.requests.retries
            self._health = self._session.health or self._health
        self._ask(now_s)

    def _told(self, events: list[GridEvent], now_s: float) -> list[GridEvent]:
        """The session's events; with a Lost it has ended."""
        assert self._session is not None
        if not any(isinstance(event, Lost) for event in events):
            return events
        if self._session.baud_failed:
            self._fast = self.baud = BAUD
        was_found = self._session.is_found
        self._end(now_s)
        return events if was_found else []

    def _answered(self, frame: Frame, now_s: float) -> "_Session | None":
        info = frame.message
        if isinstance(info, Unreadable) and info.type == Info.TYPE:
            _check_protocol(info.payload[0] if info.payload else PROTO)
            raise LinkError(f"its INFO cannot be read ({info.why}); {_FIRMWARE}")
        if not isinstance(info, Info):
            return None
        _check_protocol(info.proto)
        if self._uid is not None and info.uid.hex() != self._uid:
            raise LinkError(f"another grid answers, {info.uid.hex()} and not {self._uid}; plug that one in")
        if not info.rows or not info.columns:
            raise LinkError("the grid has no cells; set rows and columns in the firmware (docs/hardware.md)")
        if self._size_rc is not None and self._size_rc != (info.rows, info.columns):
            raise LinkError(
                f"the grid has {info.rows} x {info.columns} cells, the board {self._size_rc[0]} x {self._size_rc[1]}; "
                "take this board's profile, or set rows and columns in the firmware (docs/hardware.md)"
            )
        return _Session(info, self._config, self.baud, self._fast, self._wanted, now_s)


class _Session:
    """What is known of one grid from its INFO on, until it is lost or starts anew."""

    def __init__(self, info: Info, config: Config, baud: int, fast: int, wanted: tuple[Rgb, ...], now_s: float) -> None:
        self.device = _device(info)
        self.wanted = wanted
        self.requests = Requests(info, baud, _HELLO_SEQ, now_s)
        self.health: Heartbeat | None = None
        self.is_found = False
        self.baud_failed = False
        self._info = info
        self._began_s = self._heard_s = now_s
        self._heartbeat_s = config.heartbeat_ms / 1000
        self._cells = info.rows * info.columns
        self._leds = LedBuffer(self._cells)
        self._has_leds = info.led_kind is not LedKind.NONE
        self._has_sensors = info.sensor_kind is not SensorKind.NONE
        self._use_palette = True
        self._occupied: list[bool] | None = None if self._has_sensors else []
        self._event_seq = 0
        self._baud_trial_until_s = inf
        if fast != baud:
            self.requests.add(SetBaud(fast))
        self.requests.add(config)
        self._sense()

    def take(self, frame: Frame, now_s: float) -> list[GridEvent]:
        """What a frame tells; Lost where the session ends. Raises LinkError for a grid that breaks the protocol."""
        self._heard_s = now_s
        events: list[GridEvent] = []
        match frame.message:
            case Ack(status):
                self._take_ack(frame.seq, status, now_s)
            case Nak(status):
                self._take_nak(frame.seq, status)
            case Bitmap():
                events = self._take_bitmap(frame.message)
            case Event():
                events = self._take_event(frame.message)
            case Heartbeat():
                events = self._take_heartbeat(frame.message)
            case Info(boot_id=boot_id) if boot_id != self._info.boot_id or now_s > self._began_s + _LATE_INFO_S:
                return [Lost("the grid started anew")]
        return events if self.is_found else events + self._found()

    def miss_frame(self) -> None:
        """A frame was damaged. It may have been a sensor's event, and its heartbeat is up to half a second away."""
        self._sense()

    def to_send(self, now_s: float) -> bytes:
        """The frames that have to go out now."""
        if self._has_leds and not self.requests.is_painting:
            wanted = (self.wanted + (DARK,) * self._cells)[: self._cells]
            stages = self._leds.plan(wanted, self.requests.payload_bytes, use_palette=self._use_palette)
            if stages:
                self.requests.paint(stages)
        return self.requests.to_send(now_s)

    def due_s(self) -> float:
        """When `tick` is to be called at the latest."""
        return min(self.requests.due_s(), self._silent_s(), self._ping_s(), self._baud_trial_until_s)

    def tick(self, now_s: float) -> list[GridEvent]:
        """Repeats and asks for signs of life; Lost where the session ends. Raises LinkError while not yet found."""
        if now_s >= self._silent_s():
            return self._fail(f"nothing came from the grid for {now_s - self._heard_s:.1f} s; is its power on?")
        given_up = self.requests.tick(now_s)
        if now_s >= self._baud_trial_until_s or (given_up is not None and isinstance(given_up.message, SetBaud)):
            self.baud_failed = True
            return [Lost("the grid cannot be heard at a higher speed")]
        if given_up is not None:
            return self._fail(
                f"the grid lives, but does not acknowledge {type(given_up.message).__name__}; {_FIRMWARE}"
            )
        if now_s >= self._ping_s():
            self.requests.add(Ping())
        return []

    def _fail(self, why: str) -> list[GridEvent]:
        if not self.is_found:
            raise LinkError(why)
        return [Lost(why)]

    def _silent_s(self) -> float:
        return self._heard_s + _SILENT_HEARTBEATS * self._heartbeat_s

    def _ping_s(self) -> float:
        if not self.requests.is_idle:
            return inf
        return min(self._heard_s + _PING_HEARTBEATS * self._heartbeat_s, self.requests.sent_s + _KEEP_ALIVE_S)

    def _take_ack(self, seq: int, status: Status, now_s: float) -> None:
        sent = self.requests.acknowledge(seq)
        if sent is None:
            return
        self._baud_trial_until_s = inf
        if status is Status.REPEATED and sent.tries == 1:
            self.requests.renew(sent)
        elif isinstance(sent.message, SetBaud):
            self.requests.change_baud(sent.message.baud, now_s)
            self._baud_trial_until_s = now_s + _BAUD_TRIAL_S
        else:
            self._leds.apply(sent.message)

    def _take_nak(self, seq: int, status: Status) -> None:
        sent = self.requests.acknowledge(seq)
        if sent is None or isinstance(sent.message, SetBaud):
            return
        match sent.message:
            case Palette() | SetRange(format=Format.PALETTE_4) if self._use_palette:
                self._use_palette = False
                self.requests.drop_paint()
                self._leds = LedBuffer(self._cells)
            case message:
                raise LinkError(f"the grid refuses {type(message).__name__} ({status.name}); {_FIRMWARE}")

    def _take_bitmap(self, bitmap: Bitmap) -> list[GridEvent]:
        if not self._has_sensors or len(bitmap.bits) != (self._cells + 7) // 8:
            return []
        self.requests.drop((Sense,))
        before = self._occupied
        self._event_seq = bitmap.event_seq
        self._occupied = [bool(bitmap.bits[index // 8] >> index % 8 & 1) for index in range(self._cells)]
        return [Sensed(tuple(self._occupied))] if self.is_found and self._occupied != before else []

    def _take_event(self, event: Event) -> list[GridEvent]:
        if self._occupied is None or event.index >= len(self._occupied):
            return []
        ahead = (event.event_seq - self._event_seq) % 0x10000
        if ahead != 1:
            self._sense()
        if ahead == 0 or ahead >= 0x8000:
            return []
        self._event_seq = event.event_seq
        occupied = bool(event.occupied)
        if self._occupied[event.index] == occupied:
            return []
        self._occupied[event.index] = occupied
        return [Changed(event.index, occupied)] if self.is_found else []

    def _take_heartbeat(self, heartbeat: Heartbeat) -> list[GridEvent]:
        self.health = heartbeat
        if heartbeat.boot_id != self._info.boot_id:
            return [Lost("the grid started anew")]
        if self._occupied and (
            heartbeat.event_seq != self._event_seq or heartbeat.occupancy_check != crc32(_bits(self._occupied))
        ):
            self._sense()
        return []

    def _sense(self) -> None:
        if self._has_sensors:
            self.requests.add(Sense())

    def _found(self) -> list[GridEvent]:
        """Found, once the grid is set up, read and painted."""
        wanted = (self.wanted + (DARK,) * self._cells)[: self._cells]
        is_painted = not self._has_leds or tuple(self._leds.colours) == wanted
        if self._occupied is None or not is_painted or not self.requests.is_idle:
            return []
        self.is_found = True
        return [Found(self.device, tuple(self._occupied))]


def _check_protocol(proto: int) -> None:
    if proto < PROTO:
        raise LinkError(f"the grid speaks protocol {proto}, older than this program's {PROTO}; {_FIRMWARE}")
    if proto > PROTO:
        raise LinkError(f"the grid speaks protocol {proto}, newer than this program's {PROTO}; update this program")


def _device(info: Info) -> Device:
    return Device(
        driver=GridDriver.name,
        uid=info.uid.hex(),
        rows=info.rows,
        columns=info.columns,
        leds=info.led_kind,
        sensors=info.sensor_kind,
        firmware=f"{info.major}.{info.minor}.{info.patch}",
        simulated=Flag.SIMULATED in info.flags,
    )


def _bits(occupied: list[bool]) -> bytes:
    """The bitmap of BITMAP: bit i % 8 of byte i // 8 is cell i."""
    value = sum(1 << index for index, one in enumerate(occupied) if one)
    return value.to_bytes((len(occupied) + 7) // 8, "little")
