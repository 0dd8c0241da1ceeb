"""Simulated players of MageStone: they choose from the legal list much as people do, and throw dice of their own.

Mages fetch stones and carry them home, Priests raise Warriors or go for the Nexus, Warriors close in on whom they can
beat. Nothing here knows more than the rules tell everybody.
"""

import random
import time
from collections.abc import Callable, Collection
from functools import partial
from queue import Queue
from typing import TYPE_CHECKING

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
    start,
    throw,
)
from companion.games.magestone.board import AROUND_BITS, distance
from companion.games.magestone.pieces import STONES_TO_WIN, WARRIORS
from companion.games.magestone.state import enemy_bits
from companion.games.magestone.table import Begin, Chosen, Game, Input, Said, Saying, Table, Thrown
from companion.terms import Cell

if TYPE_CHECKING:
    from hardware_sims.virtual_tokens import Told

NAMES = ("Ada", "Ben", "Cleo", "Dan")
_LOAD = 3
"""Stones that a Mage likes to carry home at once."""
_CAP = 300
"""Choices after which all agree to a draw."""
_IDLE = 8
"""Goes without a choice after which they do."""
_LEAST = 1.0
"""What is liked less than this is left, and the go ended."""


_THINK_S, _ADMIRE_S = 0.8, 8.0
"""Before what is done next, and before the next game."""
_PATIENCE_S = 30.0
"""So long they wait for what their hands did to be seen before they say it on the page."""


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


class TablePlayers:
    """The same people at a table of tokens under a camera: `told` is what their hands do next.

    They walk by hand, say on the page what is no walk, and carry out the orders.
    """

    def __init__(
        self,
        seed: int,
        table: Callable[[], Table | None],
        said: Queue[Input],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._players = Players(seed)
        self._seed = seed
        self._table = table
        self._said = said
        self._clock = clock
        self._laid: State | None = None
        """Where the game began that lies on the table."""
        self._ready = False
        """Whether the table is laid out for a match that is about to begin."""
        self._done = 0
        """How many of its choices hands have done."""
        self._walked: Chosen | None = None
        """What a hand has walked and nobody has seen yet."""
        self._admired: State | None = None
        """The end of a game that has been looked at."""
        self._due_s = clock()
        self._tell_s = clock()

    def told(self) -> "Told":
        """What to do now, by what the referee believes."""
        from companion.simulated_tokens import laid_out
        from hardware_sims.virtual_tokens import Told

        table, now_s = self._table(), self._clock()
        if now_s < self._due_s or not self._said.empty():
            return Told()
        self._due_s = now_s + _THINK_S
        if table is None:
            return self._go_on(table, now_s)
        game = table.game
        if self._laid is not game.past[0] or self._done > len(game.choices):
            ready, self._ready = self._ready, False
            self._laid, self._done, self._walked = game.past[0], len(game.choices), None
            return Told() if ready else Told(anew=laid_out(game.state, self._seed))
        if self._done < len(game.choices):
            return self._carry_out(game)
        if self._walked is not None:
            if now_s >= self._tell_s:
                self._said.put(self._walked)
                self._tell_s = now_s + _PATIENCE_S
            return Told()
        if game.pending and now_s < self._tell_s:
            return Told()
        if game.state.result is not None and self._admired is not game.state:
            self._admired, self._due_s = game.state, now_s + _ADMIRE_S
            return Told()
        return self._go_on(table, now_s)

    def _carry_out(self, game: Game) -> "Told":
        """The orders of the next choice that was ruled on; its walk too, where no hand has done it."""
        from companion.simulated_tokens import deeds_of
        from hardware_sims.virtual_tokens import Told

        before, choice, after = game.past[self._done], game.choices[self._done], game.past[self._done + 1]
        deeds = tuple(deeds_of(before, choice, after))
        if self._walked is not None and isinstance(choice, Move):
            deeds = deeds[1:]
        self._done, self._walked = self._done + 1, None
        self._tell_s = self._clock() + _PATIENCE_S
        return Told(before.to_move.value, deeds)

    def _go_on(self, table: Table | None, now_s: float) -> "Told":
        """The next thing that somebody does: a walk by hand, anything else on the page. A match begins on a table that
        is laid out for it."""
        from companion.simulated_tokens import deeds_of, laid_out
        from hardware_sims.virtual_tokens import Told

        given = self._players.say(table)
        if table is not None and isinstance(given, Chosen) and isinstance(given.choice, Move):
            state = table.game.state
            self._walked, self._tell_s = given, now_s + _PATIENCE_S
            walk = next(deeds_of(state, given.choice, play(state, given.choice)))
            return Told(state.to_move.value, (walk,))
        self._said.put(given)
        if not isinstance(given, Begin):
            return Told()
        self._ready = True
        return Told(anew=laid_out(start(len(given.names)), self._seed))


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
