"""Point clouds and meshes as `.ply`: written binary in the camera frame, read in every variant.

The reader takes ASCII and both binary orders, lists and unknown elements. Nothing that a header says
is used before it has been checked against the length of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.io.paths import AnyPath
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.types import PointCloud

_MAX_HEADER = 65536
#: Longest list (polygon) read.
_MAX_LIST = 255

#: PLY names of numbers, old and new, to numpy.
_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"},
    **{"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"},
}
#: Types that the length of a list may have.
_COUNT_TYPES = {name: dtype for name, dtype in _TYPES.items() if not dtype.startswith("f")}
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}


@dataclass(frozen=True, slots=True)
class Property:
    """One column: a number per row, or a list of them."""

    name: str
    dtype: str
    count_dtype: str | None = None  # of a list's length; None for a plain number


@dataclass(slots=True)
class Element:
    """One table: vertices, faces, or something else."""

    name: str
    count: int
    properties: list[Property]


def parse_header(data: bytes) -> tuple[str, list[Element], set[str], int]:
    """Return byte order ("" for ASCII), elements, comments and where the numbers start."""
    if not data.startswith((b"ply\n", b"ply\r")):
        raise InputError("is not a PLY file")
    at = data.find(b"end_header", 0, _MAX_HEADER)
    start = data.find(b"\n", at) + 1
    if at < 0 or start == 0:
        raise InputError("has a PLY header without end", remedy=GET_AGAIN)
    order, elements, comments = None, list[Element](), set[str]()
    try:
        for line in data[:at].decode("latin-1").splitlines()[1:]:
            match line.split():
                case ["format", name, "1.0"]:
                    order = _ORDERS[name]
                case ["comment" | "obj_info", *words]:
                    comments.add(" ".join(words))
                case ["element", name, count] if count.isdecimal() and len(count) < 19:
                    elements.append(Element(name, int(count), []))
                case ["property", "list", counts, items, name]:
                    listed = Property(name, _TYPES[items], _COUNT_TYPES[counts])
                    elements[-1].properties.append(listed)
                case ["property", kind, name]:
                    elements[-1].properties.append(Property(name, _TYPES[kind]))
                case []:
                    pass
                case _:
                    raise InputError(f"has a PLY header line that makes no sense: {line[:60]!r}")
    except (KeyError, IndexError) as error:
        raise InputError("has a PLY header that makes no sense", remedy=GET_AGAIN) from error
    if order is None:
        raise InputError("does not say its PLY format")
    return order, elements, comments, start


class BinaryBody:
    """Reader of the elements of a binary body, never past its end."""

    def __init__(self, data: bytes, start: int, order: str) -> None:
        self.data, self.at, self.order = data, start, order

    def read(self, element: Element) -> dict[str, NDArray[Any]]:
        """Return property name to (N,) numbers, or (N, k) for lists, which must have one length."""
        fields: list[tuple[str, str] | tuple[str, str, tuple[int, ...]]] = []
        counts: dict[str, int] = {}
        offset = self.at
        for number, prop in enumerate(element.properties):
            if prop.count_dtype is not None:
                length = self._peek(offset, prop.count_dtype) if element.count else 0
                counts[f"count {number}"] = length
                fields.append((f"count {number}", self.order + prop.count_dtype))
                fields.append((prop.name, self.order + prop.dtype, (length,)))
                offset += length * np.dtype(prop.dtype).itemsize
                offset += np.dtype(prop.count_dtype).itemsize
            else:
                fields.append((prop.name, self.order + prop.dtype))
                offset += np.dtype(prop.dtype).itemsize
        row = _row_dtype(fields)
        if element.count * row.itemsize > len(self.data) - self.at:
            raise _too_short(element)
        rows = np.frombuffer(self.data, row, element.count, self.at) if row.itemsize else None
        if rows is None:
            return {}
        self.at += element.count * row.itemsize
        if any(bool((rows[name] != length).any()) for name, length in counts.items()):
            raise _mixed(element)
        return {prop.name: rows[prop.name] for prop in element.properties}

    def _peek(self, offset: int, dtype: str) -> int:
        if offset + np.dtype(dtype).itemsize > len(self.data):
            raise InputError("is truncated", remedy=GET_AGAIN)
        length = int(np.frombuffer(self.data, self.order + dtype, 1, offset)[0])
        if not 0 <= length <= _MAX_LIST:
            raise InputError(f"has a list of {length} entries")
        return length


class AsciiBody:
    """Reader of the numbers of a text body."""

    def __init__(self, body: bytes) -> None:
        self.words, self.at = body.split(), 0

    def read(self, element: Element) -> dict[str, NDArray[Any]]:
        """Return the same as `BinaryBody.read`."""
        widths, column = [], 0
        for prop in element.properties:
            length = -1
            if prop.count_dtype is not None:
                length = self._count(self.at + column) if element.count else 0
                if not 0 <= length <= _MAX_LIST:
                    raise InputError(f"has a list of {length} entries")
            widths.append(length)
            column += 1 if length < 0 else 1 + length
        if column == 0:
            return {}
        end = self.at + element.count * column
        if end > len(self.words):
            raise _too_short(element)
        try:
            rows = np.array(self.words[self.at : end], np.float64).reshape(element.count, column)
        except ValueError as error:
            raise InputError("has words where numbers should be", remedy=GET_AGAIN) from error
        self.at, column, table = end, 0, {}
        for prop, length in zip(element.properties, widths, strict=True):
            if length < 0:
                table[prop.name] = _cast(rows[:, column], prop)
                column += 1
                continue
            if bool((rows[:, column] != length).any()):
                raise _mixed(element)
            table[prop.name] = _cast(rows[:, column + 1 : column + 1 + length], prop)
            column += 1 + length
        return table

    def _count(self, at: int) -> int:
        try:
            return int(self.words[at])
        except (IndexError, ValueError) as error:
            raise InputError("is truncated or damaged", remedy=GET_AGAIN) from error


def _cast(numbers: NDArray[np.float64], prop: Property) -> NDArray[Any]:
    """Convert text numbers to the type that the header declares, or refuse them."""
    dtype = np.dtype(prop.dtype)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinite is refused where it matters
            return numbers.astype(dtype)
    bounds = np.iinfo(dtype)
    if not bool(((numbers >= bounds.min) & (numbers <= bounds.max)).all()):
        raise InputError(f"has {prop.name!r} out of the range of its type")
    return numbers.astype(dtype)


def _row_dtype(fields: list[Any]) -> np.dtype[Any]:
    try:
        return np.dtype(fields)
    except ValueError as error:
        raise InputError("has a PLY header with one name twice", remedy="rename one") from error


def _too_short(element: Element) -> InputError:
    return InputError(
        f"declares {element.count:,} of {element.name!r}, more than the file holds",
        remedy=GET_AGAIN,
    )


def _mixed(element: Element) -> InputError:
    return InputError(
        f"has {element.name!r} lists of different lengths", remedy="triangulate the mesh first"
    )


FRAME = "x right, y down, z forward"

#: Files above this are refused: about a hundred million points with colors and faces.
MAX_BYTES = 4_000_000_000

_FACE = np.dtype([("count", "u1"), ("index", "<i4", (3,))])


def write_ply(path: str | AnyPath, points: PointCloud) -> None:
    """Write points, colors and faces as binary PLY."""
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


def read_ply(path: str | AnyPath) -> PointCloud:
    """Read points, colors and faces; polygons of one size are cut into triangles.

    Colors may be 8-bit, 16-bit or 0–1; other properties and elements are passed over.
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
        # Doubles beyond float32 become infinite; that and NaN is refused, or black as a color.
        with np.errstate(over="ignore", invalid="ignore"):
            xyz = np.stack([vertex[axis].astype(np.float32) for axis in "xyz"], axis=-1)
            rgb = _colors(vertex)
        unit = "m" if "unit m" in comments else ""
        return PointCloud(xyz, rgb, unit, _triangles(tables.get("face")))


def _colors(vertex: dict[str, NDArray[Any]]) -> NDArray[np.uint8] | None:
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
