"""Photographs as textures for the pattern `photo`: a folder of pictures as an atlas of mip levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.io.pixels import linear_to_srgb, srgb_to_linear

#: Side of the largest mip level, [px]; each further level halves it, down to one.
SIDE = 256
MIP_LEVELS = 9

#: (256,) linear light of each 8-bit sRGB code.
SRGB_TO_LINEAR = srgb_to_linear(np.arange(256) / 255)


class PhotoAtlas(NamedTuple):
    """Photo textures for the kernels.

    Attributes:
        pixels: (N, T, 3) uint8 sRGB; the concatenated mip levels of each picture.
        linear: (256,) linear light of each 8-bit code.
    """

    pixels: Any
    linear: Any


class PhotoTextures:
    """Textures from the pictures of a folder, sorted by name.

    Args:
        folder: folder of pictures, searched recursively; other files are ignored.
        limit: maximum number of pictures, spread evenly over the folder.
    """

    def __init__(self, folder: str | Path, *, limit: int = 256) -> None:
        root = Path(folder)
        if not root.is_dir():
            raise InputError("no such folder of textures", path=root)
        found = sorted(p for p in root.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
        if not found:
            raise InputError("no pictures in the folder of textures", path=root)
        step = max(len(found) / limit, 1.0)
        self.paths = tuple(found[int(k * step)] for k in range(min(len(found), limit)))
        self.sheets = PhotoAtlas(
            np.stack([_mip_levels(path) for path in self.paths]), SRGB_TO_LINEAR
        )

    def __len__(self) -> int:
        return len(self.paths)


def empty_photo_atlas() -> PhotoAtlas:
    """Return an atlas without pictures."""
    return PhotoAtlas(np.zeros((0, 1, 3), np.uint8), SRGB_TO_LINEAR)


def _mip_levels(path: Path) -> NDArray[np.uint8]:
    """Return (T, 3) uint8: the picture at 256², 128², … 1², concatenated; halved in linear light."""
    pixels = read_picture(path).pixels
    square = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    light = SRGB_TO_LINEAR[square].astype(np.float32)
    sizes = [square.reshape(-1, 3)]
    for level in range(1, MIP_LEVELS):
        side = SIDE >> level
        light = light.reshape(side, 2, side, 2, 3).mean((1, 3))
        codes = linear_to_srgb(light) * 255 + 0.5
        sizes.append(codes.astype(np.uint8).reshape(-1, 3))
    return np.concatenate(sizes)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def photo_color(
    sheets: PhotoAtlas, which: int, x: float, y: float, width: float
) -> tuple[float, float, float]:
    """Return linear RGB of a picture at (x, y) in units of its width, mirrored beyond its edges.

    The mip level is chosen by the footprint `width` and sampled bilinearly.
    """
    level, side, start = 0, SIDE, 0
    texels = width * SIDE
    while texels > 1.5 and level < MIP_LEVELS - 1:
        start += side * side
        side >>= 1
        level += 1
        texels *= 0.5
    x, y = x - 2.0 * np.floor(0.5 * x), y - 2.0 * np.floor(0.5 * y)
    column = (2.0 - x if x > 1.0 else x) * side - 0.5
    row = (2.0 - y if y > 1.0 else y) * side - 0.5
    left, top = int(np.floor(column)), int(np.floor(row))
    fx, fy = column - left, row - top
    r = g = b = 0.0
    for j in range(2):
        for i in range(2):
            at = start + min(max(top + j, 0), side - 1) * side + min(max(left + i, 0), side - 1)
            share = (fx if i else 1.0 - fx) * (fy if j else 1.0 - fy)
            r += share * sheets.linear[sheets.pixels[which, at, 0]]
            g += share * sheets.linear[sheets.pixels[which, at, 1]]
            b += share * sheets.linear[sheets.pixels[which, at, 2]]
    return r, g, b
