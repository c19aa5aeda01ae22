"""A quick look while training: a few figures on the `rgbd` format, large sets thinned out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.rgbd import evaluate
from sightline.files.rgbd import list_rgbd, read_rgbd
from sightline.types import FloatArray, Kind

if TYPE_CHECKING:
    from sightline.depth.estimator import DepthEstimator

#: At most about this many pictures of a set.
MOST_OF_A_SET = 8


def quick_score(
    folder: Path, *, metric: bool = False
) -> Callable[[DepthEstimator], dict[str, float]]:
    """Return a function that scores an estimator on some of the pictures of a folder.

    Args:
        folder: in the format of `files.rgbd`.
        metric: score metres as they are, on the pictures whose truth is in metres; otherwise
            affine-aligned disparity, as `benchmarks.rgbd` says.
    """
    counts = Counter(row["set"] for row in list_rgbd(folder))
    every = {name: max(1, count // MOST_OF_A_SET) for name, count in counts.items()}

    def relative(estimator: DepthEstimator) -> dict[str, float]:
        def predict(pixels: NDArray[np.uint8]) -> FloatArray:
            return estimator.infer(pixels).values

        mean = evaluate(predict, folder, every, edges=False)["mean"]
        figures = {"spearman": mean.spearman, "abs_rel": mean.abs_rel, "delta1": mean.delta1}
        return {name: round(value, 4) for name, value in figures.items()}

    def metres(estimator: DepthEstimator) -> dict[str, float]:
        seen: Counter[str] = Counter()
        errors: dict[str, list[tuple[float, float]]] = {}
        for truth in read_rgbd(folder):
            seen[truth.group] += 1
            if not truth.metric or (seen[truth.group] - 1) % every[truth.group]:
                continue
            depth = estimator.infer(truth.pixels)
            assert depth.kind is Kind.METRIC_DEPTH
            ratio = depth.values[truth.known] * truth.disparity[truth.known]
            inside = np.maximum(ratio, 1 / np.maximum(ratio, 1e-6)) < 1.25
            errors.setdefault(truth.group, []).append(
                (float(np.abs(ratio - 1).mean()), float(inside.mean()))
            )
        abs_rel, delta1 = np.mean([np.mean(rows, axis=0) for rows in errors.values()], axis=0)
        return {
            "metric_abs_rel": round(float(abs_rel), 4),
            "metric_delta1": round(float(delta1), 4),
        }

    return metres if metric else relative
