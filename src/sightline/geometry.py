"""Geometry of depth maps: alignment, unprojection, depth edges, normals and point clouds.

Pure functions of arrays. One alignment routine serves evaluation, tiles, video and meters: masked
least squares of scale and shift, in whatever space the caller hands it (disparity, as a rule).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from sightline.errors import InputError
from sightline.types import BoolArray, Camera, DepthMap, FloatArray, Kind, PointCloud

__all__ = [
    "Alignment",
    "align",
    "depth_for_view",
    "edges",
    "normals",
    "project",
    "to_pointcloud",
    "unproject",
]

#: Far over near distance given to a relative map when it is shown in 3D. Scale and shift of a
#: relative map are unknown, so some ratio has to be assumed; the points carry no unit.
ASSUMED_FAR_OVER_NEAR = 8.0

#: Shorter side in [px] of the input of the smallest network.
NETWORK_SIDE = 256

#: Rows of a picture whose normals are computed at once, to bound the memory.
_BAND = 512


@dataclass(frozen=True, slots=True)
class Alignment:
    """`target ≈ scale · source + shift`.

    Attributes:
        scale: factor; zero when the source is flat.
        shift: offset in the unit of the target.
        residual: root mean square of what is left, weighted as the fit was.
        count: how many samples the fit saw.
    """

    scale: float
    shift: float
    residual: float
    count: int

    def __call__(self, values: NDArray[Any]) -> FloatArray:
        """Apply to an array of any shape."""
        result: FloatArray = np.asarray(values, np.float32) * np.float32(self.scale) + np.float32(
            self.shift
        )
        return result


def align(
    source: NDArray[Any],
    target: NDArray[Any],
    mask: BoolArray | None = None,
    weights: NDArray[Any] | None = None,
    *,
    robust: bool = False,
    nonnegative: bool = False,
    iterations: int = 8,
) -> Alignment:
    """Fit scale and shift from `source` to `target` by least squares.

    Args:
        source: (…) values to be moved.
        target: same shape.
        mask: same shape; True where both are to be trusted. Non-finite samples never count.
        weights: same shape, not negative.
        robust: reweight by Tukey's biweight (scale by the median absolute deviation), so that up to
            about a third of the samples may be plain wrong.
        nonnegative: never return a negative scale; a fit that wants one gets scale zero.
        iterations: number of reweighting iterations.

    Returns:
        The alignment; scale 0 and the mean of the target where the source is flat.

    >>> fit = align(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    >>> round(fit.scale, 6), round(fit.shift, 6)
    (2.0, 1.0)
    """
    if source.shape != target.shape:
        raise InputError(f"cannot align shape {source.shape} to shape {target.shape}")
    good = np.isfinite(source) & np.isfinite(target)
    if mask is not None:
        good &= mask
    if weights is not None:
        good &= np.isfinite(weights) & (weights > 0)
    x = source[good].astype(np.float64)
    y = target[good].astype(np.float64)
    base = np.ones_like(x) if weights is None else weights[good].astype(np.float64)
    if x.size == 0:
        raise InputError("cannot align: no pixel is valid in both maps")
    scale, shift = _weighted_line(x, y, base, nonnegative)
    w = base
    if robust:
        # Gross outliers pull a least squares start away, so begin at the medians.
        scale, shift = _median_line(x, y, nonnegative)
        for _ in range(iterations):
            error = y - (scale * x + shift)
            spread = 1.4826 * float(np.median(np.abs(error - np.median(error))))
            if spread <= 1e-12 * (1.0 + float(np.abs(y).max())):
                break
            w = base * np.clip(1 - (error / (4.685 * spread)) ** 2, 0, None) ** 2
            if float(w.sum()) <= 0:
                w = base
                break
            scale, shift = _weighted_line(x, y, w, nonnegative)
    error = y - (scale * x + shift)
    residual = float(np.sqrt(np.average(error**2, weights=w)))
    return Alignment(scale, shift, residual, int(x.size))


def _weighted_line(
    x: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64], nonnegative: bool
) -> tuple[float, float]:
    """Fit a weighted line in closed form, centered for numerical stability."""
    total = float(w.sum())
    mean_x, mean_y = float((w * x).sum()) / total, float((w * y).sum()) / total
    dx = x - mean_x
    variance = float((w * dx * dx).sum())
    if variance <= 1e-12 * total * (1e-12 + float(np.abs(x).max()) ** 2):
        return 0.0, mean_y
    scale = float((w * dx * (y - mean_y)).sum()) / variance
    if nonnegative and scale < 0:
        return 0.0, mean_y
    return scale, mean_y - scale * mean_x


def _median_line(
    x: NDArray[np.float64], y: NDArray[np.float64], nonnegative: bool
) -> tuple[float, float]:
    """Return the median slope over pairs half the sorted range apart, as in Siegel's estimator."""
    order = np.argsort(x, kind="stable")
    half = len(x) // 2
    if half == 0:
        return 0.0, float(np.median(y))
    low, high = order[:half], order[-half:]
    dx = x[high] - x[low]
    usable = dx > 1e-9 * (1e-12 + float(np.abs(x).max()))
    if not bool(usable.any()):
        return 0.0, float(np.median(y))
    scale = float(np.median((y[high] - y[low])[usable] / dx[usable]))
    if nonnegative:
        scale = max(scale, 0.0)
    return scale, float(np.median(y - scale * x))


def depth_for_view(depth: DepthMap, far_over_near: float = ASSUMED_FAR_OVER_NEAR) -> FloatArray:
    """Return (H, W) distance along the optical axis for showing a map in 3D; 0 where not valid.

    Metric maps give meters. A relative map gives arbitrary units: its disparity is stretched from
    the 1st to the 99th percentile so that near is 1 and far is `far_over_near`. That keeps the
    order and the look, but no ratio may be read off it.
    """
    if depth.is_metric:
        return depth.to_metric_depth().values
    if not bool(depth.valid.any()):
        return np.zeros_like(depth.values)
    low, high = np.percentile(depth.values[depth.valid], [1.0, 99.0])
    span = max(float(high - low), 1e-12)
    unit = np.clip((depth.values - low) / span, 0.0, 1.1)
    disparity = unit * (1 - 1 / far_over_near) + 1 / far_over_near
    return np.where(depth.valid, 1 / disparity, 0).astype(np.float32)


def unproject(z: NDArray[Any], camera: Camera) -> FloatArray:
    """Unproject planar depth to the camera frame.

    Args:
        z: (H, W) distance along the optical axis.
        camera: camera with the size of the map.

    Returns:
        (H, W, 3) float32 points, x right, y down, z forward, in the unit of `z`.
    """
    height, width = z.shape
    if (camera.height, camera.width) != (height, width):
        raise InputError(f"camera is for {camera.width}×{camera.height}, depth is {width}×{height}")
    inverse = np.linalg.inv(camera.K)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float64)
    pixels = np.stack([columns, rows, np.ones_like(rows)], axis=-1)
    rays = pixels @ inverse.T
    xyz: FloatArray = (rays * np.asarray(z, np.float64)[..., None]).astype(np.float32)
    return xyz


def project(xyz: NDArray[Any], camera: Camera) -> FloatArray:
    """Project (…, 3) points of the camera frame to (…, 2) pixel coordinates (x, y)."""
    image = np.asarray(xyz, np.float64) @ camera.K.T
    xy: FloatArray = (image[..., :2] / image[..., 2:]).astype(np.float32)
    return xy


def edges(
    z: NDArray[Any],
    valid: BoolArray | None = None,
    tolerance: float = 0.05,
    reach: int | None = None,
) -> BoolArray:
    """Mark pixels at depth discontinuities, where "flying points" lie between front and back.

    Across a jump disparity changes by more than the surfaces beside it do. So the change over
    2 · `reach` pixels is compared with the lesser of the changes just before and just after; what it
    has in excess must stay below `tolerance` times the disparity. A slanted plane has no excess,
    however steep: its disparity is linear in the picture.

    Args:
        z: (H, W) positive depth.
        valid: (H, W); pixels next to an invalid one are not marked for that alone.
        tolerance: relative jump.
        reach: half the width in [px] over which a jump may be smeared; None for `smear` of the size.
    """
    ok = (np.asarray(z) > 0) if valid is None else (valid & (np.asarray(z) > 0))
    disparity = np.where(ok, 1 / np.where(ok, z, 1), np.nan)
    step = smear(*disparity.shape) if reach is None else reach
    excess = np.zeros(disparity.shape)
    for axis in (0, 1):
        d = np.moveaxis(disparity, axis, 0)
        padded = np.pad(d, ((3 * step, 3 * step), (0, 0)), constant_values=np.nan)
        a, b, c, e = (padded[shift * step :][: len(d)] for shift in (0, 2, 4, 6))
        # At the border, and beside a hole, there is only one side to compare with.
        beside = np.fmin(np.abs(b - a), np.abs(e - c))
        jump = np.abs(c - b) - np.nan_to_num(beside, nan=0.0)
        along = np.moveaxis(excess, axis, 0)
        np.maximum(along, np.nan_to_num(jump, nan=0.0), out=along)
    marked: BoolArray = ok & (excess > tolerance * np.nan_to_num(disparity, nan=np.inf))
    return marked


def smear(height: int, width: int) -> int:
    """Return the half width in [px] of a depth step that a network blurs in an image of this size.

    Small networks see about 256 pixels of the shorter side; a jump between two of those is a ramp of
    that many pixels once the map is enlarged to the picture.
    """
    return max(1, -(-min(height, width) // NETWORK_SIDE))


def normals(xyz: NDArray[Any], reach: int | None = None) -> FloatArray:
    """Return (H, W, 3) unit normals of an (H, W, 3) grid, facing the camera; 0 if undefined.

    A plane n · X = 1 is linear in the picture: 1/z = n · (x/z, y/z, 1). It is fitted by least squares
    to square windows. A pixel takes the window centered at it, or one of eight beside it that contains
    the pixel and has at most half the residual; so no normal mixes the two sides of a depth edge, as
    long as a window fits on either side.

    Args:
        xyz: (H, W, 3) points, z forward; those with z ≤ 0 or not finite are left out.
        reach: half the width in [px] over which an edge may be smeared; None for `smear` of the size.
            Windows are 4 · `reach` + 1 pixels wide.
    """
    points = np.asarray(xyz)
    height, width = points.shape[:2]
    radius = 2 * (smear(height, width) if reach is None else reach)
    result = np.zeros((height, width, 3), np.float32)
    for start in range(0, height, _BAND):
        first, last = max(0, start - 2 * radius), min(height, start + _BAND + 2 * radius)
        count = min(_BAND, height - start)
        found = _window_normals(points[first:last].astype(np.float64), radius)
        result[start : start + count] = found[start - first :][:count]
    return result


def _window_normals(points: NDArray[np.float64], radius: int) -> FloatArray:
    """Return normals of a part of a grid, by the best of nine windows."""
    valid = np.isfinite(points).all(-1) & (points[..., 2] > 0)
    safe = np.where(valid[..., None], points, (0.0, 0.0, 1.0))
    rays = safe / safe[..., 2:]
    disparity = valid / safe[..., 2]
    disparity /= max(float(disparity.max(initial=0.0)), 1e-300)
    planes, residual = _window_planes(rays[..., 0], rays[..., 1], disparity, valid, radius)
    best, least = planes, residual * 0.5  # noise alone should not move the window
    ok = np.isfinite(residual)
    offsets = (-radius, 0, radius)
    for shift in product(offsets, offsets):
        if shift == (0, 0):
            continue
        other = _shifted(residual, shift, np.inf)
        better = other < least
        best = np.where(better[..., None], _shifted(planes, shift, 0.0), best)
        least = np.where(better, other, least)
        ok |= better
    length = np.linalg.norm(best, axis=-1, keepdims=True)
    ok &= valid & (length[..., 0] > 0)
    unit = np.divide(best, length, out=np.zeros_like(best), where=ok[..., None])
    away = (unit * rays).sum(-1, keepdims=True) > 0
    return np.where(away, -unit, unit).astype(np.float32)


def _window_planes(
    s: NDArray[np.float64],
    t: NDArray[np.float64],
    d: NDArray[np.float64],
    valid: BoolArray,
    radius: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit d = a·s + b·t + c to the window around each pixel.

    Returns:
        (H, W, 3) a, b, c and the (H, W) residual variance, infinite where less than a quarter of the
        window is valid.
    """
    side = 2 * radius + 1
    weight = valid.astype(np.float64)

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        total = uniform_filter(values * weight, side, mode="constant")
        found: NDArray[np.float64] = total / np.maximum(share, 1e-12)
        return found

    share = uniform_filter(weight, side, mode="constant")
    ms, mt, md = mean(s), mean(t), mean(d)
    ss, st, tt = mean(s * s) - ms * ms, mean(s * t) - ms * mt, mean(t * t) - mt * mt
    sd, td, dd = mean(s * d) - ms * md, mean(t * d) - mt * md, mean(d * d) - md * md
    det = ss * tt - st * st
    ok = valid & (share > 0.25) & (det > 1e-4 * (ss + tt) ** 2)
    safe = np.where(ok, det, 1.0)
    a, b = (tt * sd - st * td) / safe, (ss * td - st * sd) / safe
    planes = np.stack([a, b, md - a * ms - b * mt], axis=-1)
    residual = np.where(ok, np.maximum(dd - a * sd - b * td, 0.0), np.inf)
    return planes, residual


def _shifted(values: NDArray[Any], shift: tuple[int, int], fill: float) -> NDArray[Any]:
    """Return `values[row + shift[0], column + shift[1]]`, `fill` beyond the border."""
    result = np.full_like(values, fill)
    (to_rows, of_rows), (to_columns, of_columns) = (
        (slice(max(0, -k), max(0, n - max(0, k))), slice(max(0, k), max(0, n + min(0, k))))
        for k, n in zip(shift, values.shape[:2], strict=True)
    )
    result[to_rows, to_columns] = values[of_rows, of_columns]
    return result


def to_pointcloud(
    depth: DepthMap,
    rgb: NDArray[np.uint8] | None = None,
    *,
    mesh: bool = False,
    edge_tolerance: float | None = 0.05,
    max_points: int | None = None,
) -> PointCloud:
    """Convert a depth map to a colored point cloud or mesh, without flying points at edges.

    Args:
        depth: the map; relative ones are stretched by `depth_for_view` and get no unit.
        rgb: (H, W, 3) uint8 colors of the same picture.
        mesh: join neighboring pixels by triangles.
        edge_tolerance: relative jump above which a pixel counts as an edge; None keeps all.
        max_points: thin the grid evenly (every n-th row and column) to at most this many pixels.
    """
    if rgb is not None and rgb.shape != (*depth.values.shape, 3):
        raise InputError(f"picture is {rgb.shape}, depth map is {depth.values.shape}")
    camera = depth.camera or Camera.assumed(depth.width, depth.height)
    z = depth_for_view(depth)
    keep = z > 0
    if edge_tolerance is not None:
        keep &= ~edges(z, keep, edge_tolerance)
    xyz = unproject(z, camera)
    step = 1
    if max_points is not None and z.size > max_points:
        step = int(np.ceil(np.sqrt(z.size / max_points)))
    xyz, keep = xyz[::step, ::step], keep[::step, ::step]
    colors = None if rgb is None else rgb[::step, ::step][keep]
    faces = _grid_faces(keep) if mesh else None
    unit = "m" if depth.kind is not Kind.RELATIVE_DISPARITY else ""
    return PointCloud(xyz[keep], colors, unit, faces)


def _grid_faces(keep: BoolArray) -> NDArray[np.int32]:
    """Two triangles per cell of four kept corners, counter-clockwise seen from the camera."""
    index = np.full(keep.shape, -1, np.int32)
    index[keep] = np.arange(int(keep.sum()), dtype=np.int32)
    a, b = index[:-1, :-1], index[:-1, 1:]
    c, d = index[1:, :-1], index[1:, 1:]
    whole = (a >= 0) & (b >= 0) & (c >= 0) & (d >= 0)
    a, b, c, d = a[whole], b[whole], c[whole], d[whole]
    return np.concatenate([np.stack([a, c, b], -1), np.stack([b, c, d], -1)]).astype(np.int32)
