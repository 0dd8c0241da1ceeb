"""From pictures to rulings: whole games on video, and what a camera and hands do to pictures without any event."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion.cli import main
from companion.inputs import Declaration, Declared, Input, Look, Setup
from companion.referee import Referee, events_to_json
from companion.ruling import Ruling
from companion.session import Session
from companion.store import Store
from hardware_sims import virtual
from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.disks import Disk
from hardware_sims.scene import Room, Scene
from hardware_sims.table import STANDARD, flat, in_cell
from hardware_sims.view import View
from vision.camera import Frame

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
GAMES = sorted((SHARED / "video").glob("*.json"))

PROFILE_TOML = """
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
a = "#d24242"
b = "#32323a"
[camera]
fov_x_deg = 60.0
"""


def referee(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["referee", *map(str, arguments), "--game", "pathways", "--json"])


def told(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


# Whole games


@pytest.mark.skipif(not GAMES, reason="the shared videos are not here")
@pytest.mark.parametrize(
    ("truth_path", "corners_given"),
    [
        pytest.param(path, given, marks=() if given is (n % 2 == 0) else pytest.mark.long, id=f"{path.stem}-{said}")
        for n, path in enumerate(GAMES)
        for given, said in ((True, "corners-given"), (False, "board-found"))
    ],
)
def test_every_shot_order_and_count_of_a_whole_game(truth_path, corners_given, tmp_path):
    truth = json.loads(truth_path.read_text())
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in truth["views"][0]["corners_px"])
    result = referee(
        truth_path.with_name(truth["video"]),
        *("--board", truth_path.with_suffix(".toml")),
        *("--first", truth["first_player"]),
        *("--store", tmp_path / "log.sqlite3"),
        *(("--corners", corners) if corners_given else ()),
    )
    events = told(result)
    assert result.exit_code == 0, result.stderr
    assert {event["event"] for event in events} <= {"game_started", "shot", "cleared", "game_over", "end"}
    shots = [event for event in events if event["event"] == "shot"]
    assert [_shot(shot["n"], shot["player"], shot["disks"], "cell", _orders(shot)) for shot in shots] == [
        _shot(shot["n"], shot["player"], shot["rest"], "hole", _true_orders(shot)) for shot in truth["shots"]
    ]
    for shot, true in zip(shots, truth["shots"], strict=True):
        assert shot["frame"] <= true["settled_frame"], f"shot {shot['n']} is told after the next hand has come"
    over, end = events[-2:]
    assert over["count"] == truth["far_row_count"]
    assert (end["event"], end["frames"]) == ("end", truth["frames"])
    store = Store(tmp_path / "log.sqlite3")
    match = store.latest()
    assert match is not None
    resumed = store.resume(match).standing
    store.close()
    assert resumed.game is not None
    assert resumed.game.over


def _shot(n: int, player: str, disks: list[dict], place: str, orders: list[tuple[str, str]]) -> tuple:
    lie = sorted((disk["colour"], tuple(disk[place] or (0, 0))) for disk in disks)
    return n, player, lie, sorted(orders)


def _orders(shot: dict) -> list[tuple[str, str]]:
    return [(order["colour"], order["why"]) for order in shot["orders"] if order["do"] == "remove"]


def _true_orders(shot: dict) -> list[tuple[str, str]]:
    return [(order["disk"][0], order["why"]) for order in shot["remove"]]


# What happens to pictures, without anything happening on the board


VIEW = View(size_wh=(960, 540), fov_x_deg=60.0, tilt_deg=11.0, azimuth_deg=180.0, distance_mm=560.0)
ARM = Arm((160.0, 30.0, 25.0), -90.0)
REACHING = Arm((120.0, 260.0, 25.0), -80.0)
A1 = in_cell(STANDARD, "a1", "a", (5, 3))
B1 = in_cell(STANDARD, "b1", "b", (4, 6))
FLYING = replace(flat(STANDARD, "a2", "a", 160.0, 200.0), blur_mm=(0.0, 14.0))
Step = tuple[int, tuple[Disk, ...], tuple[Arm, ...]]
"""So many frames with these disks and arms."""

FLICK: list[Step] = [(9, (), ()), (6, (), (ARM,)), (7, (A1,), ())]


def camera(settings: Settings | None = None) -> Camera:
    return Camera(Scene(STANDARD, Room(seed=3)), VIEW, settings or Settings(jpeg_quality=None))


def frames(steps: Iterable[Step], over: Camera | None = None) -> list[Frame]:
    """The steps as one camera takes them, 15 a second."""
    over = over or camera()
    images = []
    for count, disks, arms in steps:
        images += [over.read(disks, arms, (len(images) + k) / 15) for k in range(count)]
    return [Frame(n, n / 15, image) for n, image in enumerate(images) if image is not None]


def events(stream: Iterable[Frame]) -> list[dict]:
    """What the referee says of a stream of frames."""
    said: list[dict] = []

    def tell(given: Input, rulings: tuple[Ruling, ...]) -> None:
        said.extend(events_to_json(rulings, given if isinstance(given, Look) else None))

    session = Session(virtual.PROFILE, Referee(), tell)
    session.say(Declaration(Declared.START, Setup()))
    session.run(stream)
    return said[1:]


def brief(said: list[dict]) -> list[str]:
    return [f"{e['event']} {e['player']} {len(e['disks'])}" if e["event"] == "shot" else e["event"] for e in said]


def lit(gain: Callable[[int], float]) -> Callable[[Frame], Frame]:
    return lambda frame: replace(frame, image_bgr=cv2.convertScaleAbs(frame.image_bgr, alpha=gain(frame.n)))


def black(n: Callable[[int], bool]) -> Callable[[Frame], Frame]:
    return lambda frame: replace(frame, image_bgr=frame.image_bgr * 0) if n(frame.n) else frame


def noisy(frame: Frame) -> Frame:
    noise = np.random.default_rng(frame.n).normal(0, 5, frame.image_bgr.shape)
    return replace(frame, image_bgr=(frame.image_bgr + noise).clip(0, 255).astype(np.uint8))


def trembling(frame: Frame) -> Frame:
    x, y = np.random.default_rng(frame.n).normal(0, 0.2, 2)
    moved = cv2.warpAffine(
        frame.image_bgr, np.array([[1, 0, x], [0, 1, y]]), VIEW.size_wh, borderMode=cv2.BORDER_REPLICATE
    )
    return replace(frame, image_bgr=np.asarray(moved, np.uint8))


@pytest.fixture(scope="module")
def flick() -> list[Frame]:
    """One flick by A that comes to rest, then an idle hand, then nothing."""
    return frames([*FLICK, (5, (A1,), (REACHING,)), (7, (A1,), ())])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda frame: frame, id="as it is"),
        pytest.param(lit(lambda n: 0.6 + 0.8 * min(n, 20) / 20), id="exposure ramp"),
        pytest.param(lit(lambda n: 1.0 if n < 26 else 0.75), id="lamp switched off under the idle hand"),
        pytest.param(lit(lambda n: 1.04 if n % 2 else 0.96), id="mains flicker"),
        pytest.param(black(lambda n: n < 3), id="black warm-up frames"),
        pytest.param(black(lambda n: n % 4 == 0), id="black frames among good ones"),
        pytest.param(noisy, id="a noisy sensor"),
        pytest.param(trembling, id="a trembling table"),
    ],
)
def test_one_flick_is_one_shot_whatever_the_pictures_suffer(change, flick):
    assert brief(events(map(change, flick))) == ["shot a 1"]


def test_a_frozen_camera_adds_nothing(flick):
    stuck = [replace(flick[-1], n=len(flick) + k, t_s=(len(flick) + k) / 15) for k in range(40)]
    assert brief(events([*flick, *stuck])) == ["shot a 1"]


def test_dropped_frames_lose_no_shot(flick):
    assert brief(events(frame for frame in flick if frame.n % 2)) == ["shot a 1"]


def test_a_disk_that_flies_off_the_board_is_a_shot():
    steps: list[Step] = [*FLICK, (5, (A1,), (REACHING,)), (7, (A1, B1), ())]
    steps += [(5, (A1, B1), (ARM,)), (1, (A1, B1, FLYING), (ARM,)), (1, (A1, B1, replace(FLYING, y_mm=330.0)), ())]
    said = events(frames([*steps, (8, (A1, B1), ())]))
    assert brief(said) == ["shot a 1", "shot b 2", "shot a 2"]
    assert said[-1]["left_board"] == 1


def test_a_hand_alone_is_no_shot():
    assert brief(
        events(frames([*FLICK, (6, (A1,), (REACHING,)), (6, (A1,), ()), (6, (A1,), (ARM,)), (6, (A1,), ())]))
    ) == ["shot a 1"]


def test_no_event_while_a_hand_is_in():
    """The disk lies there long before the hand goes."""
    said = events(frames([(5, (), ()), (25, (A1,), (ARM,)), (7, (A1,), ())]))
    assert brief(said) == ["shot a 1"]
    assert said[0]["frame"] >= 30


def test_a_knocked_camera_is_found_again_and_makes_no_event():
    over = camera()
    stream = frames(FLICK, over)
    over.bump()
    after = frames([(9, (A1,), ()), (5, (A1,), (ARM,)), (8, (A1, B1), ())], over)
    stream += [replace(frame, n=frame.n + len(stream), t_s=frame.t_s + len(stream) / 15) for frame in after]
    said = events(stream)
    assert brief(said) == ["shot a 1", "shot b 2"]
    assert [disk["cell"] for disk in sorted(said[1]["disks"], key=lambda disk: disk["colour"])] == [[5, 3], [4, 6]]


def later(frames: list[Frame], before: list[Frame], step_s: float) -> list[Frame]:
    """The frames put after others, one every step_s."""
    start = before[-1]
    return [replace(frame, n=start.n + 1 + k, t_s=start.t_s + (k + 1) * step_s) for k, frame in enumerate(frames)]


def test_a_camera_put_elsewhere_finds_the_board_anew():
    over = camera()
    stream = frames(FLICK, over)
    over.move(replace(VIEW, roll_deg=35.0, distance_mm=1000.0, aim_mm=(30.0, -20.0)))
    stream += later(frames([(18, (A1,), ())], over), stream, 0.5)
    stream += later(frames([(5, (A1,), (ARM,)), (8, (A1, B1), ())], over), stream, 1 / 15)
    said = events(stream)
    assert brief(said) == ["shot a 1", "shot b 2"]
    assert [disk["cell"] for disk in sorted(said[1]["disks"], key=lambda disk: disk["colour"])] == [[5, 3], [4, 6]]


def test_a_board_that_is_gone_makes_no_event():
    stream = frames(FLICK)
    rng = np.random.default_rng(5)
    cloth = [Frame(0, 0.0, (90 + rng.normal(0, 6, (540, 960, 3))).clip(0, 255).astype(np.uint8)) for _ in range(20)]
    assert brief(events([*stream, *later(cloth, stream, 0.5)])) == ["shot a 1"]


def test_a_disk_ordered_off_is_cleared_by_a_hand():
    in_own_row = in_cell(STANDARD, "a1", "a", (1, 3))
    said = events(frames([(5, (), ()), (5, (), (ARM,)), (7, (in_own_row,), ()), (5, (), (REACHING,)), (7, (), ())]))
    assert brief(said) == ["shot a 1", "cleared"]
    assert [order["why"] for order in said[0]["orders"]] == ["own-front-row"]


# Folders


def write_pictures(folder: Path, steps: Iterable[Step]) -> Path:
    for n, frame in enumerate(frames(steps)):
        cv2.imwrite(str(folder / f"{n:02}.png"), frame.image_bgr)
    return folder


@pytest.fixture
def profile(tmp_path) -> Path:
    path = tmp_path / "board.toml"
    path.write_text(PROFILE_TOML)
    return path


def test_each_picture_of_a_folder_is_a_look_and_a_hand_is_waited_out(tmp_path, profile):
    folder = tmp_path / "pictures"
    folder.mkdir()
    write_pictures(folder, [(1, (), ()), (1, (A1,), ()), (1, (A1,), (REACHING,)), (1, (A1, B1), ())])
    result = referee(folder, "--board", profile)
    assert result.exit_code == 0, result.stderr
    assert [(e["player"], e["frame"]) for e in told(result) if e["event"] == "shot"] == [("a", 1), ("b", 3)]
    assert told(result)[-1] == {"event": "end", "frames": 4, "blank": 0, "why": "the source ended"}


# Bad input


def cut_video(folder: Path) -> Path:
    whole = folder / "whole.avi"
    writer = cv2.VideoWriter(str(whole), cv2.VideoWriter.fourcc(*"MJPG"), 15.0, VIEW.size_wh)
    for frame in frames([*FLICK, (22, (A1,), ())]):
        writer.write(frame.image_bgr)
    writer.release()
    path = folder / "cut.avi"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    return path


def no_video(folder: Path) -> Path:
    path = folder / "text.mp4"
    path.write_text("hello")
    return path


def empty_folder(folder: Path) -> Path:
    path = folder / "none"
    path.mkdir()
    return path


def folder_with_no_picture(folder: Path) -> Path:
    path = folder / "pictures"
    path.mkdir()
    write_pictures(path, [(1, (), ())])
    (path / "99.jpg").write_text("no picture")
    return path


def black_pictures(folder: Path) -> Path:
    path = folder / "black"
    path.mkdir()
    for n in range(3):
        cv2.imwrite(str(path / f"{n}.png"), np.zeros((540, 960, 3), np.uint8))
    return path


def pictures_without_a_board(folder: Path) -> Path:
    path = folder / "plain"
    path.mkdir()
    noise = np.random.default_rng(1).integers(90, 130, (540, 960, 3), dtype=np.uint8)
    cv2.imwrite(str(path / "0.png"), noise)
    return path


def one_pixel(folder: Path) -> Path:
    path = folder / "tiny"
    path.mkdir()
    cv2.imwrite(str(path / "0.png"), np.array([[[1, 2, 3]]], np.uint8))
    return path


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (no_video, "not a video"),
        (empty_folder, "no picture in this folder"),
        (folder_with_no_picture, "99.jpg: not a picture"),
        (cut_video, "ends in the middle"),
        (black_pictures, "black"),
        (pictures_without_a_board, "the board is not found"),
        (one_pixel, "black or one grey"),
        (lambda folder: folder / "absent.mp4", "no such file"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy_and_the_log_stays_whole(source, said, tmp_path, profile):
    log = tmp_path / "log.sqlite3"
    result = referee(source(tmp_path), "--board", profile, "--store", log)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), "no traceback"
    assert len(result.stderr.strip().splitlines()) == 1
    assert said in result.stderr
    end = told(result)[-1]
    assert end["event"] == "end"
    assert end["why"] == result.stderr.strip()
    if log.exists():
        store = Store(log)
        match = store.latest()
        if match is not None:
            store.resume(match)
        store.close()


def test_a_cut_video_is_refereed_as_far_as_it_goes(tmp_path, profile):
    result = referee(cut_video(tmp_path), "--board", profile)
    assert [e["event"] for e in told(result)] == ["game_started", "shot", "game_over", "end"]


@pytest.mark.parametrize(
    ("corners", "code", "said"),
    [
        ("1,2 3,4", 2, "give four"),
        ("a,b c,d e,f g,h", 2, "give four"),
        ("100,100 500,500 500,100 100,500", 1, "cross"),
        ("100,100 500,100 500,500 100,500", 1, "wrong way"),
    ],
)
def test_impossible_corners_are_named(corners, code, said, tmp_path, profile):
    folder = tmp_path / "pictures"
    folder.mkdir()
    write_pictures(folder, [(1, (), ())])
    result = referee(folder, "--board", profile, "--corners", corners)
    assert result.exit_code == code
    assert said in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_without_json_the_rulings_are_in_plain_words(tmp_path, profile):
    folder = tmp_path / "pictures"
    folder.mkdir()
    write_pictures(folder, [(1, (), ()), (1, (A1,), ())])
    result = CliRunner().invoke(main, ["referee", str(folder), "--game", "pathways", "--board", str(profile)])
    assert result.exit_code == 0
    assert "A's disk stays at row 5, column 3" in result.stdout
    assert "{" not in result.stdout


@pytest.fixture(autouse=True)
def one_core() -> Iterator[None]:
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    yield
    cv2.setNumThreads(threads)
