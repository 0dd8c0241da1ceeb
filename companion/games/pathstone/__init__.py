"""Pathstone: the whole game on 3x3 to 8x8.

`pieces` has the words, `position` the rules on plain integers, `state` a game as a frozen value, `faults` why a move is
illegal, `moves` the rulings on moves that are told, `looks` what is seen of a board, `lines` which moves that can
mean, `belief` the rulings on it, `events` what is printed, and `ptn` and `tps` the notations.
"""

from companion.games.pathstone.belief import Belief, Judged, answer, believe, judge_look, take_back, tell
from companion.games.pathstone.events import events_to_json
from companion.games.pathstone.faults import fault
from companion.games.pathstone.looks import (
    Contested,
    Look,
    contested,
    look_from_json,
    look_from_tops,
    look_to_json,
    tops_of,
    with_sensors,
)
from companion.games.pathstone.moves import judge
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
    move_between,
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
    "Belief",
    "Contested",
    "Direction",
    "Judged",
    "Kind",
    "Look",
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
    "answer",
    "believe",
    "contested",
    "count_leaves",
    "events_to_json",
    "fault",
    "first_state",
    "flattens",
    "judge",
    "judge_look",
    "legal_moves",
    "look_from_json",
    "look_from_tops",
    "look_to_json",
    "move_between",
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
    "take_back",
    "tell",
    "threats",
    "tops_of",
    "with_result",
    "with_sensors",
    "write_move",
    "write_ptn",
    "write_tps",
]
