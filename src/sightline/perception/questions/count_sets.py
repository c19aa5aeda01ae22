"""Question sets about counts, from images with annotated objects.

The folder is laid out like the depth question sets: `images/`, and lists in LLaVA's format.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.images import read_picture
from sightline.io.reading import inside, lacking, read_bytes
from sightline.perception.questions import counting
from sightline.perception.questions.counting import Shares, Things, kind_to_ask
from sightline.perception.questions.hardblink import squash
from sightline.perception.questions.records import Record, write_llava
from sightline.perception.questions.sets import write_picture

_MOST_BYTES = 4_000_000_000
#: Maximum side of an image, [px].
_LARGEST = 2**31
_STRANGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)

_Box = tuple[float, float, float, float]


@dataclass(slots=True)
class _Marks:
    """Annotations of one image."""

    boxes: dict[str, list[_Box]] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Annotated:
    """Annotation file.

    Attributes:
        kinds: names of all kinds.
        pictures: file name and objects of every image.
    """

    kinds: tuple[str, ...]
    pictures: tuple[tuple[str, Things], ...]

    def counted(
        self, folder: str | Path, skip: Callable[[InputError], None] | None = None
    ) -> Iterator[AnnotatedImage]:
        """Read the images of a folder, each under a unique name.

        Args:
            folder: folder of the images.
            skip: called with the error of an image that is missing, damaged or of another size than
                annotated, which is then skipped; None to raise.
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
            yield AnnotatedImage(name, pixels, things)


def read_annotations(path: str | Path) -> Annotated:
    """Read a JSON file in LVIS or COCO format.

    Raises:
        InputError: the file has another format.
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
            f"is not an annotation file in LVIS or COCO format ({lacking(error)})", path=path
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
    # LVIS gives the image URL at COCO instead of a file name.
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
    """Return width or height of an image."""
    side = float(row[key])
    if not 1 <= side < _LARGEST:
        raise ValueError(f"picture {row['id']} has {key} {side:g}")
    return int(side)


def _clamped(box: _Box, width: int, height: int) -> _Box | None:
    """Clip a box to the image; None if nothing is left."""
    if not all(math.isfinite(side) for side in box):
        return None
    a, b, c, d = box
    a, b, c, d = max(0.0, a), max(0.0, b), min(float(width), c), min(float(height), d)
    return (a, b, c, d) if a < c and b < d else None


def _unused(stem: str, used: set[str]) -> str:
    """Return a name that is not in `used`, and add it there."""
    numbered = (f"{stem}-{number}" for number in itertools.count(2))
    name = stem if stem not in used else next(one for one in numbered if one not in used)
    used.add(name)
    return name


def _pixels(folder: Path, name: str, things: Things) -> NDArray[np.uint8]:
    """Read an image and check that its size is the annotated one."""
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
    """Return a category name in words, without underscores."""
    return str(row["name"]).replace("_", " ").strip()


def _path(folder: Path, name: str) -> Path:
    """Find an image by its relative path, or by its file name."""
    for candidate in (name, Path(name).name):
        path = inside(folder, candidate)
        if path.is_file():
            return path
    raise InputError("no such picture", path=folder / name)


#: Visible share of the image below which an object is not counted and its kind not asked about.
LEAST_SEEN = 0.0015


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedImage:
    """Image with annotated objects.

    Attributes:
        name: file name without suffix.
        pixels: (H, W, 3) sRGB.
        things: annotated objects.
    """

    name: str
    pixels: NDArray[np.uint8]
    things: Things


@dataclass(frozen=True, slots=True)
class CountSets:
    """Question sets of the paper.

    Attributes:
        boxes: list the boxes.
        reasoning: count, first directly, then by way of boxes.
    """

    boxes: tuple[Record, ...]
    reasoning: tuple[Record, ...]


def things_of(
    width: int,
    height: int,
    found: Iterable[tuple[str, Sequence[float], int]],
    least: float = LEAST_SEEN,
) -> Things:
    """Group objects by kind; kinds with hardly visible objects are marked as partial.

    Args:
        width: width of the image, [px].
        height: height of the image, [px].
        found: kind, box and number of visible pixels of each object.
        least: visible share of the image below which an object is hardly visible.
    """
    boxes: dict[str, list[tuple[float, float, float, float]]] = {}
    partial = set()
    for kind, box, pixels in found:
        if pixels < least * width * height:
            partial.add(kind)
            continue
        left, top, right, bottom = (float(side) for side in box)
        boxes.setdefault(kind, []).append((left, top, right, bottom))
    return Things(width, height, boxes, partial)


def shares_of(things: Things, kind: str) -> list[Shares]:
    """Return the boxes of a kind as shares of the image."""
    x, y = things.width, things.height
    return [(a / x, b / y, c / x, d / y) for a, b, c, d in things.boxes.get(kind, ())]


def things_of_scene(path: str | Path) -> Things:
    """Read the objects of a rendered scene from its JSON file."""
    try:
        scene = json.loads(read_bytes(path, limit=50_000_000, what="scene"))
        rows = [(str(t["kind"]), t["box"], int(t["pixels"])) for t in scene["instances"]]
        return things_of(int(scene["width"]), int(scene["height"]), rows)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("does not describe a scene", path=path) from error


def counted_scenes(
    folder: str | Path,
    most: int | None = None,
    skip: Callable[[InputError], None] | None = None,
) -> tuple[list[str], Iterator[AnnotatedImage]]:
    """Return the kinds of objects in a folder of rendered scenes, and an iterator over its images.

    Args:
        folder: folder of `sightline scenes make`.
        most: number of scenes from the start; None for all.
        skip: called with the error of an unreadable image, which is then skipped; None to raise.
    """
    paths = sorted(Path(folder).glob("[0-9]" * 6 + ".json"))[:most]
    if not paths:
        raise InputError("holds no scenes", path=folder)
    things = [things_of_scene(path) for path in paths]
    kinds = sorted({kind for one in things for kind in one.boxes})
    return kinds, _read_scenes(zip(paths, things, strict=True), skip)


def _read_scenes(
    scenes: Iterable[tuple[Path, Things]], skip: Callable[[InputError], None] | None
) -> Iterator[AnnotatedImage]:
    for path, things in scenes:
        try:
            pixels = read_picture(path.with_suffix(".jpg")).pixels
        except InputError as error:
            if skip is None:
                raise
            skip(error)
            continue
        yield AnnotatedImage(path.stem, pixels, things)


def ask_counts(
    pictures: Iterable[AnnotatedImage],
    kinds: Sequence[str],
    *,
    most_of_a_count: int = 1000,
    none_share: float = 0.1,
    any_kind: bool = False,
    rounds: int = 1,
    seed: int = 0,
) -> Iterator[tuple[AnnotatedImage, str]]:
    """Choose a question for every image.

    Args:
        pictures: images with objects.
        kinds: all kinds, for questions whose answer is none.
        most_of_a_count: maximum number of questions with the same answer.
        none_share: share of images that are asked about an absent kind, besides those without objects.
        any_kind: choose any kind in the image, not the most frequent.
        rounds: questions per image, about different kinds.
        seed: random seed.
    """
    asked: Counter[int] = Counter()
    for one in pictures:
        before: set[str] = set()
        for turn in range(rounds):
            rng = np.random.default_rng([seed, *([turn] if turn else []), *one.name.encode()])
            things = one.things
            if rng.random() < none_share:
                hidden = {*things.boxes, *things.partial}
                things = replace(things, boxes={}, partial=hidden)
            chosen = kind_to_ask(things, kinds, rng, any_kind=any_kind)
            if chosen is None or chosen[0] in before or asked[chosen[1]] >= most_of_a_count:
                continue
            asked[chosen[1]] += 1
            before.add(chosen[0])
            yield one, chosen[0]


def write_count_sets(
    pictures: Iterable[AnnotatedImage],
    kinds: Sequence[str],
    folder: str | Path,
    *,
    asked_share: float = 0.1,
    most_of_a_count: int = 1000,
    any_kind: bool = False,
    rounds: int = 1,
    seen: Callable[[str], Sequence[Shares]] | None = None,
    seed: int = 0,
) -> CountSets:
    """Write images and the lists `boxes.json` and `counting.json` into a folder.

    Args:
        pictures: images with objects.
        kinds: all kinds.
        folder: output folder.
        asked_share: share of images with counting questions, at least one; the paper uses 250 of 5,000.
        most_of_a_count: maximum number of questions with the same answer.
        any_kind: choose any kind in the image, not the most frequent.
        rounds: questions per image, about different kinds.
        seen: returns the detected boxes of an image by its path in the folder, for answers that
            name all objects (`listing_chain`); None lists the kind alone.
        seed: random seed.
    """
    if not 0 < asked_share <= 1:
        raise InputError(f"a share lies in 0 to 1, got {asked_share:g}")
    if most_of_a_count < 1:
        raise InputError(f"most-of-a-count must be at least 1, got {most_of_a_count}")
    folder = Path(folder)
    boxes: list[Record] = []
    reasoning: list[Record] = []
    chosen = ask_counts(
        pictures,
        kinds,
        most_of_a_count=most_of_a_count,
        any_kind=any_kind,
        rounds=rounds,
        seed=seed,
    )
    first: list[Record] = []
    for number, (one, kind) in enumerate(chosen):
        path = write_picture(folder, one.name, squash(one.pixels))
        rng = np.random.default_rng([seed, 1, *one.name.encode()])
        if seen is None:
            listed = counting.boxes_question(path, one.things, kind, rng)
            chain = counting.chain(path, one.things, kind)
        else:
            everything = seen(path)
            known = {name: shares_of(one.things, name) for name in one.things.boxes}
            found = counting.kinds_of(everything, known)
            listed = counting.listing(path, everything, found)
            chain = counting.listing_chain(path, kind, everything, found)
        boxes.append(listed)
        both = [counting.direct(path, one.things, kind), chain]
        first = first or both
        if int((number + 1) * asked_share) > int(number * asked_share):
            reasoning += both
    reasoning = reasoning or first  # of few pictures, one is asked about
    if not reasoning:
        raise InputError("there is nothing to count in these pictures")
    write_llava(folder / "boxes.json", boxes)
    write_llava(folder / "counting.json", reasoning)
    return CountSets(tuple(boxes), tuple(reasoning))
