"""Walls that fill the picture, from the front or slanted in any direction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sightline.scenes import materials
from sightline.scenes.indoor.lamps_decor import board, clock, picture
from sightline.scenes.layout import placed_parts
from sightline.scenes.lighting import indoor_light
from sightline.scenes.meshes import quad
from sightline.scenes.sampling import Random, between, chance, weighted
from sightline.scenes.world import CameraView, SceneKind, SceneWorld, WorldBuilder

#: Height of the camera over the origin, [m].
HEIGHT = 1.6


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a wall, and a camera that sees nothing else.

    One wall in three is seen exactly from the front, so that its depth map is flat. Half of the walls
    carry pictures, boards or clocks, which are a few centimeters thick.
    """
    away, fov = float(np.exp(between(rng, math.log(0.5), math.log(9)))), between(rng, 38, 75)
    reach = 40.0 * away
    builder = WorldBuilder()
    material = materials.wall(rng) if chance(rng, 0.7) else materials.floor(rng)
    builder.add(
        quad([-reach, -reach, 0.0], [2 * reach, 0.0, 0.0], [0.0, 2 * reach, 0.0]),
        replace(material, scale=material.scale * max(1.0, away / 2), mirror=0.0),
    )
    if chance(rng, 0.5):
        _add_decor(builder, rng, away)
    # The optical axis is tilted from the wall's normal to any side; no corner may see past the wall.
    corner = math.degrees(math.atan(1.25 * math.tan(math.radians(fov / 2))))
    tilt = 0.0 if chance(rng, 0.33) else between(rng, 4, min(58.0, 84.0 - corner))
    side, lean = between(rng, 0, 2 * math.pi), away * math.tan(math.radians(tilt))
    eye = (0.0, -HEIGHT, -away)
    target = (lean * math.cos(side), -HEIGHT + lean * math.sin(side), 0.0)
    roll = between(rng, -180, 180) if chance(rng, 0.3) else 0.0
    lamp = np.array([[*rng.uniform(-away, away, 2), -between(rng, 0.4, 1.0) * away]])
    lamp[0, 1] -= HEIGHT
    light = indoor_light(rng, 3.0, 3.0, 2.6, sun=False, lamps=[])
    light = replace(light, lamps=lamp, lamp_power=light.lamp_power[:1] * away * away)
    return builder.finish(light), CameraView(eye, target, roll, fov)


def _add_decor(builder: WorldBuilder, rng: Random, away: float) -> None:
    """Add flat objects to the wall around the middle of the view."""
    for _ in range(int(rng.integers(1, 7))):
        prop = weighted(rng, ((picture, 0.6), (board, 0.2), (clock, 0.2)))(rng)
        x, y = rng.uniform(-away, away, 2)
        with builder.instance(prop.kind):
            for mesh, material in placed_parts(prop, (float(x), float(y) - HEIGHT, 0.0), 0.0):
                builder.add(mesh, material)


KIND = SceneKind("wall", build, weight=0.16, may_be_flat=True, rank=10)
