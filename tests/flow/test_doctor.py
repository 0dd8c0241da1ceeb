"""`companion doctor` and `companion cameras`: what is fit passes, what is not is told with its remedy."""

import json
import os
import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement

from companion import doctor
from companion.cameras import Feed, Listed, listed, watch
from companion.cli import main
from companion.doctor import Check, Verdict
from companion.inputs import Declaration, Declared, Setup
from companion.referee import Referee
from companion.store import Store
from firmware_protocol.ports import Attached, attached
from hardware_sims import capture, virtual
from hardware_sims.board import Board
from hardware_sims.ports import PtyPort
from vision.camera import Camera, opens, read_picture

DATA = Path(__file__).resolve().parents[1] / "data"
BOARDS = Path(doctor.__file__).with_name("boards")
PICTURE = DATA / "bright-wood.jpg"
PROFILE = DATA / "bright-wood.toml"


def run(*arguments):
    told = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    return told.exit_code, [json.loads(line) for line in told.stdout.splitlines()], told.stderr


def free_port():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def folder(tmp_path):
    """A source of one picture."""
    made = tmp_path / "pictures"
    made.mkdir()
    cv2.imwrite(str(made / "one.png"), picture())
    return made


def picture():
    """A good picture, as large as a webcam's."""
    return cv2.resize(read_picture(PICTURE), (1280, 720), interpolation=cv2.INTER_CUBIC)


def examine(log, *arguments, web_port=None):
    """The checks by name, and the exit code."""
    port = free_port() if web_port is None else web_port
    code, lines, stderr = run("doctor", "--json", "--log", log, "--web-port", port, *arguments)
    for line in lines:
        assert list(line) == ["name", "verdict", "figure", "remedy"]
        assert (line["remedy"] is None) == (line["verdict"] == "ok")
    in_trouble = [line["name"] for line in lines if line["verdict"] == "trouble"]
    assert code == (1 if in_trouble else 0)
    assert all(name in stderr for name in in_trouble)
    assert len(stderr.splitlines()) == (1 if in_trouble else 0)
    return {line["name"]: line for line in lines}


def test_a_fit_computer_passes_with_figures(tmp_path, folder):
    log = tmp_path / "log.sqlite"
    Store(log).close()
    found = examine(log, folder, "--board", PROFILE)
    fit = {"python", "libraries", "opencv", "camera", "brightness", "sharpness", "board", "data folder", "store"}
    assert {name for name in found if found[name]["verdict"] == "ok"} >= fit | {"web port", "clock"}
    assert "1280 x 720" in found["camera"]["figure"]
    assert "residual" in found["board"]["figure"]
    assert "reportlab" in found["libraries"]["figure"]


def test_nothing_is_made_where_nothing_was(tmp_path):
    found = examine(tmp_path / "not" / "yet" / "log.sqlite")
    assert (found["data folder"]["verdict"], found["store"]["verdict"]) == ("ok", "ok")
    assert not list(tmp_path.iterdir())


def test_people_get_a_line_a_check(tmp_path):
    told = CliRunner().invoke(main, ["doctor", "--log", str(tmp_path / "log"), "--web-port", str(free_port())])
    assert all(line.split()[0] in {"ok", "warning", "trouble"} for line in told.stdout.splitlines())
    assert len(told.stdout.splitlines()) >= 9


def black(_image):
    return np.zeros((720, 1280, 3), np.uint8)


def dim(image):
    return (image * 0.3).astype(np.uint8)


def glaring(image):
    return np.where(np.arange(image.shape[1])[None, :, None] < 500, 255, image).astype(np.uint8)


def blurred(image):
    return cv2.GaussianBlur(image, (0, 0), 6.0)


def small(image):
    return cv2.resize(image, (640, 360), interpolation=cv2.INTER_AREA)


def empty(image):
    return np.random.default_rng(1).integers(0, 255, image.shape, dtype=np.uint8)


@pytest.mark.parametrize(
    ("spoil", "name", "verdict", "remedy"),
    [
        (black, "brightness", "trouble", "cap off the lens"),
        (dim, "brightness", "warning", "more light"),
        (glaring, "brightness", "warning", "exposure"),
        (blurred, "sharpness", "warning", "focus"),
        (small, "camera", "warning", "1280 x 720"),
        (empty, "board", "trouble", "show the whole board"),
    ],
)
def test_a_bad_picture_is_told_with_its_remedy(tmp_path, folder, spoil, name, verdict, remedy):
    cv2.imwrite(str(folder / "one.png"), spoil(picture()))
    found = examine(tmp_path / "log.sqlite", folder, "--board", PROFILE)
    assert found[name]["verdict"] == verdict
    assert remedy in found[name]["remedy"]


def test_a_board_that_needs_its_corners_is_no_trouble(tmp_path, folder):
    found = examine(tmp_path / "log.sqlite", folder, "--board", BOARDS / "pathstone.toml")["board"]
    assert found["verdict"] == "warning"


def test_a_marked_board_without_its_marks_is_trouble(tmp_path, folder):
    found = examine(tmp_path / "log.sqlite", folder, "--board", BOARDS / "magestone.toml")["board"]
    assert (found["verdict"], "corner marks" in found["figure"]) == ("trouble", True)


@pytest.mark.parametrize(
    ("source", "board", "name", "figure"),
    [
        ("no-such-video.mp4", PROFILE, "camera", "no such file"),
        ("63", PROFILE, "camera", "camera 63"),
        (PROFILE, PROFILE, "camera", "not a video"),
        ("pictures", "none.toml", "profile", "none.toml"),
        ("pictures", DATA / "bright-wood.json", "profile", "TOML"),
    ],
)
def test_a_source_or_board_that_cannot_be_had_is_trouble(tmp_path, folder, monkeypatch, source, board, name, figure):
    monkeypatch.chdir(tmp_path)
    found = examine("log.sqlite", source, "--board", board)
    assert found[name]["verdict"] == "trouble"
    assert figure in found[name]["figure"]


def test_a_log_that_is_none_is_trouble(tmp_path):
    log = tmp_path / "log.sqlite"
    log.write_text("something else altogether, as long as a header of SQLite is and longer: " * 20)
    assert examine(log)["store"]["verdict"] == "trouble"


def test_a_log_in_use_is_trouble(tmp_path):
    with closing(Store(tmp_path / "log.sqlite")) as held:
        found = examine(held.path)["store"]
    assert (found["verdict"], "another companion" in found["figure"]) == ("trouble", True)


def test_a_folder_that_cannot_be_is_trouble(tmp_path):
    (tmp_path / "file").write_text("")
    found = examine(tmp_path / "file" / "log.sqlite")
    assert found["data folder"]["verdict"] == "trouble"
    assert "--log" in found["data folder"]["remedy"]


def test_a_port_that_is_taken_is_trouble(tmp_path):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = examine(tmp_path / "log.sqlite", web_port=taken.getsockname()[1])
    assert found["web port"]["verdict"] == "trouble"
    assert "--web-port" in found["web port"]["remedy"]


def test_a_board_needs_a_picture_to_be_found_in(tmp_path):
    code, lines, stderr = run("doctor", "--board", PROFILE)
    assert (code, lines) == (2, [])
    assert "SOURCE" in stderr


@pytest.mark.parametrize(
    ("wanted", "verdict"),
    [
        (["click>=8"], Verdict.OK),
        (["click>=8", "click>=999"], Verdict.TROUBLE),
        (["no-such-library-at-all"], Verdict.TROUBLE),
    ],
)
def test_libraries_are_held_against_their_bounds(wanted, verdict):
    found = doctor.libraries_from([Requirement(one) for one in wanted])
    assert found.verdict is verdict
    assert (wanted[-1] in found.remedy) == (verdict is Verdict.TROUBLE)


@pytest.mark.parametrize(
    ("free_gb", "verdict"),
    [(50.0, Verdict.OK), (0.5, Verdict.WARNING), (0.05, Verdict.TROUBLE), (0.0, Verdict.TROUBLE)],
)
def test_a_full_disk_is_told(free_gb, verdict):
    assert doctor.disk_from(free_gb).verdict is verdict


@pytest.mark.parametrize(("fps", "verdict"), [(30.0, Verdict.OK), (None, Verdict.OK), (6.0, Verdict.WARNING)])
def test_a_slow_camera_is_told(fps, verdict):
    assert doctor.camera_from(Feed(np.zeros((720, 1280, 3), np.uint8), fps)).verdict is verdict


def test_a_clock_that_woke_up_in_the_past_is_told():
    now = datetime.now(UTC)
    assert doctor.clock(now).verdict is Verdict.OK
    assert doctor.clock(now, (now - timedelta(seconds=1)).isoformat()).verdict is Verdict.OK
    assert doctor.clock(now, (now + timedelta(days=1)).isoformat()).verdict is Verdict.WARNING
    assert doctor.clock(datetime(2001, 1, 1, tzinfo=UTC)).verdict is Verdict.WARNING


def test_the_last_entry_of_the_log_is_read(tmp_path):
    path = tmp_path / "log.sqlite"
    with closing(Store(path)) as log:
        given = Declaration(Declared.START, Setup())
        log.begin(given, Referee().take(given))
    found, last_at = doctor.store(path)
    assert (found.verdict, "entries read: 1" in found.figure) == (Verdict.OK, True)
    assert timedelta(0) <= datetime.now(UTC) - datetime.fromisoformat(last_at) < timedelta(hours=1)


def test_a_grid_that_answers_is_fit():
    with PtyPort(Board(8, 7)) as simulated:
        (found,) = attached([simulated.path])
    assert doctor.port_from(found).verdict is Verdict.OK
    assert "8 x 7" in doctor.port_from(found).figure


def test_a_port_without_a_grid_may_be_another_devices():
    silent = Attached("/dev/ttyUSB9", "", "", "", None, "nothing answers; is it a grid?")
    assert doctor.port_from(silent) == Check("port /dev/ttyUSB9", Verdict.WARNING, "nothing answers", "is it a grid?")
    mute = Attached("/dev/ttyUSB9", "", "", "", None, "a strip is mute")
    assert doctor.port_from(mute) == Check(
        "port /dev/ttyUSB9", Verdict.WARNING, "a strip is mute", "see `companion ports`"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every port")
def test_a_forbidden_port_is_trouble(tmp_path):
    port = tmp_path / "tty"
    port.touch(mode=0)
    assert doctor.port_from(Attached(str(port), "", "", "", None, "forbidden; ask")).verdict is Verdict.TROUBLE


def test_a_live_camera_is_watched():
    table = virtual.table(1, lambda: None, lambda _words: None, size_wh=(320, 180))
    table.players.referee = None
    device = capture.Device(table.camera, table.play())
    try:
        feed = watch(Camera("simulated", device.connect, stale_s=60.0))
    finally:
        device.close()
    assert feed.size_wh == (320, 180)
    assert feed.fps is not None
    assert 0 < feed.fps < 60


def test_cameras_are_listed_by_number(tmp_path):
    sysfs, by_id = tmp_path / "video4linux", tmp_path / "by-id"
    by_id.mkdir()
    for number, name in ((10, "Second Camera"), (2, "HD Webcam: HD Webcam"), (3, None)):
        entry = sysfs / f"video{number}"
        entry.mkdir(parents=True)
        (tmp_path / entry.name).touch()
        if name is not None:
            (entry / "name").write_text(f"{name}\n")
    (sysfs / "v4l-subdev0").mkdir()
    (by_id / "usb-HD_Webcam-video-index0").symlink_to("../video2")
    assert listed(sysfs, by_id) == (
        Listed(2, "HD Webcam: HD Webcam", str(by_id / "usb-HD_Webcam-video-index0")),
        Listed(3, ""),
        Listed(10, "Second Camera"),
    )


@pytest.mark.skipif(bool(listed()), reason="this computer may have a camera")
def test_without_a_camera_the_remedy_is_told():
    for arguments in (["cameras"], ["cameras", "--json"]):
        code, lines, stderr = run(*arguments)
        assert (code, lines) == (1, [])
        assert len(stderr.splitlines()) == 1
        assert "plug one in" in stderr


def test_a_number_without_a_camera_does_not_open():
    assert not opens(63)
