"""What indoor surfaces are made of: a random `Material` for each kind of finish.

Colours are drawn as hue, saturation and value as a screen shows them and turned into linear light.
"""

from __future__ import annotations

import colorsys

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, weighted
from sightline.scenes.world import Colour, Material, Pattern


def colour(
    rng: np.random.Generator,
    *,
    hue: tuple[float, float] = (0.0, 1.0),
    saturation: tuple[float, float] = (0.1, 0.9),
    value: tuple[float, float] = (0.2, 0.95),
) -> Colour:
    """Draw a colour (linear RGB) from ranges as on a screen, each 0 to 1; hue 0 is red, 1/3 green.

    Muted colours are more frequent than strong ones, as in photographs.
    """
    h, v = between(rng, *hue), between(rng, *value)
    s = saturation[0] + (saturation[1] - saturation[0]) * float(rng.random()) ** 1.35
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, s, v)
    return r**2.2, g**2.2, b**2.2


def shaded(tint: Colour, factor: float) -> Colour:
    """Make a colour darker (factor below 1) or lighter, kept within 0 to 1."""
    return min(1.0, tint[0] * factor), min(1.0, tint[1] * factor), min(1.0, tint[2] * factor)


def grey(rng: np.random.Generator, low: float, high: float) -> Colour:
    """Draw a nearly grey colour of a value from low to high as on a screen."""
    return colour(rng, saturation=(0.0, 0.12), value=(low, high))


def seed(rng: np.random.Generator) -> int:
    """Draw a seed for a pattern."""
    return int(rng.integers(1 << 30))


def timber(rng: np.random.Generator) -> Material:
    """Wood of furniture: natural, stained, painted white, grey, black or in colour."""
    natural = {"hue": (0.055, 0.11), "saturation": (0.3, 0.7), "value": (0.25, 0.85)}
    if chance(rng, 0.66):
        tint = colour(rng, **natural)
    elif chance(rng, 0.7):
        tint = grey(rng, *pick(rng, ((0.8, 0.97), (0.08, 0.25), (0.4, 0.7))))
    else:
        tint = colour(rng, saturation=(0.2, 0.7), value=(0.3, 0.85))
    pattern: Pattern = weighted(
        rng, (("planks", 0.4), ("plain", 0.35), ("bark", 0.15), ("noise", 0.1))
    )
    scale = {"planks": between(rng, 0.06, 0.5), "bark": between(rng, 0.01, 0.06)}.get(pattern, 0.3)
    second = shaded(tint, between(rng, 0.45, 0.85))
    return Material(pattern, tint, second, scale, seed(rng), gloss=between(rng, 0.0, 0.6))


def painted(rng: np.random.Generator) -> Material:
    """Even paint or lacquer in any colour."""
    tint = colour(rng, saturation=(0.0, 0.85), value=(0.15, 0.97))
    return Material("plain", tint, shaded(tint, 0.8), 0.3, seed(rng), gloss=between(rng, 0.0, 0.8))


def white(rng: np.random.Generator) -> Material:
    """White or off-white enamel, ceramic or paint."""
    tint = colour(rng, hue=(0.05, 0.2), saturation=(0.0, 0.12), value=(0.82, 0.98))
    return Material("plain", tint, shaded(tint, 0.85), 0.3, seed(rng), gloss=between(rng, 0.2, 0.9))


def dark(rng: np.random.Generator) -> Material:
    """Black or nearly black plastic, rubber or enamel."""
    tint = grey(rng, 0.04, 0.24)
    return Material("plain", tint, shaded(tint, 2.0), 0.2, seed(rng), gloss=between(rng, 0.0, 0.9))


def metal(rng: np.random.Generator) -> Material:
    """Steel, chrome, brass, copper, or painted black."""
    if chance(rng, 0.25):
        return dark(rng)
    if chance(rng, 0.25):
        tint = colour(rng, hue=(0.04, 0.13), saturation=(0.4, 0.7), value=(0.5, 0.85))
    else:
        tint = grey(rng, 0.4, 0.85)
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


def plastic(rng: np.random.Generator) -> Material:
    """Shiny stuff in strong colours."""
    tint = colour(rng, saturation=(0.3, 1.0), value=(0.3, 1.0))
    return Material("plain", tint, shaded(tint, 0.8), 0.2, seed(rng), gloss=between(rng, 0.2, 0.9))


def ceramic(rng: np.random.Generator) -> Material:
    """Glazed ware: white, in one colour, banded, speckled or decorated."""
    tint = colour(rng, saturation=(0.0, 0.7), value=(0.35, 0.98))
    second = colour(rng, saturation=(0.2, 0.9), value=(0.1, 0.8))
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


def fabric(rng: np.random.Generator) -> Material:
    """Covers, curtains, clothes: plain weave, stripes, checks, prints."""
    tint = colour(rng, saturation=(0.0, 0.8), value=(0.15, 0.95))
    second = colour(rng, saturation=(0.0, 0.8), value=(0.1, 0.95))
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


def leather(rng: np.random.Generator) -> Material:
    """Brown, black, cream or coloured leather."""
    tint = weighted(
        rng,
        (
            (colour(rng, hue=(0.02, 0.09), saturation=(0.4, 0.8), value=(0.2, 0.6)), 0.5),
            (grey(rng, 0.06, 0.3), 0.3),
            (grey(rng, 0.7, 0.95), 0.2),
        ),
    )
    return Material("skin", tint, shaded(tint, 0.7), 0.05, seed(rng), gloss=between(rng, 0.1, 0.5))


def upholstery(rng: np.random.Generator) -> Material:
    """Cover of a seat: cloth or leather."""
    return leather(rng) if chance(rng, 0.25) else fabric(rng)


def glass(rng: np.random.Generator) -> Material:
    """Clear or tinted glass; its depth is that of its own surface."""
    tint = colour(rng, hue=(0.3, 0.6), saturation=(0.0, 0.35), value=(0.6, 0.95))
    return Material(
        "plain", tint, clear=between(rng, 0.45, 0.85), mirror=between(rng, 0.05, 0.3), gloss=0.9
    )


def looking_glass(rng: np.random.Generator) -> Material:
    """Silvered glass; its depth is that of its own surface."""
    return Material("plain", grey(rng, 0.7, 0.95), mirror=between(rng, 0.75, 0.97), gloss=0.9)


def printed(rng: np.random.Generator, width: float = 0.2) -> Material:
    """Paper, packaging, posters: writing, photographs, blocks of colour; `width` of one sheet [m]."""
    tint = colour(rng, saturation=(0.0, 0.7), value=(0.5, 1.0))
    second = colour(rng, saturation=(0.0, 0.9), value=(0.05, 0.6))
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


def stone(rng: np.random.Generator) -> Material:
    """Marble, granite, concrete."""
    tint = colour(rng, saturation=(0.0, 0.25), value=(0.25, 0.95))
    pattern: Pattern = pick(rng, ("marble", "noise", "plaster", "asphalt"))
    second = shaded(tint, between(rng, 0.3, 0.9))
    scale = between(rng, 0.05, 0.5)
    return Material(pattern, tint, second, scale, seed(rng), gloss=between(rng, 0.1, 0.8))


def lit(rng: np.random.Generator) -> Material:
    """Shade or bulb of a lamp that is on."""
    tint = colour(rng, hue=(0.06, 0.16), saturation=(0.05, 0.5), value=(0.85, 1.0))
    return Material("plain", tint, glow=between(rng, 0.7, 2.5))


def screen(rng: np.random.Generator, width: float) -> Material:
    """Face of a screen: off and glossy, or showing writing or a picture; `width` in [m]."""
    if chance(rng, 0.35):
        return Material("plain", grey(rng, 0.02, 0.1), gloss=0.9, mirror=between(rng, 0.05, 0.3))
    pattern: Pattern = pick(rng, ("print", "photo", "photo", "noise", "plain"))
    tint = colour(rng, saturation=(0.0, 0.8), value=(0.4, 1.0))
    second = colour(rng, saturation=(0.0, 0.8), value=(0.02, 0.5))
    glow = between(rng, 0.4, 1.2)
    return Material(pattern, tint, second, width, seed(rng), gloss=0.6, glow=glow, photo=seed(rng))
