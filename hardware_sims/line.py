"""The line between a host and a simulated device: faults, speed and recording, without I/O and by the caller's clock.

Every port in `ports.py` carries its bytes over one, so a fault or a recording is the same on all of them.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

from hardware_sims.device import Device
from hardware_sims.faults import Channel, Fault, Foreign, Reboot, Side, WrongBaud, heard
from hardware_sims.recording import Recording, Way

BITS_PER_BYTE = 10
"""8N1: a start and a stop bit besides."""

D = TypeVar("D", bound=Device)


class Line(Generic[D]):
    """Host's bytes in, device's bytes out. `paced`: every byte takes its time at the line's speed."""

    def __init__(
        self,
        device: D,
        faults: Sequence[Fault] = (),
        *,
        seed: int = 0,
        recording: Recording | None = None,
        paced: bool = False,
    ) -> None:
        self.device = device
        self.host_baud: int | None = None
        """What the host has set; None where the port knows no speed."""
        self._seed = seed
        self._down, self._up = _Direction(paced), _Direction(paced)
        self.suffer(faults)
        self._recording = recording
        self._both_ends = bool(faults)
        self._now_s = 0.0

    def suffer(self, faults: Sequence[Fault], from_s: float = 0.0) -> None:
        """These faults and no others from now on; their times count from `from_s`."""
        self._wrong = next((fault for fault in faults if isinstance(fault, WrongBaud)), None)
        self._down.channel = Channel(faults, Side.DEVICE, self._seed)
        self._up.channel = Channel(faults, Side.HOST, self._seed)
        self._timed: list[tuple[float, Foreign | Reboot]] = sorted(
            ((from_s + at_s, fault) for fault in faults if isinstance(fault, Foreign | Reboot) for at_s in fault.at_s),
            key=lambda timed: timed[0],
        )

    def write(self, data: bytes, t_s: float) -> None:
        """The host sends bytes."""
        self.advance(t_s)
        self._note(t_s, Way.HOST_SENT, data)
        baud = self._host_baud()
        self._down.send(heard(data, baud, self.device.baud), t_s, baud)
        self.advance(t_s)

    def read(self, t_s: float) -> bytes:
        """The next piece that has arrived at the host, b"" where none has."""
        self.advance(t_s)
        data = self._up.arrived(t_s)
        self._note(t_s, Way.HOST_GOT, data)
        return data

    def due_s(self) -> float:
        """When anything happens next, or a piece arrives at the host; a time that has passed while one waits there."""
        return min(self.acts_s(), self._up.due_s())

    def acts_s(self) -> float:
        """When the device or a fault acts next, or bytes arrive at the device."""
        timed_s = self._timed[0][0] if self._timed else math.inf
        return min(self.device.due_s(), self._down.due_s(), timed_s)

    def advance(self, t_s: float) -> None:
        """Lets everything happen that happens by then."""
        while (due_s := self.acts_s()) <= t_s:
            self._now_s = max(self._now_s, due_s)
            self._act(self._now_s)
        self._now_s = max(self._now_s, t_s)

    def cut(self) -> None:
        """The line is interrupted: what is under way is lost."""
        self._down.clear()
        self._up.clear()

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        self.advance(t_s)
        if self._recording is not None:
            self._recording.touched(t_s, index, occupied)
        self.device.set_sensor(index, occupied, t_s)

    def restart(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """The device starts anew."""
        if self._recording is not None:
            self._recording.restarted(t_s, silent_s, noise)
        self.device.reboot(t_s, silent_s=silent_s, noise=noise)

    def note(self, t_s: float, what: str) -> None:
        """A remark for whoever reads the recording."""
        if self._recording is not None:
            self._recording.remark(t_s, what)

    def _act(self, now_s: float) -> None:
        while self._timed and self._timed[0][0] <= now_s:
            _, fault = self._timed.pop(0)
            self._strike(fault, now_s)
        while data := self._down.arrived(now_s):
            if self._both_ends:
                self._note(now_s, Way.DEVICE_GOT, data)
            self.device.receive(data, now_s)
        # SET_BAUD takes effect when its acknowledgement is out, so that one still goes at the speed before.
        baud = self.device.baud
        if data := self.device.send(now_s):
            if self._both_ends:
                self._note(now_s, Way.DEVICE_SENT, data)
            self._up.send(heard(data, baud, self._host_baud(baud)), now_s, baud)

    def _strike(self, fault: Foreign | Reboot, now_s: float) -> None:
        if isinstance(fault, Reboot):
            self.restart(now_s, silent_s=fault.silent_s, noise=fault.noise)
            return
        self.note(now_s, f"foreign bytes towards {fault.towards.value}")
        if fault.towards is not Side.HOST:
            self._down.send(fault.data, now_s, self.device.baud)
        if fault.towards is not Side.DEVICE:
            self._up.send(fault.data, now_s, self.device.baud)

    def _host_baud(self, unknown: int | None = None) -> int:
        if self._wrong is not None:
            return self._wrong.host_baud
        return self.host_baud or unknown or self.device.baud

    def _note(self, t_s: float, way: Way, data: bytes) -> None:
        if self._recording is not None and data:
            self._recording.add(t_s, way, data)


class _Direction:
    """What is under way in one direction."""

    channel: Channel
    """What goes wrong with what is sent from now on."""

    def __init__(self, paced: bool) -> None:
        self._paced = paced
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._free_s = -math.inf

    def send(self, data: bytes, t_s: float, baud: int) -> None:
        for at_s, piece in self.channel.carry(data, t_s):
            if not self._paced:
                self._pieces.append((at_s, piece))
                continue
            self._free_s = max(self._free_s, at_s)
            for byte in piece:
                self._free_s += BITS_PER_BYTE / baud
                self._pieces.append((self._free_s, bytes((byte,))))

    def due_s(self) -> float:
        return self._pieces[0][0] if self._pieces else math.inf

    def arrived(self, t_s: float) -> bytes:
        """The next piece, if it has arrived."""
        return self._pieces.popleft()[1] if self._pieces and self._pieces[0][0] <= t_s else b""

    def clear(self) -> None:
        self._pieces.clear()
        self._free_s = -math.inf
