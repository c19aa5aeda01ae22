"""Hypersim (Apple, 2021): 461 rendered rooms, 1024×768.

Layout: `ai_XXX_YYY/images/scene_cam_ZZ_final_preview/frame.NNNN.tonemap.jpg` with
`…/scene_cam_ZZ_geometry_hdf5/frame.NNNN.depth_meters.hdf5`.

Depth convention: the HDF5 dataset `dataset` holds the distance from the camera's center along each
pixel's *ray*, in meters (half precision), NaN where the ray left the scene. Planar depth follows with
the focal length of 886.81 px at 1024 px width and the principal point in the middle, as Depth
Anything V2's metric code has it. Some scenes were shot with shifted or tilted lenses (their
parameters are in the set's `metadata_camera_parameters.csv`); for those this is an approximation.

The authors' table of frames to use, `metadata_images_split_scene_v1.csv`, belongs into the folder: it
leaves out broken frames and keeps the validation and test scenes apart. With it, only the 59,543
frames it marks as public and `train` are listed (the paper's 60 K); without it, every frame is.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError, install
from sightline.io.images import read_picture
from sightline.io.reading import (
    GET_AGAIN,
    MAX_PIXELS,
    check_pixels,
    naming,
    open_file,
    read_bytes,
)
from sightline.training.data.datasets.frames import Frame, find_frames
from sightline.training.data.pairs import Pair, invert, measured_pair
from sightline.types import FloatArray

LAYOUT = "ai_XXX_YYY/images/scene_cam_ZZ_final_preview/frame.NNNN.tonemap.jpg"

#: Focal length over the picture's width, both in [px].
FOCAL = 886.81 / 1024

SPLIT = "metadata_images_split_scene_v1.csv"

_PATTERN = "ai_*_*/images/scene_cam_*_final_preview/frame.*.tonemap.jpg"


def items(root: str | Path) -> list[Frame]:
    """List the frames; only those of the authors' training part where their table is there."""
    frames = find_frames(root, [_PATTERN], _depth_of, layout=LAYOUT)
    table = Path(root) / SPLIT
    if not table.is_file():
        return frames
    train = _training_frames(table)
    kept = [frame for frame in frames if _key(frame.picture) in train]
    if not kept:
        raise InputError("marks none of the frames beside it for training", path=table)
    return kept


def _depth_of(picture: Path) -> Path:
    folder = picture.parent.name.replace("_final_preview", "_geometry_hdf5")
    name = picture.name.replace(".tonemap.jpg", ".depth_meters.hdf5")
    return picture.parent.parent / folder / name


def _key(picture: Path) -> tuple[str, str, str]:
    """Return scene, camera and frame number as the authors' table has them."""
    camera = picture.parent.name.removeprefix("scene_").removesuffix("_final_preview")
    return picture.parents[2].name, camera, str(int(picture.name.split(".")[1]))


def _training_frames(table: Path) -> set[tuple[str, str, str]]:
    try:
        with open_file(table, what="table of frames") as file:
            rows = csv.DictReader(io.TextIOWrapper(file, "utf-8", newline=""))
            return {
                (row["scene_name"], row["camera_name"], str(int(row["frame_id"])))
                for row in rows
                if row["included_in_public_release"].strip().lower() == "true"
                and row["split_partition_name"].strip() == "train"
            }
    except (KeyError, ValueError, AttributeError, csv.Error) as error:
        raise InputError(
            "is not Hypersim's table of frames", path=table, remedy=GET_AGAIN
        ) from error


def read(item: Frame, short_side: int) -> Pair:
    """Read one frame, shrunk to a shorter side of at most `short_side` pixels; in meters."""
    pixels = read_picture(item.picture).pixels
    with naming(item.depth):
        inverse, known = invert(ray_to_planar(_read_distance(item.depth)))
        return measured_pair(
            pixels, inverse, known, short_side, metric=True, focal=FOCAL * pixels.shape[1]
        )


def ray_to_planar(distance: NDArray[np.floating]) -> FloatArray:
    """Turn (H, W) distance along each pixel's ray into distance along the optical axis."""
    height, width = distance.shape
    focal = FOCAL * width
    x = np.arange(width) - (width - 1) / 2
    y = np.arange(height)[:, None] - (height - 1) / 2
    planar: FloatArray = (distance * (focal / np.sqrt(x * x + y * y + focal * focal))).astype(
        np.float32
    )
    return planar


def _read_distance(path: Path) -> FloatArray:
    """Read (H, W) meters along the rays, NaN where unknown."""
    try:
        import h5py
    except ImportError as error:
        raise SightlineError(f"reading Hypersim needs h5py; {install('train')}") from error

    data = read_bytes(path, limit=MAX_PIXELS * 4, what="depth file")
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            stored = file["dataset"]
            if stored.ndim != 2:
                raise InputError("holds no map of numbers", path=path)
            check_pixels(stored.shape[1], stored.shape[0], MAX_PIXELS, path=path)
            return np.asarray(stored[...], np.float32)
    except (OSError, KeyError, RuntimeError, ValueError, AttributeError, TypeError) as error:
        raise InputError("is not a whole HDF5 depth file", path=path, remedy=GET_AGAIN) from error
