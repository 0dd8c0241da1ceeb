"""Sources of pictures: what can be opened gives its pictures in order, what cannot is told in one line."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.camera import Camera, CameraError, Folder, Video, is_blank, open_source


def picture(level: int, size_wh: tuple[int, int] = (64, 48)) -> np.ndarray:
    noise = np.random.default_rng(level).integers(0, 20, (size_wh[1], size_wh[0], 3), dtype=np.uint8)
    return (noise + level).astype(np.uint8)


def write_video(path: Path, frames: int) -> Path:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10.0, (64, 48))
    for n in range(frames):
        writer.write(picture(2 * n))
    writer.release()
    return path


def no_file(folder: Path) -> Path:
    return folder / "absent.mp4"


def text_file(folder: Path) -> Path:
    path = folder / "text.mp4"
    path.write_text("not a video at all")
    return path


def empty_file(folder: Path) -> Path:
    path = folder / "empty.mp4"
    path.touch()
    return path


def mp4_without_its_end(folder: Path) -> Path:
    whole = folder / "whole.mp4"
    writer = cv2.VideoWriter(str(whole), cv2.VideoWriter.fourcc(*"mp4v"), 10.0, (64, 48))
    for n in range(20):
        writer.write(picture(n))
    writer.release()
    path = folder / "cut.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    return path


def folder_without_pictures(folder: Path) -> Path:
    (folder / "notes.txt").write_text("none here")
    return folder


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (no_file, "no such file"),
        (text_file, "not a video"),
        (empty_file, "not a video"),
        (mp4_without_its_end, "cut off"),
        (folder_without_pictures, "no picture in this folder"),
    ],
)
def test_what_cannot_be_opened_is_named_with_the_remedy(make: Callable[[Path], Path], told: str, tmp_path, capfd):
    path = make(tmp_path)
    with pytest.raises(CameraError) as error:
        open_source(str(path))
    assert str(path) in str(error.value)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == "", "the decoder's own complaints are for nobody"


def test_a_video_gives_its_frames_with_their_times(tmp_path):
    source = open_source(str(write_video(tmp_path / "v.avi", 12)))
    assert isinstance(source, Video)
    frames = list(source.frames())
    assert [frame.n for frame in frames] == list(range(12))
    assert frames[10].t_s == pytest.approx(1.0)
    assert [round(float(frame.image_bgr.mean())) for frame in frames] == sorted(
        round(float(frame.image_bgr.mean())) for frame in frames
    )


def test_a_video_that_ends_in_the_middle_gives_what_it_has_and_then_says_so(tmp_path):
    whole = write_video(tmp_path / "v.avi", 60)
    cut = tmp_path / "cut.avi"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    source = open_source(str(cut))
    assert isinstance(source, Video)
    if source.total < 60:
        pytest.skip("this FFmpeg counts the frames that are there")
    seen = []
    with pytest.raises(CameraError, match=r"ends in the middle, after \d+ of 60 frames"):
        seen.extend(frame.n for frame in source.frames())


def test_a_folder_gives_its_pictures_by_name_and_nothing_else(tmp_path):
    for name, level in (("b.png", 80), ("a.jpg", 20), ("c.PNG", 140)):
        cv2.imwrite(str(tmp_path / name), picture(level))
    (tmp_path / "truth.json").write_text("{}")
    source = open_source(str(tmp_path))
    assert isinstance(source, Folder)
    assert [round(float(frame.image_bgr.mean()), -1) for frame in source.frames()] == [30, 90, 150]


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\xff\xd8\xff\xe0 cut"])
def test_a_picture_that_is_none_is_named_when_its_turn_comes(content, tmp_path):
    cv2.imwrite(str(tmp_path / "a.png"), picture(50))
    (tmp_path / "b.png").write_bytes(content)
    frames = open_source(str(tmp_path)).frames()
    assert next(frames) is not None
    with pytest.raises(CameraError, match=r"b\.png: not a picture"):
        next(frames)


@pytest.mark.parametrize(
    ("image", "blank"),
    [
        (np.zeros((48, 64, 3), np.uint8), True),
        (np.full((48, 64, 3), 255, np.uint8), True),
        (np.full((1, 1, 3), 90, np.uint8), True),
        (picture(3, (320, 240)), False),
        (picture(200, (320, 240)), False),
    ],
)
def test_a_picture_of_nothing_is_blank(image, blank):
    assert is_blank(image) is blank


class Device:
    """Stands for cv2.VideoCapture: gives the prepared pictures, then does as `after` says."""

    def __init__(self, pictures: list[np.ndarray], after: str, opened: bool = True) -> None:
        self.pictures = pictures
        self.after = after
        self.opened = opened
        self.released = threading.Event()
        self.n = 0

    def isOpened(self) -> bool:
        return self.opened

    def read(self):
        time.sleep(0.002)
        self.n += 1
        if self.n <= len(self.pictures):
            return True, self.pictures[self.n - 1]
        if self.after == "block":
            self.released.wait(20)
        if self.after == "repeat":
            return True, self.pictures[-1]
        if self.after == "garbage":
            return True, np.empty((0, 0, 3), np.uint8)
        return False, None

    def release(self) -> None:
        self.released.set()


@pytest.fixture
def live() -> Iterator[Callable[..., Camera]]:
    cameras: list[Camera] = []
    threads: list[threading.Thread] = []

    def start(*devices: Device, stale_s: float = 0.6) -> Camera:
        waiting = list(devices)
        camera = Camera("7", lambda: waiting.pop(0) if len(waiting) > 1 else waiting[0], stale_s)
        thread = threading.Thread(target=camera.read_forever, daemon=True)
        thread.start()
        cameras.append(camera)
        threads.append(thread)
        return camera

    yield start
    for camera in cameras:
        camera.close()
    for thread in threads:
        thread.join(3)


PICTURES = [picture(level) for level in range(0, 60, 3)]


@pytest.mark.parametrize(
    ("device", "told"),
    [
        (Device([], "nothing", opened=False), "cannot be opened"),
        (Device([], "nothing"), "gives no picture"),
        (Device(PICTURES, "nothing"), "gives no picture"),
        (Device(PICTURES, "garbage"), "gives no picture"),
        (Device(PICTURES, "repeat"), "repeats one picture"),
        (Device(PICTURES, "block"), "camera 7"),
    ],
    ids=["not-opened", "nothing", "ends", "garbage", "repeats", "blocks"],
)
def test_a_camera_that_gives_nothing_new_is_lost(live, device, told):
    camera = live(device)
    began_s = time.monotonic()
    with pytest.raises(CameraError, match=told):
        for _ in camera.frames():
            pass
    device.released.set()
    assert time.monotonic() - began_s < 10 * camera.stale_s


def test_a_camera_that_comes_back_goes_on_with_its_count(live):
    camera = live(Device(PICTURES[:5], "nothing"), Device(PICTURES[5:], "block"), stale_s=5.0)
    seen = [frame.n for frame in _first(camera, 6) if frame is not None]
    assert seen == sorted(set(seen))
    assert seen[-1] >= 5


def test_frames_end_when_the_camera_is_closed(live):
    device = Device(PICTURES, "block")
    camera = live(device)
    frames = camera.frames()
    assert next(frames) is not None
    camera.close()
    device.released.set()
    assert list(frames)[1:] == []


def _first(camera: Camera, n: int) -> list:
    """Pictures until the `n`-th of the camera's count has come."""
    seen = []
    for frame in camera.frames():
        seen.append(frame)
        if frame is not None and frame.n >= n - 1:
            return seen
    return seen
