"""Which messages bring the LEDs from one picture to another: always the right picture, in few bytes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.leds import FRAME_BYTES, LedBuffer, split
from firmware_protocol.messages import Fill, Format, Palette, Request, SetCells, SetRange, pack

RED, GREEN, BLUE = Rgb(255, 0, 0), Rgb(0, 255, 0), Rgb(0, 0, 255)
ANY = [Rgb(red, 7, 9) for red in range(256)]


def buffer(colours, palette=()) -> LedBuffer:
    held = LedBuffer(len(colours))
    held.colours = list(colours)
    held.palette[: len(palette)] = palette
    return held


def names(stages) -> list[str]:
    """One word a message, with "|" between the stages."""
    words = []
    for stage in stages:
        for message in stage:
            shape = message.format.name if isinstance(message, SetRange) else ""
            words.append(type(message).__name__ + (f"({shape})" if shape else ""))
        words.append("|")
    return words[:-1]


def length(stages) -> int:
    return sum(FRAME_BYTES + len(pack(message)) for stage in stages for message in stage)


GAME = [RED, GREEN, DARK, DARK] * 16


@pytest.mark.parametrize(
    ("held", "palette", "wanted", "sent", "bytes_"),
    [
        pytest.param([RED] * 64, [], [RED] * 64, [], 0, id="nothing changes"),
        pytest.param([RED] * 64, [], [RED] * 63 + [BLUE], ["SetCells"], 14, id="one cell"),
        pytest.param([RED] * 64, [], [BLUE, *[RED] * 62, BLUE], ["SetCells"], 19, id="two cells far apart"),
        pytest.param([RED] * 64, [], [DARK] * 64, ["Fill"], 12, id="all are alike"),
        pytest.param([None] * 64, [], [DARK] * 63 + [RED], ["Fill", "|", "SetCells"], 26, id="almost all are alike"),
        pytest.param([RED] * 256, [], ANY, ["SetRange(RGB)"] * 4, 816, id="each another colour"),
        pytest.param([RED] * 256, [], ANY[:20] + [RED] * 236, ["SetRange(RGB)"], 72, id="a run of colours"),
        pytest.param(
            [None] * 64, [], GAME, ["Palette", "|", "SetRange(PALETTE_4)"], 63, id="few colours, of an unknown palette"
        ),
        pytest.param(
            [None] * 64, [DARK, GREEN, RED], GAME, ["SetRange(PALETTE_4)"], 44, id="few colours, all in the palette"
        ),
    ],
)
def test_what_is_sent(held, palette, wanted, sent, bytes_):
    stages = buffer(held, palette).plan(wanted, 248)
    assert names(stages) == sent
    assert length(stages) == bytes_


COLOURS = st.integers(0, 40).map(lambda n: Rgb(n, 0, 255 - n))


@st.composite
def changes(draw):
    """What the LEDs hold and what is wanted, alike in part."""
    seed = draw(st.integers(0, 2**32))
    cells = draw(st.sampled_from([1, 2, 5, 25, 64, 255, 256]))
    colours = [Rgb(n, 0, 255 - n) for n in range(draw(st.sampled_from([1, 2, 5, 16, 17, 60])))]
    share = draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    rng = random.Random(seed)
    held: list[Rgb | None] = [rng.choice([*colours, None]) for _ in range(cells)]
    wanted = [rng.choice(colours) if colour is None or rng.random() < share else colour for colour in held]
    palette = [rng.choice([*colours, None]) for _ in range(16)]
    return held, palette, wanted


@settings(deadline=None, derandomize=True)
@given(change=changes(), payload_bytes=st.sampled_from([16, 17, 60, 248]), use_palette=st.booleans())
def test_the_messages_lead_to_what_is_wanted_however_they_overtake_one_another(change, payload_bytes, use_palette):
    held, palette, wanted = change
    leds = buffer(held, palette)
    stages = leds.plan(wanted, payload_bytes, use_palette=use_palette)
    rng = random.Random(0)
    for stage in stages:
        messages = list(stage)
        rng.shuffle(messages)
        for message in messages:
            assert len(pack(message)) <= payload_bytes
            leds.apply(message)
    assert leds.colours == wanted
    assert leds.plan(wanted, payload_bytes) == ()
    if not use_palette:
        assert not any(isinstance(message, Palette) for stage in stages for message in stage)


@settings(deadline=None, derandomize=True)
@given(change=changes())
def test_no_more_is_sent_than_all_cells_one_by_one_would_take(change):
    held, palette, wanted = change
    sent = length(buffer(held, palette).plan(wanted, 248))
    changed = sum(one != other for one, other in zip(held, wanted, strict=True))
    assert sent <= 5 * changed + FRAME_BYTES * -(-5 * changed // 245)


@pytest.mark.parametrize(
    "message",
    [
        SetCells(()),
        SetRange(3, Format.RGB, bytes(range(3))),
        SetRange(3, Format.PALETTE_4, b"\x10"),
        Fill(1, 2, 3),
        Palette(0, ()),
    ],
    ids=lambda message: f"{type(message).__name__}",
)
def test_what_is_of_one_part_is_not_split(message: Request):
    assert split(message) == ()


@settings(deadline=None, derandomize=True)
@given(change=changes(), use_palette=st.booleans())
def test_halves_do_the_same_as_the_whole(change, use_palette):
    held, palette, wanted = change
    stages = buffer(held, palette).plan(wanted, 248, use_palette=use_palette)
    leds = buffer(held, palette)
    for stage in stages:
        for message in stage:
            for part in split(message) or (message,):
                leds.apply(part)
    assert leds.colours == wanted
