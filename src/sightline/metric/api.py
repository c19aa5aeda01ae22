"""Python entry points: `sightline.metric` and `sightline.measure`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.errors import InputError
from sightline.io import depth_files
from sightline.io.reading import naming, read_bytes
from sightline.metric.estimation import MetricResult
from sightline.metric.focal_length import focal_sigma
from sightline.metric.known_sizes import KnownSize, KnownSizes, parse_pixels
from sightline.metric.measurement import DistanceMeasurement, measure_between
from sightline.metric.metric_fit import MetricFit, from_record
from sightline.metric.options import MetricConfig
from sightline.metric.work import known_of, load_tools, meters_of
from sightline.types import Camera, DepthMap

if TYPE_CHECKING:
    from sightline.depth.preprocessing import Pictureable

#: Warning for a map whose fit is not known.
PIXELS_ALONE = (
    "no .json of this map is beside it, so errors are taken pixel by pixel: the error bars are rougher "
    "than those from the picture, and most are longer"
)
#: Options that do not affect an existing metric depth map.
_HARMLESS = ("people", "sigma", "threads", "accept_license", "max_pixels", "seed")
_UNREADABLE = (InputError, ValueError, TypeError, KeyError, RecursionError)


def metric(
    image: Pictureable,
    known: Iterable[KnownSize] = (),
    *,
    camera: Camera | None = None,
    fov: float | None = None,
    **settings: Any,
) -> MetricResult:
    """Estimate metric depth of an image from people in it and from known sizes.

    >>> import sightline as sl
    >>> known = [sl.Length((200, 200), (330, 200), 0.08)]
    >>> result = sl.metric("photo.jpg", known, people=False)  # doctest: +SKIP
    >>> result.depth.save("photo.npz")  # doctest: +SKIP

    Args:
        image: path, bytes, stream, Pillow image or (H, W, 3) uint8 sRGB array.
        known: `Length`, `KnownDepth`, `KnownBox`, `CameraHeight`, or a `DepthMap` of measured metric
            depth.
        camera: calibrated camera of the image; None to use EXIF, or vanishing points.
        fov: horizontal field of view in [degrees], instead of `camera`.
        settings: further fields of the configuration of `sightline metric`, such as `model`,
            `people`, `iris`, `painter` or `seed`.

    Returns:
        Metric depth with its uncertainty, the evidence, warnings and detected people.

    Raises:
        InputError: there is no evidence of scale, or an input is invalid.
    """
    from sightline.depth.preprocessing import as_picture

    options = MetricConfig(fov=fov, **settings)
    picture = as_picture(image)
    if camera is not None:
        picture = replace(picture, camera=camera)
    return meters_of(picture, merge_known(known_of(options), known), load_tools(options), options)


def merge_known(given: KnownSizes, more: Iterable[KnownSize]) -> KnownSizes:
    """Join two sets of known sizes; a camera height or measured map in `more` takes precedence."""
    other = KnownSizes.of(more)
    return KnownSizes(
        given.lengths + other.lengths,
        given.depths + other.depths,
        given.boxes + other.boxes,
        other.camera_height or given.camera_height,
        given.measured if other.measured is None else other.measured,
    )


def measure(
    source: MetricResult | DepthMap | str | Path,
    start: tuple[float, float],
    end: tuple[float, float],
) -> DistanceMeasurement:
    """Measure the distance between the points seen at two pixels.

    >>> import numpy as np, sightline as sl
    >>> camera = sl.Camera.from_focal(100.0, 201, 101)
    >>> wall = sl.DepthMap(np.full((101, 201), 4.0, np.float32), sl.Kind.METRIC_DEPTH, camera=camera)
    >>> round(sl.measure(wall, (50, 50), (150, 50)).value, 3)
    4.0

    Args:
        source: result of `sightline.metric`, a metric `DepthMap` with its camera, or the path of a
            `.npz` written by `sightline metric`.
        start: pixel (x, y); the top left pixel is (0, 0).
        end: pixel (x, y).

    Returns:
        The distance in [m] with its standard deviation, and further quantities.
    """
    first, second = _pixel(start), _pixel(end)
    if isinstance(source, MetricResult):
        return _between(source.depth, first, second, source.fit)
    if isinstance(source, DepthMap):
        return _between(source, first, second, None)
    depth = depth_files.read_depth(source)
    fit = _fit_beside(source, depth)
    found = _between(depth, first, second, fit)
    return found if fit else replace(found, notes=(*found.notes, PIXELS_ALONE))


def measure_file(
    path: str | Path, start: str, end: str, options: MetricConfig | None = None
) -> tuple[DistanceMeasurement, MetricResult | None]:
    """Measure between two pixels of an image file or of a `.npz` of metric depth.

    Args:
        path: image, or `.npz` written by `sightline metric`.
        start: pixel `x,y`.
        end: pixel `x,y`.
        options: evidence and models for an image; must be the defaults for a `.npz`.

    Returns:
        The measurement, and the metric result of an image; None for a `.npz`.
    """
    options = options or MetricConfig()
    first, second = _pixel(start), _pixel(end)
    if Path(path).suffix.lower() == ".npz":
        _check_no_options(path, options)
        return measure(path, first, second), None
    from sightline.io.images import read_picture

    picture = read_picture(path, max_pixels=options.max_pixels)
    with naming(path):
        result = meters_of(picture, known_of(options), load_tools(options), options)
    return measure(result, first, second), result


def origin_of(path: str | Path) -> str:
    """Return the names of the evidence of a `.npz`, from the `.json` beside it."""
    record = record_of(path)
    try:
        names = [str(one["name"]) for one in _read_record(record)["evidence"]]
    except _UNREADABLE:
        return f"unknown evidence: {Path(path).name} has no {record.name} beside it"
    return ", ".join(names)


def record_of(path: str | Path) -> Path:
    """Return the path of the record that `sightline metric` writes beside a `.npz`."""
    return Path(path).with_suffix(".json")


def _read_record(record: Path) -> Any:
    """Read a record; raises one of `_UNREADABLE`."""
    return json.loads(read_bytes(record, limit=10_000_000, what="record"))


def _fit_beside(path: str | Path, depth: DepthMap) -> MetricFit | None:
    """Return the fit of a `.npz` from the `.json` beside it; None if that belongs to another map."""
    try:
        record = _read_record(record_of(path))
        middle = float(np.median(depth.values[depth.valid]))
        return (
            from_record(record["fit"]) if math.isclose(record["median_depth_m"], middle) else None
        )
    except _UNREADABLE:
        return None


def _check_no_options(path: str | Path, options: MetricConfig) -> None:
    """Raise InputError for options that would change the metric depth of an existing `.npz`."""
    usual = MetricConfig()
    given = [
        f"--{field.name.replace('_', '-')}"
        for field in fields(MetricConfig)
        if field.name not in _HARMLESS
        and getattr(options, field.name) != getattr(usual, field.name)
    ]
    if given:
        raise InputError(
            "holds meters already",
            path=path,
            remedy=f"leave out {', '.join(given)}, or give the picture",
        )


def _pixel(place: str | tuple[float, ...]) -> tuple[float, float]:
    try:
        numbers = parse_pixels(place, 2) if isinstance(place, str) else tuple(map(float, place))
    except (TypeError, ValueError) as error:
        raise InputError(f"{place!r} is not a pixel (x, y)") from error
    if len(numbers) != 2 or not all(map(math.isfinite, numbers)):
        raise InputError(f"{place!r} is not a pixel (x, y)")
    return numbers[0], numbers[1]


def _between(
    depth: DepthMap, start: tuple[float, ...], end: tuple[float, ...], fit: MetricFit | None
) -> DistanceMeasurement:
    if depth.camera is None:
        raise InputError("the depth map has no camera", remedy="make it with sightline metric")
    return measure_between(depth, start, end, fit=fit, focal_sigma=focal_sigma(depth.camera))
