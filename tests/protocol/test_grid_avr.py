"""Our driver and the real firmware in simavr, in simulated time: all arrives, and the wire is kept full."""

import random
from functools import partial

import pytest

from companion.bench import GridFigures, grid_rows
from firmware_protocol.driver import Changed, Found, GridEvent, Rgb
from firmware_protocol.exchange import Exchange
from firmware_protocol.grid import GridDriver
from hardware_sims.avr import MEGA, UNO, SteppedBoard, missing
from hardware_sims.avr_figures import SteppedPort, event_delays_ms, led_upload_share, picture_share

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"no AVR simulation: {missing()}")


@pytest.mark.parametrize("build", [UNO, MEGA], ids=lambda build: build.mcu)
@pytest.mark.parametrize(("baud", "least"), [(115_200, 0.85), (1_000_000, 0.70)], ids=["115200", "1 M"])
def test_pictures_and_changes_arrive_and_the_wire_is_kept_full(build, baud, least):
    rng = random.Random(0)
    with SteppedBoard.avr(build) as board:
        port = SteppedPort(board)
        driver = GridDriver((build.rows, build.columns), baud=baud)
        exchange = Exchange(port, driver, clock=board.time_s)
        told: list[GridEvent] = []
        while not told:
            told += exchange.round()
        assert isinstance(told[0], Found)
        took_s, sent_bytes = 0.0, 0
        for n in range(10):
            board.set_sensor(n, True)
            wanted = tuple(Rgb(*rng.randbytes(3)) for _ in range(build.cells))
            driver.want(wanted)
            began_s = board.time_s()
            port.show_s, port.sent_bytes = 0.0, 0
            while not port.show_s:
                told += exchange.round()
            took_s += port.show_s - began_s
            sent_bytes += port.sent_bytes
            until_s = board.time_s() + 0.02
            while board.time_s() < until_s:
                told += exchange.round()
            assert board.leds() == wanted
        until_s = board.time_s() + 1.0
        while board.time_s() < until_s:
            told += exchange.round()
        wire_s = sent_bytes * 10 / baud
        counters = board.counters()
    assert told[1:] == [Changed(n, True) for n in range(10)]
    assert driver.traffic.retries == 0
    assert (driver.traffic.device_overruns, counters.overruns) == (0, 0)
    print(f"{build.mcu} at {baud}: {wire_s / took_s:.0%} of the wire, {1000 * took_s / 10:.1f} ms a picture")
    if build is MEGA:
        assert wire_s / took_s >= least


def test_bench_tells_what_the_firmware_achieves_and_more_than_one_frame_at_a_time():
    one_by_one = partial(led_upload_share, windowed=False, uploads=2)
    figures = GridFigures(partial(picture_share, pictures=2), one_by_one, partial(event_delays_ms, changes=20))
    slow, fast, event = grid_rows(figures)
    assert 85 <= slow.ours <= 100
    assert 70 <= fast.ours <= slow.ours
    assert (slow.ours > slow.peer, fast.ours > fast.peer) == (True, True)
    assert event.peer < event.ours <= 3
    assert [row.unit for row in (slow, fast, event)] == ["%", "%", "ms"]
