"""Measure the priors of the metric solver: `python benchmarks/metric_prior.py --data DIR --model NAME`.

One known length fixes one number, but relative disparity lacks two. The second comes from a prior over
images: the ratio of near to far inverse depth. The script fits the best mapping to measured depth and
prints mean and standard deviation of ln(ρ_near / ρ_far) between the disparities of `span_of`
(`evidence.CONTRAST`), and the spread of ln(fitted depth / true depth) over windows of one
eighth of the side (`READING`). DIR is in the format of `rgbd_train`: training images, never
those of a benchmark.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

#: Windows across the shorter side of a picture.
WINDOWS = 8


def contrast_of(disparity: np.ndarray, inverse: np.ndarray, known: np.ndarray) -> float | None:
    """Return ln(ρ_near / ρ_far) of one picture, None where its line has no such value.

    Args:
        disparity: (H, W) relative disparity by a model.
        inverse: (H, W) measured inverse depth in [1/m].
        known: (H, W) bool, where it was measured.
    """
    from sightline.geometry import align
    from sightline.metric.solver import span_of

    line = align(disparity, inverse, known, robust=True, nonnegative=True)
    far, near = line.scale * span_of(disparity) + line.shift
    return float(np.log(near / far)) if far > 0 and line.scale > 0 else None


def readings_of(disparity: np.ndarray, inverse: np.ndarray, known: np.ndarray) -> list[float]:
    """Return ln(depth by the picture's line / measured depth) of the windows of one picture."""
    from sightline.geometry import align

    line = align(disparity, inverse, known, robust=True, nonnegative=True)
    off = np.log(np.maximum(inverse, 1e-3) / np.maximum(line(disparity), 1e-3))
    side = max(1, min(disparity.shape) // WINDOWS)
    found = []
    for row in range(0, disparity.shape[0] - side + 1, side):
        for column in range(0, disparity.shape[1] - side + 1, side):
            window = np.s_[row : row + side, column : column + side]
            if known[window].mean() > 0.5:
                found.append(float(np.median(off[window][known[window]])))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from sightline.depth.estimator import load
    from sightline.training.data.items import read_pair, rgbd_items

    parser = argparse.ArgumentParser(description="Measure the priors of the metric solver.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="default")
    parser.add_argument("--every", type=int, default=6, help="one picture in so many")
    options = parser.parse_args(arguments)
    estimator = load(options.model)
    items = [item for item in rgbd_items(options.data) if item.coding != "disparity"]
    found, none = [], 0
    readings: list[float] = []
    for item in items[:: options.every]:
        pair = read_pair(item, 384)
        if pair.unit is None or pair.known.mean() < 0.5:
            continue
        disparity = estimator.infer(pair.pixels).values
        measured = pair.disparity.astype(np.float32) * pair.unit, pair.known
        readings += readings_of(disparity, *measured)
        one = contrast_of(disparity, *measured)
        none += one is None
        if one is not None:
            found.append(one)
    values = np.array(found)
    print(
        f"{estimator.source}: {len(values)} pictures, mean {values.mean():.2f}, "
        f"spread {values.std(ddof=1):.2f}, {none} without a value"
    )
    low, high = np.quantile(readings, [0.16, 0.84])
    print(
        f"{len(readings)} windows: "
        f"middle 68 % of ln(depth by the line / true) from {low:.2f} to {high:.2f}"
    )


if __name__ == "__main__":
    main()
