"""Where round holes may be in a picture, and how a board's rows and columns can be laid on them."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import Floats, HolesBoard

Gray = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.intp]
Single = npt.NDArray[np.float32]

_TEXTURE_PX = 41
"""Side of the square whose mean slope is the texture that an edge must stand out from."""
_STAND_OUT = 1.3
_LEAST_SLOPE = 4.0
"""Of a Sobel filter on 8 bits: half a grey level a pixel."""
_LEAST_VOTES = 0.2
_PEAKS = 130
"""Centres kept: two in three may be no holes."""
_LEAST_TAKEN = 0.5
_MIDDLES = 24
_NEAR = 0.18
"""How far from its place a hole may be that begins a lattice, in pitches; a wide lens bends it by so much."""


@dataclass(frozen=True, slots=True)
class EdgePoints:
    """Pixels (n, 2) on edges, and the unit gradient there (n, 2)."""

    points: Ints
    gradient: Single


@dataclass(frozen=True, slots=True)
class Place:
    """One way to lay a board on centres seen: cells (n, 2) as column and row from 0, and their pixels (n, 2)."""

    cells: Ints
    points_px: Floats

    def homography(self, board: HolesBoard) -> Floats:
        """(3, 3), from board millimetres to the pixels."""
        cells_mm = board.cells_mm().reshape(board.rows, board.columns, 2)[self.cells[:, 1], self.cells[:, 0]]
        return np.asarray(cv2.findHomography(cells_mm, self.points_px)[0])


def edge_points(gray: Gray) -> EdgePoints:
    """Where a picture's slope stands out from the texture around."""
    smooth = cv2.GaussianBlur(gray, (3, 3), 0)
    slope_x, slope_y = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    steep = cv2.magnitude(slope_x, slope_y)
    # Cut off at a few times the usual, else bright disks and arms would hide the faint rims around them.
    usual = np.minimum(steep, 3 * float(steep.mean()))
    y, x = np.nonzero(steep > _STAND_OUT * cv2.blur(usual, (_TEXTURE_PX, _TEXTURE_PX)) + _LEAST_SLOPE)
    gradient = np.column_stack([slope_x[y, x], slope_y[y, x]]) / steep[y, x, None]
    return EdgePoints(np.column_stack([x, y]), np.asarray(gradient, dtype=np.float32))


def centres(edges: EdgePoints, size_wh: tuple[int, int], radius_px: float) -> Floats:
    """The likeliest centres (n, 2) of circles of this radius, best first.

    Holes are darker or lighter than the slab, and one may be both, so each edge votes to both of its sides.
    """
    pad = math.ceil(radius_px) + 1
    wide, high = size_wh[0] + 2 * pad, size_wh[1] + 2 * pad
    jump = np.rint(radius_px * edges.gradient).astype(np.intp) @ np.array([1, wide])
    at = (edges.points + pad) @ np.array([1, wide])
    count = np.bincount(np.concatenate([at + jump, at - jump]), minlength=wide * high).reshape(high, wide)
    sigma = 0.13 * radius_px + 0.6  # a tilted view squeezes circles by a sixth
    votes = cv2.GaussianBlur(count.astype(np.float32), (0, 0), sigma)[pad:-pad, pad:-pad]
    votes = votes * np.float32(sigma**2 / radius_px)  # to the share of a rim that voted
    side = 2 * int(0.9 * radius_px) + 1
    highest = cv2.dilate(votes, np.ones((side, side), dtype=np.uint8))
    y, x = np.nonzero((votes >= highest) & (votes > _LEAST_VOTES))
    best = np.argsort(-votes[y, x], kind="stable")[:_PEAKS]
    return np.column_stack([x, y])[best].astype(np.float64)


def lay_board(board: HolesBoard, points: Floats, radius_px: float) -> Place | None:
    """The likeliest way to lay a board on centres of holes of about this radius; None where too few suit any."""
    pitch_px = radius_px * board.pitch_mm / (board.hole_diameter_mm / 2)
    best: tuple[float, Place] | None = None
    for middle, axes in _starts(points, pitch_px):
        laid = _best_window(*_grown(points, middle, axes), board)
        if laid is not None and (best is None or laid[0] > best[0]):
            best = laid
    if best is None or len(best[1].cells) < _LEAST_TAKEN * board.columns * board.rows:
        return None
    return best[1]


def window_scores(taken: Floats, size: tuple[int, int]) -> Floats:
    """For each place of a window in a table, from (1, 1): what lies in it, less what lies in the rows and columns
    around it. A board's holes end where it ends."""
    total = np.pad(taken.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def sums(wide: int, high: int) -> Floats:
        return np.asarray(total[wide:, high:] - total[:-wide, high:] - total[wide:, :-high] + total[:-wide, :-high])

    wide, high = size
    return 2 * sums(wide, high)[1:-1, 1:-1] - sums(wide + 2, high + 2)


def _starts(points: Floats, pitch_px: float) -> list[tuple[Floats, Floats]]:
    """Three choices of a centre (2,) and the steps to its neighbours to the right and above, the columns of a (2, 2)
    matrix, that explain the most centres within two steps around."""
    middles, axes = [], []
    for point in points[:_MIDDLES]:
        way = points - point
        length = np.hypot(way[:, 0], way[:, 1])
        near = (length > 0.6 * pitch_px) & (length < 1.3 * pitch_px)
        way, length = way[near], length[near]
        sine = (np.outer(way[:, 0], way[:, 1]) - np.outer(way[:, 1], way[:, 0])) / np.outer(length, length)
        right, above = np.nonzero((sine < -0.75) & (np.abs(np.log(length[:, None] / length)) < 0.5))
        middles += [point] * len(right)
        axes += list(np.stack([way[right], way[above]], axis=2))
    if not axes:
        return []
    steps = np.einsum("sij,snj->sni", np.linalg.inv(axes), points - np.array(middles)[:, None])
    cells = np.rint(steps)
    fits = (np.abs(steps - cells) < _NEAR).all(axis=2) & (np.abs(cells) <= 2).all(axis=2)
    explained = np.zeros((len(axes), 25), dtype=bool)
    start, centre = np.nonzero(fits)
    explained[start, (cells[start, centre] @ (5, 1) + 12).astype(np.intp)] = True
    return [(middles[k], axes[k]) for k in np.argsort(-explained.sum(axis=1), kind="stable")[:3]]


def _grown(points: Floats, middle: Floats, axes: Floats) -> tuple[Ints, Floats]:
    """The lattice grown outwards from its first cells: (n, 2) steps from the middle, and the centres there (n, 2)."""
    homography = np.eye(3)
    homography[:2, :2], homography[:2, 2] = axes, middle
    for reach in (2, 3, 5, 12, 12):
        mapped = np.column_stack([points, np.ones(len(points))]) @ np.linalg.inv(homography).T
        steps = mapped[:, :2] / mapped[:, 2:]
        cells = np.rint(steps)
        fits = (np.abs(steps - cells) < _NEAR).all(axis=1) & (np.abs(cells) <= reach).all(axis=1)
        found = cv2.findHomography(cells[fits], points[fits])[0] if fits.sum() >= 9 else None
        if found is None or abs(np.linalg.det(found)) < 1e-9:
            break
        homography = found
    return cells[fits].astype(np.intp), points[fits]


def _best_window(steps: Ints, points: Floats, board: HolesBoard) -> tuple[float, Place] | None:
    """The likeliest window of the board's columns and rows on a lattice, either way round, with its score."""
    if len(steps) == 0:
        return None
    size = board.columns, board.rows
    best: tuple[float, Place] | None = None
    for cells in (steps, np.column_stack([steps[:, 1], -steps[:, 0]])):
        cells = cells - cells.min(axis=0) + size + 1
        taken = np.zeros(cells.max(axis=0) + size + 2)
        taken[cells[:, 0], cells[:, 1]] = 1
        scores = window_scores(taken, size)
        if best is not None and scores.max() <= best[0]:
            continue
        inside = cells - np.unravel_index(scores.argmax(), scores.shape) - 1
        keep = np.flatnonzero(((inside >= 0) & (inside < size)).all(axis=1))
        # Of two centres on one cell the likelier comes first.
        keep = keep[np.unique(inside[keep] @ (1, size[0]), return_index=True)[1]]
        best = float(scores.max()), Place(inside[keep], points[keep])
    return best
