"""Rulings on Pathstone in words that people at the table use."""

import re

from companion.dashboard.words import sentence
from companion.games.pathstone import Move, Placement, Reason, State, square_name
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.series import Begin, Input, Played, Said, Saying, Seen, Series
from companion.ruling import Accepted, Ended, GameStarted, Refused, Ruling, Undecided
from companion.terms import Player

_LETTER = re.compile(
    r"(?<=\bfor )[AB]\b|(?<=\bof )[AB]\b|\b[AB](?=['’]s\b| (?:places|moves|resigns|connects|has|is)\b)"
)
"""A player's letter, which in a ruling is never the article: that one stands before a noun."""

_SQUARE = re.compile(r"\d?[a-h][1-8]\b")
"""Squares and moves are written small, also where a sentence begins with one."""

REASONS = {
    Reason.PATH: "path",
    Reason.FLATS: "flats",
    Reason.DRAW: "equal flats",
    Reason.RESIGNATION: "resignation",
    Reason.AGREEMENT: "agreement",
}
"""How a game ended, in a word or two."""

_SAID = {
    Said.RESIGN: "resigns",
    Said.DRAW: "draw agreed",
    Said.TAKE_BACK: "take back",
    Said.NEXT_GAME: "next game",
    Said.GO_ON: "go on",
}


class PathstoneWords:
    """Says things with the players' names."""

    def __init__(self, names: dict[Player, str]) -> None:
        self.names = names

    def headline(self, ruling: Ruling) -> str:
        """The ruling in one short sentence."""
        match ruling:
            case Accepted(event=Ended() as ended):
                return self._ended(ended)
            case Accepted(event=GameStarted()):
                return sentence(ruling.why)
            case Accepted() | Refused() | Undecided():
                return self._reason(ruling.why.split(": put back")[0])

    def detail(self, ruling: Ruling) -> str:
        """What the headline leaves out, or nothing."""
        match ruling:
            case Accepted(event=Ended(reason=Reason.PATH.value | Reason.RESIGNATION.value)):
                return f"{self._reason(ruling.why.split(': ', 1)[1])}."
            case Accepted(event=GameStarted()) if ruling.why.endswith("moves first"):
                a, b = self.names[Player.A], self.names[Player.B]
                return f"{a} places a flat of {b}’s first, then {b} one of {a}’s."
            case Refused() if ": put back" in ruling.why:
                return self._reason(f"put back {ruling.why.split(': put back ')[1]}.")
            case _:
                return ""

    def said(self, given: Input) -> str:
        """Who or what gave the input: "seen", or what a person said."""
        match given:
            case Seen():
                return "seen"
            case Begin():
                return "start" if given.ptn is None else "record read"
            case Played():
                return f"tapped: {write_move(given.move)}"
            case Saying():
                return f"said: {_SAID[given.what]}"

    def _reason(self, why: str) -> str:
        """A ruling's reason as a sentence, with the players' names for their letters."""
        told = _LETTER.sub(lambda letter: self.names[Player(letter[0].lower())], why)
        return told if _SQUARE.match(told) else sentence(told)

    def _ended(self, ended: Ended) -> str:
        most, least = max(ended.count), min(ended.count)
        match ended.reason:
            case Reason.DRAW.value:
                return f"Drawn: {most} flats each"
            case Reason.AGREEMENT.value:
                return "Drawn by agreement"
        assert ended.winner is not None
        name = self.names[ended.winner]
        match ended.reason:
            case Reason.PATH.value:
                return f"{name} completes a path and wins"
            case Reason.FLATS.value:
                return f"{name} wins on flats, {most}–{least}"
            case _:
                return f"{name} wins"


def names_of(series: Series | None) -> dict[Player, str]:
    """Who plays which side in the last game; their letters where there is none."""
    if series is None:
        return {player: player.label for player in Player}
    return dict(zip(Player, series.players(len(series.games)), strict=True))


def move_in_words(move: Move) -> str:
    """A move as an answer to a question: "3c3>12: 3 from c3, 1 on d3, 2 on e3"."""
    if isinstance(move, Placement):
        return f"{write_move(move)}: a {move.kind.label} placed"
    drops = (f"{n} on {square_name(cell)}" for n, cell in zip(move.drops, move.cells, strict=True))
    return f"{write_move(move)}: {sum(move.drops)} from {square_name(move.cell)}, {', '.join(drops)}"


def threat_words(names: dict[Player, str], threats: dict[Player, tuple[str, ...]], state: State) -> list[str]:
    """Who is one move away from a path, and where: "Ada is one move from a path: c4 or d3"."""
    words = []
    for player, squares in threats.items():
        if squares:
            places = " or ".join(squares) if len(squares) <= 3 else f"{', '.join(squares[:3])} …"
            own = "can complete a path now" if player is state.to_move else "is one move from a path"
            words.append(f"{names[player]} {own}: {places}")
    return words


def squares_of(cells: object) -> list[str]:
    """The names of squares."""
    assert isinstance(cells, tuple)
    return [square_name(cell) for cell in cells]
