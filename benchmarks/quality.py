"""How good our models are, beside two baselines: `python benchmarks/quality.py --data DIR`.

DIR holds `rgbd` in the format of `sightline.io.rgbd`. Baselines: the row number of a pixel (lower is
nearer; how strong a guess that is!), and FastDepth, fetched by the weights registry. Models that the
registry does not have yet are left out. `sightline bench rgbd DIR/rgbd --model NAME` gives the same
figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sightline
from sightline.benchmarks.predictors import ModelPredictor, Predictor
from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.report import number
from sightline.benchmarks.run import BenchmarkReport, run
from sightline.benchmarks.samples import Item
from sightline.benchmarks.sets import find
from sightline.io.atomic import write_text
from sightline.models import registry
from sightline.types import Camera, DepthMap, Kind

MODELS = ("fastdepth", "tiny", "small", "tiny-metric")
RELATIVE = ("spearman", "abs_rel", "delta1")


class RowNumber:
    """Guess that whatever is lower in the picture is nearer."""

    def source(self, items: Sequence[Item]) -> str:  # noqa: ARG002
        """Return the name of the guess, which has no weights."""
        return "row number"

    def predict(
        self,
        item: Item,  # noqa: ARG002
        pixels: NDArray[np.uint8],
        camera: Camera | None = None,  # noqa: ARG002
    ) -> DepthMap:
        """Return the row of each pixel."""
        height, width = pixels.shape[:2]
        rows = np.repeat(np.arange(height, dtype=np.float32)[:, None], width, axis=1)
        return DepthMap(rows, Kind.RELATIVE_DISPARITY)


def contenders(names: Sequence[str]) -> list[tuple[Predictor, bool]]:
    """Return the row number and the models there are, each with whether it knows meters."""
    found: list[tuple[Predictor, bool]] = [(RowNumber(), False)]
    for name in names:
        if registry.find(name) is None:
            print(f"{name}: not in the registry, left out", file=sys.stderr)
            continue
        estimator = sightline.load(name)
        found.append((ModelPredictor(estimator), estimator.spec.kind is Kind.METRIC_DEPTH))
    return found


def summary(reports: Sequence[BenchmarkReport]) -> list[str]:
    """Return a table of the models: the mean over sets, boundary figures included."""
    lines = [
        "| model | Spearman | residual | AbsRel | δ1 | F1 | F1 wide |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for report in reports:
        figures = ("spearman", "residual", "abs_rel", "delta1", "boundary_f1", "wide_f1")
        cells = " | ".join(number(report.overall[key]) for key in figures)
        lines.append(f"| {report.model} | {cells} |")
    return lines


def by_set(reports: Sequence[BenchmarkReport], figures: Sequence[str]) -> list[str]:
    """Return a table of the sets, a column per model, its figures separated by strokes."""
    lines = [
        "| set | " + " | ".join(report.model for report in reports) + " |",
        "|---|" + "---|" * len(reports),
    ]
    for name in reports[0].rows:
        cells = (" / ".join(number(r.rows[name][key]) for key in figures) for r in reports)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    means = (" / ".join(number(r.overall[key]) for key in figures) for r in reports)
    return [*lines, "| **mean** | " + " | ".join(means) + " |"]


def words(report: BenchmarkReport) -> str:
    """Return the protocol line without the model, which has a column of its own."""
    return report.line.rsplit("; model ", 1)[0]


def main() -> None:
    """Measure, print, and write the tables if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--every", type=int, default=1, help="a quick look: one picture in so many")
    parser.add_argument("--write", type=Path, help="Markdown file to write the tables to")
    options = parser.parse_args()
    benchmark, folder = find("rgbd"), options.data / "rgbd"
    chosen = contenders(options.models)
    reports = [run(benchmark, folder, one, every=options.every) for one, _ in chosen]
    lines = [f"{words(reports[0])}.", "", *summary(reports), ""]
    lines += ["Spearman / AbsRel / δ1 by set:", "", *by_set(reports, RELATIVE)]
    metric = [
        run(benchmark, folder, one, Protocol(align="none"), every=options.every)
        for one, knows_meters in chosen
        if knows_meters
    ]
    if metric:
        lines += ["", f"Meters, AbsRel / δ1 / RMSE [m]: {words(metric[0])}.", ""]
        lines += by_set(metric, ("abs_rel", "delta1", "rmse"))
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.write:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
