"""ETH3D: 454 photographs of 13 scenes, 24 megapixels, laser depth, to 72 m.

`<scene>/images/dslr_images/<name>.JPG` of "multi-view training, DSLR, JPEG distorted", and
`<scene>/ground_truth_depth/dslr_images/<name>.JPG` of the depth archives: despite the suffix raw
float32 meters, row by row, without a header, of the distorted picture's size; infinite where the
laser saw nothing. The undistorted pictures have no depth of their own and cannot be used. The
laser's points are splatted thinly at this size, so edges are not judged. The cap of 72 m is
MiDaS's, to our knowledge (not checked against its code).
"""

from __future__ import annotations

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


def items(folder: Path) -> list[Item]:
    """List the pictures of every scene that has any, in the folder or one folder deeper."""
    folder_of(folder, what="ETH3D", remedy="name the folder with the scenes")
    pattern = "images/dslr_images/*.JPG"
    pictures = sorted([*folder.glob(f"*/{pattern}"), *folder.glob(f"*/*/{pattern}")])
    return [_item(folder, picture) for picture in pictures]


def _item(folder: Path, picture: Path) -> Item:
    scene = picture.parents[2]
    truth = scene / "ground_truth_depth" / "dslr_images" / picture.name
    name = picture.relative_to(folder).with_suffix("").as_posix()
    load = partial(_load, name, scene.name, picture, truth)
    return Item(name, scene.name, (picture, truth), load, (f"{scene.name}/{picture.stem}",))


def _load(name: str, scene: str, picture: Path, truth: Path) -> Truth:
    pixels = read_picture(picture).pixels
    data = read_truth_bytes(truth)
    height, width = pixels.shape[:2]
    if len(data) != 4 * height * width:
        raise InputError(
            f"has {len(data):,} bytes, a depth map of this picture {4 * height * width:,}",
            path=truth,
            remedy=f"{GET_AGAIN}; pictures must be the distorted ones",
        )
    depth = np.frombuffer(data, "<f4").reshape(height, width)
    return truth_of_depth((name, scene), pixels, depth, dense=False, path=truth)


BENCHMARK = Benchmark(
    name="eth3d",
    title="ETH3D high-resolution multi-view, training scenes",
    layout=(
        "<scene>/images/dslr_images/<name>.JPG",
        "<scene>/ground_truth_depth/dslr_images/<name>.JPG  (raw float32)",
    ),
    source="https://www.eth3d.net/datasets (multi_view_training_dslr_jpg.7z, <scene>_dslr_depth.7z)",
    items=items,
    protocol=Protocol(cap=72.0, far=72.0),
    expected=454,
)
