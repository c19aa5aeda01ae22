"""Point clouds and meshes as `.ply`: the file every 3D program reads.

Written binary little-endian: float x, y, z; uchar red, green, blue when there are colours; triangles
when there are faces. Coordinates stay in the camera frame (x right, y down, z forward), which the
header says in comments, together with the unit. The reader takes ASCII and both binary orders, with
properties and elements it does not know, as long as sizes in the header fit the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.files.ply_body import AsciiBody, BinaryBody, parse_header
from sightline.files.reading import naming, read_bytes
from sightline.types import Points

FRAME = "x right, y down, z forward"

#: Files above this are refused: about a hundred million points with colours and faces.
MAX_BYTES = 4_000_000_000

_FACE = np.dtype([("count", "u1"), ("index", "<i4", (3,))])


def write_ply(path: str | Path, points: Points) -> None:
    """Write points, colours and faces as binary PLY."""
    lines = ["ply", "format binary_little_endian 1.0", "comment made by Sightline"]
    lines += [f"comment unit {points.unit or 'none'}", f"comment frame {FRAME}"]
    lines += [f"element vertex {len(points)}", *(f"property float {axis}" for axis in "xyz")]
    fields: list[tuple[str, str, tuple[int, ...]]] = [("xyz", "<f4", (3,))]
    if points.rgb is not None:
        lines += [f"property uchar {name}" for name in ("red", "green", "blue")]
        fields.append(("rgb", "u1", (3,)))
    vertices = np.empty(len(points), fields)
    vertices["xyz"] = points.xyz
    if points.rgb is not None:
        vertices["rgb"] = points.rgb
    faces = np.empty(0 if points.faces is None else len(points.faces), _FACE)
    if points.faces is not None:
        lines += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
        faces["count"] = 3
        faces["index"] = points.faces
    lines.append("end_header\n")
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write("\n".join(lines).encode("ascii"))
        file.write(vertices.data)
        file.write(faces.data)


def read_ply(path: str | Path) -> Points:
    """Read points, colours and faces; polygons of one size are cut into triangles.

    Colours may be 8-bit, 16-bit or 0–1; other properties and elements are passed over.
    """
    data = read_bytes(path, limit=MAX_BYTES, what="point cloud")
    with naming(path):
        order, elements, comments, start = parse_header(data)
        body = AsciiBody(data[start:]) if order == "" else BinaryBody(data, start, order)
        tables: dict[str, dict[str, NDArray[Any]]] = {}
        for element in elements:
            tables[element.name] = body.read(element)
            if {"vertex", "face"} <= tables.keys():
                break
        numbers = tables.get("vertex", {}).items()
        vertex = {name: column for name, column in numbers if column.ndim == 1}  # without lists
        if not {"x", "y", "z"} <= vertex.keys():
            raise InputError("has no vertices with x, y and z", remedy="export it as points")
        # Doubles beyond float32 become infinite; that and NaN is refused, or black as a colour.
        with np.errstate(over="ignore", invalid="ignore"):
            xyz = np.stack([vertex[axis].astype(np.float32) for axis in "xyz"], axis=-1)
            rgb = _colours(vertex)
        unit = "m" if "unit m" in comments else ""
        return Points(xyz, rgb, unit, _triangles(tables.get("face")))


def _colours(vertex: dict[str, NDArray[Any]]) -> NDArray[np.uint8] | None:
    for names in (("red", "green", "blue"), ("diffuse_red", "diffuse_green", "diffuse_blue")):
        if set(names) <= vertex.keys():
            rgb = np.stack([vertex[name] for name in names], axis=-1)
            if rgb.dtype.kind == "f":
                return np.rint(np.nan_to_num(rgb).clip(0, 1) * 255).astype(np.uint8)
            if rgb.dtype.itemsize == 2:
                return np.rint(rgb.clip(0, None) / 257).astype(np.uint8)
            return rgb.clip(0, 255).astype(np.uint8)
    return None


def _triangles(face: dict[str, NDArray[Any]] | None) -> NDArray[np.int32] | None:
    """Cut polygons into fans around their first corner."""
    if face is None:
        return None
    index = face.get("vertex_indices", face.get("vertex_index"))
    if index is None or index.ndim != 2 or (index.shape[1] < 3 and len(index)):
        raise InputError("has faces without corners", remedy="export it again")
    if index.dtype.kind == "f":
        raise InputError(
            "has faces with corners that are no whole numbers", remedy="export it again"
        )
    if len(index) == 0:
        return np.empty((0, 3), np.int32)
    wide = index.astype(np.int64)
    fans = [wide[:, [0, k, k + 1]] for k in range(1, wide.shape[1] - 1)]
    triangles = np.stack(fans, axis=1).reshape(-1, 3)
    if triangles.min() < 0 or triangles.max() > np.iinfo(np.int32).max:
        raise InputError("has faces with corners that do not exist", remedy="export it again")
    return triangles.astype(np.int32)
