"""Inpainted people as evidence of scale (Metric from Human, §3.2).

People are painted into vertical strips of the image until there are enough of them, or until the
maximum number of attempts. A painting is accepted if more people are detected in it than in the
original, and if its relative depth can be aligned to the original's by a positive scale (as in the
paper's code). The paper's loop does not end if no human is ever painted; this one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import Alignment, align
from sightline.metric.evidence import DepthEvidence
from sightline.metric.people.evidence import people_evidence
from sightline.metric.people.types import PeopleFinder, Person
from sightline.types import BoolArray, Camera, DepthMap, FloatArray


class Painter(Protocol):
    """Inpainting model: fills masked parts of images according to a prompt."""

    #: Name and version of the model, for records.
    source: str

    def paint(
        self,
        pixels: NDArray[np.uint8],
        masks: Sequence[BoolArray],
        prompts: Sequence[str],
        seeds: Sequence[int],
    ) -> list[NDArray[np.uint8]]:
        """Return one painting per mask, prompt and seed, all of one image.

        Args:
            pixels: (H, W, 3) uint8 sRGB.
            masks: (H, W) bool each, True where to paint.
            prompts: what to paint, one per mask.
            seeds: one per mask; the same seed gives the same painting.

        Returns:
            (H, W, 3) uint8 each. Pixels outside the mask may change a little.
        """
        ...


#: Shorter side of the painter's input in [px], and the divisor of both sides.
SHORT_SIDE = 512
MULTIPLE = 8


@dataclass(frozen=True, slots=True)
class StripConfig:
    """Distribution of the painted strips.

    Attributes:
        least: smallest width, as a share of the shorter side of the image.
        most: largest width, likewise.
        prompts: one is drawn for each painting.
    """

    least: float = 0.2
    most: float = 0.8
    prompts: tuple[str, ...] = ("a man", "a woman")

    def __post_init__(self) -> None:
        if not 0 < self.least < self.most <= 1:
            raise InputError(
                f"strip widths must satisfy 0 < least < most <= 1, got {self.least:g}, {self.most:g}"
            )
        if not self.prompts:
            raise InputError("at least one prompt is needed")


def draw_strip(
    height: int, width: int, config: StripConfig, rng: np.random.Generator
) -> tuple[BoolArray, str]:
    """Draw a full-height strip inside the image, and a prompt.

    The width is uniform in [least, most) of the shorter side, and leaves at least two columns to
    compare the painting with the original.
    """
    side = min(height, width)
    low = max(1, round(config.least * side))
    wide = int(rng.integers(low, max(low + 1, round(config.most * side))))
    wide = min(wide, max(1, width - 2))
    left = int(rng.integers(0, width - wide + 1))
    mask = np.zeros((height, width), np.bool_)
    mask[:, left : left + wide] = True
    return mask, config.prompts[int(rng.integers(len(config.prompts)))]


def working_size(height: int, width: int, short_side: int = SHORT_SIDE) -> tuple[int, int]:
    """Return (height, width) with the shorter side at `short_side`, both rounded up to multiples of 8.

    >>> working_size(480, 640)
    (512, 688)
    """
    scale = short_side / min(height, width)
    tall, wide = (-(-round(side * scale) // MULTIPLE) * MULTIPLE for side in (height, width))
    return tall, wide


@dataclass(frozen=True, slots=True)
class PaintConfig:
    """Number of paintings.

    Attributes:
        wanted: accepted paintings (the paper's N: 32 in its main table, 4 in ablations).
        batch: paintings per call of the painter.
        attempts: maximum number of paintings, accepted or not.
        seed: random seed of strips, prompts and paintings.
        strips: distribution of the strips.
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
    """Accepted painting.

    Attributes:
        pixels: (H, W, 3) uint8.
        strip: (H, W) bool, painted pixels.
        prompt: of the painting.
        seed: of the painting.
        disparity: (H, W) its relative disparity, aligned to the original's.
        people: all people in it.
    """

    pixels: NDArray[np.uint8]
    strip: BoolArray
    prompt: str
    seed: int
    disparity: FloatArray
    people: tuple[Person, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Result of one attempt.

    Attributes:
        painting: if accepted.
        reason: why not, else empty.
    """

    painting: Painting | None
    reason: str = ""


def to_original(painted: NDArray[Any], original: NDArray[Any], strip: BoolArray) -> Alignment:
    """Align the relative disparity of a painting to the original's outside the strip.

    Least squares in closed form over pixels where both are positive (§3.3, Eq. 3). A scale that is not
    positive shows that the painting changed more than the strip; it is to be rejected.

    Args:
        painted: (H, W) relative disparity of the painting.
        original: (H, W) relative disparity of the original.
        strip: (H, W) True where the painter was allowed to paint.
    """
    mask = ~strip & (painted > 0) & (original > 0)
    if int(mask.sum()) < 2:
        raise InputError("the painted strip leaves nothing to compare with the original")
    return align(painted, original, mask)


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
        pixels: (H, W, 3) uint8 sRGB.
        camera: of the image.
        original: its relative disparity.
        painter: inpainting model.
        finder: detector of people, for paintings and original.
        infer: relative disparity of a painting.
        config: number of paintings.
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


#: Called after every painting with the numbers made and accepted.
OnPainting = Callable[[int, int], None]

#: A warning about more people than this names only the first.
_NAMED = 2


@dataclass(frozen=True, slots=True, eq=False)
class PaintedEvidence:
    """Evidence from painted people.

    Attributes:
        evidence: one piece per usable person.
        warnings: about people in paintings.
        made: number of paintings, accepted or not.
        wanted: requested number of accepted ones.
        accepted: prompt and seed of each accepted painting.
        refused: reasons of rejection with their counts.
    """

    evidence: tuple[DepthEvidence, ...]
    warnings: tuple[str, ...]
    made: int
    wanted: int
    accepted: tuple[tuple[str, int], ...]
    refused: dict[str, int]

    def __str__(self) -> str:
        """Describe how many were painted and accepted."""
        said = f"{self.made} painted, {len(self.accepted)} accepted"
        why = ", ".join(f"{reason} in {count}" for reason, count in self.refused.items())
        return f"{said} ({why})" if why else said

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the paintings as JSON-compatible values."""
        return {
            "made": self.made,
            "wanted": self.wanted,
            "accepted": [
                {"name": f"painting {number}", "prompt": prompt, "seed": seed}
                for number, (prompt, seed) in enumerate(self.accepted, 1)
            ],
            "refused": self.refused,
        }


def painted_evidence(
    pixels: NDArray[np.uint8],
    camera: Camera,
    relative: DepthMap,
    painter: Painter,
    finder: PeopleFinder,
    infer: Callable[[NDArray[np.uint8]], DepthMap],
    config: PaintConfig,
    on_painting: OnPainting | None = None,
) -> PaintedEvidence:
    """Paint people into an image and measure them.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
        camera: of the image.
        relative: its relative disparity.
        painter: inpainting model.
        finder: detector of people, for paintings and original.
        infer: relative disparity of a painting.
        config: number of paintings.
        on_painting: called after each painting.
    """
    evidence: list[DepthEvidence] = []
    cautions: list[str] = []
    attempts: list[Attempt] = []
    accepted: list[Painting] = []
    for attempt in paint_people(pixels, camera, relative, painter, finder, infer, config):
        attempts.append(attempt)
        if attempt.painting is not None:
            accepted.append(attempt.painting)
            found = people_evidence(
                attempt.painting.people,
                attempt.painting.disparity,
                camera,
                ground=relative.values,
                where=f" in painting {len(accepted)}",
            )
            evidence += found.evidence
            cautions += found.warnings
        if on_painting is not None:
            on_painting(len(attempts), len(accepted))
    return PaintedEvidence(
        tuple(evidence),
        tuple(_together(cautions)),
        len(attempts),
        config.wanted,
        tuple((one.prompt, one.seed) for one in accepted),
        dict(Counter(attempt.reason for attempt in attempts if attempt.painting is None)),
    )


def _together(cautions: Iterable[str]) -> list[str]:
    """Merge equal warnings: `person 1 in painting 1 and 7 others: cut off`."""
    names: dict[str, list[str]] = {}
    for line in cautions:
        name, _, what = line.partition(": ")
        names.setdefault(what, []).append(name)
    return [f"{_listed(whose)}: {what}" for what, whose in names.items()]


def _listed(names: list[str]) -> str:
    if len(names) <= _NAMED:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} others"
