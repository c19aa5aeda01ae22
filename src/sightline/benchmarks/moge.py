"""MoGe's evaluation data: several sets in one format, each with a list of its samples.

`<set>/.index.txt` names one sample folder per line, with `image.jpg`, `depth.png` and `meta.json`.
`depth.png` is 16-bit gray: 0 is unknown, 65535 infinitely far, and v in between is
near^(1 − x) · far^x with x = (v − 1) / 65533. `near` and `far` are text chunks of the file, and so is
`unit`, a factor to meters, in some releases. `meta.json` has the camera matrix divided by the
picture's width and height. Depth beyond 1,000 times the 1 % quantile is dropped, as MoGe does.

MoGe first warps every picture to a view of a fixed size per set; here the pictures stay as they are.
Aligned predictions end at the farthest counted pixel of the picture, as MoGe limits aligned disparity.
`segmentation.png` serves MoGe's local point figures, which are not computed, and is not read.
"""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import (
    Benchmark,
    Item,
    folder_of,
    read_gray16,
    read_truth_bytes,
    truth_of_depth,
)
from sightline.errors import InputError
from sightline.io import png
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.io.rgbd import Truth
from sightline.types import Camera

INDEX = ".index.txt"

#: Sets of MoGe's evaluation that were measured in meters. Others are only if their files have a `unit`.
METRIC_SETS = frozenset({"nyuv2", "kitti", "eth3d", "ibims-1", "ddad", "diode", "hammer"})

#: Depth beyond this many times the 1 % quantile is dropped.
MAX_RATIO = 1000.0

_INFINITE = 65535
_MAX_LIST = 100_000_000
_MAX_META = 10_000_000


def items(folder: Path) -> list[Item]:
    """List the samples of a set, or of all sets below a folder."""
    folder_of(folder, what="MoGe's evaluation data", remedy=f"name the folder with {INDEX} in it")
    roots = (
        [folder]
        if (folder / INDEX).is_file()
        else sorted(path.parent for path in folder.glob(f"*/{INDEX}"))
    )
    if not roots:
        raise InputError(
            f"neither it nor a folder in it has {INDEX}",
            path=folder,
            remedy="name the folder of a set, or the folder of the sets",
        )
    return [item for root in roots for item in _set_items(root)]


def _set_items(root: Path) -> list[Item]:
    path = root / INDEX
    data = read_bytes(path, limit=_MAX_LIST, what="list of samples")
    try:
        lines = [line.strip() for line in data.decode().splitlines()]
    except UnicodeDecodeError as error:
        raise InputError("is not a list of samples", path=path, remedy=GET_AGAIN) from error
    names = [line for line in lines if line]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"lists {twice!r} twice", path=path, remedy="remove one of the lines")
    return [_item(root, name) for name in names]


def _item(root: Path, name: str) -> Item:
    group = root.resolve().name
    files = tuple(root / name / file for file in ("image.jpg", "depth.png", "meta.json"))
    full = f"{group}/{name}"
    aliases = (name, f"{full}/image", f"{name}/image")
    return Item(full, group, files, partial(_load, full, group, root / name), aliases)


def _load(name: str, group: str, folder: Path) -> Truth:
    pixels = read_picture(folder / "image.jpg").pixels
    path = folder / "depth.png"
    depth, has_unit = read_moge_depth(path)
    finite = np.isfinite(depth)
    if finite.any():
        depth[finite & (depth > MAX_RATIO * np.quantile(depth[finite], 0.01))] = np.nan
    # Sky has no depth but is no gap: beside it, edges can be judged.
    dense = float(np.mean(~np.isnan(depth))) > 0.5
    truth = truth_of_depth((name, group), pixels, depth, dense=dense, path=path)
    camera = _read_camera(folder / "meta.json", truth.disparity.shape)
    metric = has_unit or group.lower() in METRIC_SETS
    return Truth(name, group, pixels, truth.disparity, truth.known, metric, dense, camera)


def read_moge_depth(path: Path) -> tuple[NDArray[np.float64], bool]:
    """Read a depth file of MoGe.

    Returns:
        (H, W) depth, NaN where unknown, infinite where infinitely far; and whether the file says by
        its `unit` that it is in [m].
    """
    values = read_gray16(path)
    text = png.read_text(read_truth_bytes(path), path=path)
    near, far = _positive(text, "near", path), _positive(text, "far", path)
    unit = _positive(text, "unit", path) if "unit" in text else 1.0
    if far < near:
        raise InputError(f"has far {far:g} below near {near:g}", path=path, remedy=GET_AGAIN)
    share = (values.astype(np.float64) - 1) / 65533
    depth: NDArray[np.float64] = unit * near ** (1 - share) * far**share
    depth[values == 0] = np.nan
    depth[values == _INFINITE] = np.inf
    return depth, "unit" in text


def _positive(text: dict[str, str], key: str, path: Path) -> float:
    """Return a positive number of the file's text chunks."""
    if key not in text:
        raise InputError(f"has no text chunk {key!r}", path=path, remedy=GET_AGAIN)
    try:
        value = float(text[key])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(
            f"has {key} {text[key][:40]!r}, not a positive number", path=path, remedy=GET_AGAIN
        )
    return value


def _read_camera(path: Path, hw: tuple[int, ...]) -> Camera:
    """Read the camera; normalized coordinates have 0 and 1 at the outer edges of the picture."""
    try:
        meta = json.loads(read_bytes(path, limit=_MAX_META, what="camera file"))
        matrix = np.asarray(meta["intrinsics"], np.float64)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("has no intrinsics", path=path, remedy=GET_AGAIN) from error
    if matrix.shape != (3, 3):
        raise InputError(f"has intrinsics of shape {matrix.shape}, not (3, 3)", path=path)
    height, width = hw
    pixels = np.diag([width, height, 1.0]) @ matrix
    pixels[:2, 2] -= 0.5
    with naming(path):
        return Camera(pixels, width, height)


BENCHMARK = Benchmark(
    name="moge",
    title="MoGe's evaluation data, all its sets",
    layout=(
        f"<set>/{INDEX}  (or DIR/{INDEX} of one set)",
        "<set>/<sample>/image.jpg",
        "<set>/<sample>/depth.png  (16-bit, logarithmic, with near and far)",
        "<set>/<sample>/meta.json  (intrinsics)",
    ),
    source="https://github.com/microsoft/MoGe (docs/eval.md)",
    items=items,
    protocol=Protocol(cap=None),
    average="sets",
)
