"""The link to a grid: finds it on a port, drives it, and finds it again when it was gone.

The only thread that touches a port, and the only user of pyserial. Whoever makes a Link starts `run` in a thread;
`show`, `counters` and `close` may be called from any other. At the first error of a port it is given up and looked for
again, perhaps under another name.
"""

import contextlib
import errno
import getpass
import glob
import grp
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

import serial
from serial.tools import list_ports

from firmware_protocol.driver import Device, Driver, Found, GridEvent, Lost, Rgb, Traffic
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.exchange import PORT_ERRORS, Exchange, Port, Record
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import BAUD
from firmware_protocol.monome import MonomeDriver
from firmware_protocol.strip import AdalightDriver, WledDriver

BY_ID = Path("/dev/serial/by-id")
_READ_BYTES = 4096
_WRITE_TIMEOUT_S = 0.5
_CONNECT_TIMEOUT_S = 2.0
_BACK_OFF_S = (0.25, 2.0)
_PROBED = ("grid", "monome", "wled")
"""The drivers that are tried, in this order, where people name none; a mute Adalight strip cannot be guessed."""
NOTHING_KNOWN = (
    "nothing answers as a grid or as WLED; is it the right port, with the firmware on it (docs/hardware.md)? "
    "An Adalight strip is mute and has to be named: adalight:PORT"
)
_SOCKET = "socket://"


@dataclass(frozen=True, slots=True)
class Counters:
    """What the link has seen since it was made; for the hardware panel."""

    port: str = ""
    """The open port's name; "" where there is none."""
    device: Device | None = None
    """What was found on it; None while nothing is."""
    trouble: str = ""
    """Why there is no grid, in one line; "" while there is one."""
    found: int = 0
    lost: int = 0
    events: int = 0
    """Reports of the sensors: one cell's change, or all cells read anew."""
    traffic: Traffic = field(default_factory=Traffic)
    baud: int = 0
    """The line's speed, bits a second; 0 while nothing is found, and where there is no line as behind TCP."""


class Link:
    """One grid on one of the ports that people allow, such as "/dev/ttyUSB0", "wled:/dev/ttyACM1", "/dev/ttyACM*" or
    "socket://host:port".

    `tell` is called in the thread of `run`: with Found and Lost once each, Lost also where nothing could be found at
    first, and in between with what the sensors tell. `size_rc` is the grid's size in rows and columns that will do.
    """

    def __init__(
        self,
        ports: Sequence[str],
        tell: Callable[[GridEvent], None],
        *,
        size_rc: tuple[int, int] | None = None,
        baud: int = BAUD,
        record: Record | None = None,
        back_off_s: tuple[float, float] = _BACK_OFF_S,
    ) -> None:
        self._tell = tell
        self._record = record
        self._back_off_s = back_off_s
        self._choices = tuple(choice_from(port, size_rc, baud) for port in ports)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._port: Port | None = None
        self._port_name = ""
        self._wanted: tuple[Rgb, ...] = ()
        self._device: Device | None = None
        self._driver: Driver | None = None
        self._usb: UsbPort | None = None
        self._beside: set[str] = set()
        """Ports that were there when the grid was found, and are since."""
        self._uid: str | None = None
        self._is_found: bool | None = None
        self._trouble = ""
        self._found = self._lost = self._events = 0

    def run(self) -> None:
        """Finds the grid, drives it, and finds it again, until `close`."""
        first_s, longest_s = self._back_off_s
        wait_s = first_s
        while not self._closed.is_set():
            if self._serve_any():
                wait_s = first_s
            self._wait_for_ports(wait_s)
            wait_s = min(2 * wait_s, longest_s)

    def close(self) -> None:
        """Ends `run`, whose thread gives the port back; to be joined."""
        self._closed.set()
        self._wake()

    def show(self, colours: tuple[Rgb, ...]) -> None:
        """What the LEDs are to show from now on, by index; also before the grid is found."""
        if colours != self._wanted:
            self._wanted = colours
            self._wake()

    @property
    def counters(self) -> Counters:
        """What was seen so far."""
        drivers = [driver for choice in self._choices for driver in choice.drivers]
        traffic = Traffic(*(sum(getattr(one.traffic, name.name) for one in drivers) for name in fields(Traffic)))
        device = self._device if self._is_found else None
        name, driver = self._port_name, self._driver
        baud = driver.baud if device is not None and driver is not None and not name.startswith(_SOCKET) else 0
        return Counters(name, device, self._trouble, self._found, self._lost, self._events, traffic, baud)

    def _wake(self) -> None:
        with self._lock:
            if self._port is not None:
                self._port.wake()

    def _serve_any(self) -> bool:
        """Serves the first port with a grid that will do, until it is lost. False where there is none."""
        troubles = []
        for name, drivers, uid in self._candidates():
            if self._closed.is_set():
                return False
            try:
                if self._serve(name, drivers, uid):
                    return True
            except LinkError as trouble:
                troubles.append(f"{name}: {trouble}")
        if troubles:
            self._lose(troubles[0])
        return False

    def _candidates(self) -> Iterator[tuple[str, tuple[Driver, ...], str | None]]:
        """Ports to try, each with its drivers and the uid that must answer there; None where any will do.

        A grid that comes back under a name that people did not give is known by its USB identity and its uid. Ports
        that were there beside it are left alone: to open one may restart what is on it.
        """
        for choice in self._choices:
            drivers = tuple(sorted(choice.drivers, key=lambda driver: driver is not self._driver))
            names = choice.names()
            for name in names:
                yield name, drivers, self._uid if choice.is_pattern else None
            if self._usb is not None and self._driver in drivers:
                attached = usb_ports()
                self._beside &= {port.name for port in attached}
                known = self._beside | {os.path.realpath(name) for name in names}
                for port in attached:
                    if port.identity == self._usb.identity and port.name not in known:
                        yield port.name, drivers[:1], self._uid

    def _serve(self, name: str, drivers: tuple[Driver, ...], uid: str | None) -> bool:
        """Whether a grid was found on the port; by then it is lost again. Raises LinkError where none was."""
        found_before = self._found
        port = open_port(name, drivers[0].baud)
        with self._lock:
            self._port, self._port_name = port, name
        try:
            for driver in drivers:
                try:
                    self._drive(Exchange(port, driver, uid, record=self._record))
                    break
                except NoAnswer as silence:
                    if self._found > found_before:
                        break
                    if driver is drivers[-1]:
                        raise silence if len(drivers) == 1 else NoAnswer(NOTHING_KNOWN) from None
        except TimeoutError:
            self._lose(f"{name}: it takes no more bytes; unplug it and plug it in again")
        except PORT_ERRORS:
            self._lose(f"{name}: the port is gone; is the cable in?")
        finally:
            with self._lock:
                self._port, self._port_name = None, ""
            port.close()
        return self._found > found_before

    def _drive(self, exchange: Exchange) -> None:
        wanted = None
        while not self._closed.is_set():
            if wanted is not self._wanted:
                wanted = self._wanted
                exchange.driver.want(wanted)
            self._report(exchange.driver, exchange.round())

    def _report(self, driver: Driver, events: Sequence[GridEvent]) -> None:
        for event in events:
            if isinstance(event, Lost):
                self._lose(f"{self._port_name}: {event.why}")
                continue
            if isinstance(event, Found):
                self._driver, self._device, self._uid = driver, event.device, event.device.uid or None
                attached = {port.name: port for port in usb_ports()}
                self._usb = attached.pop(os.path.realpath(self._port_name), None)
                self._beside = set(attached)
                self._is_found, self._trouble = True, ""
                self._found += 1
            else:
                self._events += 1
            self._tell(event)

    def _lose(self, why: str) -> None:
        """Tells it once, with the first reason; what is the matter now stays in the counters."""
        self._trouble = why
        if self._is_found is False:
            return
        self._lost += self._is_found is True
        self._is_found = False
        self._tell(Lost(why))

    def _wait_for_ports(self, wait_s: float) -> None:
        """Waits so long, or until another set of ports is there: a grid that was plugged in need not wait."""
        until_s = time.monotonic() + wait_s
        before = self._ports_there()
        while (left_s := until_s - time.monotonic()) > 0:
            if self._closed.wait(min(left_s, self._back_off_s[0])) or self._ports_there() != before:
                return

    def _ports_there(self) -> set[str]:
        names = {name for choice in self._choices for name in choice.names()}
        return {os.path.realpath(name) for name in names if os.path.exists(name)} | {port.name for port in usb_ports()}


@dataclass(frozen=True, slots=True)
class UsbPort:
    """A serial port with a USB device behind it."""

    name: str
    identity: tuple[int, int, str]
    """Vendor, product and serial number; "" for a device without."""
    product: str


def usb_ports() -> tuple[UsbPort, ...]:
    """The serial ports of USB devices, by name."""
    try:
        listed = list_ports.comports()
    except (OSError, TypeError, ValueError):
        # pyserial 3.5 trips over a device that goes while it reads what it is; it is gone at the next look.
        return ()
    found = [
        UsbPort(port.device, (port.vid, port.pid, port.serial_number or ""), port.product or port.description or "")
        for port in listed
        if port.vid is not None and port.pid is not None
    ]
    return tuple(sorted(found, key=lambda port: port.name))


def open_port(name: str, baud: int) -> Port:
    """Opens a serial port, or "socket://host:port". Raises LinkError, which leaves out the port's name."""
    try:
        return _SocketPort(name) if name.startswith(_SOCKET) else _SerialPort(name, baud)
    except (*PORT_ERRORS, ValueError) as refused:
        raise LinkError(_remedy(name, refused)) from None


def _remedy(name: str, refused: Exception) -> str:
    reason = getattr(refused, "errno", None) or (refused.args[0] if refused.args else None)
    if isinstance(refused, ValueError):
        return f"it is no port ({refused}); see `companion ports`"
    if name.startswith(_SOCKET):
        return f"nobody answers there ({refused}); start the device's server, or check host and port"
    if reason in (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO):
        return "there is no such port; plug the grid in, or see `companion ports`"
    if reason in (errno.EACCES, errno.EPERM):
        return _permission_remedy(name)
    if reason in (errno.EAGAIN, errno.EBUSY):
        return "another program uses the port; close it (ModemManager lets go of a new port after some 20 s)"
    return f"it is no serial port ({refused}); see `companion ports`"


def _permission_remedy(name: str) -> str:
    """Who may use a port that we may not, and the command that changes it."""
    try:
        group = grp.getgrgid(os.stat(name).st_gid)
    except (OSError, KeyError):
        return "you may not use the port; ask whoever looks after this computer"
    if group.gr_gid == 0:
        return "only root may use the port; a udev rule has to give it to a group (docs/grid.md)"
    if getpass.getuser() in group.gr_mem and group.gr_gid not in os.getgroups():
        return f"you joined group {group.gr_name} after you had logged in; log out and in again"
    return (
        f"only group {group.gr_name} may use the port; "
        f"run `sudo usermod -aG {group.gr_name} $USER`, then log out and in again"
    )


class _Waiter:
    """Waits for a descriptor, or until another thread wakes it."""

    def __init__(self) -> None:
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._mouth, False)

    def is_ready(self, fd: int, wait_s: float) -> bool:
        ready, _, _ = select.select([fd, self._ear], [], [], wait_s)
        if self._ear in ready:
            os.read(self._ear, _READ_BYTES)
        return fd in ready

    def wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._mouth, b"\0")

    def close(self) -> None:
        os.close(self._ear)
        os.close(self._mouth)


class _SerialPort:
    """A serial port by pyserial 3.5.

    We wait ourselves and let it only take what is there: `read(n)` waits for all n bytes, a `timeout` set anew
    configures the port anew, and closing it under another thread's `read` is a TypeError there.
    """

    def __init__(self, name: str, baud: int) -> None:
        self._serial = serial.Serial(name, baud, timeout=0, write_timeout=_WRITE_TIMEOUT_S, exclusive=True)
        self._waiter = _Waiter()

    def read(self, wait_s: float) -> bytes:
        return self._serial.read(_READ_BYTES) if self._waiter.is_ready(self._serial.fileno(), wait_s) else b""

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except serial.SerialTimeoutException:
            raise TimeoutError("nobody takes what is written") from None

    def set_baud(self, baud: int) -> None:
        try:
            self._serial.baudrate = baud
        except ValueError:
            raise LinkError(f"this computer's port cannot do {baud} bits a second; take another speed") from None

    def wake(self) -> None:
        self._waiter.wake()

    def close(self) -> None:
        self._waiter.close()
        with contextlib.suppress(*PORT_ERRORS):
            self._serial.close()


class _SocketPort:
    """A device behind TCP. Not pyserial's own: that one delays small pieces, and leaks a socket whose peer has gone."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        if place.hostname is None or place.port is None:
            raise ValueError("socket://host:port is wanted")
        self._socket = socket.create_connection((place.hostname, place.port), _CONNECT_TIMEOUT_S)
        self._socket.settimeout(_WRITE_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._waiter = _Waiter()

    def read(self, wait_s: float) -> bytes:
        if not self._waiter.is_ready(self._socket.fileno(), wait_s):
            return b""
        data = self._socket.recv(_READ_BYTES)
        if not data:
            raise ConnectionError("the other end has closed it")
        return data

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def set_baud(self, baud: int) -> None:
        """A socket has no speed."""

    def wake(self) -> None:
        self._waiter.wake()

    def close(self) -> None:
        self._waiter.close()
        self._socket.close()


@dataclass(frozen=True, slots=True)
class Choice:
    """What people said of one port: its name or a pattern of names, and the drivers that may have it, to be tried in
    this order."""

    name: str
    drivers: tuple[Driver, ...]

    @property
    def is_pattern(self) -> bool:
        return not self.name.startswith(_SOCKET) and glob.has_magic(self.name)

    def names(self) -> tuple[str, ...]:
        """The names to try; the pattern itself where nothing fits it, so that this is said."""
        if self.is_pattern:
            return tuple(sorted(glob.glob(self.name))) or (self.name,)
        stable = BY_ID / self.name
        return (str(stable) if "/" not in self.name and stable.exists() else self.name,)


def choice_from(text: str, size_rc: tuple[int, int] | None = None, baud: int = BAUD) -> Choice:
    """A port as people give it, perhaps with a driver in front. Raises LinkError."""
    drivers: dict[str, Driver] = {driver.name: driver for driver in _drivers(size_rc, baud)}
    driver, colon, name = text.partition(":")
    asked = (drivers[driver],) if colon and driver in drivers else None
    if asked is None:
        name = text
    if not name:
        raise LinkError(f"{text!r}: the port's name is missing, as in {driver or 'wled'}:/dev/ttyUSB0")
    return Choice(name, asked or tuple(one for one in drivers.values() if one.name in _PROBED))


def _drivers(size_rc: tuple[int, int] | None, baud: int) -> tuple[Driver, ...]:
    return (GridDriver(size_rc, baud=baud), MonomeDriver(size_rc), WledDriver(size_rc), AdalightDriver(size_rc))
