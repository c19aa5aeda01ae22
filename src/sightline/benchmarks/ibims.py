"""iBims-1: 100 indoor pictures, laser depth with clean edges, to 50 m.

One MATLAB file per picture, `<name>.mat`, and `imagelist.txt` with the names; both in the folder
itself or in `ibims1_core_mat`. The struct `data` holds `rgb` (480, 640, 3) uint8, `depth` (480,
640) meters, 0 unknown, `calib`, `edges`, and masks that are 1 where a pixel counts: `mask_invalid`
and `mask_transp` (glass). As in the authors' evaluation, a pixel counts where both masks and a
depth are set. Their own boundary error (DBE) looks for Canny edges, which differ from
implementation to implementation by the authors' own word; the boundary figures here are those of
`boundary`. The cap of 50 m is the range its paper gives, to our knowledge.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item, read_mat, truth_of_depth
from sightline.errors import InputError
from sightline.io.reading import GET_AGAIN, read_bytes
from sightline.io.rgbd import Truth

LIST = "imagelist.txt"
_MAX_LIST = 1_000_000


def items(folder: Path) -> list[Item]:
    """List the pictures that `imagelist.txt` names."""
    roots = (folder, folder / "ibims1_core_mat")
    root = next((place for place in roots if (place / LIST).is_file()), folder)
    path = root / LIST
    names = read_bytes(path, limit=_MAX_LIST, what="list of pictures").decode(errors="replace")
    return [_item(root, name) for name in names.split()]


def _item(root: Path, name: str) -> Item:
    path = root / f"{name}.mat"
    return Item(name, "core", (path,), partial(_load, name, path))


def _load(name: str, path: Path) -> Truth:
    data = read_mat(path, "data")
    try:
        pixels = np.ascontiguousarray(data["rgb"], np.uint8)
        depth = np.asarray(data["depth"], np.float32)
        counts = (np.asarray(data["mask_invalid"]) > 0) & (np.asarray(data["mask_transp"]) > 0)
        depth = np.where(counts, depth, np.float32(0))
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InputError(
            "has no data.rgb, depth and masks of one size", path=path, remedy=GET_AGAIN
        ) from error
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise InputError(f"data.rgb is {pixels.shape}, not a picture", path=path)
    return truth_of_depth((name, "core"), pixels, depth, dense=True, path=path)


BENCHMARK = Benchmark(
    name="ibims",
    title="iBims-1, core set",
    layout=(LIST, "<name>.mat  (struct data: rgb, depth, mask_invalid, mask_transp, …)"),
    source="https://www.asg.ed.tum.de/lmf/ibims1 (ibims1_core_mat.zip)",
    items=items,
    protocol=Protocol(cap=50.0, far=50.0),
    expected=100,
)
