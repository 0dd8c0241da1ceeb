"""How well pictures are read, by where they come from: rendered here, path-traced by others, photographed.

Vision must not be tuned on one kind alone. The common measure is the share of places, holes or crossings, that are
read wrongly; where the truth knows them, also how far the centres of disks are off. So that kinds of pictures are
compared, and not kinds of tables, the path-traced tables are rendered too, and the photographed boards drawn, each from
the same side with the same on it and in the same colours; renders with harder light stand beside them.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from companion.bench import Row
from companion.observe import cells_from_reading
from companion.sources import sure
from vision.board import HolesBoard, Image, Profile, parse_profile, read_profile
from vision.calibration import CalibrationError, calibrate, calibrate_plane
from vision.camera import read_picture
from vision.disks import read_disks

SameScene = Callable[[Image, dict[str, Any], int], tuple[Image, dict[str, Any]]]
"""Renders the table of a picture anew, by its truth and a seed: `hardware_sims.pictures.same_scene`."""
SameStones = Callable[
    [Image, Profile, npt.ArrayLike, npt.NDArray[np.int64], int], tuple[Image, npt.NDArray[np.float64]]
]
"""Draws the board of a photograph anew: `hardware_sims.stones_pictures.same_stones`."""

_NEAR_MM = 8.0
"""A sighting further than this from a disk is not of it."""
_HIDES = 0.6
"""A disk that lies over one in a hole hides too much of it where their middles are nearer, in diameters."""
_STONES = """
kind = "crossings"
[board]
columns = {columns}
rows = {rows}
pitch_mm = 22.0
disk_diameter_mm = 21.5
[colours]
b = "#141414"
w = "#f0f0ee"
"""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A picture with its corners and its truth: a mark for each place ("?" is not judged), flat disks' centres."""

    image_bgr: Image
    profile: Profile
    corners_px: tuple[tuple[float, float], ...]
    cells: tuple[str, ...]
    centres_mm: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Of a set of pictures: the share of its so many places that is read wrongly, and the median error of centres, None
    without truth."""

    wrong_share: float
    median_mm: float | None
    places: int


def labelled(image_bgr: Image, profile: Profile, truth: dict[str, Any]) -> Labelled:
    """A picture with the truth that pictures of boards with holes come with."""
    board = profile.board
    assert isinstance(board, HolesBoard)
    marks = [["."] * board.columns for _ in range(board.rows)]
    upper = [(float(disk["x"]), float(disk["y"])) for disk in truth["disks"] if disk["hole"] is None]
    for disk in truth["disks"]:
        if disk["hole"] is not None:
            row, column = disk["hole"]
            apart_mm = min((math.dist((disk["x"], disk["y"]), one) for one in upper), default=math.inf)
            hidden = apart_mm < _HIDES * board.disk_diameter_mm
            marks[row - 1][column - 1] = "?" if hidden else disk["colour"]
    flat = tuple((float(disk["x"]), float(disk["y"])) for disk in truth["disks"] if not disk["tilt_deg"])
    corners = tuple((float(x), float(y)) for x, y in truth["corners_px"])
    return Labelled(image_bgr, profile, corners, tuple("".join(row) for row in marks), flat)


def path_traced(folder: Path, same_scene: SameScene | None = None) -> Iterator[Labelled]:
    """The pictures of boards with holes in a folder, each with .json and .toml, without those with an arm; their tables
    rendered anew where `same_scene` says how."""
    for seed, path in enumerate(sorted(folder.glob("*.json"))):
        truth = json.loads(path.read_text())
        if truth["hand"]:
            continue
        image_bgr = read_picture(folder / truth["image"])
        if same_scene is not None:
            image_bgr, truth = same_scene(image_bgr, truth, seed)
        yield labelled(image_bgr, read_profile(path.with_suffix(".toml")), truth)


def photographed(folder: Path) -> Iterator[Labelled]:
    """The photographs of boards with stones in a folder with a ground_truth.json."""
    for item in json.loads((folder / "ground_truth.json").read_text())["items"]:
        profile = parse_profile(_STONES.format(columns=item["cols"], rows=item["rows"]))
        image_bgr = read_picture(folder / Path(item["image"]).name)
        yield Labelled(
            image_bgr, profile, tuple((float(x), float(y)) for x, y in item["corners"]), tuple(item["cells"])
        )


def drawn_anew(photographs: Iterable[Labelled], same_stones: SameStones, drawings: int = 3) -> Iterator[Labelled]:
    """The boards of photographs drawn so many times each, as `same_stones` says, without those that no pinhole camera
    sees so: stretched photographs."""
    for seed, photograph in enumerate(photographs):
        names = [name for name, _ in photograph.profile.colours]
        labels = np.array([[names.index(mark) + 1 if mark in names else 0 for mark in row] for row in photograph.cells])
        cells = tuple("".join((".", *names)[kind] for kind in row) for row in labels)
        for drawing in range(drawings):
            try:
                image_bgr, corners_px = same_stones(
                    photograph.image_bgr, photograph.profile, photograph.corners_px, labels, drawings * seed + drawing
                )
            except CalibrationError:
                break
            corners = tuple((float(x), float(y)) for x, y in corners_px)
            yield Labelled(image_bgr, photograph.profile, corners, cells)


def accuracy(pictures: Iterable[Labelled]) -> Accuracy:
    """How well these pictures are read, each by itself and with its corners given."""
    places = wrong = 0
    errors_mm: list[float] = []
    for picture in pictures:
        board = picture.profile.board
        size_wh = (picture.image_bgr.shape[1], picture.image_bgr.shape[0])
        if isinstance(board, HolesBoard):
            calibration = calibrate(picture.corners_px, board.corners_mm(), size_wh, picture.profile.fov_x_deg)
        else:
            calibration = calibrate_plane(picture.corners_px, board.corners_mm(), size_wh)
        reading = sure(read_disks(picture.image_bgr, calibration, picture.profile))
        read = cells_from_reading(reading, board.rows, board.columns)
        judged = [
            (mark, seen)
            for row, told in zip(picture.cells, read, strict=True)
            for mark, seen in zip(row, told, strict=True)
            if mark != "?"
        ]
        places += len(judged)
        wrong += sum(mark != seen for mark, seen in judged)
        for centre_mm in picture.centres_mm:
            away = [math.dist(centre_mm, disk.centre_mm) for disk in reading.disks]
            errors_mm += [error for error in [min(away, default=math.inf)] if error < _NEAR_MM]
    return Accuracy(wrong / max(places, 1), statistics.median(errors_mm) if errors_mm else None, places)


def accuracy_rows(
    hard: Sequence[Labelled], same_scene: SameScene, same_stones: SameStones, shared: Path
) -> Iterator[Row]:
    """The sets side by side: each beside the same tables or boards rendered anew. Raises FileNotFoundError where the
    shared pictures are not there."""
    if not shared.is_dir():
        raise FileNotFoundError(shared)
    tables = shared / "pictures" / "pathways"
    rendered, traced = accuracy(path_traced(tables, same_scene)), accuracy(path_traced(tables))
    boards = list(chain.from_iterable(photographed(shared / "photos" / name) for name in ("stones", "overhead")))
    photographs, drawn = accuracy(boards), accuracy(drawn_anew(boards, same_stones))
    for name, one, peer, other in (
        ("path-traced", traced, rendered, "tables rendered"),
        ("photographed", photographs, drawn, "boards drawn"),
        ("hard rendered", accuracy(hard), rendered, "path-traced tables rendered"),
    ):
        yield Row(
            f"places read wrongly on {name} pictures, of {one.places:,}, beside the {other}, of {peer.places:,}",
            round(100 * one.wrong_share, 3),
            round(100 * peer.wrong_share, 3),
            "%",
        )
    if traced.median_mm is not None and rendered.median_mm is not None:
        yield Row(
            "error of disk centres on path-traced pictures, median, beside the same tables rendered",
            round(traced.median_mm, 3),
            round(rendered.median_mm, 3),
            "mm",
        )
