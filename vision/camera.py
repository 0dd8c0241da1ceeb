"""Where pictures come from: a camera, a URL, a video file or a folder of pictures.

A live camera is read in a thread of its own, which the command line starts: `read` of a camera may block for ever, or
repeat its last picture for ever once the cable is out (OpenCV issues 5221, 5746, 6107), so whoever takes pictures
waits for a new one only so long.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.board import Image

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")
_STALE_S = 5.0
"""A camera that gives nothing new for this long is lost; opening and exposure take a webcam up to two seconds."""
_TICK_S = 0.25
_RETRY_S = 1.0
_REPEAT_S = 0.01
_BLANK_LEVELS = 2.0
"""A picture of anything varies by more than this, even in the dark; a cap on the lens or a warm-up frame does not."""
_LIVE_URLS = ("rtsp://", "rtmp://", "http://", "https://", "udp://", "tcp://")


class CameraError(RuntimeError):
    """Pictures that cannot be had; the message names the source and the remedy."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture: the `n`-th of its source, from 0, taken `t_s` seconds after the first."""

    n: int
    t_s: float
    image_bgr: Image


@dataclass(frozen=True, slots=True)
class Folder:
    """Pictures in name order, each of a table at rest."""

    paths: tuple[Path, ...]

    @property
    def total(self) -> int:
        return len(self.paths)

    def frames(self) -> Iterator[Frame]:
        """Its pictures, one a second. Raises CameraError at a file that is no picture."""
        for n, path in enumerate(self.paths):
            yield Frame(n, float(n), read_picture(path))


@dataclass(frozen=True, slots=True)
class Video:
    """A video file."""

    path: Path
    fps: float
    total: int
    """How many frames its header promises; 0 where it does not say."""

    def frames(self) -> Iterator[Frame]:
        """Its frames. Raises CameraError where it ends before its header says."""
        capture = _capture(str(self.path))
        n = 0
        try:
            while True:
                good, image = capture.read()
                if not good or image is None:
                    break
                yield Frame(n, n / self.fps, np.asarray(image, dtype=np.uint8))
                n += 1
        finally:
            capture.release()
        # Containers that count by duration promise a few frames more than they hold.
        if n + max(3, self.total // 100) < self.total:
            raise CameraError(
                f"{self.path}: the video ends in the middle, after {n} of {self.total} frames; copy or record it again"
            )


class Camera:
    """A live camera; `read_forever` fills it from one thread, `frames` empties it from another."""

    total = 0

    def __init__(self, name: str, connect: Callable[[], cv2.VideoCapture], stale_s: float = _STALE_S) -> None:
        self.name = name
        self.stale_s = stale_s
        self._connect = connect
        self._newest: Frame | None = None
        self._trouble = "it cannot be opened"
        self._fresh = threading.Condition()
        self._closed = threading.Event()

    def read_forever(self) -> None:
        """Reads until `close`, opening the camera again whenever it is lost."""
        began_s = time.monotonic()
        n = 0
        while not self._closed.is_set():
            capture = self._connect()
            sample = b""
            alike_since_s = time.monotonic()
            while capture.isOpened() and not self._closed.is_set():
                good, image = capture.read()
                if not good or image is None or image.size == 0:
                    self._trouble = "it gives no picture"
                    break
                before, sample = sample, image[::16, ::16].tobytes()
                if sample == before:
                    # No sensor gives the same noise twice: this is the last picture of a lost camera.
                    self._trouble = "it repeats one picture"
                    if time.monotonic() - alike_since_s > self.stale_s:
                        break
                    self._closed.wait(_REPEAT_S)
                    continue
                alike_since_s = time.monotonic()
                with self._fresh:
                    self._newest = Frame(n, alike_since_s - began_s, np.asarray(image, dtype=np.uint8))
                    self._fresh.notify_all()
                n += 1
            capture.release()
            self._closed.wait(_RETRY_S)

    def frames(self) -> Iterator[Frame | None]:
        """The newest picture each time, until `close`; None now and then while there is none.

        Raises CameraError when none has come for `stale_s`.
        """
        seen: Frame | None = None
        waited_s = 0.0
        while not self._closed.is_set():
            newest = self._wait_past(seen)
            waited_s = waited_s + _TICK_S if newest is seen else 0.0
            if waited_s >= self.stale_s:
                raise CameraError(
                    f"camera {self.name}: no picture for {self.stale_s:.0f} s ({self._trouble}); "
                    "check the cable, and that no other program uses it"
                )
            yield None if newest is seen else newest
            seen = newest

    @property
    def trouble(self) -> str:
        """Why no picture came when last none did: "it gives no picture", "it repeats one picture"."""
        return self._trouble

    def close(self) -> None:
        """Ends both `read_forever` and `frames`."""
        self._closed.set()
        with self._fresh:
            self._fresh.notify_all()

    def _wait_past(self, seen: Frame | None) -> Frame | None:
        """The newest picture as soon as it is another than `seen`, at the latest after one tick."""
        with self._fresh:
            self._fresh.wait_for(lambda: self._newest is not seen or self._closed.is_set(), _TICK_S)
            return self._newest


Source = Folder | Video | Camera


def open_source(text: str) -> Source:
    """The source that a person named: camera number, device, URL, video file or folder. Raises CameraError.

    A camera is only named here: run its `read_forever` in a thread to have pictures.
    """
    if text.isdigit():
        return Camera(text, lambda: _capture(int(text)))
    if text.startswith(_LIVE_URLS) or text.startswith("/dev/"):
        return Camera(text, lambda: _capture(text))
    path = Path(text)
    if path.is_dir():
        paths = tuple(sorted(p for p in path.iterdir() if p.suffix.lower() in PICTURE_SUFFIXES))
        if not paths:
            raise CameraError(
                f"{path}: no picture in this folder; give one with {', '.join(PICTURE_SUFFIXES[:3])} files"
            )
        return Folder(paths)
    if not path.is_file():
        raise CameraError(f"{path}: no such file; give a camera number, a device, a URL, a video or a folder")
    return _open_video(path)


def opens(number: int) -> bool:
    """Whether there is a camera with this number that lets itself be opened; it is let go of again."""
    capture = _capture(number)
    try:
        return capture.isOpened()
    finally:
        capture.release()


def read_picture(path: Path) -> Image:
    """The picture in a file, in colour. Raises CameraError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CameraError(f"{path}: cannot be read ({error.strerror}); give a picture file") from error
    image = decode(data)
    if image is None:
        raise CameraError(f"{path}: not a picture; give a JPEG or PNG file")
    return image


def decode(data: bytes) -> Image | None:
    """The picture in a JPEG or PNG, in colour, or None where it is none."""
    image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR) if data else None
    return None if image is None else np.asarray(image, dtype=np.uint8)


def is_blank(image_bgr: Image) -> bool:
    """Whether a picture shows nothing at all: black, white or one grey throughout."""
    return float(image_bgr[::16, ::16].std()) < _BLANK_LEVELS


def _open_video(path: Path) -> Video:
    capture = _capture(str(path))
    try:
        good, _ = capture.read()
        if not good and _begins_like_mp4(path):
            raise CameraError(f"{path}: the video is cut off before its index; copy or record it again")
        if not good:
            raise CameraError(f"{path}: not a video that can be read; give an MP4, MKV or AVI file")
        fps = float(capture.get(cv2.CAP_PROP_FPS))
        total = int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
    finally:
        capture.release()
    return Video(path, fps if 1.0 <= fps <= 1000.0 else 30.0, max(total, 0))


def _capture(source: int | str) -> cv2.VideoCapture:
    # What FFmpeg and OpenCV print on their own tells a player nothing; the error raised here does.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    level = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        return cv2.VideoCapture(source)
    finally:
        cv2.utils.logging.setLogLevel(level)


def _begins_like_mp4(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8)[4:] == b"ftyp"
