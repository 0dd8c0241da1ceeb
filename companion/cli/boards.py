"""The board profile of each game: the one in a file, or the usual one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from companion.games.magestone.board import WIDTH
from companion.games.pathstone import SIZES
from companion.terms import Player
from vision.board import HolesBoard, Profile, ProfileError, SquaresBoard, read_profile

_USUAL = Path(__file__).resolve().parents[1] / "boards"


def pathways_board(path: Path | None = None) -> Profile:
    """The profile in a file, or the usual board. Raises ProfileError where Pathways cannot be played on it."""
    profile = read_profile(path or _USUAL / "pathways.toml")
    if not isinstance(profile.board, HolesBoard):
        raise ProfileError(f'{path}: Pathways is played on a board of kind "holes"')
    if {name for name, _ in profile.colours} != {player.value for player in Player}:
        raise ProfileError(f"{path}: [colours] must name the disks of players a and b")
    return profile


def pathstone_board(path: Path | None = None, size: int | None = None) -> Profile:
    """The profile in a file, or the usual board in the size that is wanted.

    Raises ProfileError where Pathstone cannot be played on it.
    """
    profile = read_profile(path or _USUAL / "pathstone.toml")
    board = profile.board
    if not isinstance(board, SquaresBoard) or profile.pieces is None:
        raise ProfileError(f'{path}: Pathstone is played on a board of kind "squares" with [pieces]')
    if path is None and size is not None:
        return replace(profile, board=replace(board, rows=size, columns=size))
    if board.rows != board.columns or board.rows not in SIZES:
        raise ProfileError(f"{path}: a board has {SIZES[0]}x{SIZES[0]} to {SIZES[-1]}x{SIZES[-1]} squares")
    return profile


def magestone_board(path: Path | None = None) -> Profile:
    """The profile in a file, or the printed board. Raises ProfileError where MageStone cannot be played on it."""
    profile = read_profile(path or _USUAL / "magestone.toml")
    board = profile.board
    if not isinstance(board, SquaresBoard) or profile.marks is None or (board.rows, board.columns) != (WIDTH, WIDTH):
        raise ProfileError(f'{path}: MageStone is played on a board of kind "squares" with {WIDTH}x{WIDTH} and [marks]')
    return profile


BOARDS: dict[str, Callable[[Path | None], Profile]] = {
    "pathways": pathways_board,
    "pathstone": pathstone_board,
    "magestone": magestone_board,
}
