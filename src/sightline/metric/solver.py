"""Robust solver: fit scale, shift and focal length to all evidence of an image.

The unknowns are the inverse depths at a far and a near disparity of the image, and the focal length.
Their logarithms x, y and φ are free of sign and unit:

    ρ(d) = (1 - w) eˣ + w eʸ,   w = (d - d_far) / (d_near - d_far)

Evidence k has residuals r_k in units of its sigma. The solver minimizes the Cauchy loss
Σ_k c² ln(1 + |r_k|² / c²), which rejects outliers: evidence detected in the image always, evidence
given by the user only if there are at least three pieces of it. Two priors are added: y - x follows its
distribution over images, because a single length cannot determine both scale and shift, and φ is
centered at the given focal length. The method is iteratively reweighted Gauss-Newton, run for many
perturbed copies of the problem at once.

**Uncertainty** is the spread over the perturbed copies (a parametric bootstrap): every known size is
perturbed by its own error and by that of its kind, the priors by theirs, and with many people the
people are resampled with replacement. If the evidence disagrees by more than its errors explain, the
spread is widened accordingly (Birge ratio).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.evidence import (
    Candidates,
    DepthEvidence,
    Doubles,
    Evidence,
    LengthEvidence,
)
from sightline.metric.metric_fit import CONTRADICTS, EvidenceReport, MetricFit

#: Scale c of the Cauchy loss, in standard deviations.
TUNING = 2.0
#: Kinds of evidence from people: the ground at their feet, or their surface.
PEOPLE = ("feet", "person")
#: Kinds of evidence that are detected rather than given; these may always be rejected.
DETECTED = (*PEOPLE, "iris")
#: Given evidence may be rejected from this number on; of two that disagree, neither is preferred.
FEW = 3
#: Smallest ln(ρ_near / ρ_far), so that near stays nearer than far with noisy evidence.
LEAST_CONTRAST = 0.1
#: Standard deviation of ln(middle distance) around the median of the evidence. A weak prior that keeps
#: the normal equations solvable when evidence is rejected. It is centered at the evidence and not at a
#: fixed distance, which would bias long lengths.
_ANY_SIZE = 4.0
#: Step of the numerical derivatives.
_STEP = 1e-4
_ITERATIONS = 30
#: Given evidence that differs by more than this in ln(distance) is contradictory.
IMPOSSIBLE = 0.4
#: Largest Birge ratio.
WIDEST = 4.0
#: With at least this many people, they are resampled for each perturbed copy.
ENOUGH = 6


@dataclass(frozen=True, slots=True)
class ScalePrior:
    """Prior of the solver.

    Attributes:
        contrast: mean of ln(ρ_near / ρ_far) between the two disparities of `span_of`.
        contrast_sigma: its standard deviation over images.
        focal_sigma: relative standard deviation of the given focal length.
        shared: relative error that all evidence of a kind has in common, by kind.
    """

    contrast: float
    contrast_sigma: float
    focal_sigma: float = 0.0
    shared: Mapping[str, float] = field(default_factory=dict)


def span_of(disparity: NDArray[Any]) -> Doubles:
    """Return the (2,) disparities of the unknowns: 5th and 95th percentile of the image."""
    far, near = np.quantile(disparity, [0.05, 0.95])
    if not near > far:
        raise InputError(
            "relative depth is constant over the image", remedy="give an image that shows a scene"
        )
    return np.array([far, near])


def fit(
    evidence: Sequence[Evidence],
    span: Doubles,
    prior: ScalePrior,
    *,
    robust: bool = True,
    variants: int = 100,
    seed: int = 0,
) -> MetricFit:
    """Fit scale, shift and focal length to all evidence.

    Args:
        evidence: at least one piece.
        span: (2,) disparities from `span_of`.
        prior: priors of contrast and focal length, and shared errors.
        robust: reject evidence that contradicts the rest.
        variants: number of perturbed copies for the uncertainty.
        seed: random seed of the perturbations.

    Raises:
        InputError: there is no evidence, given evidence is contradictory, or all of it is too far.
    """
    if not evidence:
        raise InputError("no evidence of scale was given or detected")
    problem = ScaleProblem(evidence, span, prior, robust)
    count = len(problem.owner)
    zero = np.zeros((1, count))
    best = problem.solve(problem.start[None], zero, np.zeros((1, 2)), np.ones((1, len(evidence))))[
        0
    ]
    moved, priors, drawn = _variants(problem, variants, np.random.default_rng(seed))
    answers = problem.solve(np.tile(best, (variants, 1)), moved, priors, drawn)
    off = problem.residuals(best[None], zero)[0]
    _check_contradictions(problem, off)
    reports = _reports(problem, best, off)
    if all(report.too_far for report in reports):
        raise InputError(
            f"{reports[0].name}: too far away to determine the scale",
            remedy="give something nearer",
        )
    widened = _birge_ratio(problem, off)
    # Evidence that disagrees must not make the focal length less certain than its prior.
    focal_sigma = min(float(widened * answers[:, 2].std(ddof=1)), prior.focal_sigma)
    return MetricFit.from_logs(span, best, answers, widened, focal_sigma, reports)


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Depth evidence with equal numbers of points, evaluated together.

    Attributes:
        places: indices of the evidence.
        disparity: (T, N) relative disparity.
        logs: (T, N) ln(known depth).
        power: (T,) powers of the focal length.
    """

    places: list[int]
    disparity: Doubles
    logs: Doubles
    power: Doubles

    @classmethod
    def of(cls, evidence: Sequence[Evidence], places: list[int]) -> _Batch:
        items = [item for item in (evidence[i] for i in places) if isinstance(item, DepthEvidence)]
        return cls(
            places,
            np.array([item.disparity for item in items]),
            np.log([item.depth for item in items]),
            np.array([item.focal_power for item in items]),
        )


class ScaleProblem:
    """Nonlinear least-squares problem of the solver, for B variants at once.

    Args:
        evidence: E pieces with R residuals in total.
        span: (2,) disparities of the unknowns.
        prior: priors.
        robust: use the Cauchy loss rather than the square.
    """

    def __init__(
        self, evidence: Sequence[Evidence], span: Doubles, prior: ScalePrior, robust: bool
    ) -> None:
        self.evidence = evidence
        self.span = span
        self.prior = prior
        self.robust = robust
        self.sigmas = np.concatenate([item.sigmas for item in evidence])
        #: (R,) index of the evidence that each residual belongs to.
        self.owner = np.repeat(np.arange(len(evidence)), [len(item.sigmas) for item in evidence])
        #: (E,) index of the first residual of each piece of evidence.
        self.first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        given = np.array([item.kind not in DETECTED for item in evidence])
        #: (E,) True for evidence that keeps its full weight.
        self.held = given & (int(given.sum()) < FEW)
        by_size: dict[int, list[int]] = {}
        for index, item in enumerate(evidence):
            if isinstance(item, DepthEvidence) and item.relief is None and item.weights is None:
                by_size.setdefault(len(item.depth), []).append(index)
        self.batches = [_Batch.of(evidence, places) for places in by_size.values()]
        batched = {index for places in by_size.values() for index in places}
        self.single = [index for index in range(len(evidence)) if index not in batched]
        #: (3,) initial x, y and φ.
        self.start = self._start()

    def residuals(self, logs: Doubles, moved: Doubles) -> Doubles:
        """Return (B, R) log ratios at (B, 3) unknowns, with known sizes perturbed by (B, R)."""
        candidates = Candidates.from_logs(logs, self.span)
        off = np.empty((len(logs), len(self.owner)))
        for batch in self.batches:
            inverse = candidates.inverse(batch.disparity.ravel())
            inverse = inverse.reshape(-1, *batch.disparity.shape)
            middle = np.median(-np.log(inverse) - batch.logs, axis=2)
            off[:, self.first[batch.places]] = middle - batch.power * logs[:, 2:]
        for index in self.single:
            begin, item = self.first[index], self.evidence[index]
            off[:, begin : begin + len(item.sigmas)] = item.compare(candidates)
        return off - moved

    def focal_powers(self, logs: Doubles) -> Doubles:
        """Return (E,) d ln(distance) / dφ of each piece of evidence at (3,) unknowns."""
        longer = logs + np.array([0.0, 0.0, _STEP])
        off = self.residuals(np.stack([logs, longer]), np.zeros((2, len(self.owner))))
        return np.asarray((off[0] - off[1])[self.first] / _STEP)

    def _start(self) -> Doubles:
        """Start at the mean contrast and the median scale of the evidence."""
        logs = np.array([-self.prior.contrast / 2, self.prior.contrast / 2, 0.0])
        for _ in range(3):
            off = self.residuals(logs[None], np.zeros((1, len(self.owner))))[0, self.first]
            logs[:2] += np.median(off)
        return logs

    def weights(self, off: Doubles) -> Doubles:
        """Return (B, E) robust weights for (B, R) residuals: 1 / (1 + |r|² / c²) (Cauchy)."""
        if not self.robust:
            return np.ones((len(off), len(self.evidence)))
        squares = np.zeros((len(off), len(self.evidence)))
        np.add.at(squares.T, self.owner, ((off / self.sigmas) ** 2).T)
        return np.where(self.held, 1.0, 1 / (1 + squares / TUNING**2))

    def solve(self, logs: Doubles, moved: Doubles, priors: Doubles, drawn: Doubles) -> Doubles:
        """Run iteratively reweighted Gauss-Newton.

        Args:
            logs: (B, 3) start.
            moved: (B, R) perturbations of known sizes.
            priors: (B, 2) perturbations of the prior means of contrast and focal length.
            drawn: (B, E) number of times each piece of evidence counts.

        Returns:
            (B, 3) solutions.
        """
        logs = logs.copy()
        contrast, spread = self.prior.contrast + priors[:, 0], self.prior.contrast_sigma
        focal = max(self.prior.focal_sigma, 1e-4)
        middle = np.array([0.5, 0.5, 0.0])
        for _ in range(_ITERATIONS):
            off = self.residuals(logs, moved)
            slope = np.empty((*off.shape, 3))
            for index in range(3):
                step = logs.copy()
                step[:, index] += _STEP
                slope[..., index] = (self.residuals(step, moved) - off) / _STEP
            weight = (self.weights(off) * drawn)[:, self.owner] / self.sigmas**2
            # Normal equations (Jᵀ W J) Δ = -Jᵀ W r, with the priors as further rows.
            left = np.einsum("bri,br,brj->bij", slope, weight, slope)
            right = -np.einsum("bri,br,br->bi", slope, weight, off)
            _add_prior(left, right, np.array([-1.0, 1.0, 0.0]), logs, contrast, spread)
            _add_prior(left, right, np.array([0.0, 0.0, 1.0]), logs, priors[:, 1], focal)
            _add_prior(left, right, middle, logs, middle @ self.start, _ANY_SIZE)
            change = np.linalg.solve(left, right[..., None])[..., 0]
            change = np.clip(change, -1.0, 1.0)
            logs += change
            # Project onto y - x >= LEAST_CONTRAST.
            lacking = np.maximum(LEAST_CONTRAST - (logs[:, 1] - logs[:, 0]), 0) / 2
            logs[:, 0] -= lacking
            logs[:, 1] += lacking
            if np.abs(change).max() < 1e-6:
                break
        return logs


def _add_prior(
    left: Doubles, right: Doubles, way: Doubles, logs: Doubles, mean: Any, sigma: float
) -> None:
    """Add (way · logs - mean)² / sigma² to the normal equations, with one mean or (B,) of them."""
    left += way[:, None] * way[None, :] / sigma**2
    right -= way * ((logs @ way - mean) / sigma**2)[:, None]


def _variants(
    problem: ScaleProblem, count: int, rng: np.random.Generator
) -> tuple[Doubles, Doubles, Doubles]:
    """Draw perturbations of known sizes and priors, and how often each piece of evidence counts."""
    evidence, prior = problem.evidence, problem.prior
    moved = rng.standard_normal((count, len(problem.owner))) * problem.sigmas
    drawn = np.ones((count, len(evidence)))
    people = [index for index, item in enumerate(evidence) if item.kind in PEOPLE]
    if len(people) >= ENOUGH:
        # Resampling already shows how much people differ; perturbing them too would count it twice.
        moved[:, np.isin(problem.owner, people)] = 0.0
        share = np.full(len(people), 1 / len(people))
        drawn[:, people] = rng.multinomial(len(people), share, size=count)
    kinds = np.array([item.kind for item in evidence])
    for kind, sigma in sorted(prior.shared.items()):
        moved[:, problem.first[kinds == kind]] += sigma * rng.standard_normal((count, 1))
    spread = np.array([prior.contrast_sigma, max(prior.focal_sigma, 1e-4)])
    return moved, rng.standard_normal((count, 2)) * spread, drawn


def _birge_ratio(problem: ScaleProblem, off: Doubles) -> float:
    """Return sqrt(χ² / degrees of freedom), clipped to 1 … `WIDEST`."""
    z = off[problem.first] / problem.sigmas[problem.first]
    weight = problem.weights(off[None])[0]
    spread = np.sqrt((weight * z**2).sum() / max(len(z) - 2, 1))
    return min(max(1.0, float(spread)), WIDEST)


def _check_contradictions(problem: ScaleProblem, off: Doubles) -> None:
    """Reject two given pieces of evidence that cannot both be true.

    With three or more, the robust loss rejects the outlier instead.
    """
    own = off[problem.first]
    held = np.flatnonzero(problem.held)
    if len(held) < 2:
        return
    low, high = held[np.argmin(own[held])], held[np.argmax(own[held])]
    gap = float(own[high] - own[low])
    allowed = CONTRADICTS * float(np.hypot(*problem.sigmas[problem.first[[low, high]]]))
    if gap > max(IMPOSSIBLE, allowed):
        names = " and ".join(problem.evidence[index].name for index in sorted((low, high)))
        raise InputError(
            f"{names} contradict each other: their distances differ by a factor of {np.exp(gap):.1f}",
            remedy="correct one, leave one out, or add a third",
        )


def _reports(problem: ScaleProblem, best: Doubles, off: Doubles) -> tuple[EvidenceReport, ...]:
    weights = problem.weights(off[None])[0]
    powers = problem.focal_powers(best)
    candidates = Candidates.from_logs(best[None], problem.span)
    return tuple(
        EvidenceReport(
            item.name,
            item.kind,
            float(off[first]),
            float(item.sigmas[0]),
            float(weight),
            float(np.exp(-off[first])),
            float(power),
            len(problem.evidence) == 1,
            isinstance(item, DepthEvidence | LengthEvidence)
            and candidates.is_too_far(item.disparity),
        )
        for item, first, weight, power in zip(
            problem.evidence, problem.first, weights, powers, strict=True
        )
    )
