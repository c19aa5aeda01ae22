from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from sightline.errors import InputError
from sightline.physics.video_metrics.fvd import frechet_distance, gaussian_distance, moments_of


def features(seed: int, count: int, size: int = 12) -> np.ndarray:
    """Correlated vectors that lie far from the origin, as those of alike videos do."""
    rng = np.random.default_rng(seed)
    return 100 + rng.normal(size=(count, size)) @ rng.normal(size=(size, size))


def test_scipy_agrees():
    one, other = features(1, 40), features(2, 55)
    covariances = [np.cov(f.T, bias=True) for f in (one, other)]
    root = sqrtm(covariances[0] @ covariances[1]).real
    expected = np.square(one.mean(0) - other.mean(0)).sum()
    expected += np.trace(covariances[0] + covariances[1] - 2 * root)
    assert frechet_distance(moments_of(one), moments_of(other)) == pytest.approx(expected, rel=1e-9)


def test_closed_form_of_round_gaussians():
    """Of spreads s and t, and centers d apart: d² + D (s − t)²."""
    zero, there = np.zeros(3), np.array([3.0, 4.0, 0.0])
    found = gaussian_distance(zero, 4 * np.eye(3), there, 9 * np.eye(3))
    assert found == pytest.approx(25 + 3 * (2 - 3) ** 2)


@pytest.mark.parametrize("count", [2, 5, 400])
def test_the_same_set_is_at_distance_zero_even_with_few_samples(count: int):
    one = moments_of(features(3, count, size=60))
    assert frechet_distance(one, one) <= 1e-10 * np.trace(one.covariance)


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 29), max_size=5, unique=True))
def test_parts_merge_to_the_whole(seed: int, cuts: list[int]):
    whole = features(seed, 30)
    parts = [moments_of(part) for part in np.split(whole, sorted(cuts))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    assert merged.count == 30
    np.testing.assert_allclose(merged.mean, whole.mean(0), rtol=1e-12)
    np.testing.assert_allclose(merged.covariance, np.cov(whole.T, bias=True), atol=1e-9)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_it_is_symmetric_and_not_negative(seed: int, other_seed: int):
    one, other = moments_of(features(seed, 8)), moments_of(features(other_seed, 8))
    there, back = frechet_distance(one, other), frechet_distance(other, one)
    assert there == pytest.approx(back, rel=1e-6, abs=1e-6)
    assert there >= 0


def test_features_without_a_set_are_refused():
    for wrong in (np.zeros(4), np.zeros((0, 4))):
        with pytest.raises(InputError, match=r"expected \(count, features\)"):
            moments_of(wrong)
