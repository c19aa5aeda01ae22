"""How good a codebook is: error of decoded maps, codes in use, and whether nearer stays nearer.

The last is the paper's "upper bound": points are placed by HardBLINK's rule, the decoded map is read
where they are, and the answer is right if its greatest value is at the nearest point. A model that
writes these tokens cannot do better by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.intervals import wilson
from sightline.errors import InputError
from sightline.perception.codebook.maps import square
from sightline.perception.codebook.network import CODES
from sightline.perception.questions.markers import HARD, SIDE, MarkerRule, Point, nearest_letter
from sightline.perception.questions.sets import Seen, ask_points
from sightline.types import FloatArray

#: (320, 320) bytes → (10, 10) codes, and (10, 10) codes → (320, 320) in 0 to 1.
Encode = Callable[[NDArray[np.uint8]], NDArray[np.int64]]
Decode = Callable[[NDArray[np.int64]], FloatArray]

COUNTS = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many.

    Attributes:
        right: number of right answers.
        asked: number of questions.
    """

    right: int
    asked: int

    @property
    def value(self) -> float:
        """Between 0 and 1."""
        return self.right / self.asked if self.asked else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %, after Wilson."""
        return wilson(self.right, self.asked)


@dataclass(frozen=True, slots=True)
class CodebookScore:
    """What was found.

    Attributes:
        error: mean absolute difference of decoded maps, as a share of the range.
        alive: share of the codes that occur.
        pictures: how many there were.
        order: right answers by number of points.
    """

    error: float
    alive: float
    pictures: int
    order: Mapping[int, Share]


def score_codebook(
    encode: Encode,
    decode: Decode,
    pictures: Sequence[Seen],
    *,
    rule: MarkerRule = HARD,
    seeds: Sequence[int] = (0,),
) -> CodebookScore:
    """Measure a codebook on pictures whose depth is known.

    Args:
        encode: of the codebook.
        decode: of the codebook.
        pictures: none of which it was trained on.
        rule: that points obey.
        seeds: of their places; every picture is asked about once for each.
    """
    if not pictures:
        raise InputError("there is no picture to measure the codebook on")
    used: set[int] = set()
    errors = []
    decoded: dict[str, FloatArray] = {}
    for seen in pictures:
        shown = square(seen.values)
        codes = encode(shown)
        used.update(codes.ravel().tolist())
        decoded[seen.name] = decode(codes)
        errors.append(float(np.abs(decoded[seen.name] - shown / np.float32(255)).mean()))
    order = {}
    for count in COUNTS:
        asked = [
            one for seed in seeds for one in ask_points(pictures, [count], rule=rule, seed=seed)
        ]
        right = sum(reads_right(decoded[one.seen.name], one.points) for one in asked)
        order[count] = Share(right, len(asked))
    return CodebookScore(float(np.mean(errors)), len(used) / CODES, len(pictures), order)


def values_at(
    decoded: FloatArray, places: Mapping[str, tuple[float, float]], side: int = SIDE
) -> dict[str, float]:
    """Read a square map at places given in pixels of a picture squashed to `side`."""
    rows, columns = decoded.shape
    return {
        letter: float(decoded[int(y * rows / side), int(x * columns / side)])
        for letter, (x, y) in places.items()
    }


def reads_right(decoded: FloatArray, points: Mapping[str, Point]) -> bool:
    """Tell whether the map is greatest at the nearest point; two equal greatest values are wrong."""
    values = values_at(decoded, {letter: (p.x, p.y) for letter, p in points.items()})
    best = max(values.values())
    winners = [letter for letter, value in values.items() if value == best]
    return winners == [nearest_letter(points)]
