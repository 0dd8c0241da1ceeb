"""`companion judge pathways`: set-ups, finished games, flicks, looks and what people say, answered by the rules."""

from collections.abc import Collection
from dataclasses import asdict, fields, replace

from companion import referee
from companion.games import pathways
from companion.games.compare import cell_mm
from companion.games.match import Match, Tally, score, start_match, youngest
from companion.inputs import (
    Declaration,
    Declared,
    DiskCorrection,
    InputError,
    Look,
    SeenDisk,
    Setup,
    cell_from_json,
    disk_from_json,
    disk_to_json,
    number_from_json,
)
from companion.judge.values import (
    Json,
    as_object,
    flag,
    json_from_line,
    one_of,
    one_of_or_none,
    pair,
    refuse_unknown,
    whole,
)
from companion.referee import Standing, events_to_json
from companion.ruling import CORRECTION, Accepted, GameOver, Refused, Ruling, Shot, Undecided, Why, ruling_to_json
from companion.terms import USUAL_FIELD, Field, IllegalFlick, Lying, Mode, Player
from vision.board import HolesBoard

_SETUP = "Set-up"
_KEYS = ("setup", "game", "shot", "look", "declare", "correct")
_SETUP_KEYS = (
    *("mode", "threshold", "points", "starter", "ages", "names", "illegal_flick", "sudden_death", "winner", "game"),
    *("board", "used", "to_flick", "disks", "ended"),
)


class PathwaysJudge:
    """Answers lines about Pathways, one after the other."""

    def __init__(self) -> None:
        self._standing = Standing()
        self._starter_known = False

    def answer(self, line: str) -> Json:
        """The answer to one line. Raises ValueError or RecursionError where it is not JSON."""
        told = json_from_line(line)
        try:
            rulings = self._rulings(told)
        except InputError as error:
            rulings = (Refused(_SETUP if isinstance(told, dict) and "setup" in told else CORRECTION, str(error)),)
        return _answer(rulings, self._standing)

    def _rulings(self, told: object) -> tuple[Ruling, ...]:
        if not isinstance(told, dict) or len(told) != 1:
            raise InputError(f"a line is an object with one of the keys {', '.join(_KEYS)}")
        ((key, value),) = told.items()
        if key == "setup":
            table = as_object(value, key)
            self._standing = standing_from_json(table)
            self._starter_known = not table.keys().isdisjoint({"starter", "ages", "to_flick", "disks", "used"})
            return (Accepted(_SETUP, "the game is set up"),)
        match, game = self._standing.match, self._standing.game
        if match is None or game is None:
            return (Refused(_SETUP, "the first line must be a set-up"),)
        if key == "shot" and match.decided:
            match, game = _next_match(match, game)
        elif key == "shot" and not self._starter_known:
            # Nobody said who starts: the one who is told to flick first does.
            first = one_of(Player, as_object(value, key).get("player"), "player")
            match, game = replace(match, first_starter=first, starter=first), replace(game, to_flick=first)
        self._standing, rulings = _judge(Standing(match, game), key, value)
        self._starter_known = True
        return rulings or (Accepted("Quick Start", "nothing happened"),)


def _judge(standing: Standing, key: str, value: object) -> tuple[Standing, tuple[Ruling, ...]]:
    match, game = standing.match_now, standing.game
    assert match is not None
    assert game is not None
    field = game.setup.field
    match key:
        case "game":
            return _finished_game(match, game, as_object(value, key))
        case "shot":
            return _shot(standing, game, as_object(value, key))
        case "look":
            return referee.judge(standing, _look(field, as_object(value, key)))
        case "declare":
            return referee.judge(standing, _declaration(value))
        case "correct":
            return referee.judge(standing, _correction(field, as_object(value, key)))
        case _:
            raise InputError(f"{key} is not one of the keys {', '.join(_KEYS)}")


def _next_match(match: Match, game: pathways.State) -> tuple[Match, pathways.State]:
    """What is played after a match is won: the first game of the next one."""
    again = match.again()
    return again, pathways.start(game.setup, again.starter)


def _finished_game(match: Match, game: pathways.State, table: Json) -> tuple[Standing, tuple[Ruling, ...]]:
    if match.decided:
        match, game = _next_match(match, game)
    finished = score(match.mode, _tally(match, table), match.columns)
    after = match.after(finished)
    return Standing(after, pathways.start(game.setup, after.starter)), (referee.finish(after, finished),)


def _shot(standing: Standing, game: pathways.State, shot: Json) -> tuple[Standing, tuple[Ruling, ...]]:
    refuse_unknown(shot, ("player", "disks", "left_board"), "shot: ")
    player = one_of(Player, shot.get("player"), "player")
    disks = _disks(game.setup.field, shot.get("disks"))
    left = whole(shot["left_board"], "left_board", most=24) if "left_board" in shot else None
    return referee.with_game(standing, pathways.judge_told(game, player, disks, left))


# The set-up


def standing_from_json(table: Json) -> Standing:
    """The standing that a set-up describes; what it leaves out is as at the start. Raises InputError."""
    refuse_unknown(table, _SETUP_KEYS, "")
    setup = _setup(table)
    match = replace(
        start_match(setup),
        game=whole(table.get("game", 1), "game", least=1),
        winner=one_of_or_none(Player, table.get("winner"), "winner"),
    )
    most = max(match.points)
    if match.mode is not Mode.BASIC and not setup.sudden_death and match.winner is None and most >= match.threshold:
        raise InputError(f"points: {most} reaches the threshold of {match.threshold}: the match would be over")
    return Standing(match, _game(setup, table))


def _setup(table: Json) -> Setup:
    # Only a match has points: who gives them without a mode means one.
    in_match = not table.keys().isdisjoint({"threshold", "points", "sudden_death"})
    names = table.get("names", ["A", "B"])
    if not isinstance(names, list) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise InputError("names must be two")
    return Setup(
        one_of(Mode, table.get("mode", Mode.MATCH if in_match else Mode.BASIC), "mode"),
        whole(table.get("threshold", 11), "threshold", least=1),
        _starter(table),
        (names[0], names[1]),
        one_of(IllegalFlick, table.get("illegal_flick", IllegalFlick.REMOVE), "illegal_flick"),
        _field(as_object(table.get("board", {}), "board")),
        pair(table.get("points", [0, 0]), "points"),
        flag(table, "sudden_death"),
    )


def _starter(table: Json) -> Player:
    if "starter" in table:
        return one_of(Player, table["starter"], "starter")
    if "ages" in table:
        by_age = youngest(pair(table["ages"], "ages"))
        if by_age is None:
            raise InputError("ages: both are the same; say who starts")
        return by_age
    return Player.A


def _field(table: Json) -> Field:
    keys = {key.name: key.type for key in fields(Field)}
    refuse_unknown(table, keys, "board: ")
    values = {**asdict(USUAL_FIELD), **table}
    for key, kind in keys.items():
        values[key] = whole(values[key], key, 1) if kind is int else number_from_json(values, key, least=0.001)
    fault = HolesBoard(**values).fault()
    if fault is not None:
        raise InputError(f"board: {fault}")
    return Field(**values)


def _game(setup: Setup, table: Json) -> pathways.State:
    """The game being played: disks on the board lie there by right, unless an order says otherwise."""
    seen = table.get("disks", [])
    disks = _disks(setup.field, seen, ("order", "counts", "too_close"))
    on_board = [sum(disk.colour is player for disk in disks) for player in Player]
    used = pair(table.get("used", on_board), "used", most=pathways.DISKS_EACH)
    for player, lying, flicked in zip(Player, on_board, used, strict=True):
        if lying > flicked:
            raise InputError(f"{player.label} has {lying} disks on the board and has flicked {flicked}")
    last = setup.starter.other if used[0] == used[1] else Player.A if used[0] > used[1] else Player.B
    given = one_of_or_none(Player, table.get("to_flick"), "to_flick")
    to_flick = pathways.next_to_flick(used, last) if given is None else given
    game = replace(pathways.start(setup, to_flick), used=used, ended=flag(table, "ended"))
    if not game.over and game.flicks_left(to_flick) == 0 and sum(used) < 2 * pathways.DISKS_EACH:
        raise InputError(f"to_flick: {to_flick.label} has flicked all {pathways.DISKS_EACH} disks")
    board = (
        pathways.resting(
            game,
            disk,
            one_of_or_none(Why, entry.get("order"), "order"),
            counts=flag(entry, "counts", default=True),
            too_close=flag(entry, "too_close"),
        )
        for disk, entry in zip(disks, seen, strict=True)
    )
    return replace(game, board=tuple(board))


def standing_to_json(standing: Standing) -> Json | None:
    """A standing in the set-up's form; None before any set-up."""
    match, game = standing.match, standing.game
    if match is None or game is None:
        return None
    return {
        "mode": match.mode.value,
        "threshold": match.threshold,
        "points": list(match.points),
        "starter": match.starter.value,
        "names": list(match.names),
        "illegal_flick": game.setup.illegal_flick.value,
        "sudden_death": match.sudden_death,
        "winner": match.winner,
        "game": match.game,
        "board": asdict(game.setup.field),
        "used": list(game.used),
        "to_flick": game.to_flick.value,
        "disks": [
            {
                **disk_to_json(resting.disk),
                "order": resting.order and resting.order.why.value,
                "counts": resting.counts,
                "too_close": resting.doubt is not None,
            }
            for resting in game.board
        ],
        "ended": game.ended,
    }


# Inputs


def _tally(match: Match, table: Json) -> Tally:
    refuse_unknown(table, ("far", "near", "lines"), "game: ")
    columns = match.columns
    if match.mode is Mode.THREE_IN_A_ROW:
        return Tally(lines=pair(table.get("lines"), "lines"))
    far = pair(table.get("far"), "far", most=columns)
    near = pair(table.get("near", [0, 0]), "near", most=columns)
    if max(far[0] + near[0], far[1] + near[1]) > pathways.DISKS_EACH:
        raise InputError(f"far and near: a player has {pathways.DISKS_EACH} disks")
    return Tally(far, near)


def _look(field: Field, table: Json) -> Look:
    refuse_unknown(table, ("disks", "hidden", "hand", "flights"), "look: ")
    flights, hidden = table.get("flights", []), table.get("hidden", [])
    if not isinstance(flights, list) or not isinstance(hidden, list):
        raise InputError("flights and hidden must be lists")
    return Look(
        _disks(field, table.get("disks")),
        tuple(cell for cell in (_cell(field, cell) for cell in hidden) if cell is not None),
        flag(table, "hand"),
        tuple(one_of_or_none(Player, colour, "flights") for colour in flights),
    )


def _declaration(value: object) -> Declaration:
    table = {"what": value} if isinstance(value, str) else as_object(value, "declare")
    refuse_unknown(table, ("what", "choice"), "declare: ")
    what, choice = one_of(Declared, table.get("what"), "declare"), table.get("choice")
    if what is Declared.START or not (choice is None or isinstance(choice, str)):
        raise InputError("declare: a game starts with a set-up, and a choice is one of the candidates")
    return Declaration(what, choice=choice)


def _correction(field: Field, table: Json) -> DiskCorrection:
    refuse_unknown(table, ("was", "now"), "correct: ")
    was, now = (None if table.get(key) is None else _disks(field, [table[key]])[0] for key in ("was", "now"))
    return DiskCorrection(was, now)


def _disks(field: Field, value: object, also: Collection[str] = ()) -> tuple[SeenDisk, ...]:
    if not isinstance(value, list):
        raise InputError("disks must be a list")
    known = (*(key.name for key in fields(SeenDisk)), *also)
    disks = []
    for entry in value:
        table = as_object(entry, "a disk")
        refuse_unknown(table, known, "a disk: ")
        cell = _cell(field, table.get("cell"))
        if cell is not None:
            x_mm, y_mm = cell_mm(field, cell)
            table = {"x_mm": x_mm, "y_mm": y_mm, **table}
        lying = Lying.FLAT if cell is None else Lying.IN_CELL
        disks.append(disk_from_json({"lying": lying, **table}))
    for player in Player:
        if sum(disk.colour is player for disk in disks) > 2 * pathways.DISKS_EACH:
            raise InputError(f"too many disks of colour {player.value}")
    return tuple(disks)


def _cell(field: Field, value: object) -> tuple[int, int] | None:
    cell = cell_from_json(value)
    if cell is not None and not (1 <= cell[0] <= field.rows and 1 <= cell[1] <= field.columns):
        raise InputError(f"there is no hole at row {cell[0]}, column {cell[1]}")
    return cell


# Answers


def _answer(rulings: tuple[Ruling, ...], standing: Standing) -> Json:
    """One answer for all rulings on a line: the gravest speaks, a flick's before what follows from it."""
    chosen = max(rulings, key=_weight)
    said = ruling_to_json(chosen)
    answer: Json = {
        **{key: said[key] for key in ("ruling", "rule", "why")},
        "orders": [order for ruling in rulings for order in ruling_to_json(ruling)["orders"]],
    }
    for ruling in rulings:
        match ruling:
            case Undecided():
                answer["candidates"] = list(ruling.candidates)
            case Accepted(event=Shot() as shot):
                answer |= {"n": shot.n, "left_board": shot.left_board}
            case Accepted(event=GameOver() as over):
                answer |= {
                    "points": over.points,
                    "match": over.match,
                    "winner": over.match_winner,
                    "next_starter": over.next_starter,
                    "sudden_death": over.sudden_death,
                    "count": over.count,
                    "game_winner": over.winner,
                }
    return {**answer, "events": events_to_json(rulings), "state": standing_to_json(standing)}


def _weight(ruling: Ruling) -> tuple[bool, bool, bool]:
    shot = isinstance(ruling, Accepted) and isinstance(ruling.event, Shot)
    return isinstance(ruling, Refused), isinstance(ruling, Undecided), shot
