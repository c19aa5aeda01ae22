"""Scenes as files: how one is written, which are there, and the list of them.

    scenes.json        what the folder depends on (`spec`)
    index.csv          a line per scene, as `rgbd_train` has it: id,source,scene,kind,fx,real,unit
    NNNNNN.jpg         the picture
    NNNNNN.png         16 bits of inverse depth: pixel · unit = 1/m, 0 = sky: infinitely far, and known
    NNNNNN.mask.png    16 bits: number of the thing at each pixel, 0 = none (ground, walls, sky)
    NNNNNN.json        camera, pose, kind of scene, `unit`, and the things: kind, box, pixels, depth

`unit` is chosen per picture so that 65535 is its nearest point; the error is at most half a unit. The
`.json` is written last: a scene that has one is whole.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.files import png
from sightline.files.atomic import write_bytes, write_text
from sightline.files.reading import read_bytes
from sightline.scenes.instances import find_instances
from sightline.scenes.make import Scene
from sightline.types import DepthMap

#: Endings in the order in which they are written.
ENDINGS = (".jpg", ".png", ".mask.png", ".json")
INDEX = "index.csv"
COLUMNS = ("id", "source", "scene", "kind", "fx", "real", "unit")
JPEG_QUALITY = 92
LEVELS = 65535

_MAX_RECORD = 50_000_000


def name_of(index: int) -> str:
    """Return the six digits that the files of a scene start with."""
    return f"{index:06d}"


def encode_scene(scene: Scene) -> dict[str, bytes]:
    """Return the files of a scene: ending to bytes."""
    frame = scene.frame
    steps, unit = quantise(frame.depth)
    done, picture = cv2.imencode(
        ".jpg",
        cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2BGR),
        [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY],
    )
    if not done:
        raise SightlineError("the picture could not be encoded as JPEG")
    if int(frame.instance.max()) > LEVELS:
        raise SightlineError(f"a scene of {len(frame.kinds)} things; a mask holds {LEVELS}")
    text = {"Software": "Sightline", "formula": "1/m = unit * pixel", "unit": repr(unit)}
    return {
        ".jpg": picture.tobytes(),
        ".png": png.encode(steps, text),
        ".mask.png": png.encode(frame.instance.astype(np.uint16), {"Software": "Sightline"}),
        ".json": json.dumps(_record(scene, unit), ensure_ascii=False).encode() + b"\n",
    }


def quantise(depth: DepthMap) -> tuple[NDArray[np.uint16], float]:
    """Return (H, W) uint16 inverse depth and its unit in [1/m]; 0 where nothing is, ever so far.

    What is very far but there is at least 1, so that it is not taken for sky.
    """
    known = depth.valid
    if not bool(known.any()):
        return np.zeros(depth.values.shape, np.uint16), 1 / LEVELS
    metres = np.where(known, depth.values, np.inf).astype(np.float64)
    unit = 1 / float(metres.min()) / LEVELS
    steps = np.rint(1 / metres / unit)
    return np.where(known, np.clip(steps, 1, LEVELS), 0).astype(np.uint16), unit


def _record(scene: Scene, unit: float) -> dict[str, Any]:
    """Return what the `.json` of a scene holds."""
    frame = scene.frame
    things = find_instances(frame.instance, frame.depth.values, frame.kinds)
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
        "instances": [asdict(thing) for thing in things],
    }


def write_scene(folder: Path, index: int, files: Mapping[str, bytes]) -> None:
    """Write the files of a scene, each whole or not at all, the record last."""
    for ending in ENDINGS:
        write_bytes(folder / f"{name_of(index)}{ending}", files[ending])


def finished(folder: Path) -> set[int]:
    """Return the numbers of the scenes that are whole."""
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=folder) from error
    digits = (match[1] for name in names if (match := re.fullmatch(r"(\d{6})\.json", name)))
    return {int(d) for d in digits if all(f"{d}{ending}" in names for ending in ENDINGS)}


def write_index(folder: Path) -> int:
    """Write `index.csv` anew from the records of all whole scenes; return how many there are."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    indexes = sorted(finished(folder))
    for index in indexes:
        record = read_record(folder, index)
        name = name_of(index)
        scene = f"{record['seed']}-{name}"
        focal, unit = repr(record["K"][0][0]), repr(record["unit"])
        row = (name, f"sightline-{record['kind']}", scene, "inverse_depth", focal, 0, unit)
        writer.writerow(row)
    write_text(folder / INDEX, lines.getvalue())
    return len(indexes)


def read_record(folder: Path, index: int) -> dict[str, Any]:
    """Return the `.json` of a scene; refuse one that is not whole."""
    path = folder / f"{name_of(index)}.json"
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
