"""Folds inputs into the game and the match. It owns the current standing, and what undo needs, and nothing else.

Opening a stored match takes the same inputs again: the same rulings and the same standing come out.
"""

from dataclasses import dataclass, replace
from typing import Any

from companion.games import pathways
from companion.games.match import Match, Score, score, start_match
from companion.inputs import Declaration, Declared, Input, Look, Setup, Undo, disk_to_json
from companion.ruling import (
    CORRECTION,
    Accepted,
    GameOver,
    GameStarted,
    Refused,
    Ruling,
    Undecided,
    event_to_json,
    order_to_json,
)
from companion.terms import Mode

_SCORING = {
    Mode.BASIC: "Basic Scoring",
    Mode.MATCH: "Match Scoring and Game Play",
    Mode.DOUBLE_ROW: "Double Row Scoring",
    Mode.THREE_IN_A_ROW: "Alternate Bonus Game: Three in a Row",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything the referee knows: the match as it stood when the game began, and the game."""

    match: Match | None = None
    game: pathways.State | None = None

    @property
    def score(self) -> Score | None:
        """The score of the game once it is over."""
        if self.match is None or self.game is None or not self.game.over:
            return None
        return score(self.match.mode, pathways.scoring(self.game), self.match.columns)

    @property
    def match_now(self) -> Match | None:
        """The match with the game counted in once it is over; the same as `match` while it is played."""
        finished = self.score
        return self.match if self.match is None or finished is None else self.match.after(finished)


class Referee:
    """The current standing; `take` is the only way to change it."""

    def __init__(self) -> None:
        self._entry = 0
        self._standing = Standing()
        self._past: list[tuple[int, Standing]] = []

    @property
    def standing(self) -> Standing:
        """How things stand now."""
        return self._standing

    def take(self, given: Input) -> tuple[Ruling, ...]:
        """Take the next input; the rulings it gets, none where nothing happened. Inputs are entries 1, 2, 3 ...

        START is entry 1 again: each match is a record of its own, and undo does not reach back beyond it.
        """
        if isinstance(given, Declaration) and given.what is Declared.START:
            self._entry, self._standing, self._past = 0, Standing(), []
        self._entry += 1
        if isinstance(given, Undo):
            return (self._undo(given),)
        before = self._standing
        self._standing, rulings = judge(before, given)
        if self._standing != before:
            self._past.append((self._entry, before))
        return rulings

    def _undo(self, undo: Undo) -> Ruling:
        changes = [entry for entry, _ in self._past if undo.before is None or entry >= undo.before]
        if not changes:
            return Refused(CORRECTION, "there is nothing to undo")
        entry = changes[-1] if undo.before is None else changes[0]
        place = next(place for place, (changed, _) in enumerate(self._past) if changed == entry)
        self._standing = self._past[place][1]
        del self._past[place:]
        return Accepted(CORRECTION, f"back to before entry {entry}")


def judge(standing: Standing, given: Input) -> tuple[Standing, tuple[Ruling, ...]]:
    """What follows from one input: the standing after it and the rulings. Undo is the referee's own."""
    if isinstance(given, Undo):
        raise ValueError("undo needs the standings before; Referee keeps them")
    if isinstance(given, Declaration) and given.what is Declared.START:
        setup = given.setup or Setup()
        return _begin(start_match(setup), setup)
    match, game = standing.match_now, standing.game
    if match is None or game is None:
        return standing, () if isinstance(given, Look) else (Refused(CORRECTION, "no game is set up"),)
    if isinstance(given, Declaration) and given.what is Declared.NEXT_GAME:
        if not game.over:
            return standing, (Refused(CORRECTION, "the game is not over; end it first"),)
        return _begin(match.again() if match.decided else match, game.setup)
    if isinstance(given, Look) and game.over and match.winner is None and pathways.board_is_empty(game, given):
        return _begin(match, game.setup)
    return with_game(standing, pathways.judge(game, given))


def with_game(standing: Standing, judged: pathways.Judged) -> tuple[Standing, tuple[Ruling, ...]]:
    """The standing with the game as judged; where that ends the game, or changes how it ended, this is ruled too."""
    game, rulings = judged
    after = replace(standing, game=game)
    if after.score is not None and after.score != standing.score:
        rulings = (*rulings, game_over(after))
    return after, rulings


def _begin(match: Match, setup: Setup) -> tuple[Standing, tuple[Ruling, ...]]:
    why = f"game {match.game}: {match.starter.label} flicks first"
    started = Accepted("Quick Start", why, GameStarted(match.game, match.starter))
    return Standing(match, pathways.start(setup, match.starter)), (started,)


def game_over(standing: Standing) -> Accepted:
    """The ruling that ends the game with what stands, whether or not all is flicked. It needs a game."""
    match, game = standing.match, standing.game
    if match is None or game is None:
        raise ValueError("there is no game to end")
    finished = score(match.mode, pathways.scoring(game), match.columns)
    return finish(match.after(finished), finished)


def finish(match: Match, finished: Score) -> Accepted:
    """The ruling on a finished game that the match has counted in."""
    points = None if finished.points is None else match.points
    over = GameOver(
        finished.count, finished.winner, finished.points, points, match.winner, match.starter, match.sudden_death
    )
    return Accepted(_SCORING[match.mode], _over_sentence(match, over), over)


def _over_sentence(match: Match, over: GameOver) -> str:
    if over.points is None:
        end = "a tie: play again" if over.winner is None else f"{over.winner.label} wins"
        return f"{over.result}: {end}"
    said = f"{over.result}: {over.points[0]} to A and {over.points[1]} to B"
    if match.winner is not None:
        return f"{said}; {match.winner.label} wins the match"
    if match.sudden_death:
        return f"{said}; sudden death: the first game that is no tie decides the match"
    return f"{said}; the match stands {match.points[0]}-{match.points[1]}"


def events_to_json(rulings: tuple[Ruling, ...], look: Look | None = None) -> list[dict[str, Any]]:
    """The lines that `companion referee` prints for the rulings on one input."""
    lines = (_event(ruling) for ruling in rulings)
    when = {} if look is None else {"frame": look.frame, "t_s": look.t_s}
    return [{**line, **when} for line in lines if line is not None]


def _event(ruling: Ruling) -> dict[str, Any] | None:
    said: dict[str, Any] = {
        "rule": ruling.rule,
        "why": ruling.why,
        "orders": [order_to_json(order) for order in ruling.orders],
    }
    about = {"cells": [list(cell) for cell in ruling.cells], "disks": [disk_to_json(disk) for disk in ruling.disks]}
    match ruling:
        case Accepted():
            return None if ruling.event is None else {**event_to_json(ruling.event), **said}
        case Refused():
            return {"event": "refused", **said, **about}
        case Undecided():
            return {"event": "undecided", "n": ruling.n, **said, "candidates": list(ruling.candidates), **about}
