"""Measurements in a map of metres: where a pixel is, how far two are apart, with ±."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.metric.head.clues import Doubles
from sightline.metric.head.fit import MetricFit
from sightline.metric.yardsticks.floor import find_floor
from sightline.metric.yardsticks.known import POINTING, rays_at
from sightline.metric.yardsticks.reading import edge_note, look
from sightline.types import Camera, DepthMap, Kind

#: Least volume that the rays to three places on the floor span: narrower ones fix no plane.
LEAST_SPREAD = 1e-3
#: Varied measurements whose spread is the error bar.
DRAWS = 400


@dataclass(frozen=True, slots=True)
class Value:
    """A measured number and its standard deviation.

    Attributes:
        value: in [m], or in degrees for angles.
        sigma: one standard deviation, in the same unit.
    """

    value: float
    sigma: float

    def __str__(self) -> str:
        digits = 2 if self.sigma <= 0 else min(4, max(0, 1 - math.floor(math.log10(self.sigma))))
        value = round(self.value, digits) + 0.0  # no minus before a zero
        return f"{value:.{digits}f} ± {self.sigma:.{digits}f}"


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Two pixels in space.

    Attributes:
        distance: between them, in [m].
        depths: of both along the optical axis, in [m].
        ranges: of both from the camera, in [m].
        across: (3,) how far the second is to the right, down and farther, in [m].
        elevation: angle of the line to the horizontal plane of the camera, in [degrees].
        angle: between both as seen from the camera, in [degrees].
        heights: of both over the floor, in [m]; None where no floor is seen.
        notes: what to know of it, a line each.
    """

    distance: Value
    depths: tuple[Value, Value]
    ranges: tuple[Value, Value]
    across: tuple[Value, Value, Value]
    elevation: Value
    angle: Value
    heights: tuple[Value, Value] | None
    notes: tuple[str, ...] = ()


def measure_between(
    depth: DepthMap,
    start: tuple[float, ...],
    end: tuple[float, ...],
    *,
    fit: MetricFit | None = None,
    focal_sigma: float = 0.0,
) -> Measurement:
    """Measure from one pixel (x, y) to another.

    Errors: all depths of a picture are too large or too small together (its scale), each pixel has an
    error of its own, somebody points at it, and the lens is known so well. With the fit that made the
    metres, scale and lens go together as they do there: a length that was given is known as well
    as it was given, whatever the lens. Without it, the part that both ends share is taken to be
    the smaller of their two sigmas, and the lens to be independent.

    Args:
        depth: metric depth with its camera.
        start: pixel (x, y).
        end: pixel (x, y).
        fit: that made the map, if it is known.
        focal_sigma: relative standard deviation of the focal length, without a fit.
    """
    if depth.kind is not Kind.METRIC_DEPTH or depth.camera is None:
        raise InputError("only a map of metres with its camera can be measured in")
    places = np.array([start, end], np.float64)
    looked = [_look(depth, x, y) for x, y in places]
    if np.array_equal(places[0], places[1]):
        raise InputError("both ends are the same pixel")
    floor = _floor_corners(depth)
    if floor is not None:
        places = np.vstack([places, floor.places])
        looked += list(zip(floor.depths, floor.sigmas, strict=True))
    z, sigmas = np.array(looked).T
    share = sigmas / z
    rng = np.random.default_rng(0)
    logs, focal = (
        _varied_alone(share, focal_sigma, rng) if fit is None else _varied(z, share, fit, rng)
    )
    pointed = np.where(np.arange(len(places)) < 2, POINTING, 0.0)[:, None]
    pixels = places + pointed * rng.standard_normal((len(logs), *places.shape))
    varied = _facts(_points(depth.camera, pixels, z * np.exp(logs), focal))
    facts = _facts(_points(depth.camera, places[None], z[None], np.ones(1)))
    values = {name: Value(float(facts[name][0]), float(_spread(varied[name]))) for name in facts}
    return Measurement(
        values["distance"],
        (values["depth0"], values["depth1"]),
        (values["range0"], values["range1"]),
        (values["right"], values["down"], values["farther"]),
        values["elevation"],
        values["angle"],
        None if floor is None else (values["height0"], values["height1"]),
        tuple(edge_note(x, y) for x, y in (start, end) if look(depth, x, y).edge),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Corners:
    """Three places on the floor, far from each other: where the floor is, so are they.

    Attributes:
        places: (3, 2) pixels (x, y).
        depths: (3,) of the floor there, [m].
        sigmas: (3,) of those.
    """

    places: Doubles
    depths: Doubles
    sigmas: Doubles


def _floor_corners(depth: DepthMap) -> _Corners | None:
    """Find the floor in a map of metres; inverse depth is as straight over it as disparity."""
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
    """Return (B, P) changes of ln(depth) and (B,) factors of the focal length, from sigma alone."""
    common = float(share.min())
    own = np.sqrt(np.maximum(share**2 - common**2, 0))
    logs = common * rng.standard_normal((DRAWS, 1))
    logs = logs + own * rng.standard_normal((DRAWS, len(share)))
    return logs, np.exp(focal_sigma * rng.standard_normal(DRAWS))


def _varied(
    z: Doubles, share: Doubles, fit: MetricFit, rng: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Return the same from the variants of the fit, and what is left of sigma to each pixel alone."""
    disparity = (1 / z - fit.shift) / fit.scale
    logs, focal = fit.varied(disparity)
    repeats = -(-DRAWS // len(logs))
    own = np.sqrt(np.maximum(share**2 - fit.relative_sigma(disparity) ** 2, 0))
    logs = np.repeat(logs, repeats, axis=0)
    return logs + own * rng.standard_normal(logs.shape), np.repeat(focal, repeats)


def _look(depth: DepthMap, x: float, y: float) -> tuple[float, float]:
    """Return depth and its sigma at a pixel, medians of a small window or of an edge's nearer side."""
    pixels = look(depth, x, y).pixels
    value = float(np.median(depth.values[pixels]))
    return value, 0.0 if depth.sigma is None else float(np.median(depth.sigma[pixels]))


def _points(camera: Camera, pixels: Doubles, depths: Doubles, focal: Doubles) -> Doubles:
    """(B, P, 2) pixels and (B, P) depths → (B, P, 3) points in [m]."""
    rays = np.ones((*pixels.shape[:2], 3))
    rays[..., :2] = rays_at(camera, pixels) / focal[:, None, None]
    return np.asarray(rays * depths[..., None])


def _facts(points: Doubles) -> dict[str, Doubles]:
    """Say what (B, 2, 3) points are to each other; with three of the floor, how high they are."""
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
