"""The whole way for MageStone: a rendered camera over tokens, the session, the log, the web server, a real browser."""

import pytest
from playwright.sync_api import expect

from companion.dashboard import create_magestone_app
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

PROFILE = Profile(STANDARD, (), marks=Marks())
VIEW = View((1920, 1080), fov_x_deg=50.0, tilt_deg=12.0, azimuth_deg=-91.0, distance_mm=860.0, roll_deg=-1.5)
FIELD = "2 Mi0(0+1),Ph0,W1e5,W2f5,W3g6/Mh15,Pi15,W1e9,W2f6 h4,i9* h6,k10 6 0:6:3 - -"
PATIENCE_MS = 30_000


class Watched:
    """A table under a rendered camera; hands change it."""

    def __init__(self, table):
        self.table = table
        self._hands = laid_out(read_position(FIELD), 3)

    def show(self, *deeds):
        """Does something on the table, and shows it at rest for some pictures."""
        for deed in deeds:
            do(self._hands, deed)
        self.table.show(*[render(self._hands, VIEW, seed=self.table.shown)] * 7)


@pytest.fixture
def watched(log, run_table):
    def seat(said):
        live = Live(simulated=False)
        store = MageStoneStore(log, live.ring)
        session = MageStoneSession(lambda _given, _rulings: None, profile=PROFILE, store=store, live=live, said=said)
        return live, store, session, create_magestone_app(store, live, said, PROFILE, watched=True)

    return Watched(run_table(seat, watched=True))


def test_what_is_done_under_the_camera_stands_on_the_page_and_is_asked_for_where_it_must_be_said(browser, watched):
    context = browser.new_context(viewport={"width": 1366, "height": 900}, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(watched.table.url, wait_until="domcontentloaded")
        watched.table.say(Begin(("Ada", "Ben"), record=f'[Position "{FIELD}"]'))
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
        response = page.context.request.get(f"{watched.table.url}picture.jpg")
        assert response.body()[:2] == b"\xff\xd8"
    finally:
        context.close()
