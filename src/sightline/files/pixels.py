"""Bring decoded pixels of any depth and number of channels to 8-bit RGB.

* 16-bit values are divided by 257 and rounded, so that 0 and 65535 become 0 and 255.
* Transparency is laid over white: it is what people see around a cut-out on a page, and pictures of
  things on white are common in what depth networks were trained on. The colour stored under fully
  transparent pixels is arbitrary (often black), so simply dropping alpha would show edges that no
  one has ever seen.
* Linear light (HDR, EXR, float TIFF beyond 0–1) is exposed so that the logarithmic mean of
  luminance becomes middle grey, compressed by Reinhard's operator with a white point (Reinhard et
  al. 2002, eq. 4), and encoded as sRGB. The same pixels always give the same picture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

RGB = NDArray[np.uint8]

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
_MIDDLE_GREY = 0.18


def to_rgb8(pixels: NDArray[Any], *, premultiplied: bool = False) -> RGB:
    """Return (H, W, 3) uint8 of (H, W) or (H, W, C) pixels, C = 1 to 4 in the order R, G, B, A.

    Args:
        pixels: uint8 and uint16 by their full range; other integers as 16-bit when they fit, else
            by the range they have; floats within 0–1 are display values, others linear light.
        premultiplied: True when the colours were already multiplied by alpha.
    """
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.dtype not in (np.uint8, np.uint16) and pixels.dtype.kind in "iu":
        pixels = _squeeze_integers(pixels)
    if pixels.dtype.kind == "f":
        with np.errstate(over="ignore"):  # doubles beyond float32 become infinite, then black
            single = pixels.astype(np.float32)
        return _float_to_rgb8(np.nan_to_num(single, posinf=0.0, neginf=0.0), premultiplied)
    colour, alpha = _split(pixels)
    top = int(np.iinfo(pixels.dtype).max)
    if alpha is not None and bool((alpha != top).any()):
        wide: NDArray[np.floating] = colour.astype(np.float32)
        cover = alpha.astype(np.float32) / top
        wide = (wide if premultiplied else wide * cover) + top * (1 - cover)
        colour = (wide.clip(0, top) + 0.5).astype(pixels.dtype)
    if colour.dtype == np.uint16:
        # The nearest of 256 levels: 257 · level ± 128. 65535 + 128 needs more than 16 bits.
        colour = ((colour.astype(np.uint32) + 128) // 257).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(colour, (*colour.shape[:2], 3)), np.uint8)


def _squeeze_integers(pixels: NDArray[Any]) -> NDArray[Any]:
    """Bring wide or signed integers to 16 bits where they fit, else to 0–1 by their own range."""
    low, high = int(pixels.min()), int(pixels.max())
    if low >= 0 and high <= 65535:
        return pixels.astype(np.uint16)
    return ((pixels.astype(np.float64) - low) / max(high - low, 1)).astype(np.float32)


def _split(pixels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Part colour (H, W, 1 or 3) from alpha (H, W, 1)."""
    if pixels.shape[2] in (2, 4):
        return pixels[..., :-1], pixels[..., -1:]
    return pixels, None


def _float_to_rgb8(pixels: NDArray[np.float32], premultiplied: bool) -> RGB:
    colour, alpha = _split(pixels)
    if colour.min() < 0 or colour.max() > 1:
        colour = _display(colour)
    if alpha is not None:
        cover = alpha.clip(0, 1)
        colour = (colour if premultiplied else colour * cover) + (1 - cover)
    return to_rgb8((colour.clip(0, 1) * 255 + 0.5).astype(np.uint8))


def tone_map(linear: NDArray[Any]) -> RGB:
    """Return (H, W, 3) uint8 sRGB of (H, W, 1 or 3) linear light; not finite becomes black."""
    colour = np.nan_to_num(linear.astype(np.float32), posinf=0.0, neginf=0.0)
    return to_rgb8((_display(colour) * 255 + 0.5).astype(np.uint8))


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
    exposure = _MIDDLE_GREY / float(np.exp(np.log(lit, dtype=np.float64).mean()))
    white = max(float(np.percentile(lit, 99.5)) * exposure, 1.0)
    exposed = light.astype(np.float64) * exposure
    factor = exposure * (1 + exposed / white**2) / (1 + exposed)
    shown = (linear * factor[..., None]).clip(0, 1)
    return linear_to_srgb(shown).astype(np.float32)
