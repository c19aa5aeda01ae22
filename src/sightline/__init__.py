"""Sightline turns pixels into measurements of the physical world.

>>> import sightline
>>> depth = sightline.load("default").infer("photo.jpg")  # doctest: +SKIP
>>> depth.kind, depth.values.shape  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Camera", "DepthMap", "Kind", "Points", "__version__", "ask", "load", "measure"]

if TYPE_CHECKING:
    from sightline.depth.estimator import load
    from sightline.metric.measured import measure
    from sightline.perception.asking import ask
    from sightline.types import Camera, DepthMap, Kind, Points

_HOMES = {
    "ask": "sightline.perception.asking",
    "load": "sightline.depth.estimator",
    "measure": "sightline.metric.measured",
    "Camera": "sightline.types",
    "DepthMap": "sightline.types",
    "Kind": "sightline.types",
    "Points": "sightline.types",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use, so that `sightline --help` does not pay for numpy or OpenVINO."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sightline' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
