"""Read a person's mesh from `.obj`, `.ply` or `.npz`, whoever wrote it.

Only vertices and faces are read: no materials, no textures, no other files, no pickles. Everything
that would make nonsense of metres later is refused here, in one line that names the file.
"""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.ply import read_ply
from sightline.files.reading import GET_AGAIN, naming, read_bytes
from sightline.metric.people.types import Mesh

#: Largest file of a mesh in [B]; a body of 100 k vertices has 15 MB as `.obj`.
LIMIT = 200_000_000
#: Smallest and largest extent of a person in [m], a curled up child and raised arms included.
EXTENT = (0.3, 3.0)

SUFFIXES = (".obj", ".ply", ".npz")

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


def read_mesh(path: Path) -> Mesh:
    """Read a mesh with vertices in [m] in the camera's frame (x right, y down, z forward)."""
    readers = {".obj": _read_obj, ".ply": _read_ply, ".npz": _read_npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError("is no mesh", path=path, remedy=f"use {', '.join(SUFFIXES)}")
    with naming(path):
        vertices, faces = reader(path)
        return check_mesh(vertices, faces)


def check_mesh(vertices: NDArray[Any], faces: NDArray[Any]) -> Mesh:
    """Make a `Mesh` of arrays that may hold anything; an `InputError` says what is wrong."""
    if vertices.ndim != 2 or vertices.shape[1] != 3 or vertices.dtype.kind not in "fiu":
        raise InputError(f"vertices must be V×3 numbers, got {vertices.dtype} {vertices.shape}")
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu" or len(faces) == 0:
        raise InputError(f"faces must be F×3 whole numbers, got {faces.dtype} {faces.shape}")
    points = vertices.astype(np.float64)
    if not np.isfinite(points).all():
        raise InputError("some vertices are not finite", remedy="export it again")
    if faces.min() < 0 or faces.max() >= len(points):
        raise InputError(f"has faces with corners that do not exist ({len(points)} vertices)")
    near, far = float(points[:, 2].min()), float(points[:, 2].max())
    if near <= 0:
        raise InputError(
            f"reaches behind the camera (z from {near:.2f} to {far:.2f} m)",
            remedy="write vertices in the camera's frame: x right, y down, z forward",
        )
    extent = float(np.ptp(points, axis=0).max())
    if not EXTENT[0] <= extent <= EXTENT[1]:
        raise InputError(
            f"is {extent:.3g} m large, which no person is; are the vertices in metres?"
        )
    return Mesh(points, faces.astype(np.int32))


def _read_ply(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    cloud = read_ply(path)
    return cloud.xyz, np.zeros((0, 3), np.int32) if cloud.faces is None else cloud.faces


def _read_obj(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read `v` and `f` lines; polygons are cut into fans, everything else is passed over."""
    text = read_bytes(path, limit=LIMIT, what="mesh").decode("utf-8", errors="replace")
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        word, *rest = line.split() or [""]
        try:
            if word == "v":
                vertices.append([float(value) for value in rest[:3]])
            elif word == "f":
                corners = [_corner(value, len(vertices)) for value in rest]
                faces += [(corners[0], *pair) for pair in pairwise(corners[1:])]
        except (ValueError, IndexError) as error:
            raise InputError(f"line {number} cannot be read: {line[:40]!r}") from error
    if any(len(vertex) != 3 for vertex in vertices):
        raise InputError("has vertices with fewer than three numbers", remedy=GET_AGAIN)
    return (
        np.array(vertices, np.float64).reshape(-1, 3),
        np.array(faces, np.int64).reshape(-1, 3),
    )


def _corner(word: str, count: int) -> int:
    """`7`, `7/1`, `7//3` or, counted from the last vertex, `-1`."""
    index = int(word.split("/", maxsplit=1)[0])
    return index - 1 if index > 0 else count + index


def _read_npz(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the arrays `vertices` and `faces`."""
    data = read_bytes(path, limit=LIMIT, what="mesh")
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in ("vertices", "faces"):
                info = archive.getinfo(f"{name}.npy")
                if info.file_size > LIMIT:
                    raise InputError(f"declares {info.file_size:,} bytes of {name!r}: too much")
                arrays[name] = _array(archive.read(info), name)
    except KeyError as error:
        raise InputError("needs the arrays 'vertices' (V×3) and 'faces' (F×3)") from error
    except _DAMAGE as error:
        raise InputError("is not an .npz file, or a damaged one", remedy=GET_AGAIN) from error
    return arrays["vertices"], arrays["faces"]


def _array(data: bytes, name: str) -> NDArray[Any]:
    """Parse one `.npy`, after its declared shape has been held against the bytes there are."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        old = version == (1, 0)
        header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
    except (ValueError, EOFError, TypeError, tokenize.TokenError) as error:
        raise InputError(f"has a damaged array {name!r}", remedy=GET_AGAIN) from error
    if dtype.hasobject:
        raise InputError(f"holds Python objects in {name!r}; these are never loaded")
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise InputError(f"declares a shape of {name!r} that its bytes do not fill")
    stream.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array
