"""Folders of photographs with measured depth: `<sample>/image.jpg`, `<sample>/truth.npz`, `index.json`.

`truth.npz` holds `depth` in metres or `disparity` in pixels, NaN where unknown. Figures are averaged
over the samples of a set, then over the sets, so that a large set does not drown the small ones.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.metrics import RelativeScore, relative_score
from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.types import BoolArray, FloatArray

PROTOCOL = (
    "affine-aligned in disparity by least squares (scale ≥ 0), cap 80 m, no crop, "
    "mean over pictures, then over sets"
)

#: A relative depth predictor: (H, W, 3) uint8 to (H, W) values, larger is nearer.
Predictor = Callable[[NDArray[np.uint8]], FloatArray]


@dataclass(frozen=True, slots=True)
class Truth:
    """One photograph with its measured depth.

    Attributes:
        sample: folder name.
        group: the set it belongs to.
        pixels: (H, W, 3) uint8.
        disparity: (H, W) 1/metres, or pixels of stereo disparity; 0 where unknown.
        known: (H, W) where it was measured.
        dense: whether most pixels are known and edges can be judged.
    """

    sample: str
    group: str
    pixels: NDArray[np.uint8]
    disparity: FloatArray
    known: BoolArray
    dense: bool


def read_rgbd(folder: str | Path) -> Iterator[Truth]:
    """Iterate over the samples that `index.json` lists."""
    folder = Path(folder)
    index = folder / "index.json"
    if not index.is_file():
        raise InputError("no index.json in this folder", path=folder)
    for row in json.loads(index.read_text()):
        pixels = read_picture(folder / row["sample"] / "image.jpg").pixels
        with np.load(folder / row["sample"] / "truth.npz", allow_pickle=False) as truth:
            if "depth" in truth:
                depth = truth["depth"].astype(np.float32)
                known = np.isfinite(depth) & (depth > 0)
                disparity = np.divide(1, depth, out=np.zeros_like(depth), where=known)
            else:
                raw = truth["disparity"].astype(np.float32)
                known = np.isfinite(raw) & (raw > 0)
                disparity = np.where(known, raw, np.float32(0))
        if disparity.shape != pixels.shape[:2]:
            raise InputError(
                f"truth is {disparity.shape}, picture is {pixels.shape[:2]}",
                path=folder / row["sample"],
            )
        yield Truth(row["sample"], row["set"], pixels, disparity, known, row["kind"] == "dense")


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
