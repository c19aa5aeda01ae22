"""Error bars: how far a network disagrees with itself, and what that means in true error.

The same picture is shown mirrored, smaller and larger. Where the answers differ, the network is
unsure; where they agree it may still be wrong in the same way each time. Both are in

    sigma = sqrt((gain · disagreement)² + floor²) · unit

with `gain` and `floor` fitted per model on pictures with measured depth (`depth.calibration`), so
that 68 % of true errors fall inside one sigma. `unit` makes them free of scale: for relative
disparity it is the range of the map (5th to 95th percentile), for metric maps the value itself, as
metric errors grow with distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.depth.calibration import Calibration
from sightline.depth.preprocess import to_picture_size
from sightline.geometry import align
from sightline.types import FloatArray, Kind

#: Runs the network on (H, W, 3) uint8 pixels at a shorter side in [px]; returns its own (h, w) map.
Predict = Callable[[NDArray[np.uint8], int], FloatArray]

#: Sizes the picture is shown at besides its own, as factors of the network size.
SCALES = (0.75, 1.25)


def disagreement(
    pixels: NDArray[np.uint8],
    reference: FloatArray,
    predict: Predict,
    size: int,
    kind: Kind,
    scales: Sequence[float] = SCALES,
) -> FloatArray:
    """Measure how the answers to a mirrored and rescaled picture differ from the reference.

    Relative answers are first aligned to the reference, as their scale and shift mean nothing;
    metric ones are not, as theirs do.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        reference: (h, w) the network's own map of the picture.
        predict: runs the network.
        size: shorter side the reference was made at, in [px].
        kind: of the map.
        scales: factors of `size` to show the picture at.

    Returns:
        (h, w) float32, root mean square over the views, in units of `unit_scale`.
    """
    views = [predict(np.ascontiguousarray(pixels[:, ::-1]), size)[:, ::-1]]
    views += [predict(pixels, max(1, round(size * scale))) for scale in scales]
    squares = np.zeros_like(reference)
    for view in views:
        moved = to_picture_size(view, (reference.shape[0], reference.shape[1]))
        usable = np.isfinite(moved) & np.isfinite(reference)
        if kind is Kind.RELATIVE_DISPARITY and bool(usable.any()):
            moved = align(moved, reference, robust=True, nonnegative=True)(moved)
        squares += np.where(usable, moved - reference, 0) ** 2 / len(views)
    unit = unit_scale(reference, kind)
    return np.sqrt(_smooth(squares / unit**2)).astype(np.float32)


def _smooth(squares: FloatArray) -> FloatArray:
    """Average over some neighbours: a variance from three samples alone is itself mostly noise."""
    import cv2

    spread = 0.01 * min(squares.shape)
    blurred: FloatArray = cv2.GaussianBlur(squares, (0, 0), max(spread, 0.5))
    return blurred


def unit_scale(values: FloatArray, kind: Kind) -> FloatArray:
    """Return what sigma is counted in: (1, 1) the range of a relative map, (H, W) metric values."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return np.ones((1, 1), np.float32)
    if kind is Kind.RELATIVE_DISPARITY:
        low, middle, high = np.percentile(finite, [5, 50, 95])
        # A map without any range is a network that sees nothing, not one that is certain.
        span = max(float(high - low), 0.05 * abs(float(middle)), 1e-6)
        return np.full((1, 1), span, np.float32)
    return np.maximum(np.nan_to_num(np.abs(values)), np.float32(1e-6))


def to_sigma(
    doubt: FloatArray, values: FloatArray, kind: Kind, calibration: Calibration
) -> FloatArray:
    """Return (H, W) one-sigma uncertainty in the unit of `values`, from disagreement (H, W)."""
    free = np.sqrt((calibration.gain * doubt) ** 2 + calibration.floor**2)
    return np.asarray(free * unit_scale(values, kind), np.float32)
