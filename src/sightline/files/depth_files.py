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
    "is_depth_file",
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

#: The notes of a depth PNG stand before its pixels, within so many bytes.
_HEAD = 4096


def write_depth(path: str | Path, depth: DepthMap) -> None:
    """Write `depth` in the format the suffix names; whole or not at all."""
    writers = {".npz": write_npz, ".png": write_png16, ".exr": write_exr}
    writers[_suffix(path)](path, depth)


def read_depth(path: str | Path) -> DepthMap:
    """Read a depth map written by `write_depth`."""
    readers = {".npz": read_npz, ".png": read_png16, ".exr": read_exr}
    return readers[_suffix(path)](path)


def is_depth_file(path: str | Path) -> bool:
    """Tell whether a file is plainly depth: an `.npz`, or a 16-bit PNG that says what it holds.

    An `.exr` may be a photograph as well, so it is not.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        return True
    if suffix != ".png" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        start = file.read(_HEAD)
    return start[24:26] == b"\x10\x00" and b"kind" in start


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in DEPTH_SUFFIXES:
        raise InputError(
            f"depth files end in {', '.join(sorted(DEPTH_SUFFIXES))}, not {suffix or 'nothing'}",
            path=path,
        )
    return suffix
