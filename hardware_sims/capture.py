"""The simulated camera as programs open one: in process in the shape of `cv2.VideoCapture`, or over HTTP as MJPEG.

Frames come at the camera's pace; one that is dropped is simply not there. A device can be busy when it is opened, and
lost for a while later on.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Generic, Protocol, TypeVar

import cv2
import numpy as np

from hardware_sims.arms import Arm
from hardware_sims.camera import Thing
from vision.board import Image


@dataclass(frozen=True, slots=True)
class Plug:
    """How a device fails as a whole."""

    busy_opens: int = 0
    """So many first attempts to open it fail: another program has it."""
    lost_rate: float = 0.0
    """Share of frames at which it is lost, as if unplugged."""
    lost_s: float = 3.0
    seed: int = 0


Seen = TypeVar("Seen", covariant=True)
Looked = TypeVar("Looked", contravariant=True)


class Moment(Protocol[Seen]):
    """What a camera can see at one time."""

    @property
    def t_s(self) -> float: ...

    @property
    def things(self) -> tuple[Seen, ...]: ...

    @property
    def arms(self) -> tuple[Arm, ...]: ...


class Eye(Protocol[Looked]):
    """What takes the pictures: a simulated camera."""

    def read(self, things: tuple[Looked, ...], arms: tuple[Arm, ...], t_s: float) -> Image | None:
        """The next frame, blue first, or None where the camera drops it."""


class Device(Generic[Thing]):
    """A camera over a table at which somebody plays; `connect` opens it, as often as a program likes."""

    def __init__(
        self, camera: Eye[Thing], moments: Iterator[Moment[Thing]], *, fps: float = 15.0, plug: Plug | None = None
    ) -> None:
        self.camera = camera
        self.fps = fps
        self._moments = moments
        self._plug = plug or Plug()
        self._rng = np.random.default_rng(self._plug.seed)
        self._opens = 0
        self._due_s: float | None = None
        self._lost_until_s = 0.0
        self._one_reader = threading.Lock()
        self._closed = threading.Event()

    def connect(self) -> "Device[Thing]":
        """Opens it, which may fail: see `isOpened`."""
        self._opens += 1
        return self

    def isOpened(self) -> bool:
        """Whether it gives frames."""
        lost = self._closed.is_set() or time.monotonic() < self._lost_until_s
        return self._opens > self._plug.busy_opens and not lost

    def read(self) -> tuple[bool, Image | None]:
        """Waits for the next frame, blue first; (False, None) once it is lost or the play has ended."""
        with self._one_reader:
            while self.isOpened():
                moment = next(self._moments, None)
                if moment is None:
                    break
                if self._rng.random() < self._plug.lost_rate:
                    self._lost_until_s = time.monotonic() + self._plug.lost_s
                    break
                image = self.camera.read(moment.things, moment.arms, moment.t_s)
                self._wait()
                if image is not None:
                    return True, image
        return False, None

    def release(self) -> None:
        """Nothing to give back: the table plays on when it is opened again."""

    def close(self) -> None:
        """Takes it away for good; a reader that waits is let go."""
        self._closed.set()

    def _wait(self) -> None:
        """Keeps the pace; a frame that took too long delays the play, it is not made up for."""
        now_s = time.monotonic()
        due_s = now_s if self._due_s is None else self._due_s + 1 / self.fps
        if due_s > now_s:
            self._closed.wait(due_s - now_s)
        self._due_s = max(due_s, now_s)


def serve(device: Device[Thing], port: int = 0) -> ThreadingHTTPServer:
    """An MJPEG stream of a device on 127.0.0.1, not yet running: call `serve_forever` in a thread of its own."""

    class Stream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not device.connect().isOpened():
                self.send_error(503, "the camera is busy")
                return
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            try:
                while True:
                    good, image = device.read()
                    if not good or image is None:
                        return
                    data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
                    self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data))
                    self.wfile.write(data + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                # The viewer has gone.
                return

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Stream)
    server.daemon_threads = True
    return server
