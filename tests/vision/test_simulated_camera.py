"""The simulated camera draws what its truth says, and each of its faults is there, by its seed."""

import threading
from dataclasses import replace
from itertools import islice, pairwise

import cv2
import numpy as np
import pytest

from hardware_sims import pictures
from hardware_sims.arms import Arm
from hardware_sims.camera import Camera, Settings
from hardware_sims.capture import Device, Plug, serve
from hardware_sims.disks import STANDARD, Disk, flat, in_cell, leaning, tilted
from hardware_sims.players import Moment
from hardware_sims.scene import Lamp, Room, Scene
from hardware_sims.view import View, view_of
from vision.calibration import calibrate
from vision.camera import open_source

VIEW = View((640, 480), fov_x_deg=60.0, tilt_deg=18.0, azimuth_deg=-80.0, distance_mm=760.0, roll_deg=4.0)
PLAIN = Room(
    wood=(0.3, 0.3, 0.3),
    wood_contrast=0.0,
    ground=(0.2, 0.2, 0.2),
    ground_contrast=0.0,
    colours=(("a", (0.9, 0.05, 0.05)), ("b", (0.05, 0.05, 0.9))),
    lamps=(Lamp((0.0, 0.0, 4000.0), 10.0, (5.0, 5.0, 5.0)),),
    gloss=0.0,
)
CLEAN = Settings(vignetting=0.0, blur_px=0.0, noise_levels=0.0, jpeg_quality=None)
DISKS = (
    flat(STANDARD, "a1", "a", 60.0, 76.0),
    in_cell(STANDARD, "b1", "b", (3, 5), (1.0, -1.0)),
    tilted(STANDARD, "a2", "a", (6, 2), 35.0, 120.0),
    flat(STANDARD, "b2", "b", 2.0, 240.0),
    leaning(STANDARD, "b3", "b", flat(STANDARD, "a1", "a", 60.0, 76.0), 180.0, 18.0),
)
ARM = Arm((158.0, 200.0, 20.0), -90.0)


SCENE = Scene(STANDARD, PLAIN)


@pytest.fixture
def plain() -> Scene:
    return SCENE


def shot(scene: Scene, disks=(), arms=(), view=VIEW, settings=CLEAN):
    image = Camera(scene, view, settings).read(disks, arms)
    assert image is not None
    return image.astype(np.float64)


@pytest.mark.parametrize("z_mm", [-6.0, 0.0, 6.0, 40.0])
def test_without_distortion_it_projects_as_a_calibration_does(z_mm):
    points = np.random.default_rng(1).uniform(0, 480, (50, 2))
    assert VIEW.project(STANDARD, points, z_mm) == pytest.approx(VIEW.calibration(STANDARD).project(points, z_mm))


def test_its_corners_give_its_calibration():
    corners_px = VIEW.project(STANDARD, STANDARD.corners_mm())
    found = calibrate(corners_px, STANDARD.corners_mm(), VIEW.size_wh, VIEW.fov_x_deg)
    true = VIEW.calibration(STANDARD)
    assert found.residual_px < 1e-6
    assert found.camera_mm() == pytest.approx(true.camera_mm(), abs=1e-3)


@pytest.mark.parametrize(
    "view",
    [VIEW, replace(VIEW, distortion=(-0.2, 0.05)), replace(VIEW, mirrored=True), replace(VIEW, tilt_deg=0.0)],
    ids=["plain", "distorted", "mirrored", "from above"],
)
@pytest.mark.parametrize(
    "disk", [flat(STANDARD, "a1", "a", 158.0, 110.0), in_cell(STANDARD, "a1", "a", (7, 6))], ids=["flat", "in hole"]
)
def test_a_disk_is_drawn_where_the_truth_has_it(plain, view, disk):
    scene = Scene(STANDARD, replace(PLAIN, lamps=()))
    change = np.abs(shot(scene, (disk,), view=view) - shot(scene, view=view)).max(axis=2)
    # Seen from straight above the middle of the change is the top face's; else the side wall shows as well.
    red = shot(scene, (disk,), view=view)[..., 2]
    top = (change > 5) & (red > 0.97 * np.percentile(red[change > 5], 90))
    y_px, x_px = (axis.mean() for axis in np.nonzero(top))
    top_mm = disk.top_mm(STANDARD.disk_height_mm)
    expected = view.project(STANDARD, [top_mm[:2]], top_mm[2])[0]
    assert (x_px, y_px) == pytest.approx(expected, abs=0.5)


def test_the_slabs_corner_is_drawn_where_the_truth_has_it():
    scene = Scene(STANDARD, replace(PLAIN, wood=(0.9, 0.9, 0.9), ground=(0.01, 0.01, 0.01), lamps=()))
    bright = (shot(scene)[..., 1] > 60).astype(np.uint8)
    (outline,), _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    # The slab's far sides are its top face's; its near side wall is seen below it.
    far = VIEW.project(STANDARD, STANDARD.corners_mm())[2:]
    for corner in far:
        assert np.abs(outline[:, 0] - corner).sum(axis=1).min() < 2.0


def test_what_is_redrawn_after_a_move_equals_a_fresh_picture(plain):
    camera = Camera(plain, VIEW, CLEAN)
    moved = (replace(DISKS[0], y_mm=90.0), *DISKS[2:4])
    for disks in ((), DISKS, moved, DISKS[:1], moved):
        redrawn = camera.read(disks)
    assert redrawn is not None
    assert np.abs(redrawn - shot(plain, moved)).max() <= 1


def test_a_disks_shadow_falls_away_from_the_lamp_as_far_as_its_height_says():
    # From a lamp at 1 : 2 the top, 6 mm up, throws its shadow 12 mm beyond the rim.
    scene = Scene(STANDARD, replace(PLAIN, lamps=(Lamp((-900.0, -177.0, 450.0), 20.0),)))
    disk = flat(STANDARD, "a1", "a", 158.0, 70.0)
    view = replace(VIEW, size_wh=(1280, 960))
    share = shot(scene, (disk,), view=view)[..., 1] / shot(scene, view=view)[..., 1]
    places_mm = [[158.0 + 14.0 + 10.5, 70.0], [158.0 + 14.0 + 15.0, 70.0], [158.0 - 14.0 - 5.0, 70.0]]
    shaded, beyond, towards = (share[y, x] for x, y in view.project(STANDARD, places_mm).round().astype(int))
    assert shaded < 0.85
    assert beyond > 0.97
    assert towards > 0.9


@pytest.mark.parametrize("upper_first", [False, True])
def test_the_upper_disk_hides_the_lower_one(plain, upper_first):
    upper = flat(STANDARD, "b1", "b", 82.0, 106.0)
    lower = in_cell(STANDARD, "a1", "a", (1, 2))
    both = shot(plain, (upper, lower) if upper_first else (lower, upper))
    x, y = VIEW.project(STANDARD, [[upper.x_mm, upper.y_mm]], 6.0)[0].round().astype(int)
    assert both[y, x, 0] > 2 * both[y, x, 2]


def test_the_truth_tells_how_much_an_arm_leaves_visible(plain):
    camera = Camera(plain, VIEW, CLEAN)
    under, beside = flat(STANDARD, "a1", "a", 145.0, 90.0), flat(STANDARD, "a2", "a", 40.0, 400.0)
    assert camera.visible((ARM,), plain.rim_mm(under)) < 0.3
    assert camera.visible((ARM,), plain.rim_mm(beside)) == 1.0
    assert camera.visible((), plain.rim_mm(under)) == 1.0
    covered = shot(plain, (under,), (ARM,)) - shot(plain, (), (ARM,))
    assert (np.abs(covered).max(axis=2) > 12).sum() < 60, "what the truth calls hidden does not show"


def frames(settings: Settings, count: int, disks=DISKS[:1]):
    camera = Camera(SCENE, replace(VIEW, size_wh=(320, 240)), settings)
    return [camera.read(disks, t_s=number / 15) for number in range(count)]


def brightness(settings: Settings, count: int) -> np.ndarray:
    return np.array([image.mean() for image in frames(settings, count)])


def test_exposure_white_balance_and_veil_change_the_light():
    usual = frames(CLEAN, 1)[0]
    assert frames(replace(CLEAN, exposure=0.4), 1)[0].mean() < 0.75 * usual.mean()
    warm = frames(replace(CLEAN, white_balance=(1.3, 1.0, 0.7)), 1)[0]
    assert warm[..., 2].mean() > usual[..., 2].mean()
    assert warm[..., 0].mean() < usual[..., 0].mean()
    assert frames(replace(CLEAN, veil=0.1), 1)[0].min() > usual.min() + 20


def test_auto_exposure_hunts():
    seen = brightness(replace(CLEAN, hunt=0.2, hunt_period_s=1.0), 15)
    assert np.ptp(seen) > 0.1 * seen.mean()
    assert np.ptp(brightness(CLEAN, 15)) == 0


def test_the_first_frames_are_dark_while_it_warms_up():
    seen = brightness(replace(CLEAN, warm_up_frames=5), 8)
    assert (np.diff(seen[:6]) > 0).all()
    assert seen[0] < 0.5 * seen[-1]


def test_mains_light_flickers():
    assert np.ptp(brightness(replace(CLEAN, flicker=0.1), 10)) > 2


def test_noise_is_as_strong_as_set_and_new_in_each_frame():
    first, second = (image.astype(float) for image in frames(replace(CLEAN, noise_levels=3.0), 2))
    assert (first - second).std() == pytest.approx(3.0 * np.sqrt(2), rel=0.1)


def test_corners_lose_light_by_vignetting():
    whole, dim = frames(CLEAN, 1)[0].astype(float), frames(replace(CLEAN, vignetting=0.4), 1)[0].astype(float)
    assert dim[0, 0].mean() < 0.85 * whole[0, 0].mean()
    assert dim[120, 160].mean() == pytest.approx(whole[120, 160].mean(), abs=1)


def test_blur_and_jpeg_change_the_picture():
    sharp = frames(CLEAN, 1)[0]
    edges = cv2.Laplacian(sharp, cv2.CV_64F).var()
    assert cv2.Laplacian(frames(replace(CLEAN, blur_px=1.5), 1)[0], cv2.CV_64F).var() < 0.5 * edges
    packed = frames(replace(CLEAN, jpeg_quality=30), 1)[0]
    assert 0.5 < np.abs(packed.astype(float) - sharp).mean() < 10


def test_a_moving_disk_is_smeared_along_its_way_for_as_long_as_the_shutter_is_open(plain):
    background = shot(plain)

    def length_px(disk: Disk, shutter_ms: float) -> int:
        change = np.abs(shot(plain, (disk,), settings=replace(CLEAN, shutter_ms=shutter_ms)) - background).max(axis=2)
        return int(np.ptp(np.nonzero(change > 4)[0]))

    moving = replace(DISKS[0], velocity_mm_s=(0.0, 1000.0))
    still_px = length_px(DISKS[0], 30.0)
    assert length_px(moving, 1.0) == pytest.approx(still_px, abs=2)
    assert length_px(moving, 30.0) > still_px + 8


def test_frames_are_dropped_frozen_and_knocked_at_the_set_rate():
    assert any(image is None for image in frames(replace(CLEAN, drop_rate=0.3), 20))
    noisy = replace(CLEAN, noise_levels=2.0)
    frozen = frames(replace(noisy, freeze_rate=0.2, freeze_frames=3), 20)
    repeats = [np.array_equal(a, b) for a, b in pairwise(frozen)]
    assert any(repeats)
    assert not all(repeats)
    camera = Camera(SCENE, VIEW, replace(CLEAN, bump_rate=1.0))
    camera.read(())
    shift_px = camera.view.project(STANDARD, STANDARD.corners_mm()) - VIEW.project(STANDARD, STANDARD.corners_mm())
    assert 1.0 < np.linalg.norm(shift_px, axis=1).max() < 60
    for _ in range(40):
        camera.bump()
    assert max(abs(axis_mm) for axis_mm in camera.view.aim_mm) <= 10.0, "knocks do not add up"


def test_everything_repeats_by_its_seed():
    faulty = Settings(noise_levels=3, hunt=0.1, flicker=0.1, drop_rate=0.2, freeze_rate=0.1, bump_rate=0.05, seed=4)

    def same(a, b):
        return (a is None) == (b is None) and (a is None or np.array_equal(a, b))

    first, again, other = frames(faulty, 15), frames(faulty, 15), frames(replace(faulty, seed=5), 15)
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert not all(same(a, b) for a, b in zip(first, other, strict=True))


def test_hard_pictures_repeat_by_their_seed_and_their_truth_can_be():
    for seed in (3, 4):
        image, truth = pictures.random_picture(seed)
        again, truth_again = pictures.random_picture(seed)
        assert np.array_equal(image, again)
        assert truth == truth_again
        assert image.shape[:2] == tuple(truth["size"][::-1])
        assert (truth["hand"] is not None) is (seed == 4)
        places = [(disk["x"], disk["y"], disk["z"]) for disk in truth["disks"]]
        assert all(0 < x < STANDARD.width_mm and 0 < y < STANDARD.length_mm for x, y, _ in places)
        assert len(set(places)) == len(places)


@pytest.mark.parametrize("demo", [False, True])
def test_pictures_of_disks_in_holes_are_taken_by_one_camera_after_the_other(demo):
    told = [truth for _, truth in islice(pictures.random_pictures_in_holes(3, 2, demo=demo), 3)]
    assert told[0]["corners_px"] == told[1]["corners_px"]
    assert told[0]["disks"] != told[1]["disks"]
    assert (told[0]["corners_px"] == told[2]["corners_px"]) is demo, "the demo's camera stays where it is"
    for truth in told:
        in_holes = [disk for disk in truth["disks"] if disk["hole"]]
        assert len(in_holes) >= len(truth["disks"]) / 2


def moments(count: int):
    return iter([Moment(n, n / 15, DISKS[:1]) for n in range(count)])


def test_a_device_can_be_busy_and_then_lost_for_a_while():
    camera = Camera(SCENE, replace(VIEW, size_wh=(160, 120)), CLEAN)
    busy = Device(camera, moments(5), fps=1000, plug=Plug(busy_opens=2))
    assert [busy.connect().isOpened() for _ in range(3)] == [False, False, True]
    lost = Device(camera, moments(50), fps=1000, plug=Plug(lost_rate=0.5, lost_s=60.0))
    lost.connect()
    reads = [lost.read()[0] for _ in range(20)]
    assert not reads[-1]
    assert not lost.isOpened()


def test_its_stream_is_read_like_any_network_camera():
    camera = Camera(SCENE, replace(VIEW, size_wh=(320, 240)), replace(CLEAN, noise_levels=1.0))
    device = Device(camera, moments(10_000), fps=60)
    stream = serve(device)
    source = open_source(f"http://127.0.0.1:{stream.server_port}/")
    threads = [threading.Thread(target=run, daemon=True) for run in (stream.serve_forever, source.read_forever)]
    for thread in threads:
        thread.start()
    try:
        taken = []
        for frame in source.frames():
            if frame is not None:
                taken.append(frame.image_bgr)
            if len(taken) == 3:
                break
    finally:
        source.close()
        device.close()
        stream.shutdown()
        for thread in threads:
            thread.join(timeout=10)
        stream.server_close()
    assert taken[0].shape == (240, 320, 3)
    assert np.abs(taken[0].astype(float) - camera.read(DISKS[:1])).mean() < 4


def test_a_camera_that_starts_anew_has_to_warm_up_again():
    camera = Camera(SCENE, replace(VIEW, size_wh=(64, 48)), replace(CLEAN, warm_up_frames=4))
    usual = [float(camera.read(()).mean()) for _ in range(8)]
    assert usual[0] < usual[3] < usual[7] == usual[6]
    camera.settings = replace(camera.settings, restart_rate=1.0)
    dark = float(camera.read(()).mean())
    camera.settings = replace(camera.settings, restart_rate=0.0)
    again = [float(camera.read(()).mean()) for _ in range(7)]
    assert dark == usual[0]
    assert again == usual[1:]


def test_an_unplugged_camera_gives_nothing_for_as_long_as_it_is_out():
    camera = Camera(SCENE, replace(VIEW, size_wh=(64, 48)), replace(CLEAN, outage_rate=1.0, outage_s=2.0))
    assert camera.read((), t_s=0.0) is None
    camera.settings = replace(camera.settings, outage_rate=0.0)
    assert camera.read((), t_s=1.9) is None
    assert camera.read((), t_s=2.0) is not None


def test_the_lens_blurs_what_changed_as_it_blurs_a_whole_picture(plain):
    soft = replace(CLEAN, blur_px=2.0)
    camera = Camera(plain, VIEW, soft)
    for disks in ((), DISKS, DISKS[:2], DISKS[1:]):
        redrawn = camera.read(disks, (ARM,))
    assert redrawn is not None
    assert np.abs(redrawn - shot(plain, DISKS[1:], (ARM,), settings=soft)).max() <= 2


@pytest.mark.parametrize("seed", range(12))
def test_the_view_is_told_by_the_calibration(seed):
    rng = np.random.default_rng(seed)
    view = View(
        (1280, 720),
        float(rng.uniform(40, 75)),
        float(rng.uniform(0, 35)),
        float(rng.uniform(-180, 180)),
        float(rng.uniform(500, 1100)),
        float(rng.uniform(-180, 180)),
        (float(rng.normal(0, 20)), float(rng.normal(0, 20))),
    )
    again = view_of(view.calibration(STANDARD), STANDARD)
    places_mm = STANDARD.corners_mm()
    np.testing.assert_allclose(
        again.project(STANDARD, places_mm, 6.0), view.project(STANDARD, places_mm, 6.0), atol=1e-6
    )


def test_the_table_of_another_picture_is_rendered_with_its_disks_and_colours():
    image, told = pictures.random_picture(3, arm=False)
    other, again = pictures.same_scene(image, told, 1)
    assert other.shape == image.shape
    assert not np.array_equal(other, image)
    assert again["colours"] == told["colours"]
    assert [(disk["colour"], disk["kind"], disk["hole"]) for disk in again["disks"]] == [
        (disk["colour"], disk["kind"], disk["hole"]) for disk in told["disks"]
    ]
    for name in ("x", "y", "z", "tilt_deg", "px"):
        np.testing.assert_allclose(
            [disk[name] for disk in again["disks"]], [disk[name] for disk in told["disks"]], atol=0.05
        )
    np.testing.assert_allclose(again["corners_px"], told["corners_px"], atol=0.01)
