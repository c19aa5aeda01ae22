"""Landscapes: meadows, woods, mountains, water, deserts, snow, parks, and flowers close up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.lighting import sample_weather
from sightline.scenes.mesh_arrays import select_faces
from sightline.scenes.outdoor import terrain
from sightline.scenes.outdoor.ground_cover import (
    add_bed,
    add_foreground,
    add_meadow,
    add_stones,
    ground_level,
    rock_material,
)
from sightline.scenes.outdoor.landscapes import (
    Fill,
    Landscape,
    beach,
    desert,
    forest,
    lake,
    meadow,
    mountains,
    park,
    snow,
)
from sightline.scenes.outdoor.site import Site, view_from_angles
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import (
    CameraView,
    Material,
    SceneKind,
    SceneWorld,
    WorldBuilder,
    as_color,
    scale_color,
)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a landscape and a camera in it."""
    furnish: tuple[Callable[[Random], tuple[Landscape, Fill]], ...] = (
        meadow, forest, mountains, lake, desert, snow, beach, park,
    )  # fmt: skip
    biome = int(rng.choice(8, p=[0.18, 0.2, 0.12, 0.14, 0.08, 0.08, 0.08, 0.12]))
    land, fill = furnish[biome](rng)
    close = rng.random() < 0.2
    view = _sample_view(rng, land, close=close)
    site = Site(WorldBuilder(), rng, view, sample_weather(rng, night=0.04))
    _add_ground(site, land)
    if close:
        _close_up(site, land)
    fill(site)
    if rng.random() < 0.22:
        add_foreground(site)
    for x, z in site.scatter(int(rng.integers(0, 3)), 3.0, 25.0, 0.7).tolist():
        foot = ground_level(land.height, x, z)
        if land.water is None or foot > land.water:
            site.person(x, z, between(rng, 0, 360), foot=foot)
    return site.finish()


def _sample_view(rng: Random, land: Landscape, *, close: bool) -> CameraView:
    """Stand on the land; low and looking down for a close-up."""
    ground = max(
        ground_level(land.height, 0.0, 0.0), -1e9 if land.water is None else land.water + 0.05
    )
    high = (
        between(rng, 0.25, 0.9)
        if close
        else float(rng.choice([0.6, 1.6, 1.7, 3.5]) * rng.uniform(0.8, 1.2))
    )
    pitch = between(rng, -28, -2) if close else float(rng.normal(-2, 7))
    yaw = between(rng, -25, 25)
    return view_from_angles(
        (0.0, -max(ground + high, 0.15), 0.0),
        yaw,
        pitch,
        roll=float(rng.normal(0, 2)),
        fov=between(rng, 40, 92),
    )


def _add_ground(site: Site, land: Landscape) -> None:
    """Add the landscape in up to three materials, and the water."""
    shape = terrain.landscape(land.height, yaw=site.yaw)
    corners = shape.vertices[shape.faces]
    flatness = np.abs(shape.normals[shape.faces][:, :, 1]).mean(1)
    label = np.where(flatness < 0.82, 1, 0)
    label = np.where(-corners[:, :, 1].mean(1) > land.top_from, 2, label)
    for number, paint in enumerate((land.ground, land.steep, land.top)):
        if (label == number).any():
            site.builder.add(select_faces(shape, label == number), paint)
    if land.water is not None:
        rng = site.rng
        tint = as_color(np.array([0.04, 0.1, 0.11]) * rng.uniform(0.5, 2.0, 3))
        water = Material(
            "water",
            tint,
            scale_color(tint, 2),
            between(rng, 0.5, 4),
            int(rng.integers(999)),
            gloss=0.8,
            mirror=between(rng, 0.4, 0.85),
        )
        with site.builder.instance("water"):
            site.builder.add(terrain.plane(land.water, 3000.0), water)
    else:
        # Beyond the last ring there would be sky under the horizon.
        site.builder.add(terrain.plane(-6.0, 4000.0), land.ground)


def _close_up(site: Site, land: Landscape) -> None:
    """Add flowers, grass and stones close to the camera."""
    rng = site.rng
    for x, z in site.scatter(int(rng.integers(2, 6)), 0.8, 3.5, 0.8).tolist():
        add_bed(site, land.height, x, z, int(rng.integers(5, 16)), between(rng, 0.15, 0.7), 0.25)
    add_meadow(site, land.height, 160, between(rng, 0.08, 0.35), near=0.6, far=5)
    if rng.random() < 0.5:
        add_stones(site, land.height, 6, (0.8, 3.0), rock_material(rng))


KIND = SceneKind("nature", build, weight=0.1, rank=4, default=True)
