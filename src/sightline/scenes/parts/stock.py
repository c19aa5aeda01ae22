"""A stock of ready pieces: making one takes as long as placing twenty, so each is made once.

A maker is any function of a generator that gives a `Piece`. Its variant number k is always the same
piece, in every process; what a scene gets is that piece stretched a little, in other colours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from zlib import crc32

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick
from sightline.scenes.parts.finishes import seed
from sightline.scenes.parts.pieces import Piece, Top
from sightline.scenes.world import Colour, Material

Maker = Callable[[np.random.Generator], Piece]

#: Different shapes of each maker. Some 2,000 pieces of 20 kB are kept: about 40 MB a process.
VARIANTS = 24

_ORDERS = tuple(permutations(range(3)))


@lru_cache(maxsize=2048)
def variant(maker: Maker, number: int) -> Piece:
    """Give variant `number` of a maker; the same at every call, to be looked at but not changed."""
    name = f"{maker.__module__}.{maker.__qualname__}"
    return maker(np.random.default_rng([number, crc32(name.encode())]))


def take(
    rng: np.random.Generator, maker: Maker, *, stretch: float = 0.12, recolour: bool = True
) -> Piece:
    """Take a piece of a maker from the stock.

    Args:
        rng: draws the variant, the stretching and the colours.
        maker: a function at module level, such as `seats.chair`.
        stretch: each of width, height and depth changes by up to this share.
        recolour: whether colours may become quite other ones; else only brighter or darker.
    """
    made = variant(maker, int(rng.integers(VARIANTS)))
    order = pick(rng, _ORDERS) if recolour and chance(rng, 0.4) else (0, 1, 2)
    shift, fade = between(rng, 0.65, 1.35), between(rng, 0.0, 0.4) if recolour else 0.0
    photo = seed(rng)
    parts = [(shape, _restyled(m, order, shift, fade, photo)) for shape, m in made.parts]
    factors = 1.0 + stretch * (2 * rng.random(3) - 1)
    return resized(replace(made, parts=parts), *factors.tolist())


def _restyled(
    material: Material, order: tuple[int, ...], shift: float, fade: float, photo: int
) -> Material:
    """Exchange, brighten and fade the channels of a colour; glass, lamps, mirrors stay as they are."""
    if material.clear or material.glow or material.mirror > 0.7:
        return material

    def other(tint: Colour) -> Colour:
        mean = fade * sum(tint) / 3
        r, g, b = (min(0.97, max(0.01, (tint[k] * (1 - fade) + mean) * shift)) for k in order)
        return r, g, b

    return Material(
        material.pattern,
        other(material.tint),
        other(material.second),
        material.scale,
        (material.seed ^ photo) & 0x3FFFFFFF,
        material.gloss,
        mirror=material.mirror,
        photo=(material.photo ^ photo) & 0x3FFFFFFF,
    )


def resized(piece: Piece, x: float, y: float, z: float) -> Piece:
    """Stretch a piece along its own axes."""
    before = piece.scale or (1.0, 1.0, 1.0)
    tops = tuple(
        Top(t.height * y, (t.x[0] * x, t.x[1] * x), (t.z[0] * z, t.z[1] * z), t.room)
        for t in piece.tops
    )
    wide, high, deep = piece.size
    scale = (before[0] * x, before[1] * y, before[2] * z)
    return replace(piece, size=(wide * x, high * y, deep * z), tops=tops, scale=scale)
