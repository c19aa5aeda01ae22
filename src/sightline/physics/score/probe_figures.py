"""What a probe asks for, in a report: a table of everybody, and a plot over its parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sightline.physics.probes.parts import Cells, Probe
from sightline.physics.score.figures import Panel
from sightline.physics.score.readings import TITLES, Told, by_margin
from sightline.physics.score.run import Result
from sightline.physics.score.sample import SampleScore
from sightline.physics.score.summary import Figures
from sightline.physics.score.words import NOTHING, number, percent
from sightline.physics.score.work import MODEL
from sightline.physics.types import Doubles
from sightline.report.plots import Area, Curve, Points, running_median, scatter

# Below this, in units/s, a ball stands still, for which a logarithmic axis has no place.
_STILL = 0.01

# Points of a curve: a straight line is none on such an axis.
_STEPS = 40


def told(one: Told | None, unit: str) -> str:
    """Return a figure of a probe as text.

    >>> told(Told(0.5, 8), "units/s"), told(None, "%")
    ('0.500', '–')
    """
    if one is None:
        return NOTHING
    return percent(one.value) if unit == "%" else number(one.value)


def reading_rows(
    summaries: Mapping[str, Mapping[str, Figures]],
) -> list[tuple[str, int, list[str]]]:
    """Return title, count, and everybody's figure of all that a probe asks for."""
    tables = [table["all"].reading for table in summaries.values() if "all" in table]
    rows = []
    for name, (title, _, unit) in TITLES.items():
        found = [table.get(name) for table in tables]
        counts = [one.count for one in found if one is not None]
        if counts:
            words = f"{title}, {unit}" if unit not in ("", "%") else title
            rows.append((words, max(counts), [told(one, unit) for one in found]))
    return rows


def reading_lines(figures: Figures) -> list[str]:
    """Return the figures of a probe as lines, such as for a tile."""
    return [
        f"{TITLES[name][0]}: {told(one, TITLES[name][2])} {_unit(name)}".strip()
        for name, one in figures.reading.items()
    ]


def margin_rows(result: Result) -> list[tuple[str, int, list[str]]]:
    """Return the margin in pixels, the count of videos, and everybody's share of right outcomes."""
    return [
        (words, count, [told(one if one.count else None, "%") for one in shares])
        for words, count, shares in by_margin(result.scores)
    ]


def speed_panels(result: Result, probe: Probe | None) -> list[Panel]:
    """Plot generated against true speed, with the trained bands shaded; nothing for other probes."""
    if probe is None or not isinstance(probe.train, Cells):
        return []
    true, made = _speeds(result.scores[MODEL])
    if not np.isfinite(made).any():
        return []
    line = np.linspace(true.min(), true.max(), _STEPS)
    curves = [Curve("as it should be", line, line, "curve truth")]
    for who, scores in result.scores.items():
        if who not in (MODEL, "truth"):
            x, y = running_median(*_speeds(scores), bins=_STEPS, fewest=2)
            curves += [Curve(who, x, y, f"curve {who}")] if (y > _STILL).all() and len(x) else []
    plot = scatter(
        Points("model", true, np.maximum(np.abs(made), _STILL), made < 0, "model, the other way"),
        curves,
        x_label="true speed, units/s",
        y_label="generated speed, units/s",
        area=Area("trained on", sorted({cell.speed for cell in probe.train.cells})),
    )
    return [Panel("Generated against true speed", plot)]


def _speeds(scores: Sequence[SampleScore]) -> tuple[Doubles, Doubles]:
    """Return (N,) true and signed generated speeds in units/s; NaN where it cannot be told."""
    made = [score.reading.get("signed_speed", np.nan) for score in scores]
    return np.array([abs(score.init[1]) for score in scores]), np.array(made, np.float64)


def _unit(name: str) -> str:
    return "" if TITLES[name][2] == "%" else TITLES[name][2]
