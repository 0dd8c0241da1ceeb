"""Pathstone: the whole game on 3x3 to 8x8.

`pieces` has the words, `position` the rules on plain integers, `state` a game as a frozen value, `faults` why a move is
illegal, `moves` the rulings on moves that are told, `sightings` the moves that a seen board can show, and `ptn` and
`tps` the notations.
"""

from companion.games.pathstone.faults import fault
from companion.games.pathstone.moves import Judged, judge
from companion.games.pathstone.notation import NotationError, read_move, write_move
from companion.games.pathstone.pieces import (
    PIECES_EACH,
    SIZES,
    Direction,
    Kind,
    Move,
    Piece,
    Placement,
    Reason,
    Result,
    Slide,
    Stack,
    square_from_name,
    square_name,
)
from companion.games.pathstone.ptn import Record, first_state, read_ptn, record_of, replay, with_result, write_ptn
from companion.games.pathstone.state import (
    State,
    count_leaves,
    flattens,
    legal_moves,
    path_of,
    play,
    plays,
    start,
    threats,
)
from companion.games.pathstone.tps import read_tps, write_tps

__all__ = [
    "PIECES_EACH",
    "SIZES",
    "Direction",
    "Judged",
    "Kind",
    "Move",
    "NotationError",
    "Piece",
    "Placement",
    "Reason",
    "Record",
    "Result",
    "Slide",
    "Stack",
    "State",
    "count_leaves",
    "fault",
    "first_state",
    "flattens",
    "judge",
    "legal_moves",
    "path_of",
    "play",
    "plays",
    "read_move",
    "read_ptn",
    "read_tps",
    "record_of",
    "replay",
    "square_from_name",
    "square_name",
    "start",
    "threats",
    "with_result",
    "write_move",
    "write_ptn",
    "write_tps",
]
