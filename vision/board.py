"""A board's geometry and colours as data: the TOML profile, read strictly."""

import math
import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]
"""A picture (h, w, 3), 8-bit blue, green, red; or a one-channel mask (h, w)."""


class ProfileError(ValueError):
    """A profile that cannot be used; the message names the file, the key and the remedy."""


@dataclass(frozen=True, slots=True)
class HolesBoard:
    """A slab with round holes; millimetres, origin at its A-left corner, x to A's right, y towards B."""

    columns: int
    rows: int
    pitch_mm: float
    hole_diameter_mm: float
    disk_diameter_mm: float
    disk_height_mm: float
    width_mm: float
    length_mm: float
    launch_line_mm: float
    first_row_mm: float
    margin_mm: float
    slab_mm: float

    def cells_mm(self) -> Floats:
        """Hole centres, (rows * columns, 2), row by row from row 1, column 1."""
        return _lattice(self.rows, self.columns, self.pitch_mm, (self.margin_mm, self.first_row_mm))

    def corners_mm(self) -> Floats:
        """The slab's corners, (4, 2): A-left, A-right, B-right, B-left."""
        return _rectangle(self.width_mm, self.length_mm)

    def fault(self) -> str | None:
        """Why this board cannot be, or None."""
        last_row_mm = self.first_row_mm + (self.rows - 1) * self.pitch_mm
        last_column_mm = self.margin_mm + (self.columns - 1) * self.pitch_mm
        if self.rows < 4:
            return "rows must be at least 4"
        if self.disk_diameter_mm >= self.hole_diameter_mm:
            return "disk_diameter_mm must be smaller than hole_diameter_mm"
        if self.hole_diameter_mm >= self.pitch_mm:
            return "hole_diameter_mm must be smaller than pitch_mm"
        if last_row_mm + self.hole_diameter_mm / 2 > self.length_mm:
            return "length_mm is too small for first_row_mm and rows * pitch_mm"
        if last_column_mm + self.hole_diameter_mm / 2 > self.width_mm:
            return "width_mm is too small for margin_mm and columns * pitch_mm"
        if self.launch_line_mm >= self.first_row_mm:
            return "launch_line_mm must be smaller than first_row_mm"
        return None


@dataclass(frozen=True, slots=True)
class SquaresBoard:
    """A grid of squares; millimetres, origin at the grid's corner 0."""

    columns: int
    rows: int
    square_mm: float

    @property
    def width_mm(self) -> float:
        """Of the grid, along x."""
        return self.columns * self.square_mm

    @property
    def length_mm(self) -> float:
        """Of the grid, along y."""
        return self.rows * self.square_mm

    def cells_mm(self) -> Floats:
        """Square centres, (rows * columns, 2), row by row."""
        return _lattice(self.rows, self.columns, self.square_mm, (self.square_mm / 2, self.square_mm / 2))

    def corners_mm(self) -> Floats:
        """The grid's outer corners, (4, 2)."""
        return _rectangle(self.width_mm, self.length_mm)

    def fault(self) -> str | None:
        """Why this board cannot be, or None."""
        return None


@dataclass(frozen=True, slots=True)
class CrossingsBoard:
    """Lines with round stones on their crossings; millimetres, origin at the first crossing."""

    columns: int
    rows: int
    pitch_mm: float
    disk_diameter_mm: float

    def cells_mm(self) -> Floats:
        """Crossings, (rows * columns, 2), row by row."""
        return _lattice(self.rows, self.columns, self.pitch_mm)

    def corners_mm(self) -> Floats:
        """The outer crossings, (4, 2)."""
        return _rectangle((self.columns - 1) * self.pitch_mm, (self.rows - 1) * self.pitch_mm)

    def fault(self) -> str | None:
        """Why this board cannot be, or None."""
        if min(self.columns, self.rows) < 2:
            return "columns and rows must be at least 2"
        if self.disk_diameter_mm > 1.1 * self.pitch_mm:
            return "disk_diameter_mm must not exceed pitch_mm by more than a tenth"
        return None


Board = HolesBoard | SquaresBoard | CrossingsBoard
KINDS: dict[str, type[Board]] = {"holes": HolesBoard, "squares": SquaresBoard, "crossings": CrossingsBoard}


@dataclass(frozen=True, slots=True)
class Grid:
    """How the indices of an LED and sensor grid run over the cells."""

    first: Literal["a-left", "a-right", "b-left", "b-right"] = "a-left"
    along: Literal["rows", "columns"] = "rows"
    serpentine: bool = False
    missing: tuple[tuple[int, int], ...] = ()

    def cells(self, rows: int, columns: int) -> tuple[tuple[int, int], ...]:
        """Row and column, from 1, of the cell at each index. A missing cell has no index: the chain passes it over."""
        downs = range(1, rows + 1) if self.first.startswith("a") else range(rows, 0, -1)
        acrosses = range(1, columns + 1) if self.first.endswith("left") else range(columns, 0, -1)
        lines, steps = (downs, acrosses) if self.along == "rows" else (acrosses, downs)
        run = (
            (line, step) if self.along == "rows" else (step, line)
            for k, line in enumerate(lines)
            for step in (reversed(steps) if self.serpentine and k % 2 else steps)
        )
        return tuple(cell for cell in run if cell not in self.missing)

    def fault(self, rows: int, columns: int) -> str | None:
        """Why this grid cannot be on a board of so many cells, or None."""
        for row, column in self.missing:
            if not (1 <= row <= rows and 1 <= column <= columns):
                return f"missing names [{row}, {column}]; rows are 1 to {rows}, columns 1 to {columns}"
        if len(set(self.missing)) == rows * columns:
            return "missing names every cell; leave [grid] out"
        return None


@dataclass(frozen=True, slots=True)
class Pieces:
    """How large Pathstone's pieces are, in millimetres."""

    flat_mm: tuple[float, float, float] = (34.0, 34.0, 8.0)
    """Width, depth and thickness"""
    wall_height_mm: float = 34.0
    crown_mm: tuple[float, float] = (24.0, 38.0)
    """Diameter and height"""


@dataclass(frozen=True, slots=True)
class Marks:
    """The printed marks of a board and its tokens, in millimetres."""

    dictionary: str = "DICT_4X4_100"
    token_mm: tuple[float, float] = (20.0, 4.0)
    """Diameter and height"""
    mark_mm: float = 13.0
    corner_mark_mm: float = 40.0


@dataclass(frozen=True, slots=True)
class Profile:
    """One board: its geometry, the look of the two sides' pieces, and what is known of camera and grid."""

    board: Board
    colours: tuple[tuple[str, tuple[int, int, int]], ...]
    """Name and 8-bit blue, green, red of each side's pieces."""
    fov_x_deg: float | None = None
    grid: Grid | None = None
    pieces: Pieces | None = None
    marks: Marks | None = None


def read_profile(path: Path) -> Profile:
    """The profile in a TOML file. Raises ProfileError, naming the file and the key."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: cannot be read as a board profile ({error}); give a TOML file") from error
    try:
        return parse_profile(text)
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from error


def parse_profile(text: str) -> Profile:
    """The profile in a TOML text. Raises ProfileError, naming the key."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"not a TOML text: {error}") from error
    _refuse_unknown(data, {"kind", "board", "pieces", "marks", "colours", "camera", "grid"}, "")
    kind = data.get("kind")
    if kind not in KINDS:
        raise ProfileError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    board: Board = _read_table(_table(data, "board"), KINDS[kind], "board")
    fault = board.fault()
    if fault is not None:
        raise ProfileError(f"[board] {fault}")
    grid = _read_grid(data)
    fault = None if grid is None else grid.fault(board.rows, board.columns)
    if fault is not None:
        raise ProfileError(f"[grid] {fault}")
    pieces, marks = _read_pieces(data, board), _read_marks(data, board)
    if marks is not None and "colours" in data:
        raise ProfileError("[colours] does not go with [marks]; leave it out")
    colours = () if marks is not None else _read_colours(_table(data, "colours"))
    return Profile(board, colours, _read_fov(data.get("camera", {})), grid, pieces, marks)


def _read_table(table: dict[str, Any], form: type[Board], name: str) -> Board:
    expected = {f.name: f.type for f in fields(form)}
    _refuse_unknown(table, set(expected), f"[{name}] ")
    values: dict[str, Any] = {}
    for key, kind in expected.items():
        if key not in table:
            raise ProfileError(f"[{name}] {key} is missing")
        values[key] = _positive(table[key], f"[{name}] {key}", whole=kind is int)
    return form(**values)


def _read_pieces(data: dict[str, Any], board: Board) -> Pieces | None:
    table = _read_sizes(data, "pieces", board, {"flat_mm": 3, "wall_height_mm": 0, "crown_mm": 2})
    if table is None:
        return None
    pieces = Pieces(**table)
    assert isinstance(board, SquaresBoard)
    for key, widest in (("flat_mm", max(pieces.flat_mm[:2])), ("crown_mm", pieces.crown_mm[0])):
        if widest > board.square_mm:
            raise ProfileError(f"[pieces] {key}: {widest} mm are more than a square has, {board.square_mm}")
    return pieces


def _read_marks(data: dict[str, Any], board: Board) -> Marks | None:
    known = {"token_mm": 2, "mark_mm": 0, "corner_mark_mm": 0, "dictionary": -1}
    table = _read_sizes(data, "marks", board, known)
    if table is None:
        return None
    marks = Marks(**table)
    if marks.dictionary != "DICT_4X4_100":
        raise ProfileError(f'[marks] dictionary is {marks.dictionary!r}; it must be "DICT_4X4_100"')
    if marks.mark_mm >= marks.token_mm[0]:
        raise ProfileError("[marks] mark_mm must be smaller than the token's diameter")
    return marks


def _read_sizes(data: dict[str, Any], name: str, board: Board, known: dict[str, int]) -> dict[str, Any] | None:
    """An optional table of sizes: each key has so many numbers, 0 for one without brackets, -1 for a text."""
    if name not in data:
        return None
    if not isinstance(board, SquaresBoard):
        raise ProfileError(f'[{name}] goes with kind = "squares" alone')
    table = _table(data, name)
    _refuse_unknown(table, set(known), f"[{name}] ")
    values: dict[str, Any] = {}
    for key, count in known.items():
        value, where = table.get(key), f"[{name}] {key}"
        if value is None:
            continue
        if count > 0:
            if not isinstance(value, list) or len(value) != count:
                raise ProfileError(f"{where} is {value!r}; it must be a list of {count} numbers")
            values[key] = tuple(_positive(number, where, whole=False) for number in value)
        else:
            values[key] = value if count < 0 else _positive(value, where, whole=False)
    return values


def _positive(value: object, key: str, *, whole: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, (int,) if whole else (int, float)):
        raise ProfileError(f"{key} is {value!r}; it must be a {'whole ' if whole else ''}number")
    if not math.isfinite(value) or value <= 0 or value > 10_000:
        raise ProfileError(f"{key} is {value!r}; it must be above 0 and at most 10000")
    return value


def _read_colours(table: dict[str, Any]) -> tuple[tuple[str, tuple[int, int, int]], ...]:
    colours = []
    for name, value in table.items():
        if not isinstance(value, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            raise ProfileError(f'[colours] {name} is {value!r}; write it as "#rrggbb"')
        if len(name) != 1 or not name.isalpha():
            raise ProfileError(f"[colours] {name}: a colour's name is one letter")
        red, green, blue = bytes.fromhex(value[1:])
        colours.append((name, (blue, green, red)))
    if len(colours) != 2:
        raise ProfileError("[colours] needs exactly two colours, one for each side")
    return tuple(colours)


def _read_fov(camera: dict[str, Any]) -> float | None:
    _refuse_unknown(camera, {"fov_x_deg"}, "[camera] ")
    if "fov_x_deg" not in camera:
        return None
    fov = _positive(camera["fov_x_deg"], "[camera] fov_x_deg", whole=False)
    if not 5 <= fov <= 150:
        raise ProfileError(f"[camera] fov_x_deg is {fov}; it must be from 5 to 150")
    return fov


def _read_grid(data: dict[str, Any]) -> Grid | None:
    if "grid" not in data:
        return None
    table = _table(data, "grid")
    _refuse_unknown(table, {f.name for f in fields(Grid)}, "[grid] ")
    choices = {"first": ("a-left", "a-right", "b-left", "b-right"), "along": ("rows", "columns")}
    for key, allowed in choices.items():
        if table.get(key, allowed[0]) not in allowed:
            raise ProfileError(f"[grid] {key} is {table[key]!r}; it must be one of {', '.join(allowed)}")
    if not isinstance(table.get("serpentine", False), bool):
        raise ProfileError("[grid] serpentine must be true or false")
    missing = table.get("missing", [])
    if not isinstance(missing, list) or not all(
        isinstance(cell, list) and len(cell) == 2 and all(type(k) is int for k in cell) for cell in missing
    ):
        raise ProfileError("[grid] missing must be a list of [row, column]")
    return Grid(**{**table, "missing": tuple((row, column) for row, column in missing)})


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name)
    if not isinstance(table, dict):
        raise ProfileError(f"[{name}] is missing")
    return table


def _refuse_unknown(table: dict[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise ProfileError(f"{where}{key} is not a key of a profile; known here: {', '.join(sorted(known))}")


@cache
def _lattice(rows: int, columns: int, pitch_mm: float, first_mm: tuple[float, float] = (0.0, 0.0)) -> Floats:
    row, column = np.mgrid[0:rows, 0:columns]
    lattice = np.stack([first_mm[0] + column.ravel() * pitch_mm, first_mm[1] + row.ravel() * pitch_mm], axis=1)
    lattice.flags.writeable = False
    return lattice


def _rectangle(width_mm: float, length_mm: float) -> Floats:
    return np.array([[0, 0], [width_mm, 0], [width_mm, length_mm], [0, length_mm]], dtype=np.float64)
