"""Claims about the hardware panel: the device, its cells beside what the camera sees, its counters, and its loss."""

import threading
from dataclasses import replace
from pathlib import Path
from queue import Queue

import pytest
from playwright.sync_api import expect

import companion
from companion.dashboard import create_magestone_app, create_pathstone_app
from companion.dashboard.server import Server, listen
from companion.grid_conditions import WITHOUT_DIODES, GridConditions
from companion.inputs import Declaration, Declared, Dispute, Look, Setup
from companion.lights import Light, Rhythm
from companion.live import Hardware, Live
from companion.store import MageStoneStore, PathstoneStore
from companion.terms import Mode, Player
from firmware_protocol.driver import Device, Rgb, Traffic
from firmware_protocol.link import Counters
from firmware_protocol.messages import LedKind, SensorKind
from vision.board import Grid, read_profile

CELLS = Grid().cells(8, 7)
SINCE = "2026-11-30T03:05:11+00:00"
DEVICE = Device("grid", "1f2e3d4c5b6a7988", 8, 7, LedKind.RGB, SensorKind.HALL, "0.1.0", True)
THERE = Counters("/dev/ttyUSB0", DEVICE, "", 1, 0, 214, Traffic(1200, 900, 3, 2, 1, 0), 115_200)
GONE = Counters("", None, "/dev/ttyUSB0: the port is gone; is the cable in?", 1, 1, 214)
LIGHTS = (((8, 6), Light(Rgb(255, 255, 255), Rhythm.BLINK)), ((1, 1), Light(Rgb(31, 0, 0))))


def grid(counters=THERE, occupied=(), **changes):
    says = tuple((cell, cell in occupied) for cell in CELLS) if counters.device is not None else ()
    return Hardware(counters, SINCE, **{"lights": LIGHTS, "says": says, "cells": CELLS, **changes})


@pytest.fixture
def page(browser, served):
    page = browser.new_page(viewport={"width": 1920, "height": 1080}, reduced_motion="reduce")
    page.set_default_timeout(10_000)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    served.desk.say(Declaration(Declared.START, Setup(Mode.MATCH, names=("Ada", "Ben"))))
    page.goto(served.url, wait_until="domcontentloaded")
    expect(page.locator("body")).not_to_have_attribute("data-phase", "loading")
    yield page
    page.close()
    assert complaints == []


def test_the_panel_shows_the_device_its_lights_and_its_counters(page, served):
    expect(page.locator("#grid-panel")).to_be_hidden()
    served.desk.live.equip(grid())
    expect(page.locator("#grid-name")).to_have_text("Simulated grid")
    expect(page.locator("#grid-state")).to_have_text("Connected")
    expect(page.locator("#map-lights .lit")).to_have_count(2)
    expect(page.locator("#map-lights .lit.blink")).to_have_attribute("fill", "#ffffff")
    expect(page.locator("#map-lights .lit.steady")).to_have_count(1)
    page.get_by_text("Device and counters").click()
    facts = page.locator("#grid-facts")
    for text in ("/dev/ttyUSB0", "1f2e3d4c5b6a7988", "115,200 bits a second", "8 × 7 cells, simulated", "1,200"):
        expect(facts).to_contain_text(text)


def test_a_hole_about_which_sensor_and_camera_differ_is_marked_in_both_maps(page, served, disk):
    served.desk.see(disk(Player.A, 8, 4), flight=Player.A)
    served.desk.live.equip(grid(occupied={(8, 4), (3, 3)}))
    expect(page.locator("#map-sensors .occupied")).to_have_count(2)
    expect(page.locator("#map-camera .disk")).to_have_count(1)
    expect(page.locator("#map-sensors .differs")).to_have_count(1)
    expect(page.locator("#map-camera .differs")).to_have_count(1)
    expect(page.locator("#grid-note")).to_have_text("Camera and sensor differ at row 3, column 3.")
    served.desk.live.equip(grid(occupied={(8, 4)}, stuck=((3, 3),)))
    expect(page.locator("#map-sensors .differs")).to_have_count(0)
    expect(page.locator("#map-sensors .stuck")).to_have_count(1)
    expect(page.locator("#grid-note")).to_have_text("Left out, stuck: row 3, column 3.")
    served.desk.live.equip(grid(occupied={(8, 4)}, stuck=((3, 3),), conditions=("bytes find no room: look",)))
    expect(page.locator("#grid-note")).to_have_text("Bytes find no room: look. Left out, stuck: row 3, column 3.")


def test_a_lost_grid_is_told_with_the_remedy_and_that_the_game_goes_on(page, served):
    served.desk.live.equip(grid())
    expect(page.locator("#grid-alarm")).to_be_hidden()
    served.desk.live.equip(grid(GONE))
    expect(page.locator("#grid-alarm")).to_have_text(
        "Grid not connected: /dev/ttyUSB0: the port is gone; is the cable in? The game goes on with the camera alone."
    )
    expect(page.locator("#grid-state")).to_have_text("Not connected")
    expect(page.locator("#map-sensors")).to_be_hidden()
    served.desk.live.equip(grid())
    expect(page.locator("#grid-alarm")).to_be_hidden()
    expect(page.locator("#camera")).to_be_visible()
    # Without a camera there is no picture, and nothing that the game could go on with.
    served.desk.live.equip(grid(GONE, alone=True))
    expect(page.locator("#grid-alarm")).to_contain_text("Nothing is watched until it is back.")
    expect(page.locator("#camera")).to_be_hidden()


@pytest.mark.parametrize(
    ("create", "form", "usual", "size", "words"),
    [
        (create_pathstone_app, PathstoneStore, "pathstone.toml", 5, "a1 steady; b1 blink"),
        (create_magestone_app, MageStoneStore, "magestone.toml", 16, "a0 steady; b0 blink"),
    ],
)
def test_the_pages_of_squares_show_the_grid_too(browser, tmp_path, create, form, usual, size, words):
    live, profile = Live(), read_profile(Path(companion.__file__).with_name("boards") / usual)
    store = form(tmp_path / "log.sqlite")
    server = Server(create(store, live, Queue(), profile, watched=False), listen(0), live)
    serving = threading.Thread(target=server.run)
    serving.start()
    page = browser.new_page()
    try:
        page.goto(f"http://127.0.0.1:{server.port}/", wait_until="domcontentloaded")
        expect(page.locator("#start")).to_be_visible()
        expect(page.locator("#grid-panel")).to_be_hidden()
        cells = Grid().cells(size, size)
        lights = (((1, 1), Light(Rgb(31, 0, 0))), ((1, 2), Light(Rgb(255, 255, 255), Rhythm.BLINK)))
        live.equip(Hardware(THERE, SINCE, lights=lights, cells=cells))
        expect(page.locator("#map-lights .dark")).to_have_count(size * size - 2)
        expect(page.locator("#map-lights")).to_have_attribute("aria-label", f"LEDs lit: {words}")
        live.equip(Hardware(THERE, SINCE, lights=lights, cells=cells, conditions=(WITHOUT_DIODES,)))
        expect(page.locator("#grid-note")).to_contain_text("a diode")
        for width in (1920, 390):
            page.set_viewport_size({"width": width, "height": 1080})
            box = page.locator("#map-lights").bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 100, width
        live.equip(Hardware(GONE, SINCE, cells=cells))
        expect(page.locator("#grid-alarm")).to_contain_text("is the cable in? The game goes on without it.")
    finally:
        page.close()
        server.stop()
        serving.join()
        store.close()


def test_a_contradiction_is_asked_with_a_button_for_each_witness(page, served, disk):
    served.desk.say(Look((disk(Player.A, 3, 4),), flights=(Player.A,), disputed=(Dispute((3, 4), Player.A),)))
    expect(page.locator("#ruling .headline")).to_have_text(
        "The camera sees Ada's disk at row 3, column 4, the sensor there says empty"
    )
    expect(page.locator("#board .asked")).to_have_count(1)
    page.get_by_role("button", name="The camera is right").click()
    expect(page.locator("#ruling .headline")).to_have_text("Ada’s flick 1 stands")


def test_whose_disk_it_is_is_asked_in_the_colours_words(page, served):
    told = ((3, 4), (5, 5))
    empty = tuple(cell for cell in CELLS if cell not in told)
    served.desk.say(Look((), CELLS, hand=True, occupied=told, empty=empty))
    expect(page.locator("#board .asked")).to_have_count(1)
    expect(page.locator("#board .unseen")).to_have_count(0)
    page.get_by_role("button", name="A red disk").click()
    page.get_by_role("button", name="A black disk").click()
    expect(page.locator("#board .disk")).to_have_count(2)
    expect(page.locator("#log li")).to_have_count(5)


def test_the_panel_fits_the_screen(page, served, disk):
    served.desk.see(disk(Player.A, 8, 4), flight=Player.A)
    served.desk.see(disk(Player.A, 8, 4), disk(Player.B, 8, 6), flight=Player.B)
    told = GridConditions()
    told.after(0.0, THERE)
    conditions = (*told.after(1.0, replace(THERE, traffic=Traffic(bad_frames=99))), WITHOUT_DIODES)
    assert len(conditions) == 2
    served.desk.live.equip(grid(occupied={(8, 4), (8, 6)}))
    expect(page.locator("#map-camera .disk")).to_have_count(2)
    for width, height in ((1920, 1080), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        more, panel = (page.locator(part).bounding_box() for part in ("#grid-panel summary", "#grid-panel"))
        assert more is not None
        assert panel is not None
        assert more["y"] + more["height"] <= panel["y"] + panel["height"], width
    served.desk.live.equip(grid(occupied={(8, 4), (8, 6)}, conditions=conditions[1:]))
    expect(page.locator("#grid-note")).to_contain_text("a diode")
    for width, height in ((1920, 1080), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        note, panel = (page.locator(part).bounding_box() for part in ("#grid-note", "#grid-panel"))
        assert note is not None
        assert panel is not None
        assert note["y"] + note["height"] <= panel["y"] + panel["height"], width
    served.desk.live.equip(grid(occupied={(8, 4), (8, 6)}, stuck=((3, 3),), conditions=conditions))
    expect(page.locator("#grid-note")).to_contain_text("Left out")
    for width, height in ((390, 844), (1920, 1080), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for part in ("#map-lights", "#map-sensors", "#map-camera"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 36, (width, part)
            assert box["x"] + box["width"] <= width
            if width > 1000:
                assert box["y"] + box["height"] <= height, (width, part)


def test_a_program_asks_for_the_grid(desk):
    client = desk.app.test_client()
    assert client.get("/grid").json is None
    desk.live.equip(grid(occupied={(8, 4)}, stuck=((3, 3),), conditions=("a loose plug",)))
    told = client.get("/grid").json
    assert (told["state"], told["simulated"], told["port"], told["since"]) == ("there", True, "/dev/ttyUSB0", SINCE)
    assert told["device"]["uid"] == "1f2e3d4c5b6a7988"
    assert told["baud"] == 115_200
    assert told["counters"]["frames_in"] == 1200
    assert told["conditions"] == ["a loose plug"]
    at = {tuple(one["cell"]): one for one in told["cells"]}
    assert [one["cell"] for one in told["cells"]] == [list(cell) for cell in CELLS]
    assert at[8, 4]["occupied"] is True
    assert at[3, 3]["stuck"] is True
    assert at[8, 6]["light"] == {"colour": "#ffffff", "rhythm": "blink"}
    assert at[1, 1]["light"] == {"colour": "#620000", "rhythm": "steady"}
    desk.live.equip(grid(GONE))
    told = client.get("/grid").json
    assert (told["state"], told["device"], told["cells"][0]["occupied"]) == ("lost", None, None)
    assert told["why"] == GONE.trouble
    assert told["baud"] is None
