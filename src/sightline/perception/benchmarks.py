"""Readers of question benchmarks in their released layouts.

| name            | content of the folder                                                            |
|-----------------|----------------------------------------------------------------------------------|
| `hardblink`     | `questions/blink_3pointscenter_questions.jsonl` … of the release, answers in      |
|                 | `answers/`, images in `images/blink3pointscenter/`; or a set of                   |
|                 | `sightline questions hardblink`, with answers in each line                        |
| `blink-depth`   | `Relative_Depth/*.parquet` of BLINK                                              |
| `blink-count`   | `Counting/*.parquet` of BLINK                                                    |
| `cvbench-depth` | `test*.parquet` of CV-Bench, or `test.jsonl` with its `img/`; task Depth          |
| `cvbench-count` | the same; task Count                                                             |
| `seed-count`    | `SEED-Bench.json` and `SEED-Bench-image/`; counting questions. `blink-count` and  |
|                 | `seed-count` also take AURORA's `*_questions.jsonl` and `*_answers.jsonl`          |
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import inside, lacking, naming, read_bytes
from sightline.perception.evaluation import LETTERS, BenchmarkQuestion, Topic, letter_number
from sightline.perception.questions.counting import read_number

_MOST_BYTES = 2_000_000_000


def hardblink(folder: Path) -> list[BenchmarkQuestion]:
    """Read HardBLINK, or a set in its layout as written by `write_hard_blink`."""
    found = sorted(folder.rglob("*questions*.jsonl"))
    # Lists of counting questions may lie beside those of HardBLINK.
    lists = [path for path in found if not path.name.startswith(("blinkcounting", "seedbench"))]
    if not lists:
        raise InputError("no *questions*.jsonl in this folder", path=folder)
    _check_lists(lists)
    rows_of = {path: list(_lines(path)) for path in lists}
    shared = _shared_images(rows_of)
    items = []
    for path, rows in rows_of.items():
        answers = _answers(path, folder, rows)
        places = _own_image_folders(path, folder) if shared else _image_folders(path, folder)
        for row in rows:
            number = _word(row, "question_id", path)
            right = _first(row, "answer", "label") or answers.get(number, "")
            # Ids repeat in the lists of the release.
            name = number if len(lists) == 1 else f"{path.stem}/{number}"
            with naming(path):
                points = _points(row.get("points"), name)
                answer = letter_number(right, name)
                if points and LETTERS[answer] not in points:
                    raise InputError(f"question {name}: the right answer {right} is no point")
                if (group := _group(points, path)) and answer >= int(group[0]):
                    raise InputError(f"question {name}: the right answer {right} of {group}")
            read = partial(_file, places, _word(row, "image", path))
            items.append(
                BenchmarkQuestion(
                    name,
                    "depth",
                    _word(row, "text", path),
                    (),
                    answer,
                    partial(_marked, read, points, name, path),
                    points,
                    group,
                )
            )
    return items


def _check_lists(lists: Sequence[Path]) -> None:
    """Refuse two lists of the same name, such as a copy in another folder."""
    seen: dict[str, Path] = {}
    for path in lists:
        if path.name in seen:
            raise InputError(
                f"{path.name} is there twice, in {seen[path.name].parent} and in {path.parent}",
                remedy="give the folder that holds one copy",
            )
        seen[path.name] = path


def _shared_images(rows_of: Mapping[Path, Sequence[Mapping[str, Any]]]) -> bool:
    """Return whether two lists name an image alike: each list then needs a folder of its own."""
    seen: set[str] = set()
    for path, rows in rows_of.items():
        names = {_word(row, "image", path) for row in rows}
        if names & seen:
            return True
        seen |= names
    return False


def _answers(path: Path, folder: Path, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the answers of one list of questions by id: from the file named like it.

    Lists are paired by name: `…_questions.jsonl` with `…_answers.jsonl` beside it or in `answers/`.

    Raises:
        InputError: an id is there twice, or an answer has no question.
    """
    asked = [_word(row, "question_id", path) for row in rows]
    if twice := next((number for number, n in Counter(asked).items() if n > 1), None):
        raise InputError(f"two questions have the id {twice}", path=path)
    name = path.name.replace("questions", "answers")
    for place in (path.parent, path.parent.parent / "answers", folder / "answers", folder):
        if (place / name).is_file():
            found: dict[str, str] = {}
            for row in _lines(place / name):
                number = _word(row, "question_id", place / name)
                if number in found:
                    raise InputError(f"question {number} has two answers", path=place / name)
                found[number] = _first(row, "answer", "label", "text")
            if foreign := sorted(found.keys() - set(asked)):
                raise InputError(
                    f"question {foreign[0]} is not in {path.name}",
                    path=place / name,
                    remedy="pair each list of questions with its own answers",
                )
            return found
    return {}


def _own_image_folders(path: Path, folder: Path) -> list[Path]:
    """Return the folders named like a list of questions.

    The release has `blink_3pointscenter_questions.jsonl` and `images/blink3pointscenter/`.
    """
    stem = re.sub(r"_?questions?$", "", path.stem)
    names = dict.fromkeys((stem.replace("_", ""), stem))
    roots = dict.fromkeys((path.parent.parent, path.parent, folder))
    return [root / "images" / name for root in roots for name in names if name]


def _image_folders(path: Path, folder: Path) -> list[Path]:
    """Return where the images of a list may lie, the folder named like it first."""
    shared = (place for root in (path.parent, folder) for place in (root, root / "images"))
    return [*_own_image_folders(path, folder), *shared]


def _listed_counts(
    folder: Path, stem: str, image_folders: Sequence[str]
) -> list[BenchmarkQuestion]:
    """Read AURORA's lists of counting questions, whose answers are numbers; empty if there are none."""
    items = []
    lists = sorted(folder.rglob(f"{stem}*questions.jsonl"))
    _check_lists(lists)
    for path in lists:
        rows = list(_lines(path))
        answers = _answers(path, folder, rows)
        beside = [root / name for root in (path.parent, folder) for name in image_folders]
        places = beside + _image_folders(path, folder)
        for row in rows:
            name = _word(row, "question_id", path)
            right = _first(row, "answer", "label") or answers.get(name, "")
            number = read_number(right)
            if number is None:
                raise InputError(
                    f"question {name}: the right answer {right!r} is no number", path=path
                )
            read = partial(_file, places, _word(row, "image", path))
            text = _word(row, "text", path)
            items.append(BenchmarkQuestion(name, "count", text, (str(number),), 0, read))
    return items


def _points(found: Any, name: str) -> dict[str, tuple[float, float]]:
    """Parse x and y by letter; empty if the set does not give them."""
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
    """Read an image and check that all points of its question lie inside."""
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


def blink(folder: Path, part: str, topic: Topic) -> list[BenchmarkQuestion]:
    """Read one part of BLINK; its test answers are hidden, so only `val` can be scored."""
    if topic == "count" and (listed := _listed_counts(folder, "blinkcounting", ("images",))):
        return listed
    items = []
    for row in _parquet(folder, f"{part}/*val*.parquet", f"{part}*val*.parquet"):
        name = str(row["idx"])
        choices = tuple(str(choice) for choice in row["choices"])
        # The letters of Relative_Depth are drawn in the image.
        shown = () if topic == "depth" else choices
        items.append(
            BenchmarkQuestion(
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


def cvbench(folder: Path, task: str, topic: Topic) -> list[BenchmarkQuestion]:
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
            read = partial(_file, [folder / "img", folder], str(row["filename"]))
        items.append(
            BenchmarkQuestion(
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


def seed_count(folder: Path) -> list[BenchmarkQuestion]:
    """Read the counting questions of SEED-Bench."""
    if listed := _listed_counts(folder, "seedbench", ("SEED-Bench-image", "images")):
        return listed
    path = folder / "SEED-Bench.json"
    found = _json(path)
    try:
        kinds = {v for k, v in found["question_type"].items() if "count" in k.lower()}
        rows = [row for row in found["questions"] if row["question_type_id"] in kinds]
        pictures = folder / "SEED-Bench-image"
        return [
            BenchmarkQuestion(
                str(row["question_id"]),
                "count",
                str(row["question"]),
                tuple(str(row[f"choice_{letter}"]) for letter in "abcd"),
                letter_number(str(row["answer"]), str(row["question_id"])),
                partial(_file, [pictures, folder], str(row["data_id"])),
            )
            for row in rows
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is not SEED-Bench's list ({lacking(error)})", path=path) from error


BENCHMARKS: dict[str, Callable[[Path], list[BenchmarkQuestion]]] = {
    "hardblink": hardblink,
    "blink-depth": partial(blink, part="Relative_Depth", topic="depth"),
    "blink-count": partial(blink, part="Counting", topic="count"),
    "cvbench-depth": partial(cvbench, task="Depth", topic="depth"),
    "cvbench-count": partial(cvbench, task="Count", topic="count"),
    "seed-count": seed_count,
}


def read_benchmark(name: str, folder: str | Path) -> list[BenchmarkQuestion]:
    """Read a benchmark by its name.

    Args:
        name: one of `BENCHMARKS`.
        folder: folder in the released layout.

    Raises:
        InputError: the name is unknown, the layout differs, or there is no question.
    """
    folder = Path(folder)
    if name not in BENCHMARKS:
        raise InputError(
            f"there is no benchmark {name!r}", remedy=f"choose from {', '.join(BENCHMARKS)}"
        )
    if not folder.is_dir():
        raise InputError("no such folder", path=folder)
    try:
        items = BENCHMARKS[name](folder)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not laid out as {name} ({lacking(error)})", path=folder) from error
    if not items:
        raise InputError(f"holds no question of {name}", path=folder)
    return items


def _group(points: Mapping[str, Any], path: Path) -> str:
    """Return the number of points as a group name, from the points or from a digit in the file name."""
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


def _file(places: Sequence[Path], name: str) -> NDArray[np.uint8]:
    """Read an image from the first folder that has it."""
    for place in places:
        path = inside(place, name)
        if path.is_file():
            return read_picture(path).pixels
    raise InputError("no such picture", path=places[0] / name)


def _bytes(stored: Any, name: str) -> NDArray[np.uint8]:
    try:
        raw = stored["bytes"]
    except (KeyError, TypeError) as error:
        raise InputError(f"question {name} has no picture") from error
    if not isinstance(raw, bytes):
        raise InputError(f"question {name} has no picture in its file")
    return read_picture(raw).pixels
