"""What vehicles are made of: bodies, cabins, wheels, lamps and plates; each under the role it plays.

A vehicle stands on y = 0 with its middle at the origin and drives towards +z; `size` is (width, height,
length) in [m], `detail` 0 close by to 2 far away.
"""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.loft import polygon, skin
from sightline.scenes.parts.many import Floats, boxes, rods
from sightline.scenes.shapes import Shape, lathe, merge


def body(size: Floats, line: tuple[tuple[float, float], ...], detail: int) -> Shape:
    """Everything below the windows."""
    width, height, length = size
    knots = np.array(line)
    between = np.linspace(0, 1, (14, 9, 2)[detail])
    t = np.unique(np.concatenate([between, knots[:, 0]]))
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
    return skin(np.concatenate([ends[0][None], grid, ends[1][None]]))


def cabin_of(
    size: Floats, spots: list[float], belt: float, detail: int, *, closed: bool
) -> list[tuple[str, Shape]]:
    """Windows, pillars and roof between the four spots along the length."""
    width, height, length = size
    w, r = width * 0.46, width * 0.36
    front, roof_front, roof_rear, rear = ((0.5 - s) * length for s in spots)
    top = height - 0.04
    low = [[-w, -belt, front], [w, -belt, front], [w, -belt, rear], [-w, -belt, rear]]
    high = [
        [-r, -top, roof_front],
        [r, -top, roof_front],
        [r, -top, roof_rear],
        [-r, -top, roof_rear],
    ]
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
    roof = skin(np.stack([gx, -(top + np.broadcast_to(crown, gx.shape)), gz], -1))
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


def wheels(
    width: float, axles: tuple[float, ...], radius: float, detail: int
) -> list[tuple[str, Shape]]:
    """Make a wheel at each end of each axle, with the dark arch above it."""
    sectors = (16, 11, 8)[detail]
    tread = (
        [[0.6, 0], [0.95, 0], [1, 0.1], [1, 0.6]] if detail < 2 else [[0.6, 0], [1, 0], [1, 0.6]]
    )
    tyre = lathe(np.array(tread) * radius, sectors=sectors)
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
            parts.append(("tyre", tyre.moved(at, **turn)))
            parts.append(("trim" if detail == 0 else "rim", rim.moved(at, **turn)))
            if detail == 0:
                parts.append(("rim", spokes.moved(at, **turn)))
            parts.append(
                ("trim", polygon(arch + np.array([side * (width / 2 + 0.006), -radius, z])))
            )
    return parts


def trimmings(size: Floats, bonnet: float, belt: float, detail: int) -> list[tuple[str, Shape]]:
    """Lamps, plates, bumpers, mirrors."""
    width, _, length = size
    x, front, rear = width * 0.36, length / 2 - 0.02, -length / 2 + 0.03
    parts = [
        (
            "lamp",
            boxes(
                [[-x, -bonnet * 0.9, front - 0.05], [x, -bonnet * 0.9, front - 0.05]],
                [0.3, 0.13, 0.12],
                sides="xXyZ",
            ),
        ),
        (
            "rear",
            boxes(
                [[-x, -belt * 0.85, rear + 0.02], [x, -belt * 0.85, rear + 0.02]],
                [0.24, 0.16, 0.1],
                sides="xXyz",
            ),
        ),
        (
            "plate",
            boxes(
                [[0, -0.45, front + 0.03], [0, -belt * 0.62, rear - 0.03]],
                [0.5, 0.11, 0.02],
                sides="zZ",
            ),
        ),
        (
            "trim",
            boxes([[0, -0.3, front - 0.02], [0, -0.34, rear + 0.02]], [width * 0.86, 0.12, 0.12]),
        ),
    ]
    if detail < 2:
        at = np.array([[-1, 0, 0], [1, 0, 0]]) * (width / 2 + 0.06) + [
            0,
            -belt - 0.08,
            length * 0.18,
        ]
        parts.append(("paint", boxes(at, [0.18, 0.13, 0.1])))
        parts.append(("trim", boxes([[0, -bonnet * 0.72, front]], [width * 0.5, 0.12, 0.05])))
        seam = np.array([[-1, 0, 0], [1, 0, 0]]) * width / 2 + [0, -belt * 0.66, 0]
        parts.append(("trim", boxes(seam, [0.012, belt * 0.55, 0.015], sides="xX")))
        parts.append(
            ("trim", boxes(seam + np.array([0, -0.12, -0.18]), [0.03, 0.03, 0.16], sides="xX"))
        )
    return parts
