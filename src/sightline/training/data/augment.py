"""Augmentations: one random crop, flip and change of light and sensor per sample.

Pure functions of a pair and a generator; the same seed gives the same sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.training.data.appearance import vary_appearance
from sightline.training.data.pairs import Pair, resize_measured
from sightline.types import BoolArray, FloatArray

#: Largest difference of the roll of a pair from a multiple of 90°, [degrees].
MAX_TILT = 30.0


@dataclass(frozen=True, slots=True)
class AugmentConfig:
    """How strongly to vary a sample.

    Attributes:
        smallest_crop: least share of the largest possible crop, by side.
        stretch: the crop's aspect may differ from the output's by up to this factor.
        color: strength of brightness, contrast, saturation and white balance changes, 0 to 1.
        grayscale: chance to lose all color.
        blur: chance of a Gaussian blur.
        blur_sigma: its least and greatest standard deviation, in [px] of the sample.
        degrade: chance of each of noise and JPEG.
        roll: chance that the sample is rotated about the optical axis (`roll_pair`), so that what is
            lower in the picture is not always nearer.
        appearance: chance of another appearance: fog, water, night, rain, drawing or painting.
    """

    smallest_crop: float = 0.6
    stretch: float = 1.2
    color: float = 0.3
    grayscale: float = 0.05
    blur: float = 0.12
    blur_sigma: tuple[float, float] = (0.4, 1.5)
    degrade: float = 0.12
    roll: float = 0.0
    appearance: float = 0.0

    @classmethod
    def strong(cls) -> AugmentConfig:
        """Return the perturbation of a student's unlabeled pictures.

        V1 §3.2: strong color distortion and Gaussian blur force the student to look for more than
        its teacher saw. The paper gives no figures; these are common ones for color jitter.
        """
        return cls(color=0.5, grayscale=0.2, blur=0.5, blur_sigma=(0.1, 2.0), degrade=0.2)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One varied sample, all of one height and width.

    Attributes:
        pixels: (H, W, 3) uint8.
        disparity: (H, W) float32, larger is nearer, at most 1; 0 where unknown.
        known: (H, W) bool.
        weight: (H, W) float32 trust in the label, 0 to 1.
        zoom: a focal length in [px] of the pair is this many times as long in [px] of the sample.
    """

    pixels: NDArray[np.uint8]
    disparity: FloatArray
    known: BoolArray
    weight: FloatArray
    zoom: float = 1.0


def roll_pair(pair: Pair, rng: np.random.Generator) -> Pair:
    """Rotate a pair about the optical axis: by ±90° or 180°, or by an angle near one of these.

    A rolled camera would see exactly this, because depth along the axis does not change. Half of the
    pairs are rotated by a multiple of 90°, which loses no pixel; the others are cropped to the largest
    upright rectangle that lies inside the rotated picture.
    """
    turns = int(rng.integers(1, 4))
    layers: list[NDArray[Any]] = [
        np.rot90(layer, turns) for layer in (pair.pixels, pair.disparity, pair.known)
    ]
    weight = None if pair.weight is None else np.rot90(pair.weight, turns)
    angle = float(rng.uniform(-MAX_TILT, MAX_TILT))
    if rng.random() < 0.5:
        height, width = layers[1].shape
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1.0)
        rows, columns = inscribed_size(height, width, math.radians(abs(angle)))
        top, left = (height - rows) // 2, (width - columns) // 2
        window = (slice(top, top + rows), slice(left, left + columns))

        def rotate(layer: NDArray[Any], flags: int = cv2.INTER_NEAREST) -> NDArray[Any]:
            return cv2.warpAffine(layer, matrix, (width, height), flags=flags)[window]

        layers = [
            rotate(np.ascontiguousarray(layers[0]), cv2.INTER_LINEAR),
            rotate(layers[1].astype(np.float32)).astype(np.float16),
            rotate(layers[2].astype(np.uint8)) > 0,
        ]
        weight = None if weight is None else rotate(np.ascontiguousarray(weight))
    pixels, disparity, known = layers
    return replace(pair, pixels=pixels, disparity=disparity, known=known, weight=weight)


def inscribed_size(height: int, width: int, angle: float) -> tuple[int, int]:
    """Return (rows, columns) of the largest upright rectangle inside a rotated one.

    Args:
        height: side of the rotated rectangle, [px].
        width: its other side, [px].
        angle: angle of the rotation, 0 to π/4, [rad].

    >>> inscribed_size(100, 200, 0.0)
    (100, 200)
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    long, short = max(height, width), min(height, width)
    if short <= 2 * sine * cosine * long:  # two corners touch the long sides
        across, along = short / 2 / cosine, short / 2 / sine
        rows, columns = (across, along) if width >= height else (along, across)
    else:
        double = cosine * cosine - sine * sine
        columns = (width * cosine - height * sine) / double
        rows = (height * cosine - width * sine) / double
    return max(1, math.floor(rows)), max(1, math.floor(columns))


def crop_pair(
    pair: Pair, size: tuple[int, int], config: AugmentConfig, rng: np.random.Generator
) -> Sample:
    """Cut a random window and bring it to (height, width) = `size`; flip it half of the time."""
    height, width = pair.pixels.shape[:2]
    aspect = size[1] / size[0] * config.stretch ** rng.uniform(-1, 1)
    tall = min(height, width / aspect)
    share = rng.uniform(config.smallest_crop, 1.0)
    rows = max(min(2, height), min(height, round(tall * share)))
    columns = max(min(2, width), min(width, round(tall * share * aspect)))
    top = int(rng.integers(0, height - rows + 1))
    left = int(rng.integers(0, width - columns + 1))
    window = (slice(top, top + rows), slice(left, left + columns))
    shrinks = cv2.INTER_AREA if rows > size[0] else cv2.INTER_LINEAR
    pixels = cv2.resize(pair.pixels[window], size[::-1], interpolation=shrinks)
    disparity, known = _resize_label(pair.disparity[window], pair.known[window], size)
    weight = np.ones(size, np.float32)
    if pair.weight is not None:
        trust = pair.weight[window].astype(np.float32) / 255
        weight = np.asarray(cv2.resize(trust, size[::-1], interpolation=cv2.INTER_LINEAR))
    if rng.random() < 0.5:
        pixels, disparity, known, weight = (
            np.ascontiguousarray(array[:, ::-1]) for array in (pixels, disparity, known, weight)
        )
    zoom = math.sqrt(size[0] / rows * size[1] / columns)
    return Sample(np.asarray(pixels, np.uint8), disparity, known, weight, zoom)


def _resize_label(
    disparity: NDArray[np.float16], known: BoolArray, size: tuple[int, int]
) -> tuple[FloatArray, BoolArray]:
    """Interpolate a map without holes; keep the measured values of any other."""
    if not bool(known.all()):
        return resize_measured(disparity, known, size)
    values = disparity.astype(np.float32)
    whole = cv2.resize(values, size[::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(whole, np.float32), np.ones(size, np.bool_)


def vary_light(
    pixels: NDArray[np.uint8], config: AugmentConfig, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Change exposure, contrast, saturation, white balance and gamma of (H, W, 3) uint8."""
    c = config.color
    gain = np.exp(rng.uniform(-c, c)) * np.exp(rng.uniform(-c / 3, c / 3, 3))
    contrast, saturation = np.exp(rng.uniform(-c, c, 2))
    gamma = float(np.exp(rng.uniform(-c, c)))
    if rng.random() < config.grayscale:
        saturation = 0.0
    ramp = (np.linspace(0.0, 1.0, 256) ** gamma)[:, None] * gain
    ramp = (ramp - 0.45) * contrast + 0.45
    table = np.rint(np.clip(ramp * 255, 0, 255)).astype(np.uint8)[None]
    varied: Any = cv2.LUT(np.ascontiguousarray(pixels), table)
    gray = cv2.cvtColor(varied, cv2.COLOR_RGB2GRAY)[..., None]
    mixed = cv2.addWeighted(
        varied, float(saturation), np.repeat(gray, 3, 2), 1 - float(saturation), 0
    )
    return np.asarray(mixed, np.uint8)


def degrade_sensor(
    pixels: NDArray[np.uint8], config: AugmentConfig, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Blur with chance `config.blur`, add noise and compress with chance `config.degrade` each."""
    blur, noise, jpeg = rng.random(3) < (config.blur, config.degrade, config.degrade)
    if blur:
        sigma = rng.uniform(*config.blur_sigma)
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma), np.uint8)
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
) -> Sample:
    """Crop, flip and vary one pair; the result is (height, width) = `size`."""
    if config.roll > 0 and rng.random() < config.roll:
        pair = roll_pair(pair, rng)
    cut = crop_pair(pair, size, config, rng)
    pixels = cut.pixels
    if config.appearance > 0 and rng.random() < config.appearance:
        pixels = vary_appearance(pixels, cut.disparity, cut.known, rng)
    pixels = degrade_sensor(vary_light(pixels, config, rng), config, rng)
    return Sample(np.ascontiguousarray(pixels), cut.disparity, cut.known, cut.weight, cut.zoom)


def cutmix(size: Sequence[int], rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Choose the rectangle of a CutMix: (row, column, height, width) inside (height, width) = `size`.

    Its area is 2 to 40 % of the map and its height 0.3 to 3.3 times its width, unless that does not
    fit into the map. V1 §3.2 pastes half of the time; the caller decides when.
    """
    tall, wide = size
    area = rng.uniform(0.02, 0.4) * tall * wide
    ratio = math.exp(rng.uniform(math.log(0.3), -math.log(0.3)))
    height = min(tall, max(1, round(math.sqrt(area * ratio))))
    width = min(wide, max(1, round(math.sqrt(area / ratio))))
    row = int(rng.integers(0, tall - height + 1))
    column = int(rng.integers(0, wide - width + 1))
    return row, column, height, width
