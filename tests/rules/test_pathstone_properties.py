"""What holds in every game of Pathstone: undo, round trips, pieces kept, symmetry, a reason for every illegal move."""

import itertools
import random
import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.pathstone import (
    PIECES_EACH,
    Direction,
    Kind,
    Placement,
    Slide,
    State,
    count_leaves,
    fault,
    judge,
    legal_moves,
    move_between,
    path_of,
    play,
    plays,
    read_move,
    read_ptn,
    read_tps,
    record_of,
    replay,
    start,
    threats,
    write_move,
    write_ptn,
    write_tps,
)
from companion.ruling import Refused
from companion.terms import Player


@st.composite
def games(draw, most=60, sizes=range(3, 9)):
    """The states of a game of random moves, most of them slides where there are any, so that stacks grow."""
    states = [start(draw(st.sampled_from(sizes)))]
    length, chance = draw(st.integers(0, most)), random.Random(draw(st.integers(0, 10**6)))
    while len(states) <= length:
        moves = legal_moves(states[-1])
        slides = [move for move in moves if isinstance(move, Slide)]
        if not moves:
            break
        states.append(play(states[-1], chance.choice(slides if slides and chance.random() < 0.8 else moves)))
    return states


squares = st.tuples(st.integers(1, 9), st.integers(1, 9))
any_moves = st.builds(Placement, squares, st.sampled_from(Kind)) | st.builds(
    Slide, squares, st.sampled_from(Direction), st.lists(st.integers(0, 4), max_size=5).map(tuple)
)


@settings(max_examples=40)
@given(games())
def test_states_are_values_so_that_undo_is_the_state_before(states):
    for state in states:
        kept = State(state.size, state.squares, state.reserves, state.ply, state.ended)
        for _, after in plays(state):
            assert after.ply == state.ply + 1
            assert after != state
        assert (state, hash(state)) == (kept, hash(kept))


@settings(max_examples=50)
@given(games())
def test_tps_round_trip(states):
    for state in states:
        assert read_tps(write_tps(state), state.size) == state


@given(games(), st.data())
def test_ptn_round_trip_from_any_state_of_the_game(states, data):
    first = data.draw(st.integers(0, len(states) - 1))
    record = record_of(states[first], _moves(states[first:]))
    assert read_ptn(write_ptn(record)) == record
    assert replay(record) == tuple(states[first:])


def _moves(states):
    return itertools.starmap(move_between, itertools.pairwise(states))


@given(games())
def test_no_piece_comes_or_goes(states):
    for before, after in itertools.pairwise(states):
        assert sum(map(sum, before.reserves)) - sum(map(sum, after.reserves)) in (0, 1)
    for state in states:
        for player in Player:
            on_board = Counter(
                piece.kind is Kind.CROWN
                for cell in state.cells
                for piece in state.stack_at(cell)
                if piece.player is player
            )
            stones, crowns = state.reserve(player)
            assert (on_board[False] + stones, on_board[True] + crowns) == PIECES_EACH[state.size]


@given(games())
def test_only_top_pieces_stand(states):
    for cell in states[-1].cells:
        assert all(piece.kind is Kind.FLAT for piece in states[-1].stack_at(cell)[:-1])


# The eight symmetries of a square board, as places to take the squares from


def turned(state: State, mirror: bool, turns: int) -> State:
    size = state.size
    rows = [list(state.squares[n : n + size]) for n in range(0, size * size, size)]
    if mirror:
        rows = [row[::-1] for row in rows]
    for _ in range(turns):
        rows = [list(column) for column in zip(*rows[::-1], strict=True)]
    return State(size, tuple(square for row in rows for square in row), state.reserves, state.ply)


@settings(max_examples=12)
@given(games(sizes=range(3, 6)), st.integers(1, 2))
def test_perft_is_the_same_from_every_side(states, depth):
    state = states[-1]
    counts = {count_leaves(turned(state, mirror, turns), depth) for mirror in (False, True) for turns in range(4)}
    assert len(counts) == 1


@given(games())
def test_a_turned_board_has_the_same_result(states):
    state = states[-1]
    assert {turned(state, mirror, turns).result for mirror in (False, True) for turns in range(4)} == {state.result}


def swapped(state: State) -> State:
    """The same position with the players' pieces, reserves and turn exchanged."""
    ranks, player, number = write_tps(state).split()
    words = re.split(r"([,/])", ranks)
    exchange = str.maketrans("12", "21")
    board = "".join(word if word.startswith("x") else word.translate(exchange) for word in words)
    return read_tps(f"{board} {player.translate(exchange)} {int(number) + 1}")


@settings(max_examples=40)
@given(games())
def test_swapping_the_colours_swaps_the_result(states):
    for state in states[2:]:
        other = swapped(state)
        assert other.flats == state.flats[::-1]
        assert {write_move(move) for move in legal_moves(other)} == {write_move(move) for move in legal_moves(state)}
        if state.result is None:
            assert other.result is None
        else:
            assert other.result.reason is state.result.reason
            assert other.result.winner is (state.result.winner and state.result.winner.other)


@given(games())
def test_a_move_played_by_swapped_colours_leads_to_the_swapped_state(states):
    for before, after in itertools.pairwise(states[2:]):
        (move,) = _moves([before, after])
        assert play(swapped(before), move).squares == swapped(after).squares


@settings(max_examples=60)
@given(games(), st.lists(any_moves, min_size=1, max_size=20))
def test_a_move_is_either_legal_or_refused_with_a_reason(states, tried):
    state = states[-1]
    legal = set(legal_moves(state))
    for move in (*tried, *legal):
        refused = fault(state, move)
        assert (refused is None) == (move in legal)
        after, (ruling, *_) = judge(state, move)
        if refused is not None:
            assert after is state
            assert ruling == refused
            assert isinstance(ruling, Refused)
            assert ruling.rule
            assert ruling.why
            assert ruling.cells
        else:
            assert after == play(state, move)


@given(games())
def test_moves_are_written_and_read_alike_and_each_once(states):
    moves = legal_moves(states[-1])
    assert len(set(moves)) == len(moves)
    assert tuple(read_move(write_move(move)) for move in moves) == moves


@given(games(sizes=range(3, 6)))
def test_a_path_is_a_chain_of_own_flats_and_crowns_between_opposite_edges(states):
    for state in states:
        for player in Player:
            path = path_of(state, player)
            if not path:
                continue
            tops = [state.stack_at(cell)[-1] for cell in path]
            assert all(top.player is player and top.kind is not Kind.WALL for top in tops)
            assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in itertools.pairwise(path))
            assert any({path[0][axis], path[-1][axis]} == {1, state.size} for axis in (0, 1))
            assert state.result is not None
        if state.result is not None and state.result.reason.value == "path":
            assert path_of(state, state.result.winner)


@settings(max_examples=30)
@given(games(sizes=range(3, 6)))
def test_threats_are_the_moves_that_win_by_a_path(states):
    for state in states:
        mover = state.to_move
        wins = {move for move, after in plays(state) if not state.opening and path_of(after, mover)}
        assert set(threats(state, mover)) == wins
