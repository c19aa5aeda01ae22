"""Read back the scenes that `store` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import png
from sightline.files.native import listening
from sightline.files.pictures import read_picture
from sightline.files.reading import GET_AGAIN, naming, read_bytes
from sightline.scenes.instances import Instance
from sightline.scenes.spec import LARGEST, MANIFEST
from sightline.scenes.store import finished, name_of, read_record
from sightline.types import BoolArray, Camera, DepthMap, Kind

_MAX_BYTES = LARGEST * LARGEST * 2 + 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class StoredScene:
    """A scene read from its files.

    Attributes:
        index: its number.
        seed: of the row of scenes.
        kind: of scene: room, street …
        pixels: (H, W, 3) uint8 RGB.
        depth: inverse depth in [1/m], valid everywhere, 0 in the sky; with the camera. Metres by
            `depth.to_metric_depth()`, where the sky is not valid.
        pose: (4, 4) camera to world, [m].
        mask: (H, W) int32 number of the thing at each pixel, 0 where there is none.
        instances: the things.
    """

    index: int
    seed: int
    kind: str
    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]
    mask: NDArray[np.int32]
    instances: tuple[Instance, ...]

    @property
    def sky(self) -> BoolArray:
        """(H, W), True where nothing is seen: infinitely far."""
        return self.depth.values == 0


def read_scenes(folder: str | Path) -> Iterator[StoredScene]:
    """Iterate over the whole scenes of a folder, by number."""
    folder = Path(folder)
    for index in list_scenes(folder):
        yield read_scene(folder, index)


def list_scenes(folder: Path) -> list[int]:
    """Return the numbers of the whole scenes of a folder, which must be one of scenes."""
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"no {MANIFEST} here, so no folder of scenes",
            path=folder,
            remedy="make one with sightline scenes make",
        )
    return sorted(finished(folder))


def read_scene(folder: Path, index: int) -> StoredScene:
    """Read scene number `index` of a folder."""
    name = name_of(index)
    record = read_record(folder, index)
    pixels = read_picture(folder / f"{name}.jpg").pixels
    steps = _read_png16(folder / f"{name}.png", pixels.shape[:2])
    mask = _read_png16(folder / f"{name}.mask.png", pixels.shape[:2])
    with naming(folder / f"{name}.json"):
        camera = _camera(record, *pixels.shape[:2])
        values = (steps * float(record["unit"])).astype(np.float32)
        source = f"sightline scene {index} of seed {record['seed']}"
        return StoredScene(
            index=index,
            seed=record["seed"],
            kind=record["kind"],
            pixels=pixels,
            depth=DepthMap(values, Kind.METRIC_DISPARITY, camera=camera, source=source),
            pose=_pose(record),
            mask=mask.astype(np.int32),
            instances=_instances(record),
        )


def _read_png16(path: Path, shape: tuple[int, ...]) -> NDArray[np.uint16]:
    """Read a one-channel picture of 16 bits, whole and of the given shape."""
    data = read_bytes(path, limit=_MAX_BYTES, what="picture")
    png.check(data, path=path)
    header = png.read_header(data, path=path)
    if (header.bits, header.colour) != (16, 0) or (header.height, header.width) != shape:
        size = f"{shape[1]}×{shape[0]}"
        raise InputError(f"is not a grey picture of 16 bits and {size}", path=path)
    with listening():
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise InputError("is damaged", path=path, remedy=GET_AGAIN)
    return np.asarray(pixels, np.uint16)


def _camera(record: dict[str, Any], height: int, width: int) -> Camera:
    try:
        matrix = np.array(record["K"], np.float64)
    except (ValueError, TypeError) as error:
        raise InputError("K must be nine numbers") from error
    return Camera(matrix, width, height)


def _pose(record: dict[str, Any]) -> NDArray[np.float64]:
    try:
        return np.array(record["pose"], np.float64).reshape(4, 4)
    except (ValueError, TypeError) as error:
        raise InputError("pose must be sixteen numbers") from error


def _instances(record: dict[str, Any]) -> tuple[Instance, ...]:
    try:
        return tuple(
            Instance(**{**thing, "box": tuple(int(side) for side in thing["box"])})
            for thing in record["instances"]
        )
    except (ValueError, TypeError, LookupError) as error:
        raise InputError("the list of things is damaged") from error
