"""Convert pixels of any bit depth and number of channels to 8-bit RGB, HDR included.

* 16-bit values are divided by 257 and rounded, so that 0 and 65535 become 0 and 255.
* Transparent pixels are blended with white, as on a web page; objects on white are common in training
  data of depth networks. The color stored under fully transparent pixels is arbitrary (often black), so
  dropping alpha would create spurious edges.
* Linear light (HDR, EXR, float TIFF beyond 0–1) is exposed so that the logarithmic mean of
  luminance becomes middle gray, compressed by Reinhard's operator with a white point (Reinhard et
  al. 2002, eq. 4), and encoded as sRGB. The same pixels always give the same picture.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

RGB = NDArray[np.uint8]

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
_MIDDLE_GRAY = 0.18


def to_rgb8(pixels: NDArray[Any], *, premultiplied: bool = False) -> RGB:
    """Return (H, W, 3) uint8 of (H, W) or (H, W, C) pixels, C = 1 to 4 in the order R, G, B, A.

    Args:
        pixels: uint8 and uint16 use their full range; other integers are read as 16-bit if they fit,
            else scaled by their range; floats within 0–1 are display values, others linear light.
        premultiplied: True when the colors were already multiplied by alpha.
    """
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.dtype not in (np.uint8, np.uint16) and pixels.dtype.kind in "iu":
        pixels = _squeeze_integers(pixels)
    if pixels.dtype.kind == "f":
        with np.errstate(over="ignore"):  # doubles beyond float32 become infinite, then black
            single = pixels.astype(np.float32)
        return _float_to_rgb8(np.nan_to_num(single, posinf=0.0, neginf=0.0), premultiplied)
    color, alpha = _split(pixels)
    top = int(np.iinfo(pixels.dtype).max)
    if alpha is not None and bool((alpha != top).any()):
        wide: NDArray[np.floating] = color.astype(np.float32)
        cover = alpha.astype(np.float32) / top
        wide = (wide if premultiplied else wide * cover) + top * (1 - cover)
        color = (wide.clip(0, top) + 0.5).astype(pixels.dtype)
    if color.dtype == np.uint16:
        # The nearest of 256 levels: 257 · level ± 128. 65535 + 128 needs more than 16 bits.
        color = ((color.astype(np.uint32) + 128) // 257).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(color, (*color.shape[:2], 3)), np.uint8)


def _squeeze_integers(pixels: NDArray[Any]) -> NDArray[Any]:
    """Convert wide or signed integers to 16 bits if they fit, else to 0–1 by their own range."""
    low, high = int(pixels.min()), int(pixels.max())
    if low >= 0 and high <= 65535:
        return pixels.astype(np.uint16)
    return ((pixels.astype(np.float64) - low) / max(high - low, 1)).astype(np.float32)


def _split(pixels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Split color (H, W, 1 or 3) from alpha (H, W, 1)."""
    if pixels.shape[2] in (2, 4):
        return pixels[..., :-1], pixels[..., -1:]
    return pixels, None


def _float_to_rgb8(pixels: NDArray[np.float32], premultiplied: bool) -> RGB:
    color, alpha = _split(pixels)
    if color.min() < 0 or color.max() > 1:
        color = _display(color)
    if alpha is not None:
        cover = alpha.clip(0, 1)
        color = (color if premultiplied else color * cover) + (1 - cover)
    return to_rgb8((color.clip(0, 1) * 255 + 0.5).astype(np.uint8))


def tone_map(linear: NDArray[Any]) -> RGB:
    """Return (H, W, 3) uint8 sRGB of (H, W, 1 or 3) linear light; not finite becomes black."""
    color = np.nan_to_num(linear.astype(np.float32), posinf=0.0, neginf=0.0)
    return to_rgb8((_display(color) * 255 + 0.5).astype(np.uint8))


def srgb_to_linear(encoded: NDArray[Any]) -> NDArray[np.float64]:
    """Decode sRGB values 0–1 to linear light 0–1 (IEC 61966-2-1)."""
    value = np.asarray(encoded, np.float64)
    curve: NDArray[np.float64] = np.where(
        value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4
    )
    return curve


def linear_to_srgb(linear: NDArray[Any]) -> NDArray[np.float64]:
    """Encode linear light 0–1 as sRGB values 0–1."""
    value = np.asarray(linear, np.float64)
    curve: NDArray[np.float64] = np.where(
        value <= 0.0031308, value * 12.92, 1.055 * value ** (1 / 2.4) - 0.055
    )
    return curve


def _display(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Map linear light of any range to display values 0–1, by luminance so that hues stay."""
    linear = linear.clip(0, None)
    light = linear @ _LUMINANCE if linear.shape[2] == 3 else linear[..., 0]
    lit = light[light > 0]
    if lit.size == 0:
        return np.zeros_like(linear)
    exposure = _MIDDLE_GRAY / float(np.exp(np.log(lit, dtype=np.float64).mean()))
    white = max(float(np.percentile(lit, 99.5)) * exposure, 1.0)
    exposed = light.astype(np.float64) * exposure
    factor = exposure * (1 + exposed / white**2) / (1 + exposed)
    shown = (linear * factor[..., None]).clip(0, 1)
    return linear_to_srgb(shown).astype(np.float32)


Transfer = Literal["pq", "hlg"]

#: Diffuse white of HDR video in [cd/m²] (ITU-R BT.2408), which becomes nearly white here.
DIFFUSE_WHITE = 203.0
#: Brightest light that keeps some shade of its own, in [cd/m²].
PEAK = 1000.0

#: Linear BT.2020 to linear BT.709/sRGB primaries (ITU-R BT.2087).
_TO_709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)


def hdr_to_srgb(coded: NDArray[np.uint16], transfer: Transfer) -> NDArray[np.uint8]:
    """Tone map one frame.

    Args:
        coded: (H, W, 3) non-linear BT.2020 RGB, full range of 16 bits.
        transfer: transfer curve of the input.

    Returns:
        (H, W, 3) uint8 sRGB.
    """
    light = _decoder(transfer)[coded] @ _TO_709.T
    light = np.clip(light, 0.0, None)
    # Reinhard's curve with a white point, by the brightest channel so that hues stay.
    brightest = light.max(-1, keepdims=True)
    peak = np.float32(PEAK / DIFFUSE_WHITE)
    shown = light * ((1 + brightest / peak**2) / (1 + brightest)) * np.float32(1.6)
    codes = np.clip(shown * 4095 + 0.5, 0, 4095).astype(np.uint16)
    return np.asarray(_srgb_curve()[codes])


@lru_cache(maxsize=2)
def _decoder(transfer: Transfer) -> NDArray[np.float32]:
    """Return (65536,) linear light of every code; 1 is diffuse white."""
    code = np.arange(65536) / 65535.0
    if transfer == "pq":  # SMPTE ST 2084
        power = code ** (1 / 78.84375)
        base = np.clip(power - 0.8359375, 0, None) / (18.8515625 - 18.6875 * power)
        nits = 10000 * base ** (1 / 0.1593017578125)
    else:  # ARIB STD-B67, with the display gamma of a 1000 cd/m² screen taken per channel
        low, high = code**2 / 3, (np.exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12
        nits = 1000 * np.where(code <= 0.5, low, high) ** 1.2
    return np.asarray(nits / DIFFUSE_WHITE, np.float32)


@lru_cache(maxsize=1)
def _srgb_curve() -> NDArray[np.uint8]:
    """Return (4096,) 8-bit sRGB of linear light in 0–1."""
    linear = np.arange(4096) / 4095.0
    curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.clip(curve * 255 + 0.5, 0, 255), np.uint8)
