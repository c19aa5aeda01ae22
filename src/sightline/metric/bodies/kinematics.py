"""Landmarks of a body with given bends, and how they move with every bend and proportion.

Each bone is turned against its parent, in the body's axes at rest (x to its right, y down, z forward);
the first, the pelvis, against the camera. Lengths in statures, the pelvis at 0.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.landmarks import regression
from sightline.metric.bodies.rotations import cross_matrix
from sightline.metric.bodies.space import Space
from sightline.scenes.bodies import JOINTS, carry

Array = NDArray[np.float64]

#: Place of each joint's parent; the pelvis is its own.
PARENT = np.array(
    [0 if above is None else list(JOINTS).index(above) for above in JOINTS.values()], np.intp
)


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """What of a space the landmarks need.

    Attributes:
        reach: (J, 3) from each joint's parent to it at rest; 0 for the pelvis.
        reach_ways: (K, J, 3) how that changes along each way of the space.
        offset: (33, 3) from the joint whose bone a landmark rides on to the landmark at rest.
        offset_ways: (K, 33, 3) likewise.
        bone: (33,) intp, that joint.
        chain: (33, J) 1.0 for the joints on the way from the pelvis to a landmark, its own included.
    """

    reach: Array
    reach_ways: Array
    offset: Array
    offset_ways: Array
    bone: NDArray[np.intp]
    chain: Array


@dataclass(frozen=True, slots=True, eq=False)
class Stance:
    """Where the bones and landmarks of a bent body are.

    Attributes:
        turns: (J, 3, 3) how each bone is turned from rest, in the camera's axes.
        joints: (J, 3) in statures, the pelvis at 0.
        landmarks: (33, 3) likewise.
    """

    turns: Array
    joints: Array
    landmarks: Array


@functools.lru_cache(maxsize=4)
def rig(space: Space) -> Rig:
    """Prepare a space."""
    found = regression()
    at_joint = np.concatenate([space.mean[None], space.ways])[:, space.joints]
    at_mark = np.einsum("lp,kpi->kli", found.weight, np.concatenate([space.mean[None], space.ways]))
    reach = at_joint - at_joint[:, PARENT]
    offset = at_mark - at_joint[:, found.bone]
    chain = np.zeros((len(found.bone), len(PARENT)))
    for row, joint in enumerate(found.bone):
        at = int(joint)
        while chain[row, at] == 0:
            chain[row, at] = 1.0
            at = int(PARENT[at])
    return Rig(reach[0], reach[1:], offset[0], offset[1:], found.bone, chain)


def stand(rig: Rig, bends: Array, coordinates: Array) -> Stance:
    """Bend a body.

    Args:
        rig: of its space.
        bends: (J, 3, 3) rotation of each bone against its parent.
        coordinates: (K,) of its shape.
    """
    turns = np.empty_like(bends)
    turns[0] = bends[0]
    for joint in range(1, len(bends)):
        turns[joint] = turns[PARENT[joint]] @ bends[joint]
    reach = rig.reach + np.einsum("k,kji->ji", coordinates, rig.reach_ways)
    offset = rig.offset + np.einsum("k,kli->li", coordinates, rig.offset_ways)
    step = np.einsum("jab,jb->ja", turns[PARENT], reach)
    joints = step.copy()
    for joint in range(1, len(bends)):
        joints[joint] += joints[PARENT[joint]]
    landmarks = joints[rig.bone] + np.einsum("lab,lb->la", turns[rig.bone], offset)
    return Stance(turns, joints, landmarks)


def changes(rig: Rig, stance: Stance) -> tuple[Array, Array]:
    """How landmarks move.

    Returns:
        (33, 3, J, 3) with a small turn applied before each bone's own, in [statures/rad]; and
        (33, 3, K) with the coordinates of the shape.
    """
    arms = stance.landmarks[:, None] - stance.joints[None]
    levers = -cross_matrix(arms * rig.chain[:, :, None])
    by_turn = np.einsum("ljab,jbc->lajc", levers, stance.turns, optimize=True)
    along = np.einsum("jab,kjb->jak", stance.turns[PARENT], rig.reach_ways)
    out = np.einsum("lab,klb->lak", stance.turns[rig.bone], rig.offset_ways)
    return by_turn, out + np.einsum("lj,jak->lak", rig.chain, along)


def skin(space: Space, stance: Stance, coordinates: Array) -> Array:
    """(V, 3) vertices of the surface in statures, the pelvis at 0, by linear blend skinning."""
    rest = space.shape(coordinates)
    moved = carry(rest[space.skinned], rest[space.joints], stance.turns, stance.joints)
    return moved[space.vertices]
