"""What the user knows: a length between two pixels, depth at pixels, the size of an object in a box."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.head.clues import (
    READING,
    DepthClue,
    Doubles,
    LengthClue,
    condense,
    condense_weighted,
)
from sightline.metric.yardsticks.reading import check_inside, look, read
from sightline.metric.yardsticks.words import LONGEST, Length
from sightline.types import Camera, DepthMap

#: Standard deviation of where somebody points, in [px].
POINTING = 1.5
#: Relative error of a map of measured depth.
MEASURED = 0.02
#: So many known depths are a clue each; more are taken together by distance.
FEW = 12


def length_clue(
    relative: DepthMap, camera: Camera, ends: tuple[float, ...], length: Length
) -> LengthClue:
    """Return the clue of a known length between two pixels (x, y, x, y), of edges the nearer side."""
    x0, y0, x1, y1 = ends
    name = length_name(ends, length)
    check_length(ends, length, relative.width, relative.height)
    apart = math.hypot(x1 - x0, y1 - y0)
    rays = rays_at(camera, np.array([[x0, y0], [x1, y1]]))
    looked = [look(relative, x, y, name) for x, y in ((x0, y0), (x1, y1))]
    values = np.array([np.median(relative.values[end.pixels]) for end in looked])
    sigma = math.hypot(length.share, 1.41 * POINTING / apart, READING)
    return LengthClue(name, rays, values, length.metres, sigma)


def depth_clue(relative: DepthMap, place: tuple[float, ...], depth: Length) -> DepthClue:
    """Return the clue of a known depth, along the optical axis, at the pixel (x, y)."""
    x, y = place
    name = depth_name(place, depth)
    value = read(relative, x, y, name)
    sigma = math.hypot(depth.share, READING)
    return DepthClue(name, "point", np.array([value]), np.array([depth.metres]), sigma)


def sparse_clues(
    relative: DepthMap, measured: DepthMap, share: float = MEASURED
) -> list[DepthClue]:
    """Return clues of a sparse or dense map of measured depth, one per range of distances.

    Pixels of one distance err together, so a map of a thousand points is not a thousand clues: it is
    cut by depth into up to eight groups.

    Args:
        relative: the picture's relative disparity.
        measured: metric depth of the same size, valid where something was measured.
        share: relative error of the sensor.
    """
    if measured.values.shape != relative.values.shape:
        raise InputError(
            f"measured depth is {measured.width}×{measured.height}, "
            f"the picture {relative.width}×{relative.height}"
        )
    metres = measured.to_metric_depth()
    both = metres.valid & relative.valid
    if not both.any():
        raise InputError("measured depth and picture share no known pixel")
    depth = metres.values[both].astype(np.float64)
    if depth.max() > LONGEST:
        raise InputError(f"measured depth must be at most 100 km, got {depth.max():g} m")
    return _by_distance(relative.values[both].astype(np.float64), depth, np.full(len(depth), share))


def point_clues(
    relative: DepthMap, points: Sequence[tuple[tuple[float, ...], Length]]
) -> list[DepthClue]:
    """Return the clues of known depths at pixels: one each, or of many one per range of distances."""
    if len(points) <= FEW:
        return [depth_clue(relative, *one) for one in points]
    values = [read(relative, x, y, f"depth at {x:g},{y:g}") for (x, y), _ in points]
    depth = np.array([length.metres for _, length in points])
    return _by_distance(np.array(values), depth, np.array([one.share for _, one in points]))


def _by_distance(values: Doubles, depth: Doubles, share: Doubles) -> list[DepthClue]:
    """Return a clue for each range of distances; in each, points that are surer count more.

    Args:
        values: (N,) relative disparity.
        depth: (N,) known depth in [m].
        share: (N,) relative error of each depth.
    """
    weights = 1 / (share**2 + READING**2)
    order = np.argsort(depth, kind="stable")
    groups = np.array_split(order, min(8, max(1, len(order) // 8)))
    clues = []
    for number, group in enumerate(groups, 1):
        name = (
            f"measured depth {number} of {len(groups)}, "
            f"{depth[group].min():.2f} to {depth[group].max():.2f} m"
        )
        own = math.sqrt(float(np.average(share[group] ** 2, weights=weights[group])))
        points = condense_weighted(values[group], depth[group], weights[group])
        clues.append(
            DepthClue(name, "point", *points[:2], math.hypot(own, READING), weights=points[2])
        )
    return clues


def object_clue(
    relative: DepthMap, camera: Camera, box: tuple[float, ...], size: Length
) -> DepthClue:
    """Return the clue of a thing of known height that fills a box (left, top, right, bottom).

    It is taken to stand upright and face the camera: its distance is focal · size / height in pixels.
    """
    left, top, right, bottom = box
    name = box_name(box, size)
    check_box(box, size, relative.width, relative.height)
    for x, y in ((left, top), (right, bottom)):
        read(relative, x, y, name)
    depth = camera.K[1, 1] * size.metres / (bottom - top)
    # The middle of the box: its rim shows what is behind.
    rows = slice(round(top + 0.3 * (bottom - top)), round(bottom - 0.3 * (bottom - top)) + 1)
    columns = slice(round(left + 0.3 * (right - left)), round(right - 0.3 * (right - left)) + 1)
    inside = relative.valid[rows, columns]
    if not inside.any():
        raise InputError(f"{name}: nothing is known of depth there")
    values = relative.values[rows, columns][inside].astype(np.float64)
    sigma = math.hypot(size.share, 2 * POINTING / (bottom - top), READING)
    depths = np.full(len(values), depth)
    return DepthClue(name, "object", *condense(values, depths), sigma, focal_power=1.0)


def check_length(ends: tuple[float, ...], length: Length, width: int, height: int) -> None:
    """Refuse ends (x, y, x, y) that a picture of some size does not have, or that are one place."""
    x0, y0, x1, y1 = ends
    name = length_name(ends, length)
    check_inside(x0, y0, width, height, name)
    check_inside(x1, y1, width, height, name)
    apart = math.hypot(x1 - x0, y1 - y0)
    if apart < 2 * POINTING:
        raise InputError(
            f"{name}: its ends are {apart:.1f} pixels apart", remedy="give a longer one"
        )


def check_depth(place: tuple[float, ...], depth: Length, width: int, height: int) -> None:
    """Refuse a place (x, y) that a picture of some size does not have."""
    x, y = place
    check_inside(x, y, width, height, depth_name(place, depth))


def check_box(box: tuple[float, ...], size: Length, width: int, height: int) -> None:
    """Refuse a box (left, top, right, bottom) with nothing in it, or not in the picture."""
    left, top, right, bottom = box
    name = box_name(box, size)
    if right - left < 2 or bottom - top < 2:
        raise InputError(f"{name}: a box needs left < right and top < bottom, 2 pixels at least")
    check_inside(left, top, width, height, name)
    check_inside(right, bottom, width, height, name)


def length_name(ends: tuple[float, ...], length: Length) -> str:
    """Return what a known length is called."""
    x0, y0, x1, y1 = ends
    return f"length {x0:g},{y0:g} to {x1:g},{y1:g} = {length.metres:g} m"


def depth_name(place: tuple[float, ...], depth: Length) -> str:
    """Return what a known depth is called."""
    x, y = place
    return f"depth at {x:g},{y:g} = {depth.metres:g} m"


def box_name(box: tuple[float, ...], size: Length) -> str:
    """Return what a thing of known height is called."""
    left, top, right, bottom = box
    return f"box {left:g},{top:g},{right:g},{bottom:g} = {size.metres:g} m high"


def rays_at(camera: Camera, pixels: NDArray[np.float64]) -> Doubles:
    """(N, 2) pixels → (N, 2) x and y of their rays at depth 1."""
    centre = camera.K[:2, 2]
    focal = np.array([camera.K[0, 0], camera.K[1, 1]])
    return np.asarray((pixels - centre) / focal)
