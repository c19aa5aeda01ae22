"""Depth in colours: near is warm, far is cool, unknown is grey, and a legend says what that means.

A colour picture is for looking at. The exact range it shows is in the PNG's text (`display_low`,
`display_high`, `kind`, `unit`, `direction`, `palette`), so that pictures can be compared; for the
numbers themselves use the depth files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import png
from sightline.files.atomic import write_bytes
from sightline.files.decode import decode
from sightline.files.depth_npz import parse_kind
from sightline.files.legend import add_legend, left_margin
from sightline.files.palettes import UNKNOWN, Palette, table
from sightline.files.reading import GET_AGAIN, MAX_PIXELS, naming, read_bytes
from sightline.types import DepthMap, Kind

#: Percentiles of the valid values at the two ends of the scale: a few stray pixels must not wash out
#: the rest.
_ENDS = (1.0, 99.0)
#: Percentiles of more pixels than this are taken from an even grid of them.
_ENOUGH = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class ColorPicture:
    """A colour picture read back.

    Attributes:
        pixels: (H, W, 3) uint8 RGB without the legend.
        low: value at one end of the scale, in the unit of `kind`.
        high: value at the other end, not below `low`.
        kind: what was shown; near is the warm end whatever the kind.
        palette: name of the colour scale.
    """

    pixels: NDArray[np.uint8]
    low: float
    high: float
    kind: Kind
    palette: str


def range_for_display(depth: DepthMap) -> tuple[float, float]:
    """Return the values (low, high) at the ends of the colour scale: 1st and 99th percentile.

    (0, 1) for a map without a valid pixel.
    """
    step = max(1, math.isqrt(depth.values.size // _ENOUGH))
    some = depth.values[::step, ::step][depth.valid[::step, ::step]]
    if some.size == 0:
        some = depth.values[depth.valid]
    if some.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(some, _ENDS)
    return float(low), float(high)


def colorize(
    depth: DepthMap,
    *,
    lo: float | None = None,
    hi: float | None = None,
    palette: Palette = "spectral",
) -> NDArray[np.uint8]:
    """Return (H, W, 3) uint8 RGB: linear in the values, warm near, mid-grey where not valid.

    Args:
        depth: any kind.
        lo: value at the lower end of the scale; default by `range_for_display`.
        hi: value at the upper end. Values beyond the ends take the end colours.
        palette: `spectral`, `turbo`, `inferno` or `grey`.
    """
    if lo is None or hi is None:
        low, high = range_for_display(depth)
        lo, hi = low if lo is None else lo, high if hi is None else hi
    if not (math.isfinite(lo) and math.isfinite(hi) and lo <= hi):
        raise InputError(f"the range to show must be two numbers in order, got {lo} to {hi}")
    colours = table(palette)
    if not depth.kind.larger_is_nearer:
        colours = colours[::-1]
    factor = 255.0 / (hi - lo) if hi > lo else math.inf
    # A flat map is all one distance: show the middle of the scale.
    factor, shift = (factor, 0.0) if math.isfinite(factor) else (0.0, 127.5)
    with np.errstate(over="ignore"):
        above = np.clip(depth.values - np.float32(lo), 0, np.float32(hi - lo))
    # OpenCV scales, rounds and clips to a byte in one pass, and looks the colours up in another.
    level = cv2.convertScaleAbs(above, alpha=factor, beta=shift)
    shown = np.asarray(cv2.applyColorMap(level, np.ascontiguousarray(colours[:, None, :])))
    if not bool(depth.valid.all()):
        shown[~depth.valid] = UNKNOWN
    return shown.astype(np.uint8, copy=False)


def write_color(
    path: str | Path,
    depth: DepthMap,
    *,
    legend: bool = True,
    palette: Palette = "spectral",
    lo: float | None = None,
    hi: float | None = None,
) -> None:
    """Write a colour picture as PNG, with a legend below it unless `legend` is False."""
    if Path(path).suffix.lower() != ".png":
        raise InputError("colour pictures are written as .png", path=path)
    low, high = range_for_display(depth)
    low, high = low if lo is None else lo, high if hi is None else hi
    pixels = colorize(depth, lo=low, hi=high, palette=palette)
    text = {
        "Software": "Sightline",
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "display_low": repr(low),
        "display_high": repr(high),
        "palette": palette,
        "picture_size": f"{depth.width} {depth.height}",
        "source": depth.source,
    }
    if legend:
        near, far = (high, low) if depth.kind.larger_is_nearer else (low, high)
        pixels = add_legend(pixels, table(palette), depth.kind, near, far)
    write_bytes(path, png.encode(pixels, text))


def read_color(path: str | Path, *, max_pixels: int = MAX_PIXELS) -> ColorPicture:
    """Read a picture that `write_color` wrote: its pixels without legend, and the range they show."""
    data = read_bytes(path, limit=max_pixels * 6 + 10_000_000, what="colour picture")
    text = png.read_text(data, path=path)
    keys = ("kind", "display_low", "display_high", "palette", "picture_size")
    if any(key not in text for key in keys):
        raise InputError(
            "does not say what range its colours show",
            path=path,
            remedy="only colour pictures written by Sightline do",
        )
    sheet = decode(data, "png", max_pixels, Path(path)).pixels
    with naming(path):
        try:
            width, height = (int(word) for word in text["picture_size"].split())
            low, high = float(text["display_low"]), float(text["display_high"])
        except ValueError as error:
            raise InputError("has damaged text about its range", remedy=GET_AGAIN) from error
        if not (0 < width <= sheet.shape[1] and 0 < height <= sheet.shape[0]):
            raise InputError("says it is larger than it is", remedy=GET_AGAIN)
        left = left_margin(sheet.shape[1], width)
        pixels = np.ascontiguousarray(sheet[:height, left : left + width])
        return ColorPicture(pixels, low, high, parse_kind(text["kind"]), text["palette"])
