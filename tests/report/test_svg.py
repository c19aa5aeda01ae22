"""Axes hold their values, legends keep to their room, words are escaped."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.report.svg import frame, legend, linear, logarithmic, text


def test_a_logarithmic_axis_gives_equal_ratios_equal_room():
    axis = logarithmic(0.01, 10, 100, 400)
    assert [axis(value) for value in (0.01, 0.1, 1, 10)] == pytest.approx([100, 200, 300, 400])
    assert axis(0.0) == axis(1e-9) == 100


def test_an_axis_of_one_value_is_no_division_by_zero():
    assert linear(2.0, 2.0, 0, 100)(2.0) == 0
    assert 0 <= logarithmic(1.0, 1.0, 0, 100)(1.0) <= 100


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
