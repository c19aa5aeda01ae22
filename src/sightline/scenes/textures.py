"""Procedural textures: pure functions of the place on a surface, without stored pictures.

Each takes (N,) coordinates u and v in [m] and a seed, and gives (N, 3) albedo, linear, 0 to 1.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]
Name = Literal["plaster", "checker", "brick", "planks", "cloth"]


def texture(name: Name, u: NDArray[Any], v: NDArray[Any], *, seed: int, tint: Values) -> Values:
    """(N, 3) albedo of the named texture; `tint` (3,) is its main colour."""
    x, y = np.asarray(u, np.float32), np.asarray(v, np.float32)
    shade = {
        "plaster": _plaster,
        "checker": _checker,
        "brick": _brick,
        "planks": _planks,
        "cloth": _cloth,
    }[name](x, y, seed)
    return np.clip(shade[:, None] * np.asarray(tint, np.float32), 0.0, 1.0).astype(np.float32)


def value_noise(x: Values, y: Values, seed: int) -> Values:
    """Smooth noise in 0–1 with features about one unit across (random values on a lattice, blended)."""
    column, row = np.floor(x), np.floor(y)
    fx, fy = x - column, y - row
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    i, j = column.astype(np.int64), row.astype(np.int64)
    top = _hash(i, j, seed) * (1 - fx) + _hash(i + 1, j, seed) * fx
    bottom = _hash(i, j + 1, seed) * (1 - fx) + _hash(i + 1, j + 1, seed) * fx
    return np.asarray(top * (1 - fy) + bottom * fy, np.float32)


def fractal_noise(x: Values, y: Values, seed: int, octaves: int = 4) -> Values:
    """Noise in 0–1 with detail at `octaves` scales, each half the size and half the height."""
    total = np.zeros_like(x)
    for octave in range(octaves):
        total += value_noise(x * 2**octave, y * 2**octave, seed + octave) * np.float32(
            0.5 ** (octave + 1)
        )
    return np.asarray(total / (1 - 0.5**octaves), np.float32)


def _hash(i: NDArray[np.int64], j: NDArray[np.int64], seed: int) -> Values:
    """Random number in 0–1 for a lattice point: a 32-bit integer mixer, the same on every machine."""
    mixed = i.astype(np.uint32) * np.uint32(0x85EBCA6B) ^ j.astype(np.uint32) * np.uint32(
        0xC2B2AE35
    )
    mixed ^= np.uint32((seed * 0x9E3779B1) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
    mixed ^= mixed >> np.uint32(16)
    return (mixed >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24)


def _plaster(x: Values, y: Values, seed: int) -> Values:
    return 0.78 + 0.3 * (fractal_noise(x * 3, y * 3, seed, 5) - 0.5)


def _checker(x: Values, y: Values, seed: int) -> Values:
    """Tiles of half a metre, each a little different, with grout between."""
    i, j = np.floor(x * 2), np.floor(y * 2)
    light = ((i + j) % 2).astype(np.float32)
    tile = 0.35 + 0.5 * light + 0.1 * (_hash(i.astype(np.int64), j.astype(np.int64), seed) - 0.5)
    return _joint(x * 2, y * 2, 0.02, tile) * (0.85 + 0.3 * fractal_noise(x * 4, y * 4, seed + 9))


def _brick(x: Values, y: Values, seed: int) -> Values:
    """Courses of 8 cm, bricks of 25 cm, every other course shifted by half a brick."""
    row = np.floor(y / 0.08)
    along = x / 0.25 + 0.5 * (row % 2)
    tone = 0.45 + 0.4 * _hash(np.floor(along).astype(np.int64), row.astype(np.int64), seed)
    return _joint(along, y / 0.08, 0.09, tone) * (
        0.8 + 0.4 * fractal_noise(x * 12, y * 12, seed + 5, 3)
    )


def _planks(x: Values, y: Values, seed: int) -> Values:
    """Boards of 15 cm with grain along them."""
    board = np.floor(y / 0.15)
    tone = 0.5 + 0.35 * _hash(board.astype(np.int64), 0 * board.astype(np.int64), seed)
    grain = fractal_noise(x * 1.5 + board * 7, y * 40, seed + 3, 3)
    return _joint(0 * x + np.float32(0.5), y / 0.15, 0.04, tone) * (0.75 + 0.5 * grain)


def _cloth(x: Values, y: Values, seed: int) -> Values:
    """Fine stripes both ways, as of a weave, over soft folds."""
    weave = 0.06 * (np.sin(x * 90) + np.sin(y * 90))
    return np.asarray(0.6 + weave + 0.5 * (fractal_noise(x * 2, y * 2, seed, 3) - 0.5), np.float32)


def _joint(x: Values, y: Values, width: float, tone: Values) -> Values:
    """`tone` with light joints of relative `width` where x or y come near a whole number."""
    gap_x, gap_y = np.abs(x - np.round(x)), np.abs(y - np.round(y))
    joint = (gap_x < width / 2) | (gap_y < width)
    return np.where(joint, np.float32(0.7), tone)
