"""The body model: its space, its landmarks, and how it bends."""

import numpy as np
import pytest

from sightline.metric.body.model import (
    COMPONENTS,
    PARENT,
    PLACES,
    ShapeSpace,
    body_space,
    landmark_jacobians,
    landmarks_of,
    points_of,
    pose_skeleton,
    regression,
    skeleton,
    skin,
)
from sightline.metric.body.problem import joint_limits, joint_residuals
from sightline.metric.body.rotations import rotation_matrix, rotation_vector
from sightline.metric.people.types import LANDMARKS
from sightline.scenes.people import bodies
from sightline.scenes.people.bodies import JOINTS
from sightline.scenes.people.poses import POSES, pose_body, sample_pose

MIRRORED = [
    LANDMARKS.index(name.replace(".L", ".?").replace(".R", ".L").replace(".?", ".R"))
    for name in LANDMARKS
]


def exact_space(body):
    """A space of one body, without any other shape."""
    points = points_of(body)
    return ShapeSpace(points, np.zeros((COMPONENTS, *points.shape)), {})


def figure_points(figure):
    points = np.concatenate([figure.vertices, figure.landmarks, figure.joints])
    return (points - figure.joints[0]) / figure.body.height


def test_the_space_holds_the_bodies_it_is_learned_from():
    space = body_space()
    for number in range(0, bodies.body_count(), 7):
        points = points_of(bodies.load_body(number))
        rows = space.components.reshape(COMPONENTS, -1)
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
    body = bodies.load_body(40)
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
    body = bodies.load_body(int(rng.integers(bodies.body_count())))
    figure = pose_body(body, sample_pose(rng, pose))
    bends = np.array(
        [
            figure.turns[0] if not j else figure.turns[PARENT[j]].T @ figure.turns[j]
            for j in range(21)
        ]
    )
    space = exact_space(body)
    stance = pose_skeleton(skeleton(space), bends, np.zeros(COMPONENTS))
    points = figure_points(figure)
    np.testing.assert_allclose(stance.joints, points[space.joints], atol=1e-9)
    np.testing.assert_allclose(
        skin(space, stance, np.zeros(COMPONENTS)), points[space.vertices], atol=1e-9
    )
    # Landmarks ride on one bone; the skin they are made of blends several, but not by much.
    off = np.linalg.norm(stance.landmarks - landmarks_of(points), axis=1)
    assert 1.7 * off.max() < 0.025
    assert 1.7 * np.median(off) < 0.006


def test_landmarks_move_as_foretold():
    rng = np.random.default_rng(0)
    own = skeleton(body_space())
    bends, shape = (
        rotation_matrix(rng.normal(0, 0.7, (len(JOINTS), 3))),
        rng.normal(size=COMPONENTS),
    )
    by_turn, by_shape = landmark_jacobians(own, pose_skeleton(own, bends, shape))
    step = 1e-6
    for joint, axis in ((0, 1), (3, 0), (7, 2), (13, 1), (20, 0)):
        turned = bends.copy()
        turned[joint] = bends[joint] @ rotation_matrix(step * np.eye(3)[axis])
        moved = (
            pose_skeleton(own, turned, shape).landmarks - pose_skeleton(own, bends, shape).landmarks
        )
        np.testing.assert_allclose(moved / step, by_turn[:, :, joint, axis], atol=1e-5)
    for way in range(COMPONENTS):
        other = shape + step * np.eye(COMPONENTS)[way]
        moved = (
            pose_skeleton(own, bends, other).landmarks - pose_skeleton(own, bends, shape).landmarks
        )
        np.testing.assert_allclose(moved / step, by_shape[:, :, way], atol=1e-5)


def test_poses_of_the_scenes_are_possible():
    rng = np.random.default_rng(0)
    worst = []
    for name in sorted(POSES):
        figure = pose_body(bodies.load_body(35), sample_pose(rng, name))
        local = [figure.turns[PARENT[j]].T @ figure.turns[j] for j in range(1, 21)]
        worst.append(float(np.abs(joint_residuals(rotation_vector(np.array(local)))[0][0]).max()))
    assert np.median(worst) < 4.0


def test_limits_mirror_and_stop():
    known = joint_limits()
    names = list(JOINTS)[1:]
    left, right = names.index("arm.L"), names.index("arm.R")
    np.testing.assert_allclose(known.mean[left], known.mean[right] * [1, -1, -1])
    bends = np.zeros((len(names), 3))
    knee = names.index("shin.R")
    bends[knee, 0] = np.radians(40)  # forward: no knee does that
    assert joint_residuals(bends)[0][1, knee, 0] > 5
    bends[knee, 0] = np.radians(-100)
    assert joint_residuals(bends)[0][1, knee, 0] == 0
