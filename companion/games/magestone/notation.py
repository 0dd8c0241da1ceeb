"""Choices, goes and whole games as text, read and written without loss.

A go is its choices with blanks between. A walk names every square (`W1>e1>e2`); an attack its units, lead first, the
target and each roll, attacker's dice before defender's (`W1+W2xf5(2+3/5)(6+1/2)`); then there are `bolt@l8(5/6)`,
`nova`, `activate`, `collect`, `rite` and `end`, and at any time `resign:top` and `draw`. Dice are left out where they
are not thrown yet.

A record is tags, as `[Players "2"]`, `[Top "Ada"]` or `[Position "..."]`, then a go a line, numbered.
"""

import re
from dataclasses import dataclass
from typing import Final

from companion.games.magestone.board import square_from_name, square_name
from companion.games.magestone.choices import (
    Activate,
    Attack,
    BeginRite,
    Bolt,
    Choice,
    Collect,
    Draw,
    End,
    Move,
    Nova,
    Resign,
)
from companion.games.magestone.dice import Roll
from companion.games.magestone.faults import fault
from companion.games.magestone.pieces import SEATED, SEATS, UNITS_BY_LETTER
from companion.games.magestone.play import play
from companion.games.magestone.position import NotationError, read_position, write_position
from companion.games.magestone.state import State, start

_WORDS: Final[dict[str, Choice]] = {
    "nova": Nova(),
    "activate": Activate(),
    "collect": Collect(),
    "rite": BeginRite(),
    "end": End(),
    "draw": Draw(),
    **{f"resign:{seat.label.lower()}": Resign(seat) for seat in SEATS},
}
_NAMES: Final = {choice: word for word, choice in _WORDS.items()}

_SQUARE = r"[a-p](?:[0-9]|1[0-5])"
_DICE = r"[0-9]{1,2}(?:\+[0-9]{1,2})*"
_ROLLS = rf"(?:\({_DICE}/{_DICE}\))*"
_MOVE = re.compile(rf"(M|P|W[1-6])((?:>{_SQUARE})+)")
_ATTACK = re.compile(rf"((?:M|P|W[1-6])(?:\+(?:M|P|W[1-6]))*)x({_SQUARE})({_ROLLS})")
_BOLT = re.compile(rf"bolt@({_SQUARE})({_ROLLS})")
_ROLL = re.compile(rf"\(({_DICE})/({_DICE})\)")
_NUMBER = re.compile(r"[0-9]+\.")
_TAGS = ("Players", "Position", *(seat.label for seat in SEATS))
_TAG = re.compile(r'\[([A-Za-z]+) "([^"\n]*)"\]')


def write_choice(choice: Choice) -> str:
    """A choice as text."""
    match choice:
        case Move():
            return choice.unit.letter + "".join(f">{square_name(cell)}" for cell in choice.path)
        case Attack():
            units = "+".join(unit.letter for unit in choice.units)
            return f"{units}x{square_name(choice.target)}{_rolls(choice.rolls)}"
        case Bolt():
            return f"bolt@{square_name(choice.target)}{_rolls(choice.rolls)}"
        case _:
            return _NAMES[choice]


def _rolls(rolls: tuple[Roll, ...]) -> str:
    return "".join(f"({'+'.join(map(str, roll.attacker))}/{'+'.join(map(str, roll.defender))})" for roll in rolls)


def read_choice(text: str) -> Choice:
    """The choice in a text. Raises NotationError."""
    if text in _WORDS:
        return _WORDS[text]
    if walked := _MOVE.fullmatch(text):
        return Move(UNITS_BY_LETTER[walked[1]], tuple(map(square_from_name, walked[2][1:].split(">"))))
    if attacked := _ATTACK.fullmatch(text):
        units = tuple(UNITS_BY_LETTER[letter] for letter in attacked[1].split("+"))
        return Attack(units, square_from_name(attacked[2]), _read_rolls(attacked[3]))
    if cast := _BOLT.fullmatch(text):
        return Bolt(square_from_name(cast[1]), _read_rolls(cast[2]))
    raise NotationError(
        f"{text[:60]!r} is no choice: write W1>e1>e2, W1+W2xf5(2+3/6), bolt@l8(5/6), nova, activate, collect, rite, end"
    )


def _read_rolls(text: str) -> tuple[Roll, ...]:
    return tuple(Roll(_dice(attacker), _dice(defender)) for attacker, defender in _ROLL.findall(text))


def _dice(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("+")))


def write_go(choices: tuple[Choice, ...]) -> str:
    """The choices of a go, in their order."""
    return " ".join(map(write_choice, choices))


def read_go(text: str) -> tuple[Choice, ...]:
    """The choices in a text, in their order. Raises NotationError."""
    return tuple(map(read_choice, text.split()))


@dataclass(frozen=True, slots=True)
class Record:
    """A game as it was played: where it began, and every choice since, with its dice; `names` in turn order or none."""

    first: State
    choices: tuple[Choice, ...] = ()
    names: tuple[str, ...] = ()


def write_record(record: Record) -> str:
    """A record as text: tags, then a numbered go a line; the last one may be unfinished."""
    players = len(record.first.seats)
    tags = [f'[Players "{players}"]']
    for seat, name in zip(record.first.seats, record.names, strict=False):
        # A tag's value cannot hold the sign that ends it.
        quoted = name.replace('"', "'")
        tags.append(f'[{seat.label} "{quoted}"]')
    if record.first != start(players):
        tags.append(f'[Position "{write_position(record.first)}"]')
    goes: list[list[Choice]] = [[]]
    for choice in record.choices:
        goes[-1].append(choice)
        if isinstance(choice, End):
            goes.append([])
    lines = [f"{number}. {write_go(tuple(go))}" for number, go in enumerate(goes, 1) if go]
    return "\n".join([*tags, "", *lines]) + "\n"


def read_record(text: str) -> Record:
    """The record in a text; numbers say nothing, choices count in their order. Raises NotationError with the line."""
    tags: dict[str, str] = {}
    choices: list[Choice] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if tag := _TAG.fullmatch(line.strip()):
                if tag[1] in tags:
                    raise NotationError(f"the tag {tag[1]} stands twice")
                tags[tag[1]] = tag[2]
            else:
                choices += [read_choice(word) for word in line.split() if not _NUMBER.fullmatch(word)]
        except NotationError as error:
            raise NotationError(f"line {number}: {error}") from error
    first = _first(tags)
    names = tuple(tags.get(seat.label, "") for seat in first.seats)
    return Record(first, tuple(choices), names if any(names) else ())


def _first(tags: dict[str, str]) -> State:
    for tag in tags:
        if tag not in _TAGS:
            raise NotationError(f"the tag {tag} is not one of {', '.join(_TAGS)}")
    players, position = tags.get("Players"), tags.get("Position")
    if players is not None and players not in map(str, SEATED):
        raise NotationError(f'[Players "{players[:20]}"]: MageStone is played by two or four')
    if position is None:
        return start(2 if players is None else int(players))
    first = read_position(position)
    if players is not None and len(first.seats) != int(players):
        raise NotationError(f'[Players "{players}"]: the position has {len(first.seats)}')
    return first


def replay(record: Record) -> tuple[State, ...]:
    """The states of a game, the first included. Raises NotationError where a choice is against the rules."""
    states = [record.first]
    go = 1
    for choice in record.choices:
        refused = fault(states[-1], choice)
        if refused is not None:
            raise NotationError(f"go {go}, {write_choice(choice)}: {refused.why}")
        states.append(play(states[-1], choice))
        go += isinstance(choice, End)
    return tuple(states)
