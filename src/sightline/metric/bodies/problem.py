"""The least-squares problem of a body: what is unknown, and how far it is from the evidence.

Unknown are the turn of each bone, where the pelvis lies (direction and log of depth over stature), the
scale of the world landmarks, a slip of the face and the shape's coordinates. Stature itself is not: a
body twice as tall and twice as far gives the same picture. It comes from the prior (`stature`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.evidence import DIFFERENCE, WORLD_DEPTH, Evidence
from sightline.metric.bodies.kinematics import PARENT, Rig, Stance, changes, stand
from sightline.metric.bodies.limits import strain
from sightline.metric.bodies.rotations import change_of_vector, to_matrix, to_vector
from sightline.metric.people.types import LANDMARKS

Array = NDArray[np.float64]

#: Where the unknowns stand: turns, then place, the world landmarks' scale, the face's slip, shape.
TURNS = 3 * len(PARENT)
PLACE = slice(TURNS, TURNS + 3)
DEPTH = TURNS + 2
SCALE = TURNS + 3
SLIP = slice(TURNS + 4, TURNS + 6)
SHAPE = slice(TURNS + 6, None)

#: Spread of the world landmarks' log scale (4 % measured, more for real people).
_SCALE_SPREAD = 0.1
#: Spread of the slip, in statures: 13 mm on an adult.
_SLIP_SPREAD = 13 / 1700
#: Beyond so many standard deviations a residual counts less and less (Cauchy).
_TAME = 2.5
#: Nothing that is looked at may come nearer to the camera than this, in statures.
_NEAREST = 0.03

#: The first so many landmarks are of the face.
FACE = LANDMARKS.index("shoulder.L")

_DEPTH = np.array([1.0, 1.0, WORLD_DEPTH])


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The unknowns.

    Attributes:
        bends: (J, 3, 3) rotation of each bone against its parent; of the pelvis against the camera.
        place: (3,) of the pelvis: x / z, y / z and log(z), z in statures.
        scale: log of the world landmarks' scale.
        slip: (2,) by how much the network misplaces the face as a whole, right and down, in statures.
        shape: (K,) coordinates in the space of bodies.
    """

    bends: Array
    place: Array
    scale: float
    slip: Array
    shape: Array

    @property
    def pelvis(self) -> Array:
        """(3,) in the camera's frame, in statures."""
        x, y, depth = self.place
        return np.asarray(np.exp(depth) * np.array([x, y, 1.0]))

    def moved(self, step: Array) -> State:
        """Apply a (N,) step."""
        turns = self.bends @ to_matrix(step[:TURNS].reshape(-1, 3))
        return State(
            turns,
            self.place + step[PLACE],
            self.scale + float(step[SCALE]),
            self.slip + step[SLIP],
            self.shape + step[SHAPE],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ShapePrior:
    """A normal distribution over the shape's coordinates: (K,) mean and (K, K) covariance."""

    mean: Array
    spread: Array

    @property
    def root(self) -> Array:
        """(K, K) that makes coordinates minus mean independent with spread 1."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.spread)))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A person to be fitted.

    Attributes:
        rig: of the space of bodies.
        evidence: what is seen.
        prior: of the shape.
    """

    rig: Rig
    evidence: Evidence
    prior: ShapePrior

    def stance(self, state: State) -> Stance:
        """Bend the body."""
        return stand(self.rig, state.bends, state.shape)

    def cost(self, state: State) -> float:
        """How improbable a state is; infinite where something seen lies behind the camera."""
        stance = self.stance(state)
        points = _slipped(stance.landmarks + state.pelvis, state.slip)
        if points[self.evidence.ray_weight > 0, 2].min() < _NEAREST:
            return np.inf
        off = self._rays(points)[0]
        bones = self._bones(stance.landmarks, state.scale)
        tamed = _TAME**2 * (
            np.log1p((off**2).sum(1) / _TAME**2).sum()
            + np.log1p((bones**2).sum(1) / _TAME**2).sum()
        )
        strained = strain(to_vector(state.bends[1:]))[0]
        own = self.prior.root @ (state.shape - self.prior.mean)
        loose = (state.scale / _SCALE_SPREAD) ** 2 + (state.slip @ state.slip) / _SLIP_SPREAD**2
        rest = (strained**2).sum() + own @ own + loose
        return float(tamed + rest) / 2

    def normal(self, state: State) -> tuple[Array, Array]:
        """(N,) gradient and (N, N) Gauss–Newton matrix of the cost at a state."""
        stance = self.stance(state)
        count = SHAPE.start + len(state.shape)
        # How landmarks move, around the pelvis.
        moved = np.zeros((len(stance.landmarks), 3, count))
        by_turn, by_shape = changes(self.rig, stance)
        moved[:, :, :TURNS] = by_turn.reshape(*moved.shape[:2], -1)
        moved[:, :, SHAPE] = by_shape
        bones = self._bones(stance.landmarks, state.scale)
        slope = np.tensordot(DIFFERENCE, moved, 1) * _DEPTH[:, None]
        slope[:, :, SCALE] = -np.exp(state.scale) * self.evidence.bones
        slope *= self.evidence.bone_weight[:, :, None]
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

    def misfit(self, state: State) -> Array:
        """(33, 2) from the landmarks to where the body has them, at depth 1; 0 where unseen."""
        points = self.stance(state).landmarks + state.pelvis
        off = points[:, :2] / points[:, 2:] - self.evidence.rays
        return np.where(self.evidence.ray_weight[:, None] > 0, off, 0.0)

    def _rays(self, points: Array) -> tuple[Array, Array]:
        """(33, 2) weighted distance to the rays, and its (33, 2, 3) change with the points."""
        weight = self.evidence.ray_weight[:, None]
        depth = np.maximum(points[:, 2:], _NEAREST)
        ray = points[:, :2] / depth
        lens = np.zeros((len(points), 2, 3))
        lens[:, 0, 0] = lens[:, 1, 1] = 1 / depth[:, 0]
        lens[:, :, 2] = -ray / depth
        return weight * (ray - self.evidence.rays), weight[:, :, None] * lens

    def _bones(self, landmarks: Array, scale: float) -> Array:
        """(B, 3) weighted distance of the bones from those of the world landmarks."""
        own = DIFFERENCE @ landmarks * _DEPTH
        return np.asarray(self.evidence.bone_weight * (own - np.exp(scale) * self.evidence.bones))

    def _priors(self, state: State, count: int) -> tuple[Array, Array]:
        """Residuals of pose, scale and shape, and their change."""
        vectors = to_vector(state.bends[1:])
        residual, slope = strain(vectors)
        slope = slope @ change_of_vector(vectors)
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
    """Move the landmarks of the face."""
    moved = points.copy()
    moved[:FACE, :2] += slip
    return moved


def _tamed(residual: Array, jacobian: Array) -> tuple[Array, Array]:
    """Scale (M, D) residuals and (M, D, N) slopes so that far ones pull less; flatten both."""
    pull = 1 / np.sqrt(1 + (residual**2).sum(1) / _TAME**2)
    return (
        (pull[:, None] * residual).ravel(),
        (pull[:, None, None] * jacobian).reshape(-1, jacobian.shape[2]),
    )
