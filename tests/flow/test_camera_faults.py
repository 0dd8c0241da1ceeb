"""Claims about a live camera that fails: what the page says meanwhile, and that it goes on by itself afterwards."""

import itertools
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import replace

import pytest

from hardware_sims.camera import Camera, Settings
from hardware_sims.capture import Device, Plug, serve
from hardware_sims.disks import STANDARD
from hardware_sims.players import Moment
from hardware_sims.scene import Room, Scene
from hardware_sims.view import View

VIEW = View((640, 360), fov_x_deg=60.0, tilt_deg=11.0, distance_mm=640.0, roll_deg=90.0)
USUAL = Settings(jpeg_quality=None)


def state(url: str) -> dict:
    with urllib.request.urlopen(f"{url}/state", timeout=20) as answer:
        return json.load(answer)


def wait_for(url: str, watch: str, timeout_s: float = 90.0) -> str:
    deadline = time.monotonic() + timeout_s
    while (now := state(url)["watch"])["state"] != watch:
        assert time.monotonic() < deadline, now
        time.sleep(0.2)
    return now["why"]


@pytest.fixture
def watched(tmp_path):
    """A companion that watches a simulated camera over HTTP, which another program has at first; with its page."""
    camera = Camera(Scene(STANDARD, Room(seed=3)), VIEW, USUAL)
    device = Device(camera, (Moment(n, n / 15, ()) for n in itertools.count()), plug=Plug(busy_opens=2))
    stream = serve(device)
    thread = threading.Thread(target=stream.serve_forever, daemon=True)
    thread.start()
    command = [sys.executable, "-c", "from companion.cli import main; main()", "run"]
    command += [f"http://127.0.0.1:{stream.server_port}/", "--web-port", "0", "--log", str(tmp_path / "log.sqlite")]
    errors = tmp_path / "errors.txt"
    with errors.open("w") as stderr:
        companion = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert companion.stdout is not None
        yield camera, companion.stdout.readline().strip()
        companion.send_signal(signal.SIGTERM)
        assert companion.wait(timeout=30) == 0, errors.read_text()
    finally:
        companion.kill()
        companion.wait()
        companion.stdout.close()
        device.close()
        stream.shutdown()
        stream.server_close()
        thread.join()
    assert "Traceback" not in errors.read_text()


def test_a_busy_a_frozen_and_a_silent_camera_are_told_and_come_back(watched):
    camera, url = watched
    wait_for(url, "watching")
    camera.settings = replace(USUAL, freeze_rate=1.0, freeze_frames=10**6)
    assert "repeats one picture" in wait_for(url, "stalled")
    assert "repeats one picture" in wait_for(url, "camera-lost")
    camera.settings = USUAL
    wait_for(url, "watching")
    camera.settings = replace(USUAL, drop_rate=1.0)
    assert "gives no new picture" in wait_for(url, "stalled")
    camera.settings = USUAL
    wait_for(url, "watching")
