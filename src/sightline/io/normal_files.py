"""Surface normals as an 8-bit PNG.

Red is x (right), green is y (up), blue is z (toward the camera), each coded as
round((n + 1) / 2 · 255): a wall that faces the camera is (128, 128, 255). This is the coding of most
papers and of OpenGL normal maps; the camera frame of Sightline has y down and z forward. Pixels without
a normal are black. A step of the coding is 0.45°.

Normals of a relative map rest on an assumed ratio of far to near distance (`depth_for_view`): they show
the shape and cannot be measured. The PNG's text says so (`shape`: `metric` or `assumed`).
"""

from __future__ import annotations

import numpy as np

from sightline.errors import InputError
from sightline.geometry import depth_for_view, normals, unproject
from sightline.io import png
from sightline.io.atomic import write_bytes
from sightline.io.image_decoding import decode
from sightline.io.paths import AnyPath, to_path
from sightline.io.reading import MAX_PIXELS, read_bytes
from sightline.types import Camera, DepthMap, FloatArray

CODING = "x right, y up, z toward the camera; (n + 1) / 2 * 255; black is unknown"

#: From the camera frame (y down, z forward) to the coding, and back.
_FLIP = np.array([1.0, -1.0, -1.0], np.float32)


def write_normals(path: str | AnyPath, depth: DepthMap) -> None:
    """Write the surface normals of a map, see the module for the coding.

    Args:
        path: file or URL ending in `.png`.
        depth: any kind; without a camera, one is assumed.
    """
    if to_path(path).suffix.lower() != ".png":
        raise InputError("normals are written as .png", path=path)
    camera = depth.camera or Camera.assumed(depth.width, depth.height)
    found = normals(unproject(depth_for_view(depth), camera))
    known = found.any(-1, keepdims=True)
    coded = np.where(known, np.rint((found * _FLIP + 1) * 127.5), 0).astype(np.uint8)
    text = {
        "Software": "Sightline",
        "normals": CODING,
        "shape": "metric" if depth.is_metric else "assumed",
        "camera": camera.source.value,
        "source": depth.source,
    }
    write_bytes(path, png.encode(coded, text))


def read_normals(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> FloatArray:
    """Read what `write_normals` wrote: (H, W, 3) unit normals in the camera frame, 0 if unknown."""
    data = read_bytes(path, limit=max_pixels * 6 + 10_000_000, what="normals")
    if png.read_text(data, path=path).get("normals") != CODING:
        raise InputError(
            "does not say how its normals are coded",
            path=path,
            remedy="only pictures written by --save normals do",
        )
    coded = decode(data, "png", max_pixels, to_path(path)).pixels
    known = coded.any(-1, keepdims=True)
    found = np.where(known, coded.astype(np.float32) / 127.5 - 1, 0) * _FLIP
    length = np.linalg.norm(found, axis=-1, keepdims=True)
    unit: FloatArray = (found / np.where(length > 0, length, 1)).astype(np.float32)
    return unit
