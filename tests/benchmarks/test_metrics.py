import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from sightline.benchmarks.metrics import relative_score, spearman

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_spearman_equals_scipy_with_ties(seed):
    a, b = np.random.default_rng(seed).integers(0, 9, (2, 60))
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_spearman_of_a_flat_map_is_zero():
    assert spearman(np.ones(5), np.arange(5)) == 0


@given(st.floats(0.1, 10), st.floats(-5, 5), seeds)
def test_an_affine_copy_is_perfect(scale, shift, seed):
    truth = np.random.default_rng(seed).uniform(0.1, 1, (6, 7))
    score = relative_score(scale * truth + shift, truth, np.ones((6, 7), bool))
    assert score.spearman == pytest.approx(1)
    assert score.abs_rel == pytest.approx(0, abs=1e-6)
    assert score.delta1 == 1


def test_known_errors_give_known_figures():
    # The prediction is truth but for one pixel of four, and alignment is pinned by symmetry.
    truth = np.array([[1.0, 1.0, 0.5, 0.5]])
    prediction = np.array([[1.0, 0.8, 0.5, 0.7]])
    score = relative_score(prediction, truth, np.ones((1, 4), bool))
    slope, intercept = np.polyfit(prediction[0], truth[0], 1)
    aligned = slope * prediction[0] + intercept
    assert score.abs_rel == pytest.approx(np.mean(np.abs(truth[0] / aligned - 1)))
    ratio = np.maximum(aligned / truth[0], truth[0] / aligned)
    assert score.delta1 == pytest.approx(np.mean(ratio < 1.25))


def test_a_map_turned_around_is_not_turned_back():
    truth = np.linspace(0.1, 1, 50)[None]
    score = relative_score(-truth, truth, np.ones((1, 50), bool))
    assert score.spearman == pytest.approx(-1)
    assert score.delta1 < 0.5


def test_unknown_pixels_do_not_count():
    truth = np.array([[0.5, 1.0, 0.2, np.nan]])
    known = np.array([[True, True, True, True]])
    score = relative_score(np.array([[0.5, 1.0, 0.2, 77.0]]), truth, known)
    assert score.delta1 == 1
