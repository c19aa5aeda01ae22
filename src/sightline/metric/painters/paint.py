"""Paint people into a picture until there are enough of them, or until it was tried often enough.

A painting is accepted if more people are found in it than in the original, and if its relative depth
can be brought to the original's by a positive scale (Metric from Human, its code). The paper's loop has
no end when no human is ever painted; this one has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.head.paper import to_original
from sightline.metric.painters.strips import StripConfig, draw_strip
from sightline.metric.painters.types import Painter
from sightline.metric.people.types import PeopleFinder, Person
from sightline.types import BoolArray, Camera, DepthMap, FloatArray


@dataclass(frozen=True, slots=True)
class PaintConfig:
    """How many paintings to make.

    Attributes:
        wanted: accepted paintings (the paper's N: 32 in its main table, 4 in ablations).
        batch: that are painted together.
        attempts: at most so many paintings in all, accepted or not.
        seed: of strips, prompts and paintings.
        strips: where and what.
    """

    wanted: int = 32
    batch: int = 8
    attempts: int = 128
    seed: int = 0
    strips: StripConfig = field(default_factory=StripConfig)

    def __post_init__(self) -> None:
        if min(self.wanted, self.batch, self.attempts) < 1:
            raise InputError("paintings, batches and attempts must be at least 1 each")


@dataclass(frozen=True, slots=True, eq=False)
class Painting:
    """One accepted painting.

    Attributes:
        pixels: (H, W, 3) uint8.
        strip: (H, W) bool, where it was painted.
        prompt: what was asked for.
        seed: of the painting.
        disparity: (H, W) its relative disparity, brought to the original's.
        people: everybody in it.
    """

    pixels: NDArray[np.uint8]
    strip: BoolArray
    prompt: str
    seed: int
    disparity: FloatArray
    people: tuple[Person, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one attempt.

    Attributes:
        painting: if it was accepted.
        reason: why not, else empty.
    """

    painting: Painting | None
    reason: str = ""


def paint_people(
    pixels: NDArray[np.uint8],
    camera: Camera,
    original: DepthMap,
    painter: Painter,
    finder: PeopleFinder,
    infer: Callable[[NDArray[np.uint8]], DepthMap],
    config: PaintConfig,
) -> Iterator[Attempt]:
    """Yield attempts until `config.wanted` are accepted or `config.attempts` were made.

    Args:
        pixels: (H, W, 3) the picture.
        camera: of it.
        original: its relative disparity.
        painter: paints.
        finder: finds people in paintings and in the original.
        infer: relative disparity of a painting.
        config: how many.
    """
    height, width = pixels.shape[:2]
    before = len(finder.find(pixels, camera))
    accepted = made = 0
    while accepted < config.wanted and made < config.attempts:
        count = min(config.batch, config.attempts - made, config.wanted - accepted)
        numbers = range(made, made + count)
        drawn = [
            draw_strip(height, width, config.strips, np.random.default_rng([config.seed, k]))
            for k in numbers
        ]
        seeds = [int(np.random.default_rng([config.seed, k, 1]).integers(2**31)) for k in numbers]
        strips, prompts = [strip for strip, _ in drawn], [prompt for _, prompt in drawn]
        painted = painter.paint(pixels, strips, prompts, seeds)
        if len(painted) != count:
            raise InputError(f"{painter.source} painted {len(painted)} pictures, asked for {count}")
        made += count
        for image, strip, prompt, seed in zip(painted, strips, prompts, seeds, strict=True):
            attempt = _judge(image, strip, prompt, seed, before, camera, original, finder, infer)
            accepted += attempt.painting is not None
            yield attempt


def _judge(
    image: NDArray[np.uint8],
    strip: BoolArray,
    prompt: str,
    seed: int,
    before: int,
    camera: Camera,
    original: DepthMap,
    finder: PeopleFinder,
    infer: Callable[[NDArray[np.uint8]], DepthMap],
) -> Attempt:
    people = finder.find(image, camera)
    if len(people) <= before:
        return Attempt(None, "nobody was painted")
    disparity = infer(image).values
    line = to_original(disparity, original.values, strip)
    if line.scale <= 0:
        return Attempt(None, "its depth does not fit the original's")
    return Attempt(Painting(image, strip, prompt, seed, line(disparity), tuple(people)))
