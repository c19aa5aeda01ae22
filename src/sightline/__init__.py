"""Sightline measures the physical world in ordinary pictures and video.

>>> import sightline as sl
>>> depth = sl.load("small").infer("photo.jpg")  # doctest: +SKIP
>>> depth.kind, depth.values.shape  # doctest: +SKIP
(<Kind.RELATIVE_DISPARITY: 'relative_disparity'>, (400, 600))

The packages `depth`, `metric`, `perception`, `physics`, `scenes`, `video_model`, `training`,
`benchmarks`, `jobs`, `io`, `models` and `runtime` are imported on first use, too:

>>> report = sl.physics.score("videos", truth="test.h5")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sightline.version import __version__

__all__ = [
    "Camera",
    "CameraHeight",
    "DepthMap",
    "InputError",
    "Kind",
    "KnownBox",
    "KnownDepth",
    "Length",
    "Measurement",
    "PointCloud",
    "SightlineError",
    "__version__",
    "ask",
    "load",
    "measure",
    "metric",
]

if TYPE_CHECKING:
    from sightline.depth.estimator import load
    from sightline.errors import InputError, SightlineError
    from sightline.metric.api import measure, metric
    from sightline.metric.known_sizes import CameraHeight, KnownBox, KnownDepth, Length
    from sightline.perception.question_answering import ask
    from sightline.types import Camera, DepthMap, Kind, Measurement, PointCloud

_HOMES = {
    "ask": "sightline.perception.question_answering",
    "load": "sightline.depth.estimator",
    "measure": "sightline.metric.api",
    "CameraHeight": "sightline.metric.known_sizes",
    "KnownBox": "sightline.metric.known_sizes",
    "KnownDepth": "sightline.metric.known_sizes",
    "Length": "sightline.metric.known_sizes",
    "Camera": "sightline.types",
    "DepthMap": "sightline.types",
    "InputError": "sightline.errors",
    "Kind": "sightline.types",
    "Measurement": "sightline.types",
    "PointCloud": "sightline.types",
    "SightlineError": "sightline.errors",
}

#: Public packages and modules; `metric` can also be called, see sightline/metric/__init__.py.
_PACKAGES = (
    "benchmarks",
    "depth",
    "errors",
    "examples",
    "geometry",
    "io",
    "jobs",
    "metric",
    "models",
    "perception",
    "physics",
    "reports",
    "runtime",
    "scenes",
    "training",
    "types",
    "video_model",
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})


def __getattr__(name: str) -> Any:
    """Import on first use, so that `sightline --help` does not pay for numpy or OpenVINO."""
    import importlib

    if name in _PACKAGES:
        return importlib.import_module(f"sightline.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'sightline' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
