"""Decoded maps as grey pictures, and grey pictures as depth: bright is near."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from sightline.files import png
from sightline.files.atomic import write_bytes
from sightline.files.pictures import read_picture
from sightline.types import DepthMap, FloatArray, Kind


def write_map(path: Path, decoded: FloatArray, size: tuple[int, int] | None = None) -> None:
    """Write disparity in 0 to 1 as a grey PNG, stretched to width and height if given."""
    if size is not None:
        decoded = np.asarray(cv2.resize(decoded, size, interpolation=cv2.INTER_LINEAR), np.float32)
    grey = np.rint(decoded.clip(0, 1) * 255).astype(np.uint8)
    write_bytes(path, png.encode(grey, {"Description": "relative disparity, bright is near"}))


def read_grey(path: Path) -> DepthMap:
    """Read a picture of depth: its brightness is disparity without a unit."""
    pixels = read_picture(path).pixels
    values = pixels.astype(np.float32).mean(axis=2)
    return DepthMap(values, Kind.RELATIVE_DISPARITY, source=str(path))
