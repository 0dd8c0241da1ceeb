"""Claims about pictures with something the matter: it is said while it lasts, not before or after, with a remedy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from companion.conditions import Conditions
from companion.live import Live
from companion.loop import Loop
from hardware_sims import virtual, virtual_stacks
from hardware_sims.camera import Camera
from hardware_sims.disks import in_cell
from hardware_sims.players import Call
from hardware_sims.scene import Scene
from hardware_sims.stacks_players import Told
from hardware_sims.table_faults import TABLE_FAULTS
from hardware_sims.view import View
from vision.camera import Frame

FPS = 5.0
BEFORE_S, DURING_S, AFTER_S = 6.0, 9.0, 9.0
SAID = {
    "dark": "dark",
    "shadows": "falls otherwise",
    "tinted": "another colour",
    "flicker": "flickers",
    "hunting": "exposure goes up and down",
    "noise": "noisy",
    "out-of-focus": "blurred",
    "jpeg": "packed",
    "warm-up": "darker",
    "drop-outs": "lost on the way",
    "bumps": "knocked",
    "glare": "falls otherwise",
    "perspective": "steep slant",
    "upside-down": "on its head",
    "rotated": "askew",
}
OFTEN = {"bumps": {"bump_rate": 0.2}, "warm-up": {"restart_rate": 0.05}}
"""What is too seldom for a short test."""


def hear(heard: tuple[set[str], set[str], set[str]], t_s: float, told: tuple[str, ...]) -> None:
    """Keeps what is said before a fault, in the second half of its time, and at the end of the time after it."""
    if t_s < BEFORE_S:
        heard[0].update(told)
    elif BEFORE_S + DURING_S / 2 < t_s <= BEFORE_S + DURING_S:
        heard[1].update(told)
    elif t_s > BEFORE_S + DURING_S + AFTER_S - 1:
        heard[2].update(told)


def said(fault: str | None, size_wh: tuple[int, int] = (640, 480)) -> tuple[set[str], set[str], set[str]]:
    """What is said in the time before a fault, in the second half of its time, and at the end of the time after it."""
    table = virtual_stacks.table(1, lambda: Told(), size_wh=size_wh)
    if fault not in (None, *table.usual.faults()):
        return said_over_holes(fault, size_wh)
    table.players.fps = FPS
    conditions, heard = Conditions(), (set(), set(), set())
    for moment in table.play():
        t_s = moment.t_s
        if fault is not None:
            on = BEFORE_S <= t_s < BEFORE_S + DURING_S
            table.switches.switch(fault, on)
            table.camera.settings = replace(
                table.camera.settings, **{"bump_rate": 0.0, **(OFTEN.get(fault, {}) if on else {})}
            )
        image = table.camera.read(moment.things, moment.arms, t_s)
        if image is not None:
            calibration = table.camera.view.calibration(virtual_stacks.BOARD)
            told = conditions.after(t_s, image, calibration)
            hear(heard, t_s, told)
        if t_s >= BEFORE_S + DURING_S + AFTER_S:
            return heard
    raise AssertionError


def said_over_holes(
    fault: str, size_wh: tuple[int, int], jpeg_quality: int | None = None
) -> tuple[set[str], set[str], set[str]]:
    """The same of the board with holes, on which nobody plays."""
    asked, words = lambda: Call(0, 0, None), lambda words: None
    usual = virtual.table(1, asked, words, size_wh=size_wh, jpeg_quality=jpeg_quality).usual
    usual = replace(usual, settings=replace(usual.settings, bump_rate=0.0, hunt=0.0, flicker=0.0))
    camera = Camera(Scene(virtual.STANDARD, usual.room), usual.view, usual.settings)
    conditions, heard = Conditions(), (set(), set(), set())
    disks = tuple(in_cell(virtual.STANDARD, f"a{row}", "a", (row, 2)) for row in (3, 5))
    for number in range(round((BEFORE_S + DURING_S + AFTER_S) * FPS)):
        t_s = number / FPS
        if t_s in (BEFORE_S, BEFORE_S + DURING_S):
            table = usual.under([fault] if t_s == BEFORE_S else [])
            camera.settings = table.settings
            camera.look_at(Scene(virtual.STANDARD, table.room))
        image = camera.read(disks, (), t_s)
        told = conditions.after(t_s, image, camera.view.calibration(virtual.STANDARD))
        hear(heard, t_s, told)
    return heard


def test_of_a_usual_table_nothing_is_said():
    assert said(None) == (set(), set(), set())


@pytest.mark.parametrize("fault", SAID)
def test_what_is_the_matter_is_said_while_it_lasts(fault):
    assert fault in TABLE_FAULTS
    before, during, after = said(fault)
    assert before == set()
    assert any(SAID[fault] in words for words in during), during
    assert all(": " in words for words in during), "each has its remedy, or what was done"
    assert after - {words for words in after if "knocked" in words} == set()


# Brightness of a picture beside the usual, by number; whether it is said that the picture went dark.
BRIGHTNESS = {
    "a camera that starts anew": (lambda n: 0.35 if n == 40 else 1.0, True),
    "a lamp that goes out": (lambda n: 0.35 if n >= 40 else 1.0, True),
    "a flash": (lambda n: 1.8 if n == 40 else 1.0, False),
    "light that goes slowly": (lambda n: 1.0 if n < 40 else max(0.4, 1.0 - 0.05 * (n - 40)), False),
}


@pytest.mark.parametrize(("brightness", "told"), BRIGHTNESS.values(), ids=BRIGHTNESS)
def test_a_picture_that_goes_dark_at_once_is_told_of(brightness, told):
    conditions = Conditions()
    heard = set()
    for n in range(60):
        image = np.full((480, 640, 3), round(120 * brightness(n)), np.uint8)
        heard.update(conditions.after(n / FPS, image, None))
    assert any("all at once" in words for words in heard) is told


def test_a_camera_that_was_away_did_not_go_dark_at_once():
    conditions = Conditions()
    for n in range(60):
        image = np.full((480, 640, 3), 120 if n < 30 else 40, np.uint8)
        told = conditions.after(n / FPS + (n >= 30) * 60, image, None)
        assert not any("all at once" in words for words in told)


@pytest.mark.parametrize("fault", ["noise", "out-of-focus", "jpeg"])
def test_it_is_said_of_packed_pictures_too(fault):
    before, during, after = said_over_holes(fault, (640, 480), jpeg_quality=90)
    assert (before, after) == (set(), set())
    assert any(SAID[fault] in words for words in during), during


def test_pieces_and_hands_are_not_the_pictures_fault():
    moves = itertools.chain(("a1", "e5", "b2", "b3", "Sc3", "c2"), itertools.repeat(None))
    table = virtual_stacks.table(2, lambda: Told(next(moves)), pause_s=0.5, size_wh=(640, 480))
    table.players.fps = FPS
    table.camera.settings = replace(table.camera.settings, bump_rate=0.0)
    conditions, heard = Conditions(), set()
    for moment in table.play():
        image = table.camera.read(moment.things, moment.arms, moment.t_s)
        assert image is not None
        heard.update(conditions.after(moment.t_s, image, table.camera.view.calibration(virtual_stacks.BOARD)))
        if moment.t_s > 22:
            break
    assert len(table.players.table.pieces()) == 6
    assert heard == set()


@pytest.mark.parametrize(
    ("width", "residual_px", "lens", "told"),
    [(640, 0.2, True, 0), (640, 0.3, True, 1), (1920, 0.3, True, 0), (1920, 0.5, True, 1), (1920, 0.5, False, 0)],
)
def test_a_lens_that_bends_lines_is_told_where_the_board_tells_it(width, residual_px, lens, told):
    view = View((width, width * 9 // 16), fov_x_deg=50.0, tilt_deg=5.0, distance_mm=500.0)
    calibration = replace(view.calibration(virtual_stacks.BOARD), residual_px=residual_px)
    image = np.random.default_rng(1).integers(90, 140, (width * 9 // 16, width, 3), np.uint8)
    image = np.repeat(np.repeat(image[::16, ::16], 16, axis=0), 16, axis=1)[: width * 9 // 16]
    conditions = Conditions(lens=lens)
    heard = [conditions.after(n / FPS, image, calibration) for n in range(40)]
    assert sum("lens" in words for words in heard[-1]) == told


@pytest.mark.parametrize(
    ("tilt_deg", "roll_deg", "told"), [(11, 0, 0), (11, 90, 0), (11, -90, 0), (11, 160, 1), (11, 180, 1), (3, 180, 0)]
)
def test_a_picture_that_stands_on_its_head_is_told_by_what_is_near_the_camera(tilt_deg, roll_deg, told):
    view = View((640, 480), fov_x_deg=50.0, tilt_deg=tilt_deg, azimuth_deg=30.0, distance_mm=500.0, roll_deg=roll_deg)
    image = np.full((480, 640, 3), 120, np.uint8)
    conditions = Conditions()
    heard = [conditions.after(n / FPS, image, view.calibration(virtual_stacks.BOARD)) for n in range(40)]
    assert sum("on its head" in words for words in heard[-1]) == told


@pytest.mark.parametrize(("name", "words"), [("smeared", "exposure"), ("mirrored", "mirrored")])
def test_what_is_known_from_elsewhere_is_said_as_long_as_it_is_known(name, words):
    image = np.full((480, 640, 3), 120, np.uint8)
    conditions = Conditions()
    heard = [conditions.after(n / FPS, image, None, [name] if 20 <= n < 30 else []) for n in range(40)]
    assert [any(words in told for told in each) for each in heard] == [20 <= n < 30 for n in range(40)]


class Watching(Loop[None]):
    """A loop that looks at pictures and does nothing else."""

    def _see(self, frame: Frame) -> None:
        self._live.show(frame.image_bgr)


def test_the_page_hears_of_it_and_a_recording_is_not_judged():
    table = virtual_stacks.table(1, lambda: Told(), size_wh=(320, 240))
    table.switches.switch("noise", True)
    table.players.fps = FPS
    moments = itertools.islice(table.play(), 40)
    images = [(moment.t_s, table.camera.read(moment.things, (), moment.t_s)) for moment in moments]
    frames = [Frame(n, t_s, image) for n, (t_s, image) in enumerate(images) if image is not None]
    live = Live()
    rung = live.wait(-1, 0.0)
    Watching(None, live, None).run(iter(frames))
    assert any("noisy" in words for words in live.conditions())
    assert live.wait(rung, 0.0) > rung
    Watching(None, None, None).run(iter(frames))
