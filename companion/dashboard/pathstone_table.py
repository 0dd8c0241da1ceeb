"""What the page of Pathstone shows, as plain JSON: the series folded from the log, and how the table is watched."""

from companion.dashboard.buttons import button
from companion.dashboard.follower import GamesFollower, Json, asking, ruling_json
from companion.dashboard.pathstone_words import (
    REASONS,
    PathstoneWords,
    move_in_words,
    names_of,
    squares_of,
    threat_words,
)
from companion.dashboard.words import as_html, colour_words, colours_of
from companion.games.pathstone import (
    PIECES_EACH,
    Move,
    Placement,
    Reason,
    State,
    path_of,
    plays,
    read_move,
    square_from_name,
    square_name,
    threats,
    write_ptn,
    write_tps,
)
from companion.games.pathstone.notation import write_move
from companion.games.pathstone.series import Input, Said, Series, record_of_game, take
from companion.live import Live, Watch
from companion.ruling import Accepted, GameStarted, Moved, Ruling, TakenBack, Undecided
from companion.store import Entry, Match, PathstoneStore
from companion.terms import Player
from vision.board import Profile


class PathstoneTable(GamesFollower[Input, Series]):
    """How a series of Pathstone stands, and the games before it."""

    game = "Pathstone"

    def __init__(self, store: PathstoneStore, live: Live, profile: Profile, *, watched: bool) -> None:
        """`watched` says whether a camera looks at the board."""
        self._size = profile.board.rows
        self._watched = watched
        colours = colours_of(profile)
        self._colours = {player: as_html(bgr) for player, bgr in colours.items()}
        self._colour_words = colour_words(colours)
        super().__init__(store, live, store.resume)

    def moves_from(self, name: str) -> Json:
        """The legal moves from one square, in PTN, and the number of the move that they would be."""
        with self._lock:
            self._catch_up()
            if self._folded is None:
                return {"n": 0, "moves": []}
            state = self._folded.game.state
            cell = square_from_name(name)
            moves = [write_move(move) for move, _ in plays(state) if move.cell == cell]
            return {"n": state.ply + 1, "moves": moves}

    def _listed_json(self, match: Match, folded: Series, n: int) -> Json:
        goes_on = n == len(folded.games) and not folded.over and match != self._match
        return {"goes_on": goes_on, **_game_json(folded, n), "size": folded.games[n - 1].state.size}

    def _replay_json(self, folded: Series, n: int) -> Json:
        game = folded.games[n - 1]
        past = tuple(state for state in game.belief.past if state.ended is None)
        return {"players": list(folded.players(n)), **replay_json(past, game.moves, game.state)}

    def _record(self, match: Match, folded: Series, n: int) -> tuple[str, str]:
        date = match.begun_at[:10]
        tags = (("Event", "Pathstone"), ("Date", date.replace("-", ".")), ("Round", str(n)))
        return write_ptn(record_of_game(folded, n, tags)), f"pathstone-{date}-{match.id}-{n}.ptn"

    def _state_json(self, watch: Watch, why: str) -> Json:
        return {**super()._state_json(watch, why), "board_size": self._size, "watched": self._watched}

    def _forget(self, match: Match | None) -> None:
        super()._forget(match)
        self._words = PathstoneWords(names_of(None))
        self._made: list[tuple[int, int]] = []
        """The moves of the game with the lines of the log that ruled on them."""

    def _follow(self, entry: Entry[Input]) -> None:
        self._folded, _ = take(self._folded, entry.input)
        self._seq = entry.seq
        self._words = PathstoneWords(names_of(self._folded))
        if not entry.rulings:
            return
        shown = [self._ruling_json(ruling) for ruling in entry.rulings]
        for ruling in entry.rulings:
            match ruling:
                case Accepted(event=GameStarted()):
                    self._made = []
                case Accepted(event=Moved(n=n)):
                    self._made.append((n, entry.seq))
                case Accepted(event=TakenBack(n=n)):
                    self._undone += [seq for made, seq in self._made if made >= n]
                    self._made = [(made, seq) for made, seq in self._made if made < n]
        self._add_line(entry, self._words.said(entry.input), shown)
        asked = asking(entry.rulings)
        self._ruling = shown[-1 if asked is None else asked]

    def _ruling_json(self, ruling: Ruling) -> Json:
        return {
            **ruling_json(ruling, self._words),
            "cells": squares_of(ruling.cells) if not isinstance(ruling, Accepted) else [],
            "candidates": list(ruling.candidates) if isinstance(ruling, Undecided) else [],
        }

    def _standing_json(self) -> Json:
        players: Json = {
            player.value: {
                "name": self._words.names[player],
                "colour": self._colours[player],
                "word": self._colour_words[player],
            }
            for player in Player
        }
        series = self._folded
        if series is None:
            return {"phase": "start", "players": players, "buttons": []}
        n, game = len(series.games), series.game
        state, line = game.state, game.belief.lines[0]
        shown = line.state
        points = dict(zip(series.names, series.points, strict=True))
        for player in Player:
            stones, crowns = shown.reserve(player)
            players[player.value] |= {
                "flats": shown.flats[list(Player).index(player)],
                "stones": stones,
                "crowns": crowns,
                "points": points[self._words.names[player]],
            }
        result, phase = state.result, _phase(series)
        moves = [*game.moves, *line.moves]
        threatened = {player: _targets(state, player) for player in Player}
        return {
            "phase": phase,
            "players": players,
            "size": state.size,
            "pieces_each": list(PIECES_EACH[state.size]),
            "carry": state.size,
            "tps": write_tps(shown),
            "n": state.ply + 1,
            "first_n": game.belief.past[0].ply + 1,
            "moves": [write_move(move) for move in moves],
            "open_moves": len(line.moves),
            "last": _cells_of(moves[-1]) if moves else [],
            "opening": state.opening,
            "turn": None if result is not None else shown.to_move.value,
            "movable": _movable(state) if phase == "play" else [],
            "result": None if result is None else _result_json(state),
            "threats": {player.value: list(squares) for player, squares in threatened.items()},
            "threat_words": threat_words(self._words.names, threatened, state),
            "restore": squares_of(game.belief.restore),
            "series": {
                "length": series.length,
                "over": series.over,
                "leader": series.leader,
                "names": list(series.names),
                "points": list(series.points),
                "games": [_game_json(series, k) for k in range(1, n + 1)],
            },
            "buttons": self._buttons(phase, series),
        }

    def _buttons(self, phase: str, series: Series) -> list[Json]:
        """What people can say now, most likely first; `path` and `body` are what a press posts."""
        back = _say("Take back", "u", Said.TAKE_BACK)
        resign = {**_say("Resign", "r", Said.RESIGN), "confirm": "Who resigns?"}
        resign["choices"] = [
            {"label": name, "body": {"what": Said.RESIGN.value, "player": player.value}}
            for player, name in self._words.names.items()
        ]
        draw = {**_say("Draw", "d", Said.DRAW), "confirm": "Do both players agree to a draw?"}
        match phase:
            case "ask":
                _, candidates = series.game.belief.questions[0]
                answers = [_answer(ptn, k) for k, ptn in enumerate(candidates, 1)]
                return [*answers, back]
            case "game-over":
                return [_say("Next game", " ", Said.NEXT_GAME, "primary"), back]
            case "series-over":
                return [back]
            case _:
                return [back, draw, resign]


def replay_json(past: tuple[State, ...], moves: tuple[Move, ...], last: State) -> Json:
    """Every position of a game with its moves and its result."""
    return {
        "size": last.size,
        "first_n": past[0].ply + 1,
        "moves": [write_move(move) for move in moves],
        "cells": [_cells_of(move) for move in moves],
        "tps": [write_tps(state) for state in past],
        "result": None if last.result is None else _result_json(last),
    }


def _phase(series: Series) -> str:
    belief = series.game.belief
    if belief.questions:
        return "ask"
    if belief.state.result is None:
        return "play"
    return "series-over" if series.over else "game-over"


def _result_json(state: State) -> Json:
    result = state.result
    assert result is not None
    path = path_of(state, result.winner) if result.winner is not None and result.reason is Reason.PATH else ()
    return {
        "text": str(result),
        "reason": REASONS[result.reason],
        "winner": None if result.winner is None else result.winner.value,
        "path": squares_of(path),
    }


def _game_json(series: Series, n: int) -> Json:
    game = series.games[n - 1]
    result = game.state.result
    return {
        "game": n,
        "players": list(series.players(n)),
        "moves": len(game.belief.past) - 1 - (game.state.ended is not None),
        "result": None if result is None else str(result),
        "reason": None if result is None else REASONS[result.reason],
        "gives": None if result is None else list(series.gives(n)),
    }


def _targets(state: State, player: Player) -> tuple[str, ...]:
    """The squares on which a move of the player ends that would complete a path."""
    ends = (move.cell if isinstance(move, Placement) else move.cells[-1] for move in threats(state, player))
    return tuple(dict.fromkeys(square_name(cell) for cell in ends))


def _movable(state: State) -> list[str]:
    """The squares from which something can be moved."""
    return list(dict.fromkeys(square_name(move.cell) for move, _ in plays(state) if not isinstance(move, Placement)))


def _cells_of(move: Move) -> list[str]:
    return [square_name(cell) for cell in ((move.cell,) if isinstance(move, Placement) else (move.cell, *move.cells))]


def _say(label: str, key: str, what: Said, kind: str = "") -> Json:
    return button(label, key, "/declare", {"what": what.value}, kind)


def _answer(ptn: str, number: int) -> Json:
    label = move_in_words(read_move(ptn))
    return button(label, str(number) if number < 10 else "", "/play", {"ptn": ptn}, "answer")
