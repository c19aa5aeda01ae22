"""Boxes of LVIS and COCO as things to count.

LVIS says for every picture of which kinds it has not marked all (`not_exhaustive_category_ids`), and
which it has looked for in vain (`neg_category_ids`): the first are never asked about, and only the
second when the answer is none. COCO marks all of its kinds, except where it marks a crowd.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.files.reading import inside, read_bytes
from sightline.perception.questions.count_sets import Counted
from sightline.perception.questions.counting import Things

_MOST_BYTES = 4_000_000_000


@dataclass(slots=True)
class _Marks:
    """What is marked in one picture."""

    boxes: dict[str, list[tuple[float, float, float, float]]] = field(default_factory=dict)
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

    def counted(self, folder: str | Path) -> Iterator[Counted]:
        """Read the pictures, which lie in a folder; one that is missing is an error of its own."""
        for name, things in self.pictures:
            pixels = read_picture(_path(Path(folder), name)).pixels
            yield Counted(Path(name).stem, pixels, things)


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
            kind, marked = names[row["category_id"]], marks[row["image_id"]]
            if row.get("iscrowd"):
                marked.partial.add(kind)
            elif width > 0 and height > 0:
                box = (left, top, left + width, top + height)
                marked.boxes.setdefault(kind, []).append(box)
        pictures = [_picture(row, marks[row["id"]], names) for row in found["images"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"is no file of annotations in LVIS's or COCO's layout ({error!r})", path=path
        ) from error
    if not pictures:
        raise InputError("names no picture", path=path)
    return Annotated(tuple(sorted(set(names.values()))), tuple(pictures))


def _picture(row: dict[str, Any], marked: _Marks, names: dict[Any, str]) -> tuple[str, Things]:
    width, height = int(row["width"]), int(row["height"])
    partial = marked.partial | {names[k] for k in row.get("not_exhaustive_category_ids", ())}
    boxes = {
        kind: [
            (max(0.0, a), max(0.0, b), min(float(width), c), min(float(height), d))
            for a, b, c, d in some
            if a < width and b < height and c > 0 and d > 0
        ]
        for kind, some in marked.boxes.items()
    }
    # LVIS names the address of the picture at COCO instead of the file.
    name = row.get("file_name") or "/".join(str(row["coco_url"]).split("/")[-2:])
    marked_boxes = {kind: some for kind, some in boxes.items() if some}
    vain = row.get("neg_category_ids")
    absent = None if vain is None else frozenset(names[k] for k in vain)
    return str(name), Things(width, height, marked_boxes, partial, absent)


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
