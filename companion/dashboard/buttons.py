"""What people can say at each moment: the buttons of the page, and what each sends."""

from typing import Any

from companion.dashboard.words import Words
from companion.games.position import State
from companion.inputs import Declared

Json = dict[str, Any]

_CONFIRM_END = "End this game now? What lies in the holes is counted."


def buttons(phase: str, game: State, words: Words) -> list[Json]:
    """The buttons for a phase of the page, most likely first; `path` and `body` are what a press posts."""
    undo = button("Undo", "u", "/undo", {"before": None})
    not_a_flick = _declare("Not a flick", "n", Declared.NOT_A_FLICK)
    end_game = {**_declare("End game", "e", Declared.END_GAME), "confirm": _CONFIRM_END}
    match phase:
        case "ask":
            choices = game.questions[0].candidates
            accept = [_answer(words.candidate(choice), k, choice) for k, choice in enumerate(choices, 1)]
            return [*accept, not_a_flick, undo, end_game]
        case "clear" | "flick":
            illegal_flick = _declare("Illegal flick", "i", Declared.ILLEGAL_FLICK)
            flick_lost = _declare("Flick lost", "l", Declared.FLICK_LOST)
            return [not_a_flick, illegal_flick, flick_lost, undo, end_game]
        case "game-over":
            return [_declare("Next game", " ", Declared.NEXT_GAME, "primary"), undo]
        case _:
            return [undo]


def _answer(label: str, number: int, choice: str) -> Json:
    return button(label, str(number), "/declare", {"what": Declared.ACCEPT.value, "choice": choice}, "answer")


def _declare(label: str, key: str, what: Declared, kind: str = "") -> Json:
    return button(label, key, "/declare", {"what": what.value, "choice": None}, kind)


def button(label: str, key: str, path: str, body: Json, kind: str = "") -> Json:
    """A button that posts `body` to `path` when it, or its key, is pressed."""
    return {
        "label": label,
        "key": key,
        "path": path,
        "body": body,
        "kind": kind,
        "confirm": None,
        "choices": None,
    }
