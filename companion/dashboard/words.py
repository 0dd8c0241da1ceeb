"""Rulings, orders and colours in words that people at the table use."""

import re

from companion.games.witnesses import A_DISK, B_DISK
from companion.inputs import Declaration, Declared, DiskCorrection, Input, Look, SeenDisk, Undo
from companion.ruling import (
    Accepted,
    Cleared,
    Do,
    GameOver,
    GameStarted,
    Order,
    Refused,
    Ruling,
    Shot,
    Undecided,
    Why,
)
from companion.terms import Lying, Mode, Player
from vision.board import HolesBoard, Profile

MODES = {
    Mode.BASIC: "Basic game",
    Mode.MATCH: "Match",
    Mode.DOUBLE_ROW: "Double Row",
    Mode.THREE_IN_A_ROW: "Three in a Row",
}

COUNTED = {
    Mode.BASIC: "in the far row",
    Mode.MATCH: "in the far row",
    Mode.DOUBLE_ROW: "points in the far two rows",
    Mode.THREE_IN_A_ROW: "lines of three",
}
"""What a game's count counts."""

_COLOURS = {
    "black": (28, 28, 28),
    "grey": (130, 130, 130),
    "white": (250, 250, 250),
    "cream": (238, 228, 200),
    "brown": (100, 68, 44),
    "tan": (190, 150, 105),
    "red": (205, 45, 45),
    "orange": (235, 125, 30),
    "yellow": (240, 205, 50),
    "green": (45, 140, 65),
    "teal": (30, 140, 140),
    "blue": (45, 95, 190),
    "purple": (120, 65, 160),
    "pink": (235, 140, 175),
}
"""Everyday colour names, each with a typical red, green and blue."""

_GROUNDS = {
    Why.OWN_FRONT_ROW: "it is in its owner’s front row",
    Why.OWN_LAUNCH_AREA: "it is in its owner’s launch area",
    Why.OPPOSING_LAUNCH_AREA: "it is in the opposing launch area",
    Why.ILLEGAL_FLICK: "the flick was illegal",
    Why.NOT_A_FLICK: "it was not flicked, and goes back to its player",
    Why.TILTED: "it lies at an angle in its hole",
    Why.PERHAPS_TILTED: "it may lie at an angle in its hole",
}


_CANDIDATES = {
    "stays": "It stays",
    "comes-off": "It comes off",
    "flick-lost": "A flick was lost off the board",
    "out-of-turn": "It was flicked out of turn",
    "flick": "By a flick",
    "by-hand": "By a hand",
    "left-the-board": "The one that left the board",
    "camera-is-right": "The camera is right",
    "sensor-is-right": "The sensor is right",
}


_LETTER = re.compile(r"\b([AB])(?=['’]s\b| (?:was|is|has|did|flicks|wins)\b)")
"""A player's letter, which in a ruling is never the article: that one stands before a noun."""


class Words:
    """Says things with the players' names and the words for their disks' colours."""

    def __init__(self, names: dict[Player, str], colours: dict[Player, str], board: HolesBoard) -> None:
        self.names = names
        self.colours = colours
        self._board = board

    def order(self, order: Order) -> str:
        """What to do: "Take the red disk at row 1, column 3 off"."""
        disk = f"the {self.colours[order.colour]} disk {self._place(order)}"
        if order.do is Do.REMOVE:
            return f"Take {disk} off"
        return f"Lay {disk} flat" if order.why is Why.TILTED else f"See that {disk} lies flat"

    def ground(self, order: Order) -> str:
        """Why it has to be done: "it is in its owner’s front row"."""
        return _GROUNDS[order.why]

    def headline(self, ruling: Ruling) -> str:
        """The ruling in one short sentence."""
        match ruling:
            case Accepted(event=Shot() as shot):
                return f"{self.names[shot.player]}’s flick {shot.n}{self._outcome(shot, ruling.orders)}"
            case Accepted(event=Cleared()):
                return "The board is cleared"
            case Accepted(event=GameOver() as over):
                return self._game_over(over)
            case Accepted(event=GameStarted() as started):
                return f"Game {started.game}: {self.names[started.starter]} flicks first"
            case Accepted() | Refused() | Undecided():
                # What follows the first semicolon is the order in words, which the page shows for itself.
                return self._reason(ruling.why.split(";")[0] if ruling.orders else ruling.why)

    def detail(self, ruling: Ruling) -> str:
        """What the headline leaves out, or nothing."""
        match ruling:
            case Accepted(event=GameOver() as over):
                return self._after(over)
            case Accepted(event=Shot()) if ruling.orders:
                grounds = dict.fromkeys(self.ground(order) for order in ruling.orders)
                return sentence(", ".join(grounds))
            case Accepted(event=None) | Refused() | Undecided():
                return ""
            case _:
                return self._reason(ruling.why)

    def candidate(self, choice: str) -> str:
        """One answer to a question of the referee."""
        if choice in (A_DISK, B_DISK):
            return f"A {self.colours[Player.A if choice == A_DISK else Player.B]} disk"
        return _CANDIDATES.get(choice) or sentence(f"the one {choice}")

    def said(self, given: Input) -> str:
        """Who or what gave the input: "seen", or what a person said."""
        match given:
            case Look():
                return "seen"
            case Declaration(what=Declared.ACCEPT, choice=str() as choice):
                return f"said: {choice}"
            case Declaration():
                return f"said: {given.what.value.replace('-', ' ')}"
            case DiskCorrection():
                return f"corrected: {self._correction(given)}"
            case Undo():
                return "undo"

    def disk(self, disk: SeenDisk) -> str:
        """A disk and its place: "red disk at row 1, column 3"."""
        lying = f" ({disk.lying.value})" if disk.lying in (Lying.TILTED, Lying.LEANING) else ""
        lying = " (perhaps tilted)" if disk.perhaps_tilted else lying
        place = "on the surface" if disk.cell is None else f"at row {disk.cell[0]}, column {disk.cell[1]}"
        return f"{self.colours[disk.colour]} disk {place}{lying}"

    def _reason(self, why: str) -> str:
        """A ruling's reason as a sentence, with the players' names for their letters."""
        return sentence(_LETTER.sub(lambda letter: self.names[Player(letter[1].lower())], why))

    def _place(self, order: Order) -> str:
        if order.cell is not None:
            return f"at row {order.cell[0]}, column {order.cell[1]}"
        if order.why in (Why.OWN_LAUNCH_AREA, Why.OPPOSING_LAUNCH_AREA):
            area = order.colour if order.why is Why.OWN_LAUNCH_AREA else order.colour.other
            return f"in {self.names[area]}’s launch area"
        board = self._board
        row = round((order.y_mm - board.first_row_mm) / board.pitch_mm) + 1
        column = round((order.x_mm - board.margin_mm) / board.pitch_mm) + 1
        return f"by row {min(max(row, 1), board.rows)}, column {min(max(column, 1), board.columns)}"

    def _outcome(self, shot: Shot, orders: tuple[Order, ...]) -> str:
        off = sum(order.do is Do.REMOVE for order in orders)
        parts = []
        if shot.left_board:
            parts.append(f"{_disks(shot.left_board)} left the board")
        if off:
            parts.append(f"{_disks(off)} must come off")
        return ": " + ", ".join(parts) if parts else " stands"

    def _game_over(self, over: GameOver) -> str:
        if over.match_winner is not None:
            return f"{self.names[over.match_winner]} wins the match"
        if over.winner is None:
            return f"The game is tied {over.count[0]}–{over.count[1]}"
        most, least = max(over.count), min(over.count)
        return f"{self.names[over.winner]} wins the game {most}–{least}"

    def _after(self, over: GameOver) -> str:
        """What a finished game gives, and how it goes on."""
        on = f"{self.names[over.next_starter]} flicks first in the next game."
        if over.points is None or over.match is None:
            return "" if over.match_winner is not None else f"A tie is replayed. {on}"
        a, b = (self.names[player] for player in Player)
        stand = f"{a} +{over.points[0]}, {b} +{over.points[1]}."
        if over.match_winner is not None:
            return f"{stand} The match ends {over.match[0]}–{over.match[1]}."
        if over.sudden_death:
            return f"{stand} Sudden death: the next game that is not a tie decides the match. {on}"
        return f"{stand} {on}"

    def _correction(self, correction: DiskCorrection) -> str:
        match correction:
            case DiskCorrection(was=None, now=SeenDisk() as now):
                return f"{self.disk(now)} added"
            case DiskCorrection(was=SeenDisk() as was, now=None):
                return f"{self.disk(was)} taken away"
            case DiskCorrection(was=SeenDisk() as was, now=SeenDisk() as now):
                return f"{self.disk(was)} is a {self.disk(now)}"
            case _:
                return "nothing"


def colours_of(profile: Profile) -> dict[Player, tuple[int, int, int]]:
    """Blue, green and red of each side's pieces."""
    return dict(zip(Player, (bgr for _, bgr in profile.colours), strict=True))


def as_html(bgr: tuple[int, int, int]) -> str:
    """A colour as pages write it: "#d2423c"."""
    return "#{2:02x}{1:02x}{0:02x}".format(*bgr)


def colour_words(colours_bgr: dict[Player, tuple[int, int, int]]) -> dict[Player, str]:
    """An everyday word for each side's colour; two of one name are told apart as light and dark."""
    words = {player: _nearest_name(bgr) for player, bgr in colours_bgr.items()}
    if words[Player.A] == words[Player.B]:
        darker = min(Player, key=lambda player: sum(colours_bgr[player]))
        return {player: f"{'dark' if player is darker else 'light'} {words[player]}" for player in Player}
    return words


def sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _disks(count: int) -> str:
    return "1 disk" if count == 1 else f"{count} disks"


def _nearest_name(bgr: tuple[int, int, int]) -> str:
    blue, green, red = bgr
    place = _oklab(red, green, blue)
    return min(
        _COLOURS, key=lambda name: sum((p - q) ** 2 for p, q in zip(place, _oklab(*_COLOURS[name]), strict=True))
    )


def _oklab(red: int, green: int, blue: int) -> tuple[float, float, float]:
    """Lightness and the two colour axes in which distances are about as large as they look (Ottosson, Oklab, 2020)."""
    r, g, b = (_linear(value / 255) for value in (red, green, blue))
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _linear(value: float) -> float:
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
