"""Perception tokens: depth maps and boxes as text, and their indices in a tokenizer.

A depth map is `<DEPTH_START>`, 100 `<DEPTH_k>` in rows from the top left, and `<DEPTH_END>`. A box is
four `<PIXEL_k>`: left, top, right and bottom, in pixels of the image resized to 336 × 336.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

#: Side of the code grid, number of codes, and codes per map.
GRID, CODES = 10, 128
LENGTH = GRID * GRID

START, END = "<DEPTH_START>", "<DEPTH_END>"

_CODE = re.compile(r"<DEPTH_([0-9]{1,9})>")


def depth_word(code: int) -> str:
    """Return the token of a code."""
    return f"<DEPTH_{code}>"


def to_text(codes: NDArray[np.int64]) -> str:
    """Return the 102 tokens of (10, 10) codes, without spaces."""
    check(codes)
    return START + "".join(depth_word(int(code)) for code in codes.ravel()) + END


def from_text(text: str) -> NDArray[np.int64]:
    """Parse the 102 tokens of the only map in a text; text around and spaces between them are ignored.

    Raises:
        InputError: the text does not contain exactly one complete map.
    """
    begin, end = text.find(START), text.find(END)
    if begin < 0 or end < begin:
        raise InputError(f"there is no depth map in the text: nothing from {START} to {END}")
    if text.count(START) > 1 or text.count(END) > 1:
        raise InputError("there are several depth maps in the text", remedy="give one at a time")
    inside = text[begin + len(START) : end]
    strange = _CODE.sub("", inside).split()
    if strange:
        raise InputError(f"unexpected text between the codes of a depth map: {strange[0][:40]!r}")
    codes = np.array([int(code) for code in _CODE.findall(inside)], np.int64)
    if len(codes) != LENGTH:
        raise InputError(f"a depth map has {LENGTH} codes, this one {len(codes)}")
    codes = codes.reshape(GRID, GRID)
    check(codes)
    return codes


def check(codes: NDArray[np.int64]) -> None:
    """Check that codes are (10, 10) and in range."""
    if codes.shape != (GRID, GRID):
        raise InputError(f"a depth map has {GRID} × {GRID} codes, got {codes.shape}")
    if codes.min() < 0 or codes.max() >= CODES:
        worst = int(codes.max() if codes.max() >= CODES else codes.min())
        raise InputError(f"codes go from 0 to {CODES - 1}, got {worst}")


#: Pixels along each side of the image that boxes refer to.
PIXELS = 336

#: Left, top, right and bottom, in pixels of the image resized to 336 × 336.
Box = tuple[int, int, int, int]

_PIXEL = re.compile(r"<PIXEL_([0-9]{1,9})>")


def pixel_word(place: int) -> str:
    """Return the token of a column or row."""
    return f"<PIXEL_{place}>"


#: Tokens in the order in which they are added.
DEPTH_WORDS = (START, END, *(depth_word(code) for code in range(CODES)))
PIXEL_WORDS = tuple(pixel_word(place) for place in range(PIXELS))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Indices of the perception tokens in a tokenizer.

    Attributes:
        start: index of `<DEPTH_START>`; None without depth tokens.
        end: index of `<DEPTH_END>`.
        codes: (128,) indices of the codes.
        pixels: (336,) indices of columns and rows; empty without pixel tokens.
    """

    start: int | None = None
    end: int | None = None
    codes: tuple[int, ...] = ()
    pixels: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        """All indices, in the order of the tokens."""
        marks = () if self.start is None or self.end is None else (self.start, self.end)
        return (*marks, *self.codes, *self.pixels)


def extend(tokenizer: Any, *, depth: bool = True, pixels: bool = False) -> Vocabulary:
    """Add perception tokens to a Hugging Face tokenizer; existing ones keep their indices.

    The embedding of the model must be resized: `model.resize_token_embeddings(len(tokenizer))`.

    Args:
        tokenizer: tokenizer of transformers, modified in place.
        depth: add depth tokens.
        pixels: add pixel tokens.
    """
    words = (*(DEPTH_WORDS if depth else ()), *(PIXEL_WORDS if pixels else ()))
    if not words:
        raise InputError("neither depth nor pixel tokens are wanted")
    have = tokenizer.get_vocab()
    # Special tokens are never split, whatever surrounds them.
    tokenizer.add_tokens([word for word in words if word not in have], special_tokens=True)
    return find(tokenizer, depth=depth, pixels=pixels)


def find(tokenizer: Any, *, depth: bool = True, pixels: bool = False) -> Vocabulary:
    """Look up the perception tokens of a tokenizer.

    Raises:
        InputError: some are missing.
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
    """Return the four tokens of a box.

    Args:
        box: left, top, right and bottom in pixels of the image.
        width: width of the image, [px].
        height: height of the image, [px].

    Raises:
        InputError: the box lies outside of the image or is empty.
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
    """Parse all boxes of an answer: groups of four pixel tokens, with any text between the groups.

    Raises:
        InputError: a group does not have four tokens, an index is too large, or a box is empty.
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
            raise InputError(f"box {left},{top},{right},{bottom} has its sides swapped")
        boxes.append((left, top, right, bottom))
    return boxes


def in_picture(box: Box, width: int, height: int) -> tuple[float, float, float, float]:
    """Return a box in pixels of the original image; right and bottom include their last pixel."""
    left, top, right, bottom = box
    x, y = width / PIXELS, height / PIXELS
    return left * x, top * y, (right + 1) * x, (bottom + 1) * y
