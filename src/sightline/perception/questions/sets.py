"""Sets of questions about depth, from any pictures whose depth is known: for training and for testing.

A set is a folder: `images/` with pictures of 336 × 336 px, and lists of samples that LLaVA's trainers
read. The same pictures, seed and rule give the same bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.depth.estimator import DepthEstimator
from sightline.depth.training.items import is_held_out
from sightline.depth.training.pairs import Pair
from sightline.errors import InputError
from sightline.files.atomic import write_bytes, write_text
from sightline.files.pictures import PICTURE_SUFFIXES, read_picture
from sightline.perception.codebook.maps import bytes_of, to_bytes
from sightline.perception.questions import depth
from sightline.perception.questions.markers import (
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
from sightline.types import DepthMap

#: Makes the 102 tokens of a (336, 336) map of bytes, bright is near.
Encode = Callable[[NDArray[np.uint8]], str]

_QUALITY = 95
#: Pictures among which one is looked for that can be asked about, where a share of them is none.
_FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A picture and its depth, squashed to 336 × 336.

    Attributes:
        name: of its files, without a suffix.
        pixels: (336, 336, 3) sRGB.
        values: (336, 336) disparity, 0 is the farthest place of the picture, 255 the nearest.
        known: (336, 336) where `values` are known.
    """

    name: str
    pixels: NDArray[np.uint8]
    values: NDArray[np.uint8]
    known: NDArray[np.bool_]


def see(name: str, pixels: NDArray[np.uint8], depth_map: DepthMap) -> Seen:
    """Squash a picture and its depth; the map may be of another size than the picture."""
    values = bytes_of(depth_map)
    known = squash(depth_map.valid.astype(np.uint8)) > 0
    return Seen(name, squash(pixels), squash(values), known)


def seen_of_pair(name: str, pair: Pair) -> Seen:
    """Squash a training pair of depth networks: measured, rendered, or labelled by a teacher."""
    values = to_bytes(pair.disparity.astype(np.float32), pair.known)
    known = squash(pair.known.astype(np.uint8)) > 0
    return Seen(name, squash(pair.pixels), squash(values), known)


def held_out(photos: str | Path, estimator: DepthEstimator) -> Iterator[Seen]:
    """Look at the photographs of a folder that no training has seen, by a depth model's own maps."""
    paths = sorted(p for p in Path(photos).rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
    for number, path in enumerate(path for path in paths if is_held_out(path.name)):
        picture = read_picture(path)
        yield see(f"photo{number:03d}", picture.pixels, estimator.infer(picture))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A picture with marked points.

    Attributes:
        seen: the picture without them.
        points: by letter.
    """

    seen: Seen
    points: Mapping[str, Point]

    @property
    def answer(self) -> str:
        """Letter of the nearest point."""
        return nearest_letter(self.points)

    def picture(self) -> NDArray[np.uint8]:
        """Return the picture with the points drawn in."""
        places = {letter: (point.x, point.y) for letter, point in self.points.items()}
        return draw_points(self.seen.pixels, places)


def ask_points(
    pictures: Iterable[Seen],
    counts: Sequence[int],
    *,
    rule: MarkerRule = TRAINED,
    seed: int = 0,
) -> Iterator[Asked]:
    """Ask about points in every picture that has room for them.

    Numbers of points take turns, and so do the letters of the right answer, so both are balanced.

    Args:
        pictures: to ask about.
        counts: of points, one of them for each picture.
        rule: that points obey.
        seed: of places and letters.
    """
    turns = dict.fromkeys(counts, 0)
    made = 0
    for seen in pictures:
        count = counts[made % len(counts)]
        rng = np.random.default_rng([seed, *seen.name.encode()])
        points = place_points(seen.values, count, rng, rule, known=seen.known & (seen.values > 0))
        if points is None:
            continue
        yield Asked(seen, letter_points(points, turns[count] % count, rng))
        turns[count] += 1
        made += 1


@dataclass(frozen=True, slots=True)
class DepthSets:
    """The sub-data-sets of the paper, and one of pointing alone.

    Attributes:
        generation: write the map down.
        pointing: say where points are and how near.
        reasoning: questions about points, each directly and right after it as a chain.
    """

    generation: tuple[Record, ...]
    pointing: tuple[Record, ...]
    reasoning: tuple[Record, ...]


def write_depth_sets(
    pictures: Iterable[Seen],
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
    """Write pictures and the lists `generation`, `pointing` and `reasoning.json` into a folder.

    Args:
        pictures: with their depth.
        folder: to write to.
        encode: makes depth tokens.
        asked_share: of the pictures that questions are asked about, too, at least one; the paper asks
            about 500 of 20,000.
        counts: of points.
        rule: that they obey.
        map_first: ask each question a third time, by way of the map but not of coordinates.
        rounds: how often a picture is asked about, with other points each time.
        spelling: how places are written.
        seed: of everything drawn.
    """
    if not 0 < asked_share <= 1:
        raise InputError(f"a share lies in 0 to 1, got {asked_share:g}")
    folder = Path(folder)
    generation: list[Record] = []
    chosen: list[Seen] = []
    few: list[Seen] = []
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
    """Remove pictures that nothing came of, and the folders if they are empty then."""
    for record in records:
        (folder / record.image).unlink(missing_ok=True)
    with suppress(OSError):
        (folder / "images").rmdir()
        folder.rmdir()


def write_hard_blink(
    pictures: Sequence[Seen],
    folder: str | Path,
    *,
    counts: Sequence[int] = (3, 4, 5),
    rule: MarkerRule = HARD,
    seed: int = 0,
) -> list[Asked]:
    """Make a HardBLINK of any pictures: each is asked about with every number of points.

    Writes `images/` and `questions.jsonl`, a question in every line: `question_id`, `image`, `text`,
    `answer` and `points`, where the letters are.
    """
    folder = Path(folder)
    everything: list[Asked] = []
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
    """Write a picture; return its path from the folder."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=_QUALITY)
    write_bytes(folder / "images" / f"{name}.jpg", buffer.getvalue())
    return f"images/{name}.jpg"
