"""The real firmware as a device on a line, so that faults, ports and recordings serve it as they do any simulated one.

Under it a `SteppedBoard` runs as far as the line's time has come. The board models its own receiver and its speed; the
line models the host's end, so the board is told that its host has always the right one.
"""

from collections.abc import Sequence

from firmware_protocol.driver import Rgb
from hardware_sims.avr import HZ, SteppedBoard
from hardware_sims.sensors import SensorFault, Sensors

_STEP_S = 0.001
"""The line looks at it so often: what it sends arrives up to so much later."""
_LOOKS_FOR_SPEED = 50
"""Steps after which its speed is asked for even if it has sent nothing."""


class FirmwareDevice:
    """A board of rows x columns cells that is entered by the caller, and left too."""

    def __init__(
        self, board: SteppedBoard, rows: int, columns: int, sensor_faults: Sequence[SensorFault] = (), *, seed: int = 0
    ) -> None:
        self.sensors = Sensors(rows, columns, sensor_faults, seed=seed)
        self._board = board
        self._ran_cycles = 0
        self._deaf_until_s = 0.0
        self._out = b""
        self._levels = (False,) * (rows * columns)
        self._unasked = 0
        self.baud = board.counters().baud

    @property
    def leds(self) -> tuple[Rgb, ...]:
        """What is to be seen on it; () before anything is."""
        return self._board.leds() or ()

    def receive(self, data: bytes, t_s: float) -> None:
        """Bytes arrive at its receiver."""
        self._advance(t_s)
        if t_s >= self._deaf_until_s:
            self._board.send(data)

    def send(self, t_s: float) -> bytes:
        """What it has sent by then."""
        self._advance(t_s)
        data, self._out = self._out, b""
        return data

    def due_s(self) -> float:
        """When it is to be looked at next."""
        now_s = self._ran_cycles / HZ
        return now_s if self._out else min(now_s + _STEP_S, self.sensors.due_s())

    def set_sensor(self, index: int, occupied: bool, t_s: float) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        self._advance(t_s)
        self.sensors.put(index, occupied, t_s)

    def reboot(self, t_s: float, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """Presses its reset button. Its bootloader, which the image has not, swallows what comes for so long."""
        self._advance(t_s)
        self._board.reset()
        self._deaf_until_s = t_s + silent_s
        self._out = b"\xff\x00" if noise else b""
        self.baud = self._board.counters().baud
        self._board.set_host_baud(self.baud)

    def _advance(self, t_s: float) -> None:
        while self.sensors.due_s() <= t_s:
            due_s = self.sensors.due_s()
            self._run(due_s)
            self.sensors.advance(due_s)
            self._feel()
        self._run(t_s)

    def _feel(self) -> None:
        for cell, (now, before) in enumerate(zip(self.sensors.levels, self._levels, strict=True)):
            if now != before:
                self._board.set_sensor(cell, now)
        self._levels = self.sensors.levels

    def _run(self, t_s: float) -> None:
        cycles = round(t_s * HZ) - self._ran_cycles
        if cycles <= 0:
            return
        sent = self._board.run(cycles / HZ)
        self._ran_cycles += cycles
        self._out += bytes(byte for _, byte in sent)
        self._unasked += 1
        if sent or self._unasked >= _LOOKS_FOR_SPEED:
            self._follow_speed()

    def _follow_speed(self) -> None:
        self._unasked = 0
        baud = self._board.counters().baud
        if baud != self.baud:
            self.baud = baud
            self._board.set_host_baud(baud)
