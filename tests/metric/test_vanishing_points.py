import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metric.vanishing_points import find_segments, focal_from_lines
from sightline.scenes.camera import look_at
from sightline.scenes.generate import make_scene
from sightline.types import Camera

#: Seen over a corner and from above, so that all three vanishing points are finite.
CORNER = (2.4, -1.9, -3.1)


def boxes(focal, eye=CORNER, roll=0.0, size=(640, 480), scale=1):
    """Draw the edges of boxes within boxes by a known camera."""
    camera = Camera.from_focal(focal * scale, size[0] * scale, size[1] * scale)
    pose = look_at(eye, (0.0, 0.0, 0.0), roll)
    picture = np.full((camera.height, camera.width, 3), 230, np.uint8)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    for half in (0.3, 0.55, 0.8, 1.05):
        seen = (half * corners - pose[:3, 3]) @ pose[:3, :3]
        assert (seen[:, 2] > 0.1).all()
        flat = (seen @ camera.K.T)[:, :2] / seen[:, 2:]
        for i in range(8):
            for j in range(i):
                if np.count_nonzero(corners[i] != corners[j]) == 1:
                    ends = [tuple(int(v) for v in np.rint(16 * flat[k])) for k in (i, j)]
                    cv2.line(picture, *ends, (20, 30, 40), 2 * scale, cv2.LINE_AA, 4)
    return picture


@pytest.mark.parametrize(("focal", "roll"), [(330.0, 0.0), (480.0, 25.0), (700.0, -8.0)])
def test_boxes_of_a_known_camera(focal, roll):
    found = focal_from_lines(boxes(focal, roll=roll))
    assert found is not None
    assert found.focal == pytest.approx(focal, rel=0.03)
    assert abs(np.log(found.focal / focal)) < 3 * found.sigma
    assert "vanishing points of" in found.reason


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    st.floats(350, 650), st.floats(25, 65), st.floats(18, 40), st.floats(-180, 180)
)  # focal, heading, height, roll
def test_any_corner_view(focal, heading, above, roll):
    turn, up = np.radians([heading, above])
    eye = 4.4 * np.array([np.cos(up) * np.cos(turn), -np.sin(up), np.cos(up) * np.sin(turn)])
    found = focal_from_lines(boxes(focal, eye, roll))
    assert found is not None
    assert abs(np.log(found.focal / focal)) < max(0.03, 3 * found.sigma)


def test_twice_the_picture_has_twice_the_focal_length():
    small, large = (focal_from_lines(boxes(450.0, scale=scale)) for scale in (1, 2))
    assert small is not None
    assert large is not None
    assert large.focal / small.focal == pytest.approx(2.0, rel=0.02)


def test_half_the_picture_too():
    picture = boxes(450.0)
    half = cv2.resize(picture, (320, 240), interpolation=cv2.INTER_AREA)
    found = focal_from_lines(half)
    assert found is not None
    assert found.focal == pytest.approx(225.0, rel=0.03)


def test_the_same_picture_gives_the_same_answer():
    picture = boxes(480.0)
    before = picture.copy()
    assert focal_from_lines(picture) == focal_from_lines(picture.copy())
    np.testing.assert_array_equal(picture, before)


def test_gray_is_a_picture():
    picture = cv2.cvtColor(boxes(480.0), cv2.COLOR_RGB2GRAY)
    assert focal_from_lines(picture) == focal_from_lines(np.stack([picture] * 3, -1))


def test_views_and_read_only_arrays():
    picture = boxes(480.0)[:, ::-1]
    picture.flags.writeable = False
    found = focal_from_lines(picture)
    assert found is not None
    assert found.focal == pytest.approx(480.0, rel=0.03)


@pytest.mark.parametrize(
    "shape", [(1, 1), (0, 5), (2, 640), (640, 2), (15, 15), (40, 4000), (4000, 300), (17, 17)]
)
def test_odd_shapes(shape):
    rng = np.random.default_rng(3)
    assert focal_from_lines(np.zeros((*shape, 3), np.uint8)) is None
    assert focal_from_lines(rng.integers(0, 256, (*shape, 3), dtype=np.uint8)) is None


def frontal():
    """A tiled wall from the front: no finite vanishing point."""
    picture = np.full((480, 640, 3), 220, np.uint8)
    picture[20::40] = picture[21::40] = 40
    picture[:, 30::50] = picture[:, 31::50] = 40
    return picture


def rails():
    """One vanishing point, verticals and horizontals: right for any focal length."""
    picture = np.full((480, 640, 3), 220, np.uint8)
    for x in range(-1500, 2200, 150):
        cv2.line(picture, (320, 240), (x, 480), (30, 30, 30), 2, cv2.LINE_AA)
    for x in range(20, 640, 60):
        cv2.line(picture, (x, 60), (x, 200), (30, 30, 30), 2, cv2.LINE_AA)
    for y in range(60, 210, 20):
        cv2.line(picture, (10, y), (630, y), (30, 30, 30), 2, cv2.LINE_AA)
    return picture


def sticks():
    """Lines anyhow."""
    rng = np.random.default_rng(0)
    picture = np.full((480, 640, 3), 220, np.uint8)
    for x, y, angle in rng.uniform((0, 0, 0), (640, 480, np.pi), (120, 3)):
        end = (int(x + 60 * np.cos(angle)), int(y + 60 * np.sin(angle)))
        cv2.line(picture, (int(x), int(y)), end, (30, 30, 30), 2, cv2.LINE_AA)
    return picture


def blurred_noise():
    noise = np.random.default_rng(1).normal(size=(480, 640, 3))
    soft = cv2.GaussianBlur(noise, (0, 0), 4)
    return np.clip(128 + 60 * soft / soft.std(), 0, 255).astype(np.uint8)


def fisheye(focal=300.0):
    """The boxes through a lens with r = f θ."""
    picture = boxes(focal, (1.6, -1.3, -2.0))
    y, x = np.mgrid[:480, :640] - np.array([239.5, 319.5])[:, None, None]
    angle = np.maximum(np.hypot(x, y), 1e-6) / 200
    reach = np.where(angle < 1.5, np.tan(np.minimum(angle, 1.5)), 99) * focal
    unit = np.maximum(np.hypot(x, y), 1e-6)
    maps = [(v / unit * reach + c).astype(np.float32) for v, c in ((x, 319.5), (y, 239.5))]
    return cv2.remap(picture, *maps, cv2.INTER_LINEAR, borderValue=(230, 230, 230))


@pytest.mark.parametrize("draw", [frontal, rails, sticks, blurred_noise, fisheye])
def test_no_answer(draw):
    assert focal_from_lines(draw()) is None


def test_a_frame_is_not_a_line_of_the_scene():
    picture = np.full((240, 320, 3), 200, np.uint8)
    picture[:2], picture[-2:], picture[:, :2], picture[:, -2:] = 0, 0, 0, 0
    assert find_segments(picture) is None


def test_a_rendered_room():
    frame = make_scene(5, 9, width=640, height=480, kinds=("room",)).frame
    found = focal_from_lines(frame.pixels)
    assert found is not None
    assert abs(np.log(found.focal / frame.camera.focal)) < max(0.03, 2 * found.sigma)
