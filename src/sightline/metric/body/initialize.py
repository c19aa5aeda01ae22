"""Initial state of a body fit: rotations from the world landmarks, position from the image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.metric.body.model import PARENT, Skeleton, pose_skeleton
from sightline.metric.body.observations import WORLD_DEPTH, BodyObservations
from sightline.metric.body.problem import BodyState
from sightline.metric.body.rotations import kabsch, smallest_rotation
from sightline.metric.people.types import LANDMARKS, Person
from sightline.scenes.people.bodies import JOINTS

Array = NDArray[np.float64]

_JOINT = {name: place for place, name in enumerate(JOINTS)}
_MARK = {name: place for place, name in enumerate(LANDMARKS)}

#: Limbs from the trunk outwards: joint, and the landmarks at its two ends.
_LIMBS = tuple(
    (f"{joint}.{s}", f"{start}.{s}", f"{end}.{s}")
    for s in "LR"
    for joint, start, end in (
        ("arm", "shoulder", "elbow"),
        ("forearm", "elbow", "wrist"),
        ("hand", "wrist", "index"),
        ("thigh", "hip", "knee"),
        ("shin", "knee", "ankle"),
        ("foot", "heel", "toe"),
    )
)

_TRUNK = tuple(f"{part}.{s}" for part in ("shoulder", "hip") for s in "LR")
_FACE = ("nose", *(f"{part}.{s}" for part in ("ear", "mouth", "eye_outer") for s in "LR"))


def initial_state(
    skeleton: Skeleton, person: Person, observed: BodyObservations, shape: Array
) -> BodyState:
    """Compute the initial state of a fit.

    Args:
        skeleton: of the shape space.
        person: whose world landmarks give the pose; without them, upright with the tilt in the image.
        observed: landmark observations of the person.
        shape: (K,) initial shape coordinates.
    """
    world = np.array(person.world, np.float64)
    world[:, 2] /= WORLD_DEPTH
    still = np.tile(np.eye(3), (len(PARENT), 1, 1))
    rest = pose_skeleton(skeleton, still, shape).landmarks
    trunk = world[[_MARK[name] for name in _TRUNK]]
    if observed.bone_weight.any() and np.isfinite(trunk).all():
        bends = _bent(skeleton, world, shape)
    else:
        bends = still
        bends[0] = _upright(observed, rest)
    return BodyState(
        bends,
        _placed(observed, pose_skeleton(skeleton, bends, shape).landmarks),
        0.0,
        np.zeros(2),
        shape,
    )


def _bent(skeleton: Skeleton, world: Array, shape: Array) -> Array:
    """Return (J, 3, 3) joint rotations that align the limbs with the (33, 3) world landmarks."""
    bends = np.tile(np.eye(3), (len(PARENT), 1, 1))
    rest = pose_skeleton(skeleton, bends, shape).landmarks
    bends[0] = _aligned(rest, world, _TRUNK)
    if np.isfinite(world[[_MARK[name] for name in _FACE]]).all():
        # The fit distributes it between head and neck.
        bends[_JOINT["head"]] = bends[0].T @ _aligned(rest, world, _FACE)
    turns = np.empty_like(bends)
    for name, joint in _JOINT.items():
        carried = turns[PARENT[joint]] if joint else np.eye(3)
        turns[joint] = carried @ bends[joint]
        for limb, start, end in _LIMBS:
            if limb != name:
                continue
            wanted = world[_MARK[end]] - world[_MARK[start]]
            if np.isfinite(wanted).all() and np.linalg.norm(wanted) > 1e-6:
                own = rest[_MARK[end]] - rest[_MARK[start]]
                turns[joint] = smallest_rotation(carried @ own, wanted) @ carried
                bends[joint] = carried.T @ turns[joint]
    return bends


def _aligned(rest: Array, world: Array, names: tuple[str, ...]) -> Array:
    """Return the (3, 3) rotation that best aligns landmarks at rest with those of the world."""
    chosen = [_MARK[name] for name in names]
    a, b = rest[chosen], world[chosen]
    return kabsch(a - a.mean(0), b - b.mean(0))


def _upright(observed: BodyObservations, rest: Array) -> Array:
    """Return the (3, 3) rotation facing or turned away from the camera, tilted as in the image."""
    weight = observed.seen
    turned = []
    for facing in (np.diag([-1.0, 1.0, -1.0]), np.eye(3)):
        flat = (rest @ facing.T)[:, :2]
        a = flat - weight @ flat / weight.sum()
        b = observed.rays - weight @ observed.rays / weight.sum()
        cosine, sine = (
            (weight * (a * b).sum(1)).sum(),
            (weight * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])).sum(),
        )
        length = float(np.hypot(cosine, sine))
        c, s = (cosine / length, sine / length) if length > 0 else (1.0, 0.0)
        turned.append((length, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ facing))
    return np.asarray(max(turned, key=lambda pair: pair[0])[1])


def _placed(observed: BodyObservations, landmarks: Array) -> Array:
    """Return the (3,) position of the pelvis that matches size and center of the rays."""
    weight = observed.seen / observed.seen.sum()
    flat, depth = landmarks[:, :2], landmarks[:, 2]
    middle, aim = weight @ flat, weight @ observed.rays
    a, b = flat - middle, observed.rays - aim
    size = (weight * (b * b).sum(1)).sum()
    scale = float(np.sqrt(size / max((weight * (a * a).sum(1)).sum(), 1e-9)))
    z = 1 / max(scale, 1e-4)
    # Keep all visible landmarks in front of the camera.
    z = max(z, 0.1 - float((depth - weight @ depth)[observed.seen > 0].min()))
    pelvis = np.array([*(aim * z - middle), z - weight @ depth])
    pelvis[2] = max(pelvis[2], 0.05)
    return np.array([pelvis[0] / pelvis[2], pelvis[1] / pelvis[2], np.log(pelvis[2])])
