"""Figures of all reports, drawn by matplotlib as SVG text that follows the page's light or dark mode.

Figures are drawn in the colors of `COLORS`, so the SVG is complete by itself. `themed` replaces them
by the color variables of the shared stylesheet for use inside a page. The same data give the same
text: ids derive from the content and no date is written.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Stylesheet variable → its color in light mode. Colors are distinct, so `themed` can map them back.
COLORS = {
    "ink": "#1d2024",
    "quiet": "#5d646c",
    "line": "#dfe2e4",
    "sheet": "#fffffe",
    "model": "#0067a3",
    "truth": "#00805d",
    "nearest": "#b35a00",
    "still": "#8a5a83",
    "steady": "#6b737c",
    "bar": "#aeb6bf",
    "shade": "#e5f0f7",
    "heat0": "#9ecae1",
    "heat1": "#4a98c9",
    "heat2": "#b3541e",
    "heat3": "#5c1a00",
}

#: Dashes of some curves, so that they can be told apart without color.
_DASHES = {"nearest": "-.", "still": ":", "steady": "--"}

#: Scatter plots draw at most this many points, picked evenly, to keep pages small.
MAX_POINTS = 800

#: Decades shown on a logarithmic axis at most; smaller values lie on its lower end.
MAX_DECADES = 6

#: Size of a plot and of a panel of bars in [inches at 100 dpi].
_PLOT_SIZE = (4.6, 3.4)
_BARS_WIDTH = 3.6

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scatter:
    """Points of a scatter plot, one per video.

    Attributes:
        name: legend entry.
        x: (N,) values.
        y: (N,) values; pairs that are not finite are left out.
        hollow: (N,) bool, points drawn hollow.
        hollow_name: legend entry of the hollow points.
    """

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    hollow: NDArray[np.bool_]
    hollow_name: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line drawn over the points; `color` is a key of `COLORS`."""

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    color: str


@dataclass(frozen=True, slots=True)
class ShadedRegion:
    """A shaded region.

    Attributes:
        name: legend entry.
        spans: intervals of x, for `scatter_plot`.
        rectangles: pairs of x and y intervals, for `plane_plot`.
        holes: rectangles that are not shaded.
    """

    name: str
    spans: Sequence[Span] = ()
    rectangles: Sequence[tuple[Span, Span]] = ()
    holes: Sequence[tuple[Span, Span]] = ()


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row of a bar chart.

    Attributes:
        name: label at the left.
        values: one per group; None where there is no value.
        labels: text at the end of each bar.
        highlighted: whether this is the row of interest.
    """

    name: str
    values: Sequence[float | None]
    labels: Sequence[str]
    highlighted: bool = False


def scatter_plot(
    points: Scatter,
    curves: Sequence[Curve] = (),
    *,
    x_label: str,
    y_label: str,
    region: ShadedRegion | None = None,
    limit: tuple[float, str] | None = None,
) -> str:
    """Return a scatter plot with a logarithmic y axis as SVG.

    Args:
        points: with y ≥ 0; zero is drawn at the lower end of the axis.
        curves: drawn over the points.
        x_label: label with unit.
        y_label: label with unit.
        region: spans of x to shade, such as the training range.
        limit: a y value to mark, and its name.
    """
    finite = np.isfinite(points.x) & np.isfinite(points.y)
    shown = thin(np.flatnonzero(finite))
    if not len(shown):
        return _empty_figure()
    figure, axes = _new_plot(x_label, y_label)
    ys = np.concatenate([points.y[finite], *(curve.y for curve in curves)])
    ys = ys[np.isfinite(ys) & (ys > 0)]
    low, high = (float(ys.min()), float(ys.max())) if len(ys) else (0.01, 1.0)
    bottom, top = log_limits(low, max(high, limit[0] if limit else 0.0))
    axes.set_yscale("log")
    axes.set_ylim(bottom, top)
    axes.yaxis.set_major_formatter(_plain_number)
    y = np.clip(points.y, bottom, top)
    _draw_points(axes, points, y, shown, "model")
    for curve in curves:
        path = (curve.x, np.clip(curve.y, bottom, top))
        axes.plot(*path, color=COLORS["sheet"], linewidth=3.5, zorder=4)
        dashes = _DASHES.get(curve.color, "-")
        axes.plot(
            *path, dashes, color=COLORS[curve.color], linewidth=1.8, zorder=5, label=curve.name
        )
    for number, span in enumerate(region.spans if region else ()):
        name = region.name if region and number == 0 else None
        axes.axvspan(*span, color=COLORS["shade"], linewidth=0, zorder=0, label=name)
    if limit:
        axes.axhline(limit[0], color=COLORS["quiet"], linestyle="--", linewidth=1, label=limit[1])
    return _finish(figure, axes, f"{y_label} against {x_label}")


def plane_plot(
    points: Scatter,
    values: NDArray[np.floating],
    *,
    bounds: Sequence[float],
    unit: str,
    x_label: str,
    y_label: str,
    region: ShadedRegion | None = None,
) -> str:
    """Return points in a plane, larger and darker with their value, as SVG.

    Args:
        points: positions; the name is not used.
        values: (N,) that determine size and color.
        bounds: class limits of the values, ascending, at most three.
        unit: unit of the values.
        x_label: label with unit.
        y_label: label with unit.
        region: rectangles to shade.
    """
    finite = np.isfinite(points.x) & np.isfinite(points.y) & np.isfinite(values)
    shown = thin(np.flatnonzero(finite))
    if not len(shown):
        return _empty_figure()
    figure, axes = _new_plot(x_label, y_label)
    rectangles = region.rectangles if region else ()
    holes = region.holes if region else ()
    for color, boxes, order in (("shade", rectangles, 0.1), ("sheet", holes, 0.2)):
        for number, ((x0, x1), (y0, y1)) in enumerate(boxes):
            name = region.name if region and color == "shade" and number == 0 else None
            xs, ys = [x0, x1, x1, x0], [y0, y0, y1, y1]
            axes.fill(xs, ys, color=COLORS[color], linewidth=0, zorder=order, label=name)
    classes = np.searchsorted(bounds, values)
    for number, name in enumerate(_class_names(bounds, unit)):
        chosen = shown[classes[shown] == number]  # large values last, on top
        one = Scatter(name, points.x, points.y, points.hollow, points.hollow_name)
        _draw_points(axes, one, points.y, chosen, f"heat{number}", size=9 + 5 * number)
    return _finish(figure, axes, f"{y_label} and {x_label}")


def bar_chart(
    rows: Sequence[BarRow],
    *,
    label: str,
    hollow: Sequence[bool] = (False,),
    target: float | None = None,
    log: bool = True,
) -> str:
    """Return horizontal bars as SVG.

    The scale is logarithmic where some value is ten times another; otherwise it is linear from zero.

    Args:
        rows: rows from top to bottom; values must not be negative unless `target` is given.
        label: what the values are, with unit.
        hollow: whether the bars of each group are hollow.
        target: the correct value; bars grow from it to both sides on a linear scale.
        log: allow a logarithmic scale.
    """
    count = sum(len(row.values) for row in rows)
    figure, axes = _new_figure((_BARS_WIDTH, 0.5 + 0.15 * count + 0.08 * len(rows)))
    values = [value for row in rows for value in row.values if value is not None]
    positive = [value for value in values if value > 0]
    low, high = min(positive, default=0.1), max(positive, default=1.0)
    start = 0.0 if target is None else target
    if target is not None:
        spread = max([abs(value - target) for value in values] + [0.05])
        axes.set_xlim(target - 1.05 * spread, target + 1.35 * spread)
        axes.axvline(target, color=COLORS["quiet"], linestyle="--", linewidth=1)
    elif log and high >= 10 * low:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_plain_number)
        start, top = log_limits(low * 0.999, high)
        axes.set_xlim(start, top * (top / start) ** 0.25)
    else:
        axes.set_xlim(0.0, 1.3 * high)
    places, place = [], 0.0
    for row in rows:
        places.append(place + 0.5 * (len(row.values) - 1))
        color = COLORS["model" if row.highlighted else "bar"]
        for value, text, empty in zip(row.values, row.labels, hollow, strict=True):
            end = start
            if value is not None and (value > 0 or axes.get_xscale() == "linear"):
                end = value
                face = "none" if empty else color
                axes.barh(
                    place, end - start, 0.8, left=start, facecolor=face, edgecolor=color, zorder=3
                )
            axes.annotate(
                text,
                (max(start, end), place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=COLORS["ink"],
            )
            place += 1.0
        place += 0.6
    axes.set_ylim(place - 1.1, -0.6)
    axes.set_yticks(places, [row.name for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(label)
    axes.grid(visible=False, axis="y")
    return _to_svg(figure, label)


def line_plot(curves: Sequence[Curve], *, x_label: str, y_label: str) -> str:
    """Return lines over linear axes as SVG, for example learning curves."""
    figure, axes = _new_plot(x_label, y_label)
    for curve in curves:
        axes.plot(curve.x, curve.y, color=COLORS[curve.color], linewidth=1.8, label=curve.name)
    return _finish(figure, axes, f"{y_label} against {x_label}")


def themed(svg: str, prefix: str = "") -> str:
    """Replace the light-mode colors of a figure by the stylesheet's variables.

    Args:
        svg: a figure of this module.
        prefix: put before every id, where a page may show the same figure twice.
    """
    names = {color: name for name, color in COLORS.items()}
    pattern = re.compile("|".join(names))
    svg = pattern.sub(lambda match: f"var(--{names[match[0]]})", svg)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", svg)


def standalone(svg: str) -> str:
    """Return a figure as an SVG file of its own, with a white background."""
    start = svg.index(">") + 1
    return svg[:start] + '<rect width="100%" height="100%" fill="#ffffff"/>' + svg[start:] + "\n"


def thin(indexes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return at most `MAX_POINTS` of the indexes, picked evenly."""
    if len(indexes) <= MAX_POINTS:
        return indexes
    return indexes[np.linspace(0, len(indexes) - 1, MAX_POINTS).astype(int)]


def log_limits(low: float, high: float) -> tuple[float, float]:
    """Return powers of ten around a positive range, at most `MAX_DECADES` apart.

    >>> log_limits(0.02, 30)
    (0.01, 100.0)
    """
    last = int(np.ceil(np.log10(high) - 1e-9))
    first = max(min(int(np.floor(np.log10(low) + 1e-9)), last - 1), last - MAX_DECADES)
    return 10.0**first, 10.0**last


def running_median(
    x: NDArray[np.floating], y: NDArray[np.floating], bins: int = 10, min_points: int = 8
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bin centers and medians of y over bins of x that hold equally many points.

    With too few points for two bins, the result is one level from the first to the last x.

    Args:
        x: (N,) values.
        y: (N,) values; non-finite pairs are left out.
        bins: maximum number of bins.
        min_points: minimum number of points per bin.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[finite], kind="stable")
    xs, ys = x[finite][order].astype(float), y[finite][order].astype(float)
    count = min(bins, len(xs) // min_points)
    if count < 2:
        ends = xs[[0, -1]] if len(xs) else xs
        return ends, np.full(len(ends), np.median(ys) if len(ys) else np.nan)
    parts = np.array_split(np.arange(len(xs)), count)
    centers = np.array([np.median(xs[part]) for part in parts])
    centers[[0, -1]] = xs[[0, -1]]
    return centers, np.array([np.median(ys[part]) for part in parts])


def _draw_points(
    axes: Axes,
    points: Scatter,
    y: NDArray[np.floating],
    shown: NDArray[np.intp],
    color: str,
    size: float | None = None,
) -> None:
    """Draw filled points, and hollow ones with a core in the background color."""
    size = size or (12.0 if len(shown) <= 400 else 6.0)
    hollow = points.hollow[shown]
    for empty, name in ((False, points.name), (True, points.hollow_name)):
        chosen = shown[hollow == empty]
        if not len(chosen):
            continue
        axes.scatter(
            points.x[chosen],
            y[chosen],
            s=size,
            facecolor=COLORS["sheet"] if empty else COLORS[color],
            edgecolor=COLORS[color],
            linewidth=1.0 if empty else 0.0,
            zorder=3,
            clip_on=False,
            label=name or points.name,
        )


def _plain_number(value: float, _position: float = 0.0) -> str:
    """Format a tick of a logarithmic axis without exponent.

    >>> _plain_number(0.0001), _plain_number(10.0)
    ('0.0001', '10')
    """
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _class_names(bounds: Sequence[float], unit: str) -> list[str]:
    between = [f"{low:g}–{high:g}" for low, high in pairwise(bounds)]
    return [f"≤ {bounds[0]:g}", *between, f"> {bounds[-1]:g} {unit}"]


def _new_figure(size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return an empty figure in our style, independent of matplotlib's global state."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_style()):
        figure = Figure(figsize=size, dpi=100, layout="constrained")
        axes = figure.add_subplot()
        axes.grid(visible=True)
        axes.set_axisbelow(True)
    return figure, axes


def _new_plot(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    figure, axes = _new_figure(_PLOT_SIZE)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return figure, axes


def _finish(figure: Figure, axes: Axes, title: str) -> str:
    """Add a legend above the axes, never over points, and return the SVG."""
    handles, names = axes.get_legend_handles_labels()
    unique = dict(zip(names, handles, strict=True))
    if unique:
        figure.legend(
            list(unique.values()),
            list(unique),
            loc="outside upper left",
            ncols=min(3, len(unique)),
            frameon=False,
            handlelength=1.3,
            columnspacing=1.2,
            labelcolor=COLORS["ink"],
        )
    return _to_svg(figure, title)


def _empty_figure() -> str:
    figure, axes = _new_figure((_PLOT_SIZE[0], 0.9))
    axes.set_axis_off()
    axes.text(0.5, 0.5, "no data", ha="center", va="center", color=COLORS["quiet"])
    return _to_svg(figure, "no data")


def _to_svg(figure: Figure, title: str) -> str:
    """Return the figure as an `<svg>` element with unique ids, a title and no fixed size."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(_style()):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    # Several figures share a page: only ids that are referred to stay, with a digest as prefix.
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", text)
    digest = "f" + hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{digest}-\1"', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{digest}-", text)
    head = re.search(r'viewBox="[^"]+"', text)
    assert head is not None
    start = text.index(">") + 1
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    opening = f'<svg class="plot" {spaces} {head[0]} role="img"><title>{escape(title)}</title>'
    return opening + text[start:]


def _style() -> Any:
    return {
        "svg.fonttype": "none",  # text stays text, so that it can be selected and follows the page
        "svg.hashsalt": "sightline",
        "font.size": 8,
        "font.family": "sans-serif",
        "axes.edgecolor": COLORS["line"],
        "axes.labelcolor": COLORS["ink"],
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "grid.color": COLORS["line"],
        "grid.linewidth": 0.6,
        "xtick.color": COLORS["quiet"],
        "ytick.color": COLORS["quiet"],
        "text.parse_math": False,
        "axes.formatter.useoffset": False,
    }
