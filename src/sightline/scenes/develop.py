"""From linear light to a picture: exposure as a camera's meter chooses it, and 8-bit sRGB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.files.pixels import linear_to_srgb
from sightline.types import FloatArray

#: 8-bit code of each of 4096 even steps of linear light.
_CODES = (linear_to_srgb(np.linspace(0, 1, 4096)) * 255 + 0.5).astype(np.uint8)

#: Light above this is rolled off towards white rather than cut.
SHOULDER = 0.7


def develop(light: FloatArray, exposure: float | None = None) -> NDArray[np.uint8]:
    """Make a picture of linear light.

    Args:
        light: (H, W, 3) linear RGB, not negative.
        exposure: factor on the light; None measures it.

    Returns:
        (H, W, 3) uint8 sRGB.
    """
    picture = np.empty(light.shape, np.uint8)
    _develop(light, metered(light) if exposure is None else exposure, _CODES, picture)
    return picture


def metered(light: FloatArray) -> float:
    """Choose the exposure of (H, W, 3) linear light: most of the way to a mid grey.

    Bright scenes stay brighter and dark ones darker than grey, and highlights are held.
    """
    some = light[::2, ::2]
    luminance = 0.2126 * some[..., 0] + 0.7152 * some[..., 1] + 0.0722 * some[..., 2]
    level = float(np.exp(np.log(luminance + np.float32(1e-3)).mean()))
    bright = float(np.quantile(luminance, 0.92))
    return float(np.clip(min((0.3 / level) ** 0.75, 1.2 / max(bright, 1e-3)), 0.05, 6.0))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _develop(light: Any, exposure: float, codes: Any, picture: Any) -> None:
    height, width = light.shape[:2]
    for row in range(height):
        for column in range(width):
            for c in range(3):
                x = exposure * light[row, column, c]
                over = max(x - SHOULDER, 0.0)
                x += over / (1.0 + over / (1.0 - SHOULDER)) - over
                picture[row, column, c] = codes[int(min(max(x, 0.0), 1.0) * 4095.0 + 0.5)]
