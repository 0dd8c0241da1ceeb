"""The rules core: what each game allows, on plain values and the standard library alone.

A game is a module with the functions of `Game`; `GAMES` has them by the name that commands and the log use.
"""

from typing import Any, Protocol

from companion.games import pathways
from companion.inputs import Declaration, DiskCorrection, Look, Setup
from companion.ruling import Ruling
from companion.terms import Player


class Game(Protocol):
    """What the referee needs of a game. A state is a frozen value of the game's own."""

    def start(self, setup: Setup, starter: Player | None = None) -> Any:  # noqa: ANN401
        """A new game."""

    def judge(self, state: Any, given: Look | Declaration | DiskCorrection) -> tuple[Any, tuple[Ruling, ...]]:  # noqa: ANN401
        """What follows from one input: the state after it and the rulings."""


GAMES: dict[str, Game] = {"pathways": pathways}
