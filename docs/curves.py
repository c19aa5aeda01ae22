"""Learning curves of the models that ship, from the logs of their runs: `python docs/curves.py`.

`docs/tables/runs/NAME.jsonl` is the `log.jsonl` of a run, as `sightline train` wrote it; where a model
came out of several runs, one after the other, their lines follow each other and samples count on.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sightline.files.atomic import write_text
from sightline.report.plots import BOTTOM, INNER, LEFT, RIGHT, TOP, WIDTH, axes
from sightline.report.svg import frame, legend, linear, polyline

DOCS = Path(__file__).parent
#: AbsRel from which on a line is of a network that had learnt nothing yet.
FAILED = 0.5
STYLE = (
    "<style>text{font:11px system-ui,sans-serif;fill:#646b73}.grid,.axis{stroke:#dcdfe2;fill:none}"
    "path,polyline{fill:none}.small{stroke:#1c63b7;stroke-width:2}"
    ".tiny{stroke:#c4561b;stroke-width:2}</style>"
)


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
    """Draw one figure of all models against the samples they have seen."""
    parts, top = legend([((name,), name) for name in curves], LEFT, WIDTH - RIGHT)
    top += TOP
    xs, ys = (np.concatenate([curve[k] for curve in curves.values()]) for k in (0, 1))
    across = linear(0.0, float(xs.max()), LEFT, WIDTH - RIGHT)
    up = linear(float(ys.min()), float(ys.max()), top + INNER, top)
    parts += axes(across, up, "samples seen, thousands", label)
    for name, (x, y) in curves.items():
        parts.append(polyline([(across(a), up(b)) for a, b in zip(x, y, strict=True)], name))
    return frame(WIDTH, top + INNER + BOTTOM, parts, f"{label} against samples")


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
        text = plot(curves, label).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        start = text.index(">") + 1
        background = '<rect width="100%" height="100%" fill="#fff"/>'
        write_text(
            DOCS / "pictures" / f"curve-{file}.svg",
            text[:start] + STYLE + background + text[start:],
        )


if __name__ == "__main__":
    main()
