"""One grid under one board, as the session uses it: what its sensors add to a look, and what its LEDs show.

The link has a thread of its own. What it tells waits in a queue until the session's loop calls `hear`; nothing here
is touched by another thread.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import ClassVar

from companion.games.position import Witness
from companion.grid_conditions import WITHOUT_DIODES, GridConditions
from companion.inputs import Look
from companion.lights import Light, Shown, frame, lights, side_colours
from companion.live import Hardware, Live
from companion.referee import Standing
from companion.ruling import Ruling
from companion.sensors import REST_S, Sensors, camera_holds, is_mirrored, look_without_camera, with_sensors
from companion.terms import Cell, Field
from firmware_protocol.driver import Found, GridEvent, Lost, Rgb
from firmware_protocol.errors import LinkError
from firmware_protocol.link import Counters
from firmware_protocol.messages import SensorKind
from vision.board import Grid, HolesBoard, Profile

_log = logging.getLogger(__name__)

Events = SimpleQueue[tuple[float, GridEvent]]
"""What the link tells, each with the time of the session's clock at which it came."""

DISPUTE_S = 2.0
"""So long a look that the sensors contradict is held back: an event lost on the wire is made up for by then."""
ALONE_REST_S = 0.8
"""Without a camera a look waits for this: a flick that moves several disks is over in less."""
_COUNT_EVERY_S = 2.0


class TableGrid:
    """The LEDs and sensors of one board, whatever is played on it. Times are the clock's, in seconds."""

    _uses_sensors: ClassVar[bool] = True
    """Whether the game that is played on it goes by what lies on a cell."""

    def __init__(
        self,
        profile: Profile,
        events: Events,
        show: Callable[[tuple[Rgb, ...]], None],
        counters: Callable[[], Counters],
        live: Live,
        *,
        alone: bool = False,
        believed: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`show` and `counters` are the link's. `alone`: nothing else watches the board. Not `believed`: only the LEDs
        are used, whatever the sensors say."""
        self._prepare(profile)
        self.clock = clock
        self.cells = (profile.grid or Grid()).cells(profile.board.rows, profile.board.columns)
        """The cell at each index."""
        self._events = events
        self._show = show
        self._counters = counters
        self._live = live
        self._alone = alone
        self._believed = believed and self._uses_sensors
        self._sensors = Sensors(self.cells)
        self._looked: dict[Cell, bool] = {}
        """What the sensors told at the last look."""
        self._lights: Mapping[Cell, Light] = {}
        self._shown = Shown()
        self._judged = GridConditions()
        self._conditions: tuple[str, ...] = ()
        self._since = _now()
        self._counted = counters()
        self._counted_s = clock()
        self._equip()

    def _prepare(self, profile: Profile) -> None:
        """What a game's grid takes from the profile besides; ValueError where the game is not played on its board."""

    @property
    def is_there(self) -> bool:
        """Whether the grid answers, as far as was heard."""
        return self._sensors.device is not None

    def wait(self) -> None:
        """Waits until the link has found the grid. Raises LinkError where it cannot be had, or has no sensors."""
        t_s, event = self._events.get()
        if isinstance(event, Lost):
            raise LinkError(event.why)
        if isinstance(event, Found) and event.device.sensors is SensorKind.NONE:
            raise LinkError(f"{event.device.driver}: it has LEDs and no sensors; the game needs a camera besides")
        self._take(event, t_s)

    def hear(self) -> None:
        """Takes what the link has told since."""
        while True:
            try:
                t_s, event = self._events.get_nowait()
            except Empty:
                return
            self._take(event, t_s)
            if isinstance(event, Lost):
                on = "nothing is watched until it is back" if self._alone else "the game goes on with the camera alone"
                _log.warning("%s; %s", event.why, on)

    def _take(self, event: GridEvent, t_s: float) -> None:
        if isinstance(event, Lost) and self.is_there:
            self._judged.lost(t_s)
        if self._believed or isinstance(event, Lost):
            self._sensors.take(event, t_s)
        elif isinstance(event, Found):
            self._sensors.take(replace(event, occupied=()), t_s)
        if isinstance(event, Found | Lost):
            self._since = _now()
            self._judge(t_s)

    def told(self, rest_s: float = REST_S) -> dict[Cell, bool]:
        """Whether each cell is occupied, as far as its sensor is believed and has been still so long."""
        return self._sensors.told(self.clock(), rest_s)

    def told_beside_camera(self) -> dict[Cell, bool]:
        """What is `told` without what may be felt for want of diodes: of that a camera knows better."""
        ghosts = self._sensors.ghosts()
        return {cell: occupied for cell, occupied in self.told().items() if cell not in ghosts}

    def has_changed(self, rest_s: float = REST_S) -> bool:
        """Whether sensors that were still for so long tell otherwise than at the last look, or of a cell more."""
        return any(self._looked.get(cell) is not occupied for cell, occupied in self.told(rest_s).items())

    def show(self, lights: Mapping[Cell, Light]) -> None:
        """Shows this on the LEDs, the cells without a light dark, and on the page how the grid is; call it often:
        lights blink by being shown again."""
        now_s = self.clock()
        self._lights = lights
        shown = self._shown.after(frame(lights, self.cells, now_s), now_s)
        if shown is not self._shown:
            self._shown = shown
            self._show(shown.colours)
        if now_s - self._counted_s >= _COUNT_EVERY_S:
            self._judge(now_s)
        self._equip()

    def _judge(self, t_s: float) -> None:
        """Looks at the link's counters."""
        self._counted, self._counted_s = self._counters(), t_s
        self._conditions = self._judged.after(t_s, self._counted)

    def _hold_against(self, seen: Mapping[Cell, bool], overruled: Iterable[Cell] = ()) -> None:
        """Holds the sensors against the cells that a camera surely saw occupied, or empty."""
        for one in self._sensors.compare(seen, self.clock(), overruled):
            _log.warning("%s", one)

    def _equip(self) -> None:
        """Shows the grid on the page as it is."""
        without_diodes = self.is_there and self._sensors.diodes.missing
        self._live.equip(
            Hardware(
                self._counted,
                self._since,
                self._alone,
                self._believed,
                tuple((cell, self._lights[cell]) for cell in self.cells if cell in self._lights),
                tuple(self._sensors.says().items()),
                self._sensors.stuck(),
                self.cells,
                (*self._conditions, *((WITHOUT_DIODES,) if without_diodes else ())),
            )
        )


class BoardGrid(TableGrid):
    """The grid under a board with holes, on which Pathways is played."""

    def _prepare(self, profile: Profile) -> None:
        if not isinstance(profile.board, HolesBoard):
            raise ValueError("Pathways is played on a board with holes")
        self._board = Field(**asdict(profile.board))
        self._colours = side_colours(profile.colours)
        self.mirrored = False
        """Whether the sensors tell what the camera saw at the last look in a mirror, and not what it saw."""
        self._looks = 0
        self._held: Look | None = None
        self._held_s = 0.0
        self._meant: tuple[Standing, tuple[Ruling, ...]] | None = None

    def witness(self, look: Look | None, standing: Standing) -> Look | None:
        """The camera's look with what the sensors tell, None where there is none yet to be judged.

        A look that they contradict is held back for a moment; what comes meanwhile is joined to it.
        """
        now_s = self.clock()
        if look is not None:
            self._looked |= self.told()
            if self._held is None:
                self._held_s = now_s
            self._held = look if self._held is None else _joined(self._held, look)
        if self._held is None:
            return None
        settled = () if standing.game is None else standing.game.settled
        known = {one.dispute for one in settled}
        seen = with_sensors(self._held, self.told_beside_camera(), self._board)
        if not known.issuperset(seen.disputed) and now_s - self._held_s < DISPUTE_S:
            return None
        overruled = {one.dispute.cell for one in settled if one.right is Witness.SENSOR}
        held = camera_holds(self._held, self._board)
        self.mirrored = self._believed and is_mirrored(held, self._sensors.says(), self._board)
        self._hold_against(held, overruled)
        seen, self._held = with_sensors(self._held, self.told_beside_camera(), self._board), None
        return seen

    def look(self) -> Look:
        """What the sensors tell without a camera."""
        self._looks += 1
        self._looked = self.told()
        return look_without_camera(self._looked, self._board, self._looks - 1, self.clock())

    def light(self, standing: Standing, rulings: tuple[Ruling, ...]) -> None:
        """Shows on the LEDs how things stand, after these rulings, and on the page how the grid is."""
        if self._meant is None or self._meant[0] is not standing or self._meant[1] is not rulings:
            self._meant = standing, rulings
            self._lights = lights(standing, rulings, self.cells, self._colours)
        self.show(self._lights)


def _joined(earlier: Look, later: Look) -> Look:
    """Two looks as one: the board as it is later, with all that was seen meanwhile."""
    return replace(later, hand=earlier.hand or later.hand, flights=earlier.flights + later.flights)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
