"""Claims about a camera over stacks that is knocked: the board is found again, and the game goes on without a word."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from companion.games.pathstone import write_move
from companion.games.pathstone.series import Begin
from companion.live import Live, Watch
from companion.pathstone_session import PathstoneSession
from companion.ruling import Accepted
from companion.settle import SETTLED_ALREADY, Patience
from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.squares import Room, Scene, Sizes
from hardware_sims.stacks import StacksTable
from hardware_sims.view import View
from vision.board import Pieces, Profile, SquaresBoard
from vision.calibration import Calibration, CalibrationError
from vision.camera import Frame
from vision.follow import follow_board

BOARD = SquaresBoard(4, 4, 50.0)
VIEW = View((960, 720), fov_x_deg=40.0, tilt_deg=15.0, distance_mm=520.0)
PROFILE = Profile(BOARD, (("a", (202, 222, 230)), ("b", (52, 68, 90))), fov_x_deg=40.0, pieces=Pieces())
ROOM = Room(colours=(("a", (0.78, 0.73, 0.6)), ("b", (0.1, 0.06, 0.035))))
SETTINGS = Settings(oversampling=1, exposure=0.9, jpeg_quality=None)
MOVES = ("a1", "d4", "b2", "b3", "Sc3", "b3-", "d1", "2b2>")
CORNERS_PX = VIEW.calibration(BOARD).project(BOARD.corners_mm()).tolist()
AWAY = replace(VIEW, aim_mm=(330.0, 0.0))


class Watched:
    """A table of stacks under a camera that can be knocked, refereed; `show` gives the session its pictures."""

    def __init__(self, patience: Patience, seed: int = 3) -> None:
        self.table = StacksTable(BOARD, seed=seed)
        self.camera = Camera(Scene(BOARD, Sizes(), ROOM), VIEW, replace(SETTINGS, seed=seed))
        self.live = Live()
        self.refused: list[str] = []
        self.session = PathstoneSession(PROFILE, self._hear, corners_px=CORNERS_PX, patience=patience, live=self.live)
        self._shown = 0
        self._count = 1 if patience is SETTLED_ALREADY else 8

    def _hear(self, _given: object, rulings: tuple[object, ...]) -> None:
        self.refused += [str(ruling) for ruling in rulings if not isinstance(ruling, Accepted)]

    def show(self, arms: tuple[Arm, ...] = (), count: int | None = None) -> None:
        self.session.run(self._frames(arms, count or self._count))

    def _frames(self, arms: tuple[Arm, ...], count: int) -> Iterator[Frame]:
        for _ in range(count):
            image = self.camera.read(self.table.pieces(), arms)
            assert image is not None
            yield Frame(self._shown, self._shown / 15, image)
            self._shown += 1

    def moves(self) -> list[str]:
        assert self.session.series is not None
        return [write_move(move) for move in self.session.series.game.moves]

    def off_mm(self) -> float:
        """How far the session has the board's corners from where they are."""
        picture = self.live.picture()
        assert picture is not None
        assert picture.calibration is not None
        return off_mm(picture.calibration, self.camera.view)


def off_mm(found: Calibration, view: View) -> float:
    right = view.calibration(BOARD)
    off_px = np.linalg.norm(found.project(BOARD.corners_mm()) - right.project(BOARD.corners_mm()), axis=1).max()
    return float(off_px / right.px_per_mm())


@pytest.mark.parametrize("patience", [SETTLED_ALREADY, Patience()], ids=["pictures at rest", "live"])
def test_a_game_goes_on_under_a_camera_that_is_knocked_before_every_other_move(patience):
    watched = Watched(patience)
    watched.show()
    watched.camera.bump()  # also before the game
    watched.session.say(Begin(("Ada", "Ben"), 4))
    watched.show()
    for n, move in enumerate(MOVES):
        if n % 2:
            watched.camera.bump()
            if n % 4 == 1:
                watched.show()
        watched.table.play(move)
        watched.show()
        assert watched.off_mm() < 1.0, move
    assert watched.moves() == list(MOVES)
    assert watched.refused == []


def test_a_camera_turned_away_is_told_and_goes_on_when_it_is_back():
    watched = Watched(Patience())
    watched.session.say(Begin(("Ada", "Ben"), 4))
    watched.show()
    for move in MOVES[:4]:
        watched.table.play(move)
        watched.show()
    watched.camera.move(AWAY)
    watched.show(count=12)
    assert watched.live.watching()[0] in (Watch.BOARD_LOST, Watch.HAND)
    watched.show(count=95)
    assert watched.live.watching()[0] is Watch.BOARD_LOST
    watched.camera.move(replace(VIEW, roll_deg=9.0, aim_mm=(14.0, -8.0)))
    watched.show(count=30)
    assert watched.live.watching()[0] is Watch.WATCHING
    watched.table.play(MOVES[4])
    watched.show()
    assert watched.moves() == list(MOVES[:5])
    assert watched.refused == []
    assert watched.off_mm() < 1.0


def picture(camera: Camera, table: StacksTable, arms: tuple[Arm, ...] = ()) -> np.ndarray:
    image = camera.read(table.pieces(), arms)
    assert image is not None
    return image


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("roll_deg", "aim_mm", "tilt_deg", "arms"),
    [
        (1.0, (8.0, -5.0), 1.0, ()),
        (1.0, (-8.0, 5.0), -1.0, (Arm((60.0, 40.0, 20.0), -90.0),)),
        (0.0, (50.0, 0.0), 0.0, ()),  # by a whole square
        (-20.0, (25.0, 30.0), 3.0, ()),
        (90.0, (0.0, 0.0), 0.0, ()),
    ],
)
def test_the_board_is_found_again_to_a_millimetre(seed, roll_deg, aim_mm, tilt_deg, arms):
    table = StacksTable(BOARD, seed=seed)
    for move in MOVES[:-1]:
        table.play(move)
    camera = Camera(Scene(BOARD, Sizes(), replace(ROOM, seed=seed)), VIEW, replace(SETTINGS, seed=seed))
    before = picture(camera, table)
    table.play(MOVES[-1])
    camera.move(replace(VIEW, roll_deg=roll_deg, aim_mm=aim_mm, tilt_deg=VIEW.tilt_deg + tilt_deg))
    after = picture(camera, table, arms)
    found = follow_board(before, after, VIEW.calibration(BOARD), BOARD.corners_mm())
    assert off_mm(found, camera.view) < 1.0
    again = follow_board(after, picture(camera, table, arms), found, BOARD.corners_mm())
    assert again is found


def test_what_is_not_seen_again_is_told():
    camera = Camera(Scene(BOARD, Sizes(), ROOM), VIEW, SETTINGS)
    table = StacksTable(BOARD)
    before, calibration = picture(camera, table), VIEW.calibration(BOARD)
    camera.move(AWAY)
    for after in (picture(camera, table), np.zeros_like(before), before[:-100].copy()):
        with pytest.raises(CalibrationError, match=r"not seen again|two sizes"):
            follow_board(before, after, calibration, BOARD.corners_mm())
    with pytest.raises(CalibrationError, match="not seen again"):
        follow_board(np.full_like(before, 90), before, calibration, BOARD.corners_mm())
