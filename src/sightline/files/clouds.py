"""Point clouds and meshes as files: `.ply` in the camera frame, `.glb` in glTF's."""

from __future__ import annotations

from pathlib import Path

from sightline.errors import InputError
from sightline.files.glb import read_glb, write_glb
from sightline.files.ply import read_ply, write_ply
from sightline.types import Points

__all__ = [
    "CLOUD_SUFFIXES",
    "read_glb",
    "read_ply",
    "read_points",
    "write_glb",
    "write_ply",
    "write_points",
]

CLOUD_SUFFIXES: frozenset[str] = frozenset({".ply", ".glb"})


def write_points(path: str | Path, points: Points) -> None:
    """Write `points` in the format the suffix names; whole or not at all."""
    {".ply": write_ply, ".glb": write_glb}[_suffix(path)](path, points)


def read_points(path: str | Path) -> Points:
    """Read a point cloud or mesh into the camera frame (x right, y down, z forward)."""
    return {".ply": read_ply, ".glb": read_glb}[_suffix(path)](path)


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in CLOUD_SUFFIXES:
        raise InputError(
            f"point clouds end in {' or '.join(sorted(CLOUD_SUFFIXES))}, not {suffix or 'nothing'}",
            path=path,
        )
    return suffix
