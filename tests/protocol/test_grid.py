"""What the driver of our protocol tells of a grid and shows on it, whatever the line does to the bytes."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_protocol.codec import Decoder, encode, encode_raw
from firmware_protocol.driver import DARK, Changed, Found, GridEvent, Lost, Rgb, Sensed
from firmware_protocol.errors import LinkError, NoAnswer
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from firmware_protocol.messages import (
    BAUD,
    HEARTBEAT_MS,
    Ack,
    Bitmap,
    Event,
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
)
from hardware_sims.board import Board
from hardware_sims.faults import At, Corrupt, Delay, Drop, Fault, Flip, Insert, Side, Split, Stall, WrongBaud
from hardware_sims.ports import InProcess

RED, GREEN, BLUE = Rgb(255, 0, 0), Rgb(0, 255, 0), Rgb(0, 0, 255)


class Host:
    """A driver on a simulated grid, in virtual time; keeps what was told as the application would."""

    def __init__(self, board: Board, faults: Sequence[Fault] = (), *, seed: int = 0, **settings: object) -> None:
        self.board = board
        self.port = InProcess(board, faults, seed=seed)
        self.driver = GridDriver(**settings)
        self.exchange = Exchange(self.port, self.driver, clock=lambda: self.port.now_s)
        self.told: list[tuple[float, GridEvent]] = []
        self.occupied: list[bool] | None = None

    def run(self, for_s: float, until: Callable[[], bool] = lambda: False) -> float:
        """Runs so long, or until this holds; gives the time that it took."""
        began_s = self.port.now_s
        while self.port.now_s < began_s + for_s and not until():
            for event in self.exchange.round():
                self.told.append((self.port.now_s, event))
                self._keep(event)
        return self.port.now_s - began_s

    def find(self) -> float:
        """Runs until the grid is found."""
        took_s = self.run(10, lambda: self.occupied is not None)
        assert self.occupied is not None, "not found within 10 s"
        return took_s

    def events(self) -> list[GridEvent]:
        """What was told since the last time."""
        told, self.told = self.told, []
        return [event for _, event in told]

    def _keep(self, event: GridEvent) -> None:
        match event:
            case Found(_, occupied) | Sensed(occupied):
                self.occupied = list(occupied)
            case Lost():
                self.occupied = None
            case Changed(index, occupied):
                assert self.occupied is not None, "a change was told of a grid that is not found"
                assert self.occupied[index] != occupied, "a change was told that is none"
                self.occupied[index] = occupied


def picture(cells: int, seed: int, colours: int = 1000) -> tuple[Rgb, ...]:
    """Any colours, of so many."""
    rng = random.Random(seed)
    some = [Rgb(*rng.randbytes(3)) for _ in range(colours)]
    return tuple(rng.choice(some) for _ in range(cells))


# The grid is found -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size_rc", "settings"),
    [
        pytest.param((8, 8), {}, id="the ATmega328P's"),
        pytest.param((16, 16), {}, id="the ATmega2560's"),
        pytest.param((8, 7), {}, id="a Pathways board's"),
        pytest.param((5, 5), {}, id="an odd number of cells"),
        pytest.param((1, 1), {}, id="one cell"),
        pytest.param((1, 9), {}, id="two bytes of sensors, of which one is almost unused"),
        pytest.param((16, 16), {"rx_window": 64, "max_payload": 32}, id="little room"),
        pytest.param((8, 8), {"rx_window": 8, "max_payload": 16}, id="a window smaller than a frame"),
        pytest.param((8, 8), {"flags": Flag(0)}, id="LEDs that do not hold up its receiver"),
    ],
)
def test_when_found_the_leds_show_what_is_wanted_and_the_sensors_are_read(size_rc, settings):
    rows, columns = size_rc
    cells = rows * columns
    board = Board(rows, columns, **settings)
    board.sensors.put(cells - 1, True, 0.0)
    host = Host(board, size_rc=size_rc)
    host.driver.want(picture(cells, seed=1))
    assert host.find() < 1.0
    assert board.leds == picture(cells, seed=1)
    assert host.occupied == [False] * (cells - 1) + [True]
    [found] = host.events()
    assert (found.device.driver, found.device.uid) == ("grid", board.uid.hex())
    assert (found.device.rows, found.device.columns) == size_rc
    assert found.device.leds is LedKind.RGB
    assert found.device.sensors is SensorKind.HALL


def test_a_grid_without_sensors_is_found_with_none():
    host = Host(Board(4, 4, sensor_kind=SensorKind.NONE))
    host.driver.want((RED,) * 16)
    host.find()
    assert host.occupied == []
    assert host.board.leds == (RED,) * 16


def test_whether_it_is_simulated_is_told():
    for flags, simulated in [(Flag.SIMULATED, True), (Flag(0), False)]:
        host = Host(Board(2, 2, flags=flags))
        host.find()
        assert host.driver.device.simulated is simulated


def test_a_grid_that_restarts_when_its_port_is_opened_is_found_all_the_same():
    board = Board(8, 8)
    board.reboot(0.0, silent_s=1.9, noise=True)
    assert Host(board).find() < 3.0


def test_changes_before_it_is_found_are_part_of_what_is_found():
    host = Host(Board(8, 8, debounce_ms=1), debounce_ms=1)
    host.driver.want(picture(64, seed=2))
    while host.occupied is None:
        host.run(0.004)
        cell = len(host.events()) + int(host.port.now_s * 250) % 64
        host.port.set_sensor(cell, True)
    host.run(1.0)
    assert host.occupied == list(host.board.sensors.occupied)
    assert all(isinstance(event, Changed) for event in host.events())


# What the sensors tell ---------------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=40)
@given(cells=st.lists(st.integers(0, 63), max_size=20))
def test_every_change_is_told_once_and_in_order(cells):
    host = Host(Board(8, 8))
    host.find()
    host.events()
    expected = []
    for cell in cells:
        occupied = not host.board.sensors.occupied[cell]
        host.port.set_sensor(cell, occupied)
        host.run(0.1)
        expected.append(Changed(cell, occupied))
    host.run(2.0)
    assert host.events() == expected


def test_while_nothing_happens_nothing_is_told_and_little_is_done():
    host = Host(Board(8, 8))
    host.find()
    host.events()
    rounds = 0
    began_s = host.port.now_s
    while host.port.now_s < began_s + 60:
        host.exchange.round()
        rounds += 1
    # A byte at a time arrives: 27 for a heartbeat, and as many again for the sign of life each second.
    assert rounds < 60 * 100
    assert host.events() == []
    assert host.driver.traffic.retries == 0


@pytest.mark.parametrize("dropped", range(18), ids=lambda byte: f"byte {byte}")
def test_an_event_that_is_lost_is_made_good(dropped):
    quiet = Host(Board(8, 8))
    quiet.find()
    frame = quiet.driver.traffic.frames_in
    host = Host(Board(8, 8), [Drop(at=(At(dropped, frame),), towards=Side.HOST)])
    host.find()
    host.events()
    host.port.set_sensor(9, True)
    host.run(2.0)
    assert [type(event) for event in host.events()] in ([Sensed], [Changed])
    assert host.occupied == list(host.board.sensors.occupied)


def test_a_lost_event_is_noticed_at_the_next_one():
    host, send = scripted()
    send(Event(1, 0, 3, 1))
    assert host.feed(send.frame(Event(3, 0, 5, 1)), 1.0) == [Changed(5, True)]
    assert [type(one) for one in messages(host.to_send(1.0))] == [Sense]
    assert host.feed(send.frame(Bitmap(3, bits(16, {3, 5, 7}))), 1.0) == [Sensed(occupied(16, {3, 5, 7}))]


@pytest.mark.parametrize(
    ("heartbeat", "senses"),
    [
        pytest.param({}, False, id="all is as known"),
        pytest.param({"event_seq": 1}, True, id="one event more than came"),
        pytest.param({"occupancy_check": 5}, True, id="other cells are occupied"),
    ],
)
def test_a_heartbeat_shows_what_was_missed(heartbeat, senses):
    host, send = scripted()
    assert host.feed(send.frame(replace(send.heartbeat, **heartbeat)), 1.0) == []
    assert (messages(host.to_send(1.0)) == [Sense()]) is senses


def test_a_damaged_frame_has_the_sensors_read_anew_at_once():
    host, send = scripted()
    damaged = bytearray(send.frame(Event(1, 0, 3, 1)))
    damaged[4] ^= 1
    assert host.feed(bytes(damaged), 1.0) == []
    assert messages(host.to_send(1.0)) == [Sense()]


def test_sensors_read_anew_are_told_only_where_they_differ():
    host, send = scripted()
    assert host.feed(send.frame(Bitmap(0, bits(16, set()))), 1.0) == []
    assert host.feed(send.frame(Bitmap(0, bits(16, {1}))), 1.0) == [Sensed(occupied(16, {1}))]
    assert host.feed(send.frame(Bitmap(0, bits(16, {1}))), 1.0) == []


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Event(0, 0, 3, 1), id="an event that is in the map already"),
        pytest.param(Event(0xFFFF, 0, 3, 1), id="an event older than the map"),
        pytest.param(Event(1, 0, 16, 1), id="a cell that the grid does not have"),
        pytest.param(Event(1, 0, 3, 0), id="a cell that is so already"),
        pytest.param(Bitmap(1, b"\xff"), id="a map that is too short"),
        pytest.param(Bitmap(1, b"\xff\xff\xff"), id="a map that is too long"),
        pytest.param(Ack(Status.OK), id="an acknowledgement of nothing"),
        pytest.param(Nak(Status.BAD_VALUE), id="a refusal of nothing"),
    ],
)
def test_what_tells_nothing_new_is_not_told(message):
    host, send = scripted()
    assert host.feed(send.frame(message), 1.0) == []


def test_event_numbers_go_round():
    host, send = scripted()
    host.feed(send.frame(Bitmap(0xFFFF, bits(16, set()))), 1.0)
    assert host.feed(send.frame(Event(0, 0, 2, 1)), 1.0) == [Changed(2, True)]
    assert messages(host.to_send(1.0)) == []


@settings(deadline=None, derandomize=True)
@given(noise=st.lists(st.binary(max_size=300), max_size=5))
def test_no_noise_is_taken_for_an_event(noise):
    host, send = scripted()
    for data in noise:
        assert host.feed(data, 1.0) == []
        host.to_send(1.0)
    host.feed(b"\0", 1.0)
    assert host.feed(send.frame(Event(1, 0, 3, 1)), 1.0) == [Changed(3, True)]


def test_no_bit_of_an_event_can_be_turned_without_notice():
    frame = encode(Event(1, 123_456, 3, 1), 0)
    for at in range(8 * len(frame)):
        host, send = scripted()
        damaged = bytearray(frame)
        damaged[at // 8] ^= 1 << at % 8
        told = host.feed(bytes(damaged) + send.frame(Ack(Status.OK)), 1.0)
        # Only a turned leading zero, which is there for the remains of another frame, may leave it whole.
        assert told == [] or (at < 8 and told == [Changed(3, True)]), f"bit {at}"


# What the LEDs show ------------------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    size=st.sampled_from([(1, 1), (3, 3), (8, 8), (16, 16)]),
    pictures=st.lists(st.tuples(st.integers(0, 99), st.sampled_from([1, 2, 4, 16, 17, 300])), min_size=1, max_size=4),
    max_payload=st.sampled_from([16, 64, 248]),
)
def test_the_leds_come_to_show_whatever_is_wanted(size, pictures, max_payload):
    rows, columns = size
    host = Host(Board(rows, columns, max_payload=max_payload, rx_window=2 * max_payload + 32))
    for seed, colours in pictures:
        wanted = picture(rows * columns, seed, colours)
        host.driver.want(wanted)
        host.run(2.0)
        assert host.board.leds == wanted
    assert host.driver.traffic.retries == 0


def test_a_grid_that_takes_more_than_a_frame_carries_is_sent_frames():
    host = Host(Board(16, 16, max_payload=255, rx_window=65_535))
    wanted = picture(256, 1, 300)
    host.driver.want(wanted)
    host.run(2.0)
    assert host.board.leds == wanted


def test_what_is_not_said_is_dark_and_what_is_too_much_is_left_out():
    host = Host(Board(2, 2))
    host.driver.want((RED,))
    host.find()
    assert host.board.leds == (RED, DARK, DARK, DARK)
    host.driver.want((GREEN,) * 9)
    host.run(0.5)
    assert host.board.leds == (GREEN,) * 4


def test_only_changes_are_sent():
    host = Host(Board(16, 16))
    wanted = picture(256, seed=3)
    host.driver.want(wanted)
    host.find()
    before = host.driver.traffic.frames_out
    host.driver.want(wanted)
    host.run(0.4)
    assert host.driver.traffic.frames_out == before
    host.driver.want((RED, *wanted[1:]))
    host.run(0.4)
    assert host.driver.traffic.frames_out == before + 2  # SET_CELLS and SHOW
    assert host.board.leds[0] == RED


def test_a_frame_that_wants_nothing_of_the_host_for_long_gets_a_sign_of_life():
    host = Host(Board(4, 4, heartbeat_ms=200), heartbeat_ms=200)
    host.driver.want((RED,) * 16)
    host.find()
    host.run(20)
    assert host.board.leds == (RED,) * 16, "the grid took its host for gone"
    assert not host.board.glows


# Requests ----------------------------------------------------------------------------------------------------------


class Watched(InProcess[Board]):
    """Notes what is under way, to see the rules of the window kept."""

    def __init__(self, board: Board, window: int) -> None:
        super().__init__(board)
        self.window = window
        self.most_under_way = 0
        self._sent = Decoder()
        self._got = Decoder()
        self._under_way: dict[int, Message] = {}

    def write(self, data: bytes) -> None:
        for frame in self._sent.feed(data):
            if isinstance(frame.message, Hello):
                continue
            alone = any(isinstance(one, Show | SetBaud | Ping) for one in self._under_way.values())
            assert not alone, f"{frame.message} went out before the one before was acknowledged"
            assert not (isinstance(frame.message, Show | SetBaud | Ping) and self._under_way), (
                f"{frame.message} did not wait"
            )
            self._under_way[frame.seq] = frame.message
            length = sum(len(encode(message, seq)) for seq, message in self._under_way.items())
            assert length <= self.window or len(self._under_way) == 1, f"{length} bytes are under way"
            self.most_under_way = max(self.most_under_way, len(self._under_way))
        super().write(data)

    def read(self, wait_s: float) -> bytes:
        data = super().read(wait_s)
        for frame in self._got.feed(data):
            self._under_way.pop(frame.seq, None) if not isinstance(frame.message, Event | Heartbeat) else None
        return data


@pytest.mark.parametrize("window", [32, 64, 200, 512, 2000])
def test_no_more_is_under_way_than_there_is_room_for_and_show_goes_alone(window):
    port = Watched(Board(16, 16, rx_window=window), window)
    driver = GridDriver(baud=500_000)
    exchange = Exchange(port, driver, clock=lambda: port.now_s)
    for seed in range(20):
        driver.want(picture(256, seed, colours=5 + seed))
        end_s = port.now_s + 0.25
        while port.now_s < end_s:
            exchange.round()
    assert port.device.leds == picture(256, 19, colours=24)
    assert port.device.baud == 500_000
    assert port.most_under_way > 1 or window == 32


def test_nothing_goes_out_beside_show():
    host, send = scripted()
    host.want((RED,))
    [(seq, _)] = frames(host.to_send(1.0))
    host.feed(send.frame(replace(send.heartbeat, event_seq=1)), 1.0)
    [(sense_seq, sense)] = frames(host.to_send(1.0))
    assert sense == Sense()
    host.feed(encode(Ack(Status.OK), seq), 1.0)
    assert host.to_send(1.0) == b"", "SHOW did not wait for SENSE"
    host.feed(encode(Bitmap(1, bytes(2)), sense_seq), 1.0)
    [(show_seq, show)] = frames(host.to_send(1.0))
    assert show == Show()
    host.feed(send.frame(replace(send.heartbeat, event_seq=2)), 1.0)
    assert host.to_send(1.0) == b"", "SENSE did not wait for SHOW"
    host.feed(encode(Ack(Status.OK), show_seq), 1.0)
    assert messages(host.to_send(1.0)) == [Sense()]


@pytest.mark.parametrize(
    ("baud", "window", "faults", "least"),
    [
        pytest.param(BAUD, 512, [], 0.85, id="115200"),
        pytest.param(1_000_000, 512, [], 0.70, id="1 M"),
        pytest.param(BAUD, 255, [Delay(0.002)], 0.85, id="a small window behind USB"),
    ],
)
def test_an_upload_keeps_the_wire_full(baud, window, faults, least):
    host = Host(Board(16, 16, rx_window=window), faults, baud=baud)
    host.find()
    wanted = picture(256, seed=4, colours=256)
    host.driver.want(wanted)
    shown_s = host.run(1.0, lambda: host.board.leds == wanted)
    byte_s = 10 / baud
    # SHOW, its 30 us a LED, and the first byte of its acknowledgement are left out.
    took_s = shown_s - 256 * 30e-6 - (9 + 1) * byte_s
    wire_s = (4 * (9 + 3) + 256 * 3) * byte_s
    print(f"256 LEDs at {baud}: {took_s * 1000:.1f} ms, the wire needs {wire_s * 1000:.1f}: {wire_s / took_s:.0%}")
    assert wire_s / took_s >= least


def test_a_request_that_is_not_acknowledged_is_repeated_and_then_done():
    quiet = Host(Board(8, 8))
    quiet.find()
    sent = quiet.driver.traffic.frames_out
    # The next two frames to the grid are damaged: both times SET_CELLS.
    host = Host(Board(8, 8), [Flip(at=(At(3, sent), At(3, sent + 1)), towards=Side.DEVICE)])
    host.find()
    host.driver.want((RED,))
    host.run(0.5)
    assert host.board.leds[0] == RED
    assert host.driver.traffic.retries == 2
    host.run(1.0)
    assert host.driver.traffic.device_bad_frames == 2


def test_an_acknowledgement_that_is_lost_does_no_harm():
    quiet = Host(Board(8, 8))
    quiet.find()
    heard = quiet.driver.traffic.frames_in
    host = Host(Board(8, 8), [Flip(at=(At(3, heard),), towards=Side.HOST)])
    host.find()
    host.driver.want((RED,))
    host.run(0.5)
    assert host.board.leds[0] == RED
    assert host.driver.traffic.retries == 1


def test_a_number_that_the_grid_had_before_is_not_taken_for_done():
    host, _ = scripted()
    host.want((RED,))
    [(seq, first)] = frames(host.to_send(1.0))
    assert isinstance(first, SetCells)
    host.feed(encode(Ack(Status.REPEATED), seq), 1.0)
    [(other, second)] = frames(host.to_send(1.0))
    assert second == first
    assert other != seq
    host.feed(encode(Ack(Status.OK), other), 1.0)
    assert [type(one) for one in messages(host.to_send(1.0))] == [Show]


def test_a_grid_that_knows_no_palette_gets_its_colours_otherwise():
    host, _ = scripted(cells=64, columns=8)
    wanted = picture(64, seed=5, colours=3)
    host.want(wanted)
    [(seq, palette)] = frames(host.to_send(1.0))
    assert isinstance(palette, Palette)
    host.feed(encode(Nak(Status.UNSUPPORTED), seq), 1.0)
    told = dict(frames(host.to_send(1.0)))
    assert all(isinstance(one, SetRange) and one.format is Format.RGB for one in told.values())
    assert b"".join(one.data for one in told.values()) == bytes(value for colour in wanted for value in colour)


# Speed -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("baud", "faults", "becomes"),
    [
        pytest.param(1_000_000, [], 1_000_000, id="the grid can"),
        pytest.param(921_600, [], BAUD, id="the grid refuses"),
        pytest.param(1_000_000, [WrongBaud(BAUD)], BAUD, id="nothing is heard at the new speed"),
        pytest.param(BAUD, [], BAUD, id="not wished"),
    ],
)
def test_the_speed_is_changed_where_that_works(baud, faults, becomes):
    host = Host(Board(8, 8), faults, baud=baud)
    host.driver.want(picture(64, seed=6))
    host.find()
    assert (host.driver.baud, host.board.baud) == (becomes, becomes)
    host.port.set_sensor(5, True)
    host.run(1.0)
    assert host.occupied == list(host.board.occupied)
    assert host.board.leds == picture(64, seed=6)


@pytest.mark.parametrize("restarts", [False, True], ids=["it kept its speed", "it restarted at the usual speed"])
def test_a_grid_at_another_speed_is_found_again(restarts):
    host = Host(Board(8, 8), baud=1_000_000)
    host.find()
    assert host.board.baud == 1_000_000
    if restarts:
        host.port.reboot(silent_s=0.1)
        host.run(3.0, lambda: host.occupied is None)
    else:
        host.driver.begin(host.port.now_s)
        host.occupied = None
    assert host.find() < 3.0
    assert host.board.baud == 1_000_000


# The grid is lost --------------------------------------------------------------------------------------------------


def test_silence_of_three_heartbeats_is_the_end_and_the_grid_is_then_found_anew():
    board = Board(8, 8)
    host = Host(board)
    host.driver.want(picture(64, seed=7))
    host.find()
    host.events()
    host.port.set_sensor(1, True)
    host.run(0.5)
    host.port.reboot(silent_s=2.5)
    host.port.set_sensor(2, True)
    took_s = host.run(3.0, lambda: host.occupied is None)
    assert took_s < 3 * HEARTBEAT_MS / 1000 + 0.6
    assert [type(event) for event in host.events()] == [Changed, Lost]
    host.find()
    assert host.board.leds == picture(64, seed=7)
    assert [index for index, one in enumerate(host.occupied) if one] == [1, 2]


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(lambda send: replace(send.heartbeat, boot_id=8), id="a heartbeat with another boot id"),
        pytest.param(lambda send: replace(send.info, boot_id=8), id="INFO with another boot id"),
        pytest.param(lambda send: send.info, id="INFO that nobody asked for"),
    ],
)
def test_a_grid_that_started_anew_is_lost_and_asked_again(frame):
    host, send = scripted()
    assert host.feed(send.frame(frame(send)), 3.0) == [Lost("the grid started anew")]
    assert messages(host.to_send(3.0)) == [Hello(1, 1)]


def test_the_late_answer_to_a_repeated_hello_ends_nothing():
    host, send = scripted()
    assert host.feed(send.frame(send.info), 0.9) == []


def test_a_grid_that_was_quickly_restarted_between_two_heartbeats_is_prepared_anew():
    host = Host(Board(8, 8))
    host.driver.want(picture(64, seed=8))
    host.find()
    host.port.reboot()
    host.run(3.0)
    assert [type(event) for event in host.events()] == [Found, Lost, Found]
    assert host.board.leds == picture(64, seed=8)


def test_a_grid_that_never_answers_is_given_up_after_three_seconds():
    driver = GridDriver()
    driver.begin(10.0)
    hellos = bool(driver.to_send(10.0))
    while (now_s := driver.due_s()) < 13.0:
        assert driver.tick(now_s) == []
        hellos += bool(driver.to_send(now_s))
        assert driver.due_s() > now_s
    assert hellos == 12
    with pytest.raises(NoAnswer, match="nothing answers"):
        driver.tick(now_s)


def test_a_hello_does_no_lasting_harm_to_devices_of_other_kinds():
    writes_of_a_monome = {0x02, 0x04, 0x06, 0x08}
    speeds_of_wled = set(range(0xB0, 0xB8))
    streams_and_json_of_wled = set(b"O{")
    hello = set(GridDriver().to_send(0.0))
    assert not hello & (writes_of_a_monome | speeds_of_wled | streams_and_json_of_wled)


# Grids that cannot be used -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "size_rc", "says"),
    [
        pytest.param({"proto": 0}, None, ["protocol 0", "older", "load"], id="an older protocol"),
        pytest.param({"proto": 2}, None, ["protocol 2", "newer", "update"], id="a newer protocol"),
        pytest.param({}, (8, 7), ["8 x 8", "8 x 7", "profile"], id="another size than the board's"),
        pytest.param({}, (16, 4), ["8 x 8", "16 x 4", "profile"], id="another shape of the same size"),
    ],
)
def test_a_grid_that_cannot_be_used_is_refused_in_one_line(settings, size_rc, says):
    host = Host(Board(8, 8, **settings), size_rc=size_rc)
    with pytest.raises(LinkError) as refused:
        host.run(3.0)
    assert not isinstance(refused.value, NoAnswer)
    assert "\n" not in str(refused.value)
    assert all(word in str(refused.value) for word in says), str(refused.value)
    assert host.events() == []


def test_another_grid_than_the_one_looked_for_is_refused():
    host = Host(Board(8, 8, uid=b"ABCDEFGH"))
    host.driver.begin(0.0, uid=b"abcdefgh".hex())
    with pytest.raises(LinkError, match=b"ABCDEFGH".hex()):
        host.run(3.0)


def test_a_grid_that_refuses_what_every_grid_must_do_is_refused():
    host, _ = scripted()
    host.want((RED,))
    [(seq, _)] = frames(host.to_send(1.0))
    with pytest.raises(LinkError, match="refuses SetCells"):
        host.feed(encode(Nak(Status.UNSUPPORTED), seq), 1.0)


def test_a_grid_without_cells_is_refused():
    host = Host(Board(0, 8))
    with pytest.raises(LinkError, match="no cells"):
        host.run(3.0)


def test_an_info_that_cannot_be_read_is_refused():
    driver = GridDriver()
    with pytest.raises(LinkError, match="INFO cannot be read"):
        driver.feed(encode_raw(Info.TYPE, 0, b"\x01\x02"), 0.1)


# A bad line --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "seed"),
    [(8, 0), *(pytest.param(side, seed, marks=pytest.mark.long) for side in (8, 16) for seed in range(1, 6))],
)
def test_over_a_noisy_line_nothing_wrong_is_told_and_the_truth_within_two_seconds(side, seed):
    print(f"seed {seed}")
    rng = random.Random(seed)
    faults = [Corrupt(rate=0.01), Drop(rate=0.001), Split(rate=0.05)]
    host = Host(Board(side, side, seed=seed), faults, seed=seed)
    cells = side * side
    history: dict[int, list[bool]] = {cell: [False] for cell in range(cells)}
    colours = [RED, GREEN, BLUE, DARK]
    worst_s = 0.0
    host.find()
    while host.port.now_s < 60:
        for _ in range(rng.randrange(1, 12)):
            cell = rng.randrange(cells)
            history[cell].append(not history[cell][-1])
            host.port.set_sensor(cell, history[cell][-1])
            host.driver.want(tuple(rng.choice(colours) for _ in range(cells)))
            host.run(rng.expovariate(6))
        worst_s = max(worst_s, host.run(2.0, lambda: host.occupied == list(host.board.sensors.occupied)))
        assert host.occupied == list(host.board.sensors.occupied), f"after 2 s at {host.port.now_s:.1f} s"
    told = host.events()
    for cell, states in history.items():
        changes = [event.occupied for event in told if isinstance(event, Changed) and event.index == cell]
        assert is_within(changes, states[1:]), f"cell {cell}: told {changes} of {states}"
    assert [type(event) for event in told if isinstance(event, Found | Lost)] == [Found]
    traffic = host.driver.traffic
    print(f"truth after {worst_s:.2f} s at most; {traffic}")
    assert traffic.bad_frames > 10, "the line was not noisy"


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param([Split(rate=1.0, gap_s=0.0005)], id="every byte by itself"),
        pytest.param([Stall(s=1.0, at_s=(1.0, 3.0))], id="nothing moves for a second"),
        pytest.param([Insert(rate=0.003)], id="bytes that nobody sent"),
    ],
)
def test_a_line_that_is_only_odd_loses_nothing(faults):
    host = Host(Board(8, 8), faults)
    host.find()
    for n in range(40):
        host.port.set_sensor(n, True)
        host.driver.want((RED,) * n)
        host.run(0.2)
    host.run(2.0)
    assert host.occupied == list(host.board.sensors.occupied)
    assert host.board.leds[:40] == (*(RED,) * 39, DARK)
    assert not any(isinstance(event, Lost) for event in host.events())


def is_within(some: Sequence[bool], all_: Sequence[bool]) -> bool:
    """Whether these follow one another among those."""
    rest = iter(all_)
    return all(one in rest for one in some)


# A grid by hand ----------------------------------------------------------------------------------------------------


class Script:
    """Makes the frames of a grid that a test plays itself, and what such a grid says of itself."""

    def __init__(self, driver: GridDriver, cells: int, columns: int) -> None:
        self._driver = driver
        self.info = Info(
            1, 1, 2, 3, b"12345678", 7, cells // columns, columns, LedKind.RGB, SensorKind.REED, 248, 600, 500, Flag(0)
        )
        self.heartbeat = Heartbeat(1000, 7, 0, crc32(bytes((cells + 7) // 8)), 0, 0)

    def frame(self, message: Message) -> bytes:
        return encode(message, 0)

    def __call__(self, message: Message) -> list[GridEvent]:
        return self._driver.feed(self.frame(message), 1.0)


def scripted(cells: int = 16, columns: int = 4) -> tuple[GridDriver, Script]:
    """A driver whose grid is found at 0 s, dark and empty, and the frames to go on with."""
    driver = GridDriver()
    send = Script(driver, cells, columns)
    driver.to_send(0.0)
    driver.feed(send.frame(send.info), 0.0)
    told: list[GridEvent] = []
    while not told:
        for seq, message in frames(driver.to_send(0.0)):
            answer = Bitmap(0, bytes((cells + 7) // 8)) if isinstance(message, Sense) else Ack(Status.OK)
            told += driver.feed(encode(answer, seq), 0.0)
    assert [type(event) for event in told] == [Found]
    return driver, send


def frames(data: bytes) -> list[tuple[int, Message]]:
    return [(frame.seq, frame.message) for frame in Decoder().feed(data)]


def messages(data: bytes) -> list[Message]:
    return [message for _, message in frames(data)]


def bits(cells: int, ones: set[int]) -> bytes:
    return sum(1 << one for one in ones).to_bytes((cells + 7) // 8, "little")


def occupied(cells: int, ones: set[int]) -> tuple[bool, ...]:
    return tuple(index in ones for index in range(cells))
