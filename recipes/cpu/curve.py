"""How far a relative network squeezes what is near: the power that straightens its output.

    python recipes/cpu/curve.py --model small --data DIR

A network that learns a loss without scale and shift, on maps whose near end is a small part of every
picture, draws the near closer together than it is. Here its output above zero is raised to several
powers, aligned to inverse depth by least squares, and judged in depth: on rendered scenes of a seed of
their own, and on one pair in 24 of `DIR/rgbd_train`. `rgbd` is not looked at, so that its figures stay
figures of unseen pictures. `publish.py --curve POWER` enters what is chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from publish import zero_of
from sightline.depth.estimator import DepthEstimator, load
from sightline.scenes.generate import make_scene
from sightline.training.data.items import read_pair, rgbd_items

POWERS = (1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
#: Farther than this is not judged, [m].
CAP = 80.0
SEED, SIZE, ONE_IN = 987, (448, 336), 24

Array = NDArray[np.float64]
Sample = tuple[NDArray[np.uint8], Array]


def scenes(count: int) -> Iterator[Sample]:
    """Yield colors and inverse depth in [1/m] of rendered scenes, 0 where it is not judged."""
    for number in range(count):
        frame = make_scene(SEED, number, width=SIZE[0], height=SIZE[1]).frame
        known = frame.depth.valid & (frame.depth.values < CAP)
        yield frame.pixels, np.where(known, 1 / np.where(known, frame.depth.values, 1), 0)


def measured(folder: Path) -> Iterator[Sample]:
    """Yield the same of pairs in meters."""
    items = [item for item in rgbd_items(folder) if item.coding == "depth_mm"]
    for item in items[::ONE_IN]:
        pair = read_pair(item, SIZE[1])
        if pair.unit is not None:
            yield pair.pixels, np.where(pair.known, pair.disparity * np.float64(pair.unit), 0)


def scores(estimator: DepthEstimator, samples: Iterator[Sample]) -> Array:
    """Return (powers, 2): AbsRel and δ1, mean over the samples."""
    zero = zero_of(estimator.spec)
    rows = []
    for pixels, inverse in samples:
        known = inverse > 1 / CAP
        if known.mean() < 0.05:
            continue
        # As the network said it, whatever power the registry has for it by now.
        above = estimator.infer(pixels).values[known].astype(np.float64) - zero
        above = np.copysign(np.abs(above) ** (1 / estimator.spec.curve), above)
        rows.append(
            [_score(np.copysign(np.abs(above) ** p, above), inverse[known]) for p in POWERS]
        )
    return np.mean(rows, axis=0)


def _score(values: Array, inverse: Array) -> tuple[float, float]:
    """Align by least squares in inverse depth; AbsRel and δ1 in depth."""
    spread = np.cov(values, inverse)
    scale = max(float(spread[0, 1] / spread[0, 0]), 0.0)
    line = scale * (values - values.mean()) + inverse.mean()
    ratio = inverse / np.maximum(line, 1 / CAP)
    return float(np.abs(ratio - 1).mean()), float((np.maximum(ratio, 1 / ratio) < 1.25).mean())


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="small")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=60)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    estimator = load(options.model, threads=options.threads)
    sources: dict[str, Callable[[], Iterator[Sample]]] = {
        f"{options.scenes} rendered scenes": lambda: scenes(options.scenes),
        f"rgbd_train, one in {ONE_IN}": lambda: measured(options.data / "rgbd_train"),
    }
    print(f"| {estimator.source}, AbsRel / δ1 | " + " | ".join(f"{p:g}" for p in POWERS) + " |")
    print("|---|" + "---|" * len(POWERS))
    for name, source in sources.items():
        cells = (f"{a:.3f} / {d:.3f}" for a, d in scores(estimator, source()))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
