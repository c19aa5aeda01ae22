"""Noise and anti-aliased edges for procedural textures (numba kernels of scalars).

`width` is always the footprint: the extent of the surface that a pixel covers, in the units of the
coordinates. Detail finer than that fades to its mean instead of aliasing.
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
def _hash_to_unit(key: Any) -> float:
    """Hash a 64-bit key to a number in 0–1: two multiply–shift rounds, identical on every machine."""
    key = (key ^ (key >> _HALF)) * _MIX
    key = (key ^ (key >> _HALF)) * _MIX
    return float((key ^ (key >> _HALF)) >> np.uint64(40)) * _TO_UNIT


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def lattice_value(i: Any, j: Any, seed: Any) -> float:
    """Return a random number in 0–1 for an integer lattice point (i, j) and a seed."""
    return _hash_to_unit(
        np.uint64(np.int64(i)) * _ALONG
        + np.uint64(np.int64(j)) * _ACROSS
        + np.uint64(np.int64(seed)) * _SEED
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def value_noise(x: float, y: float, seed: Any) -> float:
    """Return value noise in 0–1 with features about one unit across: blended lattice values."""
    column, row = np.floor(x), np.floor(y)
    fx, fy = x - column, y - row
    # Smoothstep weights (Perlin, 1985): zero slope at lattice points, so no creases show.
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    key = (
        np.uint64(np.int64(column)) * _ALONG
        + np.uint64(np.int64(row)) * _ACROSS
        + np.uint64(np.int64(seed)) * _SEED
    )
    below = key + _ACROSS
    top = _hash_to_unit(key)
    top += fx * (_hash_to_unit(key + _ALONG) - top)
    bottom = _hash_to_unit(below)
    bottom += fx * (_hash_to_unit(below + _ALONG) - bottom)
    return top + fy * (bottom - top)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fractal_noise(x: float, y: float, seed: Any, octaves: int, width: float) -> float:
    """Return fractal noise in 0–1: `octaves` of value noise, each half the size and half the height.

    Each octave is rotated against the last, so no lattice shows; octaves finer than twice the
    footprint contribute their mean.
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
def smoothstep(low: float, high: float, x: float) -> float:
    """Return 0 below `low`, 1 above `high`, and an S-curve between."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def detail_weight(width: float) -> float:
    """Return how well cells of size one are resolved: 1 if much larger than a pixel, 0 if smaller."""
    return min(max(1.6 - 2.0 * width, 0.0), 1.0)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def line_coverage(x: float, half: float, width: float) -> float:
    """Return the share of a pixel within `half` of an integer: lines one unit apart."""
    away = abs(x - np.floor(x + 0.5))
    sharp = min(max((half - away) / max(width, 1e-6) + 0.5, 0.0), 1.0)
    keep = detail_weight(width)
    return keep * sharp + (1.0 - keep) * 2.0 * half


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def band_coverage(x: float, low: float, high: float, width: float) -> float:
    """Return the share of a pixel between `low` and `high`, both within the unit cell of x."""
    t = x - np.floor(x)
    soft = max(width, 1e-6)
    rise = min(max((t - low) / soft + 0.5, 0.0), 1.0)
    fall = min(max((high - t) / soft + 0.5, 0.0), 1.0)
    keep = detail_weight(width)
    return keep * rise * fall + (1.0 - keep) * (high - low)
