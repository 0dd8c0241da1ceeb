"""Recordings of a line: every byte with its time and way, in one text file that people can read, and their replay.

One line each: seconds, how long the bytes took, way, and the bytes in hex; behind `#` stands what a frame of our
protocol says. A line is written when its last byte has come. `device>` and `>device` are left out where no fault
changed what `host>` and `>host` carry. What was done to the device, a cell or a restart, stands between, so that a
device that plays it again does the same.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TextIO

from firmware_protocol.codec import Decoder, Frame
from firmware_protocol.exchange import Direction
from hardware_sims.device import Device

_SAME_S = 1e-9
_MOMENT_S = 1e-6
_LONGEST_SPACE_S = 0.002
"""Bytes further apart are not of one run: at 9,600 bits a second they are 1 ms apart."""


class Way(Enum):
    """Who sent or got the bytes."""

    HOST_SENT = "host>"
    DEVICE_GOT = ">device"
    DEVICE_SENT = "device>"
    HOST_GOT = ">host"


@dataclass(frozen=True, slots=True)
class Run:
    """Bytes that came evenly: the first at `t_s` from the start of the recording, the last `lasted_s` later."""

    t_s: float
    way: Way
    data: bytes
    lasted_s: float = 0.0

    def bytes_at(self) -> list[tuple[float, bytes]]:
        """The bytes with the time of each, or all of them where they came at once."""
        if self.lasted_s == 0:
            return [(self.t_s, self.data)]
        space_s = self.lasted_s / (len(self.data) - 1)
        return [(self.t_s + n * space_s, self.data[n : n + 1]) for n in range(len(self.data))]


@dataclass(frozen=True, slots=True)
class Touched:
    """A piece came to lie on a cell, or was taken off."""

    t_s: float
    cell: int
    occupied: bool


@dataclass(frozen=True, slots=True)
class Restarted:
    """The device started anew."""

    t_s: float
    silent_s: float
    noise: bool


Entry = Run | Touched | Restarted


class Recording:
    """A run as it is written to a file; `flush` before it is read or closed."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._begun: dict[Way, Run] = {}
        self._decoders = {way: Decoder() for way in Way}
        self._link_began_s: float | None = None

    def add(self, t_s: float, way: Way, data: bytes) -> None:
        """Bytes went by."""
        begun = self._begun.pop(way, None)
        joined = None if begun is None else _joined(begun, t_s, data)
        if begun is not None and joined is None:
            self._write(begun)
        run = joined or Run(t_s, way, data)
        if len(data) > 1 or (data == b"\0" and run.data.strip(b"\0")):
            self._write(run)
        else:
            self._begun[way] = run

    def from_link(self, direction: Direction, t_s: float, data: bytes) -> None:
        """The `record` of a link or exchange with any device, also a real one; the first bytes are at 0 s."""
        if self._link_began_s is None:
            self._link_began_s = t_s
        way = Way.HOST_SENT if direction is Direction.TO_DEVICE else Way.HOST_GOT
        self.add(t_s - self._link_began_s, way, data)

    def touched(self, t_s: float, cell: int, occupied: bool) -> None:
        """A cell became occupied or empty."""
        self._line(t_s, "cell", f"{cell} {'occupied' if occupied else 'empty'}")

    def restarted(self, t_s: float, silent_s: float, noise: bool) -> None:
        """The device started anew."""
        self._line(t_s, "restart", f"{silent_s!r} {'noise' if noise else 'quiet'}")

    def remark(self, t_s: float, what: str) -> None:
        """Something that matters to the reader alone."""
        self._line(t_s, "#", what)

    def flush(self) -> None:
        """Writes what is still kept back."""
        for run in self._begun.values():
            self._write(run)
        self._begun.clear()
        self._file.flush()

    def _write(self, run: Run) -> None:
        frames = self._decoders[run.way].feed(run.data)
        says = f"  # {'; '.join(map(_said, frames))}" if frames else ""
        self._file.write(f"{run.t_s:14.9f} +{run.lasted_s:.9f} {run.way.value:<8} {run.data.hex(' ')}{says}\n")

    def _line(self, t_s: float, kind: str, what: str) -> None:
        self._file.write(f"{t_s:14.9f} {kind} {what}\n")


def read_recording(lines: Iterable[str]) -> tuple[Entry, ...]:
    """What a file holds, in order of time. Raises ValueError, naming the line."""
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("  #")[0].split()
        try:
            if len(words) > 1 and words[1] != "#":
                entries.append(_entry(words))
        except (ValueError, LookupError):
            raise ValueError(f"line {number} is no line of a recording: {line.strip()[:60]}") from None
    return tuple(sorted(entries, key=lambda entry: entry.t_s))


def _entry(words: list[str]) -> Entry:
    t_s = float(words[0])
    match words[1]:
        case "cell":
            return Touched(t_s, int(words[2]), {"occupied": True, "empty": False}[words[3]])
        case "restart":
            return Restarted(t_s, float(words[2]), {"noise": True, "quiet": False}[words[3]])
        case lasted:
            return Run(t_s, Way(words[2]), bytes.fromhex("".join(words[3:])), float(lasted))


def _joined(begun: Run, t_s: float, data: bytes) -> Run | None:
    """The run with one more byte; None where that one came at another pace."""
    gap_s = t_s - begun.t_s - begun.lasted_s
    space_s = begun.lasted_s / (len(begun.data) - 1) if len(begun.data) > 1 else gap_s
    if len(data) > 1 or not 0 <= space_s < _LONGEST_SPACE_S or abs(gap_s - space_s) > _SAME_S:
        return None
    return replace(begun, data=begun.data + data, lasted_s=t_s - begun.t_s)


def _said(frame: Frame) -> str:
    said = f"{frame.message!r} seq {frame.seq}"
    return said if len(said) <= 120 else said[:117] + "..."


class Replay:
    """The device of a recording, for a host to speak with: it sends what it sent, when it did, whatever the host says.

    Nothing is sent before the host has sent as much as it had by then, so a slower host gets its answers later.
    """

    def __init__(self, entries: Sequence[Entry], *, baud: int = 115_200) -> None:
        self.baud = baud
        self._left: deque[tuple[float, int, bytes]] = deque()
        self._heard = 0
        self._late_s = 0.0
        self._now_s = 0.0
        said = deque(_in_order(entries, Way.HOST_SENT))
        asked = 0
        for t_s, data in _in_order(entries, Way.HOST_GOT):
            # What the host said in that moment was in answer to it.
            while said and said[0][0] < t_s - _MOMENT_S:
                asked += len(said.popleft()[1])
            self._left.append((t_s, asked, data))

    def receive(self, data: bytes, t_s: float) -> None:
        """The host speaks; only how much counts."""
        self._now_s = max(self._now_s, t_s)
        if self._left and self._heard < self._left[0][1] <= self._heard + len(data):
            self._late_s = max(self._late_s, t_s - self._left[0][0])
        self._heard += len(data)

    def send(self, t_s: float) -> bytes:
        """What is due by then."""
        self._now_s = max(self._now_s, t_s)
        sent = []
        while self.due_s() <= t_s:
            sent.append(self._left.popleft()[2])
        return b"".join(sent)

    def due_s(self) -> float:
        """When the next piece goes out; infinity where the host has to speak first or all is said."""
        if not self._left or self._left[0][1] > self._heard:
            return math.inf
        return self._left[0][0] + self._late_s

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A recording has no sensors. Raises ValueError."""
        raise ValueError("a recorded device has no sensors")

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """It goes on where it was."""


def play_host(entries: Sequence[Entry], device: Device) -> bytes:
    """The host of a recording speaks with a device, whose cells are touched as they were; all that the device sends."""
    given = Way.DEVICE_GOT if any(_is_run(entry, Way.DEVICE_GOT) for entry in entries) else Way.HOST_SENT
    acts: list[tuple[float, Touched | Restarted | bytes]] = [
        (entry.t_s, entry) for entry in entries if not isinstance(entry, Run)
    ]
    acts += _in_order(entries, given)
    end_s = max((entry.t_s + (entry.lasted_s if isinstance(entry, Run) else 0) for entry in entries), default=0.0)
    sent = bytearray()
    for t_s, act in sorted(acts, key=lambda timed: timed[0]):
        sent += _sent_before(device, t_s)
        match act:
            case Touched():
                device.set_sensor(act.cell, act.occupied, t_s)
            case Restarted():
                device.reboot(t_s, silent_s=act.silent_s, noise=act.noise)
            case _:
                device.receive(act, t_s)
    return bytes(sent + _sent_before(device, end_s) + device.send(end_s))


def _sent_before(device: Device, t_s: float) -> bytes:
    sent = bytearray()
    while (due_s := device.due_s()) < t_s:
        sent += device.send(due_s)
    return bytes(sent)


def _in_order(entries: Sequence[Entry], way: Way) -> list[tuple[float, bytes]]:
    runs = [entry for entry in entries if isinstance(entry, Run) and entry.way is way]
    return sorted((timed for run in runs for timed in run.bytes_at()), key=lambda timed: timed[0])


def _is_run(entry: Entry, way: Way) -> bool:
    return isinstance(entry, Run) and entry.way is way
