"""A table of MageStone: games between the same people, its inputs and rulings, and who won.

With each game people move on by one seat, so that everybody has the first go in turn. `take` folds one input into the
table; the same inputs give the same table, which is what a log is opened with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from companion.games.magestone.board import Layout
from companion.games.magestone.choices import Attack, Bolt, Choice, Draw, End, Move, Resign
from companion.games.magestone.course import Course, OpenEnd, Source, Step, contradicted, opened, written
from companion.games.magestone.dice import Dice, Roll, roll_fault, winner
from companion.games.magestone.faults import COMBAT, GO, declaration_fault, dice_for, left
from companion.games.magestone.following import TooMuchError, doubt, explanations
from companion.games.magestone.looks import Look, Top, look_from_json, look_to_json
from companion.games.magestone.notation import Record, read_choice, read_record, replay, write_choice, write_go
from companion.games.magestone.orders import Order, orders
from companion.games.magestone.pieces import SEATED, Seat
from companion.games.magestone.position import NotationError
from companion.games.magestone.rulings import as_played, declared, game_over, judge, named
from companion.games.magestone.state import State, start
from companion.inputs import InputError
from companion.ruling import CORRECTION, Accepted, Refused, Ruling, Undecided
from companion.terms import Cell

_SETUP = "Setup"


class Said(StrEnum):
    """What people can say besides choices and dice."""

    TAKE_BACK = "take-back"
    NEXT_GAME = "next-game"


class Thrower(StrEnum):
    """Whose dice a roll is of."""

    PLAYERS = "players"
    COMPANION = "companion"


@dataclass(frozen=True, slots=True)
class Begin:
    """A new match: the first name has the first go of game 1, the others sit clockwise.

    `length` None goes on for as long as people like. `record` is one that game 1 begins with.
    """

    names: tuple[str, ...]
    layout: Layout = Layout.DIAMOND
    length: int | None = None
    record: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice that a person makes on the page, an attack with or without its dice.

    `n` is the choice of the game that it was meant to be, from 1, and `seat` whose.
    """

    choice: Choice
    n: int | None = None
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class Thrown:
    """A roll of the dice that the declared attack or Bolt calls for."""

    roll: Roll
    by: Thrower = Thrower.PLAYERS


@dataclass(frozen=True, slots=True)
class Saying:
    """Something else that a person says."""

    what: Said


@dataclass(frozen=True, slots=True)
class Seen:
    """A look of the camera."""

    look: Look
    frame: int = 0
    t_s: float = 0.0


Input = Begin | Chosen | Thrown | Saying | Seen


@dataclass(frozen=True, slots=True)
class Game:
    """One game: every state that it went through, and the choices between them."""

    past: tuple[State, ...]
    choices: tuple[Choice, ...] = ()
    fight: Attack | Bolt | None = None
    """What is declared and waits for dice, with the ties that were thrown already"""
    seen: tuple[int, ...] = ()
    """The numbers, from 1, of the choices that nobody made on the page: the board showed them"""
    pending: tuple[Order, ...] | None = None
    """The orders that the board does not show done; None where no camera has looked"""
    open_ends: tuple[OpenEnd, ...] = ()
    unexplained: tuple[tuple[Cell, Top | None], ...] = ()
    """What the last look showed that nothing explains, or several things do"""

    @property
    def course(self) -> Course:
        """The game as it is followed on the board."""
        steps = (
            Step(before, choice, Source.SEEN if number in self.seen else Source.SAID)
            for number, (before, choice) in enumerate(zip(self.past, self.choices, strict=False), 1)
        )
        return Course(tuple(steps), self.state, self.pending or (), self.open_ends)

    @property
    def state(self) -> State:
        """How it stands."""
        return self.past[-1]

    @property
    def go(self) -> tuple[Choice, ...]:
        """The choices of the go that is being played."""
        ends = (n for n in range(len(self.choices), 0, -1) if isinstance(self.choices[n - 1], End))
        return self.choices[next(ends, 0) :]

    @property
    def dice(self) -> Dice | None:
        """The dice that are waited for."""
        return None if self.fight is None else dice_for(self.state, self.fight)

    @property
    def orders(self) -> tuple[Order, ...]:
        """What has to be done on the table: what a camera does not see done, or else what the last choice asked for.

        The end of a go that asks for nothing leaves the orders before it standing.
        """
        if self.pending is not None:
            return self.pending
        n = len(self.choices)
        told = orders(self.past[n - 1], self.choices[n - 1], self.past[n]) if n else ()
        if n > 1 and not told and isinstance(self.choices[n - 1], End):
            told = orders(self.past[n - 2], self.choices[n - 2], self.past[n - 1])
        return told


@dataclass(frozen=True, slots=True)
class Table:
    """The games so far, the one being played last."""

    names: tuple[str, ...]
    layout: Layout
    length: int | None
    games: tuple[Game, ...]

    @property
    def game(self) -> Game:
        """The one being played, or just over."""
        return self.games[-1]

    def players(self, n: int) -> tuple[str, ...]:
        """Who plays game n (from 1), in turn order."""
        first = (n - 1) % len(self.names)
        return (*self.names[first:], *self.names[:first])

    def winner(self, n: int) -> str | None:
        """Who won game n; nobody while it is played, or where it was drawn."""
        state = self.games[n - 1].state
        if state.result is None or state.result.winner is None:
            return None
        return self.players(n)[state.seats.index(state.result.winner)]

    @property
    def wins(self) -> tuple[int, ...]:
        """How many games each has won, in the order of `names`."""
        winners = [self.winner(n) for n in range(1, len(self.games) + 1)]
        return tuple(map(winners.count, self.names))

    @property
    def over(self) -> bool:
        """Whether all games are played, or the leader cannot be overtaken."""
        if self.length is None or self.game.state.result is None:
            return False
        second, most = sorted(self.wins)[-2:]
        return most - second > self.length - len(self.games) or len(self.games) >= self.length

    @property
    def leader(self) -> str | None:
        """Who has won most games; nobody where several have."""
        most = max(self.wins)
        return self.names[self.wins.index(most)] if self.wins.count(most) == 1 else None


Taken = tuple[Table | None, tuple[Ruling, ...]]


def take(table: Table | None, given: Input) -> Taken:
    """What follows from an input: the table after it and the rulings. What is refused changes nothing."""
    if isinstance(given, Begin):
        return _begin(table, given)
    if table is None:
        return None, (Refused(_SETUP, "no game is being played: start one"),)
    match given:
        case Chosen():
            return _choose(table, given)
        case Thrown():
            return _throw(table, given.roll)
        case Seen():
            return _look(table, given.look)
        case Saying(Said.TAKE_BACK):
            return _take_back(table)
        case Saying():
            return _next_game(table)


def record_of_game(table: Table, n: int) -> Record:
    """Game n on paper."""
    game = table.games[n - 1]
    return Record(game.past[0], game.choices, table.players(n))


def _begin(table: Table | None, begin: Begin) -> Taken:
    names, choices = begin.names, tuple[Choice, ...]()
    try:
        if begin.record is None:
            past: tuple[State, ...] = (start(len(names), begin.layout),)
        else:
            record = read_record(begin.record)
            past, choices = replay(record), record.choices
            if len(names) != len(past[0].seats):
                raise NotationError(f"{len(names)} names for the {len(past[0].seats)} players of the record")
    except ValueError as error:
        return table, (Refused(_SETUP, str(error)),)
    begun = Table(names, begin.layout, begin.length, (Game(past, choices),))
    over = past[-1].result is not None
    return begun, (_started(begun), game_over(past[-1])) if over else (_started(begun),)


def _started(table: Table) -> Accepted:
    n, game = len(table.games), table.game
    if game.choices:
        return Accepted(_SETUP, f"game {n} goes on from its record")
    return Accepted(_SETUP, f"game {n}: {game.state.to_move.label} has the first go")


def _choose(table: Table, chosen: Chosen) -> Taken:
    game, choice = table.game, chosen.choice
    state = game.state
    if chosen.n not in (None, len(game.choices) + 1):
        return table, (Refused(GO, f"it is no longer choice {chosen.n}: look at the board again; {left(state)}"),)
    if chosen.seat not in (None, state.to_move):
        return table, (Refused(GO, f"it is {state.to_move.label}'s go; {left(state)}"),)
    if game.fight is not None and not isinstance(choice, (Resign, Draw)):
        return table, (Refused(COMBAT, f"{named(game.fight)} waits for its dice; {left(state)}"),)
    if isinstance(choice, (Attack, Bolt)) and declaration_fault(state, choice) is None:
        dice = dice_for(state, choice)
        ties = all(winner(roll) is None for roll in choice.rolls)
        if dice is not None and ties and not any(roll_fault(dice, roll) for roll in choice.rolls):
            return _with_game(table, replace(game, fight=choice)), (declared(state, choice, dice),)
    return _play(table, choice)


def _throw(table: Table, roll: Roll) -> Taken:
    game = table.game
    state, fight, dice = game.state, game.fight, game.dice
    if fight is None or dice is None:
        return table, (Refused(COMBAT, f"nothing is declared that calls for dice; {left(state)}"),)
    if (why := roll_fault(dice, roll)) is not None:
        return table, (Refused(COMBAT, f"{why}; {left(state)}", cells=(fight.target,)),)
    rolled = replace(fight, rolls=(*fight.rolls, roll))
    if winner(roll) is None:
        why = f"a tie at {sum(roll.attacker)}: all dice are rolled again, {dice}"
        return _with_game(table, replace(game, fight=rolled)), (Accepted(COMBAT, why, cells=(fight.target,)),)
    return _play(table, rolled)


def _play(table: Table, choice: Choice) -> Taken:
    """Judges a choice with all that it needs, and ends the go of a player whom it eliminates."""
    game = table.game
    after, rulings, _ = judge(game.state, choice)
    if isinstance(rulings[0], Refused):
        return table, rulings
    past, choices = (*game.past, after), (*game.choices, as_played(game.state, choice))
    pending = None if game.pending is None else (*game.pending, *orders(game.state, choice, after))
    if after.result is None and after.to_move in after.out:
        after, ended, _ = judge(after, End())
        past, choices, rulings = (*past, after), (*choices, End()), (*rulings, *ended)
    new = (end for number in range(len(game.choices), len(choices)) for end in opened(number, choices[number]))
    open_ends = () if pending is None else (*game.open_ends, *new)
    return _with_game(table, Game(past, choices, None, game.seen, pending, open_ends)), rulings


def _look(table: Table, look: Look) -> Taken:
    """What a look shows to have been done: walks, whose go is over, orders, and what was put back."""
    game = table.game
    if game.fight is not None or game.state.result is not None:
        return table, ()
    course, too_much = game.course, False
    try:
        found = explanations(course, look)
    except TooMuchError:
        found, too_much = (), True
    tops = dict(look.tops)
    unexplained = tuple((cell, tops.get(cell)) for cell in contradicted(course, look))
    if len(found) == 1 and all(_is_plain(step) for step in found[0].steps):
        return _follow(table, course, found[0])
    if unexplained == game.unexplained:
        return table, ()
    table = _with_game(table, replace(game, unexplained=unexplained))
    return table, (_question(course, found, look) if found else doubt(course, look, too_much=too_much),)


def _is_plain(step: Step) -> bool:
    """Whether a step needs no word of a player: it was said, or is a walk or the end of a go."""
    return step.source is Source.SAID or isinstance(step.choice, (Move, End))


def _question(course: Course, found: tuple[Course, ...], look: Look) -> Undecided:
    """What is asked where a look can be explained by several courses, or by a fight that nobody declared."""
    candidates = tuple(dict.fromkeys(write_go(tuple(map(written, _since(course, one)))) for one in found))
    cells, n = contradicted(course, look), len(course.steps) + 1
    if all(map(_is_plain, (step for one in found for step in one.steps))):
        why = f"walks look alike that differ in what follows, say which: {' or '.join(candidates)}"
        return Undecided(GO, why, candidates, n, cells=cells)
    why = f"nobody has declared what the board shows: {' or '.join(candidates)}; declare it, with its dice"
    return Undecided(COMBAT, why, candidates, n, cells=cells)


def _since(before: Course, after: Course) -> tuple[Step, ...]:
    """The steps of a course that it does not share with the one before."""
    return after.steps[_shared(before, after) :]


def _shared(before: Course, after: Course) -> int:
    pairs = zip(before.steps, after.steps, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(before.steps), len(after.steps)))


def _follow(table: Table, before: Course, after: Course) -> Taken:
    """Takes what the board shows for done."""
    game, shared = table.game, _shared(before, after)
    rulings: list[Ruling] = []
    if shared < len(before.steps):
        names = ", ".join(named(step.choice) for step in before.steps[shared:])
        state = after.steps[shared].before if shared < len(after.steps) else after.state
        rulings.append(Accepted(CORRECTION, f"{names} is taken back: it is {state.to_move.label}'s go; {left(state)}"))
    for step in after.steps[shared:]:
        rulings += judge(step.before, step.choice)[1]
    if not rulings and game.pending and not after.pending:
        rulings.append(Accepted(GO, f"all that was ordered is done; {left(after.state)}"))
    if not rulings and game.unexplained:
        rulings.append(Accepted(CORRECTION, f"the board is as it should be again; {left(after.state)}"))
    followed = Game(
        (*(step.before for step in after.steps), after.state),
        tuple(step.choice for step in after.steps),
        None,
        tuple(number for number, step in enumerate(after.steps, 1) if step.source is Source.SEEN),
        after.pending,
        after.open_ends,
    )
    return _with_game(table, followed), tuple(rulings)


def _with_game(table: Table, game: Game) -> Table:
    return replace(table, games=(*table.games[:-1], game))


def _take_back(table: Table) -> Taken:
    """Takes back what was declared or chosen last; where a game has nothing, that it was begun."""
    game, n = table.game, len(table.games)
    if game.fight is not None:
        why = f"{named(game.fight)} is taken back; {left(game.state)}"
        return _with_game(table, replace(game, fight=None)), (Accepted(CORRECTION, why),)
    if not game.choices:
        if n == 1:
            return table, (Refused(CORRECTION, "there is nothing to take back"),)
        why = f"game {n} is taken back: game {n - 1} is the last"
        return replace(table, games=table.games[:-1]), (Accepted(CORRECTION, why),)
    kept = len(game.choices) - 1
    if kept and game.past[kept].to_move in game.past[kept].out:
        # That go was ended by nobody.
        kept -= 1
    pending = None if game.pending is None else ()
    seen = tuple(number for number in game.seen if number <= kept)
    open_ends = tuple(end for end in game.open_ends if end[0] < kept)
    back = Game(game.past[: kept + 1], game.choices[:kept], None, seen, pending, open_ends)
    state = back.state
    why = f"{named(game.choices[kept])} is taken back: it is {state.to_move.label}'s go; {left(state)}"
    return _with_game(table, back), (Accepted(CORRECTION, why),)


def _next_game(table: Table) -> Taken:
    if table.game.state.result is None:
        return table, (Refused(_SETUP, "the game is not over yet"),)
    if table.over:
        return table, (Refused(_SETUP, "the match is over: start another"),)
    after = replace(table, games=(*table.games, Game((start(len(table.names), table.layout),))))
    return after, (_started(after),)


def input_to_json(given: Input) -> dict[str, Any]:
    """An input as a JSON object; its key "input" says which kind it is."""
    match given:
        case Begin():
            rest = {"length": given.length, "record": given.record}
            return {"input": "begin", "names": list(given.names), "layout": given.layout.value, **rest}
        case Chosen():
            seat = None if given.seat is None else int(given.seat)
            return {"input": "choice", "choice": write_choice(given.choice), "n": given.n, "seat": seat}
        case Thrown():
            roll = given.roll
            dice = {"attacker": list(roll.attacker), "defender": list(roll.defender)}
            return {"input": "dice", **dice, "by": given.by.value}
        case Saying():
            return {"input": "say", "what": given.what.value}
        case Seen():
            return {"input": "look", **look_to_json(given.look), "frame": given.frame, "t_s": given.t_s}


def input_from_json(data: Mapping[str, Any]) -> Input:
    """The input that `input_to_json` wrote. Raises InputError."""
    try:
        match data["input"]:
            case "begin":
                names = tuple(map(str, data["names"]))
                if len(names) not in SEATED:
                    raise InputError(f"{len(names)} names: MageStone is played by two or four")
                length = None if data["length"] is None else int(data["length"])
                return Begin(names, Layout(data["layout"]), length, data["record"])
            case "choice":
                n = None if data["n"] is None else int(data["n"])
                seat = None if data["seat"] is None else Seat(data["seat"])
                return Chosen(read_choice(data["choice"]), n, seat)
            case "dice":
                attacker, defender = (tuple(map(int, data[side])) for side in ("attacker", "defender"))
                return Thrown(Roll(attacker, defender), Thrower(data["by"]))
            case "say":
                return Saying(Said(data["what"]))
            case "look":
                return Seen(look_from_json(data), int(data["frame"]), float(data["t_s"]))
            case kind:
                raise InputError(f"{kind!r} is no kind of input")
    except InputError:
        raise
    except NotationError as error:
        raise InputError(str(error)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not an input: {error}") from error
