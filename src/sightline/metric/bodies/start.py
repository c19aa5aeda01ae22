"""Where a fit begins: bends from the world landmarks, bone by bone; place from the picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.evidence import WORLD_DEPTH, Evidence
from sightline.metric.bodies.kinematics import PARENT, Rig, stand
from sightline.metric.bodies.problem import State
from sightline.metric.bodies.rotations import best_turn, shortest
from sightline.metric.people.types import LANDMARKS, Person
from sightline.scenes.bodies import JOINTS

Array = NDArray[np.float64]

_JOINT = {name: place for place, name in enumerate(JOINTS)}
_MARK = {name: place for place, name in enumerate(LANDMARKS)}

#: Limbs from the trunk outwards: joint, and the landmarks between which it lies.
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


def begin(rig: Rig, person: Person, evidence: Evidence, shape: Array) -> State:
    """Guess a state.

    Args:
        rig: of the space of bodies.
        person: whose world landmarks say how the body is bent; without them it stands upright,
            turned as the picture has it.
        evidence: rays of the landmarks.
        shape: (K,) coordinates to begin with.
    """
    world = np.array(person.world, np.float64)
    world[:, 2] /= WORLD_DEPTH
    still = np.tile(np.eye(3), (len(PARENT), 1, 1))
    rest = stand(rig, still, shape).landmarks
    trunk = world[[_MARK[name] for name in _TRUNK]]
    if evidence.bone_weight.any() and np.isfinite(trunk).all():
        bends = _bent(rig, world, shape)
    else:
        bends = still
        bends[0] = _upright(evidence, rest)
    return State(
        bends, _placed(evidence, stand(rig, bends, shape).landmarks), 0.0, np.zeros(2), shape
    )


def _bent(rig: Rig, world: Array, shape: Array) -> Array:
    """(J, 3, 3) bends that make the limbs point as the (33, 3) world landmarks do."""
    bends = np.tile(np.eye(3), (len(PARENT), 1, 1))
    rest = stand(rig, bends, shape).landmarks
    bends[0] = _aligned(rest, world, _TRUNK)
    if np.isfinite(world[[_MARK[name] for name in _FACE]]).all():
        # The fit shares it out between head and neck.
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
                turns[joint] = shortest(carried @ own, wanted) @ carried
                bends[joint] = carried.T @ turns[joint]
    return bends


def _aligned(rest: Array, world: Array, names: tuple[str, ...]) -> Array:
    """(3, 3) turn that takes some landmarks at rest nearest to those of the world, about their mean."""
    chosen = [_MARK[name] for name in names]
    a, b = rest[chosen], world[chosen]
    return best_turn(a - a.mean(0), b - b.mean(0))


def _upright(evidence: Evidence, rest: Array) -> Array:
    """(3, 3) facing the camera or turned away, tilted as the landmarks are in the picture."""
    weight = evidence.seen
    turned = []
    for facing in (np.diag([-1.0, 1.0, -1.0]), np.eye(3)):
        flat = (rest @ facing.T)[:, :2]
        a = flat - weight @ flat / weight.sum()
        b = evidence.rays - weight @ evidence.rays / weight.sum()
        cosine, sine = (
            (weight * (a * b).sum(1)).sum(),
            (weight * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])).sum(),
        )
        length = float(np.hypot(cosine, sine))
        c, s = (cosine / length, sine / length) if length > 0 else (1.0, 0.0)
        turned.append((length, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ facing))
    return np.asarray(max(turned, key=lambda pair: pair[0])[1])


def _placed(evidence: Evidence, landmarks: Array) -> Array:
    """(3,) place of the pelvis at which (33, 3) landmarks have the size and middle of the rays."""
    weight = evidence.seen / evidence.seen.sum()
    flat, depth = landmarks[:, :2], landmarks[:, 2]
    middle, aim = weight @ flat, weight @ evidence.rays
    a, b = flat - middle, evidence.rays - aim
    size = (weight * (b * b).sum(1)).sum()
    scale = float(np.sqrt(size / max((weight * (a * a).sum(1)).sum(), 1e-9)))
    z = 1 / max(scale, 1e-4)
    # Everything seen before the camera, however near it is.
    z = max(z, 0.1 - float((depth - weight @ depth)[evidence.seen > 0].min()))
    pelvis = np.array([*(aim * z - middle), z - weight @ depth])
    pelvis[2] = max(pelvis[2], 0.05)
    return np.array([pelvis[0] / pelvis[2], pelvis[1] / pelvis[2], np.log(pelvis[2])])
