"""A map of one picture: its description, and every file that can be made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.app.tasks.order import Order
from sightline.errors import InputError
from sightline.files import clouds, depth_files
from sightline.files.atomic import atomic_path, write_bytes
from sightline.files.color import colorize, range_for_display
from sightline.files.pictures import Picture, read_picture
from sightline.files.reading import read_bytes
from sightline.geometry import to_points
from sightline.types import Camera, DepthMap

#: Colours of a map that is kept, in the job's folder.
_COLOURS = "colours.png"


def read_upload(order: Order, max_pixels: int) -> Picture:
    """Read the picture that came with a request; its size is checked before it is decoded."""
    path = order.upload("image")
    if path is None:
        raise InputError("there is no picture", remedy="send one as the field image")
    # As bytes, so that no message names a file of ours.
    return read_picture(read_bytes(path, limit=1 << 33, what="picture"), max_pixels=max_pixels)


def described(depth: DepthMap) -> dict[str, Any]:
    """Say what a map is."""
    known = depth.values[depth.valid]
    low, high = range_for_display(depth)
    return {
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "width": depth.width,
        "height": depth.height,
        "camera": camera_of(depth.camera),
        "minimum": float(known.min()) if known.size else None,
        "maximum": float(known.max()) if known.size else None,
        "low": low,
        "high": high,
        "valid_share": float(depth.valid.mean()),
        "sigma": depth.sigma is not None,
        "model": depth.source,
    }


def camera_of(camera: Camera | None) -> dict[str, Any] | None:
    """Say what is known of the lens."""
    if camera is None:
        return None
    K = camera.K
    return {
        "fx": float(K[0, 0]),
        "fy": float(K[1, 1]),
        "cx": float(K[0, 2]),
        "cy": float(K[1, 2]),
        "fov": camera.fov,
        "source": str(camera.source),
    }


def headers_of(depth: DepthMap) -> dict[str, str]:
    """Return what a reader of raw numbers has to know."""
    return {
        "X-Sightline-Width": str(depth.width),
        "X-Sightline-Height": str(depth.height),
        "X-Sightline-Planes": "1" if depth.sigma is None else "2",
        "X-Sightline-Kind": str(depth.kind),
        "X-Sightline-Unit": depth.unit,
    }


def store(order: Order, depth: DepthMap, picture: Picture) -> None:
    """Write what is waited for; where other formats may be asked for later, map and colours, too."""
    if order.keep:
        depth_files.write_npz(order.path("npz"), depth)
        _write_colours(order.folder / _COLOURS, picture.pixels)
    if order.wanted not in ("json", "npz") or (order.wanted == "npz" and not order.keep):
        write_map(order, depth, picture.pixels)


def make_again(order: Order) -> None:
    """Make another file of a map that is kept."""
    depth = depth_files.read_npz(order.path("npz"))
    coloured = order.wanted in ("ply", "glb")
    write_map(order, depth, _read_colours(order.folder / _COLOURS) if coloured else None)


def _write_colours(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Keep (H, W, 3) RGB for clouds: pixels alone, nothing else that was in the uploaded file."""
    quick = [cv2.IMWRITE_PNG_COMPRESSION, 1]
    done, data = cv2.imencode(".png", pixels[..., ::-1], quick)
    assert done
    write_bytes(path, data.tobytes())


def _read_colours(path: Path) -> NDArray[np.uint8]:
    found = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    assert found is not None
    return np.ascontiguousarray(found[..., ::-1])


def write_map(order: Order, depth: DepthMap, pixels: NDArray[np.uint8] | None) -> None:
    """Write a map in the format that is waited for.

    Args:
        order: that says which, and where.
        depth: the map.
        pixels: (H, W, 3) RGB colours of a cloud; None where the format has none.
    """
    path = order.path()
    match order.wanted:
        case "npz":
            depth_files.write_npz(path, depth)
        case "png16":
            depth_files.write_png16(path, depth)
        case "exr":
            depth_files.write_exr(path, depth)
        case "f32":
            _write_raw(path, depth)
        case "color":
            shown = colorize(depth, palette=order.fields.get("palette", "spectral"))
            write_bytes(path, jpeg(shown))
        case "grid":
            from sightline.report.payload import grid

            write_bytes(path, json.dumps(grid(depth)).encode())
        case _:
            points = to_points(depth, pixels, mesh=order.wanted == "glb", max_points=order.points)
            clouds.write_points(path, points)


def jpeg(pixels: Any) -> bytes:
    """(H, W, 3) uint8 RGB → the bytes of a JPEG."""
    done, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 92])
    if not done:
        raise InputError("the picture is too large for a JPEG", remedy="ask for png16 or npz")
    return bytes(data.tobytes())


def _write_raw(path: Path, depth: DepthMap) -> None:
    """Write little-endian float32 row by row: values, NaN where not valid; then sigma if there is."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(np.where(depth.valid, depth.values, np.float32(np.nan)).astype("<f4").tobytes())
        if depth.sigma is not None:
            file.write(depth.sigma.astype("<f4").tobytes())
