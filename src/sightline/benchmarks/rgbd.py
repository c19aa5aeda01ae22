"""Folders of photographs with measured depth in our own format (`io.rgbd`), of several sets.

Figures are averaged over the samples of a set, then over the sets, so that a large set does not drown
the small ones. Boundary figures are the mean over the sets with dense truth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.metrics import Score
from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item
from sightline.benchmarks.scoring import score
from sightline.io.rgbd import Truth, list_rgbd, read_sample
from sightline.types import DepthMap, FloatArray, Kind

#: What the figures of `evaluate` mean, in words.
PROTOCOL = (
    "affine-aligned in disparity by least squares (scale ≥ 0), cap 80 m, no crop, "
    "mean over pictures, then over sets"
)

#: A relative depth predictor: (H, W, 3) uint8 to (H, W) values, larger is nearer.
Predictor = Callable[[NDArray[np.uint8]], FloatArray]


def items(folder: Path) -> list[Item]:
    """List the samples of `index.json`, grouped by set."""
    return [
        Item(
            row["sample"],
            row["set"],
            (folder / row["sample"] / "image.jpg", folder / row["sample"] / "truth.npz"),
            partial(read_sample, folder, row),
            aliases=(f"{row['sample']}/image",),
        )
        for row in list_rgbd(folder)
    ]


def evaluate(
    predict: Predictor,
    folder: str | Path,
    every: dict[str, int] | None = None,
    *,
    edges: bool = True,
) -> dict[str, Score]:
    """Score a relative predictor on a folder.

    Args:
        predict: maps a photograph to relative disparity of the same size.
        folder: in the format above.
        every: take only every n-th sample of the named sets (for a quick look while training).
        edges: also compute the boundary figures.

    Returns:
        The mean score per set, and under `"mean"` the mean over sets.
    """

    def infer(truth: Truth) -> DepthMap:
        return DepthMap(predict(truth.pixels), Kind.RELATIVE_DISPARITY)

    return evaluate_maps(infer, folder, every, edges=edges)


def evaluate_maps(
    infer: Callable[[Truth], DepthMap],
    folder: str | Path,
    every: dict[str, int] | None = None,
    *,
    protocol: Protocol | None = None,
    edges: bool = True,
) -> dict[str, Score]:
    """Score what gives depth maps of any kind, of a picture and its camera; otherwise as `evaluate`.

    With a protocol that does not align (meters as they are), pictures whose truth is not in meters
    are left out.
    """
    way = Protocol() if protocol is None else protocol
    scores: dict[str, list[Score]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for row in list_rgbd(folder):
        seen[row["set"]] += 1
        if (seen[row["set"]] - 1) % (every or {}).get(row["set"], 1):
            continue
        truth = read_sample(folder, row)
        if truth.metric or way.align != "none":
            scores[truth.group].append(score(infer(truth), truth, way, edges=edges))
    table = {name: mean_score(rows) for name, rows in scores.items()}
    table["mean"] = mean_score(list(table.values()))
    return table


def mean_score(rows: list[Score]) -> Score:
    """Average scores figure by figure, over those in which it is defined."""
    return Score(
        **{field.name: _mean([getattr(r, field.name) for r in rows]) for field in fields(Score)}
    )


def _mean(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


BENCHMARK = Benchmark(
    name="rgbd",
    title="photographs with measured depth, several sets",
    layout=("index.json", "<sample>/image.jpg", "<sample>/truth.npz  (depth or disparity)"),
    source="any; the format is that of sightline.io.rgbd",
    items=items,
    protocol=Protocol(),
    average="sets",
)
