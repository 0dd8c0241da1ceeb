"""The simulated table with this companion as its referee: what its players hear and say, its faults, and the soak.

Of the application only the command line knows the simulators; these are its commands and wiring about them. What
refereeing a real table does not need is imported where it is used.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, NoReturn, TextIO

import click
from tqdm import tqdm

from companion.games.compare import cell_mm
from companion.inputs import Correction, Declaration, Declared
from companion.referee import Referee, Standing

if TYPE_CHECKING:
    from companion import soak as soaks
    from companion.dashboard import faults
    from hardware_sims import players, table_faults
    from vision.board import Image


class Switchboard:
    """The faults of a simulated table, for its page."""

    def __init__(self, switches: "table_faults.Switches") -> None:
        self._switches = switches

    def switches(self) -> "list[faults.Switch]":
        """Every fault as it stands."""
        from companion.dashboard.faults import Switch
        from hardware_sims.table_faults import FAULTS

        states = self._switches.states()
        known = ((name, FAULTS[name]) for name in states)
        return [Switch(name, fault.kind.value, fault.title, states[name]) for name, fault in known]

    def switch(self, name: str, on: bool) -> None:
        """Switches one on or off. Raises KeyError where there is no such fault."""
        self._switches.switch(name, on)


def called(standing: Standing) -> "players.Call":
    """What the referee says just now, as the simulated players hear it."""
    from hardware_sims import players

    match, game = standing.match, standing.game
    if match is None or game is None:
        return players.Call(0, 0, None)
    asked = game.questions[0] if game.questions else None
    return players.Call(
        match.game,
        sum(game.used),
        None if game.over else game.to_flick.value,
        tuple((order.colour.value, order.x_mm, order.y_mm) for order in game.orders),
        None
        if asked is None
        else players.Question(
            asked.candidates,
            tuple((disk.x_mm, disk.y_mm) for disk in asked.disks)
            or tuple(cell_mm(game.setup.field, cell) for cell in asked.cells),
            not asked.disks,
        ),
    )


def put_said(standing: Standing, said: "Queue[Declaration | Correction]", words: str) -> None:
    """Puts what a simulated player says on the queue, as the buttons of the page do."""
    game, match = standing.game, standing.match_now
    if game is None or match is None:
        return
    if any(words in asked.candidates for asked in game.questions):
        said.put(Declaration(Declared.ACCEPT, choice=words))
    elif words in set(Declared) and (words != Declared.NEXT_GAME or (game.over and match.winner is not None)):
        # Within a match the next game begins with the empty board; an answer to a question now withdrawn says nothing.
        said.put(Declaration(Declared(words)))


@click.command("soak")
@click.option("--games", type=click.IntRange(min=1), default=20, show_default=True, help="How many are played.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the first game; the next one has the next.")
@click.option(
    "--fault", "faults", multiple=True, help="A fault by its name, there for part of each game; each: one by one."
)
@click.option("--grid/--no-grid", default=True, show_default=True, help="With the grid's sensors, or by camera alone.")
@click.option("--width", type=click.IntRange(min=320), default=1280, show_default=True, help="Of the pictures, 16 : 9.")
@click.option("--disks", type=click.IntRange(1, 12), default=12, show_default=True, help="Each player flicks.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("soak"), show_default=True, help="Folder for failing games."
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Games played at the same time.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a game on stdout, the sum last.")
def soak_command(
    games: int,
    seed: int,
    faults: tuple[str, ...],
    grid: bool,
    width: int,
    disks: int,
    out: Path,
    jobs: int,
    as_json: bool,
) -> None:
    """Plays whole games on the simulated table and holds every ruling against the table's truth.

    A game with a wrong ruling is written to a folder that `companion replay` repeats.
    """
    from companion.soak import MOST_UNDECIDED, Case
    from hardware_sims.table_faults import FAULTS
    from vision.usual import use_one_thread

    unknown = sorted(set(faults) - {*FAULTS, "each"})
    if unknown:
        raise click.UsageError(f"--fault {unknown[0]}: there are each, {', '.join(FAULTS)}")
    use_one_thread()
    sets = [(name,) for name in FAULTS] if "each" in faults else [faults]
    cases = [Case(seed + n, one, width, grid, disks) for one in sets for n in range(games)]
    flicks = wrong = undecided = 0
    kinds: Counter[str] = Counter()
    shown = sys.stderr.isatty()
    played = _played(cases, jobs)
    with tqdm(played, "games", len(cases), unit="game", file=sys.stderr, disable=not shown) as bar:
        for outcome in bar:
            case = outcome.case
            flicks, wrong = flicks + outcome.flicks, wrong + outcome.wrong
            undecided += outcome.undecided
            kinds += outcome.kinds
            bar.set_postfix(flicks=flicks, undecided=undecided, wrong=wrong)
            name = "-".join(["seed", str(case.seed), *case.faults, *([] if grid else ["no-grid"])])
            if outcome.findings:
                write_out(outcome, out / name)
            if as_json:
                print(json.dumps(outcome.to_json()), flush=True)
                continue
            told = [f"{name}: {outcome.flicks} flicks, {outcome.undecided} undecided, {outcome.wrong} wrong"]
            told += [f"  {finding}" for finding in outcome.findings]
            told += [f"  flick {n} was asked about: {why}" for n, why in outcome.asked]
            tqdm.write("\n".join(told), file=sys.stdout)
            sys.stdout.flush()
    right = flicks - wrong - undecided
    if as_json:
        total = {"games": len(cases), "flicks": flicks, "right": right, "undecided": undecided, "wrong": wrong}
        print(json.dumps({**total, "kinds": dict(kinds)}), flush=True)
    else:
        click.echo(f"{len(cases)} games, {flicks} flicks: {right} right, {undecided} undecided, {wrong} wrong")
        for kind, count in kinds.most_common():
            click.echo(f"  {kind}: {count}")
    if wrong:
        _fail(f"{wrong} flicks were ruled wrongly; companion replay repeats the games in {out}")
    if undecided > MOST_UNDECIDED * flicks and not faults:
        _fail(f"{undecided} of {flicks} flicks were asked about; at most {MOST_UNDECIDED:.0%} should be")


@click.command("replay")
@click.argument("bundle", type=click.Path(path_type=Path))
def replay_command(bundle: Path) -> None:
    """Plays the game of a BUNDLE of `companion soak` again and tells whether it is the same to the last ruling."""
    from companion.soak import BundleError, first_difference, log_of, read_bundle
    from vision.usual import use_one_thread

    try:
        case, log = read_bundle(bundle)
    except BundleError as error:
        _fail(str(error))
    use_one_thread()
    outcome = soak_game(case)
    for finding in outcome.findings:
        click.echo(str(finding))
    line = first_difference(log, log_of(outcome))
    if line is not None:
        _fail(f"{bundle}: another game from line {line} of its log on; it was made by another version")
    click.echo(f"the same {len(outcome.told)} inputs with the same rulings; {len(outcome.findings)} findings")


def _played(cases: "Sequence[soaks.Case]", jobs: int) -> "Iterator[soaks.Outcome]":
    """The games' outcomes in order, so many played at a time, each by a process of its own."""
    from vision.usual import use_one_thread

    if jobs == 1:
        yield from map(soak_game, cases)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=use_one_thread) as pool:
        yield from pool.map(soak_game, cases)


def soak_game(
    case: "soaks.Case", keep: "Callable[[int, Image], None] | None" = None, record: TextIO | None = None
) -> "soaks.Outcome":
    """Plays one game; `keep` is given its pictures, `record` the serial line."""
    from companion import soak as soaks
    from hardware_sims import virtual
    from hardware_sims.ports import InProcess
    from hardware_sims.recording import Recording
    from hardware_sims.scorer import Scorer
    from hardware_sims.table_faults import FAULTS, Kind

    def as_seen(call: "players.Call") -> "players.Call":
        """What people make of a call about a mirrored board: they take the disk that they see there."""
        if not table.camera.view.mirrored:
            return call
        width_mm, asked = table.players.table.board.width_mm, call.question
        if asked is not None:
            asked = replace(asked, places_mm=tuple((width_mm - x_mm, y_mm) for x_mm, y_mm in asked.places_mm))
        remove = tuple((colour, width_mm - x_mm, y_mm) for colour, x_mm, y_mm in call.remove)
        return replace(call, remove=remove, question=asked)

    referee = Referee()
    said: Queue[Declaration | Correction] = Queue()
    lasting = tuple(name for name in case.faults if FAULTS[name].kind is Kind.MOUNTING)
    table = virtual.table(
        case.seed,
        lambda: as_seen(called(referee.standing)),
        lambda words: put_said(referee.standing, said, words),
        pause_s=0.3,
        faults=lasting,
        size_wh=(case.width, case.width * 9 // 16),
        jpeg_quality=90,
    )
    recording = None if record is None else Recording(record)
    port = InProcess(virtual.grid_of(seed=case.seed), seed=case.seed, recording=recording)
    stake = virtual.stake(case.seed)
    mirrored = table.camera.view.mirrored
    # Nothing tells a mirrored board from another one but a grid, which then contradicts it: that is told, not played.
    sensed = virtual.Sensed(port) if case.grid and not mirrored else None
    table.players.disks_each = case.disks_each
    game = soaks.Game(case, table, sensed, referee, said, virtual.PROFILE, stake, keep)
    a_side = next((FAULTS[name].a_side for name in lasting if FAULTS[name].a_side), None)
    outcome = game.play(Scorer(table.players.table.board, stake), lasting, a_side, mirrored=mirrored)
    if recording is not None:
        recording.flush()
    return outcome


def write_out(outcome: "soaks.Outcome", folder: Path) -> None:
    """Plays a failing game once more, for its pictures and its serial record, and writes it all to a folder."""
    from companion.soak import frames_around, write_bundle
    from vision.draw import encode_jpeg

    shown = frames_around(outcome.findings)
    pictures: list[tuple[int, bytes]] = []

    def keep(frame: int, image_bgr: "Image") -> None:
        if frame in shown:
            pictures.append((frame, encode_jpeg(image_bgr, quality=95)))

    record = StringIO()
    soak_game(outcome.case, keep, record)
    write_bundle(folder, outcome, pictures, record.getvalue())


def pictures_of_flicks(flicks: int = 3) -> list[tuple[float, bytes]]:
    """Seconds and JPEGs of some flicks at the simulated table, as a camera at 15 frames a second sends them."""
    from hardware_sims import virtual
    from vision.draw import encode_jpeg

    table = virtual.table(1, lambda: called(Standing()), lambda _words: None)
    table.players.referee = None
    pictures = []
    for moment in table.play():
        image = table.image(moment)
        if image is not None:
            pictures.append((moment.t_s, encode_jpeg(image, quality=90)))
        if len(table.players.flicked) > flicks:
            break
    return pictures


def _fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
