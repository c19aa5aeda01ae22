"""What landmarks tell about a body: rays with their spread, and bones with theirs.

* A landmark in the picture is a ray. Its spread is a few pixels plus what the network leaves open on
  a body (`landmarks.PLACES`), which grows with the person's size in the picture.
* The network's world landmarks tell how bones lie, not how long they are: on 240 rendered people
  from 1.0 to 1.95 m their size does not follow the person's (r < 0.2); it is that of somebody of
  1.66 m, ± 4 %. So their scale is left free. Along the optical axis they are twice as uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.bodies.landmarks import regression
from sightline.metric.people.types import LANDMARKS, Person
from sightline.types import BoolArray, Camera

Array = NDArray[np.float64]

#: Stature of the person that world landmarks are of, [m].
WORLD_STATURE = 1.66
#: Depth of the network's bones over the depth to be expected from them. On those people it says 0.78 of
#: the truth, but with such errors that the truth is 0.94 of what it says, and less for trunk and limbs.
WORLD_DEPTH = 1.1
#: Spread of a bone's end against its start, across and along the optical axis, in statures.
_ACROSS, _ALONG = 0.026, 0.055

#: Landmarks less visible than this are not looked at.
LEAST_VISIBLE = 0.2
#: Fewer landmarks than this are no person.
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

#: Pairs of landmarks between which the network's world landmarks are believed.
BONES = (
    ("hip.L", "hip.R"),
    ("shoulder.L", "shoulder.R"),
    ("ear.L", "ear.R"),
    ("ear.L", "nose"),
    ("ear.R", "nose"),
    *_SIDES,
)

#: (B, 33) each bone as the difference of two landmarks.
DIFFERENCE = np.zeros((len(BONES), len(LANDMARKS)))
for _row, (_start, _end) in enumerate(BONES):
    DIFFERENCE[_row, LANDMARKS.index(_start)] = -1.0
    DIFFERENCE[_row, LANDMARKS.index(_end)] = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Everything a fit looks at.

    Attributes:
        rays: (33, 2) landmarks at depth 1 in front of the camera; 0 where not looked at.
        ray_weight: (33,) one over their standard deviation; 0 where not looked at.
        bones: (B, 3) the network's bones in statures of its own person; 0 where unknown.
        bone_weight: (B, 3) one over their standard deviation, in statures.
        seen: (33,) visibility from 0 to 1 of what is looked at, else 0.
        focal: of the camera, [px].
    """

    rays: Array
    ray_weight: Array
    bones: Array
    bone_weight: Array
    seen: Array
    focal: float


def gather(person: Person, camera: Camera, *, noise: float = 2.0) -> Evidence:
    """Take the evidence from a person; the spread of rays must still be set by `with_size`.

    Args:
        person: its landmarks.
        camera: that saw it.
        noise: standard deviation of a landmark in [px] that does not depend on the person's size.

    Raises:
        InputError: fewer than five landmarks are finite and visible.
    """
    points = np.asarray(person.landmarks, np.float64)
    visible = np.nan_to_num(np.asarray(person.visibility, np.float64))
    finite = _finite(points)
    # What the network puts outside the picture is a guess from what is inside.
    limit = [camera.width - 0.5, camera.height - 0.5]
    safe = np.where(finite[:, None], points, -1.0)
    inside = ((safe >= -0.5) & (safe <= limit)).all(1)
    seen = np.where(finite & (visible >= LEAST_VISIBLE), np.clip(visible, 0, 1), 0.0)
    seen = np.where(inside, seen, 0.1 * seen)
    looked_at = seen >= LEAST_VISIBLE
    if looked_at.sum() < LEAST:
        raise InputError(
            f"only {looked_at.sum()} landmarks of the person can be seen, a body needs {LEAST}",
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
    if known.any() and np.ptp(world[known], axis=0).max() < 0.1:  # all in one place: not given
        known[:] = False
    bones = DIFFERENCE @ np.where(known[:, None], world, 0) / WORLD_STATURE
    both = np.abs(DIFFERENCE) @ known == 2
    # Where a limb is hidden the network still guesses better than nobody does.
    trust = np.sqrt(np.clip(np.abs(DIFFERENCE) @ visible / 2, 0.15, 1.0)) * both
    weight = trust[:, None] / np.array([_ACROSS, _ACROSS, _ALONG])
    focal = float(np.sqrt(camera.K[0, 0] * camera.K[1, 1]))
    spread = noise / focal / np.sqrt(np.maximum(seen, 1e-9))
    return Evidence(rays, np.where(seen > 0, 1 / spread, 0), bones, weight, seen, focal)


def with_size(evidence: Evidence, size: float) -> Evidence:
    """Add to the spread of rays what grows with the person.

    Args:
        evidence: of `gather`.
        size: stature over distance: how large the person is at depth 1.
    """
    tolerance = regression().tolerance * size / np.sqrt(np.maximum(evidence.seen, 1e-9))
    own = 1 / np.maximum(evidence.ray_weight, 1e-9)
    weight = np.where(evidence.seen > 0, 1 / np.hypot(own, tolerance), 0)
    return Evidence(
        evidence.rays,
        weight,
        evidence.bones,
        evidence.bone_weight,
        evidence.seen,
        evidence.focal,
    )


def _finite(rows: Array) -> BoolArray:
    """(N,) which of (N, D) rows are finite throughout."""
    return np.asarray(np.isfinite(rows).all(axis=1), bool)
