"""Folders of photographs with measured depth: `index.json`, `<sample>/image.jpg`, `<sample>/truth.npz`.

`index.json` is a list of `{"sample": …, "set": …, "kind": "dense" or "sparse"}`; `truth.npz` holds
`depth` in meters, or `disparity` (larger is nearer) in any unit, NaN where unknown, and the camera's
matrix `K` in pixels where it is known.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.types import BoolArray, Camera, FloatArray

_MAX_INDEX = 100_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One photograph with its measured depth.

    Attributes:
        sample: folder name.
        group: the set it belongs to.
        pixels: (H, W, 3) uint8.
        disparity: (H, W) 1/meters where `metric`, else in any unit; 0 where unknown.
        known: (H, W) where it was measured.
        metric: whether the ground truth is in meters.
        dense: whether most pixels are known, so that edges can be evaluated.
        camera: camera; None if unknown.
    """

    sample: str
    group: str
    pixels: NDArray[np.uint8]
    disparity: FloatArray
    known: BoolArray
    metric: bool
    dense: bool
    camera: Camera | None = None


def read_rgbd(folder: str | Path) -> Iterator[Truth]:
    """Iterate over the samples that `index.json` lists."""
    for row in list_rgbd(folder):
        yield read_sample(folder, row)


def list_rgbd(folder: str | Path) -> list[dict[str, str]]:
    """Return `sample`, `set` and `kind` of every sample that `index.json` lists; none is read."""
    path = Path(folder) / "index.json"
    try:
        rows = json.loads(read_bytes(path, limit=_MAX_INDEX, what="list of samples"))
        return [{key: str(row.get(key, "")) for key in ("sample", "set", "kind")} for row in rows]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise InputError("is not a list of samples", path=path, remedy=GET_AGAIN) from error


def read_sample(folder: str | Path, row: dict[str, str]) -> Truth:
    """Read one sample, `row` being its entry of `list_rgbd`."""
    return _sample(Path(folder) / row["sample"], row["set"], dense=row["kind"] == "dense")


def _sample(folder: Path, group: str, *, dense: bool) -> Truth:
    pixels = read_picture(folder / "image.jpg").pixels
    path = folder / "truth.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            metric = "depth" in file
            raw = np.asarray(file["depth" if metric else "disparity"], np.float32)
            matrix = np.asarray(file["K"], np.float64) if "K" in file else None
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the name") from error
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError("is not a truth file", path=path, remedy=GET_AGAIN) from error
    if raw.shape != pixels.shape[:2]:
        raise InputError(f"truth is {raw.shape}, the picture {pixels.shape[:2]}", path=path)
    known = np.isfinite(raw) & (raw > 0)
    safe = np.where(known, raw, np.float32(1))
    disparity: FloatArray = np.where(known, 1 / safe if metric else safe, np.float32(0))
    with naming(path):
        camera = None if matrix is None else Camera(matrix, raw.shape[1], raw.shape[0])
    return Truth(folder.name, group, pixels, disparity, known, metric, dense, camera)
