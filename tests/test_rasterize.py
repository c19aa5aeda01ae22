"""The z-buffer against closed forms, against ray casting, and against its own promises."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.geometry import unproject
from sightline.rasterize import interpolate, nearest_faces, rasterize, turned
from sightline.types import Camera

CAMERA = Camera.from_fov(60.0, 97, 71)


def rays(camera: Camera) -> np.ndarray:
    """(H, W, 3) rays with z = 1."""
    row, column = np.mgrid[0 : camera.height, 0 : camera.width]
    pixels = np.stack([column, row, np.ones_like(row)], -1)
    return pixels @ np.linalg.inv(camera.K).T


def plane(normal, distance, reach=50.0):
    """A square on the plane normal·p = distance, as two triangles."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    side = np.linalg.svd(normal[None])[2][1:]
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ side * reach
    return corners + normal * distance, np.array([[0, 1, 2], [0, 2, 3]])


def sphere(rings: int, sectors: int):
    """Unit sphere as a closed mesh of rings and sectors."""
    theta = np.linspace(0, np.pi, rings + 1)[1:-1]
    phi = np.linspace(0, 2 * np.pi, sectors, endpoint=False)
    t, p = np.meshgrid(theta, phi, indexing="ij")
    body = np.stack([np.sin(t) * np.cos(p), np.cos(t), np.sin(t) * np.sin(p)], -1).reshape(-1, 3)
    vertices = np.concatenate([body, [[0, 1, 0], [0, -1, 0]]])
    index = np.arange((rings - 1) * sectors).reshape(rings - 1, sectors)
    a, b = index[:-1], np.roll(index, -1, 1)[:-1]
    c, d = index[1:], np.roll(index, -1, 1)[1:]
    top, bottom = len(body), len(body) + 1
    caps = [
        np.stack([np.full(sectors, top), index[0], np.roll(index[0], -1)], -1),
        np.stack([np.full(sectors, bottom), np.roll(index[-1], -1), index[-1]], -1),
    ]
    walls = [np.stack([a, c, b], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)]
    return vertices, np.concatenate(walls + caps)


@settings(deadline=None)
@given(nx=st.floats(-1, 1), ny=st.floats(-1, 1), nz=st.floats(0.05, 1), distance=st.floats(0.5, 20))
def test_plane_depth_is_the_closed_form(nx, ny, nz, distance):
    normal = np.array([nx, ny, nz]) / np.linalg.norm([nx, ny, nz])
    vertices, faces = plane(normal, distance, reach=1e4)
    raster = rasterize(vertices, faces, CAMERA)
    facing = rays(CAMERA) @ normal
    truth = distance / facing
    # Far out the square ends; next to the horizon a hair's breadth decides.
    sure = (facing > 0) & (truth < 2000) & (truth > 2e-3)
    assert raster.filled[sure].all()
    np.testing.assert_allclose(raster.depth[sure], truth[sure], rtol=1e-5)
    assert not raster.filled[facing < -1e-9].any()


def test_floor_through_the_camera_is_clipped_at_the_near_plane_not_dropped():
    # Corners behind the camera: a renderer that drops such triangles shows nothing at all.
    vertices = np.array([[-50.0, 1.0, -50.0], [50, 1, -50], [50, 1, 50], [-50, 1, 50]])
    raster = rasterize(vertices, np.array([[0, 1, 2], [0, 2, 3]]), CAMERA, near=3.0)
    r = rays(CAMERA)
    truth = np.divide(1.0, r[..., 1], out=np.zeros(r.shape[:2]), where=r[..., 1] > 0)
    inside = (truth >= 3.001) & (truth < 49)
    assert inside.sum() > 500
    np.testing.assert_allclose(raster.depth[inside], truth[inside], rtol=1e-5)
    assert not raster.filled[(truth < 2.999) | (r[..., 1] <= 0)].any()


def test_sphere_depth_is_the_closed_form():
    vertices, faces = sphere(600, 1200)
    camera = Camera.from_fov(50.0, 128, 128)
    raster = rasterize(vertices + np.array([0.2, -0.1, 4.0]), faces, camera)
    r = rays(camera)
    center = np.array([0.2, -0.1, 4.0])
    a, b, c = (r * r).sum(-1), r @ center, center @ center - 1.0
    root = b * b - a * c
    inside = root > 0.02  # away from the rim, where the facets' chord matters
    truth = (b - np.sqrt(np.clip(root, 0, None))) / a
    assert raster.filled[inside].all()
    assert not raster.filled[root < -1e-3].any()
    np.testing.assert_allclose(raster.depth[inside], truth[inside], rtol=1e-4)


def test_agrees_with_ray_casting():
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("embreex")
    rng = np.random.default_rng(3)
    vertices = rng.uniform([-3, -3, 1], [3, 3, 8], (300, 3))
    faces = np.stack([rng.choice(300, 3, replace=False) for _ in range(60)])
    raster = rasterize(vertices, faces, CAMERA)
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    r = rays(CAMERA).reshape(-1, 3)
    hit, ray, face = mesh.ray.intersects_location(np.zeros_like(r), r, multiple_hits=False)
    truth = np.zeros(len(r))
    truth[ray] = hit[:, 2]
    truth = truth.reshape(raster.depth.shape)
    ids = np.full(len(r), -1)
    ids[ray] = face
    ids = ids.reshape(raster.face.shape)
    same = ids == raster.face
    assert same.mean() > 0.998  # rays along an edge may fall on either side
    np.testing.assert_allclose(raster.depth[same], truth[same], rtol=1e-4)


@given(seed=st.integers(0, 2**32), size=st.floats(0.05, 4.0))
def test_the_lean_way_sees_the_same(seed, size):
    rng = np.random.default_rng(seed)
    middles = rng.uniform([-3, -3, -1], [3, 3, 8], (40, 1, 3))
    vertices = (middles + rng.uniform(-size, size, (40, 3, 3))).reshape(-1, 3)
    faces = np.arange(120).reshape(40, 3)
    full = rasterize(vertices, faces, CAMERA)
    nearness, face = nearest_faces(vertices, faces, CAMERA)
    np.testing.assert_array_equal(face >= 0, full.filled)
    # Two faces that cross within a pixel may come out either way by rounding.
    assert (face != full.face).sum() <= 2
    same = (face == full.face) & full.filled
    np.testing.assert_allclose(1 / nearness[same], full.depth[same], rtol=1e-6)


def test_only_what_lies_before_is_seen():
    vertices, faces = plane([0, 0, 1], 5.0)
    behind = np.zeros((CAMERA.height, CAMERA.width))
    behind[:, :40] = 1 / 3
    nearness, face = nearest_faces(vertices, faces, CAMERA, behind=behind)
    assert (face[:, :40] == -1).all()
    assert (face[:, 40:] >= 0).all()
    np.testing.assert_allclose(nearness[:, 40:], 1 / 5)
    assert (behind[:, 40:] == 0).all(), "what is handed in stays as it is"


def test_turning_points_is_a_matrix_product():
    rng = np.random.default_rng(0)
    points, matrix, shift = rng.normal(size=(50, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    np.testing.assert_allclose(turned(points, matrix, shift), points @ matrix.T + shift)
    np.testing.assert_allclose(turned(points, matrix), points @ matrix.T)


@st.composite
def flat_meshes(draw):
    """A jittered grid over the whole picture at z = 1, some corners right on pixel centers."""
    columns, rows = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = np.linspace(-8, CAMERA.width + 8, columns + 1)
    y = np.linspace(-8, CAMERA.height + 8, rows + 1)
    grid = np.stack(np.meshgrid(x, y), -1)
    # Less than a quarter of a cell: then every cell stays convex and no face folds over another.
    step = np.array([x[1] - x[0], y[1] - y[0]])
    grid[1:-1, 1:-1] += rng.uniform(-0.24, 0.24, grid[1:-1, 1:-1].shape) * step
    if draw(st.booleans()):
        grid = np.round(grid)
    index = np.arange(grid.shape[0] * grid.shape[1]).reshape(grid.shape[:2])
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    flip = rng.random(a.shape) < 0.5
    first = np.where(flip[..., None], np.stack([a, c, b], -1), np.stack([a, c, d], -1))
    second = np.where(flip[..., None], np.stack([b, c, d], -1), np.stack([a, d, b], -1))
    faces = np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])
    # The order of a face's corners must not matter.
    faces = np.stack([np.roll(f, rng.integers(3)) for f in faces])
    pixels = np.concatenate([grid.reshape(-1, 2), np.ones((grid.size // 2, 1))], -1)
    return pixels @ np.linalg.inv(CAMERA.K).T, faces


@settings(max_examples=60, deadline=None)
@given(flat_meshes())
def test_no_cracks_and_no_double_pixels(mesh):
    vertices, faces = mesh
    covered = np.zeros((CAMERA.height, CAMERA.width), int)
    for face in faces:
        covered += rasterize(vertices, face[None], CAMERA).filled
    assert covered.min() == 1, "a crack"
    assert covered.max() == 1, "a pixel that two faces claim"


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    far_out=st.sampled_from([1.0, 1e3, 1e6]),
)
def test_no_cracks_where_faces_are_clipped(seed, far_out):
    # A fan about an axis that pierces the picture; its rim lies far outside or behind the camera.
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 12)) + np.linspace(0, 1e-3, 12)
    rim = np.stack([np.cos(angle) * 3, np.sin(angle) * 3, rng.uniform(-2, 0.5, 12)], -1) * far_out
    hub = np.array([[rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), 2.0]])
    gaps = np.diff(np.append(angle, angle[0] + 2 * np.pi))
    if gaps.max() > 2.5:
        return  # then the fan does not go round the camera
    faces = np.array([[0, 1 + i, 1 + (i + 1) % 12] for i in range(12)])
    raster = rasterize(np.concatenate([hub, rim]), faces, CAMERA)
    assert raster.filled.all()


def test_barycentrics_rebuild_the_seen_point():
    rng = np.random.default_rng(1)
    vertices = rng.uniform([-3, -3, -2], [3, 3, 8], (90, 3))
    faces = np.arange(90).reshape(30, 3)
    raster = rasterize(vertices, faces, CAMERA, near=0.1)
    assert raster.filled.mean() > 0.5
    points = interpolate(raster, faces, vertices)
    expected = unproject(raster.depth, CAMERA)
    np.testing.assert_allclose(points, expected, atol=2e-4)
    assert (raster.depth[raster.filled] >= 0.1 * (1 - 1e-6)).all()
    np.testing.assert_allclose(raster.barycentric[raster.filled].sum(-1), 1, atol=1e-6)
    assert (raster.barycentric[~raster.filled] == 0).all()
    assert (raster.depth[~raster.filled] == 0).all()


def test_texture_runs_perspective_correct():
    # On a receding floor the middle of the texture is not in the middle of the picture.
    vertices = np.array([[-1.0, 1.0, 2.0], [1, 1, 2], [1, 1, 10], [-1, 1, 10]])
    along = np.array([[0.0], [0], [1], [1]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    raster = rasterize(vertices, faces, CAMERA)
    got = interpolate(raster, faces, along)[..., 0]
    seen = raster.filled
    np.testing.assert_allclose(got[seen], (raster.depth[seen] - 2) / 8, atol=1e-5)


def test_culling_keeps_the_faces_turned_to_the_camera():
    vertices, faces = sphere(12, 24)
    vertices = vertices + np.array([0.0, 0.0, 3.0])
    # One way round must show the front, the other the back.
    one = rasterize(vertices, faces, CAMERA, cull=True)
    other = rasterize(vertices, faces[:, ::-1], CAMERA, cull=True)
    both = rasterize(vertices, faces, CAMERA)
    front, back = (one, other) if one.depth.max() < other.depth.max() else (other, one)
    np.testing.assert_array_equal(front.depth, both.depth)
    assert (back.depth[back.filled] > front.depth[back.filled]).all()
    # `geometry.to_pointcloud` runs its faces counter-clockwise as the camera sees them: those stay.
    square = np.array([[-1.0, -1, 2], [-1, 1, 2], [1, -1, 2]])
    assert rasterize(square, np.array([[0, 1, 2]]), CAMERA, cull=True).filled.any()
    assert not rasterize(square, np.array([[0, 2, 1]]), CAMERA, cull=True).filled.any()


def test_threads_change_nothing():
    vertices, faces = sphere(40, 80)
    vertices = vertices + np.array([0.0, 0.0, 2.2])
    first = rasterize(vertices, faces, CAMERA)
    with ThreadPoolExecutor(4) as pool:
        others = list(pool.map(lambda _: rasterize(vertices, faces, CAMERA), range(8)))
    for other in others:
        assert first.depth.tobytes() == other.depth.tobytes()
        assert first.face.tobytes() == other.face.tobytes()
        assert first.barycentric.tobytes() == other.barycentric.tobytes()


def test_fast_enough():
    vertices, faces = sphere(83, 168)
    assert len(vertices) > 13_700
    camera = Camera.from_fov(50.0, 512, 512)
    vertices = vertices + np.array([0.0, 0.0, 2.5])
    rasterize(vertices, faces, camera)
    times = []
    for _ in range(7):
        start = time.thread_time()
        rasterize(vertices, faces, camera)
        times.append(time.thread_time() - start)
    assert min(times) < 0.015


def test_empty_and_bad_input():
    empty = rasterize(np.zeros((0, 3)), np.zeros((0, 3), int), CAMERA)
    assert not empty.filled.any()
    flat = rasterize(np.ones((3, 3)), np.array([[0, 1, 2]]), CAMERA)
    assert not flat.filled.any()
    triangle = np.eye(3) + 1
    with pytest.raises(InputError, match="outside 0–2"):
        rasterize(triangle, np.array([[0, 1, 3]]), CAMERA)
    with pytest.raises(InputError, match="finite"):
        rasterize(triangle * np.nan, np.array([[0, 1, 2]]), CAMERA)
    with pytest.raises(InputError, match="near plane"):
        rasterize(triangle, np.array([[0, 1, 2]]), CAMERA, near=0.0)
    with pytest.raises(InputError, match="F×3"):
        rasterize(triangle, np.array([[0, 1, 2, 0]]), CAMERA)
