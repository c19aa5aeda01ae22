"""Rotations: there and back, small changes, and the shortest way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sightline.metric.body.rotations import (
    cross_matrix,
    inverse_right_jacobian,
    kabsch,
    rotation_matrix,
    rotation_vector,
    smallest_rotation,
)

numbers = st.floats(-3, 3)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 0.1)


@given(vectors)
def test_matrices_agree_with_scipy_and_come_back(vector):
    turn = rotation_matrix(vector)
    np.testing.assert_allclose(turn, Rotation.from_rotvec(vector).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(rotation_matrix(rotation_vector(turn)), turn, atol=1e-9)
    assert np.linalg.norm(rotation_vector(turn)) <= np.pi + 1e-9


@pytest.mark.parametrize("axis", np.eye(3))
@pytest.mark.parametrize("angle", [0.0, 1e-10, 1e-5, np.pi - 1e-7, np.pi])
def test_no_turn_and_half_a_turn_are_no_trouble(axis, angle):
    np.testing.assert_allclose(
        np.abs(rotation_vector(rotation_matrix(angle * axis))), angle * axis, atol=1e-8
    )


@given(directions.filter(lambda v: np.linalg.norm(v) < 3.0), vectors)
def test_vectors_change_as_foretold(vector, step):
    small = 1e-6 * step
    moved = rotation_vector(rotation_matrix(vector) @ rotation_matrix(small))
    np.testing.assert_allclose(moved - vector, inverse_right_jacobian(vector) @ small, atol=2e-9)


@given(directions, directions)
def test_the_shortest_turn_gets_there_and_is_shortest(start, end):
    turn = smallest_rotation(start, end)
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    np.testing.assert_allclose(turn @ a, b, atol=2e-2 if a @ b < -0.999 else 1e-9)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)
    angle = np.linalg.norm(rotation_vector(turn))
    assert angle == pytest.approx(np.arccos(np.clip(a @ b, -1, 1)), abs=2e-2)


@given(vectors, st.integers(0, 1000))
def test_the_best_turn_is_found_and_never_a_mirror(vector, seed):
    points = np.random.default_rng(seed).normal(size=(6, 3))
    turn = rotation_matrix(vector)
    np.testing.assert_allclose(kabsch(points, points @ turn.T), turn, atol=1e-8)
    assert np.linalg.det(kabsch(points, points * [1, 1, -1])) == pytest.approx(1.0)


@given(vectors, vectors)
def test_cross_products_as_matrices(a, b):
    np.testing.assert_allclose(cross_matrix(a) @ b, np.cross(a, b), atol=1e-12)
