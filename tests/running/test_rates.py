"""Learning rates over a run."""

import pytest

from sightline.running.rates import cosine_rate


def test_rates_rise_and_fall():
    rates = [cosine_rate(step, 110, 10) for step in range(110)]
    assert rates[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert rates[10] == 1
    assert rates[60] == pytest.approx(0.5)
    assert 0 < rates[109] < 1e-3
    assert rates[10:] == sorted(rates[10:], reverse=True)


def test_a_run_of_one_step_has_a_rate():
    assert cosine_rate(0, 1, 0) == 1
