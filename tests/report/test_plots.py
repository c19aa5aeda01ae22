"""Plots are well-formed, points lie where they should, and nothing lies over them."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sightline.report.plots import (
    CROWD,
    INNER,
    LEFT,
    MOST_POINTS,
    RIGHT,
    WIDTH,
    Area,
    Curve,
    Points,
    plane,
    running_median,
    scatter,
)


def points(x, y, hollow=None, name="model", hollow_name="elsewhere"):
    x, y = np.array(x, float), np.array(y, float)
    hollow = np.zeros(len(x), bool) if hollow is None else np.array(hollow)
    return Points(name, x, y, hollow, hollow_name)


def parse(text):
    """Split a plot into dots by class, rectangles by class, and labels."""
    dots, boxes, words = {}, {}, []
    for one in ET.fromstring(text).iter():
        kind = one.get("class") or ""
        if kind.startswith("dots"):
            found = re.findall(r"M([-\d.]+) ([-\d.]+)h0", one.get("d"))
            dots.setdefault(kind, []).extend((float(x), float(y)) for x, y in found)
        elif one.tag == "rect":
            corner = [float(one.get(name)) for name in ("x", "y", "width", "height")]
            boxes.setdefault(kind, []).append(corner)
        elif one.tag == "text":
            words.append((one.text, float(one.get("y") or "nan")))
    return dots, boxes, words


def drawn(text, x=(1, 2), y=(0.1, 1.0), **more):
    return text(points(x, y), x_label="x", y_label="y", **more)


def test_corners_of_the_data_are_corners_of_the_plot():
    dots, _, words = parse(drawn(scatter, (0, 6), (0.01, 10)))
    (x1, y1), (x2, y2) = dots["dots one"][1:]  # the first is the legend's
    assert (x1, x2) == (LEFT, WIDTH - RIGHT)
    assert y1 - y2 == pytest.approx(INNER, abs=0.2)
    assert {"0.01", "0.1", "1", "10"} <= {word for word, _ in words}


def test_the_legend_lies_above_all_points():
    rng = np.random.default_rng(0)
    curves = [Curve(f"a long name {k}", np.array([0, 1.0]), np.ones(2), "c") for k in range(6)]
    model = points(rng.uniform(0, 1, 50), rng.uniform(0.1, 9, 50), rng.uniform(size=50) > 0.5)
    text = scatter(model, curves, x_label="x", y_label="y", area=Area("trained on", [(0, 1)]))
    dots, _, words = parse(text)
    names = {"model", "elsewhere", "trained on", *(curve.name for curve in curves)}
    lowest = max(y for word, y in words if word in names)
    highest = min(y for x, y in dots["dots one"][2:])
    assert names <= {word for word, _ in words}
    assert lowest + 4 < highest


def test_the_shaded_spans_are_where_they_should_be():
    area = Area("trained on", [(1, 2), (4, 5)])
    _, boxes, _ = parse(drawn(scatter, (0, 6), (1, 2), area=area))
    step = (WIDTH - RIGHT - LEFT) / 6
    found = [(x, width) for x, _, width, height in boxes["shaded"] if height > 20]
    np.testing.assert_allclose(found, [(LEFT + step, step), (LEFT + 4 * step, step)], atol=0.2)


def test_rectangles_and_holes_lie_in_the_plane():
    area = Area("t", (), [((1, 4), (1, 4))], [((2, 3), (2, 3))])
    text = plane(
        points((0, 6), (0, 6)),
        np.array([0.01, 5.0]),
        bounds=(0.05, 0.2, 1.0),
        unit="units/s",
        x_label="x",
        y_label="y",
        area=area,
    )
    dots, boxes, words = parse(text)
    outer = next(box for box in boxes["shaded"] if box[3] > 20)
    (hole,) = boxes["hole"]
    assert hole[2] == pytest.approx(outer[2] / 3, abs=0.2)
    assert hole[0] - outer[0] == pytest.approx(outer[2] / 3, abs=0.2)
    assert hole[1] - outer[1] == pytest.approx(outer[3] / 3, abs=0.2)
    assert len(dots["dots heat0"]) == len(dots["dots heat3"]) == 2
    assert {"≤ 0.05", "0.05–0.2", "0.2–1", "> 1 units/s"} <= {word for word, _ in words}


def test_hollow_dots_are_told_in_the_legend_only_where_there_are_any():
    both = parse(scatter(points((1, 2), (1, 2), (True, False)), x_label="x", y_label="y"))
    assert len(both[0]["dots one core"]) == 2  # one, and the legend's
    assert "elsewhere" in {word for word, _ in both[2]}
    none = parse(drawn(scatter))
    assert "dots one core" not in none[0]
    assert "elsewhere" not in {word for word, _ in none[2]}


def test_what_is_not_finite_is_left_out_and_too_much_is_thinned():
    x = np.linspace(0, 1, 3 * MOST_POINTS)
    y = x + 0.1
    y[5] = np.nan
    dots, _, _ = parse(drawn(scatter, x, y))
    assert len(dots["dots one many"]) == MOST_POINTS
    few, _, _ = parse(drawn(scatter, x[:CROWD], y[:CROWD]))
    assert "dots one many" not in few


def test_an_error_of_zero_lies_at_the_lower_end():
    dots, _, _ = parse(drawn(scatter, (1, 2, 3), (0.0, 0.1, 1.0)))
    assert dots["dots one"][1][1] == max(y for _, y in dots["dots one"])
    ET.fromstring(drawn(scatter, (1, 2), (0.0, 0.0)))


def test_names_are_escaped_and_empty_plots_say_so():
    one = points([1.0], [1.0], name="<b>&")
    area = Area('"<', [(0, 1)])
    ET.fromstring(scatter(one, x_label="<", y_label="&", area=area, limit=(0.2, "<")))
    assert "no figures" in drawn(scatter, (), ())
    assert "no figures" in drawn(scatter, (1.0,), (np.nan,))


def test_a_running_median_follows_its_points():
    x = np.linspace(0, 10, 200)
    places, medians = running_median(x[::-1], 2 * x[::-1])
    assert (places[0], places[-1]) == (0, 10)
    np.testing.assert_allclose(medians[1:-1], 2 * places[1:-1], atol=0.1)


def test_few_points_have_one_median():
    places, medians = running_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, np.nan]))
    assert places.tolist() == [1.0, 3.0]
    assert medians.tolist() == [3.0, 3.0]
    assert len(running_median(np.array([]), np.array([]))[0]) == 0
