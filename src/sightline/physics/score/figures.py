"""Plots of a score: error against speed and radius, the planes of parameters, and bars law by law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.physics.laws import LAWS
from sightline.physics.score.region import Region, parameters, training_region
from sightline.physics.score.run import Result
from sightline.physics.score.sample import SampleScore
from sightline.physics.score.summary import Figures
from sightline.physics.score.words import (
    HEADLINE,
    law_title,
    number,
    percent,
    probe_in,
    right_value,
    unit_of,
)
from sightline.physics.score.work import MODEL
from sightline.physics.types import Doubles
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.report.bars import Bar, bars
from sightline.report.plots import Area, Curve, Points, plane, running_median, scatter

#: Bounds between the classes of velocity errors in planes, in units/s; the second is the tolerance.
CLASSES = (0.05, 0.2, 1.0)

_TOLERANCE = next(law.tolerance for law in LAWS if law.name == HEADLINE)
_ERROR = "velocity error, units/s"
_TRAINED = "trained on"
#: Parameters by number of balls: name for an axis.
_AXES = {
    1: ("radius, units", "speed, units/s"),
    2: (
        *("radius of ball 1, units", "radius of ball 2, units"),
        *("speed of ball 1, units/s", "speed of ball 2, units/s"),
    ),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot with what stands above it.

    Attributes:
        title: of the panel.
        plot: SVG text.
        note: a line below the title, or empty.
    """

    title: str
    plot: str
    note: str = ""


def region_of(result: Result) -> Region | None:
    """Return the training region of a result: its probe's, or that of its preset of ranges."""
    origin = result.provenance
    return training_region(result.scenario, str(origin.get("ranges", "")), probe_in(origin))


def region_plots(result: Result) -> list[Panel]:
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
        Panel(f"Error against {_bare(axes[axis])}", _against(result, region, init, axis))
        for axis in (balls, 0)
    ]
    pairs = ((0, 1),) if balls == 1 else ((2, 3), (0, 1))
    for x, y in pairs:
        title = f"Error by {_bare(axes[x])} and {_bare(axes[y])}"
        panels.append(Panel(title, _plane(scores, region, init, (x, y))))
    return panels


def _against(result: Result, region: Region | None, init: Doubles, axis: int) -> str:
    """Plot the model's errors as dots, and the running medians of the yardsticks as lines."""
    balls = init.shape[1] // 2
    names = _AXES[balls]
    points = Points(
        "model",
        init[:, axis],
        _errors(result.scores[MODEL]),
        _hollow(region, init, (axis,)),
        f"model, out in {_others(axis, balls)}",
    )
    curves = [
        Curve(who, *running_median(init[:, axis], _errors(scores)), f"curve {who}")
        for who, scores in result.scores.items()
        if who != MODEL
    ]
    return scatter(
        points,
        [curve for curve in curves if len(curve.x)],
        x_label=names[axis],
        y_label=_ERROR,
        area=Area(_TRAINED, region.spans(axis)) if region else None,
        limit=(_TOLERANCE, "tolerance"),
    )


def _plane(
    scores: Sequence[SampleScore], region: Region | None, init: Doubles, axes: tuple[int, int]
) -> str:
    names = _AXES[init.shape[1] // 2]
    x, y = axes
    hidden = "a speed" if x == 0 else "a radius"
    points = Points("", init[:, x], init[:, y], _hollow(region, init, axes), f"out in {hidden}")
    area = Area(_TRAINED, (), region.rectangles(x, y), region.holes_in(x, y)) if region else None
    return plane(
        points,
        _errors(scores),
        bounds=CLASSES,
        unit="units/s",
        x_label=names[x],
        y_label=names[y],
        area=area,
    )


def law_bars(
    summaries: Mapping[str, Mapping[str, Figures]],
    buckets: Sequence[str],
    laws: Sequence[str],
    scenario: str,
) -> list[Panel]:
    """Draw each law: the model beside the yardsticks; bars of what is out of distribution are hollow.

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
        plot = bars(rows, label=label, hollow=hollow, right=right, log=unit != "frames")
        panels.append(Panel(law_title(law), plot, note))
    return panels


def picture_bars(
    summaries: Mapping[str, Mapping[str, Figures]], buckets: Sequence[str]
) -> list[Panel]:
    """Draw picture metrics that somebody else has too: without one beside it a bar says nothing."""
    hollow = hollow_groups(buckets)
    panels = []
    for name in summaries[MODEL][buckets[0]].pictures:
        rows = []
        for who, table in summaries.items():
            found = [table[bucket].pictures.get(name) for bucket in buckets]
            values = [one if isinstance(one, float) and np.isfinite(one) else None for one in found]
            if any(value is not None for value in values):
                rows.append(Bar(who, values, [number(one) for one in values], who == MODEL))
        if len(rows) > 1:
            better = "lower" if name == "lpips" else "higher"
            unit = "dB, " if name == "psnr" else ""
            plot = bars(rows, label=f"{unit}{better} is nearer", hollow=hollow, log=False)
            panels.append(Panel(name.upper(), plot))
    return panels


def hollow_groups(buckets: Sequence[str]) -> list[bool]:
    """Say which bars are hollow: those of the second of two buckets."""
    return [number > 0 for number in range(len(buckets))]


def _row(who: str, means: Sequence[object]) -> Bar:
    values = [getattr(mean, "value", None) for mean in means]
    labels = [number(getattr(m, "value", None), getattr(m, "error", None)) for m in means]
    return Bar(who, values, labels, who == MODEL)


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
    """Say what a plot against one parameter does not show."""
    if balls > 1:
        return "another parameter"
    return "speed" if axis == 0 else "radius"


def _bare(axis: str) -> str:
    """Return the name of an axis without its unit."""
    return axis.partition(",")[0]
