"""`companion teach`: a board profile learns how the pieces look, from one of each shown to the camera."""

import threading
from collections.abc import MutableMapping
from pathlib import Path

import click
import tomlkit

from companion.cli.boards import pathstone_board
from companion.cli.options import Corners, a_side_option, corners_option, fail
from companion.observe import board_in
from vision.board import Image, Profile, ProfileError
from vision.calibration import CalibrationError
from vision.camera import PICTURE_SUFFIXES, Camera, CameraError, is_blank, open_source, read_picture
from vision.teaching import TeachingError, taught

_SETTLES_S = 2.0
"""So long a camera takes to find its exposure."""


@click.command()
@click.argument("source")
@click.option("--board", "board_path", type=click.Path(path_type=Path), required=True, help="Board profile (TOML).")
@corners_option
@a_side_option
@click.option("--out", type=click.Path(path_type=Path), help="File for the taught profile; else it goes to stdout.")
def teach(source: str, board_path: Path, corners: Corners | None, a_side: str | None, out: Path | None) -> None:
    """Teaches a board profile how Pathstone's pieces look.

    Show one of each to the camera, or in a picture, SOURCE, and nothing else: a flat, a wall and a Crown of the first
    side on a1, b1 and c1, of the second side on a3, b3 and c3. The profile is written with their colours and the size
    of the flats, once every piece is told by them; all else in it stays.
    """
    try:
        profile = pathstone_board(board_path)
        image = _picture(source)
        learned = taught(image, board_in(image, profile, corners, a_side), profile)
        text = _with_pieces(board_path.read_text(encoding="utf-8"), learned)
        if out is None:
            click.echo(text, nl=False)
        else:
            out.write_text(text, encoding="utf-8")
    except (ProfileError, CameraError, CalibrationError, TeachingError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{out}: it cannot be written ({error.strerror}); give another file with --out")


def _picture(source: str) -> Image:
    """The picture in a file, or one of a camera that has found its exposure. Raises CameraError."""
    if Path(source).suffix.lower() in PICTURE_SUFFIXES:
        return read_picture(Path(source))
    camera = open_source(source)
    if not isinstance(camera, Camera):
        raise CameraError(
            f"{source}: the pieces are shown in one picture or to a camera; give such a file, or a camera"
        )
    threading.Thread(target=camera.read_forever, daemon=True).start()
    try:
        for frame in camera.frames():
            if frame is not None and frame.t_s >= _SETTLES_S and not is_blank(frame.image_bgr):
                return frame.image_bgr
    finally:
        camera.close()
    raise CameraError(f"camera {source}: it ended without a picture")


def _with_pieces(text: str, profile: Profile) -> str:
    """A profile's TOML with this profile's colours and size of flats, and all else as it was."""
    document = tomlkit.parse(text)
    colours, pieces = document["colours"], document["pieces"]
    assert isinstance(colours, MutableMapping)
    assert isinstance(pieces, MutableMapping)
    assert profile.pieces is not None
    for name, (blue, green, red) in profile.colours:
        colours[name] = f"#{red:02x}{green:02x}{blue:02x}"
    pieces["flat_mm"] = list(profile.pieces.flat_mm)
    return tomlkit.dumps(document)
