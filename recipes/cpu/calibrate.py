"""Calibrate a model's error bars on pictures with measured depth.

    python recipes/cpu/calibrate.py --model default --data DIR

The folder is of the kind that `io.rgbd` reads.

Protocol: for relative models the truth is aligned to the prediction in disparity space, per
picture, by robust scale and shift; metric models are compared as they are. The samples are halved
by a hash of set and name. Gain and floor fitted on either half are tested on the other, and the
mean over both ways says what share of pixels lies inside one and two sigma; what is stored is
fitted on all samples. Every set counts the same, and within it every picture, so that many frames
of one kitchen do not drown the rest.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.estimator import DepthEstimator, load
from sightline.depth.preprocessing import to_picture_size
from sightline.depth.uncertainty import (
    Calibration,
    calibrate,
    coverage,
    store_calibration,
    unit_scale,
)
from sightline.errors import InputError, SightlineError
from sightline.geometry import align
from sightline.io.rgbd import Truth, list_rgbd, read_rgbd
from sightline.types import FloatArray, Kind

#: Pixels taken from each picture: neighbors tell the same story, and few are enough for quantiles.
PER_PICTURE = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What one picture says.

    Attributes:
        group: the set it belongs to.
        name: of the sample.
        doubt: (N,) disagreement, in `unit_scale`s.
        error: (N,) prediction minus truth, in `unit_scale`s.
    """

    group: str
    name: str
    doubt: FloatArray
    error: FloatArray

    @property
    def number(self) -> int:
        """A hash of set and name: the same in every run, and not chosen by anyone."""
        return int(hashlib.sha256(f"{self.group}/{self.name}".encode()).hexdigest()[:8], 16)


def calibrate_model(
    estimator: DepthEstimator, folder: Path, sets: Sequence[str] = ()
) -> Calibration:
    """Fit on all pictures in `folder`, or of some sets; test on each half what the other gave."""
    unknown = set(sets) - {row["set"] for row in list_rgbd(folder)}
    if unknown:
        raise InputError(f"has no set called {', '.join(sorted(unknown))}", path=folder)
    chosen = (truth for truth in read_rgbd(folder) if not sets or truth.group in sets)
    samples = [sample for truth in chosen if (sample := measure(estimator, truth)) is not None]
    halves = [[sample for sample in samples if sample.number % 2 == rest] for rest in (0, 1)]
    if not all(halves):
        raise InputError(f"{len(samples)} usable pictures are too few to fit and test", path=folder)
    pooled = [pool(half) for half in halves]
    both = [
        coverage(calibrate(*pooled[0]), *pooled[1]),
        coverage(calibrate(*pooled[1]), *pooled[0]),
    ]
    inside = np.mean(both, axis=0)
    return replace(
        calibrate(*pool(samples)),
        weights=estimator.sha256[:12],
        inside_1=round(float(inside[0]), 4),
        inside_2=round(float(inside[1]), 4),
        protocol=(
            f"fitted on {_count(samples)} of {folder.name}; tested on {_count(halves[0])} what "
            f"{_count(halves[1])} gave, and the other way round; network size {estimator.size}; "
            "every set counts the same"
        ),
    )


def measure(estimator: DepthEstimator, truth: Truth) -> Sample | None:
    """Run the model on a picture and compare with its truth; None if that is of no use here."""
    kind = estimator.spec.kind
    if kind is not Kind.RELATIVE_DISPARITY and not truth.metric:
        return None
    hw = (truth.pixels.shape[0], truth.pixels.shape[1])
    focal = None if truth.camera is None else truth.camera.focal
    raw = estimator.predict(truth.pixels, focal=focal)
    values = estimator.enlarge(raw, hw)
    doubt = to_picture_size(estimator.disagreement(truth.pixels, raw, focal), hw)
    known = truth.known & np.isfinite(values)
    if int(known.sum()) < 100:
        return None
    expected = truth.disparity
    if kind is Kind.METRIC_DEPTH:
        expected = np.reciprocal(np.where(known, expected, np.float32(1)))
    if kind is Kind.RELATIVE_DISPARITY:
        expected = align(expected, values, known, robust=True, nonnegative=True)(expected)
    error = (values - expected) / unit_scale(values, kind)
    sample = Sample(truth.group, truth.sample, doubt[known], error[known])
    chosen = np.random.default_rng(sample.number).permutation(len(sample.doubt))[:PER_PICTURE]
    return replace(sample, doubt=sample.doubt[chosen], error=sample.error[chosen])


def pool(
    samples: Sequence[Sample],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Join samples: disagreements, errors, and weights by which every set counts the same."""
    members = Counter(sample.group for sample in samples)
    weights = [
        np.full(len(sample.doubt), 1 / (members[sample.group] * len(sample.doubt)))
        for sample in samples
    ]
    return (
        np.concatenate([sample.doubt for sample in samples]),
        np.concatenate([sample.error for sample in samples]),
        np.concatenate(weights),
    )


def _count(samples: Sequence[Sample]) -> str:
    return f"{len(samples)} pictures from {len({sample.group for sample in samples})} sets"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python recipes/cpu/calibrate.py")
    parser.add_argument("--model", default="default", help="name or path")
    parser.add_argument("--data", type=Path, required=True, help="folder with index.json")
    parser.add_argument("--sets", nargs="+", default=(), help="sets of it; all if not given")
    parser.add_argument("--out", type=Path, help="folder for calibration.json (the package's)")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args(arguments)
    try:
        estimator = load(options.model, threads=options.threads)
        made = calibrate_model(estimator, options.data, options.sets)
        path = store_calibration(estimator.name, made, options.out)
    except SightlineError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(
        f"{estimator.source}: gain {made.gain:.3f}, floor {made.floor:.4f}; "
        f"{made.inside_1:.1%} inside one sigma, {made.inside_2:.1%} inside two\n"
        f"({made.protocol})\nwritten to {path}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
