"""What every grid does that speaks our protocol: one set of claims for the simulated device behind each of its ports
and for the firmware in simavr. Single cases that need a clock of the device's own are in test_board.py.
"""

import random
from dataclasses import replace
from itertools import cycle, pairwise
from zlib import crc32

import pytest

from firmware_protocol.codec import encode
from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.messages import (
    BAUD,
    GLOW_LEVEL,
    MESSAGES,
    PALETTE_COLOURS,
    PROTO,
    Ack,
    Bitmap,
    CellColour,
    Colour,
    Config,
    Event,
    Fill,
    Flag,
    Format,
    Hello,
    Info,
    Nak,
    Palette,
    Ping,
    Sense,
    SetBaud,
    SetCells,
    SetRange,
    Show,
    Status,
)

CELLS = 64
OK = Ack(Status.OK)
CONFIG = Config(20, 500, 255, 1)
PALETTE = tuple(Colour(n, 15 - n, n // 2) for n in range(PALETTE_COLOURS))
PALETTE_RGB = tuple(Rgb(colour.red, colour.green, colour.blue) for colour in PALETTE)
SEED = 20_261_130


def rgb(n: int) -> Rgb:
    """A dim colour by number, so dim that no cap on the current dims it further."""
    return Rgb(n % 11, (n + 4) % 11, (n + 7) % 11)


ALL_RGB = tuple(rgb(n) for n in range(CELLS))


def show(grid, *messages) -> tuple[Rgb, ...]:
    """What is on the LEDs after these requests and SHOW."""
    for message in (*messages, Show()):
        assert grid.ask(message) == OK, message
    # A WS2812 takes what it got when its line was quiet for a moment.
    grid.listen(0.001)
    return grid.bench.leds()


def lit(cells: dict[int, Rgb]) -> tuple[Rgb, ...]:
    return tuple(cells.get(cell, DARK) for cell in range(CELLS))


# Who it is


def test_hello_is_answered_by_info_with_its_sequence_number(grid):
    info = grid.ask(Hello(1, 1), seq=77)
    assert isinstance(info, Info)
    assert (info.proto, info.rows, info.columns) == (PROTO, 8, 8)
    assert info.flags & Flag.SIMULATED
    assert info.max_payload >= 64
    assert info.rx_window >= info.max_payload + 9


def test_the_boot_id_stays_until_the_next_start(grid):
    first = grid.hello()
    assert grid.hello() == first
    grid.bench.reboot()
    anew = grid.hello()
    assert anew.boot_id != first.boot_id
    assert replace(anew, boot_id=first.boot_id) == first


def test_a_host_of_any_version_is_answered(grid):
    for versions in ((0, 0), (1, 1), (2, 9), (255, 255)):
        assert isinstance(grid.ask(Hello(*versions)), Info)


# Requests that are done

ACCEPTED = {
    "no cells": SetCells(()),
    "cells": SetCells((CellColour(0, 1, 2, 3), CellColour(63, 4, 5, 6), CellColour(0, 7, 8, 9))),
    "an empty range": SetRange(0, Format.RGB, b""),
    "an empty range at the end": SetRange(64, Format.RGB, b""),
    "the last cell": SetRange(63, Format.RGB, b"\1\2\3"),
    "all cells by palette": SetRange(0, Format.PALETTE_8, bytes(64)),
    "all cells in half bytes": SetRange(0, Format.PALETTE_4, bytes(32)),
    "the last palette entry": Palette(15, (Colour(1, 2, 3),)),
    "no palette entry": Palette(0, ()),
    "fill": Fill(1, 2, 3),
    "show": Show(),
    "ping": Ping(),
    "least settings": Config(1, 100, 0, 0),
    "greatest settings": Config(250, 10_000, 255, 1),
}


@pytest.mark.parametrize(("request_", "seq"), list(zip(ACCEPTED, cycle((0, 1, 255)), strict=False)))
def test_a_request_is_acknowledged_with_its_sequence_number(grid, request_, seq):
    assert grid.ask(ACCEPTED[request_], seq=seq) == OK


def test_sense_is_answered_by_the_map(grid):
    answer = grid.ask(Sense())
    assert isinstance(answer, Bitmap)
    assert answer.bits == bytes(8)


SHOWN = {
    "cells": ((SetCells((CellColour(0, 1, 2, 3), CellColour(63, 4, 5, 6))),), lit({0: Rgb(1, 2, 3), 63: Rgb(4, 5, 6)})),
    "a cell twice": ((SetCells((CellColour(9, 1, 1, 1), CellColour(9, 2, 2, 2))),), lit({9: Rgb(2, 2, 2)})),
    "fill": ((Fill(3, 2, 1),), (Rgb(3, 2, 1),) * CELLS),
    "fill, then cells": (
        (Fill(1, 1, 1), SetCells((CellColour(5, 9, 8, 7),))),
        (Rgb(1, 1, 1),) * 5 + (Rgb(9, 8, 7),) + (Rgb(1, 1, 1),) * 58,
    ),
    "range of colours": (
        (
            SetRange(0, Format.RGB, bytes(level for colour in ALL_RGB[:20] for level in colour)),
            SetRange(20, Format.RGB, bytes(level for colour in ALL_RGB[20:40] for level in colour)),
            SetRange(40, Format.RGB, bytes(level for colour in ALL_RGB[40:] for level in colour)),
        ),
        ALL_RGB,
    ),
    "range by palette, a byte each": (
        (Palette(0, PALETTE), SetRange(10, Format.PALETTE_8, bytes(range(16)))),
        lit({10 + n: PALETTE_RGB[n] for n in range(16)}),
    ),
    "range by palette, the low half first": (
        (Palette(0, PALETTE), SetRange(48, Format.PALETTE_4, bytes(2 * n + 1 << 4 | 2 * n for n in range(8)))),
        lit({48 + n: PALETTE_RGB[n] for n in range(16)}),
    ),
    "range by palette, the last half byte without a cell": (
        (Palette(0, PALETTE), SetRange(61, Format.PALETTE_4, b"\x21\xf3")),
        lit({61: PALETTE_RGB[1], 62: PALETTE_RGB[2], 63: PALETTE_RGB[3]}),
    ),
    "part of the palette": (
        (Palette(0, PALETTE), Palette(14, (Colour(9, 0, 9),)), SetRange(0, Format.PALETTE_8, bytes((13, 14, 15)))),
        lit({0: PALETTE_RGB[13], 1: Rgb(9, 0, 9), 2: PALETTE_RGB[15]}),
    ),
    "a palette that changes afterwards": (
        (Palette(0, PALETTE), SetRange(0, Format.PALETTE_8, b"\3"), Palette(3, (Colour(0, 0, 0),))),
        lit({0: PALETTE_RGB[3]}),
    ),
}


@pytest.mark.parametrize("requests", SHOWN)
def test_the_leds_show_what_was_set(grid, requests):
    messages, expected = SHOWN[requests]
    assert show(grid, *messages) == expected


def test_nothing_is_seen_before_show(grid):
    before = show(grid, Fill(1, 2, 3))
    for message in (Fill(9, 9, 9), SetCells((CellColour(0, 8, 8, 8),)), SetRange(1, Format.RGB, b"\7\7\7")):
        assert grid.ask(message) == OK
    assert grid.bench.leds() == before


def test_the_palette_is_dark_after_a_start(grid):
    assert show(grid, Fill(5, 5, 5), SetRange(0, Format.PALETTE_8, bytes(range(16))))[:17] == (DARK,) * 16 + (
        Rgb(5, 5, 5),
    )


def test_brightness_scales_all_levels(grid):
    full = show(grid, SetRange(0, Format.RGB, bytes(range(0, 60, 5))))
    for brightness in (0, 1, 64, 127, 254):
        scaled = show(grid, replace(CONFIG, brightness=brightness))
        for before, after in zip(full, scaled, strict=True):
            for level, dimmed in zip(before, after, strict=True):
                assert abs(dimmed - level * brightness / 255) <= 1


def test_the_current_stays_below_the_cap(grid):
    info = grid.hello()
    leds = show(grid, Fill(255, 255, 255))
    drawn_ma = sum(map(sum, leds)) * 20 / 255 + CELLS
    assert drawn_ma <= info.max_ma
    assert drawn_ma >= 0.9 * min(info.max_ma, 61 * CELLS)
    assert len(set(leds)) == 1


# Requests that come twice


@pytest.mark.parametrize("request_", ACCEPTED)
def test_the_same_frame_again_is_acknowledged_as_repeated(grid, request_):
    assert grid.ask(ACCEPTED[request_], seq=9) == OK
    for _ in range(2):
        assert grid.ask(ACCEPTED[request_], seq=9) == Ack(Status.REPEATED)


def test_a_repeated_show_is_not_done_again(grid):
    grid.ask(Show(), seq=5)
    before = grid.bench.shows()
    assert grid.ask(Show(), seq=5) == Ack(Status.REPEATED)
    assert grid.bench.shows() == before
    assert grid.ask(Show(), seq=6) == OK
    assert grid.bench.shows() == before + 1


def test_a_sequence_number_alone_makes_no_repetition(grid):
    assert grid.ask(Fill(1, 2, 3), seq=9) == OK
    assert grid.ask(Fill(3, 2, 1), seq=9) == OK
    assert show(grid) == (Rgb(3, 2, 1),) * CELLS


def test_a_new_host_is_not_taken_for_the_one_before(grid):
    assert grid.ask(Ping(), seq=1) == OK
    grid.hello()
    assert grid.ask(Ping(), seq=1) == OK


def test_questions_are_answered_as_often_as_they_are_asked(grid):
    for _ in range(3):
        assert isinstance(grid.ask(Sense(), seq=4), Bitmap)
        assert isinstance(grid.ask(Hello(1, 1), seq=4), Info)


# Requests that are refused

UNKNOWN = sorted({0x00, 0x0B, 0x10, 0x20, 0x40, 0x7F} - {kind.TYPE for kind in MESSAGES})
BAD_LENGTH = {
    "HELLO without its versions": (0x01, b""),
    "HELLO with one too many": (0x01, b"\1\1\1"),
    "a cell and a half": (0x02, bytes(5) + b"\1\2"),
    "a range without a format": (0x03, b"\0\0"),
    "a range with half a colour": (0x03, b"\0\0\0\1\2\3\4"),
    "a palette without a first entry": (0x04, b""),
    "a palette with half an entry": (0x04, b"\0\1\2"),
    "FILL with two levels": (0x05, b"\1\2"),
    "FILL with four": (0x05, b"\1\2\3\4"),
    "SHOW with a byte": (0x06, b"\0"),
    "SENSE with a byte": (0x07, b"\0"),
    "CONFIG cut short": (0x08, b"\24\0"),
    "SET_BAUD with two bytes": (0x09, b"\0\0"),
    "PING with a byte": (0x0A, b"\0"),
}
BAD_VALUE = {
    "cell 64 of 64": SetCells((CellColour(0, 9, 9, 9), CellColour(64, 9, 9, 9))),
    "cell 65,535": SetCells((CellColour(0, 9, 9, 9), CellColour(65_535, 9, 9, 9))),
    "a range that ends behind the last cell": SetRange(63, Format.RGB, bytes((9,) * 6)),
    "a range that begins behind it": SetRange(65, Format.RGB, b""),
    "a range that begins far behind it": SetRange(65_535, Format.PALETTE_8, b"\0\0"),
    "a palette range that ends behind it": SetRange(63, Format.PALETTE_8, b"\0\0"),
    "a byte of two cells behind it": SetRange(64, Format.PALETTE_4, b"\0"),
    "palette entry 16": SetRange(0, Format.PALETTE_8, b"\0\20"),
    "palette from entry 16 on": Palette(16, ()),
    "palette beyond entry 15": Palette(15, (Colour(9, 9, 9), Colour(9, 9, 9))),
    "no debounce": replace(CONFIG, debounce_ms=0),
    "too much debounce": replace(CONFIG, debounce_ms=251),
    "heartbeats too close": replace(CONFIG, heartbeat_ms=99),
    "heartbeats too far": replace(CONFIG, heartbeat_ms=10_001),
    "events neither on nor off": replace(CONFIG, events=2),
    "no speed": SetBaud(0),
    "a speed that no AVR has": SetBaud(3_000_000),
}


def test_an_unknown_type_is_refused(grid):
    for type_ in UNKNOWN:
        for payload in (b"", bytes(7)):
            assert grid.ask_type(type_, payload) == Nak(Status.UNSUPPORTED), (type_, payload)


@pytest.mark.parametrize("frame", BAD_LENGTH)
def test_a_payload_of_wrong_length_is_refused(grid, frame):
    assert grid.ask_type(*BAD_LENGTH[frame]) == Nak(Status.BAD_LENGTH)


@pytest.mark.parametrize("request_", BAD_VALUE)
def test_a_value_out_of_range_is_refused(grid, request_):
    assert grid.ask(BAD_VALUE[request_]) == Nak(Status.BAD_VALUE)


def test_a_format_that_is_none_is_refused(grid):
    assert grid.ask_type(0x03, b"\0\0\3") == Nak(Status.BAD_VALUE)


def test_what_was_refused_changed_nothing(grid):
    before = show(grid, Palette(0, PALETTE), SetRange(0, Format.PALETTE_8, bytes(range(16))))
    for type_, payload in BAD_LENGTH.values():
        assert isinstance(grid.ask_type(type_, payload), Nak)
    for message in BAD_VALUE.values():
        assert isinstance(grid.ask(message), Nak)
    assert show(grid) == before
    assert show(grid, SetRange(0, Format.PALETTE_8, bytes(range(16)))) == before


def test_a_refused_frame_is_refused_again(grid):
    for _ in range(2):
        assert grid.ask(Palette(16, ()), seq=3) == Nak(Status.BAD_VALUE)


def test_what_a_device_sends_is_not_answered(grid):
    # Over a looped wire its own frames come back: an answer to each would go round for ever.
    grid.answers.clear()
    for message in (OK, Nak(Status.UNSUPPORTED), Event(1, 2, 3, 1), Bitmap(0, bytes(8))):
        grid.port.write(encode(message, 200))
    grid.ask(Ping(), seq=201)
    assert [frame.seq for frame in grid.answers] == [201]


# Sensors


def test_a_change_is_told_once(grid):
    start = grid.ask(Sense())
    for n, (cell, occupied) in enumerate(((0, True), (63, True), (0, False), (17, True)), start=1):
        grid.put(cell, occupied)
        grid.wait_for(lambda n=n: len(grid.events) >= n)
        event = grid.events[-1]
        assert (event.index, event.occupied) == (cell, occupied)
        assert event.event_seq == (start.event_seq + n) % 2**16
    grid.listen(0.2)
    assert len(grid.events) == 4
    times_ms = [event.t_ms for event in grid.events]
    assert times_ms == sorted(times_ms)


def test_changes_at_once_are_all_told(grid):
    for cell in range(0, 64, 3):
        grid.put(cell, True)
    grid.wait_for(lambda: len(grid.events) >= 22)
    assert sorted(event.index for event in grid.events) == list(range(0, 64, 3))


def put_in_time(grid, edges: list[tuple[float, int, bool]]) -> bool:
    """Touches cells at these times from now on, in ms; False where this computer was too slow for it."""
    begun_s, late_s = grid.now_s(), 0.0
    for at_ms, cell, occupied in edges:
        at_s = begun_s + at_ms / 1000
        grid.listen(at_s - grid.now_s())
        grid.put(cell, occupied)
        late_s = max(late_s, grid.now_s() - at_s)
    return late_s < 0.1


def told_of(grid, count: int, *series: list[tuple[float, int, bool]]) -> list[list[tuple[int, bool]]]:
    """What is told of each of these series of edges, by cell, under a debounce of 250 ms; so many events at least."""
    for _ in range(20):
        grid.begin()
        assert grid.ask(replace(CONFIG, debounce_ms=250)) == OK
        told = []
        for edges in series:
            if not put_in_time(grid, edges):
                break
            grid.listen(5.0, lambda: len(grid.events) >= count)
            grid.listen(0.3)
            told.append(sorted((event.index, bool(event.occupied)) for event in grid.events))
            grid.events.clear()
        else:
            return told
    pytest.fail("this computer is too slow to touch cells in time")


def test_a_contact_that_bounces_is_told_once(patient_grid):
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    # Four contacts bounce at once, for 1 to 80 ms.
    trains_ms = {3: 1, 12: 5, 33: 20, 63: 80}
    edges = sorted(
        (at_ms, cell, n % 2 == 0)
        for cell, train_ms in trains_ms.items()
        for n, at_ms in enumerate((0.0, *sorted(rng.uniform(0, train_ms) for _ in range(7)), train_ms))
    )
    told = told_of(
        patient_grid, len(trains_ms), edges, [(at_ms, cell, not occupied) for at_ms, cell, occupied in edges]
    )
    assert told == [[(cell, occupied) for cell in trains_ms] for occupied in (True, False)]


def test_a_flicker_shorter_than_the_debounce_is_not_told(patient_grid):
    assert told_of(patient_grid, 0, [(0.0, 8, True), (20.0, 8, False)]) == [[]]
    assert not any(patient_grid.occupied())


def test_the_map_is_what_lies_there(grid):
    rng = random.Random(SEED)
    truth = [False] * CELLS
    for _ in range(4):
        for cell in rng.sample(range(CELLS), 12):
            truth[cell] = not truth[cell]
            grid.put(cell, truth[cell])
        grid.wait_for_map(tuple(truth))


def test_without_events_only_the_map_tells(grid):
    assert grid.ask(replace(CONFIG, events=0)) == OK
    grid.put(3, True)
    grid.wait_for_map(tuple(cell == 3 for cell in range(CELLS)))
    assert grid.events == []


def test_the_heartbeat_shows_what_may_have_been_missed(grid):
    boot_id = grid.hello().boot_id
    assert grid.ask(replace(CONFIG, heartbeat_ms=100)) == OK
    for cell in (2, 40):
        grid.put(cell, True)
    grid.wait_for(lambda: len(grid.events) == 2)
    grid.heartbeats.clear()
    grid.wait_for(lambda: len(grid.heartbeats) >= 3)
    bitmap = grid.ask(Sense())
    uptimes_ms = [beat.uptime_ms for beat in grid.heartbeats]
    assert uptimes_ms == sorted(set(uptimes_ms))
    for beat in grid.heartbeats:
        assert (beat.boot_id, beat.event_seq) == (boot_id, grid.events[-1].event_seq)
        assert beat.occupancy_check == crc32(bitmap.bits) == crc32(bytes((4, 0, 0, 0, 0, 1, 0, 0)))


def test_heartbeats_come_as_often_as_they_are_asked_for(patient_grid):
    assert patient_grid.ask(replace(CONFIG, heartbeat_ms=10_000)) == OK
    patient_grid.heartbeats.clear()
    patient_grid.listen(0.55)
    assert patient_grid.heartbeats == []
    assert patient_grid.ask(replace(CONFIG, heartbeat_ms=100)) == OK
    patient_grid.wait_for(lambda: len(patient_grid.heartbeats) >= 4)
    times_ms = [beat.uptime_ms for beat in patient_grid.heartbeats]
    # The device's own clock: the firmware looks at it once a millisecond, as far as the computer lets it.
    assert all(98 <= later - earlier <= 110 for earlier, later in pairwise(times_ms))


def test_changes_are_told_while_the_leds_are_written_all_the_time(grid):
    cells = [7 * n % CELLS for n in range(30)]
    for n, cell in enumerate(cells):
        grid.put(cell, True)
        levels = bytes(level for colour in ALL_RGB[n : n + 20] for level in colour)
        assert grid.ask(SetRange(n, Format.RGB, levels)) == OK
        assert grid.ask(Show()) == OK
    grid.wait_for(lambda: len(grid.events) >= len(cells))
    grid.listen(0.1)
    assert sorted((event.index, event.occupied) for event in grid.events) == sorted((cell, 1) for cell in cells)
    assert [event.event_seq for event in grid.events] == list(range(1, len(cells) + 1))


def test_what_lies_there_at_the_start_is_no_event(grid):
    grid.put(20, True)
    grid.wait_for(lambda: len(grid.events) == 1)
    grid.bench.reboot()
    grid.hello()
    grid.events.clear()
    assert grid.occupied()[20]
    grid.listen(0.2)
    assert grid.events == []


# A line with noise on it


def test_noise_before_a_frame_does_no_harm(grid):
    rng = random.Random(SEED)
    for length in (1, 2, 7, 64, 300, 700):
        assert grid.ask_raw(rng.randbytes(length) + encode(Ping(), 50), 50) in (OK, Ack(Status.REPEATED))


def test_a_cut_frame_does_not_spoil_the_next(grid):
    frame = encode(SetRange(0, Format.RGB, bytes(range(1, 31))), 60)
    for cut in range(len(frame)):
        assert grid.ask_raw(frame[:cut] + encode(Ping(), cut + 61), cut + 61) == OK, cut


def test_damaged_frames_are_not_answered_but_counted(grid):
    assert grid.ask(replace(CONFIG, heartbeat_ms=100)) == OK
    grid.wait_for(lambda: bool(grid.heartbeats))
    before = grid.heartbeats[-1].bad_frames
    frame = bytearray(encode(Fill(1, 2, 3), 70))
    frame[5] ^= 0x10
    grid.answers.clear()
    for _ in range(3):
        grid.port.write(bytes(frame))
    grid.ask(Ping(), seq=71)
    assert [one.seq for one in grid.answers] == [71]
    grid.wait_for(lambda: grid.heartbeats[-1].bad_frames == before + 3)


def test_a_frame_longer_than_the_device_takes_is_dropped(grid):
    for size in (255, 600):
        grid.answers.clear()
        grid.ask_raw(b"\0" + b"\1" * size + encode(Ping(), 80), 80)
        assert [frame.seq for frame in grid.answers] == [80]


def test_what_fits_into_the_window_may_be_sent_at_once(grid):
    info = grid.hello()
    count = info.max_payload // 3 - 1
    sent, seqs = bytearray(), []
    while (
        len(frame := encode(SetRange(0, Format.RGB, bytes(3 * min(count, CELLS))), 100 + len(seqs))) + len(sent)
        <= info.rx_window
    ):
        seqs.append(100 + len(seqs))
        sent += frame
    grid.answers.clear()
    grid.port.write(bytes(sent))
    grid.wait_for(lambda: len(grid.answers) == len(seqs))
    assert [(frame.seq, frame.message) for frame in grid.answers] == [(seq, OK) for seq in seqs]


# Speed


def test_the_speed_changes_after_the_ack(grid):
    assert grid.ask(SetBaud(250_000)) == OK
    grid.port.set_baud(250_000)
    # A real host takes longer than this to change its own.
    grid.listen(0.02)
    assert grid.ask(Ping()) == OK
    assert grid.ask(SetBaud(1_000_000)) == OK
    grid.port.set_baud(1_000_000)
    grid.listen(0.02)
    assert show(grid, Fill(1, 2, 3)) == (Rgb(1, 2, 3),) * CELLS


def test_a_speed_at_which_nothing_is_heard_is_given_up(patient_grid):
    if not patient_grid.has_speed:
        pytest.skip("a socket has no speed at which nothing would be heard")
    assert patient_grid.ask(SetBaud(500_000)) == OK
    patient_grid.listen(0.02)
    patient_grid.heartbeats.clear()
    patient_grid.wait_for(lambda: bool(patient_grid.heartbeats))
    assert patient_grid.ask(Ping()) == OK


# A host that is gone


def glows(grid, level: int = GLOW_LEVEL) -> bool:
    """All cells are dimly blue."""
    return grid.bench.leds() == (Rgb(0, 0, level),) * CELLS


def fall_silent(grid, level: int = GLOW_LEVEL) -> None:
    """Says nothing until the grid shows that it noticed, which takes 5 s of its own time."""
    grid.listen(15.0, lambda: glows(grid, level))
    assert glows(grid, level)


def test_the_leds_glow_until_they_are_first_shown(grid):
    assert glows(grid)
    grid.ask(Fill(1, 2, 3))
    assert glows(grid)
    assert show(grid) == (Rgb(1, 2, 3),) * CELLS


def test_the_leds_glow_while_no_host_is_there(patient_grid):
    shown = show(patient_grid, SetRange(0, Format.RGB, bytes(range(1, 25))))
    patient_grid.listen(4.9)
    assert patient_grid.bench.leds() == shown
    fall_silent(patient_grid)


def test_the_glow_is_dimmed_as_all_colours_are(patient_grid):
    show(patient_grid, replace(CONFIG, brightness=127), Fill(1, 2, 3))
    fall_silent(patient_grid, GLOW_LEVEL * 128 // 256)


def test_what_was_shown_comes_back_with_the_host(patient_grid):
    shown = show(patient_grid, SetRange(0, Format.RGB, bytes(range(1, 25))))
    fall_silent(patient_grid)
    assert patient_grid.ask(Ping()) == OK
    patient_grid.wait_for(lambda: patient_grid.bench.leds() == shown)


def test_colours_that_waited_for_show_come_with_those_that_were_shown(patient_grid):
    shown = show(patient_grid, SetRange(0, Format.RGB, bytes(range(1, 25))))
    assert patient_grid.ask(SetCells((CellColour(5, 9, 8, 7),))) == OK
    fall_silent(patient_grid)
    assert patient_grid.ask(Ping()) == OK
    expected = (*shown[:5], Rgb(9, 8, 7), *shown[6:])
    patient_grid.wait_for(lambda: patient_grid.bench.leds() == expected)


def test_a_new_host_does_not_see_what_the_last_one_showed(patient_grid):
    show(patient_grid, SetRange(0, Format.RGB, bytes(range(1, 25))))
    fall_silent(patient_grid)
    patient_grid.hello()
    assert patient_grid.ask(Ping()) == OK
    patient_grid.listen(0.01)
    assert glows(patient_grid)
    assert show(patient_grid, Fill(2, 2, 1)) == (Rgb(2, 2, 1),) * CELLS


def test_the_speed_of_a_host_that_is_gone_is_given_up(patient_grid):
    show(patient_grid, Fill(1, 2, 3))
    assert patient_grid.ask(SetBaud(500_000)) == OK
    patient_grid.port.set_baud(500_000)
    patient_grid.listen(0.02)
    assert patient_grid.ask(Ping()) == OK
    fall_silent(patient_grid)
    patient_grid.port.set_baud(BAUD)
    assert patient_grid.ask(Ping()) == OK
