"""A body in a pose: a pose says where limbs point, and the body is bent to it.

Directions are (out, down, forward): away from the middle of the body, towards the ground, where the
person looks. So one description serves both sides, and every body, whatever its proportions. Each
limb is turned the shortest way from how its parent carries it, which leaves no twist in a joint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.bodies import JOINTS, LANDMARKS, Body, carry
from sightline.scenes.shapes import Vector, rotation

Direction = tuple[float, float, float]

_ORDER = {name: place for place, name in enumerate(JOINTS)}
_PARENT = [-1 if p is None else _ORDER[p] for p in JOINTS.values()]
_NEXT = {"arm": "forearm", "forearm": "hand", "hand": "fingers", "thigh": "shin", "shin": "foot"}


@dataclass(frozen=True, slots=True)
class Pose:
    """Where limbs point.

    Attributes:
        name: what it is called.
        aims: for `arm`, `forearm`, `hand`, `thigh`, `shin`, `foot`, each with `.L` or `.R`, where it
            points; what is not named is carried along.
        turns: (yaw, pitch, roll) of `pelvis`, `spine`, `chest`, `neck`, `head` against the parent,
            [degrees]. A positive pitch leans back.
        whole: (yaw, pitch, roll) of the whole person at last: 90 degrees of pitch lie on the back.
    """

    name: str
    aims: dict[str, Direction]
    turns: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    whole: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A body in a pose, the lowest point at y = 0, the pelvis over x = z = 0, facing +z.

    Attributes:
        body: whose.
        pose: which.
        vertices: (V, 3) [m].
        joints: (J, 3) places, in the order of `JOINTS`.
        turns: (J, 3, 3) how each bone has been turned from rest.
        landmarks: (L, 3) places, in the order of `LANDMARKS`.
    """

    body: Body
    pose: Pose
    vertices: NDArray[np.float64]
    joints: NDArray[np.float64]
    turns: NDArray[np.float64]
    landmarks: NDArray[np.float64]

    def joint(self, name: str) -> NDArray[np.float64]:
        """(3,) place of a joint."""
        return np.asarray(self.joints[_ORDER[name]])

    def landmark(self, name: str) -> NDArray[np.float64]:
        """(3,) place of a landmark."""
        return np.asarray(self.landmarks[LANDMARKS.index(name)])

    def turn(self, name: str) -> NDArray[np.float64]:
        """(3, 3) how a bone is turned from rest."""
        return np.asarray(self.turns[_ORDER[name]])


def by(x: float, y: float, z: float) -> NDArray[np.float64]:
    """(3,) a step to the right, down and forward, [m]."""
    return np.array([x, y, z], np.float64)


def bend(body: Body, pose: Pose) -> Figure:
    """Put a body into a pose by linear blend skinning."""
    turns, joints = _skeleton(body, pose)
    points = carry(body.vertices, body.joints, turns, joints)
    whole = rotation(*pose.whole)
    points, joints, turns = points @ whole.T, joints @ whole.T, whole @ turns
    count = len(points) - len(LANDMARKS)
    down = np.array([joints[0, 0], points[:count, 1].max(), joints[0, 2]])
    points, joints = points - down, joints - down
    return Figure(body, pose, points[:count], joints, turns, points[count:])


def _skeleton(body: Body, pose: Pose) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(J, 3, 3) turns from rest and (J, 3) places of the joints."""
    turns, joints = np.empty((len(_ORDER), 3, 3)), np.empty((len(_ORDER), 3))
    for name, here in _ORDER.items():
        above = _PARENT[here]
        if above < 0:
            joints[here], carried = body.joints[here], np.eye(3)
        else:
            carried = turns[above]
            joints[here] = joints[above] + carried @ (body.joints[here] - body.joints[above])
        if name in pose.turns:
            carried = carried @ rotation(*pose.turns[name])
        if name in pose.aims:
            out, down, forward = pose.aims[name]
            side = 1.0 if name.endswith("R") else -1.0
            wanted = np.array([side * out, down, forward])
            carried = _shortest(carried @ _at_rest(body, name), wanted) @ carried
        turns[here] = carried
    return turns, joints


def _at_rest(body: Body, name: str) -> NDArray[np.float64]:
    """(3,) direction of a limb at rest."""
    stem, side = name.split(".")
    start = body.joints[_ORDER[name]]
    if stem == "foot":
        marks = len(body.vertices) - len(LANDMARKS)
        return np.asarray(body.vertices[marks + LANDMARKS.index(f"toe.{side}")] - start)
    return np.asarray(body.joints[_ORDER[f"{_NEXT[stem]}.{side}"]] - start)


def _shortest(start: Vector, end: Vector) -> NDArray[np.float64]:
    """(3, 3) smallest rotation that turns one direction into another; plain numbers are quickest."""
    ax, ay, az = (float(c) for c in start)
    bx, by, bz = (float(c) for c in end)
    long = math.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    cosine = (ax * bx + ay * by + az * bz) / long
    if cosine < -0.9999:  # straight back: about any axis across
        across = np.cross([ax, ay, az], np.eye(3)[np.argmin(np.abs([ax, ay, az]))])
        across /= np.linalg.norm(across)
        return np.asarray(2 * np.outer(across, across) - np.eye(3))
    x, y, z = (ay * bz - az * by) / long, (az * bx - ax * bz) / long, (ax * by - ay * bx) / long
    k = 1 / (1 + cosine)
    return np.array(
        [
            [k * x * x + cosine, k * x * y - z, k * x * z + y],
            [k * x * y + z, k * y * y + cosine, k * y * z - x],
            [k * x * z - y, k * y * z + x, k * z * z + cosine],
        ]
    )
