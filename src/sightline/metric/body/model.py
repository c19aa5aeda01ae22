"""Statistical body model: shape space, landmarks on the body, and kinematics.

**Shape space.** Principal components of the bodies of `scenes.bodies`, learned on first use.
Lengths are in statures: a body is its shape times its height. Proportions and height are taken to
be independent among adults of one sex. In the library they are not: its shapes follow from a handful of
parameters, and six proportions explain nine tenths of the variance of height, unlike in real
people. A fit that relied on that would be overconfident.

**Landmarks.** Each of the 33 landmarks of BlazePose is a place near a joint or a mark of the mean
adult, written as an affine combination of nearby points, so that it follows every shape and pose.
Landmarks of the face are anatomical: corners of eyes and mouth, tip of the nose, tragus. On
rendered people BlazePose puts the whole face 18 mm higher; the fit leaves that offset free
(`problem.BodyState`). The others were measured with BlazePose on 150 rendered people with known
joints: it puts the shoulder on the acromion, 33 mm above the pivot of the arm; the elbow 17 mm up
the arm; the knee 19 mm below its pivot and the ankle 24 mm above (its pivot lies in the heel bone);
heel and toe inside the shoe. The residual, 12 to 30 mm on a body of 1.70 m, is `tolerance`.

**Kinematics.** Each bone is rotated relative to its parent, in the axes of the body at rest (x to its
right, y down, z forward); the pelvis relative to the camera. The pelvis is the origin.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.body.rotations import cross_matrix
from sightline.metric.people.types import LANDMARKS
from sightline.scenes.people import bodies
from sightline.scenes.people.bodies import JOINTS, HumanBody, skin_vertices, topology

Array = NDArray[np.float64]

#: Number of shape components: they leave 4 mm at joints and 6 mm at the skin.
COMPONENTS = 6

#: Weight of joints against vertices in the principal component analysis; landmarks lie at joints.
_JOINT_WORTH = 10.0

#: Real people vary more than the library, by this factor in standard deviation.
_WIDEN = 1.5

#: Ages in years: children below the first, adults from the second on.
_YOUNG, _GROWN = 14.0, 18.0


@dataclass(frozen=True, slots=True, eq=False)
class ShapeGroup:
    """Distribution of shapes of men, women or children.

    Attributes:
        mean: (K,) mean coordinates at log height `at`.
        spread: (K, K) covariance.
        slope: (K,) change of the mean with log height.
        at: log height in [log m] of the mean.
    """

    mean: Array
    spread: Array
    slope: Array
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class ShapeSpace:
    """Shapes as mean + Σ component · coordinate; the pelvis at 0, lengths in statures.

    Attributes:
        mean: (P, 3) points: vertices, marks (`bodies.LANDMARKS`), then joints (`bodies.JOINTS`).
        components: (K, P, 3) displacement of points per coordinate; unit variance over the library.
        groups: `man`, `woman`, `child`.
    """

    mean: Array
    components: Array
    groups: dict[str, ShapeGroup]

    @property
    def vertices(self) -> slice:
        """Slice of the vertices of the surface."""
        return slice(0, len(self.mean) - len(bodies.LANDMARKS) - len(JOINTS))

    @property
    def skinned(self) -> slice:
        """Slice of the points with skinning weights in `bodies.topology`: vertices and marks."""
        return slice(0, len(self.mean) - len(JOINTS))

    @property
    def joints(self) -> slice:
        """Slice of the joints."""
        return slice(len(self.mean) - len(JOINTS), len(self.mean))

    def shape(self, coordinates: Array) -> Array:
        """Return the (P, 3) points at rest of a body with (K,) coordinates, in statures."""
        return np.asarray(self.mean + np.einsum("k,kpi->pi", coordinates, self.components))


def points_of(body: HumanBody) -> Array:
    """Return the (P, 3) vertices, marks and joints of a body at rest, the pelvis at 0, in statures."""
    points = np.concatenate([body.vertices, body.joints])
    return np.asarray((points - body.joints[0]) / body.height)


@functools.cache
def body_space(numbers: tuple[int, ...] | None = None) -> ShapeSpace:
    """Learn the shape space from bodies of the library.

    Args:
        numbers: indices of the bodies; None for all.
    """
    people = [
        bodies.load_body(n) for n in (range(bodies.body_count()) if numbers is None else numbers)
    ]
    points = np.stack([points_of(person) for person in people])
    mean = points.mean(0)
    worth = np.ones(len(mean))
    worth[-len(JOINTS) :] = _JOINT_WORTH
    rows = ((points - mean) * worth[:, None]).reshape(len(people), -1)
    left, size, right = np.linalg.svd(rows, full_matrices=False)
    scale = np.sqrt(len(people))
    coordinates = left[:, :COMPONENTS] * scale
    components = (size[:COMPONENTS, None] / scale * right[:COMPONENTS]).reshape(
        COMPONENTS, -1, 3
    ) / worth[:, None]
    return ShapeSpace(mean, components, _groups(people, coordinates))


def _groups(people: list[HumanBody], coordinates: Array) -> dict[str, ShapeGroup]:
    """Compute the shape distributions of men, women and children."""
    age, female, height = (
        np.array([getattr(person, name) for person in people])
        for name in ("age", "female", "height")
    )
    grown = age >= _GROWN
    groups = {}
    for name, chosen in (("man", grown & (female < 0.5)), ("woman", grown & (female >= 0.5))):
        own = coordinates[chosen]
        spread = _WIDEN**2 * _shrunk(own - own.mean(0))
        still = np.zeros(COMPONENTS)
        groups[name] = ShapeGroup(own.mean(0), spread, still, float(np.log(height[chosen]).mean()))
    young = age < _YOUNG
    tall = np.log(height[young])
    off = tall - tall.mean()
    own = coordinates[young]
    slope = off @ (own - own.mean(0)) / (off @ off)
    spread = _WIDEN**2 * _shrunk(own - own.mean(0) - off[:, None] * slope)
    groups["child"] = ShapeGroup(own.mean(0), spread, slope, float(tall.mean()))
    return groups


def _shrunk(rows: Array) -> Array:
    """Return the (K, K) covariance of (N, K) centered rows, shrunk toward the identity for small N."""
    covariance = rows.T @ rows / max(len(rows) - 1, 1)
    share = COMPONENTS / (COMPONENTS + len(rows))
    return np.asarray((1 - share) * covariance + share * np.eye(COMPONENTS))


_ORDER = {name: place for place, name in enumerate(JOINTS)}


@dataclass(frozen=True, slots=True)
class LandmarkPlace:
    """Place of a landmark; the side (.L, .R) is appended to the names of paired points.

    Attributes:
        near: the joint or mark next to it.
        offset: (out, down, forward) from there at rest, in [mm] on an adult of 1.70 m.
        bone: the joint whose bone it moves with.
        tolerance: standard deviation of the network's landmark in the image, in [mm] on the same adult.
    """

    near: str
    offset: tuple[float, float, float]
    bone: str
    tolerance: float


#: By the landmark's name without its side.
PLACES = {
    "nose": LandmarkPlace("nose", (0, 0, 0), "head", 8),
    "eye_inner": LandmarkPlace("eye", (-14.5, 0, 10), "head", 7),
    "eye_middle": LandmarkPlace("eye", (0, 0, 19), "head", 7),
    "eye_outer": LandmarkPlace("eye", (14.5, 0, 8), "head", 7),
    "ear": LandmarkPlace("head", (72, -24, 12), "head", 9),
    "mouth": LandmarkPlace("head", (26, 25, 100), "head", 8),
    "shoulder": LandmarkPlace("arm", (-4, -33, 0), "collar", 15),
    "elbow": LandmarkPlace("forearm", (-12, -13, 0), "arm", 14),
    "wrist": LandmarkPlace("hand", (0, 0, 0), "forearm", 14),
    "pinky": LandmarkPlace("hand", (33, 47, 52), "hand", 16),
    "index": LandmarkPlace("hand", (16, 44, 74), "hand", 16),
    "thumb": LandmarkPlace("hand", (-2, 31, 62), "hand", 17),
    "hip": LandmarkPlace("thigh", (-9, 2, 0), "pelvis", 25),
    "knee": LandmarkPlace("shin", (0, 19, 5), "thigh", 18),
    "ankle": LandmarkPlace("foot", (-3, -24, 1), "shin", 12),
    "heel": LandmarkPlace("foot", (-7, 39, -39), "foot", 16),
    "toe": LandmarkPlace("foot", (-18, 52, 170), "foot", 15),
}


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkRegression:
    """Linear map from the points of a body to the landmarks.

    Attributes:
        weight: (33, P) weights of the points of `ShapeSpace.mean`; rows sum to 1.
        bone: (33,) intp, the joint whose bone each moves with.
        tolerance: (33,) standard deviation in the image, in statures.
    """

    weight: Array
    bone: NDArray[np.intp]
    tolerance: Array


@functools.cache
def regression() -> LandmarkRegression:
    """Write every landmark as an affine combination of the body's points."""
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
    return LandmarkRegression(weight, bone, tolerance)


def landmarks_of(points: Array) -> Array:
    """Return the (33, 3) landmarks of (P, 3) points (vertices, marks, joints) of a body in any pose."""
    return np.asarray(regression().weight @ points)


def _affine(points: Array, candidates: NDArray[np.intp], target: Array) -> Array:
    """Return (P,) weights of least norm on the nearest candidates that reproduce a target point."""
    gap = np.linalg.norm(points[candidates] - target, axis=1)
    chosen = np.union1d(candidates[np.argsort(gap)[:12]], candidates[-1:])
    reach = np.linalg.norm(points[chosen] - target, axis=1) + 0.01
    # Nearer points get larger weights; the four equations hold exactly.
    rows = np.concatenate([points[chosen].T, np.ones((1, len(chosen)))]) / reach
    share = np.linalg.lstsq(rows, np.append(target, 1.0), rcond=None)[0] / reach
    weight = np.zeros(len(points))
    weight[chosen] = share
    return weight


def _joint_pull() -> Array:
    """Return the (J, J) influence of bones on joints: their own and their parent's."""
    pull = np.eye(len(JOINTS))
    for name, parent in JOINTS.items():
        if parent is not None:
            pull[_ORDER[name], _ORDER[parent]] = 1.0
    return pull


def _sided(name: str, side: str) -> str:
    """Append the side to the name of a paired joint or mark."""
    paired = f"{name}.{side}"
    return paired if paired in JOINTS or paired in bodies.LANDMARKS else name


def _number(space: ShapeSpace, name: str, side: str) -> int:
    """Return the index of a joint or mark among the points."""
    full = _sided(name, side)
    if full in bodies.LANDMARKS:
        return int(space.vertices.stop) + bodies.LANDMARKS.index(full)
    return int(space.joints.start) + _ORDER[full]


#: Index of each joint's parent; the pelvis is its own.
PARENT = np.array(
    [0 if above is None else list(JOINTS).index(above) for above in JOINTS.values()], np.intp
)


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """Skeleton of a shape space.

    Attributes:
        reach: (J, 3) from each joint's parent to it at rest; 0 for the pelvis.
        reach_ways: (K, J, 3) change of `reach` per shape coordinate.
        offset: (33, 3) from the joint whose bone a landmark moves with to the landmark at rest.
        offset_ways: (K, 33, 3) change of `offset` per shape coordinate.
        bone: (33,) intp, that joint.
        chain: (33, J) 1.0 for the joints from the pelvis to a landmark, its own included.
    """

    reach: Array
    reach_ways: Array
    offset: Array
    offset_ways: Array
    bone: NDArray[np.intp]
    chain: Array


@dataclass(frozen=True, slots=True, eq=False)
class PosedSkeleton:
    """Positions of the bones and landmarks of a posed body.

    Attributes:
        turns: (J, 3, 3) rotation of each bone from rest, in the camera's axes.
        joints: (J, 3) in statures, the pelvis at 0.
        landmarks: (33, 3) likewise.
    """

    turns: Array
    joints: Array
    landmarks: Array


@functools.lru_cache(maxsize=4)
def skeleton(space: ShapeSpace) -> Skeleton:
    """Return the skeleton of a shape space."""
    found = regression()
    at_joint = np.concatenate([space.mean[None], space.components])[:, space.joints]
    at_mark = np.einsum(
        "lp,kpi->kli", found.weight, np.concatenate([space.mean[None], space.components])
    )
    reach = at_joint - at_joint[:, PARENT]
    offset = at_mark - at_joint[:, found.bone]
    chain = np.zeros((len(found.bone), len(PARENT)))
    for row, joint in enumerate(found.bone):
        at = int(joint)
        while chain[row, at] == 0:
            chain[row, at] = 1.0
            at = int(PARENT[at])
    return Skeleton(reach[0], reach[1:], offset[0], offset[1:], found.bone, chain)


def pose_skeleton(skeleton: Skeleton, bends: Array, coordinates: Array) -> PosedSkeleton:
    """Compute joints and landmarks of a pose by forward kinematics.

    Args:
        skeleton: of the shape space.
        bends: (J, 3, 3) rotation of each bone relative to its parent.
        coordinates: (K,) shape coordinates.
    """
    turns = np.empty_like(bends)
    turns[0] = bends[0]
    for joint in range(1, len(bends)):
        turns[joint] = turns[PARENT[joint]] @ bends[joint]
    reach = skeleton.reach + np.einsum("k,kji->ji", coordinates, skeleton.reach_ways)
    offset = skeleton.offset + np.einsum("k,kli->li", coordinates, skeleton.offset_ways)
    step = np.einsum("jab,jb->ja", turns[PARENT], reach)
    joints = step.copy()
    for joint in range(1, len(bends)):
        joints[joint] += joints[PARENT[joint]]
    landmarks = joints[skeleton.bone] + np.einsum("lab,lb->la", turns[skeleton.bone], offset)
    return PosedSkeleton(turns, joints, landmarks)


def landmark_jacobians(skeleton: Skeleton, stance: PosedSkeleton) -> tuple[Array, Array]:
    """Return the derivatives of the landmarks.

    Returns:
        (33, 3, J, 3) by a small rotation applied before each bone's own, in [statures/rad]; and
        (33, 3, K) by the shape coordinates.
    """
    arms = stance.landmarks[:, None] - stance.joints[None]
    levers = -cross_matrix(arms * skeleton.chain[:, :, None])
    by_turn = np.einsum("ljab,jbc->lajc", levers, stance.turns, optimize=True)
    along = np.einsum("jab,kjb->jak", stance.turns[PARENT], skeleton.reach_ways)
    out = np.einsum("lab,klb->lak", stance.turns[skeleton.bone], skeleton.offset_ways)
    return by_turn, out + np.einsum("lj,jak->lak", skeleton.chain, along)


def skin(space: ShapeSpace, stance: PosedSkeleton, coordinates: Array) -> Array:
    """Return (V, 3) vertices in statures, the pelvis at 0, by linear blend skinning."""
    rest = space.shape(coordinates)
    moved = skin_vertices(rest[space.skinned], rest[space.joints], stance.turns, stance.joints)
    return moved[space.vertices]
