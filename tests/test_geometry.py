import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline import geometry
from sightline.errors import InputError
from sightline.types import Camera, DepthMap, Kind

scales = st.floats(0.01, 100)
shifts = st.floats(-50, 50)
seeds = st.integers(0, 2**32 - 1)


@given(scales, shifts, seeds)
def test_align_recovers_scale_and_shift(scale, shift, seed):
    x = np.random.default_rng(seed).normal(size=200)
    fit = geometry.align(x, scale * x + shift)
    assert fit.scale == pytest.approx(scale, rel=1e-9)
    assert fit.shift == pytest.approx(shift, abs=1e-9 * (1 + scale))


@given(seeds)
def test_align_equals_lstsq(seed):
    rng = np.random.default_rng(seed)
    x, y, w = rng.normal(size=(3, 50))
    w = w**2
    fit = geometry.align(x, y, weights=w)
    root = np.sqrt(w)
    expected, *_ = np.linalg.lstsq(
        np.stack([x, np.ones(50)], 1) * root[:, None], y * root, rcond=None
    )
    assert [fit.scale, fit.shift] == pytest.approx(expected.tolist(), rel=1e-6, abs=1e-9)


@given(scales, shifts, seeds)
def test_robust_align_shrugs_off_a_third_of_outliers(scale, shift, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 600)
    y = scale * x + shift + scale * rng.normal(0, 1e-3, 600)
    wrong = rng.random(600) < 0.3
    y[wrong] += scale * rng.uniform(1, 20, int(wrong.sum()))
    fit = geometry.align(x, y, robust=True)
    assert fit.scale == pytest.approx(scale, rel=0.01)
    plain = geometry.align(x, y)
    assert abs(plain.shift - shift) > abs(fit.shift - shift)


def test_align_ignores_what_is_masked_or_not_finite():
    x = np.array([0.0, 1.0, 2.0, np.nan, 5.0])
    y = np.array([1.0, 3.0, 5.0, 0.0, -99.0])
    fit = geometry.align(x, y, mask=np.array([1, 1, 1, 1, 0], bool))
    assert (fit.scale, fit.shift, fit.count) == (pytest.approx(2), pytest.approx(1), 3)


def test_align_of_a_flat_source_gives_the_mean():
    fit = geometry.align(np.ones(4), np.array([1.0, 2, 3, 4]))
    assert (fit.scale, fit.shift) == (0.0, pytest.approx(2.5))


def test_align_can_refuse_to_turn_a_map_around():
    x = np.arange(5.0)
    assert geometry.align(x, -x).scale == pytest.approx(-1)
    assert geometry.align(x, -x, nonnegative=True).scale == 0
    assert geometry.align(x, -x, nonnegative=True, robust=True).scale == 0


def test_align_says_what_is_wrong():
    with pytest.raises(InputError, match="shape"):
        geometry.align(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="no pixel"):
        geometry.align(np.ones(3), np.full(3, np.nan))


@given(st.floats(30, 120), seeds)
def test_project_undoes_unproject(fov, seed):
    camera = Camera.from_fov(fov, 17, 11)
    z = np.random.default_rng(seed).uniform(0.5, 50, (11, 17))
    xy = geometry.project(geometry.unproject(z, camera), camera)
    rows, columns = np.mgrid[0:11, 0:17]
    np.testing.assert_allclose(xy[..., 0], columns, atol=2e-3)
    np.testing.assert_allclose(xy[..., 1], rows, atol=2e-3)


def test_unproject_is_the_pinhole_formula():
    camera = Camera.from_focal(100.0, 3, 3)
    xyz = geometry.unproject(np.full((3, 3), 2.0), camera)
    np.testing.assert_allclose(xyz[0, 2], [0.02, -0.02, 2.0], rtol=1e-6)


def slanted_plane(height=40, width=60, fov=60.0):
    """Depth of the plane n·X = 1 seen by a camera, in closed form."""
    camera = Camera.from_fov(fov, width, height)
    rays = geometry.unproject(np.ones((height, width)), camera).astype(np.float64)
    return 1 / (rays @ np.array([0.1, 0.45, 0.5])), camera


def test_a_slanted_plane_has_no_edges_and_one_normal():
    z, camera = slanted_plane()
    assert not geometry.edges(z).any()
    normal = geometry.normals(geometry.unproject(z, camera))
    expected = -np.array([0.1, 0.45, 0.5]) / np.linalg.norm([0.1, 0.45, 0.5])
    np.testing.assert_allclose(
        normal[1:-1, 1:-1], np.broadcast_to(expected, (38, 58, 3)), atol=1e-3
    )


def test_no_normal_mixes_the_two_sides_of_an_edge():
    camera = Camera.from_fov(60, 60, 40)
    left, right = np.array([0.5, 0.2, -1.0]), np.array([-0.4, 0.3, -1.0])
    rays = geometry.unproject(np.ones((40, 60)), camera).astype(np.float64)
    z = np.where(np.arange(60) < 30, -2 / (rays @ left), -5 / (rays @ right))
    found = geometry.normals(geometry.unproject(z, camera))
    for half, plane in ((found[:, :30], left), (found[:, 30:], right)):
        cosine = half @ (plane / np.linalg.norm(plane))
        assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 0.2


def test_normals_leave_holes_and_thin_grids_undefined():
    z, camera = slanted_plane()
    z = z.copy()
    z[10:30, 20:40] = 0
    found = geometry.normals(geometry.unproject(z, camera))
    known = found.any(-1)
    assert not known[10:30, 20:40].any()
    assert known[:8].all()
    expected = -np.array([0.1, 0.45, 0.5]) / np.linalg.norm([0.1, 0.45, 0.5])
    np.testing.assert_allclose(found[known] @ expected, 1, atol=1e-4)
    assert not geometry.normals(np.ones((1, 9, 3))).any()


def test_normals_are_the_same_in_bands(monkeypatch):
    rng = np.random.default_rng(0)
    xyz = geometry.unproject(2 + rng.random((50, 30)), Camera.assumed(30, 50))
    whole = geometry.normals(xyz)
    monkeypatch.setattr(geometry, "_BAND", 16)
    np.testing.assert_allclose(geometry.normals(xyz), whole, atol=1e-5)


def test_a_step_is_an_edge_on_both_sides_and_nowhere_else():
    z = np.where(np.arange(20) < 10, 1.0, 3.0)[None].repeat(8, 0)
    marked = geometry.edges(z)
    assert marked[:, 9:11].all()
    assert not marked[:, :9].any()
    assert not marked[:, 11:].any()


@pytest.mark.parametrize("enlarged", [1.0, 1.67, 5.0, 12.0])
def test_a_jump_smeared_by_enlarging_leaves_no_point_in_the_air(enlarged):
    from sightline.depth.preprocessing import to_picture_size

    small = np.full((256, 384), 1 / 8, np.float32)
    small[60:200, 100:300] = 1.0
    hw = (round(256 * enlarged), round(384 * enlarged))
    z = 1 / to_picture_size(small, hw)
    flying = (z > 1.3) & (z < 6)
    assert not (flying & ~geometry.edges(z)).any()
    inside = np.zeros(hw, bool)
    inside[
        round(70 * enlarged) : round(190 * enlarged), round(110 * enlarged) : round(290 * enlarged)
    ] = True
    assert not geometry.edges(z)[inside].any()


def test_a_thin_rod_is_not_lost_among_its_edges():
    z = np.full((40, 60), 5.0)
    z[:, 28:33] = 1.0
    marked = geometry.edges(z)
    assert not marked[:, 30].any()
    assert marked[:, 27:29].all()


def test_a_gentle_crease_is_no_edge():
    columns = np.arange(200.0)
    z = np.broadcast_to(2 + 0.01 * np.abs(columns - 100), (30, 200))
    assert not geometry.edges(z).any()


def test_points_of_a_metric_map_are_meters_and_skip_edges():
    z = np.where(np.arange(20) < 10, 1.0, 3.0)[None].repeat(8, 0)
    depth = DepthMap(z, Kind.METRIC_DEPTH, camera=Camera.from_fov(60, 20, 8))
    rgb = np.arange(8 * 20 * 3, dtype=np.uint8).reshape(8, 20, 3)
    cloud = geometry.to_pointcloud(depth, rgb)
    assert cloud.unit == "m"
    assert len(cloud) == 8 * 18
    assert set(np.unique(cloud.xyz[:, 2])) == {1.0, 3.0}
    np.testing.assert_array_equal(cloud.rgb[0], rgb[0, 0])
    assert len(geometry.to_pointcloud(depth, edge_tolerance=None)) == 160


def test_mesh_faces_look_at_the_camera_and_bridge_no_edge():
    z = np.where(np.arange(20) < 10, 1.0, 3.0)[None].repeat(8, 0)
    mesh = geometry.to_pointcloud(DepthMap(z, Kind.METRIC_DEPTH), mesh=True)
    corners = mesh.xyz[mesh.faces].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", normal, corners[:, 0]) < 0).all()
    assert (np.ptp(corners[..., 2], axis=1) == 0).all()


def test_points_of_a_relative_map_have_no_unit_and_keep_the_order():
    disparity = np.linspace(5, 1, 400, dtype=np.float32).reshape(20, 20)
    depth = DepthMap(disparity, Kind.RELATIVE_DISPARITY)
    z = geometry.depth_for_view(depth)
    assert geometry.to_pointcloud(depth).unit == ""
    assert (np.diff(z.ravel()) >= 0).all()
    assert z.max() / z.min() == pytest.approx(geometry.ASSUMED_FAR_OVER_NEAR, rel=0.15)


def test_thinning_keeps_at_most_what_was_asked_for():
    depth = DepthMap(np.ones((100, 130)), Kind.METRIC_DEPTH)
    cloud = geometry.to_pointcloud(depth, max_points=1000)
    assert 250 <= len(cloud) <= 1000


def test_a_map_with_nothing_valid_gives_no_points():
    depth = DepthMap(np.full((4, 5), np.nan), Kind.RELATIVE_DISPARITY)
    assert len(geometry.to_pointcloud(depth, mesh=True)) == 0


def test_single_pixel_maps_work():
    depth = DepthMap(np.ones((1, 1)), Kind.METRIC_DEPTH)
    assert len(geometry.to_pointcloud(depth, mesh=True)) == 1
    assert geometry.normals(geometry.unproject(depth.values, Camera.assumed(1, 1))).shape == (
        1,
        1,
        3,
    )
