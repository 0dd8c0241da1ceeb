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
from hardware_sims.scene import Lamp
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
        for fault in (TABLE_FAULTS[name] for name in names):
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
        return tuple(
            n for n, fault in TABLE_FAULTS.items() if room.issuperset(fault.room) and person >= {*fault.habits}
        )


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
