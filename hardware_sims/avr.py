"""The real firmware without a board: its AVR images in simavr, and its core on this computer.

`AvrBoard` runs in real time behind a pty, as a board behind USB does. `SteppedBoard` stands still between calls:
figures taken there are in simulated time and the same on every computer. What is built is kept in the user's cache
directory.
"""

import hashlib
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Literal, NamedTuple, Self

from platformdirs import user_cache_path

import firmware_protocol
from firmware_protocol.driver import Rgb
from firmware_protocol.errors import LinkError
from firmware_protocol.messages import SensorKind

Mcu = Literal["atmega328p", "atmega2560"]
PACKAGES = ("gcc", "libc6-dev", "make", "gcc-avr", "avr-libc", "libsimavr-dev", "libelf-dev")
"""What Debian and its kin call the tools."""
UID = b"simavr\0\1"
HZ = 16_000_000

_FIRMWARE = Path(firmware_protocol.__file__).parent / "firmware"
_HARNESS = Path(__file__).parent / "avr" / "harness.c"
_BOARDS: dict[Mcu, str] = {"atmega328p": "uno", "atmega2560": "mega"}
_FLAGS = "GRID_FLAG_SHOW_BLOCKS_RX|GRID_FLAG_SIMULATED"
_SIMAVR = ("-isystem", "/usr/include/simavr")
_PROBE = "#include <sim_avr.h>\n#include <libelf.h>\n"


@dataclass(frozen=True, slots=True)
class Build:
    """The settings of one firmware image. `max_ma` has room for all LEDs: colours are shown as they are sent."""

    mcu: Mcu = "atmega328p"
    rows: int = 8
    columns: int = 8
    max_ma: int = 20_000
    sensor_kind: SensorKind = SensorKind.HALL
    active_low: bool = True

    @property
    def cells(self) -> int:
        """How many LEDs and sensors it drives."""
        return self.rows * self.columns


UNO = Build()
MEGA = Build("atmega2560", 16, 16)


@dataclass(frozen=True, slots=True)
class Counters:
    """What the simulated hardware counted. `bad_pulses`: LED pulses that no WS2812 need understand; `garbled`: bytes at
    another speed; `unread`: bytes that nobody was there to take; `stack_free`: bytes of RAM never touched."""

    cycles: int
    baud: int
    overruns: int = 0
    garbled: int = 0
    received: int = 0
    sent: int = 0
    unread: int = 0
    shows: int = 0
    bad_pulses: int = 0
    stack_free: int = 0


class SentByte(NamedTuple):
    """A byte from the device, and when its last bit was out."""

    t_s: float
    byte: int


@cache
def missing() -> str | None:
    """Why images cannot be built and run here, with the remedy; None where they can."""
    tools = [tool for tool in ("cc", "make", "avr-gcc") if shutil.which(tool) is None]
    if not tools:
        for compiler, include in (("avr-gcc", "#include <avr/io.h>\n"), ("cc", _PROBE)):
            probe = [
                compiler,
                *(_SIMAVR if compiler == "cc" else ("-mmcu=atmega328p",)),
                "-fsyntax-only",
                "-x",
                "c",
                "-",
            ]
            if subprocess.run(probe, input=include, text=True, capture_output=True).returncode:
                tools.append(f"headers for {compiler}")
    if not tools:
        return None
    return f"The AVR simulation needs {', '.join(tools)}: install the packages {' '.join(PACKAGES)}"


def build_image(build: Build, program: str | None = None) -> Path:
    """An AVR's ELF file: the firmware, or another program round its core. Raises LinkError without the tools."""
    board = _BOARDS[build.mcu]
    other = () if program is None else (f"PROGRAM={program}",)
    return _built(f"grid-{board}.elf", _make(f"BOARD={board}", *other, *_settings(build)), _FIRMWARE)


def build_native(build: Build, program: str = "native/stepped.c", *, sanitized: bool = True) -> Path:
    """The core for this computer, in steps or with another program round it, under sanitizers unless told otherwise."""
    flags = () if sanitized else ("NATIVE_FLAGS=-O2",)
    command = _make("native", f"BOARD={_BOARDS[build.mcu]}", f"NATIVE={program}", *flags, *_settings(build))
    return _built("native", command, _FIRMWARE)


def build_harness() -> Path:
    """The program that runs images in simavr."""

    def command(out: Path) -> list[str]:
        warnings = ("-std=gnu99", "-Wall", "-Wextra", "-Werror")
        return ["cc", "-O2", *warnings, *_SIMAVR, str(_HARNESS), "-o", str(out / "harness"), "-lsimavr", "-lelf"]

    return _built("harness", command, _HARNESS.parent)


def _settings(build: Build) -> tuple[str, ...]:
    return (
        f"ROWS={build.rows}",
        f"COLUMNS={build.columns}",
        f"MAX_MA={build.max_ma}",
        f"SENSOR_KIND={build.sensor_kind.name}",
        f"ACTIVE_LOW={int(build.active_low)}",
        f"FLAGS={_FLAGS}",
    )


def _make(*words: str) -> Callable[[Path], list[str]]:
    return lambda out: ["make", "-s", "-C", str(_FIRMWARE), f"OUT={out}", *words]


def _built(name: str, command: Callable[[Path], list[str]], sources: Path) -> Path:
    """The named file, built if it never was from these sources by this command."""
    texts = [path.read_bytes() for path in sorted(sources.rglob("*")) if path.is_file()]
    key = hashlib.sha256("\0".join(command(Path())).encode() + b"\0".join(texts)).hexdigest()[:24]
    kept = user_cache_path("board-companion") / "firmware" / key
    if not (kept / name).exists():
        reason = missing()
        if reason is not None:
            raise LinkError(reason)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            out = Path(scratch) / "out"
            out.mkdir()
            done = subprocess.run(command(out), text=True, capture_output=True)
            if done.returncode:
                raise LinkError(f"The firmware cannot be built: {done.stderr.strip()}")
            try:
                os.rename(out, kept)
            except OSError:
                # Another process was first: what it built is the same.
                if not (kept / name).exists():
                    raise
    return kept / name


class _Running:
    """A simulator's process, and the commands that both kinds of board have."""

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def _start(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def _ask(self, command: str) -> str:
        """The answer to one command. Raises RuntimeError where the simulator has ended."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the simulated board is not running")
        with self._lock:
            try:
                process.stdin.write(command + "\n")
                process.stdin.flush()
                answer = process.stdout.readline().strip()
            except BrokenPipeError:
                answer = ""
        if answer == "unknown command":
            raise ValueError(command)
        if not answer:
            raise RuntimeError(f"the simulated board ended with code {process.wait()}")
        return answer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            process.communicate()

    def set_sensor(self, index: int, occupied: bool) -> None:
        """A piece comes to lie on the cell, or is taken off."""
        if not 0 <= index < self._cells:
            raise IndexError(f"there is no cell {index} of {self._cells}")
        self._ask(f"sensor {index} {int(occupied)}")

    def leds(self) -> tuple[Rgb, ...] | None:
        """What was last written to the LEDs; None before anything was."""
        shows, _, *hexes = self._ask("leds").split()
        data = bytes.fromhex(hexes[0]) if hexes else b""
        return tuple(Rgb(*data[at : at + 3]) for at in range(0, len(data), 3)) if int(shows) else None

    def reset(self) -> None:
        """Presses the reset button: the EEPROM stays, all else begins anew."""
        self._ask("reset")

    def counters(self) -> Counters:
        """What was counted so far."""
        told = dict(pair.split("=") for pair in self._ask("counters").split())
        return Counters(**{field.name: int(told[field.name]) for field in fields(Counters) if field.name in told})

    def time_s(self) -> float:
        """Simulated time since the board was switched on."""
        return self.counters().cycles / HZ


def _harness_command(build: Build, uid: bytes | None, mode: str, program: str | None = None) -> list[str]:
    known = uid.hex() if uid is not None else "none"
    image = str(build_image(build, program))
    return [str(build_harness()), image, build.mcu, str(build.cells), known, str(int(build.active_low)), mode]


class AvrBoard(_Running):
    """A board behind a pty, in real time. `port` is the pty's path. Without a uid it makes itself one, in a second.

    `auto_reset`: opening the port resets the board, as most Arduinos are wired.
    """

    def __init__(self, mcu: Mcu | Build = "atmega328p", *, uid: bytes | None = UID, auto_reset: bool = False) -> None:
        self.build = mcu if isinstance(mcu, Build) else {"atmega328p": UNO, "atmega2560": MEGA}[mcu]
        super().__init__(self.build.cells)
        self._uid = uid
        self._auto_reset = auto_reset
        self.port = ""

    def __enter__(self) -> Self:
        """Starts it. Raises LinkError where the tools are missing."""
        self._start(_harness_command(self.build, self._uid, "pty"))
        self.port = _ready(self._process)
        if self._auto_reset:
            self._ask("auto-reset 1")
        return self

    def unplug(self) -> None:
        """Takes it off the computer, and so off its power; the port is gone."""
        self._ask("unplug")
        self.port = ""

    def plug(self) -> str:
        """Puts it back, under another name than before; it starts anew. Returns the port."""
        self.port = self._ask("plug")
        return self.port


class SteppedBoard(_Running):
    """A board whose clock stands still between calls. `run` and `run_to_frame` return what was sent meanwhile."""

    def __init__(self, command: Callable[[], list[str]], cells: int, *, waits: bool) -> None:
        super().__init__(cells)
        self._command = command
        self._waits = waits

    @classmethod
    def avr(cls, build: Build = UNO, *, uid: bytes | None = UID, program: str | None = None) -> Self:
        """The AVR image in simavr. Bytes take their time on the line."""
        return cls(lambda: _harness_command(build, uid, "steps", program), build.cells, waits=True)

    @classmethod
    def native(cls, build: Build = UNO, *, sanitized: bool = True) -> Self:
        """The core on this computer. Bytes to it take no time, and arrive at any speed."""
        return cls(lambda: [str(build_native(build, sanitized=sanitized))], build.cells, waits=False)

    def __enter__(self) -> Self:
        """Starts it. Raises LinkError where the tools are missing."""
        self._start(self._command())
        if self._waits:
            _ready(self._process)
        return self

    def send(self, data: bytes) -> None:
        """The host sends these bytes from now on, one after the other."""
        if data:
            self._ask(f"send {data.hex()}")

    def set_host_baud(self, baud: int) -> None:
        """The speed of the host's end of the line."""
        self._ask(f"baud {baud}")

    def run(self, seconds: float) -> tuple[SentByte, ...]:
        """Lets time pass: these seconds, to the next cycle."""
        return self._sent(f"run {math.ceil(seconds * HZ)}")

    def run_to_frame(self, longest_s: float) -> tuple[SentByte, ...]:
        """Lets time pass until the device has sent the end of a frame."""
        return self._sent(f"frame {math.ceil(longest_s * HZ)}")

    def _sent(self, command: str) -> tuple[SentByte, ...]:
        _, *pairs = self._ask(command).split()
        parted = (pair.split(":") for pair in pairs)
        return tuple(SentByte(int(cycles) / HZ, int(byte, 16)) for cycles, byte in parted)


def _ready(process: subprocess.Popen[str] | None) -> str:
    """What the harness says when it is ready: the pty's path. simavr tells of the image before."""
    assert process is not None
    assert process.stdout is not None
    for line in process.stdout:
        word, _, rest = line.strip().partition(" ")
        if word == "ready":
            return rest
    raise LinkError(f"The AVR simulation ended with code {process.wait()}")
