"""A table to look at: a real log, a real referee and the real web server; only the camera's looks are told."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from companion.dashboard import create_app
from companion.dashboard.server import Server, listen
from companion.inputs import Declaration, Declared, Input, Look, SeenDisk
from companion.live import Live, Watch
from companion.referee import Referee
from companion.store import Store
from companion.terms import Lying, Player
from vision.board import parse_profile
from vision.camera import Frame

PROFILE = parse_profile(
    """
    kind = "holes"
    [board]
    columns = 7
    rows = 8
    pitch_mm = 42.0
    hole_diameter_mm = 32.0
    disk_diameter_mm = 28.0
    disk_height_mm = 6.0
    width_mm = 316.0
    length_mm = 494.0
    launch_line_mm = 70.0
    first_row_mm = 100.0
    margin_mm = 32.0
    slab_mm = 6.0
    [colours]
    a = "#d2423c"
    b = "#32323a"
    """
)

CHROMIUM = "/usr/bin/chromium"
TELEVISION = {"width": 1920, "height": 1080}
FRAMES_A_SECOND = 15
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Desk:
    """One table: `see` and `say` go through the queue that the page writes, as in a session."""

    def __init__(self, path: Path) -> None:
        self.live = Live()
        self.store = Store(path, self.live.ring)
        self.said: Queue[Input | None] = Queue()
        self.app = create_app(self.store, self.live, self.said, PROFILE)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.live.show(np.full((360, 640, 3), 90, np.uint8))
        self.live.watch(Watch.WATCHING)

    def _run(self) -> None:
        match = self.store.latest()
        referee = Referee() if match is None else self.store.resume(match)
        while (given := self.said.get()) is not None:
            if isinstance(given, Declaration) and given.what is Declared.START:
                referee = Referee()
                match = self.store.begin(given, referee.take(given))
            elif match is not None:
                self.store.append(match, given, referee.take(given))
            self.said.task_done()

    def say(self, given: Input) -> None:
        """Puts an input on the queue and waits until it is in the log."""
        self.said.put(given)
        self.said.join()

    def see(self, *disks: SeenDisk, flight: Player | None = None, hand: bool = False) -> None:
        """A settled board, after a disk was seen in flight or a hand over the table."""
        self.say(Look(disks, hand=hand, flights=() if flight is None else (flight,)))

    def close(self) -> None:
        self.said.put(None)
        self._thread.join()
        self.store.close()


class Served:
    """A desk on a web server; `stop` and `start` again on the same port are a companion that was restarted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        self.desk = Desk(self._path)
        self._server = Server(self.desk.app, listen(self.port), self.desk.live)
        self.port = self._server.port
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.stop()
        self._thread.join()
        self.desk.close()


class Table:
    """The real session, log and web server of a game; `stop` and `start` are a companion that was restarted."""

    def __init__(self, seat: Callable[[Queue[Any]], Any], read: Callable[[str], Any] | None, *, watched: bool) -> None:
        """`seat` makes the live state, log, session and application that share a queue, `read` an input of a word."""
        self._seat = seat
        self._read = read
        self._watched = watched
        self.shown = 0
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def shown_s(self) -> float:
        """The time of the next picture."""
        return self.shown / FRAMES_A_SECOND

    def start(self) -> None:
        self._frames: Queue[Frame | None] = Queue()
        self.said: Queue[Any] = Queue()
        self.live, self.store, self.session, app = self._seat(self.said)
        self._server = Server(app, listen(self.port), self.live)
        self.port = self._server.port
        work = self.session.run if self._watched else self.session.sense
        self._threads = [
            threading.Thread(target=self._server.run, daemon=True),
            threading.Thread(target=work, args=(self._taken(),), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._frames.put(None)
        self._server.stop()
        for thread in self._threads:
            thread.join()
        self.store.close()

    def say(self, *inputs: Any) -> None:
        for given in inputs:
            self.said.put(given)

    def play(self, words: str) -> None:
        """What people tap, in the game's notation."""
        assert self._read is not None
        self.say(*map(self._read, words.split()))

    def show(self, *images_bgr: np.ndarray) -> None:
        """What the camera sees next."""
        for image_bgr in images_bgr:
            self._frames.put(Frame(self.shown, self.shown_s, image_bgr))
            self.shown += 1

    def _taken(self) -> Iterator[Frame | None]:
        """The pictures as they come; None now and then, so that the session hears what is said meanwhile."""
        while True:
            try:
                frame = self._frames.get(timeout=0.02)
            except Empty:
                yield None
                continue
            if frame is None:
                return
            yield frame


def in_hole(colour: Player, row: int, column: int, lying: Lying = Lying.IN_CELL) -> SeenDisk:
    """A disk in a hole of PROFILE's board."""
    return SeenDisk(colour, 32 + 42 * (column - 1), 100 + 42 * (row - 1), (row, column), lying, 0.2, 0.98)


@pytest.fixture
def profile():
    """The desk's board."""
    return PROFILE


@pytest.fixture
def desk(tmp_path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "log.sqlite")
    yield desk
    desk.close()


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    served = Served(tmp_path / "log.sqlite")
    yield served
    served.stop()


@pytest.fixture
def log(tmp_path) -> Path:
    """Where the log of `run_table` is."""
    return Path(tmp_path, "log.sqlite")


@pytest.fixture
def run_table() -> Iterator[Callable[..., Table]]:
    """Starts a table: `run_table(seat, read)`, under a camera with `watched=True`."""
    tables = []

    def run(seat, read=None, *, watched=False):
        tables.append(Table(seat, read, watched=watched))
        return tables[-1]

    yield run
    for table in tables:
        table.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    if shutil.which(CHROMIUM) is None:
        pytest.skip("the package chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def disk():
    """Makes a disk in a hole, or lying otherwise: `disk(Player.A, row, column)`."""
    return in_hole


@pytest.fixture
def page_url(served) -> str:
    """Where the page is that `open_page` opens."""
    return served.url


@pytest.fixture
def open_page(browser, page_url):
    """Opens the page, and at the end holds it to its promises: no errors, and nothing asked of anyone else."""
    complaints, asked, contexts = [], [], []

    def open_(viewport=TELEVISION, **options):
        context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_url, wait_until="domcontentloaded")
        expect(page.locator("body")).not_to_have_attribute("data-phase", "loading")
        return page

    open_.complaints = complaints
    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
    assert asked
    assert [url for url in asked if not url.startswith(page_url) and not url.startswith("blob:")] == []
