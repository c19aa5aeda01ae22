"""Scenes of other kinds, seen by a camera that is rolled or pitched."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.kinds import nature, objects, people, room, street
from sightline.scenes.outdoor.site import view_from_angles
from sightline.scenes.sampling import Random, between, chance, weighted
from sightline.scenes.world import CameraView, SceneBuilder, SceneKind, SceneWorld

#: Builders of the scenes, with weights.
SCENES: tuple[tuple[SceneBuilder, float], ...] = (
    (room.build, 0.3),
    (street.build, 0.25),
    (nature.build, 0.15),
    (people.build, 0.15),
    (objects.build, 0.15),
)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a scene of another kind and turn its camera: any roll, half of them any pitch too."""
    world, view = weighted(rng, SCENES)(rng)
    ahead = np.subtract(view.target, view.eye)
    yaw = math.degrees(math.atan2(ahead[0], ahead[2]))
    own = math.degrees(math.atan2(-ahead[1], math.hypot(ahead[0], ahead[2])))
    # Builders place objects within their own view, so half of the views keep its pitch.
    pitch = own if chance(rng, 0.5) else float(np.clip(own + rng.normal(0, 35), -88, 75))
    roll = between(rng, -180, 180) if chance(rng, 0.6) else float(rng.choice([-90, 90, 180]))
    return world, view_from_angles(view.eye, yaw, pitch, roll=roll, fov=view.fov)


KIND = SceneKind("tilted", build, weight=0.32, rank=14)
