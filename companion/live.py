"""What the page shows besides the log: the latest picture with its reading, how the table is watched, and the grid.

The session writes it, the web server's threads read it. Nothing here is kept: the log alone is the match.
"""

import threading
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from companion.lights import Light
from companion.terms import Cell
from firmware_protocol.link import Counters
from vision.calibration import Calibration
from vision.sighting import Reading

STALLED_S = 1.5
"""A camera that gives no new picture for so long is said to have stalled."""


class Watch(StrEnum):
    """How the table is being watched just now."""

    STARTING = "starting"
    WATCHING = "watching"
    HAND = "hand"
    MOVING = "moving"
    STALLED = "stalled"
    BOARD_LOST = "board-lost"
    CAMERA_LOST = "camera-lost"
    GRID_LOST = "grid-lost"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Picture:
    """One camera picture, the `n`-th shown, with what was read from it where it was read."""

    n: int
    image_bgr: npt.NDArray[np.uint8]
    calibration: Calibration | None
    reading: Reading | None
    tops: tuple[str, ...] = ()
    """On a board of squares what was read instead, a string a rank from rank 1 on, ? for what is not sure."""
    tokens: tuple[tuple[Cell, str], ...] = ()
    """On one with marked tokens: squares, from 0, with the uppermost token as looks name it, ? for what is unseen."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The grid of LEDs and sensors as it is just now; `since` is when it was found or lost, UTC."""

    counters: Counters
    since: str
    alone: bool = False
    """Whether no camera watches the board."""
    sensed: bool = True
    """Whether what the sensors say is used at all."""
    lights: tuple[tuple[Cell, Light], ...] = ()
    says: tuple[tuple[Cell, bool], ...] = ()
    """What each sensor says, also those that are left out."""
    stuck: tuple[Cell, ...] = ()
    cells: tuple[Cell, ...] = ()
    """Those that have an LED and a sensor."""
    conditions: tuple[str, ...] = ()
    """What is the matter with it, besides that it is not there: one plain sentence each."""


class Live:
    """The latest picture and the state of the watch; every method may be called from any thread."""

    def __init__(self, *, simulated: bool = False) -> None:
        self.simulated = simulated
        self._changed = threading.Condition()
        self._version = 0
        self._picture: Picture | None = None
        self._watch = (Watch.STARTING, "")
        self._hardware: Hardware | None = None
        self._tapped: Cell | None = None
        self._conditions: tuple[str, ...] = ()

    def show(
        self,
        image_bgr: npt.NDArray[np.uint8],
        calibration: Calibration | None = None,
        reading: Reading | None = None,
        tops: tuple[str, ...] = (),
        tokens: tuple[tuple[Cell, str], ...] = (),
    ) -> None:
        """Makes this the latest picture; the caller never writes to the array again."""
        with self._changed:
            n = 1 if self._picture is None else self._picture.n + 1
            self._picture = Picture(n, image_bgr, calibration, reading, tops, tokens)

    def picture(self) -> Picture | None:
        """The latest picture, or None before the first."""
        with self._changed:
            return self._picture

    def watch(self, state: Watch, why: str = "") -> None:
        """Says how the table is being watched from now on; `why` is one plain sentence for the page."""
        with self._changed:
            if self._watch != (state, why):
                self._watch = (state, why)
                self._ring()

    def watching(self) -> tuple[Watch, str]:
        """How the table is being watched, and why."""
        with self._changed:
            return self._watch

    def equip(self, hardware: Hardware) -> None:
        """Says how the grid is from now on."""
        with self._changed:
            if self._hardware != hardware:
                self._hardware = hardware
                self._ring()

    def hardware(self) -> Hardware | None:
        """How the grid is; None where none is wanted."""
        with self._changed:
            return self._hardware

    def judge_pictures(self, conditions: tuple[str, ...]) -> None:
        """Says what is the matter with the pictures, though the board is watched: one plain sentence each."""
        with self._changed:
            if self._conditions != conditions:
                self._conditions = conditions
                self._ring()

    def conditions(self) -> tuple[str, ...]:
        """What is the matter with the pictures."""
        with self._changed:
            return self._conditions

    def tap(self, cell: Cell | None) -> None:
        """Says which piece somebody thinks of moving on the page; None once that is over."""
        with self._changed:
            self._tapped = cell

    def tapped(self) -> Cell | None:
        """The piece that somebody thinks of moving."""
        with self._changed:
            return self._tapped

    def ring(self) -> None:
        """Wakes every page: the log has grown."""
        with self._changed:
            self._ring()

    def wait(self, heard: int, timeout_s: float) -> int:
        """Waits until something changed after version `heard`, at most `timeout_s`; the version now."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != heard, timeout_s)
            return self._version

    def _ring(self) -> None:
        self._version += 1
        self._changed.notify_all()
