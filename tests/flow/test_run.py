"""Claims about `companion run`: a lost camera comes back, a match goes on after a kill, bad input is told."""

import itertools
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import main
from companion.inputs import Declaration, Declared, Setup
from companion.referee import Referee
from companion.store import Store
from companion.terms import USUAL_FIELD
from hardware_sims import capture
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD
from hardware_sims.players import Moment
from hardware_sims.scene import Room, Scene
from hardware_sims.view import View

VIEW = View(size_wh=(960, 540), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)


class Plugged:
    """A camera over a quiet, empty board, served as MJPEG on one port; `pull` takes the cable out."""

    def __init__(self, port: int = 0) -> None:
        camera = Camera(Scene(STANDARD, Room(seed=3)), VIEW, Settings(jpeg_quality=None))
        moments = (Moment(n, n / 15, ()) for n in itertools.count())
        self._device = capture.Device(camera, moments)
        self._server = capture.serve(self._device, port)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def pull(self) -> None:
        self._device.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def run(port: int, log: Path, errors: Path) -> tuple[subprocess.Popen, str]:
    """`companion run` on the camera at a port, and the address of its page."""
    command = [sys.executable, "-c", "from companion.cli import main; main()", "run", f"http://127.0.0.1:{port}/"]
    with errors.open("a") as stderr:
        companion = subprocess.Popen(
            [*command, "--log", str(log), "--web-port", "0"], stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    assert companion.stdout is not None
    url = companion.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:"), errors.read_text()
    return companion, url


def state(url: str) -> dict:
    with urllib.request.urlopen(f"{url}/state", timeout=20) as answer:
        return json.load(answer)


def wait_for(url: str, wanted: Callable[[dict], bool], timeout_s: float = 60.0) -> dict:
    deadline = time.monotonic() + timeout_s
    while not wanted(now := state(url)):
        assert time.monotonic() < deadline, now
        time.sleep(0.2)
    return now


def test_a_camera_comes_back_and_a_match_goes_on_after_a_kill(tmp_path):
    errors = tmp_path / "errors.txt"
    camera = Plugged()
    companion, url = run(camera.port, tmp_path / "log.sqlite", errors)
    try:
        wait_for(url, lambda now: now["watch"]["state"] == "watching")
        camera.pull()
        lost = wait_for(url, lambda now: now["watch"]["state"] == "camera-lost")
        assert "check the cable" in lost["watch"]["why"]
        camera = Plugged(camera.port)
        wait_for(url, lambda now: now["watch"]["state"] == "watching")

        body = {"names": ["Ada", "Ben"], "starter": "a", "mode": "match", "threshold": 5}
        headers = {"Content-Type": "application/json", "X-Companion": "1"}
        urllib.request.urlopen(urllib.request.Request(f"{url}/start", json.dumps(body).encode(), headers)).close()
        before = wait_for(url, lambda now: now["phase"] == "flick")

        companion.kill()
        companion.wait()
        companion.stdout.close()
        companion, url = run(camera.port, tmp_path / "log.sqlite", errors)
        after = wait_for(url, lambda now: now["watch"]["state"] == "watching")
        assert (after["match"], after["phase"], after["threshold"]) == (before["match"], "flick", 5)
        assert after["players"] == before["players"]
        companion.send_signal(signal.SIGTERM)
        assert companion.wait(timeout=30) == 0
    finally:
        companion.kill()
        companion.wait()
        companion.stdout.close()
        camera.pull()
    assert "Traceback" not in errors.read_text()


def _other_board(path: Path) -> None:
    store = Store(path)
    start = Declaration(Declared.START, Setup(field=replace(USUAL_FIELD, width_mm=320.0)))
    store.begin(start, Referee().take(start))
    store.close()


def _no_log(path: Path) -> None:
    path.write_text("my shopping list\n" * 50)


@pytest.mark.parametrize(
    ("source", "spoil", "words"),
    [
        ("0", _other_board, "another board"),
        ("0", _no_log, "not a match log"),
        ("nowhere.mp4", None, "no such file"),
        ("picture.mp4", None, "not a video"),
        ("pictures", None, "a table is watched by a camera"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy(source, spoil, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("picture.mp4").write_bytes(b"no video")
    Path("pictures").mkdir()
    cv2.imwrite("pictures/1.png", np.zeros((9, 9, 3), np.uint8))
    log = tmp_path / "log.sqlite"
    if spoil is not None:
        spoil(log)
    before = log.read_bytes() if log.exists() else None
    ended = CliRunner().invoke(main, ["run", source, "--log", str(log), "--web-port", "0"])
    assert ended.exit_code == 1
    assert ended.stdout == ""
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert (log.read_bytes() if log.exists() else None) == before
