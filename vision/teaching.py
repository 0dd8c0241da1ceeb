"""What the two sides' pieces look like, from a picture on which one of each is shown: a profile is taught by it.

Colours are taken where the flats lie, and the flats' size from their outlines. The rest of the picture is the proof:
with what was learned every piece must be told, and nothing where none is.
"""

from dataclasses import replace

import numpy as np

from vision.board import Image, Pieces, Profile, SquaresBoard
from vision.calibration import Calibration
from vision.flats import Flats, FlatViews
from vision.nets import Array
from vision.pieces import TOPS, flats_seen, look_at_squares, read_pieces

SHOWN = ("wWK", "bBL")
"""The tops that are shown, from file a on: the first side's on the first rank, the second side's on the third."""
_RANKS = (0, 2)
_ROUNDS = 5
_SAME_SIZE = 0.004
"""As a share: flats that are found so large as they were supposed."""
_UNEQUAL = 0.06
"""Flats of one set do not differ by more, as a share."""
_ALIKE = 0.25
"""Colours that differ by less, as logarithms, cannot be told apart."""
_WORDS = {
    ".": "nothing",
    "w": "a flat of the first side",
    "b": "a flat of the second side",
    "W": "a wall of the first side",
    "B": "a wall of the second side",
    "K": "a Crown of the first side",
    "L": "a Crown of the second side",
    "?": "something that covers it",
}


class TeachingError(ValueError):
    """A picture that teaches nothing; the message says what is seen where, and the remedy."""


def taught(image_bgr: Image, calibration: Calibration, profile: Profile) -> Profile:
    """The profile with the colours and the size of the flats that a picture (h, w, 3) shows.

    Its sizes are where the search begins: a fifth too large or too small is well found. Raises TeachingError, and
    ValueError for another board than one of squares.
    """
    board = profile.board
    if not isinstance(board, SquaresBoard):
        raise ValueError("pieces are taught on a board of squares")
    if min(board.rows - _RANKS[-1], board.columns - len(SHOWN[0]) + 1) < 1:
        raise TeachingError("a board of 3 x 3 squares at least is needed to show one of each")
    lying = [rank * board.columns for rank in _RANKS]
    paints = flats_seen(look_at_squares(image_bgr, calibration, profile), lying)
    if float(np.abs(paints[0] - paints[1]).max()) < _ALIKE:
        raise TeachingError(
            f"what lies on {_name(board, lying[0])} and {_name(board, lying[1])} has one colour; "
            "lay a flat of each side there"
        )
    pieces = _measured(image_bgr, calibration, profile, paints, lying)
    colours = tuple((name, _bgr(paint)) for (name, _), paint in zip(profile.colours, paints, strict=True))
    learned = replace(profile, colours=colours, pieces=pieces)
    _prove(image_bgr, calibration, learned)
    return learned


def _measured(image_bgr: Image, calibration: Calibration, profile: Profile, paints: Array, lying: list[int]) -> Pieces:
    pieces = profile.pieces or Pieces()
    middles_mm = profile.board.cells_mm()[lying]
    sizes = np.ones(len(lying))
    for _ in range(_ROUNDS):
        wide, deep, thick = pieces.flat_mm
        flats = Flats(
            middles_mm, np.full(len(lying), thick), np.stack([paints, paints[::-1]], axis=1), np.zeros(2, "f4")
        )
        sizes = 1 + FlatViews(image_bgr, calibration, pieces).fit(flats).pose[:, 3]
        if float(np.abs(sizes - 1).max()) < _SAME_SIZE:
            break
        size = float(sizes.mean())
        pieces = replace(pieces, flat_mm=(wide * size, deep * size, thick))
    if float(np.ptp(sizes)) > _UNEQUAL:
        raise TeachingError(
            f"the flats are seen {pieces.flat_mm[0] * sizes[0]:.0f} and {pieces.flat_mm[0] * sizes[1]:.0f} mm wide; "
            "lay flats of one set there, each in the middle of its square"
        )
    wide, deep, thick = pieces.flat_mm
    return replace(pieces, flat_mm=(round(wide, 1), round(deep, 1), thick))


def _prove(image_bgr: Image, calibration: Calibration, profile: Profile) -> None:
    board = profile.board
    assert isinstance(board, SquaresBoard)
    expected = np.full((board.rows, board.columns), ".")
    for rank, tops in zip(_RANKS, SHOWN, strict=True):
        expected[rank, : len(tops)] = list(tops)
    seen = read_pieces(image_bgr, calibration, profile, [{0}] * expected.size)
    told = np.where(seen.covered > seen.tops.max(axis=1), "?", np.array(list(TOPS))[seen.tops.argmax(axis=1)])
    for square, (should, is_told) in enumerate(zip(expected.ravel().tolist(), told.tolist(), strict=True)):
        if should != is_told:
            raise TeachingError(
                f"{_name(board, square)}: {_WORDS[should]} should be there, {_WORDS[is_told]} is seen; show one of "
                "each and nothing else, in even light, and check the sizes in [pieces]"
            )


def _name(board: SquaresBoard, square: int) -> str:
    return f"{'abcdefgh'[square % board.columns]}{square // board.columns + 1}"


def _bgr(paint: Array) -> tuple[int, int, int]:
    blue, green, red = (int(np.clip(round(float(np.exp(level)) - 4), 0, 255)) for level in paint)
    return blue, green, red
