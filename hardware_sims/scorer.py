"""A second scorer: what the rulebook says of a game, told from the truth of the simulated table alone.

It is slow and plain on purpose and shares nothing with the referee: disks have names here, so that nothing has to be
guessed, and each rule stands where it is used. Rulebook: Quick Start, Important Rules and the four ways to score.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hardware_sims.disks import Disk
from hardware_sims.players import Flicked
from vision.board import HolesBoard

_MOVED_MM = 0.5
"""A disk that lies further than this from where it lay has been moved."""


@dataclass(frozen=True, slots=True)
class Off:
    """A disk that has to come off, and why in the words of the fixed forms."""

    disk: Disk
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is right after one flick."""

    flick: Flicked
    off: tuple[Off, ...]
    """What has to come off now that did not have to before."""
    on_board: tuple[Disk, ...]
    left: int
    """How many disks left the board by this flick."""
    unmet: tuple[str, ...]
    """Disks that should have been taken off before it and were not: they count no more."""
    judged: tuple[str, ...]
    """Disks that this flick brought or moved."""


@dataclass(frozen=True, slots=True)
class Stake:
    """A match as it stands before a game: who begins it, and what it is played for."""

    mode: str = "match"
    threshold: int = 11
    points: tuple[int, int] = (0, 0)
    starter: str = "a"
    sudden_death: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What is right at the end of a game. Pairs have player A first."""

    count: tuple[int, int]
    winner: str | None
    points: tuple[int, int] | None
    match: tuple[int, int] | None
    match_winner: str | None
    next_starter: str
    """Who flicks first in the next game of the match, or of any game where only single games are played."""
    sudden_death: bool
    begins: str
    """Who flicks first in what is played next: after a match sides are switched, so that the same person starts."""


@dataclass(slots=True)
class Scorer:
    """Follows one game by its truth, flick by flick."""

    board: HolesBoard
    stake: Stake
    flicks: int = 0
    turn: str = field(init=False)
    used: dict[str, int] = field(default_factory=lambda: {"a": 0, "b": 0})
    ordered: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    """Disks on the board that should have come off and stayed."""

    def __post_init__(self) -> None:
        self.turn = self.stake.starter

    def flick(self, flicked: Flicked) -> Verdict:
        """What is right after a flick; it is taken as the next one of the game."""
        before = {disk.name: disk for disk in flicked.before if disk.lying != "beside"}
        after = {disk.name: disk for disk in flicked.disks if disk.lying != "beside"}
        unmet = tuple(sorted(name for name in self.ordered if name in before))
        self.dead.update(unmet)
        self.ordered.clear()

        judged = tuple(name for name, disk in after.items() if name not in before or _has_moved(before[name], disk))
        off = []
        for name in judged:
            why = why_off(self.board, after[name])
            if name not in self.dead and why is not None:
                off.append(Off(after[name], why))
        # The agreed remedy for an illegal flick: the flicked disk comes off, whatever it hit stays.
        illegal = flicked.illegal or flicked.player != self.turn
        if illegal and flicked.disk in after:
            off.append(Off(after[flicked.disk], "illegal-flick"))
        self.ordered.update(one.disk.name for one in off)

        gone = [name for name in before if name not in after]
        left = len(gone) + (flicked.disk not in after)
        self.flicks += 1
        self.used[flicked.player] += 1
        # Who flicks out of turn has spent a disk, and it is still the other one's turn.
        if flicked.player == self.turn or self.used[self.turn] == 12:
            self.turn = other(flicked.player)
            if self.used[self.turn] == 12:
                self.turn = other(self.turn)
        return Verdict(flicked, tuple(off), tuple(after.values()), left, unmet, judged)

    def end(self, disks: Iterable[Disk]) -> Result:
        """What is right at the game's end, when these disks lie on the board."""
        counting = [disk for disk in disks if disk.name not in self.dead and disk.name not in self.ordered]
        return result(self.board, self.stake, counting)


def why_off(board: HolesBoard, disk: Disk) -> str | None:
    """Why a disk may not stay where it lies, or None where it may."""
    if disk.cell is not None:
        # Nobody's disk may lie in the own front row, however it got there.
        row = disk.cell[0]
        if disk.colour == "a" and row == 1:
            return "own-front-row"
        if disk.colour == "b" and row == board.rows:
            return "own-front-row"
        return None
    # Halfway over the launch line or more it stays, towards the centre of the board.
    if disk.y_mm < board.launch_line_mm:
        return "own-launch-area" if disk.colour == "a" else "opposing-launch-area"
    if disk.y_mm > board.length_mm - board.launch_line_mm:
        return "own-launch-area" if disk.colour == "b" else "opposing-launch-area"
    return None


def result(board: HolesBoard, stake: Stake, disks: Sequence[Disk]) -> Result:
    """The score of a finished game and the match after it."""
    far = {"a": in_row(disks, "a", board.rows), "b": in_row(disks, "b", 1)}
    near = {"a": in_row(disks, "a", board.rows - 1), "b": in_row(disks, "b", 2)}
    if stake.mode == "double-row":
        count = {player: 2 * far[player] + near[player] for player in "ab"}
    elif stake.mode == "three-in-a-row":
        count = {player: lines(board, disks, player) for player in "ab"}
    else:
        count = far
    winner = None
    if count["a"] > count["b"]:
        winner = "a"
    if count["b"] > count["a"]:
        winner = "b"
    starter = winner if winner is not None else other(stake.starter)
    pair = (count["a"], count["b"])
    if stake.mode == "basic":
        return Result(pair, winner, None, None, winner, starter, False, starter)

    given = {"a": 0, "b": 0}
    if winner is not None:
        if stake.mode == "double-row":
            given[winner] = abs(count["a"] - count["b"])
        elif stake.mode == "match" and count[winner] == board.columns:
            given[winner] = 4
        else:
            given[winner] = 2
    elif stake.mode != "three-in-a-row" and far["a"] == far["b"] == board.columns:
        given = {"a": 4, "b": 4}
    elif count["a"] > 0:
        given = {"a": 1, "b": 1}

    points = (given["a"], given["b"])
    stands = (stake.points[0] + points[0], stake.points[1] + points[1])
    at_threshold = [player for player, total in zip("ab", stands, strict=True) if total >= stake.threshold]
    if stake.sudden_death:
        match_winner, sudden_death = winner, winner is None
    elif len(at_threshold) == 2:
        # The markers go down to the bottom, and the first game that is no tie decides.
        stands, match_winner, sudden_death = (0, 0), None, True
    else:
        match_winner, sudden_death = (at_threshold[0] if at_threshold else None), False
    begins = starter if match_winner is None else other(stake.starter)
    return Result(pair, winner, points, stands, match_winner, starter, sudden_death, begins)


def in_row(disks: Iterable[Disk], player: str, row: int) -> int:
    """How many of a player's disks lie in the holes of a row."""
    return len([disk for disk in disks if disk.cell is not None and disk.colour == player and disk.cell[0] == row])


def lines(board: HolesBoard, disks: Iterable[Disk], player: str) -> int:
    """How many lines of three a player has in adjacent holes of the last four rows on the other side."""
    cells = {disk.cell for disk in disks if disk.colour == player and disk.cell is not None}
    rows = range(board.rows - 3, board.rows + 1) if player == "a" else range(1, 5)
    found = 0
    for row in rows:
        for column in range(1, board.columns + 1):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                three = [(row + step * down, column + step * right) for step in range(3)]
                if all(cell in cells and cell[0] in rows for cell in three):
                    found += 1
    return found


def close_mm(board: HolesBoard, disk: Disk) -> float:
    """How far a disk on the surface lies from the middle of the nearer launch line."""
    return abs(min(disk.y_mm, board.length_mm - disk.y_mm) - board.launch_line_mm)


def other(player: str) -> str:
    """The other one of the two."""
    return "b" if player == "a" else "a"


def _has_moved(before: Disk, after: Disk) -> bool:
    return before.cell != after.cell or math.hypot(before.x_mm - after.x_mm, before.y_mm - after.y_mm) > _MOVED_MM
