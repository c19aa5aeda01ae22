"""Depth maps as files: the suffix chooses the format, and every writer has its reader.

| suffix | values             | sigma | for                                      |
|--------|--------------------|-------|------------------------------------------|
| `.npz` | float32, exact     | yes   | Python                                   |
| `.png` | 16 bits, half step | no    | everything that shows pictures, small    |
| `.exr` | float32, exact     | yes   | film, rendering, compositing             |
"""

from __future__ import annotations

from pathlib import Path

from sightline.errors import InputError
from sightline.files.depth_exr import read_exr, write_exr
from sightline.files.depth_npz import read_npz, write_npz
from sightline.files.depth_png import read_png16, write_png16
from sightline.types import DepthMap

__all__ = [
    "DEPTH_SUFFIXES",
    "read_depth",
    "read_exr",
    "read_npz",
    "read_png16",
    "write_depth",
    "write_exr",
    "write_npz",
    "write_png16",
]

DEPTH_SUFFIXES: frozenset[str] = frozenset({".npz", ".png", ".exr"})


def write_depth(path: str | Path, depth: DepthMap) -> None:
    """Write `depth` in the format the suffix names; whole or not at all."""
    writers = {".npz": write_npz, ".png": write_png16, ".exr": write_exr}
    writers[_suffix(path)](path, depth)


def read_depth(path: str | Path) -> DepthMap:
    """Read a depth map written by `write_depth`."""
    readers = {".npz": read_npz, ".png": read_png16, ".exr": read_exr}
    return readers[_suffix(path)](path)


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in DEPTH_SUFFIXES:
        raise InputError(
            f"depth files end in {', '.join(sorted(DEPTH_SUFFIXES))}, not {suffix or 'nothing'}",
            path=path,
        )
    return suffix
