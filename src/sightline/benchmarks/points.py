"""Point pairs: which of two marked pixels is nearer? One JSON or CSV file beside the pictures.

JSON, as DA-2K has it: `{"picture": [{"point1": [row, col], "point2": [row, col], "closer_point":
"point1"}, …], …}`. CSV: columns `image,row1,col1,row2,col2,closer`, `closer` being `point1` or
`point2`. Pictures are named relative to the file. Coordinates count from zero, at the picture's own
size.

An answer is right when the predicted disparity of the nearer point is the larger one; a tie is
wrong. It needs no alignment: only the order counts.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.samples import Benchmark, Item, Pairs
from sightline.benchmarks.scoring import predicted_disparity
from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import GET_AGAIN, read_bytes
from sightline.types import DepthMap

#: File names that are looked for in a folder, in this order.
NAMES = ("pairs.json", "pairs.csv", "annotations.json")

_MAX_BYTES = 500_000_000
_COLUMNS = ("row1", "col1", "row2", "col2")

#: (row, column) of the nearer point, then of the farther one.
Pair = tuple[tuple[int, int], tuple[int, int]]


def items(path: Path) -> list[Item]:
    """List the pictures of a pairs file, or of a folder that holds one."""
    file = path
    if path.is_dir():
        file = next((path / name for name in NAMES if (path / name).is_file()), path / NAMES[0])
    data = read_bytes(file, limit=_MAX_BYTES, what="list of point pairs")
    pairs = _from_csv(data, file) if file.suffix.lower() == ".csv" else _from_json(data, file)
    if not pairs:
        raise InputError("lists no point pairs", path=file, remedy=GET_AGAIN)
    return [_item(file.parent, picture, rows) for picture, rows in pairs.items()]


def accuracy(prediction: DepthMap, pairs: Pairs) -> float:
    """Return the share of right answers; ties are wrong.

    Args:
        prediction: of any kind and size.
        pairs: (row, column) at the picture's own size.
    """
    disparity = predicted_disparity(prediction, pairs.pixels.shape[:2])
    near = disparity[pairs.nearer[:, 0], pairs.nearer[:, 1]]
    far = disparity[pairs.farther[:, 0], pairs.farther[:, 1]]
    return float(np.mean(near > far))


def _item(folder: Path, picture: str, rows: Sequence[Pair]) -> Item:
    path = folder / picture
    inner = Path(picture)
    group = inner.parent.name or "all"
    return Item(
        inner.with_suffix("").as_posix(),
        group,
        (path,),
        partial(_load, path, inner.with_suffix("").as_posix(), group, tuple(rows)),
        aliases=(f"{group}/{inner.stem}",),
    )


def _load(path: Path, name: str, group: str, rows: Sequence[Pair]) -> Pairs:
    pixels = read_picture(path).pixels
    points = np.array(rows, np.intp)
    height, width = pixels.shape[:2]
    if (points < 0).any() or (points[..., 0] >= height).any() or (points[..., 1] >= width).any():
        raise InputError(
            f"a point lies outside its {width}×{height} pixels",
            path=path,
            remedy="points are (row, column) at the picture's own size",
        )
    return Pairs(name, group, pixels, points[:, 0], points[:, 1])


def _from_json(data: bytes, path: Path) -> dict[str, list[Pair]]:
    try:
        found: Any = json.loads(data)
        return {str(image): [_pair(row) for row in rows] for image, rows in found.items()}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise InputError("is not a list of point pairs", path=path, remedy=GET_AGAIN) from error


def _from_csv(data: bytes, path: Path) -> dict[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {}
    try:
        for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"))):
            a, b, c, d = (int(row[name]) for name in _COLUMNS)
            pair = {"point1": (a, b), "point2": (c, d), "closer_point": row["closer"].strip()}
            pairs.setdefault(row["image"], []).append(_pair(pair))
    except (ValueError, AttributeError, TypeError, KeyError, csv.Error) as error:
        raise InputError(
            "is not a list of point pairs",
            path=path,
            remedy="columns are image,row1,col1,row2,col2,closer",
        ) from error
    return pairs


def _pair(row: Mapping[str, Any]) -> Pair:
    """Order one pair, nearer first; anything but two points and which of them is a ValueError."""
    closer = row["closer_point"]
    if closer not in ("point1", "point2"):
        raise ValueError(closer)
    first, second = _point(row["point1"]), _point(row["point2"])
    return (first, second) if closer == "point1" else (second, first)


def _point(where: Sequence[Any]) -> tuple[int, int]:
    row, column = where
    if int(row) != row or int(column) != column:
        raise ValueError(where)
    return int(row), int(column)


BENCHMARK = Benchmark(
    name="points",
    title="point pairs of your own",
    layout=(
        "DIR/pairs.json or DIR/pairs.csv (or the file itself)",
        "pictures where the file says, relative to it",
    ),
    source="your own annotation; format in docs/benchmarks.md",
    items=items,
    protocol=Protocol(),
    average="pairs",
)
