"""What the page of MageStone shows, as plain JSON: the table folded from the log, and how it is watched."""

from companion.dashboard.buttons import button
from companion.dashboard.follower import GamesFollower, Json, asking, ruling_json
from companion.dashboard.magestone_options import able_json, actions_json, cells_of_last, dice_json, options_json
from companion.dashboard.magestone_words import COLOURS, ENDINGS, MageStoneWords, in_words, names_of
from companion.dashboard.words import sentence
from companion.games.magestone import (
    WARRIORS,
    Bolt,
    Choice,
    Dice,
    Draw,
    Resign,
    Seat,
    State,
    Unit,
    besieged,
    power_die,
    square_from_name,
    square_name,
    write_choice,
    write_position,
    write_record,
)
from companion.games.magestone.board import on_board
from companion.games.magestone.dice import odds
from companion.games.magestone.pieces import STONES_TO_WIN
from companion.games.magestone.table import Game, Input, Said, Table, Thrown, record_of_game, take
from companion.live import Live, Watch
from companion.ruling import Accepted, Ruling, Undecided
from companion.store import Entry, MageStoneStore, Match


class MageStoneTable(GamesFollower[Input, Table]):
    """How a match of MageStone stands, and the games before it."""

    game = "MageStone"

    def __init__(self, store: MageStoneStore, live: Live, *, watched: bool) -> None:
        """`watched` says whether a camera looks at the board."""
        self._watched = watched
        super().__init__(store, live, store.resume)

    def options(self, name: str) -> Json:
        """What a tap on a square offers, and the number of the choice that it would be."""
        with self._lock:
            self._catch_up()
            cell = square_from_name(name)
            if self._folded is None or not on_board(cell):
                return {"n": 0, "walks": {}, "attacks": {}, "bolts": {}, "why": ""}
            game = self._folded.game
            return {"n": len(game.choices) + 1, **options_json(game.state, cell, self._words)}

    def dice(self) -> Dice | None:
        """The dice that are waited for."""
        with self._lock:
            self._catch_up()
            return None if self._folded is None else self._folded.game.dice

    def _listed_json(self, match: Match, folded: Table, n: int) -> Json:
        return _game_json(folded, n)

    def _replay_json(self, folded: Table, n: int) -> Json:
        return replay_json(folded.games[n - 1], folded.players(n))

    def _record(self, match: Match, folded: Table, n: int) -> tuple[str, str]:
        return write_record(record_of_game(folded, n)), f"magestone-{match.begun_at[:10]}-{match.id}-{n}.txt"

    def _state_json(self, watch: Watch, why: str) -> Json:
        return {**super()._state_json(watch, why), "watched": self._watched}

    def _forget(self, match: Match | None) -> None:
        super()._forget(match)
        self._words = MageStoneWords(names_of(None))
        self._made: list[list[tuple[int, int]]] = []
        """For each game the lines of the log, with the number of the choice that each is about; 0 for its start."""

    def _follow(self, entry: Entry[Input]) -> None:
        before = self._folded
        self._folded, _ = take(before, entry.input)
        self._seq = entry.seq
        self._words = MageStoneWords(names_of(self._folded))
        if not entry.rulings:
            return
        shown = [self._ruling_json(ruling) for ruling in entry.rulings]
        self._mark_undone(before, entry.seq)
        self._add_line(entry, self._words.said(entry.input), shown)
        asked = asking(entry.rulings)
        large = shown[asked or 0]
        if isinstance(entry.input, Thrown) and asked is None:
            large = {**large, "why": f"{sentence(self._words.said(entry.input))}."}
        self._ruling = {**large, "more": [each["headline"] for each in shown[1:]] if asked is None else []}

    def _mark_undone(self, before: Table | None, seq: int) -> None:
        """Notes what a line of the log brought about, or which lines it took back."""
        after = self._folded
        if after is None:
            return
        if before is None or len(after.games) > len(before.games):
            self._made.append([(0, seq)])
            return
        if len(after.games) < len(before.games):
            self._undone += [line for _, line in self._made.pop()]
            return
        game, made = after.game, self._made[-1]
        pairs = zip(before.game.choices, game.choices, strict=False)
        kept = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
        kept = min(len(before.game.choices), len(game.choices)) if kept is None else kept
        withdrawn = before.game.fight is not None and game.fight is None and game.choices == before.game.choices
        if kept < len(before.game.choices) or withdrawn:
            self._undone += [line for number, line in made if number > kept]
            made[:] = [(number, line) for number, line in made if number <= kept]
        if kept < len(game.choices) or game.fight not in (None, before.game.fight):
            made.append((len(game.choices) + (game.fight is not None), seq))

    def _ruling_json(self, ruling: Ruling) -> Json:
        return {
            **ruling_json(ruling, self._words),
            "cells": []
            if isinstance(ruling, Accepted)
            else [square_name(cell) for cell in ruling.cells if on_board(cell)],
            "candidates": list(ruling.candidates) if isinstance(ruling, Undecided) else [],
        }

    def _standing_json(self) -> Json:
        table = self._folded
        if table is None:
            return {"phase": "start", "players": [], "actions": [], "buttons": []}
        n, game = len(table.games), table.game
        state, phase = game.state, _phase(table)
        wins = dict(zip(table.names, table.wins, strict=True))
        playing = phase == "play"
        return {
            "phase": phase,
            "players": [self._player_json(state, seat, wins) for seat in state.seats],
            "position": write_position(state),
            "n": len(game.choices) + 1,
            "turn": None if state.result is not None else int(state.to_move),
            "squares_left": state.squares_left,
            "units_left": state.units_left,
            "bank": state.bank,
            "rite": None
            if state.rite is None
            else {
                "seat": int(state.rite.seat),
                "returns_left": state.rite.returns_left,
                "words": self._words.rite(state.rite),
            },
            "choices": [write_choice(choice) for choice in game.choices],
            "go": [write_choice(choice) for choice in game.go],
            "last": cells_of_last(game.choices),
            "able": able_json(state) if playing else [],
            "orders": [{"text": text, "cell": cell} for text, cell in self._words.orders(game.orders)],
            "fight": None if game.dice is None else self._fight_json(game, game.dice),
            "result": None if state.result is None else _result_json(state),
            "actions": actions_json(state, self._words) if playing else [],
            "series": {
                "length": table.length,
                "over": table.over,
                "leader": table.leader,
                "names": list(table.names),
                "wins": list(table.wins),
                "layout": table.layout.value,
                "games": [_game_json(table, k) for k in range(1, n + 1)],
            },
            "buttons": self._buttons(phase, state, len(game.choices) + 1),
        }

    def _player_json(self, state: State, seat: Seat, wins: dict[str, int]) -> Json:
        colour, word = COLOURS[seat]
        hand, name = state.hands[seat], self._words.names[seat]
        return {
            "seat": int(seat),
            "label": seat.label,
            "name": name,
            "colour": colour,
            "word": word,
            "wins": wins[name],
            "warriors": state.warriors(seat),
            "of_warriors": len(WARRIORS),
            "carried": hand.carried,
            "activated": hand.activated,
            "to_win": STONES_TO_WIN,
            "die": power_die(hand.activated),
            "besieged": seat not in state.out and besieged(state, seat),
            "waiting": [unit.label for other, unit in state.queue if other is seat],
            "out": seat in state.out,
        }

    def _fight_json(self, game: Game, dice: Dice) -> Json:
        """What is declared, the dice that it calls for, and the ties so far."""
        fight, army = game.fight, game.state.armies[game.state.to_move]
        assert fight is not None
        units = (Unit.MAGE,) if isinstance(fight, Bolt) else fight.units
        target = game.state.unit_at(fight.target)
        assert target is not None
        return {
            "choice": write_choice(fight),
            "target": square_name(fight.target),
            "from": [square_name(cell) for unit in units if (cell := army.cells[unit]) is not None],
            "attacker_name": self._words.names[game.state.to_move],
            "defender_name": self._words.names[target[0]],
            "rolls": [[list(roll.attacker), list(roll.defender)] for roll in fight.rolls],
            "lost_percent": f"{float(1 - odds(dice)):.1%}",
            **dice_json(dice),
        }

    def _answers(self, n: int) -> list[Json]:
        """A button for each answer to what the last ruling asks, if anything."""
        candidates = () if self._ruling is None else self._ruling["candidates"]
        return [
            button(in_words(go), str(k) if k < 10 else "", "/choose", {"choice": go, "n": n}, "answer")
            for k, go in enumerate(candidates, 1)
        ]

    def _buttons(self, phase: str, state: State, n: int) -> list[Json]:
        """What people can say now besides choices, most likely first; `path` and `body` are what a press posts."""
        back = button("Take back", "u", "/declare", {"what": Said.TAKE_BACK.value})
        resign = {**button("Resign", "r", "/choose", {}), "confirm": "Who resigns?"}
        resign["choices"] = [
            {"label": self._words.names[seat], "body": {"choice": write_choice(Resign(seat))}}
            for seat in state.remaining
        ]
        draw = button("Draw", "d", "/choose", {"choice": write_choice(Draw())})
        draw["confirm"] = "Do all players agree to a draw?"
        match phase:
            case "game-over":
                return [button("Next game", " ", "/declare", {"what": Said.NEXT_GAME.value}, "primary"), back]
            case "match-over" | "dice":
                return [back]
            case _:
                return [*self._answers(n), back, draw, resign]


def replay_json(game: Game, names: tuple[str, ...]) -> Json:
    """Every position of a game with its choices and its result."""
    state = game.state
    return {
        "players": list(names),
        "seats": [int(seat) for seat in state.seats],
        "choices": [write_choice(choice) for choice in game.choices],
        "cells": [cells_of_last(game.choices[:k]) for k in range(1, len(game.choices) + 1)],
        "positions": [write_position(each) for each in game.past],
        "result": None if state.result is None else _result_json(state),
    }


def _phase(table: Table) -> str:
    game = table.game
    if game.state.result is not None:
        return "match-over" if table.over else "game-over"
    return "play" if game.fight is None else "dice"


def _result_json(state: State) -> Json:
    result = state.result
    assert result is not None
    winner = None if result.winner is None else int(result.winner)
    return {"ending": result.ending.value, "reason": ENDINGS[result.ending], "winner": winner}


def _game_json(table: Table, n: int) -> Json:
    game = table.games[n - 1]
    result = game.state.result
    return {
        "game": n,
        "players": list(table.players(n)),
        "goes": _goes(game.choices),
        "winner": table.winner(n),
        "reason": None if result is None else ENDINGS[result.ending],
    }


def _goes(choices: tuple[Choice, ...]) -> int:
    """How many goes a game has had, the one that is being played too."""
    return 1 + sum(write_choice(choice) == "end" for choice in choices)
