"""What people can say at each moment: the buttons of the page, and what each sends."""

from typing import Any

from companion.dashboard.words import Words, sentence
from companion.inputs import Declared
from companion.ruling import Undecided

Json = dict[str, Any]

_CONFIRM_END = "End this game now? What lies in the holes is counted."


def buttons(phase: str, questions: tuple[Undecided, ...], words: Words) -> list[Json]:
    """The buttons for a phase of the page, most likely first; `path` and `body` are what a press posts."""
    undo = _button("Undo", "u", "/undo", {"before": None})
    match phase:
        case "ask":
            asked = questions[0]
            answers = [
                _button(words.candidate(choice), str(k), "/declare", {"what": "accept", "choice": choice}, "answer")
                for k, choice in enumerate(asked.candidates, 1)
            ]
            return [*answers, _declare("Not a flick", "n", Declared.NOT_A_FLICK), undo]
        case "clear" | "flick":
            accept = [_declare("It is done", " ", Declared.ACCEPT, "primary")] if phase == "clear" else []
            return [
                *accept,
                _declare("Not a flick", "n", Declared.NOT_A_FLICK),
                _declare("Illegal flick", "i", Declared.ILLEGAL_FLICK),
                _declare("Flick lost", "l", Declared.FLICK_LOST),
                undo,
                {**_declare("End game", "e", Declared.END_GAME), "confirm": _CONFIRM_END},
            ]
        case "game-over":
            return [_declare("Next game", " ", Declared.NEXT_GAME, "primary"), undo]
        case "match-over":
            return [undo]
        case _:
            return []


def _declare(label: str, key: str, what: Declared, kind: str = "") -> Json:
    return _button(label, key, "/declare", {"what": what.value, "choice": None}, kind)


def _button(label: str, key: str, path: str, body: Json, kind: str = "") -> Json:
    return {"label": sentence(label), "key": key, "path": path, "body": body, "kind": kind, "confirm": None}
