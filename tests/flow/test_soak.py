"""Claims about the soak: the second scorer knows the rulebook, what is ruled wrongly is found, games repeat exactly."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.cli import main
from companion.findings import Told, Wrong, compare
from companion.games import at_rest
from companion.games.match import score, start_match
from companion.inputs import Declaration, Declared, SeenDisk, Setup
from companion.ruling import Accepted, Cleared, Do, GameOver, GameStarted, Shot, Undecided, Why
from companion.simulated import soak_game, write_out
from companion.soak import Case, Outcome, first_difference
from companion.terms import USUAL_FIELD, Lying, Mode, Player
from hardware_sims.disks import STANDARD, Disk, cell_mm, flat, in_cell
from hardware_sims.players import Flicked
from hardware_sims.recording import read_recording
from hardware_sims.scorer import Scorer, Stake, lines, result, why_off
from vision.usual import use_one_thread

MIDDLE_MM = 158.0


def hole(name: str, row: int, column: int) -> Disk:
    return in_cell(STANDARD, name, name[0], (row, column))


def on_top(name: str, y_mm: float) -> Disk:
    return flat(STANDARD, name, name[0], MIDDLE_MM, y_mm)


@pytest.mark.parametrize(
    ("disk", "why"),
    [
        (hole("a1", 1, 4), "own-front-row"),
        (hole("b1", 1, 4), None),
        (hole("b1", 8, 4), "own-front-row"),
        (hole("a1", 8, 4), None),
        (on_top("a1", 69.9), "own-launch-area"),
        (on_top("a1", 70.0), None),
        (on_top("b1", 69.9), "opposing-launch-area"),
        (on_top("b1", 494.0 - 69.9), "own-launch-area"),
        (on_top("a1", 494.0 - 69.9), "opposing-launch-area"),
        (on_top("a1", 494.0 - 70.0), None),
        (on_top("a1", 95.0), None),
    ],
)
def test_the_scorer_knows_where_a_disk_may_not_stay(disk, why):
    assert why_off(STANDARD, disk) == why


def far_rows(a: int, b: int) -> list[Disk]:
    return [hole(f"a{n}", 8, n) for n in range(1, a + 1)] + [hole(f"b{n}", 1, n) for n in range(1, b + 1)]


@pytest.mark.parametrize(
    ("stake", "far", "points", "stands", "winner", "starts"),
    [
        (Stake(), (4, 2), (2, 0), (2, 0), None, "a"),
        (Stake(), (3, 3), (1, 1), (1, 1), None, "b"),
        (Stake(), (0, 0), (0, 0), (0, 0), None, "b"),
        (Stake(), (7, 4), (4, 0), (4, 0), None, "a"),
        (Stake(points=(9, 10)), (3, 1), (2, 0), (11, 10), "a", "a"),
        (Stake(points=(10, 8)), (2, 2), (1, 1), (11, 9), "a", "b"),
        (Stake(points=(10, 10)), (1, 1), (1, 1), (0, 0), None, "b"),
        (Stake(points=(7, 10)), (7, 7), (4, 4), (0, 0), None, "b"),
        (Stake(points=(11, 14), sudden_death=True), (1, 0), (2, 0), (13, 14), "a", "a"),
    ],
)
def test_the_scorer_counts_match_points(stake, far, points, stands, winner, starts):
    right = result(STANDARD, stake, far_rows(*far))
    assert (right.count, right.points, right.match) == (far, points, stands)
    assert (right.match_winner, right.next_starter) == (winner, starts)


def test_the_scorer_finds_lines_in_the_last_four_rows_alone():
    diagonal = [hole("a1", 5, 2), hole("a2", 6, 3), hole("a3", 7, 4)]
    assert lines(STANDARD, diagonal, "a") == 1
    assert lines(STANDARD, [hole("a1", 4, 2), *diagonal[1:]], "a") == 0
    assert lines(STANDARD, [hole(f"b{n}", 2, n) for n in range(1, 5)], "b") == 2


boards = st.dictionaries(st.tuples(st.integers(1, 8), st.integers(1, 7)), st.sampled_from(["a", "b"]), max_size=24)
stakes = st.builds(
    Stake,
    st.sampled_from([mode.value for mode in Mode]),
    st.just(11),
    st.tuples(st.integers(0, 10), st.integers(0, 10)),
    st.sampled_from(["a", "b"]),
    st.booleans(),
)


@settings(max_examples=300)
@given(board=boards, stake=stakes)
def test_scorer_and_referee_agree_on_every_board_and_standing(board, stake):
    allowed = {cell: side for cell, side in board.items() if cell[0] != (1 if side == "a" else 8)}
    truth = [hole(f"{side}{n}", *cell) for n, (cell, side) in enumerate(allowed.items())]
    seen = [
        SeenDisk(Player(side), *cell_mm(STANDARD, cell), cell, Lying.IN_CELL, 0.1) for cell, side in allowed.items()
    ]
    setup = Setup(
        Mode(stake.mode), stake.threshold, Player(stake.starter), points=stake.points, sudden_death=stake.sudden_death
    )
    finished = score(setup.mode, at_rest.tally(USUAL_FIELD, seen), USUAL_FIELD.columns)
    match = start_match(setup).after(finished)
    right = result(STANDARD, stake, truth)
    assert (right.count, right.winner, right.points) == (finished.count, finished.winner, finished.points)
    assert right.next_starter == match.starter
    if stake.mode != "basic":
        assert (right.match, right.match_winner, right.sudden_death) == (match.points, match.winner, match.sudden_death)
        assert right.begins == (match.again() if match.decided else match).starter


def test_a_disk_that_should_have_come_off_counts_no_more():
    scorer = Scorer(STANDARD, Stake())
    bad, good = hole("a1", 1, 4), hole("b1", 3, 3)
    first = scorer.flick(Flicked(1, 1, "a", "a1", False, 10, (bad,)))
    assert [(off.disk.name, off.why) for off in first.off] == [("a1", "own-front-row")]
    second = scorer.flick(Flicked(1, 2, "b", "b1", False, 20, (bad, good), 11, (bad,)))
    assert second.unmet == ("a1",)
    assert second.off == ()
    assert scorer.end((hole("a1", 8, 4), hole("a2", 8, 5))).count == (1, 0)


@pytest.fixture(scope="module")
def game() -> Outcome:
    """One short game, refereed rightly."""
    use_one_thread()
    return soak_game(Case(SHORT_SEED, width=WIDTH, disks_each=2))


SHORT_SEED = 8
WIDTH = 800


def test_a_short_game_is_refereed_rightly(game):
    assert game.findings == ()
    assert game.flicks == 4


def without(told, event):
    """The told inputs without the first accepted ruling with such an event."""
    return changed(told, event, lambda _: None)


def changed(told, event, change):
    """The told inputs with the first accepted ruling with such an event as `change` makes it."""
    left = [True]

    def kept(one):
        rulings = []
        for ruling in one.rulings:
            if left[0] and isinstance(ruling, Accepted) and isinstance(ruling.event, event):
                left[0] = False
                ruling = change(ruling)
            rulings += [] if ruling is None else [ruling]
        return replace(one, rulings=tuple(rulings))

    made = tuple(kept(one) for one in told)
    assert not left[0], f"no {event.__name__} was ruled"
    return made


def with_shot(**changes):
    return lambda ruling: replace(ruling, event=replace(ruling.event, **changes))


def disks_changed(change):
    return lambda ruling: replace(ruling, event=replace(ruling.event, disks=change(ruling.event.disks)))


def with_other_player(ruling):
    return replace(ruling, event=replace(ruling.event, player=ruling.event.player.other))


WRONGS = {
    "a flick that is not counted": (lambda told: without(told, Shot), Wrong.FLICK_MISSED),
    "the wrong player": (lambda told: changed(told, Shot, with_other_player), Wrong.PLAYER),
    "the wrong number": (lambda told: changed(told, Shot, with_shot(n=2)), Wrong.PLAYER),
    "one more that left": (lambda told: changed(told, Shot, with_shot(left_board=3)), Wrong.LEFT),
    "an empty board": (lambda told: changed(told, Shot, with_shot(disks=())), Wrong.DISK_MISSED),
    "a disk twice": (lambda told: changed(told, Shot, disks_changed(lambda disks: disks * 2)), Wrong.DISK_INVENTED),
    "the other colour": (
        lambda told: changed(
            told, Shot, disks_changed(lambda disks: tuple(replace(one, colour=one.colour.other) for one in disks))
        ),
        Wrong.COLOUR,
    ),
    "another hole": (
        lambda told: changed(
            told, Shot, disks_changed(lambda disks: tuple(replace(one, cell=(4, 1)) for one in disks))
        ),
        Wrong.CELL,
    ),
    "a few millimetres off": (
        lambda told: changed(
            told, Shot, disks_changed(lambda disks: tuple(replace(one, x_mm=one.x_mm + 4) for one in disks))
        ),
        Wrong.PLACE,
    ),
    "another count": (
        lambda told: changed(told, GameOver, with_shot(count=(5, 5))),
        Wrong.GAME_OVER,
    ),
    "no end": (lambda told: without(told, GameOver), Wrong.GAME_OVER),
    "no first game": (lambda told: without(told, GameStarted), Wrong.NEXT_GAME),
}


@pytest.mark.parametrize("what", WRONGS)
def test_what_is_ruled_wrongly_is_found(game, what):
    tamper, wrong = WRONGS[what]
    finished, right = game.end
    findings, _ = compare(tamper(game.told), game.verdicts, finished, right)
    assert wrong in {finding.wrong for finding in findings}


def ordered(told, why=Why.OWN_FRONT_ROW):
    """The told inputs with an order for the first disk of the first flick that left one on the board."""
    made = []
    for one in told:
        rulings = []
        for ruling in one.rulings:
            if isinstance(ruling, Accepted) and isinstance(ruling.event, Shot) and ruling.event.disks:
                off = at_rest.order(Do.REMOVE, why, ruling.event.disks[0], "Important Rules")
                ruling = replace(ruling, orders=(*ruling.orders, off))
            rulings.append(ruling)
        made.append(replace(one, rulings=tuple(rulings)))
    return tuple(made)


def test_orders_for_nothing_and_orders_that_are_not_given_are_found(game):
    finished, right = game.end
    findings, _ = compare(ordered(game.told), game.verdicts, finished, right)
    assert Wrong.ORDER_INVENTED in {finding.wrong for finding in findings}
    bad = hole("a1", 1, 4)
    verdict = Scorer(STANDARD, Stake()).flick(Flicked(1, 1, "a", "a1", False, 10, (bad,)))
    seen = SeenDisk(Player.A, bad.x_mm, bad.y_mm, bad.cell, Lying.IN_CELL, 0.1)
    shot = Accepted("Quick Start", "it stays", Shot(1, Player.A, (seen,), 0))
    said = game.told[0].given
    findings, _ = compare([Told(12, said, (shot,))], [verdict], None, None)
    assert Wrong.ORDER_MISSED in {finding.wrong for finding in findings}
    cleared = Accepted("Important Rules", "off", Cleared())
    findings, _ = compare([Told(12, said, (shot, cleared, cleared))], [verdict], None, None)
    assert Wrong.CLEARED in {finding.wrong for finding in findings}


def test_a_question_makes_a_flick_undecided(game):
    doubt = Undecided("Quick Start", "too close to call", ("stays", "comes-off"), 1)
    finished, right = game.end
    at = game.verdicts[0].flick.began + 1
    findings, asked = compare([*game.told, Told(at, game.told[0].given, (doubt,))], game.verdicts, finished, right)
    assert findings == ()
    assert asked == ((1, "too close to call"),)


def test_a_failing_game_is_written_out_and_another_process_repeats_it_exactly(game, tmp_path):
    finished, right = game.end
    findings, _ = compare(without(game.told, Shot), game.verdicts, finished, right)
    bundle = tmp_path / "bundle"
    write_out(replace(game, findings=findings), bundle)
    names = {path.name for path in bundle.iterdir()}
    assert names == {"case.json", "findings.txt", "frames", "log.jsonl", "serial.txt", "truth.jsonl"}
    assert "flick missed" in (bundle / "findings.txt").read_text()
    assert len((bundle / "truth.jsonl").read_text().splitlines()) == game.flicks
    assert (bundle / "frames" / f"{findings[0].frame:06d}.jpg").is_file()
    with (bundle / "serial.txt").open() as record:
        assert len(read_recording(record)) > 10
    command = [sys.executable, "-c", "from companion.cli import main; main()", "replay", str(bundle)]
    again = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert again.returncode == 0, again.stderr
    assert f"the same {len(game.told)} inputs" in again.stdout
    log = (bundle / "log.jsonl").read_text().splitlines()
    (bundle / "log.jsonl").write_text("\n".join([*log[:2], "{}", *log[3:]]) + "\n")
    differs = CliRunner().invoke(main, ["replay", str(bundle)])
    assert differs.exit_code == 1
    assert "from line 3 of its log" in differs.stderr


@pytest.mark.parametrize("content", [None, "not JSON", "{}", '{"seed": "x"}'])
def test_what_is_no_bundle_is_told_in_one_line(tmp_path, content):
    if content is not None:
        (tmp_path / "case.json").write_text(content)
        (tmp_path / "log.jsonl").write_text("")
    ended = CliRunner().invoke(main, ["replay", str(tmp_path)])
    assert ended.exit_code == 1
    assert ended.stderr.count("\n") == 1
    assert str(tmp_path) in ended.stderr


def test_an_unknown_fault_is_refused_with_those_there_are():
    ended = CliRunner().invoke(main, ["soak", "--fault", "gremlins"])
    assert ended.exit_code == 2
    assert "drop-outs" in ended.stderr


def test_the_first_different_line_is_named():
    assert first_difference("a\nb\n", "a\nb\n") is None
    assert first_difference("a\nb\n", "a\nc\n") == 2
    assert first_difference("a\n", "a\nb\n") == 2


TILTED = Disk("a1", "a", *cell_mm(STANDARD, (5, 4)), -3.0, 30.0, 0.0, (5, 4), "tilted")


@pytest.mark.parametrize(
    ("illegal", "advised", "wrong"), [(False, True, 0), (False, False, 1), (True, True, 0), (True, False, 0)]
)
def test_a_disk_flicked_illegally_may_be_advised_about_until_that_is_said(illegal, advised, wrong):
    verdict = Scorer(STANDARD, Stake()).flick(Flicked(1, 1, "a", "a1", illegal, 10, (TILTED,)))
    seen = SeenDisk(Player.A, TILTED.x_mm, TILTED.y_mm, TILTED.cell, Lying.TILTED, 1.5)
    advice = (at_rest.order(Do.LAY_FLAT, Why.TILTED, seen, "Quick Start"),) if advised else ()
    shot = Accepted("Quick Start", "it stays", Shot(1, Player.A, (seen,), 0), advice)
    findings, _ = compare([Told(12, Declaration(Declared.START), (shot,))], [verdict], None, None)
    assert [finding.wrong for finding in findings].count(Wrong.ADVICE) == wrong


FLAT = in_cell(STANDARD, "a1", "a", (5, 4))


@pytest.mark.parametrize("lies", [TILTED, FLAT])
def test_whether_a_disk_is_tilted_can_be_asked(lies):
    verdict = Scorer(STANDARD, Stake()).flick(Flicked(1, 1, "a", "a1", False, 10, (lies,)))
    seen = SeenDisk(Player.A, lies.x_mm, lies.y_mm, lies.cell, Lying.IN_CELL, 0.1, perhaps_tilted=True)
    advice = (at_rest.order(Do.LAY_FLAT, Why.PERHAPS_TILTED, seen, "Quick Start"),)
    shot = Accepted("Quick Start", "it stays", Shot(1, Player.A, (seen,), 0), advice)
    findings, asked = compare([Told(12, Declaration(Declared.START), (shot,))], [verdict], None, None)
    assert {finding.wrong for finding in findings} == {Wrong.GAME_OVER}
    assert [n for n, _ in asked] == [1]
