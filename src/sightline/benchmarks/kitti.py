"""KITTI: the 652 pictures of Eigen's test split that have improved laser depth, to 80 m, Garg crop.

Eigen et al. (2014) chose 697 frames of 28 drives, evenly spaced, standing still left out. KITTI's
improved truth (Uhrig et al. 2017: eleven sweeps accumulated, checked against stereo) lacks the
first and the last five frames of every drive: 652 remain, and those are scored here (as spec §1.7
has it).

Pictures are the left color camera's of the raw data,
`<date>/<drive>_sync/image_02/data/<frame>.png`; truth is
`{train,val}/<drive>_sync/proj_depth/groundtruth/image_02/<frame>.png` of "annotated depth maps": 16
bits, meters × 256, 0 unknown. Either tree may lie in the folder itself or one folder deeper.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item, folder_of, read_gray16, truth_of_depth
from sightline.io.images import read_picture
from sightline.io.rgbd import Truth

#: Meters are stored times this.
SCALE = 256.0

#: The improved truth starts at this frame of a drive.
FIRST = 5

#: Eigen's frames: drive, evenly spaced runs of (first, last, step), frames left out of them, and the
#: last frame with improved truth where that cuts the list short.
_Drive = tuple[str, tuple[tuple[int, int, int], ...], tuple[int, ...], int | None]
_DRIVES: tuple[_Drive, ...] = (
    ("2011_09_26_drive_0002", ((0, 75, 3),), (66,), 71),
    ("2011_09_26_drive_0009", ((0, 176, 16), (196, 388, 16)), (), None),
    ("2011_09_26_drive_0013", ((0, 140, 5),), (15, 25, 55, 75), 138),
    ("2011_09_26_drive_0020", ((0, 84, 3),), (24, 30, 39, 81), 80),
    ("2011_09_26_drive_0023", ((18, 468, 18),), (234,), None),
    ("2011_09_26_drive_0027", ((0, 182, 7),), (105, 154), None),
    ("2011_09_26_drive_0029", ((0, 196, 14), (268, 408, 14)), (282,), None),
    ("2011_09_26_drive_0036", ((0, 800, 32),), (736,), 797),
    ("2011_09_26_drive_0046", ((0, 120, 5),), (), 119),
    ("2011_09_26_drive_0048", ((0, 21, 1),), (), 16),
    ("2011_09_26_drive_0052", ((0, 52, 2),), (24, 34), None),
    ("2011_09_26_drive_0056", ((11, 286, 11),), (132,), None),
    ("2011_09_26_drive_0059", ((0, 238, 14), (274, 372, 14)), (168,), 367),
    ("2011_09_26_drive_0064", ((0, 550, 22),), (132,), None),
    ("2011_09_26_drive_0084", ((49, 374, 13),), (166,), None),
    ("2011_09_26_drive_0086", ((7, 682, 27),), (547,), None),
    ("2011_09_26_drive_0093", ((0, 256, 16), (305, 417, 16)), (), None),
    ("2011_09_26_drive_0096", ((0, 456, 19),), (), None),
    ("2011_09_26_drive_0101", ((80, 930, 34),), (250,), None),
    ("2011_09_26_drive_0106", ((15, 15, 1), (35, 219, 8)), (), None),
    ("2011_09_26_drive_0117", ((0, 650, 26),), (520,), None),
    ("2011_09_28_drive_0002", ((0, 90, 3),), (15, 27, 42, 66, 69, 75), None),
    ("2011_09_29_drive_0071", ((0, 612, 36), (735, 951, 36), (1054, 1054, 1)), (843,), 1053),
    ("2011_09_30_drive_0016", ((0, 275, 11),), (99,), 273),
    ("2011_09_30_drive_0018", ((0, 2247, 107), (2419, 2740, 107)), (321,), None),
    ("2011_09_30_drive_0027", ((0, 656, 41), (753, 1081, 41)), (999,), None),
    ("2011_10_03_drive_0027", ((0, 543, 181), (734, 4535, 181)), (2182,), None),
    ("2011_10_03_drive_0047", ((0, 800, 32),), (256,), None),
)


def eigen_frames(*, with_truth: bool = True) -> list[tuple[str, int]]:
    """Return (drive, frame) of Eigen's test split.

    Args:
        with_truth: only the 652 that have improved truth; all 697 otherwise.

    >>> len(eigen_frames()), len(eigen_frames(with_truth=False))
    (652, 697)
    """
    frames = []
    for drive, runs, gaps, last in _DRIVES:
        chosen = [n for first, end, step in runs for n in range(first, end + 1, step)]
        for frame in chosen:
            known = frame >= FIRST and (last is None or frame <= last)
            if frame not in gaps and (known or not with_truth):
                frames.append((drive, frame))
    return frames


def items(folder: Path) -> list[Item]:
    """List the 652 pictures, each named as its path in the raw data."""
    folder_of(folder, what="KITTI", remedy="name the folder with the raw and the annotated data")
    roots = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    return [_item(roots, drive, frame) for drive, frame in eigen_frames()]


def _item(roots: list[Path], drive: str, frame: int) -> Item:
    name = f"{drive[:10]}/{drive}_sync/image_02/data/{frame:010d}"
    annotated = f"{drive}_sync/proj_depth/groundtruth/image_02/{frame:010d}.png"
    picture = _first([root / f"{name}.png" for root in roots])
    splits = [root / split / annotated for root in roots for split in ("train", "val")]
    truth = _first([*splits, *(root / annotated for root in roots)])
    return Item(name, "eigen", (picture, truth), partial(_load, name, picture, truth))


def _first(paths: list[Path]) -> Path:
    """Return the first that is there, or else the first, to be complained of."""
    return next((path for path in paths if path.is_file()), paths[0])


def _load(name: str, picture: Path, truth: Path) -> Truth:
    pixels = read_picture(picture).pixels
    depth = read_gray16(truth).astype(np.float32) / SCALE
    return truth_of_depth((name, "eigen"), pixels, depth, dense=False, path=truth)


BENCHMARK = Benchmark(
    name="kitti",
    title="KITTI, Eigen's test split with improved truth",
    layout=(
        "<date>/<date>_drive_<nnnn>_sync/image_02/data/<frame>.png",
        "{train,val}/<date>_drive_<nnnn>_sync/proj_depth/groundtruth/image_02/<frame>.png",
    ),
    source="https://www.cvlibs.net/datasets/kitti (raw data; annotated depth maps, 14 GB)",
    items=items,
    protocol=Protocol(cap=80.0, far=80.0, crop="garg"),
    expected=652,
)
