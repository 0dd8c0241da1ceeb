"""The whole way for MageStone: a rendered camera over tokens, the session, the log, the web server, a real browser."""

import threading
from queue import Empty, Queue

import pytest
from playwright.sync_api import expect

from companion.dashboard import create_magestone_app
from companion.dashboard.server import Server, listen
from companion.games.magestone import read_position
from companion.games.magestone.table import Begin
from companion.live import Live
from companion.magestone_session import MageStoneSession
from companion.simulated_tokens import laid_out
from companion.store import MageStoneStore
from hardware_sims.token_hands import Deed, do
from hardware_sims.tokens import GRAVE, STANDARD, render
from hardware_sims.view import View
from vision.board import Marks, Profile
from vision.camera import Frame

PROFILE = Profile(STANDARD, (), marks=Marks())
VIEW = View((1920, 1080), fov_x_deg=50.0, tilt_deg=12.0, azimuth_deg=-91.0, distance_mm=860.0, roll_deg=-1.5)
FIELD = "2 Mi0(0+1),Ph0,W1e5,W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:6:3 - -"
FRAMES_A_SECOND = 15
PATIENCE_MS = 30_000


class Watched:
    """A table under a rendered camera, refereed and served; hands change it."""

    def __init__(self, log):
        self.hands = laid_out(read_position(FIELD), 3)
        self._frames = Queue()
        self.shown = 0
        live = Live(simulated=False)
        self.said = Queue()
        self._store = MageStoneStore(log, live.ring)
        session = MageStoneSession(
            lambda _given, _rulings: None, profile=PROFILE, store=self._store, live=live, said=self.said
        )
        app = create_magestone_app(self._store, live, self.said, PROFILE, watched=True)
        self._server = Server(app, listen(0), live)
        self.url = f"http://127.0.0.1:{self._server.port}/"
        self._threads = [
            threading.Thread(target=self._server.run, daemon=True),
            threading.Thread(target=session.run, args=(self._taken(),), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def show(self, *deeds):
        """Does something on the table, and shows it at rest for some pictures."""
        for deed in deeds:
            do(self.hands, deed)
        image_bgr = render(self.hands, VIEW, seed=self.shown)
        for _ in range(7):
            self._frames.put(Frame(self.shown, self.shown / FRAMES_A_SECOND, image_bgr))
            self.shown += 1

    def _taken(self):
        while True:
            try:
                frame = self._frames.get(timeout=0.05)
            except Empty:
                yield None
                continue
            if frame is None:
                return
            yield frame

    def close(self):
        self._frames.put(None)
        self._server.stop()
        for thread in self._threads:
            thread.join()
        self._store.close()


@pytest.fixture
def watched(tmp_path):
    watched = Watched(tmp_path / "log.sqlite")
    yield watched
    watched.close()


def test_what_is_done_under_the_camera_stands_on_the_page_and_is_asked_for_where_it_must_be_said(browser, watched):
    context = browser.new_context(viewport={"width": 1366, "height": 900}, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(watched.url, wait_until="domcontentloaded")
        watched.said.put(Begin(("Ada", "Ben"), record=f'[Position "{FIELD}"]'))
        watched.show()
        headline = page.locator("#ruling .headline")
        expect(headline).to_contain_text("Ada has the first go", timeout=PATIENCE_MS)
        watched.show(Deed(12, (5, 4), (7, 4)))
        expect(headline).to_contain_text("Warrior 1 walks to e7", timeout=PATIENCE_MS)
        watched.show(Deed(14, (6, 6), (9, 12)))
        expect(page.locator("#ruling .word")).to_have_text("Refused", timeout=PATIENCE_MS)
        watched.show(Deed(14, (9, 12), (6, 6)))
        expect(headline).to_contain_text("as it should be again", timeout=PATIENCE_MS)
        watched.show(Deed(33, (6, 5)), Deed(GRAVE, end=(6, 5)))
        expect(page.locator("#ruling .word")).to_have_text("Please decide", timeout=PATIENCE_MS)
        expect(headline).to_contain_text("obody has declared", timeout=PATIENCE_MS)
        response = page.context.request.get(f"{watched.url}picture.jpg")
        assert response.body()[:2] == b"\xff\xd8"
    finally:
        context.close()
