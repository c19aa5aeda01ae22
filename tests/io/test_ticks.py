"""Round numbers hold the range that they are for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.io.color import DECADES, log_ticks, tick_label, ticks


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_ticks_hold_the_range(low, span):
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 12
    slack = 1e-6 * max(1.0, abs(low), span)
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack


@given(st.floats(1e-9, 1e3), st.floats(1, 1e9))
def test_logarithmic_ticks_hold_the_range_or_its_upper_decades(low, ratio):
    high = low * ratio
    found = log_ticks(low, high)
    assert found == sorted(set(found))
    assert found[-1] >= high * (1 - 1e-6)
    assert found[0] <= low * (1 + 1e-6) or found[-1] / found[0] == pytest.approx(10**DECADES)
    assert len(found) <= DECADES + 1


def test_ticks_are_written_without_exponents():
    assert tick_label(1e-6) == "0.000001"
    assert tick_label(0.0) == "0"
    assert tick_label(20.0) == "20"
