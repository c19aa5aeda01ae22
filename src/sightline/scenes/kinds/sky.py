"""Sky alone: a view up, with a flat and infinitely far depth map."""

from __future__ import annotations

from sightline.scenes.lighting import sample_weather
from sightline.scenes.meshes import box
from sightline.scenes.outdoor.site import view_from_angles
from sightline.scenes.sampling import Random, between, chance
from sightline.scenes.world import CameraView, Material, SceneKind, SceneWorld, WorldBuilder

#: Height of the camera over the ground, [m].
HEIGHT = 1.6


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a sky, and a camera that sees nothing else."""
    weather = sample_weather(rng, night=0.08)
    builder = WorldBuilder()
    # A world needs a mesh; this one is below the camera and never in view.
    builder.add(box([0.0, 0.5, 0.0], [1.0, 1.0, 1.0]), Material())
    pitch, fov = between(rng, 35, 88), between(rng, 38, 70)
    roll = between(rng, -180, 180) if chance(rng, 0.3) else float(rng.normal(0, 5))
    eye = (0.0, -HEIGHT, 0.0)
    view = view_from_angles(eye, between(rng, -180, 180), pitch, roll=roll, fov=fov)
    return builder.finish(weather.light, weather.sky), view


KIND = SceneKind("sky", build, weight=0.06, may_be_flat=True, rank=9)
