"""What closes a building: gabled, hipped and flat roofs with chimneys, dormers and aerials."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.facades import Parts
from sightline.scenes.parts.loft import polygon
from sightline.scenes.parts.many import Floats, boxes, rods
from sightline.scenes.shapes import Shape


def roof(
    rng: np.random.Generator, sort: str, width: float, depth: float, height: float, *, fine: bool
) -> Parts:
    """Choose and make the roof of a building of this width, depth and height to the eaves, [m]."""
    if sort in ("block", "office", "hall") or (sort == "terrace" and rng.random() < 0.3):
        return _flat(rng, width, depth, height, fine=fine)
    hipped = rng.random() < 0.3
    along_street = rng.random() < 0.65
    return _pitched(rng, width, depth, height, hipped=hipped, along=along_street, fine=fine)


def _flat(
    rng: np.random.Generator, width: float, depth: float, height: float, *, fine: bool
) -> Parts:
    """Make a parapet around a flat roof with boxes and poles on it."""
    rim, low = float(rng.uniform(0.2, 0.9)), height
    y = -(low + rim / 2 - 0.05)
    walls = boxes(
        [
            [0, y, 0.12],
            [0, y, depth - 0.12],
            [-width / 2 + 0.12, y, depth / 2],
            [width / 2 - 0.12, y, depth / 2],
        ],
        [[width, rim, 0.24], [width, rim, 0.24], [0.24, rim, depth], [0.24, rim, depth]],
    )
    parts: Parts = [
        ("wall", walls),
        ("roof", boxes([[0, -low - 0.03, depth / 2]], [width, 0.1, depth])),
    ]
    count = int(rng.integers(1, 5))
    size = rng.uniform([1.0, 0.6, 1.0], [4.0, 2.6, 4.0], (count, 3))
    at = rng.uniform([-0.3, 0, 0.3], [0.3, 0, 0.7], (count, 3)) * [width, 1, depth]
    at[:, 1] = -low - size[:, 1] / 2
    parts.append(("trim", boxes(at, size)))
    if fine:
        parts.append(("rail", _aerials(rng, at * [1, 0, 1] - [0, low, 0])))
    return parts


def _aerials(rng: np.random.Generator, feet: Floats) -> Shape:
    """Poles with a few cross-bars."""
    tall = rng.uniform(1.5, 4.5, (len(feet), 1))
    top = feet - tall * [0, 1, 0]
    starts, ends = [feet], [top]
    for share in (0.8, 0.9, 0.98):
        at = feet - tall * share * [0, 1, 0]
        starts.append(at - [0.45, 0, 0])
        ends.append(at + np.array([0.45, 0, 0]))
    return rods(np.concatenate(starts), np.concatenate(ends), 0.02, sectors=3)


def _pitched(
    rng: np.random.Generator,
    width: float,
    depth: float,
    height: float,
    *,
    hipped: bool,
    along: bool,
    fine: bool,
) -> Parts:
    """Two or four slopes; the ridge runs along the street or towards it."""
    span = depth if along else width
    long = width if along else depth
    rise = span / 2 * float(np.tan(np.radians(rng.uniform(22, 52))))
    out = float(rng.uniform(0.15, 0.6))
    a, c = long / 2 + out * 0.6, span / 2 + out
    drop = out * rise / (span / 2)
    inset = span / 2 * float(rng.uniform(0.6, 1.0)) if hipped else 0.0
    ridge = max(0.1, long / 2 + out * 0.6 - min(inset, long / 2))
    # In the roof's own frame: x along the ridge, z across, y up from the eaves.
    low = np.array([[-a, -drop, -c], [a, -drop, -c], [a, -drop, c], [-a, -drop, c]])
    high = np.array([[-ridge, rise, 0.0], [ridge, rise, 0.0]])
    slopes = [[low[0], low[1], high[1], high[0]], [low[2], low[3], high[0], high[1]]]
    gables = [[low[1], low[2], high[1]], [low[3], low[0], high[0]]]

    def place(points: list[Floats]) -> Floats:
        p = np.array(points)
        x, z = (p[:, 0], p[:, 2]) if along else (p[:, 2], p[:, 0])
        return np.stack([x, -(height + p[:, 1]), z + depth / 2], -1)

    parts: Parts = [("roof", polygon(place(s))) for s in slopes]
    if hipped:
        parts += [("roof", polygon(place(g))) for g in gables]
    else:
        inner = [[long / 2 * s, rise, 0.0] for s in (-1, 1)]
        for s, top in zip((-1, 1), inner, strict=True):
            foot = [[long / 2 * s, 0.0, -span / 2], [long / 2 * s, 0.0, span / 2]]
            parts.append(("wall", polygon(place([np.array(p) for p in (*foot, top)]))))
    under = [[-a, -drop, -c], [a, -drop, -c], [a, -drop, c], [-a, -drop, c]]
    parts.append(("trim", polygon(place([np.array(p) for p in under]) + np.array([0, 0.02, 0]))))
    chimneys = int(rng.integers(0, 3))
    if chimneys:
        x = rng.uniform(-0.4, 0.4, chimneys) * long
        z = rng.uniform(-0.25, 0.25, chimneys) * span
        base = place([np.array([p, rise * 0.9, q]) for p, q in zip(x, z, strict=True)])
        parts.append(("base", boxes(base - [0, 0.3, 0], [0.6, 1.8, 0.6])))
        if fine:
            parts.append(("rail", _aerials(rng, base - [0.5, 0.2, 0])))
    if rng.random() < 0.35 and not hipped:
        count = max(1, int(long / 4))
        x = (np.arange(count) + 0.5) / count * long - long / 2
        at = place([np.array([p, rise * 0.35, -span * 0.28]) for p in x])
        size = [1.2, 1.2, 1.6] if along else [1.6, 1.2, 1.2]
        parts.append(("trim", boxes(at - [0, 0.2, 0], size)))
        pane = [0.8, 0.8, 1.64] if along else [1.64, 0.8, 0.8]
        parts.append(("glass", boxes(at - [0, 0.25, 0], pane)))
    return parts
