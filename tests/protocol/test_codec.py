"""Frames: what is sent arrives or is lost, and nothing else arrives, whatever the line does to it."""

import binascii
import random
import tracemalloc
from enum import IntFlag
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.codec import Decoder, Frame, Unreadable, encode, encode_raw
from firmware_protocol.errors import WireError
from firmware_protocol.messages import (
    MAX_PAYLOAD,
    MESSAGES,
    Ack,
    CellColour,
    Config,
    Event,
    Fill,
    Format,
    Hello,
    Info,
    LedKind,
    Ping,
    SensorKind,
    SetCells,
    SetRange,
    Show,
    Status,
    layout_of,
    pack,
    unpack,
)
from firmware_protocol.vectors import all_vectors

SEED = 20_261_130
NEXT = encode(Fill(0x11, 0x22, 0x33), 0x44)
NEXT_FRAME = Frame(0x44, Fill(0x11, 0x22, 0x33))


def values_of(field) -> st.SearchStrategy:
    if field.part is not None:
        size = layout_of(field.part).struct.size
        return st.lists(st.deferred(lambda: values(field.part)), max_size=(MAX_PAYLOAD - 4) // size).map(tuple)
    if field.wire.code == "":
        return st.binary(max_size=MAX_PAYLOAD - 3)
    if field.kind is bytes:
        return st.binary(min_size=8, max_size=8)
    if field.kind is not int:
        return st.integers(0, 3).map(field.kind) if issubclass(field.kind, IntFlag) else st.sampled_from(field.kind)
    return st.integers(0, 256 ** {"B": 1, "H": 2, "I": 4}[field.wire.code] - 1)


def values(kind) -> st.SearchStrategy:
    layout = layout_of(kind)
    fields = [*layout.fixed, *((layout.tail,) if layout.tail else ())]
    return st.builds(kind, *(values_of(field) for field in fields))


any_message = st.one_of([values(kind) for kind in MESSAGES])


# What a frame is


def frame_by_the_book(type_: int, seq: int, payload: bytes) -> bytes:
    """The frame by the words of docs/protocol.md: CRC-32 bit by bit, COBS by splitting at zeros."""
    body = bytes((type_, seq)) + payload
    check = 0xFFFFFFFF
    for byte in body:
        check ^= byte
        for _ in range(8):
            check = check >> 1 ^ (0xEDB88320 if check & 1 else 0)
    stuffed = b""
    parts = (body + (check ^ 0xFFFFFFFF).to_bytes(4, "little")).split(b"\0")
    for n, part in enumerate(parts):
        # A block of 254 bytes other than zero stands for itself alone.
        stuffed += bytes((len(part) + 1,)) + part
        assert len(part) < 254 or n == len(parts) - 1
    return b"\0" + stuffed + b"\0"


@given(type_=st.integers(0, 255), seq=st.integers(0, 255), payload=st.binary(max_size=MAX_PAYLOAD))
def test_a_frame_is_what_the_page_says(type_, seq, payload):
    assert encode_raw(type_, seq, payload) == frame_by_the_book(type_, seq, payload)


@given(message=any_message, seq=st.integers(0, 255), cuts=st.lists(st.integers(1, 40), max_size=30))
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(message, seq, cuts):
    decoder, frames, frame = Decoder(), [], encode(message, seq)
    assert frame.count(0) == 2
    for cut in cuts:
        frames += decoder.feed(frame[:cut])
        frame = frame[cut:]
    frames += decoder.feed(frame)
    assert frames == [Frame(seq, message)]
    assert (decoder.good_frames, decoder.bad_frames) == (1, 0)


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: type(vector.message).__name__)
def test_a_message_is_read_as_it_was_written(vector):
    assert unpack(vector.message.TYPE, pack(vector.message)) == vector.message


def test_zeros_between_frames_mean_nothing():
    decoder = Decoder()
    assert decoder.feed(b"\0\0\0" + NEXT + b"\0\0" + NEXT[1:] + b"\0") == [NEXT_FRAME, NEXT_FRAME]
    assert decoder.bad_frames == 0


TOO_MUCH = {
    "a level of 256": Fill(256, 0, 0),
    "a level below 0": Fill(0, -1, 0),
    "a fraction": Fill(0, 0.5, 0),
    "an index of three bytes": Event(0, 0, 65_536, 1),
    "a heartbeat beyond two bytes": Config(1, 65_536, 0, 0),
    "a uid of seven bytes": Info(1, 0, 0, 0, b"\1" * 7, 1, 8, 8, LedKind.RGB, SensorKind.HALL, 64, 64, 0, 0),
    "a uid of nine bytes": Info(1, 0, 0, 0, b"\1" * 9, 1, 8, 8, LedKind.RGB, SensorKind.HALL, 64, 64, 0, 0),
    "more cells than a frame carries": SetCells((CellColour(0, 0, 0, 0),) * 50),
    "more bytes than a frame carries": SetRange(0, Format.RGB, bytes(246)),
}


@pytest.mark.parametrize("message", TOO_MUCH)
def test_what_no_frame_can_carry_is_not_encoded(message):
    with pytest.raises(WireError):
        encode(TOO_MUCH[message], 0)


UNREADABLE = {
    "a type that the table does not have": (0x7F, b"abc"),
    "a payload that is too short": (Hello.TYPE, b"\1"),
    "a payload that is too long": (Show.TYPE, b"\0"),
    "no whole number of parts": (SetCells.TYPE, bytes(7)),
    "a value that is no choice": (Ack.TYPE, b"\x63"),
    "a range in a format that is none": (SetRange.TYPE, b"\0\0\x09"),
}


@pytest.mark.parametrize("frame", UNREADABLE)
def test_a_whole_frame_that_is_not_in_the_table_is_handed_on(frame):
    type_, payload = UNREADABLE[frame]
    (found,) = Decoder().feed(encode_raw(type_, 7, payload))
    assert isinstance(found.message, Unreadable)
    assert (found.seq, found.message.type, found.message.payload) == (7, type_, payload)
    assert found.message.why


# What the line does to it


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: type(vector.message).__name__)
def test_a_frame_with_any_bit_flipped_is_rejected_and_the_next_accepted(vector):
    for at in range(len(vector.frame)):
        for bit in range(8):
            damaged = bytearray(vector.frame)
            damaged[at] ^= 1 << bit
            decoder = Decoder()
            assert decoder.feed(NEXT + bytes(damaged) + NEXT) == [NEXT_FRAME, NEXT_FRAME], (at, bit)
            assert decoder.bad_frames >= 1


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: type(vector.message).__name__)
def test_a_frame_cut_anywhere_is_rejected_and_the_next_accepted(vector):
    for at in range(1, len(vector.frame) - 1):
        assert Decoder().feed(vector.frame[:at] + NEXT) == [NEXT_FRAME], at
        assert Decoder().feed(NEXT + vector.frame[at + 1 :] + NEXT) == [NEXT_FRAME, NEXT_FRAME], at


@pytest.mark.parametrize("vector", all_vectors(), ids=lambda vector: type(vector.message).__name__)
def test_a_frame_with_any_byte_lost_or_doubled_is_rejected(vector):
    for at in range(1, len(vector.frame) - 1):
        for wrong in (b"", vector.frame[at : at + 1] * 2):
            assert Decoder().feed(vector.frame[:at] + wrong + vector.frame[at + 1 :] + NEXT) == [NEXT_FRAME], at


def test_the_longest_frame_is_taken_and_a_longer_one_is_not():
    longest = encode_raw(0x7F, 1, bytes(range(1, MAX_PAYLOAD + 1)))
    assert [frame.seq for frame in Decoder().feed(longest)] == [1]
    longer = encode_raw(0x7F, 1, bytes(range(1, MAX_PAYLOAD + 2)))
    assert Decoder().feed(longer + NEXT) == [NEXT_FRAME]


def test_bytes_behind_the_longest_frame_are_not_forgotten():
    longest = encode_raw(0x7F, 1, bytes(range(1, MAX_PAYLOAD + 1)))
    for size in (1, 2, 300):
        decoder = Decoder()
        assert decoder.feed(longest[:-1] + b"\1" * size) == []
        assert decoder.feed(b"\0") == []
        assert decoder.feed(NEXT) == [NEXT_FRAME]
        assert decoder.bad_frames == 1


def test_a_device_with_less_room_takes_less():
    decoder = Decoder(max_payload=64)
    assert [frame.seq for frame in decoder.feed(encode_raw(0x7F, 1, bytes(64)))] == [1]
    assert decoder.feed(encode_raw(0x7F, 1, bytes(65)) + NEXT) == [NEXT_FRAME]
    assert decoder.bad_frames == 1


def test_crc_32_finds_damage_that_crc_16_does_not():
    # CRC-16 with the polynomial x16 + x12 + x5 + 1 is blind to its own multiples: the damage is one.
    payload = bytes(range(0x40, 0x70))
    body = bytes((SetRange.TYPE, 9)) + payload
    damage = bytes((0x01, 0x10, 0x21)).rjust(20, b"\0").ljust(len(body), b"\0")
    damaged = bytes(one ^ other for one, other in zip(body, damage, strict=True))
    assert damaged != body
    assert binascii.crc_hqx(damaged, 0xFFFF) == binascii.crc_hqx(body, 0xFFFF)
    assert crc32(damaged) != crc32(body)
    frame = encode_raw(body[0], body[1], body[2:])
    on_the_wire = bytearray(frame)
    for at, byte in enumerate(damage, start=frame.index(body[:8])):
        on_the_wire[at] ^= byte
    assert 0 not in on_the_wire[1:-1]
    assert Decoder().feed(bytes(on_the_wire) + NEXT) == [NEXT_FRAME]


# What is no frame at all


def random_input(rng: random.Random) -> bytes:
    """Bytes of every sort: noise, noise with many zeros, cut and damaged frames, endless ones."""
    sort = rng.randrange(6)
    if sort == 0:
        return rng.randbytes(rng.randrange(80))
    if sort == 1:
        return bytes(rng.choice((0, 0, 1, 2, 3, 255, rng.randrange(256))) for _ in range(rng.randrange(40)))
    if sort == 2:
        return bytes((rng.randrange(1, 256),)) * rng.randrange(600)
    frame = bytearray(encode_raw(rng.randrange(256), rng.randrange(256), rng.randbytes(rng.randrange(30))))
    if sort == 3:
        return bytes(frame[rng.randrange(len(frame)) :])
    if sort == 4:
        return bytes(frame[: rng.randrange(len(frame))])
    for _ in range(rng.randrange(1, 4)):
        frame[rng.randrange(len(frame))] = rng.randrange(256)
    return bytes(frame)


def test_no_input_does_any_harm():
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    decoder = Decoder()
    for n in range(200_000):
        noise = random_input(rng)
        assert decoder.feed(noise + NEXT)[-1:] == [NEXT_FRAME], (n, noise)


def test_memory_does_not_grow_with_what_is_fed():
    decoder = Decoder()
    noise = random.Random(SEED).randbytes(65_536).replace(b"\0", b"\1")
    decoder.feed(noise)
    tracemalloc.start()
    try:
        for _ in range(100):
            decoder.feed(noise)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4_096
    assert decoder.feed(NEXT) == [NEXT_FRAME]
    assert decoder.bad_frames == 1


def test_status_tells_a_refusal_from_what_was_done():
    assert [status for status in Status if status < 16] == [Status.OK, Status.REPEATED]
    assert Frame(1, Ping()) == Decoder().feed(encode(Ping(), 1))[0]
