"""Plants in a scene: trees with bark and foliage, hedges, grass, flowers, a branch before the lens."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.many import Floats, boxes, leaves, rods
from sightline.scenes.parts.trees import VARIANTS, tree
from sightline.scenes.shapes import Shape, merge
from sightline.scenes.world import Builder, Colour, Material

#: Colours of foliage: summer greens, a few of autumn, a few dry ones.
_GREENS: tuple[Colour, ...] = (
    (0.12, 0.24, 0.05), (0.08, 0.18, 0.04), (0.18, 0.3, 0.07), (0.1, 0.2, 0.09), (0.22, 0.28, 0.06),
    (0.06, 0.13, 0.05), (0.15, 0.22, 0.1), (0.25, 0.33, 0.12),
)  # fmt: skip
_AUTUMN: tuple[Colour, ...] = (
    (0.45, 0.25, 0.04), (0.5, 0.16, 0.03), (0.35, 0.08, 0.03), (0.5, 0.38, 0.06), (0.3, 0.18, 0.06),
)  # fmt: skip

_SORTS = ("broadleaf", "bare", "conifer", "palm", "poplar", "shrub")


def foliage(rng: np.random.Generator, *, autumn: float = 0.12) -> Material:
    """Choose the look of leaves."""
    palette = _AUTUMN if rng.random() < autumn else _GREENS
    r, g, b = np.asarray(palette[rng.integers(len(palette))]) * rng.uniform(0.75, 1.35, 3)
    return Material(
        "leaves", (float(r), float(g), float(b)), (float(r * 0.5), float(g * 0.5), float(b * 0.45)),
        float(rng.uniform(0.08, 0.3)), int(rng.integers(1 << 16)), gloss=float(rng.uniform(0, 0.2)),
    )  # fmt: skip


def bark(rng: np.random.Generator) -> Material:
    """Choose the look of a trunk, from birch to oak."""
    tone = rng.uniform(0.08, 0.32) if rng.random() < 0.9 else 0.6
    tint = (float(tone), float(tone * rng.uniform(0.7, 0.95)), float(tone * rng.uniform(0.5, 0.85)))
    return Material("bark", tint, (0.05, 0.04, 0.03), 0.25, int(rng.integers(1 << 16)))


def add_tree(
    builder: Builder,
    rng: np.random.Generator,
    place: tuple[float, float, float],
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
    with builder.thing("bush" if sort == "shrub" else "tree"):
        tree(sort, int(rng.integers(VARIANTS)), detail).place(
            builder,
            {"wood": wood or bark(rng), "leaf": leaf or foliage(rng)},
            place,
            yaw=float(rng.uniform(0, 360)),
            scale=(wide, height, wide),
        )


def crown_reach(sort: str, height: float) -> float:
    """How far from its trunk a tree keeps a camera at eye level, [m]: to the edge of its low boughs."""
    if sort in ("conifer", "shrub"):
        return 0.35 * height + 0.5 if sort == "conifer" else 1.0 * height + 0.3
    return 0.2 * height if sort == "poplar" or height > 7.0 else 0.5 * height


def sort_of_tree(rng: np.random.Generator, palms: float = 0.06) -> str:
    """Choose a sort of tree for a place; broadleaf most often."""
    rest = 1.0 - palms
    shares = np.array([0.55, 0.17, 0.14, 0.0, 0.14, 0.0]) * rest
    shares[3] = palms
    return str(rng.choice(_SORTS, p=shares / shares.sum()))


def add_hedge(
    builder: Builder,
    rng: np.random.Generator,
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
    thick = float(rng.uniform(0.4, 0.9))
    yaw = float(np.degrees(np.arctan2(along[0], along[2])))
    core = boxes([(start + end) / 2 - [0, height / 2, 0]], [thick, height, length], yaw=yaw)
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
    with builder.thing("hedge"):
        builder.add(core, leaf)
        builder.add(leaves(at, way, size * 0.8, rng), leaf)


def grass(rng: np.random.Generator, at: Floats, height: float, *, blades: int = 5) -> Shape:
    """Make tufts at (N, 3): bent blades of about `height` [m], two triangles each."""
    feet = np.repeat(at, blades, 0) + rng.normal(size=(len(at) * blades, 3)) * [0.05, 0, 0.05]
    count = len(feet)
    tall = height * rng.uniform(0.5, 1.3, count)
    lean = rng.normal(size=(count, 2)) * tall[:, None] * 0.4
    along = np.stack([lean[:, 0], -tall, lean[:, 1]], -1)
    return leaves(feet, along, 0.012 + 0.03 * height, rng, feet.mean(0) + np.array([0, 50.0, 0]))


def add_flowers(
    builder: Builder, rng: np.random.Generator, at: Floats, height: float, *, fine: bool
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
    head = leaves(np.repeat(top, petals, 0), along, size * rng.uniform(0.35, 0.8), rng)
    heart = boxes(top, size * 0.35)
    stems = rods(at, top, 0.004 + 0.004 * height, sectors=3)
    low = at + (top - at) * rng.uniform(0.1, 0.7, (count, 1))
    green = leaves(low, rng.normal(size=(count, 3)) * height * 0.2, height * 0.06, rng)
    hue = rng.uniform(0.02, 0.85, 3)
    hue[rng.integers(3)] = 0.8
    r, g, b = (float(c) for c in hue)
    with builder.thing("flower"):
        builder.add(merge([stems, green]), foliage(rng, autumn=0.0))
        builder.add(head, Material("plain", (r, g, b)))
        builder.add(heart, Material("noise", (0.6, 0.45, 0.05), (0.3, 0.2, 0.02), 0.05))


def add_branch(
    builder: Builder,
    rng: np.random.Generator,
    start: Floats,
    end: Floats,
    *,
    leafy: bool,
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
    with builder.thing("branch"):
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
            builder.add(leaves(at, out, size * rng.uniform(0.3, 0.7), rng), foliage(rng))
