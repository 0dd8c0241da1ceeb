"""The one loop: pictures and sensors -> settle -> referee -> store -> lights, and in between what people say."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Queue

from companion.grid import ALONE_REST_S, BoardGrid
from companion.inputs import Correction, Declaration, Declared, Input, Look
from companion.live import Live, Watch
from companion.loop import Loop
from companion.referee import Referee
from companion.ruling import Ruling
from companion.settle import Patience
from companion.sources import BoardCamera, Place, board_camera
from companion.store import Match, Store
from vision.board import Profile
from vision.camera import Frame


class Session(Loop[Declaration | Correction]):
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
        super().__init__(patience, live, said, corners_px)
        self.referee = referee
        self._profile = profile
        self._tell = tell
        self._a_side = a_side
        self._store = store
        self._match = match
        self._camera: BoardCamera | None = None
        self._grid = grid
        self._rulings: tuple[Ruling, ...] = ()
        """The last that were given."""

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

    def _hear(self) -> None:
        if self._grid is not None:
            self._grid.hear()
        super()._hear()

    def _known_of_pictures(self) -> Iterator[str]:
        if self._camera is not None and self._camera.smears():
            yield "smeared"
        if self._grid is not None and self._grid.mirrored:
            yield "mirrored"

    def _go_on(self) -> None:
        self._look(None)
        self._light()

    def _look(self, look: Look | None) -> None:
        """Takes the camera's look, by and by with what the sensors tell."""
        seen = look if self._grid is None else self._grid.witness(look, self.referee.standing)
        if seen is not None:
            self._take(seen)

    def _light(self) -> None:
        if self._grid is not None:
            self._grid.light(self.referee.standing, self._rulings)

    def _see(self, frame: Frame) -> None:
        if self._shows_nothing(frame):
            return
        camera = self._camera = self._over(
            frame, self._camera, lambda corners_px: board_camera(frame, self._profile, corners_px, self._a_side)
        )
        if camera is None:
            self._not_watched(frame, self.trouble)
            return
        patience = self._settle.patience
        glance = camera.watch(frame)
        # A hand that keeps still may be no hand: the camera was knocked.
        asked = glance.hand and (self._settle.frames == patience.frames or self._each_at_rest)
        if asked and camera.follow(frame) is Place.MOVED:
            glance = camera.watch(frame)
        changed = glance.changed or (self._grid is not None and self._grid.has_changed())
        if self._settled(frame, glance, changed=changed):
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

    def _take(self, given: Input) -> None:
        rulings = self.referee.take(given)
        self._rulings = rulings or self._rulings
        if self._store is not None:
            if isinstance(given, Declaration) and given.what is Declared.START:
                self._match = self._store.begin(given, rulings)
            elif self._match is not None:
                self._store.append(self._match, given, rulings)
        self._tell(given, rulings)
