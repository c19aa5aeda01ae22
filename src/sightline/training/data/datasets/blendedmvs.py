"""BlendedMVS (HKUST, 2020): photographs blended with renderings of the meshes made from them.

Layout: `<scene>/blended_images/NNNNNNNN.jpg` with `<scene>/rendered_depth_maps/NNNNNNNN.pfm` (and
`cams/NNNNNNNN_cam.txt`, which is not needed here). The `NNNNNNNN_masked.jpg` beside the pictures, with
the background painted over, are not used.

Depth convention: float map, distance along the optical axis in the unit of the scene's own
reconstruction, which is not meters in general; 0 where the mesh ends. So the pairs know ratios of
depth, but no unit.
"""

from __future__ import annotations

from pathlib import Path

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.pfm import read_pfm
from sightline.io.reading import naming
from sightline.training.data.datasets.frames import Frame, find_frames
from sightline.training.data.pairs import Pair, invert, measured_pair

LAYOUT = "<scene>/blended_images/NNNNNNNN.jpg"


def items(root: str | Path) -> list[Frame]:
    """List the frames of all scenes."""
    # Digits only: the masked variants end in a word.
    return find_frames(root, ["*/blended_images/*[0-9].jpg"], _depth_of, layout=LAYOUT)


def _depth_of(picture: Path) -> Path:
    return picture.parents[1] / "rendered_depth_maps" / f"{picture.stem}.pfm"


def read(item: Frame, short_side: int) -> Pair:
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; without a unit."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        depth, _ = read_pfm(item.depth)
        if depth.ndim != 2:
            raise InputError("is a color map, so no depth")
        inverse, known = invert(depth)
        return measured_pair(pixels, inverse, known, short_side, metric=False)
