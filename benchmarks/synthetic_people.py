"""People whose truth is known, as a finder would report them: to measure fits by.

The truth comes from `scenes` (bodies of known height in drawn poses); landmarks are those of the posed
body, with errors like those of BlazePose on rendered people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sightline.metric.body.model import landmarks_of
from sightline.metric.body.observations import WORLD_STATURE
from sightline.metric.body.render import silhouette
from sightline.metric.body.stature import HeightPrior
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person
from sightline.scenes.meshes import rotation
from sightline.scenes.people.bodies import topology
from sightline.scenes.people.person import sample_figure
from sightline.scenes.people.poses import POSES, PosedBody
from sightline.types import BoolArray, Camera, FloatArray

Array = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Errors:
    """What a finder gets wrong, as standard deviations.

    Attributes:
        pixels: of a landmark in the picture, [px].
        across: of a world landmark across the optical axis, [m].
        along: of a world landmark along it, [m].
        shrink: (least, most) depth of the world landmarks as a share of the truth.
        hidden: how much larger the errors of hidden landmarks are.
    """

    pixels: float = 2.0
    across: float = 0.03
    along: float = 0.07
    shrink: tuple[float, float] = (0.65, 1.0)
    hidden: float = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Somebody in front of a camera.

    Attributes:
        person: as a finder reports it.
        camera: that sees it.
        figure: body and pose.
        mesh: the true surface, [m] in the camera's frame.
        landmarks: (33, 3) true landmarks, likewise.
        depth: (H, W) float32 of the true surface in [m], 0 where it is not seen.
    """

    person: Person
    camera: Camera
    figure: PosedBody
    mesh: BodyMesh
    landmarks: Array
    depth: FloatArray

    @property
    def height(self) -> float:
        """Stature, [m]."""
        return self.figure.body.height

    @property
    def distance(self) -> float:
        """What `FittedBody.distance` ought to be, [m]."""
        seen = self.person.visibility
        return float(seen @ self.landmarks[:, 2] / seen.sum())


def draw(
    rng: Random,
    *,
    numbers: Sequence[int],
    pose: str | None = None,
    pixels: tuple[float, float] = (120.0, 480.0),
    heights: HeightPrior | None = None,
    errors: Errors | None = None,
) -> Truth:
    """Draw somebody anywhere in a picture of 768 × 640, turned any way, seen from above or below.

    Args:
        rng: where chance comes from.
        numbers: bodies of the library to choose from.
        pose: one of `scenes.poses.POSES`; None for any.
        pixels: (least, most) stature in the picture, [px].
        heights: that adults are given instead of their own in the library, by their sex.
        errors: of the landmarks; None for the usual ones.
    """
    name = str(rng.choice(sorted(POSES))) if pose is None else pose
    figure = sample_figure(rng, name, number=int(rng.choice(numbers)))
    if heights is not None:
        mean, spread = heights.women if figure.body.female >= 0.5 else heights.men
        figure = scaled(figure, mean * float(np.exp(rng.normal(0, spread / mean))))
    camera = Camera.from_fov(float(rng.uniform(40, 75)), 768, 640)
    z = camera.focal * figure.body.height / rng.uniform(*pixels)
    x, y = rng.uniform(-0.25, 0.25) * 768, rng.uniform(-0.1, 0.1) * 640
    turn = rotation(0, rng.uniform(-20, 20), rng.normal(0, 4)) @ rotation(rng.uniform(-180, 180))
    place = np.array([x / camera.focal * z, y / camera.focal * z, z])
    return show(rng, figure, turn, place, camera, errors)


def scaled(figure: PosedBody, height: float) -> PosedBody:
    """Make a figure as tall as wanted, [m], all its proportions as they are."""
    factor, body = height / figure.body.height, figure.body
    return replace(
        figure,
        body=replace(
            body, height=height, vertices=factor * body.vertices, joints=factor * body.joints
        ),
        vertices=factor * figure.vertices,
        joints=factor * figure.joints,
        landmarks=factor * figure.landmarks,
    )


def show(
    rng: Random,
    figure: PosedBody,
    turn: Array,
    place: Array,
    camera: Camera,
    errors: Errors | None = None,
) -> Truth:
    """Put a figure before a camera and report its landmarks.

    Args:
        rng: where chance comes from.
        figure: body and pose, in its own frame.
        turn: (3, 3) from its frame to the camera's.
        place: (3,) where the pelvis comes to lie in the camera's frame, [m].
        camera: lens and picture size.
        errors: of the landmarks; None for the usual ones.
    """
    errors = Errors() if errors is None else errors
    points = np.concatenate([figure.vertices, figure.landmarks, figure.joints])
    points = (points - figure.joints[0]) @ turn.T + place
    marks = landmarks_of(points)
    mesh = BodyMesh(points[: len(figure.vertices)], topology().faces["near"])
    depth = silhouette(mesh, camera)
    flat = marks @ camera.K.T
    pixels = flat[:, :2] / np.maximum(flat[:, 2:], 1e-6)
    visible = _visibility(marks, pixels, depth)
    loose = np.where(visible > 0.7, 1.0, errors.hidden)[:, None]
    person = Person(
        box=_box(depth > 0),
        mask=depth > 0,
        confidence=1.0,
        landmarks=pixels + rng.normal(0, errors.pixels, pixels.shape) * loose,
        visibility=visible,
        world=_world(rng, marks, figure.body.height, errors, loose),
    )
    return Truth(person, camera, figure, mesh, marks, depth)


def _world(rng: Random, marks: Array, height: float, errors: Errors, loose: Array) -> Array:
    """(33, 3) world landmarks: around the hips, of somebody of 1.66 m, flattened and noisy."""
    hips = marks[[LANDMARKS.index("hip.L"), LANDMARKS.index("hip.R")]].mean(0)
    shrink = np.array([1.0, 1.0, rng.uniform(*errors.shrink)])
    size = np.array([errors.across, errors.across, errors.along])
    exact = (marks - hips) * shrink * (WORLD_STATURE / height)
    return np.asarray(exact + rng.normal(0, 1, exact.shape) * size * loose)


def _box(mask: BoolArray) -> Array:
    """(4,) left, top, right and bottom of a mask; 0 if it is empty."""
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return np.zeros(4)
    return np.array([columns.min(), rows.min(), columns.max(), rows.max()], np.float64)


def _visibility(marks: Array, pixels: Array, depth: FloatArray) -> Array:
    """(33,) 0.95 where a landmark is seen, 0.5 behind the body itself, 0 outside the picture."""
    height, width = depth.shape
    column, row = np.rint(np.nan_to_num(pixels)).astype(np.int64).T
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height) & (marks[:, 2] > 0.05)
    surface = depth[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
    hidden = (surface > 0) & (surface < marks[:, 2] - 0.12)
    return np.where(inside, np.where(hidden, 0.5, 0.95), 0.0)
