"""Whole games on the simulated table, refereed as a real one is, and each ruling held against the table's truth.

A game is played in virtual time and in one thread: pictures from the simulated camera, sensors and LEDs over a
simulated wire, the session's own loop. What is right is said by the simulation's second scorer, which shares nothing
with the rules here; the command line hands both in. The same case plays the same game, picture by picture.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import Queue, SimpleQueue
from typing import TYPE_CHECKING, Any

from companion.findings import Finding, Told, Wrong, compare
from companion.games.position import DISKS_EACH
from companion.grid import BoardGrid, Events
from companion.inputs import Correction, Declaration, Declared, Input, Setup
from companion.live import STALLED_S, Live, Watch
from companion.referee import Referee
from companion.ruling import (
    Accepted,
    GameStarted,
    Ruling,
)
from companion.session import Session
from companion.terms import Field, Mode, Player
from firmware_protocol.driver import Lost
from firmware_protocol.errors import LinkError
from firmware_protocol.exchange import PORT_ERRORS, Port
from firmware_protocol.grid import GridDriver
from firmware_protocol.link import Counters
from vision.board import Image, Profile
from vision.camera import Frame

if TYPE_CHECKING:
    from hardware_sims.board import Board
    from hardware_sims.players import Finished
    from hardware_sims.ports import InProcess
    from hardware_sims.scorer import Result, Scorer, Stake, Verdict
    from hardware_sims.virtual import Sensed, VirtualTable

MOST_UNDECIDED = 0.02
"""Share of the flicks that may be asked about."""
FAULT_FLICKS = (3, 14)
"""A fault is there from this flick on until that one, unless it lasts a whole game."""
_LOST_S = 5.0
"""Without a picture for so long the camera counts as lost, as it does in `vision.camera`."""
_MOST_FRAMES = 12_000
_AFTER_FRAMES = 300
"""A game takes fewer frames; and so few may pass until the next one begins."""
_REPLUG_S = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    """All that a game depends on."""

    seed: int
    faults: tuple[str, ...] = ()
    width: int = 1280
    grid: bool = True
    disks_each: int = DISKS_EACH

    def to_json(self) -> dict[str, Any]:
        """The case as a JSON object."""
        return {**asdict(self), "faults": list(self.faults)}


def case_from_json(data: dict[str, Any]) -> Case:
    """The case that `to_json` wrote. Raises KeyError, TypeError or ValueError."""
    faults = tuple(str(name) for name in data["faults"])
    return Case(int(data["seed"]), faults, int(data["width"]), bool(data["grid"]), int(data["disks_each"]))


@dataclass(slots=True)
class Outcome:
    """A game that was played, with what is wrong about its rulings."""

    case: Case
    told: tuple[Told, ...]
    verdicts: "tuple[Verdict, ...]"
    findings: tuple[Finding, ...]
    asked: tuple[tuple[int, str], ...]
    """The flicks about which people were asked, and why."""
    frames: int
    watched: tuple[tuple[Watch, str], ...]
    """What the page said while a fault was there."""
    end: "tuple[Finished | None, Result | None]"
    """The truth of the game's end, and what is right there."""

    @property
    def flicks(self) -> int:
        return len(self.verdicts)

    @property
    def wrong(self) -> int:
        """How many flicks were ruled wrongly; a wrong end counts as its last flick."""
        return len(self._wrong)

    @property
    def undecided(self) -> int:
        """How many flicks people were asked about, and nothing was ruled wrongly."""
        return len({n for n, _ in self.asked} - self._wrong)

    @property
    def right(self) -> int:
        """How many flicks were ruled rightly, without asking."""
        return self.flicks - self.wrong - self.undecided

    @property
    def kinds(self) -> Counter[str]:
        """How often what was wrong."""
        return Counter(finding.wrong.value for finding in self.findings)

    @property
    def _wrong(self) -> set[int]:
        return {finding.flick for finding in self.findings}

    def to_json(self) -> dict[str, Any]:
        """The game in one line."""
        return {
            **self.case.to_json(),
            "flicks": self.flicks,
            "right": self.right,
            "undecided": self.undecided,
            "wrong": self.wrong,
            "kinds": dict(self.kinds),
            "asked": [why for _, why in self.asked],
            "frames": self.frames,
            "watched": sorted({f"{watch}: {why}" for watch, why in self.watched}),
        }


class Wire:
    """The grid's driver on a port in virtual time: what the link's thread does, as far as time has come."""

    def __init__(self, port: Port, clock: Callable[[], float], size_rc: tuple[int, int]) -> None:
        self.events: Events = SimpleQueue()
        self._port = port
        self._clock = clock
        self._driver = GridDriver(size_rc)
        self._trouble = ""
        self._try_at_s = 0.0
        self._there = True
        self._driver.begin(0.0)

    def show(self, colours: Any) -> None:  # noqa: ANN401
        """Shows these colours on the LEDs."""
        self._driver.want(colours)

    def counters(self) -> Counters:
        """What the link has seen."""
        device = self._driver.device if self._there else None
        return Counters("in process", device, self._trouble, traffic=self._driver.traffic)

    def drive_until(self, t_s: float, sleep: Callable[[float], None]) -> None:
        """Lets time pass on the wire."""
        while self._clock() < t_s:
            try:
                if not self._there:
                    if self._clock() < self._try_at_s:
                        sleep(min(t_s, self._try_at_s) - self._clock())
                        continue
                    self._port.set_baud(self._driver.baud)
                    self._there, self._trouble = True, ""
                    self._driver.begin(self._clock())
                self._exchange(t_s)
            except (*PORT_ERRORS, LinkError) as gone:
                self._try_at_s = self._clock() + _REPLUG_S
                if self._there:
                    why = str(gone) if isinstance(gone, LinkError) else f"the port is gone ({gone})"
                    self._there, self._trouble = False, f"in process: {why}"
                    self.events.put((self._clock(), Lost(self._trouble)))

    def _exchange(self, t_s: float) -> None:
        driver = self._driver
        data = driver.to_send(self._clock())
        if data:
            self._port.write(data)
        data = self._port.read(max(min(driver.due_s(), t_s) - self._clock(), 0.0))
        now_s = self._clock()
        events = list(driver.feed(data, now_s)) if data else []
        if now_s >= driver.due_s():
            events += driver.tick(now_s)
        for event in events:
            self.events.put((now_s, event))


@dataclass(slots=True)
class Game:
    """One game as it is played: `play` runs it to its end."""

    case: Case
    table: "VirtualTable"
    sensed: "Sensed[InProcess[Board]] | None"
    referee: Referee
    said: "Queue[Declaration | Correction]"
    profile: Profile
    stake: "Stake"
    keep: Callable[[int, Image], None] | None = None
    """Given every picture with its frame."""
    told: list[Told] = field(default_factory=list)
    watched: list[tuple[Watch, str]] = field(default_factory=list)
    frame: int = 0
    _live: Live = field(init=False)

    def play(
        self, scorer: "Scorer", mounting: Iterable[str], a_side: str | None = None, *, mirrored: bool = False
    ) -> Outcome:
        """Plays the game and judges it; faults of the mounting are there all the time.

        A mirrored picture shows another board that looks the same, and rightly ruled is what that one shows.
        """
        self._live = Live(simulated=True)
        grid = None
        wire = None
        if self.sensed is not None:
            port = self.sensed.port
            size_rc = (self.profile.board.rows, self.profile.board.columns)
            wire = Wire(port, lambda: port.now_s, size_rc)
            grid = BoardGrid(self.profile, wire.events, wire.show, wire.counters, self._live, clock=lambda: port.now_s)
        session = Session(
            self.profile, self.referee, self._tell, a_side=a_side, live=self._live, said=self.said, grid=grid
        )
        field_mm = Field(**asdict(self.profile.board))
        setup = Setup(
            Mode(self.stake.mode),
            self.stake.threshold,
            points=self.stake.points,
            starter=Player(self.stake.starter),
            sudden_death=self.stake.sudden_death,
            field=field_mm,
        )
        self.said.put(Declaration(Declared.START, setup))
        lasting = frozenset(mounting)
        passing = tuple(name for name in self.case.faults if name not in lasting)
        session.run(self._frames(wire, passing))
        flicked = [flick for flick in self.table.players.flicked if flick.game == 1]
        verdicts = tuple(scorer.flick(flick) for flick in flicked)
        if mirrored:
            verdicts = tuple(_mirrored(verdict, field_mm) for verdict in verdicts)
        finished = next((end for end in self.table.players.finished if end.game == 1), None)
        result = None if finished is None else scorer.end(finished.disks)
        findings, asked = compare(self.told, verdicts, finished, result)
        if lasting.issuperset(self.table.on):
            lost = (Finding(Wrong.NOT_RECOVERED, len(verdicts), self.frame, says) for says in self._not_recovered())
            findings = (*findings, *lost)
        return Outcome(
            self.case, tuple(self.told), verdicts, findings, asked, self.frame, tuple(self.watched), (finished, result)
        )

    def _not_recovered(self) -> Iterator[str]:
        """What is lost still, once no fault is there any more."""
        state, why = self._live.watching()
        if state not in (Watch.WATCHING, Watch.HAND, Watch.MOVING):
            yield f"{state}: {why}"
        hardware = self._live.hardware()
        if hardware is not None and hardware.counters.device is None:
            yield f"the grid: {hardware.counters.trouble or 'it is not found'}"

    def _tell(self, given: Input, rulings: tuple[Ruling, ...]) -> None:
        self.told.append(Told(self.frame, given, rulings))

    def _frames(self, wire: Wire | None, passing: Sequence[str]) -> Iterator[Frame | None]:
        last: Image | None = None
        last_s = 0.0
        over_at: int | None = None
        for moment in self.table.play(self.stake.starter):
            self.frame = moment.n
            if self.sensed is not None and wire is not None:
                self.sensed.feel({disk.cell for disk in moment.disks if disk.cell is not None})
                wire.drive_until(moment.t_s, self.sensed.port.sleep)
            self._switch(passing)
            image = self.table.image(moment)
            # A picture that comes again is that of a camera that is stuck: `vision.camera` leaves it out.
            if image is None or image is last:
                why = "it gives no picture" if image is None else "it repeats one picture"
                if moment.t_s - last_s >= _LOST_S:
                    self._live.watch(Watch.CAMERA_LOST, why)
                elif moment.t_s - last_s >= STALLED_S:
                    self._live.watch(Watch.STALLED, why)
                yield None
            else:
                last, last_s = image, moment.t_s
                if self.keep is not None:
                    self.keep(moment.n, image)
                yield Frame(moment.n, moment.t_s, image)
            if self.table.on:
                self.watched.append(self._live.watching())
                self.watched += [(Watch.WATCHING, why) for why in (*self._live.conditions(), *self._of_grid())]
            if over_at is None and self.table.players.finished:
                over_at = moment.n
            started = sum(
                isinstance(ruling, Accepted) and isinstance(ruling.event, GameStarted)
                for told in self.told[-3:]
                for ruling in told.rulings
            )
            if over_at is not None and (started or moment.n > over_at + _AFTER_FRAMES):
                return
            if moment.n > _MOST_FRAMES:
                return

    def _of_grid(self) -> Iterator[str]:
        """What the page says to be the matter with the grid."""
        hardware = self._live.hardware()
        if hardware is None:
            return
        if hardware.counters.trouble:
            yield f"grid not connected: {hardware.counters.trouble}"
        yield from hardware.conditions
        yield from (f"left out, stuck: row {row}, column {column}" for row, column in hardware.stuck)

    def _switch(self, passing: Sequence[str]) -> None:
        begin, end = FAULT_FLICKS
        flicks = len(self.table.players.flicked)
        on = begin <= flicks < end
        for name in passing:
            if (name in self.table.wanted()) is not on:
                self.table.switch(name, on)
        if self.sensed is not None:
            self.sensed.suffer(self.table.wanted())


def _mirrored(verdict: "Verdict", field: Field) -> "Verdict":
    """The verdict on the board as a mirrored picture shows it: left is right."""

    def turned(disk: Any) -> Any:  # noqa: ANN401
        cell = None if disk.cell is None else (disk.cell[0], field.columns + 1 - disk.cell[1])
        return replace(disk, x_mm=field.width_mm - disk.x_mm, cell=cell)

    off = tuple(replace(one, disk=turned(one.disk)) for one in verdict.off)
    return replace(verdict, off=off, on_board=tuple(turned(disk) for disk in verdict.on_board))


class BundleError(Exception):
    """A bundle that cannot be read; the message names the file and the remedy."""


def write_bundle(folder: Path, outcome: Outcome, pictures: Sequence[tuple[int, bytes]], wire: str) -> None:
    """Writes a failing game: what it depends on, what is wrong, its log, pictures (JPEG) and the serial record."""
    (folder / "frames").mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(json.dumps(outcome.case.to_json()) + "\n")
    (folder / "findings.txt").write_text("".join(f"{finding}\n" for finding in outcome.findings))
    (folder / "log.jsonl").write_text(log_of(outcome))
    (folder / "truth.jsonl").write_text("".join(f"{json.dumps(asdict(one))}\n" for one in outcome.verdicts))
    (folder / "serial.txt").write_text(wire)
    for frame, jpeg in pictures:
        (folder / "frames" / f"{frame:06d}.jpg").write_bytes(jpeg)


def read_bundle(folder: Path) -> tuple[Case, str]:
    """The case of a bundle and its log. Raises BundleError."""
    try:
        return case_from_json(json.loads((folder / "case.json").read_text())), (folder / "log.jsonl").read_text()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(f"{folder}: not a bundle of `companion soak` ({error}); give the folder it wrote") from error


def log_of(outcome: Outcome) -> str:
    """Every input with its rulings, one JSON object a line."""
    return "".join(f"{json.dumps(told.to_json())}\n" for told in outcome.told)


def first_difference(log: str, other: str) -> int | None:
    """The number of the first line in which two logs differ, from 1; None where they are the same."""
    lines, others = log.splitlines(), other.splitlines()
    for number, (line, twin) in enumerate(zip(lines, others, strict=False), 1):
        if line != twin:
            return number
    return None if len(lines) == len(others) else min(len(lines), len(others)) + 1


def frames_around(findings: Iterable[Finding], before: int = 45, after: int = 3) -> set[int]:
    """The frames that show how the failures came about: a few seconds before each, of the first few."""
    shown: set[int] = set()
    for finding in list(dict.fromkeys(finding.frame for finding in findings))[:4]:
        shown.update(range(finding - before, finding + after + 1))
    return shown
