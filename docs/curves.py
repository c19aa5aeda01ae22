"""Plot the learning curves of the shipped models from their training logs: `python docs/curves.py`.

`docs/tables/runs/NAME.jsonl` is the `log.jsonl` of a run, as `sightline train` wrote it; where a model
came out of several runs, one after the other, their lines follow each other and samples count on.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sightline.io.atomic import write_text
from sightline.reports.figures import Curve, line_plot, standalone

DOCS = Path(__file__).parent
#: AbsRel from which on a line is of a network that had learned nothing yet.
FAILED = 0.5
#: Color of each model, a key of `reports.figures.COLORS`.
MODEL_COLORS = {"small": "model", "tiny": "nearest"}


def read_log(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return samples seen, and (lines, 3) Spearman, AbsRel and δ1 at that moment."""
    rows, before, last = [], 0, 0
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry["samples"] < last:  # the next run began
            before += last
        last = entry["samples"]
        if "spearman" in entry:
            rows.append((before + last, entry["spearman"], entry["abs_rel"], entry["delta1"]))
    table = np.array(rows, float)
    return table[:, 0], table[:, 1:]


def plot(curves: dict[str, tuple[np.ndarray, np.ndarray]], label: str) -> str:
    """Draw one metric of all models against the number of training samples."""
    lines = [Curve(name, x, y, MODEL_COLORS[name]) for name, (x, y) in curves.items()]
    return line_plot(lines, x_label="training samples, thousands", y_label=label)


def main() -> None:
    """Draw one plot for each figure."""
    logs = {
        path.stem: read_log(path) for path in sorted((DOCS / "tables" / "runs").glob("*.jsonl"))
    }
    for column, (file, label) in enumerate(
        (("spearman", "Spearman"), ("absrel", "AbsRel"), ("delta1", "δ1"))
    ):
        curves = {
            name: (samples[keep] / 1000, figures[keep, column])
            for name, (samples, figures) in logs.items()
            for keep in [figures[:, 1] < FAILED]
        }
        write_text(DOCS / "pictures" / f"curve-{file}.svg", standalone(plot(curves, label)))


if __name__ == "__main__":
    main()
