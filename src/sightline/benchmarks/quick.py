"""A quick look while training: a few figures on the `rgbd` format, large sets thinned out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.rgbd import evaluate_maps
from sightline.io.rgbd import Truth, list_rgbd
from sightline.types import DepthMap

if TYPE_CHECKING:
    from sightline.depth.estimator import DepthEstimator

#: At most about this many pictures of a set.
MOST_OF_A_SET = 8


def quick_score(
    folder: Path, *, metric: bool = False
) -> Callable[[DepthEstimator], dict[str, float]]:
    """Return a function that scores an estimator on some of the pictures of a folder.

    Args:
        folder: in the format of `io.rgbd`.
        metric: score meters as they are, on the pictures whose truth is in meters; otherwise
            affine-aligned disparity, as `benchmarks.rgbd` says.
    """
    counts = Counter(row["set"] for row in list_rgbd(folder))
    every = {name: max(1, count // MOST_OF_A_SET) for name, count in counts.items()}

    protocol = Protocol(align="none" if metric else "disparity")
    names = ("abs_rel", "delta1") if metric else ("spearman", "residual", "abs_rel", "delta1")

    def look(estimator: DepthEstimator) -> dict[str, float]:
        def infer(truth: Truth) -> DepthMap:
            return estimator.infer(truth.pixels, camera=truth.camera)

        mean = evaluate_maps(infer, folder, every, protocol=protocol, edges=False)["mean"]
        return {name: round(getattr(mean, name), 4) for name in names}

    return look
