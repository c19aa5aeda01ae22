"""Build items that lie on floors: toys, shoes, bags, clothes, ladders, brooms, wheels."""

from __future__ import annotations

import numpy as np

from sightline.scenes.layout import Parts, Prop, make_prop, prop_maker
from sightline.scenes.materials import (
    dark,
    fabric,
    leather,
    metal,
    painted,
    plastic,
    printed,
    timber,
    white,
)
from sightline.scenes.mesh_arrays import cushion, lump, repeat_shape, ring, rods
from sightline.scenes.meshes import box, boxes, cylinder, merge, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material


@prop_maker(0xB538875A)
def ball(rng: Random) -> Prop:
    """Make a ball of any size from tennis to gymnastics."""
    radius = float(np.exp(between(rng, np.log(0.03), np.log(0.3))))
    skin = pick(rng, (plastic, printed, leather))(rng)
    return make_prop("ball", [(sphere([0, -radius, 0], radius, sectors=18), skin)])


@prop_maker(0xDC2DBA12)
def blocks(rng: Random) -> Prop:
    """Make building blocks: stacked in towers and strewn about."""
    count, side = randint(rng, 4, 16), between(rng, 0.025, 0.06)
    cell = rng.integers(-2, 3, (count, 2)) * side * 1.4 + rng.normal(0, side * 0.1, (count, 2))
    level = np.zeros(count)
    for k in range(1, count):
        under = np.abs(cell[:k] - cell[k]).max(1) < side * 0.6
        level[k] = level[:k][under].max() + 1 if under.any() else 0
    at = np.stack([cell[:, 0], -(level + 0.5) * side, cell[:, 1]], -1)
    yaw, own = rng.uniform(-25, 25, count), rng.integers(0, 4, count)
    paint = plastic if chance(rng, 0.5) else timber
    return make_prop(
        "toy",
        [
            (boxes(at[own == k], [side, side, side], yaw=yaw[own == k]), paint(rng))
            for k in range(4)
            if (own == k).any()
        ],
    )


@prop_maker(0x3E4C7C65)
def toy_car(rng: Random) -> Prop:
    """Make a toy car, bus or train: body, cabin, wheels."""
    long = between(rng, 0.08, 0.35)
    wide, high, wheel = long * between(rng, 0.4, 0.55), long * between(rng, 0.2, 0.45), long * 0.1
    tire = cylinder([0, 0, 0], wheel, wide * 0.2, sectors=10).moved([0, 0, 0], pitch=90)
    at = [
        [sx * long * 0.3, -wheel, sz * wide * 0.4 + wide * 0.1] for sx in (-1, 1) for sz in (-1, 1)
    ]
    parts: Parts = [
        (cushion([0, -wheel - high * 0.4, 0], [long, high, wide], hard=8), plastic(rng)),
        (
            cushion(
                [between(rng, -0.15, 0.15) * long, -wheel - high, 0],
                [long * 0.5, high * 0.8, wide * 0.85],
                hard=6,
            ),
            plastic(rng),
        ),
        (repeat_shape(tire, at), dark(rng)),
    ]
    return make_prop("toy", parts)


@prop_maker(0xD6D888BD)
def teddy(rng: Random) -> Prop:
    """Make a soft toy that sits: belly, head, ears, arms and legs."""
    s = between(rng, 0.08, 0.25)
    fur, pale = fabric(rng), white(rng)
    belly = sphere([0, -s * 0.5, 0], [s * 0.42, s * 0.52, s * 0.38], sectors=12)
    head = sphere([0, -s * 1.2, 0], s * 0.34, sectors=12)
    ears = [
        sphere([x * s * 0.28, -s * 1.5, 0], s * between(rng, 0.1, 0.16), sectors=8) for x in (-1, 1)
    ]
    limbs = [
        tube([[x * s * 0.35, -s * 0.8, 0], [x * s * 0.65, -s * 0.5, -s * 0.2]], s * 0.12, sectors=7)
        for x in (-1, 1)
    ]
    limbs += [
        tube(
            [[x * s * 0.22, -s * 0.15, 0], [x * s * 0.3, -s * 0.14, -s * 0.6]], s * 0.14, sectors=7
        )
        for x in (-1, 1)
    ]
    feet = [sphere([x * s * 0.3, -s * 0.16, -s * 0.6], s * 0.17, sectors=8) for x in (-1, 1)]
    snout = sphere([0, -s * 1.13, -s * 0.3], s * 0.13, sectors=8)
    eyes = [sphere([x * s * 0.12, -s * 1.28, -s * 0.3], s * 0.035, sectors=6) for x in (-1, 1)]
    return make_prop(
        "toy",
        [
            (merge([belly, head, *ears, *limbs, *feet]), fur),
            (snout, pale),
            (merge(eyes), dark(rng)),
        ],
    )


@prop_maker(0xFF858417)
def stacking_rings(rng: Random) -> Prop:
    """Make rings on a rod, smaller upwards."""
    count, radius = randint(rng, 3, 6), between(rng, 0.04, 0.09)
    parts: Parts = []
    height = 0.0
    for k in range(count):
        r = radius * (1 - 0.12 * k)
        thick = r * 0.3
        parts.append(
            (ring([0, -height - thick, 0], r * 0.75, thick, sectors=16, sides=7), plastic(rng))
        )
        height += 2 * thick
    parts.append((tube([[0, 0, 0], [0, -height - 0.02, 0]], radius * 0.2, sectors=8), timber(rng)))
    return make_prop("toy", parts)


@prop_maker(0x6309BBCE)
def shoes(rng: Random) -> Prop:
    """Make a pair of shoes or boots, more or less side by side."""
    upper, sole = pick(rng, (leather, fabric, plastic))(rng), pick(rng, (dark, white))(rng)
    long, shaft = between(rng, 0.18, 0.31), between(rng, 0.06, 0.28)
    w = long * 0.36
    body = merge(
        [
            cushion([0, -0.05, -long * 0.1], [w, 0.08, long * 0.9], hard=3),
            cylinder([0, -0.04, long * 0.25], w * 0.42, shaft, top=w * 0.4, sectors=10),
        ]
    )
    base = cushion([0, -0.012, 0], [w * 1.05, 0.024, long], hard=3)
    parts: Parts = []
    for side in (-1, 1):
        at, yaw = (
            [side * between(rng, 0.06, 0.12), 0.0, between(rng, -0.05, 0.05)],
            between(rng, -25, 25),
        )
        parts += [(body.moved(at, yaw=yaw), upper), (base.moved(at, yaw=yaw), sole)]
    return make_prop("shoes", parts)


@prop_maker(0x70F0C27F)
def bag(rng: Random) -> Prop:
    """Make a bag, rucksack or suitcase with a handle."""
    wide, high, deep = between(rng, 0.25, 0.5), between(rng, 0.25, 0.65), between(rng, 0.12, 0.28)
    stuff = pick(rng, (leather, fabric, plastic, dark))(rng)
    body = cushion([0, -high / 2, 0], [wide, high, deep], hard=pick(rng, (3, 4, 8)))
    pocket = cushion([0, -high * 0.35, -deep / 2], [wide * 0.7, high * 0.4, deep * 0.3], hard=4)
    turn = np.linspace(0, np.pi, 9)
    bow = np.stack(
        [0.09 * np.cos(turn), -high * 0.95 - between(rng, 0.05, 0.25) * np.sin(turn), 0 * turn], -1
    )
    parts: Parts = [(body, stuff), (tube(bow, 0.01, sectors=5), stuff)]
    if chance(rng, 0.5):
        parts.append((pocket, stuff))
    return make_prop("bag", parts)


@prop_maker(0x9D0CFCE5)
def clothes(rng: Random) -> Prop:
    """Make a heap of clothes, or a folded pile."""
    if chance(rng, 0.4):
        pile = [
            cushion([between(rng, -0.02, 0.02), -0.03 - 0.05 * k, 0], [0.34, 0.055, 0.28], hard=6)
            for k in range(randint(rng, 1, 5))
        ]
        return make_prop("clothes", [(shape, fabric(rng)) for shape in pile])
    parts: Parts = []
    for _ in range(randint(rng, 1, 3)):
        size = [between(rng, 0.25, 0.6), between(rng, 0.1, 0.25), between(rng, 0.25, 0.5)]
        at = [between(rng, -0.15, 0.15), 0, between(rng, -0.15, 0.15)]
        parts.append((lump(rng, size, rough=0.4).moved(at), fabric(rng)))
    return make_prop("clothes", parts)


@prop_maker(0x257D934F)
def ladder(rng: Random) -> Prop:
    """Make a stepladder: two frames with rungs."""
    high, wide = between(rng, 0.9, 2.0), between(rng, 0.35, 0.5)
    out = high * 0.25
    rungs = np.linspace(0.2, 0.95, int(high / 0.28) + 1)
    sides = [[s * wide / 2, 0.0, z] for s in (-1, 1) for z in (-out, out)]
    tops = [[s * wide * 0.35, -high, z * 0.1] for s in (-1, 1) for z in (-out, out)]
    left = np.stack([-wide * (0.5 - 0.15 * rungs), -high * rungs, -out * (1 - 0.9 * rungs)], -1)
    steps = rods(left, left * [-1, 1, 1], 0.018, sectors=4)
    return make_prop(
        "ladder",
        [
            (rods(sides, tops, 0.018, sectors=4), pick(rng, (metal, timber, painted))(rng)),
            (steps, metal(rng)),
        ],
    )


@prop_maker(0x01CD67EE)
def broom(rng: Random) -> Prop:
    """Make a broom or mop that leans toward +z."""
    high, lean = between(rng, 0.9, 1.5), between(rng, 0.05, 0.25)
    stick = rods([[0, -0.1, -lean]], [[0, -high, lean]], 0.012, sectors=6)
    head = box([0, -0.06, -lean], [between(rng, 0.1, 0.4), 0.12, 0.06])
    return make_prop(
        "broom",
        [(stick, timber(rng)), (head, Material("bark", (0.4, 0.3, 0.15), (0.2, 0.15, 0.08), 0.01))],
    )


@prop_maker(0x1616952D)
def wheel(rng: Random) -> Prop:
    """Make a wheel with spokes that stands upright."""
    radius, count = between(rng, 0.15, 0.34), randint(rng, 8, 24)
    angle = np.arange(count) * 2 * np.pi / count
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle) - radius, 0 * angle], -1)
    spokes = rods(np.tile([[0.0, -radius, 0.0]], (count, 1)), rim, 0.0025, sectors=3)
    tire = ring([0, 0, 0], radius, radius * 0.06, sectors=28, sides=6).moved(
        [0, -radius, 0], pitch=90
    )
    return make_prop("wheel", [(tire, dark(rng)), (spokes, metal(rng))])
