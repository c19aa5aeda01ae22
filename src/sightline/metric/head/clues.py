"""What yardsticks say about a picture, in the one form that the fit understands.

A clue compares the line ρ = s·d + t (inverse depth in [1/m] from relative disparity d) with something
known, as the logarithm of a ratio of distances: 0 if they agree, 0.1 if the line says 10 % farther or
longer than is known. All clues can be asked about many lines at once, which is how error bars are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

Doubles = NDArray[np.float64]

#: Least inverse depth that a line is read at, as a share of that of the picture's near things: what is
#: a thousand times as far away is the sky. A share and no number of metres: twice the length given
#: makes everything twice as far, whatever the length.
LEAST = 1e-3
#: Points that stand for all pixels of a thing: enough for a median, few enough to be asked often.
KNOTS = 15
#: How far a relative map's disparity of one thing lies beside the line that is best for the whole
#: picture, as a relative error of depth: see `sightline.metric.prior`.
READING = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Many candidates for the line and the lens.

    Attributes:
        scale: (B,) s.
        shift: (B,) t in [1/m].
        near: (B,) inverse depth of near things in [1/m]; nothing is read below `LEAST` times it.
        focal: (B,) the true focal length over the one that the clues were made with.
    """

    scale: Doubles
    shift: Doubles
    near: Doubles
    focal: Doubles

    def inverse(self, disparity: Doubles) -> Doubles:
        """(N,) relative disparity → (B, N) inverse depth in [1/m], at least `LEAST` times `near`."""
        line = self.scale[:, None] * disparity + self.shift[:, None]
        return np.maximum(line, LEAST * self.near[:, None])

    def is_too_far(self, disparity: Doubles) -> bool:
        """Whether the first line puts the middle of (N,) disparities where nothing is known."""
        line = self.scale[0] * float(np.median(disparity)) + self.shift[0]
        return bool(line <= LEAST * self.near[0])


class Clue(Protocol):
    """One piece of knowledge."""

    @property
    def name(self) -> str:
        """What it is, for people to read."""
        ...

    @property
    def kind(self) -> str:
        """Clues of one kind share an error, such as that of a body model."""
        ...

    @property
    def sigmas(self) -> Doubles:
        """(K,) standard deviation of each answer."""
        ...

    def compare(self, lines: Lines) -> Doubles:
        """(B, K) logarithms of what each line says over what is known; the first is about the size."""
        ...


def _check(name: str, sigma: float) -> None:
    if not (np.isfinite(sigma) and sigma > 0):
        raise InputError(f"{name}: its uncertainty must be positive, got {sigma:g}")


@dataclass(frozen=True, slots=True, eq=False)
class DepthClue:
    """Known depth at pixels whose errors go together: one person's surface, one object, one point.

    Attributes:
        name: for people to read.
        kind: `person`, `point`, `object`, `iris` …
        disparity: (N,) relative disparity there.
        depth: (N,) known depth in [m].
        sigma: common relative error of the depths: how well this person's height is known, say.
        focal_power: by which power of the focal length the depths were made; 1 where they follow
            from a size in pixels, 0 where they were measured.
        relief: standard deviation of ln(far / near) within the thing, where its far and near parts
            are known to differ: an outstretched arm says something about the line, if little. None to
            use its middle alone.
        weights: (N,) how much each pixel counts in the middle; None for all alike.
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
            raise InputError(f"{self.name}: shows in no pixel")
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
        """Of the middle, and of the relief if it is used."""
        return np.array([self.sigma] if self.relief is None else [self.sigma, self.relief])

    def compare(self, lines: Lines) -> Doubles:
        """Median over the pixels of ln(depth by the line / known depth); that of far less near."""
        off = -np.log(lines.inverse(self.disparity)) - np.log(self.depth)
        middle = np.median(off, axis=1)
        if self.weights is not None:
            middle = weighted_median(off, self.weights)
        middle = middle - self.focal_power * np.log(lines.focal)
        if self.relief is None:
            return np.asarray(middle[:, None])
        low, high = np.quantile(self.depth, [1 / 3, 2 / 3])
        far, near = off[:, self.depth >= high], off[:, self.depth <= low]
        return np.stack([middle, np.median(far, axis=1) - np.median(near, axis=1)], axis=1)


def condense(disparity: NDArray[Any], depth: NDArray[Any]) -> tuple[Doubles, Doubles]:
    """Let `KNOTS` points stand for the pixels of a thing: medians of parts, from far to near."""
    return condense_weighted(disparity, depth, np.ones(len(depth)))[:2]


def condense_weighted(
    disparity: NDArray[Any], depth: NDArray[Any], weights: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """Let `KNOTS` points stand for pixels that count more or less, and say how much they count.

    Args:
        disparity: (N,) relative disparity.
        depth: (N,) in [m].
        weights: (N,) of the pixels.
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
    """(..., N) values and (N,) weights → (...) medians: half of the weight is on either side."""
    order = np.argsort(values, axis=-1)
    ranked = np.take_along_axis(values, order, axis=-1)
    below = np.cumsum(weights[order], axis=-1) / weights.sum()
    places = [(below < half).sum(axis=-1, keepdims=True) for half in (0.5 - 1e-9, 0.5 + 1e-9)]
    ends = [np.take_along_axis(ranked, np.minimum(place, len(weights) - 1), -1) for place in places]
    return np.asarray((ends[0] + ends[1])[..., 0] / 2)


@dataclass(frozen=True, slots=True, eq=False)
class LengthClue:
    """A known distance between two pixels.

    Attributes:
        name: for people to read.
        rays: (2, 2) x and y of both pixels' rays at depth 1, by the focal length that was taken.
        disparity: (2,) relative disparity there.
        length: in [m].
        sigma: relative error of the length and of reading the two pixels.
        kind: always `length`.
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
        """Of the length."""
        return np.array([self.sigma])

    def compare(self, lines: Lines) -> Doubles:
        """ln(length by the line / known length)."""
        depth = 1 / lines.inverse(self.disparity)  # (B, 2)
        rays = np.ones((len(depth), 2, 3))
        rays[..., :2] = self.rays / lines.focal[:, None, None]
        ends = rays * depth[..., None]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        return np.log(length / self.length)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PlaneClue:
    """A known distance of the camera from a plane, such as its height over the floor.

    A plane n·P = h is straight in inverse depth: for the ray r of a pixel, ρ = n·r / h. So relative
    disparity on it is d = a·x + b·y + c over ray coordinates, and h = 1 / ‖(s a, s b, s c + t)‖.

    Attributes:
        name: for people to read.
        plane: (3,) a, b and c.
        distance: h in [m].
        sigma: relative error of it and of the plane.
        kind: always `plane`.
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
        """Of the distance."""
        return np.array([self.sigma])

    def compare(self, lines: Lines) -> Doubles:
        """ln(distance by the line / known distance)."""
        a, b, c = self.plane
        # Rays of a lens f times as long are f times as steep: x = f·x', so a·x = (a f)·x'.
        normal = np.stack(
            [
                lines.scale * a * lines.focal,
                lines.scale * b * lines.focal,
                lines.scale * c + lines.shift,
            ]
        )
        inverse = np.maximum(np.linalg.norm(normal, axis=0), LEAST * lines.near)
        return -np.log(inverse * self.distance)[:, None]
