"""Question sets about depth, for training and evaluation, from images with known depth.

A set is a folder: `images/` of 336 × 336 px, and sample lists in LLaVA's format. Equal images, seed and
rule give equal bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.config import ParallelConfig
from sightline.depth.estimator import DepthEstimator, load
from sightline.errors import InputError
from sightline.io.atomic import write_bytes, write_text
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.io.paths import AnyPath
from sightline.perception.codebook import bytes_of, to_bytes
from sightline.perception.questions import depth
from sightline.perception.questions.hardblink import (
    HARD,
    TRAINED,
    MarkerRule,
    Point,
    draw_points,
    letter_points,
    nearest_letter,
    place_points,
    squash,
)
from sightline.perception.questions.records import Record, write_llava
from sightline.runtime.parallel import WithModel, map_in_order, worker_threads
from sightline.training.data.items import is_held_out
from sightline.training.data.pairs import Pair
from sightline.types import DepthMap

#: Return the 102 tokens of a (336, 336) uint8 map, near is bright.
Encode = Callable[[NDArray[np.uint8]], str]

_QUALITY = 95
#: Images searched for one with a question, if the share would give none.
_FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class DepthImage:
    """Image and its depth, resized to 336 × 336.

    Attributes:
        name: file name without suffix.
        pixels: (336, 336, 3) sRGB.
        values: (336, 336) disparity, from 0 (farthest place of the image) to 255 (nearest).
        known: (336, 336) mask of known values.
    """

    name: str
    pixels: NDArray[np.uint8]
    values: NDArray[np.uint8]
    known: NDArray[np.bool_]


def depth_image(name: str, pixels: NDArray[np.uint8], depth_map: DepthMap) -> DepthImage:
    """Resize an image and its depth map; their sizes may differ."""
    values = bytes_of(depth_map)
    known = squash(depth_map.valid.astype(np.uint8)) > 0
    return DepthImage(name, squash(pixels), squash(values), known)


def depth_image_of_pair(name: str, pair: Pair) -> DepthImage:
    """Resize a training pair of depth networks: measured, rendered, or labeled by a teacher."""
    values = to_bytes(pair.disparity.astype(np.float32), pair.known)
    known = squash(pair.known.astype(np.uint8)) > 0
    return DepthImage(name, squash(pair.pixels), squash(values), known)


def held_out(photos: str | Path, estimator: DepthEstimator) -> Iterator[DepthImage]:
    """Yield the held-out photos of a folder with the depth of a model."""
    paths = sorted(p for p in Path(photos).rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
    for number, path in enumerate(path for path in paths if is_held_out(path.name)):
        picture = read_picture(path)
        yield depth_image(f"photo{number:03d}", picture.pixels, estimator.infer(picture))


def estimated_depth_images(
    paths: Sequence[AnyPath], model: str = "default", parallel: ParallelConfig | None = None
) -> Generator[DepthImage | InputError, None, None]:
    """Yield images with the depth of a model, named by their position, in the order of `paths`.

    An image that cannot be read is yielded as the error, whatever the others.

    Args:
        paths: image files.
        model: depth model that provides the ground truth.
        parallel: where to run. Default: in this process.
    """
    parallel = parallel or ParallelConfig()
    if parallel.cluster:
        paths = [path.absolute() for path in paths]  # workers may run in another folder
    threads = worker_threads(parallel, len(paths))
    function = WithModel(partial(load, model, threads=threads), _estimated)
    with closing(map_in_order(function, list(enumerate(paths)), parallel)) as answers:
        for answer in answers:
            if answer.failure is not None and not isinstance(answer.failure, InputError):
                raise answer.failure
            if answer.failure is not None:
                yield answer.failure
            elif answer.result is not None:
                yield answer.result


def _estimated(estimator: DepthEstimator, numbered: tuple[int, AnyPath]) -> DepthImage:
    number, path = numbered
    picture = read_picture(path)
    return depth_image(f"{number:06d}", picture.pixels, estimator.infer(picture))


@dataclass(frozen=True, slots=True, eq=False)
class MarkedImage:
    """Image with marked points.

    Attributes:
        seen: image without marks.
        points: points by letter.
    """

    seen: DepthImage
    points: Mapping[str, Point]

    @property
    def answer(self) -> str:
        """Letter of the nearest point."""
        return nearest_letter(self.points)

    def picture(self) -> NDArray[np.uint8]:
        """Return the image with marked points."""
        places = {letter: (point.x, point.y) for letter, point in self.points.items()}
        return draw_points(self.seen.pixels, places)


def ask_points(
    pictures: Iterable[DepthImage],
    counts: Sequence[int],
    *,
    rule: MarkerRule = TRAINED,
    seed: int = 0,
) -> Iterator[MarkedImage]:
    """Ask about points in every image that has room for them.

    Numbers of points and letters of the correct answer alternate, so both are balanced.

    Args:
        pictures: images with depth.
        counts: numbers of points, one of them for each image.
        rule: placement rule.
        seed: random seed.
    """
    turns = dict.fromkeys(counts, 0)
    made = 0
    for seen in pictures:
        count = counts[made % len(counts)]
        rng = np.random.default_rng([seed, *seen.name.encode()])
        points = place_points(seen.values, count, rng, rule, known=seen.known & (seen.values > 0))
        if points is None:
            continue
        yield MarkedImage(seen, letter_points(points, turns[count] % count, rng))
        turns[count] += 1
        made += 1


@dataclass(frozen=True, slots=True)
class DepthSets:
    """Question sets of the paper, and one of pointing alone.

    Attributes:
        generation: write the depth map.
        pointing: write the positions of points and how near they are.
        reasoning: name the nearest point, first directly, then as a chain.
    """

    generation: tuple[Record, ...]
    pointing: tuple[Record, ...]
    reasoning: tuple[Record, ...]


def write_depth_sets(
    pictures: Iterable[DepthImage],
    folder: str | Path,
    encode: Encode,
    *,
    asked_share: float = 0.1,
    counts: Sequence[int] = (2, 3, 4, 5),
    rule: MarkerRule = TRAINED,
    map_first: bool = False,
    rounds: int = 1,
    spelling: depth.Spelling = "digits",
    seed: int = 0,
) -> DepthSets:
    """Write images and the lists `generation`, `pointing` and `reasoning.json` into a folder.

    Args:
        pictures: images with depth.
        folder: output folder.
        encode: depth tokenizer.
        asked_share: share of images with questions, at least one; the paper uses 500 of 20,000.
        counts: numbers of points.
        rule: placement rule.
        map_first: add each question a third time, by way of the map but not of coordinates.
        rounds: questions per image, with different points.
        spelling: notation of points.
        seed: random seed.
    """
    if not 0 < asked_share <= 1:
        raise InputError(f"a share lies in 0 to 1, got {asked_share:g}")
    folder = Path(folder)
    generation: list[Record] = []
    chosen: list[DepthImage] = []
    few: list[DepthImage] = []
    for number, seen in enumerate(pictures):
        path = write_picture(folder, seen.name, seen.pixels)
        generation.append(depth.generation(path, encode(seen.values), spelling))
        if int((number + 1) * asked_share) > int(number * asked_share):
            chosen.append(seen)
        elif not chosen and len(few) < _FEW:
            few.append(seen)
    if not generation:
        raise InputError("there are no pictures to ask about")
    if not chosen:  # of few pictures, one is asked about
        chosen = [one.seen for one in islice(ask_points(few, counts, rule=rule, seed=seed), 1)]
    pointing: list[Record] = []
    reasoning: list[Record] = []
    turns = ((again, asked) for again in range(rounds)
             for asked in ask_points(chosen, counts, rule=rule, seed=seed + again))  # fmt: skip
    for again, asked in turns:
        name = f"{asked.seen.name}-{len(asked.points)}" + (f"-{again}" if again else "")
        path = write_picture(folder, name, asked.picture())
        tokens = encode(asked.seen.values)
        pointing.append(depth.pointing(path, asked.points, spelling))
        reasoning.append(depth.direct(path, asked.points))
        reasoning.append(depth.chain(path, asked.points, tokens, spelling))
        if map_first:
            reasoning.append(depth.map_first(path, asked.points, tokens, spelling))
    if not reasoning:
        _take_back(folder, generation)
        raise InputError("no picture has room for points that differ in depth")
    write_llava(folder / "generation.json", generation)
    write_llava(folder / "pointing.json", pointing)
    write_llava(folder / "reasoning.json", reasoning)
    return DepthSets(tuple(generation), tuple(pointing), tuple(reasoning))


def _take_back(folder: Path, records: Iterable[Record]) -> None:
    """Remove images without samples, and empty folders."""
    for record in records:
        (folder / record.image).unlink(missing_ok=True)
    with suppress(OSError):
        (folder / "images").rmdir()
        folder.rmdir()


def write_hard_blink(
    pictures: Sequence[DepthImage],
    folder: str | Path,
    *,
    counts: Sequence[int] = (3, 4, 5),
    rule: MarkerRule = HARD,
    seed: int = 0,
) -> list[MarkedImage]:
    """Write a HardBLINK benchmark: each image is asked about with every number of points.

    Writes `images/` and `questions.jsonl` with `question_id`, `image`, `text`, `answer` and `points` in
    every line.

    Args:
        pictures: images with depth.
        folder: output folder.
        counts: numbers of points.
        rule: placement rule.
        seed: random seed.
    """
    folder = Path(folder)
    everything: list[MarkedImage] = []
    rows = []
    for count in counts:
        for asked in ask_points(pictures, [count], rule=rule, seed=seed):
            name = f"{asked.seen.name}-{count}"
            path = write_picture(folder, name, asked.picture())
            places = {letter: [point.x, point.y] for letter, point in asked.points.items()}
            rows.append(
                {
                    "question_id": name,
                    "image": path,
                    "text": depth.NEAREST,
                    "answer": f"({asked.answer})",
                    "points": places,
                }
            )
            everything.append(asked)
    if not rows:
        raise InputError("no picture has room for points that differ in depth")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text(folder / "questions.jsonl", text)
    return everything


def write_picture(folder: Path, name: str, pixels: NDArray[np.uint8]) -> str:
    """Write an image and return its path relative to the folder."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=_QUALITY)
    write_bytes(folder / "images" / f"{name}.jpg", buffer.getvalue())
    return f"images/{name}.jpg"
