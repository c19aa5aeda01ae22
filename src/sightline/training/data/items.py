"""Where training pairs come from: folders of color with depth, and of labeled photographs.

`rgbd_items` and `photo_items` list what a folder holds, `read_pair` reads one of them, `read_pairs`
many. Held in memory at their stored size, as bytes, 4,600 pictures of 256 px take about 1.5 GB, and
the network never waits for a disk; for more than fits there is `shards`.
"""

from __future__ import annotations

import csv
import math
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sightline.errors import InputError
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.io.reading import naming, open_file
from sightline.training.data.labels import (
    Coding,
    check_manifest,
    combine,
    enlarge,
    read_label,
    to_disparity,
)
from sightline.training.data.pairs import (
    Pair,
    resize_measured,
    scale_to_one,
    shrink_pixels,
    shrunk_focal,
    shrunk_size,
)

__all__ = [
    "HELD_OUT_ONE_IN",
    "Coding",
    "Pair",
    "TrainingPair",
    "is_held_out",
    "photo_items",
    "read_pair",
    "read_pairs",
    "rgbd_items",
]

#: One photograph in this many never enters training: they are for looking at what was learned.
HELD_OUT_ONE_IN = 50

#: What `kind` in an `index.csv` means.
_CODINGS: dict[str, Coding] = {
    "depth_mm": "depth_mm",
    "disparity_rel": "disparity",
    "inverse_depth": "inverse_depth",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """One training pair on disk.

    Attributes:
        picture: color picture.
        label: 16- or 8-bit PNG.
        coding: encoding of the label's values.
        zero_is_unknown: whether 0 marks unknown pixels; False for pseudo-labels and rendered sky, where
            0 is the farthest value.
        unit: 1/m per step, for coding `inverse_depth`.
        pseudo: whether the label is a teacher's prediction.
        labels: label files of further teachers, to be combined with the first; pseudo only.
        focal: focal length of the camera, in [px] of the picture as stored; None if unknown.
        scene: name of the scene, shared by all its pairs; None if it has only this pair.
    """

    picture: Path
    label: Path
    coding: Coding
    zero_is_unknown: bool = True
    unit: float | None = None
    pseudo: bool = False
    labels: tuple[Path, ...] = ()
    focal: float | None = None
    scene: str | None = None


def rgbd_items(folder: str | Path) -> list[TrainingPair]:
    """List the pairs of an `NNNNN.jpg` + `NNNNN.png` folder with its `index.csv`.

    The columns `id` and `kind` (`depth_mm`, `disparity_rel`, `inverse_depth`) are needed, `unit` in
    [1/m] per step for `inverse_depth`, which is what `sightline scenes make` writes. The focal length
    in pixels may stand in `fx`; without it a metric stage that asks for cameras leaves the pair out.
    Training samples pairs by `source` and `scene`, if these columns exist (`shards.SceneSampler`).
    """
    folder = Path(folder)
    index = folder / "index.csv"
    if not index.is_file():
        raise InputError("no index.csv in this folder", path=folder)
    with open_file(index, what="list of pairs") as file:
        try:
            rows = list(csv.DictReader(file.read().decode().splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError("is not a list of pairs", path=index) from error
    if not rows:
        raise InputError("lists no pair", path=index)
    with naming(index):
        return [_row_item(folder, row, line) for line, row in enumerate(rows, 2)]


def _row_item(folder: Path, row: dict[str, str], line: int) -> TrainingPair:
    name, kind = row.get("id") or "", row.get("kind") or ""
    if not name or name != Path(name).name:
        raise InputError(f"line {line}: id {name!r} is not a plain file name")
    if kind not in _CODINGS:
        raise InputError(f"line {line}: kind {kind!r} is not one of {', '.join(_CODINGS)}")
    coding, unit = _CODINGS[kind], None
    if coding == "inverse_depth":
        unit = _positive(row, "unit", line)
    return TrainingPair(
        folder / f"{name}.jpg",
        folder / f"{name}.png",
        coding,
        zero_is_unknown=coding != "inverse_depth",
        unit=unit,
        focal=_positive(row, "fx", line) if row.get("fx") else None,
        scene=f"{row.get('source') or ''}/{row['scene']}" if row.get("scene") else None,
    )


def _positive(row: dict[str, str], column: str, line: int) -> float:
    try:
        number = float(row.get(column) or "")
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"line {line}: {column} {row.get(column)!r} is not a positive number")
    return number


def is_held_out(name: str) -> bool:
    """Tell whether a photograph of this file name is kept out of training, whatever its folder."""
    return zlib.crc32(name.encode()) % HELD_OUT_ONE_IN == 0


def photo_items(photos: str | Path, *labels: str | Path) -> list[TrainingPair]:
    """List the photographs that have a label of the same relative path and stem, held-out ones not.

    Args:
        photos: folder, searched with its subfolders.
        labels: one folder per teacher, the sharpest first. One label is enough for a photograph;
            several are combined when it is read.
    """
    photos, folders = Path(photos), [Path(folder) for folder in labels]
    if not folders:
        raise InputError("no folder of labels was given", remedy="name one, or several")
    for folder in (photos, *folders):
        if not folder.is_dir():
            raise InputError("no such folder", path=folder, remedy="check the name")
    for folder in folders:
        check_manifest(folder)
    items = []
    for picture in sorted(p for p in photos.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES):
        found = [label for folder in folders if (label := _label_of(picture, photos, folder))]
        if found and not is_held_out(picture.name):
            items.append(
                TrainingPair(
                    picture,
                    found[0],
                    "disparity",
                    zero_is_unknown=False,
                    pseudo=True,
                    labels=tuple(found[1:]),
                )
            )
    if not items:
        where = " and ".join(map(str, folders))
        raise InputError("no photograph here has a label", path=photos, remedy=f"look in {where}")
    return items


def _label_of(picture: Path, photos: Path, labels: Path) -> Path | None:
    """Find a picture's label: `a.jpg.png`, as where two pictures share a stem, else `a.png`."""
    name = picture.relative_to(photos)
    for label in (labels / f"{name}.png", (labels / name).with_suffix(".png")):
        if label.is_file():
            return label
    return None


def read_pair(item: TrainingPair, short_side: int) -> Pair:
    """Read one pair, shrunk so that its shorter side is at most `short_side` pixels."""
    pixels = read_picture(item.picture).pixels
    size = shrunk_size(pixels, short_side)
    focal = shrunk_focal(item.focal, pixels, size)
    labels = [read_label(path, pixels) for path in (item.label, *item.labels)]
    pixels = shrink_pixels(pixels, size)
    if item.pseudo:
        maps = [enlarge(label, size) for label in labels]
        values, trust = combine(maps) if len(maps) > 1 else (maps[0], None)
        known = np.ones(size, np.bool_)
        disparity, _ = scale_to_one(values, known)
        return Pair(pixels, disparity, known, None, True, trust)
    with naming(item.label):
        values, known = to_disparity(labels[0], item.coding, item.zero_is_unknown, item.unit)
        values, known = resize_measured(values, known, size)
        if not bool(known.any()):
            raise InputError("no pixel of it is known")
    disparity, divisor = scale_to_one(values, known)
    unit = None if item.coding == "disparity" else divisor
    return Pair(pixels, disparity, known, unit, focal=focal)


def read_pairs(
    items: Sequence[T],
    short_side: int,
    threads: int = 2,
    *,
    skip: Callable[[T, InputError], None] | None = None,
    read: Callable[[T, int], Pair] | None = None,
) -> list[Pair]:
    """Read many pairs in parallel, in order.

    Args:
        items: what `read` takes.
        short_side: maximum short side of the pairs in [px].
        threads: number of reader threads.
        skip: told of every item that cannot be read, which is then left out; without it, the first
            one stops everything.
        read: reader of one item: `read_pair` for a `TrainingPair`, or the reader of a data set.
    """
    read_one: Callable[[Any, int], Pair] = read_pair if read is None else read

    def attempt(item: T) -> Pair | InputError:
        try:
            return read_one(item, short_side)
        except InputError as error:
            if skip is None:
                raise
            return error

    pairs: list[Pair] = []
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(attempt, item) for item in items]
        try:
            for item, future in zip(items, futures, strict=True):
                found = future.result()
                if isinstance(found, Pair):
                    pairs.append(found)
                elif skip is not None:
                    skip(item, found)
        finally:
            pool.shutdown(cancel_futures=True)
    if not pairs:
        raise InputError("none of the training pairs can be read", remedy="check the folders")
    return pairs
