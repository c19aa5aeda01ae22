"""TartanAir, first version (Carnegie Mellon, 2020): rendered flights through 30 worlds, 640×480.

Layout: `<world>/{Easy,Hard}/PNNN/image_left/NNNNNN_left.png` with
`…/depth_left/NNNNNN_left_depth.npy`; some archives repeat the world's name (`<world>/<world>/Easy`),
which is found too. Right pictures are not used: they show the same scene once more.

Depth convention: NumPy arrays, float32, distance along the optical axis in meters (the authors' notes
give disparity as 80 / depth, focal length 320 px times 0.25 m). The sky is a sphere some 10,000 m
away, which needs no special case: its inverse depth is nearly 0.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, naming, read_bytes
from sightline.training.data.datasets.frames import Frame, find_frames
from sightline.training.data.pairs import Pair, invert, measured_pair
from sightline.types import FloatArray

LAYOUT = "<world>/{Easy,Hard}/PNNN/image_left/NNNNNN_left.png"

#: Focal length over the picture's width, both in [px].
FOCAL = 320 / 640


def items(root: str | Path) -> list[Frame]:
    """List the left frames of all worlds, both difficulties."""
    patterns = [f"{depth}/P*/image_left/*_left.png" for depth in ("*", "*/*", "*/*/*")]
    return find_frames(root, patterns, _depth_of, layout=LAYOUT)


def _depth_of(picture: Path) -> Path:
    return picture.parents[1] / "depth_left" / f"{picture.stem}_depth.npy"


def read(item: Frame, short_side: int) -> Pair:
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; in meters."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        inverse, known = invert(_read_meters(item.depth))
        return measured_pair(
            pixels, inverse, known, short_side, metric=True, focal=FOCAL * pixels.shape[1]
        )


def _read_meters(path: Path) -> FloatArray:
    data = read_bytes(path, limit=MAX_PIXELS * 8, what="depth file")
    try:
        depth = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise InputError("is not a whole NumPy array", path=path, remedy=GET_AGAIN) from error
    if not isinstance(depth, np.ndarray) or depth.ndim != 2 or depth.dtype.kind != "f":
        raise InputError("holds no map of numbers", path=path, remedy=GET_AGAIN)
    return depth.astype(np.float32)
