"""A benchmark's report as plain text, Markdown and JSON; each carries the protocol line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.benchmarks.bootstrap import Interval
from sightline.benchmarks.run import BenchmarkReport, Figures, ItemScore

#: Figure, heading, and digits after the point.
COLUMNS = (
    ("accuracy", "accuracy", 4),
    ("spearman", "Spearman", 3),
    ("residual", "residual", 3),
    ("abs_rel", "AbsRel", 3),
    ("delta1", "δ1", 3),
    ("delta2", "δ2", 3),
    ("delta3", "δ3", 3),
    ("rmse", "RMSE", 3),
    ("rmse_log", "RMSElog", 3),
    ("si_log", "SIlog", 3),
    ("log10", "log10", 3),
    ("boundary_f1", "F1", 3),
    ("wide_f1", "F1 wide", 3),
)

OVERALL = "overall"
SPREAD = "± (95 %)"


def table(report: BenchmarkReport) -> list[list[str]]:
    """Return the table as rows of text: heading, sets, overall, and half the overall's interval."""
    shown = [column for column in COLUMNS if column[0] in report.overall]
    counted = "pairs" if report.benchmark.average == "pairs" else "pictures"
    rows = [["set", counted, *(heading for _, heading, _ in shown)]]

    def row(name: str, samples: Sequence[ItemScore], figures: Figures) -> list[str]:
        count = sum(one.weight for one in samples)
        return [name, f"{count}", *(number(figures[key], digits) for key, _, digits in shown)]

    groups, means = report.groups, report.rows
    if len(groups) > 1:
        rows += [row(name, groups[name], means[name]) for name in groups]
    ends = report.intervals()
    spread = [number(_half(ends[key]), digits) for key, _, digits in shown]
    return [*rows, row(OVERALL, report.scored, report.overall), [SPREAD, "", *spread]]


def _half(found: Interval) -> float:
    return (found.high - found.low) / 2


def number(value: float, digits: int = 3) -> str:
    """Format a figure; a dash where it is not defined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def as_text(report: BenchmarkReport) -> str:
    """Return aligned columns, then the protocol line."""
    rows = table(report)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, report.line]) + "\n"


def as_markdown(report: BenchmarkReport) -> str:
    """Return a Markdown table under the protocol line."""
    heading, *rows = table(report)
    lines = [f"{report.line}.", "", _markdown_row(heading), "|---|" + "---:|" * (len(heading) - 1)]
    lines += [
        _markdown_row([f"**{row[0]}**" if row[0] == OVERALL else row[0], *row[1:]]) for row in rows
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def as_json(report: BenchmarkReport) -> str:
    """Return everything, every sample included; figures that are not defined are null."""
    return json.dumps(to_dict(report), indent=1, ensure_ascii=False) + "\n"


def to_dict(report: BenchmarkReport) -> dict[str, Any]:
    """Return what `--json` writes."""
    groups = report.groups
    ends = report.intervals()
    return {
        "benchmark": report.benchmark.name,
        "protocol": report.line,
        "model": report.model,
        "pictures": len(report.scored),
        "expected": report.benchmark.expected,
        "overall": _plain(report.overall),
        "intervals": _ends(ends),
        "interval_unit": report.interval_unit,
        "sets": {
            name: {
                "pictures": len(groups[name]),
                **_plain(row),
                "intervals": _ends(report.intervals(name)),
            }
            for name, row in report.rows.items()
        },
        "samples": {one.name: _plain(one.figures) for one in report.scored},
        "failures": list(report.failures),
        "left_out": list(report.left_out),
    }


def _ends(found: Mapping[str, Interval]) -> dict[str, list[float] | None]:
    """Return the ends of each interval; None where there is none."""
    return {
        name: None if math.isnan(one.low) else [one.low, one.high] for name, one in found.items()
    }


def _plain(figures: Figures) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in figures.items()}
