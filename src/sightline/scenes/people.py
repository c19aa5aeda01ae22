"""People for a scene: a body of known height in a pose, dressed, with hair, hat and bag.

person = add_person(builder, rng, (2.0, 0.0, 5.0), yaw=180.0)
person.height, person.point("crown")
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.scenes import bodies
from sightline.scenes.bodies import Detail
from sightline.scenes.carried import carry
from sightline.scenes.figures import Figure, bend
from sightline.scenes.heads import Head, face, glasses, hair, hair_colour, hat
from sightline.scenes.outfits import SOLE, cloth, dress, skin_paint
from sightline.scenes.parts.draw import between, chance, weighted
from sightline.scenes.poses import draw_pose
from sightline.scenes.shapes import Vector, rotation
from sightline.scenes.skins import Skin, patch
from sightline.scenes.world import Builder

#: How often each pose is chosen where people stand free; the others need a seat or a reason.
FREE_POSES = [
    ("standing", 4.0),
    ("walking", 4.0),
    ("holding", 1.5),
    ("hips", 0.8),
    ("crossed", 0.8),
    ("reaching", 0.7),
    ("raised", 0.6),
    ("running", 0.4),
    ("bending", 0.3),
    ("crouching", 0.3),
]


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """Somebody who stands in a scene.

    Attributes:
        figure: body and pose, in the person's own frame.
        foot: (3,) point on the ground below the pelvis, [m].
        yaw: where the person faces, [degrees]; 0 is +z, 90 is +x.
        lift: how high shoes raise the body, [m].
    """

    figure: Figure
    foot: NDArray[np.float64]
    yaw: float
    lift: float

    @property
    def height(self) -> float:
        """Stature, barefoot and upright, whatever the pose, [m]."""
        return self.figure.body.height

    def point(self, name: str) -> NDArray[np.float64]:
        """(3,) place in the world of a joint (`bodies.JOINTS`) or landmark (`bodies.LANDMARKS`)."""
        figure = self.figure
        own = figure.landmark(name) if name in bodies.LANDMARKS else figure.joint(name)
        lifted = own - np.array([0.0, self.lift, 0.0])
        return np.asarray(rotation(self.yaw) @ lifted + self.foot)


def draw_figure(
    rng: np.random.Generator, pose: str | None = None, *, number: int | None = None
) -> Figure:
    """Choose a body and put it into a pose.

    Args:
        rng: where chance comes from.
        pose: one of `poses.POSES`; None for one that needs no seat.
        number: which body of the library; None for any.
    """
    chosen = int(rng.integers(bodies.count())) if number is None else number
    body = bodies.body(chosen)
    stout = max(0.0, body.mass / body.height**2 - 20) * 0.012
    return bend(body, draw_pose(rng, pose or weighted(rng, FREE_POSES), stout=stout))


def seat_height(figure: Figure) -> float:
    """How high the seat under a sitting figure is, [m]: the lowest point of its hips."""
    own, _ = patch("far", "hips")
    behind = own[figure.vertices[own, 2] < 0.1]
    return float(-figure.vertices[behind, 1].max())


def add_person(
    builder: Builder,
    rng: np.random.Generator,
    foot: Vector,
    yaw: float,
    *,
    pose: str | None = None,
    detail: Detail = "far",
) -> Person:
    """Put somebody into a scene, as one thing of the kind `person`.

    Args:
        builder: of the scene.
        rng: where chance comes from.
        foot: (x, y, z) point on the ground below the pelvis, [m].
        yaw: where the person faces, [degrees]; 0 is +z (away from a camera that looks along z).
        pose: one of `poses.POSES`; None for one that needs no seat.
        detail: `near` for people who fill a good part of the picture: three times the triangles.
    """
    return place_person(builder, rng, draw_figure(rng, pose), foot, yaw, detail=detail)


def place_person(
    builder: Builder,
    rng: np.random.Generator,
    figure: Figure,
    foot: Vector,
    yaw: float,
    *,
    detail: Detail = "far",
) -> Person:
    """Dress a figure and put it into a scene; arguments as for `add_person`."""
    crumple, phase = between(rng, 0.001, 0.006), between(rng, 0, 6)
    skin, head = Skin(figure, detail, crumple=crumple, phase=phase), Head(figure)
    bare = skin_paint(rng)
    parts = dress(rng, skin, bare)
    crop = hair(rng, skin, head, bare)
    hairs = crop[0][1].tint if crop[0][1] is not bare else hair_colour(rng, figure.body.age)
    parts += [*crop, *face(rng, skin, head, bare, hairs)]
    if chance(rng, 0.2):
        parts += hat(rng, head, cloth(rng))
    if detail == "near" and chance(rng, 0.25):
        parts.append(glasses(rng, head))
    if chance(rng, 0.35):
        parts += carry(rng, figure)
    at = np.asarray(foot, np.float64)
    with builder.thing("person"):
        for shape, paint in parts:
            builder.add(shape.moved(at - [0.0, SOLE, 0.0], yaw=yaw), paint)
    return Person(figure, at, yaw, SOLE)
