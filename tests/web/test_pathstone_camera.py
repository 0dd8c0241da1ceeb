"""The whole way for Pathstone: a rendered camera over stacks, the session, the log, the web server, a real browser."""

import numpy as np
import pytest
from playwright.sync_api import expect

from companion.dashboard import create_pathstone_app
from companion.games.pathstone.series import Begin
from companion.live import Live
from companion.pathstone_session import PathstoneSession
from companion.store import PathstoneStore
from hardware_sims.squares import Room, Scene, Sizes, exposed
from hardware_sims.stacks import StacksTable
from hardware_sims.view import View
from vision.board import Pieces, Profile, SquaresBoard
from vision.draw import draw_tops

BOARD = SquaresBoard(4, 4, 50.0)
PROFILE = Profile(BOARD, (("a", (202, 222, 230)), ("b", (52, 68, 90))), fov_x_deg=36.0, pieces=Pieces())
ROOM = Room(colours=(("a", (0.78, 0.73, 0.6)), ("b", (0.1, 0.06, 0.035))))


class _Slab:
    width_mm = length_mm = 200.0


VIEW = View((960, 720), fov_x_deg=36.0, tilt_deg=15.0, azimuth_deg=-90.0, distance_mm=620.0)
CALIBRATION = VIEW.calibration(_Slab())


class Watched:
    """A table under a rendered camera; `play` is what the players do on it."""

    def __init__(self, table):
        self.table = table
        self.stacks = StacksTable(BOARD)
        self._scene = Scene(BOARD, Sizes(), ROOM)
        self._rng = np.random.default_rng(4)

    def show(self, count=10):
        """The table at rest, for so many pictures."""
        light = self._scene.picture(CALIBRATION, self.stacks.pieces(), oversampling=1) * 0.95
        self.table.show(*(exposed(light, self._rng, blur_px=0.6, noise_levels=1.0) for _ in range(count)))

    def play(self, move):
        self.stacks.play(move)
        self.show()


@pytest.fixture
def watched(log, run_table):
    def seat(said):
        live = Live(simulated=False)
        store = PathstoneStore(log, live.ring)
        corners_px = CALIBRATION.project(BOARD.corners_mm()).tolist()
        session = PathstoneSession(
            PROFILE, lambda _given, _rulings: None, corners_px=corners_px, store=store, live=live, said=said
        )
        return live, store, session, create_pathstone_app(store, live, said, PROFILE, watched=True)

    return Watched(run_table(seat, watched=True))


def test_what_was_read_is_drawn_on_the_picture():
    grey = np.full((720, 960, 3), 100, np.uint8)
    drawn = draw_tops(grey, CALIBRATION, PROFILE, ("wL?.", "....", "....", "...."))
    middles = CALIBRATION.project(BOARD.cells_mm()).round().astype(int)
    found = [drawn[y - 20 : y + 21, x - 20 : x + 21].reshape(-1, 3).tolist() for x, y in middles[:4]]
    assert [
        colour in pixels
        for colour, pixels in zip(([202, 222, 230], [52, 68, 90], [40, 190, 255]), found[:3], strict=True)
    ] == [True] * 3
    assert found[3] == [[100, 100, 100]] * 41**2
    assert (drawn != grey).any(axis=2).mean() < 0.1
    assert (grey == 100).all()


def test_what_is_played_under_the_camera_stands_on_the_page(browser, watched):
    context = browser.new_context(viewport={"width": 1366, "height": 900}, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(watched.table.url, wait_until="domcontentloaded")
        expect(page.locator("#start")).to_be_visible()
        assert page.locator("[name=size]").input_value() == "4"
        watched.table.say(Begin(("Ada", "Ben"), 4))
        watched.show()
        expect(page.locator("#ruling .headline")).to_have_text("Game 1: Ada moves first")
        played = []
        for move in ("a1", "d4", "b2", "b3", "Sc3", "b3-"):
            watched.play(move)
            played.append(move)
            expect(page.locator("#moves .ply")).to_have_text(played, timeout=30_000)
        expect(page.locator("#board [data-cell=b2]")).to_have_attribute(
            "aria-label", "b2, brown flat on top of 1, height 2"
        )
        picture = page.locator("#picture")
        expect(picture).to_have_attribute("data-n", str(watched.table.shown), timeout=30_000)
        watched.stacks.take((3, 3))
        watched.show()
        expect(page.locator("#ruling .word")).to_have_text("Refused", timeout=30_000)
        expect(page.locator("#ruling .why")).to_have_text("Put back d4 (Ada's flat).")
        expect(page.locator("#board .wrong")).to_have_count(1)
        watched.stacks.put("flat", "a", (3, 3))
        watched.show()
        expect(page.locator("#board .wrong")).to_have_count(0, timeout=30_000)
        picture = page.context.request.get(f"{watched.table.url}picture.jpg").body()
        assert picture[:2] == b"\xff\xd8"
        watched.table.say(Begin(("Cy", "Di"), length=1, ptn='[Size "5"]'))
        watched.show(2)
        expect(page.locator("#alarm")).to_have_text(
            "Board not found: the camera watches 4x4 squares, this game has 5x5; start another series", timeout=30_000
        )
    finally:
        context.close()
