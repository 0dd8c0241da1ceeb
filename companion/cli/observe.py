"""`companion observe`: tells what is on the board in pictures."""

import json
from pathlib import Path

import click

from companion.cli.options import Corners, a_side_option, corners_option, fail, json_option
from companion.games.pathstone import NotationError, read_tps
from companion.observe import observation_in_words
from companion.observe import observe as observe_picture
from vision.board import ProfileError, read_profile
from vision.calibration import CalibrationError
from vision.camera import CameraError


@click.command()
@click.argument("pictures", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--board", "board_path", type=click.Path(path_type=Path), required=True, help="Board profile (TOML).")
@corners_option
@a_side_option
@click.option("--before", "before_tps", help="The Pathstone position (TPS) that each picture follows.")
@json_option
def observe(
    pictures: tuple[Path, ...],
    board_path: Path,
    corners: Corners | None,
    a_side: str | None,
    before_tps: str | None,
    as_json: bool,
) -> None:
    """Tells what is on the board in each of PICTURES."""
    try:
        profile = read_profile(board_path)
        before = None if before_tps is None else read_tps(before_tps)
        for path in pictures:
            seen = observe_picture(path, profile, corners, a_side, before)
            click.echo(json.dumps(seen) if as_json else observation_in_words(seen))
    except (ProfileError, CameraError, CalibrationError, NotationError) as error:
        fail(str(error))
