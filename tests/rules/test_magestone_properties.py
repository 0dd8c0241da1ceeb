"""What holds in every game of MageStone: the legal list against a plain reading of the rules, round trips, orders."""

import itertools
import json
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.magestone import (
    BASES,
    CELLS,
    NEXUS,
    WARRIORS,
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Collect,
    Do,
    End,
    Hand,
    Move,
    Nova,
    Record,
    Rite,
    Roll,
    Seat,
    State,
    Token,
    Unit,
    army_of,
    declaration_fault,
    ending,
    fault,
    flaw,
    judge,
    legal_choices,
    on_board,
    play,
    reach,
    read_choice,
    read_go,
    read_position,
    read_record,
    replay,
    shortest_walks,
    start,
    write_choice,
    write_go,
    write_position,
    write_record,
)
from companion.games.magestone.state import NO_ARMY
from companion.goes import random_goes, thrown
from companion.judge import MagestoneJudge
from companion.judge.magestone import choice_to_json
from companion.judge.magestone_state import state_from_json, state_to_json
from companion.ruling import Accepted, Refused

INNER = tuple(cell for cell in CELLS if 4 <= cell[0] <= 11 and 4 <= cell[1] <= 11)


@st.composite
def positions(draw):
    """A crowded position: armies mixed, stones and graves anywhere, in some a Rite."""
    players = draw(st.sampled_from((2, 4)))
    chance = random.Random(draw(st.integers(0, 2**32)))
    seats = start(players).seats
    rite = chance.random() < 0.4
    squares = [cell for cell in (INNER if chance.random() < 0.7 else CELLS) if not rite or cell not in NEXUS]
    chance.shuffle(squares)
    armies, hands = [NO_ARMY] * 4, [Hand()] * 4
    for seat in seats:
        here = [squares.pop() if unit < 2 or chance.random() < 0.7 else None for unit in Unit]
        if rite and seat is seats[0]:
            here[Unit.PRIEST] = (7, 7)
        armies[seat] = army_of(tuple(here))
        hands[seat] = Hand(chance.randrange(2), chance.randrange(4))
    left = 4 * players - sum(hand.carried + hand.activated for hand in hands)
    lying = [chance.choice(INNER) for _ in range(left)]
    state = State(
        seats,
        tuple(armies),
        tuple(hands),
        tuple(sorted(lying[: left // 2])),
        tuple(sorted(lying[left // 2 :])),
        tuple(sorted(chance.sample([cell for cell in INNER if cell not in NEXUS], chance.randrange(8)))),
        chance.randrange(5),
        chance.choice(seats),
        squares_left=chance.choice((0, 1, 2, 3, 6)),
        rite=Rite(seats[0], 1) if rite else None,
    )
    assert flaw(state) is None
    return replace(state, result=ending(state))


@st.composite
def games(draw, most=40):
    """The states of a game from the start or a position, and its choices, drawn from the legal list."""
    states = [draw(st.sampled_from((2, 4)).map(start) | positions() | positions())]
    chance, length = random.Random(draw(st.integers(0, 2**32))), draw(st.integers(0, most))
    choices = []
    while len(choices) < length and states[-1].result is None:
        legal = legal_choices(states[-1])
        acts = legal.actions[:-1]
        raising = [move for grave in states[-1].graves for move in shortest_walks(states[-1], Unit.PRIEST, grave)]
        likely = raising if chance.random() < 0.3 else acts if chance.random() < 0.6 else ()
        choice = chance.choice(likely or legal)
        choices.append(thrown(states[-1], choice, chance))
        states.append(play(states[-1], choices[-1]))
    return states, choices


# The rules once more, plainly


def neighbours(cell):
    row, column = cell
    return [
        near for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)) if on_board(near)
    ]


def taken(state):
    return {cell for army in state.armies for cell in army.cells if cell is not None}


def walks(state, unit):
    """Every walk of a unit within the squares left, as paths; many of them end on the same square."""
    at = state.armies[state.to_move].cells[unit]
    if at is None or unit in state.moved or unit in state.acted or not state.units_left:
        return
    blocked, paths = taken(state) - {at}, [()]
    for _ in range(state.squares_left):
        paths = [
            (*path, near) for path in paths for near in neighbours(path[-1] if path else at) if near not in blocked
        ]
        yield from paths


def ends(state, unit):
    """The squares that a unit can walk to, with the length of the shortest walk."""
    at = state.armies[state.to_move].cells[unit]
    if at is None or unit in state.moved or unit in state.acted or not state.units_left:
        return {}
    steps, edge = {at: 0}, [at]
    for step in range(1, state.squares_left + 1):
        edge = [near for cell in edge for near in neighbours(cell) if near not in taken(state) | steps.keys()]
        steps |= dict.fromkeys(edge, step)
    return {cell: step for cell, step in steps.items() if cell != at}


def acts(state):
    """Everything that can be done besides walking, with attackers in any order after the lead."""
    seat = state.to_move
    cells, hand = state.armies[seat].cells, state.hands[seat]
    enemies = {
        cell for other in state.seats if other is not seat for cell in state.armies[other].cells if cell is not None
    }

    def able(*units):
        fresh = [unit for unit in units if unit not in state.moved]
        return all(cells[unit] and unit not in state.acted for unit in units) and len(fresh) <= state.units_left

    yield End()
    for target in enemies:
        groups = [(Unit.MAGE,), *(group for n in (1, 2, 3) for group in itertools.permutations(WARRIORS, n))]
        for group in groups:
            if able(*group) and all(target in neighbours(cells[unit]) for unit in group):
                yield Attack(group, target)
    if able(Unit.MAGE):
        mage = cells[Unit.MAGE]
        far = {target: abs(mage[0] - target[0]) + abs(mage[1] - target[1]) for target in enemies}
        beside = [1 for row, column in enemies if max(abs(mage[0] - row), abs(mage[1] - column)) == 1]
        yield from (Bolt(target) for target in enemies if hand.activated and far[target] <= state.squares_left)
        yield from [Nova()] if hand.activated >= 4 and beside else []
        yield from [Activate()] if hand.carried and mage in BASES[seat] else []
        yield from [Collect()] if mage in state.unactivated + state.activated else []
    if able(Unit.PRIEST) and cells[Unit.PRIEST] in NEXUS and not enemies & NEXUS and state.rite is None:
        yield BeginRite()


@settings(max_examples=60, deadline=None)
@given(games())
def test_the_legal_list_is_what_the_rules_allow(played):
    for state in played[0][-3:]:
        if state.result is not None:
            assert list(legal_choices(state)) == []
            continue
        legal = list(legal_choices(state))
        assert len(set(legal)) == len(legal) == len(legal_choices(state))
        assert [legal_choices(state)[n] for n in (0, -1)] == [legal[0], legal[-1]]
        assert all(declaration_fault(state, choice) is None for choice in legal)
        moves = [choice for choice in legal if isinstance(choice, Move)]
        told = {choice for choice in legal if not isinstance(choice, Move)}
        everything = set(acts(state))
        assert told <= everything
        assert {normal(choice) for choice in everything} == {normal(choice) for choice in told}
        for unit in Unit:
            steps = ends(state, unit)
            mine = [move for move in moves if move.unit is unit]
            assert {move.path[-1] for move in mine} == steps.keys() == set(reach(state, unit))
            plain = [move for move in mine if unit is not Unit.PRIEST or move.path[-1] not in state.graves]
            assert all(len(move.path) == steps[move.path[-1]] for move in plain)


@settings(max_examples=60, deadline=None)
@given(positions(), st.integers(0, 2**32))
def test_what_the_legal_list_does_not_have_is_refused(state, seed):
    chance = random.Random(seed)
    for _ in range(chance.randrange(3)):
        if state.result is None:
            state = play(state, thrown(state, chance.choice(legal_choices(state)), chance))
    allowed = set(acts(state)) if state.result is None else set()
    groups = [group for n in (1, 2) for group in itertools.product(Unit, repeat=n)]
    groups += [tuple(chance.choices(WARRIORS, k=chance.choice((3, 4)))) for _ in range(20)]
    tried = {Attack(group, target) for group in groups for target in taken(state)}
    tried |= {Bolt(target) for target in taken(state)} | {Nova(), Activate(), Collect(), BeginRite(), End()}
    assert {choice for choice in tried if declaration_fault(state, choice) is None} == allowed & tried


def normal(choice):
    """An attack with those after the lead in one order."""
    return replace(choice, units=(choice.units[0], *sorted(choice.units[1:]))) if isinstance(choice, Attack) else choice


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from(Unit), st.integers(0, 2**32))
def test_walks_that_are_none_are_refused(played, unit, seed):
    state, chance = replace(played[0][-1], squares_left=min(3, played[0][-1].squares_left)), random.Random(seed)
    at = state.armies[state.to_move].cells[unit] or (8, 8)
    allowed = set(walks(state, unit)) if state.result is None else set()
    for _ in range(200):
        path, (row, column) = [], at
        for _ in range(chance.randrange(5)):
            row, column = row + chance.choice((-1, 0, 0, 1)), column + chance.choice((-1, 0, 0, 1))
            path.append((row, column))
        assert (fault(state, Move(unit, tuple(path))) is None) == (tuple(path) in allowed)


@pytest.mark.parametrize(("start", "end"), [((6, 7), (7, 6)), ((7, 9), (6, 8)), ((8, 9), (9, 8)), ((8, 6), (9, 7))])
def test_a_walk_by_a_corner_of_the_nexus_may_break_a_rite_or_not(start, end):
    state = read_position("2 Mi0,Ph7/Mh15,Pi15,W1l15 - - 8 1:6:3 - 0:2")
    for here, there in ((start, end), (end, start)):
        moved = replace(state, armies=(*state.armies[:2], state.armies[2].placed(Unit.WARRIOR_1, here), NO_ARMY))
        found = shortest_walks(moved, Unit.WARRIOR_1, there)
        # The Priest itself stands on the first corner, so nobody walks over that.
        outcomes = {False} if start == (6, 7) else {False, True}
        assert {play(moved, move).rite is None for move in found} == outcomes


def test_a_priest_on_its_way_to_a_gravestone_may_break_a_rite_or_not():
    state = read_position("2 Mi0,Ph7/Mh15,Pj8,W1l15 - i10 7 1:6:3 - 0:2")
    outcomes = [play(state, move) for move in shortest_walks(state, Unit.PRIEST, (10, 8))]
    ended = [(after.armies[Seat.BOTTOM].cells[Unit.PRIEST], after.rite is None) for after in outcomes]
    assert sorted(ended) == [
        ((9, 8), False),
        ((9, 8), True),
        ((10, 7), False),
        ((10, 7), True),
        ((10, 9), False),
        ((11, 8), False),
        ((11, 8), True),
    ]


@settings(max_examples=60, deadline=None)
@given(games(), st.data())
def test_shortest_walks_are_one_for_each_way_the_game_goes_on(played, data):
    state = replace(played[0][-1], squares_left=min(3, played[0][-1].squares_left))
    unit = data.draw(st.sampled_from(Unit))
    by_end = {}
    for path in walks(state, unit) if state.result is None else ():
        by_end.setdefault(path[-1], []).append(path)
    for end in CELLS:
        paths = by_end.get(end, [])
        if end == state.armies[state.to_move].cells[unit]:
            continue
        found = shortest_walks(state, unit, end)
        after = [play(state, move) for move in found]
        assert len(set(after)) == len(found)
        assert bool(found) == bool(paths)
        least = min(map(len, paths), default=0)
        shortest = {play(state, Move(unit, path)) for path in paths if len(path) == least}
        assert shortest <= set(after)
        assert all(len(move.path) == least for move in found) or after[0].raised > state.raised


cells = st.tuples(st.integers(-1, 16), st.integers(-1, 16)) | st.sampled_from(INNER)
rolls = st.lists(st.lists(st.integers(0, 21), max_size=3).map(tuple), min_size=2, max_size=2).map(
    lambda two: Roll(*two)
)
any_choices = (
    st.builds(Move, st.sampled_from(Unit), st.lists(cells, max_size=4).map(tuple))
    | st.builds(
        Attack,
        st.lists(st.sampled_from(Unit), max_size=4).map(tuple),
        cells,
        st.lists(rolls, max_size=3).map(tuple),
    )
    | st.builds(Bolt, cells, st.lists(rolls, max_size=3).map(tuple))
    | st.sampled_from([Nova(), Activate(), Collect(), BeginRite(), End()])
)


@settings(max_examples=80, deadline=None)
@given(games(), st.lists(any_choices, min_size=1, max_size=20), st.integers(0, 2**32))
def test_a_choice_is_either_played_or_refused_with_rule_and_rest_of_the_go(played, tried, seed):
    state, chance = played[0][-1], random.Random(seed)
    legal = [thrown(state, choice, chance) for choice in legal_choices(state)]
    kept = (hash(state), replace(state))
    for choice in (*tried, *chance.sample(legal, min(20, len(legal)))):
        refused = fault(state, choice)
        after, (ruling, *_), orders = judge(state, choice)
        if refused is None:
            assert isinstance(ruling, Accepted)
            assert after == play(state, choice)
        else:
            assert choice not in legal
            assert (after, ruling, orders) == (state, refused, ())
            assert isinstance(ruling, Refused)
            assert ruling.rule
            assert "left of the go: " in ruling.why or state.result is not None
    assert kept == (hash(state), state)


@settings(max_examples=60, deadline=None)
@given(games())
def test_texts_and_json_read_back_alike(played):
    states, choices = played
    for state in states:
        assert read_position(write_position(state)) == state
        assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state
        assert flaw(state) is None
    for choice in choices:
        assert read_choice(write_choice(choice)) == choice
    assert read_go(write_go(tuple(choices))) == tuple(choices)
    record = Record(states[0], tuple(choices))
    assert read_record(write_record(record)) == record
    assert replay(record) == tuple(states)


@settings(max_examples=30, deadline=None)
@given(games(most=15))
def test_the_judge_on_the_command_line_plays_alike(played):
    states, choices = played
    judging = MagestoneJudge()
    judging.answer(json.dumps({"setup": state_to_json(states[0])}))
    for choice, after in zip(choices, states[1:], strict=True):
        answer = judging.answer(json.dumps(choice_to_json(choice)))
        assert (answer["ruling"], answer["state"]) == ("accepted", state_to_json(after))
    if choices:
        judging.answer(json.dumps({"setup": state_to_json(states[0])}))
        answer = judging.answer(json.dumps({"go": write_go(tuple(choices))}))
        assert (answer["notation"], answer["state"]) == (write_go(tuple(choices)), state_to_json(states[-1]))


# What lies on the table


def tokens(state):
    """What lies on each square: units by seat, gravestones, stones."""
    units = [
        (cell, Token.UNIT, seat, unit)
        for seat in state.seats
        for unit, cell in zip(Unit, state.armies[seat].cells, strict=True)
        if cell is not None
    ]
    graves = [(cell, Token.GRAVESTONE, None, None) for cell in state.graves]
    stones = [(cell, Token.UNACTIVATED, None, None) for cell in state.unactivated]
    return Counter([*units, *graves, *stones, *((cell, Token.ACTIVATED, None, None) for cell in state.activated)])


@settings(max_examples=80, deadline=None)
@given(games())
def test_whoever_follows_the_orders_has_the_board_of_the_state(played):
    states, choices = played
    for before, choice, after in zip(states, choices, states[1:], strict=False):
        table = tokens(before)
        if isinstance(choice, Move):
            mover = (Token.UNIT, before.to_move, choice.unit)
            table -= Counter([(before.armies[before.to_move].cells[choice.unit], *mover)])
            table[choice.path[-1], *mover] += 1
        for order in judge(before, choice)[2]:
            token = (order.cell, order.token, order.seat, order.unit)
            if order.do is Do.TAKE:
                assert table[token] > 0
                table -= Counter([token])
            elif order.do is Do.LAY:
                table[token] += 1
        assert table == tokens(after)


# Every go, and the board from another side


@settings(max_examples=60, deadline=None)
@given(games())
def test_a_go_spends_six_squares_and_three_units_at_most(played):
    states, choices = played
    for before, choice, after in zip(states, choices, states[1:], strict=False):
        if isinstance(choice, End):
            assert (after.squares_left, after.units_left, after.moved, after.acted) == (6, 3, (), ())
            continue
        assert 0 <= after.squares_left <= before.squares_left
        assert 0 <= after.units_left <= before.units_left
        if isinstance(choice, Move):
            assert before.squares_left - after.squares_left == len(choice.path) or before.to_move in after.out
        elif not isinstance(choice, Bolt) and before.to_move not in after.out:
            assert after.squares_left == before.squares_left


def over(cell):
    """A square as the opposite player sees it."""
    return None if cell is None else (15 - cell[0], 15 - cell[1])


def across(seat):
    return None if seat is None else Seat((seat + 2) % 4)


def turned(state):
    """The same position seen from the opposite side."""
    return replace(
        state,
        armies=tuple(army_of(tuple(map(over, state.armies[across(seat)].cells))) for seat in Seat),
        hands=tuple(state.hands[across(seat)] for seat in Seat),
        unactivated=tuple(sorted(map(over, state.unactivated))),
        activated=tuple(sorted(map(over, state.activated))),
        graves=tuple(sorted(map(over, state.graves))),
        to_move=across(state.to_move),
        queue=tuple((across(seat), unit) for seat, unit in state.queue),
        out=tuple(sorted(map(across, state.out))),
        rite=state.rite and replace(state.rite, seat=across(state.rite.seat)),
        result=state.result and replace(state.result, winner=across(state.result.winner)),
    )


def turned_choice(choice):
    if isinstance(choice, Move):
        return replace(choice, path=tuple(map(over, choice.path)))
    return replace(choice, target=over(choice.target)) if isinstance(choice, (Attack, Bolt)) else choice


@settings(max_examples=60, deadline=None)
@given(games())
def test_the_game_is_the_same_from_the_opposite_side(played):
    states, choices = played
    for before, choice, after in zip(states, choices, states[1:], strict=False):
        # With the bank nearly empty, a Nova's gravestones go by the order of the squares.
        if not isinstance(choice, Nova):
            assert play(turned(before), turned_choice(choice)) == turned(after)
    assert len(legal_choices(turned(states[-1]))) == len(legal_choices(states[-1]))


def test_the_bench_plays_as_many_goes_as_it_says():
    for players in (2, 4):
        assert 60 <= random_goes(players, random.Random(1), 60) <= 60 + 300
