"""Build cars, vans, pick-ups, trucks, buses, bicycles and motorcycles: one model per variant.

A vehicle stands on y = 0 with its middle at the origin and drives toward +z; `size` is (width, height,
length) in [m], `detail` 0 close by to 2 far away. The body is a surface over cross-sections whose upper
and lower lines make the silhouette; the cabin is glass between pillars.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, polygon, quads, rods, surface_from_grid
from sightline.scenes.meshes import TriangleMesh, lathe, merge, sphere
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


def vehicle_body(size: Floats, line: tuple[tuple[float, float], ...], detail: int) -> TriangleMesh:
    """Make the body below the windows."""
    width, height, length = size
    knots = np.array(line)
    stations = np.linspace(0, 1, (14, 9, 2)[detail])
    t = np.unique(np.concatenate([stations, knots[:, 0]]))
    top = np.interp(t, knots[:, 0], knots[:, 1]) * height
    low = np.interp(t, [0, 0.08, 0.92, 1], [0.2, 0.13, 0.13, 0.2]) * height
    half = np.interp(t, [0, 0.04, 0.2, 0.85, 0.97, 1], [0.8, 0.93, 1, 1, 0.93, 0.84]) * width / 2
    across = np.array([-0.9, -0.98, -1, -0.95, -0.82, 0, 0.82, 0.95, 1, 0.98, 0.9])
    level = np.array([0, 0.2, 0.6, 0.88, 1, 1.04, 1, 0.88, 0.6, 0.2, 0])
    if detail == 2:
        across, level = across[[0, 2, 4, 6, 8, 10]], level[[0, 2, 4, 6, 8, 10]]
    x = half[:, None] * across
    y = -(low[:, None] + (top - low)[:, None] * level)
    z = np.broadcast_to(((0.5 - t) * length)[:, None], x.shape)
    grid = np.stack([x, y, z], -1)
    ends = [grid[k].mean(0) + np.zeros_like(grid[k]) for k in (0, -1)]
    return surface_from_grid(np.concatenate([ends[0][None], grid, ends[1][None]]))


def vehicle_cabin(
    size: Floats, spots: list[float], belt: float, detail: int, *, closed: bool
) -> list[tuple[str, TriangleMesh]]:
    """Make windows, pillars and roof between four positions along the length."""
    width, height, length = size
    w, r = width * 0.46, width * 0.36
    front, roof_front, roof_rear, rear = ((0.5 - s) * length for s in spots)
    top = height - 0.04
    low = [[-w, -belt, front], [w, -belt, front], [w, -belt, rear], [-w, -belt, rear]]
    high = [
        [-r, -top, roof_front], [r, -top, roof_front], [r, -top, roof_rear], [-r, -top, roof_rear],
    ]  # fmt: skip
    lower, upper = np.array(low), np.array(high)
    panes = [polygon(np.stack([lower[k], lower[k - 3], upper[k - 3], upper[k]])) for k in range(4)]
    posts = rods(lower, upper, 0.045, 0.04, sectors=4)
    mid = [0.45] if detail else [0.42, 0.78]
    for share in () if closed else mid:
        for side in ((0, 3), (1, 2)):
            a = lower[side[0]] * (1 - share) + lower[side[1]] * share
            b = upper[side[0]] * (1 - share) + upper[side[1]] * share
            posts = merge([posts, rods(a[None], b[None], 0.04, 0.035, sectors=4)])
    x = np.linspace(-1, 1, 5)
    z = np.linspace(roof_front + 0.06, roof_rear - 0.06, 4 - detail)
    crown = 0.05 * (1 - x**2) - 0.02 * (np.abs(x) > 0.9)
    gx, gz = np.meshgrid(x * (r + 0.03), z)
    roof = surface_from_grid(np.stack([gx, -(top + np.broadcast_to(crown, gx.shape)), gz], -1))
    glass = [("glass", p) for p in panes]
    if closed:
        glass = [("glass", panes[0]), *(("paint", p) for p in panes[1:])]
        share = 0.25
        for side, k in (((0, 3), -1), ((1, 2), 1)):
            a, d = lower[side[0]], upper[side[0]]
            b = lower[side[0]] * (1 - share) + lower[side[1]] * share
            c = upper[side[0]] * (1 - share) + upper[side[1]] * share
            pane = np.stack([a, b, c, d]) + np.array([k * 0.012, 0.0, -0.1])
            glass.append(("glass", polygon(pane)))
    return [*glass, ("paint", posts), ("paint", roof)]


def vehicle_wheels(
    width: float, axles: tuple[float, ...], radius: float, detail: int
) -> list[tuple[str, TriangleMesh]]:
    """Make a wheel at each end of each axle, with the dark arch above it."""
    sectors = (16, 11, 8)[detail]
    tread = (
        [[0.6, 0], [0.95, 0], [1, 0.1], [1, 0.6]] if detail < 2 else [[0.6, 0], [1, 0], [1, 0.6]]
    )
    tire = lathe(np.array(tread) * radius, sectors=sectors)
    dish = (
        [[0.62, 0.03], [0.5, 0.06], [0.15, 0.0], [0, 0.0]]
        if detail < 1
        else [[0.62, 0.02], [0, 0.0]]
    )
    rim = lathe(np.array(dish) * radius, sectors=sectors)
    angle = np.linspace(0, np.pi, 9 if detail < 2 else 5)
    arch = np.stack([0 * angle, -np.sin(angle), np.cos(angle)], -1) * radius * 1.16
    spokes = rods(
        np.zeros((5, 3)),
        np.stack([np.sin(t := np.arange(5) * 1.2566), 0 * t, np.cos(t)], -1) * radius * 0.6,
        0.03, 0.05, sectors=3,
    )  # fmt: skip
    parts = []
    for z in axles:
        for side in (-1.0, 1.0):
            turn = {"roll": -90.0 * side}
            at = [side * (width / 2 + 0.012), -radius, z]
            parts.append(("tire", tire.moved(at, **turn)))
            parts.append(("trim" if detail == 0 else "rim", rim.moved(at, **turn)))
            if detail == 0:
                parts.append(("rim", spokes.moved(at, **turn)))
            parts.append(
                ("trim", polygon(arch + np.array([side * (width / 2 + 0.006), -radius, z])))
            )
    return parts


def vehicle_trim(
    size: Floats, bonnet: float, belt: float, detail: int
) -> list[tuple[str, TriangleMesh]]:
    """Make lamps, plates, bumpers and mirrors."""
    width, _, length = size
    x, front, rear = width * 0.36, length / 2 - 0.02, -length / 2 + 0.03
    parts = [
        (
            "lamp",
            box_array(
                [[-x, -bonnet * 0.9, front - 0.05], [x, -bonnet * 0.9, front - 0.05]],
                [0.3, 0.13, 0.12],
                sides="xXyZ",
            ),
        ),
        (
            "rear",
            box_array(
                [[-x, -belt * 0.85, rear + 0.02], [x, -belt * 0.85, rear + 0.02]],
                [0.24, 0.16, 0.1],
                sides="xXyz",
            ),
        ),
        (
            "plate",
            box_array(
                [[0, -0.45, front + 0.03], [0, -belt * 0.62, rear - 0.03]],
                [0.5, 0.11, 0.02],
                sides="zZ",
            ),
        ),
        (
            "trim",
            box_array(
                [[0, -0.3, front - 0.02], [0, -0.34, rear + 0.02]], [width * 0.86, 0.12, 0.12]
            ),
        ),
    ]
    if detail < 2:
        at = np.array([[-1, 0, 0], [1, 0, 0]]) * (width / 2 + 0.06) + [
            0,
            -belt - 0.08,
            length * 0.18,
        ]
        parts.append(("paint", box_array(at, [0.18, 0.13, 0.1])))
        parts.append(("trim", box_array([[0, -bonnet * 0.72, front]], [width * 0.5, 0.12, 0.05])))
        seam = np.array([[-1, 0, 0], [1, 0, 0]]) * width / 2 + [0, -belt * 0.66, 0]
        parts.append(("trim", box_array(seam, [0.012, belt * 0.55, 0.015], sides="xX")))
        parts.append(
            ("trim", box_array(seam + np.array([0, -0.12, -0.18]), [0.03, 0.03, 0.16], sides="xX"))
        )
    return parts


#: Different ones of each sort there are.
VEHICLE_VARIANTS = 6

#: Upper line of the body as (share of the length from the front, share of the height), and where the
#: windscreen starts, the roof starts, the roof ends, the rear window ends.
_OUTLINES: dict[str, tuple[tuple[tuple[float, float], ...], tuple[float, float, float, float]]] = {
    "hatchback": (
        ((0, 0.38), (0.03, 0.46), (0.27, 0.6), (0.97, 0.62), (1, 0.45)),
        (0.25, 0.42, 0.9, 0.99),
    ),
    "saloon": (
        ((0, 0.38), (0.03, 0.47), (0.3, 0.6), (0.8, 0.65), (0.98, 0.62), (1, 0.45)),
        (0.28, 0.43, 0.72, 0.86),
    ),
    "estate": (
        ((0, 0.38), (0.03, 0.46), (0.28, 0.6), (0.98, 0.63), (1, 0.45)),
        (0.26, 0.42, 0.94, 0.99),
    ),
    "suv": (
        ((0, 0.42), (0.03, 0.52), (0.26, 0.6), (0.98, 0.62), (1, 0.45)),
        (0.25, 0.38, 0.9, 0.99),
    ),
    "van": (
        ((0, 0.3), (0.03, 0.42), (0.14, 0.52), (0.98, 0.56), (1, 0.4)),
        (0.12, 0.25, 0.97, 0.995),
    ),
    "pickup": (
        ((0, 0.42), (0.03, 0.52), (0.28, 0.58), (0.55, 0.6), (0.6, 0.5), (0.99, 0.5), (1, 0.4)),
        (0.26, 0.37, 0.55, 0.6),
    ),
}
_VEHICLE_SIZES: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "hatchback": ((3.5, 4.3), (1.65, 1.8), (1.42, 1.56)),
    "saloon": ((4.4, 5.1), (1.75, 1.9), (1.4, 1.5)),
    "estate": ((4.4, 4.95), (1.75, 1.88), (1.43, 1.55)),
    "suv": ((4.2, 5.0), (1.8, 2.0), (1.6, 1.85)), "van": ((4.6, 5.9), (1.85, 2.05), (1.85, 2.5)),
    "pickup": ((4.9, 5.6), (1.85, 2.0), (1.7, 1.9)),
    "truck": ((6.0, 11.0), (2.3, 2.55), (2.7, 3.9)),
    "bus": ((9.0, 12.5), (2.45, 2.55), (2.9, 3.3)),
}  # fmt: skip

_PAINTS: tuple[Color, ...] = (
    (0.8, 0.8, 0.8), (0.75, 0.75, 0.73), (0.45, 0.46, 0.48), (0.2, 0.21, 0.22), (0.03, 0.03, 0.035),
    (0.02, 0.02, 0.02), (0.4, 0.03, 0.03), (0.05, 0.1, 0.35), (0.1, 0.25, 0.5), (0.05, 0.2, 0.1),
    (0.6, 0.45, 0.08), (0.5, 0.2, 0.05), (0.35, 0.28, 0.2), (0.25, 0.45, 0.5), (0.7, 0.62, 0.5),
)  # fmt: skip

_VEHICLES = ("hatchback", "saloon", "estate", "suv", "van", "pickup", "truck", "bus")
_VEHICLE_SHARES = (0.28, 0.2, 0.12, 0.18, 0.1, 0.04, 0.05, 0.03)


def add_car(
    builder: WorldBuilder,
    rng: Random,
    place: Point,
    yaw: float,
    *,
    detail: int = 0,
    sort: str | None = None,
    lit: bool = False,
) -> None:
    """Put a vehicle of a random or given sort at `place` with its front toward `yaw` [degrees].

    Instances are called car, van, truck or bus. `detail` 0 is close by, 3 far away; `lit` by night.
    """
    chosen = sort or str(rng.choice(_VEHICLES, p=_VEHICLE_SHARES))
    kind = chosen if chosen in ("van", "truck", "bus") else "car"
    with builder.instance(kind):
        vehicle(chosen, int(rng.integers(VEHICLE_VARIANTS)), min(detail, 3)).place(
            builder, vehicle_materials(rng, lit=lit), place, yaw=yaw
        )


def vehicle_materials(rng: Random, *, lit: bool = False) -> dict[str, Material]:
    """Choose a material for each role of a vehicle."""
    color = _PAINTS[rng.integers(len(_PAINTS))]
    if rng.random() < 0.3:
        tint = as_color(rng.uniform(0.02, 0.6, 3))
        color = tint
    printed = rng.random() < 0.4
    return {
        "paint": Material(tint=color, gloss=between(rng, 0.3, 0.9), mirror=0.12),
        "cargo": Material("print", (0.75, 0.75, 0.75), color, 2.5, int(rng.integers(99)))
        if printed
        else Material(tint=(0.7, 0.7, 0.68), gloss=0.2),
        "glass": Material(tint=(0.02, 0.025, 0.03), gloss=0.9, mirror=between(rng, 0.15, 0.5)),
        "tire": Material(tint=(0.015, 0.015, 0.015)),
        "rim": Material(tint=(0.4, 0.4, 0.42), gloss=0.6),
        "trim": Material(tint=(0.03, 0.03, 0.03), gloss=0.2),
        "lamp": Material(tint=(0.85, 0.85, 0.8), gloss=0.8, glow=2.0 if lit else 0.0),
        "rear": Material(tint=(0.5, 0.02, 0.02), gloss=0.6, glow=1.5 if lit else 0.1),
        "plate": Material("print", (0.8, 0.8, 0.7), (0.05, 0.05, 0.05), 0.3, int(rng.integers(99))),
    }


@cache
def vehicle(sort: str, variant: int, detail: int) -> PartModel:
    """Return a vehicle; roles as in `vehicle_materials`. Detail 0 has ~1,500 triangles, 3 ~150."""
    rng = np.random.default_rng([29, _VEHICLES.index(sort), variant % VEHICLE_VARIANTS])
    length, width, height = (rng.uniform(*span) for span in _VEHICLE_SIZES[sort])
    size = np.array([width, height, length])
    far, detail = detail > 2, min(detail, 2)
    if sort == "truck":
        return _truck(rng, size, detail)
    if sort == "bus":
        return _bus(rng, size, detail)
    line, cabin = _OUTLINES[sort]
    wobble = rng.uniform(-0.015, 0.015, 4)
    spots = [c + w for c, w in zip(cabin, wobble, strict=True)]
    parts = [("paint", vehicle_body(size, line, detail))]
    belt = float(np.interp(cabin[1], *np.array(line).T)) * height - 0.03
    closed = sort == "van" and rng.random() < 0.6
    parts += vehicle_cabin(size, spots, belt, detail, closed=closed)
    if far:
        under = box_array(
            [[0, -0.25, length * s] for s in (-0.28, 0.3)], [width, 0.5, 0.55], sides="xXzZ"
        )
        return make_model([*parts, ("tire", under)])
    radius = float(rng.uniform(0.29, 0.34) + 0.04 * (sort in ("suv", "pickup", "van")))
    axles = (length * rng.uniform(0.29, 0.32), -length * rng.uniform(0.27, 0.31))
    parts += vehicle_wheels(width, axles, radius, detail)
    parts += vehicle_trim(size, float(line[1][1]) * height, belt, detail)
    return make_model(parts)


def _truck(rng: Random, size: Floats, detail: int) -> PartModel:
    """Make a cab with a box, a tank or an open bed behind it."""
    width, height, length = size
    cab = between(rng, 1.5, 2.2)
    tall = min(height, between(rng, 2.3, 2.9))
    z = length / 2 - cab / 2
    rest = length - cab - 0.3
    middle = -length / 2 + rest / 2
    cargo = box_array([[0, -(1.0 + height) / 2, middle]], [width, height - 1.0, rest])
    if rng.random() < 0.25:
        cargo = box_array(
            [
                [0, -1.1, middle], [-width / 2, -1.4, middle], [width / 2, -1.4, middle],
                [0, -1.4, -length / 2],
            ],
            [[width, 0.1, rest], [0.06, 0.5, rest], [0.06, 0.5, rest], [width, 0.5, 0.06]],
        )  # fmt: skip
    pane = length / 2 + 0.006
    glass = merge(
        [
            quads(
                [[-width * 0.44, -tall * 0.9, pane]],
                [[width * 0.88, 0, 0]],
                [[0, tall * 0.33, 0.04]],
            ),
            box_array([[0, -tall * 0.72, z + cab * 0.1]], [width + 0.02, tall * 0.28, cab * 0.5]),
        ]
    )
    bed = box_array([[0, -0.85, -0.2]], [width * 0.45, 0.25, length - 0.6])
    parts = [
        ("paint", box_array([[0, -(0.45 + tall) / 2, z]], [width * 0.98, tall - 0.45, cab])),
        ("cargo", cargo), ("glass", glass), ("trim", bed),
        ("rear", box_array([[-0.9, -0.8, -length / 2], [0.9, -0.8, -length / 2]], [0.3, 0.12, 0.06])),
    ]  # fmt: skip
    axles = (z, -length / 2 + 1.2, -length / 2 + 2.3)[: 3 if length > 8 else 2]
    parts += vehicle_wheels(width, axles, 0.48, detail)
    return make_model([*parts, *vehicle_trim(size, 0.9, 1.1, max(1, detail))])


def _bus(rng: Random, size: Floats, detail: int) -> PartModel:
    """Make a long box with a row of windows."""
    width, height, length = size
    count = int(length // 1.5)
    z = (np.arange(count) + 0.5) / count * (length - 0.6) - (length - 0.6) / 2
    sides = np.concatenate(
        [np.stack([0 * z + s * (width / 2), 0 * z - 1.75, z], -1) for s in (-1, 1)]
    )
    panes = box_array(sides, [0.03, 1.0, length / count * 0.88], sides="xX")
    screen = box_array(
        [[0, -1.7, length / 2], [0, -1.9, -length / 2]],
        [[width * 0.9, 1.4, 0.04], [width * 0.8, 0.8, 0.04]],
    )
    parts = [("paint", box_array([[0, -(0.35 + height) / 2, 0]], [width, height - 0.35, length]))]
    parts += [("glass", panes), ("glass", screen)]
    if rng.random() < 0.5:
        parts.append(("cargo", box_array([[0, -0.85, -1.0]], [width + 0.02, 0.6, length * 0.5])))
    parts += vehicle_wheels(width, (length * 0.3, -length * 0.25), 0.47, detail)
    return make_model([*parts, *vehicle_trim(size, 0.8, 1.0, max(1, detail))])


#: Different ones of each sort there are.
CYCLE_VARIANTS = 5


def add_cycle(
    builder: WorldBuilder, rng: Random, place: Point, yaw: float, *, far: bool = False
) -> None:
    """Put a bicycle, sometimes a motorcycle, at `place`, its front toward `yaw` [degrees]."""
    motor = rng.random() < 0.2
    tint = as_color(rng.uniform(0.02, 0.7, 3))
    paints = {
        "frame": Material(tint=tint, gloss=0.6),
        "tire": Material(tint=(0.02, 0.02, 0.02)),
        "metal": Material(tint=(0.5, 0.5, 0.52), gloss=0.7),
    }
    variant = int(rng.integers(CYCLE_VARIANTS))
    shape = motorcycle(variant) if motor else bicycle(variant, far)
    with builder.instance("motorcycle" if motor else "bicycle"):
        shape.place(builder, paints, place, yaw=yaw, lean=between(rng, -9, 9))


@cache
def bicycle(variant: int, far: bool = False) -> PartModel:
    """Return a bicycle of 1.7 m standing at the origin, driving toward +z."""
    rng = np.random.default_rng([31, variant % CYCLE_VARIANTS])
    radius = between(rng, 0.29, 0.36)
    half = between(rng, 0.48, 0.56)
    hub_r, hub_f = np.array([0, -radius, -half]), np.array([0, -radius, half])
    low = np.array([0, -radius * 0.85, -0.05])
    seat = np.array([0, -rng.uniform(0.78, 0.98), -0.22])
    head = np.array([0, -rng.uniform(0.82, 0.98), half * 0.72])
    bar = rng.uniform(0.2, 0.34)
    under = seat * 0.9 + low * 0.1 if rng.random() < 0.6 else seat * 0.3 + low * 0.7
    lines = [
        (low, seat), (low, head * [1, 0.86, 1]), (under, head * [1, 0.95, 1]),
        (low, hub_r), (seat * [1, 0.93, 1], hub_r), (head, hub_f),
    ]  # fmt: skip
    frame = _frame_rods(lines, 0.014 if not far else 0.02)
    grip = head + np.array([0, -0.08, -0.02])
    metal = _frame_rods(
        [(head, grip), (grip - [bar, 0, 0.06], grip), (grip, grip + np.array([bar, 0, -0.06]))],
        0.011,
    )
    saddle = box_array([seat - [0, 0.03, 0]], [0.15, 0.05, 0.26])
    rings = [_tire(hub, radius, 0.017, 10 if far else 18) for hub in (hub_r, hub_f)]
    parts = [("frame", frame), ("metal", metal), ("tire", merge([saddle, *rings]))]
    if not far:
        parts.append(("metal", merge([_spokes(hub, radius) for hub in (hub_r, hub_f)])))
        crank = _frame_rods(
            [(low - [0.1, 0.12, 0], low), (low, low + np.array([0.1, 0.12, 0]))], 0.01
        )
        parts.append(("metal", crank))
        parts.append(("metal", _arc(hub_r, radius + 0.03, 0.2, 2.6)))
        parts.append(("metal", _arc(hub_f, radius + 0.03, 0.6, 2.6)))
    if rng.random() < 0.4:
        at = grip + np.array([0, 0.05, 0.22])
        parts.append(("metal", _basket(at, 0.34, 0.22, 0.26)))
    return make_model(parts)


@cache
def motorcycle(variant: int) -> PartModel:
    """Return a scooter or motorcycle of about 2 m."""
    rng = np.random.default_rng([37, variant % CYCLE_VARIANTS])
    radius = between(rng, 0.24, 0.32)
    half = between(rng, 0.6, 0.7)
    hubs = [np.array([0, -radius, z]) for z in (-half, half)]
    head = np.array([0, -rng.uniform(0.9, 1.05), half * 0.65])
    body = [
        sphere([0, -0.62, -0.3], [0.17, 0.17, 0.45], sectors=10),
        sphere([0, -0.55, 0.12], [0.14, 0.25, 0.25], sectors=10),
        sphere([0, -0.72, half * 0.72], [0.16, 0.24, 0.12], sectors=10),
    ]
    bar = [(head - [0.34, 0, 0.08], head), (head, head + np.array([0.34, 0, -0.08]))]
    forks = [(head + np.array([s, 0, 0]), hubs[1] + [s, 0, 0]) for s in (-0.07, 0.07)]
    mirrors = [
        (head + np.array([s * 0.25, 0, 0]), head + np.array([s * 0.32, -0.18, -0.02]))
        for s in (-1, 1)
    ]
    seat = sphere([0, -0.8, -0.32], [0.15, 0.07, 0.4], sectors=10)
    glass = box_array(np.array([m[1] for m in mirrors]), [0.14, 0.08, 0.02])
    rings = [_tire(hub, radius, 0.055, 14) for hub in hubs]
    return make_model(
        [
            ("frame", merge(body)),
            ("metal", _frame_rods([*bar, *forks, *mirrors], 0.018)),
            ("tire", merge([seat, glass, *rings])),
            ("metal", merge([_spokes(hub, radius) for hub in hubs])),
        ]
    )


def _frame_rods(pairs: list[tuple[Floats, Floats]], radius: float) -> TriangleMesh:
    """Make rods from point to point."""
    return rods([a for a, _ in pairs], [b for _, b in pairs], radius, sectors=5)


def _tire(hub: Floats, radius: float, thick: float, pieces: int) -> TriangleMesh:
    """Make a tire: a ring in the plane x = 0."""
    return _arc(hub, radius - thick, 0.0, 2 * np.pi, thick, pieces)


def _arc(
    hub: Floats, radius: float, start: float, end: float, thick: float = 0.006, pieces: int = 8
) -> TriangleMesh:
    """Make rods along an arc around the hub; angles in radians, from +z upwards."""
    angle = np.linspace(start, end, pieces + 1)
    at = hub + np.stack([0 * angle, -np.sin(angle), np.cos(angle)], -1) * radius
    return rods(at[:-1], at[1:], thick, sectors=5)


def _spokes(hub: Floats, radius: float, count: int = 16) -> TriangleMesh:
    """Make thin wires from the hub to the rim."""
    angle = np.arange(count) / count * 2 * np.pi
    rim = hub + np.stack([0 * angle, -np.sin(angle), np.cos(angle)], -1) * (radius - 0.02)
    side = np.stack([np.where(np.arange(count) % 2, 0.03, -0.03), 0 * angle, 0 * angle], -1)
    return rods(hub + side, rim, 0.0018, sectors=3)


def _basket(center: Floats, width: float, height: float, depth: float) -> TriangleMesh:
    """Make a wire basket: a few hoops and uprights."""
    x, y, z = width / 2, height / 2, depth / 2
    corners = np.array([[-x, 0, -z], [x, 0, -z], [x, 0, z], [-x, 0, z]]) + center
    shift = np.array([0, y, 0])
    hoops = [
        (corners + shift * k, np.roll(corners, -1, 0) + shift * k) for k in (-1, -0.33, 0.33, 1)
    ]
    uprights = (corners - shift, corners + shift)
    starts, ends = zip(*hoops, uprights, strict=True)
    return rods(np.concatenate(starts), np.concatenate(ends), 0.004, sectors=3)
