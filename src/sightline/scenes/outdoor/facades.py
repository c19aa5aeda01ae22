"""Build walls with openings: windows, doors, shop fronts, balconies, in the wall's own frame.

A wall stands on y = 0 from x = 0 to its width, seen from −z; its thickness goes toward +z. All pieces
of one sort come as one shape, under the role that chooses their material.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, quads, rods
from sightline.scenes.meshes import TriangleMesh, merge
from sightline.scenes.sampling import Random, between

RoleParts = list[tuple[str, TriangleMesh]]


def pierced(
    width: float,
    low: float,
    high: float,
    across: Floats,
    up: Floats,
    depth: float,
    *,
    flat: bool = False,
) -> tuple[TriangleMesh, Floats]:
    """Make a wall between heights `low` and `high` with a grid of openings, and their reveals.

    Args:
        width: width of the wall, [m].
        low: lower edge above the ground, [m].
        high: upper edge, [m].
        across: (C, 2) left and right of each column of openings, in order.
        up: (R, 2) lower and upper edge of each row of openings, in order.
        depth: how deep the openings are, [m].
        flat: leave the wall whole, for panes that are put before it.

    Returns:
        The wall, and (C·R, 4) openings as (left, right, low, high).
    """
    if not (len(across) and len(up)):
        flat, across, up = True, np.zeros((0, 2)), np.zeros((0, 2))
    columns, rows = np.meshgrid(np.arange(len(across)), np.arange(len(up)))
    a, b = across[columns.ravel()].T
    c, d = up[rows.ravel()].T
    edges = np.concatenate([[low], up.ravel(), [high]])
    bands = np.stack([0 * edges[::2], 0 * edges[::2] + width, edges[::2], edges[1::2]], -1)
    x = np.concatenate([[0.0], across.ravel(), [width]])
    piers_x = np.tile(np.stack([x[::2], x[1::2]], -1), (len(up), 1))
    piers = np.concatenate([piers_x, np.repeat(up, len(across) + 1, 0)], 1)
    sheets = np.concatenate([bands, piers])
    sheets = sheets[(sheets[:, 1] - sheets[:, 0] > 1e-6) & (sheets[:, 3] - sheets[:, 2] > 1e-6)]
    openings = np.stack([a, b, c, d], -1)
    if flat:
        return _rectangles(np.array([[0.0, width, low, high]]), 0.0), openings
    into = np.array([[0.0, 0.0, depth]])
    zero = 0 * a
    sides = [
        (np.stack([a, -c, zero], -1), np.stack([b - a, zero, zero], -1)),
        (np.stack([a, -d, zero], -1), np.stack([b - a, zero, zero], -1)),
        (np.stack([a, -d, zero], -1), np.stack([zero, d - c, zero], -1)),
        (np.stack([b, -d, zero], -1), np.stack([zero, d - c, zero], -1)),
    ]
    face = _rectangles(sheets, 0.0)
    reveal = quads(
        np.concatenate([s for s, _ in sides]), np.concatenate([t for _, t in sides]), into
    )
    return merge([face, reveal]), openings


def _rectangles(sheets: Floats, z: float) -> TriangleMesh:
    """Make upright cards at depth z for (N, 4) of (left, right, low, high), one texture over all."""
    a, b, c, d = sheets.T
    zero = 0 * a
    made = quads(
        np.stack([a, -d, zero + z], -1),
        np.stack([b - a, zero, zero], -1),
        np.stack([zero, d - c, zero], -1),
    )
    return TriangleMesh(made.vertices, made.faces, made.normals, made.vertices[:, :2].copy())


def glazing(openings: Floats, depth: float, bars: tuple[int, int], lit: Floats) -> RoleParts:
    """Make glass in (N, 4) openings with `bars` (upright, level) in each; some panes lit."""
    parts: RoleParts = []
    for role, chosen in (("glass", ~(lit > 0.5)), ("lit", lit > 0.5)):
        if chosen.any():
            parts.append((role, _rectangles(openings[chosen], depth)))
    if bars[0] or bars[1]:
        parts.append(("trim", _bars(openings, depth, bars)))
    return parts


def _bars(openings: Floats, depth: float, bars: tuple[int, int]) -> TriangleMesh:
    """Make the frame bars in front of the glass."""
    a, b, c, d = openings.T
    zero, thick = 0 * a, 0.05
    centers, sizes = [], []
    for share in np.linspace(0, 1, bars[0] + 2):
        x = a + (b - a) * share + thick / 2 * (1 - 2 * share)
        centers.append(np.stack([x, -(c + d) / 2, zero + depth - 0.03], -1))
        sizes.append(np.stack([zero + thick, d - c, zero + 0.05], -1))
    for share in np.linspace(0, 1, bars[1] + 2):
        y = c + (d - c) * share + thick / 2 * (1 - 2 * share)
        centers.append(np.stack([(a + b) / 2, -y, zero + depth - 0.03], -1))
        sizes.append(np.stack([b - a, zero + thick, zero + 0.05], -1))
    return box_array(np.concatenate(centers), np.concatenate(sizes), sides="z")


def sills(openings: Floats, lintels: bool) -> TriangleMesh:
    """Make a ledge under each opening and perhaps one above."""
    a, b, c, d = openings.T
    zero = 0 * a
    at = [np.stack([(a + b) / 2, -c + 0.03, zero - 0.04], -1)]
    if lintels:
        at.append(np.stack([(a + b) / 2, -d - 0.08, zero - 0.03], -1))
    size = np.stack([b - a + 0.2, zero + 0.07, zero + 0.16], -1)
    tall = size * [1.0, 2.2, 0.6]
    return box_array(np.concatenate(at), np.concatenate([size, tall][: len(at)]), sides="yYz")


def shutters(openings: Floats) -> TriangleMesh:
    """Make folded shutters on both sides of each opening."""
    a, b, c, d = openings.T
    zero, wide = 0 * a, (b - a) * 0.45
    left = np.stack([a - wide / 2 - 0.02, -(c + d) / 2, zero - 0.03], -1)
    right = np.stack([b + wide / 2 + 0.02, -(c + d) / 2, zero - 0.03], -1)
    size = np.stack([wide, d - c, zero + 0.04], -1)
    return box_array(np.concatenate([left, right]), np.concatenate([size, size]), sides="xXz")


def balconies(openings: Floats, reach: float, *, fine: bool) -> RoleParts:
    """Make a slab with a railing before each of (N, 4) openings: bars close by, a panel far away."""
    a, b, c, _ = openings.T
    zero = 0 * a
    left, right = a - 0.5, b + 0.5
    slab = box_array(
        np.stack([(left + right) / 2, -c + 0.08, zero - reach / 2], -1),
        np.stack([right - left, zero + 0.14, zero + reach], -1),
        sides="xXyYz",
    )
    rail = 1.0
    corners = [
        np.stack([left, -c, zero], -1), np.stack([left, -c, zero - reach], -1),
        np.stack([right, -c, zero - reach], -1), np.stack([right, -c, zero], -1),
    ]  # fmt: skip
    up = np.array([0.0, -rail, 0.0])
    if not fine:
        runs = [quads(p, q - p, up) for p, q in pairwise(corners)]
        return [("trim", slab), *(("rail", run) for run in runs)]
    tops = rods(
        np.concatenate(corners[:-1]) + up, np.concatenate(corners[1:]) + up, 0.025, sectors=4
    )
    share = np.linspace(0, 1, 10)[:, None, None]
    feet = (corners[1] + (corners[2] - corners[1]) * share).reshape(-1, 3)
    ends = [
        (corners[k] + (corners[k + 1] - corners[k]) * share[::3]).reshape(-1, 3) for k in (0, 2)
    ]
    feet = np.concatenate([feet, *ends])
    return [("trim", slab), ("rail", tops), ("rail", rods(feet, feet + up, 0.012, sectors=3))]


def columns_of(
    rng: Random, width: float, pitch: float, share: float, margin: float = 0.5
) -> Floats:
    """Return (C, 2) left and right edges of openings about every `pitch` [m], `share` of it open."""
    count = max(1, int((width - 2 * margin) / pitch))
    step = (width - 2 * margin) / count
    middle = margin + (np.arange(count) + 0.5) * step
    half = step * share / 2 * between(rng, 0.9, 1.1)
    return np.stack([middle - half, middle + half], -1)


def shop_front(rng: Random, width: float, height: float, *, fine: bool) -> RoleParts:
    """Make a ground floor of large panes with a sign over them, perhaps awnings."""
    across = columns_of(rng, width, between(rng, 2.2, 4.5), 0.85, 0.25)
    top = height - rng.uniform(0.5, 0.9)
    low = float(rng.choice([0.05, 0.5]))
    wall, openings = pierced(width, 0.0, height, across, np.array([[low, top]]), 0.25)
    lit = (rng.random(len(openings)) < 0.7).astype(float)
    parts: RoleParts = [("base", wall), *glazing(openings, 0.25, (1, 0) if fine else (0, 0), lit)]
    sign = [[width / 2, -(top + height) / 2, -0.06]]
    parts.append(
        ("sign", box_array(sign, [width * rng.uniform(0.5, 0.95), height - top - 0.15, 0.1]))
    )
    if rng.random() < 0.45:
        reach, drop = rng.uniform(0.7, 1.8), rng.uniform(0.3, 0.8)
        a, b = openings[:, 0] - 0.1, openings[:, 1] + 0.1
        zero = 0 * a
        start = np.stack([a, zero - top - 0.1, zero - 0.05], -1)
        across_u = np.stack([b - a, zero, zero], -1)
        parts.append(("awning", quads(start, across_u, [[0.0, drop, -reach]])))
        hem = start + np.array([0.0, drop, -reach])
        parts.append(("awning", quads(hem, across_u, [[0.0, 0.18, 0.0]])))
    return parts


def entrance(rng: Random, width: float, height: float, across: Floats) -> RoleParts:
    """Make a ground floor with a door in place of one of its windows, and a step before it."""
    pick = int(rng.integers(len(across)))
    windows = np.delete(across, pick, 0)
    sill = between(rng, 0.7, 1.1)
    middle = across[pick].mean()
    half = min(0.65, float(across[pick, 1] - middle))
    parts: RoleParts = []
    # The column of the door is a wall of its own between two walls with windows.
    bounds = [0.0, middle - half, middle + half, width]
    for a, b in ((bounds[0], bounds[1]), (bounds[2], bounds[3])):
        inside = windows[(windows[:, 0] > a) & (windows[:, 1] < b)] - a
        if b - a < 0.05:
            continue
        wall, holes = pierced(b - a, 0.0, height, inside, np.array([[sill, height - 0.6]]), 0.15)
        parts.append(("base", wall.moved([a, 0, 0])))
        if len(holes):
            shifted = holes + np.array([a, a, 0, 0])
            lit = (rng.random(len(holes)) < 0.3).astype(float)
            parts += glazing(shifted, 0.15, (1, 0), lit)
            parts.append(("trim", sills(shifted, lintels=False)))
    door, hole = pierced(
        2 * half, 0.0, height, np.array([[0.05, 2 * half - 0.05]]), np.array([[0.1, 2.2]]), 0.2
    )
    parts.append(("base", door.moved([middle - half, 0, 0])))
    parts.append(("door", _rectangles(hole + np.array([middle - half, middle - half, 0, 0]), 0.2)))
    parts.append(("trim", box_array([[middle, -0.07, -0.2]], [2 * half + 0.3, 0.16, 0.6])))
    return parts
