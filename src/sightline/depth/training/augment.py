"""Augmentations: one random crop, flip and change of light and sensor per sample.

Pure functions of a pair and a generator; the same seed gives the same sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.depth.training.items import Pair


@dataclass(frozen=True, slots=True)
class AugmentConfig:
    """How strongly to vary a sample.

    Attributes:
        smallest_crop: least share of the largest possible crop, by side.
        stretch: the crop's aspect may differ from the output's by up to this factor.
        colour: strength of brightness, contrast, saturation and white balance changes, 0 to 1.
        degrade: chance of each of blur, noise and JPEG.
    """

    smallest_crop: float = 0.6
    stretch: float = 1.2
    colour: float = 0.3
    degrade: float = 0.12


def crop_pair(
    pair: Pair, size: tuple[int, int], config: AugmentConfig, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_]]:
    """Cut a random window and bring it to (height, width) = `size`; flip it half of the time."""
    height, width = pair.pixels.shape[:2]
    aspect = size[1] / size[0] * config.stretch ** rng.uniform(-1, 1)
    tall = min(height, width / aspect)
    share = rng.uniform(config.smallest_crop, 1.0)
    rows = max(2, min(height, round(tall * share)))
    columns = max(2, min(width, round(tall * share * aspect)))
    top = int(rng.integers(0, height - rows + 1))
    left = int(rng.integers(0, width - columns + 1))
    window = (slice(top, top + rows), slice(left, left + columns))
    out = (size[1], size[0])
    shrinks = rows > size[0]
    pixels = cv2.resize(
        pair.pixels[window], out, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    )
    disparity = pair.disparity[window].astype(np.float32)
    known = pair.known[window]
    if bool(known.all()):
        disparity = cv2.resize(disparity, out, interpolation=cv2.INTER_LINEAR)
        known = np.ones(size, np.bool_)
    else:
        disparity = cv2.resize(disparity, out, interpolation=cv2.INTER_NEAREST_EXACT)
        mask = known.astype(np.uint8)
        known = cv2.resize(mask, out, interpolation=cv2.INTER_NEAREST_EXACT) > 0
    if rng.random() < 0.5:
        pixels, disparity, known = pixels[:, ::-1], disparity[:, ::-1], known[:, ::-1]
    return pixels, disparity, known


def vary_light(
    pixels: NDArray[np.uint8], config: AugmentConfig, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Change exposure, contrast, saturation, white balance and gamma of (H, W, 3) uint8."""
    c = config.colour
    gain = np.exp(rng.uniform(-c, c)) * np.exp(rng.uniform(-c / 3, c / 3, 3))
    contrast, saturation = np.exp(rng.uniform(-c, c, 2))
    gamma = float(np.exp(rng.uniform(-c, c)))
    if rng.random() < 0.05:
        saturation = 0.0
    ramp = (np.linspace(0.0, 1.0, 256) ** gamma)[:, None] * gain
    ramp = (ramp - 0.45) * contrast + 0.45
    table = np.clip(ramp * 255, 0, 255).astype(np.uint8)[None]
    varied: Any = cv2.LUT(np.ascontiguousarray(pixels), table)
    grey = cv2.cvtColor(varied, cv2.COLOR_RGB2GRAY)[..., None]
    mixed = cv2.addWeighted(
        varied, float(saturation), np.repeat(grey, 3, 2), 1 - float(saturation), 0
    )
    return np.asarray(mixed, np.uint8)


def degrade_sensor(
    pixels: NDArray[np.uint8], config: AugmentConfig, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Blur, add noise, compress: each with chance `config.degrade`."""
    blur, noise, jpeg = rng.random(3) < config.degrade
    if blur:
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), rng.uniform(0.4, 1.5)), np.uint8)
    if noise:
        grain = rng.standard_normal(pixels.shape, np.float32) * np.float32(rng.uniform(2, 10))
        pixels = np.clip(pixels + grain, 0, 255).astype(np.uint8)
    if jpeg:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))]
        _, data = cv2.imencode(".jpg", pixels, quality)
        pixels = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return pixels


def make_sample(
    pair: Pair, size: tuple[int, int], config: AugmentConfig, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_]]:
    """Return (H, W, 3) uint8 pixels, (H, W) disparity and (H, W) mask of one varied sample."""
    pixels, disparity, known = crop_pair(pair, size, config, rng)
    pixels = degrade_sensor(vary_light(pixels, config, rng), config, rng)
    return (
        np.ascontiguousarray(pixels),
        np.ascontiguousarray(disparity),
        np.ascontiguousarray(known),
    )
