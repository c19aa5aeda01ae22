import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_fit import LAMBDA_PRINTED, LOSSES, log_mse, silog


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_the_loss(name):
    rng = np.random.default_rng(1)
    predicted, target = rng.uniform(0.2, 2.0, (2, 12))
    _, slope = LOSSES[name](predicted, target)
    for index in range(12):
        step = np.zeros(12)
        step[index] = 1e-6
        high, low = (
            LOSSES[name](predicted + step, target)[0],
            LOSSES[name](predicted - step, target)[0],
        )
        assert slope[index] == pytest.approx((high - low) / 2e-6, rel=1e-4, abs=1e-7)


@given(factor=st.floats(0.1, 10.0))
def test_silog_of_a_common_factor(factor):
    target = np.linspace(0.2, 1.0, 20)
    off = np.log(factor)
    assert silog(factor * target, target, 1.0)[0] == pytest.approx(0.0, abs=1e-4)
    for weight in (LAMBDA_PRINTED, 0.85):
        expected = 10 * abs(off) * np.sqrt(1 - weight)
        assert silog(factor * target, target, weight)[0] == pytest.approx(
            expected, rel=1e-4, abs=1e-4
        )


def test_the_code_s_form_is_the_paper_s_with_085():
    rng = np.random.default_rng(2)
    predicted, target = rng.uniform(0.2, 2.0, (2, 50))
    g = np.log(predicted) - np.log(target)
    assert silog(predicted, target)[0] == pytest.approx(
        10 * np.sqrt(g.var() + 0.15 * g.mean() ** 2), rel=1e-5
    )


def test_silog_without_forgiveness_is_log_mse():
    predicted, target = np.array([1.0, 2.0]), np.array([1.5, 1.8])
    assert (silog(predicted, target, 0.0)[0] / 10) ** 2 == pytest.approx(
        log_mse(predicted, target)[0]
    )
