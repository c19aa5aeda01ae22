"""The layouts in which benchmarks that ask are released.

| name            | what lies in the folder                                                          |
|-----------------|----------------------------------------------------------------------------------|
| `hardblink`     | `*questions*.jsonl` of LLaVA's evaluation (`question_id`, `image`, `text`), the   |
|                 | right answers in each line or in `*answers*.jsonl`, pictures beside or below      |
| `blink-depth`   | `Relative_Depth/*.parquet` of BLINK                                              |
| `blink-count`   | `Counting/*.parquet` of BLINK                                                    |
| `cvbench-depth` | `test*.parquet` of CV-Bench, or `test.jsonl` with its `img/`; task Depth          |
| `cvbench-count` | the same; task Count                                                             |
| `seed-count`    | `SEED-Bench.json` and `SEED-Bench-image/`; the questions about counting           |
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.files.reading import inside, lacking, naming, read_bytes
from sightline.perception.quiz.items import LETTERS, QuizItem, Topic, letter_number

_MOST_BYTES = 2_000_000_000


def hardblink(folder: Path) -> list[QuizItem]:
    """Read HardBLINK, or a set in its layout such as `write_hard_blink` makes."""
    lists = sorted(folder.rglob("*questions*.jsonl"))
    if not lists:
        raise InputError("no *questions*.jsonl in this folder", path=folder)
    answers: dict[str, str] = {}
    for path in sorted(folder.rglob("*answers*.jsonl")):
        for row in _lines(path):
            answers[_word(row, "question_id", path)] = _first(row, "answer", "label", "text")
    items = []
    for path in lists:
        for row in _lines(path):
            name = _word(row, "question_id", path)
            right = _first(row, "answer", "label") or answers.get(name, "")
            with naming(path):
                points = _points(row.get("points"), name)
                answer = letter_number(right, name)
                if points and LETTERS[answer] not in points:
                    raise InputError(f"question {name}: the right answer {right} is no point")
            read = partial(_file, folder, path.parent, _word(row, "image", path))
            items.append(
                QuizItem(
                    name,
                    "depth",
                    _word(row, "text", path),
                    (),
                    answer,
                    partial(_marked, read, points, name, path),
                    points,
                    _group(points, path),
                )
            )
    return items


def _points(found: Any, name: str) -> dict[str, tuple[float, float]]:
    """Read x and y by letter; none where the set does not give them."""
    if found is None or found == {}:
        return {}
    try:
        points = {str(k): (float(x), float(y)) for k, (x, y) in found.items()}
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"question {name}: points are not x and y by letter") from error
    if sorted(points) != list(LETTERS[: len(points)]) or len(points) < 2:
        wanted = f"from two to {len(LETTERS)} points, called A, B and so on"
        raise InputError(f"question {name}: it takes {wanted}, got {' '.join(points)[:40]}")
    for letter, place in points.items():
        if not all(math.isfinite(side) for side in place):
            raise InputError(f"question {name}: point {letter} has no place")
    return points


def _marked(
    read: Callable[[], NDArray[np.uint8]],
    points: Mapping[str, tuple[float, float]],
    name: str,
    path: Path,
) -> NDArray[np.uint8]:
    """Read a picture that all points of its question lie in."""
    pixels = read()
    height, width = pixels.shape[:2]
    for letter, (x, y) in points.items():
        if not (0 <= x < width and 0 <= y < height):
            raise InputError(
                f"question {name}: point {letter} at {x:g},{y:g} lies outside the picture of "
                f"{width} × {height} px",
                path=path,
            )
    return pixels


def blink(folder: Path, part: str, topic: Topic) -> list[QuizItem]:
    """Read one part of BLINK; its test answers are hidden, so `val` is what can be scored."""
    items = []
    for row in _parquet(folder, f"{part}/*val*.parquet", f"{part}*val*.parquet"):
        name = str(row["idx"])
        choices = tuple(str(choice) for choice in row["choices"])
        # The points of Relative_Depth have their letters in the picture.
        shown = () if topic == "depth" else choices
        items.append(
            QuizItem(
                name,
                topic,
                str(row["question"]),
                shown,
                letter_number(str(row["answer"]), name),
                partial(_bytes, row["image_1"], name),
                group=f"{len(choices)} points" if topic == "depth" else "",
            )
        )
    return items


def cvbench(folder: Path, task: str, topic: Topic) -> list[QuizItem]:
    """Read one task of CV-Bench: `Depth` (two boxes are drawn in) or `Count`."""
    plain = folder / "test.jsonl"
    rows: Iterator[Mapping[str, Any]]
    if plain.is_file():
        rows = _lines(plain)
    else:
        rows = _parquet(folder, "test*.parquet", "data/test*.parquet")
    items = []
    for row in rows:
        if str(row["task"]) != task:
            continue
        name = str(row["idx"])
        picture: Any = row.get("image")
        read: Callable[[], NDArray[np.uint8]]
        if isinstance(picture, dict):
            read = partial(_bytes, picture, name)
        else:
            read = partial(_file, folder, folder / "img", str(row["filename"]))
        items.append(
            QuizItem(
                name,
                topic,
                str(row["question"]),
                tuple(str(choice) for choice in row["choices"]),
                letter_number(str(row["answer"]), name),
                read,
                group=str(row.get("source", "")),
            )
        )
    return items


def seed_count(folder: Path) -> list[QuizItem]:
    """Read the questions about counting of SEED-Bench."""
    path = folder / "SEED-Bench.json"
    found = _json(path)
    try:
        kinds = {v for k, v in found["question_type"].items() if "count" in k.lower()}
        rows = [row for row in found["questions"] if row["question_type_id"] in kinds]
        pictures = folder / "SEED-Bench-image"
        return [
            QuizItem(
                str(row["question_id"]),
                "count",
                str(row["question"]),
                tuple(str(row[f"choice_{letter}"]) for letter in "abcd"),
                letter_number(str(row["answer"]), str(row["question_id"])),
                partial(_file, folder, pictures, str(row["data_id"])),
            )
            for row in rows
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is not SEED-Bench's list ({lacking(error)})", path=path) from error


QUIZZES: dict[str, Callable[[Path], list[QuizItem]]] = {
    "hardblink": hardblink,
    "blink-depth": partial(blink, part="Relative_Depth", topic="depth"),
    "blink-count": partial(blink, part="Counting", topic="count"),
    "cvbench-depth": partial(cvbench, task="Depth", topic="depth"),
    "cvbench-count": partial(cvbench, task="Count", topic="count"),
    "seed-count": seed_count,
}


def read_quiz(name: str, folder: str | Path) -> list[QuizItem]:
    """Read a benchmark by its name.

    Raises:
        InputError: unknown name, another layout, or no question in it.
    """
    folder = Path(folder)
    if name not in QUIZZES:
        raise InputError(f"there is no quiz {name!r}", remedy=f"choose from {', '.join(QUIZZES)}")
    if not folder.is_dir():
        raise InputError("no such folder", path=folder)
    try:
        items = QUIZZES[name](folder)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not laid out as {name} ({lacking(error)})", path=folder) from error
    if not items:
        raise InputError(f"holds no question of {name}", path=folder)
    return items


def _group(points: Mapping[str, Any], path: Path) -> str:
    """Tell how many points are asked about: by the points, else by a digit in the list's name."""
    if points:
        return f"{len(points)} points"
    digits = re.findall(r"(?<!\d)([2-5])(?!\d)", path.name)
    return f"{digits[0]} points" if digits else ""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    raw = read_bytes(path, limit=_MOST_BYTES, what="list of questions")
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is not JSON", path=path) from error
        if not isinstance(row, dict):
            raise InputError(f"line {number} is not an object", path=path)
        yield row


def _json(path: Path) -> Any:
    try:
        return json.loads(read_bytes(path, limit=_MOST_BYTES, what="list of questions"))
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", path=path) from error


def _parquet(folder: Path, *patterns: str) -> Iterator[dict[str, Any]]:
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    if not paths:
        raise InputError(f"no {patterns[0]} in this folder", path=folder)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            "parquet files need pyarrow", path=paths[0], remedy="pip install pyarrow"
        ) from error
    for path in paths:
        try:
            for batch in parquet.ParquetFile(path).iter_batches(64):
                yield from batch.to_pylist()
        except (OSError, pyarrow.ArrowException) as error:
            raise InputError(f"a damaged parquet file ({error})", path=path) from error


def _word(row: Mapping[str, Any], key: str, path: Path) -> str:
    if key not in row:
        raise InputError(f"a question has no {key}", path=path)
    return str(row[key])


def _first(row: Mapping[str, Any], *keys: str) -> str:
    return next((str(row[key]) for key in keys if row.get(key)), "")


def _file(folder: Path, beside: Path, name: str) -> NDArray[np.uint8]:
    """Read a picture that lies beside its list, in an `images` folder there, or below the set."""
    for place in (beside, beside / "images", folder, folder / "images"):
        path = inside(place, name)
        if path.is_file():
            return read_picture(path).pixels
    raise InputError("no such picture", path=beside / name)


def _bytes(stored: Any, name: str) -> NDArray[np.uint8]:
    try:
        raw = stored["bytes"]
    except (KeyError, TypeError) as error:
        raise InputError(f"question {name} has no picture") from error
    if not isinstance(raw, bytes):
        raise InputError(f"question {name} has no picture in its file")
    return read_picture(raw).pixels
