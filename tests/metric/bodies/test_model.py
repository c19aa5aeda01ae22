"""The body model: its space, its landmarks, and how it bends."""

import numpy as np
import pytest

from sightline.metric.bodies.kinematics import PARENT, changes, rig, skin, stand
from sightline.metric.bodies.landmarks import PLACES, landmarks_of, regression
from sightline.metric.bodies.limits import limits, strain
from sightline.metric.bodies.rotations import to_matrix, to_vector
from sightline.metric.bodies.space import WAYS, Space, body_space, points_of
from sightline.metric.people.types import LANDMARKS
from sightline.scenes import bodies
from sightline.scenes.bodies import JOINTS
from sightline.scenes.figures import bend
from sightline.scenes.poses import POSES, draw_pose

MIRRORED = [
    LANDMARKS.index(name.replace(".L", ".?").replace(".R", ".L").replace(".?", ".R"))
    for name in LANDMARKS
]


def exact_space(body):
    """A space of one body, without any other shape."""
    points = points_of(body)
    return Space(points, np.zeros((WAYS, *points.shape)), {})


def figure_points(figure):
    points = np.concatenate([figure.vertices, figure.landmarks, figure.joints])
    return (points - figure.joints[0]) / figure.body.height


def test_the_space_holds_the_bodies_it_is_learnt_from():
    space = body_space()
    for number in range(0, bodies.count(), 7):
        points = points_of(bodies.body(number))
        rows = space.ways.reshape(WAYS, -1)
        own = np.linalg.lstsq(rows.T, (points - space.mean).ravel(), rcond=None)[0]
        off = np.linalg.norm(space.shape(own) - points, axis=1)
        assert 1.7 * np.sqrt((off**2).mean()) < 0.015
        assert 1.7 * off[space.joints].max() < 0.02


def test_a_body_one_stature_tall():
    space = body_space()
    for group in space.groups.values():
        y = space.shape(group.mean)[space.vertices, 1]
        assert np.ptp(y) == pytest.approx(1.0, abs=0.01)


def test_children_have_larger_heads_than_adults():
    space = body_space()
    marks = {name: landmarks_of(space.shape(g.mean)) for name, g in space.groups.items()}
    ears = [LANDMARKS.index("ear.L"), LANDMARKS.index("ear.R")]
    width = {name: np.linalg.norm(np.subtract(*m[ears])) for name, m in marks.items()}
    assert width["child"] > 1.1 * max(width["man"], width["woman"])
    shoulders = [LANDMARKS.index("shoulder.L"), LANDMARKS.index("shoulder.R")]
    wide = {name: np.linalg.norm(np.subtract(*m[shoulders])) for name, m in marks.items()}
    assert wide["man"] > wide["woman"]


def test_every_landmark_has_a_place_and_follows_the_body():
    assert {name.partition(".")[0] for name in LANDMARKS} == set(PLACES)
    found = regression()
    np.testing.assert_allclose(found.weight.sum(1), 1.0, atol=1e-9)
    assert np.abs(found.weight).max() <= 1.0 + 1e-9
    assert (found.tolerance * 1.7 < 0.03).all()


def test_landmarks_lie_where_their_names_say():
    body = bodies.body(40)
    points = points_of(body)
    marks = dict(zip(LANDMARKS, landmarks_of(points) * 1.7, strict=True))
    joint = dict(zip(JOINTS, points[-len(JOINTS) :] * 1.7, strict=True))
    for name, bone in (("elbow", "forearm"), ("knee", "shin"), ("ankle", "foot"), ("hip", "thigh")):
        for side in "LR":
            assert np.linalg.norm(marks[f"{name}.{side}"] - joint[f"{bone}.{side}"]) < 0.035
    for side, sign in (("L", -1), ("R", 1)):
        assert sign * marks[f"ear.{side}"][0] > sign * marks[f"eye_outer.{side}"][0] > 0
        assert sign * marks[f"eye_outer.{side}"][0] > sign * marks[f"eye_inner.{side}"][0] > 0
        assert marks[f"toe.{side}"][2] > marks[f"heel.{side}"][2] + 0.15
        assert marks[f"mouth.{side}"][1] > marks["nose"][1] > marks[f"eye_middle.{side}"][1]
    assert marks["nose"][2] > marks["mouth.L"][2] > marks["ear.L"][2]


def test_landmarks_are_the_same_on_both_sides():
    space = body_space()
    flipped = landmarks_of(space.mean) * [-1, 1, 1]
    np.testing.assert_allclose(flipped[MIRRORED], landmarks_of(space.mean), atol=1.5e-3)


@pytest.mark.parametrize("pose", sorted(POSES))
def test_bending_agrees_with_the_scenes(pose):
    rng = np.random.default_rng(3)
    body = bodies.body(int(rng.integers(bodies.count())))
    figure = bend(body, draw_pose(rng, pose))
    bends = np.array(
        [
            figure.turns[0] if not j else figure.turns[PARENT[j]].T @ figure.turns[j]
            for j in range(21)
        ]
    )
    space = exact_space(body)
    stance = stand(rig(space), bends, np.zeros(WAYS))
    points = figure_points(figure)
    np.testing.assert_allclose(stance.joints, points[space.joints], atol=1e-9)
    np.testing.assert_allclose(
        skin(space, stance, np.zeros(WAYS)), points[space.vertices], atol=1e-9
    )
    # Landmarks ride on one bone; the skin they are made of blends several, but not by much.
    off = np.linalg.norm(stance.landmarks - landmarks_of(points), axis=1)
    assert 1.7 * off.max() < 0.025
    assert 1.7 * np.median(off) < 0.006


def test_landmarks_move_as_foretold():
    rng = np.random.default_rng(0)
    own = rig(body_space())
    bends, shape = to_matrix(rng.normal(0, 0.7, (len(JOINTS), 3))), rng.normal(size=WAYS)
    by_turn, by_shape = changes(own, stand(own, bends, shape))
    step = 1e-6
    for joint, axis in ((0, 1), (3, 0), (7, 2), (13, 1), (20, 0)):
        turned = bends.copy()
        turned[joint] = bends[joint] @ to_matrix(step * np.eye(3)[axis])
        moved = stand(own, turned, shape).landmarks - stand(own, bends, shape).landmarks
        np.testing.assert_allclose(moved / step, by_turn[:, :, joint, axis], atol=1e-5)
    for way in range(WAYS):
        other = shape + step * np.eye(WAYS)[way]
        moved = stand(own, bends, other).landmarks - stand(own, bends, shape).landmarks
        np.testing.assert_allclose(moved / step, by_shape[:, :, way], atol=1e-5)


def test_poses_of_the_scenes_are_possible():
    rng = np.random.default_rng(0)
    worst = []
    for name in sorted(POSES):
        figure = bend(bodies.body(35), draw_pose(rng, name))
        local = [figure.turns[PARENT[j]].T @ figure.turns[j] for j in range(1, 21)]
        worst.append(float(np.abs(strain(to_vector(np.array(local)))[0][0]).max()))
    assert np.median(worst) < 4.0


def test_limits_mirror_and_stop():
    known = limits()
    names = list(JOINTS)[1:]
    left, right = names.index("arm.L"), names.index("arm.R")
    np.testing.assert_allclose(known.mean[left], known.mean[right] * [1, -1, -1])
    bends = np.zeros((len(names), 3))
    knee = names.index("shin.R")
    bends[knee, 0] = np.radians(40)  # forward: no knee does that
    assert strain(bends)[0][1, knee, 0] > 5
    bends[knee, 0] = np.radians(-100)
    assert strain(bends)[0][1, knee, 0] == 0
