"""IRS, Indoor Robotics Stereo (Hong Kong Baptist University, 2019): rendered rooms, 960×540.

Layout: `{Home,Office,Restaurant,Store}/<scene>/l_NNNNN.png` with `d_NNNNN.exr` beside it (and the right
picture `r_NNNNN.png` and normals `n_NNNNN.exr`, which are not used). Archives unpack to different
depths of folders, so the pictures are looked for down to three.

Depth convention: stereo disparity of the left picture in pixels, in the EXR's only channel, or `G` of
several. With the focal length of 480 px at 960 px width and the baseline of 0.1 m, inverse depth is
disparity / (480 px · 0.1 m).

Layout, focal length and size stand in the authors' own loader, the baseline in their script that makes
point clouds. Not stated by them, and not checked on the files themselves: how missing disparity is
marked (zero, negative and not-a-number are taken as unknown here), and that all archives have the
upright row order that their loader assumes for EXR (their point cloud script can flip it).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sightline.errors import InputError
from sightline.io import exr
from sightline.io.images import read_picture, sniff
from sightline.io.reading import MAX_PIXELS, naming, read_bytes
from sightline.training.data.datasets.frames import Frame, find_frames
from sightline.training.data.pairs import Pair, measured_pair
from sightline.types import FloatArray

LAYOUT = "{Home,Office,Restaurant,Store}/<scene>/l_NNNNN.png"

#: Focal length over the picture's width, both in [px].
FOCAL = 480 / 960

#: Distance between the two cameras, in [m].
BASELINE = 0.1


def items(root: str | Path) -> list[Frame]:
    """List the left frames of all scenes."""
    patterns = [f"{depth}l_*.png" for depth in ("", "*/", "*/*/", "*/*/*/")]
    return find_frames(root, patterns, _depth_of, layout=LAYOUT)


def _depth_of(picture: Path) -> Path:
    return picture.with_name(picture.stem.replace("l_", "d_", 1) + ".exr")


def read(item: Frame, short_side: int) -> Pair:
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; in meters."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        disparity = _read_disparity(item.depth)
        inverse = disparity / np.float32(FOCAL * disparity.shape[1] * BASELINE)
        return measured_pair(
            pixels,
            inverse,
            disparity > 0,
            short_side,
            metric=True,
            focal=FOCAL * pixels.shape[1],
        )


def _read_disparity(path: Path) -> FloatArray:
    data = read_bytes(path, limit=MAX_PIXELS * 16, what="disparity file")
    if sniff(data, path=path) != "exr":
        raise InputError("is not an EXR file", path=path)
    _, names = exr.read_header(data, max_pixels=MAX_PIXELS, path=path)
    channel = "G" if "G" in names else names[0] if len(names) == 1 else None
    if channel is None:
        raise InputError(f"has channels {', '.join(names)}, none is the disparity", path=path)
    return exr.read_channels(data, [channel], path=path)[channel].astype(np.float32)
