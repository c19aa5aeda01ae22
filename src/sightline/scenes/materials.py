"""Sample materials of objects, floors, walls and ceilings: wood, metal, fabric, glass, paper, stone.

Colors are drawn as hue, saturation and value as shown on a screen and converted to linear light.
"""

from __future__ import annotations

import colorsys

from sightline.scenes.sampling import Random, between, chance, pick, weighted
from sightline.scenes.world import Color, Material, Pattern


def color(
    rng: Random,
    *,
    hue: tuple[float, float] = (0.0, 1.0),
    saturation: tuple[float, float] = (0.1, 0.9),
    value: tuple[float, float] = (0.2, 0.95),
) -> Color:
    """Draw a color (linear RGB) from ranges as on a screen, each 0 to 1; hue 0 is red, 1/3 green.

    Muted colors are more frequent than strong ones, as in photographs.
    """
    h, v = between(rng, *hue), between(rng, *value)
    s = saturation[0] + (saturation[1] - saturation[0]) * float(rng.random()) ** 1.35
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, s, v)
    return r**2.2, g**2.2, b**2.2


def shaded(tint: Color, factor: float) -> Color:
    """Make a color darker (factor below 1) or lighter, kept within 0 to 1."""
    return min(1.0, tint[0] * factor), min(1.0, tint[1] * factor), min(1.0, tint[2] * factor)


def gray(rng: Random, low: float, high: float) -> Color:
    """Draw a nearly gray color of a value from low to high as on a screen."""
    return color(rng, saturation=(0.0, 0.12), value=(low, high))


def seed(rng: Random) -> int:
    """Draw a seed for a pattern."""
    return int(rng.integers(1 << 30))


def timber(rng: Random) -> Material:
    """Sample furniture wood: natural, stained, or painted."""
    natural = {"hue": (0.055, 0.11), "saturation": (0.3, 0.7), "value": (0.25, 0.85)}
    if chance(rng, 0.66):
        tint = color(rng, **natural)
    elif chance(rng, 0.7):
        tint = gray(rng, *pick(rng, ((0.8, 0.97), (0.08, 0.25), (0.4, 0.7))))
    else:
        tint = color(rng, saturation=(0.2, 0.7), value=(0.3, 0.85))
    pattern: Pattern = weighted(
        rng, (("planks", 0.4), ("plain", 0.35), ("bark", 0.15), ("noise", 0.1))
    )
    scale = {"planks": between(rng, 0.06, 0.5), "bark": between(rng, 0.01, 0.06)}.get(pattern, 0.3)
    second = shaded(tint, between(rng, 0.45, 0.85))
    return Material(pattern, tint, second, scale, seed(rng), gloss=between(rng, 0.0, 0.6))


def painted(rng: Random) -> Material:
    """Sample even paint or lacquer of any color."""
    tint = color(rng, saturation=(0.0, 0.85), value=(0.15, 0.97))
    return Material("plain", tint, shaded(tint, 0.8), 0.3, seed(rng), gloss=between(rng, 0.0, 0.8))


def white(rng: Random) -> Material:
    """Sample white enamel, ceramic or paint."""
    tint = color(rng, hue=(0.05, 0.2), saturation=(0.0, 0.12), value=(0.82, 0.98))
    return Material("plain", tint, shaded(tint, 0.85), 0.3, seed(rng), gloss=between(rng, 0.2, 0.9))


def dark(rng: Random) -> Material:
    """Sample black plastic, rubber or enamel."""
    tint = gray(rng, 0.04, 0.24)
    return Material("plain", tint, shaded(tint, 2.0), 0.2, seed(rng), gloss=between(rng, 0.0, 0.9))


def metal(rng: Random) -> Material:
    """Sample steel, chrome, brass, copper, or black metal."""
    if chance(rng, 0.25):
        return dark(rng)
    if chance(rng, 0.25):
        tint = color(rng, hue=(0.04, 0.13), saturation=(0.4, 0.7), value=(0.5, 0.85))
    else:
        tint = gray(rng, 0.4, 0.85)
    mirror = between(rng, 0.0, 0.6)
    return Material(
        "plain",
        tint,
        shaded(tint, 0.7),
        0.2,
        seed(rng),
        gloss=between(rng, 0.4, 1.0),
        mirror=mirror,
    )


def plastic(rng: Random) -> Material:
    """Sample glossy plastic in a strong color."""
    tint = color(rng, saturation=(0.3, 1.0), value=(0.3, 1.0))
    return Material("plain", tint, shaded(tint, 0.8), 0.2, seed(rng), gloss=between(rng, 0.2, 0.9))


def ceramic(rng: Random) -> Material:
    """Sample glazed ceramic: plain, banded, speckled or decorated."""
    tint = color(rng, saturation=(0.0, 0.7), value=(0.35, 0.98))
    second = color(rng, saturation=(0.2, 0.9), value=(0.1, 0.8))
    pattern: Pattern = weighted(
        rng,
        (
            ("plain", 0.6),
            ("stripes", 0.1),
            ("noise", 0.1),
            ("marble", 0.08),
            ("checker", 0.05),
            ("print", 0.07),
        ),
    )
    scale = between(rng, 0.02, 0.08)
    return Material(pattern, tint, second, scale, seed(rng), gloss=between(rng, 0.2, 0.9))


def fabric(rng: Random) -> Material:
    """Sample fabric: plain weave, stripes, checks, prints."""
    tint = color(rng, saturation=(0.0, 0.8), value=(0.15, 0.95))
    second = color(rng, saturation=(0.0, 0.8), value=(0.1, 0.95))
    pattern: Pattern = weighted(
        rng,
        (
            ("cloth", 0.4),
            ("plain", 0.2),
            ("noise", 0.12),
            ("stripes", 0.12),
            ("checker", 0.05),
            ("leaves", 0.05),
            ("marble", 0.03),
            ("photo", 0.03),
        ),
    )
    if pattern in ("cloth", "plain", "noise"):
        second = shaded(tint, between(rng, 0.5, 0.9))
    scale = between(rng, 0.03, 0.25) if pattern != "photo" else between(rng, 0.3, 1.5)
    return Material(pattern, tint, second, scale, seed(rng), photo=seed(rng))


def leather(rng: Random) -> Material:
    """Sample brown, black or light leather."""
    tint = weighted(
        rng,
        (
            (color(rng, hue=(0.02, 0.09), saturation=(0.4, 0.8), value=(0.2, 0.6)), 0.5),
            (gray(rng, 0.06, 0.3), 0.3),
            (gray(rng, 0.7, 0.95), 0.2),
        ),
    )
    return Material("skin", tint, shaded(tint, 0.7), 0.05, seed(rng), gloss=between(rng, 0.1, 0.5))


def upholstery(rng: Random) -> Material:
    """Sample the cover of a seat: fabric or leather."""
    return leather(rng) if chance(rng, 0.25) else fabric(rng)


def glass(rng: Random) -> Material:
    """Sample clear or tinted glass."""
    tint = color(rng, hue=(0.3, 0.6), saturation=(0.0, 0.35), value=(0.6, 0.95))
    return Material(
        "plain", tint, clear=between(rng, 0.45, 0.85), mirror=between(rng, 0.05, 0.3), gloss=0.9
    )


def mirror_glass(rng: Random) -> Material:
    """Sample mirror glass."""
    return Material("plain", gray(rng, 0.7, 0.95), mirror=between(rng, 0.75, 0.97), gloss=0.9)


def printed(rng: Random, width: float = 0.2) -> Material:
    """Sample printed paper or packaging; `width` of one sheet, [m]."""
    tint = color(rng, saturation=(0.0, 0.7), value=(0.5, 1.0))
    second = color(rng, saturation=(0.0, 0.9), value=(0.05, 0.6))
    pattern: Pattern = weighted(
        rng,
        (
            ("print", 0.4),
            ("photo", 0.35),
            ("plain", 0.1),
            ("noise", 0.05),
            ("marble", 0.05),
            ("stripes", 0.05),
        ),
    )
    return Material(
        pattern,
        tint,
        second,
        max(width, 0.01),
        seed(rng),
        gloss=between(rng, 0.0, 0.5),
        photo=seed(rng),
    )


def stone(rng: Random) -> Material:
    """Sample marble, granite or concrete."""
    tint = color(rng, saturation=(0.0, 0.25), value=(0.25, 0.95))
    pattern: Pattern = pick(rng, ("marble", "noise", "plaster", "asphalt"))
    second = shaded(tint, between(rng, 0.3, 0.9))
    scale = between(rng, 0.05, 0.5)
    return Material(pattern, tint, second, scale, seed(rng), gloss=between(rng, 0.1, 0.8))


def glowing(rng: Random) -> Material:
    """Sample the glowing shade or bulb of a lamp."""
    tint = color(rng, hue=(0.06, 0.16), saturation=(0.05, 0.5), value=(0.85, 1.0))
    return Material("plain", tint, glow=between(rng, 0.7, 2.5))


def screen(rng: Random, width: float) -> Material:
    """Sample the face of a screen, off or showing text or a picture; `width` in [m]."""
    if chance(rng, 0.35):
        return Material("plain", gray(rng, 0.02, 0.1), gloss=0.9, mirror=between(rng, 0.05, 0.3))
    pattern: Pattern = pick(rng, ("print", "photo", "photo", "noise", "plain"))
    tint = color(rng, saturation=(0.0, 0.8), value=(0.4, 1.0))
    second = color(rng, saturation=(0.0, 0.8), value=(0.02, 0.5))
    glow = between(rng, 0.4, 1.2)
    return Material(pattern, tint, second, width, seed(rng), gloss=0.6, glow=glow, photo=seed(rng))


def floor(rng: Random, *, wet: bool = False) -> Material:
    """Sample a floor; `wet` for kitchens and bathrooms."""
    options: tuple[tuple[Pattern, float], ...] = (
        ("planks", 0.05 if wet else 0.42), ("tiles", 0.5 if wet else 0.12),
        ("checker", 0.15 if wet else 0.05), ("marble", 0.15 if wet else 0.07),
        ("noise", 0.05 if wet else 0.14), ("cloth", 0.0 if wet else 0.08), ("asphalt", 0.05),
        ("plaster", 0.05), ("brick", 0.02),
    )  # fmt: skip
    pattern = weighted(rng, options)
    if pattern == "planks":
        tint = color(rng, hue=(0.05, 0.11), saturation=(0.2, 0.7), value=(0.25, 0.85))
        second, scale = shaded(tint, between(rng, 0.4, 0.85)), between(rng, 0.06, 0.22)
    elif pattern in ("tiles", "checker", "brick"):
        tint = color(rng, saturation=(0.0, _strength(rng)), value=(0.3, 0.95))
        second, scale = gray(rng, 0.1, 0.9), between(rng, 0.1, 0.6)
    else:
        tint = color(rng, saturation=(0.0, _strength(rng)), value=(0.2, 0.9))
        second, scale = shaded(tint, between(rng, 0.4, 0.9)), between(rng, 0.05, 0.6)
    gloss = between(rng, 0.0, 0.7)
    mirror = between(rng, 0.03, 0.2) if gloss > 0.35 and chance(rng, 0.5) else 0.0
    return Material(pattern, tint, second, scale, seed(rng), gloss=gloss, mirror=mirror)


def _strength(rng: Random) -> float:
    """Draw how strong a floor's color may be at most: floors are mostly gray or brown."""
    return 0.2 if chance(rng, 0.75) else 0.6


def wall(rng: Random, *, wet: bool = False) -> Material:
    """Sample a wall; `wet` for kitchens and bathrooms."""
    options: tuple[tuple[Pattern, float], ...] = (
        ("plaster", 0.3), ("plain", 0.12 if wet else 0.28), ("tiles", 0.4 if wet else 0.03),
        ("brick", 0.06), ("stripes", 0.05), ("planks", 0.06), ("noise", 0.06), ("leaves", 0.03),
        ("marble", 0.08 if wet else 0.02), ("print", 0.01), ("photo", 0.05), ("checker", 0.02),
    )  # fmt: skip
    pattern = weighted(rng, options)
    if chance(rng, 0.7):
        tint = color(rng, saturation=(0.0, 0.18), value=(0.65, 0.97))
    else:
        tint = color(rng, saturation=(0.05, 0.6), value=(0.25, 0.9))
    second = shaded(tint, between(rng, 0.5, 0.92))
    if pattern in ("tiles", "brick"):
        second = gray(rng, 0.3, 0.9)
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


def ceiling(rng: Random) -> Material:
    """Sample a ceiling: mostly white paint, else boards, panels or concrete."""
    pattern: Pattern = weighted(
        rng, (("plain", 0.45), ("plaster", 0.3), ("tiles", 0.12), ("planks", 0.08), ("noise", 0.05))
    )
    tint = color(rng, saturation=(0.0, 0.12), value=(0.7, 0.98))
    if pattern == "planks":
        tint = color(rng, hue=(0.05, 0.1), saturation=(0.2, 0.6), value=(0.3, 0.8))
    scale = pick(rng, (0.6, 0.62, 1.2)) if pattern == "tiles" else between(rng, 0.1, 0.4)
    return Material(pattern, tint, shaded(tint, between(rng, 0.6, 0.95)), scale, seed(rng))
