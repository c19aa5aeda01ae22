"""How far parts of objects are from each other, and how deep in each other."""

from __future__ import annotations

from math import hypot, inf, sqrt

from numba import njit

from sightline.physics.combinatorial.bodies import Body
from sightline.physics.types import Doubles


def clearance(a: Body, b: Body) -> float:
    """Return the gap between two objects in scene units; below 0, how deep they overlap.

    Where two corners face each other the gap is at least what is said; its sign is always right.
    """
    return float(gap_of(a.corners, a.parts.radii, b.corners, b.parts.radii))


@njit(cache=True)  # type: ignore[untyped-decorator]
def gap_of(a: Doubles, a_radii: Doubles, b: Doubles, b_radii: Doubles) -> float:
    """Return the least gap between parts of two objects.

    Args:
        a: (P, 4, 2) corners of parts (`outlines.Parts`) where they are.
        a_radii: (P,) 0 for quadrilaterals.
        b: (Q, 4, 2).
        b_radii: (Q,).
    """
    least = inf
    for i in range(len(a)):
        for j in range(len(b)):
            if a_radii[i] > 0 and b_radii[j] > 0:
                apart = hypot(a[i, 0, 0] - b[j, 0, 0], a[i, 0, 1] - b[j, 0, 1])
            elif a_radii[i] > 0:
                apart = _to_point(b[j], a[i, 0])
            elif b_radii[j] > 0:
                apart = _to_point(a[i], b[j, 0])
            else:
                apart = max(_widest_gap(a[i], b[j]), _widest_gap(b[j], a[i]))
            least = min(least, apart - a_radii[i] - b_radii[j])
    return least


@njit(cache=True)  # type: ignore[untyped-decorator]
def _to_point(quad: Doubles, point: Doubles) -> float:
    """Return the distance of a point to a quadrilateral; negative inside."""
    outside, inside = inf, -inf
    for corner in range(4):
        start, end = quad[corner], quad[(corner + 1) % 4]
        along_x, along_y = end[0] - start[0], end[1] - start[1]
        right, up = point[0] - start[0], point[1] - start[1]
        square = along_x * along_x + along_y * along_y
        share = min(max((right * along_x + up * along_y) / square, 0.0), 1.0)
        outside = min(outside, hypot(right - share * along_x, up - share * along_y))
        inside = max(inside, (along_y * right - along_x * up) / sqrt(square))
    return outside if inside > 0 else inside


@njit(cache=True)  # type: ignore[untyped-decorator]
def _widest_gap(a: Doubles, b: Doubles) -> float:
    """Return the widest gap across an edge of `a`: the separating axis test."""
    widest = -inf
    for corner in range(4):
        start, end = a[corner], a[(corner + 1) % 4]
        along_x, along_y = end[0] - start[0], end[1] - start[1]
        length = hypot(along_x, along_y)
        least = inf
        for other in range(4):
            right, up = b[other, 0] - start[0], b[other, 1] - start[1]
            least = min(least, (along_y * right - along_x * up) / length)
        widest = max(widest, least)
    return widest


def inside(body: Body, slack: float = 1e-9) -> bool:
    """Say whether an object is wholly in the scene; it may stand on the floor."""
    left, bottom, right, top = body.box
    return bool(min(left, bottom) >= -slack and max(right, top) <= 1 + slack)
