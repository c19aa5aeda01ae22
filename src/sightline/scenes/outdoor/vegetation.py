"""Build trees, hedges, grass, flowers and branches.

A tree grows level by level: limbs leave their parent at a share of its length, shorter and thinner each
time, all limbs of a level in one array. Leaves are rhombi at the twigs: many small ones close by, fewer
and larger ones far away, so a wood costs no more than a single tree in front of the lens.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, leaf_quads, rods
from sightline.scenes.meshes import TriangleMesh, merge
from sightline.scenes.outdoor.terrain import rock_shape
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import (
    Color,
    Material,
    PartModel,
    Point,
    WorldBuilder,
    as_color,
    make_model,
)

#: Different trees of each sort there are.
TREE_VARIANTS = 8

#: Level of detail: close by, across the street, at the end of it, a dot.
DETAIL_NEAR, DETAIL_MIDDLE, DETAIL_FAR, DETAIL_DOT = range(4)


@cache
def tree_model(sort: str, variant: int, detail: int) -> PartModel:
    """Return a tree of 1 m height at the origin; roles `wood` and (unless bare) `leaf`.

    Args:
        sort: broadleaf, bare, conifer, palm, poplar or shrub.
        variant: index of one of the `VARIANTS`.
        detail: `NEAR` (about 2,500 triangles) to `DOT` (about 50).
    """
    rng = np.random.default_rng([17, sorted(_GROW).index(sort), variant % TREE_VARIANTS])
    grown = _GROW[sort](rng, detail)
    high = -float(grown.shape.vertices[:, 1].min())
    return replace(grown, shape=grown.shape.moved(scale=1.0 / high))


def _broadleaf(rng: Random, detail: int) -> PartModel:
    """Make a trunk that parts into limbs, with a round or wide crown."""
    spread = rng.uniform(35, 65)
    trunk = rng.uniform(0.18, 0.42)
    limbs = _grow(rng, trunk, spread, _LIMBS[detail])
    tips = limbs[-1][1] if detail < DETAIL_DOT else np.zeros((0, 3))
    parts = [("wood", _wood(limbs, detail))]
    middle = np.array([0.0, -(trunk + 1) / 2, 0.0])
    radii = np.array([rng.uniform(0.24, 0.42), (1 - trunk) / 2, rng.uniform(0.24, 0.42)])
    parts.append(("leaf", _leaf_crown(rng, middle, radii, tips, detail)))
    return make_model(parts)


def _poplar(rng: Random, detail: int) -> PartModel:
    """Make a slim upright tree: poplar, cypress, hornbeam."""
    low = rng.uniform(0.04, 0.12)
    trunk = rods([[0, 0, 0]], [[0, -0.9, 0]], 0.02, 0.004, sectors=5)
    middle = np.array([0.0, -(low + 1) / 2, 0.0])
    width = rng.uniform(0.08, 0.16)
    radii = np.array([width, (1 - low) / 2, width])
    return make_model(
        [("wood", trunk), ("leaf", _leaf_crown(rng, middle, radii, np.zeros((0, 3)), detail, 1.2))]
    )


def _bare(rng: Random, detail: int) -> PartModel:
    """Make a winter tree: nothing but limbs down to the twigs."""
    counts = ((8, 5, 5, 2), (7, 4, 3), (6, 4), (6,))[detail]
    limbs = _grow(rng, rng.uniform(0.15, 0.35), rng.uniform(30, 60), counts)
    return make_model([("wood", _wood(limbs, detail))])


def _conifer(rng: Random, detail: int) -> PartModel:
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
    return make_model([("wood", trunk), ("leaf", boughs)])


def _boughs(rng: Random, base: Floats, out: Floats, wide: Floats, fringe: int) -> TriangleMesh:
    """Make flat boughs; with `fringe`, each is that many twigs per side instead of one rhombus."""
    middle = np.array([0.0, -0.35, 0.0])
    if not fringe:
        return leaf_quads(base, out, wide, rng, middle)
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
    return leaf_quads(start, along, np.linalg.norm(along, axis=1) * 0.42, rng, middle)


def _palm(rng: Random, detail: int) -> PartModel:
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
    leaf = leaf_quads(np.concatenate(blades), np.concatenate(ways), width * 0.2, rng, line[-1])
    return make_model([("wood", trunk), ("leaf", leaf)])


def _shrub(rng: Random, detail: int) -> PartModel:
    """Make a shrub: leaves down to the ground, 1 m high."""
    stems = rng.normal(size=(7, 3)) * [0.25, 0, 0.25] + [0, -0.8, 0]
    wood = rods(np.zeros((7, 3)), stems, 0.018, 0.006, sectors=3)
    middle = np.array([0.0, -0.5, 0.0])
    radii = np.array([rng.uniform(0.4, 0.8), 0.5, rng.uniform(0.4, 0.8)])
    return make_model(
        [("wood", wood), ("leaf", _leaf_crown(rng, middle, radii, np.zeros((0, 3)), detail, 0.9))]
    )


def _grow(
    rng: Random, trunk: float, spread: float, counts: tuple[int, ...]
) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Grow limbs by level: starts (N, 3), ends (N, 3), radii at start and end (N,)."""
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


def _wood(limbs: list[tuple[Floats, Floats, Floats, Floats]], detail: int) -> TriangleMesh:
    """Make limbs as rods, the trunk rounder than the twigs."""
    from sightline.scenes.meshes import merge

    corners = (7, 5, 4, 3, 3)
    return merge([rods(*limb, sectors=max(3, corners[k] - detail)) for k, limb in enumerate(limbs)])


def _leaf_crown(
    rng: Random, middle: Floats, radii: Floats, tips: Floats, detail: int, dense: float = 1.0
) -> TriangleMesh:
    """Make leaves in clumps around the twigs, or in the shell of an ellipsoid without twigs."""
    if detail == DETAIL_DOT:
        return rock_shape(int(rng.integers(99)), 1).moved(middle, scale=radii * 1.05)
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
    return leaf_quads(
        base, along, np.linalg.norm(along, axis=1) * rng.uniform(0.5, 0.9), rng, middle
    )


_LIMBS: tuple[tuple[int, ...], ...] = ((7, 4, 3), (6, 3), (4,), ())
_GROW = {
    "broadleaf": _broadleaf,
    "bare": _bare,
    "conifer": _conifer,
    "palm": _palm,
    "poplar": _poplar,
    "shrub": _shrub,
}


#: Colors of foliage: summer greens, a few of autumn, a few dry ones.
_GREENS: tuple[Color, ...] = (
    (0.12, 0.24, 0.05), (0.08, 0.18, 0.04), (0.18, 0.3, 0.07), (0.1, 0.2, 0.09), (0.22, 0.28, 0.06),
    (0.06, 0.13, 0.05), (0.15, 0.22, 0.1), (0.25, 0.33, 0.12),
)  # fmt: skip
_AUTUMN: tuple[Color, ...] = (
    (0.45, 0.25, 0.04), (0.5, 0.16, 0.03), (0.35, 0.08, 0.03), (0.5, 0.38, 0.06), (0.3, 0.18, 0.06),
)  # fmt: skip

_TREE_SPECIES = ("broadleaf", "bare", "conifer", "palm", "poplar", "shrub")


def foliage(rng: Random, *, autumn: float = 0.12) -> Material:
    """Choose the look of leaves."""
    palette = _AUTUMN if rng.random() < autumn else _GREENS
    r, g, b = np.asarray(palette[rng.integers(len(palette))]) * rng.uniform(0.75, 1.35, 3)
    return Material(
        "leaves", (float(r), float(g), float(b)), (float(r * 0.5), float(g * 0.5), float(b * 0.45)),
        between(rng, 0.08, 0.3), int(rng.integers(1 << 16)), gloss=between(rng, 0, 0.2),
    )  # fmt: skip


def bark(rng: Random) -> Material:
    """Choose the look of a trunk, from birch to oak."""
    tone = rng.uniform(0.08, 0.32) if rng.random() < 0.9 else 0.6
    tint = (float(tone), float(tone * rng.uniform(0.7, 0.95)), float(tone * rng.uniform(0.5, 0.85)))
    return Material("bark", tint, (0.05, 0.04, 0.03), 0.25, int(rng.integers(1 << 16)))


def add_tree(
    builder: WorldBuilder,
    rng: Random,
    place: Point,
    height: float,
    *,
    sort: str = "broadleaf",
    detail: int = 0,
    leaf: Material | None = None,
    wood: Material | None = None,
) -> None:
    """Put a tree (or, with the sort `shrub`, a bush) at `place`, `height` [m] high.

    Handing in `leaf` and `wood` lets the trees of a wood look alike. A `detail` below 0 plants nothing.
    """
    if detail < 0:
        return
    wide = float(height * rng.uniform(0.85, 1.2))
    with builder.instance("bush" if sort == "shrub" else "tree"):
        tree_model(sort, int(rng.integers(TREE_VARIANTS)), detail).place(
            builder,
            {"wood": wood or bark(rng), "leaf": leaf or foliage(rng)},
            place,
            yaw=between(rng, 0, 360),
            scale=(wide, height, wide),
        )


def crown_reach(sort: str, height: float) -> float:
    """Return the distance that a camera at eye level must keep from a trunk, [m]."""
    if sort in ("conifer", "shrub"):
        return 0.35 * height + 0.5 if sort == "conifer" else 1.0 * height + 0.3
    return 0.2 * height if sort == "poplar" or height > 7.0 else 0.5 * height


def sample_species(rng: Random, palms: float = 0.06) -> str:
    """Choose a sort of tree for a place; broadleaf most often."""
    rest = 1.0 - palms
    shares = np.array([0.55, 0.17, 0.14, 0.0, 0.14, 0.0]) * rest
    shares[3] = palms
    return str(rng.choice(_TREE_SPECIES, p=shares / shares.sum()))


def add_hedge(
    builder: WorldBuilder,
    rng: Random,
    start: Floats,
    end: Floats,
    height: float,
    *,
    leaf: Material,
    fine: bool,
) -> None:
    """Put a clipped hedge between two places (3,) on the ground."""
    along = end - start
    length = float(np.hypot(along[0], along[2]))
    thick = between(rng, 0.4, 0.9)
    yaw = float(np.degrees(np.arctan2(along[0], along[2])))
    core = box_array([(start + end) / 2 - [0, height / 2, 0]], [thick, height, length], yaw=yaw)
    count = int(np.clip(length * height * (45 if fine else 6), 20, 800 if fine else 90))
    size = 0.12 if fine else 0.28
    local = rng.uniform([-0.5, 0, -0.5], [0.5, 1, 0.5], (count, 3)) * [thick, height, length]
    # Onto the skin: the two long sides and the top.
    on_top = rng.random(count) < thick / (thick + 2 * height)
    local[:, 0] = np.where(on_top, local[:, 0], np.sign(local[:, 0]) * thick / 2)
    local[:, 1] = np.where(on_top, height, local[:, 1])
    turn = np.radians(yaw)
    at = (
        np.stack(
            [
                local[:, 0] * np.cos(turn) + local[:, 2] * np.sin(turn),
                -local[:, 1],
                local[:, 2] * np.cos(turn) - local[:, 0] * np.sin(turn),
            ],
            -1,
        )
        + (start + end) / 2
    )
    way = rng.normal(size=(count, 3)) * size
    with builder.instance("hedge"):
        builder.add(core, leaf)
        builder.add(leaf_quads(at, way, size * 0.8, rng), leaf)


def grass(rng: Random, at: Floats, height: float, *, blades: int = 5) -> TriangleMesh:
    """Make tufts at (N, 3): bent blades of about `height` [m], two triangles each."""
    feet = np.repeat(at, blades, 0) + rng.normal(size=(len(at) * blades, 3)) * [0.05, 0, 0.05]
    count = len(feet)
    tall = height * rng.uniform(0.5, 1.3, count)
    lean = rng.normal(size=(count, 2)) * tall[:, None] * 0.4
    along = np.stack([lean[:, 0], -tall, lean[:, 1]], -1)
    return leaf_quads(
        feet, along, 0.012 + 0.03 * height, rng, feet.mean(0) + np.array([0, 50.0, 0])
    )


def add_flowers(
    builder: WorldBuilder, rng: Random, at: Floats, height: float, *, fine: bool
) -> None:
    """Put flowers at (N, 3): thin stems, leaves, petals around a middle; one instance for the bed."""
    count = len(at)
    tall = height * rng.uniform(0.6, 1.25, (count, 1))
    lean = rng.normal(size=(count, 2)) * 0.15
    top = at + np.concatenate([lean[:, :1], -np.ones((count, 1)), lean[:, 1:]], 1) * tall
    petals = int(rng.integers(5, 12)) if fine else 4
    size = height * rng.uniform(0.06, 0.2)
    angle = np.tile(np.arange(petals) / petals * 2 * np.pi, count)
    cup = rng.uniform(-0.4, 1.2)
    along = np.stack([np.sin(angle), 0 * angle - cup, np.cos(angle)], -1) * size
    head = leaf_quads(np.repeat(top, petals, 0), along, size * rng.uniform(0.35, 0.8), rng)
    heart = box_array(top, size * 0.35)
    stems = rods(at, top, 0.004 + 0.004 * height, sectors=3)
    low = at + (top - at) * rng.uniform(0.1, 0.7, (count, 1))
    green = leaf_quads(low, rng.normal(size=(count, 3)) * height * 0.2, height * 0.06, rng)
    hue = rng.uniform(0.02, 0.85, 3)
    hue[rng.integers(3)] = 0.8
    tint = as_color(hue)
    with builder.instance("flower"):
        builder.add(merge([stems, green]), foliage(rng, autumn=0.0))
        builder.add(head, Material("plain", tint))
        builder.add(heart, Material("noise", (0.6, 0.45, 0.05), (0.3, 0.2, 0.02), 0.05))


def add_branch(
    builder: WorldBuilder, rng: Random, start: Floats, end: Floats, *, leafy: bool
) -> None:
    """Put a branch from `start` to `end` (3,): twigs and, if `leafy`, leaves; for the foreground."""
    length = float(np.linalg.norm(end - start))
    share = np.linspace(0, 1, 9)[:, None]
    sag = np.sin(share * np.pi) * length * rng.uniform(-0.1, 0.15)
    spine = (
        start + (end - start) * share + sag * [0, 1, 0] + rng.normal(size=(9, 3)) * length * 0.012
    )
    thick = length * rng.uniform(0.006, 0.014) * (1.1 - share[:, 0])
    wood = [rods(spine[:-1], spine[1:], thick[:-1], thick[1:], sectors=6)]
    count = int(rng.integers(8, 22))
    spot = rng.uniform(0.1, 1.0, count)
    base = np.stack([np.interp(spot, share[:, 0], spine[:, k]) for k in range(3)], -1)
    way = rng.normal(size=(count, 3)) + (end - start) / length * 1.2
    way *= length * rng.uniform(0.08, 0.25, (count, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    wood.append(rods(base, base + way, length * 0.003, length * 0.001, sectors=4))
    with builder.instance("branch"):
        builder.add(merge(wood), bark(rng))
        if leafy:
            many = count * int(rng.integers(8, 20))
            pick = rng.integers(count, size=many)
            at = base[pick] + way[pick] * rng.uniform(0.2, 1.0, (many, 1))
            size = length * rng.uniform(0.03, 0.07)
            out = rng.normal(size=(many, 3))
            out *= (
                size * rng.uniform(0.7, 1.3, (many, 1)) / np.linalg.norm(out, axis=1, keepdims=True)
            )
            builder.add(leaf_quads(at, out, size * rng.uniform(0.3, 0.7), rng), foliage(rng))
