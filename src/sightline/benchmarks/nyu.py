"""NYU Depth V2: 654 indoor pictures of the official test split, Kinect depth to 10 m.

`nyu_depth_v2_labeled.mat` is MATLAB 7.3, that is HDF5, with the axes in reverse: `images` (1449, 3,
640, 480), `rawDepths` (1449, 640, 480) in meters, 0 unknown, already in the color camera.
`splits.mat`, a plain .mat beside it, holds the official `testNdxs`, counted from 1.

`rawDepths` is what the Kinect measured. The file's `depths` are in-painted by color: a guess where
nothing was seen, and not used here; nor by the common test set (that of BTS, AdaBins and ZoeDepth).
With it goes the Eigen crop.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item, read_mat, truth_of_depth
from sightline.errors import InputError, SightlineError
from sightline.io.reading import GET_AGAIN
from sightline.io.rgbd import Truth

if TYPE_CHECKING:
    import h5py

LABELED = "nyu_depth_v2_labeled.mat"
SPLITS = "splits.mat"

#: Of the Kinect's color camera in [px], by the toolbox that comes with the set.
FOCAL = 518.858


def items(folder: Path) -> list[Item]:
    """List the test pictures, named by their number in the file, from `00001`."""
    labeled, splits = folder / LABELED, folder / SPLITS
    numbers = _test_numbers(splits)
    return [
        Item(f"{number:05d}", "test", (labeled,), partial(_load, labeled, number))
        for number in numbers
    ]


def _test_numbers(path: Path) -> list[int]:
    """Return the official test numbers, counted from 1."""
    if not path.is_file():
        raise InputError(
            "no such file", path=path, remedy="get splits.mat from the page of NYU Depth V2"
        )
    numbers = np.ravel(read_mat(path, "testNdxs"))
    if numbers.dtype.kind not in "iuf" or not numbers.size:
        raise InputError("has no test split in it", path=path, remedy=GET_AGAIN)
    return sorted(int(number) for number in numbers)


def _load(path: Path, number: int) -> Truth:
    with _opened(path) as file:
        try:
            pixels = _picture(file["images"], number)
            depth = np.asarray(file["rawDepths"][number - 1], np.float32).T
        except (KeyError, OSError, ValueError, IndexError, TypeError) as error:
            raise InputError(
                f"has no picture {number} with rawDepths", path=path, remedy=GET_AGAIN
            ) from error
    name = f"{number:05d}"
    return truth_of_depth((name, "test"), pixels, depth, dense=True, path=path, focal=FOCAL)


def _picture(images: h5py.Dataset, number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return (H, W, 3) of the stored (3, W, H)."""
    return np.ascontiguousarray(np.asarray(images[number - 1], np.uint8).transpose(2, 1, 0))


def _opened(path: Path) -> h5py.File:
    try:
        import h5py
    except ImportError as error:
        raise SightlineError("reading NYU Depth V2 needs h5py: pip install h5py") from error
    try:
        return h5py.File(path, "r")
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the name") from error
    except OSError as error:
        raise InputError("is not a MATLAB 7.3 file", path=path, remedy=GET_AGAIN) from error


BENCHMARK = Benchmark(
    name="nyu",
    title="NYU Depth V2, official test split",
    layout=(LABELED, SPLITS),
    source="https://cs.nyu.edu/~fergus/datasets/nyu_depth_v2.html (labeled set, splits.mat)",
    items=items,
    protocol=Protocol(cap=10.0, far=10.0, crop="eigen"),
    expected=654,
)
