"""People from files: meshes and masks written by a mesh-recovery tool (HMR 2.0 and others).

```
people/street_0.obj        the first person of street.jpg: .obj, .ply or .npz
people/street_0_mask.png   visible pixels of that person: not black, of the image's size
people/street_1.npz        the second one: arrays `vertices` (V×3) and `faces` (F×3)
people/street_1_mask.png
```

Vertices are in meters in the camera frame of OpenCV (x right, y down, z forward, camera at the origin),
for the focal length that Sightline uses. Without a mask, the outline of the mesh is used, which ignores
occlusion. Only vertices and faces are read: no materials, textures, other files or pickles.
"""

from __future__ import annotations

import io
import math
import re
import tokenize
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import project
from sightline.io.images import read_picture
from sightline.io.ply import read_ply
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.metric.people.masks import box_of
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person, check_camera
from sightline.types import BoolArray, Camera

#: Largest mesh file in [B]; a body of 100 k vertices has 15 MB as `.obj`.
LIMIT = 200_000_000
#: Smallest and largest extent of a person in [m], from a curled-up child to raised arms.
EXTENT = (0.3, 3.0)

SUFFIXES = (".obj", ".ply", ".npz")

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


def read_mesh(path: Path) -> BodyMesh:
    """Read a mesh with vertices in [m] in the camera frame (x right, y down, z forward).

    Raises:
        InputError: the file is damaged or holds no plausible person.
    """
    readers = {".obj": _read_obj, ".ply": _read_ply, ".npz": _read_npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError("is no mesh", path=path, remedy=f"use {', '.join(SUFFIXES)}")
    with naming(path):
        vertices, faces = reader(path)
        return check_mesh(vertices, faces)


def check_mesh(vertices: NDArray[Any], faces: NDArray[Any]) -> BodyMesh:
    """Validate (V, 3) vertices in [m] and (F, 3) faces."""
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
            f"is {extent:.3g} m large, which no person is; are the vertices in meters?"
        )
    return BodyMesh(points, faces.astype(np.int32))


def _read_ply(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    cloud = read_ply(path)
    return cloud.xyz, np.zeros((0, 3), np.int32) if cloud.faces is None else cloud.faces


def _read_obj(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read `v` and `f` lines; polygons become triangle fans, everything else is skipped."""
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
    """Parse `7`, `7/1`, `7//3` or, counted from the last vertex, `-1`."""
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
    """Parse one `.npy` after checking its declared shape against its size."""
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


#: Smallest share of the visible vertices inside the mask; below, mesh and mask do not belong together.
WITHIN = 0.1

_NAME = re.compile(r"(?P<stem>.+)_(?P<number>\d{1,6})")


class FolderFinder:
    """`PeopleFinder` for one image whose people are given as files.

    Args:
        folder: with files as described in the module.
        stem: file name of the image without suffix; optional if the folder holds one image's people.
    """

    def __init__(self, folder: str | Path, stem: str | None = None) -> None:
        self.folder = Path(folder)
        self.source = f"meshes in {self.folder}"
        self._files = _meshes(self.folder, stem)

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) image in the order of their numbers."""
        check_camera(pixels, camera)
        return [_person(path, camera) for path in self._files]


def _meshes(folder: Path, stem: str | None) -> list[Path]:
    """Return the mesh files of one image by their numbers."""
    if stem is not None and Path(stem).name != stem:
        raise InputError(f"{stem!r} is not the name of a picture: it contains a folder")
    if not folder.is_dir():
        raise InputError("no such folder", path=folder)
    found: dict[tuple[str, int], Path] = {}
    for path in sorted(folder.iterdir()):
        named = _NAME.fullmatch(path.stem)
        if path.suffix.lower() not in SUFFIXES or named is None:
            continue
        key = named["stem"], int(named["number"])
        if key in found and stem in (None, key[0]):
            raise InputError(f"is the same person as {found[key].name}", path=path)
        found[key] = path
    stems = sorted({name for name, _ in found})
    if stem is None and len(stems) > 1:
        raise InputError(
            f"holds the people of {len(stems)} pictures ({stems[0]}, {stems[1]} …)",
            path=folder,
            remedy="say which picture is meant",
        )
    wanted = stem if stem is not None else next(iter(stems), None)
    chosen = sorted((number, path) for (name, number), path in found.items() if name == wanted)
    if not chosen:
        of = "" if stem is None else f" of {stem}"
        raise InputError(
            f"holds no mesh{of}",
            path=folder,
            remedy=f"name them {stem or 'PICTURE'}_0.obj, {stem or 'PICTURE'}_1.obj … (or .ply, .npz)",
        )
    return [path for _, path in chosen]


def _person(path: Path, camera: Camera) -> Person:
    mesh = read_mesh(path)
    mask_path = path.with_name(f"{path.stem}_mask.png")
    mask = _read_mask(mask_path, camera) if mask_path.exists() else _outline(mesh, camera)
    if not mask.any():
        where = mask_path if mask_path.exists() else path
        raise InputError("shows nobody: no pixel of the picture is taken", path=where)
    if mask_path.exists() and _share_within(mesh, mask, camera) < WITHIN:
        raise InputError(
            f"lies elsewhere in the picture than {mask_path.name}",
            path=path,
            remedy="was it made with another focal length?",
        )
    count = len(LANDMARKS)
    return Person(
        box=box_of(mask),
        mask=mask,
        confidence=1.0,
        landmarks=np.full((count, 2), np.nan),
        visibility=np.zeros(count),
        world=np.full((count, 3), np.nan),
        mesh=mesh,
        outlined=not mask_path.exists(),
    )


def _read_mask(path: Path, camera: Camera) -> BoolArray:
    pixels = read_picture(path).pixels
    height, width = pixels.shape[:2]
    if (height, width) != (camera.height, camera.width):
        raise InputError(
            f"is {width}×{height} px, the picture {camera.width}×{camera.height} px", path=path
        )
    mask: BoolArray = pixels.max(axis=2) > 0
    return mask


def _outline(mesh: BodyMesh, camera: Camera) -> BoolArray:
    from sightline.rasterize import rasterize

    return rasterize(mesh.vertices, mesh.faces, camera).filled


def _share_within(mesh: BodyMesh, mask: BoolArray, camera: Camera) -> float:
    """Return the share of the vertices inside the image that fall on the mask."""
    x, y = np.round(project(mesh.vertices, camera)).T
    height, width = mask.shape
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if not inside.any():
        return 0.0
    return float(mask[y[inside].astype(int), x[inside].astype(int)].mean())
