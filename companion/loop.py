"""What the loops of all games have in common: pictures come and settle, and in between what people say."""

import logging
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, Queue
from typing import ClassVar, Generic, Protocol, TypeVar

from companion.conditions import Conditions
from companion.live import Live, Watch
from companion.settle import Patience, Settle, Stage
from companion.sources import Glance
from companion.store import StoreError
from vision.calibration import Calibration, CalibrationError
from vision.camera import CameraError, Frame, is_blank

_log = logging.getLogger(__name__)

_FIND_EVERY_S = 0.5
"""Finding a board takes several pictures' time."""
_WATCH = {
    Stage.MOVING: (Watch.MOVING, "something moves on the table"),
    Stage.HAND: (Watch.HAND, "a hand is over the table"),
    Stage.RESTING: (Watch.MOVING, "the table is coming to rest"),
    Stage.SETTLED: (Watch.WATCHING, ""),
    Stage.STEADY: (Watch.WATCHING, ""),
}

Corners = Sequence[tuple[float, float]]
Said = TypeVar("Said")


class Over(Protocol):
    """A camera that knows where it looks at the board from."""

    calibration: Calibration


Eye = TypeVar("Eye", bound=Over)


class Loop(Generic[Said]):
    """A table's loop, for a game's session to fill in: what it takes in (`_take`) and sees (`_see`)."""

    _tells_lens: ClassVar[bool] = True
    """Whether a board that lies off its calibration tells of the lens."""

    def __init__(
        self, patience: Patience | None, live: Live | None, said: Queue[Said] | None, corners_px: Corners | None = None
    ) -> None:
        self.frames = 0
        self.blank = 0
        """Pictures that showed nothing at all."""
        self.trouble = ""
        """Why the board is not watched, while it is not."""
        self._each_at_rest = patience is not None and patience.frames <= 1
        self._settle = Settle(patience or Patience())
        self._live = live or Live()
        self._conditions = None if live is None else Conditions(lens=self._tells_lens)
        self._said: Queue[Said] = said or Queue()
        self._corners_px = corners_px
        self._find_at_s = 0.0

    def run(self, frames: Iterable[Frame | None]) -> None:
        """Takes pictures until they end. Raises CameraError, CalibrationError for impossible corners, StoreError."""
        try:
            for frame in frames:
                self._hear()
                if frame is not None:
                    self._see(frame)
                    self._judge_picture(frame)
                self._go_on()
            self._hear()
        except (CameraError, CalibrationError, StoreError):
            raise
        except Exception:
            _log.exception("the session ends at picture %d", self.frames)
            raise

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes without a camera, for as long as it ticks. Raises StoreError."""
        raise NotImplementedError

    def say(self, given: Said) -> None:
        """Takes what a person says."""
        self._take(given)

    def _take(self, given: Said) -> None:
        raise NotImplementedError

    def _see(self, frame: Frame) -> None:
        raise NotImplementedError

    def _go_on(self) -> None:
        """What else is to be done after each picture, and where none came."""

    def _hear(self) -> None:
        while True:
            try:
                given = self._said.get_nowait()
            except Empty:
                return
            self._take(given)

    def _judge_picture(self, frame: Frame) -> None:
        """Says what is the matter with a picture, where anybody is there to mend it."""
        if self._conditions is not None and not is_blank(frame.image_bgr):
            shown = self._live.picture()
            calibration = None if shown is None else shown.calibration
            told = self._conditions.after(frame.t_s, frame.image_bgr, calibration, self._known_of_pictures())
            self._live.judge_pictures(told)

    def _known_of_pictures(self) -> Iterable[str]:
        """What a game's session knows to be the matter with pictures, by `conditions` names."""
        return ()

    def _shows_nothing(self, frame: Frame) -> bool:
        """Counts a picture, and says so where it shows nothing at all."""
        self.frames = frame.n + 1
        if not is_blank(frame.image_bgr):
            return False
        self.blank += 1
        self.trouble = "the pictures are black or one grey; take off the lens cap, give more light"
        self._live.watch(Watch.CAMERA_LOST, self.trouble)
        return True

    def _over(self, frame: Frame, camera: Eye | None, find: Callable[[Corners | None], Eye]) -> Eye | None:
        """The camera over the board, found again when pictures change their size; None while it is not found.

        `find` is given the corners, where they are known, and raises CalibrationError.
        """
        height, width = frame.image_bgr.shape[:2]
        if camera is not None and camera.calibration.size_wh == (width, height):
            return camera
        if camera is None and frame.t_s < self._find_at_s and not self._each_at_rest:
            return None
        try:
            found = find(self._corners_px)
        except CalibrationError as error:
            if self._corners_px is not None:
                raise
            self._find_at_s = frame.t_s + _FIND_EVERY_S
            self.trouble = f"the board is not found: {error}"
            return None
        # Corners are of the first pictures' size; the next size is found without them.
        self._corners_px = None
        self.trouble = ""
        return found

    def _not_watched(self, frame: Frame, why: str) -> None:
        """Shows a picture in which the board cannot be watched."""
        self._live.watch(Watch.BOARD_LOST, why)
        self._live.show(frame.image_bgr)

    def _settled(self, frame: Frame, glance: Glance, *, changed: bool) -> bool:
        """Whether the table has settled and a look is due, after one more glance at it."""
        moved = glance.moved and not self._each_at_rest
        self._settle = self._settle.after(frame.t_s, moved=moved, hand=glance.hand, changed=changed)
        self._live.watch(*_WATCH[self._settle.stage])
        return self._settle.stage is Stage.SETTLED
