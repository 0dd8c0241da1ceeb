"""A calibration maps board millimetres at any height to pixels and back; corners that cannot be are refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.calibration import (
    Calibration,
    CalibrationError,
    calibrate,
    calibration_from_pose,
    camera_matrix,
    focal_from_fov,
)

SIZE_WH = (1280, 720)
CORNERS_MM = np.array([[0.0, 0.0], [316.0, 0.0], [316.0, 494.0], [0.0, 494.0]])
UPRIGHT_PX = [(470.0, 690.0), (810.0, 690.0), (790.0, 100.0), (490.0, 100.0)]

angles = st.floats(-180.0, 180.0)
cameras = st.builds(
    lambda **values: camera(**values),
    fov_x_deg=st.floats(32.0, 75.0),
    tilt_deg=st.floats(0.0, 45.0),
    from_deg=angles,
    roll_deg=angles,
    distance_mm=st.floats(700.0, 1200.0),
)


def camera(fov_x_deg=50.0, tilt_deg=20.0, from_deg=-90.0, roll_deg=0.0, distance_mm=900.0) -> Calibration:
    """A camera that looks at the board's middle, from a side of it, by the textbook: x right, y down, z ahead."""
    tilt, azimuth, roll = (math.radians(angle) for angle in (tilt_deg, from_deg, roll_deg))
    back = np.array([math.sin(tilt) * math.cos(azimuth), math.sin(tilt) * math.sin(azimuth), math.cos(tilt)])
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    axes = np.stack([right, np.cross(-back, right), -back])
    turned = np.array([[math.cos(roll), math.sin(roll), 0], [-math.sin(roll), math.cos(roll), 0], [0, 0, 1]]) @ axes
    eye = np.array([158.0, 247.0, 0.0]) + distance_mm * back
    pose = np.column_stack([turned, -turned @ eye])
    return calibration_from_pose(pose, focal_from_fov(fov_x_deg, SIZE_WH), SIZE_WH, 0.0, fov_given=True)


def test_a_point_above_the_board_is_seen_where_a_pinhole_camera_sees_it():
    straight = camera(tilt_deg=0.0, distance_mm=1000.0)
    focal_px = 640 / math.tan(math.radians(25))
    x, y = straight.project([[258.0, 247.0]], z_mm=200.0)[0]
    assert (x, y) == pytest.approx((639.5 + focal_px * 100 / 800, 359.5))


@given(cameras)
def test_corners_and_field_of_view_give_the_camera_back(truth):
    found = calibrate(truth.project(CORNERS_MM), CORNERS_MM, SIZE_WH, truth.fov_x_deg)
    assert found.residual_px < 1e-3
    assert found.camera_mm() == pytest.approx(truth.camera_mm(), abs=0.1)
    points = [[10.0, 20.0], [300.0, 470.0], [158.0, 247.0]]
    for z_mm in (-6.0, 0.0, 6.0, 40.0):
        assert found.project(points, z_mm) == pytest.approx(truth.project(points, z_mm), abs=0.01)


@given(cameras, st.floats(-10.0, 60.0))
def test_pixels_map_back_to_the_board_at_their_height(truth, z_mm):
    points = np.array([[10.0, 20.0], [300.0, 470.0], [158.0, 247.0]])
    assert truth.board_from_px(truth.project(points, z_mm), z_mm) == pytest.approx(points, abs=1e-6)


@given(cameras)
def test_a_pose_gives_the_same_calibration_again(truth):
    pose, focal_px = truth.pose()
    assert pose[:, :3] @ pose[:, :3].T == pytest.approx(np.eye(3), abs=1e-9)
    again = calibration_from_pose(pose, focal_px, SIZE_WH, 0.0, fov_given=True)
    assert again.project(CORNERS_MM, 6.0) == pytest.approx(truth.project(CORNERS_MM, 6.0), abs=1e-6)


def test_many_points_weigh_down_the_error_of_each():
    truth = camera()
    grid = np.stack(np.meshgrid(np.linspace(0, 316, 7), np.linspace(0, 494, 8)), axis=2).reshape(-1, 2)
    seen = truth.project(grid) + np.random.default_rng(3).normal(0, 0.5, grid.shape)
    found = calibrate(seen, grid, SIZE_WH, truth.fov_x_deg)
    assert found.residual_px == pytest.approx(0.5 * math.sqrt(2), rel=0.25)
    assert np.linalg.norm(found.project(CORNERS_MM) - truth.project(CORNERS_MM), axis=1).max() < 0.5


@pytest.mark.parametrize("fov_x_deg", [35.0, 50.0, 70.0])
def test_perspective_tells_the_field_of_view(fov_x_deg):
    truth = camera(fov_x_deg, tilt_deg=30.0)
    found = calibrate(truth.project(CORNERS_MM), CORNERS_MM, SIZE_WH)
    assert not found.fov_given
    assert found.fov_x_deg == pytest.approx(fov_x_deg, rel=0.04)


@pytest.mark.parametrize("fov_x_deg", [35.0, 50.0, 70.0])
def test_straight_down_an_unknown_field_of_view_costs_a_disks_top_little(fov_x_deg):
    truth = camera(fov_x_deg, tilt_deg=1.0, distance_mm=700 * 35 / fov_x_deg + 200)
    seen = truth.project(CORNERS_MM) + np.random.default_rng(1).normal(0, 0.3, (4, 2))
    found = calibrate(seen, CORNERS_MM, SIZE_WH)
    at_edge = [[20.0, 40.0], [296.0, 454.0]]
    error_mm = np.linalg.norm(found.board_from_px(truth.project(at_edge, 6.0), 6.0) - at_edge, axis=1)
    assert error_mm.max() < 1.5


def test_pixels_per_millimetre_are_those_at_the_middle():
    truth = camera(tilt_deg=0.0, distance_mm=1000.0)
    assert truth.px_per_mm() == pytest.approx(focal_from_fov(50.0, SIZE_WH) / 1000)


def test_the_principal_point_is_the_middle_of_the_picture_not_of_its_last_pixel():
    assert camera_matrix(900.0, SIZE_WH)[:2, 2] == pytest.approx([639.5, 359.5])


@pytest.mark.parametrize(
    ("corners_px", "why"),
    [
        ([UPRIGHT_PX[0], UPRIGHT_PX[2], UPRIGHT_PX[1], UPRIGHT_PX[3]], "cross or lie on a line"),
        ([(100, 100), (200, 200), (300, 300), (400, 400)], "cross or lie on a line"),
        ([(100, 100)] * 4, "cross or lie on a line"),
        ([(math.nan, 100), *UPRIGHT_PX[1:]], "not numbers"),
        ([(math.inf, 100), *UPRIGHT_PX[1:]], "not numbers"),
        (UPRIGHT_PX[::-1], "wrong way, or the picture is mirrored"),
    ],
)
def test_corners_that_cannot_be_are_refused_with_the_remedy(corners_px, why):
    with pytest.raises(CalibrationError, match=why):
        calibrate(corners_px, CORNERS_MM, SIZE_WH, 50.0)


def test_a_calibration_survives_its_json():
    truth = camera()
    assert Calibration.from_json(truth.to_json()) == truth


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"size_wh": [1, 2], "projection": [1]}', camera().to_json()[:-9]])
def test_a_spoilt_json_is_refused(text):
    with pytest.raises(CalibrationError, match="calibrate again"):
        Calibration.from_json(text)
