import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from sightline.benchmarks import metrics
from sightline.benchmarks.metrics import ramp_residual, spearman

seeds = st.integers(0, 2**32 - 1)
factors = st.floats(0.2, 5)


def positive(seed, count=60):
    return np.random.default_rng(seed).uniform(0.5, 20, count)


@given(seeds)
def test_spearman_equals_scipy_with_ties(seed):
    a, b = np.random.default_rng(seed).integers(0, 9, (2, 60))
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_the_residual_of_the_row_number_is_nothing():
    rows = np.repeat(np.arange(30.0), 20)
    columns = np.tile(np.arange(20.0), 30)
    truth = rows + 2 * columns
    assert ramp_residual(rows, truth, rows) == 0
    assert ramp_residual(rows**3, truth, rows) == 0
    assert ramp_residual(truth**2, truth, rows) == pytest.approx(1)
    assert ramp_residual(rows - 2 * columns, truth, rows) < -0.9
    assert np.isnan(ramp_residual(columns, rows, rows))


def test_the_residual_is_the_correlation_of_ranks_without_their_slopes():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 40, 500)
    truth = rows + rng.normal(0, 20, 500)
    prediction = truth + rng.normal(0, 10, 500)
    ranks = [rankdata(x) - 250.5 for x in (prediction, truth, rows)]
    p, t = (x - ranks[2] * (x @ ranks[2]) / (ranks[2] @ ranks[2]) for x in ranks[:2])
    expected = np.corrcoef(p, t)[0, 1]
    assert ramp_residual(prediction, truth, rows) == pytest.approx(expected, abs=1e-9)


def test_spearman_of_a_flat_map_is_zero():
    assert spearman(np.ones(5), np.arange(5)) == 0


@given(seeds)
def test_the_truth_itself_has_no_error(seed):
    truth = positive(seed)
    for error in (metrics.abs_rel, metrics.rmse, metrics.rmse_log, metrics.si_log, metrics.log10):
        assert error(truth, truth) == 0
    assert metrics.delta(truth, truth) == 1


@given(seeds, factors)
def test_a_constant_factor_gives_known_figures(seed, factor):
    truth = positive(seed)
    wrong = factor * truth
    assert metrics.abs_rel(wrong, truth) == pytest.approx(abs(factor - 1))
    assert metrics.rmse_log(wrong, truth) == pytest.approx(abs(np.log(factor)), abs=1e-9)
    assert metrics.log10(wrong, truth) == pytest.approx(abs(np.log10(factor)), abs=1e-9)
    assert metrics.rmse(wrong, truth) == pytest.approx(
        abs(factor - 1) * np.sqrt(np.mean(truth**2)), rel=1e-9
    )
    # The logarithms lose some digits where they cancel.
    assert metrics.si_log(wrong, truth) == pytest.approx(0, abs=1e-6)
    assert metrics.si_log(wrong, truth, share=0.5) == pytest.approx(
        np.sqrt(0.5) * abs(np.log(factor)), abs=1e-6
    )


@given(seeds, factors)
def test_si_log_is_the_spread_of_the_logarithms(seed, factor):
    truth = positive(seed)
    prediction = truth * np.random.default_rng(seed + 1).uniform(0.5, 2, truth.shape)
    expected = np.std(np.log(prediction / truth))
    assert metrics.si_log(prediction, truth) == pytest.approx(expected)
    assert metrics.si_log(factor * prediction, truth) == pytest.approx(expected)
    assert metrics.si_log(prediction, truth, share=0) == pytest.approx(
        metrics.rmse_log(prediction, truth)
    )


def test_ratios_are_the_same_in_depth_and_in_disparity():
    truth, prediction = positive(0), positive(1)
    for power in (1, 2, 3):
        assert metrics.delta(prediction, truth, power) == metrics.delta(
            1 / prediction, 1 / truth, power
        )
    assert metrics.rmse_log(prediction, truth) == pytest.approx(
        metrics.rmse_log(1 / prediction, 1 / truth)
    )
    assert metrics.abs_rel(prediction, truth) != pytest.approx(
        metrics.abs_rel(1 / prediction, 1 / truth)
    )


def test_delta_counts_by_powers_of_a_quarter_more():
    prediction = np.array([1.0, 1.24, 1.5, 1.9, 2.5, 1 / 1.24, 1 / 1.5])
    truth = np.ones(7)
    assert [metrics.delta(prediction, truth, n) for n in (1, 2, 3)] == [3 / 7, 5 / 7, 6 / 7]
