"""Bars as SVG text: a row per name, a bar per group, on a logarithmic scale or from a right value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.report.svg import Axis, frame, line, linear, logarithmic, rectangle, text
from sightline.ticks import tick_label

#: Size of a panel of bars, its margins, a bar and the gap between rows, in [px].
WIDTH = 360
LEFT, RIGHT, TOP, BOTTOM = 116, 58, 6, 36
BAR, GAP = 13, 7
_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """A row.

    Attributes:
        name: to the left of it.
        values: one per group; None where there is none.
        labels: one per value, what is written at its end.
        strong: whether it is the one that the others are there to be compared with.
    """

    name: str
    values: Sequence[float | None]
    labels: Sequence[str]
    strong: bool = False


def bars(
    rows: Sequence[Bar],
    *,
    label: str,
    hollow: Sequence[bool] = (False,),
    right: float | None = None,
    log: bool = True,
) -> str:
    """Draw horizontal bars.

    A logarithmic scale shows a floor of 0.01 beside an error of 3; zero has no bar there. Where no
    value is ten times another the scale is linear and begins at zero.

    Args:
        rows: from the top; values must not be negative unless `right` is given.
        label: what the values are, with their unit.
        hollow: for each group, whether its bars are hollow.
        right: the value that is right: bars grow from it to both sides, on a linear scale.
        log: whether the scale is logarithmic, where no right value is given.
    """
    values = [value for row in rows for value in row.values if value is not None]
    height = sum(len(row.values) * BAR + GAP for row in rows)
    across = _axis(values, right, log)
    base = across(right) if right is not None else across.begin
    parts = []
    for tick in across.ticks:
        parts.append(line(across(tick), TOP, across(tick), TOP + height))
        parts.append(text(across(tick), TOP + height + 13, tick_label(tick), "middle"))
    if right is not None:
        parts.append(line(base, TOP, base, TOP + height, "limit"))
    y = TOP + GAP / 2
    for row in rows:
        tall = len(row.values) * BAR
        parts.append(text(LEFT - 8, y + tall / 2 + 4, row.name, "end", "label" * row.strong))
        for value, words, empty in zip(row.values, row.labels, hollow, strict=True):
            end = base
            if value is not None and (value > 0 or not across.log):
                end = across(value)
                kind = f"bar{' strong' * row.strong}{' empty' * empty}"
                parts.append(rectangle(base, y + 1, end, y + BAR - 2, kind))
            parts.append(text(max(base, end) + 4, y + BAR - 3, words, "start", "value"))
            y += BAR
        y += GAP
    parts.append(text(LEFT, TOP + height + 29, label))
    return frame(WIDTH, TOP + height + BOTTOM, parts, label)


def _axis(values: Sequence[float], right: float | None, log: bool) -> Axis:
    end = WIDTH - RIGHT
    if right is not None:
        spread = [*values, right]
        low, high = min(spread), max(spread)
        if high - low < 0.1:  # nobody is off: a scale that does not make noise look large
            low, high = right - 0.05, right + 0.05
        return linear(low, high, LEFT, end, most=5)
    positive = [value for value in values if value > 0]
    low, high = min(positive, default=0.1), max(positive, default=1.0)
    if not log or high < 10 * low:
        return linear(0.0, high, LEFT, end, most=5)
    axis = logarithmic(low * 0.999, high, LEFT, end)
    powers = [tick for tick in axis.ticks if f"{tick:e}".startswith("1")]
    shown = powers[:: 1 if len(powers) <= _MOST_TICKS else 2]
    return Axis(axis.low, axis.high, LEFT, end, tuple(shown), log=True)
