"""Build street furniture: lamp posts, signs, traffic lights, bins, benches, bollards, planters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from sightline.scenes.mesh_arrays import box_array, rods
from sightline.scenes.meshes import TriangleMesh, cylinder, lathe, merge, sphere
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Material, PartModel, Point, WorldBuilder, as_color, make_model

#: Shapes under the roles that choose their materials.
RoleParts = list[tuple[str, TriangleMesh]]


def bollard(rng: Random) -> RoleParts:
    """Make a short post with a bright ring."""
    high = between(rng, 0.6, 1.1)
    post = cylinder([0, 0, 0], 0.07, high, top=0.06, sectors=8)
    return [("metal", post), ("lamp", cylinder([0, -high * 0.85, 0], 0.073, 0.06, sectors=8))]


def cone(_: Random) -> RoleParts:
    """Make a traffic cone."""
    body = cylinder([0, -0.03, 0], 0.15, 0.6, top=0.025, sectors=10)
    ring = cylinder([0, -0.3, 0], 0.1, 0.12, top=0.08, sectors=10)
    return [("red", body), ("lamp", ring), ("black", box_array([[0, -0.015, 0]], [0.4, 0.03, 0.4]))]


def hydrant(_: Random) -> RoleParts:
    """Make a hydrant."""
    line = [
        [0.14, 0], [0.14, 0.05], [0.1, 0.06], [0.1, 0.55], [0.13, 0.58], [0.09, 0.72], [0, 0.78],
    ]  # fmt: skip
    arms = rods([[-0.2, -0.45, 0]], [[0.2, -0.45, 0]], 0.055, sectors=8)
    return [("paint", merge([lathe(line, sectors=12), arms]))]


def utility_box(rng: Random) -> RoleParts:
    """Make a post box, parking meter or cabinet."""
    wide, high, deep = rng.uniform([0.3, 0.6, 0.25], [1.3, 1.5, 0.5])
    foot = float(rng.choice([0.0, 0.6]))
    body = box_array([[0, -foot - high / 2, 0]], [wide, high, deep])
    post = box_array([[0, -foot / 2, 0]], [0.1, foot + 0.02, 0.1])
    return [
        ("paint", body),
        ("metal", post),
        ("face", box_array([[0, -foot - high * 0.65, -deep / 2]], [wide * 0.6, high * 0.3, 0.02])),
    ]


def planter(rng: Random) -> RoleParts:
    """Make a tub of stone; the caller puts a plant into it."""
    wide, high = between(rng, 0.5, 1.4), between(rng, 0.4, 0.7)
    if rng.random() < 0.5:
        return [
            (
                "stone",
                lathe(
                    [
                        [0, 0], [wide / 2, 0], [wide * 0.62, high], [wide * 0.5, high],
                        [wide * 0.48, high - 0.06], [0, high - 0.06],
                    ],
                    sectors=14,
                ),
            )
        ]  # fmt: skip
    return [("stone", box_array([[0, -high / 2, 0]], [wide, high, wide]))]


#: Different ones of each sort there are.
STREET_VARIANTS = 5


def add_street_object(
    builder: WorldBuilder, rng: Random, sort: str, place: Point, yaw: float, *, dark: bool = False
) -> float:
    """Put a street object (one of `STREET_OBJECTS`) at `place`, facing −z turned by `yaw`.

    Returns its height, [m].
    """
    made = street_object(sort, int(rng.integers(STREET_VARIANTS)))
    with builder.instance(_INSTANCE_NAMES.get(sort, sort)):
        made.place(builder, _street_materials(rng, dark), place, yaw=yaw)
    return float(-made.shape.vertices[:, 1].min())


@cache
def street_object(sort: str, variant: int) -> PartModel:
    """Return a street object model; roles are those of `_street_materials`."""
    rng = np.random.default_rng([43, STREET_OBJECTS.index(sort), variant % STREET_VARIANTS])
    return make_model(_STREET_MAKERS[sort](rng))


def _street_materials(rng: Random, dark: bool) -> dict[str, Material]:
    """Choose a material for each role."""
    tone = float(rng.choice([0.02, 0.12, 0.35, 0.5]))
    tint = as_color(rng.uniform(0.02, 0.75, 3))
    seed = int(rng.integers(1 << 16))
    vivid = [
        (0.6, 0.03, 0.03), (0.03, 0.12, 0.5), (0.7, 0.6, 0.05), (0.75, 0.75, 0.75),
        (0.03, 0.3, 0.12),
    ]  # fmt: skip
    return {
        "metal": Material(tint=(tone, tone, tone * 1.03), gloss=0.4),
        "paint": Material(tint=tint, gloss=0.3),
        "wood": Material("planks", (0.36, 0.24, 0.14), (0.2, 0.13, 0.08), 0.12, seed),
        "stone": Material("noise", (0.45, 0.44, 0.42), (0.32, 0.31, 0.3), 0.4, seed),
        "black": Material(tint=(0.02, 0.02, 0.02), gloss=0.2),
        "face": Material(
            "print", vivid[rng.integers(5)], (0.8, 0.8, 0.8), 0.5, seed, glow=0.2 if dark else 0.0
        ),
        "poster": Material(
            "photo", (0.8, 0.8, 0.8), scale=1.2, photo=seed, glow=0.8 if dark else 0.0
        ),
        "glass": Material(tint=(0.6, 0.7, 0.7), gloss=0.8, clear=0.75),
        "lamp": Material(tint=(0.95, 0.9, 0.75), glow=3.0 if dark else 0.0, gloss=0.3),
        "red": Material(tint=(0.8, 0.05, 0.03), glow=1.5 if rng.random() < 0.5 else 0.0),
        "green": Material(tint=(0.05, 0.6, 0.25), glow=1.2 if rng.random() < 0.5 else 0.0),
    }


def _lamp_post(rng: Random) -> RoleParts:
    """Make a post with an arm and a head, or an old lantern."""
    tall = between(rng, 3.5, 9.0)
    post = cylinder([0, 0, 0], 0.075, tall, top=0.045, sectors=8)
    foot = cylinder([0, 0, 0], 0.12, rng.uniform(0.4, 1.1), sectors=8)
    if tall < 5:
        cage = lathe(
            [[0.08, tall], [0.2, tall + 0.5], [0.05, tall + 0.7], [0, tall + 0.75]], sectors=6
        )
        glow = lathe([[0.05, tall + 0.05], [0.15, tall + 0.45]], sectors=6)
        return [("metal", merge([post, foot])), ("metal", cage), ("lamp", glow)]
    reach = between(rng, 0.6, 2.2)
    line = np.array([[0, -tall, 0], [0, -tall - 0.25, -reach * 0.4], [0, -tall - 0.3, -reach]])
    arm = rods(line[:-1], line[1:], 0.04, 0.035, sectors=6)
    head = box_array([[0, -tall - 0.32, -reach - 0.2]], [0.26, 0.12, 0.6])
    glow = box_array([[0, -tall - 0.25, -reach - 0.25]], [0.2, 0.03, 0.4])
    return [("metal", merge([post, foot, arm, head])), ("lamp", glow)]


def _sign(rng: Random) -> RoleParts:
    """Make a traffic sign: disc, triangle, square or octagon, one or two on a post."""
    tall = between(rng, 2.0, 3.2)
    parts: RoleParts = [("metal", cylinder([0, 0, 0], 0.035, tall, sectors=6))]
    top = tall - 0.1
    for _ in range(int(rng.integers(1, 3))):
        size = between(rng, 0.27, 0.4)
        corners = int(rng.choice([3, 4, 8, 16]))
        plate = lathe([[0, 0], [size, 0], [size, 0.012], [0, 0.012]], sectors=corners)
        spin = 180 / corners if corners in (4, 8) else 90.0
        flat = plate.moved(yaw=spin).moved([0, -top, -0.04], pitch=90)
        rim = plate.moved(yaw=spin, scale=(1.12, 0.6, 1.12)).moved([0, -top, -0.035], pitch=90)
        parts += [("face", flat), ("metal", rim)]
        top -= 2 * size + 0.05
    return parts


def _panel(rng: Random) -> RoleParts:
    """Make a large board on two posts: directions or advertising."""
    wide, high = between(rng, 1.2, 4.0), between(rng, 0.8, 2.4)
    foot = between(rng, 0.6, 2.4)
    posts = rods(
        [[-wide * 0.35, 0, 0], [wide * 0.35, 0, 0]],
        [[-wide * 0.35, -foot - high, 0], [wide * 0.35, -foot - high, 0]], 0.05, sectors=6,
    )  # fmt: skip
    board = box_array([[0, -foot - high / 2, -0.08]], [wide, high, 0.06])
    return [("metal", posts), ("poster" if rng.random() < 0.6 else "face", board)]


def _traffic_light(rng: Random) -> RoleParts:
    """Make a traffic light on a post or on an arm over the road."""
    tall = between(rng, 2.3, 3.2)
    at = np.array([0.0, -tall, -0.12])
    posts = [cylinder([0, 0, 0], 0.06, tall + 0.5, sectors=8)]
    boxes_at = [at]
    if rng.random() < 0.5:
        reach = between(rng, 2.5, 5.0)
        high = 5.2
        posts = [cylinder([0, 0, 0], 0.09, high, sectors=8)]
        posts.append(rods([[0, -high + 0.1, 0]], [[-reach, -high - 0.1, 0]], 0.05, sectors=6))
        boxes_at.append(np.array([-reach, -high + 0.35, -0.12]))
    cases = box_array(boxes_at, [0.3, 0.9, 0.22])
    shade = box_array(boxes_at, [0.55, 1.15, 0.02])
    parts: RoleParts = [("metal", merge(posts)), ("black", merge([cases, shade]))]
    for role, up in (("red", 0.28), ("lamp", 0.0), ("green", -0.28)):
        eyes = [sphere(p - [0, up, 0.1], 0.09, sectors=6) for p in boxes_at]
        parts.append((role, merge(eyes)))
    return parts


def _bin(rng: Random) -> RoleParts:
    """Make a litter bin or a wheeled one."""
    if rng.random() < 0.5:
        high = between(rng, 0.7, 1.0)
        can = cylinder([0, 0, 0], 0.22, high, top=0.26, sectors=12)
        return [("paint", can), ("black", cylinder([0, -high, 0], 0.24, 0.03, sectors=12))]
    wide, high = between(rng, 0.45, 1.2), between(rng, 0.95, 1.25)
    deep = between(rng, 0.5, 0.9)
    body = box_array([[0, -high / 2 - 0.08, 0]], [wide, high - 0.16, deep])
    lid = box_array([[0, -high, 0]], [wide * 1.06, 0.08, deep * 1.08])
    wheels = rods([[-wide / 2, -0.1, deep / 2]], [[wide / 2, -0.1, deep / 2]], 0.1, sectors=8)
    return [("paint", merge([body, lid])), ("black", wheels)]


def _bench(rng: Random) -> RoleParts:
    """Make a bench of slats on two iron sides, with or without a back."""
    long = between(rng, 1.2, 2.2)
    z = np.linspace(-0.2, 0.2, 4)
    slats = [[0, -0.45, k] for k in z]
    size = [[long, 0.035, 0.1]] * 4
    if rng.random() < 0.75:
        slats += [[0, -0.62, 0.26], [0, -0.8, 0.3]]
        size += [[long, 0.11, 0.03]] * 2
    legs = []
    for x in (-long * 0.4, long * 0.4):
        legs += [
            ([x, 0, -0.2], [x, -0.45, -0.18]), ([x, 0, 0.24], [x, -0.85, 0.3]),
            ([x, -0.43, -0.22], [x, -0.43, 0.26]), ([x, -0.65, -0.2], [x, -0.65, 0.26]),
        ]  # fmt: skip
    iron = rods([a for a, _ in legs], [b for _, b in legs], 0.022, sectors=5)
    return [("wood", box_array(slats, size)), ("metal", iron)]


_STREET_MAKERS: dict[str, Callable[[Random], RoleParts]] = {
    "lamp_post": _lamp_post, "sign": _sign, "panel": _panel, "traffic_light": _traffic_light,
    "bin": _bin, "bench": _bench, "bollard": bollard, "cone": cone, "hydrant": hydrant,
    "box": utility_box, "planter": planter,
}  # fmt: skip
STREET_OBJECTS = tuple(_STREET_MAKERS)
_INSTANCE_NAMES = {"lamp_post": "street lamp", "panel": "sign", "traffic_light": "traffic light"}
