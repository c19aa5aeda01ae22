"""A duel as plain text, Markdown, JSON and one HTML page with the worst pictures side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sightline.benchmarks.bootstrap import Interval
from sightline.benchmarks.comparison import (
    LARGER_IS_BETTER,
    TIE,
    Comparison,
    DuelReport,
    Key,
    Predictors,
)
from sightline.io.atomic import write_bytes
from sightline.reports import payload
from sightline.reports.templating import environment

#: Figure → heading.
HEADINGS = {"abs_rel": "AbsRel", "delta1": "δ1", "spearman": "Spearman", "accuracy": "accuracy"}

#: Kind of a result file, so that a folder of them can be told from other JSON.
FORMAT = "sightline-duel-1"


def span(found: Interval, digits: int = 3, *, signed: bool = False) -> str:
    """Format a mean with its interval: `0.142 [0.101, 0.183]`."""
    form = f"{'+' if signed else ''}.{digits}f"
    if math.isnan(found.low):
        return f"{found.value:{form}} [–]"
    return f"{found.value:{form}} [{found.low:{form}}, {found.high:{form}}]"


def standing_rows(report: DuelReport) -> list[list[str]]:
    """Return protocol, figure and one cell per model; a dash where the protocol cannot judge it."""
    rows = [["protocol", "figure", *report.models]]
    for key in report.values:
        found = report.standings(key)
        cells = [span(found[model]) if model in found else "–" for model in report.models]
        rows.append([key[0], HEADINGS[key[1]], *cells])
    return rows


def comparison_rows(report: DuelReport) -> list[list[str]]:
    """Return a row for every pair of models under every protocol."""
    heading = "protocol, figure, A, B, A − B over scenes, over pictures, wins/ties/losses, better"
    rows = [heading.split(", ")]
    for key in report.values:
        for one in report.comparisons(key):
            counts = f"{one.wins}/{one.ties}/{one.losses}"
            ends = (span(one.scenes, signed=True), span(one.pictures, signed=True))
            better = one.verdict or "not separated"
            rows.append([key[0], HEADINGS[key[1]], one.a, one.b, *ends, counts, better])
    return rows


def remarks(report: DuelReport) -> list[str]:
    """Return what a reader must know beside the tables."""
    lines = [f"cannot judge: {line}" for line in report.unfit]
    lines += [f"note: {line}" for line in report.notes]
    lines += [f"left out: {line}" for line in report.failures]
    return lines


def as_text(report: DuelReport) -> str:
    """Return both tables as aligned columns, then the protocol line."""
    parts = [_columns(standing_rows(report)), _columns(comparison_rows(report))]
    return "\n".join(["\n\n".join(parts), *remarks(report), report.line]) + "\n"


def as_markdown(report: DuelReport) -> str:
    """Return both tables as Markdown under the protocol line."""
    lines = [f"{report.line}.", "", *_markdown(standing_rows(report)), ""]
    lines += [*_markdown(comparison_rows(report)), ""]
    lines.append(f"Pictures that differ by less than {TIE} are ties. Protocols:")
    lines += ["", *(f"* `{name}`: {words}" for name, words in report.protocols.items())]
    said = remarks(report)
    lines += ["", *(f"* {line}" for line in said)] if said else []
    return "\n".join(lines) + "\n"


def to_dict(report: DuelReport) -> dict[str, Any]:
    """Return everything, every picture included; figures that are not defined are null."""
    return {
        "format": FORMAT,
        "benchmark": report.benchmark.name,
        "title": report.benchmark.title,
        "line": report.line,
        "models": dict(zip(report.models, report.sources, strict=True)),
        "protocols": dict(report.protocols),
        "unit": report.unit,
        "standings": [
            {"protocol": key[0], "figure": key[1], "model": model, **_ends(found)}
            for key in report.values
            for model, found in report.standings(key).items()
        ],
        "comparisons": [
            _comparison(key, one) for key in report.values for one in report.comparisons(key)
        ],
        "pictures": [
            {
                "name": item.name,
                "set": item.group,
                "figures": {
                    f"{protocol}/{figure}": [_plain(value) for value in values[row]]
                    for (protocol, figure), values in report.values.items()
                },
            }
            for row, item in enumerate(report.pictures)
        ],
        "unfit": list(report.unfit),
        "notes": list(report.notes),
        "failures": list(report.failures),
    }


def as_json(report: DuelReport) -> str:
    """Return `to_dict` as text."""
    return json.dumps(to_dict(report), indent=1, ensure_ascii=False) + "\n"


def write_report_page(
    path: str | Path, report: DuelReport, models: Predictors, count: int = 2
) -> None:
    """Write one HTML page: tables, and the pictures on which each model is farthest behind.

    Args:
        path: the `.html` file.
        report: the duel.
        models: the predictors, asked again for the pictures that are shown.
        count: pictures for each model.
    """
    key = next(iter(report.values))
    text = (
        environment("sightline.benchmarks")
        .get_template("duel.html")
        .render(
            title=f"Duel: {' · '.join(report.models)}",
            report=report,
            standings=standing_rows(report),
            comparisons=comparison_rows(report),
            remarks=remarks(report),
            tie=TIE,
            figure=f"{HEADINGS[key[1]]} under {key[0]}",
            cases=_cases(report, models, key, count),
        )
    )
    write_bytes(path, text.encode(errors="backslashreplace"))


def _cases(
    report: DuelReport, models: Predictors, key: Key, count: int
) -> dict[str, list[dict[str, Any]]]:
    """Return, by model, the pictures on which it is farthest behind, with everybody's maps."""
    return {
        model: [_case(report, models, key, row) for row in report.worst(key, model, count)]
        for model in report.models
    }


def _case(report: DuelReport, models: Predictors, key: Key, row: int) -> dict[str, Any]:
    item = report.pictures[row]
    sample = item.load()
    camera = getattr(sample, "camera", None)
    panes = []
    for column, (model, predictor) in enumerate(models.items()):
        depth = predictor.predict(item, sample.pixels, camera)
        value = float(report.values[key][row, column])
        figure = "–" if math.isnan(value) else f"{value:.3f}"
        panes.append({"name": model, "figure": figure, "image": payload.color(depth, "spectral")})
    return {"name": item.name, "photo": payload.picture(sample.pixels), "panes": panes}


def _comparison(key: Key, one: Comparison) -> dict[str, Any]:
    return {
        "protocol": key[0],
        "figure": key[1],
        "larger_is_better": LARGER_IS_BETTER[key[1]],
        "a": one.a,
        "b": one.b,
        "over_pictures": _ends(one.pictures),
        "over_scenes": _ends(one.scenes),
        "wins": one.wins,
        "ties": one.ties,
        "losses": one.losses,
        "better": one.verdict or None,
    }


def _ends(found: Interval) -> dict[str, Any]:
    return {
        "value": _plain(found.value),
        "low": _plain(found.low),
        "high": _plain(found.high),
        "units": found.units,
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    heading, *others = rows
    lines = [f"| {' | '.join(heading)} |", "|" + "---|" * len(heading)]
    return lines + [f"| {' | '.join(row)} |" for row in others]
