"""What goes wrong between a host and a grid: each fault a frozen value, struck by rate or at a given place.

`Channel` is one direction of the line: bytes in, pieces with the time of their arrival out. What is wrong with sensors
stands in `sensors.py`, since every device has them.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """Towards whom bytes go."""

    HOST = "host"
    DEVICE = "device"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class At:
    """A place in what one side is sent, counted from 0: a byte of a frame, or of all where no frame is given.

    A frame's leading zero is its byte 0; what lies between frames belongs to the next.
    """

    byte: int
    frame: int | None = None


@dataclass(frozen=True, slots=True)
class Flip:
    """One bit of a byte is read wrongly."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Corrupt:
    """A byte arrives as any other."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Drop:
    """A byte is lost."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Insert:
    """A byte that nobody sent arrives before this one."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A byte arrives twice."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Split:
    """What was written at once is cut into reads: behind a byte at this rate, or before the given ones."""

    rate: float = 0.0
    at: tuple[At, ...] = ()
    gap_s: float = 0.001
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Merge:
    """What was written in several goes is read at once: it waits for the next tick of a USB chip's latency timer."""

    every_s: float = 0.016
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Delay:
    """Every write takes this long, and up to `jitter_s` more."""

    s: float
    jitter_s: float = 0.0
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class Stall:
    """Now and then nothing moves for a while: by rate per write, or at the given times."""

    s: float
    rate: float = 0.0
    at_s: tuple[float, ...] = ()
    towards: Side = Side.BOTH


@dataclass(frozen=True, slots=True)
class WrongBaud:
    """The host's end runs at this speed, whatever the host has set."""

    host_baud: int


@dataclass(frozen=True, slots=True)
class Foreign:
    """Bytes of another program, such as a modem probe, reach one side at the given times."""

    at_s: tuple[float, ...]
    data: bytes = b"AT\r"
    towards: Side = Side.DEVICE


@dataclass(frozen=True, slots=True)
class Reboot:
    """The device starts anew at the given times: its bootloader swallows what comes, and noise comes first."""

    at_s: tuple[float, ...]
    silent_s: float = 1.2
    noise: bool = True


@dataclass(frozen=True, slots=True)
class Unplug:
    """The device is pulled out at the given times and comes back, under another name if so wished."""

    at_s: tuple[float, ...]
    for_s: float = 0.5
    new_name: bool = False


ByteFault = Flip | Corrupt | Drop | Insert | Duplicate
LineFault = ByteFault | Split | Merge | Delay | Stall | WrongBaud | Foreign | Reboot
Fault = LineFault | Unplug


class Channel:
    """One direction of the line under its faults, by a seed of its own."""

    def __init__(self, faults: Sequence[Fault], towards: Side, seed: int) -> None:
        def mine(fault: Fault) -> bool:
            return getattr(fault, "towards", None) in (towards, Side.BOTH)

        faults = [fault for fault in faults if mine(fault)]
        self._bytes = [fault for fault in faults if isinstance(fault, ByteFault)]
        self._splits = [fault for fault in faults if isinstance(fault, Split)]
        self._merges = [fault for fault in faults if isinstance(fault, Merge)]
        self._delays = [fault for fault in faults if isinstance(fault, Delay)]
        self._stalls = [fault for fault in faults if isinstance(fault, Stall)]
        self._stalls_left_s = sorted((at_s, fault.s) for fault in self._stalls for at_s in fault.at_s)
        self._rng = random.Random(f"{seed} {towards.value}")
        self._place = _Place()
        self._free_s = -math.inf

    def carry(self, data: bytes, t_s: float) -> list[tuple[float, bytes]]:
        """The pieces in which bytes sent now arrive, each with its time; never before what was sent earlier."""
        at_s = t_s
        for delay in self._delays:
            at_s += delay.s + self._rng.uniform(0, delay.jitter_s)
        for stall in self._stalls:
            if self._rng.random() < stall.rate:
                at_s += stall.s
        while self._stalls_left_s and self._stalls_left_s[0][0] <= t_s:
            start_s, length_s = self._stalls_left_s.pop(0)
            at_s = max(at_s, start_s + length_s)
        for merge in self._merges:
            at_s = math.ceil(at_s / merge.every_s) * merge.every_s
        at_s = max(at_s, self._free_s)
        pieces = []
        for gap_s, piece in self._damaged(data):
            at_s += gap_s
            if piece:
                pieces.append((at_s, piece))
        self._free_s = at_s
        return pieces

    def _damaged(self, data: bytes) -> list[tuple[float, bytes]]:
        """Pieces with the gap before each."""
        if not self._bytes and not self._splits:
            return [(0.0, data)]
        pieces: list[tuple[float, bytearray]] = [(0.0, bytearray())]
        for byte in data:
            pieces.extend((split.gap_s, bytearray()) for split in self._splits if self._struck(split))
            pieces[-1][1].extend(self._one(byte))
            self._place.step(byte)
        return [(gap_s, bytes(piece)) for gap_s, piece in pieces]

    def _one(self, byte: int) -> bytes:
        """What becomes of one byte."""
        arrived = bytes((byte,))
        for fault in self._bytes:
            if not self._struck(fault):
                continue
            match fault:
                case Flip():
                    arrived = bytes(one ^ 1 << self._rng.randrange(8) for one in arrived)
                case Corrupt():
                    arrived = bytes(one ^ self._rng.randrange(1, 256) for one in arrived)
                case Drop():
                    arrived = b""
                case Insert():
                    arrived = self._rng.randbytes(1) + arrived
                case Duplicate():
                    arrived += arrived[-1:]
        return arrived

    def _struck(self, fault: ByteFault | Split) -> bool:
        by_chance = fault.rate > 0 and self._rng.random() < fault.rate
        return by_chance or any(self._place.is_at(at) for at in fault.at)


class _Place:
    """Where in the stream the next byte stands."""

    def __init__(self) -> None:
        self._total = self._frame = self._byte = 0
        self._in_frame = False

    def is_at(self, at: At) -> bool:
        if at.frame is None:
            return at.byte == self._total
        return (at.frame, at.byte) == (self._frame, self._byte)

    def step(self, byte: int) -> None:
        """Goes on behind this byte. A zero ends a frame that has begun, or is the leading one of the next."""
        self._total += 1
        self._byte += 1
        if byte:
            self._in_frame = True
        elif self._in_frame:
            self._in_frame = False
            self._frame, self._byte = self._frame + 1, 0


def heard(data: bytes, sent_baud: int, read_baud: int) -> bytes:
    """What a receiver at one speed makes of bytes sent back to back at another: it samples where it expects bits."""
    if sent_baud == read_baud:
        return data
    bits = "".join("0" + f"{byte:08b}"[::-1] + "1" for byte in data)
    step = sent_baud / read_baud
    found = bytearray()
    at = 0.0
    while (start := bits.find("0", int(at))) >= 0:
        # A receiver that was late looks for the start bit from where it stands, not from a whole bit's edge.
        at = max(at, float(start))
        samples = [bits[int(at + (n + 0.5) * step)] if at + (n + 0.5) * step < len(bits) else "1" for n in range(10)]
        at += 9.5 * step
        if samples[0] == "0":
            found.append(int("".join(samples[8:0:-1]), 2))
    return bytes(found)
