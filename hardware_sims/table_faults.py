"""What can go wrong at a simulated table, by name: each fault as the settings that make it, to be switched on and off.

The camera's own settings are in `camera.Settings`, its mounting in `view.View`, the light in `scene.Room`, the habits
of players in `players.Person`; faults of the grid's line are in `faults` and `sensors`.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hardware_sims.camera import Settings
from hardware_sims.faults import (
    Corrupt,
    Delay,
    Drop,
    Duplicate,
    Fault,
    Flip,
    Foreign,
    Insert,
    Merge,
    Reboot,
    Split,
    Stall,
    Unplug,
    WrongBaud,
)
from hardware_sims.scene import Lamp
from hardware_sims.sensors import Bounce, Ghosts, SensorFault, Stuck
from hardware_sims.view import View

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")
P = TypeVar("P", bound="DataclassInstance")


class Kind(StrEnum):
    """What a fault is about."""

    MOUNTING = "mounting"
    """How the camera hangs: it stays so for a whole game."""
    LIGHT = "light"
    PICTURE = "picture"
    CAMERA = "camera"
    PLAYERS = "players"
    GRID = "grid"


@dataclass(frozen=True, slots=True)
class TableFault:
    """One fault; what it says of settings, view, room and habits replaces what is usual."""

    kind: Kind
    title: str
    """For a button."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)
    room: Mapping[str, Any] = field(default_factory=dict)
    habits: Mapping[str, Any] = field(default_factory=dict)
    unplugged: bool = False
    """Whether the grid is pulled out."""
    line: tuple[Fault, ...] = ()
    """What is wrong with the grid's line; times count from when it is switched on."""
    sensors: tuple[SensorFault, ...] = ()
    a_side: str | None = None
    """Where player A sits in the picture, which people have to say: the board looks the same from either end."""


_LOW_LAMPS = (
    Lamp((-750.0, 420.0, 700.0), 90.0, (0.95, 0.88, 0.78)),
    Lamp((600.0, -500.0, 1300.0), 200.0, (0.18, 0.2, 0.24)),
)

TABLE_FAULTS: dict[str, TableFault] = {
    "perspective": TableFault(Kind.MOUNTING, "Camera at a slant", view={"tilt_deg": 28.0, "distance_mm": 640.0}),
    "distortion": TableFault(Kind.MOUNTING, "Poor lens", view={"distortion": (-0.06, 0.01)}),
    "rotated": TableFault(Kind.MOUNTING, "Turned camera", view={"roll_deg": 23.0, "distance_mm": 760.0}),
    "upside-down": TableFault(Kind.MOUNTING, "Camera upside down", view={"roll_deg": 180.0}, a_side="left"),
    "mirrored": TableFault(Kind.MOUNTING, "Mirrored picture", view={"mirrored": True}, a_side="left"),
    "shadows": TableFault(Kind.LIGHT, "Long shadows", room={"lamps": _LOW_LAMPS, "ambient": (0.22, 0.23, 0.26)}),
    "glare": TableFault(Kind.LIGHT, "Glare", room={"gloss": 0.22}),
    "dark": TableFault(Kind.LIGHT, "Dim light", settings={"exposure": 0.3, "noise_levels": 3.0}),
    "tinted": TableFault(Kind.LIGHT, "Warm light", settings={"white_balance": (1.25, 1.0, 0.7)}),
    "flicker": TableFault(Kind.LIGHT, "Flickering light", settings={"flicker": 0.06}),
    "hunting": TableFault(Kind.PICTURE, "Hunting exposure", settings={"hunt": 0.25, "hunt_period_s": 5.0}),
    "noise": TableFault(Kind.PICTURE, "Noise", settings={"noise_levels": 6.0}),
    "motion-blur": TableFault(Kind.PICTURE, "Slow shutter", settings={"shutter_ms": 33.0}),
    "out-of-focus": TableFault(Kind.PICTURE, "Out of focus", settings={"blur_px": 1.6}),
    "jpeg": TableFault(Kind.PICTURE, "Strong compression", settings={"jpeg_quality": 45}),
    "warm-up": TableFault(Kind.CAMERA, "Camera starts anew", settings={"restart_rate": 1 / 250, "warm_up_frames": 20}),
    "drop-outs": TableFault(Kind.CAMERA, "Lost pictures", settings={"drop_rate": 0.35}),
    "frozen": TableFault(Kind.CAMERA, "Frozen picture", settings={"freeze_rate": 1 / 120, "freeze_frames": 30}),
    "lost": TableFault(Kind.CAMERA, "Camera unplugged", settings={"outage_rate": 1 / 300, "outage_s": 8.0}),
    "bumps": TableFault(Kind.CAMERA, "Knocked camera", settings={"bump_rate": 1 / 200}),
    "hands": TableFault(Kind.PLAYERS, "Hands in the way", habits={"reaches_over": 0.8, "reaches_in": 0.5}),
    "illegal-flicks": TableFault(
        Kind.PLAYERS, "Illegal flicks", habits={"illegal_flicks": 0.25, "second_touches": 0.2, "touches_others": 0.2}
    ),
    "out-of-turn": TableFault(Kind.PLAYERS, "Flicks out of turn", habits={"out_of_turn": 0.2}),
    "ignored-orders": TableFault(Kind.PLAYERS, "Ignored orders", habits={"ignores_orders": 0.6}),
    "early-lifts": TableFault(Kind.PLAYERS, "Disks lifted early", habits={"lifts_early": 0.6}),
    "grid-unplugged": TableFault(Kind.GRID, "Grid unplugged", unplugged=True),
}


def _line(title: str, *faults: Fault) -> TableFault:
    return TableFault(Kind.GRID, title, line=faults)


def _sensors(title: str, *faults: SensorFault) -> TableFault:
    return TableFault(Kind.GRID, title, sensors=faults)


_BYTES = 0.002
"""A frame of LEDs is hurt about every third time."""
_OFTEN_S, _SELDOM_S = (tuple(float(s) for s in range(1, 3600, every)) for every in (3, 15))

GRID_FAULTS: dict[str, TableFault] = {
    "grid-flips": _line("Bits flipped", Flip(_BYTES)),
    "grid-corrupt": _line("Bytes spoilt", Corrupt(_BYTES)),
    "grid-drops": _line("Bytes lost", Drop(_BYTES)),
    "grid-inserts": _line("Bytes that nobody sent", Insert(_BYTES)),
    "grid-doubles": _line("Bytes twice", Duplicate(_BYTES)),
    "grid-splits": _line("Messages in pieces", Split(0.1)),
    "grid-merges": _line("Messages together", Merge()),
    "grid-delays": _line("Slow line", Delay(0.03, 0.05)),
    "grid-stalls": _line("Line stands still", Stall(0.6, 0.03)),
    "grid-wrong-speed": _line("Wrong speed", WrongBaud(57_600)),
    "grid-foreign": _line("Another program writes", Foreign(_OFTEN_S)),
    "grid-restarts": _line("Grid starts anew", Reboot(_SELDOM_S)),
    "grid-loose": _line("Loose plug", Unplug(_SELDOM_S, for_s=2.0)),
    "sensors-bounce": _sensors("Contacts bounce", Bounce(150.0)),
    "sensor-stuck": _sensors("A sensor is stuck", Stuck(10, occupied=True)),
    "sensor-dead": _sensors("A sensor is dead", Stuck(10, occupied=False)),
    "sensors-ghosts": _sensors("Sensors without diodes", Ghosts()),
}
"""Faults of a grid besides its being pulled out; the table itself is not touched by them."""

FAULTS = TABLE_FAULTS | GRID_FAULTS


@dataclass(frozen=True, slots=True)
class Usual(Generic[R, P]):
    """A table as it is without any fault: camera, room and people, whatever they play."""

    settings: Settings
    view: View
    room: R
    people: tuple[P, P]

    def under(self, names: Iterable[str]) -> "Usual[R, P]":
        """The same table with these faults. Raises KeyError for one that there is not."""
        table = self
        for fault in (FAULTS[name] for name in names):
            first, second = (replace(person, **fault.habits) for person in table.people)
            table = Usual(
                replace(table.settings, **fault.settings),
                replace(table.view, **fault.view),
                replace(table.room, **fault.room),
                (first, second),
            )
        return table

    def faults(self) -> tuple[str, ...]:
        """The faults that there can be at this table."""
        room, person = ({one.name for one in fields(kind)} for kind in (self.room, self.people[0]))
        return tuple(n for n, fault in FAULTS.items() if room.issuperset(fault.room) and person >= {*fault.habits})


class Switches:
    """Which faults of a table are on; from any thread."""

    def __init__(self, names: Iterable[str], on: Iterable[str] = ()) -> None:
        """`names` are those that there can be."""
        self._names = tuple(names)
        self._on = tuple(on)
        self._lock = threading.Lock()

    def switch(self, name: str, on: bool) -> None:
        """Switches a fault on or off. Raises KeyError for an unknown one."""
        if name not in self._names:
            raise KeyError(name)
        with self._lock:
            self._on = tuple(one for one in self._names if (on if one == name else one in self._on))

    def states(self) -> dict[str, bool]:
        """Every fault, and whether it is on."""
        on = self.on()
        return {name: name in on for name in self._names}

    def on(self) -> tuple[str, ...]:
        """The faults that are on."""
        with self._lock:
            return self._on
