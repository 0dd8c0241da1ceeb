"""What the firmware achieves on the simulated AVRs, in simulated time: the same on every computer, under any load."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from firmware_protocol.codec import Decoder, Frame, Unreadable, encode
from firmware_protocol.driver import Rgb
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.leds import FRAME_BYTES
from firmware_protocol.messages import (
    BAUD,
    DEBOUNCE_MS,
    Ack,
    CellColour,
    Event,
    Fill,
    Format,
    Hello,
    Info,
    Message,
    Ping,
    SetBaud,
    SetCells,
    SetRange,
    Show,
    pack,
)
from hardware_sims.avr import MEGA, UNO, Build, Counters, SteppedBoard

_BITS_A_BYTE = 10
_CELLS_A_FRAME = 64
_ANSWER_S = 0.1
_HELLOS = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """A frame from the device, and when its last byte was out."""

    t_s: float
    frame: Frame


class Host:
    """The least that a host does, without a moment's delay: so what is measured is the device."""

    def __init__(self, board: SteppedBoard) -> None:
        self.board = board
        self._decoder = Decoder()
        self._seqs: Iterator[int] = count(1)

    def greet(self, baud: int = BAUD) -> Info:
        """Says HELLO until INFO comes, and changes to this speed."""
        for _ in range(_HELLOS):
            self.send(Hello(1, 1))
            for answered in self.listen(_ANSWER_S):
                if isinstance(answered.frame.message, Info):
                    if baud != BAUD:
                        assert self.ask(SetBaud(baud))
                        # The last bits of the ACK are under way yet.
                        self.board.run(0.001)
                        self.board.set_host_baud(baud)
                    return answered.frame.message
        raise AssertionError("the device did not answer HELLO")

    def send(self, message: Message) -> tuple[int, int]:
        """Sends it; its sequence number and its frame's bytes."""
        seq = next(self._seqs) % 256
        frame = encode(message, seq)
        self.board.send(frame)
        return seq, len(frame)

    def listen(self, longest_s: float = _ANSWER_S) -> tuple[Answered, ...]:
        """The frames that ended when the next one did, or when this time was over."""
        found = []
        for t_s, byte in self.board.run_to_frame(longest_s):
            found += [Answered(t_s, frame) for frame in self._decoder.feed(bytes((byte,)))]
        return tuple(found)

    def ask(self, message: Message) -> bool:
        """Sends it, once; whether it was acknowledged."""
        seq, _ = self.send(message)
        return any(_is_ack(answered, seq) for answered in self._until(_ANSWER_S))

    def _until(self, longest_s: float) -> Iterator[Answered]:
        end_s = self.board.time_s() + longest_s
        while self.board.time_s() < end_s:
            yield from self.listen(end_s - self.board.time_s())


class SteppedPort:
    """A stepped board behind a port, as the link has it; notes when SHOW goes out and how much went before."""

    def __init__(self, board: SteppedBoard) -> None:
        self.board = board
        self.show_s = 0.0
        self.sent_bytes = 0
        self._decoder = Decoder()

    def read(self, wait_s: float) -> bytes:
        return bytes(byte for _, byte in self.board.run_to_frame(max(wait_s, 1e-6)))

    def write(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            if isinstance(frame.message, Show):
                self.show_s = self.board.time_s()
            elif not isinstance(frame.message, Unreadable):
                self.sent_bytes += FRAME_BYTES + len(pack(frame.message))
        self.board.send(data)

    def set_baud(self, baud: int) -> None:
        self.board.set_host_baud(baud)

    def wake(self) -> None:
        """Nobody waits."""

    def close(self) -> None:
        """Nothing to give back."""


def _is_ack(answered: Answered, seq: int) -> bool:
    return answered.frame.seq == seq and isinstance(answered.frame.message, Ack)


def picture_share(baud: int = BAUD, *, pictures: int = 8, seed: int = 0) -> float:
    """How much of what the wire allows this program's driver reaches on the ATmega2560, from a picture of 256 colours
    being wanted to its SHOW, which waits for the last ACK."""
    rng = random.Random(seed)
    ideal_s = took_s = 0.0
    with SteppedBoard.avr(MEGA) as board:
        port = SteppedPort(board)
        exchange = Exchange(port, GridDriver((MEGA.rows, MEGA.columns), baud=baud), clock=board.time_s)
        while not exchange.round():
            pass
        for _ in range(pictures):
            exchange.driver.want(tuple(Rgb(*rng.randbytes(3)) for _ in range(MEGA.cells)))
            began_s, port.show_s, port.sent_bytes = board.time_s(), 0.0, 0
            while not port.show_s:
                exchange.round()
            took_s += port.show_s - began_s
            ideal_s += port.sent_bytes * _BITS_A_BYTE / baud
            # The LEDs are written, and acknowledged, before the next picture is wanted.
            rest_s = board.time_s() + _ANSWER_S
            while board.time_s() < rest_s:
                exchange.round()
    return ideal_s / took_s


def led_upload_share(baud: int = BAUD, *, windowed: bool = True, uploads: int = 8, seed: int = 0) -> float:
    """How much of what the wire allows 256 colours reach on the ATmega2560, from the first byte to the last ACK.

    The wire allows the frames' own bytes, one after the other. SHOW is left out, heartbeats are not.
    """
    rng = random.Random(seed)
    ideal_s = took_s = 0.0
    with SteppedBoard.avr(MEGA) as board:
        host = Host(board)
        info = host.greet(baud)
        window = info.rx_window if windowed else 0
        for _ in range(uploads):
            began_s = board.time_s()
            size, ended_s = _upload(host, rng, window)
            ideal_s += size * _BITS_A_BYTE / baud
            took_s += ended_s - began_s
    return ideal_s / took_s


def _upload(host: Host, rng: random.Random, window: int) -> tuple[int, float]:
    """Paints every cell; the bytes that it took, and when the last ACK was there. A window of 0: one at a time."""
    waiting = [
        SetRange(first, Format.RGB, rng.randbytes(3 * _CELLS_A_FRAME)) for first in range(0, MEGA.cells, _CELLS_A_FRAME)
    ]
    under_way: dict[int, int] = {}
    size, ended_s = 0, 0.0
    while waiting or under_way:
        while waiting and (not under_way or sum(under_way.values()) + len(encode(waiting[0], 1)) <= window):
            seq, frame_size = host.send(waiting.pop(0))
            under_way[seq] = frame_size
            size += frame_size
        answers = host.listen()
        assert answers, "a frame was lost"
        for answered in answers:
            if _is_ack(answered, answered.frame.seq):
                del under_way[answered.frame.seq]
                ended_s = answered.t_s
    return size, ended_s


def event_delays_ms(build: Build = UNO, *, changes: int = 300, seed: int = 0) -> tuple[float, ...]:
    """From a sensor's change to the last byte of its event, less the debounce time, in ascending order."""
    rng = random.Random(seed)
    delays = []
    with SteppedBoard.avr(build) as board:
        host = Host(board)
        host.greet()
        occupied = [False] * build.cells
        for _ in range(changes):
            board.run(rng.uniform(0.005, 0.015))
            cell = rng.randrange(build.cells)
            occupied[cell] = not occupied[cell]
            changed_s = board.time_s()
            board.set_sensor(cell, occupied[cell])
            delays.append((_event_s(host, cell) - changed_s) * 1000 - DEBOUNCE_MS)
    return tuple(sorted(delays))


def _event_s(host: Host, cell: int) -> float:
    for _ in range(_HELLOS):
        for answered in host.listen():
            if isinstance(answered.frame.message, Event) and answered.frame.message.index == cell:
                return answered.t_s
    raise AssertionError(f"no event came for cell {cell}")


def lost_under_shows(build: Build = MEGA, *, shows: int = 200, seed: int = 0) -> tuple[int, Counters]:
    """How many frames got no answer at the first try while LEDs are shown, sensors change, and the host hurries."""
    rng = random.Random(seed)
    lost = 0
    with SteppedBoard.avr(build) as board:
        host = Host(board)
        host.greet()
        for _ in range(shows):
            board.set_sensor(rng.randrange(build.cells), rng.random() < 0.5)
            cells = tuple(CellColour(rng.randrange(build.cells), *rng.randbytes(3)) for _ in range(4))
            for message in (SetCells(cells), Show(), Ping(), Fill(*rng.randbytes(3))):
                lost += not host.ask(message)
        return lost, board.counters()
