"""Finishes of a building's inside: floors, walls, ceilings."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, weighted
from sightline.scenes.parts.finishes import colour, grey, seed, shaded
from sightline.scenes.world import Material, Pattern


def floor(rng: np.random.Generator, *, wet: bool = False) -> Material:
    """Boards, parquet, tiles, stone, carpet, lino, concrete; `wet` for kitchens and bathrooms."""
    options: tuple[tuple[Pattern, float], ...] = (
        ("planks", 0.05 if wet else 0.42),
        ("tiles", 0.5 if wet else 0.12),
        ("checker", 0.15 if wet else 0.05),
        ("marble", 0.15 if wet else 0.07),
        ("noise", 0.05 if wet else 0.14),
        ("cloth", 0.0 if wet else 0.08),
        ("asphalt", 0.05),
        ("plaster", 0.05),
        ("brick", 0.02),
    )
    pattern = weighted(rng, options)
    if pattern == "planks":
        tint = colour(rng, hue=(0.05, 0.11), saturation=(0.2, 0.7), value=(0.25, 0.85))
        second, scale = shaded(tint, between(rng, 0.4, 0.85)), between(rng, 0.06, 0.22)
    elif pattern in ("tiles", "checker", "brick"):
        tint = colour(rng, saturation=(0.0, _strength(rng)), value=(0.3, 0.95))
        second, scale = grey(rng, 0.1, 0.9), between(rng, 0.1, 0.6)
    else:
        tint = colour(rng, saturation=(0.0, _strength(rng)), value=(0.2, 0.9))
        second, scale = shaded(tint, between(rng, 0.4, 0.9)), between(rng, 0.05, 0.6)
    gloss = between(rng, 0.0, 0.7)
    mirror = between(rng, 0.03, 0.2) if gloss > 0.35 and chance(rng, 0.5) else 0.0
    return Material(pattern, tint, second, scale, seed(rng), gloss=gloss, mirror=mirror)


def _strength(rng: np.random.Generator) -> float:
    """Draw how strong a floor's colour may be at most: floors are mostly grey or brown."""
    return 0.2 if chance(rng, 0.75) else 0.6


def wall(rng: np.random.Generator, *, wet: bool = False) -> Material:
    """Paint, plaster, wallpaper, panelling, brick, tiles, a photo wallpaper."""
    options: tuple[tuple[Pattern, float], ...] = (
        ("plaster", 0.3),
        ("plain", 0.12 if wet else 0.28),
        ("tiles", 0.4 if wet else 0.03),
        ("brick", 0.06),
        ("stripes", 0.05),
        ("planks", 0.06),
        ("noise", 0.06),
        ("leaves", 0.03),
        ("marble", 0.08 if wet else 0.02),
        ("print", 0.01),
        ("photo", 0.05),
        ("checker", 0.02),
    )
    pattern = weighted(rng, options)
    if chance(rng, 0.7):
        tint = colour(rng, saturation=(0.0, 0.18), value=(0.65, 0.97))
    else:
        tint = colour(rng, saturation=(0.05, 0.6), value=(0.25, 0.9))
    second = shaded(tint, between(rng, 0.5, 0.92))
    if pattern in ("tiles", "brick"):
        second = grey(rng, 0.3, 0.9)
    scale = {
        "tiles": between(rng, 0.08, 0.4),
        "brick": between(rng, 0.18, 0.3),
        "planks": between(rng, 0.08, 0.25),
        "photo": between(rng, 0.8, 4.0),
        "print": between(rng, 0.3, 1.0),
        "leaves": between(rng, 0.1, 0.4),
    }.get(pattern, between(rng, 0.06, 0.8))
    gloss = between(rng, 0.3, 0.9) if pattern == "tiles" else between(rng, 0.0, 0.15)
    return Material(pattern, tint, second, scale, seed(rng), gloss=gloss, photo=seed(rng))


def ceiling(rng: np.random.Generator) -> Material:
    """White paint mostly, else boards, panels or concrete."""
    pattern: Pattern = weighted(
        rng, (("plain", 0.45), ("plaster", 0.3), ("tiles", 0.12), ("planks", 0.08), ("noise", 0.05))
    )
    tint = colour(rng, saturation=(0.0, 0.12), value=(0.7, 0.98))
    if pattern == "planks":
        tint = colour(rng, hue=(0.05, 0.1), saturation=(0.2, 0.6), value=(0.3, 0.8))
    scale = pick(rng, (0.6, 0.62, 1.2)) if pattern == "tiles" else between(rng, 0.1, 0.4)
    return Material(pattern, tint, shaded(tint, between(rng, 0.6, 0.95)), scale, seed(rng))
