"""Depth as OpenEXR, the file of film and rendering: float32, lossless.

Channels: `Z` for metric depth (EXR's own name for distance along the optical axis; here in metres),
`disparity` for the two disparities; `valid` 1 or 0; `sigma` when there is one. What is not valid is 0
in all of them rather than NaN, which would spread through every filter of a compositing program.
Attributes: `sightline:kind`, `sightline:unit`, `sightline:direction`, `sightline:K` (3×3 doubles),
`sightline:camera_source`, `sightline:source`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import exr
from sightline.files.atomic import write_bytes
from sightline.files.depth_npz import parse_camera_source, parse_kind
from sightline.files.formats import sniff
from sightline.files.reading import MAX_PIXELS, naming, read_bytes
from sightline.types import Camera, DepthMap, Kind

_PREFIX = "sightline:"


def channel_name(kind: Kind) -> str:
    """Return the channel that holds the values."""
    return "Z" if kind is Kind.METRIC_DEPTH else "disparity"


def write_exr(path: str | Path, depth: DepthMap) -> None:
    """Write all fields of `depth`."""
    attributes: dict[str, Any] = {
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "source": depth.source,
    }
    if depth.camera is not None:
        attributes["K"] = np.array(depth.camera.K)
        attributes["camera_source"] = str(depth.camera.source)
    channels: dict[str, NDArray[Any]] = {
        channel_name(depth.kind): np.array(depth.values),
        "valid": depth.valid.astype(np.float16),
    }
    if depth.sigma is not None:
        channels["sigma"] = np.array(depth.sigma)
    named = {_PREFIX + key: value for key, value in attributes.items()}
    write_bytes(path, exr.encode(named, channels))


def read_exr(path: str | Path, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map that `write_exr` wrote."""
    data = read_bytes(path, limit=max_pixels * 16 + 10_000_000, what="depth file")
    if sniff(data, path=path) != "exr":
        raise InputError("is not an EXR file", path=path)
    header, names = exr.read_header(data, max_pixels=max_pixels, path=path)
    ours = {key.removeprefix(_PREFIX): header[key] for key in header if key.startswith(_PREFIX)}
    if not isinstance(ours.get("kind"), str):
        raise InputError(
            "does not say what its numbers mean (no attribute sightline:kind)",
            path=path,
            remedy="only EXR files written by Sightline do; read others with OpenEXR",
        )
    with naming(path):
        kind = parse_kind(ours["kind"])
        wanted = [channel_name(kind), "valid"]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise InputError(f"has no channel {missing[0]!r}")
        channels = exr.read_channels(data, [*wanted, *({"sigma"} & set(names))], path=path)
        values = channels[channel_name(kind)]
        height, width = values.shape
        source = ours.get("source")
        return DepthMap(
            values,
            kind,
            channels["valid"] > 0,
            _camera(ours, width, height),
            channels.get("sigma"),
            source if isinstance(source, str) else str(path),
        )


def _camera(attributes: dict[str, Any], width: int, height: int) -> Camera | None:
    K = attributes.get("K")
    if K is None:
        return None
    if not isinstance(K, np.ndarray):
        raise InputError("sightline:K is not a matrix")
    source = attributes.get("camera_source", "given")
    if not isinstance(source, str):
        raise InputError("sightline:camera_source is not text")
    return Camera(K, width, height, parse_camera_source(source))
