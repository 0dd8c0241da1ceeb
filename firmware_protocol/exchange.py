"""A driver on an open port: sends what the driver has for it, and gives the driver what comes. No thread, any clock."""

import termios
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from firmware_protocol.driver import Driver, GridEvent

PORT_ERRORS = (OSError, termios.error)
"""What a port raises that is gone. pyserial 3.5 raises both after an unplug, and the second is no OSError."""
_LONGEST_WAIT_S = 60.0


class Port(Protocol):
    """An open port. Every call may raise one of PORT_ERRORS, but for `wake` and `close`."""

    def read(self, wait_s: float) -> bytes:
        """What has come, at most so many seconds later; b"" where nothing has, or after `wake`."""

    def write(self, data: bytes) -> None:
        """Sends all of it, within half a second."""

    def set_baud(self, baud: int) -> None:
        """The speed of what is sent and received from now on."""

    def wake(self) -> None:
        """Ends the `read` of another thread."""

    def close(self) -> None:
        """Gives the port back."""


class Direction(StrEnum):
    """Which way recorded bytes went."""

    FROM_DEVICE = "from-device"
    TO_DEVICE = "to-device"


Record = Callable[[Direction, float, bytes], None]
"""Takes every piece of bytes, with the seconds of the monotonic clock."""


class Exchange:
    """One driver on one open port. `clock` gives the seconds that the port's waiting takes."""

    def __init__(
        self,
        port: Port,
        driver: Driver,
        uid: str | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        record: Record | None = None,
    ) -> None:
        self.driver = driver
        self._port = port
        self._clock = clock
        self._record = record
        self._baud: int | None = None
        driver.begin(clock(), uid)

    def round(self) -> Sequence[GridEvent]:
        """Sends what is due, and takes what comes until something is due again or the port is woken.

        Raises LinkError by the driver, and PORT_ERRORS when the port is gone.
        """
        driver = self.driver
        data = driver.to_send(self._clock())
        if self._baud != driver.baud:
            self._baud = driver.baud
            self._port.set_baud(driver.baud)
        if data:
            self._note(Direction.TO_DEVICE, data)
            self._port.write(data)
        data = self._port.read(min(max(driver.due_s() - self._clock(), 0.0), _LONGEST_WAIT_S))
        now_s = self._clock()
        events: list[GridEvent] = []
        if data:
            self._note(Direction.FROM_DEVICE, data)
            events += driver.feed(data, now_s)
        if now_s >= driver.due_s():
            events += driver.tick(now_s)
        return events

    def _note(self, direction: Direction, data: bytes) -> None:
        if self._record is not None:
            self._record(direction, self._clock(), data)
