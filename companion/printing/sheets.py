"""What is printed for each game, from its board's profile."""

from companion.printing.boards import drilling_template, magestone_board, pathstone_board
from companion.printing.document import Print, write_pdf
from companion.printing.paper import Paper, printable_mm, tile
from companion.printing.tokens import token_sheets
from vision.board import Profile, ProfileError


def print_game(game: str, profile: Profile, paper: Paper, players: int) -> bytes:
    """The PDF for a game; `players` (2 or 4) says how many tokens MageStone needs.

    Raises ProfileError for a board that the game is not played on, or that takes too many pages.
    """
    match game:
        case "magestone":
            printed = _magestone(profile, paper, players)
        case "pathstone":
            printed = Print("Pathstone board", _PATHSTONE, pathstone_board(profile))
        case "pathways":
            printed = Print("Pathways drilling template", _DRILLING, drilling_template(profile))
        case _:
            raise ValueError(f"there is nothing to print for {game!r}")
    try:
        tiling = tile(printed.poster.width_mm, printed.poster.length_mm, paper)
    except ValueError as error:
        raise ProfileError(str(error)) from error
    return write_pdf(printed, tiling, paper)


_PATHSTONE = ("Glue the board on a flat ground; a1 is the lower left square.",)
_DRILLING = (
    "Fix the template on the slab, its outline on the slab's edges, player A's side towards you.",
    "Prick the hole centres through the paper, and mark both ends of the launch lines.",
)


def _magestone(profile: Profile, paper: Paper, players: int) -> Print:
    sheets = token_sheets(profile, players, printable_mm(paper.size_mm()))
    assert profile.marks is not None  # token_sheets refuses boards without
    height_mm = profile.marks.token_mm[1]
    steps = (
        "Glue the board on a flat ground. Matt paper is best: glare hides marks.",
        f"Cut the tokens out and glue each on a disk {height_mm:g} mm thick, as the board profile says.",
    )
    return Print(f"MageStone for {players} players", steps, magestone_board(profile), sheets)
