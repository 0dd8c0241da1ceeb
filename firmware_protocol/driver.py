"""What the link and the application know of any grid: what it is, what happens on it, and how its bytes are driven.

A driver does no I/O: it takes the bytes that came and the time, and gives events and the bytes to send. So the same
driver runs on a port, in a test with a clock of its own, and on a recording.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from firmware_protocol.messages import LedKind, SensorKind


class Rgb(NamedTuple):
    """A colour of an LED, 0 to 255 each."""

    red: int
    green: int
    blue: int


DARK = Rgb(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Device:
    """Who answered on the port. `uid` tells it from every other, also under another port's name."""

    driver: str
    uid: str
    rows: int
    columns: int
    leds: LedKind
    sensors: SensorKind
    firmware: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The grid answers, its LEDs show what is wanted, and its sensors were read whole; () where it has none."""

    device: Device
    occupied: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """The grid no longer answers; nothing is known of its cells until it is found again."""

    why: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One cell's sensor has changed."""

    index: int
    occupied: bool


@dataclass(frozen=True, slots=True)
class Sensed:
    """All sensors, read anew because something may have been missed."""

    occupied: tuple[bool, ...]


GridEvent = Found | Lost | Changed | Sensed


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a driver has counted since it was made; 0 where its protocol has no such thing."""

    frames_in: int = 0
    frames_out: int = 0
    bad_frames: int = 0
    """Frames from the device that failed their check."""
    retries: int = 0
    device_bad_frames: int = 0
    """Frames to the device that failed their check there, by its own count since its start."""
    device_overruns: int = 0
    """Bytes that found no room in the device, by its own count since its start."""


class Driver(Protocol):
    """Speaks with one kind of grid. Times are in seconds of any one steady clock.

    After `Lost` a driver asks for the device by itself, on the same port. `feed` and `tick` raise LinkError where
    nothing answers or what answers cannot be used, as it is of another size or speaks another protocol: the port is
    then to be closed. The message leaves out the port's name, which a driver does not know.
    """

    @property
    def name(self) -> str:
        """As people give it before a port's name."""

    @property
    def baud(self) -> int:
        """The speed that the port is to have from now on."""

    @property
    def device(self) -> Device | None:
        """Who answers; known some time before it is found."""

    @property
    def traffic(self) -> Traffic:
        """What was counted so far."""

    def begin(self, now_s: float, uid: str | None = None) -> None:
        """The port was just opened. With a `uid`, only that device will do."""

    def feed(self, data: bytes, now_s: float) -> list[GridEvent]:
        """What these bytes tell."""

    def want(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show, by index; sent when the grid is found and as far as it differs."""

    def to_send(self, now_s: float) -> bytes:
        """What has to go out now; b"" for nothing."""

    def due_s(self) -> float:
        """When `tick` is to be called at the latest; infinity where nothing is awaited."""

    def tick(self, now_s: float) -> list[GridEvent]:
        """What the mere passing of time tells: nothing answered, no heartbeat came."""
