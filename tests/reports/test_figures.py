"""Figures are valid SVG, deterministic, themed, and show every label."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sightline.reports.figures import (
    COLORS,
    MAX_POINTS,
    BarRow,
    Curve,
    Scatter,
    ShadedRegion,
    bar_chart,
    line_plot,
    log_limits,
    plane_plot,
    running_median,
    scatter_plot,
    standalone,
    themed,
)

SVG = "{http://www.w3.org/2000/svg}"


def points(x, y, hollow=None, name="model", hollow_name="elsewhere"):
    x, y = np.array(x, float), np.array(y, float)
    hollow = np.zeros(len(x), bool) if hollow is None else np.array(hollow)
    return Scatter(name, x, y, hollow, hollow_name)


def texts(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]


def marks(svg):
    """Positions of the drawn scatter points, without that of the legend."""
    found = [
        (float(one.get("x")), float(one.get("y")))
        for one in ET.fromstring(svg).iter(f"{SVG}use")
        if COLORS["model"] in one.get("style", "")
    ]
    return [place for place in found if place[1] > min(y for _, y in found)]


def scatter(x=(1, 2), y=(0.1, 1.0), **more):
    return scatter_plot(points(x, y), x_label="x", y_label="y", **more)


def test_the_same_data_give_the_same_text():
    assert scatter() == scatter()


def test_two_figures_of_one_page_share_no_id():
    ids = re.findall(r'id="([^"]+)"', scatter() + scatter((1, 3), (0.1, 1.0)))
    assert len(ids) == len(set(ids))


def test_references_inside_a_figure_resolve():
    svg = scatter()
    ids = set(re.findall(r'id="([^"]+)"', svg))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg)) <= ids


def test_a_themed_figure_has_no_fixed_color_of_ours():
    svg = themed(scatter(region=ShadedRegion("trained on", [(1, 2)])))
    assert not any(color in svg for color in COLORS.values())
    assert "var(--model)" in svg
    assert "var(--shade)" in svg
    ET.fromstring(svg)


def test_a_standalone_figure_is_a_file():
    root = ET.fromstring(standalone(scatter()))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}rect").get("fill") == "#ffffff"


def test_equal_ratios_take_equal_room_on_the_error_axis():
    found = sorted(y for _, y in marks(scatter((1, 2, 3), (0.01, 0.1, 1.0))))
    assert found[1] - found[0] == pytest.approx(found[2] - found[1], abs=0.1)
    assert {"0.01", "0.1", "1"} <= set(texts(scatter((1, 2, 3), (0.01, 0.1, 1.0))))


def test_an_error_of_zero_lies_at_the_lower_end():
    found = marks(scatter((1, 2, 3), (0.0, 0.1, 1.0)))
    assert found[0][1] == max(y for _, y in found)
    ET.fromstring(scatter((1, 2), (0.0, 0.0)))


def test_legend_names_curves_region_limit_and_hollow_points_only_where_they_exist():
    curve = Curve("truth", np.array([1.0, 2.0]), np.array([0.1, 0.2]), "truth")
    svg = scatter_plot(
        points((1, 2), (1, 2), (True, False)),
        [curve],
        x_label="x",
        y_label="y",
        region=ShadedRegion("trained on", [(1, 2), (3, 4)]),
        limit=(0.2, "allowed"),
    )
    assert {"model", "elsewhere", "truth", "trained on", "allowed"} <= set(texts(svg))
    assert texts(svg).count("trained on") == 1
    assert "elsewhere" not in texts(scatter())


def test_non_finite_points_are_left_out_and_many_are_thinned():
    x = np.linspace(0, 1, 3 * MAX_POINTS)
    y = x + 0.1
    y[5] = np.nan
    assert len(marks(scatter(x, y))) == MAX_POINTS


def test_no_points_give_a_figure_that_says_so():
    assert "no data" in texts(scatter((), ()))
    assert "no data" in texts(scatter((1.0,), (np.nan,)))


def test_the_plane_names_its_classes():
    svg = plane_plot(
        points((0, 3, 4, 6), (0, 3, 4, 6)),
        np.array([0.01, 0.1, 0.5, 5.0]),
        bounds=(0.05, 0.2, 1.0),
        unit="units/s",
        x_label="x",
        y_label="y",
        region=ShadedRegion("trained on", (), [((1, 4), (1, 4))], [((2, 3), (2, 3))]),
    )
    assert {"≤ 0.05", "0.05–0.2", "0.2–1", "> 1 units/s", "trained on"} <= set(texts(svg))


def row(name, *values, highlighted=False):
    labels = ["–" if value is None else f"{value:g}" for value in values]
    return BarRow(name, values, labels, highlighted)


def widths(svg, color):
    """Widths of the bars of one color, filled or outlined."""
    found = []
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        style = path.get("style") or ""
        if COLORS[color] in style and path.get("d", "").rstrip().endswith("z"):
            xs = [float(x) for x in re.findall(r"[ML] ([-\d.]+)", path.get("d"))]
            found.append(max(xs) - min(xs))
    return found


def test_bars_grow_with_the_logarithm_where_values_differ_tenfold():
    found = widths(
        bar_chart([row("a", 0.01), row("b", 0.1), row("c", 1.0), row("d", None)], label="error"),
        "bar",
    )
    assert len(found) == 3
    assert found[1] - found[0] == pytest.approx(found[2] - found[1], abs=0.2)


def test_bars_grow_with_the_value_otherwise():
    found = widths(bar_chart([row("a", 1.0), row("b", 2.0)], label="x"), "bar")
    assert found[1] == pytest.approx(2 * found[0], abs=0.2)


def test_bars_grow_from_the_target_to_both_sides():
    low, high = widths(bar_chart([row("a", -1.0), row("b", 1.5)], label="x", target=1.0), "bar")
    assert low == pytest.approx(4 * high, abs=0.4)


def test_noise_around_the_target_is_not_made_large():
    found = widths(bar_chart([row("a", 0.0001), row("b", -0.0001)], label="x", target=0.0), "bar")
    assert all(width < 1 for width in found)


def test_the_model_is_told_apart_and_labels_are_escaped():
    svg = bar_chart(
        [row("<&", 1.0, 2.0, highlighted=True), row("truth", 1.0, None)],
        label="<unit>",
        hollow=(False, True),
    )
    assert len(widths(svg, "model")) == 2
    assert {"<&", "truth", "<unit>", "–"} <= set(texts(svg))


def test_lines_have_a_legend():
    curve = Curve("small", np.array([0.0, 1.0]), np.array([0.8, 0.9]), "model")
    assert {"small", "samples", "Spearman"} <= set(
        texts(line_plot([curve], x_label="samples", y_label="Spearman"))
    )


def test_log_limits_span_at_least_one_and_at_most_six_decades():
    assert log_limits(1.0, 1.0) == (0.1, 1.0)
    low, high = log_limits(1e-12, 10.0)
    assert high / low == pytest.approx(1e6)


def test_a_running_median_follows_its_points():
    x = np.linspace(0, 10, 200)
    centers, medians = running_median(x[::-1], 2 * x[::-1])
    assert (centers[0], centers[-1]) == (0, 10)
    np.testing.assert_allclose(medians[1:-1], 2 * centers[1:-1], atol=0.1)


def test_few_points_have_one_median():
    centers, medians = running_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, np.nan]))
    assert centers.tolist() == [1.0, 3.0]
    assert medians.tolist() == [3.0, 3.0]
    assert len(running_median(np.array([]), np.array([]))[0]) == 0
