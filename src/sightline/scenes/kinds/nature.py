"""Open country: meadows, woods, mountains, water, deserts, snow, parks, and flowers close up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.barrens import desert, snow
from sightline.scenes.parts.biomes import forest, meadow, mountains, park
from sightline.scenes.parts.land import Fill, Land
from sightline.scenes.parts.many import part_of
from sightline.scenes.parts.shores import beach, lake
from sightline.scenes.parts.site import Site, look
from sightline.scenes.parts.weather import weather
from sightline.scenes.world import Builder, Material, View, World


def build(rng: np.random.Generator) -> tuple[World, View]:
    """Make a landscape and a camera in it."""
    furnish: tuple[Callable[[np.random.Generator], tuple[Land, Fill]], ...] = (
        meadow, forest, mountains, lake, desert, snow, beach, park,
    )  # fmt: skip
    biome = int(rng.choice(8, p=[0.18, 0.2, 0.12, 0.14, 0.08, 0.08, 0.08, 0.12]))
    land, fill = furnish[biome](rng)
    close = rng.random() < 0.2
    view = _view(rng, land, close=close)
    site = Site(Builder(), rng, view, weather(rng, night=0.04))
    _add_ground(site, land)
    if close:
        _close_up(site, land)
    fill(site)
    if rng.random() < 0.22:
        wilds.add_foreground(site)
    for x, z in site.scatter(int(rng.integers(0, 3)), 3.0, 25.0, 0.7):
        foot = wilds.level(land.height, float(x), float(z))
        if land.water is None or foot > land.water:
            site.person(float(x), float(z), float(rng.uniform(0, 360)), foot=foot)
    return site.finish()


def _view(rng: np.random.Generator, land: Land, *, close: bool) -> View:
    """Stand on the land; low and looking down for a close-up."""
    ground = max(
        wilds.level(land.height, 0.0, 0.0), -1e9 if land.water is None else land.water + 0.05
    )
    high = (
        float(rng.uniform(0.25, 0.9))
        if close
        else float(rng.choice([0.6, 1.6, 1.7, 3.5]) * rng.uniform(0.8, 1.2))
    )
    pitch = float(rng.uniform(-28, -2)) if close else float(rng.normal(-2, 7))
    yaw = float(rng.uniform(-25, 25))
    return look(
        (0.0, -max(ground + high, 0.15), 0.0),
        yaw,
        pitch,
        roll=float(rng.normal(0, 2)),
        fov=float(rng.uniform(40, 92)),
    )


def _add_ground(site: Site, land: Land) -> None:
    """Add the landscape in up to three materials, and the water."""
    shape = terrain.landscape(land.height, yaw=site.yaw)
    corners = shape.vertices[shape.faces]
    flatness = np.abs(shape.normals[shape.faces][:, :, 1]).mean(1)
    label = np.where(flatness < 0.82, 1, 0)
    label = np.where(-corners[:, :, 1].mean(1) > land.top_from, 2, label)
    for number, paint in enumerate((land.ground, land.steep, land.top)):
        if (label == number).any():
            site.builder.add(part_of(shape, label == number), paint)
    if land.water is not None:
        rng = site.rng
        r, g, b = (float(c) for c in np.array([0.04, 0.1, 0.11]) * rng.uniform(0.5, 2.0, 3))
        water = Material(
            "water",
            (r, g, b),
            (r * 2, g * 2, b * 2),
            float(rng.uniform(0.5, 4)),
            int(rng.integers(999)),
            gloss=0.8,
            mirror=float(rng.uniform(0.4, 0.85)),
        )
        with site.builder.thing("water"):
            site.builder.add(terrain.plane(land.water, 3000.0), water)
    else:
        # Beyond the last ring there would be sky under the horizon.
        site.builder.add(terrain.plane(-6.0, 4000.0), land.ground)


def _close_up(site: Site, land: Land) -> None:
    """Flowers, grass and stones right before the lens."""
    rng = site.rng
    for x, z in site.scatter(int(rng.integers(2, 6)), 0.8, 3.5, 0.8):
        wilds.add_bed(
            site,
            land.height,
            float(x),
            float(z),
            int(rng.integers(5, 16)),
            float(rng.uniform(0.15, 0.7)),
            0.25,
        )
    wilds.add_meadow(site, land.height, 160, float(rng.uniform(0.08, 0.35)), near=0.6, far=5)
    if rng.random() < 0.5:
        wilds.add_stones(site, land.height, 6, near=0.8, far=3.0, paint=wilds.stone(rng))
