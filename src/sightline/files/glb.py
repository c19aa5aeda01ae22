"""Point clouds and meshes as `.glb`: glTF 2.0 in one file, for browsers, phones, Blender, AR.

* Frame: glTF has x right, y up, z towards the viewer, so y and z change sign on the way out and in.
  That is a half turn about x, not a mirror, so triangles keep their side.
* Unit: glTF means metres. A cloud without unit is written as it is, and says so in the extras.
* Colours: glTF wants vertex colours in linear light (section 3.7.2.1). The 8-bit sRGB values are
  converted and stored as floats, so that all 256 levels come back exactly. 16-bit integers would be
  a little smaller, but some readers (trimesh among them) take their low byte.
* Material: unlit, both sides, so that viewers show the photograph's own light.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.files.pixels import linear_to_srgb, srgb_to_linear
from sightline.files.ply import FRAME, MAX_BYTES
from sightline.files.reading import GET_AGAIN, naming, read_bytes
from sightline.types import Points

_MAGIC, _VERSION = 0x46546C67, 2
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_POINTS, _TRIANGLES = 0, 4
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963

#: glTF's number types.
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_UINT, _FLOAT = 5125, 5126
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}

#: What JSON of unexpected shape leads to.
_NONSENSE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)

#: Camera frame to glTF frame, and back.
_FLIP = np.array([1, -1, -1], np.float32)


def write_glb(path: str | Path, points: Points) -> None:
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


def _describe(points: Points) -> tuple[dict[str, Any], list[bytes]]:
    """Return glTF's JSON and the buffers it speaks of, each a multiple of four bytes long."""
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
    primitive: dict[str, Any] = {"attributes": attributes, "mode": _POINTS, "material": 0}
    if points.faces is not None and len(points.faces):
        indices = points.faces.astype("<u4").reshape(-1)
        primitive["indices"] = add(indices, "SCALAR", _UINT, _ELEMENT_BUFFER)
        primitive["mode"] = _TRIANGLES
    scene["nodes"][0]["mesh"] = 0
    scene["meshes"] = [{"primitives": [primitive]}]
    scene["materials"] = [
        {
            "doubleSided": True,
            "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
            "extensions": {"KHR_materials_unlit": {}},
        }
    ]
    scene["extensionsUsed"] = ["KHR_materials_unlit"]
    scene["accessors"], scene["bufferViews"] = accessors, views
    scene["buffers"] = [{"byteLength": sum(len(buffer) for buffer in buffers)}]
    return scene, buffers


def read_glb(path: str | Path) -> Points:
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


def _read_scene(scene: dict[str, Any], binary: memoryview) -> Points:
    nodes = scene.get("nodes", [])
    if any(key in node for node in nodes for key in ("matrix", "translation", "rotation", "scale")):
        raise InputError("has moved nodes", remedy="apply the transforms first")
    extras = next((node["extras"] for node in nodes if "extras" in node), None)
    unit = "m" if extras is None else str(extras.get("unit", "m"))
    primitives = [p for mesh in scene.get("meshes", []) for p in mesh["primitives"]]
    if not primitives:
        return Points(np.empty((0, 3), np.float32), unit=unit)
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
    return Points(xyz, rgb, unit, faces)


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


def _to_srgb8(colour: NDArray[Any]) -> NDArray[np.uint8]:
    """Turn linear colours, normalised integers or floats, into 8-bit sRGB."""
    if colour.dtype.kind == "u":
        if colour.dtype.itemsize > 2:
            raise InputError("has colours of 32-bit integers, which glTF does not know")
        top = int(np.iinfo(colour.dtype).max)
        table = np.rint(linear_to_srgb(np.arange(top + 1) / top) * 255).astype(np.uint8)
        return table[colour]
    unit = np.nan_to_num(colour).astype(np.float64).clip(0, 1)
    return np.rint(linear_to_srgb(unit) * 255).astype(np.uint8)
