"""The ports behind which a simulated device stands: in process with a clock of its own, a pty, or TCP.

A pty and a TCP port serve from a thread that `start` begins and `close` ends; in process there is none, and an hour
passes as fast as it can be computed.
"""

import contextlib
import errno
import fcntl
import math
import os
import re
import select
import socket
import struct
import sys
import threading
import time
import tty
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Self, TypeVar

from hardware_sims.faults import Fault, Unplug
from hardware_sims.line import D, Line
from hardware_sims.recording import Recording

T = TypeVar("T")
_CHUNK = 4096
_OPENING_POLL_S = 0.02
"""A pty that nobody has open cannot be waited for, only asked."""
_TCGETS2 = 0x802C542A
_TERMIOS2 = struct.Struct("4I20B2I")


class InProcess(Generic[D]):
    """A device behind a port in this process, as `link.Port` has it. Time passes only in `read` and `sleep`."""

    def __init__(
        self,
        device: D,
        faults: Sequence[Fault] = (),
        *,
        seed: int = 0,
        recording: Recording | None = None,
        baud: int | None = None,
        paced: bool = True,
    ) -> None:
        self.device = device
        self.line = Line(device, faults, seed=seed, recording=recording, paced=paced)
        self.line.host_baud = baud
        self.now_s = 0.0
        self._plugs = _Plugs(faults)
        self._plugged = True
        self._awake = False

    def read(self, wait_s: float) -> bytes:
        """What has come, at most so many seconds later; b"" where nothing has. Raises OSError after an unplug."""
        deadline_s = self.now_s + wait_s
        self._go_to(self.now_s)
        while True:
            self._check()
            data = self._arrived()
            if data or self.now_s >= deadline_s or self._awake:
                self._awake = False
                return data
            self._go_to(min(self.line.due_s(), self._plugs.due_s(), deadline_s))

    def write(self, data: bytes) -> None:
        """Sends at once; the bytes arrive as the line's speed allows. Raises OSError after an unplug."""
        self._go_to(self.now_s)
        self._check()
        self.line.write(bytes(data), self.now_s)

    def set_baud(self, baud: int) -> None:
        """The host's speed. Raises OSError after an unplug."""
        self._check()
        self.line.host_baud = baud

    def wake(self) -> None:
        """The next `read` returns at once."""
        self._awake = True

    def close(self) -> None:
        """Nothing to give back."""

    def sleep(self, s: float) -> None:
        """Lets time pass."""
        end_s = self.now_s + s
        while self.now_s < end_s:
            self._go_to(min(self.line.acts_s(), self._plugs.due_s(), end_s))

    def call(self, do: Callable[[D, float], T]) -> T:
        """Does something to the device, at the present time."""
        self._go_to(self.now_s)
        return do(self.device, self.now_s)

    def set_sensor(self, index: int, occupied: bool) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        self._go_to(self.now_s)
        self.line.set_sensor(index, occupied, self.now_s)

    def reboot(self, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """The device starts anew."""
        self._go_to(self.now_s)
        self.line.restart(self.now_s, silent_s=silent_s, noise=noise)

    def suffer(self, faults: Sequence[Fault]) -> None:
        """These faults and no others from now on; their times count from now."""
        self._go_to(self.now_s)
        self.line.suffer(faults, self.now_s)
        self._plugs = _Plugs(faults, self.now_s)

    def unplug(self) -> None:
        """Pulls it out: the port is dead and the device without power."""
        self.line.note(self.now_s, "unplugged")
        self._plugged = False
        self.line.cut()

    def replug(self, *, new_name: bool = False) -> None:
        """Plugs it in again; it starts anew. In process a port has no name."""
        self.line.note(self.now_s, "plugged in")
        self._plugged = True
        self.line.cut()
        self.line.restart(self.now_s)

    def _check(self) -> None:
        if not self._plugged:
            raise OSError(errno.EIO, "the device is gone")

    def _arrived(self) -> bytes:
        pieces = []
        while piece := self.line.read(self.now_s):
            pieces.append(piece)
        return b"".join(pieces)

    def _go_to(self, t_s: float) -> None:
        self.now_s = max(self.now_s, t_s)
        for fault, plugged in self._plugs.due(self.now_s):
            if plugged:
                self.replug(new_name=fault.new_name)
            else:
                self.unplug()
        self.line.advance(self.now_s)
        if not self._plugged:
            self.line.cut()


class _Served(Generic[D]):
    """A device behind a port of the operating system, served by one thread."""

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
        self.line = Line(device, faults, seed=seed, recording=recording, paced=paced)
        self._plugs = _Plugs(faults)
        self._plugged = False
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._began_s: float | None = None
        self._wake_r = self._wake_w = -1

    def start(self) -> Self:
        """Plugs the device in and serves it."""
        if self._began_s is None:
            self._began_s = time.monotonic()
        self._wake_r, self._wake_w = os.pipe()
        os.set_blocking(self._wake_r, False)
        self._closing = False
        self._plug(new_name=False)
        self._thread = threading.Thread(target=self._serve, name="simulated device", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Takes the port away, ends the thread and gives everything back."""
        if self._thread is None:
            return
        self._closing = True
        self._wake()
        self._thread.join()
        self._thread = None
        self._pull()
        os.close(self._wake_r)
        os.close(self._wake_w)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def now_s(self) -> float:
        """The device's present: seconds since the first start."""
        return 0.0 if self._began_s is None else time.monotonic() - self._began_s

    def call(self, do: Callable[[D, float], T]) -> T:
        """Does something to the device from another thread, at the present time."""
        with self._lock:
            if self._plugged:
                self.line.advance(self.now_s)
            result = do(self.device, self.now_s)
        self._wake()
        return result

    def set_sensor(self, index: int, occupied: bool) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        with self._lock:
            self.line.set_sensor(index, occupied, self.now_s)
        self._wake()

    def reboot(self, *, silent_s: float = 0.0, noise: bool = False) -> None:
        """The device starts anew."""
        with self._lock:
            self.line.restart(self.now_s, silent_s=silent_s, noise=noise)
        self._wake()

    def suffer(self, faults: Sequence[Fault]) -> None:
        """These faults and no others from now on; their times count from now."""
        with self._lock:
            self.line.suffer(faults, self.now_s)
            self._plugs = _Plugs(faults, self.now_s)
        self._wake()

    def unplug(self) -> None:
        """Pulls it out: the port is gone and the device without power."""
        with self._lock:
            self.line.note(self.now_s, "unplugged")
            self._pull()
            self.line.cut()
        self._wake()

    def replug(self, *, new_name: bool = False) -> None:
        """Plugs it in again, under another name if so wished; it starts anew."""
        with self._lock:
            self.line.note(self.now_s, "plugged in")
            self.line.restart(self.now_s)
            self._plug(new_name=new_name)
        self._wake()

    def _serve(self) -> None:
        while not self._closing:
            with self._lock:
                for fault, plugged in self._plugs.due(self.now_s):
                    if plugged:
                        self.replug(new_name=fault.new_name)
                    else:
                        self.unplug()
                if self._plugged:
                    self._exchange()
                else:
                    self.line.cut()
                waits, longest_s = self._waits_for() if self._plugged else ([], math.inf)
                due_s = min(self.line.due_s(), self._plugs.due_s()) if self._plugged else self._plugs.due_s()
            self._wait([*waits, self._wake_r], min(longest_s, max(0.0, due_s - self.now_s)))

    def _wait(self, descriptors: list[int], s: float) -> None:
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        poll.poll(None if s == math.inf else math.ceil(s * 1000))
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_r, _CHUNK)

    def _wake(self) -> None:
        if self._thread is not None:
            os.write(self._wake_w, b"\0")

    def _plug(self, *, new_name: bool) -> None:
        """Makes the port appear."""
        raise NotImplementedError

    def _pull(self) -> None:
        """Makes it vanish; once more does no harm."""
        raise NotImplementedError

    def _exchange(self) -> None:
        """Takes what the host has sent, and gives it what has arrived for it."""
        raise NotImplementedError

    def _waits_for(self) -> tuple[list[int], float]:
        """Descriptors that tell when there is something to exchange, and how long they may be trusted to."""
        raise NotImplementedError


class PtyPort(_Served[D]):
    """A device on a pty. `link_name` is a link to it, as in /dev/serial/by-id; without one its own name is the path.

    The speed that the host sets counts: at another one than the device's, both hear noise.
    """

    def __init__(
        self,
        device: D,
        faults: Sequence[Fault] = (),
        *,
        link_name: str | Path | None = None,
        resets_on_open: bool = False,
        boot_s: float = 1.2,
        seed: int = 0,
        recording: Recording | None = None,
        paced: bool = False,
    ) -> None:
        super().__init__(device, faults, seed=seed, recording=recording, paced=paced)
        self._link = None if link_name is None else Path(link_name)
        self._resets_on_open = resets_on_open
        self._boot_s = boot_s
        self._master = -1
        self._own_name = ""
        self._opened = False

    @property
    def path(self) -> str:
        """What to open; another one after a replug under a new name."""
        return self._own_name if self._link is None else str(self._link)

    def _plug(self, *, new_name: bool) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._own_name = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self._master, False)
        self._opened = False
        self._plugged = True
        if self._link is not None:
            if new_name:
                self._link = _next_name(self._link)
            self._link.parent.mkdir(parents=True, exist_ok=True)
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self._own_name)

    def _pull(self) -> None:
        if not self._plugged:
            return
        self._plugged = False
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        os.close(self._master)

    def _exchange(self) -> None:
        state = self._state()
        opened = not state & select.POLLHUP
        if opened and not self._opened:
            self.line.note(self.now_s, "the host has opened the port")
            if self._resets_on_open:
                self.line.restart(self.now_s, silent_s=self._boot_s, noise=True)
        self._opened = opened
        self.line.host_baud = _speed(self._master) if opened else None
        if state & select.POLLIN:
            self.line.write(self._received(), self.now_s)
        while piece := self.line.read(self.now_s):
            # What nobody reads is lost, as on a UART.
            if opened:
                with contextlib.suppress(OSError):
                    os.write(self._master, piece)

    def _received(self) -> bytes:
        """What the host has sent; b"" where it has flushed or closed the port since it was asked."""
        with contextlib.suppress(OSError):
            return os.read(self._master, _CHUNK)
        return b""

    def _waits_for(self) -> tuple[list[int], float]:
        return ([self._master], math.inf) if self._opened else ([], _OPENING_POLL_S)

    def _state(self) -> int:
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return dict(poll.poll(0)).get(self._master, 0)


class TcpPort(_Served[D]):
    """A device behind TCP on this computer, one host at a time: pyserial opens its `url`."""

    def __init__(
        self,
        device: D,
        faults: Sequence[Fault] = (),
        *,
        port: int = 0,
        seed: int = 0,
        recording: Recording | None = None,
        paced: bool = False,
    ) -> None:
        super().__init__(device, faults, seed=seed, recording=recording, paced=paced)
        self._port = port
        self._listener: socket.socket | None = None
        self._client: socket.socket | None = None

    @property
    def url(self) -> str:
        """What pyserial's `serial_for_url` opens."""
        return f"socket://127.0.0.1:{self._port}"

    def _plug(self, *, new_name: bool) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0 if new_name else self._port))
        listener.listen()
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        self._listener = listener
        self._plugged = True

    def _pull(self) -> None:
        self._plugged = False
        for end in (self._client, self._listener):
            if end is not None:
                end.close()
        self._client = self._listener = None

    def _exchange(self) -> None:
        # First what the last host said, up to its goodbye: the next one may be at the door already.
        while self._client is not None and self._receive(self._client):
            pass
        self._accept()
        while piece := self.line.read(self.now_s):
            if self._client is not None:
                with contextlib.suppress(OSError):
                    self._client.send(piece)

    def _receive(self, client: socket.socket) -> bool:
        """Whether there may be more."""
        try:
            data = client.recv(_CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if data:
            self.line.write(data, self.now_s)
        else:
            client.close()
            self._client = None
        return bool(data)

    def _accept(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(BlockingIOError):
            arrived, _ = self._listener.accept()
            if self._client is not None:
                arrived.close()
                return
            arrived.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            arrived.setblocking(False)
            self._client = arrived
            self.line.note(self.now_s, "the host has opened the port")

    def _waits_for(self) -> tuple[list[int], float]:
        return [end.fileno() for end in (self._client, self._listener) if end is not None], math.inf


class _Plugs:
    """When the device is pulled out and put in, by the script of faults."""

    def __init__(self, faults: Sequence[Fault], from_s: float = 0.0) -> None:
        self._left: list[tuple[float, Unplug, bool]] = sorted(
            (
                (from_s + at_s + (fault.for_s if plugged else 0.0), fault, plugged)
                for fault in faults
                if isinstance(fault, Unplug)
                for at_s in fault.at_s
                for plugged in (False, True)
            ),
            key=lambda one: one[0],
        )

    def due_s(self) -> float:
        return self._left[0][0] if self._left else math.inf

    def due(self, t_s: float) -> list[tuple[Unplug, bool]]:
        """What happens by then, in order: pulled out, or plugged in."""
        due = [(fault, plugged) for at_s, fault, plugged in self._left if at_s <= t_s]
        del self._left[: len(due)]
        return due


def _next_name(link: Path) -> Path:
    """The name that the system gives when the one before is still taken: ttyUSB1 for ttyUSB0."""
    stem, number = re.fullmatch(r"(.*?)(\d*)", link.name).groups()  # type: ignore[union-attr]
    return link.with_name(f"{stem}{int(number or 0) + 1}")


def _speed(descriptor: int) -> int | None:
    """The speed that is set on a terminal; None where the system does not tell any but the usual ones."""
    if sys.platform != "linux":
        return None
    settings = fcntl.ioctl(descriptor, _TCGETS2, bytes(_TERMIOS2.size))
    speed: int = _TERMIOS2.unpack(settings)[-1]
    return speed
