"""Known sizes given by the user: lengths, depths at pixels, heights of objects, camera height.

As text, a known size is `pixels=length`: `120,400,180,400=0.9m`, `320,240=3.2m`. Lengths are in meters,
centimeters, millimeters, kilometers, feet or inches; a number without a unit is in meters. `±` or `+-`
adds a standard deviation: `0.9m±2cm`, `3.2±5%`. Depths may also be read from a table (`read_points`).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sightline.errors import InputError
from sightline.io.reading import read_bytes
from sightline.metric.evidence import (
    READING,
    DepthEvidence,
    Doubles,
    LengthEvidence,
    condense,
    condense_weighted,
)
from sightline.metric.sampling import POINTING, check_inside, rays_at, read, sample
from sightline.types import Camera, DepthMap

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254, "km": 1000.0, "": 1.0}
#: Accepted lengths in [m]: 0.1 mm to 100 km. Anything else is most likely a wrong unit.
SHORTEST, LONGEST = 1e-4, 1e5
#: Relative standard deviation of a length given without one: a tape measure, or a good guess.
USUAL_SIGMA = 0.01
#: Relative standard deviation of a measured depth map.
MEASURED = 0.02
#: Up to this number, each known depth is a piece of evidence; more are grouped by distance.
FEW = 12
#: Largest table of depths in [B].
_MOST_BYTES = 100_000_000

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*([a-z]*)\s*(?:(?:±|\+-)\s*({_NUMBER})\s*([a-z]*|%))?\s*")


def _check_meters(meters: float) -> None:
    if not SHORTEST <= meters <= LONGEST:
        raise InputError(
            f"a length must lie between 0.1 mm and 100 km, got {meters:g} m",
            remedy="check its unit",
        )


@dataclass(frozen=True, slots=True)
class Length:
    """Known length between two pixels of an image.

    Attributes:
        start: pixel (x, y); the top left pixel is (0, 0).
        end: pixel (x, y).
        meters: distance between the points seen at the two pixels, in [m].
        relative_sigma: standard deviation divided by the length.

    >>> Length((120, 400), (180, 400), 0.9).name
    'length 120,400 to 180,400 = 0.9 m'
    """

    start: tuple[float, float]
    end: tuple[float, float]
    meters: float
    relative_sigma: float = USUAL_SIGMA

    def __post_init__(self) -> None:
        _check_meters(self.meters)

    @classmethod
    def parse(cls, text: str) -> Length:
        """Parse `x,y,x,y=length`.

        >>> Length.parse("120,400,180,400=90cm").meters
        0.9
        """
        (x0, y0, x1, y1), size = parse_known(text, 4)
        return cls((x0, y0), (x1, y1), *size)

    @property
    def name(self) -> str:
        """Description for messages and records."""
        (x0, y0), (x1, y1) = self.start, self.end
        return f"length {x0:g},{y0:g} to {x1:g},{y1:g} = {self.meters:g} m"

    @property
    def pixels(self) -> tuple[float, ...]:
        """Coordinates x, y, x, y."""
        return (*self.start, *self.end)

    @property
    def pixel_size(self) -> float:
        """Distance of the two pixels in [px]."""
        return math.dist(self.start, self.end)

    def check(self, width: int, height: int) -> None:
        """Raise InputError if an end lies outside the image or both are the same place."""
        for x, y in (self.start, self.end):
            check_inside(x, y, width, height, self.name)
        if self.pixel_size < 2 * POINTING:
            raise InputError(
                f"{self.name}: its ends are {self.pixel_size:.1f} pixels apart",
                remedy="give a longer one",
            )

    def evidence(self, relative: DepthMap, camera: Camera) -> LengthEvidence:
        """Read relative disparity at both ends (at an edge, on its nearer side)."""
        self.check(relative.width, relative.height)
        rays = rays_at(camera, np.array([self.start, self.end], np.float64))
        places = [sample(relative, x, y, self.name) for x, y in (self.start, self.end)]
        values = np.array([np.median(relative.values[place.pixels]) for place in places])
        pointing = 1.41 * POINTING / self.pixel_size
        sigma = math.hypot(self.relative_sigma, pointing, READING)
        return LengthEvidence(self.name, rays, values, self.meters, sigma)


@dataclass(frozen=True, slots=True)
class KnownDepth:
    """Known depth, along the optical axis, at a pixel of an image.

    Attributes:
        point: pixel (x, y); the top left pixel is (0, 0).
        meters: depth in [m].
        relative_sigma: standard deviation divided by the depth.
    """

    point: tuple[float, float]
    meters: float
    relative_sigma: float = USUAL_SIGMA

    def __post_init__(self) -> None:
        _check_meters(self.meters)

    @classmethod
    def parse(cls, text: str) -> KnownDepth:
        """Parse `x,y=length`.

        >>> KnownDepth.parse("320,240=3.2m±5%").relative_sigma
        0.05
        """
        (x, y), size = parse_known(text, 2)
        return cls((x, y), *size)

    @property
    def name(self) -> str:
        """Description for messages and records."""
        return f"depth at {self.point[0]:g},{self.point[1]:g} = {self.meters:g} m"

    @property
    def pixels(self) -> tuple[float, ...]:
        """Coordinates x, y."""
        return self.point

    @property
    def pixel_size(self) -> float:
        """Infinity: depth on one object does not change with the exact pixel."""
        return math.inf

    def check(self, width: int, height: int) -> None:
        """Raise InputError if the point lies outside the image."""
        check_inside(*self.point, width, height, self.name)

    def evidence(self, relative: DepthMap) -> DepthEvidence:
        """Read relative disparity at the pixel."""
        value = read(relative, *self.point, self.name)
        sigma = math.hypot(self.relative_sigma, READING)
        return DepthEvidence(self.name, "point", np.array([value]), np.array([self.meters]), sigma)


@dataclass(frozen=True, slots=True)
class KnownBox:
    """Object of known height that fills a box of an image, upright and facing the camera.

    Attributes:
        box: left, top, right and bottom in [px].
        meters: height of the object in [m].
        relative_sigma: standard deviation divided by the height.
    """

    box: tuple[float, float, float, float]
    meters: float
    relative_sigma: float = USUAL_SIGMA

    def __post_init__(self) -> None:
        _check_meters(self.meters)

    @classmethod
    def parse(cls, text: str) -> KnownBox:
        """Parse `left,top,right,bottom=height`.

        >>> KnownBox.parse("60,2,80,42=2m").box
        (60.0, 2.0, 80.0, 42.0)
        """
        (left, top, right, bottom), size = parse_known(text, 4)
        return cls((left, top, right, bottom), *size)

    @property
    def name(self) -> str:
        """Description for messages and records."""
        left, top, right, bottom = self.box
        return f"box {left:g},{top:g},{right:g},{bottom:g} = {self.meters:g} m high"

    @property
    def pixels(self) -> tuple[float, ...]:
        """Coordinates left, top, right, bottom."""
        return self.box

    @property
    def pixel_size(self) -> float:
        """Height of the box in [px]."""
        return self.box[3] - self.box[1]

    def check(self, width: int, height: int) -> None:
        """Raise InputError if the box is empty or not inside the image."""
        left, top, right, bottom = self.box
        if right - left < 2 or bottom - top < 2:
            raise InputError(
                f"{self.name}: a box needs left < right and top < bottom, 2 pixels at least"
            )
        check_inside(left, top, width, height, self.name)
        check_inside(right, bottom, width, height, self.name)

    def evidence(self, relative: DepthMap, camera: Camera) -> DepthEvidence:
        """Compute the depth from the height, and read relative disparity inside the box."""
        self.check(relative.width, relative.height)
        left, top, right, bottom = self.box
        for x, y in ((left, top), (right, bottom)):
            read(relative, x, y, self.name)
        # Pinhole camera: depth = focal length · height / height in pixels.
        depth = camera.K[1, 1] * self.meters / (bottom - top)
        # The central part only, because the border of a box shows the background.
        rows = slice(round(top + 0.3 * (bottom - top)), round(bottom - 0.3 * (bottom - top)) + 1)
        columns = slice(round(left + 0.3 * (right - left)), round(right - 0.3 * (right - left)) + 1)
        inside = relative.valid[rows, columns]
        if not inside.any():
            raise InputError(f"{self.name}: no depth is known inside the box")
        values = relative.values[rows, columns][inside].astype(np.float64)
        sigma = math.hypot(self.relative_sigma, 2 * POINTING / (bottom - top), READING)
        points = condense(values, np.full(len(values), depth))
        return DepthEvidence(self.name, "object", *points, sigma, focal_power=1.0)


@dataclass(frozen=True, slots=True)
class CameraHeight:
    """Known height of the camera above the floor, which is detected in the image.

    Attributes:
        meters: height in [m].
        relative_sigma: standard deviation divided by the height.
    """

    meters: float
    relative_sigma: float = USUAL_SIGMA

    def __post_init__(self) -> None:
        _check_meters(self.meters)

    @classmethod
    def parse(cls, text: str) -> CameraHeight:
        """Parse a length such as `1.5m`."""
        return cls(*parse_length(text))


@dataclass(frozen=True, slots=True)
class KnownSizes:
    """Everything the user knows about the size of a scene.

    Attributes:
        lengths: known lengths between two pixels.
        depths: known depths at pixels.
        boxes: objects of known height.
        camera_height: height of the camera above the floor.
        measured: measured metric depth of the image's size, sparse or dense.
    """

    lengths: tuple[Length, ...] = ()
    depths: tuple[KnownDepth, ...] = ()
    boxes: tuple[KnownBox, ...] = ()
    camera_height: CameraHeight | None = None
    measured: DepthMap | None = None

    @classmethod
    def of(cls, known: Iterable[KnownSize]) -> KnownSizes:
        """Sort known sizes by type; at most one camera height and one measured depth map."""
        known = list(known)
        for item in known:
            if not isinstance(item, Length | KnownDepth | KnownBox | CameraHeight | DepthMap):
                raise InputError(
                    f"{item!r} is not a known size",
                    remedy="use Length, KnownDepth, KnownBox, CameraHeight or a metric DepthMap",
                )
        heights = [item for item in known if isinstance(item, CameraHeight)]
        maps = [item for item in known if isinstance(item, DepthMap)]
        if len(heights) > 1 or len(maps) > 1:
            raise InputError("give at most one camera height and one measured depth map")
        if maps and not maps[0].is_metric:
            raise InputError("a measured depth map must be metric", remedy="give depth in meters")
        return cls(
            tuple(item for item in known if isinstance(item, Length)),
            tuple(item for item in known if isinstance(item, KnownDepth)),
            tuple(item for item in known if isinstance(item, KnownBox)),
            heights[0] if heights else None,
            maps[0] if maps else None,
        )

    def check(self, width: int, height: int) -> None:
        """Raise InputError for pixels outside an image of this size in [px], before any work."""
        items: tuple[Length | KnownDepth | KnownBox, ...] = (
            *self.lengths,
            *self.depths,
            *self.boxes,
        )
        for item in items:
            item.check(width, height)


#: What `sightline.metric` accepts as known.
KnownSize = Length | KnownDepth | KnownBox | CameraHeight | DepthMap


def measured_evidence(
    relative: DepthMap, measured: DepthMap, relative_sigma: float = MEASURED
) -> list[DepthEvidence]:
    """Return the evidence of a sparse or dense map of measured depth.

    Errors of pixels at similar distance are correlated, so a thousand points are not a thousand
    independent pieces of evidence: they are grouped by depth into at most eight.

    Args:
        relative: (H, W) relative disparity of the image.
        measured: (H, W) metric depth, valid where measured.
        relative_sigma: relative standard deviation of the sensor.
    """
    if measured.values.shape != relative.values.shape:
        raise InputError(
            f"measured depth is {measured.width}×{measured.height}, "
            f"the picture {relative.width}×{relative.height}"
        )
    meters = measured.to_metric_depth()
    both = meters.valid & relative.valid
    if not both.any():
        raise InputError("measured depth and picture share no known pixel")
    depth = meters.values[both].astype(np.float64)
    if depth.max() > LONGEST:
        raise InputError(f"measured depth must be at most 100 km, got {depth.max():g} m")
    values = relative.values[both].astype(np.float64)
    return _by_distance(values, depth, np.full(len(depth), relative_sigma))


def point_evidence(relative: DepthMap, points: Sequence[KnownDepth]) -> list[DepthEvidence]:
    """Return the evidence of known depths: one piece each, or grouped by distance if many."""
    if len(points) <= FEW:
        return [point.evidence(relative) for point in points]
    values = [
        read(relative, *point.point, f"depth at {point.point[0]:g},{point.point[1]:g}")
        for point in points
    ]
    depth = np.array([point.meters for point in points])
    sigmas = np.array([point.relative_sigma for point in points])
    return _by_distance(np.array(values), depth, sigmas)


def _by_distance(values: Doubles, depth: Doubles, sigmas: Doubles) -> list[DepthEvidence]:
    """Group points by distance; within a group they are weighted by their precision.

    Args:
        values: (N,) relative disparity.
        depth: (N,) known depth in [m].
        sigmas: (N,) relative standard deviation of each depth.
    """
    weights = 1 / (sigmas**2 + READING**2)
    order = np.argsort(depth, kind="stable")
    groups = np.array_split(order, min(8, max(1, len(order) // 8)))
    evidence = []
    for number, group in enumerate(groups, 1):
        name = (
            f"measured depth {number} of {len(groups)}, "
            f"{depth[group].min():.2f} to {depth[group].max():.2f} m"
        )
        own = math.sqrt(float(np.average(sigmas[group] ** 2, weights=weights[group])))
        points = condense_weighted(values[group], depth[group], weights[group])
        evidence.append(
            DepthEvidence(name, "point", *points[:2], math.hypot(own, READING), weights=points[2])
        )
    return evidence


class ParsedLength(NamedTuple):
    """Length in [m] and its relative standard deviation."""

    meters: float
    relative_sigma: float = USUAL_SIGMA


def parse_length(text: str) -> ParsedLength:
    """Parse a positive length with its unit.

    >>> parse_length("90cm")
    ParsedLength(meters=0.9, relative_sigma=0.01)
    >>> parse_length("2m+-10cm").relative_sigma
    0.05
    """
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise InputError(f"{text!r} is not a length", remedy="write it like 0.9m, 90cm or 3ft")
    number, unit, spread, spread_unit = found.groups()
    meters = float(number) * _unit(unit, text)
    if not (math.isfinite(meters) and meters > 0):
        raise InputError(f"a length must be positive and finite, got {text!r}")
    _check_meters(meters)
    if spread is None:
        return ParsedLength(meters)
    share = float(spread) / 100 if spread_unit == "%" else None
    if share is None:
        share = float(spread) * _unit(spread_unit or unit, text) / meters
    if not 0 < share < 1:
        raise InputError(
            f"the uncertainty of {text!r} must be positive and less than the length itself"
        )
    return ParsedLength(meters, share)


def _unit(unit: str, text: str) -> float:
    if unit not in UNITS:
        known = ", ".join(name for name in UNITS if name)
        raise InputError(f"unknown unit {unit!r} in {text!r}", remedy=f"use one of {known}")
    return UNITS[unit]


def parse_pixels(text: str, count: int) -> tuple[float, ...]:
    """Parse `count` finite numbers separated by commas.

    >>> parse_pixels("320,240.5", 2)
    (320.0, 240.5)
    """
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(math.isfinite(n) for n in numbers):
        raise InputError(f"{text!r} is not {count} numbers separated by commas")
    return numbers


def parse_known(text: str, count: int) -> tuple[tuple[float, ...], ParsedLength]:
    """Parse `pixels=length` with `count` coordinates."""
    place, equals, length = text.partition("=")
    if not equals:
        example = ",".join("xyxyxyxy"[:count])
        raise InputError(f"{text!r} has no length", remedy=f"write {example}=0.9m")
    return parse_pixels(place, count), parse_length(length)


def read_points(path: str | Path) -> list[KnownDepth]:
    """Read known depths from a CSV table with lines `x,y,depth` or `x,y,depth,sigma`.

    Pixels, and meters for depth and sigma, as a total station, a laser range finder or LiDAR returns
    give them. A header line, empty lines and lines that begin with `#` are skipped.

    Raises:
        InputError: the file is not such a table; names the first bad line.
    """
    path = Path(path)
    data = read_bytes(path, limit=_MOST_BYTES, what="table of depths")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("is not text", path=path, remedy="write x,y,depth in each line") from error
    points: list[KnownDepth] = []
    for number, words in enumerate(csv.reader(lines), 1):
        if not words or words[0].lstrip().startswith("#") or not "".join(words).strip():
            continue
        if number == 1 and not _is_number(words[0]):
            continue
        points.append(_point(words, path, number))
    if not points:
        raise InputError("has no depth in it", path=path, remedy="write x,y,depth in each line")
    return points


def _point(words: list[str], path: Path, number: int) -> KnownDepth:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    good = len(values) in (3, 4) and all(math.isfinite(value) for value in values)
    if good:
        good = SHORTEST <= values[2] <= LONGEST and (len(values) == 3 or 0 < values[3] < values[2])
    if not good:
        raise InputError(
            f"line {number} is not a pixel with a depth",
            path=path,
            remedy="write x,y,depth or x,y,depth,sigma, in pixels and meters, 100 km at most",
        )
    sigma = values[3] / values[2] if len(values) == 4 else USUAL_SIGMA
    return KnownDepth((values[0], values[1]), values[2], sigma)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
