"""Known depths from a table: `x,y,depth` or `x,y,depth,sigma` in each line, in pixels and metres.

What a total station, a laser range finder or a few LiDAR returns give. A first line of names is
skipped, and so are empty lines and those that begin with `#`.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from sightline.errors import InputError
from sightline.files.reading import read_bytes
from sightline.metric.yardsticks.words import LONGEST, SHORTEST, USUAL_SHARE, Length

_MOST_BYTES = 100_000_000

Point = tuple[tuple[float, ...], Length]


def read_points(path: str | Path) -> list[Point]:
    """Return the pixels of a table and their depths; refuse it by its first bad line."""
    path = Path(path)
    data = read_bytes(path, limit=_MOST_BYTES, what="table of depths")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("is not text", path=path, remedy="write x,y,depth in each line") from error
    points: list[Point] = []
    for number, words in enumerate(csv.reader(lines), 1):
        if not words or words[0].lstrip().startswith("#") or not "".join(words).strip():
            continue
        if number == 1 and not _is_number(words[0]):
            continue
        points.append(_point(words, path, number))
    if not points:
        raise InputError("has no depth in it", path=path, remedy="write x,y,depth in each line")
    return points


def _point(words: list[str], path: Path, number: int) -> Point:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    good = len(values) in (3, 4) and all(math.isfinite(value) for value in values)
    if good:
        good = SHORTEST <= values[2] <= LONGEST and (len(values) == 3 or 0 < values[3] < values[2])
    if not good:
        raise InputError(
            f"line {number} is no pixel with a depth",
            path=path,
            remedy="write x,y,depth or x,y,depth,sigma, in pixels and metres, 100 km at most",
        )
    share = values[3] / values[2] if len(values) == 4 else USUAL_SHARE
    return (values[0], values[1]), Length(values[2], share)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
