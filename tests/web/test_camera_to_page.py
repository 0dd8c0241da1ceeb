"""The whole way: a rendered camera over simulated disks, the session, the log, the web server, a real browser."""

from collections.abc import Iterator
from queue import Queue

import pytest
from playwright.sync_api import Page, expect

from companion.dashboard import create_app
from companion.dashboard.server import App
from companion.inputs import Correction, Declaration
from companion.live import Live
from companion.referee import Referee
from companion.session import Session
from companion.store import Store
from hardware_sims import virtual
from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD, Disk, in_cell
from hardware_sims.scene import Room, Scene
from hardware_sims.view import View

VIEW = View(size_wh=(960, 540), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
REACHING = Arm((120.0, 160.0, 25.0), -80.0)


class Watched:
    """A table under a rendered camera; `show` is what the camera sees next."""

    def __init__(self, table) -> None:
        self.table = table
        self._camera = Camera(Scene(STANDARD, Room(seed=3)), VIEW, Settings(jpeg_quality=None))

    def show(self, disks: tuple[Disk, ...], arms: tuple[Arm, ...] = (), count: int = 8) -> None:
        for _ in range(count):
            image_bgr = self._camera.read(disks, arms, self.table.shown_s)
            assert image_bgr is not None
            self.table.show(image_bgr)


@pytest.fixture
def watched(log, run_table) -> Watched:
    def seat(said: Queue[Declaration | Correction]) -> tuple[Live, Store, Session, App]:
        live = Live(simulated=True)
        store = Store(log, live.ring)
        session = Session(virtual.PROFILE, Referee(), lambda _given, _rulings: None, store=store, live=live, said=said)
        return live, store, session, create_app(store, live, said, virtual.PROFILE)

    return Watched(run_table(seat, watched=True))


@pytest.fixture
def page(browser, watched) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(watched.table.url, wait_until="domcontentloaded")
    yield page
    page.close()
    expect.set_options(timeout=5_000)
    assert complaints == []


def test_what_the_camera_sees_is_ruled_on_and_shown(page, watched):
    watched.show(())
    expect(page.locator("#watch")).to_have_text("Watching the board")
    page.get_by_label("Name").first.fill("Ada")
    page.get_by_label("Name").last.fill("Ben")
    page.get_by_label("The youngest").first.check()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".player.now .name")).to_have_text("Ada")

    scoring = in_cell(STANDARD, "a1", "a", (8, 3))
    watched.show((), (REACHING,), 5)
    expect(page.locator("#watch")).to_have_text("Hand over the board")
    watched.show((scoring,))
    expect(page).to_have_title("Ada 1 – 0 Ben")
    expect(page.locator("#board .disk[data-colour=a][data-cell='8,3']")).to_have_count(1)
    expect(page.locator(".player.now .name")).to_have_text("Ben")

    foul = in_cell(STANDARD, "b1", "b", (8, 6))
    watched.show((scoring,), (REACHING,), 5)
    watched.show((scoring, foul))
    expect(page.locator("#ruling .orders")).to_have_text("Take the black disk at row 8, column 6 off")
    watched.show((scoring, foul), (REACHING,), 5)
    watched.show((scoring,))
    expect(page.locator("#ruling .headline")).to_have_text("The board is cleared")
    expect(page.locator("#board .disk")).to_have_count(1)

    page.get_by_role("button", name="End game").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#ruling .headline")).to_have_text("Ada wins the game 1–0")
    expect(page.locator(".lane .total")).to_have_text(["2", "0"])
    assert int(page.locator("#picture").get_attribute("data-n") or 0) > 1
