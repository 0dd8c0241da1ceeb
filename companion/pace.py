"""How fast flicks are refereed, beside decoding their pictures alone."""

import statistics
import time
from collections.abc import Iterator, Sequence

from companion.bench import Row
from companion.inputs import Declaration, Declared, Setup
from companion.referee import Referee
from companion.session import Session
from companion.terms import Mode
from vision.board import Image, Profile
from vision.camera import Frame, decode

_FINDING = 15
"""Pictures in which the board is found and seen to be empty."""


def flick_row(pictures: Sequence[tuple[float, bytes]], profile: Profile, rounds: int = 3) -> Row:
    """Pictures (seconds, JPEG) of some flicks refereed, beside decoding them alone; the first ones find the board."""
    ours, peer = [], []
    for _ in range(rounds):
        session = Session(profile, Referee(), lambda _given, _rulings: None)
        session.say(Declaration(Declared.START, Setup(Mode.MATCH)))
        began: list[float] = []

        def frames(began: list[float] = began) -> Iterator[Frame]:
            for n, (t_s, jpeg) in enumerate(pictures):
                if n == _FINDING:
                    began.append(time.perf_counter())
                yield Frame(n, t_s, _decoded(jpeg))

        session.run(frames())
        ours.append((len(pictures) - _FINDING) / (time.perf_counter() - began[0]))
        begin = time.perf_counter()
        for _, jpeg in pictures[_FINDING:]:
            _decoded(jpeg)
        peer.append((len(pictures) - _FINDING) / (time.perf_counter() - begin))
    row = "frames of flicks refereed at 720p, one core, beside decoding them"
    return Row(row, round(statistics.median(ours), 1), round(statistics.median(peer), 1), "frames/s")


def _decoded(jpeg: bytes) -> Image:
    image = decode(jpeg)
    assert image is not None
    return image
