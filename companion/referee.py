"""Folds inputs into the game and the match. It owns the current state, and what undo needs, and nothing else.

Opening a stored match takes the same inputs again: the same rulings and the same state come out.
"""

from dataclasses import dataclass, replace
from typing import Any

from companion.games import pathways
from companion.games.match import Match, score, start_match
from companion.inputs import Declaration, Declared, Input, Look, Setup, Undo
from companion.ruling import Accepted, GameOver, GameStarted, Refused, Ruling, Undecided, event_to_json, order_to_json


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything the referee knows: the match as it stood when the game began, and the game."""

    match: Match | None = None
    game: pathways.State | None = None

    @property
    def match_now(self) -> Match | None:
        """The match with the finished game counted in; the same as `match` while it is played."""
        if self.match is None or self.game is None or not self.game.over:
            return self.match
        return self.match.after(score(self.match.mode, pathways.tally(self.game), self.match.columns))


class Referee:
    """The current standing; `take` is the only way to change it."""

    def __init__(self) -> None:
        self._entry = 0
        self._standing = Standing()
        self._past: tuple[tuple[int, Standing], ...] = ()

    @property
    def standing(self) -> Standing:
        """How things stand now."""
        return self._standing

    def take(self, given: Input) -> tuple[Ruling, ...]:
        """Take the next input; the rulings it gets, none where nothing happened."""
        self._entry += 1
        if isinstance(given, Undo):
            return (self._undo(given),)
        standing, rulings = judge(self._standing, given)
        if standing != self._standing:
            self._past = (*self._past, (self._entry, self._standing))
            self._standing = standing
        return rulings

    def _undo(self, undo: Undo) -> Ruling:
        wanted = self._past[-1][0] if undo.before is None and self._past else undo.before
        for place, (entry, standing) in enumerate(self._past):
            if entry == wanted:
                self._standing, self._past = standing, self._past[:place]
                return Accepted("Correction", f"back to before entry {entry}")
        return Refused("Correction", "there is nothing to undo")


def judge(standing: Standing, given: Input) -> tuple[Standing, tuple[Ruling, ...]]:
    """What follows from one input other than Undo; pure."""
    match given:
        case Declaration(what=Declared.START):
            setup = given.setup or Setup()
            match = start_match(setup)
            started = Accepted("Quick Start", f"{setup.starter.label} flicks first", GameStarted(1, setup.starter))
            return Standing(match, pathways.start(setup)), (started,)
        case Declaration(what=Declared.NEXT_GAME) if standing.match_now is not None and standing.game is not None:
            match = standing.match_now
            started = Accepted(
                "Match Scoring and Game Play",
                f"{match.starter.label} flicks first",
                GameStarted(match.game, match.starter),
            )
            return Standing(match, pathways.start(standing.game.setup, match.starter)), (started,)
        case Undo():
            return standing, ()
        case _ if standing.game is None:
            return standing, ()
        case _:
            game, rulings = pathways.judge(standing.game, given)
            after = replace(standing, game=game)
            if game.over and not standing.game.over:
                rulings = (*rulings, game_over(after))
            return after, rulings


def game_over(standing: Standing) -> Ruling:
    """The ruling that ends a game, with what stands."""
    assert standing.game is not None and standing.match is not None and standing.match_now is not None
    finished = score(standing.match.mode, pathways.tally(standing.game), standing.match.columns)
    after = standing.match_now
    over = GameOver(
        finished.count, finished.winner, finished.points, after.points, after.winner, after.starter, after.sudden_death
    )
    return Accepted("Basic Scoring", over.result, over)


def events_to_json(rulings: tuple[Ruling, ...], look: Look | None = None) -> list[dict[str, Any]]:
    """The lines that `companion referee` prints for the rulings on one input."""
    when = {} if look is None else {"frame": look.frame, "t_s": look.t_s}
    lines: list[dict[str, Any]] = []
    for ruling in rulings:
        said = {"rule": ruling.rule, "why": ruling.why, "orders": [order_to_json(order) for order in ruling.orders]}
        match ruling:
            case Accepted(event=event) if event is not None:
                lines.append({**event_to_json(event), **when, **said})
            case Refused():
                lines.append({"event": "refused", **when, **said, "cells": [list(cell) for cell in ruling.cells]})
            case Undecided():
                lines.append({"event": "undecided", "n": ruling.n, **when, **said, "candidates": ruling.candidates})
    return lines
