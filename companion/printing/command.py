"""`companion print`: boards, tokens and templates as PDF files."""

import sys
from pathlib import Path
from typing import NoReturn

import click

from companion.printing.paper import Paper
from vision.board import ProfileError, read_profile

_BOARDS = Path(__file__).resolve().parents[1] / "boards"


@click.command("print")
@click.argument("game", type=click.Choice(["magestone", "pathstone", "pathways"]))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The PDF file to write."
)
@click.option(
    "--board", "board_path", type=click.Path(path_type=Path), help="Board profile (TOML); the game's usual without it."
)
@click.option(
    "--paper",
    type=click.Choice([paper.value for paper in Paper], case_sensitive=False),
    default="a4",
    show_default=True,
)
@click.option(
    "--players", type=click.Choice(["2", "4"]), default="4", show_default=True, help="Whose MageStone tokens."
)
def print_command(game: str, out: Path, board_path: Path | None, paper: str, players: str) -> None:
    """Writes a PDF true to size: the board of MageStone with its tokens, that of Pathstone, or a template to drill the
    holes of Pathways."""
    # Only here: nothing else needs the PDF library.
    from companion.printing.sheets import print_game

    try:
        pdf = print_game(game, read_profile(board_path or _BOARDS / f"{game}.toml"), Paper(paper), int(players))
    except ProfileError as error:
        _fail(str(error))
    try:
        out.write_bytes(pdf)
    except OSError as error:
        _fail(f"{out}: cannot be written ({error.strerror}); give another file with -o")
    click.echo(f"{out}: print it at 100 %, and measure the ruler on its first page", err=True)


def _fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
