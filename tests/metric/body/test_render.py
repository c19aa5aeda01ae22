"""Silhouettes and pseudo ground truth."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.body.fit import fit_body
from sightline.metric.body.render import eroded, pseudo_depth, silhouette
from sightline.metric.people.types import BodyMesh
from sightline.rasterize import rasterize
from sightline.scenes import meshes
from sightline.types import Camera
from synthetic_people import draw

CAMERA = Camera.from_focal(300.0, 200, 160)


def ball(x, z, radius=0.5):
    shape = meshes.sphere([x, 0.0, z], radius)
    return BodyMesh(shape.vertices, shape.faces)


@pytest.mark.parametrize(
    "mesh", [ball(0.0, 3.0), ball(1.1, 3.0), ball(0.0, 0.3), ball(0.1, 0.58), ball(-0.4, 40.0)]
)
def test_a_silhouette_is_what_the_rasterizer_sees(mesh):
    full = rasterize(mesh.vertices, mesh.faces, CAMERA, near=0.05).depth
    np.testing.assert_allclose(silhouette(mesh, CAMERA), full, rtol=1e-6)
    assert silhouette(mesh, CAMERA).dtype == np.float32


@pytest.mark.parametrize("mesh", [ball(0.0, -2.0), ball(50.0, 3.0)])
def test_what_is_outside_is_not_seen(mesh):
    assert not silhouette(mesh, CAMERA).any()


def test_an_empty_or_broken_body_is_named():
    with pytest.raises(InputError, match="vertices"):
        silhouette(BodyMesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32)), CAMERA)
    with pytest.raises(InputError, match="finite"):
        silhouette(BodyMesh(np.full((3, 3), np.nan), np.array([[0, 1, 2]], np.int32)), CAMERA)


def test_erosion_takes_the_rim_but_not_the_picture_s():
    mask = np.zeros((7, 9), bool)
    mask[:5, 2:7] = True
    expected = np.zeros_like(mask)
    expected[:4, 3:6] = True
    np.testing.assert_array_equal(eroded(mask), expected)


def masks_of(*meshes):
    return [silhouette(mesh, CAMERA) > 0 for mesh in meshes]


def test_eq_4_each_body_only_under_its_own_mask():
    near, far = ball(-0.2, 3.0), ball(0.4, 4.0)
    masks = masks_of(near, far)
    # The far person's body is fitted too near: 2 m instead of 4.
    wrong = ball(0.2, 2.0)
    depth, who = pseudo_depth([near, wrong], masks, CAMERA)
    only_near = eroded(masks[0]) & ~masks[1]
    assert (who[only_near] == 0).all()
    np.testing.assert_allclose(depth[only_near], silhouette(near, CAMERA)[only_near])
    assert set(np.unique(who)) == {-1, 0, 1}
    assert not depth[who < 0].any()
    assert (depth[who >= 0] > 0).all()
    # The code of the paper lets the wrong body take its neighbor's pixels.
    other, taken = pseudo_depth([near, wrong], masks, CAMERA, order="nearest first")
    assert (taken[only_near] == 1).any()
    assert (other[only_near & (taken == 1)] < 2.6).all()
    assert not other[~(eroded(masks[0]) | eroded(masks[1]))].any()


def test_where_masks_overlap_the_nearest_counts():
    near, far = ball(0.0, 3.0), ball(0.0, 4.0, 1.0)
    masks = masks_of(near, far)
    for order in ("mask first", "nearest first"):
        depth, who = pseudo_depth([far, near], masks[::-1], CAMERA, order=order)
        assert (who[eroded(masks[0])] == 1).all()
        assert depth[80, 100] == pytest.approx(2.5, abs=0.01)


def test_people_and_masks_must_agree():
    with pytest.raises(InputError, match="as many masks"):
        pseudo_depth([ball(0, 3.0)], [], CAMERA)
    with pytest.raises(InputError, match="mask 0"):
        pseudo_depth([ball(0, 3.0)], [np.ones((3, 3), bool)], CAMERA)


def test_nobody_gives_nothing():
    depth, who = pseudo_depth([], [], CAMERA)
    assert not depth.any()
    assert (who == -1).all()


def test_fitted_bodies_are_taken_too():
    truth = draw(np.random.default_rng(0), numbers=[40], pose="standing")
    found = fit_body(truth.person, truth.camera)
    depth, who = pseudo_depth([found], [truth.person.mask], truth.camera)
    seen = who == 0
    assert seen.sum() > 0.5 * truth.person.mask.sum()
    assert np.median(depth[seen]) == pytest.approx(found.distance, rel=0.05)
