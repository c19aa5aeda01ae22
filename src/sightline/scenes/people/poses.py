"""Pose a body: sample where its limbs point, then bend the mesh by linear blend skinning.

Directions are (out, down, forward): away from the middle of the body, toward the ground, where the
person looks. One description therefore serves both sides and every body, whatever its proportions. Each
limb is rotated the shortest way from how its parent carries it, which leaves no twist in a joint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scenes.meshes import Vector, rotation
from sightline.scenes.people.bodies import JOINTS, LANDMARKS, HumanBody, skin_vertices
from sightline.scenes.sampling import Random

Direction = tuple[float, float, float]

_ORDER = {name: place for place, name in enumerate(JOINTS)}
_PARENT = [-1 if p is None else _ORDER[p] for p in JOINTS.values()]
_NEXT = {"arm": "forearm", "forearm": "hand", "hand": "fingers", "thigh": "shin", "shin": "foot"}


@dataclass(frozen=True, slots=True)
class BodyPose:
    """Directions of the limbs.

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
class PosedBody:
    """A body in a pose, the lowest point at y = 0, the pelvis over x = z = 0, facing +z.

    Attributes:
        body: whose.
        pose: which.
        vertices: (V, 3) [m].
        joints: (J, 3) places, in the order of `JOINTS`.
        turns: (J, 3, 3) how each bone has been turned from rest.
        landmarks: (L, 3) places, in the order of `LANDMARKS`.
    """

    body: HumanBody
    pose: BodyPose
    vertices: NDArray[np.float64]
    joints: NDArray[np.float64]
    turns: NDArray[np.float64]
    landmarks: NDArray[np.float64]

    def joint(self, name: str) -> NDArray[np.float64]:
        """Return the (3,) position of a joint."""
        return np.asarray(self.joints[_ORDER[name]])

    def landmark(self, name: str) -> NDArray[np.float64]:
        """Return the (3,) position of a landmark."""
        return np.asarray(self.landmarks[LANDMARKS.index(name)])

    def turn(self, name: str) -> NDArray[np.float64]:
        """Return the (3, 3) rotation of a bone from rest."""
        return np.asarray(self.turns[_ORDER[name]])


def offset(x: float, y: float, z: float) -> NDArray[np.float64]:
    """Return a (3,) offset to the right, down and forward, [m]."""
    return np.array([x, y, z], np.float64)


def pose_body(body: HumanBody, pose: BodyPose) -> PosedBody:
    """Put a body into a pose by linear blend skinning."""
    turns, joints = _skeleton(body, pose)
    points = skin_vertices(body.vertices, body.joints, turns, joints)
    whole = rotation(*pose.whole)
    points, joints, turns = points @ whole.T, joints @ whole.T, whole @ turns
    # Put the lowest point on y = 0 and the pelvis over the origin.
    count = len(points) - len(LANDMARKS)
    down = np.array([joints[0, 0], points[:count, 1].max(), joints[0, 2]])
    points, joints = points - down, joints - down
    return PosedBody(body, pose, points[:count], joints, turns, points[count:])


def _skeleton(body: HumanBody, pose: BodyPose) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (J, 3, 3) bone rotations from rest and (J, 3) joint positions."""
    turns, joints = np.empty((len(_ORDER), 3, 3)), np.empty((len(_ORDER), 3))
    # Forward kinematics: parents come before their children.
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
            carried = _shortest_rotation(carried @ _rest_direction(body, name), wanted) @ carried
        turns[here] = carried
    return turns, joints


def _rest_direction(body: HumanBody, name: str) -> NDArray[np.float64]:
    """Return the (3,) direction of a limb at rest."""
    stem, side = name.split(".")
    start = body.joints[_ORDER[name]]
    if stem == "foot":
        marks = len(body.vertices) - len(LANDMARKS)
        return np.asarray(body.vertices[marks + LANDMARKS.index(f"toe.{side}")] - start)
    return np.asarray(body.joints[_ORDER[f"{_NEXT[stem]}.{side}"]] - start)


def _shortest_rotation(start: Vector, end: Vector) -> NDArray[np.float64]:
    """Return the smallest (3, 3) rotation from one direction to another."""
    ax, ay, az = (float(c) for c in start)
    bx, by, bz = (float(c) for c in end)
    long = math.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    cosine = (ax * bx + ay * by + az * bz) / long
    if cosine < -0.9999:  # opposite directions: half a turn about any axis across
        across = np.cross([ax, ay, az], np.eye(3)[np.argmin(np.abs([ax, ay, az]))])
        across /= np.linalg.norm(across)
        return np.asarray(2 * np.outer(across, across) - np.eye(3))
    x, y, z = (ay * bz - az * by) / long, (az * bx - ax * bz) / long, (ax * by - ay * bx) / long
    # Rodrigues' formula for the axis v = a × b: R = c·I + [v]× + v vᵀ / (1 + c), c = cos of the angle.
    k = 1 / (1 + cosine)
    return np.array(
        [
            [k * x * x + cosine, k * x * y - z, k * x * z + y],
            [k * x * y + z, k * y * y + cosine, k * y * z - x],
            [k * x * z - y, k * y * z + x, k * z * z + cosine],
        ]
    )


Aims = dict[str, Direction]
Turns = dict[str, tuple[float, float, float]]
Whole = tuple[float, float, float] | None
PoseMaker = Callable[[Random, Aims, Turns], Whole]


def _standing(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with the weight on both feet or on one."""
    _side(rng, aims, "thigh", (rng.uniform(0.0, 0.25), 1.0, rng.uniform(-0.05, 0.15)))
    return None


def _hips(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with one hand or both on the hips."""
    for side in "LR" if rng.random() < 0.6 else rng.choice(["L", "R"]):
        aims[f"arm.{side}"] = (0.85, 0.9, -0.25)
        aims[f"forearm.{side}"] = (-0.85, 0.55, 0.45)
    return None


def _crossed(_rng: Random, aims: Aims, _: Turns) -> Whole:
    """Stand with arms folded over the chest."""
    for side, over in (("L", 0.0), ("R", 0.08)):
        aims[f"arm.{side}"] = (0.32, 1.0, 0.42)
        aims[f"forearm.{side}"] = (-1.0, -0.12 - over, 0.5 + over)
        aims[f"hand.{side}"] = (-1.0, -0.1, 0.0)
    return None


def _walking(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Walk: one leg ahead, the other behind, arms against them."""
    stride = rng.uniform(0.2, 0.55)
    ahead, behind = rng.permutation(["L", "R"])
    aims[f"thigh.{ahead}"], aims[f"shin.{ahead}"] = (0.04, 1.0, stride), (0.02, 1.0, stride * 0.5)
    aims[f"thigh.{behind}"] = (0.04, 1.0, -0.6 * stride)
    aims[f"shin.{behind}"] = (0.02, 1.0, -0.1 - 1.1 * stride)
    aims[f"foot.{ahead}"], aims[f"foot.{behind}"] = (0.15, 0.2, 1.0), (0.15, 0.6 + stride, 0.9)
    for side, swing in ((ahead, -stride), (behind, stride)):
        aims[f"arm.{side}"] = (aims[f"arm.{side}"][0], 1.0, swing)
        aims[f"forearm.{side}"] = (0.05, 1.0, swing + rng.uniform(0.2, 0.6))
    turns["spine"] = (0.0, rng.normal(-3, 2), 0.0)
    return None


def _running(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Run: high knee, bent elbows, leaning forward."""
    ahead, behind = rng.permutation(["L", "R"])
    lift = rng.uniform(0.6, 1.3)
    aims[f"thigh.{ahead}"], aims[f"shin.{ahead}"] = (0.05, 1.0, lift), (0.0, 1.0, -0.4)
    aims[f"thigh.{behind}"], aims[f"shin.{behind}"] = (0.0, 1.0, -0.45), (0.0, 0.8, -1.0)
    aims[f"foot.{behind}"] = (0.0, 1.0, 0.1)
    for side, swing in ((ahead, -0.8), (behind, 0.6)):
        aims[f"arm.{side}"] = (0.3, 1.0, swing)
        aims[f"forearm.{side}"] = (-0.15, 0.3 - swing * 0.6, 1.0)
    turns["pelvis"] = (0.0, -10.0, 0.0)
    return None


def _sitting(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Sit on something as high as the lower legs, hands on the lap, a table or beside."""
    spread, tuck = rng.uniform(0.02, 0.3), rng.uniform(-0.35, 0.3)
    arms = int(rng.integers(3))
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (spread, 0.02, 1.0), (0.0, 1.0, tuck)
        aims[f"foot.{side}"] = (rng.uniform(0.0, 0.3), 0.42, 1.0)
        ahead = (0.35, 0.55)[arms == 1]
        aims[f"arm.{side}"] = (0.2, 1.0, ahead) if arms < 2 else (0.35, 1.0, -0.1)
        aims[f"forearm.{side}"] = ((-0.25, 0.35, 1.0), (-0.2, -0.05, 1.0), (0.0, 0.9, 0.45))[arms]
    turns["pelvis"] = (0.0, rng.uniform(-4, 10), 0.0)
    turns["chest"] = (rng.normal(0, 6), rng.uniform(-16, 4), 0.0)
    return None


def _reaching(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Reach for something in front, above or beside with one arm."""
    reach = (rng.uniform(-0.2, 0.7), rng.uniform(-0.8, 0.5), 1.0)
    side = _side(rng, aims, "arm", reach)
    aims[f"forearm.{side}"] = (reach[0] - 0.2, reach[1] - 0.1, reach[2])
    turns["chest"] = (rng.normal(0, 8), rng.uniform(-15, 3), 0.0)
    return None


def _raised(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Hold both arms up, or wave with one."""
    for side in "LR" if rng.random() < 0.4 else rng.choice(["L", "R"]):
        aims[f"arm.{side}"] = (1.0, rng.uniform(-1.2, 0.3), rng.uniform(-0.1, 0.4))
        aims[f"forearm.{side}"] = (rng.uniform(-0.3, 0.5), -1.0, rng.uniform(0.0, 0.4))
        aims[f"hand.{side}"] = aims[f"forearm.{side}"]
    return None


def _holding(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Hold something in front: a telephone, a cup, the handle of an umbrella; in the right hand."""
    aims["arm.R"] = (0.3, 1.0, rng.uniform(0.05, 0.4))
    aims["forearm.R"] = (rng.uniform(-0.5, 0.1), rng.uniform(-0.7, 0.0), 1.0)
    aims["hand.R"] = (-0.2, -0.3, 1.0)
    if rng.random() < 0.4:
        aims["arm.L"], aims["forearm.L"] = (0.25, 1.0, 0.3), (-0.5, -0.2, 1.0)
    turns["head"] = (rng.normal(0, 6), rng.uniform(-25, 0), 0.0)
    return None


def _bending(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Bend forward from the hips, arms down or ahead."""
    lean = rng.uniform(25, 75)
    turns["pelvis"], turns["spine"] = (0.0, -0.6 * lean, 0.0), (0.0, -0.3 * lean, 0.0)
    turns["chest"], turns["neck"] = (rng.normal(0, 5), -0.15 * lean, 0.0), (0.0, 0.3 * lean, 0.0)
    for side in "LR":
        aims[f"thigh.{side}"] = (0.12, 1.0, -0.15)
        aims[f"arm.{side}"] = (0.15, 1.0, rng.uniform(0.0, 0.6))
        aims[f"forearm.{side}"] = (-0.05, 1.0, rng.uniform(0.1, 0.9))
    return None


def _crouching(rng: Random, aims: Aims, turns: Turns) -> Whole:
    """Squat on the heels."""
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (0.35, -0.15, 1.0), (0.0, 1.0, -0.75)
        aims[f"foot.{side}"] = (0.25, 0.5, 1.0)
        aims[f"arm.{side}"] = (0.25, 1.0, 0.55)
        aims[f"forearm.{side}"] = (-0.2, rng.uniform(0.0, 1.0), 1.0)
    turns["pelvis"], turns["chest"] = (0.0, -22.0, 0.0), (0.0, -10.0, 0.0)
    return None


def _kneeling(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Kneel on one knee or both."""
    for side in "LR":
        aims[f"thigh.{side}"], aims[f"shin.{side}"] = (0.1, 1.0, 0.2), (0.0, 0.12, -1.0)
        aims[f"foot.{side}"] = (0.0, 0.4, -1.0)
    if rng.random() < 0.5:
        side = _side(rng, aims, "thigh", (0.15, 0.1, 1.0))
        aims[f"shin.{side}"], aims[f"foot.{side}"] = (0.0, 1.0, 0.0), (0.1, 0.42, 1.0)
    return None


def _lying(rng: Random, aims: Aims, _: Turns) -> Whole:
    """Lie on the back, the front or a side; what is below must not lift the body off the ground."""
    on = str(rng.choice(["back", "front", "side"], p=[0.5, 0.2, 0.3]))
    for side in "LR":
        out, ahead = (0.0, 1.0) if on == "side" else (rng.uniform(0.2, 1.2), 0.0)
        aims[f"arm.{side}"] = (out, 0.7, ahead)
        aims[f"forearm.{side}"] = (out * rng.uniform(-0.3, 0.7), 0.7, ahead)
        aims[f"foot.{side}"] = (0.2, 1.0, 0.5)
    if on == "back" and rng.random() < 0.5:
        side = _side(rng, aims, "thigh", (0.1, 1.0, 1.0))
        aims[f"shin.{side}"], aims[f"foot.{side}"] = (0.0, 1.0, -0.8), (0.1, 0.9, 0.2)
    return {"back": (0.0, 88.0, 0.0), "front": (0.0, -88.0, 0.0), "side": (0.0, 0.0, 88.0)}[on]


def _side(rng: Random, aims: Aims, limb: str, aim: Direction) -> str:
    """Aim a limb on a random side, and return the side."""
    side = str(rng.choice(["L", "R"]))
    aims[f"{limb}.{side}"] = aim
    return side


#: Every pose by its name.
POSES: dict[str, PoseMaker] = {
    "standing": _standing, "hips": _hips, "crossed": _crossed, "walking": _walking,
    "running": _running, "sitting": _sitting, "reaching": _reaching, "raised": _raised,
    "holding": _holding, "bending": _bending, "crouching": _crouching, "kneeling": _kneeling,
    "lying": _lying,
}  # fmt: skip


def sample_pose(rng: Random, name: str, *, stout: float = 0.0) -> BodyPose:
    """Choose a pose of one kind, different each time.

    Args:
        rng: random generator.
        name: one of `POSES`.
        stout: how much farther out arms must hang to clear the body, 0 for slim people.
    """
    if name not in POSES:
        raise InputError(f"no pose {name!r}", remedy=f"choose one of {', '.join(POSES)}")
    aims: dict[str, Direction] = {}
    turns = {
        "pelvis": (0.0, rng.normal(0, 1.5), rng.normal(0, 2)),
        "spine": (rng.normal(0, 4), rng.normal(0, 2), rng.normal(0, 2)),
        "chest": (rng.normal(0, 5), rng.normal(-1, 2), rng.normal(0, 2)),
        "neck": (rng.normal(0, 6), rng.normal(0, 4), rng.normal(0, 2)),
        "head": (rng.normal(0, 14), rng.normal(-2, 7), rng.normal(0, 4)),
    }
    for side in "LR":
        aims[f"arm.{side}"] = (0.2 + stout, 1.0, 0.0)
        aims[f"forearm.{side}"] = (0.08 + stout, 1.0, rng.uniform(0.05, 0.4))
        aims[f"thigh.{side}"] = (rng.uniform(0.02, 0.14), 1.0, 0.02)
        aims[f"shin.{side}"] = (rng.uniform(0.0, 0.08), 1.0, -0.05)
        aims[f"foot.{side}"] = (rng.uniform(0.0, 0.4), 0.42, 1.0)
    whole = POSES[name](rng, aims, turns)
    for limb, (out, down, forward) in aims.items():
        size = 0.03 if limb.startswith(("thigh", "shin", "foot")) else 0.08
        a, b, c = rng.normal(0, size, 3)
        aims[limb] = (out + a, down + b, forward + c)
    return BodyPose(name, aims, turns, whole or (0.0, 0.0, 0.0))
