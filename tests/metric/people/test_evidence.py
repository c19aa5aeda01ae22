"""Where people stand, and when that is not known."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.metric.people.evidence import footing
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person
from sightline.types import Camera

CAMERA = Camera.from_focal(200.0, 160, 200)


def pillar(top=-0.9, bottom=0.8, depth=3.0):
    """A box of a person 3 m away, its front nearer than its back."""
    x, y, z = np.meshgrid([-0.2, 0.2], np.linspace(top, bottom, 40), [depth, depth + 0.2])
    return BodyMesh(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), np.zeros((0, 3), np.int32))


def somebody(mesh, *, visible=1.0, given=False):
    K = CAMERA.K
    u, v = (mesh.vertices @ K.T)[:, :2].T / mesh.vertices[:, 2]
    mask = np.zeros((CAMERA.height, CAMERA.width), bool)
    rows, columns = (slice(max(0, round(a.min())), round(a.max()) + 1) for a in (v, u))
    mask[rows, columns] = True
    return Person(
        np.array([u.min(), v.min(), u.max(), v.max()]),
        mask,
        1.0,
        np.zeros((33, 2)),
        np.full(33, visible),
        np.zeros((33, 3)),
        mesh if given else None,
    )


@pytest.mark.parametrize("given", [True, False])
def test_it_is_the_lowest_part(given):
    mesh = pillar()
    found = footing(mesh, somebody(mesh, given=given), CAMERA)
    assert found is not None
    assert found.depth == 3.0  # the front is lower in the picture than the back
    np.testing.assert_array_equal(np.unique(found.rows), [round(0.8 / 3.0 * 200 + 99.5)])
    assert found.columns.min() == round(-0.2 / 3 * 200 + 79.5)


def test_feet_outside_the_picture():
    mesh = pillar(bottom=1.6)
    assert footing(mesh, somebody(mesh), CAMERA) is None


def test_feet_behind_something():
    mesh = pillar()
    person = somebody(mesh)
    person.mask[140:] = False
    assert footing(mesh, person, CAMERA) is None


def test_feet_that_are_not_seen_by_their_landmarks():
    mesh = pillar()
    person = somebody(mesh)
    hidden = person.visibility.copy()
    for side in "LR":
        hidden[LANDMARKS.index(f"heel.{side}")] = 0.2
    assert footing(mesh, replace(person, visibility=hidden), CAMERA) is None
    hidden[LANDMARKS.index("heel.L")] = 0.9  # one foot is enough
    assert footing(mesh, replace(person, visibility=hidden), CAMERA) is not None
    assert footing(mesh, replace(person, visibility=np.full(33, np.nan)), CAMERA) is None


def test_a_mask_that_is_the_outline_of_the_mesh_says_nothing():
    mesh = pillar()
    assert footing(mesh, replace(somebody(mesh, given=True), outlined=True), CAMERA) is None


def test_a_body_behind_the_camera():
    mesh = pillar()
    behind = BodyMesh(mesh.vertices * [1, 1, -1], mesh.faces)
    assert footing(behind, somebody(mesh), CAMERA) is None
