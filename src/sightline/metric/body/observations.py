"""Observations of a body fit: rays of the image landmarks, and bone directions of the world landmarks.

* An image landmark is a ray. Its standard deviation is a few pixels plus the tolerance of the landmark
  on a body (`model.PLACES`), which scales with the person's size in the image.
* World landmarks give the directions of bones, not their lengths: on 240 rendered people of 1.0 to 1.95
  m their size does not follow the person's (r < 0.2); it is that of somebody of 1.66 m, ± 4 %. So
  their scale is left free. Along the optical axis they are twice as uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.body.model import regression
from sightline.metric.people.types import LANDMARKS, Person
from sightline.types import BoolArray, Camera

Array = NDArray[np.float64]

#: Stature that world landmarks correspond to, in [m].
WORLD_STATURE = 1.66
#: Depth of the network's bones divided by their expected depth. On the rendered people it is 0.78
#: of the truth, but with such errors that the regression of truth on output is 0.94, and less for trunk
#: and limbs.
WORLD_DEPTH = 1.1
#: Standard deviation of a bone vector across and along the optical axis, in statures.
_ACROSS, _ALONG = 0.026, 0.055

#: Landmarks less visible than this are ignored.
LEAST_VISIBLE = 0.2
#: Smallest number of visible landmarks.
LEAST = 5

_SIDES = tuple(
    (f"{a}.{s}", f"{b}.{s}")
    for s in "LR"
    for a, b in (
        ("hip", "shoulder"),
        ("shoulder", "elbow"),
        ("elbow", "wrist"),
        ("wrist", "index"),
        ("wrist", "pinky"),
        ("hip", "knee"),
        ("knee", "ankle"),
        ("heel", "toe"),
        ("shoulder", "ear"),
    )
)

#: Pairs of landmarks between which world landmarks are used.
BONES = (
    ("hip.L", "hip.R"),
    ("shoulder.L", "shoulder.R"),
    ("ear.L", "ear.R"),
    ("ear.L", "nose"),
    ("ear.R", "nose"),
    *_SIDES,
)

#: (B, 33) bones as differences of two landmarks.
DIFFERENCE = np.zeros((len(BONES), len(LANDMARKS)))
for _row, (_start, _end) in enumerate(BONES):
    DIFFERENCE[_row, LANDMARKS.index(_start)] = -1.0
    DIFFERENCE[_row, LANDMARKS.index(_end)] = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class BodyObservations:
    """Observations used by a fit.

    Attributes:
        rays: (33, 2) landmarks at depth 1; 0 where ignored.
        ray_weight: (33,) inverse standard deviations; 0 where ignored.
        bones: (B, 3) bone vectors in statures of the network's person; 0 where unknown.
        bone_weight: (B, 3) inverse standard deviations, in 1/statures.
        seen: (33,) visibility of used landmarks, 0 to 1; else 0.
        focal: focal length in [px].
    """

    rays: Array
    ray_weight: Array
    bones: Array
    bone_weight: Array
    seen: Array
    focal: float


def observe(person: Person, camera: Camera, *, noise: float = 2.0) -> BodyObservations:
    """Return the observations of a person; the size-dependent error of rays is added by `with_size`.

    Args:
        person: with landmarks.
        camera: of the image.
        noise: standard deviation of a landmark in [px], independent of the person's size.

    Raises:
        InputError: fewer than five landmarks are finite and visible.
    """
    points = np.asarray(person.landmarks, np.float64)
    visible = np.nan_to_num(np.asarray(person.visibility, np.float64))
    finite = _finite(points)
    # Landmarks outside the image are extrapolated by the network.
    limit = [camera.width - 0.5, camera.height - 0.5]
    safe = np.where(finite[:, None], points, -1.0)
    inside = ((safe >= -0.5) & (safe <= limit)).all(1)
    seen = np.where(finite & (visible >= LEAST_VISIBLE), np.clip(visible, 0, 1), 0.0)
    seen = np.where(inside, seen, 0.1 * seen)
    looked_at = seen >= LEAST_VISIBLE
    if looked_at.sum() < LEAST:
        raise InputError(
            f"only {looked_at.sum()} landmarks of the person are visible, at least {LEAST} are needed",
            remedy="give a person with visible landmarks, or its mesh",
        )
    picked = points[looked_at]
    if np.ptp(picked, axis=0).max() < 4.0:
        raise InputError(
            f"the person's landmarks lie within {np.ptp(picked, axis=0).max():.1f} pixels",
            remedy="give a larger picture",
        )
    flat = np.concatenate([np.where(finite[:, None], points, 0), np.ones((len(points), 1))], 1)
    rays = (flat @ np.linalg.inv(camera.K).T)[:, :2] * finite[:, None]
    world = np.asarray(person.world, np.float64)
    known = _finite(world)
    if known.any() and np.ptp(world[known], axis=0).max() < 0.1:  # degenerate: treat as missing
        known[:] = False
    bones = DIFFERENCE @ np.where(known[:, None], world, 0) / WORLD_STATURE
    both = np.abs(DIFFERENCE) @ known == 2
    # For hidden limbs the network's guess is still better than nothing.
    trust = np.sqrt(np.clip(np.abs(DIFFERENCE) @ visible / 2, 0.15, 1.0)) * both
    weight = trust[:, None] / np.array([_ACROSS, _ACROSS, _ALONG])
    focal = float(np.sqrt(camera.K[0, 0] * camera.K[1, 1]))
    spread = noise / focal / np.sqrt(np.maximum(seen, 1e-9))
    return BodyObservations(rays, np.where(seen > 0, 1 / spread, 0), bones, weight, seen, focal)


def with_size(observed: BodyObservations, size: float) -> BodyObservations:
    """Add the error of rays that scales with the person's size.

    Args:
        observed: result of `observe`.
        size: stature divided by distance, the size of the person at depth 1.
    """
    tolerance = regression().tolerance * size / np.sqrt(np.maximum(observed.seen, 1e-9))
    own = 1 / np.maximum(observed.ray_weight, 1e-9)
    weight = np.where(observed.seen > 0, 1 / np.hypot(own, tolerance), 0)
    return BodyObservations(
        observed.rays,
        weight,
        observed.bones,
        observed.bone_weight,
        observed.seen,
        observed.focal,
    )


def _finite(rows: Array) -> BoolArray:
    """Return (N,) which of (N, D) rows are finite."""
    return np.asarray(np.isfinite(rows).all(axis=1), bool)
