"""Table tops seen straight from above, at any roll."""

from __future__ import annotations

from sightline.scenes.kinds import tabletop
from sightline.scenes.sampling import Random
from sightline.scenes.world import CameraView, SceneKind, SceneWorld


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a table with items, and a camera that looks straight down on it."""
    return tabletop.build(rng, "down")


KIND = SceneKind("table", build, weight=0.12, rank=12)
