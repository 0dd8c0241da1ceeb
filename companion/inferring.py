"""How fast a move of Pathstone is inferred from one picture, beside decoding that picture."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from companion.bench import Row
from companion.games.pathstone import Belief, State, believe, judge_look
from companion.squares import SquaresCamera
from vision.board import Image, Profile
from vision.calibration import Calibration
from vision.camera import Frame, decode


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A move in the middle of a game, and pictures before and after it."""

    state: State
    before_bgr: Image
    after_jpeg: bytes
    calibration: Calibration
    profile: Profile


def infer(turn: Turn) -> tuple[Belief, float, float]:
    """What is believed after the move, by its picture; the milliseconds that took, and those of decoding it."""
    belief = believe(turn.state)
    camera = SquaresCamera(turn.profile, turn.calibration)
    first = Frame(0, 0.0, turn.before_bgr)
    camera.watch(first)
    camera.look(first, belief)
    begin = time.perf_counter()
    image_bgr = decode(turn.after_jpeg)
    decoded = time.perf_counter()
    assert image_bgr is not None
    frame = Frame(1, 1.0, image_bgr)
    camera.watch(frame)
    camera.follow(frame)
    look = camera.look(frame, belief)
    if look is not None:
        belief, _ = judge_look(belief, look)
    return belief, (time.perf_counter() - decoded) * 1000, (decoded - begin) * 1000


def move_row(turns: Sequence[Turn]) -> Row:
    """The median over turns on one board."""
    taken = [infer(turn)[1:] for turn in turns]
    ours, peer = (round(statistics.median(times), 2) for times in zip(*taken, strict=True))
    size, (width, height) = turns[0].state.size, turns[0].calibration.size_wh
    name = f"a move of Pathstone inferred from one {width} x {height} picture, {size}x{size} in mid-game (at most 300)"
    return Row(f"{name}, beside decoding it", ours, peer, "ms")
