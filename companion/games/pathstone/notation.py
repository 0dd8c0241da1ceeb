"""What every notation of Pathstone shares: its one error, and moves as PTN writes them."""

import re

from companion.games.pathstone.pieces import Direction, Kind, Move, Placement, Slide, square_from_name, square_name

_PLACEMENT = re.compile(r"([FSC]?)([a-z][0-9])")
_SLIDE = re.compile(r"([1-9]?)([a-z][0-9])([-+<>])([1-9]*)([FSC]?)")


class NotationError(ValueError):
    """A text that is no PTN or TPS, or a record that breaks the rules; the message says where and why."""


def write_move(move: Move) -> str:
    """A move in PTN's shortest form: no F, no count of 1, no drops where all fall on one square."""
    if isinstance(move, Placement):
        return f"{'' if move.kind is Kind.FLAT else move.kind.value}{square_name(move.cell)}"
    taken = sum(move.drops)
    drops = "" if len(move.drops) == 1 else "".join(map(str, move.drops))
    return f"{'' if taken == 1 else taken}{square_name(move.cell)}{move.direction.value}{drops}"


def read_move(text: str) -> Move:
    """The move in PTN without marks: a1, Sb2, 3c3>12; a last letter that names the top piece is let pass.

    Raises NotationError.
    """
    placed = _PLACEMENT.fullmatch(text)
    if placed:
        return Placement(square_from_name(placed[2]), Kind(placed[1] or "F"))
    slid = _SLIDE.fullmatch(text)
    if not slid:
        raise NotationError(f"{text[:40]!r} is no move: write a1, Sa1, Ca1, or 3a1>12")
    count, name, sign, dropped, _ = slid.groups()
    taken = int(count or 1)
    drops = tuple(map(int, dropped)) or (taken,)
    if sum(drops) != taken:
        raise NotationError(f"{text} takes {taken} and drops {sum(drops)}")
    return Slide(square_from_name(name), Direction(sign), drops)
