"""The loop for a table of Pathstone: pictures -> settle -> the series -> store, and in between what people say."""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, Queue

from companion.games.pathstone import Belief, Look
from companion.games.pathstone.looks import TOPS
from companion.games.pathstone.series import Begin, Input, Seen, Series, take
from companion.live import Live, Watch
from companion.ruling import Ruling
from companion.settle import Patience, Settle, Stage
from companion.squares import SquaresCamera
from companion.store import Match, PathstoneStore, StoreError
from vision.board import Profile
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.camera import CameraError, Frame, is_blank
from vision.lattice import find_board

_log = logging.getLogger(__name__)

_FIND_EVERY_S = 0.5
"""Finding a board takes several pictures' time."""
_SURE = 0.75
"""A square whose likeliest top has less than this share is shown as not sure."""
_WATCH = {
    Stage.MOVING: (Watch.MOVING, "something moves on the table"),
    Stage.HAND: (Watch.HAND, "a hand is over the table"),
    Stage.RESTING: (Watch.MOVING, "the table is coming to rest"),
    Stage.SETTLED: (Watch.WATCHING, ""),
    Stage.STEADY: (Watch.WATCHING, ""),
}


class PathstoneSession:
    """One table of Pathstone and its players: `run` takes pictures until they end, `sense` goes without a camera.

    `tell` hears what is ruled on each input. What people say comes by the queue `said`.
    """

    def __init__(
        self,
        profile: Profile | None,
        tell: Callable[[Input, tuple[Ruling, ...]], None],
        *,
        corners_px: Sequence[tuple[float, float]] | None = None,
        a_side: str | None = None,
        patience: Patience | None = None,
        series: Series | None = None,
        store: PathstoneStore | None = None,
        match: Match | None = None,
        live: Live | None = None,
        said: Queue[Input] | None = None,
    ) -> None:
        """A profile is needed where pictures are taken."""
        self.series = series
        self.frames = 0
        self.blank = 0
        """Pictures that showed nothing at all."""
        self.trouble = ""
        """Why the board is not watched, while it is not."""
        self._profile = profile
        self._tell = tell
        self._corners_px = corners_px
        self._a_side = a_side
        self._each_at_rest = patience is not None and patience.frames <= 1
        self._settle = Settle(patience or Patience())
        self._store = store
        self._match = match
        self._live = live or Live()
        self._said: Queue[Input] = said or Queue()
        self._camera: SquaresCamera | None = None
        self._find_at_s = 0.0
        self._tops: tuple[str, ...] = ()
        """What was read on the squares of the table as it rests."""

    @property
    def belief(self) -> Belief | None:
        """What is believed of the game being played."""
        return None if self.series is None else self.series.game.belief

    def run(self, frames: Iterable[Frame | None]) -> None:
        """Takes pictures until they end. Raises CameraError, CalibrationError for impossible corners, StoreError."""
        try:
            for frame in frames:
                self._hear()
                if frame is not None:
                    self._see(frame)
            self._hear()
        except (CameraError, CalibrationError, StoreError):
            raise
        except Exception:
            _log.exception("the session ends at picture %d", self.frames)
            raise

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes by what people say alone, for as long as it ticks. Raises StoreError."""
        self._live.watch(Watch.WATCHING)
        for _ in ticks:
            self._hear()
        self._hear()

    def say(self, given: Input) -> None:
        """Takes what a person says."""
        self._take(given)

    def _hear(self) -> None:
        while True:
            try:
                given = self._said.get_nowait()
            except Empty:
                return
            self._take(given)

    def _take(self, given: Input) -> None:
        before = self.series
        self.series, rulings = take(before, given)
        if self._store is not None and (rulings or self.series != before):
            if isinstance(given, Begin) and self.series is not before:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)

    def _see(self, frame: Frame) -> None:
        self.frames = frame.n + 1
        if is_blank(frame.image_bgr):
            self.blank += 1
            self.trouble = "the pictures are black or one grey; take off the lens cap, give more light"
            self._live.watch(Watch.CAMERA_LOST, self.trouble)
            return
        camera = self._camera_for(frame)
        if camera is None:
            self._live.watch(Watch.BOARD_LOST, self.trouble)
            self._live.show(frame.image_bgr)
            return
        other = self._other_size()
        if other:
            self._live.watch(Watch.BOARD_LOST, other)
            self._live.show(frame.image_bgr)
            return
        glance = camera.watch(frame)
        self._settle = self._settle.after(
            frame.t_s, moved=glance.moved and not self._each_at_rest, hand=glance.hand, changed=glance.changed
        )
        self._live.watch(*_WATCH[self._settle.stage])
        if self._settle.stage is Stage.SETTLED:
            self._look(camera, frame)
        elif self._settle.stage is not Stage.STEADY:
            self._tops = ()
        self._live.show(frame.image_bgr, camera.calibration, tops=self._tops)

    def _other_size(self) -> str:
        """Why the camera cannot referee the game that is being played, where that is on another board; or nothing."""
        assert self._profile is not None  # pictures come with a board
        size, belief = self._profile.board.rows, self.belief
        if belief is None or belief.over or belief.state.size == size:
            return ""
        game = belief.state.size
        return f"the camera watches {size}x{size} squares, this game has {game}x{game}; start another series"

    def _look(self, camera: SquaresCamera, frame: Frame) -> None:
        belief = self.belief
        look = None if belief is None else camera.look(frame, belief)
        if look is None:
            return
        self._settle = self._settle.looked()
        self._tops = tops_in(look)
        self._take(Seen(look, frame.n, frame.t_s))

    def _camera_for(self, frame: Frame) -> SquaresCamera | None:
        assert self._profile is not None  # pictures come with a board
        size_wh = (frame.image_bgr.shape[1], frame.image_bgr.shape[0])
        if self._camera is not None and self._camera.calibration.size_wh == size_wh:
            return self._camera
        if self._camera is None and frame.t_s < self._find_at_s and not self._each_at_rest:
            return None
        try:
            self._camera = SquaresCamera(self._profile, self._calibration(self._profile, frame, size_wh))
        except CalibrationError as error:
            if self._corners_px is not None:
                raise
            self._camera = None
            self._find_at_s = frame.t_s + _FIND_EVERY_S
            self.trouble = f"the board is not found: {error}"
            return None
        self.trouble = ""
        return self._camera

    def _calibration(self, profile: Profile, frame: Frame, size_wh: tuple[int, int]) -> Calibration:
        if self._corners_px is None:
            return find_board(frame.image_bgr, profile, self._a_side)
        return calibrate(self._corners_px, profile.board.corners_mm(), size_wh, profile.fov_x_deg)


def tops_in(look: Look) -> tuple[str, ...]:
    """The tops that a look tells by itself, a string a rank from rank 1 on; ? where none is sure."""
    size = math.isqrt(len(look.tops))
    signs = [_top_in(tops) for tops in look.tops]
    return tuple("".join(signs[n : n + size]) for n in range(0, len(signs), size))


def _top_in(tops: tuple[float, ...]) -> str:
    likeliest = max(tops)
    share = 1 / sum(math.exp(top - likeliest) for top in tops)
    return TOPS[tops.index(likeliest)] if share >= _SURE else "?"
