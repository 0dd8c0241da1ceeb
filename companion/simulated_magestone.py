"""Simulated players of MageStone: they choose from the legal list much as people do, and throw dice of their own.

Mages fetch stones and carry them home, Priests raise Warriors or go for the Nexus, Warriors close in on whom they can
beat. Nothing here knows more than the rules tell everybody.
"""

import random
from collections.abc import Collection
from functools import partial

from companion.games.magestone import (
    BASES,
    NEXUS,
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Draw,
    End,
    Move,
    Nova,
    Seat,
    State,
    Unit,
    besieged,
    dice_for,
    legal_choices,
    odds,
    play,
    throw,
)
from companion.games.magestone.board import AROUND_BITS, distance
from companion.games.magestone.pieces import STONES_TO_WIN, WARRIORS
from companion.games.magestone.state import enemy_bits
from companion.games.magestone.table import Begin, Chosen, Input, Said, Saying, Table, Thrown
from companion.terms import Cell

NAMES = ("Ada", "Ben", "Cleo", "Dan")
_LOAD = 3
"""Stones that a Mage likes to carry home at once."""
_CAP = 300
"""Choices after which all agree to a draw."""
_IDLE = 8
"""Goes without a choice after which they do."""
_LEAST = 1.0
"""What is liked less than this is left, and the go ended."""


class Players:
    """Everybody at the table; four and two play by turns."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._seated = 0

    def say(self, table: Table | None) -> Input:
        """What somebody at the table says or does next."""
        if table is None or table.over:
            self._seated = 2 if self._seated == 4 else 4
            return Begin(NAMES[: self._seated], length=1)
        game = table.game
        if game.dice is not None:
            return Thrown(throw(game.dice, partial(self._chance.randint, 1)))
        if game.state.result is not None:
            return Saying(Said.NEXT_GAME)
        idle = len(game.choices) >= _IDLE and set(game.choices[-_IDLE:]) == {End()}
        if idle or len(game.choices) >= _CAP:
            return Chosen(Draw())
        return Chosen(self._choice(game.state), len(game.choices) + 1, game.state.to_move)

    def _choice(self, state: State) -> Choice:
        liked = [(liking(state, choice) + self._chance.random(), n) for n, choice in enumerate(legal_choices(state))]
        most, n = max(liked)
        # As much as chance adds on the average.
        return legal_choices(state)[n] if most > _LEAST + 0.5 else End()


def liking(state: State, choice: Choice) -> float:
    """How much a player would like to do this, from nothing up; ending the go is what is left."""
    seat = state.to_move
    match choice:
        case Move():
            return _walk(state, choice)
        case Attack() | Bolt():
            return _fight(state, choice)
        case Nova():
            mage = state.armies[seat].cells[Unit.MAGE]
            return 0.0 if mage is None else 3.0 * (AROUND_BITS[mage] & enemy_bits(state, seat)).bit_count()
        case Activate():
            return 12.0
        case Collect():
            return 6.0
        case BeginRite():
            return 5.0
        case _:
            return _LEAST


def _fight(state: State, fight: Attack | Bolt) -> float:
    target = state.unit_at(fight.target)
    assert target is not None
    worth = {Unit.MAGE: 5.0, Unit.PRIEST: 4.0}.get(target[1], 2.5)
    if fight.target in BASES[state.to_move] or (state.rite is not None and fight.target in NEXUS):
        worth += 5.0
    dice = dice_for(state, fight)
    chance = 1.0 if dice is None else float(odds(dice))
    if isinstance(fight, Bolt):
        # The stone is lost to whoever fetches it.
        return worth * chance - 1.5
    risk = 5.0 if fight.units[0] is Unit.MAGE else 2.5
    return 2 * (worth * chance - risk * (1 - chance)) - 0.4 * (len(fight.units) - 1)


def _walk(state: State, move: Move) -> float:
    at = state.armies[state.to_move].cells[move.unit]
    goals = _goals(state, state.to_move, move.unit)
    assert at is not None
    if not goals:
        return 0.0
    end = move.path[-1]
    gain = 0.7 * (_away(at, goals) - _away(end, goals))
    if state.rite is not None and state.rite.seat is not state.to_move and end in NEXUS:
        return 20.0
    if move.unit in WARRIORS:
        return gain
    arrived = 4.0 if end in goals and at not in goals else 0.0
    comes_home = move.unit is Unit.MAGE and end in BASES[state.to_move]
    return gain + arrived + (50.0 if comes_home and play(state, move).result is not None else 0.0)


def _goals(state: State, seat: Seat, unit: Unit) -> Collection[Cell]:
    """The squares that a unit wants to be on or near."""
    hand = state.hands[seat]
    stones = {*state.unactivated, *state.activated}
    match unit:
        case Unit.MAGE:
            full = hand.carried >= _LOAD or hand.carried + hand.activated >= STONES_TO_WIN or not stones
            return BASES[seat] if full and hand.carried + hand.activated else stones
        case Unit.PRIEST:
            if state.rite is not None and state.rite.seat is seat:
                return ()
            return state.graves if state.graves and state.warriors(seat) < len(WARRIORS) else tuple(NEXUS)
        case _:
            own = state.armies[seat].cells
            if besieged(state, seat):
                return [cell for cell in _enemies(state, seat) if cell in BASES[seat]]
            # Odd Warriors hunt, even ones keep by their Mage's way home.
            mage = own[Unit.MAGE]
            return _enemies(state, seat) if unit % 2 or mage is None else [mage, *NEXUS]


def _enemies(state: State, seat: Seat) -> list[Cell]:
    others = (other for other in state.remaining if other is not seat)
    return [cell for other in others for cell in state.armies[other].cells if cell is not None]


def _away(cell: Cell, goals: Collection[Cell]) -> int:
    return min(distance(cell, goal) for goal in goals)
