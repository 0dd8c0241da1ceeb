"""Points for every pair of counts, against a second scorer written out slowly; matches against the rulebook's words."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.games.match import Tally, score, start_match
from companion.inputs import Setup
from companion.terms import Mode, Player

COUNTS = list(product(range(8), repeat=2))
MATCHES = [mode for mode in Mode if mode is not Mode.BASIC]


def points_by_the_rulebook(a: int, b: int) -> tuple[int, int]:
    """Point Scoring in Match Games, sentence by sentence."""
    if a == 7 and b == 7:
        return 4, 4
    if a == 7:
        return 4, 0
    if b == 7:
        return 0, 4
    if a == 0 and b == 0:
        return 0, 0
    if a == b:
        return 1, 1
    if a > b:
        return 2, 0
    return 0, 2


def double_row_by_the_rulebook(far: tuple[int, int], near: tuple[int, int]) -> tuple[int, int]:
    """Double Row Scoring: the difference, and a tie by Point Scoring in Match Games."""
    a = far[0] + far[0] + near[0]
    b = far[1] + far[1] + near[1]
    if a > b:
        return a - b, 0
    if b > a:
        return 0, b - a
    if far == (7, 7):
        return 4, 4
    if a > 0:
        return 1, 1
    return 0, 0


def test_all_64_pairs_of_far_row_counts():
    ours = {far: score(Mode.MATCH, Tally(far), 7).points for far in COUNTS}
    assert ours == {(a, b): points_by_the_rulebook(a, b) for a, b in COUNTS}


def test_all_64_pairs_of_far_row_counts_in_a_basic_game():
    for a, b in COUNTS:
        winner = Player.A if a > b else Player.B if b > a else None
        finished = score(Mode.BASIC, Tally((a, b)), 7)
        assert (finished.winner, finished.points) == (winner, None)


def test_double_row_for_every_pair_of_rows():
    pairs = [(far, near) for far, near in product(range(8), repeat=2) if far + near <= 12]
    for (far_a, near_a), (far_b, near_b) in product(pairs, repeat=2):
        tally = Tally((far_a, far_b), (near_a, near_b))
        assert score(Mode.DOUBLE_ROW, tally, 7).points == double_row_by_the_rulebook(tally.far, tally.near)


def test_three_in_a_row_has_no_rule_for_seven():
    for lines in COUNTS:
        a, b = lines
        expected = (2, 0) if a > b else (0, 2) if b > a else (1, 1) if a else (0, 0)
        assert score(Mode.THREE_IN_A_ROW, Tally(lines=lines), 7).points == expected


@pytest.mark.parametrize(("columns", "points"), [(5, (4, 0)), (6, (2, 0))])
def test_a_perfect_game_fills_the_far_row_however_wide(columns, points):
    assert score(Mode.MATCH, Tally((5, 1)), columns).points == points


@st.composite
def tallies(draw):
    far = draw(st.sampled_from(COUNTS))
    near = tuple(draw(st.integers(0, min(7, 12 - count))) for count in far)
    return Tally(far, near, draw(st.sampled_from(COUNTS)))


def swapped(tally: Tally) -> Tally:
    return Tally(*((pair[1], pair[0]) for pair in (tally.far, tally.near, tally.lines)))


@given(st.sampled_from(list(Mode)), tallies())
def test_swapping_the_players_swaps_the_score(mode, tally):
    one, other = score(mode, tally, 7), score(mode, swapped(tally), 7)
    assert other.count == one.count[::-1]
    assert other.points == (one.points and one.points[::-1])
    assert other.winner is (one.winner and one.winner.other)


@given(st.sampled_from(MATCHES), st.integers(1, 30), st.lists(tallies(), max_size=40))
def test_a_match_plays_by_its_words(mode, threshold, games):
    """Points only grow, except that the markers restart once; the match ends when and only when the rulebook says."""
    match = start_match(Setup(mode, threshold))
    for tally in games:
        finished = score(mode, tally, 7)
        assert finished.points is not None
        assert min(finished.points) >= 0
        total = (match.points[0] + finished.points[0], match.points[1] + finished.points[1])
        after = match.after(finished)
        assert after.starter is (finished.winner or match.starter.other)
        both = min(total) >= threshold
        if match.sudden_death:
            assert after.winner is finished.winner
        elif both:
            assert (after.points, after.sudden_death, after.winner) == ((0, 0), True, None)
            assert finished.winner is None
        else:
            assert after.points == total
            assert after.decided == (max(total) >= threshold)
            if after.winner is not None:
                assert total[list(Player).index(after.winner)] == max(total)
        if after.decided:
            break
        match = after


def test_the_second_match_switches_sides_and_the_same_person_starts():
    match = start_match(Setup(Mode.MATCH, 1, Player.A, names=("Ann", "Ben")))
    won = match.after(score(Mode.MATCH, Tally((0, 3)), 7))
    again = won.again()
    assert (won.winner, again.names, again.starter) == (Player.B, ("Ben", "Ann"), Player.B)
    assert (again.points, again.winner, again.game) == ((0, 0), None, 1)
    assert again.again().names == match.names
