"""A short notation for boards, so that the tables of these tests read like pictures.

`a:6,3` is A's disk in the hole at row 6, column 3; `b@120,300` is B's disk on the surface at x, y mm. A last sign says
how it lies: `/` tilted, `|` leaning. `~0.3` gives the uncertainty in mm: `a@50,69.5~0.3`.
"""

import re
from collections.abc import Callable

import pytest
from hypothesis import settings

from companion.games import pathways
from companion.games.compare import cell_mm
from companion.inputs import Declaration, Declared, Look, SeenDisk, Setup
from companion.referee import Referee
from companion.ruling import Accepted, Cleared, Do, GameOver, GameStarted, Refused, Ruling, Shot, Undecided
from companion.terms import USUAL_FIELD, Lying, Player

# The same examples on every run; how long one takes says nothing about the rules.
settings.register_profile("rules", derandomize=True, deadline=None)
settings.load_profile("rules")

TOKEN = re.compile(r"([ab])(?::(\d+),(\d+)|@(-?[\d.]+),(-?[\d.]+))([/|]?)(?:~([\d.]+))?")


def _disk(token: str) -> SeenDisk:
    found = TOKEN.fullmatch(token)
    assert found is not None, token
    colour, row, column, x_mm, y_mm, lies, sigma_mm = found.groups()
    cell = None if row is None else (int(row), int(column))
    place = (float(x_mm), float(y_mm)) if cell is None else cell_mm(USUAL_FIELD, cell)
    lying = {"/": Lying.TILTED, "|": Lying.LEANING, "": Lying.FLAT if cell is None else Lying.IN_CELL}[lies]
    return SeenDisk(Player(colour), *place, cell, lying, float(sigma_mm or 0))


@pytest.fixture(scope="session")
def disks() -> Callable[[str], tuple[SeenDisk, ...]]:
    """Disks from the notation, divided by spaces."""
    return lambda text: tuple(_disk(token) for token in text.split())


@pytest.fixture(scope="session")
def look(disks) -> Callable[[str], Look]:
    """A look in words: the disks, then any of `hand`, `flew` (`flew-a` with the colour seen) and `hidden-4,5`."""

    def read(text: str) -> Look:
        words = text.split()
        hidden = [word[7:].split(",") for word in words if word.startswith("hidden-")]
        flights = [Player(word[5:]) if word[5:] else None for word in words if word.startswith("flew")]
        return Look(
            disks(" ".join(word for word in words if TOKEN.fullmatch(word))),
            tuple((int(row), int(column)) for row, column in hidden),
            "hand" in words,
            tuple(flights),
        )

    return read


@pytest.fixture(scope="session")
def told() -> Callable[[tuple[Ruling, ...]], list[str]]:
    """Rulings in a few words each: what happened, and what is ordered off."""
    return lambda rulings: [_in_words(ruling) for ruling in rulings]


def _in_words(ruling: Ruling) -> str:
    match ruling:
        case Accepted(event=Shot() as shot):
            words = f"{shot.n} {shot.player} left {shot.left_board}"
        case Accepted(event=Cleared()):
            words = "cleared"
        case Accepted(event=GameOver() as over):
            words = f"over {over.result}"
        case Accepted(event=GameStarted() as started):
            words = f"game {started.game} {started.starter}"
        case Accepted():
            words = "noted"
        case Refused():
            words = "refused"
        case Undecided():
            words = f"undecided {' or '.join(ruling.candidates)}"
    orders = "".join(
        f", {order.colour} {'off' if order.do is Do.REMOVE else 'flat'} {order.why}" for order in ruling.orders
    )
    return words + orders


@pytest.fixture
def referee() -> Referee:
    """A basic game set up, A to flick."""
    referee = Referee()
    referee.take(Declaration(Declared.START, Setup()))
    return referee


@pytest.fixture(scope="session")
def flicked_out(look) -> Callable[[int], list[Look]]:
    """The looks of so many flicks, A first, each disk in a hole of its own in the middle rows."""

    def looks(flicks: int) -> list[Look]:
        rows = {"a": (4, 6), "b": (3, 5)}
        board: list[str] = []
        seen = []
        for n in range(flicks):
            colour = "ab"[n % 2]
            row, column = rows[colour][n // 2 // 6], n // 2 % 6 + 1
            board.append(f"{colour}:{row},{column}")
            seen.append(look(" ".join(board) + " hand"))
        return seen

    return looks


@pytest.fixture(scope="session")
def new_game() -> Callable[..., pathways.State]:
    """A game of Pathways; names are those of the set-up."""
    return lambda **setup: pathways.start(Setup(**setup))
