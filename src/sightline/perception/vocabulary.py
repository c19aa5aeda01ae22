"""Depth and pixel tokens beside the words of a language model.

Added to LLaVA-1.5's 32,000 words in the paper's order, they get the paper's numbers: 32000 for
`<DEPTH_START>`, 32001 for `<DEPTH_END>`, 32002 + k for code k; and for boxes 32000 + k for `<PIXEL_k>`,
or 32130 + k behind the depth tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sightline.errors import InputError
from sightline.perception.codebook.network import CODES
from sightline.perception.codebook.words import END, START, depth_word

#: Pixels along each side of the picture that boxes refer to, whatever its real size.
PIXELS = 336

#: Left, top, right and bottom, in pixels of a picture squashed to 336 × 336.
Box = tuple[int, int, int, int]

_PIXEL = re.compile(r"<PIXEL_([0-9]{1,9})>")


def pixel_word(place: int) -> str:
    """Return the token of a column or row."""
    return f"<PIXEL_{place}>"


#: In the order in which they are added.
DEPTH_WORDS = (START, END, *(depth_word(code) for code in range(CODES)))
PIXEL_WORDS = tuple(pixel_word(place) for place in range(PIXELS))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Numbers of the tokens in one tokenizer.

    Attributes:
        start: of `<DEPTH_START>`; None without depth tokens.
        end: of `<DEPTH_END>`.
        codes: (128,) of the codes.
        pixels: (336,) of columns and rows; empty without them.
    """

    start: int | None = None
    end: int | None = None
    codes: tuple[int, ...] = ()
    pixels: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, in the order of their words."""
        marks = () if self.start is None or self.end is None else (self.start, self.end)
        return (*marks, *self.codes, *self.pixels)


def extend(tokenizer: Any, *, depth: bool = True, pixels: bool = False) -> Vocabulary:
    """Add tokens to a tokenizer of Hugging Face; those it has already keep their numbers.

    The model's embedding has to grow with it: `model.resize_token_embeddings(len(tokenizer))`.

    Args:
        tokenizer: of transformers; changed.
        depth: add the tokens of depth maps.
        pixels: add those of boxes.
    """
    words = (*(DEPTH_WORDS if depth else ()), *(PIXEL_WORDS if pixels else ()))
    if not words:
        raise InputError("neither depth nor pixel tokens are wanted")
    have = tokenizer.get_vocab()
    # As special tokens they are never split, whatever stands beside them.
    tokenizer.add_tokens([word for word in words if word not in have], special_tokens=True)
    return find(tokenizer, depth=depth, pixels=pixels)


def find(tokenizer: Any, *, depth: bool = True, pixels: bool = False) -> Vocabulary:
    """Look the tokens up in a tokenizer.

    Raises:
        InputError: it lacks some.
    """
    have = tokenizer.get_vocab()
    words = (*(DEPTH_WORDS if depth else ()), *(PIXEL_WORDS if pixels else ()))
    missing = [word for word in words if word not in have]
    if missing:
        what = "none" if len(missing) == len(words) else f"{len(words) - len(missing)}"
        raise InputError(
            f"this model has {what} of the {len(words)} perception tokens ({missing[0]} is missing)",
            remedy="use a model trained with them, or train one",
        )
    start, end, *codes = (have[word] for word in DEPTH_WORDS) if depth else (None, None)
    places = tuple(have[word] for word in PIXEL_WORDS) if pixels else ()
    return Vocabulary(start, end, tuple(codes), places)


def box_to_text(box: Sequence[float], width: int, height: int) -> str:
    """Write a box as four tokens.

    Args:
        box: left, top, right and bottom in pixels of the picture.
        width: of the picture.
        height: of the picture.

    Raises:
        InputError: it is outside the picture, or has no size.
    """
    left, top, right, bottom = box
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise InputError(
            f"box {left:g},{top:g},{right:g},{bottom:g} does not lie in a picture of "
            f"{width} × {height} px"
        )
    sides = (left / width, top / height, right / width, bottom / height)
    return "".join(pixel_word(min(PIXELS - 1, int(side * PIXELS))) for side in sides)


def boxes_from_text(text: str) -> list[Box]:
    """Read all boxes of an answer: groups of four pixel tokens, with anything between the groups.

    Raises:
        InputError: a group has not four tokens, a number is too large, or a box has no size.
    """
    boxes = []
    for group in re.findall(r"(?:<PIXEL_[0-9]{1,9}>[ \t]*)+", text):
        numbers = [int(number) for number in _PIXEL.findall(group)]
        if len(numbers) != 4:
            raise InputError(f"a box has four pixel tokens, this one {len(numbers)}")
        if max(numbers) >= PIXELS:
            raise InputError(f"pixel tokens go from 0 to {PIXELS - 1}, got {max(numbers)}")
        left, top, right, bottom = numbers
        if left > right or top > bottom:
            raise InputError(f"box {left},{top},{right},{bottom} is inside out")
        boxes.append((left, top, right, bottom))
    return boxes


def in_picture(box: Box, width: int, height: int) -> tuple[float, float, float, float]:
    """Return a box in pixels of the picture itself; the far sides reach to the end of their pixel."""
    left, top, right, bottom = box
    x, y = width / PIXELS, height / PIXELS
    return left * x, top * y, (right + 1) * x, (bottom + 1) * y
