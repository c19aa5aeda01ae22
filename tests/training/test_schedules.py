"""Learning rates over a run."""

import pytest

from sightline.training.schedules import cosine_rate, trapezoid_rate


def test_the_cosine_rises_and_falls():
    rates = [cosine_rate(step, 110, 10) for step in range(110)]
    assert rates[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert rates[10] == 1
    assert rates[60] == pytest.approx(0.5)
    assert 0 < rates[109] < 1e-3
    assert rates[10:] == sorted(rates[10:], reverse=True)


def test_a_run_of_one_step_has_a_rate():
    assert cosine_rate(0, 1, 0) == 1


def test_the_trapezoid_warms_up_holds_and_falls():
    rates = [trapezoid_rate(step, 100, 10, decay=0.4) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert set(rates[9:60]) == {1.0}
    assert rates[99] == pytest.approx(1 / 40)
    assert rates[60:] == sorted(rates[60:], reverse=True)
    assert trapezoid_rate(50, 100, 1, decay=1.0, power=0.9) == pytest.approx(0.5**0.9)
