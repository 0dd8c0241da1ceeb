"""Recordings of a line: every byte with its time and way, in one text file that people can read, and their replay.

One line each: seconds, way, bytes in hex, and behind `#` what they say in our protocol or what happened. `device>` and
`>device` are left out where no fault changed what `host>` and `>host` carry.
"""

from dataclasses import dataclass
from enum import Enum


class Way(Enum):
    """Who sent or got the bytes."""

    HOST_SENT = "host>"
    DEVICE_GOT = ">device"
    DEVICE_SENT = "device>"
    HOST_GOT = ">host"


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes at one moment, in seconds from the start of the recording."""

    t_s: float
    way: Way
    data: bytes


class Recording:
    """A run as it is recorded."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._remarks: list[tuple[float, str]] = []

    def add(self, t_s: float, way: Way, data: bytes) -> None:
        """Bytes went by."""
        self.entries.append(Entry(t_s, way, data))

    def remark(self, t_s: float, what: str) -> None:
        """Something happened besides."""
        self._remarks.append((t_s, what))
