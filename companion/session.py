"""The one loop: pictures and sensors -> settle -> referee -> store -> lights, and in between what people say."""

import logging
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, Queue

from companion.grid import ALONE_REST_S, BoardGrid
from companion.inputs import Correction, Declaration, Declared, Input, Look
from companion.live import Live, Watch
from companion.referee import Referee
from companion.ruling import Ruling
from companion.settle import Patience, Settle, Stage
from companion.sources import BoardCamera, Place, board_camera
from companion.store import Match, Store, StoreError
from vision.board import Profile
from vision.calibration import CalibrationError
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


class Session:
    """One table with its camera and its players. `run` takes pictures until they end; `say` takes what people say."""

    def __init__(
        self,
        profile: Profile,
        referee: Referee,
        tell: Callable[[Input, tuple[Ruling, ...]], None],
        *,
        corners_px: Sequence[tuple[float, float]] | None = None,
        a_side: str | None = None,
        patience: Patience | None = None,
        store: Store | None = None,
        match: Match | None = None,
        live: Live | None = None,
        said: Queue[Declaration | Correction] | None = None,
        grid: BoardGrid | None = None,
    ) -> None:
        self.referee = referee
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
        self._said: Queue[Declaration | Correction] = said or Queue()
        self._camera: BoardCamera | None = None
        self._find_at_s = 0.0
        self._grid = grid
        self._rulings: tuple[Ruling, ...] = ()
        """The last that were given."""

    def run(self, frames: Iterable[Frame | None]) -> None:
        """Takes pictures until they end. Raises CameraError, CalibrationError for impossible corners, StoreError."""
        try:
            for frame in frames:
                self._hear()
                if frame is not None:
                    self._see(frame)
                self._look(None)
                self._light()
            self._hear()
        except (CameraError, CalibrationError, StoreError):
            raise
        except Exception:
            _log.exception("the session ends at picture %d", self.frames)
            raise

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes by the sensors alone, for as long as it ticks. Raises StoreError."""
        grid = self._grid
        if grid is None:
            raise ValueError("without a camera a grid is needed")
        for _ in ticks:
            self._hear()
            if not grid.is_there:
                self._live.watch(Watch.GRID_LOST, "nothing is watched until the grid is back")
            else:
                self._live.watch(Watch.WATCHING, "by its sensors alone")
                if grid.has_changed(ALONE_REST_S):
                    self._take(grid.look())
            self._light()
        self._hear()

    def say(self, given: Declaration | Correction) -> None:
        """Takes what a person says."""
        self._take(given)

    def _hear(self) -> None:
        if self._grid is not None:
            self._grid.hear()
        while True:
            try:
                given = self._said.get_nowait()
            except Empty:
                return
            self._take(given)

    def _look(self, look: Look | None) -> None:
        """Takes the camera's look, by and by with what the sensors tell."""
        seen = look if self._grid is None else self._grid.witness(look, self.referee.standing)
        if seen is not None:
            self._take(seen)

    def _light(self) -> None:
        if self._grid is not None:
            self._grid.light(self.referee.standing, self._rulings)

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
        patience = self._settle.patience
        glance = camera.watch(frame)
        # A hand that keeps still may be no hand: the camera was knocked.
        asked = glance.hand and (self._settle.frames == patience.frames or self._each_at_rest)
        if asked and camera.follow(frame) is Place.MOVED:
            glance = camera.watch(frame)
        changed = glance.changed or (self._grid is not None and self._grid.has_changed())
        self._settle = self._settle.after(
            frame.t_s, moved=glance.moved and not self._each_at_rest, hand=glance.hand, changed=changed
        )
        self._live.watch(*_WATCH[self._settle.stage])
        if self._settle.stage is Stage.SETTLED:
            look = camera.look(
                frame,
                hand=self._settle.hand_seen,
                readings=patience.readings,
                waited=self._settle.rest_s >= patience.hand_s,
            )
            if camera.lost:
                self._live.watch(Watch.BOARD_LOST, "the board is not where it was; show all of it to the camera")
            if look is not None:
                self._settle = self._settle.looked()
                self._look(look)
        self._live.show(frame.image_bgr, camera.calibration, camera.reading)

    def _camera_for(self, frame: Frame) -> BoardCamera | None:
        """The camera over the board, found again when pictures change their size; None while it is not found."""
        height, width = frame.image_bgr.shape[:2]
        if self._camera is not None and self._camera.calibration.size_wh == (width, height):
            return self._camera
        if self._camera is None and frame.t_s < self._find_at_s:
            return None
        try:
            self._camera = board_camera(frame, self._profile, self._corners_px, self._a_side)
        except CalibrationError as error:
            if self._corners_px is not None:
                raise
            self._camera = None
            self._find_at_s = frame.t_s + _FIND_EVERY_S
            self.trouble = f"the board is not found: {error}"
            return None
        # Corners are of the first pictures' size; the next size is found without them.
        self._corners_px = None
        self.trouble = ""
        return self._camera

    def _take(self, given: Input) -> None:
        rulings = self.referee.take(given)
        self._rulings = rulings or self._rulings
        if self._store is not None:
            if isinstance(given, Declaration) and given.what is Declared.START:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)
