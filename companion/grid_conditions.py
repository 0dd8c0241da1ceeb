"""What is the matter with a grid's line, plug and wiring, in sentences with a remedy."""

from collections import deque

from firmware_protocol.driver import Traffic
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import Counters

_WINDOW_S = 20.0
_MANY = 3
"""So many damaged or repeated messages within the window; a plug or HELLO may damage one or two."""
_LOST_WITHIN_S, _OFTEN_LOST = 120.0, 2

WITHOUT_DIODES = "sensors feel pieces at the fourth corner of rectangles: give each of them a diode"
_LOST = "the grid was lost {} times in two minutes: see to its plug and its supply"
_DAMAGED = "the line damages what is sent: take a shorter or a shielded cable"
_OVERRUN = "bytes find no room in the grid: end other programs that use its port"
_REPEATED = "the line answers late: take another hub or a lower speed, and give the computer less to do"


class GridConditions:
    """What the counters of a grid's link say of it. Times are in seconds of any one steady clock."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, int, int, int]] = deque()
        """What came to the counters at each time: damaged, repeated and overrun."""
        self._before: Traffic | None = None
        self._lost_s: deque[float] = deque()

    def lost(self, t_s: float) -> None:
        """The grid was there, and is lost. What was sent again into its silence says nothing of the line."""
        self._lost_s.append(t_s)
        self._forget()

    def after(self, t_s: float, counters: Counters) -> tuple[str, ...]:
        """What is the matter by now, with what the link has counted so far; one sentence each."""
        while self._lost_s and self._lost_s[0] <= t_s - _LOST_WITHIN_S:
            self._lost_s.popleft()
        often = (_LOST.format(len(self._lost_s)),) if len(self._lost_s) >= _OFTEN_LOST else ()
        # Only our own protocol counts by messages.
        if counters.device is None or counters.device.driver != GridDriver.name:
            self._forget()
            return often
        return (*often, *self._of_line(t_s, counters.traffic))

    def _forget(self) -> None:
        self._counted.clear()
        self._before = None

    def _of_line(self, t_s: float, traffic: Traffic) -> tuple[str, ...]:
        before, self._before = self._before or traffic, traffic
        damaged = _more(before.bad_frames, traffic.bad_frames)
        damaged += _more_in_device(before.device_bad_frames, traffic.device_bad_frames)
        overrun = _more_in_device(before.device_overruns, traffic.device_overruns)
        self._counted.append((t_s, damaged, _more(before.retries, traffic.retries), overrun))
        while self._counted[0][0] <= t_s - _WINDOW_S:
            self._counted.popleft()
        _, *counts = zip(*self._counted, strict=True)
        damaged, repeated, overrun = (sum(count) for count in counts)
        if damaged >= _MANY:
            return (_DAMAGED,)
        if overrun:
            return (_OVERRUN,)
        return (_REPEATED,) if repeated >= _MANY else ()


def _more(before: int, now: int) -> int:
    return max(now - before, 0)


def _more_in_device(before: int, now: int) -> int:
    """How much a counter has grown that a device keeps, from its first value on, which is of before it was found."""
    return _more(before, now) if before else 0
