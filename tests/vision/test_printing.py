"""What `companion print` makes is true to size: its pages are glued together and measured, and read by a camera."""

from collections import Counter
from functools import cache, lru_cache
from itertools import pairwise
from math import hypot
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from companion.cli import main
from companion.printing.paper import MARGIN_MM, MOST_PAGES, OVERLAP_MM, Paper, printable_mm, tile
from companion.printing.sheets import print_game
from hardware_sims.tokens import STANDARD, is_square, project
from hardware_sims.view import View
from vision.board import read_profile
from vision.markers import find_marked_board, read_tokens

BOARDS = Path(__file__).resolve().parents[2] / "companion" / "boards"
PX = 8.0
"""A millimetre has so many pixels in what is measured."""
CLOSE_MM = 0.2
TITLES_MM = {"magestone": (400.0, 400.0), "pathways": (316.0, 494.0), "pathstone": (274.0, 274.0)}
MARKED = {0: (25.0, 25.0), 1: (375.0, 25.0), 2: (375.0, 375.0), 3: (25.0, 375.0)}
UNITS = {10 * (seat + 1) + unit: 1 for seat in range(4) for unit in range(8)}
TOKENS = {
    "2": {mark: 1 for mark in UNITS if mark // 10 in (1, 3)} | {50: 8, 51: 8, 52: 8},
    "4": UNITS | {50: 16, 51: 16, 52: 16},
}


def profile_of(game):
    return read_profile(BOARDS / f"{game}.toml")


@cache
def printed(game, paper=Paper.A4, players=4):
    return print_game(game, profile_of(game), paper, players)


@lru_cache(maxsize=4)
def pages(game, paper=Paper.A4, players=4):
    """Grey pictures of the pages, PX pixels a millimetre."""
    drawn = []
    for page in pypdfium2.PdfDocument(printed(game, paper, players)):
        image = page.render(scale=PX * 25.4 / 72).to_numpy()[..., :3]
        width_mm, length_mm = (size * 25.4 / 72 for size in (page.get_width(), page.get_height()))
        size = round(width_mm * PX), round(length_mm * PX)
        # The picture has whole pixels, the page has not.
        drawn.append(cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), size, interpolation=cv2.INTER_AREA))
    return tuple(drawn)


def tiling(game, paper):
    return tile(*TITLES_MM[game], paper)


def part_of(page, part, left_mm, top_mm, width_mm, length_mm):
    """A region of a tile's page, by the drawing's millimetres."""
    left, top = MARGIN_MM + left_mm - part.left_mm, MARGIN_MM + top_mm - part.top_mm
    return page[round(top * PX) : round((top + length_mm) * PX), round(left * PX) : round((left + width_mm) * PX)]


@lru_cache(maxsize=4)
def glued(game, paper=Paper.A4):
    """The poster as its pages give it when each is laid over the strips of those before it."""
    width_mm, length_mm = TITLES_MM[game]
    poster = np.full((round(length_mm * PX), round(width_mm * PX)), 255, np.uint8)
    for page, part in zip(pages(game, paper)[1:], tiling(game, paper).tiles, strict=False):
        shown = part_of(page, part, part.left_mm, part.top_mm, part.width_mm, part.length_mm)
        top, left = round(part.top_mm * PX), round(part.left_mm * PX)
        room = poster[top : top + shown.shape[0], left : left + shown.shape[1]]
        room[:] = shown[: room.shape[0], : room.shape[1]]
    return poster


def marks_mm(image):
    """Marks with their corners (4, 2), by an ArUco detector of its own."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.adaptiveThreshWinSizeMin, parameters.adaptiveThreshWinSizeMax = 51, 201
    parameters.adaptiveThreshWinSizeStep = 50
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_100)
    corners, marks, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(image)
    return [(int(mark), box_mm(image, quad.reshape(4, 2))) for mark, quad in zip(marks.ravel(), corners, strict=True)]


def box_mm(image, corners):
    """An upright mark's left, top, right and lower edge, where black turns white along its border's middle."""
    (left, top), side = corners[0], corners[1][0] - corners[0][0]
    border = side / 12
    across = dark_run(image[round(top + border)], left + border)
    down = dark_run(image[:, round(left + border)], top + border)
    return np.array([across[0], down[0], across[1], down[1]]) / PX


def dark_run(line, inside):
    """Where the dark around a place begins and ends, by the grey of the pixels at its ends."""
    first = last = round(inside)
    while line[first - 1] < 200:
        first -= 1
    while line[last + 1] < 200:
        last += 1
    return first + line[first] / 255, last + 1 - line[last] / 255


def line_mm(image, place_mm, *, across, within_mm=3.0):
    """The place of the darkest line near one: a row of the picture (across) or a column."""
    darkness = 255.0 - image.mean(axis=1 if across else 0)
    low, high = round((place_mm - within_mm) * PX), round((place_mm + within_mm) * PX)
    low = max(low, 0)
    seen = darkness[low:high] - darkness[low:high].min()
    seen[seen < seen.max() / 2] = 0
    return float((seen * (np.arange(len(seen)) + 0.5)).sum() / seen.sum() + low) / PX


@pytest.mark.parametrize("paper", list(Paper))
def test_corner_marks_are_true_to_size(paper):
    found = dict(marks_mm(glued("magestone", paper)))
    assert sorted(found) == [0, 1, 2, 3]
    off = max(float(np.abs(found[mark] - [x - 20, y - 20, x + 20, y + 20]).max()) for mark, (x, y) in MARKED.items())
    print(f"edges of the marks are at most {off:.3f} mm off")
    assert off <= CLOSE_MM


def test_our_own_reader_finds_the_printed_board():
    image = cv2.cvtColor(cv2.resize(glued("magestone"), None, fx=0.4, fy=0.4), cv2.COLOR_GRAY2BGR)
    image = cv2.copyMakeBorder(image, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=(90, 90, 90))
    found = find_marked_board(image, profile_of("magestone"))
    scale = 0.4 * PX
    corners = (found.project(profile_of("magestone").board.corners_mm()) + 0.5 - 40) / scale
    off = float(np.abs(corners - [[0, 0], [400, 0], [400, 400], [0, 400]]).max())
    print(f"the grid's corners are {off:.3f} mm off")
    assert off <= CLOSE_MM


@pytest.mark.parametrize("players", ["2", "4"])
@pytest.mark.parametrize("paper", list(Paper))
def test_tokens_are_all_there_and_true_to_size(players, paper):
    tokens = pages("magestone", paper, int(players))[1 + len(tiling("magestone", paper).tiles) :]
    found = [mark for page in tokens for mark in marks_mm(page)]
    assert Counter(mark for mark, _ in found) == TOKENS[players]
    sides = np.array([edges[2:] - edges[:2] for _, edges in found])
    print(f"sides are at most {np.abs(sides - 13).max():.3f} mm off")
    assert float(np.abs(sides - 13).max()) <= CLOSE_MM
    for page in tokens:
        for _, edges in marks_mm(page):
            assert radii_mm(page, (edges[:2] + edges[2:]) / 2) == pytest.approx([10] * 4, abs=CLOSE_MM)


def radii_mm(page, middle_mm):
    """From a token's middle to its outline: right, down, left, up."""
    found = []
    for turn in range(4):
        along = np.arange(8.5 * PX, 11.5 * PX)
        x, y = ((middle_mm[k] * PX - 0.5) for k in (0, 1))
        step = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
        grey = page[np.rint(y + along * step[1]).astype(int), np.rint(x + along * step[0]).astype(int)]
        # Names stand above and below, inside of the outline.
        dark = along[grey < 190]
        found.append(float(dark[-1]) / PX if len(dark) else 0.0)
    return found


@pytest.mark.parametrize("game", sorted(TITLES_MM))
@pytest.mark.parametrize("paper", list(Paper))
def test_the_first_page_has_a_ruler_each_way(game, paper):
    page = pages(game, paper)[0] < 170
    for image in (page, page.T):
        ruler = max(range(len(image)), key=lambda k: longest_run(image[k]))
        # The scale at the page's foot comes after those of the ruler.
        ticks = ticks_mm(image, ruler)[:151]
        assert np.abs(ticks - ticks[0] - np.arange(151)).max() <= CLOSE_MM


def ticks_mm(image, line):
    """The middles of the ticks that stand on a row of a dark picture."""
    return middles(image[line - round(1.0 * PX)]) / PX


def middles(line):
    """The middles of the dark runs of a row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
    return (edges[::2] + edges[1::2]) / 2


def longest_run(line):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))


@pytest.mark.parametrize("game", sorted(TITLES_MM))
@pytest.mark.parametrize("paper", list(Paper))
def test_every_page_has_a_scale_and_each_strip_repeats_the_next_page(game, paper):
    made = pages(game, paper)
    for page in made:
        ticks = ticks_mm(page < 170, len(page) - round(6.0 * PX))[:11]
        assert np.abs(ticks - MARGIN_MM - 10 * np.arange(11)).max() <= CLOSE_MM
    plan = tiling(game, paper)
    by_place = {(part.column, part.row): (made[1 + k], part) for k, part in enumerate(plan.tiles)}
    for (column, row), (page, part) in by_place.items():
        beside = by_place.get((column + 1, row))
        if beside is not None:
            strip = (beside[1].left_mm + 0.5, part.top_mm + 1, OVERLAP_MM - 1, part.length_mm - OVERLAP_MM - 2)
            one, other = (part_of(*sheet, *strip).astype(int) for sheet in ((page, part), beside))
            # Lines half a pixel apart differ at their edges alone; a strip that were shifted would differ all along.
            assert np.mean(np.abs(one - other) > 100) < 0.004


def test_the_drilling_template_has_its_holes_and_lines():
    poster, board = glued("pathways"), profile_of("pathways").board
    worst = 0.0
    for x, y_from_a in board.cells_mm():
        y = board.length_mm - y_from_a
        # Between the cross's middle and the hole's edge nothing else is drawn on these arms.
        arm = poster[round((y - 3) * PX) : round((y + 3) * PX), round((x - 10) * PX) : round((x - 5) * PX)]
        post = poster[round((y + 5) * PX) : round((y + 10) * PX), round((x - 3) * PX) : round((x + 3) * PX)]
        off_y, off_x = line_mm(arm, 3, across=True) - 3, line_mm(post, 3, across=False) - 3
        worst = max(worst, abs(off_x), abs(off_y))
        edge = poster[round((y - 1) * PX) : round((y + 1) * PX), round((x - 19) * PX) : round((x - 13) * PX)]
        worst = max(worst, abs(line_mm(edge, 3, across=False) - 3))
    for place in (board.launch_line_mm, board.length_mm - board.launch_line_mm):
        worst = max(worst, abs(line_mm(poster[:, round(5 * PX) : round(30 * PX)], place, across=True) - place))
    print(f"at most {worst:.3f} mm off")
    assert worst <= CLOSE_MM


def test_pathstones_squares_are_true_to_size():
    poster = glued("pathstone")
    # Beside the names, which stand at the squares' middles; the frame is lighter than the lines.
    strip = slice(round(16 * PX), round(20 * PX))
    for k in range(6):
        for image, across in ((poster[strip], False), (poster[:, strip], True)):
            assert line_mm(image, 12 + 50 * k, across=across) == pytest.approx(12 + 50 * k, abs=CLOSE_MM)


def photographed(view, seed, laid):
    """The glued board with tokens cut from their sheet, under a camera: blurred, with noise."""
    rng = np.random.default_rng(seed)
    tokens, where = turned_tokens(rng, laid)
    image = warped(glued("magestone"), view, 0.0, 70)
    mask = warped(where, view, 4.0, 0) / 255
    image = image * (1 - mask) + warped(tokens, view, 4.0, 0) * mask
    # Ink throws back some light, paper not all; the lamp fades to one side.
    lit = (12 + image * 0.75) * np.linspace(1.0, 0.7, view.size_wh[0])
    lit = cv2.GaussianBlur(lit, (0, 0), 0.8) + rng.normal(0, 3, lit.shape)
    return cv2.cvtColor(np.clip(lit, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)


def turned_tokens(rng, laid):
    """The plane of the tokens' tops as seen from above, and where in it tokens are: each is turned at random."""
    plane, where = (np.zeros((round(400 * PX),) * 2, np.uint8) for _ in range(2))
    sheet = pages("magestone")[-1]
    on_sheet = {mark: (edges[:2] + edges[2:]) / 2 for mark, edges in marks_mm(sheet)}
    half = round(12 * PX)
    for mark, (row, column) in laid.items():
        middle_px = np.array([25 * column + 12.5, 25 * row + 12.5]) * PX - 0.5
        left, top = np.maximum(np.rint(middle_px).astype(int) - half, 0)
        turn = cv2.getRotationMatrix2D((0, 0), float(rng.uniform(0, 360)), 1.0)
        turn[:, 2] = middle_px - (left, top) - turn[:, :2] @ (on_sheet[mark] * PX - 0.5)
        one = cv2.warpAffine(sheet, turn, (2 * half, 2 * half))
        at = np.rint(middle_px - (left, top)).astype(int).tolist()
        disc = cv2.circle(np.zeros_like(one), at, round(10 * PX), 255, -1) > 0
        part = slice(top, top + 2 * half), slice(left, left + 2 * half)
        shown = disc[: plane[part].shape[0], : plane[part].shape[1]]
        plane[part][shown] = one[: shown.shape[0], : shown.shape[1]][shown]
        where[part][shown] = 255
    return plane, where


def warped(plane, view, z_mm, beyond):
    """A plane of the board at a height as a camera sees it."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * 400.0
    seen = project(STANDARD, view, corners, z_mm)
    # Drawn at more pixels than the camera has, so that fine lines do not flicker.
    matrix = cv2.getPerspectiveTransform((corners * PX - 0.5).astype(np.float32), (3 * seen + 1).astype(np.float32))
    width, height = view.size_wh
    large = cv2.warpPerspective(plane, matrix, (3 * width, 3 * height), borderValue=beyond)
    return cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA).astype(np.float64)


@pytest.mark.parametrize(("tilt_deg", "seed"), [(0.0, 1), (15.0, 2), (30.0, 3)])
def test_printed_tokens_are_read_on_the_printed_board(tilt_deg, seed):
    rng = np.random.default_rng(seed)
    squares = [(row, column) for row in range(16) for column in range(16) if is_square(STANDARD, (row, column))]
    marks = [*UNITS, 50, 51, 52]
    places = rng.permutation(len(squares))[: len(marks)]
    laid = {mark: squares[place] for mark, place in zip(marks, places, strict=True)}
    view = View((1920, 1080), fov_x_deg=50.0, tilt_deg=tilt_deg, azimuth_deg=-90.0, distance_mm=800.0)
    image = photographed(view, seed, laid)
    profile = profile_of("magestone")
    found = read_tokens(image, find_marked_board(image, profile), profile)
    assert {token.mark: token.cell for token in found} == laid
    off = max(
        hypot(token.centre_mm[0] - 25 * column - 12.5, token.centre_mm[1] - 25 * row - 12.5)
        for token in found
        for row, column in [laid[token.mark]]
    )
    print(f"seed {seed}, {tilt_deg} degrees: {len(found)} tokens, at most {off:.2f} mm off")
    assert off < 1.0


@given(
    st.floats(1, 3000), st.floats(1, 3000), st.sampled_from(list(Paper)), st.tuples(st.floats(0, 1), st.floats(0, 1))
)
def test_every_point_of_a_drawing_is_on_a_page(width_mm, length_mm, paper, place):
    try:
        plan = tile(width_mm, length_mm, paper)
    except ValueError:
        room_mm = printable_mm(paper.size_mm())
        assert width_mm * length_mm > (room_mm[0] - OVERLAP_MM) * (room_mm[1] - OVERLAP_MM) * MOST_PAGES / 4
        return
    room_mm = printable_mm(plan.page_mm)
    assert len(plan.tiles) == plan.columns * plan.rows <= MOST_PAGES
    for part in plan.tiles:
        assert part.width_mm <= room_mm[0] + 1e-6
        assert part.length_mm <= room_mm[1] + 1e-6
    last = plan.tiles[-1]
    assert last.left_mm + last.width_mm == pytest.approx(width_mm)
    assert last.top_mm + last.length_mm == pytest.approx(length_mm)
    x, y = place[0] * width_mm, place[1] * length_mm
    assert any(
        part.left_mm - 1e-6 <= x <= part.left_mm + part.width_mm + 1e-6
        and part.top_mm - 1e-6 <= y <= part.top_mm + part.length_mm + 1e-6
        for part in plan.tiles
    )
    for one, other in pairwise(plan.tiles):
        if one.row == other.row:
            assert one.left_mm + one.width_mm - other.left_mm == pytest.approx(OVERLAP_MM)


@pytest.mark.parametrize("game", sorted(TITLES_MM))
def test_it_is_drawn_with_lines_and_the_same_each_time(game):
    assert b"/Subtype /Image" not in printed(game)
    assert b"/PrintScaling /None" in printed(game)
    assert printed(game) == print_game(game, profile_of(game), Paper.A4, 4)


def run(*arguments):
    return CliRunner().invoke(main, ["print", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["magestone"], 8),
        (["magestone", "--players", "2", "--paper", "a3"], 4),
        (["pathways", "--paper", "letter"], 5),
        (["pathstone"], 3),
    ],
)
def test_the_command_writes_the_file(tmp_path, arguments, count):
    out = tmp_path / "made.pdf"
    told = run(*arguments, "-o", out)
    assert (told.exit_code, told.stdout) == (0, "")
    assert len(pypdfium2.PdfDocument(out.read_bytes())) == count


def with_text(game, *changes):
    text = (BOARDS / f"{game}.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def test_sizes_come_from_the_profile(tmp_path):
    profile, out = tmp_path / "small.toml", tmp_path / "made.pdf"
    profile.write_text(with_text("pathstone", ("columns = 5", "columns = 3"), ("rows = 5", "rows = 3")))
    assert run("pathstone", "--board", profile, "-o", out).exit_code == 0
    assert len(pypdfium2.PdfDocument(out.read_bytes())) == 2


REFUSED = [
    ("magestone", with_text("pathways"), "MageStone is played on"),
    ("magestone", with_text("pathstone"), "MageStone is played on"),
    ("magestone", with_text("magestone", ("columns = 16", "columns = 15")), "16 x 16"),
    ("magestone", with_text("magestone", ("mark_mm = 13.0", "mark_mm = 14.0")), "at most 13.6"),
    ("magestone", with_text("magestone", ("corner_mark_mm = 40.0", "corner_mark_mm = 50.0")), "corner_mark_mm"),
    ("magestone", with_text("magestone", ("square_mm = 25.0", "square_mm = 22.0")), "corner_mark_mm"),
    ("magestone", with_text("magestone", ("square_mm = 25.0", "square_mm = 500.0")), "larger --paper"),
    ("magestone", with_text("magestone", ("[20.0, 4.0]", "[200.0, 4.0]")), "larger than a sheet"),
    ("pathstone", with_text("magestone", ("columns = 16", "columns = 9")), "Pathstone is played on"),
    ("pathstone", with_text("pathways"), "Pathstone is played on"),
    ("pathways", with_text("pathstone"), "Pathways is played on"),
    ("pathways", with_text("pathways", ("length_mm = 494.0", "length_mm = 10000.0")), "pages"),
    ("pathways", "kind = 7", "kind is 7"),
]


@pytest.mark.parametrize(("game", "text", "why"), REFUSED)
def test_a_board_that_cannot_be_printed_is_refused(tmp_path, game, text, why):
    profile, out = tmp_path / "board.toml", tmp_path / "made.pdf"
    profile.write_text(text)
    told = run(game, "--board", profile, "-o", out)
    assert told.exit_code == 1
    assert why in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["magestone", "-o", "nowhere/made.pdf"], 1, "cannot be written"),
        (["magestone", "-o", "."], 2, "directory"),
        (["magestone"], 2, "--out"),
        (["chess", "-o", "made.pdf"], 2, "chess"),
        (["magestone", "-o", "made.pdf", "--players", "3"], 2, "--players"),
        (["magestone", "-o", "made.pdf", "--paper", "a5"], 2, "--paper"),
        (["magestone", "-o", "made.pdf", "--board", "none.toml"], 1, "none.toml"),
    ],
)
def test_what_cannot_be_done_is_told(tmp_path, monkeypatch, arguments, code, why):
    monkeypatch.chdir(tmp_path)
    told = run(*arguments)
    assert told.exit_code == code
    assert why in told.stderr
