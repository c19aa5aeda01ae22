"""Virtual KITTI 2 (Naver Labs, 2020): five rendered drives in ten kinds of weather, 1242×375.

Layout: `SceneXX/<variation>/frames/rgb/Camera_{0,1}/rgb_NNNNN.jpg` with
`…/frames/depth/Camera_{0,1}/depth_NNNNN.png`.

Depth convention: 16-bit PNG, distance along the optical axis in centimeters; 65535 (655.35 m) is the
sky or anything farther. That is known to be far, so it gets inverse depth 0; a metric stage leaves out
whatever lies beyond its range (Depth Anything V2: 80 m).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import naming
from sightline.training.data.datasets.frames import Frame, find_frames
from sightline.training.data.labels import read_gray
from sightline.training.data.pairs import Pair, invert, measured_pair

LAYOUT = "SceneXX/<variation>/frames/rgb/Camera_0/rgb_NNNNN.jpg"

#: Focal length over the picture's width, both in [px].
FOCAL = 725.0087 / 1242

_SKY = 65535


def items(root: str | Path) -> list[Frame]:
    """List the frames of all scenes, variations and both cameras."""
    pattern = "Scene*/*/frames/rgb/Camera_*/rgb_*.jpg"
    return find_frames(root, [pattern], _depth_of, layout=LAYOUT)


def _depth_of(picture: Path) -> Path:
    name = picture.stem.replace("rgb_", "depth_") + ".png"
    return picture.parents[2] / "depth" / picture.parent.name / name


def read(item: Frame, short_side: int) -> Pair:
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; in meters."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        stored = read_gray(item.depth)
        if stored.dtype != np.uint16:
            raise InputError("has 8 bits, must have 16")
        meters = np.where(stored == _SKY, np.float32(np.inf), stored.astype(np.float32) / 100)
        inverse, known = invert(meters)
        return measured_pair(
            pixels, inverse, known, short_side, metric=True, focal=FOCAL * pixels.shape[1]
        )
