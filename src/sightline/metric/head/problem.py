"""The equations of the fit: clues, priors, and their solution for many variants side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sightline.metric.head.clues import Clue, DepthClue, Doubles, Lines

#: Residual, in standard deviations, from which on a clue counts less and less.
TUNING = 2.0
#: Kinds of clues that people give: by where they stand, or by their surface.
PEOPLE = ("feet", "person")
#: Kinds of clues that were found, not given: they give way to what somebody knows.
FOUND = (*PEOPLE, "iris")
#: Fewest given clues of which one may be let go: of two that contradict each other, which?
FEW = 3
#: Least ln(ρ_near / ρ_far): near things are nearer than far ones, whatever two noisy depths say.
LEAST_CONTRAST = 0.1
#: Spread of ln(middle distance) around what the median clue asks for: only to keep the equations
#: solvable where clues are let go of. Around no number of metres, or long lengths would come out short.
_ANY_SIZE = 4.0
_STEP = 1e-4
_ITERATIONS = 30


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known before any clue.

    Attributes:
        contrast: usual ln(ρ_near / ρ_far) between the two disparities of `span_of`.
        contrast_sigma: its spread over pictures.
        focal_sigma: relative uncertainty of the focal length.
        shared: relative error that all clues of a kind have in common, by kind.
    """

    contrast: float
    contrast_sigma: float
    focal_sigma: float = 0.0
    shared: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Things with as many points each, which are asked together: there may be many people.

    Attributes:
        places: of the clues.
        disparity: (T, N) relative disparity.
        logs: (T, N) ln(known depth).
        power: (T,) of the focal length.
    """

    places: list[int]
    disparity: Doubles
    logs: Doubles
    power: Doubles


class Problem:
    """Clues, priors and the equations between them, for many variants side by side."""

    def __init__(self, clues: Sequence[Clue], span: Doubles, prior: Prior, robust: bool) -> None:
        self.clues = clues
        self.span = span
        self.prior = prior
        self.robust = robust
        self.sigmas = np.concatenate([clue.sigmas for clue in clues])
        #: Which clue each residual belongs to.
        self.owner = np.repeat(np.arange(len(clues)), [len(clue.sigmas) for clue in clues])
        #: The first residual of every clue.
        self.first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        given = np.array([clue.kind not in FOUND for clue in clues])
        #: Clues that are believed whatever the others say.
        self.held = given & (int(given.sum()) < FEW)
        by_size: dict[int, list[int]] = {}
        for index, clue in enumerate(clues):
            if isinstance(clue, DepthClue) and clue.relief is None and clue.weights is None:
                by_size.setdefault(len(clue.depth), []).append(index)
        self.groups = [_alike(clues, places) for places in by_size.values()]
        together = {index for places in by_size.values() for index in places}
        self.single = [index for index in range(len(clues)) if index not in together]
        #: (3,) x, y and φ to begin with.
        self.start = self._start()

    def residuals(self, logs: Doubles, moved: Doubles) -> Doubles:
        """(B, 3) → (B, R) logarithms of ratios, with known sizes moved by (B, R)."""
        lines = lines_of(logs, self.span)
        off = np.empty((len(logs), len(self.owner)))
        for group in self.groups:
            inverse = lines.inverse(group.disparity.ravel()).reshape(-1, *group.disparity.shape)
            middle = np.median(-np.log(inverse) - group.logs, axis=2)
            off[:, self.first[group.places]] = middle - group.power * logs[:, 2:]
        for index in self.single:
            begin, clue = self.first[index], self.clues[index]
            off[:, begin : begin + len(clue.sigmas)] = clue.compare(lines)
        return off - moved

    def focal_powers(self, logs: Doubles) -> Doubles:
        """(3,) → (number of clues,) by which power of the focal length distances by each clue go."""
        longer = logs + np.array([0.0, 0.0, _STEP])
        off = self.residuals(np.stack([logs, longer]), np.zeros((2, len(self.owner))))
        return np.asarray((off[0] - off[1])[self.first] / _STEP)

    def _start(self) -> Doubles:
        """Begin with the usual contrast, at the size that the median clue asks for."""
        logs = np.array([-self.prior.contrast / 2, self.prior.contrast / 2, 0.0])
        for _ in range(3):
            off = self.residuals(logs[None], np.zeros((1, len(self.owner))))[0, self.first]
            logs[:2] += np.median(off)
        return logs

    def weights(self, off: Doubles) -> Doubles:
        """(B, R) → (B, number of clues) how far each clue is believed."""
        if not self.robust:
            return np.ones((len(off), len(self.clues)))
        squares = np.zeros((len(off), len(self.clues)))
        np.add.at(squares.T, self.owner, ((off / self.sigmas) ** 2).T)
        return np.where(self.held, 1.0, 1 / (1 + squares / TUNING**2))

    def solve(self, logs: Doubles, moved: Doubles, priors: Doubles, drawn: Doubles) -> Doubles:
        """Gauss-Newton with reweighting from (B, 3).

        Args:
            logs: (B, 3) to start from.
            moved: (B, R) by how much known sizes are moved.
            priors: (B, 2) by how much contrast and focal length are moved.
            drawn: (B, number of clues) how often each clue counts.
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
            left = np.einsum("bri,br,brj->bij", slope, weight, slope)
            right = -np.einsum("bri,br,br->bi", slope, weight, off)
            _add_prior(left, right, np.array([-1.0, 1.0, 0.0]), logs, contrast, spread)
            _add_prior(left, right, np.array([0.0, 0.0, 1.0]), logs, priors[:, 1], focal)
            _add_prior(left, right, middle, logs, middle @ self.start, _ANY_SIZE)
            change = np.linalg.solve(left, right[..., None])[..., 0]
            change = np.clip(change, -1.0, 1.0)
            logs += change
            lacking = np.maximum(LEAST_CONTRAST - (logs[:, 1] - logs[:, 0]), 0) / 2
            logs[:, 0] -= lacking
            logs[:, 1] += lacking
            if np.abs(change).max() < 1e-6:
                break
        return logs


def _alike(clues: Sequence[Clue], places: list[int]) -> _Alike:
    things = [clue for clue in (clues[place] for place in places) if isinstance(clue, DepthClue)]
    return _Alike(
        places,
        np.array([thing.disparity for thing in things]),
        np.log([thing.depth for thing in things]),
        np.array([thing.focal_power for thing in things]),
    )


def lines_of(logs: Doubles, span: Doubles) -> Lines:
    """(B, 3) → as many lines and lenses."""
    far, near = np.exp(logs[:, 0]), np.exp(logs[:, 1])
    scale = (near - far) / (span[1] - span[0])
    return Lines(scale, far - scale * span[0], near, np.exp(logs[:, 2]))


def _add_prior(
    left: Doubles, right: Doubles, way: Doubles, logs: Doubles, mean: Any, sigma: float
) -> None:
    """Add (way · logs - mean)² / sigma² to the normal equations, with one mean or (B,) of them."""
    left += way[:, None] * way[None, :] / sigma**2
    right -= way * ((logs @ way - mean) / sigma**2)[:, None]
