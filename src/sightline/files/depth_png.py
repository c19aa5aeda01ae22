"""Depth as 16-bit PNG, with what the numbers mean in the PNG's own text.

    value = offset + scale * pixel        pixel 0: nothing known; 1 to 65535: valid

Text entries (any PNG tool shows them): `kind`, `unit`, `direction`, `scale`, `offset`, `minimum`,
`maximum`, `invalid` (always 0), `K` (nine numbers, row by row), `camera_source`, `source`,
`formula`. Pixels 1 and 65535 stand for the least and the greatest valid value, so the error is at
most half a step, (maximum - minimum) / 65534 / 2, plus rounding to float32. The uncertainty `sigma`
is not kept: use `.npz` or `.exr` for it.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import png
from sightline.files.atomic import write_bytes
from sightline.files.depth_npz import parse_camera_source, parse_kind
from sightline.files.native import listening
from sightline.files.reading import GET_AGAIN, MAX_PIXELS, check_pixels, naming, read_bytes
from sightline.types import Camera, DepthMap, FloatArray

_LEVELS = 65534  # steps between pixel 1 and pixel 65535
#: Pixels per block of the quantisation, so that the doubles stay in the cache.
_BLOCK = 1 << 16

_REMEDY = (
    "only PNG files written by Sightline say what their pixels mean; "
    "read others as numbers and make a DepthMap of them"
)


def write_png16(path: str | Path, depth: DepthMap) -> None:
    """Write values, validity, kind and camera (not sigma) as 16-bit grey PNG."""
    known = depth.values[depth.valid] if not depth.valid.all() else depth.values
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    scale = (high - low) / _LEVELS
    text = {
        "Software": "Sightline",
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "formula": "value = offset + scale * pixel",
        "scale": repr(scale),
        "offset": repr(low - scale),
        "minimum": repr(low),
        "maximum": repr(high),
        "invalid": "0",
        "source": depth.source,
    }
    if depth.camera is not None:
        text["K"] = " ".join(repr(float(k)) for k in depth.camera.K.ravel())
        text["camera_source"] = str(depth.camera.source)
    write_bytes(path, png.encode(_quantise(depth, low, scale), text))


def _quantise(depth: DepthMap, low: float, scale: float) -> NDArray[np.uint16]:
    """Return (H, W) uint16, 0 where not valid; in double precision, as half a step is promised."""
    values, valid = depth.values.reshape(-1), depth.valid.reshape(-1)
    pixels = np.empty(values.shape, np.uint16)
    inverse = 1 / scale if scale > 0 else 0.0
    for start in range(0, values.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        level = values[block].astype(np.float64)
        level -= low
        if math.isfinite(inverse):
            level *= inverse
        else:  # a range so small that one over its step overflows
            level /= scale
        level += 1.5  # truncation then rounds to the nearest
        # Where not valid, the stored zero may lie far outside the range.
        np.clip(level, 0, _LEVELS + 1, out=level)
        pixels[block] = level.astype(np.uint16) * valid[block]
    return pixels.reshape(depth.values.shape)


def read_png16(path: str | Path, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map that `write_png16` wrote."""
    data = read_bytes(path, limit=max_pixels * 4 + 10_000_000, what="depth file")
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    if (header.bits, header.colour) != (16, 0):
        raise InputError("is not a 16-bit grey PNG, so no depth map", path=path, remedy=_REMEDY)
    text = png.read_text(data, path=path)
    missing = [key for key in ("kind", "scale", "offset") if key not in text]
    if missing:
        raise InputError(f"has no {' and '.join(missing)} in it", path=path, remedy=_REMEDY)
    with naming(path):
        kind = parse_kind(text["kind"])
        scale, offset = _number(text, "scale"), _number(text, "offset")
        levels = offset + scale * np.arange(65536, dtype=np.float64)
        if "minimum" in text and "maximum" in text:
            # The offset is a rounded number: it must not push a tiny least depth to zero or below.
            ends = _number(text, "minimum"), _number(text, "maximum")
            levels = levels.clip(*ends)
            levels[1], levels[-1] = ends if scale else (ends[0], ends[0])
        camera = _camera(text, header.width, header.height)
        png.check(data, path=path)
        with listening():
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        if pixels is None or pixels.shape != (header.height, header.width):
            raise InputError("is damaged", remedy=GET_AGAIN)
        values: FloatArray = np.take(levels.astype(np.float32), pixels)
        return DepthMap(values, kind, pixels > 0, camera, source=text.get("source", str(path)))


def _number(text: dict[str, str], key: str) -> float:
    try:
        value = float(text[key])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{key} is {text[key][:40]!r}, must be a number")
    return value


def _camera(text: dict[str, str], width: int, height: int) -> Camera | None:
    if "K" not in text:
        return None
    try:
        K = np.array([float(word) for word in text["K"].split()]).reshape(3, 3)
    except ValueError as error:
        raise InputError("K must be nine numbers") from error
    return Camera(K, width, height, parse_camera_source(text.get("camera_source", "given")))
