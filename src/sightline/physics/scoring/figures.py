"""Plots of a report: error against speed and radius, parameter planes, laws as bars, and probes.

The training region is shaded: a union of boxes of radii and speeds, with holes. A preset is one box; a
probe has a box for each of its cells, or holes where pairs of speeds were removed. Where color or
shape decide what was trained, there is no region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws import LAWS
from sightline.physics.probes.parts import Cells, Plane, Probe
from sightline.physics.scoring.labels import (
    HEADLINE,
    NOTHING,
    law_title,
    number,
    percent,
    probe_in,
    right_value,
    unit_of,
)
from sightline.physics.scoring.run import MODEL, PhysicsReport
from sightline.physics.scoring.sample import SampleScore
from sightline.physics.scoring.summary import TITLES, BucketSummary, ProbeFigure, by_margin
from sightline.physics.types import Doubles
from sightline.physics.worlds.splits import SCENARIOS, Interval, ranges
from sightline.reports.figures import (
    BarRow,
    Curve,
    Scatter,
    ShadedRegion,
    bar_chart,
    plane_plot,
    running_median,
    scatter_plot,
)

#: An interval for each parameter: r, v; or r1, r2, v1, v2.
Box = tuple[Interval, ...]

# Values that went through a file as 32-bit floats must not fall out of a closed range.
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Region:
    """Boxes of parameters, and holes in them.

    Attributes:
        boxes: one interval per parameter; at least one box.
        holes: likewise; an interval of the whole line where a hole does not depend on a parameter.
    """

    boxes: tuple[Box, ...]
    holes: tuple[Box, ...] = ()

    def spans(self, axis: int) -> list[Interval]:
        """Return the values of a parameter that occur, as intervals that do not touch."""
        merged: list[Interval] = []
        for low, high in sorted({box[axis] for box in self.boxes}):
            if merged and low <= merged[-1][1] + _SLACK:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return merged

    def rectangles(self, x: int, y: int) -> list[tuple[Interval, Interval]]:
        """Return the boxes as they lie in the plane of two parameters."""
        return sorted({(box[x], box[y]) for box in self.boxes})

    def holes_in(self, x: int, y: int) -> list[tuple[Interval, Interval]]:
        """Return the holes that are holes in a plane whatever the other parameters are."""
        return [
            (hole[x], hole[y])
            for hole in self.holes
            if all(np.isinf(hole[k]).all() for k in range(len(hole)) if k not in (x, y))
        ]

    def outside_elsewhere(self, init: Doubles, axes: Sequence[int]) -> NDArray[np.bool_]:
        """Return which of (M, parameters) are outside in a parameter other than the axes.

        A dot of theirs may lie on shaded ground and is out of the training region all the same.
        """
        outside = np.zeros(len(init), np.bool_)
        for axis in range(len(self.boxes[0])):
            if axis not in axes:
                inside = np.zeros(len(init), np.bool_)
                for low, high in self.spans(axis):
                    inside |= (init[:, axis] >= low - _SLACK) & (init[:, axis] <= high + _SLACK)
                outside |= ~inside
        return outside


def training_region(scenario: str, preset: str, probe: Probe | None = None) -> Region | None:
    """Return what was trained on: by a probe, or by a preset of ranges; None where it is no region.

    Args:
        scenario: of the data set.
        preset: of ranges.
        probe: that the data set is the test part of.
    """
    if scenario not in SCENARIOS:
        return None
    known = ranges(scenario, preset)
    if probe is None:
        balls = 2 if scenario == "collision" else 1
        return Region(((known.radius,) * balls + (known.speed,) * balls,))
    if isinstance(probe.train, Cells) and probe.attributes is None:
        return Region(tuple((cell.radius, cell.speed) for cell in probe.train.cells))
    if isinstance(probe.train, Plane):
        radii = (ranges("collision").radius,) * 2
        anything = ((-np.inf, np.inf),) * 2
        return Region(
            tuple((*radii, *speeds) for speeds in probe.train.inside),
            tuple((*anything, *speeds) for speeds in probe.train.outside),
        )
    return None


def parameters(init: Sequence[Sequence[float]], scenario: str) -> Doubles:
    """Return (M, 2) r and v, or (M, 4) r1, r2, v1 and v2 of two balls; speeds without a sign."""
    balls = 2 if scenario == "collision" else 1
    table = np.array([row[: 2 * balls] for row in init], float).reshape(-1, 2 * balls)
    table[:, balls:] = np.abs(table[:, balls:])
    return table


#: Bounds between the classes of velocity errors in planes, in units/s; the second is the tolerance.
CLASSES = (0.05, 0.2, 1.0)

_TOLERANCE = next(law.tolerance for law in LAWS if law.name == HEADLINE)
_ERROR = "velocity error, units/s"
_TRAINED = "trained on"
#: Colors of the baselines, keys of `reports.figures.COLORS`.
BASELINE_COLORS = {
    "truth": "truth",
    "nearest-case": "nearest",
    "copy-last": "still",
    "constant-velocity": "steady",
}
#: Parameters by number of balls: name for an axis.
_AXES = {
    1: ("radius, units", "speed, units/s"),
    2: (
        "radius of ball 1, units",
        "radius of ball 2, units",
        "speed of ball 1, units/s",
        "speed of ball 2, units/s",
    ),
}


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """A plot with its title and note.

    Attributes:
        title: of the panel.
        plot: SVG text.
        note: a line below the title, or empty.
    """

    title: str
    plot: str
    note: str = ""


def region_of(result: PhysicsReport) -> Region | None:
    """Return the training region of a result: its probe's, or that of its preset of ranges."""
    origin = result.provenance
    return training_region(result.scenario, str(origin.get("ranges", "")), probe_in(origin))


def region_plots(result: PhysicsReport) -> list[PlotPanel]:
    """Plot the error against speed and radius, and in the planes of both, with the training region.

    A hollow dot is out of the training region in a parameter that its plot does not show.
    """
    scores = result.scores[MODEL]
    if result.scenario not in SCENARIOS or not scores:
        return []
    region = region_of(result)
    init = parameters([score.init for score in scores], result.scenario)
    axes = _AXES[init.shape[1] // 2]
    balls = len(axes) // 2
    panels = [
        PlotPanel(f"Error against {_bare(axes[axis])}", _against(result, region, init, axis))
        for axis in (balls, 0)
    ]
    pairs = ((0, 1),) if balls == 1 else ((2, 3), (0, 1))
    for x, y in pairs:
        title = f"Error by {_bare(axes[x])} and {_bare(axes[y])}"
        panels.append(PlotPanel(title, _plane(scores, region, init, (x, y))))
    return panels


def _against(result: PhysicsReport, region: Region | None, init: Doubles, axis: int) -> str:
    """Plot the model's errors as dots, and the running medians of the baselines as lines."""
    balls = init.shape[1] // 2
    names = _AXES[balls]
    points = Scatter(
        "model",
        init[:, axis],
        _errors(result.scores[MODEL]),
        _hollow(region, init, (axis,)),
        f"model, out in {_others(axis, balls)}",
    )
    curves = [
        Curve(who, *running_median(init[:, axis], _errors(scores)), BASELINE_COLORS[who])
        for who, scores in result.scores.items()
        if who != MODEL
    ]
    return scatter_plot(
        points,
        [curve for curve in curves if len(curve.x)],
        x_label=names[axis],
        y_label=_ERROR,
        region=ShadedRegion(_TRAINED, region.spans(axis)) if region else None,
        limit=(_TOLERANCE, "tolerance"),
    )


def _plane(
    scores: Sequence[SampleScore], region: Region | None, init: Doubles, axes: tuple[int, int]
) -> str:
    names = _AXES[init.shape[1] // 2]
    x, y = axes
    hidden = "a speed" if x == 0 else "a radius"
    points = Scatter("", init[:, x], init[:, y], _hollow(region, init, axes), f"out in {hidden}")
    shaded = (
        ShadedRegion(_TRAINED, (), region.rectangles(x, y), region.holes_in(x, y))
        if region
        else None
    )
    return plane_plot(
        points,
        _errors(scores),
        bounds=CLASSES,
        unit="units/s",
        x_label=names[x],
        y_label=names[y],
        region=shaded,
    )


def law_bars(
    summaries: Mapping[str, Mapping[str, BucketSummary]],
    buckets: Sequence[str],
    laws: Sequence[str],
    scenario: str,
) -> list[PlotPanel]:
    """Draw each law: the model beside the baselines; bars of what is out of distribution are hollow.

    Laws that nobody has anything but zero for are left out.
    """
    hollow = hollow_groups(buckets)
    panels = []
    for law in laws:
        rows = [
            _row(who, [table[bucket].laws.get(law) for bucket in buckets])
            for who, table in summaries.items()
        ]
        right = right_value(law, scenario)
        if right is None and not any(value for row in rows for value in row.values):
            continue
        unit = unit_of(law) or ("ratio" if right is not None else "share")
        label = f"{unit}; the line: {right:g}, as it should be" if right is not None else unit
        shares = [summaries[MODEL][bucket].laws[law].violated for bucket in buckets]
        note = "violated in " + " and ".join(percent(share) for share in shares)
        plot = bar_chart(rows, label=label, hollow=hollow, target=right, log=unit != "frames")
        panels.append(PlotPanel(law_title(law), plot, note))
    return panels


def picture_bars(
    summaries: Mapping[str, Mapping[str, BucketSummary]], buckets: Sequence[str]
) -> list[PlotPanel]:
    """Draw the picture metrics that several predictors have."""
    hollow = hollow_groups(buckets)
    panels = []
    for name in summaries[MODEL][buckets[0]].pictures:
        rows = []
        for who, table in summaries.items():
            found = [table[bucket].pictures.get(name) for bucket in buckets]
            values = [one if isinstance(one, float) and np.isfinite(one) else None for one in found]
            if any(value is not None for value in values):
                rows.append(BarRow(who, values, [number(one) for one in values], who == MODEL))
        if len(rows) > 1:
            better = "lower" if name == "lpips" else "higher"
            unit = "dB, " if name == "psnr" else ""
            plot = bar_chart(rows, label=f"{unit}{better} is nearer", hollow=hollow, log=False)
            panels.append(PlotPanel(name.upper(), plot))
    return panels


def hollow_groups(buckets: Sequence[str]) -> list[bool]:
    """Return which bars are hollow: those of the second bucket."""
    return [number > 0 for number in range(len(buckets))]


def _row(who: str, means: Sequence[object]) -> BarRow:
    values = [getattr(mean, "value", None) for mean in means]
    labels = [number(getattr(m, "value", None), getattr(m, "error", None)) for m in means]
    return BarRow(who, values, labels, who == MODEL)


def _errors(scores: Sequence[SampleScore]) -> Doubles:
    found = [score.values.get(HEADLINE) for score in scores]
    return np.array([np.nan if value is None else value for value in found], float)


def _hollow(
    region: Region | None, init: Doubles, axes: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    if region is None:
        return np.zeros(len(init), np.bool_)
    return region.outside_elsewhere(init, axes)


def _others(axis: int, balls: int) -> str:
    """Name the parameter that a plot does not show."""
    if balls > 1:
        return "another parameter"
    return "speed" if axis == 0 else "radius"


def _bare(axis: str) -> str:
    """Return the name of an axis without its unit."""
    return axis.partition(",")[0]


# Below this, in units/s, a ball stands still, for which a logarithmic axis has no place.
_STILL = 0.01

# Points of a curve: a straight line is none on such an axis.
_STEPS = 40


def told(one: ProbeFigure | None, unit: str) -> str:
    """Return a figure of a probe as text.

    >>> told(ProbeFigure(0.5, 8), "units/s"), told(None, "%")
    ('0.500', '–')
    """
    if one is None:
        return NOTHING
    return percent(one.value) if unit == "%" else number(one.value)


def reading_rows(
    summaries: Mapping[str, Mapping[str, BucketSummary]],
) -> list[tuple[str, int, list[str]]]:
    """Return title, count and the values of all predictors for each probe reading."""
    tables = [table["all"].reading for table in summaries.values() if "all" in table]
    rows = []
    for name, (title, _, unit) in TITLES.items():
        found = [table.get(name) for table in tables]
        counts = [one.count for one in found if one is not None]
        if counts:
            words = f"{title}, {unit}" if unit not in ("", "%") else title
            rows.append((words, max(counts), [told(one, unit) for one in found]))
    return rows


def reading_lines(figures: BucketSummary) -> list[str]:
    """Return the figures of a probe as lines, such as for a tile."""
    return [
        f"{TITLES[name][0]}: {told(one, TITLES[name][2])} {_unit(name)}".strip()
        for name, one in figures.reading.items()
    ]


def margin_rows(result: PhysicsReport) -> list[tuple[str, int, list[str]]]:
    """Return margin in pixels, count, and the share of right outcomes of all predictors."""
    return [
        (words, count, [told(one if one.count else None, "%") for one in shares])
        for words, count, shares in by_margin(result.scores)
    ]


def speed_panels(result: PhysicsReport, probe: Probe | None) -> list[PlotPanel]:
    """Plot generated against true speed, with the trained bands shaded; nothing for other probes."""
    if probe is None or not isinstance(probe.train, Cells):
        return []
    true, made = _speeds(result.scores[MODEL])
    if not np.isfinite(made).any():
        return []
    line = np.linspace(true.min(), true.max(), _STEPS)
    curves = [Curve("as it should be", line, line, "truth")]
    for who, scores in result.scores.items():
        if who not in (MODEL, "truth"):
            x, y = running_median(*_speeds(scores), bins=_STEPS, min_points=2)
            curves += (
                [Curve(who, x, y, BASELINE_COLORS[who])] if (y > _STILL).all() and len(x) else []
            )
    plot = scatter_plot(
        Scatter("model", true, np.maximum(np.abs(made), _STILL), made < 0, "model, the other way"),
        curves,
        x_label="true speed, units/s",
        y_label="generated speed, units/s",
        region=ShadedRegion("trained on", sorted({cell.speed for cell in probe.train.cells})),
    )
    return [PlotPanel("Generated against true speed", plot)]


def _speeds(scores: Sequence[SampleScore]) -> tuple[Doubles, Doubles]:
    """Return (N,) true and signed generated speeds in units/s; NaN where unknown."""
    made = [score.reading.get("signed_speed", np.nan) for score in scores]
    return np.array([abs(score.init[1]) for score in scores]), np.array(made, np.float64)


def _unit(name: str) -> str:
    return "" if TITLES[name][2] == "%" else TITLES[name][2]
