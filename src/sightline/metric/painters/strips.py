"""Where to paint, what, and at which size: the paper's choices (§3.2, and its code for the figures)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.types import BoolArray

#: Shorter side of what the painter sees, in [px], and what sides are multiples of.
SHORT_SIDE = 512
MULTIPLE = 8


@dataclass(frozen=True, slots=True)
class StripConfig:
    """How strips are drawn.

    Attributes:
        least: width of the narrowest strip, as a share of the picture's shorter side.
        most: of the widest.
        prompts: one is drawn for each painting.
    """

    least: float = 0.2
    most: float = 0.8
    prompts: tuple[str, ...] = ("a man", "a woman")

    def __post_init__(self) -> None:
        if not 0 < self.least < self.most <= 1:
            raise InputError(f"strips from {self.least:g} to {self.most:g} of the shorter side")
        if not self.prompts:
            raise InputError("nothing to paint: no prompt was given")


def draw_strip(
    height: int, width: int, config: StripConfig, rng: np.random.Generator
) -> tuple[BoolArray, str]:
    """Draw a full-height strip inside the picture, and what to paint there.

    Its width is a whole number of pixels in [least, most) of the shorter side, and no more than the
    picture leaves beside it: something must stay to compare the painting with the original.
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
