"""MPI Sintel: 1,064 frames of a rendered film with exact depth, 23 scenes, to 72 m.

`training/final/<scene>/frame_<nnnn>.png` (`sintel`; with blur and fog) or `training/clean/…`
(`sintel-clean`), and `training/depth/<scene>/frame_<nnnn>.dpt` of the depth archive. A `.dpt` file
is little-endian: float32 tag 202021.25, int32 width, int32 height, then float32 depth in meters row
by row. Sky is very far. The cap of 72 m is MiDaS's, to our knowledge (not checked against its
code); Depth Anything states none.
"""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import (
    Benchmark,
    Item,
    folder_of,
    read_truth_bytes,
    truth_of_depth,
)
from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN
from sightline.io.rgbd import Truth
from sightline.types import FloatArray

#: The first four bytes of every .dpt file.
TAG = 202021.25
_HEADER = struct.Struct("<fii")


def items(folder: Path, render: str = "final") -> list[Item]:
    """List the frames of one render pass, `final` or `clean`, grouped by scene."""
    root = folder / "training" if (folder / "training").is_dir() else folder
    frames = folder_of(root / render, what="Sintel", remedy="name the folder with `training` in it")
    return [
        _item(root, picture, picture.relative_to(root).with_suffix("").as_posix())
        for picture in sorted(frames.glob("*/frame_*.png"))
    ]


def _item(root: Path, picture: Path, inner: str) -> Item:
    scene = picture.parent.name
    truth = root / "depth" / scene / f"{picture.stem}.dpt"
    name = f"training/{inner}"
    load = partial(_load, name, scene, picture, truth)
    return Item(name, scene, (picture, truth), load, (inner, f"{scene}/{picture.stem}"))


def read_dpt(path: Path) -> FloatArray:
    """Read a `.dpt` file: (H, W) meters."""
    data = read_truth_bytes(path)
    if len(data) < _HEADER.size:
        raise InputError("is not a .dpt depth file", path=path, remedy=GET_AGAIN)
    tag, width, height = _HEADER.unpack_from(data)
    if tag != TAG or min(width, height) < 1:
        raise InputError("is not a .dpt depth file", path=path, remedy=GET_AGAIN)
    if len(data) - _HEADER.size != 4 * width * height:
        raise InputError("has not as many pixels as it declares", path=path, remedy=GET_AGAIN)
    values = np.frombuffer(data, "<f4", offset=_HEADER.size).reshape(height, width)
    return values.astype(np.float32)


def _load(name: str, scene: str, picture: Path, truth: Path) -> Truth:
    pixels = read_picture(picture).pixels
    return truth_of_depth((name, scene), pixels, read_dpt(truth), dense=True, path=truth)


def _benchmark(name: str, render: str) -> Benchmark:
    return Benchmark(
        name=name,
        title=f"MPI Sintel, {render} pass",
        layout=(
            f"training/{render}/<scene>/frame_<nnnn>.png",
            "training/depth/<scene>/frame_<nnnn>.dpt",
        ),
        source="http://sintel.is.tue.mpg.de (MPI-Sintel-complete.zip, and its /depth page)",
        items=partial(items, render=render),
        protocol=Protocol(cap=72.0, far=72.0),
        expected=1064,
    )


BENCHMARK = _benchmark("sintel", "final")
CLEAN = _benchmark("sintel-clean", "clean")
