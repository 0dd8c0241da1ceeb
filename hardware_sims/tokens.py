"""A printed board with marked tokens on its squares: where each lies, moved by scripts, and the picture of it.

Board millimetres are the profile's: the origin at the grid's corner beside mark 0, y growing with the row; z up from
the paper. Tokens on one square lie on one another. The picture is drawn plane by plane: the paper, then each token's
rim and top from the lowest up, under one lamp with soft shadows and the paper's glare.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from hardware_sims.materials import Plane
from hardware_sims.view import View
from vision.board import Floats, Image, Marks, SquaresBoard

Cell = tuple[int, int]
"""Row and column, from 0."""

STANDARD = SquaresBoard(16, 16, 25.0)
STONE, ACTIVATED, GRAVE = 50, 51, 52
_PX_MM = 8
"""Of what is printed."""
_OVERSAMPLING = 2
_GAMMA = 2.2
_PAPER, _INK, _TABLE, _RIM = 0.78, 0.025, 0.12, 0.42
"""What each throws back of the light, linear."""
_CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))
_CORNER_MM = 25.0
"""A corner mark's middle from both outer edges of the grid."""
_BORDER_MM = 12.0
"""Paper beyond the grid."""


def unit_mark(seat: int, number: int) -> int:
    """The mark of a seat's Mage (0), Priest (1) or Warriors (2 to 7)."""
    return 10 + 10 * seat + number


@dataclass(frozen=True, slots=True)
class Token:
    """A token where it lies; `turn_deg` anticlockwise as seen from above."""

    mark: int
    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    """Of its underside."""
    turn_deg: float = 0.0


@dataclass(slots=True)
class TokenTable:
    """The truth: tokens by their square, the lowest first, laid down by hand and so never quite straight."""

    board: SquaresBoard = STANDARD
    marks: Marks = field(default_factory=Marks)
    seed: int = 0
    _squares: dict[Cell, list[Token]] = field(default_factory=dict, init=False)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    @classmethod
    def holding(cls, tokens: Iterable[Token]) -> "TokenTable":
        """A table of the usual board on which these tokens lie as they are."""
        table = cls()
        side_mm = table.board.square_mm
        for token in tokens:
            table._squares.setdefault((int(token.y_mm // side_mm), int(token.x_mm // side_mm)), []).append(token)
        return table

    def slip(self, mark: int, cell: Cell) -> None:
        """Lays a token down under the topmost of a square, or on it where that is empty."""
        above = [self.take(cell)] if self._squares.get(cell) else []
        for token in (mark, *above):
            self.put(token, cell)

    def put(self, mark: int, cell: Cell) -> None:
        """Lays a token down on what lies on a square. Raises ValueError for a square that is cut off."""
        if not is_square(self.board, cell):
            raise ValueError(f"there is no square {cell}")
        side_mm = self.board.square_mm
        play_mm = (side_mm - self.marks.token_mm[0]) / 2
        x_mm, y_mm = ((k + 0.5) * side_mm + float(self._rng.uniform(-play_mm, play_mm)) for k in (cell[1], cell[0]))
        pile = self._squares.setdefault(cell, [])
        if pile:
            # One that is laid on another is laid on its middle, as far as a hand does.
            x_mm, y_mm = pile[-1].x_mm + (x_mm - pile[-1].x_mm) / 8, pile[-1].y_mm + (y_mm - pile[-1].y_mm) / 8
        turn_deg = float(self._rng.uniform(0, 360))
        pile.append(Token(mark, x_mm, y_mm, len(pile) * self.marks.token_mm[1], turn_deg))

    def take(self, cell: Cell, mark: int | None = None) -> int:
        """Takes the topmost token, or the topmost with this mark, off a square; its mark. Raises KeyError."""
        pile = self._squares.get(cell, [])
        places = [place for place, token in enumerate(pile) if mark in (None, token.mark)]
        if not places:
            raise KeyError(f"no such token on {cell}")
        taken = pile.pop(places[-1])
        height_mm = self.marks.token_mm[1]
        self._squares[cell] = [replace(token, z_mm=place * height_mm) for place, token in enumerate(pile)]
        return taken.mark

    def move(self, start: Cell, end: Cell) -> None:
        """Moves the topmost token of a square to another. Raises KeyError or ValueError."""
        self.put(self.take(start), end)

    def tokens(self) -> tuple[Token, ...]:
        """Every token, the lowest first."""
        return tuple(sorted((token for pile in self._squares.values() for token in pile), key=lambda one: one.z_mm))

    def tops(self) -> dict[Cell, int]:
        """The mark to be seen on each square that has any."""
        return {cell: pile[-1].mark for cell, pile in self._squares.items() if pile}


def is_square(board: SquaresBoard, cell: Cell) -> bool:
    """Whether a square is on the board: its corners are cut in four steps."""
    row, column = cell
    if not (0 <= row < board.rows and 0 <= column < board.columns):
        return False
    inset = max(0, 4 - min(row, board.rows - 1 - row))
    return inset <= column < board.columns - inset


@dataclass(frozen=True, slots=True)
class Light:
    """One lamp, by its place from the board's middle (x, y, z up), the light all round, and the paper's glare."""

    place_mm: tuple[float, float, float] = (-350.0, 420.0, 1100.0)
    radius_mm: float = 130.0
    lamp: float = 0.75
    ambient: float = 0.3
    gloss: float = 0.05
    gloss_exponent: float = 60.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What lens and sensor do."""

    exposure: float = 1.0
    blur_px: float = 0.6
    noise_levels: float = 1.5
    jpeg_quality: int | None = 90


@dataclass(frozen=True, slots=True)
class _Sheet:
    width_mm: float
    length_mm: float


def project(board: SquaresBoard, view: View, points_mm: Iterable[tuple[float, float]], z_mm: float = 0.0) -> Floats:
    """Pixels, (n, 2), of board points at one height."""
    width_mm, length_mm = _size_mm(board)
    # A view's y grows away from its usual camera, the board's rows towards it.
    return view.project(_Sheet(width_mm, length_mm), [(x, length_mm - y) for x, y in points_mm], z_mm)


def render(
    table: TokenTable, view: View, light: Light | None = None, picture: Picture | None = None, seed: int = 0
) -> Image:
    """The picture of a table, blue first; deterministic by its seed."""
    light, picture = light or Light(), picture or Picture()
    rng = np.random.default_rng(seed)
    canvas = _Canvas(table, view, light)
    for token in table.tokens():
        canvas.draw(token)
    width, height = view.size_wh
    linear = cv2.resize(canvas.light, (width, height), interpolation=cv2.INTER_AREA)
    encoded = 255 * np.clip(linear * picture.exposure, 0, None) ** (1 / _GAMMA)
    image = np.stack([encoded * tint for tint in (0.97, 1.0, 1.0)], axis=-1)
    if picture.blur_px > 0:
        image = cv2.GaussianBlur(image, (0, 0), picture.blur_px)
    image = np.clip(image + rng.normal(0, picture.noise_levels, image.shape), 0, 255).astype(np.uint8)
    if view.mirrored:
        image = cv2.flip(image, 1)
    if picture.jpeg_quality is None:
        return np.asarray(image, dtype=np.uint8)
    packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, picture.jpeg_quality])[1]
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)


class _Canvas:
    """The picture while it is drawn: linear light, with more pixels than the camera has."""

    def __init__(self, table: TokenTable, view: View, light: Light) -> None:
        self._table, self._light = table, light
        size_wh = view.size_wh[0] * _OVERSAMPLING, view.size_wh[1] * _OVERSAMPLING
        self._view = replace(view, size_wh=size_wh, mirrored=False)
        self._dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, table.marks.dictionary))
        self._shade = self._shading(size_wh)
        self.light = self._paper(size_wh) * self._shadows(size_wh) * self._shade
        self.light += self._glare(size_wh)

    def draw(self, token: Token) -> None:
        """Draws a token over what is below it: its rim, then its top."""
        board, (diameter_mm, height_mm) = self._table.board, self._table.marks.token_mm
        angle = np.linspace(0, 2 * np.pi, 72, endpoint=False)
        circle = [
            (token.x_mm + diameter_mm / 2 * float(np.cos(a)), token.y_mm + diameter_mm / 2 * float(np.sin(a)))
            for a in angle
        ]
        low, top = (project(board, self._view, circle, z) for z in (token.z_mm, token.z_mm + height_mm))
        hull = cv2.convexHull(np.concatenate([low, top]).astype(np.float32)).reshape(-1, 2).astype(np.float64)
        box = _box(hull, self._view.size_wh)
        left, upper, right, lower = box
        if left >= right or upper >= lower:
            return
        part = (slice(upper, lower), slice(left, right))
        rim, face = (_filled(outline, box) for outline in (hull, top))
        shade = self._shade[part]
        printed = self._warped(self._print_of(token.mark), token, box)
        drawn = self.light[part] * (1 - rim) + _RIM * shade * rim
        self.light[part] = drawn * (1 - face) + printed * shade * face

    def _print_of(self, mark: int) -> Plane:
        diameter_mm, _ = self._table.marks.token_mm
        mark_px = round(self._table.marks.mark_mm * _PX_MM)
        face = np.full((round(diameter_mm * _PX_MM),) * 2, _PAPER, np.float32)
        begin = (len(face) - mark_px) // 2
        face[begin : begin + mark_px, begin : begin + mark_px] = self._mark(mark, mark_px)
        return face

    def _mark(self, mark: int, side_px: int) -> Plane:
        drawn = cv2.aruco.generateImageMarker(self._dictionary, mark, side_px)
        return np.where(drawn > 127, _PAPER, _INK).astype(np.float32)

    def _warped(self, printed: Plane, token: Token, box: tuple[int, int, int, int]) -> Plane:
        """What is printed on a token's top, as it is seen within a region of the picture."""
        turn = np.deg2rad(token.turn_deg)
        half_mm, half_px = self._table.marks.token_mm[0] / 2, (len(printed) - 1) / 2
        corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        places = [
            (
                token.x_mm + half_mm * float(np.cos(turn) * x + np.sin(turn) * y),
                token.y_mm + half_mm * float(-np.sin(turn) * x + np.cos(turn) * y),
            )
            for x, y in corners
        ]
        seen = project(self._table.board, self._view, places, token.z_mm + self._table.marks.token_mm[1])
        source = np.array([(half_px * (1 + x), half_px * (1 + y)) for x, y in corners], np.float32)
        matrix = cv2.getPerspectiveTransform(source, (seen - box[:2]).astype(np.float32))
        size = box[2] - box[0], box[3] - box[1]
        return np.asarray(cv2.warpPerspective(printed, matrix, size, flags=cv2.INTER_AREA, borderValue=_PAPER))

    def _paper(self, size_wh: tuple[int, int]) -> Plane:
        """The printed board on the table."""
        board, marks = self._table.board, self._table.marks
        width_mm, length_mm = _size_mm(board)
        margin = round(_BORDER_MM * _PX_MM)
        sheet = np.full(
            (round(length_mm * _PX_MM) + 2 * margin, round(width_mm * _PX_MM) + 2 * margin), _PAPER, np.float32
        )
        side = round(board.square_mm * _PX_MM)
        for row in range(board.rows):
            for column in range(board.columns):
                if is_square(board, (row, column)):
                    at = (margin + column * side, margin + row * side)
                    tone = 0.62 if (row + column) % 2 else 0.72
                    cv2.rectangle(sheet, at, (at[0] + side, at[1] + side), tone, -1)
                    cv2.rectangle(sheet, at, (at[0] + side, at[1] + side), 0.3, 2)
        mark_px = round(marks.corner_mark_mm * _PX_MM)
        off_px = round((_CORNER_MM - marks.corner_mark_mm / 2) * _PX_MM)
        for mark, (down, right) in enumerate(_CORNERS):
            top = margin + (round(length_mm * _PX_MM) - off_px - mark_px if down else off_px)
            left = margin + (round(width_mm * _PX_MM) - off_px - mark_px if right else off_px)
            sheet[top : top + mark_px, left : left + mark_px] = self._mark(mark, mark_px)
        corners = [(-_BORDER_MM, -_BORDER_MM), (width_mm + _BORDER_MM, -_BORDER_MM)]
        corners += [(width_mm + _BORDER_MM, length_mm + _BORDER_MM), (-_BORDER_MM, length_mm + _BORDER_MM)]
        seen = project(board, self._view, corners).astype(np.float32)
        right_px, low_px = sheet.shape[1] - 0.5, sheet.shape[0] - 0.5
        source = np.array([(-0.5, -0.5), (right_px, -0.5), (right_px, low_px), (-0.5, low_px)], np.float32)
        matrix = cv2.getPerspectiveTransform(source, seen)
        return np.asarray(cv2.warpPerspective(sheet, matrix, size_wh, flags=cv2.INTER_LINEAR, borderValue=_TABLE))

    def _shadows(self, size_wh: tuple[int, int]) -> Plane:
        """What share of the light on the paper the tokens leave: each throws its outline away from the lamp."""
        board, light = self._table.board, self._light
        width_mm, length_mm = _size_mm(board)
        kept = np.ones(size_wh[::-1], np.float32)
        share = light.lamp / (light.lamp + light.ambient)
        for token in self._table.tokens():
            diameter_mm, height_mm = self._table.marks.token_mm
            rise = (token.z_mm + height_mm / 2) / light.place_mm[2]
            lamp_x, lamp_y = width_mm / 2 + light.place_mm[0], length_mm / 2 - light.place_mm[1]
            middle = (token.x_mm + (token.x_mm - lamp_x) * rise, token.y_mm + (token.y_mm - lamp_y) * rise)
            angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
            outline = [
                (middle[0] + diameter_mm / 2 * float(np.cos(a)), middle[1] + diameter_mm / 2 * float(np.sin(a)))
                for a in angle
            ]
            seen = project(board, self._view, outline)
            box = _box(seen, size_wh, 8)
            if box[0] >= box[2] or box[1] >= box[3]:
                continue
            pixels_mm = float(np.hypot(*(seen[20] - seen[0]))) / diameter_mm
            soft = max(rise * light.radius_mm * pixels_mm, 0.5)
            hidden = cv2.GaussianBlur(_filled(seen, box), (0, 0), soft)
            part = kept[box[1] : box[3], box[0] : box[2]]
            np.minimum(part, 1 - share * hidden, out=part)
        return kept

    def _shading(self, size_wh: tuple[int, int]) -> Plane:
        """Light on the paper at each pixel: a lamp that fades with its distance, and what comes from all round."""
        to_lamp, _ = self._rays(size_wh)
        far = np.linalg.norm(to_lamp, axis=-1)
        direct = self._light.lamp * (to_lamp[..., 2] / far) ** 2 * (1000 / far) ** 2
        return _enlarged(direct + self._light.ambient, size_wh)

    def _glare(self, size_wh: tuple[int, int]) -> Plane:
        to_lamp, to_eye = self._rays(size_wh)
        half = _unit(to_lamp) + _unit(to_eye)
        aligned = np.clip(_unit(half)[..., 2], 0, 1) ** self._light.gloss_exponent
        return _enlarged(3 * self._light.gloss * self._light.lamp * aligned, size_wh)

    def _rays(self, size_wh: tuple[int, int]) -> tuple[Floats, Floats]:
        """From points of the paper on a coarse grid of pixels to the lamp and to the camera, in millimetres."""
        width_mm, length_mm = _size_mm(self._table.board)
        calibration = self._view.calibration(_Sheet(width_mm, length_mm))
        columns, rows = (size // 16 + 1 for size in size_wh)
        x_px, y_px = np.meshgrid(np.linspace(0, size_wh[0] - 1, columns), np.linspace(0, size_wh[1] - 1, rows))
        on_paper = calibration.board_from_px(np.column_stack([x_px.ravel(), y_px.ravel()])).reshape(rows, columns, 2)
        points = np.dstack([on_paper, np.zeros((rows, columns))])
        place = np.array([width_mm / 2, length_mm / 2, 0.0]) + self._light.place_mm
        return place - points, calibration.camera_mm() - points


def _size_mm(board: SquaresBoard) -> tuple[float, float]:
    return board.columns * board.square_mm, board.rows * board.square_mm


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _enlarged(coarse: Floats, size_wh: tuple[int, int]) -> Plane:
    return np.asarray(cv2.resize(coarse.astype(np.float32), size_wh, interpolation=cv2.INTER_LINEAR))


def _box(points_px: Floats, size_wh: tuple[int, int], grow: int = 2) -> tuple[int, int, int, int]:
    low, high = np.floor(points_px.min(axis=0)).astype(int) - grow, np.ceil(points_px.max(axis=0)).astype(int) + grow
    left, top = (int(np.clip(low[k], 0, size_wh[k])) for k in (0, 1))
    right, bottom = (int(np.clip(high[k], 0, size_wh[k])) for k in (0, 1))
    return left, top, right, bottom


def _filled(outline_px: Floats, box: tuple[int, int, int, int]) -> Plane:
    """The share of each pixel of a region that lies within an outline."""
    mask = np.zeros((box[3] - box[1], box[2] - box[0]), np.uint8)
    cv2.fillPoly(mask, [np.rint((outline_px - box[:2]) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return np.asarray(mask, np.float32) / np.float32(255)
