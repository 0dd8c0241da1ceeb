"""What the firmware does, in steps of simulated time: its core on this computer under sanitizers, and the AVR image."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from zlib import crc32

import pytest
from cobs import cobs
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from firmware_protocol.codec import Decoder, Frame, Unreadable, encode, encode_raw
from firmware_protocol.driver import DARK, Rgb
from firmware_protocol.messages import (
    BAUD,
    BAUD_TRIAL_MS,
    DEBOUNCE_MS,
    HEARTBEAT_MS,
    MESSAGES,
    PROTO,
    SILENCE_MS,
    Ack,
    Bitmap,
    CellColour,
    Colour,
    Config,
    Event,
    Fill,
    Flag,
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
    pack,
)
from hardware_sims.avr import MEGA, UID, UNO, Build, SteppedBoard, missing
from hardware_sims.avr_figures import Host

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

ODD = Build(rows=3, columns=3)
MAKERS: dict[str, Callable[[Build], SteppedBoard]] = {"native": SteppedBoard.native, "avr": SteppedBoard.avr}
RED, GREEN, BLUE = Rgb(255, 0, 0), Rgb(0, 255, 0), Rgb(0, 0, 255)
PALETTE = Palette(0, (Colour(*DARK), Colour(*RED), Colour(*GREEN), Colour(*BLUE)))


@pytest.fixture(params=MAKERS)
def make(request) -> Callable[[Build], SteppedBoard]:
    return MAKERS[request.param]


@pytest.fixture
def host(make) -> Iterator[Host]:
    with make(UNO) as board:
        host = Host(board)
        host.greet()
        yield host


@pytest.fixture
def odd_host(make) -> Iterator[Host]:
    with make(ODD) as board:
        host = Host(board)
        host.greet()
        yield host


def answer(host: Host, type_: int, seq: int, payload: bytes) -> Message | Unreadable | None:
    """What comes back with this frame's sequence number."""
    host.board.send(encode_raw(type_, seq, payload))
    end_s = host.board.time_s() + 0.2
    while host.board.time_s() < end_s:
        for answered in host.listen(0.05):
            if answered.frame.seq == seq:
                return answered.frame.message
    return None


def answer_to(host: Host, message: Message, seq: int) -> Message | Unreadable | None:
    return answer(host, message.TYPE, seq, pack(message))


def frames_of(host: Host, seconds: float) -> list[Frame]:
    """Everything that the device sends in this time."""
    end_s = host.board.time_s() + seconds
    frames = []
    while (left_s := end_s - host.board.time_s()) > 1e-6:
        frames += [answered.frame for answered in host.listen(left_s)]
    return frames


def messages_of(host: Host, kind: type, seconds: float) -> list:
    return [frame.message for frame in frames_of(host, seconds) if isinstance(frame.message, kind)]


def stays_alive(host: Host, seconds: float) -> None:
    """Time passes, and the host is heard in it."""
    for _ in range(round(seconds)):
        host.board.run(1)
        assert host.ask(Ping())


def shown(host: Host) -> tuple[Rgb, ...] | None:
    assert host.ask(Show())
    host.board.run(0.001)
    return host.board.leds()


def test_info_says_what_the_board_is(make):
    with make(UNO) as board:
        info = Host(board).greet()
    assert info.proto == PROTO
    assert (info.rows, info.columns, info.led_kind, info.sensor_kind) == (8, 8, LedKind.RGB, UNO.sensor_kind)
    assert info.max_ma == UNO.max_ma
    assert info.flags == Flag.SIMULATED | Flag.SHOW_BLOCKS_RX
    assert info.max_payload >= 3 + 3 * UNO.cells
    assert info.rx_window >= len(encode_raw(0, 0, bytes(info.max_payload)))


PAINTED = [
    ("one cell", [SetCells((CellColour(5, *RED),))], {5: RED}),
    ("the last of several wins", [SetCells((CellColour(7, *RED), CellColour(7, *BLUE)))], {7: BLUE}),
    ("no cell", [SetCells(())], {}),
    ("all cells", [Fill(*GREEN)], dict.fromkeys(range(9), GREEN)),
    ("a range", [SetRange(2, Format.RGB, bytes((*RED, *GREEN)))], {2: RED, 3: GREEN}),
    ("an empty range behind the last cell", [SetRange(9, Format.RGB, b"")], {}),
    ("a range of palette bytes", [PALETTE, SetRange(6, Format.PALETTE_8, bytes((1, 0, 3)))], {6: RED, 8: BLUE}),
    ("a range of half bytes", [PALETTE, SetRange(0, Format.PALETTE_4, b"\x21\x03")], {0: RED, 1: GREEN, 2: BLUE}),
    ("a half byte behind the last cell", [PALETTE, SetRange(7, Format.PALETTE_4, b"\x21")], {7: RED, 8: GREEN}),
    ("half a byte too many", [PALETTE, SetRange(6, Format.PALETTE_4, b"\x21\xf3")], {6: RED, 7: GREEN, 8: BLUE}),
    ("a palette's colour at that time", [PALETTE, SetRange(1, Format.PALETTE_8, b"\2"), Palette(2, (Colour(*RED),))],
     {1: GREEN}),
    ("the end of the palette", [Palette(15, (Colour(*RED),)), SetRange(0, Format.PALETTE_8, b"\x0f")], {0: RED}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "requests", "lit"), PAINTED, ids=[name for name, *_ in PAINTED])
def test_painting_is_seen_at_the_next_show_and_not_before(odd_host, name, requests, lit):
    before = shown(odd_host)
    assert before == (DARK,) * ODD.cells
    for message in requests:
        assert odd_host.ask(message)
    assert odd_host.board.leds() == before
    assert shown(odd_host) == tuple(lit.get(cell, DARK) for cell in range(ODD.cells))


REFUSED = [
    # A frame that is no message of the table
    ("a type of no message", 0x40, b"", Status.UNSUPPORTED),
    ("type 0", 0x00, b"", Status.UNSUPPORTED),
    ("HELLO too short", Hello.TYPE, b"\1", Status.BAD_LENGTH),
    ("HELLO too long", Hello.TYPE, b"\1\1\1", Status.BAD_LENGTH),
    ("SENSE too long", Sense.TYPE, b"\0", Status.BAD_LENGTH),
    ("PING too long", Ping.TYPE, b"\0", Status.BAD_LENGTH),
    ("SHOW too long", Show.TYPE, b"\0", Status.BAD_LENGTH),
    ("SET_CELLS cut off", SetCells.TYPE, b"\0\0\1\1\1\1\0\1\1", Status.BAD_LENGTH),
    ("SET_RANGE too short", SetRange.TYPE, b"\0\0", Status.BAD_LENGTH),
    ("SET_RANGE with part of a colour", SetRange.TYPE, b"\0\0\0\1\1\1\1", Status.BAD_LENGTH),
    ("SET_RANGE of no known format", SetRange.TYPE, b"\0\0\3\1\1\1", Status.BAD_VALUE),
    ("PALETTE too short", Palette.TYPE, b"", Status.BAD_LENGTH),
    ("PALETTE with part of a colour", Palette.TYPE, b"\1\1", Status.BAD_LENGTH),
    ("FILL too short", Fill.TYPE, b"\1\1", Status.BAD_LENGTH),
    ("FILL too long", Fill.TYPE, b"\1\1\1\1", Status.BAD_LENGTH),
    ("CONFIG too short", Config.TYPE, b"\x14\xf4\1\xff", Status.BAD_LENGTH),
    ("SET_BAUD too short", SetBaud.TYPE, b"\0\0\0", Status.BAD_LENGTH),
    # One that asks for what cannot be
    *(
        (str(message), message.TYPE, pack(message), Status.BAD_VALUE)
        for message in (
            SetCells((CellColour(0, *RED), CellColour(9, *RED))),
            SetCells((CellColour(65_535, *RED),)),
            SetRange(8, Format.RGB, bytes((*RED, *RED))),
            SetRange(10, Format.RGB, b""),
            SetRange(65_535, Format.RGB, bytes(RED)),
            SetRange(65_535, Format.PALETTE_4, b"\1"),
            SetRange(0, Format.PALETTE_8, b"\1\x10"),
            SetRange(8, Format.PALETTE_4, b"\1\1"),
            Palette(15, (Colour(*RED), Colour(*RED))),
            Palette(16, ()),
            Config(0, HEARTBEAT_MS, 0, 1),
            Config(251, HEARTBEAT_MS, 0, 1),
            Config(DEBOUNCE_MS, 99, 0, 1),
            Config(DEBOUNCE_MS, 10_001, 0, 1),
            Config(DEBOUNCE_MS, HEARTBEAT_MS, 0, 2),
            SetBaud(0),
            SetBaud(4_000_000_000),
        )
    ),
]


def test_refusals_say_why_and_change_nothing(odd_host):
    assert odd_host.ask(PALETTE)
    assert odd_host.ask(SetRange(0, Format.PALETTE_8, bytes((3,) * ODD.cells)))
    for number, (name, type_, payload, status) in enumerate(REFUSED):
        assert answer(odd_host, type_, 100 + number, payload) == Nak(status), name
    assert shown(odd_host) == (BLUE,) * ODD.cells
    assert odd_host.ask(SetRange(0, Format.PALETTE_8, bytes((1,) * ODD.cells)))
    assert shown(odd_host) == (RED,) * ODD.cells
    assert odd_host.board.counters().baud == pytest.approx(BAUD, rel=0.03)


def test_a_refused_frame_that_comes_again_is_refused_again(host):
    assert [answer_to(host, SetCells((CellColour(64, *RED),)), 9) for _ in range(2)] == [Nak(Status.BAD_VALUE)] * 2


def test_what_comes_from_a_device_is_not_answered(host):
    host.board.send(b"".join(encode_raw(type_, 1, b"") for type_ in (*range(0x81, 0x87), 0xFF)))
    assert [frame for frame in frames_of(host, 0.1) if not isinstance(frame.message, Heartbeat)] == []


def test_the_frame_acknowledged_last_is_acknowledged_again_and_not_done_again(host):
    assert host.ask(Fill(*RED))
    assert answer_to(host, Show(), 77) == Ack(Status.OK)
    assert host.ask(Fill(*BLUE))
    assert answer_to(host, Show(), 78) == Ack(Status.OK)
    host.board.run(0.001)
    shows = host.board.counters().shows
    assert answer_to(host, Show(), 78) == Ack(Status.REPEATED)
    host.board.run(0.001)
    assert host.board.counters().shows == shows
    # Another frame with the same number is no repetition.
    assert answer_to(host, Fill(*GREEN), 78) == Ack(Status.OK)
    # After HELLO nothing is one.
    assert isinstance(answer_to(host, Hello(1, 1), 79), Info)
    assert answer_to(host, Fill(*GREEN), 78) == Ack(Status.OK)


def test_hello_is_answered_whatever_the_host_speaks(host):
    for number, (least, most) in enumerate([(1, 1), (2, 9), (0, 0)]):
        info = answer_to(host, Hello(least, most), 10 + number)
        assert isinstance(info, Info)
        assert info.proto == PROTO


def test_a_reset_keeps_the_uid_and_changes_the_boot_id(host):
    before = host.greet()
    host.board.reset()
    after = host.greet()
    assert after.uid == before.uid
    assert after.boot_id == before.boot_id + 1


def test_brightness_scales_what_is_shown_next(host):
    assert host.ask(Fill(200, 100, 1))
    assert host.ask(Config(DEBOUNCE_MS, HEARTBEAT_MS, 127, 1))
    assert shown(host) == (Rgb(100, 50, 0),) * UNO.cells
    assert host.ask(Config(DEBOUNCE_MS, HEARTBEAT_MS, 0, 1))
    assert shown(host) == (DARK,) * UNO.cells


@pytest.mark.parametrize("max_ma", [70, 500, 2000, 65_535])
@pytest.mark.parametrize("colour", [Rgb(255, 255, 255), Rgb(3, 2, 1)])
def test_the_leds_draw_no_more_than_is_allowed(make, max_ma, colour):
    with make(replace(UNO, max_ma=max_ma)) as board:
        host = Host(board)
        host.greet()
        assert host.ask(Fill(*colour))
        lit = shown(host)
    drawn_ma = UNO.cells + sum(20 * level / 255 for led in lit for level in led)
    assert drawn_ma <= max_ma
    wanted_ma = UNO.cells + UNO.cells * 20 * sum(colour) / 255
    if wanted_ma <= max_ma:
        assert lit == (colour,) * UNO.cells
    elif colour.red == 255:
        # Not darker than need be: a step of all levels from the cap.
        assert drawn_ma + UNO.cells * 3 * 20 / 255 > max_ma


def test_a_change_is_one_event_when_it_outlasted_the_debounce_time(host):
    board = host.board
    (first,) = messages_of(host, Heartbeat, HEARTBEAT_MS / 1000)
    before_ms = board.time_s() * 1000
    for occupied in (True, False, True, False, True):
        board.set_sensor(12, occupied)
        board.run(0.003)
    board.set_sensor(12, True)
    (event,) = messages_of(host, Event, 0.1)
    assert (event.event_seq, event.index, event.occupied) == (first.event_seq + 1, 12, 1)
    (heartbeat,) = messages_of(host, Heartbeat, HEARTBEAT_MS / 1000)
    started_ms = board.time_s() * 1000 - heartbeat.uptime_ms
    # The last of its edges, 12 ms after the first; the device's clock began a little later than ours.
    assert event.t_ms == pytest.approx(before_ms + 12 - started_ms, abs=HEARTBEAT_MS)
    assert heartbeat.event_seq == event.event_seq


@pytest.mark.parametrize("debounce_ms", [1, 5, DEBOUNCE_MS, 250])
def test_what_does_not_last_is_no_event(host, debounce_ms):
    assert host.ask(Config(debounce_ms, HEARTBEAT_MS, 255, 1))
    shorter_s = debounce_ms / 1000 - 0.0005
    for _ in range(3):
        host.board.set_sensor(3, True)
        host.board.run(shorter_s)
        host.board.set_sensor(3, False)
        assert messages_of(host, Event, 0.3) == []
    host.board.set_sensor(3, True)
    assert len(messages_of(host, Event, debounce_ms / 1000 + 0.01)) == 1


def test_every_cell_is_reported_where_all_change_at_once(host):
    for cell in range(UNO.cells):
        host.board.set_sensor(cell, True)
    events = messages_of(host, Event, 0.4)
    assert [event.event_seq for event in events] == list(range(1, UNO.cells + 1))
    assert sorted(event.index for event in events) == list(range(UNO.cells))
    assert answer_to(host, Sense(), 5) == Bitmap(UNO.cells, b"\xff" * 8)


def test_a_full_window_is_answered_while_all_cells_change(host):
    window = host.greet().rx_window
    for cell in range(UNO.cells):
        host.board.set_sensor(cell, True)
    host.board.run(0.03)
    seqs = range(100, 100 + window // len(encode(Ping(), 1)))
    host.board.send(b"".join(encode(Ping(), seq) for seq in seqs))
    answered = [frame.seq for frame in frames_of(host, 0.3) if isinstance(frame.message, Ack)]
    assert answered == list(seqs)


def test_answers_that_find_no_room_are_dropped_whole(host):
    """A window of HELLOs asks for more than the device can keep until it is sent."""
    decoder = Decoder()
    count = host.greet().rx_window // len(encode(Hello(1, 1), 1))
    host.board.send(encode(Hello(1, 1), 1) * count)
    came = decoder.feed(bytes(one.byte for one in host.board.run(0.3)))
    answers = [frame for frame in came if isinstance(frame.message, Info)]
    assert 5 < len(answers) < count
    assert decoder.bad_frames == 0
    assert host.ask(Ping())


def test_sensors_are_where_they_should_be(odd_host):
    occupied = 0
    for cell in (0, 7, 8, 3):
        odd_host.board.set_sensor(cell, True)
        odd_host.board.run(0.1)
        occupied |= 1 << cell
        bitmap = answer_to(odd_host, Sense(), 30 + cell)
        assert bitmap.bits == occupied.to_bytes(2, "little")


def test_a_board_without_sensors_reads_none(make):
    """Its inputs are left open, and say anything."""
    with make(replace(UNO, sensor_kind=SensorKind.NONE)) as board:
        host = Host(board)
        assert host.greet().sensor_kind == SensorKind.NONE
        board.set_sensor(3, True)
        assert messages_of(host, Event, 0.1) == []
        assert answer_to(host, Sense(), 7) == Bitmap(0, bytes(8))


def test_without_events_only_sense_tells(host):
    assert host.ask(Config(DEBOUNCE_MS, HEARTBEAT_MS, 255, 0))
    host.board.set_sensor(20, True)
    assert messages_of(host, Event, 0.1) == []
    assert answer_to(host, Sense(), 6) == Bitmap(0, (1 << 20).to_bytes(8, "little"))


def test_what_lay_there_at_the_start_is_known_without_an_event(host):
    host.board.set_sensor(1, True)
    host.board.run(0.1)
    host.board.reset()
    host.greet()
    assert messages_of(host, Event, 0.1) == []
    assert answer_to(host, Sense(), 6) == Bitmap(0, b"\2" + bytes(7))


def test_heartbeats_come_as_set_and_tell_enough_to_miss_nothing(host):
    info = host.greet()
    assert host.ask(Config(DEBOUNCE_MS, 100, 255, 1))
    host.board.set_sensor(63, True)
    first = messages_of(host, Heartbeat, 0.11)[-1]
    host.board.send(b"\0\5abc\0" + encode(Ping(), 1)[:-3] + b"\0")
    beats = messages_of(host, Heartbeat, 1.0)
    assert len(beats) in (9, 10)
    assert {later.uptime_ms - earlier.uptime_ms for earlier, later in pairwise(beats)} == {100}
    assert beats[-1].boot_id == info.boot_id
    assert beats[-1].event_seq == 1
    assert beats[-1].occupancy_check == crc32(bytes(7) + b"\x80")
    assert beats[-1].bad_frames == first.bad_frames + 2


def test_a_silent_host_lets_the_leds_glow_until_it_is_heard(host):
    assert host.ask(Fill(*GREEN))
    painted = shown(host)
    stays_alive(host, SILENCE_MS / 1000 + 1)
    assert host.board.leds() == painted
    host.board.run(SILENCE_MS / 1000 + 0.1)
    glow = host.board.leds()
    assert glow is not None
    assert len(set(glow)) == 1
    assert 0 < max(glow[0]) <= 32
    assert host.ask(Ping())
    host.board.run(0.01)
    assert host.board.leds() == painted
    host.board.run(SILENCE_MS / 1000 + 0.1)
    assert host.board.leds() == glow
    # A new session does not begin with the colours of the last one.
    host.greet()
    host.board.run(0.01)
    assert host.ask(Fill(*RED))
    host.board.run(0.01)
    assert host.board.leds() == glow
    assert shown(host) == (RED,) * UNO.cells


def test_the_speed_changes_and_stays_when_the_host_follows(host):
    assert host.ask(SetBaud(500_000))
    host.board.run(0.001)
    host.board.set_host_baud(500_000)
    assert host.board.counters().baud == 500_000
    assert host.ask(Ping())
    stays_alive(host, 2 * BAUD_TRIAL_MS / 1000)
    assert host.board.counters().baud == 500_000
    host.board.run(SILENCE_MS / 1000 + 0.1)
    assert host.board.counters().baud == pytest.approx(BAUD, rel=0.03)


def test_the_speed_falls_back_when_no_good_frame_comes(host):
    assert answer_to(host, SetBaud(250_000), 50) == Ack(Status.OK)
    host.board.run(BAUD_TRIAL_MS / 1000 - 0.01)
    assert host.board.counters().baud == 250_000
    host.board.run(0.02)
    assert host.board.counters().baud == pytest.approx(BAUD, rel=0.03)
    # Whose ACK was lost sends the same frame again: it is obeyed, not taken for done.
    assert answer_to(host, SetBaud(250_000), 50) == Ack(Status.OK)
    host.board.run(0.001)
    assert host.board.counters().baud == 250_000


def with_check(body: bytes) -> bytes:
    """The body with a right check, stuffed, and nothing round it."""
    return cobs.encode(body + crc32(body).to_bytes(4, "little"))


NO_FRAMES = [
    ("a check of nothing", with_check(b"")),
    ("a type without a number", with_check(b"\x0a")),
    ("a good frame that goes on until no frame could", with_check(b"\x0a\1") + b"\xff" + b"\1" * 254),
    ("a good frame of full length with a zero behind", with_check(b"\x0a\1" + bytes(200)) + b"\1"),
    ("a good frame that ends amid a block", with_check(b"\x0a\1") + b"\2"),
    ("a good frame with a zero behind", cobs.encode(cobs.decode(with_check(b"\x0a\1")) + b"\0")),
    ("a payload that is too long", with_check(b"\x0a\1" + bytes(249))),
    ("no check at all", b"\x03\x0a\1"),
]


@pytest.mark.parametrize(("name", "inside"), NO_FRAMES, ids=[name for name, _ in NO_FRAMES])
def test_what_is_no_frame_is_counted_and_not_answered(host, name, inside):
    assert host.ask(Config(DEBOUNCE_MS, 100, 255, 1))
    before = messages_of(host, Heartbeat, 0.11)[-1]
    host.board.send(b"\0" + inside + b"\0")
    after = frames_of(host, 0.25)
    assert {type(frame.message) for frame in after} == {Heartbeat}
    assert after[-1].message.bad_frames == before.bad_frames + 1
    assert Decoder().feed(b"\0" + inside + b"\0") == []


REQUESTS = st.sampled_from([kind.TYPE for kind in MESSAGES if kind.TYPE < 0x80] + [0x40, 0x81, 0xFF])
FRAMES = st.builds(
    encode_raw, REQUESTS, st.integers(0, 255), st.binary(max_size=40) | st.binary(min_size=244, max_size=248)
)
DAMAGED = st.builds(lambda frame, at, bit: frame[: at % len(frame)] + bytes((frame[at % len(frame)] ^ 1 << bit,))
                    + frame[at % len(frame) + 1 :], FRAMES, st.integers(0, 300), st.integers(0, 7))  # fmt: skip
CUT = st.builds(lambda frame, at: frame[: at % len(frame)], FRAMES, st.integers(0, 300))
NOISE = st.lists(FRAMES | DAMAGED | CUT | st.binary(max_size=300), max_size=8)


@pytest.fixture(scope="module")
def noisy_board() -> Iterator[SteppedBoard]:
    with SteppedBoard.native(MEGA) as board:
        yield board


@seed(20_261_130)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NOISE, st.integers(1, 64))
def test_c_and_python_find_the_same_frames_in_noise(noisy_board, noise, piece):
    """Each good request is answered once, so the answers count the frames; the heartbeat counts the bad ones."""
    board, python = noisy_board, Decoder()
    board.reset()
    board.send(encode(Config(DEBOUNCE_MS, 100, 255, 1), 0))
    # A frame that noise has begun ends before the next example.
    data = b"".join(noise) + b"\0"
    found = python.feed(data)
    sent = []
    for at in range(0, len(data), piece):
        board.send(data[at : at + piece])
        sent += [one.byte for one in board.run(0.05)]
    sent += [one.byte for one in board.run(0.4)]
    came = [frame.message for frame in Decoder().feed(bytes(sent))]
    requests = [frame for frame in found if type_of(frame) < 0x80]
    assert len([one for one in came if not isinstance(one, Heartbeat | Event)]) == 1 + len(requests)
    beats = [one for one in came if isinstance(one, Heartbeat)]
    if not any(type_of(frame) == Config.TYPE for frame in requests):
        assert beats[-1].bad_frames == python.bad_frames


def type_of(frame: Frame) -> int:
    return frame.message.type if isinstance(frame.message, Unreadable) else frame.message.TYPE


def test_the_uid_is_the_one_in_the_eeprom():
    with SteppedBoard.avr(UNO) as board:
        assert Host(board).greet().uid == UID


def test_a_board_without_a_uid_makes_itself_one_and_keeps_it():
    with SteppedBoard.avr(UNO, uid=None) as board:
        host = Host(board)
        made = host.greet().uid
        assert made not in (b"\xff" * 8, bytes(8))
        board.reset()
        assert host.greet().uid == made
