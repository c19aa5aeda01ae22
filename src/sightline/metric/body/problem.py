"""Least-squares problem of a body fit, and its solution by Levenberg-Marquardt.

The unknowns are the rotation of each bone, the position of the pelvis (direction and log of depth over
stature), the scale of the world landmarks, an offset of the face and the shape coordinates. Stature is
not one of them: a body twice as tall and twice as far gives the same image. It comes from the prior
(`stature`).

The prior over poses limits each joint by three angles, the components of its rotation vector along the
axes of the body at rest (x to its right, y down, z forward) or, at the elbow, of the hinge. Rest is
upright with the arms 45° away from the sides. A positive rotation about x lifts a limb forward. Means,
spreads and stops are rounded from textbooks of anatomy, not learned.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.body.model import (
    PARENT,
    PosedSkeleton,
    Skeleton,
    body_space,
    landmark_jacobians,
    pose_skeleton,
)
from sightline.metric.body.observations import DIFFERENCE, WORLD_DEPTH, BodyObservations
from sightline.metric.body.rotations import inverse_right_jacobian, rotation_matrix, rotation_vector
from sightline.metric.people.types import LANDMARKS
from sightline.scenes.people.bodies import JOINTS

Array = NDArray[np.float64]
Angles = tuple[float, float, float]

#: Standard deviation of exceeding a joint's stop, in [rad].
SOFT = np.radians(4.0)


@dataclass(frozen=True, slots=True)
class JointRange:
    """Range of one bone about its three axes in [degrees]; for the right side, mirrored for the left.

    Attributes:
        mean: mean angles.
        spread: standard deviations.
        low: lower stops, or −inf.
        high: upper stops, or +inf.
    """

    mean: Angles
    spread: Angles
    low: Angles = (-np.inf, -np.inf, -np.inf)
    high: Angles = (np.inf, np.inf, np.inf)


#: By the joint's name without its side. The forearm's axes are its hinge, its length, and across.
RANGES = {
    "spine": JointRange((-3, 0, 0), (22, 14, 12), (-80, -50, -40), (35, 50, 40)),
    "chest": JointRange((-2, 0, 0), (16, 14, 12), (-50, -45, -35), (25, 45, 35)),
    "neck": JointRange((0, 0, 0), (16, 18, 10), (-50, -60, -40), (50, 60, 40)),
    "head": JointRange((-3, 0, 0), (20, 28, 12), (-60, -80, -45), (60, 80, 45)),
    "collar": JointRange((0, 0, 0), (6, 9, 9), (-25, -30, -40), (25, 30, 20)),
    "arm": JointRange((5, 0, 25), (55, 45, 45)),
    "forearm": JointRange((5, 0, 0), (45, 35, 8), (-52, -100, -30), (100, 100, 30)),
    "hand": JointRange((0, 0, 0), (22, 16, 22), (-80, -60, -80), (80, 60, 80)),
    "fingers": JointRange((0, 0, 0), (8, 3, 3)),
    "thigh": JointRange((10, 0, 0), (45, 22, 18), (-45, -60, -60), (130, 60, 60)),
    "shin": JointRange((-20, 0, 0), (45, 10, 6), (-155, -40, -25), (9, 40, 25)),
    "foot": JointRange((0, 0, 0), (20, 14, 12), (-60, -45, -40), (45, 45, 40)),
}


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Ranges of all bones but the pelvis, in the order of `JOINTS`.

    Attributes:
        axes: (J - 1, 3, 3) rows are the axes.
        mean, spread, low, high: (J - 1, 3) in [rad].
    """

    axes: Array
    mean: Array
    spread: Array
    low: Array
    high: Array


@functools.cache
def joint_limits() -> JointLimits:
    """Return the ranges of both sides."""
    joints = body_space().mean[body_space().joints]
    place = dict(zip(JOINTS, joints, strict=True))
    axes, rows = [], []
    for name in list(JOINTS)[1:]:
        stem, _, side = name.partition(".")
        span = RANGES[stem]
        own = np.eye(3)
        row = np.array([span.mean, span.spread, span.low, span.high])
        if stem == "forearm":
            own = _hinge(place, side)
        elif side == "L":  # mirrored: rotations about y and z change sign
            low, high = row[2].copy(), row[3].copy()
            row[0, 1:] *= -1
            row[2, 1:], row[3, 1:] = -high[1:], -low[1:]
        axes.append(own)
        rows.append(row)
    mean, spread, low, high = np.moveaxis(np.radians(np.array(rows)), 1, 0)
    return JointLimits(np.array(axes), mean, spread, low, high)


def _hinge(place: dict[str, Array], side: str) -> Array:
    """Return the (3, 3) axes of an elbow: hinge, length of the forearm, and across."""
    upper = place[f"forearm.{side}"] - place[f"arm.{side}"]
    lower = place[f"hand.{side}"] - place[f"forearm.{side}"]
    lower = lower / np.linalg.norm(lower)
    hinge = np.cross(upper, lower)
    hinge /= np.linalg.norm(hinge)
    return np.stack([hinge, lower, np.cross(hinge, lower)])


def joint_residuals(bends: Array) -> tuple[Array, Array]:
    """Return the residuals of the pose prior.

    Args:
        bends: (J - 1, 3) rotation vectors of all bones but the pelvis.

    Returns:
        (2, J - 1, 3) residuals in standard deviations: from the mean, and beyond the stops; and
        (2, J - 1, 3, 3) their derivatives by the vector of the same bone.
    """
    known = joint_limits()
    angle = np.einsum("jab,jb->ja", known.axes, bends)
    over = np.maximum(angle - known.high, 0) + np.minimum(angle - known.low, 0)
    residual = np.stack([(angle - known.mean) / known.spread, over / SOFT])
    slope = np.stack(
        [
            known.axes / known.spread[..., None],
            np.where(over != 0, 1 / SOFT, 0)[..., None] * known.axes,
        ]
    )
    return residual, slope


#: Layout of the unknowns: rotations, position, scale of the world landmarks, face offset, shape.
TURNS = 3 * len(PARENT)
PLACE = slice(TURNS, TURNS + 3)
DEPTH = TURNS + 2
SCALE = TURNS + 3
SLIP = slice(TURNS + 4, TURNS + 6)
SHAPE = slice(TURNS + 6, None)

#: Standard deviation of the world landmarks' log scale (4 % measured, more for real people).
_SCALE_SPREAD = 0.1
#: Standard deviation of the face offset in statures: 13 mm on an adult.
_SLIP_SPREAD = 13 / 1700
#: Scale of the Cauchy loss, in standard deviations.
_TAME = 2.5
#: Smallest depth of a visible landmark, in statures.
_NEAREST = 0.03

#: Number of face landmarks, which come first.
FACE = LANDMARKS.index("shoulder.L")

_DEPTH = np.array([1.0, 1.0, WORLD_DEPTH])


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """Unknowns of the fit.

    Attributes:
        bends: (J, 3, 3) rotation of each bone relative to its parent; of the pelvis, to the camera.
        place: (3,) position of the pelvis: x / z, y / z and log(z), z in statures.
        scale: log scale of the world landmarks.
        slip: (2,) offset of the network's face landmarks, right and down, in statures.
        shape: (K,) shape coordinates.
    """

    bends: Array
    place: Array
    scale: float
    slip: Array
    shape: Array

    @property
    def pelvis(self) -> Array:
        """(3,) position of the pelvis in the camera frame, in statures."""
        x, y, depth = self.place
        return np.asarray(np.exp(depth) * np.array([x, y, 1.0]))

    def moved(self, step: Array) -> BodyState:
        """Apply a (N,) step."""
        turns = self.bends @ rotation_matrix(step[:TURNS].reshape(-1, 3))
        return BodyState(
            turns,
            self.place + step[PLACE],
            self.scale + float(step[SCALE]),
            self.slip + step[SLIP],
            self.shape + step[SHAPE],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ShapePrior:
    """Normal distribution of the shape coordinates: (K,) mean and (K, K) covariance."""

    mean: Array
    spread: Array

    @property
    def root(self) -> Array:
        """(K, K) whitening matrix: inverse of the Cholesky factor of the covariance."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.spread)))


@dataclass(frozen=True, slots=True, eq=False)
class BodyProblem:
    """Least-squares problem of one person.

    Attributes:
        skeleton: of the shape space.
        observed: landmark observations.
        prior: of the shape.
    """

    skeleton: Skeleton
    observed: BodyObservations
    prior: ShapePrior

    def stance(self, state: BodyState) -> PosedSkeleton:
        """Pose the skeleton."""
        return pose_skeleton(self.skeleton, state.bends, state.shape)

    def cost(self, state: BodyState) -> float:
        """Return the negative log posterior; infinite with visible landmarks behind the camera."""
        stance = self.stance(state)
        points = _slipped(stance.landmarks + state.pelvis, state.slip)
        if points[self.observed.ray_weight > 0, 2].min() < _NEAREST:
            return np.inf
        off = self._rays(points)[0]
        bones = self._bones(stance.landmarks, state.scale)
        tamed = _TAME**2 * (
            np.log1p((off**2).sum(1) / _TAME**2).sum()
            + np.log1p((bones**2).sum(1) / _TAME**2).sum()
        )
        strained = joint_residuals(rotation_vector(state.bends[1:]))[0]
        own = self.prior.root @ (state.shape - self.prior.mean)
        loose = (state.scale / _SCALE_SPREAD) ** 2 + (state.slip @ state.slip) / _SLIP_SPREAD**2
        rest = (strained**2).sum() + own @ own + loose
        return float(tamed + rest) / 2

    def normal(self, state: BodyState) -> tuple[Array, Array]:
        """Return the (N,) gradient and (N, N) Gauss-Newton matrix of the cost at a state."""
        stance = self.stance(state)
        count = SHAPE.start + len(state.shape)
        # Derivatives of the landmarks relative to the pelvis.
        moved = np.zeros((len(stance.landmarks), 3, count))
        by_turn, by_shape = landmark_jacobians(self.skeleton, stance)
        moved[:, :, :TURNS] = by_turn.reshape(*moved.shape[:2], -1)
        moved[:, :, SHAPE] = by_shape
        bones = self._bones(stance.landmarks, state.scale)
        slope = np.tensordot(DIFFERENCE, moved, 1) * _DEPTH[:, None]
        slope[:, :, SCALE] = -np.exp(state.scale) * self.observed.bones
        slope *= self.observed.bone_weight[:, :, None]
        off, lens = self._rays(_slipped(stance.landmarks + state.pelvis, state.slip))
        depth = np.exp(state.place[2])
        moved[:, 0, TURNS] = moved[:, 1, TURNS + 1] = depth
        moved[:, :, DEPTH] = state.pelvis
        moved[:FACE, :2, SLIP] = np.eye(2)
        rows = [
            _tamed(off, np.einsum("lab,lbn->lan", lens, moved)),
            _tamed(bones, slope),
            self._priors(state, count),
        ]
        residual = np.concatenate([r for r, _ in rows])
        jacobian = np.concatenate([j for _, j in rows])
        return jacobian.T @ residual, jacobian.T @ jacobian

    def misfit(self, state: BodyState) -> Array:
        """Return (33, 2) image residuals of the landmarks at depth 1; 0 where ignored."""
        points = self.stance(state).landmarks + state.pelvis
        off = points[:, :2] / points[:, 2:] - self.observed.rays
        return np.where(self.observed.ray_weight[:, None] > 0, off, 0.0)

    def _rays(self, points: Array) -> tuple[Array, Array]:
        """Return (33, 2) weighted residuals of the rays, and (33, 2, 3) derivatives by the points."""
        weight = self.observed.ray_weight[:, None]
        depth = np.maximum(points[:, 2:], _NEAREST)
        ray = points[:, :2] / depth
        lens = np.zeros((len(points), 2, 3))
        lens[:, 0, 0] = lens[:, 1, 1] = 1 / depth[:, 0]
        lens[:, :, 2] = -ray / depth
        return weight * (ray - self.observed.rays), weight[:, :, None] * lens

    def _bones(self, landmarks: Array, scale: float) -> Array:
        """Return (B, 3) weighted residuals of the bone vectors."""
        own = DIFFERENCE @ landmarks * _DEPTH
        return np.asarray(self.observed.bone_weight * (own - np.exp(scale) * self.observed.bones))

    def _priors(self, state: BodyState, count: int) -> tuple[Array, Array]:
        """Return the residuals of the pose, scale and shape priors, and their derivatives."""
        vectors = rotation_vector(state.bends[1:])
        residual, slope = joint_residuals(vectors)
        slope = slope @ inverse_right_jacobian(vectors)
        joints = len(vectors)
        jacobian = np.zeros((2, joints, 3, count))
        for joint in range(joints):
            jacobian[:, joint, :, 3 * joint + 3 : 3 * joint + 6] = slope[:, joint]
        own = np.zeros((3 + len(state.shape), count))
        own[0, SCALE] = 1 / _SCALE_SPREAD
        own[1:3, SLIP] = np.eye(2) / _SLIP_SPREAD
        own[3:, SHAPE] = self.prior.root
        shape = self.prior.root @ (state.shape - self.prior.mean)
        loose = [state.scale / _SCALE_SPREAD, *(state.slip / _SLIP_SPREAD)]
        return (
            np.concatenate([residual.ravel(), loose, shape]),
            np.concatenate([jacobian.reshape(-1, count), own]),
        )


def _slipped(points: Array, slip: Array) -> Array:
    """Add the offset to the face landmarks."""
    moved = points.copy()
    moved[:FACE, :2] += slip
    return moved


def _tamed(residual: Array, jacobian: Array) -> tuple[Array, Array]:
    """Apply Cauchy weights to (M, D) residuals and (M, D, N) derivatives, and flatten both."""
    pull = 1 / np.sqrt(1 + (residual**2).sum(1) / _TAME**2)
    return (
        (pull[:, None] * residual).ravel(),
        (pull[:, None, None] * jacobian).reshape(-1, jacobian.shape[2]),
    )


def solve(problem: BodyProblem, state: BodyState, *, steps: int = 40) -> BodyState:
    """Minimize the cost with Levenberg-Marquardt steps.

    Args:
        problem: to solve.
        state: start.
        steps: maximum number of steps.
    """
    cost = problem.cost(state)
    damping = 1e-2
    gradient, matrix = problem.normal(state)
    for _ in range(steps):
        scaled = np.diag(np.maximum(np.diag(matrix), 1e-6))
        step = np.linalg.solve(matrix + damping * scaled, gradient)
        trial = state.moved(np.asarray(-step, np.float64))
        new = problem.cost(trial)
        if not new < cost:
            damping *= 6.0
            if damping > 1e6:
                break
            continue
        gained, state, cost = cost - new, trial, new
        damping = max(damping / 5.0, 1e-6)
        if gained < 1e-3:  # far below the noise of any residual
            break
        gradient, matrix = problem.normal(state)
    return state
