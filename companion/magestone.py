"""How `companion referee` referees a game of MageStone: pictures, looks, the courses that it may have taken, events."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Never

from companion.games.magestone import Choice, Do, Order, Seat, State, read_go, square_name
from companion.games.magestone.belief import (
    Belief,
    Cleared,
    Go,
    GoTakenBack,
    OpenGo,
    Ordered,
    Over,
    Told,
    beginning,
    believe,
    finish,
    judge_look,
    tell,
)
from companion.games.magestone.faults import GO, VICTORY
from companion.games.magestone.looks import Look
from companion.inputs import InputError
from companion.judge.magestone import order_to_json
from companion.magestone_grid import TokensGrid
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, Undecided
from companion.settle import Patience
from companion.tokens import TokensLoop
from vision.board import Profile
from vision.camera import Frame

_DO: Final = {Do.LAY: "lay", Do.TAKE: "take off", Do.TURN: "turn"}


@dataclass(frozen=True, slots=True)
class Said:
    """What people said when the table rested as in one picture: some choices of one seat, with their dice."""

    after: int
    """The picture's number, from 0"""
    seat: int
    """In turn order, from 0"""
    choices: tuple[Choice, ...]


def read_said(path: Path) -> tuple[Said, ...]:
    """What was said, from a file: JSON lines as {"after": 3, "seat": 0, "go": "W1xf5(6/2)"}. Raises InputError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    said = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                data = json.loads(line)
                said.append(Said(int(data["after"]), int(data["seat"]), read_go(str(data["go"]))))
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
                raise InputError(
                    f'{path}, line {number}: write {{"after": 3, "seat": 0, "go": "rite"}}: {why}'
                ) from error
    return tuple(sorted(said, key=lambda one: one.after))


class RecordedGame(TokensLoop[Never]):
    """A game of MageStone in pictures, which begins with the first that shows a start, or with a given position.

    `hear` is told what follows from each look: the things told, the state, and the picture.
    """

    def __init__(
        self,
        profile: Profile,
        hear: Callable[[tuple[Told, ...], State, Frame | None], None],
        *,
        corners_px: Sequence[tuple[float, float]] | None = None,
        patience: Patience | None = None,
        first: State | None = None,
        said: Sequence[Said] | None = None,
        grid: TokensGrid | None = None,
    ) -> None:
        """`said` None: nobody could say anything, and what leaves no trace may have been chosen too."""
        super().__init__(profile, corners_px=corners_px, patience=patience)
        self.belief: Belief | None = None if first is None else believe(first)
        self._hear_told = hear
        self._silent = said is None
        self._to_be_said = list(said or ())
        self._grid = grid

    def finish(self) -> None:
        """Tells what the end of the pictures settles."""
        if self.belief is not None:
            self.belief, told = finish(self.belief)
            self._tell(told, None)

    def _looked(self, look: Look, frame: Frame) -> None:
        if self.belief is None:
            first = beginning(look)
            if first is None:
                self.trouble = "no picture shows the start of a game; begin with one, or give --position"
                return
            self.belief, self.trouble = believe(first), ""
        self._say_before(frame.n)
        self.belief, told = judge_look(self.belief, look, silent=self._silent)
        self._tell(told, frame)

    def _go_on(self) -> None:
        self._say_before(self.frames)
        if self._grid is not None:
            self._grid.hear()
            belief = self.belief
            self._grid.light(
                None if belief is None else belief.state,
                orders=() if belief is None else belief.lines[0].course.pending,
                wrong=() if belief is None else [cell for cell, _ in belief.unexplained],
            )

    def _say_before(self, frame: int) -> None:
        """Takes what was said before a picture."""
        while self.belief is not None and self._to_be_said and self._to_be_said[0].after < frame:
            said = self._to_be_said.pop(0)
            seats = self.belief.state.seats
            for choice in said.choices:
                if said.seat >= len(seats):
                    refused = Refused(CORRECTION, f"there is no seat {said.seat} at a table of {len(seats)}")
                    self._tell((refused,), None)
                    break
                self.belief, told = tell(self.belief, choice, seats[said.seat])
                self._tell(told, None)

    def _tell(self, told: tuple[Told, ...], frame: Frame | None) -> None:
        assert self.belief is not None
        if told:
            self._hear_told(told, self.belief.state, frame)


def event_to_json(told: Told, state: State) -> dict[str, Any]:
    """A line that `companion referee` prints, without when it was seen; seats count in turn order."""
    match told:
        case Go():
            return {"event": "go", "n": told.n, **_seat(told.seat, state), "notation": told.notation}
        case OpenGo():
            candidates = list(told.candidates)
            why = ruling_of(told).why
            return {"event": "undecided", "n": told.n, **_seat(told.seat, state), "why": why, "candidates": candidates}
        case GoTakenBack():
            return {"event": "taken_back", "n": told.n}
        case Ordered():
            return {
                "event": "orders",
                "orders": [{**order_to_json(state, order), "done": done} for order, done in told.orders],
            }
        case Cleared():
            return {"event": "cleared"}
        case Over():
            winner = told.result.winner
            return {
                "event": "game_over",
                "result": told.result.ending.value,
                "winner": None if winner is None else state.seats.index(winner),
            }
        case Undecided():
            candidates = list(told.candidates)
            return {"event": "undecided", **_about(told), "candidates": candidates}
        case Refused():
            return {"event": "refused", **_about(told)}


def _seat(seat: Seat, state: State) -> dict[str, Any]:
    return {"seat": state.seats.index(seat), "side": seat.label.lower()}


def _about(ruling: Ruling) -> dict[str, Any]:
    return {"rule": ruling.rule, "why": ruling.why, "cells": [list(cell) for cell in ruling.cells]}


def ruling_of(told: Told) -> Ruling:
    """The same for people."""
    match told:
        case Go():
            return Accepted(GO, f"go {told.n}, {told.seat.label}: {told.notation}")
        case OpenGo():
            why = f"go {told.n}, {told.seat.label}: {' or '.join(told.candidates)}"
            return Undecided(GO, why, told.candidates, told.n)
        case GoTakenBack():
            return Accepted(CORRECTION, f"go {told.n} is taken back")
        case Ordered():
            return Accepted(GO, "; ".join(_ordered(order, done) for order, done in told.orders))
        case Cleared():
            return Accepted(GO, "all that was ordered is done")
        case Over():
            winner = told.result.winner
            who = "nobody wins" if winner is None else f"{winner.label} wins"
            return Accepted(VICTORY, f"{who} ({told.result.ending.value})")
        case _:
            return told


def _ordered(order: Order, done: bool) -> str:
    what = order.token.value if order.seat is None else f"{order.seat.label}'s {_unit_or_stone(order)}"
    return (
        f"{_DO[order.do]} {what} {'on' if order.do is Do.LAY else 'from'} {square_name(order.cell)}" + done * " (done)"
    )


def _unit_or_stone(order: Order) -> str:
    return "stone" if order.unit is None else order.unit.label
