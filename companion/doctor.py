"""`companion doctor`: whether this computer is fit to referee, each check with its verdict, figure and remedy."""

import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import click
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from platformdirs import user_data_path

from companion.cameras import NONE_OPENS, Feed, feed_in_words, listed, watch
from companion.store import PathstoneStore, Store, StoreError
from firmware_protocol.ports import Attached, attached
from vision.board import HolesBoard, Profile, ProfileError, read_profile
from vision.build import opencv_version, video_backends
from vision.calibration import CalibrationError
from vision.camera import CameraError, is_blank, open_source, opens
from vision.lattice import find_board
from vision.markers import find_marked_board
from vision.quality import quality

_DISTRIBUTION = "board-companion"
_OPENCV = "opencv-python-headless"
_OTHER_OPENCVS = ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless")
"""They bring a cv2 of their own into the same folder."""
_LEAST_WIDTH = 1280
_LEAST_FPS = 12.0
"""Slower cameras do not show a disk in flight."""
_DARK, _BRIGHT, _BLACK = 60.0, 210.0, 20.0
_MOST_BURNT = 0.15
_LEAST_SHARPNESS = 0.35
"""Path-traced boards and photographs of real ones have 0.44 and more; blurred by 4 pixels in 1280, 0.23 and less."""
_SCARCE_GB, _LEAST_GB = 1.0, 0.1


class Verdict(StrEnum):
    """What a check finds."""

    OK = "ok"
    WARNING = "warning"
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; the remedy is "" where none is needed."""

    name: str
    verdict: Verdict
    figure: str
    remedy: str = ""

    def to_json(self) -> dict[str, str | None]:
        """Under the keys that `--json` prints."""
        return {"name": self.name, "verdict": self.verdict, "figure": self.figure, "remedy": self.remedy or None}

    def in_words(self) -> str:
        """One line for people."""
        return f"{self.verdict:<8} {self.name}: {self.figure}" + (f"; {self.remedy}" if self.remedy else "")


@click.command("doctor")
@click.argument("source", required=False)
@click.option("--board", "board_path", type=click.Path(path_type=Path), help="Board profile (TOML) to find in SOURCE.")
@click.option("--log", "log_path", type=click.Path(path_type=Path), help="File that keeps the matches.")
@click.option("--web-port", type=click.IntRange(1, 65535), default=8420, show_default=True, help="Port of the page.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a check on stdout.")
def doctor_command(
    source: str | None, board_path: Path | None, log_path: Path | None, web_port: int, as_json: bool
) -> None:
    """Checks this computer, and the camera or other SOURCE of pictures that is named."""
    if board_path is not None and source is None:
        raise click.UsageError("--board is looked for in a picture: give a SOURCE too")
    in_trouble = []
    for check in checks(source, board_path, log_path, web_port):
        print(json.dumps(check.to_json()) if as_json else check.in_words(), flush=True)
        if check.verdict is Verdict.TROUBLE:
            in_trouble.append(check.name)
    if in_trouble:
        click.echo(f"in trouble: {', '.join(in_trouble)}; do as their lines say", err=True)
        sys.exit(1)


def checks(source: str | None, board_path: Path | None, log_path: Path | None, web_port: int) -> Iterator[Check]:
    """Every check as it is made; `log_path` None is where `companion run` keeps the matches."""
    log_path = log_path or user_data_path(_DISTRIBUTION) / "matches.sqlite"
    yield python()
    yield libraries()
    yield opencv()
    yield from cameras() if source is None else pictures(source, board_path)
    yield data_folder(log_path.parent)
    kept, last_at = store(log_path)
    yield kept
    yield disk(log_path.parent)
    yield from serial_ports()
    yield web(web_port)
    yield clock(datetime.now(UTC), last_at)


def python() -> Check:
    """The interpreter's version against the one that the package asks for."""
    found = platform.python_version()
    figure = f"{found} ({platform.machine()}, {platform.system()})"
    wanted = _metadata("Requires-Python")
    if wanted and not SpecifierSet(wanted).contains(found, prereleases=True):
        return Check("python", Verdict.TROUBLE, figure, f"install Python {wanted}")
    return Check("python", Verdict.OK, figure)


def libraries() -> Check:
    """Every library that the package asks for, by version."""
    try:
        lines = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return Check("libraries", Verdict.TROUBLE, f"{_DISTRIBUTION} is not installed", "run `pip install .`")
    wanted = [Requirement(line) for line in lines]
    return libraries_from([one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})])


def libraries_from(wanted: list[Requirement]) -> Check:
    """The installed versions of these libraries."""
    versions, unfit = [], []
    for one in wanted:
        try:
            version = importlib.metadata.version(one.name)
        except importlib.metadata.PackageNotFoundError:
            version = "missing"
        versions.append(f"{one.name} {version}")
        if version == "missing" or not one.specifier.contains(version, prereleases=True):
            unfit.append(str(one))
    if unfit:
        quoted = " ".join(f"'{one}'" for one in unfit)
        return Check("libraries", Verdict.TROUBLE, ", ".join(versions), f"run `pip install {quoted}`")
    return Check("libraries", Verdict.OK, ", ".join(versions))


def opencv() -> Check:
    """OpenCV's build: one alone, and what it reads pictures with."""
    backends = video_backends()
    figure = f"{opencv_version()}, reads by {', '.join(backends)}"
    others = [name for name in _OTHER_OPENCVS if _is_installed(name)]
    if others:
        remedy = f"run `pip uninstall {' '.join(others)}`, then `pip install --force-reinstall {_OPENCV}`"
        return Check("opencv", Verdict.TROUBLE, f"{figure}, beside {', '.join(others)}", remedy)
    lacking = {"FFMPEG", *(["V4L2"] if sys.platform == "linux" else [])} - set(backends)
    if lacking:
        return Check("opencv", Verdict.WARNING, f"{figure}, not by {', '.join(sorted(lacking))}", _WHEEL)
    return Check("opencv", Verdict.OK, figure)


def cameras() -> Iterator[Check]:
    """The cameras that open, where no source is named."""
    opening = [camera for camera in listed() if opens(camera.number)]
    if opening:
        names = ", ".join(f"{camera.number} {camera.name}".strip() for camera in opening)
        yield Check("camera", Verdict.OK, names)
    else:
        figure, remedy = _parted(NONE_OPENS, "plug one in")
        yield Check("camera", Verdict.WARNING, figure, remedy)


def pictures(source: str, board_path: Path | None) -> Iterator[Check]:
    """What a source gives, and whether the board is found in its picture."""
    profile = None
    if board_path is not None:
        try:
            profile = read_profile(board_path)
        except ProfileError as error:
            yield _trouble("profile", error, "correct the profile; docs/cli.md has its form")
    try:
        feed = watch(open_source(source))
    except CameraError as error:
        yield _trouble("camera", error, "check the cable, and that no other program uses it")
        return
    yield camera_from(feed)
    yield from looks(feed)
    if profile is not None:
        yield board(feed, profile)


def camera_from(feed: Feed) -> Check:
    """Whether pictures are large enough and come fast enough."""
    figure, advice = feed_in_words(feed), []
    if max(feed.size_wh) < _LEAST_WIDTH:
        advice.append(f"pictures of {_LEAST_WIDTH} x 720 and more show tilted disks and marks better")
    if feed.fps is not None and feed.fps < _LEAST_FPS:
        advice.append("give it more light, and a USB port of its own")
    return Check("camera", Verdict.WARNING if advice else Verdict.OK, figure, "; ".join(advice))


def looks(feed: Feed) -> Iterator[Check]:
    """How bright and how sharp the picture is."""
    found = quality(feed.picture)
    figure = f"mean {found.brightness:.0f} of 255, {found.burnt:.1%} burnt out"
    if is_blank(feed.picture) or found.brightness < _BLACK:
        yield Check("brightness", Verdict.TROUBLE, figure, "take the cap off the lens, and light the table")
        return
    verdict, remedy = Verdict.OK, ""
    if found.brightness < _DARK:
        verdict, remedy = Verdict.WARNING, "give more light"
    elif found.brightness > _BRIGHT or found.burnt > _MOST_BURNT:
        verdict, remedy = Verdict.WARNING, "lower the exposure, or move the lamp that glares"
    yield Check("brightness", verdict, figure, remedy)
    sharp = found.sharpness >= _LEAST_SHARPNESS
    yield Check(
        "sharpness",
        Verdict.OK if sharp else Verdict.WARNING,
        f"{found.sharpness:.2f} of 1, at least {_LEAST_SHARPNESS} wanted",
        "" if sharp else "focus the camera on the board, and wipe the lens",
    )


def board(feed: Feed, profile: Profile) -> Check:
    """Whether the profile's board is found in the picture, how well it fits and how large it is seen."""
    try:
        found = (find_marked_board if profile.marks else find_board)(feed.picture, profile)
    except (CalibrationError, ProfileError) as error:
        check = _trouble("board", error, "show the whole board in even light")
        by_itself = profile.marks is not None or isinstance(profile.board, HolesBoard)
        # Others are refereed with their corners given, which is nothing to mend.
        return check if by_itself else replace(check, verdict=Verdict.WARNING)
    corners_mm = profile.board.corners_mm()
    (ax, ay), (bx, by) = found.project(corners_mm)[:2]
    px_per_mm = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5 / (corners_mm[1][0] - corners_mm[0][0])
    return Check("board", Verdict.OK, f"found, residual {found.residual_px:.2f} px, {px_per_mm:.1f} px a mm")


def data_folder(folder: Path) -> Check:
    """Whether the matches' folder, or the nearest one above it that is there, can be written to."""
    there = _nearest(folder)
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        remedy = f"change the permissions of {there}, or give another place with --log"
        return Check("data folder", Verdict.TROUBLE, f"{folder}: {error.strerror}", remedy)
    return Check("data folder", Verdict.OK, f"{folder}{'' if there == folder else ', not made yet'}")


def store(path: Path) -> tuple[Check, str]:
    """Whether the log opens and its last match of each game can be read, and when its last entry was made, "" for
    none."""
    if not os.path.exists(path):
        return Check("store", Verdict.OK, f"{path}, not begun yet"), ""
    entries, last_at = 0, ""
    try:
        for kind in (Store, PathstoneStore):
            log = kind(path)
            try:
                match = log.latest()
                read = () if match is None else log.entries(match)
            finally:
                log.close()
            entries += len(read)
            last_at = max([last_at, *(entry.at for entry in read)])
    except StoreError as error:
        return _trouble("store", error, "give another file with --log"), ""
    size_kb = path.stat().st_size / 1e3
    return Check("store", Verdict.OK, f"{path}, {size_kb:.0f} kB, entries read: {entries}"), last_at


def disk(folder: Path) -> Check:
    """Free space where the matches are kept."""
    return disk_from(shutil.disk_usage(_nearest(folder)).free / 1e9)


def disk_from(free_gb: float) -> Check:
    """What so much free space is worth."""
    figure = f"{free_gb:.1f} GB free"
    if free_gb >= _SCARCE_GB:
        return Check("disk", Verdict.OK, figure)
    return Check("disk", Verdict.TROUBLE if free_gb < _LEAST_GB else Verdict.WARNING, figure, "free some space")


def serial_ports() -> Iterator[Check]:
    """The USB serial ports, each with the grid that answers or why none does."""
    found = attached()
    yield from map(port_from, found)
    if not found:
        yield Check("serial ports", Verdict.OK, "none on USB; a table under a camera needs none")


def port_from(port: Attached) -> Check:
    """A port that may not be opened is trouble; one where no grid answers may be another device's."""
    name, device = f"port {port.name}", port.device
    if device is not None:
        answers = f"grid of {device.rows} x {device.columns}, driver {device.driver}, firmware {device.firmware}"
        return Check(name, Verdict.OK, answers)
    forbidden = os.path.exists(port.name) and not os.access(port.name, os.R_OK | os.W_OK)
    figure, remedy = _parted(port.trouble, "see `companion ports`")
    return Check(name, Verdict.TROUBLE if forbidden else Verdict.WARNING, figure, remedy)


def web(port: int) -> Check:
    """Whether the page's port is free."""
    # Only here: it brings the web server with it, which `companion` need not load to start.
    from companion.dashboard.server import listen

    try:
        listen(port).close()
    except OSError as error:
        return Check("web port", Verdict.TROUBLE, f"127.0.0.1:{port}: {error.strerror}", "give another with --web-port")
    return Check("web port", Verdict.OK, f"127.0.0.1:{port} is free")


def clock(now: datetime, last_at: str = "") -> Check:
    """The time against the package's own files and the log's last entry: without a battery a clock wakes up in the
    past."""
    figure = now.isoformat(timespec="seconds")
    if last_at and now < datetime.fromisoformat(last_at):
        return Check("clock", Verdict.WARNING, f"{figure}, before the log's last entry, {last_at}", _SET_CLOCK)
    installed = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    if now < installed:
        return Check("clock", Verdict.WARNING, f"{figure}, before this program was installed", _SET_CLOCK)
    return Check("clock", Verdict.OK, figure)


_SET_CLOCK = "set the clock, or let the network set it: every entry of the log has its time"
_WHEEL = f"run `pip install --force-reinstall {_OPENCV}`"


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(one for one in (folder, *folder.absolute().parents) if os.path.exists(one))


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _metadata(key: str) -> str:
    try:
        return importlib.metadata.metadata(_DISTRIBUTION)[key] or ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def _trouble(name: str, error: Exception, usual: str) -> Check:
    figure, remedy = _parted(str(error), usual)
    return Check(name, Verdict.TROUBLE, figure, remedy)


def _parted(message: str, usual: str) -> tuple[str, str]:
    """What is wrong and the remedy, which our messages part by a semicolon; the usual one where there is none."""
    figure, _, remedy = message.partition("; ")
    return figure, remedy or usual
