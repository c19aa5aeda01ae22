"""Measure in metric depth: distances, depths, angles and heights between two pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.metric.evidence import Doubles
from sightline.metric.floor import find_floor
from sightline.metric.metric_fit import MetricFit
from sightline.metric.sampling import POINTING, edge_warning, rays_at, sample
from sightline.types import Camera, DepthMap, Kind, Measurement

#: Smallest determinant of the rays to three points of the floor that determine its plane.
LEAST_SPREAD = 1e-3
#: Number of random draws whose spread is the uncertainty.
DRAWS = 400


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DistanceMeasurement(Measurement):
    """Distance between the points seen at two pixels, in [m], and related quantities.

    `value`, `sigma` and `unit` are those of the distance.

    Attributes:
        depths: of both points along the optical axis, in [m].
        ranges: distances of both points from the camera, in [m].
        across: offset from the first to the second: right, down and forward, in [m].
        elevation: angle of the line to the horizontal plane of the camera, in [degrees].
        angle: between both points as seen from the camera, in [degrees].
        heights: of both points above the floor, in [m]; None if no floor was detected.
        notes: reasons for caution, one line each.
    """

    depths: tuple[Measurement, Measurement]
    ranges: tuple[Measurement, Measurement]
    across: tuple[Measurement, Measurement, Measurement]
    elevation: Measurement
    angle: Measurement
    heights: tuple[Measurement, Measurement] | None
    notes: tuple[str, ...] = ()

    @property
    def distance(self) -> Measurement:
        """The distance alone."""
        return Measurement(self.value, self.sigma, self.unit)


def measure_between(
    depth: DepthMap,
    start: tuple[float, ...],
    end: tuple[float, ...],
    *,
    fit: MetricFit | None = None,
    focal_sigma: float = 0.0,
) -> DistanceMeasurement:
    """Measure between two pixels, with uncertainties by Monte Carlo sampling.

    Error sources: the scale, common to all pixels; each pixel's own error; the position of the pixel;
    and the focal length. With the fit of the map, errors of scale and focal length are correlated as in
    the fit, so a length that was given is as certain as it was given, whatever the lens. Without it,
    the smallest sigma is taken as common to all pixels, and the focal length as independent.

    Args:
        depth: metric depth with its camera.
        start: pixel (x, y).
        end: pixel (x, y).
        fit: the fit that made the map, if known.
        focal_sigma: relative standard deviation of the focal length, used without a fit.

    Raises:
        InputError: the map is not metric or has no camera, or a pixel has no depth.
    """
    if depth.kind is not Kind.METRIC_DEPTH or depth.camera is None:
        raise InputError("measuring needs metric depth with its camera")
    places = np.array([start, end], np.float64)
    readings = [_read(depth, x, y) for x, y in places]
    if np.array_equal(places[0], places[1]):
        raise InputError("both ends are the same pixel")
    floor = _floor_corners(depth)
    if floor is not None:
        places = np.vstack([places, floor.places])
        readings += list(zip(floor.depths, floor.sigmas, strict=True))
    z, sigmas = np.array(readings).T
    share = sigmas / z
    rng = np.random.default_rng(0)
    logs, focal = (
        _varied_alone(share, focal_sigma, rng) if fit is None else _varied(z, share, fit, rng)
    )
    pointed = np.where(np.arange(len(places)) < 2, POINTING, 0.0)[:, None]
    pixels = places + pointed * rng.standard_normal((len(logs), *places.shape))
    varied = _facts(_points(depth.camera, pixels, z * np.exp(logs), focal))
    facts = _facts(_points(depth.camera, places[None], z[None], np.ones(1)))
    values = {
        name: Measurement(
            float(facts[name][0]),
            float(_spread(varied[name])),
            "°" if name in ("elevation", "angle") else "m",
        )
        for name in facts
    }
    return DistanceMeasurement(
        value=values["distance"].value,
        sigma=values["distance"].sigma,
        depths=(values["depth0"], values["depth1"]),
        ranges=(values["range0"], values["range1"]),
        across=(values["right"], values["down"], values["farther"]),
        elevation=values["elevation"],
        angle=values["angle"],
        heights=None if floor is None else (values["height0"], values["height1"]),
        notes=tuple(edge_warning(x, y) for x, y in (start, end) if sample(depth, x, y).edge),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Corners:
    """Three distant points of the floor, which represent its plane in the random draws.

    Attributes:
        places: (3, 2) pixels (x, y).
        depths: (3,) depth of the floor there in [m].
        sigmas: (3,) standard deviation of the depths in [m].
    """

    places: Doubles
    depths: Doubles
    sigmas: Doubles


def _floor_corners(depth: DepthMap) -> _Corners | None:
    """Detect the floor in metric depth; a plane is linear in inverse depth over the image."""
    assert depth.camera is not None
    with np.errstate(divide="ignore"):
        inverse = np.where(depth.valid, 1 / depth.values, 0).astype(np.float32)
    try:
        floor = find_floor(
            DepthMap(inverse, Kind.RELATIVE_DISPARITY, depth.valid, camera=depth.camera),
            depth.camera,
            shift=0.0,
        )
    except InputError:
        return None
    rows, columns = np.nonzero(floor.inside)
    if len(rows) < 3:
        return None
    corners = [np.argmax(rows - columns), np.argmax(rows + columns), np.argmin(rows)]
    places = np.column_stack([columns[corners], rows[corners]]).astype(np.float64)
    rays = np.column_stack([rays_at(depth.camera, places), np.ones(3)])
    near = rays @ floor.plane
    spread = abs(float(np.linalg.det(rays))) > LEAST_SPREAD
    if near.min() <= 0 or not spread:
        return None
    pixels = rows[corners], columns[corners]
    share = 0.0 if depth.sigma is None else depth.sigma[pixels] / depth.values[pixels]
    return _Corners(places, 1 / near, np.asarray(np.hypot(share, floor.spread) / near, np.float64))


def _varied_alone(
    share: Doubles, focal_sigma: float, rng: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Draw (B, P) changes of ln(depth) and (B,) factors of the focal length, from sigma alone."""
    common = float(share.min())
    own = np.sqrt(np.maximum(share**2 - common**2, 0))
    logs = common * rng.standard_normal((DRAWS, 1))
    logs = logs + own * rng.standard_normal((DRAWS, len(share)))
    return logs, np.exp(focal_sigma * rng.standard_normal(DRAWS))


def _varied(
    z: Doubles, share: Doubles, fit: MetricFit, rng: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Draw the same from the variants of the fit, plus the remaining variance of each pixel."""
    disparity = (1 / z - fit.shift) / fit.scale
    logs, focal = fit.varied(disparity)
    repeats = -(-DRAWS // len(logs))
    own = np.sqrt(np.maximum(share**2 - fit.relative_sigma(disparity) ** 2, 0))
    logs = np.repeat(logs, repeats, axis=0)
    return logs + own * rng.standard_normal(logs.shape), np.repeat(focal, repeats)


def _read(depth: DepthMap, x: float, y: float) -> tuple[float, float]:
    """Return the median depth and sigma at a pixel, on the nearer side of an edge."""
    pixels = sample(depth, x, y).pixels
    value = float(np.median(depth.values[pixels]))
    return value, 0.0 if depth.sigma is None else float(np.median(depth.sigma[pixels]))


def _points(camera: Camera, pixels: Doubles, depths: Doubles, focal: Doubles) -> Doubles:
    """Unproject (B, P, 2) pixels with (B, P) depths to (B, P, 3) points in [m]."""
    rays = np.ones((*pixels.shape[:2], 3))
    rays[..., :2] = rays_at(camera, pixels) / focal[:, None, None]
    return np.asarray(rays * depths[..., None])


def _facts(points: Doubles) -> dict[str, Doubles]:
    """Compute all quantities of (B, 2, 3) points, or (B, 5, 3) with three points of the floor."""
    way = points[:, 1] - points[:, 0]
    ranges = np.linalg.norm(points[:, :2], axis=-1)
    cosine = (points[:, 0] * points[:, 1]).sum(axis=-1) / (ranges[:, 0] * ranges[:, 1])
    heights = {}
    if points.shape[1] > 2:
        corner = points[:, 2]
        normal = np.cross(points[:, 3] - corner, points[:, 4] - corner)
        normal *= np.sign(normal[:, 1:2]) / -np.linalg.norm(
            normal, axis=1, keepdims=True
        )  # upwards
        for end in (0, 1):
            heights[f"height{end}"] = ((points[:, end] - corner) * normal).sum(axis=1)
    return {
        **heights,
        "distance": np.linalg.norm(way, axis=-1),
        "depth0": points[:, 0, 2],
        "depth1": points[:, 1, 2],
        "range0": ranges[:, 0],
        "range1": ranges[:, 1],
        "right": way[:, 0],
        "down": way[:, 1],
        "farther": way[:, 2],
        "elevation": np.degrees(np.arctan2(-way[:, 1], np.hypot(way[:, 0], way[:, 2]))),
        "angle": np.degrees(np.arccos(np.clip(cosine, -1, 1))),
    }


def _spread(values: Doubles) -> float:
    low, high = np.quantile(values, [0.16, 0.84])
    return float(high - low) / 2
