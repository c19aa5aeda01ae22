"""Where training pairs come from: folders of colour with measured depth, and of labelled photographs.

Everything is held in memory at its stored size, as bytes: 4,600 pictures of 256 px take about 1.5 GB,
and the network never waits for a disk.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.pictures import PICTURE_SUFFIXES, read_picture

#: One photograph in this many never enters training: they are for looking at what was learnt.
HELD_OUT_ONE_IN = 50


@dataclass(frozen=True, slots=True)
class Item:
    """One training pair on disk.

    Attributes:
        picture: colour picture.
        label: 16- or 8-bit PNG.
        coding: what the label's numbers are: millimetres of depth, or disparity of any scale and
            shift; 0 is unknown in both when `zero_is_unknown`.
        zero_is_unknown: False for pseudo-labels, whose 0 is simply the farthest.
    """

    picture: Path
    label: Path
    coding: Literal["depth_mm", "disparity"]
    zero_is_unknown: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """One training pair in memory.

    Attributes:
        pixels: (H, W, 3) uint8.
        disparity: (H, W) float16, larger is nearer, any scale and shift.
        known: (H, W) bool.
    """

    pixels: NDArray[np.uint8]
    disparity: NDArray[np.float16]
    known: NDArray[np.bool_]


def rgbd_items(folder: str | Path) -> list[Item]:
    """List the pairs of an `NNNNN.jpg` + `NNNNN.png` folder with its `index.csv`."""
    folder = Path(folder)
    index = folder / "index.csv"
    if not index.is_file():
        raise InputError("no index.csv in this folder", path=folder)
    with index.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    coding: dict[str, Literal["depth_mm", "disparity"]] = {
        "depth_mm": "depth_mm",
        "disparity_rel": "disparity",
    }
    return [
        Item(folder / f"{row['id']}.jpg", folder / f"{row['id']}.png", coding[row["kind"]])
        for row in rows
    ]


def is_held_out(name: str) -> bool:
    """Tell whether a photograph of this file name is kept out of training, whatever its folder."""
    return zlib.crc32(name.encode()) % HELD_OUT_ONE_IN == 0


def photo_items(photos: str | Path, labels: str | Path) -> list[Item]:
    """List the photographs that have a label of the same relative path and stem, held-out ones not."""
    photos, labels = Path(photos), Path(labels)
    found = sorted(p for p in photos.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
    items = []
    for picture in found:
        label = (labels / picture.relative_to(photos)).with_suffix(".png")
        if label.is_file() and not is_held_out(picture.name):
            items.append(Item(picture, label, "disparity", zero_is_unknown=False))
    if not items:
        raise InputError("no photograph here has a label", path=photos, remedy=f"look in {labels}")
    return items


def read_pair(item: Item, short_side: int) -> Pair:
    """Read one pair, shrunk so that its shorter side is at most `short_side`."""
    pixels = read_picture(item.picture).pixels
    label = cv2.imread(str(item.label), cv2.IMREAD_UNCHANGED)
    if label is None or label.ndim != 2:
        raise InputError("label does not decode as a one-channel picture", path=item.label)
    height, width = pixels.shape[:2]
    if abs(label.shape[1] * height / (label.shape[0] * width) - 1) > 0.03:
        raise InputError(
            f"label is {label.shape[1]}×{label.shape[0]}, its picture is {width}×{height}",
            path=item.label,
        )
    scale = min(1.0, short_side / min(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    if item.zero_is_unknown:
        # Measured depth must not be averaged across an edge.
        label = cv2.resize(label, size, interpolation=cv2.INTER_NEAREST_EXACT)
        known = label > 0
    else:
        label = cv2.resize(label, size, interpolation=cv2.INTER_LINEAR)
        known = np.ones(label.shape, np.bool_)
    return Pair(np.ascontiguousarray(pixels), _to_disparity(label, known, item.coding), known)


def _to_disparity(
    label: NDArray[Any], known: NDArray[np.bool_], coding: str
) -> NDArray[np.float16]:
    values = label.astype(np.float64)
    if coding == "depth_mm":
        values = np.divide(1000.0, values, out=np.zeros_like(values), where=known)
    top = float(values[known].max()) if bool(known.any()) else 1.0
    # Scaled to at most 1, so that half precision keeps at least ten bits of the near range.
    return (values / max(top, 1e-9)).astype(np.float16)


def read_pairs(items: Sequence[Item], short_side: int, threads: int = 2) -> list[Pair]:
    """Read many pairs in parallel, in order."""
    with ThreadPoolExecutor(threads) as pool:
        pairs: Iterable[Pair] = pool.map(lambda item: read_pair(item, short_side), items)
        return list(pairs)
