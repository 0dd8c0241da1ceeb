"""Coverage-guided search for an input that harms the decoder; needs the package atheris, which the project does not.

    python tests/protocol/fuzz_codec.py FOLDER -max_total_time=3600
FOLDER keeps the inputs that reached new code. The claims: nothing raises, whatever is fed in whatever pieces gives the
same frames, what is decoded encodes to a frame again, and the next good frame is accepted.
"""

import contextlib
import sys

import atheris

with atheris.instrument_imports(include=["firmware_protocol"]):
    from firmware_protocol.codec import Decoder, Frame, Unreadable, encode, encode_raw
    from firmware_protocol.errors import WireError
    from firmware_protocol.messages import Fill, unpack

NEXT = Frame(0x44, Fill(0x11, 0x22, 0x33))


def check(data: bytes) -> None:
    """Holds the claims against one input: a byte for the size of the pieces, then what is fed."""
    size, noise = (data[0] % 64 + 1, data[1:]) if data else (1, b"")
    whole = Decoder().feed(noise + encode(NEXT.message, NEXT.seq))
    decoder, pieces = Decoder(), []
    for at in range(0, len(noise), size):
        pieces += decoder.feed(noise[at : at + size])
    pieces += decoder.feed(encode(NEXT.message, NEXT.seq))
    assert pieces == whole
    assert whole[-1] == NEXT
    for frame in whole:
        assert Decoder().feed(again(frame)) == [frame]
    if noise:
        # Past the check, which no search would guess.
        (found,) = Decoder().feed(encode_raw(noise[0], 0, noise[1:249]))
        with contextlib.suppress(WireError):
            assert unpack(noise[0], noise[1:249]) == found.message


def again(frame: Frame) -> bytes:
    """The frame as it would be sent."""
    if isinstance(frame.message, Unreadable):
        return encode_raw(frame.message.type, frame.seq, frame.message.payload)
    return encode(frame.message, frame.seq)


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
