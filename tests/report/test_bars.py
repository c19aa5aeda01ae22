"""Bars are as long as their values say."""

from xml.etree import ElementTree as ET

import pytest

from sightline.report.bars import LEFT, RIGHT, WIDTH, Bar, bars


def one(name, *values, strong=False):
    return Bar(name, values, ["–" if value is None else f"{value:g}" for value in values], strong)


def rectangles(text):
    return [
        (float(box.get("x")), float(box.get("width")), box.get("class"))
        for box in ET.fromstring(text).iter("rect")
    ]


def test_bars_grow_with_the_logarithm_where_values_differ_tenfold():
    text = bars([one("a", 0.01), one("b", 0.1), one("c", 1.0), one("d", None)], label="error")
    widths = [width for _, width, _ in rectangles(text)]
    assert len(widths) == 3
    assert widths[1] - widths[0] == pytest.approx(widths[2] - widths[1], abs=0.2)
    assert widths[0] > 0
    assert "–" in text


def test_bars_grow_with_the_value_where_they_do_not_and_nothing_has_no_bar_on_a_log_scale():
    widths = [width for _, width, _ in rectangles(bars([one("a", 1.0), one("b", 2.0)], label="x"))]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.2)
    text = bars([one("a", 0.0), one("b", 0.001), one("c", 2.0)], label="x")
    assert len(rectangles(text)) == 2


def test_bars_grow_to_both_sides_of_the_right_value():
    low, high = rectangles(bars([one("a", -1.0), one("b", 1.5)], label="x", right=1.0))
    assert low[0] + low[1] == pytest.approx(high[0], abs=0.2)
    assert low[1] == pytest.approx(4 * high[1], abs=0.4)


def test_noise_around_the_right_value_is_not_made_large():
    text = bars([one("a", 0.0001), one("b", -0.0001)], label="x", right=0.0)
    assert all(width < 1 for _, width, _ in rectangles(text))


def test_groups_are_told_apart_and_the_model_from_the_others():
    rows = [one("model", 1.0, 2.0, strong=True), one("truth", 1.0, 2.0)]
    kinds = [kind for _, _, kind in rectangles(bars(rows, label="x", hollow=(False, True)))]
    assert kinds == ["bar strong", "bar strong empty", "bar", "bar empty"]


def test_everything_stays_in_the_picture():
    text = bars([one("<&", 1e-5), one("b", 1e4)], label="<")
    assert all(LEFT <= x <= x + width <= WIDTH - RIGHT + 0.1 for x, width, _ in rectangles(text))
    ET.fromstring(bars([one("a", None)], label="x"))
    ET.fromstring(bars([one("a", 0.0)], label="x"))
