"""What stands about in streets: lamps, signs, traffic lights, bins, benches, bollards, shelters.

Each is a `Model` on the ground at the origin that faces −z, made once per variant; `add_thing` chooses,
colours and places one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from sightline.scenes.parts.kerbside import Parts, bollard, box, cone, hydrant, planter
from sightline.scenes.parts.many import boxes, rods
from sightline.scenes.parts.models import Model, model
from sightline.scenes.shapes import cylinder, lathe, merge, sphere
from sightline.scenes.world import Builder, Material

#: Different ones of each sort there are.
VARIANTS = 5


def add_thing(
    builder: Builder,
    rng: np.random.Generator,
    sort: str,
    place: tuple[float, float, float],
    yaw: float,
    *,
    dark: bool = False,
) -> float:
    """Put a thing of the named sort (see `SORTS`) at `place` facing −z turned by `yaw` [degrees].

    Returns its height, [m].
    """
    made = thing(sort, int(rng.integers(VARIANTS)))
    with builder.thing(_NAMES.get(sort, sort)):
        made.place(builder, _paints(rng, dark), place, yaw=yaw)
    return float(-made.shape.vertices[:, 1].min())


@cache
def thing(sort: str, variant: int) -> Model:
    """Give a thing; roles are those of `_paints`."""
    rng = np.random.default_rng([43, SORTS.index(sort), variant % VARIANTS])
    return model(_MAKERS[sort](rng))


def _paints(rng: np.random.Generator, dark: bool) -> dict[str, Material]:
    """Choose a material for each role."""
    tone = float(rng.choice([0.02, 0.12, 0.35, 0.5]))
    r, g, b = (float(c) for c in rng.uniform(0.02, 0.75, 3))
    seed = int(rng.integers(1 << 16))
    vivid = [
        (0.6, 0.03, 0.03),
        (0.03, 0.12, 0.5),
        (0.7, 0.6, 0.05),
        (0.75, 0.75, 0.75),
        (0.03, 0.3, 0.12),
    ]
    return {
        "metal": Material(tint=(tone, tone, tone * 1.03), gloss=0.4),
        "paint": Material(tint=(r, g, b), gloss=0.3),
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


def _lamp_post(rng: np.random.Generator) -> Parts:
    """Make a post with an arm and a head, or an old lantern."""
    tall = float(rng.uniform(3.5, 9.0))
    post = cylinder([0, 0, 0], 0.075, tall, top=0.045, sectors=8)
    foot = cylinder([0, 0, 0], 0.12, rng.uniform(0.4, 1.1), sectors=8)
    if tall < 5:
        cage = lathe(
            [[0.08, tall], [0.2, tall + 0.5], [0.05, tall + 0.7], [0, tall + 0.75]], sectors=6
        )
        glow = lathe([[0.05, tall + 0.05], [0.15, tall + 0.45]], sectors=6)
        return [("metal", merge([post, foot])), ("metal", cage), ("lamp", glow)]
    reach = float(rng.uniform(0.6, 2.2))
    line = np.array([[0, -tall, 0], [0, -tall - 0.25, -reach * 0.4], [0, -tall - 0.3, -reach]])
    arm = rods(line[:-1], line[1:], 0.04, 0.035, sectors=6)
    head = boxes([[0, -tall - 0.32, -reach - 0.2]], [0.26, 0.12, 0.6])
    glow = boxes([[0, -tall - 0.25, -reach - 0.25]], [0.2, 0.03, 0.4])
    return [("metal", merge([post, foot, arm, head])), ("lamp", glow)]


def _sign(rng: np.random.Generator) -> Parts:
    """Make a traffic sign: disc, triangle, square or octagon, one or two on a post."""
    tall = float(rng.uniform(2.0, 3.2))
    parts: Parts = [("metal", cylinder([0, 0, 0], 0.035, tall, sectors=6))]
    top = tall - 0.1
    for _ in range(int(rng.integers(1, 3))):
        size = float(rng.uniform(0.27, 0.4))
        corners = int(rng.choice([3, 4, 8, 16]))
        plate = lathe([[0, 0], [size, 0], [size, 0.012], [0, 0.012]], sectors=corners)
        spin = 180 / corners if corners in (4, 8) else 90.0
        flat = plate.moved(yaw=spin).moved([0, -top, -0.04], pitch=90)
        rim = plate.moved(yaw=spin, scale=(1.12, 0.6, 1.12)).moved([0, -top, -0.035], pitch=90)
        parts += [("face", flat), ("metal", rim)]
        top -= 2 * size + 0.05
    return parts


def _panel(rng: np.random.Generator) -> Parts:
    """Make a large board on two posts: directions or advertising."""
    wide, high = float(rng.uniform(1.2, 4.0)), float(rng.uniform(0.8, 2.4))
    foot = float(rng.uniform(0.6, 2.4))
    posts = rods(
        [[-wide * 0.35, 0, 0], [wide * 0.35, 0, 0]],
        [[-wide * 0.35, -foot - high, 0], [wide * 0.35, -foot - high, 0]], 0.05, sectors=6,
    )  # fmt: skip
    board = boxes([[0, -foot - high / 2, -0.08]], [wide, high, 0.06])
    return [("metal", posts), ("poster" if rng.random() < 0.6 else "face", board)]


def _traffic_light(rng: np.random.Generator) -> Parts:
    """Three lights in a black box, on a post or on an arm over the road."""
    tall = float(rng.uniform(2.3, 3.2))
    at = np.array([0.0, -tall, -0.12])
    posts = [cylinder([0, 0, 0], 0.06, tall + 0.5, sectors=8)]
    boxes_at = [at]
    if rng.random() < 0.5:
        reach = float(rng.uniform(2.5, 5.0))
        high = 5.2
        posts = [cylinder([0, 0, 0], 0.09, high, sectors=8)]
        posts.append(rods([[0, -high + 0.1, 0]], [[-reach, -high - 0.1, 0]], 0.05, sectors=6))
        boxes_at.append(np.array([-reach, -high + 0.35, -0.12]))
    cases = boxes(boxes_at, [0.3, 0.9, 0.22])
    shade = boxes(boxes_at, [0.55, 1.15, 0.02])
    parts: Parts = [("metal", merge(posts)), ("black", merge([cases, shade]))]
    for role, up in (("red", 0.28), ("lamp", 0.0), ("green", -0.28)):
        eyes = [sphere(p - [0, up, 0.1], 0.09, sectors=6) for p in boxes_at]
        parts.append((role, merge(eyes)))
    return parts


def _bin(rng: np.random.Generator) -> Parts:
    """Make a litter bin or a wheeled one."""
    if rng.random() < 0.5:
        high = float(rng.uniform(0.7, 1.0))
        can = cylinder([0, 0, 0], 0.22, high, top=0.26, sectors=12)
        return [("paint", can), ("black", cylinder([0, -high, 0], 0.24, 0.03, sectors=12))]
    wide, high = float(rng.uniform(0.45, 1.2)), float(rng.uniform(0.95, 1.25))
    deep = float(rng.uniform(0.5, 0.9))
    body = boxes([[0, -high / 2 - 0.08, 0]], [wide, high - 0.16, deep])
    lid = boxes([[0, -high, 0]], [wide * 1.06, 0.08, deep * 1.08])
    wheels = rods([[-wide / 2, -0.1, deep / 2]], [[wide / 2, -0.1, deep / 2]], 0.1, sectors=8)
    return [("paint", merge([body, lid])), ("black", wheels)]


def _bench(rng: np.random.Generator) -> Parts:
    """Slats on two iron sides, with or without a back."""
    long = float(rng.uniform(1.2, 2.2))
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
    return [("wood", boxes(slats, size)), ("metal", iron)]


_MAKERS: dict[str, Callable[[np.random.Generator], Parts]] = {
    "lamp_post": _lamp_post,
    "sign": _sign,
    "panel": _panel,
    "traffic_light": _traffic_light,
    "bin": _bin,
    "bench": _bench,
    "bollard": bollard,
    "cone": cone,
    "hydrant": hydrant,
    "box": box,
    "planter": planter,
}
SORTS = tuple(_MAKERS)
_NAMES = {"lamp_post": "street lamp", "panel": "sign", "traffic_light": "traffic light"}
