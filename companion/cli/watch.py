"""Watching a table with its page: the web server, the camera's reader and the session, until one of them ends."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from companion.cli.equipment import ticks
from companion.cli.options import fail
from companion.live import STALLED_S, Live, Watch
from companion.loop import Loop
from companion.ruling import Ruling
from companion.store import Log, StoreError
from vision.calibration import CalibrationError
from vision.camera import Camera, CameraError, Frame

if TYPE_CHECKING:
    from companion.dashboard.server import App


def no_tell(_given: object, _rulings: tuple[Ruling, ...]) -> None:
    """The dashboard reads the log; nothing is printed."""


def watch(
    pictures: Camera | None,
    session: Loop[Any],
    app: "App",
    store: Log[Any],
    live: Live,
    port: int,
    option: str,
) -> None:
    """Referees a live camera, or what there is without one, and serves the dashboard on a port that people name by an
    option, until a signal or trouble ends it; closes the store."""
    from companion.dashboard.server import Server, listen

    ended = threading.Event()

    def end() -> None:
        ended.set()
        if pictures is not None:
            pictures.close()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: end())
    try:
        listener = listen(port)
    except OSError as error:
        store.close()
        fail(f"port {port} on 127.0.0.1 cannot be used ({error.strerror}); give another with {option}")
    server = Server(app, listener, live)
    reader = None if pictures is None else threading.Thread(target=pictures.read_forever, name="camera", daemon=True)
    if reader is not None:
        reader.start()
    threading.Thread(target=server.run, name="web server", daemon=True).start()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    trouble = ""
    try:
        if pictures is None:
            session.sense(ticks(ended))
        else:
            _watch_until_closed(pictures, session, live)
    except (CameraError, CalibrationError, StoreError) as error:
        trouble = str(error)
    finally:
        end()
        live.watch(Watch.ENDED)
        server.stop()
        if reader is not None:
            # OpenCV must not be inside a read when the process ends.
            reader.join(timeout=20)
        store.close()
    if trouble:
        fail(trouble)


def _watch_until_closed(pictures: Camera, session: Loop[Any], live: Live) -> None:
    """Runs the session, also past the loss of a camera that has given pictures before: it is read again when back."""
    while True:
        try:
            session.run(_new_pictures(pictures, session, live))
        except CameraError as error:
            if session.frames == 0:
                raise
            live.watch(Watch.CAMERA_LOST, str(error))
        else:
            return


def _new_pictures(pictures: Camera, session: Loop[Any], live: Live) -> Iterator[Frame | None]:
    """The camera's pictures that the session has not had; the page is told where none comes for a while."""
    came_s = time.monotonic()
    for frame in pictures.frames():
        # A camera that is lost still has its last picture.
        if frame is not None and frame.n >= session.frames:
            came_s = time.monotonic()
            yield frame
            continue
        lost = session.frames == 0 or live.watching()[0] is Watch.CAMERA_LOST
        if not lost and time.monotonic() - came_s >= STALLED_S:
            live.watch(Watch.STALLED, f"the camera gives no new picture: {pictures.trouble}")
        yield None
