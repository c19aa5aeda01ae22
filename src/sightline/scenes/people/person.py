"""Add people to a scene: a body of known height in a pose, clothed, with hair, hat and bag.

>>> person = add_person(builder, rng, (2.0, 0.0, 5.0), yaw=180.0)  # doctest: +SKIP
>>> person.height, person.point("crown")  # doctest: +SKIP
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.meshes import Vector, rotation
from sightline.scenes.people import bodies
from sightline.scenes.people.bodies import Detail
from sightline.scenes.people.clothing import SOLE, BodySurface, cloth, clothe, patch, skin_material
from sightline.scenes.people.heads import HeadFrame, face, glasses, hair, hair_color, hat
from sightline.scenes.people.held_objects import sample_held_object
from sightline.scenes.people.poses import PosedBody, pose_body, sample_pose
from sightline.scenes.sampling import Random, between, chance, weighted
from sightline.scenes.world import WorldBuilder

#: How often each pose is chosen where people stand free; the others need a seat or a reason.
FREE_POSES = [
    ("standing", 4.0), ("walking", 4.0), ("holding", 1.5), ("hips", 0.8), ("crossed", 0.8),
    ("reaching", 0.7), ("raised", 0.6), ("running", 0.4), ("bending", 0.3), ("crouching", 0.3),
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ScenePerson:
    """A person in a scene.

    Attributes:
        figure: body and pose, in the person's own frame.
        foot: (3,) point on the ground below the pelvis, [m].
        yaw: where the person faces, [degrees]; 0 is +z, 90 is +x.
        lift: how high shoes raise the body, [m].
    """

    figure: PosedBody
    foot: NDArray[np.float64]
    yaw: float
    lift: float

    @property
    def height(self) -> float:
        """Stature, barefoot and upright, whatever the pose, [m]."""
        return self.figure.body.height

    def point(self, name: str) -> NDArray[np.float64]:
        """Return the (3,) position in the world of a joint (`JOINTS`) or landmark (`LANDMARKS`)."""
        figure = self.figure
        own = figure.landmark(name) if name in bodies.LANDMARKS else figure.joint(name)
        lifted = own - np.array([0.0, self.lift, 0.0])
        return np.asarray(rotation(self.yaw) @ lifted + self.foot)


def sample_figure(rng: Random, pose: str | None = None, *, number: int | None = None) -> PosedBody:
    """Choose a body and put it into a pose.

    Args:
        rng: random generator.
        pose: one of `poses.POSES`; None for one that needs no seat.
        number: number of a body in the library; None for a random one.
    """
    chosen = int(rng.integers(bodies.body_count())) if number is None else number
    body = bodies.load_body(chosen)
    stout = max(0.0, body.mass / body.height**2 - 20) * 0.012
    return pose_body(body, sample_pose(rng, pose or weighted(rng, FREE_POSES), stout=stout))


def seat_height(figure: PosedBody) -> float:
    """Return the height of the seat under a sitting figure, [m]: the lowest point of its hips."""
    own, _ = patch("far", "hips")
    behind = own[figure.vertices[own, 2] < 0.1]
    return float(-figure.vertices[behind, 1].max())


def add_person(
    builder: WorldBuilder,
    rng: Random,
    foot: Vector,
    yaw: float,
    *,
    pose: str | None = None,
    detail: Detail = "far",
) -> ScenePerson:
    """Add a person to a scene, as one instance of the kind `person`.

    Args:
        builder: builder of the scene.
        rng: random generator.
        foot: (x, y, z) point on the ground below the pelvis, [m].
        yaw: where the person faces, [degrees]; 0 is +z (away from a camera that looks along z).
        pose: one of `poses.POSES`; None for one that needs no seat.
        detail: `near` for people who fill a good part of the picture: three times the triangles.
    """
    return place_person(builder, rng, sample_figure(rng, pose), foot, yaw, detail=detail)


def place_person(
    builder: WorldBuilder,
    rng: Random,
    figure: PosedBody,
    foot: Vector,
    yaw: float,
    *,
    detail: Detail = "far",
) -> ScenePerson:
    """Clothe a figure and add it to a scene; arguments as for `add_person`."""
    crumple, phase = between(rng, 0.001, 0.006), between(rng, 0, 6)
    skin, head = BodySurface(figure, detail, crumple=crumple, phase=phase), HeadFrame(figure)
    bare = skin_material(rng)
    parts = clothe(rng, skin, bare)
    crop = hair(rng, skin, head, bare)
    hairs = crop[0][1].tint if crop[0][1] is not bare else hair_color(rng, figure.body.age)
    parts += [*crop, *face(rng, skin, head, bare, hairs)]
    if chance(rng, 0.2):
        parts += hat(rng, head, cloth(rng))
    if detail == "near" and chance(rng, 0.25):
        parts.append(glasses(rng, head))
    if chance(rng, 0.35):
        parts += sample_held_object(rng, figure)
    at = np.asarray(foot, np.float64)
    with builder.instance("person"):
        for shape, paint in parts:
            builder.add(shape.moved(at - [0.0, SOLE, 0.0], yaw=yaw), paint)
    return ScenePerson(figure, at, yaw, SOLE)
