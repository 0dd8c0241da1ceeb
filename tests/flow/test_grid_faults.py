"""Claims about each fault of a grid that can be switched on: it is noticed while it lasts, and all is well after."""

import itertools

import pytest

from companion.soak import Wire
from firmware_protocol.driver import Changed, Found, Lost, Rgb, Sensed
from hardware_sims import virtual
from hardware_sims.ports import InProcess
from hardware_sims.table_faults import GRID_FAULTS, TABLE_FAULTS
from hardware_sims.virtual import Sensed as SensedTable
from vision.board import Grid

ROWS, COLUMNS = virtual.PROFILE.board.rows, virtual.PROFILE.board.columns
CELLS = Grid().cells(ROWS, COLUMNS)
COLOURS = [tuple(Rgb(n, 255 - n, 9) for _ in CELLS) for n in range(0, 250, 7)]
NOTICED = {
    "grid-flips": "damaged",
    "grid-corrupt": "damaged",
    "grid-drops": "damaged",
    "grid-inserts": "damaged",
    "grid-doubles": "damaged",
    "grid-splits": "",
    "grid-merges": "",
    "grid-delays": "",
    "grid-stalls": "",
    "grid-wrong-speed": "lost",
    "grid-foreign": "damaged",
    "grid-restarts": "found",
    "grid-loose": "lost",
    "grid-unplugged": "lost",
    "sensors-bounce": "",
    "sensor-stuck": "misled",
    "sensor-dead": "misled",
    "sensors-ghosts": "misled",
}
"""What tells of each; nothing where the line's own means make up for it."""


class Watched:
    """A grid in virtual time, whose host shows pictures and follows what the sensors tell."""

    def __init__(self) -> None:
        self.port = InProcess(virtual.grid_of(seed=3), seed=3)
        self.table = SensedTable(self.port)
        self.wire = Wire(self.port, lambda: self.port.now_s, (ROWS, COLUMNS))
        self.told = dict.fromkeys(CELLS, False)
        self.seen: set[str] = set()
        self._shown = itertools.cycle(COLOURS)
        self._filled: set[tuple[int, int]] = set()
        self.wanted = COLOURS[0]

    def pass_s(self, seconds: float, *faults: str) -> None:
        """So long, with these faults; a disk comes or goes every second, and the LEDs change three times."""
        end_s, before = self.port.now_s + seconds, self._damaged()
        for n in itertools.count():
            if self.port.now_s >= end_s:
                break
            self.table.suffer(faults)
            if n % 3 == 0:
                # Three corners of a rectangle are filled at some time: a matrix without diodes takes the fourth too.
                self._filled ^= {((1, 1), (1, 4), (5, 1), (2, 4))[n // 3 % 4]}
            self.table.feel(self._filled)
            self.wanted = next(self._shown)
            self.wire.show(self.wanted)
            self.wire.drive_until(self.port.now_s + 1 / 3, self.port.sleep)
            self._hear()
            wrong = {cell for cell, here in self.told.items() if here is not (cell in self._filled)}
            if wrong - {((1, 1), (1, 4), (5, 1), (2, 4))[n // 3 % 4]}:
                self.seen.add("misled")
        if self._damaged() > before:
            self.seen.add("damaged")

    def _damaged(self) -> int:
        traffic = self.wire.counters().traffic
        return traffic.bad_frames + traffic.device_bad_frames + traffic.retries

    def _hear(self) -> None:
        while not self.wire.events.empty():
            _, event = self.wire.events.get()
            match event:
                case Found(_, occupied) | Sensed(occupied):
                    self.told |= dict(zip(CELLS, occupied, strict=False))
                    if isinstance(event, Found):
                        self.seen.add("found")
                case Changed(index=index, occupied=here):
                    self.told[CELLS[index]] = here
                case Lost():
                    self.seen.add("lost")


def test_every_fault_of_a_grid_has_its_claim():
    assert set(NOTICED) == {*GRID_FAULTS, "grid-unplugged"}
    assert set(GRID_FAULTS).isdisjoint(TABLE_FAULTS)


def test_without_a_fault_nothing_is_noticed():
    watched = Watched()
    watched.pass_s(20)
    assert watched.seen == {"found"}


@pytest.mark.parametrize("fault", NOTICED)
def test_a_fault_is_noticed_and_passes(fault):
    watched = Watched()
    watched.pass_s(3)
    watched.seen.clear()
    watched.pass_s(40, fault)
    if NOTICED[fault]:
        assert NOTICED[fault] in watched.seen
    else:
        assert watched.seen <= {"damaged"}
    watched.pass_s(12)
    watched.seen.clear()
    watched.pass_s(6)
    assert watched.seen == set()
    assert watched.wire.counters().device is not None
    watched.wire.drive_until(watched.port.now_s + 1, watched.port.sleep)
    assert {cell for cell, here in watched.told.items() if here} == watched._filled
    assert any(led != (0, 0, 0) for led in watched.port.device.leds)
