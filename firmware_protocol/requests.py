"""Requests to a grid, each repeated until it is acknowledged, as many under way as the grid has room for; no I/O.

What may overtake one another is under way together. LED messages go in stages, each after the one before is done;
SHOW and SET_BAUD go alone, and so does PING: nothing follows them before they are acknowledged.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from firmware_protocol.codec import encode
from firmware_protocol.leds import FRAME_BYTES, Stage, split
from firmware_protocol.messages import (
    MAX_PAYLOAD,
    Fill,
    Info,
    Palette,
    Ping,
    Request,
    SetBaud,
    SetCells,
    SetRange,
    Show,
)

QUICK_TRIES = 3
_MOST_TRIES = 12
"""While other frames come through, a request is repeated so often: a noisy line is better than none."""
_PATIENCE_S = 0.1
_LATER_PATIENCE_S = 0.25
_LED_S = 40e-6
"""A WS2812 takes 30 us; SHOW is acknowledged when the whole strip is out."""
_BITS_A_BYTE = 10
_LEAST_PAYLOAD = 16
_SMOOTH = 32
"""After so many requests that were acknowledged at once, frames may be twice as long again."""
_BAUD_PAUSE_S = 0.002
"""After SET_BAUD's acknowledgement, for the grid to change its speed as well."""
_ALONE = (Show, SetBaud, Ping)
_OF_LEDS = (SetCells, SetRange, Palette, Fill, Show)


@dataclass(slots=True)
class Sent:
    """A request under way."""

    message: Request
    frame: bytes
    tries: int = 0
    due_s: float = -inf
    """When it is sent again; in the past where it is to go out now."""


class Requests:
    """The requests of one session with a grid. `seq` is the sequence number of the HELLO that began it."""

    def __init__(self, info: Info, baud: int, seq: int, now_s: float) -> None:
        self.baud = baud
        self.frames_out = 0
        self.retries = 0
        self.sent_s = now_s
        """When something was sent last."""
        self.payload_bytes = self._most_payload = max(
            min(info.max_payload, MAX_PAYLOAD, info.rx_window // 2 - FRAME_BYTES), _LEAST_PAYLOAD
        )
        """How long messages are made: two frames fit the window, so one goes out while the other is acknowledged; a
        line that damages frames gets shorter ones."""
        self._window_bytes = info.rx_window
        self._show_s = info.rows * info.columns * _LED_S
        self._seq = seq
        self._wire_free_s = self._resumes_s = now_s
        self._smooth = 0
        self._soon: deque[Request] = deque()
        self._stages: deque[deque[Request]] = deque()
        self._under_way: dict[int, Sent] = {}

    def add(self, message: Request) -> None:
        """Goes out as soon as it may, unless the same is already waiting or under way."""
        if message not in self._soon and all(sent.message != message for sent in self._under_way.values()):
            self._soon.append(message)

    def paint(self, stages: Sequence[Stage]) -> None:
        """LED messages, stage after stage, and SHOW after them."""
        self._stages.extend(deque(stage) for stage in (*stages, (Show(),)))

    @property
    def is_painting(self) -> bool:
        """Whether LED messages wait or are under way."""
        return any(self._stages) or any(isinstance(sent.message, _OF_LEDS) for sent in self._under_way.values())

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is under way."""
        return not (self._soon or any(self._stages) or self._under_way)

    def acknowledge(self, seq: int) -> Sent | None:
        """The request that is done now; None where none waits for this."""
        sent = self._under_way.pop(seq, None)
        if sent is not None:
            self._smooth = self._smooth + 1 if sent.tries == 1 else 0
            if self._smooth >= _SMOOTH:
                self._smooth = 0
                self.payload_bytes = min(2 * self.payload_bytes, self._most_payload)
        return sent

    def renew(self, sent: Sent) -> None:
        """Sends a request under another number: the grid took its number for one that it had before."""
        (self._stages[0] if isinstance(sent.message, _OF_LEDS) else self._soon).appendleft(sent.message)

    def change_baud(self, baud: int, now_s: float) -> None:
        """From now on all goes at this speed; PING shows whether it can be heard."""
        self.baud = baud
        self._soon.appendleft(Ping())
        self._resumes_s = now_s + _BAUD_PAUSE_S

    def drop(self, kinds: tuple[type[Request], ...]) -> None:
        """Waits no longer for requests of these kinds."""
        self._soon = deque(message for message in self._soon if not isinstance(message, kinds))
        self._under_way = {seq: sent for seq, sent in self._under_way.items() if not isinstance(sent.message, kinds)}

    def drop_paint(self) -> None:
        """Forgets all LED messages."""
        self._stages.clear()
        self.drop(_OF_LEDS)

    def to_send(self, now_s: float) -> bytes:
        """The frames that have to go out now."""
        frames = bytearray()
        if now_s < self._resumes_s:
            return b""
        while (sent := self._next()) is not None:
            frames += sent.frame
            sent.tries += 1
            self.retries += sent.tries > 1
            self.frames_out += 1
            self.sent_s = now_s
            self._wire_free_s = max(self._wire_free_s, now_s) + len(sent.frame) * _BITS_A_BYTE / self.baud
            patience_s = _PATIENCE_S if sent.tries <= QUICK_TRIES else _LATER_PATIENCE_S
            sent.due_s = self._wire_free_s + patience_s + self._show_s * isinstance(sent.message, Show)
        return bytes(frames)

    def due_s(self) -> float:
        """When the next request has waited for its acknowledgement long enough, or may go out."""
        if self._soon and not self._under_way:
            return self._resumes_s
        return min((sent.due_s for sent in self._under_way.values()), default=inf)

    def tick(self, now_s: float) -> Sent | None:
        """Repeats what has waited long enough. Gives a request that was repeated in vain."""
        for seq, sent in list(self._under_way.items()):
            if sent.due_s > now_s:
                continue
            if sent.tries >= _MOST_TRIES or (isinstance(sent.message, SetBaud) and sent.tries >= QUICK_TRIES):
                return sent
            self._repeat(seq, sent)
        return None

    def _repeat(self, seq: int, sent: Sent) -> None:
        sent.due_s = -inf
        self._smooth = 0
        halves = split(sent.message)
        if halves and len(sent.frame) - FRAME_BYTES > _LEAST_PAYLOAD:
            del self._under_way[seq]
            self._stages[0].extendleft(reversed(halves))
            self.payload_bytes = max(min(self.payload_bytes, (len(sent.frame) - FRAME_BYTES) // 2), _LEAST_PAYLOAD)
            self.retries += 1

    def _next(self) -> Sent | None:
        """What may go out now: something again, or the next for the first time."""
        again = next((sent for sent in self._under_way.values() if sent.due_s == -inf), None)
        if again is not None:
            return again
        if any(isinstance(sent.message, _ALONE) for sent in self._under_way.values()):
            return None
        queue = self._soon or self._stage()
        if not queue or (isinstance(queue[0], _ALONE) and self._under_way):
            return None
        seq = (self._seq + 1) % 256
        while seq in self._under_way:
            seq = (seq + 1) % 256
        sent = Sent(queue[0], encode(queue[0], seq))
        under_way_bytes = sum(len(one.frame) for one in self._under_way.values())
        if self._under_way and under_way_bytes + len(sent.frame) > self._window_bytes:
            return None
        queue.popleft()
        self._seq = seq
        self._under_way[seq] = sent
        return sent

    def _stage(self) -> deque[Request]:
        """What waits of the present stage, which ends when all of it is acknowledged."""
        under_way = any(isinstance(sent.message, _OF_LEDS) for sent in self._under_way.values())
        while self._stages and not self._stages[0] and not under_way:
            self._stages.popleft()
        return self._stages[0] if self._stages else deque()
