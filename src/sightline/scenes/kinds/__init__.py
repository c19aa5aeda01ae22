"""The kinds of scenes and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from sightline.scenes.world import View, World

Build = Callable[[np.random.Generator], tuple[World, View]]

#: Share of each kind in a mixed set; they add up to one.
WEIGHTS: dict[str, float] = {
    "room": 0.34,
    "tabletop": 0.14,
    "objects": 0.10,
    "street": 0.20,
    "nature": 0.10,
    "aerial": 0.05,
    "people": 0.07,
}

#: INTERIM, until all the files exist: H2 replaces this by direct imports.
KINDS: dict[str, Build] = {
    name: import_module(f"sightline.scenes.kinds.{name}").build
    for name in WEIGHTS
    if find_spec(f"sightline.scenes.kinds.{name}")
}
