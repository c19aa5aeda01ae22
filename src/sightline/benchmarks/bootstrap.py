"""Confidence intervals of benchmark means: a paired bootstrap over pictures or over whole scenes.

Pictures of one scene resemble each other, so a figure over 59 frames of one kitchen is hardly surer
than over ten. Resampling whole scenes accounts for it. Few scenes make the plain percentile bootstrap
too narrow, therefore:

* deviations of a stratum with n units are widened by √(n / (n − 1)), which makes their variance
  unbiased;
* the interval is the estimate ± t · standard error of the draws, with Student's t of Σ (n − 1) degrees
  of freedom.

All models share one set of draws, so that differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from sightline.errors import InputError

Doubles = NDArray[np.float64]

#: What is drawn with replacement.
Unit = Literal["pictures", "scenes"]

RESAMPLES = 2000
CONFIDENCE = 0.95

#: With fewer scenes, an interval over scenes is too wide to say anything.
MIN_SCENES = 3


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval; NaN ends where one unit alone says nothing about others.

    Attributes:
        value: the mean.
        low: lower end.
        high: upper end.
        units: how many units could be drawn.
    """

    value: float
    low: float
    high: float
    units: int

    @property
    def excludes_zero(self) -> bool:
        """True when both ends have the same sign."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Layout:
    """Which rows are drawn together and how their mean is taken.

    Attributes:
        units: (n,) number of the unit that each row belongs to.
        strata: (n,) number of the stratum; the mean over strata is the estimate.
        weights: (n,) weight of each row within its stratum.
    """

    units: NDArray[np.intp]
    strata: NDArray[np.intp]
    weights: Doubles


def layout_of(
    groups: Sequence[str],
    scenes: Sequence[str],
    weights: Sequence[float],
    *,
    unit: Unit,
    over_sets: bool,
) -> Layout:
    """Return how to draw.

    Args:
        groups: set of each picture.
        scenes: scene of each picture, unique across sets.
        weights: of each picture.
        unit: what is drawn.
        over_sets: the estimate is the mean over sets of means over pictures. Then whole sets are drawn
            as scenes; pictures are drawn within each set.
    """
    group = _numbers(groups)
    weight = np.asarray(weights, np.float64)
    zeros = np.zeros_like(group)
    if unit == "pictures":
        return Layout(np.arange(len(group)), group if over_sets else zeros, weight)
    if not over_sets:
        return Layout(_numbers(scenes), zeros, weight)
    # Every set counts the same, whatever its number of pictures.
    totals = np.bincount(group, weight)
    return Layout(group, zeros, weight / totals[group])


def bootstrap(
    values: NDArray[Any], layout: Layout, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Doubles, Doubles, int]:
    """Draw units with replacement.

    Args:
        values: (n, m) figure of each picture, one column per model; finite.
        layout: how to draw.
        resamples: number of draws.
        seed: random seed.

    Returns:
        (m,) means, (resamples, m) deviations of the draws from them, and the degrees of freedom.
    """
    if values.ndim != 2 or len(values) == 0 or not np.isfinite(values).all():
        raise InputError("a bootstrap needs at least one picture, and finite figures")
    rng = np.random.default_rng(seed)
    strata = np.unique(layout.strata)
    means = np.zeros(values.shape[1])
    deviations = np.zeros((resamples, values.shape[1]))
    freedom = 0
    for stratum in strata:
        rows = layout.strata == stratum
        unit = np.unique(layout.units[rows], return_inverse=True)[1]
        count = int(unit.max()) + 1
        weight = layout.weights[rows]
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, unit, weight[:, None] * values[rows])
        totals = np.bincount(unit, weight)
        mean = sums.sum(0) / totals.sum()
        means += mean / len(strata)
        if count == 1:
            continue
        freedom += count - 1
        drawn = rng.multinomial(count, np.full(count, 1 / count), resamples)
        draw = (drawn @ sums) / (drawn @ totals)[:, None]
        deviations += (draw - mean) * math.sqrt(count / (count - 1)) / len(strata)
    return means, deviations, freedom


def interval(mean: float, deviations: NDArray[Any], freedom: int) -> Interval:
    """Return the interval of a mean, or of a difference of means, from its (resamples,) deviations."""
    if freedom < 1:
        return Interval(float(mean), math.nan, math.nan, 1)
    error = float(np.sqrt(np.mean(np.square(deviations - deviations.mean()))))
    half = float(student.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return Interval(float(mean), float(mean) - half, float(mean) + half, freedom + 1)


def choose_unit(scenes: Sequence[str], groups: Sequence[str], *, over_sets: bool) -> Unit:
    """Return scenes where there are enough of them, pictures otherwise."""
    count = len(set(groups if over_sets else scenes))
    return "scenes" if count >= MIN_SCENES else "pictures"


def _numbers(names: Sequence[str]) -> NDArray[np.intp]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], np.intp)
