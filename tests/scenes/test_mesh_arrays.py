"""Many shapes at once: the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes import mesh_arrays, meshes
from sightline.scenes.mesh_arrays import polygon, surface_from_grid
from sightline.scenes.world import Light, Material, WorldBuilder, make_model


def sound(shape):
    assert np.isfinite(shape.vertices).all()
    assert np.abs(np.linalg.norm(shape.normals, axis=1) - 1).max() < 1e-9
    assert shape.faces.dtype == np.int32
    assert 0 <= shape.faces.min() <= shape.faces.max() < len(shape.vertices)
    assert shape.uv.shape == (len(shape.vertices), 2)


def areas(shape):
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


@given(st.integers(0, 1000))
def test_boxes_are_boxes(seed):
    rng = np.random.default_rng(seed)
    centers, sizes = rng.normal(size=(3, 3)), rng.uniform(0.1, 3, (3, 3))
    yaw = rng.uniform(-180, 180, 3)
    together = mesh_arrays.box_array(centers, sizes, yaw=yaw)
    sound(together)
    alone = meshes.merge(
        [meshes.box(c, s, yaw=float(t)) for c, s, t in zip(centers, sizes, yaw, strict=True)]
    )
    for points, other in ((together.vertices, alone.vertices), (alone.vertices, together.vertices)):
        gaps = np.linalg.norm(points[:, None] - other[None], axis=2).min(1)
        assert gaps.max() < 1e-9
    assert areas(together).sum() == pytest.approx(areas(alone).sum())
    assert np.ptp(together.uv[:, 0]) <= sizes.max() + 1e-9


def test_sides_leave_out_what_nobody_sees():
    lid = mesh_arrays.box_array([[0, 0, 0]], [2.0, 1.0, 3.0], sides="y")
    assert len(lid.faces) == 2
    assert (lid.vertices[:, 1] == -0.5).all(), "small y is the upper side"
    assert areas(lid).sum() == pytest.approx(6.0)
    assert len(mesh_arrays.box_array([[0, 0, 0]], 1.0, sides="xXz").faces) == 6


def test_cards_rods_and_leaves_have_the_size_asked_for():
    rng = np.random.default_rng(0)
    start, u, v = (rng.normal(size=(5, 3)) for _ in range(3))
    sheet = mesh_arrays.quads(start, u, v)
    sound(sheet)
    assert areas(sheet).sum() == pytest.approx(np.linalg.norm(np.cross(u, v), axis=1).sum())
    rod = mesh_arrays.rods(start, start + u, 0.1, 0.02, sectors=24)
    sound(rod)
    rings = rod.vertices.reshape(5, 2, 25, 3)
    assert np.linalg.norm(rings[:, 0] - start[:, None], axis=-1) == pytest.approx(0.1)
    assert np.linalg.norm(rings[:, 1] - (start + u)[:, None], axis=-1) == pytest.approx(0.02)
    along = (rod.normals.reshape(5, -1, 3) * u[:, None]).sum(-1)
    assert np.abs(along).max() < 1e-9, "a rod's normals stand across it"
    leaf = mesh_arrays.leaf_quads(start, u, 0.2, rng, np.zeros(3))
    sound(leaf)
    outward = (leaf.normals[1::4] * leaf.vertices[1::4]).sum(1)
    assert (outward > -0.3).mean() > 0.7, "a crown is lit as a whole"


@given(st.integers(0, 500), st.floats(0.2, 4))
def test_copies_are_the_shape_moved(seed, scale):
    rng = np.random.default_rng(seed)
    cone = meshes.cylinder([0, 0, 0], 0.5, 1.0, top=0.1, sectors=5)
    to, yaw = rng.normal(size=(3, 3)), rng.uniform(0, 360, 3)
    together = mesh_arrays.repeat_upright(cone, to, yaw=yaw, scale=np.full(3, scale))
    alone = meshes.merge(
        [cone.moved(p, yaw=float(t), scale=scale) for p, t in zip(to, yaw, strict=True)]
    )
    assert np.allclose(together.vertices, alone.vertices)
    assert np.allclose(together.normals, alone.normals)
    assert np.allclose(together.uv, alone.uv)
    assert np.array_equal(together.faces, alone.faces)


def test_part_of_keeps_only_what_it_needs():
    box = mesh_arrays.box_array([[0, 0, 0]], 1.0)
    keep = np.arange(12) < 4
    part = mesh_arrays.select_faces(box, keep)
    sound(part)
    assert len(part.vertices) == 8
    assert areas(part).sum() == pytest.approx(areas(box)[keep].sum())


def test_a_model_puts_every_role_where_it_belongs():
    made = make_model(
        [
            ("a", mesh_arrays.box_array([[0, -1, 0]], 1.0)),
            ("b", mesh_arrays.box_array([[2, -1, 0]], 1.0)),
            ("a", mesh_arrays.box_array([[0, -3, 0]], 1.0)),
        ]
    )
    builder = WorldBuilder()
    red, blue = Material(tint=(1, 0, 0)), Material(tint=(0, 0, 1))
    with builder.instance("car"):
        made.place(builder, {"a": red, "b": blue}, [10, 0, 0], yaw=90)
    world = builder.finish(Light())
    sound(world)
    assert [(world.material == k).sum() for k in range(2)] == [24, 12]
    blue_part = world.vertices[np.unique(world.faces[world.material == 1])]
    assert blue_part.mean(0) == pytest.approx([10, -1, -2], abs=1e-9), "+x turns to −z"


def test_skins_close_and_face_one_way():
    angle = np.linspace(0, 2 * np.pi, 17)
    rings = np.stack(
        [np.stack([r * np.cos(angle), 0 * angle - y, r * np.sin(angle)], -1)
         for r, y in ((0, 0), (1, 0.0), (1, 2.0), (0, 2.0))]
    )  # fmt: skip
    drum = surface_from_grid(rings)
    sound(drum)
    middle = drum.vertices[17:51]
    outward = (drum.normals[17:51] * (middle - [0, -1, 0])).sum(1)
    assert (outward > 0).all() or (outward < 0).all()
    sheet = polygon(np.array([[0, 0, 0], [2, 0, 0], [2, 0, 1], [0, 0, 1.0]]))
    sound(sheet)
    assert areas(sheet).sum() == pytest.approx(2.0)
