"""Reads round stones on line crossings: what lies on each crossing, and where exactly.

The board itself is the reference. Its bare colour shows in the middle of every square, where no stone reaches: dividing
by it takes shadows and uneven light out. Colours are then told in a frame made of the board's colour and the profile's
two, so that any pair of colours looks alike. The board's lines are measured where two crossings meet half-way; where
they still show at a crossing nothing lies there, also in a shadow or under glare. A small network (models/stones.npz)
weighs colours, lines and rim in a window about each crossing.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.board import CrossingsBoard, Floats, Image, Profile
from vision.calibration import Calibration
from vision.nets import dense, relu, softmax, weights
from vision.sighting import Reading, Sighting

Array = npt.NDArray[np.float32]

CLASSES = ("empty", "darker", "lighter", "covered")
PITCH_PX = 16
"""Pixels from line to line in the rectified picture."""
LUMINANCE = np.array([0.114, 0.587, 0.299], dtype=np.float32)
_WHITE = 240.0
"""What the brightest things in a well exposed picture reach; the profile's colours are meant in such a picture."""
_SURE = 0.6
"""From this probability on a stone is told; below it the cell is hidden."""

_REACH = 0.5
"""How far from its crossing a stone's centre is looked for, in pitches."""
_SIZES = (0.82, 0.88, 0.94, 1.0)
"""Stones are often smaller than the profile says; those of one picture are of one size."""
_VOTE = 0.05
"""The difference in votes that makes one place e times likelier than another: the smoothest that still peaks."""
_FEW = 8
"""From about this many stones on their common shift is told from chance."""
_ASTRAY = 0.12
"""How far beside its crossing a stone is put, in pitches."""
_MUCH_BRIGHTER = 1.0
"""Brightness tells kinds of stones apart that differ so much, as logarithms."""
_LIKE_THE_OTHERS = 0.38
"""A stone is of the other kind where its brightness is by so much nearer to theirs, as logarithms."""
_LEAST_SIGMA = 0.06
_SIGMA_OF_SPREAD = 0.55
"""Measured on drawn boards: the least sigma, in pitches, and the part of the votes' spread that is added to it."""


@dataclass(frozen=True, slots=True)
class View:
    """What the network is shown of a board."""

    pixels: Array
    """(height, width, 4): three colour coordinates about the board's own colour, and how much of a line shows."""
    scene: Array
    """(rows, columns, 5): the board's brightness, the light, the local light, the board's tint, the lines' contrast."""


def read_stones(image_bgr: Image, calibration: Calibration, profile: Profile) -> Reading:
    """The stones on a board of kind `crossings`. What a hand or glare covers is hidden."""
    board = profile.board
    if not isinstance(board, CrossingsBoard):
        raise ValueError("stones are read on a board of kind crossings")
    flat_bgr = rectify(image_bgr, calibration, board)
    view = look_at_board(flat_bgr, profile)
    # A stone looks alike from either side of the table, and two opinions are surer than one.
    turned = View(view.pixels[::-1, ::-1], view.scene[::-1, ::-1])
    chances = (classify(view) + classify(turned)[::-1, ::-1]) / 2
    best, chance = chances.argmax(axis=-1), chances.max(axis=-1)
    names = [name for name, _ in _by_brightness(profile)]
    told = ((best == 1) | (best == 2)) & (chance >= _SURE)
    best = _under_glare(flat_bgr, best, told)
    stones = np.argwhere(told)
    offsets, sigmas = locate(view.pixels[..., 0], stones, best[told], board.disk_diameter_mm / board.pitch_mm)
    places_mm = (stones[:, ::-1] + offsets) * board.pitch_mm
    disks = tuple(
        Sighting(
            centre_mm=(float(x_mm), float(y_mm)),
            sigma_mm=float(sigma) * board.pitch_mm,
            colour=names[best[row, column] - 1],
            lying="in_cell",
            cell=(int(row) + 1, int(column) + 1),
            confidence=float(chance[row, column]),
        )
        for (row, column), (x_mm, y_mm), sigma in zip(stones, places_mm, sigmas, strict=True)
    )
    hidden = np.argwhere((best > 0) & ~told)
    return Reading(disks, tuple((int(row) + 1, int(column) + 1) for row, column in hidden))


def _under_glare(flat_bgr: Image, best: npt.NDArray[np.int64], told: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """`best` (rows, columns) with the lighter stones that are darker than a burnt-out board round them put right.

    What is told there by its surroundings is held against how bright the stones of each kind are.
    """
    level = np.log(cv2.blur(flat_bgr, (5, 5)).astype(np.float32) @ LUMINANCE + 12)
    level = level[PITCH_PX:-PITCH_PX:PITCH_PX, PITCH_PX:-PITCH_PX:PITCH_PX]
    darker, lighter = told & (best == 1), told & (best == 2)
    if min(darker.sum(), lighter.sum()) < _FEW:
        return best
    dark, bright = float(np.median(level[darker])), float(np.median(level[lighter]))
    if bright - dark < _MUCH_BRIGHTER:
        return best
    apart = np.abs(level - dark), np.abs(level - bright)
    return np.where(darker & (apart[1] < _LIKE_THE_OTHERS * apart[0]), 2, best)


def rectify(image_bgr: Image, calibration: Calibration, board: CrossingsBoard) -> Image:
    """The board seen from straight above, PITCH_PX from line to line, with one pitch more all round."""
    pitch_to_px = calibration.image_from_plane() @ np.diag([board.pitch_mm, board.pitch_mm, 1.0])
    middle_mm = board.corners_mm().mean(axis=0)
    seen = calibration.project(middle_mm + np.array([[0, 0], [1, 0], [0, 1]]) * board.pitch_mm)
    seen_pitch_px = float(np.sqrt(abs(np.linalg.det(seen[1:] - seen[0]))))
    # Averaging first keeps thin lines, which sampling alone would skip.
    shrink = min(1.0, 1.15 * PITCH_PX / max(seen_pitch_px, 1e-6))
    height, width = image_bgr.shape[:2]
    size_wh = (max(1, round(width * shrink)), max(1, round(height * shrink)))
    small = cv2.resize(image_bgr, size_wh, interpolation=cv2.INTER_AREA)
    # Pixel coordinates count from pixels' centres.
    x, y = size_wh[0] / width, size_wh[1] / height
    small_from_pitch = np.array([[x, 0, (x - 1) / 2], [0, y, (y - 1) / 2], [0, 0, 1]]) @ pitch_to_px
    pitch_from_flat = np.array([[1 / PITCH_PX, 0, -1], [0, 1 / PITCH_PX, -1], [0, 0, 1]])
    flat = cv2.warpPerspective(
        small,
        small_from_pitch @ pitch_from_flat,
        ((board.columns + 1) * PITCH_PX + 1, (board.rows + 1) * PITCH_PX + 1),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(flat, dtype=np.uint8)


def look_at_board(flat_bgr: Image, profile: Profile) -> View:
    """What the network is shown, from a rectified picture."""
    board = profile.board
    assert isinstance(board, CrossingsBoard)
    luminance = flat_bgr.astype(np.float32) @ LUMINANCE
    light = max(0.05, float(np.percentile(luminance[::3, ::3], 99)) / _WHITE)
    bare, around = _bare_board(flat_bgr)
    lines, contrast = _lines(luminance)
    # The light that falls on a crossing is that on the bare board around it.
    light_gain = cv2.warpAffine(
        np.clip(bare / np.maximum(around, 8), 0.4, 2.5).astype(np.float32),
        np.array([[1 / PITCH_PX, 0, -1], [0, 1 / PITCH_PX, -1]]),
        flat_bgr.shape[1::-1],
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    relit = flat_bgr * light_gain
    (_, dark), (_, bright) = _by_brightness(profile)
    coordinates = (relit - bare) @ _colour_frame(bare, np.array(dark) * light, np.array(bright) * light)
    coordinates[..., 2] = np.abs(coordinates[..., 2])
    brightness = float(bare @ LUMINANCE) + 1
    scene = np.empty((board.rows, board.columns, 5), dtype=np.float32)
    scene[..., 0] = brightness / (_WHITE * light)
    scene[..., 1] = light
    scene[..., 2] = np.log((around @ LUMINANCE + 1) / brightness)
    scene[..., 3] = np.ptp(bare) / brightness
    scene[..., 4] = contrast
    return View(np.dstack([coordinates, lines]), scene)


def classify(view: View) -> Array:
    """The probability of each of CLASSES at each crossing, (rows, columns, 4)."""
    net = weights("stones")
    x = np.clip(view.pixels, -3, 3)
    for layer in ("conv1", "conv2", "conv3", "conv4"):
        x = relu(_convolve(x, net[f"{layer}_weight"], net[f"{layer}_bias"], stride=2))
    # From here on there is one place for each crossing, and each also sees those next to it.
    x = np.concatenate([x, (view.scene - net["scene_mean"]) / net["scene_spread"]], axis=-1)
    x = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    x = relu(_convolve(x, net["conv5_weight"], net["conv5_bias"], stride=1))
    return softmax(dense(x, net["dense_weight"], net["dense_bias"]))


def locate(
    brightness: Array, stones: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64], diameter: float
) -> tuple[Floats, Floats]:
    """How far each stone's centre lies from its crossing, (n, 2) as x, y, and its sigma, (n,), all in pitches.

    The rim votes: along a circle of the stone's diameter (pitches) the brightness rises outwards round a darker stone,
    and falls round a lighter one.
    """
    half = cv2.pyrDown(brightness)
    pitch_px = PITCH_PX / 2
    # Clipped, so that a neighbour of the other colour does not outvote the board.
    slopes = (cv2.Sobel(half, cv2.CV_32F, 1, 0), cv2.Sobel(half, cv2.CV_32F, 0, 1))
    slope_x, slope_y = (np.clip(slope, -1, 1).astype(np.float32) for slope in slopes)
    steps = np.arange(-round(_REACH * pitch_px), round(_REACH * pitch_px) + 1)
    trials = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    at = (stones[:, None, ::-1] + 1) * (PITCH_PX // 2) + trials
    sign = np.where(kinds == 1, 1.0, -1.0)[:, None]
    votes = max(
        (
            sign * _rim_votes(slope_x, slope_y, size * diameter / 2 * pitch_px)[at[..., 1], at[..., 0]]
            for size in _SIZES
        ),
        key=lambda votes: votes.max(axis=1, initial=0).sum(),
    )
    # People aim at the crossings: what all stones have in common is their height seen aslant, or the corners' error.
    common = (_weights(votes) @ trials).sum(axis=0) / (len(stones) + _FEW)
    astray = ((trials - common) ** 2).sum(axis=1) / (_ASTRAY * pitch_px) ** 2 / 2
    chance = _weights(votes - _VOTE * astray)
    places = chance @ trials
    spread = np.sqrt((chance * ((trials - places[:, None]) ** 2).sum(axis=2)).sum(axis=1))
    return (places - common) / pitch_px, np.hypot(spread / pitch_px * _SIGMA_OF_SPREAD, _LEAST_SIGMA)


def _weights(votes: Array) -> Array:
    power = np.exp((votes - votes.max(axis=1, keepdims=True)) / _VOTE)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def _rim_votes(slope_x: Array, slope_y: Array, radius_px: float) -> Array:
    """How much brighter it gets outwards across a circle about each pixel, in the mean."""
    reach = int(radius_px) + 2
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float32)
    away = np.hypot(x, y) + 1e-6
    rim = np.exp(-((away - radius_px) ** 2) / 0.7)
    rim /= rim.sum()
    votes = cv2.filter2D(slope_x, -1, rim * x / away) + cv2.filter2D(slope_y, -1, rim * y / away)
    return np.asarray(votes, dtype=np.float32)


def _by_brightness(profile: Profile) -> list[tuple[str, tuple[int, int, int]]]:
    """The profile's colours, the darker first."""
    return sorted(profile.colours, key=lambda colour: float(np.array(colour[1]) @ LUMINANCE))


def _bare_board(flat_bgr: Image) -> tuple[Array, Array]:
    """The board's colour (3,), and that about each crossing (rows, columns, 3), from the middles of the squares."""
    first, reach = PITCH_PX + PITCH_PX // 2, 2
    parts = [
        flat_bgr[first + y : -PITCH_PX : PITCH_PX, first + x : -PITCH_PX : PITCH_PX]
        for y in range(-reach, reach + 1)
        for x in range(-reach, reach + 1)
    ]
    middles = np.median(np.stack(parts), axis=0)
    padded = np.pad(middles, ((1, 1), (1, 1), (0, 0)), mode="edge")
    about = [padded[:-1, :-1], padded[1:, :-1], padded[:-1, 1:], padded[1:, 1:]]
    board = np.median(middles.reshape(-1, 3), axis=0)
    return board.astype(np.float32), np.median(np.stack(about), axis=0).astype(np.float32)


def _lines(luminance: Array) -> tuple[Array, float]:
    """How much of a line shows at each pixel, 1 where it is as half-way between crossings, and the lines' contrast."""
    level = np.log(luminance + 12)
    ridge = np.zeros((7, 5), dtype=np.float32)
    ridge[[0, 3, 6]] = np.array([[-0.1], [0.2], [-0.1]])
    along = cv2.filter2D(level, -1, ridge, borderType=cv2.BORDER_REPLICATE)
    across = cv2.filter2D(level, -1, ridge.T.copy(), borderType=cv2.BORDER_REPLICATE)
    # Corners are given to a few pixels only: the line is looked for about its place.
    contrasts = []
    for response in (along, across.T):
        half_way = response[:, PITCH_PX + PITCH_PX // 2 : -PITCH_PX : PITCH_PX]
        near = [np.median(half_way[PITCH_PX + step : len(half_way) - PITCH_PX + 3 : PITCH_PX]) for step in range(-3, 4)]
        contrasts.append(max(near, key=abs))
    contrast = float(np.mean(contrasts))
    shows = np.maximum(along, across) if contrast > 0 else -np.minimum(along, across)
    shows = cv2.dilate(shows / max(abs(contrast), 0.03), np.ones((3, 3), np.uint8))
    return np.clip(shows, -1, 2).astype(np.float32), contrast


def _colour_frame(bare: Array, dark: Floats, bright: Floats) -> Array:
    """(3, 3), colour differences times this: along the line from dark to bright, across it from the board, the rest."""
    along = bright - dark
    length = float(np.linalg.norm(along))
    along = along / max(length, 1.0)
    across = (dark + bright) / 2 - bare
    across = across - (across @ along) * along
    if np.linalg.norm(across) < 1e-3:
        across = np.cross(along, [0.0, 1.0, 0.0])
    across = across / np.linalg.norm(across)
    frame = np.column_stack([along, across, np.cross(along, across)]) / max(length, 1.0)
    return frame.astype(np.float32)


def _convolve(x: Array, weight: Array, bias: Array, *, stride: int) -> Array:
    """x (h, w, inputs), weight (size, size, inputs, outputs), no padding."""
    size = weight.shape[0]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(0, 1))[::stride, ::stride]
    rows = windows.transpose(0, 1, 3, 4, 2).reshape(-1, weight[..., 0].size)
    return dense(rows, weight.reshape(-1, weight.shape[-1]), bias).reshape(*windows.shape[:2], -1)
