"""Our figures, each beside its peer in the same run."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from companion.sources import BoardCamera
from firmware_protocol.codec import encode
from firmware_protocol.messages import BAUD, Event
from vision.board import Image, Profile
from vision.calibration import Calibration
from vision.camera import Frame, decode
from vision.disks import read_disks, read_table
from vision.sighting import Reading
from vision.usual import read_disks_the_usual_way

_ROUNDS = 9
_NEAR_MM = 8.0
"""A sighting further than this from a disk is not of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One picture with its truth: each disk's colour, place in millimetres and hole."""

    jpeg: bytes
    image_bgr: Image
    before_bgr: Image
    """The same table one flick earlier"""
    calibration: Calibration
    profile: Profile
    disks: tuple[tuple[str, tuple[float, float], tuple[int, int] | None], ...]


@dataclass(frozen=True, slots=True)
class GridFigures:
    """How to measure what the firmware achieves: shares of what the wire allows, by the line's speed in bits a second,
    and from a sensor's change to the last byte of its event, in milliseconds beyond the debounce time."""

    upload_share: Callable[[int], float]
    """With this program's driver."""
    one_by_one_share: Callable[[int], float]
    """One frame at a time."""
    event_delays_ms: Callable[[], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside its peer's."""

    row: str
    ours: float
    peer: float
    unit: str

    def to_json(self) -> dict[str, Any]:
        """The row as `companion bench --json` prints it."""
        ratio = round(self.ours / self.peer, 3) if self.peer else None
        return {"row": self.row, "ours": self.ours, "peer": self.peer, "ratio": ratio, "unit": self.unit}


def measure(samples: Sequence[Sample], moved: Image) -> Iterator[Row]:
    """The rows, as they are measured. `moved` is the first sample's table with a hand in it."""
    first = samples[0]
    yield _timed(
        "a first reading of a 1080p picture, beside decoding it",
        lambda: [read_disks(s.image_bgr, s.calibration, s.profile) for s in samples],
        lambda: [decode(s.jpeg) for s in samples],
        len(samples),
    )
    yield _timed(
        "a first reading, beside the usual recipe (warp, HoughCircles, nearest colour)",
        lambda: [read_disks(s.image_bgr, s.calibration, s.profile) for s in samples],
        lambda: [read_disks_the_usual_way(s.image_bgr, s.calibration, s.profile) for s in samples],
        len(samples),
    )
    known = [read_table(s.before_bgr, s.calibration, s.profile) for s in samples]
    yield _timed(
        "a following reading of a known table, after a flick, beside decoding it",
        lambda: [
            read_table(s.image_bgr, s.calibration, s.profile, table) for s, table in zip(samples, known, strict=True)
        ],
        lambda: [decode(s.jpeg) for s in samples],
        len(samples),
    )
    still, changing = _watched(first), _watched(first)
    pair = [Frame(n, n / 15, image) for n, image in enumerate((moved, first.image_bgr))]
    yield _timed(
        "a following frame with a hand over the table, beside decoding it",
        lambda: [changing.watch(frame) for frame in pair],
        lambda: [decode(first.jpeg) for _ in pair],
        len(pair),
    )
    yield _timed(
        "a following frame in which nothing changed, beside decoding it",
        lambda: still.watch(Frame(9, 0.6, first.image_bgr)),
        lambda: decode(first.jpeg),
        1,
    )
    ours = [_compare(s, read_disks(s.image_bgr, s.calibration, s.profile)) for s in samples]
    following = [
        _compare(s, read_table(s.image_bgr, s.calibration, s.profile, table).reading)
        for s, table in zip(samples, known, strict=True)
    ]
    usual = [_compare(s, read_disks_the_usual_way(s.image_bgr, s.calibration, s.profile)) for s in samples]
    for name, part in (("median", 0.5), ("at 95 %", 0.95)):
        yield Row(
            f"error of disk centres on rendered pictures, {name}, beside the usual recipe",
            round(_quantile([error for errors, _ in ours for error in errors], part), 3),
            round(_quantile([error for errors, _ in usual for error in errors], part), 3),
            "mm",
        )
    for name, read in (("first reading", ours), ("following reading", following)):
        yield Row(
            f"rendered boards wholly right, {name}, beside the usual recipe",
            round(100 * statistics.mean(whole for _, whole in read), 1),
            round(100 * statistics.mean(whole for _, whole in usual), 1),
            "%",
        )


def grid_rows(figures: GridFigures) -> Iterator[Row]:
    """The grid's rows, as they are measured, each with its limit."""
    for baud, least in ((BAUD, 85), (1_000_000, 70)):
        yield Row(
            f"256 LED colours to an ATmega2560 in simavr at {baud} bits a second, of what the wire allows (at least"
            f" {least}), beside one frame at a time",
            round(100 * figures.upload_share(baud), 1),
            round(100 * figures.one_by_one_share(baud), 1),
            "%",
        )
    yield Row(
        f"from a sensor's change to the end of its event, beyond the debounce time, p99, ATmega328P in simavr at {BAUD}"
        " bits a second (at most 3), beside the frame alone",
        round(_quantile(list(figures.event_delays_ms()), 0.99), 2),
        round(len(encode(Event(0, 0, 0, 0), 0)) * 10_000 / BAUD, 2),
        "ms",
    )


def _watched(sample: Sample) -> BoardCamera:
    """A camera that has looked at the sample's table and knows its noise."""
    camera = BoardCamera(sample.profile, sample.calibration)
    for n in range(3):
        frame = Frame(n, n / 15, sample.image_bgr)
        camera.watch(frame)
    camera.look(frame, hand=False, readings=1)
    return camera


def _timed(name: str, ours: Callable[[], object], peer: Callable[[], object], count: int) -> Row:
    """Medians over rounds in which both take turns, for one of `count` pictures."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for work, taken in zip((ours, peer), times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append((time.perf_counter() - begin) * 1000 / count)
    return Row(name, round(statistics.median(times[0]), 2), round(statistics.median(times[1]), 2), "ms")


def _compare(sample: Sample, reading: Reading) -> tuple[list[float], bool]:
    """The errors of the disks found, in millimetres, and whether the board is wholly right."""
    left, errors, whole = list(reading.disks), [], True
    for colour, (x, y), cell in sample.disks:
        apart = {id(s): ((s.centre_mm[0] - x) ** 2 + (s.centre_mm[1] - y) ** 2) ** 0.5 for s in left}
        nearest = min(left, key=lambda s: apart[id(s)], default=None)
        if nearest is None or apart[id(nearest)] > _NEAR_MM:
            whole = False
            continue
        left.remove(nearest)
        errors.append(apart[id(nearest)])
        whole = whole and nearest.colour == colour and nearest.cell == cell
    return errors, whole and not left


def _quantile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")
