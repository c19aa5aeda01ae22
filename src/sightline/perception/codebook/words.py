"""Codes as text: `<DEPTH_START>`, a hundred `<DEPTH_k>` in rows from the top left, `<DEPTH_END>`."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.perception.codebook.network import CODES, GRID, LENGTH

START, END = "<DEPTH_START>", "<DEPTH_END>"

_CODE = re.compile(r"<DEPTH_([0-9]{1,9})>")


def depth_word(code: int) -> str:
    """Return the token of a code."""
    return f"<DEPTH_{code}>"


def to_text(codes: NDArray[np.int64]) -> str:
    """(10, 10) codes → the 102 tokens, without spaces."""
    check(codes)
    return START + "".join(depth_word(int(code)) for code in codes.ravel()) + END


def from_text(text: str) -> NDArray[np.int64]:
    """Read the 102 tokens; words around them and spaces between them do not matter.

    Raises:
        InputError: there is not exactly one map in the text, or it is not whole.
    """
    begin, end = text.find(START), text.find(END)
    if begin < 0 or end < begin:
        raise InputError(f"there is no depth map in the text: nothing from {START} to {END}")
    if text.count(START) > 1 or text.count(END) > 1:
        raise InputError("there are several depth maps in the text", remedy="give one at a time")
    inside = text[begin + len(START) : end]
    strange = _CODE.sub("", inside).split()
    if strange:
        raise InputError(f"between the codes of a depth map stands {strange[0][:40]!r}")
    codes = np.array([int(code) for code in _CODE.findall(inside)], np.int64)
    if len(codes) != LENGTH:
        raise InputError(f"a depth map has {LENGTH} codes, this one {len(codes)}")
    codes = codes.reshape(GRID, GRID)
    check(codes)
    return codes


def check(codes: NDArray[np.int64]) -> None:
    """Refuse what are not (10, 10) codes."""
    if codes.shape != (GRID, GRID):
        raise InputError(f"a depth map has {GRID} × {GRID} codes, got {codes.shape}")
    if codes.min() < 0 or codes.max() >= CODES:
        worst = int(codes.max() if codes.max() >= CODES else codes.min())
        raise InputError(f"codes go from 0 to {CODES - 1}, got {worst}")
