"""Aerial views straight down, at any heading."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.kinds import aerial
from sightline.scenes.outdoor.site import view_from_angles
from sightline.scenes.sampling import Random, between, chance
from sightline.scenes.world import CameraView, SceneKind, SceneWorld


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a town, fields, a coast or factories below a camera that looks straight down."""
    high = float(np.exp(between(rng, math.log(8), math.log(120))))
    view = view_from_angles(
        (0.0, -high, 0.0),
        between(rng, -180, 180),
        -90.0 if chance(rng, 0.4) else between(rng, -90, -86),
        roll=between(rng, -180, 180),
        fov=between(rng, 40, 84),
    )
    return aerial.build_below(rng, view)


KIND = SceneKind("nadir", build, weight=0.18, may_be_flat=True, rank=11)
