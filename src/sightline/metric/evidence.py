"""Evidence of scale, in the form that the solver uses.

A piece of evidence compares a candidate mapping ρ = s·d + t (inverse depth in [1/m] from relative
disparity d) with something known, as the logarithm of a ratio of distances: 0 if they agree, 0.1 if
the candidate is 10 % farther or longer than known. Every class evaluates many candidates at once,
which is how the solver computes uncertainties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

Doubles = NDArray[np.float64]

#: Smallest inverse depth of a candidate, relative to that of the near part of the image. Anything a
#: thousand times farther is treated as sky. A ratio rather than a distance, so that the result scales
#: exactly with the known sizes.
LEAST = 1e-3
#: Number of points that represent all pixels of an object: enough for a median, few enough to be
#: evaluated for every candidate.
KNOTS = 15
#: Error of relative disparity for one object against the best mapping of the whole image, as a
#: relative error of depth. Measured by `benchmarks/metric_prior.py`.
READING = 0.1
#: Mean and standard deviation of ln(ρ_near / ρ_far) over images. Measured with `small` by
#: `benchmarks/metric_prior.py`: 0.87 ± 0.37 over 93 images of rooms and tables (`rgbd_train`),
#: 2.1 ± 1.7 over 84 rendered scenes of all kinds. The kind of an image is unknown, so this covers both.
CONTRAST = (1.3, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """B candidates for the mapping from disparity to inverse depth, and for the focal length.

    Attributes:
        scale: (B,) s.
        shift: (B,) t in [1/m].
        near: (B,) inverse depth of the near part of the image in [1/m]; inverse depths are clamped
            to at least `LEAST` times it.
        focal: (B,) focal length divided by the one used to make the evidence.
    """

    scale: Doubles
    shift: Doubles
    near: Doubles
    focal: Doubles

    @classmethod
    def from_logs(cls, logs: Doubles, span: Doubles) -> Candidates:
        """Build candidates from the unknowns of the solver.

        Args:
            logs: (B, 3) ln ρ_far, ln ρ_near and ln(focal factor).
            span: (2,) disparities at which ρ_far and ρ_near are taken.
        """
        far, near = np.exp(logs[:, 0]), np.exp(logs[:, 1])
        scale = (near - far) / (span[1] - span[0])
        return cls(scale, far - scale * span[0], near, np.exp(logs[:, 2]))

    def inverse(self, disparity: Doubles) -> Doubles:
        """Map (N,) relative disparity to (B, N) inverse depth in [1/m], clamped from below."""
        line = self.scale[:, None] * disparity + self.shift[:, None]
        return np.maximum(line, LEAST * self.near[:, None])

    def is_too_far(self, disparity: Doubles) -> bool:
        """Whether the first candidate puts the median of (N,) disparities at the clamped distance."""
        line = self.scale[0] * float(np.median(disparity)) + self.shift[0]
        return bool(line <= LEAST * self.near[0])


class Evidence(Protocol):
    """One piece of evidence of scale."""

    @property
    def name(self) -> str:
        """Description for messages and records."""
        ...

    @property
    def kind(self) -> str:
        """Kind of evidence; all evidence of a kind shares an error, such as that of the body model."""
        ...

    @property
    def sigmas(self) -> Doubles:
        """(K,) standard deviation of each residual."""
        ...

    def compare(self, candidates: Candidates) -> Doubles:
        """Return (B, K) log ratios of candidate over known; the first of the K is about size."""
        ...


def _check(name: str, sigma: float) -> None:
    if not (np.isfinite(sigma) and sigma > 0):
        raise InputError(f"{name}: the uncertainty must be positive, got {sigma:g}")


@dataclass(frozen=True, slots=True, eq=False)
class DepthEvidence:
    """Known depth at pixels with a common error: the surface of a person, an object, a point.

    Attributes:
        name: description for messages and records.
        kind: `person`, `feet`, `point`, `object` or `iris`.
        disparity: (N,) relative disparity.
        depth: (N,) known depth in [m].
        sigma: common relative error of the depths, for example from the person's height.
        focal_power: power of the focal length by which the depths scale: 1 if they follow from a
            size in pixels, 0 if they were measured.
        relief: standard deviation of ln(far / near) within the object, if the depth difference
            between its far and near parts is to be used as well; None to use the median only.
        weights: (N,) weights of the pixels in the median; None for equal weights.
    """

    name: str
    kind: str
    disparity: Doubles
    depth: Doubles
    sigma: float
    focal_power: float = 0.0
    relief: float | None = None
    weights: Doubles | None = None

    def __post_init__(self) -> None:
        _check(self.name, self.sigma)
        if self.disparity.shape != self.depth.shape or self.disparity.ndim != 1:
            raise InputError(
                f"{self.name}: {self.disparity.shape} disparities for {self.depth.shape} depths"
            )
        if len(self.depth) == 0:
            raise InputError(f"{self.name}: covers no pixel")
        if not (np.isfinite(self.disparity).all() and np.isfinite(self.depth).all()):
            raise InputError(f"{self.name}: depths and disparities must be finite")
        if not (self.depth > 0).all():
            raise InputError(f"{self.name}: depths must be positive")
        if self.relief is not None:
            _check(self.name, self.relief)
        if self.weights is not None and self.weights.shape != self.depth.shape:
            raise InputError(
                f"{self.name}: {self.weights.shape} weights for {self.depth.shape} depths"
            )

    @property
    def sigmas(self) -> Doubles:
        """(1,) or (2,) standard deviation of the median and, if used, of the relief."""
        return np.array([self.sigma] if self.relief is None else [self.sigma, self.relief])

    def compare(self, candidates: Candidates) -> Doubles:
        """Return the median over pixels of ln(candidate depth / known depth), and the relief."""
        off = -np.log(candidates.inverse(self.disparity)) - np.log(self.depth)
        middle = np.median(off, axis=1)
        if self.weights is not None:
            middle = weighted_median(off, self.weights)
        # Known depth from a size in pixels is proportional to the focal length.
        middle = middle - self.focal_power * np.log(candidates.focal)
        if self.relief is None:
            return np.asarray(middle[:, None])
        low, high = np.quantile(self.depth, [1 / 3, 2 / 3])
        far, near = off[:, self.depth >= high], off[:, self.depth <= low]
        return np.stack([middle, np.median(far, axis=1) - np.median(near, axis=1)], axis=1)


def condense(disparity: NDArray[Any], depth: NDArray[Any]) -> tuple[Doubles, Doubles]:
    """Summarize (N,) disparities and depths by at most `KNOTS` medians, from far to near."""
    return condense_weighted(disparity, depth, np.ones(len(depth)))[:2]


def condense_weighted(
    disparity: NDArray[Any], depth: NDArray[Any], weights: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """Summarize weighted pixels by at most `KNOTS` medians of groups of similar disparity.

    Args:
        disparity: (N,) relative disparity.
        depth: (N,) depth in [m].
        weights: (N,) weights of the pixels.

    Returns:
        (K,) disparities, depths and weights of the groups.
    """
    disparity, depth = disparity.astype(np.float64), depth.astype(np.float64)
    if len(disparity) <= KNOTS:
        return disparity, depth, weights
    parts = np.array_split(np.argsort(disparity, kind="stable"), KNOTS)
    d, z = (
        np.array([weighted_median(values[part], weights[part]) for part in parts])
        for values in (disparity, depth)
    )
    return d, z, np.array([weights[part].sum() for part in parts])


def weighted_median(values: Doubles, weights: Doubles) -> Doubles:
    """Return (...) weighted medians of (..., N) values with (N,) weights."""
    order = np.argsort(values, axis=-1)
    ranked = np.take_along_axis(values, order, axis=-1)
    below = np.cumsum(weights[order], axis=-1) / weights.sum()
    # Where the weight splits exactly in half, the mean of the two neighbors is the median.
    places = [(below < half).sum(axis=-1, keepdims=True) for half in (0.5 - 1e-9, 0.5 + 1e-9)]
    ends = [np.take_along_axis(ranked, np.minimum(place, len(weights) - 1), -1) for place in places]
    return np.asarray((ends[0] + ends[1])[..., 0] / 2)


@dataclass(frozen=True, slots=True, eq=False)
class LengthEvidence:
    """Known distance between two pixels.

    Attributes:
        name: description for messages and records.
        rays: (2, 2) x and y of the rays of both pixels at depth 1, for the assumed focal length.
        disparity: (2,) relative disparity at both pixels.
        length: known length in [m].
        sigma: relative error of the length and of reading the two pixels.
        kind: `length`.
    """

    name: str
    rays: Doubles
    disparity: Doubles
    length: float
    sigma: float
    kind: str = "length"

    def __post_init__(self) -> None:
        _check(self.name, self.sigma)
        if not (np.isfinite(self.length) and self.length > 0):
            raise InputError(f"{self.name}: a length must be positive, got {self.length:g} m")
        if np.array_equal(self.rays[0], self.rays[1]):
            raise InputError(f"{self.name}: both ends are the same pixel")

    @property
    def sigmas(self) -> Doubles:
        """(1,) standard deviation of ln(length)."""
        return np.array([self.sigma])

    def compare(self, candidates: Candidates) -> Doubles:
        """Return (B, 1) ln(candidate length / known length)."""
        depth = 1 / candidates.inverse(self.disparity)  # (B, 2)
        rays = np.ones((len(depth), 2, 3))
        # Pinhole camera: x/z of a pixel is inversely proportional to the focal length.
        rays[..., :2] = self.rays / candidates.focal[:, None, None]
        ends = rays * depth[..., None]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        return np.log(length / self.length)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PlaneEvidence:
    """Known distance of the camera from a plane, such as its height above the floor.

    A plane n·P = h is linear in inverse depth: for the ray r of a pixel, ρ = n·r / h. So relative
    disparity on it is d = a·x + b·y + c over ray coordinates, and h = 1 / ‖(s a, s b, s c + t)‖.

    Attributes:
        name: description for messages and records.
        plane: (3,) a, b and c.
        distance: known h in [m].
        sigma: relative error of the distance and of the plane.
        kind: `plane`.
    """

    name: str
    plane: Doubles
    distance: float
    sigma: float
    kind: str = "plane"

    def __post_init__(self) -> None:
        _check(self.name, self.sigma)
        if not (np.isfinite(self.distance) and self.distance > 0):
            raise InputError(f"{self.name}: a height must be positive, got {self.distance:g} m")

    @property
    def sigmas(self) -> Doubles:
        """(1,) standard deviation of ln(distance)."""
        return np.array([self.sigma])

    def compare(self, candidates: Candidates) -> Doubles:
        """Return (B, 1) ln(candidate distance / known distance)."""
        a, b, c = self.plane
        # With a focal length f times as long, ray coordinates shrink by f (x = f·x'), so the slope
        # over the new coordinates grows by f: a·x = (a f)·x'.
        normal = np.stack(
            [
                candidates.scale * a * candidates.focal,
                candidates.scale * b * candidates.focal,
                candidates.scale * c + candidates.shift,
            ]
        )
        inverse = np.maximum(np.linalg.norm(normal, axis=0), LEAST * candidates.near)
        return -np.log(inverse * self.distance)[:, None]
