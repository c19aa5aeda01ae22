"""Energy of combinatorial worlds: what falls and collides can only lose it."""

from __future__ import annotations

import numpy as np

from sightline.physics.combinatorial.objects import (
    DENSITY,
    DIAMETER,
    BodyParts,
    Outline,
    Y,
    is_static,
    outlines,
    parts_of,
)
from sightline.physics.combinatorial.simulation import GRAVITY, METERS, CombinatorialSample
from sightline.physics.types import Doubles


def energy(sample: CombinatorialSample) -> Doubles:
    """Return (T, 2) kinetic and potential energy of all that can move, in PHYRE's units.

    Potential energy counts from the floor.
    """
    moving = [place for place, static in enumerate(is_static(sample.objects)) if not static]
    masses, inertias = np.array([inertia(*_looks(sample, place)) for place in moving]).T
    speeds = sample.velocities[:, moving] * (METERS, METERS, 1)
    kinetic = masses * (speeds[..., :2] ** 2).sum(-1) + inertias * speeds[..., 2] ** 2
    potential = masses * GRAVITY * METERS * sample.objects[:, moving, Y]
    return np.stack([kinetic.sum(1) / 2, potential.sum(1)], axis=1)


def inertia(outline: Outline, diameter: float) -> tuple[float, float]:
    """Return mass and moment of inertia about the center of mass of an object that can move.

    Args:
        outline: of the object.
        diameter: in scene units.
    """
    parts = parts_of(outline, diameter)
    mass = float(parts.areas.sum()) * METERS**2 * DENSITY
    return mass, _second_moment(parts) * METERS**4 * DENSITY


def _looks(sample: CombinatorialSample, place: int) -> tuple[Outline, float]:
    return outlines(sample.objects)[place], float(sample.objects[0, place, DIAMETER])


def _second_moment(parts: BodyParts) -> float:
    """Return the integral of the squared distance from the center of mass over all parts."""
    if (parts.radii > 0).all():
        return float((np.pi / 2 * parts.radii**4).sum())
    here, after = parts.corners, np.roll(parts.corners, -1, axis=1)
    cross = here[..., 0] * after[..., 1] - here[..., 1] * after[..., 0]
    squares = (here**2 + here * after + after**2).sum(-1)
    return float((cross * squares).sum() / 12)
