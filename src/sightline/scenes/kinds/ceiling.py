"""Rooms seen from below the ceiling, and ceilings seen from the room."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.kinds import room
from sightline.scenes.outdoor.site import view_from_angles
from sightline.scenes.sampling import Random, between, chance
from sightline.scenes.world import CameraView, SceneKind, SceneWorld


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a room, and a camera that looks steeply down into it or up at its ceiling."""
    world, view = room.build(rng)
    x, y, z = view.eye
    top = _ceiling_height(world)
    down = chance(rng, 0.7)
    if down:
        y = -(top - between(rng, 0.12, 0.4))
    pitch = between(rng, -90, -50) if down else between(rng, 35, 88)
    roll = between(rng, -180, 180) if chance(rng, 0.5) else float(rng.normal(0, 4))
    yaw = math.degrees(math.atan2(view.target[0] - x, view.target[2] - z))
    return world, view_from_angles((x, y, z), yaw, pitch, roll=roll, fov=between(rng, 60, 95))


def _ceiling_height(world: SceneWorld) -> float:
    """Return the height of the highest background vertex of a room, [m]."""
    walls = world.vertices[np.unique(world.faces[world.instance == 0])]
    return float(-walls[:, 1].min())


KIND = SceneKind("ceiling", build, weight=0.16, rank=13)
