"""Axes hold their values, legends keep to their room, words are escaped."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.report.svg import (
    DECADES,
    frame,
    legend,
    linear,
    log_ticks,
    logarithmic,
    text,
    tick_label,
    ticks,
)


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


def test_a_logarithmic_axis_gives_equal_ratios_equal_room():
    axis = logarithmic(0.01, 10, 100, 400)
    assert [axis(value) for value in (0.01, 0.1, 1, 10)] == pytest.approx([100, 200, 300, 400])
    assert axis(0.0) == axis(1e-9) == 100


def test_an_axis_of_one_value_is_no_division_by_zero():
    assert linear(2.0, 2.0, 0, 100)(2.0) == 0
    assert 0 <= logarithmic(1.0, 1.0, 0, 100)(1.0) <= 100


def test_ticks_are_written_without_exponents():
    assert tick_label(1e-6) == "0.000001"
    assert tick_label(0.0) == "0"
    assert tick_label(20.0) == "20"


@given(st.lists(st.text("abcdef ", min_size=1, max_size=30), min_size=1, max_size=9))
def test_a_legend_stays_between_its_borders(names):
    parts, height = legend([(("dots one",), name) for name in names], 50, 450)
    words = [ET.fromstring(part) for part in parts if part.startswith("<text")]
    assert [word.text for word in words] == names
    places = [(float(word.get("y")), float(word.get("x"))) for word in words]
    assert places == sorted(places)
    assert all(x + 5 * len(name) < 450 for (_, x), name in zip(places, names, strict=True))
    assert all(y < height for y, _ in places)


def test_words_are_escaped():
    drawing = frame(10, 10, [text(0, 0, "<b>&")], "<i>")
    assert [one.text for one in ET.fromstring(drawing)] == ["<i>", "<b>&"]
