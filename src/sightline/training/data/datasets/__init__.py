"""Readers of training sets, each in the layout and depth convention in which it is published.

One file per set with two functions: `items(root)` lists its frames, `read(item, short_side)` makes a
pair of one. `open_set` finds the right reader for what a user writes: `hypersim:DIR`, `pairs:DIR`,
`photos:DIR:LABELS[:LABELS…]` or, where the folder tells, just `DIR`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.training.data.datasets import blendedmvs, hypersim, irs, tartanair, vkitti2
from sightline.training.data.items import photo_items, read_pair, rgbd_items
from sightline.training.data.pairs import Pair

__all__ = ["READERS", "Reader", "TrainingSet", "open_set"]


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of set is read.

    Attributes:
        items: lists what a folder holds; photographs take folders of labels too.
        read: makes a pair of an item, with a shorter side of at most that many [px].
        layout: where its pictures lie, for messages.
    """

    items: Callable[..., list[Any]]
    read: Callable[[Any, int], Pair]
    layout: str


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A set that was found: its reader's name, its items, and the function that reads one."""

    name: str
    items: list[Any]
    read: Callable[[Any, int], Pair]


READERS: dict[str, Reader] = {
    "hypersim": Reader(hypersim.items, hypersim.read, hypersim.LAYOUT),
    "vkitti2": Reader(vkitti2.items, vkitti2.read, vkitti2.LAYOUT),
    "tartanair": Reader(tartanair.items, tartanair.read, tartanair.LAYOUT),
    "blendedmvs": Reader(blendedmvs.items, blendedmvs.read, blendedmvs.LAYOUT),
    "irs": Reader(irs.items, irs.read, irs.LAYOUT),
    "pairs": Reader(rgbd_items, read_pair, "index.csv, NNNNN.jpg, NNNNN.png"),
    "photos": Reader(photo_items, read_pair, "any pictures, and PNG labels of the same names"),
}


def open_set(where: str | Path) -> TrainingSet:
    """List the set that `where` names.

    Args:
        where: `name:DIR` with a name of `READERS`, or a folder with an `index.csv`. Photographs need
            their labels too: `photos:DIR:LABELS`, with more folders of labels for an ensemble, the
            sharpest teacher first, joined like the folders of `PATH` on this system.
    """
    name, colon, rest = str(where).partition(":")
    if colon and name in READERS:
        reader = READERS[name]
        folders = rest.split(os.pathsep) if name == "photos" else [rest]
        if not all(folders):
            raise InputError(f"{str(where)!r} names no folder", remedy=f"write {name}:DIR")
        return TrainingSet(name, reader.items(*folders), reader.read)
    folder, known = Path(where), ", ".join(READERS)
    if not folder.is_dir():
        problem = f"{str(where)!r} is neither a folder nor a set and a folder"
        raise InputError(problem, remedy=f"write NAME:DIR with a name of {known}")
    if not (folder / "index.csv").is_file():
        remedy = f"write NAME:DIR with a name of {known}"
        raise InputError("does not tell which set it is (no index.csv)", path=folder, remedy=remedy)
    return TrainingSet("pairs", rgbd_items(folder), read_pair)
