"""Whatever a device says, a driver goes on or refuses it with a LinkError: nothing else comes out of it."""

import random
from dataclasses import replace

import pytest

from firmware_protocol.codec import Decoder, Frame, encode, encode_raw
from firmware_protocol.driver import Driver, Rgb
from firmware_protocol.errors import LinkError
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import Ack, Bitmap, Event, Heartbeat, Info, LedKind, Nak, SensorKind, Status
from firmware_protocol.monome import MonomeDriver
from firmware_protocol.strip import AdalightDriver, WledDriver
from hardware_sims.board import Board
from hardware_sims.device import Device
from hardware_sims.monome import MonomeGrid
from hardware_sims.strip import Strip, StripFirmware

SEED = 20_261_130
SESSIONS, ROUNDS = 100, 80


def lie(frame: Frame, rng: random.Random) -> bytes:
    """A good frame that says something else."""
    message = frame.message
    match message:
        case Info():
            number = rng.randrange(256)
            message = rng.choice(
                (
                    replace(message, max_payload=number, rx_window=rng.choice((0, number, 2**16 - 1))),
                    replace(message, led_kind=rng.choice(tuple(LedKind)), sensor_kind=rng.choice(tuple(SensorKind))),
                    replace(message, rows=rng.choice((0, 1, number)), columns=rng.choice((0, 1, number))),
                    replace(message, boot_id=number),
                )
            )
        case Ack():
            message = rng.choice((Nak(rng.choice(tuple(Status))), Ack(rng.choice(tuple(Status)))))
        case Bitmap():
            message = Bitmap(rng.randrange(2**16), rng.randbytes(rng.choice((0, 1, 8, 9, 200))))
        case Event() | Heartbeat():
            message = rng.choice(
                (Event(rng.randrange(4), 0, rng.randrange(2**16), rng.randrange(2)), Heartbeat(0, 0, 9, 9, 0, 0))
            )
        case _:
            return encode_raw(rng.randrange(256), frame.seq, rng.randbytes(rng.randrange(40)))
    return encode(message, rng.choice((frame.seq, frame.seq, rng.randrange(256))))


def grid_says(data: bytes, rng: random.Random) -> bytes:
    frames = Decoder().feed(data)
    return b"".join(lie(frame, rng) if rng.random() < 0.04 else encode(frame.message, frame.seq) for frame in frames)


def anything(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.8:
        return data
    known = (
        b"WLED 1\r\n",
        b"\xc9\xda\0\3abc6\n",
        b"\3\x08\x08",
        b"\1" + b"m" * 32,
        b"\x21\3\4",
        b"\x20\xff\xff",
        b"Ada\n",
    )
    return data[: rng.randrange(len(data) + 1)] + rng.choice((*known, rng.randbytes(rng.randrange(40))))


KINDS = {
    "grid": (GridDriver, lambda seed: Board(8, 8, seed=seed), grid_says),
    "monome": (MonomeDriver, lambda seed: MonomeGrid(8, 8, seed=seed), anything),
    "wled": (WledDriver, lambda _: Strip(64), anything),
    "adalight": (AdalightDriver, lambda _: Strip(64, StripFirmware.ADALIGHT), anything),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_device_says_does_a_driver_no_harm(kind):
    make, device_of, says = KINDS[kind]
    print(f"seed {SEED}")
    refused = found = 0
    for session in range(SESSIONS):
        rng = random.Random(SEED + session)
        size_rc = rng.choice((None, (8, 8)))
        try:
            found += spoken_with(make(size_rc), device_of(session), says, rng)
        except LinkError:
            refused += 1
    print(f"{SESSIONS} sessions: {found} found their device, {refused} refused it")
    assert found > SESSIONS / 4


def spoken_with(driver: Driver, device: Device, says, rng: random.Random) -> bool:
    """Whether the device was found meanwhile."""
    now_s, is_found = 0.0, False
    driver.begin(now_s)
    for _ in range(ROUNDS):
        if rng.random() < 0.2:
            driver.want(tuple(Rgb(*rng.randbytes(3)) for _ in range(rng.choice((0, 1, 64, 300)))))
        if data := driver.to_send(now_s):
            device.receive(data, now_s)
        now_s += rng.choice((0.001, 0.005, 0.02, 0.1, 0.3))
        driver.feed(says(device.send(now_s), rng), now_s)
        if now_s >= driver.due_s():
            driver.tick(now_s)
        assert driver.traffic.frames_out >= 0
        is_found = is_found or driver.device is not None
    return is_found
