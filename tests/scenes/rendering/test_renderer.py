"""The renderer's truth: depth and instances against a ray caster, sky, glass, mirrors, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.scenes import meshes
from sightline.scenes.camera import look_at, place_camera
from sightline.scenes.rendering.renderer import auto_exposure, render, tone_map
from sightline.scenes.world import CameraView, Light, Material, Sky, WorldBuilder, unit_vector
from sightline.types import Camera, Kind

SUN = Light(unit_vector([0.4, -0.8, -0.3]), (1.0, 0.95, 0.9), above=(0.3, 0.35, 0.4))
SIZE = 64


def small_world(*, light=SUN, sky=None, extra=()):
    """A table, a ball and thin posts on the ground, each an instance."""
    b = WorldBuilder()
    b.add(meshes.quad([-30, 0, -30], [60, 0, 0], [0, 0, 60]), Material("grass", (0.2, 0.3, 0.1)))
    with b.instance("table"):
        wood = b.paint(Material("planks", (0.5, 0.3, 0.2), scale=0.1))
        b.add(meshes.box([0, -0.7, 4], [1.4, 0.06, 0.8], yaw=20), wood)
        for x in (-0.5, 0.5):
            b.add(meshes.cylinder([x, 0, 4], 0.03, 0.7), wood)
    with b.instance("ball"):
        b.add(meshes.sphere([0.9, -0.4, 3], 0.4), Material("checker", scale=0.2, gloss=0.6))
    for number, material in enumerate(extra):
        with b.instance("extra"):
            b.add(meshes.quad([-1.5 + number, -1.6, 3.2], [0.9, 0, 0.2], [0, 1.4, 0]), material)
    return b.finish(light, sky)


def view(size=SIZE):
    return place_camera(
        CameraView((0.2, -1.4, 0.0), (0.1, -0.5, 4.0), roll=3.0, fov=70), size, size
    )


@pytest.fixture(scope="module")
def outdoors():
    return small_world(sky=Sky(clouds=0.5))


@pytest.fixture(scope="module")
def frame(outdoors):
    return render(outdoors, *view())


def test_depth_and_instances_agree_with_a_ray_caster(outdoors, frame):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("embreex")
    mesh = trimesh.Trimesh(outdoors.vertices, outdoors.faces, process=False)
    camera, pose = view()
    rows, columns = np.mgrid[:SIZE, :SIZE]
    pixels = np.stack([columns, rows, np.ones_like(rows)], -1).reshape(-1, 3)
    rays = pixels @ np.linalg.inv(camera.K).T @ pose[:3, :3].T
    # Embree reckons in single precision; where it hits tells the face, whose plane gives the depth.
    face = mesh.ray.intersects_first(np.tile(pose[:3, 3], (len(rays), 1)), rays)
    a, b, c = (outdoors.vertices[outdoors.faces[face, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    with np.errstate(invalid="ignore"):  # where nothing is hit, there is no plane
        depth = ((a - pose[:3, 3]) * normal).sum(1) / (rays * normal).sum(1)
    hit = (face >= 0).reshape(SIZE, SIZE)
    expected = np.where(hit, depth.reshape(SIZE, SIZE), 0)
    off = np.abs(frame.depth.values - expected) > 1e-5 * expected
    other = frame.instance != np.where(hit, outdoors.instance[face.reshape(SIZE, SIZE)], 0)
    assert off.mean() < 0.003, "only pixels right on an edge may differ"
    assert other.mean() < 0.003
    assert (frame.depth.valid != hit).mean() < 0.003
    assert 0.2 < hit.mean() < 0.95
    assert set(np.unique(frame.instance)) == {0, 1, 2}


def test_the_sky_is_known_to_be_infinitely_far(outdoors, frame):
    assert frame.sky.any()
    np.testing.assert_array_equal(frame.sky, ~frame.depth.valid)
    assert not frame.disparity[frame.sky].any()
    assert (frame.instance[frame.sky] == 0).all()
    np.testing.assert_allclose(
        frame.disparity[~frame.sky], 1 / frame.depth.values[~frame.sky], rtol=1e-6
    )
    closed = render(small_world(), *view())
    assert not closed.sky.any(), "without a sky, nothing seen is nothing known"
    assert not closed.depth.valid.all()


def test_the_frame_says_what_it_is(outdoors, frame):
    assert frame.depth.kind is Kind.METRIC_DEPTH
    assert frame.camera.width == SIZE
    assert frame.kinds == ("table", "ball")
    assert frame.pixels.shape == (SIZE, SIZE, 3)
    assert frame.pixels.dtype == np.uint8
    assert frame.pixels.std() > 15


@pytest.mark.parametrize(
    "pane",
    [Material(clear=0.8, gloss=0.5), Material(mirror=0.9), Material("water", mirror=0.5)],
)
def test_glass_and_mirrors_have_the_depth_of_their_surface(pane):
    solid, special = (
        render(small_world(sky=Sky(), extra=[m]), *view(), exposure=1.0)
        for m in (Material("plain"), pane)
    )
    np.testing.assert_array_equal(solid.depth.values, special.depth.values)
    np.testing.assert_array_equal(solid.instance, special.instance)
    on_pane = special.instance == 3
    assert on_pane.mean() > 0.03
    assert (solid.pixels[on_pane] != special.pixels[on_pane]).any()


def test_glass_shows_what_is_behind():
    behind = render(small_world(sky=Sky()), *view(), exposure=1.0).pixels.astype(float)
    through = render(
        small_world(sky=Sky(), extra=[Material(tint=(0.5, 0.5, 0.5), clear=0.9)]),
        *view(),
        exposure=1.0,
    )
    on_pane = through.instance == 3
    solid = render(
        small_world(sky=Sky(), extra=[Material(tint=(0.5, 0.5, 0.5))]), *view(), exposure=1.0
    )
    to_behind = np.abs(through.pixels[on_pane] - behind[on_pane]).mean()
    to_solid = np.abs(through.pixels[on_pane] - solid.pixels[on_pane].astype(float)).mean()
    assert to_behind < to_solid / 3


def test_a_mirror_shows_what_stands_before_it():
    def scene(tint):
        b = WorldBuilder()
        b.add(meshes.quad([-2, -2, 4], [4, 0, 0], [0, 2, 0]), Material(mirror=1.0))
        # Behind the camera: seen in the mirror alone.
        b.add(meshes.quad([-4, -4, -2], [8, 0, 0], [0, 6, 0]), Material(tint=tint))
        light = Light(above=(1, 1, 1), below=(1, 1, 1))
        camera, pose = Camera.from_fov(60, 48, 48), look_at([0, -1, 0], [0, -1, 4])
        return render(b.finish(light), camera, pose, exposure=1.0).pixels[20:28, 20:28].mean((0, 1))

    red, blue = scene((0.6, 0.05, 0.05)), scene((0.05, 0.05, 0.6))
    assert red[0] > 3 * red[2]
    assert blue[2] > 3 * blue[0]


def test_same_input_same_bytes(outdoors, frame):
    again = render(outdoors, *view())
    for name in ("pixels", "instance", "sky"):
        assert getattr(again, name).tobytes() == getattr(frame, name).tobytes()
    assert again.depth.values.tobytes() == frame.depth.values.tobytes()


def test_samples_smooth_edges_and_leave_the_truth_alone(outdoors):
    one, two, four = (render(outdoors, *view(), supersample=n, exposure=1.0) for n in (1, 2, 4))
    for other in (two, four):
        assert one.depth.values.tobytes() == other.depth.values.tobytes()
        assert one.instance.tobytes() == other.instance.tobytes()
    error = [np.abs(f.pixels.astype(float) - four.pixels).mean() for f in (one, two)]
    assert error[1] < 0.7 * error[0], "the more samples, the nearer to the limit"


def test_pixels_are_the_same_place_as_depth():
    """Color and truth may not be shifted against each other: an edge lies where both say."""
    b = WorldBuilder()
    b.add(meshes.quad([-9, -9, 9], [18, 0, 0], [0, 18, 0]), Material(tint=(0, 0, 0), glow=0))
    with b.instance("board"):
        b.add(meshes.quad([-1, -1, 3], [2, 0, 0], [0, 2, 0]), Material(tint=(1, 1, 1), glow=1.0))
    light = Light(above=(0, 0, 0), below=(0, 0, 0))
    # Its edges lie 21.9 px from the middle: 10.1 and 53.9. The pixels 10 and 54 hold half of it each.
    found = render(b.finish(light), Camera.from_focal(65.7, 65, 65), np.eye(4), exposure=0.5)
    rows, columns = np.mgrid[:65, :65]
    for axis in (rows, columns):
        assert axis[found.instance == 1].mean() == pytest.approx(32, abs=0.02)
    for bright in (found.pixels[..., 1].astype(float), found.pixels[..., 1].T.astype(float)):
        half = 255 * 0.735  # the code of half the light, as a share of the code of the whole
        for edge, inner, outer in ((10, 11, 9), (54, 53, 55)):
            ratio = bright[20:45, edge] / bright[20:45, inner]
            np.testing.assert_allclose(ratio, half / 255, atol=0.04)
            assert not bright[20:45, outer].any()


def test_fog_hides_what_is_far():
    clear, foggy = (
        render(
            small_world(light=Light(fog=fog, fog_color=(0.5, 0.1, 0.1)), sky=Sky()),
            *view(),
            exposure=1.0,
        )
        for fog in (0.0, 0.2)
    )
    far, near = clear.depth.values > 15, (clear.depth.values < 4) & clear.depth.valid
    change = np.abs(clear.pixels.astype(float) - foggy.pixels).mean(-1)
    assert change[far].mean() > 1.3 * change[near].mean()
    haze = foggy.pixels[far].astype(float).mean(0)
    assert haze[0] > 1.5 * haze[1]


def test_lamps_glow_in_the_dark():
    dark = Light(above=(0, 0, 0), below=(0, 0, 0))
    found = render(
        small_world(light=dark, extra=[Material(tint=(1, 1, 1), glow=1.0)]), *view(), exposure=1.0
    )
    assert found.pixels[found.instance == 3].mean() > 200
    table = found.pixels[found.instance == 1]
    assert (table > 0).mean() < 0.1, "but for pixels that a lamp shares"


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (37, 21)])
def test_any_size(outdoors, size):
    camera, pose = place_camera(CameraView((0.2, -1.4, 0.0), (0.1, -0.5, 4.0)), *size)
    found = render(outdoors, camera, pose)
    assert found.pixels.shape == (size[1], size[0], 3)


def test_nothing_in_view(outdoors):
    found = render(outdoors, Camera.from_fov(40, 16, 16), look_at([0, -2, 0], [0, -9, 0.1]))
    assert found.sky.all()
    assert not found.depth.valid.any()
    with pytest.raises(InputError, match="supersample must be at least 1"):
        render(outdoors, *view(), supersample=0)


@given(
    st.floats(35, 100),
    st.integers(40, 800),
    st.integers(40, 800),
    st.floats(-20, 20),
    st.floats(0, 89),
)
def test_place_keeps_the_angle_across_the_diagonal(fov, width, height, roll, pitch):
    target = (0.0, float(np.tan(np.radians(pitch))), 1.0)
    camera, pose = place_camera(CameraView((0.0, 0.0, 0.0), target, roll, fov), width, height)
    classic, _ = place_camera(CameraView((0.0, 0.0, 0.0), target, roll, fov), 640, 480)
    assert classic.fov == pytest.approx(fov)
    angles = [np.hypot(c.width, c.height) / c.focal for c in (camera, classic)]
    assert angles[0] == pytest.approx(angles[1])
    np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(pose[:3, 2], unit_vector(target), atol=1e-9)


def test_straight_down_is_a_direction_too():
    pose = look_at([1, -5, 2], [1, 0, 2])
    np.testing.assert_allclose(pose[:3, 2], [0, 1, 0])
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1)
    with pytest.raises(InputError, match="must differ"):
        look_at([1, 1, 1], [1, 1, 1])


def test_the_meter_holds_bright_and_dark():
    flat = np.full((8, 8, 3), 0.02, np.float32)
    assert auto_exposure(flat) > 2
    assert auto_exposure(50 * flat) < 1
    for level in (0.02, 0.2, 2.0):
        assert 60 < tone_map(np.full((4, 4, 3), level, np.float32)).mean() < 245
    ramp = np.linspace(0, 3, 300, dtype=np.float32).reshape(1, 100, 3)
    assert (np.diff(tone_map(ramp, 1.0).ravel().astype(int)) >= 0).all()
    assert tone_map(np.full((1, 1, 3), 0.2140, np.float32), 1.0).max() in (127, 128)
