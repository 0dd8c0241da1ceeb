"""Waits out hands, motion and flicker until the table is at rest, for pictures and sensor scans alike.

A look is due once, after each time that something moved, and when the table has been at rest long enough: in pictures,
so that one odd picture does not count, and in time, so that a fast camera does not catch a disk between two bounces.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum


class Stage(StrEnum):
    """How the table stands just now."""

    MOVING = "moving"
    HAND = "hand"
    RESTING = "resting"
    SETTLED = "settled"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait before the table counts as settled."""

    frames: int = 3
    """Pictures in a row that are alike."""
    rest_s: float = 0.2
    """A disk that rolls out or wobbles moves between any two pictures; a bounce is over in less."""
    hand_s: float = 6.0
    """What lies over the table unmoved for so long is no hand: nobody keeps one so still."""
    readings: int = 5
    """At most so many are weighed against one another when no two in a row agree."""


SETTLED_ALREADY = Patience(frames=1, rest_s=0.0, hand_s=math.inf, readings=1)
"""For pictures that were each taken of a table at rest."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Where the wait stands. `hand_seen` is since the last look; `rest_s` is how long nothing has moved."""

    patience: Patience = Patience()
    stage: Stage = Stage.RESTING
    hand_seen: bool = False
    frames: int = 0
    rest_s: float = 0.0
    last_s: float | None = None
    due: bool = True

    def after(self, t_s: float, *, moved: bool, hand: bool, changed: bool) -> "Settle":
        """The wait after one more picture at `t_s`: whether it moved since the picture before, shows a hand, or
        differs from the last look."""
        step_s = 0.0 if self.last_s is None else max(0.0, t_s - self.last_s)
        frames = 1 if moved else self.frames + 1
        rest_s = 0.0 if moved else self.rest_s + step_s
        due = self.due or moved or hand or changed
        waited = frames >= self.patience.frames and rest_s >= self.patience.rest_s
        if moved:
            stage = Stage.MOVING
        elif hand and rest_s < self.patience.hand_s:
            stage = Stage.HAND
        elif not due:
            stage = Stage.STEADY
        else:
            stage = Stage.SETTLED if waited else Stage.RESTING
        return replace(
            self,
            stage=stage,
            hand_seen=self.hand_seen or hand,
            frames=frames,
            rest_s=rest_s,
            last_s=t_s,
            due=due,
        )

    def looked(self) -> "Settle":
        """The wait after the look that was due has been taken."""
        return replace(self, stage=Stage.STEADY, hand_seen=False, due=False)
