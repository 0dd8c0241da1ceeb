"""Random games of MageStone, every choice drawn from the legal list: what has to hold in each, and that it replays.

The seeds are the games' numbers; a game that fails is named by its number.
"""

import random
from collections import Counter
from dataclasses import dataclass
from functools import partial

import pytest

from companion.games.magestone import (
    BASES,
    BeginRite,
    End,
    Ending,
    Move,
    Record,
    Unit,
    army_of,
    ending,
    fault,
    legal_choices,
    play,
    read_position,
    read_record,
    replay,
    start,
    write_position,
    write_record,
)
from companion.goes import thrown

CAP = 150
"""Goes after which a game is given up."""

SIEGES = "2 W1e15,W2h14/W1e0 h4,i4,e7,l7,e8,l8,h11*,i11* - 4 0:1:3 0M,0P,1M,1P -"
"""The last Warriors hold each other's base, with one square left: a stalemate is near."""


@dataclass(frozen=True)
class Player:
    """How choices are drawn: how often an act comes before a walk, out of how many draws the best is taken, whether
    Rites are begun with the other acts, and whether the Mage walks before all others."""

    eager: float = 0.0
    draws: int = 1
    rites: bool = True
    mage_first: bool = False


PLAYERS = (
    Player(),
    Player(0.5),
    Player(0.9, 8),
    Player(0.9, 12, rites=False),
    Player(0.9, 50, rites=False, mage_first=True),
)


def drawn(state, chance, player):
    """A choice from the legal list, its dice thrown."""
    legal = legal_choices(state)
    acts = [act for act in legal.actions if not isinstance(act, End if player.rites else (End, BeginRite))]
    if acts and chance.random() < player.eager:
        choice = chance.choice(acts)
    else:
        gone = player.mage_first and Unit.MAGE in (*state.moved, *state.acted)
        draws = (chance.choice(legal) for _ in range(1 if gone else player.draws))
        choice = max(draws, key=partial(liking, state, player))
    return thrown(state, choice, chance)


def liking(state, player, choice):
    """Walks towards a goal are liked: a Mage's to stones, or home with them, the others' to an enemy."""
    if not isinstance(choice, Move) or (player.mage_first and choice.unit is not Unit.MAGE):
        return -20
    (row, column), hand = choice.path[-1], state.hands[state.to_move]
    if choice.unit is not Unit.MAGE:
        others = (state.armies[seat].cells for seat in state.seats if seat is not state.to_move)
        goals = [cell for cells in others for cell in cells if cell is not None]
    elif (hand.carried and hand.carried + hand.activated >= 2) or hand.activated >= 6:
        goals = BASES[state.to_move]
    else:
        goals = (*state.unactivated, *state.activated)
    return -min((abs(row - down) + abs(column - right) for down, right in goals), default=0)


def stones_of(state):
    """How many stones are Unactivated and Activated, on the board and in hands."""
    carried, activated = sum(hand.carried for hand in state.hands), sum(hand.activated for hand in state.hands)
    return len(state.unactivated) + carried, len(state.activated) + activated


def random_game(number, players):
    """Plays a game, checks what holds after every choice, and gives how it ended; None where it was given up."""
    chance = random.Random(number)
    player = PLAYERS[number % len(PLAYERS)]
    state = first = read_position(SIEGES) if players == 2 and number % 10 == 0 else start(players)
    choices, goes, raised = [], 0, 0
    while state.result is None and goes < CAP:
        choice = drawn(state, chance, player)
        after = play(state, choice)
        choices.append(choice)
        unactivated, activated = stones_of(after)
        assert unactivated + activated == 4 * players
        assert activated >= stones_of(state)[1]
        raised += after.raised and not state.raised
        assert after.bank + len(after.graves) + raised == first.bank
        assert all(after.warriors(seat) <= 6 for seat in after.seats)
        if isinstance(choice, End):
            goes += 1
            assert after.to_move is not state.to_move
            assert (after.squares_left, after.units_left) == (6, 3)
        else:
            assert after.to_move is state.to_move
        state = after
    assert ending(state) == state.result
    assert all(army_of(army.cells) == army for army in state.armies)
    if state.result is not None:
        assert len(legal_choices(state)) == 0
        assert fault(state, End()) is not None
    record = read_record(write_record(Record(first, tuple(choices))))
    assert replay(record)[-1] == state
    assert read_position(write_position(state)) == state
    return state.result and state.result.ending


@pytest.mark.parametrize(("players", "endings"), [(2, set(Ending) - {Ending.AGREEMENT}), (4, {Ending.RITUAL})])
def test_random_games(players, endings):
    ended = Counter(random_game(number, players) for number in range(250))
    print(players, dict(ended))
    assert ended.keys() >= endings


@pytest.mark.long
@pytest.mark.parametrize(
    ("players", "endings"), [(2, set(Ending) - {Ending.AGREEMENT}), (4, {Ending.RITUAL, Ending.MAGESTONE})]
)
@pytest.mark.parametrize("block", range(10))
def test_many_random_games(players, endings, block):
    ended = Counter(random_game(number, players) for number in range(1000 * block, 1000 * block + 1000))
    print(players, block, dict(ended))
    assert ended.keys() >= endings
