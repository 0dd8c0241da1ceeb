"""What the simulated monome grid and LED strips do behind each port: as their firmware does, good and bad."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pytest

from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.link import Port, open_port
from firmware_protocol.messages import BAUD
from hardware_sims.device import Device
from hardware_sims.monome import MonomeGrid
from hardware_sims.ports import InProcess, PtyPort, TcpPort
from hardware_sims.sensors import Bounce
from hardware_sims.strip import Strip, StripFirmware

ANSWER_S = 5.0
WIDE = (8, 16)


class Talk:
    """A host at a port, and the far side of the device behind it."""

    def __init__(self, port: Port, far: InProcess | PtyPort | TcpPort, now_s: Callable[[], float]) -> None:
        self.port = port
        self.now_s = now_s
        self.call = far.call
        self.set_sensor = far.set_sensor
        self.reboot = far.reboot
        self.received = b""

    def listen(self, s: float, until: Callable[[], bool] = lambda: False) -> bytes:
        """All that has come, after so many seconds or when the condition holds."""
        end_s = self.now_s() + s
        while not until() and (left_s := end_s - self.now_s()) > 0:
            self.received += self.port.read(left_s)
        return self.received

    def ask(self, data: bytes, length: int) -> bytes:
        """So many bytes of answer to these bytes."""
        self.received = b""
        self.port.write(data)
        self.listen(ANSWER_S, lambda: len(self.received) >= length)
        return self.received

    def ask_line(self, data: bytes) -> bytes:
        """A line of answer to these bytes."""
        self.received = b""
        self.port.write(data)
        return self.listen(ANSWER_S, lambda: self.received.endswith(b"\n"))

    def tell(self, data: bytes, seen: Callable[[Device], bool]) -> None:
        """Sends what is not answered, and waits until it is to be seen."""
        self.port.write(data)
        end_s = self.now_s() + ANSWER_S
        while not self.call(lambda device, _: seen(device)):
            assert self.now_s() < end_s, f"not seen within {ANSWER_S} s"
            self.listen(0.005)


@contextmanager
def in_process(device: Device) -> Iterator[Talk]:
    port = InProcess(device, baud=BAUD)
    yield Talk(port, port, lambda: port.now_s)


@contextmanager
def on_a_pty(device: Device) -> Iterator[Talk]:
    with PtyPort(device) as far, closing(open_port(far.path, BAUD)) as port:
        yield Talk(port, far, time.monotonic)


@contextmanager
def over_tcp(device: Device) -> Iterator[Talk]:
    with TcpPort(device) as far, closing(open_port(far.url, BAUD)) as port:
        yield Talk(port, far, time.monotonic)


PORTS = {"in-process": in_process, "pty": on_a_pty, "tcp": over_tcp}
Opener = Callable[[Device], AbstractContextManager[Talk]]


@pytest.fixture(params=PORTS)
def opened(request) -> Opener:
    return PORTS[request.param]


# monome


def monome_levels(columns: int, rows: int, lit: dict[tuple[int, int], int]) -> tuple[int, ...]:
    return tuple(lit.get((x, y), 0) for y in range(rows) for x in range(columns))


def block(x: int, y: int) -> dict[tuple[int, int], int]:
    """A level for each cell of an 8 x 8 block, no two rows or columns alike."""
    return {(x + column, y + row): (3 * row + 5 * column) % 16 for row in range(8) for column in range(8)}


def nibbles(levels: list[int]) -> bytes:
    return bytes(high << 4 | low for high, low in zip(levels[::2], levels[1::2], strict=True))


ROW = [1, 2, 3, 4, 5, 6, 7, 8]
MONOME_LIGHT = {
    "one on": (b"\x11\x03\x02", {(3, 2): 15}),
    "one off": (b"\x13\x10\x03\x02", {(x, y): 15 for x in range(16) for y in range(8) if (x, y) != (3, 2)}),
    "all on": (b"\x13", {(x, y): 15 for x in range(16) for y in range(8)}),
    "all off": (b"\x13\x12", {}),
    "a block of bits": (b"\x14\x08\x00" + bytes(1 << n for n in range(8)), {(8 + n, n): 15 for n in range(8)}),
    "a row of bits": (b"\x15\x08\x05\x81", {(8, 5): 15, (15, 5): 15}),
    "a column of bits": (b"\x16\x0e\x00\x41", {(14, 0): 15, (14, 6): 15}),
    "a level": (b"\x18\x0f\x07\x09", {(15, 7): 9}),
    "all at a level": (b"\x19\x04", {(x, y): 4 for x in range(16) for y in range(8)}),
    "a block of levels": (b"\x1a\x08\x00" + nibbles(list(block(0, 0).values())), block(8, 0)),
    "an offset is floored to a block": (b"\x1a\x0b\x05" + nibbles(list(block(0, 0).values())), block(8, 0)),
    "a row of levels": (b"\x1b\x00\x03" + nibbles(ROW), {(n, 3): level for n, level in enumerate(ROW)}),
    "a column of levels": (b"\x1c\x02\x00" + nibbles(ROW), {(2, n): level for n, level in enumerate(ROW)}),
    "less of all": (b"\x13\x17\x05", {(x, y): 5 for x in range(16) for y in range(8)}),
    "outside of the grid": (b"\x18\x10\x00\x09\x18\x00\x08\x09\x18\x01\x01\x02", {(1, 1): 2}),
    "an unknown opcode before": (b"\x77\x18\x01\x01\x02", {(1, 1): 2}),
}


@pytest.mark.parametrize("command", MONOME_LIGHT)
def test_a_monome_shows_what_it_is_told(opened, command):
    data, lit = MONOME_LIGHT[command]
    with opened(MonomeGrid(*WIDE)) as talk:
        talk.tell(data, lambda grid: grid.levels == monome_levels(16, 8, lit))


def test_a_monome_says_who_it_is(opened):
    with opened(MonomeGrid(*WIDE, name="m0000042")) as talk:
        assert talk.ask(b"\x01", 33) == b"\x01" + b"m0000042".ljust(32, b"\0")
        assert talk.ask(b"\x05", 3) == b"\x03\x10\x08"
        assert talk.ask(b"\x00", 6) == b"\x00\x01\x02\x00\x02\x02"
        assert talk.ask(b"\x03", 4) == b"\x02\x01\x00\x00"
        assert talk.ask(b"\x0f", 9)[:1] == b"\x0f"
        assert talk.ask(b"\x02" + b"new".ljust(32, b"\0"), 33) == b"\x01" + b"new".ljust(32, b"\0")


def test_a_monome_tells_each_key_once(opened):
    with opened(MonomeGrid(*WIDE, sensor_faults=(Bounce(3.0),))) as talk:
        told = b""
        for x, y, down in ((0, 0, True), (15, 7, True), (0, 0, False), (9, 3, True), (15, 7, False)):
            talk.set_sensor(16 * y + x, down)
            told += bytes((0x21 if down else 0x20, x, y))
            assert talk.listen(ANSWER_S, lambda told=told: len(talk.received) >= len(told)) == told
        assert talk.listen(0.1) == told
        assert talk.call(lambda grid, _: sum(grid.occupied)) == 1


def test_a_monome_takes_commands_in_pieces(opened):
    data, lit = MONOME_LIGHT["a block of levels"]
    with opened(MonomeGrid(*WIDE)) as talk:
        for cut in range(1, len(data)):
            talk.port.write(b"\x12" + data[:cut])
            talk.listen(0.002)
            talk.tell(data[cut:], lambda grid: grid.levels == monome_levels(16, 8, lit))


def test_keys_are_told_while_the_lights_change(opened):
    with opened(MonomeGrid(*WIDE)) as talk:
        told = b""
        for n in range(40):
            talk.port.write(b"\x1a\x00\x00" + bytes(32) + b"\x18\x00\x00" + bytes((n % 16,)))
            talk.set_sensor(n, True)
            told += bytes((0x21, n % 16, n // 16))
        assert talk.listen(ANSWER_S, lambda: len(talk.received) >= len(told)) == told


def test_a_monome_that_starts_anew_is_dark_and_silent(opened):
    with opened(MonomeGrid(*WIDE)) as talk:
        talk.tell(b"\x13", lambda grid: sum(grid.levels) > 0)
        talk.set_sensor(3, True)
        talk.listen(ANSWER_S, lambda: len(talk.received) >= 3)
        talk.reboot()
        talk.received = b""
        assert talk.listen(0.1) == b""
        assert talk.call(lambda grid, _: sum(grid.levels)) == 0
        assert talk.ask(b"\x05", 3) == b"\x03\x10\x08"


# Strips

COLOURS = tuple(Rgb(n, 100 + n, 200 - n) for n in range(12))


def adalight(colours: tuple[Rgb, ...]) -> bytes:
    high, low = divmod(len(colours) - 1, 256)
    return b"Ada" + bytes((high, low, high ^ low ^ 0x55)) + bytes(level for colour in colours for level in colour)


def tpm2(colours: tuple[Rgb, ...]) -> bytes:
    data = bytes(level for colour in colours for level in colour)
    return b"\xc9\xda" + len(data).to_bytes(2, "big") + data + b"\x36"


def shows(colours: tuple[Rgb, ...]) -> Callable[[Strip], bool]:
    return lambda strip: strip.leds == colours


@pytest.fixture(params=StripFirmware, ids=lambda firmware: firmware.name.lower())
def strip(request) -> Strip:
    return Strip(12, request.param)


BEFORE = tuple(Rgb(1, 2, 3) for _ in range(12))
LAST = COLOURS[-1]
FRAMES = {
    "all": (adalight(COLOURS), COLOURS),
    "fewer than it has": (adalight(COLOURS[:5]), COLOURS[:5] + BEFORE[5:]),
    "one": (adalight(COLOURS[:1]), COLOURS[:1] + BEFORE[1:]),
    "more than it has": (adalight((*COLOURS, LAST, LAST)), COLOURS),
    "after noise": (b"\0xyz" + adalight(COLOURS), COLOURS),
    "after a header that is none": (b"Ada\x00\x0b\x00" + adalight(COLOURS), COLOURS),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_strip_shows_a_frame(opened, strip, frame):
    data, expected = FRAMES[frame]
    with opened(strip) as talk:
        talk.tell(adalight(BEFORE), shows(BEFORE))
        # An AVR does not hear while it writes its LEDs.
        talk.listen(0.01)
        talk.tell(data, shows(expected))


def test_a_frame_that_lost_bytes_spoils_the_next_but_not_the_one_after(opened, strip):
    with opened(strip) as talk:
        frame = adalight(COLOURS)
        for data in (frame[:20] + frame[22:], frame):
            talk.port.write(data)
            talk.listen(0.02)
        assert talk.call(lambda strip, _: strip.leds) != COLOURS
        talk.tell(frame, shows(COLOURS))


def test_an_adalight_strip_greets_while_nobody_speaks():
    with in_process(Strip(12, StripFirmware.ADALIGHT)) as talk:
        assert talk.listen(ANSWER_S, lambda: len(talk.received) >= 8) in (b"Ada\nAda\n", b"Ada\nAda\nAda\n")
        assert talk.call(lambda strip, _: strip.leds) == (DARK,) * 12


def test_wled_says_its_version_and_state(opened):
    with opened(Strip(12)) as talk:
        assert talk.ask(b"v", 14).startswith(b"WLED 2")
        told = talk.ask_line(b'{"v":true}')
        assert json.loads(told)["info"]["leds"]["count"] == 12
        talk.received = b""
        talk.port.write(b'{"on":true}{not json}')
        assert talk.listen(0.05) == b""


def test_wled_gives_its_colours_back(opened):
    with opened(Strip(12)) as talk:
        talk.tell(adalight(COLOURS), shows(COLOURS))
        assert talk.ask(b"L", 42) == tpm2(COLOURS) + b"\n"
        told = talk.ask_line(b"l")
        assert json.loads(told) == [red << 16 | green << 8 | blue for red, green, blue in COLOURS]


def test_wled_takes_tpm2(opened):
    with opened(Strip(12)) as talk:
        assert talk.ask(b"\xc9\xaa", 1) == b"\xac"
        talk.tell(tpm2(COLOURS), shows(COLOURS))


def test_wled_changes_its_speed():
    strip = Strip(12)
    port = InProcess(strip, baud=BAUD)
    talk = Talk(port, port, lambda: port.now_s)
    assert talk.ask(b"\xb6", 21) == b"Baud is now 1000000\r\n"
    assert talk.ask(b"v", 14)[:4] != b"WLED"
    port.set_baud(1_000_000)
    talk.listen(0.1)
    assert talk.ask(b"v", 14)[:4] == b"WLED"


def test_wled_goes_back_to_its_own_pattern():
    strip = Strip(12)
    port = InProcess(strip, baud=BAUD)
    pattern = strip.leds
    port.write(adalight(COLOURS))
    port.sleep(2.4)
    assert strip.leds == COLOURS
    port.sleep(0.2)
    assert strip.leds == pattern


def test_an_adalight_strip_goes_dark_when_nothing_comes():
    strip = Strip(12, StripFirmware.ADALIGHT)
    port = InProcess(strip, baud=BAUD)
    port.write(adalight(COLOURS))
    port.sleep(59.9)
    assert strip.leds == COLOURS
    port.sleep(0.2)
    assert strip.leds == (DARK,) * 12


def test_an_adalight_strip_loses_what_comes_while_it_writes_its_leds():
    strip = Strip(100, StripFirmware.ADALIGHT)
    port = InProcess(strip, baud=BAUD)
    other = tuple(Rgb(9, 9, 9) for _ in range(100))
    port.write(adalight(other) + adalight(COLOURS))
    port.sleep(0.2)
    assert strip.leds == other


def test_a_strip_has_no_sensors():
    with pytest.raises(ValueError, match="no sensors"):
        InProcess(Strip(12)).set_sensor(0, True)
