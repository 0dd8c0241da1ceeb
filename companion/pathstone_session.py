"""The loop for a table of Pathstone: pictures -> settle -> the series -> store, and in between what people say."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import Queue

from companion.games.pathstone import Belief
from companion.games.pathstone.series import Begin, Input, Said, Saying, Seen, Series, take
from companion.live import Live, Watch
from companion.loop import Corners, Loop
from companion.pathstone_grid import SquaresGrid
from companion.ruling import Ruling
from companion.settle import Patience, Stage
from companion.sources import Place
from companion.squares import SquaresCamera
from companion.store import Match, PathstoneStore, Resume
from companion.terms import Cell
from vision.board import Profile
from vision.calibration import calibrate
from vision.camera import Frame
from vision.lattice import find_board

_SEEK_EVERY_S = 1.0
"""A board that has left its place takes long to seek."""


class PathstoneSession(Loop[Input | Resume]):
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
        said: Queue[Input | Resume] | None = None,
        grid: SquaresGrid | None = None,
    ) -> None:
        """A profile is needed where pictures are taken."""
        super().__init__(patience, live, said, corners_px)
        self.series = series
        self._profile = profile
        self._tell = tell
        self._a_side = a_side
        self._store = store
        self._match = match
        self._camera: SquaresCamera | None = None
        self._grid = grid
        self._rulings: tuple[Ruling, ...] = ()
        """The last that were given."""
        self._rests = False
        """Whether the table rests as it was read."""

    @property
    def belief(self) -> Belief | None:
        """What is believed of the game being played."""
        return None if self.series is None else self.series.game.belief

    def sense(self, ticks: Iterable[None]) -> None:
        """Goes by what people say alone, for as long as it ticks. Raises StoreError."""
        self._live.watch(Watch.WATCHING)
        for _ in ticks:
            self._hear()
            belief = self.belief
            if self._grid is not None:
                self._light(() if belief is None else self._grid.differing(belief.lines[0].state))
        self._hear()

    def _hear(self) -> None:
        if self._grid is not None:
            self._grid.hear()
        super()._hear()

    def _go_on(self) -> None:
        self._judge(None)
        self._light()

    def _judge(self, seen: Seen | None) -> None:
        """Takes what the camera saw, by and by with what the sensors tell."""
        witnessed = seen if self._grid is None else self._grid.witness(seen)
        if witnessed is not None:
            self._take(witnessed)

    def _light(self, differing: tuple[Cell, ...] = ()) -> None:
        if self._grid is not None:
            self._grid.light(self.series, self._rulings, self._live.tapped(), differing)

    def _take(self, given: Input | Resume) -> None:
        if isinstance(given, Resume):
            if self._store is not None:
                self.series, self._match = self._store.resume(given.match), given.match
                self._take(Saying(Said.GO_ON))
            return
        before = self.series
        self.series, rulings = take(before, given)
        self._rulings = rulings or self._rulings
        if self.series is not before:
            # Whoever thought of moving a piece thought of another position.
            self._live.tap(None)
        if self._store is not None and (rulings or self.series != before):
            if isinstance(given, Begin) and self.series is not before:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)

    def _see(self, frame: Frame) -> None:
        if self._shows_nothing(frame):
            return
        camera = self._camera = self._over(frame, self._camera, partial(self._squares_camera, frame))
        if camera is None:
            self._not_watched(frame, self.trouble)
            return
        other = self._other_size()
        if other:
            self._not_watched(frame, other)
            return
        patience = self._settle.patience
        glance = camera.watch(frame)
        # A hand that keeps still may be no hand: the camera was knocked.
        asked = glance.hand and (self._settle.frames == patience.frames or self._each_at_rest)
        if asked and camera.follow(frame) is Place.MOVED:
            glance = camera.watch(frame)
        changed = glance.changed or (self._grid is not None and self._grid.has_changed())
        if self._settled(frame, glance, changed=changed):
            self._look(camera, frame)
        elif self._settle.stage is not Stage.STEADY:
            self._rests = False
        self._live.show(frame.image_bgr, camera.calibration, tops=camera.tops if self._rests else ())

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
        if belief is None:
            return
        waited = self._settle.rest_s >= self._settle.patience.hand_s
        if frame.t_s < self._find_at_s and not self._each_at_rest:
            lost = True
        else:
            lost = camera.follow(frame) is Place.LOST and not (waited and camera.find_anywhere(frame))
            self._find_at_s = frame.t_s + _SEEK_EVERY_S if lost else 0.0
        if lost:
            self._live.watch(Watch.BOARD_LOST, "the board is not where it was; show all of it to the camera")
            return
        look = camera.look(frame, belief)
        if look is None:
            return
        self._settle = self._settle.looked()
        self._rests = True
        self._judge(Seen(look, frame.n, frame.t_s))

    def _squares_camera(self, frame: Frame, corners_px: Corners | None) -> SquaresCamera:
        profile = self._profile
        assert profile is not None  # pictures come with a board
        if corners_px is None:
            return SquaresCamera(profile, find_board(frame.image_bgr, profile, self._a_side))
        size_wh = (frame.image_bgr.shape[1], frame.image_bgr.shape[0])
        return SquaresCamera(profile, calibrate(corners_px, profile.board.corners_mm(), size_wh, profile.fov_x_deg))
