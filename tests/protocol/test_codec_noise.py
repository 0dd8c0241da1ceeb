"""Millions of frames over a line with noise: many are lost, not one arrives as what was not sent."""

import random
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from firmware_protocol.codec import Decoder, Frame, encode, encode_raw
from firmware_protocol.messages import (
    MAX_PAYLOAD,
    Ack,
    Bitmap,
    CellColour,
    Colour,
    Config,
    Event,
    Fill,
    Format,
    Heartbeat,
    Hello,
    Info,
    LedKind,
    Message,
    Nak,
    Palette,
    Ping,
    Sense,
    SensorKind,
    SetBaud,
    SetCells,
    SetRange,
    Show,
    Status,
)

SEED = 20_261_130
BATCH = 256 * 64
"""Frames that are sent in a row; their numbers run from 0 to 255 again and again."""


def sent_message(rng: random.Random) -> Message:
    """Any message, in the sizes that occur: many short ones, some that fill a frame."""

    def byte() -> int:
        # Zeros and ones are what LED data is full of.
        return rng.choice((0, 0, 1, 255, rng.randrange(256)))

    def word() -> int:
        return rng.randrange(2**16)

    match rng.randrange(17):
        case 0:
            return Hello(1, byte())
        case 1:
            return SetCells(tuple(CellColour(word(), byte(), byte(), byte()) for _ in range(rng.randrange(1, 8))))
        case 2:
            return SetRange(word(), Format.RGB, bytes(byte() for _ in range(3 * rng.choice((1, 2, 8, 81)))))
        case 3:
            return SetRange(word(), Format.PALETTE_4, rng.randbytes(rng.choice((4, 32, 128))))
        case 4:
            return Palette(0, tuple(Colour(byte(), byte(), byte()) for _ in range(rng.choice((1, 16)))))
        case 5:
            return Fill(byte(), byte(), byte())
        case 6:
            return Show()
        case 7:
            return Sense()
        case 8:
            return Config(byte(), word(), byte(), byte())
        case 9:
            return SetBaud(rng.randrange(2**32))
        case 10:
            return Ping()
        case 11:
            return Info(1, 0, 1, 0, rng.randbytes(8), word(), 8, 8, LedKind.RGB, SensorKind.REED, 64, 256, 500, 1)
        case 12:
            return Ack(rng.choice((Status.OK, Status.REPEATED)))
        case 13:
            return Nak(Status.BAD_VALUE)
        case 14:
            return Bitmap(word(), rng.randbytes(rng.choice((8, 32))))
        case 15:
            return Heartbeat(rng.randrange(2**32), word(), word(), rng.randrange(2**32), byte(), byte())
        case _:
            return Event(word(), rng.randrange(2**32), word(), rng.randrange(2))


@cache
def a_batch(seed: int) -> tuple[list[Frame], bytes]:
    rng = random.Random(seed)
    frames = [Frame(n % 256, sent_message(rng)) for n in range(BATCH)]
    return frames, b"".join(encode(frame.message, frame.seq) for frame in frames)


def accepted(decoder: Decoder, on_the_wire: bytes, sent: list[Frame], rng: random.Random) -> int:
    """How many of these frames arrive; fails at the first that was not sent, or not in this order."""
    at, count, next_ = 0, 0, 0
    while at < len(on_the_wire):
        size = rng.randrange(1, 65_536)
        for frame in decoder.feed(on_the_wire[at : at + size]):
            # The first one with this number that has not arrived yet.
            next_ += (frame.seq - next_) % 256
            assert next_ < len(sent), f"{frame} was not sent"
            assert frame == sent[next_], f"{frame} was not sent"
            next_ += 1
            count += 1
        at += size
    return count


def run(frames: int, damage, seed: int = SEED) -> None:
    """Sends so many frames, each batch damaged anew, and prints what became of them."""
    print(f"seed {seed}")
    rng = random.Random(seed)
    noise = np.random.default_rng(seed)
    sent, clean = a_batch(SEED)
    wire = np.frombuffer(clean, np.uint8)
    arrived = total = 0
    for _ in range(-(-frames // BATCH)):
        decoder = Decoder()
        arrived += accepted(decoder, damage(wire, noise).tobytes(), sent, rng)
        total += BATCH
    print(f"{total:,} frames of {len(clean) / BATCH:.0f} bytes: {arrived:,} arrived, {total - arrived:,} lost, 0 wrong")
    assert 0.2 * total < arrived < 0.95 * total


def corrupted(wire: np.ndarray, noise: np.random.Generator) -> np.ndarray:
    """Each byte becomes any other, at 1 %."""
    damaged = wire.copy()
    at = np.flatnonzero(noise.random(len(wire), np.float32) < 0.01)
    damaged[at] ^= noise.integers(1, 256, len(at), np.uint8)
    return damaged


def flipped(wire: np.ndarray, noise: np.random.Generator) -> np.ndarray:
    """One bit of a byte flips, at 1 %."""
    damaged = wire.copy()
    at = np.flatnonzero(noise.random(len(wire), np.float32) < 0.01)
    damaged[at] ^= (1 << noise.integers(0, 8, len(at))).astype(np.uint8)
    return damaged


def lost(wire: np.ndarray, noise: np.random.Generator) -> np.ndarray:
    """A byte is lost, at 1 %."""
    return wire[noise.random(len(wire), np.float32) >= 0.01]


def doubled(wire: np.ndarray, noise: np.random.Generator) -> np.ndarray:
    """A byte comes twice, at 1 %."""
    return np.repeat(wire, 1 + (noise.random(len(wire), np.float32) < 0.01))


def zeroed(wire: np.ndarray, noise: np.random.Generator) -> np.ndarray:
    """A byte becomes zero, which ends a frame, at 1 %."""
    return np.where(noise.random(len(wire), np.float32) < 0.01, np.uint8(0), wire)


def run_on_two_cores(frames: int, damage) -> None:
    """The same, one half of it in another process."""
    half = frames // 2
    command = [sys.executable, __file__, str(half), damage.__name__, str(SEED + 1)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        run(half, damage)
        told, _ = other.communicate()
    print(told)
    assert other.returncode == 0
    assert "0 wrong" in told


def test_two_million_frames_with_one_percent_of_bytes_corrupted():
    run_on_two_cores(2_000_000, corrupted)


@pytest.mark.parametrize("damage", [flipped, lost, doubled, zeroed], ids=lambda damage: damage.__name__)
def test_other_damage(damage):
    run(50_000, damage)


@pytest.mark.long
@pytest.mark.parametrize("damage", [corrupted, flipped], ids=lambda damage: damage.__name__)
def test_twenty_million_frames(damage):
    run_on_two_cores(20_000_000, damage)


def test_a_wrong_frame_would_be_seen():
    sent, clean = a_batch(SEED)
    forged = encode_raw(Fill.TYPE, sent[40].seq, b"\1\2\3")
    with pytest.raises(AssertionError, match="was not sent"):
        accepted(Decoder(), b"".join(encode(f.message, f.seq) for f in sent[:40]) + forged, sent, random.Random(1))
    with pytest.raises(AssertionError, match="was not sent"):
        accepted(Decoder(), clean + clean[:4000], sent, random.Random(1))
    assert max(len(encode(frame.message, 0)) for frame in sent) > MAX_PAYLOAD - 10


if __name__ == "__main__":
    run(int(sys.argv[1]), {"corrupted": corrupted, "flipped": flipped}[sys.argv[2]], int(sys.argv[3]))
