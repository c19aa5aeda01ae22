"""How good the embedded models are, beside two baselines: `python benchmarks/quality.py --data DIR`.

DIR holds `rgbd` in the format of `sightline.benchmarks.rgbd`. Baselines: the row number of a pixel
(lower is nearer; how strong a guess that is!), and FastDepth, fetched by the weights registry.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sightline
from sightline.benchmarks.rgbd import PROTOCOL, Predictor, evaluate
from sightline.files.atomic import write_text
from sightline.types import Kind


def row_number(pixels: np.ndarray) -> np.ndarray:
    """Guess that whatever is lower in the picture is nearer."""
    height, width = pixels.shape[:2]
    return np.repeat(np.arange(height, dtype=np.float32)[:, None], width, axis=1)


def predictor(name: str) -> tuple[Predictor, str]:
    """Return a function to relative disparity for a model of the registry, and who it is."""
    estimator = sightline.load(name)

    def predict(pixels: np.ndarray) -> np.ndarray:
        depth = estimator.infer(pixels)
        if depth.kind is not Kind.METRIC_DEPTH:
            return depth.values
        safe = np.where(depth.valid, depth.values, np.inf)
        return (1 / safe).astype(np.float32)

    return predict, estimator.source


def main() -> None:
    """Measure, print, and write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["fastdepth", "tiny"])
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    options = parser.parse_args()
    contenders: list[tuple[Predictor, str]] = [(row_number, "row number")]
    contenders += [predictor(name) for name in options.models]
    tables = [(who, evaluate(predict, options.data / "rgbd")) for predict, who in contenders]
    sets = [name for name in tables[0][1] if name != "mean"]
    lines = [
        f"Spearman / AbsRel / δ1 on `rgbd`; {PROTOCOL}.",
        "",
        "| set | " + " | ".join(who for who, _ in tables) + " |",
        "|---|" + "---|" * len(tables),
    ]
    for name in [*sets, "mean"]:
        cells = (
            f"{table[name].spearman:.3f} / {table[name].abs_rel:.3f} / {table[name].delta1:.3f}"
            for _, table in tables
        )
        label = f"**{name}**" if name == "mean" else name
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.write:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
