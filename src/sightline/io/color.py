"""Depth in colors: near is warm, far is cool, unknown is gray; color maps, legend and axis ticks.

A color picture is for looking at. The exact range it shows is in the PNG's text (`display_low`,
`display_high`, `kind`, `unit`, `direction`, `palette`), so that pictures can be compared; for the
numbers themselves use `depth_files`.

Palettes have 256 colors from far (0) to near (255): anchors at equal distances, interpolated linearly
in sRGB. `spectral` is ColorBrewer's scale, known from depth papers; `turbo` and `inferno` are sampled
from the color maps of those names; `gray` is black far and white near.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.errors import InputError
from sightline.io import png
from sightline.io.atomic import write_bytes
from sightline.io.image_decoding import decode
from sightline.io.paths import AnyPath, to_path
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, naming, parse_kind, read_bytes
from sightline.types import DepthMap, Kind

Palette = Literal["spectral", "turbo", "inferno", "gray"]

_ANCHORS: dict[str, str] = {
    "spectral": "5e4fa2 3288bd 66c2a5 abdda4 e6f598 ffffbf fee08b fdae61 f46d43 d53e4f 9e0142",
    "turbo": "30123b 4145ab 4675ed 39a2fc 1bcfd4 24eca6 61fc6c a4fc3b d1e834 f3c63a fe9b2d f36315 "
    "d93806 b11901 7a0402",
    "inferno": "000004 1f0c48 550f6d 88226a ba3655 e35933 f98c0a f9c932 fcffa4",
    "gray": "000000 ffffff",
}

#: Color of invalid pixels; no palette but `gray` contains it.
UNKNOWN = (128, 128, 128)


def table(palette: str) -> NDArray[np.uint8]:
    """Return the (256, 3) uint8 colors of a palette, far to near.

    >>> table("spectral")[[0, -1]].tolist()
    [[94, 79, 162], [158, 1, 66]]
    """
    if palette not in _ANCHORS:
        raise InputError(f"no palette {palette!r}", remedy=f"use {', '.join(get_args(Palette))}")
    anchors = np.array([list(bytes.fromhex(color)) for color in _ANCHORS[palette].split()])
    at = np.linspace(0, len(anchors) - 1, 256)
    mixed = [np.interp(at, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    return np.rint(np.stack(mixed, axis=-1)).astype(np.uint8)


#: Largest number of decades of a logarithmic axis; smaller values lie on its lower end.
DECADES = 6


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return evenly spaced round numbers that enclose a range.

    >>> ticks(0.0, 0.43)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    """
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / (most - 1)
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 2.5, 5, 10) if unit * k >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(step * k, 12) for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten that enclose a range, with twos and fives if there are few.

    >>> log_ticks(0.02, 30)
    [0.01, 0.1, 1.0, 10.0, 100.0]
    >>> log_ticks(0.3, 0.9)
    [0.1, 0.2, 0.5, 1.0]
    """
    last = math.ceil(math.log10(high) - 1e-9)
    first = max(min(math.floor(math.log10(low) + 1e-9), last - 1), last - DECADES)
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    return [float(f"{k}e{power}") for power in range(first, last) for k in steps] + [10.0**last]


def tick_label(value: float) -> str:
    """Format a tick without an exponent.

    >>> tick_label(0.00001), tick_label(-2.5), tick_label(10.0)
    ('0.00001', '−2.5', '10')
    """
    return f"{value:.9f}".rstrip("0").rstrip(".").replace("-", "−")


_PAPER = (255, 255, 255)
_INK = (30, 30, 30)
_FRAME = (150, 150, 150)

_TITLES = {
    Kind.METRIC_DEPTH: "depth in meters",
    Kind.METRIC_DISPARITY: "disparity in 1/m",
    Kind.RELATIVE_DISPARITY: "relative disparity, no unit",
}


def end_labels(kind: Kind, near: float, far: float) -> tuple[str, str]:
    """Return the labels of the near and the far end; with numbers if they have a unit."""
    if not kind.unit:
        return "near", "far"
    digits = _digits(near, far)
    return f"near {near:.{digits}f} {kind.unit}", f"{far:.{digits}f} {kind.unit} far"


def _digits(near: float, far: float) -> int:
    """Return the number of decimals for about three significant digits of the range."""
    span = max(abs(near - far), abs(near) / 100, abs(far) / 100, 1e-6)
    return int(np.clip(2 - np.floor(np.log10(span)), 0, 6))


def add_legend(
    pixels: NDArray[np.uint8], colors: NDArray[np.uint8], kind: Kind, near: float, far: float
) -> NDArray[np.uint8]:
    """Return the picture with a legend below it, near on the left.

    The picture's own pixels stay as they are, at the top left unless the legend is wider than they
    are: then they stand in the middle of its width (`left_margin`).

    Args:
        pixels: (H, W, 3) uint8.
        colors: (256, 3) uint8, far to near.
        kind: gives title and unit.
        near: value at the near end, in the unit of `kind`.
        far: value at the far end.
    """
    height, width = pixels.shape[:2]
    size = font_size(width, height)
    font = ImageFont.load_default(size)
    labels = end_labels(kind, near, far)
    gap = max(4, round(size * 0.6))
    ends = [round(font.getlength(label)) for label in labels]
    total = max(width, sum(ends) + 4 * gap)
    bar_top, bar_height = gap, round(size * 1.1)
    text_top = bar_top + bar_height + gap // 2
    strip = text_top + round(size * 1.3) + gap

    sheet = Image.new("RGB", (total, height + strip), _PAPER)
    sheet.paste(Image.fromarray(pixels), (left_margin(total, width), 0))
    length = total - 2 * gap
    ramp = colors[np.linspace(255, 0, length).round().astype(int)]
    bar = Image.fromarray(np.ascontiguousarray(np.broadcast_to(ramp, (bar_height, length, 3))))
    sheet.paste(bar, (gap, height + bar_top))

    draw = ImageDraw.Draw(sheet)
    box = (gap, height + bar_top, gap + length - 1, height + bar_top + bar_height - 1)
    draw.rectangle(box, outline=_FRAME, width=max(1, size // 16))
    draw.text((gap, height + text_top), labels[0], _INK, font)
    draw.text((total - gap, height + text_top), labels[1], _INK, font, anchor="ra")
    marks = _marks(near, far) if kind.unit else []
    begin, end = gap + ends[0] + gap, total - gap - ends[1] - gap
    shown = False
    for mark in marks:
        place = gap + (length - 1) * (mark - near) / (far - near)
        half = font.getlength(tick_label(mark)) / 2
        if not begin + half <= place <= end - half:
            continue
        top, bottom = height + bar_top + bar_height, height + text_top
        draw.line((place, top - bar_height // 3, place, top), _INK, max(1, size // 16))
        draw.text((place, bottom), tick_label(mark), _INK, font, anchor="ma")
        begin, shown = place + half + gap, True
    title = _TITLES[kind]
    if not shown and font.getlength(title) + 4 * gap <= total - 2 * max(ends) - 2 * gap:
        draw.text((total / 2, height + text_top), title, _INK, font, anchor="ma")
    return np.array(sheet)


def _marks(near: float, far: float) -> list[float]:
    """Return the round numbers between the ends, in the order of the bar."""
    low, high = sorted((near, far))
    marks = [mark for mark in ticks(low, high) if low < mark < high]
    return marks if near <= far else marks[::-1]


def font_size(width: int, height: int) -> int:
    """Return the font size in [px], legible when the picture fills a screen or a page."""
    return int(np.clip(round(min(width, 2 * height) / 38), 11, 400))


def left_margin(total: int, width: int) -> int:
    """Return the column where a picture of `width` starts on a sheet of `total` columns."""
    return (total - width) // 2


#: Percentiles of the valid values at the ends of the scale, so that outliers do not compress the rest.
_PERCENTILES = (1.0, 99.0)
#: Percentiles of more pixels than this are taken from an even grid of them.
_ENOUGH = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class ColorPicture:
    """A color picture that was read.

    Attributes:
        pixels: (H, W, 3) uint8 RGB without the legend.
        low: value at one end of the scale, in the unit of `kind`.
        high: value at the other end, not below `low`.
        kind: what was shown; near is the warm end whatever the kind.
        palette: name of the color scale.
    """

    pixels: NDArray[np.uint8]
    low: float
    high: float
    kind: Kind
    palette: str


def range_for_display(depth: DepthMap) -> tuple[float, float]:
    """Return the values (low, high) at the ends of the color scale: 1st and 99th percentile.

    (0, 1) for a map without a valid pixel.
    """
    step = max(1, math.isqrt(depth.values.size // _ENOUGH))
    some = depth.values[::step, ::step][depth.valid[::step, ::step]]
    if some.size == 0:
        some = depth.values[depth.valid]
    if some.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(some, _PERCENTILES)
    return float(low), float(high)


def colorize(
    depth: DepthMap,
    *,
    lo: float | None = None,
    hi: float | None = None,
    palette: Palette = "spectral",
) -> NDArray[np.uint8]:
    """Return (H, W, 3) uint8 RGB: linear in the values, warm near, mid-gray where not valid.

    Args:
        depth: any kind.
        lo: value at the lower end of the scale; default by `range_for_display`.
        hi: value at the upper end. Values beyond the ends take the end colors.
        palette: `spectral`, `turbo`, `inferno` or `gray`.
    """
    lo, hi = _ends(depth, lo, hi)
    if not (math.isfinite(lo) and math.isfinite(hi) and lo <= hi):
        raise InputError(f"the range to show must be two numbers in order, got {lo} to {hi}")
    colors = table(palette)
    if not depth.kind.larger_is_nearer:
        colors = colors[::-1]
    factor = 255.0 / (hi - lo) if hi > lo else math.inf
    # A flat map is all one distance: show the middle of the scale.
    factor, shift = (factor, 0.0) if math.isfinite(factor) else (0.0, 127.5)
    with np.errstate(over="ignore"):
        above = np.clip(depth.values - np.float32(lo), 0, np.float32(hi - lo))
    # OpenCV scales, rounds and clips to a byte in one pass, and looks the colors up in another.
    level = cv2.convertScaleAbs(above, alpha=factor, beta=shift)
    shown = np.asarray(cv2.applyColorMap(level, np.ascontiguousarray(colors[:, None, :])))
    if not bool(depth.valid.all()):
        shown[~depth.valid] = UNKNOWN
    return shown.astype(np.uint8, copy=False)


def render(
    depth: DepthMap,
    *,
    legend: bool = True,
    palette: Palette = "spectral",
    lo: float | None = None,
    hi: float | None = None,
) -> NDArray[np.uint8]:
    """Return (h, w, 3) uint8 RGB: the map in colors, with a legend below unless it is False."""
    low, high = _ends(depth, lo, hi)
    pixels = colorize(depth, lo=low, hi=high, palette=palette)
    if not legend:
        return pixels
    near, far = (high, low) if depth.kind.larger_is_nearer else (low, high)
    return add_legend(pixels, table(palette), depth.kind, near, far)


def _ends(depth: DepthMap, lo: float | None, hi: float | None) -> tuple[float, float]:
    """Fill in the ends of the color scale that were not given."""
    if lo is not None and hi is not None:
        return lo, hi
    low, high = range_for_display(depth)
    return low if lo is None else lo, high if hi is None else hi


def write_color(
    path: str | AnyPath,
    depth: DepthMap,
    *,
    legend: bool = True,
    palette: Palette = "spectral",
    lo: float | None = None,
    hi: float | None = None,
) -> None:
    """Write the map in colors as PNG, or as JPEG without the range in its text.

    Args:
        path: file or URL ending in `.png`, `.jpg` or `.jpeg`.
        depth: any kind.
        legend: add a color bar below the map.
        palette: color map.
        lo: value at the lower end of the color scale; default: 1st percentile.
        hi: value at the upper end of the color scale; default: 99th percentile.
    """
    suffix = to_path(path).suffix.lower()
    if suffix not in (".png", ".jpg", ".jpeg"):
        raise InputError("color pictures are written as .png or .jpg", path=path)
    low, high = _ends(depth, lo, hi)
    pixels = render(depth, legend=legend, palette=palette, lo=low, hi=high)
    if suffix != ".png":
        _, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 95])
        write_bytes(path, data.tobytes())
        return
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
    write_bytes(path, png.encode(pixels, text))


def read_color(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> ColorPicture:
    """Read a picture that `write_color` wrote: its pixels without legend, and the range they show."""
    data = read_bytes(path, limit=max_pixels * 6 + 10_000_000, what="color picture")
    text = png.read_text(data, path=path)
    keys = ("kind", "display_low", "display_high", "palette", "picture_size")
    if any(key not in text for key in keys):
        raise InputError(
            "does not say what range its colors show",
            path=path,
            remedy="only color pictures written by Sightline do",
        )
    sheet = decode(data, "png", max_pixels, to_path(path)).pixels
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
