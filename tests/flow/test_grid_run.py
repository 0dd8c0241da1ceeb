"""Claims about the commands with a grid: it is played on, comes and goes, and what is wrong is told in one line."""

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable

import pytest
import serial
from click.testing import CliRunner

from companion.cli import main
from firmware_protocol.driver import DARK
from hardware_sims import avr, capture
from hardware_sims.board import Board
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import STANDARD
from hardware_sims.players import Moment
from hardware_sims.ports import PtyPort
from hardware_sims.recording import Way, read_recording
from hardware_sims.scene import Room, Scene
from hardware_sims.strip import Strip, StripFirmware
from hardware_sims.view import View
from vision.board import Grid

CELLS = Grid().cells(8, 7)


def state(url: str, path: str = "state"):
    with urllib.request.urlopen(f"{url}/{path}", timeout=20) as answer:
        return json.load(answer)


def wait_for(wanted: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not wanted():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def lay(port: PtyPort, row: int, column: int, occupied: bool = True) -> None:
    port.call(lambda board, t_s: board.set_sensor(CELLS.index((row, column)), occupied, t_s))


def lit(port: PtyPort) -> set[tuple[int, int]]:
    leds = port.call(lambda board, _t_s: board.leds)
    return {cell for cell, led in zip(CELLS, leds, strict=True) if led != DARK}


def front_row(row: int) -> set[tuple[int, int]]:
    return {(row, column) for column in range(1, 8)}


def test_a_game_by_sensors_alone_on_a_port_that_is_pulled_and_comes_back_under_another_name(tmp_path):
    errors, record = tmp_path / "errors.txt", tmp_path / "line.txt"
    with PtyPort(Board(8, 7, seed=4), link_name=tmp_path / "ttyUSB0", seed=4) as port:
        command = [sys.executable, "-c", "from companion.cli import main; main()", "run", "none"]
        command += ["--port", str(tmp_path / "ttyUSB*"), "--web-port", "0", "--log", str(tmp_path / "log.sqlite")]
        command += ["--baud", "500000", "--record", str(record)]
        with errors.open("w") as stderr:
            companion = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        try:
            assert companion.stdout is not None
            url = companion.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), errors.read_text()
            wait_for(lambda: state(url, "grid")["state"] == "there", "the grid is not found")
            grid = state(url, "grid")
            assert (grid["simulated"], grid["baud"]) == (True, 500_000)
            assert state(url)["watch"] == {"state": "watching", "why": "by its sensors alone"}
            body = {"names": ["Ada", "Ben"], "starter": "a", "mode": "match", "threshold": 5}
            headers = {"Content-Type": "application/json", "X-Companion": "1"}
            urllib.request.urlopen(urllib.request.Request(f"{url}/start", json.dumps(body).encode(), headers)).close()
            wait_for(lambda: lit(port) == front_row(1), "A's turn is not shown")

            lay(port, 8, 3)
            wait_for(lambda: state(url)["turn"] == "b", "no flick is ruled")
            assert state(url)["players"]["a"]["count"] == 1
            wait_for(lambda: lit(port) == front_row(8), "B's turn is not shown")

            port.unplug()
            wait_for(lambda: state(url, "grid")["state"] == "lost", "the loss is not noticed")
            wait_for(lambda: state(url)["watch"]["state"] == "grid-lost", "the page does not say so")
            port.replug(new_name=True)
            wait_for(lambda: state(url, "grid")["state"] == "there", "the grid is not found again")
            wait_for(lambda: lit(port) == front_row(8), "the LEDs are not painted anew")
            lay(port, 5, 5)
            wait_for(lambda: state(url)["turn"] == "a", "no flick is ruled after the return")
            assert len(state(url)["disks"]) == 2
            companion.send_signal(signal.SIGTERM)
            assert companion.wait(timeout=30) == 0
        finally:
            companion.kill()
            companion.wait()
            companion.stdout.close()
    told = errors.read_text()
    assert "Traceback" not in told
    assert "nothing is watched until it is back" in told
    text = record.read_text()
    assert {entry.way for entry in read_recording(text.splitlines())} == {Way.HOST_SENT, Way.HOST_GOT}
    assert text.count("Info(") >= 2
    assert "SetBaud(baud=500000)" in text
    assert f"index={CELLS.index((8, 3))}, occupied=1" in text


def test_a_table_with_a_camera_goes_on_without_its_grid_and_says_so(tmp_path):
    view = View(size_wh=(960, 540), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
    camera = Camera(Scene(STANDARD, Room(seed=3)), view, Settings(jpeg_quality=None))
    camera.read(())  # the board is drawn first: a busy computer takes longer over it than a camera may to begin
    device = capture.Device(camera, (Moment(n, n / 15, ()) for n in itertools.count()))
    server = capture.serve(device)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    errors = tmp_path / "errors.txt"
    command = [sys.executable, "-c", "from companion.cli import main; main()", "run"]
    command += [f"http://127.0.0.1:{server.server_port}/", "--port", str(tmp_path / "ttyUSB0")]
    with errors.open("w") as stderr:
        companion = subprocess.Popen(
            [*command, "--web-port", "0", "--log", str(tmp_path / "log.sqlite")],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    try:
        assert companion.stdout is not None
        url = companion.stdout.readline().strip()
        wait_for(lambda: state(url)["watch"]["state"] == "watching", "the board is not watched")
        wait_for(lambda: state(url, "grid")["state"] == "lost", "the page says nothing of the grid")
        assert "there is no such port; plug the grid in" in state(url, "grid")["why"]
        companion.send_signal(signal.SIGTERM)
        assert companion.wait(timeout=30) == 0
    finally:
        companion.kill()
        companion.wait()
        companion.stdout.close()
        device.close()
        server.shutdown()
        server.server_close()
    kept, told = errors.read_text().splitlines()
    assert kept.startswith("The matches are kept in")
    assert told.endswith("; the game goes on with the camera alone")
    assert "there is no such port" in told


@pytest.fixture
def ended(tmp_path):
    """`companion run none` on a port that cannot be had: it ends with one line, exit code 1, and no page."""

    def run(port: str) -> str:
        log = str(tmp_path / "log.sqlite")
        ended = CliRunner().invoke(main, ["run", "none", "--port", port, "--log", log, "--web-port", "0"])
        assert ended.exit_code == 1
        assert ended.stdout == ""
        kept, told = ended.stderr.splitlines()
        assert kept.startswith("The matches are kept in")
        return told

    return run


def test_a_port_that_is_not_there(ended, tmp_path):
    assert "there is no such port; plug the grid in" in ended(str(tmp_path / "ttyUSB0"))


def test_a_port_that_another_program_uses(ended):
    with PtyPort(Board(8, 7)) as port, serial.Serial(port.path, exclusive=True):
        assert "another program uses the port; close it" in ended(port.path)


@pytest.mark.parametrize(
    ("board", "words"),
    [
        pytest.param(Board(4, 4), "the grid has 4 x 4 cells, the board 8 x 7; take this board's profile", id="size"),
        pytest.param(Board(8, 7, proto=9), "protocol", id="newer protocol"),
    ],
)
def test_a_grid_that_cannot_be_used(ended, board, words):
    with PtyPort(board) as port:
        told = ended(port.path)
    assert port.path in told or "pts" in told
    assert words in told


def test_a_strip_without_sensors_is_no_table_without_a_camera(ended):
    with PtyPort(Strip(56, StripFirmware.ADALIGHT)) as port:
        assert "it has LEDs and no sensors; the game needs a camera" in ended(f"adalight:{port.path}")


def test_a_port_that_is_forbidden_to_us(tmp_path):
    command = [*without_roots_rights(), sys.executable, "-c", "from companion.cli import main; main()"]
    with PtyPort(Board(8, 7)) as port:
        os.chmod(port.path, 0)
        command += ["run", "none", "--port", port.path, "--log", str(tmp_path / "log.sqlite")]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    kept, told = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout) == (1, "")
    assert kept.startswith("The matches are kept in")
    assert told.startswith(port.path)
    assert "may use the port" in told


def without_roots_rights() -> list[str]:
    """What makes a command obey a port's mode, which root is above."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may use every port, and there is no setpriv to give that up")
    return ["setpriv", *(f"--{which}=-dac_override,-dac_read_search" for which in ("bounding-set", "inh-caps"))]


def test_a_recording_that_cannot_be_written_is_told(tmp_path):
    log = str(tmp_path / "log.sqlite")
    command = ["run", "none", "--port", "sim:", "--log", log, "--record", str(tmp_path / "none" / "line.txt")]
    ended = CliRunner().invoke(main, command)
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "line.txt: it cannot be written (No such file or directory); give another" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "none"], "give its --port"),
        (["run", "0", "--port", "8420"], "the page's is --web-port"),
        (["run", "0", "--record", "line.txt"], "give its --port"),
        (["run", "none", "--port", "sim:", "--baud", "fast"], "'fast' is not a valid integer"),
        (["referee", "none", "--game", "pathways", "--board", "x.toml"], "give its --port"),
    ],
)
def test_wrong_usage_is_told(arguments, words):
    ended = CliRunner().invoke(main, arguments)
    assert ended.exit_code == 2
    assert words in ended.stderr


@pytest.fixture
def signals():
    """`companion run` takes the signals that end a program; here they are given back."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_page_port_that_is_taken_is_told_with_its_option(tmp_path, signals):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = str(other.getsockname()[1])
        log = str(tmp_path / "log.sqlite")
        ended = CliRunner().invoke(main, ["run", "none", "--port", "sim:", "--web-port", taken, "--log", log])
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[-1].endswith("give another with --web-port")


@pytest.mark.parametrize("port", [pytest.param("sim:", marks=pytest.mark.long), "sim:avr"])
def test_a_simulated_grid_is_found_and_called_so(port, tmp_path):
    if port == "sim:avr" and avr.missing():
        pytest.skip(str(avr.missing()))
    command = [sys.executable, "-c", "from companion.cli import main; main()", "run", "none", "--port", port]
    command += ["--web-port", "0", "--log", str(tmp_path / "log.sqlite")]
    companion = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert companion.stdout is not None
        url = companion.stdout.readline().strip()
        wait_for(lambda: state(url, "grid")["state"] == "there", "the grid is not found")
        grid = state(url, "grid")
        assert (grid["simulated"], grid["device"]["rows"], grid["device"]["columns"]) == (True, 8, 7)
        companion.send_signal(signal.SIGTERM)
        _, told = companion.communicate(timeout=30)
    finally:
        companion.kill()
        companion.communicate()
    assert companion.returncode == 0
    assert told.count("\n") == 1


def test_a_simulated_grid_that_does_not_exist(ended):
    assert "there are sim: and sim:avr" in ended("sim:atari")


def test_ports_lists_what_answers_and_what_does_not(tmp_path):
    missing = str(tmp_path / "ttyUSB7")
    with PtyPort(Board(8, 7, seed=4)) as port, PtyPort(Board(8, 7)) as used, serial.Serial(used.path, exclusive=True):
        names = [port.path, used.path, missing]
        told = CliRunner().invoke(main, ["ports", *names, "--json"])
        words = CliRunner().invoke(main, ["ports", *names])
    assert told.exit_code == words.exit_code == 0
    lines = {line["port"]: line for line in map(json.loads, told.stdout.splitlines())}
    answers = lines[port.path]["grid"]
    assert (answers["driver"], answers["rows"], answers["columns"], answers["simulated"]) == ("grid", 8, 7, True)
    assert answers["uid"] == port.device.uid.hex()
    assert lines[port.path]["trouble"] is None
    assert lines[used.path]["grid"] is None
    assert "another program" in lines[used.path]["trouble"]
    assert "no such port" in lines[missing]["trouble"]
    assert f"8 x 7 cells, driver grid, uid {port.device.uid.hex()}" in words.stdout
    assert "another program uses the port" in words.stdout
