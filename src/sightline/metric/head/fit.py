"""One robust fit of everything that is known about the size of a picture.

Unknown are the inverse depths at two disparities of the picture, a far and a near one, and the focal
length. Their logarithms x, y and φ are free of sign and unit:

    ρ(d) = (1 - w) eˣ + w eʸ,   w = (d - d_far) / (d_near - d_far)

A clue k has residuals r_k in units of its sigma. What is minimised is Σ_k c² ln(1 + |r_k|² / c²), which
lets go of clues that contradict the others (Cauchy's): of what was found in the picture, and of what
was given if there are three or more of it. Two priors are added: y - x is about what it is in
pictures at large, since a single length cannot tell scale from shift, and the focal length is about
what was said. The fit is a Gauss-Newton iteration with reweighting, for many variants of the problem
at once.

**Error bars** are the spread of the answers to varied problems: every known size is moved by its own
uncertainty and by that of its kind, priors by theirs, and with many clues the clues themselves are
drawn anew with replacement. If the clues disagree by more than they say, everything is widened by
as much (Birge's ratio).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.head.clues import LEAST, Clue, DepthClue, Doubles, LengthClue
from sightline.metric.head.problem import LEAST_CONTRAST, PEOPLE, Prior, Problem, lines_of

__all__ = ["LEAST_CONTRAST", "ClueReport", "MetricFit", "Prior", "fit", "span_of"]

#: Above this many standard deviations a clue contradicts the others.
CONTRADICTS = 3.0
#: Given clues that differ by more than this in ln(distance) cannot both be true.
IMPOSSIBLE = 0.4
#: Error bars of clues that disagree are widened by this at most.
WIDEST = 4.0
#: With at least so many people, they are drawn anew for each variant.
ENOUGH = 6
_GRID = 65


@dataclass(frozen=True, slots=True)
class ClueReport:
    """What became of one clue.

    Attributes:
        name: of the clue.
        kind: of the clue.
        off: ln of what the fit says over what the clue says; 0.1 is 10 % farther or longer.
        sigma: the clue's own uncertainty, as a share.
        weight: how far it was believed, 0 to 1.
        factor: by which the clue alone would change all distances.
        focal_power: by which power of the focal length distances by it go: 1 where it is a size
            across the picture, 0 where it is a depth.
        alone: whether there is no other clue that it could contradict.
        too_far: whether it is about something that the fit puts where nothing is known of depth.
    """

    name: str
    kind: str
    off: float
    sigma: float
    weight: float
    factor: float
    focal_power: float = 0.0
    alone: bool = False
    too_far: bool = False

    @property
    def contradicts(self) -> bool:
        """Whether it is out of tune with the rest."""
        return not self.alone and abs(self.off) > CONTRADICTS * self.sigma


@dataclass(frozen=True, slots=True, eq=False)
class MetricFit:
    """Two numbers that make metres, and how sure they are.

    Attributes:
        scale: s in ρ = s·d + t.
        shift: t, in [1/m].
        scale_sigma: standard deviation of s.
        shift_sigma: of t.
        span: (2,) the far and the near disparity.
        logs: (3,) x, y and φ.
        variants: (B, 3) the same for varied problems, whose spread is the uncertainty.
        widened: factor on that spread, at least 1, for clues that disagree.
        focal_sigma: relative standard deviation of the focal length that fits best.
        clues: what became of each clue.
    """

    scale: float
    shift: float
    scale_sigma: float
    shift_sigma: float
    span: Doubles
    logs: Doubles
    variants: Doubles
    widened: float
    focal_sigma: float
    clues: tuple[ClueReport, ...]

    @property
    def focal_factor(self) -> float:
        """The focal length that fits best over the one that was given."""
        return float(np.exp(self.logs[2]))

    @property
    def least(self) -> float:
        """Inverse depth in [1/m] from which on down nothing is known: `LEAST` of the near things'."""
        return float(LEAST * np.exp(self.logs[1]))

    def varied(self, disparity: Doubles) -> tuple[Doubles, Doubles]:
        """Return what the variants say, for (N,) relative disparities.

        Returns:
            (B, N) changes of ln(depth), and (B,) focal lengths over the best one.
        """
        inverse = lines_of(self.variants, self.span).inverse(disparity)
        best = np.maximum(self.scale * disparity + self.shift, self.least)
        focal = self.variants[:, 2] - self.logs[2]
        return self.widened * np.log(best / inverse), np.exp(self.widened * focal)

    def relative_sigma(self, disparity: NDArray[Any]) -> Doubles:
        """Return the standard deviation of ln(depth) at relative disparities, from the fit alone.

        Half of the middle 68 % of the variants, read off a grid: lines that cross where the clues are
        fan out beside them, which no linear propagation of errors would show.
        """
        grid = np.linspace(float(disparity.min()), float(disparity.max()), _GRID)
        low, high = np.quantile(self.varied(grid)[0], [0.16, 0.84], axis=0)
        return np.interp(disparity, grid, (high - low) / 2)


def span_of(disparity: NDArray[Any]) -> Doubles:
    """Return the (2,) disparities that the line is held at: 5th and 95th percentile of a picture."""
    far, near = np.quantile(disparity, [0.05, 0.95])
    if not near > far:
        raise InputError("relative depth is flat: nothing in this picture can be measured")
    return np.array([far, near])


def fit(
    clues: Sequence[Clue],
    span: Doubles,
    prior: Prior,
    *,
    robust: bool = True,
    variants: int = 100,
    seed: int = 0,
) -> MetricFit:
    """Fit scale and shift to all clues.

    Args:
        clues: at least one; metres need a source.
        span: (2,) of the picture, from `span_of`.
        prior: what is known before.
        robust: let go of clues that contradict the others.
        variants: of the problem, for the error bars.
        seed: of the variants.
    """
    if not clues:
        raise InputError("nothing of known size was given or found, so there are no metres")
    problem = Problem(clues, span, prior, robust)
    count = len(problem.owner)
    zero = np.zeros((1, count))
    best = problem.solve(problem.start[None], zero, np.zeros((1, 2)), np.ones((1, len(clues))))[0]
    moved, priors, drawn = _variants(problem, variants, np.random.default_rng(seed))
    answers = problem.solve(np.tile(best, (variants, 1)), moved, priors, drawn)
    off = problem.residuals(best[None], zero)[0]
    _refuse_impossible(problem, off)
    reports = _reports(problem, best, off)
    _refuse_too_far(reports)
    widened = _birge(problem, off)
    # Clues that disagree leave the lens as unsure as it was before, not more.
    focal_sigma = min(float(widened * answers[:, 2].std(ddof=1)), prior.focal_sigma)
    return fit_of(span, best, answers, widened, focal_sigma, reports)


def fit_of(
    span: Doubles,
    logs: Doubles,
    variants: Doubles,
    widened: float,
    focal_sigma: float,
    clues: tuple[ClueReport, ...] = (),
) -> MetricFit:
    """Put a fit together from its logarithms and their variants; see `MetricFit`."""
    line, varied = lines_of(logs[None], span), lines_of(variants, span)
    return MetricFit(
        float(line.scale[0]),
        float(line.shift[0]),
        float(widened * varied.scale.std(ddof=1)),
        float(widened * varied.shift.std(ddof=1)),
        span,
        logs,
        variants,
        widened,
        focal_sigma,
        clues,
    )


def _variants(
    problem: Problem, count: int, rng: np.random.Generator
) -> tuple[Doubles, Doubles, Doubles]:
    """Return how much to move known sizes and priors, and how often to take each clue."""
    clues, prior = problem.clues, problem.prior
    moved = rng.standard_normal((count, len(problem.owner))) * problem.sigmas
    drawn = np.ones((count, len(clues)))
    people = [index for index, clue in enumerate(clues) if clue.kind in PEOPLE]
    if len(people) >= ENOUGH:
        # Drawn anew, people show how far they differ; moving them as well would count it twice.
        moved[:, np.isin(problem.owner, people)] = 0.0
        share = np.full(len(people), 1 / len(people))
        drawn[:, people] = rng.multinomial(len(people), share, size=count)
    kinds = np.array([clue.kind for clue in clues])
    for kind, sigma in sorted(prior.shared.items()):
        moved[:, problem.first[kinds == kind]] += sigma * rng.standard_normal((count, 1))
    spread = np.array([prior.contrast_sigma, max(prior.focal_sigma, 1e-4)])
    return moved, rng.standard_normal((count, 2)) * spread, drawn


def _birge(problem: Problem, off: Doubles) -> float:
    """How much more the clues differ than they say they may, as a factor of at least 1."""
    z = off[problem.first] / problem.sigmas[problem.first]
    weight = problem.weights(off[None])[0]
    spread = np.sqrt((weight * z**2).sum() / max(len(z) - 2, 1))
    return min(max(1.0, float(spread)), WIDEST)


def _refuse_impossible(problem: Problem, off: Doubles) -> None:
    """Refuse two given things that cannot both be true; of more, the odd one out is let go."""
    own = off[problem.first]
    held = np.flatnonzero(problem.held)
    if len(held) < 2:
        return
    low, high = held[np.argmin(own[held])], held[np.argmax(own[held])]
    gap = float(own[high] - own[low])
    allowed = CONTRADICTS * float(np.hypot(*problem.sigmas[problem.first[[low, high]]]))
    if gap > max(IMPOSSIBLE, allowed):
        names = " and ".join(problem.clues[index].name for index in sorted((low, high)))
        raise InputError(
            f"{names} cannot both be true: their distances differ by a factor of {np.exp(gap):.1f}",
            remedy="correct one, leave one out, or give a third",
        )


def _refuse_too_far(reports: Sequence[ClueReport]) -> None:
    """Refuse to measure by nothing but the sky: a thousand times as far as the rest says no size."""
    if all(report.too_far for report in reports):
        raise InputError(
            f"{reports[0].name}: relative depth says no more of it than that it is far away",
            remedy="give something nearer",
        )


def _reports(problem: Problem, best: Doubles, off: Doubles) -> tuple[ClueReport, ...]:
    weights = problem.weights(off[None])[0]
    powers = problem.focal_powers(best)
    lines = lines_of(best[None], problem.span)
    return tuple(
        ClueReport(
            clue.name,
            clue.kind,
            float(off[first]),
            float(clue.sigmas[0]),
            float(weight),
            float(np.exp(-off[first])),
            float(power),
            len(problem.clues) == 1,
            isinstance(clue, DepthClue | LengthClue) and lines.is_too_far(clue.disparity),
        )
        for clue, first, weight, power in zip(
            problem.clues, problem.first, weights, powers, strict=True
        )
    )
