"""`companion bench`: our figures, each beside its peer in the same run."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from companion.simulated import pictures_of_flicks
from companion.simulated_pathstone import turns_in_mid_game
from vision.board import parse_profile
from vision.calibration import calibrate

if TYPE_CHECKING:
    from companion import bench as bench_rows


@click.command()
@click.option("--pictures", type=click.IntRange(min=2), default=12, show_default=True, help="How many are rendered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row on stdout.")
def bench(pictures: int, as_json: bool) -> None:
    """Our figures, each beside its peer in the same run. Let nothing else run meanwhile."""
    from companion.accuracy import accuracy_rows, labelled
    from companion.bench import Sample, measure
    from companion.goes import goes_rows
    from companion.inferring import move_row
    from companion.pace import flick_row
    from companion.perft import perft_rows
    from hardware_sims import virtual
    from hardware_sims.pictures import profile_toml, random_picture, same_scene
    from hardware_sims.stones_pictures import same_stones
    from vision.draw import encode_jpeg
    from vision.usual import use_one_thread

    use_one_thread()
    samples = []
    for seed in tqdm(range(pictures), desc="rendering", file=sys.stderr, disable=not sys.stderr.isatty()):
        image, truth = random_picture(seed, size_wh=(1920, 1080), arm=False)
        before, _ = random_picture(seed, size_wh=(1920, 1080), arm=False, flicks_before=1)
        profile = parse_profile(profile_toml(truth))
        calibration = calibrate(truth["corners_px"], profile.board.corners_mm(), (1920, 1080), profile.fov_x_deg)
        disks = tuple((d["colour"], (d["x"], d["y"]), d["hole"] and tuple(d["hole"])) for d in truth["disks"])
        samples.append(Sample(encode_jpeg(image, quality=90), image, before, calibration, profile, disks))
    hand, _ = random_picture(0, size_wh=(1920, 1080), arm=True)
    hard = [
        labelled(image, parse_profile(profile_toml(truth)), truth)
        for image, truth in (
            random_picture(seed, arm=False)
            for seed in tqdm(range(pictures), desc="rendering", file=sys.stderr, disable=not sys.stderr.isatty())
        )
    ]
    shared = Path(__file__).resolve().parents[2].parent / "shared"
    if not shared.is_dir():
        click.echo(f"path-traced and photographed pictures are skipped: {shared} is not there", err=True)
    flicks = flick_row(pictures_of_flicks(), virtual.PROFILE)
    moves = [move_row(turns_in_mid_game(size, pictures)) for size in (5, 6)]
    sets = accuracy_rows(hard, same_scene, same_stones, shared) if shared.is_dir() else ()
    for row in chain(measure(samples, hand), [flicks], moves, sets, perft_rows(), goes_rows(), _grid_rows()):
        told = row.to_json()
        words = f"{row.row}: {row.ours} {row.unit}, peer {row.peer} {row.unit}, ratio {told['ratio']}"
        click.echo(json.dumps(told) if as_json else words)


def _grid_rows() -> "Iterator[bench_rows.Row]":
    """The figures of the firmware in simavr; none, which is said, where the tools are not there."""
    from companion.bench import GridFigures, grid_rows
    from hardware_sims.avr import missing
    from hardware_sims.avr_figures import event_delays_ms, led_upload_share, picture_share

    if (lacking := missing()) is not None:
        click.echo(f"The grid's rows are left out. {lacking}", err=True)
        return
    yield from grid_rows(GridFigures(picture_share, partial(led_upload_share, windowed=False), event_delays_ms))
