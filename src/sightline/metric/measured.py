"""`sightline.measure`: a distance in a picture, in one call."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files import depth_files
from sightline.files.reading import naming, read_bytes
from sightline.metric.estimate import Metres
from sightline.metric.head.fit import MetricFit
from sightline.metric.lens import focal_sigma
from sightline.metric.measure import Measurement, measure_between
from sightline.metric.options import Yardsticks
from sightline.metric.work import known_of, load_tools, metres_of
from sightline.metric.yardsticks.words import parse_pixels
from sightline.types import DepthMap


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
        if settings or (options or Yardsticks()).gives_yardsticks:
            raise InputError(
                "holds metres already",
                path=image,
                remedy="leave out yardsticks, or give the picture",
            )
        depth = depth_files.read_depth(image)
        return _between(depth, first, second, None), None
    from sightline.files.pictures import read_picture

    options = replace(options or Yardsticks(), **settings)
    picture = read_picture(image, max_pixels=options.max_pixels)
    with naming(image):
        metres = metres_of(picture, known_of(options), load_tools(options), options)
    return _between(metres.depth, first, second, metres.fit), metres


def origin_of(path: str | Path) -> str:
    """Say what the metres of a `.npz` come from: the yardsticks in the `.json` beside it."""
    record = Path(path).with_suffix(".json")
    try:
        said = json.loads(read_bytes(record, limit=10_000_000, what="record"))
        names = [str(one["name"]) for one in said["yardsticks"]]
    except (InputError, ValueError, TypeError, KeyError, RecursionError):
        return f"whatever made {Path(path).name}: it has no {record.name} beside it that says so"
    return ", ".join(names)


def _place(place: str | tuple[float, ...]) -> tuple[float, ...]:
    """Read a pixel; refuse what is none."""
    numbers = parse_pixels(place, 2) if isinstance(place, str) else tuple(map(float, place))
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
