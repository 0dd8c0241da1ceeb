"""What the referee is told: a look at the settled board, a declaration, or a correction. All are frozen values."""

from dataclasses import dataclass

from companion.terms import Cell, Lying, Player


@dataclass(frozen=True, slots=True)
class SeenDisk:
    """One disk at rest; its centre lies within 2 `sigma_mm` of the place given in 95 % of cases."""

    colour: Player
    x_mm: float
    y_mm: float
    cell: Cell | None
    lying: Lying
    sigma_mm: float = 0.0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """The settled board, with what was seen since the look before.

    `flights` names each disk seen in flight (None where its colour could not be told); `hand` says that a hand was
    over the table; `hidden` are cells that could not be seen. `frame` and `t_s` say when the board had settled.
    """

    disks: tuple[SeenDisk, ...]
    hidden: tuple[Cell, ...] = ()
    hand: bool = False
    flights: tuple[Player | None, ...] = ()
    frame: int = 0
    t_s: float = 0.0
