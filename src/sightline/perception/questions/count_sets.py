"""Sets of questions about how many, from any pictures whose things are known.

The folder is like that of the questions about depth: `images/`, and lists that LLaVA's trainers read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.pictures import read_picture
from sightline.files.reading import read_bytes
from sightline.perception.questions import counting, scanning
from sightline.perception.questions.counting import Things, kind_to_ask
from sightline.perception.questions.markers import squash
from sightline.perception.questions.records import Record, write_llava
from sightline.perception.questions.scanning import Shares
from sightline.perception.questions.sets import write_picture

#: A thing of which less than this share of the picture is seen is not counted, and its kind not asked
#: about: nobody could tell.
LEAST_SEEN = 0.0015


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A picture and what is in it.

    Attributes:
        name: of its files, without a suffix.
        pixels: (H, W, 3) sRGB.
        things: in it.
    """

    name: str
    pixels: NDArray[np.uint8]
    things: Things


@dataclass(frozen=True, slots=True)
class CountSets:
    """The sub-data-sets of the paper.

    Attributes:
        boxes: list the boxes.
        reasoning: say the number, each directly and right after it by way of boxes.
    """

    boxes: tuple[Record, ...]
    reasoning: tuple[Record, ...]


def things_of(
    width: int,
    height: int,
    found: Iterable[tuple[str, Sequence[float], int]],
    least: float = LEAST_SEEN,
) -> Things:
    """Sort things by their kind; one of which some are hardly seen is marked as partial.

    Args:
        width: of the picture, [px].
        height: of it.
        found: kind, box and how many pixels are seen, of each.
        least: share of the picture below which a thing is hardly seen.
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
    """Return the boxes of a kind as shares of the picture."""
    x, y = things.width, things.height
    return [(a / x, b / y, c / x, d / y) for a, b, c, d in things.boxes.get(kind, ())]


def things_of_scene(path: str | Path) -> Things:
    """Read the things of a rendered scene from its JSON file."""
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
) -> tuple[list[str], Iterator[Counted]]:
    """Return the kinds of things in a folder of rendered scenes, and its pictures as they are needed.

    Args:
        folder: of `sightline scenes make`.
        most: of the scenes, the first ones; None for all.
        skip: told about a picture that cannot be read, which is then left out; None to stop there.
    """
    paths = sorted(Path(folder).glob("[0-9]" * 6 + ".json"))[:most]
    if not paths:
        raise InputError("holds no scenes", path=folder)
    things = [things_of_scene(path) for path in paths]
    kinds = sorted({kind for one in things for kind in one.boxes})
    return kinds, _read_scenes(zip(paths, things, strict=True), skip)


def _read_scenes(
    scenes: Iterable[tuple[Path, Things]], skip: Callable[[InputError], None] | None
) -> Iterator[Counted]:
    for path, things in scenes:
        try:
            pixels = read_picture(path.with_suffix(".jpg")).pixels
        except InputError as error:
            if skip is None:
                raise
            skip(error)
            continue
        yield Counted(path.stem, pixels, things)


def ask_counts(
    pictures: Iterable[Counted],
    kinds: Sequence[str],
    *,
    most_of_a_count: int = 1000,
    none_share: float = 0.1,
    any_kind: bool = False,
    rounds: int = 1,
    seed: int = 0,
) -> Iterator[tuple[Counted, str]]:
    """Choose what to ask about every picture.

    Args:
        pictures: to ask about.
        kinds: all there are, for questions whose answer is none.
        most_of_a_count: questions with the same answer, at most; then the picture is passed over.
        none_share: of the pictures that are asked about something that is not there; pictures without
            anything to count are asked so too.
        any_kind: ask about any kind that is there, not that with the most.
        rounds: how often a picture is asked about, about another kind each time.
        seed: of the choice.
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
    pictures: Iterable[Counted],
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
    """Write pictures and the lists `boxes.json` and `counting.json` into a folder.

    Args:
        pictures: with their things.
        kinds: all there are.
        folder: to write to.
        asked_share: of the pictures that the number is asked of, too, at least one; the paper asks 250
            of 5,000.
        most_of_a_count: questions with the same answer, at most.
        any_kind: ask about any kind that is there, not that with the most.
        rounds: how often a picture is asked about, about another kind each time.
        seen: gives the boxes of all things that a model's eyes see in a picture, by its path in the
            folder, for answers that go through them (`scanning`); None for lists of the kind's own.
        seed: of everything drawn.
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
            found = scanning.kinds_of(everything, known)
            listed = scanning.listing(path, everything, found)
            chain = scanning.chain(path, kind, everything, found)
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
