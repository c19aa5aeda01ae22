"""`sightline.measure`: a distance in a picture, in one call."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import InputError
from sightline.files import depth_files
from sightline.files.reading import naming, read_bytes
from sightline.metric.estimate import Metres
from sightline.metric.head.fit import MetricFit
from sightline.metric.head.record import from_record
from sightline.metric.lens import focal_sigma
from sightline.metric.measure import Measurement, measure_between
from sightline.metric.options import Yardsticks
from sightline.metric.work import known_of, load_tools, metres_of
from sightline.metric.yardsticks.words import parse_pixels
from sightline.types import DepthMap

#: Said of a map whose fit is not known.
PIXELS_ALONE = (
    "no .json of this map is beside it, so errors are taken pixel by pixel: the error bars are rougher "
    "than those from the picture, and most are longer"
)
#: Options that have no say in what a map of metres says.
_HARMLESS = ("people", "sigma", "threads", "accept_licence", "max_pixels", "seed")
_UNREADABLE = (InputError, ValueError, TypeError, KeyError, RecursionError)


def measure(
    image: str | Path,
    start: str | tuple[float, float],
    end: str | tuple[float, float],
    options: Yardsticks | None = None,
    **settings: Any,
) -> tuple[Measurement, Metres | None]:
    """Measure between two pixels.

    >>> import sightline
    >>> found, metres = sightline.measure(  # doctest: +SKIP
    ...     "photo.jpg", (200, 200), (420, 300), length=("200,200,330,200=8cm",), people=False
    ... )
    >>> print(found.distance)  # doctest: +SKIP

    Args:
        image: a picture, or a `.npz` of `sightline metric`.
        start: pixel (x, y), or `"x,y"`.
        end: pixel (x, y), or `"x,y"`.
        options: yardsticks and models, for a picture.
        settings: or single fields of `Yardsticks`.

    Returns:
        The measurement, and how the metres came about; None for a `.npz`, which says so itself.
    """
    first, second = _place(start), _place(end)
    if Path(image).suffix.lower() == ".npz":
        _refuse_options(image, replace(options or Yardsticks(), **settings))
        depth = depth_files.read_depth(image)
        fit = _fit_beside(image, depth)
        found = _between(depth, first, second, fit)
        return found if fit else replace(found, notes=(*found.notes, PIXELS_ALONE)), None
    from sightline.files.pictures import read_picture

    options = replace(options or Yardsticks(), **settings)
    picture = read_picture(image, max_pixels=options.max_pixels)
    with naming(image):
        metres = metres_of(picture, known_of(options), load_tools(options), options)
    return _between(metres.depth, first, second, metres.fit), metres


def origin_of(path: str | Path) -> str:
    """Say what the metres of a `.npz` come from: the yardsticks in the `.json` beside it."""
    record = record_of(path)
    try:
        names = [str(one["name"]) for one in _said(record)["yardsticks"]]
    except _UNREADABLE:
        return f"whatever made {Path(path).name}: it has no {record.name} beside it that says so"
    return ", ".join(names)


def record_of(path: str | Path) -> Path:
    """Return where `sightline metric` writes what it knows of a `.npz`."""
    return Path(path).with_suffix(".json")


def _said(record: Path) -> Any:
    """Read a record; errors are `_UNREADABLE`."""
    return json.loads(read_bytes(record, limit=10_000_000, what="record"))


def _fit_beside(path: str | Path, depth: DepthMap) -> MetricFit | None:
    """Return the fit that made a `.npz` by the `.json` beside it; None if that is of another map."""
    try:
        said = _said(record_of(path))
        middle = float(np.median(depth.values[depth.valid]))
        return from_record(said["fit"]) if math.isclose(said["median_depth_m"], middle) else None
    except _UNREADABLE:
        return None


def _refuse_options(path: str | Path, options: Yardsticks) -> None:
    """Refuse whatever would have to do with how the metres of a `.npz` came about."""
    usual = Yardsticks()
    given = [
        f"--{field.name.replace('_', '-')}"
        for field in fields(Yardsticks)
        if field.name not in _HARMLESS
        and getattr(options, field.name) != getattr(usual, field.name)
    ]
    if given:
        raise InputError(
            "holds metres already",
            path=path,
            remedy=f"leave out {', '.join(given)}, or give the picture",
        )


def _place(place: str | tuple[float, ...]) -> tuple[float, ...]:
    """Read a pixel; refuse what is none."""
    try:
        numbers = parse_pixels(place, 2) if isinstance(place, str) else tuple(map(float, place))
    except (TypeError, ValueError) as error:
        raise InputError(f"{place!r} is not a pixel (x, y)") from error
    if len(numbers) != 2 or not all(map(math.isfinite, numbers)):
        raise InputError(f"{place!r} is not a pixel (x, y)")
    return numbers


def _between(
    depth: DepthMap, start: tuple[float, ...], end: tuple[float, ...], fit: MetricFit | None
) -> Measurement:
    if depth.camera is None:
        raise InputError(
            "the map says nothing of its camera", remedy="make it with sightline metric"
        )
    return measure_between(depth, start, end, fit=fit, focal_sigma=focal_sigma(depth.camera))
