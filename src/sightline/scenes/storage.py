"""Write scenes to a folder, list them, and read them back.

    scenes.json        settings that the folder depends on (`SceneSpec`)
    index.csv          one line per scene: id,source,scene,kind,fx,real,unit
    NNNNNN.jpg         picture
    NNNNNN.png         16-bit inverse depth: pixel · unit = 1/m; 0 = sky, known to be infinitely far
    NNNNNN.mask.png    16-bit instance number of each pixel; 0 = none (ground, walls, sky)
    NNNNNN.json        camera, pose, kind of scene, `unit`, and the instances: kind, box, pixels, depth

`unit` is chosen per picture such that 65535 is its nearest point; the error is at most half a unit. The
`.json` is written last: a scene that has one is complete.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.io import png
from sightline.io.atomic import write_bytes, write_text
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.scenes.config import MANIFEST, MAX_SIDE
from sightline.scenes.generate import Scene, SceneInstance
from sightline.types import BoolArray, Camera, DepthMap, Kind

#: File suffixes in the order of writing.
ENDINGS = (".jpg", ".png", ".mask.png", ".json")
INDEX = "index.csv"
INDEX_COLUMNS = ("id", "source", "scene", "kind", "fx", "real", "unit")
JPEG_QUALITY = 92
MAX_CODE = 65535

_MAX_RECORD = 50_000_000


def file_stem(index: int) -> str:
    """Return the six digits that the files of a scene start with."""
    return f"{index:06d}"


def encode_scene(scene: Scene) -> dict[str, bytes]:
    """Return the files of a scene as a dictionary of suffix to bytes."""
    frame = scene.frame
    steps, unit = quantize_disparity(frame.depth)
    done, picture = cv2.imencode(
        ".jpg",
        cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2BGR),
        [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY],
    )
    if not done:
        raise SightlineError("the picture could not be encoded as JPEG")
    if int(frame.instance.max()) > MAX_CODE:
        raise SightlineError(f"a scene has {len(frame.kinds)} instances; a mask holds {MAX_CODE}")
    text = {"Software": "Sightline", "formula": "1/m = unit * pixel", "unit": repr(unit)}
    return {
        ".jpg": picture.tobytes(),
        ".png": png.encode(steps, text),
        ".mask.png": png.encode(frame.instance.astype(np.uint16), {"Software": "Sightline"}),
        ".json": json.dumps(_scene_record(scene, unit), ensure_ascii=False).encode() + b"\n",
    }


def quantize_disparity(depth: DepthMap) -> tuple[NDArray[np.uint16], float]:
    """Return (H, W) uint16 inverse depth and its unit in [1/m]; 0 where depth is invalid (sky).

    Valid depth is at least 1, however far, so that it is not mistaken for sky.
    """
    known = depth.valid
    if not bool(known.any()):
        return np.zeros(depth.values.shape, np.uint16), 1 / MAX_CODE
    meters = np.where(known, depth.values, np.inf).astype(np.float64)
    unit = 1 / float(meters.min()) / MAX_CODE
    steps = np.rint(1 / meters / unit)
    return np.where(known, np.clip(steps, 1, MAX_CODE), 0).astype(np.uint16), unit


def _scene_record(scene: Scene, unit: float) -> dict[str, Any]:
    """Return the contents of the `.json` file of a scene."""
    frame = scene.frame
    return {
        "kind": scene.kind,
        "seed": scene.seed,
        "index": scene.index,
        "attempt": scene.attempt,
        "width": frame.camera.width,
        "height": frame.camera.height,
        "K": frame.camera.K.tolist(),
        "pose": np.asarray(frame.pose).tolist(),
        "unit": unit,
        "instances": [asdict(instance) for instance in scene.instances],
    }


def write_scene(folder: Path, index: int, files: Mapping[str, bytes]) -> None:
    """Write the files of a scene, each atomically, the `.json` file last."""
    for ending in ENDINGS:
        write_bytes(folder / f"{file_stem(index)}{ending}", files[ending])


def finished_indexes(folder: Path) -> set[int]:
    """Return the indexes of the complete scenes."""
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=folder) from error
    digits = (match[1] for name in names if (match := re.fullmatch(r"(\d{6})\.json", name)))
    return {int(d) for d in digits if all(f"{d}{ending}" in names for ending in ENDINGS)}


def write_index(folder: Path) -> int:
    """Write `index.csv` from the records of all complete scenes; return their number."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(INDEX_COLUMNS)
    indexes = sorted(finished_indexes(folder))
    for index in indexes:
        record = read_record(folder, index)
        name = file_stem(index)
        scene = f"{record['seed']}-{name}"
        focal, unit = repr(record["K"][0][0]), repr(record["unit"])
        row = (name, f"sightline-{record['kind']}", scene, "inverse_depth", focal, 0, unit)
        writer.writerow(row)
    write_text(folder / INDEX, lines.getvalue())
    return len(indexes)


def read_record(folder: Path, index: int) -> dict[str, Any]:
    """Return the `.json` record of a scene; raise `InputError` if it is damaged."""
    path = folder / f"{file_stem(index)}.json"
    data = read_bytes(path, limit=_MAX_RECORD, what="record of a scene")
    try:
        record = json.loads(data)
        whole = {"kind", "seed", "index", "K", "pose", "unit", "instances"} <= record.keys()
        whole = whole and float(record["K"][0][0]) > 0 and float(record["unit"]) > 0
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise _damaged(path) from error
    if not whole:
        raise _damaged(path)
    return dict(record)


def _damaged(path: Path) -> InputError:
    return InputError("is damaged", path=path, remedy="delete it and make the scenes again")


_MAX_BYTES = MAX_SIDE * MAX_SIDE * 2 + 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class StoredScene:
    """A scene read from its files.

    Attributes:
        index: index in the data set.
        seed: random seed of the data set.
        kind: kind of scene: room, street …
        pixels: (H, W, 3) uint8 RGB.
        depth: inverse depth with camera, [1/m]; valid everywhere, 0 in the sky.
            `depth.to_metric_depth()` converts it to meters, invalid in the sky.
        pose: (4, 4) camera to world, translation in [m].
        mask: (H, W) int32 instance number of each pixel, 0 for none.
        instances: visible objects with their boxes.
    """

    index: int
    seed: int
    kind: str
    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]
    mask: NDArray[np.int32]
    instances: tuple[SceneInstance, ...]

    @property
    def sky(self) -> BoolArray:
        """(H, W) bool; True in the sky, infinitely far."""
        return self.depth.values == 0


def read_scenes(folder: str | Path) -> Iterator[StoredScene]:
    """Iterate over the complete scenes of a folder, by index."""
    folder = Path(folder)
    for index in list_scenes(folder):
        yield read_scene(folder, index)


def list_scenes(folder: Path) -> list[int]:
    """Return the indexes of the complete scenes of a data set."""
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"no {MANIFEST} here, so no folder of scenes",
            path=folder,
            remedy="make one with sightline scenes make",
        )
    return sorted(finished_indexes(folder))


def read_scene(folder: Path, index: int) -> StoredScene:
    """Read scene `index` of a data set."""
    name = file_stem(index)
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
    if (header.bits, header.color) != (16, 0) or (header.height, header.width) != shape:
        size = f"{shape[1]}×{shape[0]}"
        raise InputError(f"is not a gray picture of 16 bits and {size}", path=path)
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


def _instances(record: dict[str, Any]) -> tuple[SceneInstance, ...]:
    try:
        return tuple(
            SceneInstance(**{**thing, "box": tuple(int(side) for side in thing["box"])})
            for thing in record["instances"]
        )
    except (ValueError, TypeError, LookupError) as error:
        raise InputError("the list of instances is damaged") from error
