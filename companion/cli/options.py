"""Options that several commands take, and how a command ends in trouble."""

import sys
from pathlib import Path
from typing import NoReturn

import click

from firmware_protocol.messages import BAUD
from vision.lattice import SIDES

Corners = tuple[tuple[float, float], ...]

NO_CAMERA = "none"
"""What people give as the source where there is no camera."""


def _read_corners(_context: click.Context, _option: click.Parameter, value: str | None) -> Corners | None:
    if value is None:
        return None
    try:
        corners = tuple((float(x), float(y)) for x, y in (pair.split(",") for pair in value.split()))
    except ValueError:
        corners = ()
    if len(corners) != 4:
        raise click.BadParameter('give four as "x,y x,y x,y x,y", corner 0 first')
    return corners


corners_option = click.option(
    "--corners", callback=_read_corners, help="The board's corners in the (first) picture, corner 0 (A-left, a1) first."
)
a_side_option = click.option("--a-side", type=click.Choice(list(SIDES)), help="Where player A sits in the picture.")
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout.")
port_option = click.option(
    "--port", help="Serial port of the grid of LEDs and sensors (see `companion ports`); sim: or sim:avr simulates one."
)
baud_option = click.option(
    "--baud",
    type=click.IntRange(1_200, 4_000_000),
    default=BAUD,
    show_default=True,
    help="Speed that the grid is asked to change to; it stays as it was where the grid cannot.",
)
record_option = click.option(
    "--record",
    "record_path",
    type=click.Path(path_type=Path),
    help="File that keeps all that goes over the grid's line.",
)


def check_port(source: str, port: str | None, record_path: Path | None, *, plays_alone: bool = False) -> None:
    """Raises UsageError for options of the grid that cannot go together. A game that `plays_alone` is played on the
    page where there is neither camera nor grid."""
    if port is not None and port.isdigit():
        raise click.UsageError(f"--port {port}: it names the grid's serial port; the page's is --web-port")
    if source == NO_CAMERA and port is None and not plays_alone:
        raise click.UsageError("without a camera the sensors of a grid are needed: give its --port")
    if record_path is not None and port is None:
        raise click.UsageError("--record keeps what goes over a grid's line: give its --port")


def fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
