"""A camera over MageStone's board: watches it, and turns a picture of it at rest into a look.

What looks as it did at the last look is not read again. A square that is neither empty nor has a token that was read is
unseen; where so many are that it must be a hand, there is no look.
"""

from collections.abc import Sequence
from queue import Queue
from typing import Final, TypeVar

import numpy as np

from companion.games.magestone import CELLS, NEXUS, SEATS, Token, Unit
from companion.games.magestone.looks import Look, Top, name_of
from companion.live import Live, Watch
from companion.loop import Loop
from companion.settle import Patience, Stage
from companion.sources import Glance, NoiseMemory
from companion.terms import Cell
from vision import markers, motion
from vision.board import Image, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError
from vision.camera import Frame

_HAND_TOKENS: Final = 2.0
"""What has changed beside the board, in tokens: so much is a hand."""
_HAND_SQUARES: Final = 5
"""So many squares that cannot be told, side by side, are under a hand."""
_STAYS_S: Final = 6.0
"""What hides the same squares for so long is no hand."""
_KNOCK_PX: Final = 1.0
"""Corners that are seen further than this from where they were: the camera was knocked."""
_READ_WHOLE_SHARE: Final = 0.5
"""Of the board: a changed part larger than this is as soon read whole."""

_LOOSE = {50: Token.UNACTIVATED, 51: Token.ACTIVATED, 52: Token.GRAVESTONE}

Said = TypeVar("Said")


def top_of_mark(mark: int) -> Top:
    """What a token's mark stands for."""
    if mark in _LOOSE:
        return _LOOSE[mark]
    seat, unit = divmod(mark - 10, 10)
    return SEATS[seat], Unit(unit)


def tokens_camera(
    frame: Frame, profile: Profile, corners_px: Sequence[tuple[float, float]] | None = None
) -> "TokensCamera":
    """The camera over the board in this picture, found where no corners are given. Raises CalibrationError."""
    if corners_px is None:
        return TokensCamera(profile, markers.find_marked_board(frame.image_bgr, profile))
    size_wh = (frame.image_bgr.shape[1], frame.image_bgr.shape[0])
    given = markers.calibrate_marked(corners_px, profile.board.corners_mm(), size_wh, profile)
    return TokensCamera(profile, given)


class TokensCamera:
    """One camera over one marked board. `watch` takes every picture, `look` those of a table at rest."""

    def __init__(self, profile: Profile, calibration: Calibration) -> None:
        if not isinstance(profile.board, SquaresBoard) or profile.marks is None:
            raise ValueError("tokens are watched over a board of squares with [marks]")
        self._profile, self._board, self._marks = profile, profile.board, profile.marks
        self._noise = NoiseMemory()
        self._stand(calibration)
        self._before: Image | None = None
        self._small: Image | None = None
        self._hidden: tuple[frozenset[Cell], float] = (frozenset(), 0.0)
        """The squares that were last hidden, and since when."""

    def _stand(self, calibration: Calibration) -> None:
        """Takes the camera to stand here; what was seen from elsewhere is forgotten."""
        self.calibration = calibration
        self._view = motion.view_of_board(calibration, self._board.corners_mm(), self._marks.token_mm[0])
        self._still: motion.Still | None = None
        self._squares: markers.Squares | None = None
        self._tokens: dict[Cell, int] = {}
        self._unread: frozenset[Cell] = frozenset()

    @property
    def told(self) -> tuple[tuple[Cell, str], ...]:
        """What the last look showed on each square, by name, and ? for what is unseen."""
        named = ((cell, name_of(top_of_mark(mark))) for cell, mark in self._tokens.items())
        return (*named, *((cell, "?") for cell in self._unread))

    def watch(self, frame: Frame) -> Glance:
        """What the picture shows besides the board at rest."""
        small = motion.small_picture(frame.image_bgr, self._view)
        before, self._before, self._small = self._small, self._small, small
        if before is None or before.shape != small.shape:
            return Glance(moved=True)
        still = self._still or motion.still_from(before, self._noise.now)
        moved = motion.has_moved(small, before, still, self._view)
        if self._still is None:
            return Glance(moved)
        changed = motion.changes(small, motion.relit(self._still.picture, small), self._still)
        hand = motion.area_beside(changed, self._view) > _HAND_TOKENS * self._view.disk_px**2
        return Glance(moved, hand, hand or motion.changed_board(changed, self._view))

    def look(self, frame: Frame) -> Look | None:
        """The board in this picture, the one last watched; None under a hand."""
        self._follow(frame)
        squares = markers.see_squares(frame.image_bgr, self.calibration, self._profile)
        tokens = self._read(frame.image_bgr, squares)
        unread = frozenset(markers.unsure_squares(squares, tokens.keys(), (NEXUS,), CELLS))
        if self._is_hand(unread, frame.t_s):
            return None
        self._squares, self._tokens, self._unread = squares, tokens, unread
        if self._before is not None and self._small is not None:
            self._noise.learn(self._before, self._small)
        if self._small is not None:
            self._still = motion.still_from(self._small, self._noise.now)
        on_squares = set(CELLS)
        tops = ((cell, top_of_mark(mark)) for cell, mark in tokens.items() if cell in on_squares)
        return Look(tuple(sorted(tops, key=lambda top: top[0])), tuple(sorted(unread)))

    def _follow(self, frame: Frame) -> None:
        """Finds the board again where its marks lie elsewhere by now; a hand over them tells nothing."""
        try:
            found = markers.find_marked_board(frame.image_bgr, self._profile)
        except CalibrationError:
            return
        corners_mm = self._board.corners_mm()
        off_px = np.abs(found.project(corners_mm) - self.calibration.project(corners_mm)).max()
        if off_px > _KNOCK_PX:
            self._stand(found)
            self._small = motion.small_picture(frame.image_bgr, self._view)
            self._before = None

    def _read(self, image_bgr: Image, squares: markers.Squares) -> dict[Cell, int]:
        """The mark on each square that has one: read anew where anything has changed, or could not be read."""
        part = self._changed_part(squares)
        if part is None:
            return dict(self._tokens)
        top, left, bottom, right = part
        kept = {
            cell: mark
            for cell, mark in self._tokens.items()
            if not (top <= cell[0] < bottom and left <= cell[1] < right)
        }
        read = markers.read_tokens(image_bgr, self.calibration, self._profile, part)
        return {**kept, **{token.cell: token.mark for token in read}}

    def _changed_part(self, squares: markers.Squares) -> markers.Part | None:
        whole = (0, 0, self._board.rows, self._board.columns)
        if self._squares is None:
            return whole
        changed = markers.changed_squares(self._squares, squares)
        for cell in self._unread:
            changed[cell] = True
        if not changed.any():
            return None
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        # A token may lie over the line to the next square.
        top, left = max(int(rows[0]) - 1, 0), max(int(columns[0]) - 1, 0)
        bottom, right = min(int(rows[-1]) + 2, whole[2]), min(int(columns[-1]) + 2, whole[3])
        small = (bottom - top) * (right - left) <= _READ_WHOLE_SHARE * self._board.rows * self._board.columns
        return (top, left, bottom, right) if small else whole

    def _is_hand(self, hidden: frozenset[Cell], t_s: float) -> bool:
        if _largest(hidden) < _HAND_SQUARES:
            self._hidden = frozenset(), t_s
            return False
        before, since_s = self._hidden
        if len(hidden & before) < 0.8 * len(hidden | before):
            since_s = t_s
        self._hidden = hidden, since_s
        return t_s - since_s < _STAYS_S


def _largest(cells: frozenset[Cell]) -> int:
    """How many squares the largest group has whose squares touch each other."""
    left, largest = set(cells), 0
    while left:
        group, edge = 0, [left.pop()]
        while edge:
            row, column = edge.pop()
            group += 1
            near = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= near
            edge += near
        largest = max(largest, group)
    return largest


class TokensLoop(Loop[Said]):
    """A table's loop with a camera over MageStone's board, for a session to fill in what it does with a look."""

    _tells_lens = False  # marks are found less exactly than a lens bends

    def __init__(
        self,
        profile: Profile | None,
        *,
        corners_px: Sequence[tuple[float, float]] | None = None,
        patience: Patience | None = None,
        live: Live | None = None,
        said: Queue[Said] | None = None,
    ) -> None:
        """A profile is needed where pictures are taken."""
        super().__init__(patience, live, said, corners_px)
        self._profile = profile
        self._camera: TokensCamera | None = None
        self._rests = False
        """Whether the table rests as it was read"""

    def _looked(self, look: Look, frame: Frame) -> None:
        """What to do with a look."""
        raise NotImplementedError

    def _see(self, frame: Frame) -> None:
        if self._shows_nothing(frame):
            return
        profile = self._profile
        assert profile is not None  # pictures come with a board
        camera = self._camera = self._over(
            frame, self._camera, lambda corners_px: tokens_camera(frame, profile, corners_px)
        )
        if camera is None:
            self._not_watched(frame, self.trouble)
            return
        glance = camera.watch(frame)
        # A picture that was taken of a table at rest shows by its squares whether a hand is over them.
        if self._each_at_rest:
            glance = Glance(moved=False, changed=glance.changed)
        if self._settled(frame, glance, changed=glance.changed):
            look = camera.look(frame)
            if look is None:
                self._live.watch(Watch.HAND, "a hand is over the table")
            else:
                self._settle = self._settle.looked()
                self._rests = True
                self._looked(look, frame)
        elif self._settle.stage is not Stage.STEADY:
            self._rests = False
        self._live.show(frame.image_bgr, camera.calibration, tokens=camera.told if self._rests else ())
