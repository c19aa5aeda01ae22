"""High dynamic range video (PQ and HLG, ITU-R BT.2100) to ordinary 8-bit sRGB.

Shown as if it were ordinary, such video is grey and washed out, and a depth network sees a foggy
picture. The curve is fixed, without exposure by content, so that it cannot make a clip flicker.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
        transfer: which curve it is coded by.

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
    """(65536,) light for every code, 1 being diffuse white."""
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
    """(4096,) 8-bit sRGB for linear light in 0–1."""
    linear = np.arange(4096) / 4095.0
    curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.clip(curve * 255 + 0.5, 0, 255), np.uint8)
