"""People from a folder: meshes and masks that a mesh-recovery tool has written (HMR 2.0 and others).

```
people/street_0.obj        the first person of street.jpg: .obj, .ply or .npz
people/street_0_mask.png   where that person is seen: not black, the size of the picture
people/street_1.npz        the second one: arrays `vertices` (V×3) and `faces` (F×3)
people/street_1_mask.png
```

Vertices are in metres in the camera's frame as OpenCV has it: x right, y down, z forward, the camera
at the origin, with the same focal length that Sightline is told. Without a mask the mesh's own outline
is taken, which does not know what stands before it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.geometry import project
from sightline.metric.people.masks import box_of
from sightline.metric.people.meshes import SUFFIXES, read_mesh
from sightline.metric.people.types import LANDMARKS, Mesh, Person, check_camera
from sightline.types import BoolArray, Camera

#: Least share of a mesh's vertices that must be seen within its mask: others are somebody else's.
WITHIN = 0.1

_NAME = re.compile(r"(?P<stem>.+)_(?P<number>\d{1,6})")


class FolderFinder:
    """A `PeopleFinder` for one picture whose people somebody else has found.

    Args:
        folder: with files as the module says.
        stem: name of the picture without its suffix; may be left out when the folder holds the
            people of one picture only.
    """

    def __init__(self, folder: str | Path, stem: str | None = None) -> None:
        self.folder = Path(folder)
        self.source = f"meshes in {self.folder}"
        self._files = _meshes(self.folder, stem)

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) picture, in the order of their numbers."""
        check_camera(pixels, camera)
        return [_person(path, camera) for path in self._files]


def _meshes(folder: Path, stem: str | None) -> list[Path]:
    """Files of one picture's meshes, by their numbers."""
    if stem is not None and Path(stem).name != stem:
        raise InputError(f"{stem!r} is no name of a picture: it leads to another folder")
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


def _outline(mesh: Mesh, camera: Camera) -> BoolArray:
    from sightline.rasterise import rasterise

    return rasterise(mesh.vertices, mesh.faces, camera).filled


def _share_within(mesh: Mesh, mask: BoolArray, camera: Camera) -> float:
    """Share of the vertices that fall on the mask, of those that fall into the picture."""
    x, y = np.round(project(mesh.vertices, camera)).T
    height, width = mask.shape
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if not inside.any():
        return 0.0
    return float(mask[y[inside].astype(int), x[inside].astype(int)].mean())
