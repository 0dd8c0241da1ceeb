"""The boards as drawings: MageStone's with its marks, Pathstone's squares, and where Pathways' holes are drilled."""

from companion.games.magestone.board import BASES, CELLS, NEXUS, WIDTH, on_board
from companion.games.magestone.pieces import Seat
from companion.printing.shapes import INK, Area, Circle, Drawing, Line, Point, Shape, Text, rectangle
from vision.board import HolesBoard, Marks, Profile, ProfileError, SquaresBoard
from vision.markers import CORNER_MARKS, corner_marks_mm, mark_modules

SEAT_TINTS = {Seat.TOP: "#f4cfc9", Seat.RIGHT: "#cfdcf3", Seat.BOTTOM: "#d3e8cf", Seat.LEFT: "#f3e6b8"}
"""Light enough for a mark's black to stand out from them."""
_PAPER = "#ffffff"
_EDGE = "#8a8173"
_OUTER, _STONES, _NEXUS = ("#f3ecdc", "#e9dfc6"), ("#e4dccb", "#d9cfb7"), ("#dcd0ee", "#d2c3e8")
"""Tints of even and odd squares."""
_WOODS = ("#d9b98f", "#f6e7cc")
_FRAME_MM = 12.0
"""Beyond Pathstone's outer lines, for the squares' names."""
_MOST_HOLES = 5_000


def magestone_board(profile: Profile) -> Drawing:
    """The board with cut corners and a mark in each. Raises ProfileError for one that MageStone is not played on."""
    board, marks = marked(profile)
    side_mm = board.square_mm
    shapes: list[Shape] = [Area((_square(cell, side_mm),), _tint(cell), _EDGE, 0.2) for cell in CELLS]
    shapes.append(Area((_outline(side_mm),), edge=INK, edge_mm=0.4))
    middles_mm = corner_marks_mm(board)
    for mark, middle_mm in zip(CORNER_MARKS, middles_mm, strict=True):
        shapes += mark_shapes(mark, middle_mm, marks.corner_mark_mm, marks)
    return Drawing(WIDTH * side_mm, WIDTH * side_mm, tuple(shapes))


def marked(profile: Profile) -> tuple[SquaresBoard, Marks]:
    """The board and the marks of a profile for MageStone. Raises ProfileError."""
    board, marks = profile.board, profile.marks
    if not isinstance(board, SquaresBoard) or marks is None or (board.rows, board.columns) != (WIDTH, WIDTH):
        raise ProfileError(f'MageStone is played on a board of kind "squares" with {WIDTH} x {WIDTH} and [marks]')
    middle_mm, half_mm = corner_marks_mm(board)[0][0], marks.corner_mark_mm / 2
    if half_mm >= middle_mm or middle_mm + half_mm > 2 * board.square_mm:
        raise ProfileError(f"[marks] corner_mark_mm: {marks.corner_mark_mm:g} mm do not fit in the cut corners")
    most_mm = marks.token_mm[0] / 2**0.5
    if marks.mark_mm > most_mm - 0.5:
        raise ProfileError(
            f"[marks] mark_mm: {marks.mark_mm:g} mm do not fit on a round token of {marks.token_mm[0]:g} mm; "
            f"at most {most_mm - 0.5:.1f}"
        )
    return board, marks


def mark_shapes(mark: int, middle_mm: Point, side_mm: float, marks: Marks) -> tuple[Shape, Shape]:
    """A mark, upright: its black square and the white in it."""
    left_mm, top_mm = middle_mm[0] - side_mm / 2, middle_mm[1] - side_mm / 2
    modules = mark_modules(mark, marks)
    module_mm = side_mm / len(modules)
    white = tuple(
        rectangle(left_mm + column * module_mm, top_mm + row * module_mm, module_mm, module_mm)
        for row, line in enumerate(modules)
        for column, is_white in enumerate(line)
        if is_white
    )
    return Area((rectangle(left_mm, top_mm, side_mm, side_mm),), INK), Area(white, _PAPER)


def pathstone_board(profile: Profile) -> Drawing:
    """The squares with their names round them, a1 at the lower left. Raises ProfileError for other boards."""
    board = profile.board
    if not isinstance(board, SquaresBoard) or board.rows != board.columns or not 3 <= board.rows <= 8:
        raise ProfileError('Pathstone is played on a board of kind "squares" with 3 x 3 to 8 x 8')
    size, side_mm = board.rows, board.square_mm
    grid_mm = size * side_mm
    name_mm = min(4.0, side_mm / 4)
    shapes: list[Shape] = [Area((rectangle(0, 0, grid_mm + 2 * _FRAME_MM, grid_mm + 2 * _FRAME_MM),), _WOODS[1])]
    shapes += [
        Area(
            (rectangle(_FRAME_MM + column * side_mm, _FRAME_MM + row * side_mm, side_mm, side_mm),),
            _WOODS[(size - row + column) % 2],
            INK,
            0.5,
        )
        for row in range(size)
        for column in range(size)
    ]
    for k in range(size):
        along_mm = _FRAME_MM + (k + 0.5) * side_mm
        for across_mm in (_FRAME_MM / 2, grid_mm + 1.5 * _FRAME_MM):
            low_mm = across_mm + name_mm / 2
            shapes.append(Text((along_mm, low_mm), chr(ord("a") + k), name_mm))
            shapes.append(Text((across_mm, along_mm + name_mm / 2), str(size - k), name_mm))
    return Drawing(grid_mm + 2 * _FRAME_MM, grid_mm + 2 * _FRAME_MM, tuple(shapes))


def drilling_template(profile: Profile) -> Drawing:
    """Pathways' slab with its hole centres and launch lines, player A below. Raises ProfileError for other boards."""
    board = profile.board
    if not isinstance(board, HolesBoard):
        raise ProfileError('Pathways is played on a board of kind "holes"')
    if board.rows * board.columns > _MOST_HOLES:
        raise ProfileError(f"[board] {board.rows} rows x {board.columns} columns are more holes than a template shows")
    width_mm, length_mm = board.width_mm, board.length_mm
    shapes: list[Shape] = [Area((rectangle(0, 0, width_mm, length_mm),), edge=INK, edge_mm=0.3)]
    for line_mm, player in ((length_mm - board.launch_line_mm, "A"), (board.launch_line_mm, "B")):
        shapes.append(Line((0, line_mm), (width_mm, line_mm), width_mm=0.3))
        shapes.append(Text((width_mm / 2, line_mm - 1.5), f"launch line {player}: the line's middle", 2.5))
    arm_mm = 0.35 * board.hole_diameter_mm
    name_mm = min(2.5, board.hole_diameter_mm / 8)
    for number, (x, y_from_a) in enumerate(board.cells_mm().tolist()):
        y = length_mm - y_from_a
        row, column = divmod(number, board.columns)
        shapes += (
            Circle((x, y), board.hole_diameter_mm, edge=INK),
            Line((x - arm_mm, y), (x + arm_mm, y), width_mm=0.15),
            Line((x, y - arm_mm), (x, y + arm_mm), width_mm=0.15),
            Text((x + arm_mm / 2, y - name_mm / 2), f"{row + 1}.{column + 1}", name_mm, most_mm=arm_mm),
        )
    return Drawing(width_mm, length_mm, tuple(shapes))


def _square(cell: tuple[int, int], side_mm: float) -> tuple[Point, ...]:
    return rectangle(cell[1] * side_mm, cell[0] * side_mm, side_mm, side_mm)


def _tint(cell: tuple[int, int]) -> str:
    odd = sum(cell) % 2
    if cell in NEXUS:
        return _NEXUS[odd]
    for seat, base in BASES.items():
        if cell in base:
            return SEAT_TINTS[seat]
    return (_STONES if all(4 <= k < WIDTH - 4 for k in cell) else _OUTER)[odd]


def _outline(side_mm: float) -> tuple[Point, ...]:
    """Round all squares, clockwise from the top left one."""
    first = [min(column for column in range(WIDTH) if on_board((row, column))) for row in range(WIDTH)]
    left = [(first[row], row + k) for row in range(WIDTH) for k in (0, 1)]
    right = [(WIDTH - column, row) for column, row in left]
    return tuple((column * side_mm, row * side_mm) for column, row in (*right, *reversed(left)))
