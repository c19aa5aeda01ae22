"""Change the appearance of a sample: fog, water, night, rain, drawing, painting. Depth is unchanged.

Fog and water depend on the depth of each pixel and are only used for maps without holes; the others
change colors alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.types import BoolArray, FloatArray

Pixels = NDArray[np.uint8]
Random = np.random.Generator

#: Added to disparity (nearest pixel 1) before it is inverted: the farthest is 1/this times as far.
_FARTHEST = 0.02


def vary_appearance(pixels: Pixels, disparity: FloatArray, known: BoolArray, rng: Random) -> Pixels:
    """Apply one random appearance to a sample.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        disparity: (H, W), larger is nearer, at most 1.
        known: (H, W) bool.
        rng: random generator.
    """
    dense: tuple[Callable[[Pixels, FloatArray, Random], Pixels], ...] = (fog, water)
    plain: tuple[Callable[[Pixels, Random], Pixels], ...] = (night, rain, drawing, painting)
    number = int(rng.integers(len(plain) + (len(dense) if bool(known.all()) else 0)))
    if number < len(plain):
        return plain[number](pixels, rng)
    return dense[number - len(plain)](pixels, disparity, rng)


def fog(pixels: Pixels, disparity: FloatArray, rng: Random) -> Pixels:
    """Add fog: far pixels turn gray."""
    color = rng.uniform(150, 235) * rng.uniform(0.95, 1.05, 3)
    thickness = np.full(3, rng.uniform(0.5, 3.0))
    return _through(pixels, disparity, thickness, color)


def water(pixels: Pixels, disparity: FloatArray, rng: Random) -> Pixels:
    """Absorb light as water does, red first, and blur a little."""
    color = np.array([rng.uniform(0, 30), rng.uniform(50, 130), rng.uniform(70, 150)])
    thickness = rng.uniform(0.3, 1.5) * np.array(
        [rng.uniform(2.0, 4.0), 1.0, rng.uniform(0.7, 1.1)]
    )
    murky = _through(pixels, disparity, thickness, color)
    # The light itself passes through water before it reaches an object.
    murky = np.clip(murky * np.array([rng.uniform(0.3, 0.8), 0.9, 1.0]), 0, 255).astype(np.uint8)
    return np.asarray(cv2.GaussianBlur(murky, (0, 0), rng.uniform(0.3, 1.2)), np.uint8)


def _through(
    pixels: Pixels, disparity: FloatArray, thickness: NDArray[Any], color: NDArray[Any]
) -> Pixels:
    """Look through a medium: `thickness` per channel over the median distance of the picture."""
    distance = 1 / (np.maximum(disparity, 0) + _FARTHEST)
    distance = distance / np.median(distance)
    passes = np.exp(-distance[..., None] * thickness)
    return np.clip(pixels * passes + color * (1 - passes), 0, 255).astype(np.uint8)


def night(pixels: Pixels, rng: Random) -> Pixels:
    """Darken to a few percent, tint, add sensor noise, and amplify."""
    light = (pixels / 255.0) ** rng.uniform(1.5, 3.0)
    light = light * rng.uniform(0.05, 0.3) * np.array([0.8, 0.9, 1.0]) ** rng.uniform(0, 2)
    grain = rng.normal(0, rng.uniform(0.002, 0.012), light.shape)
    gain = rng.uniform(2.5, 6.0)
    return np.clip((light + grain) * gain * 255, 0, 255).astype(np.uint8)


def rain(pixels: Pixels, rng: Random) -> Pixels:
    """Reduce contrast and add bright streaks along one direction."""
    height, width = pixels.shape[:2]
    drops = (rng.random((height, width)) < rng.uniform(0.002, 0.01)).astype(np.float32)
    length = int(rng.integers(7, 23)) | 1
    kernel = np.zeros((length, length), np.float32)
    middle, lean = length // 2, rng.uniform(-0.4, 0.4)
    for step in range(-middle, middle + 1):
        kernel[middle + step, middle + round(lean * step)] = 1.0
    streaks = cv2.filter2D(drops, -1, kernel / 2)[..., None]
    dull = (pixels - 128.0) * rng.uniform(0.5, 0.9) + 128
    return np.clip(dull + np.minimum(streaks, 1) * rng.uniform(30, 110), 0, 255).astype(np.uint8)


def drawing(pixels: Pixels, rng: Random) -> Pixels:
    """Convert to a pencil drawing on white or chalk on black; some keep a little color."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    around = cv2.GaussianBlur(gray, (0, 0), rng.uniform(1.0, 4.0))
    lines = np.clip(gray / np.maximum(around, 1), 0, 1) ** rng.uniform(1.0, 4.0)
    if rng.random() < 0.25:
        lines = 1 - lines
    keep = rng.uniform(0, 0.6) if rng.random() < 0.4 else 0.0
    paper = (1 - keep) * 255 + keep * pixels
    return np.clip(lines[..., None] * paper, 0, 255).astype(np.uint8)


def painting(pixels: Pixels, rng: Random) -> Pixels:
    """Reduce to smooth patches of few colors, some with dark outlines, as in posters and cartoons."""
    size = int(rng.integers(1, 4)) * 2 + 1
    patches = cv2.medianBlur(pixels, size)
    steps = int(rng.integers(5, 13))
    flat = np.rint(patches / 255 * steps) / steps * 255
    if rng.random() < 0.5:
        gray = cv2.medianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 5)
        outline = cv2.adaptiveThreshold(
            gray, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 9, float(rng.uniform(3, 8))
        )
        flat = flat * outline[..., None]
    return np.clip(flat, 0, 255).astype(np.uint8)
