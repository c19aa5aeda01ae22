"""The bar under a colour picture: which end is near, which far, and round numbers in between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.ticks import tick_label, ticks
from sightline.types import Kind

_PAPER = (255, 255, 255)
_INK = (30, 30, 30)
_FRAME = (150, 150, 150)

_TITLES = {
    Kind.METRIC_DEPTH: "depth in metres",
    Kind.METRIC_DISPARITY: "disparity in 1/m",
    Kind.RELATIVE_DISPARITY: "relative disparity, no unit",
}


def end_labels(kind: Kind, near: float, far: float) -> tuple[str, str]:
    """Return the words at the near and the far end; numbers only where they have a unit."""
    if not kind.unit:
        return "near", "far"
    digits = _digits(near, far)
    return f"near {near:.{digits}f} {kind.unit}", f"{far:.{digits}f} {kind.unit} far"


def _digits(near: float, far: float) -> int:
    """Decimals that show about three figures of the range."""
    span = max(abs(near - far), abs(near) / 100, abs(far) / 100, 1e-6)
    return int(np.clip(2 - np.floor(np.log10(span)), 0, 6))


def add_legend(
    pixels: NDArray[np.uint8], colours: NDArray[np.uint8], kind: Kind, near: float, far: float
) -> NDArray[np.uint8]:
    """Return the picture with a legend below it, near on the left.

    The picture's own pixels stay as they are, at the top left unless the legend is wider than they
    are: then they stand in the middle of its width (`left_margin`).

    Args:
        pixels: (H, W, 3) uint8.
        colours: (256, 3) uint8, far to near.
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
    ramp = colours[np.linspace(255, 0, length).round().astype(int)]
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
    """Return the size of the letters in [px]: legible when the picture fills a screen or a page."""
    return int(np.clip(round(min(width, 2 * height) / 38), 11, 400))


def left_margin(total: int, width: int) -> int:
    """Return the column where a picture of `width` starts on a sheet of `total` columns."""
    return (total - width) // 2
