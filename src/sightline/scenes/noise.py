"""Smooth randomness over a surface, and edges that do not alias: what textures are made of.

All are numba kernels of plain numbers. `width` is always the footprint: how much of the surface a pixel
covers, in the same unit as the coordinates. Detail finer than that fades to its mean instead of
sparkling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

#: Odd 64-bit constants with well-mixed bits (multiples of the golden ratio and of √2, √3 …).
_ALONG = np.uint64(0x9E3779B97F4A7C15)
_ACROSS = np.uint64(0xC2B2AE3D27D4EB4F)
_SEED = np.uint64(0x165667B19E3779F9)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_TO_UNIT = 1.0 / (1 << 24)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _mixed(key: Any) -> float:
    """64-bit key to a number in 0–1: two rounds of a multiply–shift mixer, the same everywhere."""
    key = (key ^ (key >> _HALF)) * _MIX
    key = (key ^ (key >> _HALF)) * _MIX
    return float((key ^ (key >> _HALF)) >> np.uint64(40)) * _TO_UNIT


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def lattice(i: Any, j: Any, seed: Any) -> float:
    """Random number in 0–1 for a lattice point (whole i, j) and a seed."""
    return _mixed(
        np.uint64(np.int64(i)) * _ALONG
        + np.uint64(np.int64(j)) * _ACROSS
        + np.uint64(np.int64(seed)) * _SEED
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def value_noise(x: float, y: float, seed: Any) -> float:
    """Smooth noise in 0–1 with features about one unit across: lattice values, blended."""
    column, row = np.floor(x), np.floor(y)
    fx, fy = x - column, y - row
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    key = (
        np.uint64(np.int64(column)) * _ALONG
        + np.uint64(np.int64(row)) * _ACROSS
        + np.uint64(np.int64(seed)) * _SEED
    )
    below = key + _ACROSS
    top = _mixed(key)
    top += fx * (_mixed(key + _ALONG) - top)
    bottom = _mixed(below)
    bottom += fx * (_mixed(below + _ALONG) - bottom)
    return top + fy * (bottom - top)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fractal_noise(x: float, y: float, seed: Any, octaves: int, width: float) -> float:
    """Noise in 0–1 with detail at `octaves` scales, each half the size and half the height.

    Each octave is turned against the last, so that no lattice shows; octaves finer than twice the
    footprint are left out, at their mean.
    """
    total, height, whole = 0.0, 0.5, 0.0
    for octave in range(octaves):
        fade = 2.0 - 4.0 * width
        if fade <= 0.0:
            total += height * (2.0 - 0.5 ** (octaves - octave - 1)) * 0.5
            whole += height * (2.0 - 0.5 ** (octaves - octave - 1))
            break
        total += height * (0.5 + min(fade, 1.0) * (value_noise(x, y, seed + octave) - 0.5))
        whole += height
        x, y = 1.6 * x + 1.2 * y, 1.6 * y - 1.2 * x
        height *= 0.5
        width *= 2.0
    return total / whole


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def smooth(low: float, high: float, x: float) -> float:
    """0 below `low`, 1 above `high`, an S-curve between."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def resolved(width: float) -> float:
    """How far cells of size one can be told apart: 1 when much larger than a pixel, 0 when smaller."""
    return min(max(1.6 - 2.0 * width, 0.0), 1.0)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def joint(x: float, half: float, width: float) -> float:
    """Share of a pixel that lies within `half` of a whole number: lines one unit apart."""
    away = abs(x - np.floor(x + 0.5))
    sharp = min(max((half - away) / max(width, 1e-6) + 0.5, 0.0), 1.0)
    keep = resolved(width)
    return keep * sharp + (1.0 - keep) * 2.0 * half


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def band(x: float, low: float, high: float, width: float) -> float:
    """Share of a pixel between `low` and `high`, both within the unit cell of x."""
    t = x - np.floor(x)
    soft = max(width, 1e-6)
    rise = min(max((t - low) / soft + 0.5, 0.0), 1.0)
    fall = min(max((high - t) / soft + 0.5, 0.0), 1.0)
    keep = resolved(width)
    return keep * rise * fall + (1.0 - keep) * (high - low)
