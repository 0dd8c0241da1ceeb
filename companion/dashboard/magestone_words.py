"""Rulings, orders and choices of MageStone in words that people at the table use."""

import re
from itertools import groupby

from companion.dashboard.words import sentence
from companion.games.magestone import (
    Attack,
    Choice,
    Do,
    Draw,
    Ending,
    Move,
    Order,
    Resign,
    Rite,
    Seat,
    State,
    Token,
    besieged,
    play,
    read_go,
    square_name,
    write_choice,
)
from companion.games.magestone.rulings import named
from companion.games.magestone.table import Begin, Chosen, Input, Said, Saying, Seen, Table, Thrower, Thrown
from companion.ruling import Ruling, Undecided

COLOURS = {
    Seat.TOP: ("#c23b2a", "red"),
    Seat.RIGHT: ("#2f66c5", "blue"),
    Seat.BOTTOM: ("#128a6c", "green"),
    Seat.LEFT: ("#e6b71e", "yellow"),
}
"""Each seat's colour on the page, with its word: those of the printed tokens, told apart without red and green too."""

ENDINGS = {
    Ending.MAGESTONE: "MageStone",
    Ending.RITUAL: "the Rite",
    Ending.CONQUEST: "conquest",
    Ending.STALEMATE: "stalemate",
    Ending.AGREEMENT: "agreement",
}
"""How a game ended, in a word or two."""

_LABELS = {
    "U": ("u", (240, 240, 240)),
    "A": ("a", (209, 63, 139)),
    "G": ("+", (100, 106, 109)),
    "?": ("?", (40, 190, 255)),
}
_STONES = {Token.UNACTIVATED: "Unactivated stone", Token.ACTIVATED: "Activated stone"}
_SEAT = re.compile(r"\b(?:Top|Right|Bottom|Left)\b")
_LEFT = "; left of the go: "
_SAID = {Said.TAKE_BACK: "take back", Said.NEXT_GAME: "next game"}
_THROWN = {Thrower.PLAYERS: "dice", Thrower.COMPANION: "dice rolled by the companion"}


class MageStoneWords:
    """Says things with the players' names."""

    def __init__(self, names: dict[Seat, str]) -> None:
        self.names = names

    def headline(self, ruling: Ruling) -> str:
        """The ruling in one short sentence; answers to a question are buttons."""
        asked = isinstance(ruling, Undecided) and ruling.candidates
        return self._named(ruling.why.split(": " if asked else _LEFT)[0])

    def detail(self, ruling: Ruling) -> str:
        """What is left of the go, where the ruling says so; else nothing."""
        _, _, left = ruling.why.partition(_LEFT)
        return f"Left of the go: {left}." if left else ""

    def said(self, given: Input) -> str:
        """What a person said, in the words of the record."""
        match given:
            case Begin():
                return "start" if given.record is None else "record read"
            case Chosen(choice=Draw() | Resign()):
                return f"said: {write_choice(given.choice).split(':')[0]}"
            case Chosen():
                return f"tapped: {write_choice(given.choice)}"
            case Thrown():
                shown = " against ".join(
                    "+".join(map(str, side)) for side in (given.roll.attacker, given.roll.defender)
                )
                return f"{_THROWN[given.by]}: {shown}"
            case Saying():
                return f"said: {_SAID[given.what]}"
            case Seen():
                return "seen by the camera"

    def orders(self, orders: tuple[Order, ...]) -> list[tuple[str, str]]:
        """What has to be done on the table, each with the square that it is about; equal orders are one."""
        told: list[tuple[str, str]] = []
        homes = {(order.seat, order.unit): order.cell for order in orders if _lays_unit(order)}
        for order, same in groupby(orders):
            cell = square_name(order.cell)
            if order.token is not Token.UNIT:
                told.append((self._order(order, len(list(same)), cell), cell))
            elif (home := homes.pop((order.seat, order.unit), None)) is None:
                if order.do is Do.TAKE:
                    told.append((f"Take {self._unit(order)} off {cell}", cell))
            elif order.do is Do.TAKE:
                told.append((f"Put {self._unit(order)} from {cell} on {square_name(home)}", square_name(home)))
            else:
                told.append((f"Put {self._unit(order)} on {cell}", cell))
        return told

    def _order(self, order: Order, number: int, cell: str) -> str:
        """What to do with stones or a gravestone."""
        if order.token is Token.GRAVESTONE:
            out = order.do is Do.TAKE
            return f"Take the gravestone off {cell}, out of the game" if out else f"Lay a gravestone on {cell}"
        if order.do is Do.TURN:
            assert order.seat is not None
            stones = "the stone" if number == 1 else f"the {number} stones"
            return f"Turn {stones} that {self.names[order.seat]}’s Mage carries: Activated"
        stone = _STONES[order.token]
        if order.do is Do.TAKE:
            return f"Take {f'the {stone}' if number == 1 else f'{number} {stone}s'} off {cell}, to the Mage"
        return f"Lay {f'an {stone}' if number == 1 else f'{number} {stone}s'} on {cell}"

    def rite(self, rite: Rite) -> str:
        """A Rite that is running, and when it is won."""
        name = self.names[rite.seat]
        when = "once more" if rite.returns_left == 1 else f"{rite.returns_left} times more"
        return f"{name}’s Rite is won when play has come back to {name} {when}"

    def walk(self, state: State, move: Move) -> str:
        """What follows from a walk besides, or nothing."""
        seat, after = state.to_move, play(state, move)
        told = []
        taken = after.hands[seat].carried - state.hands[seat].carried
        activated = after.hands[seat].activated - state.hands[seat].activated
        if taken > 0 or activated > 0:
            parts = [f"{taken} Unactivated"] * (taken > 0) + [f"{activated} Activated"] * (activated > 0)
            told.append(f"takes {' and '.join(parts)}")
        if after.raised and not state.raised:
            told.append(f"raises a Warrior and steps back to {square_name(_back(move, state))}")
        if state.rite is not None and after.rite is None:
            told.append(f"breaks {self.names[state.rite.seat]}’s Rite")
        told += [
            f"besieges {self.names[other]}"
            for other in after.remaining
            if besieged(after, other) > besieged(state, other)
        ]
        if after.result is not None:
            told.append("wins")
        return ", ".join(told)

    def _unit(self, order: Order) -> str:
        assert order.seat is not None
        assert order.unit is not None
        return f"{self.names[order.seat]}’s {order.unit.label}"

    def _named(self, why: str) -> str:
        """A ruling's sentence with the players' names for their seats."""
        return sentence(
            _SEAT.sub(lambda seat: self.names.get(Seat[seat[0].upper()], seat[0]), why).replace("'s ", "’s ")
        )


def names_of(table: Table | None) -> dict[Seat, str]:
    """Who sits where in the last game; the seats' own names where there is none."""
    if table is None:
        return {seat: seat.label for seat in Seat}
    return dict(zip(table.game.state.seats, table.players(len(table.games)), strict=True))


def in_words(go: str) -> str:
    """Choices in a text as the answer to a question: "Warrior 1: e1, e2; the attack on f5"."""
    return sentence("; ".join(map(_in_words, read_go(go))))


def _in_words(choice: Choice) -> str:
    if isinstance(choice, Move):
        return f"{choice.unit.label}: {', '.join(map(square_name, choice.path))}"
    if isinstance(choice, Attack):
        return f"{named(choice)} by {' and '.join(unit.label for unit in choice.units)}"
    return named(choice)


def token_label(name: str) -> tuple[str, tuple[int, int, int]]:
    """The plate of a token on the camera's picture, by its name in a look: a letter, and blue, green and red."""
    if name in _LABELS:
        return _LABELS[name]
    html, _ = COLOURS[Seat(int(name[0]))]
    blue, green, red = (int(html[at : at + 2], 16) for at in (5, 3, 1))
    return name[-1], (blue, green, red)


def choice_button(choice: Choice) -> str:
    """What the button of a choice says."""
    return _BUTTONS[write_choice(choice)]


_BUTTONS = {"nova": "Nova", "activate": "Activate", "collect": "Collect", "rite": "Begin the Rite", "end": "End go"}


def _lays_unit(order: Order) -> bool:
    return order.token is Token.UNIT and order.do is Do.LAY


def _back(move: Move, state: State) -> tuple[int, int]:
    """Where a Priest that raises a Warrior steps back to."""
    at = state.armies[state.to_move].cells[move.unit]
    assert at is not None
    return move.path[-2] if len(move.path) > 1 else at
