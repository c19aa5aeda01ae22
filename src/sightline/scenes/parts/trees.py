"""Trees: broadleaf, bare, conifer, palm and shrub, grown once per variant and put down often.

A tree grows level by level: limbs leave their parent at a share of its length, shorter and thinner each
time, all limbs of a level in one array. Leaves are rhombi at the twigs: many small ones close by, fewer
and larger ones far away, so that a wood costs no more than a single tree in front of the lens.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from sightline.scenes.parts.many import Floats, leaves, rods
from sightline.scenes.parts.models import Model, model
from sightline.scenes.parts.rocks import rock
from sightline.scenes.shapes import Shape

#: Different trees of each sort there are.
VARIANTS = 8

#: Level of detail: close by, across the street, at the end of it, a dot.
NEAR, MIDDLE, FAR, DOT = range(4)


@cache
def tree(sort: str, variant: int, detail: int) -> Model:
    """Give a tree one metre high standing at the origin; roles `wood` and (unless bare) `leaf`.

    Args:
        sort: broadleaf, bare, conifer, palm, poplar or shrub.
        variant: which of the `VARIANTS`.
        detail: `NEAR` (about 2,500 triangles) to `DOT` (about 50).
    """
    rng = np.random.default_rng([17, sorted(_GROW).index(sort), variant % VARIANTS])
    grown = _GROW[sort](rng, detail)
    high = -float(grown.shape.vertices[:, 1].min())
    return replace(grown, shape=grown.shape.moved(scale=1.0 / high))


def _broadleaf(rng: np.random.Generator, detail: int) -> Model:
    """Make a trunk that parts into limbs, with a round or wide crown."""
    spread = rng.uniform(35, 65)
    trunk = rng.uniform(0.18, 0.42)
    limbs = _grow(rng, trunk, spread, _LIMBS[detail])
    tips = limbs[-1][1] if detail < DOT else np.zeros((0, 3))
    parts = [("wood", _wood(limbs, detail))]
    middle = np.array([0.0, -(trunk + 1) / 2, 0.0])
    radii = np.array([rng.uniform(0.24, 0.42), (1 - trunk) / 2, rng.uniform(0.24, 0.42)])
    parts.append(("leaf", _crown(rng, middle, radii, tips, detail)))
    return model(parts)


def _poplar(rng: np.random.Generator, detail: int) -> Model:
    """Make a slim upright tree: poplar, cypress, hornbeam."""
    low = rng.uniform(0.04, 0.12)
    trunk = rods([[0, 0, 0]], [[0, -0.9, 0]], 0.02, 0.004, sectors=5)
    middle = np.array([0.0, -(low + 1) / 2, 0.0])
    width = rng.uniform(0.08, 0.16)
    radii = np.array([width, (1 - low) / 2, width])
    return model(
        [("wood", trunk), ("leaf", _crown(rng, middle, radii, np.zeros((0, 3)), detail, 1.2))]
    )


def _bare(rng: np.random.Generator, detail: int) -> Model:
    """Make a winter tree: nothing but limbs down to the twigs."""
    counts = ((8, 5, 5, 2), (7, 4, 3), (6, 4), (6,))[detail]
    limbs = _grow(rng, rng.uniform(0.15, 0.35), rng.uniform(30, 60), counts)
    return model([("wood", _wood(limbs, detail))])


def _conifer(rng: np.random.Generator, detail: int) -> Model:
    """Make a straight trunk with whorls of drooping boughs, each fringed with needles."""
    whorls, around = ((14, 9), (10, 7), (7, 7), (4, 6))[detail]
    low = rng.uniform(0.05, 0.3)
    level = np.repeat(np.linspace(low, 0.97, whorls), around)
    level = level + rng.normal(0, 0.012, len(level))
    yaw = rng.uniform(0, 2 * np.pi, len(level))
    reach = rng.uniform(0.16, 0.28) * (1.02 - (level - low) / (1 - low)) ** rng.uniform(0.7, 1.1)
    reach = reach * rng.uniform(0.75, 1.1, len(level))
    droop = rng.uniform(0.1, 0.6)
    out = np.stack([np.sin(yaw), droop + 0 * yaw, np.cos(yaw)], -1) * reach[:, None]
    base = np.stack([0 * yaw, -level, 0 * yaw], -1)
    wide = reach * rng.uniform(0.45, 0.8) + 0.012
    boughs = _boughs(rng, base, out, wide, fringe=(6, 3, 0, 0)[detail])
    trunk = rods([[0, 0, 0]], [[0, -0.95, 0]], rng.uniform(0.012, 0.022), 0.003, sectors=6)
    return model([("wood", trunk), ("leaf", boughs)])


def _boughs(
    rng: np.random.Generator, base: Floats, out: Floats, wide: Floats, fringe: int
) -> Shape:
    """Flat boughs; close by each is `fringe` slim twigs on either side instead of one rhombus."""
    middle = np.array([0.0, -0.35, 0.0])
    if not fringe:
        return leaves(base, out, wide, rng, middle)
    share = np.tile(np.linspace(0.15, 1.0, fringe), len(base))
    b, o = np.repeat(base, fringe, 0), np.repeat(out, fringe, 0)
    side = np.cross(o, [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    half = np.repeat(wide, fringe)[:, None] * (1.15 - share[:, None]) * 0.6
    start = b + o * share[:, None] * 0.9
    drop = np.array([0.0, 0.25, 0.0])
    twigs = [s * half * side + half * drop + o * 0.22 for s in (-1.0, 1.0)]
    along = np.concatenate(twigs) * rng.uniform(0.7, 1.2, (2 * len(start), 1))
    start = np.concatenate([start, start])
    return leaves(start, along, np.linalg.norm(along, axis=1) * 0.42, rng, middle)


def _palm(rng: np.random.Generator, detail: int) -> Model:
    """Make a bent trunk with a tuft of fronds."""
    bend = rng.uniform(-0.2, 0.2, 2)
    t = np.linspace(0, 1, 7)[:, None]
    line = np.concatenate([bend[0] * t**2, -0.85 * t, bend[1] * t**2], 1)
    trunk = rods(
        line[:-1], line[1:], 0.024 - 0.009 * t[:-1, 0], 0.024 - 0.009 * t[1:, 0], sectors=6
    )
    fronds, steps = ((15, 8), (13, 5), (11, 2), (8, 1))[detail]
    yaw = rng.uniform(0, 2 * np.pi, fronds)
    rise = rng.uniform(-0.3, 0.9, fronds)
    level = np.stack([np.sin(yaw), 0 * yaw, np.cos(yaw)], -1)
    s = np.linspace(0, 1, steps + 1)[:, None, None]
    reach = rng.uniform(0.22, 0.36)
    rib = line[-1] + reach * (level * s + np.array([0, 1.0, 0]) * (0.8 * s**2 - rise[:, None] * s))
    start, along = rib[:-1].reshape(-1, 3), np.diff(rib, axis=0).reshape(-1, 3)
    side = np.cross(along, [0.0, 1.0, 0.0])
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9)
    width = reach * (0.45 if steps > 2 else 0.2)
    blades = [start, start, start + along / 2, start + along / 2]
    ways = [k * side * width * 0.5 + along * 0.9 + [0, width * 0.25, 0] for k in (-1, 1, -1, 1)]
    leaf = leaves(np.concatenate(blades), np.concatenate(ways), width * 0.2, rng, line[-1])
    return model([("wood", trunk), ("leaf", leaf)])


def _shrub(rng: np.random.Generator, detail: int) -> Model:
    """Leaves down to the ground, one metre high."""
    stems = rng.normal(size=(7, 3)) * [0.25, 0, 0.25] + [0, -0.8, 0]
    wood = rods(np.zeros((7, 3)), stems, 0.018, 0.006, sectors=3)
    middle = np.array([0.0, -0.5, 0.0])
    radii = np.array([rng.uniform(0.4, 0.8), 0.5, rng.uniform(0.4, 0.8)])
    return model(
        [("wood", wood), ("leaf", _crown(rng, middle, radii, np.zeros((0, 3)), detail, 0.9))]
    )


def _grow(
    rng: np.random.Generator, trunk: float, spread: float, counts: tuple[int, ...]
) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Limbs by level: starts (N, 3), ends (N, 3), radius at the start and at the end (N,)."""
    lean = rng.normal(0, 0.03, 2)
    start, end = np.zeros((1, 3)), np.array([[lean[0], -max(0.75, trunk + 0.4), lean[1]]])
    thick, thin = np.array([rng.uniform(0.012, 0.026)]), np.array([0.006])
    levels = [(start, end, thick, thin)]
    for depth, count in enumerate(counts):
        share = rng.uniform(0.35 if depth else trunk / 0.8, 1.0, (len(start), count))
        base = (start[:, None] + (end - start)[:, None] * share[..., None]).reshape(-1, 3)
        way = np.repeat(end - start, count, 0)
        length = np.linalg.norm(way, axis=1, keepdims=True)
        off = rng.normal(size=way.shape)
        off -= (off * way).sum(1, keepdims=True) / length**2 * way
        off /= np.maximum(np.linalg.norm(off, axis=1, keepdims=True), 1e-9)
        tilt = np.radians(spread * rng.uniform(0.5, 1.2, (len(way), 1)))
        way = way / length * np.cos(tilt) + off * np.sin(tilt) + [0.0, -0.12, 0.0]
        reach = length * rng.uniform(0.42, 0.68, (len(way), 1))
        at = thick[:, None] + (thin - thick)[:, None] * share
        thick = np.maximum(at.reshape(-1) * 0.62, 0.0016)
        thin = thick * 0.35
        start, end = base, base + way * reach
        levels.append((start, end, thick, thin))
    return levels


def _wood(limbs: list[tuple[Floats, Floats, Floats, Floats]], detail: int) -> Shape:
    """Limbs as rods, the trunk rounder than the twigs."""
    from sightline.scenes.shapes import merge

    corners = (7, 5, 4, 3, 3)
    return merge([rods(*limb, sectors=max(3, corners[k] - detail)) for k, limb in enumerate(limbs)])


def _crown(
    rng: np.random.Generator,
    middle: Floats,
    radii: Floats,
    tips: Floats,
    detail: int,
    dense: float = 1.0,
) -> Shape:
    """Leaves in clumps: around the twigs where there are any, else in the shell of an ellipsoid."""
    if detail == DOT:
        return rock(int(rng.integers(99)), 1).moved(middle, scale=radii * 1.05)
    count, clumps = ((1100, 50), (380, 30), (110, 110))[detail]
    count = int(count * dense)
    way = rng.normal(size=(clumps, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    nests = middle + way * radii * rng.uniform(0.45, 0.95, (clumps, 1)) ** 0.6
    if len(tips):
        nests = np.concatenate([nests[: clumps // 2], tips])
    size = float(np.cbrt(np.prod(radii)))
    base = nests[rng.integers(len(nests), size=count)]
    base = base + rng.normal(size=base.shape) * size * (0.16, 0.16, 0.10)[detail]
    along = rng.normal(size=base.shape)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    along = (
        (along + np.array([0, 0.3, 0])) * size * ((0.11, 0.22, 0.5)[detail] * rng.uniform(0.6, 1.3))
    )
    return leaves(base, along, np.linalg.norm(along, axis=1) * rng.uniform(0.5, 0.9), rng, middle)


_LIMBS: tuple[tuple[int, ...], ...] = ((7, 4, 3), (6, 3), (4,), ())
_GROW = {
    "broadleaf": _broadleaf,
    "bare": _bare,
    "conifer": _conifer,
    "palm": _palm,
    "poplar": _poplar,
    "shrub": _shrub,
}
