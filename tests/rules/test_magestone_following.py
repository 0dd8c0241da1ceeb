"""A go of MageStone is followed from looks: on a table that hands move by the rules, with squares hidden and mistakes.

The seeds are the games' numbers; a game that fails is named by its number.
"""

import random

import pytest

from companion.games.magestone import (
    CELLS,
    Choice,
    End,
    Move,
    State,
    Unit,
    legal_choices,
    play,
    read_go,
    read_position,
    square_from_name,
    start,
    write_choice,
    write_go,
)
from companion.games.magestone.belief import Go, OpenGo, beginning, believe, finish, judge_look, tell
from companion.games.magestone.looks import Look, look_from_json, look_to_json
from companion.games.magestone.table import Begin, Chosen, Seen, Table, input_from_json, input_to_json, take
from companion.goes import thrown
from companion.ruling import Accepted, Refused, Undecided
from companion.simulated_tokens import deeds_of, laid_out
from companion.tokens import top_of_mark
from hardware_sims.token_hands import Deed, do
from hardware_sims.tokens import TokenTable


def look_at(table: TokenTable, hidden: set = frozenset()) -> Look:
    """What a camera sees that reads every token but those on hidden squares."""
    tops = ((cell, top_of_mark(mark)) for cell, mark in table.tops().items() if cell not in hidden)
    return Look(tuple(sorted(tops, key=lambda top: top[0])), tuple(sorted(hidden)))


def drawn(state: State, chance: random.Random, eager: float | None) -> Choice:
    """A choice from the legal list, its dice thrown; an act and no walk as often as it is eager, None for never."""
    legal = legal_choices(state)
    if eager is None:
        return chance.choice([choice for choice in legal if isinstance(choice, (Move, End))])
    acts = [act for act in legal.actions if not isinstance(act, End)]
    choice = chance.choice(acts) if acts and chance.random() < eager else chance.choice(legal)
    return thrown(state, choice, chance)


def mostly_hidden(chance: random.Random, share: float) -> set:
    return {cell for cell in CELLS if chance.random() < share}


# At a table where people declare what they do


@pytest.mark.parametrize("seed", range(24))
def test_a_game_is_followed_whatever_is_hidden_meanwhile_and_however_slowly_orders_are_done(seed: int):
    print("seed", seed)
    chance = random.Random(seed)
    names = ("Ada", "Ben") if seed % 2 else ("Ada", "Ben", "Cleo", "Dan")
    table, _ = take(None, Begin(names))
    assert table is not None
    truth, hands = table.game.state, laid_out(table.game.state, seed)
    goes, owed = 0, False

    def see(share: float = 0.0) -> None:
        nonlocal table
        table, rulings = take(table, Seen(look_at(hands, mostly_hidden(chance, share))))
        assert not any(isinstance(ruling, Refused) for ruling in rulings), rulings

    def say(choice: Choice) -> None:
        nonlocal table
        see()
        table, rulings = take(table, Chosen(choice))
        assert isinstance(rulings[0], Accepted), rulings

    see()
    while truth.result is None and goes < 25:
        choice = drawn(truth, chance, 0.6)
        if isinstance(choice, End) and truth.is_fresh:
            continue
        before, truth = truth, play(truth, choice)
        if isinstance(choice, End):
            goes, owed = goes + 1, chance.random() < 0.5
            if not owed:
                say(choice)
        elif not isinstance(choice, Move):
            # Whose go begins with no walk has to say that the one before is over.
            if owed:
                say(End())
            owed = False
            say(choice)
        else:
            owed = False
        for deed in deeds_of(before, choice, truth):
            do(hands, deed)
            see(0.03)
        see()
    if owed:
        say(End())
    see()
    assert table is not None
    assert table.game.state == truth
    assert table.game.orders == ()


# In pictures alone, where nobody can say anything


def gone_through(
    seed: int, eager: float | None, *, between: float = 0.0
) -> tuple[list[str], dict[int, tuple[str, ...]], State]:
    """A game of which only looks are told: its goes, those told with their candidates, and how it stands."""
    chance = random.Random(seed)
    truth = start(2 if seed % 2 else 4)
    hands, belief, goes, go = laid_out(truth, seed), None, [], []
    told: dict[int, tuple[str, ...]] = {}

    def see() -> None:
        nonlocal belief
        if belief is None:
            first = beginning(look_at(hands))
            assert first is not None
            belief = believe(first)
        belief, events = judge_look(belief, look_at(hands))
        hear(events)

    def hear(events: tuple) -> None:
        for event in events:
            assert not isinstance(event, Refused), (seed, event)
            if isinstance(event, (Go, OpenGo)):
                told[event.n] = (event.notation,) if isinstance(event, Go) else event.candidates

    see()
    while truth.result is None and len(goes) < 20:
        choice = drawn(truth, chance, eager)
        if isinstance(choice, End) and truth.is_fresh:
            continue
        before, truth = truth, play(truth, choice)
        go.append(choice)
        for deed in deeds_of(before, choice, truth):
            do(hands, deed)
        if isinstance(choice, End):
            goes.append(go)
            go = []
            see()
        elif chance.random() >= between:
            see()
    see()
    belief, events = finish(belief)
    hear(events)
    return goes, told, truth


def alike(go: str) -> list[str]:
    """Who did what, whatever the way, the dice and the order."""
    words = (word.split("(")[0] for word in go.split())
    return sorted(f"{word.split('>')[0]}>{word.split('>')[-1]}" if ">" in word else word for word in words)


@pytest.mark.parametrize("seed", range(12))
def test_of_walks_alone_every_go_is_told_as_it_was(seed: int):
    print("seed", seed)
    goes, told, _ = gone_through(seed, None, between=0.5)
    for n, go in enumerate(goes[:-1], 1):
        assert [alike(text) for text in told[n]] == [alike(write_go(tuple(go)))], n


@pytest.mark.parametrize("seed", range(100, 112))
def test_where_nobody_says_anything_the_true_go_is_among_those_told(seed: int):
    print("seed", seed)
    goes, told, _ = gone_through(seed, 0.3)
    for n, go in enumerate(goes[:-1], 1):
        assert alike(write_go(tuple(go))) in [alike(text) for text in told[n]], n


@pytest.mark.parametrize("seed", range(16))
def test_where_choices_are_said_no_wrong_go_is_told_with_a_tenth_of_the_squares_hidden_in_every_look(seed: int):
    print("seed", seed)
    chance = random.Random(seed)
    truth = start(2 if seed % 2 else 4)
    hands, belief, goes, go = laid_out(truth, seed), believe(truth), [], []
    told: dict[int, list[tuple[str, ...]]] = {}

    def hear(events: tuple) -> None:
        for event in events:
            assert not isinstance(event, Refused), event
            if isinstance(event, (Go, OpenGo)):
                candidates = (event.notation,) if isinstance(event, Go) else event.candidates
                told.setdefault(event.n, []).append(candidates)

    def see(share: float) -> None:
        nonlocal belief
        belief, events = judge_look(belief, look_at(hands, mostly_hidden(chance, share)), silent=False)
        hear(events)

    see(0.1)
    while truth.result is None and len(goes) < 25:
        choice = drawn(truth, chance, 0.6)
        if isinstance(choice, End) and truth.is_fresh:
            continue
        before, truth = truth, play(truth, choice)
        go.append(choice)
        if not isinstance(choice, Move) and (not isinstance(choice, End) or chance.random() < 0.5):
            # Who fights does so at a board that is seen; the end of a go is said whatever is hidden.
            if not isinstance(choice, End):
                see(0)
            belief, events = tell(belief, choice, before.to_move)
            hear(events)
        for deed in deeds_of(before, choice, truth):
            do(hands, deed)
            see(0.1)
        see(0.1)
        if isinstance(choice, End):
            goes.append(alike(write_go(tuple(go))))
            go = []
    belief, events = finish(belief)
    hear(events)
    for n, true in enumerate(goes[:-1], 1):
        assert n in told, n
        for candidates in told[n]:
            assert true in [alike(text) for text in candidates], n


# One look after one thing, as a table

# Top's army and what lies about, against Bottom's; W1 may go, six squares and three units are left.
FIELD = "2 Mi0(0+1),Ph0,W1e5,W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:6:3 - -"
BEGUN = "2 Mi0(0+1),Ph0,W1e5',W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:4:2 - -"


def deeds(text: str) -> list[Deed]:
    """Hands' deeds from a short notation: 12e5>e7 moves mark 12, 12e5> takes it off, 52>f6 lays one."""
    done = []
    for word in text.split():
        start_, end = (part and square_from_name(part) for part in word[2:].split(">"))
        done.append(Deed(int(word[:2]), start_ or None, end or None))
    return done


def game_at(position: str, said: str = "") -> Table:
    """A table in a position, where choices were said since."""
    table, _ = take(None, Begin(("Ada", "Ben"), record=f'[Position "{position}"]'))
    assert table is not None
    table, _ = take(table, Seen(look_at(laid_out(table.game.state))))
    for choice in read_go(said):
        table, rulings = take(table, Chosen(choice))
        assert isinstance(rulings[0], Accepted), rulings
    return table


FOLLOWED = [
    ("a walk", "12e5>e7", "W1>e6>e7"),
    ("two walks at once", "12e5>e7 13f5>f3", "W1>e6>e7 W2>f4>f3"),
    ("a way round", "14g6>e6", "W3>g7>f7>e7>e6"),
    ("next seat's walk ends the go", "12e5>e6 32e9>e8", "W1>e6 end W1>e8"),
    ("a Mage on a stone", "10i0>h4 50h4>", "M>i1>i2>i3>i4>h4"),
    ("a Priest that raised", "11h0>h5 52h6> 15>h6", "P>h1>h2>h3>h4>h5>h6"),
    ("nothing", "", ""),
]


@pytest.mark.parametrize(("done", "go"), [row[1:] for row in FOLLOWED], ids=[row[0] for row in FOLLOWED])
def test_what_hands_do_is_taken_for_the_choices_that_the_rules_allow(done: str, go: str):
    table = game_at(FIELD)
    hands = laid_out(table.game.state)
    for deed in deeds(done):
        do(hands, deed)
    table, rulings = take(table, Seen(look_at(hands)))
    assert not any(isinstance(ruling, (Refused, Undecided)) for ruling in rulings), rulings
    assert alike(write_go(table.game.choices)) == alike(go)


REFUSED = [
    ("too far", FIELD, "12e5>e12", "cannot walk to e12", "e5 e12"),
    ("out of turn", FIELD, "32e9>e8", "it is Top's go, not Bottom's", "e8 e9"),
    ("a unit that has moved", BEGUN, "12e5>e6", "has moved already", "e5 e6"),
    ("a stone that was moved", FIELD, "51i9>j9", "nothing that the rules allow", "i9 j9"),
    ("a gravestone laid for nothing", FIELD, "52>a6", "nothing that the rules allow", "a6"),
    ("a Warrior that nobody raised", FIELD, "15>a6", "nothing that the rules allow", "a6"),
]


@pytest.mark.parametrize(
    ("position", "done", "why", "cells"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_no_rule_allows_is_refused_with_the_squares_to_restore(position: str, done: str, why: str, cells: str):
    before = game_at(position)
    hands = laid_out(before.game.state)
    for deed in deeds(done):
        do(hands, deed)
    after, rulings = take(before, Seen(look_at(hands)))
    assert [type(ruling) for ruling in rulings] == [Refused]
    assert why in rulings[0].why
    assert set(rulings[0].cells) == {square_from_name(name) for name in cells.split()}
    assert after.game.state == before.game.state
    # It is said once, and that all is well again.
    assert take(after, Seen(look_at(hands)))[1] == ()
    again, rulings = take(after, Seen(look_at(laid_out(before.game.state))))
    assert "as it should be again" in rulings[0].why
    assert again.game.state == before.game.state


UNDECIDED = [
    ("a Mage in the hand, near stones beside an enemy", "10i0>", "", "not seen: i0 (Top's Mage)", ()),
    ("a unit in the hand", "12e5>", "", "not seen: e5 (Top's Warrior 1)", ()),
    ("a unit where nothing is seen", "12e5>e7", "e7", "not seen: e5 (Top's Warrior 1)", ()),
    ("whether a go is over while a unit is hidden", "32h3>g3", "g6 g7", "as far as can be seen it is Top's go", ()),
    ("a fight that nobody declared", "33f6> 52>f6", "", "nobody has declared", ("W2xf6", "W3xf6", "W2+W3xf6")),
]


@pytest.mark.parametrize(
    ("done", "hidden", "why", "candidates"), [row[1:] for row in UNDECIDED], ids=[row[0] for row in UNDECIDED]
)
def test_doubt_accuses_nobody(done: str, hidden: str, why: str, candidates: tuple[str, ...]):
    before = game_at(FIELD.replace("W1e9", "W1h3"))
    hands = laid_out(before.game.state)
    for deed in deeds(done):
        do(hands, deed)
    after, rulings = take(before, Seen(look_at(hands, {square_from_name(name) for name in hidden.split()})))
    assert [type(ruling) for ruling in rulings] == [Undecided]
    assert why in rulings[0].why
    assert set(rulings[0].candidates) == set(candidates)
    assert after.game.state == before.game.state


def test_orders_are_outstanding_until_the_look_shows_each_done():
    table = game_at(FIELD, "W2+W3xf6(6+6/1)")
    hands = laid_out(read_position(FIELD))
    outstanding = []
    for done in ("", "33f6>", "52>f6"):
        for deed in deeds(done):
            do(hands, deed)
        table, rulings = take(table, Seen(look_at(hands)))
        outstanding.append([(order.do.value, order.token.value) for order in table.game.orders])
    lay = ("lay", "gravestone")
    assert outstanding == [[("take", "unit"), lay], [lay], []]
    assert "all that was ordered is done" in rulings[0].why


def test_a_square_that_is_hidden_shows_no_order_done():
    table = game_at(FIELD, "W2+W3xf6(6+6/1)")
    hands = laid_out(read_position(FIELD))
    for deed in deeds("33f6> 52>f6"):
        do(hands, deed)
    table, _ = take(table, Seen(look_at(hands, {(6, 5)})))
    assert len(table.game.orders) == 2
    table, _ = take(table, Seen(look_at(hands)))
    assert table.game.orders == ()


def test_a_walk_is_taken_back_by_putting_the_unit_back_and_corrected_by_walking_elsewhere():
    table = game_at(FIELD)
    hands = laid_out(table.game.state)
    states = []
    for done in ("12e5>e7", "12e7>e8", "13f5>f3", "12e8>e5"):
        for deed in deeds(done):
            do(hands, deed)
        table, rulings = take(table, Seen(look_at(hands)))
        assert not any(isinstance(ruling, (Refused, Undecided)) for ruling in rulings), rulings
        states.append([write_choice(choice) for choice in table.game.choices])
    assert [len(choices) for choices in states] == [1, 1, 2, 1]
    assert states[1] == ["W1>e6>e7>e8"]
    assert states[3] == ["W2>f4>f3"]


def test_a_go_that_the_next_seat_ended_goes_on_once_that_walk_is_taken_back():
    table = game_at(FIELD)
    hands = laid_out(table.game.state)
    for done in ("12e5>e6", "32e9>e8", "32e8>e9", "13f5>f4"):
        for deed in deeds(done):
            do(hands, deed)
        table, _ = take(table, Seen(look_at(hands)))
    assert [write_choice(choice) for choice in table.game.choices] == ["W1>e6", "W2>f4"]


def test_a_walk_that_is_seen_only_after_its_go_was_said_to_be_over_is_of_that_go():
    table = game_at(FIELD, "end")
    hands = laid_out(table.game.state)
    for deed in deeds("12e5>e7"):
        do(hands, deed)
    table, rulings = take(table, Seen(look_at(hands)))
    assert not any(isinstance(ruling, (Refused, Undecided)) for ruling in rulings), rulings
    assert [write_choice(choice) for choice in table.game.choices] == ["W1>e6>e7", "end"]


def test_a_walk_that_was_hidden_when_its_go_was_said_to_be_over_is_not_taken_for_one_of_the_next_go():
    state = read_position(FIELD)
    hands, belief, told = laid_out(state), believe(state), []

    def see(done: str, hidden: str = "") -> None:
        nonlocal belief
        for deed in deeds(done):
            do(hands, deed)
        unseen = {square_from_name(name) for name in hidden.split()}
        belief, events = judge_look(belief, look_at(hands, unseen), silent=False)
        told.extend(event for event in events if isinstance(event, (Go, OpenGo)))

    see("12e5>e7", "e7")
    belief, events = tell(belief, End())
    assert not any(isinstance(event, (Go, OpenGo)) for event in events)
    see("32e9>e8", "e5 e7")
    assert told == []
    see("")
    assert [(event.n, sorted(event.candidates)) for event in told] == [(1, ["W1>e6>e7 end", "end"])]


def test_a_priest_on_a_gravestone_is_asked_where_it_steps_back_and_answers_by_doing_so():
    table = game_at(FIELD.replace("Ph0", "Ph2"))
    hands = laid_out(table.game.state)
    do(hands, Deed(11, square_from_name("h2"), square_from_name("h6")))
    table, rulings = take(table, Seen(look_at(hands)))
    assert isinstance(rulings[0], Undecided)
    for deed in deeds("11h6>i6 52h6> 15>h6"):
        do(hands, deed)
    table, _ = take(table, Seen(look_at(hands)))
    assert [alike(write_choice(choice)) for choice in table.game.choices] == [["P>h6"]]
    assert table.game.state.armies[0].cells[Unit.PRIEST] == square_from_name("i6")


def test_a_wrong_token_laid_for_an_order_is_refused():
    table = game_at(FIELD, "P>h1>h2>h3>h4>h5>h6")
    hands = laid_out(read_position(FIELD))
    for deed in deeds("11h0>h5 52h6> 17>h6"):
        do(hands, deed)
    _, rulings = take(table, Seen(look_at(hands)))
    assert isinstance(rulings[0], Refused)
    assert "h6 (Top's Warrior 4)" in rulings[0].why


def test_looks_and_what_was_seen_are_written_and_read_without_loss():
    look = look_at(laid_out(read_position(FIELD)), {(0, 4), (9, 9)})
    assert look_from_json(look_to_json(look)) == look
    seen = Seen(look, 3, 1.5)
    assert input_from_json(input_to_json(seen)) == seen


def test_a_table_that_is_not_set_up_is_asked_for_in_few_words():
    table, _ = take(None, Begin(("Ada", "Ben")))
    assert table is not None
    _, rulings = take(table, Seen(Look(())))
    assert isinstance(rulings[0], Undecided)
    assert "e0 (Top's Warrior 1)" in rulings[0].why
    assert "and 16 squares more" in rulings[0].why
    assert len(rulings[0].cells) == 24
