"""What holds whatever is seen and said: replay, undo, swapped sides, and no disk that comes back."""

import json
import math
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from companion.games import GAMES
from companion.games.compare import cell_mm
from companion.inputs import (
    Correction,
    Declaration,
    Declared,
    DiskCorrection,
    Input,
    Look,
    SeenDisk,
    Setup,
    Undo,
    input_from_json,
    input_to_json,
)
from companion.referee import Referee, events_to_json
from companion.ruling import Accepted, ruling_from_json, ruling_to_json
from companion.terms import USUAL_FIELD, IllegalFlick, Lying, Mode, Player

FIELD = USUAL_FIELD

# Anything at all: boards that jump about, flights of either colour, and words at any moment.

cells = st.tuples(st.integers(1, 8), st.integers(1, 7))
players = st.sampled_from(list(Player))


@st.composite
def disks(draw):
    colour = draw(players)
    sigma_mm = draw(st.sampled_from([0.0, 0.0, 0.5]))
    if draw(st.booleans()):
        cell = draw(cells)
        lying = draw(st.sampled_from([Lying.IN_CELL, Lying.IN_CELL, Lying.TILTED]))
        return SeenDisk(colour, *cell_mm(FIELD, cell), cell, lying, sigma_mm)
    # Halves are exact in binary, so that a mirrored board is the same board.
    x_mm, y_mm = draw(st.integers(0, 632)) / 2, draw(st.integers(0, 988)) / 2
    return SeenDisk(colour, x_mm, y_mm, None, draw(st.sampled_from([Lying.FLAT, Lying.LEANING])), sigma_mm)


def apart(seen: Iterable[SeenDisk]) -> tuple[SeenDisk, ...]:
    """The disks without those in the very place of one before: two disks are never there."""
    kept: list[SeenDisk] = []
    for disk in seen:
        if all(math.hypot(disk.x_mm - other.x_mm, disk.y_mm - other.y_mm) > 10 for other in kept):
            kept.append(disk)
    return tuple(kept)


looks = st.builds(
    Look,
    st.lists(disks(), max_size=8).map(apart),
    st.lists(cells, max_size=2).map(tuple),
    st.booleans(),
    st.lists(st.none() | players, max_size=2).map(tuple),
)
CHOICES = ["flick-lost", "out-of-turn", "flick", "by-hand", "stays", "comes-off", "left-the-board", None]
declarations = st.builds(
    Declaration,
    st.sampled_from([what for what in Declared if what is not Declared.START]),
    choice=st.sampled_from(CHOICES),
)
setups = st.builds(
    Setup,
    mode=st.sampled_from(list(Mode)),
    threshold=st.integers(1, 4),
    starter=players,
    illegal_flick=st.sampled_from(list(IllegalFlick)),
)


@st.composite
def inputs(draw):
    """A set-up and what follows; looks grow out of the look before, as real ones do."""
    given: list[Input] = [Declaration(Declared.START, draw(setups))]
    board: tuple[SeenDisk, ...] = ()
    for _ in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from(["add", "add", "add", "take", "look", "say", "fix"]))
        if kind == "add":
            board = apart((*board, draw(disks())))
        elif kind == "take" and board:
            board = board[1:]
        if kind in ("add", "take"):
            given.append(
                Look(board, (), draw(st.booleans()), draw(st.just(()) | players.map(lambda colour: (colour,))))
            )
        elif kind == "look":
            given.append(draw(looks))
            board = given[-1].disks
        elif kind == "say":
            given.append(draw(declarations))
        else:
            was = draw(st.none() | st.sampled_from(board)) if board else None
            given.append(DiskCorrection(was, draw(st.none() | disks())))
    return given


def take_all(given: list[Input]) -> Referee:
    referee = Referee()
    for each in given:
        referee.take(each)
    return referee


@given(inputs())
def test_replay_of_the_record_gives_the_same_standing(given):
    referee = Referee()
    said = [referee.take(each) for each in given]
    record = [json.loads(json.dumps(input_to_json(each))) for each in given]
    again = Referee()
    assert [again.take(input_from_json(each)) for each in record] == said
    assert again.standing == referee.standing
    for rulings in said:
        assert tuple(ruling_from_json(json.loads(json.dumps(ruling_to_json(each)))) for each in rulings) == rulings


@given(inputs())
def test_undo_after_every_input_goes_all_the_way_back(given):
    referee = Referee()
    stood = [referee.standing]
    for each in given:
        referee.take(each)
        if referee.standing != stood[-1]:
            stood.append(referee.standing)
    for before in reversed(stood[:-1]):
        (ruling,) = referee.take(Undo())
        assert isinstance(ruling, Accepted)
        assert referee.standing == before
    assert referee.standing == Referee().standing


@given(inputs(), st.data())
def test_undo_to_before_an_entry_is_as_if_the_rest_was_not_said(given, data):
    entry = data.draw(st.integers(1, len(given)))
    referee = take_all(given)
    referee.take(Undo(entry))
    before = take_all(given[: entry - 1])
    assert referee.standing == before.standing
    assert [referee.take(each) for each in given] == [before.take(each) for each in given]


def swapped(given: Input) -> Input:
    """The same, seen from the other side of the table by players who sit there."""
    match given:
        case Look():
            return replace(
                given,
                disks=tuple(map(swapped_disk, given.disks)),
                hidden=tuple((9 - row, 8 - column) for row, column in given.hidden),
                flights=tuple(colour and colour.other for colour in given.flights),
            )
        case Declaration(setup=Setup() as setup):
            return replace(given, setup=replace(setup, starter=setup.starter.other, names=("B", "A")))
        case DiskCorrection():
            return DiskCorrection(given.was and swapped_disk(given.was), given.now and swapped_disk(given.now))
        case _:
            return given


def swapped_disk(disk: SeenDisk) -> SeenDisk:
    return replace(
        disk,
        colour=disk.colour.other,
        x_mm=FIELD.width_mm - disk.x_mm,
        y_mm=FIELD.length_mm - disk.y_mm,
        cell=disk.cell and (9 - disk.cell[0], 8 - disk.cell[1]),
    )


@given(inputs())
def test_swapping_the_players_swaps_the_result(given):
    one, other = take_all(given).standing, take_all([swapped(each) for each in given]).standing
    assert other.game.used == one.game.used[::-1]
    assert other.game.to_flick is one.game.to_flick.other
    assert other.game.over == one.game.over
    assert sorted(map(str, other.game.disks)) == sorted(str(swapped_disk(disk)) for disk in one.game.disks)
    assert other.match_now.points == one.match_now.points[::-1]
    assert other.match_now.winner is (one.match_now.winner and one.match_now.winner.other)
    if one.score is not None:
        assert other.score.count == one.score.count[::-1]


@given(inputs())
def test_points_and_flicks_stay_within_the_rules(given):
    referee = Referee()
    for each in given:
        referee.take(each)
        standing = referee.standing
        assert min(standing.match_now.points) >= 0
        assert all(0 <= used <= 12 for used in standing.game.used)
        assert standing.score is None or min(standing.score.count) >= 0


@given(inputs())
def test_a_disk_off_the_board_never_comes_back(given):
    """A disk gets into play by a flick alone, so that those in play and those gone add up to those flicked."""
    referee = Referee()
    gone = dict.fromkeys(Player, 0)
    in_play = dict(gone)
    for each in given:
        if isinstance(each, Correction) or each == Declaration(Declared.NEXT_GAME):
            continue
        before = referee.standing.match
        referee.take(each)
        game = referee.standing.game
        if referee.standing.match is not before:
            gone, in_play = (dict.fromkeys(Player, 0) for _ in range(2))
        for player, used in zip(Player, game.used, strict=True):
            now = sum(resting.disk.colour is player and resting.counts for resting in game.board)
            gone[player] += max(in_play[player] - now, 0)
            in_play[player] = now
            assert now <= used or game.setup.illegal_flick is IllegalFlick.REPLAY or game.orders


@given(inputs())
def test_every_game_keeps_the_promises_that_the_referee_relies_on(given):
    """One suite over all games: frozen states, one ruling's JSON a ruling, nothing said means nothing changed."""
    setup, *rest = given
    for game in GAMES.values():
        state = game.start(setup.setup)
        assert hash(state) == hash(game.start(setup.setup))
        assert game.start(setup.setup, Player.B).to_flick is Player.B
        for each in rest:
            after, rulings = game.judge(state, each)
            assert (after, rulings) == game.judge(state, each)
            assert rulings or after == state
            assert len(events_to_json(rulings)) <= len(rulings)
            for ruling in rulings:
                assert ruling.rule
                assert ruling.why
            state = after
