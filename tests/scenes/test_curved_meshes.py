import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes import mesh_arrays, meshes

RNG = np.random.default_rng


def is_whole(shape):
    assert np.isfinite(shape.vertices).all()
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1, atol=1e-6)
    assert shape.faces.min() >= 0
    assert shape.faces.max() < len(shape.vertices)
    assert shape.uv.shape == (len(shape.vertices), 2)


@given(st.lists(st.floats(-180, 180), min_size=3, max_size=3), st.floats(0.1, 3))
def test_spread_is_moved_for_each(angles, scale):
    yaw, pitch, roll = angles
    one = meshes.box([0.1, 0, 0], [1, 2, 3])
    places = [[0, 0, 0], [1, -2, 3]]
    many = mesh_arrays.repeat_shape(
        one, places, yaw=[yaw, 10], pitch=[pitch, 0], roll=[roll, 5], scale=[scale, 1]
    )
    first = one.moved(places[0], yaw=yaw, pitch=pitch, roll=roll, scale=scale)
    second = one.moved(places[1], yaw=10, roll=5)
    expected = meshes.merge([first, second])
    for part in ("vertices", "faces", "normals", "uv"):
        np.testing.assert_allclose(getattr(many, part), getattr(expected, part), atol=1e-9)


@pytest.mark.parametrize("hard", [2, 3, 4, 6, 8])
def test_cushion_fills_its_box(hard):
    shape = mesh_arrays.cushion([1, -1, 2], [0.4, 0.2, 0.6], hard=hard)
    is_whole(shape)
    np.testing.assert_allclose(np.ptp(shape.vertices, axis=0), [0.4, 0.2, 0.6], rtol=1e-6)
    np.testing.assert_allclose(shape.vertices.mean(0), [1, -1, 2], atol=1e-9)
    outward = (shape.normals * (shape.vertices - [1, -1, 2])).sum(1)
    assert (outward > 0).all()


def test_lump_stands_on_the_ground_and_differs_by_seed():
    a, b = (mesh_arrays.lump(RNG(k), [1.0, 0.6, 0.8], rough=0.3) for k in (1, 2))
    is_whole(a)
    assert a.vertices[:, 1].max() <= 1e-9
    assert np.abs(a.vertices - b.vertices).max() > 0.01
    outward = (a.normals * (a.vertices - a.vertices.mean(0))).sum(1)
    assert (outward > 0).mean() > 0.9


def test_ring_is_a_torus():
    shape = mesh_arrays.ring([0, -1, 0], 0.5, 0.1)
    is_whole(shape)
    across = np.hypot(
        np.hypot(shape.vertices[:, 0], shape.vertices[:, 2]) - 0.5, shape.vertices[:, 1] + 1
    )
    np.testing.assert_allclose(across, 0.1, atol=1e-9)


def test_drape_hangs_between_its_edges():
    shape = mesh_arrays.drape(RNG(0), 1.5, 2.0, folds=5, deep=0.05)
    is_whole(shape)
    np.testing.assert_allclose([shape.vertices[:, 1].min(), shape.vertices[:, 1].max()], [-2, 0])
    assert np.ptp(shape.vertices[:, 0]) == pytest.approx(1.5)
    assert np.abs(shape.vertices[:, 2]).max() < 0.1


def test_vertex_normals_of_a_ball_point_outwards():
    points, faces = mesh_arrays._cube_sphere(8)
    normals = mesh_arrays.vertex_normals(points, faces)
    assert (normals * points).sum(1).min() > 0.99
