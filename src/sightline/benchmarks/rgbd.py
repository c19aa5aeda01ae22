"""Score a relative depth predictor on a folder of photographs with measured depth (`files.rgbd`).

Figures are averaged over the samples of a set, then over the sets, so that a large set does not drown
the small ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.metrics import RelativeScore, relative_score
from sightline.files.rgbd import read_rgbd
from sightline.types import FloatArray

PROTOCOL = (
    "affine-aligned in disparity by least squares (scale ≥ 0), cap 80 m, no crop, "
    "mean over pictures, then over sets"
)

#: A relative depth predictor: (H, W, 3) uint8 to (H, W) values, larger is nearer.
Predictor = Callable[[NDArray[np.uint8]], FloatArray]


def evaluate(
    predict: Predictor, folder: str | Path, every: dict[str, int] | None = None
) -> dict[str, RelativeScore]:
    """Score a predictor on a folder.

    Args:
        predict: maps a photograph to relative disparity of the same size.
        folder: in the format above.
        every: take only every n-th sample of the named sets (for a quick look while training).

    Returns:
        The mean score per set, and under `"mean"` the mean over sets.
    """
    scores: dict[str, list[RelativeScore]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    for truth in read_rgbd(folder):
        seen[truth.group] += 1
        if (seen[truth.group] - 1) % (every or {}).get(truth.group, 1):
            continue
        prediction = predict(truth.pixels)
        scores[truth.group].append(relative_score(prediction, truth.disparity, truth.known))
    table = {name: _mean(rows) for name, rows in scores.items()}
    table["mean"] = _mean(list(table.values()))
    return table


def _mean(rows: list[RelativeScore]) -> RelativeScore:
    return RelativeScore(
        float(np.mean([row.spearman for row in rows])),
        float(np.mean([row.abs_rel for row in rows])),
        float(np.mean([row.delta1 for row in rows])),
    )
