"""How far joints bend: a prior over poses, wide where people move much, one-sided where joints stop.

For each bone three angles are told apart, the components of its rotation vector along the rows of an
axes matrix: the body's own axes at rest (x to its right, y down, z forward) or, at the elbow, those of
the hinge. Rest is upright with the arms held 45° away from the sides. A positive turn about x lifts a
limb forward. Spreads and stops are ours, rounded from textbooks of anatomy, not learnt.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.space import body_space
from sightline.scenes.bodies import JOINTS

Array = NDArray[np.float64]
Angles = tuple[float, float, float]

#: How soft a stop is, [rad].
SOFT = np.radians(4.0)


@dataclass(frozen=True, slots=True)
class Range:
    """Of one bone, about its three axes, in [degrees]; for the right side, mirrored for the left.

    Attributes:
        mean: what is usual.
        spread: one standard deviation.
        low: where it stops, or −inf.
        high: where it stops the other way, or +inf.
    """

    mean: Angles
    spread: Angles
    low: Angles = (-np.inf, -np.inf, -np.inf)
    high: Angles = (np.inf, np.inf, np.inf)


#: By the joint's name without its side. The forearm's axes are hinge, its own length, and across.
RANGES = {
    "spine": Range((-3, 0, 0), (22, 14, 12), (-80, -50, -40), (35, 50, 40)),
    "chest": Range((-2, 0, 0), (16, 14, 12), (-50, -45, -35), (25, 45, 35)),
    "neck": Range((0, 0, 0), (16, 18, 10), (-50, -60, -40), (50, 60, 40)),
    "head": Range((-3, 0, 0), (20, 28, 12), (-60, -80, -45), (60, 80, 45)),
    "collar": Range((0, 0, 0), (6, 9, 9), (-25, -30, -40), (25, 30, 20)),
    "arm": Range((5, 0, 25), (55, 45, 45)),
    "forearm": Range((5, 0, 0), (45, 35, 8), (-52, -100, -30), (100, 100, 30)),
    "hand": Range((0, 0, 0), (22, 16, 22), (-80, -60, -80), (80, 60, 80)),
    "fingers": Range((0, 0, 0), (8, 3, 3)),
    "thigh": Range((10, 0, 0), (45, 22, 18), (-45, -60, -60), (130, 60, 60)),
    "shin": Range((-20, 0, 0), (45, 10, 6), (-155, -40, -25), (9, 40, 25)),
    "foot": Range((0, 0, 0), (20, 14, 12), (-60, -45, -40), (45, 45, 40)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The ranges of all bones but the pelvis, in the order of `JOINTS`.

    Attributes:
        axes: (J - 1, 3, 3) rows are the axes.
        mean, spread, low, high: (J - 1, 3) in [rad].
    """

    axes: Array
    mean: Array
    spread: Array
    low: Array
    high: Array


@functools.cache
def limits() -> Limits:
    """Write the ranges out for both sides."""
    joints = body_space().mean[body_space().joints]
    place = dict(zip(JOINTS, joints, strict=True))
    axes, rows = [], []
    for name in list(JOINTS)[1:]:
        stem, _, side = name.partition(".")
        span = RANGES[stem]
        own = np.eye(3)
        row = np.array([span.mean, span.spread, span.low, span.high])
        if stem == "forearm":
            own = _hinge(place, side)
        elif side == "L":  # seen in a mirror, turns about y and z go the other way
            low, high = row[2].copy(), row[3].copy()
            row[0, 1:] *= -1
            row[2, 1:], row[3, 1:] = -high[1:], -low[1:]
        axes.append(own)
        rows.append(row)
    mean, spread, low, high = np.moveaxis(np.radians(np.array(rows)), 1, 0)
    return Limits(np.array(axes), mean, spread, low, high)


def _hinge(place: dict[str, Array], side: str) -> Array:
    """(3, 3) axes of an elbow: about the first the forearm bends further, the second is its length."""
    upper = place[f"forearm.{side}"] - place[f"arm.{side}"]
    lower = place[f"hand.{side}"] - place[f"forearm.{side}"]
    lower = lower / np.linalg.norm(lower)
    hinge = np.cross(upper, lower)
    hinge /= np.linalg.norm(hinge)
    return np.stack([hinge, lower, np.cross(hinge, lower)])


def strain(bends: Array) -> tuple[Array, Array]:
    """How unusual bends are.

    Args:
        bends: (J - 1, 3) rotation vectors of all bones but the pelvis.

    Returns:
        (2, J - 1, 3) residuals in standard deviations: from the mean, and past the stops; and
        (2, J - 1, 3, 3) their change with the vector of the same bone.
    """
    known = limits()
    angle = np.einsum("jab,jb->ja", known.axes, bends)
    over = np.maximum(angle - known.high, 0) + np.minimum(angle - known.low, 0)
    residual = np.stack([(angle - known.mean) / known.spread, over / SOFT])
    slope = np.stack(
        [
            known.axes / known.spread[..., None],
            np.where(over != 0, 1 / SOFT, 0)[..., None] * known.axes,
        ]
    )
    return residual, slope
