"""One game of Pathways as values: the disks on the board, the flicks used, and what nobody answered yet."""

from dataclasses import dataclass
from enum import StrEnum

from companion.inputs import Dispute, Look, SeenDisk, Setup
from companion.ruling import Order, Ruling, Shot, Undecided
from companion.terms import Player

DISKS_EACH = 12


@dataclass(frozen=True, slots=True)
class Resting:
    """A disk on the board. With an order it has to come off; a doubt is a launch line too close to call."""

    disk: SeenDisk
    order: Order | None = None
    doubt: Undecided | None = None
    counts: bool = True


class Doubt(StrEnum):
    """What a question is about: whose flick it was, a flick or a hand, a hidden disk, which disk was flicked, whether
    the camera or the sensor is right, whose disk a sensor tells of."""

    TURN = "turn"
    HAND = "hand"
    HIDDEN = "hidden"
    FLICKED = "flicked"
    WITNESS = "witness"
    COLOUR = "colour"


class Witness(StrEnum):
    """Who tells what lies in a hole."""

    CAMERA = "camera"
    SENSOR = "sensor"


@dataclass(frozen=True, slots=True)
class Settled:
    """A contradiction of camera and sensor, and which of them a person has said is right."""

    dispute: Dispute
    right: Witness


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked; `look` is the look that waits for the answer."""

    doubt: Doubt
    asked: Undecided
    look: Look | None = None


@dataclass(frozen=True, slots=True)
class LastShot:
    """The last flick, whose turn it was, and the disks that can be the flicked one; None is one that left the board."""

    shot: Shot
    turn: Player
    flicked: tuple[SeenDisk | None, ...]


@dataclass(frozen=True, slots=True)
class State:
    """One game: who is to flick, how many each has flicked (A first), and the board as it stood when last judged.

    `gone` are the disks that the last change took off the board, in case they were only not seen. `settled` are the
    contradictions of camera and sensor that a person has answered.
    """

    setup: Setup
    to_flick: Player
    used: tuple[int, int] = (0, 0)
    board: tuple[Resting, ...] = ()
    question: Question | None = None
    last: LastShot | None = None
    gone: tuple[Resting, ...] = ()
    ended: bool = False
    settled: tuple[Settled, ...] = ()

    @property
    def disks(self) -> tuple[SeenDisk, ...]:
        """Every disk on the board."""
        return tuple(resting.disk for resting in self.board)

    @property
    def orders(self) -> tuple[Order, ...]:
        """Orders to take disks off that are not carried out yet."""
        return tuple(resting.order for resting in self.board if resting.order is not None)

    @property
    def questions(self) -> tuple[Undecided, ...]:
        """What a person is asked now, in the order in which answers are taken."""
        lines = tuple(resting.doubt for resting in self.board if resting.doubt is not None)
        return lines if self.question is None else (self.question.asked, *lines)

    @property
    def over(self) -> bool:
        """Whether the game is finished: all disks flicked and all orders carried out, or ended by the players."""
        return self.ended or (sum(self.used) == 2 * DISKS_EACH and not self.orders and self.question is None)

    @property
    def next_n(self) -> int:
        """The number of the flick that comes next, from 1."""
        return sum(self.used) + 1

    def flicks_left(self, player: Player) -> int:
        """How many disks a player has still to flick."""
        return DISKS_EACH - self.used[list(Player).index(player)]


Judged = tuple[State, tuple[Ruling, ...]]
"""The state after an input, and the rulings that the input gets."""


def used_after(used: tuple[int, int], player: Player, flicks: int = 1) -> tuple[int, int]:
    """The counts of used disks after so many flicks by a player; a flick given back is -1."""
    return (used[0] + flicks, used[1]) if player is Player.A else (used[0], used[1] + flicks)


def next_to_flick(used: tuple[int, int], player: Player) -> Player:
    """Who flicks after a player: the other one, while disks are left to flick."""
    left = DISKS_EACH - used_after(used, player.other, 0)[list(Player).index(player.other)]
    return player.other if left > 0 else player
