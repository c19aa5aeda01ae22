"""Boxes of LVIS and COCO as things to count.

LVIS says for every picture of which kinds it has not marked all (`not_exhaustive_category_ids`), and
which it has looked for in vain (`neg_category_ids`): the first are never asked about, and only the
second when the answer is none. COCO marks all of its kinds, except where it marks a crowd.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.files.reading import inside, lacking, read_bytes
from sightline.perception.questions.count_sets import Counted
from sightline.perception.questions.counting import Things

_MOST_BYTES = 4_000_000_000
#: Side of a picture, [px].
_LARGEST = 2**31
_STRANGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)

_Box = tuple[float, float, float, float]


@dataclass(slots=True)
class _Marks:
    """What is marked in one picture."""

    boxes: dict[str, list[_Box]] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Annotated:
    """A file of annotations.

    Attributes:
        kinds: names of all kinds.
        pictures: file name and things of every picture.
    """

    kinds: tuple[str, ...]
    pictures: tuple[tuple[str, Things], ...]

    def counted(
        self, folder: str | Path, skip: Callable[[InputError], None] | None = None
    ) -> Iterator[Counted]:
        """Read the pictures, which lie in a folder, each under a name of its own.

        Args:
            folder: of the pictures.
            skip: told about a picture that is missing, damaged or of another size than is said, which
                is then left out; None to stop there.
        """
        used: set[str] = set()
        for file, things in self.pictures:
            name = _unused(Path(file).stem, used)
            try:
                pixels = _pixels(Path(folder), file, things)
            except InputError as error:
                if skip is None:
                    raise
                skip(error)
                continue
            yield Counted(name, pixels, things)


def read_annotations(path: str | Path) -> Annotated:
    """Read a JSON file in LVIS's or COCO's layout.

    Raises:
        InputError: it is something else.
    """
    try:
        found = json.loads(read_bytes(path, limit=_MOST_BYTES, what="file of annotations"))
        names = {row["id"]: _name(row) for row in found["categories"]}
        marks: dict[Any, _Marks] = defaultdict(_Marks)
        for row in found["annotations"]:
            left, top, width, height = (float(side) for side in row["bbox"])
            kind, marked = _kind(names, row["category_id"]), marks[row["image_id"]]
            if row.get("iscrowd"):
                marked.partial.add(kind)
            elif width > 0 and height > 0:
                box = (left, top, left + width, top + height)
                marked.boxes.setdefault(kind, []).append(box)
        pictures = [_picture(row, marks[row["id"]], names) for row in found["images"]]
    except (*_STRANGE, RecursionError) as error:
        raise InputError(
            f"is no file of annotations in LVIS's or COCO's layout ({lacking(error)})", path=path
        ) from error
    if not pictures:
        raise InputError("names no picture", path=path)
    return Annotated(tuple(sorted(set(names.values()))), tuple(pictures))


def _picture(row: dict[str, Any], marked: _Marks, names: dict[Any, str]) -> tuple[str, Things]:
    width, height = _side(row, "width"), _side(row, "height")
    partial = marked.partial | {_kind(names, k) for k in row.get("not_exhaustive_category_ids", ())}
    boxes = {
        kind: [box for box in (_clamped(one, width, height) for one in some) if box is not None]
        for kind, some in marked.boxes.items()
    }
    # LVIS names the address of the picture at COCO instead of the file.
    name = row.get("file_name") or "/".join(str(row["coco_url"]).split("/")[-2:])
    marked_boxes = {kind: some for kind, some in boxes.items() if some}
    vain = row.get("neg_category_ids")
    absent = None if vain is None else frozenset(_kind(names, k) for k in vain)
    return str(name), Things(width, height, marked_boxes, partial, absent)


def _kind(names: dict[Any, str], number: Any) -> str:
    if number not in names:
        raise ValueError(f"there is no category {number}")
    return names[number]


def _side(row: dict[str, Any], key: str) -> int:
    """Return width or height of a picture."""
    side = float(row[key])
    if not 1 <= side < _LARGEST:
        raise ValueError(f"picture {row['id']} has {key} {side:g}")
    return int(side)


def _clamped(box: _Box, width: int, height: int) -> _Box | None:
    """Return the part of a box that lies in the picture; None where there is none."""
    if not all(math.isfinite(side) for side in box):
        return None
    a, b, c, d = box
    a, b, c, d = max(0.0, a), max(0.0, b), min(float(width), c), min(float(height), d)
    return (a, b, c, d) if a < c and b < d else None


def _unused(stem: str, used: set[str]) -> str:
    """Return a name that no picture before has; `used` learns it."""
    numbered = (f"{stem}-{number}" for number in itertools.count(2))
    name = stem if stem not in used else next(one for one in numbered if one not in used)
    used.add(name)
    return name


def _pixels(folder: Path, name: str, things: Things) -> NDArray[np.uint8]:
    """Read a picture that is as large as the annotations say: their boxes would be elsewhere."""
    path = _path(folder, name)
    pixels = read_picture(path).pixels
    height, width = pixels.shape[:2]
    if (width, height) != (things.width, things.height):
        raise InputError(
            f"is {width} × {height} px, and its annotations are of {things.width} × {things.height}",
            path=path,
        )
    return pixels


def _name(row: dict[str, Any]) -> str:
    """Return a kind's name in words: `street_sign` and `bus_(vehicle)` have underscores."""
    return str(row["name"]).replace("_", " ").strip()


def _path(folder: Path, name: str) -> Path:
    """Find a picture by its whole name, or by its last part."""
    for candidate in (name, Path(name).name):
        path = inside(folder, candidate)
        if path.is_file():
            return path
    raise InputError("no such picture", path=folder / name)
