"""Claims about the page of faults: each is switched on and off at the simulated table itself, and the page shows it."""

import threading
from queue import Queue

import pytest
from playwright.sync_api import expect

from companion.dashboard import create_app
from companion.dashboard.server import Server, listen
from companion.live import Live, Watch
from companion.simulated import Switchboard
from companion.store import Store
from hardware_sims import virtual
from hardware_sims.table_faults import FAULTS

WRITE = {"X-Companion": "1", "Host": "localhost"}


@pytest.fixture
def table():
    made = virtual.table(1, lambda: None, lambda _words: None, size_wh=(320, 180))
    made.players.referee = None
    return made


@pytest.fixture
def live():
    return Live(simulated=True)


@pytest.fixture
def app(table, live, tmp_path):
    store = Store(tmp_path / "log.sqlite", live.ring)
    yield create_app(store, live, Queue(), virtual.PROFILE, Switchboard(table.switches))
    store.close()


def test_every_fault_is_listed_and_off_at_first(app):
    listed = app.test_client().get("/faults.json", headers={"Host": "localhost"}).json
    assert [one["name"] for one in listed] == list(FAULTS)
    assert not any(one["on"] for one in listed)


def test_a_switch_changes_the_table_and_back(app, table):
    client, moments = app.test_client(), table.play()
    next(moments)
    usual = table.camera.settings
    for on in (True, False):
        answer = client.post("/faults", json={"name": "noise", "on": on}, headers=WRITE)
        assert answer.status_code == 200
        assert [one["name"] for one in answer.json if one["on"]] == ["noise"] * on
        next(moments)
        assert (table.camera.settings == usual) is not on
        assert (table.camera.settings.noise_levels > usual.noise_levels) is on


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "gremlins", "on": True}, 404),
        ({"name": "noise"}, 400),
        ({"name": "noise", "on": 1}, 400),
        ({"on": True}, 400),
        ([], 400),
    ],
)
def test_what_is_no_switch_is_refused_with_the_reason(app, body, status):
    answer = app.test_client().post("/faults", json=body, headers=WRITE)
    assert answer.status_code == status
    assert answer.json["why"]


def test_a_real_table_has_no_faults_to_switch(live, tmp_path):
    store = Store(tmp_path / "log.sqlite", live.ring)
    client = create_app(store, live, Queue(), virtual.PROFILE).test_client()
    for path in ("/faults", "/faults.json"):
        assert client.get(path, headers={"Host": "localhost"}).status_code == 404
    store.close()


@pytest.fixture
def url(app, live):
    server = Server(app, listen(0), live)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.stop()
    thread.join()


@pytest.mark.parametrize("size", [(390, 844), (1920, 1080)], ids=["phone", "television"])
def test_the_page_switches_faults_and_says_what_is_the_matter(browser, url, table, live, size):
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(10_000)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    live.watch(Watch.WATCHING)
    page.goto(f"{url}/faults", wait_until="domcontentloaded")
    glare = page.get_by_role("button", name="Glare")
    expect(glare).to_have_attribute("aria-pressed", "false")
    glare.click()
    expect(glare).to_have_attribute("aria-pressed", "true")
    assert table.wanted() == ("glare",)
    expect(page.locator("#alarm")).to_be_hidden()
    live.watch(Watch.STALLED, "the camera gives no new picture: it repeats one picture")
    expect(page.locator("#watch")).to_have_text("Camera stalled")
    expect(page.locator("#alarm")).to_contain_text("it repeats one picture")
    page.get_by_role("button", name="Switch all off").click()
    expect(glare).to_have_attribute("aria-pressed", "false")
    assert table.wanted() == ()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.close()
    assert complaints == []
