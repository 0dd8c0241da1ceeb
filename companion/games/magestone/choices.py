"""What players can choose: in a go to walk, to attack, a spell, to activate, collect, begin the Rite, or to end it.

To resign and to agree to a draw is open to them too, at any time; the list of legal choices has neither.
"""

from dataclasses import dataclass

from companion.games.magestone.dice import Roll
from companion.games.magestone.pieces import Seat, Unit
from companion.terms import Cell


@dataclass(frozen=True, slots=True)
class Move:
    """A walk: every square that the unit enters, in order. A Mage collects and a Priest raises where it ends."""

    unit: Unit
    path: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack on the unit on a square; the first of several Warriors is the lead, who falls if the defender wins.

    Each roll after the first one counts only where all before it were tied.
    """

    units: tuple[Unit, ...]
    target: Cell
    rolls: tuple[Roll, ...] = ()


@dataclass(frozen=True, slots=True)
class Bolt:
    """The Mage's spell on a unit in range; dice are rolled against a Mage only."""

    target: Cell
    rolls: tuple[Roll, ...] = ()


@dataclass(frozen=True, slots=True)
class Nova:
    """The Mage's spell on every enemy around it."""


@dataclass(frozen=True, slots=True)
class Activate:
    """The Mage activates all that it carries, on its base."""


@dataclass(frozen=True, slots=True)
class Collect:
    """The Mage takes the stones of the square on which it stands already."""


@dataclass(frozen=True, slots=True)
class BeginRite:
    """The Priest declares the Rite of the Nexus."""


@dataclass(frozen=True, slots=True)
class End:
    """The go is over; what is left of it is lost."""


@dataclass(frozen=True, slots=True)
class Resign:
    """A player gives up, also out of turn, and is eliminated: the units come off the board."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Draw:
    """All who are left agree that nobody wins."""


Choice = Move | Attack | Bolt | Nova | Activate | Collect | BeginRite | End | Resign | Draw
