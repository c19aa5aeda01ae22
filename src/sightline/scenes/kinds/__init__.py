"""The kinds of scenes and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.kinds import (
    aerial,
    collection,
    nature,
    objects,
    people,
    room,
    street,
    tabletop,
    visitors,
)
from sightline.scenes.world import View, World

Build = Callable[[np.random.Generator], tuple[World, View]]

#: What builds a scene of each kind with a camera in it.
KINDS: dict[str, Build] = {
    "room": room.build,
    "tabletop": tabletop.build,
    "objects": objects.build,
    "street": street.build,
    "nature": nature.build,
    "aerial": aerial.build,
    "people": people.build,
    "visitors": visitors.build,
    "collection": collection.build,
}

#: What a set is mixed of when nobody says: all but those that came later than the models.
MIXED = tuple(name for name in KINDS if name not in ("visitors", "collection"))

#: Share of each kind in a mixed set; those of `MIXED` add up to one.
WEIGHTS: dict[str, float] = {
    "room": 0.34,
    "tabletop": 0.14,
    "objects": 0.10,
    "street": 0.20,
    "nature": 0.10,
    "aerial": 0.05,
    "people": 0.07,
    "visitors": 0.30,
    "collection": 0.30,
}
