"""Build tables and seats: chairs, sofas, benches, stools, tables, desks, and the legs they stand on."""

from __future__ import annotations

import numpy as np

from sightline.scenes.layout import Parts, Prop, SupportSurface, make_prop, prop_maker
from sightline.scenes.materials import (
    dark,
    fabric,
    glass,
    metal,
    painted,
    plastic,
    stone,
    timber,
    upholstery,
    white,
)
from sightline.scenes.mesh_arrays import cushion, drape, repeat_shape, ring, rods
from sightline.scenes.meshes import TriangleMesh, box, boxes, cylinder, lathe, merge, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material

#: The four corners of a rectangle as signs of (x, z), going around.
CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def four_legs(
    rng: Random,
    width: float,
    depth: float,
    height: float,
    *,
    thick: float = 0.04,
    rails: float = 0.5,
) -> TriangleMesh:
    """Make four legs under a rectangle of width × depth, sometimes with rails between.

    Args:
        rng: random generator.
        width: between the outer edges of the legs along x, [m].
        depth: the same along z.
        height: height of the top of the legs.
        thick: thickness of a leg.
        rails: how often the legs are joined below.
    """
    signs = np.array(CORNERS)
    at = signs * [(width - thick) / 2, (depth - thick) / 2]
    if chance(rng, 0.5):
        low = np.stack([at[:, 0], np.full(4, -height / 2), at[:, 1]], -1)
        legs = boxes(low, [thick, height, thick])
    else:
        splay = between(rng, 0.0, 0.12) * height if chance(rng, 0.6) else 0.0
        foot = np.stack([at[:, 0], np.zeros(4), at[:, 1]], -1)
        head = foot - np.concatenate([splay * signs, np.zeros((4, 1))], 1)[:, [0, 2, 1]]
        head[:, 1] = -height
        sectors = 4 if chance(rng, 0.3) else 7
        legs = rods(foot, head, thick * between(rng, 0.25, 0.5), thick / 2, sectors=sectors)
    if not chance(rng, rails):
        return legs
    return merge([legs, _rails(rng, at, thick * 0.6, height * between(rng, 0.15, 0.5))])


def _rails(rng: Random, at: np.ndarray, thick: float, up: float) -> TriangleMesh:
    """Make rails between legs at (4, 2) positions: all around, at the sides, or as an H."""
    style = pick(rng, ("around", "sides", "h"))
    order = {"around": (0, 1, 2, 3), "sides": (1, 3), "h": (1, 3)}[style]
    start, end = at[list(order)], at[[(k + 1) % 4 for k in order]]
    if style == "h":
        middle = (start + end) / 2
        start, end = np.concatenate([start, middle[:1]]), np.concatenate([end, middle[1:]])
    y = np.full((len(start), 1), -up)
    a, b = (np.concatenate([p[:, :1], y, p[:, 1:]], 1) for p in (start, end))
    return rods(a, b, thick / 2, sectors=5)


def hairpins(width: float, depth: float, height: float) -> TriangleMesh:
    """Make four pairs of thin rods that meet at the floor."""
    signs = np.array(CORNERS)
    foot = np.stack([signs[:, 0] * width / 2, np.zeros(4), signs[:, 1] * depth / 2], -1)
    pairs = []
    for side in ((0.12, 0.0), (0.0, 0.12)):
        head = foot * [1.0 - side[0] / width * 2, 1.0, 1.0 - side[1] / depth * 2]
        head[:, 1] = -height
        pairs.append(rods(foot, head, 0.006, sectors=5))
    return merge(pairs)


def trestles(width: float, depth: float, height: float, thick: float = 0.04) -> TriangleMesh:
    """Make two A-shaped stands at the ends of a table."""
    x = width / 2 - 0.12
    feet, heads = [], []
    for side in (-x, x):
        for z in (-depth / 2.4, depth / 2.4):
            feet.append([side, 0.0, z])
            heads.append([side, -height, -z * 0.25])
    beam = boxes([[0.0, -height * 0.45, 0.0]], [2 * x, thick, thick * 0.7])
    return merge([rods(feet, heads, thick * 0.6, sectors=4), beam])


def pedestal(rng: Random, height: float, radius: float) -> TriangleMesh:
    """Make a post on a round or star-shaped foot of this radius."""
    thin = between(rng, 0.02, 0.05)
    if chance(rng, 0.5):
        swell = [[radius, 0.0], [radius, 0.02], [thin * 1.5, 0.06], [thin, height * 0.5]]
        return lathe([*swell, [thin * 1.6, height]], sectors=16)
    return merge([star_foot(radius, thin * 0.6, rng), tube([[0, 0, 0], [0, -height, 0]], thin)])


def star_foot(radius: float, thick: float, rng: Random, arms: int = 0) -> TriangleMesh:
    """Make arms that spread from a post along the floor; three to five if not given."""
    count = arms or 3 + int(rng.random() * 3)
    angle = 2 * np.pi * np.arange(count) / count + rng.uniform(0, 6)
    end = np.stack([np.cos(angle) * radius, np.full(count, -thick), np.sin(angle) * radius], -1)
    start = np.tile([[0.0, -thick * 3.0, 0.0]], (count, 1))
    return rods(start, end, thick, thick * 0.8, sectors=6)


def sled(width: float, depth: float, height: float, thick: float = 0.012) -> TriangleMesh:
    """Make two bent tubes, one on each side, from seat to floor to seat."""
    z = depth / 2
    path = [[0.0, -height, -z], [0.0, -0.03, -z], [0.0, -0.01, -z + 0.03]]
    path += [[0.0, -0.01, z - 0.03], [0.0, -0.03, z], [0.0, -height, z]]
    one = tube(path, thick, sectors=6)
    return merge([one.moved([side * width / 2, 0.0, 0.0]) for side in (-1.0, 1.0)])


def foot_ring(height: float, radius: float, thick: float = 0.008) -> TriangleMesh:
    """Make the foot ring of a bar stool."""
    return ring([0.0, -height, 0.0], radius, thick, sectors=18, sides=5)


@prop_maker(0x9C43BD5A)
def chair(rng: Random) -> Prop:
    """Make a dining or kitchen chair: legs or a sled, a seat, and a back of slats, rods or a panel."""
    width, depth = between(rng, 0.36, 0.5), between(rng, 0.36, 0.48)
    seat, back = between(rng, 0.42, 0.48), between(rng, 0.3, 0.58)
    frame = pick(rng, (timber, timber, painted, metal))(rng)
    cover = pick(rng, (timber, painted, upholstery, plastic))(rng) if chance(rng, 0.5) else frame
    parts: Parts = []
    if chance(rng, 0.2):
        parts.append((sled(width * 0.9, depth * 0.9, seat), metal(rng)))
    else:
        thick = between(rng, 0.018, 0.045)
        parts.append((four_legs(rng, width, depth, seat, thick=thick), frame))
    if chance(rng, 0.4):
        parts.append((cushion([0, -seat, 0], [width, 0.07, depth], hard=6), cover))
    else:
        parts.append((box([0, -seat - 0.01, 0], [width, 0.025, depth]), cover))
    lean = between(rng, -0.09, -0.01)
    rest = _backrest(rng, width, back).moved([0, -seat, depth / 2 - 0.015], pitch=lean * 100)
    parts.append((rest, frame if chance(rng, 0.7) else cover))
    if chance(rng, 0.2):
        parts.append((_armrests(width, depth, seat), frame))
    return make_prop(
        "chair", parts, (SupportSurface(seat + 0.02, (-0.12, 0.12), (-0.12, 0.1), 0.4),)
    )


def _backrest(rng: Random, width: float, height: float) -> TriangleMesh:
    """Make a back that stands on y = 0 in the plane z = 0."""
    thick = between(rng, 0.015, 0.03)
    posts = boxes(
        [[side * (width - thick) / 2, -height / 2, 0.0] for side in (-1, 1)], [thick, height, thick]
    )
    style = pick(rng, ("slats", "rails", "panel", "pad", "rods", "shell"))
    inner = width - 2 * thick
    if style == "shell":
        return cushion([0, -height * 0.55, 0.01], [width, height * 0.9, 0.035], hard=4)
    if style == "panel":
        return merge([posts, box([0, -height * 0.7, 0], [inner, height * 0.5, 0.012])])
    if style == "pad":
        return merge([posts, cushion([0, -height * 0.65, 0], [inner, height * 0.6, 0.05], hard=6)])
    top = box([0, -height + thick / 2, 0], [width, thick * 1.6, thick])
    if style == "rails":
        count = randint(rng, 2, 4)
        y = -height * np.linspace(0.35, 0.85, count)
        rails = boxes(np.stack([0 * y, y, 0 * y], -1), [inner, height * 0.09, thick * 0.6])
        return merge([posts, top, rails])
    count = randint(rng, 3, 8)
    x = np.linspace(-inner / 2, inner / 2, count + 2)[1:-1]
    if style == "slats":
        centers = np.stack([x, np.full(count, -height / 2), 0 * x], -1)
        slats = boxes(centers, [inner / count * between(rng, 0.2, 0.6), height, thick * 0.5])
        return merge([posts, top, slats])
    start, end = (
        np.stack([x * f, np.full(count, y), 0 * x], -1) for f, y in ((0.8, 0), (1, -height))
    )
    return merge([posts, top, rods(start, end, 0.006, sectors=5)])


def _armrests(width: float, depth: float, seat: float) -> TriangleMesh:
    """Make two armrests on posts."""
    parts = []
    for side in (-1, 1):
        x = side * width / 2
        parts.append(box([x, -seat - 0.22, 0], [0.035, 0.02, depth * 0.9]))
        parts.append(box([x, -seat - 0.11, -depth * 0.35], [0.02, 0.22, 0.02]))
    return merge(parts)


@prop_maker(0x40A77510)
def stool(rng: Random) -> Prop:
    """Make a stool, low or as high as a bar."""
    height, radius = between(rng, 0.42, 0.8), between(rng, 0.14, 0.2)
    frame = pick(rng, (timber, metal, painted))(rng)
    parts: Parts = []
    if chance(rng, 0.3):
        parts.append((pedestal(rng, height, radius * 1.2), frame))
    else:
        legs = four_legs(rng, radius * 1.9, radius * 1.9, height, thick=0.03, rails=0.5)
        parts.append((legs, frame))
        if height > 0.6:
            parts.append((foot_ring(height * 0.4, radius * 0.85), frame))
    seat = pick(rng, (timber, upholstery, plastic))(rng)
    top = lathe(
        [[0, 0], [radius, 0], [radius, 0.03], [radius * 0.9, 0.045], [0, 0.045]], sectors=18
    )
    parts.append((top.moved([0, -height, 0]), seat))
    return make_prop("stool", parts, (SupportSurface(height + 0.045, (-0.1, 0.1), (-0.1, 0.1)),))


@prop_maker(0x169E331A)
def office_chair(rng: Random) -> Prop:
    """Make a swivel chair: star foot on castors, gas spring, padded seat and back, armrests."""
    seat, width = between(rng, 0.42, 0.55), between(rng, 0.44, 0.54)
    frame = dark(rng) if chance(rng, 0.6) else metal(rng)
    cover = upholstery(rng) if chance(rng, 0.7) else dark(rng)
    turn = np.arange(5) * 2 * np.pi / 5
    castors = np.stack([0.3 * np.cos(turn), np.full(5, -0.03), 0.3 * np.sin(turn)], -1)
    star = star_foot(0.3, 0.018, np.random.default_rng(0), arms=5)
    parts: Parts = [
        (star.moved([0, -0.05, 0]), frame),
        (repeat_shape(sphere([0, 0, 0], 0.03, sectors=8), castors), dark(rng)),
        (tube([[0, -0.08, 0], [0, -seat, 0]], 0.025), frame),
        (cushion([0, -seat - 0.03, 0], [width, 0.09, width], hard=6), cover),
    ]
    back = between(rng, 0.4, 0.75)
    rest = cushion([0, -back / 2, 0], [width * 0.9, back, 0.07], hard=5)
    parts.append((rest.moved([0, -seat - 0.12, width / 2], pitch=-8), cover))
    parts.append((tube([[0, -seat, 0.1], [0, -seat, 0.27], [0, -seat - 0.3, 0.29]], 0.02), frame))
    if chance(rng, 0.6):
        for side in (-1, 1):
            x = side * (width / 2 + 0.03)
            path = [[x * 0.7, -seat, 0], [x, -seat, 0], [x, -seat - 0.2, 0.02]]
            parts.append((tube(path, 0.014, sectors=6), frame))
            parts.append((cushion([x, -seat - 0.21, 0], [0.07, 0.03, 0.25]), frame))
    return make_prop("chair", parts)


@prop_maker(0x511DDC7F)
def sofa(rng: Random, seats: int = 0) -> Prop:
    """Make an armchair (one seat) or sofa with cushions; as many seats as given, else one to four."""
    count = seats or randint(rng, 1, 4)
    seat, depth = between(rng, 0.38, 0.48), between(rng, 0.75, 1.0)
    each, arm = between(rng, 0.55, 0.75), between(rng, 0.08, 0.26)
    inner = count * each
    width = inner + 2 * arm
    cover, hard = upholstery(rng), pick(rng, (4, 6, 8))
    leg = between(rng, 0.03, 0.16)
    front, back = -depth / 2, depth / 2
    thick = between(rng, 0.14, 0.26)
    parts: Parts = [
        (four_legs(rng, width * 0.94, depth * 0.9, leg, thick=0.05, rails=0.0), timber(rng)),
        (
            cushion(
                [0, -(leg + seat - 0.12) / 2 - leg / 2, 0], [width, seat - 0.1 - leg, depth], hard=8
            ),
            cover,
        ),
    ]
    high = seat + between(rng, 0.25, 0.5)
    spine = cushion([0, -(leg + high) / 2, back - thick / 2], [width, high - leg, thick], hard=hard)
    parts.append((spine, cover))
    arm_high = seat + between(rng, 0.08, 0.25)
    for side in (-1, 1):
        x = side * (width - arm) / 2
        size = [arm, arm_high - leg, depth]
        parts.append((cushion([x, -(leg + arm_high) / 2, 0], size, hard=hard), cover))
    places = (np.arange(count) - (count - 1) / 2) * each
    deep = depth - thick * 0.8
    for k in range(count):
        pad = [each * 0.99, 0.16, deep]
        parts.append((cushion([places[k], -seat + 0.04, front + deep / 2], pad, hard=hard), cover))
        rest = cushion([0, -0.2, 0], [each * 0.97, 0.42, 0.16], hard=4)
        at = [places[k], -seat, back - thick - 0.05]
        parts.append((rest.moved(at, pitch=-between(rng, 5, 18)), cover))
    for _ in range(randint(rng, 0, count + 1)):
        edge = between(rng, 0.3, 0.5)
        pillow = cushion([0, -edge / 2, 0], [edge, edge, 0.14], hard=4)
        at = [
            between(rng, -0.4, 0.4) * inner,
            -seat - 0.03,
            back - thick - between(rng, 0.16, 0.24),
        ]
        turn = between(rng, -30, 30)
        parts.append(
            (pillow.moved(at, pitch=-20, roll=between(rng, -20, 20), yaw=turn), fabric(rng))
        )
    if chance(rng, 0.25):
        parts.append((_throw(width * 0.4, arm_high, depth).moved([places[0], 0, 0]), fabric(rng)))
    kind = "armchair" if count == 1 else "sofa"
    top = SupportSurface(
        seat + 0.04, (-inner / 2, inner / 2), (front + 0.1, back - thick - 0.2), 0.4
    )
    return make_prop(kind, parts, (top,))


def _throw(width: float, height: float, depth: float) -> TriangleMesh:
    """Make a blanket over the front edge of the seat."""
    front = -depth / 2 - 0.012
    return merge(
        [
            cushion([0, -height * 0.45, front], [width * 0.8, height * 0.6, 0.02], hard=8),
            cushion([0, -height * 0.72, front + 0.18], [width * 0.8, 0.05, 0.4], hard=6),
        ]
    )


@prop_maker(0x5F981AFA)
def bench(rng: Random) -> Prop:
    """Make a bench of planks, with or without a back."""
    width, depth, seat = between(rng, 0.9, 2.0), between(rng, 0.28, 0.45), between(rng, 0.4, 0.48)
    wood = timber(rng)
    count = randint(rng, 1, 5)
    z = (np.arange(count) - (count - 1) / 2) * depth / count
    planks = boxes(
        np.stack([0 * z, np.full(count, -seat), z], -1), [width, 0.03, depth / count * 0.85]
    )
    frame = metal(rng) if chance(rng, 0.4) else wood
    parts: Parts = [(planks, wood), (four_legs(rng, width * 0.9, depth, seat, thick=0.05), frame)]
    if chance(rng, 0.5):
        y = -seat - np.array([0.18, 0.3, 0.42])
        rails = boxes(np.stack([0 * y, y, np.full(3, depth / 2)], -1), [width, 0.08, 0.02])
        posts = boxes(
            [[side * width * 0.42, -seat - 0.23, depth / 2 + 0.02] for side in (-1, 1)],
            [0.04, 0.48, 0.03],
        )
        parts += [(rails, wood), (posts, frame)]
    return make_prop(
        "bench", parts, (SupportSurface(seat + 0.02, (-width / 2, width / 2), (-0.1, 0.1)),)
    )


@prop_maker(0xBC23A7A0)
def pouf(rng: Random) -> Prop:
    """Make a round or square upholstered footstool."""
    size, height = between(rng, 0.35, 0.6), between(rng, 0.25, 0.45)
    if chance(rng, 0.5):
        body = cushion([0, -height / 2, 0], [size, height, size], hard=pick(rng, (4, 6)))
    else:
        body = cylinder([0, 0, 0], size / 2, height, sectors=20)
    return make_prop(
        "stool", [(body, upholstery(rng))], (SupportSurface(height, (-0.1, 0.1), (-0.1, 0.1)),)
    )


@prop_maker(0x6A8243BE)
def table(
    rng: Random,
    *,
    width: tuple[float, float] = (0.8, 2.2),
    depth: tuple[float, float] = (0.6, 1.1),
    height: tuple[float, float] = (0.68, 0.78),
) -> Prop:
    """Make a table of a size from these ranges in [m], round in about one case of four."""
    wide, deep, high = between(rng, *width), between(rng, *depth), between(rng, *height)
    board = table_top(rng)
    thick = between(rng, 0.008, 0.02) if board.clear else between(rng, 0.018, 0.06)
    frame = (
        board if chance(rng, 0.5) and not board.clear else pick(rng, (timber, metal, painted))(rng)
    )
    if chance(rng, 0.27):
        wide = deep = min(wide, deep * 1.2)
        plate = _disc(wide / 2, thick).moved([0, -high + thick, 0])
        inner = wide * 0.35
    else:
        plate = box([0, -high + thick / 2, 0], [wide, thick, deep])
        inner = wide / 2 - 0.05
    parts: Parts = [(plate, board), (_stand(rng, wide, deep, high - thick), frame)]
    if chance(rng, 0.08):
        parts.append((_table_cloth(rng, wide, deep, high), painted(rng)))
    top = SupportSurface(high, (-inner, inner), (-deep / 2 + 0.05, deep / 2 - 0.05), 1.0)
    return make_prop("table", parts, (top,))


def table_top(rng: Random) -> Material:
    """Draw what the board is made of."""
    return pick(rng, (timber, timber, timber, timber, painted, white, stone, glass))(rng)


def _disc(radius: float, thick: float) -> TriangleMesh:
    """Make a round board standing on y = 0."""
    edge = min(thick * 0.3, 0.006)
    profile = [[0, 0], [radius, 0], [radius, thick - edge], [radius - edge, thick], [0, thick]]
    return lathe(profile, sectors=28)


def _stand(rng: Random, wide: float, deep: float, high: float) -> TriangleMesh:
    """Make what the board rests on."""
    style = pick(rng, ("legs", "legs", "legs", "trestles", "pedestal", "hairpins"))
    if style == "trestles" and wide > 1.0:
        return trestles(wide, deep, high)
    if style == "pedestal" and wide < 1.2:
        return pedestal(rng, high, wide * 0.3)
    if style == "hairpins":
        return hairpins(wide * 0.9, deep * 0.85, high)
    inset = between(rng, 0.0, 0.12)
    wide, deep = wide - inset, deep - inset
    if wide == deep:
        wide = deep = wide * 0.68
    legs = four_legs(rng, wide, deep, high, thick=between(rng, 0.03, 0.09), rails=0.2)
    if not chance(rng, 0.5):
        return legs
    y, apron = -high + 0.05, between(rng, 0.05, 0.1)
    sides = boxes(
        [[0, y, -deep / 2 + 0.02], [0, y, deep / 2 - 0.02], [-wide / 2, y, 0], [wide / 2, y, 0]],
        [[wide, apron, 0.02], [wide, apron, 0.02], [0.02, apron, deep], [0.02, apron, deep]],
    )
    return merge([legs, sides])


def _table_cloth(rng: Random, wide: float, deep: float, high: float) -> TriangleMesh:
    """Make a table cloth: a thin cover with hanging edges."""
    fall = between(rng, 0.12, 0.35)
    cover = box([0, -high - 0.002, 0], [wide + 0.02, 0.003, deep + 0.02])
    edges = [cover]
    for side in (-1, 1):
        hang = drape(rng, wide + 0.03, fall, folds=wide * 5, deep=0.012)
        edges.append(hang.moved([0, -high + fall, side * (deep / 2 + 0.02)]))
        hang = drape(rng, deep + 0.03, fall, folds=deep * 5, deep=0.012)
        edges.append(hang.moved([side * (wide / 2 + 0.02), -high + fall, 0], yaw=90))
    return merge(edges)


@prop_maker(0xA7A475A2)
def desk(rng: Random) -> Prop:
    """Make a desk: board on legs or on a chest of drawers, sometimes with a shelf above."""
    wide, deep, high = between(rng, 1.0, 1.8), between(rng, 0.5, 0.8), between(rng, 0.7, 0.77)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    frame = metal(rng) if chance(rng, 0.4) else wood
    parts: Parts = [(box([0, -high + 0.015, 0], [wide, 0.03, deep]), wood)]
    parts.append((four_legs(rng, wide * 0.97, deep * 0.95, high - 0.03, thick=0.045), frame))
    if chance(rng, 0.6):
        chest, side = between(rng, 0.35, 0.45), pick(rng, (-1, 1))
        x = side * (wide / 2 - chest / 2 - 0.04)
        parts += drawers_front(rng, chest, high - 0.1, deep * 0.9, randint(rng, 2, 4), wood, x)
    if chance(rng, 0.4):
        rail = boxes([[0, -high * 0.7, deep / 2 - 0.02]], [wide * 0.95, high * 0.4, 0.015])
        parts.append((rail, wood))
    if chance(rng, 0.3):
        up = between(rng, 0.25, 0.45)
        x = wide / 2 - 0.02
        posts = rods(
            [[-x, -high, 0.2], [x, -high, 0.2]],
            [[-x, -high - up, 0.2], [x, -high - up, 0.2]],
            0.012,
        )
        parts += [(posts, frame), (box([0, -high - up, 0.2], [wide, 0.02, 0.2]), wood)]
    top = SupportSurface(
        high, (-wide / 2 + 0.08, wide / 2 - 0.08), (-deep / 2 + 0.08, deep / 2 - 0.1), 0.8
    )
    return make_prop("desk", parts, (top,))


def drawers_front(
    rng: Random,
    width: float,
    height: float,
    depth: float,
    count: int,
    wood: Material,
    x: float = 0.0,
) -> Parts:
    """Make a chest with `count` drawers: body, fronts a little apart, and handles."""
    body = box([x, -height / 2 - 0.02, 0.01], [width, height - 0.02, depth - 0.02])
    each = (height - 0.04) / count
    y = -0.04 - each * (np.arange(count) + 0.5)
    z = np.full(count, -depth / 2)
    fronts = boxes(np.stack([x + 0 * y, y, z], -1), [width - 0.01, each - 0.012, 0.02])
    knob = [width * between(rng, 0.08, 0.6), 0.012, 0.02]
    handles = boxes(np.stack([x + 0 * y, y - each * 0.15, z - 0.02], -1), knob)
    front = wood if chance(rng, 0.75) else painted(rng)
    return [(body, wood), (fronts, front), (handles, metal(rng))]


@prop_maker(0x5939C37E)
def coffee_table(rng: Random) -> Prop:
    """Make a low table, sometimes with a lower shelf."""
    low = table(rng, width=(0.5, 1.3), depth=(0.4, 0.75), height=(0.3, 0.5))
    wide, high, deep = low.size
    if chance(rng, 0.3):
        shelf = box([0, -high * 0.35, 0], [wide * 0.8, 0.015, deep * 0.8])
        return make_prop("table", [*low.parts, (shelf, low.parts[0][1])], low.tops)
    return low


@prop_maker(0xF9BC70FA)
def bedside(rng: Random) -> Prop:
    """Make a bedside table: a small chest, or a small table."""
    if chance(rng, 0.3):
        return table(rng, width=(0.35, 0.5), depth=(0.35, 0.45), height=(0.45, 0.6))
    width, height, depth = (
        between(rng, 0.35, 0.5),
        between(rng, 0.4, 0.65),
        between(rng, 0.32, 0.42),
    )
    wood = timber(rng)
    parts = drawers_front(rng, width, height, depth, randint(rng, 1, 3), wood)
    parts.append((box([0, -height, 0], [width + 0.02, 0.02, depth + 0.02]), wood))
    x, z = width / 2 - 0.04, depth / 2 - 0.04
    return make_prop("cabinet", parts, (SupportSurface(height + 0.01, (-x, x), (-z, z)),))
