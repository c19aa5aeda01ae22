"""The space of bodies: mean shape, the few ways in which bodies differ, and who has which shape.

Learnt from the library of `scenes.bodies` when first used. Everything is measured in statures: a body
is its shape times its height. Proportions and height are taken to be independent among adults of one
sex. In the library they are not: its shapes follow from a handful of sliders, and six proportions give
away nine tenths of the variance of height, which those of real people do not. A fit that believed the
library would be surer of its metres than it may be.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.scenes import bodies
from sightline.scenes.bodies import JOINTS, LANDMARKS, Body

Array = NDArray[np.float64]

#: How many ways a body may differ from the mean: they leave 4 mm at joints, 6 mm at the skin.
WAYS = 6

#: Joints count so much more than vertices when those ways are chosen: landmarks lie at joints.
_JOINT_WORTH = 10.0

#: Real people differ more than the library's, in standard deviations of each way.
_WIDEN = 1.5

#: Ages in years: below the first a child's proportions are learnt, from the second on an adult's.
_YOUNG, _GROWN = 14.0, 18.0


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """People of one kind, and their shapes.

    Attributes:
        mean: (K,) place in the space of somebody whose log height is `at`.
        spread: (K, K) covariance around that.
        slope: (K,) change of the mean with log height.
        at: log height in [log m] of the mean.
    """

    mean: Array
    spread: Array
    slope: Array
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Shapes as mean + Σ way · coordinate; the pelvis at 0, lengths in statures.

    Attributes:
        mean: (P, 3) points: vertices, marks (`bodies.LANDMARKS`), then joints (`bodies.JOINTS`).
        ways: (K, P, 3) how points move along each coordinate; unit variance over the library.
        groups: `man`, `woman`, `child`.
    """

    mean: Array
    ways: Array
    groups: dict[str, Group]

    @property
    def vertices(self) -> slice:
        """Which points are vertices of the surface."""
        return slice(0, len(self.mean) - len(LANDMARKS) - len(JOINTS))

    @property
    def skinned(self) -> slice:
        """Which points follow the skinning weights of `bodies.topology`: vertices and marks."""
        return slice(0, len(self.mean) - len(JOINTS))

    @property
    def joints(self) -> slice:
        """Which points are joints."""
        return slice(len(self.mean) - len(JOINTS), len(self.mean))

    def shape(self, coordinates: Array) -> Array:
        """(P, 3) points at rest of a body with (K,) coordinates, in statures."""
        return np.asarray(self.mean + np.einsum("k,kpi->pi", coordinates, self.ways))


def points_of(body: Body) -> Array:
    """(P, 3) vertices, marks and joints of a body at rest, the pelvis at 0, in statures."""
    points = np.concatenate([body.vertices, body.joints])
    return np.asarray((points - body.joints[0]) / body.height)


@functools.cache
def body_space(numbers: tuple[int, ...] | None = None) -> Space:
    """Learn the space from some bodies of the library, or from all.

    Args:
        numbers: which bodies; tests learn from one half and fit the other.
    """
    people = [bodies.body(n) for n in (range(bodies.count()) if numbers is None else numbers)]
    points = np.stack([points_of(person) for person in people])
    mean = points.mean(0)
    worth = np.ones(len(mean))
    worth[-len(JOINTS) :] = _JOINT_WORTH
    rows = ((points - mean) * worth[:, None]).reshape(len(people), -1)
    left, size, right = np.linalg.svd(rows, full_matrices=False)
    scale = np.sqrt(len(people))
    coordinates = left[:, :WAYS] * scale
    ways = (size[:WAYS, None] / scale * right[:WAYS]).reshape(WAYS, -1, 3) / worth[:, None]
    return Space(mean, ways, _groups(people, coordinates))


def _groups(people: list[Body], coordinates: Array) -> dict[str, Group]:
    """Place man, woman and child in the space."""
    age, female, height = (
        np.array([getattr(person, name) for person in people])
        for name in ("age", "female", "height")
    )
    grown = age >= _GROWN
    groups = {}
    for name, chosen in (("man", grown & (female < 0.5)), ("woman", grown & (female >= 0.5))):
        own = coordinates[chosen]
        spread = _WIDEN**2 * _shrunk(own - own.mean(0))
        still = np.zeros(WAYS)
        groups[name] = Group(own.mean(0), spread, still, float(np.log(height[chosen]).mean()))
    young = age < _YOUNG
    tall = np.log(height[young])
    off = tall - tall.mean()
    own = coordinates[young]
    slope = off @ (own - own.mean(0)) / (off @ off)
    spread = _WIDEN**2 * _shrunk(own - own.mean(0) - off[:, None] * slope)
    groups["child"] = Group(own.mean(0), spread, slope, float(tall.mean()))
    return groups


def _shrunk(rows: Array) -> Array:
    """(K, K) covariance of (N, K) centred rows, drawn towards the identity as N is small."""
    covariance = rows.T @ rows / max(len(rows) - 1, 1)
    share = WAYS / (WAYS + len(rows))
    return np.asarray((1 - share) * covariance + share * np.eye(WAYS))
