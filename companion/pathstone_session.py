"""The loop for a table of Pathstone: pictures -> settle -> the belief of the game -> rulings."""

from collections.abc import Callable, Iterable, Sequence

from companion.games.pathstone import Belief, believe, judge_look, start
from companion.ruling import Ruling
from companion.settle import Patience, Settle, Stage
from companion.squares import SquaresCamera
from vision.board import Profile
from vision.calibration import Calibration, CalibrationError, calibrate
from vision.camera import Frame, is_blank
from vision.lattice import find_board


class PathstoneSession:
    """One table of Pathstone with its camera. `run` takes pictures until they end; `tell` hears what is ruled."""

    def __init__(
        self,
        profile: Profile,
        tell: Callable[[Frame, tuple[Ruling, ...]], None],
        *,
        corners_px: Sequence[tuple[float, float]] | None = None,
        a_side: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.belief: Belief = believe(start(profile.board.rows))
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
        self._camera: SquaresCamera | None = None

    def run(self, frames: Iterable[Frame | None]) -> None:
        """Takes pictures until they end. Raises CameraError, and CalibrationError for impossible corners."""
        for frame in frames:
            if frame is not None:
                self._see(frame)

    def _see(self, frame: Frame) -> None:
        self.frames = frame.n + 1
        if is_blank(frame.image_bgr):
            self.blank += 1
            self.trouble = "the pictures are black or one grey; take off the lens cap, give more light"
            return
        camera = self._camera_for(frame)
        if camera is None:
            return
        glance = camera.watch(frame)
        self._settle = self._settle.after(
            frame.t_s, moved=glance.moved and not self._each_at_rest, hand=glance.hand, changed=glance.changed
        )
        if self._settle.stage is not Stage.SETTLED:
            return
        look = camera.look(frame, self.belief)
        if look is None:
            return
        self._settle = self._settle.looked()
        self.belief, rulings = judge_look(self.belief, look)
        self._tell(frame, rulings)

    def _camera_for(self, frame: Frame) -> SquaresCamera | None:
        size_wh = (frame.image_bgr.shape[1], frame.image_bgr.shape[0])
        if self._camera is not None and self._camera.calibration.size_wh == size_wh:
            return self._camera
        try:
            self._camera = SquaresCamera(self._profile, self._calibration(frame, size_wh))
        except CalibrationError as error:
            if self._corners_px is not None:
                raise
            self._camera = None
            self.trouble = f"the board is not found: {error}"
            return None
        self.trouble = ""
        return self._camera

    def _calibration(self, frame: Frame, size_wh: tuple[int, int]) -> Calibration:
        if self._corners_px is None:
            return find_board(frame.image_bgr, self._profile, self._a_side)
        corners_mm = self._profile.board.corners_mm()
        return calibrate(self._corners_px, corners_mm, size_wh, self._profile.fov_x_deg)
