"""DA-2K: 2,068 point pairs on about 1,000 diverse photographs (Depth Anything V2, §6; spec §1.6).

`annotations.json` names `images/<scene>/<file>`, eight scenes; points are (row, column) at the
original size. `closer_point` is always `point1`, so an evaluator that learns must not see them in
this order; a depth map cannot tell. The headline accuracy counts every pair the same (which alone
reproduces the paper's mean column), and so does "overall" here; scenes are listed beside it. Ties
are wrong.
"""

from __future__ import annotations

from pathlib import Path

from sightline.benchmarks import points
from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item


def items(folder: Path) -> list[Item]:
    """List the pictures of DA-2K; the folder holds `annotations.json`, or is itself that file."""
    return points.items(folder / "annotations.json" if folder.is_dir() else folder)


BENCHMARK = Benchmark(
    name="da2k",
    title="DA-2K, order of point pairs in eight kinds of scene",
    layout=("annotations.json", "images/<scene>/<file>"),
    source="https://huggingface.co/datasets/depth-anything/DA-2K (DA-2K.zip)",
    items=items,
    protocol=Protocol(),
    average="pairs",
)
