"""Metric depth: scale relative depth by evidence of size in the image.

Evidence is people, detected in the image or painted into it (Metric from Human), irises, and whatever
the user knows: a length, a depth, the height of an object or of the camera, a measured depth map.

The package can be called: `sightline.metric(image, known)` is `sightline.metric.metric(image, known)`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "CameraHeight",
    "DetectedPerson",
    "DistanceMeasurement",
    "EvidenceReport",
    "FittedBody",
    "HeightPrior",
    "KnownBox",
    "KnownDepth",
    "KnownSizes",
    "Length",
    "MetricFit",
    "MetricResult",
    "PeopleFinder",
    "Person",
    "estimate",
    "find_floor",
    "fit_body",
    "focal_from_lines",
    "measure",
    "metric",
]

if TYPE_CHECKING:
    from sightline.metric.api import measure, metric
    from sightline.metric.body.fit import FittedBody, fit_body
    from sightline.metric.body.stature import HeightPrior
    from sightline.metric.estimation import MetricResult, estimate
    from sightline.metric.floor import find_floor
    from sightline.metric.known_sizes import (
        CameraHeight,
        KnownBox,
        KnownDepth,
        KnownSizes,
        Length,
    )
    from sightline.metric.measurement import DistanceMeasurement
    from sightline.metric.metric_fit import EvidenceReport, MetricFit
    from sightline.metric.people.detected import DetectedPerson
    from sightline.metric.people.types import PeopleFinder, Person
    from sightline.metric.vanishing_points import focal_from_lines

_MODULES = {
    "CameraHeight": "known_sizes",
    "DetectedPerson": "people.detected",
    "EvidenceReport": "metric_fit",
    "FittedBody": "body.fit",
    "HeightPrior": "body.stature",
    "KnownBox": "known_sizes",
    "KnownDepth": "known_sizes",
    "KnownSizes": "known_sizes",
    "Length": "known_sizes",
    "DistanceMeasurement": "measurement",
    "MetricFit": "metric_fit",
    "MetricResult": "estimation",
    "PeopleFinder": "people.types",
    "Person": "people.types",
    "estimate": "estimation",
    "find_floor": "floor",
    "fit_body": "body.fit",
    "focal_from_lines": "vanishing_points",
    "measure": "api",
    "metric": "api",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use, so that `sightline metric --help` does not load numpy."""
    if name not in _MODULES:
        raise AttributeError(f"module 'sightline.metric' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"sightline.metric.{_MODULES[name]}"), name)


class _CallableModule(ModuleType):
    """Module that can be called.

    `sightline.metric` is the name of both this package and the function. Importing any submodule binds
    the package to that name, so the package itself must be callable.
    """

    def __call__(self, *args: Any, **settings: Any) -> MetricResult:
        from sightline.metric.api import metric

        return metric(*args, **settings)


sys.modules[__name__].__class__ = _CallableModule
