"""Simulate a camera sensor: blur, vignetting, noise, white balance, tone curve, sharpening, JPEG.

No effect moves a pixel: blur is symmetric, color fringes are a separate blur per channel, and there is
no distortion. The depth of a rendered picture therefore stays valid. Effects are applied in the order
of a camera: lens, exposure and noise, white balance and tones, sharpening, compression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.pixels import linear_to_srgb
from sightline.scenes.rendering.photo_textures import SRGB_TO_LINEAR
from sightline.types import FloatArray

#: Entries of the tone curve from linear light to 8-bit codes.
_STEPS = 1024


@dataclass(frozen=True, slots=True)
class SensorConfig:
    """Strength of each sensor effect; 0 disables it.

    Attributes:
        exposure: spread (one sigma) of the exposure in stops.
        warmth: spread of the white balance: red against blue, as a share.
        saturation: spread of the colorfulness, as a share.
        contrast: spread of the steepness of the tone curve, as a share.
        vignette: greatest loss of light in the corners, as a share.
        defocus: greatest blur in [px] (one sigma), at a picture of 256 × 256.
        motion: greatest length of motion blur in [px], at 256 × 256.
        motion_chance: share of pictures with motion blur.
        fringe: greatest extra blur of red and blue in [px].
        noise: greatest noise at mid gray, as a share of white.
        sharpen: greatest strength of the camera's own sharpening.
        jpeg: lowest quality, up to 98; 100 leaves compression out.
    """

    exposure: float = 0.35
    warmth: float = 0.08
    saturation: float = 0.12
    contrast: float = 0.15
    vignette: float = 0.35
    defocus: float = 0.8
    motion: float = 4.0
    motion_chance: float = 0.1
    fringe: float = 0.5
    noise: float = 0.04
    sharpen: float = 0.8
    jpeg: int = 60

    def __post_init__(self) -> None:
        strengths = {name: getattr(self, name) for name in self.__slots__ if name != "jpeg"}
        for name, value in strengths.items():
            if not 0 <= value < np.inf:
                raise InputError(f"sensor effect {name} must not be negative, got {value:g}")
        if not 1 <= self.jpeg <= 100:
            raise InputError(f"JPEG quality must lie in 1–100, got {self.jpeg}")

    @classmethod
    def perfect(cls) -> SensorConfig:
        """Return a configuration that disables every effect."""
        return cls(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100)


def simulate_sensor(
    pixels: NDArray[Any], rng: np.random.Generator, config: SensorConfig | None = None
) -> NDArray[np.uint8]:
    """Apply sensor effects to a picture.

    Args:
        pixels: (H, W, 3) uint8 sRGB, or floating-point linear light with 1 for white.
        rng: random generator; the same state gives the same bytes.
        config: strengths of the effects; None for those of typical phones and cameras.

    Returns:
        (H, W, 3) uint8 sRGB.
    """
    own = SensorConfig() if config is None else config
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise InputError(f"pixels must have shape (H, W, 3), got {pixels.shape}")
    light = _LINEAR32[pixels] if pixels.dtype == np.uint8 else pixels.astype(np.float32)
    light = _lens(light, rng, own)
    light = _chip(light, rng, own)
    codes = _tones(light, rng, own)
    return _compress(_sharpened(codes, rng, own), rng, own)


_LINEAR32 = SRGB_TO_LINEAR.astype(np.float32)


def _lens(light: FloatArray, rng: np.random.Generator, own: SensorConfig) -> FloatArray:
    """Apply defocus (wider for red and blue), motion blur, and vignetting."""
    height, width = light.shape[:2]
    scale = np.sqrt(height * width) / 256
    # Most pictures are sharp: the square of a uniform number favors small blurs.
    focus = own.defocus * rng.uniform() ** 2 * scale
    fringes = focus + own.fringe * rng.uniform(0, 1, 2) ** 3 * scale
    sigmas = (fringes[0], focus, fringes[1])
    if max(sigmas) > 0.25:
        channels = [_blurred(light[..., c], s) for c, s in enumerate(sigmas)]
        light = np.stack(channels, -1)
    moved, length, angle = (
        rng.uniform() < own.motion_chance,
        rng.uniform(1, 2),
        rng.uniform(0, np.pi),
    )
    if moved and own.motion > 0:
        light = cv2.filter2D(light, -1, _streak(length / 2 * own.motion * scale, angle))
    fall = own.vignette * rng.uniform() ** 2
    if fall > 0:
        y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
        light = light * (1 - fall * (x * x + y * y) / 2).astype(np.float32)[..., None]
    return np.asarray(light, np.float32)


def _blurred(channel: FloatArray, sigma: float) -> FloatArray:
    if sigma <= 0.25:
        return channel
    return np.asarray(cv2.GaussianBlur(channel, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101))


def _streak(length: float, angle: float) -> FloatArray:
    """Return a symmetric line kernel of unit sum, `length` in [px], for motion blur."""
    half = int(np.ceil(length / 2)) + 1
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    inside = np.clip(length / 2 + 0.5 - np.abs(along), 0, 1) * np.clip(1 - np.abs(across), 0, 1)
    return np.asarray(inside / inside.sum(), np.float32)


def _chip(light: FloatArray, rng: np.random.Generator, own: SensorConfig) -> FloatArray:
    """Apply exposure, photon noise (variance grows with the light) and read noise (constant)."""
    light = light * np.float32(2.0 ** np.clip(rng.normal(0, own.exposure), -1.5, 1.2))
    level = own.noise * rng.uniform() ** 2
    if level > 0:
        # At mid gray (0.2 linear) one code step is about 0.75 of its linear size, so `level` fits.
        variance = np.float32(level * level) * (light / np.float32(0.3) + np.float32(0.15))
        light = light + rng.standard_normal(light.shape, np.float32) * np.sqrt(variance)
    return np.asarray(light, np.float32)


def _tones(light: FloatArray, rng: np.random.Generator, own: SensorConfig) -> NDArray[np.uint8]:
    """Apply white balance, saturation, and the tone curve to 8-bit codes."""
    warm, tint = rng.normal(0, own.warmth), rng.normal(0, own.warmth / 3)
    gains = np.clip([1 + warm, 1 + tint, 1 - warm], 0.6, 1.6)
    color = float(np.clip(1 + rng.normal(0, own.saturation), 0.3, 1.6))
    weight = np.array([0.2126, 0.7152, 0.0722])
    mix = color * np.eye(3) + (1 - color) * np.ones((3, 1)) * weight
    matrix = mix * gains  # balance first, then draw toward or away from gray
    if not np.array_equal(matrix, np.eye(3)):
        light = cv2.transform(np.ascontiguousarray(light), matrix.astype(np.float32))
    steep = float(np.clip(1 + rng.normal(0, own.contrast), 0.6, 1.6))
    tone = np.linspace(0, 1, _STEPS) ** 2  # finer steps in the shadows, where the curve is steep
    codes = linear_to_srgb(tone)
    bent = np.clip(codes + (steep - 1) * (codes - 0.45) * codes * (1 - codes) * 4, 0, 1)
    table = (bent * 255 + 0.5).astype(np.uint8)
    place = np.sqrt(np.clip(light, 0, 1)) * np.float32(_STEPS - 1) + np.float32(0.5)
    return np.asarray(table[place.astype(np.int32)])


def _sharpened(
    codes: NDArray[np.uint8], rng: np.random.Generator, own: SensorConfig
) -> NDArray[np.uint8]:
    """Apply an unsharp mask, as phones do."""
    amount = own.sharpen * rng.uniform() ** 2
    if amount < 0.02:
        return codes
    soft = cv2.GaussianBlur(codes, (0, 0), 1.0)
    return np.asarray(cv2.addWeighted(codes, 1 + amount, soft, -amount, 0))


def _compress(
    codes: NDArray[np.uint8], rng: np.random.Generator, own: SensorConfig
) -> NDArray[np.uint8]:
    """Encode as JPEG and decode again."""
    quality = rng.integers(min(own.jpeg, 98), 99)
    if own.jpeg == 100:
        return codes
    options = [cv2.IMWRITE_JPEG_QUALITY, int(quality)]
    _, file = cv2.imencode(".jpg", codes[..., ::-1], options)
    decoded: NDArray[np.uint8] = np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), np.uint8)
    return np.ascontiguousarray(decoded[..., ::-1])
