"""What every simulated device is, seen from its line."""

from typing import Protocol


class Device(Protocol):
    """Bytes and time in, bytes out; no I/O. Times are in seconds of any one steady clock."""

    baud: int

    def receive(self, data: bytes, t_s: float) -> None:
        """Bytes arrive at its receiver."""

    def send(self, t_s: float) -> bytes:
        """What it has sent by then."""

    def due_s(self) -> float:
        """When it does something by itself next; a time that has passed where it has something to send."""

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A piece comes to lie on the cell, or is taken off. Raises ValueError where there are no sensors."""

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """Starts anew; for so long its bootloader swallows what comes."""
