"""Point clouds and meshes as files: `.ply` in the camera frame (`io.ply`), `.glb` in glTF's frame.

`.glb` is glTF 2.0 in one file, for browsers, phones, Blender and AR:

* Frame: glTF has x right, y up, z toward the viewer, so y and z change sign on the way out and in.
  That is a half turn about x, not a mirror, so triangles keep their side.
* Unit: glTF means meters. A cloud without unit is written as it is, and says so in the extras.
* Colors: glTF wants vertex colors in linear light (section 3.7.2.1). The 8-bit sRGB values are
  converted and stored as floats, so that all 256 levels come back exactly. trimesh writes the sRGB
  bytes as they are, which viewers show too bright; therefore the writer is our own.
* Material: points, and meshes without colors, are unlit and double-sided. A mesh with vertex colors
  has no material: with one, trimesh keeps the colors aside and shows plain gray.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.io.paths import AnyPath, to_path
from sightline.io.pixels import linear_to_srgb, srgb_to_linear
from sightline.io.ply import FRAME, MAX_BYTES, read_ply, write_ply
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.types import PointCloud

_MAGIC, _VERSION = 0x46546C67, 2
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_POINTS, _TRIANGLES = 0, 4
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963

#: glTF's number types.
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_UINT, _FLOAT = 5125, 5126
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}

_UNLIT = {
    "doubleSided": True,
    "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
    "extensions": {"KHR_materials_unlit": {}},
}

#: Exceptions on JSON of unexpected structure.
_NONSENSE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)

#: Camera frame to glTF frame, and back.
_FLIP = np.array([1, -1, -1], np.float32)


def write_glb(path: str | AnyPath, points: PointCloud) -> None:
    """Write a cloud (glTF points) or, when there are faces, a triangle mesh."""
    scene, buffers = _describe(points)
    document = json.dumps(scene, separators=(",", ":")).encode("ascii")
    document += b" " * (-len(document) % 4)
    size = sum(len(buffer) for buffer in buffers)
    total = 12 + 8 + len(document) + (8 + size if size else 0)
    if total > MAX_BYTES:
        raise InputError("would be larger than a .glb can be", path=path, remedy="thin the points")
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(struct.pack("<III", _MAGIC, _VERSION, total))
        file.write(struct.pack("<II", len(document), _JSON) + document)
        if size:
            file.write(struct.pack("<II", size, _BIN))
            file.writelines(buffers)


def _describe(points: PointCloud) -> tuple[dict[str, Any], list[bytes]]:
    """Return glTF's JSON and its buffers, each a multiple of four bytes long."""
    scene: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Sightline"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {
                "name": "points" if points.faces is None else "mesh",
                "extras": {"unit": points.unit, "camera_frame": FRAME, "turned": "y and z negated"},
            }
        ],
    }
    if len(points) == 0:  # glTF knows no empty mesh
        return scene, []
    buffers: list[bytes] = []
    views: list[dict[str, Any]] = []
    accessors: list[dict[str, Any]] = []

    def add(array: NDArray[Any], shape: str, component: int, target: int, **more: Any) -> int:
        buffers.append(np.ascontiguousarray(array).tobytes())
        start = sum(len(buffer) for buffer in buffers[:-1])
        length = len(buffers[-1])
        views.append({"buffer": 0, "byteOffset": start, "byteLength": length, "target": target})
        number = {"bufferView": len(views) - 1, "componentType": component, "type": shape}
        accessors.append({**number, "count": len(array), **more})
        return len(accessors) - 1

    xyz = (points.xyz * _FLIP).astype("<f4")
    bounds = {"min": xyz.min(0).tolist(), "max": xyz.max(0).tolist()}
    attributes = {"POSITION": add(xyz, "VEC3", _FLOAT, _ARRAY_BUFFER, **bounds)}
    if points.rgb is not None:
        linear = srgb_to_linear(np.arange(256) / 255).astype("<f4")
        attributes["COLOR_0"] = add(linear[points.rgb], "VEC3", _FLOAT, _ARRAY_BUFFER)
    primitive: dict[str, Any] = {"attributes": attributes, "mode": _POINTS}
    if points.faces is not None and len(points.faces):
        indices = points.faces.astype("<u4").reshape(-1)
        primitive["indices"] = add(indices, "SCALAR", _UINT, _ELEMENT_BUFFER)
        primitive["mode"] = _TRIANGLES
    scene["nodes"][0]["mesh"] = 0
    scene["meshes"] = [{"primitives": [primitive]}]
    if points.rgb is None or primitive["mode"] == _POINTS:
        primitive["material"] = 0
        scene["materials"] = [_UNLIT]
        scene["extensionsUsed"] = ["KHR_materials_unlit"]
    scene["accessors"], scene["bufferViews"] = accessors, views
    scene["buffers"] = [{"byteLength": sum(len(buffer) for buffer in buffers)}]
    return scene, buffers


def read_glb(path: str | AnyPath) -> PointCloud:
    """Read a cloud or mesh of one primitive, back into the camera frame.

    What `write_glb` writes comes back exactly. Files of others are read when they have one mesh of
    points or triangles, uncompressed and not moved by a node.
    """
    data = read_bytes(path, limit=MAX_BYTES, what="point cloud")
    with naming(path):
        scene, binary = _split(data)
        try:
            return _read_scene(scene, binary)
        except _NONSENSE as error:
            raise InputError(
                "has glTF inside that makes no sense", remedy="export it again"
            ) from error


def _split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the JSON and the binary chunk."""
    if len(data) < 20 or struct.unpack_from("<I", data)[0] != _MAGIC:
        raise InputError("is not a .glb file")
    _, version, total = struct.unpack_from("<III", data)
    if version != _VERSION:
        raise InputError(f"is glTF version {version}, only 2 is read")
    if total > len(data):
        raise InputError("is truncated", remedy=GET_AGAIN)
    chunks: dict[int, memoryview] = {}
    at = 12
    while at + 8 <= total:
        length, kind = struct.unpack_from("<II", data, at)
        if at + 8 + length > total:
            raise InputError("is truncated or damaged", remedy=GET_AGAIN)
        chunks.setdefault(kind, memoryview(data)[at + 8 : at + 8 + length])
        at += 8 + length
    try:
        scene = json.loads(bytes(chunks[_JSON]))
    except (KeyError, ValueError, RecursionError) as error:
        raise InputError("has damaged JSON inside", remedy=GET_AGAIN) from error
    if not isinstance(scene, dict):
        raise InputError("has JSON inside that is not glTF")
    return scene, chunks.get(_BIN, memoryview(b""))


def _read_scene(scene: dict[str, Any], binary: memoryview) -> PointCloud:
    nodes = scene.get("nodes", [])
    if any(key in node for node in nodes for key in ("matrix", "translation", "rotation", "scale")):
        raise InputError("has moved nodes", remedy="apply the transforms first")
    extras = next((node["extras"] for node in nodes if "extras" in node), None)
    unit = "m" if extras is None else str(extras.get("unit", "m"))
    primitives = [p for mesh in scene.get("meshes", []) for p in mesh["primitives"]]
    if not primitives:
        return PointCloud(np.empty((0, 3), np.float32), unit=unit)
    if len(primitives) > 1:
        raise InputError(f"has {len(primitives)} meshes", remedy="join them into one")
    primitive = primitives[0]
    mode = primitive.get("mode", _TRIANGLES)
    if mode not in (_POINTS, _TRIANGLES):
        raise InputError("has neither points nor triangles")
    attributes = primitive["attributes"]
    with np.errstate(invalid="ignore"):  # what is not finite is refused by the type
        xyz = _accessor(scene, binary, attributes["POSITION"]) * _FLIP
    rgb = None
    if "COLOR_0" in attributes:
        rgb = _to_srgb8(_accessor(scene, binary, attributes["COLOR_0"])[:, :3])
    faces = None
    if mode == _TRIANGLES:
        index = np.arange(len(xyz))
        if "indices" in primitive:
            index = _accessor(scene, binary, primitive["indices"])
            if index.dtype.kind != "u":
                raise InputError("has corners of triangles that are no whole numbers")
            if index.size and int(index.max()) >= len(xyz):
                raise InputError("has triangles with corners that do not exist")
        faces = index.reshape(-1, 3).astype(np.int32)
    return PointCloud(xyz, rgb, unit, faces)


def _accessor(scene: dict[str, Any], binary: memoryview, number: int) -> NDArray[Any]:
    """Return the (N, k) numbers an accessor points at, (N,) for scalars."""
    accessor = scene["accessors"][number]
    if "sparse" in accessor or "bufferView" not in accessor:
        raise InputError("has sparse numbers", remedy="export it without compression")
    view = scene["bufferViews"][accessor["bufferView"]]
    if view.get("buffer", 0) != 0 or "uri" in scene["buffers"][0]:
        raise InputError("keeps its numbers in other files")
    dtype = np.dtype(_COMPONENTS[accessor["componentType"]])
    width, count = _WIDTHS[accessor["type"]], int(accessor["count"])
    offset = int(view.get("byteOffset", 0)) + int(accessor.get("byteOffset", 0))
    stride = int(view.get("byteStride", width * dtype.itemsize))
    end = offset + stride * (count - 1) + width * dtype.itemsize
    if count < 0 or offset < 0 or stride < width * dtype.itemsize or end > len(binary):
        raise InputError("declares more numbers than the file holds", remedy=GET_AGAIN)
    array: NDArray[Any] = np.ndarray(
        (count, width), dtype, binary, offset, (stride, dtype.itemsize)
    )
    return array[:, 0] if width == 1 else array


def _to_srgb8(color: NDArray[Any]) -> NDArray[np.uint8]:
    """Turn linear colors, normalized integers or floats, into 8-bit sRGB."""
    if color.dtype.kind == "u":
        if color.dtype.itemsize > 2:
            raise InputError("has colors of 32-bit integers, which glTF does not know")
        top = int(np.iinfo(color.dtype).max)
        table = np.rint(linear_to_srgb(np.arange(top + 1) / top) * 255).astype(np.uint8)
        return table[color]
    unit = np.nan_to_num(color).astype(np.float64).clip(0, 1)
    return np.rint(linear_to_srgb(unit) * 255).astype(np.uint8)


__all__ = [
    "CLOUD_SUFFIXES",
    "read_glb",
    "read_ply",
    "read_pointcloud",
    "write_glb",
    "write_ply",
    "write_pointcloud",
]

CLOUD_SUFFIXES: frozenset[str] = frozenset({".ply", ".glb"})


def write_pointcloud(path: str | AnyPath, points: PointCloud) -> None:
    """Write a point cloud or mesh in the format of the suffix; whole or not at all."""
    {".ply": write_ply, ".glb": write_glb}[_suffix(path)](path, points)


def read_pointcloud(path: str | AnyPath) -> PointCloud:
    """Read a point cloud or mesh into the camera frame (x right, y down, z forward)."""
    return {".ply": read_ply, ".glb": read_glb}[_suffix(path)](path)


def _suffix(path: str | AnyPath) -> str:
    suffix = to_path(path).suffix.lower()
    if suffix not in CLOUD_SUFFIXES:
        raise InputError(
            f"point clouds end in {' or '.join(sorted(CLOUD_SUFFIXES))}, not {suffix or 'nothing'}",
            path=path,
        )
    return suffix
