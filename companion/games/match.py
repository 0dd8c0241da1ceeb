"""Scores a finished Pathways game, keeps the match points and says who starts the next game.

Rulebook: Basic Scoring, Match Scoring and Game Play, Double Row Scoring, Three in a Row. Pairs have player A first.
"""

from dataclasses import dataclass, replace

from companion.inputs import Setup
from companion.terms import Mode, Player

Pair = tuple[int, int]

LINE_LENGTH = 3
"""Disks in a line of Three in a Row."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What lies in the scoring holes when a game ends: far row, the row before it, and lines of three."""

    far: Pair = (0, 0)
    near: Pair = (0, 0)
    lines: Pair = (0, 0)


@dataclass(frozen=True, slots=True)
class Score:
    """A finished game under one mode: what is compared, who has more, and the match points (none in a basic game)."""

    count: Pair
    winner: Player | None
    points: Pair | None


def score(mode: Mode, tally: Tally, columns: int) -> Score:
    """The score of a finished game on a board with so many holes in the far row."""
    perfect = tally.far == (columns, columns)
    match mode:
        case Mode.BASIC:
            return Score(tally.far, leader(tally.far), None)
        case Mode.MATCH:
            win = 4 if max(tally.far) == columns else 2
            return _scored(tally.far, win, tie=4 if perfect else 1)
        case Mode.DOUBLE_ROW:
            totals = (2 * tally.far[0] + tally.near[0], 2 * tally.far[1] + tally.near[1])
            return _scored(totals, abs(totals[0] - totals[1]), tie=4 if perfect else 1)
        case Mode.THREE_IN_A_ROW:
            return _scored(tally.lines, 2, tie=1)


def _scored(count: Pair, win: int, tie: int) -> Score:
    match leader(count):
        case Player.A:
            return Score(count, Player.A, (win, 0))
        case Player.B:
            return Score(count, Player.B, (0, win))
        case None:
            each = tie if count[0] > 0 else 0
            return Score(count, None, (each, each))


def leader(pair: Pair) -> Player | None:
    """Who has more; None where they are equal."""
    if pair[0] == pair[1]:
        return None
    return Player.A if pair[0] > pair[1] else Player.B


def youngest(ages: Pair) -> Player | None:
    """Who starts a match by the rulebook; None where the players must agree."""
    return leader((-ages[0], -ages[1]))


@dataclass(frozen=True, slots=True)
class Match:
    """How a match stands while game number `game` is played; `starter` flicks first in it."""

    mode: Mode
    threshold: int
    columns: int
    names: tuple[str, str]
    first_starter: Player
    starter: Player
    points: Pair = (0, 0)
    sudden_death: bool = False
    winner: Player | None = None
    game: int = 1

    @property
    def decided(self) -> bool:
        """Whether the match is won; basic games go on as long as the players like."""
        return self.winner is not None and self.mode is not Mode.BASIC

    def after(self, finished: Score) -> "Match":
        """The match once a game is finished: points, threshold, sudden death and the next starter."""
        starter = self.starter.other if finished.winner is None else finished.winner
        match = replace(self, starter=starter, game=self.game + 1)
        if finished.points is None:
            return replace(match, winner=finished.winner)
        points = (self.points[0] + finished.points[0], self.points[1] + finished.points[1])
        if self.sudden_death:
            return replace(match, points=points, winner=finished.winner, sudden_death=finished.winner is None)
        reached = [player for player, total in zip(Player, points, strict=True) if total >= self.threshold]
        match reached:
            case [winner]:
                return replace(match, points=points, winner=winner)
            case [_, _]:
                # Only a tie can bring both there; the markers start again at the bottom of the track.
                return replace(match, points=(0, 0), sudden_death=True)
            case _:
                return replace(match, points=points)

    def again(self) -> "Match":
        """The next match of the same two people: sides and disks are switched, the same person starts."""
        first = self.first_starter.other
        return replace(
            self,
            names=(self.names[1], self.names[0]),
            first_starter=first,
            starter=first,
            points=(0, 0),
            sudden_death=False,
            winner=None,
            game=1,
        )


def start_match(setup: Setup) -> Match:
    """The match as the players set it up."""
    return Match(
        setup.mode,
        setup.threshold,
        setup.field.columns,
        setup.names,
        setup.starter,
        setup.starter,
        setup.points,
        setup.sudden_death,
    )
