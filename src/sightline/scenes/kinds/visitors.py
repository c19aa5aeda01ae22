"""Rooms, streets and landscapes with people standing anywhere on the ground, near and far.

In other kinds people are what the picture is about. Here they are not, so that how far away they are
follows from how large they are and where they stand, not from their being people.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.camera import NEAREST_PERSON, find_standing_positions, merge_worlds
from sightline.scenes.kinds import nature, room, street
from sightline.scenes.people.bodies import Detail
from sightline.scenes.people.person import add_person
from sightline.scenes.sampling import Random, between, chance, weighted
from sightline.scenes.world import CameraView, SceneKind, SceneWorld, WorldBuilder

#: Nearer than this, [m], people are built in full detail.
_CLOSE = 4.0
#: Room that everybody has around them, [m].
_APART = 0.7


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a place and put one to five people into it, where there is ground to stand on."""
    home = weighted(rng, [(room.build, 0.5), (street.build, 0.3), (nature.build, 0.2)])
    world, view = home(rng)
    places = find_standing_positions(world, view)
    if not len(places):
        return world, view
    eye = np.asarray(view.eye)
    far = np.linalg.norm(places - eye, axis=1)
    builder = WorldBuilder()
    taken: list[NDArray[np.float64]] = []
    for _ in range(1 + int(rng.integers(5))):
        # As many near as far, whatever share of the ground lies near.
        wanted = np.exp(
            between(
                rng, np.log(NEAREST_PERSON), np.log(max(float(far.max()), 1.1 * NEAREST_PERSON))
            )
        )
        order = np.argsort(np.abs(np.log(far / wanted)), kind="stable")[:12]
        spot = places[int(order[rng.integers(len(order))])]
        toward = float(np.degrees(np.arctan2(eye[0] - spot[0], eye[2] - spot[2])))
        yaw = toward + rng.normal(0, 40) if chance(rng, 0.6) else between(rng, -180, 180)
        if taken and min(np.linalg.norm(spot - other) for other in taken) < _APART:
            continue
        taken.append(spot)
        detail: Detail = "near" if np.linalg.norm(spot - eye) < _CLOSE else "far"
        add_person(builder, rng, tuple(map(float, spot)), float(yaw), detail=detail)
    return merge_worlds(world, builder.finish(world.light)), view


KIND = SceneKind("visitors", build, weight=0.3, rank=7)
