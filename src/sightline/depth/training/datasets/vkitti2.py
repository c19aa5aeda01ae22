"""Virtual KITTI 2 (Naver Labs, 2020): five rendered drives in ten kinds of weather, 1242×375.

Layout: `SceneXX/<variation>/frames/rgb/Camera_{0,1}/rgb_NNNNN.jpg` with
`…/frames/depth/Camera_{0,1}/depth_NNNNN.png`.

Depth convention: 16-bit PNG, distance along the optical axis in centimetres; 65535 (655.35 m) is the
sky or anything farther. That is known to be far, so it gets inverse depth 0; a metric stage leaves out
whatever lies beyond its range (Depth Anything V2: 80 m).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sightline.depth.training.datasets.frames import Frame, find_frames
from sightline.depth.training.labels import read_grey
from sightline.depth.training.pairs import Pair, invert, measured_pair
from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.files.reading import naming

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
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; in metres."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        stored = read_grey(item.depth)
        if stored.dtype != np.uint16:
            raise InputError("has 8 bits, must have 16")
        metres = np.where(stored == _SKY, np.float32(np.inf), stored.astype(np.float32) / 100)
        inverse, known = invert(metres)
        return measured_pair(
            pixels, inverse, known, short_side, metric=True, focal=FOCAL * pixels.shape[1]
        )
