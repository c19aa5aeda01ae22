"""Prior of stature, and its update by body proportions.

Heights are log-normal within men, women and children. Proportions determine the probability of each
group, and for children, whose heads are large for their height, also the height.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.body.model import ShapeGroup, ShapeSpace
from sightline.metric.body.problem import ShapePrior

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HeightPrior:
    """Prior of a person's height, as (mean, standard deviation) in [m].

    Adults: midway between the world's mean (171 and 159 cm: NCD-RisC, eLife 2016;5:e13410, born 1996)
    and that of twenty countries of Europe, North America, Australia and East Asia (178.4 and 164.7
    cm, ± 7.6 and 7.1 within them: Jelenkovic et al., eLife 2016;5:e20320, born 1980–1994, as quoted
    by Our World in Data), where a larger share of photographs than of people comes from. Standard
    deviation: 7.3 and 6.8 cm within a country, 4 cm between countries.
    Children: WHO growth references from 3 years (95 cm) to 14 (162 cm), at unknown age.

    Attributes:
        men: of men.
        women: of women.
        children: up to 14 years.
        child_share: share of children among the people in images, 0 to 1.
        known: height of this person and its standard deviation, if given.
        shared: relative standard deviation that people of one image share, because they come from one
            country; part of the above that does not average out over people.
    """

    men: tuple[float, float] = (1.747, 0.083)
    women: tuple[float, float] = (1.618, 0.079)
    children: tuple[float, float] = (1.28, 0.20)
    child_share: float = 0.1
    known: tuple[float, float] | None = None
    shared: float = 0.024

    def __post_init__(self) -> None:
        pairs = [self.men, self.women, self.children, *([self.known] if self.known else [])]
        for mean, spread in pairs:
            if not (0.3 < mean < 3.0 and 0 < spread < 1.0):
                raise InputError(
                    f"a height of {mean:g} ± {spread:g} m is not plausible for a person",
                    remedy="give mean and standard deviation in meters, such as 1.75 and 0.02",
                )
        if not 0 <= self.child_share <= 1:
            raise InputError(f"the share of children must lie in 0–1, got {self.child_share:g}")

    @classmethod
    def of(cls, height: float, sigma: float = 0.01) -> HeightPrior:
        """Return the prior of a person of known height; both in [m]."""
        return cls(known=(height, sigma))

    def groups(self) -> dict[str, tuple[float, float, float]]:
        """Return log share, mean and standard deviation of log height of each group.

        A known height makes groups less probable in which it is rare (Bayes' rule with normal
        densities).
        """
        found = {}
        for name, (mean, spread), share in (
            ("man", self.men, (1 - self.child_share) / 2),
            ("woman", self.women, (1 - self.child_share) / 2),
            ("child", self.children, self.child_share),
        ):
            middle, width = math.log(mean), spread / mean
            log_share = math.log(max(share, 1e-12))
            if self.known is not None:
                said, error = math.log(self.known[0]), self.known[1] / self.known[0]
                both = width**2 + error**2
                log_share -= (said - middle) ** 2 / (2 * both) + math.log(both) / 2
                middle = (middle * error**2 + said * width**2) / both
                width = width * error / math.sqrt(both)
            found[name] = (log_share, middle, width)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class StatureGroup:
    """Joint normal distribution of shape and log height of one group.

    Attributes:
        prior: of the shape coordinates.
        gain: (K,) regression of log height on the coordinates.
        middle: expected log height at the prior's mean.
        width: standard deviation of log height given the coordinates.
        log_share: log of the group's share.
    """

    prior: ShapePrior
    gain: Array
    middle: float
    width: float
    log_share: float

    def height(self, shape: Array, spread: Array) -> tuple[float, float]:
        """Return mean and standard deviation of log height for (K,) coordinates with a covariance."""
        mean = self.middle + float(self.gain @ (shape - self.prior.mean))
        return mean, math.sqrt(self.width**2 + float(self.gain @ spread @ self.gain))


def stature_groups(space: ShapeSpace, prior: HeightPrior) -> dict[str, StatureGroup]:
    """Combine the height prior with the shape groups of the space."""
    return {name: _kind(space.groups[name], *numbers) for name, numbers in prior.groups().items()}


def _kind(group: ShapeGroup, log_share: float, middle: float, width: float) -> StatureGroup:
    mean = group.mean + group.slope * (middle - group.at)
    spread = group.spread + width**2 * np.outer(group.slope, group.slope)
    gain = np.asarray(width**2 * np.linalg.solve(spread, group.slope), np.float64)
    left = width**2 - float(gain @ group.slope) * width**2
    return StatureGroup(
        ShapePrior(mean, spread), gain, middle, math.sqrt(max(left, 1e-12)), log_share
    )


def mixture_prior(parts: list[tuple[float, ShapePrior]]) -> ShapePrior:
    """Return the normal distribution with mean and covariance of a weighted mixture."""
    total = sum(weight for weight, _ in parts)
    mean = np.sum([weight / total * prior.mean for weight, prior in parts], axis=0)
    spread = np.sum(
        [
            weight / total * (prior.spread + np.outer(prior.mean - mean, prior.mean - mean))
            for weight, prior in parts
        ],
        axis=0,
    )
    return ShapePrior(mean, spread)


def group_probabilities(
    found: dict[str, StatureGroup],
    before: ShapePrior,
    shape: Array,
    spread: Array,
    trust: float = 1.0,
) -> dict[str, float]:
    """Return the posterior probability of each group, from a fit of the shape.

    Args:
        found: the groups.
        before: prior that the fit was made with.
        shape: (K,) fitted coordinates.
        spread: (K, K) their covariance.
        trust: power of the likelihood, 0 to 1. Errors of landmarks are correlated, the more so the less
            of the body is visible.
    """
    # Likelihood of the landmarks alone: subtract the prior from the posterior precision.
    after, own = np.linalg.inv(spread), np.linalg.inv(before.spread)
    told = after - own
    values, vectors = np.linalg.eigh((told + told.T) / 2)
    told = (vectors * np.maximum(values, 0)) @ vectors.T
    pull = after @ shape - own @ before.mean
    logs = {}
    for name, kind in found.items():
        precise = np.linalg.inv(kind.prior.spread)
        both = told + precise
        aim = pull + precise @ kind.prior.mean
        logs[name] = kind.log_share + 0.5 * trust * float(
            aim @ np.linalg.solve(both, aim)
            - kind.prior.mean @ precise @ kind.prior.mean
            - np.linalg.slogdet(both)[1]
            - np.linalg.slogdet(kind.prior.spread)[1]
        )
    top = max(logs.values())
    weights = {name: math.exp(value - top) for name, value in logs.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def half_width(parts: list[tuple[float, float, float]], center: float) -> float:
    """Return the half width of the interval around a center that holds 68.3 % of a normal mixture.

    For a single normal distribution this is its standard deviation. The standard deviation of a mixture
    would be larger: a few improbable children would make every adult's distance look uncertain.

    Args:
        parts: weight, mean and standard deviation of each.
        center: of the interval.
    """
    total = sum(weight for weight, _, _ in parts)
    low, high = 0.0, max(abs(mean - center) + 5 * spread for _, mean, spread in parts)
    for _ in range(50):
        reach = (low + high) / 2
        inside = sum(
            weight * (_below(center + reach - mean, spread) - _below(center - reach - mean, spread))
            for weight, mean, spread in parts
        )
        low, high = (reach, high) if inside < 0.6827 * total else (low, reach)
    return (low + high) / 2


def _below(gap: float, spread: float) -> float:
    """Return the normal cumulative probability of `gap` above the mean."""
    return 0.5 * (1 + math.erf(gap / (spread * math.sqrt(2))))
