from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.scenes import meshes
from sightline.scenes.meshes import TriangleMesh

ANGLE = st.floats(-360, 360)
LENGTH = st.floats(0.01, 5)

SOLIDS = {
    "box": lambda: meshes.box([1, -2, 3], [0.3, 0.5, 0.7], yaw=20),
    "boxes": lambda: meshes.boxes([[0, 0, 0], [3, 0, 0]], [[1, 2, 1], [0.5, 0.5, 2]], yaw=[0, 40]),
    "cylinder": lambda: meshes.cylinder([0, 0, 0], 0.4, 1.2),
    "cone": lambda: meshes.cylinder([0, 0, 0], 0.4, 1.2, top=0.0),
    "sphere": lambda: meshes.sphere([1, 1, 1], [0.5, 0.6, 0.7]),
    "prism": lambda: meshes.extrude([[0, 0], [1, 0], [0.4, 0.8]], 0.5),
}
SHEETS = {
    "quad": lambda: meshes.quad([0, 0, 0], [2, 0, 0], [0, -1, 0.5]),
    "tube": lambda: meshes.tube([[0, 0, 0], [0, -1, 0], [0.5, -1.5, 0]], [0.1, 0.08, 0.05]),
    "ground": lambda: meshes.ground(
        np.random.default_rng(0).random((4, 5)), np.arange(5.0), np.arange(4.0)
    ),
}


def area(shape: TriangleMesh) -> float:
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def border(shape: TriangleMesh) -> int:
    """Edges that do not belong to exactly two triangles, once equal corners are one."""
    _, own = np.unique(np.round(shape.vertices, 7), axis=0, return_inverse=True)
    edges: Counter[tuple[int, int]] = Counter()
    for face in own.reshape(-1)[shape.faces]:
        if len(set(face.tolist())) == 3:
            edges.update(tuple(sorted((int(face[k]), int(face[k - 1])))) for k in range(3))
    return sum(count != 2 for count in edges.values())


@pytest.mark.parametrize("name", [*SOLIDS, *SHEETS])
def test_is_whole(name):
    shape = {**SOLIDS, **SHEETS}[name]()
    assert shape.vertices.shape == shape.normals.shape
    assert shape.uv.shape == (len(shape.vertices), 2)
    assert shape.faces.dtype == np.int32
    assert shape.faces.min() == 0
    assert shape.faces.max() == len(shape.vertices) - 1
    assert all(np.isfinite(x).all() for x in (shape.vertices, shape.normals, shape.uv))
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("name", SOLIDS)
def test_solid_is_closed(name):
    assert border(SOLIDS[name]()) == 0


@pytest.mark.parametrize("name", [*SOLIDS, "quad", "tube"])
def test_normals_stand_on_their_faces(name):
    shape = {**SOLIDS, **SHEETS}[name]()
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    size = np.linalg.norm(flat, axis=1)
    keep = size > 1e-9
    mean = shape.normals[shape.faces].mean(1)[keep]
    slant = np.abs((flat[keep] / size[keep, None] * mean).sum(1)) / np.linalg.norm(mean, axis=1)
    # A smooth bend lies within half the angle between neighbors; the tube turns by 45 degrees.
    assert slant.min() > 0.85


@given(st.tuples(LENGTH, LENGTH, LENGTH), ANGLE)
def test_box_has_its_size(size, yaw):
    shape = meshes.box([0, 0, 0], size, yaw=yaw)
    x, y, z = size
    assert area(shape) == pytest.approx(2 * (x * y + y * z + z * x))
    upright = shape.moved(yaw=-yaw).vertices
    np.testing.assert_allclose(np.ptp(upright, axis=0), size, atol=1e-9)


def test_boxes_are_boxes_side_by_side():
    centers = np.array([[0.0, 1, 2], [3, -1, 0], [5, 5, 5]])
    sizes = np.array([[1.0, 2, 3], [0.1, 0.2, 0.3], [2, 1, 0.5]])
    yaw = np.array([0.0, 33, -120])
    many = meshes.boxes(centers, sizes, yaw=yaw)
    single = meshes.merge(
        [meshes.box(c, s, yaw=float(y)) for c, s, y in zip(centers, sizes, yaw, strict=True)]
    )
    for part in ("vertices", "faces", "normals", "uv"):
        np.testing.assert_allclose(getattr(many, part), getattr(single, part), atol=1e-12)


def test_texture_runs_level_around_a_box():
    shape = meshes.box([0, 0, 0], [0.4, 2.0, 0.6])
    upright = np.abs(shape.normals[:, 1]) < 0.5
    edges = shape.uv[upright].reshape(-1, 4, 2)
    # From corner 0 to 1 only u changes, and no vertex moves up.
    heights = shape.vertices[upright].reshape(-1, 4, 3)[..., 1]
    np.testing.assert_allclose(heights[:, 0], heights[:, 1])
    np.testing.assert_allclose(edges[:, 2, 1], 2.0)


@given(ANGLE, ANGLE, ANGLE)
def test_rotation_keeps_lengths(yaw, pitch, roll):
    turn = meshes.rotation(yaw, pitch, roll)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(turn) == pytest.approx(1)


def test_directions_of_turns():
    np.testing.assert_allclose(meshes.rotation(90) @ [0, 0, 1], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(meshes.rotation(0, 90) @ [0, 0, 1], [0, -1, 0], atol=1e-12)


@settings(max_examples=30)
@given(ANGLE, st.tuples(LENGTH, LENGTH, LENGTH))
def test_moved_normals_stay_perpendicular(yaw, scale):
    shape = meshes.sphere([0, 0, 0], 1.0, sectors=32).moved([1, 2, 3], yaw=yaw, scale=scale)
    # On an ellipsoid the normal is the gradient of Σ (x/a)².
    local = (shape.vertices - [1, 2, 3]) @ meshes.rotation(yaw)
    gradient = local / np.square(scale) @ meshes.rotation(yaw).T
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    np.testing.assert_allclose((gradient * shape.normals).sum(1), 1, atol=1e-6)


@given(LENGTH, LENGTH)
def test_cylinder_touches_its_foot_and_top(radius, height):
    shape = meshes.cylinder([1, -1, 2], radius, height, sectors=12)
    assert shape.vertices[:, 1].max() == pytest.approx(-1)
    assert shape.vertices[:, 1].min() == pytest.approx(-1 - height)
    around = np.hypot(shape.vertices[:, 0] - 1, shape.vertices[:, 2] - 2)
    assert around.max() == pytest.approx(radius)


def test_lathe_is_smooth_where_it_bends_little_and_sharp_where_much():
    shape = meshes.lathe([[1.0, 0.0], [1.05, 1.0], [1.0, 2.0], [0.0, 2.0]], sectors=8)
    height = -shape.vertices[:, 1]
    at_bend = shape.normals[np.abs(height - 1) < 1e-9]
    np.testing.assert_allclose(at_bend[:, 1], 0, atol=1e-9)
    rim = shape.normals[(np.abs(height - 2) < 1e-9) & (np.abs(shape.vertices[:, 0] - 1) < 1e-9)]
    assert {round(abs(float(y))) for y in rim[:, 1]} == {0, 1}


def test_a_point_given_twice_has_a_normal_all_the_same():
    shape = meshes.lathe([[0, 0], [1, 0], [1, 0], [0, 2], [0, 2]])
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1)


def test_tube_keeps_its_radius():
    path = np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 3]])
    shape = meshes.tube(path, [0.1, 0.2, 0.3], sectors=6)
    np.testing.assert_allclose(
        np.hypot(shape.vertices[:, 0], shape.vertices[:, 1]), np.repeat([0.1, 0.2, 0.3], 7)
    )
    assert shape.uv[:, 1].max() == pytest.approx(3)


def test_prism_area():
    shape = meshes.extrude([[0, 0], [2, 0], [2, 1], [0, 1]], 3.0)
    assert area(shape) == pytest.approx(2 * 2 + 2 * 3 * (2 + 1))


def test_merge_keeps_everything():
    parts = [make() for make in SOLIDS.values()]
    whole = meshes.merge(parts)
    assert len(whole.faces) == sum(len(p.faces) for p in parts)
    assert area(whole) == pytest.approx(sum(area(p) for p in parts))


def test_ground_slope():
    x, z = np.linspace(-2, 2, 9), np.linspace(0, 3, 7)
    gx, _ = np.meshgrid(x, z)
    shape = meshes.ground(0.5 * gx, x, z)
    expected = np.array([-0.5, -1, 0]) / np.hypot(0.5, 1)
    np.testing.assert_allclose(shape.normals, np.tile(expected, (63, 1)), atol=1e-9)
