"""Plots as SVG text, for pages that stand alone: points over a shaded region, and points in a plane.

Errors span decades, from what can just be measured to what nobody would miss, so their axis is
logarithmic. A dot may be hollow: what that means is for the caller to say. The legend lies above the
axes, never over points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sightline.report.svg import (
    Axis,
    dots,
    frame,
    legend,
    line,
    linear,
    logarithmic,
    polyline,
    rectangle,
    text,
    upward,
)
from sightline.ticks import tick_label

#: Width of a plot, height of the part with the points, and margins, in [px].
WIDTH, INNER = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 8, 42

#: More points than this are thinned evenly: a page must stay small, and more cannot be told apart.
MOST_POINTS = 2000

#: With more points than this, dots are smaller.
CROWD = 400

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Points:
    """One dot per video.

    Attributes:
        name: in the legend.
        x: (N,) values.
        y: (N,) values; pairs that are not finite are left out.
        hollow: (N,) which dots are drawn hollow.
        hollow_name: what those are, for the legend.
    """

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    hollow: NDArray[np.bool_]
    hollow_name: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line to compare points with; `kind` is a class of the stylesheet, which gives its look."""

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    kind: str


@dataclass(frozen=True, slots=True)
class Area:
    """What is shaded: spans of x, or rectangles of x and y, and holes in them.

    Attributes:
        name: in the legend.
        spans: of x, for `scatter`.
        rectangles: spans of x and of y, for `plane`.
        holes: rectangles that are cut out again.
    """

    name: str
    spans: Sequence[Span] = ()
    rectangles: Sequence[tuple[Span, Span]] = ()
    holes: Sequence[tuple[Span, Span]] = ()


def scatter(
    points: Points,
    curves: Sequence[Curve] = (),
    *,
    x_label: str,
    y_label: str,
    area: Area | None = None,
    limit: tuple[float, str] | None = None,
) -> str:
    """Draw points and curves over a logarithmic y.

    Args:
        points: with positive y; zero is drawn at the lower end.
        curves: drawn over the points.
        x_label: with its unit.
        y_label: with its unit.
        area: spans of x to shade, such as what a model was trained on.
        limit: a y to mark, and its name.
    """
    good = np.isfinite(points.x) & np.isfinite(points.y)
    shown = thinned(np.flatnonzero(good))
    if not len(shown):
        return _empty()
    spans = area.spans if area else ()
    xs = np.concatenate([points.x[good], *(curve.x for curve in curves), np.ravel(spans)])
    ys = np.concatenate([points.y[good], *(curve.y for curve in curves)])
    ys = ys[np.isfinite(ys) & (ys > 0)]
    entries = _point_entries(points, shown) + [((curve.kind,), curve.name) for curve in curves]
    if area and spans:
        entries.append((("shaded",), area.name))
    if limit:
        entries.append((("limit",), limit[1]))
    parts, top = legend(entries, LEFT, WIDTH - RIGHT)
    top += TOP
    across = linear(float(xs.min()), float(xs.max()), LEFT, WIDTH - RIGHT)
    low, high = (float(ys.min()), float(ys.max())) if len(ys) else (0.01, 1.0)
    up = logarithmic(low, max(high, limit[0] if limit else 0.0), top + INNER, top)
    for span in spans:
        parts.append(rectangle(across(span[0]), up.begin, across(span[1]), up.end, "shaded"))
    parts += axes(across, up, x_label, y_label)
    if limit and up.low < limit[0] < up.high:
        parts.append(line(LEFT, up(limit[0]), WIDTH - RIGHT, up(limit[0]), "limit"))
    places = [(across(float(points.x[k])), up(float(points.y[k]))) for k in shown]
    parts += _dots(places, points.hollow[shown], "one" + _crowd(shown))
    for curve in curves:
        path = [(across(x), up(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        parts += [polyline(path, "curve under"), polyline(path, curve.kind)]
    return frame(WIDTH, top + INNER + BOTTOM, parts, f"{y_label} against {x_label}")


def plane(
    points: Points,
    values: NDArray[np.floating],
    *,
    bounds: Sequence[float],
    unit: str,
    x_label: str,
    y_label: str,
    area: Area | None = None,
) -> str:
    """Draw points in a plane, larger and darker with their value.

    Args:
        points: where; the name is not used.
        values: (N,) that decide size and colour.
        bounds: between classes of values, at most three, ascending.
        unit: of the values.
        x_label: with its unit.
        y_label: with its unit.
        area: rectangles to shade.
    """
    good = np.isfinite(points.x) & np.isfinite(points.y) & np.isfinite(values)
    shown = thinned(np.flatnonzero(good))
    if not len(shown):
        return _empty()
    rectangles = area.rectangles if area else ()
    corners = np.array(rectangles, float).reshape(-1, 2, 2)
    xs = np.concatenate([points.x[good], corners[:, 0].ravel()])
    ys = np.concatenate([points.y[good], corners[:, 1].ravel()])
    entries: list[tuple[Sequence[str], str]] = [
        ((f"dots heat{k}",), name) for k, name in enumerate(_classes(bounds, unit))
    ]
    if points.hollow[shown].any() and points.hollow_name:
        entries.append((("dots heat2", "dots heat2 core"), points.hollow_name))
    if area and rectangles:
        entries.append((("shaded",), area.name))
    parts, top = legend(entries, LEFT, WIDTH - RIGHT)
    top += TOP
    across = linear(float(xs.min()), float(xs.max()), LEFT, WIDTH - RIGHT)
    up = linear(float(ys.min()), float(ys.max()), top + INNER, top)
    for kind, boxes in (("shaded", rectangles), ("hole", area.holes if area else ())):
        for x, y in boxes:
            parts.append(rectangle(across(x[0]), up(y[0]), across(x[1]), up(y[1]), kind))
    parts += axes(across, up, x_label, y_label)
    classes = np.searchsorted(bounds, values[shown])
    for number in range(len(bounds) + 1):  # the large ones last, on top
        chosen = shown[classes == number]
        places = [(across(float(points.x[k])), up(float(points.y[k]))) for k in chosen]
        parts += _dots(places, points.hollow[chosen], f"heat{number}" + _crowd(shown))
    return frame(WIDTH, top + INNER + BOTTOM, parts, f"{y_label} and {x_label}")


def thinned(indexes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return `MOST_POINTS` of the indexes, evenly, or all where there are fewer."""
    if len(indexes) <= MOST_POINTS:
        return indexes
    return indexes[np.linspace(0, len(indexes) - 1, MOST_POINTS).astype(int)]


def running_median(
    x: NDArray[np.floating], y: NDArray[np.floating], bins: int = 10, fewest: int = 8
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return places and medians of y over bins of x with equally many points each.

    With too few points for two bins it is one level from the first to the last.

    Args:
        x: (N,) values.
        y: (N,) values; what is not finite is left out.
        bins: at most.
        fewest: points in a bin.
    """
    good = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[good], kind="stable")
    xs, ys = x[good][order].astype(float), y[good][order].astype(float)
    count = min(bins, len(xs) // fewest)
    if count < 2:
        ends = xs[[0, -1]] if len(xs) else xs
        return ends, np.full(len(ends), np.median(ys) if len(ys) else np.nan)
    parts = np.array_split(np.arange(len(xs)), count)
    middles = np.array([np.median(xs[part]) for part in parts])
    middles[[0, -1]] = xs[[0, -1]]
    return middles, np.array([np.median(ys[part]) for part in parts])


def _point_entries(points: Points, shown: NDArray[np.intp]) -> list[tuple[Sequence[str], str]]:
    hollow = points.hollow[shown]
    entries: list[tuple[Sequence[str], str]] = []
    if not hollow.all() or not points.hollow_name:
        entries.append((("dots one",), points.name))
    if hollow.any() and points.hollow_name:
        entries.append((("dots one", "dots one core"), points.hollow_name))
    return entries


def _dots(places: Sequence[tuple[float, float]], hollow: NDArray[np.bool_], kind: str) -> list[str]:
    """Draw full dots, and hollow ones with a core in the colour of the sheet."""
    full = [place for place, empty in zip(places, hollow, strict=True) if not empty]
    rings = [place for place, empty in zip(places, hollow, strict=True) if empty]
    parts = [dots(full, f"dots {kind}")] if full else []
    if rings:
        parts += [dots(rings, f"dots {kind}"), dots(rings, f"dots {kind} core")]
    return parts


def _crowd(shown: NDArray[np.intp]) -> str:
    """Make dots smaller where there are many."""
    return " many" if len(shown) > CROWD else ""


def _classes(bounds: Sequence[float], unit: str) -> list[str]:
    """Name the classes between bounds."""
    between = [f"{low:g}–{high:g}" for low, high in pairwise(bounds)]
    return [f"≤ {bounds[0]:g}", *between, f"> {bounds[-1]:g} {unit}"]


def axes(across: Axis, up: Axis, x_label: str, y_label: str) -> list[str]:
    """Return grid, ticks and labels of a plot whose left edge is `LEFT`."""
    parts = []
    for tick in up.ticks:
        parts.append(line(LEFT, up(tick), WIDTH - RIGHT, up(tick)))
        parts.append(text(LEFT - 6, up(tick) + 4, tick_label(tick), "end"))
    for tick in across.ticks:
        parts.append(line(across(tick), up.begin, across(tick), up.begin + 4))
        parts.append(text(across(tick), up.begin + 17, tick_label(tick), "middle"))
    parts.append(text((across.begin + across.end) / 2, up.begin + 35, x_label, "middle", "label"))
    parts.append(upward(13, (up.begin + up.end) / 2, y_label))
    return parts


def _empty() -> str:
    return frame(WIDTH, 80, [text(WIDTH / 2, 44, "no figures to show", "middle")])
