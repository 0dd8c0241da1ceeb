"""What differs from the table at rest: light and noise do not, hands, shadows and disks do, each in its own way."""

import cv2
import numpy as np
import pytest

from vision import motion
from vision.calibration import Calibration, calibrate

SIZE_WH = (640, 360)
OUTLINE_MM = np.array([[0.0, 0.0], [316.0, 0.0], [316.0, 494.0], [0.0, 494.0]])
CORNERS_PX = np.array([[545.0, 320.0], [550.0, 35.0], [90.0, 40.0], [95.0, 325.0]])
DISK_MM = 28.0
WOOD, SKIN, RED, BLACK = (95, 135, 180), (150, 175, 215), (60, 65, 210), (50, 52, 55)


def camera(shift_px: tuple[float, float] = (0.0, 0.0)) -> Calibration:
    return calibrate(CORNERS_PX + shift_px, OUTLINE_MM, SIZE_WH, 60.0)


def table(seed: int = 1) -> np.ndarray:
    """A grained board with dark holes, without noise, as floats."""
    grain = cv2.GaussianBlur(np.random.default_rng(seed).normal(0, 1, (360, 640)).astype(np.float32), (0, 0), 3.0)
    wood = np.array(WOOD) * (1 + 0.9 * grain[:, :, None])
    picture = np.ascontiguousarray(wood)
    calibration = camera()
    for row in range(8):
        for column in range(7):
            x, y = calibration.project([[32.0 + 42 * column, 100.0 + 42 * row]])[0]
            cv2.circle(picture, (round(x), round(y)), 15, (60, 85, 115), -1, cv2.LINE_AA)
    return picture


def taken(picture: np.ndarray, noise: float = 1.5, seed: int = 0) -> np.ndarray:
    """The picture as a camera with this noise gives it."""
    noisy = picture + np.random.default_rng(seed).normal(0, noise, picture.shape)
    return noisy.clip(0, 255).astype(np.uint8)


FREE_PX = (
    round(float(camera().project([[137.0, 247.0]])[0, 0])),
    round(float(camera().project([[137.0, 247.0]])[0, 1])),
)
"""Between four holes."""


def with_disk(picture: np.ndarray, colour: tuple[int, int, int], at_px: tuple[int, int] = FREE_PX) -> np.ndarray:
    return cv2.circle(picture.copy(), at_px, 14, colour, -1, cv2.LINE_AA)


def with_hand(picture: np.ndarray) -> np.ndarray:
    """A hand that reaches in from the right, with its shadow."""
    arm = cv2.line(np.zeros((360, 640), np.uint8), (380, 200), (660, 200), 255, 60)
    shadow = cv2.GaussianBlur(cv2.dilate(arm, np.ones((41, 41), np.uint8)), (0, 0), 12).astype(float) / 255
    shaded = picture * (1 - 0.4 * shadow[:, :, None])
    shaded[arm > 0] = SKIN
    return shaded


def lit(picture: np.ndarray, gain: float, slant: float = 0.0) -> np.ndarray:
    """The picture in other light: so much of it, falling off by `slant` from left to right."""
    return picture * gain * np.linspace(1 + slant, 1 - slant, 640)[None, :, None]


VIEW = motion.view_of_board(camera(), OUTLINE_MM, DISK_MM)


def small(picture: np.ndarray, seed: int = 0, noise: float = 1.5) -> np.ndarray:
    return motion.small_picture(taken(picture, noise, seed), VIEW)


def at_rest(noise: float = 1.5) -> motion.Still:
    first, second = small(table(), 1, noise), small(table(), 2, noise)
    return motion.still_from(second, motion.noise_of(first, second))


def changed(picture: np.ndarray, still: motion.Still) -> np.ndarray:
    return motion.changes(picture, motion.relit(still.picture, picture), still)


def seen(picture: np.ndarray, still: motion.Still, *, tint: bool = False) -> tuple[motion.Blob, ...]:
    relit = motion.relit(still.picture, picture)
    mask = (motion.tint_changes if tint else motion.changes)(picture, relit, still)
    return motion.blobs(mask, picture, relit, VIEW)


@pytest.mark.parametrize("sigma", [3.0, 6.0, 12.0])
@pytest.mark.parametrize("gain", [1.0, 0.8])
@pytest.mark.parametrize("hand", [False, True])
def test_noise_is_measured_whatever_the_light_and_a_hand_do(sigma, gain, hand):
    after = with_hand(table()) if hand else table()
    noise = motion.noise_of(small(table(), 1, sigma), small(lit(after, gain), 2, sigma))
    # The small picture averages 2 x 2 and then 3 x 3 pixels.
    assert sigma / 6 * 0.7 < noise.levels < sigma / 6 * (2.0 if hand else 1.4)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(table(), id="nothing"),
        pytest.param(lit(table(), 0.6), id="dimmed"),
        pytest.param(lit(table(), 1.3), id="brighter"),
        pytest.param(lit(table(), 0.9, 0.15), id="a lamp on one side"),
        pytest.param(lit(table(), 1.7), id="overexposed in part"),
    ],
)
@pytest.mark.parametrize("noise", [0.5, 1.5, 5.0])
def test_light_and_noise_change_nothing(after, noise):
    still = at_rest(noise)
    mask = changed(small(after, 3, noise), still)
    assert not motion.changed_board(mask, VIEW)


@pytest.mark.parametrize("colour", [RED, BLACK, (200, 215, 225)])
@pytest.mark.parametrize("gain", [1.0, 0.7])
def test_a_disk_is_a_blob_of_its_size_where_it_is(colour, gain):
    (blob,) = seen(small(lit(with_disk(table(), colour), gain), 3), at_rest())
    assert blob.centre_px == pytest.approx(FREE_PX, abs=2.0)
    assert 0.8 < blob.area_px / (np.pi * 14**2) < 1.5
    assert blob.free > 0.95
    assert blob.long_px / blob.short_px < 1.4
    assert not blob.at_edge
    assert blob.on_board_px == blob.area_px
    assert blob.bgr == pytest.approx(np.array(colour) * gain, abs=12)
    assert motion.differs(small(with_disk(table(), colour)), at_rest().picture, at_rest(), VIEW)


def test_a_hand_reaches_in_over_the_edge_of_the_picture():
    hand = max(seen(small(with_hand(table()), 3), at_rest()), key=lambda blob: blob.area_px)
    assert hand.at_edge
    assert hand.area_px > 10 * np.pi * 14**2


def test_a_disk_in_the_shadow_of_a_hand_is_told_from_both():
    disk_px = (318, 200)
    picture = small(with_disk(with_hand(table()), RED, disk_px), 3)

    def disks(blobs: tuple[motion.Blob, ...]) -> list[motion.Blob]:
        return [blob for blob in blobs if not blob.at_edge and np.hypot(*np.subtract(blob.centre_px, disk_px)) < 4]

    assert disks(seen(picture, at_rest())) == [], "the shadow joins both"
    assert len(disks(seen(picture, at_rest(), tint=True))) == 1


def test_a_shadow_changes_brightness_alone():
    shadow = cv2.GaussianBlur(cv2.circle(np.zeros((360, 640), np.float32), (300, 170), 30, 1.0, -1), (0, 0), 5)
    picture = small(table() * (1 - 0.45 * shadow[:, :, None]), 3)
    assert seen(picture, at_rest())
    assert not seen(picture, at_rest(), tint=True)


@pytest.mark.parametrize("shift_px", [(3.0, -2.0), (14.0, 9.0)])
def test_the_table_at_rest_follows_a_knocked_camera(shift_px):
    move = np.array([[1.0, 0.0, shift_px[0]], [0.0, 1.0, shift_px[1]]])
    knocked = cv2.warpAffine(table(), move, SIZE_WH, borderMode=cv2.BORDER_REPLICATE)
    picture = small(knocked, 3)
    still = at_rest()
    followed = motion.moved_still(still, camera(), camera(shift_px), VIEW.shrink)
    astray = motion.moved_still(still, camera(), camera((-shift_px[0], 8.0)), VIEW.shrink)
    assert motion.changed_share(changed(picture, followed), VIEW) < 0.02
    assert motion.changed_share(changed(picture, still), VIEW) > 0.05
    assert motion.changed_share(changed(picture, astray), VIEW) > 0.05
