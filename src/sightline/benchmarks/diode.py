"""DIODE validation: 771 pictures, 325 indoors and 446 outdoors, laser depth, 0.6 to 350 m.

`val/{indoors,outdoor}/scene_<n>/scan_<n>/<name>.png`, beside it `<name>_depth.npy`, float32 meters
(768, 1024) or (768, 1024, 1), and `<name>_depth_mask.npy`, 1 where the sensor saw something.
Indoors and outdoors are rows of their own: figures in the literature are often of one alone (spec
§1.5). The laser fills in across contours, so the boundary figures compare models, no more. The
range is the sensor's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item, folder_of, read_npy, truth_of_depth
from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.rgbd import Truth

GROUPS = ("indoors", "outdoor")

#: Focal length over the picture's width, both in [px], by the set's own intrinsics file.
FOCAL = 886.81 / 1024


def items(folder: Path) -> list[Item]:
    """List the pictures; the folder is `val`, or holds it."""
    root = folder / "val" if (folder / "val").is_dir() else folder
    folder_of(root, what="DIODE", remedy="name the folder with `val` in it")
    return [
        _item(root, group, picture)
        for group in GROUPS
        for picture in sorted((root / group).glob("scene_*/scan_*/*.png"))
    ]


def _item(root: Path, group: str, picture: Path) -> Item:
    depth = picture.with_name(f"{picture.stem}_depth.npy")
    mask = picture.with_name(f"{picture.stem}_depth_mask.npy")
    inner = picture.relative_to(root).with_suffix("").as_posix()
    load = partial(_load, f"val/{inner}", group, picture, depth, mask)
    return Item(f"val/{inner}", group, (picture, depth, mask), load, (inner,))


def _load(name: str, group: str, picture: Path, depth: Path, mask: Path) -> Truth:
    pixels = read_picture(picture).pixels
    height, width = pixels.shape[:2]
    meters, seen = read_npy(depth), read_npy(mask)
    for array, path in ((meters, depth), (seen, mask)):
        if array.size != height * width:
            raise InputError(f"is {array.shape}, the picture {(height, width)}", path=path)
    meters, seen = meters.reshape(height, width), seen.reshape(height, width)
    known = np.where(seen > 0, meters.astype(np.float32), np.float32(0))
    focal = FOCAL * width
    return truth_of_depth((name, group), pixels, known, dense=True, path=depth, focal=focal)


BENCHMARK = Benchmark(
    name="diode",
    title="DIODE, validation set",
    layout=(
        "val/{indoors,outdoor}/scene_<n>/scan_<n>/<name>.png",
        "…/<name>_depth.npy",
        "…/<name>_depth_mask.npy",
    ),
    source="https://diode-dataset.org (val.tar.gz, 2.6 GB)",
    items=items,
    protocol=Protocol(cap=350.0, far=350.0, near=0.6),
    expected=771,
)
