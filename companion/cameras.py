"""The cameras of this computer, and what a source of pictures really gives: size, frames a second, a picture.

`companion cameras` lists them.
"""

import json
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click

from vision.board import Image
from vision.camera import Camera, CameraError, Frame, Source, Video, open_source, opens

_SYSFS = Path("/sys/class/video4linux")
_BY_ID = Path("/dev/v4l/by-id")
_GUESSED = range(4)
"""Numbers that are tried where the system does not list its cameras."""
_WATCHED_S = 2.0
_MOST_FRAMES = 90
NONE_OPENS = (
    "no camera opens; plug one in, and check that no other program uses it (Linux: that you are in group video)"
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A camera as the system lists it."""

    number: int
    name: str
    """What the device calls itself; "" where the system does not say."""
    by_id: str = ""
    """A device path that stays the same whatever else is plugged in; "" for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Feed:
    """What a source gives."""

    picture: Image
    fps: float | None
    """Frames a second; None for pictures, and for a camera that gave only one."""

    @property
    def size_wh(self) -> tuple[int, int]:
        return self.picture.shape[1], self.picture.shape[0]


def listed(sysfs: Path = _SYSFS, by_id: Path = _BY_ID) -> tuple[Listed, ...]:
    """The cameras in folders like Linux's own, by number; some are only other streams of the same camera."""
    if not sysfs.is_dir():
        return () if sys.platform == "linux" else tuple(Listed(number, "") for number in _GUESSED)
    lasting = {path.resolve().name: str(path) for path in sorted(by_id.glob("*"))}
    found = []
    for entry in sysfs.glob("video*"):
        number = entry.name.removeprefix("video")
        if number.isdigit():
            found.append(Listed(int(number), _first_line(entry / "name"), lasting.get(entry.name, "")))
    return tuple(sorted(found, key=lambda camera: camera.number))


def watch(source: Source) -> Feed:
    """A picture of the source, a live one watched for two seconds. Raises CameraError."""
    if isinstance(source, Camera):
        return _watch_camera(source)
    first = next(iter(source.frames()), None)
    if first is None:
        raise CameraError("the source holds no picture; give another")
    return Feed(first.image_bgr, source.fps if isinstance(source, Video) else None)


def _watch_camera(camera: Camera) -> Feed:
    reader = threading.Thread(target=camera.read_forever, name="camera", daemon=True)
    reader.start()
    first: Frame | None = None
    last: Frame | None = None
    try:
        for frame in camera.frames():
            if frame is None:
                continue
            first, last = first or frame, frame
            if last.t_s - first.t_s >= _WATCHED_S or last.n - first.n >= _MOST_FRAMES:
                break
    finally:
        camera.close()
        # OpenCV must not be inside a read when the process ends.
        reader.join(timeout=5)
    if first is None or last is None:
        raise CameraError(f"camera {camera.name}: it was closed; try again")
    # The newest picture: a webcam's first ones are dark.
    return Feed(last.image_bgr, (last.n - first.n) / (last.t_s - first.t_s) if last.n > first.n else None)


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@click.command("cameras")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a camera on stdout.")
def cameras_command(as_json: bool) -> None:
    """Lists the cameras that open, by the number to give as SOURCE, with the size and pace of their pictures."""
    found = 0
    for camera in listed():
        if not opens(camera.number):
            continue
        try:
            feed = watch(open_source(str(camera.number)))
        except CameraError as error:
            click.echo(str(error), err=True)
            continue
        found += 1
        print(json.dumps(_to_json(camera, feed)) if as_json else _in_words(camera, feed), flush=True)
    if not found:
        _fail(NONE_OPENS)


def _to_json(camera: Listed, feed: Feed) -> dict[str, object]:
    return {
        "number": camera.number,
        "name": camera.name or None,
        "by_id": camera.by_id or None,
        "size": list(feed.size_wh),
        "fps": None if feed.fps is None else round(feed.fps, 1),
    }


def _in_words(camera: Listed, feed: Feed) -> str:
    """A camera on one line: its number, then what it is and gives, and its lasting name."""
    lasting = f", {camera.by_id}" if camera.by_id else ""
    return f"{camera.number:<4}{camera.name or 'camera'}, {feed_in_words(feed)}{lasting}"


def feed_in_words(feed: Feed) -> str:
    """Size and pace for people."""
    width, height = feed.size_wh
    return f"{width} x {height}" + ("" if feed.fps is None else f", {feed.fps:.1f} frames/s")


def _fail(message: str) -> NoReturn:
    """Ends with one line for people and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)
