"""PTN: a game's record as text. What is read is kept: tags, move numbers, marks, comments, and each move's spelling.

`read_ptn` takes the text apart, `replay` plays it, `write_ptn` writes it, one numbered turn a line. Move numbers say
nothing: moves count in the order in which they stand.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from companion.games.pathstone.faults import fault
from companion.games.pathstone.notation import NotationError, read_move, write_move
from companion.games.pathstone.pieces import PIECES_EACH, SIZES, Move, Reason, Result
from companion.games.pathstone.state import State, flattens, play, start
from companion.games.pathstone.tps import read_tps, write_tps
from companion.terms import Player

Place = tuple[int, int]
"""Line and column in the text, from 1."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One move as it stands in a record: `text` is its spelling, `marks` what follows it, as * ?! ' in any order."""

    move: Move
    text: str
    marks: str = ""
    place: Place = field(default=(1, 1), compare=False)


@dataclass(frozen=True, slots=True)
class Comment:
    """What stands between braces."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A move number as it is written: 12. or 12... or 12"""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A sign that no move stands here, as -- or ... before the second player's first move."""

    text: str
    place: Place = field(default=(1, 1), compare=False)


@dataclass(frozen=True, slots=True)
class Ending:
    """The result at the end of a record."""

    text: str
    place: Place = field(default=(1, 1), compare=False)


Entry = Ply | Comment | Number | Blank | Ending


@dataclass(frozen=True, slots=True)
class Record:
    """A game on paper: its tags in order, and what follows them."""

    tags: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]

    def tag(self, name: str) -> str | None:
        """The value of the first tag of a name, in whatever case; None where there is none."""
        return next((value for tag, value in self.tags if tag.lower() == name.lower()), None)

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The moves alone."""
        return tuple(entry for entry in self.entries if isinstance(entry, Ply))


BY_PLAYERS = {
    "1-0": Result(Player.A, Reason.RESIGNATION),
    "0-1": Result(Player.B, Reason.RESIGNATION),
    "1/2-1/2": Result(None, Reason.AGREEMENT),
}
"""The results that players give a game which is not over on the board."""

_UNFINISHED = ("", "*", "?")

_TOKEN = re.compile(
    r"""
    \s+
  | (?P<tag> \[ \s* (?P<name> \w+ ) \s+ " (?P<value> [^"]* ) " \s* \] )
  | \{ (?P<comment> [^}]* ) \}
  | (?P<ending> R-0 | 0-R | F-0 | 0-F | 1-0 | 0-1 | 1/2-1/2 ) (?= [\s{] | $ )
  | (?P<blank> -- | \.{2,} ) (?= [\s{] | $ )
  | (?P<number> \d+ (?: \.+ | (?= \s | $ ) ) )
  | (?P<ply> (?P<move> [FSC]?[a-z]\d | \d*[a-z]\d[-+<>]\d*[FSC]? ) (?P<marks> [*?!'"]* ) ) (?= [\s{] | $ )
    """,
    re.VERBOSE,
)


def read_ptn(text: str) -> Record:
    """The record in a text, its moves not yet played. Raises NotationError with the line and column."""
    tags: list[tuple[str, str]] = []
    entries: list[Entry] = []
    text = text.removeprefix("\ufeff")
    at, line, line_start = 0, 1, 0
    while at < len(text):
        place = (line, at - line_start + 1)
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotationError(f"{_at(place)}: {_unreadable(text[at:])}")
        at = token.end()
        if "\n" in token[0]:
            line, line_start = line + token[0].count("\n"), text.rindex("\n", 0, at) + 1
        match token.lastgroup:
            case "tag":
                if entries:
                    raise NotationError(f"{_at(place)}: tags stand before the moves")
                tags.append((token["name"], token["value"]))
            case "comment":
                entries.append(Comment(token["comment"]))
            case "ending":
                entries.append(Ending(token["ending"], place))
            case "blank":
                entries.append(Blank(token["blank"], place))
            case "number":
                entries.append(Number(token["number"]))
            case "ply":
                entries.append(Ply(_move(token["move"], place), token["move"], token["marks"], place))
    _check_order(entries)
    return Record(tuple(tags), tuple(entries))


def _move(text: str, place: Place) -> Move:
    try:
        return read_move(text)
    except NotationError as error:
        raise NotationError(f"{_at(place)}: {error}") from error


def _unreadable(rest: str) -> str:
    if rest.startswith("{"):
        return "a comment that is not closed"
    if rest.startswith("["):
        return f'a tag is written [Name "value"], not {rest.splitlines()[0][:40]}'
    return f"{rest.split()[0][:40]!r} is no move, number, comment or result"


def _check_order(entries: Iterable[Entry]) -> None:
    """Nothing but comments after the result, and no pass between moves."""
    moved, blank, over = False, None, False
    for entry in entries:
        if over and not isinstance(entry, Comment):
            raise NotationError("nothing can follow the result but comments")
        match entry:
            case Ending():
                over = True
            case Blank():
                blank = entry if moved else None
            case Ply():
                if blank is not None:
                    raise NotationError(f"{_at(blank.place)}: {blank.text} between two moves: nobody can pass")
                moved = True


def write_ptn(record: Record) -> str:
    """A record as text: what `read_ptn` reads as the same record."""
    lines = [f'[{name} "{value}"]' for name, value in record.tags]
    if lines and record.entries:
        lines.append("")
    turn: list[str] = []
    for entry in record.entries:
        if isinstance(entry, Number) and turn:
            lines.append(" ".join(turn))
            turn = []
        turn.append(_written(entry))
    return "\n".join([*lines, " ".join(turn)] if turn else lines) + "\n"


def _written(entry: Entry) -> str:
    match entry:
        case Ply():
            return entry.text + entry.marks
        case Comment():
            return f"{{{entry.text}}}"
        case Number() | Blank() | Ending():
            return entry.text


def record_of(first: State, moves: Iterable[Move], tags: Iterable[tuple[str, str]] = ()) -> Record:
    """The record of a game from a state on, with `*` at every flattening; `tags` come before those it needs.

    A resignation or an agreed draw is not among the moves: `with_result` adds it.
    """
    entries: list[Entry] = []
    state = first
    for move in moves:
        if state.to_move is Player.A:
            entries.append(Number(f"{state.number}."))
        elif not entries:
            entries += [Number(f"{state.number}."), Blank("--")]
        entries.append(Ply(move, write_move(move), "*" if flattens(state, move) else ""))
        state = play(state, move)
    named = [*tags, ("Size", str(first.size))]
    if first != start(first.size):
        named.append(("TPS", write_tps(first)))
    record = Record(tuple(named), tuple(entries))
    return record if state.result is None else with_result(record, state.result)


def with_result(record: Record, result: Result) -> Record:
    """The record with its result, as a tag and at the end."""
    return Record((*record.tags, ("Result", str(result))), (*record.entries, Ending(str(result))))


def replay(record: Record) -> tuple[State, ...]:
    """The state a record starts from and that after each move; the last one has its result.

    Raises NotationError for what breaks the rules, with the place, the move's number and the reason.
    """
    states = [first_state(record)]
    for ply in record.plies:
        state = states[-1]
        refused = fault(state, ply.move)
        if refused is None and "*" in ply.marks and not flattens(state, ply.move):
            why: str | None = "it is marked * but flattens no wall"
        else:
            why = None if refused is None else refused.why
        if why is not None:
            raise NotationError(f"{_at(ply.place)}, move {state.number}, {ply.text}: {why}")
        states.append(play(state, ply.move))
    states[-1] = _ended(record, states[-1])
    return tuple(states)


def first_state(record: Record) -> State:
    """The state that a record starts from, by its tags Size and TPS. Raises NotationError."""
    size_tag, tps = record.tag("Size"), record.tag("TPS")
    if size_tag is None and tps is None:
        raise NotationError('the tag [Size "5"] is missing')
    if size_tag is not None and size_tag not in map(str, SIZES):
        raise NotationError(f'[Size "{size_tag}"]: a board has {SIZES[0]} to {SIZES[-1]} squares a side')
    size = None if size_tag is None else int(size_tag)
    first = start(size or SIZES[0]) if tps is None else read_tps(tps, size)
    stones, crowns = PIECES_EACH[first.size]
    as_here = {"Komi": ("0",), "Opening": ("swap",), "Flats": (str(stones),), "Caps": (str(crowns),)}
    for name, values in as_here.items():
        if record.tag(name) not in (None, "", *values):
            raise NotationError(f'[{name} "{record.tag(name)}"]: only {values[0]} is played here')
    return first


def _ended(record: Record, last: State) -> State:
    """The last state with the result that the record gives it, which must be that of the board."""
    at_end = next((entry.text for entry in record.entries if isinstance(entry, Ending)), None)
    said = {text for text in (at_end, record.tag("Result")) if text is not None and text not in _UNFINISHED}
    if len(said) > 1:
        raise NotationError(f"the record gives two results: {' and '.join(sorted(said))}")
    if not said:
        return last
    (text,) = said
    on_board, by_players = last.result, BY_PLAYERS.get(text)
    if on_board is None and by_players is not None:
        return replace(last, ended=by_players)
    if on_board is None:
        raise NotationError(f"the record says {text[:20]}, but on the board the game is not over")
    if text != str(on_board) and (by_players is None or by_players.winner is not on_board.winner):
        raise NotationError(f"the record says {text[:20]}, the board {on_board}")
    return last


def _at(place: Place) -> str:
    return f"line {place[0]}, column {place[1]}"
