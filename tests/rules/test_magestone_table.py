"""A table of MageStone: what follows from each input, what is refused, what is taken back, and who has won."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.magestone import (
    Draw,
    End,
    Ending,
    Layout,
    Move,
    NotationError,
    Record,
    Resign,
    Roll,
    Seat,
    Token,
    Unit,
    legal_choices,
    read_choice,
    read_go,
    read_record,
    replay,
    start,
    throw,
    winner,
    write_position,
    write_record,
)
from companion.games.magestone.table import (
    Begin,
    Chosen,
    Said,
    Saying,
    Thrower,
    Thrown,
    input_from_json,
    input_to_json,
    record_of_game,
    take,
)
from companion.inputs import InputError
from companion.ruling import Accepted, Refused

BACK = Saying(Said.TAKE_BACK)
NEXT = Saying(Said.NEXT_GAME)
FIGHT = '[Position "2 Mi0,Ph0,W1e5,W2f4/Mh15(0+2),Pi15,W1f5,W2l15 h4 - 8 0:6:3 - -"]'
"""Two Warriors of Top beside one of Bottom."""


def table_of(*inputs, names=("Ada", "Ben"), record=None, length=None):
    """The table after inputs, and the rulings on the last of them."""
    table, rulings = take(None, Begin(names, record=record, length=length))
    for each in inputs:
        table, rulings = take(table, each)
    return table, rulings


def chosen(go):
    return [Chosen(choice) for choice in read_go(go)]


def whys(rulings):
    return [ruling.why for ruling in rulings]


@pytest.mark.parametrize(
    ("names", "inputs", "told"),
    [
        (2, [], ["game 1: Top has the first go"]),
        (2, chosen("W1>e1>e2"), ["Top's Warrior 1 walks to e2"]),
        (2, chosen("W1>e1>e2 end"), ["Top's go is over; Bottom's begins"]),
        (2, [Chosen(End(), 1, Seat.TOP)], ["Top's go is over; Bottom's begins"]),
        (4, chosen("end end"), ["Right's go is over; Bottom's begins"]),
        (
            2,
            [*chosen("W1>e1"), BACK],
            ["Warrior 1's walk to e1 is taken back: it is Top's go; left of the go: 6 squares, 3 units"],
        ),
        (
            2,
            [*chosen("end"), BACK],
            ["the end of the go is taken back: it is Top's go; left of the go: 6 squares, 3 units"],
        ),
        (
            2,
            [Chosen(Resign(Seat.TOP))],
            ["Top resigns", "Top is eliminated", "Bottom wins (conquest): every rival is eliminated"],
        ),
        (
            4,
            [Chosen(Resign(Seat.TOP))],
            ["Top resigns", "Top is eliminated", "Top's go is over; Right's begins"],
        ),
        (4, [Chosen(Resign(Seat.LEFT))], ["Left resigns", "Left is eliminated"]),
        (2, [Chosen(Draw())], ["all agree to a draw", "drawn by agreement"]),
        (2, [Chosen(Draw()), NEXT], ["game 2: Top has the first go"]),
        (2, [Chosen(Draw()), NEXT, BACK], ["game 2 is taken back: game 1 is the last"]),
    ],
)
def test_what_is_accepted(names, inputs, told):
    _, rulings = table_of(*inputs, names=("Ada", "Ben", "Cy", "Di")[:names])
    assert all(isinstance(ruling, Accepted) for ruling in rulings)
    assert whys(rulings) == told


GO_LEFT = "; left of the go: 6 squares, 3 units"


@pytest.mark.parametrize(
    ("inputs", "rule", "why"),
    [
        (chosen("W1>e1>e2>e3>e4>e5>e6>e7"), "Taking your turn", "7 squares to e7 are more than the go has left"),
        (chosen("W1>e1 W1>e2"), "Taking your turn", "Warrior 1 has moved already in this go, and a unit moves once"),
        ([Chosen(End(), 2)], "Taking your turn", "it is no longer choice 2: look at the board again"),
        ([Chosen(End(), None, Seat.BOTTOM)], "Taking your turn", "it is Top's go"),
        (chosen("nova"), "Mage sorcery", "a Nova takes 4 Activated stones, and the Mage holds 0"),
        (chosen("rite"), "The Rite of the Nexus", "the Priest is on h0, and has to be on the Nexus"),
        ([Thrown(Roll((3,), (2,)))], "Combat", "nothing is declared that calls for dice"),
        ([Chosen(Resign(Seat.LEFT))], "Victory", "Left is not in the game, and cannot resign"),
        ([BACK], "Correction", "there is nothing to take back"),
        ([NEXT], "Setup", "the game is not over yet"),
        ([*chosen("end"), BACK, BACK], "Correction", "there is nothing to take back"),
        ([Chosen(Draw()), Chosen(End())], "Victory", "the game is over (agreement): nothing more can be done"),
        ([Begin(("Ada", "Ben"), record="1. zz")], "Setup", "line 1: 'zz' is no choice"),
        ([Begin(("Ada", "Ben", "Cy", "Di"), record=FIGHT)], "Setup", "4 names for the 2 players of the record"),
        ([Begin(("Ada", "Ben"), record="1. W1>e5")], "Setup", "go 1, W1>e5: e5 is not orthogonally next to e0"),
    ],
)
def test_what_is_refused_changes_nothing(inputs, rule, why):
    before, _ = table_of(*inputs[:-1])
    after, (ruling,) = take(before, inputs[-1])
    assert isinstance(ruling, Refused)
    assert (after, ruling.rule) == (before, rule)
    assert ruling.why.startswith(why)
    if rule not in ("Setup", "Correction") and before.game.state.result is None:
        assert "left of the go: " in ruling.why


def test_nothing_is_taken_in_before_a_game_begins():
    for given_first in (Chosen(End()), Thrown(Roll((1,), (2,))), BACK, NEXT):
        table, (ruling,) = take(None, given_first)
        assert (table, ruling) == (None, Refused("Setup", "no game is being played: start one"))


@pytest.mark.parametrize(
    ("go", "rolls", "told", "notation"),
    [
        ("W1xf5", [((4,), (3,))], "4 against 3, the attacker wins", "W1xf5(4/3)"),
        ("W2+W1xf5", [((1, 2), (3,)), ((1, 1), (6,))], "2 against 6, the defender wins", "W2+W1xf5(1+2/3)(1+1/6)"),
        ("W1xf5(2/2)", [((6,), (1,))], "6 against 1, the attacker wins", "W1xf5(2/2)(6/1)"),
        ("W1xf5(2/2)(6/1)", [], "6 against 1, the attacker wins", "W1xf5(2/2)(6/1)"),
    ],
)
def test_an_attack_waits_for_its_dice_and_ties_are_rolled_again(go, rolls, told, notation):
    inputs = [*chosen(go), *(Thrown(Roll(*roll)) for roll in rolls)]
    for n, _ in enumerate(rolls, 1):
        waiting, _ = table_of(*inputs[:n], record=FIGHT)
        assert waiting.game.fight is not None
        assert waiting.game.dice is not None
        assert waiting.game.choices == ()
    table, rulings = table_of(*inputs, record=FIGHT)
    assert rulings[0].why.endswith(told)
    assert table.game.fight is None
    assert table.game.choices == (read_choice(notation),)


def test_odds_are_told_as_an_attack_is_declared():
    _, (ruling,) = table_of(*chosen("W1+W2xf5"), record=FIGHT)
    why = "Top's Warrior 1 and Warrior 2 attack Bottom's Warrior 1 on f5: 2d6 against 1d6, won with a chance of "
    assert (ruling.rule, ruling.why) == ("Combat", why + "181/201 (90.0%)")


@pytest.mark.parametrize(
    ("given_next", "why"),
    [
        (Thrown(Roll((4, 4), (3,))), "the attacker rolls 1d6, not 2 dice"),
        (Thrown(Roll((4,), ())), "the defender rolls 1d6, not 0 dice"),
        (Thrown(Roll((7,), (3,))), "the attacker's d6 cannot show 7"),
        (Thrown(Roll((4,), (0,))), "the defender's d6 cannot show 0"),
        (Chosen(End()), "the attack on f5 waits for its dice"),
        (Chosen(Move(Unit.WARRIOR_2, ((4, 6),))), "the attack on f5 waits for its dice"),
    ],
)
def test_until_the_dice_are_right_nothing_goes_on(given_next, why):
    before, _ = table_of(*chosen("W1xf5"), record=FIGHT)
    after, (ruling,) = take(before, given_next)
    assert after == before
    assert isinstance(ruling, Refused)
    assert ruling.why == why + GO_LEFT


@pytest.mark.parametrize("dice", ["(7/1)", "(3+3/1)", "(2/2)(0/1)"])
def test_an_attack_with_impossible_dice_is_not_even_declared(dice):
    table, (ruling,) = table_of(*chosen(f"W1xf5{dice}"), record=FIGHT)
    assert isinstance(ruling, Refused)
    assert (table.game.fight, table.game.choices) == (None, ())


def test_a_declared_attack_is_taken_back_with_its_ties():
    table, (ruling,) = table_of(*chosen("W1xf5"), Thrown(Roll((2,), (2,))), BACK, record=FIGHT)
    assert (table.game.fight, table.game.choices) == (None, ())
    assert ruling.why == "the attack on f5 is taken back" + GO_LEFT


def test_who_resigns_leaves_the_board_and_the_order_of_play():
    names = ("Ada", "Ben", "Cy", "Di")
    table, _ = table_of(*chosen("W1>e1"), Chosen(Resign(Seat.TOP)), names=names)
    state = table.game.state
    assert (state.to_move, state.out, state.armies[Seat.TOP].bits) == (Seat.RIGHT, (Seat.TOP,), 0)
    assert len([order for order in table.game.orders if order.token is Token.UNIT]) == 8
    back, _ = take(table, BACK)
    assert back.game.choices == tuple(read_go("W1>e1"))
    last, rulings = table_of(*(Chosen(Resign(seat)) for seat in (Seat.LEFT, Seat.TOP, Seat.RIGHT)), names=names)
    assert last.game.state.result.winner is Seat.BOTTOM
    assert (last.winner(1), last.wins) == ("Cy", (0, 0, 1, 0))
    assert rulings[-1].why == "Bottom wins (conquest): every rival is eliminated"


@pytest.mark.parametrize(
    ("length", "losers", "wins", "over", "leader"),
    [
        (None, "TT", (1, 1), False, None),
        (1, "T", (0, 1), True, "Ben"),
        (3, "TB", (0, 2), True, "Ben"),
        (3, "TT", (1, 1), False, None),
        (3, "TTT", (1, 2), True, "Ben"),
        (3, "-T", (1, 0), False, "Ada"),
        (2, "--", (0, 0), True, None),
    ],
)
def test_a_match_of_several_games(length, losers, wins, over, leader):
    seats = {"T": Seat.TOP, "B": Seat.BOTTOM}
    inputs = []
    for loser in losers:
        inputs += [NEXT, Chosen(Draw() if loser == "-" else Resign(seats[loser]))]
    table, _ = table_of(*inputs[1:], length=length)
    assert (table.wins, table.over, table.leader) == (wins, over, leader)
    after, (ruling,) = take(table, NEXT)
    assert isinstance(ruling, Refused if over else Accepted)
    assert after.players(len(after.games)) == (("Ada", "Ben") if len(after.games) % 2 else ("Ben", "Ada"))


def test_four_people_move_on_by_a_seat():
    table, _ = table_of(names=("Ada", "Ben", "Cy", "Di"))
    assert [table.players(n)[0] for n in range(1, 6)] == ["Ada", "Ben", "Cy", "Di", "Ada"]


def test_a_game_that_begins_with_a_record_goes_on_from_it():
    record = '[Players "2"]\n[Top "Ada"]\n1. W1>e1>e2 end\n2. W1>l14'
    table, (ruling,) = table_of(record=record)
    assert ruling.why == "game 1 goes on from its record"
    assert table.game.state == replay(read_record(record))[-1]
    assert table.game.go == tuple(read_go("W1>l14"))
    over, rulings = table_of(record=record + " draw")
    assert over.game.state.result.ending is Ending.AGREEMENT
    assert rulings[-1].why == "drawn by agreement"


def test_records_name_the_players():
    record = Record(start(4), tuple(read_go("end resign:bottom draw")), ("Ada", 'B "the" B', "", "Di"))
    text = write_record(record)
    assert '[Top "Ada"]\n[Right "B \'the\' B"]\n[Bottom ""]\n[Left "Di"]\n' in text
    assert read_record(text) == replace(record, names=("Ada", "B 'the' B", "", "Di"))
    assert read_record('[Players "2"]\n[Left "Di"]\n').names == ()
    with pytest.raises(NotationError, match="the tag Round is not one of Players, Position, Top, Right, Bottom, Left"):
        read_record('[Round "1"]')


INPUTS = st.one_of(
    st.builds(
        Begin,
        st.sampled_from([("Ada", "Ben"), ("Ada", "Ben", "Cy", "Di")]),
        st.sampled_from(Layout),
        st.none() | st.integers(1, 99),
        st.none() | st.text(max_size=20),
    ),
    st.builds(
        Chosen,
        st.sampled_from([End(), Draw(), Resign(Seat.LEFT), *read_go("W1>e1>e2 W1+W2xf5(2+3/5) bolt@l8 nova rite")]),
        st.none() | st.integers(1, 999),
        st.none() | st.sampled_from(Seat),
    ),
    st.builds(
        Thrown,
        st.builds(Roll, st.tuples(st.integers(1, 20)), st.tuples(st.integers(1, 20))),
        st.sampled_from(Thrower),
    ),
    st.builds(Saying, st.sampled_from(Said)),
)


@given(INPUTS)
def test_inputs_are_written_and_read_without_loss(one):
    assert input_from_json(json.loads(json.dumps(input_to_json(one)))) == one


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"input": "glance"}, "no kind of input"),
        ({"input": "begin", "names": ["A", "B", "C"], "layout": "diamond", "length": None, "record": None}, "two or"),
        ({"input": "begin", "names": ["A", "B"], "layout": "round", "length": None, "record": None}, "not an input"),
        ({"input": "choice", "choice": "W9>e1", "n": None, "seat": None}, "is no choice"),
        ({"input": "choice", "choice": "end", "n": None, "seat": 4}, "not an input"),
        ({"input": "dice", "attacker": [1], "defender": ["x"], "by": "players"}, "not an input"),
        ({"input": "dice", "attacker": [1], "defender": [2], "by": "fate"}, "not an input"),
        ({"input": "say"}, "not an input"),
        ({}, "not an input"),
    ],
)
def test_what_is_no_input(changed, words):
    with pytest.raises(InputError, match=words):
        input_from_json(changed)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 4]))
def test_taking_back_undoes_every_choice_and_the_record_replays_the_game(seed, players):
    print("seed", seed)
    chance = random.Random(seed)
    table, _ = table_of(names=("Ada", "Ben", "Cy", "Di")[:players])
    tables = [table]
    for _ in range(60):
        state = table.game.state
        if state.result is not None:
            break
        actions = [choice for choice in legal_choices(state).actions if choice != End()]
        choice = chance.choice(actions if actions and chance.random() < 0.7 else legal_choices(state))
        table, _ = take(table, Chosen(choice))
        while table.game.dice is not None:
            roll = throw(table.game.dice, lambda sides: chance.randint(1, sides))
            table, rulings = take(table, Thrown(roll))
            assert isinstance(rulings[0], Accepted)
            assert (table.game.fight is not None) == (winner(roll) is None)
        tables.append(table)
    record = read_record(write_record(record_of_game(table, 1)))
    assert [write_position(state) for state in replay(record)] == [write_position(state) for state in table.game.past]
    while len(tables) > 1:
        tables.pop()
        table, (ruling,) = take(table, BACK)
        assert isinstance(ruling, Accepted)
        assert table == tables[-1]
