"""What helps: short runs of equal length, each with one thing changed (the paper's Tables 5, 6, B.9).

    python recipes/cpu/ablation.py --data DIR --work DIR --write docs/tables/ablation.md

WORK is the folder of `python recipes/cpu`: its scenes and its teacher's labels are used. Every run is
of the compact network, starts from the same pretrained encoder and has the same number of steps,
samples per step and rates; finished runs are not repeated. The table gives the figures on `rgbd` at the
end of each run. A run this short is far from what ships: only differences between rows mean something,
and only those that are larger than what another seed makes, which is a row of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sightline.benchmarks.rgbd import PROTOCOL, evaluate
from sightline.depth.estimator import load
from sightline.io.atomic import write_text

BATCH = 12
STEPS = 400
SHORT_SIDE = 128


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the table.

    Attributes:
        name: folder of the run.
        what: for the table.
        scenes: samples of every batch from rendered scenes.
        measured: from pictures with measured depth.
        photos: from photographs with pseudo-labels.
        extra: further flags.
    """

    name: str
    what: str
    scenes: int = 0
    measured: int = 0
    photos: int = 0
    extra: tuple[str, ...] = ()


RUNS = (
    Run("scenes", "scenes only", scenes=12),
    Run("scenes-measured", "scenes + measured depth", scenes=6, measured=6),
    Run("pseudo", "our teacher's labels only", photos=12),
    Run("pseudo-seed", "the same, another seed", photos=12, extra=("--seed", "1")),
    Run("no-gradient", "our labels, no gradient loss", photos=12, extra=("--gradient-weight", "0")),
    Run("no-trim", "our labels, no trimming", photos=12, extra=("--trim", "0")),
    Run("features", "our labels and teacher's features", photos=12, extra=("--guide", "small")),
    Run("all", "scenes, measured depth, our labels", scenes=3, measured=4, photos=5),
)


def command(run: Run, data: Path, work: Path, out: Path, threads: int) -> list[str]:
    """Return the words of the run's command."""
    common = [
        *("--network", "compact", "--start", "efficientnet-lite0", "--steps", str(STEPS)),
        *("--short-side", str(SHORT_SIDE), "--warmup", "30", "--decay", "0.6"),
        *("--encoder-rate", "3e-4", "--rate", "1e-3", "--average", "0.98"),
        *("--validate-every", str(STEPS), "--threads", str(threads)),
        *("--out", str(out), *run.extra),
    ]
    sources = []
    if run.scenes:
        sources += ["--data", f"pairs:{work / 'scenes'}@{run.scenes}"]
    if run.measured:
        sources += ["--data", f"pairs:{data / 'rgbd_train'}@{run.measured}"]
    if not run.photos:
        return ["train", "teacher", *sources, *common]
    photos = ["--photos", str(data / "photos"), "--share", str(run.photos)]
    labels = ["--labels", str(work / "labels")]
    return ["train", "student", *photos, *labels, *sources, *common]


def row(run: Run, model: Path, data: Path) -> str:
    """Measure a finished run: one line of the table."""
    estimator = load(model, engine="torch")
    mean = evaluate(lambda pixels: estimator.infer(pixels).values, data / "rgbd")["mean"]
    figures = (mean.spearman, mean.abs_rel, mean.delta1, mean.wide_f1)
    cells = " | ".join(f"{figure:.3f}" for figure in figures)
    return f"| {run.what} | {run.scenes} / {run.measured} / {run.photos} | {cells} |"


def main() -> None:
    """Run what is missing, measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", help="names of runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    options = parser.parse_args()
    rows = []
    for run in RUNS:
        if options.only and run.name not in options.only:
            continue
        out = options.work / "ablation" / run.name
        words = command(run, options.data, options.work, out, options.threads)
        environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        subprocess.run([sys.executable, "-m", "sightline", *words], env=environment, check=True)
        rows.append(row(run, out / "model.safetensors", options.data))
        print(rows[-1], flush=True)
    text = "\n".join(
        [
            f"Compact network from EfficientNet-Lite0, {STEPS} steps of {BATCH} samples at "
            f"{SHORT_SIDE} px; {PROTOCOL}.",
            "",
            "| learned from | scenes / measured / photos a batch | Spearman | AbsRel | δ1 | F1 wide |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
    print(text, end="")
    if options.write:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
