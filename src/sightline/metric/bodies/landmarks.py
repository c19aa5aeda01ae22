"""Where the 33 landmarks of BlazePose lie on a body: a fixed regression from its points.

A landmark is a place near a joint or a mark of the body, given on the mean adult; it is written as a
weighted sum of the points next to it (weights adding up to 1), so that it follows every shape and pose.

* Face: where the words say, on the surface: corners of the eyes and of the mouth, tip of the nose,
  tragus of the ear. On rendered people BlazePose puts the whole face 18 mm higher; whether it does so
  on photographs is not known, so the fit leaves the face's place free by that much (`problem.State`).
* The rest was measured: BlazePose (full, refined by its heat maps) on 150 rendered people whose joints
  are known, the offset from the joint in the axes of the bone. It puts the shoulder on the acromion,
  33 mm above the pivot of the arm; the elbow 17 mm up the arm; the knee 19 mm below its pivot and the
  ankle 24 mm above (its pivot lies in the heel bone); heel and toe inside the shoe. What is left, 12
  to 30 mm on a body of 1.70 m, is `tolerance`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.space import Space, body_space
from sightline.metric.people.types import LANDMARKS
from sightline.scenes import bodies
from sightline.scenes.bodies import JOINTS, topology

Array = NDArray[np.float64]

_ORDER = {name: place for place, name in enumerate(JOINTS)}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a landmark lies; the side (.L, .R) is added to the names of paired points.

    Attributes:
        near: the joint or mark it lies next to.
        offset: (out, down, forward) from there at rest, [mm] on an adult of 1.70 m.
        bone: the joint whose bone it moves with.
        tolerance: one standard deviation of where the network puts it, in a picture, [mm] likewise.
    """

    near: str
    offset: tuple[float, float, float]
    bone: str
    tolerance: float


#: By the landmark's name without its side.
PLACES = {
    "nose": Place("nose", (0, 0, 0), "head", 8),
    "eye_inner": Place("eye", (-14.5, 0, 10), "head", 7),
    "eye_middle": Place("eye", (0, 0, 19), "head", 7),
    "eye_outer": Place("eye", (14.5, 0, 8), "head", 7),
    "ear": Place("head", (72, -24, 12), "head", 9),
    "mouth": Place("head", (26, 25, 100), "head", 8),
    "shoulder": Place("arm", (-4, -33, 0), "collar", 15),
    "elbow": Place("forearm", (-12, -13, 0), "arm", 14),
    "wrist": Place("hand", (0, 0, 0), "forearm", 14),
    "pinky": Place("hand", (33, 47, 52), "hand", 16),
    "index": Place("hand", (16, 44, 74), "hand", 16),
    "thumb": Place("hand", (-2, 31, 62), "hand", 17),
    "hip": Place("thigh", (-9, 2, 0), "pelvis", 25),
    "knee": Place("shin", (0, 19, 5), "thigh", 18),
    "ankle": Place("foot", (-3, -24, 1), "shin", 12),
    "heel": Place("foot", (-7, 39, -39), "foot", 16),
    "toe": Place("foot", (-18, 52, 170), "foot", 15),
}


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """From the points of a body to the landmarks.

    Attributes:
        weight: (33, P) of `Space.mean`'s points; rows add up to 1.
        bone: (33,) intp, the joint whose bone each moves with.
        tolerance: (33,) standard deviation in a picture, in statures.
    """

    weight: Array
    bone: NDArray[np.intp]
    tolerance: Array


@functools.cache
def regression() -> Regression:
    """Write every landmark as a sum of the body's points."""
    space = body_space()
    adult = space.shape((space.groups["man"].mean + space.groups["woman"].mean) / 2)
    pull = np.concatenate([topology().weight, _joint_pull()])
    weight = np.zeros((len(LANDMARKS), len(adult)))
    bone = np.zeros(len(LANDMARKS), np.intp)
    tolerance = np.zeros(len(LANDMARKS))
    for row, name in enumerate(LANDMARKS):
        stem, _, side = name.partition(".")
        place = PLACES[stem]
        start = _number(space, place.near, side)
        bone[row] = _ORDER[_sided(place.bone, side)]
        tolerance[row] = place.tolerance / 1700
        offset = np.array(place.offset) / 1700 * [-1 if side == "L" else 1, 1, 1]
        if not offset.any():
            weight[row, start] = 1.0
            continue
        candidates = np.flatnonzero(pull[:, bone[row]] > 0.45)
        candidates = np.append(candidates[candidates != start], start)
        weight[row] = _affine(adult, candidates, adult[start] + offset)
    return Regression(weight, bone, tolerance)


def landmarks_of(points: Array) -> Array:
    """(33, 3) landmarks of (P, 3) points of a body in any pose: vertices, marks, joints."""
    return np.asarray(regression().weight @ points)


def _affine(points: Array, candidates: NDArray[np.intp], target: Array) -> Array:
    """(P,) smallest weights on the 12 nearest candidates and the last that give a target."""
    gap = np.linalg.norm(points[candidates] - target, axis=1)
    chosen = np.union1d(candidates[np.argsort(gap)[:12]], candidates[-1:])
    reach = np.linalg.norm(points[chosen] - target, axis=1) + 0.01
    # Nearer points are cheaper; the four equations are met exactly.
    rows = np.concatenate([points[chosen].T, np.ones((1, len(chosen)))]) / reach
    share = np.linalg.lstsq(rows, np.append(target, 1.0), rcond=None)[0] / reach
    weight = np.zeros(len(points))
    weight[chosen] = share
    return weight


def _joint_pull() -> Array:
    """(J, J) by how much bones move joints: a joint rides at the end of its parent's bone."""
    pull = np.eye(len(JOINTS))
    for name, parent in JOINTS.items():
        if parent is not None:
            pull[_ORDER[name], _ORDER[parent]] = 1.0
    return pull


def _sided(name: str, side: str) -> str:
    """Add the side to the name of a paired joint or mark."""
    paired = f"{name}.{side}"
    return paired if paired in JOINTS or paired in bodies.LANDMARKS else name


def _number(space: Space, name: str, side: str) -> int:
    """Which point a joint or mark is."""
    full = _sided(name, side)
    if full in bodies.LANDMARKS:
        return int(space.vertices.stop) + bodies.LANDMARKS.index(full)
    return int(space.joints.start) + _ORDER[full]
